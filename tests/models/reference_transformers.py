"""What transformers do with codes, bit for bit (sdk-docs/quantised-transformers.md), for reference.py.

  table     y = T[x + 128]: a function of one code in f64, rounded once: T[c] = clip(rne(f(f32(f32(c - zx) * sx)) / sy) + zy)
  softmax   over the last dim: T[d] = rne(e^(-sx d) 2^k); n = T[max - x]; f = f32(f32(1/sy) / f32(sum n));
            y = clip(rne(f32(n) * f) + zy)
  norm      over the last dim of N: u = x - zx; a = f32(sum u) * f32(1/N); b = f32(sum u^2) * f32(1/N);
            r = 1 / sqrt(max(b - a a, 0) + f32(epsilon / sx^2)); y = clip(rne((f32(u) - a) * r * f32(gain/sy) + f32(bias/sy)) + zy)
            by root: a is 0, and b is not made less
  matmul    of two computed operands: as by weights, with both zero points
"""

import math

import numpy as np
import onnx

f32 = np.float32

erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x, attrs):
    return 1 / (1 + np.exp(-x))


def softplus(x, attrs):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def hard_sigmoid(x, attrs):
    return np.clip(attrs.get("alpha", 0.2) * x + attrs.get("beta", 0.5), 0, 1)


def elu(x, attrs, alpha=1.0):
    return np.where(x < 0, attrs.get("alpha", alpha) * np.expm1(x), x)


def gelu(x, attrs):
    if attrs.get("approximate", b"none") == b"tanh":
        return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return x / 2 * (1 + erf(x / math.sqrt(2)))


FUNCTIONS = {
    "Abs": lambda x, a: np.abs(x), "Neg": lambda x, a: -x, "Sqrt": lambda x, a: np.sqrt(x),
    "Exp": lambda x, a: np.exp(x), "Log": lambda x, a: np.log(x), "Reciprocal": lambda x, a: 1 / x,
    "Erf": lambda x, a: erf(x), "Tanh": lambda x, a: np.tanh(x), "Sigmoid": sigmoid, "HardSigmoid": hard_sigmoid,
    "HardSwish": lambda x, a: x * np.clip(x / 6 + 0.5, 0, 1),
    "LeakyRelu": lambda x, a: np.where(x < 0, a.get("alpha", 0.01) * x, x), "Elu": elu,
    "Selu": lambda x, a: a.get("gamma", 1.05070102214813232421875) * elu(x, a, 1.67326319217681884765625),
    "Softplus": softplus, "Softsign": lambda x, a: x / (1 + np.abs(x)), "Gelu": gelu,
    "Relu": lambda x, a: np.maximum(x, 0), "Identity": lambda x, a: x,
}
BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power}
OWN = {"Add", "Sub", "Mul", "Relu", "Identity"}  # operators on codes of their own, when they are all there is


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


class Transformers:
    """Layers for Reference, which has the tensors."""

    def number(self, tensor):
        """A constant of one element behind a tensor, or None."""
        node = self.producer.get(tensor)
        if tensor in self.const and self.const[tensor].size == 1:
            return np.float64(self.const[tensor].reshape(()))
        if node is None or node.op_type != "DequantizeLinear" or node.input[0] not in self.const:
            return None
        codes, (scale, zero) = self.constant(node.input[0]), self.scale_zero(node)
        if codes.size != 1 or codes.dtype != np.int8:
            return None
        return np.float64(f32(codes.reshape(()).astype(f32) - f32(zero)) * f32(scale))

    def table_of(self, tensor):
        """The tensor of codes that a float tensor is a function of by elements, and whether tables are made of it."""
        sources, lasting = set(), False

        def follow(name):
            nonlocal lasting
            if self.number(name) is not None:
                return True
            node = self.producer.get(name)
            if node is None or (node.op_type == "DequantizeLinear" and node.input[0] in self.const):
                return False
            if node.op_type == "DequantizeLinear":
                sources.add(node.input[0])
                return True
            if node.op_type not in FUNCTIONS and node.op_type not in BINARY:
                return False
            lasting |= node.op_type not in OWN
            return all(follow(i) for i in (node.input if node.op_type in BINARY else node.input[:1]))

        return (sources.pop() if follow(tensor) and len(sources) == 1 and lasting else None)

    def value_at(self, tensor, x):
        number = self.number(tensor)
        if number is not None:
            return number
        node = self.producer[tensor]
        if node.op_type == "DequantizeLinear":
            return x
        if node.op_type in BINARY:
            return BINARY[node.op_type](*(self.value_at(i, x) for i in node.input))
        return FUNCTIONS[node.op_type](self.value_at(node.input[0], x), attributes(node))

    def table(self, source, tensor, values, sy, zy):
        node = next(n for n in self.dequantised[source])
        sx, zx = self.scale_zero(node)
        x = ((np.arange(-128, 128).astype(f32) - f32(zx)) * f32(sx)).astype(np.float64)
        with np.errstate(all="ignore"):
            y = np.rint(self.value_at(tensor, x) / np.float64(sy)) + np.float64(zy)
        entries = np.clip(np.where(np.isnan(y), -128, y), -128, 127).astype(np.int8)
        return entries[values[source].astype(np.int16) + 128]

    def op_softmax(self, node, attrs, values, sy, zy, limits):
        name, sx, _ = self.source(node.input[0])
        x = np.moveaxis(values[name].astype(np.int64), attrs.get("axis", -1), -1)
        bits = min(24, 30 - math.ceil(math.log2(x.shape[-1])))
        table = np.array([np.rint(math.ldexp(math.exp(-float(sx) * d), bits)) for d in range(256)]).astype(np.int64)
        n = table[x.max(-1, keepdims=True) - x]
        total = n.sum(-1, keepdims=True)
        assert total.max() < 2**31
        factor = f32(f32(1) / sy) / total.astype(np.int32).astype(f32)
        codes = np.clip(np.rint(n.astype(np.int32).astype(f32) * factor) + f32(zy), *limits).astype(np.int8)
        return np.moveaxis(codes, -1, attrs.get("axis", -1))

    def numbers(self, tensor):
        """Constant numbers, f32 or behind a DequantizeLinear."""
        if tensor in self.const:
            return self.const[tensor].astype(f32)
        node = self.producer[tensor]
        scale, zero = self.scale_zero(node)
        codes = self.const[node.input[0]]
        codes = codes.astype(f32) if codes.dtype == np.int32 else signed_numbers(codes)
        return (codes - f32(zero)) * f32(scale)

    def op_layernormalization(self, node, attrs, values, sy, zy, limits, by_root=False):
        name, sx, zx = self.source(node.input[0])
        u = values[name].astype(np.int64) - int(zx)
        width = u.shape[-1]
        assert attrs.get("axis", -1) in (-1, u.ndim - 1), "a norm over another dim than the last"
        gain = self.numbers(node.input[1]) / sy if len(node.input) > 1 else np.full(width, f32(1) / sy, f32)
        bias = self.numbers(node.input[2]) / sy if len(node.input) > 2 and node.input[2] else np.zeros(width, f32)
        epsilon = f32(np.float64(f32(attrs.get("epsilon", 1e-5))) / (np.float64(f32(sx)) * np.float64(f32(sx))))
        share = f32(1) / f32(width)
        spread = (u * u).sum(-1, keepdims=True).astype(np.int32).astype(f32) * share
        v = u.astype(f32)
        if not by_root:
            mean = u.sum(-1, keepdims=True).astype(np.int32).astype(f32) * share
            spread = np.maximum(spread - mean * mean, f32(0))
            v = v - mean
        factor = f32(1) / np.sqrt(spread + epsilon)
        y = np.rint(v * factor * gain + bias) + f32(zy)
        return np.clip(y, *limits).astype(np.int8)

    def op_rmsnormalization(self, node, attrs, values, sy, zy, limits):
        return self.op_layernormalization(node, attrs, values, sy, zy, limits, by_root=True)

    op_simplifiedlayernormalization = op_rmsnormalization

    def matmul(self, node, values, sy, zy, limits, requantize):
        (a, sa, za), (b, sb, zb) = (self.operand(tensor, values) for tensor in node.input)
        acc = (a.astype(np.float64) - za) @ (b.astype(np.float64) - zb)
        return requantize(acc.astype(np.int64), f32(f32(sa * sb) / sy), zy, limits)

    def op_transpose(self, node, attrs, values, sy, zy, limits):
        x = self.moved(node, values, sy, zy, limits)
        return np.transpose(x, attrs.get("perm"))

    def op_slice(self, node, attrs, values, sy, zy, limits):
        x = self.moved(node, values, sy, zy, limits)
        starts, ends, axes, *steps = (self.const[i] for i in node.input[1:])
        cut = [slice(None)] * x.ndim
        for k, axis in enumerate(axes):
            cut[axis] = slice(starts[k], ends[k], steps[0][k] if steps else 1)
        return x[tuple(cut)]

    def op_expand(self, node, attrs, values, sy, zy, limits):
        x = self.moved(node, values, sy, zy, limits)
        return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(self.const[node.input[1]])))

    def op_unsqueeze(self, node, attrs, values, sy, zy, limits):
        x = self.moved(node, values, sy, zy, limits)
        return np.expand_dims(x, tuple(self.const[node.input[1]]))

    def op_split(self, node, attrs, values, sy, zy, limits, output):
        x = self.moved(node, values, sy, zy, limits)
        return np.split(x, np.cumsum(self.const[node.input[1]])[:-1], axis=attrs.get("axis", 0))[output]


def signed_numbers(codes):
    return (codes.astype(np.int16) - 128 if codes.dtype == np.uint8 else codes).astype(f32)
