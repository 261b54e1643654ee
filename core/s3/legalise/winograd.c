// Winograd: a convolution of codes with a 3x3 window that goes pixel by pixel, on cores that multiply factors of 16
// bits alone: F(2x2, 3x3) of Lavin and Gray 2015, on integers. Two by two results take 16 products for each channel and
// not 36. Requires the program function in value form, padded tensors made in place; leaves it so. Exact.
//
//   before   acc[o, h, w] += x[c, h + r, w + s] * k[o, c, r, s];                y[o, h, w] = f(acc[o, h, w])
//   after    v[i, j][c, t, u] = B x[c, 2t + ., 2u + .] B';
//            m[i, j][o, t, u] += v[i, j][c, t, u] * g[i, j][o, c];              y[o, 2t + p, 2u + q] = f(A m A' / 4)
//
// g is 2G k (2G)', which has no fractions: 9 * 128 at most, as v is 4 * 128 at most, so both are numbers of 16 bits. m
// may wrap around; what is divided by 4 fits 32 bits, and is a multiple of 4.
//
// Of an odd number of lines or columns the last tiles have no second one: x gets the line more that they read, and what
// takes the sums is a nest for the first and one for the second ones.
//
// Rows of B, G and A stand such that places are linear: of B's rows 0 and 3 take x[a] - x[a + 2] for a of 0 and 1, the
// other two x[1] + s x[2] for s of 1 and -1; of A' the columns take m[0] + m[1] + m[2] and m[3] + m[1] - m[2].
#include "core/s3/compose.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/vector.h"
#include "core/s3/program.h"

#include <string.h>

enum { PLACES = 4, WINDOW = 3, TILE = 2, LEAST_NESTS = 7 };
// Accesses that who takes the sums has more than before, and those left for what passes behind this one put in.
enum { TAKEN = WINDOW * WINDOW + 1, SPARE = 2 };

typedef struct winograd {
  pb_unit* unit;
  pb_program *from, to;
  pb_vector_insn insn; // that sums products of 16 bits
  int signs[2];        // {1, -1} of 16 and 32 bits; -1: not there yet
  int (*grows)[2];     // by value: lines and columns that tiles read behind its last ones
} winograd;

// A convolution. Dims are its nest's, but for those of the reader, which takes the sums.
typedef struct convolution {
  int nest, init, reader, load; // load: the reader's access to the sums
  int x, w, y;                  // accesses
  int b, o, h, v, c;
  int reader_b, reader_o, reader_h, reader_v;
  int64_t images, rows, columns; // tiles
} convolution;

// ---- which ----

// Whether the chip multiplies codes only after they were extended to 16 bits.
static bool extends(winograd* w) {
  pb_select_memo memo = {.chip = w->unit->chip, .arena = &w->unit->pass};
  w->insn = pb_vector_contraction(&memo, PB_I8, PB_I8, PB_I32);
  const pb_operand* operands = w->insn.insn ? w->insn.insn->operands : NULL;
  return operands && operands[w->insn.x].type == PB_I16 && operands[w->insn.w].type == PB_I16;
}

// Whether the nest multiplies codes, as they are, and nothing else.
static bool multiplies_codes(const winograd* w, int n, convolution* c) {
  const pb_nest* nest = &w->from->nests[n];
  pb_contraction_dims roles;
  if (nest->access_count != 3 || nest->expr_count != 5 || !pb_program_contraction_dims(w->from, n, &roles))
    return false;
  c->nest = n;
  c->x = roles.x;
  c->w = roles.w;
  c->y = roles.y;
  return roles.x_type == PB_I8 && roles.w_type == PB_I8 && !roles.x_unsigned && !roles.x_flips && !roles.less &&
         pb_program_is_const(w->from, n, roles.w) && nest->access[roles.y].type == PB_I32;
}

// Whether index r goes by dim `from` and the window's dim of weights' index r alike.
static bool slides(const pb_nest* nest, const pb_access* x, const pb_access* weights, int r, int dim) {
  int window;
  pb_index index = x->index[r];
  if (!pb_index_single(&weights->index[r], &window) || window < 0 || weights->shape[r] != WINDOW) return false;
  if (index.coef[window] != 1 || nest->extent[window] != WINDOW || window == dim) return false;
  index.coef[window] = index.cst = 0;
  return pb_index_dim(&index) == dim;
}

static bool has_its_form(const winograd* w, convolution* c) {
  const pb_nest* nest = &w->from->nests[c->nest];
  const pb_access *x = &nest->access[c->x], *k = &nest->access[c->w], *y = &nest->access[c->y];
  int image, dims[PB_NEST_RANK];
  if (x->rank != 4 || k->rank != 4 || x->boxed || !pb_walks_all(nest, y, dims)) return false;
  c->b = dims[0], c->o = dims[1], c->h = dims[2], c->v = dims[3];
  if (c->o < 0 || c->h < 0 || c->v < 0 || nest->dim_count != 6 + (c->b >= 0)) return false;
  if (!pb_index_single(&x->index[0], &image) || image != c->b) return false;
  c->c = pb_index_dim(&x->index[1]);
  if (c->c < 0 || pb_index_dim(&k->index[1]) != c->c || pb_index_dim(&k->index[0]) != c->o) return false;
  return slides(nest, x, k, 2, c->h) && slides(nest, x, k, 3, c->v);
}

// Whether the sums start from 0, and one pointwise nest takes them, each once, with room for what it will read.
static bool one_takes_sums(const winograd* w, convolution* c) {
  const pb_program* p = w->from;
  int sums = pb_program_stored(p, c->nest), dims[PB_NEST_RANK];
  c->init = c->reader = c->load = -1;
  if (!pb_program_is_local(p, sums)) return false;
  PB_FOR_USES (n, p, sums) {
    const pb_nest* nest = &p->nests[n];
    bool fills = pb_nest_is_fill(nest) && n < c->nest;
    if (n == c->nest) continue;
    if (*(fills ? &c->init : &c->reader) >= 0) return false;
    *(fills ? &c->init : &c->reader) = n;
  }
  if (c->init < 0 || c->reader < c->nest) return false;
  const pb_nest *init = &p->nests[c->init], *reader = &p->nests[c->reader];
  if (init->expr[init->expr_count - 1].integer != 0 || !pb_walks_elements(init, &init->access[0], dims)) return false;
  if (reader->reduce != PB_SET || pb_nest_is_fixed(reader)) return false;
  for (int a = 0; a + 1 < reader->access_count; ++a) {
    if (p->value_of[c->reader][a] != sums) continue;
    if (c->load >= 0) return false;
    c->load = a;
  }
  if (c->load < 0 || !pb_walks_elements(reader, &reader->access[c->load], dims)) return false;
  c->reader_b = dims[0], c->reader_o = dims[1], c->reader_h = dims[2], c->reader_v = dims[3];
  return reader->access_count + TAKEN + SPARE <= PB_NEST_ACCESSES && reader->dim_count + SPARE <= PB_NEST_DIMS &&
         reader->expr_count + 64 <= PB_NEST_EXPR && c->reader_o >= 0 && c->reader_h >= 0 && c->reader_v >= 0;
}

// Sums of products of codes that fit after they were multiplied by 4.
static bool fits(int64_t channels) { return channels < ((int64_t)1 << 31) / (4 * WINDOW * WINDOW * 128 * 128); }

// ---- whether it pays ----

// Issue slots of a vector of v: four loads, three additions and a store; of results: nine loads, twelve operations and
// a shift. And how many of them a core begins in a cycle.
enum { INPUT_SLOTS = 8, RESULT_SLOTS = 22, SLOTS = 2 };
// It has to save one part of so many: what is added up here is rough.
enum { LEAST_GAIN = 8 };

static int64_t longest(int64_t a, int64_t b) { return a > b ? a : b; }

// Cycles in which a tensor goes once where it lies: the smallest cache that holds all of it, or the system's memory.
static int64_t moving(const pb_chip* chip, int64_t bytes) {
  const pb_memory* home = &chip->memories[chip->system_memory];
  for (int m = 0; m < chip->memory_count; ++m) {
    const pb_memory* memory = &chip->memories[m];
    if (memory->cached && memory->bytes >= bytes && memory->bytes < home->bytes) home = memory;
  }
  return bytes / longest(home->bytes_per_cycle, 1);
}

// Its products at the instruction's rate, or what they read and write, whichever takes longer; the same of both
// transformations. What is written is fetched before. Weights are waited for: no other sum reads them, and with few
// tiles, as of 7x7 pixels of 512 channels, those of all places take longer than the products saved.
static bool is_worth_it(const winograd* w, const convolution* c) {
  const pb_chip* chip = w->unit->chip;
  const pb_nest* nest = &w->from->nests[c->nest];
  int64_t tiles = c->images * c->rows * c->columns, lanes = w->insn.lanes;
  int64_t cycles = pb_cycles_at_most(w->insn.insn), side_by_side = pb_vector_products(&w->insn);
  int64_t ins = nest->extent[c->c], outs = nest->extent[c->o],
          pixels = c->images * nest->extent[c->h] * nest->extent[c->v];
  int64_t all = PLACES * PLACES, window = WINDOW * WINDOW, products = ins * outs * tiles * cycles / side_by_side;
  int64_t direct = ins * outs * pixels * window * cycles / side_by_side + moving(chip, window * ins * outs);
  int64_t inputs = moving(chip, all * 2 * tiles * ins), sums = moving(chip, all * 4 * tiles * outs);
  int64_t taken =
      moving(chip, all * 2 * ins * outs) + longest(all * tiles * ins / lanes * INPUT_SLOTS / SLOTS, 2 * inputs) +
      longest(all * products, inputs + 2 * sums) + longest(pixels * outs / lanes * RESULT_SLOTS / SLOTS, sums);
  if (chip->level_count) taken += (LEAST_NESTS - 2) * chip->levels[0].sync_cycles;
  return taken <= direct - direct / LEAST_GAIN;
}

// Lines and columns of the last tiles that are behind x's end.
static void find_missing(const winograd* w, const convolution* c, int* more) {
  const pb_access* x = &w->from->nests[c->nest].access[c->x];
  const int64_t tiles[] = {c->rows, c->columns};
  for (int r = 0; r < 2; ++r) {
    int64_t missing = x->index[2 + r].cst + TILE * tiles[r] + PLACES - TILE - x->shape[2 + r];
    more[r] = missing > 0 ? (int)missing : 0;
  }
}

// Whether the tiles' last lines and columns are x's, or x can have them: nothing walks it as a flat tensor, nor reads
// it through a box.
static bool has_tiles(const winograd* w, const convolution* c) {
  const pb_program* p = w->from;
  int x = p->value_of[c->nest][c->x], more[2];
  find_missing(w, c, more);
  if (!more[0] && !more[1]) return true;
  if (!pb_program_is_local(p, x) || more[0] > 1 || more[1] > 1) return false;
  PB_FOR_ACCESSES (n, a, p, x)
    if (p->nests[n].access[a].boxed || pb_access_can_leave(&p->nests[n], &p->nests[n].access[a])) return false;
  return true;
}

static bool is_one(const winograd* w, int n, convolution* c) {
  const pb_nest* nest = &w->from->nests[n];
  if (!multiplies_codes(w, n, c) || !has_its_form(w, c) || !one_takes_sums(w, c)) return false;
  c->images = c->b < 0 ? 1 : nest->extent[c->b];
  c->rows = (nest->extent[c->h] + TILE - 1) / TILE;
  c->columns = (nest->extent[c->v] + TILE - 1) / TILE;
  return fits(nest->extent[c->c]) && is_worth_it(w, c) && has_tiles(w, c);
}

// ---- what is read and made ----

// A tensor of a number for each place, channel and tile.
static int add_places(winograd* w, const convolution* c, pb_type type, int64_t channels) {
  pb_access like = {.type = type, .rank = 4, .shape = {PLACES * PLACES * c->images, channels, c->rows, c->columns}};
  return pb_program_add_local(&w->to, &w->unit->pass, &like);
}

static int signs(winograd* w, pb_type type) {
  static const int16_t narrow[] = {1, -1};
  static const int32_t wide[] = {1, -1};
  int* known = &w->signs[type == PB_I32];
  const int64_t shape = 2;
  if (*known < 0)
    *known = pb_program_add_const(&w->to, &w->unit->pass, w->unit->consts, "signs", type, 1, &shape,
                                  type == PB_I32 ? (const void*)wide : narrow);
  return *known;
}

// 2G k (2G)' as [place, o, c].
static int transformed_weights(winograd* w, const convolution* c) {
  static const int g[PLACES][WINDOW] = {{2, 0, 0}, {1, 1, 1}, {-1, 1, -1}, {0, 0, -2}};
  pb_consts* consts = w->unit->consts;
  int id = w->from->values[w->from->value_of[c->nest][c->w]].const_id;
  const int8_t* k = pb_const_data(consts, id);
  int64_t count = consts->items[id]->shape[0] * consts->items[id]->shape[1];
  const int64_t shape[] = {PLACES * PLACES, consts->items[id]->shape[0], consts->items[id]->shape[1]};
  int16_t* made = pb_alloc_array(&consts->arena, (size_t)(PLACES * PLACES * count) + 1, sizeof *made);
  for (int64_t n = 0; n < count; ++n, k += WINDOW * WINDOW)
    for (int i = 0; i < PLACES; ++i) {
      int line[WINDOW];
      for (int s = 0; s < WINDOW; ++s) line[s] = g[i][0] * k[s] + g[i][1] * k[WINDOW + s] + g[i][2] * k[2 * WINDOW + s];
      for (int j = 0; j < PLACES; ++j)
        made[(i * PLACES + j) * count + n] = (int16_t)(g[j][0] * line[0] + g[j][1] * line[1] + g[j][2] * line[2]);
    }
  return pb_program_add_const(&w->to, &w->unit->pass, consts, consts->items[id]->name, PB_I16, 3, shape, made);
}

// ---- nests ----

// Dims of a tensor of places; -1: there is one image.
typedef struct tile_dims {
  int image, channel, row, column;
} tile_dims;

static pb_access at_place(const winograd* w, int value, const tile_dims* d, int64_t images, int64_t place) {
  pb_access a = pb_value_shape(&w->to.values[value]);
  if (d->image >= 0) a.index[0].coef[d->image] = 1;
  a.index[0].cst = place * images;
  a.index[1].coef[d->channel] = a.index[2].coef[d->row] = a.index[3].coef[d->column] = 1;
  return a;
}

// Signs that are known, not loaded.
enum { PLUS = -2, MINUS = -1 };

static int term(pb_nest* nest, int first, int second, int sign) {
  pb_type type = nest->expr[first].type;
  if (sign < 0) return pb_nest_node(nest, sign == PLUS ? PB_OP_ADD : PB_OP_SUB, type, first, second);
  return pb_nest_node(nest, PB_OP_ADD, type, first, pb_nest_node(nest, PB_OP_MUL, type, sign, second));
}

// v at places of B's rows 0 and 3, or (`sums`) 1 and 2, of lines and of columns.
static void add_inputs(winograd* w, const convolution* c, int to, bool line_sums, bool column_sums) {
  const pb_nest* from = &w->from->nests[c->nest];
  pb_nest nest;
  int value_of[PB_NEST_ACCESSES];
  const bool sums[] = {line_sums, column_sums};
  pb_nest_begin(&nest, from->name, "point", 4);
  int of[2];
  for (int r = 0; r < 2; ++r) of[r] = pb_nest_add_dim(&nest, 2);
  tile_dims d = {.image = c->b < 0 ? -1 : pb_nest_add_dim(&nest, c->images)};
  d.channel = pb_nest_add_dim(&nest, from->extent[c->c]);
  d.row = pb_nest_add_dim(&nest, c->rows);
  d.column = pb_nest_add_dim(&nest, c->columns);
  for (int k = 0; k < 4; ++k) { // lines first
    pb_access* x = &nest.access[k];
    *x = pb_value_shape(&w->to.values[w->from->value_of[c->nest][c->x]]);
    if (d.image >= 0) x->index[0].coef[d.image] = 1;
    x->index[1].coef[d.channel] = 1;
    for (int r = 0; r < 2; ++r) {
      int second = r ? k / 2 : k % 2;
      x->index[2 + r].coef[r ? d.column : d.row] = TILE;
      x->index[2 + r].coef[of[r]] = !sums[r];
      x->index[2 + r].cst = from->access[c->x].index[2 + r].cst + (sums[r] ? 1 + second : 2 * second);
    }
    value_of[k] = w->from->value_of[c->nest][c->x];
  }
  int sign[] = {MINUS, MINUS};
  for (int r = 0; r < 2; ++r) {
    if (!sums[r]) continue;
    value_of[nest.access_count] = signs(w, PB_I16);
    nest.access[nest.access_count] = pb_value_shape(&w->to.values[value_of[nest.access_count]]);
    nest.access[nest.access_count].index[0].coef[of[r]] = 1;
    sign[r] = nest.access_count++;
  }
  value_of[nest.access_count] = to;
  pb_access* store = &nest.access[nest.access_count++];
  *store = at_place(w, to, &d, c->images, (line_sums ? PLACES : 0) + (column_sums ? 1 : 0));
  store->index[0].coef[of[0]] = c->images * PLACES * (line_sums ? 1 : 3);
  store->index[0].coef[of[1]] = c->images * (column_sums ? 1 : 3);
  for (int r = 0; r < 2; ++r)
    if (sign[r] >= 0) sign[r] = pb_nest_load(&nest, sign[r]);
  int lines[2];
  for (int k = 0; k < 2; ++k) {
    int first = pb_nest_node(&nest, PB_OP_SEXT, PB_I16, pb_nest_load(&nest, 2 * k), -1);
    lines[k] = term(&nest, first, pb_nest_node(&nest, PB_OP_SEXT, PB_I16, pb_nest_load(&nest, 2 * k + 1), -1), sign[0]);
  }
  (void)term(&nest, lines[0], lines[1], sign[1]);
  (void)pb_program_add_nest(&w->to, &nest, value_of);
}

// m: what it starts from, and its products.
static void add_products(winograd* w, const convolution* c, int inputs, int sums) {
  const pb_nest* from = &w->from->nests[c->nest];
  pb_nest nest;
  pb_nest_begin(&nest, from->name, "init", 1);
  int place = pb_nest_add_dim(&nest, PLACES * PLACES);
  tile_dims d = {.image = c->b < 0 ? -1 : pb_nest_add_dim(&nest, c->images)};
  d.channel = pb_nest_add_dim(&nest, from->extent[c->o]);
  d.row = pb_nest_add_dim(&nest, c->rows);
  d.column = pb_nest_add_dim(&nest, c->columns);
  nest.access[0] = at_place(w, sums, &d, c->images, 0);
  nest.access[0].index[0].coef[place] = c->images;
  (void)pb_nest_integer(&nest, PB_I32, 0);
  (void)pb_program_add_nest(&w->to, &nest, (int[PB_NEST_ACCESSES]){sums});
  int weights = transformed_weights(w, c), channel = d.channel;
  pb_access store = nest.access[0];
  nest.part = "reduce"; // by the same loops, and one more
  nest.macs = from->macs;
  nest.reduce = PB_ACC_ADD;
  nest.access_count = 3;
  nest.expr_count = 0;
  d.channel = pb_nest_add_dim(&nest, from->extent[c->c]);
  nest.access[0] = at_place(w, inputs, &d, c->images, 0);
  nest.access[0].index[0].coef[place] = c->images;
  nest.access[1] = pb_value_shape(&w->to.values[weights]);
  nest.access[1].index[0].coef[place] = nest.access[1].index[1].coef[channel] =
      nest.access[1].index[2].coef[d.channel] = 1;
  nest.access[2] = store;
  (void)pb_nest_product(&nest);
  (void)pb_program_add_nest(&w->to, &nest, (int[PB_NEST_ACCESSES]){inputs, weights, sums});
}

// ---- what takes the sums ----

// Which of the two lines or columns of a tile's pixels.
typedef enum tile_part { FIRST, SECOND, BOTH } tile_part;

// The dims of a nest over pixels: those of tiles, and of a tile's lines and columns; -1: there is one of them.
typedef struct pixel_dims {
  tile_dims tile;
  tile_part part[2];
  int within[2];
} pixel_dims;

// Dim d of pixels becomes one of tiles and, where it goes over both of a tile, behind it one within a tile.
static void cut_pixels(pb_nest* nest, int d, int r, pixel_dims* dims) {
  int* all[] = {&dims->tile.image, &dims->tile.channel, &dims->tile.row, &dims->tile.column, &dims->within[0]};
  if (dims->part[r] == BOTH) {
    pb_nest_cut_dim(nest, d, TILE);
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) *all[k] += *all[k] > d;
    dims->within[r] = d + 1;
    return;
  }
  for (int a = 0; a < nest->access_count; ++a)
    for (int i = 0; i < nest->access[a].rank; ++i) {
      pb_index* index = &nest->access[a].index[i];
      index->cst += index->coef[d] * (int)dims->part[r];
      index->coef[d] *= TILE;
    }
  nest->extent[d] = (nest->extent[d] + TILE - 1 - (int)dims->part[r]) / TILE;
}

// Appends the accesses that a result is made of: nine sums, from places 3, 1 and 2 of lines and of columns (the first
// for the second pixel; else it is 0), and the signs of the third line and of the third column that are not known.
static void add_sums(winograd* w, const convolution* c, int sums, const pixel_dims* d, pb_nest* nest, int* value_of) {
  const int64_t step[] = {PLACES * c->images, c->images};
  for (int k = 0; k < WINDOW * WINDOW; ++k) {
    const int place[] = {k / WINDOW, k % WINDOW};
    value_of[nest->access_count] = sums;
    pb_access* a = &nest->access[nest->access_count++];
    *a = at_place(w, sums, &d->tile, c->images, 0);
    for (int r = 0; r < 2; ++r) {
      bool moves = place[r] == 0 && d->part[r] == BOTH, far = place[r] == 0 && d->part[r] == SECOND;
      if (moves) a->index[0].coef[d->within[r]] = (PLACES - 1) * step[r];
      a->index[0].cst += (far ? PLACES - 1 : place[r]) * step[r];
    }
  }
  for (int r = 0; r < 2; ++r) {
    if (d->part[r] != BOTH) continue;
    int value = value_of[nest->access_count] = signs(w, PB_I32);
    nest->access[nest->access_count] = pb_value_shape(&w->to.values[value]);
    nest->access[nest->access_count++].index[0].coef[d->within[r]] = 1;
  }
}

// A m A' / 4 of the accesses from `first` on.
static int add_result(pb_nest* nest, int first, const tile_part* part) {
  int sign[2], line[WINDOW], column[WINDOW], next = first + WINDOW * WINDOW;
  for (int r = 0; r < 2; ++r) sign[r] = part[r] == BOTH ? pb_nest_load(nest, next++) : part[r] == FIRST ? PLUS : MINUS;
  for (int s = 0; s < WINDOW; ++s) {
    for (int r = 0; r < WINDOW; ++r) line[r] = pb_nest_load(nest, first + r * WINDOW + s);
    column[s] = term(nest, pb_nest_node(nest, PB_OP_ADD, PB_I32, line[0], line[1]), line[2], sign[0]);
  }
  int four = term(nest, pb_nest_node(nest, PB_OP_ADD, PB_I32, column[0], column[1]), column[2], sign[1]);
  return pb_nest_node(nest, PB_OP_SHR, PB_I32, four, pb_nest_integer(nest, PB_I32, 2));
}

static void add_taker(winograd* w, const convolution* c, int sums, tile_part rows, tile_part columns) {
  const pb_nest* from = &w->from->nests[c->reader];
  pb_nest *cut = pb_nest_kept(&w->unit->pass, from), *nest = pb_nest_kept(&w->unit->pass, from);
  int value_of[PB_NEST_ACCESSES], map[PB_NEST_EXPR], at[PB_NEST_ACCESSES];
  pixel_dims d = {.tile = {.image = c->reader_b, .channel = c->reader_o, .row = c->reader_h, .column = c->reader_v},
                  .part = {rows, columns},
                  .within = {-1, -1}};
  cut_pixels(cut, d.tile.row, 0, &d);
  cut_pixels(cut, d.tile.column, 1, &d);
  nest->dim_count = cut->dim_count;
  memcpy(nest->extent, cut->extent, sizeof nest->extent);
  nest->access_count = nest->expr_count = 0;
  for (int a = 0; a + 1 < from->access_count; ++a) {
    if (a == c->load) continue;
    at[a] = nest->access_count;
    value_of[nest->access_count] = w->from->value_of[c->reader][a];
    nest->access[nest->access_count++] = cut->access[a];
  }
  int first = nest->access_count;
  add_sums(w, c, sums, &d, nest, value_of);
  value_of[nest->access_count] = pb_program_stored(w->from, c->reader);
  nest->access[nest->access_count++] = *pb_nest_store(cut);
  int sum = add_result(nest, first, d.part);
  for (int e = 0; e < from->expr_count; ++e) {
    pb_expr_node node = from->expr[e];
    if (node.op == PB_OP_LOAD && node.operand == c->load) {
      map[e] = sum;
      continue;
    }
    if (node.op == PB_OP_LOAD) node.operand = at[node.operand];
    map[e] = pb_nest_node_from(nest, node, map);
  }
  (void)pb_program_add_nest(&w->to, nest, value_of);
}

// Lines and columns of one number each are taken apart: their last one has no second pixel.
static void add_takers(winograd* w, const convolution* c, int sums) {
  const int64_t* extent = w->from->nests[c->reader].extent;
  bool rows = extent[c->reader_h] % TILE == 0, columns = extent[c->reader_v] % TILE == 0;
  for (int p = rows ? BOTH : FIRST; p <= (rows ? BOTH : SECOND); ++p)
    for (int q = columns ? BOTH : FIRST; q <= (columns ? BOTH : SECOND); ++q)
      add_taker(w, c, sums, (tile_part)p, (tile_part)q);
}

// ---- x's last lines ----

// Zeros behind the tensor's last lines and columns, which no result is made of, in front of who uses it first.
static void add_border(winograd* w, int n, int v) {
  const pb_value* value = &w->to.values[v];
  for (int r = 0; r < 2; ++r) {
    int64_t low[PB_NEST_RANK] = {0}, high[PB_NEST_RANK];
    if (!w->grows[v][r]) continue;
    memcpy(high, value->shape, sizeof high);
    if (r == 0) high[3] -= w->grows[v][1];
    low[2 + r] = high[2 + r] - 1;
    (void)pb_program_add_fill(&w->to, w->from->nests[n].name, "pad", v, low, high, 0);
  }
  w->grows[v][0] = w->grows[v][1] = 0;
}

static void add_borders(winograd* w, int n) {
  for (int a = 0; a < w->from->nests[n].access_count; ++a) add_border(w, n, w->from->value_of[n][a]);
}

// Tensors of which tiles read more than there is have that, and all who use them know.
static void grow(winograd* w, const convolution* c) {
  pb_program* p = w->from;
  int x = p->value_of[c->nest][c->x], more[2];
  find_missing(w, c, more);
  for (int r = 0; r < 2; ++r) {
    w->grows[x][r] += more[r];
    p->values[x].shape[2 + r] += more[r];
    PB_FOR_ACCESSES (n, a, p, x) p->nests[n].access[a].shape[2 + r] += more[r];
  }
}

bool pb_s3_winograd(pb_unit* unit, pb_program* p) {
  winograd w = {.unit = unit, .from = p, .signs = {-1, -1}};
  if (!extends(&w)) return false;
  size_t nests = (size_t)p->nest_count;
  convolution *found = PB_NEW_ARRAY(&unit->pass, convolution, nests + 1),
              **of = PB_NEW_ARRAY(&unit->pass, convolution*, nests + 1);
  int* sums = PB_NEW_ARRAY(&unit->pass, int, nests + 1);
  w.grows = pb_alloc_array(&unit->pass, (size_t)p->value_count + 1, sizeof *w.grows);
  size_t count = 0;
  for (int n = 0; n < p->nest_count; ++n) {
    convolution* c = &found[count];
    if (!is_one(&w, n, c) || of[c->reader]) continue;
    of[c->init] = of[c->nest] = of[c->reader] = c;
    grow(&w, c);
    ++count;
  }
  if (!count) return false;
  pb_program_begin_nests(p, &unit->pass, &w.to);
  for (int n = 0; n < p->nest_count; ++n) {
    convolution* c = of[n];
    add_borders(&w, n);
    if (!c) {
      (void)pb_program_add_nest(&w.to, &p->nests[n], p->value_of[n]);
    } else if (n == c->nest) {
      int inputs = add_places(&w, c, PB_I16, p->nests[n].extent[c->c]);
      sums[c - found] = add_places(&w, c, PB_I32, p->nests[n].extent[c->o]);
      for (int k = 0; k < 4; ++k) add_inputs(&w, c, inputs, k / 2, k % 2);
      add_products(&w, c, inputs, sums[c - found]);
    } else if (n == c->reader) {
      add_takers(&w, c, sums[c - found]);
    }
  }
  *p = w.to;
  return true;
}
