"""Open dims that must be multiples: blocks that SpaceToDepth takes, windows of pictures, groups of channels, what shares a -1. By
NumPy's random numbers against ONNX Runtime; it is said which, and an extent that is no multiple is refused when the engine runs.

    tests/open/multiples.py --bin build/bin [--only TEXT] [--every N]"""

import sys

from by_runtime import Opened, model_of  # first: it skips where a package is missing
import numpy as np
from onnx import numpy_helper
from run import judge_all

RNG = np.random.default_rng(0)
NUMBERS = ", ".join(f"int64[1] i{k} = {{{k}}}" for k in (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, -1)).replace("i-1", "less")
SIZES = "s = Shape(x) n = Slice(s, i0, i1) c = Slice(s, i1, i2) h = Slice(s, i2, i3) v = Slice(s, i3, i4) "


def windows(w):
    """[N, C, H, W] to windows of w by w, and back."""
    return (SIZES + f"p = Div(h, i{w}) q = Div(v, i{w}) a = Concat<axis = 0>(n, c, p, i{w}, q, i{w}) t = Reshape(x, a) "
            f"u = Transpose<perm = [0, 2, 4, 3, 5, 1]>(t) b = Concat<axis = 0>(less, i{w * w if w < 3 else w}, {'c' if w < 3 else f'i{w}, c'}) m = Reshape(u, b) ")


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
     "r = Conv<pads = [1, 1, 1, 1]>(x, k) " + (SIZES + "p = Div(h, i4) q = Div(v, i4) a = Concat<axis = 0>(n, i3, p, i4, q, i4) y = Reshape(r, a)"),
     [(1, 2, 8, 4), (2, 2, 4, 4)], {"H": 4, "W": 4}, (1, 2, 5, 4)),
    ("strides over what is a multiple", "float[1, 2, H, W]", "float[a, b, c, d], float[e, f, g, i] z",
     "z = SpaceToDepth<blocksize = 4>(x) y = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, k)", [(1, 2, 8, 4), (1, 2, 12, 20)], {"H": 4, "W": 4}, (1, 2, 6, 4)),
    ("groups of channels", "float[N, C, L]", "float[a, b, c]", "s = Shape(x) n = Slice(s, i0, i1) c = Slice(s, i1, i2) l = Slice(s, i2, i3) p = Div(c, i2) "
     "a = Concat<axis = 0>(n, i2, p, l) t = Reshape(x, a) u = Transpose<perm = [0, 2, 1, 3]>(t) y = Reshape(u, s)", [(1, 4, 5), (2, 6, 1)], {"C": 2}, (1, 3, 5)),
    ("heads that the model divides by", "float[N, S, D]", "float[a, b, c, d]", "s = Shape(x) n = Slice(s, i0, i1) l = Slice(s, i1, i2) w = Slice(s, i2, i3) p = Div(w, i8) "
     "a = Concat<axis = 0>(n, l, i8, p) t = Reshape(x, a) u = Transpose<perm = [0, 2, 1, 3]>(t) y = Softmax<axis = -1>(u)", [(1, 3, 16), (2, 1, 40)], {"D": 8}, (1, 3, 12)),
    ("-1 in front", "float[N, L]", "float[a, b]", "a = Concat<axis = 0>(less, i4) t = Reshape(x, a) y = ReduceSum<keepdims = 1>(t, i1)", [(1, 8), (3, 4)], {"L": 4}, (2, 6)),
    ("-1 in front of rows", "float[N, L, 5]", "float[a, b, c]", "a = Concat<axis = 0>(less, i3, i5) t = Reshape(x, a) y = Cos(t)", [(1, 6, 5), (2, 3, 5)], {"L": 3}, (1, 4, 5)),
    ("-1 behind groups", "float[N, C, 3]", "float[a, b, c, d]", "a = Concat<axis = 0>(i0, i2, less, i3) t = Reshape(x, a) y = Sin(t)", [(1, 4, 3), (2, 2, 3)], {"C": 2}, (1, 5, 3)),
    ("-1 where one known dim has a part", "float[N, 6]", "float[a, b]", "a = Concat<axis = 0>(less, i4) y = Reshape(x, a)", [(2, 6), (4, 6)], {"N": 2}, (3, 6)),
    ("-1 that anything fits", "float[N, 8]", "float[a, b]", "a = Concat<axis = 0>(less, i4) t = Reshape(x, a) y = Tanh(t)", [(1, 8), (3, 8)], {}, None),
    ("two of one dim", "float[N, L], float[M, L] z", "float[a, b]", "a = Concat<axis = 0>(less, i4) t = Reshape(x, a) u = Reshape(z, a) y = Concat<axis = 0>(t, u)",
     [((1, 8), (2, 8)), ((3, 4), (1, 4))], {"L": 4}, ((1, 6), (2, 6))),
]


def graph_of(given, made, body):
    """Inputs are x and what is named, results y and what is named."""
    given, made = (tensors.replace("]", f"] {first}", 1) for tensors, first in ((given, "x"), (made, "y")))
    return f"g ({given}) => ({made}) <{NUMBERS}> {{ {body} }}"


def check(bin_dir, folder, name, given, made, body, turns, multiples, wrong):
    model = model_of(graph_of(given, made, body))
    if ", k)" in body:
        model.graph.initializer.append(numpy_helper.from_array((RNG.standard_normal((3, 2, 3, 3)) / 4).astype(np.float32), "k"))
    opened = Opened(bin_dir, folder, model)
    why = opened.refused() or opened.takes(multiples, lambda dim: f"a multiple of {multiples[dim]}, ")
    if why:
        return why

    def feeds_of(shapes):
        shapes = shapes if isinstance(shapes[0], tuple) else (shapes,)
        return {i.name: RNG.standard_normal(s).astype(np.float32) for i, s in zip(opened.session.get_inputs(), shapes)}

    for shapes in turns:
        why = opened.differs(feeds_of(shapes), 1e-5)
        if why:
            return f"{shapes}: {why}"
    got = opened.run(feeds_of(wrong)) if wrong else "must be a multiple of"
    return "" if isinstance(got, str) and "must be a multiple of" in got else f"{wrong} is taken: {got}"


if __name__ == "__main__":
    sys.exit(judge_all(CASES, check))
