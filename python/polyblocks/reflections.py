"""Decompositions by Householder's reflections (Golub and Van Loan, Matrix Computations, 5.1, 5.2, 8.3): QR in panels, whose
reflections together are two products with a triangle between (Schreiber and Van Loan 1989), tridiagonal and bidiagonal forms
of matrices. All are loops of a turn for each panel or each row, whatever the size."""

import functools

import jax
import jax.numpy as jnp
from jax import lax

BLOCK = 32  # rows or columns of a panel
# At numbers of turns, which are never below 0: no number has to be looked at.
element = functools.partial(lax.dynamic_index_in_dim, allow_negative_indices=False)
part_of = functools.partial(lax.dynamic_slice_in_dim, allow_negative_indices=False)
updated = functools.partial(lax.dynamic_update_slice_in_dim, allow_negative_indices=False)


def batched(function):
    """Over all dims in front of the last two of the first argument, and in front of as many fewer of the others."""

    @functools.wraps(function)
    def all_of_them(a, *rest, **how):
        if not jnp.issubdtype(a.dtype, jnp.floating):
            raise NotImplementedError(f"{function.__name__} of {a.dtype}")
        lead = a.shape[:-2]
        if not lead:  # under vmap a dynamic slice is a gather
            return function(a, *rest, **how)
        flat = [x.reshape(-1, *x.shape[len(lead) :]) for x in (a, *rest)]
        made = jax.vmap(functools.partial(function, **how))(*flat)
        return jax.tree.map(lambda x: x.reshape(*lead, *x.shape[1:]), made)

    return all_of_them


def inverse(a, unit):
    """Of a lower triangle of few rows, row by row."""
    rows = jnp.arange(a.shape[0])

    def row(j, made):
        across = element(a, j, 0, keepdims=False)
        x = (rows == j) - jnp.where(rows < j, across, 0) @ made
        x = x if unit else x / element(across, j, 0, keepdims=False)
        return jnp.where((rows == j)[:, None], x, made).astype(a.dtype)

    return lax.fori_loop(0, a.shape[0], row, jnp.zeros_like(a))


def reflection(x, at):
    """Of a vector onto its element `at`, 0 behind that one: the vector with 0 in front and 1 there, its factor, what is there
    then. Of what is 0 behind already there is none: both are 0."""
    places = jnp.arange(x.shape[0])
    scale = jnp.max(jnp.where(places >= at, jnp.abs(x), 0))
    x = x / jnp.where(scale > 0, scale, 1)
    alpha = jnp.sum(jnp.where(places == at, x, 0))
    below = jnp.sum(jnp.where(places > at, x * x, 0))
    is_done = below == 0
    beta = jnp.where(is_done, alpha, -jnp.copysign(jnp.sqrt(alpha * alpha + below), alpha))
    tau = jnp.where(is_done, 0, (beta - alpha) / jnp.where(is_done, 1, beta)).astype(x.dtype)
    v = jnp.where(places > at, x / jnp.where(is_done, 1, alpha - beta), (places == at) & ~is_done).astype(x.dtype)
    return v, tau, beta * scale


def triangle_between(vectors, taus):
    """T of the product of the reflections of these rows, the first one leftmost: 1 - V' T V. Transposed, a lower one."""
    across = vectors @ vectors.T
    return inverse(jnp.tril(across, -1) + jnp.diag(1 / jnp.where(taus == 0, 1, taus)), False)


def filled_up(a, rows, columns):
    """With rows and columns of 0 to multiples of BLOCK."""
    return jnp.pad(a, ((0, -rows % BLOCK), (0, -columns % BLOCK)))


@batched
def geqrf(a):
    """R, with the reflections' vectors below its diagonal, and their factors."""
    m, n = a.shape
    count = min(m, n)
    a = filled_up(a, 0, n)
    rows, columns, few = jnp.arange(m), jnp.arange(a.shape[1]), jnp.arange(BLOCK)

    def panel(k, carried):
        """What is left of the matrix, the columns that are made, and their factors."""
        a, made, taus = carried
        start = k * BLOCK

        def reflect(j, carried):
            """of: the panel's columns as rows; vectors: the reflections'."""
            of, vectors, own = carried
            x = element(of, j, 0, keepdims=False)
            v, tau, beta = reflection(x, start + j)
            column = jnp.where(rows > start + j, v, jnp.where(rows == start + j, beta, x))
            others = of - jnp.where(few > j, tau * (of @ v), 0)[:, None] * v
            of = jnp.where((few == j)[:, None], column, others)
            return of, updated(vectors, v[None], j, 0), jnp.where(few == j, tau, own)

        first = part_of(a, start, BLOCK, 1).T
        of, vectors, own = lax.fori_loop(0, BLOCK, reflect, (first, jnp.zeros_like(first), jnp.zeros(BLOCK, a.dtype)))
        right = jnp.where(columns >= start + BLOCK, vectors @ a, 0)
        a = a - vectors.T @ (triangle_between(vectors, own) @ right)
        return a, updated(made, of.T, start, 1), updated(taus, own, start, 0)

    panels = -(-count // BLOCK)
    a, made, taus = lax.fori_loop(0, panels, panel, (a, jnp.zeros_like(a), jnp.zeros(panels * BLOCK, a.dtype)))
    return jnp.where(columns < panels * BLOCK, made, a)[:, :n], taus[:count]


def reflected(vectors, taus, z):
    """All reflections of these rows, the first one last, of z."""
    vectors = filled_up(jnp.where(taus[:, None] == 0, 0, vectors), vectors.shape[0], 0)
    taus = jnp.pad(taus, (0, vectors.shape[0] - taus.shape[0]))
    panels = vectors.shape[0] // BLOCK

    def panel(k, z):
        start = (panels - 1 - k) * BLOCK
        v = part_of(vectors, start, BLOCK, 0)
        between = triangle_between(v, part_of(taus, start, BLOCK, 0)).T
        return z - v.T @ (between @ (v @ z))

    return lax.fori_loop(0, panels, panel, z)


@batched
def householder_product(a, taus):
    m, n = a.shape
    vectors = jnp.tril(a[:, : taus.shape[0]], -1) + jnp.eye(m, taus.shape[0], dtype=a.dtype)
    return reflected(vectors.T, taus, jnp.eye(m, n, dtype=a.dtype))


def qr_of(a, full=False):
    m, n = a.shape
    r, taus = geqrf(a)
    q = householder_product(jnp.pad(r, ((0, 0), (0, m - n))) if full else r, taus)
    return q, jnp.triu(r[:n])


def diagonal(a, above):
    """What lies so many places above the diagonal, as long as the diagonal of a square: 0 at the end."""
    n = a.shape[1]
    return jnp.sum(jnp.where(jnp.arange(n)[None] - jnp.arange(a.shape[0])[:, None] == above, a, 0), 1)[:n]


def tridiagonal(a):
    """Of a symmetric matrix: the diagonal, what is beside it (as long, 0 at the end), and the reflections' rows and factors."""
    n = a.shape[0]
    count = max(n - 2, 0)

    def reflect(k, carried):
        a, vectors, taus = carried
        v, tau, _ = reflection(element(a, k, 0, keepdims=False), k + 1)
        across = tau * (a @ v)
        w = across - 0.5 * tau * jnp.sum(across * v) * v
        return a - v[:, None] * w - w[:, None] * v, updated(vectors, v[None], k, 0), updated(taus, tau[None], k, 0)

    start = a, jnp.zeros((max(count, 1), n), a.dtype), jnp.zeros(max(count, 1), a.dtype)
    a, vectors, taus = lax.fori_loop(0, count, reflect, start)
    return diagonal(a, 0), diagonal(a, 1), vectors, taus


def bidiagonal(a):
    """Of a matrix with at least as many rows as columns: the diagonal, and what is above it (as long, 0 at the end)."""
    n = a.shape[1]

    def reflect(k, a):
        v, tau, _ = reflection(element(a, k, 1, keepdims=False), k)
        a = a - tau * v[:, None] * (v @ a)
        v, tau, _ = reflection(element(a, k, 0, keepdims=False), k + 1)
        return a - tau * (a @ v)[:, None] * v

    a = lax.fori_loop(0, n, reflect, a)[:n]
    return diagonal(a, 0), diagonal(a, 1)
