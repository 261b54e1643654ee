"""How far apart two evaluations of a model may be that both round to f32 after every operation, in any order of sums: a
running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 3.3) beside ONNX Runtime's values.

`apart(model, feeds)` gives every tensor's greatest distance by element. Each operator has a rule: what it makes of the
distances of its operands, plus the roundings of its own, twice over, for each side rounds. A sum of n terms is off by
gamma(n) times the sum of their absolutes, whatever its order; codes differ where their distance reaches over a rounding's
edge, and a bias of codes is rounded to the unit of their sums. An operator without a rule raises NoRule: then nothing is
known, and nothing allowed.
"""

import numpy as np
import onnx
from exact import session_of
from onnx import helper, numpy_helper

U = 2.0**-23  # 2^-24 on each side
SPARE = 8  # roundings more: weights that a scale was multiplied into, a bias, a division by the count


class NoRule(Exception):
    """Nothing is known of this operator's roundings."""


def gamma(n):
    return n * U / max(1 - n * U, 0.5)


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


class Analysis:
    def __init__(self, model, feeds, kept=0.0):
        """kept: how far apart, of its size, a result is that is kept in a smaller type than f32."""
        self.opset = model.opset_import
        self.maker = {name: node for node in model.graph.node for name in node.output}
        self.value = values(model, feeds)
        self.apart = {name: np.zeros(value.shape) for name, value in self.value.items()}
        for node in model.graph.node:
            self.node = node
            with np.errstate(all="ignore"):
                found = self.rule(node)
            for name, distance in zip(node.output, found if isinstance(found, list) else [found]):
                if name:
                    distance = np.broadcast_to(np.asarray(distance, np.float64), self.value[name].shape)
                    if kept and node.op_type not in MOVES:
                        distance = distance + kept * (np.abs(self.value[name]) + distance) + kept * 2.0**-14 # of the least one
                    self.apart[name] = np.where(np.isnan(distance), np.inf, distance)

    def rule(self, node):
        kind = node.op_type
        if kind == "Constant":
            return 0.0
        if kind in MOVES:
            return self.again(*(self.moved(name, k in MOVES[kind]) for k, name in enumerate(node.input)))
        if kind in SLOPES:
            x, e = self.operand(0)
            v = np.abs(self.of(node.output[0]))
            passed = np.minimum(SLOPES[kind](self, np.abs(x), e), 2 if kind in BOUNDED else np.inf)
            return passed + SPARE * U * (v if kind in EXACT else np.maximum(v, np.minimum(np.abs(x), 1)))
        method = getattr(self, "rule_" + kind, None)
        if method is None:
            raise NoRule(kind)
        return method(node)

    # ---- what rules are made of ----

    def of(self, name):
        return self.value[name].astype(np.float64)

    def operand(self, k):
        """The value of the k-th operand and its distance; None, None: it is not there."""
        names = self.node.input
        return (self.of(names[k]), self.apart[names[k]]) if k < len(names) and names[k] else (None, None)

    def moved(self, name, is_data):
        """What stands for an operand where distances are moved: numbers of places stay, what a pad is filled with is exact."""
        if is_data:
            return self.apart[name]
        return np.zeros(self.value[name].shape) if name and self.value[name].dtype == np.float32 else None

    def again(self, *values, kind=None):
        """The node's results, or those of another kind of it, for other values of its operands; None: as they are."""
        names = list(self.node.input)
        given = {k: self.value[name] for k, name in enumerate(names) if name}
        given.update((k, np.asarray(np.minimum(value, 1e30), np.float32)) for k, value in enumerate(values) if value is not None)
        node = helper.make_node(kind or self.node.op_type, [f"i{k}" if name else "" for k, name in enumerate(names)],
                                [f"o{k}" for k in range(len(self.node.output))], domain=self.node.domain)
        node.attribute.extend(self.node.attribute)
        feeds, consts = {}, []
        for k, value in given.items():
            if value.dtype == np.float32:
                feeds[f"i{k}"] = value
            else:
                consts.append(numpy_helper.from_array(value, f"i{k}"))
        infos = [helper.make_tensor_value_info(k, onnx.TensorProto.FLOAT, v.shape) for k, v in feeds.items()]
        outs = [helper.make_empty_tensor_value_info(name) for name in node.output]
        model = helper.make_model(helper.make_graph([node], "one", infos, outs, consts), opset_imports=self.opset, ir_version=9)
        found = [value.astype(np.float64) for value in run(model, feeds).values()]
        return found if len(found) > 1 else found[0]

    def linear(self, terms):
        """Products of two operands summed, and a third added."""
        (x, e), (w, f), (b, g) = (self.operand(k) for k in range(3))
        bias = (np.abs(b),) if b is not None else ()
        sizes = self.again(np.abs(x), np.abs(w), *bias)
        if b is not None:
            g = g + self.whole_bias()
        passed = self.again(e, np.abs(w) + f, *([g] if b is not None else []))
        if f.any():
            passed = passed + self.again(np.abs(x), f, *([0 * g] if b is not None else []))
        return gamma(terms + SPARE) * sizes + 1.01 * passed  # the passed distances are themselves computed in f32

    def whole_bias(self):
        """A bias of sums of codes is a whole number of them: half of one at most is rounded away."""
        makers = [self.maker.get(name) for name in self.node.input[:2]]
        if not all(maker is not None and maker.op_type == "DequantizeLinear" for maker in makers):
            return 0.0
        return 0.5 * float(np.prod([np.abs(self.of(maker.input[1])).max() for maker in makers]))

    def mean(self, terms):
        x, e = self.operand(0)
        return gamma(terms + SPARE) * self.again(np.abs(x)) + 1.01 * self.again(e)

    # ---- operators ----

    def rule_Conv(self, node):
        return self.linear(int(np.prod(self.value[node.input[1]].shape[1:])))

    def rule_ConvTranspose(self, node):
        return self.linear(int(np.prod(self.value[node.input[1]].shape)) // self.value[node.input[1]].shape[1])

    def rule_Resize(self, node):
        """A mean of two places along each axis; places themselves are rounded."""
        if attributes(node).get("mode", b"nearest") == b"nearest":
            return self.again(self.operand(0)[1])
        x, e = self.operand(0)
        return gamma(4 * SPARE) * self.again(np.abs(x)) * max(x.shape[2:]) + 1.01 * self.again(e)

    def rule_MatMul(self, node):
        return self.linear(self.value[node.input[0]].shape[-1])

    def rule_Gemm(self, node):
        a, shape = attributes(node), self.value[node.input[0]].shape
        if a.get("alpha", 1.0) < 0 or a.get("beta", 1.0) < 0:
            raise NoRule("Gemm with a negative factor")
        return self.linear(shape[0] if a.get("transA") else shape[1])

    def rule_AveragePool(self, node):
        return self.mean(int(np.prod(attributes(node)["kernel_shape"])))

    def rule_GlobalAveragePool(self, node):
        return self.mean(int(np.prod(self.value[node.input[0]].shape[2:])))

    def rule_ReduceMean(self, node):
        if node.op_type == "ReduceMean" and not self.value[node.input[0]].size:  # ONNX says nothing of a mean of no elements
            return np.full(self.value[node.output[0]].shape, np.inf)
        return self.mean(self.value[node.input[0]].size // max(self.value[node.output[0]].size, 1))

    rule_ReduceSum = rule_CumSum = rule_ReduceL1 = rule_ReduceMean

    def rule_ReduceMin(self, node):
        """As far apart as the furthest of them."""
        return self.again(self.operand(0)[1], kind="ReduceMax")

    def rule_ReduceL2(self, node):
        x, e = self.operand(0)
        return gamma(x.size + SPARE) * self.of(node.output[0]) + 1.01 * self.again(e)

    def rule_ReduceSumSquare(self, node):
        x, e = self.operand(0)
        return gamma(x.size + SPARE) * self.again(x) + 1.01 * self.again(2 * np.abs(x) * e + e * e, kind="ReduceSum")

    def rule_ReduceLogSum(self, node):
        x, e = self.operand(0)
        v, total = self.of(node.output[0]), self.again(x, kind="ReduceSum")
        apart = self.again(e, kind="ReduceSum") + gamma(x.size) * self.again(np.abs(x), kind="ReduceSum")
        return np.where(total > apart, apart / np.maximum(total - apart, 1e-300), np.inf) + SPARE * U * np.maximum(np.abs(v), 1)

    def rule_ReduceLogSumExp(self, node):
        x, e = self.operand(0)
        largest = self.again(np.abs(x), kind="ReduceMax")
        return self.again(e, kind="ReduceMax") + gamma(x.size + 2 * SPARE) + 4 * U * (largest + np.abs(self.of(node.output[0])))

    def rule_Sum(self, node):
        sizes = sum(np.abs(self.of(name)) for name in node.input)
        return sum(self.apart[name] for name in node.input) + gamma(len(node.input)) * sizes

    def rule_Mean(self, node):
        return self.rule_Sum(node) / len(node.input)

    def rule_Where(self, node):
        return np.where(self.value[node.input[0]], self.apart[node.input[1]], self.apart[node.input[2]])

    def rule_Einsum(self, node):
        """Products of one or two operands, summed over the letters that go."""
        if len(node.input) == 1:
            return self.mean(self.value[node.input[0]].size)
        terms = max(self.value[name].size for name in node.input)
        return self.linear(terms)

    def rule_Add(self, node):
        (x, e), (y, f) = self.operand(0), self.operand(1)
        return e + f + U * (np.abs(x) + np.abs(y))  # sizes, not the sum: scales may have been multiplied in before

    rule_Sub = rule_Add

    def rule_Mul(self, node):
        (x, e), (y, f) = self.operand(0), self.operand(1)
        return np.abs(x) * f + np.abs(y) * e + e * f + 2 * U * np.abs(x * y)

    def rule_Div(self, node):
        (x, e), (y, f) = self.operand(0), self.operand(1)
        left = np.abs(y) - f
        return np.where(left > 0, (e + np.abs(x / y) * f) / left, np.inf) + 2 * U * np.abs(x / y)

    def rule_Reciprocal(self, node):
        x, e = self.operand(0)
        left = np.abs(x) - e
        return np.where(left > 0, e / (np.abs(x) * np.maximum(left, 1e-300)), np.inf) + U / np.abs(x)

    def rule_Max(self, node):
        distances = [self.apart[name] for name in node.input]
        most = distances[0]
        for distance in distances[1:]:
            most = np.maximum(most, distance)
        return most

    rule_Min = rule_Max

    def rule_PRelu(self, node):
        (x, e), (slope, _) = self.operand(0), self.operand(1)
        return e * np.maximum(1, np.abs(slope)) + U * np.abs(x * slope)

    def rule_BatchNormalization(self, node):
        (x, e), (scale, _), (b, _), (mean, _), (var, _) = (self.operand(k) for k in range(5))
        by = [1, -1] + [1] * (x.ndim - 2)
        factor = np.abs(scale / np.sqrt(var + attributes(node).get("epsilon", 1e-5))).reshape(by)
        sizes = factor * (np.abs(x) + np.abs(mean).reshape(by)) + np.abs(b).reshape(by)
        return factor * e + gamma(SPARE) * sizes

    def softmax(self, node, log):
        x, e = self.operand(0)
        y = self.of(node.output[0])
        axis = attributes(node).get("axis", -1)
        below = np.max(x, axis=axis, keepdims=True) - x
        off = 2 * np.max(e + U * below, axis=axis, keepdims=True) + gamma(x.shape[axis] + 2 * SPARE)
        return off + 2 * U * (np.abs(y) + below) if log else np.minimum(y * np.expm1(np.minimum(off, 50)) + 2.0**-126, 1)

    def rule_Softmax(self, node):
        return self.softmax(node, False)

    def rule_LogSoftmax(self, node):
        return self.softmax(node, True)

    def rule_InstanceNormalization(self, node):
        x = self.operand(0)[0]
        scale = self.operand(1)[0].reshape(1, -1, *[1] * (x.ndim - 2))
        return self.normalised(node, tuple(range(2, x.ndim)), scale)

    def rule_LayerNormalization(self, node):
        x = self.operand(0)[0]
        axes = tuple(range(attributes(node).get("axis", -1) % x.ndim, x.ndim))
        return self.normalised(node, axes, self.operand(1)[0])

    def rule_MeanVarianceNormalization(self, node):
        return self.normalised(node, tuple(attributes(node).get("axes", (0, 2, 3))), 1)

    def normalised(self, node, axes, scale):
        x, e = self.operand(0)
        a = attributes(node)
        mean = lambda v: np.mean(v, axis=axes, keepdims=True)  # noqa: E731
        n = int(np.prod([x.shape[d] for d in axes]))
        middle, d = mean(x), x - mean(x)
        off = e + mean(e) + gamma(n + SPARE) * mean(np.abs(x)) + U * np.abs(d)
        var = mean(d * d) + a.get("epsilon", 1e-9 if node.op_type == "MeanVarianceNormalization" else 1e-5)
        var_off = mean(2 * np.abs(d) * off + off * off) + gamma(n + SPARE) * (mean(x * x) + middle * middle)
        least = np.maximum(var - var_off, 0)
        z = np.where(least > 0, off / np.sqrt(least) + np.abs(d) * var_off / (2 * least * np.sqrt(least)), np.inf)
        z = np.minimum(z, 2 * np.sqrt(n))  # no element is further from the mean
        return np.abs(scale) * (z + gamma(SPARE) * np.abs(d) / np.sqrt(var)) + gamma(SPARE) * np.abs(self.of(node.output[0]))

    def by_axis(self, node, name):
        """Scales or zero points along the node's axis."""
        array, rank = self.of(name), self.value[node.input[0]].ndim
        shape = [1] * rank
        if array.size > 1:
            shape[attributes(node).get("axis", 1)] = array.size
        return array.reshape(shape) if array.size > 1 else array.reshape(())

    def rule_DequantizeLinear(self, node):
        e, scale = self.apart[node.input[0]], np.abs(self.by_axis(node, node.input[1]))
        return scale * e + U * np.abs(self.of(node.output[0]))

    def rule_QuantizeLinear(self, node):
        x, e = self.operand(0)
        scale, codes = self.by_axis(node, node.input[1]), self.value[node.output[0]]
        zero = self.by_axis(node, node.input[2]) if len(node.input) > 2 and node.input[2] else 0
        low, high = np.iinfo(codes.dtype).min, np.iinfo(codes.dtype).max
        t, off = x / scale, (e + 2 * U * np.abs(x)) / np.abs(scale)
        codes = codes.astype(np.float64)
        least, most = (np.clip(np.rint(t + side * off) + zero, low, high) for side in (-1, 1))
        return np.maximum(np.abs(most - codes), np.abs(codes - least))


def bound(constant):
    return lambda analysis, x, e: e * constant


def by_attribute(name, default, least):
    return lambda analysis, x, e: e * max(least, abs(attributes(analysis.node).get(name, default)))


# Operators that bring elements elsewhere, or the largest of some: the distances go the same way. The inputs of numbers.
MOVES = {name: (0,) for name in ("Identity", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Split",
                                 "Expand", "Gather", "Pad", "MaxPool", "GlobalMaxPool", "ReduceMax", "DepthToSpace", "SpaceToDepth",
                                 "GatherElements", "GatherND", "Tile", "Trilu", "ReverseSequence", "CenterCropPad")}
MOVES["Concat"] = range(1000)
BOUNDED = {"Tanh", "Sigmoid", "Erf", "Softsign", "HardSigmoid", "Sin", "Cos"}
EXACT = {"Relu", "Clip", "Abs", "Neg"}


def tan_apart(analysis, x, e):
    """tan(x + e) - tan(x), by the sum's formula; past a pole anything."""
    v, t = np.abs(analysis.of(analysis.node.output[0])), np.tan(np.minimum(e + U * x, 1.5))
    return np.where(v * t < 1, (1 + v * v) * t / np.maximum(1 - v * t, 1e-300), np.inf)


# The greatest slope of functions of one operand.
SLOPES = {"Relu": bound(1), "Clip": bound(1), "Abs": bound(1), "Neg": bound(1), "Tanh": bound(1), "Sigmoid": bound(0.25),
          "Erf": bound(1.13), "Gelu": bound(1.13), "Elu": by_attribute("alpha", 1.0, 1), "Selu": bound(1.76),
          "LeakyRelu": by_attribute("alpha", 0.01, 1), "HardSigmoid": by_attribute("alpha", 0.2, 0), "HardSwish": bound(1.5),
          "Softplus": bound(1), "Softsign": bound(1), "Sin": bound(1), "Cos": bound(1), "Tan": tan_apart, "Atan": bound(1), "Mish": bound(1.09),
          "Celu": bound(1),
          "Sqrt": lambda analysis, x, e: np.where(x > e, e / np.sqrt(np.maximum(x - e, 1e-300)), np.sqrt(x + e)),
          "Log": lambda analysis, x, e: np.where(x > e, e / np.maximum(x - e, 1e-300), np.inf),
          "Exp": lambda analysis, x, e: np.abs(analysis.of(analysis.node.output[0])) * np.expm1(np.minimum(e + U * x, 50))}


def run(model, feeds):
    session = session_of(model)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds)))


def values(model, feeds):
    """Every tensor of the model, by name."""
    shown = onnx.ModelProto.FromString(model.SerializeToString())
    del shown.graph.output[:]
    names = [name for node in model.graph.node for name in node.output if name]
    shown.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    return {**{t.name: numpy_helper.to_array(t) for t in model.graph.initializer}, **feeds, **run(shown, feeds)}


def apart(model, feeds, kept=0.0):
    """Every tensor's greatest distance between two evaluations, by element; raises NoRule. `kept` as Analysis has it."""
    return Analysis(model, feeds, kept).apart
