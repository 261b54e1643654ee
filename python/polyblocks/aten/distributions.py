"""Functions of distributions: the normal one's quantile, by Cephes' rational functions (Moshier), and the incomplete gamma functions, by
their series and by Lentz's continued fraction (Press et al., Numerical Recipes, 6.2)."""

import math

import torch

from .elements import computed, operand
from .table import row

# Of (p - 1/2)^2, and of 1 over sqrt(-2 log p) below and above 8: numerator and denominator, the highest power first.
MIDDLE = (
    (-59.96335010141079, 98.00107541859997, -56.67628574690703, 13.931260938727968, -1.2391658386738125),
    (1.0, 1.9544885833814176, 4.676279128988815, 86.36024213908905, -225.46268785411937, 200.26021238006066, -82.03722561683334, 15.90562251262117, -1.1833162112133),
)  # fmt: skip
NEAR = (
    (4.0554489230596245, 31.525109459989388, 57.16281922464213, 44.08050738932008, 14.684956192885803, 2.1866330685079025, -0.1402560791713545, -0.03504246268278482, -0.0008574567851546854),
    (1.0, 15.779988325646675, 45.39076351288792, 41.3172038254672, 15.04253856929075, 2.504649462083094, -0.14218292285478779, -0.03808064076915783, -0.0009332594808954574),
)  # fmt: skip
FAR = (
    (3.2377489177694603, 6.915228890689842, 3.9388102529247444, 1.3330346081580755, 0.20148538954917908, 0.012371663481782003, 0.00030158155350823543, 2.6580697468673755e-06, 6.239745391849833e-09),
    (1.0, 6.024270393647420, 3.6798356385616087, 1.3770209948908132, 0.21623699359449663, 0.013420400608854318, 0.00032801446468212774, 2.8924786474538068e-06, 6.790194080099813e-09),
)  # fmt: skip


def rational(b, x, parts):
    made = []
    for coefficients in parts:
        y = b.constant(coefficients[0], x.dtype, x.shape)
        for coefficient in coefficients[1:]:
            y = b.add(b.multiply(y, x), coefficient)
        made.append(y)
    return b.divide(*made)


@row("special_ndtri", "prims.ndtri")
def normal_quantile(b, p, *, made):
    p = b.convert(p, computed(made.dtype))
    above = b.compare("GT", p, 1 - math.exp(-2))
    low = b.select(above, b.subtract(b.constant(1, p.dtype, p.shape), p), p)
    is_middle = b.compare("GT", low, math.exp(-2))
    half = b.subtract(p, 0.5)
    square = b.multiply(half, half)
    middle = b.multiply(b.add(half, b.multiply(half, b.multiply(square, rational(b, square, MIDDLE)))), math.sqrt(2 * math.pi))
    root = b.unary("sqrt", b.multiply(b.unary("log", b.select(is_middle, math.exp(-2), low)), -2))
    inverse = b.divide(b.constant(1, p.dtype, p.shape), root)
    tail = b.select(b.compare("LT", root, 8), rational(b, inverse, NEAR), rational(b, inverse, FAR))
    tail = b.subtract(b.subtract(root, b.divide(b.unary("log", root), root)), b.multiply(inverse, tail))
    y = b.select(is_middle, middle, b.select(above, tail, b.unary("negate", tail)))
    for at, value in ((0, -math.inf), (1, math.inf)):
        y = b.select(b.compare("EQ", p, at), value, y)
    inside = b.binary("and", b.compare("GE", p, 0), b.compare("LE", p, 1))
    return b.convert(b.select(inside, y, math.nan), made.dtype)


MOST = 20000  # terms


def any_of(b, truth):
    return b.reduce("or", truth, list(range(truth.rank)), False)


def by_series(b, a, x):
    """The sum of x^n / ((a + 1) ... (a + n)), which is P(a, x) a exp(x) Gamma(a) / x^a; for x up to a + 1."""
    one = b.constant(1, x.dtype, x.shape)

    def is_left(b, n, term, total):
        worth = b.compare("GT", term, b.multiply(total, torch.finfo(x.dtype).eps))
        return [b.binary("and", b.compare("LT", n, b.constant(MOST, n.dtype)), any_of(b, worth))]

    def step(b, n, term, total):
        n = b.add(n, 1)
        term = b.divide(b.multiply(term, x), b.add(a, b.broadcast(b.convert(n, x.dtype), x.shape, ())))
        return [n, term, b.add(total, term)]

    return b.loop([b.constant(0, torch.int64), one, one], is_left, step)[2]


def by_fraction(b, a, x):
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), which is Q(a, x) exp(x) Gamma(a) / x^a; for x from a + 1 on."""
    one, least = b.constant(1, x.dtype, x.shape), torch.finfo(x.dtype).tiny * 1e10

    def but_zero(b, v):
        return b.select(b.compare("LT", b.unary("abs", v), least), least, v)

    def is_left(b, n, change, *_):
        worth = b.compare("GT", b.unary("abs", b.subtract(change, 1)), torch.finfo(x.dtype).eps * 2)
        return [b.binary("and", b.compare("LT", n, b.constant(MOST, n.dtype)), any_of(b, worth))]

    def step(b, n, change, above, below, total):
        n = b.add(n, 1)
        turn = b.broadcast(b.convert(n, x.dtype), x.shape, ())
        partial = b.multiply(turn, b.subtract(a, turn))
        denominator = b.add(b.add(b.subtract(x, a), b.multiply(turn, 2)), 1)
        below = b.divide(one, but_zero(b, b.add(b.multiply(partial, below), denominator)))
        above = but_zero(b, b.add(denominator, b.divide(partial, above)))
        change = b.multiply(below, above)
        return [n, change, above, below, b.multiply(total, change)]

    first = b.divide(one, but_zero(b, b.add(b.subtract(x, a), 1)))
    first = [b.constant(0, torch.int64), b.constant(2, x.dtype, x.shape), b.constant(1 / least, x.dtype, x.shape), first, first]
    return b.loop(first, is_left, step)[4]


def incomplete_gamma(upper):
    """P(a, x), or Q(a, x) = 1 - P(a, x): in f64, each by what converges there."""

    def function(b, a, x, *, made):
        kind = torch.float64
        a, x = (b.broadcast(operand(b, v, kind), made.shape) for v in (a, x))
        zero, one = (b.constant(v, kind, made.shape) for v in (0, 1))
        usual = b.binary("and", b.binary("and", b.compare("GT", a, 0), b.compare("LT", a, math.inf)), b.binary("and", b.compare("GT", x, 0), b.compare("LT", x, math.inf)))
        p, y = b.select(usual, a, one), b.select(usual, x, one)
        edge = b.add(p, 1)
        is_low, low, high = b.compare("LT", y, edge), b.binary("minimum", y, edge), b.binary("maximum", y, edge)
        factor = b.unary("exponential", b.subtract(b.subtract(b.multiply(p, b.unary("log", y)), y), b.unary("chlo.lgamma", p)))
        lower = b.divide(b.multiply(factor, by_series(b, p, low)), p)
        above = b.multiply(factor, by_fraction(b, p, high))
        kept = b.select(is_low, b.subtract(one, lower), above) if upper else b.select(is_low, lower, b.subtract(one, above))
        none, whole = (one, zero) if upper else (zero, one)
        result = b.select(usual, kept, math.nan)
        for holds, value in (  # PyTorch's, the last one first
            (b.compare("EQ", x, math.inf), whole),
            (b.compare("EQ", a, math.inf), b.select(b.compare("EQ", x, math.inf), math.nan, none)),
            (b.compare("EQ", x, 0), none),
            (b.compare("EQ", a, 0), b.select(b.compare("GT", x, 0), whole, math.nan)),
            (b.binary("or", b.compare("LT", a, 0), b.compare("LT", x, 0)), b.constant(math.nan, kind, made.shape)),
        ):
            result = b.select(holds, value, result)
        return b.convert(result, made.dtype)

    return function


row("igamma", "prims.igamma")(incomplete_gamma(False))
row("igammac", "prims.igammac")(incomplete_gamma(True))
