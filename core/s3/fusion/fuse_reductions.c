// Two reductions in one kernel: the consumer's tile has the slice of the producer's result that it needs made on the
// chip, and the tensor between them never exists. Both ways are planned and the cheaper by the cost model is taken; the
// plan of the fused way keeps the criteria of slicing.h. Groups join from the front, so a chain of several grows by one
// stage at a time; but a group that saves more with what takes it is left to that. Fills and the copy that they
// surround become one kernel in the same way.
#include "core/s3/fusion/fusion.h"

#include "core/s3/kernel/pads.h"
#include "core/s3/kernel/stages.h"
#include "core/s3/plan/plan_memo.h"

#include <string.h>

// What is saved must be more than this part of the time: predictions of like plans err by so much.
enum { LEAST_GAIN = 100 };

typedef struct chainer {
  pb_unit* unit;
  pb_groups* groups;
  const bool* staged; // groups that are left as they are
  bool* waits;        // groups that have been left to what takes them, though a producer would have paid
} chainer;

// Tensors that the kernel would be given: commands can name so many and no more.
static int argument_count(const pb_program* p) {
  int count = 0;
  for (int v = 0; v < p->value_count; ++v) count += p->values[v].kind != PB_VALUE_LOCAL;
  return count;
}

// The plan of the nests as one kernel, without its producers'. false: the chip cannot run them so.
static bool plan_of(chainer* c, const pb_nest_list* list, pb_plan* plan) {
  pb_arena scratch = {0};
  pb_program program;
  pb_program_view(c->groups->program, list->nests, list->count, &scratch, &program);
  bool runs =
      argument_count(&program) <= c->unit->chip->arguments && pb_plan_program_again(c->unit, &program, &scratch, plan);
  plan->producer = NULL; // which the scratch arena may hold
  pb_arena_free(&scratch);
  return runs;
}

// Of groups (b: -1: of one).
static bool plan_groups(chainer* c, int a, int b, pb_plan* plan) {
  pb_arena scratch = {0};
  pb_nest_list list = {0};
  pb_groups_add(c->groups, a, &scratch, &list);
  if (b >= 0) pb_groups_add(c->groups, b, &scratch, &list);
  bool runs = plan_of(c, &list, plan);
  pb_arena_free(&scratch);
  return runs;
}

static bool gains(int64_t fused, int64_t apart) { return fused < apart - apart / LEAST_GAIN; }

// The cycles that one kernel instead of two saves; 0: none, or no more than `gain` by what like plans err. A unit that
// both keep busy nearly all the time leaves nothing to gain, and then the fused plans, of which there are many, need
// not be looked at.
static int64_t saved(chainer* c, int producer, int consumer, int64_t gain) {
  pb_plan first, second, fused;
  if (!plan_groups(c, producer, -1, &first) || !plan_groups(c, consumer, -1, &second)) return 0;
  int64_t apart = first.cycles + second.cycles;
  for (int q = 0; q < c->unit->chip->queue_count; ++q)
    if (!gains(first.busy[q] + second.busy[q] + gain, apart)) return 0;
  if (!plan_groups(c, producer, consumer, &fused) || !gains(fused.cycles + gain, apart)) return 0;
  return apart - fused.cycles;
}

// The group that makes `value`, if it is a reduction's, nobody but `reader` reads it, and its work all comes before.
static int producer_of(const chainer* c, int value, int reader) {
  const pb_groups* g = c->groups;
  const pb_program* p = g->program;
  int maker = -1;
  if (p->values[value].kind != PB_VALUE_LOCAL) return -1;
  PB_FOR_USES (n, p, value) {
    if (pb_program_writes(p, n, value) && g->of[n] != reader) {
      if (maker >= 0 && maker != g->of[n]) return -1;
      maker = g->of[n];
    }
  }
  if (maker < 0 || c->staged[maker] || g->main[maker] < 0 || g->last[maker] < 0 || g->last[maker] >= g->first[reader])
    return -1;
  if (pb_program_stored(p, g->last[maker]) != value) return -1;
  int readers = 0;
  PB_FOR_USES (n, p, value) {
    if (g->of[n] == maker) continue;
    if (g->of[n] != reader || ++readers > 1) return -1;
  }
  return maker;
}

void pb_groups_add(const pb_groups* g, int group, pb_arena* arena, pb_nest_list* list) {
  int count = 0, from = 0;
  for (int n = g->first[group]; n >= 0; n = g->next[n]) ++count;
  int* nests = PB_NEW_ARRAY(arena, int, (size_t)(list->count + count) + 1);
  count = 0;
  for (int n = g->first[group]; n >= 0; n = g->next[n]) {
    while (from < list->count && list->nests[from] < n) nests[count++] = list->nests[from++];
    nests[count++] = n;
  }
  while (from < list->count) nests[count++] = list->nests[from++];
  *list = (pb_nest_list){nests, count};
}

void pb_groups_list(const pb_program* program, pb_arena* arena, int count, int* of, int* main, int* last,
                    pb_groups* groups) {
  *groups = (pb_groups){.program = program, .count = count, .of = of, .main = main, .last = last};
  groups->first = PB_NEW_ARRAY(arena, int, (size_t)count + 1);
  groups->next = PB_NEW_ARRAY(arena, int, (size_t)program->nest_count + 1);
  for (int g = 0; g < count; ++g) groups->first[g] = -1;
  for (int n = program->nest_count - 1; n >= 0; --n) {
    groups->next[n] = groups->first[of[n]];
    groups->first[of[n]] = n;
  }
}

// The nests of the producer go among those of the consumer.
void pb_groups_join(pb_groups* g, int producer, int consumer) {
  int *link = &g->first[consumer], from = g->first[producer];
  while (from >= 0) {
    while (*link >= 0 && *link < from) link = &g->next[*link];
    int rest = g->next[from];
    g->of[from] = consumer;
    g->next[from] = *link;
    *link = from;
    from = rest;
  }
  g->first[producer] = g->last[producer] = -1;
}

// The fills around a copy, each a kernel of its own so far, and the copy: one copy through a box, if that is faster.
static void join_pad(chainer* c, int copy) {
  pb_groups* g = c->groups;
  const pb_program* p = g->program;
  int value = pb_program_stored(p, copy), nests[PB_MAX_PROLOGUES], count = 0;
  int64_t apart = 0;
  pb_plan plan;
  pb_nest padded;
  PB_FOR_USES (n, p, value) {
    if (!pb_program_writes(p, n, value)) continue;
    if (count == PB_MAX_PROLOGUES || g->first[g->of[n]] != n || g->last[g->of[n]] != n) return;
    nests[count++] = n;
  }
  if (count < 2 || !pb_pad_as_copy(p, nests, count, &padded)) return;
  int group[PB_MAX_PROLOGUES];
  for (int k = 0; k < count; ++k) {
    group[k] = g->of[nests[k]];
    if (!plan_groups(c, group[k], -1, &plan)) return;
    apart += plan.cycles;
  }
  if (!plan_of(c, &(pb_nest_list){nests, count}, &plan) || !gains(plan.cycles, apart)) return;
  for (int k = 0; k + 1 < count; ++k) pb_groups_join(g, group[k], group[count - 1]);
}

// Whether the group saves more than `gain` as the producer of its own consumer.
static bool leads_better(chainer* c, int group, int64_t gain) {
  const pb_groups* g = c->groups;
  int value = pb_program_stored(g->program, g->last[group]);
  PB_FOR_USES (n, g->program, value) {
    int reader = g->of[n];
    if (reader != group && g->main[reader] >= 0 && !c->staged[reader] && producer_of(c, value, reader) == group)
      return saved(c, group, reader, gain) > 0;
  }
  return false;
}

// Tries the groups that make what the group's nests read; one at most is the main input's. A group that saves more
// with its own consumer is left to that, and its producer is tried with both. Returns whether a producer has joined for
// which another one waits.
static bool grow(chainer* c, int group) {
  pb_arena scratch = {0};
  pb_nest_list list = {0};
  bool again = false;
  pb_groups_add(c->groups, group, &scratch, &list);
  for (int v = -1; (v = pb_program_next_value(c->groups->program, list.nests, list.count, v)) >= 0;) {
    int producer = producer_of(c, v, group);
    int64_t gain = producer < 0 ? 0 : saved(c, producer, group, 0);
    if (!gain) continue;
    c->waits[group] = leads_better(c, group, gain);
    again = !c->waits[group] && c->waits[producer];
    if (!c->waits[group]) pb_groups_join(c->groups, producer, group);
    break;
  }
  pb_arena_free(&scratch);
  return again;
}

void pb_fuse_reductions(pb_unit* unit, pb_groups* groups, const bool* staged) {
  chainer c = {.unit = unit, .groups = groups, .staged = staged};
  c.waits = PB_NEW_ARRAY(&unit->pass, bool, (size_t)groups->count + 1);
  for (int n = 0; n < groups->program->nest_count; ++n)
    if (pb_nest_is_copy(&groups->program->nests[n])) join_pad(&c, n);
  for (int round = 0; round < 2; ++round) // in the second, those whose consumers have been taken by others meanwhile
    for (int n = 0; n < groups->program->nest_count; ++n) {
      int group = groups->of[n];
      if (groups->last[group] == n && groups->main[group] >= 0 && !staged[group] && (!round || c.waits[group]))
        while (grow(&c, group)) continue;
    }
}
