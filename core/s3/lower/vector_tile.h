// Inside the text of one register tile: what its files share.
#ifndef PB_S3_VECTOR_TILE_H
#define PB_S3_VECTOR_TILE_H

#include "core/s3/lower/vector_emit.h"

enum { PB_VTILE_POINTS = 64, PB_VTILE_NAME = 32 };

typedef struct pb_vtile {
  pb_vemit* e;
  int points;
  int64_t offset[PB_VTILE_POINTS][PB_NEST_DIMS]; // in elements, from where the tile begins
  char acc[PB_VTILE_POINTS][PB_VTILE_NAME];      // the register of each point: its sum, then its value
  struct pb_vwide {
    int code, wide; // the code made last, and the i32 that it is; 0: none yet
  } code;
} pb_vtile;

// Of an access at a point, from where the tile begins, in elements. iteration: of the sums written out, NULL: none.
int64_t pb__vtile_displacement(const pb_vtile* t, const pb_vaccess* access, int point, const int64_t* iteration);
// Loads made already in this stretch of code; part: 0, or what else is made of the access there. -1 back: none.
int pb__vtile_find_load(const pb_vemit* e, const pb_vaccess* access, int64_t displacement, int part);
void pb__vtile_note_load(pb_vemit* e, const pb_vaccess* access, int64_t displacement, int part, int name);
// The flat tensor's name, or its type.
void pb__vtile_print_flat(const pb_vemit* e, pb_text* text, const pb_vaccess* access, bool type);
int64_t pb__vtile_elements(const pb_value* value);

// The element number, linear in the loops around.
void pb__vtile_place(const pb_vtile* t, const pb_vaccess* access, int64_t displacement, pb_linear* place);
// Puts a point's register where the access has it.
void pb__vtile_store(pb_vtile* t, const pb_vaccess* to, int point, int indent);
// A register of the access's elements at a point, as %v<result>: neighbours, or one element for all lanes. Of a factor
// of an instruction that adds up groups of neighbours, one group for all lanes, its sign bits flipped if the
// instruction takes them without sign, or a group a lane; of one on matrices, rows.
int pb__vtile_load(pb_vtile* t, const pb_vaccess* access, int point, const int64_t* iteration, int indent);
// Elements of a table at numbers that stand in a register, `type` of them, as %v<result>.
int pb__vtile_look_up(pb_vtile* t, const pb_vaccess* access, const char* index, pb_type type, int indent);
// vector_codes.c: a rounding to codes, as nodes of a nest's expression.
typedef struct pb_vcode {
  int value;        // what is rounded
  int zero, lo, hi; // the zero point, -1: none, and the clamp's bounds
} pb_vcode;
bool pb__vtile_is_code(const pb_expr_node* expr, int e, pb_vcode* code);
// The nodes that are still computed where codes are made so. needed[]: by node.
void pb__vtile_needed(const pb_expr_node* expr, int count, bool* needed);
// The code as %v<result>. names[]: by node, the registers of what is needed.
int pb__vtile_code(pb_vtile* t, const pb_expr_node* expr, const pb_vcode* code, char names[][PB_VTILE_NAME],
                   int indent);
// The i32 register of the code in that register, in room[PB_VTILE_NAME]; NULL: not known.
const char* pb__vtile_wide(const pb_vtile* t, const char* code, char* room);

// matrix_emit.c: a factor, x or w, as %v<result>; zero for all sums; a point's sums to rows of %sums.
int pb__vtile_load_matrix(pb_vtile* t, int64_t displacement, bool is_x, int indent);
void pb__vtile_clear_matrices(pb_vtile* t, int indent);
void pb__vtile_store_matrix(pb_vtile* t, int point, int indent);

#endif
