"""Tensors that have more elements than 2^31 at the numbers that open dims are read with: five open dims and more, volumes, two open
dims beside a vocabulary. By NumPy's random numbers against ONNX Runtime, at extents that fit any memory.

    tests/open/large.py --bin build/bin [--only TEXT] [--every N]"""

import sys

from by_runtime import Opened, model_of  # first: it skips where a package is missing
import numpy as np
from onnx import numpy_helper
from run import judge_all

RNG = np.random.default_rng(0)
WORDS = 151936  # of a vocabulary
FIVE = [(2, 3, 1, 4, 5), (1, 1, 1, 1, 1), (3, 2, 2, 1, 7)]
SIX = [(2, 3, 1, 4, 5, 2), (1, 2, 3, 1, 2, 1)]
VOLUME = [(1, 4, 3, 5, 4), (2, 4, 6, 4, 7)]
ROWS = [(1, 1, 8), (2, 3, 8), (1, 7, 8)]

# What it is, the graph, the inputs' extents in turns, its weights.
CASES = [
    ("five, by element", "(float[A, B, C, D, E] x) => (float[a, b, c, d, e] y) { t = Tanh(x) y = Add(t, x) }", FIVE, {}),
    ("five, of two", "(float[A, B, C, D, E] x, float[D, 1] z) => (float[a, b, c, d, e] y) { y = Mul(x, z) }",
     [((2, 3, 1, 4, 5), (4, 1)), ((3, 2, 2, 1, 7), (1, 1))], {}),
    ("five, a sum", "(float[A, B, C, D, E] x) => (float[] y) { y = ReduceSum<keepdims = 0>(x) }", FIVE, {}),
    ("five, a mean of three", "(float[A, B, C, D, E] x) => (float[a, b, c, d, e] y) <int64[3] k = {1, 2, 4}> { y = ReduceMean(x, k) }", FIVE, {}),
    ("five, a maximum", "(float[A, B, C, D, E] x) => (float[a, b, c, d, e] y) <int64[1] k = {3}> { y = ReduceMax(x, k) }", FIVE, {}),
    ("five, moved", "(float[A, B, C, D, E] x) => (float[a, b, c, d, e] y) { y = Transpose<perm = [3, 0, 4, 2, 1]>(x) }", FIVE, {}),
    ("five, in one row", "(float[A, B, C, D, E] x) => (float[a] y) <int64[1] k = {-1}> { t = Exp(x) y = Reshape(t, k) }", FIVE, {}),
    ("five, in a matrix", "(float[A, B, C, D, E] x) => (float[a, b] y) { t = Flatten<axis = 3>(x) y = Softmax<axis = 1>(t) }", FIVE, {}),
    ("five, softmax", "(float[A, B, C, D, E] x) => (float[a, b, c, d, e] y) { y = Softmax<axis = -1>(x) }", FIVE, {}),
    ("five, a part", "(float[A, B, C, D, E] x) => (float[a, b, c, d, e] y) <int64[2] b = {0, 0}, int64[2] e = {1, 2}, int64[2] k = {0, 1}> "
     "{ t = Slice(x, b, e, k) y = Neg(t) }", [(2, 3, 1, 4, 5), (3, 2, 2, 1, 7)], {}),
    ("five, twice", "(float[A, B, C, D, E] x) => (float[a, b, c, d, e] y) { y = Concat<axis = 2>(x, x) }", FIVE, {}),
    ("five, padded", "(float[A, B, C, D, E] x) => (float[a, b, c, d, e] y) <int64[10] k = {0, 0, 1, 0, 2, 0, 0, 0, 1, 0}> { y = Pad(x, k) }", FIVE, {}),
    ("five, products", "(float[A, B, C, D, E] x, float[A, B, C, E, F] z) => (float[a, b, c, d, e] y) { y = MatMul(x, z) }",
     [((2, 3, 1, 4, 5), (2, 3, 1, 5, 2)), ((1, 1, 2, 3, 1), (1, 1, 2, 1, 6))], {}),
    ("six, by element", "(float[A, B, C, D, E, F] x) => (float[a, b, c, d, e, f] y) { y = Sigmoid(x) }", SIX, {}),
    ("six, a sum", "(float[A, B, C, D, E, F] x) => (float[a, b, c, d, e, f] y) <int64[3] k = {0, 3, 5}> { y = ReduceSum(x, k) }", SIX, {}),
    ("six, moved", "(float[A, B, C, D, E, F] x) => (float[a, b, c, d, e, f] y) { y = Transpose<perm = [5, 3, 1, 0, 2, 4]>(x) }", SIX, {}),
    ("a volume's convolution", "(float[N, 4, D, H, W] x) => (float[a, b, c, d, e] y) { y = Conv<pads = [1, 1, 1, 1, 1, 1]>(x, w) }", VOLUME, {"w": (16, 4, 3, 3, 3)}),
    ("a volume's convolution by strides", "(float[N, 4, D, H, W] x) => (float[a, b, c, d, e] y) { t = Conv<strides = [2, 1, 2], pads = [1, 1, 1, 1, 1, 1]>(x, w) y = Relu(t) }",
     VOLUME, {"w": (32, 4, 3, 3, 3)}),
    ("a volume's transposed convolution", "(float[N, 4, D, H, W] x) => (float[a, b, c, d, e] y) { y = ConvTranspose<strides = [2, 2, 2]>(x, w) }", VOLUME, {"w": (4, 8, 2, 2, 2)}),
    ("a volume's maxima", "(float[N, C, D, H, W] x) => (float[a, b, c, d, e] y) { y = MaxPool<kernel_shape = [2, 2, 2], strides = [2, 2, 2], ceil_mode = 1>(x) }", VOLUME, {}),
    ("a volume's mean", "(float[N, C, D, H, W] x) => (float[a, b, c, d, e] y) { y = GlobalAveragePool(x) }", VOLUME, {}),
    ("a volume's norm", "(float[N, 4, D, H, W] x) => (float[a, b, c, d, e] y) { y = InstanceNormalization(x, w, v) }", VOLUME, {"w": (4,), "v": (4,)}),
    ("a volume resized", "(float[N, C, D, H, W] x) => (float[a, b, c, d, e] y) <float[5] s = {1.0, 1.0, 2.0, 2.0, 2.0}> { y = Resize<mode = \"nearest\">(x, , s) }", VOLUME, {}),
    ("a vocabulary", "(float[N, S, 8] x) => (float[a, b, c] y) { y = MatMul(x, w) }", ROWS, {"w": (8, WORDS)}),
    ("a vocabulary, the likeliest", "(float[N, S, 8] x) => (int64[a, b] y) { t = MatMul(x, w) y = ArgMax<axis = -1, keepdims = 0>(t) }", ROWS, {"w": (8, WORDS)}),
    ("a vocabulary, log of softmax", "(float[N, S, 8] x) => (float[a, b, c] y) { t = MatMul(x, w) y = LogSoftmax<axis = -1>(t) }", ROWS, {"w": (8, WORDS)}),
    ("a vocabulary, the last row", "(float[N, S, 8] x) => (float[a, b, c] y) <int64[1] b = {-1}, int64[1] e = {9223372036854775807}, int64[1] k = {1}> "
     "{ t = MatMul(x, w) y = Slice(t, b, e, k) }", ROWS, {"w": (8, WORDS)}),
    ("a vocabulary's rows", "(int64[N, S] i) => (float[a, b, c] y) { t = Gather(w, i) y = MatMul(t, v) }", [(1, 1), (2, 5)], {"w": (300, 8), "v": (8, WORDS)}),
    ("heads by keys", "(float[N, 16, S, 4] x, float[N, 16, 4, P] z) => (float[a, b, c, d] y) { t = MatMul(x, z) y = Softmax<axis = -1>(t) }",
     [((1, 16, 3, 4), (1, 16, 4, 5)), ((2, 16, 1, 4), (2, 16, 4, 9))], {}),
]


def check(bin_dir, folder, name, text, turns, weights):
    model = model_of(f"g {text}")
    for weight, shape in weights.items():
        model.graph.initializer.append(numpy_helper.from_array((RNG.standard_normal(shape) / 4).astype(np.float32), weight))
    opened = Opened(bin_dir, folder, model)
    if opened.refused():
        return opened.refused()
    for turn in turns:
        shapes = turn if isinstance(turn[0], tuple) else (turn,)
        feeds = {i.name: RNG.integers(0, 300, s) if i.type == "tensor(int64)" else RNG.standard_normal(s).astype(np.float32)
                 for i, s in zip(opened.session.get_inputs(), shapes)}
        why = opened.differs(feeds, 1e-5)
        if why:
            return f"{turn}: {why}"
    return ""


if __name__ == "__main__":
    sys.exit(judge_all(CASES, check))
