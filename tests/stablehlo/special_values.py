"""Values of CHLO's functions of f64 to 25 digits, by mpmath; writes data/special.txt: name, x, value.

    tests/stablehlo/special_values.py
"""

import random
from pathlib import Path

import mpmath as mp

mp.mp.dps = 60
random.seed(1)


def i1e(x):
    return mp.besseli(1, x) * mp.exp(-abs(x))


def lgamma(x):
    return mp.log(abs(mp.gamma(x))) if x < 0 else mp.loggamma(x)


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


def main():
    lines = []
    for name, (function, inputs) in FUNCTIONS.items():
        for x in inputs:
            lines.append(f"{name} {float(x).hex()} {mp.nstr(function(mp.mpf(float(x))), 25)}")
    (Path(__file__).parent / "data" / "special.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
