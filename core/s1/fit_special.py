"""The Chebyshev series of core/s1/special.c, interpolated at Chebyshev's points; prints them as C with the largest
relative error that is left.

    core/s1/fit_special.py
"""

import math

import numpy as np
from numpy.polynomial import chebyshev


def fit(name, function, low, high, degree):
    count = 4 * degree
    nodes = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    values = np.array([function((low + high) / 2 + (high - low) / 2 * k) for k in nodes])
    series = chebyshev.chebfit(nodes, values, degree)
    check = np.linspace(-1, 1, 2001)
    exact = np.array([function((low + high) / 2 + (high - low) / 2 * k) for k in check])
    worst = np.max(np.abs(chebyshev.chebval(check, series) / exact - 1))
    print(f"// {worst:.2g}\nstatic const double {name}[] = {{{', '.join(f'{c:.16g}' for c in series)}}};")


def erfc_scaled(t):
    """erfc(x) = t e^(-x^2) f(t) with t = 2 / (2 + x)."""
    x = 2 / t - 2
    return math.exp(math.log(math.erfc(x)) + x * x) / t


def inverse_of_erf(x, rest):
    """By Halley's iteration; rest = 1 - x."""
    y = 0.5 if x < 0.9 else math.sqrt(max(1e-3, -math.log(rest))) * 0.9
    for _ in range(60):
        away = math.erf(y) - x if x < 0.5 else rest - math.erfc(y)
        step = away / (2 / math.sqrt(math.pi) * math.exp(-y * y))
        step /= 1 + step * y
        y -= step
        if abs(step) < 1e-16 * abs(y):
            break
    return y


def erf_inv_by(w):
    """erf_inv(x) / x, w = -log(1 - x^2)."""
    x = math.sqrt(-math.expm1(-w))
    return inverse_of_erf(x, math.exp(-w) / (1 + x)) / x if x > 1e-8 else math.sqrt(math.pi) / 2


def i1e(x):
    """e^-x I1(x), by its integral."""
    count = max(200, int(40 * math.sqrt(x + 1)))
    angle = np.pi * (np.arange(count) + 0.5) / count
    return float(np.mean(np.exp(x * (np.cos(angle) - 1)) * np.cos(angle)))


fit("erfc_scaled", erfc_scaled, 2 / 15, 1, 24)
fit("erf_inv_near", erf_inv_by, 0, 5, 16)
fit("erf_inv_far", lambda r: erf_inv_by(r * r), math.sqrt(5), math.sqrt(18.5), 16)
fit("i1e_near", lambda x: i1e(x) / x if x > 1e-3 else 0.5 * math.exp(-x) * (1 + x * x / 8), 0, 8, 24)
fit("i1e_far", lambda u: i1e(8 / u) * math.sqrt(8 / u), 1e-4, 1, 18)
