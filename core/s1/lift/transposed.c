// Transposed convolutions of codes. Results so many apart as the strides see the same weights: each such phase is a
// convolution of its own, by every stride-th weight turned round, and the phases are put together element by element.
//
//   y[s t + q] = sum over j of x[t + b - j] w[r + s j],   r = (q + pad) mod s, b = (q + pad) div s,   along each axis
#include "core/s1/lift/lift.h"

#include <string.h>

typedef struct transposed {
  pb_codes x;
  pb_target t;
  pb__weights w;
  int64_t groups, shape[4]; // of the results
  int64_t kernel[2], stride[2], pad[2];
} transposed;

// One phase along one axis: its first result q, how many results and taps it has, and r and b.
typedef struct phase {
  int64_t first, results, taps, from, before;
} phase;

static phase phase_of(const transposed* c, int axis, int64_t first) {
  int64_t stride = c->stride[axis], at = first + c->pad[axis];
  phase p = {.first = first, .from = at % stride, .before = at / stride};
  p.results = (c->shape[2 + axis] - first + stride - 1) / stride;
  p.taps = p.from < c->kernel[axis] ? (c->kernel[axis] - p.from + stride - 1) / stride : 1; // or one weight of 0
  return p;
}

// Pads in front of what a phase reads and behind it; less than 0: so much of x is not read.
static void pads_of(const phase* p, int64_t extent, int64_t* front, int64_t* behind) {
  *front = p->taps - 1 - p->before;
  *behind = p->results + p->taps - 1 - extent - *front;
}

// Whether each phase reads any of x: pads alone are no convolution.
static bool reads_all(const transposed* c, int axis, int64_t extent) {
  int64_t front, behind;
  for (int64_t first = 0; first < c->stride[axis] && first < c->shape[2 + axis]; ++first) {
    phase p = phase_of(c, axis, first);
    pads_of(&p, extent, &front, &behind);
    if (extent + (front < 0 ? front : 0) + (behind < 0 ? behind : 0) < 1) return false;
  }
  return true;
}

static int64_t attribute_at(const pb_node* n, const char* name, int k, int64_t missing) {
  const pb_attr* a = pb_node_attr(n, name);
  return a && k < a->count ? a->ints[k] : missing;
}

// Whether the node is of the form that is read here: over two dims, without gaps in its weights, its extents from its
// pads.
static bool read_extents(const pb_node* n, const pb_s1_value* in, transposed* c) {
  const pb_attr* padding = pb_node_attr(n, "auto_pad");
  if (padding && padding->s && strcmp(padding->s, "NOTSET")) return false;
  if (pb_node_attr(n, "output_shape") || in->rank != 4 || c->w.rank != 4) return false;
  c->groups = pb_node_int(n, "group", 1);
  if (c->groups < 1 || in->shape[1] != c->w.shape[0] || in->shape[1] % c->groups) return false;
  c->shape[0] = in->shape[0];
  c->shape[1] = c->w.shape[1] * c->groups;
  for (int k = 0; k < 2; ++k) {
    enum { MOST = 1 << 12 };
    int64_t behind = attribute_at(n, "pads", 2 + k, 0), more = attribute_at(n, "output_padding", k, 0);
    c->kernel[k] = c->w.shape[2 + k];
    c->stride[k] = attribute_at(n, "strides", k, 1);
    c->pad[k] = attribute_at(n, "pads", k, 0);
    if (attribute_at(n, "dilations", k, 1) != 1 || c->stride[k] < 1 || c->stride[k] > MOST || c->pad[k] < 0 ||
        behind < 0 || more < 0 || c->pad[k] > MOST || behind > MOST || more > MOST)
      return false;
    c->shape[2 + k] = (in->shape[2 + k] - 1) * c->stride[k] + c->kernel[k] - c->pad[k] - behind + more;
    if (c->shape[2 + k] < 1 || !reads_all(c, k, in->shape[2 + k])) return false;
  }
  return true;
}

// w [ins, outs / groups, kernel] as the phase's [outs, ins / groups, taps], turned round.
static int phase_weights(lifter* l, const pb_node* n, const transposed* c, const phase* p) {
  const pb_const* whole = l->consts->items[c->w.id];
  const int8_t* from = whole->data;
  int64_t outs = c->w.shape[1], ins = c->w.shape[0] / c->groups;
  const int64_t shape[4] = {c->shape[1], ins, p[0].taps, p[1].taps};
  int8_t* to = pb_alloc(&l->consts->arena, (size_t)(shape[0] * shape[1] * shape[2] * shape[3]));
  int8_t* at = to;
  for (int64_t o = 0; o < shape[0]; ++o)
    for (int64_t i = 0; i < ins; ++i)
      for (int64_t a = p[0].taps - 1; a >= 0; --a)
        for (int64_t b = p[1].taps - 1; b >= 0; --b) {
          int64_t r = p[0].from + a * c->stride[0], s = p[1].from + b * c->stride[1], in = o / outs * ins + i;
          bool inside = r < c->kernel[0] && s < c->kernel[1];
          *at++ = inside ? from[((in * outs + o % outs) * c->kernel[0] + r) * c->kernel[1] + s] : 0;
        }
  return pb_consts_add(l->consts, pb_printf(&l->consts->arena, "%s.phase", n->name), PB_I8, 4, shape, to);
}

// The phase's results, into y where that is there.
static pb_status push_phase(lifter* l, const pb_node* n, const transposed* c, const phase* p, int* y) {
  const pb_s1_value in = l->out->values[c->x.value];
  int64_t from[PB_GRAPH_RANK] = {0}, to[PB_GRAPH_RANK];
  memcpy(to, in.shape, sizeof to);
  pb_s1_op op = pb__codes_op(n, PB_S1_CONV, NULL);
  pb__weights w = c->w;
  op.groups = c->groups;
  op.x = c->x.value;
  op.zx = c->x.zero;
  for (int k = 0; k < 2; ++k) {
    int64_t front, behind;
    pads_of(&p[k], in.shape[2 + k], &front, &behind);
    op.window[k] = p[k].taps;
    op.stride[k] = op.dilation[k] = 1;
    op.pad[k] = front > 0 ? front : 0;
    op.pad[2 + k] = behind > 0 ? behind : 0;
    from[2 + k] = front < 0 ? -front : 0;
    if (behind < 0) to[2 + k] += behind;
  }
  pb__own(l, n, &op.x);
  op.x = pb__part_of(l, n, op.x, from, to);
  op.weights = w.id = phase_weights(l, n, c, p);
  const float* apart;
  PB_TRY(pb__fold_constants(l, n, &w, &c->x, &c->t, &op, &apart));
  const int64_t shape[4] = {c->shape[0], c->shape[1], p[0].results, p[1].results};
  op.y = *y = *y >= 0 ? *y : pb__add_value(l, n->name, PB_I8, 4, shape);
  pb__push_product(l, n, &c->t, op, apart);
  return PB_OK;
}

static void put(lifter* l, const pb_node* n, int x, int y, int axis, int64_t first, int64_t apart) {
  pb_s1_op op = pb__codes_op(n, PB_S1_CONCAT, NULL);
  op.x = x;
  op.y = y;
  op.axis = axis;
  op.offset = first;
  op.apart = apart;
  pb__push_op(l, op);
}

// Columns of one phase of rows are put together first.
static pb_status push_rows(lifter* l, const pb_node* n, const transposed* c, const phase* rows, int* y) {
  phase p[2] = {*rows};
  const int64_t shape[4] = {c->shape[0], c->shape[1], rows->results, c->shape[3]};
  bool one = c->stride[1] == 1;
  if (*y < 0 && !one) *y = pb__add_value(l, n->name, PB_I8, 4, shape);
  for (int64_t first = 0; first < c->stride[1] && first < c->shape[3]; ++first) {
    int part = one ? *y : -1;
    p[1] = phase_of(c, 1, first);
    PB_TRY(push_phase(l, n, c, p, &part));
    if (one)
      *y = part;
    else
      put(l, n, part, *y, 3, first, c->stride[1]);
  }
  return PB_OK;
}

static pb_status push_all(lifter* l, const pb_node* n, const transposed* c) {
  int y = pb__make_result(l, &c->t, 4, c->shape);
  for (int64_t first = 0; first < c->stride[0] && first < c->shape[2]; ++first) {
    phase rows = phase_of(c, 0, first);
    int part = c->stride[0] == 1 ? y : -1;
    PB_TRY(push_rows(l, n, c, &rows, &part));
    if (c->stride[0] > 1) put(l, n, part, y, 2, first, c->stride[0]);
  }
  return PB_OK;
}

pb_status pb__lift_transposed(lifter* l, const pb_node* n, bool* known) {
  transposed c;
  bool quiet = l->quiet;
  *known = false;
  if (!pb__is(n, "ConvTranspose")) return PB_OK;
  l->quiet = true; // in another form it is one of floats
  bool reads = pb__read_codes(l, n, pb__input(n, 0), &c.x) == PB_OK &&
               pb__read_weights(l, n, pb__input(n, 1), 1, &c.w) == PB_OK && pb__find_target(l, n, &c.t) == PB_OK &&
               !c.w.twice && !c.w.negated && read_extents(n, &l->out->values[c.x.value], &c) &&
               (c.groups == 1 || c.w.scale_count == 1);
  l->quiet = quiet;
  if (!reads) return PB_OK;
  *known = true;
  return push_all(l, n, &c);
}
