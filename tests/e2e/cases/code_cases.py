"""Operators on codes in forms that quantisers seldom write: constants in front, moves between scales, other types of
parameters."""

import numpy as np
from onnx import helper
from regression_cases import CASES, F32, I8, I32, I64, U8, Maker, case, codes_conv


def constant_in_front(label, op, kind, shape):
    """c - x and its kin, where the constant is codes of its own scale."""
    m = Maker(label)
    x = m.codes(m.input("x", 1, 16, 5, 3), F32(0.05))
    zero = kind(7)
    codes = m.rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)
    return m.done(m.codes(m.op(op, m.weights(codes, F32(0.03), zero), x), F32(0.07)), step=0.07, targets=("cpu",) if op == "Div" else ("cpu", "simnpu"))


for op in "Add", "Sub", "Mul":
    for kind in I8, U8:
        for shape in ((1,), (16, 1, 1), (1, 16, 5, 3)):
            label = f"{op.lower()}_constant_in_front_{kind.__name__}_{len(shape)}"
            CASES[label] = lambda a=(label, op, kind, shape): constant_in_front(*a)


def moved_between_scales(label, build):
    """What is only moved leaves with another scale and zero point."""
    m = Maker(label)
    x = m.codes(m.input("x", 2, 16, 4, 6), F32(0.05))
    return m.done(m.codes(build(m, x), F32(0.08), I8(-9)), step=0.08, targets=("cpu",))


MOVES = {
    "transpose": lambda m, x: m.op("Transpose", x, perm=[0, 2, 3, 1]),
    "slice": lambda m, x: m.op("Slice", x, m.const(np.array([3], I64)), m.const(np.array([13], I64)), m.const(np.array([1], I64))),
    "reshape": lambda m, x: m.op("Reshape", x, m.const(np.array([2, -1], I64))),
    "expand": lambda m, x: m.op("Expand", m.op("Slice", x, m.const(np.array([2], I64)), m.const(np.array([3], I64)), m.const(np.array([2], I64))),
                               m.const(np.array([2, 16, 5, 6], I64))),
    "concat": lambda m, x: m.op("Concat", x, x, axis=2),
    "gather": lambda m, x: m.op("Gather", x, m.const(np.array([3, 0, -1], I64)), axis=1),
}
for op, build in MOVES.items():
    CASES[f"{op}_between_scales"] = lambda a=(f"{op}_between_scales", build): moved_between_scales(*a)


def first_constant(op):
    """The codes that are added or multiplied are the first constant of the model."""
    m = Maker(f"{op.lower()}_of_the_first_constant")
    second = m.weights(m.rng.integers(-128, 128, (1, 16, 5, 3)).astype(I8), F32(0.03), I8(7))
    x = m.codes(m.input("x", 1, 16, 5, 3), F32(0.05))
    return m.done(m.codes(m.op(op, x, second), F32(0.07)), step=0.07)


for op in "Add", "Mul":
    CASES[f"{op.lower()}_of_the_first_constant"] = lambda op=op: first_constant(op)


def of_constant_codes(label, op, kind, attrs, alone):
    """Codes that an operator reads are a constant; alone: of a model without inputs, whose first value it is."""
    m = Maker(label)
    zero = kind(7)
    codes = m.rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, (1, 16, 6, 4)).astype(kind)
    y = m.codes(m.op(op, m.weights(codes, F32(0.03), zero), **attrs), F32(0.03), zero)
    return m.done(y if alone else m.codes(m.op("Add", y, m.codes(m.input("x", 1, 16, 1, 1), F32(0.05))), F32(0.07)), step=0.07)


for op, attrs in ("MaxPool", {"kernel_shape": [2, 2]}), ("GlobalAveragePool", {}):
    for kind in I8, U8:
        for alone in False, True:
            label = f"{op.lower()}_of_constant_codes_{kind.__name__}{'_alone' if alone else ''}"
            CASES[label] = lambda a=(label, op, kind, attrs, alone): of_constant_codes(*a)


def zero_points_behind_parts(channels):
    """Weights less their zero points take more than 8 bits: the product reads a second part, of copies, which begins at a block,
    and of a tensor whose own parts, of so many channels, begin at none."""
    m = Maker(f"zero_points_behind_parts_of_{channels}")
    x = m.codes(m.input("x", 1, channels, 2, 11), F32(0.05), I8(17))
    both = m.codes(m.op("Concat", x, x, axis=1), F32(0.05), I8(17))
    w = m.weights(m.rng.integers(-128, 128, (16, 2 * channels, 1, 3)).astype(I8), np.full(16, 0.01, F32), np.full(16, 3, I8))
    return m.done(m.codes(m.op("Conv", both, w, pads=[0, 0, 0, 2]), F32(0.4), I8(-5)), step=0.4, targets=("cpu", "cpu:v3", "simnpu"), bisect=True)


for channels in 12, 20:
    CASES[f"zero_points_behind_parts_of_{channels}"] = lambda channels=channels: zero_points_behind_parts(channels)


def less_than_a_row():
    """A tensor shorter than a row of lanes beside one number: as it lies, the whole row would be read past its end."""
    m = Maker("less_than_a_row")
    return m.done(m.op("Sub", m.input("x", 1, 2), m.input("y", 1, 1)), targets=("simnpu",))


CASES["less_than_a_row"] = less_than_a_row


def rounded_at_halves():
    """Numbers half way between codes, next to them, at the ends of the codes and far beyond; three zero points, which kernels that
    are equal otherwise read as numbers of their own."""
    m = Maker("rounded_at_halves")
    halves = np.arange(-300, 300, dtype=F32) + F32(0.5)
    values = np.concatenate([F32([1e9, -1e9, 3e38, -3e38, 2**23 + 1, -(2**24), 0, -0.0]), halves, halves * F32(0.5),
                             np.nextafter(halves, F32(np.inf)), np.nextafter(halves, F32(-np.inf))])[:2400]
    x = m.input("x", 1, len(values), values=values)
    return m.done(*(m.codes(m.codes(x, F32(1), I8(zero)), F32(0.5), I8(-zero - 1)) for zero in (3, -128, 127)), targets=("cpu",))


CASES["rounded_at_halves"] = rounded_at_halves


def few_channels(channels, size, stride, dilation):
    """A window's columns are taken in groups, the last of which reaches over its end, and of two products that read one tensor one
    flips signs that the other needs."""
    m = Maker(f"few_channels_{channels}_{size}_{stride}_{dilation}")
    x = m.codes(m.input("x", 1, channels, 23, 21), F32(0.05), I8(-7))
    weights = m.weights(m.rng.integers(-127, 128, (24, channels, size, size)).astype(I8), F32(0.02), I8(0))
    wide = m.op("Conv", x, weights, strides=[stride, stride], dilations=[dilation, dilation], pads=[1, size // 2, size // 2, 0])
    wide = m.codes(m.op("Relu", wide), F32(0.11), I8(-128))
    weights = m.weights(m.rng.integers(-127, 128, (24, 24, 3, 3)).astype(I8), F32(0.02), I8(0))
    return m.done(m.codes(m.op("Add", m.codes(m.op("Conv", wide, weights, pads=[1, 1, 1, 1]), F32(0.2)), wide), F32(0.3)), by_layers=True)


for form in (1, 3, 1, 1), (2, 5, 2, 1), (3, 7, 2, 1), (3, 8, 3, 1), (3, 3, 1, 2), (4, 7, 1, 1), (5, 5, 2, 1):
    CASES["few_channels_" + "_".join(map(str, form))] = lambda form=form: few_channels(*form)


def depthwise_of_few(channels):
    """Few channels lie in the groups that products sum; where each is summed for itself, rows of lanes were read from there."""
    m = Maker(f"depthwise_of_{channels}")
    w = m.weights(m.rng.integers(-127, 128, (channels, 1, 3, 3)).astype(I8), F32(0.02), I8(0))
    x = m.codes(m.input("x", 1, channels, 7, 1), F32(0.05), I8(-128))
    return m.done(m.codes(m.op("Conv", x, w, group=channels, dilations=[1, 2], pads=[0, 1, 0, 4]), F32(0.2), I8(-5)), step=0.2,
                  targets=("cpu", "cpu:avx512", "cpu:v3", "simnpu"), bisect=True)


for channels in 2, 7:
    CASES[f"depthwise_of_{channels}"] = lambda channels=channels: depthwise_of_few(channels)


def sums_and_depthwise_of_few():
    """Few channels that a product sums in groups, and whose padded copy has rows of lanes: what is behind the groups was copied."""
    m = Maker("sums_and_depthwise_of_few")
    weights = [m.weights(m.rng.integers(-127, 128, shape).astype(I8), F32(0.02), I8(0)) for shape in ((16, 2, 3, 1), (2, 1, 3, 3))]
    x = m.codes(m.input("x", 3, 2, 6, 4), F32(0.05), I8(-128))
    sums, apart = m.op("Conv", x, weights[0], pads=[0, 0, 2, 0]), m.op("Conv", x, weights[1], group=2, strides=[2, 2], pads=[1, 1, 2, 2])
    return m.done(m.codes(sums, F32(0.2)), m.codes(apart, F32(0.2), I8(-5)), step=0.2, targets=("cpu", "cpu:avx512", "cpu:v3", "simnpu"), bisect=True)


CASES["sums_and_depthwise_of_few"] = sums_and_depthwise_of_few


@case
def scaled_behind_a_reshape():
    """One number that is codes, times images whose rows and columns became one dim."""
    m = Maker("scaled_behind_a_reshape")
    x = m.codes(m.input("x", 2, 16, 6, 4), F32(0.05), I8(17))
    y = m.codes(m.op("Reshape", x, m.const(np.array([2, 16, 24], I64))), F32(0.05), I8(17))
    y = m.codes(m.op("Mul", y, m.weights(np.array(127, I8), F32(0.004), I8(-128))), F32(0.04))
    return m.done(m.op("Reshape", y, m.const(np.array([2, 16, 4, 6], I64))), step=0.04)


@case
def padded_by_a_code():
    """The number around a tensor is codes of its own scale, as quantisers leave it."""
    m = Maker("padded_by_a_code")
    x = m.codes(m.input("x", 1, 16, 6, 4), F32(0.05), I8(17))
    y = m.op("Pad", x, m.const(np.array([0, 0, 1, 2, 0, 0, 0, 1], I64)), m.weights(np.array(127, I8), F32(0.004), I8(-128)))
    return m.done(m.codes(y, F32(0.05), I8(3)), step=0.05, targets=("cpu",))


@case
def normalised_by_codes():
    """Scale and shift of a batch normalisation are codes, the shift of 32 bits."""
    m = Maker("normalised_by_codes")
    x = m.codes(m.input("x", 1, 16, 6, 4), F32(0.05), I8(17))
    scale = m.weights(m.rng.integers(40, 128, 16).astype(I8), F32(0.01), I8(0))
    shift = m.op("DequantizeLinear", m.const(m.rng.integers(-900, 900, 16).astype(np.int32)), m.const(F32(0.001)), m.const(np.int32(0)))
    mean, variance = (m.const((m.rng.random(16) + 0.5).astype(F32)) for _ in range(2))
    return m.done(m.codes(m.op("BatchNormalization", x, scale, shift, mean, variance), F32(0.05), I8(-9)), step=0.05, targets=("cpu",))


FLOATS = {  # reductions, pools and products of codes whose results nobody quantises
    "mean": lambda m, x: m.op("Flatten", m.op("ReduceMean", x, axes=[-1, -2], keepdims=1)),
    "mean_of_channels": lambda m, x: m.op("ReduceMean", x, axes=[1], keepdims=0),
    "largest": lambda m, x: m.op("ReduceMax", x, axes=[2, 3], keepdims=1),
    "pool": lambda m, x: m.op("GlobalAveragePool", x),
    "conv": lambda m, x: m.op("Conv", x, m.weights(m.rng.integers(-127, 128, (24, 16, 3, 3)).astype(I8), np.linspace(0.01, 0.02, 24).astype(F32),
                                                   np.zeros(24, I8)), pads=[1, 1, 1, 1]),
    "product": lambda m, x: m.op("MatMul", m.op("DequantizeLinear", m.op("QuantizeLinear", m.op("Reshape", x, m.const(np.array([6, 64], I64))),
                                                                         m.const(F32(0.05)), m.const(I8(-5))), m.const(F32(0.05)), m.const(I8(-5))),
                                 m.weights(m.rng.integers(-127, 128, (64, 20)).astype(I8), F32(0.02), I8(0))),
}


def floats_of_codes(label, build):
    """What is made of codes is f32: exact sums, scaled once."""
    m = Maker(label)
    return m.done(build(m, m.codes(m.input("x", 1, 16, 6, 4), F32(0.05), I8(-5))), targets=("cpu", "simnpu"))


for name, build in FLOATS.items():
    CASES[f"floats_of_codes_{name}"] = lambda a=(f"floats_of_codes_{name}", build): floats_of_codes(*a)


@case
def heads_scaled_by_a_code():
    """Two heads of queries, behind a Squeeze, times one code: there are no channels over which it could be a row."""
    m = Maker("heads_scaled_by_a_code")
    x = m.codes(m.input("x", 1, 2, 7, 32), F32(0.05), I8(17))
    y = m.codes(m.op("Transpose", m.op("Reshape", x, m.const(np.array([1, 1, 2, 7, 32], I64))), perm=[1, 0, 2, 3, 4]), F32(0.05), I8(17))
    for kind, factor in ("Mul", F32(0.04)), ("Add", F32(0.07)), ("Sub", F32(0.07)):
        y = m.codes(m.op(kind, y, m.weights(np.array([127], I8), F32(0.004), I8(-128))), factor)
    return m.done(y, step=0.07, targets=("cpu", "simnpu"))


@case
def half_rows_put_together():
    """Eight channels, and eight made of them by a padded convolution, are put together: the second part begins inside a row
    of lanes, but the convolution reads rows of them."""
    m = Maker("half_rows_put_together")

    def conv(x, ins, outs, kernel, group, scale):
        w = m.weights(m.rng.integers(-127, 128, (outs, ins // group, kernel, kernel)).astype(I8), np.full(outs, 0.01, F32), np.zeros(outs, I8))
        return m.codes(m.op("Conv", x, w, group=group, pads=[kernel // 2] * 4), F32(scale))

    a = conv(m.codes(m.input("x", 1, 16, 96, 97), F32(0.05)), 16, 8, 1, 1, 0.3)
    b = conv(a, 8, 8, 3, 8, 0.2)
    return m.done(conv(m.codes(m.op("Concat", a, b, axis=1), F32(0.3)), 16, 8, 1, 1, 1.0), step=1, targets=("cpu", "simnpu"), bisect=True)


@case
def gathered_in_order():
    """Constant indices of four dims that only count, as exporters write a strided view: the same elements under another shape."""
    m = Maker("gathered_in_order")
    x = m.op("ReduceMean", m.codes(m.input("x", 1, 32, 5, 5), F32(0.05)), axes=[2, 3], keepdims=1)
    order = m.const(np.arange(32, dtype=I64).reshape(1, 32, 1, 1))
    return m.done(m.codes(m.op("Gather", m.op("Reshape", x, m.const(np.array([-1], I64))), order, axis=0), F32(0.02)), step=0.02, targets=("cpu", "simnpu"))


@case
def rows_by_their_lengths():
    """Four heads of rows divided by their lengths: to sums over rows the heads are no channels, rows of lanes have no room."""
    m = Maker("rows_by_their_lengths")
    x = m.codes(m.input("x", 1, 4, 12, 64), F32(0.05))
    lengths = m.op("Expand", m.op("Clip", m.op("ReduceL2", x, axes=[-1], keepdims=1), m.const(F32(1e-12))), m.const(np.array([1, 4, 12, 64], I64)))
    return m.done(m.codes(m.op("Transpose", m.op("Div", x, lengths), perm=[0, 1, 3, 2]), F32(0.01)), step=0.01, targets=("cpu", "simnpu"))


@case
def scores_of_37_keys():
    """Queries and keys are parts of one matrix; the keys, which fill no whole vectors, are walked as columns."""
    m = Maker("scores_of_37_keys")
    x = m.codes(m.input("x", 37, 64), F32(0.2), I8(-3))
    heads = m.codes(m.op("Reshape", x, m.const(np.array([1, 37, 2, 32], I64))), F32(0.2), I8(-3))
    m.nodes.append(helper.make_node("Split", [heads, m.const(np.array([16, 16], I64))], ["q", "k"], axis=3, name="split"))
    q, k = (m.codes(m.op("Transpose", m.codes(part, F32(0.2), I8(-3)), perm=perm), F32(0.2), I8(-3)) for part, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1])))
    return m.done(m.codes(m.op("MatMul", q, k), F32(2)), step=2, targets=("cpu", "cpu:v3", "cpu:avx512"), bisect=True)


@case
def padded_parts_of_channels():
    """Padded convolutions of parts of the channels: nothing is around a part along them, so that tiles read it through a box."""
    m = Maker("padded_parts_of_channels")
    x = m.codes(m.input("x", 1, 48, 96, 97), F32(0.05), I8(5))
    parts = []
    for first in 0, 16:
        part = m.op("Slice", x, m.const(np.array([first], I64)), m.const(np.array([first + 16], I64)), m.const(np.array([1], I64)))
        w = m.weights(m.rng.integers(-127, 128, (16, 1, 3, 3)).astype(I8), np.full(16, 0.01, F32), np.zeros(16, I8))
        parts.append(m.codes(m.op("Conv", m.codes(part, F32(0.05), I8(5)), w, group=16, pads=[1, 1, 1, 1]), F32(0.1)))
    return m.done(m.codes(m.op("Concat", *parts, axis=1), F32(0.1)), step=0.1, targets=("cpu", "simnpu"), bisect=True)


@case
def volume_of_codes():
    """A convolution over three dims has no form on codes: it is one of floats, and says so."""
    m = Maker("volume_of_codes")
    x = m.codes(m.input("x", 1, 4, 5, 6, 7), F32(0.05))
    w = m.weights(m.rng.integers(-127, 128, (8, 4, 3, 3, 3)).astype(I8), np.full(8, 0.02, F32), np.zeros(8, I8))
    return m.done(m.codes(m.op("Relu", m.op("Conv", x, w, pads=[1] * 6)), F32(0.3), I8(-128)), step=0.3, targets=("cpu", ), says=("PB2032", ))


@case
def biases_of_32_bits():
    """The codes of biases fill 32 bits, as quantisers clamp them: no sum of codes holds one and a product, and they are added behind it."""
    m = Maker("biases_of_32_bits")
    x = m.codes(m.input("x", 1, 16, 5, 6), F32(0.05))
    scales = np.full(8, 1e-9, F32)
    w = m.weights(m.rng.integers(-127, 128, (8, 16, 1, 1)).astype(I8), scales, np.zeros(8, I8))
    bias = m.op("DequantizeLinear", m.const(np.array([2**31 - 1, -(2**31), 5, 0, -7, 1 << 30, 3, 2**31 - 9], I32)), m.const(F32(0.05) * scales),
                m.const(np.zeros(8, I32)), axis=0)
    return m.done(m.codes(m.op("Conv", x, w, bias), F32(0.001)), step=0.001)


PRODUCTS = {  # operator, its operand, its weights, attributes
    "conv": ("Conv", (1, 16, 5, 6), (8, 16, 3, 3), {"pads": [1] * 4}),
    "depthwise": ("Conv", (1, 16, 9, 7), (16, 1, 3, 3), {"group": 16, "pads": [1] * 4}),
    "line": ("Conv", (1, 16, 21), (24, 16, 3), {"pads": [1, 1]}),
    "gemm": ("Gemm", (5, 48), (24, 48), {"transB": 1}),
    "transposed": ("ConvTranspose", (1, 16, 5, 4), (16, 8, 2, 2), {"strides": [2, 2]}),
}


def biases_apart(label, kind, floats, numbers):
    """Biases that 32 bits do not hold beside the products, or numbers of f32: of codes, then Relu and codes, or floats."""
    op, shape, weights, attrs = PRODUCTS[kind]
    m = Maker(label)
    outs, scale = weights[1 if op == "ConvTranspose" else 0], F32(0.02 if numbers else 1e-9)
    x = m.codes(m.input("x", *shape), F32(0.05), I8(-9))
    w = m.weights(m.rng.integers(-127, 128, weights).astype(I8), scale, I8(0))
    codes = m.rng.integers(-(2**31), 2**31, outs)
    codes[:2] = 2**31 - 1, -(2**31)
    bias = m.const(m.rng.uniform(-40, 40, outs).astype(F32)) if numbers else m.op("DequantizeLinear", m.const(codes.astype(I32)), m.const(F32(0.05) * scale))
    y = m.op(op, x, w, bias, **attrs)
    step = 0.5 if numbers else 0.001
    return m.done(y) if floats else m.done(m.codes(m.op("Relu", y), F32(step), I8(-128)), step=step, bisect=kind == "conv")


for kind in PRODUCTS:
    for floats in (False, True) if kind in ("conv", "gemm") else (False, ):
        for numbers in False, True:
            label = f"biases_apart_{kind}{'_floats' if floats else ''}{'_numbers' if numbers else ''}"
            CASES[label] = lambda a=(label, kind, floats, numbers): biases_apart(*a)


def channels_of_parts(label, first, second):
    """Channels of two parts, neither of which fills rows of lanes: half of them come from a depthwise convolution of the other half, a gate
    multiplies all, a projection sums them, and of what that makes two parts go through windows of their own and come together."""
    m = Maker(label)

    def conv(x, ins, outs, kernel=1, groups=1, of=0.1, scale=0.1, act=True):
        scales = m.rng.uniform(0.004, 0.02, outs).astype(F32)
        w = m.weights(m.rng.integers(-127, 128, (outs, ins // groups, kernel, kernel)).astype(I8), scales, np.zeros(outs, I8))
        codes = m.const(m.rng.integers(-3000, 3000, outs).astype(I32))
        b = m.op("DequantizeLinear", codes, m.const(F32(of) * scales), m.const(np.zeros(outs, I32)), axis=0)
        y = m.op("Conv", x, w, b, group=groups, pads=[kernel // 2] * 4)
        return m.codes(m.op("Relu", y) if act else y, F32(scale), I8(-128 if act else 3))

    def part(x, begin, end):
        y = m.op("Slice", x, m.const(np.array([begin], I64)), m.const(np.array([end], I64)), m.const(np.array([1], I64)))
        return m.codes(y, F32(0.2), I8(3))

    x = m.codes(m.input("x", 1, 16, 9, 11), F32(0.05))
    one = conv(x, 16, first, of=0.05)
    two = conv(one, first, first, 3, first)
    both = m.codes(m.op("Concat", one, two, axis=1), F32(0.1), I8(-128))
    gate = conv(m.codes(m.op("GlobalAveragePool", both), F32(0.1), I8(-128)), 2 * first, 2 * first, scale=0.02)
    y = conv(m.codes(m.op("Mul", both, gate), F32(0.1), I8(-128)), 2 * first, first + second, scale=0.2, act=False)
    parts = [conv(part(y, 0, first), first, first, 3, first, 0.2, 0.2, False), conv(part(y, first, first + second), second, second, 5, second, 0.2, 0.2, False)]
    together = m.codes(m.op("Concat", *parts, axis=1), F32(0.2), I8(3))
    y = m.codes(m.op("Add", together, y), F32(0.3))
    return m.done(conv(y, first + second, 16, of=0.3, scale=0.4, act=False), by_layers=True, bisect=True)


for first, second in (24, 20), (40, 8), (12, 30):
    CASES[f"channels_of_parts_{first}_{second}"] = lambda a=(f"channels_of_parts_{first}_{second}", first, second): channels_of_parts(*a)


@case
def guarded_softmax():
    """Exporters guard softmax against rows of which all is masked, Where(IsNaN(y), 0, y): codes are numbers, and no comparison is left."""
    m = Maker("guarded_softmax")
    y = m.codes(m.op("Softmax", m.codes(m.input("x", 1, 6, 24, 24), F32(0.05)), axis=-1), F32(1 / 255), I8(-128))
    y = m.codes(m.op("Where", m.op("IsNaN", y), m.const(F32(0)), y), F32(1 / 255), I8(-128))
    return m.done(y, step=1 / 255, operators=5)


def in_floats(name, build):
    """Between codes what integers do not say: its row has it in floats; it was refused."""
    m = Maker(name)
    return m.done(m.codes(build(m), F32(0.1)), step=0.1, targets=("cpu", ))


def constant_codes(m, *shape, axis=None):
    codes = m.rng.integers(-128, 128, shape).astype(I8)
    scale = np.linspace(0.01, 0.02, 1 if axis is None else shape[axis]).astype(F32)
    zero = np.zeros(scale.shape, I8)
    more = {} if axis is None else {"axis": axis}
    return m.op("DequantizeLinear", m.const(codes), m.const(scale if more else scale[0]), m.const(zero if more else zero[0]), **more)


for label, build in {
        "both_repeat": lambda m: m.op("Mul", constant_codes(m, 8, 1), m.codes(m.input("x", 1, 1, 64), F32(0.05))),
        "matrices_of_weights": lambda m: m.op("MatMul", m.codes(m.input("x", 6, 16, 32), F32(0.05)), constant_codes(m, 6, 32, 16, axis=1)),
        "first_factor": lambda m: m.op("MatMul", constant_codes(m, 6, 16, 32, axis=0), m.codes(m.input("x", 6, 32, 16), F32(0.05))),
        "bias_of_codes": lambda m: m.op("Gemm", m.codes(m.input("x", 16, 32), F32(0.05)), constant_codes(m, 32, 16, axis=1), constant_codes(m, 16)),
}.items():
    CASES[f"in_floats_{label}"] = lambda label=label, build=build: in_floats(f"in_floats_{label}", build)


def rows_of_codes(label, kind):
    """An embedding whose table is codes, as a static quantiser leaves it: their rows are gathered, and no table of floats is made."""
    m = Maker(label)
    table = m.rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, (40, 16)).astype(kind)
    zero = kind(7)
    rows = m.op("Gather", m.op("DequantizeLinear", m.const(table), m.const(F32(0.05)), m.const(zero)), m.const(np.array([[3, 39], [0, 17], [5, -1]], I64)))
    y = m.op("Add", m.codes(rows, F32(0.05), zero), m.codes(m.input("x", 3, 2, 16), F32(0.05)))
    return m.done(m.codes(y, F32(0.1)), step=0.1, targets=("cpu",), operators=4)


for kind in I8, U8:
    CASES[f"rows_of_codes_{kind.__name__}"] = lambda kind=kind: rows_of_codes(f"rows_of_codes_{kind.__name__}", kind)


@case
def keys_out_of_a_split():
    """Keys and values of a head lie side by side, of other widths: rows of lanes, though the heads' distance is no multiple of either."""
    m = Maker("keys_out_of_a_split")
    x = m.codes(m.input("x", 20, 160), F32(0.2), I8(-3))
    heads = m.codes(m.op("Reshape", x, m.const(np.array([1, 20, 2, 80], I64))), F32(0.2), I8(-3))
    m.nodes.append(helper.make_node("Split", [heads, m.const(np.array([16, 64], I64))], ["k", "v"], axis=3, name="split"))
    k, v = (m.codes(m.op("Transpose", m.codes(part, F32(0.2), I8(-3)), perm=perm), F32(0.2), I8(-3)) for part, perm in (("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])))
    queries = m.codes(m.op("Reshape", m.codes(m.input("q", 9, 32), F32(0.2)), m.const(np.array([1, 9, 2, 16], I64))), F32(0.2))
    q = m.codes(m.op("Transpose", queries, perm=[0, 2, 1, 3]), F32(0.2))
    p = m.codes(m.op("Softmax", m.codes(m.op("MatMul", q, k), F32(0.3)), axis=-1), F32(1 / 255), I8(-128))
    return m.done(m.codes(m.op("MatMul", p, v), F32(0.05)), step=0.05, targets=("cpu", "simnpu"), bisect=True)


@case
def response_norm():
    """Lengths of planes over their mean, in f32 between codes: a sum over what is no row, and one number that all channels meet."""
    m = Maker("response_norm")
    x = m.codes(m.input("x", 1, 48, 7, 9), F32(0.05))
    lengths = m.op("ReduceL2", x, axes=[2, 3], keepdims=1)
    mean = m.op("ReduceMean", lengths, axes=[1], keepdims=1)
    return m.done(m.codes(m.op("Mul", x, m.op("Div", lengths, m.op("Add", mean, m.const(F32(1e-6))))), F32(0.1)), step=0.1, targets=("cpu", "simnpu"))


@case
def norm_of_large_planes():
    """Planes of f32 that have no room beside each other in the accumulator are summed in parts, onto what is there."""
    m = Maker("norm_of_large_planes")
    x = m.codes(m.input("x", 1, 16, 64, 48), F32(0.05))
    gain, shift = m.const(np.linspace(0.5, 2, 16, dtype=F32)), m.const(np.linspace(-1, 1, 16, dtype=F32))
    means = m.op("ReduceMean", x, axes=[2, 3], keepdims=1)
    return m.done(m.codes(m.op("InstanceNormalization", x, gain, shift), F32(0.05)), m.codes(means, F32(0.001)), step=0.05, targets=("cpu", "simnpu"))


@case
def squeeze_of_large_planes():
    """The same of what a nest in front of the sums computes, as squeeze and excitation takes it: whole planes of products."""
    m = Maker("squeeze_of_large_planes")
    x = m.codes(m.input("x", 1, 16, 64, 48), F32(0.05))
    gate = m.op("Sigmoid", m.op("GlobalAveragePool", m.op("Mul", x, m.op("Sigmoid", x))))
    return m.done(m.codes(m.op("Mul", x, gate), F32(0.05)), step=0.05, targets=("cpu", "simnpu"))


def products_of_pairs(rows):
    """Sums of two products of computed codes, as many as an instruction of cores adds up at once; what is subtracted from both, it left out."""
    m = Maker(f"products_of_pairs_{rows}", opset=17)
    x = m.codes(m.input("x", 3, rows, 2), F32(0.05), I8(17))
    y = m.op("MatMul", x, m.codes(m.op("Transpose", x, perm=[0, 2, 1]), F32(0.05), I8(17)))
    return m.done(m.codes(y, F32(0.05), I8(0)), step=0.05, targets=("cpu", "cpu:v3", "cpu:avx512"), bisect=True)


for rows in 8, 24, 31:
    CASES[f"products_of_pairs_{rows}"] = lambda rows=rows: products_of_pairs(rows)


@case
def lines_by_constants():
    """Sizes are doubled by means of neighbours: each line has a factor that all its channels share, a constant in another shape."""
    m = Maker("lines_by_constants")
    w = m.weights(m.rng.integers(-127, 128, (24, 16, 1, 1)).astype(I8), F32(0.005), I8(0))
    x = m.codes(m.op("Conv", m.codes(m.input("x", 1, 16, 7, 5), F32(0.05)), w), F32(0.1))
    y = m.op("Resize", x, "", m.const(np.array([1, 1, 2, 2], F32)), mode="linear", coordinate_transformation_mode="half_pixel")
    return m.done(m.codes(y, F32(0.1)), step=0.1, targets=("cpu", "simnpu"), bisect=True)


@case
def mean_of_a_row_of_two():
    """Rows of two codes, softmax and their means: an operator is left plain, and so is the number of each row that it shares with others."""
    m = Maker("mean_of_a_row_of_two", opset=17)
    p = m.codes(m.op("Softmax", m.codes(m.input("x", 3, 1, 1, 2), F32(0.031), U8(128)), axis=-1), F32(1 / 255), U8(0))
    return m.done(m.codes(m.op("GlobalAveragePool", p), F32(1 / 765), U8(123)), step=1 / 765, targets=("cpu", "simnpu"), bisect=True)


@case
def largest_of_lines_into_a_dense_layer():
    """Largest codes of each line, one channel: movers bring one element of a row of lanes, so that the tensor may not stay on the chip as it lies."""
    m = Maker("largest_of_lines_into_a_dense_layer")
    x = m.codes(m.input("x", 1, 31, 6, 6), F32(0.05), I8(-5))
    largest = m.codes(m.op("ReduceMax", x, axes=[1, 3], keepdims=1), F32(0.05), I8(-5))
    row = m.codes(m.op("Flatten", largest), F32(0.05), I8(-5))
    w = m.weights(m.rng.integers(-128, 128, (6, 3)).astype(I8), F32(0.03), I8(0))
    return m.done(m.codes(m.op("MatMul", row, w), F32(0.2), I8(-5)), step=0.2, targets=("cpu", "simnpu"))


@case
def turned_by_products():
    """Codes that are turned between a product over rows and one over columns, and at the graph's edge: the array turns tiles of them."""
    m = Maker("turned_by_products")
    x = m.codes(m.input("x", 1, 48, 64), F32(0.05))
    w = m.weights(m.rng.integers(-127, 128, (64, 64)).astype(I8), F32(0.005), I8(0))
    y = m.codes(m.op("MatMul", x, w), F32(0.2))
    v = m.weights(m.rng.integers(-127, 128, (48, 32)).astype(I8), F32(0.005), I8(0))
    z = m.codes(m.op("MatMul", m.codes(m.op("Transpose", y, perm=[0, 2, 1]), F32(0.2)), v), F32(0.4))
    return m.done(m.codes(m.op("Transpose", z, perm=[0, 2, 1]), F32(0.4)), step=0.4, targets=("cpu", "simnpu", "simnpu:8"), bisect=True)


@case
def exponentials_in_many_commands():
    """Functions of f32 that some thirty commands compute: values between lie where others did, numbers stand for the whole kernel."""
    m = Maker("exponentials_in_many_commands")
    x = m.input("x", 6, 1040)
    return m.done(m.op("Add", m.op("Exp", x), m.op("Softplus", m.op("Mul", x, m.const(F32(-3))))), targets=("cpu", "simnpu", "simnpu:8"), bisect=True)


@case
def positions_of_heads():
    """Relative positions as SAM adds them, a number for a row and a row for a line: numbers come as one row of lanes of each two, the sum is
    quantised where it is made, and nothing is copied only to have another shape."""
    m = Maker("positions_of_heads")
    h, w = m.codes(m.input("h", 3, 8, 8, 8, 1), F32(0.02)), m.codes(m.input("w", 3, 8, 8, 1, 32), F32(0.03))
    both = m.codes(m.op("Add", h, w), F32(0.05))
    scores = m.codes(m.op("Reshape", m.input("x", 192, 256), m.const(np.array([3, 64, 256]))), F32(0.04))
    y = m.op("Add", scores, m.op("Reshape", both, m.const(np.array([3, 64, 256]))))
    z = m.op("Mul", m.op("Reshape", y, m.const(np.array([3, 64, 8, 32]))), m.input("v", 3, 64, 8, 1))
    return m.done(m.codes(m.op("Reshape", z, m.const(np.array([48, 1024]))), F32(0.05)), step=0.05, targets=("cpu", "simnpu", "simnpu:8"), bisect=True)


@case
def gated_sums_of_floats():
    """Products of f32 that commands make row by row and sum along rows, of constants that are read where they lie; of a gate, a number for
    each channel, what commands make is made once."""
    m = Maker("gated_sums_of_floats")
    y = m.op("MatMul", m.input("x", 24, 96), m.const(m.rng.standard_normal((96, 40)).astype(F32)))
    image = m.codes(m.op("Reshape", y, m.const(np.array([1, 16, 6, 10]))), F32(0.3))
    gate = m.codes(m.op("Sigmoid", m.op("ReduceMean", image, axes=[2, 3], keepdims=1)), F32(1 / 128), I8(-128))
    return m.done(m.codes(m.op("Mul", image, gate), F32(0.2)), step=0.2, targets=("cpu", "simnpu", "simnpu:8"), bisect=True)


def function_of_codes(label, scale, back, type_back=I8, by_input=False, **known):
    """No table where a scale is no number or a type is another: the function between is computed, and not lost with the table."""
    m = Maker(label, opset=21)
    x = m.codes(m.input("x", 2, 32), F32(scale), I8(0))
    names = [m.input("s", values=np.array(back, F32)) if by_input else m.const(F32(back)), m.const(type_back(0))]
    between = m.op("Add", m.op("Sigmoid", x), m.const(F32(0.25)))
    return m.done(m.op("DequantizeLinear", m.op("QuantizeLinear", between, *names), *names), targets=("cpu",), **known)


SCALE = {"says": ("PB2033",)}
for label, args in {
    "function_of_codes_scaled_by_0": (0, 0.1, I8, False, SCALE), "function_of_codes_scaled_by_nan": (np.nan, 0.1, I8, False, SCALE),
    "function_of_codes_to_a_scale_of_0": (0.1, 0, I8, False, SCALE), "function_of_codes_to_16_bits": (0.1, 0.001, np.int16),
    "function_of_codes_to_a_scale_that_comes": (0.1, 0.01, I8, True), "function_of_codes_to_a_tiny_scale": (0.1, 1e-40)}.items():
    CASES[label] = lambda label=label, args=args: function_of_codes(label, *args[:4], **(args[4] if len(args) > 4 else {}))


@case
def product_scaled_by_0_on_codes_alone():
    """What was to be in codes is computed in floats, and a warning says which scale that comes of."""
    m = Maker("product_scaled_by_0_on_codes_alone")
    x = m.codes(m.input("x", 4, 32), F32(0.1))
    w = m.weights(m.rng.integers(-100, 100, (32, 16)).astype(I8), F32(0), I8(0))
    return m.done(m.codes(m.op("MatMul", x, w), F32(0.1)), targets=("simnpu",), says=("PB2033",))


def zero_point_of_sums(label, build, constant=True):
    """Codes of int32 have no zero point but 0, by ONNX: ONNX Runtime wraps some of those that are not."""
    m = Maker(label)
    zero = m.const(I32(7)) if constant else m.op("Cast", m.input("z", values=np.array(7, F32)), to=6)
    return m.done(build(m, zero), refused="PB2020", says=("of int32 by a zero point", "ONNX says"))


def bias_with_zero(m, zero):
    b = m.op("DequantizeLinear", m.const(np.arange(8, dtype=I32)), m.const(F32(0.05) * F32(0.02)), zero)
    return m.codes(m.op("Gemm", m.codes(m.input("x", 3, 16), F32(0.05)), m.weights(np.full((16, 8), 3, I8), F32(0.02), I8(0)), b), F32(0.1))


def sums_with_zero(m, zero):
    return m.op("DequantizeLinear", m.op("Cast", m.input("x", 3, 16), to=6), m.const(F32(0.5)), zero)


for label, args in {"zero_point_of_a_bias": (bias_with_zero,), "computed_zero_point_of_a_bias": (bias_with_zero, False),
                    "zero_point_of_sums": (sums_with_zero,), "computed_zero_point_of_sums": (sums_with_zero, False)}.items():
    CASES[label] = lambda label=label, args=args: zero_point_of_sums(label, *args)


def pooled_line(label, kind, attrs):
    """Pools over the one dim of lines, between convolutions, which have channels in lanes."""
    m = Maker(label)
    x = m.codes(m.input("x", 2, 12, 37), F32(0.05))
    w = m.weights(m.rng.integers(-127, 128, (24, 12, 3)).astype(I8), F32(0.01), I8(0))
    y = m.codes(m.op(kind, m.codes(m.op("Conv", x, w), F32(0.1)), **attrs), F32(0.1 if kind == "MaxPool" else 0.07))
    if kind == "GlobalAveragePool":
        return m.done(y, step=0.07, bisect=True)
    v = m.weights(m.rng.integers(-127, 128, (20, 24, 1)).astype(I8), F32(0.002), I8(0))
    return m.done(m.codes(m.op("Conv", y, v), F32(0.1)), step=0.2, bisect=True)


for label, args in {
    "average_of_lines": ("AveragePool", {"kernel_shape": [2], "strides": [2]}),
    "average_of_padded_lines": ("AveragePool", {"kernel_shape": [5], "strides": [3], "pads": [2, 1]}),
    "average_of_counted_pads_of_lines": ("AveragePool", {"kernel_shape": [4], "strides": [2], "pads": [1, 2], "count_include_pad": 1}),
    "largest_of_lines": ("MaxPool", {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
    "average_of_whole_lines": ("GlobalAveragePool", {})}.items():
    CASES[label] = lambda label=label, args=args: pooled_line(label, *args)


@case
def largest_of_large_windows():
    """Codes of a pyramid of pools, as detectors have it: along rows, then along columns."""
    m = Maker("largest_of_large_windows")
    w = m.weights(m.rng.integers(-127, 128, (24, 16, 1, 1)).astype(I8), F32(0.01), I8(0))
    x = m.codes(m.op("Conv", m.codes(m.input("x", 1, 16, 13, 12), F32(0.05)), w), F32(0.1))
    pooled = [m.codes(m.op("MaxPool", x, kernel_shape=[k, k], pads=[k // 2] * 4), F32(0.1)) for k in (5, 9, 13)]
    return m.done(m.codes(m.op("Concat", x, *pooled, axis=1), F32(0.1)), step=0.1, targets=("cpu", "simnpu"), bisect=True)


def gated_by_a_resize(label, part, scale):
    """Channels that are put together times a gate that is made small and resized: parts begin at whole rows of lanes though the resize
    goes by tensors of more dims than an image, and codes are what it moves."""
    m = Maker(label)
    x = m.codes(m.input("x", 1, 16, 6, 8), F32(0.05))
    halves = codes_conv(m, x, 16, part, 1), codes_conv(m, x, 16, part, 3, pads=[1] * 4)
    joined = m.codes(m.op("Concat", *halves, axis=1), F32(0.3))
    small = m.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    gate = m.codes(m.op("Sigmoid", codes_conv(m, m.codes(small, F32(0.03)), 16, 2 * part, 1)), F32(1 / 256), I8(-128))
    wide = m.op("Resize", gate, "", m.const(np.array([1, 1, scale, scale], F32)), mode="nearest", nearest_mode="floor",
                coordinate_transformation_mode="asymmetric")
    product = m.codes(m.op("Mul", joined, wide), F32(0.3))
    return m.done(codes_conv(m, product, 2 * part, 24, 1, scale=F32(2)), step=2, bisect=True)


for _part in (24, 16, 5):
    CASES[f"gated_by_a_resize_{_part}"] = lambda p=_part: gated_by_a_resize(f"gated_by_a_resize_{p}", p, 2)


def image_behind_a_token(label, channels, readers):
    """The pixels of an image, rows now, behind one more: lines and columns are joined where the rows are made, and what turns is made
    once for all that read it."""
    m = Maker(label)
    x = m.codes(m.input("x", 1, 16, 5, 6), F32(0.05))
    image = codes_conv(m, x, 16, channels, 1)
    flat = m.op("Reshape", image, m.const(np.array([1, channels, 30], I64)))
    token = m.codes(m.input("t", 1, channels, 1), F32(0.05))
    joined = m.codes(m.op("Concat", token, m.codes(flat, F32(0.2)), axis=2), F32(0.25))
    rows = m.codes(m.op("Transpose", joined, perm=[0, 2, 1]), F32(0.25))
    w = m.weights(m.rng.integers(-127, 128, (channels, channels)).astype(I8), F32(0.01), I8(0))
    y = m.codes(m.op("MatMul", rows, w), F32(1.5))
    outs = [m.codes(m.op("Add", rows, y), F32(1.5))] if readers > 1 else [y]
    return m.done(*outs, step=3, bisect=True)


for _channels in (24, 32):
    for _readers in (1, 2):
        CASES[f"image_behind_a_token_{_channels}_{_readers}"] = lambda c=_channels, r=_readers: image_behind_a_token(
            f"image_behind_a_token_{c}_{r}", c, r)
