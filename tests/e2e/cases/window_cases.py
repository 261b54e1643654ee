"""Cases of regressions.py: windows of which some columns meet padding alone, wherever they stand (core/s1/rewrite/live_window.c), and
windows of codes over one dim; and channels that do not fill their blocks: groups, and parts (core/s3/legalise/parts.c)."""

import numpy as np
from regression_cases import CASES, F32, I8, I64, U8, Maker, case, codes_conv

ATROUS = [  # image, kernel, dilations, strides, pads
    ("all_but_one", (7, 7), (3, 3), (8, 8), (1, 1), (8, 8, 8, 8)),
    ("in_front", (9, 6), (3, 3), (7, 6), (1, 1), (14, 12, 0, 0)),
    ("behind", (9, 6), (3, 3), (7, 6), (1, 1), (0, 0, 14, 12)),
    ("along_rows", (9, 5), (3, 5), (1, 3), (1, 1), (1, 6, 1, 6)),
    ("with_strides", (8, 8), (3, 3), (9, 10), (2, 3), (9, 10, 9, 10)),
    ("of_even_size", (5, 5), (4, 2), (6, 6), (1, 1), (12, 6, 6, 0)),
    ("far_behind", (4, 4), (2, 2), (9, 9), (1, 1), (0, 3, 9, 8)),
]


def atrous(label, image, kernel, dilations, strides, pads, outs, **more):
    m = Maker(label)
    attrs = {"kernel_shape": list(kernel), "dilations": list(dilations), "strides": list(strides), "pads": list(pads)}
    x = m.input("x", 1, 16, *image)
    if more.pop("codes", False):
        w = m.weights(m.rng.integers(-127, 128, (outs, 16, *kernel)).astype(np.int8), F32(0.01), np.int8(0))
        return m.done(m.codes(m.op("Conv", m.codes(x, F32(0.05)), w, **attrs), F32(0.3)), step=0.3)
    w = m.rng.standard_normal((outs, 16, *kernel)).astype(F32)
    if more.pop("infinite", False):
        w[0, 0, 0, 0] = np.inf
    return m.done(m.op("Conv", x, m.const(w), m.const(m.rng.standard_normal(outs).astype(F32)), **attrs), targets=("cpu",))


for _name, *_facts in ATROUS:
    for _kind in ("codes", "floats"):
        _label = f"atrous_{_name}_{_kind}"
        CASES[_label] = lambda a=(_label, *_facts, 24), c=_kind == "codes": atrous(*a, codes=c)
CASES["atrous_of_an_infinite_weight"] = lambda: atrous("atrous_of_an_infinite_weight", *ATROUS[0][1:], 24, infinite=True)


def atrous_groups(label, group):
    m = Maker(label)
    x = m.codes(m.input("x", 1, 32, 6, 6), F32(0.05))
    y = codes_conv(m, x, 32, 32, 3, group, far=True, dilations=[7, 7], pads=[7] * 4)
    return m.done(y, step=0.3)


for _group in (1, 4, 32):
    _label = f"atrous_in_{_group}_groups"
    CASES[_label] = lambda label=_label, group=_group: atrous_groups(label, group)


LINES = [  # channels, results, kernel, groups, attributes
    ("line", 16, 24, 3, 1, {"pads": [1, 1]}),
    ("line_with_strides", 17, 40, 5, 1, {"strides": [2], "pads": [2, 1]}),
    ("line_dilated", 16, 16, 3, 1, {"dilations": [4], "pads": [4, 4]}),
    ("line_in_groups", 32, 32, 3, 4, {"auto_pad": "SAME_UPPER"}),
    ("line_of_channels", 24, 24, 7, 24, {"pads": [3, 3]}),
    ("line_atrous", 16, 24, 3, 1, {"dilations": [64], "pads": [64, 64]}),
]


def line(label, ins, outs, kernel, group, attrs, far=False):
    """Codes of a convolution over one dim, its weights' zero points perhaps far away."""
    m = Maker(label)
    shape = (outs, ins // group, kernel)
    x = m.codes(m.input("x", 2, ins, 50), F32(0.04))
    if far:
        w = m.weights(m.rng.integers(0, 256, shape).astype(np.uint8), np.full(outs, 0.005, F32), np.full(outs, 255, np.uint8))
    else:
        w = m.weights(m.rng.integers(-127, 128, shape).astype(np.int8), F32(0.01), np.int8(0))
    y = m.codes(m.op("Conv", x, w, group=group, kernel_shape=[kernel], **attrs), F32(2 if far else 0.2))
    return m.done(m.codes(m.op("Relu", y), F32(2 if far else 0.2)), step=2 if far else 0.2)


for _name, *_facts in LINES:
    CASES[f"codes_{_name}"] = lambda a=(f"codes_{_name}", *_facts): line(*a)
CASES["codes_line_far"] = lambda: line("codes_line_far", *LINES[0][1:], far=True)
CASES["codes_line_in_groups_far"] = lambda: line("codes_line_in_groups_far", *LINES[3][1:], far=True)


def groups_that_end_in_a_block(label, infinite):
    """Groups of 8 channels, 16 to a block, whose number is odd: lanes that no channel fills are behind the last one."""
    m = Maker(label)
    draw = lambda *shape: m.const(m.rng.standard_normal(shape).astype(F32))  # noqa: E731
    x = m.input("x", 1, 40, 9, 7)
    if infinite:
        m.feeds["x"][0, 33, 4, 3], m.feeds["x"][0, 5, 1, 1] = np.inf, np.nan
    x = m.op("Conv", m.op("Relu", x), draw(40, 8, 3, 3), draw(40), group=5, pads=[1] * 4)
    x = m.op("Conv", m.op("Relu", x), draw(40, 8, 1, 1), draw(40), group=5)
    return m.done(m.op("Conv", m.op("Sigmoid", x), draw(17, 40, 1, 1), draw(17)), targets=("cpu",))


for _infinite in (False, True):
    _label = f"groups_that_end_in_a_block{'_infinite' * _infinite}"
    CASES[_label] = lambda label=_label, infinite=_infinite: groups_that_end_in_a_block(label, infinite)


def turned_behind(label, channels, behind):
    """What a convolution makes in blocks, a copy alone takes with its channels behind: from the blocks at once (core/s3/layout/edges.c)."""
    m = Maker(label)
    w = m.const(m.rng.standard_normal((channels, 16, 3, 3)).astype(F32))
    y = m.op("Transpose", m.op("Conv", m.input("x", 2, 16, 5, 6), w, pads=[1] * 4), perm=[0, 2, 3, 1])
    return m.done(m.op("Softmax", y, axis=3) if behind else y, targets=("cpu",), bisect=True)


for _channels in (32, 40):
    for _behind in (False, True):
        _label = f"turned_behind_a_convolution_of_{_channels}{'_then_softmax' if _behind else ''}"
        CASES[_label] = lambda label=_label, channels=_channels, behind=_behind: turned_behind(label, channels, behind)


def pooled_into_a_border(label, channels, kind):
    """A pool of blocks of channels of which the last is not full is several reductions, all in one kernel; the border that a convolution
    of groups reads around its result is filled in that kernel too (core/s3/fusion/outline.c)."""
    m = Maker(label)
    draw = lambda *shape: m.const(m.rng.standard_normal(shape).astype(F32))  # noqa: E731
    x = m.op("Conv", m.input("x", 1, channels, 12, 16), draw(channels, 1, 1, 2), draw(channels), group=channels)
    if kind == "MaxPool":
        y = m.op("MaxPool", x, kernel_shape=[1, 3], pads=[0, 2, 0, 0], strides=[2, 1])
    else:
        y = m.op("AveragePool", x, kernel_shape=[2, 3], pads=[0, 1, 0, 1], strides=[1, 1], count_include_pad=1)
    y = m.op("Conv", y, draw(6, channels // 2, 4, 3), group=2, pads=[4, 2, 3, 0], strides=[1, 2], dilations=[2, 1])
    return m.done(y, targets=("cpu", "cpu:v3"))


for _channels in (20, 34, 50):
    for _kind in ("MaxPool", "AveragePool"):
        _label = f"{_kind.lower()}_of_{_channels}_into_a_border"
        CASES[_label] = lambda label=_label, channels=_channels, kind=_kind: pooled_into_a_border(label, channels, kind)


def infinity_in_parts(label, first, second, between):
    """An infinity becomes zeros in two parts of channels that fill no rows of lanes; a sum over both, and over other parts of what it
    makes, never sees it, nor what stands between the parts."""
    m = Maker(label, opset=14)
    x = m.input("x", 1, 16, 6, 5)
    m.feeds["x"][0, 3, 2, 2] = np.inf

    def conv(y, ins, outs, sign=0):
        w = m.rng.standard_normal((outs, ins, 1, 1)).astype(F32)
        return m.op("Conv", y, m.const(sign * np.abs(w) if sign else w), m.const(m.rng.standard_normal(outs).astype(F32)))

    def part(y, begin, end):
        return m.op("Slice", y, m.const(np.array([begin], I64)), m.const(np.array([end], I64)), m.const(np.array([1], I64)))

    both, channels = m.op("Concat", *(between(m, conv(x, 16, c, -1), c) for c in (first, second)), axis=1), first + second
    y = conv(both, channels, channels)
    one, two = conv(part(y, 0, second), second, second), part(y, second, channels)
    y = m.op("Concat", m.op("Add", one, part(both, first, channels)), two, axis=1)
    return m.done(conv(y, channels, 9), targets=("cpu", "cpu:v3"))


PARTS_BEHIND_INFINITY = {
    "relu": lambda m, y, c: m.op("Relu", y),
    "sum": lambda m, y, c: y,
    "depthwise": lambda m, y, c: m.op("Conv", m.op("Relu", y), m.const(m.rng.standard_normal((c, 1, 3, 3)).astype(F32)), group=c, pads=[1] * 4),
    "largest": lambda m, y, c: m.op("MaxPool", m.op("Relu", y), kernel_shape=[2, 2], pads=[1, 0, 0, 1]),
    "largest_of_sums": lambda m, y, c: m.op("MaxPool", y, kernel_shape=[2, 2], pads=[1, 0, 0, 1]),
    "padded": lambda m, y, c: m.op("Pad", m.op("Relu", y), m.const(np.array([0, 0, 1, 0, 0, 0, 0, 2], I64)), m.const(F32(-np.inf))),
}
for _kind, _between in PARTS_BEHIND_INFINITY.items():
    for _first, _second in (20, 12), (3, 26):
        _label = f"infinity_in_parts_{_kind}_{_first}_{_second}"
        CASES[_label] = lambda a=(_label, _first, _second, _between): infinity_in_parts(*a)


def by_tiles(label, ins=64, outs=64, size=(14, 14), pads=(1, 1, 1, 1), zero=I8(3), images=1, far=False, extreme=False, skip=False, twice=False, bisect=False):
    """Convolutions that cores with factors of 16 bits make tile by tile (core/s3/legalise/winograd.c); extreme: tiles and weights are as
    far from 0 as they can be."""
    m = Maker(label)
    signs = np.where(np.arange(max(*size, 4)) // 2 % 2, -1, 1)
    values = 100 * np.ones((images, ins, 1, 1)) * signs[:size[0], None] * signs[:size[1]] if extreme else None
    x = m.codes(m.input("x", images, ins, *size, values=values), F32(0.05), zero)
    kind = np.uint8 if far else np.int8
    codes = m.rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, (outs, ins, 3, 3)).astype(kind)
    if extreme:
        codes[:] = np.where(np.arange(outs) % 2, 127, -128)[:, None, None, None]
        codes[::3, :, 1] = 127
        codes[::5, :, :, 1] = -128
    w = m.weights(codes, np.full(outs, 0.003, F32), np.full(outs, 255 if far else 0, kind))
    bias = m.op("DequantizeLinear", m.const(m.rng.integers(-9999, 9999, outs).astype(np.int32)), m.const(np.full(outs, F32(0.05) * F32(0.003))),
                m.const(np.zeros(outs, np.int32)), axis=0)
    scale = F32(8 if extreme or far else 0.3)
    y = m.codes(m.op("Conv", x, w, bias, pads=list(pads)), scale, zero)
    if twice:  # other tiles of the same tensor
        y = m.codes(m.op("Add", y, m.codes(m.op("Conv", x, w, pads=list(pads[2:] + pads[:2])), scale, zero)), scale, zero)
    if skip:
        y = m.codes(m.op("Relu", m.op("Add", y, x)), scale, zero)
    return m.done(y, step=scale, targets=("cpu:v3", ), bisect=bisect)


TILES = {
    "plain": {"bisect": True},
    "without_pads": {"pads": (0, 0, 0, 0), "size": (16, 18)},
    "padded_unevenly": {"pads": (0, 2, 2, 0), "size": (12, 14), "images": 3},
    "padded_far": {"pads": (3, 3, 3, 3), "size": (10, 8)},
    "odd": {"size": (13, 15), "bisect": True},
    "odd_without_pads": {"pads": (0, 0, 0, 0), "size": (15, 17)},
    "odd_twice": {"pads": (2, 0, 0, 1), "size": (13, 16), "twice": True},
    "odd_skip": {"size": (15, 13), "skip": True},
    "odd_rows": {"size": (15, 14), "images": 2},
    "odd_columns": {"pads": (1, 0, 1, 1), "size": (14, 14)},
    "unsigned": {"zero": np.uint8(200)},
    "channels": {"ins": 69, "outs": 75, "size": (16, 20)},
    "few_results": {"ins": 128, "outs": 36, "size": (20, 20)},
    "images": {"images": 2, "size": (12, 10)},
    "skip": {"skip": True, "images": 2},
    "far": {"far": True},
    "extreme": {"extreme": True, "zero": I8(-128), "pads": (0, 0, 0, 0), "size": (18, 18)},
    "extreme_above": {"extreme": True, "zero": I8(127)},
    "extreme_unsigned": {"extreme": True, "zero": np.uint8(0)},
}
for _name, _facts in TILES.items():
    CASES[f"tiles_{_name}"] = lambda label=f"tiles_{_name}", facts=_facts: by_tiles(label, **facts)


def padded_pool(label, op, behind, **attrs):
    """A pool of f32 over a border that no mover fills, or that is read where it lies otherwise."""
    m = Maker(label)
    x = m.input("x", 1, 32, 56, 56)  # more than the accumulator holds
    return m.done(m.op(op, m.op("Relu", x) if behind else x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], **attrs))


for _op, _attrs in (("MaxPool", {}), ("AveragePool", {}), ("AveragePool", {"count_include_pad": 1})):
    for _behind in (False, True):
        _label = f"padded_{_op}{'_whole' if _attrs else ''}{'_behind' if _behind else ''}".lower()
        CASES[_label] = lambda label=_label, op=_op, behind=_behind, attrs=_attrs: padded_pool(label, op, behind, **attrs)


def norm_between_lines(channels, places):
    """As audio networks begin: a convolution over one dim, a norm of each channel over all of its places, which may have no room beside each
    other, numbers for each channel, GELU in steps, and the next convolution. Nothing turns channels out of lanes between the two."""
    m = Maker(f"norm_between_lines_{channels}_{places}", opset=17)
    number = lambda v: m.weights(I8(v), F32(0.01), I8(0))
    x = m.codes(m.input("x", 1, 1, 5 * places + 5), F32(0.05), U8(128))
    w = m.weights(m.rng.integers(-127, 128, (channels, 1, 10)).astype(I8), F32(0.01), I8(0))
    x = m.codes(m.op("Conv", x, w, strides=[5]), F32(0.1), U8(128))
    x = m.codes(m.op("InstanceNormalization", x, m.const(np.linspace(0.9, 1.1, channels, dtype=F32)), m.const(np.linspace(-0.1, 0.1, channels, dtype=F32))), F32(0.1))
    by_channel = lambda: m.weights(m.rng.integers(50, 128, (channels, 1)).astype(I8), F32(0.01), I8(0))
    x = m.codes(m.op("Add", m.codes(m.op("Mul", x, by_channel()), F32(0.1)), by_channel()), F32(0.1))
    e = m.codes(m.op("Add", m.codes(m.op("Erf", m.codes(m.op("Div", x, number(120)), F32(0.1))), F32(0.01)), number(100)), F32(0.02), I8(-100))
    x = m.codes(m.op("Mul", x, m.codes(m.op("Mul", e, number(50)), F32(0.01), I8(-100))), F32(0.1))
    w = m.weights(m.rng.integers(-127, 128, (16, channels, 3)).astype(I8), F32(0.002), I8(0))
    return m.done(m.codes(m.op("Conv", x, w, strides=[2]), F32(0.5)), step=0.5, targets=("cpu", "simnpu", "simnpu:8", "simnpu:32"), bisect=places < 100)


for channels, places in (32, 50), (5, 70), (16, 1599), (16, 2500):
    CASES[f"norm_between_lines_{channels}_{places}"] = lambda channels=channels, places=places: norm_between_lines(channels, places)


@case
def numbers_of_the_places_of_a_line():
    """Between two convolutions over one dim a number for each place, which all channels share."""
    m = Maker("numbers_of_the_places_of_a_line", opset=17)
    w = [m.weights(m.rng.integers(-127, 128, (20, 20, 3)).astype(I8), F32(0.005), I8(0)) for _ in range(2)]
    x = m.codes(m.op("Conv", m.codes(m.input("x", 1, 20, 34), F32(0.05)), w[0]), F32(0.1))
    x = m.codes(m.op("Mul", x, m.weights(m.rng.integers(-127, 128, 32).astype(I8), F32(0.01), I8(0))), F32(0.1))
    return m.done(m.codes(m.op("Conv", x, w[1]), F32(0.4)), step=0.4, targets=("cpu", "simnpu"), bisect=True)


@case
def transposed_by_an_infinite_weight():
    """Results at the edge have no product with what is beside the input; the zeros that stand there would make them NaN."""
    m = Maker("transposed_by_an_infinite_weight")
    w = m.rng.standard_normal((16, 1, 4, 4)).astype(F32)
    w[4, 0, 1, 0] = np.inf
    y = m.op("ConvTranspose", m.input("x", 1, 16, 6, 16), m.const(w), strides=[2, 2], pads=[1, 1, 1, 1])
    return m.done(y, refused="PB2020", targets=("cpu",), says=("weights that are not finite",))


BORDERS = [  # channels, results, image, kernel, attributes of a convolution whose products with its border are left out
    ("a_row_a_tile", 32, 48, (7, 7), (3, 3), {"pads": [1, 1, 1, 1]}),
    ("rows_in_a_tile", 16, 64, (5, 3), (3, 3), {"pads": [1, 1, 1, 1]}),
    ("parts_of_rows", 16, 32, (6, 61), (3, 3), {"pads": [1, 1, 1, 1]}),
    ("of_one_side", 16, 32, (8, 9), (3, 3), {"pads": [2, 0, 0, 2]}),
    ("as_wide_as_the_window", 16, 32, (4, 4), (3, 3), {"pads": [3, 3, 3, 3]}),
    ("wider_than_the_image", 16, 32, (3, 4), (7, 7), {"pads": [5, 5, 5, 5]}),
    ("with_strides", 32, 32, (9, 12), (5, 3), {"pads": [2, 1, 2, 1], "strides": [2, 3]}),
    ("dilated", 16, 32, (9, 7), (3, 3), {"pads": [3, 2, 3, 2], "dilations": [3, 2]}),
    ("in_groups", 64, 64, (7, 7), (3, 3), {"pads": [1, 1, 1, 1], "group": 4}),
    ("of_each_channel", 32, 32, (7, 7), (5, 5), {"pads": [2, 2, 2, 2], "group": 32}),
    ("of_few_channels", 3, 32, (10, 12), (3, 3), {"pads": [1, 1, 1, 1]}),
    ("of_images", 16, 32, (7, 7), (3, 3), {"pads": [1, 1, 1, 1]}),
    ("of_volumes", 16, 32, (3, 5, 4), (3, 3, 3), {"pads": [1] * 6}),
]


def border(label, ins, outs, image, kernel, attrs, **more):
    """The convolution, then another of its result, which is made inside of its border."""
    m = Maker(label)
    x = m.input("x", 2 if "images" in label else 1, ins, *image)
    shape, group = (outs, ins // attrs.get("group", 1), *kernel), attrs.get("group", 1)
    if more.pop("codes", False):
        w = m.weights(m.rng.integers(-127, 128, shape).astype(I8), F32(0.01), I8(0))
        return m.done(m.codes(m.op("Conv", m.codes(x, F32(0.05)), w, **attrs), F32(0.3)), step=0.3)
    w = m.rng.standard_normal(shape).astype(F32)
    if more.pop("infinite", False):
        w[0, 0, 0, 0] = np.inf
    y = m.op("Relu", m.op("Conv", x, m.const(w), m.const(m.rng.standard_normal(outs).astype(F32)), **attrs))
    again = (m.rng.standard_normal((16, outs // group, *kernel)) / outs).astype(F32) if group == 1 else w
    return m.done(y, m.op("Conv", y, m.const(again), **attrs), targets=("cpu", "cpu:v3"), **more)


for _name, *_facts in BORDERS:
    _label = f"border_{_name}"
    CASES[_label] = lambda a=(_label, *_facts): border(*a, bisect=True)
    if len(_facts[2]) == 2:
        _label = f"border_{_name}_codes"
        CASES[_label] = lambda a=(_label, *_facts): border(*a, codes=True)
CASES["border_met_by_an_infinite_weight"] = lambda: border("border_met_by_an_infinite_weight", *BORDERS[0][1:], infinite=True)


@case
def border_met_by_computed_weights():
    m = Maker("border_met_by_computed_weights")
    w = m.input("w", 32, 16, 3, 3)
    m.feeds["w"][3, 2, 0, 0] = np.nan
    return m.done(m.op("Conv", m.input("x", 1, 16, 7, 7), w, pads=[1, 1, 1, 1]), targets=("cpu",))


LATE = [  # weights that come, or are computed, when the program runs (core/s3/layout/late.c): channels, results, kernel, groups, attributes
    ("whole_blocks", 32, 48, (3, 3), 1, {"pads": [1] * 4}),
    ("ends_of_blocks", 17, 41, (3, 3), 1, {"pads": [1, 0, 1, 2]}),
    ("few_channels", 3, 24, (7, 7), 1, {"strides": [2, 2], "pads": [3] * 4}),
    ("one_channel", 1, 17, (5, 5), 1, {}),
    ("few_results", 32, 3, (3, 3), 1, {}),
    ("of_points", 24, 40, (1, 1), 1, {}),
    ("dilated", 16, 16, (3, 2), 1, {"dilations": [2, 3], "strides": [1, 2]}),
    ("in_groups", 32, 64, (3, 3), 4, {"pads": [1] * 4}),
    ("in_odd_groups", 18, 27, (3, 3), 3, {"pads": [1] * 4}),
    ("of_each_channel", 24, 24, (3, 3), 24, {"pads": [1] * 4}),
    ("of_each_channel_twice", 20, 40, (3, 3), 20, {"strides": [2, 2]}),
]


def late(label, ins, outs, kernel, group, attrs, image=(13, 14), op="Conv", computed=False):
    m = Maker(label)
    x = m.input("x", 1, ins, *image)
    shape = (ins, outs // group) if op == "ConvTranspose" else (outs, ins // group)
    w, b = m.input("w", *shape, *kernel), m.input("b", outs)
    if computed:
        w = m.op("Mul", w, m.op("Tanh", m.input("v", 1, shape[1], *(1 for _ in kernel))))
    y = m.op("Relu", m.op(op, x, w, b, group=group, **attrs))
    if op == "Conv" and ins == outs and group == 1 and attrs.get("pads"):  # once more with the same weights
        y = m.op("Conv", y, w, **attrs)
    return m.done(y, targets=("cpu",))


for _name, *_facts in LATE:
    _label = f"late_weights_{_name}"
    CASES[_label] = lambda a=(_label, *_facts): late(*a)
    CASES[f"computed_{_label}"] = lambda a=(f"computed_{_label}", *_facts): late(*a, computed=True)
CASES["late_weights_used_twice"] = lambda: late("late_weights_used_twice", 24, 24, (3, 3), 1, {"pads": [1] * 4})
CASES["late_weights_of_a_line"] = lambda: late("late_weights_of_a_line", 17, 24, (5,), 1, {"pads": [2, 2]}, image=(90,))
CASES["late_weights_of_a_volume"] = lambda: late("late_weights_of_a_volume", 9, 17, (3, 3, 3), 1, {"pads": [1] * 6}, image=(5, 6, 7))
CASES["late_weights_spread"] = lambda: late("late_weights_spread", 18, 24, (3, 3), 1, {"strides": [2, 2]}, op="ConvTranspose")
CASES["late_weights_spread_in_groups"] = lambda: late("late_weights_spread_in_groups", 32, 32, (2, 2), 4, {"strides": [2, 2]}, op="ConvTranspose")
CASES["computed_late_weights_of_a_volume"] = lambda: late("computed_late_weights_of_a_volume", 9, 17, (3, 3, 3), 1, {"pads": [1] * 6}, image=(5, 6, 7), computed=True)
CASES["computed_late_weights_spread"] = lambda: late("computed_late_weights_spread", 18, 24, (3, 3), 1, {"strides": [2, 2]}, op="ConvTranspose", computed=True)


@case
def computed_late_weights_made_otherwise():
    """Weights that a convolution makes, that are put together, turned, and read beside their convolution too."""
    m = Maker("computed_late_weights_made_otherwise")
    made = m.op("Conv", m.input("u", 16, 4, 3, 3), m.input("t", 24, 4, 3, 3), pads=[1] * 4)
    joined = m.op("Concat", made, m.op("Transpose", m.input("v", 3, 3, 24, 8), perm=[3, 2, 0, 1]), axis=0)
    y = m.op("Conv", m.input("x", 1, 24, 12, 12), joined)
    return m.done(m.op("Add", y, m.op("ReduceMean", joined, keepdims=1)), targets=("cpu",))


def late_factor(label, rows, sums, columns):
    """Weights that lie along what is summed, by a few rows: copied in front into columns side by side (layout/contract.c)."""
    m = Maker(label)
    return m.done(m.op("Gemm", m.input("x", rows, sums), m.input("w", columns, sums), m.input("b", columns), transB=1), targets=("cpu",))


for _rows in (3, 4, 31):
    _label = f"late_weights_of_{_rows}_rows"
    CASES[_label] = lambda a=(_label, _rows, 200, 96): late_factor(*a)
