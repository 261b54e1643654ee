// Inside `pixels`: what each nest asks of its tensors' pixels.
#include "core/s3/compose.h"
#include "core/s3/legalise/pixels.h"

static void join(pb_pixels* p, int a, int b) {
  pb_pixels_value *to = pb__pixels_class(p, a), *from = pb__pixels_class(p, b);
  if (to == from) return;
  if (to->width && from->width && to->width != from->width) to->pinned = true;
  if (!to->width) to->width = from->width;
  to->pinned |= from->pinned;
  from->parent = (int)(to - p->values);
}

static void pin(pb_pixels* p, int n) {
  for (int a = 0; a < p->program->nests[n].access_count; ++a)
    pb__pixels_class(p, p->program->value_of[n][a])->pinned = true;
}

static bool is_image(const pb_value* value) { return value->kind != PB_VALUE_CONST && value->rank == 4; }

// Whether dims c and w of the nest are all channels and all pixels of a line.
static bool goes_along(const pb_nest* nest, const pb_access* a, int c, int w) {
  return a->rank == 4 && !a->boxed && !a->gathered && pb_access_whole_dim(nest, a, 1) == c &&
         pb_access_whole_dim(nest, a, 3) == w && pb_access_moves_only(a, 1, c) && pb_access_moves_only(a, 3, w);
}

// A number for each channel, or for none.
static bool is_by_channel(const pb_nest* nest, const pb_access* a, int c, int w) {
  int at = -1, dim;
  for (int r = 0; r < a->rank; ++r)
    if (a->index[r].coef[c]) at = at < 0 ? r : a->rank;
  if (a->boxed || a->gathered || pb_access_uses(a, w) || at == a->rank) return false;
  if (at < 0) return true;
  for (int r = 0; r < a->rank; ++r)
    if (r != at && a->shape[r] != 1) return false;
  return pb_index_single(&a->index[at], &dim) && a->shape[at] == nest->extent[c];
}

static bool is_along(const pb_pixels* p, int n, pb_pixels_nest* out) {
  const pb_nest* nest = &p->program->nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  if (store->rank != 4 || pb_nest_is_fixed(nest) || !pb_index_single(&store->index[1], &out->c) ||
      !pb_index_single(&store->index[3], &out->w) || out->c < 0 || out->w < 0)
    return false;
  for (int a = 0; a < nest->access_count; ++a)
    if (pb_program_is_const(p->program, n, a) ? !is_by_channel(nest, &nest->access[a], out->c, out->w)
                                              : !goes_along(nest, &nest->access[a], out->c, out->w))
      return false;
  out->kind = PB_PIXELS_ALONG;
  return true;
}

// ALONG but for a dim that goes from part to part of what is read.
static bool is_of_parts(const pb_pixels* p, int n, pb_pixels_nest* out) {
  const pb_nest* nest = &p->program->nests[n];
  const pb_access *x = &nest->access[0], *store = &nest->access[nest->access_count - 1];
  if (nest->reduce == PB_SET || nest->access_count != 2 || x->rank != 4 || store->rank != 4 || x->boxed ||
      !pb_index_single(&store->index[1], &out->c) || !pb_index_single(&store->index[3], &out->w) || out->c < 0 ||
      out->w < 0 || !goes_along(nest, store, out->c, out->w))
    return false;
  out->part = -1;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (!x->index[1].coef[d] || d == out->c) continue;
    if (out->part >= 0 || x->index[1].coef[d] != store->shape[1] || !pb_access_moves_only(x, 1, d)) return false;
    out->part = d;
  }
  if (out->part < 0 || pb_access_uses(store, out->part) || x->index[1].cst || x->index[1].coef[out->c] != 1 ||
      !pb_access_moves_only(x, 1, out->c) || pb_index_dim(&x->index[3]) != out->w || x->shape[3] != store->shape[3] ||
      x->shape[1] != store->shape[1] * nest->extent[out->part])
    return false;
  out->kind = PB_PIXELS_PARTS;
  return true;
}

// x's pixels: step * w + apart * s + first.
static bool read_line(const pb_nest* nest, pb_pixels_nest* out) {
  const pb_access* x = &nest->access[out->roles.x];
  out->s = -1;
  out->apart = 1;
  out->first = x->index[3].cst;
  for (int d = 0; d < nest->dim_count; ++d) {
    int64_t coef = x->index[3].coef[d];
    if (!coef) continue;
    if (coef < 0 || !pb_access_moves_only(x, 3, d)) return false;
    if (d == out->w) {
      out->step = coef;
    } else if (out->roles.role[d] == PB_ROLE_K && out->s < 0) {
      out->s = d;
      out->apart = coef;
    } else {
      return false;
    }
  }
  out->taps = out->s < 0 ? 1 : nest->extent[out->s];
  return out->step > 0;
}

// Weights [o, c, r, s] by dims of their own.
static bool read_weights(const pb_nest* nest, const pb_pixels_nest* out) {
  const pb_access* w = &nest->access[out->roles.w];
  int dims[4];
  if (w->rank != 4 || w->boxed || w->gathered || !pb_walks_all(nest, w, dims)) return false;
  return dims[0] == out->o && dims[1] == out->c && dims[3] == out->s;
}

static bool is_convolution(const pb_pixels* p, int n, pb_pixels_nest* out) {
  const pb_nest* nest = &p->program->nests[n];
  if (pb_nest_is_fixed(nest) || !pb_program_contraction_dims(p->program, n, &out->roles)) return false;
  const pb_access *x = &nest->access[out->roles.x], *y = &nest->access[out->roles.y];
  if (pb_program_is_const(p->program, n, out->roles.x) || !pb_program_is_const(p->program, n, out->roles.w) ||
      x->rank != 4 || y->rank != 4 || x->type != PB_I8 || nest->access[out->roles.w].type != PB_I8 || x->boxed ||
      x->gathered)
    return false;
  for (int d = 0; d < nest->dim_count; ++d)
    if (out->roles.role[d] == PB_ROLE_B || out->roles.role[d] == PB_ROLE_NONE) return false;
  if (!pb_index_single(&x->index[1], &out->c) || !pb_index_single(&y->index[1], &out->o) ||
      !pb_index_single(&y->index[3], &out->w) || out->o < 0 || out->w < 0 || !goes_along(nest, y, out->o, out->w))
    return false;
  if (out->c >= 0 ? !pb_access_moves_only(x, 1, out->c) || x->shape[1] != nest->extent[out->c] : x->shape[1] != 1)
    return false;
  out->kind = PB_PIXELS_CONVOLUTION;
  return read_line(nest, out) && read_weights(nest, out);
}

// The border is around pixels and lines alone.
static void find_pads(pb_pixels* p) {
  for (int v = 0; v < p->program->value_count; ++v) {
    pb_pixels_value* value = &p->values[v];
    if (!pb_program_is_local(p->program, v) || p->program->values[v].rank != 4 ||
        !pb_pad_of(p->program, v, &value->pad))
      continue;
    const int64_t* shape = p->program->values[v].shape;
    value->source = p->program->value_of[value->pad.copy][0];
    const int64_t* inner = p->program->values[value->source].shape;
    value->padded = shape[0] == inner[0] && shape[1] == inner[1] && !value->pad.shift[0] && !value->pad.shift[1];
  }
}

static void read_nest(pb_pixels* p, int n) {
  pb_pixels_nest* nest = &p->nests[n];
  const int* value_of = p->program->value_of[n];
  int y = pb_program_stored(p->program, n);
  if (p->values[y].padded) {
    nest->kind = PB_PIXELS_PAD;
    join(p, p->values[y].source, y);
  } else if (is_convolution(p, n, nest)) {
    return;
  } else if (is_along(p, n, nest)) {
    if (p->program->nests[n].reduce != PB_SET && p->program->nests[n].access_count == 2) return;
    for (int a = 0; a < p->program->nests[n].access_count; ++a)
      if (p->program->values[value_of[a]].kind != PB_VALUE_CONST) join(p, y, value_of[a]);
  } else if (is_of_parts(p, n, nest)) {
    p->values[value_of[0]].parts = p->program->nests[n].extent[nest->part];
    join(p, y, value_of[0]);
  } else {
    nest->kind = PB_PIXELS_OTHER;
    pin(p, n);
  }
}

// The members of each class behind its first, all of which name that one from now on.
static void list_classes(pb_pixels* p) {
  for (int v = p->program->value_count - 1; v >= 0; --v) {
    pb_pixels_value* class = pb__pixels_class(p, v), *value = &p->values[v];
    int64_t channels = p->program->values[v].shape[1] / value->parts;
    if (is_image(&p->program->values[v]) && (!class->channels || channels < class->channels))
      class->channels = channels;
    value->parent = (int)(class - p->values);
    if (value == class) continue;
    value->next = class->next;
    class->next = v;
  }
}

void pb__pixels_read(pb_pixels* p) {
  const pb_program* program = p->program;
  p->nests = PB_NEW_ARRAY(&p->unit->pass, pb_pixels_nest, (size_t)program->nest_count + 1);
  p->values = PB_NEW_ARRAY(&p->unit->pass, pb_pixels_value, (size_t)program->value_count + 1);
  find_pads(p);
  for (int v = 0; v < program->value_count; ++v) {
    pb_pixels_value* value = &p->values[v];
    const pb_value* of = &program->values[v];
    value->parent = v;
    value->next = -1;
    value->pixels = value->parts = 1;
    value->pinned = of->kind != PB_VALUE_LOCAL || !is_image(of);
    if (is_image(of) && !value->padded) value->width = of->shape[3];
  }
  for (int n = 0; n < program->nest_count; ++n) read_nest(p, n);
  for (int n = program->nest_count - 1; n >= 0; --n) { // what parts are made of has as many
    int64_t parts = p->values[pb_program_stored(program, n)].parts;
    for (int a = 0; p->nests[n].kind == PB_PIXELS_ALONG && a + 1 < program->nests[n].access_count; ++a)
      if (parts > 1 && !pb_program_is_const(program, n, a)) p->values[program->value_of[n][a]].parts = parts;
  }
  list_classes(p);
}
