"""What takes several elements to one: sums, extremes, scans, sorts."""

import math

import torch

from .builder import PART, ints, pairs
from .movement import axis
from .table import row


def dims_of(dim, rank):
    """The dims that are meant: none said are all."""
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return list(range(rank))
    return sorted({axis(d, rank) for d in (dim if isinstance(dim, (list, tuple)) else [dim])}) if rank else []


def least(dtype):
    if dtype == torch.bool:
        return False
    return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def greatest(dtype):
    if dtype == torch.bool:
        return True
    return math.inf if dtype.is_floating_point else torch.iinfo(dtype).max


def total(b, x, dims):
    return b.reduce("add", x, dims, 0)


def kept(b, x, made):
    """With dims of 1 where PyTorch keeps them."""
    return b.reshape(x, made.shape)


def wide(dtype):
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


@row("sum.dim_IntList", "sum")
def sum_(b, x, dim=None, keepdim=False, *, dtype=None, made):
    x = b.convert(b.convert(x, made.dtype), wide(made.dtype))
    return kept(b, b.convert(total(b, x, dims_of(dim, x.rank)), made.dtype), made)


@row("mean.dim", "mean")
def mean(b, x, dim=None, keepdim=False, *, dtype=None, made):
    dims = dims_of(dim, x.rank)
    count = math.prod(x.shape[d] for d in dims)
    x = b.convert(b.convert(x, made.dtype), wide(made.dtype))
    y = total(b, x, dims)
    return kept(b, b.convert(b.divide(y, b.constant(count, y.dtype, y.shape)), made.dtype), made)


@row("prod", "prod.dim_int")
def prod(b, x, dim=None, keepdim=False, *, dtype=None, made):
    x = b.convert(x, made.dtype)
    return kept(b, b.reduce("multiply", x, dims_of(dim, x.rank), 1), made)


def extreme(name, operation, first):
    @row(name)
    def function(b, x, dim=(), keepdim=False, *, made):
        return kept(b, b.reduce(operation, x, dims_of(dim, x.rank), first(x.dtype)), made)


for name in ("amax", "max"):
    extreme(name, "maximum", least)
for name in ("amin", "min"):
    extreme(name, "minimum", greatest)


@row("any", "any.dim", "any.dims")
def any_(b, x, dim=None, keepdim=False, *, made):
    y = b.reduce("or", b.convert(x, torch.bool), [] if dim == [] else dims_of(dim, x.rank), False)
    return kept(b, b.convert(y, made.dtype), made)


@row("all", "all.dim", "all.dims")
def all_(b, x, dim=None, keepdim=False, *, made):
    y = b.reduce("and", b.convert(x, torch.bool), [] if dim == [] else dims_of(dim, x.rank), True)
    return kept(b, b.convert(y, made.dtype), made)


def with_place(b, x, dim, direction, first):
    """The extreme along a dim and the first place that has it; NaN is one, as in PyTorch."""
    at = b.iota(x.shape, dim)
    floats = x.dtype.is_floating_point

    def body(b, u, i, v, j):
        before = b.compare(direction, u, v)
        if floats:
            before = b.binary("or", before, b.binary("and", b.compare("NE", u, u), b.compare("EQ", v, v)))
        same = b.compare("EQ", u, v)
        if floats:
            same = b.binary("or", same, b.binary("and", b.compare("NE", u, u), b.compare("NE", v, v)))
        taken = b.binary("or", before, b.binary("and", same, b.compare("LT", i, j)))
        return [b.select(taken, u, v), b.select(taken, i, j)]

    region = b.body([x.dtype, torch.int64, x.dtype, torch.int64], body)
    shape = x.shape[:dim] + x.shape[dim + 1 :]
    types = [(x.dtype, shape), (torch.int64, shape)]
    last = b.constant(torch.iinfo(torch.int64).max, torch.int64)
    return b.ops("stablehlo.reduce", [x, at, b.constant(first, x.dtype), last], types, f"dimensions = array<i64: {dim}>", region)


def places_of_extremes(name, direction, first):
    def both(b, x, dim):
        truth = x.dtype == torch.bool
        x = b.convert(x, torch.uint8) if truth else x
        if not x.rank:
            found = x, b.constant(0, torch.int64)
        else:
            found = with_place(b, x, axis(dim, x.rank), direction, first(x.dtype))
        return (b.convert(found[0], torch.bool) if truth else found[0]), found[1]

    @row(f"{name}.dim")
    def extreme_and_place(b, x, dim, keepdim=False, *, made):
        values, places = both(b, x, dim)
        return [b.reshape(values, made[0].shape), b.reshape(places, made[1].shape)]

    @row(f"arg{name}")
    def place(b, x, dim=None, keepdim=False, *, made):
        if dim is None:
            x, dim = b.reshape(x, (math.prod(x.shape),)), 0
        return b.reshape(both(b, x, dim)[1], made.shape)


places_of_extremes("max", "GT", least)
places_of_extremes("min", "LT", greatest)


def moments(b, x, dims, correction):
    """The mean and the variance, with dims of 1."""
    count = math.prod(x.shape[d] for d in dims)
    shape = [1 if d in dims else n for d, n in enumerate(x.shape)]
    mean = b.reshape(b.multiply(total(b, x, dims), 1 / count if count else math.nan), shape)
    away = b.subtract(x, mean)
    squares = b.multiply(away, away)
    rest = max(0.0, count - correction)
    sums = b.reshape(total(b, squares, dims), shape)
    return mean, b.divide(sums, b.constant(rest, x.dtype, shape))


def variance(b, x, dim, correction, made):
    if x.dtype in PART:
        parts = [b.op(name, [x], PART[x.dtype], x.shape) for name in ("real", "imag")]
        parts = [moments(b, p, dims_of(dim, x.rank), correction)[1] for p in parts]
        return kept(b, b.add(*parts), made)
    y = moments(b, b.convert(x, wide(x.dtype)), dims_of(dim, x.rank), correction)[1]
    return kept(b, b.convert(y, made.dtype), made)


@row("var.correction")
def var_correction(b, x, dim=None, *, correction=None, keepdim=False, made):
    return variance(b, x, dim, 1 if correction is None else correction, made)


@row("var.dim")
def var_dim(b, x, dim, unbiased=True, keepdim=False, *, made):
    return variance(b, x, dim, 1 if unbiased else 0, made)


@row("std.correction")
def std_correction(b, x, dim=None, *, correction=None, keepdim=False, made):
    return b.unary("sqrt", variance(b, x, dim, 1 if correction is None else correction, made))


@row("var_mean.correction")
def var_mean(b, x, dim=None, *, correction=None, keepdim=False, made):
    correction = 1 if correction is None else correction
    if x.dtype in PART:  # of both parts, whose variances add up
        parts = [moments(b, b.op(name, [x], PART[x.dtype], x.shape), dims_of(dim, x.rank), correction) for name in ("real", "imag")]
        means, variances = zip(*parts)
        mean, var = b.op("complex", means, x.dtype, means[0].shape), b.add(*variances)
    else:
        mean, var = moments(b, b.convert(x, wide(x.dtype)), dims_of(dim, x.rank), correction)
    return [b.reshape(b.convert(v, m.dtype), m.shape) for v, m in zip((var, mean), made)]


def scan(b, operation, x, dim, first):
    size, padding = [1] * x.rank, [(0, 0)] * x.rank
    size[dim], padding[dim] = x.shape[dim], (x.shape[dim] - 1, 0)
    return b.window(operation, x, size, first, padding=padding)


def scans(name, operation, first):
    @row(name)
    def function(b, x, dim, *, dtype=None, made):
        x = b.convert(x, made.dtype)
        if not x.rank or 0 in x.shape:
            return x
        y = b.convert(x, wide(x.dtype))
        return b.convert(scan(b, operation, y, axis(dim, x.rank), first), x.dtype)


scans("cumsum", "add", 0)
scans("cumprod", "multiply", 1)


def sorted_both(b, x, dim, descending):
    """Values and the places that they come from, in a stable order; NaN is the greatest."""
    at = b.iota(x.shape, dim)
    floats = x.dtype.is_floating_point
    truth = x.dtype == torch.bool
    x = b.convert(x, torch.uint8) if truth else x

    def body(b, u, v, i, j):
        before = b.compare("GT" if descending else "LT", u, v)
        if floats:
            first, second = (u, v) if descending else (v, u)
            before = b.binary("or", before, b.binary("and", b.compare("NE", first, first), b.compare("EQ", second, second)))
        return before

    region = b.body([x.dtype, x.dtype, torch.int64, torch.int64], body)
    types = [(x.dtype, x.shape), (torch.int64, x.shape)]
    values, places = b.ops("stablehlo.sort", [x, at], types, f"dimension = {dim} : i64, is_stable = true", region)
    return (b.convert(values, torch.bool) if truth else values), places


@row("sort", "sort.stable")
def sort(b, x, *args, stable=None, dim=-1, descending=False):
    if args:
        dim, descending = (args + (False,))[:2]
    if not x.rank:
        return [x, b.constant(0, torch.int64)]
    return list(sorted_both(b, x, axis(dim, x.rank), descending))


@row("topk")
def topk(b, x, k, dim=-1, largest=True, sorted=True):
    if not x.rank:
        return [x, b.constant(0, torch.int64)]
    dim = axis(dim, x.rank)
    return [b.along(v, dim, 0, k) for v in sorted_both(b, x, dim, largest)]


@row("argsort", "argsort.stable")
def argsort(b, x, *args, stable=None, dim=-1, descending=False):
    return sort(b, x, *args, dim=dim, descending=descending)[1]


def scan_with_place(name, direction):
    @row(name)
    def function(b, x, dim, *, made):
        """The extreme so far and the last place that has it."""
        if not x.rank or 0 in x.shape:
            return [x, b.constant(0, torch.int64, x.shape)]
        dim = axis(dim, x.rank)
        floats = x.dtype.is_floating_point

        def body(b, u, i, v, j):
            late = b.compare("GT", i, j)
            before = b.binary("or", b.compare(direction, u, v), b.binary("and", b.compare("EQ", u, v), late))
            if floats:
                nan, other = b.compare("NE", u, u), b.compare("NE", v, v)
                before = b.binary("or", before, b.binary("and", nan, b.binary("or", b.unary("not", other), late)))
            return [b.select(before, u, v), b.select(before, i, j)]

        size, padding, ones = [1] * x.rank, [(0, 0)] * x.rank, [1] * x.rank
        size[dim], padding[dim] = x.shape[dim], (x.shape[dim] - 1, 0)
        said = [ints("base_dilations", ones), pairs("padding", padding), ints("window_dilations", ones)]
        said += [ints("window_dimensions", size), ints("window_strides", ones)]
        first = least(x.dtype) if direction == "GT" else greatest(x.dtype)
        region = b.body([x.dtype, torch.int64, x.dtype, torch.int64], body)
        operands = [x, b.iota(x.shape, dim), b.constant(first, x.dtype), b.constant(-1, torch.int64)]
        return b.ops("stablehlo.reduce_window", operands, [(x.dtype, x.shape), (torch.int64, x.shape)], ", ".join(said), region)


scan_with_place("cummax", "GT")
scan_with_place("cummin", "LT")


def chosen(b, x, dim, k, keepdim, made):
    """Element k of a sorted line, and where it comes from."""
    if not x.rank:
        return [x, b.constant(0, torch.int64)]
    dim = axis(dim, x.rank)
    return [b.reshape(b.along(v, dim, k, k + 1), m.shape) for v, m in zip(sorted_both(b, x, dim, False), made)]


@row("kthvalue")
def kthvalue(b, x, k, dim=-1, keepdim=False, *, made):
    return chosen(b, x, dim, k - 1, keepdim, made)


@row("median.dim")
def median_dim(b, x, dim, keepdim=False, *, made):
    """Of a line with a NaN that NaN, at the first place that has one."""
    half = (x.shape[axis(dim, x.rank)] - 1) // 2 if x.rank else 0
    values, places = chosen(b, x, dim, half, keepdim, made)
    if not x.rank or not x.dtype.is_floating_point:
        return [values, places]
    greatest_, first = with_place(b, x, axis(dim, x.rank), "GT", least(x.dtype))
    greatest_, first = b.reshape(greatest_, values.shape), b.reshape(first, places.shape)
    nan = b.compare("NE", greatest_, greatest_)
    return [b.select(nan, math.nan, values), b.select(nan, first, places)]


@row("mode")
def mode(b, x, dim=-1, keepdim=False, *, made):
    """The least of those that are there most often, and the last place in order that has it: sorted, an element's count is how far it is from
    the first one that equals it."""
    if not x.rank:
        return [x, b.constant(0, torch.int64)]
    dim = axis(dim, x.rank)
    values, places = sorted_both(b, x, dim, False)
    number = b.iota(x.shape, dim)
    if x.shape[dim] > 1:
        before, after = b.along(values, dim, 0, x.shape[dim] - 1), b.along(values, dim, 1, x.shape[dim])
        other = b.compare("NE", before, after)
        low = [int(d == dim) for d in range(x.rank)]
        begins = b.pad(other, low, [0] * x.rank, True)
        first = scan(b, "maximum", b.select(begins, number, b.constant(0, torch.int64, x.shape)), dim, 0)
    else:
        first = number
    count = b.subtract(number, first)
    most = b.reshape(b.reduce("maximum", count, [dim], 0), x.shape[:dim] + (1,) + x.shape[dim + 1 :])
    there = b.select(b.compare("EQ", count, b.broadcast(most, x.shape)), number, b.constant(x.shape[dim], torch.int64, x.shape))
    at = b.reduce("minimum", there, [dim], x.shape[dim])
    taken = b.compare("EQ", number, b.broadcast(b.reshape(at, most.shape), x.shape))
    whole = values if values.dtype != torch.bool else b.convert(values, torch.uint8)
    picked = [b.reduce("add", b.select(taken, v, b.constant(0, v.dtype, v.shape)), [dim], 0) for v in (whole, places)]
    return [b.reshape(b.convert(v, m.dtype), m.shape) for v, m in zip(picked, made)]


@row("median")
def median(b, x, *, made):
    flat = b.reshape(x, (math.prod(x.shape),))
    if not flat.shape[0]:
        return b.constant(math.nan, x.dtype)
    flat = nan_first(b, flat, 0) if x.dtype.is_floating_point else flat
    values = sorted_both(b, flat, 0, False)[0]
    at = (flat.shape[0] - 1) // 2
    return b.reshape(b.along(values, 0, at, at + 1), ())


@row("nanmedian", "nanmedian.dim")
def nanmedian(b, x, dim=None, keepdim=False, *, made):
    """Element (n - 1) / 2 of the n that are numbers, which stand first in order."""
    whole = dim is None
    if whole:
        x, dim = b.reshape(x, (math.prod(x.shape),)), 0
    if not x.rank:
        return [x, b.constant(0, torch.int64)]
    dim = axis(dim, x.rank)
    values, places = sorted_both(b, x, dim, False)
    count = b.reduce("add", b.convert(b.compare("EQ", x, x), torch.int64), [dim], 0)
    at = b.divide(b.binary("maximum", b.subtract(count, 1), 0), b.constant(2, torch.int64, count.shape))
    taken = b.compare("EQ", b.iota(x.shape, dim), b.reshape(at, x.shape[:dim] + (1,) + x.shape[dim + 1 :]))
    picked = [b.reduce("add", b.select(taken, v, b.constant(0, v.dtype, v.shape)), [dim], 0) for v in (values, places)]
    return b.reshape(picked[0], made.shape) if whole else [b.reshape(v, m.shape) for v, m in zip(picked, made)]


@row("histc")
def histc(b, x, bins=100, low=0, high=0, *, made):
    x = b.reshape(x, (math.prod(x.shape),))
    ends = b.constant(low, x.dtype), b.constant(high, x.dtype)
    if low == high:
        ends = total_extremes(b, x)
    ends = (b.select(b.compare("EQ", *ends), b.subtract(ends[0], 1), ends[0]), b.select(b.compare("EQ", *ends), b.add(ends[1], 1), ends[1]))
    place = b.unary("floor", b.divide(b.multiply(b.subtract(x, ends[0]), bins), b.subtract(ends[1], ends[0])))
    place = b.select(b.compare("EQ", x, ends[1]), b.constant(bins - 1, x.dtype, x.shape), place)
    inside = b.binary("and", b.compare("GE", x, ends[0]), b.compare("LE", x, ends[1]))
    number = b.iota((bins, x.shape[0]), 0, x.dtype)
    hit = b.binary("and", b.compare("EQ", number, b.reshape(place, (1, x.shape[0]))), b.reshape(inside, (1, x.shape[0])))
    return b.reduce("add", b.convert(hit, made.dtype), [1], 0)


def total_extremes(b, x):
    if not x.shape[0]:
        return b.constant(0, x.dtype), b.constant(0, x.dtype)
    return b.reduce("minimum", x, [0], greatest(x.dtype)), b.reduce("maximum", x, [0], least(x.dtype))


def nan_first(b, x, dim):
    """Lines that have a NaN are NaN."""
    nan = b.reduce("or", b.compare("NE", x, x), [dim], False)
    shape = x.shape[:dim] + (1,) + x.shape[dim + 1 :]
    return b.select(b.broadcast(b.reshape(nan, shape), x.shape), math.nan, x)


@row("logcumsumexp")
def logcumsumexp(b, x, dim):
    if not x.rank or 0 in x.shape:
        return x
    dim = axis(dim, x.rank)

    def body(b, u, v):
        top, low = b.binary("maximum", u, v), b.binary("minimum", u, v)
        sums = b.add(top, b.unary("log_plus_one", b.unary("exponential", b.subtract(low, top))))
        return b.select(b.compare("EQ", u, v), b.add(u, math.log(2)), sums)

    size, padding, ones = [1] * x.rank, [(0, 0)] * x.rank, [1] * x.rank
    size[dim], padding[dim] = x.shape[dim], (x.shape[dim] - 1, 0)
    said = [ints("base_dilations", ones), pairs("padding", padding), ints("window_dilations", ones)]
    said += [ints("window_dimensions", size), ints("window_strides", ones)]
    region = b.body([x.dtype, x.dtype], body)
    return b.op("reduce_window", [x, b.constant(-math.inf, x.dtype)], x.dtype, x.shape, ", ".join(said), region)


@row("prims.var")
def prims_var(b, x, dims, correction=1.0, *, made):
    return variance(b, x, dims, correction, made)
