// Constants that are nodes.
#include "core/s1/lift/lift.h"

#include <stdlib.h>
#include <string.h>

// The node's result becomes an entry of the constant table.
pb_status pb__lift_constant(lifter* l, const pb_node* n) {
  const pb_attr *value = pb_node_attr(n, "value"), *number = pb_node_attr(n, "value_float"),
                *integer = pb_node_attr(n, "value_int"), *integers = pb_node_attr(n, "value_ints"),
                *numbers = pb_node_attr(n, "value_floats");
  pb_tensor* made = &l->g->tensors[n->outputs[0]];
  int id;
  if (value && value->kind == PB_ATTR_TENSOR && value->tensor >= 0) {
    id = value->tensor;
    made->is_unsigned = value->is_unsigned;
  } else if (number) {
    float* data = PB_NEW(&l->consts->arena, float);
    *data = number->f;
    id = pb_consts_add(l->consts, n->name, PB_F32, 0, NULL, data);
  } else if (numbers && numbers->count) {
    int64_t count = numbers->count;
    float* data = PB_NEW_ARRAY(&l->consts->arena, float, (size_t)count);
    memcpy(data, numbers->floats, (size_t)count * sizeof *data);
    id = pb_consts_add(l->consts, n->name, PB_F32, 1, &count, data);
  } else if (integer || (integers && integers->count)) {
    int64_t count = integer ? 1 : integers->count;
    int64_t* data = PB_NEW_ARRAY(&l->consts->arena, int64_t, (size_t)count);
    memcpy(data, integer ? &integer->i : integers->ints, (size_t)count * 8);
    id = pb_consts_add(l->consts, n->name, PB_I64, integer ? 0 : 1, &count, data);
  } else {
    return pb__refuse(l, n, "value, value_float, value_floats, value_int or value_ints",
                      "a constant in a form that is not read");
  }
  made->const_id = id;
  made->type = l->consts->items[id]->type;
  return PB_OK;
}
