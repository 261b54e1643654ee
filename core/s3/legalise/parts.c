// Parts: where tensors of channels are put together behind each other, or taken apart, each part begins at a whole row
// of lanes: movers take such parts row by row, code block by block, and whoever makes a part makes it in its place
// (views.c). Where parts ended inside rows every element had to come by itself. Requires the program function in value
// form; leaves it so. In front of views. Does nothing where matrices are multiplied: their blocks are all the channels.
//
//   before   y[c, h, w] = a[c, h, w];  y[c + 24, h, w] = b[c, h, w];  z[o, h, w] += y[c, h, w] * k[o, c]
//   after    y[c, h, w] = a[c, h, w];  y[c + 32, h, w] = b[c, h, w];  z[o, h, w] += y[c, h, w] * k'[o, c]
//
// of 24 channels each, which become 32: whatever makes them has weights of 0 for those that come in, and what sums over
// channels multiplies them by 0. Constants by channel repeat the part's last number there. All tensors whose channels
// are walked together have their parts at the same places, or stay as they are, where the model's own are among them or
// where more rows would take longer than the elements that are saved. Zeros do not keep infinity apart: what sums of
// f32 read is masked there (rest.c); where no instruction does so, products of floats keep their channels as they are.
#include "core/s3/compose.h"
#include "core/s3/layout/layout.h"
#include "core/s3/program.h"
#include "core/s3/transfer_paths.h"

#include <math.h>
#include <string.h>

enum { ELEMENT_CYCLES = 2, NONE = -1 }; // cycles: an element comes and goes

// A value's channels.
typedef struct part_value {
  int parent;   // of those that are walked together, itself: the first of them
  bool* begins; // by channel, and behind the last: whether a part does
  bool fixed;   // of the first: they stay as they are
  bool spread;  // of the first: parts begin at whole rows
  int64_t gain; // of the first: cycles
  bool masked;  // pointwise nests that make it store zeros in channels that come in
  bool behind;  // else a nest behind those that make it does so
  int made;     // what they make then
} part_value;

// Part of a value's channels that a dim of a nest walks, from `first` on.
typedef struct walk {
  int value, dim; // dim NONE: the only channel
  int64_t first;
} walk;

typedef struct part_nest {
  pb_contraction_dims roles; // of a product by weights; y 0: it is none
  bool reads;                // all of its accesses walk channels by parts
  walk walks[PB_NEST_ACCESSES];
} part_nest;

typedef struct parts {
  pb_unit* unit;
  pb_select_memo selections;
  pb_program *from, to;
  int64_t lanes;
  bool masks; // what is f32 can be
  part_value* values;
  part_nest* nests;
} parts;

static part_value* first_of(const parts* p, int v) {
  while (p->values[v].parent != v) v = p->values[v].parent;
  return &p->values[v];
}

static bool is_const(const parts* p, int n, int a) { return pb_program_is_const(p->from, n, a); }

// ---- reading ----

static bool reads_walk(const parts* p, int n, int a, walk* w) {
  const pb_nest* nest = &p->from->nests[n];
  const pb_access* access = &nest->access[a];
  *w = (walk){.value = p->from->value_of[n][a], .dim = NONE};
  if (access->rank != PB_IMAGE_RANK || !pb_access_is_plain(access)) return false;
  const pb_index* channel = &access->index[PB_IMAGE_CHANNELS];
  for (int d = 0; d < nest->dim_count; ++d) {
    if (!channel->coef[d]) continue;
    if (w->dim >= 0 || channel->coef[d] != 1 || !pb_access_moves_only(access, PB_IMAGE_CHANNELS, d)) return false;
    w->dim = d;
  }
  w->first = channel->cst;
  return w->dim >= 0 || access->shape[PB_IMAGE_CHANNELS] == 1;
}

// The index of a constant that the dim walks all of, NONE: none. false: it walks it otherwise.
static bool index_of(const pb_nest* nest, const pb_access* constant, int dim, int* index) {
  *index = NONE;
  if (!pb_access_uses(constant, dim)) return true;
  for (int r = 0; r < constant->rank && *index < 0; ++r)
    if (constant->index[r].coef[dim]) *index = r;
  return pb_type_bits(constant->type) >= 8 && pb_access_is_plain(constant) &&
         pb_access_whole_dim(nest, constant, *index) == dim && pb_access_moves_only(constant, *index, dim);
}

// Whether a weight of 0 makes a product of 0: nothing is taken off it, nor its bits turned over.
static bool multiplies_plainly(const pb_nest* nest) {
  for (int e = 0; e < nest->expr_count; ++e)
    if (nest->expr[e].op == PB_OP_SUB || nest->expr[e].op == PB_OP_XOR) return false;
  return true;
}

// Whether the nest does the same with each channel that dim d walks, but for sums of products by weights. A transpose
// does not, which walks along another index of one tensor what are channels of another.
static bool treats_alike(const parts* p, int n, int d) {
  const pb_nest* nest = &p->from->nests[n];
  const pb_contraction_dims* roles = &p->nests[n].roles;
  int unused;
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    bool alike = is_const(p, n, a) ? index_of(nest, access, d, &unused)
                                   : access->index[PB_IMAGE_CHANNELS].coef[d] || !pb_access_uses(access, d);
    if (!alike) return false;
  }
  if (!pb_nest_reduces_over(nest, d)) return true;
  return roles->y && roles->role[d] == PB_ROLE_K && pb_access_uses(&nest->access[roles->w], d);
}

// Whether zeros in its weights undo what stands in the channels that come in.
static bool takes_zeros(const parts* p, int n) {
  const pb_contraction_dims* roles = &p->nests[n].roles;
  bool floats = pb_type_is_float(roles->x_type) || pb_type_is_float(roles->w_type);
  if (!roles->y) return true;
  if (floats && (roles->x_type != PB_F32 || roles->w_type != PB_F32 || !p->masks)) return false;
  return multiplies_plainly(&p->from->nests[n]);
}

// How the nest walks channels: of each access that is no constant. false: some of them otherwise than by parts.
static bool read_nest(const parts* p, int n) {
  const pb_nest* nest = &p->from->nests[n];
  walk* walks = p->nests[n].walks;
  if (pb_program_is_fixed(p->from, n) || !takes_zeros(p, n)) return false;
  for (int a = 0; a < nest->access_count; ++a) {
    walks[a] = (walk){.dim = NONE};
    if (is_const(p, n, a)) continue;
    if (!reads_walk(p, n, a, &walks[a])) return false;
    if (walks[a].dim >= 0 && !treats_alike(p, n, walks[a].dim)) return false;
  }
  return true;
}

static void join(const parts* p, int a, int b) {
  part_value *to = first_of(p, a), *from = first_of(p, b);
  if (to != from) from->parent = (int)(to - p->values);
}

// Values whose channels one dim walks go together.
static void join_walked(const parts* p, int n) {
  const pb_nest* nest = &p->from->nests[n];
  const walk* walks = p->nests[n].walks;
  bool reads = p->nests[n].reads;
  for (int a = 0; a < nest->access_count; ++a) {
    int v = p->from->value_of[n][a];
    if (!reads && !is_const(p, n, a)) first_of(p, v)->fixed = true;
    if (!reads || walks[a].dim < 0) continue;
    p->values[v].begins[walks[a].first] = p->values[v].begins[walks[a].first + nest->extent[walks[a].dim]] = true;
    for (int b = 0; b < a; ++b)
      if (walks[b].dim == walks[a].dim) join(p, walks[b].value, v);
  }
}

// A part that begins in one of the tensors that a dim walks begins in all of them. Returns whether any was new.
static bool spread_beginnings(const parts* p, int n) {
  const pb_nest* nest = &p->from->nests[n];
  const walk* walks = p->nests[n].walks;
  bool any = false;
  for (int a = 0; a < nest->access_count && p->nests[n].reads; ++a)
    for (int b = 0; b < nest->access_count; ++b) {
      if (a == b || walks[a].dim < 0 || walks[a].dim != walks[b].dim) continue;
      const bool* from = p->values[walks[a].value].begins + walks[a].first;
      bool* to = p->values[walks[b].value].begins + walks[b].first;
      for (int64_t c = 0; c < nest->extent[walks[a].dim]; ++c) {
        any |= from[c] && !to[c];
        to[c] |= from[c];
      }
    }
  return any;
}

// Whether any part begins inside a row: else nothing is saved.
static bool any_inside_rows(const parts* p) {
  for (int v = 0; v < p->from->value_count; ++v)
    for (int64_t c = 1; p->values[v].begins && c < p->from->values[v].shape[PB_IMAGE_CHANNELS]; ++c)
      if (p->values[v].begins[c] && c % p->lanes) return true;
  return false;
}

static void find_roles(const parts* p, int n) {
  pb_contraction_dims* roles = &p->nests[n].roles;
  if (!pb_program_contraction_dims(p->from, n, roles) || !is_const(p, n, roles->w) || is_const(p, n, roles->x))
    roles->y = 0;
}

static void read(parts* p) {
  const pb_program* program = p->from;
  pb_arena* arena = &p->unit->pass;
  p->values = PB_NEW_ARRAY(arena, part_value, (size_t)program->value_count + 1);
  p->nests = PB_NEW_ARRAY(arena, part_nest, (size_t)program->nest_count + 1);
  for (int v = 0; v < program->value_count; ++v) {
    const pb_value* value = &program->values[v];
    p->values[v] = (part_value){.parent = v, .fixed = value->kind != PB_VALUE_LOCAL || value->rank != PB_IMAGE_RANK};
    if (value->rank != PB_IMAGE_RANK) continue;
    p->values[v].begins = PB_NEW_ARRAY(arena, bool, (size_t)value->shape[PB_IMAGE_CHANNELS] + 1);
    p->values[v].begins[0] = p->values[v].begins[value->shape[PB_IMAGE_CHANNELS]] = true;
  }
  for (int n = 0; n < program->nest_count; ++n) {
    find_roles(p, n);
    p->nests[n].reads = read_nest(p, n);
    join_walked(p, n);
  }
  for (bool more = any_inside_rows(p); more;) {
    more = false;
    for (int n = 0; n < program->nest_count; ++n) more |= spread_beginnings(p, n);
  }
  for (int v = 0; v < program->value_count; ++v)
    if (p->values[v].fixed) first_of(p, v)->fixed = true;
}

// ---- what it takes ----

// Where channel c, which begins a part, stands if parts begin at whole rows.
static int64_t place(const parts* p, int v, int64_t c) {
  int64_t at = 0, begin = 0;
  for (int64_t k = 1; k <= c; ++k) {
    if (!p->values[v].begins[k]) continue;
    at += (k - begin + p->lanes - 1) / p->lanes * p->lanes;
    begin = k;
  }
  return at;
}

static bool ends_inside_rows(const parts* p, const pb_nest* nest, const walk* w) {
  int64_t end = w->first + nest->extent[w->dim];
  bool part = w->first > 0 || end < p->from->values[w->value].shape[PB_IMAGE_CHANNELS];
  return part && (w->first % p->lanes || end % p->lanes);
}

// Products that the chip makes in a cycle.
static int64_t products_at_once(parts* p, int n) {
  const pb_contraction_dims* roles = &p->nests[n].roles;
  pb_vector_insn insn = pb_vector_contraction(&p->selections, roles->x_type, roles->w_type, roles->y_type);
  return insn.insn ? pb_vector_products(&insn) : p->lanes * pb_chip_row(p->unit->chip); // an array takes rows
}

// What comes element by element is saved; more rows of lanes take longer.
static void add_up(parts* p, int n) {
  const pb_nest* nest = &p->from->nests[n];
  int64_t all = pb_nest_iterations(nest), at_once = p->nests[n].roles.y ? products_at_once(p, n) : p->lanes;
  for (int a = 0; a < nest->access_count && p->nests[n].reads; ++a) {
    const walk* w = &p->nests[n].walks[a];
    if (w->dim < 0) continue;
    part_value* first = first_of(p, w->value);
    int64_t extent = nest->extent[w->dim], rows = pb__layout_blocks(extent, p->lanes),
            more = place(p, w->value, w->first + extent) - place(p, w->value, w->first) - rows * p->lanes;
    if (ends_inside_rows(p, nest, w)) first->gain += all * ELEMENT_CYCLES;
    first->gain -= all / extent * more / at_once;
  }
}

// Whether the parts of any values begin at other places from now on.
static bool choose(parts* p) {
  bool any = false;
  for (int n = 0; n < p->from->nest_count; ++n) add_up(p, n);
  for (int v = 0; v < p->from->value_count; ++v) {
    part_value* first = first_of(p, v);
    first->spread = !first->fixed && first->gain > 0;
    any |= first->spread;
  }
  return any;
}

// ---- sums of floats ----

// Whether the nest moves channels as they are, or sums or compares such of the same channel.
static bool moves(const parts* p, int n) {
  const pb_nest* nest = &p->from->nests[n];
  const walk* walks = p->nests[n].walks;
  return nest->expr_count == 1 && nest->access_count == 2 && walks[0].dim >= 0 && walks[0].dim == walks[1].dim;
}

// The value has zeros in the channels that come in, from where they come to hold anything: a pointwise nest stores
// them, or one behind all that make the value. A largest element starts at -inf and does not stay there: `past`.
static void clean(parts* p, int v, bool past) {
  part_value* value = &p->values[v];
  if (value->masked || value->behind || !first_of(p, v)->spread) return;
  past |= pb__layout_maximises(p->from, v);
  PB_FOR_WRITERS (n, p->from, v) {
    const pb_nest* nest = &p->from->nests[n];
    bool all = p->nests[n].walks[nest->access_count - 1].dim >= 0;
    if (all && pb_nest_is_fill(nest) && (past || isfinite(nest->expr[0].value))) continue;
    if (moves(p, n))
      clean(p, p->from->value_of[n][0], past);
    else if (all && nest->reduce == PB_SET && pb__layout_has_room_for_mask(nest))
      value->masked = true;
    else
      value->behind = true;
  }
}

static void clean_summed(parts* p) {
  for (int n = 0; n < p->from->nest_count; ++n) {
    const pb_contraction_dims* roles = &p->nests[n].roles;
    if (roles->y && roles->x_type == PB_F32) clean(p, p->from->value_of[n][roles->x], false);
  }
}

// ---- writing ----

// Which of a constant's elements along one of its indices stand where parts begin at whole rows; NONE: 0.
static int64_t* sources(const parts* p, const walk* w, int64_t extent, bool zero, int64_t* count) {
  const bool* begins = p->values[w->value].begins + w->first;
  *count = place(p, w->value, w->first + extent) - place(p, w->value, w->first);
  int64_t *from = PB_NEW_ARRAY(&p->unit->pass, int64_t, (size_t)*count), at = 0;
  for (int64_t c = 0; c < extent; ++c) {
    from[at++] = c;
    while (begins[c + 1] && at % p->lanes) from[at++] = zero ? NONE : c;
  }
  return from;
}

// Constant access a of the nest, whose channels others walk as `walks` say.
static void spread_constant(parts* p, int n, int a, pb_nest* nest, int* value) {
  int64_t* from[PB_NEST_RANK] = {NULL};
  const pb_nest* old = &p->from->nests[n];
  const walk* walks = p->nests[n].walks;
  bool any = false;
  for (int b = 0; b < old->access_count; ++b) {
    int r;
    if (walks[b].dim < 0 || !first_of(p, walks[b].value)->spread) continue;
    if (!index_of(old, &old->access[a], walks[b].dim, &r) || r < 0 || from[r]) continue;
    bool zero = p->nests[n].roles.y && a == p->nests[n].roles.w;
    from[r] = sources(p, &walks[b], old->extent[walks[b].dim], zero, &nest->access[a].shape[r]);
    any = true;
  }
  if (!any) return;
  *value = pb_program_gather_const(&p->to, &p->unit->pass, p->unit->consts, p->from->values[*value].const_id, from,
                                   nest->access[a].shape);
}

// What the nest stores by the walk has zeros in the channels that come in.
static void mask(parts* p, const walk* w, int64_t extent, pb_nest* nest, int* value_of) {
  int at = pb__layout_put_mask(nest);
  pb_access* access = &nest->access[at];
  value_of[at + 1] = value_of[at];
  access->rank = 1;
  access->index[0].coef[w->dim] = 1;
  const int64_t* from = sources(p, w, extent, true, &access->shape[0]);
  int32_t* bits = pb_alloc_array(&p->unit->consts->arena, (size_t)access->shape[0], sizeof *bits);
  for (int64_t c = 0; c < access->shape[0]; ++c) bits[c] = from[c] < 0 ? 0 : -1;
  value_of[at] =
      pb_program_add_const(&p->to, &p->unit->pass, p->unit->consts, "channels", PB_I32, 1, access->shape, bits);
}

static void spread_shape(const parts* p, int v, int64_t* shape) {
  if (first_of(p, v)->spread) shape[PB_IMAGE_CHANNELS] = place(p, v, p->from->values[v].shape[PB_IMAGE_CHANNELS]);
}

static void write_nest(parts* p, int n) {
  const pb_nest* old = &p->from->nests[n];
  pb_nest* nest = pb_program_add_nest(&p->to, old, p->from->value_of[n]);
  int *value_of = p->to.value_of[p->to.nest_count - 1], y = pb_program_stored(p->from, n), last = old->access_count - 1;
  for (int a = 0; a < nest->access_count && p->nests[n].reads; ++a) {
    const walk* w = &p->nests[n].walks[a];
    pb_access* access = &nest->access[a];
    if (is_const(p, n, a))
      spread_constant(p, n, a, nest, &value_of[a]);
    else
      spread_shape(p, w->value, access->shape);
    if (w->dim < 0 || !first_of(p, w->value)->spread) continue;
    access->index[PB_IMAGE_CHANNELS].cst = place(p, w->value, w->first);
    nest->extent[w->dim] = place(p, w->value, w->first + old->extent[w->dim]) - access->index[PB_IMAGE_CHANNELS].cst;
  }
  if (p->values[y].behind)
    value_of[last] = p->values[y].made;
  else if (p->values[y].masked && nest->reduce == PB_SET && !moves(p, n))
    mask(p, &p->nests[n].walks[last], old->extent[p->nests[n].walks[last].dim], nest, value_of);
}

// What is made as it comes, with zeros in the channels that come in.
static void write_clean(parts* p, int n) {
  int v = pb_program_stored(p->from, n);
  if (!p->values[v].behind || n < pb_program_last_writer(p->from, v)) return;
  const pb_value* value = &p->from->values[v];
  walk all = {.value = v};
  pb_nest nest;
  pb_nest_begin(&nest, p->from->nests[n].name, "point", 2);
  pb_access access = pb_value_shape(value);
  spread_shape(p, v, access.shape);
  for (int r = 0; r < access.rank; ++r) {
    if (r == PB_IMAGE_CHANNELS) all.dim = nest.dim_count;
    access.index[r].coef[pb_nest_add_dim(&nest, access.shape[r])] = 1;
  }
  nest.access[0] = nest.access[1] = access;
  (void)pb_nest_load(&nest, 0);
  int value_of[PB_NEST_ACCESSES] = {p->values[v].made, v};
  mask(p, &all, value->shape[PB_IMAGE_CHANNELS], &nest, value_of);
  (void)pb_program_add_nest(&p->to, &nest, value_of);
}

static void write(parts* p) {
  int values = p->from->value_count;
  pb_program_begin_nests(p->from, &p->unit->pass, &p->to);
  for (int v = 0; v < values; ++v) {
    pb_value local = p->from->values[v];
    spread_shape(p, v, local.shape);
    if (p->values[v].behind) p->values[v].made = pb_program_add_value(&p->to, &p->unit->pass, &local);
  }
  for (int n = 0; n < p->from->nest_count; ++n) {
    write_nest(p, n);
    write_clean(p, n);
  }
  for (int v = 0; v < values; ++v) spread_shape(p, v, p->to.values[v].shape);
}

// Whether any product is of matrices, whose instruction sums over all channels that lie next to each other.
static bool has_matrices(parts* p) {
  for (int n = 0; n < p->from->nest_count; ++n) {
    const pb_contraction_dims* roles = &p->nests[n].roles;
    if (roles->y && pb_matrix_contraction(&p->selections, roles).product.insn) return true;
  }
  return false;
}

// Copies that repeat pixels or cut channels go by tensors of more dims than an image, in which no channel can be told:
// the one behind reads what the one in front does.
static void pass_over_copies(pb_unit* unit, pb_program* program) {
  bool any = false;
  for (int n = 0; n < program->nest_count; ++n) {
    pb_access source;
    if (!pb_copies_elements(&program->nests[n]) || program->nests[n].access[0].rank <= PB_IMAGE_RANK) continue;
    int copy = pb_program_source(program, n, 0, &source);
    if (copy < 0) continue;
    pb_program_read_source(program, &unit->pass, n, 0, copy, &source);
    any = true;
  }
  if (any && pb_program_drop_copies(program)) pb_program_drop_nests(program, &unit->pass);
}

bool pb_s3_parts(pb_unit* unit, pb_program* program) {
  pass_over_copies(unit, program);
  parts p = {.unit = unit,
             .selections = {.chip = unit->chip, .arena = &unit->pass},
             .from = program,
             .lanes = pb_chip_lanes(unit->chip),
             .masks = pb_chip_multiplies(unit->chip, PB_F32, PB_F32, PB_F32) && pb__layout_masks(unit->chip)};
  read(&p);
  if (!any_inside_rows(&p) || has_matrices(&p) || !choose(&p)) return false;
  clean_summed(&p);
  write(&p);
  *program = p.to;
  return true;
}
