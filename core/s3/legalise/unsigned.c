// Codes without sign. Requires the program function in value form, leaves it so. Chips whose products read codes as
// numbers of 0 to 255 (zext) keep them so in all their memories: a code of this compiler, an i8, with its sign bit
// flipped. What makes a code flips it, what reads one flips it back, and between two that do nothing is left of either;
// what is left beside a zero point moves that by 128. Of sums
//
//   before   y[o] += sext(x[k]) * w[o, k];                  z = f(y[o] + b[o])
//   after    y[o] += zext(x[k]) * w[o, k];                  z = f(y[o] + b'[o])    b' = b - 128 * sum of w[o, k]
//
// Inputs and outputs that are u8 in the model come and go as they are; those of i8 are copied, and flipped.
#include "core/s3/legalise/legalise.h"

#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/s3.h"

#include <string.h>

enum { NONE = -1 };

// What is to be added to a sum of codes without sign: by the index along an axis, or one number for all.
typedef struct offset {
  bool is_there;
  int axis; // NONE: numbers has one
  int64_t count;
  int32_t* numbers;
} offset;

typedef struct turner {
  pb_unit* unit;
  pb_program* program;
  bool* flipped;         // by value
  offset* offsets;       // by value
  int* twin;             // of constants: the one whose codes are flipped, NONE: not made yet
  int from;              // values
  pb_insertion* outside; // nests that turn inputs and outputs over
  int outside_count;
} turner;

bool pb_unit_names_unsigned(const pb_unit* unit, const char* name, size_t length) {
  for (int k = 0; k < unit->unsigned_count; ++k)
    if (strlen(unit->unsigned_names[k]) == length && !memcmp(unit->unsigned_names[k], name, length)) return true;
  return false;
}

// Whether all that write the tensor make codes, or take the largest of codes.
static bool can_flip(const pb_program* p, int v) {
  if (p->values[v].type != PB_I8 || p->values[v].kind == PB_VALUE_CONST) return false;
  PB_FOR_USES (n, p, v) {
    pb_reduce reduce = p->nests[n].reduce;
    if (pb_program_writes(p, n, v) && reduce != PB_SET && reduce != PB_ACC_MAX) return false;
  }
  return true;
}

// ---- constants ----

static int add_const(turner* t, const char* name, pb_type type, int rank, const int64_t* shape, const void* data) {
  return pb_program_add_const(t->program, &t->unit->pass, t->unit->consts, name, type, rank, shape, data);
}

static int flipped_const(turner* t, int v) {
  if (t->twin[v] != NONE) return t->twin[v];
  pb_value value = t->program->values[v];
  size_t bytes = (size_t)pb_value_bytes(&value);
  const uint8_t* from = pb_const_data(t->unit->consts, value.const_id);
  uint8_t* to = pb_alloc(&t->unit->consts->arena, bytes + 1);
  for (size_t k = 0; k < bytes; ++k) to[k] = from[k] ^ 0x80;
  return t->twin[v] = add_const(t, "without sign", PB_I8, value.rank, value.shape, to);
}

// ---- sums ----

// Whether the nest adds to each element of what it stores, and to none twice but by what it sums over.
static bool covers(const pb_nest* nest) {
  const pb_access* y = &nest->access[nest->access_count - 1];
  for (int r = 0; r < y->rank; ++r) {
    int64_t least, most;
    if (!pb_index_range(nest, &y->index[r], &least, &most) || least || most != y->shape[r] - 1) return false;
  }
  return pb_nest_results(nest) == pb_access_elements(y);
}

// Whether the sums are a tensor of the program's own that nothing else adds to.
static bool is_alone(const pb_program* p, int n) {
  int y = pb_program_stored(p, n);
  PB_FOR_WRITERS (k, p, y)
    if (k != n && p->nests[k].reduce != PB_SET) return false;
  return pb_program_is_local(p, y) && p->values[y].type == PB_I32;
}

// The axis of y along which all dims go that walk both w and y. NONE: no dim does; -2: they go along several.
static int axis_of(const pb_nest* nest, const pb_access* w) {
  const pb_access* y = &nest->access[nest->access_count - 1];
  int axis = NONE;
  for (int d = 0; d < nest->dim_count; ++d)
    for (int r = 0; r < y->rank && pb_access_uses(w, d); ++r) {
      if (!y->index[r].coef[d]) continue;
      if (axis != NONE && axis != r) return -2;
      axis = r;
    }
  return axis;
}

static int64_t weight_at(const void* data, pb_type type, int64_t at) {
  return type == PB_I8 ? ((const int8_t*)data)[at] : ((const int16_t*)data)[at];
}

// Adds up w over all dims that walk it, by y's index along the axis, and times those that are summed beside.
static void add_up(const pb_nest* nest, const pb_access* w, const void* data, int64_t factor, offset* to) {
  const pb_access* y = &nest->access[nest->access_count - 1];
  int64_t at[PB_NEST_DIMS] = {0}, elements = pb_access_offset(w);
  for (int d = 0; d < nest->dim_count; ++d)
    if (!pb_access_uses(w, d) && !pb_access_uses(y, d)) factor *= nest->extent[d];
  for (int d = 0; d >= 0;) {
    int64_t place = to->axis == NONE ? 0 : y->index[to->axis].cst;
    for (int k = 0; to->axis != NONE && k < nest->dim_count; ++k) place += y->index[to->axis].coef[k] * at[k];
    to->numbers[place] += (int32_t)(uint32_t)(uint64_t)(factor * weight_at(data, w->type, elements));
    for (d = nest->dim_count - 1; d >= 0; --d) {
      if (!pb_access_uses(w, d)) continue;
      elements += pb_access_stride(w, d);
      if (++at[d] < nest->extent[d]) break;
      elements -= pb_access_stride(w, d) * at[d];
      at[d] = 0;
    }
  }
}

// Takes off what codes without sign are more, and notes what that comes to.
static void split_sum(turner* t, int n) {
  pb_program* p = t->program;
  pb_nest* nest = &p->nests[n];
  pb_nest* split = pb_nest_kept(&t->unit->pass, nest);
  int by;
  int64_t less = pb__unsigned_split(split, &by);
  if (!less || !is_alone(p, n) || !covers(nest)) return;
  offset* to = &t->offsets[pb_program_stored(p, n)];
  const pb_access* w = by < 0 ? NULL : &nest->access[by];
  const pb_value* weights = by < 0 ? NULL : &p->values[p->value_of[n][by]];
  *to = (offset){.axis = w ? axis_of(nest, w) : NONE};
  bool known = !w || (weights->kind == PB_VALUE_CONST && (w->type == PB_I8 || w->type == PB_I16) && !w->boxed &&
                      !w->gathered && nest->expr[nest->expr_count - 1].op == PB_OP_MUL);
  if (!known || to->axis == -2) return;
  to->is_there = true;
  to->count = to->axis == NONE ? 1 : nest->access[nest->access_count - 1].shape[to->axis];
  to->numbers = PB_NEW_ARRAY(&t->unit->consts->arena, int32_t, (size_t)to->count);
  if (w) {
    add_up(nest, w, pb_const_data(t->unit->consts, weights->const_id), -less, to);
  } else {
    to->numbers[0] = (int32_t)(uint32_t)(uint64_t)(-less * pb_nest_steps(nest));
  }
  pb_nest_copy(nest, split);
}

static bool is_same_index(const pb_index* a, const pb_index* b) { return !memcmp(a, b, sizeof *a); }

// The one constant that the nest adds to the sums, a number for each of an axis: its access. NONE: there is none.
static int bias_of(const pb_program* p, int n, int sums, int axis) {
  const pb_nest* nest = &p->nests[n];
  for (int e = 0; e < nest->expr_count; ++e) {
    const pb_expr_node* add = &nest->expr[e];
    for (int side = 0; side < 2 && add->op == PB_OP_ADD && add->type == PB_I32; ++side) {
      const pb_expr_node *sum = &nest->expr[add->args[side]], *bias = &nest->expr[add->args[1 - side]];
      if (sum->op != PB_OP_LOAD || sum->operand != sums || bias->op != PB_OP_LOAD || bias->args[0] >= 0) continue;
      const pb_access* b = &nest->access[bias->operand];
      bool fits = pb_program_is_const(p, n, bias->operand) && b->type == PB_I32 && b->rank == 1;
      if (fits && (axis == NONE || is_same_index(&b->index[0], &nest->access[sums].index[axis]))) return bias->operand;
    }
  }
  return NONE;
}

static int loads_of(const pb_nest* nest, int access) {
  int count = 0;
  for (int e = 0; e < nest->expr_count; ++e) count += nest->expr[e].op == PB_OP_LOAD && nest->expr[e].operand == access;
  return count;
}

// Puts the offset of the sums into the bias that the nest adds to them anyway. false: it adds none.
static bool join_bias(turner* t, int n, int sums) {
  pb_program* p = t->program;
  const offset* o = &t->offsets[p->value_of[n][sums]];
  int bias = bias_of(p, n, sums, o->axis);
  if (bias < 0 || loads_of(&p->nests[n], sums) != 1 || loads_of(&p->nests[n], bias) != 1) return false;
  pb_value value = p->values[p->value_of[n][bias]];
  if (o->axis != NONE && value.shape[0] != o->count) return false;
  const int32_t* from = pb_const_data(t->unit->consts, value.const_id);
  int32_t* to = PB_NEW_ARRAY(&t->unit->consts->arena, int32_t, (size_t)value.shape[0]);
  for (int64_t k = 0; k < value.shape[0]; ++k)
    to[k] = (int32_t)((uint32_t)from[k] + (uint32_t)o->numbers[o->axis == NONE ? 0 : k]);
  int joined = add_const(t, "bias without sign", PB_I32, 1, value.shape, to);
  pb_program_set_value(p, &t->unit->pass, n, bias, joined);
  return true;
}

// An access of its own for the offset, in front of the store.
static int add_access(turner* t, int n, int sums) {
  pb_program* p = t->program;
  pb_nest* nest = &p->nests[n];
  offset* o = &t->offsets[p->value_of[n][sums]];
  if (nest->access_count == PB_NEST_ACCESSES) return NONE;
  int v = add_const(t, "offset", PB_I32, 1, &o->count, o->numbers);
  int at = pb_program_add_access(p, &t->unit->pass, n, v);
  if (o->axis != NONE) nest->access[at].index[0] = nest->access[sums].index[o->axis];
  return at;
}

// ---- nests ----

// Whether the constant that the nest reads is of codes: it copies them, or makes codes of them and of others. Numbers
// that stand beside sums, as shifts, are none.
static bool takes_codes(const turner* t, int n, int a) {
  const pb_program* p = t->program;
  const pb_nest* nest = &p->nests[n];
  const pb_expr_node* last = &nest->expr[nest->expr_count - 1];
  bool beside = last->op == PB_OP_LOAD && last->operand == a;
  if (nest->reduce != PB_SET || !t->flipped[pb_program_stored(p, n)] || nest->access[a].type != PB_I8) return false;
  for (int k = 0; k + 1 < nest->access_count; ++k)
    beside |= p->value_of[n][k] < t->from && t->flipped[p->value_of[n][k]];
  return beside;
}

// Whether what access a reads or writes lies without sign. Constants that become codes do, too.
static bool flip_access(turner* t, int n, int a) {
  pb_program* p = t->program;
  int v = p->value_of[n][a];
  if (v >= t->from) return false;
  if (p->values[v].kind != PB_VALUE_CONST || !takes_codes(t, n, a)) return t->flipped[v];
  pb_program_set_value(p, &t->unit->pass, n, a, flipped_const(t, v));
  return true;
}

// A load of codes, flipped back, or of sums, with their offset.
static int rewrite_load(turner* t, int n, pb_nest* to, int load, const int* offsets, const bool* flips) {
  int a = to->expr[load].operand;
  if (flips[a]) return pb__unsigned_flipped(to, load);
  if (offsets[a] == NONE) return load;
  const offset* o = &t->offsets[t->program->value_of[n][a]];
  int more = o->axis == NONE ? pb_nest_integer(to, PB_I32, o->numbers[0]) : pb_nest_load(to, offsets[a]);
  return pb_nest_node(to, PB_OP_ADD, PB_I32, load, more);
}

static void rewrite_body(turner* t, int n, const int* offsets, const bool* flips) {
  pb_nest* nest = &t->program->nests[n];
  pb_nest* to = pb_nest_kept(&t->unit->pass, nest);
  int map[PB_NEST_EXPR], last = NONE;
  to->expr_count = 0;
  for (int e = 0; e < nest->expr_count; ++e) {
    pb_expr_node node = nest->expr[e];
    for (int a = 0; a < 3; ++a)
      if (node.args[a] >= 0) node.args[a] = map[node.args[a]];
    last = pb__unsigned_node(to, &node, node.args);
    if (node.op == PB_OP_LOAD) last = rewrite_load(t, n, to, last, offsets, flips);
    map[e] = last;
  }
  if (flips[nest->access_count - 1]) {
    last = pb__unsigned_flipped(to, last);
    if (to->reduce == PB_ACC_MAX) to->reduce = PB_ACC_MAXU;
  }
  if (to->stored_at) to->stored_at = map[nest->stored_at];
  pb_nest_end(to, last);
  pb_nest_copy(nest, to);
}

static void rewrite(turner* t, int n) {
  pb_nest* nest = &t->program->nests[n];
  int offsets[PB_NEST_ACCESSES], weights = pb_program_weights_of(t->program, n), reads = nest->access_count - 1;
  bool flips[PB_NEST_ACCESSES], any = false;
  for (int a = 0; a < PB_NEST_ACCESSES; ++a) offsets[a] = NONE;
  for (int a = 0; a < reads; ++a) {
    int v = t->program->value_of[n][a];
    if (v >= t->from || !t->offsets[v].is_there || join_bias(t, n, a)) continue;
    offsets[a] = t->offsets[v].axis == NONE ? a : add_access(t, n, a);
    any = true;
  }
  for (int a = 0; a < nest->access_count; ++a) {
    flips[a] = a != weights && flip_access(t, n, a);
    any |= flips[a];
    if (flips[a] && nest->access[a].boxed) nest->access[a].fill = (int8_t)((int8_t)nest->access[a].fill ^ 0x80);
  }
  if (!any) return;
  rewrite_body(t, n, offsets, flips);
  if (nest->reduce == PB_ACC_ADD) split_sum(t, n);
}

// ---- inputs and outputs ----

// A nest in front of nest `at` that copies one value to another with the sign bit flipped.
static void turn_over(turner* t, int at, int from, int to) {
  const pb_program* p = t->program;
  pb_nest* nest = pb_alloc_raw(&t->unit->pass, sizeof *nest);
  const pb_value* value = &p->values[from];
  pb_access whole = pb_value_shape(value);
  pb_nest_begin_over(nest, value->name ? value->name : p->values[to].name, "point", 2, &whole);
  int wide = pb_nest_node(nest, PB_OP_SEXT, PB_I32, pb_nest_load(nest, 0), NONE); // as a command can say it
  int turned = pb_nest_node(nest, PB_OP_XOR, PB_I32, wide, pb_nest_integer(nest, PB_I32, INT8_MIN));
  (void)pb_nest_node(nest, PB_OP_TRUNC, PB_I8, turned, NONE);
  t->outside[t->outside_count] = (pb_insertion){at, t->outside_count, from, to, nest};
  ++t->outside_count;
}

// A tensor of the program's own in the place of one that comes in or goes out in the other form.
static void replace_outside(turner* t, int v) {
  pb_program* p = t->program;
  pb_access whole = pb_value_shape(&p->values[v]);
  int own = pb_program_add_local(p, &t->unit->pass, &whole);
  PB_FOR_ACCESSES (n, a, p, v) pb_program_set_value(p, &t->unit->pass, n, a, own);
  if (p->values[v].kind == PB_VALUE_INPUT)
    turn_over(t, 0, v, own);
  else
    turn_over(t, p->nest_count, own, v);
}

static void turn_outside(turner* t, pb_value_kind kind) {
  pb_program* p = t->program;
  for (int v = 0; v < t->from; ++v) {
    const pb_value* value = &p->values[v];
    if (value->kind != kind || value->type != PB_I8 || pb_program_next_use(p, v, -1) < 0) continue;
    const char* name = value->name;
    if (t->flipped[v] != (name && pb_unit_names_unsigned(t->unit, name, strlen(name)))) replace_outside(t, v);
  }
}

bool pb_s3_unsigned(pb_unit* unit, pb_program* p) {
  turner t = {.unit = unit, .program = p, .from = p->value_count};
  bool any = false;
  t.flipped = PB_NEW_ARRAY(&unit->pass, bool, (size_t)t.from + 1);
  t.offsets = PB_NEW_ARRAY(&unit->pass, offset, (size_t)t.from + 1);
  t.twin = PB_NEW_ARRAY(&unit->pass, int, (size_t)t.from + 1);
  for (int v = 0; v < t.from; ++v) {
    t.twin[v] = NONE;
    any |= t.flipped[v] = can_flip(p, v);
  }
  unit->codes_unsigned = true;
  if (!any) return false;
  for (int n = 0; n < p->nest_count; ++n) rewrite(&t, n);
  t.outside = PB_NEW_ARRAY(&unit->pass, pb_insertion, (size_t)t.from + 1);
  turn_outside(&t, PB_VALUE_INPUT);
  turn_outside(&t, PB_VALUE_OUTPUT);
  pb_program_insert(p, &unit->pass, t.outside, t.outside_count);
  return true;
}
