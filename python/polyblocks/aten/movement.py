"""What moves elements: views, which are copies here, parts, and tensors put together."""

import torch

from .builder import Unsupported
from .table import row


def axis(dim, rank):
    return dim % rank if rank else 0


@row("view", "reshape", "_unsafe_view", "view_copy", "_reshape_copy", "unflatten.int", "flatten.using_ints")
def view(b, x, *_, made):
    return b.reshape(x, made.shape)


@row("resize")
def resize(b, x, size, *, made):
    """Its first elements; what is behind its own no operator says: `out=` of another size writes all of it."""
    count, wanted = (torch.Size(shape).numel() for shape in (x.shape, made.shape))
    row = b.pad(b.reshape(x, (count,)), [0], [max(0, wanted - count)])
    return b.reshape(b.along(row, 0, 0, wanted), made.shape)


@row("permute")
def permute(b, x, dims):
    return b.transpose(x, [axis(d, x.rank) for d in dims])


@row("transpose.int")
def transpose(b, x, first, second):
    order = list(range(x.rank))
    if order:
        first, second = axis(first, x.rank), axis(second, x.rank)
        order[first], order[second] = second, first
    return b.transpose(x, order)


@row("t", "numpy_T")
def t(b, x):
    return b.transpose(x, range(x.rank)[::-1])


@row("expand")
def expand(b, x, size, *, made):
    return b.broadcast(x, made.shape)


@row("squeeze.dim", "squeeze.dims", "squeeze", "unsqueeze")
def squeeze(b, x, dim=None, *, made):
    return b.reshape(x, made.shape)


def bounds(extent, start, end):
    """A slice's bounds as Python has them."""
    start, end = 0 if start is None else start, extent if end is None else end
    start, end = (n + extent if n < 0 else n for n in (start, end))
    start = min(max(start, 0), extent)
    return start, max(start, min(end, extent))


@row("slice.Tensor")
def slice_(b, x, dim=0, start=None, end=None, step=1):
    dim = axis(dim, x.rank)
    return b.along(x, dim, *bounds(x.shape[dim], start, end), step)


@row("select.int")
def select(b, x, dim, index):
    dim = axis(dim, x.rank)
    index %= x.shape[dim]
    return b.reshape(b.along(x, dim, index, index + 1), x.shape[:dim] + x.shape[dim + 1 :])


@row("split_with_sizes")
def split_with_sizes(b, x, sizes, dim=0):
    dim, at, parts = axis(dim, x.rank), 0, []
    for size in sizes:
        parts.append(b.along(x, dim, at, at + size))
        at += size
    return parts


@row("split.Tensor")
def split(b, x, size, dim=0):
    dim = axis(dim, x.rank)
    extent = x.shape[dim]
    return split_with_sizes(b, x, [min(size, extent - k) for k in range(0, extent, size)] or [0], dim)


@row("unbind.int")
def unbind(b, x, dim=0):
    return [select(b, x, dim, k) for k in range(x.shape[axis(dim, x.rank)])]


@row("cat")
def cat(b, tensors, dim=0, *, made):
    tensors = [b.convert(x, made.dtype) for x in tensors if x.shape != (0,) or made.shape == (0,)]
    return b.concatenate(tensors, axis(dim, tensors[0].rank))


@row("stack")
def stack(b, tensors, dim=0, *, made):
    dim = axis(dim, len(made.shape))
    shape = made.shape[:dim] + (1,) + made.shape[dim + 1 :]
    return b.concatenate([b.reshape(b.convert(x, made.dtype), shape) for x in tensors], dim)


@row("repeat")
def repeat(b, x, repeats, *, made):
    shape = (1,) * (len(repeats) - x.rank) + x.shape
    spread = tuple(n for pair in zip(repeats, shape) for n in pair)
    return b.reshape(b.broadcast(b.reshape(x, shape), spread, range(1, 2 * len(repeats), 2)), made.shape)


@row("flip")
def flip(b, x, dims):
    return b.reverse(x, sorted(axis(d, x.rank) for d in dims))


@row("diagonal")
def diagonal(b, x, offset=0, dim1=0, dim2=1, *, made):
    """Of a square whose two dims come last: every so manyth of its elements in a row."""
    dim1, dim2 = axis(dim1, x.rank), axis(dim2, x.rank)
    x = b.transpose(x, [d for d in range(x.rank) if d not in (dim1, dim2)] + [dim1, dim2])
    last, count = x.rank - 1, made.shape[-1]
    rows, columns = max(0, -offset), max(0, offset)
    if not count:
        return b.constant(0, x.dtype, made.shape)
    x = b.along(b.along(x, last - 1, rows, rows + count), last, columns, columns + count)
    return b.along(b.reshape(x, x.shape[:-2] + (count * count,)), last - 1, 0, count * count, count + 1)


@row("constant_pad_nd")
def constant_pad(b, x, pad, value=0):
    low, high = [0] * x.rank, [0] * x.rank
    for k in range(len(pad) // 2):
        low[x.rank - 1 - k], high[x.rank - 1 - k] = pad[2 * k], pad[2 * k + 1]
    return b.pad(x, low, high, value)


def mirrored(b, x, padding):
    for k in range(len(padding) // 2):
        dim, (low, high) = x.rank - 1 - k, padding[2 * k : 2 * k + 2]
        extent, parts = x.shape[dim], []
        if low > 0:
            parts.append(b.reverse(b.along(x, dim, 1, low + 1), [dim]))
        parts.append(b.along(x, dim, max(0, -low), extent - max(0, -high)))
        if high > 0:
            parts.append(b.reverse(b.along(x, dim, extent - 1 - high, extent - 1), [dim]))
        x = b.concatenate(parts, dim)
    return x


@row("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def reflection_pad(b, x, padding):
    return mirrored(b, x, padding)


@row("replication_pad1d", "replication_pad2d", "replication_pad3d")
def replication_pad(b, x, padding):
    for k in range(len(padding) // 2):
        dim, (low, high) = x.rank - 1 - k, padding[2 * k : 2 * k + 2]
        extent, parts = x.shape[dim], []
        edge = x.shape[:dim] + (1,) + x.shape[dim + 1 :]
        for count, at in ((low, 0), (high, extent - 1)):
            part = b.reshape(b.along(x, dim, at, at + 1), edge)
            parts.append([b.broadcast(part, edge[:dim] + (count,) + edge[dim + 1 :])] if count > 0 else [])
        x = b.concatenate(parts[0] + [b.along(x, dim, max(0, -low), extent - max(0, -high))] + parts[1], dim)
    return x


@row("roll")
def roll(b, x, shifts, dims=()):
    shape = x.shape
    if not dims:
        x, dims = b.reshape(x, (torch.Size(shape).numel(),)), [0]
    for shift, dim in zip(shifts if isinstance(shifts, (list, tuple)) else [shifts], dims):
        dim = axis(dim, x.rank)
        extent = x.shape[dim]
        if extent and shift % extent:
            at = extent - shift % extent
            x = b.concatenate([b.along(x, dim, at, extent), b.along(x, dim, 0, at)], dim)
    return b.reshape(x, shape)


def triangle(b, x, direction, diagonal=0):
    """x where columns less rows compare so with the diagonal, 0 elsewhere."""
    rows, columns = b.iota(x.shape[-2:], 0), b.iota(x.shape[-2:], 1)
    inside = b.compare(direction, b.subtract(columns, rows), diagonal)
    return b.select(b.broadcast(inside, x.shape), x, b.constant(0, x.dtype, x.shape))


@row("tril")
def tril(b, x, diagonal=0):
    return triangle(b, x, "LE", diagonal)


@row("triu")
def triu(b, x, diagonal=0):
    return triangle(b, x, "GE", diagonal)


def strided(b, size, stride, offset):
    """Numbers in memory of the elements of a view."""
    at = b.constant(offset or 0, torch.int64, size)
    for dim, step in enumerate(stride):
        at = b.add(at, b.multiply(b.iota(size, dim), step))
    return at


@row("as_strided")
def as_strided(b, x, size, stride, offset=None, *, made):
    """Of a tensor that is its whole memory."""
    from .indexing import places

    return places(b, b.reshape(x, (torch.Size(x.shape).numel(),)), [strided(b, size, stride, offset)], made.shape)


@row("prims.as_strided_scatter")
def as_strided_scatter(b, x, source, size, stride, offset, *, made):
    """Where two elements of the view are one, either."""
    from .indexing import added_at

    count = torch.Size(size).numel()
    at, values = (b.reshape(v, (count,)) for v in (strided(b, size, stride, offset), b.convert(source, x.dtype)))
    return b.reshape(added_at(b, b.reshape(x, (torch.Size(x.shape).numel(),)), 0, at, values, None), x.shape)


@row("select_scatter")
def select_scatter(b, x, source, dim, index):
    dim = axis(dim, x.rank)
    index %= x.shape[dim]
    source = b.reshape(b.convert(source, x.dtype), x.shape[:dim] + (1,) + x.shape[dim + 1 :])
    return inserted(b, x, source, dim, index, index + 1, 1)


@row("slice_scatter")
def slice_scatter(b, x, source, dim=0, start=None, end=None, step=1):
    dim = axis(dim, x.rank)
    start, end = bounds(x.shape[dim], start, end)
    return inserted(b, x, b.convert(source, x.dtype), dim, start, end, step)


def inserted(b, x, source, dim, start, end, step):
    extent, count = x.shape[dim], source.shape[dim]
    if not count:
        return x
    if step == 1:
        return b.concatenate([b.along(x, dim, 0, start), source, b.along(x, dim, end, extent)], dim)
    low, high, inner = [0] * x.rank, [0] * x.rank, [0] * x.rank
    low[dim], inner[dim] = start, step - 1
    high[dim] = extent - start - ((count - 1) * step + 1)
    spread = b.pad(source, low, high, 0, inner)
    number = b.subtract(b.iota(x.shape, dim), start)
    taken = b.binary("and", b.compare("EQ", b.binary("remainder", number, step), 0), b.compare("GE", number, 0))
    taken = b.binary("and", taken, b.compare("LT", number, count * step))
    return b.select(taken, spread, x)


@row("diagonal_scatter")
def diagonal_scatter(b, x, source, offset=0, dim1=0, dim2=1):
    dim1, dim2 = axis(dim1, x.rank), axis(dim2, x.rank)
    order = [d for d in range(x.rank) if d not in (dim1, dim2)] + [dim1, dim2]
    turned = b.transpose(x, order)
    rows, columns = turned.shape[-2:]
    count, low = source.shape[-1], (max(0, -offset), max(0, offset))
    on = b.compare("EQ", b.subtract(b.iota(turned.shape, x.rank - 1), b.iota(turned.shape, x.rank - 2)), offset)
    edge = [0] * (x.rank - 2)
    spread = b.reshape(b.convert(source, x.dtype), source.shape[:-1] + (1, count))
    spread = b.pad(spread, edge + [0, low[1]], edge + [0, columns - count - low[1]])
    made = b.select(on, b.broadcast(b.reshape(spread, turned.shape[:-2] + (1, columns)), turned.shape), turned)
    return b.transpose(made, [order.index(d) for d in range(x.rank)])


@row("_local_scalar_dense")
def number_of(b, x):
    raise Unsupported("a number that Python takes out of a tensor (.item()): what is compiled has none")


@row("unfold")
def unfold(b, x, dim, size, step, *, made):
    if not x.rank:
        return b.reshape(x, made.shape)
    dim = axis(dim, x.rank)
    count = made.shape[dim]
    parts = [b.along(x, dim, k, k + (count - 1) * step + 1, step) for k in range(size)]
    return b.concatenate([b.reshape(p, p.shape + (1,)) for p in parts], x.rank)
