"""EfficientNet-B0, ConvNeXt-T, a U-Net and an LSTM in ONNX's operators, as exporters write them, with seeded weights. Compiled
for the CPU and compared with ONNX Runtime.

    exported.py --bin BUILD/bin [--size small|full] [--net efficientnet,...] [--time] [--keep DIR]

As transformers.py, whose options these are.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import transformers  # noqa: E402


def image(g, channels, side):
    return g.feed("image", g.rng.standard_normal((1, channels, side, side)).astype(np.float32))


def conv(g, x, inside, outside, kernel, group=1, spread=2, **attrs):
    fan = inside // group * kernel * kernel
    w = (g.rng.standard_normal((outside, inside // group, kernel, kernel)) * np.sqrt(spread / fan)).astype(np.float32)
    attrs.setdefault("pads", [(kernel - 1) // 2] * 4)
    return g.op("Conv", x, g.const(w), g.shift(outside), group=group, kernel_shape=[kernel] * 2, **attrs)


# ---- EfficientNet: batch norms are in the convolutions already ----


def swish(g, x):
    return g.op("Mul", x, g.op("Sigmoid", x))


def squeezed(g, x, channels, inner):
    """Squeeze and excitation."""
    s = swish(g, conv(g, g.op("GlobalAveragePool", x), channels, inner, 1))
    return g.op("Mul", g.op("Sigmoid", conv(g, s, inner, channels, 1)), x)


def inverted(g, x, inside, outside, kernel, stride, expand):
    inner = inside * expand
    y = swish(g, conv(g, x, inside, inner, 1)) if expand > 1 else x
    y = swish(g, conv(g, y, inner, inner, kernel, group=inner, strides=[stride] * 2))
    y = conv(g, squeezed(g, y, inner, max(1, inside // 4)), inner, outside, 1, spread=1)
    return g.op("Add", y, x) if stride == 1 and inside == outside else y


def efficientnet(g, side, stages, head, classes):
    x = swish(g, conv(g, image(g, 3, side), 3, 32, 3, strides=[2, 2]))
    inside = 32
    for outside, kernel, stride, expand, count in stages:
        for k in range(count):
            x = inverted(g, x, inside, outside, kernel, stride if k == 0 else 1, expand)
            inside = outside
    x = g.op("Flatten", g.op("GlobalAveragePool", swish(g, conv(g, x, inside, head, 1))))
    g.give("logits", g.op("Gemm", x, g.weights(head, classes), g.shift(classes)))


B0 = [(16, 3, 1, 1, 1), (24, 3, 2, 6, 2), (40, 5, 2, 6, 2), (80, 3, 2, 6, 3), (112, 5, 1, 6, 3), (192, 5, 2, 6, 4), (320, 3, 1, 6, 1)]

# ---- ConvNeXt ----


def turned_norm(g, x, width):
    """A norm of the channels of an image, which stand last for it."""
    y = g.norm(g.op("Transpose", x, perm=[0, 2, 3, 1]), width, 1e-6)
    return g.op("Transpose", y, perm=[0, 3, 1, 2])


def convnext_block(g, x, width):
    y = conv(g, x, width, width, 7, group=width, spread=1)
    y = g.norm(g.op("Transpose", y, perm=[0, 2, 3, 1]), width, 1e-6)
    y = g.linear(g.gelu(g.linear(y, width, 4 * width)), 4 * width, width)
    y = g.op("Mul", g.shift(width), y)
    return g.op("Add", g.op("Transpose", y, perm=[0, 3, 1, 2]), x)


def convnext(g, side, widths, depths, classes):
    x = turned_norm(g, conv(g, image(g, 3, side), 3, widths[0], 4, pads=[0] * 4, strides=[4, 4]), widths[0])
    for k, (width, depth) in enumerate(zip(widths, depths)):
        if k:
            x = conv(g, turned_norm(g, x, widths[k - 1]), widths[k - 1], width, 2, pads=[0] * 4, strides=[2, 2])
        for _ in range(depth):
            x = convnext_block(g, x, width)
    x = g.op("Flatten", turned_norm(g, g.op("GlobalAveragePool", x), widths[-1]))
    g.give("logits", g.op("Gemm", x, g.weights(widths[-1], classes), g.shift(classes)))


# ---- U-Net ----


def twice(g, x, inside, outside):
    for k in range(2):
        x = g.op("Relu", conv(g, x, outside if k else inside, outside, 3))
    return x


def unet(g, side, width, depth, classes):
    x, inside, kept = image(g, 3, side), 3, []
    for k in range(depth):
        x = twice(g, x, inside, width << k)
        inside = width << k
        kept.append(x)
        x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = twice(g, x, inside, 2 * inside)
    for k in reversed(range(depth)):
        half = width << k
        w = (g.rng.standard_normal((2 * half, half, 2, 2)) / np.sqrt(2 * half)).astype(np.float32)
        x = g.op("ConvTranspose", x, g.const(w), g.shift(half), kernel_shape=[2, 2], strides=[2, 2])
        x = twice(g, g.op("Concat", kept[k], x, axis=1), 2 * half, half)
    g.give("mask", conv(g, x, width, classes, 1, spread=1))


# ---- LSTM ----


def lstm(g, turns, inside, hidden, layers, classes):
    x = g.feed("frames", g.rng.standard_normal((turns, 1, inside)).astype(np.float32))
    state = [g.const(np.zeros((1, 1, hidden), np.float32)) for _ in range(2)]
    for k in range(layers):
        weights = [g.const((g.rng.standard_normal((1, 4 * hidden, n)) / np.sqrt(n)).astype(np.float32))
                   for n in (hidden if k else inside, hidden)]
        made = g.op("LSTM", x, *weights, g.shift(1, 8 * hidden), "", *state, count=3, hidden_size=hidden)
        x = g.op("Squeeze", made[0], g.whole(1))
    g.give("scores", g.linear(x, hidden, classes))
    g.give("cell", made[2])


NETS = {
    "efficientnet": (efficientnet, {"small": (32, B0[:4], 96, 10), "full": (224, B0, 1280, 1000)}),
    "convnext": (convnext, {"small": (32, (24, 40), (1, 1), 10), "full": (224, (96, 192, 384, 768), (3, 3, 9, 3), 1000)}),
    "unet": (unet, {"small": (32, 8, 2, 3), "full": (256, 32, 4, 2)}),
    "lstm": (lstm, {"small": (5, 12, 20, 2, 7), "full": (50, 80, 256, 2, 40)}),
}

if __name__ == "__main__":
    sys.exit(transformers.main(NETS, __doc__))
