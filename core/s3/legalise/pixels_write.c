// Inside `pixels`: the nests and constants of a program whose pixels stand in rows.
#include "core/s3/legalise/pixels.h"

#include <string.h>

static int64_t pixels_of(const pb_pixels* p, int v) { return pb__pixels_class(p, v)->pixels; }

// The shape with pixels in rows, and borders of whole blocks.
static void shape_of(const pb_pixels* p, int v, int64_t* shape) {
  int64_t pixels = pixels_of(p, v);
  const pb_pixels_value* value = &p->values[v];
  memcpy(shape, p->program->values[v].shape, sizeof(int64_t) * PB_NEST_RANK);
  if (pixels == 1) return;
  shape[1] *= pixels;
  shape[3] = pb__pixels_class(p, v)->width / pixels + value->before + value->behind;
}

static void reshape(const pb_pixels* p, int n, pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a) {
    int v = p->program->value_of[n][a];
    if (pb_program_is_local(p->program, v)) shape_of(p, v, nest->access[a].shape);
  }
}

// But for a convolution's channels, which `layout` finds by the dims that walk them, if it is one as well.
static void drop_single_dims(pb_nest* nest, int of_x, int of_y) {
  for (int d = nest->dim_count - 1; d >= 0; --d)
    if (nest->extent[d] == 1 && d != of_x && d != of_y) pb_nest_remove_dim(nest, d);
}

static int add_dim(pb_nest* nest, int64_t extent) {
  int d = pb_nest_add_dim(nest, extent);
  for (int a = 0; a < nest->access_count; ++a)
    for (int r = 0; r < nest->access[a].rank; ++r) nest->access[a].index[r].coef[d] = 0;
  return d;
}

// ---- along ----

// A number for each channel of each pixel, of each part.
static int repeat(pb_pixels* p, int v, const pb_access* access, int c, int64_t pixels, int64_t parts,
                  pb_access* repeated) {
  int64_t* from[PB_NEST_RANK] = {NULL};
  int at = 0;
  while (!access->index[at].coef[c]) ++at;
  int64_t channels = access->shape[at], run = channels / parts, next = 0;
  memcpy(repeated->shape, access->shape, sizeof repeated->shape);
  repeated->shape[at] *= pixels;
  from[at] = PB_NEW_ARRAY(&p->unit->pass, int64_t, (size_t)repeated->shape[at]);
  for (int64_t part = 0; part < parts; ++part)
    for (int64_t k = 0; k < pixels; ++k)
      for (int64_t o = 0; o < run; ++o) from[at][next++] = part * run + o;
  return pb_program_gather_const(&p->to, &p->unit->pass, p->unit->consts, p->program->values[v].const_id, from,
                                 repeated->shape);
}

// What reads more pixels in a row than it writes takes one row of the latter after the other.
static void regroup(const pb_pixels* p, int n, pb_nest* nest) {
  const pb_pixels_nest* is = &p->nests[n];
  const int* value_of = p->program->value_of[n];
  int64_t groups = nest->reduce == PB_SET ? 1 : pixels_of(p, value_of[0]) / pixels_of(p, value_of[1]);
  if (groups == 1) return;
  int group = add_dim(nest, groups);
  nest->extent[is->w] /= groups;
  nest->access[0].index[1].coef[group] = nest->extent[is->c];
  nest->access[1].index[3].coef[is->w] = groups;
  nest->access[1].index[3].coef[group] = 1;
}

static void write_along(pb_pixels* p, int n) {
  const pb_pixels_nest* is = &p->nests[n];
  int y = pb_program_stored(p->program, n);
  int64_t pixels = pixels_of(p, y), parts = p->values[y].parts;
  pb_nest* nest = pb_program_add_nest(&p->to, &p->program->nests[n], p->program->value_of[n]);
  int* value_of = p->to.value_of[p->to.nest_count - 1];
  reshape(p, n, nest);
  for (int a = 0; a < nest->access_count; ++a)
    if (pb_program_is_const(p->program, n, a) && pb_access_uses(&nest->access[a], is->c))
      value_of[a] = repeat(p, value_of[a], &p->program->nests[n].access[a], is->c, pixels, parts, &nest->access[a]);
  nest->extent[is->c] *= pixels;
  nest->extent[is->w] /= pixels;
  if (is->kind == PB_PIXELS_PARTS) nest->access[0].index[1].coef[is->part] *= pixels;
  if (is->kind == PB_PIXELS_ALONG) regroup(p, n, nest);
  drop_single_dims(nest, -1, -1);
}

// ---- convolutions ----

// Weights [(part, q, o), (t, c), r, b] of those [(part, o), c, r, s].
static int spread_weights(pb_pixels* p, int n, const pb_pixels_blocks* b, const int64_t* shape) {
  const pb_pixels_nest* is = &p->nests[n];
  int v = p->program->value_of[n][is->roles.w];
  int64_t parts = p->values[pb_program_stored(p->program, n)].parts, first = is->first - b->shift;
  const pb_const* from = p->unit->consts->items[p->program->values[v].const_id];
  const int8_t* source = pb_const_data(p->unit->consts, p->program->values[v].const_id);
  int64_t ins = from->shape[1], lines = from->shape[2], taps = from->shape[3], outs = from->shape[0] / parts;
  int8_t* data = pb_alloc(&p->unit->consts->arena, (size_t)(shape[0] * shape[1] * shape[2] * shape[3]));
  for (int64_t o = 0; o < from->shape[0]; ++o)
    for (int64_t q = 0; q < b->of_y * b->side; ++q)
      for (int64_t s = 0; s < taps; ++s) {
        int64_t pixel = is->step * q + is->apart * s + first - b->first * b->of_x; // from the first block's first on
        int64_t block = q / b->of_y * from->shape[0] * b->of_y;                    // of those side by side
        int64_t to = block + (o / outs * b->of_y + q % b->of_y) * outs + o % outs;
        for (int64_t c = 0; c < ins; ++c)
          for (int64_t r = 0; r < lines; ++r)
            data[((to * shape[1] + pixel % b->of_x * ins + c) * lines + r) * shape[3] + pixel / b->of_x] =
                source[((o * ins + c) * lines + r) * taps + s];
      }
  return pb_program_add_const(&p->to, &p->unit->pass, p->unit->consts, from->name, from->type, 4, shape, data);
}

void pb__pixels_convolution(const pb_pixels* p, int n, const pb_pixels_blocks* b, pb_nest* out,
                            pb_contraction_dims* roles) {
  const pb_pixels_nest* is = &p->nests[n];
  pb_nest_copy(out, &p->program->nests[n]);
  int s = is->s < 0 ? add_dim(out, 1) : is->s;
  pb_access *x = &out->access[is->roles.x], *w = &out->access[is->roles.w], *y = &out->access[is->roles.y];
  roles->role[s] = PB_ROLE_K;
  if (is->c >= 0) out->extent[is->c] *= b->of_x;
  out->extent[is->o] *= b->of_y;
  out->extent[is->w] /= b->of_y * b->side;
  out->extent[s] = b->taps;
  x->index[3].coef[is->w] = b->step;
  x->index[3].coef[s] = w->index[3].coef[s] = 1;
  x->index[3].cst = b->first;
  y->index[3].coef[is->w] = b->side;
  if (b->side > 1) {
    int side = add_dim(out, b->side);
    roles->role[side] = PB_ROLE_N;
    y->index[3].coef[side] = 1;
    w->index[0].coef[side] = out->extent[is->o];
  }
  w->shape[0] *= b->of_y * b->side;
  w->shape[1] *= b->of_x;
  w->shape[3] = b->taps;
}

static void write_convolution(pb_pixels* p, int n) {
  const pb_pixels_nest* is = &p->nests[n];
  pb_nest* nest = pb_program_add_nest(&p->to, &p->program->nests[n], p->program->value_of[n]);
  int* value_of = p->to.value_of[p->to.nest_count - 1];
  pb_pixels_blocks blocks = {0};
  pb_contraction_dims roles;
  (void)pb__pixels_choose_blocks(p, n, &blocks);
  if (blocks.of_x * blocks.of_y * blocks.side == 1) return;
  pb__pixels_convolution(p, n, &blocks, nest, &roles);
  value_of[is->roles.w] = spread_weights(p, n, &blocks, nest->access[is->roles.w].shape);
  nest->access[is->roles.x].index[3].cst += p->values[value_of[is->roles.x]].before;
  reshape(p, n, nest);
  drop_single_dims(nest, is->c, is->o);
}

// ---- borders ----

// All of a padded tensor, where its copy stood.
static void write_pad(pb_pixels* p, int n) {
  int v = pb_program_stored(p->program, n);
  const pb_pixels_value* value = &p->values[v];
  if (n != value->pad.copy) return;
  const int64_t *shape = p->to.values[v].shape, *inner = p->to.values[value->source].shape;
  int64_t top = value->pad.shift[2], left = value->before, bottom = top + inner[2], right = left + inner[3];
  const char* name = p->program->nests[n].name;
  const int64_t low[4][4] = {{0, 0, 0, 0}, {0, 0, bottom, 0}, {0, 0, top, 0}, {0, 0, top, right}};
  const int64_t high[4][4] = {{shape[0], shape[1], top, shape[3]},
                              {shape[0], shape[1], shape[2], shape[3]},
                              {shape[0], shape[1], bottom, left},
                              {shape[0], shape[1], bottom, shape[3]}};
  for (int k = 0; k < 4; ++k) (void)pb_program_add_fill(&p->to, name, "pad", v, low[k], high[k], value->pad.fill);
  pb_access from = pb_value_shape(&p->to.values[value->source]);
  pb_nest copy;
  pb_nest_begin_over(&copy, name, "copy", 2, &from);
  memcpy(copy.access[1].shape, shape, sizeof copy.access[1].shape);
  copy.access[1].index[2].cst = top;
  copy.access[1].index[3].cst = left;
  (void)pb_nest_load(&copy, 0);
  (void)pb_program_add_nest(&p->to, &copy, (const int[PB_NEST_ACCESSES]){value->source, v});
}

// As many blocks around each padded tensor as its readers reach.
static void find_borders(pb_pixels* p) {
  for (int n = 0; n < p->program->nest_count; ++n) {
    if (p->nests[n].kind != PB_PIXELS_CONVOLUTION) continue;
    int x = p->program->value_of[n][p->nests[n].roles.x], y = pb_program_stored(p->program, n);
    pb_pixels_value* value = &p->values[x];
    pb_pixels_blocks b;
    int64_t pixels = pixels_of(p, x);
    if (pixels == 1 || !value->padded || !pb__pixels_blocks(p, n, 1, &b)) continue;
    int64_t blocks = pb__pixels_class(p, y)->width / b.of_y, last = b.step * (blocks - 1) + b.first + b.taps - 1;
    int64_t inside = pb__pixels_class(p, x)->width / pixels;
    if (-b.first > value->before) value->before = -b.first;
    if (last - inside + 1 > value->behind) value->behind = last - inside + 1;
  }
}

static void write_nest(pb_pixels* p, int n) {
  int y = pb_program_stored(p->program, n);
  if (p->nests[n].kind == PB_PIXELS_CONVOLUTION)
    write_convolution(p, n);
  else if (pixels_of(p, y) == 1 && pixels_of(p, p->program->value_of[n][0]) == 1)
    (void)pb_program_add_nest(&p->to, &p->program->nests[n], p->program->value_of[n]);
  else if (p->nests[n].kind == PB_PIXELS_PAD)
    write_pad(p, n);
  else
    write_along(p, n);
}

void pb__pixels_write(pb_pixels* p) {
  const pb_program* from = p->program;
  pb_program_begin_nests(from, &p->unit->pass, &p->to);
  find_borders(p);
  p->to.values = PB_NEW_ARRAY(&p->unit->pass, pb_value, (size_t)from->value_capacity + 1);
  for (int v = 0; v < from->value_count; ++v) {
    p->to.values[v] = from->values[v];
    shape_of(p, v, p->to.values[v].shape);
  }
  for (int n = 0; n < from->nest_count; ++n) write_nest(p, n);
}
