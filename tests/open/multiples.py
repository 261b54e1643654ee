"""Open dims that must be multiples: blocks that SpaceToDepth takes, windows of pictures, groups of channels, what shares a -1, and
what is halved and doubled before it meets what was not (U-Nets, feature pyramids). By NumPy's random numbers against ONNX Runtime; it
is said which, and of what at least; an extent that is no multiple is refused when the engine runs.

    tests/open/multiples.py --bin build/bin [--only TEXT] [--every N]"""

import sys

from by_runtime import Opened, model_of, weights_of  # first: it skips where a package is missing
import numpy as np
from run import judge_all

RNG = np.random.default_rng(0)
NUMBERS = ", ".join(f"int64[1] i{k} = {{{k}}}" for k in (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 32, -1)).replace("i-1", "less")
SIZES = "s = Shape(x) n = Slice(s, i0, i1) c = Slice(s, i1, i2) h = Slice(s, i2, i3) v = Slice(s, i3, i4) "


def windows(w):
    """[N, C, H, W] to windows of w by w, and back."""
    return (SIZES + f"p = Div(h, i{w}) q = Div(v, i{w}) a = Concat<axis = 0>(n, c, p, i{w}, q, i{w}) t = Reshape(x, a) "
            f"u = Transpose<perm = [0, 2, 4, 3, 5, 1]>(t) b = Concat<axis = 0>(less, i{w * w if w < 3 else w}, {'c' if w < 3 else f'i{w}, c'}) m = Reshape(u, b) ")


PICTURE, PICTURES = "float[N, 3, H, W]", "float[a, b, c, d]"
SAME = "pads = [1, 1, 1, 1]"
HALF = "strides = [2, 2]"
TWICE = "float[4] two = {1, 1, 2, 2}"


def levels(count, up):
    """Down by pools and up again, each level beside what it was made from."""
    down = "t0 = Conv<%s>(x, w4x3x3x3) " % SAME
    for k in range(count):
        down += f"p{k} = MaxPool<kernel_shape = [2, 2], {HALF}>(t{k}) t{k + 1} = Conv<{SAME}>(p{k}, w4x4x3x3) "
    back = f"v{count} = Relu(t{count}) "
    for k in reversed(range(count)):
        back += f"u{k} = {up.format(f'v{k + 1}')} c{k} = Concat<axis = 1>(t{k}, u{k}) v{k} = Conv<{SAME}>(c{k}, w4x8x3x3) "
    return f"{down}{back}y = Neg(v0)"


PYRAMID = (f"a = Conv<{SAME}, {HALF}>(x, w4x3x3x3) b = Conv<{SAME}, {HALF}>(a, w4x4x3x3) c = Conv<{SAME}, {HALF}>(b, w4x4x3x3) "
           "f = Upsampled(c) g = Add(b, f) h = Upsampled(g) y = Add(a, h)").replace("Upsampled(", "Resize<mode = \"nearest\">(").replace("(c)", "(c, , two)").replace("(g)", "(g, , two)")
DOUBLED, SPREAD = 'Resize<mode = "nearest">({}, , two)', f"ConvTranspose<{HALF}>({{}}, w4x4x2x2)"
BACK = "f = Softmax<axis = 1>(m) g = Reshape(f, d) o = Transpose<perm = [0, 5, 1, 3, 2, 4]>(g) y = Reshape(o, s) "
# What it is, the graph, the input's dims as the model names them, what they are in turns, which is a multiple of what, extents that are not.
CASES = [
    ("SpaceToDepth", "float[N, 3, H, W]", "float[a, b, c, d]", "y = SpaceToDepth<blocksize = 2>(x)", [(1, 3, 4, 6), (2, 3, 10, 2)], {"H": 2, "W": 2}, (1, 3, 4, 5)),
    ("SpaceToDepth, of 3", "float[1, 2, H, W]", "float[a, b, c, d]", "t = SpaceToDepth<blocksize = 3>(x) y = Tanh(t)", [(1, 2, 3, 6), (1, 2, 12, 9)], {"H": 3, "W": 3}, (1, 2, 4, 6)),
    ("SpaceToDepth twice", "float[1, 1, H, W]", "float[a, b, c, d]", "t = SpaceToDepth<blocksize = 2>(x) y = Relu(t)", [(1, 1, 8, 4), (1, 1, 4, 20)], {"H": 2, "W": 2}, (1, 1, 7, 4)),
    ("windows of 2", "float[N, C, H, W]", "float[a, b, c]", windows(2) + "y = Softmax<axis = 1>(m)", [(1, 3, 4, 6), (2, 1, 2, 8)], {"H": 2, "W": 2}, (1, 3, 4, 7)),
    ("windows of 7", "float[N, 4, H, W]", "float[a, b, c, d]", windows(7) + "y = Exp(m)", [(1, 4, 7, 14), (2, 4, 21, 7)], {"H": 7, "W": 7}, (1, 4, 8, 7)),
    ("windows of 8", "float[1, C, H, W]", "float[a, b, c, d]", windows(8) + "y = ReduceMax(m, i1)", [(1, 2, 8, 16), (1, 5, 24, 8)], {"H": 8, "W": 8}, (1, 2, 8, 12)),
    ("windows of 12", "float[1, C, H, W]", "float[a, b, c, d]", windows(12) + "y = Neg(m)", [(1, 2, 12, 24), (1, 3, 36, 12)], {"H": 12, "W": 12}, (1, 2, 12, 8)),
    ("windows, and back", "float[N, 6, H, W]", "float[a, b, c, d]", windows(4) + "d = Concat<axis = 0>(n, p, q, i4, i4, c) " + BACK, [(1, 6, 8, 4), (2, 6, 4, 12)], {"H": 4, "W": 4}, (1, 6, 6, 4)),
    ("a picture taken apart behind a convolution", "float[N, 2, H, W]", "float[a, b, c, d, e, f]",
     "r = Conv<pads = [1, 1, 1, 1]>(x, w3x2x3x3) " + (SIZES + "p = Div(h, i4) q = Div(v, i4) a = Concat<axis = 0>(n, i3, p, i4, q, i4) y = Reshape(r, a)"),
     [(1, 2, 8, 4), (2, 2, 4, 4)], {"H": 4, "W": 4}, (1, 2, 5, 4)),
    ("strides over what is a multiple", "float[1, 2, H, W]", "float[a, b, c, d], float[e, f, g, i] z",
     "z = SpaceToDepth<blocksize = 4>(x) y = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w3x2x3x3)", [(1, 2, 8, 4), (1, 2, 12, 20)], {"H": 4, "W": 4}, (1, 2, 6, 4)),
    ("groups of channels", "float[N, C, L]", "float[a, b, c]", "s = Shape(x) n = Slice(s, i0, i1) c = Slice(s, i1, i2) l = Slice(s, i2, i3) p = Div(c, i2) "
     "a = Concat<axis = 0>(n, i2, p, l) t = Reshape(x, a) u = Transpose<perm = [0, 2, 1, 3]>(t) y = Reshape(u, s)", [(1, 4, 5), (2, 6, 1)], {"C": 2}, (1, 3, 5)),
    ("heads that the model divides by", "float[N, S, D]", "float[a, b, c, d]", "s = Shape(x) n = Slice(s, i0, i1) l = Slice(s, i1, i2) w = Slice(s, i2, i3) p = Div(w, i8) "
     "a = Concat<axis = 0>(n, l, i8, p) t = Reshape(x, a) u = Transpose<perm = [0, 2, 1, 3]>(t) y = Softmax<axis = -1>(u)", [(1, 3, 16), (2, 1, 40)], {"D": 8}, (1, 3, 12)),
    ("-1 in front", "float[N, L]", "float[a, b]", "a = Concat<axis = 0>(less, i4) t = Reshape(x, a) y = ReduceSum<keepdims = 1>(t, i1)", [(1, 8), (3, 4)], {"L": 4}, (2, 6)),
    ("-1 in front of rows", "float[N, L, 5]", "float[a, b, c]", "a = Concat<axis = 0>(less, i3, i5) t = Reshape(x, a) y = Cos(t)", [(1, 6, 5), (2, 3, 5)], {"L": 3}, (1, 4, 5)),
    ("-1 behind groups", "float[N, C, 3]", "float[a, b, c, d]", "a = Concat<axis = 0>(i0, i2, less, i3) t = Reshape(x, a) y = Sin(t)", [(1, 4, 3), (2, 2, 3)], {"C": 2}, (1, 5, 3)),
    ("-1 where one known dim has a part", "float[N, 6]", "float[a, b]", "a = Concat<axis = 0>(less, i4) y = Reshape(x, a)", [(2, 6), (4, 6)], {"N": 2}, (3, 6)),
    ("-1 that anything fits", "float[N, 8]", "float[a, b]", "a = Concat<axis = 0>(less, i4) t = Reshape(x, a) y = Tanh(t)", [(1, 8), (3, 8)], {}, None),
    ("a U-Net of one level", PICTURE, PICTURES, levels(1, DOUBLED), [(1, 3, 4, 6), (2, 3, 10, 2)], {"H": 2, "W": 2}, (1, 3, 4, 5)),
    ("a U-Net of three, transposed", PICTURE, PICTURES, levels(3, SPREAD), [(1, 3, 8, 16), (2, 3, 24, 8)], {"H": 8, "W": 8}, (1, 3, 8, 12)),
    ("a U-Net of four", "float[1, 3, H, 32]", PICTURES, levels(4, DOUBLED), [(1, 3, 16, 32), (1, 3, 48, 32)], {"H": 16}, (1, 3, 24, 32)),
    ("a U-Net of eight", "float[1, 3, H, 256]", PICTURES, levels(8, DOUBLED), [(1, 3, 256, 256)], {"H": 256}, (1, 3, 384, 256)),
    ("a pyramid of features", PICTURE, PICTURES, PYRAMID, [(1, 3, 8, 16), (2, 3, 24, 8)], {"H": 8, "W": 8}, (1, 3, 12, 8)),
    ("sound, down and up", "float[N, 4, L]", "float[a, b, c]", "p = Conv<strides = [2], pads = [1, 1]>(x, w6x4x4) q = Conv<strides = [3], pads = [1, 1]>(p, w6x6x5) "
     "u = ConvTranspose<strides = [3]>(q, w6x6x3) r = Add(u, p) t = ConvTranspose<strides = [2], pads = [1, 1]>(r, w6x4x4) y = Add(t, x)", [(1, 4, 12), (2, 4, 6)], {"L": 6}, (1, 4, 8)),
    ("a volume, down and up", "float[1, 2, D, H, W]", "float[a, b, c, d, e]", "p = AveragePool<kernel_shape = [2, 2, 2], strides = [2, 2, 2]>(x) "
     "u = ConvTranspose<strides = [2, 2, 2]>(p, w2x2x2x2x2) y = Concat<axis = 1>(x, u)", [(1, 2, 2, 4, 6), (1, 2, 4, 2, 2)], {"D": 2, "H": 2, "W": 2}, (1, 2, 2, 3, 4)),
    ("even and odd places together", PICTURE, PICTURES, "p = Slice(x, zeros, ends, axes, steps) q = Slice(x, ones, ends, axes, steps) y = Concat<axis = 1>(p, q)",
     [(1, 3, 4, 6), (2, 3, 2, 2)], {"H": 2, "W": 2}, (1, 3, 3, 4)),
    ("SpaceToDepth behind a stride", PICTURE, PICTURES, f"c = Conv<{SAME}, {HALF}>(x, w4x3x3x3) y = SpaceToDepth<blocksize = 2>(c)", [(1, 3, 4, 8), (2, 3, 12, 4)], {"H": 4, "W": 4}, (1, 3, 4, 6)),
    ("windows of patches", PICTURE, "float[a, b, c, d]", "x4 = Conv<strides = [4, 4]>(x, w6x3x4x4) " + windows(7).replace("(x", "(x4") + SIZES.replace("(x)", "(x4)").split(" n ")[0].replace("s =", "z =") + " y = Exp(m)",
     [(1, 3, 28, 56), (2, 3, 28, 28)], {"H": 28, "W": 28}, (1, 3, 28, 32)),
    ("rows and columns in one dim", PICTURE, PICTURES, f"c4 = Conv<{SAME}, {HALF}>(x, w8x3x3x3) s = Shape(c4) n = Slice(s, i0, i1) h = Slice(s, i2, i3) v = Slice(s, i3, i4) p = Div(h, i2) q = Div(v, i2) "
     "m = Mul(n, i8) o = Mul(m, p) a = Concat<axis = 0>(o, i2, q, i2) t = Reshape(c4, a) y = Transpose<perm = [0, 2, 1, 3]>(t)", [(1, 3, 4, 8), (2, 3, 8, 4)], {"H": 4, "W": 4}, (1, 3, 6, 4)),
    ("parts of 32", "float[N, L, 5]", "float[a, b, c]", "a = Concat<axis = 0>(i0, less, i32, i5) t = Reshape(x, a) y = ReduceSum<keepdims = 0>(t, i2)", [(1, 32, 5), (2, 96, 5)], {"L": 32}, (1, 48, 5)),
    ("pooled, then taken apart", "float[N, 2, H, 8]", "float[a, b, c, d]", "p = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(x) a = Concat<axis = 0>(i0, i2, less, i3, i4) "
     "t = Reshape(p, a) y = ReduceMax<keepdims = 0>(t, i3)", [(1, 2, 6, 8), (2, 2, 12, 8)], {"H": 6}, (1, 2, 8, 8)),
    ("halved and doubled, by the other's size", PICTURE, PICTURES, f"p = Conv<{SAME}, {HALF}>(x, w3x3x3x3) s = Shape(x) y0 = Resize<mode = \"nearest\">(p, , , s) y = Add(y0, x)", [(1, 3, 3, 5), (2, 3, 4, 4)], {}, None),
    ("two of one dim", "float[N, L], float[M, L] z", "float[a, b]", "a = Concat<axis = 0>(less, i4) t = Reshape(x, a) u = Reshape(z, a) y = Concat<axis = 0>(t, u)",
     [((1, 8), (2, 8)), ((3, 4), (1, 4))], {"L": 4}, ((1, 6), (2, 6))),
]


def graph_of(given, made, body):
    """Inputs are x and what is named, results y and what is named."""
    given, made = (tensors.replace("]", f"] {first}", 1) for tensors, first in ((given, "x"), (made, "y")))
    return f"g ({given}) => ({made}) <{NUMBERS}, {TWICE}, int64[2] zeros = {{0, 0}}, int64[2] ones = {{1, 1}}, int64[2] ends = {{10000, 10000}}, int64[2] axes = {{2, 3}}, int64[2] steps = {{2, 2}}> {{ {body} }}"


def check(bin_dir, folder, name, given, made, body, turns, multiples, wrong):
    model = model_of(graph_of(given, made, body))
    model.graph.initializer.extend(weights_of(body, RNG, 1 / 4))
    opened = Opened(bin_dir, folder, model)
    why = opened.refused() or opened.takes(multiples, lambda dim: f"a multiple of {multiples[dim]}, ")
    if why:
        return why

    def feeds_of(shapes):
        shapes = shapes if isinstance(shapes[0], tuple) else (shapes,)
        return {i.name: RNG.standard_normal(s).astype(np.float32) for i, s in zip(opened.session.get_inputs(), shapes)}

    for shapes in turns:
        why = opened.differs(feeds_of(shapes), 3e-5)
        if why:
            return f"{shapes}: {why}"
    got = opened.run(feeds_of(wrong)) if wrong else "must be a multiple of"
    return "" if isinstance(got, str) and "must be a multiple of" in got else f"{wrong} is taken: {got}"


if __name__ == "__main__":
    sys.exit(judge_all(CASES, check))
