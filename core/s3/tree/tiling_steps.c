// Nests that reduce nothing whose instructions work on registers that nothing fills from outside: their tensors come in
// steps, DRAM -> scratchpad -> registers, and their results go back so. What stands here are the homes on the way, at
// the loops that the plan's chains say; the nearest ones stand beside the instructions (tiling_point.c).
#include "core/s3/tree/tiling_stage.h"
#include "core/select/cover.h"

#include <string.h>

// The memories by which the access, of main or of the point that is made of it, comes to a piece of the cover, or goes
// from its last one (`out`). Returns how many, that of the instruction among them.
static int path_of(const pb_tiling* t, const pb_cover* cover, const pb_access* access, bool out, int* homes) {
  int most = 1;
  for (int p = out ? cover->count - 1 : 0; p < cover->count; ++p) {
    const pb_insn* insn = cover->pieces[p].insn;
    for (int o = 0; o < insn->operand_count; ++o) {
      const pb_operand* window = &insn->operands[o];
      int path[PB_MAX_HOMES];
      if (window->memory < 0 || window->type != access->type || (o == insn->dest) != out) continue;
      if (pb_is_outside(&t->chip->memories[window->memory])) continue;
      int count = pb__tiling_homes_between(t, access, window->memory, out, path) + out;
      if (count <= most || count > PB_MAX_HOMES) continue;
      most = count;
      memcpy(homes, path, sizeof path);
    }
  }
  return most;
}

// All of a table is there, and a number is the same everywhere: they come in front.
static bool is_tensor(const pb_access* access) { return access->memref.ptr && !access->splat && !access->gathered; }

pb_point_homes pb_point_homes_of(const pb_chip* chip, const pb_group* group) {
  pb_point_homes most = {1, 1};
  pb_arena scratch = {0};
  pb_plan plan = {.axis_count = 0};
  pb_cover cover;
  pb_tile tile;
  pb_nest point;
  int homes[PB_MAX_HOMES];
  if (group->registers || group->reduces || group->main.expr_count == 1) return most;
  pb_tiling* t = PB_NEW(&scratch, pb_tiling);
  pb_plan_begin(&plan);
  pb_tiling_begin(chip, group, &plan, &scratch, t);
  pb__tile_whole(&group->main, &tile);
  pb__tiling_expand(t, &group->main, &group->main, &tile, &point);
  point.part = "point";
  bool found = pb__tiling_pieces(t, &point, -1, &cover);
  for (int a = 0; a < point.access_count && found; ++a) {
    bool out = a + 1 == point.access_count;
    if (!is_tensor(&point.access[a]) || (out && group->around.epilogue_count)) continue;
    int count = path_of(t, &cover, &point.access[a], out, homes), *of = out ? &most.result : &most.x;
    if (count > *of) *of = count;
  }
  pb_arena_free(&scratch);
  return most;
}

// The result's buffer, and what takes it from there to where it went before.
static bool take_out(pb_tiling* t, pb_nest* main, const pb_tile* tile, const pb_home_at* at, pb_nest* store) {
  int y = main->access_count - 1;
  pb_nest point;
  pb__tiling_expand(t, main, main, tile, &point);
  if (!pb__tiling_leaves_no_holes(t, &point.access[y], point.extent, at->level)) return false;
  (void)pb__tiling_home(t, main, y, tile, at, store, NULL);
  pb__tiling_turn(store, "store");
  return !t->failure;
}

// What the nest's instructions are, on what is left inside all loops.
static bool pieces_inside(pb_tiling* t, const pb_nest* main, const pb_tile* tile, int level, pb_cover* cover) {
  pb_tile inner = *tile;
  pb_nest point;
  for (; level < pb__tiling_levels(t); ++level) pb__tile_step(t, &inner, level);
  pb__tiling_expand(t, main, main, &inner, &point);
  point.part = "point";
  return pb__tiling_pieces(t, &point, -1, cover);
}

// Gives the access the home on its way that the chain has at this level. An operand of fewer steps has none here.
static bool bring(pb_tiling* t, pb_nest* main, int a, const pb_tile* tile, int level, const pb_cover* cover,
                  const pb_chain* chain, int k, pb_nest* move) {
  bool out = a + 1 == main->access_count;
  int homes[PB_MAX_HOMES], steps = path_of(t, cover, &main->access[a], out, homes);
  if (chain->home[k].around != level || steps < chain->count - k) return false;
  const pb_home_at at = {level, homes[out ? steps - 2 : 0], chain->home[k].copies, .name = out ? "result" : "operand"};
  if (out ? !take_out(t, main, tile, &at, move) : !pb__tiling_home(t, main, a, tile, &at, move, NULL)) return false;
  if (!t->failure) t->buffers[main->access[a].buffer].passes = true;
  return !t->failure;
}

// Whether the chain has homes on the way at this level.
static bool has_homes(const pb_chain* chain, int level) {
  bool any = false;
  for (int k = 0; k + 1 < chain->count; ++k) any |= chain->home[k].around == level;
  return any;
}

bool pb__steps_bring(pb_tiling* t, pb_nest* main, const pb_tile* tile, int level, pb_nest** stores, int* count) {
  const pb_chain *x = &t->plan->chain[PB_OF_X], *result = &t->plan->chain[PB_OF_RESULT];
  bool misses_x = has_homes(x, level), misses_result = has_homes(result, level);
  pb_cover cover;
  *count = 0;
  if (!misses_x && !misses_result) return true;
  if (!pieces_inside(t, main, tile, level, &cover)) return false;
  for (int a = 0; a < main->access_count; ++a) {
    bool out = a + 1 == main->access_count;
    const pb_chain* chain = out ? result : x;
    for (int k = 0; k + 1 < chain->count && !t->failure; ++k) {
      pb_nest load, *move = out ? pb_alloc_raw(t->arena, sizeof *move) : &load;
      if (!bring(t, main, a, tile, level, &cover, chain, k, move)) continue;
      *(out ? &misses_result : &misses_x) = false;
      if (out) stores[(*count)++] = move;
      if (!out) pb__tiling_add(t, level, move);
    }
  }
  if (misses_x) return pb__tiling_fail(t, "x has more homes than steps by which it comes");
  if (misses_result) return pb__tiling_fail(t, "the result has more homes than steps by which it goes");
  return !t->failure;
}
