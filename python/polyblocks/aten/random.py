"""Random tensors whose distribution tensors say, made of those that PyTorch draws: of as many numbers of its generator, in the order in which
eager takes them."""

import torch

aten = torch.ops.aten


def uniform_like(x):
    return torch.rand(x.shape, dtype=x.dtype)


def truths(p, *, generator=None):
    return NotImplemented if generator is not None else (uniform_like(p) < p).to(p.dtype)


def truths_by(x, p, *, generator=None):
    return NotImplemented if generator is not None else (uniform_like(p) < p).to(x.dtype).expand(x.shape)


def normal(mean, deviation=1.0, *, generator=None):
    if generator is not None:
        return NotImplemented
    like = [v for v in (mean, deviation) if isinstance(v, torch.Tensor)]
    shape = torch.broadcast_shapes(*(v.shape for v in like))
    return torch.randn(shape, dtype=like[0].dtype) * deviation + mean


def numbers_of_classes(p, count, replacement=False, *, generator=None):
    """One of each line, or several that differ, by exponential numbers; several that may be equal by where they fall among the shares."""
    if generator is not None:
        return NotImplemented
    if count == 1 or not replacement:
        score = p / aten.exponential.default(torch.empty_like(p), 1.0)
        return score.argmax(-1, True) if count == 1 else score.topk(count, -1).indices
    ends = p.cumsum(-1) / p.sum(-1, keepdim=True)
    return torch.searchsorted(ends.double(), torch.rand((*p.shape[:-1], count), dtype=torch.float64)).clamp(max=p.shape[-1] - 1)


def leaky(x, noise, lower=0.125, upper=1 / 3, training=False, generator=None):
    """Where it does not train, by the middle of the range."""
    if not training:
        from torch.nn.functional import leaky_relu

        return leaky_relu(x, (lower + upper) / 2), noise
    if generator is not None:
        return NotImplemented
    slope = aten.uniform.default(torch.empty_like(x), lower, upper)
    return torch.where(x <= 0, x * slope, x), torch.where(x <= 0, slope, 1)


def dropped(x, p, train=True):
    """As eager does it: PyTorch's own decomposition draws other numbers."""
    if not train or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    if p == 1:
        return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)
    kept = aten.bernoulli.p(x, 1 - p)  # whose numbers mean nothing: in its memory's order
    return x * (kept / (1 - p)), kept != 0


def attended(q, k, v, mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    """Attention that drops weights is made of plain operators; else it is kept whole."""
    if not dropout_p:
        return NotImplemented
    return aten._scaled_dot_product_attention_math.default(q, k, v, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)[0]


RANDOM = {
    aten.scaled_dot_product_attention.default: attended,
    aten.native_dropout.default: dropped,
    aten.bernoulli.default: truths,
    aten.bernoulli.Tensor: truths_by,
    aten.normal.Tensor_float: normal,
    aten.normal.float_Tensor: normal,
    aten.normal.Tensor_Tensor: normal,
    aten.multinomial.default: numbers_of_classes,
    aten.rrelu_with_noise_functional.default: leaky,
}
