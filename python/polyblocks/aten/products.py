"""Products: matrices, convolutions, attention."""

import math

import torch

from .builder import HALVES, ints, pairs
from .table import row


def widened(b, function, x, y):
    """Products of halves are summed in f32 and rounded once."""
    if x.dtype not in HALVES:
        return function(x, y)
    return b.convert(function(b.convert(x, torch.float32), b.convert(y, torch.float32)), x.dtype)


@row("mm")
def mm(b, x, y):
    return widened(b, lambda x, y: b.dot(x, y, ((1,), (0,))), x, y)


@row("bmm")
def bmm(b, x, y):
    return widened(b, lambda x, y: b.dot(x, y, ((2,), (1,)), ((0,), (0,))), x, y)


@row("mv", "dot")
def mv(b, x, y):
    return widened(b, lambda x, y: b.dot(x, y, ((x.rank - 1,), (0,))), x, y)


@row("addmm", "baddbmm")
def addmm(b, bias, x, y, *, beta=1, alpha=1):
    product = mm(b, x, y) if x.rank == 2 else bmm(b, x, y)
    if alpha != 1:
        product = b.multiply(product, alpha)
    if beta == 0:
        return product
    return b.add(bias if beta == 1 else b.multiply(bias, beta), product)


@row("linear")
def linear(b, x, w, bias=None):
    y = widened(b, lambda x, w: b.dot(x, w, ((x.rank - 1,), (w.rank - 1,))), x, w)
    return y if bias is None else b.add(y, bias)


def each(values, count):
    values = list(values)
    return values * count if len(values) == 1 else values


def convolved(b, x, w, numbers, stride, padding, dilation, base, groups, batch_groups=1, shape=None):
    said = [
        f"batch_group_count = {batch_groups} : i64",
        f"dimension_numbers = #stablehlo.conv<{numbers}>",
        f"feature_group_count = {groups} : i64",
        ints("lhs_dilation", base),
        pairs("padding", padding),
        ints("rhs_dilation", dilation),
        ints("window_strides", stride),
    ]
    return b.op("convolution", [x, w], x.dtype, shape, ", ".join(said))


def numbers_of(spatial, kernel="o, i"):
    dims = "".join(f", {k}" for k in range(spatial))
    return f"[b, f{dims}]x[{kernel}{dims}]->[b, f{dims}]"


def forward(b, x, w, stride, padding, dilation, groups, shape):
    spatial = x.rank - 2
    sides = [(p, p) for p in padding]
    return convolved(b, x, w, numbers_of(spatial), stride, sides, dilation, [1] * spatial, groups, shape=shape)


def turned(b, w, groups):
    """A kernel as its transposed convolution has it: [in, out / g, ...] becomes [out, in / g, ...], from its other end."""
    spatial = tuple(range(2, w.rank))
    inner, outer, rest = w.shape[0] // groups, w.shape[1], w.shape[2:]
    w = b.reshape(b.reverse(w, list(spatial)), (groups, inner, outer) + rest)
    w = b.transpose(w, (0, 2, 1) + tuple(d + 1 for d in spatial))
    return b.reshape(w, (groups * outer, inner) + rest)


def transposed(b, x, w, stride, padding, dilation, output_padding, groups, shape):
    spatial = x.rank - 2
    spans = [(k - 1) * d for k, d in zip(w.shape[2:], dilation)]
    sides = [(s - p, s - p + o) for s, p, o in zip(spans, padding, output_padding)]
    return convolved(b, x, turned(b, w, groups), numbers_of(spatial), [1] * spatial, sides, dilation, stride, groups, shape=shape)


@row("convolution")
def convolution(b, x, w, bias, stride, padding, dilation, is_transposed, output_padding, groups, *, made):
    spatial = w.rank - 2
    alone = x.rank == spatial + 1  # without a batch
    shape = made.shape
    if alone:
        x, shape = b.reshape(x, (1,) + x.shape), (1,) + shape
    stride, padding, dilation, output_padding = (each(v, spatial) for v in (stride, padding, dilation, output_padding))

    def product(x, w):
        if is_transposed:
            return transposed(b, x, w, stride, padding, dilation, output_padding, groups, shape)
        return forward(b, x, w, stride, padding, dilation, groups, shape)

    y = widened(b, product, x, w)
    if bias is not None:
        y = b.add(y, b.reshape(bias, bias.shape + (1,) * spatial))
    return b.reshape(y, made.shape)


@row("scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu")
def attention(b, q, k, v, mask=None, dropout=0.0, is_causal=False, *, scale=None, enable_gqa=False, made):
    """Whole: scores, a softmax of what the mask leaves, a mean of v."""
    made = made[0] if isinstance(made, (list, tuple)) else made
    dtype, wide = q.dtype, torch.float32 if q.dtype in HALVES else q.dtype
    q, k, v = (b.convert(x, wide) for x in (q, k, v))
    if enable_gqa and k.shape[-3] != q.shape[-3]:
        k, v = (repeated(b, x, q.shape[-3]) for x in (k, v))
    outer = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    q, k, v = (b.broadcast(x, outer + x.shape[-2:]) for x in (q, k, v))
    batch = tuple(range(len(outer)))
    last = len(outer) + 1
    scores = b.dot(q, k, ((last,), (last,)), (batch, batch))
    scores = b.multiply(scores, 1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if is_causal:
        rows, columns = b.iota(scores.shape[-2:], 0), b.iota(scores.shape[-2:], 1)
        scores = b.select(b.compare("LE", columns, rows), scores, -math.inf)
    if mask is not None:
        scores = b.select(mask, scores, -math.inf) if mask.dtype == torch.bool else b.add(scores, b.convert(mask, wide))
    top = b.reduce("maximum", scores, [last], -math.inf)
    top = b.reshape(top, top.shape + (1,))
    top = b.select(b.compare("EQ", top, -math.inf), b.constant(0, wide, top.shape), top)  # a row that is masked whole
    powers = b.unary("exponential", b.subtract(scores, top))
    sums = b.reduce("add", powers, [last], 0)
    sums = b.reshape(sums, sums.shape + (1,))
    if mask is not None:
        sums = b.select(b.compare("EQ", sums, 0), b.constant(1, wide, sums.shape), sums)
    y = b.dot(b.divide(powers, sums), v, ((last,), (last - 1,)), (batch, batch))
    return b.reshape(b.convert(y, dtype), made.shape)


def repeated(b, x, heads):
    """Each head several times, one after another."""
    times = heads // x.shape[-3]
    shape = x.shape[:-2] + (times,) + x.shape[-2:]
    dims = [d for d in range(len(shape)) if d != len(shape) - 3]
    return b.reshape(b.broadcast(x, shape, dims), x.shape[:-3] + (heads,) + x.shape[-2:])
