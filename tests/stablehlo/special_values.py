"""Values of functions of f64 to 25 digits, by mpmath; writes data/special.txt: name, x, value, and data/complex.txt: name,
real and imaginary part of x, the same of the value; and data/zeta.txt: name, both operands, value.

    tests/stablehlo/special_values.py
"""

import math
import random
from pathlib import Path

import mpmath as mp

mp.mp.dps = 60
random.seed(1)


def i1e(x):
    return mp.besseli(1, x) * mp.exp(-abs(x))


def lgamma(x):
    return mp.log(abs(mp.gamma(x))) if x < 0 else mp.loggamma(x)


def zeta(x, q):
    """Hurwitz's, to as many digits where it is small as where it is large."""
    first, a = 60, q + 60
    total, term = sum((q + k) ** -x for k in range(first)) + a ** (1 - x) / (x - 1) + a**-x / 2, x * a ** (-x - 1)
    for j in range(1, 30):
        total += mp.bernoulli(2 * j) / mp.factorial(2 * j) * term
        term *= (x + 2 * j - 1) * (x + 2 * j) / a**2
    return total


def polygamma(n, x):
    return (-1) ** (int(n) + 1) * mp.factorial(n) * zeta(n + 1, x)


def between(low, high, count):
    return [random.uniform(low, high) for _ in range(count)]


def powers(low, high, count):
    return [2.0 ** random.uniform(low, high) for _ in range(count)]


def near(x, count):
    return [x + random.choice([-1, 1]) * 2.0 ** random.uniform(-40, -3) for _ in range(count)]


POSITIVE = between(0, 3, 40) + between(3, 12, 30) + powers(-60, 60, 30) + powers(-900, 900, 10) + near(1, 10) + near(2, 10)
FUNCTIONS = {
    "erfc": (mp.erfc, between(-6, 6, 50) + between(0, 27, 50) + powers(-60, 2, 20)),
    "erf_inv": (mp.erfinv, between(-1, 1, 60) + [1 - p for p in powers(-53, -1, 40)] + powers(-60, 0, 20)),
    "lgamma": (lgamma, POSITIVE + [0.5, 1.5, 2.5, 7.999999, 8.0]),
    "digamma": (mp.digamma, POSITIVE + near(1.4616321449683623, 20) + [0.5, 1.0, 2.0, 10.0]),
    "bessel_i1e": (i1e, between(-8, 8, 60) + between(8, 100, 30) + powers(-60, 12, 30) + [8.0]),
}


COMPLEX = {
    "stablehlo.sqrt": mp.sqrt,
    "stablehlo.rsqrt": lambda z: 1 / mp.sqrt(z),
    "stablehlo.exponential": mp.exp,
    "stablehlo.exponential_minus_one": mp.expm1,
    "stablehlo.log": mp.log,
    "stablehlo.log_plus_one": lambda z: mp.log(1 + z),
    "stablehlo.logistic": lambda z: 1 / (1 + mp.exp(-z)),
    "stablehlo.sign": lambda z: z / abs(z),
    "stablehlo.sine": mp.sin,
    "stablehlo.cosine": mp.cos,
    "stablehlo.tan": mp.tan,
    "stablehlo.tanh": mp.tanh,
    "stablehlo.cbrt": lambda z: mp.exp(mp.log(z) / 3),
    "chlo.sinh": mp.sinh,
    "chlo.cosh": mp.cosh,
    "chlo.asin": mp.asin,
    "chlo.acos": mp.acos,
    "chlo.atan": mp.atan,
    "chlo.asinh": mp.asinh,
    "chlo.acosh": mp.acosh,
    "chlo.atanh": mp.atanh,
}
SMALL = {"exponential", "exponential_minus_one", "logistic", "sine", "cosine", "tan", "tanh", "sinh", "cosh"}


def signed_power(low, high):
    return random.choice([-1, 1]) * 2.0 ** random.uniform(low, high)


def complex_inputs(name):
    far = 6 if name in SMALL else 200
    points = [(random.gauss(0, 2), random.gauss(0, 2)) for _ in range(12)]
    points += [(signed_power(-40, far), signed_power(-40, far)) for _ in range(12)]
    points += [(random.choice([-1, 1]) * near(1, 1)[0], signed_power(-40, 0)) for _ in range(8)]
    angles = between(0, 6.283, 6)
    return points + [(math.cos(a), math.sin(a)) for a in angles]


def main():
    mp.mp.dps = 300  # parts may be 2^-400 of each other
    lines = []
    for name, function in COMPLEX.items():
        for re, im in complex_inputs(name.split(".")[1]):
            value = function(mp.mpc(re, im))
            parts = [mp.nstr(value.real, 25), mp.nstr(value.imag, 25)]
            lines.append(" ".join([name, float(re).hex(), float(im).hex(), *parts]))
    (Path(__file__).parent / "data" / "complex.txt").write_text("\n".join(lines) + "\n")
    mp.mp.dps = 60
    zetas = [(x, q) for x, q in zip(between(1.01, 4, 10) + between(4, 60, 10) + [1 + p for p in powers(-40, -5, 10)], between(0.001, 8, 15) + powers(-20, 40, 15))]
    orders = list(zip([float(random.randint(1, 12)) for _ in range(30)], between(0.01, 20, 20) + powers(-9, 20, 10)))
    pairs = [("chlo.zeta", zeta, zetas), ("chlo.polygamma", polygamma, orders)]
    lines = [f"{name} {x.hex()} {q.hex()} {mp.nstr(function(mp.mpf(x), mp.mpf(q)), 25)}" for name, function, inputs in pairs for x, q in inputs]
    (Path(__file__).parent / "data" / "zeta.txt").write_text("\n".join(lines) + "\n")
    lines = []
    for name, (function, inputs) in FUNCTIONS.items():
        for x in inputs:
            lines.append(f"{name} {float(x).hex()} {mp.nstr(function(mp.mpf(float(x))), 25)}")
    (Path(__file__).parent / "data" / "special.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
