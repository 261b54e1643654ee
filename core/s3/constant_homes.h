// In which memory outside a constant lies: of those from which commands bring it to where it is taken, the fastest of
// scope "constants" that has room for it; the system's where none of them will do.
#ifndef PB_S3_CONSTANT_HOMES_H
#define PB_S3_CONSTANT_HOMES_H

#include "core/s3/s3.h"

// What of a constant decides how it comes to the chip.
typedef struct pb_constant_facts {
  unsigned codes;    // PB_CODES_SIGNED, PB_CODES_UNSIGNED: those by which its codes may lie two in a byte
  unsigned kept_out; // a bit for each memory of constants that has no room for it, by its number among those
} pb_constant_facts;

// As the argument that the value is says; nothing: it says nothing.
pb_constant_facts pb_constant_facts_of(MlirValue value);
// The memories that such a constant may lie in, from rank 0 on; -1: there are no more.
int pb_constant_home(const pb_chip* chip, unsigned kept_out, int rank);

// That of a constant, or of the constant that it is a part of in another form.
unsigned pb_constant_kept_out(const pb_consts* consts, int id);
// Notes it at the arguments of the program's function, as pb.kept_out, and as pb.codes what small_codes.h says.
void pb_constants_mark(const pb_unit* unit, MlirOperation func);

// Whether the program's constants may take more than one of the memories of constants has.
bool pb_constants_may_overflow(const pb_unit* unit);
// A constant that was kept out of a memory, by its number among those of constants.
typedef struct pb_kept_out {
  int id, number;  // id -1: none was
  uint64_t wanted; // bytes that constants would take there
} pb_kept_out;

// Of a module with mapped kernels: adds up what lies in each memory of constants, in the order of the program, what can
// lie nowhere else first, and keeps out what no longer fits. Returns the first constant that was not kept out of that
// memory before.
pb_kept_out pb_constants_keep_out(const pb_unit* unit);
// Of a module that stays so: what lies where lies there for other modules of the program, too, which share its
// memories.
void pb_constants_settle(const pb_unit* unit);
// The refusal where the program cannot do without a memory that the constant is kept out of.
pb_status pb_constants_refuse(const pb_unit* unit, const pb_kept_out* kept) PB_MUST_CHECK;

#endif
