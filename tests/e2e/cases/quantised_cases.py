"""Graphs of one or a few int8 operators: what stands at a graph's edges, groups, batches, operators."""

import numpy as np
from quantised_graph import QuantisedGraph

CASES = {}


def case(name):
    def register(build):
        CASES[name] = build
        return build

    return register


def family(name, *rows, **options):
    """Registers build(graph, *row) under name_<row>."""

    def register(build):
        for row in rows:
            words = "_".join(str(word).replace(" ", "") for word in row)
            CASES[f"{name}_{words}"] = lambda g, row=row: build(g, *row)
        return build

    return register


def make(name, **options):
    graph = QuantisedGraph(name, **options)
    CASES[name](graph)
    return graph


# ---- sums, means and maxima over some axes ----

REDUCED = [("ReduceMean", (2, 3), 0), ("ReduceMean", (1, ), 1), ("ReduceMean", (-1, ), 0), ("ReduceMean", (1, 2, 3), 1), ("ReduceSum", (1, 3), 1),
           ("ReduceSum", (2, ), 1), ("ReduceMax", (2, 3), 0), ("ReduceMax", (3, ), 1), ("ReduceMax", (1, ), 1)]


@family("reduced_image", *((kind, axes, keeps, channels) for kind, axes, keeps in REDUCED for channels in (32, 20)))
def reduced_image(g, kind, axes, keeps, channels):
    x = g.conv(g.input(2, 16, 7, 5), channels, 1)
    g.output(reduced(g, kind, x, axes, keeps))


@family("reduced_rows", ("ReduceMean", (1, ), 0, (2, 12, 32)), ("ReduceMean", (1, ), 1, (1, 9, 40)), ("ReduceMean", (2, ), 0, (1, 12, 32)),
        ("ReduceSum", (1, 2), 1, (3, 12, 20)), ("ReduceMax", (1, ), 0, (1, 12, 32)), ("ReduceMax", (2, ), 0, (1, 12, 40)),
        ("ReduceMean", (0, ), 1, (6, 48)), ("ReduceSum", (1, ), 1, (6, 40)), ("ReduceMax", (0, 1), 0, (4, 32)))
def reduced_rows(g, kind, axes, keeps, shape):
    x = g.dense(g.input(*shape[:-1], 32), shape[-1], "MatMul", turned=False)
    g.output(reduced(g, kind, x, axes, keeps))


def reduced(g, kind, x, axes, keeps):
    said = g.const(np.array(axes, np.int64))
    return g.op(kind, x, extra=[said], scale=x.scale * (4 if kind == "ReduceSum" else 0.5), keepdims=keeps)


@family("pooled_head", (2, 3, 0), (1, 0))
def pooled_head(g, *said):
    """As exporters of classifiers write what is pooled in front of the last layer: over an image, over tokens."""
    *axes, keeps = said
    x = g.conv(g.input(2, 3, 9, 9), 24, 3, pads=[1] * 4, act="relu") if len(axes) > 1 else g.dense(g.input(2, 12, 32), 40, "MatMul", turned=False)
    g.output(g.dense(reduced(g, "ReduceMean", x, axes, keeps), 10))


@case("spatial_attention")
def spatial_attention(g):
    """Means and maxima of a pixel's channels, a convolution of both, a factor for each pixel (Woo et al., CBAM, 2018)."""
    x = g.conv(g.input(1, 3, 9, 9), 24, 3, pads=[1] * 4, act="relu")
    both = g.op("Concat", *(g.op(kind, x, extra=[g.const(np.array([1], np.int64))], scale=x.scale, keepdims=1) for kind in ("ReduceMean", "ReduceMax")), axis=1)
    g.output(g.op("Mul", x, g.op("Sigmoid", g.conv(both, 1, 7, pads=[3] * 4), scale=1 / 256, zero=-128), scale=x.scale))


@family("rows_by_numbers", ("Mul", "const"), ("Add", "const"), ("Sub", "ReduceMax"), ("Sub", "ReduceMean"), ("Mul", "gate"))
def rows_by_numbers(g, kind, numbers):
    """A number for each row, that no unit has made in all lanes."""
    x = g.dense(g.input(6, 64), 40)
    if numbers == "const":
        codes = g.const(g.rng.integers(-128, 128, (6, 1)).astype(np.int8))
        return g.output(g.op(kind, x, extra=[g.node("DequantizeLinear", [codes, *g.parameters(0.01, 4, np.dtype(np.int8))])], scale=0.3))
    if numbers == "gate":
        of_rows = g.op("Sigmoid", g.dense(x, 1), scale=1 / 256, zero=-128)
    else:
        of_rows = g.op(numbers, x, extra=[g.const(np.array([1], np.int64))], keepdims=1, scale=x.scale)
    g.output(g.op(kind, x, of_rows, scale=0.3))


@family("softmax_along", (1, (2, 20, 5, 7)), (1, (1, 32, 4, 6)), (2, (1, 16, 12, 5)), (1, (1, 12, 32)), (0, (6, 32)), (0, (2, 20, 5, 7)))
def softmax_along(g, axis, shape):
    x = g.input(*shape, codes=True, scale=0.07, zero=11)
    g.output(g.op("Softmax", x, scale=1 / 255, zero=-128, axis=axis), codes=True)


# ---- the graph's edges ----


@family("image", (3, 7, 2, (3, 3, 3, 3)), (3, 3, 1, (1, 1, 1, 1)), (1, 5, 1, (2, 1, 0, 3)), (3, (5, 3), 2, (0, 0, 0, 0)), (2, (1, 7), 1, (0, 3, 0, 3)),
        (4, 3, 3, (1, 0, 0, 1)), (3, (7, 2), (3, 1), (0, 1, 2, 0)), (3, 4, 4, (0, 0, 0, 0)))
def image(g, channels, kernel, stride, pads):
    stride = stride if isinstance(stride, tuple) else (stride, stride)
    g.output(g.conv(g.input(1, channels, 19, 23), 21, kernel, strides=list(stride), pads=list(pads), act="relu"))


@family("dilated_image", (3, 3, 2), (1, 5, 3))
def dilated_image(g, channels, kernel, dilation):
    g.output(g.conv(g.input(1, channels, 19, 23), 21, kernel, dilations=[dilation, dilation], pads=[2] * 4, act="relu"))


@family("window_past_part", (3, 3), (3, 7), (16, 3))
def window_past_part(g, channels, kernel):
    """What lies beside a part of the image is no border of it."""
    x = g.input(1, channels, 19, 23)
    part = [g.const(np.array(numbers, np.int64)) for numbers in ((2, 5), (15, 20), (2, 3))]
    g.output(g.conv(g.op("Slice", x, extra=part, scale=x.scale, zero=x.zero), 21, kernel, pads=[kernel // 2] * 4))


@family("conv_out", (3, 16), (16, 16), (16, 5), (5, 24), (17, 33))
def conv_out(g, ins, outs):
    g.output(g.conv(g.input(1, ins, 9, 7), outs, pads=[1] * 4, act="relu"))


@family("pool_out", (16, ), (5, ), (24, ))
def pool_out(g, channels):
    x = g.conv(g.input(1, 16, 9, 7), channels)
    g.output(g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4))


@family("conv_in_padded_pool", (64, ))
def conv_in_padded_pool(g, channels):
    """Tiles of the last pool make the slices of the convolution that they take, past its border too. x comes from
    system memory as it is: nothing that is copied or computed stands in front of the products."""
    x = g.op("MaxPool", g.input(1, 16, 28, 28), kernel_shape=[2, 2])
    g.output(g.op("MaxPool", g.conv(x, channels, 1), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4))


@family("add_out", (16, ), (21, ))
def add_out(g, channels):
    x = g.conv(g.input(1, 8, 9, 7), channels)
    g.output(g.op("Add", x, g.conv(x, channels, pads=[1] * 4), scale=1.5))


def told_apart(sx, sw, sy):
    """A sum whose code tells the factor rounded to f32 twice, as (sx * sw) / sy is, from the one rounded once; or None."""
    twice, once = (sx * sw) / sy, np.float32(np.float64(sx) * np.float64(sw) / np.float64(sy))
    if twice == once:
        return None
    sums = np.rint((np.arange(1, 110, dtype=np.float64) + 0.5) / np.float64(twice)).astype(np.float32)
    differ = np.rint(sums * twice) != np.rint(sums * once)
    return int(sums[differ][0]) if differ.any() else None


@case("factor_of_f32_out")
def factor_of_f32_out(g):
    """Weights are 0: each result is its bias times a factor."""
    x, sy, scales, sums = g.input(1, 8, 3, 4), np.float32(0.7), [], []
    while len(sums) < 32:
        sw = np.float32(g.rng.uniform(0.005, 0.02))
        found = told_apart(np.float32(x.scale), sw, sy)
        if found:
            scales.append(sw)
            sums.append(found)
    scales = np.array(scales)
    zeros = np.zeros(32, np.int32)
    w = g.node("DequantizeLinear", [g.const(np.zeros((32, 8, 1, 1), np.int8)), g.const(scales), g.const(zeros.astype(np.int8))], axis=0)
    units = np.float32(x.scale) * scales
    b = g.node("DequantizeLinear", [g.const(np.array(sums, np.int32)), g.const(units), g.const(zeros)], axis=0)
    g.output(g.op("Conv", x, scale=sy, extra=[w, b], kernel_shape=[1, 1]))


@case("average_out")
def average_out(g):
    g.output(g.op("GlobalAveragePool", g.conv(g.input(1, 8, 9, 7), 21), scale=0.5))


@case("flatten_out")
def flatten_out(g):
    g.output(g.op("Flatten", g.conv(g.input(1, 8, 9, 7), 21)))


@case("input_out")
def input_out(g):
    x = g.input(1, 5, 9, 7)
    g.output(x, g.conv(x, 21))


@family("codes_in", (16, ), (3, ), (40, ), (21, ))
def codes_in(g, channels):
    g.output(g.conv(g.input(1, channels, 9, 7, codes=True), 21, pads=[1] * 4))


@family("codes_out", (16, ), (21, ))
def codes_out(g, channels):
    g.output(g.conv(g.input(1, 8, 9, 7), channels), codes=True)


@family("codes_pool_out", (16, ), (21, ))
def codes_pool_out(g, channels):
    g.output(g.op("MaxPool", g.conv(g.input(1, 8, 9, 7), channels), kernel_shape=[2, 2]), codes=True)


@case("codes_through")
def codes_through(g):
    x = g.input(1, 5, 9, 7, codes=True)
    g.output(g.op("Add", x, x, scale=0.1))
    g.output(g.op("MaxPool", x, kernel_shape=[2, 2]), codes=True)


@case("codes_row")
def codes_row(g):
    x = g.dense(g.input(1, 21, codes=True), 33)
    g.output(x, g.dense(x, 10), codes=True)


@case("row")
def row(g):
    g.output(g.dense(g.dense(g.input(1, 21), 33, act="relu"), 10))


@case("used_inside")
def used_inside(g):
    x = g.conv(g.input(1, 8, 9, 7), 21)
    y = g.conv(x, 16)
    g.output(x, y)
    g.output(g.conv(y, 24), codes=True)


@case("codes_used_inside")
def codes_used_inside(g):
    x = g.conv(g.input(1, 8, 9, 7), 21)
    g.output(x, g.conv(x, 16), codes=True)


@case("inputs")
def inputs(g):
    x, y = g.input(1, 12, 9, 7), g.input(1, 20, 9, 7, codes=True, scale=0.03, zero=-7)
    g.output(g.op("Add", g.conv(x, 24), g.conv(y, 24), scale=2.0), g.op("MaxPool", y, kernel_shape=[3, 3]))


# ---- groups ----


@family("grouped", (128, 128, 32), (64, 64, 2), (16, 32, 4), (32, 16, 4), (24, 40, 8), (6, 6, 2), (12, 24, 12),
        (96, 64, 2), (40, 40, 5), (64, 64, 16), (256, 256, 32), (128, 128, 8), (64, 64, 32), (16, 64, 8), (64, 16, 4),
        (48, 48, 16), (96, 96, 4), (72, 72, 3), (16, 32, 16))
def grouped(g, ins, outs, groups):
    x = g.conv(g.input(1, 8, 8, 6), ins, 1)
    g.output(g.conv(g.conv(x, outs, group=groups, pads=[1] * 4, act="relu"), 10, 1))


# Each channel for itself: windows that divide into a chip's commands and that do not, steps and gaps; then lines that follow each other, one
# column, one row, fewer elements than the window, an image wider than a tile, a window without borders.
@family("depthwise", (16, 3, 1, 1, 9, 7), (21, 3, 2, 1, 9, 8), (40, 5, 1, 1, 9, 9), (16, 5, 2, 1, 11, 9), (24, 3, 1, 2, 9, 11), (24, 3, 2, 2, 13, 9),
        (16, 3, 3, 1, 11, 10), (5, (3, 2), 1, 1, 8, 6), (33, (2, 5), 2, 1, 9, 7), (16, 7, 1, 1, 13, 9), (16, 9, 1, 1, 12, 12), (48, (1, 3), 1, 1, 4, 19),
        (48, (3, 1), 1, 1, 19, 4), (16, 4, 2, 1, 10, 10), (16, (5, 3), (1, 2), 1, 9, 9), (16, (3, 5), (2, 1), (1, 2), 9, 9), (32, 3, 1, 1, 40, 6),
        (16, 3, 1, 1, 19, 1), (16, 3, 1, 1, 1, 19), (16, 3, 1, 1, 2, 2), (16, 3, 1, 1, 3, 150), (24, 3, 1, 1, 6, 5, 0), (16, 9, 1, 2, 20, 18), (16, 5, 1, 2, 12, 13))
def depthwise(g, channels, kernel, stride, dilation, height, width, pad=None):
    def both(value):
        return list(value) if isinstance(value, tuple) else [value, value]

    edge = [k // 2 * d if pad is None else pad for k, d in zip(both(kernel), both(dilation))]
    x = g.conv(g.input(1, 8, height, width), channels, 1)
    y = g.conv(x, channels, kernel, group=channels, pads=edge * 2, strides=both(stride), dilations=both(dilation), act="relu")
    g.output(g.conv(y, 10, 1))


# ---- batches ----


@family("batch_conv", (2, 16, 24, 1), (3, 3, 16, 1), (2, 21, 5, 1), (2, 16, 16, 16), (2, 16, 32, 4), (5, 24, 24, 1))
def batch_conv(g, batch, ins, outs, group):
    x = g.input(batch, ins, 9, 7)
    g.output(g.conv(g.conv(x, outs, group=group, pads=[1] * 4, act="relu"), 10, 1))


@family("batch_pool", (2, 16), (3, 21))
def batch_pool(g, batch, channels):
    x = g.conv(g.input(batch, 3, 9, 7), channels)
    y = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    g.output(y, g.op("Add", y, y, scale=0.9))


@family("batch_head", (2, 16, 10), (3, 21, 33), (17, 8, 1))
def batch_head(g, batch, channels, classes):
    x = g.op("GlobalAveragePool", g.conv(g.input(batch, 3, 9, 7), channels), scale=0.3)
    g.output(g.dense(g.dense(g.op("Flatten", x), 24, act="relu"), classes))


@family("batch_dense", (4, 32, 16), (7, 21, 33), (64, 300, 40))
def batch_dense(g, batch, ins, outs):
    g.output(g.dense(g.dense(g.input(batch, ins), outs, act="relu"), 12))


@case("batch_flatten")
def batch_flatten(g):
    g.output(g.dense(g.op("Flatten", g.conv(g.input(2, 16, 5, 5), 21)), 10))


@case("batch_codes")
def batch_codes(g):
    x = g.conv(g.input(3, 21, 5, 5, codes=True), 21)
    g.output(x, g.conv(x, 16, 1), codes=True)


@case("rows_of_an_image")
def rows_of_an_image(g):
    x = g.conv(g.input(1, 16, 5, 5), 21)
    g.output(g.dense(g.op("Reshape", x, extra=[g.const(np.array([21, 9], np.int64))]), 10))


# ---- pixels side by side in a row of many lanes ----


def both(value):
    return list(value) if isinstance(value, tuple) else [value, value]


@family("pixels", (64, 3, 1, 1, (1, 1, 1, 1)), (64, (3, 5), 1, (1, 2), (0, 3, 2, 5)), (64, 1, 1, 1, (0, 0, 0, 0)), (128, 3, (1, 2), 1, (1, 1, 1, 1)),
        (40, (1, 7), (1, 2), 1, (0, 2, 0, 3)))
def pixels(g, channels, kernel, stride, dilation, pads):
    """What rows of 256 lanes hold several pixels of, to columns that step by as many."""
    x = g.conv(g.input(2, 16, 4, 48), channels, 1)
    y = g.conv(x, channels, kernel, strides=both(stride), dilations=both(dilation), pads=list(pads), act="relu")
    y = g.op("Add", x, y, scale=0.05) if y.shape == x.shape else y
    g.output(g.conv(y, 24, 1, strides=[1, 4]))


@family("pixels_image", (False,), (True,))
def pixels_image(g, pool):
    """Of windows that are gathered more pixels in a row, or blocks side by side; a pool takes some of such a row at a time."""
    y = g.conv(g.input(4, 3, 24, 224), 64, 7, strides=[2, 2], pads=[3] * 4, act="relu")
    if pool:
        y = g.conv(g.op("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 64, 3, pads=[1] * 4)
    g.output(g.conv(y, 24, 1, strides=[1, 4]))


@family("pixels_pool", ((3, 3), (2, 2), (1, 1, 1, 1)), ((2, 2), (2, 2), (0, 0, 0, 0)), ((1, 4), (1, 2), (0, 2, 0, 0)), ((3, 2), (1, 1), (0, 0, 2, 1)))
def pixels_pool(g, kernel, strides, pads):
    """Largest elements of several pixels in a row."""
    x = g.conv(g.conv(g.input(1, 16, 24, 96), 64, 1), 64, 3, pads=[1] * 4)
    y = g.op("MaxPool", x, kernel_shape=list(kernel), strides=list(strides), pads=list(pads))
    g.output(g.conv(g.conv(y, 64, 3, pads=[1] * 4), 24, 1, strides=[1, 4]))


@case("pixels_of_one_channel")
def pixels_of_one_channel(g):
    """Windows of lines of one channel: of means twice, of largest elements that lie apart, and of what a convolution makes."""
    x = g.input(1, 1, 14, 11)
    y = g.op("AveragePool", x, scale=0.5, kernel_shape=[3, 3], strides=[2, 1], pads=[0, 1, 0, 0], count_include_pad=1)
    g.output(g.op("AveragePool", y, scale=0.5, kernel_shape=[2, 5], strides=[1, 2], pads=[0, 0, 0, 3], count_include_pad=1))
    g.output(g.op("MaxPool", x, kernel_shape=[5, 3], strides=[2, 1], dilations=[2, 1], pads=[2, 2, 2, 0]))
    y = g.op("MaxPool", g.conv(g.input(1, 8, 23, 8), 1, 3, strides=[2, 2], pads=[2, 1, 2, 4]), kernel_shape=[2, 1])
    g.output(g.op("Reshape", y, extra=[g.const(np.array([1, -1], np.int64))]))


# ---- operators ----


@family("average", (16, 3, 1, 0), (21, 2, 2, 0), (24, 3, 2, 1))
def average(g, channels, kernel, stride, pad):
    x = g.conv(g.input(1, 8, 9, 7), channels)
    y = g.op("AveragePool", x, scale=0.7, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4,
             count_include_pad=int(pad > 0))
    g.output(g.conv(y, 10, 1))


@family("uncounted", (16, 3, 1, (1, 1, 1, 1), "NOTSET"), (21, 3, 2, (1, 1, 1, 1), "NOTSET"), (24, 5, 1, (2, 1, 2, 0), "NOTSET"),
        (16, (3, 5), (2, 3), (1, 2, 1, 2), "NOTSET"), (8, (5, 2), 1, (4, 0, 2, 1), "NOTSET"), (16, 3, 2, None, "SAME_UPPER"),
        (21, 4, 3, None, "SAME_LOWER"))
def uncounted(g, channels, kernel, stride, pads, mode):
    """Averages that leave out their pads."""
    pair = [pair if isinstance(pair, tuple) else (pair, pair) for pair in (kernel, stride)]
    attrs = dict(pads=list(pads)) if pads else dict(auto_pad=mode)
    x = g.conv(g.input(1, 8, 9, 7), channels)
    y = g.op("AveragePool", x, scale=0.7, zero=5, kernel_shape=list(pair[0]), strides=list(pair[1]), **attrs)
    g.output(g.conv(y, 10, 1))


@case("uncounted_of_few_rows")
def uncounted_of_few_rows(g):
    """A window that reaches far over an image of few rows: by integers, too, so that halves are even in the codes."""
    x = g.op("AveragePool", g.input(2, 48, 4, 1), scale=0.02, zero=17, kernel_shape=[2, 1], strides=[2, 1])
    g.output(g.op("AveragePool", x, scale=0.02, zero=3, kernel_shape=[5, 5], pads=[4, 3, 0, 4], strides=[1, 2]))


@family("pair", ("Mul", 16), ("Mul", 21), ("Sub", 16), ("Sub", 5))
def pair(g, kind, channels):
    x = g.conv(g.input(1, 8, 9, 7), channels)
    y = g.conv(x, channels, pads=[1] * 4)
    g.output(g.op(kind, x, y, scale=1.1 if kind == "Sub" else 1.5, act="relu"))


@family("by_const", ("Add", (21, 1, 1)), ("Mul", (21, 1, 1)), ("Sub", (1, 21, 7, 5)), ("Mul", ()), ("Add", (1, )))
def by_const(g, kind, shape):
    x = g.conv(g.input(1, 8, 9, 7), 21)
    codes = np.asarray(g.rng.integers(-128, 128, shape), np.int8)
    if not shape:
        codes = np.int8(77)
    c = g.node("DequantizeLinear", [g.const(codes + np.int8(0) if g.kind == np.int8 else (codes.astype(np.int16) + 128).astype(np.uint8)),
                                    *g.parameters(0.01, 4)])
    g.output(g.op(kind, x, extra=[c], scale=0.6 if kind != "Mul" else 0.3))


@family("gate", (16, ), (21, ))
def gate(g, channels):
    x = g.conv(g.input(1, 8, 9, 7), channels)
    y = g.conv(g.op("GlobalAveragePool", x, scale=0.2), channels, 1, act=(0.0, 6.0))
    g.output(g.conv(g.op("Mul", x, y, scale=2.0), 10, 1))


@family("concat", (16, 32, 1), (16, 21, 1), (5, 16, 1), (21, 5, 1), (16, 16, 2), (8, 8, 2))
def concat(g, first, second, axis):
    x = g.input(1, 8, 9, 7)
    y = g.op("Concat", g.conv(x, first), g.conv(x, second), scale=0.8, axis=axis)
    g.output(g.conv(y, 10, 1))


@case("parts_turned")  # what walks channels as parts walks the result's last dim
def parts_turned(g):
    x = g.conv(g.input(1, 3, 9, 7), 33)
    g.output(g.op("Transpose", g.op("Concat", x, x, axis=1), perm=[0, 2, 3, 1]))


@family("concat_out", (16, 21))
def concat_out(g, first, second):
    x = g.input(1, 8, 9, 7)
    g.output(g.op("Concat", g.conv(x, first), g.conv(x, second), axis=1))


@case("dense_block")
def dense_block(g):
    x = g.conv(g.input(1, 3, 9, 7), 12, pads=[1] * 4)
    for _ in range(3):
        x = g.op("Concat", x, g.conv(x, 6, pads=[1] * 4, act="relu"), axis=1)
    g.output(g.conv(x, 10, 1))


@family("activation", ("relu", 16), ("clip", 21))
def activation(g, act, channels):
    x = g.conv(g.input(1, 8, 9, 7), channels)
    bounds = [g.const(np.float32(0.5)), g.const(np.float32(6))] if act == "clip" else []
    g.output(g.op(act.title(), x, extra=bounds, scale=0.7, zero=-100))


@case("rescaled_moves")
def rescaled_moves(g):
    x = g.op("MaxPool", g.conv(g.input(1, 8, 9, 7), 21), kernel_shape=[2, 2], scale=0.9, zero=9)
    y = g.op("Flatten", x, scale=1.3, zero=-20, act="relu")
    g.output(x, g.dense(y, 10))


RESHAPES = {"apart": (1, 12, 10, 7), "split": (1, 4, 6, 35), "merged": (1, 24, 35, 1), "dims": (24, 7, 5)}


@family("reshaped", *((reader, new) for reader in ("Conv", "MaxPool", "GlobalAveragePool", "AveragePool", "Clip")
                      for new in ("apart", "split", "merged")),
        *((reader, new) for reader in ("Concat", "Add", "MatMul", "itself") for new in ("apart", "dims")))
def reshaped(g, reader, new):
    x = g.op("Reshape", g.conv(g.input(1, 8, 9, 7), 24), extra=[g.const(np.array(RESHAPES[new], np.int64))])
    if reader == "Conv":
        g.output(g.conv(x, 16, (3, 1)))
    elif reader == "MatMul":
        g.output(g.dense(x, 16, kind="MatMul", turned=False))
    elif reader in ("Concat", "Add"):
        g.output(g.op(reader, x, x, **({"axis": 1} if reader == "Concat" else {"scale": 0.9})))
    elif reader == "Clip":
        g.output(g.conv(g.op("Clip", x, extra=[g.const(np.float32(-2)), g.const(np.float32(30))]), 16, (3, 1)))
    else:
        window = {"kernel_shape": [2, 1]} if reader in ("MaxPool", "AveragePool") else {}
        g.output(x if reader == "itself" else g.op(reader, x, **window))


@family("product", ("Gemm", 0, 1), ("MatMul", 0, 1), ("MatMul", 0, 0), ("Gemm", 1, 0))
def product(g, kind, turned, each):
    x = g.dense(g.input(3, 40), 21, kind=kind, turned=bool(turned), each=bool(each), act="relu")
    g.output(g.dense(x, 12))


# ---- weights with zero points: within 8 bits when those are taken off (zero points of 1 at most), and beyond ----


@family("offset_conv", (16, 21, 1, 90, 1), (8, 16, 1, 120, 0), (21, 21, 21, 90, 1), (24, 40, 8, 90, 1))
def offset_conv(g, ins, outs, groups, zero, each):
    x = g.conv(g.input(1, 8, 9, 7), ins, zero=1)
    g.output(g.conv(x, outs, group=groups, pads=[1] * 4, zero=zero, each=bool(each), act="relu"))


@family("offset_product", ("Gemm", 0, 1), ("MatMul", 0, 1), ("MatMul", 0, 0), ("Gemm", 1, 0))
def offset_product(g, kind, turned, each):
    x = g.dense(g.input(3, 40), 21, kind=kind, turned=bool(turned), each=bool(each), zero=100, act="relu")
    g.output(g.dense(x, 12, zero=1))


@case("offset_rows")
def offset_rows(g):
    g.output(g.dense(g.input(2, 10, 24), 21, kind="MatMul", turned=False, zero=100))


@case("offset_codes_in")
def offset_codes_in(g):
    g.output(g.conv(g.input(1, 21, 9, 7, codes=True), 16, pads=[1] * 4, zero=60), codes=True)


@family("rows_of", (1, ), (2, ))
def rows_of(g, batch):
    x = g.dense(g.input(batch, 10, 24), 21, kind="MatMul", turned=False, act="relu")
    g.output(g.dense(x, 8, kind="MatMul", turned=False))


@family("itself", ("Add", ), ("Mul", ), ("Concat", ))
def itself(g, kind):
    x = g.conv(g.input(1, 8, 9, 7), 21)
    g.conv(x, 5)  # nobody reads this
    g.output(g.conv(g.op(kind, x, x, scale=1.4, **({"axis": 1} if kind == "Concat" else {})), 10, 1))


@case("one_channel")
def one_channel(g):
    x = g.conv(g.input(1, 8, 9, 7), 1)
    y = g.op("Mul", x, g.conv(g.op("GlobalAveragePool", x, scale=0.2), 1, 1), scale=0.6)
    c = g.node("DequantizeLinear", [g.const(g.zero(77)), *g.parameters(0.01, 4)])
    g.output(g.op("Mul", y, extra=[c], scale=0.3))


# ---- concatenations whose parts begin inside a block of lanes, at the graph's edge and read again ----


@family("codes_concat", ("MaxPool", ), ("Conv", ))
def codes_concat(g, reader):
    x = g.input(1, 8, 9, 7, codes=True)
    y = g.op("Concat", x, x, axis=1)
    g.output(y, codes=True)
    g.output(g.conv(y, 21) if reader == "Conv" else g.op("MaxPool", y, kernel_shape=[2, 2]))


@case("concat_of_concat")
def concat_of_concat(g):
    x = g.conv(g.input(1, 8, 9, 7), 24)
    y = g.op("Concat", g.op("Concat", x, x, axis=1), x, axis=1)
    g.output(x, g.conv(y, 10, 1))


# ---- windows over edges and with gaps, of a kernel of two reductions and of one ----


@family("window_pair",
        ((17, 1), (1, 5), (5, 2), (0, 2, 0, 2), (1, 1)), ((1, 17), (5, 1), (2, 5), (2, 0, 2, 0), (1, 1)),
        ((9, 1), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)), ((1, 1), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
        ((12, 1), (1, 3), (1, 1), (0, 2, 0, 2), (1, 1)), ((12, 1), (3, 2), (4, 1), (1, 0, 0, 1), (1, 1)),
        ((8, 13), (1, 1), (3, 4), (0, 0, 0, 0), (1, 1)), ((11, 13), (2, 3), (5, 5), (0, 1, 1, 0), (1, 2)),
        ((15, 7), (3, 1), (1, 2), (2, 0, 2, 0), (2, 1)), ((2, 31), (1, 3), (1, 5), (0, 0, 0, 0), (1, 3)))
def window_pair(g, size, kernel, strides, pads, dilations):
    """A second convolution whose tile has its piece of the first made inside it."""
    x = g.conv(g.input(2, 16, *size), 16, kernel=1)
    g.output(g.conv(x, 8, kernel=kernel, strides=list(strides), pads=list(pads), dilations=list(dilations)))


@family("window_pool", ((17, 1), (1, 3), (5, 2), (0, 1, 0, 1)), ((1, 9), (3, 3), (2, 2), (1, 1, 1, 1)),
        ((1, 1), (2, 2), (1, 1), (1, 0, 0, 1)), ((9, 14), (2, 2), (4, 5), (0, 0, 0, 0)))
def window_pool(g, size, kernel, strides, pads):
    x = g.conv(g.input(1, 16, *size), 16, kernel=1)
    g.output(g.op("MaxPool", x, kernel_shape=list(kernel), strides=list(strides), pads=list(pads)))


@family("window_gaps", ((3, 31), (1, 3), (1, 5), (1, 3)), ((31, 3), (3, 1), (5, 1), (3, 1)),
        ((29, 29), (3, 3), (6, 5), (2, 4)), ((20, 41), (2, 3), (7, 9), (3, 2)), ((13, 40), (1, 2), (2, 3), (1, 7)))
def window_gaps(g, size, kernel, strides, dilations):
    """Strides over dilated kernels: what a tile touches leaves gaps that no piece of its rows covers."""
    g.output(g.conv(g.input(1, 16, *size), 16, kernel=kernel, strides=list(strides), dilations=list(dilations)))


# ---- what random graphs have found ----


@family("read_as_floats_too", ("Conv", ), ("Add", ), ("MaxPool", ))
def read_as_floats_too(g, reader):
    """Floats that leave the graph and are read inside by the same DequantizeLinear."""
    g.shared = True
    x = g.conv(g.input(1, 8, 9, 7), 16)
    g.output(x)
    more = {"Conv": {"extra": [g.weights(21, 16, 1, 1)[0]], "scale": 3.0}, "Add": {"scale": 2.0},
            "MaxPool": {"kernel_shape": [2, 2]}}[reader]
    g.output(g.op(reader, *[x] * (1 + (reader == "Add")), **more))


@case("lanes_in_two_groups")
def lanes_in_two_groups(g):
    """Outputs of both groups make a vector of 16, of weights in two parts; the images are single elements."""
    g.output(g.conv(g.input(3, 34, 1, 1), 16, (2, 2), 2, zero=100, pads=[1, 1, 0, 0]))


@family("offset_long_row", (935, 16), (100, 1000))
def offset_long_row(g, ins, outs):
    """Rows with weights of two parts that begin inside a row of lanes."""
    x = g.op("Flatten", g.input(1, ins // 55, 11, 5)) if ins % 55 == 0 else g.dense(g.input(1, 48), ins)
    g.output(g.dense(x, outs, zero=100), codes=True)



@family("read_by_two_convolutions", (1, 1), (2, 2), (1, 2))
def read_by_two_convolutions(g, first, second):
    """An image of few channels that two convolutions read, each by rows of its windows, and whose border is one or two."""
    x = g.input(1, 3, 20, 18)
    y = g.conv(x, 16, 3, pads=[1] * 4, strides=[first] * 2)
    z = g.conv(x, 32, 5 if second == 2 else 3, pads=[second] * 4, strides=[first] * 2)
    g.output(g.op("Concat", y, z, scale=2.0, axis=1))
