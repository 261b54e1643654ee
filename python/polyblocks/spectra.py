"""Eigenvalues and eigenvectors of symmetric matrices, and singular values: of tridiagonal matrices, all values side by side, a
lane each. Values by halving intervals, which count how many lie below (Givens 1954; Golub and Van Loan, 8.4.1); vectors by
inverse iteration (Peters and Wilkinson 1971), made orthogonal by Newton's iteration for the polar factor (Higham 1986) or, where
values lie too close for that, by QR."""

import jax.numpy as jnp
from jax import lax

from polyblocks.reflections import batched, bidiagonal, element, qr_of, reflected, tridiagonal, updated


def tridiagonal_values(d, e, first, count):
    """So many values from the `first` smallest on, of a matrix of this diagonal and of what is beside it."""
    n = d.shape[0]
    squares = jnp.concatenate([jnp.zeros(1, d.dtype), (e * e)[: n - 1]])
    beside = jnp.abs(e[: n - 1])
    most = jnp.max(jnp.abs(d) + jnp.pad(beside, (0, 1)) + jnp.pad(beside, (1, 0)))
    least = 1024 * jnp.finfo(d.dtype).tiny
    places = first + jnp.arange(count)

    def below(x):
        def row(i, carried):
            q, number = carried
            q = element(d, i, 0) - x - element(squares, i, 0) / q
            q = jnp.where(jnp.abs(q) < least, -least, q)
            return q, number + (q < 0)

        return lax.fori_loop(0, n, row, (jnp.ones(count, d.dtype), jnp.zeros(count, jnp.int32)))[1]

    def halve(_, carried):
        low, high = carried
        middle = 0.5 * (low + high)
        is_less = below(middle) > places
        return jnp.where(is_less, low, middle), jnp.where(is_less, middle, high)

    turns = jnp.finfo(d.dtype).nmant + 8
    low, high = lax.fori_loop(0, turns, halve, (jnp.full(count, -most), jnp.full(count, most)))
    return 0.5 * (low + high)


def starts(n, dtype):
    """Numbers between 0.5 and 1.5 that have nothing to do with each other."""
    x = (jnp.arange(n * n, dtype=jnp.uint32) + 1) * jnp.uint32(2654435761)
    x = (x ^ (x >> 15)) * jnp.uint32(2246822519)
    return (0.5 + (x ^ (x >> 13)).astype(jnp.float32) / 4294967296.0).astype(dtype).reshape(n, n)


def tridiagonal_vectors(d, e, values):
    """As columns, not yet orthogonal where values lie close: two solutions of the matrix less its value, by elimination with
    pivots, of which the one that is left for a row's next is where this row's is smaller."""
    n = d.shape[0]
    least = jnp.finfo(d.dtype).eps * jnp.maximum(jnp.max(jnp.abs(d) + jnp.abs(e)), jnp.finfo(d.dtype).tiny * 1e8)
    e = e.at[n - 1].set(0)
    e_next = jnp.concatenate([e[1:], jnp.zeros(1, d.dtype)])
    d_next = jnp.concatenate([d[1:], jnp.zeros(1, d.dtype)])

    def eliminate(i, carried):
        (own, right, y), (first, second, third, made), b = carried
        across, below, far = element(e, i, 0), element(d_next, i, 0) - values, element(e_next, i, 0)
        b_next = element(b, jnp.minimum(i + 1, n - 1), 0, keepdims=False)
        swaps = jnp.abs(across) > jnp.abs(own)
        safe = jnp.where(jnp.abs(own) < least, least, own)
        by = jnp.where(swaps, own / jnp.where(across == 0, 1, across), across / safe)
        pivot = jnp.where(swaps, across, safe)
        top, top_y = jnp.where(swaps, below, right), jnp.where(swaps, b_next, y)
        rows = pivot, top, jnp.where(swaps, far, 0), top_y
        kept = tuple(updated(a, row[None], i, 0) for a, row in zip((first, second, third, made), rows))
        rest = jnp.where(swaps, right, below) - by * top
        return (rest, jnp.where(swaps, 0, far) - by * rows[2], jnp.where(swaps, y, b_next) - by * top_y), kept, b

    def back(k, carried):
        i = n - 1 - k
        x1, x2, (first, second, third, made), x = carried
        row = [element(a, i, 0, keepdims=False) for a in (made, second, third, first)]
        new = (row[0] - row[1] * x1 - row[2] * x2) / row[3]
        return new, x1, (first, second, third, made), updated(x, new[None], i, 0)

    def solve(_, b):
        zero = jnp.zeros((n, n), d.dtype)
        start = (d[0] - values, jnp.full(n, e[0]), b[0]), (zero, zero, zero, zero), b
        _, kept, _ = lax.fori_loop(0, n, eliminate, start)
        nothing = jnp.zeros(n, d.dtype)
        x = lax.fori_loop(0, n, back, (nothing, nothing, kept, zero))[3]
        x = x / jnp.max(jnp.abs(x), 0)
        return x / jnp.sqrt(jnp.sum(x * x, 0))

    return lax.fori_loop(0, 2, solve, starts(n, d.dtype))


def closer(z, off):
    """Newton's step to columns at right angles, of which `off` tells how far they are."""
    return z + 0.5 * (z @ off)


def refined(d, e, values, z):
    """By what the columns have of each other's, where their values are far enough apart to tell (Ogita and Aishima 2018)."""
    apart = values - values[:, None]
    is_far = jnp.abs(apart) > 4 * jnp.finfo(d.dtype).eps ** 0.5 * jnp.max(jnp.abs(values))
    beside = e[:, None]
    times = d[:, None] * z + beside * jnp.roll(z, -1, 0) + jnp.roll(beside * z, 1, 0)  # e ends with 0
    off = jnp.eye(z.shape[0], dtype=z.dtype) - z.T @ z
    return z + z @ jnp.where(is_far, (z.T @ times + values * off) / jnp.where(is_far, apart, 1), 0.5 * off)


def orthogonal(d, e, values, z):
    """Columns of length 1 that are nearly at right angles, or else those that QR makes of them."""
    eye = jnp.eye(z.shape[0], dtype=z.dtype)
    enough = 4 * z.shape[0] ** 0.5 * jnp.finfo(z.dtype).eps

    def told(z):
        off = eye - z.T @ z
        return off, jnp.sqrt(jnp.sum(off * off))

    def by_qr(z):
        return lax.fori_loop(0, 2, lambda _, z: refined(d, e, values, z), qr_of(z)[0])

    z = lax.cond(told(z)[1] < 0.5, lambda z: z, by_qr, z)
    goes = lambda carried: (carried[2] > enough) & (carried[3] < 5)  # noqa: E731

    def step(carried):
        z = closer(*carried[:2])
        return z, *told(z), carried[3] + 1

    return lax.while_loop(goes, step, (z, *told(z), 0))[0]


@batched
def eigh(a, lower=True):
    """Vectors as columns, and values, the least one first."""
    n = a.shape[0]
    a = jnp.tril(a) + jnp.tril(a, -1).T if lower else jnp.triu(a) + jnp.triu(a, 1).T
    if n < 2:
        return jnp.ones_like(a), a.reshape(n)
    scale = jnp.max(jnp.abs(a))
    d, e, reflections, taus = tridiagonal(a / jnp.where(scale > 0, scale, 1))
    values = tridiagonal_values(d, e, 0, n)
    vectors = orthogonal(d, e, values, tridiagonal_vectors(d, e, values))
    return reflected(reflections, taus, vectors), values * scale


@batched
def singular_values(a):
    """The largest one first: those above 0 of a matrix that has the bidiagonal form's numbers beside its diagonal."""
    m, n = a.shape
    if m < n:
        return singular_values(a.T)
    scale = jnp.max(jnp.abs(a))
    d, e = bidiagonal(a / jnp.where(scale > 0, scale, 1))
    beside = jnp.stack([d, e], 1).reshape(-1)
    return jnp.maximum(tridiagonal_values(jnp.zeros_like(beside), beside, n, n), 0)[::-1] * scale
