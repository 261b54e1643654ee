"""Tensors of nothing but a shape; random ones are drawn by PyTorch at each call and come in."""

import torch

from .builder import Unsupported
from .table import row


@row("full", "full_like", "fill.Scalar", "scalar_tensor")
def full(b, x, number=None, *, made):
    number = x if number is None else number
    return b.constant(number, made.dtype, made.shape)


@row("fill.Tensor")
def fill_tensor(b, x, number, *, made):
    return b.broadcast(b.convert(number, made.dtype), made.shape)


@row("zeros", "zeros_like", "new_zeros", "empty.memory_format", "empty_strided", "empty_like", "new_empty", "new_empty_strided")
def zeros(b, *_, made):
    return b.constant(0, made.dtype, made.shape)


@row("ones", "ones_like", "new_ones")
def ones(b, *_, made):
    return b.constant(1, made.dtype, made.shape)


@row("new_full")
def new_full(b, x, size, number, *, made):
    return b.constant(number, made.dtype, made.shape)


@row("arange.start_step")
def arange(b, start, end, step=1, *, made):
    count = b.iota(made.shape, 0, torch.int64 if not made.dtype.is_floating_point else made.dtype)
    floats = any(isinstance(n, float) for n in (start, step)) and not made.dtype.is_floating_point
    if floats:
        raise Unsupported("a range of integers by a step that is none")
    return b.convert(b.add(b.multiply(count, step), start), made.dtype)


@row("fft_fftfreq")
def frequencies(b, n, d=1.0, *, made):
    """Of a transform of n samples; those below 0 stand behind the others."""
    number = b.iota(made.shape, 0)
    number = b.select(b.compare("LT", number, (n + 1) // 2), number, b.subtract(number, n))
    return b.multiply(b.convert(number, made.dtype), 1 / (n * d))


@row("fft_rfftfreq")
def real_frequencies(b, n, d=1.0, *, made):
    return b.multiply(b.iota(made.shape, 0, made.dtype), 1 / (n * d))


# Overloads that say all but the numbers; the others are taken apart into these (random.py).
DRAWN = (
    "rand", "randn", "randperm", "rand_like", "randn_like", "randint", "randint.low", "randint_like", "randint_like.low_dtype",
    "uniform", "exponential", "normal_functional", "normal.float_float", "bernoulli.p", "cauchy", "geometric", "log_normal",
    "random", "random.from", "random.to",
)  # fmt: skip


@row(*DRAWN)
def drawn(b, *args, made):
    raise NotImplementedError  # by the front end, which keeps how it is drawn


@row("lift_fresh_copy", "alias", "clone", "detach", "lift_fresh", "contiguous", "_conj_physical_real")
def same(b, x):
    return x
