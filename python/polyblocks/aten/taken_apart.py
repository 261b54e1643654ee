"""Decompositions of ours: fast paths of eager that PyTorch itself takes apart nowhere."""

import torch
import torch.nn.functional as F

from .gradients import GRADIENTS

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


TAKEN_APART = {
    **GRADIENTS,
    aten._transformer_encoder_layer_fwd.default: encoder_layer,
    aten._native_multi_head_attention.default: self_attention,
}
