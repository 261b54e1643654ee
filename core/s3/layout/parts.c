// Parts: where tensors of channels are put together behind each other, or taken apart, each part begins at a whole row
// of lanes: movers take such parts row by row, and whoever makes a part makes it in its place (views.c). Where parts
// end inside rows every element had to come by itself. Requires the program function in value form; leaves it so. In
// front of views. Does nothing where code runs, which loads from anywhere.
//
//   before   y[c, h, w] = a[c, h, w];  y[c + 24, h, w] = b[c, h, w];  z[o, h, w] += y[c, h, w] * k[o, c]
//   after    y[c, h, w] = a[c, h, w];  y[c + 32, h, w] = b[c, h, w];  z[o, h, w] += y[c, h, w] * k'[o, c]
//
// of 24 channels each, which become 32: whatever makes them has weights of 0 for those that come in, and what sums over
// channels multiplies them by 0. Constants by channel repeat the part's last number there. All tensors whose channels
// are walked together have their parts at the same places, or stay as they are, where the model's own are among them or
// where more rows would take longer than the elements that are saved. Not where products are of floats: zeros do not
// keep infinity apart.
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/vector.h"
#include "core/s3/kernels.h"
#include "core/s3/program.h"
#include "core/s3/transfer_paths.h"

#include <string.h>

enum { CHANNELS = 1, ELEMENT_CYCLES = 2, NONE = -1 }; // cycles: an element comes and goes

// A value's channels.
typedef struct part_value {
  int parent;   // of those that are walked together, itself: the first of them
  bool* begins; // by channel, and behind the last: whether a part does
  bool fixed;   // of the first: they stay as they are
  bool spread;  // of the first: parts begin at whole rows
  int64_t gain; // of the first: cycles
} part_value;

typedef struct parts {
  pb_unit* unit;
  pb_program *from, to;
  int64_t lanes;
  int arguments;
  part_value* values;
  pb_contraction_dims* roles; // by nest, of products by weights; y 0: it is none
} parts;

// Part of a value's channels that a dim of a nest walks, from `first` on.
typedef struct walk {
  int value, dim; // dim NONE: the only channel
  int64_t first;
} walk;

static part_value* first_of(const parts* p, int v) {
  while (p->values[v].parent != v) v = p->values[v].parent;
  return &p->values[v];
}

static bool is_const(const parts* p, int n, int a) {
  return p->from->values[p->from->value_of[n][a]].kind == PB_VALUE_CONST;
}

// ---- reading ----

static bool reads_walk(const parts* p, int n, int a, walk* w) {
  const pb_nest* nest = &p->from->nests[n];
  const pb_access* access = &nest->access[a];
  *w = (walk){.value = p->from->value_of[n][a], .dim = NONE};
  if (access->rank != 4 || access->boxed || access->gathered || access->splat) return false;
  const pb_index* channel = &access->index[CHANNELS];
  for (int d = 0; d < nest->dim_count; ++d) {
    if (!channel->coef[d]) continue;
    if (w->dim >= 0 || channel->coef[d] != 1 || !pb_access_moves_only(access, CHANNELS, d)) return false;
    w->dim = d;
  }
  w->first = channel->cst;
  return w->dim >= 0 || access->shape[CHANNELS] == 1;
}

// The index of a constant that the dim walks all of, NONE: none. false: it walks it otherwise.
static bool index_of(const pb_nest* nest, const pb_access* constant, int dim, int* index) {
  int single;
  *index = NONE;
  if (!pb_access_uses(constant, dim)) return true;
  for (int r = 0; r < constant->rank && *index < 0; ++r)
    if (constant->index[r].coef[dim]) *index = r;
  return pb_type_bits(constant->type) >= 8 && !constant->boxed && !constant->gathered && !constant->splat &&
         pb_index_single(&constant->index[*index], &single) && pb_access_moves_only(constant, *index, dim) &&
         constant->shape[*index] == nest->extent[dim];
}

// Whether a weight of 0 makes a product of 0: nothing is taken off it, nor its bits turned over.
static bool multiplies_plainly(const pb_nest* nest) {
  for (int e = 0; e < nest->expr_count; ++e)
    if (nest->expr[e].op == PB_OP_SUB || nest->expr[e].op == PB_OP_XOR) return false;
  return true;
}

// Whether the nest does the same with each channel that dim d walks, but for sums of products by weights.
static bool treats_alike(const parts* p, int n, int d) {
  const pb_nest* nest = &p->from->nests[n];
  const pb_contraction_dims* roles = &p->roles[n];
  int unused;
  for (int a = 0; a < nest->access_count; ++a)
    if (is_const(p, n, a) && !index_of(nest, &nest->access[a], d, &unused)) return false;
  if (!pb_nest_reduces_over(nest, d)) return true;
  return roles->y && roles->role[d] == PB_ROLE_K && pb_access_uses(&nest->access[roles->w], d);
}

// How the nest walks channels: of each access that is no constant. false: some of them otherwise than by parts.
static bool read_nest(const parts* p, int n, walk* walks) {
  const pb_nest* nest = &p->from->nests[n];
  if (pb_program_is_fixed(p->from, n)) return false;
  for (int e = 0; e < nest->expr_count; ++e)
    if (nest->expr[e].op == PB_OP_INDEX) return false;
  if (p->roles[n].y && (pb_type_is_float(p->roles[n].w_type) || !multiplies_plainly(nest))) return false;
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
  walk walks[PB_NEST_ACCESSES];
  const pb_nest* nest = &p->from->nests[n];
  bool reads = read_nest(p, n, walks);
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
  walk walks[PB_NEST_ACCESSES];
  const pb_nest* nest = &p->from->nests[n];
  bool any = false;
  if (!read_nest(p, n, walks)) return false;
  for (int a = 0; a < nest->access_count; ++a)
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
    for (int64_t c = 1; p->values[v].begins && c < p->from->values[v].shape[CHANNELS]; ++c)
      if (p->values[v].begins[c] && c % p->lanes) return true;
  return false;
}

static void read(parts* p) {
  const pb_program* program = p->from;
  pb_arena* arena = &p->unit->pass;
  p->values = PB_NEW_ARRAY(arena, part_value, (size_t)program->value_count + 1);
  p->roles = PB_NEW_ARRAY(arena, pb_contraction_dims, (size_t)program->nest_count + 1);
  for (int v = 0; v < program->value_count; ++v) {
    const pb_value* value = &program->values[v];
    p->values[v] = (part_value){.parent = v, .fixed = value->kind != PB_VALUE_LOCAL || value->rank != 4};
    if (value->rank != 4) continue;
    p->values[v].begins = PB_NEW_ARRAY(arena, bool, (size_t)value->shape[CHANNELS] + 1);
    p->values[v].begins[0] = p->values[v].begins[value->shape[CHANNELS]] = true;
  }
  for (int n = 0; n < program->nest_count; ++n) {
    bool weights[PB_NEST_ACCESSES];
    pb_contraction_dims* roles = &p->roles[n];
    for (int a = 0; a < program->nests[n].access_count; ++a) weights[a] = is_const(p, n, a);
    if (!pb_nest_contraction_dims(&program->nests[n], weights, roles) || !weights[roles->w] || weights[roles->x])
      roles->y = 0;
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

static int64_t iterations_of(const pb_nest* nest) {
  int64_t iterations = 1;
  for (int d = 0; d < nest->dim_count; ++d) iterations *= nest->extent[d];
  return iterations;
}

static bool ends_inside_rows(const parts* p, const pb_nest* nest, const walk* w) {
  int64_t end = w->first + nest->extent[w->dim];
  bool part = w->first > 0 || end < p->from->values[w->value].shape[CHANNELS];
  return part && (w->first % p->lanes || end % p->lanes);
}

// What comes element by element is saved; more rows of lanes take longer.
static void add_up(const parts* p, int n) {
  walk walks[PB_NEST_ACCESSES];
  const pb_nest* nest = &p->from->nests[n];
  if (!read_nest(p, n, walks)) return;
  int64_t all = iterations_of(nest);
  for (int a = 0; a < nest->access_count; ++a) {
    if (walks[a].dim < 0) continue;
    part_value* first = first_of(p, walks[a].value);
    int64_t extent = nest->extent[walks[a].dim], more = place(p, walks[a].value, walks[a].first + extent) -
                                                        place(p, walks[a].value, walks[a].first) - extent;
    if (ends_inside_rows(p, nest, &walks[a])) first->gain += all * ELEMENT_CYCLES;
    first->gain -= all / extent * more / p->lanes / (p->roles[n].y ? p->lanes : 1);
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

// The constant's elements as `from`, by index, says (NULL: as they are), in the shape that it has then.
static int add_constant(parts* p, const pb_const* of, const void* data, int64_t* const* from, const int64_t* shape) {
  size_t size = (size_t)pb_type_bits(of->type) / 8;
  int64_t count = 1, at[PB_NEST_RANK] = {0};
  for (int r = 0; r < of->rank; ++r) count *= shape[r];
  char* made = pb_alloc_array(&p->unit->consts->arena, (size_t)count + 1, size);
  for (int64_t k = 0; k < count; ++k) {
    int64_t source = 0;
    for (int r = 0; r < of->rank && source >= 0; ++r) {
      int64_t i = from[r] ? from[r][at[r]] : at[r];
      source = i < 0 ? NONE : source * of->shape[r] + i;
    }
    if (source >= 0)
      memcpy(made + (size_t)k * size, (const char*)data + (size_t)source * size, size);
    else
      memset(made + (size_t)k * size, 0, size);
    for (int r = of->rank - 1; r >= 0 && ++at[r] == shape[r]; --r) at[r] = 0;
  }
  return pb_program_add_const(&p->to, &p->unit->pass, p->unit->consts, p->arguments++, of->name, of->type, of->rank,
                              shape, made);
}

// Constant access a of the nest, whose channels others walk as `walks` say.
static void spread_constant(parts* p, int n, int a, const walk* walks, pb_nest* nest, int* value) {
  int64_t* from[PB_NEST_RANK] = {NULL};
  const pb_nest* old = &p->from->nests[n];
  bool any = false;
  for (int b = 0; b < old->access_count; ++b) {
    int r;
    if (walks[b].dim < 0 || !first_of(p, walks[b].value)->spread) continue;
    if (!index_of(old, &old->access[a], walks[b].dim, &r) || r < 0 || from[r]) continue;
    bool zero = p->roles[n].y && a == p->roles[n].w;
    from[r] = sources(p, &walks[b], old->extent[walks[b].dim], zero, &nest->access[a].shape[r]);
    any = true;
  }
  if (!any) return;
  int id = p->from->values[*value].const_id;
  const pb_const constant = p->unit->consts->items[id]; // adding constants moves the table
  *value = add_constant(p, &constant, pb_const_data(p->unit->consts, id), from, nest->access[a].shape);
}

static void write_nest(parts* p, int n) {
  walk walks[PB_NEST_ACCESSES];
  const pb_nest* old = &p->from->nests[n];
  int value_of[PB_NEST_ACCESSES];
  pb_nest nest;
  memcpy(value_of, p->from->value_of[n], sizeof value_of);
  pb_nest_copy(&nest, old);
  if (read_nest(p, n, walks)) {
    for (int a = 0; a < nest.access_count; ++a) {
      const walk* w = &walks[a];
      if (w->dim < 0 || !first_of(p, w->value)->spread) continue;
      pb_access* access = &nest.access[a];
      access->index[CHANNELS].cst = place(p, w->value, w->first);
      nest.extent[w->dim] = place(p, w->value, w->first + old->extent[w->dim]) - access->index[CHANNELS].cst;
      access->shape[CHANNELS] = place(p, w->value, old->access[a].shape[CHANNELS]);
    }
    for (int a = 0; a < nest.access_count; ++a)
      if (is_const(p, n, a)) spread_constant(p, n, a, walks, &nest, &value_of[a]);
  }
  (void)pb_program_add_nest(&p->to, &nest, value_of);
}

pb_status pb_s3_parts(pb_unit* unit) {
  if (pb_chip_lanes(unit->chip) == 1 || !pb_chip_whole_rows(unit->chip)) return PB_OK;
  pb_program program;
  PB_TRY(pb_program_read(pb_module_func(unit->module, "main"), &unit->pass, unit->diag, &program));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(program.func, 0));
  parts p = {.unit = unit,
             .from = &program,
             .lanes = pb_chip_lanes(unit->chip),
             .arguments = (int)mlirBlockGetNumArguments(body)};
  read(&p);
  if (!any_inside_rows(&p) || !choose(&p)) return PB_OK;
  pb_program_begin_nests(&program, (size_t)program.nest_count, &unit->pass, &p.to);
  for (int n = 0; n < program.nest_count; ++n) write_nest(&p, n);
  for (int v = 0; v < program.value_count; ++v)
    if (first_of(&p, v)->spread) p.to.values[v].shape[CHANNELS] = place(&p, v, program.values[v].shape[CHANNELS]);
  pb_program_index(&p.to, &unit->pass);
  return pb_program_rewrite(unit, &p.to, NULL, "parts");
}
