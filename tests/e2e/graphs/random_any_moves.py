"""Operators that bring elements elsewhere, or look them up: every form of them. Functions of a drawing and a tensor."""

import numpy as np
from random_shapes import product


def transpose(d, x):
    perm = list(range(x.rank))
    d.rng.shuffle(perm)
    return d.op("Transpose", x, exact=True, **({"perm": perm} if x.rank and d.chance(0.8) else {}))


def slice_(d, x):
    """Some axes, either way, ends beyond the tensor's."""
    if not x.rank:
        return None
    axes = d.rng.sample(range(x.rank), d.rng.randrange(1, x.rank + 1))
    starts, ends, steps = [], [], []
    for axis in axes:
        n, back = x.shape[axis], d.chance(0.35)
        start, step = d.rng.randrange(n), d.rng.choice([1, 1, 2, 3, 5])
        more = d.rng.randrange(1, n + 3)
        if back:
            end = start - more
            end = -(2**31) if end < 0 else end
        else:
            end = d.rng.choice([start + more, 2**31 - 1, 2**63 - 1])
        starts.append(start - n if d.chance(0.3) else start)
        ends.append(end)
        steps.append(-step if back else step)
    named = [axis - x.rank if d.chance(0.3) else axis for axis in axes]
    return d.op("Slice", x, d.ints(*starts), d.ints(*ends), d.ints(*named), d.ints(*steps), exact=True)


def split(d, x):
    """Some of the parts, one behind the other again or one alone."""
    if not x.rank:
        return None
    axis = d.axis(x.rank)
    n = x.shape[axis]
    count = d.rng.randrange(2, 5)
    if n < count:
        return None
    if d.chance(0.5):
        parts = d.op("Split", x, axis=axis, num_outputs=count, results=count, exact=True)
    else:
        edges = [0, *sorted(d.rng.sample(range(1, n), count - 1)), n]
        parts = d.op("Split", x, d.ints(*np.diff(edges)), axis=axis, results=count, exact=True)
    if d.chance(0.4):
        return d.rng.choice(parts)
    d.rng.shuffle(parts)
    return d.op("Concat", *parts[:d.rng.randrange(1, count + 1)], axis=axis, exact=True)


def concat(d, x):
    if not x.rank:
        return None
    axis = d.axis(x.rank)
    fits = [t for t in d.floats() if t.rank == x.rank and
            all(t.shape[k] == x.shape[k] for k in range(x.rank) if k != axis % x.rank)]
    shape = list(x.shape)
    shape[axis] = d.rng.choice([1, 2, 3, 5])
    parts = [x, *(d.rng.choice(fits) if fits and d.chance(0.6) else d.operand(tuple(shape), 0.5) for _ in range(d.rng.randrange(1, 4)))]
    d.rng.shuffle(parts)
    return d.op("Concat", *parts, axis=axis, exact=True)


def pad(d, x):
    """Each mode; edges may be negative."""
    if not x.rank:
        return None
    mode = d.rng.choice(["constant", "constant", "reflect", "edge", "wrap"])
    axes = d.rng.sample(range(x.rank), d.rng.randrange(1, min(x.rank, 3) + 1))
    most = lambda axis: min(3, x.shape[axis] - (mode == "reflect"))  # noqa: E731
    draw = lambda axis: d.rng.choice([-1, 0, 1, 2, 3]) if mode == "constant" else d.rng.randrange(most(axis) + 1)  # noqa: E731
    pads = [draw(axis) for _ in range(2) for axis in axes]
    value = d.const(np.float32(0.5)) if mode == "constant" and d.chance(0.6) else None
    return d.op("Pad", x, d.ints(*pads), value, d.ints(*axes), mode=mode, exact=True)


def tile(d, x):
    return d.op("Tile", x, d.ints(*(d.rng.choice([1, 1, 2, 3]) for _ in x.shape)), exact=True) if x.rank else None


def expand(d, x):
    shape = [d.rng.choice([1, 2, 3, 5]) if n == 1 else d.rng.choice([n, 1]) for n in x.shape]
    if d.chance(0.3) and x.rank < 5:
        shape.insert(0, d.rng.choice([1, 2, 3]))
    return d.op("Expand", x, d.ints(*shape), exact=True) if shape else None


def reshape(d, x):
    """Other factors of the same number, in any order; one of them perhaps not said."""
    factors, rest = [], product(x.shape)
    for prime in (2, 3, 5, 7, 11, 13):
        while rest % prime == 0:
            factors.append(prime)
            rest //= prime
    factors.append(rest)
    d.rng.shuffle(factors)
    rank = d.rng.randrange(0 if len(factors) == 1 and rest == 1 else 1, 6)
    shape = [1] * rank
    for factor in factors if rank else []:
        shape[d.rng.randrange(rank)] *= factor
    if shape and d.chance(0.4):
        shape[d.rng.randrange(rank)] = -1
    return d.op("Reshape", x, d.ints(*shape), exact=True)


def squeeze(d, x):
    ones = [k for k, n in enumerate(x.shape) if n == 1]
    if ones and d.chance(0.5):
        chosen = d.rng.sample(ones, d.rng.randrange(1, len(ones) + 1))
        return d.op("Squeeze", x, *([d.ints(*chosen)] if d.chance(0.7) else []), exact=True)
    count = d.rng.randrange(1, 3)
    if x.rank + count > 5:
        return None
    return d.op("Unsqueeze", x, d.ints(*d.rng.sample(range(x.rank + count), count)), exact=True)


def flatten(d, x):
    return d.op("Flatten", x, axis=d.rng.randrange(-x.rank, x.rank + 1), exact=True)


def blocks(d, x):
    if x.rank != 4:
        return None
    size = d.rng.choice([2, 3])
    if d.chance(0.5):
        return d.op("DepthToSpace", x, blocksize=size, mode=d.rng.choice(["DCR", "CRD"]), exact=True)
    return d.op("SpaceToDepth", x, blocksize=size, exact=True)


def places(d, shape, n):
    """Indices into n elements, some from the end."""
    kind = d.rng.choice([np.int64, np.int64, np.int32])
    return d.operand(d.graph.rng.integers(-n, n, shape).astype(kind), 0.5)


def gather(d, x):
    if not x.rank:
        return None
    axis = d.axis(x.rank)
    shape = d.rng.choice([(), (1,), (3,), (5,), (2, 3), (1, 2, 2)])
    return d.op("Gather", x, places(d, shape, x.shape[axis]), axis=axis, exact=True)


def gather_elements(d, x):
    if not x.rank:
        return None
    axis = d.axis(x.rank)
    shape = [d.rng.randrange(1, n + 1) for n in x.shape]
    shape[axis] = d.rng.choice([1, 2, 5])
    return d.op("GatherElements", x, places(d, shape, x.shape[axis]), axis=axis, exact=True)


def columns(d, shape, extents):
    """Indices of several dims, beside each other: [*shape, len(extents)]."""
    return np.stack([d.graph.rng.integers(-n, n, shape) for n in extents], axis=-1).astype(np.int64)


def gather_nd(d, x):
    if not x.rank:
        return None
    batch = d.rng.randrange(min(x.rank, 3))
    count = d.rng.randrange(1, x.rank - batch + 1)
    shape = (*x.shape[:batch], *d.rng.choice([(), (2,), (3, 2)]))
    indices = columns(d, shape, x.shape[batch:batch + count])
    return d.op("GatherND", x, d.operand(indices, 0.5), batch_dims=batch, exact=True)


def scatter_elements(d, x):
    """Places that meet only where their order does not matter."""
    if not x.rank:
        return None
    axis, reduction = d.axis(x.rank), d.rng.choice(["none", "add", "max", "min"])
    shape = [d.rng.randrange(1, n + 1) for n in x.shape]
    n = x.shape[axis]
    if reduction == "none":  # a row of places that are all different
        order = np.argsort(d.graph.rng.random([*shape[:axis % x.rank], n, *shape[axis % x.rank + 1:]]), axis=axis)
        indices = np.take(order, range(shape[axis]), axis=axis)
        indices = np.where(d.graph.rng.random(indices.shape) < 0.3, indices - n, indices)
    else:
        indices = d.graph.rng.integers(-n, n, shape)
    return d.op("ScatterElements", x, d.operand(indices.astype(np.int64), 0.5), d.operand(tuple(shape), 0.5), axis=axis,
                exact=reduction != "add", **({} if reduction == "none" else {"reduction": reduction}))


def scatter_nd(d, x):
    if not x.rank:
        return None
    count, reduction = d.rng.randrange(1, x.rank + 1), d.rng.choice(["none", "add", "max", "min"])
    space = product(x.shape[:count])
    many = d.rng.randrange(1, min(space, 6) + 1)
    flat = d.rng.sample(range(space), many) if reduction == "none" else [d.rng.randrange(space) for _ in range(many)]
    indices = np.stack(np.unravel_index(flat, x.shape[:count]), axis=-1).astype(np.int64)
    updates = d.operand((many, *x.shape[count:]), 0.5)
    return d.op("ScatterND", x, d.operand(indices, 0.5), updates, exact=reduction != "add",
                **({} if reduction == "none" else {"reduction": reduction}))


def trilu(d, x):
    if x.rank < 2:
        return None
    k = [d.const(np.array(d.rng.randrange(-3, 4), np.int64))] if d.chance(0.6) else []
    return d.op("Trilu", x, *k, upper=d.rng.randrange(2), exact=True)


def reverse_sequence(d, x):
    if x.rank < 2:
        return None
    time = d.rng.randrange(2)
    lengths = d.graph.rng.integers(1, x.shape[time] + 1, x.shape[1 - time]).astype(np.int64)
    return d.op("ReverseSequence", x, d.operand(lengths), time_axis=time, batch_axis=1 - time, exact=True)


def resize(d, x):
    """Every mode and way to count places; by sizes or by scales, of all axes or some."""
    if x.rank not in (3, 4, 5):
        return None
    mode = d.rng.choice(["nearest", "linear", "cubic"])
    attrs = {"mode": mode, "coordinate_transformation_mode": d.rng.choice(
        ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"])}
    if mode == "nearest":
        attrs["nearest_mode"] = d.rng.choice(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
    if mode == "cubic":
        attrs.update(cubic_coeff_a=d.rng.choice([-0.75, -0.5]), exclude_outside=d.rng.randrange(2))
    if mode != "nearest" and d.chance(0.2):
        attrs["antialias"] = 1
    count = 2 if mode == "cubic" or x.rank == 4 else x.rank - 2
    axes = list(range(x.rank))[-count:] if d.chance(0.7) else None
    extents = [x.shape[k] for k in axes] if axes else x.shape
    still = 0 if axes else x.rank - count
    if axes:
        attrs["axes"] = axes
    # where corners are aligned, ONNX's fractional extent by scales and ONNX Runtime's whole one are two things
    if attrs["coordinate_transformation_mode"] == "align_corners" or d.chance(0.5):
        sizes = [n if k < still else max(1, d.rng.choice([n, 2 * n, 3 * n, n // 2, n + 1, n - 1])) for k, n in enumerate(extents)]
        return d.op("Resize", x, None, None, d.ints(*sizes), exact=mode == "nearest", **attrs)
    scales = [1.0 if k < still else d.rng.choice([1.0, 2.0, 0.5, 1.5, 3.0, 0.75]) for k in range(len(extents))]
    return d.op("Resize", x, None, d.const(np.array(scales, np.float32)), exact=mode == "nearest", **attrs)


MOVES = [transpose, transpose, slice_, slice_, split, split, concat, concat, pad, pad, tile, expand, reshape, reshape, squeeze,
         flatten, blocks, gather, gather_elements, gather_nd, scatter_elements, scatter_nd, trilu, reverse_sequence, resize, resize]
