"""Floats that a program makes codes of by operators of its own: a scale, the nearest, a zero point, a least and a largest code, in both
orders, of bytes with and without a sign. All of a byte's codes and parts of them, against NumPy.

    tests/stablehlo/programs/rounded_codes.py --bin build/bin [--targets cpu,simnpu] [--every N]"""

import argparse
import itertools
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402

BOUNDS = {"i8": [(-128, 127), (-127, 127), (0, 127), (-20, 100)], "ui8": [(0, 255), (0, 127), (0, 100), (128, 255), (1, 254)]}
SHAPES = [(2, 33), (1, 3, 4, 5)]


def program(shape, of, low, high, zero, late):
    """The zero point stands before the bounds, or behind them: late."""
    kind = "x".join(map(str, shape))
    lines = []

    def two(name, a, number):
        made = f"%v{len(lines)}"
        lines.append(f"  {made}c = stablehlo.constant dense<{float(number)!r}> : tensor<{kind}xf32>")
        lines.append(f"  {made} = stablehlo.{name} {a}, {made}c : tensor<{kind}xf32>")
        return made

    x = two("multiply", "%x", 0.5)
    lines.append(f"  %r = stablehlo.round_nearest_even {x} : tensor<{kind}xf32>")
    x = "%r" if late or not zero else two("add", "%r", zero)
    less = zero if late else 0
    x = two("minimum", two("maximum", x, low - less), high - less)
    x = two("add", x, zero) if late and zero else x
    body = "\n".join(lines)
    return (f"func.func @main(%x: tensor<{kind}xf32>) -> tensor<{kind}x{of}> {{\n{body}\n"
            f"  %y = stablehlo.convert {x} : (tensor<{kind}xf32>) -> tensor<{kind}x{of}>\n  return %y : tensor<{kind}x{of}>\n}}\n")


def run_case(options, target, folder, shape, of, low, high, zero, late):
    rng = np.random.default_rng(len(shape) * 1000 + low * 7 + high + zero)
    x = (rng.uniform(-700, 700, shape)).astype(np.float32)
    path, engine, given, got = (folder / name for name in ("m.mlir", "m.pbe", "x.npy", "y.npy"))
    path.write_text(program(shape, of, low, high, zero, late))
    np.save(given, x)
    done = tools.call([f"{options.bin}/pbc", str(path), f"--target={target}", "-o", str(engine)])
    if done.returncode:
        return "" if done.returncode == 1 and "PB4010" in done.stderr and target != "cpu" else done.stderr.strip()[:300], True
    done = tools.call([f"{options.bin}/pb-run", str(engine), "--input", f"arg0={given}", "--output", f"out0={got}"])
    if done.returncode:
        return done.stderr.strip()[:300], False
    expected = np.clip(np.round(x * np.float32(0.5)) + zero, low, high).astype(np.int8 if of == "i8" else np.uint8)
    actual = np.load(got)
    wrong = np.argwhere(actual != expected)
    if not len(wrong):
        return "", False
    at = tuple(wrong[0])
    return f"{len(wrong)} of {actual.size} differ, the first of {x[at]} at {list(at)}: {actual[at]}, not {expected[at]}", False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--targets", default="cpu,simnpu")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    failed = refused = 0
    cases = [(target, shape, of, *bounds, zero, late) for target, shape, of in itertools.product(options.targets.split(","), SHAPES, BOUNDS)
             for bounds, zero, late in itertools.product(BOUNDS[of], (0, 100, 128) if of == "ui8" else (0, -3, 20), (False, True))]
    cases = cases[:: options.every]
    with tempfile.TemporaryDirectory() as work:
        for target, shape, of, low, high, zero, late in cases:
            problem, was_refused = run_case(options, target, Path(work), shape, of, low, high, zero, late)
            failed, refused = failed + bool(problem), refused + was_refused
            if problem:
                print(f"FAILED {target} {shape} {of} [{low}, {high}] zero {zero}{' late' if late else ''}: {problem}")
    print(f"{len(cases)} forms: {failed} failed, {refused} refused")
    return int(failed > 0 or refused == len(cases))


if __name__ == "__main__":
    sys.exit(main())
