"""Typical mistakes with PyTorch: what is asked for, and words of the error. A line that ends in `# here` is the one that must be named."""

import torch

MISTAKES = []


def mistake(*arguments, says, hint=""):
    def add(function):
        MISTAKES.append((function, arguments, says, hint))
        return function

    return add


def x(*shape):
    return torch.randn(*shape)


@mistake(x(3, 4), says="nonzero")
def places_of(v):
    return v.nonzero()  # here


@mistake(x(3, 4), says="only data say")
def masked(v):
    return v[v > 0]  # here


@mistake(x(3), says=".item()")
def number(v):
    return v * v.sum().item()  # here


@mistake(x(3), says="cannot be exported", hint="torch.cond")
def branch(v):
    if v.sum() > 0:  # here
        return v
    return -v


@mistake(x(3), says="cannot be exported")
def loop(v):
    while v.sum() < 10:  # here
        v = v * 2
    return v


@mistake(x(3, 4), x(3, 4), says="cannot be exported")
def wrong_product(v, w):
    return v @ w  # here


@mistake(x(3, 4), x(5), says="cannot be exported")
def wrong_shapes(v, w):
    return v + w  # here


@mistake(x(3, 4), says="cannot be exported")
def wrong_view(v):
    return v.view(5, 2)  # here


@mistake(x(3, 4), says="cannot be exported")
def wrong_cat(v):
    return torch.cat([v, v[:, :2]], 0)  # here


@mistake(x(3, 4), says="cannot be exported")
def wrong_dim(v):
    return v.sum(3)  # here


@mistake(x(3, 3), says="linalg_ldl_factor")
def decomposition(v):
    return torch.linalg.ldl_factor(v)[0]  # here


@mistake(x(3, 3), says="linalg_eig")
def eigenvalues(v):
    return torch.linalg.eigvals(v)  # here


@mistake(x(3, 3), x(4, 2), says="cannot be exported")
def wrong_system(v, w):
    return torch.linalg.solve(v, w)  # here


@mistake(x(6), says="unique")
def unique(v):
    return torch.unique(v)  # here


@mistake(x(3, 4), says="to_sparse")
def sparse(v):
    return v.to_sparse()  # here


@mistake(x(3, 4), says="cannot be exported")
def numpy(v):
    return torch.from_numpy(v.numpy() * 2)  # here


@mistake(x(3, 4), says="repeat_interleave")
def repeats(v):
    return v.repeat_interleave(torch.tensor([1, 2, 3]), 0)  # here


@mistake(x(3), says="cannot be exported")
def undefined(v):
    return v.no_such_method()  # here


@mistake(x(3), says="cannot be exported")
def too_many(v):
    return torch.add(v)  # here


@mistake(x(3), says="cannot be exported")
def exception(v):
    raise ValueError("not this one")  # here


@mistake(x(3), says="cannot be exported")
def not_a_tensor(v):
    return v + "text"  # here


@mistake(x(3), x(2), says="cannot be exported")
def wrong_linear(v, w):
    return torch.nn.functional.linear(v, w[None])  # here


@mistake(x(3, 4).double(), x(2, 4), says="tensor<3x4xf64> and tensor<2x4xf32>")
def wrong_type(v, w):
    return torch.nn.functional.linear(v, w)  # here


@mistake(x(3), says="a generator of its own", hint="torch.manual_seed")
def own_generator(v):
    return v + torch.randn(3, generator=torch.Generator())


@mistake(x(1, 3, 8, 8), x(4, 2, 3, 3), says="cannot be exported")
def wrong_channels(v, w):
    return torch.nn.functional.conv2d(v, w)  # here


@mistake(x(3), torch.tensor([1, 2, 3]), says=".item()")
def listed(v, k):
    return [v[j] for j in k.tolist()]  # here


@mistake(x(4, 4).to(torch.complex64), says="linalg_qr")
def orthogonal(v):
    return torch.linalg.qr(v)[0]  # here


@mistake(x(3, 4), says="cannot be exported")
def wrong_permute(v):
    return v.permute(0, 1, 2)  # here


@mistake(torch.tensor([1, 0, 2]), says="bincount")
def bincount(k):
    return torch.bincount(k)  # here


@mistake(x(3, 4), says="cannot be exported")
def wrong_index(v):
    return v[5]  # here


@mistake(torch.quantize_per_tensor(x(3), 0.1, 0, torch.quint8), says="quantized")
def old_codes(v):
    return v.dequantize()


@mistake(x(3, 4).to_sparse(), says="layout")
def sparse_argument(v):
    return v.to_dense()
