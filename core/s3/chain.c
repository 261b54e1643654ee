// Two reductions in one kernel: the consumer's tile has the slice of the producer's result that it needs made on the
// chip, and the tensor between them never exists. Both ways are planned and the cheaper by the cost model is taken; the
// plan of the fused way keeps the criteria of slicing.h. Groups join from the front, so a chain of several grows by one
// stage at a time. Fills and the copy that they surround become one kernel in the same way.
#include "core/s3/chain.h"

#include "core/s3/plan.h"

#include <stdlib.h>
#include <string.h>

// What is saved must be more than this part of the time: predictions of like plans err by so much.
enum { LEAST_GAIN = 100 };

typedef struct known {
  char* text;
  pb_plan plan;
  bool runs; // the chip can run it so
} known;

typedef struct chainer {
  pb_unit* unit;
  pb_groups* groups;
  known* plans; // of programs that were planned, by their text: networks repeat themselves
  size_t plan_count, plan_capacity;
} chainer;

static bool uses(const pb_program* p, int nest, int value) {
  return pb_program_reads(p, nest, value) || pb_program_writes(p, nest, value);
}

// The nests of two groups (b: -1: of one) as a program of their own: what others see too is no local of it.
static void view(const chainer* c, int a, int b, pb_arena* arena, pb_program* out) {
  const pb_program* p = c->groups->program;
  *out = (pb_program){.func = p->func, .value_count = p->value_count};
  out->values = PB_NEW_ARRAY(arena, pb_value, (size_t)p->value_count + 1);
  out->nests = PB_NEW_ARRAY(arena, pb_nest, (size_t)p->nest_count + 1);
  out->value_of = pb_alloc_array(arena, (size_t)p->nest_count + 1, sizeof *out->value_of);
  memcpy(out->values, p->values, sizeof *p->values * (size_t)p->value_count);
  for (int n = 0; n < p->nest_count; ++n) {
    int group = c->groups->of[n];
    if (group == a || group == b) {
      out->nests[out->nest_count] = p->nests[n];
      memcpy(out->value_of[out->nest_count++], p->value_of[n], sizeof *p->value_of);
      continue;
    }
    for (int k = 0; k < p->nests[n].access_count; ++k) {
      pb_value* value = &out->values[p->value_of[n][k]];
      if (value->kind == PB_VALUE_LOCAL) value->kind = PB_VALUE_INPUT;
    }
  }
}

// Nests with their values numbered in the order of their first use: equal work is equal text.
static void print_view(const pb_program* p, pb_arena* arena, pb_text* text) {
  int* number = PB_NEW_ARRAY(arena, int, (size_t)p->value_count + 1);
  int count = 0, serial = 0;
  for (int n = 0; n < p->nest_count; ++n) {
    pb_nest nest = p->nests[n];
    nest.name = "";
    for (int a = 0; a < nest.access_count; ++a) {
      int v = p->value_of[n][a];
      if (!number[v]) number[v] = ++count;
      nest.access[a].ref = pb_printf(arena, "%%v%d_%d", number[v], (int)p->values[v].kind);
    }
    pb_nest_print(text, &nest, 0, &serial);
  }
}

static void drop(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code, (void)text;
}

// Tensors that the kernel would be given: commands can name so many and no more.
static int argument_count(const pb_program* p) {
  int count = 0;
  for (int v = 0; v < p->value_count; ++v) {
    bool used = false;
    for (int n = 0; n < p->nest_count && !used; ++n) used = uses(p, n, v);
    count += used && p->values[v].kind != PB_VALUE_LOCAL;
  }
  return count;
}

// false: the chip cannot run the program as one kernel.
static bool make_plan(const chainer* c, const pb_program* program, pb_arena* scratch, pb_plan* plan) {
  const pb_chip* chip = c->unit->chip;
  pb_diag quiet = {.sink = drop};
  pb_group group;
  if (argument_count(program) > chip->arguments) return false;
  if (pb_group_read(program, chip, scratch, &quiet, &group) != PB_OK) return false;
  if (pb_plan_make(chip, &group, scratch, &quiet, plan) != PB_OK) return false;
  plan->producer = NULL; // which the scratch arena holds
  return true;
}

// The plan of the groups' nests as one kernel, without its producers'. false: the chip cannot run them so.
static bool plan_of(chainer* c, int a, int b, pb_plan* plan) {
  pb_arena scratch = {0};
  pb_program program;
  pb_text text = {0};
  view(c, a, b, &scratch, &program);
  print_view(&program, &scratch, &text);
  size_t k = 0;
  while (k < c->plan_count && strcmp(c->plans[k].text, text.data)) ++k;
  if (k == c->plan_count) {
    known new = {.text = pb_strdup(&c->unit->arena, text.data)};
    new.runs = make_plan(c, &program, &scratch, &new.plan);
    PB_PUSH(c->plans, c->plan_count, c->plan_capacity, new);
  }
  *plan = c->plans[k].plan;
  pb_text_free(&text);
  pb_arena_free(&scratch);
  return c->plans[k].runs;
}

static bool gains(int64_t fused, int64_t apart) { return fused < apart - apart / LEAST_GAIN; }

// Whether one kernel instead of two is faster. A unit that both keep busy nearly all the time leaves nothing to gain,
// and then the fused plans, of which there are many, need not be looked at.
static bool pays(chainer* c, int producer, int consumer) {
  pb_plan first, second, fused;
  if (!plan_of(c, producer, -1, &first) || !plan_of(c, consumer, -1, &second)) return false;
  int64_t apart = first.cycles + second.cycles;
  for (int q = 0; q < c->unit->chip->queue_count; ++q)
    if (!gains(first.busy[q] + second.busy[q], apart)) return false;
  return plan_of(c, producer, consumer, &fused) && gains(fused.cycles, apart);
}

static int first_nest(const pb_groups* g, int group) {
  int n = 0;
  while (g->of[n] != group) ++n;
  return n;
}

// The group that makes `value`, if it is a reduction's, nobody but `reader` reads it, and its work all comes before.
static int producer_of(const chainer* c, int value, int reader) {
  const pb_groups* g = c->groups;
  const pb_program* p = g->program;
  int maker = -1;
  if (p->values[value].kind != PB_VALUE_LOCAL) return -1;
  for (int n = 0; n < p->nest_count; ++n) {
    if (pb_program_writes(p, n, value) && g->of[n] != reader) {
      if (maker >= 0 && maker != g->of[n]) return -1;
      maker = g->of[n];
    }
  }
  if (maker < 0 || g->main[maker] < 0 || g->last[maker] < 0 || g->last[maker] >= first_nest(g, reader)) return -1;
  if (pb_program_stored(p, g->last[maker]) != value) return -1;
  int readers = 0;
  for (int n = 0; n < p->nest_count; ++n) {
    if (g->of[n] == maker || !uses(p, n, value)) continue;
    if (g->of[n] != reader || ++readers > 1) return -1;
  }
  return maker;
}

static void join(pb_groups* g, int producer, int consumer) {
  for (int n = 0; n < g->program->nest_count; ++n)
    if (g->of[n] == producer) g->of[n] = consumer;
  g->last[producer] = -1;
}

// The fills around a copy, each a kernel of its own so far, and the copy: one copy through a box, if that is faster.
static void join_pad(chainer* c, int copy) {
  pb_groups* g = c->groups;
  const pb_program* p = g->program;
  int value = pb_program_stored(p, copy), nests[PB_MAX_FEEDS], count = 0;
  int64_t apart = 0;
  pb_plan plan;
  pb_nest padded;
  for (int n = 0; n < p->nest_count; ++n) {
    if (!pb_program_writes(p, n, value)) continue;
    if (count == PB_MAX_FEEDS || first_nest(g, g->of[n]) != n || g->last[g->of[n]] != n) return;
    nests[count++] = n;
  }
  if (count < 2 || !pb_pad_as_copy(p, nests, count, &padded)) return;
  int group[PB_MAX_FEEDS];
  for (int k = 0; k < count; ++k) {
    group[k] = g->of[nests[k]];
    if (!plan_of(c, group[k], -1, &plan)) return;
    apart += plan.cycles;
  }
  for (int k = 0; k < count; ++k) g->of[nests[k]] = group[count - 1];
  bool joined = plan_of(c, group[count - 1], -1, &plan) && gains(plan.cycles, apart);
  for (int k = 0; k + 1 < count; ++k) {
    if (joined)
      g->last[group[k]] = -1;
    else
      g->of[nests[k]] = group[k];
  }
}

// Tries the groups that make what the group's nests read; one at most is the main input's.
static void grow(chainer* c, int group) {
  const pb_program* p = c->groups->program;
  for (int v = 0; v < p->value_count; ++v) {
    int producer = producer_of(c, v, group);
    if (producer < 0 || !pays(c, producer, group)) continue;
    join(c->groups, producer, group);
    return;
  }
}

void pb_chain_groups(pb_unit* unit, pb_groups* groups) {
  chainer c = {.unit = unit, .groups = groups};
  for (int n = 0; n < groups->program->nest_count; ++n) {
    const pb_nest* nest = &groups->program->nests[n];
    if (nest->reduce == PB_SET && nest->access_count == 2 && nest->expr_count == 1) join_pad(&c, n);
  }
  for (int n = 0; n < groups->program->nest_count; ++n)
    if (groups->last[groups->of[n]] == n && groups->main[groups->of[n]] >= 0) grow(&c, groups->of[n]);
  free(c.plans);
}
