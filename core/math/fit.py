"""The polynomials of core/math: minimax fits in f64, their coefficients rounded to f32 one by one from
the lowest order, the others fitted again after each. Prints them as C with the largest relative error that is left;
2**-24, half an ULP, is 6.0e-8.

    core/math/fit.py
"""

import math

import numpy as np

POINTS = 2000  # even: no point is 0
TURNS = 300


def solve(x, target, weight, powers):
    """Coefficients of the powers with the smallest largest error: least squares, weighted again by the errors (Lawson)."""
    columns = np.stack([x**p for p in powers], axis=1)
    scale = np.max(np.abs(columns), axis=0)
    lawson, best, least = np.ones_like(x), None, np.inf
    for _ in range(TURNS):
        w = weight * np.sqrt(lawson)
        solution = np.linalg.lstsq(columns / scale * w[:, None], target * w, rcond=None)[0]
        error = np.abs((columns / scale @ solution - target) * weight)
        if np.max(error) < least:
            best, least = solution / scale, np.max(error)
        lawson *= error / np.max(error) + 1e-9
        lawson /= np.max(lawson)
    return best


def fit(name, function, weight, low, high, degree):
    """function(x) ~ c0 + c1 x + ...; the error counts times weight(x)."""
    nodes = np.cos(np.linspace(math.pi, 0, POINTS))
    x = (low + high) / 2 + (high - low) / 2 * nodes
    target, weights = function(x), weight(x)
    fixed, done = [], np.zeros_like(x)
    for k in range(degree + 1):
        powers = list(range(k, degree + 1))
        coefficients = solve(x, target - done, weights, powers)
        fixed.append(np.float32(coefficients[0]))
        done = done + float(fixed[-1]) * x**k
    worst = np.max(np.abs((done - target) * weights))
    print(f"// {name} on [{low:.6g}, {high:.6g}]: {worst:.2g}")
    print("{" + ", ".join(f"{float(c):.9e}f" for c in fixed) + "}")


def each(function):
    return lambda x: np.array([function(v) for v in x])


def near_zero(x, closed, series):
    """A quotient whose terms cancel around 0: there its power series."""
    with np.errstate(all="ignore"):
        return np.where(np.abs(x) < 1e-2, sum(c * x**k for k, c in enumerate(series)), closed(x))


def main():
    half = math.log(2) / 2 * 1.0001
    exp_tail = [1 / math.factorial(k + 2) for k in range(8)]
    fit(
        "exp: (e**r - 1 - r) / r**2",
        lambda r: near_zero(r, lambda r: (np.expm1(r) - r) / r**2, exp_tail),
        lambda r: r**2 / np.exp(r),
        -half,
        half,
        4,
    )
    exp2_tail = [math.log(2) ** (k + 1) / math.factorial(k + 1) for k in range(8)]
    fit(
        "exp2: (2**r - 1) / r",
        lambda r: near_zero(r, lambda r: np.expm1(r * math.log(2)) / r, exp2_tail),
        lambda r: np.abs(r) / np.exp2(r),
        -0.5001,
        0.5001,
        5,
    )
    fit(
        "expm1: (e**r - 1 - r) / r**2, of e**r - 1",
        lambda r: near_zero(r, lambda r: (np.expm1(r) - r) / r**2, exp_tail),
        lambda r: np.abs(r**2 / np.expm1(r)),
        -half,
        half,
        4,
    )
    log_tail = [(-1) ** k / (k + 3) for k in range(12)]
    fit(
        "log: (log(1 + f) - f + f**2 / 2) / f**3",
        lambda f: near_zero(f, lambda f: (np.log1p(f) - f + f**2 / 2) / f**3, log_tail),
        lambda f: np.abs(f**3 / np.log1p(f)),
        math.sqrt(0.5) - 1,
        math.sqrt(2) - 1,
        7,
    )
    scale = 2 / math.sqrt(math.pi)
    series = [scale * (-1) ** k / (math.factorial(k) * (2 * k + 1)) - (k == 0) for k in range(6)]
    fit(
        "erf: erf(x) / x - 1 by x**2",
        lambda s: near_zero(s, each(lambda v: math.erf(math.sqrt(v)) / math.sqrt(v) - 1 if v > 0 else 0), series),
        lambda s: near_zero(s, each(lambda v: math.sqrt(v) / math.erf(math.sqrt(v)) if v > 0 else 0), [1 / scale]),
        0,
        0.9216,
        6,
    )
    fit(
        "erf: -log(1 - erf(t))",
        each(lambda t: -math.log(math.erfc(t))),
        each(lambda t: math.erfc(t) / math.erf(t)),
        0.955,
        4.02,
        6,
    )


main()
