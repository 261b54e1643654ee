"""Models that once went wrong, each made here: the smallest that shows what was the matter."""

import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, U8, I8, I32, I64 = np.float32, np.uint8, np.int8, np.int32, np.int64
CASES = {}


class Case:
    """`refused`: of a model that is no model for anybody, the code that pbc gives, within a second. `step`: a code's
    worth of the result, by which it may be off; None: f32. `targets`: where it runs. `says`: warnings' codes, `unsaid`: those that must not come; of a refusal, patterns of its
    text. `bisect`: the IR must be right behind every pass. `by_layers`: the result has the bits of the NumPy reference,
    each of whose layers is within a code: where a layer makes several codes of the one that rounding moved in front of it.
    `operators`: how many are left of the model, whose others fold. `same_as`: a model of the same results that ONNX Runtime
    takes."""

    def __init__(self, model, feeds, step=None, refused=None, targets=("cpu", "simnpu"), says=(), unsaid=(), bisect=False, by_layers=False, operators=None, same_as=None):
        self.operators, self.same_as = operators, same_as
        self.model, self.feeds, self.step, self.refused, self.by_layers = model, feeds, step, refused, by_layers
        self.targets, self.says, self.unsaid, self.bisect = targets, says, unsaid, bisect


def case(make):
    CASES[make.__name__] = make
    return make


class Maker:
    def __init__(self, name, opset=13):
        self.name, self.opset, self.nodes, self.consts, self.inputs, self.feeds, self.types = name, opset, [], [], [], {}, {}
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def input(self, name, *shape, values=None):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        if values is not None:
            self.feeds[name] = np.array(values, F32).reshape(shape)
        elif np.prod([float(d) for d in shape]) < 1e6:
            self.feeds[name] = 2 * self.rng.standard_normal(shape).astype(F32)
        return name

    def const(self, value, by_node=False):
        name = f"c{len(self.consts) + len(self.nodes)}"
        if by_node:
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(value))))
        else:
            self.consts.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def op(self, kind, *inputs, name=None, **attrs):
        out = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=name or f"{kind.lower()}{len(self.nodes)}", **attrs))
        return out

    def codes(self, x, scale, zero=I8(3), scale_back=None):
        """Quantised and dequantised; scale and zero point may be names."""
        scale, zero = (v if isinstance(v, str) else self.const(v) for v in (scale, zero))
        return self.op("DequantizeLinear", self.op("QuantizeLinear", x, scale, zero), scale, zero)

    def weights(self, codes, scale, zero, by_node=False, axis=0):
        names = [self.const(codes, by_node), self.const(scale), self.const(zero)]
        return self.op("DequantizeLinear", *names, **({"axis": axis} if np.ndim(scale) else {}))

    def done(self, *outputs, **known):
        infos = [helper.make_tensor_value_info(name, self.types.get(name, TensorProto.FLOAT), None) for name in outputs]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, infos, self.consts)
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", self.opset)])
        return Case(model, self.feeds, **known)


@case
def zero_point_of_a_constant_node():
    m = Maker("zero_point_of_a_constant_node")
    return m.done(m.codes(m.input("x", 1, 4, 2, 2), F32(0.1), m.const(U8(131), by_node=True)), step=0.1)


@case
def weights_of_a_constant_node():
    m = Maker("weights_of_a_constant_node")
    x = m.codes(m.input("x", 1, 4, 2, 2), F32(0.05))
    w = m.weights(m.rng.integers(0, 256, (4, 4, 1, 1)).astype(U8), F32(0.02), U8(128), by_node=True)
    return m.done(m.codes(m.op("Conv", x, w), F32(0.1)), step=0.1)


def far_weights(name, zero, code, kind, product=False):
    """A weight `code - zero` away from zero, between two others."""
    m = Maker(name)
    x = m.codes(m.input("x", *((3, 16) if product else (1, 16, 2, 2))), F32(0.05))
    codes = m.rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, (3, 16)).astype(kind)
    codes[1] = zero
    codes[1, ::3] = code
    zeros = np.array([7, zero, 100], kind)
    w = m.weights(codes.T.copy() if product else codes.reshape(3, 16, 1, 1), np.full(3, 0.01, F32), zeros, axis=int(product))
    return m.done(m.codes(m.op("MatMul" if product else "Conv", x, w), F32(0.1)), step=0.1)


for distance, zero, code, kind in ((254, 0, 254, U8), (255, 0, 255, U8), (-255, 255, 0, U8), (255, -128, 127, I8)):
    for product in (False, True):
        label = f"weight_{distance}_away_{kind.__name__}{'_product' if product else ''}".replace("-", "minus_")
        CASES[label] = lambda label=label, z=zero, c=code, k=kind, p=product: far_weights(label, z, c, k, p)


def names(label, *pair):
    m = Maker(label)
    for name in pair:
        m.input(name, 1, 2)
    return m.done(m.op("Sub", *pair, name=f"sub {pair[0]}"), targets=("cpu",))


for label, pair in (("names_with_a_quote", ('a"', "a_")), ("names_with_equals", ("a", "a=b")), ("names_with_a_backslash", ("a\\", "a\\n")),
                    ("names_beyond_ascii", ("größe", "gr%s")), ("names_with_spaces", ("a b + c", "a\tb")),
                    ("names_of_control", ("a\n", "a\x01"))):
    CASES[label] = lambda label=label, pair=pair: names(label, *pair)


def residual(label, channels, group, pooled=False):
    m = Maker(label)
    x = m.codes(m.input("x", 1, 16, 8, 8), F32(0.05))
    for k, ins in enumerate((16, channels)):
        shape = (channels, ins // (group or 1), *((3, 3) if group else (1, 1)))
        w = m.weights(m.rng.integers(0, 256, shape).astype(U8), np.full(channels, 0.005, F32),
                      m.rng.integers(100, 156, channels).astype(U8))
        y = m.codes(m.op("Conv", x, w, group=group or 1, pads=[group and 1 or 0] * 4), F32(0.05))
        if k == 0:
            x = y
    added = m.op("Add", x, y)
    return m.done(m.codes(added, F32(0.05)), *([m.codes(m.op("MaxPool", x, kernel_shape=[2, 2]), F32(0.05))] if pooled else []), step=0.1)


CASES["residual_of_24_channels_zero_points"] = lambda: residual("residual_of_24_channels_zero_points", 24, 0)
CASES["residual_of_16_groups_zero_points"] = lambda: residual("residual_of_16_groups_zero_points", 16, 16)
CASES["residual_and_pool_of_24_channels"] = lambda: residual("residual_and_pool_of_24_channels", 24, 0, pooled=True)


def same_padded(label, mode, extent, kernel, stride, quantised):
    m = Maker(label)
    x = m.input("x", 1, 4, extent, 6)
    if quantised:
        x = m.codes(x, F32(0.05))
        w = m.weights(m.rng.integers(-127, 128, (3, 4, kernel, 1)).astype(I8), F32(0.01), I8(0))
    else:
        w = m.const(m.rng.standard_normal((3, 4, kernel, 1)).astype(F32))
    y = m.op("Conv", x, w, auto_pad=mode, kernel_shape=[kernel, 1], strides=[stride, 1])
    return m.done(m.codes(y, F32(0.1)), step=0.1) if quantised else m.done(y, targets=("cpu",))


for mode in ("SAME_UPPER", "SAME_LOWER"):  # totals of -3, -1, -2 and -4
    for extent, kernel, stride, quantised in ((8, 1, 4, 0), (8, 1, 4, 1), (8, 1, 3, 0), (8, 1, 5, 1), (10, 1, 5, 0), (9, 2, 5, 1)):
        label = f"{mode.lower()}_{extent}_{kernel}_{stride}{'_codes' if quantised else ''}"
        CASES[label] = lambda a=(label, mode, extent, kernel, stride, quantised): same_padded(*a)


def hanging_average(label, height, width, kernel, stride, pads, counted, quantised=True):
    """With ceil_mode the last window may hang over the pads, and then is of fewer elements."""
    m = Maker(label, opset=19)
    x = m.input("x", 1, 16, height, width)
    x = m.codes(x, F32(0.05)) if quantised else x
    y = m.op("AveragePool", x, kernel_shape=list(kernel), strides=list(stride), pads=list(pads), ceil_mode=1, count_include_pad=counted)
    return m.done(m.codes(y, F32(0.03)), step=0.03) if quantised else m.done(y, targets=("cpu",))


for label, args in (("rows_5", (5, 1, (2, 1), (2, 1), (0, 0, 1, 0), 1)), ("rows_6", (6, 1, (3, 1), (2, 1), (1, 0, 1, 0), 1)),
                    ("columns", (4, 6, (2, 3), (2, 2), (0, 1, 0, 1), 1)), ("both", (6, 8, (3, 3), (2, 3), (1, 0, 1, 1), 1)),
                    ("uncounted", (6, 7, (3, 2), (2, 2), (0, 0, 0, 0), 0)),
                    ("uncounted_pads", (6, 8, (3, 3), (2, 3), (1, 0, 1, 1), 0)),
                    ("at_equality", (6, 4, (2, 2), (3, 2), (0, 0, 0, 0), 1))):
    for quantised in (True, False):
        name = f"hanging_average_{label}{'' if quantised else '_f32'}"
        CASES[name] = lambda name=name, args=args, q=quantised: hanging_average(name, *args, quantised=q)


@case
def average_of_many_sizes():
    """Windows of nine rows and columns that leave out their pads have 81 sizes: too many for a convolution of each."""
    m = Maker("average_of_many_sizes")
    x = m.codes(m.input("x", 1, 16, 12, 10), F32(0.05))
    y = m.op("AveragePool", x, kernel_shape=[9, 9], pads=[4] * 4)
    return m.done(m.codes(y, F32(0.02)), step=0.02, targets=("cpu",))


def hanging_maximum(label, extent, kernel, stride, pads, quantised):
    m = Maker(label, opset=19)
    x = m.input("x", 1, 16, extent, 4)
    x = m.codes(x, F32(0.05)) if quantised else x
    y = m.op("MaxPool", x, kernel_shape=[kernel, 1], strides=[stride, 1], pads=[pads[0], 0, pads[1], 0], ceil_mode=1)
    return m.done(m.codes(y, F32(0.05)), step=0.05) if quantised else m.done(y, targets=("cpu",))


# A window more would begin just behind the input and its pad in front: it is left out. One element more, and it is not.
for extent, kernel, stride, pads in ((6, 1, 3, (0, 0)), (7, 1, 3, (0, 0)), (6, 2, 4, (1, 1)), (7, 2, 4, (1, 1)), (5, 3, 3, (1, 1))):
    for quantised in (True, False):
        label = f"ceil_mode_{extent}_{kernel}_{stride}{'_codes' if quantised else ''}"
        CASES[label] = lambda a=(label, extent, kernel, stride, pads, quantised): hanging_maximum(*a)


def biased(label, factor, each):
    m = Maker(label)
    x = m.codes(m.input("x", 1, 16, 4, 4), F32(0.05))
    scale = m.rng.uniform(0.005, 0.02, 8).astype(F32) if each else F32(0.01)
    w = m.weights(m.rng.integers(-127, 128, (8, 16, 1, 1)).astype(I8), scale, np.zeros(8, I8) if each else I8(0))
    own = (F32(factor) * F32(0.05) * scale).astype(F32)
    names = [m.const(m.rng.integers(-4000, 4000, 8).astype(I32)), m.const(own), m.const(np.zeros(8, I32) if each else I32(0))]
    b = m.op("DequantizeLinear", *names, **({"axis": 0} if each else {}))
    return m.done(m.codes(m.op("Conv", x, w, b), F32(0.04)), step=0.04)


for factor in (1, 0.5, 1.001, 3):
    for each in (False, True):
        label = f"bias_of_scale_{factor}{'_each' if each else ''}"
        CASES[label] = lambda label=label, factor=factor, each=each: biased(label, factor, each)


def bias_at_the_limit(label, bias, factor=1, weight=127, zero=0):
    """Sixteen products of 127 by a code, and the bias: what lies in 32 bits whatever the codes is in their sums, the next behind them.
    Without products the result is the bias to the code."""
    m = Maker(label)
    x = m.codes(m.input("x", 1, 16, 4, 4), F32(0.05), I8(zero))
    w = m.weights(np.full((8, 16, 1, 1), weight, I8), F32(0.01), I8(0))
    unit = F32(F32(0.05) * F32(0.01))
    b = m.op("DequantizeLinear", m.const(np.full(8, bias, I32)), m.const(F32(unit * F32(factor))), m.const(I32(0)))
    scale = F32(unit * F32(1 << 25 if weight else 1))
    return m.done(m.codes(m.op("Conv", x, w, b), scale), step=scale if weight else None)


IN_FLOATS = {"targets": ("cpu",), "says": ("PB2032",)}
MOST, LEAST = (1 << 31) - 1 - 16 * 127 * 127, -(1 << 31) + 16 * 127 * 128
for label, args in {
    "largest_bias": (MOST,),
    "bias_over_the_largest": (MOST + 1,),
    "least_bias": (LEAST,),
    "bias_under_the_least": (LEAST - 1,),
    "largest_bias_of_its_own_scale": (MOST // 2, 2),
    "bias_of_its_own_scale_over_the_largest": (MOST // 2 + 1, 2),
    "largest_bias_with_zero_point": (MOST - 100 * 16 * 127, 1, 127, -100),
    "bias_with_zero_point_over_the_largest": (MOST - 100 * 16 * 127 + 1, 1, 127, -100),
    "least_bias_with_negative_weights": (-(1 << 31) + 16 * 128 * 127, 1, -128),
    "bias_of_a_huge_scale": (1 << 20, 1 << 21),
    "bias_that_rounds_up": (42, 0.375, 0),
    "bias_that_rounds_down": (41, 0.375, 0),
    "negative_bias_that_rounds": (-42, 0.375, 0),
}.items():
    CASES[label] = lambda label=label, args=args: bias_at_the_limit(label, *args)


@case
def pad_to_an_impossible_size():
    m = Maker("pad_to_an_impossible_size")
    pads = m.const(np.array([0, 0, 0, 0, 0, 0, 0, 1 << 40], I64))
    return m.done(m.op("Pad", m.input("x", 1, 1, 4, 4), pads), refused="PB2020")


@case
def window_of_an_impossible_size():
    m = Maker("window_of_an_impossible_size")
    pool = m.op("MaxPool", m.input("x", 1, 1, 4, 4), kernel_shape=[1 << 30] * 2, pads=[(1 << 30) - 1] * 4)
    return m.done(pool, refused="PB2020")


def huge_input(label, *shape, concat=False):
    m = Maker(label)
    x = m.codes(m.input("x", *shape), F32(0.05))
    if concat:
        x = m.codes(m.op("Concat", x, x, x, axis=1), F32(0.05))
    return m.done(x, refused="PB2024")


CASES["channels_2147483647"] = lambda: huge_input("channels_2147483647", 3, 2147483647, 28, 16)
CASES["channels_4294967296"] = lambda: huge_input("channels_4294967296", 3, 4294967296, 28, 16, concat=True)


@case
def extent_4611686018427387904():
    m = Maker("extent_4611686018427387904")
    return m.done(m.op("Relu", m.input("x", 1, 4611686018427387904)), refused="PB2024")


@case
def result_of_an_impossible_size():
    """Each operand has fewer elements than a tensor may have, their product has not."""
    m = Maker("result_of_an_impossible_size")
    return m.done(m.op("Mul", m.input("x", 1 << 20, 1), m.input("y", 1, 1 << 20)), refused="PB2020")


def beyond_the_memory(label, *shape):
    m = Maker(label)
    x = m.codes(m.input("x", *shape), F32(0.05))
    says = (r"inputs, outputs, constants, commands and what lies between kernels take \d{9,} bytes of simnpu's DRAM, which has \d+\b",
            r"hint: smaller tensors, or --target=cpu\n")
    return m.done(m.codes(m.op("Relu", x), F32(0.05)), refused="PB4051", targets=("simnpu",), says=says)


for shape in ((1, 16, 4096, 4096), (1, 16, 8192, 8192), (1, 1 << 30)):
    label = "beyond_the_memory_" + "_".join(map(str, shape))
    CASES[label] = lambda label=label, shape=shape: beyond_the_memory(label, *shape)


def dilated_stride(label):
    m = Maker(label)
    x = m.codes(m.input("x", 1, 16, 3, 31), F32(0.05))
    w = m.weights(m.rng.integers(-127, 128, (16, 16, 1, 3)).astype(I8), np.full(16, 0.01, F32), np.zeros(16, I8))
    return m.done(m.codes(m.op("Conv", x, w, dilations=[1, 3], strides=[1, 5], kernel_shape=[1, 3]), F32(0.1)), step=0.1, targets=("cpu",))


CASES["dilation_with_a_larger_stride"] = lambda: dilated_stride("dilation_with_a_larger_stride")


def not_numbers(label, build):
    m = Maker(label, opset=14)
    x = m.input("x", 1, 8, values=[np.nan, -1, 2, np.inf, -np.inf, -0.0, 0.0, 0.25])
    y = m.input("y", 1, 8, values=[1, np.nan, -2, np.nan, np.inf, 0.0, -0.0, 0.5])
    return m.done(build(m, x, y), targets=("cpu",))


BOUNDS = {"relu": lambda m, x, y: m.op("Relu", x),
          "clip": lambda m, x, y: m.op("Clip", x, m.const(F32(-0.5)), m.const(F32(0.5))),
          "clip_above": lambda m, x, y: m.op("Clip", x, "", m.const(F32(0.5))),
          "clip_at_nothing": lambda m, x, y: m.op("Clip", x, m.const(F32(np.nan)), m.const(F32(np.nan))),
          "clip_at_nothing_above": lambda m, x, y: m.op("Clip", m.op("Relu", x), "", m.const(F32(np.nan))),
          "clip_at_nothing_below": lambda m, x, y: m.op("Clip", m.op("Add", x, y), m.const(F32(np.nan)), m.const(F32(0.5))),
          "clip_at_inputs": lambda m, x, y: m.op("Clip", x, m.input("low", values=np.nan), m.input("high", values=0.5)),
          "clip_under_inputs": lambda m, x, y: m.op("Clip", x, m.input("low", values=-0.5), m.input("high", values=np.nan)),
          "max": lambda m, x, y: m.op("Max", x, y), "min": lambda m, x, y: m.op("Min", x, y),
          "max_of_a_constant": lambda m, x, y: m.op("Max", x, m.const(F32(0.1))),
          "min_of_a_constant": lambda m, x, y: m.op("Min", m.const(F32(0.1)), x),
          "sum_then_relu": lambda m, x, y: m.op("Relu", m.op("Add", x, y)),
          "hard_sigmoid": lambda m, x, y: m.op("HardSigmoid", x), "hard_swish": lambda m, x, y: m.op("HardSwish", x),
          "leaky_relu": lambda m, x, y: m.op("LeakyRelu", x), "softplus": lambda m, x, y: m.op("Softplus", x)}
for kind, build in BOUNDS.items():
    CASES[f"not_a_number_{kind}"] = lambda label=f"not_a_number_{kind}", build=build: not_numbers(label, build)


def infinity_in_one_element(label, channels, group, between):
    """An infinity becomes zeros, which the channels behind it add up; other lanes and groups never see it."""
    m = Maker(label, opset=14)
    x = m.input("x", 1, 16, 6, 5)
    m.feeds["x"][0, 3, 2, 2] = np.inf
    w = -np.abs(m.rng.standard_normal((channels, 16 // group, 1, 1))).astype(F32)
    last = np.abs(m.rng.standard_normal((9, channels, 1, 1))).astype(F32)
    y = m.op("Relu", m.op("Conv", x, m.const(w), m.const(m.rng.standard_normal(channels).astype(F32)), group=group))
    y = between(m, y, channels)
    return m.done(m.op("Conv", y, m.const(last)), targets=("cpu",))


def plane(m, kind, y, channels):
    one = m.op("Conv", m.op("ReduceMean", y, axes=[1]), m.const(-np.ones((1, 1, 1, 1), F32)))
    return m.op(kind, y, one) if kind != "Div" else m.op(kind, one, y)


BEHIND_INFINITY = {
    "alone": lambda m, y, c: y,
    "no_tail": lambda m, y, c: m.op("Conv", y, m.const(m.rng.standard_normal((c, c, 1, 1)).astype(F32))),
    "padded": lambda m, y, c: m.op("Conv", y, m.const(m.rng.standard_normal((c, c, 3, 3)).astype(F32)), pads=[1] * 4),
    "largest": lambda m, y, c: m.op("MaxPool", y, kernel_shape=[2, 2], pads=[1, 0, 0, 1]),
    "mean": lambda m, y, c: m.op("GlobalAveragePool", y),
    "sum": lambda m, y, c: m.op("Add", m.op("Relu", m.op("Conv", y, m.const(m.rng.standard_normal((c, c, 1, 1)).astype(F32)))), y),
    "depthwise": lambda m, y, c: m.op("Conv", y, m.const(m.rng.standard_normal((c, 1, 3, 3)).astype(F32)), group=c, pads=[1] * 4),
    "swish": lambda m, y, c: m.op("Mul", y, m.op("Sigmoid", y)),
    "divided": lambda m, y, c: m.op("Div", y, m.const(np.linspace(1, 2, c).astype(F32).reshape(1, c, 1, 1))),
    "logarithm": lambda m, y, c: m.op("Log", m.op("Add", y, m.const(F32(1)))),
    "enlarged": lambda m, y, c: m.op("Pad", y, m.const(np.array([0, 0, 1, 0, 0, 0, 0, 2], I64)), m.const(F32(0.5))),
    "infinite_border": lambda m, y, c: m.op("Pad", y, m.const(np.array([0, 0, 1, 0, 0, 0, 0, 2], I64)), m.const(F32(-np.inf))),
    "added_plane": lambda m, y, c: plane(m, "Add", y, c),
}
for kind, between in BEHIND_INFINITY.items():
    for channels, group in ((24, 1), (20, 1), (32, 1), (24, 4), (48, 8), (48, 16)) if kind == "alone" else ((20, 1),):
        label = f"infinity_{kind}_{channels}_{group}"
        CASES[label] = lambda label=label, channels=channels, group=group, between=between: infinity_in_one_element(label, channels, group, between)


def swish_spelled_out(label, channels, height, width):
    """A division in front of a depthwise convolution, in blocks of which the last is not full."""
    m = Maker(label, opset=14)
    x = m.input("x", 1, 16, height, width)
    a = m.op("Conv", x, m.const(m.rng.standard_normal((channels, 16, 1, 1)).astype(F32)), m.const(m.rng.standard_normal(channels).astype(F32)))
    six = m.const(F32(6))
    inner = m.op("Clip", m.op("Add", a, m.const(F32(3))), m.const(F32(0)), six)
    r = m.op("Div", m.op("Mul", a, inner), six)
    w = m.const(m.rng.standard_normal((channels, 1, 5, 5)).astype(F32))
    return m.done(m.op("Conv", r, w, m.const(m.rng.standard_normal(channels).astype(F32)), group=channels, pads=[2] * 4), targets=("cpu",))


for args in ((200, 7, 7), (40, 14, 14), (88, 3, 96)):
    label = "swish_then_depthwise_" + "_".join(map(str, args))
    CASES[label] = lambda label=label, args=args: swish_spelled_out(label, *args)


@case
def sum_in_place_inside_stages():
    """A sum that is made in place of one of its terms, inside a kernel of stages, was read back as one more part of it."""
    m = Maker("sum_in_place_inside_stages")
    sum_ = m.op("Add", m.input("x", 1, 48, 17, 17), m.const(m.rng.standard_normal((17, 1)).astype(F32)))
    mean = m.op("AveragePool", sum_, kernel_shape=[3, 3], strides=[3, 3])
    mean = m.op("Clip", mean, m.const(F32(-1)), m.const(F32(2)))
    return m.done(m.op("Concat", mean, mean, axis=1), targets=("cpu", "cpu:v3"), bisect=True)


@case
def mean_of_three_channels():
    """No vector plan takes it."""
    m = Maker("mean_of_three_channels")
    return m.done(m.op("GlobalAveragePool", m.input("x", 2, 3, 5, 11)), targets=("cpu",), says=("PB4065",))


def codes_product(m, x, ins, outs):
    w = m.weights(m.rng.integers(-127, 128, (outs, ins)).astype(I8), F32(0.01), I8(0))
    return m.codes(m.op("Gemm", x, w, transB=1), F32(4))


def codes_conv(m, x, ins, outs, kernel=1, group=1, far=False, scale=F32(0.3), **attrs):
    shape = (outs, ins // group, kernel, kernel)
    if far:
        w = m.weights(m.rng.integers(0, 256, shape).astype(U8), np.full(outs, 0.01, F32), np.full(outs, 255, U8))
    else:
        w = m.weights(m.rng.integers(-127, 128, shape).astype(I8), np.full(outs, 0.01, F32), np.zeros(outs, I8))
    return m.codes(m.op("Conv", x, w, group=group, kernel_shape=[kernel, kernel], **attrs), scale)


def pooled_codes(m, x, **attrs):
    return m.codes(m.op("MaxPool", x, kernel_shape=[1, 1], **attrs), F32(0.05))


def flattened(label, batch, channels, height, width, product, computed):
    """A clamp behind a reshape walks rows of lanes as no vector unit does."""
    m = Maker(label)
    x = m.codes(m.input("x", batch, 16, height, width), F32(0.05))
    x = codes_conv(m, x, 16, channels) if computed else pooled_codes(m, x)
    count = (channels if computed else 16) * height * width
    y = m.codes(m.op("Relu", m.op("Reshape", x, m.const(np.array([batch, count], I64)))), F32(0.2))
    return m.done(x, codes_product(m, y, count, 20) if product else y, step=4 if product else 0.3)


for args in ((1, 48, 4, 23, False, True), (1, 24, 1, 16, False, True), (1, 24, 1, 16, True, True), (2, 24, 3, 32, True, True), (1, 33, 3, 5, False, True), (1, 33, 3, 5, True, True), (2, 10, 3, 5, True, True),
             (1, 48, 3, 5, True, True), (2, 0, 3, 7, True, False)):
    label = "flattened_relu_" + "_".join(map(str, args))
    CASES[label] = lambda label=label, args=args: flattened(label, *args)


@case
def product_of_a_large_image():
    """All weights of one block of channels, twice, are more than the scratchpad holds."""
    m = Maker("product_of_a_large_image")
    x = codes_conv(m, m.codes(m.input("x", 1, 16, 24, 24), F32(0.05)), 16, 32)
    y = m.codes(m.op("Reshape", x, m.const(np.array([1, 32 * 24 * 24], I64))), F32(0.3))
    return m.done(codes_product(m, y, 32 * 24 * 24, 20), step=4)


def joined_and_read(label, channels):
    """A concatenation that leaves the graph is read by a convolution too."""
    m = Maker(label)
    x = codes_conv(m, m.codes(m.input("x", 1, 8, 3, 13), F32(0.05)), 8, channels)
    joined = m.codes(m.op("Concat", x, x, axis=1), F32(0.3))
    return m.done(joined, codes_conv(m, joined, 2 * channels, 33, strides=[2, 1]), step=0.3)


CASES["joined_rows_are_read"] = lambda: joined_and_read("joined_rows_are_read", 16)
CASES["joined_parts_of_rows_are_read"] = lambda: joined_and_read("joined_parts_of_rows_are_read", 5)


def far_groups(label, channels, group, outs, pooled):
    """Groups whose weights' zero points are far away: their inputs are taken twice, group by group."""
    m = Maker(label)
    x = m.codes(m.input("x", 1, channels, 4, 9), F32(0.05))
    x = pooled_codes(m, x, strides=[1, 2]) if pooled else codes_conv(m, x, channels, channels)
    return m.done(codes_conv(m, x, channels, outs, 3, group, far=True, scale=F32(12), pads=[1] * 4), step=12)


for args in ((64, 2, 2, True), (32, 2, 2, False), (80, 2, 2, False), (96, 2, 96, False), (40, 5, 10, True)):
    label = "far_groups_" + "_".join(map(str, args))
    CASES[label] = lambda label=label, args=args: far_groups(label, *args)


@case
def far_groups_of_one_pixel():
    """Channels of a group lie next to each other in the plain tensor as in a row of lanes, and groups do not."""
    m = Maker("far_groups_of_one_pixel")
    x = m.codes(m.input("x", 1, 32, 1, 1), F32(0.05))
    return m.done(codes_conv(m, x, 32, 2, 1, 2, far=True, scale=F32(12)), step=12)


def far_product(label, channels, width):
    """The product takes its flattened input twice, for its weights' zero point is far away."""
    m = Maker(label)
    x = m.codes(m.input("x", 1, channels, 1, width), F32(0.05))
    x = m.codes(m.op("Reshape", x, m.const(np.array([1, channels * width], I64))), F32(0.05))
    w = m.weights(m.rng.integers(0, 256, (channels * width, 3)).astype(U8), F32(0.01), U8(255))
    y = codes_product(m, x, channels * width, 1)
    return m.done(y, m.codes(m.op("MatMul", x, w), F32(4)), step=4)


CASES["far_product_of_24_channels"] = lambda: far_product("far_product_of_24_channels", 24, 16)
CASES["far_product_of_9_channels"] = lambda: far_product("far_product_of_9_channels", 9, 7)


def padded_and_read(label):
    """A tensor inside its padding has another reader, which the border does not wait for."""
    m = Maker(label)
    x = m.codes(m.input("x", 2, 2, 2, 23), F32(0.05))
    return m.done(m.op("Relu", x), codes_conv(m, x, 2, 17, 3, pads=[1] * 4), step=0.3, targets=("cpu",))


CASES["padded_and_read"] = lambda: padded_and_read("padded_and_read")


def flattened_plane(label, height):
    """The rows of one channel become the channels of a product, across the lanes, which takes them twice: its weights'
    zero point is far away."""
    m = Maker(label)
    x = m.codes(m.input("x", 1, 1, 2 * height, 40), F32(0.05))
    x = m.codes(m.op("AveragePool", x, kernel_shape=[2, 40], strides=[2, 1]), F32(0.05))
    x = m.codes(m.op("Flatten", x), F32(0.05))
    w = m.weights(m.rng.integers(0, 256, (height, 100)).astype(U8), F32(0.01), U8(255))
    return m.done(m.codes(m.op("MatMul", x, w), F32(4)), step=4, bisect=height == 2)


@case
def difference_of_one_channel():
    """The product sums the one channel too: its weights have a row of lanes for each pixel."""
    m = Maker("difference_of_one_channel")
    x, z = (m.codes(m.input(name, 1, 1, 7, 8), F32(0.05)) for name in "xz")
    y = m.codes(m.op("Flatten", m.codes(m.op("Sub", x, z), F32(0.1))), F32(0.1))
    return m.done(codes_product(m, y, 56, 37), step=4)


for height in (2, 5, 16, 18):
    CASES[f"flattened_plane_{height}"] = lambda height=height: flattened_plane(f"flattened_plane_{height}", height)


@case
def one_channel_between():
    """A softmax walks the one channel of a block, an addition all its lanes."""
    m = Maker("one_channel_between")
    x = m.op("Conv", m.input("x", 2, 48, 1, 11), m.const(m.rng.standard_normal((1, 48, 1, 3)).astype(F32)))
    x = m.op("Relu", m.op("Add", *2 * [m.op("Softmax", x, axis=-1)]))
    x = m.op("Conv", x, m.const(m.rng.standard_normal((40, 1, 1, 1)).astype(F32)))
    return m.done(x, targets=("cpu",), bisect=True)


@case
def largest_beside_nan():
    """What runs the IR takes the largest number of a row that has NaN in it as the engine does."""
    m = Maker("largest_beside_nan")
    return m.done(m.op("LogSoftmax", m.input("x", 1, 257, 7, 6), axis=2), targets=("cpu",), bisect=True)


def flattened_output(label, channels, height):
    """What a reshape and a clamp make leaves the graph, and a product reads it: a plain tensor that ends inside a row."""
    m = Maker(label)
    x = m.codes(m.input("x", 3, channels, height, 1), F32(0.05))
    scale, zero = m.const(F32(0.05)), m.const(I8(3))
    x = m.op("QuantizeLinear", m.op("Relu", m.codes(m.op("Flatten", x), F32(0.05))), scale, zero)
    m.types[x] = TensorProto.INT8
    y = m.op("DequantizeLinear", x, scale, zero)
    return m.done(x, codes_product(m, y, channels * height, 3), step=4, bisect=channels == 3)


for args in ((15, 14), (3, 3), (16, 2)):
    label = "flattened_output_" + "_".join(map(str, args))
    CASES[label] = lambda label=label, args=args: flattened_output(label, *args)


def flattened_twice_clamped(label, height, clamps):
    """Clamps one behind the other read what a reshape made element by element: a plain tensor that ends inside a row, of
    which they took the whole row."""
    m = Maker(label)
    image = m.codes(m.input("x", 1, 1, height, height), F32(0.05))
    x = m.codes(m.op("Flatten", image), F32(0.05))
    for _ in range(clamps):
        x = m.codes(m.op("Relu", x), F32(0.05))
    return m.done(x, image, step=1, bisect=height == 4)


for args in ((13, 2), (5, 3), (4, 2)):
    label = "flattened_twice_clamped_" + "_".join(map(str, args))
    CASES[label] = lambda label=label, args=args: flattened_twice_clamped(label, *args)


def one_run_of_lanes(label, batch, rows):
    """A factor of one element, by channels, is the same for all lanes of a register: no run of several."""
    m = Maker(label)
    x = m.codes(m.input("x", batch, 1, rows, 1), F32(0.02), I8(-5))
    w = m.weights(np.array([[[77]]], I8), F32(0.02), I8(4))
    y = m.codes(m.op("Mul", x, w), F32(0.02), I8(-5))
    y = m.codes(m.op("Add", y, x), F32(0.04), I8(-5))
    return m.done(m.codes(m.op("Flatten", y), F32(0.04), I8(-5)), step=1, targets=("cpu:avx512", "cpu:v3"))


for rows in (16, 8):
    CASES[f"one_run_of_{rows}_lanes"] = lambda rows=rows: one_run_of_lanes(f"one_run_of_{rows}_lanes", 3, rows)


@case
def padded_in_six_dims():
    """Twelve numbers of padding: more than a tensor of four dims has."""
    m = Maker("padded_in_six_dims")
    pads = m.const(np.array([0, 1, 0, 2, 0, 1, 1, 0, 0, 1, 2, 0], I64))
    return m.done(m.op("Pad", m.input("x", 1, 2, 2, 3, 2, 3), pads, m.const(F32(0.5))), targets=("cpu",))


def bias_at_the_edge(label, bias):
    """One weight of 127 times any code, and a bias, make the largest or the smallest sum that 32 bits hold, or one more."""
    m = Maker(label)
    one = F32(1)
    x = m.codes(m.input("x", 1, 1, 4, 5), one, I8(0))
    w = m.weights(np.full((1, 1, 1, 1), 127, I8), one, I8(0))
    b = m.op("DequantizeLinear", m.const(np.array([bias], I32)), m.const(one), m.const(I32(0)))
    return m.done(m.codes(m.op("Conv", x, w, b), F32(2.0**25), I8(0)), step=2.0**25)


LARGEST, SMALLEST = 2**31 - 1 - 127 * 127, -(2**31) + 127 * 128
for name, bias in (("largest", LARGEST), ("past_largest", LARGEST + 1), ("smallest", SMALLEST), ("past_smallest", SMALLEST - 1)):
    label = f"bias_{name}"
    CASES[label] = lambda label=label, bias=bias: bias_at_the_edge(label, bias)


@case
def range_of_constants():
    """It folds, of f32 and of i64, up and down, and empty."""
    m = Maker("range_of_constants")
    up = m.op("Range", m.const(F32(1)), m.const(F32(5)), m.const(F32(0.75)))
    down = m.op("Cast", m.op("Range", m.const(I64(9)), m.const(I64(-3)), m.const(I64(-2))), to=1)
    none = m.op("Cast", m.op("Range", m.const(I64(2)), m.const(I64(2)), m.const(I64(1))), to=1)
    return m.done(m.op("Mul", m.input("x", 6, 6), m.op("Add", up, m.op("Concat", down, none, axis=0))), targets=("cpu",))


def typed_gemm(label, kind, shapes, **attrs):
    """A Gemm of other types than f32, for which there is a row of its own."""
    m = Maker(label)
    parts = [m.op("Cast", m.input("abc"[k], *shape, values=m.rng.integers(-9, 10, shape)), to=kind) for k, shape in enumerate(shapes)]
    return m.done(m.op("Cast", m.op("Gemm", *parts, **attrs), to=TensorProto.FLOAT), targets=("cpu",))


for kind in (TensorProto.DOUBLE, TensorProto.INT32):
    real = kind == TensorProto.DOUBLE
    for number, (shapes, attrs) in enumerate([
        (((3, 5), (5, 7)), {}),
        (((5, 3), (5, 7), (7,)), {"transA": 1, **({"alpha": 0.5} if real else {})}),
        (((3, 5), (7, 5), (3, 1)), {"transB": 1, **({"beta": 0.25} if real else {})}),
        (((5, 3), (7, 5), (3, 7)), {"transA": 1, "transB": 1, **({"alpha": 0.25, "beta": 2.0} if real else {})}),
    ]):
        label = f"gemm_of_{'f64' if real else 'i32'}_{number}"
        CASES[label] = lambda label=label, k=kind, s=shapes, a=attrs: typed_gemm(label, k, s, **a)


@case
def one_channel_of_a_flat_result():
    """A result that has no dim for the one channel: lanes that no channel fills wrote its elements again, with zeros."""
    m = Maker("one_channel_of_a_flat_result")
    y = m.op("Conv", m.input("x", 1, 1, 1, 40), m.const(m.rng.standard_normal((1, 1, 1, 8)).astype(F32)), strides=[1, 2])
    flat = m.op("Reshape", y, m.const(np.array([1, 1, 17], I64)))
    return m.done(m.op("Pad", flat, m.const(np.array([0, 0, 3, 0, 0, 3], I64)), mode="reflect"), targets=("cpu",), bisect=True)


@case
def slices_of_constants_backwards():
    """Pads as an exporter of torch computes them: pairs turned round by a step of -1."""
    m = Maker("slices_of_constants_backwards")
    one, far = m.const(np.array([-1], I64)), m.const(np.array([-(2**63) + 1], I64))
    pairs = m.op("Reshape", m.const(np.array([1, 2, 3, 4, 5, 6], I64)), m.const(np.array([-1, 2], I64)))
    turned = m.op("Transpose", m.op("Slice", pairs, one, far, m.const(np.array([0], I64)), one), perm=[1, 0])
    some = m.op("Slice", m.const(np.arange(7, dtype=F32)), m.const(np.array([9], I64)), m.const(np.array([0], I64)),
                m.const(np.array([0], I64)), m.const(np.array([-3], I64)))
    y = m.op("Pad", m.input("x", 1, 2, 3), m.op("Reshape", turned, one))
    return m.done(y, m.op("Identity", some), targets=("cpu",))


@case
def product_of_constants():
    """Neither operand is one that is laid out: the pass wrote a tensor without a name."""
    m = Maker("product_of_constants")
    a, b = (m.const(m.rng.standard_normal(shape).astype(F32)) for shape in ((3, 20), (20, 70)))
    return m.done(m.op("Add", m.input("x", 3, 70), m.op("MatMul", a, b)), targets=("cpu",), bisect=True)


@case
def casts_of_constant_codes():
    """Weights kept as 8 bits and cast, with a sign and without."""
    m = Maker("casts_of_constant_codes")
    scale = m.const(F32(0.02))
    signed, plain = (m.op("Mul", m.op("Cast", m.const(np.array([[-128, -1, 0], [1, 127, 5]], I8)), to=1), scale),
                     m.op("Mul", m.op("Cast", m.const(np.array([[0, 1, 127], [128, 200, 255]], U8)), to=1), scale))
    y = m.op("MatMul", m.input("x", 2, 3), m.op("Transpose", m.op("Add", signed, plain)))
    return m.done(y, targets=("cpu",))


def far_rows(label, rows, columns, by_codes=False):
    """Rows whose beginnings fall on one set of the innermost cache are copied into blocks first; ragged ones too."""
    m = Maker(label)
    x = m.input("x", rows, 1024 * (4 if by_codes else 1))
    if by_codes:
        return m.done(codes_product(m, m.codes(x, F32(0.05)), 4096, columns), step=4, targets=("cpu:avx512",))
    return m.done(m.op("MatMul", x, m.const(m.rng.standard_normal((1024, columns)).astype(F32))), targets=("cpu:avx512",))


for args in ((130, 128), (131, 136), (70, 128, True)):
    label = "far_rows_" + "_".join(map(str, args))
    CASES[label] = lambda label=label, args=args: far_rows(label, *args)


@case
def groups_behind_a_computed_pad():
    """The loops of a nest that takes their turns as numbers were cut for a product of two computed tensors."""
    m = Maker("groups_behind_a_computed_pad", opset=17)
    x, w = m.input("x", 1, 4, 3), m.input("w", 4, 1, 2)
    return m.done(m.op("ConvTranspose", x, w, strides=[2], pads=[1, 1], group=2), targets=("cpu",), bisect=True)


@case
def phases_of_transposed_convolutions():
    """Strides as gaps: results so many apart are convolutions of their own, some of no tap at all; windows as long as the
    gaps are one product."""
    m = Maker("phases_of_transposed_convolutions", opset=17)
    x, ys = m.input("x", 2, 4, 5, 5), []
    for kernel, stride, pads, more, group in ((2, 2, 0, 0, 1), (3, 2, 1, 1, 2), (4, 2, 1, 0, 1), (1, 3, 0, 2, 1), (3, 3, 1, 0, 2),
                                             (3, 3, 1, 0, 1), (2, 2, 1, 1, 1), (2, 2, 0, 1, 1)):
        w = m.const(m.rng.standard_normal((4, 3, kernel, kernel)).astype(F32))
        y = m.op("ConvTranspose", x, w, m.const(m.rng.standard_normal(3 * group).astype(F32)), strides=[stride] * 2, pads=[pads] * 4,
                 output_padding=[more] * 2, group=group)
        ys.append(m.op("ReduceMean", y, axes=[2, 3]))
        ys.append(m.op("MaxPool", y, kernel_shape=[3, 3], strides=[3, 3]))
    return m.done(*ys, targets=("cpu",))


def phases_of_one_channel(label, ins, kernel, stride, pads):
    """The one channel of a result had no dim of its own, and lanes that stood for it moved what was summed over too."""
    m = Maker(label, opset=17)
    w = m.const(m.rng.standard_normal((ins, 1, kernel, kernel)).astype(F32))
    x = m.op("Relu", m.input("x", 1, ins, 6, 16))
    return m.done(m.op("Sigmoid", m.op("ConvTranspose", x, w, strides=[stride] * 2, pads=[pads] * 4)), targets=("cpu",), bisect=True)


for args in ((24, 2, 2, 0), (16, 4, 2, 1), (3, 2, 2, 0), (40, 3, 3, 0)):
    label = "phases_of_one_channel_" + "_".join(map(str, args))
    CASES[label] = lambda label=label, args=args: phases_of_one_channel(label, *args)


def transposed_codes(label, ins, outs, kernel, group=1, each=True, act=None, **attrs):
    """A transposed convolution between codes is one of codes by its phases; it was one of f32, which simnpu has not."""
    m = Maker(label, opset=17)
    shape = (ins, outs // group, *kernel)
    scale = np.linspace(0.005, 0.02, outs).astype(F32) if each else F32(0.01)
    zero = np.zeros(outs, I8) if each else I8(0)
    w = m.weights(m.rng.integers(-127, 128, shape).astype(I8), scale, zero, axis=1)
    x = m.codes(m.input("x", 2, ins, 7, 5), F32(0.03))
    bias = m.const(m.rng.integers(-900, 900, outs).astype(np.int32))
    unit = m.const(scale * F32(0.03) if each else F32(0.01) * F32(0.03))
    bias = m.op("DequantizeLinear", bias, unit, **({"axis": 0} if each else {}))
    y = m.op("ConvTranspose", x, w, bias, group=group, **attrs)
    return m.done(m.codes(m.op(act, y) if act else y, F32(0.2)), targets=("cpu", "simnpu"), step=1)


for args, attrs in (((16, 24, (2, 2)), {"strides": [2, 2]}), ((20, 17, (3, 4)), {"strides": [2, 3], "pads": [1, 0, 0, 2], "act": "Relu"}),
                    ((8, 16, (1, 2)), {"strides": [3, 1], "output_padding": [1, 0]}), ((16, 1, (4, 4)), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
                    ((32, 32, (2, 3)), {"strides": [2, 2], "group": 2, "each": False}), ((3, 3, (3, 3)), {"strides": [1, 1], "pads": [3, 3, 2, 2]}),
                    ((16, 16, (2, 2)), {"strides": [2, 2], "pads": [3, 2, 3, 2]})):
    label = f"transposed_codes_{args[0]}_{args[1]}_" + "x".join(map(str, args[2]))
    CASES[label] = lambda label=label, args=args, attrs=attrs: transposed_codes(label, *args, **attrs)


@case
def function_of_an_image():
    """A table's result lies as what it is multiplied by: as rows of the image's last dim it was neither on lanes nor, for a
    gate of one number a channel, anything that could be read."""
    m = Maker("function_of_an_image", opset=17)
    x = m.codes(m.input("x", 1, 16, 9, 7), F32(0.05))
    y = codes_conv(m, x, 16, 24)
    gated = m.codes(m.op("Mul", y, m.codes(m.op("Sigmoid", y), F32(1 / 256), I8(-128))), F32(0.2))
    mean = m.codes(m.op("GlobalAveragePool", gated), F32(0.1))
    gate = m.codes(m.op("HardSigmoid", codes_conv(m, mean, 24, 24)), F32(1 / 256), I8(-128))
    return m.done(codes_conv(m, m.codes(m.op("Mul", gated, gate), F32(0.1)), 24, 8), targets=("cpu", "simnpu"), step=4)


@case
def borders_beside_what_stays():
    """Borders around a tensor that stays on the chip were left out of its copy; zeros around codes are their zero point."""
    m = Maker("borders_beside_what_stays", opset=17)
    y = codes_conv(m, m.codes(m.input("x", 1, 32, 20, 20), F32(0.05)), 32, 24, 3, pads=[1] * 4)
    pads = m.const(np.array([0, 0, 1, 1, 0, 0, 1, 1], I64))
    own = m.codes(m.op("Pad", y, pads), F32(0.3))
    half = m.codes(m.op("Pad", y, pads, m.const(F32(0.6))), F32(0.3))
    turned = m.codes(m.op("Pad", y, pads, mode="reflect"), F32(0.3))
    return m.done(*(codes_conv(m, p, 24, 16, 3, scale=F32(2)) for p in (own, half, turned)), targets=("cpu", "simnpu"), step=2)


@case
def slices_past_a_border_that_stays():
    """What a product of a sum needs of the sum reaches past its border, where one term, which stays on the chip, has
    another's bytes."""
    m = Maker("slices_past_a_border_that_stays", opset=17)
    x = m.codes(m.input("x", 1, 32, 20, 20), F32(0.05))
    total = m.codes(m.op("Add", codes_conv(m, x, 32, 24), codes_conv(m, x, 32, 24)), F32(0.5))
    mean = m.codes(m.op("ReduceMean", total, axes=[2, 3]), F32(0.1))
    return m.done(codes_conv(m, total, 24, 32, 3, pads=[1] * 4, scale=F32(2)), codes_conv(m, mean, 24, 8), targets=("cpu", "simnpu"), step=2)


@case
def turned_inside_borders():
    """Rows and columns of an image that change places, inside borders: the copy with both was one that no box can say."""
    m = Maker("turned_inside_borders", opset=17)
    y = codes_conv(m, m.codes(m.input("x", 1, 16, 9, 12), F32(0.05)), 16, 24)
    turned = m.codes(m.op("Transpose", y, perm=[0, 1, 3, 2]), F32(0.3))
    return m.done(codes_conv(m, turned, 24, 16, 3, pads=[1] * 4, scale=F32(2)), targets=("cpu", "simnpu"), step=2)


@case
def codes_moved_out():
    """Codes that only moved left under the name of the floats between them."""
    m = Maker("codes_moved_out", opset=17)
    x, outs = m.codes(m.input("x", 1, 16, 6, 6), F32(0.05)), []
    for kind, *more, attrs in (("Transpose", {"perm": [0, 2, 3, 1]}), ("Pad", m.const(np.array([0, 0, 1, 0, 0, 0, 0, 2], I64)), {})):
        outs.append(m.op("QuantizeLinear", m.op(kind, x, *more, **attrs), m.const(F32(0.05)), m.const(I8(3))))
        m.types[outs[-1]] = TensorProto.INT8
    return m.done(*outs, targets=("cpu", "simnpu"), step=1)


@case
def top_of_many():
    """A few of many, found in rounds: those that are alike go by their places, infinities in their order."""
    rng, inf = np.random.default_rng(7), np.inf
    values = np.round(2 * rng.standard_normal((3, 100))) / 2
    values[1, ::7], values[1, 3], values[2, 4:] = -inf, inf, -inf
    m, outs = Maker("top_of_many", opset=17), []
    x = m.input("x", 3, 100, values=values)
    for count, largest in ((7, 1), (5, 0)):
        top = m.op("TopK", x, m.const(np.array([count], I64)), largest=largest)
        m.nodes[-1].output.append(top + "_at")
        outs += [top, m.op("Cast", top + "_at", to=TensorProto.FLOAT)]
    return m.done(*outs, targets=("cpu",))


@case
def sums_so_far():
    """Of more elements than a window takes: by blocks of rows and of columns, to either side, with the element itself and without."""
    m, outs = Maker("sums_so_far", opset=17), []
    for x in m.input("x", 3, 77, 2), m.input("columns", 2, 83, 19), m.input("row", 2, 1100):
        for exclusive in (0, 1):
            for reverse in (0, 1):
                outs.append(m.op("CumSum", x, m.const(I64(1)), exclusive=exclusive, reverse=reverse))
    return m.done(*outs, targets=("cpu",))


@case
def places_in_steps():
    """Constant places that go in even steps are slices: a reflection, every third one backwards, doubled rows."""
    m, outs = Maker("places_in_steps", opset=17), []
    x = m.input("x", 2, 5, 12, 18)
    outs.append(m.op("Pad", x, m.const(np.array([0, 0, 3, 2, 0, 0, 2, 4], I64)), mode="reflect"))
    for axis, places in ((2, [11, 8, 5, 2]), (3, [k // 2 for k in range(30)]), (2, [0, 6, 1, 7, 2, 8, 3, 9]), (1, [0, 4, 2, 2, 1]), (0, [1, -2])):
        outs.append(m.op("Gather", x, m.const(np.array(places, I64)), axis=axis))
    outs.append(m.op("Resize", x, "", "", m.const(np.array([2, 5, 36, 45], I64)), mode="cubic"))
    return m.done(*outs, targets=("cpu",))


def heads_inside_rows(label, heads, tokens, width, **judged):
    """Rows of several heads follow each other in one index, and tokens end inside a row of lanes: heads become an index of
    their own, and what a row lacks is read outside a box."""
    m = Maker(label)
    v = codes_product(m, m.codes(m.input("v", heads * tokens, 16), F32(0.05)), 16, width)
    v = m.codes(m.op("Reshape", v, m.const(np.array([heads, tokens, width], I64))), F32(4))
    return m.done(m.codes(m.op("MatMul", m.codes(m.input("p", heads, tokens, tokens), F32(0.05)), v), F32(4)), **judged)


CASES["heads_inside_rows"] = lambda: heads_inside_rows("heads_inside_rows", 3, 25, 16, step=4)
# One code of the first product is a tie that ONNX Runtime's f32 sums round the other way; a factor of the second is up to 6.
CASES["heads_inside_rows_2_17_32"] = lambda: heads_inside_rows("heads_inside_rows_2_17_32", 2, 17, 32, by_layers=True)


def heads_in_groups(label, turned):
    """Heads inside rows that a product walks by two indices, groups and heads of a group, in either order."""
    m, tokens, width = Maker(label), 25, 8
    v = codes_product(m, m.codes(m.input("v", tokens, 16), F32(0.05)), 16, 6 * width)
    v = m.codes(m.op("Reshape", v, m.const(np.array([tokens, 2, 3, width], I64))), F32(4))
    v = m.codes(m.op("Transpose", v, perm=[2, 1, 0, 3] if turned else [1, 2, 0, 3]), F32(4))
    p = m.codes(m.input("p", *((3, 2) if turned else (2, 3)), tokens, tokens), F32(0.05))
    return m.done(m.codes(m.op("MatMul", p, v), F32(4)), by_layers=True)


CASES["heads_in_groups"] = lambda: heads_in_groups("heads_in_groups", False)
CASES["heads_in_groups_turned"] = lambda: heads_in_groups("heads_in_groups_turned", True)


@case
def second_factor_of_merged_rows():
    """Its rows are two dims of what a copy made, which steps of one row do not keep apart: nobody looks through that copy.
    It is a product of codes, of a copy whose rows lie one behind the other."""
    m = Maker("second_factor_of_merged_rows")
    turned = m.op("Transpose", m.codes(m.input("v", 7, 5, 16), F32(0.05)), perm=[1, 0, 2])
    v = m.op("Reshape", turned, m.const(np.array([35, 16], I64)))
    return m.done(m.codes(m.op("MatMul", m.codes(m.input("p", 4, 35), F32(0.05)), v), F32(4)), step=4)


def far_scales(name, scale, **known):
    """Products of codes are less than the least normal number, and a result's code is worth this much."""
    m = Maker(name)
    x = m.codes(m.input("x", 3, 16), F32(2e-20))
    w = m.weights(m.rng.integers(-90, 91, (16, 16)).astype(I8), F32(1e-19), I8(0))
    return m.done(m.codes(m.op("MatMul", x, w), scale), **known)


@case
def far_scales_at_the_bound():
    return far_scales("far_scales_at_the_bound", F32(1e-20), step=1e-20)


@case
def far_scales_below_the_bound():
    return far_scales("far_scales_below_the_bound", np.nextafter(F32(1e-20), F32(0)), step=1e-20, **IN_FLOATS)


@case
def turned_round_in_eight_dims():
    """As many loops as a tensor has dims: what bounds constants that are packed bounds no other tensor."""
    m = Maker("turned_round_in_eight_dims")
    x = m.codes(m.input("x", *[2] * 7, 16), F32(0.05))
    return m.done(m.codes(m.op("Transpose", x, perm=[6, 5, 4, 3, 2, 1, 0, 7]), F32(0.05)), step=0.05)


@case
def table_with_a_number_of_unsigned_codes():
    """A factor inside a table of codes is 200, not -56."""
    m = Maker("table_with_a_number_of_unsigned_codes")
    x = m.op("Tanh", m.codes(m.input("x", 3, 32), F32(0.05)))
    factor = m.op("DequantizeLinear", m.const(U8(200)), m.const(F32(0.005)))
    return m.done(m.codes(m.op("Mul", x, factor), F32(0.02)), step=0.02)


@case
def sums_of_wide_numbers():
    """Sums of f64 and of int64 are made in their own types: f32 loses what is left when the large ones cancel out."""
    m = Maker("sums_of_wide_numbers")
    large = 2.0**30
    x = m.input("x", 2, 4, values=[[large, 1, -large, 0.5], [0.25, -large, 3, large]])
    parts = []
    for kind in (TensorProto.DOUBLE, TensorProto.INT64):
        wide = m.op("Cast", x, to=kind)
        parts.append(m.op("Cast", m.op("ReduceSum", wide, m.const(np.array([1], I64))), to=TensorProto.FLOAT))
    mean = m.op("ReduceMean", m.op("Cast", x, to=TensorProto.DOUBLE), axes=[1])
    return m.done(m.op("Concat", *parts, m.op("Cast", mean, to=TensorProto.FLOAT), axis=1), targets=("cpu",))


@case
def end_of_a_row_of_two_indices():
    """What is left behind whole rows of lanes is the row that ends where the tensor ends, whichever index it walks."""
    m = Maker("end_of_a_row_of_two_indices")
    return m.done(m.op("Sub", m.input("x", 1, 1000), m.input("z", 1, 1)), targets=("simnpu", "cpu"))


def long_epilogue(columns):
    """Many nodes behind a product are written once, in loops over a tile of three vectors; the last of these is short."""
    m = Maker(f"long_epilogue_{columns}")
    y = m.op("MatMul", m.input("x", 64, 32, values=m.rng.standard_normal((64, 32)) / 6), m.input("w", 32, columns))
    for op in "Erf", "Tanh", "Erf":
        y = m.op(op, y)
    return m.done(y, targets=("cpu:v3", "cpu:avx512"))


for columns in 21, 37:
    CASES[f"long_epilogue_{columns}"] = lambda columns=columns: long_epilogue(columns)


@case
def states_of_an_lstm():
    """The last states of both directions, the cell's beside the hidden one's, which none of ONNX's own tests asks for."""
    m, hidden = Maker("states_of_an_lstm"), 5
    draw = lambda *shape: m.const((m.rng.standard_normal(shape) / 3).astype(F32))  # noqa: E731
    m.nodes.append(helper.make_node("LSTM", [m.input("x", 4, 2, 3), draw(2, 4 * hidden, 3), draw(2, 4 * hidden, hidden), draw(2, 8 * hidden)],
                                    ["y", "h", "c"], name="lstm", hidden_size=hidden, direction="bidirectional"))
    return m.done("y", "h", "c", targets=("cpu",))


@case
def lanes_behind_rows_that_lie_apart():
    """A resize writes each third row; the lanes behind its eight channels are filled in those rows, not in the first ones."""
    m = Maker("lanes_behind_rows_that_lie_apart")
    wide = m.op("Resize", m.input("x", 1, 8, 13, 2), "", m.const(np.array([1, 1, 3, 1], F32)), mode="nearest", nearest_mode="floor")
    w = m.const(m.rng.standard_normal((8, 1, 5, 2)).astype(F32))
    return m.done(m.op("Conv", m.op("Clip", wide, m.const(F32(-1)), m.const(F32(2))), w, group=8), targets=("cpu", "cpu:avx512"), bisect=True)
