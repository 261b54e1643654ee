"""Random small networks. int8 (chains with a head) and graphs (of int8 codes, any outputs): compiled, run on the generated
machine with all checks on, equal to the NumPy reference bit for bit. f32: compiled to machine code, within 1e-4 of ONNX Runtime's largest output. A network that the compiler
refuses must be refused with a PB code, and few may be.

    random_graphs.py --bin BUILD/bin [--count 200] [--seed 1] [--target simnpu] [--device machine]
    random_graphs.py --bin BUILD/bin --type graphs [--target cpu --device native]
    random_graphs.py --bin BUILD/bin --type f32 --target cpu:avx512 --device native [--count 50]
"""

import argparse
import os
import random
import re
import sys
import tempfile

import tools

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from float_graph import Graph, compare, expected_of  # noqa: E402
from net import Net  # noqa: E402
from qdq import quantized_model  # noqa: E402
from quantised_graph import QuantisedGraph  # noqa: E402
from quantised_ops import differs  # noqa: E402
from reference import Reference  # noqa: E402


class DrawingCodes:
    """A random int8 graph as it grows: every tensor so far, all of one batch."""

    def __init__(self, rng, number):
        self.rng, self.graph = rng, QuantisedGraph(f"random{number}")
        channels, size, batch = rng.choice([1, 2, 3, 8, 16, 17, 32]), rng.randrange(4, 15), rng.choice([1, 1, 1, 2, 3])
        codes = rng.random() < 0.2
        self.tensors = [self.graph.input(batch, channels, size, size, codes=codes)]
        self.words = [f"{'codes ' if codes else ''}{batch}x{channels}x{size}x{size}"]

    def window(self, size, sizes=(1, 2, 3, 3, 5)):
        kernel = self.rng.choice([k for k in sizes if k <= size])
        pad = self.rng.randrange(0, kernel // 2 + 1)
        return kernel, {"strides": [self.rng.choice([1, 1, 2])] * 2, "pads": [pad] * 4}

    def act(self):
        return self.rng.choice([None, "relu", (0.0, 6.0), (-1.0, 4.0)])

    def conv(self, x):
        channels, outputs, group = x.shape[1], self.rng.choice([1, 5, 8, 16, 24, 33, 40]), 1
        kind = self.rng.random()
        if kind < 0.2:
            outputs = group = channels
        elif kind < 0.5 and channels % 2 == 0:
            group = self.rng.choice([g for g in (2, 4, 8, 16) if channels % g == 0])
            outputs = group * self.rng.choice([1, 2, 3, 4])
        kernel, attrs = self.window(min(x.shape[2:]))
        return self.graph.conv(x, outputs, kernel, group, self.rng.random() < 0.8, self.rng.random() < 0.7, self.act(),
                               **attrs)

    def pool(self, x):
        kernel, attrs = self.window(min(x.shape[2:]), (2, 3) if min(x.shape[2:]) > 2 else (1,))
        if self.rng.random() < 0.5:
            return self.graph.op("MaxPool", x, scale=self.rng.choice([None, 0.8]), kernel_shape=[kernel] * 2, **attrs)
        return self.graph.op("AveragePool", x, kernel_shape=[kernel] * 2, count_include_pad=1, **attrs)

    def pair(self, x):
        other = self.rng.choice([t for t in self.tensors if t.shape[2:] == x.shape[2:]])
        scale = float(x.scale) + float(other.scale)
        if other.shape[1] != x.shape[1] or self.rng.random() < 0.3:
            return self.graph.op("Concat", x, other, scale=scale, axis=1)
        kind = self.rng.choice(["Add", "Add", "Sub", "Mul"])
        if kind == "Mul":
            scale = float(x.scale) * float(other.scale) * 64
        return self.graph.op(kind, x, other, scale=scale, act=self.act())

    def by_const(self, x):
        codes = self.rng_codes(self.rng.choice([(x.shape[1], 1, 1), (1, x.shape[1], 1, 1), (1,)]))
        c = self.graph.node("DequantizeLinear", [self.graph.const(codes), *self.graph.parameters(0.02, 4)])
        kind = self.rng.choice(["Add", "Mul"])
        return self.graph.op(kind, x, extra=[c], scale=float(x.scale) + 0.02 if kind == "Add" else float(x.scale))

    def rng_codes(self, shape):
        return self.graph.rng.integers(-128, 128, shape).astype(np.int8)

    def gate(self, x):
        mean = self.graph.op("GlobalAveragePool", x, scale=float(x.scale) / 4)
        y = self.graph.conv(mean, x.shape[1], 1, act=(0.0, 6.0))
        return self.graph.op("Mul", x, y, scale=float(x.scale) * float(y.scale) * 64)

    def clamp(self, x):
        return self.graph.op("Relu", x, scale=float(x.scale) * 0.7)

    def case(self):
        for _ in range(self.rng.randrange(1, 6)):
            x = self.tensors[-1] if self.rng.random() < 0.8 else self.rng.choice(self.tensors)
            kind = self.rng.choice(["conv"] * 5 + ["pair"] * 3 + ["pool", "by_const", "gate", "clamp"])
            y = getattr(self, kind)(x)
            self.tensors.append(y)
            self.words.append(f"{kind}->{'x'.join(str(extent) for extent in y.shape)}")
        x = self.tensors[-1]
        if self.rng.random() < 0.5:
            if self.rng.random() < 0.7:
                x = self.graph.op("GlobalAveragePool", x, scale=float(x.scale) / 3)
            x = self.graph.dense(self.graph.op("Flatten", x), self.rng.choice([1, 3, 10, 37]))
            self.words.append("dense")
        self.graph.output(x, codes=self.rng.random() < 0.2)
        if self.rng.random() < 0.4 and len(self.tensors) > 2:
            self.graph.output(self.tensors[-2])
        return self.graph, " ".join(self.words)


def draw(rng, number):
    """A network of 1 to 5 layers over a small image, and what it is."""
    channels, size = rng.choice([1, 2, 3, 8, 16, 17, 32]), rng.randrange(4, 21)
    weights = np.random.RandomState(number)
    net = Net(f"random{number}", "image", (1, channels, size, size), "out")
    words = [f"{channels}x{size}x{size}"]

    def noise(*shape):
        return (weights.randn(*shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype(np.float32)

    for layer in range(rng.randrange(1, 6)):
        kind = rng.choice(["conv", "conv", "conv", "depthwise", "pool", "residual"])
        act = rng.choice(["", "relu", "relu6"])
        window = rng.choice([k for k in (1, 2, 3, 5, 7) if k <= size])
        pad = rng.randrange(0, window // 2 + 1)
        stride = rng.choice([1, 1, 2])
        after = (size + 2 * pad - window) // stride + 1
        if kind == "pool":
            net.maxpool(f"l{layer}", window, stride, pad)
            size = after
        elif kind == "depthwise":
            net.conv(f"l{layer}", noise(channels, 1, window, window), noise(channels), stride, pad, channels, act)
            size = after
        elif kind == "residual":
            source = net.last
            net.conv(f"l{layer}a", noise(channels, channels, 3, 3), noise(channels), 1, 1, 1, "")
            net.residual(f"l{layer}", net.last, source, "relu" if act else "")
        else:
            outputs = rng.choice([1, 5, 8, 16, 24, 33, 40])
            net.conv(f"l{layer}", noise(outputs, channels, window, window), noise(outputs), stride, pad, 1, act)
            channels, size = outputs, after
        words.append(f"{kind}{window}s{stride}p{pad}{act}->{channels}x{size}x{size}")
    classes = rng.choice([1, 3, 10, 16, 37])
    net.head("fc", noise(classes, channels), noise(classes))
    words.append(f"fc{classes}")
    return net, " ".join(words)


FUNCTIONS = ["Abs", "Neg", "Tanh", "Sigmoid", "Erf", "Gelu", "Elu", "Selu", "LeakyRelu", "HardSigmoid", "HardSwish"]
FUNCTIONS += ["Softplus", "Softsign", "Sqrt", "Log", "PRelu"]


class Drawing:
    """A random f32 graph as it grows: every tensor so far with its channels and its extent, all [n, c, size, size]."""

    def __init__(self, rng, number):
        self.rng, self.graph = rng, Graph(f"random{number}")
        self.batch, channels, size = (
            rng.choice([1, 1, 1, 2]),
            rng.choice([1, 3, 5, 16, 17, 24, 32]),
            rng.randrange(4, 24),
        )
        self.tensors = [(self.graph.input(self.batch, channels, size, size), channels, size)]
        self.words = [f"{self.batch}x{channels}x{size}x{size}"]

    def window(self, size, sizes=(1, 2, 3, 3, 5, 7)):
        kernel = self.rng.choice([k for k in sizes if k <= size])
        pads = [self.rng.randrange(0, kernel // 2 + 1)] * 4
        if self.rng.random() < 0.15:
            pads = [self.rng.randrange(0, kernel // 2 + 1) for _ in range(2)]
            pads += pads[::-1]  # as much in both directions, so that images stay square
        stride = self.rng.choice([1, 1, 1, 2])
        return kernel, {"strides": [stride, stride], "pads": pads}, (size + pads[0] + pads[2] - kernel) // stride + 1

    def conv(self, x, channels, size):
        kernel, attrs, after = self.window(size)
        outputs, group = self.rng.choice([1, 5, 8, 16, 17, 24, 33, 40, 64]), 1
        kind = self.rng.random()
        if kind < 0.2:
            outputs = group = channels
        elif kind < 0.3 and channels % 4 == 0:
            outputs, group = 24, 4
        y = self.graph.conv(x, channels, outputs, kernel, bias=self.rng.random() < 0.8, group=group, **attrs)
        if self.rng.random() < 0.3:
            y = self.graph.norm(y, outputs)
        return y, outputs, after

    def pool(self, x, channels, size):
        kind = self.rng.choice(["MaxPool", "AveragePool"])
        kernel, attrs, after = self.window(size, (2, 3))
        if kind == "AveragePool":
            attrs["count_include_pad"] = self.rng.randrange(2)
        return self.graph.op(kind, x, kernel_shape=[kernel, kernel], **attrs), channels, after

    def pair(self, x, channels, size):
        """With a tensor of the same extent: an operator by elements, or a concatenation."""
        other, more, _ = self.rng.choice([t for t in self.tensors if t[2] == size])
        if more != channels or self.rng.random() < 0.3:
            return self.graph.op("Concat", x, other, axis=1), channels + more, size
        return self.graph.op(self.rng.choice(["Add", "Add", "Sub", "Mul", "Max"]), x, other), channels, size

    def by_const(self, x, channels, size):
        shape = self.rng.choice([(), (channels, 1, 1), (1, channels, 1, 1), (size,)])
        return (
            self.graph.op(self.rng.choice(["Add", "Mul", "Sub"]), x, self.graph.const(self.graph.draw(*shape))),
            channels,
            size,
        )

    def gate(self, x, channels, size):
        g = self.graph.conv(self.graph.op("GlobalAveragePool", x), channels, channels, 1)
        g = self.graph.op("Clip", g, self.graph.const(np.float32(0)), self.graph.const(np.float32(1)))
        return self.graph.op("Mul", x, g), channels, size

    def function(self, x, channels, size):
        kind = self.rng.choice(FUNCTIONS)
        if kind == "PRelu":
            return self.graph.op(kind, x, self.graph.const(self.graph.draw(channels, 1, 1))), channels, size
        if kind in ("Sqrt", "Log"):
            x = self.graph.op("Clip", x, self.graph.const(np.float32(0.25)))
        y = self.graph.op(kind, x)
        return (self.graph.op("Mul", x, y) if kind == "Sigmoid" and self.rng.random() < 0.5 else y), channels, size

    def reduce(self, x, channels, size):
        """Less (or times) a sum, a mean or the largest element over some axes."""
        axes = self.rng.choice([[1], [2], [3], [2, 3], [1, 2, 3], [-1, 0]])
        kind, how = self.rng.choice(["ReduceMean", "ReduceMax", "ReduceSum"]), self.rng.choice(["Sub", "Add", "Max"])
        return self.graph.op(how, x, self.graph.op(kind, x, self.ints(*axes))), channels, size

    def normalise(self, x, channels, size):
        kind = self.rng.choice(["Softmax", "Softmax", "LogSoftmax", "LayerNormalization"])
        if kind != "LayerNormalization":
            return self.graph.op(kind, x, axis=self.rng.choice([-1, 0, 1, 2])), channels, size
        scale, shift = (self.graph.const(self.graph.draw(size)) for _ in range(2))
        return self.graph.op(kind, x, scale, shift), channels, size

    def move(self, x, channels, size):
        kind = self.rng.choice(["Transpose", "Slice", "Pad", "Split"])
        if kind == "Transpose":
            return self.graph.op(kind, x, perm=[0, 1, 3, 2]), channels, size
        if kind == "Slice" and size > 2:
            step = self.rng.choice([1, 1, 2])
            boxes = self.ints(1, 1), self.ints(size, size + 5), self.ints(2, 3), self.ints(step, step)
            return self.graph.op(kind, x, *boxes), channels, (size - 1 + step - 1) // step
        if kind == "Split" and channels > 1:
            first = self.rng.randrange(1, channels)
            parts = [f"part{len(self.graph.nodes)}_{k}" for k in range(2)]
            self.graph.op_of_many(kind, [x, self.ints(first, channels - first)], parts, axis=1)
            return self.graph.op("Concat", *parts[::-1], axis=1), channels, size
        front, behind = self.rng.randrange(3), self.rng.randrange(3)
        pads = self.ints(0, 0, front, behind, 0, 0, behind, front)
        return self.graph.op("Pad", x, pads, self.graph.const(np.float32(0.5))), channels, size + front + behind

    def ints(self, *numbers):
        return self.graph.const(np.array(numbers, np.int64))

    def step(self):
        x, channels, size = self.tensors[-1] if self.rng.random() < 0.8 else self.rng.choice(self.tensors)
        kinds = ["conv"] * 5 + ["pair"] * 3 + ["pool", "by_const", "gate", "reduce", "normalise", "move"] + ["function"] * 3
        kind = self.rng.choice([k for k in kinds if k != "pool" or size > 2])
        y, channels, size = getattr(self, kind)(x, channels, size)
        act = self.rng.random()
        if act < 0.4:
            y = self.graph.op("Relu", y)
        elif act < 0.6:
            y = self.graph.op("Clip", y, self.graph.const(np.float32(-1)), self.graph.const(np.float32(2)))
        self.tensors.append((y, channels, size))
        self.words.append(f"{kind}->{channels}x{size}x{size}")

    def case(self):
        for _ in range(self.rng.randrange(1, 7)):
            self.step()
        outputs, (x, channels, size) = [], self.tensors[-1]
        if self.rng.random() < 0.3 and len(self.tensors) > 2:
            outputs.append(self.tensors[-2][0])
        if self.rng.random() < 0.6:
            if self.rng.random() < 0.7:
                x, size = self.graph.op("GlobalAveragePool", x), 1
            x, inside, classes = (
                self.graph.op("Flatten", x, axis=1),
                channels * size * size,
                self.rng.choice([1, 5, 10, 37]),
            )
            weight = self.graph.draw(classes, inside) / np.float32(np.sqrt(inside))
            x = self.graph.op("Gemm", x, self.graph.const(weight), self.graph.const(self.graph.draw(classes)), transB=1)
            self.words.append(f"gemm{classes}")
        return self.graph.finish(*outputs, x), " ".join(self.words)


def check_floats(args, rng, number, folder):
    """One random f32 graph: what it is, and what is wrong with its outputs."""
    case, what = Drawing(rng, number).case()
    model, engine = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.pbe")
    onnx.save(case.model, model)
    expected = expected_of(case.model, case.feeds)
    yield what
    tools.compile_model(args.bin, model, args.target, engine)
    np.save(os.path.join(folder, "x.npy"), case.feeds["x"])
    files = {name: os.path.join(folder, f"{name}.npy") for name in expected}
    tools.run(
        [
            os.path.join(args.bin, "pb-run"),
            engine,
            f"--device={args.device}",
            f"--threads={1 + number % 2}",
            "--input",
            os.path.join(folder, "x.npy"),
            *(f"--output={name}={file}" for name, file in files.items()),
        ]
    )
    wrong = [compare(expected[name], np.load(file), 1e-4) for name, file in files.items()]
    yield "; ".join(text for text in wrong if text)


def check_codes(args, rng, number, folder):
    """One random int8 network: what it is, and what is wrong with its output."""
    net, what = draw(rng, args.seed * 100000 + number)
    images = np.random.RandomState(number).randn(3, *net.shape[1:]).astype(np.float32)
    model, engine = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.pbe")
    source, output = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
    onnx.save(quantized_model(net, images), model)
    np.save(source, images)
    reference = Reference(onnx.load(model))
    expected = reference.run({reference.inputs[0]: images})[reference.outputs[0]].astype(np.float32)
    yield what
    bisect = ["--bisect"] if args.device == "machine" and number % 10 == 0 else []
    tools.compile_model(args.bin, model, args.target, engine, *bisect)
    tools.run_engine(args.bin, engine, args.device, source, output)
    wrong = np.count_nonzero(np.load(output).reshape(expected.shape) != expected)
    yield f"{wrong} numbers differ" if wrong else ""


def check_graph(args, rng, number, folder):
    """One random int8 graph of any operators, batches and outputs: what it is, and what is wrong with its outputs."""
    graph, what = DrawingCodes(rng, args.seed * 100000 + number).case()
    model, engine = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.pbe")
    onnx.save(graph.model(), model)
    results = Reference(graph.model()).run(graph.feeds)
    files = {info.name: os.path.join(folder, f"out{k}.npy") for k, info in enumerate(graph.outputs)}
    np.save(os.path.join(folder, "x.npy"), graph.feeds["x0"])
    yield what
    bisect = ["--bisect"] if args.device == "machine" and number % 20 == 0 else []
    tools.compile_model(args.bin, model, args.target, engine, *bisect)
    outputs = [f"--output={name}={file}" for name, file in files.items()]
    source = os.path.join(folder, "x.npy")
    tools.run([os.path.join(args.bin, "pb-run"), engine, f"--device={args.device}", "--input", source, *outputs])
    wrong = [differs(results[name], np.load(file)) for name, file in files.items()]
    yield "; ".join(text for text in wrong if text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--type", choices=["int8", "graphs", "f32"], default="int8")
    parser.add_argument("--target", default="simnpu")
    parser.add_argument("--device", default="machine")
    parser.add_argument("--keep", help="folder for the models that fail")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    failures, refusals = [], []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(args.count):
            check = {"f32": check_floats, "graphs": check_graph, "int8": check_codes}[args.type](args, rng, k, folder)
            what = next(check)
            try:
                problem = next(check)
            except tools.Failed as error:
                if re.search(r"\[PB(2\d{3}|40[01]\d)\]", str(error)):
                    refusals.append(f"{k}: {what}: {str(error).splitlines()[-1]}")
                    continue
                problem = str(error)[-400:]
            if problem:
                failures.append(f"FAILED {k}: {what}: {problem}")
                if args.keep:
                    os.makedirs(args.keep, exist_ok=True)
                    os.replace(os.path.join(folder, "m.onnx"), os.path.join(args.keep, f"{k}.onnx"))
    print("\n".join(refusals + failures))
    print(
        f"{args.count} networks: {args.count - len(failures) - len(refusals)} equal, {len(refusals)} refused, "
        f"{len(failures)} failed"
    )
    return int(bool(failures) or len(refusals) * 10 > args.count)


if __name__ == "__main__":
    sys.exit(main())
