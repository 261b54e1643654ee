"""Codes by multiply and rounding shift: the reference for chips without floats, in whole numbers.

A scale m becomes factor * 2^-shift, factor the whole number of at most `bits` bits that comes nearest.

  sum    y = min(max((acc + rne(zy/m)) * factor + half >> shift, lo), 127), of 64 bits, half = 2^(shift-1) or 0
  add    y = min(max(a*fa + b*fb + bias + half >> shift, lo), 127), one shift for both: that of the larger scale;
         bias = zy * 2^shift - za*fa - zb*fb

With `unsigned` a code is a number of 0 to 255, the model's and 128 more: so are zero points and clamps, which end at 255.

Everything else is as reference.py has it.
"""

import numpy as np
from onnx import numpy_helper
from reference import Reference, f32, require


def split(scale, bits, most):
    """(factor, shift) of positive or negative scales."""
    scale = np.asarray(scale, np.float64)
    shift = np.minimum(bits - np.frexp(np.abs(scale))[1], most)
    shift = np.where(np.rint(np.ldexp(np.abs(scale), shift)) >= 2**bits, shift - 1, shift)
    require((shift >= 0).all(), "a scale is too large")
    return np.rint(np.ldexp(scale, shift)).astype(np.int64), shift.astype(np.int64)


def shift_to_nearest(x, shift):
    """Halves go up."""
    return (x + ((np.int64(1) << shift) >> 1)) >> shift


def shift_away(x, shift):
    """To the nearest, halves away from 0."""
    return np.sign(x) * ((np.abs(x) + ((np.int64(1) << shift) >> 1)) >> shift)


class FixedPoint(Reference):
    """sum, add: (bits of factors, largest shift); factors of 0 bits are 1, and scales powers of 2. With `nearest` off
    shifts cut off what they lose; `common`: one shift for all channels, that of the largest scale."""

    def __init__(self, model, sum=(31, 62), add=(15, 22), nearest=True, away=False, common=False, unsigned=False):
        super().__init__(model)
        self.sum, self.add, self.nearest, self.away, self.common = sum, add, nearest, away, common
        self.more = 128 if unsigned else 0

    def clipped(self, y, limits):
        low, high = (limit + self.more for limit in limits)
        return (np.clip(y, low, high) - self.more).astype(np.int8)

    def shifted(self, x, shift):
        if self.away:
            return shift_away(x, shift)
        return shift_to_nearest(x, shift) if self.nearest else x >> shift

    def requantize(self, acc, multiplier, zero, limits):
        require(limits[1] == 127, "a clamp from above")
        if self.sum[0]:
            factor, shift = split(multiplier, *self.sum)
            if self.common:
                shift = shift.min()
                factor = np.rint(np.ldexp(np.float64(multiplier), shift)).astype(np.int64)
        else:
            factor, shift = 1, -np.rint(np.log2(multiplier)).astype(np.int64)
            if (np.float64(multiplier) != 2.0 ** -shift.astype(np.float64)).any():
                return super().requantize(acc, multiplier, zero, limits)  # which such a chip leaves to another
        acc = acc + np.rint(np.float64(int(zero) + self.more) / np.float64(multiplier)).astype(np.int64)
        require(acc.min() >= -(2**31) and acc.max() < 2**31, "accumulator leaves int32")
        return self.clipped(self.shifted(acc * factor, shift), limits)

    def op_add(self, node, attrs, values, sy, zy, limits, sign=1):
        require(limits[1] == 127, "a clamp from above")
        (a, sa, za), (b, sb, zb) = (self.operand(tensor, values) for tensor in node.input)
        scales = f32(sa / sy), f32(sign) * f32(sb / sy)
        shift = min(split(scale, *self.add)[1] for scale in scales)
        fa, fb = (np.rint(np.ldexp(np.float64(scale), shift)).astype(np.int64) for scale in scales)
        a, b, za, zb, zy = (np.int64(v) + self.more for v in (a, b, za, zb, zy))
        bias = (zy << shift) - za * fa - zb * fb
        return self.clipped(self.shifted(a * fa + b * fb + bias, shift), limits)


def powers_of_two(model):
    """The model with the power of 2 that comes nearest for each scale, one for each tensor: another network, with the
    same codes, for chips that only shift."""
    graph = model.graph
    values = {t.name: t for t in graph.initializer}
    producer = {out: node for node in graph.node for out in node.output}
    products = [n for n in graph.node if n.op_type in ("Conv", "Gemm") and len(n.input) > 2 and n.input[2]]
    of_bias = {producer[n.input[2]].input[1]: n for n in products}
    new = {}
    for node in graph.node:
        if node.op_type in ("DequantizeLinear", "QuantizeLinear") and node.input[1] not in of_bias:
            scale = numpy_helper.to_array(values[node.input[1]])
            new[node.input[1]] = np.full(scale.shape, f32(2.0 ** np.rint(np.log2(np.float64(scale).mean()))))
    for name, node in of_bias.items():
        x, w = (new[producer[tensor].input[1]].reshape(-1)[0] for tensor in node.input[:2])
        new[name] = np.full(numpy_helper.to_array(values[name]).shape, f32(x * w))
    for name, scale in new.items():
        values[name].CopyFrom(numpy_helper.from_array(scale.astype(f32), name))
    return model
