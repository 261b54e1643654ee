// Inside `layout`: which dim of a window a contraction over few channels goes along, as lanes over channels would be
// mostly empty.
//
// Where an instruction sums a group of neighbours in each lane, groups of the window's row are neighbours in the image
// as it lies; of channels they would be partly empty, and the image would have to be interleaved for them. Weights of 0
// fill the last group.
//
//   before   y[o, h, w] += x[c, h + r, 2 w + s] * k[o, c, r, s]                       of c: 3, of s: 7
//   after    y[o, h, w] += x[c, h + r, 2 w + 4 v + q] * k'[o, c, r, v, q]             of v: 2, of q: 4
//
// Where rows of windows are gathered (gather.c), it is a dim that stays one of the sum.
//
// Windows that are gathered whole have the fewest sums: their rows of lanes are full. But windows that lie over each
// other are brought over and over, in runs as short as a window's row, and a mover takes a cycle for each. Windows in
// strips of image rows are brought once, and take more sums, each of a strip's rows. Which of the two takes longer the
// description says.
#include "core/s3/layout/layout.h"
#include "core/s3/transfer_paths.h"

// Whether x has what `extent` turns of the window's dim read along the axis, the last of which reach over its end.
static bool reaches(const pb_nest* nest, const pb_access* x, int axis, int window, int64_t extent) {
  int64_t last = x->index[axis].cst;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (x->index[axis].coef[d] < 0) return false;
    last += x->index[axis].coef[d] * ((d == window ? extent : nest->extent[d]) - 1);
  }
  return last < x->shape[axis];
}

int pb__layout_window(const pb_layout* l, int n, const pb_contraction_dims* roles) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* x = &nest->access[roles->x];
  pb_vector_insn insn = pb_vector_contraction(l->selections, roles->x_type, roles->w_type, roles->y_type);
  int64_t group = insn.insn ? insn.group : 1;
  if (group < 2 || x->rank != 4 || !pb__layout_weighs(l, n, roles)) return -1;
  int channel = pb__layout_summed_along(nest, roles, 1, true), column = pb__layout_summed_along(nest, roles, 3, false);
  int64_t channels = channel < 0 ? 1 : nest->extent[channel];
  if (column < 0 || channels != x->shape[1] || channels * 2 > l->lanes) return -1;
  int64_t columns = nest->extent[column], groups = pb__layout_blocks(columns, group);
  if (channels * groups > columns * pb__layout_blocks(channels, group)) return -1;
  return reaches(nest, x, 3, column, groups * group) ? column : -1;
}

// ---- strips ----

// The dims of windows and of rows that walk `axis` of x, each alone. false: others do, or there are none.
static bool find_strips(const pb_nest* nest, const pb_contraction_dims* roles, int axis, pb_strips* s) {
  const pb_access* x = &nest->access[roles->x];
  *s = (pb_strips){.window = pb__layout_summed_along(nest, roles, axis, false), .row = -1, .axis = axis, .strip = 1};
  if (s->window < 0) return false;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (!x->index[axis].coef[d]) continue;
    if (!pb_access_moves_only(x, axis, d) || (d != s->window && s->row >= 0)) return false;
    if (d != s->window) s->row = d;
  }
  if (s->row < 0 || x->index[axis].coef[s->row] < 1) return false;
  s->step = x->index[axis].coef[s->row];
  s->extent = s->step * (nest->extent[s->row] - 1) + nest->extent[s->window];
  return true;
}

static bool keeps_columns(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles, pb_strips* s) {
  const pb_access* x = &nest->access[roles->x];
  if (!pb_transfer_transposes(l->unit->chip, x->type) || !find_strips(nest, roles, x->rank - 1, s)) return false;
  int64_t windows = pb_extent_of_role(nest, roles, PB_ROLE_K), wide = nest->extent[s->window];
  int64_t rows = pb__layout_blocks(windows / wide, l->lanes) * wide;
  return rows <= 2 * pb__layout_blocks(windows, l->lanes); // else lanes would be mostly empty again
}

// The window's dim whose elements are neighbours in x; -1: none.
static int find_run(const pb_nest* nest, const pb_contraction_dims* roles) {
  const pb_access* x = &nest->access[roles->x];
  for (int d = nest->dim_count - 1; d >= 0; --d)
    if (roles->role[d] == PB_ROLE_K && x->index[x->rank - 1].coef[d] == 1 && pb_access_moves_only(x, x->rank - 1, d))
      return d;
  return -1;
}

// ---- what it takes ----

// Of the shorter of the two one part of so many is not hidden by the longer: one waits where iterations begin and end,
// and what movers bring more than this, and write, is in none of the two.
enum { EXPOSED = 2 };

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// The mover that brings the runs and the instruction that sums rows of lanes: side by side, unless one queue has both.
typedef struct price {
  const pb_insn *mover, *product;
  int64_t run;            // elements
  int64_t lanes, results; // lanes that are summed at once, and rows of lanes of results
} price;

int pb__layout_longest_dim(const pb_insn* insn, const pb_contraction_dims* roles, int but, int64_t* extent) {
  int longest = -1;
  for (int d = 0; d < insn->dim_count; ++d) {
    const pb_dim* dim = &insn->dims[d];
    extent[d] = dim->min > 1 ? dim->min : 1;
    if (d == but || dim->min == dim->max || (roles && roles->role[d] != PB_ROLE_M)) continue;
    if (longest < 0 || dim->max > insn->dims[longest].max) longest = d;
  }
  return longest;
}

// Cycles of so many iterations of the instruction's longest dim, while `inner` (-1: none) walks so many elements.
static int64_t cycles_of(const pb_insn* insn, int inner, int64_t elements, int64_t iterations) {
  int64_t extent[PB_MAX_INSN_DIMS], pieces = 1, together = 1;
  int longest = pb__layout_longest_dim(insn, NULL, inner, extent);
  if (inner >= 0) {
    pieces = pb__layout_blocks(elements, insn->dims[inner].max);
    extent[inner] = pb__layout_blocks(elements, pieces);
  }
  if (longest >= 0)
    extent[longest] = together = iterations < insn->dims[longest].max ? iterations : insn->dims[longest].max;
  return pb_cycles(insn, extent) * pieces * pb__layout_blocks(iterations, together);
}

const pb_insn* pb__layout_mover_of_runs(const pb_layout* l, const pb_contraction_dims* roles) {
  const pb_chip* chip = l->unit->chip;
  pb_contraction_dims r;
  const pb_insn* product = pb_chip_contraction(chip, roles, &r);
  int via = product ? pb_transfer_via(chip, product->operands[r.x].memory, roles->x_type) : -1;
  return via < 0 ? NULL : pb_transfer_mover(chip, via, roles->x_type);
}

// false: the chip sums no rows of lanes, or no mover brings them.
static bool find_price(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles, int run, price* p) {
  pb_contraction_dims r;
  int64_t lanes;
  p->product = pb_chip_product(l->unit->chip, roles, l->lanes, &r, &p->lanes, &lanes);
  p->mover = pb__layout_mover_of_runs(l, roles);
  p->run = nest->extent[run];
  p->results = pb__layout_blocks(pb_extent_of_role(nest, roles, PB_ROLE_N), lanes);
  return p->mover != NULL;
}

// Cycles to gather so many pixels of `windows` elements, and to sum `steps` of them for each of `rows` results. Cores
// share both, but for the system memory's port.
static int64_t price_of(const pb_layout* l, const price* p, int64_t pixels, int64_t windows, int64_t rows,
                        int64_t steps) {
  const pb_chip* chip = l->unit->chip;
  const pb_operand* from = &p->mover->operands[p->mover->expr[0].operand];
  int inner = from->rank ? from->dims[from->rank - 1] : -1;
  int64_t width = pb__layout_blocks(windows, l->lanes) * l->lanes;
  int64_t runs = pixels * (windows / p->run), beat = chip->memories[chip->system_memory].bytes_per_cycle;
  int64_t beats = runs * pb__layout_blocks(p->run * pb_type_bits(from->type) / 8, beat > 0 ? beat : 1);
  int64_t moves = cycles_of(p->mover, inner, p->run, runs);
  if (width > windows) moves += cycles_of(p->mover, inner, width - windows, pixels); // the lanes behind them, zeros
  moves = pb_chip_shared(chip, moves);
  int64_t sums = pb_chip_shared(chip, cycles_of(p->product, -1, 1, rows) * p->results * steps *
                                          pb__layout_blocks(width, p->lanes));
  if (p->mover->queue == p->product->queue) return larger(moves + sums, beats);
  moves = larger(moves, beats);
  return larger(moves, sums) + (moves < sums ? moves : sums) / EXPOSED;
}

// Strips of one row, or of as many as there are from window to window if the image, or the box around it,
// has all of the last one. *best: what it takes so, or by whole windows.
static bool keeps_rows(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles, pb_strips* s,
                       int64_t* best) {
  const pb_access* x = &nest->access[roles->x];
  int run = find_run(nest, roles);
  pb_strips one;
  price p;
  if (run < 0 || !find_strips(nest, roles, x->rank - 2, &one) || !find_price(l, nest, roles, run, &p)) return false;
  int64_t rows = pb_extent_of_role(nest, roles, PB_ROLE_M), sum = pb_extent_of_role(nest, roles, PB_ROLE_K);
  int64_t wide = nest->extent[one.window], across = rows / nest->extent[one.row];
  *best = price_of(l, &p, rows, sum, rows, 1);
  bool found = false;
  for (int iteration = 0; iteration < 2; ++iteration) {
    pb_strips t = one;
    if (iteration) {
      t.strip = one.step;
      t.step = 1;
      int64_t strips = pb__layout_blocks(wide, t.strip);
      t.extent = nest->extent[one.row] - 1 + strips;
      if (t.strip == 1 || (!x->boxed && !reaches(nest, x, t.axis, t.window, strips * t.strip))) continue;
    }
    int64_t taken = price_of(l, &p, t.extent * across, sum / wide * t.strip, rows, pb__layout_blocks(wide, t.strip));
    if (taken >= *best) continue;
    *best = taken;
    *s = t;
    found = true;
  }
  return found;
}

pb_strips pb__layout_strips(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles) {
  pb_strips s;
  int64_t best;
  if (keeps_columns(l, nest, roles, &s) || keeps_rows(l, nest, roles, &s, &best)) return s;
  return (pb_strips){.window = -1, .row = -1};
}

int64_t pb__layout_gather_price(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles) {
  pb_strips s;
  int64_t best = 0;
  if (keeps_columns(l, nest, roles, &s)) return 0;
  (void)keeps_rows(l, nest, roles, &s, &best);
  return best;
}
