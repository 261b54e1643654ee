"""Seeded networks of PyTorch for the tests: name, a function that makes the module, and one that makes its arguments."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def seeded(module, scale=1.0):
    """With weights that let numbers of all layers through, and statistics that are not 0 and 1."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, p in module.named_parameters():
            spread = scale / math.sqrt(max(1, p[0].numel())) if p.dim() > 1 else 0.1
            p.copy_(torch.randn(p.shape, generator=generator) * spread + (1.0 if p.dim() == 1 and name.endswith("weight") else 0.0))
        for name, b in module.named_buffers():
            if name.endswith("running_mean"):
                b.copy_(torch.randn(b.shape, generator=generator) * 0.1)
            elif name.endswith("running_var"):
                b.copy_(torch.rand(b.shape, generator=generator) + 0.5)
    return module.eval()


class UNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        def twice(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.Conv2d(o, o, 3, padding=1), nn.ReLU())

        self.first, self.second, self.third = twice(3, width), twice(width, 2 * width), twice(2 * width, 4 * width)
        self.up2, self.up1 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.back2, self.back1, self.last = twice(4 * width, 2 * width), twice(2 * width, width), nn.Conv2d(width, 2, 1)

    def forward(self, x):
        a = self.first(x)
        b = self.second(F.max_pool2d(a, 2))
        c = self.third(F.max_pool2d(b, 2))
        b = self.back2(torch.cat([self.up2(c), b], 1))
        return self.last(self.back1(torch.cat([self.up1(b), a], 1)))


class Bert(nn.Module):
    def __init__(self, width=64, heads=4, layers=2, words=500):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(words, width), nn.Embedding(64, width), nn.LayerNorm(width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, ids, mask):
        places = torch.arange(ids.shape[1])
        return self.layers(self.norm(self.words(ids) + self.places(places)), src_key_padding_mask=mask == 0)


class Gpt2(nn.Module):
    def __init__(self, width=64, heads=4, layers=2, words=500):
        super().__init__()
        self.heads, self.words, self.places = heads, nn.Embedding(words, width), nn.Embedding(64, width)
        self.layers = nn.ModuleList(
            nn.ModuleDict({"n1": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width), "out": nn.Linear(width, width), "n2": nn.LayerNorm(width),
                           "up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width)}) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        n, t = ids.shape
        x = self.words(ids) + self.places(torch.arange(t))
        for layer in self.layers:
            q, k, v = (p.view(n, t, self.heads, -1).transpose(1, 2) for p in layer["qkv"](layer["n1"](x)).chunk(3, -1))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + layer["out"](y.transpose(1, 2).reshape(n, t, -1))
            x = x + layer["down"](F.gelu(layer["up"](layer["n2"](x)), approximate="tanh"))
        return self.norm(x) @ self.words.weight.T


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.net, self.last = kind(16, 24, 2, batch_first=True, bidirectional=True), nn.Linear(48, 5)

    def forward(self, x):
        y, state = self.net(x)
        return self.last(y), state


def drawn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(2))


def ids(*shape):
    return torch.randint(0, 500, shape, generator=torch.Generator().manual_seed(3))


def vision(name, size, **options):
    def make():
        import torchvision

        return getattr(torchvision.models, name)(num_classes=50, **options)

    return make, lambda: (drawn(1, 3, size, size),)


MODELS = {
    "resnet18": vision("resnet18", 64),
    "resnet50": vision("resnet50", 64),
    "mobilenet_v2": vision("mobilenet_v2", 64),
    "vit": (lambda: _vit(), lambda: (drawn(1, 3, 32, 32),)),
    "unet": (UNet, lambda: (drawn(1, 3, 32, 32),)),
    "bert": (Bert, lambda: (ids(2, 12), torch.tensor([[1] * 12, [1] * 7 + [0] * 5]))),
    "gpt2": (Gpt2, lambda: (ids(2, 12),)),
    "lstm": (lambda: Recurrent(nn.LSTM), lambda: (drawn(2, 9, 16),)),
    "gru": (lambda: Recurrent(nn.GRU), lambda: (drawn(2, 9, 16),)),
}


def _vit():
    from torchvision.models.vision_transformer import VisionTransformer

    return VisionTransformer(32, 8, 3, 4, 64, 128, num_classes=50)
