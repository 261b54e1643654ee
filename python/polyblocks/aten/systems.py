"""Systems of equations and what matrices are products of: Cholesky, LU, QR, eigenvalues, singular values.

Each is written over [many, rows, columns], as loops of whole-matrix steps."""

import math

import torch

from .builder import PART, Unsupported
from .movement import tril, triu
from .table import row


def turned(b, x):
    return b.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


@row("cholesky", "linalg_cholesky_ex")
def cholesky(b, x, upper=False, *, check_errors=False, made):
    several = isinstance(made, list)
    y = tril(b, b.op("cholesky", [x], x.dtype, x.shape, "lower = true"))
    y = turned(b, y) if upper else y
    return [y, b.constant(0, made[1].dtype, made[1].shape)] if several else y


@row("linalg_solve_triangular")
def solve_triangular(b, a, y, *, upper, left=True, unitriangular=False):
    outer = torch.broadcast_shapes(a.shape[:-2], y.shape[:-2])
    a, y = b.broadcast(a, outer + a.shape[-2:]), b.broadcast(y, outer + y.shape[-2:])
    said = [f"left_side = {str(left).lower()}", f"lower = {str(not upper).lower()}", "transpose_a = #stablehlo<transpose NO_TRANSPOSE>"]
    said.append(f"unit_diagonal = {str(unitriangular).lower()}")
    return b.op("triangular_solve", [a, y], y.dtype, y.shape, ", ".join(said))


@row("triangular_solve")
def old_solve_triangular(b, y, a, upper=True, transpose=False, unitriangular=False):
    if transpose:
        a, upper = turned(b, a), not upper
    return [solve_triangular(b, a, y, upper=upper, unitriangular=unitriangular), a]


@row("cholesky_solve")
def cholesky_solve(b, y, factor, upper=False):
    lower, higher = (turned(b, factor), factor) if upper else (factor, turned(b, factor))
    return solve_triangular(b, higher, solve_triangular(b, lower, y, upper=False), upper=True)


@row("cholesky_inverse")
def cholesky_inverse(b, factor, upper=False):
    return cholesky_solve(b, b.convert(diagonal(b, factor.shape), factor.dtype), factor, upper)


def flat(b, x):
    """As many matrices in a row."""
    if x.dtype in PART:
        raise Unsupported("of complex numbers")
    return b.reshape(x, (math.prod(x.shape[:-2]), *x.shape[-2:]))


def spread(b, x, shape, *dims):
    return b.broadcast(x, shape, dims)


def total(b, x, *dims):
    return b.reduce("add", x, dims, 0)


def chosen(b, mask, x, *dims):
    """What stands where the mask is, of which there is one along the dims."""
    return total(b, b.select(mask, x, b.constant(0, x.dtype, x.shape)), *dims)


def diagonal(b, shape):
    return b.compare("EQ", b.iota(shape, len(shape) - 2), b.iota(shape, len(shape) - 1))


def identity(b, dtype, many, n):
    return b.convert(diagonal(b, (many, n, n)), dtype)


# ---- LU, with the largest of a column as its pivot ----


def exchange(b, x, other, at):
    """x with row `at` (a number) and the row of each matrix that the mask `other` has exchanged, and the row that came to `at`."""
    many, m, *rest = x.shape
    here = [None, at] + [None] * len(rest)
    mask = spread(b, other, x.shape, 0, 1)
    row_at, row_other = b.part(x, here, (many, 1, *rest)), chosen(b, mask, x, 1)
    x = b.select(mask, b.broadcast(row_at, x.shape), x)
    return b.put(x, b.reshape(row_other, (many, 1, *rest)), here), row_other


def lu(b, a):
    """L below the diagonal and U in one, the order of rows, pivots from 1, and the first pivot that is 0 (0: none)."""
    many, m, n = a.shape
    k = min(m, n)

    def step(b, j, a, order, pivots, info):
        rows, at = b.iota((many, m), 1), b.broadcast(j, (many, m), ())
        column = b.reshape(b.part(a, [None, None, j], (many, m, 1)), (many, m))
        size = b.unary("abs", column)
        size = b.select(b.compare("NE", size, size), b.constant(math.inf, a.dtype, size.shape), size)
        size = b.select(b.compare("GE", rows, at), size, b.constant(-1, a.dtype, size.shape))
        largest = spread(b, b.reduce("maximum", size, (1,), -math.inf), size.shape, 0)
        place = b.reduce("minimum", b.select(b.compare("EQ", size, largest), rows, b.constant(m, rows.dtype, rows.shape)), (1,), m)
        other = b.compare("EQ", rows, spread(b, place, rows.shape, 0))
        a, top = exchange(b, a, other, j)
        order, _ = exchange(b, order, other, j)
        pivots = b.put(pivots, b.reshape(b.convert(b.add(place, 1), torch.int32), (many, 1)), [None, j])
        columns = b.iota((many, n), 1)
        pivot = chosen(b, b.compare("EQ", columns, b.broadcast(j, columns.shape, ())), top, 1)
        is_zero = b.compare("EQ", pivot, 0)
        first = b.binary("and", is_zero, b.compare("EQ", info, 0))
        info = b.select(first, b.broadcast(b.convert(b.add(j, 1), torch.int32), info.shape, ()), info)
        column = b.reshape(b.part(a, [None, None, j], (many, m, 1)), (many, m))
        factor = b.divide(column, spread(b, b.select(is_zero, b.constant(1, a.dtype, pivot.shape), pivot), column.shape, 0))
        below = b.compare("GT", rows, at)
        inside = b.binary("and", spread(b, below, a.shape, 0, 1), b.compare("GT", b.iota(a.shape, 2), b.broadcast(j, a.shape, ())))
        less = b.subtract(a, b.multiply(spread(b, factor, a.shape, 0, 1), spread(b, top, a.shape, 0, 2)))
        a = b.select(inside, less, a)
        a = b.put(a, b.reshape(b.select(below, factor, column), (many, m, 1)), [None, None, j])
        return [a, order, pivots, info]

    first = [a, b.iota((many, m), 1), b.constant(0, torch.int32, (many, k)), b.constant(0, torch.int32, (many,))]
    return b.turns(k, first, step)


def in_order(b, y, order):
    """Rows of y, of each matrix those that `order` says."""
    many, m = order.shape
    places = [b.reshape(v, (many, m, 1)) for v in (b.iota((many, m), 0), order)]
    return b.gather(y, b.concatenate(places, 2), [2], [0, 1], [0, 1], (1, 1, y.shape[2]))


def order_of(b, pivots, m):
    """The order of rows that exchanges by pivots give."""
    many, k = pivots.shape

    def step(b, j, order):
        place = b.subtract(b.convert(b.part(pivots, [None, j], (many, 1)), torch.int64), 1)
        return [exchange(b, order, b.compare("EQ", b.iota((many, m), 1), b.broadcast(place, (many, m))), j)[0]]

    return b.turns(k, [b.iota((many, m), 1)], step)[0]


def inverse_order(b, order):
    """Where each row has gone."""
    many, m = order.shape
    mask = b.compare("EQ", spread(b, order, (many, m, m), 0, 1), b.iota((many, m, m), 2))
    return chosen(b, mask, b.iota((many, m, m), 1), 1)


def solved_by(b, packed, order, y):
    return solve_triangular(b, packed, solve_triangular(b, packed, in_order(b, y, order), upper=False, unitriangular=True), upper=True)


def solved_turned_by(b, packed, order, y):
    """Of the matrix turned over."""
    y = solve_triangular(b, turned(b, packed), y, upper=False)
    y = solve_triangular(b, turned(b, packed), y, upper=True, unitriangular=True)
    return in_order(b, y, inverse_order(b, order))


def outer_of(b, x, outer):
    return flat(b, b.broadcast(x, tuple(outer) + x.shape[-2:]))


@row("_linalg_solve_ex")
def solve(b, a, y, *, left=True, check_errors=False, made):
    is_vector = y.rank == 1 or (a.rank - 1 == y.rank and y.shape == a.shape[:-1])
    y = b.reshape(y, (*y.shape, 1)) if is_vector else y
    packed, order, pivots, info = lu(b, flat(b, a))
    outer = torch.broadcast_shapes(a.shape[:-2], y.shape[:-2])
    many = math.prod(outer)
    y = outer_of(b, y, outer)
    if many != packed.shape[0]:
        n = a.shape[-1]
        wide = outer_of(b, b.reshape(packed, a.shape), outer)
        order_wide = b.reshape(b.broadcast(b.reshape(order, (*a.shape[:-2], n)), (*outer, n)), (many, n))
    else:
        wide, order_wide = packed, order
    x = solved_by(b, wide, order_wide, y) if left else turned(b, solved_turned_by(b, wide, order_wide, turned(b, y)))
    return [b.reshape(v, m.shape) for v, m in zip((x, packed, pivots, info), made)]


@row("linalg_inv_ex")
def inverse(b, a, *, check_errors=False, made):
    x = flat(b, a)
    packed, order, _, info = lu(b, x)
    y = solved_by(b, packed, order, identity(b, x.dtype, x.shape[0], x.shape[1]))
    return [b.reshape(y, made[0].shape), b.reshape(info, made[1].shape)]


@row("linalg_lu_factor_ex")
def lu_factor(b, a, *, pivot=True, check_errors=False, made):
    if not pivot:
        raise Unsupported("without pivots")
    packed, _, pivots, info = lu(b, flat(b, a))
    return [b.reshape(v, m.shape) for v, m in zip((packed, pivots, info), made)]


def unpacked(b, packed, order, made):
    many, m, n = packed.shape
    k = min(m, n)
    p = b.convert(b.compare("EQ", spread(b, order, (many, m, m), 0, 2), b.iota((many, m, m), 1)), packed.dtype)
    lower = b.along(tril(b, packed, -1), 2, 0, k)
    lower = b.add(lower, b.convert(diagonal(b, lower.shape), lower.dtype))
    upper = b.along(triu(b, packed), 1, 0, k)
    return [b.constant(0, m.dtype, m.shape) if 0 in m.shape else b.reshape(v, m.shape) for v, m in zip((p, lower, upper), made)]


@row("linalg_lu")
def lu_of(b, a, *, pivot=True, made):
    if not pivot:
        raise Unsupported("without pivots")
    packed, order, _, _ = lu(b, flat(b, a))
    return unpacked(b, packed, order, made)


@row("lu_unpack")
def lu_unpack(b, packed, pivots, unpack_data=True, unpack_pivots=True, *, made):
    m = packed.shape[-2]
    packed, pivots = flat(b, packed), b.reshape(pivots, (math.prod(pivots.shape[:-1]), pivots.shape[-1]))
    return unpacked(b, packed, order_of(b, pivots, m), made)


@row("linalg_lu_solve")
def lu_solve(b, packed, pivots, y, *, left=True, adjoint=False, made):
    n = packed.shape[-1]
    outer = torch.broadcast_shapes(packed.shape[:-2], y.shape[:-2])
    pivots = b.reshape(b.broadcast(pivots, (*outer, n)), (math.prod(outer), n))
    packed, y, order = outer_of(b, packed, outer), outer_of(b, y, outer), order_of(b, pivots, n)
    y = y if left else turned(b, y)
    x = solved_turned_by(b, packed, order, y) if adjoint == left else solved_by(b, packed, order, y)
    return b.reshape(x if left else turned(b, x), made.shape)


def sign_and_pivots(b, a):
    packed, _, pivots, _ = lu(b, flat(b, a))
    moved = b.compare("NE", pivots, b.add(b.iota(pivots.shape, 1, torch.int32), 1))
    odd = b.binary("and", total(b, b.convert(moved, torch.int32), 1), 1)
    sign = b.convert(b.subtract(b.constant(1, torch.int32, odd.shape), b.multiply(odd, 2)), a.dtype)
    return packed, pivots, sign, chosen(b, diagonal(b, packed.shape), packed, 2)


@row("_linalg_det")
def determinant(b, a, *, made):
    packed, pivots, sign, steps = sign_and_pivots(b, a)
    result = b.multiply(sign, b.reduce("multiply", steps, (1,), 1))
    return [b.reshape(v, m.shape) for v, m in zip((result, packed, pivots), made)]


@row("_linalg_slogdet")
def log_determinant(b, a, *, made):
    packed, pivots, sign, steps = sign_and_pivots(b, a)
    sign = b.multiply(sign, b.reduce("multiply", b.unary("sign", steps), (1,), 1))
    size = total(b, b.unary("log", b.unary("abs", steps)), 1)
    return [b.reshape(v, m.shape) for v, m in zip((sign, size, packed, pivots), made)]


# ---- QR, by Householder's reflections ----


def reflected(b, x, v, by, contract):
    """x less what v reflects of it: of its columns (contract 1) or rows (2)."""
    w = b.dot(x, v, ((contract,), (1,)), ((0,), (0,)))
    v, w = b.multiply(v, spread(b, by, v.shape, 0)), w
    v, w = (v, w) if contract == 1 else (w, v)
    return b.subtract(x, b.multiply(spread(b, v, x.shape, 0, 1), spread(b, w, x.shape, 0, 2)))


def qr(b, a):
    """Q of all columns, and R with as many rows as a."""
    many, m, n = a.shape

    def step(b, j, a, q):
        rows, at = b.iota((many, m), 1), b.broadcast(j, (many, m), ())
        column = b.reshape(b.part(a, [None, None, j], (many, m, 1)), (many, m))
        zero, one = b.constant(0, a.dtype, column.shape), b.constant(1, a.dtype, (many,))
        tail = b.select(b.compare("GT", rows, at), column, zero)
        head = chosen(b, b.compare("EQ", rows, at), column, 1)
        x = b.select(b.compare("GE", rows, at), column, zero)
        scale = b.reduce("maximum", b.unary("abs", x), (1,), 0)
        is_done = b.compare("EQ", b.reduce("maximum", b.unary("abs", tail), (1,), 0), 0)
        scale = b.select(b.compare("EQ", scale, 0), one, scale)
        x, head = b.divide(x, spread(b, scale, x.shape, 0)), b.divide(head, scale)
        length = b.unary("sqrt", total(b, b.multiply(x, x), 1))
        length = b.select(b.compare("GE", head, 0), b.unary("negate", length), length)
        v = b.subtract(x, b.select(b.compare("EQ", rows, at), spread(b, length, x.shape, 0), zero))
        square = total(b, b.multiply(v, v), 1)
        by = b.select(is_done, b.constant(0, a.dtype, (many,)), b.divide(b.constant(2, a.dtype, (many,)), b.select(is_done, one, square)))
        return [reflected(b, a, v, by, 1), reflected(b, q, v, by, 2)]

    r, q = b.turns(min(m, n), [a, identity(b, a.dtype, many, m)], step)
    return q, triu(b, r)


@row("linalg_qr")
def qr_of(b, a, mode="reduced", *, made):
    q, r = qr(b, flat(b, a))
    if mode != "complete":
        k = min(a.shape[-2:])
        q, r = b.along(q, 2, 0, k), b.along(r, 1, 0, k)
    q = b.constant(0, made[0].dtype, made[0].shape) if mode == "r" else b.reshape(q, made[0].shape)
    return [q, b.reshape(r, made[1].shape)]


@row("linalg_householder_product")
def householder_product(b, a, factors):
    """The first columns of the reflections' product, the last of which comes first."""
    x, k = flat(b, a), factors.shape[-1]
    many, m, n = x.shape
    factors = b.reshape(factors, (many, k))

    def step(b, i, q):
        j = b.subtract(b.constant(k - 1, i.dtype), i)
        rows, at = b.iota((many, m), 1), b.broadcast(j, (many, m), ())
        v = b.reshape(b.part(x, [None, None, j], (many, m, 1)), (many, m))
        v = b.select(b.compare("GT", rows, at), v, b.convert(b.compare("EQ", rows, at), x.dtype))
        return [reflected(b, q, v, b.reshape(b.part(factors, [None, j], (many, 1)), (many,)), 1)]

    first = b.along(identity(b, x.dtype, many, m), 2, 0, n)
    return b.reshape(b.turns(k, [first], step)[0], a.shape)


# ---- eigenvalues and singular values, by Jacobi's rotations: half as many at once as there are rows ----


def partners(b, turn, n):
    """With whom each of n (even) meets in a turn, of n - 1: all of the others once."""
    j, last = b.iota((n,), 0), b.constant(n - 1, torch.int64, (n,))
    turn = b.broadcast(turn, (n,), ())
    other = b.binary("remainder", b.add(b.subtract(b.multiply(turn, 2), j), 2 * n - 2), last)
    other = b.select(b.compare("EQ", other, j), last, other)
    return b.select(b.compare("EQ", j, last), turn, other)


def taken(b, x, places, dim):
    sizes = [1 if d == dim else n for d, n in enumerate(x.shape)]
    return b.gather(x, b.reshape(places, (*places.shape, 1)), [d for d in range(x.rank) if d != dim], [dim], [dim], sizes)


def rotation(b, own, mixed, other):
    """Cosine and sine for each of [many, n] that make `mixed`, of it and its partner, 0. own: what stands on the diagonal."""
    n = own.shape[1]
    theirs = taken(b, own, other, 1)
    is_low = spread(b, b.compare("LT", b.iota((n,), 0), other), own.shape, 1)
    one, nothing = b.constant(1, own.dtype, own.shape), b.compare("EQ", mixed, 0)
    apart = b.select(is_low, b.subtract(theirs, own), b.subtract(own, theirs))
    ratio = b.divide(apart, b.select(nothing, one, b.multiply(mixed, 2)))
    root = b.unary("sqrt", b.add(b.multiply(ratio, ratio), 1))
    tangent = b.divide(b.select(b.compare("GE", ratio, 0), one, b.unary("negate", one)), b.add(b.unary("abs", ratio), root))
    tangent = b.select(nothing, b.constant(0, own.dtype, own.shape), tangent)
    cosine = b.divide(one, b.unary("sqrt", b.add(b.multiply(tangent, tangent), 1)))
    sine = b.multiply(tangent, cosine)
    return cosine, b.select(is_low, b.unary("negate", sine), sine)


def rotated(b, x, cosine, sine, other, dim):
    kept, come = spread(b, cosine, x.shape, 0, dim), spread(b, sine, x.shape, 0, dim)
    return b.add(b.multiply(x, kept), b.multiply(taken(b, x, other, dim), come))


def sweeps(b, x, v, turn, far):
    """Turns of all with all until `far`, of what has been rotated, is within rounding, thirty times at most."""
    n = v.shape[2]

    def holds(b, count, worst, *_):
        return b.binary("and", b.compare("LT", count, 30), b.compare("GT", worst, b.constant(torch.finfo(x.dtype).eps, x.dtype)))

    def step(b, count, worst, x, v):
        x, v = b.turns(n - 1, [x, v], turn)
        return [b.add(count, 1), far(b, x), x, v]

    return b.loop([b.constant(0, torch.int64), b.constant(1, x.dtype), x, v], holds, step)[2:]


def by_size(b, values, columns, descending):
    """Values in order, and columns of a matrix in theirs."""
    many, n = values.shape
    shape = (many, n, n)
    mine, theirs = spread(b, values, shape, 0, 2), spread(b, values, shape, 0, 1)
    first = b.compare("GT" if descending else "LT", theirs, mine)
    earlier = b.binary("and", b.compare("EQ", theirs, mine), b.compare("LT", b.iota(shape, 1), b.iota(shape, 2)))
    rank = total(b, b.convert(b.binary("or", first, earlier), torch.int64), 1)
    moves = b.compare("EQ", spread(b, rank, shape, 0, 1), b.iota(shape, 2))
    to = b.convert(moves, values.dtype)
    return chosen(b, moves, theirs, 1), [b.dot(c, to, ((2,), (1,)), ((0,), (0,))) for c in columns]


def even(b, x, dims):
    """With a row or column of zeros where there is an odd number, which nothing is mixed with."""
    high = [n % 2 if d in dims else 0 for d, n in enumerate(x.shape)]
    return b.pad(x, [0] * x.rank, high)


def scaled(b, a):
    """Matrices whose largest elements are 1, and what they were divided by."""
    scale = b.reduce("maximum", b.unary("abs", a), (1, 2), 0)
    scale = b.select(b.compare("EQ", scale, 0), b.constant(1, a.dtype, scale.shape), scale)
    return b.divide(a, spread(b, scale, a.shape, 0)), scale


def symmetric_eigen(b, a):
    many, n, _ = a.shape

    def turn(b, k, a, v):
        other = partners(b, k, a.shape[1])
        own = chosen(b, diagonal(b, a.shape), a, 2)
        met = b.compare("EQ", b.iota(a.shape, 2), spread(b, other, a.shape, 1))
        cosine, sine = rotation(b, own, chosen(b, met, a, 2), other)
        a = rotated(b, rotated(b, a, cosine, sine, other, 1), cosine, sine, other, 2)
        return [b.select(met, b.constant(0, a.dtype, a.shape), a), rotated(b, v, cosine, sine, other, 2)]

    def far(b, a):
        square = b.multiply(a, a)
        whole = total(b, square, 1, 2)
        off = total(b, b.select(diagonal(b, a.shape), b.constant(0, a.dtype, a.shape), square), 1, 2)
        ratio = b.divide(off, b.select(b.compare("EQ", whole, 0), b.constant(1, a.dtype, whole.shape), whole))
        return b.unary("sqrt", b.reduce("maximum", ratio, (0,), 0))

    a, scale = scaled(b, a)
    if n > 1:
        a = even(b, a, (1, 2))
        a, v = sweeps(b, a, identity(b, a.dtype, many, a.shape[1]), turn, far)
        a, v = b.slice(a, (0, 0, 0), (many, n, n)), b.slice(v, (0, 0, 0), (many, n, n))
    else:
        v = b.constant(1, a.dtype, a.shape)
    own = chosen(b, diagonal(b, a.shape), a, 2)
    return b.multiply(own, spread(b, scale, own.shape, 0)), v


@row("_linalg_eigh")
def eigh(b, a, uplo="L", compute_v=True, *, made):
    x = flat(b, a)
    upper = uplo.upper() == "U"
    half, beside = (triu(b, x), triu(b, x, 1)) if upper else (tril(b, x), tril(b, x, -1))
    x = b.add(half, turned(b, beside))
    values, v = symmetric_eigen(b, x)
    values, (v,) = by_size(b, values, [v], False)
    v = b.reshape(v, made[1].shape) if compute_v else b.constant(0, made[1].dtype, made[1].shape)
    return [b.reshape(values, made[0].shape), v]


def square_singular(b, a):
    """U, the singular values and V of square matrices."""
    many, n, _ = a.shape

    def cosines(b, a, other):
        """Squares of columns' lengths, the products of partners, and where those are more than rounding."""
        own = total(b, b.multiply(a, a), 1)
        mixed = total(b, b.multiply(a, taken(b, a, other, 2)), 1)
        most = b.multiply(b.unary("sqrt", own), b.unary("sqrt", taken(b, own, other, 1)))
        return own, mixed, b.compare("GT", b.unary("abs", mixed), b.multiply(most, torch.finfo(a.dtype).eps))

    def turn(b, k, a, v):
        other = partners(b, k, a.shape[2])
        own, mixed, counts = cosines(b, a, other)
        cosine, sine = rotation(b, own, b.select(counts, mixed, b.constant(0, mixed.dtype, mixed.shape)), other)
        return [rotated(b, a, cosine, sine, other, 2), rotated(b, v, cosine, sine, other, 2)]

    def far(b, a):
        """The largest cosine of the angle of two columns."""
        lengths = b.unary("sqrt", total(b, b.multiply(a, a), 1))
        products = b.unary("abs", b.dot(a, a, ((1,), (1,)), ((0,), (0,))))
        most = b.multiply(spread(b, lengths, products.shape, 0, 1), spread(b, lengths, products.shape, 0, 2))
        left_out = b.binary("or", diagonal(b, products.shape), b.compare("LE", most, torch.finfo(a.dtype).tiny))
        one, zero = b.constant(1, a.dtype, most.shape), b.constant(0, a.dtype, most.shape)
        cosine = b.select(left_out, zero, b.divide(products, b.select(left_out, one, most)))
        return b.multiply(b.reduce("maximum", cosine, (0, 1, 2), 0), 1 / (2 * n))

    a, scale = scaled(b, a)
    v = b.constant(1, a.dtype, a.shape)
    if n > 1:
        a = even(b, a, (2,))
        a, v = sweeps(b, a, identity(b, a.dtype, many, a.shape[2]), turn, far)
        a, v = b.along(a, 2, 0, n), b.slice(v, (0, 0, 0), (many, n, n))
    lengths = b.unary("sqrt", total(b, b.multiply(a, a), 1))
    values, (a, v) = by_size(b, lengths, [a, v], True)
    u, r = qr(b, a)
    ends = chosen(b, diagonal(b, r.shape), r, 2)
    one = b.constant(1, a.dtype, ends.shape)
    signs = b.select(b.compare("LT", ends, 0), b.unary("negate", one), one)
    return b.multiply(u, spread(b, signs, u.shape, 0, 2)), b.multiply(values, spread(b, scale, values.shape, 0)), v


def singular(b, a, full):
    """U, the singular values and V, of more rows than columns by way of R."""
    many, m, n = a.shape
    if m < n:
        v, values, u = singular(b, turned(b, a), full)
        return u, values, v
    if m == n:
        return square_singular(b, a)
    q, r = qr(b, a)
    u, values, v = square_singular(b, b.along(r, 1, 0, n))
    left = b.dot(b.along(q, 2, 0, n), u, ((2,), (1,)), ((0,), (0,)))
    return b.concatenate([left, b.along(q, 2, n, m)], 2) if full else left, values, v


@row("_linalg_svd")
def svd(b, a, full_matrices=False, compute_uv=True, *, driver=None, made):
    u, values, v = singular(b, flat(b, a), full_matrices)
    if not compute_uv:
        return [b.constant(0, made[0].dtype, made[0].shape), b.reshape(values, made[1].shape), b.constant(0, made[2].dtype, made[2].shape)]
    return [b.reshape(u, made[0].shape), b.reshape(values, made[1].shape), b.reshape(turned(b, v), made[2].shape)]
