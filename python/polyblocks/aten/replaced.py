"""Functions of PyTorch that torch.export stops at because they look at their numbers, or take them out of tensors, as others that do not."""

import contextlib
import itertools
import math

import torch
from torch.nn import functional
from torch.nn.modules import transformer
from torch.overrides import TorchFunctionMode

from .recurrent import PLAIN, whole
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


def combinations(x, r=2, with_replacement=False):
    """By places: how many there are the extent says, not the numbers."""
    chosen = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = list(chosen(range(len(x)), r))
    return x[torch.tensor(places, dtype=torch.int64).reshape(len(places), r)] if r else x[:0]


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


# Activations by numbers in tensors, which PyTorch takes out of them.


def leaky_relu(x, negative_slope=0.01, inplace=False):
    return torch.where(x > 0, x, x * negative_slope)


def elu(x, alpha=1.0, inplace=False):
    return torch.where(x > 0, x, torch.expm1(x) * alpha)


def celu(x, alpha=1.0, inplace=False):
    return torch.where(x > 0, x, torch.expm1(x / alpha) * alpha)


def hardtanh(x, min_val=-1.0, max_val=1.0, inplace=False):
    return torch.minimum(torch.maximum(x, torch.as_tensor(min_val, dtype=x.dtype)), torch.as_tensor(max_val, dtype=x.dtype))


def threshold(x, threshold, value, inplace=False):
    return torch.where(x <= threshold, torch.as_tensor(value, dtype=x.dtype), x)


def softplus(x, beta=1.0, threshold=20.0):
    return torch.where(x * beta > threshold, x, torch.log1p(torch.exp(x * beta)) / beta)


def hardshrink(x, lambd=0.5):
    return torch.where((x >= -lambd) & (x <= lambd), 0, x)


def softshrink(x, lambd=0.5):
    return torch.where(x > lambd, x - lambd, torch.where(x < -lambd, x + lambd, x * 0))


def filled(size, fill_value, *, dtype=None, **named):
    return torch.empty(size, dtype=dtype or fill_value.dtype, **named).fill_(fill_value)


BY_NUMBERS = {functional.leaky_relu: leaky_relu, functional.elu: elu, functional.celu: celu, functional.hardtanh: hardtanh}
BY_NUMBERS |= {functional.threshold: threshold, functional.softplus: softplus, functional.hardshrink: hardshrink, functional.softshrink: softshrink}
BY_NUMBERS |= {torch.full: filled}


def has_number(args, named):
    """Whether a number behind the first argument stands in a tensor; what is done in place stays PyTorch's."""
    return not named.get("inplace") and any(isinstance(v, torch.Tensor) and not v.dim() for v in (*args[1:], *named.values()))


def by_numbers(function, x, *args, **named):
    """As eager, whose numbers are f32 where the elements are halves."""
    is_half = isinstance(x, torch.Tensor) and x.dtype in (torch.float16, torch.bfloat16)
    return function(x.float(), *args, **named).to(x.dtype) if is_half else function(x, *args, **named)


REPLACED = {torch.combinations: combinations, torch.cov: covariance, torch.corrcoef: correlation, torch.linalg.lstsq: solved}
REPLACED |= {torch.Tensor.__getitem__: item, torch.Tensor.__setitem__: put_item}
REPLACED |= {functional.gaussian_nll_loss: gaussian_loss, torch.Tensor.cov: covariance, torch.Tensor.corrcoef: correlation}
RECURRENT = {function: whole(kind) for kind, plain in PLAIN.items() for function in (plain, getattr(torch.ops.aten, kind).input)}
REPLACED |= RECURRENT


class Replaced(TorchFunctionMode):
    """While it is entered those are called in the others' place."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in BY_NUMBERS and has_number(args, kwargs):
            return by_numbers(BY_NUMBERS[function], *args, **kwargs)
        return REPLACED.get(function, function)(*args, **kwargs)


@contextlib.contextmanager
def masks_as_they_are():
    """Transformers compare their mask with a causal one, to leave it out where it is one: in a graph it is a mask like others."""
    plain = getattr(transformer, "_detect_is_causal_mask", None)
    if plain is None:  # another version's
        yield
        return
    transformer._detect_is_causal_mask = lambda mask, is_causal=None, size=None: is_causal is True
    try:
        yield
    finally:
        transformer._detect_is_causal_mask = plain
