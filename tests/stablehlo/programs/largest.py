"""Largest and least elements of windows, NaN wherever one has met it, against NumPy element by element: code asks a few rows of lanes at a
time whether any has NaN (targets/emit/llvm/windows.c), so that each element of a picture is NaN in some case, and all else in one.
Windows along lines, columns and both, openings of two, extents around lanes, infinities and NaN of both signs.

    tests/stablehlo/programs/largest.py --bin build/bin"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402

NUMBERS = {"maximum": ("0xFF800000", -np.inf, np.maximum), "minimum": ("0x7F800000", np.inf, np.minimum)}


def windowed(x, sizes, by):
    """The same extents, with what is outside not counted."""
    _, none, how = NUMBERS[by]
    for axis, size in enumerate(sizes):
        padded = np.pad(x, [(size // 2, size // 2) if r == axis else (0, 0) for r in range(x.ndim)], constant_values=none)
        x = np.take(padded, range(x.shape[axis]), axis)
        for k in range(1, size):
            x = how(x, np.take(padded, range(k, k + x.shape[axis]), axis))
    return x


def text(shape, steps):
    kind = f"tensor<{'x'.join(map(str, shape))}xf32>"
    lines = [f"func.func @main(%v0: {kind}) -> {kind} {{"]
    for k, (sizes, by) in enumerate(steps):
        pads = ", ".join(f"[{s // 2}, {s // 2}]" for s in sizes)
        lines += [f"%n{k} = stablehlo.constant dense<{NUMBERS[by][0]}> : tensor<f32>",
                  f'%v{k + 1} = "stablehlo.reduce_window"(%v{k}, %n{k}) ({{', "^bb0(%a: tensor<f32>, %b: tensor<f32>):", f"%s = stablehlo.{by} %a, %b : tensor<f32>",
                  f"stablehlo.return %s : tensor<f32> }}) {{window_dimensions = array<i64: {', '.join(map(str, sizes))}>, "
                  f"padding = dense<[{pads}]> : tensor<{len(sizes)}x2xi64>}} : ({kind}, tensor<f32>) -> {kind}"]
    return "\n".join([*lines, f"return %v{len(steps)} : {kind} }}"])


CASES = [
    ((3, 40, 64), [((1, 5, 5), "maximum")]),
    ((2, 24, 48), [((1, 5, 1), "maximum")]),
    ((2, 24, 48), [((1, 1, 7), "maximum")]),
    ((2, 24, 48), [((1, 3, 3), "minimum")]),
    ((1, 33, 100), [((1, 5, 5), "minimum"), ((1, 5, 5), "maximum")]),
    ((1, 48, 1040), [((1, 3, 5), "maximum")]),
    ((64, 80), [((7, 3), "maximum"), ((3, 3), "minimum")]),
]


def pictures(shape, rng):
    x = rng.standard_normal(shape).astype(np.float32)
    yield "plain", x
    signed = x.copy()
    signed[rng.random(shape) < 0.02] = np.inf
    signed[rng.random(shape) < 0.02] = -np.inf
    yield "infinities", signed
    yield "NaN everywhere", np.full(shape, np.nan, np.float32)
    numbers = rng.permutation(x.size)
    for k in range(6):  # each element in one of them
        some = signed.copy()
        some.reshape(-1)[numbers[k::6]] = -np.nan if k % 2 else np.nan
        yield f"NaN, {k}", some
    for k in range(12):
        one = x.copy()
        one.reshape(-1)[rng.integers(x.size)] = np.nan
        yield f"one NaN, {k}", one


def cases(bench):
    rng = np.random.default_rng(5)
    for shape, steps in CASES:
        program = text(shape, steps)
        for name, x in pictures(shape, rng):
            want = x
            for sizes, by in steps:
                want = windowed(want, sizes, by)
            got = bench.run(program, x)
            bench.say(np.array_equal(got, want, equal_nan=True), f"{'x'.join(map(str, shape))} {steps}, {name}")


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases))
