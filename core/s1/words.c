#include "core/s1/words.h"

#include "core/s1/control.h"
#include "core/s1/elements.h"

#include <stdlib.h>
#include <string.h>

// What a number of i64 can be, as the word nearest to it: at the ends of words it may be any number beyond.
typedef struct range {
  bool known;
  int64_t least, most;
} range;

typedef struct narrower {
  pb_s1* program;
  pb_consts* consts;
  range* of;      // by value, of those that own their elements
  range* decided; // the same of those that constants alone decide, whatever makes them
  int* words;     // by constant: the one of words, -1
  pb_nest** nest; // by operator: its nest on words; NULL: it has none
  pb_arena made;  // where those of one try lie
  int64_t* most;  // by value, of inputs: the magnitude up to which it is taken; 0: any
} narrower;

static const range nothing = {false, 0, 0}, any_word = {true, INT32_MIN, INT32_MAX};

static range between(int64_t least, int64_t most) { return (range){true, least, most}; }

// Whether it is the number itself and not what is nearest to it.
static bool is_exact(range r) { return r.known && r.least > INT32_MIN && r.most < INT32_MAX; }

static range joined(range a, range b) {
  if (!a.known || !b.known) return nothing;
  return between(a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most);
}

// Exact numbers below 2^31 in magnitude: their products fit 64 bits.
static range of_ends(int64_t a, int64_t b, int64_t c, int64_t d) {
  const int64_t ends[4] = {a, b, c, d};
  range r = between(a, a);
  for (int k = 1; k < 4; ++k) r = joined(r, between(ends[k], ends[k]));
  return is_exact(r) ? r : nothing;
}

static range combined(pb_op op, range a, range b) {
  if (!a.known || !b.known) return nothing;
  if (op == PB_OP_MAX) return between(a.least > b.least ? a.least : b.least, a.most > b.most ? a.most : b.most);
  if (op == PB_OP_MIN) return between(a.least < b.least ? a.least : b.least, a.most < b.most ? a.most : b.most);
  if (!is_exact(a) || !is_exact(b)) return nothing;
  if (op == PB_OP_ADD) return of_ends(a.least + b.least, a.most + b.most, a.least + b.least, a.most + b.most);
  if (op == PB_OP_SUB) return of_ends(a.least - b.most, a.most - b.least, a.least - b.most, a.most - b.least);
  if (op == PB_OP_MUL) return of_ends(a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most);
  return nothing;
}

// Numbers of which both may be beyond words at the same end cannot be told apart.
static bool compare_alike(range a, range b) { return a.known && b.known && (is_exact(a) || is_exact(b)); }

static bool is_wide(const narrower* r, int value) { return value >= 0 && r->program->values[value].type == PB_I64; }

// What all numbers of a type are; of those of i64 nothing is known by it.
static range of_type(pb_type type) {
  return type == PB_I1    ? between(0, 1)
         : type == PB_I8  ? between(INT8_MIN, INT8_MAX)
         : type == PB_I32 ? any_word
                          : nothing;
}

static range range_of(const narrower* r, int value) {
  if (value < 0) return nothing;
  int base = pb_s1_base(r->program, value);
  return r->of[base].known ? r->of[base] : of_type(r->program->values[base].type);
}

static range of_elements(const char* data, uint64_t count) {
  range all = nothing;
  for (uint64_t k = 0; k < count; ++k) {
    int64_t number;
    memcpy(&number, data + 8 * k, 8);
    all = k ? joined(all, between(number, number)) : between(number, number);
  }
  return all.known && all.least >= INT32_MIN && all.most <= INT32_MAX ? all : nothing;
}

static range of_constant(const narrower* r, int id) {
  return of_elements(pb_const_data(r->consts, id), r->consts->items[id]->bytes / 8);
}

// What a value of i64 is made of by several operators, parts of it, is all of what they make.
static bool note(narrower* r, int value, range made, bool first) {
  int base = pb_s1_base(r->program, value);
  r->of[base] = first ? made : joined(r->of[base], made);
  return r->of[base].known;
}

// ---- operators of their own kind ----

static bool take_each(narrower* r, const pb_s1_op* op, range* made) {
  range x = range_of(r, op->x), z = range_of(r, op->z), third = range_of(r, op->third);
  switch (op->each) {
  case PB_S1_EQUAL:
  case PB_S1_LESS:
  case PB_S1_LESS_EQUAL:
    return compare_alike(x, z);
  case PB_S1_CAST:
    *made = x;
    if (op->unsigned_x || op->unsigned_y) return false;
    if (is_wide(r, op->y)) return x.known;
    return r->program->values[op->y].type == PB_I1 ? x.known : is_exact(x);
  case PB_S1_WHERE:
    *made = joined(z, third);
    return made->known;
  case PB_S1_EXPAND:
    *made = x;
    return x.known;
  case PB_S1_INTEGER:
    if (op->z < 0) z = x;
    *made = op->z >= 0 ? combined(op->binary, x, z) : combined(PB_OP_SUB, between(0, 0), x);
    if (op->z < 0 && op->binary != PB_OP_NEG) *made = combined(PB_OP_MAX, x, *made);
    return made->known;
  default:
    return false;
  }
}

static bool touches(const narrower* r, const pb_s1_op* op) {
  bool wide = is_wide(r, op->x) || is_wide(r, op->z) || is_wide(r, op->third) || is_wide(r, op->y);
  for (int a = 0; op->nest && a < op->nest->access_count; ++a) wide |= is_wide(r, op->nest->access[a].buffer);
  return wide;
}

// ---- nests ----

typedef struct body {
  const pb_nest* from;
  range of[PB_NEST_EXPR];
  int to[PB_NEST_EXPR]; // where the node is in the nest that is made
} body;

static bool of_wide(const body* b, int node) { return node >= 0 && b->from->expr[node].type == PB_I64; }

static range range_of_node(const narrower* r, const body* b, int n) {
  const pb_expr_node* e = &b->from->expr[n];
  switch (e->op) {
  case PB_OP_LOAD:
    return range_of(r, b->from->access[e->operand].buffer);
  case PB_OP_CONST:
    return between(e->integer, e->integer);
  case PB_OP_INDEX:
    return between(0, b->from->extent[e->operand] - 1);
  case PB_OP_SEXT:
  case PB_OP_TRUNC:
    return b->of[e->args[0]];
  case PB_OP_ZEXT: // of truths and of bytes
    return pb_type_bits(b->from->expr[e->args[0]].type) > 8   ? nothing
           : pb_type_bits(b->from->expr[e->args[0]].type) > 1 ? between(0, UINT8_MAX)
                                                              : between(0, 1);
  case PB_OP_SELECT:
    return joined(b->of[e->args[1]], b->of[e->args[2]]);
  case PB_OP_ADD:
  case PB_OP_SUB:
  case PB_OP_MUL:
  case PB_OP_MAX:
  case PB_OP_MIN:
    return combined(e->op, b->of[e->args[0]], b->of[e->args[1]]);
  default:
    return nothing;
  }
}

// Whether a node that takes numbers of i64, and is none, comes out the same of words.
static bool reads_words(const body* b, const pb_expr_node* e) {
  range x = b->of[e->args[0]];
  switch (e->op) {
  case PB_OP_EQUAL:
  case PB_OP_LESS:
  case PB_OP_LESS_EQUAL:
    return compare_alike(x, b->of[e->args[1]]);
  case PB_OP_TRUNC:
  case PB_OP_SITOFP:
    return is_exact(x);
  case PB_OP_SEXT: // an index, which is kept inside
    return x.known && e->type == PB_INDEX;
  default:
    return false;
  }
}

// A conversion between words and what was wider is none.
static bool is_same(const body* b, const pb_expr_node* e) {
  int x = e->args[0];
  if (x < 0) return false;
  pb_type from = b->from->expr[x].type;
  return (e->op == PB_OP_SEXT && e->type == PB_I64 && from == PB_I32) ||
         (e->op == PB_OP_TRUNC && e->type == PB_I32 && from == PB_I64);
}

// What a nest stores that constants alone decide.
static range range_of_last(const narrower* r, const body* b, int n) {
  int y = pb_s1_base(r->program, b->from->access[b->from->access_count - 1].buffer);
  return n == b->from->expr_count - 1 && b->from->reduce == PB_SET ? r->decided[y] : nothing;
}

static bool take_node(narrower* r, body* b, int n, pb_nest* made) {
  const pb_expr_node* e = &b->from->expr[n];
  bool reads = false;
  for (int k = 0; k < 3; ++k) reads |= (e->op != PB_OP_LOAD || k) && of_wide(b, e->args[k]);
  b->of[n] = pb_type_is_float(e->type) ? nothing : range_of_node(r, b, n);
  if (!b->of[n].known) b->of[n] = of_type(e->type);
  if (e->type == PB_I64 && !b->of[n].known) b->of[n] = range_of_last(r, b, n);
  if (e->type == PB_I64 && !b->of[n].known) return false;
  if (e->type != PB_I64 && reads && !reads_words(b, e) && e->op != PB_OP_SELECT) return false;
  if (is_same(b, e)) {
    b->to[n] = b->to[e->args[0]];
    return true;
  }
  if (made->expr_count + 2 > PB_NEST_EXPR) return false;
  if (e->op == PB_OP_INDEX) { // a loop's number is an i64 wherever it is taken
    b->to[n] = pb_nest_node(made, PB_OP_TRUNC, PB_I32, pb_nest_node_from(made, *e, b->to), -1);
    return true;
  }
  pb_expr_node* to = &made->expr[made->expr_count];
  *to = *e;
  for (int k = 0; k < 3; ++k)
    if (e->args[k] >= 0) to->args[k] = b->to[e->args[k]];
  if (e->type == PB_I64) to->type = PB_I32;
  if (e->op == PB_OP_CONST && e->type == PB_I64 && !(e->integer >= INT32_MIN && e->integer <= INT32_MAX)) return false;
  b->to[n] = made->expr_count++;
  return true;
}

// What sums and maxima over so many turns leave.
static range reduced(const pb_nest* nest, range before, range term) {
  if (nest->reduce == PB_SET) return term;
  if (nest->reduce == PB_ACC_MAX) return joined(before, term);
  if (nest->reduce != PB_ACC_ADD) return nothing;
  int64_t turns = 1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (pb_nest_reduces_over(nest, d))
      turns *= nest->extent[d] < INT32_MAX / turns ? nest->extent[d] : INT32_MAX / turns;
  range sum = combined(PB_OP_MUL, joined(term, between(0, 0)), between(0, turns));
  return combined(PB_OP_ADD, before, sum);
}

static bool take_nest(narrower* r, size_t k, range* made_of) {
  const pb_nest* from = r->program->ops[k].nest;
  for (int a = 0; a < from->access_count; ++a) {
    bool wide = is_wide(r, from->access[a].buffer);
    if (from->access[a].boxed && wide) return false;
    if (from->access[a].type == PB_I64 && !wide) return false; // u64, which nests have as i64
  }
  pb_nest* made = pb_nest_kept(&r->made, from);
  made->expr_count = 0;
  body* b = malloc(sizeof *b);
  if (!b) pb_no_memory(sizeof *b);
  b->from = from;
  bool is = true;
  for (int n = 0; n < from->expr_count && is; ++n) is = take_node(r, b, n, made);
  int last = from->expr_count - 1, store = pb_nest_store(made)->buffer;
  if (is && (is_wide(r, store) || r->program->values[store].type == PB_I32)) {
    int y = pb_s1_base(r->program, store);
    *made_of = reduced(from, r->of[y], b->of[last]);
    is = made_of->known || !is_wide(r, store);
  }
  if (is && pb_nest_store(made)->gathered) made->stored_at = b->to[from->stored_at];
  if (is && b->to[last] != made->expr_count - 1) {
    is = !pb_nest_store(made)->gathered;
    if (is) pb_nest_end(made, b->to[last]);
  }
  for (int a = 0; a < made->access_count; ++a)
    if (is_wide(r, made->access[a].buffer)) made->access[a].type = PB_I32;
  free(b);
  if (touches(r, &r->program->ops[k])) r->nest[k] = made;
  return is;
}

// ---- the program ----

// Of an operator that makes words: *words, what is known of them.
static bool take_op(narrower* r, size_t k, const bool* made_before, range* words) {
  const pb_s1_op* op = &r->program->ops[k];
  range made = nothing;
  switch (op->kind) {
  case PB_S1_EACH:
    if (!take_each(r, op, &made)) return false;
    break;
  case PB_S1_NEST:
    if (!take_nest(r, k, &made)) return false;
    break;
  case PB_S1_SLICE:
  case PB_S1_COPY:
  case PB_S1_CONCAT:
  case PB_S1_FTRANSPOSE:
  case PB_S1_GATHER: // its numbers are kept inside of rows, of which there are fewer than 2^31
    made = range_of(r, op->x);
    if (is_wide(r, op->z) && !range_of(r, op->z).known) return false;
    break;
  default:
    return false;
  }
  if (made.known) *words = made;
  if (!is_wide(r, op->y)) return true;
  bool adds = op->kind == PB_S1_NEST && op->nest->reduce != PB_SET; // onto what is there, which is counted
  return note(r, op->y, made, adds || !made_before[pb_s1_base(r->program, op->y)]);
}

static bool find_ranges(narrower* r) {
  const pb_s1* p = r->program;
  bool* made = calloc(p->value_count + 1, sizeof *made);
  if (!made) pb_no_memory(p->value_count);
  bool is = true;
  for (size_t v = 0; v < p->value_count && is; ++v) {
    const pb_s1_value* value = &p->values[v];
    if (value->type != PB_I64 || value->alias_of >= 0) continue;
    is = !value->is_output && !value->is_variable && !value->is_extents && !value->made_of;
    if (value->is_input) r->of[v] = r->most[v] ? between(-r->most[v], r->most[v]) : any_word;
    if (value->const_id >= 0) {
      r->of[v] = of_constant(r, value->const_id);
      is &= r->of[v].known;
    }
  }
  for (size_t k = 0; k < p->op_count && is; ++k) {
    bool words = p->ops[k].y >= 0 && p->values[p->ops[k].y].type == PB_I32, reads = touches(r, &p->ops[k]);
    if (!reads && !words) continue;
    range all = any_word;
    is = take_op(r, k, made, &all);
    if (words) note(r, p->ops[k].y, is ? all : any_word, !made[pb_s1_base(p, p->ops[k].y)]);
    is |= !reads;
    if (p->ops[k].y >= 0) made[pb_s1_base(p, p->ops[k].y)] = true;
  }
  free(made);
  return is;
}

static int words_of(narrower* r, int id) {
  if (r->words[id] >= 0) return r->words[id];
  const pb_const* wide = r->consts->items[id];
  const char* from = pb_const_data(r->consts, id);
  int32_t* to = pb_alloc_array(&r->consts->arena, (size_t)(wide->bytes / 8) + 1, sizeof *to);
  for (uint64_t k = 0; k < wide->bytes / 8; ++k) {
    int64_t number;
    memcpy(&number, from + 8 * k, 8);
    to[k] = (int32_t)number;
  }
  return r->words[id] = pb_consts_add(r->consts, wide->name, PB_I32, wide->rank, wide->shape, to);
}

static void carry_out(narrower* r) {
  pb_s1* p = r->program;
  for (size_t v = 0; v < p->value_count; ++v) {
    pb_s1_value* value = &p->values[v];
    if (value->type != PB_I64) continue;
    value->type = PB_I32;
    value->is_wide = value->is_input;
    value->most = r->most[v];
    if (value->const_id >= 0) value->const_id = words_of(r, value->const_id);
  }
  for (size_t k = 0; k < p->op_count; ++k)
    if (r->nest[k]) p->ops[k].nest = pb_nest_kept(&p->arena, r->nest[k]);
}

static bool try_ranges(narrower* r) {
  pb_arena_free(&r->made);
  memset(r->of, 0, sizeof *r->of * r->program->value_count);
  memset(r->nest, 0, sizeof *r->nest * r->program->op_count);
  return find_ranges(r);
}

// Sums and conversions want numbers, not what is nearest to them: one input is taken up to a magnitude, the largest of
// these with which the rest follows, as masks and places are far below it; or all are.
static bool try_limits(narrower* r) {
  static const int64_t magnitudes[] = {INT32_MAX - 1, 1 << 24, 1 << 16, 1 << 12, 1 << 8};
  const pb_s1* p = r->program;
  if (try_ranges(r)) return true;
  for (size_t m = 0; m < sizeof magnitudes / sizeof *magnitudes; ++m)
    for (size_t one = 0; one <= p->value_count; ++one) {
      if (one < p->value_count && !(p->values[one].is_input && p->values[one].type == PB_I64)) continue;
      for (size_t v = 0; v < p->value_count; ++v)
        r->most[v] = p->values[v].is_input && (one == v || one == p->value_count) ? magnitudes[m] : 0;
      if (try_ranges(r)) return true;
    }
  return false;
}

static void find_decided(narrower* r, pb_arena* arena) {
  const pb_s1* p = r->program;
  pb_s1_elements e = pb_s1_elements_new(p, r->consts);
  r->decided = PB_NEW_ARRAY(arena, range, p->value_count + 1);
  for (size_t v = 0; v < p->value_count; ++v) {
    const void* data = p->values[v].type == PB_I64 ? pb_s1_elements_of(&e, (int)v) : NULL;
    uint64_t count = 1;
    for (int d = 0; d < p->values[v].rank; ++d) count *= (uint64_t)p->values[v].shape[d];
    if (data) r->decided[v] = of_elements(data, count);
  }
  pb_s1_elements_free(&e);
}

bool pb_s1_words(pb_s1* program, pb_consts* consts) {
  pb_arena scratch = {0};
  narrower r = {.program = program, .consts = consts};
  r.of = PB_NEW_ARRAY(&scratch, range, program->value_count + 1);
  find_decided(&r, &scratch);
  r.words = PB_NEW_ARRAY(&scratch, int, consts->count + 1);
  r.nest = PB_NEW_ARRAY(&scratch, pb_nest*, program->op_count + 1);
  r.most = PB_NEW_ARRAY(&scratch, int64_t, program->value_count + 1);
  memset(r.words, 0xff, sizeof *r.words * consts->count);
  bool wide = false, is;
  for (size_t v = 0; v < program->value_count; ++v) wide |= program->values[v].type == PB_I64;
  is = wide && try_limits(&r);
  if (is) carry_out(&r);
  pb_arena_free(&r.made);
  pb_arena_free(&scratch);
  return is;
}
