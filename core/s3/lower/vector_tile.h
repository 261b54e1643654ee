// Inside the text of one register tile: what its files share.
#ifndef PB_S3_VECTOR_TILE_H
#define PB_S3_VECTOR_TILE_H

#include "core/s3/lower/vector_emit.h"
#include "core/s3/tree/cost_cores.h"

typedef struct pb_vtile {
  pb_vemit* e;
  int points;
  int64_t offset[PB_VTILE_POINTS][PB_NEST_DIMS]; // in elements, from where the tile begins
  const char* acc[PB_VTILE_POINTS];              // the register of each point: its sum, then its value
  // Of loops over terms the iteration that is written, or the first of those written as one; -1: it is not known.
  int64_t iteration[PB_NEST_OUTERS];
  bool one[PB_NEST_OUTERS];   // by such a loop: that iteration is written alone, and there is no loop
  bool is_near[PB_NEST_RANK]; // by border of x: which points meet it is known
  int64_t prefetch;           // so far behind weights the next block's are asked for; 0: they are not
  const char *code, *wide;    // the code made last, and the i32 that it is; NULL: none yet
} pb_vtile;

// Of an access at a point, from where the tile begins, in elements. iteration: of the sums written out, NULL: none.
int64_t pb__vtile_displacement(const pb_vtile* t, const pb_access* access, int point, const int64_t* iteration);
// Loads made already in this stretch of code; part: 0, or what else is made of the access there. NULL back: none.
enum { PB_VTILE_WIDE = -1 }; // as wide as an instruction takes it
const char* pb__vtile_find_load(const pb_vemit* e, const pb_access* access, int64_t displacement, int part);
void pb__vtile_note_load(pb_vemit* e, const pb_access* access, int64_t displacement, int part, const char* name);
// The flat tensor's name, or its type.
void pb__vtile_print_flat(const pb_vemit* e, pb_text* text, const pb_access* access, bool type);
const pb_value* pb__vtile_value(const pb_vemit* e, const pb_access* access);

// The element number, linear in the loops around.
void pb__vtile_place(const pb_vtile* t, const pb_access* access, int64_t displacement, pb_linear* place);
// Sets t->prefetch.
void pb__vtile_choose_prefetch(pb_vtile* t);
// vector_border.c. Which borders are near, and that no iteration is known yet.
void pb__vtile_find_borders(pb_vtile* t);
// Whether x is 0 at a point, of terms written out in this iteration, NULL: in all of them.
bool pb__vtile_in_border(const pb_vtile* t, int point, const int64_t* iteration);
// The next iterations of the n-th loop over terms that are one loop, up to *end: t->iteration has them then. false:
// nothing is multiplied there.
bool pb__vtile_next_run(pb_vtile* t, int n, int64_t begin, int64_t* end);
// `0 to 3`, of these iterations.
void pb__vtile_print_run(const pb_vtile* t, int n, int64_t begin, int64_t end);
// Puts a point's register where the access has it.
void pb__vtile_store(pb_vtile* t, const pb_access* to, int point, int indent);
// A register of the access's elements at a point: neighbours, or one element for all lanes. Of a factor of an
// instruction that adds up groups of neighbours, one group for all lanes, its sign bits flipped if the instruction
// takes them without sign, or a group a lane; of one on matrices, rows.
const char* pb__vtile_load(pb_vtile* t, const pb_access* access, int point, const int64_t* iteration, int indent);
// Elements of a table at numbers that stand in a register, `type` of them.
const char* pb__vtile_look_up(pb_vtile* t, const pb_access* access, const char* index, pb_type type, int indent);

// vector_codes.c: a rounding to codes, as nodes of a nest's expression.
typedef struct pb_vcode {
  int value;        // what is rounded
  int zero, lo, hi; // the zero point, -1: none, and the clamp's bounds
  pb_type type;     // as it is stored
} pb_vcode;
bool pb__vtile_is_code(const pb_expr_node* expr, int e, pb_vcode* code);
// The nodes that are still computed where codes are made so. needed[]: by node.
void pb__vtile_needed(const pb_expr_node* expr, int count, bool* needed);
// The code. names[]: by node, the registers of what is needed.
const char* pb__vtile_code(pb_vtile* t, const pb_expr_node* expr, const pb_vcode* code, const char* const* names,
                           int indent);
// The number if it compares so with the bound, else the bound, for NaN too: that is one instruction, which maxnumf is
// not where LLVM cannot see that the bound is a number.
const char* pb__vtile_pick(pb_vtile* t, const char* order, const char* number, const char* bound, pb_type type,
                           int indent);

// matrix_emit.c: a factor, x or w; zero for all sums; a point's sums to rows of memory, which come back.
const char* pb__vtile_load_matrix(pb_vtile* t, int64_t displacement, bool is_x, int indent);
void pb__vtile_clear_matrices(pb_vtile* t, int indent);
const char* pb__vtile_store_matrix(pb_vtile* t, int point, int indent);

#endif
