"""Images of f32 on a chip whose commands take rows of lanes, computed with what lies along other dims of them; regressions.py
runs them."""

import numpy as np
from rank_cases import drawn
from regression_cases import CASES, F32, I64, Maker


def added(label, make):
    def built():
        m = Maker(label, 18)
        return m.done(make(m), bisect=True)

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
