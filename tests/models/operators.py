"""Small int8 networks of one operator each and what they answer, for pb-target-test: operators/NAME.onnx, and NAME_in.npy
and NAME_out.npy, three samples; and the logits of the digits. The answers are reference.py's.

    operators.py [--check]       --check: what stands there is what would be written
"""

import os
import sys
import tempfile

try:
    import numpy as np
    import onnx

    import net as netlib
    import qdq
    from reference import Reference
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES, CLASSES = 3, 6


def weights(rng, out, channels, kernel):
    return (rng.standard_normal((out, channels, kernel, kernel)) / kernel).astype(np.float32), rng.standard_normal(out).astype(np.float32)


def conv(n, rng, name, channels, out, kernel, group=1, **rest):
    w, b = weights(rng, out, channels // group, kernel)
    return n.conv(name, w, b, group=group, **rest)


def one_by_one(n, rng):
    return conv(n, rng, "c", 8, 16, 1, act="relu"), 16


def three_by_three(n, rng):
    return conv(n, rng, "c", 8, 16, 3, pad=1, act="relu"), 16


def odd_channels(n, rng):
    conv(n, rng, "a", 8, 13, 3, pad=1)
    return conv(n, rng, "b", 13, 21, 1, act="relu"), 21


def stride_two(n, rng):
    return conv(n, rng, "c", 8, 16, 5, stride=2, pad=2, act="relu"), 16


def no_padding(n, rng):
    return conv(n, rng, "c", 8, 16, 3, act="relu"), 16


def depthwise(n, rng):
    return conv(n, rng, "c", 8, 8, 3, group=8, pad=1, act="relu6"), 8


def max_pooling(n, rng):
    conv(n, rng, "c", 8, 16, 1)
    return n.maxpool("p", 3, 2), 16


def residual(n, rng):
    a = conv(n, rng, "a", 8, 16, 3, pad=1)
    b = conv(n, rng, "b", 8, 16, 1, src="x")
    return n.residual("s", a, b, act="relu"), 16


def wide(n, rng):
    conv(n, rng, "a", 8, 72, 1, act="relu")
    return conv(n, rng, "b", 72, 40, 1), 40


OPERATORS = {"conv_1x1": one_by_one, "conv_3x3": three_by_three, "conv_odd_channels": odd_channels, "conv_stride_2": stride_two,
             "conv_no_padding": no_padding, "conv_depthwise": depthwise, "max_pooling": max_pooling, "residual": residual,
             "conv_wide": wide}


def build(name, folder):
    rng = np.random.default_rng(sum(map(ord, name)))
    net = netlib.Net(name, "x", (1, 8, 11, 11), "y")
    _, channels = OPERATORS[name](net, rng)
    net.head("fc", (rng.standard_normal((CLASSES, channels)) / 4).astype(np.float32), rng.standard_normal(CLASSES).astype(np.float32))
    images = rng.standard_normal((16, 8, 11, 11)).astype(np.float32)
    path = os.path.join(folder, name + ".onnx")
    netlib.save(qdq.quantized_model(net, images), path, full_check=False)
    np.save(os.path.join(folder, name + "_in.npy"), images[:SAMPLES])


def answer(model, images, path):
    reference = Reference(onnx.load(model))
    np.save(path, reference.run({reference.inputs[0]: images})[reference.outputs[0]])


def main():
    check = "--check" in sys.argv[1:]
    there = os.path.join(HERE, "operators")
    with tempfile.TemporaryDirectory() as work:
        folder = work if check else there
        for name in OPERATORS:
            if not check:
                build(name, there)
            answer(os.path.join(there, name + ".onnx"), np.load(os.path.join(there, name + "_in.npy")),
                   os.path.join(folder, name + "_out.npy"))
        answer(os.path.join(HERE, "digits.onnx"), np.load(os.path.join(HERE, "digits_images.npy")), os.path.join(folder, "digits_out.npy"))
        wrong = [f for f in sorted(os.listdir(work)) if open(os.path.join(work, f), "rb").read() != open(os.path.join(there, f), "rb").read()]
    for f in wrong:
        print(f"{f} is not what the reference says")
    sys.exit(len(wrong) > 0)


main()
