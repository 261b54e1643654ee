// Groups that share loops become one kernel of several stages (stages.h), where that is predicted to be faster: what is
// between them then is as large as an iteration of those loops, and stays near. A kernel grows backwards from its last
// group by groups all of whose readers are in it: softmax by its sum, its numerators and its maximum, attention also by
// the product that makes the scores, an expansion, a depthwise convolution and a projection by all three. This is
// slicing-based fusion (PolyBlocks) with slices that never overlap: what a window takes from beside a slice lies in it
// too, as the loops along which windows overlap are no shared ones.
//
// First what multiplies by no constant weights, as what lies between scores and probabilities, or the passes of a norm,
// is most: as many groups as there are, if that saves anything. Then what is left, with products by weights, by what
// saves most. On cores these are products that follow each other, and no iteration has weights of its own: its tiles
// would be a block of columns wide, where each element of x serves one product. Each reads all of them again, so it
// takes several rows.
#include "core/base/table.h"
#include "core/s3/fusion/fusion.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/pads.h"
#include "core/s3/plan/plan.h"
#include "core/s3/tree/cost_cores.h"

#include <stdlib.h>

enum {
  MOST_GROUPS = 12, // in one kernel, and
  MOST_VALUES = 14, // tensors that it is given, and buffers
  MOST_WHOLE = 3    // groups that share no loop, so that all of what they pass on has to lie on the chip
};

typedef struct fuser {
  pb_unit* unit;
  pb_groups* groups;
  pb_table texts; // by the text of a kernel's nests the number of what is known
  int64_t* known; // cycles that they save as one
  size_t known_count, known_capacity;
  bool cached;  // memory is
  bool weights; // products by constants may be stages
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

// Whether the group is no stage: nests beside each other, which are one loop by themselves; a product by weights,
// unless these may be; borders around what another nest makes, and copies, but for those in front of a reduction, which
// its mover makes.
static bool stays_alone(const fuser* f, int group) {
  const pb_program* p = f->groups->program;
  bool reduces = f->groups->main[group] >= 0;
  for (int n = f->groups->first[group]; n >= 0; n = f->groups->next[n]) {
    bool pads = pb_pad_part(&p->nests[n]), copies = pb_nest_is_copy(&p->nests[n]),
         moved = (pads || copies) && !f->cached;
    if (pb_nest_is_beside(&p->nests[n])) return true;
    if (!(moved && pads && reduces) && (pb_program_is_fixed(p, n) || (moved && copies))) return true;
    if (!f->weights && pb_program_multiplies_weights(p, n)) return true;
  }
  return false;
}

// The nests of the region as a kernel's program: what others see are its arguments.
static void view_region(const fuser* f, const region* r, pb_arena* arena, pb_program* view) {
  pb_nest_list list = {0};
  for (int k = 0; k < r->count; ++k) pb_groups_add(f->groups, r->groups[k], arena, &list);
  pb_program_view(f->groups->program, list.nests, list.count, arena, view);
  for (int v = 0; v < view->value_count; ++v) view->values[v].argument = pb_program_is_local(view, v) ? -1 : v;
}

// Whether a shared loop walks weights, so that each iteration multiplies by others.
static bool parts_weights(const pb_stages* s) {
  const pb_program* p = s->program;
  for (int n = 0; n < p->nest_count; ++n) {
    if (!pb_program_multiplies_weights(p, n)) continue;
    for (int a = 0; a + 1 < p->nests[n].access_count; ++a)
      for (int k = 0; pb_program_is_const(p, n, a) && k < s->shared; ++k)
        if (pb_access_uses(&p->nests[n].access[a], s->dim[n][k])) return true;
  }
  return false;
}

// Loops that the region's stages share; -1: it is no kernel.
static int shared_loops(const fuser* f, const region* r) {
  pb_arena scratch = {0};
  pb_program view;
  pb_stages stages;
  int shared = -1;
  view_region(f, r, &scratch, &view);
  int given = pb_program_given(&view);
  int most =
      f->unit->chip->arguments && f->unit->chip->arguments < MOST_VALUES ? f->unit->chip->arguments : MOST_VALUES;
  if (given <= most && view.value_count - given <= MOST_VALUES && pb_stages_of(f->unit->chip, &view, &scratch, &stages))
    shared = stages.in_turn && parts_weights(&stages) ? -1 : stages.shared;
  pb_arena_free(&scratch);
  return shared;
}

// The group that makes the value for the region alone, -1: none.
static int maker_for(const fuser* f, const region* r, int value) {
  const pb_program* p = f->groups->program;
  int maker = -1;
  if (!pb_program_is_local(p, value)) return -1;
  PB_FOR_USES (n, p, value) {
    int group = f->groups->of[n];
    if (is_in(r, group)) continue;
    if (!pb_program_writes(p, n, value) || (maker >= 0 && maker != group)) return -1;
    maker = group;
  }
  if (maker < 0 || f->groups->staged[maker] || f->groups->last[maker] >= f->groups->last[r->groups[0]]) return -1;
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
        if (with.shared < 0 || (r->count > 1 && with.shared < r->shared)) continue;
        if (!with.shared && with.count > MOST_WHOLE) continue;
        *r = with;
        return true;
      }
  return false;
}

// Cycles until all threads have met behind a kernel. Those of the second time, which gain less, are taken as they will
// run: one of few cycles is one thread's, which waits for nobody.
static int64_t until_met(const fuser* f, const pb_plan* kernel) {
  int64_t cycles = f->unit->chip->level_count ? f->unit->chip->levels[0].sync_cycles : 0;
  return f->weights && kernel->cycles < 2 * cycles ? 0 : cycles;
}

// Adds the plan of one of the region's groups as a kernel of its own, last: nothing comes behind it. false: it is of no
// form that has a plan.
static bool add_alone(const fuser* f, int group, bool last, pb_plan* sum) {
  pb_arena scratch = {0};
  region one = {.groups = {group}, .count = 1};
  pb_program view;
  pb_plan plan;
  view_region(f, &one, &scratch, &view);
  bool planned = pb_plan_program_again(f->unit, &view, false, &scratch, &plan);
  for (int q = 0; q < f->unit->chip->unit_count && planned; ++q) sum->busy[q] += plan.busy[q];
  if (planned) sum->cycles += plan.cycles + (last ? 0 : until_met(f, &plan));
  pb_arena_free(&scratch);
  return planned;
}

// Cycles in which a value goes from one kernel to the next. Those of products by weights have what they bring and leave
// in their cycles, as far as caches hold it; but most of it comes from where other cores have left it.
static int64_t handing_on(const fuser* f, const pb_core_facts* facts, const pb_program* whole, int value) {
  int64_t bytes = pb_value_bytes(&whole->values[value]), readers = pb_program_readers(whole, value);
  if (f->weights) return bytes * readers / pb_core_rate_of(facts, 1, facts->shared->bytes_per_cycle);
  return bytes * (1 + readers) / pb_core_rate(facts, bytes);
}

// Cycles of the region's groups as kernels of their own, with what they pass on going through memory, and those in
// which each queue's unit works. false: one of them is of no form that has a plan.
static bool plan_apart(const fuser* f, const region* r, const pb_program* whole, pb_plan* apart) {
  pb_core_facts facts;
  pb_core_facts_of(f->unit->chip, NULL, &facts);
  *apart = (pb_plan){.cycles = 0};
  for (int k = 0; k < r->count; ++k)
    if (!add_alone(f, r->groups[k], k == 0, apart)) return false;
  bool in_caches = pb_chip_in_place(f->unit->chip); // else the kernels' cycles have what they bring and take out
  for (int v = 0; v < whole->value_count && in_caches; ++v)
    if (pb_program_is_local(whole, v)) apart->cycles += handing_on(f, &facts, whole, v);
  return true;
}

// Whether the queue has commands that do more than move.
static bool computes(const pb_chip* chip, int queue) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (chip->insns[i].unit == queue && !chip->insns[i].mover) return true;
  return false;
}

static bool gains(const fuser* f, int64_t fused, int64_t apart) {
  return f->cached && !f->weights ? fused < apart : pb_fusion_gains(fused, apart);
}

// Whether a unit that computes is at work nearly all the time: then nothing is left to gain, and the plans of fewer
// kernels, of which there are many, need not be looked at.
static bool leaves_nothing(const fuser* f, const pb_plan* apart) {
  for (int q = 0; q < f->unit->chip->unit_count; ++q)
    if (computes(f->unit->chip, q) && !gains(f, apart->busy[q], apart->cycles)) return true;
  return false;
}

// Cycles that one kernel saves; 0: none, or no more than predictions err by.
static int64_t cycles_saved(const fuser* f, const region* r, const pb_program* whole, pb_arena* arena) {
  pb_plan plan, apart;
  if (f->cached && f->weights && pb_program_products_by_weights(whole) < 2) return 0; // others were looked at before
  bool known = plan_apart(f, r, whole, &apart);
  if (known && leaves_nothing(f, &apart)) return 0;
  if (!pb_plan_program_again(f->unit, whole, true, arena, &plan)) return 0;
  if (!known) return INT64_MAX; // nothing else runs them
  return gains(f, plan.cycles, apart.cycles) ? apart.cycles - plan.cycles : 0;
}

static int64_t saved(fuser* f, const region* r) {
  pb_arena scratch = {0};
  pb_text text = {0};
  pb_program whole;
  view_region(f, r, &scratch, &whole);
  pb_program_print_view(&whole, &scratch, &text);
  int next = (int)f->known_count, known = pb_table_number(&f->texts, &f->unit->pass, text.data, text.length, next);
  if (known == next) PB_PUSH(f->known, f->known_count, f->known_capacity, cycles_saved(f, r, &whole, &scratch));
  pb_text_free(&text);
  pb_arena_free(&scratch);
  return f->known[known];
}

// The region behind the group that saves most: the whole one that it grows to, or fewer of its groups. Returns what it
// saves; 0: none saves anything.
static int64_t best_region(fuser* f, int group, region* best) {
  region r = {.groups = {group}, .count = 1};
  int64_t most = 0;
  while (grow(f, &r)) continue;
  for (*best = r; r.count > 1; --r.count) {
    int64_t cycles = saved(f, &r);
    if (cycles <= most) continue;
    most = cycles;
    *best = r;
    if (!f->weights) break; // more stages keep more inside: scores and probabilities, all of them
  }
  return most;
}

// Whether the groups in front of the region's last one save more without it.
static bool lead_better(fuser* f, const region* r, int64_t than) {
  region other;
  for (int k = 1; k < r->count && f->weights; ++k)
    if (best_region(f, r->groups[k], &other) > than) return true;
  return false;
}

// Takes the fills of the border around the group's result out of it, as a group of their own in front of it: they have
// none of the lines that its stages would share. Returns that one; -1: there is none.
static int leave_border(fuser* f, int group) {
  pb_groups* g = f->groups;
  int made = pb_program_stored(g->program, g->last[group]), border = -1;
  for (int *link = &g->first[group], n; (n = *link) >= 0;) {
    if (!pb_nest_is_fill(&g->program->nests[n]) || pb_program_stored(g->program, n) != made || n == g->last[group] ||
        n == g->main[group]) {
      link = &g->next[n];
      continue;
    }
    if (border < 0) {
      border = g->count++;
      g->first[border] = g->main[border] = -1;
    }
    *link = g->next[n];
    g->of[n] = border;
    g->last[border] = n;
    int* end = &g->first[border];
    while (*end >= 0) end = &g->next[*end];
    *end = n;
    g->next[n] = -1;
  }
  return border;
}

// The same as best_region, without the border around what the group makes if nothing is saved with it.
static int64_t best_without_border(fuser* f, int group, region* best) {
  int64_t saves = best_region(f, group, best);
  int border = saves || f->weights ? -1 : leave_border(f, group);
  if (border < 0) return saves;
  saves = best_region(f, group, best);
  if (saves) return saves;
  pb_groups_join(f->groups, border, group);
  --f->groups->count;
  return 0;
}

static void fuse(fuser* f) {
  pb_groups* groups = f->groups;
  for (int n = groups->program->nest_count - 1; n >= 0; --n) {
    int group = groups->of[n];
    if (groups->last[group] != n || groups->staged[group] || stays_alone(f, group)) continue;
    region r;
    int64_t saves = best_without_border(f, group, &r);
    if (!saves || lead_better(f, &r, saves)) continue;
    for (int k = 1; k < r.count; ++k) pb_groups_join(groups, r.groups[k], group);
    groups->staged[group] = true;
  }
}

void pb_fuse_stages(pb_unit* unit, pb_groups* groups) {
  fuser f = {.unit = unit, .groups = groups, .cached = !pb_chip_moves(unit->chip)};
  fuse(&f);
  f.weights = true;
  fuse(&f);
  pb_table_free(&f.texts);
  free(f.known);
}
