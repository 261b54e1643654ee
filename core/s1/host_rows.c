// Rows at numbers that come at run time, where no command of the chip gathers them: the host copies them, a step of its
// program (control.h), as an embedding's rows are brought by what brings the tokens. What is known as the program
// begins comes first, so that what is left is one program.
#include "core/s1/control.h"

#include <stdlib.h>
#include <string.h>

static bool is_there(const pb_s1* p, int value) {
  const pb_s1_value* v = &p->values[pb_s1_base(p, value)];
  return (v->is_input || v->const_id >= 0) && !v->is_variable;
}

// Whole rows of x: nothing but 1 stands in front of the axis.
static bool takes_rows(const pb_s1* p, const pb_s1_op* op) {
  const pb_s1_value *x = &p->values[op->x], *z = &p->values[op->z];
  if (op->kind != PB_S1_GATHER || op->pointwise || (z->type != PB_I32 && z->type != PB_I64)) return false;
  for (int r = 0; r < op->axis; ++r)
    if (x->shape[r] != 1) return false;
  return p->values[op->y].alias_of < 0;
}

void pb_s1_rows_by_host(pb_s1* program) {
  size_t count = 0, first = 0;
  if (!program->op_count) return; // of no elements
  pb_s1_op* ops = calloc(program->op_count, sizeof *ops);
  bool* early = calloc(program->op_count, sizeof *early);
  if (!ops || !early) pb_no_memory(program->op_count * sizeof *ops);
  for (size_t k = 0; k < program->op_count; ++k) {
    pb_s1_op* op = &program->ops[k];
    if (!takes_rows(program, op)) continue;
    op->kind = PB_S1_TAKE;
    op->third = op->z;
    op->z = -1;
    program->values[op->y].is_variable = true;
    early[k] = is_there(program, op->x) && is_there(program, op->third);
    first += early[k];
  }
  for (size_t k = 0; k < program->op_count; ++k) ops[early[k] ? count++ : first++] = program->ops[k];
  memcpy(program->ops, ops, program->op_count * sizeof *ops);
  free(ops);
  free(early);
}
