"""Operators over axes: reductions, norms, running sums, the largest of some. Functions of a drawing and a tensor."""

import numpy as np
from onnx import TensorProto

REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"]


def reduce(d, x):
    """Over any axes or all, which then stay or go."""
    kind = d.rng.choice(REDUCTIONS)
    axes = d.rng.sample(range(x.rank), d.rng.randrange(x.rank + 1))
    named = [d.ints(*(axis - x.rank if d.chance(0.3) else axis for axis in axes))] if axes else []
    keep = {"keepdims": d.rng.randrange(2)} if d.chance(0.8) else {}
    if not axes and d.chance(0.3):
        keep["noop_with_empty_axes"] = 1
    return d.op(kind, x, *named, exact=kind in ("ReduceMax", "ReduceMin"), **keep)


def reduce_and_back(d, x):
    """With the tensor again, as norms do."""
    if not x.rank:
        return None
    axes = d.rng.sample(range(x.rank), d.rng.randrange(1, x.rank + 1))
    kind = d.rng.choice(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"])
    y = d.op(kind, x, d.ints(*axes), exact=kind in ("ReduceMax", "ReduceMin"))
    return d.op(d.rng.choice(["Sub", "Add", "Max", "Mul"]), *((x, y) if d.chance(0.7) else (y, x)))


def softmax(d, x):
    return d.op(d.rng.choice(["Softmax", "Softmax", "LogSoftmax"]), x, axis=d.axis(x.rank)) if x.rank else None


def largest(d, x):
    """Where the largest are; the largest themselves; 1 there."""
    if not x.rank or not x.exact:
        return None
    axis = d.axis(x.rank)
    kind = d.rng.choice(["ArgMax", "ArgMin", "TopK", "Hardmax", "OneHot"])
    if kind == "Hardmax":
        return d.op(kind, x, axis=axis, exact=True)
    if kind == "TopK":
        k = d.ints(d.rng.randrange(1, x.shape[axis] + 1))
        both = d.op(kind, x, k, axis=axis, largest=d.rng.randrange(2), results=2, exact=True)
        return both[0]
    where = d.op("ArgMin" if kind == "ArgMin" else "ArgMax", x, axis=axis, keepdims=d.rng.randrange(2),
                 select_last_index=d.rng.randrange(2), exact=True)
    if kind != "OneHot":
        return d.op("Cast", where, to=TensorProto.FLOAT, exact=True)
    values = d.const(np.array([-0.5, 2], np.float32))
    return d.op("OneHot", where, d.const(np.array(x.shape[axis], np.int64)), values, axis=d.axis(where.rank + 1), exact=True)


def running(d, x):
    if not x.rank:
        return None
    return d.op("CumSum", x, d.const(np.array(d.axis(x.rank), np.int64)), exclusive=d.rng.randrange(2), reverse=d.rng.randrange(2))


def norm(d, x):
    kind = d.rng.choice(["LayerNormalization", "LayerNormalization", "InstanceNormalization", "GroupNormalization", "BatchNormalization",
                         "LpNormalization", "LRN", "MeanVarianceNormalization"])
    if not x.rank:
        return None
    if kind == "LayerNormalization":
        axis = d.axis(x.rank)
        shape = x.shape[axis:] if d.chance(0.7) else x.shape[-1:]
        return d.op(kind, x, *(d.operand(shape) for _ in range(d.rng.randrange(1, 3))), axis=axis)
    if kind == "LpNormalization":
        return d.op(kind, x, axis=d.axis(x.rank), p=d.rng.randrange(1, 3))
    if kind == "MeanVarianceNormalization":
        return d.op(kind, x, axes=d.rng.sample(range(x.rank), d.rng.randrange(1, x.rank + 1)))
    if x.rank < 3:
        return None
    channels = x.shape[1]
    if kind == "LRN":
        return d.op(kind, x, size=d.rng.choice([1, 3, 5]), alpha=0.25, beta=0.75, bias=1.0)
    scales = [d.operand((channels,)) for _ in range(2)]
    if kind == "GroupNormalization":
        if d.graph.opset < 21:  # there scales are of groups, and it is deprecated
            return None
        return d.op(kind, x, *scales, num_groups=d.rng.choice([g for g in range(1, channels + 1) if channels % g == 0]))
    if kind == "BatchNormalization":
        var = d.operand(np.abs(d.numbers((channels,))) + np.float32(0.5))
        return d.op(kind, x, *scales, d.operand((channels,)), var)
    return d.op(kind, x, *scales)


SUMS = [reduce] * 4 + [reduce_and_back] * 2 + [softmax] * 2 + [largest, running, norm, norm, norm]
