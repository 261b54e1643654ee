"""More programs of PyTorch, which join those of torch_programs.py: steps of decoding, caches, experts, views that are written, codes."""

import math

import torch
from torch import nn
from torch.nn import functional as F
from torch_programs import f, function, i, program


@function(f(2, 10, 4, 8), f(2, 12, 4, 8), f(2, 12, 4, 8))
def chunked_attention(q, k, v):
    """A softmax of keys that come in chunks, with the logarithm of its sum."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    most = torch.full(q.shape[:-1], -math.inf)
    total, made = torch.zeros_like(most), torch.zeros_like(q)
    for keys, values in zip(k.split(5, 2), v.split(5, 2)):
        scores = q @ keys.mT / 8**0.5
        new = torch.maximum(most, scores.amax(-1))
        e, by = (scores - new[..., None]).exp(), (most - new).exp()
        total, made, most = total * by + e.sum(-1), made * by[..., None] + e @ values, new
    return made / total[..., None], most + total.log()


@function(f(2, 9, 4, 8), torch.arange(9) + 3)
def rotary_of_pairs(x, at):
    angle = at[:, None] * 1e4 ** (-torch.arange(0, 8, 2) / 8)
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * torch.polar(torch.ones_like(angle), angle)[None, :, None]
    return torch.view_as_real(z).flatten(-2)


@function(f(3, 40))
def typical_tokens(x):
    p = x.softmax(-1)
    far = (-p.log() + (p * p.log()).sum(-1, keepdim=True)).abs()
    at = far.argsort(dim=-1, stable=True)
    last = (p.gather(-1, at).cumsum(-1) < 0.8).sum(-1, keepdim=True)
    cut = far.gather(-1, at).gather(-1, last.clamp(max=39))
    return torch.where(p < p.amax(-1, keepdim=True) * 0.1, -math.inf, x).softmax(-1), x.masked_fill(far > cut, -9.0)


@function(f(2, 3, 20), f(2, 3), i(2, 3, 5, high=20), torch.tensor([[False, True, False]] * 2))
def beam_step(scores, before, tokens, done):
    ends = torch.full_like(scores, -1e9).index_fill(-1, torch.tensor([0]), 0)
    best, at = (before[..., None] + torch.where(done[..., None], ends, scores.log_softmax(-1))).flatten(1).topk(3)
    beam, token = at // 20, at % 20
    tokens = torch.cat([tokens.gather(1, beam[..., None].expand(-1, -1, 5)), token[..., None]], -1)
    return best, tokens, done.gather(1, beam) | (token == 0)


@program(f(10, 16))
def sorted_experts():
    """Rows by a sort of what they were routed to, in one product of matrices."""

    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.router = nn.Linear(16, 4)
            self.up, self.down = nn.Parameter(torch.randn(4, 16, 24) / 4), nn.Parameter(torch.randn(4, 24, 16) / 4)

        def forward(self, x):
            share, which = self.router(x).softmax(-1).topk(2)
            which = which.flatten()
            order = which.argsort(stable=True)
            counts = F.one_hot(which, 4).sum(0)
            place = torch.arange(20) - (counts.cumsum(0) - counts)[which[order]]
            rows = x.new_zeros(4, 20, 16).index_put((which[order], place), x[order // 2])
            made = (F.silu(rows @ self.up) @ self.down)[which[order], place] * share.flatten()[order, None]
            return torch.zeros_like(x).index_add(0, order // 2, made), counts

    return Experts()


@function(f(1, 2, 4, 8), f(1, 2, 4, 8), f(1, 2, 10, 8), torch.tensor(7))
def ring_of_keys(k, q, cache, count):
    at = (count + torch.arange(4)) % 10
    cache = cache.clone()
    cache[:, :, at] = k
    age = (count + 3 - torch.arange(10)) % 10
    return cache, (q @ cache.mT).masked_fill(age > 8, -math.inf).softmax(-1) @ cache, torch.roll(cache, -3, 2)


@function(f(4, 6), f(4, 6), f(6))
def written_by_masks(x, y, v):
    made = [x.clone() for _ in range(5)]
    made[0][x > 0] = 0.5
    made[1][:, v > 0] = 2
    made[2][torch.tensor([True, False, True, True])] = v
    made[3][..., ::2].masked_fill_(y[..., ::2] > 0, 7)
    made[4].index_put_((torch.tensor([0, 0, 1]),), v.expand(3, 6), accumulate=True)
    return made


@function(f(4, 6))
def written_views(x):
    y, z, w, s = x.clone(), x.clone(), x.clone(), torch.zeros(4, 6)
    rows = y.view(2, 12)
    rows[0].add_(1)
    rows.t()[3].mul_(2)
    z.diagonal().zero_()
    z[1:].sub_(z[:-1].clone())
    w[:, :3].copy_(w[:, 3:])
    w[:, 3:].neg_()
    s.narrow(1, 1, 3).copy_(x[:, :3])
    s.flatten()[::5].add_(1)
    s.as_strided((3,), (7,), 2).mul_(3)
    return y, rows, z, w, s


@program(f(3, 9, 5), torch.tensor([9, 6, 4]))
def masked_recurrence():
    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.LSTM(5, 7, batch_first=True, bidirectional=True, proj_size=3)

        def forward(self, x, lengths):
            y, (h, c) = self.layer(x)
            mask = (torch.arange(9)[None] < lengths[:, None])[..., None]
            return y * mask, h, c, y.gather(1, (lengths - 1)[:, None, None].expand(-1, 1, 6)), torch.where(mask, y, -9.0).amax(1)

    return Last()


@program(f(5, 16))
def packed_codes():
    """Two codes of four bits a byte, codes of rows made here, and what training sees of codes."""

    class Codes(nn.Module):
        def __init__(self):
            super().__init__()
            codes = torch.randint(0, 16, (8, 16))
            self.register_buffer("packed", (codes[:, ::2] | (codes[:, 1::2] << 4)).to(torch.uint8))
            self.register_buffer("scales", torch.tensor([0.1, 0.2, 0.3, 0.1, 0.2]))
            self.register_buffer("zeros", torch.tensor([0, 1, 2, 0, 3], dtype=torch.int32))
            self.register_buffer("codes", torch.randint(-127, 128, (8, 16), dtype=torch.int8))

        def forward(self, x):
            w = torch.stack([self.packed & 15, self.packed >> 4], -1).flatten(1).float() / 8 - 1
            by = x.detach().abs().amax(-1, keepdim=True) / 127
            codes = (x / by).round().clamp(-128, 127).to(torch.int8)
            products = (codes.int() @ self.codes.int().T).float() * by / 64
            rows = torch.fake_quantize_per_channel_affine(x, self.scales, self.zeros, 0, -128, 127)
            return F.linear(x, w), products, F.linear(torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -8, 7), w), rows

    return Codes()


@function(f(3, 15), f(2, 100))
def spectra(x, sound):
    z = torch.stft(sound, 32, 8, window=torch.hann_window(32), return_complex=True)
    back = torch.istft(z, 32, 8, window=torch.hann_window(32), length=100)
    whole = torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfftfreq(15), 15)
    return back, z.abs(), whole, torch.fft.fft(x, n=20, dim=0).real + torch.fft.fftfreq(15), torch.fft.ifft(x).imag


@function(f(5, 3), f(6, 4))
def statistics(x, y):
    return torch.cov(x.T), torch.corrcoef(x), torch.cov(x, aweights=torch.tensor([0.2, 0.5, 0.3])), torch.linalg.lstsq(y, y[:, :2] + 1)[0], torch.special.i0e(x), torch.special.i1(x)


@function(torch.complex(f(3, 4), f(3, 4)), torch.tensor([[1.5, -0.3, -2.7, 0.5], [-1.5, 3.0, 12.0, -0.75]]), f(6, 4))
def seldom(z, x, y):
    """Moments of complex numbers, derivatives of digamma and zeta below 0 and at poles, truths of no dims, numbers that are copied, ranks of systems, uneven pools beside infinity."""
    z = z.clone()
    z[0, 0] = complex(math.inf, 1)
    w = x.clone()
    w[0].copy_(2)
    zetas = torch.special.zeta(torch.tensor([2.0, 3.0, 2.5, 1.0]), x), torch.special.zeta(3, torch.tensor([-20.25, -2.0, 0.0, 0.5]))
    moments = torch.var_mean(z[1:], 1), torch.std_mean(z[1:]), z.isinf(), z.isfinite()
    pools = F.adaptive_avg_pool1d(torch.tensor([[1.0, math.inf, 3.0, 4.0, -2.0]]), 3), F.adaptive_avg_pool2d(x[None, None], (2, 3))
    return moments, zetas, pools, [torch.polygamma(n, x) for n in range(4)], torch.any(x > 0, dim=()), torch.all(x, dim=()), w, torch.linalg.lstsq(y.detach(), y.detach()[:, :2] + 1)[1:], y * 2
