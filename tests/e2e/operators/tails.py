"""What stands behind products whose rows end inside a vector. The last vector of such a row begins earlier, over elements that the
one before has made, which is right only where what it reads is not what it wrote: each operator here gives something else when
it is applied to its own result. Products of rows, with biases, of images, and lines; what they meet is an input, a column, a
row or a choice. Compared with ONNX Runtime.

    tails.py --bin BUILD/bin [--targets cpu:v3,cpu:avx512] [--every K]
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
from float_graph import Graph, compare, expected_of  # noqa: E402

TOLERANCE = 2e-5  # of the output's largest number
COLUMNS = [9, 15, 17, 20, 23, 24, 25, 31, 33, 36, 40, 44, 47, 57, 65, 72, 79, 97, 121, 129, 143, 201]
ROWS = [1, 3, 4, 7, 16, 17]

BEHIND = {
    "Neg": lambda g, x: g.op("Neg", x),
    "Exp": lambda g, x: g.op("Exp", x),
    "Tanh": lambda g, x: g.op("Tanh", x),
    "Sigmoid": lambda g, x: g.op("Sigmoid", x),
    "Mul": lambda g, x: g.op("Mul", x, g.const(np.float32(-1.5))),
    "Sub": lambda g, x: g.op("Sub", g.const(np.float32(1)), x),
    "Add": lambda g, x: g.op("Add", x, g.const(np.float32(0.75))),
    "Div": lambda g, x: g.op("Div", x, g.const(np.float32(3))),
    "Square": lambda g, x: g.op("Mul", x, x),
    "LeakyRelu": lambda g, x: g.op("LeakyRelu", x, alpha=-0.5),
    "Sqrt": lambda g, x: g.op("Sqrt", g.op("Abs", x)),
    "Softplus": lambda g, x: g.op("Softplus", x),
    "Gelu": lambda g, x: g.op("Gelu", x),
    "Erf": lambda g, x: g.op("Neg", g.op("Erf", x)),
}


class Shape:
    """A graph of one shape: every operator behind a product of its own, and every meeting."""

    def __init__(self, number):
        self.columns, self.rows = COLUMNS[number % len(COLUMNS)], ROWS[number % len(ROWS)]
        self.number, self.graph, self.deep = number, Graph(f"tails{number}"), 5 + number % 12

    def product(self):
        g = self.graph
        weight = g.draw(self.deep, self.columns) / np.float32(self.deep)
        form = self.number % 3
        if form == 0:
            return g.op("MatMul", "a", g.const(weight))
        if form == 1:
            return g.op("Gemm", "a", g.const(np.ascontiguousarray(weight.T)), g.const(g.draw(self.columns)), transB=1)
        return g.op("Conv", "a", g.const(weight.T.reshape(self.columns, self.deep, 1, 1)), kernel_shape=[1, 1])

    def build(self):
        g, rows, columns = self.graph, self.rows, self.columns
        image = self.number % 3 == 2
        g.feed("a", g.draw(1, self.deep, rows, 1) if image else g.draw(rows, self.deep))
        whole = (1, columns, rows, 1) if image else (rows, columns)
        column = (1, columns, 1, 1) if image else (1, columns)
        g.feed("x", g.draw(*whole) / np.float32(2))
        g.feed("row", g.draw(*column))
        g.feed("mask", g.draw(*whole) > 0)
        meetings = [lambda y: g.op("Add", y, "x"), lambda y: g.op("Where", "mask", y, "x"), lambda y: g.op("Mul", y, "x"),
                    lambda y: g.op("Add", g.op("Mul", y, "row"), "x")]
        results = []
        for k, behind in enumerate(BEHIND.values()):
            met = meetings[(k + self.number) % len(meetings)](self.product())
            result = behind(g, met)
            if k % 4 == 3:  # and what is read once more beside it
                result = g.op("Sub", g.op("Neg", result), met)
            results.append(result)
        return g.finish(*results, inferred=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--targets", default="cpu:v3,cpu:avx512")
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    tools.skip_without(args.bin, *args.targets.split(","))
    failed, numbers = 0, range(0, len(COLUMNS) * len(ROWS) // 2, args.every)  # the two lists in step: each pair once
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            shape = Shape(number)
            case = shape.build()
            expected = expected_of(case.model, case.feeds)
            onnx.save(case.model, f"{folder}/m.onnx")
            for name, value in case.feeds.items():
                np.save(f"{folder}/{name}.npy", value)
            for target in args.targets.split(","):
                tools.run([f"{args.bin}/pbc", f"{folder}/m.onnx", f"--target={target}", "-o", f"{folder}/m.pbe", "--threads=1"])
                if not tools.runs_here(args.bin, target):
                    continue
                tools.run([f"{args.bin}/pb-run", f"{folder}/m.pbe", f"--threads={1 + number % 2}",
                           *(f"--input={name}={folder}/{name}.npy" for name in case.feeds),
                           *(f"--output={name}={folder}/{name}.npy" for name in expected)])
                for kind, (name, want) in zip(BEHIND, expected.items()):
                    wrong = compare(want, np.load(f"{folder}/{name}.npy"), TOLERANCE)
                    if wrong:
                        print(f"FAILED {target} {shape.rows} rows of {shape.columns}: {kind}: {wrong}", flush=True)
                        failed += 1
    print(f"{len(numbers)} shapes, {len(BEHIND)} operators behind products on {args.targets}: {failed} wrong")
    return int(failed > 0 or not numbers)


if __name__ == "__main__":
    sys.exit(main())
