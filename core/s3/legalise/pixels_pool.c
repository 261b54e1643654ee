// Inside `pixels`: largest elements under a window, cut in two so that no lane meets another. A window's lines are
// another row's same lanes; its columns are other lanes, which products by 0 and 1 bring there.
//
//   before   y[c, h, w] = max x[c, 2 h + r, 2 w + s]                           over r and s
//   after    v[c, h, w] = max x[c, 2 h + r, w]                                 over r
//            d[(s, c), h, w] += v[c', h, 2 w + s'] * (s = s' and c = c');  u[...] = codes of d[...]
//            y[c, h, w] = max u[(s, c), h, w]                                  over s
//
// The first of these has as many pixels in a row as what makes x, the last as what takes y. That the codes of sums are
// the sums again takes an instruction that makes such codes at all.
#include "core/s3/compose.h"
#include "core/s3/kernel/landing.h"
#include "core/s3/legalise/pixels.h"

#include <string.h>

typedef struct pool {
  const pb_nest* nest;
  int x, y, source; // values; what x is a padded copy of, or x itself
  int c, h, w, r, s;
  int init;          // the nest that sets what it begins with
  const pb_pad* pad; // NULL: there is none
} pool;

static int find_dim(const pb_nest* nest, const pb_access* x, int index, bool summed) {
  const pb_access* store = &nest->access[nest->access_count - 1];
  for (int d = 0; d < nest->dim_count; ++d)
    if (x->index[index].coef[d] && pb_access_uses(store, d) != summed) return d;
  return -1;
}

// Largest codes of images, by a window of several columns.
static bool read_pool(const pb_pixels* p, int n, pool* out) {
  const pb_nest* nest = &p->program->nests[n];
  const pb_access *x = &nest->access[0], *store = &nest->access[nest->access_count - 1];
  int dim, walks = 0;
  if ((nest->reduce != PB_ACC_MAX && nest->reduce != PB_ACC_MAXU) || nest->access_count != 2 || nest->expr_count != 1 ||
      x->rank != 4 || x->boxed || x->gathered || store->rank != 4 || x->type != PB_I8 || store->type != PB_I8)
    return false;
  *out = (pool){.nest = nest, .x = p->program->value_of[n][0], .y = pb_program_stored(p->program, n)};
  if (!pb_index_single(&x->index[0], &dim) || !pb_index_single(&x->index[1], &out->c) || out->c < 0) return false;
  out->r = find_dim(nest, x, 2, true);
  out->s = find_dim(nest, x, 3, true);
  out->h = find_dim(nest, x, 2, false);
  out->w = find_dim(nest, x, 3, false);
  if (out->s < 0 || out->w < 0) return false;
  for (int r = 0; r < 4; ++r) {
    if (memcmp(&x->index[r], &store->index[r], sizeof x->index[r]) && r < 2) return false;
    if (r > 1 && (!pb_index_single(&store->index[r], &dim) || dim != (r == 2 ? out->h : out->w))) return false;
    for (int d = 0; d < nest->dim_count; ++d) walks += x->index[r].coef[d] != 0;
  }
  out->init = pb_program_init_of(p->program, n);
  if (walks != nest->dim_count || out->init < 0 || !pb_nest_is_fill(&p->program->nests[out->init])) return false;
  out->source = out->x;
  const pb_pixels_value* padded = &p->values[out->x];
  if (!padded->padded) return true;
  out->pad = &padded->pad;
  out->source = padded->source;
  return pb_program_readers(p->program, out->x) == 1;
}

// ---- nests ----

static int add_value(pb_pixels* p, pb_type type, const int64_t* shape) {
  pb_access like = {.type = type, .rank = 4};
  memcpy(like.shape, shape, 4 * sizeof *shape);
  return pb_program_add_local(&p->to, &p->unit->pass, &like);
}

// A nest that walks the value by dims in the order of its indices; where it stores stands last.
static pb_access walk(const pb_pixels* p, int v, pb_nest* nest, int* dims) {
  pb_access access = pb_value_shape(&p->to.values[v]);
  for (int r = 0; r < 4; ++r) {
    dims[r] = -1;
    if (access.shape[r] == 1 && r != 1) continue; // `layout` finds channels by the dim that walks them, also one
    dims[r] = pb_nest_add_dim(nest, access.shape[r]);
    access.index[r].coef[dims[r]] = 1;
  }
  return access;
}

// The value with a border along one index, or itself where there is none.
static int put_pad(pb_pixels* p, const char* name, int v, int index, int64_t before, int64_t extent, double number) {
  const int64_t* shape = p->to.values[v].shape;
  if (shape[index] == extent && !before) return v;
  int64_t wide[4], low[4] = {0}, high[4];
  memcpy(wide, shape, sizeof wide);
  wide[index] = extent;
  int64_t inside = shape[index];
  int to = add_value(p, p->to.values[v].type, wide), dims[4];
  memcpy(high, wide, sizeof high);
  high[index] = before;
  (void)pb_program_add_fill(&p->to, name, "pad", to, low, high, number);
  low[index] = before + inside;
  high[index] = extent;
  (void)pb_program_add_fill(&p->to, name, "pad", to, low, high, number);
  pb_nest loops;
  pb_nest_begin(&loops, name, "copy", 0);
  pb_access from = walk(p, v, &loops, dims), into = from;
  memcpy(into.shape, wide, sizeof wide);
  into.index[index].cst = before;
  pb_program_add_copy(&p->to, &loops, &from, v, &into, to);
  return to;
}

// Largest elements over a dim that index `index` of x goes along as `moved` says, beside what walks y.
static void put_max(pb_pixels* p, const pool* of, int x, int y, int index, pb_index moved, int64_t step,
                    int64_t extent) {
  pb_nest nest;
  int dims[4];
  pb_nest_begin(&nest, of->nest->name, "reduce", 2);
  nest.reduce = of->nest->reduce;
  nest.access[1] = walk(p, y, &nest, dims);
  nest.access[0] = pb_value_shape(&p->to.values[x]);
  memcpy(nest.access[0].index, nest.access[1].index, sizeof nest.access[0].index);
  if (dims[index] >= 0) nest.access[0].index[index].coef[dims[index]] = step;
  nest.access[0].index[index].cst = moved.cst;
  pb_nest_walk(&nest, &nest.access[0].index[index], moved.coef[0], extent);
  (void)pb_nest_load(&nest, 0);
  (void)pb_program_add_nest(&p->to, &nest, (const int[PB_NEST_ACCESSES]){x, y});
}

// ---- columns of the window by products ----

static int add_numbers(pb_pixels* p, pb_type type, int rank, const int64_t* shape, const void* data) {
  return pb_program_add_const(&p->to, &p->unit->pass, p->unit->consts, "columns", type, rank, shape, data);
}

static int add_places(pb_pixels* p, int64_t channels, int64_t columns) {
  int64_t shape[4] = {columns * channels, channels, 1, columns};
  int8_t* data = pb_alloc(&p->unit->consts->arena, (size_t)(shape[0] * shape[1] * shape[3]));
  for (int64_t s = 0; s < columns; ++s)
    for (int64_t c = 0; c < channels; ++c) data[((s * channels + c) * channels + c) * columns + s] = 1;
  return add_numbers(p, PB_I8, 4, shape, data);
}

static int widened(pb_nest* nest, int access, bool is_unsigned) {
  return pb_nest_node(nest, is_unsigned ? PB_OP_ZEXT : PB_OP_SEXT, PB_I32, pb_nest_load(nest, access), -1);
}

// Codes of 0 to 255, where the pool takes the largest of such.
static bool has_no_sign(const pool* of) { return of->nest->reduce == PB_ACC_MAXU; }

static void put_products(pb_pixels* p, const pool* of, int x, int weights, int sums) {
  pb_nest nest;
  int dims[4];
  const pb_index* line = &of->nest->access[0].index[3];
  (void)pb_program_add_fill(&p->to, of->nest->name, "init", sums, NULL, NULL, 0);
  pb_nest_begin(&nest, of->nest->name, "reduce", 3);
  nest.reduce = PB_ACC_ADD;
  nest.access[2] = walk(p, sums, &nest, dims);
  nest.access[0] = pb_value_shape(&p->to.values[x]);
  nest.access[1] = pb_value_shape(&p->to.values[weights]);
  int c = pb_nest_add_dim(&nest, nest.access[1].shape[1]), s = pb_nest_add_dim(&nest, nest.access[1].shape[3]);
  for (int r = 0; r < 3; r += 2) nest.access[0].index[r] = nest.access[2].index[r];
  nest.access[0].index[1].coef[c] = nest.access[1].index[1].coef[c] = 1;
  nest.access[0].index[3].cst = line->cst;
  nest.access[0].index[3].coef[s] = line->coef[of->s];
  if (dims[3] >= 0) nest.access[0].index[3].coef[dims[3]] = line->coef[of->w];
  nest.access[1].index[0].coef[dims[1]] = nest.access[1].index[3].coef[s] = 1;
  int left = widened(&nest, 0, has_no_sign(of)), right = widened(&nest, 1, false);
  (void)pb_nest_node(&nest, PB_OP_MUL, PB_I32, left, right);
  (void)pb_program_add_nest(&p->to, &nest, (const int[PB_NEST_ACCESSES]){x, weights, sums});
}

// Codes of sums of codes, as convolutions' are made: by a bias of 0 and a scale of 1.
static void make_codes(const pb_pixels* p, const pool* of, int sums, int bias, int scale, int codes, pb_nest* nest) {
  int dims[4];
  bool is_unsigned = has_no_sign(of);
  pb_nest_begin(nest, of->nest->name, "point", 4);
  nest->access[3] = walk(p, codes, nest, dims);
  nest->access[0] = pb_value_shape(&p->to.values[bias]);
  nest->access[1] = pb_value_shape(&p->to.values[sums]);
  nest->access[2] = pb_value_shape(&p->to.values[scale]);
  memcpy(nest->access[1].index, nest->access[3].index, sizeof nest->access[1].index);
  nest->access[0].index[0].coef[dims[1]] = nest->access[2].index[0].coef[dims[1]] = 1;
  int number = pb_nest_load(nest, 0), v = pb_nest_load(nest, 1);
  v = pb_nest_node(nest, PB_OP_ADD, PB_I32, v, number);
  v = pb_nest_node(nest, PB_OP_SITOFP, PB_F32, v, -1);
  number = pb_nest_load(nest, 2);
  v = pb_nest_node(nest, PB_OP_MUL, PB_F32, v, number);
  v = pb_nest_node(nest, PB_OP_ROUNDEVEN, PB_F32, v, -1);
  v = pb_nest_node(nest, PB_OP_MAX, PB_F32, v, pb_nest_const(nest, PB_F32, is_unsigned ? 0 : INT8_MIN));
  v = pb_nest_node(nest, PB_OP_MIN, PB_F32, v, pb_nest_const(nest, PB_F32, is_unsigned ? UINT8_MAX : INT8_MAX));
  (void)pb_nest_node(nest, is_unsigned ? PB_OP_FPTOUI : PB_OP_FPTOSI8, PB_I8, v, -1);
}

// false: the chip makes no such codes.
static bool put_columns(pb_pixels* p, const pool* of, int x) {
  const int64_t* y = p->to.values[of->y].shape;
  int64_t columns = of->nest->extent[of->s], channels = y[1], shape[4] = {y[0], columns * channels, y[2], y[3]};
  int32_t* zeros = PB_NEW_ARRAY(&p->unit->consts->arena, int32_t, (size_t)shape[1]);
  float* ones = PB_NEW_ARRAY(&p->unit->consts->arena, float, (size_t)shape[1]);
  for (int64_t k = 0; k < shape[1]; ++k) ones[k] = 1;
  int sums = add_value(p, PB_I32, shape), codes = add_value(p, PB_I8, shape);
  int bias = add_numbers(p, PB_I32, 1, &shape[1], zeros), scale = add_numbers(p, PB_F32, 1, &shape[1], ones);
  pb_nest point;
  make_codes(p, of, sums, bias, scale, codes, &point);
  if (!pb_nest_known(p->unit->chip, &point)) return false;
  put_products(p, of, x, add_places(p, channels, columns), sums);
  (void)pb_program_add_nest(&p->to, &point, (const int[PB_NEST_ACCESSES]){bias, sums, scale, codes});
  const pb_program* program = p->program; // what the pool begins with, behind all that it takes now
  (void)pb_program_add_nest(&p->to, &program->nests[of->init], program->value_of[of->init]);
  put_max(p, of, codes, of->y, 1, (pb_index){.coef = {channels}}, 1, columns);
  return true;
}

static bool cut_pool(pb_pixels* p, const pool* of) {
  const pb_nest* nest = of->nest;
  const pb_index* lines = &nest->access[0].index[2];
  const int64_t *x = p->program->values[of->x].shape, *y = p->program->values[of->y].shape;
  double fill = of->pad ? of->pad->fill : 0;
  int v = put_pad(p, nest->name, of->source, 2, of->pad ? of->pad->shift[2] : 0, x[2], fill);
  if (of->r >= 0) {
    int64_t shape[4] = {y[0], y[1], y[2], p->to.values[v].shape[3]};
    int most = add_value(p, PB_I8, shape);
    (void)pb_program_add_fill(&p->to, nest->name, "init", most, NULL, NULL, (double)pb_reduce_least(nest->reduce, 8));
    put_max(p, of, v, most, 2, (pb_index){.coef = {lines->coef[of->r]}, .cst = lines->cst},
            of->h < 0 ? 1 : lines->coef[of->h], nest->extent[of->r]);
    v = most;
  } else if (of->h < 0 || lines->coef[of->h] != 1 || lines->cst) {
    return false;
  }
  v = put_pad(p, nest->name, v, 3, of->pad ? of->pad->shift[3] : 0, x[3], fill);
  return put_columns(p, of, v);
}

bool pb__pixels_find_pools(const pb_pixels* p, bool* pools) {
  bool any = false;
  for (int n = 0; n < p->program->nest_count; ++n) any |= pools[n] = read_pool(p, n, &(pool){0});
  return any;
}

bool pb__pixels_cut_pools(const pb_pixels* from, pb_program* cut) {
  pb_pixels p = *from;
  bool any = false, *gone = PB_NEW_ARRAY(&p.unit->pass, bool, (size_t)p.program->nest_count + 1);
  pool of;
  for (int n = 0; n < p.program->nest_count; ++n) {
    if (!read_pool(&p, n, &of)) continue;
    any = gone[of.init] = true;
    if (of.pad)
      PB_FOR_USES (k, p.program, of.x) gone[k] = k != n;
  }
  if (!any) return false;
  pb_program_begin_nests(p.program, &p.unit->pass, &p.to);
  for (int n = 0; n < p.program->nest_count; ++n) {
    if (gone[n]) continue;
    if (!read_pool(&p, n, &of))
      (void)pb_program_add_nest(&p.to, &p.program->nests[n], p.program->value_of[n]);
    else if (!cut_pool(&p, &of))
      return false;
  }
  pb_program_index(&p.to, &p.unit->pass);
  *cut = p.to;
  return true;
}
