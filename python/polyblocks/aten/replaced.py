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


REPLACED = {torch.cov: covariance, torch.corrcoef: correlation, torch.linalg.lstsq: solved}
REPLACED |= {functional.gaussian_nll_loss: gaussian_loss, torch.Tensor.cov: covariance, torch.Tensor.corrcoef: correlation}


class Replaced(TorchFunctionMode):
    """While it is entered those are called in the others' place."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        return REPLACED.get(function, function)(*args, **(kwargs or {}))
