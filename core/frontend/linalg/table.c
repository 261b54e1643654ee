// linalg.def as the table that the way through a module goes by, and its two ends.
#include "core/frontend/linalg/rows.h"

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
static const char* const ends[] = {"func.return", "linalg.yield", "tensor.yield", NULL};
static const pb_door_table table = {rows, makers, ends, true, PB_FLAT_LINALG};

const char* const* pb_linalg_attributes(pb_arena* arena) { return pb__door_attributes(&table, arena); }

pb_status pb_linalg_make(const pb_flat* flat, const pb_input_options* inputs, pb_consts* consts, pb_diag* diag,
                         pb_s1* program) {
  return pb__door_make(&table, flat, inputs, consts, diag, program);
}

pb_status pb_text_load(const char* path, const pb_input_options* inputs, pb_consts* consts, pb_diag* diag,
                       pb_s1* program) {
  bool is_linalg = pb_flat_sniff(path) == PB_FLAT_LINALG;
  return pb__door_read(is_linalg ? &table : &pb__door_stablehlo, path, inputs, consts, diag, program);
}

pb_status pb__l_op_call(pb_door* d, const pb_flat_op* op) { return pb__door_call(d, op); }
