"""Random training graphs: a forward pass over rows and columns, and its gradients written out, as a framework's reverse mode
writes them. What they have and inference has not: values of one row or one column that many nests use, on both sides of
reductions along either axis; sums over what was broadcast; values of the forward pass that are read again at the end.

Reverse mode: each operator of the tape adds to the gradients of its operands in the tape's opposite order (Baydin et al.,
"Automatic differentiation in machine learning: a survey", JMLR 18, 2018). A gradient is summed over each axis along which
the operand was broadcast.
"""

import numpy as np
from float_graph import Graph

# Around the lanes of registers of 8 and 16 numbers, and their multiples.
EXTENTS = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40, 47, 48, 49, 63, 64, 65, 72, 79, 80, 129, 143]
MOST = 4_000  # elements of a tensor
UNARY = ["Tanh", "Sigmoid", "Exp", "Neg", "Square", "Softplus", "Rsqrt"]


class Node:
    """A tensor of rows and columns: its name and shape."""

    def __init__(self, name, shape):
        self.name, self.shape = name, tuple(shape)


class BackwardDrawing:
    def __init__(self, rng, name):
        self.rng, self.graph, self.tape, self.words = rng, Graph(name), [], []
        self.rows, self.columns = self.extents()
        self.grads = {}

    def extents(self):
        while True:
            rows, columns = self.rng.choice(EXTENTS), self.rng.choice(EXTENTS)
            if rows * columns <= MOST:
                return rows, columns

    # ---- operators, without gradients ----

    def given(self, shape, const=0.2, positive=False):
        array = np.clip(self.graph.rng.standard_normal(shape), -2, 2) * 0.5
        array = (np.abs(array) + 0.5 if positive else array).astype(np.float32)
        const = self.rng.random() < const
        return Node(self.graph.const(array) if const else self.graph.feed(f"x{len(self.graph.feeds)}", array), shape)

    def number(self, value):
        return Node(self.graph.const(np.float32(value)), ())

    def op(self, kind, *nodes, shape=None, **attrs):
        shape = np.broadcast_shapes(*(n.shape for n in nodes)) if shape is None else shape
        return Node(self.graph.op(kind, *(n.name for n in nodes), **attrs), shape)

    def ints(self, *values):
        return Node(self.graph.const(np.array(values, np.int64)), (len(values),))

    def summed(self, x, axis, kind="ReduceSum"):
        """Along an axis of two, which stays with extent 1; a sum of few columns may be of another form."""
        shape = tuple(1 if k == axis else n for k, n in enumerate(x.shape))
        return self.op(kind, x, self.ints(axis), shape=shape, keepdims=1)

    def turned(self, x):
        return self.op("Transpose", x, shape=x.shape[::-1], perm=[1, 0])

    def product(self, x, w):
        return self.op("MatMul", x, w, shape=(x.shape[0], w.shape[1]))

    def reduced_to(self, x, shape):
        """What is left of a gradient for an operand that was broadcast from the shape."""
        for axis in (0, 1):
            if shape[axis] == 1 and x.shape[axis] != 1:
                x = self.summed(x, axis)
        return x

    # ---- operators on the tape: what they make, and how a gradient passes them ----

    def record(self, y, *pairs):
        """pairs: an operand, and what its gradient is for that of y."""
        self.tape.append((y, pairs))
        return y

    def unary(self, x):
        kind = self.rng.choice(UNARY)
        if kind == "Square":
            two = self.op("Mul", self.number(2), x)
            return self.record(self.op("Mul", x, x), (x, lambda g: self.op("Mul", g, two)))
        if kind == "Rsqrt":
            inside = self.op("Add", self.op("Mul", x, x), self.number(self.rng.choice([0.5, 1, 1.5])))
            y = self.op("Reciprocal", self.op("Sqrt", inside))
            slope = lambda g: self.op("Neg", self.op("Mul", g, self.op("Mul", x, self.op("Div", y, inside))))  # noqa: E731
            return self.record(y, (x, slope))
        y = self.op(kind, self.op("Mul", x, self.number(0.25)) if kind == "Exp" else x)
        slopes = {
            "Tanh": lambda g: self.op("Mul", g, self.op("Sub", self.number(1), self.op("Mul", y, y))),
            "Sigmoid": lambda g: self.op("Mul", g, self.op("Mul", y, self.op("Sub", self.number(1), y))),
            "Exp": lambda g: self.op("Mul", self.op("Mul", g, y), self.number(0.25)),
            "Neg": lambda g: self.op("Neg", g),
            "Softplus": lambda g: self.op("Mul", g, self.op("Sigmoid", x)),
        }
        return self.record(y, (x, slopes[kind]))

    def pair(self, x):
        y, kind = self.operand_for(x), self.rng.choice(["Add", "Sub", "Mul", "Mul", "Div"])
        if kind == "Div":
            y = self.given(self.rng.choice([x.shape, (1, x.shape[1]), (x.shape[0], 1)]), positive=True)
        z = self.op(kind, x, y)
        slopes = {
            "Add": (lambda g: g, lambda g: g),
            "Sub": (lambda g: g, lambda g: self.op("Neg", g)),
            "Mul": (lambda g: self.op("Mul", g, y), lambda g: self.op("Mul", g, x)),
            "Div": (lambda g: self.op("Div", g, y), lambda g: self.op("Neg", self.op("Div", self.op("Mul", g, z), y))),
        }
        return self.record(z, *zip((x, y), slopes[kind]))

    def operand_for(self, x):
        """Another tensor of the tape that goes with x, or an input: whole, a row, a column."""
        fits = [y for y, _ in self.tape if all(a in (1, b) for a, b in zip(y.shape, x.shape))]
        if fits and self.rng.random() < 0.5:
            return self.rng.choice(fits)
        return self.given(self.rng.choice([x.shape, x.shape, (1, x.shape[1]), (x.shape[0], 1), (1, 1)]))

    def reduction(self, x):
        """Of weighted elements: the gradient of a plain sum over what a norm or softmax made is 0, and roundings alone are left."""
        weights = self.given(x.shape, 0)
        x = self.record(self.op("Mul", x, weights), (x, lambda g: self.op("Mul", g, weights)))
        axis, kind = self.rng.randrange(2), self.rng.choice(["ReduceSum", "ReduceMean", "ReduceMean"])
        if x.shape[axis] > 33 and kind == "ReduceSum":
            kind = "ReduceMean"
        y = self.summed(x, axis, kind)
        count = x.shape[axis] if kind == "ReduceMean" else 1
        shape = self.ints(*x.shape)

        def slope(g):
            g = self.op("Expand", g, shape, shape=x.shape)
            return self.op("Div", g, self.number(count)) if count > 1 else g

        return self.record(y, (x, slope))

    def norm(self, x):
        """Along either axis: layer norm's and batch norm's, from what their gradients are made of."""
        axis, count = self.rng.randrange(2), 0
        mean = self.summed(x, axis, "ReduceMean")
        count = x.shape[axis]
        off = self.op("Sub", x, mean)
        spread = self.op("Add", self.summed(self.op("Mul", off, off), axis, "ReduceMean"), self.number(self.rng.choice([0.125, 0.5])))
        scale = self.op("Reciprocal", self.op("Sqrt", spread))
        shape = (1, x.shape[1]) if self.rng.random() < 0.7 else (x.shape[0], 1)
        gamma, beta = self.given(shape, 0), self.given(shape, 0)
        whole = self.op("Mul", off, scale)
        y = self.op("Add", self.op("Mul", whole, gamma), beta)

        def slope(g):
            inner = self.op("Mul", g, gamma)
            along = self.summed(self.op("Mul", inner, off), axis)
            third = self.op("Div", self.op("Mul", self.op("Neg", along), self.op("Mul", scale, self.op("Div", scale, spread))),
                            self.number(count))
            first = self.op("Mul", inner, scale)
            through = self.op("Add", first, self.op("Mul", third, off))
            return self.op("Sub", through, self.op("Div", self.summed(first, axis), self.number(count)))

        return self.record(y, (x, slope), (gamma, lambda g: self.op("Mul", g, whole)), (beta, lambda g: g))

    def softmax(self, x):
        y = self.op("Softmax", x, axis=1)

        def slope(g):
            inner = self.op("Mul", g, y)
            return self.op("Sub", inner, self.op("Mul", y, self.summed(inner, 1)))

        return self.record(y, (x, slope))

    def matmul(self, x):
        columns = self.rng.choice([n for n in EXTENTS if n * max(x.shape) <= MOST])
        w = self.given((x.shape[1], columns), 0)
        scaled = self.op("Mul", x, self.number(1 / np.sqrt(x.shape[1])))
        y = self.product(scaled, w)
        back = lambda g: self.op("Mul", self.product(g, self.turned(w)), self.number(1 / np.sqrt(x.shape[1])))  # noqa: E731
        return self.record(y, (x, back), (w, lambda g: self.product(self.turned(scaled), g)))

    # ---- the whole ----

    def forward(self):
        x = self.given((self.rows, self.columns), 0)
        inputs = [x]
        steps = [self.unary] * 3 + [self.pair] * 4 + [self.norm] * 2 + [self.softmax, self.matmul, self.reduction]
        for _ in range(self.rng.randrange(2, 7)):
            step = self.rng.choice(steps)
            at = self.rng.choice([y for y, _ in self.tape[-3:]] or inputs) if self.rng.random() < 0.3 else x
            if step == self.matmul and any("matmul" in w for w in self.words):
                step = self.pair
            x = step(at)
            self.words.append(step.__name__)
        return x

    def add(self, node, grad):
        grad = self.reduced_to(grad, node.shape)
        held = self.grads.get(node.name)
        self.grads[node.name] = (node, self.op("Add", held[1], grad) if held else grad)

    def finish(self):
        """The case and what is in it."""
        last = self.forward()
        seed = self.given(last.shape, 0)
        self.add(last, seed)
        for y, pairs in reversed(self.tape):
            held = self.grads.get(y.name)
            for operand, slope in pairs if held else ():
                self.add(operand, slope(held[1]))
        # of inputs, each under a name of its own; at times the forward pass's result as well
        outputs = [grad for name, (_, grad) in self.grads.items() if name in self.graph.feeds and grad.name not in self.graph.feeds]
        if self.rng.random() < 0.5 or not outputs:
            outputs.append(last)
        names = list(dict.fromkeys(node.name for node in outputs))
        return self.graph.finish(*names), f"{self.rows}x{self.columns} {' '.join(self.words)}"


def draw_backward(rng, name):
    return BackwardDrawing(rng, name).finish()
