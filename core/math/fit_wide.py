"""The series of f64 functions, to below a quarter of its last place: Chebyshev's interpolation with 60 decimals, by
mpmath. Writes core/math/wide_series.h and core/s1/scalar/special_series.h.

    core/math/fit_wide.py
"""

from pathlib import Path

import mpmath as mp

mp.mp.dps = 60
CORE = Path(__file__).resolve().parent.parent
LEFT = mp.mpf(2) ** -55  # of the function's least value in the range
LEFT_OF_F32 = mp.mpf(2) ** -26


def chebyshev(function, low, high, left=LEFT):
    """The coefficients of T0, T1, ... on [low, high], as many as count."""
    low, high, count = mp.mpf(low), mp.mpf(high), 64
    nodes = [mp.cos(mp.pi * (k + mp.mpf(1) / 2) / count) for k in range(count)]
    values = [function((low + high) / 2 + (high - low) / 2 * t) for t in nodes]
    series = []
    for j in range(count):
        angles = [mp.cos(mp.pi * j * (k + mp.mpf(1) / 2) / count) for k in range(count)]
        series.append(mp.fsum(v * a for v, a in zip(values, angles)) * (1 if j == 0 else 2) / count)
    least = min(abs(v) for v in values)
    last = max(j for j in range(count) if abs(series[j]) > left * least)
    return series[: last + 1]


def powers(series, low, high):
    """The same as coefficients of 1, x, x^2, ..."""
    slope, middle = 2 / (mp.mpf(high) - low), -(mp.mpf(high) + low) / (mp.mpf(high) - low)
    before, now, total = [mp.mpf(1)], [middle, slope], [mp.mpf(0)] * len(series)
    total[0] = series[0]
    for c in series[1:]:
        for k, value in enumerate(now):
            total[k] += c * value
        after = [2 * middle * v for v in now] + [mp.mpf(0)]
        for k, value in enumerate(now):
            after[k + 1] += 2 * slope * value
        for k, value in enumerate(before):
            after[k] -= value
        before, now = now, after
    return total


def by_t(function, low, high, left=LEFT):
    """Coefficients of 1, t, t^2, ... where t goes from -1 to 1 as x does through the range."""
    return powers(chebyshev(function, low, high, left), -1, 1)


def erfc_scaled(t):
    """erfc(x) = t e^(-x^2) f(t) with t = 2 / (2 + x)."""
    x = 2 / t - 2
    return mp.erfc(x) * mp.exp(x * x) / t


def erf_rest(z):
    """erf(x) = x + x f(x^2)."""
    return mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1


def erf_inv_by(w):
    """erf_inv(x) / x, w = -log(1 - x^2)."""
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x


def i1e(x):
    return mp.besseli(1, x) * mp.exp(-x)


def written(rows):
    out = ["// Made by core/math/fit_wide.py: coefficients of powers, the lowest first, of a number that goes from -1 to 1 as what",
           "// is said does through its range, or of what is said itself where it says no range."]
    for name, says, series in rows:
        out.append(f"// {says}")
        numbers = [float(c).hex() for c in series]
        out.append(f"static const double {name}[{len(numbers)}] = {{{', '.join(numbers)}}};")
    return "\n".join(out) + "\n"


def main():
    zero = mp.findroot(mp.digamma, 1.46)
    near = powers(chebyshev(erf_rest, 0, 1), 0, 1)
    (CORE / "math" / "wide_series.h").write_text(written([
        ("erf_near", "erf(x) / x - 1 by x^2, |x| at most 1", near),
        ("erf_far", "erfc(x) e^(x^2) / t by t = 2 / (2 + x) in [1/4, 2/3]", by_t(erfc_scaled, mp.mpf(1) / 4, mp.mpf(2) / 3)),
    ]))
    (CORE / "s1" / "scalar" / "special_series.h").write_text(written([
        ("erf_near", "erf(x) / x - 1 by x^2, |x| at most 1", near),
        ("erfc_scaled", "erfc(x) e^(x^2) / t by t = 2 / (2 + x) in [1/15, 1]", by_t(erfc_scaled, mp.mpf(1) / 15, 1)),
        ("erf_inv_near", "erf_inv(x) / x by w = -log(1 - x^2) in [0, 5]", by_t(erf_inv_by, 0, 5)),
        ("erf_inv_far", "the same by the root of w in [sqrt(5), 6.01]",
         by_t(lambda r: erf_inv_by(r * r), mp.sqrt(5), mp.mpf(601) / 100)),
        ("erf_inv_near_f32", "of f32: the same in [0, 5]", by_t(erf_inv_by, 0, 5, LEFT_OF_F32)),
        ("erf_inv_far_f32", "and by the root of w in [sqrt(5), 4.08]",
         by_t(lambda r: erf_inv_by(r * r), mp.sqrt(5), mp.mpf(408) / 100, LEFT_OF_F32)),
        ("lgamma_near", "log(Gamma(x)) / ((x - 1) (x - 2)) on [1, 2.5]",
         by_t(lambda x: mp.loggamma(x) / ((x - 1) * (x - 2)), 1, 2.5)),
        ("digamma_near", f"digamma(x) / (x - {mp.nstr(zero, 17)}), its zero, on [1, 2]",
         by_t(lambda x: mp.digamma(x) / (x - zero), 1, 2)),
        ("i1e_near", "e^-x I1(x) / x (1 + x) (1 + x / 8), which is nearly flat, on [0, 8]",
         by_t(lambda x: i1e(x) / x * (1 + x) * (1 + x / 8), 0, 8)),
        ("i1e_far", "e^-x I1(x) sqrt(x) by 8 / x in [0, 1]",
         by_t(lambda u: i1e(8 / u) * mp.sqrt(8 / u) if u > 1e-6 else series_far(u), 0, 1)),
    ]))
    print("zero of digamma", float(zero).hex(), float(zero - mp.mpf(float(zero))).hex())


def series_far(u):
    """The first terms of the asymptotic series of e^-x I1(x) sqrt(2 pi x) in 1 / x, x past 8,000,000."""
    x, term, total = 8 / mp.mpf(u), mp.mpf(1), mp.mpf(1)
    for k in range(1, 8):
        term *= -(4 - (2 * k - 1) ** 2) / (k * 8 * x)
        total += term
    return total / mp.sqrt(2 * mp.pi)


if __name__ == "__main__":
    main()
