"""What constants alone decide, computed by the compiler (core/s1/rewrite/fold.c): every operator that folds, on every type, beside
ONNX Runtime. One model a type adds all that was folded, as one row, to an input, and that sum is all the program."""

import numpy as np
from onnx import TensorProto
from regression_cases import CASES, F32, I32, I64, Maker

BOOL = np.bool_
FLOATS = [0, -0.0, 1.5, -1.5, 2.25, -7, 1e9, -3e-3, np.inf, -np.inf, np.nan, 4]
OTHERS = [1, 0, -1.5, 3, -0.75, 2, 3, 1e-3, np.inf, 5, 1, np.nan]
WHOLE = [0, 1, -1, 7, -7, 7, -7, 100, -100, 6, 12345678, -3]
DIVISORS = [3, -4, 1, 3, 3, -3, -2, 7, 100, 6, 1000, 5]
COMPARISONS = ["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]


class Row:
    """Parts that are cast to f32 and stand one behind the other."""

    def __init__(self, label):
        self.m, self.parts, self.size = Maker(label, 13), [], 0

    def add(self, name, size, is_float=False):
        self.parts.append(name if is_float else self.m.op("Cast", name, to=TensorProto.FLOAT))
        self.size += size

    def done(self):
        x = self.m.input("x", self.size, values=np.arange(self.size) % 5)
        return self.m.done(self.m.op("Add", x, self.m.op("Concat", *self.parts, axis=0)), targets=("cpu",), operators=1)


def by_elements(label, kind):
    row = Row(label)
    m, is_float = row.m, kind is F32
    values, others = (FLOATS, OTHERS) if is_float else (WHOLE, DIVISORS)
    a, b, count = m.const(np.array(values, kind)), m.const(np.array(others, kind)), len(values)
    one = m.const(np.array([others[3]], kind))
    for op in ("Add", "Sub", "Mul", "Div") + (() if is_float else ("Max", "Min")):
        row.add(m.op(op, a, b), count, is_float)
        row.add(m.op(op, one, a if op != "Div" else b), count, is_float)
    for op in ("Neg", "Sqrt", "Reciprocal", "Floor", "Ceil") if is_float else ("Neg",):
        row.add(m.op(op, a), count, is_float)
    if not is_float:
        row.add(m.op("Mod", a, m.const(np.abs(np.array(others, kind)))), count)
    for op in COMPARISONS:
        row.add(m.op(op, a, b), count)
        row.add(m.op(op, a, a), count)
    chosen = m.op("Cast", m.const(np.arange(count, dtype=F32) % 3), to=TensorProto.BOOL)
    row.add(m.op("Where", chosen, a, b), count, is_float)
    row.add(m.op("Where", chosen, a, one), count, is_float)
    row.add(m.op("Cast", a, to=TensorProto.BOOL), count)
    if is_float:
        near = m.const(np.array([0.4, -0.6, 3.99, -3.99, 1e6, -5], F32))
        for to in (TensorProto.INT32, TensorProto.INT64):
            row.add(m.op("Cast", near, to=to), 6)
    else:
        row.add(m.op("Cast", a, to=TensorProto.INT64 if kind is I32 else TensorProto.INT32), count)
    return row.done()


def truths():
    row = Row("folded_truths")
    m = row.m
    a, b = m.const(np.array([0, 0, 1, 1], BOOL)), m.const(np.array([0, 1, 0, 1], BOOL))
    for op in ("And", "Or"):
        row.add(m.op(op, a, b), 4)
    row.add(m.op("Not", b), 4)
    row.add(m.op("Where", a, b, m.op("Not", b)), 4)
    row.add(m.op("Cast", m.op("Cast", b, to=TensorProto.INT64), to=TensorProto.BOOL), 4)
    return row.done()


def moved(label, kind):
    """Operators that only move: strides, negative places, ends outside, several axes."""
    row = Row(label)
    m = row.m
    x = m.const(np.arange(60).reshape(3, 4, 5).astype(kind))
    flat = lambda name: m.op("Reshape", name, m.const(np.array([-1], I64)))  # noqa: E731

    def add(name, size):
        row.add(flat(name), size, kind is F32)

    add(m.op("Transpose", x), 60)
    add(m.op("Transpose", x, perm=[1, 2, 0]), 60)
    add(m.op("Identity", x), 60)
    add(m.op("Squeeze", m.op("Unsqueeze", x, m.const(np.array([0, 3, -1], I64))), m.const(np.array([0, 3, 5], I64))), 60)
    whole = [np.array(v, I64) for v in ([1, -4, 0], [99, -1, -1], [0, -1, 1], [1, 2, 3])]
    add(m.op("Slice", x, *map(m.const, whole)), 2 * 2 * 1)
    add(m.op("Slice", x, m.const(np.array([-99, 2], I64)), m.const(np.array([2, 3], I64))), 2 * 1 * 5)
    add(m.op("Expand", m.op("Slice", x, *map(m.const, [np.array([v], I64) for v in (0, 1, 1)])), m.const(np.array([2, 3, 4, 5], I64))), 120)
    for axis in range(3):
        add(m.op("Gather", x, m.const(np.array([[2, -1], [0, -3]], I64)), axis=axis), 60 // (3, 4, 5)[axis] * 4)
    add(m.op("Concat", x, m.op("Transpose", m.op("Transpose", x)), axis=-1), 120)
    add(m.op("Concat", x, x, axis=1), 120)
    return row.done()


def shapes():
    """Shapes of an input and of a constant, in parts, sizes, and what is made of a shape."""
    row = Row("folded_shapes")
    m = row.m
    image, c = m.input("image", 2, 3, 4, 5), m.const(np.zeros((7, 8, 9), F32))
    row.m.opset = 15
    for name, rank in ((image, 4), (c, 3)):
        row.add(m.op("Shape", name), rank)
        for start, end in ((1, 3), (-2, 9), (-9, -1), (2, 1)):
            low, high = (min(max(v + rank if v < 0 else v, 0), rank) for v in (start, end))
            row.add(m.op("Shape", name, start=start, end=end), max(high - low, 0))
        row.add(m.op("Reshape", m.op("Size", name), m.const(np.array([1], I64))), 1)
    filled = m.op("ConstantOfShape", m.op("Shape", m.const(np.zeros((2, 3), F32))))
    row.add(m.op("Reshape", filled, m.const(np.array([6], I64))), 6, True)
    return row.done()


def negated_shape():
    """A shape must be a constant: one that is left to the processor is refused."""
    m = Maker("folded_negated_shape")
    return m.done(m.op("Reshape", m.input("x", 4, 6), m.op("Neg", m.const(np.array([-3, -8], I64)))), targets=("cpu",))


def of_eight_dims():
    """As many dims as a tensor may have: a shape comes by such. simnpu has nothing that would compute it."""
    m = Maker("folded_of_eight_dims")
    shape = m.op("Neg", m.const(np.array([-3, -16], I64).reshape([1] * 7 + [2])))
    return m.done(m.op("Reshape", m.input("x", 6, 8), m.op("Reshape", shape, m.const(np.array([2], I64)))))


def searched(label, kind):
    """What is as long as the data say: where something else than zero stands, values once each; parts of sizes that are given."""
    row = Row(label)
    m, values = row.m, np.array([[3, 0, -1, 3], [0, 5, 0, -1], [7, 3, 0, 0]], kind)
    for part in (values, values[:, 1].copy(), values[0]):
        row.add(m.op("Reshape", m.op("NonZero", m.const(part)), m.const(np.array([-1], I64))), part.ndim * int(np.count_nonzero(part)))
    for in_order in (0, 1) if kind is not I32 else ():  # ONNX Runtime has no other
        row.add(m.op("Unique", m.const(values), sorted=in_order), len(np.unique(values)), kind is F32)
    if kind is F32:
        row.add(m.op("Relu", m.const(values[1])), 4, True)
    return row.done()


REDUCTIONS = ["ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare"]


def reduced(label, kind):
    """Along any axes, which 1 long stay or go; of all. Of whole numbers what extents are made of."""
    row = Row(label)
    m, is_float = row.m, kind is F32
    values = m.rng.standard_normal((3, 4, 5)) if is_float else m.rng.integers(-3, 4, (3, 4, 5))
    x = m.const(values.astype(kind))
    for op in REDUCTIONS if is_float else ["ReduceProd", "ReduceMax", "ReduceMin"]:
        for axes in ([0], [-1], [0, 2], [1, 2], None):
            left = [n for k, n in enumerate((3, 4, 5)) if axes and k not in [a % 3 for a in axes]]
            made = m.op(op, x, keepdims=len(left) % 2, **({"axes": axes} if axes else {}))
            row.add(m.op("Reshape", made, m.const(np.array([-1], I64))), int(np.prod(left)), is_float)
    for axes in ([1], [0, 1]):
        made = m.op("ReduceSum", x, m.const(np.array(axes, I64)), keepdims=0)
        row.add(m.op("Reshape", made, m.const(np.array([-1], I64))), 15 if len(axes) == 1 else 5, is_float)
    if is_float:
        row.add(m.op("Reshape", m.op("ReduceSum", x), m.const(np.array([1], I64))), 1, True)
        known = [m.const(np.abs(m.rng.standard_normal(4)).astype(F32)) for _ in range(4)]
        row.add(m.op("Reshape", m.op("BatchNormalization", x, *known, epsilon=0.01), m.const(np.array([60], I64))), 60, True)
    return row.done()


def standardised_weights():
    """A convolution's weights less their mean, over their deviation, as the model computes them when it runs."""
    m = Maker("folded_standardised_weights")
    w = m.const(m.rng.standard_normal((24, 16, 3, 3)).astype(F32))
    apart = m.op("Sub", w, m.op("ReduceMean", w, axes=[1, 2, 3]))
    variance = m.op("ReduceMean", m.op("Mul", apart, apart), axes=[1, 2, 3])
    w = m.op("Div", apart, m.op("Sqrt", m.op("Add", variance, m.const(F32(1e-5)))))
    return m.done(m.op("Conv", m.input("x", 1, 16, 7, 6), w, pads=[1] * 4), targets=("cpu",), operators=1)


def side_of_patches():
    """A shape by a power of constants: the root of how many patches there are."""
    m = Maker("folded_side_of_patches", opset=17)
    side = m.op("Cast", m.op("Pow", m.const(F32(36)), m.const(F32(0.5))), to=TensorProto.INT64)
    one = m.op("Unsqueeze", side, m.const(np.array([0], I64)))
    shape = m.op("Concat", m.const(np.array([1], I64)), one, one, m.const(np.array([-1], I64)), axis=0)
    return m.done(m.op("Relu", m.op("Reshape", m.input("x", 1, 36, 5), shape)), targets=("cpu",), operators=1)


for kind in (F32, I64):
    CASES[f"folded_sums_{np.dtype(kind).name}"] = lambda kind=kind: reduced(f"folded_sums_{np.dtype(kind).name}", kind)
CASES["folded_standardised_weights"] = standardised_weights
CASES["folded_side_of_patches"] = side_of_patches
for kind in (F32, I32, I64):
    name = np.dtype(kind).name
    CASES[f"folded_{name}"] = lambda label=f"folded_{name}", kind=kind: by_elements(label, kind)
    CASES[f"folded_searches_{name}"] = lambda label=f"folded_searches_{name}", kind=kind: searched(label, kind)
    CASES[f"folded_moves_{name}"] = lambda label=f"folded_moves_{name}", kind=kind: moved(label, kind)
CASES["folded_truths"], CASES["folded_shapes"], CASES["folded_negated_shape"] = truths, shapes, negated_shape
CASES["folded_of_eight_dims"] = of_eight_dims


def cast_alike():
    """Exporters write numbers as 1 cast to the type of an operand, which need not be constant."""
    row = Row("folded_cast_alike")
    row.m.opset = 15
    m = row.m
    given = m.input("given", 1, values=[0])
    alike = {kind: m.op("Cast", given, to=to) for kind, to in ((F32, TensorProto.FLOAT), (I32, TensorProto.INT32), (I64, TensorProto.INT64), (BOOL, TensorProto.BOOL))}
    for numbers in np.array(FLOATS[:8], F32), np.array(WHOLE, I32), np.array(WHOLE, I64), np.array(WHOLE) > 0, np.array(WHOLE[:8], np.int8):
        name = m.const(numbers)
        for kind, like in alike.items():
            row.add(m.op("CastLike", name, like), len(numbers), kind is F32)
    return row.done()


CASES["folded_cast_alike"] = cast_alike


def ranges(label, kind, start, limit, step):
    """Range has more types than those that constants are otherwise folded in."""
    m = Maker(label, 11)
    row = m.op("Range", *(m.const(np.array(v, kind)) for v in (start, limit, step)))
    as_it_is = m.op("Add", row, m.const(np.array(1, kind))) if kind == np.float64 else row
    x = m.input("x", len(np.arange(start, limit, step)))
    return m.done(m.op("Add", x, m.op("Cast", as_it_is, to=TensorProto.FLOAT)), targets=("cpu",))


for _k, _a in enumerate(((np.float64, 0.1, 3, 0.3), (np.float64, 2, -1e-3, -0.7), (np.int16, -3, 300, 7), (np.int16, 9, -9, -2))):
    CASES[f"ranges_{_k}"] = lambda k=_k, a=_a: ranges(f"ranges_{k}", *a)
