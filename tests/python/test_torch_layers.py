"""Layers and functions of PyTorch on the reference NPU alone, which computes no index and no truth of its own: each against eager, or
refused by the names that stand here."""

import math

import polyblocks
import pytest
import torch
from polyblocks import polyblocks_jit_torch
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    def __init__(self, function, *modules):
        super().__init__()
        self.function, self.modules_of = function, nn.ModuleList(modules)

    def forward(self, *x):
        return self.function(*x, *self.modules_of)


class Decoder(nn.Module):
    """A small language model: embeddings of words and positions, a causal block, a projection."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.words, self.places, self.heads = nn.Embedding(100, width), nn.Embedding(32, width), heads
        self.qkv, self.out, self.norm = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 128), nn.GELU(), nn.Linear(128, width))

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        n, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(width // self.heads)).masked_fill(~torch.ones(length, length, dtype=torch.bool).tril(), -math.inf)
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, length, width))
        return x + self.mlp(self.norm(x))


def rotary(x):
    at, half = torch.arange(x.shape[1]).float()[:, None], x.shape[2] // 2
    angle = at / 1e4 ** (torch.arange(half).float() / half)
    return torch.cat([x[..., :half] * angle.cos() - x[..., half:] * angle.sin(), x[..., :half] * angle.sin() + x[..., half:] * angle.cos()], -1)


def biased(x):
    far = (torch.arange(x.shape[-1])[None] - torch.arange(x.shape[-1])[:, None]).abs().float()
    return (x - far * torch.tensor([2.0**-k for k in range(x.shape[1])])[:, None, None]).softmax(-1)


R = torch.randn
LAYERS = {
    "decoder": (Decoder, lambda: [torch.randint(0, 100, (2, 16))]),
    "rotary": (lambda: Layer(rotary), lambda: [R(2, 16, 32)]),
    "biased": (lambda: Layer(biased), lambda: [R(2, 4, 16, 16)]),
    "causal attention": (lambda: Layer(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True)), lambda: [R(1, 2, 16, 32)]),
    "encoder": (lambda: nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), lambda: [R(2, 10, 64)]),
    "LSTM": (lambda: Layer(lambda x, m: m(x)[0], nn.LSTM(16, 32, batch_first=True)), lambda: [R(2, 5, 16)]),
    "GRU": (lambda: Layer(lambda x, m: m(x)[0], nn.GRU(16, 32, batch_first=True)), lambda: [R(2, 5, 16)]),
    "bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), lambda: [R(1, 16, 8, 8)]),
    "bicubic": (lambda: nn.Upsample(scale_factor=2, mode="bicubic"), lambda: [R(1, 16, 6, 6)]),
    "nearest": (lambda: nn.Upsample(scale_factor=3), lambda: [R(1, 16, 5, 8)]),
    "sampled": (lambda: Layer(lambda x: F.grid_sample(x, torch.zeros(1, 4, 4, 2), align_corners=False)), lambda: [R(1, 16, 6, 6)]),
    "reflected": (lambda: nn.ReflectionPad2d(2), lambda: [R(1, 16, 6, 6)]),
    "adaptive pool": (lambda: nn.AdaptiveAvgPool2d(3), lambda: [R(1, 16, 7, 7)]),
    "transposed convolution": (lambda: nn.ConvTranspose2d(16, 16, 2, 2), lambda: [R(1, 16, 8, 8)]),
    "group norm": (lambda: nn.GroupNorm(4, 32), lambda: [R(2, 32, 6, 6)]),
    "bag": (lambda: nn.EmbeddingBag(20, 16, mode="mean"), lambda: [torch.randint(0, 20, (3, 4))]),
    "lower triangle": (lambda: Layer(lambda x: x.tril()), lambda: [R(2, 16, 16)]),
    "running sum": (lambda: Layer(lambda x: x.cumsum(-1)), lambda: [R(2, 16)]),
}
REFUSED = {
    "place of the largest": lambda x: x.argmax(-1),
    "sorted": lambda x: x.sort()[0],
}


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name):
    torch.manual_seed(1)
    module, x = LAYERS[name][0]().eval(), LAYERS[name][1]()
    with torch.no_grad():
        got, want = polyblocks_jit_torch(compile_options={"target": "simnpu"})(module)(*x), module(*x)
    assert got.shape == want.shape and (got - want).abs().max() <= 1e-5 * want.abs().max()


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(polyblocks.CompileError, match="(?s)test_torch_layers.py:.*simnpu.*strict_target=False"):
        polyblocks_jit_torch(compile_options={"target": "simnpu"})(REFUSED[name])(R(2, 16))
