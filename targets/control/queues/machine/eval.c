// What a command computes: its expression over blocks of points, one array per node. Points are walked with the dims
// that the destination keeps outermost, so that everything summed into one element stands together.
#include "targets/control/queues/machine/state.h"

#include "core/base/arena.h"
#include "tdl/function.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = MACHINE_BLOCK };
typedef machine_value value;

struct machine_vectors {
  value nodes[PB_MAX_EXPR][BLOCK];
  int64_t (*wide)[BLOCK]; // the nodes of i64, by their numbers; NULL: the chip has none
  value old[BLOCK], result[BLOCK];
  value* terms; // what is reduced, when that is more than one value a point
  int64_t capacity;
};

machine_vectors* machine__vectors_open(const pb_chip* chip) {
  machine_vectors* v = calloc(1, sizeof *v);
  if (!v) pb_no_memory(sizeof *v);
  bool wide = false;
  for (int k = 0; k < chip->insn_count; ++k)
    for (int n = 0; n < chip->insns[k].expr_count; ++n) wide |= chip->insns[k].expr[n].type == PB_I64;
  if (wide) v->wide = calloc(PB_MAX_EXPR, sizeof *v->wide);
  if (wide && !v->wide) pb_no_memory(PB_MAX_EXPR * sizeof *v->wide);
  return v;
}

void machine__vectors_close(machine_vectors* v) {
  if (v) free(v->terms), free(v->wide);
  free(v);
}

// The dims of the instruction in the order in which points are numbered.
typedef struct walk {
  int rank, kept;
  int dim[PB_MAX_INSN_DIMS];
  int64_t extent[PB_MAX_INSN_DIMS];
  int64_t points, each; // of the destination; values reduced to one of them
} walk;

static bool window_has(const machine_window* w, int dim) {
  for (int k = 0; k < w->rank; ++k)
    if (w->operand->dims[k] == dim) return true;
  return false;
}

static walk make_walk(const machine_command* c) {
  const pb_insn* insn = c->command.insn;
  walk s = {.points = 1, .each = 1};
  for (int pass = 0; pass < 2; ++pass)
    for (int d = 0; d < insn->dim_count; ++d) {
      if (insn->dims[d].table) continue;
      bool kept = window_has(&c->windows[insn->dest], d);
      if (kept != (pass == 0)) continue;
      s.dim[s.rank] = d;
      s.extent[s.rank++] = c->extent[d];
      if (kept)
        s.points *= c->extent[d], s.kept = s.rank;
      else
        s.each *= c->extent[d];
    }
  return s;
}

// A window seen along the first `rank` dims of a walk.
typedef struct view {
  uint8_t* data; // of the memory: elements are at data + address; of codes of 4 bits address and strides count these
  int64_t address;
  int rank;
  int64_t extent[PB_MAX_INSN_DIMS], stride[PB_MAX_INSN_DIMS], lo[PB_MAX_INSN_DIMS], hi[PB_MAX_INSN_DIMS];
  pb_type type;
  bool boxed;
  value fill;
} view;

static view make_view(const machine_window* w, const walk* s, int rank) {
  view v = {.data = w->memory->data, .address = w->address, .rank = rank, .type = w->operand->type, .boxed = w->boxed};
  for (int p = 0; p < rank; ++p) {
    v.extent[p] = v.hi[p] = s->extent[p];
    for (int k = 0; k < w->rank; ++k)
      if (w->operand->dims[k] == s->dim[p]) {
        v.stride[p] += w->half >= 0 && k != w->half ? 2 * w->stride[k] : w->stride[k];
        v.lo[p] = w->lo[k], v.hi[p] = w->hi[k];
      }
  }
  if (w->half >= 0) v.address *= 2;
  v.fill.i = (int32_t)w->fill;
  return v;
}

static void load_run(value* out, const uint8_t* from, int64_t stride, int64_t count, pb_type type) {
  switch (type) {
  case PB_I1:
    for (int64_t k = 0; k < count; ++k) out[k].i = from[k * stride] & 1;
    break;
  case PB_I8:
    if (stride == 1)
      for (int64_t k = 0; k < count; ++k) out[k].i = (int8_t)from[k];
    else
      for (int64_t k = 0; k < count; ++k) out[k].i = (int8_t)from[k * stride];
    break;
  case PB_I16:
    for (int64_t k = 0; k < count; ++k) {
      int16_t x;
      memcpy(&x, from + k * stride, sizeof x);
      out[k].i = x;
    }
    break;
  default:
    if (stride == 4)
      memcpy(out, from, (size_t)count * 4);
    else
      for (int64_t k = 0; k < count; ++k) memcpy(&out[k], from + k * stride, 4);
  }
}

// From the view's element at `at`.
static void load_at(const view* v, value* out, int64_t at, int64_t stride, int64_t count) {
  if (v->type != PB_I4) {
    load_run(out, v->data + at, stride, count, v->type);
    return;
  }
  for (int64_t k = 0; k < count; ++k, at += stride)
    out[k].i = (int32_t)((uint32_t)(v->data[at / 2] >> (at % 2 ? 4 : 0) & 15) ^ 8) - 8;
}

static void store_run(uint8_t* to, const value* from, int64_t stride, int64_t count, pb_type type) {
  switch (type) {
  case PB_I1:
    for (int64_t k = 0; k < count; ++k) to[k * stride] = from[k].u & 1;
    break;
  case PB_I8:
    if (stride == 1)
      for (int64_t k = 0; k < count; ++k) to[k] = (uint8_t)from[k].u;
    else
      for (int64_t k = 0; k < count; ++k) to[k * stride] = (uint8_t)from[k].u;
    break;
  case PB_I16:
    for (int64_t k = 0; k < count; ++k) {
      uint16_t x = (uint16_t)from[k].u;
      memcpy(to + k * stride, &x, sizeof x);
    }
    break;
  default:
    if (stride == 4)
      memcpy(to, from, (size_t)count * 4);
    else
      for (int64_t k = 0; k < count; ++k) memcpy(to + k * stride, &from[k], 4);
  }
}

// To the view's element at `at`. Of codes of 4 bits the other half of the byte stays.
static void store_at(const view* v, const value* from, int64_t at, int64_t stride, int64_t count) {
  if (v->type != PB_I4) {
    store_run(v->data + at, from, stride, count, v->type);
    return;
  }
  for (int64_t k = 0; k < count; ++k, at += stride) {
    int shift = at % 2 ? 4 : 0;
    v->data[at / 2] = (uint8_t)((v->data[at / 2] & ~(15 << shift)) | (from[k].u & 15) << shift);
  }
}

// Where point number `first` lies along each dim.
static void place(const view* v, int64_t first, int64_t* at) {
  for (int p = v->rank - 1; p >= 0; --p) {
    at[p] = first % v->extent[p];
    first /= v->extent[p];
  }
}

// Steps to the next row: the innermost dim starts again, the others count on.
static void next_row(const view* v, int64_t* at) {
  at[v->rank - 1] = 0;
  for (int p = v->rank - 2; p >= 0; --p) {
    if (++at[p] < v->extent[p]) return;
    at[p] = 0;
  }
}

static int64_t row_address(const view* v, const int64_t* at) {
  int64_t address = v->address;
  for (int p = 0; p < v->rank - 1; ++p) address += at[p] * v->stride[p];
  return address;
}

static void load_boxed(const view* v, value* out, int64_t row, const int64_t* at, int64_t from, int64_t to) {
  bool inside = true;
  int last = v->rank - 1;
  for (int p = 0; p < last; ++p) inside &= at[p] >= v->lo[p] && at[p] < v->hi[p];
  int64_t lo = inside ? v->lo[last] : to, hi = inside ? v->hi[last] : to;
  lo = lo < from ? from : lo > to ? to : lo;
  hi = hi < lo ? lo : hi > to ? to : hi;
  for (int64_t k = from; k < lo; ++k) out[k - from] = v->fill;
  if (lo < hi) load_at(v, out + (lo - from), row + lo * v->stride[last], v->stride[last], hi - lo);
  for (int64_t k = hi; k < to; ++k) out[k - from] = v->fill;
}

static void gather(const view* v, int64_t first, int64_t count, value* out) {
  int64_t at[PB_MAX_INSN_DIMS];
  if (v->rank == 0) {
    load_at(v, out, v->address, 0, count);
    return;
  }
  int last = v->rank - 1;
  place(v, first, at);
  for (int64_t done = 0; done < count; next_row(v, at)) {
    int64_t from = at[last], run = v->extent[last] - from, row = row_address(v, at);
    if (run > count - done) run = count - done;
    if (v->boxed)
      load_boxed(v, out + done, row, at, from, from + run);
    else
      load_at(v, out + done, row + from * v->stride[last], v->stride[last], run);
    done += run;
  }
}

static void scatter(const view* v, int64_t first, int64_t count, const value* from_values) {
  int64_t at[PB_MAX_INSN_DIMS];
  if (v->rank == 0) {
    store_at(v, from_values, v->address, 0, 1);
    return;
  }
  int last = v->rank - 1;
  place(v, first, at);
  for (int64_t done = 0; done < count; next_row(v, at)) {
    int64_t from = at[last], run = v->extent[last] - from;
    if (run > count - done) run = count - done;
    store_at(v, from_values + done, row_address(v, at) + from * v->stride[last], v->stride[last], run);
    done += run;
  }
}

static inline float canonical(float x) { return x != x ? (value){.u = 0x7fc00000}.f : x; }

// Equal floats differ in no bit but a zero's sign: of the two, AND is the larger and OR the smaller.
static inline value larger(value a, value b) {
  if (b.f != b.f) return a.f != a.f ? (value){.u = 0x7fc00000} : a;
  if (a.f != a.f) return b;
  return a.f > b.f ? a : a.f < b.f ? b : (value){.u = a.u & b.u};
}
// The same with NaN first.
static inline value larger_or_nan(value a, value b) {
  return a.f != a.f || b.f != b.f ? (value){.u = 0x7fc00000} : larger(a, b);
}
static inline value smaller(value a, value b) {
  if (b.f != b.f) return a.f != a.f ? (value){.u = 0x7fc00000} : a;
  if (a.f != a.f) return b;
  return a.f < b.f ? a : a.f > b.f ? b : (value){.u = a.u | b.u};
}

static inline value smaller_or_nan(value a, value b) {
  return a.f != a.f || b.f != b.f ? (value){.u = 0x7fc00000} : smaller(a, b);
}

// Adding 2^23 leaves no fraction bits; beyond that there are none to round.
static inline float round_even(float x) {
  float big = copysignf(0x1p23f, x), r = (x + big) - big;
  return fabsf(x) < 0x1p23f ? copysignf(r, x) : canonical(x);
}

static inline int32_t to_code(float x) {
  float bounded = x >= -128.0f ? x : -128.0f;
  return (int32_t)(bounded > 127.0f ? 127.0f : bounded);
}

// The bits of a code without sign, as an i8.
static inline int32_t to_unsigned_code(float x) {
  float bounded = x >= 0.0f ? x : 0.0f;
  return (int8_t)(int32_t)(bounded > 255.0f ? 255.0f : bounded);
}

// Towards 0, and to the nearest end: 2^31 is the least float past the most.
static inline int32_t to_word(float x) {
  if (x >= 0x1p31f) return INT32_MAX;
  return x >= -0x1p31f ? (int32_t)x : INT32_MIN;
}

static void apply_int(pb_op op, value* out, const value* a, const value* b, int64_t count) {
  switch (op) {
  case PB_OP_ADD:
    EACH(out[k].u = a[k].u + b[k].u);
    break;
  case PB_OP_SUB:
    EACH(out[k].u = a[k].u - b[k].u);
    break;
  case PB_OP_MUL:
    EACH(out[k].u = a[k].u * b[k].u);
    break;
  case PB_OP_MAX:
    EACH(out[k].i = a[k].i > b[k].i ? a[k].i : b[k].i);
    break;
  case PB_OP_MIN:
    EACH(out[k].i = a[k].i < b[k].i ? a[k].i : b[k].i);
    break;
  case PB_OP_NEG:
    EACH(out[k].u = 0 - a[k].u);
    break;
  case PB_OP_ABS:
    EACH(out[k].u = a[k].i < 0 ? 0 - a[k].u : a[k].u);
    break;
  case PB_OP_AND:
    EACH(out[k].u = a[k].u & b[k].u);
    break;
  case PB_OP_OR:
    EACH(out[k].u = a[k].u | b[k].u);
    break;
  case PB_OP_XOR:
    EACH(out[k].u = a[k].u ^ b[k].u);
    break;
  case PB_OP_SHL:
    EACH(out[k].u = a[k].u << (b[k].u & 31));
    break;
  case PB_OP_SHR:
    EACH(out[k].i = a[k].i >> (b[k].u & 31));
    break;
  case PB_OP_SHRU:
    EACH(out[k].u = a[k].u >> (b[k].u & 31));
    break;
  case PB_OP_SEXT:
  case PB_OP_BITCAST:
    memcpy(out, a, (size_t)count * sizeof *out);
    break;
  case PB_OP_FPTOSI8:
    EACH(out[k].i = to_code(a[k].f));
    break;
  case PB_OP_FPTOUI:
    EACH(out[k].i = to_unsigned_code(a[k].f));
    break;
  case PB_OP_FPTOSI:
    EACH(out[k].i = to_word(a[k].f));
    break;
  default:
    assert(!"an integer operation"); // tdl/read/chip_read.c knows no other name in Semantics
  }
}

static const pb_function* find_function(const pb_chip* chip, const char* name) {
  for (int k = 0; k < chip->function_count; ++k)
    if (!strcmp(chip->functions[k].name, name)) return &chip->functions[k];
  return NULL;
}

static void apply_function(const pb_chip* chip, const char* name, value* out, const value* a, int64_t count) {
  const pb_function* f = find_function(chip, name);
  assert(f); // tdl/check/check.c refuses a chip that uses a function and has none
  EACH(out[k].f = pb_function_eval(name, f->table_bits, f->degree, a[k].f));
}

static void apply_float(const pb_chip* chip, pb_op op, value* out, const value* a, const value* b, int64_t count) {
  switch (op) {
  case PB_OP_ADD:
    EACH(out[k].f = canonical(a[k].f + b[k].f));
    break;
  case PB_OP_SUB:
    EACH(out[k].f = canonical(a[k].f - b[k].f));
    break;
  case PB_OP_MUL:
    EACH(out[k].f = canonical(a[k].f * b[k].f));
    break;
  case PB_OP_DIV:
    EACH(out[k].f = canonical(a[k].f / b[k].f));
    break;
  case PB_OP_MAX:
    EACH(out[k] = larger(a[k], b[k]));
    break;
  case PB_OP_MIN:
    EACH(out[k] = smaller(a[k], b[k]));
    break;
  case PB_OP_MAXIMUM:
    EACH(out[k] = larger_or_nan(a[k], b[k]));
    break;
  case PB_OP_MINIMUM:
    EACH(out[k] = smaller_or_nan(a[k], b[k]));
    break;
  case PB_OP_BITCAST:
    memcpy(out, a, (size_t)count * sizeof *out);
    break;
  case PB_OP_SITOFP:
    EACH(out[k].f = (float)a[k].i);
    break;
  case PB_OP_ROUNDEVEN:
    EACH(out[k].f = round_even(a[k].f));
    break;
  case PB_OP_FLOOR:
    EACH(out[k].f = canonical(floorf(a[k].f)));
    break;
  case PB_OP_CEIL:
    EACH(out[k].f = canonical(ceilf(a[k].f)));
    break;
  case PB_OP_WHOLE:
    EACH(out[k].f = canonical(truncf(a[k].f)));
    break;
  case PB_OP_NEG:
    EACH(out[k].u = a[k].u ^ 0x80000000u);
    break;
  case PB_OP_ABS:
    EACH(out[k].u = a[k].u & 0x7fffffffu);
    break;
  case PB_OP_SQRT:
    EACH(out[k].f = canonical(sqrtf(a[k].f)));
    break;
  case PB_OP_EXP2:
    apply_function(chip, "exp2", out, a, count);
    break;
  case PB_OP_RECIP:
    apply_function(chip, "recip", out, a, count);
    break;
  case PB_OP_RSQRT:
    apply_function(chip, "rsqrt", out, a, count);
    break;
  default:
    assert(!"a float operation"); // tdl/read/chip_read.c knows no other name in Semantics
  }
}

static value scalar_of(const machine_command* c, const pb_expr_node* n) {
  if (n->op == PB_OP_CONST)
    return n->type == PB_F32 ? (value){.f = (float)n->value} : (value){.u = (uint32_t)(int64_t)n->value};
  const pb_operand* o = &c->command.insn->operands[n->operand];
  uint32_t bits = (uint32_t)c->command.values[o->base], top = 1u << (pb_type_bits(n->type) - 1);
  if (n->type == PB_I8 || n->type == PB_I16) bits = ((bits & (2 * top - 1)) ^ top) - top; // whatever sign its field has
  return (value){.u = bits}; // an f32 immediate stands as its bits
}

static bool is_scalar(const pb_expr_node* n) { return n->op == PB_OP_CONST || n->op == PB_OP_IMM; }

typedef struct evaluation {
  const pb_chip* chip;
  const pb_insn* insn;
  const machine_command* command;
  machine_vectors* vectors;
  view views[PB_MAX_OPERANDS];
  bool uniform[PB_MAX_EXPR]; // depends on no window: evaluated once a command
  const walk* walk;
} evaluation;

// With i64 among what it takes or gives.
static bool is_wide(const pb_insn* insn, const pb_expr_node* node) {
  bool wide = node->type == PB_I64;
  for (int k = 0; k < 3; ++k) wide |= node->args[k] >= 0 && insn->expr[node->args[k]].type == PB_I64;
  return wide;
}

static void apply_wide(evaluation* e, int n, int64_t count) {
  const pb_expr_node* node = &e->insn->expr[n];
  machine_operand args[3] = {{0}};
  for (int k = 0; k < 3 && node->args[k] >= 0; ++k)
    args[k] = (machine_operand){.narrow = e->vectors->nodes[node->args[k]],
                                .wide = e->vectors->wide[node->args[k]],
                                .type = e->insn->expr[node->args[k]].type};
  machine__apply_wide(node, args, e->vectors->nodes[n], e->vectors->wide[n], count);
}

static void compare(pb_op op, bool floats, value* out, const value* a, const value* b, int64_t count) {
  switch (op) {
  case PB_OP_LESS:
    EACH(out[k].u = floats ? a[k].f < b[k].f : a[k].i < b[k].i);
    break;
  case PB_OP_LESS_EQUAL:
    EACH(out[k].u = floats ? a[k].f <= b[k].f : a[k].i <= b[k].i);
    break;
  case PB_OP_LESSU: // sign bits of narrower numbers stand above them in both, and change no order
    EACH(out[k].u = a[k].u < b[k].u);
    break;
  default:
    EACH(out[k].u = floats ? a[k].f == b[k].f : a[k].i == b[k].i);
  }
}

static void apply(evaluation* e, int n, int64_t count) {
  const pb_expr_node* node = &e->insn->expr[n];
  if (is_wide(e->insn, node)) {
    apply_wide(e, n, count);
    return;
  }
  value* out = e->vectors->nodes[n];
  const value *a = e->vectors->nodes[node->args[0]], *b = node->args[1] >= 0 ? e->vectors->nodes[node->args[1]] : a;
  if (node->op == PB_OP_ZEXT) {
    uint32_t bits = (uint32_t)pb_type_bits(e->insn->expr[node->args[0]].type),
             mask = bits < 32 ? (1u << bits) - 1 : ~0u;
    EACH(out[k].u = a[k].u & mask);
  } else if (node->op == PB_OP_TRUNC) {
    uint32_t top = 1u << (pb_type_bits(node->type) - 1);
    EACH(out[k].u = ((a[k].u & (2 * top - 1)) ^ top) - top);
  } else if (pb_op_compares(node->op)) {
    compare(node->op, e->insn->expr[node->args[0]].type == PB_F32, out, a, b, count);
  } else if (node->op == PB_OP_SELECT) {
    const value* c = e->vectors->nodes[node->args[2]];
    EACH(out[k] = a[k].u & 1 ? b[k] : c[k]);
  } else if (node->type == PB_F32)
    apply_float(e->chip, node->op, out, a, b, count);
  else
    apply_int(node->op, out, a, b, count);
}

static void start(evaluation* e, const machine_command* c, const walk* s) {
  for (int o = 0; o < e->insn->operand_count; ++o)
    if (e->insn->operands[o].memory >= 0)
      e->views[o] = make_view(&c->windows[o], s, o == e->insn->dest ? s->kept : s->rank);
  int64_t total = s->points * s->each, count = total < BLOCK ? total : BLOCK;
  for (int n = 0; n < e->insn->expr_count; ++n) {
    const pb_expr_node* node = &e->insn->expr[n];
    if (is_scalar(node)) {
      value x = scalar_of(c, node);
      EACH(e->vectors->nodes[n][k] = x);
      if (node->type == PB_I64) EACH(e->vectors->wide[n][k] = (int64_t)node->value);
    }
    e->uniform[n] = is_scalar(node) || (node->op != PB_OP_LOAD && node->op != PB_OP_INDEX &&
                                        e->uniform[node->args[0]] && (node->args[1] < 0 || e->uniform[node->args[1]]) &&
                                        (node->args[2] < 0 || e->uniform[node->args[2]]));
    if (e->uniform[n] && !is_scalar(node)) apply(e, n, count);
  }
}

// Elements of a table, by indices that count modulo its extent.
static void look_up(const evaluation* e, const pb_expr_node* node, value* out, const value* index, int64_t count) {
  const view* table = &e->views[node->operand];
  uint32_t entries = (uint32_t)e->insn->dims[e->insn->operands[node->operand].dims[0]].max;
  int64_t bytes = pb_type_bits(table->type) / 8;
  EACH(
      load_run(&out[k], table->data + table->address + (int64_t)(index[k].u % entries) * bytes, bytes, 1, table->type));
}

// Rows of a table by their numbers, for points from `first` on; the view walks what a row has.
static void look_rows_up(const evaluation* e, const pb_expr_node* node, int64_t first, value* out, const value* index,
                         int64_t count) {
  const view* table = &e->views[node->operand];
  const machine_window* w = &e->command->windows[node->operand];
  int64_t at[PB_MAX_INSN_DIMS], element = pb_type_bits(table->type) / 8;
  place(table, first, at);
  for (int64_t k = 0; k < count; ++k) {
    int last = table->rank - 1;
    int64_t address = row_address(table, at) + at[last] * table->stride[last] + machine__row(w, index[k].i);
    load_run(&out[k], table->data + address, element, 1, table->type);
    if (++at[last] == table->extent[last]) next_row(table, at);
  }
}

// How far points from `first` on are along a dim.
static void count_along(const walk* s, int dim, int64_t first, value* out, int64_t count) {
  int64_t inner = 1;
  int p = s->rank - 1;
  for (; p > 0 && s->dim[p] != dim; --p) inner *= s->extent[p];
  EACH(out[k].i = (int32_t)((first + k) / inner % s->extent[p]));
}

static const value* evaluate(evaluation* e, int64_t first, int64_t count) {
  for (int n = 0; n < e->insn->expr_count; ++n) {
    if (e->uniform[n]) continue;
    const pb_expr_node* node = &e->insn->expr[n];
    if (node->op == PB_OP_LOAD && node->args[0] >= 0 && e->insn->operands[node->operand].rows >= 0)
      look_rows_up(e, node, first, e->vectors->nodes[n], e->vectors->nodes[node->args[0]], count);
    else if (node->op == PB_OP_LOAD && node->args[0] >= 0)
      look_up(e, node, e->vectors->nodes[n], e->vectors->nodes[node->args[0]], count);
    else if (node->op == PB_OP_INDEX)
      count_along(e->walk, node->operand, first, e->vectors->nodes[n], count);
    else if (node->op == PB_OP_LOAD)
      gather(&e->views[node->operand], first, count, e->vectors->nodes[n]);
    else
      apply(e, n, count);
  }
  return e->vectors->nodes[e->insn->expr_count - 1];
}

static value combine(pb_reduce reduce, pb_type type, value a, value b) {
  if (type == PB_F32 && reduce == PB_ACC_MAXIMUM) return larger_or_nan(a, b);
  if (type == PB_F32) return reduce == PB_ACC_ADD ? (value){.f = canonical(a.f + b.f)} : larger(a, b);
  if (reduce == PB_ACC_ADD) return (value){.u = a.u + b.u};
  if (reduce == PB_ACC_MAXU) return a.u << (32 - pb_type_bits(type)) > b.u << (32 - pb_type_bits(type)) ? a : b;
  return a.i > b.i ? a : b;
}

static value neutral(pb_reduce reduce, pb_type type) {
  if (reduce == PB_ACC_ADD) return (value){.u = 0};
  if (type == PB_F32) return (value){.f = -INFINITY};
  return (value){.i = (int32_t)pb_reduce_least(reduce, pb_type_bits(type))};
}

// A balanced tree over neighbours; what is left over at a level passes to the next.
static value reduce_tree(pb_reduce reduce, pb_type type, value* x, int64_t count) {
  for (; count > 1; count = (count + 1) / 2) {
    for (int64_t k = 0; 2 * k + 1 < count; ++k) x[k] = combine(reduce, type, x[2 * k], x[2 * k + 1]);
    if (count % 2) x[count / 2] = x[count - 1];
  }
  return x[0];
}

static void finish(evaluation* e, const machine_command* c, int64_t first, int64_t count, const value* values) {
  const view* d = &e->views[e->insn->dest];
  machine_vectors* v = e->vectors;
  pb_reduce reduce = e->insn->reduce;
  if (reduce == PB_SET) {
    scatter(d, first, count, values);
    return;
  }
  if (c->accumulates)
    gather(d, first, count, v->old);
  else {
    value x = neutral(reduce, d->type);
    EACH(v->old[k] = x);
  }
  EACH(v->result[k] = combine(reduce, d->type, v->old[k], values[k]));
  scatter(d, first, count, v->result);
}

static void reduce_points(evaluation* e, const machine_command* c, const walk* s) {
  machine_vectors* v = e->vectors;
  // Sums that meet in one element are added one after the other.
  int64_t points = s->each < BLOCK && machine__apart(&c->windows[e->insn->dest]) ? BLOCK / s->each : 1;
  int64_t need = points * s->each;
  if (need > v->capacity) {
    v->terms = realloc(v->terms, (size_t)need * sizeof *v->terms);
    if (!v->terms) pb_no_memory((size_t)need * sizeof *v->terms);
    v->capacity = need;
  }
  for (int64_t first = 0; first < s->points; first += points) {
    if (points > s->points - first) points = s->points - first;
    int64_t terms = points * s->each;
    for (int64_t done = 0; done < terms; done += BLOCK) {
      int64_t count = terms - done < BLOCK ? terms - done : BLOCK;
      memcpy(v->terms + done, evaluate(e, first * s->each + done, count), (size_t)count * sizeof(value));
    }
    value* sums = v->nodes[e->insn->expr_count - 1]; // free again
    for (int64_t p = 0; p < points; ++p)
      sums[p] = reduce_tree(e->insn->reduce, e->views[e->insn->dest].type, v->terms + p * s->each, s->each);
    finish(e, c, first, points, sums);
  }
}

// Copies of neighbouring elements, which is what movers do, go run by run.
static bool copy_rows(const machine_command* c, const walk* s) {
  const pb_insn* insn = c->command.insn;
  if (insn->reduce != PB_SET || insn->expr_count != 1 || insn->expr[0].op != PB_OP_LOAD || s->kept != s->rank ||
      s->rank == 0)
    return false;
  view from = make_view(&c->windows[insn->expr[0].operand], s, s->rank),
       to = make_view(&c->windows[insn->dest], s, s->rank);
  int last = s->rank - 1;
  int64_t element = pb_type_bits(from.type) / 8, at[PB_MAX_INSN_DIMS] = {0};
  bool plain = from.lo[last] == 0 && from.hi[last] == from.extent[last];
  if (element == 0 || from.type != to.type || from.stride[last] != element || to.stride[last] != element || !plain)
    return false;
  if (from.boxed && element != 1) return false;
  for (int64_t done = 0; done < s->points; done += s->extent[last], next_row(&from, at)) {
    bool inside = true;
    for (int p = 0; p < last; ++p) inside &= at[p] >= from.lo[p] && at[p] < from.hi[p];
    uint8_t* out = to.data + row_address(&to, at);
    size_t bytes = (size_t)(s->extent[last] * element);
    if (inside)
      memmove(out, from.data + row_address(&from, at), bytes);
    else
      memset(out, from.fill.i & 0xff, bytes);
  }
  return true;
}

void machine__execute(pb_device* device, const machine_command* c) {
  if (machine__contract(c)) return;
  if (pb_insn_moves_small_codes(c->command.insn)) {
    machine__copy_halves(c);
    return;
  }
  walk s = make_walk(c);
  if (copy_rows(c, &s)) return;
  evaluation e = {.chip = device->chip, .insn = c->command.insn, .command = c, .vectors = device->vectors, .walk = &s};
  start(&e, c, &s);
  if (s.each > 1) {
    reduce_points(&e, c, &s);
    return;
  }
  // Elements that coincide are combined one after the other.
  int64_t most = e.insn->reduce == PB_SET || machine__apart(&c->windows[e.insn->dest]) ? BLOCK : 1;
  for (int64_t first = 0; first < s.points; first += most) {
    int64_t count = s.points - first < most ? s.points - first : most;
    finish(&e, c, first, count, evaluate(&e, first, count));
  }
}
