"""Kernels that differ in numbers alone take their words from one of them; with a fall-back each is followed by itself. Both
ways must give the same words: of convolutions whose scales, zero points and bounds differ, of residual sums, of tables.

    alike.py --bin BUILD/bin
"""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from regression_cases import F32, I8, Maker  # noqa: E402

TARGETS = "simnpu", "simnpu:8", "tinynpu.td", "tpu_v1.td"


def layer(m, x, k):
    """One of several that differ in numbers: in the zero point of its padding too."""
    w = m.weights(m.rng.integers(-90, 91, (16, 16, 3, 3)).astype(I8), F32(0.01 + 0.001 * k), I8(0))
    y = m.codes(m.op("Relu", m.op("Conv", x, w, pads=[1, 1, 1, 1])), F32(0.2 + 0.01 * k), I8(-20 - k))
    return m.codes(m.op("Add", x, y), F32(0.3 + 0.02 * k), I8(3 * k - 5))


def listing(args, folder, model, target, *more):
    """The commands of all kernels, one after the other."""
    engine = os.path.join(folder, "m.pbe")
    description = os.path.join(tools.HERE, "..", "chips", target) if target.endswith(".td") else target
    tools.run([os.path.join(args.bin, "pbc"), model, f"--target={description}", *more, "-o", engine])
    return tools.run([os.path.join(args.bin, "pb-objdump"), engine])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    m = Maker("layers_alike")
    x = m.codes(m.input("x", 1, 16, 12, 12), F32(0.05), I8(7))
    for k in range(4):
        x = layer(m, x, k)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.onnx")
        onnx.save(m.done(x).model, path)
        for target in TARGETS:
            together, alone = listing(args, folder, path, target), listing(args, folder, path, target, "--fallback=cpu")
            kernels = together.count("\nkernel ")
            print(f"{target}: {kernels} kernels, {len(together.splitlines())} lines{'' if together == alone else ' DIFFER'}")
            failed += together != alone or kernels < 4
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
