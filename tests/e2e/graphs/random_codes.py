"""Random int8 graphs: QDQ, any inputs and outputs, int8 and uint8 mixed, windows of every form, up to 2,050 channels."""

import numpy as np
from exact import session_of
from onnx import TensorProto, helper
from quantised_graph import QuantisedGraph
from random_shapes import ELEMENTS, MACS, Shapes, product
from reference import Reference, signed

ROW = 32  # of floats: an NPU moves floats without a box, at least a row of its lanes
KINDS = [np.dtype(np.int8), np.dtype(np.uint8)]


class CodesDrawing(Shapes):
    """A random graph as it grows: every tensor so far."""

    def __init__(self, rng, name):
        super().__init__(rng)
        self.mixed = self.chance(0.3)
        self.graph = QuantisedGraph(name, rng.choice(KINDS), shared=self.chance(0.3))
        self.words, self.tensors = [], []
        first = self.image()
        self.input(first)
        for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
            shape = self.image()
            self.input(first if self.chance(0.6) else (first[0], *shape[1:]))

    def input(self, shape):
        self.turn()
        if product(shape) > ELEMENTS:
            return
        codes = self.chance(0.25) or product(shape) < ROW  # refusals.py has those that end within one
        self.tensors.append(self.graph.input(*shape, codes=codes, scale=self.rng.choice([0.02, 0.031]), zero=self.zero()))
        self.words.append(f"{'codes ' if codes else ''}{self.graph.kind.name} {'x'.join(map(str, shape))}")

    def turn(self):
        """Tensors made from now on may be of the other type."""
        if self.mixed:
            self.graph.kind = self.rng.choice(KINDS)

    def zero(self):
        return self.rng.choice([0, 3, -5, 3, -5, 17, -128, 127])

    def act(self):
        return self.rng.choice([None, None, "relu", (0.0, 6.0), (-1.0, 4.0)])

    def weight_zero(self):
        return self.rng.choice([0, 0, 0, 3, 100])

    def conv(self, x):
        outputs, group, kernel, attrs = self.convolution(x.shape)
        return self.graph.conv(x, outputs, kernel, group, self.chance(0.8), self.chance(0.6), self.act(),
                               self.weight_zero() if self.chance(0.3) else 0, **attrs)

    def pool(self, x):
        average = self.chance(0.4)
        kernel, attrs, after = self.window(*x.shape[2:], (1, 2, 2, 3, 3, 5), True, not average)
        if not average:
            return self.graph.op("MaxPool", x, scale=self.rng.choice([None, None, 0.04]), kernel_shape=list(kernel), **attrs)
        return self.graph.op("AveragePool", x, zero=self.zero(), kernel_shape=list(kernel),
                             count_include_pad=int(self.chance(0.5)), **attrs)

    def pair(self, x):
        """With another tensor of the same image: by elements, or behind each other."""
        near = [t for t in self.tensors if t.shape[0] == x.shape[0] and t.shape[2:] == x.shape[2:]]
        other = self.rng.choice([t for t in near if t.shape[1] == x.shape[1]] if self.chance(0.7) else near)
        scale = float(x.scale) + float(other.scale)
        if other.shape[1] != x.shape[1] or self.chance(0.2):
            return self.graph.op("Concat", x, other, scale=self.rng.choice([None, scale]), axis=1)
        kind = self.rng.choice(["Add", "Add", "Sub", "Mul"])
        if kind == "Mul":
            scale = float(x.scale) * float(other.scale) * 64
        operands = (other, x) if self.chance(0.3) else (x, other)
        return self.graph.op(kind, *operands, scale=scale, zero=self.zero(), act=self.act())

    def by_const(self, x):
        kind, low = self.graph.kind, 0 if self.graph.kind == np.uint8 else -128
        shape = self.rng.choice([(x.shape[1], 1, 1), (1, x.shape[1], 1, 1), (1,), ()])
        codes = np.asarray(self.graph.rng.integers(low, low + 256, shape)).astype(kind)
        c = self.graph.node("DequantizeLinear", [self.graph.const(codes), *self.graph.parameters(0.02, 4)])
        how = self.rng.choice(["Add", "Mul", "Sub"])
        scale = float(x.scale) if how == "Mul" else float(x.scale) + 0.02
        return self.graph.op(how, x, extra=[c], scale=scale, act=self.act())

    def gate(self, x):
        mean = self.graph.op("GlobalAveragePool", x, scale=float(x.scale) / 4)
        y = self.graph.conv(mean, x.shape[1], 1, act=(0.0, 6.0))
        if self.chance(0.3):
            y = self.graph.op("Sigmoid", y, scale=1 / 256, zero=-128)
        return self.graph.op("Mul", x, y, scale=float(x.scale) * float(y.scale) * 64)

    def transposed(self, x):
        n, c, h, w = x.shape
        group = self.rng.choice([g for g in (1, 1, 1, 2, 4) if c % g == 0])
        outputs = group * self.rng.choice([1, 2, 3, 8, 16, 17])
        kernel, strides = [tuple(self.rng.choice(of) for _ in range(2)) for of in ((1, 2, 2, 3, 4, 5), (1, 2, 2, 2, 3))]
        pads = [self.rng.randrange(k) // 2 for k in kernel] * 2
        more = [self.rng.randrange(s) if self.chance(0.2) else 0 for s in strides]
        after = [(size - 1) * s + k - 2 * p + m for size, s, k, p, m in zip((h, w), strides, kernel, pads, more)]
        if min(after) < 1 or n * outputs * product(after) * c * product(kernel) // group > 4 * MACS:
            return self.conv(x)
        return self.graph.transposed(x, outputs, kernel, group, self.chance(0.7), self.chance(0.6), self.act(),
                                     strides=list(strides), pads=pads, output_padding=more)

    def function(self, x):
        """Of each code; times the tensor itself (SiLU) at times."""
        kind, scale, zero = self.rng.choice([("Sigmoid", 1 / 256, -128), ("HardSigmoid", 1 / 256, -128), ("Tanh", 1 / 128, 0), ("HardSwish", None, -100)])
        y = self.graph.op(kind, x, scale=scale, zero=zero)
        return self.graph.op("Mul", x, y, scale=float(x.scale), zero=self.zero()) if scale and self.chance(0.5) else y

    def pad(self, x):
        """By zeros, or by what is there; with the codes of x, or others."""
        few = [self.rng.randrange(3) for _ in range(4)]
        reflects = self.chance(0.4) and min(x.shape[2:]) > 2
        extra = [self.graph.const(np.array([0, 0, *few[:2], 0, 0, *few[2:]], np.int64))]
        return self.graph.op("Pad", x, extra=extra, zero=self.rng.choice([int(x.zero), self.zero()]), mode="reflect" if reflects else "constant")

    def clamp(self, x):
        return self.graph.op("Relu", x, scale=float(x.scale) * 0.7)

    def move(self, x):
        return self.graph.op(self.rng.choice(["Identity", "Flatten"]) if len(x.shape) == 4 else "Identity", x)

    def row(self, x):
        """Products of a batch of rows."""
        self.words.append("dense")
        kind = self.rng.choice(["Gemm", "Gemm", "MatMul"])
        return self.graph.dense(x, self.dense(x.shape[1]), kind, turned=kind == "Gemm" and self.chance(0.7),
                                bias=self.chance(0.7), each=self.chance(0.6), act=self.act(),
                                zero=self.weight_zero() if self.chance(0.3) else 0)

    def possible(self, x):
        if len(x.shape) == 2:
            return ["row"] * 3 + ["clamp"]
        kinds = ["conv"] * 6 + ["pair"] * 3 + ["pool"] * 2 + ["by_const", "clamp", "move", "transposed", "function", "pad"]
        return kinds + (["gate"] if x.shape[1] ** 2 <= 90_000 else [])

    def step(self):
        self.turn()
        x = self.tensors[-1] if self.chance(0.7) else self.rng.choice(self.tensors)
        kind = self.rng.choice(self.possible(x))
        y = getattr(self, kind)(x)
        if self.fits(y.shape):
            self.tensors.append(y)
            self.words.append(f"{kind}->{self.graph.kind.name} {'x'.join(map(str, y.shape))}")

    def finish(self):
        for _ in range(self.rng.randrange(1, 7)):
            self.step()
        x = self.tensors[-1]
        if len(x.shape) == 4 and self.chance(0.3):
            self.turn()
            x = self.graph.op("GlobalAveragePool", x, scale=float(x.scale) / 3)
        if self.chance(0.5) and product(x.shape[1:]) <= 4096:
            x = self.graph.op("Flatten", x) if len(x.shape) == 4 else x
            for _ in range(self.rng.choice([1, 1, 2])):
                self.turn()
                x = self.row(x)
        outputs = [x] + [t for t in self.tensors if t is not x and self.chance(0.2)]
        for tensor in {t.name: t for t in outputs}.values():
            self.graph.output(tensor, codes=tensor.name not in self.graph.feeds and self.chance(0.25))
        return self.graph, "; ".join(self.words)


def layers_apart(model, feeds):
    """How far apart in codes the reference is from ONNX Runtime in one layer at most, each layer reading ONNX Runtime's
    codes; and the layer."""
    reference = Reference(model)
    shown, names = type(model)(), [node.output[0] for node in reference.nodes]
    shown.CopyFrom(model)
    kinds = {node.output[0]: reference.const[node.input[2]].dtype for node in reference.nodes}
    del shown.graph.output[:]
    shown.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.UINT8 if kinds[name] == np.uint8 else
                                                            TensorProto.INT8, None) for name in names)
    theirs = {name: signed(codes) for name, codes in zip(names, session_of(shown).run(names, feeds))}
    ours = reference.run(feeds, theirs)
    apart = {name: 0 for name in names}
    for name in names:
        mine = signed(ours[name]) if ours[name].dtype == np.uint8 else ours[name]
        apart[name] = int(np.abs(mine.astype(int).reshape(theirs[name].shape) - theirs[name]).max(initial=0))
    worst = max(names, key=apart.get)
    return apart[worst], worst
