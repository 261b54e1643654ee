"""Control flow that data decide, from PyTorch: branches, loops, scans; and integers' shifts and powers, losses of labels."""

import polyblocks
import pytest
import torch
import torch.nn.functional as F
from polyblocks import polyblocks_jit_torch
from torch import nn
from torch._higher_order_ops import while_loop
from torch._higher_order_ops.map import map as mapped
from torch._higher_order_ops.scan import scan
from torch.utils import _pytree as pytree

if not torch.cuda.is_available():
    torch.cuda.is_current_stream_capturing = lambda: False  # which asks the driver


def f(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


def branch(x, y):
    first, second = torch.cond(x.sum() > 0, lambda x, y: (x + y, y * 2), lambda x, y: (x - y, y.cos()), (x, y))
    return second, while_loop(lambda k, z: (k < 5) & (z.sum() < 100), lambda k, z: (k + 1, z * 1.5 + y.sum()), (torch.tensor(0), first))


def scanned(x, y):
    carried, gathered = scan(lambda c, v: (c + v * y, (c * 2).sum()), torch.zeros(3), x, dim=0)
    return carried, gathered, mapped(lambda v, w: v * w, x, y)


def collatz(x):
    return while_loop(lambda x, k: (x > 1).any(), lambda x, k: (torch.where(x > 1, torch.where(x % 2 == 0, x // 2, 3 * x + 1), x), k + (x > 1)), (x, x * 0))


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return torch.cond(x.mean() > 0, lambda x: self.a(x), lambda x: self.b(x).relu(), (x,))


def shifts(k):
    small, byte = k.to(torch.int8), k.to(torch.uint8)
    return k >> 1, k << 2, k ^ 5, k & 3, 7 | k, 1 << k.abs(), byte >> 2, small << 7, k >> 70, k << 64, byte >> 9, byte << 3, small >> 1


def powers(k):
    small = k.to(torch.int8)
    return k**k, k**5, k.int() ** k.int(), k.to(torch.uint8) ** 3, small**small, 3 ** k.abs(), (-2) ** k.abs()


def labels(x):
    target = torch.tensor([[3, 0, -1, 1, 1], [0, 1, 2, 3, 4], [-1, 0, 0, 0, 0], [4, 4, 2, -1, 2]])
    each = [F.multilabel_margin_loss(x, target, reduction=kind) for kind in ("none", "sum", "mean")]
    return each + [F.multilabel_margin_loss(x[0], target[0])]


def lengths(x):
    y = torch.polar(x.abs(), x)
    ends = torch.tensor([0.0, 3, float("inf"), float("nan"), 1e30])
    return torch.view_as_real(y * y), torch.hypot(x, x.flip(0)), torch.hypot(ends, ends.flip(0)), torch.special.erfcx(x * 9), torch.special.log_ndtr(x * 9)


def per_sample(x):
    def loss(weights, row):
        return torch.func.functional_call(LINEAR, weights, (row,)).square().sum()

    return torch.func.vmap(torch.func.grad(loss), (None, 0))(dict(LINEAR.named_parameters()), x), torch.func.vmap(lambda v: v * 2 + x.sum())(x)


LINEAR = nn.Linear(5, 3)
NUMBERS = torch.tensor([[-10, -3, -2, -1, 0], [1, 2, 3, 9, 63]])
CASES = {
    "branch": (branch, f(3).abs(), f(3)),
    "other_branch": (branch, -f(3).abs(), f(3)),
    "scanned": (scanned, f(4, 3), f(3)),
    "collatz": (collatz, torch.tensor([1, 2, 7, 27])),
    "experts": (Experts(), f(2, 4)),
    "shifts": (shifts, NUMBERS),
    "powers": (powers, NUMBERS),
    "labels": (labels, f(4, 5)),
    "lengths": (lengths, f(9)),
    "leaky": (nn.RReLU().eval(), f(9)),
    "bilinear": (nn.Bilinear(3, 4, 2), f(5, 3), f(5, 4)),
}


@pytest.mark.parametrize("way", ["decorator", "compile"])
@pytest.mark.parametrize("name", CASES)
def test_case(name, way):
    torch.compiler.reset()
    function, *given = CASES[name]
    with torch.no_grad():
        want = function(*given)
        got = (polyblocks_jit_torch(function) if way == "decorator" else torch.compile(function, backend="polyblocks"))(*given)
    for a, b in zip(pytree.tree_leaves(got), pytree.tree_leaves(want), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5, equal_nan=True)


def test_transforms():
    """Of torch.func: torch.compile takes them, torch.export does not."""
    torch.compiler.reset()
    x = f(4, 5)
    got, want = torch.compile(per_sample, backend="polyblocks")(x), per_sample(x)
    for a, b in zip(pytree.tree_leaves(got), pytree.tree_leaves(want), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    with pytest.raises(polyblocks.NotSupported, match="hint: .*torch.compile"):
        polyblocks_jit_torch(lambda x: torch.func.hessian(lambda v: v.sin().sum())(x))(x[0])


def test_gradient_of_labels():
    torch.compiler.reset()
    gradients = []
    for function in (labels, torch.compile(labels, backend="polyblocks")):
        x = f(4, 5).requires_grad_()
        (sum((loss * torch.arange(1.0, 1 + loss.numel()).view(loss.shape)).sum() for loss in function(x))).backward()
        gradients.append(x.grad)
    torch.testing.assert_close(*gradients)
