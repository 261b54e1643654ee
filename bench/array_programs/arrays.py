"""Scans, sorting, selection, gathers and scatters, dynamic programming."""

import jax
import jax.numpy as jnp
import numpy as np
from common import floats, uniform, whole


def lstm(xs, w, u, b):
    def cell(carry, x):
        h, c = carry
        i, f, o, z = jnp.split(x @ w + h @ u + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(z)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((xs.shape[1], u.shape[0]))
    return jax.lax.scan(cell, (zero, zero), xs)[1]


def recurrence(a, b):
    """Each number is a times the one before it and b, by an associative scan."""
    return jax.lax.associative_scan(lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1]), (a, b), axis=1)[1]


def viterbi(scores, steps):
    def step(best, row):
        all_ways = best[:, None] + steps
        return all_ways.max(0) + row, all_ways.argmax(0)

    best, ways = jax.lax.scan(step, scores[0], scores[1:])
    last, path = jax.lax.scan(lambda s, way: (way[s], s), best.argmax(), ways, reverse=True)
    return jnp.concatenate([last[None], path])


def warping(a, b):
    """Dynamic time warping, a row a turn, each by a scan along it."""
    def row(before, x):
        cost = jnp.abs(b - x)
        enter = cost + jnp.minimum(before[1:], before[:-1])

        def cell(left, ce):
            new = jnp.minimum(ce[1], ce[0] + left)
            return new, new

        out = jax.lax.scan(cell, jnp.asarray(1e9, b.dtype), (cost, enter))[1]
        return jnp.concatenate([jnp.full(1, 1e9, out.dtype), out]), None

    first = jnp.full(b.shape[0] + 1, 1e9, b.dtype).at[0].set(0)
    return jax.lax.scan(row, first, a)[0][-1]


def nearest(x, centres):
    """Ten rounds of k-means."""
    def step(_, c):
        far = (x**2).sum(1)[:, None] - 2 * x @ c.T + (c**2).sum(1)
        which = far.argmin(1)
        sums = jax.ops.segment_sum(x, which, c.shape[0])
        counts = jax.ops.segment_sum(jnp.ones(x.shape[0], x.dtype), which, c.shape[0])
        return sums / jnp.maximum(counts, 1)[:, None]

    return jax.lax.fori_loop(0, 10, step, centres)


def embedding_gradient(table, numbers, weights):
    return jax.grad(lambda t: (t[numbers] * weights).sum())(table)


def one_hot(numbers, w):
    return jax.nn.one_hot(numbers, w.shape[0]) @ w


def edits(a, b):
    """The edit distance, a row a turn; what is put in is a running minimum along it."""
    k = jnp.arange(b.shape[0] + 1)

    def row(before, x):
        i, c = x
        best = jnp.concatenate([i[None], jnp.minimum(before[:-1] + (b != c), before[1:] + 1)])
        return jax.lax.cummin(best - k) + k, None

    return jax.lax.scan(row, k, (jnp.arange(1, a.shape[0] + 1), a))[0][-1]


def aligned(a, b):
    """Smith and Waterman's score, by antidiagonals."""
    n, m = a.shape[0], b.shape[0]
    i = jnp.arange(n + 1)

    def diagonal(state, k):
        last, before, best = state
        j = k - i
        same = jnp.where(a[jnp.clip(i - 1, 0, n - 1)] == b[jnp.clip(j - 1, 0, m - 1)], 3, -3)
        up, across = (jnp.concatenate([jnp.zeros(1, jnp.int32), v[:-1]]) for v in (last, before))
        new = jnp.maximum(0, jnp.maximum(across + same, jnp.maximum(last, up) - 2))
        new = jnp.where((i >= 1) & (j >= 1) & (j <= m), new, 0)
        return (new, last, jnp.maximum(best, new.max())), None

    zero = jnp.zeros(n + 1, jnp.int32)
    return jax.lax.scan(diagonal, (zero, zero, jnp.zeros((), jnp.int32)), jnp.arange(2, n + m + 1))[0][2]


def beams(scores):
    """The 16 best ways through 50 steps of 1000 words."""
    def step(best, row):
        best, at = jax.lax.top_k((best[:, None] + row).ravel(), 16)
        return best, (at // row.shape[0], at % row.shape[0])

    return jax.lax.scan(step, jnp.zeros(16, scores.dtype), scores)


def experts(x, choose, w):
    """The two best of eight matrices for each row."""
    share, which = jax.lax.top_k(jax.nn.softmax(x @ choose), 2)
    every = jnp.einsum("td,edh->teh", x, w)
    return (jnp.take_along_axis(every, which[..., None], 1) * (share / share.sum(-1, keepdims=True))[..., None]).sum(1)


def rows(count, most):
    return lambda: (floats(3, most, 64), whole(4, most, count))


PROGRAMS = {
    "scan of an LSTM cell, 64 steps of 8 x 128": (lstm, lambda: (floats(1, 64, 8, 32), floats(2, 32, 512, scale=0.1), floats(3, 128, 512, scale=0.1), floats(4, 512))),
    "scan of 2,000 small turns": (lambda s, xs: jax.lax.scan(lambda c, x: (c * 0.99 + x, c[0]), s, xs), lambda: (np.ones(3, np.float32), floats(5, 2000, 3))),
    "cumulative sum, 256 x 4096": (lambda x: jnp.cumsum(x, 1), lambda: (floats(6, 256, 4096),)),
    "cumulative product down columns, 1024 x 512": (lambda x: jnp.cumprod(x, 0), lambda: (1 + floats(7, 1024, 512, scale=0.01),)),
    "cumulative logsumexp, 256 x 2048": (lambda x: jax.lax.cumlogsumexp(x, 1), lambda: (floats(8, 256, 2048),)),
    "cumulative maximum, 256 x 4096": (lambda x: jax.lax.cummax(x, 1), lambda: (floats(9, 256, 4096),)),
    "linear recurrence, 128 x 4096": (recurrence, lambda: (uniform(10, 128, 4096), floats(11, 128, 4096))),
    "top-k, 64 x 10000, k 50": (lambda x: jax.lax.top_k(x, 50), lambda: (floats(12, 64, 10000),)),
    "sort, 64 x 10000": (lambda x: jnp.sort(x, 1), lambda: (floats(13, 64, 10000),)),
    "argsort and gather, 64 x 4096": (lambda x, y: jnp.take_along_axis(y, jnp.argsort(x, 1), 1), lambda: (floats(14, 64, 4096), floats(15, 64, 4096))),
    "sort by two keys, 100,000": (lambda a, b: jnp.lexsort((b, a)), lambda: (whole(16, 100, 100000), floats(17, 100000))),
    "unique numbers, 50,000": (lambda x: jnp.unique(x, return_counts=True, size=1000, fill_value=-1), lambda: (whole(18, 1000, 50000),)),
    "median of rows, 256 x 1001": (lambda x: jnp.median(x, 1), lambda: (floats(19, 256, 1001),)),
    "search in a sorted row, 100,000 in 10,000": (jnp.searchsorted, lambda: (np.sort(floats(20, 10000)), floats(21, 100000))),
    "segment sum, 100000 x 64 into 1000": (lambda x, i: jax.ops.segment_sum(x, i, 1000), lambda: (floats(22, 100000, 64), whole(23, 1000, 100000))),
    "segment maximum, 100000 x 16 into 1000": (lambda x, i: jax.ops.segment_max(x, i, 1000), lambda: (floats(24, 100000, 16), whole(25, 1000, 100000))),
    "sparse matrix of 200,000 numbers times a vector of 20,000": (lambda a, i, j, x: jax.ops.segment_sum(a * x[j], i, 20000), lambda: (floats(40, 200000), np.sort(whole(41, 20000, 200000)), whole(42, 20000, 200000), floats(43, 20000))),
    "histogram of 1,000,000": (lambda x: jnp.bincount(x, length=256), lambda: (whole(26, 256, 1000000),)),
    "gather of 100000 rows of 64": (lambda x, i: x[i], rows(100000, 1000)),
    "gather of 1,000,000 numbers": (lambda x, i: x[i], lambda: (floats(27, 100000), whole(28, 100000, 1000000))),
    "gradient of an embedding, 20,000 of 5,000 x 64": (embedding_gradient, lambda: (floats(29, 5000, 64), whole(30, 5000, 20000), floats(31, 20000, 64))),
    "one-hot times a matrix, 8192 of 1000 x 64": (one_hot, lambda: (whole(32, 1000, 8192), floats(33, 1000, 64))),
    "Viterbi, 500 steps of 64 states": (viterbi, lambda: (floats(34, 500, 64), floats(35, 64, 64))),
    "dynamic time warping, 200 x 200": (warping, lambda: (floats(36, 200), floats(37, 200))),
    "k-means, 20,000 x 16 into 32": (nearest, lambda: (floats(38, 20000, 16), floats(39, 32, 16))),
    "edit distance, 400 and 500": (edits, lambda: (whole(44, 4, 400), whole(45, 4, 500))),
    "alignment by Smith and Waterman, 400 and 500": (aligned, lambda: (whole(46, 4, 400), whole(47, 4, 500))),
    "any down columns, 1000 x 1000": (lambda x: jnp.any(x > 3, 0), lambda: (floats(52, 1000, 1000),)),
    "first of each row, 1000 x 1000": (lambda x: jnp.argmax(x > 2, 1), lambda: (floats(53, 1000, 1000),)),
    "products down columns, 1000 x 1000": (lambda x: jnp.prod(x, 0), lambda: (1 + floats(54, 1000, 1000, scale=0.01),)),
    "range of bytes down columns, 1000 x 1000": (lambda x: x.max(0) - x.min(0), lambda: (whole(55, 100, 1000, 1000).astype(np.uint8),)),
    "beam search, 50 steps of 1,000": (beams, lambda: (floats(48, 50, 1000),)),
    "mixture of 8 experts, 256 x 64": (experts, lambda: (floats(49, 256, 64), floats(50, 64, 8), floats(51, 8, 64, 128, scale=0.1))),
}
