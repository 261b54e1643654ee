// Takes kernels of several stages apart by blocks of a constant mask (block_sparse.h). In front of the kernel come
//
//   the blocks      the same nests, of which the plan does the blocks alone
//   guards          of queries, keys, values and the result, in what is made: the largest of a number that is above 0
//                   where an element is not as it has to be, for each row of the first index
//
// and the kernel itself, with the guards, writes everything again. It may be left out where no element of them is above
// 0: then its bits are there. Who does not know that loses time and nothing else.
//
// Of the result two things are asked. It is finite: then what probabilities are multiplied by, one over their sum, is
// finite too, and zeros stay zeros. And it is not -0, to which a zero of the keys left out could be added.
#include "core/s3/fusion/block_sparse.h"

#include "core/s3/plan/plan.h"
#include "core/s3/tree/cost_cores.h"

#include <float.h>
#include <string.h>

enum {
  GUARDS = 4,        // of a kernel
  NESTS_A_GUARD = 2, // what sets it, and the maximum
  CHECK_CYCLES = 7   // of a vector that is looked at; of the result, in which -0 is another matter, twice as many
};

// One kernel that is taken apart: nests and values of its view, by their numbers in the program.
typedef struct kernel {
  int group;
  int *nests, *values, count;
  pb_program view;
  pb_stages stages;
  pb_block_sparse sparse;
  int64_t* macs; // by nest, of its blocks
} kernel;

typedef struct splitter {
  const pb_groups* o;
  pb_arena* arena;
  pb_program program; // as it becomes, and
  pb_groups to;       // its kernels
  int* at;            // by nest of the program as it was, its number now
} splitter;

// ---- which kernels ----

// Cycles of the guards: vectors' operations, or what caches bring.
static int64_t cost_of_guards(const pb_chip* chip, const kernel* k) {
  const int looked_at[GUARDS] = {k->sparse.query, k->sparse.key, k->sparse.value, k->sparse.made};
  pb_core_facts facts;
  int64_t cycles = 0;
  pb_core_facts_of(chip, NULL, &facts);
  for (int g = 0; g < GUARDS; ++g) {
    int64_t bytes = pb_value_bytes(&k->view.values[looked_at[g]]), brought = bytes / pb_core_rate(&facts, bytes);
    int64_t vectors = bytes / (int64_t)sizeof(float) / facts.vector.lanes;
    int64_t made = vectors * (g + 1 < GUARDS ? CHECK_CYCLES : 2 * CHECK_CYCLES);
    cycles += (made > brought ? made : brought) + (chip->level_count ? chip->levels[0].sync_cycles : 0);
  }
  return cycles;
}

// Whether blocks and guards are predicted to take less than everything does.
static bool pays(pb_unit* unit, kernel* k, pb_arena* arena) {
  pb_kernel_plan all, some;
  pb_diag quiet = {.sink = pb_diag_drop};
  pb_stages blocks = k->stages;
  blocks.blocks = &k->sparse.blocks;
  const pb_kernel_form whole = {.stages = &k->stages}, parts = {.stages = &blocks};
  return pb_kernel_plan_again(unit, &whole, false, arena, &quiet, &all) == PB_OK &&
         pb_kernel_plan_again(unit, &parts, false, arena, &quiet, &some) == PB_OK &&
         some.loops.cycles + cost_of_guards(unit->chip, k) < all.loops.cycles;
}

static bool find(pb_unit* unit, const pb_groups* groups, int group, pb_arena* arena, kernel* k) {
  pb_nest_list list = {0};
  pb_groups_add(groups, group, arena, &list);
  *k = (kernel){.group = group, .nests = list.nests, .count = list.count};
  k->macs = PB_NEW_ARRAY(arena, int64_t, (size_t)list.count + 1);
  pb_program_view(groups->program, list.nests, list.count, arena, &k->view);
  k->values = PB_NEW_ARRAY(arena, int, (size_t)k->view.value_count + 1);
  for (int v = -1, at = 0; (v = pb_program_next_value(groups->program, list.nests, list.count, v)) >= 0; ++at) {
    k->values[at] = v;
    k->view.values[at].argument = pb_program_is_local(&k->view, at) ? -1 : at;
  }
  return pb_stages_of(unit->chip, &k->view, arena, &k->stages) &&
         pb_block_sparse_find(unit, &k->stages, arena, &k->sparse) && pays(unit, k, arena);
}

// ---- the program anew ----

static void append(splitter* s, const pb_nest* nest, const int* values, int group) {
  int n = s->program.nest_count;
  (void)pb_program_add_nest(&s->program, nest, values);
  s->to.of[n] = group;
  s->to.last[group] = n;
  if (nest->reduce != PB_SET) s->to.main[group] = n;
}

static int new_group(splitter* s, bool staged) {
  int group = s->to.count++;
  s->to.staged[group] = staged;
  s->to.last[group] = s->to.main[group] = -1;
  return group;
}

static int new_value(splitter* s, pb_type type, int rank, const int64_t* shape) {
  pb_access like = {.type = type, .rank = rank};
  memcpy(like.shape, shape, sizeof *shape * (size_t)rank);
  return pb_program_add_local(&s->program, s->arena, &like);
}

// ---- blocks ----

// The share of a nest's products that blocks have.
static double share_of(const kernel* k, int n) {
  const pb_blocks* blocks = &k->sparse.blocks;
  double rows = (double)k->stages.extent[blocks->row], share = 0;
  for (int b = 0; b < blocks->count; ++b) {
    double keys = blocks->keys.dim[n] < 0 ? 1 : (double)blocks->items[b].keys / (double)blocks->keys.keys;
    share += (double)blocks->items[b].rows / rows * keys;
  }
  return share;
}

// The nests once more, on values between of their own. All products together stay those of the model.
static void add_blocks(splitter* s, const kernel* k) {
  int *values = PB_NEW_ARRAY(s->arena, int, (size_t)k->view.value_count + 1), group = new_group(s, true);
  s->to.blocks[group] = &k->sparse.blocks;
  for (int v = 0; v < k->view.value_count; ++v) {
    const pb_value* value = &k->view.values[v];
    bool between = value->kind == PB_VALUE_LOCAL;
    values[v] = between ? new_value(s, value->type, value->rank, value->shape) : k->values[v];
  }
  for (int n = 0; n < k->count; ++n) {
    int of[PB_NEST_ACCESSES] = {0};
    for (int a = 0; a < k->view.nests[n].access_count; ++a) of[a] = values[k->view.value_of[n][a]];
    append(s, &k->view.nests[n], of, group);
    pb_nest* nest = &s->program.nests[s->program.nest_count - 1];
    k->macs[n] = nest->macs = (int64_t)((double)nest->macs * share_of(k, n));
  }
}

// ---- guards ----

// Above 0 where the magnitude of what is loaded is above `most`, or it is no number.
static int above(pb_nest* nest, int bits, float most) {
  int32_t limit;
  memcpy(&limit, &most, sizeof limit);
  int magnitude = pb_nest_node(nest, PB_OP_AND, PB_I32, bits, pb_nest_integer(nest, PB_I32, INT32_MAX));
  return pb_nest_node(nest, PB_OP_SUB, PB_I32, magnitude, pb_nest_integer(nest, PB_I32, limit));
}

// Also where it is -0: the sign is set, and no bit of the magnitude is.
static int or_minus_zero(pb_nest* nest, int bits, int outside) {
  int magnitude = pb_nest_node(nest, PB_OP_AND, PB_I32, bits, pb_nest_integer(nest, PB_I32, INT32_MAX));
  int less = pb_nest_node(nest, PB_OP_SUB, PB_I32, magnitude, pb_nest_integer(nest, PB_I32, 1));
  int both = pb_nest_node(nest, PB_OP_AND, PB_I32, bits, less);
  int minus = pb_nest_node(nest, PB_OP_SHRU, PB_I32, both, pb_nest_integer(nest, PB_I32, 31));
  return pb_nest_node(nest, PB_OP_MAX, PB_I32, outside, minus);
}

// The index whose rows are looked at apart, by threads, -1: none, and the one whose elements lie next to each other.
static void ends_of(const pb_value* value, int* outer, int* inner) {
  bool between = false;
  *inner = value->rank - 1;
  *outer = 0;
  while (*outer < *inner && value->shape[*outer] == 1) ++*outer;
  for (int r = *outer + 1; r < *inner; ++r) between |= value->shape[r] > 1;
  if (!between) *outer = -1;
}

// A tensor that only holds another one's elements in another order is looked at as the other one, which may be of the
// shape of those that are looked at with it.
static int source_of(const pb_program* p, int value) {
  for (bool found = true; found && pb_program_is_local(p, value);) {
    int writer = pb_program_next_use(p, value, -1), others = 0;
    PB_FOR_USES (n, p, value) others += n != writer && pb_program_writes(p, n, value);
    const pb_nest* nest = &p->nests[writer];
    found = !others && pb_nest_is_copy(nest) && pb_program_writes(p, writer, value) && !nest->access[0].boxed &&
            !nest->access[0].splat && !nest->access[0].gathered &&
            pb_access_elements(&nest->access[0]) == pb_access_elements(&nest->access[1]) &&
            !pb_program_is_const(p, writer, 0);
    if (found) value = p->value_of[writer][0];
  }
  return value;
}

typedef struct looked_at {
  int value;
  float most;    // magnitude
  bool nowhere0; // no element is to be -0
} looked_at;

// The largest of numbers above 0 where an element is not as it has to be.
static void check(pb_nest* nest, const looked_at* x, int count) {
  int worst = -1;
  for (int k = 0; k < count; ++k) {
    int bits = pb_nest_node(nest, PB_OP_BITCAST, PB_I32, pb_nest_load(nest, k), -1),
        outside = above(nest, bits, x[k].most);
    if (x[k].nowhere0) outside = or_minus_zero(nest, bits, outside);
    worst = worst < 0 ? outside : pb_nest_node(nest, PB_OP_MAX, PB_I32, worst, outside);
  }
}

static int add_guard(splitter* s, const char* name, const looked_at* x, int count) {
  pb_arena scratch = {0};
  pb_value value = s->program.values[x[0].value];
  int outer, inner, group = new_group(s, false), of[PB_NEST_ACCESSES] = {0};
  ends_of(&value, &outer, &inner);
  int64_t shape[2] = {outer < 0 ? 1 : value.shape[outer], value.shape[inner]};
  int guard = of[count] = new_value(s, PB_I32, 2, shape);
  pb_value made = s->program.values[guard];
  pb_nest* nest = pb_alloc_raw(&scratch, sizeof *nest);
  pb_nest_begin(nest, name, "init", 1);
  nest->dim_count = 2;
  memcpy(nest->extent, shape, sizeof shape);
  nest->access[0] = pb_value_shape(&made);
  for (int r = 0; r < 2; ++r) nest->access[0].index[r].coef[r] = 1;
  (void)pb_nest_integer(nest, PB_I32, INT32_MIN);
  append(s, nest, (const int[PB_NEST_ACCESSES]){guard}, group);

  pb_nest_begin(nest, name, "reduce", count + 1);
  nest->reduce = PB_ACC_MAX;
  for (int k = 0; k < count; ++k) {
    of[k] = x[k].value;
    nest->access[k] = pb_value_shape(&value);
  }
  nest->access[count] = pb_value_shape(&made);
  for (int r = 0; r < value.rank; ++r) {
    if (value.shape[r] == 1) continue;
    for (int k = 0; k < count; ++k) nest->access[k].index[r].coef[nest->dim_count] = 1;
    if (r == outer) nest->access[count].index[0].coef[nest->dim_count] = 1;
    if (r == inner) nest->access[count].index[1].coef[nest->dim_count] = 1;
    nest->extent[nest->dim_count++] = value.shape[r];
  }
  check(nest, x, count);
  append(s, nest, of, group);
  pb_arena_free(&scratch);
  return guard;
}

static bool same_shape(const pb_value* a, const pb_value* b) {
  return a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank);
}

// Tensors of one shape are looked at together; the result, which others may lie beside, by itself.
static void add_guards(splitter* s, const kernel* k) {
  const pb_block_sparse* b = &k->sparse;
  const pb_program* p = s->o->program;
  looked_at x[GUARDS] = {{.value = source_of(p, k->values[b->query]), .most = b->bound},
                         {.value = source_of(p, k->values[b->key]), .most = b->bound},
                         {.value = source_of(p, k->values[b->value]), .most = FLT_MAX},
                         {.value = k->values[b->made], .most = FLT_MAX, .nowhere0 = true}};
  const char* name = k->view.nests[k->count - 1].name;
  int guards = 0;
  for (int first = 0, end; first < GUARDS; first = end) {
    for (end = first + 1; end + 1 < GUARDS; ++end)
      if (!same_shape(&p->values[x[first].value], &p->values[x[end].value])) break;
    s->to.guards[k->group][guards++] = 1 + add_guard(s, name, &x[first], end - first);
  }
}

// ---- all of it ----

static void begin(splitter* s, const kernel* kernels, int count) {
  const pb_program* p = s->o->program;
  size_t nests = (size_t)p->nest_count + 1, groups = (size_t)s->o->count + 1;
  for (int k = 0; k < count; ++k) {
    nests += (size_t)(kernels[k].count + GUARDS * NESTS_A_GUARD);
    groups += 1 + GUARDS;
  }
  pb_program_begin_nests(p, s->arena, &s->program);
  s->to.of = PB_NEW_ARRAY(s->arena, int, nests);
  s->at = PB_NEW_ARRAY(s->arena, int, nests);
  s->to.last = PB_NEW_ARRAY(s->arena, int, groups);
  s->to.main = PB_NEW_ARRAY(s->arena, int, groups);
  s->to.staged = PB_NEW_ARRAY(s->arena, bool, groups);
  s->to.blocks = PB_NEW_ARRAY(s->arena, const pb_blocks*, groups);
  s->to.guards = pb_alloc_array(s->arena, groups, sizeof *s->to.guards);
  memcpy(s->to.staged, s->o->staged, sizeof *s->to.staged * (size_t)s->to.count);
  for (int g = 0; g < s->to.count; ++g) s->to.last[g] = s->to.main[g] = -1;
}

static void rebuild(splitter* s, const kernel* kernels, int count) {
  const pb_program* p = s->o->program;
  for (int n = 0; n < p->nest_count; ++n) {
    for (int k = 0; k < count; ++k) {
      if (kernels[k].nests[kernels[k].count - 1] != n) continue;
      add_blocks(s, &kernels[k]);
      add_guards(s, &kernels[k]);
    }
    s->at[n] = s->program.nest_count;
    append(s, &p->nests[n], p->value_of[n], s->o->of[n]);
  }
  for (int g = 0; g < s->o->count; ++g) {
    if (s->o->last[g] >= 0) s->to.last[g] = s->at[s->o->last[g]];
    if (s->o->main[g] >= 0) s->to.main[g] = s->at[s->o->main[g]];
  }
  for (int k = 0; k < count; ++k) // all products together are those of the model
    for (int n = 0; n < kernels[k].count; ++n) s->program.nests[s->at[kernels[k].nests[n]]].macs -= kernels[k].macs[n];
  pb_program_index(&s->program, s->arena);
}

void pb_block_sparse_split(pb_unit* unit, pb_groups* o) {
  splitter s = {.o = o, .arena = &unit->pass, .to = *o};
  kernel* kernels = PB_NEW_ARRAY(s.arena, kernel, (size_t)o->count + 1);
  int count = 0, groups_read = pb_chip_in_place(unit->chip) ? o->count : 0;
  for (int g = 0; g < groups_read; ++g)
    count += o->staged[g] && o->last[g] >= 0 && find(unit, o, g, s.arena, &kernels[count]);
  begin(&s, kernels, count);
  if (!count) {
    o->blocks = s.to.blocks;
    o->guards = s.to.guards;
    return;
  }
  rebuild(&s, kernels, count);
  *o->program = s.program;
  *o = s.to;
  pb_groups_list(o, s.arena);
}
