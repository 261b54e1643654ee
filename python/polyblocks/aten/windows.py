"""Pools and what undoes them."""

import math

import torch

from .builder import HALVES
from .products import each
from .reductions import least
from .table import row


def batched(b, x, spatial):
    """With dims for a batch and channels in front, and the shape of what was there."""
    front = x.shape[: x.rank - spatial]
    return b.reshape(x, (1,) * (2 - len(front)) + x.shape), front


def grown(extents, size, stride, padding, dilation, ceil):
    """Padding behind, that of windows which begin inside and end outside among it."""
    high = []
    for n, k, s, p, d in zip(extents, size, stride, padding, dilation):
        span = d * (k - 1) + 1
        left = n + 2 * p - span
        count = (-(-left // s) if ceil else left // s) + 1
        if ceil and (count - 1) * s >= n + p:
            count -= 1
        high.append(max(0, (count - 1) * s + span - n - p))
    return [(p, h) for p, h in zip(padding, high)]


def window_of(spatial, size, stride, padding, dilation=1):
    lists = []
    for value in (size, stride or size, padding, dilation):
        lists.append(each(value if isinstance(value, (list, tuple)) else [value], spatial))
    return lists


def averaged(b, x, spatial, size, stride, padding, ceil, include, divisor, made):
    size, stride, padding, dilation = window_of(spatial, size, stride, padding)
    x, front = batched(b, x, spatial)
    dtype = x.dtype
    x = b.convert(x, torch.float32) if dtype in HALVES else x
    extents = x.shape[2:]
    sides = grown(extents, size, stride, padding, dilation, ceil)
    sums = b.window("add", x, [1, 1] + size, 0, [1, 1] + stride, [(0, 0), (0, 0)] + sides)
    if divisor:
        y = b.divide(sums, b.constant(divisor, x.dtype, sums.shape))
    else:
        y = b.divide(sums, b.broadcast(counts(b, x.dtype, extents, size, stride, padding, sides, include), sums.shape))
    return b.reshape(b.convert(y, dtype), made.shape)


def counts(b, dtype, extents, size, stride, padding, sides, include):
    """How many elements each window has, as numbers; those of the padding among them or not."""
    counted = []
    for n, k, s, p, (low, high) in zip(extents, size, stride, padding, sides):
        count = (n + low + high - k) // s + 1
        starts = [w * s - p for w in range(count)]
        last, first = (n + p, -p) if include else (n, 0)
        counted.append([min(start + k, last) - max(start, first) for start in starts])
    shape = [len(c) for c in counted]
    whole = None
    for d, numbers in enumerate(counted):
        part = b.table(numbers, dtype, (len(numbers),)) if len(set(numbers)) > 1 else b.constant(numbers[0], dtype, (len(numbers),))
        part = b.broadcast(part, shape, (d,))
        whole = part if whole is None else b.multiply(whole, part)
    return whole


def average(name, spatial):
    @row(name)
    def function(b, x, size, stride=(), padding=0, ceil=False, include=True, divisor=None, *, made):
        return averaged(b, x, spatial, size, stride, padding, ceil, include, divisor, made)


average("avg_pool1d", 1)
average("avg_pool2d", 2)
average("avg_pool3d", 3)


@row("avg_pool2d_backward", "avg_pool3d_backward")
def average_backward(b, gradient, x, size, stride, padding, ceil, include, divisor, *, made):
    spatial = len(size)
    size, stride, padding, dilation = window_of(spatial, size, stride, padding)
    x, front = batched(b, x, spatial)
    gradient, _ = batched(b, gradient, spatial)
    sides = grown(x.shape[2:], size, stride, padding, dilation, ceil)
    if divisor:
        gradient = b.divide(gradient, b.constant(divisor, gradient.dtype, gradient.shape))
    else:
        counted = counts(b, gradient.dtype, x.shape[2:], size, stride, padding, sides, include)
        gradient = b.divide(gradient, b.broadcast(counted, gradient.shape))
    around = []
    for n, count, k, s, p in zip(x.shape[2:], gradient.shape[2:], size, stride, padding):
        low = k - 1 - p
        around.append((low, n - 1 - ((count - 1) * s - p)))
    ones = [1] * x.rank
    y = b.window("add", gradient, [1, 1] + size, 0, ones, [(0, 0), (0, 0)] + around, base=[1, 1] + stride)
    return b.reshape(y, made.shape)


def maximal(name, spatial):
    @row(name)
    def function(b, x, size, stride=(), padding=0, dilation=1, ceil=False, *, made, used):
        size, stride, padding, dilation = window_of(spatial, size, stride, padding, dilation)
        x, front = batched(b, x, spatial)
        extents = x.shape[2:]
        sides = [(0, 0), (0, 0)] + grown(extents, size, stride, padding, dilation, ceil)
        lists = ([1, 1] + size, [1, 1] + stride, sides, [1, 1] + dilation)
        if not used[1]:
            y = b.window("maximum", x, lists[0], least(x.dtype), lists[1], lists[2], lists[3])
            return [b.reshape(y, made[0].shape), None]
        values, places = with_places(b, x, *lists)
        return [b.reshape(values, made[0].shape), b.reshape(places, made[1].shape)]


def with_places(b, x, size, stride, sides, dilation):
    """The greatest of each window and where it is, as a number in its image."""
    from .builder import ints, pairs

    at = None
    for dim in range(2, x.rank):
        part = b.multiply(b.iota(x.shape, dim), math.prod(x.shape[dim + 1 :]))
        at = part if at is None else b.add(at, part)
    low, high = [s[0] for s in sides], [s[1] for s in sides]
    x, at = b.pad(x, low, high, least(x.dtype)), b.pad(at, low, high, torch.iinfo(torch.int64).max)

    def body(b, u, i, v, j):
        taken = b.binary("or", b.compare("GT", u, v), b.compare("NE", u, u)) if x.dtype.is_floating_point else b.compare("GT", u, v)
        taken = b.binary("or", taken, b.binary("and", b.compare("EQ", u, v), b.compare("LT", i, j)))
        return [b.select(taken, u, v), b.select(taken, i, j)]

    spans = [(k - 1) * d + 1 for k, d in zip(size, dilation)]
    shape = [(n - span) // s + 1 for n, span, s in zip(x.shape, spans, stride)]
    ones = [1] * x.rank
    said = [ints("base_dilations", ones), pairs("padding", [(0, 0)] * x.rank), ints("window_dilations", dilation)]
    said += [ints("window_dimensions", size), ints("window_strides", stride)]
    region = b.body([x.dtype, torch.int64, x.dtype, torch.int64], body)
    operands = [x, at, b.constant(least(x.dtype), x.dtype), b.constant(torch.iinfo(torch.int64).max, torch.int64)]
    return b.ops("stablehlo.reduce_window", operands, [(x.dtype, shape), (torch.int64, shape)], ", ".join(said), region)


maximal("max_pool2d_with_indices", 2)
maximal("max_pool3d_with_indices", 3)


@row("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward")
def maximal_backward(b, gradient, x, size, stride, padding, dilation, ceil, places, *, made):
    from .indexing import added_at

    spatial = len(size)
    outer, inner = math.prod(x.shape[:-spatial]), math.prod(x.shape[-spatial:])
    count = math.prod(gradient.shape[-spatial:])
    gradient, places = b.reshape(gradient, (outer, count)), b.reshape(places, (outer, count))
    zero = b.constant(0, gradient.dtype, (outer, inner))
    return b.reshape(added_at(b, zero, 1, places, gradient, "add"), made.shape)


def shares(out, extent):
    """Of adaptive pools: by output, the elements that it is the mean of."""
    return [(k * extent // out, -(-(k + 1) * extent // out)) for k in range(out)]


def mean_matrix(b, dtype, out, extent):
    rows = [[1 / (end - start) if start <= n < end else 0 for n in range(extent)] for start, end in shares(out, extent)]
    return b.table([n for line in rows for n in line], dtype, (out, extent))


def adaptive(name, spatial):
    @row(name)
    def function(b, x, out, *, made):
        extents, front = x.shape[-spatial:], x.shape[:-spatial]
        if all(n % o == 0 for n, o in zip(extents, out)):
            size = [n // o for n, o in zip(extents, out)]
            return averaged(b, x, spatial, size, size, [0] * spatial, False, True, None, made)
        dtype = x.dtype
        x = b.convert(x, torch.float32) if dtype in HALVES else x
        for k, o in enumerate(out):
            x = means_along(b, x, len(front) + k, o)
        return b.convert(x, dtype)


def means_along(b, x, dim, out):
    """Means of shares of a dim; of many by a matrix, which makes NaN of all beside an infinite number."""
    if out > 128:
        return along(b, x, dim, mean_matrix(b, x.dtype, out, x.shape[dim]))
    parts = []
    for start, end in shares(out, x.shape[dim]):
        total = b.reduce("add", b.along(x, dim, start, end), [dim], 0)
        total = b.reshape(total, (*x.shape[:dim], 1, *x.shape[dim + 1 :]))
        parts.append(b.divide(total, b.constant(end - start, x.dtype, total.shape)))
    return b.concatenate(parts, dim)


def along(b, x, dim, matrix):
    """A matrix times each line along a dim."""
    y = b.dot(x, matrix, ((dim,), (1,)))
    order = list(range(x.rank - 1))
    order.insert(dim, x.rank - 1)
    return b.transpose(y, order)


adaptive("adaptive_avg_pool1d", 1)
adaptive("_adaptive_avg_pool2d", 2)
adaptive("_adaptive_avg_pool3d", 3)


def adaptive_gradient(name, spatial):
    @row(name)
    def function(b, gradient, x, *, made):
        for k in range(spatial):
            dim = x.rank - spatial + k
            matrix = mean_matrix(b, x.dtype, gradient.shape[dim], x.shape[dim])
            gradient = along(b, gradient, dim, b.transpose(matrix, (1, 0)))
        return gradient


adaptive_gradient("_adaptive_avg_pool2d_backward", 2)
adaptive_gradient("_adaptive_avg_pool3d_backward", 3)
