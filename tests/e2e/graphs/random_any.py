"""Random graphs of operators that images do not need: tensors of any rank, every form of an operator that ONNX allows.

What an operator makes is asked of ONNX Runtime as the graph grows: what that refuses is not drawn, nor what overflows. An
operator that jumps (Floor, comparisons, TopK) takes exact tensors alone, which no rounding has touched.
"""

import numpy as np
import onnx
from exact import session_of
from float_graph import Graph, expected_of
from onnx import helper
from random_any_control import CONTROL
from random_any_functions import FUNCTIONS
from random_any_moves import MOVES
from random_any_products import PRODUCTS
from random_any_sums import SUMS
from random_any_types import TYPES
from random_any_windows import WINDOWS
from random_shapes import product

ELEMENTS = 4_000
MOST = 50.0  # beyond it f32's roundings alone would be seen
EXTENTS = [1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 24, 32, 33]
LONG = [61, 64, 97, 127, 128, 129, 251, 257, 509, 1021]
SMOOTH = ["Tanh", "Sigmoid", "Erf", "Gelu", "Elu", "Selu", "LeakyRelu", "HardSigmoid", "HardSwish", "Softplus", "Softsign", "Sin",
          "Cos", "Mish", "Celu", "Abs", "Neg", "Relu", "Identity", "Atan"]
JUMPS = ["Floor", "Ceil", "Round", "Sign", "Not", "ThresholdedRelu", "Shrink"]


class NotDrawn(Exception):
    """This operator in this form is not for this graph."""


class Value:
    """A tensor with its numbers. `exact`: moved, compared or chosen alone, so that everybody has the same bits."""

    def __init__(self, name, array, exact):
        self.name, self.array, self.exact, self.shape = name, array, exact, array.shape

    @property
    def rank(self):
        return self.array.ndim


class AnyDrawing:
    """A random graph as it grows. Families of operators are functions of it and a tensor that give a tensor, or None;
    what they made in front of an operator that cannot be drawn is dropped."""

    def __init__(self, rng, name):
        self.rng, self.graph, self.words = rng, Graph(name), []
        self.graph.opset = rng.choice([18, 20, 21, 22])
        self.kind, self.others = np.float32, []  # what numbers are drawn as; tensors of other types that may be results
        self.tensors = [self.given(self.shape())]
        self.words.append("x".join(map(str, self.tensors[0].shape)) or "scalar")

    def chance(self, of):
        return self.rng.random() < of

    def shape(self, rank=None, most=ELEMENTS // 2):
        rank = self.rng.choice([0, 1, 1, 2, 3, 3, 4, 4, 4, 5, 6]) if rank is None else rank
        while True:
            shape = tuple(self.rng.choice(LONG if self.chance(0.05) else EXTENTS) for _ in range(rank))
            if product(shape) <= most:
                return shape

    def axis(self, rank):
        """One axis, counted from either end."""
        return self.rng.randrange(-rank, rank)

    # ---- operands ----

    def given(self, shape_or_array):
        """An input of the graph."""
        array = self.numbers(shape_or_array)
        return Value(self.graph.feed(f"x{len(self.graph.feeds)}", array), array, True)

    def const(self, shape_or_array):
        array = self.numbers(shape_or_array)
        return Value(self.graph.const(array), array, True)

    def operand(self, shape_or_array, const=0.7):
        """Mostly a constant, at times another input."""
        return self.const(shape_or_array) if self.chance(const) else self.given(shape_or_array)

    def numbers(self, shape_or_array):
        """Multiples of 1/64 where a shape is all that is said: few of them are equal, and halves are exact."""
        if isinstance(shape_or_array, (np.ndarray, np.generic)):
            return np.asarray(shape_or_array)
        drawn = np.clip(self.graph.rng.standard_normal(shape_or_array), -3, 3)
        if np.issubdtype(self.kind, np.floating):
            return np.asarray(np.rint(drawn * 64) / 64, self.kind)
        whole = np.rint(drawn * 4) if self.kind != np.bool_ else drawn > 0
        return np.asarray(np.abs(whole) if np.issubdtype(self.kind, np.unsignedinteger) else whole).astype(self.kind)

    def ints(self, *numbers):
        return self.const(np.array(numbers, np.int64))

    # ---- operators ----

    def op(self, kind, *operands, exact=False, results=1, domain="", finite=True, captured=(), **attrs):
        """The result, or the list of them where several are asked for; an operand of None is left out. Raises NotDrawn where
        ONNX Runtime has no such thing or the numbers are of no use. `exact`: so is the result where all operands are.
        `captured`: what graphs inside the node read by its name."""
        names = [o.name if o is not None else "" for o in operands]
        outs = [f"t{len(self.graph.nodes)}" + (f"_{k}" if k else "") for k in range(results)]
        node = helper.make_node(kind, names, outs, name=f"{kind.lower()}{len(self.graph.nodes)}", domain=domain, **attrs)
        arrays = self.evaluate(node, [o for o in (*operands, *captured) if o is not None])
        if arrays is None or not all(useful(array, finite) for array in arrays):
            raise NotDrawn
        self.graph.nodes.append(node)
        exact = exact and all(o.exact for o in operands if o is not None)
        values = [Value(name, array, exact) for name, array in zip(outs, arrays)]
        for value in values:
            self.graph.types[value.name] = helper.np_dtype_to_tensor_dtype(value.array.dtype)
            self.graph.shapes[value.name] = value.shape
        return values if results > 1 else values[0]

    def evaluate(self, node, operands):
        known = {o.name: o.array for o in operands}
        consts = {t.name: t for t in self.graph.consts}
        infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                 for name, array in known.items() if name not in consts]
        outs = [helper.make_empty_tensor_value_info(name) for name in node.output]
        graph = helper.make_graph([node], "one", infos, outs, [consts[name] for name in known if name in consts])
        model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", self.graph.opset)])
        try:
            onnx.shape_inference.infer_shapes(model, strict_mode=True, check_type=True)
            return session_of(model).run(None, {info.name: known[info.name] for info in infos})
        except Exception:  # onnxruntime's and onnx's have no base of their own
            return None

    # ---- the drawing ----

    def floats(self):
        return [t for t in self.tensors if t.array.dtype == self.kind]

    def broadcast(self, shape):
        return broadcast(self, shape)

    def step(self):
        x = self.tensors[-1] if self.chance(0.7) else self.rng.choice(self.tensors)
        family = self.rng.choice(FAMILIES)
        try:
            y = family(self, x)
        except NotDrawn:
            return
        if y is not None and y.name not in [t.name for t in self.tensors]:
            self.tensors.append(y)
            last = self.graph.nodes[-1].op_type
            self.words.append(f"{last}->{'x'.join(map(str, y.shape)) or 'scalar'}")

    def done(self):
        """The case and what is in it, or None where ONNX Runtime takes each operator and not all of them together (its shape
        inference counts windows of ceil_mode otherwise than its kernels)."""
        wanted, tries = self.rng.randrange(1, 6), 0
        while (len(self.tensors) <= wanted and tries < 40) or not self.graph.nodes:
            self.step()
            tries += 1
        made = [t for t in self.tensors if t.name not in self.graph.feeds]
        outputs = [t.name for t in made[:-1] + self.others if self.chance(0.2)] + [made[-1].name]
        outputs = list(dict.fromkeys(outputs))
        self.drop_unread(outputs)
        case = self.graph.finish(*outputs, inferred=False)
        try:
            expected_of(case.model, case.feeds)
        except Exception:
            return None
        return case, "; ".join(self.words)

    def drop_unread(self, outputs):
        """Nodes, constants and inputs of attempts that led nowhere."""
        read, nodes = set(outputs), []
        for node in reversed(self.graph.nodes):
            if read & set(node.output):
                nodes.insert(0, node)
                read.update(names_read(node))
        self.graph.nodes = nodes
        self.graph.consts = [c for c in self.graph.consts if c.name in read]
        self.graph.inputs = [i for i in self.graph.inputs if i.name in read]
        self.graph.feeds = {i.name: self.graph.feeds[i.name] for i in self.graph.inputs}


def draw_any(rng, name):
    """A case and what is in it."""
    while True:
        drawn = AnyDrawing(rng, name).done()
        if drawn:
            return drawn


def names_read(node):
    """By the node and by the graphs inside it."""
    yield from node.input
    for attribute in node.attribute:
        for inner in attribute.g.node:
            yield from names_read(inner)


def useful(array, finite=True):
    if array.size > ELEMENTS or array.size == 0:
        return False
    return not finite or array.dtype != np.float32 or bool(np.isfinite(array).all() and np.abs(array).max() <= MOST)


# ---- operators of elements ----


def smooth(d, x):
    kind = d.rng.choice(SMOOTH)
    attrs = {}
    if kind in ("Elu", "LeakyRelu", "Celu") and d.chance(0.5):
        attrs["alpha"] = d.rng.choice([0.25, 0.5, 1.5])
    if kind == "HardSigmoid" and d.chance(0.5):
        attrs.update(alpha=d.rng.choice([0.25, 0.125]), beta=d.rng.choice([0.5, 0.25]))
    if kind == "Gelu" and d.chance(0.5):
        attrs["approximate"] = "tanh"
    return d.op(kind, x, exact=kind in ("Abs", "Neg", "Relu", "Identity"), **attrs)


def jump(d, x):
    if not x.exact or x.array.dtype != np.float32:
        return None
    kind = d.rng.choice(JUMPS)
    if kind != "Not":
        return d.op(kind, x, exact=True)
    y = d.op("Greater", x, d.operand(()), exact=True)
    return d.op("Where", d.op("Not", y, exact=True), x, d.operand(()), exact=True)


def clip(d, x):
    low = d.const(np.float32(d.rng.choice([-2, -1, 0, 0.25]))) if d.chance(0.7) else None
    high = d.const(np.float32(d.rng.choice([0.5, 1, 6]))) if low is None or d.chance(0.7) else None
    return d.op("Clip", x, *([low] if high is None else [low, high]), exact=True)


def broadcast(d, shape):
    """A shape that is broadcast to `shape`, or with it to a larger one: of any rank."""
    kept = [n if d.chance(0.6) else 1 for n in shape][d.rng.randrange(len(shape) + 1) if shape else 0:]
    kept = [d.rng.choice([2, 3, 5]) if n == 1 and d.chance(0.1) else n for n in kept]
    if len(kept) == len(shape) and d.chance(0.15):
        kept.insert(0, d.rng.choice([1, 2, 3]))
    return tuple(kept)


def other_of(d, x):
    """Another tensor of the graph that goes with x, or a new one."""
    fits = [t for t in d.floats() if broadcasts(t.shape, x.shape)]
    return d.rng.choice(fits) if fits and d.chance(0.5) else d.operand(broadcast(d, x.shape), 0.5)


def broadcasts(a, b):
    try:
        return product(np.broadcast_shapes(a, b)) <= ELEMENTS
    except ValueError:
        return False


def pair(d, x):
    kind = d.rng.choice(["Add", "Sub", "Mul", "Max", "Min", "Div", "PRelu"])
    y = other_of(d, x)
    if kind == "Div":  # by nothing near 0
        y = d.operand((np.abs(d.numbers(broadcast(d, x.shape))) + np.float32(0.5)).astype(np.float32))
    if kind == "PRelu":
        return d.op(kind, x, d.operand(tuple(n if d.chance(0.5) else 1 for n in x.shape)))
    operands = (x, y) if kind == "Div" or d.chance(0.6) else (y, x)
    return d.op(kind, *operands, exact=kind in ("Max", "Min"))


def several(d, x):
    kind = d.rng.choice(["Sum", "Mean", "Max", "Min"])
    return d.op(kind, x, *(other_of(d, x) for _ in range(d.rng.randrange(3))), exact=kind in ("Max", "Min"))


def choice(d, x):
    """Where: by a constant, an input or a comparison."""
    if x.exact and d.chance(0.6):
        kind = d.rng.choice(["Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"])
        mask = d.op(kind, x, d.operand(broadcast(d, x.shape)), exact=True)
    else:
        mask = d.operand(d.numbers(broadcast(d, x.shape)) > 0.2)
    y = other_of(d, x)
    return d.op("Where", mask, *((x, y) if d.chance(0.5) else (y, x)), exact=True)


def integers(d, x):
    """Through integers and back: multiples of 1/64, so that nothing is lost on the way."""
    if not x.exact:
        return None
    kind = d.rng.choice([onnx.TensorProto.INT32, onnx.TensorProto.INT64])
    scaled = d.op("Round", d.op("Mul", x, d.const(np.float32(4)), exact=True), exact=True)
    y = d.op("Cast", scaled, to=kind, exact=True)
    for _ in range(d.rng.randrange(1, 3)):
        y = whole(d, y)
    y = d.op("Cast", y, to=onnx.TensorProto.FLOAT, exact=True)
    return d.op("Mul", y, d.const(np.float32(0.125)), exact=True)


def whole(d, x):
    kind = d.rng.choice(["Add", "Mul", "Sub", "Div", "Mod", "Max", "Min", "Abs", "Neg", "Sign", "ReduceSum", "ReduceMax", "CumSum"])
    if kind == "CumSum" and not x.rank:
        raise NotDrawn
    if kind in ("Abs", "Neg", "Sign"):
        return d.op(kind, x, exact=True)
    if kind.startswith("Reduce"):
        return d.op(kind, x, *([d.ints(d.axis(x.rank))] if x.rank else []), keepdims=d.rng.randrange(2), exact=True)
    if kind == "CumSum":
        return d.op(kind, x, d.const(np.array(d.axis(x.rank), np.int64)), reverse=d.rng.randrange(2), exact=True)
    y = d.graph.rng.integers(-7, 8, broadcast(d, x.shape)).astype(x.array.dtype)
    if kind in ("Div", "Mod"):
        y = np.where(y == 0, 3, y).astype(x.array.dtype)
    return d.op(kind, x, d.operand(np.asarray(y)), exact=True)


ELEMENTWISE = [smooth] * 3 + [pair] * 4 + [jump, clip, several, choice, choice, integers]
FAMILIES = ELEMENTWISE + MOVES + SUMS + PRODUCTS + WINDOWS + TYPES + FUNCTIONS + CONTROL
