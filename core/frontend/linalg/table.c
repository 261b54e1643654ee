// linalg.def as the table that the way through a module goes by, and its two ends.
#include "core/frontend/linalg/rows.h"

#include <stdlib.h>

#define OP(name, least, most, results, attributes, function, summary) {name, least, most, results, attributes, summary},
static const pb_door_row rows[] = {
#include "core/frontend/linalg/linalg.def"
    {0}};
#undef OP
#define OP(name, least, most, results, attributes, function, summary) pb__l_op_##function,
static pb_door_maker* const makers[] = {
#include "core/frontend/linalg/linalg.def"
};
#undef OP
static const char* const ends[] = {"func.return", "linalg.yield", "tensor.yield", "scf.yield", "scf.condition", NULL};
static const pb_door_table table = {rows, makers, ends, true, PB_FLAT_LINALG};

const char* const* pb_linalg_attributes(pb_arena* arena) { return pb__door_attributes(&table, arena); }

pb_status pb_linalg_make(const pb_flat* flat, const pb_input_options* inputs, pb_consts* consts, pb_diag* diag,
                         pb_s1* program) {
  return pb__door_make(&table, flat, inputs, consts, diag, program);
}

struct pb_mlir_text {
  const pb_door_table* table;
  pb_flat flat;
};

pb_status pb_mlir_text_read(const char* path, pb_diag* diag, pb_mlir_text** out) {
  pb_mlir_text* text = calloc(1, sizeof *text);
  if (!text) pb_no_memory(sizeof *text);
  bool is_linalg = pb_flat_sniff(path) == PB_FLAT_LINALG;
  text->table = is_linalg ? &table : &pb__door_stablehlo;
  pb_arena names = {0};
  pb_status status =
      pb_flat_read(path, text->table->language, pb__door_attributes(text->table, &names), diag, &text->flat);
  pb_arena_free(&names);
  *out = status == PB_OK ? text : NULL;
  if (status != PB_OK) pb_mlir_text_close(text);
  return status;
}

pb_status pb_mlir_text_make(const pb_mlir_text* text, const pb_input_options* inputs, pb_consts* consts, pb_diag* diag,
                            pb_s1* program) {
  return pb__door_make(text->table, &text->flat, inputs, consts, diag, program);
}

void pb_mlir_text_close(pb_mlir_text* text) {
  if (!text) return;
  pb_flat_free(&text->flat);
  free(text);
}

pb_status pb__l_op_call(pb_door* d, const pb_flat_op* op) { return pb__door_call(d, op); }
