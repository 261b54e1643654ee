// A register tile of matrices as text: they are loaded, multiplied, cleared and stored by calls of the description's
// instructions.
#include "core/s3/lower/vector_tile.h"

// So many elements of each of two dims of one of the instruction's operands.
static pb_instruction_use matrix_use(const pb_insn* insn, int operand, int64_t outer, int64_t inner) {
  pb_instruction_use use = {.insn = insn, .type = PB_TYPE_COUNT};
  use.extent[insn->operands[operand].dims[0]] = outer;
  use.extent[insn->operands[operand].dims[1]] = inner;
  return use;
}

const char* pb__vtile_load_matrix(pb_vtile* t, int64_t displacement, bool is_x, int indent) {
  pb_vemit* e = t->e;
  const pb_vkernel* k = e->k;
  const pb_matrix_insn* matrix = &k->matrix;
  const pb_access* access = &k->main->access[is_x ? k->x : k->w];
  const pb_insn* insn = is_x ? matrix->load_x : matrix->load_w;
  int64_t inner = matrix->product.group * (is_x ? k->depth : matrix->product.lanes);
  pb_instruction_use use = matrix_use(insn, insn->dest, is_x ? k->rows : k->depth, inner);
  use.stride = pb_vkernel_stride(access, is_x ? k->row_dim : k->depth_dim);
  use.elements = pb_value_elements(pb__vtile_value(e, access));
  pb_linear place;
  pb__vtile_place(t, access, displacement, &place);
  pb_text rows = {0};
  pb__vtile_print_flat(e, &rows, access, false);
  pb_text_add(&rows, ", %s", pb_lowered_linear(e->out, indent, "apply", &place, NULL));
  const char *operand = rows.data, *made = pb_lowered_call(e->out, indent, &use, &operand, NULL);
  pb_text_free(&rows);
  return made;
}

void pb__vtile_clear_matrices(pb_vtile* t, int indent) {
  pb_vemit* e = t->e;
  const pb_insn* insn = e->k->matrix.zero;
  const pb_instruction_use use = matrix_use(insn, insn->dest, e->k->rows, e->k->matrix.product.lanes);
  const char* none = "";
  for (int p = 0; p < t->points; ++p) t->acc[p] = pb_lowered_call(e->out, indent, &use, &none, NULL);
}

const char* pb__vtile_store_matrix(pb_vtile* t, int point, int indent) {
  pb_vemit* e = t->e;
  const pb_insn* insn = e->k->matrix.store;
  int64_t lanes = e->k->matrix.product.lanes, most = e->k->matrix.rows * lanes;
  pb_instruction_use use = matrix_use(insn, insn->dest, e->k->rows, lanes);
  use.elements = most;
  use.stride = lanes;
  const char *room = pb_lowered_room(e->out, insn->operands[insn->dest].type, most), *operands[PB_MAX_OPERANDS];
  const char* rows = pb_printf(e->arena, "%s, %s", room, pb_lowered_integer(e->out, PB_INDEX, 0, 1));
  for (int o = 0; o < insn->operand_count; ++o) operands[o] = o == insn->dest ? rows : t->acc[point];
  (void)pb_lowered_call(e->out, indent, &use, operands, NULL);
  return room;
}
