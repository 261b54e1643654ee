"""Channels of codes that are dealt out in groups, as ShuffleNet's are, in front of what takes them in any order and of what does not;
regressions.py runs them."""

import numpy as np
from regression_cases import CASES, F32, I64, Maker, codes_conv

SCALE = F32(0.3)


def shuffled(m, x, batch, channels, groups, size):
    """Reshape, Transpose, Reshape, whose codes are those in front."""
    for shape in ((batch, groups, channels // groups, size, size), None, (batch, channels, size, size)):
        y = m.op("Reshape", x, m.const(np.array(shape, I64))) if shape else m.op("Transpose", x, perm=[0, 2, 1, 3, 4])
        x = m.codes(y, SCALE)
    return x


def joined(m, a, b, scale=SCALE):
    return m.codes(m.op("Concat", a, b, axis=1), scale)


def halves(m, x, channels):
    at = [m.const(np.array(k, I64)) for k in ([0], [channels // 2], [channels])]
    return [m.codes(m.op("Slice", x, at[k], at[k + 1], m.const(np.array([1], I64))), SCALE) for k in range(2)]


def units(label, channels, count, batch=1, size=5):
    """Half of the channels goes past each unit; what comes out of all of them is summed at a stride."""
    m = Maker(label)
    half = channels // 2
    x = m.codes(m.input("x", batch, 16, size, size), F32(0.05))
    x = shuffled(m, joined(m, codes_conv(m, x, 16, half), codes_conv(m, x, 16, half)), batch, channels, 2, size)
    for k in range(count):
        past, x = halves(m, x, channels)
        x = codes_conv(m, x, half, half, scale=F32(0.9))
        x = codes_conv(m, x, half, half, 3, group=half, pads=[1, 1, 1, 1])
        x = shuffled(m, joined(m, past, codes_conv(m, x, half, half), F32(0.2 + 0.1 * k)), batch, channels, 2, size)
    y = codes_conv(m, x, channels, channels, 3, group=channels, strides=[2, 2], pads=[1, 1, 1, 1])
    return m.done(codes_conv(m, x, channels, 24), codes_conv(m, y, channels, 24), step=0.3, by_layers=True, bisect=True)


for args in ((24, 1), (58, 2), (64, 3), (24, 2, 2)):
    CASES["shuffle_units_" + "_".join(map(str, args))] = lambda args=args: units("shuffle_units_" + "_".join(map(str, args)), *args)


def dealt(label, channels, groups, read):
    """Who reads what was dealt out: what sums, with what takes the codes as they are beside it, or only that."""
    m = Maker(label)
    x = codes_conv(m, m.codes(m.input("x", 1, 16, 5, 5), F32(0.05)), 16, channels)
    return m.done(*read(m, shuffled(m, x, 1, channels, groups, 5), channels), step=0.3, by_layers=True, bisect=True)


def table_between(m, x, channels):
    return [codes_conv(m, m.codes(m.op("Mul", x, m.codes(m.op("Sigmoid", x), F32(1 / 256))), SCALE), channels, 20)]


def grouped(m, x, channels):
    return [codes_conv(m, x, channels, channels, group=2)]


def apart_and_left(m, x, channels):
    y = codes_conv(m, x, channels, channels, 3, group=channels, pads=[1, 1, 1, 1])
    return [y, codes_conv(m, y, channels, 20)]


def several_of_each(m, x, channels):
    return [codes_conv(m, codes_conv(m, x, channels, 2 * channels, group=channels), 2 * channels, 20)]


def summed(m, x, channels):
    return [codes_conv(m, x, channels, 20, 3, pads=[1, 1, 1, 1])]


def summed_and_left(m, x, channels):
    return [x, codes_conv(m, x, channels, 20)]


def clamped(m, x, channels):
    return [m.codes(m.op("Relu", x), SCALE)]


for _read in (summed, summed_and_left, clamped, table_between, grouped, apart_and_left, several_of_each):
    for _channels, _groups in ((24, 2), (48, 3), (32, 16)):
        _label = f"dealt_{_read.__name__}_{_channels}_{_groups}"
        CASES[_label] = lambda a=(_label, _channels, _groups, _read): dealt(*a)
