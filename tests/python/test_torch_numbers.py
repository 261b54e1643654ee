"""Numbers that PyTorch takes out of tensors or apart: of activations, mantissas, histograms; against eager."""

import math

import pytest
import torch
from polyblocks import polyblocks_jit_torch
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
