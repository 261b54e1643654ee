"""How well the cost model orders kernels on this machine's processor: predicted cycles beside measured times of seeded random
products and convolutions, one thread, and the rank correlation (Spearman).

    .venv-bench/bin/python bench/correlation.py --bin build/bin [--products 60] [--convolutions 40] [--all]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import peers


def model(path, node, x, y, weights):
    value = helper.make_tensor_value_info
    graph = helper.make_graph([node], "g", [value("x", TensorProto.FLOAT, x)], [value("y", TensorProto.FLOAT, y)],
                              [numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), path)


def product(rng, path):
    m, k, n = (int(2 ** rng.uniform(*span)) for span in ((0, 10), (5, 11), (5, 11)))
    model(path, helper.make_node("MatMul", ["x", "w"], ["y"]), [m, k], [m, n], rng.standard_normal((k, n), dtype=np.float32))
    return f"{m}x{k}x{n}"


def convolution(rng, path):
    channels, out, size = int(rng.integers(3, 257)), int(rng.integers(8, 257)), int(rng.integers(7, 57))
    window, stride = int(rng.choice([1, 3, 5])), int(rng.integers(1, 3))
    pad = window // 2
    side = (size + 2 * pad - window) // stride + 1
    node = helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[window] * 2, strides=[stride] * 2, pads=[pad] * 4)
    model(path, node, [1, channels, size, size], [1, out, side, side],
          rng.standard_normal((out, channels, window, window), dtype=np.float32))
    return f"{channels} to {out} at {size}, {window}x{window} / {stride}"


def measure(args, path):
    """Predicted cycles and the best milliseconds of several runs."""
    engine, report = f"{path}.pbe", f"{path}.json"
    subprocess.run([f"{args.bin}/pbc", path, "--target=cpu", "-o", engine, f"--report={report}"], check=True, capture_output=True)
    with open(report) as file:
        predicted = sum(kernel["predicted_cycles"] for kernel in json.load(file)["kernels"])
    best = None
    for _ in range(args.rounds):
        text = subprocess.run([f"{args.bin}/pb-run", engine, "--input", "x=random:1", "--threads=1", "--warmup=3", "--repeat=15"],
                              check=True, capture_output=True, text=True).stdout
        taken = 1e3 * peers.told(text, "best")
        best = taken if best is None else min(best, taken)
    return predicted, best


def ranks(values):
    order = np.argsort(values)
    place = np.empty(len(values))
    place[order] = np.arange(len(values))
    return place


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--products", type=int, default=60)
    parser.add_argument("--convolutions", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="print each")
    args = parser.parse_args()
    print(f"{peers.machine()}. Cycles predicted, measured time of one thread.\n")
    print("| | kernels | rank correlation | time a predicted cycle, ns: 10%, median, 90% |\n|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for what, make, count in (("products", product, args.products), ("convolutions", convolution, args.convolutions)):
            rng, rows = np.random.default_rng(args.seed), []
            for _ in range(count):
                name = make(rng, f"{folder}/m.onnx")
                rows.append((name, *measure(args, f"{folder}/m.onnx")))
            cycles, times = (np.array(column, float) for column in list(zip(*rows))[1:])
            correlation = np.corrcoef(ranks(cycles), ranks(times))[0, 1]
            ratio = np.percentile(1e6 * times / cycles, [10, 50, 90])
            print(f"| {what} | {count} | {correlation:.3f} | " + ", ".join(f"{r:.2f}" for r in ratio) + " |", flush=True)
            if args.all:
                for name, c, t in sorted(rows, key=lambda row: row[2] / row[1]):
                    print(f"  {name}: {c} cycles, {t:.3f} ms, {1e6 * t / c:.2f} ns a cycle", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
