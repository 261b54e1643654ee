"""Shapes that products come in beside images and rows: volumes [n, c, d, h, w], lines [n, c, w], stacks of one matrix, windows
that meet padding alone. Compared with ONNX Runtime, and none is computed element by element, in lanes that are empty, or in vain.

    shapes.py --bin BUILD/bin [--targets cpu:v3,cpu:avx512] [--only NAME]
"""

import argparse
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from float_graph import Graph, compare, expected_of  # noqa: E402

TOLERANCE = 1e-5  # of the output's largest number
LANES = {"cpu:v3": 8, "cpu:avx512": 16}
CUBE, PADS = (3, 3, 3), [1] * 6
CASES = {}


def case(name, products, macs=None):
    """Registers what builds a graph on `g` and returns its output; `products`: nests that an instruction multiplies, `macs`:
    of all of them together, and then all lanes of four instructions can make them in the cycles that are predicted."""

    def register(build):
        CASES[name] = (build, products, macs)
        return build

    return register


def relu(g, x):
    return g.op("Relu", x)


@case("cube", 1)
def cube(g):
    return g.conv(g.input(1, 24, 4, 9, 7), 24, 40, CUBE, pads=PADS)


@case("planes_then_depth", 2)
def planes_then_depth(g):
    x = relu(g, g.conv(g.input(1, 16, 4, 9, 7), 16, 24, (1, 3, 3), pads=[0, 1, 1, 0, 1, 1]))
    return g.conv(x, 24, 16, (3, 1, 1), pads=[1, 0, 0, 1, 0, 0])


@case("stem", 1)
def stem(g):
    return relu(g, g.conv(g.input(1, 3, 4, 19, 17), 3, 24, (3, 7, 7), strides=[1, 2, 2], pads=[1, 3, 3] * 2))


@case("residual", 2)
def residual(g):
    x = relu(g, g.norm(g.conv(g.input(1, 17, 4, 6, 5), 17, 24, CUBE, pads=PADS), 24))
    return relu(g, g.op("Add", x, g.conv(x, 24, 24, CUBE, pads=PADS)))


@case("groups_of_16", 1)
def groups_of_16(g):
    return g.conv(g.input(1, 64, 3, 6, 5), 64, 64, CUBE, group=4, pads=PADS)


@case("groups_of_8", 1)
def groups_of_8(g):
    return g.conv(g.input(1, 32, 3, 6, 5), 32, 32, CUBE, group=4, pads=PADS)


@case("groups_that_end_in_a_block", 3)
def groups_that_end_in_a_block(g):
    x = relu(g, g.conv(g.input(1, 24, 9, 7), 24, 40, 3, pads=[1] * 4))
    return g.conv(relu(g, g.conv(x, 40, 40, 3, group=5, pads=[1] * 4)), 40, 17, 1)


@case("depthwise", 3)
def depthwise(g):
    x = relu(g, g.conv(g.input(1, 16, 4, 9, 7), 16, 48, (1, 1, 1)))
    return g.conv(relu(g, g.conv(x, 48, 48, CUBE, group=48, strides=[1, 2, 2], pads=PADS)), 48, 16, (1, 1, 1))


@case("pools", 3)
def pools(g):
    x = g.op("MaxPool", g.conv(g.input(1, 16, 5, 9, 7), 16, 40, (1, 1, 1)), kernel_shape=[3] * 3, strides=[2] * 3, pads=PADS)
    x = g.op("AveragePool", g.conv(x, 40, 24, (1, 1, 1)), kernel_shape=[2, 2, 2], strides=[1, 2, 2])
    return g.conv(g.op("GlobalAveragePool", x), 24, 17, (1, 1, 1))


@case("joined", 3)
def joined(g):
    x = g.input(1, 16, 4, 6, 5)
    both = g.op("Concat", relu(g, g.conv(x, 16, 32, (1, 1, 1))), relu(g, g.conv(x, 16, 16, CUBE, pads=PADS)), axis=1)
    return g.conv(both, 48, 24, (1, 1, 1))


@case("joined_inside_a_row", 3)
def joined_inside_a_row(g):
    x = g.input(1, 16, 4, 6, 5)
    both = g.op("Concat", relu(g, g.conv(x, 16, 20, (1, 1, 1))), relu(g, g.conv(x, 16, 17, CUBE, pads=PADS)), axis=1)
    return g.conv(both, 37, 24, (1, 1, 1))


@case("transposed", 1)
def transposed(g):
    x = relu(g, g.conv(g.input(1, 16, 3, 5, 4), 16, 24, CUBE, pads=PADS))
    weight = g.const(g.draw(24, 17, 2, 2, 2) / np.float32(5))
    return g.op("ConvTranspose", x, weight, kernel_shape=[2, 2, 2], strides=[2, 2, 2])


@case("norms", 2)
def norms(g):
    x = g.conv(g.input(1, 16, 4, 6, 5), 16, 24, CUBE, pads=PADS)
    x = g.op("InstanceNormalization", x, g.const(g.draw(24)), g.const(g.draw(24)))
    return g.conv(g.op("LeakyRelu", x), 24, 16, CUBE, strides=[2, 2, 2], pads=PADS)


@case("resized", 2)
def resized(g):
    x = g.conv(g.input(1, 16, 3, 4, 5), 16, 24, CUBE, pads=PADS)
    scales = g.const(np.array([1, 1, 2, 2, 2], np.float32))
    return g.conv(g.op("Resize", x, "", scales, mode="nearest"), 24, 16, (1, 1, 1))


@case("flattened", 2)
def flattened(g):
    x = relu(g, g.conv(g.input(1, 16, 3, 4, 5), 16, 24, CUBE, pads=PADS))
    return g.op("Gemm", g.op("Flatten", x), g.const(g.draw(24 * 60, 17) / np.float32(40)))


@case("several_volumes", 2)
def several_volumes(g):
    x = relu(g, g.conv(g.input(2, 16, 3, 6, 5), 16, 17, CUBE, pads=PADS))
    return g.conv(x, 17, 40, CUBE, pads=PADS, dilations=[1, 2, 1], strides=[1, 1, 2])


@case("rows", 2)
def rows(g):
    x = relu(g, g.conv(g.input(1, 24, 50), 24, 40, (3,), pads=[1, 1]))
    return g.conv(x, 40, 17, (5,), strides=[2], pads=[2, 2], group=1)


@case("rows_in_groups", 1)
def rows_in_groups(g):
    return g.conv(g.input(1, 64, 50), 64, 64, (5,), pads=[2, 2], group=4)


@case("stack_of_one", 3, macs=49 * (64 * 64 + 64 * 256 + 256 * 64))
def stack_of_one(g):
    """An image's pixels as the rows of a stack of one matrix, as transformers on windows have them, and back."""
    x = g.conv(g.input(1, 64, 7, 7), 64, 64, (1, 1))
    x = g.op("Transpose", g.op("Reshape", x, g.const(np.array([1, 1, 64, 49], np.int64))), perm=[0, 1, 3, 2])
    x = relu(g, g.op("MatMul", x, g.const(g.draw(64, 256) / np.float32(8))))
    x = g.op("Transpose", g.op("MatMul", x, g.const(g.draw(256, 64) / np.float32(16))), perm=[0, 1, 3, 2])
    return relu(g, g.op("Reshape", x, g.const(np.array([1, 64, 7, 7], np.int64))))


@case("atrous", 1, macs=49 * 64 * 64)
def atrous(g):
    return g.conv(g.input(1, 64, 7, 7), 64, 64, 3, dilations=[8, 8], pads=[8] * 4)


@case("atrous_volume", 1, macs=5 * 6 * 7 * 32 * 64)
def atrous_volume(g):
    return g.conv(g.input(1, 32, 5, 6, 7), 32, 64, CUBE, dilations=[8] * 3, pads=[8] * 6)


@case("found_by_number", 1)
def found_by_number(g):
    """Windows that lie over each other, gathered along both dims of a padded image, as attention on halos has them."""
    x = g.op("Pad", g.conv(g.input(1, 32, 8, 8), 32, 64, (1, 1), bias=False), g.const(np.array([0, 0, 2, 2] * 2, np.int64)))
    windows = g.const(np.array([[0, 1, 2, 3, 4, 5], [4, 5, 6, 7, 8, 9]], np.int64))
    x = g.op("Transpose", g.op("Gather", x, windows, axis=2), perm=[0, 1, 2, 4, 3])
    x = g.op("Transpose", g.op("Gather", x, windows, axis=3), perm=[0, 1, 2, 3, 5, 4])
    return g.op("Transpose", g.op("Reshape", x, g.const(np.array([4, 16, 4, 36], np.int64))), perm=[0, 2, 3, 1])


@case("residual_that_is_split", 6)
def residual_that_is_split(g):
    """What is added to a product lies plainly, for others take parts of its channels that are no rows of lanes."""
    x = relu(g, g.conv(g.input(1, 16, 9, 7), 16, 48, (1, 1)))
    g.op_of_many("Split", [x, g.const(np.array([30, 6, 6, 6], np.int64))], ["whole", "square", "row", "column"], axis=1)
    parts = ["whole", g.conv("square", 6, 6, 3, group=6, pads=[1] * 4), g.conv("row", 6, 6, (1, 3), group=6, pads=[0, 1, 0, 1]), "column"]
    y = relu(g, g.conv(g.op("Concat", *parts, axis=1), 48, 96, (1, 1)))
    y = g.op("Mul", g.conv(y, 96, 48, (1, 1), bias=False), g.const(g.draw(48, 1, 1)))
    return g.conv(g.norm(g.op("Add", y, x), 48), 48, 16, (1, 1))


@case("channels_behind_rows", 2)
def channels_behind_rows(g):
    """Each channel for itself, of an image that comes as rows of channels, as between transformers' layers."""
    x = relu(g, g.op("MatMul", g.input(1, 9, 8, 24), g.const(g.draw(24, 48) / np.float32(5))))
    x = g.conv(g.op("Transpose", x, perm=[0, 3, 1, 2]), 48, 48, 3, group=48, pads=[1] * 4)
    return g.op("Sigmoid", g.op("Transpose", x, perm=[0, 2, 3, 1]))


def rows_of(first, count):
    return np.arange(first, first + count, dtype=np.int64).reshape(count, 1)


@case("rows_that_are_set", 2, macs=70 * 24 * (24 + 16))
def rows_that_are_set(g):
    """Slices that are set or added to, as PyTorch's exporter writes them: by numbers of rows, which are constant."""
    x = g.op("MatMul", g.input(70, 24), g.const(g.draw(24, 24)))
    x = g.op("ScatterND", x, g.const(rows_of(1, 69)), relu(g, g.op("GatherND", x, g.const(rows_of(0, 69)))))
    x = g.op("ScatterND", x, g.const(rows_of(-70, 40)), g.op("GatherND", x, g.const(rows_of(-40, 40))), reduction="add")
    x = g.op("ScatterND", x, g.const(rows_of(65, 5)), g.const(g.draw(5, 24)))
    return g.op("MatMul", x, g.const(g.draw(24, 16)))


class Test:
    def __init__(self, bin_dir, folder, name):
        build, self.products, self.macs = CASES[name]
        graph = Graph(name)
        made = graph.finish(build(graph))
        self.bin, self.name, self.model = bin_dir, name, os.path.join(folder, name + ".onnx")
        onnx.save(made.model, self.model)
        self.inputs = []
        for tensor, value in made.feeds.items():
            file = os.path.join(folder, f"{name}-{tensor}.npy")
            np.save(file, value)
            self.inputs.append(f"--input={tensor}={file}")
        self.expected = expected_of(made.model, made.feeds)
        self.engine, self.made = self.model[:-5] + ".pbe", self.model[:-5] + "-out.npy"

    def in_vain(self, target, plan):
        text = tools.run([os.path.join(self.bin, "pbc"), self.model, f"--target={target}", "--emit=outline"])
        macs = sum(int(number) for number in re.findall(r"pb\.macs = (\d+) : i64, pb\.nest", text))
        if macs != self.macs:
            yield f"{macs} products, not {self.macs}"
        if "memref.load" in text:
            yield "elements are found by numbers"
        cycles = sum(int(number) for number in re.findall(r"(\d+) cycles", plan))
        if cycles * LANES[target] > 4 * self.macs:
            yield f"{cycles} cycles for {self.macs} products"

    def problems(self, target):
        plan = tools.run([os.path.join(self.bin, "pbc"), self.model, f"--target={target}", "--emit=plan"])
        found = len(re.findall(r"instruction ", plan))
        if found < self.products:
            yield f"{found} of {self.products} products are made by an instruction"
        if self.macs:
            yield from self.in_vain(target, plan)
        tools.compile_model(self.bin, self.model, target, self.engine)
        for threads in (1, 2) if tools.runs_here(self.bin, target) else ():
            tools.run([os.path.join(self.bin, "pb-run"), self.engine, "--device=native", f"--threads={threads}", *self.inputs,
                       f"--output={self.made}"])
            wrong = compare(next(iter(self.expected.values())), np.load(self.made), TOLERANCE)
            if wrong:
                yield f"{threads} threads: {wrong}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--targets", default="cpu:v3,cpu:avx512")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    names, failed = [name for name in CASES if args.only in name], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            test = Test(args.bin, folder, name)
            for target in args.targets.split(","):
                for problem in test.problems(target):
                    print(f"FAILED {name} on {target}: {problem}", flush=True)
                    failed += 1
    print(f"{len(names)} graphs on {args.targets}: {failed} failed")
    return int(failed > 0 or not names)


if __name__ == "__main__":
    sys.exit(main())
