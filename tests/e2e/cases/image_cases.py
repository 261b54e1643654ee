"""Images of f32 on a chip whose commands take rows of lanes, computed with what lies along other dims of them; regressions.py
runs them."""

import numpy as np
from rank_cases import drawn
from regression_cases import CASES, F32, I8, I64, Maker, codes_conv


def added(label, make, opset=18, **more):
    def built():
        m = Maker(label, opset)
        return m.done(make(m), bisect=True, **more)

    CASES[label] = built


def broadcast(shape, other, tensor):
    """What the lanes' dim of a plain image does not move: constants were taken to lie as the image does."""
    def make(m):
        return m.op("Mul", m.input("x", *shape), m.input("s", *other) if tensor else m.const(drawn(m, *other)))

    name = "tensor" if tensor else "constant"
    added(f"image_{'x'.join(map(str, shape))}_times_{name}_{'x'.join(map(str, other))}", make)


for _tensor in (False, True):
    broadcast((2, 16, 8, 8), (16, 1, 1), _tensor)
    broadcast((1, 5, 3, 3), (1, 5, 3, 1), _tensor)
    broadcast((2, 3, 5, 7), (3, 5, 7), _tensor)
    broadcast((2, 3, 5, 7), (2, 1, 1, 7), _tensor)
    broadcast((2, 16, 8, 8), (2, 16, 1, 8), _tensor)
    broadcast((3, 7, 5), (7, 1), _tensor)
    broadcast((2, 3, 2, 5, 4), (3, 1, 5, 1), _tensor)


def prelu(label, *shape):
    added(label, lambda m: m.op("PRelu", m.input("x", *shape), m.const(drawn(m, shape[1], 1, 1))))


prelu("prelu_of_an_input", 2, 16, 8, 8)
prelu("prelu_of_few_columns", 1, 5, 3, 3)


def conv(m, x, channels, outputs):
    return m.op("Conv", x, m.const(drawn(m, outputs, channels, 3, 3)), pads=[1] * 4)


def image_into_conv(m):
    x = m.op("PRelu", m.input("x", 2, 16, 7, 7), m.const(drawn(m, 16, 1, 1)))
    return conv(m, x, 16, 8)


def conv_with_plain(channels, kind, shape):
    """A factor that is plain and comes several times beside one in blocks of channels."""
    def make(m):
        x = m.op(kind, conv(m, m.input("x", 2, channels, 6, 6), channels, channels), m.input("z", *shape))
        return conv(m, x, channels, 4)

    added(f"{channels}_channels_{kind.lower()}_{'x'.join(map(str, shape))}_into_conv", make)


added("image_times_constants_into_conv", image_into_conv)
for _channels in (5, 16, 20):
    conv_with_plain(_channels, "Mul", (1, _channels, 1, 6))
    conv_with_plain(_channels, "Sub", (1, _channels, 6, 6))


def channels_last(outputs):
    """What a convolution makes goes from blocks of channels to the model's own order of dims by one copy."""
    added(f"conv_of_{outputs}_channels_last", lambda m: m.op("Transpose", conv(m, m.input("x", 2, 8, 6, 6), 8, outputs), perm=[0, 2, 3, 1]))


channels_last(16)
channels_last(17)


def constant_then_tensor(m):
    x = m.op("Mul", m.input("x", 2, 5, 7, 7), m.const(drawn(m, 5, 1, 1)))
    return m.op("Sigmoid", m.op("Mul", x, m.input("z", 1, 5, 1, 7)))


def repeated_in_blocks(m):
    """What a convolution made, several times beside a plain image."""
    x = m.op("Relu", conv(m, m.input("x", 1, 5, 6, 6), 5, 5))
    return m.op("Mul", m.input("z", 3, 5, 6, 6), x)


added("constant_then_tensor", constant_then_tensor)
added("conv_repeated_beside_an_image", repeated_in_blocks)


def padded(shape, pads):
    """Borders of a tensor that is no image end inside rows of lanes: no fill took fewer than one."""
    label = "pad_" + "x".join(map(str, shape)) + "_by_" + "_".join(map(str, pads))
    added(label, lambda m: m.op("Pad", m.input("x", *shape), m.const(np.array(pads, I64)), m.const(F32(0.5))))


padded((7,), (2, 3))
padded((3, 7), (1, 2, 0, 3))
padded((2, 3, 7), (1, 1, 2, 0, 0, 3))
padded((40, 500), (3, 5, 0, 9))
padded((2, 3, 2, 5, 4), (0, 1, 0, 2, 0, 0, 0, 3, 0, 1))


added("softplus_of_a_number", lambda m: m.op("Softplus", m.input("x", 1)))
added("softplus_of_an_image", lambda m: m.op("Softplus", m.input("x", 1, 17, 7, 9)))


def long_rows(kind, rows, columns):
    """Rows of which one alone is more than the chip has room for are combined in parts."""
    def make(m):
        x = m.input("x", rows, columns)
        return m.op(kind, x, m.const(np.array([1], I64))) if kind == "ReduceSum" else m.op(kind, x, axes=[1])

    added(f"{kind.lower()}_of_{rows}_rows_of_{columns}", make, 13)


long_rows("ReduceSum", 1, 65536)
long_rows("ReduceSum", 3, 40001)
long_rows("ReduceMax", 3, 40000)


def one_group(channels, *image):
    """GroupNormalization of one group, as exporters write it: a norm over all of an image."""
    def make(m):
        x = m.op("Reshape", m.input("x", 1, channels, *image), m.const(np.array([0, 1, -1], I64)))
        x = m.op("InstanceNormalization", x, m.const(np.ones(1, F32)), m.const(np.zeros(1, F32)))
        x = m.op("Reshape", x, m.const(np.array([1, channels, *image], I64)))
        return m.op("Add", m.op("Mul", x, m.const(drawn(m, channels, 1, 1))), m.const(drawn(m, channels, 1, 1)))

    added("norm_of_one_group_of_" + "x".join(map(str, (channels, *image))), make)


one_group(16, 4, 16)
one_group(64, 4, 256)


def attention_of_images(windows):
    """Queries, keys and values as images, whose 49 pixels are what both factors of the second product are summed along: what
    softmax makes of rows that end inside a row of lanes goes on with zeros behind it."""
    shape = windows, 16, 49

    def codes(m, x, scale):
        return m.codes(x, F32(scale), I8(0))

    def flat(m, name):
        return codes(m, m.op("Reshape", codes(m, m.input(name, windows, 16, 7, 7), 0.05), m.const(np.array(shape, I64))), 0.05)

    def make(m):
        queries = codes(m, m.op("Transpose", flat(m, "q"), perm=[0, 2, 1]), 0.05)
        scores = codes(m, m.op("MatMul", queries, flat(m, "k")), 0.1)
        shares = codes(m, m.op("Softmax", scores, axis=-1), 1 / 127)
        turned = codes(m, m.op("Transpose", shares, perm=[0, 2, 1]), 1 / 127)
        return codes(m, m.op("MatMul", flat(m, "v"), turned), 0.05)

    added(f"attention_of_{windows}_images", make, step=0.05)


attention_of_images(1)
attention_of_images(4)


def single_channel_bias(m):
    """A bias of one channel, which is computed, beside an image of one in blocks."""
    x = conv(m, m.input("x", 2, 5, 9, 7), 5, 1)
    return m.op("Relu", m.op("Add", x, m.op("Sigmoid", m.input("b", 1, 1, 1, 1))))


def transposed_of_one_channel(m):
    weights, bias = m.const(drawn(m, 24, 1, 3, 3)), m.const(drawn(m, 1))
    x = m.op("ConvTranspose", m.input("x", 2, 24, 11, 11), weights, bias, strides=[2, 2], pads=[1, 0, 1, 0])
    return m.op("Clip", x, m.const(F32(-0.5)), m.const(F32(0.5)))


def resized_single_channels(m):
    return m.op("Resize", m.input("x", 2, 1, 23, 28), "", m.const(np.array([1, 1, 3, 2], F32)), mode="linear")


def normalised_image(*shape):
    def make(m):
        channels = m.const(drawn(m, shape[1])), m.const(drawn(m, shape[1]))
        return m.op("InstanceNormalization", m.input("x", *shape), *channels)

    added("norm_of_each_channel_of_" + "x".join(map(str, shape)), make)


def norm_of_codes(m):
    """Each head's rows divided by their lengths, as cross-covariance attention does: numbers of rows keep their rank."""
    def codes(x, scale):
        return m.codes(x, F32(scale), I8(0))

    x = m.op("Reshape", codes(m.input("x", 1, 196, 128), 0.05), m.const(np.array([1, 196, 4, 32], I64)))
    x = codes(m.op("Transpose", x, perm=[0, 2, 3, 1]), 0.05)
    lengths = codes(m.op("ReduceL2", x, axes=[-1], keepdims=1), 0.2)
    return codes(m.op("Div", x, m.op("Expand", lengths, m.const(np.array([1, 4, 32, 196], I64)))), 1 / 64)


added("computed_bias_of_one_channel", single_channel_bias)
added("transposed_convolution_to_one_channel", transposed_of_one_channel)
added("resized_images_of_one_channel", resized_single_channels)
normalised_image(1, 11, 9, 32)
normalised_image(1, 1, 8, 17)
added("rows_of_heads_by_their_lengths", norm_of_codes, 13, step=1 / 64)


def widened(label, channels, size, scaled):
    """Codes leave as f32 in planes: they come out of their blocks as codes, the channels that end inside of a row too."""
    m = Maker(label)
    x = codes_conv(m, m.codes(m.input("x", 1, 16, size, size), F32(0.05)), 16, channels)
    return m.done(m.op("Mul", x, m.const(F32(3))) if scaled else x, step=0.9 if scaled else 0.3, bisect=True)


for _args in ((21, 56, False), (5, 116, False), (32, 48, False), (21, 56, True), (21, 57, False), (21, 8, False)):
    _label = "codes_widened_" + "_".join(map(str, _args))
    CASES[_label] = lambda a=(_label, *_args): widened(*a)


def long_row(label, shape, number, again):
    """One number for a row of many lanes, of a tensor that several steps walk, and of codes that are made of it."""
    m = Maker(label, opset=17)
    x = m.codes(m.input("x", *shape), F32(0.05))
    y = m.op("Sub", x, m.input("z", *number))
    y = m.op("Mul", m.op("Mul", y, y), m.const(np.full(number, 0.3, F32)))
    if again:
        y = m.op("Add", m.op("Sub", y, m.op("ReduceMean", y, axes=[2], keepdims=1)), y)
    return m.done(y, m.codes(y, F32(0.2)), step=0.2, bisect=True)


for _args in (((1, 1, 512), (1, 1, 1), True), ((1, 4, 512), (1, 4, 1), False), ((2, 3, 272), (1, 1, 1), True), ((1, 3, 32), (1, 3, 1), False)):
    _label = f"long_row_{'x'.join(map(str, _args[0]))}_by_{'x'.join(map(str, _args[1]))}"
    CASES[_label] = lambda a=(_label, *_args): long_row(*a)
