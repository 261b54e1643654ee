"""f32 on a chip of queues that exists as a description only: the machine made of it against ONNX Runtime.

    floats.py --bin BUILD/bin --target FILE.td [--only TEXT] [--bisect] [--keep DIR]
"""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from float_graph import Graph, compare, expected_of  # noqa: E402

TOLERANCE = 1e-5  # of the output's largest number
# Groups that share a row of lanes could be kept apart by zeros alone, which infinity and NaN pass; so could channels of
# what the chip made and lanes that none fills.
REFUSED = dict.fromkeys(["depthwise", "depthwise_uneven", "depthwise_one_block", "depthwise_between", "uneven_between"],
                        "PB4042")
CASES = {}


def case(build):
    CASES[build.__name__] = build
    return build


def convolution(name, cin, cout, kernel, size=(9, 7), act=None, **attrs):
    def build(g):
        y = g.conv(g.input(1, cin, *size), cin, cout, kernel, **attrs)
        return [g.op(act, y) if act else y]

    CASES[name] = build


convolution("conv", 4, 8, 3)
convolution("conv_padded", 8, 4, 3, pads=[1, 1, 1, 1])
convolution("conv_padded_uneven", 5, 7, 3, pads=[0, 1, 2, 0], strides=[2, 1])
convolution("conv_relu", 8, 12, (1, 3), act="Relu", pads=[0, 1, 0, 1])
convolution("conv_image", 3, 8, 3, pads=[1, 1, 1, 1])
convolution("depthwise", 8, 8, 3, group=8, pads=[1, 1, 1, 1])
convolution("depthwise_uneven", 6, 6, (3, 2), group=6)
convolution("depthwise_one_block", 4, 4, 2, group=4, strides=[2, 2])
convolution("grouped", 8, 8, 3, group=2, pads=[1, 1, 1, 1])
convolution("no_bias", 8, 8, 1, bias=False)


@case
def floors(g):
    x = g.conv(g.input(1, 8, 8, 6), 8, 12, 3)
    return [g.op("Floor", x), g.op("Ceil", x), g.op("Floor", g.input(1, 8, 5, 5, name="plain"))]


@case
def two_convolutions(g):
    x = g.op("Relu", g.conv(g.input(1, 8, 8, 6), 8, 12, 3, pads=[1] * 4))
    return [g.conv(x, 12, 5, 3, pads=[1] * 4)]


@case
def uneven_between(g):
    return [g.conv(g.op("Relu", g.conv(g.input(1, 8, 6, 5), 8, 10, 1)), 10, 8, 1)]


@case
def plane_between(g):
    x = g.input(1, 6, 6, 5)
    return [g.conv(g.op("Add", x, g.input(1, 1, 6, 5, name="plane")), 6, 8, 1)]


@case
def uneven_sum(g):
    x = g.input(1, 6, 6, 5)
    return [g.conv(g.op("Relu", g.op("Add", x, x)), 6, 8, 1)]


@case
def sums_of_sums(g):
    """Each reads the one before twice: what is asked of values is asked once."""
    x = g.input(1, 6, 3, 2)
    for _ in range(30):
        x = g.op("Add", x, x)
    return [g.conv(x, 6, 8, 1)]


@case
def uneven_input(g):
    return [g.conv(g.op("MaxPool", g.input(1, 6, 6, 5), kernel_shape=[2, 2]), 6, 8, 1)]


@case
def depthwise_between(g):
    x = g.op("Relu", g.conv(g.input(1, 4, 9, 9), 4, 10, 1))
    x = g.op("Relu", g.conv(x, 10, 10, 3, group=10, pads=[1] * 4))
    return [g.conv(x, 10, 6, 1)]


@case
def pool_padded(g):
    """Numbers below zero, so that a fill of 0 instead of the least number would show."""
    x = g.op("Conv", g.input(1, 8, 9, 7), g.const(g.draw(8, 8, 1, 1)), g.const(g.draw(8) - np.float32(20)))
    return [g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)]


@case
def pool_to_pad(g):
    """A convolution that pads with zeros what a pool that pads with the least number made."""
    x = g.op("MaxPool", g.input(1, 8, 8, 8), kernel_shape=[2, 2], pads=[1, 0, 0, 1])
    return [g.conv(x, 8, 8, 3, pads=[1] * 4)]


@case
def pool_input(g):
    return [g.op("MaxPool", g.input(1, 8, 6, 6), kernel_shape=[2, 2], pads=[1, 1, 1, 1])]


@case
def average(g):
    return [g.op("GlobalAveragePool", g.conv(g.input(1, 4, 6, 6), 4, 8, 3))]


@case
def residual(g):
    x = g.conv(g.input(1, 8, 6, 6), 8, 8, 1)
    return [g.op("Relu", g.op("Add", g.conv(x, 8, 8, 3, pads=[1] * 4), x))]


@case
def pad_alone(g):
    pads = g.const(np.array([0, 0, 1, 2, 0, 0, 2, 1], np.int64))
    return [g.op("Pad", g.input(1, 4, 5, 5), pads, g.const(np.float32(-2.5)))]


@case
def dense(g):
    w = g.const(g.draw(12, 7))
    return [g.op("Gemm", g.input(3, 12), w, g.const(g.draw(7)))]


@case
def product_of_one_row(g):
    """Its columns, which leave at once, end inside a row of lanes: behind them the output has nothing."""
    x = g.op("Flatten", g.op("Relu", g.input(1, 8, 3, 5)))
    return [g.op("MatMul", x, g.const(g.draw(120, 37) / np.float32(9)))]


def run_case(args, folder, name):
    """None: right. Else what is wrong."""
    g = Graph(name)
    made = g.finish(*CASES[name](g))
    stem = os.path.join(folder, name)
    onnx.save(made.model, stem + ".onnx")
    for tensor, value in made.feeds.items():
        np.save(f"{stem}-{tensor}.npy", value)
    expected = expected_of(made.model, made.feeds)
    try:
        tools.compile_model(args.bin, stem + ".onnx", args.target, stem + ".pbe", *(["--bisect"] if args.bisect else []))
        tools.run([os.path.join(args.bin, "pb-run"), stem + ".pbe", "--device=machine",
                   *(f"--input={t}={stem}-{t}.npy" for t in made.feeds),
                   *(f"--output={t}={stem}-{t}.npy" for t in expected)])
    except tools.Failed as error:
        if name in REFUSED and f"[{REFUSED[name]}]" in str(error):
            return None
        return "; ".join(line for line in str(error).splitlines() if "error: " in line)[:500] or str(error)[-500:]
    if name in REFUSED:
        return "is not refused any more: take it off the list"
    wrong = [f"{t} {w}" for t, v in expected.items() if (w := compare(v, np.load(f"{stem}-{t}.npy"), TOLERANCE))]
    return "; ".join(wrong) or None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--bisect", action="store_true")
    parser.add_argument("--keep")
    args = parser.parse_args()
    names, failed = [name for name in CASES if args.only in name], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            wrong = run_case(args, args.keep or folder, name)
            failed += wrong is not None
            if wrong:
                print(f"FAILED {name}: {wrong}")
    print(f"{len(names)} graphs of f32 on {os.path.basename(args.target)}: {failed} failed")
    return int(failed > 0 or not names)


if __name__ == "__main__":
    sys.exit(main())
