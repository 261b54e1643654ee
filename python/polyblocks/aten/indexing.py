"""Elements at places that tensors say."""

import math

import torch

from .builder import Unsupported
from .movement import axis
from .table import row


def wrapped(b, at, extent):
    """Places below 0 count from the end."""
    at = b.convert(at, torch.int64)
    return b.select(b.compare("LT", at, 0), b.add(at, extent), at)


def stacked(b, parts):
    """Coordinates along a last dim."""
    parts = b.together(*parts) if len(parts) > 1 else parts
    return b.concatenate([b.reshape(p, p.shape + (1,)) for p in parts], parts[0].rank)


def places(b, x, coordinates, shape):
    """Elements of x at coordinates along all of its dims."""
    dims = list(range(x.rank))
    return b.reshape(b.gather(x, stacked(b, coordinates), [], dims, dims, [1] * x.rank), shape)


def grid(b, index, dim, rank):
    """Coordinates of elements that differ from their own places along one dim."""
    return [index if d == dim else b.iota(index.shape, d) for d in range(rank)]


@row("gather")
def gather(b, x, dim, index, *, made):
    if not x.rank:
        return b.broadcast(x, made.shape)
    dim = axis(dim, x.rank)
    index = b.reshape(index, made.shape)
    if 0 in made.shape:
        return b.constant(0, x.dtype, made.shape)
    return places(b, x, grid(b, wrapped(b, index, x.shape[dim]), dim, x.rank), made.shape)


@row("index_select")
def index_select(b, x, dim, index, *, made):
    if not x.rank:
        return b.reshape(x, made.shape)
    return rows(b, x, axis(dim, x.rank), b.reshape(index, (math.prod(index.shape),)))


def rows(b, x, dim, index):
    """x at places along one dim, in whose place the dims of the index come."""
    at = wrapped(b, index, x.shape[dim])
    at = b.reshape(at, at.shape + (1,))
    rest = [d for d in range(x.rank + index.rank - 1) if not dim <= d < dim + index.rank]
    sizes = [1 if d == dim else n for d, n in enumerate(x.shape)]
    if 0 in index.shape or 0 in x.shape:
        return b.constant(0, x.dtype, x.shape[:dim] + index.shape + x.shape[dim + 1 :])
    return b.gather(x, at, rest, [dim], [dim], sizes)


@row("embedding")
def embedding(b, weight, index, padding_idx=-1, scale_grad_by_freq=False):
    return rows(b, weight, 0, index)


def one_mask(indices):
    """The only index, where it is a mask of truths."""
    given = [(k, i) for k, i in enumerate(indices) if i is not None]
    return given[0] if len(given) == 1 and given[0][1].dtype in (torch.bool, torch.uint8) else None


def advanced(b, x, indices):
    """The dims that are indexed, their places, and where in a result these dims stand."""
    dims = [d for d, i in enumerate(indices) if i is not None]
    if any(indices[d].dtype in (torch.bool, torch.uint8) for d in dims):
        raise Unsupported("an index of truths: how long its result is only data say")
    at = b.together(*(wrapped(b, indices[d], x.shape[d]) for d in dims))
    first = dims[0] if dims == list(range(dims[0], dims[0] + len(dims))) else 0
    return dims, at, first


@row("index.Tensor", "_unsafe_index.Tensor")
def index(b, x, indices, *, made):
    indices = list(indices)
    dims, at, first = advanced(b, x, indices)
    if 0 in made.shape:
        return b.constant(0, x.dtype, made.shape)
    rest = [d for d in range(len(made.shape)) if not first <= d < first + at[0].rank]
    sizes = [1 if d in dims else n for d, n in enumerate(x.shape)]
    return b.gather(x, stacked(b, at), rest, dims, dims, sizes)


COMBINE = {"add": "add", "sum": "add", "prod": "multiply", "multiply": "multiply", "amax": "maximum", "amin": "minimum"}


def region_of(b, dtype, combine):
    """How a place takes an update: None puts it there."""
    if combine is None:
        return b.body([dtype, dtype], lambda b, x, y: b.reshape(y, ()))
    return b.combiner(COMBINE[combine], dtype)


@row("index_put", "_unsafe_index_put")
def index_put(b, x, indices, values, accumulate=False):
    indices = list(indices)
    mask = one_mask(indices)
    if mask:
        return put_where(b, x, *mask, b.convert(values, x.dtype), accumulate)
    dims, at, first = advanced(b, x, indices)
    rest = [d for d in range(x.rank) if d not in dims]
    shape = tuple(x.shape[d] for d in rest)
    outer = at[0].shape
    wanted = shape[:first] + outer + shape[first:]
    if 0 in wanted:
        return x
    values = b.broadcast(b.convert(values, x.dtype), wanted)
    window = [d for d in range(len(wanted)) if not first <= d < first + len(outer)]
    return b.scatter(x, stacked(b, at), values, window, dims, dims, region_of(b, x.dtype, "add" if accumulate else None))


def put_where(b, x, dim, truth, values, accumulate):
    """Where a mask of some dims says so: one value for all places, or the values in the places' order."""
    truth = b.convert(truth, torch.bool)
    shape = (1,) * dim + truth.shape + (1,) * (x.rank - dim - truth.rank)
    inside = b.broadcast(b.reshape(truth, shape), x.shape)
    rest = x.shape[:dim] + x.shape[dim + truth.rank :]
    if values.rank <= len(rest) - dim or values.shape[-1 - (len(rest) - dim)] == 1:  # nothing of it goes along the places
        if values.rank > len(rest) - dim:
            values = b.reshape(values, values.shape[: -1 - (len(rest) - dim)] + (1,) * truth.rank + values.shape[values.rank - (len(rest) - dim) :])
        new = b.broadcast(values, x.shape)
    elif dim:
        raise Unsupported("values in the order of a mask that does not stand first")
    else:
        from .reductions import scan

        count = math.prod(truth.shape)
        number = scan(b, "add", b.convert(b.reshape(truth, (count,)), torch.int64), 0, 0)
        taken = rows(b, b.broadcast(values, (values.shape[0],) + rest), 0, b.binary("maximum", b.subtract(number, 1), 0))
        new = b.reshape(taken, x.shape)
    return b.select(inside, b.add(x, new) if accumulate else new, x)


def added_at(b, x, dim, index, values, combine):
    """x with values put, or combined, at places along one dim."""
    coordinates = grid(b, wrapped(b, index, x.shape[dim]), dim, x.rank)
    if 0 in index.shape:
        return x
    dims = list(range(x.rank))
    return b.scatter(x, stacked(b, coordinates), values, [], dims, dims, region_of(b, x.dtype, combine))


def scattered(b, x, dim, index, source, combine):
    shape = x.shape
    if not x.rank:
        x, index, source = (b.reshape(v, (math.prod(v.shape),)) for v in (x, index, source))
    if 0 in index.shape:
        return b.reshape(x, shape)
    source = b.slice(source, [0] * source.rank, index.shape)
    return b.reshape(added_at(b, x, axis(dim, x.rank), index, b.convert(source, x.dtype), combine), shape)


@row("scatter.src")
def scatter(b, x, dim, index, source):
    return scattered(b, x, dim, index, source, None)


@row("scatter.value")
def scatter_value(b, x, dim, index, value):
    return scattered(b, x, dim, index, b.constant(value, x.dtype, index.shape), None)


@row("scatter_add")
def scatter_add(b, x, dim, index, source):
    return scattered(b, x, dim, index, source, "add")


@row("scatter.reduce", "scatter.value_reduce")
def scatter_by(b, x, dim, index, source, *, reduce):
    from .builder import Value

    source = source if isinstance(source, Value) else b.constant(source, x.dtype, index.shape)
    return scattered(b, x, dim, index, source, reduce)


@row("scatter_reduce.two")
def scatter_reduce(b, x, dim, index, source, reduce, *, include_self=True):
    if not include_self:
        first = {"sum": 0, "mean": 0, "prod": 1, "amax": None, "amin": None}[reduce]
        if first is None:
            from .reductions import greatest, least

            first = least(x.dtype) if reduce == "amax" else greatest(x.dtype)
        x = scattered(b, x, dim, index, b.constant(first, x.dtype, index.shape), None)
    y = scattered(b, x, dim, index, source, "sum" if reduce == "mean" else reduce)
    if reduce != "mean":
        return y
    ones = b.constant(1, torch.int64, index.shape)
    counts = b.constant(int(include_self), torch.int64, x.shape)
    counts = b.binary("maximum", scattered(b, counts, dim, index, ones, "add"), 1)
    from .elements import floored

    if x.dtype.is_floating_point:
        return b.divide(y, b.convert(counts, x.dtype))
    return floored(b, y, b.convert(counts, x.dtype))


@row("index_add")
def index_add(b, x, dim, index, source, *, alpha=1):
    if not x.rank:
        x, source = b.reshape(x, (1,)), b.reshape(source, (1,))
        return b.reshape(index_add(b, x, 0, index, source, alpha=alpha), ())
    dim = axis(dim, x.rank)
    source = source if alpha == 1 else b.multiply(source, alpha)
    at = b.reshape(wrapped(b, index, x.shape[dim]), (math.prod(index.shape), 1))
    if 0 in source.shape:
        return x
    window = [d for d in range(x.rank) if d != dim]
    return b.scatter(x, at, b.convert(source, x.dtype), window, [dim], [dim], region_of(b, x.dtype, "add"))


@row("index_reduce")
def index_reduce(b, x, dim, index, source, reduce, *, include_self=True):
    """index_add by another operation: places of a line are those of all lines."""
    if not x.rank:
        x, source = b.reshape(x, (1,)), b.reshape(source, (1,))
        return b.reshape(index_reduce(b, x, 0, index, source, reduce, include_self=include_self), ())
    dim = axis(dim, x.rank)
    line = tuple(source.shape[d] if d == dim else 1 for d in range(x.rank))
    places_ = b.broadcast(b.reshape(index, line), source.shape)
    return scatter_reduce(b, x, dim, places_, source, reduce, include_self=include_self)


@row("nonzero", "unique2", "_unique2", "masked_select", "bincount", "unique_consecutive", "unique_dim")
def of_data(b, *_, **__):
    raise Unsupported("how long its result is only data say")


@row("searchsorted.Tensor")
def searchsorted(b, sequence, values, *, out_int32=False, right=False, side=None, sorter=None, made):
    """How many of the sequence stand in front of each value; NaN stands behind all."""
    if sorter is not None:
        sequence = gather(b, sequence, -1, sorter, made=sorter)
    dtype = torch.promote_types(sequence.dtype, values.dtype)
    sequence, values = b.convert(sequence, dtype), b.convert(values, dtype)
    count = sequence.shape[-1]
    inner = values.shape if sequence.rank == 1 else values.shape[:-1]
    left = b.reshape(values, values.shape + (1,))
    line = sequence if sequence.rank == 1 else b.reshape(sequence, inner + (1, count))
    line, left = b.together(line, left)
    before = b.compare("LE" if right or side == "right" else "LT", line, left)
    if dtype.is_floating_point:
        before = b.binary("or", before, b.compare("NE", left, left))
    return b.reduce("add", b.convert(before, made.dtype), [values.rank], 0)


@row("searchsorted.Scalar")
def searchsorted_number(b, sequence, value, *, out_int32=False, right=False, side=None, sorter=None, made):
    return searchsorted(b, sequence, b.constant(value, sequence.dtype), right=right, side=side, sorter=sorter, made=made)


@row("bucketize.Scalar")
def bucketize_number(b, value, boundaries, *, out_int32=False, right=False, made):
    return searchsorted(b, boundaries, b.constant(value, boundaries.dtype), right=right, made=made)


@row("bucketize.Tensor")
def bucketize(b, values, boundaries, *, out_int32=False, right=False, made):
    return searchsorted(b, boundaries, values, out_int32=out_int32, right=right, made=made)


@row("masked_scatter")
def masked_scatter(b, x, mask, source):
    """The source's elements in their order, where the mask says so."""
    from .reductions import scan

    mask, x = b.together(b.convert(mask, torch.bool), x)
    count = math.prod(x.shape)
    if not count or not math.prod(source.shape):
        return x
    number = scan(b, "add", b.convert(b.reshape(mask, (count,)), torch.int64), 0, 0)
    number = b.binary("maximum", b.subtract(number, 1), 0)
    taken = rows(b, b.reshape(source, (math.prod(source.shape),)), 0, number)
    return b.select(mask, b.reshape(taken, x.shape), x)


@row("_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(b, weight, index, offsets, scale=False, mode=0, per_sample=None, last=False, padding_idx=-1, *, made, used):
    """Sums, means or maxima of rows; the bags are said by where they begin."""
    bags = made[0].shape[0]
    count = index.shape[0]
    starts = b.along(offsets, 0, 0, bags)
    number = b.iota((bags, count), 1, offsets.dtype)
    inside = begun = b.compare("GE", number, b.reshape(starts, (bags, 1)))
    ends = b.along(offsets, 0, 1, bags + 1) if last else b.concatenate([b.along(offsets, 0, 1, bags), b.constant(count, offsets.dtype, (1,))], 0)
    inside = b.binary("and", inside, b.compare("LT", number, b.reshape(ends, (bags, 1))))
    if padding_idx >= 0:
        inside = b.binary("and", inside, b.reshape(b.compare("NE", index, padding_idx), (1, count)))
    counts = b.reduce("add", b.convert(inside, offsets.dtype), [1], 0)
    if mode == 2:
        return maxima_of_bags(b, rows(b, weight, 0, index), inside, index, counts, made, used)
    bag = b.subtract(b.reduce("add", b.convert(begun, offsets.dtype), [0], 0), 1)
    results = [sums_of_bags(b, rows(b, weight, 0, index), inside, bag, per_sample, counts if mode == 1 else None), None, None, None]
    if used[1]:  # what the gradient needs: the bag of each element, and how many a bag has
        results[1] = bag if made[1].shape == bag.shape else b.constant(0, made[1].dtype, made[1].shape)
    if used[2]:
        results[2] = counts if made[2].shape == counts.shape else b.constant(0, made[2].dtype, made[2].shape)
    if used[3]:  # of maxima alone
        results[3] = b.constant(0, made[3].dtype, made[3].shape)
    return results


def sums_of_bags(b, items, inside, bag, per_sample, counts):
    """Row by row into its own bag, so that what is no number stays there; with counts means. Halves are summed in f32."""
    kept, shape, sums = items.dtype, (inside.shape[0], items.shape[1]), torch.promote_types(items.dtype, torch.float32)
    items = b.convert(items, sums)
    if per_sample is not None:
        items = b.multiply(items, b.reshape(b.convert(per_sample, sums), (items.shape[0], 1)))
    if shape[0] * items.shape[0] <= 256:  # few: every target chooses, not every one scatters
        whole = (shape[0], *items.shape)
        own = b.broadcast(b.reshape(inside, (*inside.shape, 1)), whole)
        made = b.reduce("add", b.select(own, b.broadcast(b.reshape(items, (1, *items.shape)), whole), b.constant(0, sums, whole)), [1], 0)
    else:
        taken = b.reshape(b.reduce("or", inside, [0], False), (items.shape[0], 1))
        items = b.select(b.broadcast(taken, items.shape), items, b.constant(0, sums, items.shape))
        made = b.scatter(b.constant(0, sums, shape), b.reshape(bag, (bag.shape[0], 1)), items, [1], [0], [0], region_of(b, sums, "add"))
    if counts is not None:
        made = b.divide(made, b.reshape(b.convert(b.binary("maximum", counts, 1), sums), (shape[0], 1)))
    return b.convert(made, kept)


def maxima_of_bags(b, items, inside, index, counts, made, used):
    """And which row of the table each came from, which the gradient asks for; those of bags of nothing are 0."""
    from .reductions import least, with_place

    shape = inside.shape + items.shape[1:]
    inside = b.broadcast(b.reshape(inside, inside.shape + (1,)), shape)
    low = b.constant(least(items.dtype), items.dtype, shape)
    values, at = with_place(b, b.select(inside, b.broadcast(items, shape), low), 1, "GT", least(items.dtype))
    some = b.broadcast(b.compare("GT", b.reshape(counts, counts.shape + (1,)), 0), values.shape)
    from_ = rows(b, index, 0, b.binary("minimum", at, index.shape[0] - 1))
    results = [b.select(some, values, b.constant(0, values.dtype, values.shape)), None, counts, b.convert(from_, made[3].dtype)]
    results = [r if r is not None and r.shape == m.shape else b.constant(0, m.dtype, m.shape) for r, m in zip(results, made)]
    return [b.convert(r, m.dtype) if k == 0 or used[k] else None for k, (r, m) in enumerate(zip(results, made))]


@row("embedding_dense_backward")
def embedding_backward(b, gradient, index, count, padding_idx, scale_grad_by_freq, *, made):
    at = b.reshape(wrapped(b, index, count), (math.prod(index.shape), 1))
    rows = b.reshape(gradient, (at.shape[0], gradient.shape[-1]))
    if padding_idx >= 0:
        rows = b.select(b.compare("EQ", at, padding_idx), b.constant(0, rows.dtype, rows.shape), rows)
    zero = b.constant(0, gradient.dtype, made.shape)
    if scale_grad_by_freq:
        ones = b.constant(1, torch.int64, (at.shape[0],))
        counts = b.scatter(b.constant(0, torch.int64, (count,)), at, ones, [], [0], [0], region_of(b, torch.int64, "add"))
        zero_counts = b.convert(b.binary("maximum", counts, 1), gradient.dtype)
        made_rows = b.scatter(zero, at, rows, [1], [0], [0], region_of(b, rows.dtype, "add"))
        return b.divide(made_rows, b.broadcast(b.reshape(zero_counts, (count, 1)), made.shape))
    return b.scatter(zero, at, rows, [1], [0], [0], region_of(b, rows.dtype, "add"))
