"""Pools of pictures of few channels, which stay in planes on cores and go along rows (core/s3/layout/few.c): averages and maxima of
windows, steps and borders, over two dims and three, and over all, against NumPy in f64; none runs as plain loops.

    tests/onnx/few_channels.py --bin build/bin"""

import argparse
import itertools
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import plain_loops  # noqa: E402
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402


def pooled(x, size, step, pad, average):
    dims = len(size)
    edge = [(0, 0)] * 2 + [(pad, pad)] * dims
    x = np.pad(x.astype(np.float64), edge, constant_values=0 if average else -np.inf)
    counts = [(n - k) // step + 1 for n, k in zip(x.shape[2:], size)]
    parts = [x[(slice(None), slice(None), *(slice(a, a + (c - 1) * step + 1, step) for a, c in zip(at, counts)))] for at in itertools.product(*map(range, size))]
    return sum(parts) / len(parts) if average else np.max(parts, 0)


def check(checks, bin, folder, shape, size, step, pad, average):
    x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    dims = tuple(range(2, len(shape)))
    want = pooled(x, size, step, pad, average) if size else x.astype(np.float64).mean(dims, keepdims=True)
    how = {"kernel_shape": size, "strides": [step] * len(size), "pads": [pad] * 2 * len(size)} if size else {}
    if size and average:
        how["count_include_pad"] = 1
    node = helper.make_node(("AveragePool" if average else "MaxPool") if size else "GlobalAveragePool", ["x"], ["y"], **how)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, want.shape)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), folder / "m.onnx")
    what = f"{node.op_type} of {shape}, {size} by {step}, {pad} around"
    done = tools.call([f"{bin}/pbc", str(folder / "m.onnx"), "--target=cpu", "-o", str(folder / "m.pbe")])
    checks.say(not done.returncode and not plain_loops.is_said(done.stderr), f"{what}: {done.stderr.strip()[-200:] if done.returncode else 'no plain loops'}")
    np.save(folder / "x.npy", x)
    for threads in (1, 2) if not done.returncode else ():
        tools.run([f"{bin}/pb-run", str(folder / "m.pbe"), f"--threads={threads}", "--input", str(folder / "x.npy"), "--output", f"y={folder / 'y.npy'}"])
        checks.say(np.abs(np.load(folder / "y.npy") - want).max() <= 2e-6, f"{what}, {threads} threads")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checks = tools.Checks(options.bin, folder)
        for shape, size, step, pad in (([1, 3, 61, 67], [3, 3], 1, 0), ([2, 3, 64, 96], [2, 2], 2, 0), ([1, 1, 40, 50], [5, 5], 1, 2), ([1, 4, 90, 100], [3, 3], 3, 1),
                                       ([1, 3, 12, 20, 36], [3, 3, 3], 1, 0), ([3, 2, 300], [4], 2, 0)):
            for average in True, False:
                check(checks, options.bin, Path(folder), shape, size, step, pad, average)
        for shape in [2, 3, 50, 70], [1, 5, 8, 9, 40], [1, 2, 333]:
            check(checks, options.bin, Path(folder), shape, [], 1, 0, True)
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
