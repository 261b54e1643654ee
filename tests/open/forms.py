"""Open dims in forms that exporters write: sizes computed by Shape, Slice, Div and Mod, tables of positions, masks, pads up to a
multiple, heads and windows. One engine of each model, its extents in turn, against ONNX Runtime.

    tests/open/forms.py --bin build/bin [--only TEXT] [--every N]"""

import sys

from by_runtime import Opened, model_of, weights_of  # first: it skips where a package is missing
import numpy as np
from run import judge_all

RNG = np.random.default_rng(3)
NUMBERS = ", ".join(f"int64[1] i{k} = {{{k}}}" for k in (0, 1, 2, 3, 4, 5, 6, 7, 8, -1)).replace("i-1", "m1")
CODES = {shape: ",".join(str(v) for v in RNG.integers(-100, 100, size)) for shape, size in (("4,3,3,3", 108), ("8,6", 48))}
# What it is, inputs, outputs, constants beside i0 to i8 and m1, the graph (w3x4, g8: weights of that shape), extents in turn, which dim is
# a multiple of what, what integers are below.
CASES = [
    ("style transfer: reflected borders, halved, doubled", "float[N, 3, H, W] x", "float[a,b,c,d] y", "int64[8] pads = {0,0,1,1,0,0,1,1}, float[4] sc = {1,1,2,2}",
     'p = Pad<mode = "reflect">(x, pads) c = Conv<strides = [2, 2]>(p, w8x3x3x3) n = InstanceNormalization(c, g8, b8) r = Relu(n) '
     'u = Resize<mode = "nearest">(r, , sc) q = Pad<mode = "reflect">(u, pads) y = Conv(q, w3x8x3x3)',
     [{"x": (1, 3, 6, 8)}, {"x": (1, 3, 9, 7)}], {}, {}),
    ("a head resized to the picture", "float[N, 3, H, W] x", "float[a,b,c,d] y", "",
     "c = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, w8x3x3x3) r = Relu(c) g = GlobalAveragePool(r) gc = Conv(g, w8x8x1x1) "
     's = Shape(r) nn = Slice(s, i0, i2) hw = Slice(s, i2, i4) z = Concat<axis = 0>(nn, hw) up = Resize<mode = "linear", '
     'coordinate_transformation_mode = "pytorch_half_pixel">(gc, , , z) k = Concat<axis = 1>(r, up) l = Conv(k, w5x16x1x1) '
     'xs = Shape(x) xhw = Slice(xs, i2, i4) xn = Slice(xs, i0, i1) z2 = Concat<axis = 0>(xn, i5, xhw) y = Resize<mode = "linear", '
     'coordinate_transformation_mode = "pytorch_half_pixel">(l, , , z2)',
     [{"x": (1, 3, 9, 12)}, {"x": (2, 3, 8, 5)}], {}, {}),
    ("heads of two levels in one list", "float[N, 3, H, W] x", "float[a,b,c] y", "",
     "c = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, w32x3x3x3) sl = Sigmoid(c) m = Mul(c, sl) d = Conv(m, w15x32x1x1) "
     "e = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(m, w32x32x3x3) f = Conv(e, w15x32x1x1) s = Shape(d) n = Slice(s, i0, i1) "
     "a = Concat<axis = 0>(n, i3, i5, m1) dr = Reshape(d, a) fr = Reshape(f, a) k = Concat<axis = 3>(dr, fr) "
     "t = Transpose<perm = [0,1,3,2]>(k) o = Sigmoid(t) b = Concat<axis = 0>(n, m1, i5) y = Reshape(o, b)",
     [{"x": (1, 3, 8, 8)}, {"x": (2, 3, 12, 6)}], {}, {}),
    ("columns of a picture to an LSTM", "float[N, 1, 8, W] x", "float[a,b,c] y", "int64[3] shp = {0, 0, 8}",
     "c = Conv<pads = [1, 1, 1, 1]>(x, w6x1x3x3) r = Relu(c) p = MaxPool<kernel_shape = [8, 2], strides = [8, 2]>(r) q = Squeeze(p, i2) "
     't = Transpose<perm = [2,0,1]>(q) l, lh, lc = LSTM<hidden_size = 4, direction = "bidirectional">(t, w2x16x6, w2x16x4, w2x32) '
     "lt = Transpose<perm = [0,2,1,3]>(l) z = Reshape(lt, shp) o = MatMul(z, w8x7) y = LogSoftmax<axis = 2>(o)",
     [{"x": (1, 1, 8, 10)}, {"x": (2, 1, 8, 7)}], {}, {}),
    ("sound by strides", "float[N, 1, L] x", "float[a,b,c] y", "",
     "c = Conv<strides = [5]>(x, w8x1x10) r = Relu(c) d = Conv<strides = [2]>(r, w8x8x3) e = Relu(d) t = Transpose<perm = [0,2,1]>(e) "
     "n = LayerNormalization<axis = -1>(t, g8, b8) y = MatMul(n, w8x4)",
     [{"x": (1, 1, 60)}, {"x": (3, 1, 101)}], {}, {}),
    ("sound with rows of a table of positions", "float[N, 10, L] x", "float[a,b,c] y", "",
     "c = Conv<pads = [1,1]>(x, w8x10x3) r = Relu(c) d = Conv<pads = [1,1], strides = [2]>(r, w8x8x3) t = Transpose<perm = [0,2,1]>(d) "
     "s = Shape(t) l = Slice(s, i1, i2) pe = Slice(w512x8, i0, l, i0) h = Add(t, pe) q = MatMul(h, w8x8) "
     "k = Transpose<perm = [0,2,1]>(h) a = MatMul(q, k) sm = Softmax<axis = -1>(a) y = MatMul(sm, h)",
     [{"x": (1, 10, 20)}, {"x": (2, 10, 33)}], {}, {}),
    ("points of any number", "float[N, P, 3] x", "float[a,b] y", "",
     "h = MatMul(x, w3x16) r = Relu(h) m = ReduceMax<keepdims = 1>(r, i1) s = Shape(r) e = Expand(m, s) k = Concat<axis = 2>(r, e) "
     "o = MatMul(k, w32x8) z = ReduceMean<keepdims = 0>(o, i1) y = Softmax<axis = 1>(z)",
     [{"x": (1, 5, 3)}, {"x": (2, 17, 3)}], {}, {}),
    ("edges gathered and scattered", "float[V, 8] x, int64[2, E] e", "float[a,b] y", "int64 z0 = {0}, int64 z1 = {1}",
     "f = Gather<axis = 0>(e, z0) t = Gather<axis = 0>(e, z1) m = Gather<axis = 0>(x, f) w = MatMul(m, w8x8) s = Shape(x) "
     'zero = ConstantOfShape(s) tt = Unsqueeze(t, i1) a = ScatterND<reduction = "add">(zero, tt, w) y = Relu(a)',
     [{"x": (5, 8), "e": (2, 9)}, {"x": (3, 8), "e": (2, 2)}], {}, {"e": 2}),
    ("tokens with a mask made of their number", "int64[B, T] x", "float[a,b,c] y", "int64 c0 = {0}, int64 c1 = {1}, float zf = {0}, float ninf = {-10000}",
     "h = Gather<axis = 0>(w50x16, x) s = Shape(x) t = Slice(s, i1, i2) ts = Squeeze(t) r = Range(c0, ts, c1) "
     "p = Gather<axis = 0>(w512x16, r) z = Add(h, p) q = MatMul(z, w16x16) k = Transpose<perm = [0,2,1]>(z) a = MatMul(q, k) "
     "tt = Concat<axis = 0>(t, t) one = ConstantOfShape<value = float[1] {1.0}>(tt) lo = Trilu<upper = 0>(one) bo = Cast<to = 9>(lo) "
     "mk = Where(bo, zf, ninf) am = Add(a, mk) sm = Softmax<axis = -1>(am) y = MatMul(sm, z)",
     [{"x": (1, 6)}, {"x": (2, 11)}], {}, {"x": 50}),
    ("tokens with a mask that is given", "float[B, T, 8] x, int64[B, T] m", "float[a,b,c] y", "float one = {1}, float big = {-10000}",
     "mf = Cast<to = 1>(m) u = Unsqueeze(mf, i1) inv = Sub(one, u) neg = Mul(inv, big) k = Transpose<perm = [0,2,1]>(x) "
     "a = MatMul(x, k) b = Add(a, neg) s = Softmax<axis = -1>(b) o = MatMul(s, x) mu = Unsqueeze(mf, i2) om = Mul(o, mu) "
     "sm = ReduceSum<keepdims = 1>(om, i1) cnt = ReduceSum<keepdims = 1>(mu, i1) y = Div(sm, cnt)",
     [{"x": (1, 4, 8), "m": (1, 4)}, {"x": (3, 7, 8), "m": (3, 7)}], {}, {"m": 2}),
    ("a cache that grows", "float[B, 2, T, 4] x, float[B, 2, P, 4] k", "float[a,b,c,d] y, float[e,f,g,h] kk", "",
     "kk = Concat<axis = 2>(k, x) t = Transpose<perm = [0,1,3,2]>(kk) a = MatMul(x, t) s = Softmax<axis = -1>(a) y = MatMul(s, kk)",
     [{"x": (1, 2, 1, 4), "k": (1, 2, 5, 4)}, {"x": (2, 2, 3, 4), "k": (2, 2, 9, 4)}], {}, {}),
    ("the largest of any number", "float[N, A] x", "float[a,b] y, int64[c,d] z", "",
     "y, z = TopK<axis = 1>(x, i5)",
     [{"x": (1, 8)}, {"x": (3, 21)}], {}, {}),
    ("padded averages, then the largest", "float[N, 4, H, W] x", "float[a,b] y", "",
     "p = AveragePool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], count_include_pad = 0>(x) f = Flatten<axis = 2>(p) "
     "y0 = ReduceMax<keepdims = 0>(f, i1) y = Unsqueeze(y0, i1)",
     [{"x": (1, 4, 5, 5)}, {"x": (2, 4, 6, 3)}], {}, {}),
    ("patches as tokens, and back", "float[N, 8, H, W] x", "float[a,b,c,d] y", "",
     "c = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w8x8x3x3) s = Shape(c) n = Slice(s, i0, i1) h = Slice(s, i2, i3) "
     "w = Slice(s, i3, i4) h2 = Div(h, i2) w2 = Div(w, i2) a = Concat<axis = 0>(n, i8, h2, i2, w2, i2) r = Reshape(c, a) "
     "t = Transpose<perm = [0,3,5,2,4,1]>(r) hw = Mul(h2, w2) b = Concat<axis = 0>(n, i4, hw, i8) z = Reshape(t, b) "
     "k = Transpose<perm = [0,1,3,2]>(z) q = MatMul(z, k) sm = Softmax<axis = -1>(q) o = MatMul(sm, z) "
     "d = Concat<axis = 0>(n, i2, i2, h2, w2, i8) e = Reshape(o, d) f = Transpose<perm = [0,5,3,1,4,2]>(e) y = Reshape(f, s)",
     [{"x": (1, 8, 8, 4)}, {"x": (2, 8, 12, 8)}], {"H": 4, "W": 4}, {}),
    ("padded to windows of 7", "float[N, H, W, 4] x", "float[a,b,c,d] y", "",
     "s = Shape(x) h = Slice(s, i1, i2) w = Slice(s, i2, i3) hm = Mod(h, i7) wm = Mod(w, i7) hp = Sub(i7, hm) wp = Sub(i7, wm) "
     "hq = Mod(hp, i7) wq = Mod(wp, i7) pd = Concat<axis = 0>(i0, i0, i0, i0, i0, hq, wq, i0) p = Pad(x, pd) ps = Shape(p) "
     "n = Slice(ps, i0, i1) ph = Slice(ps, i1, i2) pw = Slice(ps, i2, i3) h7 = Div(ph, i7) w7 = Div(pw, i7) "
     "a = Concat<axis = 0>(n, h7, i7, w7, i7, i4) r = Reshape(p, a) t = Transpose<perm = [0,1,3,2,4,5]>(r) "
     "b = Concat<axis = 0>(m1, i7, i7, i4) y = Reshape(t, b)",
     [{"x": (1, 7, 14, 4)}, {"x": (2, 9, 5, 4)}], {}, {}),
    ("padded to 10 at least", "float[n] x", "float[m] z", "int64[1] ten = {10}",
     "s = Shape(x) t = Max(s, ten) d = Sub(t, s) p = Concat<axis = 0>(i0, d) z = Pad(x, p)",
     [{"x": (1,)}, {"x": (10,)}, {"x": (12,)}], {}, {}),
    ("groups of channels", "float[N, 8, H, W] x", "float[a,b,c,d] y", "",
     "s = Shape(x) g = Concat<axis = 0>(i0, i4, m1) r = Reshape(x, g) n = InstanceNormalization(r, g4, b4) y = Reshape(n, s)",
     [{"x": (1, 8, 3, 5)}, {"x": (2, 8, 4, 4)}], {}, {}),
    ("heads apart and together", "float[B, T, 12] x", "float[a,b,c] y", "",
     "q = MatMul(x, w12x12) s = Shape(q) b = Slice(s, i0, i1) t = Slice(s, i1, i2) a = Concat<axis = 0>(b, t, i3, i4) r = Reshape(q, a) "
     "u = Transpose<perm = [0,2,1,3]>(r) v = Transpose<perm = [0,2,3,1]>(r) m = MatMul(u, v) sm = Softmax<axis = -1>(m) "
     "o = MatMul(sm, u) ot = Transpose<perm = [0,2,1,3]>(o) c = Concat<axis = 0>(b, t, m1) y = Reshape(ot, c)",
     [{"x": (1, 4, 12)}, {"x": (2, 9, 12)}], {}, {}),
    ("halves of channels", "float[N, C, H, W] x", "float[a,b,c,d] y", "",
     "p, q = Split<axis = 1, num_outputs = 2>(x) s = Sigmoid(q) y = Mul(p, s)",
     [{"x": (1, 4, 3, 5)}, {"x": (2, 6, 4, 4)}], {"C": 2}, {}),
    ("halves of a length", "float[N, L] x", "float[a,b] y", "",
     "p, q = Split<axis = 1, num_outputs = 2>(x) s = Sigmoid(q) y = Mul(p, s)",
     [{"x": (1, 4)}, {"x": (2, 10)}], {"L": 2}, {}),
    ("repeated as often as it is long", "float[N, L] x", "float[a,b,c] y", "",
     "u = Unsqueeze(x, i1) s = Shape(x) l = Slice(s, i1, i2) rep = Concat<axis = 0>(i1, l, i1) t = Tile(u, rep) v = Unsqueeze(x, i2) "
     "y = Sub(t, v)",
     [{"x": (1, 4)}, {"x": (2, 7)}], {}, {}),
    ("one-hot", "int64[N] x", "float[a,b] y", "int64 d = {9}, float[2] v = {0, 1}",
     "y = OneHot<axis = -1>(x, d, v)",
     [{"x": (4,)}, {"x": (7,)}], {}, {"x": 9}),
    ("prefix sums", "float[N, L] x", "float[a,b] y", "int64 ax = {1}, float two = {2}",
     "c = CumSum(x, ax) y = Div(c, two)",
     [{"x": (1, 4)}, {"x": (2, 9)}], {}, {}),
    ("three times as long, linear", "float[N, 2, L] x", "float[a,b,c] y", "float[3] sc = {1, 1, 3}",
     'u = Resize<mode = "linear">(x, , sc) c = Conv<pads = [1,1]>(u, w2x2x3) y = Tanh(c)',
     [{"x": (1, 2, 4)}, {"x": (2, 2, 9)}], {}, {}),
    ("the best of each place", "float[T, B, 6] x", "int64[a,b] y", "",
     "t = Transpose<perm = [1,0,2]>(x) y = ArgMax<axis = 2, keepdims = 0>(t)",
     [{"x": (4, 1, 6)}, {"x": (9, 3, 6)}], {}, {}),
    ("cut to the shorter of two", "float[N, 2, H] x, float[N, 2, G] z", "float[a,b,c] y", "",
     "s = Shape(x) t = Shape(z) a = Slice(s, i2, i3) b = Slice(t, i2, i3) m = Min(a, b) p = Slice(x, i0, m, i2) q = Slice(z, i0, m, i2) "
     "y = Add(p, q)",
     [{"x": (1, 2, 5), "z": (1, 2, 7)}, {"x": (2, 2, 8), "z": (2, 2, 3)}], {}, {}),
    ("padded to multiples of 4, reflected, and cut again", "float[N, 3, H, W] x", "float[a,b,c,d] y", "int64[2] z2 = {0,0}, int64[2] ax = {2,3}",
     "s = Shape(x) h = Slice(s, i2, i3) w = Slice(s, i3, i4) hm = Mod(h, i4) wm = Mod(w, i4) hs = Sub(i4, hm) ws = Sub(i4, wm) "
     'hp = Mod(hs, i4) wp = Mod(ws, i4) pd = Concat<axis = 0>(i0, i0, i0, i0, i0, i0, hp, wp) p = Pad<mode = "reflect">(x, pd) '
     "c = Conv<strides = [4, 4]>(p, w8x3x4x4) u = ConvTranspose<strides = [4, 4]>(c, w8x3x4x4) a = Add(u, p) e = Concat<axis = 0>(h, w) "
     "y = Slice(a, z2, e, ax)",
     [{"x": (1, 3, 8, 8)}, {"x": (2, 3, 9, 7)}], {}, {}),
    ("half, by floats", "float[N, 3, H, W] x", "float[a,b,c,d] y", "float half = {0.5}",
     "s = Shape(x) n = Slice(s, i0, i2) hw = Slice(s, i2, i4) f = Cast<to = 1>(hw) g = Mul(f, half) fl = Floor(g) b = Cast<to = 7>(fl) "
     'z = Concat<axis = 0>(n, b) y = Resize<mode = "linear">(x, , , z)',
     [{"x": (1, 3, 8, 8)}, {"x": (2, 3, 9, 7)}], {}, {}),
    ("a grid of places beside boxes", "float[N, 4, H, W] x", "float[a,b,c] y", "int64 c0 = {0}, int64 c1 = {1}, int64[3] m12 = {1, -1, 2}, int64[3] z3 = {0, -1, 4}",
     "s = Shape(x) h0 = Slice(s, i2, i3) w0 = Slice(s, i3, i4) h = Squeeze(h0) w = Squeeze(w0) ry = Range(c0, h, c1) "
     "rx = Range(c0, w, c1) fy = Cast<to = 1>(ry) fx = Cast<to = 1>(rx) uy = Unsqueeze(fy, i1) ux = Unsqueeze(fx, i0) "
     "hw = Concat<axis = 0>(h0, w0) ey = Expand(uy, hw) ex = Expand(ux, hw) yy = Unsqueeze(ey, i2) xx = Unsqueeze(ex, i2) "
     "g = Concat<axis = 2>(xx, yy) gr = Reshape(g, m12) t = Transpose<perm = [0,2,3,1]>(x) tr = Reshape(t, z3) "
     "xy = Slice(tr, i0, i2, i2) o = Add(xy, gr) wh = Slice(tr, i2, i4, i2) y = Concat<axis = 2>(o, wh)",
     [{"x": (1, 4, 3, 5)}, {"x": (2, 4, 4, 2)}], {}, {}),
    ("sines of positions", "float[N, T, 8] x", "float[a,b,c] y", "int64 c0 = {0}, int64 c1 = {1}",
     "s = Shape(x) t0 = Slice(s, i1, i2) t = Squeeze(t0) r = Range(c0, t, c1) f = Cast<to = 1>(r) u = Unsqueeze(f, i1) m = Mul(u, w1x4) "
     "si = Sin(m) co = Cos(m) p = Concat<axis = 1>(si, co) y = Add(x, p)",
     [{"x": (1, 3, 8)}, {"x": (2, 9, 8)}], {}, {}),
    ("a bias by distance", "float[N, T, 8] x", "float[a,b,c] y", "int64 c0 = {0}, int64 c1 = {1}, int64 lo = {-4}, int64 hi = {4}, int64 four = {4}",
     "s = Shape(x) t0 = Slice(s, i1, i2) t = Squeeze(t0) r = Range(c0, t, c1) a = Unsqueeze(r, i0) b = Unsqueeze(r, i1) d = Sub(a, b) "
     "e = Clip(d, lo, hi) f = Add(e, four) bias0 = Gather(w9x1, f) bias = Squeeze(bias0, i2) k = Transpose<perm = [0,2,1]>(x) "
     "q = MatMul(x, k) qb = Add(q, bias) sm = Softmax<axis = -1>(qb) y = MatMul(sm, x)",
     [{"x": (1, 3, 8)}, {"x": (2, 9, 8)}], {}, {}),
    ("attention in chunks of 8", "float[N, L, 4] x", "float[a,b,c] y", "",
     "s = Shape(x) n = Slice(s, i0, i1) l = Slice(s, i1, i2) q = Div(l, i8) a = Concat<axis = 0>(n, q, i8, i4) r = Reshape(x, a) "
     "t = Transpose<perm = [0,1,3,2]>(r) m = MatMul(r, t) sm = Softmax<axis = -1>(m) o = MatMul(sm, r) y = Reshape(o, s)",
     [{"x": (1, 8, 4)}, {"x": (2, 24, 4)}], {"L": 8}, {}),
    ("einsum of two lengths", "float[B, T, 8] x, float[B, S, 8] z", "float[a,b,c] y", "",
     'e = Einsum<equation = "bth,bsh->bts">(x, z) y = Softmax<axis = -1>(e)',
     [{"x": (1, 3, 8), "z": (1, 5, 8)}, {"x": (2, 9, 8), "z": (2, 4, 8)}], {}, {}),
    ("spread where a size is -1", "float[N, 1, 8] x, float[N, T, 8] z", "float[a,b,c] y", "",
     "s = Shape(z) t = Slice(s, i1, i2) sh = Concat<axis = 0>(m1, t, m1) one = ConstantOfShape<value = int64[1] {1}>(i3) "
     "neg = Mul(one, m1) eq = Equal(sh, neg) w = Where(eq, one, sh) e = Expand(x, w) y = Add(e, z)",
     [{"x": (1, 1, 8), "z": (1, 5, 8)}, {"x": (2, 1, 8), "z": (2, 4, 8)}], {}, {}),
    ("an LSTM over any length", "float[T, B, 4] x", "float[a,b,c] y", "",
     "l, h, c = LSTM<hidden_size = 3>(x, w1x12x4, w1x12x3, w1x24) y = Squeeze(l, i1)",
     [{"x": (5, 1, 4)}, {"x": (9, 2, 4)}], {}, {}),
    ("codes: a convolution", "float[N, 3, H, W] x", "float[a,b,c,d] y", "float sc = {0.0213}, float sc2 = {0.0471}, int8 zp = {0}, float ws = {0.0093}, CODES[4,3,3,3]",
     "q = QuantizeLinear(x, sc, zp) d = DequantizeLinear(q, sc, zp) wd = DequantizeLinear(wq, ws, zp) c = Conv<pads = [1,1,1,1], "
     "strides = [2,2]>(d, wd) r = Relu(c) q2 = QuantizeLinear(r, sc2, zp) y = DequantizeLinear(q2, sc2, zp)",
     [{"x": (1, 3, 6, 8)}, {"x": (2, 3, 5, 7)}], {}, {}),
    ("codes: a product", "float[N, T, 8] x", "float[a,b,c] y", "float sc = {0.0213}, float sc2 = {0.0471}, int8 zp = {0}, float ws = {0.0093}, CODES[8,6]",
     "q = QuantizeLinear(x, sc, zp) d = DequantizeLinear(q, sc, zp) wd = DequantizeLinear(wq, ws, zp) c = MatMul(d, wd) "
     "q2 = QuantizeLinear(c, sc2, zp) y = DequantizeLinear(q2, sc2, zp)",
     [{"x": (1, 3, 8)}, {"x": (2, 5, 8)}], {}, {}),
    ("doubled, corner to corner", "float[N, 2, H, W] x", "float[a,b,c,d] y", "float[4] sc = {1,1,2,2}",
     'y = Resize<mode = "linear", coordinate_transformation_mode = "align_corners">(x, , sc)',
     [{"x": (1, 2, 4, 5)}, {"x": (2, 2, 3, 6)}], {}, {}),
    ("SAME windows", "float[N, 2, H, W] x", "float[a,b,c,d] y", "",
     'c = Conv<auto_pad = "SAME_UPPER", strides = [2,2]>(x, w4x2x3x3) d = MaxPool<auto_pad = "SAME_UPPER", kernel_shape = [3,3], '
     "strides = [2,2]>(c) y = Relu(d)",
     [{"x": (1, 2, 4, 5)}, {"x": (2, 2, 7, 6)}], {}, {}),
    ("the largest five, or all", "float[N, A] x", "float[a,b] y", "",
     "s = Shape(x) a = Slice(s, i1, i2) k = Min(a, i5) y, z = TopK<axis = 1>(x, k)",
     [{"x": (1, 8)}, {"x": (3, 3)}], {}, {}),
    ("a token in front", "float[N, T, 8] x", "float[a,b,c] y", "int64 c0 = {0}",
     "s = Shape(x) n = Slice(s, i0, i1) sh = Concat<axis = 0>(n, i1, i8) e = Expand(w1x1x8, sh) c = Concat<axis = 1>(e, x) "
     "n1 = LayerNormalization(c, g8, b8) q = MatMul(n1, w8x8) k = Transpose<perm = [0,2,1]>(q) a = MatMul(q, k) "
     "m = Softmax<axis = -1>(a) o = MatMul(m, q) f = Gather<axis = 1>(o, c0) y = Unsqueeze(f, i1)",
     [{"x": (1, 3, 8)}, {"x": (2, 6, 8)}], {}, {}),
    ("frames of sound by a convolution", "float[N, L] x", "float[a,b,c] y", "float eps = {0.01}",
     "u = Unsqueeze(x, i1) c = Conv<strides = [4]>(u, w16x1x8) p = Mul(c, c) t = Transpose<perm = [0,2,1]>(p) m = MatMul(t, w16x5) "
     "a = Abs(m) e = Add(a, eps) y = Log(e)",
     [{"x": (1, 24)}, {"x": (2, 41)}], {}, {}),
    ("a Fourier transform in short time", "float[N, L] x", "float[a,b,c,d] y", "int64 step = {4}, int64 flen = {8}",
     "u = Unsqueeze(x, i2) y = STFT<onesided = 1>(u, step, , flen)",
     [{"x": (1, 24)}, {"x": (2, 41)}], {}, {}),
    ("squeeze and excite", "float[N, 8, H, W] x", "float[a,b,c,d] y", "int64[2] a23 = {2,3}",
     "g = ReduceMean<keepdims = 1>(x, a23) c = Conv(g, w4x8x1x1) r = Relu(c) d = Conv(r, w8x4x1x1) s = HardSigmoid(d) y = Mul(x, s)",
     [{"x": (1, 8, 4, 5)}, {"x": (2, 8, 3, 6)}], {}, {}),
    ("windows by places", "float[N, 2, H, W] x", "float[a,b,c] y", "int64 c0 = {0}, int64 c1 = {1}, int64 c2 = {2}, int64[3,1] koff = {0,1,2}, int64[2] a23 = {2,3}",
     "s = Shape(x) w0 = Slice(s, i3, i4) w = Squeeze(w0) w2 = Sub(w, c2) r = Range(c0, w2, c1) ru = Unsqueeze(r, i0) k = Add(koff, ru) "
     "g = Gather<axis = 3>(x, k) t = Transpose<perm = [0,1,3,2,4]>(g) y = ReduceSum<keepdims = 0>(t, a23)",
     [{"x": (1, 2, 4, 5)}, {"x": (2, 2, 3, 6)}], {}, {}),
    ("regions of any number", "float[N, 4, H, W] x, float[R, 4] r, int64[R] b", "float[a,b,c,d] y", "",
     "y = RoiAlign<output_height = 2, output_width = 2, sampling_ratio = 2, spatial_scale = 1.0>(x, r, b)",
     [{"x": (1, 4, 6, 7), "r": (3, 4), "b": (3,)}, {"x": (2, 4, 5, 5), "r": (2, 4), "b": (2,)}], {}, {"b": 1}),
    ("rows of given lengths", "float[N, T, 4] x, int64[N] l", "float[a,b,c] y", "int64 c0 = {0}, int64 c1 = {1}, float zf = {0}",
     "s = Shape(x) t0 = Slice(s, i1, i2) t = Squeeze(t0) r = Range(c0, t, c1) a = Unsqueeze(r, i0) b = Unsqueeze(l, i1) m = Less(a, b) "
     "mu = Unsqueeze(m, i2) y = Where(mu, x, zf)",
     [{"x": (1, 4, 4), "l": (1,)}, {"x": (3, 6, 4), "l": (3,)}], {}, {"l": 4}),
    ("rows of two inputs together", "float[N, 4] x, float[M, 4] z", "float[a,b] y, float[c,d] d", "",
     "y = Concat<axis = 0>(x, z) t = Transpose(z) q = MatMul(x, t) d = ReduceMin<keepdims = 1>(q, i1)",
     [{"x": (2, 4), "z": (3, 4)}, {"x": (5, 4), "z": (1, 4)}], {}, {}),
    ("turned round, shifted", "float[N, T, 4] x", "float[a,b,c] y", "int64[1] big = {-9223372036854775807}",
     "f = Slice(x, m1, big, i1, m1) p = Slice(x, i0, m1, i1) z = Slice(x, i0, i1, i1) sh = Concat<axis = 1>(z, p) y = Add(f, sh)",
     [{"x": (2, 4, 4)}, {"x": (5, 3, 4)}], {}, {}),
    ("rolled", "float[N, H, W, 4] x", "float[a,b,c,d] y", "int64[1] big = {9223372036854775807}",
     "a = Slice(x, i3, big, i1) b = Slice(x, i0, i3, i1) c = Concat<axis = 1>(a, b) d = Slice(c, i3, big, i2) e = Slice(c, i0, i3, i2) "
     "y = Concat<axis = 2>(d, e)",
     [{"x": (1, 5, 6, 4)}, {"x": (2, 4, 9, 4)}], {}, {}),
    ("a mask of the last rows", "float[N, H, W, 4] x", "float[a,b] y", "int64 c0 = {0}, int64 c1 = {1}, int64 c3 = {3}",
     "s = Shape(x) h0 = Slice(s, i1, i2) h = Squeeze(h0) r = Range(c0, h, c1) e = Sub(h, c3) g = GreaterOrEqual(r, e) "
     "f = Cast<to = 1>(g) m = Unsqueeze(f, i0) q = Unsqueeze(f, i1) y = Sub(m, q)",
     [{"x": (1, 5, 6, 4)}, {"x": (2, 4, 9, 4)}], {}, {}),
]


def value_of(shape, below):
    return RNG.integers(0, below, shape) if below else RNG.standard_normal(shape).astype(np.float32)


def check(bin_dir, folder, name, given, made, constants, body, turns, multiples, below):
    for shape, codes in CODES.items():
        constants = constants.replace(f"CODES[{shape}]", f"int8[{shape}] wq = {{{codes}}}")
    model = model_of(f"g ({given}) => ({made}) <{NUMBERS}{', ' * bool(constants)}{constants}> {{ {body} }}")
    model.graph.initializer.extend(weights_of(body, RNG, 1 / 3))
    opened = Opened(bin_dir, folder, model)
    why = opened.refused() or opened.takes(multiples, lambda dim: f"a multiple of {multiples[dim]}, ")
    for shapes in turns:
        why = why or opened.differs({k: value_of(shape, below.get(k)) for k, shape in shapes.items()}, 3e-5)
    return why


if __name__ == "__main__":
    sys.exit(judge_all(CASES, check))
