// Inside `pixels`: how many pixels stand in a row, class by class, by what all nests then take together.
#include "core/s3/layout/layout.h"
#include "core/s3/legalise/pixels.h"
#include "core/s3/transfer_paths.h"

// A class's pixels are chosen as long as that makes it cheaper, at most so many times; more than so many rows of lanes
// of one tensor are not tried.
enum { MOST_TURNS = 8, MOST_ROWS = 4, MOST_SIDE = 2, GAPS = 16 };

static const int64_t IMPOSSIBLE = (int64_t)1 << 40;

// Of the shorter of products and their weights one part of so many is not hidden by the longer (strips.c).
enum { EXPOSED = 2 };

static int64_t channels_of(const pb_pixels* p, int v) { return p->program->values[v].shape[1] / p->values[v].parts; }

// Rows of lanes that a nest goes through for each of its tensors.
static int64_t rows_along(const pb_pixels* p, int n) {
  const pb_nest* nest = &p->program->nests[n];
  int v = pb_program_stored(p->program, n);
  int64_t pixels = pb__pixels_class(p, v)->pixels, rows = 1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (d != p->nests[n].c && d != p->nests[n].w) rows *= nest->extent[d];
  return rows * p->values[v].parts * pb__layout_blocks(channels_of(p, v) * pixels, p->lanes) *
         (pb__pixels_class(p, v)->width / pixels);
}

// The same of a nest whose tensors keep a pixel a row.
static int64_t rows_apart(const pb_pixels* p, int n) {
  const pb_nest* nest = &p->program->nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  int64_t rows = 1;
  for (int d = 0; d < nest->dim_count; ++d)
    rows *= store->rank > 1 && store->index[1].coef[d] ? pb__layout_blocks(nest->extent[d], p->lanes) : nest->extent[d];
  return rows;
}

// Cycles of so many rows, of as many at a time as one command takes.
static int64_t cycles_of(const pb_insn* insn, const pb_contraction_dims* roles, int64_t rows) {
  int64_t extent[PB_MAX_INSN_DIMS], pieces = 1;
  int along = pb__layout_longest_dim(insn, roles, -1, extent);
  if (along >= 0) {
    pieces = pb__layout_blocks(rows, insn->dims[along].max);
    extent[along] = pb__layout_blocks(rows, pieces);
  }
  return pb_cycles(insn, extent) * (along < 0 ? rows : pieces);
}

// Products, and what brings their weights.
static int64_t price_of_products(const pb_pixels* p, const pb_pixels_nest* is, const pb_nest* nest) {
  const pb_chip* chip = p->unit->chip;
  pb_contraction_dims r;
  int64_t sums, lanes, rows = pb_extent_of_role(nest, &is->roles, PB_ROLE_M);
  const pb_insn* product = pb_chip_product(chip, &is->roles, p->lanes, &r, &sums, &lanes);
  if (!product) return IMPOSSIBLE;
  int64_t tiles = pb__layout_blocks(nest->extent[is->o], lanes);
  for (int d = 0; d < nest->dim_count; ++d)
    if (is->roles.role[d] == PB_ROLE_K)
      tiles *= d == is->c ? pb__layout_blocks(nest->extent[d], sums) : nest->extent[d];
  int from = pb_transfer_constant_from(chip, (pb_constant_facts){0}, product->operands[r.w].memory, is->roles.w_type,
                                       &(pb_op){0});
  int64_t beat = chip->memories[from >= 0 ? from : chip->system_memory].bytes_per_cycle;
  int64_t weights = tiles * sums * lanes / (beat > 0 ? beat : 1);
  int64_t products = pb_chip_shared(chip, cycles_of(product, &r, rows) * tiles);
  return (products > weights ? products : weights) + (products < weights ? products : weights) / EXPOSED;
}

// Whether parts begin inside a row of lanes: none of the others is whole rows then.
static bool ends_inside_a_row(const pb_pixels* p, int n) {
  int v = pb_program_stored(p->program, n);
  return channels_of(p, v) * pb__pixels_class(p, v)->pixels % p->lanes != 0;
}

// Whether the tensor comes from outside, perhaps with a border or as codes: then windows of it can be gathered.
static bool comes_from_outside(const pb_pixels* p, int v) {
  if (p->values[v].padded) v = p->values[v].source;
  if (!pb_program_is_local(p->program, v)) return true;
  PB_FOR_WRITERS (n, p->program, v) {
    const pb_nest* nest = &p->program->nests[n];
    for (int a = 0; a + 1 < nest->access_count; ++a)
      if (nest->reduce != PB_SET || pb_program_is_local(p->program, p->program->value_of[n][a])) return false;
  }
  return true;
}

// By windows that are gathered, or by rows that lie there. Only those that are gathered gain by blocks side by side, in
// longer runs; sums of others would have gaps.
static int64_t price_of_blocks(const pb_pixels* p, int n, const pb_pixels_blocks* blocks) {
  const pb_pixels_nest* is = &p->nests[n];
  pb_nest nest;
  pb_contraction_dims roles = is->roles;
  pb__pixels_convolution(p, n, blocks, &nest, &roles);
  pb_layout l = {.unit = p->unit, .lanes = p->lanes};
  if (blocks->of_x == 1 && comes_from_outside(p, p->program->value_of[n][roles.x]) &&
      pb__layout_should_gather(&l, &nest, &roles))
    return pb__layout_gather_price(&l, &nest, &roles);
  return blocks->side > 1 ? IMPOSSIBLE : price_of_products(p, is, &nest);
}

int64_t pb__pixels_choose_blocks(const pb_pixels* p, int n, pb_pixels_blocks* out) {
  int64_t best = IMPOSSIBLE;
  pb_pixels_blocks blocks;
  bool packed = pb__pixels_class(p, p->program->value_of[n][p->nests[n].roles.x])->pixels > 1;
  if (packed && p->nests[n].c < 0) return IMPOSSIBLE;
  int64_t in_row =
      p->program->nests[n].extent[p->nests[n].o] * pb__pixels_class(p, pb_program_stored(p->program, n))->pixels;
  // one result in a row would leave `layout` the blocks side by side for its lanes
  for (int64_t side = 1; side <= (in_row > 1 ? MOST_SIDE : 1); ++side) {
    if (!pb__pixels_blocks(p, n, side, &blocks)) continue;
    int64_t price = price_of_blocks(p, n, &blocks);
    if (side > 1) price += price / GAPS; // their sums lie between each other's
    if (price >= best) continue;
    best = price;
    *out = blocks;
  }
  return best;
}

// Whether a nest that reads rows of lanes reads no whole number of the rows that it writes, or parts of one.
static bool cuts_rows(const pb_pixels* p, int n) {
  const int* value_of = p->program->value_of[n];
  const pb_nest* nest = &p->program->nests[n];
  if (p->nests[n].kind != PB_PIXELS_ALONG || nest->access_count != 2) return false;
  int64_t read = pb__pixels_class(p, value_of[0])->pixels, written = pb__pixels_class(p, value_of[1])->pixels;
  return read % written != 0 || (read > written && written * nest->extent[p->nests[n].c] % p->lanes != 0);
}

static int64_t price_of_nest(const pb_pixels* p, int n) {
  bool of_parts = p->nests[n].kind == PB_PIXELS_PARTS, along = p->nests[n].kind == PB_PIXELS_ALONG || of_parts;
  if (p->nests[n].kind == PB_PIXELS_CONVOLUTION) return pb__pixels_choose_blocks(p, n, &(pb_pixels_blocks){0});
  if (p->nests[n].kind == PB_PIXELS_OTHER) return rows_apart(p, n);
  if ((of_parts && ends_inside_a_row(p, n)) || cuts_rows(p, n)) return IMPOSSIBLE;
  return along && p->program->nests[n].access_count > 1 ? rows_along(p, n) : 0;
}

int64_t pb__pixels_price(const pb_pixels* p) {
  int64_t price = 0;
  for (int n = 0; n < p->program->nest_count; ++n) price += price_of_nest(p, n);
  return price;
}

// ---- at least ----

// Whether several pixels of the class can stand in a row.
static bool can_pack(const pb_pixels* p, const pb_pixels_value* class) {
  for (int64_t k = 2; k <= class->width && k * class->channels <= MOST_ROWS * p->lanes; ++k)
    if (class->width % k == 0) return true;
  return false;
}

// Cycles of so many products, were all lanes and all commands full.
static int64_t least_of_products(const pb_pixels* p, const pb_contraction_dims* of, int64_t products) {
  pb_contraction_dims roles;
  int64_t sums, lanes, extent[PB_MAX_INSN_DIMS], most = 1;
  const pb_insn* product = pb_chip_product(p->unit->chip, of, p->lanes, &roles, &sums, &lanes);
  if (!product) return 0;
  int along = pb__layout_longest_dim(product, &roles, -1, extent);
  if (along >= 0) most = extent[along] = product->dims[along].max;
  int64_t commands = products / (sums * lanes) / most;
  return commands ? pb_chip_shared(p->unit->chip, commands * pb_cycles(product, extent)) : 0;
}

// Of a pool that is cut: its columns by products of all channels with each other, for each of the columns.
static int64_t least_of_pool(const pb_pixels* p, int n) {
  const pb_nest* nest = &p->program->nests[n];
  const pb_access *x = &nest->access[0], *y = &nest->access[1];
  int64_t channels = y->shape[1], columns = 1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (x->index[3].coef[d] && !pb_access_uses(y, d)) columns *= nest->extent[d];
  const pb_contraction_dims codes = {.x_type = PB_I8, .w_type = PB_I8, .y_type = PB_I32};
  return least_of_products(p, &codes, pb_access_elements(y) * columns * channels * columns);
}

int64_t pb__pixels_least(const pb_pixels* p, const bool* pools) {
  bool* unpinned = PB_NEW_ARRAY(&p->unit->pass, bool, (size_t)p->program->value_count + 1);
  int64_t least = 0;
  for (int n = 0; pools && n < p->program->nest_count; ++n)
    for (int a = 0; a < p->program->nests[n].access_count && pools[n]; ++a)
      unpinned[pb__pixels_class(p, p->program->value_of[n][a]) - p->values] = true;
  for (int n = 0; n < p->program->nest_count; ++n) {
    const pb_nest* nest = &p->program->nests[n];
    const pb_pixels_nest* is = &p->nests[n];
    int64_t price = price_of_nest(p, n);
    bool packs = false;
    for (int a = 0; a < nest->access_count; ++a) {
      const pb_pixels_value* class = pb__pixels_class(p, p->program->value_of[n][a]);
      packs |= (!class->pinned || unpinned[class - p->values]) && can_pack(p, class);
    }
    if (pools && pools[n])
      least += least_of_pool(p, n);
    else if (!packs || !price)
      least += price;
    else if (is->kind == PB_PIXELS_CONVOLUTION)
      least += least_of_products(p, &is->roles, pb_nest_iterations(nest));
    else
      least += pb_nest_iterations(nest) / p->lanes;
  }
  return least;
}

// ---- the choice ----

// What the nests that touch the class take: all that its pixels change.
static int64_t price_near(pb_pixels* p, const pb_pixels_value* class) {
  int64_t price = 0;
  ++p->turn;
  for (int v = class->parent; v >= 0; v = p->values[v].next)
    PB_FOR_USES (n, p->program, v) {
      if (p->nests[n].seen == p->turn) continue;
      p->nests[n].seen = p->turn;
      price += price_of_nest(p, n);
    }
  return price;
}

// Where to begin: as many pixels as fill a row. Returns whether that are several anywhere.
static bool fill_rows(pb_pixels* p) {
  bool any = false;
  for (int v = 0; v < p->program->value_count; ++v) {
    pb_pixels_value* class = &p->values[v];
    if (class->parent != v || class->pinned) continue;
    class->pixels = 1;
    for (int64_t k = 2; k <= class->width && k * class->channels <= p->lanes; ++k)
      if (class->width % k == 0) class->pixels = k;
    any |= class->pixels > 1;
  }
  return any;
}

// Or as many as in any class of as wide lines, since convolutions that step by one pixel keep the number.
static void spread_by_width(pb_pixels* p) {
  int64_t widest = 0;
  for (int v = 0; v < p->program->value_count; ++v)
    if (!p->values[v].pinned && p->values[v].width > widest) widest = p->values[v].width;
  int64_t* most = PB_NEW_ARRAY(&p->unit->pass, int64_t, (size_t)widest + 1);
  for (int pass = 0; pass < 2; ++pass)
    for (int v = 0; v < p->program->value_count; ++v) {
      pb_pixels_value* class = &p->values[v];
      if (class->parent != v || class->pinned) continue;
      if (class->pixels > most[class->width]) most[class->width] = class->pixels;
      if (pass) class->pixels = most[class->width];
    }
}

static int64_t improve(pb_pixels* p, pb_pixels_value* class) {
  int64_t kept = class->pixels, before = price_near(p, class), best = before;
  for (int64_t k = 1; k <= class->width && k * class->channels <= MOST_ROWS * p->lanes; ++k) {
    if (class->width % k) continue;
    class->pixels = k;
    int64_t price = price_near(p, class);
    if (price >= best) continue;
    best = price;
    kept = k;
  }
  class->pixels = kept;
  return before - best;
}

// Class by class, from where it is begun on. Returns what all of it takes then.
static int64_t descend(pb_pixels* p) {
  int64_t gained = 1;
  for (int turn = 0; gained && turn < MOST_TURNS; ++turn) {
    gained = 0;
    for (int v = 0; v < p->program->value_count; ++v)
      if (p->values[v].parent == v && !p->values[v].pinned) gained += improve(p, &p->values[v]);
  }
  return pb__pixels_price(p);
}

int64_t pb__pixels_choose(pb_pixels* p) {
  if (!fill_rows(p)) return pb__pixels_price(p);
  int64_t best = descend(p);
  int64_t* first = PB_NEW_ARRAY(&p->unit->pass, int64_t, (size_t)p->program->value_count + 1);
  for (int v = 0; v < p->program->value_count; ++v) first[v] = p->values[v].pixels;
  (void)fill_rows(p);
  spread_by_width(p);
  int64_t other = descend(p);
  for (int v = 0; other >= best && v < p->program->value_count; ++v) p->values[v].pixels = first[v];
  return other < best ? other : best;
}
