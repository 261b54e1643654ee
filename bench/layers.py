"""What stands between the layers of the large benches: pairs of layers and single ones, against ONNX Runtime, one thread. A layer
that is fast alone may be slow behind another, whose result lies otherwise than it wants.

    .venv/bin/python bench/layers.py --bin build/bin [--type f32|int8] [--target cpu] [--channels 64,24] [--only TEXT,TEXT]
                                     [--below 0.9] [--rounds 3] [--machine simnpu]

Each pair is a model of three or four layers: something that makes channels, and something that takes them. Both programs run in
turn; a figure is the least of the rounds' least, in ms. Prints Markdown: rows below the ratio, the geometric mean of all, what is
refused. Results must agree with ONNX Runtime's (f32: 1e-3 of what is larger; int8: with its graph optimisations off, within three
codes, for a code more in one layer is several behind it). --machine: int8 models are also compiled for that chip and must give
the processor's bits on its machine. Exit code 1 where results differ.
"""

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

EDGE = 40
STEP = np.float32(0.05)  # of codes


class Net:
    """Operators one behind the other, by name. Of codes each result is quantised and back, as ONNX Runtime's quantiser has it."""

    def __init__(self, coded):
        self.coded, self.rng, self.nodes, self.consts = coded, np.random.RandomState(5), [], []

    def const(self, value):
        name = f"c{len(self.consts)}"
        self.consts.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def ints(self, *values):
        return self.const(np.array(values, np.int64))

    def node(self, kind, *inputs, results=1, **attrs):
        names = [f"t{len(self.nodes)}_{k}" for k in range(results)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=f"{kind.lower()}{len(self.nodes)}", **attrs))
        return names[0] if results == 1 else names

    def codes(self, x, scale=STEP, zero=131):
        if not self.coded:
            return x
        parameters = self.const(np.float32(scale)), self.const(np.uint8(zero))
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, *parameters), *parameters)

    def op(self, kind, *inputs, **attrs):
        bounded = kind in ("Sigmoid", "Softmax", "HardSigmoid")
        return self.codes(self.node(kind, *inputs, **attrs), *((1 / 256, 0) if bounded else ()))

    def weights(self, *shape, axis=0):
        fan = math.prod(shape) / shape[axis]
        if not self.coded:
            return self.const((self.rng.randn(*shape) / math.sqrt(fan)).astype(np.float32))
        scales = np.full(shape[axis], 0.02 / math.sqrt(fan), np.float32)
        drawn = self.rng.randint(-127, 128, shape).astype(np.int8)
        return self.node("DequantizeLinear", self.const(drawn), self.const(scales), self.const(np.zeros(shape[axis], np.int8)), axis=axis)

    def conv(self, x, ins, outs, kernel=1, act=None, **attrs):
        group = attrs.get("group", 1)
        y = self.node("Conv", x, self.weights(outs, ins // group, kernel, kernel), pads=[kernel // 2] * 4, **attrs)
        return self.codes(self.node(act, y) if act else y)

    def transposed(self, x, ins, outs, kernel, pads):
        return self.codes(self.node("ConvTranspose", x, self.weights(ins, outs, kernel, kernel, axis=1), strides=[2, 2], pads=[pads] * 4))

    def resize(self, x, channels, **attrs):
        return self.op("Resize", x, "", "", self.ints(1, channels, 2 * EDGE, 2 * EDGE), **attrs)


NEAR = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}


def silu(n, x):
    return n.op("Mul", x, n.op("Sigmoid", x))


def gate(n, x, c):
    small = n.conv(n.op("GlobalAveragePool", x), c, c // 4, act="Relu")
    return n.op("Mul", x, n.op("Sigmoid", n.conv(small, c // 4, c)))


def attention(n, x, c):
    rows = n.op("Reshape", n.op("MaxPool", x, kernel_shape=[4, 4], strides=[4, 4]), n.ints(1, c, (EDGE // 4) ** 2))
    scores = n.op("MatMul", n.op("Transpose", rows, perm=[0, 2, 1]), rows)
    return n.op("MatMul", rows, n.op("Softmax", scores, axis=-1))


def shuffled(n, x, c):
    y = n.op("Transpose", n.op("Reshape", x, n.ints(1, 2, c // 2, EDGE, EDGE)), perm=[0, 2, 1, 3, 4])
    return n.conv(n.op("Reshape", y, n.ints(1, c, EDGE, EDGE)), c, 16)


def halves(n, x, c):
    first, second = (n.codes(part) for part in n.node("Split", x, results=2, axis=1, num_outputs=2))
    return n.op("Mul", first, n.op("Sigmoid", second))


def flat(n, x, c):
    y = n.op("Reshape", n.op("MaxPool", x, kernel_shape=[4, 4], strides=[4, 4]), n.ints(1, -1))
    return n.op("Gemm", y, n.weights(c * (EDGE // 4) ** 2, 32, axis=1))


def rows(n, x, c):
    y = n.op("Transpose", n.op("Reshape", x, n.ints(1, c, EDGE * EDGE)), perm=[0, 2, 1])
    return n.op("MatMul", y, n.weights(c, 48, axis=1))


PADS = (0, 0, 1, 1, 0, 0, 1, 1)
MAKERS = {  # of c channels from 32
    "conv": lambda n, x, c: n.conv(x, 32, c, 3),
    "conv + relu": lambda n, x, c: n.conv(x, 32, c, 3, act="Relu"),
    "silu": lambda n, x, c: silu(n, n.conv(x, 32, c)),
    "average": lambda n, x, c: n.op("AveragePool", n.conv(x, 32, c), kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1),
    "depthwise": lambda n, x, c: n.conv(n.conv(x, 32, c, act="Relu"), c, c, 3, group=c),
    "transposed": lambda n, x, c: n.transposed(n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), 32, c, 2, 0),
    "sum": lambda n, x, c: n.op("Add", n.conv(x, 32, c), n.conv(x, 32, c)),
    "join": lambda n, x, c: n.op("Concat", n.conv(x, 32, c - 8), n.conv(x, 32, 8), axis=1),
}
TAKERS = {
    "conv": lambda n, x, c: n.conv(x, c, 32, 3),
    "groups": lambda n, x, c: n.conv(x, c, c, 3, group=4),
    "one channel": lambda n, x, c: n.op("Sigmoid", n.conv(x, c, 1)),
    "transposed": lambda n, x, c: n.transposed(x, c, 12, 4, 1),
    "depth to space": lambda n, x, c: n.conv(n.op("DepthToSpace", x, blocksize=2, mode="CRD"), c // 4, 8, 3),
    "space to depth": lambda n, x, c: n.conv(n.op("SpaceToDepth", x, blocksize=2), 4 * c, 16),
    "channels last": lambda n, x, c: n.op("Transpose", x, perm=[0, 2, 3, 1]),
    "rows": rows,
    "softmax": lambda n, x, c: n.op("Softmax", x, axis=1),
    "mean of channels": lambda n, x, c: n.op("ReduceMean", x, n.ints(1)),
    "mean of images": lambda n, x, c: n.op("ReduceMean", x, n.ints(2, 3)),
    "join odd": lambda n, x, c: n.conv(n.op("Concat", x, n.conv(x, c, 5), axis=1), c + 5, 16),
    "channels 3 to -2": lambda n, x, c: n.conv(n.op("Slice", x, n.ints(3), n.ints(c - 2), n.ints(1)), c - 5, 16, 3),
    "crop, every second": lambda n, x, c: n.conv(n.op("Slice", x, n.ints(1, 2), n.ints(EDGE, EDGE), n.ints(2, 3), n.ints(2, 2)), c, 16, 3),
    "halves": halves,
    "nearest": lambda n, x, c: n.conv(n.resize(x, c, **NEAR), c, 16),
    "linear": lambda n, x, c: n.conv(n.resize(x, c, mode="linear"), c, 16),
    "border": lambda n, x, c: n.conv(n.op("Pad", x, n.ints(*PADS)), c, 16, 3),
    "reflection": lambda n, x, c: n.conv(n.op("Pad", x, n.ints(*PADS), mode="reflect"), c, 16, 3),
    "turned": lambda n, x, c: n.conv(n.op("Transpose", x, perm=[0, 1, 3, 2]), c, 16, 3),
    "attention": attention,
    "gate": gate,
    "flat": flat,
    "shuffle": shuffled,
    "leaky": lambda n, x, c: n.conv(n.op("LeakyRelu", x, alpha=0.1), c, 16),
    "pool beside": lambda n, x, c: n.conv(n.op("Concat", x, n.op("MaxPool", x, kernel_shape=[5, 5], pads=[2] * 4), axis=1), 2 * c, 16),
}


def pairs(channels):
    for c in channels:
        for maker, make in MAKERS.items():
            for taker, take in TAKERS.items():
                yield f"{maker} → {taker}, {c}", lambda n, make=make, take=take, c=c: take(n, make(n, n.codes("x"), c), c)


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, name, *args):
        return subprocess.run([os.path.join(self.args.bin, name), *args], capture_output=True, text=True)

    def ours(self):
        done = self.tool("pb-run", self.path("m.pbe"), "--input", self.path("x.npy"), "--threads=1", "--warmup=3", "--repeat=15")
        return float(re.search(r"([\d.]+) ms best", done.stdout).group(1))

    def theirs(self, session, feeds):
        times = []
        for _ in range(12):
            start = time.perf_counter()
            session.run(None, feeds)
            times.append(time.perf_counter() - start)
        return 1000 * min(times)

    def session(self, optimised):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 4
        if not optimised:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        return onnxruntime.InferenceSession(self.path("m.onnx"), options)

    def on_machine(self, ours):
        """Whether the machine has the processor's bits, or the refusal."""
        done = self.tool("pbc", self.path("m.onnx"), f"--target={self.args.machine}", "-o", self.path("n.pbe"))
        if done.returncode:
            return f"{self.args.machine}: {done.stderr.splitlines()[0]}", False
        done = self.tool("pb-run", self.path("n.pbe"), "--device=machine", "--input", self.path("x.npy"), "--output", self.path("n.npy"))
        if done.returncode or not np.array_equal(np.load(self.path("n.npy")), ours, equal_nan=True):
            return f"{self.args.machine}: other bits. {done.stderr[:200]}", True
        return None, False

    def run(self, build):
        """ms of both, a refusal or what differs, and whether that is wrong."""
        net = Net(self.args.type == "int8")
        y = build(net)
        graph = helper.make_graph(net.nodes, "pair", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 32, EDGE, EDGE])],
                                  [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)], net.consts)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), self.path("m.onnx"))
        feeds = {"x": np.random.RandomState(7).randn(1, 32, EDGE, EDGE).astype(np.float32)}
        np.save(self.path("x.npy"), feeds["x"])
        done = self.tool("pbc", self.path("m.onnx"), f"--target={self.args.target}", "-o", self.path("m.pbe"))
        if done.returncode:
            return None, f"{self.args.target}: {done.stderr.splitlines()[0]}", False
        self.tool("pb-run", self.path("m.pbe"), "--input", self.path("x.npy"), "--output", self.path("y.npy"), "--threads=1")
        ours, expected = np.load(self.path("y.npy")), self.session(not net.coded).run(None, feeds)[0]
        apart = np.abs(ours - expected)
        off = apart.max() / STEP > 3.01 if net.coded else (apart > 1e-3 * np.maximum(1, np.abs(expected))).any()
        if off:
            return None, f"results differ by {apart.max():.3g}", True
        session, figures = self.session(True), []
        for _ in range(self.args.rounds):
            figures.append((self.ours(), self.theirs(session, feeds)))
        said, wrong = self.on_machine(ours) if self.args.machine and net.coded else (None, False)
        return tuple(min(column) for column in zip(*figures)), said, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--type", choices=["f32", "int8"], default="f32")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--channels", default="64,24")
    parser.add_argument("--only", default="")
    parser.add_argument("--below", type=float, default=0.9)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--machine", help="a chip for the int8 models too")
    args = parser.parse_args()
    ratios, low, said, failed = [], [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, folder)
        for name, build in pairs([int(c) for c in args.channels.split(",")]):
            if not any(text in name for text in args.only.split(",")):
                continue
            figures, words, wrong = bench.run(build)
            failed += wrong
            if words:
                said.append(f"- {name}: {words}")
            if not figures:
                continue
            ours, theirs = figures
            ratios.append(theirs / ours)
            if theirs / ours < args.below:
                low.append((theirs / ours, f"| {name} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.2f} |"))
    print(f"{len(ratios)} pairs of {args.type} on {args.target}: geometric mean {math.exp(sum(map(math.log, ratios)) / max(1, len(ratios))):.2f} "
          f"times as fast as ONNX Runtime {onnxruntime.__version__}, {len(low)} below {args.below}, {failed} wrong\n")
    print("| layers | pb, ms | ONNX Runtime, ms | ratio |\n|---|--:|--:|--:|")
    print("\n".join(row for _, row in sorted(low)))
    if said:
        print("\n" + "\n".join(said))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
