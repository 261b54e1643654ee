// Unification of a nest's scalar expression with an instruction's: modulo commutativity, and modulo immediates that
// can be neutral (a zero point of 0, a clamp at the type's limits).
#include "core/select/unify.h"

#include <math.h>
#include <string.h>

static double type_least(pb_type type) { return type == PB_I1 ? 0 : -ldexp(1, pb_type_bits(type) - 1); }
static double type_most(pb_type type) { return type == PB_I1 ? 1 : ldexp(1, pb_type_bits(type) - 1) - 1; }

int pb__immediate_of(const pb_insn* insn, int node, bool* is_unsigned) {
  const pb_expr_node* n = &insn->expr[node];
  *is_unsigned = false;
  for (; n->op == PB_OP_SITOFP || n->op == PB_OP_SEXT || n->op == PB_OP_ZEXT; n = &insn->expr[n->args[0]])
    *is_unsigned |= n->op == PB_OP_ZEXT;
  return n->op == PB_OP_IMM ? n->operand : -1;
}

// Whether a derived field can say the number. A plain one is as wide as its type; its sign is the encoder's to judge.
static bool can_say(const pb_field* field, double value) {
  return field->form == PB_FORM_PLAIN || pb_field_holds(field, (int64_t)value);
}

static bool bind_immediate(const pb_insn* insn, int operand, bool is_unsigned, double value, pb_binding* binding) {
  pb_type type = insn->operands[operand].type;
  double least = is_unsigned ? 0 : type_least(type), most = is_unsigned ? 2 * type_most(type) + 1 : type_most(type);
  if (type != PB_F32 && (value != floor(value) || value < least || value > most)) return false;
  if (insn->fields && !can_say(&insn->fields[insn->operands[operand].base], value)) return false;
  if (binding->imm_set[operand] && binding->imm[operand] != value) return false;
  binding->imm_set[operand] = true;
  binding->imm[operand] = value;
  return true;
}

static uint32_t bits_of(double value) {
  float number = (float)value;
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

// Whether the window can read this number outside its box: 0 without a field for it, else what the field can carry.
static bool can_fill(const pb_insn* insn, const pb_operand* window, pb_type type, double value) {
  if (window->fill < 0) return type == PB_F32 ? bits_of(value) == 0 : value == 0;
  const pb_field* field = &insn->fields[window->fill];
  if (type == PB_F32) return pb_field_holds(field, pb_field_bits(field, bits_of(value)));
  return value >= type_least(type) && value <= type_most(type) &&
         pb_field_holds(field, pb_field_low(field, pb_type_bits(type), (int64_t)value));
}

static bool bind_window(const pb_insn* insn, int operand, const pb_flat* nest, int access, pb_binding* binding) {
  const pb_operand* window = &insn->operands[operand];
  const pb_flat_access* a = &nest->access[access];
  // A mover copies bits, whatever they mean: i32 and f32 are the same word to it.
  bool same = insn->mover ? pb_type_bits(window->type) == pb_type_bits(a->type) : window->type == a->type;
  if (!same || (a->memory != PB_ANY_MEMORY && a->memory != window->memory)) return false;
  if (a->boxed && (!window->has_box || !can_fill(insn, window, a->type, a->fill))) return false;
  if (binding->node_of[operand] >= 0) return false;
  if (binding->access_of[operand] >= 0) return binding->access_of[operand] == access;
  binding->access_of[operand] = access;
  return true;
}

// A window that stands for a value which is not there yet. What cuts off its own root would compute nothing.
static bool bind_node(const pb_insn* insn, int in, int operand, const pb_flat* nest, int node, pb_binding* binding) {
  if (!binding->cuts || in == insn->expr_count - 1) return false;
  if (insn->operands[operand].type != nest->expr[node].type || insn->operands[operand].has_box) return false;
  if (binding->access_of[operand] >= 0) return false;
  if (binding->node_of[operand] >= 0) return binding->node_of[operand] == node;
  binding->node_of[operand] = node;
  return true;
}

// A mover that fills what lies outside a box writes a constant when nothing lies inside.
static bool bind_fill(const pb_insn* insn, int operand, const pb_expr_node* constant, pb_binding* binding) {
  const pb_operand* window = &insn->operands[operand];
  bool same = insn->mover ? pb_type_bits(window->type) == pb_type_bits(constant->type) : window->type == constant->type;
  if (!same || !window->has_box || !can_fill(insn, window, constant->type, constant->value)) return false;
  binding->fills = true;
  binding->fill = constant->value;
  return true;
}

// The value at which `op` with this immediate as second argument does nothing.
static bool neutral_value(pb_op op, pb_type imm_type, bool is_unsigned, double* value) {
  switch (op) {
  case PB_OP_ADD:
  case PB_OP_SUB:
    *value = 0;
    return true;
  case PB_OP_MUL:
  case PB_OP_DIV:
    *value = 1;
    return true;
  case PB_OP_MAX:
    *value = is_unsigned ? 0 : type_least(imm_type);
    return imm_type != PB_F32;
  case PB_OP_MIN:
    *value = is_unsigned ? 2 * type_most(imm_type) + 1 : type_most(imm_type);
    return imm_type != PB_F32;
  default:
    return false;
  }
}

bool pb__commutes(pb_op op) {
  return op == PB_OP_ADD || op == PB_OP_MUL || op == PB_OP_MAX || op == PB_OP_MIN || op == PB_OP_MAXIMUM ||
         op == PB_OP_MINIMUM;
}

static bool unify(const pb_insn* insn, int in, const pb_flat* nest, int nn, pb_binding* binding);

static bool unify_args(const pb_insn* insn, const pb_expr_node* i, const pb_flat* nest, const pb_expr_node* n,
                       bool swap, pb_binding* binding) {
  pb_binding saved = *binding;
  bool ok = true;
  for (int k = 0; k < 3 && ok; ++k) {
    int nk = swap && k < 2 ? 1 - k : k;
    if ((i->args[k] < 0) != (n->args[nk] < 0))
      ok = false;
    else if (i->args[k] >= 0)
      ok = unify(insn, i->args[k], nest, n->args[nk], binding);
  }
  if (!ok) *binding = saved;
  return ok;
}

// An element, or a row, of what access `access` of the nest loads, at the number that node `index` computes.
static bool unify_element(const pb_insn* insn, const pb_expr_node* i, const pb_flat* nest, int access, int index,
                          pb_binding* binding) {
  pb_binding saved = *binding;
  if (bind_window(insn, i->operand, nest, access, binding) && unify(insn, i->args[0], nest, index, binding))
    return true;
  *binding = saved;
  return false;
}

// A look-up in a table of as many elements; the nest's index is of type index.
static bool unify_table(const pb_insn* insn, const pb_expr_node* i, const pb_flat* nest, const pb_expr_node* n,
                        pb_binding* binding) {
  const pb_operand* window = &insn->operands[i->operand];
  if (n->op != PB_OP_LOAD || n->args[0] < 0) return false;
  if (nest->access[n->operand].table != insn->dims[window->dims[0]].max) return false;
  int index = n->args[0];
  if (nest->expr[index].op == PB_OP_SEXT && nest->expr[index].type == PB_INDEX) index = nest->expr[index].args[0];
  return unify_element(insn, i, nest, n->operand, index, binding);
}

int pb_row_unclamped(const pb_expr_node* expr, int n, int64_t rows) {
  if (expr[n].op != PB_OP_MIN || !pb_is_number(&expr[expr[n].args[1]], rows - 1)) return n;
  const pb_expr_node* least = &expr[expr[n].args[0]];
  return least->op == PB_OP_MAX && pb_is_number(&expr[least->args[1]], 0) ? least->args[0] : n;
}

// The number of a row before it is kept among so many, and before it is widened to be so.
static int row_number(const pb_flat* nest, int index, int64_t rows) {
  const pb_expr_node* e = nest->expr;
  if (e[index].op == PB_OP_SEXT && e[index].type == PB_INDEX) index = e[index].args[0];
  index = pb_row_unclamped(e, index, rows);
  if (e[index].op == PB_OP_SEXT && e[index].type == PB_I64) index = e[index].args[0];
  return index;
}

// Rows of a table. A dim of fixed extent has all of them.
static bool unify_rows(const pb_insn* insn, const pb_expr_node* i, const pb_flat* nest, const pb_expr_node* n,
                       pb_binding* binding) {
  const pb_operand* window = &insn->operands[i->operand];
  const pb_dim* dim = &insn->dims[window->dims[0]];
  if (n->op != PB_OP_LOAD || n->args[0] < 0 || !nest->access[n->operand].rows) return false;
  int64_t rows = nest->access[n->operand].rows;
  if (rows < dim->min || rows > dim->max) return false;
  return unify_element(insn, i, nest, n->operand, row_number(nest, n->args[0], rows), binding);
}

// The iteration of a loop, narrowed from an i64. Which loop it is the dims will say.
static bool is_counted(const pb_flat* nest, int nn) {
  const pb_expr_node* n = &nest->expr[nn];
  return n->op == PB_OP_TRUNC && n->type == PB_I32 && nest->expr[n->args[0]].op == PB_OP_INDEX;
}

static bool unify(const pb_insn* insn, int in, const pb_flat* nest, int nn, pb_binding* binding) {
  const pb_expr_node* i = &insn->expr[in];
  const pb_expr_node* n = &nest->expr[nn];
  bool is_unsigned;
  int imm = pb__immediate_of(insn, in, &is_unsigned);
  if (imm >= 0) return n->op == PB_OP_CONST && bind_immediate(insn, imm, is_unsigned, n->value, binding);
  if (i->op == PB_OP_LOAD && n->op == PB_OP_CONST && bind_fill(insn, i->operand, n, binding)) return true;
  if (i->op == PB_OP_LOAD && i->args[0] >= 0 && insn->operands[i->operand].rows >= 0)
    return unify_rows(insn, i, nest, n, binding);
  if (i->op == PB_OP_LOAD && i->args[0] >= 0) return unify_table(insn, i, nest, n, binding);
  if (i->op == PB_OP_LOAD && n->op == PB_OP_LOAD && n->args[0] >= 0) return false;
  if (i->op == PB_OP_LOAD && n->op == PB_OP_LOAD) return bind_window(insn, i->operand, nest, n->operand, binding);
  if (i->op == PB_OP_LOAD) return bind_node(insn, in, i->operand, nest, nn, binding);
  if (i->op == PB_OP_INDEX) return is_counted(nest, nn);
  if (i->op == PB_OP_CONST) return n->op == PB_OP_CONST && i->type == n->type && i->value == n->value;
  if (i->op == n->op && i->type == n->type) {
    if (unify_args(insn, i, nest, n, false, binding)) return true;
    if (pb__commutes(i->op) && unify_args(insn, i, nest, n, true, binding)) return true;
  }
  if (i->args[0] < 0 || i->args[1] < 0) return false;
  int last = pb__immediate_of(insn, i->args[1], &is_unsigned);
  double value;
  if (last < 0 || !neutral_value(i->op, insn->operands[last].type, is_unsigned, &value)) return false;
  pb_binding saved = *binding;
  if (bind_immediate(insn, last, is_unsigned, value, binding) && unify(insn, i->args[0], nest, nn, binding))
    return true;
  *binding = saved;
  return false;
}

static void clear(pb_binding* binding, bool cuts) {
  *binding = (pb_binding){.cuts = cuts};
  for (int k = 0; k < PB_MAX_OPERANDS; ++k) binding->access_of[k] = binding->node_of[k] = -1;
}

bool pb__unify_node(const pb_insn* insn, const pb_flat* nest, int node, pb_binding* binding) {
  clear(binding, true);
  return unify(insn, insn->expr_count - 1, nest, node, binding);
}

bool pb__unify(const pb_insn* insn, const pb_flat* nest, pb_binding* binding) {
  clear(binding, false);
  if (insn->reduce != nest->reduce) return false;
  if (!bind_window(insn, insn->dest, nest, nest->access_count - 1, binding)) return false;
  return unify(insn, insn->expr_count - 1, nest, nest->expr_count - 1, binding);
}
