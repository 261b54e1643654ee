// What one nest of a register tile takes on a core, and what its tensors bring from caches further out. A core issues
// in order and hides latency out of order: a step of a sum takes as long as the busiest of its arithmetic, its loads
// from the nearest cache and the time until a sum can be added to again. What a loop comes back to is read again from
// the nearest cache that holds what was touched meanwhile (Goto and van de Geijn 2008; here only the level that it fits
// in matters, since hardware decides what stays).
#include "core/s3/tree/cost_cores.h"

#include "core/s3/tree/cost.h"

#include <string.h>

enum {
  TURN_CYCLES = 5,   // of one register of a square: about the logarithm of its edge, and a load
  TILE_CYCLES = 6,   // finding a tile
  STORE_CYCLES = 2,  // a register, on its way to its tensor
  UNFOLLOWED = 4096, // a page: bytes of a run of lines that come before prefetchers follow it
  FOLLOWED = 12,     // runs of lines, each in pages of its own, that prefetchers follow at a time
  LOST_CYCLES = 14,  // for each line of those that are more
  SUSTAINED = 4,     // of the rate at which weights come once, those that come again and again get one part of so many
  SEEN_LOADS = 8,    // of loads beside arithmetic, and the other way round, one of so many is not hidden
  MOST_WALKS = PB_NEST_DIMS + 2 * PB_NEST_OUTERS
};

void pb_core_facts_of(const pb_chip* chip, const pb_vkernel* k, pb_core_facts* f) {
  *f = (pb_core_facts){.kernel = k, .vector = pb_vector_facts_of(chip), .latency = 4, .units = 1, .products = 1};
  f->shared = &chip->memories[chip->system_memory];
  f->members = pb_level_shared(chip) ? pb_level_shared(chip)->busy : 0;
  for (int m = 0; m < chip->memory_count; ++m)
    if (chip->memories[m].scope == PB_SCOPE_CHIP && chip->memories[m].cached) f->shared = &chip->memories[m];
  if (f->vector.near[0] && f->vector.near[0]->cached) f->line = f->vector.near[0]->line_bytes;
  bool matrices = k && k->matrix.product.insn;
  int memory = matrices ? k->matrix.memory : f->vector.memory;
  if (memory >= 0) {
    const pb_memory* file = &chip->memories[memory];
    f->register_bytes = file->row_bytes;
    f->registers = file->bytes / file->row_bytes;
  }
  if (k && k->insn.insn) {
    f->latency = k->insn.insn->latency;
    f->units = k->insn.insn->units;
  }
  if (matrices) f->products = pb_matrix_cycles(&k->matrix, k->rows, k->depth);
}

// A block leaves a quarter of a cache to what passes by.
static bool holds(const pb_core_facts* f, int cache, int64_t bytes) {
  const pb_memory* near = f->vector.near[cache];
  return near && near->bytes_per_cycle && bytes * 4 <= near->bytes * 3;
}

int64_t pb_core_rate_of(const pb_core_facts* f, int cache, int64_t without) {
  const pb_memory* near = f->vector.near[cache];
  return near && near->bytes_per_cycle ? near->bytes_per_cycle : without;
}

int64_t pb_core_rate(const pb_core_facts* f, int64_t bytes) {
  for (int c = 0; c < 3; ++c)
    if (holds(f, c, bytes)) return f->vector.near[c]->bytes_per_cycle;
  return f->shared->bytes_per_cycle;
}

// ---- what loops touch ----

// A loop as an access sees it: elements from one of its iterations to the next, and how many iterations.
typedef struct walk {
  int64_t step, iterations;
  bool again; // iterations of the same axis came before: what none of its iterations moves has been read already
} walk;

// Those of a nest itself.
static void own_walks(const pb_nest* nest, const pb_access* access, walk* own) {
  for (int d = 0; d < nest->dim_count; ++d) own[d] = (walk){access->index[0].coef[d], nest->extent[d], false};
}

// Bytes of the lines that some loops touch, and what they take up of the innermost cache: more, where steps between
// lines that are held at a time leave them to fewer of its sets.
typedef struct footprint {
  int64_t bytes, room, run; // run: bytes from its first element to the last one of its neighbours,
  int64_t reach;            // and to the last one of lines no more than one apart
} footprint;

// Lines that begin `step` bytes apart and fall on the same set, of so many.
static int64_t lines_in_set(const pb_core_facts* f, int64_t step, int64_t count) {
  if (!f->line) return 1;
  int64_t sets = f->vector.way / pb_gcd(f->vector.way, step);
  return (count + sets - 1) / sets;
}

// From the smallest steps on: loops that begin inside what is touched add to it, others find it that often.
static footprint touched(const pb_core_facts* f, const walk* walks, int count, int64_t bytes) {
  walk sorted[MOST_WALKS];
  int used = 0;
  for (int k = 0; k < count; ++k) {
    walk one = walks[k];
    if (!one.step || one.iterations < 2) continue;
    one.step = (one.step < 0 ? -one.step : one.step) * bytes; // backwards it touches as many
    int at = used++;
    for (; at > 0 && sorted[at - 1].step > one.step; --at) sorted[at] = sorted[at - 1];
    sorted[at] = one;
  }
  int64_t line = f->line ? f->line : bytes, run = bytes, reach = bytes, units = 1, unit = 0, span = 1, deep = 1;
  for (int k = 0; k < used; ++k) {
    int64_t step = sorted[k].step, iterations = sorted[k].iterations;
    if (step <= reach + line) reach += step * (iterations - 1);
    if (!unit && step <= (run > line ? run : line)) { // in the same line, or the next one
      run += step * (iterations - 1);
    } else if (unit && step <= unit * span) {
      span += step / unit * (iterations - 1);
    } else {
      if (unit) deep *= lines_in_set(f, unit, span);
      units *= span;
      unit = step;
      span = iterations;
    }
  }
  if (unit) deep *= lines_in_set(f, unit, span);
  footprint touched = {.run = run, .reach = reach, .bytes = (run + line - 1) / line * line * units * span};
  touched.room = f->line && deep > f->vector.ways ? deep * f->vector.way : 0;
  if (touched.room < touched.bytes) touched.room = touched.bytes;
  return touched;
}

// ---- arithmetic ----

// Registers that a nest has along each dim of the kernel; of summed dims its steps.
static void sizes_of(const pb_vkernel* k, const pb_nest* nest, int64_t* size) {
  for (int d = 0; d < k->main->dim_count; ++d) {
    int64_t unit = pb_vkernel_unit(k, d), extent = nest->extent[pb_vkernel_tree_dim(k, d)];
    if (d == k->run_dim) extent *= nest->extent[d];
    if (d == k->depth_dim) unit = k->depth;
    size[d] = d == k->group_dim ? 1 : (extent + unit - 1) / unit;
  }
}

int64_t pb_core_registers(const pb_vkernel* k, const int64_t* size, const int64_t* moves) {
  int64_t registers = 1;
  for (int d = 0; d < k->main->dim_count; ++d)
    if (pb_vkernel_is_spatial(k, d) && (!moves || moves[d])) registers *= size[d];
  return registers;
}

static int64_t steps_of(const pb_vkernel* k, const int64_t* size) {
  int64_t steps = 1;
  for (int d = 0; d < k->main->dim_count; ++d)
    if (k->is_sum[d]) steps *= size[d];
  return steps;
}

// Registers in which one step over a tile computes the main nest's operations: one that takes a tensor's elements alone
// is made for each register of them, not for each of the tile's. load: what counts for a load.
static int64_t operations_of(const pb_vkernel* k, int64_t load, const int64_t* size) {
  const pb_nest* nest = k->main;
  int64_t moves[PB_NEST_EXPR][PB_NEST_DIMS], all = 0;
  for (int e = 0; e < nest->expr_count; ++e) {
    const pb_expr_node* node = &nest->expr[e];
    for (int d = 0; d < nest->dim_count; ++d) {
      moves[e][d] =
          node->op == PB_OP_LOAD ? pb_vkernel_stride(&k->main->access[node->operand], d) != 0 : node->op == PB_OP_INDEX;
      for (int a = 0; a < 3 && node->args[a] >= 0; ++a) moves[e][d] |= moves[node->args[a]][d];
    }
    all += (node->op == PB_OP_LOAD ? load : 1) * pb_core_registers(k, size, moves[e]);
  }
  return all;
}

int64_t pb_core_window(const pb_vkernel* k, const int64_t* size, int outer) {
  const int64_t* stride = k->main->access[k->x].index[0].coef;
  int64_t cover[PB_NEST_DIMS], registers = 1;
  for (int d = 0; d < k->main->dim_count; ++d)
    cover[d] = !k->is_sum[d] || d <= outer ? 1 : d == k->group_dim ? k->main->extent[d] : size[d];
  for (int d = 0; d < k->main->dim_count; ++d) {
    if (!pb_vkernel_is_spatial(k, d)) continue;
    int s = pb_vkernel_overlapped(k, d);
    if (s > outer && cover[s] > 1)
      cover[s] += (size[d] - 1) * (stride[d] / stride[s]);
    else
      cover[d] = size[d] - (s >= 0 && s == outer);
  }
  for (int d = 0; d < k->main->dim_count; ++d) registers *= cover[d];
  return registers;
}

// A tile whose groups are put together of taps: each element of x that its windows cover is widened, flipped and moved
// to its places once, and each group is joined and multiplied.
static int64_t taps_cycles(const pb_vkernel* k, const int64_t* size) {
  int64_t taps = k->main->extent[k->group_dim];
  return pb_core_window(k, size, -1) * (taps + 1) + pb_core_registers(k, size, NULL) * steps_of(k, size) * 2;
}

static bool in_registers(const pb_tiling* t, const pb_access* access) {
  return pb__is_buffer(access) && t->chip->memories[t->buffers[access->buffer].memory].kind == PB_MEM_REGISTERS;
}

// What loads access a for the nest: what fills the registers that it takes, or itself.
static const pb_nest* loader_of(const pb_tiling* t, const pb_nest* nest, int a) {
  return in_registers(t, &nest->access[a]) ? t->filled[nest->access[a].buffer] : nest;
}

// The access by which it does.
static const pb_access* loaded_by(const pb_nest* loader, const pb_nest* nest, int a) {
  return &loader->access[loader == nest ? a : 0];
}

static bool is_one_for_all(const pb_vkernel* k, int a) {
  return k->insn.insn && k->lane_dim >= 0 && !pb_vkernel_stride(&k->main->access[a], k->lane_dim);
}

// How many registers of an access one load fills: numbers that are one for all lanes, or, where several of its own come
// to a lane at once, so many.
static int64_t filled_at_once(const pb_core_facts* f, const pb_vkernel* k, int a) {
  if (k->insn.insn && k->lane_dim >= 0 && a == k->w && k->each_dim >= 0) return f->vector.each_at_once;
  return is_one_for_all(k, a) ? f->vector.same_at_once : 1;
}

// Registers of access a that are filled while the main nest's tile is made. Where x comes by vectors, what its windows
// share comes once.
static int64_t registers_filled(const pb_tiling* t, const pb_vkernel* k, const pb_nest* nest, const int64_t* size,
                                int a) {
  int64_t filled[PB_NEST_DIMS];
  if (a == k->x && pb_vkernel_by_vectors(k)) return pb_core_window(k, size, -1);
  sizes_of(k, loader_of(t, nest, a), filled);
  return steps_of(k, filled) * pb_core_registers(k, filled, k->main->access[a].index[0].coef);
}

static int64_t loads_of(const pb_tiling* t, const pb_core_facts* f, const pb_vkernel* k, const pb_nest* nest,
                        const int64_t* size) {
  int64_t loads = 0;
  for (int a = 0; a < pb_vkernel_store(k->main); ++a) {
    bool by_vectors = a == k->x && pb_vkernel_by_vectors(k);
    loads += registers_filled(t, k, nest, size, a) / (by_vectors ? 1 : filled_at_once(f, k, a));
  }
  return loads;
}

// The main nest on a tile.
static int64_t main_cycles(const pb_tiling* t, const pb_core_facts* f, const pb_nest* tile, const int64_t* size) {
  const pb_vkernel* k = f->kernel;
  const pb_nest* nest = k->main;
  bool sums = nest->reduce != PB_SET;
  if (k->taps) return taps_cycles(k, size);
  int64_t points = pb_core_registers(k, size, NULL), steps = steps_of(k, size), loads = loads_of(t, f, k, tile, size),
          rate = pb_core_rate_of(f, 0, 1);
  int64_t step, turn = k->apart_cycles ? k->apart_cycles : k->transpose_dim >= 0 ? TURN_CYCLES : 0;
  if (k->insn.insn) // factors that loads extend come no later; those whose signs are flipped take an operation each
    step = points * f->products + (k->insn.flips ? pb_core_registers(k, size, k->main->access[k->x].index[0].coef) : 0);
  else
    step = sums ? operations_of(k, t->chip->load_cycles, size) + points : points * (nest->expr_count + turn);
  if (sums && f->latency * f->units > step) step = f->latency * f->units;
  if (f->members) return (step * steps + (k->insn.insn ? loads / SEEN_LOADS : 0) + f->units - 1) / f->units;
  if (k->lanes > 1) loads = (loads * f->register_bytes * f->units + rate - 1) / rate;
  int64_t arithmetic = step * steps, longer = loads > arithmetic ? loads : arithmetic;
  if (k->insn.group > 1) longer += (loads + arithmetic - longer) / SEEN_LOADS; // of f32 tiles none was seen
  return (longer + f->units - 1) / f->units;
}

// Bytes that its loads bring: of what is one for all lanes a number each.
int64_t pb__core_near(const pb_tiling* t, const pb_core_facts* f, const pb_nest* nest) {
  const pb_vkernel* k = f->kernel;
  int64_t size[PB_NEST_DIMS], bytes = 0;
  if (!f->members || k->taps || strcmp(nest->part, "reduce") != 0) return 0;
  sizes_of(k, nest, size);
  for (int a = 0; a < pb_vkernel_store(k->main); ++a)
    bytes += registers_filled(t, k, nest, size, a) *
             (is_one_for_all(k, a) ? pb_type_bits(k->main->access[a].type) / 8 : f->register_bytes);
  return bytes / pb_core_rate_of(f, 0, 1);
}

static bool is_product(const pb_nest* nest) { return !strcmp(nest->part, "reduce"); }

static bool takes_registers(const pb_tiling* t, const pb_nest* nest) {
  for (int a = 0; a + 1 < nest->access_count; ++a)
    if (in_registers(t, &nest->access[a])) return true;
  return false;
}

// ---- loops around ----

// Of the loops around a nest the first one whose iterations threads share, in how many parts each is taken, and how
// many of its iterations a part has.
typedef struct shared_loops {
  int first;
  int64_t parts[PB_NEST_OUTERS], left[PB_NEST_OUTERS];
} shared_loops;

static void share_loops(const pb_tiling* t, int level, shared_loops* loops) {
  int inner = t->base + pb_plan_around(t->plan, PB_OF_RESULT);
  int64_t parts = 1;
  loops->first = 0;
  while (loops->first < level && !t->around[loops->first + 1]->parts) ++loops->first;
  for (int l = 0; l < level; ++l) {
    bool shared = l >= loops->first && l < inner;
    loops->parts[l] = 1;
    loops->left[l] = t->around[l + 1]->extent;
    if (shared && t->around[l + 1]->parts)
      parts = pb_axis_parts(&t->plan->axes[l - t->base]); // of each kind, from its outermost loop on
    if (!shared || parts < 2) continue;
    loops->parts[l] = loops->left[l] < parts ? loops->left[l] : parts;
    loops->left[l] = (loops->left[l] + loops->parts[l] - 1) / loops->parts[l];
    parts = (parts + loops->parts[l] - 1) / loops->parts[l];
  }
}

// What nests behind the sums read besides: lines that the loop around does not go on with, and those with which a part
// of it begins, are fetched by nobody ahead, and the sums are done by then, so nothing hides the time that they take to
// come.
static int64_t waits(const pb_tiling* t, const pb_core_facts* f, const pb_nest* nest) {
  int inner = nest->outer_count - 1;
  int64_t cycles = 0;
  shared_loops loops;
  share_loops(t, nest->outer_count, &loops);
  while (inner >= 0 && loops.left[inner] < 2) --inner;
  for (int a = 0; a + 1 < nest->access_count && inner >= 0 && f->line; ++a) {
    const pb_access* access = &nest->access[a];
    walk own[PB_NEST_DIMS];
    int64_t bytes = (pb_type_bits(access->type) + 7) / 8, step = access->index[0].coef[PB_NEST_DIMS + inner] * bytes;
    if (!step || in_registers(t, access)) continue;
    own_walks(nest, access, own);
    footprint tile = touched(f, own, nest->dim_count, bytes);
    bool goes_on = step > 0 && step <= tile.run;
    int64_t all = pb_access_elements(access) * bytes, wait = f->shared->latency;
    for (int c = 2; c >= 0; --c)
      if (holds(f, c, all)) wait = c ? f->vector.near[c]->latency : 0;
    cycles += tile.bytes / f->line * wait / (goes_on ? loops.left[inner] : 1);
  }
  return cycles;
}

// Cycles in which a tile of a window's largest elements, or of its sums without an instruction, waits for lines: each
// row of what it reads is in pages of its own where rows are as long, and prefetchers follow so many. The largest of
// five lines of 1024 x 1024 f32 took 1.4 times as long by tiles of 16 lines as by tiles of 8, which read 12.
static int64_t lost_rows(const pb_vkernel* k, const pb_nest* nest) {
  const pb_access* x = &nest->access[0];
  int64_t rows = 1, bytes = pb_type_bits(x->type) / 8;
  if (k->insn.insn || k->main->reduce == PB_SET || !is_product(nest)) return 0;
  for (int d = 0; d < nest->dim_count; ++d) {
    int64_t step = x->index[0].coef[d];
    if (step * bytes >= UNFOLLOWED && nest->extent[d] > 1) rows += nest->extent[d] - 1;
  }
  return rows > FOLLOWED ? (rows - FOLLOWED) * LOST_CYCLES : 0;
}

int64_t pb__core_cycles(pb_tiling* t, const pb_core_facts* f, const pb_nest* nest) {
  const pb_vkernel* k = f->kernel;
  int64_t size[PB_NEST_DIMS], cycles = 0;
  if (!strcmp(nest->part, "fill")) return 0;
  if (!strcmp(nest->part, "stage")) {
    t->filled[nest->access[1].buffer] = nest;
    return 0;
  }
  sizes_of(k, nest, size);
  int64_t registers = pb_core_registers(k, size, NULL) * (k->matrix.product.insn ? k->rows : 1);
  if (!in_registers(t, &nest->access[nest->access_count - 1])) cycles += registers * STORE_CYCLES;
  if (!strcmp(nest->part, "store")) return cycles;
  if (!strcmp(nest->part, "init")) return TILE_CYCLES;
  if (!strcmp(nest->part, "load"))
    return TILE_CYCLES + t->chip->branch_cycles + waits(t, f, nest); // behind the first part of a sum
  if (!is_product(nest) && takes_registers(t, nest)) return cycles + registers * nest->expr_count + waits(t, f, nest);
  if (k->main->reduce == PB_SET) cycles += TILE_CYCLES;
  int64_t products = main_cycles(t, f, nest, size) + lost_rows(k, nest);
  if (!k->border_count) return cycles + products;
  const pb_nest* by = loader_of(t, nest, k->x);
  return cycles + pb__core_outside(t, k, by, loaded_by(by, nest, k->x), products);
}

// ---- traffic ----

// What an access touches inside l of the loops around, and the bytes of its tensor.
typedef struct stream {
  walk around[2 * PB_NEST_OUTERS];
  footprint inside[2 * PB_NEST_OUTERS + 1];
  int64_t all;
  bool stored, is_x, again;
} stream;

static void note_touched(const pb_core_facts* f, const pb_nest* nest, const pb_access* access, int loops, stream* s) {
  walk walks[MOST_WALKS];
  int64_t bytes = pb_type_bits(access->type) > 8 ? pb_type_bits(access->type) / 8 : 1;
  int dims = nest->dim_count;
  own_walks(nest, access, walks);
  for (int l = loops; l >= 0; --l) {
    s->inside[l] = touched(f, walks, dims + loops - l, bytes);
    if (l > 0) walks[dims + loops - l] = s->around[l - 1];
  }
  s->all = pb_access_elements(access) * bytes;
}

// Cycles in which an iteration of a loop takes what the one before it took too, from the nearest cache that holds all
// that was touched between the two (Mattson et al. 1970, stack distances): `near` bytes by all streams. What the
// innermost cache holds is not counted: a step's loads have been. near 0: each stream is taken for itself, as long as
// parts of a sum can still be made so short that they all fit. Which loops will be innermost is not known then: lines
// of a tile that drive each other out come anew in each, and lines that are stored in parts come as often.
static int64_t revisits(const pb_core_facts* f, const stream* s, int l, int64_t near) {
  const walk* loop = &s->around[l];
  const footprint *inside = &s->inside[l + 1], *whole = &s->inside[l];
  bool again = loop->again && !loop->step, collides = inside->room > inside->bytes;
  if (near ? holds(f, 0, near) : loop->step && !collides && !s->stored) return 0;
  bool anew = !near && (!loop->step || collides);
  int64_t had = again ? 0 : !anew ? whole->bytes : loop->step ? 0 : inside->bytes;
  return (loop->iterations * inside->bytes - had) / pb_core_rate(f, near ? near : inside->room);
}

// Cycles in which a stream's bytes come from caches further out, over all iterations of the loops around.
// *shared: those of them in which they come from what cores share.
static int64_t stream_traffic(const pb_core_facts* f, const stream* s, const int64_t* near, int loops,
                              int64_t* shared) {
  int64_t cycles = 0;
  bool first = true;
  *shared = 0;
  for (int l = loops - 1; l >= 0; --l) {
    const walk* loop = &s->around[l];
    int64_t again = revisits(f, s, l, near[l]);
    cycles = cycles * loop->iterations + again;
    *shared = *shared * loop->iterations + (holds(f, 0, near[l]) || holds(f, 1, near[l]) ? 0 : again);
    first &= loop->step || !loop->again;
  }
  return cycles + (first ? s->inside[0].bytes / pb_core_rate(f, s->all) : 0);
}

// The loops around the nest. Threads take parts of the iterations of rows and of columns: the iterations of a part,
// rows then columns, stand inside those of all parts.
static int loops_around(const pb_tiling* t, const pb_access* access, int level, walk* walks) {
  const int64_t* moves = &access->index[0].coef[PB_NEST_DIMS];
  shared_loops loops;
  int count = 0;
  share_loops(t, level, &loops);
  for (int l = 0; l < loops.first; ++l) walks[count++] = (walk){moves[l], loops.left[l], false};
  for (int l = loops.first; l < level; ++l)
    if (loops.parts[l] > 1) walks[count++] = (walk){moves[l] * loops.left[l], loops.parts[l], false};
  for (int l = loops.first; l < level; ++l)
    walks[count++] = (walk){moves[l], loops.left[l], t->around[l + 1]->iterations_before > 0};
  return count;
}

// Of a stream's cycles those in which the lines of x are waited for when they come first. Where they come as vectors
// few operations take each of them, which hides nothing, and an iteration of loops that stages share reads short runs
// of them, whose first page nobody fetches ahead: one row at a time a depthwise 3x3 convolution took twice as long.
//
// Where they come element by element, each row of them is a stream of its own, more than are fetched ahead: what comes
// again from a cache that cores share is waited for (4096 x 4096 by 4096 x 4096: 3 to 10% longer than from the core's
// own; weights, which come in one stream, took no longer).
static int64_t waited_for(const pb_core_facts* f, const pb_group* g, const stream* s, int64_t cycles, int64_t shared) {
  bool vectors = pb_vkernel_by_vectors(f->kernel);
  if (!s->is_x || g->alone != vectors) return 0;
  if (!vectors) return shared;
  int64_t run = s->inside[0].reach, first = s->inside[0].bytes / pb_core_rate(f, s->all);
  if (first < cycles) cycles = first;
  if (run >= 2 * UNFOLLOWED) return 0;
  return run > UNFOLLOWED ? cycles * (2 * UNFOLLOWED - run) / UNFOLLOWED : cycles;
}

// Whether each iteration of loops that stages share reads these weights again: with few rows, of which each line of
// them serves as many, it takes as long as a cache can keep handing over lines (1 row of 4 pixels, 384 channels to 64,
// f32: 1.7 times as long).
static bool comes_again(const pb_tiling* t, const pb_vkernel* k, int access) {
  const pb_program* p = t->group->program;
  return t->group->alone && access == k->w && pb_program_is_const(p, t->group->main_index, access);
}

int64_t pb__core_traffic(const pb_tiling* t, const pb_core_facts* f, const pb_nest* nest, int64_t* waited) {
  const pb_vkernel* k = f->kernel;
  int64_t near[2 * PB_NEST_OUTERS] = {0}, cycles = 0;
  stream streams[2];
  int count = 0, loops = 0;
  *waited = 0;
  if (!k->insn.insn) return 0;
  bool is_main = is_product(nest);
  for (int a = 0; a < nest->access_count; ++a) {
    bool stored = a + 1 == nest->access_count;
    if (is_main ? a != k->x && a != k->w : !stored || in_registers(t, &nest->access[a])) continue;
    const pb_nest* by = stored ? nest : loader_of(t, nest, a);
    const pb_access* access = loaded_by(by, nest, a);
    stream* s = &streams[count++];
    loops = loops_around(t, access, nest->outer_count, s->around);
    note_touched(f, by, access, loops, s);
    s->stored = stored;
    s->is_x = is_main && a == k->x;
    s->again = is_main && comes_again(t, k, a);
    for (int l = 0; l < loops && !t->apart; ++l) near[l] += s->inside[l + 1].room;
  }
  for (int i = 0; i < count; ++i) {
    int64_t shared, own = stream_traffic(f, &streams[i], near, loops, &shared);
    cycles += streams[i].again ? own * SUSTAINED : own;
    *waited += waited_for(f, t->group, &streams[i], own, shared);
  }
  return cycles;
}

// ---- threads ----

// Tiles in front of an item, when the parts of rows and columns are as the loops cut them.
static int64_t tiles_before(int64_t item, const pb_shares* s) {
  int64_t row = item / s->column_parts, column = item % s->column_parts;
  int64_t begin = row * s->rows / s->row_parts, end = (row + 1) * s->rows / s->row_parts;
  return begin * s->columns + (end - begin) * (column * s->columns / s->column_parts);
}

static int64_t parts_of(int64_t all, int64_t parts) { return (all + parts - 1) / parts; }

// What members that there always are take longer than if all of them had as many tiles: one of them has the largest
// parts, and one more of them than others.
static int64_t imbalance_of_all(const pb_shares* s) {
  int64_t tiles = s->rows * s->columns, most = parts_of(s->row_parts * s->column_parts, s->members) *
                                               parts_of(s->rows, s->row_parts) * parts_of(s->columns, s->column_parts);
  return 1024 * most * s->members / tiles - 1024;
}

int64_t pb_share_imbalance(const pb_shares* s) {
  int64_t lost = 0, items = s->row_parts * s->column_parts;
  if (s->members) return imbalance_of_all(s);
  for (int64_t threads = 2; threads <= 8; threads *= 2) {
    int64_t most = 1;
    for (int64_t thread = 0; thread < threads; ++thread) {
      int64_t share = tiles_before(items * (thread + 1) / threads, s) - tiles_before(items * thread / threads, s);
      if (share > most) most = share;
    }
    lost += 1024 - 1024 * s->rows * s->columns / (most * threads);
  }
  return lost / 3;
}

int64_t pb__core_imbalance(const pb_tiling* t, const pb_vkernel* k, const pb_plan* plan, int64_t members) {
  pb_shares shares = {t->row_tiles, t->column_tiles, pb_registers_parts(k, plan, false),
                      pb_registers_parts(k, plan, true), members};
  if (t->apart && shares.members) // each tile may be a part by itself
    shares.row_parts = shares.rows, shares.column_parts = shares.columns;
  return t->group->alone ? 0 : pb_share_imbalance(&shares);
}
