// What a node says of itself: constants, and the kinds of its attributes.
#include "core/s1/lift.h"

#include <stdlib.h>
#include <string.h>

// The node's result becomes an entry of the constant table.
pb_status pb__lift_constant(lifter* l, const pb_node* n) {
  const pb_attr *value = pb_node_attr(n, "value"), *number = pb_node_attr(n, "value_float"),
                *integer = pb_node_attr(n, "value_int"), *integers = pb_node_attr(n, "value_ints");
  pb_tensor* made = &l->g->tensors[n->outputs[0]];
  int id;
  if (value && value->kind == PB_ATTR_TENSOR && value->tensor >= 0) {
    id = value->tensor;
    made->is_unsigned = value->is_unsigned;
  } else if (number) {
    float* data = PB_NEW(&l->consts->arena, float);
    *data = number->f;
    id = pb_consts_add(l->consts, n->name, PB_F32, 0, NULL, data);
  } else if (integer || (integers && integers->count)) {
    int64_t count = integer ? 1 : integers->count;
    int64_t* data = PB_NEW_ARRAY(&l->consts->arena, int64_t, (size_t)count);
    memcpy(data, integer ? &integer->i : integers->ints, (size_t)count * 8);
    id = pb_consts_add(l->consts, n->name, PB_I64, integer ? 0 : 1, &count, data);
  } else {
    return pb__refuse(l, n, "value, value_float, value_int or value_ints", "a constant in a form that is not read");
  }
  made->const_id = id;
  made->type = l->consts->items[id].type;
  return PB_OK;
}

// The kinds of the attributes that are read, whoever has them. Of another kind they would count as missing.
static const struct {
  const char* name;
  pb_attr_kind kind;
  bool flag; // 0 or 1
} kinds[] = {{"keepdims", PB_ATTR_INT, true},
             {"ceil_mode", PB_ATTR_INT, true},
             {"count_include_pad", PB_ATTR_INT, true},
             {"transA", PB_ATTR_INT, true},
             {"transB", PB_ATTR_INT, true},
             {"noop_with_empty_axes", PB_ATTR_INT, true},
             {"training_mode", PB_ATTR_INT, true},
             {"axis", PB_ATTR_INT, false},
             {"group", PB_ATTR_INT, false},
             {"output_dtype", PB_ATTR_INT, false},
             {"axes", PB_ATTR_INTS, false},
             {"strides", PB_ATTR_INTS, false},
             {"dilations", PB_ATTR_INTS, false},
             {"pads", PB_ATTR_INTS, false},
             {"kernel_shape", PB_ATTR_INTS, false},
             {"perm", PB_ATTR_INTS, false},
             {"starts", PB_ATTR_INTS, false},
             {"ends", PB_ATTR_INTS, false},
             {"split", PB_ATTR_INTS, false},
             {"epsilon", PB_ATTR_FLOAT, false},
             {"alpha", PB_ATTR_FLOAT, false},
             {"beta", PB_ATTR_FLOAT, false},
             {"gamma", PB_ATTR_FLOAT, false},
             {"min", PB_ATTR_FLOAT, false},
             {"max", PB_ATTR_FLOAT, false},
             {"auto_pad", PB_ATTR_STRING, false},
             {"mode", PB_ATTR_STRING, false},
             {"approximate", PB_ATTR_STRING, false}};

pb_status pb__check_attributes(lifter* l, const pb_node* n) {
  for (int a = 0; a < n->attr_count; ++a)
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
      const pb_attr* attr = &n->attrs[a];
      if (strcmp(attr->name, kinds[k].name)) continue;
      if (attr->kind != kinds[k].kind || (kinds[k].flag && attr->i != 0 && attr->i != 1))
        return pb__refuse(l, n, NULL,
                          pb_printf(&l->g->arena, "an attribute '%s' of another kind, or neither 0 nor 1", attr->name));
    }
  return PB_OK;
}
