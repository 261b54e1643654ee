"""Decompositions of matrices that JAX leaves to libraries, as programs of its own, for a platform that has none of them: QR and
eigenvalues by reflections (reflections.py, spectra.py), singular vectors by Jacobi's rotations, of all pairs of a round at once
(Brent and Luk 1985), triangles in panels (Golub and Van Loan, Matrix Computations, 3.1, 4.2). Of floats; complex ones are left
to be refused."""

import functools

import jax.numpy as jnp
from jax import lax
from jax._src.interpreters import mlir
from jax._src.lax import ann, linalg

from polyblocks.reflections import BLOCK, batched, element, filled_up, geqrf, householder_product, inverse, part_of, qr_of, updated
from polyblocks.spectra import eigh, singular_values

WRITTEN_OUT = 64  # rows (core/frontend/stablehlo/operators/linear.c)
PANELS_TO_PART = 8
PARTS = 4
FEW_COLUMNS = 4  # of systems: for more of them the triangles' inverses pay
SWEEPS = 20  # at most: they converge quadratically, in six to ten


# ---- triangles ----
# By panels of BLOCK columns or rows, a turn of a loop each, whatever the size: one program of few kernels. What a panel has
# nothing to do with is masked, which costs products of the whole matrix and no more.


def squared_up(a, n):
    """Of a square the same, with ones on the diagonal behind it."""
    return filled_up(a, n, n) + jnp.diag((jnp.arange(n + -n % BLOCK) >= n).astype(a.dtype))


def of_panel(a, start, axis):
    return part_of(a, start, BLOCK, axis)


def panels_of_cholesky(a, at_once):
    """Of a square of whole panels. Each panel's product is of all rows and columns; so a part of many panels are made of the whole
    matrix, and the others of what is left of it then, which is a matrix of its own."""
    n = a.shape[0]
    rows, few = jnp.arange(n), jnp.arange(BLOCK)
    count = min(n // BLOCK, at_once)

    def column(j, p):
        x = element(p, j, 1, keepdims=False)
        root = jnp.sqrt(element(x, j, 0, keepdims=False))
        below = jnp.where(few > j, x / root, 0)
        return jnp.where(few == j, jnp.where(few == j, root, below)[:, None], p - below[:, None] * below)

    def panel(k, carried):
        """What is left of the matrix, and the columns that are made."""
        a, made = carried
        start = k * BLOCK
        own = of_panel(a, start, 1)
        square = jnp.tril(lax.fori_loop(0, BLOCK, column, of_panel(own, start, 0)))
        below = solved(square, jnp.where((rows >= start + BLOCK)[:, None], own, 0).T, False).T
        return a - below @ below.T, updated(made, updated(below, square, start, 0), start, 1)

    done = count * BLOCK
    a, made = lax.fori_loop(0, count, panel, (a, jnp.zeros((n, done), a.dtype)))
    if done == n:
        return made
    return jnp.concatenate([made, jnp.pad(panels_of_cholesky(a[done:, done:], at_once), ((done, 0), (0, 0)))], 1)


@batched
def cholesky(a):
    """NaN where it is not positive definite, as JAX has it."""
    n = a.shape[0]
    panels = -(-n // BLOCK)
    at_once = panels if panels < PANELS_TO_PART else -(-panels // PARTS)
    made = jnp.tril(panels_of_cholesky(squared_up(a, n), at_once))[:n, :n]
    return jnp.where(jnp.isfinite(jnp.diag(made)).all(), made, jnp.nan)


def solved(a, b, unit):
    """b of few rows by the inverse of the lower triangle of a, with one step of refinement."""
    a = jnp.tril(a, -1) + (jnp.eye(a.shape[0], dtype=a.dtype) if unit else jnp.diag(jnp.diag(a)))
    by = inverse(a, unit)
    x = by @ b
    return x + by @ (b - a @ x)


def substituted(a, b, unit):
    """The same of few columns, element by element."""
    rows, across = jnp.arange(a.shape[0]), a.T

    def element_of(j, x):
        top, column = element(x, j, 0), element(across, j, 0, keepdims=False)
        top = top if unit else top / element(column, j, 0, keepdims=False)
        return jnp.where((rows == j)[:, None], top, x - jnp.where(rows > j, column, 0)[:, None] * top)

    return lax.fori_loop(0, a.shape[0], element_of, b)


@batched
def triangular_solve(a, b, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    if not left_side:
        how = {"lower": lower, "transpose_a": not transpose_a, "conjugate_a": False, "unit_diagonal": unit_diagonal}
        return triangular_solve(a, b.T, left_side=True, **how).T
    a, lower, n = (a.T if transpose_a else a), lower != transpose_a, a.shape[0]
    if not lower:
        a, b = a[::-1, ::-1], b[::-1]
    a = squared_up(a, n)
    b = filled_up(b, n, 0)
    by = substituted if b.shape[1] <= FEW_COLUMNS else solved

    def panel(k, x):
        """x: the rows that are done, those behind them 0."""
        start = k * BLOCK
        across = of_panel(a, start, 0)
        own = by(of_panel(across, start, 1), of_panel(b, start, 0) - across @ x, unit_diagonal)
        return updated(x, own, start, 0)

    x = lax.fori_loop(0, a.shape[0] // BLOCK, panel, jnp.zeros_like(b))[:n]
    return x if lower else x[::-1]


@batched
def lu(a):
    """The factors in one matrix, the pivots and the order of rows that they come to: the largest of a column is its pivot."""
    m, n = a.shape
    count = min(m, n)
    done = count + -count % BLOCK
    a = filled_up(a, m, n)
    rows, columns, inside = jnp.arange(a.shape[0], dtype=jnp.int32), jnp.arange(a.shape[1]), jnp.arange(BLOCK)

    infinity = lax.bitcast_convert_type(jnp.array(jnp.inf, a.dtype), f"int{8 * a.dtype.itemsize}")  # NaN is as large

    def columns_of_panel(start, carried):
        """Of what is left of the matrix, with the panels' columns, the rows that have come to places, where rows have come to, and
        the pivots. Rows stay where they are."""
        a, lower, order, places, pivots = carried

        def column(j, carried):
            """p: the panel's columns as rows."""
            p, order, places, pivots = carried
            at = (start + j).astype(rows.dtype)
            x = element(p, j, 0, keepdims=False)
            size = jnp.where(places >= at, jnp.minimum(lax.bitcast_convert_type(jnp.abs(x), infinity.dtype), infinity), -1)
            pivot = jnp.min(jnp.where(size == jnp.max(size), places, rows.shape[0]))
            pivot = jnp.where(at < count, pivot, at)  # columns that fill up have none
            row, other = element(order, pivot, keepdims=False), element(order, at, keepdims=False)
            top = element(p, row, 1)
            by = element(top, j, 0, keepdims=False)
            places = jnp.where(rows == row, at, jnp.where(rows == other, pivot, places))
            below = jnp.where(places > at, x / jnp.where(by == 0, 1, by), 0)
            others = p - jnp.where((inside > j)[:, None], top, 0) * below
            p = jnp.where((inside == j)[:, None], jnp.where(places > at, below, x), others)
            order = jnp.where(rows == at, row, jnp.where(rows == pivot, other, order))
            return p, order, places, jnp.where(rows == at, pivot, pivots)

        own, order, places, pivots = lax.fori_loop(0, BLOCK, column, (of_panel(a, start, 1).T, order, places, pivots))
        return own.T, updated(lower, own.T, start, 1), order, places, pivots

    def panel(k, carried):
        """And the panels' rows behind their columns. What is made lies by itself, so that a is changed where it lies."""
        start = k * BLOCK
        a, upper, *rest = carried
        own, lower, order, places, pivots = columns_of_panel(start, (a, *rest))
        first = of_panel(order, start, 0)
        top = solved(own[first], jnp.where(columns >= start + BLOCK, a[first], 0), True)
        below = jnp.where((places >= start + BLOCK)[:, None], own, 0)
        return a - below @ top, updated(upper, top, start, 0), lower, order, places, pivots

    followed = (a.shape[1] - 1) // BLOCK if a.shape[1] > done else done // BLOCK - 1  # panels with columns behind them
    start = a, jnp.zeros((done, a.shape[1]), a.dtype), jnp.zeros((a.shape[0], done), a.dtype), rows, rows, rows
    a, upper, *rest = lax.fori_loop(0, min(followed, done // BLOCK), panel, start)
    if followed < done // BLOCK:
        _, *rest = columns_of_panel(jnp.int32(followed * BLOCK), (a, *rest))
    lower, order, _, pivots = rest
    lower = jnp.pad(lower[order], ((0, 0), (0, a.shape[1] - done)))
    upper = jnp.pad(upper, ((0, a.shape[0] - done), (0, 0)))
    made = jnp.where(columns >= (rows - rows % BLOCK + BLOCK)[:, None], upper, lower)
    return made[:m, :n], pivots[:count], order[:m]


# ---- rotations ----


def rotation(left, across, right):
    """Cosine and sine that make [[left, across], [across, right]] diagonal, and what it is then."""
    tau = (right - left) / jnp.where(across == 0, 1, 2 * across)
    t = jnp.where(tau >= 0, 1, -1) / (jnp.abs(tau) + jnp.sqrt(1 + tau * tau))
    counts = jnp.abs(across) > 0.1 * jnp.finfo(left.dtype).eps * jnp.minimum(jnp.abs(left), jnp.abs(right))
    t = jnp.where(counts, t, 0).astype(left.dtype)
    c = lax.rsqrt(1 + t * t)
    return c, t * c, left - t * across, right + t * across


def turned(first, second, c, s):
    return first * c - second * s, first * s + second * c


def next_pairs(first, second, axis=0):
    """Each one's partner of the next round: all but the first go round."""
    if first.shape[axis] == 1:
        return first, second
    part = functools.partial(lax.slice_in_dim, axis=axis)
    return (
        jnp.concatenate([part(first, 0, 1), part(second, 0, 1), part(first, 1, first.shape[axis] - 1)], axis),
        jnp.concatenate([part(second, 1, None), part(first, first.shape[axis] - 1, None)], axis),
    )


def rotated_columns(a):
    """a V of orthogonal columns, the longest first, and V."""
    m, n = a.shape
    half = max((n + 1) // 2, 1)
    a = jnp.pad(a, ((0, 0), (0, 2 * half - n)))
    v = jnp.eye(2 * half, dtype=a.dtype)
    limit = jnp.finfo(a.dtype).eps * max(m, 2)

    def one_round(_, carried):
        left, right, up, down, worst = carried
        a, b, both = jnp.sum(left * left, 0), jnp.sum(right * right, 0), jnp.sum(left * right, 0)
        c, s, _, _ = rotation(a, both, b)
        lengths = jnp.sqrt(a) * jnp.sqrt(b)
        off = jnp.max(jnp.where(lengths > 0, jnp.abs(both) / jnp.where(lengths > 0, lengths, 1), 0))
        left, right = turned(left, right, c, s)
        up, down = turned(up, down, c, s)
        return (*next_pairs(left, right, 1), *next_pairs(up, down, 1), jnp.maximum(worst, off))

    def sweep(carried):
        count, _, *rest = carried
        *rest, worst = lax.fori_loop(0, max(2 * half - 1, 1), one_round, (*rest, jnp.zeros((), a.dtype)))
        return (count + 1, worst, *rest)

    turns = lambda carried: (carried[0] < SWEEPS) & (carried[1] > limit)  # noqa: E731
    start = (0, jnp.full((), jnp.inf, a.dtype), a[:, :half], a[:, half:], v[:, :half], v[:, half:])
    _, _, left, right, up, down = lax.while_loop(turns, sweep, start)
    columns, v = jnp.concatenate([left, right], 1), jnp.concatenate([up, down], 1)
    is_added = jnp.abs(v[n:]).sum(0) > 0.5
    order = jnp.argsort(jnp.where(is_added, 1, -jnp.sum(columns * columns, 0)), stable=True)[:n]
    return columns[:, order], v[:n, order]


@batched
def jacobi_svd(a, full_matrices=False):
    """U, values, V transposed: of R, which QR leaves of a tall one; columns that are 0 have their places in U by QR too."""
    m, n = a.shape
    if m < n:
        u, s, vt = jacobi_svd(a.T, full_matrices=full_matrices)
        return vt.T, s, u.T
    scale = jnp.max(jnp.abs(a))
    q, r = qr_of(a / jnp.where(scale > 0, scale, 1), full_matrices)
    columns, v = rotated_columns(r)
    u, lengths = qr_of(columns)
    lengths = jnp.diag(lengths)
    u = q[:, :n] @ (u * jnp.where(lengths < 0, -1, 1).astype(a.dtype))
    return jnp.concatenate([u, q[:, n:]], 1) if full_matrices else u, jnp.abs(lengths) * scale, v.T


def eigh_rule(a, *, lower, sort_eigenvalues, subset_by_index, algorithm):
    if subset_by_index is not None and subset_by_index != (0, a.shape[-1]):
        raise NotImplementedError("eigh of some of the values")
    return eigh(a, lower=lower)


def svd_rule(a, *, full_matrices, compute_uv, subset_by_index, algorithm=None):
    if subset_by_index is not None and subset_by_index != (0, min(a.shape[-2:])):
        raise NotImplementedError("svd of some of the values")
    if not compute_uv:
        return [singular_values(a)]
    u, s, vt = jacobi_svd(a, full_matrices=full_matrices)
    return [s, u, vt]


def geqrf_rule(a):
    return geqrf(a)


def nearest_rule(x, *, k, reduction_dimension, recall_target, is_max_k, reduction_input_size_override, aggregate_to_topk):
    """The k largest or smallest that may miss some: these miss none."""
    if not aggregate_to_topk:
        raise NotImplementedError("approx_max_k of results that are not brought together")
    x = jnp.moveaxis(x, reduction_dimension, -1)
    values, places = lax.sort((-x if is_max_k else x, lax.broadcasted_iota(jnp.int32, x.shape, x.ndim - 1)), num_keys=1)
    values = -values if is_max_k else values
    return [jnp.moveaxis(v[..., :k], -1, reduction_dimension) for v in (values, places)]


def of_many_rows(function, plain, multiple=False):
    """What the compiler writes out up to so many rows, `plain`, is a loop past that."""

    def rule(context, a, *rest, **how):
        kind = context.avals_in[0]
        if kind.shape[-1] <= WRITTEN_OUT or not jnp.issubdtype(kind.dtype, jnp.floating):
            return plain(context, a, *rest, **how)
        return mlir.lower_fun(function, multiple_results=multiple)(context, a, *rest, **how)

    return rule


def register(platform):
    """For programs that are lowered for this platform alone."""
    rules = {
        ann.approx_top_k_p: mlir.lower_fun(nearest_rule, multiple_results=True),
        linalg.eigh_p: mlir.lower_fun(eigh_rule, multiple_results=True),
        linalg.svd_p: mlir.lower_fun(svd_rule, multiple_results=True),
        linalg.geqrf_p: mlir.lower_fun(geqrf_rule, multiple_results=True),
        linalg.lu_p: of_many_rows(lu, mlir.lower_fun(linalg._lu_python, multiple_results=True), True),
        linalg.cholesky_p: of_many_rows(cholesky, linalg._cholesky_lowering),
        linalg.triangular_solve_p: of_many_rows(triangular_solve, linalg._triangular_solve_lowering),
        linalg.householder_product_p: mlir.lower_fun(householder_product, multiple_results=False),
    }
    for primitive, rule in rules.items():
        mlir._platform_specific_lowerings[platform][primitive] = mlir.LoweringRuleEntry(rule, True)
