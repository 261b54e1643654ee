"""The functions of core/math as native code, those of f32 against f64 and those of f64 against x87's 64 bits: their
largest error in ULP (of the exact result's binade; the least number below the normal ones) may not be more than the table
says, and infinities, zeros with their sign and NaN are where they belong.

    ulp.py --bin BUILD/bin [--target cpu:v3,cpu:avx512] [--stride 1021 [--first 0]] [--only exp]
    ulp.py --bin BUILD/bin --wide [--blocks 1] [--only sin]

Of f32 inputs are every stride-th of the 2**32 patterns of bits (1: all of them, about an hour) and the neighbourhood of
special values. Of targets that this processor cannot run nothing is measured. --first 0 to 15 of --stride 16 together are
all of them too. Of f64, where no run takes them all, inputs are drawn: bits, numbers of every size that the functions
tell apart, and the neighbourhood of multiples of pi/2 and of special values.
"""

import argparse
import ctypes
import math
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402

BLOCK = 1 << 22
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
TWO = {"atan2": np.arctan2, "pow": np.power}
WIDE_BLOCK = 1 << 19


def special_values():
    """Around zero, one, the ends of the subnormal and normal numbers, and where functions change their branch."""
    anchors = [0, 1e-45, 1.17549435e-38, 3.4028235e38, np.inf, np.nan, 0.5, 1, 2, 0.34657359, 0.70710678, 1.41421356]
    anchors += [88.722839, 87.33654, 103.97208, 128, 126, 149, 150, 0.9575, 4, 3.92, 9.01, 10, 17.3, 18, 16777216]
    bits = np.array(anchors, np.float32).view(np.uint32).astype(np.int64)
    near = (bits[:, None] + np.arange(-2000, 2001)).ravel() % (1 << 31)
    return np.concatenate([near, near + (1 << 31)]).astype(np.uint32)


def error(actual, exact):
    """In ULP, element by element; infinite where the class of number is another."""
    info = np.finfo(actual.dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(actual.dtype)
        # the magnitude's binade: frexp's is one more
        unit = np.ldexp(exact.dtype.type(1), np.maximum(np.frexp(exact)[1] - 1, info.minexp) - info.nmant)
        ulp = np.abs(actual.astype(exact.dtype) - exact) / unit
    # Past the largest number an infinity is as near as that number.
    ulp = np.where(np.isinf(actual) & (np.abs(exact) > info.max) & (np.sign(actual) == np.sign(exact)), 0, ulp)
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


def wide_references(operands):
    """By long double, whose functions are right to its own last place; erf's result is rounded to f64 on its way, and it is
    taken of an eighth of the numbers, one by one."""
    if operands == 2:
        return TWO
    erf = ctypes.CDLL("libm.so.6").erfl
    erf.argtypes, erf.restype = [ctypes.c_longdouble], ctypes.c_longdouble
    by_element = np.frompyfunc(lambda x: erf(float(x)), 1, 1)
    return {**REFERENCES, "erf": lambda x: by_element(x).astype(np.longdouble)}


def drawn(random, operand):
    """Numbers for a function of f64: bits, sizes, and what is near multiples of pi/2 and near special values."""
    part = WIDE_BLOCK // 8
    bits = random.integers(0, 1 << 64, part, np.uint64).view(np.float64)
    signs = lambda count: random.choice([-1.0, 1.0], count)
    sizes = [signs(part) * random.random(part) * 10.0**k for k in (0, 1, 2)] if not operand else [
        signs(part) * random.random(part) * 10.0**k for k in (0, 2, 3)]
    powers = signs(part) * np.exp2(random.uniform(-60, 60, part))
    far = np.exp2(random.uniform(0, 1023, part))
    quarters = np.round(far / (np.pi / 2)) * (np.pi / 2)
    ones = 1 + signs(part) * np.exp2(random.uniform(-53, -1, part))
    anchors = np.array([0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, np.inf, np.nan, 0.5, 1, 2, 3, 6, 709.78,
                        745.13, 0.6931471805599453, 1.5707963267948966, 22, 0.4375, 0.6875, 1.1875, 2.4375, 2.0**53])
    at = anchors.view(np.int64)[:, None] + np.arange(-(part // len(anchors) // 4), part // len(anchors) // 4)
    near = (at.ravel() & ((1 << 63) - 1)).view(np.float64)
    near = np.concatenate([near, -near, np.zeros(part)])[:part]
    return np.concatenate([sizes[0], bits, *sizes[1:], powers, quarters, ones, near])[:WIDE_BLOCK]


def wide(args, target, operands):
    """The rows of f64 that take so many operands: how many fail."""
    random, worst = np.random.default_rng(1), {}
    with tempfile.TemporaryDirectory() as folder:
        engine = os.path.join(folder, "functions.pbe")
        made = [os.path.join(args.bin, "functions"), str(WIDE_BLOCK), target, engine, "f64", str(operands)]
        stated = {name: float(ulp) for name, ulp in (line.split() for line in tools.run(made).splitlines())}
        references = wide_references(operands)
        names = [name for name in stated if args.only in name]
        if not names or not set(stated) <= set(references):
            print("the table's functions are others than those with a reference")
            return 1
        for _ in range(args.blocks):
            x = [random.permutation(drawn(random, k)) for k in range(operands)]
            inputs = []
            for name, values in zip("xy", x):
                np.save(os.path.join(folder, name), values)
                inputs += ["--input", f"{name}={os.path.join(folder, name)}.npy"]
            outputs = [f"--output={name}={os.path.join(folder, 'out' + name)}.npy" for name in names]
            tools.run([os.path.join(args.bin, "pb-run"), engine, "--device=native", "--threads=2", *inputs, *outputs])
            for name in names:
                count = WIDE_BLOCK // 8 if name == "erf" else WIDE_BLOCK
                with np.errstate(all="ignore"):
                    exact = references[name](*(values[:count].astype(np.longdouble) for values in x))
                y = np.load(os.path.join(folder, "out" + name) + ".npy")[:count]
                ulp = error(y, exact)
                at = int(np.argmax(ulp))
                if ulp[at] >= worst.get(name, (-1,))[0]:
                    worst[name] = (float(ulp[at]), [float(values[at]) for values in x], float(y[at]))
    for name, (ulp, at, y) in worst.items():
        limit = stated[name] + (0.5 if name == "erf" else 0)
        print(f"{'ok    ' if ulp <= limit else 'FAILED'} {target} {name} of f64: {ulp:.4g} ULP at {at} ({y!r}), stated {limit:g}")
    return sum(not found[0] <= stated[name] + (0.5 if name == "erf" else 0) for name, found in worst.items())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--stride", type=int, default=1021)
    parser.add_argument("--first", type=int, default=0, help="the pattern to begin with, below the stride")
    parser.add_argument("--only", default="")
    parser.add_argument("--wide", action="store_true", help="the functions of f64")
    parser.add_argument("--blocks", type=int, default=1, help="of inputs that are drawn, of f64")
    args = parser.parse_args()
    targets = args.target.split(",")
    tools.skip_without(args.bin, *targets)
    targets = [target for target in targets if tools.runs_here(args.bin, target)]
    if args.wide:
        if np.finfo(np.longdouble).nmant < 63:
            print("skipped: long double is no wider than f64 here")
            return 77
        return int(any([wide(args, target, operands) for target in targets[:1] for operands in (1, 2)]))
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
