// The cost model for cores with vector registers and caches. A register tile must keep its sums, the vectors that it
// multiplies and one more in registers; it is the better, the fewer loads and idle slots it has for its products.
// Blocks: what a loop comes back to should still be in a near cache (Goto and van de Geijn 2008; here only the level
// that a block fits in matters, since hardware decides what stays).
#include "core/s3/plan/vector_plan.h"

#include <stdio.h>
#include <string.h>

int pb_vplan_outer_sum(const pb_vkernel* k) {
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (k->is_sum[d] && d != k->group_dim) return d;
  return -1;
}

pb_vtiles pb_vplan_tiles(const pb_vkernel* k, const pb_vplan* plan, int d) {
  return pb_vkernel_balanced(pb_vkernel_steps(k, d), plan->tile[d]);
}

enum {
  TURN_CYCLES = 5,   // of one register of a square: about the logarithm of its edge, and a load
  BRANCH_CYCLES = 20 // lost where a loop ends
};

typedef struct facts {
  pb_vector_facts vector;
  int64_t load_rate[3]; // bytes a cycle of the caches, innermost first
  int64_t shared_rate;  // of what lies behind them
  int64_t latency;      // cycles until a sum can be added to again
  int64_t registers;    // that hold the sums
  int64_t register_bytes;
  int64_t products; // cycles of one step of one sum
  int64_t units;    // that take such steps at once
} facts;

static facts facts_of(const pb_chip* chip, const pb_vkernel* k) {
  facts f = {.vector = pb_vector_facts_of(chip), .shared_rate = 1, .latency = 4, .units = 1, .products = 1};
  int staging = pb_chip_staging(chip);
  for (int m = 0; m < chip->memory_count; ++m) {
    const pb_memory* memory = &chip->memories[m];
    for (int c = 0; c < 3; ++c)
      if ((memory->cached || m == staging) && memory->bytes == f.vector.cache[c])
        f.load_rate[c] = memory->bytes_per_cycle;
    bool shared = memory->scope == PB_SCOPE_CHIP && memory->cached;
    if (shared || (m == chip->system_memory && f.shared_rate == 1)) f.shared_rate = memory->bytes_per_cycle;
  }
  if (k->insn.insn) {
    f.latency = k->insn.insn->latency;
    f.units = k->insn.insn->units;
    f.products = k->insn.halves;
  }
  f.registers = f.vector.registers;
  f.register_bytes = f.vector.row_bytes;
  if (k->matrix.insn) {
    const pb_memory* file = &chip->memories[k->matrix.memory];
    f.register_bytes = file->row_bytes;
    f.registers = file->bytes / file->row_bytes;
    f.products = pb_matrix_cycles(&k->matrix, k->rows, k->depth);
  } else if (!k->insn.insn) {
    f.products = k->main.nest->expr_count + (k->turn_dim >= 0 ? TURN_CYCLES : 0);
  }
  return f;
}

// Bytes a cycle at which a block of this size is read again.
static int64_t rate_of(const facts* f, int64_t bytes) {
  for (int c = 0; c < 3; ++c)
    if (f->vector.cache[c] && f->load_rate[c] && bytes * 4 <= f->vector.cache[c] * 3) return f->load_rate[c];
  return f->shared_rate;
}

int64_t pb_vplan_rate(const pb_chip* chip, int64_t bytes) {
  static const pb_nest empty;
  const pb_vkernel none = {.lanes = 1, .turn_dim = -1, .main.nest = &empty};
  facts f = facts_of(chip, &none);
  return rate_of(&f, bytes);
}

static int64_t bytes_of(pb_type type) { return type == PB_I1 ? 1 : pb_type_bits(type) / 8; }

// Loads for one step of the sum over a tile, or all of them for nests without one.
static int64_t tile_loads(const pb_vkernel* k, const pb_vplan* plan) {
  int64_t loads = 0;
  for (int a = 0; a < pb_vkernel_store(&k->main); ++a) {
    int64_t one = 1;
    for (int d = 0; d < k->main.nest->dim_count; ++d)
      if (pb_vkernel_is_spatial(k, d) && k->main.access[a].stride[d]) one *= pb_vplan_tiles(k, plan, d).size;
    loads += one;
  }
  return loads;
}

static int64_t tile_points(const pb_vkernel* k, const pb_vplan* plan) {
  int64_t points = 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (pb_vkernel_is_spatial(k, d)) points *= pb_vplan_tiles(k, plan, d).size;
  return points;
}

// Registers that a tile keeps busy: its sums, the vectors of w that all rows use, one for x.
static int64_t tile_registers(const pb_vkernel* k, const pb_vplan* plan) {
  int64_t points = tile_points(k, plan), shared = 1;
  if (!k->insn.insn) return points + 2 * k->main.nest->access_count;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (pb_vkernel_is_spatial(k, d) && k->main.access[k->w].stride[d]) shared *= pb_vplan_tiles(k, plan, d).size;
  const pb_vaccess* x = &k->main.access[k->x];
  int64_t patterns = 0; // of the shuffles that make lanes of runs, about half of them in registers at a time
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (d != k->group_dim && pb_vkernel_inside_runs(k, d)) patterns += k->main.nest->extent[d];
  if (x->stride[k->lane_dim] || x->run) return points * 2 + 1 + patterns / 2; // x comes by vectors too
  // Those that hold matrices cannot be spilled, and the code generator orders loads as it likes: all of x's are there.
  if (k->matrix.insn) return points + shared + points / shared;
  return points + (shared + 1) * k->insn.halves;
}

// Registers in which one step over a tile computes the main nest's operations: one that takes a tensor's elements alone
// is made for each register of them, not for each of the tile's.
static int64_t tile_operations(const pb_vkernel* k, const pb_vplan* plan) {
  const pb_nest* nest = k->main.nest;
  bool moves[PB_NEST_EXPR][PB_NEST_DIMS];
  int64_t all = 0;
  for (int e = 0; e < nest->expr_count; ++e) {
    const pb_expr_node* node = &nest->expr[e];
    int64_t registers = 1;
    for (int d = 0; d < nest->dim_count; ++d) {
      moves[e][d] = node->op == PB_OP_LOAD ? k->main.access[node->operand].stride[d] != 0 : node->op == PB_OP_INDEX;
      for (int a = 0; a < 3 && node->args[a] >= 0; ++a) moves[e][d] |= moves[node->args[a]][d];
      if (moves[e][d] && pb_vkernel_is_spatial(k, d)) registers *= pb_vplan_tiles(k, plan, d).size;
    }
    all += registers;
  }
  return all;
}

static int64_t sum_steps(const pb_vkernel* k) {
  int64_t steps = 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (k->is_sum[d] && d != k->group_dim) steps *= k->main.nest->extent[d] / (d == k->depth_dim ? k->depth : 1);
  return steps;
}

static int64_t spatial_tiles(const pb_vkernel* k, const pb_vplan* plan, bool columns) {
  int64_t tiles = 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (pb_vkernel_is_spatial(k, d) && pb_vkernel_is_column(k, d) == columns) tiles *= pb_vplan_tiles(k, plan, d).count;
  return tiles;
}

// The summed dim along which a spatial dim's windows overlap, -1: none.
static int overlapping(const pb_vkernel* k, int d) {
  const int64_t* stride = k->main.access[k->x].stride;
  int found = -1;
  for (int s = 0; s < k->main.nest->dim_count; ++s)
    if (k->is_sum[s] && stride[s] > 0 && stride[d] % stride[s] == 0 &&
        stride[d] / stride[s] < k->main.nest->extent[s] && (found < 0 || stride[s] > stride[found]))
      found = s;
  return found;
}

// Cycles of a tile whose groups are put together of taps: each element of x that its windows cover is widened, flipped
// and moved to its places once, and each group is joined and multiplied.
static int64_t taps_cycles(const pb_vkernel* k, const pb_vplan* plan) {
  int64_t cover[PB_NEST_DIMS], elements = 1, taps = k->main.nest->extent[k->group_dim];
  for (int d = 0; d < k->main.nest->dim_count; ++d) cover[d] = k->is_sum[d] ? k->main.nest->extent[d] : 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d) {
    if (!pb_vkernel_is_spatial(k, d)) continue;
    int s = overlapping(k, d);
    int64_t size = pb_vplan_tiles(k, plan, d).size;
    if (s < 0)
      elements *= size;
    else
      cover[s] += (size - 1) * (k->main.access[k->x].stride[d] / k->main.access[k->x].stride[s]);
  }
  for (int d = 0; d < k->main.nest->dim_count; ++d) elements *= cover[d];
  return elements * (taps + 1) + tile_points(k, plan) * sum_steps(k) * 2;
}

// Cycles of the arithmetic and the loads of its operands from the nearest cache, over all tiles. A step is counted in
// turns of one of the units.
static int64_t compute_cycles(const facts* f, const pb_vkernel* k, const pb_vplan* plan) {
  int64_t points = tile_points(k, plan), loads = tile_loads(k, plan), steps = sum_steps(k);
  int64_t one = f->products;
  bool plain = !k->insn.insn && k->main.nest->reduce != PB_SET;
  int64_t products = plain ? tile_operations(k, plan) + points : points * one,
          least = k->main.nest->reduce == PB_SET ? 0 : f->latency * f->units;
  int64_t load_rate = f->load_rate[0] ? f->load_rate[0] : 1;
  int64_t load_cycles = (loads * f->register_bytes * f->units + load_rate - 1) / load_rate;
  int64_t step = products;
  if (k->lanes == 1) load_cycles = loads;
  if (load_cycles > step) step = load_cycles;
  if (least > step) step = least;
  int64_t tail = 0, edges = 6; // finding the tile
  for (int t = 0; t < k->tail_count; ++t) tail += k->tails[t].nest->expr_count;
  // The average tile is a little smaller than the largest.
  int64_t tiles = spatial_tiles(k, plan, false) * spatial_tiles(k, plan, true), all = 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (pb_vkernel_is_spatial(k, d)) all *= pb_vkernel_steps(k, d);
  int64_t finish = all * (tail + 2) * (k->matrix.insn ? k->rows : 1) + tiles * edges;
  // From the second block of the sums on, a tile's are loaded, two a cycle, and stored, one a cycle; and each block
  // ends in a branch that nobody foresees.
  finish += (plan->sum_blocks - 1) * tiles * (points * 3 / 2 + BRANCH_CYCLES);
  if (k->taps) return tiles * taps_cycles(k, plan) + finish;
  int64_t turns = step == products && !plain ? all * one * steps : tiles * step * steps;
  return (turns + f->units - 1) / f->units + finish;
}

static int64_t access_bytes(const pb_vkernel* k, int a) {
  int64_t elements = 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (k->main.access[a].stride[d]) elements *= k->main.nest->extent[d];
  return elements * bytes_of(k->main.access[a].type);
}

// Transfers from caches further out. Windows overlap in x: its bytes are the tensor's, not the accesses'.
static int64_t traffic_cycles(const facts* f, const pb_vkernel* k, const pb_vplan* plan) {
  const pb_nest* nest = k->main.nest;
  if (!k->insn.insn) return 0;
  int64_t w = access_bytes(k, k->w), x = pb_access_elements(&nest->access[k->x]) * bytes_of(k->main.access[k->x].type);
  int64_t all = access_bytes(k, k->x);
  if (all < x) x = all;
  int64_t rows = spatial_tiles(k, plan, false), columns = spatial_tiles(k, plan, true), blocks = plan->sum_blocks;
  int64_t x_part = x / plan->row_chunks / blocks, w_part = w / plan->column_chunks / blocks;
  int64_t x_tile = x / rows / blocks, w_tile = w / columns / blocks;
  int64_t cycles = x * plan->column_chunks / rate_of(f, x) + w * plan->row_chunks / rate_of(f, w);
  // From the second turn on: the tile that stands still while the inner loop runs is near, the others come back once a
  // turn of the outer loop.
  int64_t x_again = x * (columns - plan->column_chunks), w_again = w * (rows - plan->row_chunks);
  cycles += x_again / rate_of(f, plan->columns_inside ? x_tile : x_part);
  cycles += w_again / rate_of(f, plan->columns_inside ? w_part : w_tile);
  int64_t y = 1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (!k->is_sum[d]) y *= nest->extent[d];
  y *= bytes_of(k->main.access[pb_vkernel_store(&k->main)].type);
  cycles += y * (2 * blocks - 1) / rate_of(f, y / plan->row_chunks);
  return cycles;
}

// Tiles in front of an item, when the parts of rows and columns are as the loops cut them.
static int64_t tiles_before(int64_t item, int64_t rows, int64_t columns, const pb_vplan* plan) {
  int64_t row = item / plan->column_chunks, column = item % plan->column_chunks;
  int64_t begin = row * rows / plan->row_chunks, end = (row + 1) * rows / plan->row_chunks;
  return begin * columns + (end - begin) * (column * columns / plan->column_chunks);
}

// Uneven shares of the work for 2, 4 and 8 threads, as a part of 1024 that is lost on average.
static int64_t imbalance(int64_t rows, int64_t columns, const pb_vplan* plan) {
  int64_t lost = 0, items = plan->row_chunks * plan->column_chunks;
  for (int64_t threads = 2; threads <= 8; threads *= 2) {
    int64_t most = 1;
    for (int64_t t = 0; t < threads; ++t) {
      int64_t share = tiles_before(items * (t + 1) / threads, rows, columns, plan) -
                      tiles_before(items * t / threads, rows, columns, plan);
      if (share > most) most = share;
    }
    lost += 1024 - 1024 * rows * columns / (most * threads);
  }
  return lost / 3;
}

static bool tiles_cost(const pb_chip* chip, const pb_vkernel* k, pb_vplan* plan, const char** why) {
  facts f = facts_of(chip, k);
  const pb_nest* nest = k->main.nest;
  for (int d = 0; d < nest->dim_count; ++d) {
    int64_t most = k->is_sum[d] ? nest->extent[d] : pb_vkernel_steps(k, d);
    *why = "a tile is not between 1 and its dim's extent";
    if (plan->tile[d] < 1 || plan->tile[d] > most) return false;
    *why = "an unrolled dim is not whole turns";
    if (k->is_sum[d] && nest->extent[d] % plan->tile[d]) return false;
    *why = "channels inside runs of lanes are not written out";
    if (pb_vkernel_inside_runs(k, d) && plan->tile[d] < nest->extent[d]) return false;
    *why = "a square has more rows than lanes";
    if (d == k->turn_dim && plan->tile[d] > k->lanes) return false;
    *why = "a matrix is cut";
    if (d == k->depth_dim && plan->tile[d] % k->depth) return false;
  }
  *why = "a tile needs more registers than there are";
  if (k->main.nest->reduce != PB_SET && tile_points(k, plan) > 1 && tile_registers(k, plan) > f.registers) return false;
  int64_t rows = spatial_tiles(k, plan, false), columns = spatial_tiles(k, plan, true);
  *why = "more parts than tiles";
  if (plan->row_chunks < 1 || plan->row_chunks > rows || plan->column_chunks < 1 || plan->column_chunks > columns)
    return false;
  int outer = pb_vplan_outer_sum(k);
  *why = "the sum cannot be taken in parts";
  if (plan->sum_blocks < 1 || (plan->sum_blocks > 1 && !pb_vplan_can_block(k))) return false;
  if (plan->sum_blocks > 1 && nest->extent[outer] % (plan->sum_blocks * plan->tile[outer])) return false;
  int64_t compute = compute_cycles(&f, k, plan), moves = traffic_cycles(&f, k, plan);
  int64_t busy = compute > moves ? compute + moves / 8 : moves + compute / 8;
  plan->cycles = busy + (k->alone ? 0 : busy * imbalance(rows, columns, plan) / 1024);
  plan->bound = compute > moves ? "compute" : "memory";
  *why = NULL;
  return true;
}

bool pb_vplan_can_block(const pb_vkernel* k) {
  const pb_vaccess* result = pb_vkernel_result(k);
  return pb_vplan_outer_sum(k) >= 0 && k->insn.insn && !k->matrix.insn && result->type == PB_F32 &&
         k->main.access[pb_vkernel_store(&k->main)].type == PB_F32;
}

typedef struct search {
  const pb_chip* chip;
  const pb_vkernel* k;
  pb_vplan plan, best;
  bool found;
} search;

static void consider(search* s) {
  const char* why;
  pb_vplan plan = s->plan;
  if (!tiles_cost(s->chip, s->k, &plan, &why)) return;
  // Of tiles of values that are only set, equally good ones, the last one has the most neighbours.
  bool better = plan.cycles < s->best.cycles || (s->k->main.nest->reduce == PB_SET && plan.cycles == s->best.cycles);
  if (!s->found || better) s->best = plan;
  s->found = true;
}

static void search_tiles(search* s, int d, int64_t points, int64_t most) {
  const pb_vkernel* k = s->k;
  while (d >= 0 && !pb_vkernel_is_spatial(k, d)) --d;
  if (d < 0) {
    s->plan.row_chunks = s->plan.column_chunks = 1;
    consider(s);
    return;
  }
  int64_t steps = pb_vkernel_steps(k, d);
  for (int64_t t = 1; t <= steps && points * t <= most; ++t) {
    s->plan.tile[d] = t;
    if (pb_vplan_tiles(k, &s->plan, d).size == t) search_tiles(s, d - 1, points * t, most); // the balanced ones
  }
  s->plan.tile[d] = 1;
}

// How many steps of a summed dim to write out: a short window whole, else a divisor, while the code stays small. Of
// matrices one step: it keeps all their registers busy, and the code generator must not find loads to move up.
static void unroll(const pb_vkernel* k, pb_vplan* plan) {
  int64_t points = tile_points(k, plan), code = 1;
  for (int d = k->main.nest->dim_count - 1; d >= 0; --d) {
    if (!k->is_sum[d]) continue;
    plan->tile[d] = 1;
    bool inside = pb_vkernel_inside_runs(k, d);
    if (d == k->group_dim || inside) plan->tile[d] = k->main.nest->extent[d];
    if (k->matrix.insn && d == k->depth_dim) plan->tile[d] = k->depth;
    if (inside && d != k->group_dim) code *= plan->tile[d];
    if (d == k->group_dim || inside || code < 0 || k->matrix.insn) continue;
    int64_t extent = k->main.nest->extent[d], most = 256 / (points * code), best = 1;
    if (most > 16 / code) most = 16 / code;
    for (int64_t u = 1; u <= most && u <= extent; ++u)
      if (extent % u == 0) best = u;
    plan->tile[d] = best;
    code = best == extent ? code * best : -1; // a dim further out only when this one is gone
  }
}

static void search_blocks(search* s) {
  static const int64_t parts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
  pb_vplan tiles = s->best;
  size_t most = s->k->alone ? 1 : sizeof parts / sizeof *parts;
  int outer = pb_vplan_outer_sum(s->k);
  s->found = false;
  for (size_t r = 0; r < most; ++r)
    for (size_t c = 0; c < most; ++c)
      for (int64_t b = 1; b <= 64; ++b)
        for (int inside = 0; inside < 2; ++inside) {
          bool blocks = outer >= 0 && s->k->main.nest->extent[outer] % (b * tiles.tile[outer]) == 0;
          if (b > 1 && !blocks) continue;
          s->plan = tiles;
          s->plan.row_chunks = parts[r];
          s->plan.column_chunks = parts[c];
          s->plan.sum_blocks = b;
          s->plan.columns_inside = inside;
          consider(s);
        }
  if (!s->found) s->best = tiles;
}

static int64_t rows_of_square(const pb_vkernel* k) {
  int64_t extent = k->main.nest->extent[k->turn_dim];
  for (int64_t rows = k->lanes; rows * 2 >= k->lanes; rows /= 2)
    if (extent % rows == 0) return rows;
  return extent < k->lanes ? extent : k->lanes;
}

static void make_tiles(const pb_chip* chip, const pb_vkernel* k, pb_vplan* plan) {
  search s = {.chip = chip, .k = k, .plan = {.row_chunks = 1, .column_chunks = 1, .sum_blocks = 1, .bound = ""}};
  for (int d = 0; d < PB_NEST_DIMS; ++d) s.plan.tile[d] = d == k->depth_dim ? k->depth : 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (pb_vkernel_inside_runs(k, d)) s.plan.tile[d] = k->main.nest->extent[d];
  if (k->turn_dim >= 0) { // one square at a time, of whole registers where that leaves no rest
    s.plan.tile[k->turn_dim] = rows_of_square(k);
    consider(&s);
    search_blocks(&s);
    *plan = s.best;
    return;
  }
  int64_t registers = facts_of(chip, k).registers;
  int64_t most = k->lanes == 1 ? 16 : k->main.nest->reduce == PB_SET ? 4 : k->insn.insn ? registers : registers / 2;
  s.best = s.plan;
  search_tiles(&s, k->main.nest->dim_count - 1, 1, most);
  unroll(k, &s.best);
  search_blocks(&s);
  *plan = s.best;
}

void pb_vplan_make(const pb_chip* chip, const pb_vkernel* k, pb_plan* plan) {
  pb_vplan tiles;
  make_tiles(chip, k, &tiles);
  pb__vplan_bands(k, &tiles, plan);
}

bool pb_vplan_cost(const pb_chip* chip, const pb_vkernel* k, pb_plan* plan, const char** why) {
  pb_vplan tiles;
  if (!pb_vplan_of(k, plan, &tiles, why) || !tiles_cost(chip, k, &tiles, why)) return false;
  plan->cycles = tiles.cycles;
  plan->bound = tiles.bound;
  return true;
}
