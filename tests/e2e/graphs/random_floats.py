"""Random f32 graphs: any inputs and outputs, operators of every family, windows of every form, up to 2,050 channels."""

import numpy as np
from float_graph import Graph
from random_shapes import MACS, Shapes, product

FUNCTIONS = ["Abs", "Neg", "Tanh", "Sigmoid", "Erf", "Gelu", "Elu", "Selu", "LeakyRelu", "HardSigmoid", "HardSwish"]
FUNCTIONS += ["Softplus", "Softsign", "Sqrt", "Log", "PRelu"]


class Tensor:
    def __init__(self, name, shape):
        self.name, self.shape = name, tuple(shape)


class FloatsDrawing(Shapes):
    """A random graph as it grows: every tensor so far."""

    def __init__(self, rng, name):
        super().__init__(rng)
        self.graph, self.words = Graph(name), []
        first = self.image()
        self.tensors = [Tensor(self.graph.input(*first, name="x0"), first)]
        for k in range(rng.choice([0, 0, 0, 1, 1, 2])):
            shape = first if self.chance(0.6) else (first[0], *self.image()[1:])
            if self.fits(shape):
                self.tensors.append(Tensor(self.graph.input(*shape, name=f"x{k + 1}"), shape))
        self.words += ["x".join(map(str, t.shape)) for t in self.tensors]

    def op(self, kind, x, *more, shape=None, **attrs):
        names = [t.name if isinstance(t, Tensor) else t for t in (x, *more)]
        return Tensor(self.graph.op(kind, *names, **attrs), shape or x.shape)

    def const(self, *shape):
        return self.graph.const(self.graph.draw(*shape))

    def ints(self, *numbers):
        return self.graph.const(np.array(numbers, np.int64))

    def conv(self, x):
        outputs, group, kernel, attrs = self.convolution(x.shape)
        name = self.graph.conv(x.name, x.shape[1], outputs, kernel, bias=self.chance(0.8), group=group, **attrs)
        if self.chance(0.25):
            name = self.graph.norm(name, outputs)
        return Tensor(name, (x.shape[0], outputs, *self.after(x, kernel, attrs)))

    def after(self, x, kernel, attrs):
        pads, dilations = attrs["pads"], attrs.get("dilations", [1, 1])
        return [(x.shape[2 + d] + pads[d] + pads[2 + d] - (kernel[d] - 1) * dilations[d] - 1) // attrs["strides"][d] + 1
                for d in range(2)]

    def pool(self, x):
        kind = self.rng.choice(["MaxPool", "AveragePool"])
        kernel, attrs, after = self.window(*x.shape[2:], (1, 2, 2, 3, 3, 5), True, kind == "MaxPool")
        if kind == "AveragePool":
            attrs["count_include_pad"] = self.rng.randrange(2)
        return self.op(kind, x, shape=(*x.shape[:2], *after), kernel_shape=list(kernel), **attrs)

    def pair(self, x):
        """With a tensor of the same extents: an operator by elements, or a concatenation."""
        axis = self.rng.choice([1, 1, 1, 2, 3, 0])
        near = [t for t in self.tensors if len(t.shape) == 4 and
                all(t.shape[d] == x.shape[d] for d in range(4) if d != axis)]
        same = [t for t in self.tensors if t.shape == x.shape]
        other = self.rng.choice(same if self.chance(0.7) else near)
        if other.shape != x.shape or self.chance(0.2):
            shape = list(x.shape)
            shape[axis] += other.shape[axis]
            return self.op("Concat", x, other, shape=shape, axis=axis)
        return self.op(self.rng.choice(["Add", "Add", "Sub", "Mul", "Max", "Min"]), x, other)

    def by_const(self, x):
        n, c, h, w = x.shape
        shape = self.rng.choice([(), (c, 1, 1), (1, c, 1, 1), (w,), (h, 1), (1, 1, 1, 1)])
        operands = [x.name, self.const(*shape)]
        if self.chance(0.3):
            operands.reverse()
        return Tensor(self.graph.op(self.rng.choice(["Add", "Mul", "Sub"]), *operands), x.shape)

    def gate(self, x):
        channels = x.shape[1]
        mean = self.op("GlobalAveragePool", x, shape=(*x.shape[:2], 1, 1))
        g = Tensor(self.graph.conv(mean.name, channels, channels, 1), mean.shape)
        return self.op("Mul", x, self.clip(g, 0, 1))

    def clip(self, x, low, high=None):
        bounds = [self.graph.const(np.float32(bound)) for bound in (low, high) if bound is not None]
        return self.op("Clip", x, *bounds)

    def function(self, x):
        kind = self.rng.choice(FUNCTIONS)
        if kind == "PRelu":
            return self.op(kind, x, self.const(x.shape[1], *[1] * (len(x.shape) - 2)))
        y = self.op(kind, self.clip(x, 0.25) if kind in ("Sqrt", "Log") else x)
        return self.op("Mul", x, y) if kind == "Sigmoid" and self.chance(0.5) else y

    def reduce(self, x):
        """Less (or times) a sum, a mean or the largest element over some axes."""
        axes = self.rng.choice([[1], [2], [3], [2, 3], [1, 2, 3], [-1, 0]])
        kind, how = self.rng.choice(["ReduceMean", "ReduceMax", "ReduceSum"]), self.rng.choice(["Sub", "Add", "Max"])
        return self.op(how, x, self.op(kind, x, self.ints(*axes)))

    def normalise(self, x):
        kind = self.rng.choice(["Softmax", "Softmax", "LogSoftmax", "LayerNormalization"])
        if kind != "LayerNormalization":
            return self.op(kind, x, axis=self.rng.choice([-1, 0, 1, 2]))
        return self.op(kind, x, self.const(x.shape[-1]), self.const(x.shape[-1]))

    def move(self, x):
        n, c, h, w = x.shape
        kind = self.rng.choice(["Transpose", "Slice", "Pad", "Split"])
        if kind == "Transpose":
            perm = self.rng.choice([[0, 1, 3, 2], [0, 2, 3, 1], [0, 3, 1, 2], [1, 0, 2, 3]])
            return self.op(kind, x, shape=[x.shape[p] for p in perm], perm=perm)
        if kind == "Slice" and h > 1 and w > 1:
            steps = self.rng.choice([1, 1, 2]), self.rng.choice([1, 1, 2, 3])
            boxes = self.ints(1, 1), self.ints(h, w + 5), self.ints(2, 3), self.ints(*steps)
            return self.op(kind, x, *boxes, shape=(n, c, -(-(h - 1) // steps[0]), -(-(w - 1) // steps[1])))
        if kind == "Split" and c > 1:
            first = self.rng.randrange(1, c)
            parts = [f"part{len(self.graph.nodes)}_{k}" for k in range(2)]
            self.graph.op_of_many(kind, [x.name, self.ints(first, c - first)], parts, axis=1)
            return Tensor(self.graph.op("Concat", *parts[::-1], axis=1), x.shape)
        pads = [0, 0, *(self.rng.randrange(3) for _ in range(2)), 0, 0, *(self.rng.randrange(3) for _ in range(2))]
        shape = (n, c, h + pads[2] + pads[6], w + pads[3] + pads[7])
        return self.op("Pad", x, self.ints(*pads), self.graph.const(np.float32(0.5)), shape=shape)

    def transposed(self, x):
        n, c, h, w = x.shape
        group = self.rng.choice([g for g in (1, 1, 1, 2, 4, c) if c % g == 0])
        outputs = self.rng.choice([1, 1, 2, 3, 5, 8, 16, 17, 24]) if group < c or c == 1 else self.rng.choice([1, 2])
        kernel, strides = [[self.rng.choice(of) for _ in range(2)] for of in ((1, 2, 2, 3, 4, 5), (1, 2, 2, 2, 3))]
        pads = [self.rng.randrange(k) // 2 for k in kernel] * 2
        more = [self.rng.randrange(s) if self.chance(0.2) else 0 for s in strides]
        shape = (n, outputs * group, *((size - 1) * s + k - 2 * p + m for size, s, k, p, m in zip((h, w), strides, kernel, pads, more)))
        if min(shape) < 1 or product(shape) * c * kernel[0] * kernel[1] // group > 4 * MACS:
            return self.conv(x)
        weights = self.graph.const(self.graph.draw(c, outputs, *kernel) / np.float32(np.sqrt(c * kernel[0] * kernel[1] / group)))
        bias = [self.const(outputs * group)] if self.chance(0.5) else []
        return self.op("ConvTranspose", x, weights, *bias, shape=shape, kernel_shape=kernel, strides=strides, pads=pads,
                       output_padding=more, group=group)

    def resized(self, x):
        n, c, h, w = x.shape
        kind = self.rng.choice(["nearest", "nearest", "linear", "DepthToSpace", "SpaceToDepth"])
        if kind == "DepthToSpace" and c % 4 == 0:
            return self.op(kind, x, shape=(n, c // 4, 2 * h, 2 * w), blocksize=2, mode=self.rng.choice(["DCR", "CRD"]))
        if kind == "SpaceToDepth" and h % 2 == 0 and w % 2 == 0:
            return self.op(kind, x, shape=(n, c * 4, h // 2, w // 2), blocksize=2)
        mode = kind if kind in ("nearest", "linear") else "linear"
        how = self.rng.choice(["half_pixel", "asymmetric"] if mode == "nearest" else ["half_pixel", "align_corners"])
        sizes = (n, c, h * self.rng.choice([1, 2, 3]), w * self.rng.choice([1, 2, 2]))
        attrs = {"nearest_mode": "floor"} if mode == "nearest" else {}
        return self.op("Resize", x, "", "", self.ints(*sizes), shape=sizes, mode=mode, coordinate_transformation_mode=how, **attrs)

    def by_image(self, x):
        scales = self.const(x.shape[1]), self.const(x.shape[1])
        return self.op("InstanceNormalization", x, *scales)

    def product_of_two(self, x):
        """Every pair of its rows, and these times the rows again."""
        n, c, h, w = x.shape
        turned = self.op("Transpose", x, shape=(n, c, w, h), perm=[0, 1, 3, 2])
        scores = self.op("MatMul", x, turned, shape=(n, c, h, h))
        if self.chance(0.5):
            scores = self.op("Softmax", scores, axis=-1)
        return self.op("MatMul", scores, x, shape=x.shape) if self.chance(0.6) else scores

    def row(self, x):
        rows, inside = x.shape
        classes = self.dense(inside)
        weight = self.graph.draw(classes, inside) / np.float32(np.sqrt(inside))
        if self.chance(0.3):
            return self.op("MatMul", x, self.graph.const(weight.T.copy()), shape=(rows, classes))
        turned = self.chance(0.6)
        consts = [self.graph.const(weight if turned else weight.T.copy())] + ([self.const(classes)] if self.chance(0.7) else [])
        return self.op("Gemm", x, *consts, shape=(rows, classes), transB=int(turned))

    def possible(self, x):
        if len(x.shape) == 2:
            return ["row"] * 3 + ["function"]
        kinds = ["conv"] * 6 + ["pair"] * 3 + ["pool"] * 2 + ["by_const", "reduce", "normalise", "move"] + ["function"] * 2
        kinds += ["transposed", "transposed", "resized", "by_image", "product_of_two"]
        return kinds + (["gate"] if x.shape[1] ** 2 <= 90_000 else [])

    def step(self):
        x = self.tensors[-1] if self.chance(0.7) else self.rng.choice(self.tensors)
        kind = self.rng.choice(self.possible(x))
        y = getattr(self, kind)(x)
        act = self.rng.random()
        if act < 0.35:
            y = self.op("Relu", y)
        elif act < 0.5:
            y = self.clip(y, -1, 2)
        if self.fits(y.shape):
            self.tensors.append(y)
            self.words.append(f"{kind}->{'x'.join(map(str, y.shape))}")

    def finish(self):
        for _ in range(self.rng.randrange(1, 7)):
            self.step()
        x = self.tensors[-1]
        if len(x.shape) == 4 and self.chance(0.3):
            x = self.op("GlobalAveragePool", x, shape=(*x.shape[:2], 1, 1))
        if self.chance(0.4) and product(x.shape[1:]) <= 4096:
            x = self.op("Flatten", x, shape=(x.shape[0], product(x.shape[1:])), axis=1)
            for _ in range(self.rng.choice([1, 1, 2])):
                x = self.row(x)
                self.words.append(f"dense->{x.shape[1]}")
        others = [t.name for t in self.tensors if t.name not in self.graph.feeds and t.name != x.name and self.chance(0.2)]
        if x.name in self.graph.feeds:
            x = self.op("Relu", x)
        return self.graph.finish(*others, x.name), "; ".join(self.words)
