// Constants that lie outside the chip in another form than their elements, which a command makes of it on the way in:
//   palette      a code for each element, and a table of the values that there are, which comes to the chip first; or
//                one for each block of columns, where a command can say which of several it means
//   two of four  of each four elements along a sum at most two are not 0: these, and their places in a code of 4 bits
// Exact: a constant that no such form of the chip has as it is stays as it is.
#ifndef PB_S3_STORED_FORM_H
#define PB_S3_STORED_FORM_H

#include "core/base/consts.h"
#include "core/s3/program.h"
#include "core/s3/s3.h"

enum { PB_STORED_PARTS = 3 };

// A constant as several: codes and palette, or codes of places, the first of the two there, and the second.
typedef struct pb_stored_form {
  const pb_insn* insn; // the command that makes the elements
  int axis;            // two of four: the index that counts them; -1: a palette
  int bits;            // of a code, which the first part is
  int each;            // palettes: from 1 the index each of whose places has its own; 0: there is one for all
  int part_count;
  int parts[PB_STORED_PARTS]; // numbers of constants; of codes, i8 whatever their bits
} pb_stored_form;

// Whether any command of the chip makes elements of a stored form; whether one does in that memory.
bool pb_chip_expands(const pb_chip* chip);
bool pb_expands_to(const pb_chip* chip, int memory);
// Splits the constant for an instruction that takes its weights in the memory `held`, if the chip brings them there by
// a form that has them as they are, and no later than it brings the elements themselves. axes: bits of the indices
// along which a sum goes by fours.
bool pb_stored_split(pb_unit* unit, int id, int held, unsigned axes, pb_stored_form* form);
// The nest that makes the elements of the parts, in the order of the form, with all accesses but their names.
void pb_stored_nest(const pb_const* whole, const pb_const* const* parts, const pb_stored_form* form, pb_nest* nest);

// Bits of a code, where the argument of a kernel is codes of a form, noted there as pb.coded; 0: it is none.
int pb_coded_bits(MlirValue value);
// Whether the nest's body looks something up, or counts a loop: others read no codes of a form.
bool pb_nest_takes_codes(const pb_nest* nest);
// Takes such nests out of the program, but for those that make an argument: what they make are constants of it. The
// nests and values that it had stay as they are.
void pb_program_fold_expansions(pb_program* program, pb_arena* arena);
// The command that makes the result of such a nest, or of a tile's load like it, in a memory; NULL: it is no such nest,
// or none does.
const pb_insn* pb_expanding(const pb_chip* chip, const pb_nest* nest, int memory);
// The memory that such a command fills on the way to `memory`: that itself, or one from which commands copy on to it.
// -1: there is none.
int pb_expanded_via(const pb_chip* chip, const pb_nest* expands, int memory);
// A load of elements from the place where `expands` has its first part becomes one of all parts. NULL, or why it
// cannot.
const char* pb_expand_load(const pb_nest* expands, pb_nest* load);

// Inside stored_form: by a command of that form, palettes as form->each says, no worth looked at. The parts are made
// only where all elements fit.
bool pb__palette_split(pb_consts* consts, const pb_chip* chip, int id, const uint8_t* data, pb_stored_form* form);
bool pb__two_of_four_split(pb_consts* consts, int id, const uint8_t* data, unsigned axes, pb_stored_form* form);

#endif
