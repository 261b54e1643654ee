"""Numbers that PyTorch takes out of tensors or apart: of activations, mantissas, histograms; against eager."""

import math

import pytest
import torch
from polyblocks import polyblocks_jit_torch
from torch import nn
from torch.nn import functional as F

SPECIAL = torch.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0, 0.5, -0.5, 1.5, 1e-40, -3e-42, 1e38, -7.75, 20.0, 25.0, -1.0, 1e-38])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_activations_by_numbers_in_tensors(dtype):
    """PyTorch takes such a number out of its tensor, which a graph cannot."""

    def f(x, a):
        made = F.leaky_relu(x, a), F.elu(x, a), F.celu(x, a), F.hardtanh(x, -a, a), F.threshold(x, a, 2 * a), F.softplus(x, a)
        return (*made, F.hardshrink(x, a), F.softshrink(x, a), torch.full((3, 2), a))

    jitted = polyblocks_jit_torch(f)
    for a in (0.3, 0.7):  # one program
        for got, want in zip(jitted(SPECIAL.to(dtype), torch.tensor(a)), f(SPECIAL.to(dtype), torch.tensor(a))):
            torch.testing.assert_close(got, want, equal_nan=True)


def test_mantissas_and_exponents():
    def f(x):
        return torch.frexp(x), torch.frexp(x.double() * 1e-300), torch.frexp(x.half()), torch.frexp(x.bfloat16())

    for got, want in zip(polyblocks_jit_torch(f)(SPECIAL), f(SPECIAL)):
        for a, b in zip(got, want):
            torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


def test_histograms():
    def f(x):
        made = torch.histogram(x, 5), torch.histogram(x, 7, range=(-1.0, 1.0), density=True), torch.histogram(x, torch.tensor([-2.0, -1, 0, 0.5, 2]))
        return [*made, torch.histogram(x, 4, weight=x * x), torch.histogram(x * 0 + 2, 3)]

    x = torch.randn(40, 6)
    for got, want in zip(polyblocks_jit_torch(f)(x), f(x)):
        for a, b in zip(got, want):
            torch.testing.assert_close(a, b)


def test_masks_of_transformers():
    """Whether a mask is a causal one PyTorch decides by its numbers."""
    torch.manual_seed(0)
    model = nn.Transformer(16, 2, 1, 2, 32, batch_first=True, norm_first=True).eval()
    words, made, absent = torch.randn(2, 6, 16), torch.randn(2, 5, 16), torch.tensor([[False] * 6, [False] * 4 + [True] * 2])

    def f(words, made, absent, mask):
        masks = {"src_key_padding_mask": absent, "memory_key_padding_mask": absent}
        causal = nn.Transformer.generate_square_subsequent_mask(5)
        encoded = model.encoder(words, mask=nn.Transformer.generate_square_subsequent_mask(6))
        return model(words, made, tgt_mask=causal, **masks), model(words, made, tgt_mask=mask, **masks), encoded

    mask = torch.zeros(5, 5).masked_fill(torch.rand(5, 5) < 0.3, -math.inf)
    with torch.no_grad():
        for got, want in zip(polyblocks_jit_torch(f)(words, made, absent, mask), f(words, made, absent, mask)):
            torch.testing.assert_close(got, want, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_functions_of_distributions(dtype):
    """From one end to the other, outside, and on both sides of where the gamma functions go from their series to their fraction."""

    def f(p, a, x):
        return torch.special.ndtri(p), torch.special.gammainc(a, x), torch.special.gammaincc(a, x)

    p = torch.tensor([0.0, 1e-30, 1e-7, 0.1, 0.1353, 0.1354, 0.5, 0.86, 0.87, 0.999, 1.0, -0.5, 1.5, math.nan], dtype=dtype)
    ends = torch.tensor([0.0, 1e-3, 0.5, 1.0, 2.5, 30.0, 200.0, math.inf, -1.0, math.nan], dtype=dtype)
    a, x = torch.broadcast_tensors(ends[:, None], torch.cat([ends, ends * 1.1 + 0.3]))
    close = {"rtol": 1e-5, "atol": 1e-6} if dtype == torch.float32 else {"rtol": 1e-8, "atol": 1e-13}  # eager is 1e-9 off at (30, 33)
    for call in (polyblocks_jit_torch(f), torch.compile(f, backend="polyblocks")):
        for got, want in zip(call(p, a, x), f(p, a, x)):
            torch.testing.assert_close(got, want, equal_nan=True, **close)


def test_combinations():
    def f(x):
        return [torch.combinations(x, r, again) for r in range(4) for again in (False, True)]

    for got, want in zip(polyblocks_jit_torch(f)(SPECIAL[:4]), f(SPECIAL[:4])):
        torch.testing.assert_close(got, want, equal_nan=True)


def test_floats_of_8_bits():
    """What is too large for E4M3 is its largest, as PyTorch has it; products by scales for all and for each row."""
    for kind in (torch.float8_e4m3fn, torch.float8_e5m2):

        def f(x, y):
            return x.to(kind), x.to(kind).float(), x.bfloat16().to(kind).bfloat16(), x[8:].clamp(-9, 9).mul(100).int().to(kind), y.half(), y.view(torch.uint8), torch.full((2,), 1.5).to(kind)

        x = torch.cat([SPECIAL, torch.tensor([448.0, 464, 465, 480, 57344, 61440, 61441, 1e-3, 2.0**-9, 2.0**-10])])
        for got, want in zip(polyblocks_jit_torch(f)(x, x.to(kind)), f(x, x.to(kind))):
            assert got.dtype == want.dtype
            torch.testing.assert_close(got.float(), want.float(), rtol=0, atol=0, equal_nan=True)
    a, b = torch.randn(16, 32).to(torch.float8_e4m3fn), torch.randn(16, 32).to(torch.float8_e4m3fn)
    rows = torch.linspace(1, 2, 16)

    def products(a, b):
        return torch._scaled_mm(a, b.t(), rows[0], rows[3], out_dtype=torch.float32), torch._scaled_mm(a, b.t(), rows[:, None], rows[None], out_dtype=torch.bfloat16)

    for got, want in zip(polyblocks_jit_torch(products)(a, b), products(a, b)):
        torch.testing.assert_close(got, want, rtol=1e-2 if got.dtype == torch.bfloat16 else 1e-5, atol=1e-3)


def test_repeats_by_numbers():
    """How many there are together is said."""

    def f(x, counts):
        made = x.repeat_interleave(counts, 0, output_size=6), torch.repeat_interleave(x.flatten(), counts.repeat(3), output_size=18)
        return *made, torch.repeat_interleave(counts, output_size=6), torch.repeat_interleave(counts.int(), output_size=6)

    x, counts = torch.randn(4, 3), torch.tensor([2, 0, 3, 1])
    for call in (polyblocks_jit_torch(f), torch.compile(f, backend="polyblocks")):
        for got, want in zip(call(x, counts), f(x, counts)):
            torch.testing.assert_close(got, want)
