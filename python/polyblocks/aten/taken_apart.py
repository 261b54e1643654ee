"""Decompositions of ours: what PyTorch itself takes apart nowhere, or not as eager has it."""

import math

import torch
import torch.nn.functional as F
from torch._higher_order_ops import while_loop

from ..errors import NotSupported
from .gradients import GRADIENTS
from .random import RANDOM

aten = torch.ops.aten


def attended(x, heads, qkv_weight, qkv_bias, out_weight, out_bias, mask, mask_type):
    """Attention of a tensor to itself. mask_type: 0 a mask of scores, 1 of keys, 2 of both; True is left out."""
    n, t, width = x.shape
    q, k, v = F.linear(x, qkv_weight, qkv_bias).view(n, t, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
    if mask is not None:
        if mask_type == 1:
            mask = mask.view(n, 1, 1, t)
        elif mask_type == 2:
            mask = mask.view(n, -1, t, t)
        mask = ~mask if mask.dtype == torch.bool else mask
    y = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(y.permute(0, 2, 1, 3).reshape(n, t, width), out_weight, out_bias)


def encoder_layer(
    x, width, heads, qkv_weight, qkv_bias, out_weight, out_bias, use_gelu, norm_first, eps,
    weight1, bias1, weight2, bias2, up_weight, up_bias, down_weight, down_bias, mask=None, mask_type=None,
):  # fmt: skip
    def attention(x):
        return attended(x, heads, qkv_weight, qkv_bias, out_weight, out_bias, mask, mask_type)

    def feed(x):
        y = F.linear(x, up_weight, up_bias)
        return F.linear(F.gelu(y) if use_gelu else F.relu(y), down_weight, down_bias)

    if norm_first:
        x = x + attention(F.layer_norm(x, (width,), weight1, bias1, eps))
        return x + feed(F.layer_norm(x, (width,), weight2, bias2, eps))
    x = F.layer_norm(x + attention(x), (width,), weight1, bias1, eps)
    return F.layer_norm(x + feed(x), (width,), weight2, bias2, eps)


def self_attention(
    query, key, value, width, heads, qkv_weight, qkv_bias, out_weight, out_bias, mask=None, need_weights=True, average_attn_weights=True,
    mask_type=None,
):  # fmt: skip
    if need_weights or query is not key or key is not value:
        return NotImplemented
    return attended(query, heads, qkv_weight, qkv_bias, out_weight, out_bias, mask, mask_type), None


def margins_of(x, target):
    """Of labels (up to the first below 0) and other classes: which, where the labels are, and how far margins are from kept."""
    rows, labels = torch.atleast_2d(x), torch.atleast_2d(target)
    counts = (labels < 0).cumsum(1) == 0
    at = torch.where(counts, labels, 0)
    is_target = torch.zeros_like(labels).scatter_add(1, at, counts.to(labels.dtype)) > 0
    margins = 1 - rows.gather(1, at).unsqueeze(2) + rows.unsqueeze(1)
    return counts.unsqueeze(2) & ~is_target.unsqueeze(1), at, is_target, margins


def labels_margin(x, target, reduction):
    """PyTorch's own decomposition counts labels behind the end too."""
    pairs, _, is_target, margins = margins_of(x, target)
    losses = torch.where(pairs, margins.clamp_min(0), 0).sum((1, 2)) / margins.shape[2]
    losses = losses.mean() if reduction == 1 else losses.sum() if reduction == 2 else losses.reshape(x.shape[:-1])
    return losses, is_target.to(x.dtype).reshape(target.shape)


def labels_margin_gradient(gradient, x, target, reduction, is_target):
    pairs, at, _, margins = margins_of(x, target)
    many, _, classes = margins.shape
    moves = (pairs & (margins > 0)).to(x.dtype) / (classes * (many if reduction == 1 else 1))
    slopes = moves.sum(1).scatter_add(1, at, -moves.sum(2))
    return (slopes * (gradient.reshape(-1, 1) if gradient.dim() else gradient)).reshape(x.shape)


def trilinear(x, y, z, expand_x, expand_y, expand_z, sums, unroll_dim=1):
    """A sum of products of three over some dims; each lacks those dims that it is expanded by."""
    rank = x.dim() + len(expand_x)

    def dims(expand):
        return [d for d in range(rank) if d not in expand]

    return torch.einsum(x, dims(expand_x), y, dims(expand_y), z, dims(expand_z), [d for d in range(rank) if d not in sums])


def rows_within(table, places, most, kind):
    """With those rows that are read no longer than `most`."""
    lengths = torch.linalg.vector_norm(table, kind, 1, keepdim=True)
    read = torch.zeros_like(lengths).index_fill(0, places.flatten(), 1) > 0
    return torch.where(read & (lengths > most), table * (most / (lengths + 1e-7)), table)


def polar(size, angle):
    return torch.complex(size * angle.cos(), size * angle.sin())


def hypotenuse(x, y):
    x, y = x.abs(), y.abs()
    large, small = torch.maximum(x, y), torch.minimum(x, y)
    ratio = small / torch.where(large == 0, 1, large)
    endless = torch.isinf(x) | torch.isinf(y)
    return torch.where(endless, math.inf, large * torch.sqrt(1 + ratio * ratio))


def scaled_erfc(x):
    """exp(x^2) erfc(x), in f64; far out by its asymptotic series, as erfc itself is 0 there."""
    wide = (x if x.is_floating_point() else x.to(torch.get_default_dtype())).double()
    near = torch.exp(wide.clamp(max=10) ** 2) * torch.erfc(wide.clamp(max=10))
    far, square, series = wide.clamp(min=10), 2 * wide.clamp(min=10) ** 2, 1.0
    for k in range(15, 0, -2):
        series = 1 - k / square * series
    y = torch.where(wide < 10, near, series / (far * math.sqrt(math.pi)))
    return y.to(x.dtype if x.is_floating_point() else torch.get_default_dtype())


def mantissa_and_exponent(x):
    """By their bits; numbers below the normal ones are made larger first. Of 0, infinity and NaN the exponent is 0."""
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    whole, fraction, width, up = (torch.int64, 52, 2047, 54) if wide.dtype == torch.float64 else (torch.int32, 23, 255, 25)
    is_small = (wide.abs() < torch.finfo(wide.dtype).tiny) & (wide != 0)
    bits = torch.where(is_small, wide * 2.0**up, wide).view(whole)
    exponent = ((bits >> fraction) & width) - width // 2 + 1 - torch.where(is_small, up, 0)
    mantissa = ((bits & ~(width << fraction)) | (width // 2 - 1) << fraction).view(wide.dtype)
    is_plain = torch.isfinite(wide) & (wide != 0)
    return torch.where(is_plain, mantissa.to(x.dtype), x), torch.where(is_plain, exponent, 0).int()


def counted(x, edges, weight, density):
    """How many numbers lie between edges, the last of which counts to the left."""
    x, count = x.flatten(), edges.shape[0] - 1
    inside = (x >= edges[0]) & (x <= edges[-1])
    at = (torch.searchsorted(edges, x, right=True) - 1).clamp(0, count - 1)
    hist = edges.new_zeros(count).index_add(0, at, torch.where(inside, 1.0 if weight is None else weight.flatten(), 0).to(edges.dtype))
    return (hist / (hist.sum() * edges.diff()) if density else hist), edges


def histogram(x, bins=100, *, range=None, weight=None, density=False):
    if range:
        low, high = map(float, range)
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    else:
        low, high = x.amin(), x.amax()
        low, high = torch.where(low == high, low - 0.5, low), torch.where(low == high, high + 0.5, high)
    return counted(x, torch.linspace(low, high, bins + 1, dtype=x.dtype), weight, density)


def histogram_of_edges(x, bins, *, weight=None, density=False):
    return counted(x, bins, weight, density)


def log_normal(x):
    """The logarithm of the normal distribution's function."""
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    t = x * math.sqrt(0.5)
    below = torch.log(scaled_erfc(-t) / 2) - t * t
    return torch.where(x < -1, below, torch.log1p(-torch.erfc(t) / 2))


def pseudo_inverse(a, *, atol=None, rtol=None, hermitian=False):
    if 0 in a.shape:
        return torch.zeros_like(a.mT)
    if rtol is None:
        least = torch.finfo(a.dtype).eps * max(a.shape[-2:])
        rtol = torch.full((), least, dtype=a.dtype) if atol is None else torch.where(atol > 0, 0.0, least)
    if hermitian:
        values, left = torch.linalg.eigh(a)
        right = left.mT
    else:
        left, values, right = torch.linalg.svd(a, full_matrices=False)
    size = values.abs()
    least = rtol.unsqueeze(-1) * size.amax(-1, keepdim=True)
    least = least if atol is None else torch.maximum(least, atol.unsqueeze(-1))
    inverted = torch.where(size > least, 1 / values, 0)
    return (right.mT * inverted.unsqueeze(-2)) @ left.mT


def least_squares(a, y, rcond=None, *, driver=None):
    """By the pseudo-inverse: the shortest of the solutions. A cut that takes values away on purpose takes other ones by pivots, as gelsy, the driver
    that is taken where none is named, finds them."""
    if rcond is not None and rcond > 1e-3 and driver in (None, "gelsy"):
        raise NotSupported(f"linalg.lstsq with rcond {rcond} by pivots", None, "driver='gelsd', which cuts singular values as ours does")
    is_vector = y.dim() == 1 or (a.dim() - 1 == y.dim() and y.shape == a.shape[:-1])
    y = y.unsqueeze(-1) if is_vector else y
    left, values, right = torch.linalg.svd(a, full_matrices=False)
    least = (torch.finfo(a.dtype).eps * max(a.shape[-2:]) if rcond is None else rcond) * values.amax(-1, keepdim=True)
    counts = values > least
    x = right.mT @ (torch.where(counts, 1 / values, 0).unsqueeze(-1) * (left.mT @ y))
    m, n = a.shape[-2:]
    none = y.new_empty(0)
    residuals = (y - a @ x).square().sum(-2) if m > n and driver not in (None, "gelsy") else none
    rank = counts.sum(-1) if driver != "gels" else torch.empty(0, dtype=torch.int64)
    return x.squeeze(-1) if is_vector else x, residuals, rank, values if driver in ("gelss", "gelsd") else none


def matrix_exponential(a):
    """By Taylor's series of a / 2^k, whose norm is at most 1/2, squared k times; of f32 in f64, as each square doubles what was rounded."""
    if a.dtype == torch.float32:
        return matrix_exponential(a.double()).float()
    n, wide = a.shape[-1], a.dtype == torch.float64
    one = torch.eye(n, dtype=a.dtype).expand(a.shape)
    norm = a.abs().sum(-2).amax(-1)[..., None, None] if n else a.sum((-2, -1), keepdim=True)
    times = torch.where(norm > 0.5, torch.log2(norm * 2).ceil(), 0.0).clamp(0, 40)
    x = a * torch.exp2(-times)
    y = one
    for k in range(16 if wide else 9, 0, -1):
        y = one + x @ y / k

    def step(k, y):
        return k + 1, torch.where(k < times, y @ y, y)

    k, most = torch.zeros((), dtype=a.dtype), times.amax()
    return while_loop(lambda k, y: k < most, step, (k, y))[1]


def faked(x, scale, zero, low, high):
    """Codes and back, as eager computes them, and where they are inside of their range."""
    code = torch.round(x * (1.0 / scale)) + zero
    return (code.clamp(low, high) - zero) * scale, (code >= low) & (code <= high)


def faked_by_channel(x, scale, zero, axis, low, high):
    if zero.is_floating_point():
        return NotImplemented
    shape = [-1 if d == axis % x.dim() else 1 for d in range(x.dim())]
    return faked(x, scale.view(shape), zero.view(shape), low, high)


def faked_by_tensors(x, scale, zero, is_on, low, high):
    y, inside = faked(x, scale, zero, low, high)
    return torch.where(is_on == 1, y, x), inside | (is_on != 1)


def put_at(x, places, values, accumulate=False):
    return x.flatten().index_put((places.flatten(),), values.flatten(), accumulate).view(x.shape)


def repeated(repeats, *, output_size=None):
    """Which place each of `output_size` places comes of; how many there are is otherwise what data say."""
    if output_size is None:
        return NotImplemented
    places = torch.arange(output_size, dtype=torch.int64)
    return torch.searchsorted(repeats.to(torch.int64).cumsum(0), places, right=True).to(repeats.dtype)


TAKEN_APART = {
    aten.repeat_interleave.Tensor: repeated,
    **GRADIENTS,
    **RANDOM,
    aten.multilabel_margin_loss_forward.default: labels_margin,
    aten.multilabel_margin_loss_backward.default: labels_margin_gradient,
    aten._trilinear.default: trilinear,
    aten.embedding_renorm.default: rows_within,
    aten.polar.default: polar,
    aten.put.default: put_at,
    aten.fake_quantize_per_tensor_affine_cachemask.default: faked,
    aten.fake_quantize_per_channel_affine_cachemask.default: faked_by_channel,
    aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default: faked_by_tensors,
    aten.hypot.default: hypotenuse,
    aten.frexp.Tensor: mantissa_and_exponent,
    aten.histogram.bin_ct: histogram,
    aten.histogram.bins_tensor: histogram_of_edges,
    aten.special_erfcx.default: scaled_erfc,
    aten.special_log_ndtr.default: log_normal,
    aten.linalg_pinv.atol_rtol_tensor: pseudo_inverse,
    aten.linalg_lstsq.default: least_squares,
    aten.linalg_matrix_exp.default: matrix_exponential,
    aten._transformer_encoder_layer_fwd.default: encoder_layer,
    aten._native_multi_head_attention.default: self_attention,
}
