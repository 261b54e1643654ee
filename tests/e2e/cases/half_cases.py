"""Operators of several steps on f16 and bf16: what is between the steps is f32, so that squares, exponentials and sums which f16
does not hold come out right; the result is that in f32 of the same numbers, rounded once."""

import numpy as np
from onnx import TensorProto
from regression_cases import CASES, F32, I64, Maker

KINDS = {"f16": (TensorProto.FLOAT16, 2.0**-10), "bf16": (TensorProto.BFLOAT16, 2.0**-7)}
SHAPE = (2, 4, 5, 6)


def by_axes(kind, **attrs):
    return lambda m, x: m.op(kind, x, m.const(np.array([1, 2], I64)), **attrs)


def plain(kind, **attrs):
    return lambda m, x: m.op(kind, x, **attrs)


def scaled(kind, shape, count=2, **attrs):
    """With a scale and a bias, of the numbers' own type."""
    return lambda m, x: m.op(kind, x, *(m.half(m.const(m.fixed.standard_normal(shape).astype(F32))) for _ in range(count)), **attrs)


def batch_norm(m, x):
    numbers = [m.fixed.standard_normal(4).astype(F32) for _ in range(3)] + [np.array([9e4, 1, 3e4, 0.5], F32)]
    return m.op("BatchNormalization", x, *(m.half(m.const(np.minimum(v, F32(6e4)))) for v in numbers))


def gemm(alpha, beta, bias=True):
    def build(m, x):
        x = m.op("Reshape", x, m.const(np.array([8, 30])))
        operands = [m.half(m.const((9 * m.fixed.standard_normal(s)).astype(F32))) for s in ((30, 7), (7,))]
        return m.op("Gemm", x, *operands[: 1 + bias], alpha=alpha, beta=beta)

    return build


def conv(kind):
    def build(m, x):
        w = m.half(m.const((3 * m.fixed.standard_normal((4, 4, 3, 3))).astype(F32)))
        return m.op(kind, x, w, m.half(m.const((500 * m.fixed.standard_normal(4)).astype(F32))))

    return build


def conv_cancels(kind, window):
    """Sums of some hundreds, of which the bias leaves a few."""

    def build(m, x):
        x = m.op("Clip", x, m.half(m.const(F32(100))), m.half(m.const(F32(101))))
        w = m.fixed.standard_normal((4, 4, window, window)).astype(F32)
        sums = w.sum((0 if kind == "ConvTranspose" else 1, 2, 3), dtype=F32)
        return m.op(kind, x, m.half(m.const(w)), m.half(m.const(-100 * sums)))

    return build


def sampled(m, x):
    return m.op("GridSample", x, m.half(m.const(np.clip(m.fixed.standard_normal((2, 5, 5, 2)), -1, 1).astype(F32))))


def several(kind):
    return lambda m, x: m.op(kind, x, x, m.op("Neg", x), m.op("Neg", x), x)


def layer(kind, gates, result=0, **attrs):
    """Turn by turn, with biases, states to begin from, and of LSTM peepholes."""

    def build(m, x):
        both, h = 1 + (attrs.get("direction") == "bidirectional"), 5
        shapes = [(both, gates * h, 6), (both, gates * h, h), (both, 2 * gates * h), None, (both, 5, h)] + [(both, 5, h), (both, 3 * h)] * (kind == "LSTM")
        x = m.op("Reshape", x, m.const(np.array([8, 5, 6])))
        rest = [m.half(m.const((m.fixed.standard_normal(s) * 0.7).astype(F32))) if s else "" for s in shapes]
        y = m.op(kind, x, *rest, hidden_size=h, **attrs)
        if result:
            m.nodes[-1].output.extend(["h", "c"][:result])
        return (["h", "c"][result - 1]) if result else y

    return build


# name: opset, operator, the numbers' spread, the results' greatest
OPS = {
    "LayerNormalization": (17, scaled("LayerNormalization", (6,)), 300, 8),
    "RMSNormalization": (23, scaled("RMSNormalization", (6,), 1), 300, 8),
    "InstanceNormalization": (17, scaled("InstanceNormalization", (4,)), 300, 8),
    "GroupNormalization": (21, scaled("GroupNormalization", (4,), num_groups=2), 300, 8),
    "BatchNormalization": (15, batch_norm, 300, 2000),
    "MeanVarianceNormalization": (13, plain("MeanVarianceNormalization"), 300, 8),
    "LpNormalization": (18, plain("LpNormalization", axis=2), 300, 1),
    "LpNormalization_1": (18, plain("LpNormalization", axis=2, p=1), 20000, 1),
    "LRN": (13, plain("LRN", size=3, alpha=0.1), 300, 8),
    "ReduceL1": (18, by_axes("ReduceL1"), 300, 9000),
    "ReduceL2": (18, by_axes("ReduceL2"), 300, 3000),
    "ReduceL2_gone": (18, by_axes("ReduceL2", keepdims=0), 300, 3000),
    "ReduceSumSquare": (18, by_axes("ReduceSumSquare"), 20, 20000),
    "ReduceLogSum": (18, lambda m, x: m.op("ReduceLogSum", m.op("Abs", x), m.const(np.array([1, 2], I64))), 20000, 16),
    "ReduceLogSumExp": (18, by_axes("ReduceLogSumExp"), 300, 900),
    "ReduceMean": (18, by_axes("ReduceMean"), 20000, 20000),
    "Softmax": (13, plain("Softmax", axis=1), 300, 1),
    "LogSoftmax": (13, plain("LogSoftmax", axis=1), 300, 2000),
    "LpPool": (18, plain("LpPool", kernel_shape=[3, 3], p=2), 300, 2000),
    "LpPool_3": (18, plain("LpPool", kernel_shape=[3, 3], p=3), 100, 500),
    "GlobalLpPool": (13, plain("GlobalLpPool", p=2), 300, 4000),
    "AveragePool": (13, plain("AveragePool", kernel_shape=[3, 3]), 15000, 20000),
    "GlobalAveragePool": (13, plain("GlobalAveragePool"), 15000, 20000),
    "Gemm_alpha": (13, gemm(0.01, 0.5), 300, 500),
    "Gemm_small": (13, gemm(0.01, 1.0, False), 300, 500),
    "Gelu": (20, plain("Gelu"), 6, 30),
    "Gelu_tanh": (20, plain("Gelu", approximate="tanh"), 60, 250),
    "Softplus": (13, plain("Softplus"), 10, 40),
    "Mish": (18, plain("Mish"), 10, 40),
    "Softsign": (13, plain("Softsign"), 30000, 1),
    "Elu": (13, plain("Elu"), 3, 12),
    "Selu": (13, plain("Selu"), 3, 12),
    "Celu": (13, plain("Celu", alpha=1.5), 3, 12),
    "HardSigmoid": (13, plain("HardSigmoid"), 3, 1),
    "HardSwish": (14, plain("HardSwish"), 300, 1200),
    "Conv": (13, conv("Conv"), 100, 8000),
    "ConvTranspose": (13, conv("ConvTranspose"), 100, 8000),
    "Conv_cancels": (13, conv_cancels("Conv", 3), 100, 16),
    "ConvTranspose_cancels": (13, conv_cancels("ConvTranspose", 1), 100, 8),
    "GridSample": (16, sampled, 300, 1000),
    "Resize": (13, lambda m, x: m.op("Resize", x, "", m.const(np.array([1, 1, 1.7, 2.3], F32)), mode="cubic"), 300, 1000),
    "CumSum": (14, lambda m, x: m.op("CumSum", x, m.const(np.array(2))), 300, 2000),
    "Einsum": (13, lambda m, x: m.op("Einsum", x, x, equation="abcd,abce->abde"), 50, 20000),
    "PRelu": (16, lambda m, x: m.op("PRelu", x, m.half(m.const(np.full(6, 0.3, F32)))), 300, 1200),
    "Sigmoid": (13, plain("Sigmoid"), 10, 1),
    "ThresholdedRelu": (13, plain("ThresholdedRelu"), 10, 40),
    "Shrink": (13, plain("Shrink", bias=1.5, lambd=0.7), 10, 40),
    "ReduceProd": (18, by_axes("ReduceProd"), 1, 4000),
    "Sum": (13, several("Sum"), 15000, 60000),
    "Mean": (13, several("Mean"), 15000, 20000),
    "LSTM": (14, layer("LSTM", 4), 1, 0.5),
    "LSTM_both": (14, layer("LSTM", 4, direction="bidirectional"), 1, 0.5),
    "LSTM_cell": (14, layer("LSTM", 4, 2), 1, 1),
    "GRU": (14, layer("GRU", 3), 1, 0.5),
    "GRU_linear": (14, layer("GRU", 3, 1, linear_before_reset=1, direction="reverse"), 1, 0.5),
    "RNN": (14, layer("RNN", 1), 1, 0.5),
    "RNN_Affine": (14, layer("RNN", 1, activations=["Affine"], activation_alpha=[0.9], activation_beta=[0.1]), 0.3, 2),
}


class Halves(Maker):
    """`wide`: the operator is in f32, on the numbers that the narrow type has."""

    def __init__(self, label, opset, kind, wide):
        super().__init__(label, opset)
        self.kind, self.wide, self.fixed = kind, wide, np.random.default_rng(5)

    def half(self, x):
        x = self.op("Cast", x, to=self.kind)
        return self.op("Cast", x, to=TensorProto.FLOAT) if self.wide else x


def half(label, opset, build, spread, most, kind, step):
    models = []
    for wide in (False, True):
        m = Halves(label, opset, kind, wide)
        values = np.clip(spread * np.random.default_rng(3).standard_normal(SHAPE), -4 * spread, min(4 * spread, 65000))
        y = build(m, m.half(m.input("x", *SHAPE, values=values)))
        y = m.op("Cast", y, to=kind) if wide else y
        m.op("Cast", y, to=TensorProto.FLOAT)
        m.nodes[-1].output[0] = "y"
        models.append(m)
    return models[0].done("y", targets=("cpu",), step=step * most, same_as=models[1].done("y").model)


for (_kind, (_type, _step)), (_name, (_opset, _build, _spread, _most)) in ((a, b) for a in KINDS.items() for b in OPS.items()):
    _label = f"{_kind}_{_name}"
    CASES[_label] = lambda a=(_label, _opset, _build, _spread, _most, _type, _step): half(*a)
