"""Models in ONNX Runtime's QOperator form, whose operators have scales and zero points as operands: each is what the same
operator is between DequantizeLinear and QuantizeLinear. What chooses among codes, as MaxPool, has no scales at all."""

import numpy as np
from onnx import helper
from regression_cases import CASES, F32, I8, I32, I64, U8, Maker, case

BOTH = ("cpu", "simnpu")
RUNTIME = "com.microsoft"


class Operators(Maker):
    """Codes of one type, each tensor's with a scale and a zero point of its own."""

    def __init__(self, name, kind, opset=13):
        super().__init__(name, opset)
        self.kind, self.of, self.by_node = kind, {}, False

    def scaling(self, scale, zero=3):
        return [self.const(v, self.by_node) for v in (F32(scale), self.kind(zero + (128 if self.kind == U8 else 0)))]

    def quantise(self, x, scale=0.05):
        by = self.scaling(scale)
        return self.known(self.op("QuantizeLinear", x, *by), by)

    def known(self, codes, by):
        self.of[codes] = by
        return codes

    def triple(self, x):
        return [x, *self.of[x]]

    def floats(self, codes):
        return self.op("DequantizeLinear", *self.triple(codes))

    def weights(self, *shape, each=None, kind=I8, zero=0):
        """each: how many scales, and zero points where those are not 0."""
        codes = self.const(self.rng.integers(-127, 128, shape).astype(I8) if kind == I8 else self.rng.integers(0, 256, shape).astype(U8))
        scale = F32(0.01) if each is None else self.rng.uniform(0.005, 0.015, each).astype(F32)
        zeros = np.full(np.shape(scale), zero, kind) + (self.rng.integers(0, 9, np.shape(scale)).astype(kind) if zero else kind(0))
        return [codes, self.const(scale, self.by_node), self.const(zeros.astype(kind), self.by_node)]

    def bias(self, count):
        return self.const(self.rng.integers(-2000, 2000, count).astype(I32))

    def conv(self, x, w, scale, *bias, **attrs):
        by = self.scaling(scale, -5)
        return self.known(self.op("QLinearConv", *self.triple(x), *w, *by, *bias, **attrs), by)

    def binary(self, kind, x, z, scale):
        by = self.scaling(scale)
        return self.known(self.op(kind, *self.triple(x), *self.triple(z), *by, domain="" if "MatMul" in kind else RUNTIME), by)

    def product(self, x, w, scale):
        by = self.scaling(scale)
        return self.known(self.op("QLinearMatMul", *self.triple(x), *w, *by), by)

    def unary(self, kind, x, scale, zero=3, **attrs):
        by = self.scaling(scale, zero)
        return self.known(self.op(kind, *self.triple(x), *by, domain=RUNTIME, **attrs), by)

    def chosen(self, kind, x, *others, **attrs):
        return self.known(self.op(kind, x, *others, **attrs), self.of[x])

    def done(self, *outputs, **known):
        made = super().done(*outputs, **known)
        made.model.opset_import.append(helper.make_opsetid(RUNTIME, 1))
        return made


def image(label, kind, opset=13, by_node=False):
    """Convolutions with scales for all and by channels, an image's maxima, a residual, branches, averages, a classifier."""
    m = Operators(label, kind, opset)
    m.by_node = by_node
    x = m.quantise(m.input("x", 1, 8, 10, 10))
    x = m.conv(x, m.weights(16, 8, 3, 3, each=16), 0.06, m.bias(16), pads=[1] * 4)
    x = m.chosen("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    a, b = m.conv(x, m.weights(16, 16, 1, 1), 0.1), m.conv(x, m.weights(16, 1, 3, 3, kind=kind, zero=120 if kind == U8 else 9), 0.05, m.bias(16), group=16, pads=[1] * 4)
    x = m.binary("QLinearMul", m.binary("QLinearAdd", a, x, 0.1), b, 0.1)
    by = m.scaling(0.09)
    x = m.known(m.op("QLinearConcat", *by, *m.triple(x), *m.triple(b), domain=RUNTIME, axis=1), by)
    x = m.unary("QLinearAveragePool", x, 0.05, kernel_shape=[2, 2], strides=[1, 1])
    x = m.unary("QLinearLeakyRelu", x, 0.04, alpha=0.2)
    x = m.unary("QLinearSigmoid", x, 1 / 256, -128)
    x = m.chosen("Flatten", m.unary("QLinearGlobalAveragePool", x, 1 / 256))
    by = m.scaling(0.02)
    x = m.known(m.op("QGemm", *m.triple(x), *m.weights(10, 32, each=10), m.bias(10), *by, domain=RUNTIME, transB=1), by)
    return m.done(m.floats(x), step=0.04, targets=BOTH, bisect=True)


def rows(label, kind):
    """Products by weights and of two computed operands, softmax, and what moves codes between them."""
    m = Operators(label, kind)
    x = m.quantise(m.input("x", 1, 12, 32))
    q, k = (m.product(x, m.weights(32, 32, each=32), 0.08) for _ in range(2))
    heads = [m.chosen("Transpose", m.chosen("Reshape", v, m.const(np.array([1, 12, 2, 16], I64))), perm=perm)
             for v, perm in ((q, [0, 2, 1, 3]), (k, [0, 2, 3, 1]), (x, [0, 2, 1, 3]))]
    p = m.unary("QLinearSoftmax", m.binary("QLinearMatMul", heads[0], heads[1], 0.1), 1 / 256, -128, axis=-1, opset=13)
    y = m.chosen("Transpose", m.binary("QLinearMatMul", p, heads[2], 0.03), perm=[0, 2, 1, 3])
    y = m.chosen("Reshape", y, m.const(np.array([1, 12, 32], I64)))
    return m.done(m.floats(m.binary("QLinearAdd", x, y, 0.06)), step=0.06, targets=BOTH, bisect=True)


def gemm(label, kind, leaves, **attrs):
    """alpha is a part of the weights' scale; without a scale of its own the result is f32."""
    m = Operators(label, kind)
    x, turned = m.quantise(m.input("x", 6, 32)), attrs.get("transB", 0)
    w = m.weights(*((24, 32) if turned else (32, 24)), each=24 if turned else None, kind=kind, zero=0 if kind == I8 else 120)
    by = [] if leaves else m.scaling(0.05)
    y = m.op("QGemm", *m.triple(x), *w, m.bias(24), *by, domain=RUNTIME, **attrs)
    return m.done(y if leaves else m.floats(m.known(y, by)), step=None if leaves else 0.05, targets=BOTH, bisect=True)


for _kind in (I8, U8):
    _of = _kind.__name__
    CASES[f"qoperator_image_{_of}"] = lambda k=_kind, s=_of: image(f"qoperator_image_{s}", k)
    CASES[f"qoperator_rows_{_of}"] = lambda k=_kind, s=_of: rows(f"qoperator_rows_{s}", k)
    CASES[f"qoperator_gemm_{_of}"] = lambda k=_kind, s=_of: gemm(f"qoperator_gemm_{s}", k, False, transB=1, alpha=0.5)
    CASES[f"qoperator_gemm_to_floats_{_of}"] = lambda k=_kind, s=_of: gemm(f"qoperator_gemm_to_floats_{s}", k, True)
CASES["qoperator_image_of_opset_12"] = lambda: image("qoperator_image_of_opset_12", U8, 12)
CASES["qoperator_image_of_constant_nodes"] = lambda: image("qoperator_image_of_constant_nodes", I8, by_node=True)


@case
def qoperator_parts():
    """Both parts of a split have the scale of what was split."""
    m = Operators("qoperator_parts", U8)
    x = m.conv(m.quantise(m.input("x", 2, 8, 5, 5)), m.weights(32, 8, 1, 1), 0.1)
    a, b = (m.known(name, m.of[x]) for name in ("a", "b"))
    m.nodes.append(helper.make_node("Split", [x], [a, b], name="split", axis=1))
    return m.done(m.floats(m.binary("QLinearAdd", a, b, 0.12)), step=0.12, targets=BOTH, bisect=True)


@case
def qoperator_of_computed_scales():
    """A scale that comes in: left to the operator's own row."""
    m = Operators("qoperator_of_computed_scales", I8)
    x = m.quantise(m.input("x", 4, 16))
    w = [m.const(m.rng.integers(-127, 128, (16, 8)).astype(I8)), m.input("scale", values=[0.01]), m.const(I8(0))]
    return m.done(m.floats(m.product(x, w, 0.05)), step=0.05, targets=("cpu",), bisect=True)
