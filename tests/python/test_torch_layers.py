"""Layers and functions of PyTorch on the reference NPU alone (and what detectors have of torchvision), which computes no index and no truth of its own: each against eager, or
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


@pytest.mark.parametrize("aligned, ratio, shape", [(False, 2, (4, 3)), (True, 2, 7), (True, 3, 1)])
def test_boxes_of_detectors(aligned, ratio, shape):
    """On the cpu: boxes in several images, in and out of them, empty ones, and by both ways."""
    ops = pytest.importorskip("torchvision.ops")
    torch.manual_seed(0)
    x = torch.randn(2, 5, 12, 9)
    boxes = torch.tensor([[0, 1.2, 2, 15, 21], [1, -4, 3, 8, 8.5], [1, 10, 12, 40, 30], [0, 3, 3, 3, 3], [1, 0, 0, 17.9, 23.9], [0, -30, -9, -20, -3]])

    def function(x, boxes):
        return ops.roi_align(x, boxes, shape, 0.5, ratio, aligned), ops.roi_align(x, [boxes[:2, 1:], boxes[2:4, 1:]], shape, 0.5, ratio, aligned)

    for compiled in (polyblocks_jit_torch(function), torch.compile(function, backend="polyblocks")):
        with torch.no_grad():
            torch.testing.assert_close(compiled(x, boxes), function(x, boxes), rtol=1e-5, atol=1e-5)


def test_boxes_whose_points_only_data_say():
    ops = pytest.importorskip("torchvision.ops")
    boxes = torch.tensor([[0, 1.0, 2, 9, 11]])
    with pytest.raises(polyblocks.CompileError, match="sampling_ratio.*only data say"):
        polyblocks_jit_torch(lambda x, b: ops.roi_align(x, b, 4))(torch.randn(1, 3, 16, 16), boxes)
    with pytest.raises(polyblocks.CompileError, match="nms.*how long its result is only data say"):
        polyblocks_jit_torch(lambda b, s: ops.nms(b, s, 0.5))(boxes[:, 1:], torch.ones(1))


@pytest.mark.parametrize("by", ["decorator", "compile"])
def test_turned_weights_are_read_as_they_lie(by):
    """5 MB of weights that a product reads with their dims turned, and another operator as they are."""
    torch.manual_seed(0)
    words = nn.Embedding(1250, 1000)

    def function(x, at):
        y = (x + words(at)) @ words.weight.T
        return y, torch.addmm(y, x, words.weight.T), y @ words.weight, words.weight.T @ y.T

    x, at = torch.randn(30, 1000), torch.arange(30)
    compiled = polyblocks_jit_torch(function) if by == "decorator" else torch.compile(function, backend="polyblocks")
    with torch.no_grad():
        for got, want in zip(compiled(x, at), function(x, at)):
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5 * want.abs().max().item())
        if by == "decorator":
            text = compiled.polyblocks_describe(x, at)[1]
            assert text.count("rhs_contracting_dimensions = [1]") == 2  # not the one of y, nor of w itself
