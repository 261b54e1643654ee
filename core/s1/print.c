#include "core/poly/text.h"
#include "core/s1/control.h"

static void print_value(pb_text* t, const pb_s1* p, int v) {
  const pb_s1_value* value = &p->values[v];
  pb_text_add(t, "%%%d:", v);
  for (int r = 0; r < value->rank; ++r) pb_text_add(t, "%lldx", (long long)value->shape[r]);
  pb_text_add(t, "%s", pb_type_name(value->is_unsigned ? PB_U8 : value->type));
}

// Of the model: the end of a line.
static void print_node(pb_text* t, const pb_s1_op* op) {
  pb_text_add_shown(t, op->type);
  pb_text_add(t, " '");
  pb_text_add_shown(t, op->name);
  pb_text_add(t, "'\n");
}

char* pb_s1_print(const pb_s1* p) {
  static const char* const kinds[] = {
      "conv",    "maxpool", "average", "add",     "mul",      "rescale",  "quantise",   "dequantise", "table",
      "softmax", "norm",    "matmul",  "fconv",   "fmatmul",  "fmaxpool", "faverage",   "fbinary",    "fscale",
      "fclamp",  "funary",  "fprelu",  "freduce", "fsoftmax", "fnorm",    "ftranspose", "slice",      "fpad",
      "concat",  "copy",    "each",    "gather",  "nest",     "move",     "place",      "take",       "loop",
      "while",   "again",   "if",      "else",    "end"};
  pb_text t = {0};
  for (size_t v = 0; v < p->value_count; ++v) {
    if (!p->values[v].is_input && p->values[v].alias_of < 0 && p->values[v].const_id < 0) continue;
    print_value(&t, p, (int)v);
    if (p->values[v].is_input)
      pb_text_add(&t, " = input ");
    else if (p->values[v].const_id >= 0)
      pb_text_add(&t, " = const%d", p->values[v].const_id);
    else
      pb_text_add(&t, " = alias %%%d", p->values[v].alias_of);
    if (p->values[v].is_input) pb_text_add_quoted(&t, p->values[v].name);
    pb_text_add(&t, "\n");
  }
  for (size_t k = 0; k < p->op_count; ++k) {
    const pb_s1_op* op = &p->ops[k];
    if (op->y >= 0) print_value(&t, p, op->y);
    pb_text_add(&t, "%s%s ", op->y >= 0 ? " = " : "", kinds[op->kind]);
    if (op->x >= 0) print_value(&t, p, op->x);
    for (int a = 1; op->nest && a + 1 < op->nest->access_count; ++a) {
      pb_text_add(&t, ", ");
      print_value(&t, p, op->nest->access[a].buffer);
    }
    if (op->z >= 0) {
      pb_text_add(&t, ", ");
      print_value(&t, p, op->z);
    }
    if (op->third >= 0) {
      pb_text_add(&t, ", ");
      print_value(&t, p, op->third);
    }
    if (pb_s1_is_control(op)) {
      pb_text_add(&t, "// ");
      print_node(&t, op);
      continue;
    }
    if (op->weights >= 0) pb_text_add(&t, " weights=const%d", op->weights);
    if (op->m >= 0) pb_text_add(&t, " bias=const%d m=const%d", op->bias, op->m);
    if (op->kind == PB_S1_CONV || op->kind == PB_S1_MAXPOOL)
      pb_text_add(&t, " window=%lldx%lld stride=%lldx%lld pad=%lld,%lld,%lld,%lld", (long long)op->window[0],
                  (long long)op->window[1], (long long)op->stride[0], (long long)op->stride[1], (long long)op->pad[0],
                  (long long)op->pad[1], (long long)op->pad[2], (long long)op->pad[3]);
    pb_text_add(&t, " zero=%g,%g,%g clamp=[%g, %g] // ", op->zx, op->zz, op->zy, op->lo, op->hi);
    print_node(&t, op);
  }
  return t.data;
}
