"""Tensors of other types than f32: moved, compared and computed there, all of it exactly. Functions of a drawing and a tensor."""

import numpy as np
from onnx import TensorProto, helper
from random_any_moves import MOVES, resize
from random_any_windows import fits

WORDS = [np.int32, np.int64]
CODES = [np.int8, np.uint8]
SMALL = [*CODES, np.int16, np.uint16]
WHOLE = [*WORDS, *SMALL, np.uint32, np.uint64]
FLOATING = [np.float16, np.float64]
KINDS = [*WORDS, *WORDS, *CODES, *CODES, *WHOLE, *FLOATING, np.bool_, np.bool_]
MOVED = [family for family in MOVES if family is not resize]  # of places between two integers ONNX says nothing


def to(d, x, kind):
    return d.op("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(kind)), exact=True)


def into(d, x, kind):
    """The tensor in another type, with nothing that type does not hold."""
    if kind == np.bool_:
        return d.op(d.rng.choice(["Greater", "LessOrEqual"]), x, d.const(np.float32(0.125)), exact=True)
    if kind in FLOATING:
        return to(d, x, kind)
    x = d.op("Round", d.op("Mul", x, d.const(np.float32(4)), exact=True), exact=True)
    if np.issubdtype(kind, np.unsignedinteger):
        x = d.op("Abs", x, exact=True)
    return to(d, d.op("Clip", x, d.const(np.float32(-100)), d.const(np.float32(100)), exact=True), kind)


def back(d, x):
    """As f32, with no number so large that sums of it lose their last bits."""
    x = to(d, x, np.float32)
    return d.op("Mul", x, d.const(np.float32(0.125)), exact=True) if np.abs(x.array).max() > 8 else x


def typed(d, x):
    """A few operators in another type, which may leave the graph too, and back."""
    if not x.exact or x.array.dtype != np.float32:
        return None
    kind = np.dtype(d.rng.choice(KINDS))
    y = into(d, x, kind)
    for _ in range(d.rng.randrange(1, 4)):
        d.kind = y.array.dtype
        try:
            family = d.rng.choice(MOVED if d.chance(0.5) else FAMILIES_OF[np.dtype(kind).kind])
            made = family(d, y)
        finally:
            d.kind = np.float32
        y = made if made is not None else y
    if d.chance(0.4):
        d.others.append(y)
    return back(d, y)


def by_bits(d, x):
    kind = d.rng.choice(["And", "Or", "Xor", "Not", "Equal", "Where"])
    if kind == "Not":
        return d.op(kind, x, exact=True)
    y = d.operand(d.broadcast(x.shape))
    if kind == "Where":
        return d.op(kind, x, *((x, y) if d.chance(0.5) else (y, x)), exact=True)
    return d.op(kind, *((x, y) if d.chance(0.5) else (y, x)), exact=True)


def pairs(d, x):
    """With a tensor of the same type: none that is 0, none that is large."""
    kind = d.rng.choice(["Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Max", "Min", "BitwiseAnd", "BitwiseOr", "BitwiseXor"])
    y = d.operand(np.maximum(np.abs(d.numbers(d.broadcast(x.shape))), 1).astype(d.kind))
    if kind in ("Div", "Mod"):
        return d.op(kind, x, y, exact=True)
    return d.op(kind, *((x, y) if d.chance(0.6) else (y, x)), exact=True)


def shifted(d, x):
    y = d.operand(np.minimum(np.abs(d.numbers(d.broadcast(x.shape))), 3).astype(d.kind))
    return d.op("BitShift", x, y, direction=d.rng.choice(["LEFT", "RIGHT"]), exact=True)


def alone(d, x):
    return d.op(d.rng.choice(["Abs", "Neg", "Sign", "Relu", "BitwiseNot", "Identity"]), x, exact=True)


def bounded(d, x):
    low, high = d.const(np.asarray(2, d.kind)), d.const(np.asarray(9, d.kind))
    bounds = d.rng.choice([[low], [None, high], [low, high]])
    return d.op("Clip", x, *bounds, exact=True)


def summed(d, x):
    kind = d.rng.choice(["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare", "ReduceL1", "CumSum"])
    if not x.rank:
        return None
    if kind == "CumSum":
        return d.op(kind, x, d.const(np.array(d.axis(x.rank), np.int64)), exclusive=d.rng.randrange(2), reverse=d.rng.randrange(2), exact=True)
    axes = d.rng.sample(range(x.rank), d.rng.randrange(1, x.rank + 1))
    return d.op(kind, x, d.ints(*axes), keepdims=d.rng.randrange(2), exact=True)


def most(d, x):
    """Where the largest are, or they themselves and where they are."""
    if not x.rank:
        return None
    axis = d.axis(x.rank)
    if d.chance(0.5):
        kind = d.rng.choice(["ArgMax", "ArgMin"])
        return d.op(kind, x, axis=axis, keepdims=d.rng.randrange(2), select_last_index=d.rng.randrange(2), exact=True)
    both = d.op("TopK", x, d.ints(d.rng.randrange(1, x.shape[axis] + 1)), axis=axis, largest=d.rng.randrange(2), results=2, exact=True)
    return d.rng.choice(both)


def compared(d, x):
    kind = d.rng.choice(["Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"])
    mask = d.op(kind, x, d.operand(d.broadcast(x.shape)), exact=True)
    return mask if d.chance(0.3) else d.op("Where", mask, x, d.operand(d.broadcast(x.shape)), exact=True)


def multiplied(d, x):
    if not x.rank:
        return None
    shape = (x.shape[-1], d.rng.choice([1, 2, 5, 16])) if d.chance(0.8) else (x.shape[-1],)
    return d.op("MatMul", x, d.operand(shape), exact=True)


def windows(d, x):
    """The largest codes under windows, and perhaps where they are."""
    if x.rank not in (3, 4):
        return None
    dims = x.rank - 2
    attrs = {"kernel_shape": [d.rng.choice([1, 2, 3]) for _ in range(dims)], "strides": [d.rng.choice([1, 2]) for _ in range(dims)], "dilations": [1] * dims}
    return d.op("MaxPool", x, exact=True, **attrs) if fits(x.shape[2:], attrs) else None


def chosen(d, x):
    """Rows of a table that the numbers name."""
    table = d.numbers((7, 3)) if d.kind in FLOATING else d.graph.rng.integers(0, 9, (7, 3)).astype(d.kind)
    places = d.op("Mod", d.op("Cast", x, to=TensorProto.INT64, exact=True), d.const(np.array(7, np.int64)), exact=True)
    return d.op("Gather", d.operand(table, 0.5), places, exact=True)


NUMBERS = [pairs] * 3 + [alone, bounded, summed, summed, most, compared, compared, multiplied, windows]
FAMILIES_OF = {"b": [by_bits], "i": [*NUMBERS, chosen], "u": [*NUMBERS, shifted, chosen], "f": [alone, bounded, most, compared, windows]}
TYPES = [typed] * 4
