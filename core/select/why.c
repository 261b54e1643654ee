// Why no instruction computes a nest: each instruction's value is followed beside the nest's until something differs.
// The nearest is the one that got furthest.
#include "core/select/unify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TEXT = 200 };

typedef struct comparison {
  const pb_chip* chip;
  const pb_insn* insn;
  const pb_flat* nest;
  char text[MOST_TEXT]; // the first thing that does not fit; "": nothing yet
} comparison;

// What a description calls the operation, or, of those that none has, what they are.
static const char* op_name(const pb_expr_node* node) {
  static const char* const others[PB_OP_COUNT] = {
      [PB_OP_LOAD] = "a value read", [PB_OP_CONST] = "a constant", [PB_OP_INDEX] = "the number of an iteration",
      [PB_OP_EXP] = "exp",           [PB_OP_LOG] = "log",          [PB_OP_TANH] = "tanh",
      [PB_OP_ERF] = "erf",           [PB_OP_POW] = "pow",          [PB_OP_SIN] = "sin",
      [PB_OP_COS] = "cos",           [PB_OP_BITCAST] = "bitcast"};
  const char* name = pb_semantics_name(node->op, node->type);
  if (!name) name = others[node->op];
  return name ? name : "another operation";
}

static void differs(comparison* c, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void differs(comparison* c, const char* format, ...) {
  va_list args;
  if (c->text[0]) return;
  va_start(args, format);
  vsnprintf(c->text, sizeof c->text, format, args);
  va_end(args);
}

static const char* memory_name(const comparison* c, int memory) { return c->chip->memories[memory].name; }

// What a window stands for: 2 when it fits, 1 when only its memory does not.
static int window_fits(comparison* c, int operand, const pb_flat_access* a, const char* done) {
  const pb_operand* w = &c->insn->operands[operand];
  bool same = c->insn->mover ? pb_type_bits(w->type) == pb_type_bits(a->type) : w->type == a->type;
  if (!same) {
    differs(c, "its '%s' is %s, here %s is %s", w->name, pb_type_name(w->type), pb_type_name(a->type), done);
    return 0;
  }
  if (a->memory != PB_ANY_MEMORY && a->memory != w->memory) {
    differs(c, "its '%s' lies in %s, here what lies in %s is %s", w->name, memory_name(c, w->memory),
            memory_name(c, a->memory), done);
    return 1;
  }
  if (a->boxed && !w->has_box) {
    differs(c, "its '%s' has no box, here what lies outside of the tensor is %s as %g", w->name, done, a->fill);
    return 1;
  }
  return 2;
}

static int follow(comparison* c, int in, int nn);

static int follow_args(comparison* c, const pb_expr_node* i, const pb_expr_node* n, bool swap) {
  int score = 0;
  for (int k = 0; k < 3; ++k) {
    int nk = swap && k < 2 ? 1 - k : k;
    if (i->args[k] >= 0 && n->args[nk] >= 0) score += follow(c, i->args[k], n->args[nk]);
  }
  return score;
}

// How much of the instruction's node is the nest's.
static int follow(comparison* c, int in, int nn) {
  const pb_expr_node *i = &c->insn->expr[in], *n = &c->nest->expr[nn];
  bool is_unsigned;
  int imm = pb__immediate_of(c->insn, in, &is_unsigned);
  if (imm >= 0) {
    if (n->op == PB_OP_CONST) return 2;
    differs(c, "its '%s' is a constant of the command, here it is %s", c->insn->operands[imm].name, op_name(n));
    return 0;
  }
  if (i->op == PB_OP_LOAD) {
    if (n->op == PB_OP_LOAD) return window_fits(c, i->operand, &c->nest->access[n->operand], "read");
    differs(c, "it reads '%s' where the result of %s is needed", c->insn->operands[i->operand].name, op_name(n));
    return 0;
  }
  if (i->op == PB_OP_CONST) {
    if (n->op == PB_OP_CONST && i->value == n->value && i->type == n->type) return 2;
    if (n->op == PB_OP_CONST)
      differs(c, "it has the constant %g, here it is %g", i->value, n->value);
    else
      differs(c, "it has the constant %g, here it is %s", i->value, op_name(n));
    return 0;
  }
  if (i->op == n->op && i->type == n->type) {
    comparison straight = *c, turned = *c;
    int a = follow_args(&straight, i, n, false), b = pb__commutes(i->op) ? follow_args(&turned, i, n, true) : -1;
    *c = b > a ? turned : straight;
    return 2 + (b > a ? b : a);
  }
  // An addition of a zero point of 0 and the like do nothing.
  if (i->args[1] >= 0 && pb__immediate_of(c->insn, i->args[1], &is_unsigned) >= 0) return follow(c, i->args[0], nn);
  if (i->op == n->op)
    differs(c, "it computes %s in %s, here it is in %s", op_name(i), pb_type_name(i->type), pb_type_name(n->type));
  else
    differs(c, "it computes %s where %s is needed", op_name(i), op_name(n));
  return 0;
}

static int compare(comparison* c) {
  static const char* const kinds[] = {[PB_SET] = "sets each element",
                                      [PB_ACC_ADD] = "adds up",
                                      [PB_ACC_MAX] = "keeps the largest",
                                      [PB_ACC_MAXIMUM] = "keeps the largest, or NaN",
                                      [PB_ACC_MAXU] = "keeps the largest without sign",
                                      [PB_ACC_BODY] = "makes each element of what was there"};
  if (c->insn->reduce != c->nest->reduce) {
    differs(c, "it %s, here the nest %s", kinds[c->insn->reduce], kinds[c->nest->reduce]);
    return 0;
  }
  int value = follow(c, c->insn->expr_count - 1, c->nest->expr_count - 1);
  int stored = window_fits(c, c->insn->dest, &c->nest->access[c->nest->access_count - 1], "written");
  return value ? value + stored : 0;
}

// The nest as a description would say it ----------------------------------------------------------------------------

typedef struct text {
  char bytes[560];
  size_t used;
  bool cut; // a value was longer than what is said of one: nodes are shared, as a tree it may have no end
} text;

static void put(text* t, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void put(text* t, const char* format, ...) {
  va_list args;
  va_start(args, format);
  int n = t->used < sizeof t->bytes ? vsnprintf(t->bytes + t->used, sizeof t->bytes - t->used, format, args) : 0;
  va_end(args);
  t->used += n > 0 ? (size_t)n : 0;
}

static void put_value(text* t, const pb_flat* nest, int node) {
  enum { LONGEST = 340 };
  if (t->cut) return;
  if (t->used > LONGEST) {
    t->cut = true;
    put(t, "...");
    return;
  }
  const pb_expr_node* n = &nest->expr[node];
  if (n->op == PB_OP_LOAD && n->args[0] < 0)
    put(t, "$%c", 'a' + n->operand);
  else if (n->op == PB_OP_CONST && pb_type_is_float(n->type))
    put(t, "%.9g", n->value);
  else if (n->op == PB_OP_CONST)
    put(t, "%lld", (long long)n->value);
  else {
    const char* name = n->op == PB_OP_LOAD ? "lookup" : op_name(n);
    put(t, "(%s", strchr(name, ' ') ? "?" : name);
    if (n->op == PB_OP_LOAD) put(t, " $%c,", 'a' + n->operand);
    for (int k = 0; k < 3 && n->args[k] >= 0 && !t->cut; ++k) {
      put(t, "%s ", k ? "," : "");
      put_value(t, nest, n->args[k]);
    }
    if (!t->cut) put(t, ")");
  }
}

static void put_operand(text* t, const pb_chip* chip, const pb_flat* nest, int access) {
  const pb_flat_access* a = &nest->access[access];
  put(t, "; $%c: %s", access == nest->access_count - 1 ? 'y' : 'a' + access, pb_type_name(a->type));
  if (a->memory != PB_ANY_MEMORY) put(t, " in %s", chip->memories[a->memory].name);
}

static void put_nest(text* t, const pb_chip* chip, const pb_flat* nest) {
  static const char* const kinds[] = {
      [PB_SET] = "set",           [PB_ACC_ADD] = "acc_add", [PB_ACC_MAX] = "acc_max", [PB_ACC_MAXIMUM] = "acc_maximum",
      [PB_ACC_MAXU] = "acc_maxu", [PB_ACC_BODY] = "set"};
  put(t, "needed: (%s $y, ", kinds[nest->reduce]);
  put_value(t, nest, nest->expr_count - 1);
  put(t, ")");
  for (int a = 0; a < nest->access_count; ++a) put_operand(t, chip, nest, a);
}

const char* pb__why(const pb_chip* chip, const pb_flat* nest, pb_arena* arena) {
  comparison nearest = {0};
  int most = 0, size = 0;
  for (int k = 0; k < chip->insn_count; ++k) {
    comparison c = {.chip = chip, .insn = &chip->insns[k], .nest = nest};
    if (!c.insn->operand_count || c.insn->emit) continue;
    int score = compare(&c);
    bool nearer = score > most || (score == most && score && c.insn->expr_count < size);
    if (!nearer || !c.text[0]) continue;
    nearest = c, most = score, size = c.insn->expr_count;
  }
  text t = {.used = 0};
  put_nest(&t, chip, nest);
  if (nest->expr_count == 1 && nest->expr[0].op == PB_OP_CONST)
    put(&t, "; a move whose source has a box and a Fill writes constants");
  if (most) put(&t, "; %s comes nearest: %s", nearest.insn->name, nearest.text);
  return pb_strdup(arena, t.bytes);
}
