"""More graphs of float_ops.py: functions, reductions, softmax, normalisation over a layer, and what moves elements."""

import numpy as np
from float_cases import case

# ---- functions of each element ----

FUNCTIONS = [
    ("Abs", {}),
    ("Neg", {}),
    ("Exp", {}),
    ("Tanh", {}),
    ("Erf", {}),
    ("Sigmoid", {}),
    ("HardSigmoid", {}),
    ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}),
    ("HardSwish", {}),
    ("LeakyRelu", {}),
    ("LeakyRelu", {"alpha": 0.3}),
    ("Elu", {}),
    ("Elu", {"alpha": 0.5}),
    ("Selu", {}),
    ("Softplus", {}),
    ("Softsign", {}),
    ("Gelu", {}),
    ("Gelu", {"approximate": "tanh"}),
    ("Reciprocal", {}),
]


def functions(g, x):
    """Every function of x, each an output."""
    return [g.op(kind, x, **attrs) for kind, attrs in FUNCTIONS]


case("functions")(lambda g: functions(g, g.input(1, 17, 7, 9)))
case("functions_of_rows")(lambda g: functions(g, g.input(5, 40)))
case("functions_behind_conv")(lambda g: functions(g, g.conv(g.input(1, 3, 9, 7), 3, 17, 3)))
for _k, (_kind, _attrs) in enumerate(FUNCTIONS):
    if _k % 3 == 0:
        case(f"{_kind.lower()}_{_k}_in_conv")(
            lambda g, k=_kind, a=_attrs: g.op(k, g.conv(g.input(1, 3, 9, 7), 3, 17, 3), **a)
        )
for _kind in ("Log", "Sqrt"):
    case(f"{_kind.lower()}_of_exp")(lambda g, k=_kind: g.op(k, g.op("Exp", g.input(1, 17, 7, 9))))
for _p in (2, 3, 0.5, -1, 1.5, -0.5, 7, 1):
    case(f"pow_{_p}")(
        lambda g, p=_p: g.op("Pow", g.op("Exp", g.input(3, 37)), g.const(np.float32(p))),
    )
case("pow_i64")(lambda g: g.op("Pow", g.input(3, 37), g.const(np.array(2, np.int64))))
case("wide_tanh")(lambda g: g.op("Tanh", g.op("Mul", g.input(3, 200), g.const(np.float32(20)))))
case("wide_sigmoid")(lambda g: g.op("Sigmoid", g.op("Mul", g.input(3, 200), g.const(np.float32(60)))))
case("wide_softplus")(lambda g: g.op("Softplus", g.op("Mul", g.input(3, 200), g.const(np.float32(60)))))
case("sigmoid_scalar")(lambda g: g.op("Sigmoid", g.input(1)))
case("sigmoid_relu")(lambda g: g.op("Relu", g.op("Sub", g.op("Sigmoid", g.input(3, 7)), g.const(np.float32(0.5)))))
case("tanh_clip")(lambda g: g.op("Clip", g.op("Tanh", g.input(3, 70)), g.const(np.float32(-0.5))))
case("prelu")(lambda g: g.op("PRelu", g.input(1, 17, 7, 9), g.const(g.draw(17, 1, 1))))
case("prelu_scalar")(lambda g: g.op("PRelu", g.conv(g.input(1, 3, 7, 9), 3, 24, 3), g.const(g.draw(1))))
case("prelu_of_value")(lambda g: g.op("PRelu", g.input(3, 40), g.input(40, name="s")))


@case("silu", 24, "Sigmoid")
@case("silu_17", 17, "Sigmoid")
@case("hard_swish_by_parts", 17, "HardSigmoid")
def silu(g, channels, kind):
    x = g.conv(g.input(1, 3, 9, 7), 3, channels, 3, pads=[1] * 4)
    y = g.op("Mul", x, g.op(kind, x))
    return g.conv(y, channels, 5, 1)


@case("sigmoid_seen_twice")
def sigmoid_twice(g):
    x = g.input(3, 40)
    s = g.op("Sigmoid", x)
    return g.op("Mul", s, x), s


@case("squeeze_and_excite", 24)
@case("squeeze_and_excite_17", 17)
def squeeze_excite(g, channels):
    x = g.op("HardSwish", g.conv(g.input(1, 3, 9, 7), 3, channels, 3, pads=[1] * 4))
    s = g.op("Relu", g.conv(g.op("GlobalAveragePool", x), channels, 8, 1))
    return g.conv(g.op("Mul", x, g.op("HardSigmoid", g.conv(s, 8, channels, 1))), channels, 16, 1)


@case("conv_exp_conv", 17)
@case("conv_exp_conv_16", 16)
def conv_exp_conv(g, channels):
    x = g.op("Exp", g.conv(g.input(1, 3, 9, 7), 3, channels, 3, pads=[1] * 4))
    y = g.conv(g.op("Log", x), channels, 17, 3)
    return g.conv(g.op("Softplus", y), 17, 5, 1), g.conv(g.op("Sqrt", g.op("Abs", y)), 17, 5, 1)


for _kind in ("Sigmoid", "Elu", "Sqrt", "Reciprocal"):
    for _channels in (16, 17):

        @case(f"{_kind.lower()}_between_convs_{_channels}", _kind, _channels)
        def between_convs(g, kind, channels):
            x = g.conv(g.input(1, 3, 9, 7), 3, channels, 3)
            if kind in ("Sqrt", "Reciprocal"):
                x = g.op("Clip", x, g.const(np.float32(0.5)))
            return g.conv(g.op(kind, x), channels, 24, 3, pads=[1] * 4)


# ---- reductions ----

REDUCTIONS = [
    ((5, 40), [1]),
    ((5, 40), [0]),
    ((5, 40), [0, 1]),
    ((1, 1000), [-1]),
    ((3, 33), [1]),
    ((2, 17, 9, 7), [1]),
    ((2, 24, 9, 7), [2, 3]),
    ((2, 17, 3, 40), [3]),
    ((2, 17, 3, 40), [0, 2]),
    ((2, 5, 3, 7), [1, 3]),
    ((70,), [0]),
    # a rest beside other dims that are summed, below and past a register; one and two results, in several registers
    ((3, 7, 91), [0, 1, 2]),
    ((2, 6, 11, 33), [2, 3]),
    ((1, 3, 5, 64), [1, 2, 3]),
    ((4097,), [0]),
    ((2, 2100), [1]),
]
for _shape, _axes in REDUCTIONS:

    def reductions(g, shape=_shape, axes=_axes):
        x, over = g.input(*shape), g.const(np.array(axes, np.int64))
        kinds = ("ReduceSum", "ReduceMean", "ReduceMax")
        return [g.op(kind, x, over, keepdims=keep) for kind in kinds for keep in (0, 1)]

    case(f"reduce_{'x'.join(map(str, _shape))}_over_{'_'.join(map(str, _axes))}")(reductions)
case("reduce_all")(lambda g: g.op("ReduceSum", g.input(3, 5, 7)))
case("reduce_relu")(lambda g: g.op("Relu", g.op("ReduceMean", g.input(5, 70), g.const(np.array([1], np.int64)))))
case("reduce_behind_conv")(
    lambda g: g.op("ReduceMean", g.conv(g.input(1, 3, 9, 7), 3, 17, 3), g.const(np.array([2, 3], np.int64)), keepdims=0)
)
case("reduce_channels_behind_conv")(
    lambda g: g.op("ReduceMax", g.conv(g.input(1, 3, 9, 7), 3, 17, 3), g.const(np.array([1], np.int64)))
)
case("global_max_pool")(lambda g: g.op("GlobalMaxPool", g.conv(g.input(1, 3, 9, 7), 3, 17, 3)))

# ---- softmax and normalisation ----

for _shape, _axis in [
    ((1, 1000), -1),
    ((128, 128), -1),
    ((5, 33), 1),
    ((5, 7), 0),
    ((7, 40), 0),
    ((2, 17, 9, 7), 1),
    ((2, 24, 5, 16), 1),
    ((2, 5, 9, 40), 3),
    ((2, 5, 40, 9), 2),
    ((3, 1), 1),
    ((20,), 0),
]:

    def softmaxes(g, shape=_shape, axis=_axis):
        x = g.input(*shape)
        return g.op("Softmax", x, axis=axis), g.op("LogSoftmax", x, axis=axis)

    case(f"softmax_{'x'.join(map(str, _shape))}_{_axis}")(softmaxes)


for _rows, _classes in ((1, 10), (1, 1000), (4, 10), (3, 32)):

    @case(f"softmax_of_codes_{_rows}x{_classes}")
    def softmax_of_codes(g, shape=(_rows, _classes)):
        """As an int8 classifier ends whose shares leave as floats."""
        scale, zero = g.const(np.float32(1 / 16)), g.const(np.int8(3))
        return g.op("Softmax", g.op("DequantizeLinear", g.op("QuantizeLinear", g.input(*shape), scale, zero), scale, zero))


case("softmax_far_apart")(lambda g: g.op("Softmax", g.op("Mul", g.input(3, 50), g.const(np.float32(60)))))
case("softmax_behind_gemm")(
    lambda g: g.op("Softmax", g.op("Gemm", g.input(3, 24), g.const(g.draw(10, 24)), g.const(g.draw(10)), transB=1))
)
case("softmax_behind_conv")(lambda g: g.op("Softmax", g.conv(g.input(1, 3, 9, 7), 3, 17, 3), axis=1))


@case("softmax_of_opset_11")
def softmax_of_opset_11(g):
    g.opset, g.ir_version = 11, 6
    return g.op("Softmax", g.input(3, 5, 7), axis=1)


for _name, _shape, _axis, _bias in [
    ("rows", (7, 48), -1, True),
    ("rows_no_bias", (7, 33), -1, False),
    ("two_dims", (3, 5, 24), 1, True),
    ("sequence", (2, 9, 64), -1, True),
    ("image", (2, 17, 7, 9), 1, True),
    ("short", (4, 5), -1, True),
]:

    def layer_norm(g, shape=_shape, axis=_axis, bias=_bias):
        over = shape[axis:]
        parts = [g.const(g.draw(*over))] + ([g.const(g.draw(*over))] if bias else [])
        return g.op("LayerNormalization", g.input(*shape), *parts, axis=axis, epsilon=1e-4)

    case(f"layer_norm_{_name}")(layer_norm)


@case("attention", 9, 16)
@case("attention_40", 40, 24)
@case("attention_64", 64, 16)  # scores become their exponentials in place
def attention(g, length, width):
    x = g.input(length, width)
    q, k, v = (g.op("MatMul", x, g.const(g.draw(width, width) / np.float32(width))) for _ in range(3))
    scores = g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[1, 0])), g.const(np.float32(width**-0.5)))
    return g.op("Add", x, g.op("MatMul", g.op("Softmax", scores), v))


@case("causal", 128, 32)  # keys that the mask takes out of all rows of a block are left out
def causal(g, length, width):
    q, k, v = (g.input(length, width, name=n) for n in "qkv")
    mask = g.const(np.triu(np.full((length, length), np.finfo(np.float32).min, np.float32), 1))
    scores = g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[1, 0])), g.const(np.float32(width**-0.5)))
    return g.op("MatMul", g.op("Softmax", g.op("Add", scores, mask)), v)


@case("heads", 2, 3, 10, 8)
@case("heads_16", 1, 4, 16, 16)
def heads(g, batch, count, length, width):
    x = g.input(batch, length, count * width)
    q, k, v = (
        g.op(
            "Transpose",
            g.op(
                "Reshape",
                g.op("MatMul", x, g.const(g.draw(count * width, count * width) / np.float32(count * width))),
                g.const(np.array([batch, length, count, width], np.int64)),
            ),
            perm=[0, 2, 1, 3],
        )
        for _ in range(3)
    )
    weights = g.op("Softmax", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])))
    y = g.op("Transpose", g.op("MatMul", weights, v), perm=[0, 2, 1, 3])
    return g.op("Reshape", y, g.const(np.array([batch, length, count * width], np.int64)))


@case("one_query", 3, 100, 40)  # scores are summed in lanes, with an end of 8
@case("one_query_12", 12, 64, 64)
def one_query(g, count, length, width):
    q, k, v = (g.input(1, count, rows, width, name=n) for n, rows in zip("qkv", (1, length, length)))
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    return g.op("MatMul", g.op("Softmax", g.op("Mul", scores, g.const(np.float32(width**-0.5)))), v)


@case("transformer_mlp")
def transformer_mlp(g):
    x = g.input(2, 9, 32)
    y = g.op("LayerNormalization", x, g.const(g.draw(32)), g.const(g.draw(32)))
    y = g.op("Add", g.op("MatMul", y, g.const(g.draw(32, 48) / np.float32(8))), g.const(g.draw(48)))
    y = g.op("Add", g.op("MatMul", g.op("Gelu", y), g.const(g.draw(48, 32) / np.float32(8))), g.const(g.draw(32)))
    return g.op("Add", x, y)


# ---- what moves elements ----

for _shape, _perm in [
    ((5, 7), [1, 0]),
    ((33, 40), [1, 0]),
    ((2, 17, 7, 9), [0, 2, 3, 1]),
    ((2, 7, 9, 17), [0, 3, 1, 2]),
    ((2, 5, 7, 16), [0, 2, 1, 3]),
    ((3, 4, 5), [2, 0, 1]),
    ((2, 3, 4, 5, 6), [4, 3, 2, 1, 0]),
]:
    case(f"transpose_{''.join(map(str, _perm))}_{_shape[-1]}")(
        lambda g, s=_shape, p=_perm: g.op("Transpose", g.input(*s), perm=p)
    )
case("transpose_default")(lambda g: g.op("Relu", g.op("Transpose", g.input(3, 4, 5))))
case("channels_last")(
    lambda g: g.op("Transpose", g.conv(g.op("Transpose", g.input(1, 9, 7, 3), perm=[0, 3, 1, 2]), 3, 17, 3), perm=[0, 2, 3, 1])
)


def integers(g, *values):
    return g.const(np.array(values, np.int64))


case("slice")(lambda g: g.op("Slice", g.input(5, 40), integers(g, 1, 3), integers(g, 4, 30)))
case("slice_axes")(lambda g: g.op("Slice", g.input(2, 17, 9, 7), integers(g, 3), integers(g, -2), integers(g, 1)))
case("slice_steps")(
    lambda g: g.op("Slice", g.input(2, 17, 9, 7), integers(g, 0, 1), integers(g, 99, 99), integers(g, 2, 3), integers(g, 2, 3))
)
case("slice_of_conv")(
    lambda g: g.op("Relu", g.op("Slice", g.conv(g.input(1, 3, 9, 7), 3, 40, 3), integers(g, 8), integers(g, 25), integers(g, 1)))
)
case("split")(lambda g: split(g, g.input(5, 40), 1, [8, 15, 17]))
case("split_channels")(lambda g: split(g, g.conv(g.input(1, 3, 9, 7), 3, 40, 3), 1, [16, 24]))


def split(g, x, axis, parts):
    names = [f"part{k}" for k in range(len(parts))]
    g.op_of_many("Split", [x, integers(g, *parts)], names, axis=axis)
    return [g.op("Relu", name) for name in names]


case("pad")(lambda g: g.op("Pad", g.input(3, 7), integers(g, 1, 2, 0, 3), g.const(np.float32(0.5))))
case("pad_image")(lambda g: g.op("Pad", g.input(1, 3, 7, 9), integers(g, 0, 0, 1, 2, 0, 0, 2, 1)))
case("pad_in_front_of_conv")(
    lambda g: g.conv(g.op("Pad", g.op("Relu", g.input(1, 3, 9, 7)), integers(g, 0, 0, 1, 1, 0, 0, 1, 1)), 3, 17, 3)
)
case("pad_channels")(lambda g: g.op("Pad", g.conv(g.input(1, 3, 9, 7), 3, 17, 3), integers(g, 0, 2, 0, 0, 0, 5, 0, 0)))


# ---- forms of products, pools and broadcasts ----

case("matmul_left")(lambda g: g.op("MatMul", g.const(g.draw(13, 17)), g.input(17, 40)))
case("matmul_left_narrow")(lambda g: g.op("Relu", g.op("MatMul", g.const(g.draw(5, 24)), g.input(24, 3))))
case("matmul_left_of_stack")(lambda g: g.op("MatMul", g.const(g.draw(13, 17)), g.input(3, 17, 24)))
case("matmul_left_stack")(lambda g: g.op("MatMul", g.const(g.draw(3, 13, 17)), g.input(3, 17, 24)))
for _a in (0, 1):
    for _b in (0, 1):

        def gemm_of_values(g, a=_a, b=_b):
            x = g.input(*((17, 9) if a else (9, 17)))
            w = g.input(*((24, 17) if b else (17, 24)), name="w")
            return g.op("Gemm", x, w, g.const(g.draw(24)), transA=a, transB=b, alpha=0.5, beta=2.0)

        case(f"gemm_of_values_{_a}{_b}")(gemm_of_values)
case("gemm_turned_by_weights")(lambda g: g.op("Gemm", g.input(17, 9), g.const(g.draw(24, 17)), transA=1, transB=1))
case("gemm_scaled")(lambda g: g.op("Relu", g.op("Gemm", g.input(9, 17), g.input(17, 5, name="w"), alpha=0.25)))
for _name, _shape in [("scalar", ()), ("one", (1,)), ("row", (1, 24)), ("column", (9, 1)), ("matrix", (9, 24))]:
    case(f"gemm_bias_{_name}")(
        lambda g, s=_shape: g.op("Gemm", g.input(9, 17), g.const(g.draw(17, 24)), g.const(g.draw(*s)), beta=0.5)
    )
case("gemm_bias_of_value")(lambda g: g.op("Gemm", g.input(9, 17), g.const(g.draw(17, 24)), g.input(24, name="z")))
case("add_wider_constant")(lambda g: g.op("Add", g.input(40), g.const(g.draw(3, 5, 40))))
case("sub_from_wider_constant")(lambda g: g.op("Sub", g.const(g.draw(2, 17, 1, 9)), g.input(7, 9)))
case("mul_by_wider_ones")(lambda g: g.op("Mul", g.op("Relu", g.input(17)), g.const(g.draw(1, 1, 17))))

for _name, _size, _attrs in [
    ("2x2", (9, 7), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("3x3", (10, 12), {"kernel_shape": [3, 3], "strides": [2, 2]}),
    ("3x3_padded", (10, 12), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("even", (8, 8), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("wide_step", (10, 11), {"kernel_shape": [2, 2], "strides": [3, 3], "pads": [0, 0, 1, 1]}),
]:
    for _kind in ("MaxPool", "AveragePool"):
        case(f"{_kind.lower()}_hangs_{_name}")(
            lambda g, k=_kind, s=_size, a=_attrs: g.op(k, g.input(1, 17, *s), ceil_mode=1, **a)
        )
    case(f"averagepool_hangs_counted_{_name}")(
        lambda g, s=_size, a=_attrs: g.op("AveragePool", g.input(1, 17, *s), ceil_mode=1, count_include_pad=1, **a)
    )
for _pad in ("SAME_UPPER", "SAME_LOWER"):
    for _kind in ("MaxPool", "AveragePool"):
        case(f"{_kind.lower()}_{_pad.lower()}")(
            lambda g, k=_kind, p=_pad: g.op(k, g.input(1, 17, 9, 8), kernel_shape=[3, 2], strides=[2, 2], auto_pad=p)
        )
for _name, _channels, _attrs in [
    ("3", 24, {"pads": [1, 1]}),
    ("3_stride", 17, {"strides": [2], "pads": [0, 1]}),
    ("3_dilated", 17, {"dilations": [2]}),
    ("3_same", 24, {"auto_pad": "SAME_UPPER", "strides": [2]}),
]:

    def conv_1d(g, channels=_channels, attrs=_attrs):
        x = g.input(2, 5, 37)
        w = g.const(g.draw(channels, 5, 3) / np.float32(4))
        y = g.op("Relu", g.op("Conv", x, w, g.const(g.draw(channels)), kernel_shape=[3], **attrs))
        return g.op("Conv", y, g.const(g.draw(7, channels, 1)))

    case(f"conv_1d_{_name}")(conv_1d)
