"""The functions of core/math as native code, against f64: their largest error in ULP of f32 (of the exact result's
binade; 2**-149 below the normal numbers) may not be more than the table says, and infinities, zeros with their sign and
NaN are where they belong.

    ulp.py --bin BUILD/bin [--target cpu:v3,cpu:avx512] [--stride 1021 [--first 0]] [--only exp]

Inputs are every stride-th of the 2**32 patterns of bits (1: all of them, about an hour) and the neighbourhood of special
values. Of targets that this processor cannot run nothing is measured. --first 0 to 15 of --stride 16 together are all of them too.
"""

import argparse
import math
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402

BLOCK = 1 << 22
LARGEST = float(np.finfo(np.float32).max)
REFERENCES = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log1p": np.log1p,
    "tanh": np.tanh,
    "erf": lambda x: np.frompyfunc(math.erf, 1, 1)(x).astype(np.float64),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "atan": np.arctan,
    "cbrt": np.cbrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}


def special_values():
    """Around zero, one, the ends of the subnormal and normal numbers, and where functions change their branch."""
    anchors = [0, 1e-45, 1.17549435e-38, 3.4028235e38, np.inf, np.nan, 0.5, 1, 2, 0.34657359, 0.70710678, 1.41421356]
    anchors += [88.722839, 87.33654, 103.97208, 128, 126, 149, 150, 0.9575, 4, 3.92, 9.01, 10, 17.3, 18, 16777216]
    bits = np.array(anchors, np.float32).view(np.uint32).astype(np.int64)
    near = (bits[:, None] + np.arange(-2000, 2001)).ravel() % (1 << 31)
    return np.concatenate([near, near + (1 << 31)]).astype(np.uint32)


def error(actual, exact):
    """In ULP, element by element; infinite where the class of number is another."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        unit = np.exp2(np.maximum(np.floor(np.log2(np.abs(exact))), -126) - 23)
        ulp = np.abs(actual.astype(np.float64) - exact) / np.where(np.isfinite(unit) & (unit > 0), unit, 2.0**-149)
    # Past the largest number an infinity is as near as that number.
    ulp = np.where(np.isinf(actual) & (np.abs(exact) > LARGEST) & (np.sign(actual) == np.sign(exact)), 0, ulp)
    ulp = np.where(np.isinf(actual) & np.isfinite(rounded), np.inf, ulp)
    ulp = np.where(np.isnan(actual) != np.isnan(exact), np.inf, np.where(np.isnan(exact), 0, ulp))
    return np.where((exact == 0) & ((actual != 0) | (np.signbit(actual) != np.signbit(exact))), np.inf, ulp)


def worst_of(bin_dir, engines, folder, names, bits, worst):
    """Runs the engines on the patterns and keeps for each engine and function the largest error and where it is."""
    x = np.zeros(BLOCK, np.float32)
    x[: len(bits)] = bits.view(np.float32)
    path = os.path.join(folder, "x.npy")
    np.save(path, x)
    for target, engine in engines.items():
        outputs = [f"--output={name}={os.path.join(folder, target + name)}.npy" for name in names]
        tools.run([os.path.join(bin_dir, "pb-run"), engine, "--device=native", "--threads=2", "--input", path, *outputs])
    for name in names:
        with np.errstate(all="ignore"):
            exact = REFERENCES[name](x.astype(np.float64))
        known = []  # results that are as those of another engine
        for target in engines:
            y = np.load(os.path.join(folder, target + name) + ".npy")
            told = next((ulp for other, ulp in known if np.array_equal(other.view(np.uint32), y.view(np.uint32))), None)
            ulp = error(y, exact) if told is None else told
            known.append((y, ulp))
            at = int(np.argmax(ulp))
            if ulp[at] >= worst[target, name][0]:
                worst[target, name] = (float(ulp[at]), float(x[at]), float(y[at]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--stride", type=int, default=1021)
    parser.add_argument("--first", type=int, default=0, help="the pattern to begin with, below the stride")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    targets = args.target.split(",")
    tools.skip_without(args.bin, *targets)
    targets = [target for target in targets if tools.runs_here(args.bin, target)]
    with tempfile.TemporaryDirectory() as folder:
        engines = {target: os.path.join(folder, f"functions{k}.pbe") for k, target in enumerate(targets)}
        for target, engine in engines.items():
            printed = tools.run([os.path.join(args.bin, "functions"), str(BLOCK), target, engine])
        stated = {name: float(ulp) for name, ulp in (line.split() for line in printed.splitlines())}
        if set(stated) != set(REFERENCES):
            print("the table's functions are others than those with a reference")
            return 1
        names = [name for name in stated if args.only in name]
        worst = {(target, name): (-1.0, 0.0, 0.0) for target in engines for name in names}
        worst_of(args.bin, engines, folder, names, special_values(), worst)
        count = -(-((1 << 32) - args.first) // args.stride)
        for first in range(0, count, BLOCK):
            bits = np.arange(first, min(first + BLOCK, count), dtype=np.uint64) * args.stride + args.first
            worst_of(args.bin, engines, folder, names, bits.astype(np.uint32), worst)
    failed = 0
    for (target, name), (ulp, x, y) in worst.items():
        failed += not ulp <= stated[name]
        print(f"{'ok    ' if ulp <= stated[name] else 'FAILED'} {target} {name}: {ulp:.4g} ULP at {x!r} ({y!r}), stated {stated[name]:g}")
    return int(bool(failed) or not names)


if __name__ == "__main__":
    sys.exit(main())
