"""Codes by multiply and rounding shift: the reference for chips without floats, in whole numbers.

A scale m becomes factor * 2^-shift, factor the whole number of at most `bits` bits that comes nearest.

  sum    y = min(max((acc + rne(zy/m)) * factor + half >> shift, lo), 127), of 64 bits, half = 2^(shift-1)
  add    y = min(max(a*fa + b*fb + bias + half >> shift, lo), 127), one shift for both: that of the larger scale;
         bias = zy * 2^shift - za*fa - zb*fb

Everything else is as reference.py has it.
"""

import numpy as np
from reference import Reference, f32, require


def split(scale, bits, most):
    """(factor, shift) of positive or negative scales."""
    scale = np.asarray(scale, np.float64)
    shift = np.minimum(bits - np.frexp(np.abs(scale))[1], most)
    shift = np.where(np.rint(np.ldexp(np.abs(scale), shift)) >= 2**bits, shift - 1, shift)
    require((shift >= 0).all(), "a scale is too large")
    return np.rint(np.ldexp(scale, shift)).astype(np.int64), shift.astype(np.int64)


def shift_to_nearest(x, shift):
    return (x + ((np.int64(1) << shift) >> 1)) >> shift


class FixedPoint(Reference):
    """The sums' factors have 31 bits, those of added codes 15."""

    def requantize(self, acc, multiplier, zero, limits):
        require(limits[1] == 127, "a clamp from above")
        factor, shift = split(multiplier, 31, 62)
        acc = acc + np.rint(np.float64(zero) / np.float64(multiplier)).astype(np.int64)
        require(acc.min() >= -(2**31) and acc.max() < 2**31, "accumulator leaves int32")
        return np.clip(shift_to_nearest(acc * factor, shift), *limits).astype(np.int8)

    def op_add(self, node, attrs, values, sy, zy, limits, sign=1):
        require(limits[1] == 127, "a clamp from above")
        (a, sa, za), (b, sb, zb) = (self.operand(tensor, values) for tensor in node.input)
        scales = f32(sa / sy), f32(sign) * f32(sb / sy)
        shift = min(split(scale, 15, 22)[1] for scale in scales)
        fa, fb = (np.rint(np.ldexp(np.float64(scale), shift)).astype(np.int64) for scale in scales)
        bias = (np.int64(zy) << shift) - np.int64(za) * fa - np.int64(zb) * fb
        return np.clip(shift_to_nearest(a * fa + b * fb + bias, shift), *limits).astype(np.int8)
