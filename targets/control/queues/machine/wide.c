// Operations of a command that take or give i64: wide products, their shifts, and the way there and back.
#include "targets/control/queues/machine/state.h"

#include <assert.h>

static void compute(pb_op op, int64_t* out, const int64_t* a, const int64_t* b, int64_t count) {
  switch (op) {
  case PB_OP_ADD:
    EACH(out[k] = (int64_t)((uint64_t)a[k] + (uint64_t)b[k]));
    break;
  case PB_OP_SUB:
    EACH(out[k] = (int64_t)((uint64_t)a[k] - (uint64_t)b[k]));
    break;
  case PB_OP_MUL:
    EACH(out[k] = (int64_t)((uint64_t)a[k] * (uint64_t)b[k]));
    break;
  case PB_OP_MAX:
    EACH(out[k] = a[k] > b[k] ? a[k] : b[k]);
    break;
  case PB_OP_MIN:
    EACH(out[k] = a[k] < b[k] ? a[k] : b[k]);
    break;
  case PB_OP_AND:
    EACH(out[k] = a[k] & b[k]);
    break;
  case PB_OP_OR:
    EACH(out[k] = a[k] | b[k]);
    break;
  case PB_OP_XOR:
    EACH(out[k] = a[k] ^ b[k]);
    break;
  case PB_OP_SHL:
    EACH(out[k] = (int64_t)((uint64_t)a[k] << (b[k] & 63)));
    break;
  case PB_OP_SHR:
    EACH(out[k] = a[k] >> (b[k] & 63));
    break;
  case PB_OP_SHRU:
    EACH(out[k] = (int64_t)((uint64_t)a[k] >> (b[k] & 63)));
    break;
  default:
    assert(!"an operation on i64"); // tdl/read/values.c gives no other that type
  }
}

void machine__apply_wide(const pb_expr_node* node, const machine_operand* args, machine_value* narrow, int64_t* wide,
                         int64_t count) {
  const machine_value* a = args[0].narrow;
  const int64_t *x = args[0].wide, *y = args[1].wide, *z = args[2].wide;
  uint32_t bits = (uint32_t)pb_type_bits(args[0].type), top;
  switch (node->op) {
  case PB_OP_SEXT:
    EACH(wide[k] = a[k].i);
    break;
  case PB_OP_ZEXT:
    EACH(wide[k] = bits < 32 ? a[k].u & ((1u << bits) - 1) : a[k].u);
    break;
  case PB_OP_TRUNC:
    top = 1u << (pb_type_bits(node->type) - 1);
    EACH(narrow[k].u = (((uint32_t)x[k] & (2 * top - 1)) ^ top) - top);
    break;
  case PB_OP_SITOFP:
    EACH(narrow[k].f = (float)x[k]);
    break;
  case PB_OP_LESS:
    EACH(narrow[k].u = x[k] < y[k]);
    break;
  case PB_OP_LESS_EQUAL:
    EACH(narrow[k].u = x[k] <= y[k]);
    break;
  case PB_OP_LESSU:
    EACH(narrow[k].u = (uint64_t)x[k] < (uint64_t)y[k]);
    break;
  case PB_OP_EQUAL:
    EACH(narrow[k].u = x[k] == y[k]);
    break;
  case PB_OP_SELECT:
    EACH(wide[k] = a[k].u & 1 ? y[k] : z[k]);
    break;
  default:
    compute(node->op, wide, x, y, count);
  }
}
