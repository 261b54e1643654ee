// What operators make of tensors of no elements: what their other operands say.
#include "core/frontend/stablehlo/write_out.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is(const pb_flat_op* op, const char* name) { return !strcmp(op->name, name); }

static bool has_empty(const pb_door* d, const pb_flat_op* op) {
  for (int k = 0; k < op->operand_count; ++k)
    if (pb__door_is_empty(d, op->operands[k])) return true;
  return false;
}

// The result is a number everywhere.
static void fill(pb_writer* w, int k, int number) {
  pb_flat_type result = pb__write_type(w, w->op->results[k]), type = pb__write_type(w, number);
  if (type.rank && w->status == PB_OK) w->status = pb__door_refuse(w->d, w->op, "operands that do not fit");
  pb__write_result(w, k, pb__write_spread(w, number, result.rank, result.shape));
}

static void fill_zero(pb_writer* w) {
  static const int64_t zero[2];
  pb_flat_type type = pb__write_shaped(pb__write_type(w, w->op->results[0]), 0, NULL);
  fill(w, 0, pb__write_constant(w, type, zero));
}

// "tensor<2x0xf32>", "tensor<0xcomplex<f64>>": what the reader leaves as text, as tensors are outside.
static bool read_empty(const pb_flat_type* type, pb_type* element, int* rank, int64_t* shape, bool* is_complex) {
  static const struct {
    const char* name;
    pb_type type;
    bool is_complex;
  } names[] = {{"i1>", PB_I1, false},     {"i8>", PB_I8, false},           {"i16>", PB_I16, false},
               {"i32>", PB_I32, false},   {"i64>", PB_I64, false},         {"ui8>", PB_UI8, false},
               {"ui16>", PB_UI16, false}, {"ui32>", PB_UI32, false},       {"ui64>", PB_UI64, false},
               {"f16>", PB_F16, false},   {"bf16>", PB_BF16, false},       {"f32>", PB_F32, false},
               {"f64>", PB_F64, false},   {"complex<f32>>", PB_F32, true}, {"complex<f64>>", PB_F64, true}};
  const char* at = strchr(type->text, '<') + 1;
  *rank = 0;
  for (char* end; isdigit((unsigned char)*at); at = end + 1) {
    if (*rank + 1 == PB_NEST_RANK) return false;
    shape[(*rank)++] = strtoll(at, &end, 10);
    if (*end != 'x') return false;
  }
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
    if (strcmp(at, names[k].name) != 0) continue;
    *element = names[k].type;
    *is_complex = names[k].is_complex;
    if (names[k].is_complex) shape[(*rank)++] = 2;
    return true;
  }
  return false;
}

// Places that have no coordinates, one or several: the window lies where the tensor begins. They are written as places
// along its first dim, all 0. `list` is what says along which dims coordinates go.
static pb_status at_the_start(pb_door* d, const pb_flat_op* op, const char* numbers, const char* list, bool* made) {
  pb_arena* arena = &d->m.program->arena;
  const pb_flat_attr* said = pb_flat_find(op, numbers);
  pb_type type;
  int rank, count = (int)pb__door_field(op, numbers, "index_vector_dim", 0);
  int64_t shape[PB_NEST_RANK], elements = 1, items[1];
  bool is_complex, read = read_empty(pb__door_type(d, op->operands[1]), &type, &rank, shape, &is_complex);
  *made = false;
  if (!read || is_complex || !said || count >= rank || shape[count] || pb__door_list(op, numbers, list, 1, items) != 0)
    return PB_OK;
  shape[count] = 1;
  for (int r = 0; r < rank; ++r) elements *= shape[r];
  if (!elements) return PB_OK; // no places
  *made = true;
  if (!pb__door_type(d, op->operands[0])->rank) return pb__door_refuse(d, op, "places in a tensor of one element");
  pb_writer w = pb__write_start(d, op);
  pb_flat_type index = pb__write_type(&w, op->operands[0]);
  index.type = type;
  index.is_complex = false;
  int* operands = PB_NEW_ARRAY(arena, int, (size_t)op->operand_count);
  memcpy(operands, op->operands, (size_t)op->operand_count * sizeof *operands);
  static const int64_t zero[2];
  int first = pb__write_constant(&w, pb__write_shaped(index, 0, NULL), zero);
  operands[1] = pb__write(&w, "stablehlo.broadcast_in_dim", pb__write_shaped(index, rank, shape), 1, &first, 1,
                          (pb_flat_attr[]){pb__write_ints(&w, "broadcast_dimensions", 0, NULL)});
  pb_flat_attr* attrs = PB_NEW_ARRAY(arena, pb_flat_attr, (size_t)op->attr_count);
  memcpy(attrs, op->attrs, (size_t)op->attr_count * sizeof *attrs);
  const char* open = strchr(said->text, '<');
  if (!open) return pb__door_refuse(d, op, "attribute '%s' says nothing", numbers);
  attrs[said - op->attrs].text =
      pb_printf(arena, "%.*s%s = [0], %s", (int)(open + 1 - said->text), said->text, list, open + 1);
  pb_flat_op with = *op;
  with.operands = operands;
  with.attrs = attrs;
  PB_TRY(w.status);
  PB_TRY(pb__door_op(d, &with));
  return pb__write_end(&w);
}

pb_status pb__door_of_nothing(pb_door* d, const pb_flat_op* op, bool* made) {
  *made = false;
  if (!op->result_count || !has_empty(d, op)) return PB_OK;
  if (is(op, "stablehlo.scatter") && op->operand_count == 3)
    PB_TRY(at_the_start(d, op, "scatter_dimension_numbers", "scatter_dims_to_operand_dims", made));
  if (is(op, "stablehlo.gather")) PB_TRY(at_the_start(d, op, "dimension_numbers", "start_index_map", made));
  if (*made) return PB_OK;
  pb_writer w = pb__write_start(d, op);
  *made = true;
  if (is(op, "stablehlo.reduce") || is(op, "stablehlo.reduce_window")) {
    for (int k = 0; k < op->result_count && 2 * op->result_count == op->operand_count; ++k)
      fill(&w, k, op->operands[op->result_count + k]);
  } else if (is(op, "stablehlo.pad")) {
    fill(&w, 0, op->operands[1]);
  } else if (is(op, "stablehlo.select_and_scatter")) {
    fill(&w, 0, op->operands[2]);
  } else if (is(op, "stablehlo.dot_general") || is(op, "stablehlo.convolution")) {
    fill_zero(&w);
  } else if (is(op, "stablehlo.dynamic_update_slice") || is(op, "stablehlo.scatter")) {
    for (int k = 0; k < op->result_count; ++k) pb__write_result(&w, k, op->operands[k]);
  } else {
    *made = false;
  }
  return pb__write_end(&w);
}

int pb__door_empty_value(pb_door* d, int flat_value) {
  pb_type element;
  int64_t shape[PB_NEST_RANK];
  int rank;
  bool is_complex;
  if (!read_empty(pb__door_type(d, flat_value), &element, &rank, shape, &is_complex)) return -1;
  int value = pb_make_value(&d->m, element, rank, shape);
  d->m.program->values[value].is_complex = is_complex;
  return value;
}
