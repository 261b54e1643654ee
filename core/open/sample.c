// Programs as numbers, and how they are made without them; numbers of all samples as sizes.
#include "core/base/sha256.h"
#include "core/open/open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CONTENTS = 64 }; // elements of a constant that may be sizes

static void number(pb_open_sample* s, int64_t v) { PB_PUSH(s->numbers, s->count, s->capacity, v); }

// Integers of few elements may depend on extents; they are numbers of the sample, all other contents its structure.
static bool has_sizes(const pb_const* c) {
  bool integers = c->type == PB_I1 || c->type == PB_I8 || c->type == PB_I32 || c->type == PB_I64;
  return integers && c->data && !c->mapped &&
         c->bytes / (uint64_t)(pb_type_bits(pb_type_stored(c->type)) / 8) <= MOST_CONTENTS;
}

static int64_t element(const pb_const* c, int64_t k) {
  int bytes = pb_type_bits(pb_type_stored(c->type)) / 8;
  const char* at = (const char*)c->data + k * bytes;
  int32_t narrow;
  int64_t wide;
  if (bytes == 1) return *(const signed char*)at;
  if (bytes == 4) {
    memcpy(&narrow, at, 4);
    return narrow;
  }
  memcpy(&wide, at, 8);
  return wide;
}

static void take_constant(const pb_consts* consts, int id, pb_open_sample* s) {
  const pb_const* c = consts->items[id];
  pb_text_add(&s->structure, "const %s %d %llu ", c->name ? c->name : "", c->type, (unsigned long long)c->bytes);
  if (has_sizes(c)) {
    int64_t count = (int64_t)c->bytes / (pb_type_bits(pb_type_stored(c->type)) / 8);
    for (int64_t k = 0; k < count; ++k) number(s, element(c, k));
  } else if (!c->mapped && c->data) { // a file's data are the same in every sample
    uint8_t hash[32];
    pb_sha256 sha;
    pb_sha256_init(&sha);
    pb_sha256_add(&sha, c->data, c->bytes);
    pb_sha256_done(&sha, hash);
    for (int k = 0; k < 32; ++k) pb_text_add(&s->structure, "%02x", hash[k]);
  }
}

static void take_value(const pb_value* v, const pb_consts* consts, pb_open_sample* s) {
  pb_text_add(&s->structure, "value %d %d %d %s ", v->kind, v->type, v->rank, v->name ? v->name : "");
  for (int r = 0; r < v->rank; ++r) number(s, v->shape[r]);
  if (v->kind == PB_VALUE_CONST) take_constant(consts, v->const_id, s);
}

// A constant of a body as an integer: itself, or of a float the number whose reciprocal it is (a mean's), or itself.
pb_open_number pb_open_integer(const pb_expr_node* e, int64_t* number) {
  const double far = 1 << 24;
  if (e->op != PB_OP_CONST) return PB_OPEN_NONE;
  *number = e->integer;
  if (!pb_type_is_float(e->type)) return PB_OPEN_INTEGER;
  if (e->type != PB_F32 && e->type != PB_F64) return PB_OPEN_NONE;
  double v = e->value, n = rint(1 / v);
  *number = (int64_t)v;
  if (v == rint(v) && fabs(v) < far) return PB_OPEN_INTEGER;
  if (!(n > 1 && n < far) || v != (e->type == PB_F32 ? (double)(1 / (float)n) : 1 / n)) return PB_OPEN_NONE;
  *number = (int64_t)n;
  return PB_OPEN_RECIPROCAL;
}

static void take_body(const pb_nest* n, pb_open_sample* s) {
  for (int e = 0; e < n->expr_count; ++e) {
    const pb_expr_node* x = &n->expr[e];
    pb_text_add(&s->structure, "%d %d %d %d %d %d ", x->op, x->type, x->args[0], x->args[1], x->args[2], x->operand);
    int64_t integer;
    pb_open_number kind = pb_open_integer(x, &integer);
    pb_text_add(&s->structure, "%d ", kind);
    if (kind)
      number(s, integer);
    else if (x->op == PB_OP_CONST)
      pb_text_add_bytes(&s->structure, (const char*)&x->value, sizeof x->value);
  }
}

static void take_nest(const pb_program* p, int nest, pb_open_sample* s) {
  const pb_nest* n = &p->nests[nest];
  pb_text_add(&s->structure, "nest %s %s %d %d %d %d ", n->name, n->part, n->dim_count, n->access_count, n->reduce,
              n->stored_at);
  for (int d = 0; d < n->dim_count; ++d) number(s, n->extent[d]);
  for (int a = 0; a < n->access_count; ++a) {
    const pb_access* x = &n->access[a];
    pb_text_add(&s->structure, "%d %d %d %d %g ", p->value_of[nest][a], x->rank, x->boxed, x->gathered,
                x->boxed ? x->fill : 0);
    for (int r = 0; r < x->rank; ++r) {
      for (int d = 0; d < n->dim_count; ++d) {
        pb_text_add(&s->structure, "%d", x->index[r].coef[d] != 0);
        number(s, x->index[r].coef[d]);
      }
      number(s, x->index[r].cst);
    }
  }
  take_body(n, s);
  PB_PUSH(s->ends, s->end_count, s->end_capacity, s->structure.length);
}

void pb_open_take(const pb_open_whole* whole, const pb_consts* consts, const pb_symbols* symbols, pb_open_sample* s) {
  const pb_program* p = &whole->program;
  *s = (pb_open_sample){.choice_count = symbols->choice_count};
  s->choices = calloc(s->choice_count + 1, sizeof *s->choices);
  if (!s->choices) pb_no_memory(s->choice_count * sizeof *s->choices);
  if (s->choice_count) memcpy(s->choices, symbols->choices, s->choice_count * sizeof *s->choices);
  for (int v = 0; v < p->value_count; ++v) take_value(&p->values[v], consts, s);
  for (int n = 0; n < p->nest_count; ++n) take_nest(p, n, s);
  for (size_t k = 0; k < whole->mark_count; ++k) {
    const pb_open_mark* m = &whole->marks[k];
    pb_text_add(&s->structure, "mark %d %d %d %d %d %d ", m->kind, m->at, m->y, m->x, m->third, m->axis);
  }
  for (size_t g = 0; g < consts->guard_count; ++g) {
    const pb_guard* guard = &consts->guards[g];
    pb_text_add(&s->structure, "guard %d %d ", guard->equal, guard->rank);
    number(s, guard->a);
    number(s, guard->b);
    for (int r = 0; r < guard->rank; ++r) number(s, guard->shape[r]);
  }
}

void pb_open_sample_free(pb_open_sample* s) {
  pb_text_free(&s->structure);
  free(s->numbers);
  free(s->ends);
  free(s->choices);
  *s = (pb_open_sample){0};
}

// ---- joined ----

bool pb_open_alike(const pb_open_sample* a, const pb_open_sample* b) {
  return a->count == b->count && a->structure.length == b->structure.length &&
         !memcmp(a->structure.data, b->structure.data, a->structure.length);
}

static pb_status differs(const pb_program* p, const pb_open_sample* a, const pb_open_sample* b, pb_diag* diag) {
  size_t n = 0, at = 0;
  while (at < a->structure.length && at < b->structure.length && a->structure.data[at] == b->structure.data[at]) ++at;
  while (n + 1 < a->end_count && a->ends[n] <= at) ++n;
  const char* name = a->end_count && at >= (n ? a->ends[n - 1] : 0) ? p->nests[n].name : "model";
  return pb_unsupported(diag, (pb_place){.what = name}, 4110,
                        "list values for its dims, --dim NAME=1,8 or --input-shape: each is compiled for itself",
                        "is made of other loops, or other constants, at other extents");
}

// Where each value's and nest's numbers begin: as pb_open_take has them.
static void index_numbers(pb_open_program* o) {
  const pb_program* p = o->program;
  int at = 0;
  for (int v = 0; v < p->value_count; ++v) {
    o->value_at[v] = at;
    at += p->values[v].rank;
    o->const_at[v] = -1;
    if (p->values[v].kind != PB_VALUE_CONST || !has_sizes(o->consts->items[p->values[v].const_id])) continue;
    const pb_const* c = o->consts->items[p->values[v].const_id];
    o->const_at[v] = at;
    at += (int)(c->bytes / (uint64_t)(pb_type_bits(pb_type_stored(c->type)) / 8));
  }
  for (int n = 0; n < p->nest_count; ++n) {
    const pb_nest* nest = &p->nests[n];
    o->nest_at[n] = at;
    at += nest->dim_count;
    for (int a = 0; a < nest->access_count; ++a) at += nest->access[a].rank * (nest->dim_count + 1);
    for (int e = 0; e < nest->expr_count; ++e) {
      int64_t integer;
      at += pb_open_integer(&nest->expr[e], &integer) != PB_OPEN_NONE;
    }
  }
  o->guard_at = at;
}

static const char* owner(const pb_open_program* o, size_t k) {
  const pb_program* p = o->program;
  for (int n = p->nest_count - 1; n >= 0; --n)
    if ((int)k >= o->nest_at[n]) return (int)k >= o->guard_at ? "model" : p->nests[n].name;
  return "model";
}

// What question k was about in each sample. false: it is not the same one in all.
static bool numbers_of(const pb_open_sample* samples, size_t k, bool* compares, int64_t* a, int64_t* b, int64_t* is) {
  bool same = true;
  for (int s = 0; s < PB_OPEN_SAMPLES && same; ++s) {
    same = k < samples[s].choice_count && samples[s].choices[k].compares == samples[0].choices[k].compares;
    if (same) a[s] = samples[s].choices[k].a, b[s] = samples[s].choices[k].b, is[s] = samples[s].choices[k].is;
  }
  *compares = same && samples[0].choices[k].compares;
  return same;
}

// What stands for the smaller of two numbers, where the program is for either, is a size like the symbols.
static pb_status add_choices(pb_open_program* o, const pb_open_sample* samples, pb_fit* fit, pb_diag* diag) {
  for (size_t k = 0; k < o->symbols->either_count; ++k) {
    if (!o->symbols->either[k]) continue;
    int64_t a[PB_OPEN_SAMPLES], b[PB_OPEN_SAMPLES], is[PB_OPEN_SAMPLES];
    bool compares, same = numbers_of(samples, k, &compares, a, b, is);
    int x = same ? pb_fit_find(fit, a) : -1, y = same ? pb_fit_find(fit, b) : -1;
    if (x < 0 || y < 0)
      return pb_unsupported(diag, (pb_place){.what = "model"}, 4111,
                            "list values for its dims, --dim NAME=1,8 or --input-shape",
                            "which of two numbers is the smaller hangs on extents");
    int size = compares ? -1 : pb_size_make(&o->sizes, PB_SIZE_MIN, x, y);
    if (!compares && !pb_fit_add(fit, size, is))
      return pb_unsupported(diag, (pb_place){.what = "model"}, 4111,
                            "list values for its dims, --dim NAME=1,8 or --input-shape",
                            "of too many numbers it hangs on extents which ones are the smaller");
  }
  return PB_OK;
}

// A size for each number. What is made of others, as the extent of what many tensors are joined to is of the places
// where they begin, may stand in front of them: then it is found once they are. The first that is none; `count`: all
// are some.
static size_t find_sizes(pb_open_program* o, const pb_open_sample* samples, size_t count) {
  size_t missing = count;
  for (size_t k = 0; k < count; ++k) o->at[k] = -1;
  for (size_t found = 1; found;) {
    found = 0;
    missing = count;
    for (size_t k = count; k-- > 0;) missing = o->at[k] < 0 ? k : missing;
    for (size_t k = missing; k < count; ++k) {
      if (o->at[k] >= 0) continue;
      int64_t numbers[PB_OPEN_SAMPLES];
      for (int s = 0; s < PB_OPEN_SAMPLES; ++s) numbers[s] = samples[s].numbers[k];
      o->at[k] = pb_fit_find(o->fit, numbers);
      found += o->at[k] >= 0;
    }
  }
  return missing;
}

void pb_open_start(const pb_open_whole* whole, const pb_consts* consts, const pb_symbols* symbols, pb_open_program* o) {
  *o = (pb_open_program){.whole = whole, .program = &whole->program, .consts = consts, .symbols = symbols};
  o->fit = pb_fit_start(&o->sizes, symbols, &o->sizes.arena);
}

pb_status pb_open_join(pb_open_program* o, const pb_open_sample* samples, pb_diag* diag) {
  const pb_program* program = o->program;
  const pb_open_sample* first = &samples[0];
  for (int k = 1; k < PB_OPEN_SAMPLES; ++k)
    if (!pb_open_alike(first, &samples[k])) return differs(program, first, &samples[k], diag);
  pb_arena* arena = &o->sizes.arena;
  o->at = PB_NEW_ARRAY(arena, int, first->count + 1);
  o->value_at = PB_NEW_ARRAY(arena, int, (size_t)program->value_count + 1);
  o->const_at = PB_NEW_ARRAY(arena, int, (size_t)program->value_count + 1);
  o->nest_at = PB_NEW_ARRAY(arena, int, (size_t)program->nest_count + 1);
  index_numbers(o);
  PB_TRY(add_choices(o, samples, o->fit, diag));
  size_t missing = find_sizes(o, samples, first->count);
  if (missing == first->count) return PB_OK;
  const int64_t numbers[] = {samples[0].numbers[missing], samples[1].numbers[missing], samples[2].numbers[missing]};
  return pb_unsupported(diag, (pb_place){.what = owner(o, missing)}, 4111,
                        "list values for its dims, --dim NAME=1,8 or --input-shape",
                        "an extent is no sum of products of the open dims: %lld, %lld, %lld, ...",
                        (long long)numbers[0], (long long)numbers[1], (long long)numbers[2]);
}

// Extents that no sample has: least and most ones, each symbol's against the others'. An input has elements; of what
// data say there may be none.
static int turns_of(const pb_open_program* o) { return 2 * o->symbols->count + 2; }

static void extents_of_turn(const pb_open_program* o, int turn, int64_t* at) {
  enum { MOST = 4096 };
  int count = o->symbols->count, large = turn - 1; // turn 0: all are least
  for (int s = 0; s < count; ++s) {
    int64_t least = 1;
    for (int k = 0; k < o->symbols->source_count; ++k)
      for (int n = 0; n < o->symbols->sources[k].count; ++n)
        if (o->symbols->sources[k].symbol[n] == s) least = 0;
    at[s] = (large == s) ^ (large >= count && large - count != s) ? MOST : least;
  }
}

typedef struct question {
  int x, y; // sizes; -1: no expression
  bool compares, seen[3];
} question;

size_t pb_open_choices(pb_open_program* o, const pb_open_sample* samples, bool* which) {
  size_t count = samples[0].choice_count, open = 0;
  question* asked = PB_NEW_ARRAY(&o->sizes.arena, question, count + 1);
  for (size_t k = 0; k < count; ++k) {
    int64_t a[PB_OPEN_SAMPLES], b[PB_OPEN_SAMPLES], is[PB_OPEN_SAMPLES];
    bool same = numbers_of(samples, k, &asked[k].compares, a, b, is);
    asked[k].x = same ? pb_fit_find(o->fit, a) : -1;
    asked[k].y = same ? pb_fit_find(o->fit, b) : -1;
  }
  int64_t* v = PB_NEW_ARRAY(&o->sizes.arena, int64_t, o->sizes.count + 1);
  for (int turn = 0; turn < turns_of(o); ++turn) {
    int64_t at[PB_MOST_SYMBOLS];
    extents_of_turn(o, turn, at);
    for (size_t s = 0; s < o->sizes.count; ++s)
      if (!pb_size_value(o->sizes.items[s], at, v, &v[s])) v[s] = 0;
    for (size_t k = 0; k < count; ++k)
      if (asked[k].x >= 0 && asked[k].y >= 0)
        asked[k].seen[1 + (v[asked[k].x] > v[asked[k].y]) - (v[asked[k].x] < v[asked[k].y])] = true;
  }
  for (size_t k = 0; k < count; ++k) {
    const bool* seen = asked[k].seen;
    which[k] = asked[k].compares ? seen[0] + seen[1] + seen[2] > 1 : seen[0] && seen[2];
    open += which[k];
  }
  return open;
}

void pb_open_free(pb_open_program* o) {
  if (o->fit) pb_fit_end(o->fit);
  pb_sizes_free(&o->sizes);
}

void pb_open_read(pb_open_program* o, int nest, pb_open_nest* z) {
  const pb_nest* n = &o->program->nests[nest];
  const int* at = o->at + o->nest_at[nest];
  pb_sizes* s = &o->sizes;
  int none = pb_size_number(s, 0);
  for (int d = 0; d < n->dim_count; ++d) z->extent[d] = *at++;
  for (int a = 0; a < n->access_count; ++a) {
    int rank = n->access[a].rank, row = pb_size_number(s, 1);
    for (int r = 0; r < rank; ++r) {
      z->shape[a][r] = o->at[o->value_at[o->program->value_of[nest][a]] + r];
      for (int d = 0; d < n->dim_count; ++d) z->coef[a][r][d] = *at++;
      z->start[a][r] = *at++;
    }
    z->first[a] = none;
    for (int d = 0; d < n->dim_count; ++d) z->step[a][d] = none;
    for (int r = rank - 1; r >= 0; --r) {
      z->row[a][r] = row;
      z->first[a] = pb_size_make(s, PB_SIZE_ADD, z->first[a], pb_size_make(s, PB_SIZE_MUL, z->start[a][r], row));
      for (int d = 0; d < n->dim_count; ++d)
        z->step[a][d] =
            pb_size_make(s, PB_SIZE_ADD, z->step[a][d], pb_size_make(s, PB_SIZE_MUL, z->coef[a][r][d], row));
      row = pb_size_make(s, PB_SIZE_MUL, row, z->shape[a][r]);
    }
  }
  z->integers = at;
}
