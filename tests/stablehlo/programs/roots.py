"""Divisions by roots, in lanes, of which a processor estimates x / (s * sqrt(s)): against NumPy in f64, a few ulp, for numbers of all
sizes; and for those that no estimate is good for (0, infinity, NaN, below 0, below the least normal number, near the largest) what
division and root say. Rows with one of these among others, and lengths around whole rows of lanes.

    tests/stablehlo/programs/roots.py --bin build/bin"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402

MOST_ULP = 3
ODD = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1e-45, 1e-40, 2.0**-126, 2.0**-41, 2.0**-40, 2.0**39.5, 2.0**40, 1e30, 3e38]
KINDS = {
    "over a root": ("%r = stablehlo.sqrt %s : T\n%y = stablehlo.divide %x, %r : T", lambda x, s: x / np.sqrt(s)),
    "a root below 1": ("%r = stablehlo.rsqrt %s : T\n%y = stablehlo.multiply %x, %r : T", lambda x, s: x * (1 / np.sqrt(s))),
    "over number and root": ("%r = stablehlo.sqrt %s : T\n%d = stablehlo.multiply %s, %r : T\n%y = stablehlo.divide %x, %d : T",
                             lambda x, s: x / (s * np.sqrt(s))),
}


def numbers(rng, count, odd):
    s = np.exp2(rng.uniform(-39, 39, count)).astype(np.float32)
    x = (rng.choice([-1, 1], count) * np.exp2(rng.uniform(-30, 30, count))).astype(np.float32)
    if odd:
        at = rng.integers(0, count, len(ODD))
        s[at] = ODD
        x[rng.integers(0, count, len(ODD))] = ODD
    return x, s


def is_right(y, x, s, of):
    """Within ulp of f64's; or as f32's own operations have it, where these leave the normal numbers."""
    with np.errstate(all="ignore"):
        want, rounded = of(x.astype(np.float64), s.astype(np.float64)), of(x, s)
        near = np.abs(y - want) <= MOST_ULP * np.spacing(np.maximum(np.abs(want), 2.0**-126).astype(np.float32)).astype(np.float64)
    return bool(np.all(near | (y == rounded) | (np.isnan(y) & np.isnan(rounded))))


def cases(bench):
    rng = np.random.default_rng(7)
    for name, (text, of) in KINDS.items():
        for shape in (1,), (15,), (16,), (17,), (33,), (1000,), (65, 79), (40, 257):
            for odd in (False, True):
                x, s = (a.reshape(shape) for a in numbers(rng, int(np.prod(shape)), odd))
                kind = "tensor<" + "".join(f"{n}x" for n in shape) + "f32>"
                body = text.replace("T", kind)
                y = bench.run(f"func.func @main(%x: {kind}, %s: {kind}) -> {kind} {{\n{body}\nreturn %y : {kind}\n}}\n", x, s)
                bench.say(is_right(y, x, s, of), f"{name}, {shape}{', odd ones' if odd else ''}")


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases))
