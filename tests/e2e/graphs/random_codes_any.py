"""Random int8 graphs of what images do not need as well: codes that are moved, cut and joined along any axis, reductions,
softmax, norms, products of two computed tensors, pools whose last windows hang over. Beside the operators of random_codes.py."""

import numpy as np
from random_codes import CodesDrawing
from random_shapes import MACS, product


class AnyCodesDrawing(CodesDrawing):
    """A random graph as it grows; images stay [n, c, h, w], whatever turns them."""

    def ints(self, *numbers):
        return self.graph.const(np.array(numbers, np.int64))

    def transpose(self, x):
        perm = list(range(len(x.shape)))
        self.rng.shuffle(perm)
        return self.graph.op("Transpose", x, perm=perm)

    def slice_(self, x):
        axes = self.rng.sample(range(len(x.shape)), self.rng.randrange(1, 3))
        starts, ends, steps = [], [], []
        for axis in axes:
            n, back = x.shape[axis], self.chance(0.25)
            start = self.rng.randrange(n)
            starts.append(start)
            ends.append(-(2**31) if back else self.rng.choice([2**31 - 1, start + self.rng.randrange(1, n + 1)]))
            steps.append((-1 if back else 1) * self.rng.choice([1, 1, 2, 3]))
        return self.graph.op("Slice", x, zero=int(x.zero), extra=[self.ints(*part) for part in (starts, ends, axes, steps)])

    def concat(self, x):
        axis = self.rng.randrange(len(x.shape))
        near = [t for t in self.tensors if len(t.shape) == len(x.shape) and
                all(t.shape[d] == x.shape[d] for d in range(len(x.shape)) if d != axis)]
        parts = [x, *(self.rng.choice(near) for _ in range(self.rng.randrange(1, 4)))]
        self.rng.shuffle(parts)
        return self.graph.op("Concat", *parts, scale=self.rng.choice([None, float(max(p.scale for p in parts))]), axis=axis)

    def split(self, x):
        """Two parts, of the codes of both, one behind the other again the other way round."""
        axis = self.rng.randrange(len(x.shape))
        if x.shape[axis] < 2:
            return self.concat(x)
        first = self.rng.randrange(1, x.shape[axis])
        cuts = [(0, first), (first, x.shape[axis])]
        parts = [self.graph.op("Slice", x, zero=int(x.zero), extra=[self.ints(a), self.ints(b), self.ints(axis)]) for a, b in cuts]
        return self.graph.op("Concat", *parts[::-1], axis=axis)

    def reduce(self, x):
        """Over some axes but the batch's, which stay, and perhaps by elements with the tensor again."""
        axes = self.rng.sample(range(1, len(x.shape)), self.rng.randrange(1, len(x.shape)))
        kind, terms = self.rng.choice(["ReduceSum", "ReduceMean", "ReduceMax"]), product(x.shape[axis] for axis in axes)
        scale = float(x.scale) * (np.sqrt(terms) if kind == "ReduceSum" else 1)
        y = self.graph.op(kind, x, scale=scale, zero=self.zero(), extra=[self.ints(*axes)])
        if len(x.shape) == 4 and y.shape[2:] == (1, 1) and y.shape[:2] == x.shape[:2] and self.chance(0.6):
            return self.graph.op("Mul", x, y, scale=float(x.scale) * float(y.scale) * 64)
        return y

    def softmax(self, x):
        axis = self.rng.randrange(len(x.shape)) if self.chance(0.3) else -1
        if x.shape[axis] == 1:
            return self.transpose(x)
        return self.graph.op("Softmax", x, scale=1 / 255, zero=-128, axis=axis)

    def norm(self, x):
        if x.shape[-1] == 1:
            return self.transpose(x)
        extra = [self.graph.const((1 + 0.1 * self.graph.rng.standard_normal(x.shape[-1])).astype(np.float32)) for _ in range(2)]
        return self.graph.op("LayerNormalization", x, scale=0.03, zero=self.zero(), extra=extra[:self.rng.randrange(1, 3)], axis=-1)

    def products(self, x):
        """Of each image's lines with each other."""
        if len(x.shape) != 4 or product(x.shape) * x.shape[2] > MACS:
            return self.transpose(x)
        turned = self.graph.op("Transpose", x, perm=[0, 1, 3, 2])
        scores = self.graph.op("MatMul", x, turned, scale=float(x.scale) ** 2 * 73 * 73 * np.sqrt(x.shape[3]) / 60, zero=self.zero())
        if self.chance(0.5):
            scores = self.graph.op("Softmax", scores, scale=1 / 255, zero=-128, axis=-1)
        return self.graph.op("MatMul", scores, x, scale=float(x.scale), zero=self.zero()) if self.chance(0.6) else scores

    def pool_over(self, x):
        """With ceil_mode, where no window would begin behind the image: onnx's shape inference counts such."""
        if len(x.shape) != 4:
            return self.transpose(x)
        average = self.chance(0.5)
        kernel, attrs, _ = self.window(*x.shape[2:], (1, 2, 2, 3, 3), True, not average)
        for k, n in enumerate(x.shape[2:]):
            front, behind, stride = attrs["pads"][k], attrs["pads"][2 + k], attrs["strides"][k]
            room = n + front + behind - (kernel[k] - 1) * attrs.get("dilations", [1, 1])[k] - 1
            if room < 0 or -(-room // stride) * stride >= n + front:
                return self.pool(x)
        if not average:
            return self.graph.op("MaxPool", x, kernel_shape=list(kernel), ceil_mode=1, **attrs)
        return self.graph.op("AveragePool", x, zero=self.zero(), kernel_shape=list(kernel), ceil_mode=1,
                             count_include_pad=int(self.chance(0.5)), **attrs)

    def possible(self, x):
        more = ["transpose", "slice_", "concat", "split", "reduce", "softmax", "norm", "products", "pool_over"]
        return super().possible(x) + more * 2
