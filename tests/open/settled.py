"""Open dims of which an operator takes one extent alone, by its weights or by another operand: they are that, which is said, and the
rest stays open. By NumPy's random numbers against ONNX Runtime; another extent is refused when the engine runs.

    tests/open/settled.py --bin build/bin [--only TEXT]"""

import sys

from by_runtime import Opened, model_of  # first: it skips where a package is missing
import numpy as np
from run import judge_all

RNG = np.random.default_rng(0)


def weights(**shapes):
    """As the text of initializers; what is named with an s in front is of one byte."""
    def one(name, shape):
        many = int(np.prod(shape))
        coded = name[0] == "s"
        numbers = RNG.integers(-100, 100, many) if coded else RNG.standard_normal(many).round(3)
        return f"{'int8' if coded else 'float'}[{', '.join(map(str, shape))}] {name} = {{{', '.join(map(str, numbers))}}}"

    return f"<{', '.join(one(n, s) for n, s in shapes.items())}>"


# What it is, the graph, the input's dims as the model names them, what they are in turns, and which are settled.
CODES = "float scale = {0.02}, float wide = {0.37}, int8 zero = {0}"
CASES = [
    ("MatMul", f"(float[N, K] x) => (float[a, b] y) {weights(w=(4, 3))} {{ y = MatMul(x, w) }}", [(2, 4), (7, 4)], "K"),
    ("MatMul from the left", f"(float[K, N] x) => (float[a, b] y) {weights(w=(3, 4))} {{ y = MatMul(w, x) }}", [(4, 2), (4, 5)], "K"),
    ("MatMul by a vector", f"(float[N, K] x) => (float[a] y) {weights(w=(4,))} {{ y = MatMul(x, w) }}", [(2, 4), (7, 4)], "K"),
    ("MatMul, stacks", f"(float[B, N, K] x) => (float[a, b, c] y) {weights(w=(3, 4, 2))} {{ y = MatMul(x, w) }}", [(3, 2, 4), (3, 7, 4)], "B K"),
    ("MatMul, all", f"(float[N, K] x) => (float[a, b] y) {weights(w=(4, 3), v=(2, 3))} {{ t = MatMul(x, w) y = Add(t, v) }}", [(2, 4)], "K N"),
    ("Gemm", f"(float[N, K] x) => (float[a, b] y) {weights(w=(5, 4), b=(5,))} {{ y = Gemm<transB = 1>(x, w, b) }}", [(2, 4), (9, 4)], "K"),
    ("Gemm with alpha", f"(float[K, N] x) => (float[a, b] y) {weights(w=(4, 5), b=(1, 5))} {{ y = Gemm<transA = 1, alpha = 0.5>(x, w, b) }}", [(4, 2), (4, 9)], "K"),
    ("Conv", f"(float[N, C, H, W] x) => (float[a, b, c, d] y) {weights(w=(4, 3, 3, 3), b=(4,))} {{ y = Conv<pads = [1, 1, 1, 1]>(x, w, b) }}", [(1, 3, 5, 6), (2, 3, 9, 4)], "C"),
    ("Conv by groups", f"(float[N, C, H, W] x) => (float[a, b, c, d] y) {weights(w=(4, 1, 3, 3))} {{ y = Conv<group = 4>(x, w) }}", [(1, 4, 5, 6), (2, 4, 9, 4)], "C"),
    ("Conv over a line", f"(float[N, C, L] x) => (float[a, b, c] y) {weights(w=(4, 3, 3))} {{ y = Conv<strides = [2]>(x, w) }}", [(1, 3, 5), (2, 3, 9)], "C"),
    ("Conv over a volume", f"(float[1, C, D, H, W] x) => (float[a, b, c, d, e] y) {weights(w=(2, 3, 2, 2, 2))} {{ y = Conv(x, w) }}", [(1, 3, 4, 5, 3)], "C"),
    ("ConvTranspose", f"(float[N, C, H, W] x) => (float[a, b, c, d] y) {weights(w=(3, 4, 2, 2))} {{ y = ConvTranspose<strides = [2, 2]>(x, w) }}", [(1, 3, 5, 6), (2, 3, 2, 4)], "C"),
    ("BatchNormalization", f"(float[N, C, H] x) => (float[a, b, c] y) {weights(w=(3,), b=(3,), m=(3,))} <float[3] v = {{1, 2, 3}}> {{ y = BatchNormalization(x, w, b, m, v) }}", [(2, 3, 5), (1, 3, 8)], "C"),
    ("LayerNormalization", f"(float[N, K] x) => (float[a, b] y) {weights(w=(6,), b=(6,))} {{ y = LayerNormalization(x, w, b) }}", [(2, 6), (5, 6)], "K"),
    ("InstanceNormalization", f"(float[N, C, H, W] x) => (float[a, b, c, d] y) {weights(w=(3,), b=(3,))} {{ y = InstanceNormalization(x, w, b) }}", [(2, 3, 5, 4), (1, 3, 8, 2)], "C"),
    ("PRelu", f"(float[N, C, H] x) => (float[a, b, c] y) {weights(w=(3, 1))} {{ y = PRelu(x, w) }}", [(2, 3, 5), (1, 3, 8)], "C"),
    ("Add", f"(float[N, C, H] x) => (float[a, b, c] y) {weights(w=(3, 1))} {{ y = Add(x, w) }}", [(2, 3, 5), (1, 3, 8)], "C"),
    ("Where", f"(float[N, K] x) => (float[a, b] y) {weights(w=(3,))} {{ t = Greater(x, w) y = Where(t, x, w) }}", [(2, 3), (6, 3)], "K"),
    ("Max", f"(float[N, K] x) => (float[a, b] y) {weights(w=(2, 3))} {{ y = Max(x, w) }}", [(2, 3)], "N K"),
    ("Concat", f"(float[N, K] x) => (float[a, b] y) {weights(w=(2, 3))} {{ y = Concat<axis = 0>(x, w) }}", [(2, 3), (5, 3)], "K"),
    ("LSTM", f"(float[T, B, K] x) => (float[a, b, c, d] y) {weights(w=(1, 12, 5), r=(1, 12, 3))} {{ y = LSTM<hidden_size = 3>(x, w, r) }}", [(2, 3, 5), (6, 1, 5)], "K"),
    ("GRU", f"(float[T, B, K] x) => (float[a, b, c, d] y) {weights(w=(1, 9, 5), r=(1, 9, 3))} {{ y = GRU<hidden_size = 3>(x, w, r) }}", [(2, 3, 5), (6, 1, 5)], "K"),
    ("RNN", f"(float[T, B, K] x) => (float[a, b, c, d] y) {weights(w=(1, 3, 5), r=(1, 3, 3))} {{ y = RNN<hidden_size = 3>(x, w, r) }}", [(2, 3, 5), (6, 1, 5)], "K"),
    ("Einsum", f"(float[N, K] x) => (float[a, b] y) {weights(w=(4, 3))} {{ y = Einsum<equation = \"ij,jk->ik\">(x, w) }}", [(2, 4), (7, 4)], "K"),
    ("a product of codes", f"(float[N, K] x) => (float[a, b] y) {weights(sw=(16, 8))[:-1]}, {CODES}> {{ q = QuantizeLinear(x, scale, zero) d = DequantizeLinear(q, scale, zero) "
     "e = DequantizeLinear(sw, scale, zero) m = MatMul(d, e) p = QuantizeLinear(m, wide, zero) y = DequantizeLinear(p, wide, zero) }", [(2, 16), (7, 16)], "K"),
    ("a convolution of codes", f"(float[N, C, H, W] x) => (float[a, b, c, d] y) {weights(sw=(8, 4, 3, 3))[:-1]}, {CODES}> {{ q = QuantizeLinear(x, scale, zero) d = DequantizeLinear(q, scale, zero) "
     "e = DequantizeLinear(sw, scale, zero) m = Conv(d, e) p = QuantizeLinear(m, wide, zero) y = DequantizeLinear(p, wide, zero) }", [(2, 4, 5, 5), (1, 4, 7, 6)], "C"),
    ("two that data say", f"(float[24] x, int64[2] s) => (float[a, b] y) {weights(w=(4, 3), v=(3,))} {{ t = Reshape(x, s) m = MatMul(t, w) y = Add(m, v) }}", [(24,)], "t.1"),
    ("a convolution of what data say", f"(float[1, 1, 6, 5] x, int64[4] s) => (float[a, b, c, d] y) {weights(w=(2, 3, 3, 3))} {{ t = Expand(x, s) y = Conv(t, w) }}", [(1, 1, 6, 5)], "t.1"),
]
SAID = {"two that data say": (np.array([6, 4]), np.array([4, 6])), "a convolution of what data say": (np.array([2, 3, 6, 5]), np.array([2, 2, 6, 5]))}


def check(bin_dir, folder, name, text, extents, settled):
    model, dims = model_of(f"g {text}".replace("> <", ", ")), settled.split()
    opened = Opened(bin_dir, folder, model)
    why = opened.refused() or opened.takes(dims, lambda dim: "")
    if why:
        return why
    said = SAID.get(name)
    for shape in extents:
        why = opened.differs({"x": RNG.standard_normal(shape).astype(np.float32)} | ({"s": said[0]} if said else {}))
        if why:
            return f"{shape}: {why}"
    named = [d.dim_param for d in model.graph.input[0].type.tensor_type.shape.dim]
    wrong = tuple(n + (d in dims) for n, d in zip(extents[0], named))
    got = opened.run({"x": np.zeros(wrong, np.float32)} | ({"s": said[1]} if said else {}))
    return "" if isinstance(got, str) and "PB50" in got else f"{wrong} is taken: {got}"


if __name__ == "__main__":
    sys.exit(judge_all(CASES, check))
