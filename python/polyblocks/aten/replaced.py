"""Functions of PyTorch that torch.export stops at because they look at their numbers, as others that do not."""

import math

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from .taken_apart import least_squares


def covariance(x, *, correction=1, fweights=None, aweights=None):
    """Columns are observations; fweights says how often each is there, aweights how much it counts."""
    x = torch.atleast_2d(x)
    x = x if x.is_floating_point() or x.is_complex() else x.to(torch.get_default_dtype())
    weights = [w for w in (fweights, aweights) if w is not None]
    if not weights:
        away = x - x.mean(1, keepdim=True)
        return (away @ away.mH / max(x.shape[1] - correction, 0)).squeeze()
    by = weights[0] if len(weights) == 1 else weights[0] * weights[1]
    total = by.sum()
    away = x - (x * by).sum(1, keepdim=True) / total
    less = correction if aweights is None else correction * (by * aweights).sum() / total
    return ((away * by) @ away.mH / (total - less).clamp(min=0)).squeeze()


def correlation(x):
    made = covariance(x)
    if not made.dim():
        return made / made
    size = made.diagonal().real.sqrt() if made.is_complex() else made.diagonal().sqrt()
    made = made / size.unsqueeze(1) / size
    return made.clamp(-1, 1) if not made.is_complex() else torch.complex(made.real.clamp(-1, 1), made.imag.clamp(-1, 1))


def solved(a, y, rcond=None, *, driver=None):
    return torch.return_types.linalg_lstsq(least_squares(a, y, rcond, driver=driver))


def gaussian_loss(x, target, var, full=False, eps=1e-6, reduction="mean"):
    """Without the look at whether a variance is below 0."""
    var = torch.full_like(x, var) if isinstance(var, float) else var
    if var.shape != x.shape and x.shape[:-1] == var.shape:
        var = var.unsqueeze(-1)
    with torch.no_grad():
        kept = var.clamp(min=eps)
    var = var + (kept - var).detach()
    loss = 0.5 * (torch.log(var) + (x - target) ** 2 / var) + (0.5 * math.log(2 * math.pi) if full else 0)
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def is_place(index):
    """A number in a tensor: PyTorch takes it out and selects by it, which a graph cannot."""
    return isinstance(index, torch.Tensor) and not index.dim() and not index.dtype.is_floating_point and index.dtype not in (torch.bool, torch.uint8)


def around(x, index):
    """What an index selects but for the places in it, and along which dims of that these are; None where it has none, or tensors of many."""
    parts = index if isinstance(index, tuple) else (index,)
    plain = all(part is None or part is Ellipsis or type(part) is int or is_slice(part) or is_place(part) for part in parts)
    if not plain or not any(map(is_place, parts)):
        return None
    rest, dim, places = x.dim() - sum(part is not None and part is not Ellipsis for part in parts), 0, []
    for part in parts:
        if is_place(part):
            places.append((dim, part))
        dim += rest if part is Ellipsis else type(part) is not int
    return x[tuple(slice(None) if is_place(part) else part for part in parts)], places


def is_slice(part):
    return isinstance(part, slice) and not any(isinstance(end, torch.Tensor) for end in (part.start, part.stop, part.step))


def place_in(x, dim, place):
    return torch.where(place < 0, place + x.shape[dim], place).reshape(1)


def item(x, index):
    found = around(x, index)
    if found is None:
        return torch.Tensor.__getitem__(x, index)
    y, places = found
    for dim, place in reversed(places):
        y = y.index_select(dim, place_in(y, dim, place)).squeeze(dim)
    return y


def put_item(x, index, value):
    found = around(x, index)
    if found is None or len(found[1]) > 1:
        return torch.Tensor.__setitem__(x, index, value)
    y, ((dim, place),) = found
    shape = y.shape[:dim] + y.shape[dim + 1 :]
    value = torch.as_tensor(value, dtype=x.dtype)
    while value.dim() > len(shape):  # 1s in front
        value = value.squeeze(0)
    y.index_copy_(dim, place_in(y, dim, place), value.expand(shape).unsqueeze(dim))


REPLACED = {torch.cov: covariance, torch.corrcoef: correlation, torch.linalg.lstsq: solved}
REPLACED |= {torch.Tensor.__getitem__: item, torch.Tensor.__setitem__: put_item}
REPLACED |= {functional.gaussian_nll_loss: gaussian_loss, torch.Tensor.cov: covariance, torch.Tensor.corrcoef: correlation}


class Replaced(TorchFunctionMode):
    """While it is entered those are called in the others' place."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        return REPLACED.get(function, function)(*args, **(kwargs or {}))
