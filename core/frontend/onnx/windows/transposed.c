// ConvTranspose: a convolution over its input with gaps, by the weights turned round. Where the strides are the gaps,
// the results that are so many apart meet the same weights: each such phase is a convolution of its own, without gaps,
// and together they have one product for each that the operator asks for. Where the window is as long as the gaps, no
// two elements meet in a result, and all phases are one product.
#include "core/frontend/onnx/rows.h"

#include <string.h>

enum { MOST_PHASES = 64 };

typedef struct phases {
  int x, w, spaces; // w: [outputs, inputs of a group, kernel]
  pb_type type;
  const pb_onnx_conv* conv;
  int constant; // the weights as the model has them, [inputs, outputs of a group, kernel]; -1: computed
  int64_t out[PB_FLAT_RANK], low[PB_FLAT_RANK]; // what is cut off in front of each dim
} phases;

// Along one dim: taps `first`, and so many more `step` apart; how far the input begins in front of the phase.
typedef struct taps {
  int64_t first, count, step, base;
} taps;

static taps taps_of(pb_onnx* o, const phases* p, int s, int64_t phase) {
  int64_t gap = p->conv->gap[s], kernel = pb__o_type(o, p->w)->shape[2 + s], at = phase + p->low[s];
  taps t = {.first = at % gap, .step = gap, .base = at / gap};
  t.count = t.first < kernel ? (kernel - t.first + gap - 1) / gap : 0;
  return t;
}

static int64_t turns(const phases* p, int s) { return (p->out[s] + p->conv->gap[s] - 1) / p->conv->gap[s]; }

// The weights of some taps, turned round: of constants they are one.
static int weights_of(pb_onnx* o, const phases* p, const taps* t) {
  const pb_flat_type w = *pb__o_type(o, p->w);
  int64_t from[PB_FLAT_RANK] = {0}, to[PB_FLAT_RANK], step[PB_FLAT_RANK] = {1, 1}, shape[PB_FLAT_RANK], all = 1;
  memcpy(to, w.shape, sizeof to);
  memcpy(shape, w.shape, sizeof shape);
  for (int s = 0; s < p->spaces; ++s) {
    from[2 + s] = t[s].first;
    step[2 + s] = t[s].step;
    shape[2 + s] = t[s].count;
  }
  for (int r = 0; r < w.rank; ++r) all *= shape[r];
  if (p->constant < 0) return pb__o_slice(o, p->w, from, to, step);
  int64_t group = w.shape[0] / p->conv->groups, at[PB_FLAT_RANK] = {0};
  size_t size = (size_t)pb_type_bits(pb_type_stored(w.type)) / 8;
  const char* data = pb_const_data(o->l->consts, p->constant);
  char* made = pb_alloc_array(&o->arena, (size_t)all, size);
  for (int64_t k = 0; k < all; ++k) {
    int64_t source = (at[0] / group * w.shape[1] + at[1]) * group + at[0] % group;
    for (int s = 0; s < p->spaces; ++s)
      source = source * w.shape[2 + s] + t[s].first + t[s].step * (t[s].count - 1 - at[2 + s]);
    memcpy(made + (size_t)k * size, data + (size_t)source * size, size);
    for (int r = w.rank - 1; r >= 0 && ++at[r] == shape[r]; --r) at[r] = 0;
  }
  return pb__o_constant(o, w.type, w.rank, shape, made);
}

// One phase with a dim of 1 behind each space, where the phases stand beside each other.
static int one_phase(pb_onnx* o, const phases* p, const int64_t* phase) {
  const pb_flat_type in = *pb__o_type(o, p->x), w = *pb__o_type(o, p->w);
  pb_onnx_conv c = {.groups = p->conv->groups, .reversed = p->constant < 0};
  int64_t shape[PB_FLAT_RANK] = {in.shape[0], w.shape[0]}, apart[PB_FLAT_RANK] = {in.shape[0], w.shape[0]};
  taps t[PB_FLAT_RANK] = {0};
  bool empty = false;
  for (int s = 0; s < p->spaces; ++s) {
    t[s] = taps_of(o, p, s, phase[s]);
    empty |= !t[s].count;
    c.stride[s] = c.dilation[s] = c.gap[s] = 1;
    shape[2 + s] = apart[2 + 2 * s] = turns(p, s);
    apart[3 + 2 * s] = 1;
    c.low[s] = t[s].count - 1 - t[s].base;
    c.high[s] = turns(p, s) + t[s].count - 1 - in.shape[2 + s] - c.low[s];
  }
  int y = empty ? pb__o_expand(o, pb__o_number(o, p->type, 0), in.rank, shape)
                : pb__o_conv(o, p->x, weights_of(o, p, t), &c, p->type);
  return pb__o_reshape(o, y, 2 + 2 * p->spaces, apart);
}

// All phases from space s on, the ones of the spaces in front being chosen.
static int interleaved(pb_onnx* o, const phases* p, int s, int64_t* phase) {
  int parts[MOST_PHASES];
  if (s == p->spaces) return one_phase(o, p, phase);
  for (phase[s] = 0; phase[s] < p->conv->gap[s]; ++phase[s]) parts[phase[s]] = interleaved(o, p, s + 1, phase);
  return p->conv->gap[s] == 1 ? parts[0] : pb__o_join(o, (int)p->conv->gap[s], parts, 3 + 2 * s);
}

// Whether each element of the input makes results of its own, which are all there are.
static bool makes_its_own(pb_onnx* o, const phases* p) {
  const pb_flat_type *in = pb__o_type(o, p->x), *kernel = pb__o_type(o, p->w);
  bool own = p->conv->groups == 1;
  for (int s = 0; s < p->spaces; ++s)
    own &= kernel->shape[2 + s] == p->conv->gap[s] && p->low[s] + p->out[s] <= in->shape[2 + s] * p->conv->gap[s];
  return own;
}

// All that the elements make, of which pads cut something off.
static int all_at_once(pb_onnx* o, const phases* p) {
  const pb_flat_type in = *pb__o_type(o, p->x), kernel = *pb__o_type(o, p->w);
  pb_onnx_conv c = *p->conv;
  taps t[PB_FLAT_RANK] = {0};
  int64_t from[PB_FLAT_RANK] = {0}, to[PB_FLAT_RANK] = {in.shape[0], kernel.shape[0]};
  for (int s = 0; s < p->spaces; ++s) {
    c.low[s] = c.high[s] = kernel.shape[2 + s] - 1;
    t[s] = (taps){.count = kernel.shape[2 + s], .step = 1};
    from[2 + s] = p->low[s];
    to[2 + s] = p->low[s] + p->out[s];
  }
  c.reversed = p->constant < 0;
  return pb__o_slice(o, pb__o_conv(o, p->x, weights_of(o, p, t), &c, p->type), from, to, NULL);
}

int pb__o_conv_by_phases(pb_onnx* o, int x, int w, const pb_onnx_conv* conv, int constant, pb_type type) {
  const pb_flat_type in = *pb__o_type(o, x), kernel = *pb__o_type(o, w);
  phases p = {x, w, in.rank - 2, type, conv, constant, {0}, {0}};
  int64_t count = 1, phase[PB_FLAT_RANK], whole[PB_FLAT_RANK] = {in.shape[0], kernel.shape[0]},
          none[PB_FLAT_RANK] = {0};
  bool fits = true;
  for (int s = 0; s < p.spaces; ++s) {
    if (conv->gap[s] > MOST_PHASES) return -1;
    count *= conv->gap[s];
    p.low[s] = kernel.shape[2 + s] - 1 - conv->low[s];
    p.out[s] = (in.shape[2 + s] - 1) * conv->gap[s] + 1 + conv->low[s] + conv->high[s] - kernel.shape[2 + s] + 1;
    fits = fits && conv->dilation[s] == 1 && p.low[s] >= 0 && p.out[s] > 0;
    whole[2 + s] = fits ? turns(&p, s) * conv->gap[s] : 1;
  }
  if (!fits || count < 2 || count > MOST_PHASES || pb__o_bad(o)) return -1;
  if (makes_its_own(o, &p)) return all_at_once(o, &p);
  int y = pb__o_reshape(o, interleaved(o, &p, 0, phase), in.rank, whole);
  memcpy(whole + 2, p.out, sizeof *whole * (size_t)p.spaces);
  return pb__o_slice(o, y, none, whole, NULL);
}
