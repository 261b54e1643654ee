"""Gradients that PyTorch has no decomposition of."""

import math

import torch

from .builder import HALVES
from .indexing import region_of, wrapped
from .products import convolved, each, forward, numbers_of, transposed
from .table import row


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
