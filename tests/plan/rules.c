// The planner's searches against exhaustive ones of what their own rules allow, on seeded small kernels: half of them
// for simnpu, half for cpu:v3. The plan must cost what the cheapest of all does; every
// candidate's cost is that of a tree of its own, no bound leaves any out.
//
// Queues: rows, then blocks, then terms, in the steps that pb_next_step names; x in each tile of rows, or all of
// it once, brought by the rows that divide it; the weights once or for each chunk of the terms, one copy of x or two,
// two of results. Of these the plan is the cheapest but for its third and fourth copies, which the search adds one at a
// time: no further one may be cheaper. Then homes move past a loop each as long as that gains one part of 50: a plan is
// cheaper by that than the cheapest of these, and no further move gains as much. Printed is by how much the best of all
// numbers of copies would be.
//
// Cores: the search has two steps by measured reason (plan_registers.c), and each is held to its own optimum. The tile
// of sums costs the least of all tiles of nearly one size that fit the registers, undivided, each operand with the
// caches to itself; then the way in which that tile's plan is shared among threads and its sum taken in parts costs the
// least of all, but for what more parts must gain to be taken. Printed is by how much the best of both at once would be
// cheaper by the model.
//
//   plan_rules [KERNELS] [SEED] [--all]
#include "core/driver/pipeline.h"
#include "core/s3/plan/plan_search.h"
#include "core/s3/tree/cost_cores.h"
#include "products.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COPIES = 4, MOVED = 50 };

typedef struct search {
  const pb_chip* chip;
  const kernel* k;
  pb_plan_dims dims; // of cores' kernels
  int64_t best;      // cycles, -1: no plan is legal
  long legal;
} search;

static int64_t cost(search* s, pb_plan plan) {
  pb_arena scratch = {0};
  const char* why;
  int64_t cycles = pb_plan_cost(s->chip, &s->k->group, &plan, &scratch, &why) ? plan.cycles : -1;
  pb_arena_free(&scratch);
  if (cycles < 0) return cycles;
  ++s->legal;
  if (s->best < 0 || cycles < s->best) s->best = cycles;
  return cycles;
}

// ---- queues ----

// The dims of the products that kernel_text writes.
enum { BLOCKS = 0, ROWS = 1, TERMS = 3 };

static void add_axis(pb_plan* plan, int dim, int64_t step, int64_t whole) {
  if (step < whole) plan->axes[plan->axis_count++] = (pb_axis){dim, step, 0};
}

// `most` copies of what moves in again.
static void all_copies(search* s, pb_plan plan, bool x_again, bool w_again, int most) {
  for (pb_plan_home_of(&plan, PB_OF_X)->copies = 1; pb_plan_copies(&plan, PB_OF_X) <= (x_again ? most : 1);
       ++pb_plan_home_of(&plan, PB_OF_X)->copies)
    for (pb_plan_home_of(&plan, PB_OF_W)->copies = w_again ? 2 : 1;
         pb_plan_copies(&plan, PB_OF_W) <= (w_again ? most : 1); ++pb_plan_home_of(&plan, PB_OF_W)->copies)
      for (pb_plan_home_of(&plan, PB_OF_RESULT)->copies = 2; pb_plan_copies(&plan, PB_OF_RESULT) <= most;
           ++pb_plan_home_of(&plan, PB_OF_RESULT)->copies)
        (void)cost(s, plan);
}

static void all_chunks(search* s, const pb_plan* rows, const int64_t* extent, int most) {
  pb_plan plan = *rows;
  bool x_again = pb_plan_around(&plan, PB_OF_X) > 0;
  for (int64_t chunk = extent[TERMS]; chunk >= 1; chunk = pb_next_step(extent[TERMS], chunk)) {
    pb_plan with = plan;
    add_axis(&with, TERMS, chunk, extent[TERMS]);
    int inside = with.axis_count;
    add_axis(&with, TERMS, 1, chunk);
    pb_plan_home_of(&with, PB_OF_W)->around = 0;
    if (chunk == extent[TERMS]) all_copies(s, with, x_again, false, most);
    pb_plan_home_of(&with, PB_OF_W)->around = inside;
    all_copies(s, with, x_again, true, most);
  }
}

static void all_blocks(search* s, int64_t rows, int most) {
  const int64_t* extent = s->k->group.main.extent;
  pb_plan plan = {.axis_count = 0};
  pb_plan_begin(&plan);
  pb_plan_home_of(&plan, PB_OF_RESULT)->copies = 2;
  add_axis(&plan, ROWS, rows, extent[ROWS]);
  pb_plan_home_of(&plan, PB_OF_X)->around = plan.axis_count;
  add_axis(&plan, BLOCKS, 1, extent[BLOCKS]);
  pb_plan_home_of(&plan, PB_OF_RESULT)->around = plan.axis_count;
  all_chunks(s, &plan, extent, most);
}

static void all_of_queues(search* s, int most) {
  const int64_t* extent = s->k->group.main.extent;
  for (int64_t rows = extent[ROWS]; rows >= 1; rows = pb_next_step(extent[ROWS], rows)) all_blocks(s, rows, most);
}

// ---- cores ----

// What a tile has of every dim.
typedef struct tile_of {
  int64_t tile[PB_NEST_DIMS];
} tile_of;

// Of a plan, but for the parts that its sum is taken in.
static tile_of tile_in(const pb_vkernel* k, const pb_plan* plan) {
  tile_of t = {{0}};
  for (int d = 0; d < k->main->dim_count; ++d) t.tile[d] = k->main->extent[d];
  for (int b = 0; b < plan->axis_count; ++b) {
    int d = plan->axes[b].dim;
    if (k->is_sum[d] && b < pb_plan_around(plan, PB_OF_RESULT)) continue; // the sum in parts
    t.tile[d] = plan->axes[b].step;
  }
  return t;
}

// The plan of a tile: parts of the outermost sum, columns and rows, one inside the other, sums by as much as is written
// out; of what is no sum the tile is whole registers.
static pb_plan axes_of(const search* s, tile_of t, int64_t blocks, bool columns_inside) {
  const pb_vkernel* k = s->k->group.registers;
  const int64_t* extent = k->main->extent;
  pb_plan plan = {.axis_count = 0};
  pb_plan_begin(&plan);
  if (blocks > 1) add_axis(&plan, s->dims.sums[0], extent[s->dims.sums[0]] / blocks, extent[s->dims.sums[0]]);
  for (int rows_now = columns_inside, turn = 0; turn < 2; ++turn, rows_now = !rows_now) {
    const int* dims = rows_now ? s->dims.rows : s->dims.columns;
    for (int n = 0; n < (rows_now ? s->dims.row_count : s->dims.column_count); ++n)
      add_axis(&plan, dims[n], t.tile[dims[n]], extent[dims[n]]);
  }
  pb_plan_home_of(&plan, PB_OF_RESULT)->around = plan.axis_count;
  for (int n = 0; n < s->dims.sum_count; ++n) {
    int d = s->dims.sums[n];
    add_axis(&plan, d, t.tile[d], n || blocks == 1 ? extent[d] : extent[d] / blocks);
  }
  pb_plan_home_of(&plan, PB_OF_X)->around = pb_plan_home_of(&plan, PB_OF_W)->around = plan.axis_count;
  return plan;
}

static int64_t cost_apart(search* s, pb_plan plan) {
  pb_arena scratch = {0};
  pb_tiling* t = PB_NEW(&scratch, pb_tiling);
  bool legal = pb_tiling_build(s->chip, &s->k->group, &plan, &scratch, t) &&
               !pb__registers_unfit(s->chip, s->k->group.registers, &plan);
  t->apart = true;
  legal = legal && pb_tree_cost(t, &plan);
  pb_arena_free(&scratch);
  if (!legal) return -1;
  ++s->legal;
  if (s->best < 0 || plan.cycles < s->best) s->best = plan.cycles;
  return plan.cycles;
}

// In the order of the search, whose first candidates these are: the sums not written out.
static int64_t cost_of_tiles(search* s, tile_of t) {
  const pb_vkernel* k = s->k->group.registers;
  for (int d = 0; d < k->main->dim_count; ++d)
    if (k->is_sum[d] && d != k->group_dim && !pb_vkernel_inside_runs(k, d)) t.tile[d] = 1;
  return cost_apart(s, axes_of(s, t, 1, false));
}

// How many sums or values a tile may have.
static int64_t most_points(const search* s) {
  const pb_vkernel* k = s->k->group.registers;
  int64_t registers = pb__register_count(s->chip, k);
  if (k->lanes == 1) return 16;
  if (k->main->reduce == PB_SET) return 4;
  return k->insn.insn ? registers : registers / 2;
}

// All shares and parts of one tile; the cheapest, -1: none is legal.
static int64_t cost_of_parts(search* s, tile_of t) {
  static const int64_t parts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
  const pb_vkernel* k = s->k->group.registers;
  size_t count = s->k->group.alone ? 1 : sizeof parts / sizeof *parts;
  search all = *s;
  all.best = -1;
  for (int64_t blocks = 1; blocks <= 64; ++blocks)
    for (int inside = 0; inside < 2; ++inside) {
      int outer = s->dims.sums[0];
      if (blocks > 1 && (!s->dims.sum_count || k->main->extent[outer] % (blocks * t.tile[outer]))) continue;
      pb_plan plan = axes_of(s, t, blocks, inside);
      pb_arena scratch = {0};
      pb_tiling* tree = PB_NEW(&scratch, pb_tiling);
      bool built = pb_tiling_build(s->chip, &s->k->group, &plan, &scratch, tree);
      for (size_t r = 0; built && r < count && parts[r] <= tree->row_tiles; ++r)
        for (size_t c = 0; c < count && parts[c] <= tree->column_tiles; ++c) {
          pb_registers_share(k, &plan, false, parts[r]);
          pb_registers_share(k, &plan, true, parts[c]);
          (void)cost(&all, plan);
        }
      pb_arena_free(&scratch);
    }
  s->legal = all.legal;
  return all.best;
}

typedef struct of_cores {
  search undivided;
  int64_t both; // the best of all tiles in all parts
  tile_of tiles;
} of_cores;

static void all_tiles(of_cores* a, int d, int64_t points) {
  const pb_vkernel* k = a->undivided.k->group.registers;
  while (d >= 0 && !pb_vkernel_is_spatial(k, d)) --d;
  if (d < 0) {
    if (cost_of_tiles(&a->undivided, a->tiles) < 0) return;
    int64_t parts = cost_of_parts(&a->undivided, a->tiles);
    if (parts >= 0 && (a->both < 0 || parts < a->both)) a->both = parts;
    return;
  }
  int64_t steps = pb_vkernel_steps(k, d);
  for (int64_t t = 1; t <= steps && points * t <= most_points(&a->undivided); ++t) {
    if (pb_parts_of(steps, t).size != t) continue;
    a->tiles.tile[d] = t * pb_vkernel_unit(k, d);
    all_tiles(a, d - 1, points * t);
  }
  a->tiles.tile[d] = pb_vkernel_unit(k, d);
}

// ---- both ----

static double more_than(int64_t cycles, int64_t best) {
  return best > 0 ? 100.0 * (double)(cycles - best) / (double)best : 0;
}

// Up to `slack` dearer than the best.
static bool is_right(const char* what, int64_t found, const search* s, int64_t slack, bool all) {
  bool right = found >= s->best && found <= s->best + slack;
  if (!right || all)
    printf("%s %s: %lld cycles, the best of %ld legal %lld%s\n", s->chip->name, what, (long long)found, s->legal,
           (long long)s->best, right ? "" : ": NOT EQUAL");
  return right;
}

// Whether no home is cheaper by more than one part of MOVED past a loop, in or out; in, past one that walks its
// operand.
static bool homes_stay(search* one, const char* form) {
  const pb_plan* was = &one->k->plan;
  const pb_group* g = &one->k->group;
  const int access[] = {g->x, g->roles.w, g->main.access_count - 1};
  bool stay = true;
  for (int o = 0; o < PB_PLAN_OPERANDS; ++o) {
    int around = pb_plan_around(was, o);
    for (int to = around - 1; to <= around + 1; to += 2) {
      pb_plan plan = *was;
      bool past =
          to > around && (to > was->axis_count || !pb_access_uses(&g->main.access[access[o]], was->axes[around].dim));
      if (to < 0 || past) continue;
      pb_plan_home* home = pb_plan_home_of(&plan, o);
      *home = (pb_plan_home){to, !to ? 1 : home->copies > 1 ? home->copies : 2, home->kept};
      int64_t moved = cost(one, plan);
      if (moved < 0 || moved >= was->cycles - was->cycles / MOVED) continue;
      printf("%s %s: a home inside %d loops takes %lld cycles of %lld\n", one->chip->name, form, to, (long long)moved,
             (long long)was->cycles);
      stay = false;
    }
  }
  return stay;
}

static bool check_queues(const pb_chip* chip, const kernel* k, const char* form, bool all, double* most) {
  search two = {.chip = chip, .k = k, .best = -1}, four = two, one = two;
  all_of_queues(&two, 2);
  all_of_queues(&four, MOST_COPIES);
  pb_plan plan = k->plan;
  for (int o = 0; o < PB_PLAN_OPERANDS; ++o)
    for (int h = 0; h < plan.chain[o].count; ++h)
      if (plan.chain[o].home[h].copies > 2) plan.chain[o].home[h].copies = 2;
  bool right = k->plan.cycles < two.best * (MOVED - 1) / MOVED || is_right(form, cost(&one, plan), &two, 0, all);
  right &= homes_stay(&one, form);
  for (int what = 0; what < PB_PLAN_OPERANDS; ++what) {
    static const char* const names[] = {"x", "w", "results"};
    plan = k->plan;
    int* copies = &pb_plan_home_of(&plan, what)->copies;
    if (*copies < 2 || ++*copies > MOST_COPIES) continue;
    int64_t more = cost(&one, plan);
    if (more < 0 || more >= k->plan.cycles) continue;
    printf("%s %s: one more copy of %s takes %lld cycles of %lld\n", chip->name, form, names[what], (long long)more,
           (long long)k->plan.cycles);
    right = false;
  }
  double off = more_than(k->plan.cycles, four.best);
  if (off > *most) *most = off;
  return right;
}

static bool check_cores(const pb_chip* chip, const kernel* k, const char* form, bool all, double* most) {
  const pb_vkernel* v = k->group.registers;
  tile_of chosen = tile_in(v, &k->plan);
  of_cores a = {.undivided = {.chip = chip, .k = k, .best = -1}, .both = -1, .tiles = chosen};
  pb__plan_dims_of(chip, &k->group, &a.undivided.dims);
  search one = a.undivided, parts = one;
  all_tiles(&a, v->main->dim_count - 1, 1);
  int64_t found = cost_of_tiles(&one, chosen);
  bool right = is_right(form, found, &a.undivided, 0, all);
  parts.best = cost_of_parts(&parts, chosen);
  bool is_set = v->main->reduce == PB_SET;
  right &= is_right("  shared", k->plan.cycles, &parts, is_set ? 0 : parts.best / 64 + parts.best / 512, all);
  double more = more_than(k->plan.cycles, a.both);
  if (more > *most) *most = more;
  return right;
}

int main(int argc, char** argv) {
  int kernels = argc > 1 ? atoi(argv[1]) : 200, failed = 0;
  bool all = argc > 3 && !strcmp(argv[3], "--all");
  pb_diag diag = {0};
  pb_chip *queues = NULL, *cores = NULL;
  double of_queues = 0, of_both = 0;
  seed_draws(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
  if (pb_chip_find("simnpu", NULL, &diag, &queues) != PB_OK || pb_chip_find("cpu:v3", NULL, &diag, &cores) != PB_OK)
    return 1;
  MlirContext context = pb_context_create();
  for (int n = 0; n < kernels; ++n) {
    int form = n % 2 ? (int)draw(FORM_FLOATS, FORM_POINTS) : FORM_CODES;
    int64_t rows = form == FORM_WINDOW ? draw(2, 7) : draw(1, 4) * draw(1, 4), terms = draw(1, 4), blocks = draw(1, 4);
    if (form == FORM_FLOATS) terms *= draw(1, 12);
    char name[64];
    snprintf(name, sizeof name, "form %d, %lld x %lld x %lld", form, (long long)rows, (long long)terms,
             (long long)blocks);
    const pb_chip* chip = form == FORM_CODES ? queues : cores;
    kernel k;
    bool right = plan_kernel(context, chip, &diag, kernel_text(form, rows, terms, blocks), &k);
    if (!right) printf("%s: not planned\n", name);
    if (right && form != FORM_CODES && !k.group.registers) {
      printf("%s: not in registers\n", name);
      right = false;
    }
    if (right)
      right = form == FORM_CODES ? check_queues(chip, &k, name, all, &of_queues)
                                 : check_cores(chip, &k, name, all, &of_both);
    failed += !right;
    free_kernel(&k);
  }
  mlirContextDestroy(context);
  pb_chip_free(queues);
  pb_chip_free(cores);
  printf(
      "%d kernels, %d not the best of what the rules allow; cheaper at most: all copies at once %.1f%%, tile and parts "
      "at once %.1f%%\n",
      kernels, failed, of_queues, of_both);
  return failed > 0;
}
