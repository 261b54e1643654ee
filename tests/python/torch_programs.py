"""Programs of PyTorch as people write them: name, what makes the function or module, its arguments."""

import math

import torch
from torch import nn
from torch.nn import functional as F

PROGRAMS = {}


def program(*arguments):
    def add(make):
        assert make.__name__ not in PROGRAMS, make.__name__
        PROGRAMS[make.__name__] = (make, arguments)
        return make

    return add


def function(*arguments):
    """Of the program itself."""

    def add(body):
        PROGRAMS[body.__name__] = (lambda: body, arguments)
        return body

    return add


GENERATOR = torch.Generator().manual_seed(7)


def f(*shape):
    return torch.randn(*shape, generator=GENERATOR)


def i(*shape, high=10):
    return torch.randint(0, high, shape, generator=GENERATOR)


# ---- attention and language models ----


def rotated(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


class GroupedAttention(nn.Module):
    """Rotary places, fewer heads of keys than of queries, a cache that is written at a place."""

    def __init__(self, width=32, heads=4, groups=2, length=16):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.q, self.k, self.v = nn.Linear(width, width, bias=False), *(nn.Linear(width, groups * self.size, bias=False) for _ in range(2))
        self.o = nn.Linear(width, width, bias=False)
        self.register_buffer("keys", torch.zeros(1, groups, length, self.size))
        self.register_buffer("values", torch.zeros(1, groups, length, self.size))
        self.register_buffer("inverse", 1e4 ** -(torch.arange(0, self.size, 2).float() / self.size))

    def forward(self, x, at):
        n, t, _ = x.shape
        q = self.q(x).view(n, t, self.heads, self.size).transpose(1, 2)
        k, v = (p(x).view(n, t, self.groups, self.size).transpose(1, 2) for p in (self.k, self.v))
        angle = torch.cat([at[:, None].float() * self.inverse] * 2, -1)
        q, k = (rotated(p, angle.cos(), angle.sin()) for p in (q, k))
        self.keys[:, :, at] = k
        self.values.index_copy_(2, at, v)
        k, v = (p.repeat_interleave(self.heads // self.groups, 1) for p in (self.keys, self.values))
        mask = torch.arange(k.shape[2])[None] <= at[:, None]
        return self.o(F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).reshape(n, t, -1))


@program(f(1, 3, 32), torch.tensor([4, 5, 6]))
def grouped_attention():
    return GroupedAttention()


@program(f(2, 5, 32))
def llama_block():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.n1, self.n2, self.attention = RmsNorm(32), RmsNorm(32), nn.MultiheadAttention(32, 4, batch_first=True)
            self.gate, self.up, self.down = nn.Linear(32, 64), nn.Linear(32, 64), nn.Linear(64, 32)

        def forward(self, x):
            y = self.n1(x)
            mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
            x = x + self.attention(y, y, y, attn_mask=mask, is_causal=True, need_weights=False)[0]
            y = self.n2(x)
            return x + self.down(F.silu(self.gate(y)) * self.up(y))

    return Block()


@function(f(2, 4, 12, 8), f(2, 2, 12, 8), f(2, 2, 12, 8))
def attention_of_groups(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


@function(f(2, 3, 12, 8))
def sliding_window(q):
    at = torch.arange(12)
    near = (at[:, None] >= at[None]) & (at[:, None] - at[None] < 4)
    bias = torch.zeros(12, 12).masked_fill_(near.logical_not(), -math.inf)
    return torch.softmax(q @ q.mT / math.sqrt(8) + bias, -1) @ q


@function(f(1, 2, 8, 8))
def relative_places(q):
    """T5's buckets."""
    far = torch.arange(8)[None] - torch.arange(8)[:, None]
    side, near = (far > 0).long() * 4, far.abs()
    large = 2 + (torch.log(near.clamp(min=1).float() / 2) / math.log(16 / 2) * 2).long()
    bucket = side + torch.where(near < 2, near, large.clamp(max=3))
    table = torch.linspace(-1, 1, 16).view(8, 2)
    return torch.softmax(q @ q.transpose(2, 3) + table[bucket].permute(2, 0, 1)[None], -1)


@program(i(2, 9, high=40), torch.tensor([[1] * 9, [1] * 5 + [0] * 4]))
def sentence_embedding():
    class Pooled(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(40, 16, padding_idx=0)
            self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True, activation=F.gelu)

        def forward(self, ids, mask):
            y, m = self.layer(self.words(ids), src_key_padding_mask=~mask.bool()), mask.unsqueeze(-1).to(torch.float32)
            return F.normalize((y * m).sum(1) / m.sum(1).clamp(min=1e-9), p=2, dim=1)

    return Pooled()


@function(f(2, 6, 50), i(2, 6, high=50))
def shifted_loss(logits, labels):
    labels = labels.masked_fill(labels < 3, -100)
    return F.cross_entropy(logits[:, :-1].reshape(-1, 50), labels[:, 1:].reshape(-1), ignore_index=-100, label_smoothing=0.1)


@function(f(4, 50))
def top_p_and_k(logits):
    logits = logits / 0.7
    logits = logits.masked_fill(logits < torch.topk(logits, 20)[0][..., -1, None], -math.inf)
    ordered, at = torch.sort(logits, descending=True)
    late = ordered.softmax(-1).cumsum(-1) > 0.9
    late = torch.cat([torch.zeros_like(late[..., :1]), late[..., :-1]], -1)
    return logits.masked_fill(late.scatter(1, at, late), -math.inf).softmax(-1)


@function(f(4, 30), i(4, 7, high=30))
def repetition_penalty(scores, ids):
    seen = torch.gather(scores, 1, ids)
    return scores.scatter(1, ids, torch.where(seen < 0, seen * 1.2, seen / 1.2))


@function(f(2, 4, 6, 8), f(2, 4, 6, 8))
def linear_attention(q, k):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    state = torch.einsum("bhnd,bhne->bhnde", k, q).cumsum(2)
    norm = torch.einsum("bhnd,bhnd->bhn", q, k.cumsum(2))
    return torch.einsum("bhnd,bhnde->bhne", q, state) / norm[..., None]


@function(f(2, 7, 6), f(2, 7, 4), f(6, 4))
def selective_scan(x, step, a):
    """A state-space layer, written out as a loop."""
    state, made = torch.zeros(2, 6, 4), []
    for t in range(x.shape[1]):
        decay = torch.exp(-F.softplus(step[:, t])[:, None] * a.abs())
        state = decay * state + x[:, t, :, None] * step[:, t, None]
        made.append(torch.einsum("bdn,bn->bd", state, step[:, t]))
    return torch.stack(made, 1)


@program(f(6, 16))
def mixture_of_experts():
    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.router, self.experts = nn.Linear(16, 4), nn.ModuleList(nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(4))

        def forward(self, x):
            weight, which = self.router(x).softmax(-1).topk(2)
            weight, made = weight / weight.sum(-1, keepdim=True), torch.zeros_like(x)
            for k, expert in enumerate(self.experts):
                made += expert(x) * (weight * (which == k)).sum(-1, keepdim=True)
            return made

    return Experts()


@function(f(8, 12), f(3, 12, 10))
def dispatched_experts(x, weights):
    """With room for some rows an expert, by one-hot places."""
    gate = (x @ weights[:, :, 0].T).softmax(-1)
    best, which = gate.max(-1)
    own = F.one_hot(which, 3)
    place = (own.cumsum(0) - 1) * own
    kept = own * (place < 4)
    combine = best[:, None, None] * kept[..., None] * F.one_hot(place.clamp(max=3), 4)
    rows = torch.einsum("tec,td->ecd", (combine > 0).float(), x)
    return torch.einsum("tec,ecf->tf", combine, torch.bmm(rows, weights))


# ---- embeddings, graphs ----


@program(i(12, high=20), torch.tensor([0, 3, 3, 8]))
def embedding_bag():
    return nn.EmbeddingBag(20, 8, mode="mean")


@program(i(3, 5, high=20), f(3, 5))
def weighted_bag():
    class Bag(nn.Module):
        def __init__(self):
            super().__init__()
            self.bag = nn.EmbeddingBag(20, 8, mode="sum")

        def forward(self, ids, weights):
            return self.bag(ids, per_sample_weights=weights)

    return Bag()


@program(f(6, 8), i(2, 14, high=6))
def graph_convolution():
    class Convolution(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 5)

        def forward(self, x, edges):
            source, to = edges
            degree = torch.zeros(6).index_add_(0, to, torch.ones(to.shape[0])) + 1
            by = degree.rsqrt()
            y = self.layer(x)
            made = torch.zeros_like(y).index_add(0, to, y[source] * (by[source] * by[to])[:, None])
            return made + y * by.square()[:, None]

    return Convolution()


@function(f(6, 8), i(2, 14, high=6), f(16))
def graph_attention(x, edges, a):
    source, to = edges[0], edges[1]
    score = F.leaky_relu(torch.cat([x[source], x[to]], -1) @ a, 0.2)
    most = torch.full((6,), -math.inf).scatter_reduce(0, to, score, "amax")
    e = (score - most[to]).exp()
    total = torch.zeros(6).scatter_add(0, to, e)
    return torch.zeros(6, 8).index_add(0, to, (e / total[to])[:, None] * x[source])


@function(f(14, 3), i(14, high=5))
def means_of_segments(x, where):
    at = where[:, None].expand_as(x)
    mean = torch.zeros(5, 3).scatter_reduce(0, at, x, "mean", include_self=False)
    most = torch.zeros(5, 3).scatter_reduce(0, at, x, "amax", include_self=False)
    return mean, most, F.one_hot(where, 5).sum(0)


@function(f(8, 3))
def near_neighbours(x):
    far = torch.cdist(x, x)
    near, at = far.topk(4, largest=False)
    edge = torch.cat([x[:, None].expand(-1, 4, -1), x[at] - x[:, None]], -1)
    return near[:, 1:], edge.amax(1)


# ---- vision ----


@program(f(1, 3, 32, 32))
def detection_head():
    """Boxes from the centres of cells, without suppression; the best of all."""

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.trunk = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.SiLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.SiLU())
            self.box, self.kind = nn.Conv2d(16, 4 * 8, 1), nn.Conv2d(16, 5, 1)

        def forward(self, x):
            y = self.trunk(x)
            n, _, h, w = y.shape
            side = self.box(y).view(n, 4, 8, h * w).softmax(2).mul(torch.arange(8.0).view(1, 1, 8, 1)).sum(2)
            gy, gx = torch.meshgrid(torch.arange(h) + 0.5, torch.arange(w) + 0.5, indexing="ij")
            centre = torch.stack([gx, gy]).view(1, 2, -1)
            boxes = torch.cat([centre - side[:, :2], centre + side[:, 2:]], 1) * 4
            score, kind = self.kind(y).flatten(2).sigmoid().max(1)
            score, at = score.topk(10)
            return boxes.transpose(1, 2).gather(1, at[..., None].expand(-1, -1, 4)), score, kind.gather(1, at)

    return Head()


@function(f(1, 4, 8, 8))
def peaks_of_heat(x):
    """CenterNet's: what is its neighbourhood's largest."""
    kept = x.sigmoid() * (F.max_pool2d(x, 3, 1, 1) == x)
    score, at = kept.flatten(1).topk(6)
    return score, at // 64, (at % 64) // 8, at % 8


@function(f(1, 8, 9, 7), f(1, 8, 18, 14), f(1, 8, 36, 28))
def feature_pyramid(c5, c4, c3):
    p4 = c4 + F.interpolate(c5, size=c4.shape[-2:], mode="nearest")
    p3 = c3 + F.interpolate(p4, size=c3.shape[-2:], mode="bilinear", align_corners=False)
    return p3, p4, F.max_pool2d(c5, 1, 2, 0), F.interpolate(p3, scale_factor=0.5, mode="bilinear", antialias=True)


@function(f(2, 6, 12, 12))
def resized(x):
    return [
        F.interpolate(x, scale_factor=2, mode="bilinear"),
        F.interpolate(x, size=(17, 5), mode="bilinear", align_corners=True),
        F.interpolate(x, scale_factor=1.7, mode="bicubic"),
        F.interpolate(x, size=(5, 5), mode="bicubic", antialias=True),
        F.interpolate(x[:, :, 0], scale_factor=3, mode="linear"),
        F.interpolate(x[:, :, None], size=(2, 6, 20), mode="trilinear"),
        F.interpolate(x, scale_factor=0.4, mode="nearest-exact"),
        F.interpolate(x, size=(5, 7), mode="area"),
        F.pixel_shuffle(F.pixel_unshuffle(x, 2)[:, :24], 2),
    ]


@function(f(2, 3, 8, 8), f(2, 2, 3))
def spatial_transformer(x, theta):
    grid = F.affine_grid(theta, (2, 3, 6, 6), align_corners=False)
    return F.grid_sample(x, grid, align_corners=False), F.grid_sample(x, grid, mode="nearest", padding_mode="border", align_corners=True)


@function(f(1, 2, 8, 8), f(1, 2, 8, 8))
def optical_flow(image, flow):
    base = torch.stack(torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="xy"))[None]
    at = (base + flow).permute(0, 2, 3, 1) / 7 * 2 - 1
    return F.grid_sample(image, at, padding_mode="reflection", align_corners=True)


@function(f(2, 3, 16, 16))
def patches_and_back(x):
    columns = F.unfold(x, 4, stride=2, padding=1)
    return columns, F.fold(columns * 0.5, (16, 16), 4, stride=2, padding=1)


@program(f(1, 8, 8, 16))
def shifted_windows():
    class Windows(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(16, 48)

        def forward(self, x):
            x = torch.roll(x, (-2, -2), (1, 2))
            w = x.view(1, 2, 4, 2, 4, 16).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, 16)
            q, k, v = self.qkv(w).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4).unbind(0)
            y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
            y = y.view(1, 2, 2, 4, 4, 16).permute(0, 1, 3, 2, 4, 5).reshape(1, 8, 8, 16)
            return torch.roll(y, (2, 2), (1, 2))

    return Windows()


@function(f(1, 4, 10, 10), f(1, 18, 8, 8))
def gathered_convolution(x, offset):
    """A deformable one, as grid_sample makes it."""
    made = 0
    gy, gx = torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij")
    for k in range(9):
        at = torch.stack([gx + k % 3 + offset[:, 2 * k + 1], gy + k // 3 + offset[:, 2 * k]], -1)
        made = made + F.grid_sample(x, at / 9 * 2 - 1, align_corners=True) * (k + 1)
    return made


@program(f(2, 8, 6, 6), f(2, 16))
def style_blocks():
    """Normalisation by what another network says; weights of each image."""

    class Styled(nn.Module):
        def __init__(self):
            super().__init__()
            self.by, self.weight = nn.Linear(16, 16), nn.Parameter(torch.randn(8, 8, 3, 3))

        def forward(self, x, style):
            scale, shift = self.by(style)[:, :, None, None].chunk(2, 1)
            x = F.instance_norm(x) * (1 + scale) + shift
            w = self.weight[None] * (style[:, None, :8, None, None] + 1)
            w = w * torch.rsqrt(w.square().sum([2, 3, 4], keepdim=True) + 1e-8)
            return F.conv2d(x.reshape(1, -1, 6, 6), w.reshape(-1, 8, 3, 3), padding=1, groups=2).view(2, 8, 6, 6)

    return Styled()


# ---- sound ----


@function(f(2, 400))
def mel_spectrum(x):
    x = F.pad(x[:, None], (32, 32), mode="reflect")[:, 0]
    frames = x.unfold(-1, 64, 32) * torch.hann_window(64)
    power = torch.fft.rfft(frames).abs().square()
    mel = torch.clamp(torch.linspace(0, 1, 33)[:, None] * torch.arange(1, 9), max=1) / 8
    loud = torch.log10(torch.clamp(power @ mel, min=1e-10))
    return (torch.maximum(loud, loud.amax((1, 2), keepdim=True) - 8) + 4) / 4


@function(f(2, 400))
def stft_and_back(x):
    z = torch.stft(x, 64, 16, window=torch.hann_window(64), return_complex=True)
    return z.real, z.abs(), torch.angle(z).cos()


@program(f(2, 1, 200))
def wave_blocks():
    """Gated dilated convolutions over the past, weight norm and spectral norm."""

    class Waves(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv1d(1, 8, 1)
            self.gates = nn.ModuleList(nn.utils.parametrizations.weight_norm(nn.Conv1d(8, 16, 2, dilation=d)) for d in (1, 2, 4))
            self.last = nn.utils.parametrizations.spectral_norm(nn.Conv1d(8, 4, 3))

        def forward(self, x):
            x = self.first(x)
            for k, gate in enumerate(self.gates):
                a, b = gate(F.pad(x, (2**k, 0))).chunk(2, 1)
                x = x + torch.tanh(a) * torch.sigmoid(b)
            return self.last(F.glu(torch.cat([x, x], 1), 1))

    return Waves()


@program(f(2, 30, 6), torch.tensor([30, 21]))
def conformer_part():
    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.deep, self.batch = nn.LayerNorm(6), nn.Conv1d(6, 6, 5, padding=2, groups=6), nn.BatchNorm1d(6)

        def forward(self, x, lengths):
            mask = torch.arange(x.shape[1])[None] < lengths[:, None]
            y = self.norm(x).masked_fill(~mask[..., None], 0).transpose(1, 2)
            y = F.hardswish(self.batch(self.deep(y))).transpose(1, 2)
            return torch.where(mask[..., None], x + y, 0.0), mask.sum(1)

    return Part()


@function(f(12, 2, 5), torch.tensor([[1, 2, 2], [3, 1, 4]]), torch.tensor([12, 10]), torch.tensor([3, 2]))
def greedy_speech(x, labels, lengths, many):
    best = x.log_softmax(-1).argmax(-1).T
    new = torch.cat([torch.ones_like(best[:, :1], dtype=torch.bool), best[:, 1:] != best[:, :-1]], 1)
    kept = new & (best != 0) & (torch.arange(12)[None] < lengths[:, None])
    return torch.where(kept, best, -1), kept.sum(1)


# ---- diffusion, flows, solvers ----


def sine_embedding(t, width=16):
    by = torch.exp(-math.log(10000) * torch.arange(width // 2, dtype=torch.float32) / (width // 2))
    angle = t[:, None].float() * by[None]
    return torch.cat([angle.cos(), angle.sin()], -1)


class Denoiser(nn.Module):
    def __init__(self, channels=4):
        super().__init__()
        self.time, self.first, self.last = nn.Linear(16, 8), nn.Conv2d(channels, 8, 3, padding=1), nn.Conv2d(8, channels, 3, padding=1)
        self.norm = nn.GroupNorm(2, 8)

    def forward(self, x, t):
        return self.last(F.silu(self.norm(self.first(x)) + self.time(sine_embedding(t))[:, :, None, None]))


@program(f(2, 4, 8, 8))
def diffusion_sampler():
    """DDIM's steps, with guidance."""

    class Sampler(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Denoiser()
            self.register_buffer("kept", torch.cumprod(1 - torch.linspace(1e-4, 0.02, 50), 0))

        def forward(self, x):
            for t in range(49, -1, -12):
                at = torch.full((x.shape[0],), t)
                noise, free = self.net(torch.cat([x, x * 0.9]), torch.cat([at, at])).chunk(2)
                noise = free + 2.0 * (noise - free)
                a, b = self.kept[t], self.kept[t - 12] if t >= 12 else torch.tensor(1.0)
                clean = ((x - (1 - a).sqrt() * noise) / a.sqrt()).clamp(-3, 3)
                x = b.sqrt() * clean + (1 - b).sqrt() * noise
            return x

    return Sampler()


@program(f(4, 6), f(4, 6), torch.tensor([0.1, 0.4, 0.6, 0.9]))
def flow_matching():
    class Flow(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(7, 16), nn.Mish(), nn.Linear(16, 6))

        def forward(self, x0, x1, t):
            x = torch.lerp(x0, x1, t[:, None])
            loss = F.mse_loss(self.net(torch.cat([x, t[:, None]], -1)), x1 - x0)
            y = x0
            for k in range(4):  # Heun's steps
                at = torch.full((4, 1), k / 4)
                slope = self.net(torch.cat([y, at], -1))
                y = y + (slope + self.net(torch.cat([y + slope / 4, at + 0.25], -1))) / 8
            return loss, y

    return Flow()


@program(f(5, 6))
def coupling_flow():
    class Coupling(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(3, 6)

        def forward(self, x):
            a, b = x[:, ::2], x[:, 1::2]
            scale, shift = self.net(a).tensor_split(2, -1)
            scale = torch.tanh(scale)
            y = torch.stack([a, b * scale.exp() + shift], -1).flatten(1)
            density = torch.distributions.Normal(0.0, 1.0).log_prob(y).sum(-1)
            return y, density + scale.sum(-1)

    return Coupling()


@function(f(3, 4, 5, 5), f(16, 4))
def vector_quantised(x, book):
    flat = x.permute(0, 2, 3, 1).reshape(-1, 4)
    far = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ book.t() + book.pow(2).sum(1)
    at = far.argmin(1)
    near = F.embedding(at, book).view(3, 5, 5, 4).permute(0, 3, 1, 2)
    share = F.one_hot(at, 16).float().mean(0)
    return x + (near - x).detach(), at.view(3, 25), torch.exp(-(share * torch.log(share + 1e-10)).sum())


@function(f(2, 6, 6), f(2, 6))
def sinkhorn(cost, x):
    log = -cost / 0.5
    for _ in range(5):
        log = log - torch.logsumexp(log, 2, keepdim=True)
        log = log - torch.logsumexp(log, 1, keepdim=True)
    return log.exp() @ x[..., None]


# ---- functions with gradients of their own, and what else modules are made of ----


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, step):
        ctx.save_for_backward(x)
        return torch.round(x / step) * step

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() <= 1), None


@program(f(4, 8))
def own_gradient():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 3)

        def forward(self, x):
            return self.layer(Rounded.apply(x, 0.125))

    return Layer()


@program(f(4, 8))
def low_rank_and_tied():
    class Layers(nn.Module):
        def __init__(self):
            super().__init__()
            self.base, self.a, self.b = nn.Linear(8, 8), nn.Parameter(torch.randn(2, 8)), nn.Parameter(torch.randn(8, 2))
            self.last = nn.Linear(8, 8, bias=False)
            self.last.weight = self.base.weight

        def forward(self, x):
            return self.last(self.base(x) + F.dropout(x, 0.1, self.training) @ self.a.T @ self.b.T * 0.5)

    return Layers()


@function(f(3, 5, 6), f(3, 5), f(3, 5))
def losses(x, y, z):
    at = x.argmax(-1)
    return (
        F.smooth_l1_loss(y, z), F.huber_loss(y, z, delta=0.5), F.binary_cross_entropy_with_logits(y, z.sigmoid(), pos_weight=torch.tensor(2.0)),
        F.kl_div(x.log_softmax(-1), x.flip(-1).softmax(-1), reduction="batchmean"), F.nll_loss(x.log_softmax(-1).transpose(1, 2), at),
        F.cosine_similarity(y, z), F.triplet_margin_loss(y, z, z.flip(0)), F.poisson_nll_loss(y, z.exp()),
        F.margin_ranking_loss(y, z, z.sign()), F.cosine_embedding_loss(y, z, torch.tensor([1, -1, 1])),
    )  # fmt: skip


# ---- functions whose gradients PyTorch has as kernels alone ----


@function(f(1, 2, 5, 6), f(1, 4, 3, 2))
def samples_beyond_the_ends(x, grid):
    kinds = [("bilinear", "border", True), ("bilinear", "reflection", False), ("bicubic", "zeros", False), ("nearest", "reflection", True)]
    return [F.grid_sample(x, grid * 1.5, mode, padding, align) for mode, padding, align in kinds]


@function(f(1, 2, 4, 5, 6), f(1, 3, 3, 2, 3))
def samples_of_volumes(x, grid):
    return F.grid_sample(x, grid, align_corners=False), F.grid_sample(x, grid * 1.5, padding_mode="reflection", align_corners=True)


@function(f(2, 4, 3), f(2, 5, 3))
def distances(x, y):
    return [torch.cdist(x, y, p) for p in (0.5, 1, 1.5, 2, 3, math.inf)] + [torch.cdist(x, x)]


@function(f(2, 3, 7, 5))
def pads_and_maxima(x):
    return (
        F.pad(x, (2, 1, 0, 3), mode="replicate"), F.pad(x[:, :, 0], (3, -1), mode="replicate"), F.pad(x, (1, 2, 3, 0), mode="reflect"),
        F.adaptive_max_pool2d(x, (3, 2)), F.adaptive_max_pool2d(x, 1), F.adaptive_max_pool1d(x[:, :, 0], 2), F.adaptive_max_pool3d(x, (2, 3, 5)),
        F.adaptive_avg_pool2d(x, (3, 2)), F.max_pool2d(x, 3, 2, 1), F.lp_pool2d(x.abs(), 2, 2),
    )  # fmt: skip


@function(f(3, 8), f(3, 8))
def masks_and_products(x, y):
    filled = x.masked_scatter(y > 0, y)
    return filled, torch.cumprod(x, 1), torch.logcumsumexp(x, 1), torch.cummax(y, 1)[0], x.clamp(-0.5, 0.5), torch.linalg.vector_norm(x, 3, 1), x.prod(1)


@function(f(4, 16), f(4, 16, 3))
def volume_rendering(density, colour):
    alpha = 1 - torch.exp(-F.softplus(density) * 0.1)
    through = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], 1), 1)[:, :-1]
    weight = alpha * through
    return (weight[..., None] * colour.sigmoid()).sum(1), (weight * torch.linspace(2, 6, 16)).sum(1)


@program(i(12, high=20), torch.tensor([0, 3, 3, 8]), f(12))
def bags_of_every_kind():
    class Bags(nn.Module):
        def __init__(self):
            super().__init__()
            self.sums, self.means = nn.EmbeddingBag(20, 8, mode="sum", padding_idx=2), nn.EmbeddingBag(20, 8, mode="mean", include_last_offset=True)

        def forward(self, ids, offsets, weights):
            ends = torch.cat([offsets, torch.tensor([12])])
            return self.sums(ids, offsets, weights), self.sums(ids, offsets), self.means(ids, ends)

    return Bags()
