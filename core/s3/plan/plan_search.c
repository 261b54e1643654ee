// How a candidate is judged: is it legal, can its tree be built, what does that add up to, and is it the cheapest.
#include "core/s3/plan/plan_search.h"

#include <stdio.h>

enum { PARTS_GAIN = 64 };

bool pb_plan_cost(const pb_chip* chip, const pb_group* group, pb_plan* plan, pb_arena* arena, const char** why) {
  pb_tiling* tiling = pb_alloc_raw(arena, sizeof(pb_tiling));
  bool built = pb_tiling_build(chip, group, plan, arena, tiling);
  *why = built && group->registers ? pb__registers_unfit(chip, group->registers, plan) : tiling->failure;
  if (*why) return false;
  bool fits = pb_tree_cost(tiling, plan);
  *why = tiling->failure;
  return fits;
}

bool pb_plan_fits(const pb_chip* chip, const pb_group* group, pb_plan* plan) {
  pb_arena scratch = {0};
  const char* why;
  bool fits = pb_plan_cost(chip, group, plan, &scratch, &why);
  pb_arena_free(&scratch);
  return fits;
}

// What a plan must gain over the best. Partial sums go through memory, which the model of cost knows roughly.
static int64_t margin(const pb_planner* p) {
  bool more_parts = p->shares && p->chunk < p->result->chunk;
  return p->gain ? pb_plan_price(&p->result->plan) / (more_parts ? PARTS_GAIN : p->gain) : 0;
}

static bool is_better(const pb_planner* p, const pb_plan* plan) {
  int64_t price = pb_plan_price(plan), best = pb_plan_price(&p->result->plan);
  if (!p->result->found || (p->takes_last && price == best)) return true;
  return price < best && price < best - margin(p);
}

// Keeps p->plan, which has been added up, if it is the best. Of an illegal one it keeps why (NULL: nobody knows).
static void judged(pb_planner* p, bool legal, const char* why) {
  pb_found* r = p->result;
  if (!legal && why) snprintf(r->why, sizeof r->why, "%s", why);
  if (!legal) return;
  if (is_better(p, &p->plan)) {
    r->plan = p->plan;
    r->chunk = p->chunk;
  }
  r->found = true;
  ++r->legal;
}

// Adds up the tree of the plan, whose tiles are shared as it says.
static void add_up(pb_planner* p, pb_tiling* tiling) {
  bool legal = pb_tree_cost(tiling, &p->plan);
  judged(p, legal, tiling->failure);
}

// The same as if no product were left out.
static void add_up_plain(const pb_planner* with, pb_vkernel* k, pb_tiling* tiling) {
  int borders = k->border_count;
  pb_planner p = *with;
  p.result = with->plain;
  k->border_count = 0;
  add_up(&p, tiling);
  k->border_count = borders;
}

// In how many parts tiles may be shared, after `parts`: powers of 2 and their halves more. Where there always are so
// many members, up to all tiles, as long as there is a member for each of the parts, `times` as many. 0: no more.
static int64_t next_parts(const pb_planner* p, int64_t parts, int64_t tiles, int64_t times) {
  enum { MOST_SHARES = 128 };
  const pb_level* level = pb_level_shared(p->chip);
  int64_t most = p->group->alone ? 1 : level && level->busy ? level->max / times : MOST_SHARES;
  int64_t next = parts < 2 ? parts + 1 : parts & (parts - 1) ? parts / 3 * 4 : parts / 2 * 3;
  if (tiles < most) most = tiles;
  if (next > most && level && level->busy) next = most;
  return next <= most && next > parts ? next : 0;
}

// The same for each way to share its tiles among threads that may take less than the best so far.
static void add_up_shares(pb_planner* p, const pb_vkernel* k, pb_tiling* tiling) {
  for (int64_t r = 1; r; r = next_parts(p, r, tiling->row_tiles, 1))
    for (int64_t c = 1; c; c = next_parts(p, c, tiling->column_tiles, r)) {
      pb_registers_share(k, &p->plan, false, r);
      pb_registers_share(k, &p->plan, true, c);
      bool added_up = r + c > 2;
      if (added_up && p->result->found && pb_tree_least(tiling, &p->plan) > pb_plan_price(&p->result->plan)) continue;
      add_up(p, tiling);
    }
}

void pb__plan_judge(pb_planner* p, const pb_plan* plan) {
  const char* why = NULL;
  pb_vkernel* k = p->group->registers;
  bool legal = true;
  p->plan = *plan;
  if (p->judge)
    legal = p->judge->cost(p->judge->user, &p->plan, &why);
  else if (k) // before a tree is built
    legal = !(why = pb__registers_unfit(p->chip, k, &p->plan));
  if (p->judge || !legal) {
    judged(p, legal, why);
    return;
  }
  pb_arena scratch = {0};
  pb_tiling* tiling = pb_alloc_raw(&scratch, sizeof(pb_tiling));
  bool built = pb_tiling_build(p->chip, p->group, &p->plan, &scratch, tiling);
  tiling->apart = k && !p->shares; // the tile alone is looked for
  if (!built)
    judged(p, false, tiling->failure);
  else if (p->shares)
    add_up_shares(p, k, tiling);
  else
    add_up(p, tiling);
  if (built && p->plain) add_up_plain(p, k, tiling);
  pb_arena_free(&scratch);
}
