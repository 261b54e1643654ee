"""Graphs that fill the compiler's tables to their ends and past them: right, or refused with a code.

    tables.py --bin BUILD/bin [--only TEXT]

Each case says how many of something there are, and whether a refusal is a right answer.
"""

import argparse
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from quantised_graph import QuantisedGraph  # noqa: E402
from reference import Reference  # noqa: E402


def products(g, count):
    """Constants: each product has weights, a bias and scales."""
    x = g.input(1, 16)
    for _ in range(count):
        codes = g.rng.integers(-127, 128, (16, 16)).astype(np.int8)
        scales = g.rng.uniform(0.002, 0.004, 16).astype(np.float32)
        names = [g.const(codes), g.const(scales), g.const(np.zeros(16, np.int8))]
        w = g.node("DequantizeLinear", names, axis=0)
        y = g.node("Gemm", [g.floats(x), w, g.bias(x, scales, 16)], transB=1)
        x = g.quantise(y, x.scale, -5, (1, 16))
    g.output(x)


def sums(g, count):
    """Pointwise nests behind one reduction, each with a tensor of its own."""
    x = g.input(1, 16, 5, 5)
    parts = [g.op("MaxPool", x, kernel_shape=[1, 1]) for _ in range(count)]
    y = g.conv(x, 16, 1)
    for part in parts:
        y = g.op("Add", y, part, scale=1.1 * y.scale)
    g.output(y)


def parts(g, count):
    """Tensors that one concatenation takes."""
    x = g.input(1, 16, 5, 5)
    g.output(g.op("Concat", *(g.conv(x, 3, 1) for _ in range(count)), axis=1))


def outputs(g, count):
    x = g.input(1, 16, 5, 5)
    for _ in range(count):
        x = g.conv(x, 16, 1)
        g.output(x)


def reductions(g, count):
    """Reductions of which each makes the input of the next: stages of one kernel."""
    x = g.input(1, 16, 4, 4)
    for _ in range(count):
        x = g.op("MaxPool", x, kernel_shape=[2, 2], pads=[0, 0, 1, 1])
    g.output(x)


CASES = [(products, 3, False), (products, 700, False), (sums, 40, False), (parts, 40, False),
         (outputs, 60, False), (reductions, 12, False)]


def run_case(args, folder, build, count):
    """What happened: None when it is right, ("refused", codes), or ("FAILED", why)."""
    g = QuantisedGraph(f"{build.__name__}_{count}")
    build(g, count)
    model, stem = g.model(), os.path.join(folder, g.name)
    onnx.save(model, stem + ".onnx")
    for name, value in g.feeds.items():
        np.save(f"{stem}-{name}.npy", value)
    expected = Reference(model).run(g.feeds)
    names = [info.name for info in model.graph.output]
    pbc = tools.call([os.path.join(args.bin, "pbc"), stem + ".onnx", "--target=simnpu", "-o", stem + ".pbe"], 120)
    if pbc.returncode:
        codes = re.findall(r"error: .*\[(PB\d{4})\]", pbc.stderr)
        bug = "bug in the compiler" in pbc.stderr
        return ("refused", codes) if pbc.returncode == 1 and codes and not bug else ("FAILED", pbc.stderr[-400:])
    tools.run([os.path.join(args.bin, "pb-run"), stem + ".pbe", "--device=machine",
               *(f"--input={name}={stem}-{name}.npy" for name in g.feeds),
               *(f"--output={name}={stem}-{name}.npy" for name in names)])
    for name in names:
        wrong = np.count_nonzero(np.load(f"{stem}-{name}.npy") != expected[name])
        if wrong:
            return "FAILED", f"{name}: {wrong} numbers differ"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for build, count, may_refuse in CASES:
            name = f"{build.__name__} {count}"
            if args.only not in name:
                continue
            said = run_case(args, folder, build, count)
            wrong = said is not None and (said[0] == "FAILED" or not may_refuse)
            failed += wrong
            print(f"{'FAILED ' if wrong else ''}{name}: {'right' if said is None else said}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
