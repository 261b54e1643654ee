"""Functions over arrays of open extents: `xp` is numpy, or jax.numpy when export.py writes their texts. Each row has the
shapes of its arguments, by names of open dims, and their types. `lax` is jax.lax, or what stands for it here in NumPy."""
import numpy as np

ROWS = []


def row(*arguments, least=1, texts=None):
    def add(f):
        ROWS.append((f.__name__, f, [a if isinstance(a, tuple) else (a, "f32") for a in arguments], least))
        return f
    return add


def softmax(xp, x):
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def sigmoid(xp, x):
    return 1 / (1 + xp.exp(-x))


def layer_norm(xp, x):
    mean = xp.mean(x, axis=-1, keepdims=True)
    return (x - mean) / xp.sqrt(xp.mean((x - mean) ** 2, axis=-1, keepdims=True) + np.float32(1e-5))


# ---- element by element, broadcasting ----

@row("n")
def doubled(xp, x): return x * 2 + 1

@row("b,s", "b,s")
def added(xp, x, y): return x + y

@row("b,s", "s")
def row_added(xp, x, y): return x * y + y

@row("b,s", "b,1")
def column_added(xp, x, y): return x - y

@row("b", "s")
def outer_product(xp, x, y): return x[:, None] * y[None, :]

@row("b,s,8")
def swish(xp, x): return x * sigmoid(xp, x)

@row("b,s")
def gelu_tanh(xp, x):
    return np.float32(0.5) * x * (1 + xp.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)))

@row("n,3")
def clamped(xp, x): return xp.clip(x, np.float32(-0.5), np.float32(0.5))

@row("n,m", "n,m")
def chosen(xp, x, y): return xp.where(x > y, x, -y)

@row(("n,m", "i32"), ("n,m", "i32"))
def integers(xp, x, y): return (x * 3 - y) & 15

@row("n,m")
def to_integers(xp, x): return (x * 10).astype(np.int32)

@row(("n", "i32"))
def to_floats(xp, x): return x.astype(np.float32) * np.float32(0.5)

@row("a,b,c", "c")
def three_open(xp, x, y): return x / (1 + y * y)

@row("n,m")
def logs(xp, x): return xp.log(1 + x * x) + xp.sqrt(xp.abs(x))

# ---- reductions ----

@row("n")
def summed(xp, x): return xp.sum(x)

@row("b,s")
def row_sums(xp, x): return xp.sum(x, axis=1)

@row("b,s")
def column_sums(xp, x): return xp.sum(x, axis=0)

@row("b,s,4")
def means(xp, x): return xp.mean(x, axis=1)

@row("b,s")
def all_mean(xp, x): return xp.mean(x)

@row("b,s")
def variances(xp, x): return xp.mean((x - xp.mean(x, axis=1, keepdims=True)) ** 2, axis=1)

@row("b,s")
def maxima(xp, x): return xp.max(x, axis=-1)

@row("b,s")
def minima(xp, x): return xp.min(x, axis=0, keepdims=True)

@row("b,s")
def products(xp, x): return xp.prod(1 + x * np.float32(0.001), axis=1)

@row("b,s")
def largest_place(xp, x): return xp.argmax(x, axis=1).astype(np.int32)

@row("b,s")
def norms(xp, x): return x / xp.sqrt(xp.sum(x * x, axis=-1, keepdims=True) + np.float32(1e-6))

@row("b,s")
def row_softmax(xp, x): return softmax(xp, x)

@row("b,s")
def log_sum_exp(xp, x):
    m = xp.max(x, axis=-1, keepdims=True)
    return xp.log(xp.sum(xp.exp(x - m), axis=-1)) + m[:, 0]

@row("b,s,16")
def normalised(xp, x): return layer_norm(xp, x)

@row("b,s")
def normalised_open(xp, x): return layer_norm(xp, x)

@row("b,s")
def any_positive(xp, x): return xp.any(x > 1, axis=1)

# ---- products ----

@row("m,k", "k,n")
def product(xp, x, y): return x @ y

@row("b,m,8", "8,16")
def rows_by_weights(xp, x, w): return x @ w

@row("b,m,k", "b,k,n")
def stacks(xp, x, y): return x @ y

@row("b,s,4,8", "b,s,4,8")
def heads(xp, q, k): return xp.einsum("bqhd,bkhd->bhqk", q, k)

@row("n,8", "8,32", "32", "32,4")
def perceptron(xp, x, a, b, c): return xp.tanh(x @ a + b) @ c

@row("b,8", "n,8")
def similarities(xp, x, y): return x @ y.T

@row("n", "n")
def dot(xp, x, y): return xp.dot(x, y)

@row("m,k", "k")
def vector_product(xp, x, y): return x @ y

# ---- movement ----

@row("b,s")
def turned(xp, x): return x.T

@row("b,s,4,8")
def heads_apart(xp, x): return xp.transpose(x, (0, 2, 1, 3))

@row("b,s,32")
def heads_split(xp, x): return xp.transpose(x.reshape(x.shape[0], x.shape[1], 4, 8), (0, 2, 1, 3))

@row("b,4,s,8")
def heads_joined(xp, x): return xp.transpose(x, (0, 2, 1, 3)).reshape(x.shape[0], x.shape[2], 32)

@row("b,s")
def flattened(xp, x): return x.reshape(-1)

@row("b,s,8")
def rows_merged(xp, x): return x.reshape(-1, 8) + 1

@row("b,s", "b,t")
def joined(xp, x, y): return xp.concatenate([x, y], axis=1)

@row("b,s", "b,s")
def stacked(xp, x, y): return xp.stack([x, y], axis=1)

@row("b,s", least=2)
def first_rows(xp, x): return x[:2]

@row("b,s")
def all_but_first(xp, x): return xp.concatenate([x[:, 1:], x[:, :1]], axis=1)

@row("b,s")
def every_second(xp, x): return x[:, ::2] * 2

@row("b,s")
def reversed_rows(xp, x): return x[::-1]

@row("b,s")
def framed(xp, x): return xp.pad(x, ((1, 2), (0, 3)))

@row("b,s")
def repeated(xp, x): return xp.concatenate([x, x, x], axis=0)

@row("b")
def spread(xp, x): return xp.broadcast_to(x[:, None], (x.shape[0], 5)) + 0

@row("b,s")
def halves(xp, x): return x[:, : x.shape[1] // 2 + 1] * 3

@row("b,s")
def triangle(xp, x): return xp.where(xp.arange(x.shape[1])[None, :] <= xp.arange(x.shape[0])[:, None], x, 0)

@row("n")
def positions(xp, x): return x + xp.arange(x.shape[0], dtype=np.float32)

# ---- places ----

@row("50,8", ("b,s", "i32"))
def looked_up(xp, table, ids): return xp.take(table, xp.clip(ids, 0, 49), axis=0, **({} if xp is np else {"mode": "clip"}))

@row("v,8", ("b,s", "i32"))
def looked_up_open(xp, table, ids):
    return xp.take(table, xp.clip(ids, 0, table.shape[0] - 1), axis=0, **({} if xp is np else {"mode": "clip"}))

# ---- networks ----

@row("b,s,16", "16,16", "16,16", "16,16")
def attention(xp, x, q, k, v):
    scores = (x @ q) @ xp.swapaxes(x @ k, 1, 2) / np.float32(4)
    return softmax(xp, scores) @ (x @ v)

@row("b,s,16", "16,48", "16,16")
def causal_heads(xp, x, qkv, out):
    b, s = x.shape[0], x.shape[1]
    parts = (x @ qkv).reshape(b, s, 3, 4, 4)
    q, k, v = (xp.transpose(parts[:, :, i], (0, 2, 1, 3)) for i in range(3))
    scores = q @ xp.swapaxes(k, 2, 3) / np.float32(2)
    mask = xp.arange(s)[:, None] >= xp.arange(s)[None, :]
    y = softmax(xp, xp.where(mask, scores, np.float32(-1e9))) @ v
    return xp.transpose(y, (0, 2, 1, 3)).reshape(b, s, 16) @ out

@row("b,s,16", "16,32", "32,16")
def block(xp, x, a, b): return x + xp.maximum(layer_norm(xp, x) @ a, 0) @ b

@row("b,s,8")
def rotated(xp, x):
    at = xp.arange(x.shape[1], dtype=np.float32)[:, None] * np.array([1, .1, .01, .001], np.float32)[None, :]
    a, b = x[..., :4], x[..., 4:]
    return xp.concatenate([a * xp.cos(at) - b * xp.sin(at), a * xp.sin(at) + b * xp.cos(at)], axis=-1)

@row("b,s,16", "16")
def root_norm(xp, x, w): return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + np.float32(1e-6)) * w

@row("b,s,8", ("b,s", "i32"))
def masked_mean(xp, x, mask):
    m = (mask > 0).astype(np.float32)[:, :, None]
    return xp.sum(x * m, axis=1) / xp.maximum(xp.sum(m, axis=1), 1)

@row("b,8", "b,8", "8,32", "8,32", "32")
def cell(xp, x, h, w, u, bias):
    g = x @ w + h @ u + bias
    i, f, c, o = g[:, :8], g[:, 8:16], g[:, 16:24], g[:, 24:]
    return sigmoid(xp, o) * xp.tanh(sigmoid(xp, f) * h + sigmoid(xp, i) * xp.tanh(c))

@row("n,2", "m,2")
def distances(xp, x, y): return xp.sqrt(xp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1))

@row("n,4")
def covariance(xp, x):
    y = x - xp.mean(x, axis=0, keepdims=True)
    return y.T @ y / x.shape[0]

@row("b,h,w,3", "3,8")
def pixels(xp, x, w): return xp.maximum(x @ w, 0).mean(axis=(1, 2))

# ---- loops and branches: data decide how often, or extents do ----

def lax_of(xp):
    if xp is not np:
        import jax
        return jax.lax
    import numpy_lax
    return numpy_lax

@row("b,3")
def halved_until_small(xp, x):
    return lax_of(xp).while_loop(lambda v: xp.sum(v * v) > 1, lambda v: v * np.float32(0.5), x)

@row("b,s")
def counted_by_extent(xp, x):
    return lax_of(xp).fori_loop(0, x.shape[0], lambda i, v: v * np.float32(0.9) + 1, x)

@row("s,b")
def running_sums(xp, x):
    return lax_of(xp).scan(lambda c, v: (c + v, c * v), x[0] * 0, x)[1]

@row("s,b,4", "4,4")
def recurrent(xp, x, w):
    def turn(h, v):
        h = xp.tanh(h @ w + v)
        return h, h
    return lax_of(xp).scan(turn, x[0] * 0, x)[1]

@row("s,b")
def from_behind(xp, x):
    return lax_of(xp).scan(lambda c, v: (xp.maximum(c, v), c), x[0] * 0, x, reverse=True)[1]

@row("b,3", "3,3")
def long_branch(xp, x, w):
    return lax_of(xp).cond(xp.sum(x) > 0, lambda v: (v @ w) @ w, lambda v: xp.exp(v) @ w, x)

@row("b,s", "s,3")
def loop_in_the_middle(xp, x, w):
    y = lax_of(xp).while_loop(lambda v: xp.max(v) > 1, lambda v: v * np.float32(0.75), xp.abs(x) + 2)
    return softmax(xp, y) @ w

@row("b,3")
def loop_in_a_loop(xp, x):
    lax = lax_of(xp)
    def outer(i, v):
        v = lax.while_loop(lambda u: xp.sum(u * u) > 4, lambda u: u * np.float32(0.5), v + 1)
        return v * 2
    return lax.fori_loop(0, x.shape[0], outer, x)


# ---- open dims that are multiples ----

@row("b,4*h,2*w,3")
def patches(xp, x):
    b, h, w, c = x.shape
    return xp.transpose(x.reshape(b, h // 4, 4, w // 2, 2, c), (0, 1, 3, 2, 4, 5)).reshape(b, h // 4 * (w // 2), 8 * c)

@row("b,2*h,2*w")
def pooled_blocks(xp, x):
    b, h, w = x.shape
    return xp.mean(x.reshape(b, h // 2, 2, w // 2, 2), axis=(2, 4))

@row("b,8*n")
def eights(xp, x): return xp.max(x.reshape(-1, 8), axis=1)

@row("b,2*n")
def gated(xp, x):
    half = x.shape[1] // 2
    return x[:, :half] * sigmoid(xp, x[:, half:])

@row("b,s,2*n")
def pairs_turned(xp, x):
    p = x.reshape(x.shape[0], x.shape[1], -1, 2)
    return xp.stack([-p[..., 1], p[..., 0]], axis=-1).reshape(x.shape)

@row("3*n,m")
def three_parts(xp, x):
    n = x.shape[0] // 3
    return xp.concatenate([x[2 * n:], x[:n] + x[n:2 * n]], axis=0)
