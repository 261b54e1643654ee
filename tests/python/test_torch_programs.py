"""Programs of torch_programs.py and torch_parts.py against eager: by the decorator, by torch.compile with gradients, and with PB_LONG_TESTS=1 by torch.compile
without."""

import copy
import os
import warnings

import polyblocks
import pytest
import torch
import torch_parts  # noqa: F401, whose programs join
from polyblocks import polyblocks_jit_torch
from torch import nn
from torch.utils import _pytree as pytree
from torch_programs import PROGRAMS

if not torch.cuda.is_available():
    torch.cuda.is_current_stream_capturing = lambda: False  # which asks the driver


def same(got, want, most=1e-4):
    got, want = pytree.tree_leaves(got), pytree.tree_leaves(want)
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert a.dtype == b.dtype and a.shape == b.shape
        torch.testing.assert_close(a.detach(), b.detach(), rtol=most, atol=most, equal_nan=True)


def made(name):
    torch.manual_seed(3)
    make, arguments = PROGRAMS[name]
    made = make()
    return made.eval() if isinstance(made, nn.Module) else made, arguments


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("way", ["decorator", "compile"] if os.environ.get("PB_LONG_TESTS") else ["decorator"])
def test_program(name, way):
    torch.compiler.reset()
    plain, arguments = made(name)
    eager = copy.deepcopy(plain)  # some write to their buffers
    compiled = polyblocks_jit_torch(plain) if way == "decorator" else torch.compile(plain, backend="polyblocks", fullgraph=True)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
        same(compiled(*arguments), eager(*arguments))
        same(compiled(*arguments), eager(*arguments))  # from what the first left
    if isinstance(plain, nn.Module):
        same(list(plain.buffers()), list(eager.buffers()))


def with_gradients(function, arguments):
    """Results, and gradients of what it is given and of parameters for all of them that have any."""
    given = [x.detach().clone().requires_grad_() if x.dtype.is_floating_point else x for x in arguments]
    results = pytree.tree_leaves(function(*given))
    sums = [(r * torch.linspace(0.5, 1.5, r.numel()).view(r.shape)).sum() for r in results if r.requires_grad]
    if sums:
        sum(sums).backward()
    held = list(function.parameters()) if isinstance(function, nn.Module) else []
    return results, [x.grad for x in (*given, *held) if x.requires_grad and x.grad is not None]


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients(name):
    torch.compiler.reset()
    plain, arguments = made(name)
    want = with_gradients(copy.deepcopy(plain), arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
        same(with_gradients(torch.compile(plain, backend="polyblocks"), arguments), want, 1e-3)
