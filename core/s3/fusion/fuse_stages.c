// Groups that share loops become one kernel of several stages (stages.h), where that is predicted to be faster: what is
// between them then is as large as an iteration of those loops, and stays near. A kernel grows backwards from its last
// group by groups all of whose readers are in it: softmax by its sum, its numerators and its maximum, attention also by
// the product that makes the scores. This is slicing-based fusion (PolyBlocks) with slices that never overlap.
//
// Products by constant weights stay by themselves: each iteration would read all of the weights again.
#include "core/base/table.h"
#include "core/s3/fusion/fusion.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/plan/plan_memo.h"
#include "core/s3/tree/cost_cores.h"

enum {
  MOST_GROUPS = 12, // in one kernel, and
  MOST_VALUES = 14  // tensors that it is given, and buffers
};

typedef struct fuser {
  pb_unit* unit;
  pb_groups* groups;
  bool* staged;
  pb_table texts; // 0 or 1 by the text of a kernel's nests: whether they are faster as one
  bool cached;    // memory is
} fuser;

// Groups that are to be one kernel, the last one first.
typedef struct region {
  int groups[MOST_GROUPS], count;
  int shared; // loops of all of them
} region;

static bool is_in(const region* r, int group) {
  for (int k = 0; k < r->count; ++k)
    if (r->groups[k] == group) return true;
  return false;
}

// A product by weights; borders around what it makes are another nest's.
static bool stays_alone(const fuser* f, int group) {
  const pb_program* p = f->groups->program;
  for (int n = f->groups->first[group]; n >= 0; n = f->groups->next[n]) {
    pb_contraction_dims roles;
    if (pb_program_is_fixed(p, n) || (!f->cached && pb_nest_is_copy(&p->nests[n]))) return true;
    if (!pb_nest_contraction_dims(&p->nests[n], NULL, &roles)) continue;
    if (p->values[p->value_of[n][roles.x]].kind == PB_VALUE_CONST ||
        p->values[p->value_of[n][roles.w]].kind == PB_VALUE_CONST)
      return true;
  }
  return false;
}

// The nests of the region as a kernel's program: what others see are its arguments.
static void view_region(const fuser* f, const region* r, pb_arena* arena, pb_program* view) {
  pb_nest_list list = {0};
  for (int k = 0; k < r->count; ++k) pb_groups_add(f->groups, r->groups[k], arena, &list);
  pb_program_view(f->groups->program, list.nests, list.count, arena, view);
  for (int v = 0; v < view->value_count; ++v)
    view->values[v].argument = view->values[v].kind == PB_VALUE_LOCAL ? -1 : v;
}

static int shared_loops(const fuser* f, const region* r) {
  pb_arena scratch = {0};
  pb_program view;
  pb_stages stages;
  int shared = 0, given = 0;
  view_region(f, r, &scratch, &view);
  for (int v = 0; v < view.value_count; ++v) given += view.values[v].kind != PB_VALUE_LOCAL;
  int most =
      f->unit->chip->arguments && f->unit->chip->arguments < MOST_VALUES ? f->unit->chip->arguments : MOST_VALUES;
  if (given <= most && view.value_count - given <= MOST_VALUES && pb_stages_of(f->unit->chip, &view, &scratch, &stages))
    shared = stages.shared;
  pb_arena_free(&scratch);
  return shared;
}

// The group that makes the value for the region alone, -1: none.
static int maker_for(const fuser* f, const region* r, int value) {
  const pb_program* p = f->groups->program;
  int maker = -1;
  if (p->values[value].kind != PB_VALUE_LOCAL) return -1;
  PB_FOR_USES (n, p, value) {
    int group = f->groups->of[n];
    if (is_in(r, group)) continue;
    if (!pb_program_writes(p, n, value) || (maker >= 0 && maker != group)) return -1;
    maker = group;
  }
  if (maker < 0 || f->staged[maker] || f->groups->last[maker] >= f->groups->last[r->groups[0]]) return -1;
  return pb_program_stored(p, f->groups->last[maker]) == value && !stays_alone(f, maker) ? maker : -1;
}

// One group more that the region has all the readers of. The first one may cost loops: a product's rows and columns are
// both its own, and what makes its rows knows no columns.
static bool grow(const fuser* f, region* r) {
  const pb_program* p = f->groups->program;
  if (r->count == MOST_GROUPS) return false;
  for (int k = 0; k < r->count; ++k)
    for (int n = f->groups->first[r->groups[k]]; n >= 0; n = f->groups->next[n])
      for (int a = 0; a + 1 < p->nests[n].access_count; ++a) {
        int maker = maker_for(f, r, p->value_of[n][a]);
        if (maker < 0) continue;
        region with = *r;
        with.groups[with.count++] = maker;
        with.shared = shared_loops(f, &with);
        if (!with.shared || (r->count > 1 && with.shared < r->shared)) continue;
        *r = with;
        return true;
      }
  return false;
}

// Cycles of some nests as a kernel of one stage. false: it is of no form that has a plan.
static bool cycles_of(const fuser* f, const pb_program* view, pb_arena* arena, int64_t* cycles) {
  pb_plan plan;
  if (!pb_plan_program_again(f->unit, view, arena, &plan)) return false;
  *cycles = plan.cycles;
  return true;
}

// Cycles until all threads have met between two kernels.
static int64_t between_kernels(const pb_chip* chip) { return chip->level_count ? chip->levels[0].sync_cycles : 0; }

// Cycles of the region's groups as kernels of their own, with what they pass on going through memory; 0: one of them is
// of no form that has a plan.
static int64_t cycles_apart(const fuser* f, const region* r, const pb_program* whole, pb_arena* arena) {
  int64_t cycles = (r->count - 1) * between_kernels(f->unit->chip), one_group;
  pb_core_facts facts;
  pb_core_facts_of(f->unit->chip, NULL, &facts);
  for (int k = 0; k < r->count; ++k) {
    region one = {.groups = {r->groups[k]}, .count = 1};
    pb_program view;
    view_region(f, &one, arena, &view);
    if (!cycles_of(f, &view, arena, &one_group)) return 0;
    cycles += one_group;
  }
  for (int v = 0; v < whole->value_count && f->cached; ++v) { // movers' cycles are in the kernels' already
    const pb_value* value = &whole->values[v];
    if (value->kind != PB_VALUE_LOCAL) continue;
    int64_t bytes = pb_value_bytes(value);
    cycles += bytes * (1 + pb_program_readers(whole, v)) / pb_core_rate(&facts, bytes);
  }
  return cycles;
}

static bool is_faster(const fuser* f, const region* r, const pb_program* whole, pb_arena* arena) {
  pb_stages stages;
  pb_stage_plan plan;
  if (!pb_stages_of(f->unit->chip, whole, arena, &stages) ||
      !pb_stage_plan_again(f->unit, &stages, false, arena, &plan))
    return false;
  int64_t apart = cycles_apart(f, r, whole, arena);
  return !apart || plan.loops.cycles < apart;
}

static bool pays(fuser* f, const region* r) {
  pb_arena scratch = {0};
  pb_text text = {0};
  pb_program whole;
  view_region(f, r, &scratch, &whole);
  for (int v = 0; v < whole.value_count; ++v)
    whole.values[v].argument = whole.values[v].kind == PB_VALUE_LOCAL ? -1 : v;
  pb_program_print_view(&whole, &scratch, &text);
  int known = pb_table_find(&f->texts, text.data, text.length);
  if (known < 0) {
    known = is_faster(f, r, &whole, &scratch);
    pb_table_add(&f->texts, pb_strdup(&f->unit->pass, text.data), text.length, known);
  }
  pb_text_free(&text);
  pb_arena_free(&scratch);
  return known > 0;
}

pb_status pb_fuse_stages(pb_unit* unit, pb_groups* groups, bool* staged) {
  fuser f = {.unit = unit, .groups = groups, .staged = staged, .cached = pb_chip_runs_code(unit->chip)};
  for (int n = groups->program->nest_count - 1; n >= 0; --n) {
    int group = groups->of[n];
    if (groups->last[group] != n || staged[group] || stays_alone(&f, group)) continue;
    region r = {.groups = {group}, .count = 1};
    while (grow(&f, &r)) continue;
    for (; r.count > 1 && !pays(&f, &r); --r.count) continue; // with fewer groups, perhaps
    for (int k = 1; k < r.count; ++k) pb_groups_join(groups, r.groups[k], group);
    staged[group] = r.count > 1;
  }
  pb_table_free(&f.texts);
  return PB_OK;
}
