"""Functions of PyTorch that torch.export stops at because they look at their numbers, as others that do not."""

import torch
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


REPLACED = {torch.cov: covariance, torch.corrcoef: correlation, torch.linalg.lstsq: solved}
REPLACED |= {torch.Tensor.cov: covariance, torch.Tensor.corrcoef: correlation}


class Replaced(TorchFunctionMode):
    """While it is entered those are called in the others' place."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        return REPLACED.get(function, function)(*args, **(kwargs or {}))
