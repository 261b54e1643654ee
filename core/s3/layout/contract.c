// Inside `layout`: contractions in the order of the chip's instruction.
#include "core/s3/kernel/parts.h"
#include "core/s3/layout/layout.h"

#include <string.h>

// From how many uses of each element on a copy in a better order pays.
enum { USES_FOR_A_COPY = 32 };
// The same where it makes vectors of what else is read number by number.
enum { USES_FOR_COLUMNS = 4 };
// Bytes of a row up to which a walk down a column stays on a page for some rows, and falls on many sets of a cache.
enum { SHORT_ROW = 512 };

typedef struct contract {
  pb_layout* l;
  int n; // the nest
  const pb_nest* nest;
  const pb_contraction_dims* roles;
  pb_vector_insn insn;
  int lanes_dim;   // N, or B when there is no N (each channel for itself)
  int inner;       // the K dim whose neighbours lie next to each other in x, -1: none
  int64_t x_block; // inner is split by it, 0: it is not
  bool use_insn, depthwise;
  bool taps; // each channel for itself, by an instruction whose groups are neighbours in the window: inner is that dim
  bool window;          // few channels: inner is the dim of a window's columns, and the last group reaches over its end
  bool use_matrix;      // the instruction that multiplies matrices
  bool dot;             // few columns: lanes of channels are summed apart, inner is their dim, and lanes_dim none
  pb_grouped g;         // g.g: -1, or the dim of groups with several channels each
  pb_layout_groups cut; // those groups
  int64_t columns;      // results that lie next to each other in the nest's innermost dim of them: its lanes
  int64_t sums;         // channels that are summed at once there, of those in one row of lanes; 0: all
  int lane_column;      // of the new nest: the lanes
  int64_t group;        // neighbours of the sum that lie inside the lanes of packed weights
  int64_t rows;         // product of M's extents
  int w_const;          // the weights that are packed, -1: they are computed
  pb_gather* gather;    // x are windows that it gathers, NULL: as it lies
  pb_nest out;
  pb_split split;
} contract;

static int value_at(const contract* c, int access) { return c->l->program.value_of[c->n][access]; }

// Whether y's index along `axis` is one dim, of blocks from one of them on: a part, as walks_part in fits.c has them.
static bool y_walks(const contract* c, int axis, int* dim) {
  const pb_layout_value* v = &c->l->values[value_at(c, c->roles->y)];
  const pb_index* index = &c->nest->access[c->roles->y].index[axis];
  bool part = v->kind == PB_LAYOUT_BLOCKED && index->cst % v->block == 0;
  return (part ? pb_index_shifted : pb_index_single)(index, dim);
}

// Can y be written by whole vectors along the dim?
static bool y_takes_lanes(const contract* c) {
  const pb_access* y = &c->nest->access[c->roles->y];
  const pb_layout_value* v = &c->l->values[value_at(c, c->roles->y)];
  int dim;
  if (c->l->whole_rows) return true;
  if (v->kind == PB_LAYOUT_BLOCKED) return v->block % c->l->lanes == 0 && y_walks(c, 1, &dim) && dim == c->lanes_dim;
  if (pb_index_single(&y->index[y->rank - 1], &dim) && dim == c->lanes_dim && v->kind == PB_LAYOUT_PADDED) return true;
  if (y->index[y->rank - 1].coef[c->lanes_dim] != 1) return false;
  for (int d = 0; d < c->nest->dim_count; ++d) // one of several dims of the row: heads side by side
    if (d != c->lanes_dim && y->index[y->rank - 1].coef[d] % c->l->lanes) return false;
  return v->kind == PB_LAYOUT_PLAIN && c->nest->extent[c->lanes_dim] % c->l->lanes == 0;
}

// The K dim along which x's elements are neighbours, once x has its layout.
static void find_inner(contract* c) {
  const pb_access* x = &c->nest->access[c->roles->x];
  const pb_layout_value* v = &c->l->values[value_at(c, c->roles->x)];
  bool blocked = v->kind == PB_LAYOUT_BLOCKED && !c->gather, rows = c->l->whole_rows;
  int axis = blocked || (rows && !c->gather) ? 1 : x->rank - 1,
      dim = pb__layout_summed_along(c->nest, c->roles, axis, true);
  c->inner = v->kind == PB_LAYOUT_PLAIN ? pb__layout_window(c->l, c->n, c->roles) : -1;
  c->window = c->inner >= 0;
  if (dim < 0 || c->window) return;
  for (int r = 0; r < x->rank && !blocked && !rows; ++r)
    if (r == axis ? !pb_index_single(&x->index[r], &dim) : x->index[r].coef[dim]) return;
  c->inner = dim;
  if (blocked || rows) c->x_block = blocked ? v->block : c->l->lanes;
}

// A factor that the network makes is copied into the instruction's order for many rows; for few it must lie in it.
static bool runtime_w_fits(const contract* c) {
  const pb_access* w = &c->nest->access[c->roles->w];
  const pb_layout_value* v = &c->l->values[value_at(c, c->roles->w)];
  if (v->kind == PB_LAYOUT_BLOCKED || c->nest->extent[c->lanes_dim] % c->l->lanes) return false;
  for (int r = 0; r < w->rank && c->rows < USES_FOR_A_COPY; ++r) {
    int dim;
    if (v->kind != PB_LAYOUT_PLAIN || !pb_index_single(&w->index[r], &dim)) return false;
  }
  return true;
}

// Whether a factor lies as the contraction walks it: in vectors next to each other, and in short rows, which caches
// bring.
static bool lies_in_rows(const contract* c, const pb_access* w) {
  int64_t row = w->shape[w->rank - 1] * pb_type_bits(w->type) / 8;
  return row <= SHORT_ROW && pb_vector_facts_of(c->l->unit->chip).cache[1] && c->use_insn && c->insn.group == 1 &&
         pb_access_stride(w, c->lane_column) == 1;
}

// Whether a computed factor is copied into the instruction's order.
static bool wants_packing(const contract* c, const pb_access* w) {
  bool vectors = pb_access_stride(w, c->lane_column) == 1;
  return c->rows >= (vectors ? USES_FOR_A_COPY : USES_FOR_COLUMNS) && !lies_in_rows(c, w);
}

// Cycles of the products for one vector of y's lanes, by the instruction on matrices; 0: it does not fit.
static int64_t matrix_cycles(const contract* c, const pb_matrix_insn* matrix) {
  int64_t run = c->inner < 0 ? 1 : c->x_block ? c->x_block : c->nest->extent[c->inner], best = 0, sum = 1;
  if (!matrix->product.insn || matrix->product.lanes != c->l->lanes || c->depthwise || c->w_const < 0) return 0;
  if (c->window || run % matrix->product.group || run / matrix->product.group < 2) return 0;
  for (int d = 0; d < c->nest->dim_count; ++d)
    if (c->roles->role[d] == PB_ROLE_K && d != c->inner) sum *= c->nest->extent[d];
  int64_t steps = run / matrix->product.group, depth = pb_largest_divisor(steps, matrix->steps);
  sum *= steps / depth * pb__layout_blocks(c->nest->extent[c->inner], run);
  for (int d = 0; d < c->nest->dim_count; ++d) {
    if (c->roles->role[d] != PB_ROLE_M) continue;
    int64_t extent = c->nest->extent[d], part = pb_parts_of(extent, matrix->rows).size;
    int64_t cycles = c->rows / extent * pb__layout_blocks(extent, part) * sum * pb_matrix_cycles(matrix, part, depth);
    if (!best || cycles < best) best = cycles;
  }
  return best;
}

static int64_t vector_cycles(const contract* c) {
  int64_t sum = pb_extent_of_role(c->nest, c->roles, PB_ROLE_K);
  return c->rows * pb__layout_blocks(sum, c->insn.group) * pb_cycles_at_most(c->insn.insn);
}

// Matrices instead of vectors, where the description says that they take fewer cycles.
static void choose_matrix(contract* c) {
  pb_matrix_insn matrix = pb_matrix_contraction(c->l->selections, c->roles);
  int64_t cycles = matrix_cycles(c, &matrix);
  if (!cycles || (c->use_insn && cycles >= vector_cycles(c))) return;
  c->use_matrix = c->use_insn = true;
  c->insn = matrix.product;
}

// The summed dim with the most neighbours that one group has room for; weights of 0 fill it.
static void find_taps(contract* c) {
  int64_t most = 1;
  if (c->insn.group * pb_type_bits(c->nest->access[c->roles->x].type) != 32) return; // the lanes of a sum
  for (int d = 0; d < c->nest->dim_count; ++d) {
    int64_t extent = c->nest->extent[d];
    if (c->roles->role[d] != PB_ROLE_K || extent <= most || extent > c->insn.group) continue;
    c->taps = c->use_insn = true;
    c->inner = d;
    most = extent;
  }
}

static void choose_insn(contract* c) {
  const pb_contraction_dims* r = c->roles;
  c->insn = pb_vector_contraction(c->l->selections, r->x_type, r->w_type, r->y_type);
  c->use_insn = c->insn.insn && !(c->depthwise && c->insn.group > 1);
  if (c->insn.insn && !c->use_insn) find_taps(c);
  if (c->use_insn && c->insn.group > 1 && !c->taps) {
    int64_t run = c->inner < 0 ? 1 : c->x_block ? c->x_block : c->nest->extent[c->inner];
    c->use_insn = c->w_const >= 0 && (c->window || run % c->insn.group == 0);
  }
}

// Groups with several channels each; see groups.c.
static bool classify_groups(contract* c) {
  const pb_layout_value *x = &c->l->values[value_at(c, c->roles->x)], *y = &c->l->values[value_at(c, c->roles->y)];
  if (!pb__layout_grouped(c->l, c->n, &c->g, &c->cut) || x->kind != PB_LAYOUT_BLOCKED || y->kind != PB_LAYOUT_BLOCKED) {
    c->g.g = -1;
    return false;
  }
  c->lanes_dim = c->g.o;
  c->inner = c->g.c;
  c->x_block = c->g.ins % x->block ? 0 : x->block;
  choose_insn(c);
  return true;
}

// Of several dims of columns the one along y's lanes: the others walk weights and results like batches that all have
// the same x. -2: there is none.
static int column_of_lanes(const contract* c) {
  const pb_access* y = &c->nest->access[c->roles->y];
  const pb_layout_value* v = &c->l->values[value_at(c, c->roles->y)];
  int axis = v->kind == PB_LAYOUT_BLOCKED ? 1 : y->rank - 1, dim;
  if (!y_walks(c, axis, &dim) || dim < 0) return -2;
  return c->roles->role[dim] == PB_ROLE_N ? dim : -2;
}

// Whether the dim walks weights that have their own for each of its turns, and no lanes: a batch, or columns beside
// those of the lanes.
static bool walks_weights(const contract* c, int d) {
  if (d == c->lanes_dim || d == c->g.g) return false;
  return c->roles->role[d] == PB_ROLE_B || c->roles->role[d] == PB_ROLE_N;
}

// Few columns, by the lanes of what is summed over.
static bool classify_dot(contract* c) {
  const pb_layout_value* x = &c->l->values[value_at(c, c->roles->x)];
  c->inner = c->gather ? -1 : pb__layout_dot(c->l, c->n, c->roles);
  c->dot = c->inner >= 0 && x->kind == PB_LAYOUT_BLOCKED && x->block == c->l->lanes;
  if (!c->dot) return false;
  c->lanes_dim = c->lane_column = -1;
  c->x_block = x->block;
  choose_insn(c);
  return true;
}

// Weights lie as the instruction reads them: rows of columns, or rows of what is summed.
static bool sums_neighbours(const contract* c) {
  pb_contraction_dims r;
  const pb_insn* insn = pb_chip_contraction(c->l->unit->chip, c->roles, &r);
  return insn && c->w_const >= 0 && pb_weights_by_columns(insn, &r);
}

void pb__layout_sides(const pb_layout* l, const pb_contraction_dims* roles, int64_t* columns, int64_t* sums) {
  pb_contraction_dims unused;
  (void)pb_chip_product(l->unit->chip, roles, l->lanes, &unused, sums, columns);
}

static void find_sides(contract* c) {
  int64_t sums;
  c->columns = c->l->lanes;
  if (c->depthwise) return;
  pb__layout_sides(c->l, c->roles, &c->columns, &sums);
  if (sums < c->x_block) c->sums = sums;
}

// Whether each lane's weights are as many neighbours of the sum as come to it by one load.
static bool takes_neighbours(const contract* c, int64_t count) {
  if (count == 1 || c->insn.group > 1 || c->w_const < 0 || c->lanes_dim < 0 || c->inner < 0) return false;
  if (c->depthwise || c->window || c->taps || c->g.g >= 0) return false;
  return (c->x_block ? c->x_block : c->nest->extent[c->inner]) % count == 0;
}

static int64_t group_of(const contract* c) {
  int64_t each = c->use_insn ? pb_vector_facts_of(c->l->unit->chip).each_at_once : 1;
  if (takes_neighbours(c, each)) return each;
  if (c->use_insn) return c->insn.group;
  if (!c->x_block || c->depthwise || !sums_neighbours(c)) return 1;
  return c->sums ? c->sums : c->x_block;
}

// Whether rows or batches walk the channels of a tensor in blocks: they stay whole loops here.
static bool cuts_blocks(const contract* c) {
  for (int a = 0; a < c->nest->access_count; ++a) {
    const pb_layout_value* v = &c->l->values[value_at(c, a)];
    if (v->kind != PB_LAYOUT_BLOCKED || (c->gather && a == c->roles->x)) continue;
    for (int d = 0; d < c->nest->dim_count; ++d)
      if ((c->roles->role[d] == PB_ROLE_M || c->roles->role[d] == PB_ROLE_B) && d != c->lanes_dim &&
          c->nest->extent[d] > 1 && c->nest->access[a].index[1].coef[d] % v->block)
        return true;
  }
  return false;
}

static bool classify(contract* c) {
  const pb_contraction_dims* r = c->roles;
  if (classify_dot(c)) return true;
  int o = pb__layout_dim_of_role(c->nest, r, PB_ROLE_N);
  if (o == -2) o = column_of_lanes(c);
  c->rows = pb_extent_of_role(c->nest, r, PB_ROLE_M);
  if (classify_groups(c)) return true;
  if (o == -2) return false;
  c->lanes_dim = o;
  if (o < 0) { // each channel for itself
    const pb_layout_value* x = &c->l->values[value_at(c, r->x)];
    c->depthwise = true;
    c->lanes_dim = pb__layout_depthwise(c->nest, r);
    if (c->lanes_dim < 0 || c->w_const < 0 || x->kind != PB_LAYOUT_BLOCKED || x->block % c->l->lanes) return false;
  }
  if (!y_takes_lanes(c) || (c->w_const < 0 && !runtime_w_fits(c)) || cuts_blocks(c)) return false;
  find_inner(c);
  choose_insn(c);
  choose_matrix(c);
  return true;
}

// The dim of groups: blocks of x or y, vectors in one, groups in a vector; the last of these stand with the lanes.
static void split_groups(contract* c) {
  pb_split* s = &c->split;
  int g = c->g.g;
  s->size[g] = c->cut.block;
  s->scale[g] = c->cut.lanes;
  if (c->g.groups > c->cut.block) s->block[g] = pb_nest_add_dim(&c->out, pb__layout_blocks(c->g.groups, c->cut.block));
  if (c->cut.block > c->cut.lanes) s->lane[g] = pb_nest_add_dim(&c->out, c->cut.block / c->cut.lanes);
}

// Blocks of results, and vectors in one.
static void split_results(contract* c) {
  pb_split* s = &c->split;
  int lanes = c->lanes_dim;
  const pb_layout_value* y = &c->l->values[value_at(c, c->roles->y)];
  int64_t extent = c->nest->extent[lanes], block = y->kind == PB_LAYOUT_BLOCKED ? y->block : c->l->lanes;
  if (c->g.g >= 0 && extent < block) block = c->l->lanes;
  s->size[lanes] = block;
  if (extent > block) s->block[lanes] = pb_nest_add_dim(&c->out, pb__layout_blocks(extent, block));
  if (block == c->columns) return;
  s->scale[lanes] = c->columns;
  s->lane[lanes] = pb_nest_add_dim(&c->out, block / c->columns);
}

static bool groups_are_lanes(const contract* c) { return c->g.g >= 0 && c->cut.lanes > 1; }

static void split_lanes(contract* c) {
  pb_split* s = &c->split;
  if (groups_are_lanes(c)) {
    s->group[c->g.g] = pb_nest_add_dim(&c->out, c->cut.lanes);
    c->lane_column = s->keep[c->lanes_dim] = pb_nest_add_dim(&c->out, c->g.outs);
    return;
  }
  c->lane_column = pb_nest_add_dim(&c->out, c->columns);
  *(s->lane[c->lanes_dim] >= 0 ? &s->group[c->lanes_dim] : &s->lane[c->lanes_dim]) = c->lane_column;
}

// New dims in order: batches, blocks of lanes, rows, lanes, then the sum: blocks of the inner dim, the window, inside
// the block.
static void split_all(contract* c) {
  pb_split* s = &c->split;
  const pb_nest* nest = c->nest;
  pb__layout_split_none(s);
  for (int d = 0; d < nest->dim_count; ++d)
    if (walks_weights(c, d)) s->keep[d] = pb_nest_add_dim(&c->out, nest->extent[d]);
  if (c->g.g >= 0) split_groups(c);
  if (!groups_are_lanes(c) && !c->dot) split_results(c);
  for (int d = 0; d < nest->dim_count; ++d)
    if (c->roles->role[d] == PB_ROLE_M) s->keep[d] = pb_nest_add_dim(&c->out, nest->extent[d]);
  if (!c->dot) split_lanes(c);
  int64_t group = c->group, step = group, inner_steps = 0;
  int k = c->inner;
  if (k >= 0 && !c->taps) {
    int64_t block = c->x_block ? c->x_block : group > 1 ? pb__layout_blocks(nest->extent[k], group) * group : 0;
    step = group > 1 || !c->sums ? group : c->sums;
    s->size[k] = block;
    s->scale[k] = step;
    inner_steps = block / step;
    if (block && nest->extent[k] > block)
      s->block[k] = pb_nest_add_dim(&c->out, pb__layout_blocks(nest->extent[k], block));
  }
  // Channels whose lanes come in runs are steps inside one register of x: innermost.
  for (int inside = 0; inside < 2; ++inside)
    for (int d = 0; d < nest->dim_count; ++d)
      if (c->roles->role[d] == PB_ROLE_K && !(d == k && (inner_steps || c->taps)) &&
          (groups_are_lanes(c) && d == k) == inside)
        s->keep[d] = pb_nest_add_dim(&c->out, nest->extent[d]);
  if (inner_steps > 1) s->lane[k] = pb_nest_add_dim(&c->out, inner_steps);
  if (inner_steps && step > 1) s->group[k] = pb_nest_add_dim(&c->out, step);
  if (c->taps) s->group[k] = pb_nest_add_dim(&c->out, nest->extent[k]);
}

typedef struct packing {
  pb_pack_dim dims[PB_PACK_DIMS];
  int columns[PB_PACK_DIMS]; // of the new nest, that walk them; -1: several do
  int count;
} packing;

static void pack_dim(packing* p, int column, int64_t extent, int dim, int64_t scale) {
  p->columns[p->count] = column;
  p->dims[p->count++] = (pb_pack_dim){extent, dim, scale};
}

// Packed dims from `first` on as one index, by the columns that walk them. Returns its extent.
static int64_t flatten(const contract* c, const packing* p, int first, pb_index* index) {
  int64_t stride = 1;
  for (int k = p->count - 1; k >= first; --k) {
    const pb_split* s = &c->split;
    int d = p->dims[k].dim;
    if (p->columns[k] >= 0) {
      index->coef[p->columns[k]] = stride;
    } else { // rows of lanes: blocks, and rows in one
      if (s->block[d] >= 0) index->coef[s->block[d]] = stride * (s->size[d] / p->dims[k].scale);
      if (s->lane[d] >= 0 && (d == c->g.g || s->group[d] >= 0)) index->coef[s->lane[d]] = stride;
    }
    stride *= p->dims[k].extent;
  }
  return stride;
}

// The summed dims, in the order of the new nest's.
static void pack_sum(const contract* c, packing* p) {
  const pb_split* s = &c->split;
  for (int column = 0; column < c->out.dim_count; ++column)
    for (int d = 0; d < c->nest->dim_count; ++d) {
      if (c->roles->role[d] != PB_ROLE_K) continue;
      bool inside = c->group == 1 && s->group[d] == column; // behind each other, not beside
      int64_t scale = s->keep[d] == column || inside ? 1 : s->block[d] == column ? s->size[d] : s->scale[d];
      if (s->keep[d] == column || s->block[d] == column || s->lane[d] == column || inside)
        pack_dim(p, column, c->out.extent[column], d, scale);
    }
}

// Results by as many as lie next to each other, in whole rows of lanes where those are several.
static int64_t rows_of_results(const contract* c) {
  return pb__layout_blocks(c->nest->extent[c->lanes_dim], c->l->lanes) * (c->l->lanes / c->columns);
}

// The weights as [batches and blocks of lanes, k, lanes, group].
static int pack_weights(contract* c, pb_access* w) {
  const pb_split* s = &c->split;
  packing p = {.count = 0};
  int64_t shape[4] = {1, 1, c->columns, c->group};
  int lanes = c->lanes_dim, rank = 3;
  memset(w->index, 0, sizeof w->index);
  for (int d = 0; d < c->nest->dim_count; ++d)
    if (walks_weights(c, d) && s->keep[d] >= 0) pack_dim(&p, s->keep[d], c->nest->extent[d], d, 1);
  int64_t vectors = c->g.g < 0 ? 0 : pb__layout_blocks(c->g.groups, c->cut.block) * (c->cut.block / c->cut.lanes);
  if (vectors) pack_dim(&p, -1, vectors, c->g.g, c->cut.lanes);
  if (!groups_are_lanes(c) && !c->dot) pack_dim(&p, -1, rows_of_results(c), lanes, c->columns);
  shape[0] = flatten(c, &p, 0, &w->index[0]);
  int first = p.count;
  pack_sum(c, &p);
  shape[1] = flatten(c, &p, first, &w->index[1]);
  if (c->dot) { // no lanes stand between the steps and their groups
    rank = 2;
    shape[2] = c->group;
  }
  if (groups_are_lanes(c)) {
    pack_dim(&p, -1, c->cut.lanes, c->g.g, 1);
    w->index[2].coef[s->group[c->g.g]] = c->g.outs;
  }
  if (!c->dot) pack_dim(&p, -1, groups_are_lanes(c) ? c->g.outs : c->columns, lanes, 1);
  if (!c->dot) w->index[2].coef[c->lane_column] = 1;
  if (c->inner >= 0 && s->group[c->inner] >= 0 && (c->group > 1 || c->taps)) {
    pack_dim(&p, -1, c->group, c->inner, 1);
    w->index[rank++].coef[s->group[c->inner]] = 1;
  }
  return pb__layout_pack(c->l, c->w_const, &c->nest->access[c->roles->w], c->nest->extent, p.count, p.dims, "lanes",
                         rank, shape);
}

// What sums of x + half of its range are too large by, negated: [batches and blocks of lanes, lanes].
static int correction(contract* c, int weights) {
  pb_consts* consts = c->l->unit->consts;
  const pb_const* w = consts->items[weights];
  int64_t half = (int64_t)1 << (pb_type_bits(w->type) - 1), lanes = c->l->lanes, group = c->insn.group;
  int64_t blocks = w->shape[0], steps = w->shape[1], shape[2] = {blocks, lanes};
  int32_t* sums = pb_alloc(&consts->arena, (size_t)(blocks * lanes) * sizeof *sums);
  const int8_t* at = pb_const_data(consts, weights);
  for (int64_t b = 0; b < blocks; ++b)
    for (int64_t k = 0; k < steps; ++k)
      for (int64_t lane = 0; lane < lanes; ++lane)
        for (int64_t g = 0; g < group; ++g) sums[b * lanes + lane] -= (int32_t)half * *at++;
  return pb_consts_add(consts, pb_printf(&consts->arena, "%s.sum", w->name ? w->name : ""), PB_I32, 2, shape, sums);
}

bool pb__layout_is_init(const pb_layout* l, int n, int reduction) {
  const pb_nest* fill = &l->program.nests[n];
  return fill->access_count == 1 && fill->reduce == PB_SET && n < reduction &&
         pb_program_same_place(&l->program, n, reduction);
}

// y = 0, or what corrects the flipped sign bits. Lanes of several groups are one dim here: nothing reads by group.
static void print_init(contract* c, const pb_access* y, int corrected) {
  pb_nest init = {.name = c->nest->name, .part = "init"};
  const pb_index* weights = c->out.access[c->roles->w].index;
  int column[PB_NEST_DIMS], gone = groups_are_lanes(c) ? c->split.group[c->g.g] : -1;
  for (int d = 0; d < c->out.dim_count; ++d) {
    column[d] = -1;
    if (!pb_access_uses(y, d) || d == gone) continue;
    column[d] = pb_nest_add_dim(&init, d == c->lane_column ? c->columns : c->out.extent[d]);
  }
  pb_access to = *y;
  pb_access_renumber(&to, column, c->out.dim_count);
  if (corrected >= 0) {
    pb_access* from = &init.access[init.access_count++];
    pb__layout_use_const(c->l, from, corrected, false);
    for (int r = 0; r < 2; ++r) from->index[r] = weights[2 * r];
    pb_access_renumber(from, column, c->out.dim_count);
    init.access[init.access_count++] = to;
    pb_nest_load(&init, 0);
  } else {
    init.access[init.access_count++] = to;
    pb_nest_const(&init, to.type, 0);
  }
  pb__layout_print(c->l, &init);
}

// A copy of x or w in the order in which the contraction walks it: [outer dims in `order`..., inner].
static void copy_operand(contract* c, pb_access* access, const char* what, const int* order, int count) {
  pb_nest copy = {.name = c->nest->name, .part = "copy"};
  pb_access to = {.type = access->type, .ref = pb_printf(&c->l->unit->pass, "%%%s%d", what, c->l->extra_values++)};
  pb_access from = *access;
  for (int r = 0; r < from.rank; ++r) memset(from.index[r].coef, 0, sizeof from.index[r].coef);
  for (int k = 0; k < count; ++k) {
    for (int r = 0; r < from.rank; ++r) from.index[r].coef[k] = access->index[r].coef[order[k]];
    to.index[k].coef[k] = 1;
    to.shape[k] = copy.extent[k] = c->out.extent[order[k]];
  }
  copy.dim_count = to.rank = count;
  pb__layout_print_copy(c->l, &copy, &from, &to);
  for (int k = 0; k < count; ++k) {
    memset(to.index[k].coef, 0, sizeof to.index[k].coef);
    to.index[k].coef[order[k]] = 1;
  }
  *access = to;
}

static int columns_of(const contract* c, const pb_access* access, int last, int* order) {
  int count = 0;
  for (int d = 0; d < c->out.dim_count; ++d)
    if (pb_access_uses(access, d) && d != last) order[count++] = d;
  if (last >= 0) order[count++] = last;
  return count;
}

// [m, k] becomes [k / block, m, block]: rows of a tile lie near each other, whatever the length of a row. What one lane
// of an instruction sums stays side by side.
static void copy_rows(contract* c, pb_access* x) {
  int order[PB_NEST_DIMS], count = 0, last = c->split.lane[c->inner], group = c->split.group[c->inner];
  for (int d = 0; d < c->out.dim_count; ++d)
    if (c->split.block[c->inner] == d) order[count++] = d;
  for (int d = 0; d < c->out.dim_count; ++d)
    if (pb_access_uses(x, d) && d != last && d != group && d != c->split.block[c->inner]) order[count++] = d;
  order[count++] = last;
  if (group >= 0) order[count++] = group;
  if (count <= PB_NEST_RANK) copy_operand(c, x, "rows", order, count);
}

// Whether the rows of a tile, as many as half the registers, drive each other out of the innermost cache: so many bytes
// apart that more of them fall on one set than it has lines.
static bool rows_collide(const contract* c, int64_t stride) {
  pb_vector_facts facts = pb_vector_facts_of(c->l->unit->chip);
  return facts.registers / 2 > facts.way / pb_gcd(facts.way, stride) * facts.ways;
}

// Whether a copy of rows that collide pays, which costs the more, the more threads write what all of them read.
static bool copies_rows(const contract* c) {
  const pb_nest* nest = c->nest;
  const pb_access* x = &nest->access[c->roles->x];
  if (c->use_matrix) return false; // its rows lie apart as they are
  return rows_collide(c, x->shape[x->rank - 1] * pb_type_bits(x->type) / 8) && c->inner >= 0 && !c->x_block &&
         c->rows >= USES_FOR_A_COPY && nest->extent[c->inner] >= 4 * c->l->lanes &&
         nest->extent[c->inner] % c->l->lanes == 0 && nest->extent[c->lanes_dim] >= 8 * c->l->lanes &&
         c->l->values[value_at(c, c->roles->x)].kind != PB_LAYOUT_BLOCKED &&
         c->l->lanes % (c->use_insn ? c->insn.group : 1) == 0;
}

// Neighbours of a row in such a copy: as many as rows can have that do not collide. Blocks of the same rows begin a
// whole copy's rows apart, on the same sets of each cache: the fewer of them, the more rows stay near.
static int64_t block_of_rows(const contract* c) {
  int64_t extent = c->nest->extent[c->inner], bytes = pb_type_bits(c->nest->access[c->roles->x].type) / 8,
          block = c->l->lanes;
  for (int64_t wider = 2 * block; wider <= extent && !rows_collide(c, wider * bytes); wider *= 2)
    if (extent % wider == 0) block = wider;
  return block;
}

// Whether node k flips x back, which is stored without sign (signs.c).
static bool flips_back(const contract* c, const pb_expr_node* expr, int k) {
  if (k < 0 || expr[k].op != PB_OP_XOR) return false;
  const pb_expr_node* load = &expr[expr[k].args[0]];
  return load->op == PB_OP_LOAD && load->operand == c->roles->x;
}

// Whether x lies without sign, as another chip has its codes, and is read so.
static bool reads_unsigned(const contract* c) {
  const pb_expr_node* expr = c->nest->expr;
  for (int k = 0; k < c->nest->expr_count; ++k)
    if (expr[k].op == PB_OP_ZEXT && expr[expr[k].args[0]].op == PB_OP_LOAD &&
        expr[expr[k].args[0]].operand == c->roles->x)
      return true;
  return false;
}

// x read without sign: with its sign bit flipped, if it is not stored so.
static void flip(contract* c) {
  pb_nest* out = &c->out;
  pb_expr_node from[PB_NEST_EXPR];
  int map[PB_NEST_EXPR], count = out->expr_count;
  memcpy(from, out->expr, sizeof from);
  out->expr_count = 0;
  for (int k = 0; k < count; ++k) {
    pb_expr_node node = from[k];
    if (flips_back(c, from, k)) {
      map[k] = map[node.args[0]];
      continue;
    }
    if (k + 1 < count && flips_back(c, from, k + 1) && from[k + 1].args[1] == k) continue; // its number
    const pb_expr_node* read = node.op == PB_OP_SEXT ? &from[node.args[0]] : &node;
    bool turns = read != &node && read->op == PB_OP_LOAD && read->operand == c->roles->x;
    int turned = turns ? pb__layout_turn_sign(out, read->type, map[node.args[0]]) : -1;
    if (turns || (read != &node && flips_back(c, from, node.args[0]))) node.op = PB_OP_ZEXT;
    map[k] = pb_nest_node_from(out, node, map);
    if (turns) out->expr[map[k]].args[0] = turned;
  }
}

static contract begin(pb_layout* l, int n, const pb_contraction_dims* roles) {
  contract c = {.l = l, .n = n, .nest = &l->program.nests[n], .roles = roles, .g.g = -1};
  const pb_value* weights = &l->program.values[value_at(&c, roles->w)];
  c.w_const = weights->kind == PB_VALUE_CONST ? weights->const_id : -1;
  return c;
}

bool pb__layout_flips(pb_layout* l, int n, const pb_contraction_dims* roles) {
  contract c = begin(l, n, roles);
  return !l->gathers[n] && !roles->x_unsigned && c.w_const >= 0 && classify(&c) && c.use_insn && c.insn.flips;
}

// Columns that fill no whole vectors, of a computed factor that lies along what is summed (keys, which scores walk as
// columns): a copy of it has them side by side, where rows take each element often enough.
static bool wants_columns(const contract* c) {
  const pb_access *x = &c->nest->access[c->roles->x], *y = &c->nest->access[c->roles->y];
  int n = pb__layout_dim_of_role(c->nest, c->roles, PB_ROLE_N);
  if (c->w_const >= 0 || n < 0 || c->rows < USES_FOR_COLUMNS || c->nest->extent[n] < c->l->lanes) return false;
  for (int a = 0; a < c->nest->access_count; ++a)
    if (pb__layout_in_rows(c->l, value_at(c, a))) return false;
  return pb_access_stride(y, n) == 1 && !pb_access_uses(x, n) && pb_access_stride(&c->nest->access[c->roles->w], n) > 1;
}

static bool copy_columns(contract* c) {
  int order[PB_NEST_DIMS];
  pb__layout_rewrite_blocks(c->l, c->n, -1, &c->out);
  pb_access* w = &c->out.access[c->roles->w];
  int count = columns_of(c, w, pb__layout_dim_of_role(c->nest, c->roles, PB_ROLE_N), order);
  if (count > PB_NEST_RANK) return false;
  PB_FOR_USES (k, &c->l->program, pb_program_stored(&c->l->program, c->n))
    if (k < c->n && pb__layout_is_init(c->l, k, c->n)) pb__layout_print_plain(c->l, k);
  copy_operand(c, w, "columns", order, count);
  pb__layout_print(c->l, &c->out);
  return true;
}

bool pb__layout_contraction(pb_layout* l, int n, const pb_contraction_dims* roles) {
  contract c = begin(l, n, roles);
  if (l->gathers[n]) {
    c.gather = pb__layout_gather(l, n, roles);
    c.nest = &c.gather->nest;
    c.roles = roles = &c.gather->roles;
    c.w_const = c.gather->weights;
  }
  if (!classify(&c)) return wants_columns(&c) && copy_columns(&c);
  find_sides(&c);
  const pb_nest* nest = c.nest;
  c.group = group_of(&c);
  pb_nest_copy(&c.out, nest);
  c.out.dim_count = 0;
  bool rows = !c.gather && copies_rows(&c);
  if (rows) c.x_block = block_of_rows(&c);
  split_all(&c);
  if (c.out.dim_count > PB_NEST_DIMS) return false;
  pb_access *x = &c.out.access[roles->x], *w = &c.out.access[roles->w], *y = &c.out.access[roles->y];
  *x = nest->access[roles->x];
  if (!c.gather) pb__layout_rewrite(l, &c.split, nest, value_at(&c, roles->x), &nest->access[roles->x], x);
  for (int r = 0; c.gather && r < x->rank; ++r)
    pb__layout_spread(&c.split, &nest->access[roles->x].index[r], nest->dim_count, &x->index[r]);
  pb__layout_rewrite(l, &c.split, nest, value_at(&c, roles->y), &nest->access[roles->y], y);
  int corrected = -1;
  if (c.w_const >= 0) {
    int id = pack_weights(&c, w);
    pb__layout_use_const(l, w, id, false);
    if (c.use_insn && c.insn.flips && !reads_unsigned(&c)) {
      corrected = correction(&c, id);
      flip(&c);
    }
  } else {
    pb__layout_rewrite(l, &c.split, nest, value_at(&c, roles->w), &nest->access[roles->w], w);
  }
  PB_FOR_USES (k, &l->program, pb_program_stored(&l->program, n))
    if (k < n && pb__layout_is_init(l, k, n)) {
      print_init(&c, y, corrected);
      break;
    }
  if (c.gather) pb__layout_print_gather(l, c.gather);
  if (rows) copy_rows(&c, x);
  if (c.w_const < 0 && wants_packing(&c, w)) {
    int order[PB_NEST_DIMS], count = columns_of(&c, w, c.lane_column, order);
    if (count <= PB_NEST_RANK) copy_operand(&c, w, "packed", order, count);
  }
  pb__layout_print(l, &c.out);
  return true;
}
