"""Softmax and norms."""

import math

import torch

from .builder import HALVES
from .movement import axis
from .reductions import moments, total
from .table import row


def wide(b, x):
    return b.convert(x, torch.float32) if x is not None and x.dtype in HALVES else x


def shifted(b, x, dim):
    """x less its greatest element along the dim."""
    shape = x.shape[:dim] + (1,) + x.shape[dim + 1 :]
    return b.subtract(x, b.reshape(b.reduce("maximum", x, [dim], -math.inf), shape)), shape


@row("_softmax", "softmax.int")
def softmax(b, x, dim, half_to_float=None, *, dtype=None, made):
    x = wide(b, b.convert(x, made.dtype))
    if not x.rank:
        return b.constant(1, made.dtype)
    dim = axis(dim, x.rank)
    x, shape = shifted(b, x, dim)
    powers = b.unary("exponential", x)
    return b.convert(b.divide(powers, b.reshape(total(b, powers, [dim]), shape)), made.dtype)


@row("_safe_softmax")
def safe_softmax(b, x, dim, dtype=None, *, made):
    """A line of -infinity alone is 0."""
    y = softmax(b, x, dim, made=made)
    if not x.rank:
        return y
    dim = axis(dim, x.rank)
    nothing = b.reduce("and", b.compare("EQ", x, -math.inf), [dim], True)
    nothing = b.reshape(nothing, x.shape[:dim] + (1,) + x.shape[dim + 1 :])
    return b.select(nothing, b.constant(0, y.dtype, y.shape), y)


@row("_log_softmax", "log_softmax.int")
def log_softmax(b, x, dim, half_to_float=None, *, dtype=None, made):
    x = wide(b, b.convert(x, made.dtype))
    if not x.rank:
        return b.constant(0, made.dtype)
    dim = axis(dim, x.rank)
    x, shape = shifted(b, x, dim)
    sums = b.reshape(total(b, b.unary("exponential", x), [dim]), shape)
    return b.convert(b.subtract(x, b.unary("log", sums)), made.dtype)


def scaled(b, x, weight, bias, shape):
    """x * weight + bias, of which each may be missing."""
    if weight is not None:
        x = b.multiply(x, b.reshape(wide(b, weight), shape))
    return x if bias is None else b.add(x, b.reshape(wide(b, bias), shape))


def inverse(b, var, eps):
    return b.unary("rsqrt", b.add(var, eps))


@row("native_layer_norm")
def layer_norm(b, x, normalized, weight, bias, eps, *, made):
    dims = list(range(x.rank - len(normalized), x.rank))
    y = wide(b, x)
    mean, var = moments(b, y, dims, 0)
    scale = inverse(b, var, eps)
    y = scaled(b, b.multiply(b.subtract(y, mean), scale), weight, bias, tuple(normalized))
    return [b.convert(y, made[0].dtype), *(b.reshape(b.convert(v, m.dtype), m.shape) for v, m in zip((mean, scale), made[1:]))]


@row("native_group_norm")
def group_norm(b, x, weight, bias, n, c, inner, groups, eps, *, made):
    y = b.reshape(wide(b, x), (n, groups, c // groups * inner))
    mean, var = moments(b, y, [2], 0)
    scale = inverse(b, var, eps)
    y = b.reshape(b.multiply(b.subtract(y, mean), scale), x.shape)
    y = scaled(b, y, weight, bias, (c,) + (1,) * (x.rank - 2))
    return [b.convert(y, made[0].dtype), *(b.reshape(b.convert(v, m.dtype), m.shape) for v, m in zip((mean, scale), made[1:]))]


def channels(x):
    return (x.shape[1],) + (1,) * (x.rank - 2)


def by_running(b, x, weight, bias, mean, var, eps, made):
    shape = channels(x)
    y = wide(b, x)
    scale = b.reshape(inverse(b, wide(b, var), eps), shape)
    y = b.multiply(b.subtract(y, b.reshape(wide(b, mean), shape)), scale)
    return [b.convert(scaled(b, y, weight, bias, shape), made[0].dtype), *(b.constant(0, m.dtype, m.shape) for m in made[1:])]


@row("_native_batch_norm_legit_no_training")
def batch_norm_inference(b, x, weight, bias, mean, var, momentum, eps, *, made):
    return by_running(b, x, weight, bias, mean, var, eps, made)


def by_batch(b, x, weight, bias, eps):
    """The result, the batch's mean and variance, and what it is divided by."""
    dims = [0, *range(2, x.rank)]
    y = wide(b, x)
    mean, var = moments(b, y, dims, 0)
    scale = inverse(b, var, eps)
    y = scaled(b, b.multiply(b.subtract(y, mean), scale), weight, bias, channels(x))
    return (b.convert(y, x.dtype), *(b.reshape(v, (x.shape[1],)) for v in (mean, var, scale)))


@row("_native_batch_norm_legit.no_stats")
def batch_norm_without_running(b, x, weight, bias, training, momentum, eps, *, made):
    y, mean, _, scale = by_batch(b, x, weight, bias, eps)
    return [y, b.convert(mean, made[1].dtype), b.convert(scale, made[2].dtype)]


@row("_native_batch_norm_legit_functional", "_native_batch_norm_legit")
def batch_norm_functional(b, x, weight, bias, running_mean, running_var, training, momentum, eps, *, made):
    """With the running mean and variance that come of it."""
    if not training:
        y = by_running(b, x, weight, bias, running_mean, running_var, eps, made[:1])
        return y + [b.constant(0, m.dtype, m.shape) for m in made[1:3]] + [running_mean, running_var]
    y, mean, var, scale = by_batch(b, x, weight, bias, eps)
    count = math.prod(n for d, n in enumerate(x.shape) if d != 1)
    unbiased = b.multiply(var, count / max(1, count - 1))
    running = []
    for old, new in ((running_mean, mean), (running_var, unbiased)):
        kept = b.multiply(wide(b, old), 1 - momentum)
        running.append(b.convert(b.add(kept, b.multiply(new, momentum)), old.dtype))
    return [y, b.convert(mean, made[1].dtype), b.convert(scale, made[2].dtype), *running]
