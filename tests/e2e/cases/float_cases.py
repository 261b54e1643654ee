"""The graphs of float_ops.py: a name, an ONNX model and its inputs each. Few sizes are multiples of anything."""

import functools
import zlib

import numpy as np
from float_graph import Case, Graph
from net import Net
from onnx import TensorProto, helper
from qdq import quantized_model, until
from reference import Reference

CASES = []


def case(name, *parameters):
    """Registers a function (graph, *parameters) -> output name or names as a case."""

    def register(function):
        @functools.wraps(function)
        def make():
            graph = Graph(name)
            outputs = function(graph, *parameters)
            return graph.finish(*([outputs] if isinstance(outputs, str) else outputs))

        make.name = name
        CASES.append(make)
        return function

    return register


# ---- convolutions: name, x, output channels, kernel, attributes ----

CONVS = [
    ("1x1", (1, 16, 7, 9), 24, 1, {}),
    ("1x1_odd", (1, 17, 7, 13), 5, 1, {}),
    ("1x1_large", (1, 64, 28, 28), 128, 1, {}),
    ("1x1_stride", (1, 24, 13, 9), 40, 1, {"strides": [2, 2]}),
    ("1x1_one_output", (1, 24, 7, 7), 1, 1, {}),
    ("1x1_on_one_place", (1, 40, 1, 1), 17, 1, {}),
    ("3x3", (1, 3, 13, 9), 16, 3, {"pads": [1, 1, 1, 1]}),
    ("3x3_no_pad", (1, 5, 9, 7), 17, 3, {}),
    ("3x3_wide", (1, 40, 9, 13), 40, 3, {"pads": [1, 1, 1, 1]}),
    ("3x3_17_to_17", (1, 17, 9, 9), 17, 3, {"pads": [1, 1, 1, 1]}),
    ("3x3_no_bias", (1, 16, 7, 7), 24, 3, {"pads": [1, 1, 1, 1], "bias": False}),
    ("3x3_one_channel", (1, 1, 9, 9), 3, 3, {}),
    ("3x3_whole", (1, 16, 3, 3), 24, 3, {}),
    ("5x5", (1, 5, 13, 13), 24, 5, {"pads": [2, 2, 2, 2]}),
    ("5x5_stride3", (1, 16, 13, 17), 5, 5, {"strides": [3, 2], "pads": [2, 2, 2, 2]}),
    ("7x7_stride2", (1, 3, 33, 29), 64, 7, {"strides": [2, 2], "pads": [3, 3, 3, 3]}),
    ("7x7_stride2_17", (1, 17, 13, 13), 17, 7, {"strides": [2, 2], "pads": [3, 3, 3, 3]}),
    ("3x1", (1, 16, 9, 7), 16, (3, 1), {"pads": [1, 0, 1, 0]}),
    ("1x7", (1, 24, 9, 13), 40, (1, 7), {"pads": [0, 3, 0, 3]}),
    ("dilated", (1, 16, 13, 13), 24, 3, {"dilations": [2, 2], "pads": [2, 2, 2, 2]}),
    ("dilated_no_pad", (1, 5, 13, 9), 3, 3, {"dilations": [2, 3]}),
    ("asymmetric", (1, 16, 9, 7), 17, 3, {"pads": [0, 1, 2, 0]}),
    ("asymmetric_stride", (1, 3, 13, 9), 40, 3, {"pads": [0, 0, 1, 1], "strides": [2, 2]}),
    ("same_upper", (1, 16, 9, 7), 24, 3, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ("same_lower", (1, 5, 9, 7), 24, 4, {"auto_pad": "SAME_LOWER"}),
    ("valid", (1, 5, 9, 7), 16, 3, {"auto_pad": "VALID"}),
    ("depthwise", (1, 24, 9, 13), 24, 3, {"group": 24, "pads": [1, 1, 1, 1]}),
    ("depthwise_17", (1, 17, 9, 7), 17, 3, {"group": 17, "pads": [1, 1, 1, 1]}),
    ("depthwise_stride", (1, 40, 13, 9), 40, 3, {"group": 40, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    ("depthwise_5x5", (1, 16, 9, 9), 16, 5, {"group": 16, "pads": [2, 2, 2, 2]}),
    ("depthwise_3", (1, 3, 9, 9), 3, 3, {"group": 3}),
    ("depthwise_twice", (1, 16, 9, 7), 32, 3, {"group": 16, "pads": [1, 1, 1, 1]}),
    ("groups_2", (1, 24, 9, 7), 40, 3, {"group": 2, "pads": [1, 1, 1, 1]}),
    ("groups_of_16", (1, 48, 7, 7), 96, 3, {"group": 3, "pads": [1, 1, 1, 1]}),
    ("groups_4", (1, 64, 7, 9), 64, 1, {"group": 4}),
    ("groups_5", (1, 15, 7, 9), 10, 3, {"group": 5}),
    ("32_groups_of_4", (1, 128, 9, 7), 128, 3, {"group": 32, "pads": [1, 1, 1, 1]}),
    ("32_groups_of_8", (1, 256, 9, 7), 256, 3, {"group": 32, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    ("8_groups_of_16", (1, 128, 14, 9), 128, 3, {"group": 8, "pads": [1, 1, 1, 1]}),
    ("4_groups_of_32", (1, 128, 7, 7), 128, 3, {"group": 4, "pads": [1, 1, 1, 1]}),
    ("groups_of_2", (1, 32, 9, 7), 32, 3, {"group": 16, "pads": [1, 1, 1, 1]}),
    ("groups_of_2_to_8", (1, 16, 9, 7), 64, 3, {"group": 8, "pads": [1, 1, 1, 1]}),
    ("groups_of_8_to_16", (1, 32, 9, 7), 64, 3, {"group": 4, "dilations": [2, 2], "pads": [2, 2, 2, 2]}),
    ("groups_of_16_to_4", (1, 64, 9, 7), 16, 3, {"group": 4}),
    ("groups_of_32_to_16", (1, 96, 9, 7), 48, (1, 3), {"group": 3, "pads": [0, 1, 0, 1]}),
    ("groups_of_3", (1, 48, 9, 7), 48, 3, {"group": 16, "pads": [1, 1, 1, 1]}),
    ("groups_of_24", (1, 96, 9, 7), 96, 3, {"group": 4, "pads": [1, 1, 1, 1]}),
    ("3_groups_of_24", (1, 72, 9, 7), 72, 3, {"group": 3, "pads": [1, 1, 1, 1]}),
    ("batch_groups_of_4", (2, 32, 9, 7), 32, 3, {"group": 8, "pads": [1, 1, 1, 1]}),
    ("3x3_of_256", (1, 256, 7, 7), 144, 3, {"pads": [1, 1, 1, 1]}),
    ("1x1_of_1000", (1, 1000, 5, 5), 40, 1, {}),
    ("3x3_large", (1, 16, 57, 55), 24, 3, {"pads": [1, 1, 1, 1]}),
    ("batch", (2, 16, 9, 7), 24, 3, {"pads": [1, 1, 1, 1]}),
    ("batch_1x1", (2, 5, 7, 7), 17, 1, {}),
    ("batch_3", (3, 17, 7, 7), 40, 3, {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
    ("batch_depthwise", (2, 24, 7, 9), 24, 3, {"group": 24, "pads": [1, 1, 1, 1]}),
]
for _name, _shape, _cout, _kernel, _attrs in CONVS:
    case(f"conv_{_name}")(lambda g, s=_shape, o=_cout, k=_kernel, a=_attrs: g.conv(g.input(*s), s[1], o, k, **a))


def conv_norm_relu(g, channels, outputs, act, **attrs):
    y = g.norm(g.conv(g.input(1, channels, 9, 7), channels, outputs, 3, **attrs), outputs)
    return g.op("Relu", y) if act == "relu" else g.op("Clip", y, g.const(np.float32(-0.5)), g.const(np.float32(0.5)))


def conv_chain(g, *channels):
    x = g.input(1, channels[0], 13, 9)
    for cin, cout in zip(channels, channels[1:]):
        x = g.op("Relu", g.conv(x, cin, cout, 3, pads=[1, 1, 1, 1]))
    return x


def chain_of_few(g, shape, *channels):
    x = g.input(*shape)
    for cin, cout in zip((shape[1], *channels), channels):
        x = g.op("Relu", g.conv(x, cin, cout, 3, pads=[1, 1, 1, 1]))
    return x


def few_joined(g):
    x = g.input(1, 16, 9, 19)
    one = g.conv(x, 16, 1, 3, pads=[1, 1, 1, 1])
    both = g.op("Concat", one, g.op("Relu", g.conv(x, 16, 32, 3, pads=[1, 1, 1, 1])), axis=1)
    return g.op("Mul", g.op("Sigmoid", one), g.conv(both, 33, 1, 3, pads=[1, 1, 1, 1]))


@case("resnext_block", 64, 8, 16)
@case("resnext_block_wide", 64, 2, 64)
@case("resnext_block_odd", 40, 8, 24)
def resnext_block(g, channels, groups, width):
    x = g.input(1, channels, 9, 7)
    y = g.op("Relu", g.conv(x, channels, width, 1))
    y = g.op("Relu", g.conv(y, width, width, 3, group=groups, pads=[1, 1, 1, 1]))
    return g.op("Relu", g.op("Add", g.conv(y, width, channels, 1), x))


@case("groups_that_fill_the_lanes")
def groups_that_fill(g):
    """Two groups of 8 outputs are 16 lanes together, as elements of a tensor and not as rows of registers."""
    return g.conv(g.input(1, 514, 5, 5), 514, 16, 5, group=2)


def residual(g, channels):
    x = g.input(1, channels, 9, 7)
    y = g.op("Relu", g.conv(x, channels, channels, 3, pads=[1, 1, 1, 1]))
    return g.op("Relu", g.op("Add", g.conv(y, channels, channels, 3, pads=[1, 1, 1, 1]), x))


case("conv_norm_relu", 3, 16, "relu")(conv_norm_relu)
case("conv_norm_clip", 17, 24, "clip")(conv_norm_relu)
case("conv_norm_no_bias", 16, 40, "relu")(lambda g, *p: conv_norm_relu(g, *p, bias=False))
case("groups_of_4_norm_relu", 32, 32, "relu")(lambda g, *p: conv_norm_relu(g, *p, group=8))
case("groups_of_32_norm_relu", 64, 64, "relu")(lambda g, *p: conv_norm_relu(g, *p, group=2))
case("depthwise_norm_relu", 24, 24, "relu")(lambda g, *p: conv_norm_relu(g, *p, group=24))
case("chain", 3, 16, 17, 40)(conv_chain)
case("chain_24", 24, 24, 24)(conv_chain)
case("chain_5", 5, 3, 5)(conv_chain)
# rows of 16 and more, on which values of few channels are plain: lanes along them, under the window, over channels
case("few_channels", (1, 1, 9, 37), 1, 2, 24)(chain_of_few)
case("few_behind_many", (1, 16, 9, 21), 32, 1)(chain_of_few)
case("few_behind_17", (2, 24, 7, 5), 17, 3, 1, 20)(chain_of_few)
case("few_halves", (1, 4, 9, 32), 8, 8, 2)(chain_of_few)
case("few_under_long_window")(lambda g: g.conv(g.input(1, 1, 1, 300), 1, 1, (1, 64), strides=[1, 2]))
case("few_joined")(few_joined)
case("residual", 16)(residual)
case("residual_17", 17)(residual)
case("residual_40", 40)(residual)


# ---- by channel and by element ----

for _channels in (3, 16, 17, 40):
    case(f"norm_{_channels}")(lambda g, c=_channels: g.norm(g.input(1, c, 7, 9), c))
case("norm_relu_batch")(lambda g: g.op("Relu", g.norm(g.input(2, 24, 7, 9), 24)))
case("norm_of_rows")(lambda g: g.norm(g.input(5, 17), 17))
case("norm_then_conv")(lambda g: g.conv(g.op("Relu", g.norm(g.input(1, 24, 9, 7), 24)), 24, 17, 3, pads=[1, 1, 1, 1]))
case("relu")(lambda g: g.op("Relu", g.input(1, 17, 7, 9)))
case("relu_of_one")(lambda g: g.op("Relu", g.input(1)))
case("relu_3d")(lambda g: g.op("Relu", g.input(3, 7, 13)))
case("clip")(lambda g: g.op("Clip", g.input(1, 5, 7, 13), g.const(np.float32(-0.25)), g.const(np.float32(0.75))))
case("clip_low")(lambda g: g.op("Clip", g.input(1, 24, 7, 13), g.const(np.float32(-0.25))))
case("clip_high")(lambda g: g.op("Clip", g.input(1, 24, 7, 13), "", g.const(np.float32(0.75))))
case("relu_clip")(lambda g: g.op("Clip", g.op("Relu", g.input(2, 40)), "", g.const(np.float32(0.75))))


def binary(g, kind, other, shape=(1, 17, 7, 9), swap=False, after_conv=False):
    x = g.input(*shape)
    if after_conv:
        x = g.conv(x, shape[1], shape[1], 3, pads=[1, 1, 1, 1])
    away = np.float32(2.0) if kind == "Div" else np.float32(0)  # no division by nearly nothing
    if kind == "Div" and swap:
        x = g.op("Add", g.op("Relu", x), g.const(np.float32(1.5)))
    y = g.const(np.abs(g.draw(*other)) + away)
    return g.op(kind, y, x) if swap else g.op(kind, x, y)


for _kind in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
    _low = _kind.lower()
    case(f"{_low}_scalar", _kind, ())(binary)
    case(f"{_low}_scalar_first", _kind, (1,))(lambda g, *p: binary(g, *p, swap=True))
    case(f"{_low}_channels", _kind, (17, 1, 1))(binary)
    case(f"{_low}_channels_first", _kind, (1, 17, 1, 1))(lambda g, *p: binary(g, *p, swap=True))
    case(f"{_low}_values")(
        lambda g, k=_kind: g.op(
            k, g.input(1, 24, 7, 9), g.op("Clip", g.input(1, 24, 7, 9, name="z"), g.const(np.float32(0.5)))
        )
    )
case("add_row", "Add", (9,))(binary)
case("add_column", "Add", (7, 1))(binary)
case("add_whole", "Add", (1, 17, 7, 9))(binary)
case("mul_after_conv", "Mul", (17, 1, 1))(lambda g, *p: binary(g, *p, after_conv=True))
case("add_scalar_after_conv", "Add", ())(lambda g, *p: binary(g, *p, after_conv=True))
case("add_row_after_conv", "Add", (9,))(lambda g, *p: binary(g, *p, after_conv=True))
case("sub_after_conv_first", "Sub", (17, 1, 1))(lambda g, *p: binary(g, *p, swap=True, after_conv=True))
case("add_rows_2d", "Add", (40,), (3, 40))(binary)
case("add_per_batch", "Add", (3, 1), (3, 40))(binary)


def divide_then_conv(g, channels, kind):
    x = g.op("Clip", g.conv(g.input(1, 3, 7, 9), 3, channels, 3), g.const(np.float32(1)), g.const(np.float32(3)))
    y = {
        "value": lambda: g.op("Div", x, g.op("Add", x, g.const(g.draw(channels, 1, 1) * 0 + np.float32(1)))),
        "first": lambda: g.op("Div", g.const(np.float32(1)), x),
        "by_const": lambda: g.op("Div", x, g.const(np.abs(g.draw(channels, 1, 1)) + np.float32(1))),
    }[kind]()
    return g.conv(y, channels, 5, 3)


for _kind in ("value", "first", "by_const"):
    case(f"div_{_kind}_then_conv", 17, _kind)(divide_then_conv)


@case("concat_pool_conv", "MaxPool")
@case("concat_average_conv", "AveragePool")
def concat_pool(g, kind):
    x = g.input(1, 3, 9, 7)
    y = g.op(kind, g.op("Concat", g.conv(x, 3, 17, 1), x, axis=1), kernel_shape=[3, 3])
    return g.conv(g.op("Mul", y, g.const(np.float32(-2))), 20, 5, 3)


@case("pool_of_input_conv")
def pool_of_input(g):
    return g.conv(g.op("MaxPool", g.input(1, 3, 9, 7), kernel_shape=[3, 3], pads=[1] * 4), 3, 5, 1)


case("mul_by_gate")(lambda g: g.op("Mul", g.input(2, 17, 7, 9), g.input(2, 17, 1, 1, name="gate")))
case("gate_first")(lambda g: g.op("Mul", g.input(1, 24, 1, 1, name="gate"), g.input(1, 24, 7, 9)))
case("outer_sum")(lambda g: g.op("Add", g.input(1, 5, 7, 1), g.input(1, 5, 1, 9, name="z")))
case("add_of_fewer_dims")(lambda g: g.op("Add", g.input(7, 9, name="z"), g.input(1, 16, 7, 9)))
case("add_to_itself")(lambda g: (lambda x: g.op("Add", x, x))(g.input(1, 17, 7, 7)))


@case("squeeze_excite", 24)
@case("squeeze_excite_17", 17)
def squeeze_excite(g, channels):
    x = g.op("Relu", g.conv(g.input(1, channels, 9, 7), channels, channels, 3, pads=[1, 1, 1, 1]))
    gate = g.op("Relu", g.conv(g.op("GlobalAveragePool", x), channels, 5, 1))
    gate = g.op("Clip", g.conv(gate, 5, channels, 1), g.const(np.float32(0)), g.const(np.float32(1)))
    return g.conv(g.op("Mul", x, gate), channels, 16, 1)


# ---- pools ----

POOLS = [
    ("2x2", (1, 16, 8, 14), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("2x2_odd", (1, 17, 7, 9), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("3x3_pad", (1, 24, 9, 13), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("3x3_asymmetric", (1, 3, 9, 7), {"kernel_shape": [3, 3], "pads": [0, 1, 2, 1]}),
    ("3x2", (2, 5, 9, 7), {"kernel_shape": [3, 2], "strides": [1, 2]}),
    ("same", (1, 40, 7, 9), {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ("whole", (1, 16, 7, 7), {"kernel_shape": [7, 7]}),
    # along rows first
    ("9x9", (1, 17, 20, 21), {"kernel_shape": [9, 9], "pads": [4, 4, 4, 4]}),
    ("5x7_strides", (2, 3, 23, 30), {"kernel_shape": [5, 7], "strides": [1, 2], "pads": [2, 0, 1, 3]}),
    ("7x6_ceil", (1, 16, 22, 19), {"kernel_shape": [7, 6], "strides": [2, 1], "dilations": [1, 2], "ceil_mode": 1}),
]
for _name, _shape, _attrs in POOLS:
    case(f"maxpool_{_name}")(lambda g, s=_shape, a=_attrs: g.op("MaxPool", g.input(*s), **a))
    case(f"average_{_name}")(lambda g, s=_shape, a=_attrs: g.op("AveragePool", g.input(*s), **a))
    if "pads" in _attrs or "auto_pad" in _attrs:
        case(f"average_{_name}_with_pad")(
            lambda g, s=_shape, a=_attrs: g.op("AveragePool", g.input(*s), count_include_pad=1, **a)
        )
case("maxpool_dilated")(lambda g: g.op("MaxPool", g.input(1, 5, 13, 9), kernel_shape=[3, 3], dilations=[2, 2]))
case("maxpool_relu")(lambda g: g.op("Relu", g.op("MaxPool", g.input(1, 17, 9, 9), kernel_shape=[3, 3], pads=[1] * 4)))


@case("pool_between_convs", "MaxPool", 17)
@case("average_between_convs", "AveragePool", 24)
def between(g, kind, channels):
    x = g.op("Relu", g.conv(g.input(1, 3, 17, 13), 3, channels, 3, pads=[1] * 4))
    return g.conv(g.op(kind, x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), channels, 40, 3, pads=[1] * 4)


for _channels in (3, 16, 17, 40):
    case(f"global_average_{_channels}")(lambda g, c=_channels: g.op("GlobalAveragePool", g.input(1, c, 7, 9)))
case("global_average_batch")(lambda g: g.op("GlobalAveragePool", g.input(2, 24, 7, 7)))


@case("head_17", 17, 10)
@case("head_40", 40, 37)
def head(g, channels, classes):
    x = g.op("Relu", g.conv(g.input(1, 3, 9, 9), 3, channels, 3))
    x = g.op("Flatten", g.op("GlobalAveragePool", x), axis=1)
    return g.op("Gemm", x, g.const(g.draw(classes, channels)), g.const(g.draw(classes)), transB=1)


# ---- matrix products: m, k, n ----

for _m, _k, _n in [
    (1, 16, 16),
    (1, 17, 5),
    (3, 24, 40),
    (7, 40, 17),
    (33, 65, 50),
    (64, 128, 96),
    (1, 512, 1000),
    (130, 300, 70),
]:
    for _turned in (0, 1):
        case(f"gemm_{_m}_{_k}_{_n}_{_turned}")(
            lambda g, m=_m, k=_k, n=_n, t=_turned: g.op(
                "Gemm", g.input(m, k), g.const(g.draw(*((n, k) if t else (k, n)))), g.const(g.draw(n)), transB=t
            )
        )
    case(f"matmul_{_m}_{_k}_{_n}")(lambda g, m=_m, k=_k, n=_n: g.op("MatMul", g.input(m, k), g.const(g.draw(k, n))))
    case(f"matmul_{_m}_{_k}_{_n}_runtime")(
        lambda g, m=_m, k=_k, n=_n: g.op("MatMul", g.input(m, k), g.input(k, n, name="w"))
    )
@case("gemm_alpha_beta")
def gemm_factors(g):
    x, w, b = g.input(3, 17), g.const(g.draw(24, 17)), g.const(g.draw(24))
    return g.op("Gemm", x, w, b, transB=1, alpha=0.5, beta=2.0)


@case("constant_nodes")
def constant_nodes(g):
    bias = g.op("Constant", value=helper.make_tensor("v", TensorProto.FLOAT, [5, 1, 1], g.draw(5)))
    factor = g.op("Constant", value_float=1.5)
    x = g.op("Mul", g.op("Add", g.conv(g.input(1, 3, 7, 9), 3, 5, 3), bias), factor)
    return g.op("Reshape", x, g.op("Constant", value_ints=[1, -1]))


@case("squeeze_and_back")
def squeeze_and_back(g):
    x = g.op("GlobalAveragePool", g.conv(g.input(1, 3, 7, 9), 3, 17, 3))
    y = g.op("Relu", g.op("Squeeze", x, g.const(np.array([2, 3], np.int64))))
    return g.op("Unsqueeze", g.op("Relu", y), g.const(np.array([0, -1], np.int64)))


case("gemm_no_bias")(lambda g: g.op("Gemm", g.input(3, 17), g.const(g.draw(17, 24))))
case("gemm_relu")(lambda g: g.op("Relu", g.op("Gemm", g.input(3, 17), g.const(g.draw(17, 24)), g.const(g.draw(24)))))
case("matmul_stack")(lambda g: g.op("MatMul", g.input(2, 3, 7, 17), g.input(2, 3, 17, 24, name="w")))
case("matmul_stack_16")(lambda g: g.op("MatMul", g.input(3, 7, 16), g.input(3, 16, 32, name="w")))
case("matmul_stack_const")(lambda g: g.op("MatMul", g.input(3, 7, 17), g.const(g.draw(3, 17, 16))))
case("matmul_shared")(lambda g: g.op("MatMul", g.input(2, 5, 7, 24), g.const(g.draw(24, 40))))
case("matmul_shared_odd")(lambda g: g.op("MatMul", g.input(3, 7, 17), g.const(g.draw(17, 13))))
case("matmul_add")(lambda g: g.op("Add", g.op("MatMul", g.input(5, 24), g.const(g.draw(24, 40))), g.const(g.draw(40))))
case("matmul_twice")(
    lambda g: g.op(
        "MatMul", g.op("Relu", g.op("MatMul", g.input(9, 17), g.const(g.draw(17, 40)))), g.const(g.draw(40, 5))
    )
)
case("matmul_of_value")(lambda g: g.op("MatMul", g.input(5, 17), g.op("Relu", g.input(17, 13, name="w"))))


@case("mlp", 1, 17, 40, 5)
@case("mlp_rows", 7, 33, 64, 10)
def mlp(g, rows, *widths):
    x = g.input(rows, widths[0])
    for cin, cout in zip(widths, widths[1:]):
        x = g.op("Relu", g.op("Gemm", x, g.const(g.draw(cout, cin)), g.const(g.draw(cout)), transB=1))
    return x


# ---- shapes ----

case("flatten")(lambda g: g.op("Relu", g.op("Flatten", g.input(1, 5, 7, 9), axis=1)))
case("flatten_batch")(lambda g: g.op("Relu", g.op("Flatten", g.input(2, 17, 3, 3), axis=1)))
case("flatten_axis2")(lambda g: g.op("Relu", g.op("Flatten", g.input(2, 5, 3, 7), axis=2)))
case("reshape")(lambda g: g.op("Relu", g.op("Reshape", g.input(1, 6, 7, 9), g.const(np.array([1, 0, -1], np.int64)))))
case("reshape_split")(
    lambda g: g.op(
        "Add", g.op("Reshape", g.input(2, 24), g.const(np.array([2, 4, 3, 2], np.int64))), g.const(g.draw(4, 1, 1))
    )
)
case("only_flatten")(lambda g: g.op("Flatten", g.input(1, 5, 7, 9), axis=1))
case("flatten_at_end")(lambda g: g.op("Flatten", g.conv(g.input(1, 3, 7, 9), 3, 17, 3), axis=1))
case("reshape_at_end")(
    lambda g: g.op("Reshape", g.conv(g.input(1, 3, 9, 9), 3, 24, 3), g.const(np.array([24, -1], np.int64)))
)


def reshaped(g, shape, new):
    """A value (no input) under a new shape."""
    return g.op("Reshape", g.op("Relu", g.input(*shape)), g.const(np.array(new, np.int64)))


case("reshape_conv")(lambda g: g.conv(reshaped(g, (1, 24, 63), (1, 24, 7, 9)), 24, 17, 3, pads=[1] * 4))
case("reshape_conv_1x1")(lambda g: g.conv(reshaped(g, (1, 16, 63), (1, 16, 7, 9)), 16, 5, 1))
case("reshape_norm")(lambda g: g.norm(reshaped(g, (1, 24, 63), (1, 24, 7, 9)), 24))
case("reshape_pool")(lambda g: g.op("MaxPool", reshaped(g, (17, 63), (1, 17, 7, 9)), kernel_shape=[3, 3]))
case("reshape_average")(lambda g: g.op("GlobalAveragePool", reshaped(g, (17, 63), (1, 17, 7, 9))))
case("reshape_matmul")(lambda g: g.op("MatMul", reshaped(g, (3, 5, 34), (15, 34)), g.const(g.draw(34, 17))))
case("reshape_gemm")(lambda g: g.op("Gemm", reshaped(g, (3, 5, 34), (15, 34)), g.const(g.draw(34, 17))))
case("reshape_gemm_rows")(lambda g: g.op("Gemm", reshaped(g, (15, 2, 17), (15, 34)), g.const(g.draw(34, 17))))
case("reshape_of_one_row")(lambda g: g.op("Gemm", reshaped(g, (34,), (1, 34)), g.const(g.draw(34, 17))))
case("reshape_concat")(
    lambda g: g.op("Concat", reshaped(g, (3, 35), (1, 3, 5, 7)), g.input(1, 2, 5, 7, name="z"), axis=1)
)
case("reshape_broadcast")(lambda g: g.op("Mul", reshaped(g, (1, 17), (1, 17, 1, 1)), g.input(1, 17, 7, 9, name="z")))
case("reshape_add")(lambda g: g.op("Add", reshaped(g, (17, 63), (1, 17, 7, 9)), g.input(1, 17, 7, 9, name="z")))
case("reshape_twice")(
    lambda g: g.op(
        "Relu",
        g.op("Reshape", g.op("Flatten", g.conv(g.input(1, 3, 5, 5), 3, 24, 3)), g.const(np.array([6, 36], np.int64))),
    )
)
case("conv_reshape_conv")(
    lambda g: g.conv(
        g.op("Reshape", g.conv(g.input(1, 3, 6, 6), 3, 24, 3), g.const(np.array([1, 6, 8, 8], np.int64))), 6, 17, 3
    )
)
case("only_identity")(lambda g: g.op("Identity", g.input(1, 17, 7, 9)))
case("identity_and_itself")(lambda g: (lambda x: [x, g.op("Identity", x)])(g.op("Relu", g.input(1, 17, 7, 9))))
case("clip_crossed")(
    lambda g: g.op("Clip", g.op("Clip", g.input(1, 5, 7, 9), "", g.const(np.float32(-0.5))), g.const(np.float32(0.25)))
)
case("negative_clip")(lambda g: g.op("Clip", g.op("Relu", g.input(1, 5, 7, 9)), "", g.const(np.float32(-0.5))))


@case("flatten_gemm", 17, 3)
@case("flatten_gemm_16", 16, 5)
@case("flatten_gemm_512", 32, 7)
def flatten_gemm(g, channels, size):
    x = g.op("Relu", g.conv(g.input(1, 3, size, size), 3, channels, 3, pads=[1] * 4))
    x = g.op("Flatten", x, axis=1)
    return g.op("Gemm", x, g.const(g.draw(13, channels * size * size)), g.const(g.draw(13)), transB=1)


def concat(g, axis, *shapes):
    names = [
        g.op("Relu", g.input(*shape, name=f"x{k}")) if k != 1 else g.input(*shape, name=f"x{k}")
        for k, shape in enumerate(shapes)
    ]
    return g.op("Concat", *names, axis=axis)


case("concat_channels", 1, (1, 16, 7, 9), (1, 5, 7, 9), (1, 17, 7, 9))(concat)
case("concat_whole_blocks", 1, (1, 16, 7, 9), (1, 32, 7, 9))(concat)
case("concat_batch", 0, (1, 17, 7, 9), (2, 17, 7, 9))(concat)
case("concat_rows", 2, (1, 17, 7, 9), (1, 17, 3, 9))(concat)
case("concat_columns", 3, (1, 24, 7, 9), (1, 24, 7, 4))(concat)
case("concat_last", -1, (1, 3, 5), (1, 3, 7))(concat)
case("concat_2d", 1, (3, 16), (3, 17), (3, 5))(concat)


@case("concat_of_convs", 16, 24, 40)
@case("concat_of_convs_17", 5, 17, 3)
@case("concat_of_convs_16", 16, 16, 32)
@case("concat_of_convs_last", 32, 5, 32)
def concat_convs(g, a, b, c):
    x = g.input(1, 3, 9, 7)
    left = g.op("Relu", g.conv(x, 3, a, 3, pads=[1] * 4))
    right = g.conv(x, 3, b, 1)
    return g.conv(g.op("Concat", left, right, axis=1), a + b, c, 3, pads=[1] * 4)


@case("dense_block", 17)
@case("dense_block_16", 16)
def dense_block(g, growth):
    x = g.op("Relu", g.conv(g.input(1, 3, 9, 9), 3, growth, 3, pads=[1] * 4))
    y = g.op("Concat", x, g.op("Relu", g.conv(x, growth, growth, 3, pads=[1] * 4)), axis=1)
    z = g.op("Concat", y, g.op("Relu", g.conv(y, 2 * growth, growth, 3, pads=[1] * 4)), axis=1)
    return g.op("GlobalAveragePool", g.op("Relu", g.norm(z, 3 * growth)))


# Half a level of a U-Net: what is doubled in size and what skipped over that side by side.
@case("up_beside_skip", 16, 16)
@case("up_beside_skip_12", 12, 20)
def up_beside_skip(g, up, skip):
    x = g.op("Relu", g.conv(g.input(1, 3, 10, 6), 3, skip, 3, pads=[1] * 4))
    small = g.conv(g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), skip, 24, 3, pads=[1] * 4)
    weights = [g.const(g.draw(24, up, 2, 2)), g.const(g.draw(up))]
    doubled = g.op("ConvTranspose", small, *weights, kernel_shape=[2, 2], strides=[2, 2])
    return g.conv(g.op("Concat", x, doubled, axis=1), skip + up, 16, 3, pads=[1] * 4)


# A gated linear unit of channels: halves of whole blocks, and parts whose second begins inside one.
@case("gate_of_halves", 32, 16)
@case("gate_of_parts", 24, 12)
def gate_of_parts(g, channels, first):
    y = g.conv(g.input(1, 3, 9, 7), 3, channels, 3, pads=[1] * 4)
    axes = g.const(np.int64([1]))
    x, gate = (g.op("Slice", y, g.const(np.int64([at])), g.const(np.int64([at + first])), axes) for at in (0, first))
    return g.conv(g.op("Mul", x, g.op("Sigmoid", gate)), first, 5, 3)


# Parts that begin inside a row of lanes, and a transpose behind them: what walks channels there walks the result's last dim.
@case("parts_turned")
def parts_turned(g):
    x = g.op("Relu", g.conv(g.input(1, 3, 9, 7), 3, 33, 3, pads=[1] * 4))
    y = g.op("Relu", g.op("Concat", x, x, axis=1))
    return g.op("Transpose", y, perm=[0, 2, 3, 1])


@case("concat_same_twice")
def concat_same(g):
    x = g.op("Relu", g.conv(g.input(1, 3, 7, 7), 3, 17, 1))
    return g.op("Concat", x, x, axis=1)


# ---- several outputs, several readers ----


@case("two_outputs", 17)
@case("two_outputs_16", 16)
def two_outputs(g, channels):
    x = g.op("Relu", g.conv(g.input(1, 3, 9, 7), 3, channels, 3, pads=[1] * 4))
    return x, g.conv(x, channels, 24, 3, pads=[1] * 4)


@case("output_in_front_of_relu")
def before_relu(g):
    x = g.conv(g.input(1, 3, 9, 7), 3, 17, 3)
    return g.op("Relu", x), x


@case("outputs_of_branches")
def branches(g):
    x = g.op("Relu", g.conv(g.input(1, 5, 9, 7), 5, 24, 3, pads=[1] * 4))
    pooled = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    return g.op("GlobalAveragePool", x), pooled, g.op("Flatten", g.conv(pooled, 24, 5, 1), axis=1)


@case("two_pads_of_one_value")
def two_pads(g):
    x = g.op("Relu", g.conv(g.input(1, 3, 13, 13), 3, 17, 3, pads=[1] * 4))
    a, b = g.conv(x, 17, 16, 3, pads=[1] * 4), g.conv(x, 17, 16, 5, pads=[2] * 4)
    return g.op(
        "Add",
        g.op("Add", a, b),
        g.op("MaxPool", g.conv(x, 17, 16, 1), kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1]),
    )


@case("pads_that_reach_past_each_other")
def crossed_pads(g):
    """Neither border covers the other: a second one that is wider above is no part of the first."""
    x = g.op("Relu", g.conv(g.input(1, 3, 13, 13), 3, 16, 3, pads=[1] * 4))
    return g.op("Add", g.conv(x, 16, 16, 3, pads=[1] * 4), g.conv(x, 16, 16, 3, pads=[2, 2, 0, 0]))


@case("output_and_pad_of_it")
def output_and_pad(g):
    x = g.op("Relu", g.input(1, 16, 9, 9))
    y = g.conv(x, 16, 16, 3, pads=[1] * 4)
    return y, g.conv(g.op("Relu", y), 16, 5, 3, pads=[1] * 4)


@case("dead_end")
def dead_end(g):
    x = g.op("Relu", g.conv(g.input(1, 3, 9, 9), 3, 17, 3))
    g.op("Add", x, x)  # that nobody reads
    return g.op("Mul", x, x)


@case("pad_and_flat_copy")
def pad_and_flat(g):
    x = g.op("Relu", g.conv(g.input(1, 3, 9, 9), 3, 17, 3, pads=[1] * 4))
    return g.conv(x, 17, 16, 3, pads=[1] * 4), g.op("Flatten", x)


@case("pad_and_reshape")
def pad_and_reshape(g):
    x = g.op("Relu", g.conv(g.input(1, 3, 9, 9), 3, 24, 3, pads=[1] * 4))
    y = g.op("Relu", g.op("Reshape", x, g.const(np.array([24, 81], np.int64))))
    return g.conv(x, 24, 16, 3, pads=[1] * 4), g.op("MatMul", y, g.const(g.draw(81, 5)))


@case("pad_and_flat_gemm")
def pad_and_gemm(g):
    x = g.op("Relu", g.conv(g.input(1, 3, 5, 5), 3, 24, 3, pads=[1] * 4))
    return g.conv(x, 24, 16, 3, pads=[1] * 4), g.op("Gemm", g.op("Flatten", x), g.const(g.draw(600, 7)))


# ---- int8 ----


def quantised(name, build):
    """Registers an int8 network without its head: its output is the last layer's tensor, of four dims, judged code for
    code."""

    def make():
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        net = build(rng)
        images = rng.standard_normal((4, *net.shape[1:])).astype(np.float32)
        last = net.last
        channels = build_channels(net)
        net.head("fc", draw_weight(rng, 4, channels), np.zeros(4, np.float32))
        model = until(quantized_model(net, images), last)
        reference = Reference(model)
        return Case(
            name,
            model,
            {net.input: images[:1]},
            lambda: {out: reference.run({net.input: images[:1]})[out] for out in reference.outputs},
        )

    make.name = name
    CASES.append(make)


def draw_weight(rng, *shape):
    return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


def build_channels(net):
    """Channels of the last layer's tensor."""
    return next(layer.weight.shape[0] for layer in reversed(net.layers) if layer.weight is not None)


def int8_convs(rng, *channels, kernel=3, act="relu", pool=False, add=False, depthwise=False):
    net = Net("int8", "x", (1, channels[0], 9, 7), "y")
    for k, (cin, cout) in enumerate(zip(channels, channels[1:])):
        net.conv(f"c{k}", draw_weight(rng, cout, cin, kernel, kernel), draw_weight(rng, cout), 1, kernel // 2, 1, act)
    last = channels[-1]
    if depthwise:
        net.conv("d", draw_weight(rng, last, 1, 3, 3), draw_weight(rng, last), 1, 1, last, act)
    if add:
        source = net.last
        net.conv("a", draw_weight(rng, last, last, 3, 3), draw_weight(rng, last), 1, 1)
        net.residual("sum", net.last, source, "relu")
    if pool:
        net.maxpool("p", 3, 2, 1)
    return net


for _name, _channels, _options in [
    ("conv", (16, 24), {}),
    ("conv_3_to_17", (3, 17), {}),
    ("conv_17_to_5", (17, 5), {"act": ""}),
    ("conv_1x1", (24, 40), {"kernel": 1}),
    ("conv_1x1_17", (17, 17), {"kernel": 1, "act": "relu6"}),
    ("chain", (3, 16, 40), {}),
    ("pool", (3, 24), {"pool": True}),
    ("pool_17", (3, 17), {"pool": True}),
    ("residual", (3, 16), {"add": True}),
    ("residual_17", (5, 17), {"add": True}),
    ("depthwise", (3, 24), {"depthwise": True}),
    ("depthwise_17", (3, 17), {"depthwise": True, "pool": True}),
]:
    quantised(f"int8_{_name}", lambda rng, c=_channels, o=_options: int8_convs(rng, *c, **o))
