"""Products: matrices, convolutions and their gradients, attention, Fourier transforms."""

import math

import torch

from .builder import HALVES, PART, WHOLE, Unsupported, ints, pairs
from .movement import axis
from .table import row


def widened(b, function, x, y):
    """Products of halves are summed in f32 and rounded once."""
    if x.dtype != y.dtype:
        raise Unsupported(f"of {x.type} and {y.type}, which eager does not multiply either: one .to() is missing")
    if x.dtype not in HALVES:
        return function(x, y)
    return b.convert(function(b.convert(x, torch.float32), b.convert(y, torch.float32)), x.dtype)


@row("mm")
def mm(b, x, y):
    return widened(b, lambda x, y: b.dot(x, y, ((1,), (0,))), x, y)


@row("_scaled_mm")
def scaled_mm(b, x, y, x_scale, y_scale, bias=None, scale=None, out_dtype=None, use_fast_accum=False, *, made):
    """Of floats of 8 bits, in f32; scales for all of a factor, or for its rows and columns."""
    if scale is not None or any(s.rank not in (0, 2) and s.shape != (1,) for s in (x_scale, y_scale)):
        raise Unsupported("scales of the result, or of blocks")
    for v, end in ((x_scale, 0), (y_scale, 1)):
        if v.rank == 2 and (v.shape[1 - end] != 1 or v.shape[end] not in (1, made.shape[end])):
            raise Unsupported("scales of blocks")
    product = b.dot(b.convert(x, torch.float32), b.convert(y, torch.float32), ((1,), (0,)))
    product = b.multiply(b.multiply(product, b.convert(x_scale, torch.float32)), b.convert(y_scale, torch.float32))
    product = product if bias is None else b.add(product, b.convert(bias, torch.float32))
    return b.convert(product, made.dtype)


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


@row("convolution_backward")
def convolution_backward(b, gradient, x, w, bias_sizes, stride, padding, dilation, is_transposed, output_padding, groups, mask, *, made):
    spatial = w.rank - 2
    stride, padding, dilation = (each(v, spatial) for v in (stride, padding, dilation))
    dtype = x.dtype
    shapes = [x.shape, w.shape]
    if dtype in HALVES:
        gradient, x, w = (b.convert(v, torch.float32) for v in (gradient, x, w))
    if x.rank == spatial + 1:
        gradient, x = b.reshape(gradient, (1,) + gradient.shape), b.reshape(x, (1,) + x.shape)
    of_x = of_w = of_bias = None
    if mask[0]:
        if is_transposed:
            of_x = forward(b, gradient, w, stride, padding, dilation, groups, x.shape)
        else:
            left = [n - ((g - 1) * s - 2 * p + d * (k - 1) + 1) for n, g, s, p, d, k in zip(x.shape[2:], gradient.shape[2:], stride, padding, dilation, w.shape[2:])]
            of_x = transposed(b, gradient, w, stride, padding, dilation, left, groups, x.shape)
        of_x = b.convert(b.reshape(of_x, shapes[0]), dtype)
    if mask[1]:
        of_w = b.convert(kernel_gradient(b, *((gradient, x) if is_transposed else (x, gradient)), w.shape, stride, padding, dilation, groups), dtype)
    if mask[2]:
        of_bias = b.convert(b.reduce("add", gradient, [0, *range(2, gradient.rank)], 0), dtype)
    return [of_x, of_w, of_bias]


def kernel_gradient(b, x, gradient, shape, stride, padding, dilation, groups):
    """A convolution over the batch: x's channels as a batch, the gradient as a kernel whose gaps are the strides."""
    spatial, order = x.rank - 2, (1, 0, *range(2, x.rank))
    n, c, o = x.shape[0], x.shape[1] // groups, gradient.shape[1]
    high = [(k - 1) * d + (g - 1) * s + 1 - m - p for k, d, g, s, m, p in zip(shape[2:], dilation, gradient.shape[2:], stride, x.shape[2:], padding)]
    x = b.reshape(x, (n, groups, c) + x.shape[2:])
    x = b.transpose(x, (2, 1, 0) + tuple(d + 3 for d in range(spatial)))
    x = b.reshape(x, (c, groups * n) + x.shape[3:])
    sides = [(p, h) for p, h in zip(padding, high)]
    kernel = b.transpose(gradient, order)  # [o, n, ...]
    y = convolved(b, x, kernel, numbers_of(spatial), dilation, sides, stride, [1] * spatial, groups, shape=(c, o) + tuple(shape[2:]))
    return b.transpose(y, order)


@row("_scaled_dot_product_flash_attention_for_cpu")
def flash_attention(b, q, k, v, dropout=0.0, is_causal=False, *, attn_mask=None, scale=None, made, used):
    if used[1]:
        raise Unsupported("what its gradient needs")
    return [attention(b, q, k, v, attn_mask, dropout, is_causal, scale=scale, enable_gqa=True, made=made), None]


@row("scaled_dot_product_attention")
def attention(b, q, k, v, mask=None, dropout=0.0, is_causal=False, *, scale=None, enable_gqa=False, made):
    """Whole: scores, a softmax of what the mask leaves, a mean of v."""
    if dropout:
        raise Unsupported("attention with dropout")
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


@row("addbmm")
def addbmm(b, bias, x, y, *, beta=1, alpha=1):
    product = b.reduce("add", bmm(b, x, y), [0], 0)
    product = product if alpha == 1 else b.multiply(product, alpha)
    return product if beta == 0 else b.add(bias if beta == 1 else b.multiply(bias, beta), product)


@row("_cdist_forward")
def cdist(b, x, y, p, mode=None):
    """The p-norm of each row of x less each row of y."""
    outer = torch.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    rows, columns, inner = x.shape[-2], y.shape[-2], x.shape[-1]
    x = b.broadcast(b.reshape(x, x.shape[:-1] + (1, inner)), outer + (rows, columns, inner))
    y = b.broadcast(b.reshape(y, y.shape[:-2] + (1, columns, inner)), outer + (rows, columns, inner))
    return norm(b, b.unary("abs", b.subtract(x, y)), p)


def norm(b, x, p):
    """Of what is not below 0, along the last dim."""
    last = [x.rank - 1]
    if p == 0:
        return b.reduce("add", b.convert(b.compare("NE", x, 0), x.dtype), last, 0)
    if math.isinf(p):
        return b.reduce("maximum", x, last, 0)
    if p == 1:
        return b.reduce("add", x, last, 0)
    if p == 2:
        return b.unary("sqrt", b.reduce("add", b.multiply(x, x), last, 0))
    powers = b.reduce("add", b.binary("power", x, b.constant(p, x.dtype)), last, 0)
    return b.binary("power", powers, b.constant(1 / p, x.dtype))


@row("_pdist_forward")
def pdist(b, x, p=2.0, *, made):
    from .indexing import rows

    pairs_ = [(i, j) for i in range(x.shape[0]) for j in range(i + 1, x.shape[0])]
    if not pairs_:
        return b.constant(0, x.dtype, made.shape)
    first, second = (b.table([pair[k] for pair in pairs_], torch.int64, (len(pairs_),)) for k in (0, 1))
    return norm(b, b.unary("abs", b.subtract(rows(b, x, 0, first), rows(b, x, 0, second))), p)


# ---- Fourier transforms: along a last dim, the others one after another ----


def transform(b, x, dims, kind, length=None):
    for dim in dims:
        order = [d for d in range(x.rank) if d != dim] + [dim]
        back = [order.index(d) for d in range(x.rank)]
        x = fft(b, b.transpose(x, order), kind, length)
        x = b.transpose(x, back)
    return x


def fft(b, x, kind, length=None):
    count = length or x.shape[-1]
    dtype = WHOLE[x.dtype] if kind == "RFFT" else PART[x.dtype] if kind == "IRFFT" else x.dtype
    shape = x.shape[:-1] + (count // 2 + 1 if kind == "RFFT" else count,)
    return b.op("fft", [x], dtype, shape, f"fft_length = array<i64: {count}>, fft_type = #stablehlo<fft_type {kind}>")


def scaled_by(b, x, norm_kind, count):
    """normalization: 0 none, 1 by the root of the count, 2 by the count."""
    factor = {0: 1, 1: 1 / math.sqrt(count), 2: 1 / count}[norm_kind]
    return x if factor == 1 else b.multiply(x, factor)


@row("_fft_r2c", "prims.fft_r2c")
def fft_r2c(b, x, dim, normalization=0, onesided=True, *, made):
    dims = [axis(d, x.rank) for d in dim]
    count = math.prod(x.shape[d] for d in dims)
    if not onesided:
        y = transform(b, b.convert(x, WHOLE[x.dtype]), dims, "FFT")
    else:
        y = transform(b, transform(b, x, dims[-1:], "RFFT"), dims[:-1], "FFT")
    return scaled_by(b, y, normalization, count)


@row("_fft_c2c", "prims.fft_c2c")
def fft_c2c(b, x, dim, normalization=0, forward=True):
    dims = [axis(d, x.rank) for d in dim]
    count = math.prod(x.shape[d] for d in dims)
    y = transform(b, x, dims, "FFT" if forward else "IFFT")
    return scaled_by(b, y if forward else b.multiply(y, count), normalization, count)


@row("_fft_c2r", "prims.fft_c2r")
def fft_c2r(b, x, dim, normalization=0, last_dim_size=None):
    dims = [axis(d, x.rank) for d in dim]
    count = math.prod(x.shape[d] for d in dims[:-1]) * last_dim_size
    y = transform(b, transform(b, x, dims[:-1], "IFFT"), dims[-1:], "IRFFT", last_dim_size)
    return scaled_by(b, b.multiply(y, count), normalization, count)
