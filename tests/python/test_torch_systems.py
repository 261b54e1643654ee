"""Systems of equations and what matrices are products of, from PyTorch: against eager, or by what they are defined by."""

import polyblocks
import pytest
import torch
from polyblocks import polyblocks_jit_torch
from torch import linalg
from torch.utils import _pytree as pytree

if not torch.cuda.is_available():
    torch.cuda.is_current_stream_capturing = lambda: False  # which asks the driver
CASES = {}


def case(*shapes):
    def add(function):
        CASES[function.__name__] = function, shapes
        return function

    return add


@case((2, 3, 5, 5), (2, 3, 5, 2))
def solve(a, y):
    return linalg.solve(a, y), linalg.solve(a[0, 0], y[0, 0, :, 0]), linalg.solve(a, y.mT, left=False), linalg.solve(a[0, 0], y)


@case((2, 5, 5))
def inverse(a):
    return linalg.inv(a), linalg.det(a), linalg.slogdet(a), torch.logdet(a @ a.mT)


@case((2, 5, 5))
def of_no_rank(a):
    zero = a * 0
    return linalg.det(zero), linalg.inv_ex(zero).info, linalg.slogdet(zero), linalg.det(a[..., [0, 1, 2, 2, 4]]).abs() < 1e-4


@case((2, 5, 5), (3, 7, 4))
def lu(a, tall):
    factors = linalg.lu_factor(a)
    return factors, linalg.lu(a), linalg.lu(tall), linalg.lu(tall.mT), linalg.lu_solve(*factors, a), linalg.lu_solve(*factors, a, adjoint=True)


@case((2, 5, 5), (3, 7, 4))
def qr(a, tall):
    return linalg.qr(a), linalg.qr(tall), linalg.qr(tall.mT), linalg.qr(tall, mode="complete"), linalg.qr(tall, mode="r")


def eigen(a):
    a = a + a.mT
    values, vectors = linalg.eigh(a)
    return values, vectors @ torch.diag_embed(values) @ vectors.mT - a, vectors.mT @ vectors, linalg.eigvalsh(a, UPLO="U")


def singular(a):
    u, s, v = linalg.svd(a)
    whole = (u[..., : s.shape[-1]] * s[..., None, :]) @ v[..., : s.shape[-1], :]
    return s, linalg.svdvals(a), whole - a, u.mT @ u, v @ v.mT, [part.shape for part in linalg.svd(a, full_matrices=False)]


for shape in (2, 5, 5), (1, 1), (8, 8), (24, 24):
    CASES[f"eigen_{shape}"] = eigen, [shape]
for shape in (2, 4, 4), (3, 7, 4), (4, 7), (1, 1):
    CASES[f"singular_{shape}"] = singular, [shape]


@case((6, 2), (2, 6))
def low_rank(a, b):
    u, s, v = linalg.svd(a @ b)
    return s, u.mT @ u, v @ v.mT, linalg.matrix_rank(a @ b), linalg.matrix_rank(a)


@case((3, 7, 4))
def pseudo_inverse(a):
    return linalg.pinv(a), linalg.pinv(a.mT), linalg.pinv(a.mT @ a, hermitian=True), linalg.cond(a), linalg.matrix_norm(a, 2), linalg.matrix_norm(a, "nuc")


@case((2, 4, 4))
def exponential(a):
    return linalg.matrix_exp(a), linalg.matrix_exp(a * 4), linalg.matrix_exp(a * 0)


def same(got, want, most):
    got, want = pytree.tree_leaves(got), pytree.tree_leaves(want)
    assert len(got) == len(want)
    for a, b in zip(got, want):
        if isinstance(b, torch.Tensor):
            torch.testing.assert_close(a, b, rtol=most, atol=most)
        else:
            assert a == b


IN_F64 = ("solve", "eigen_(8, 8)", "singular_(3, 7, 4)", "exponential")


@pytest.mark.parametrize("name, dtype", [(name, torch.float32) for name in CASES] + [(name, torch.float64) for name in IN_F64])
def test_case(name, dtype):
    torch.manual_seed(0)
    function, shapes = CASES[name]
    given = [torch.randn(shape, dtype=dtype) for shape in shapes]
    same(polyblocks_jit_torch(function)(*given), function(*given), 1e-4 if dtype == torch.float32 else 1e-10)


def test_exponentials_of_great_norms():
    """Each square doubles what was rounded before: as near to f64's as one rounding, in all places that matter to the largest."""
    torch.manual_seed(0)
    a = torch.randn(3, 5, 5) * torch.tensor([1.0, 6.0, 12.0]).view(3, 1, 1)
    want = linalg.matrix_exp(a.double())
    assert ((polyblocks_jit_torch(linalg.matrix_exp)(a) - want).abs().amax((1, 2)) <= 2e-7 * want.abs().amax((1, 2))).all()


def test_gradients():
    torch.compiler.reset()

    def loss(a, y):
        s = a @ a.mT + torch.eye(4)
        sums = linalg.solve(s, y).sum() + linalg.slogdet(s)[1].sum() + linalg.inv(s).cos().sum() + linalg.eigh(s)[0][..., 0].sum()
        sums = sums + linalg.svd(a[:, :2], full_matrices=False)[1].sum() + linalg.det(s).sum().log()
        return sums + linalg.qr(a)[1].diagonal(dim1=-2, dim2=-1).abs().log().sum() + torch.cholesky_solve(y, linalg.cholesky(s)).sum()

    torch.manual_seed(0)
    gradients = []
    a, y = torch.randn(2, 4, 4), torch.randn(2, 4, 3)
    for function in (loss, torch.compile(loss, backend="polyblocks")):
        x = a.clone().requires_grad_()
        function(x, y).backward()
        gradients.append(x.grad)
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


def test_refused():
    with pytest.raises(polyblocks.NotSupported, match="linalg_qr.* of complex numbers"):
        polyblocks_jit_torch(linalg.qr)(torch.eye(3, dtype=torch.complex64))
    with pytest.raises(polyblocks.NotSupported, match="linalg.lstsq with rcond 0.3"):
        polyblocks_jit_torch(lambda a, y: torch.linalg.lstsq(a, y, 0.3).solution)(torch.ones(4, 3), torch.ones(4, 2))
