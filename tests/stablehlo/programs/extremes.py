"""Where the largest and the least numbers of rows and columns stand, as argmax and argmin are written: by a body of numbers and
their places, which becomes two reductions (core/frontend/stablehlo/operators/extreme.c). NaN, ties, signed zeros, infinities,
several types and dims, against the body itself, element by element; bodies that do something else stay what they are.

    tests/stablehlo/programs/extremes.py --bin build/bin [--every N]"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402

NAMES = {"float32": "f32", "float64": "f64", "int32": "i32", "int16": "i16", "int8": "i8", "int64": "i64"}
THREADS = 1, 2, 7
BODIES = {  # what is better than what: as text, and of NumPy's numbers
    "GT": lambda a, b: a > b,
    "LT": lambda a, b: a < b,
}


def kind(shape, name):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{name}>"


def body(how, name, places, nan, last, order):
    compare = "SIGNED" if name[0] == "i" else order
    lines = [f"%g = stablehlo.compare {how}, %a, %b, {compare} : ({kind((), name)}, {kind((), name)}) -> tensor<i1>"]
    if nan:
        lines += [f"%n = stablehlo.compare NE, %a, %a, {compare} : ({kind((), name)}, {kind((), name)}) -> tensor<i1>", "%p = stablehlo.or %g, %n : tensor<i1>"]
    better = "%p" if nan else "%g"
    lines += [f"%e = stablehlo.compare EQ, %a, %b, {compare} : ({kind((), name)}, {kind((), name)}) -> tensor<i1>",
              f"%l = stablehlo.compare {'GT' if last else 'LT'}, %i, %j, SIGNED : ({kind((), places)}, {kind((), places)}) -> tensor<i1>",
              "%t = stablehlo.and %e, %l : tensor<i1>", f"%f = stablehlo.or {better}, %t : tensor<i1>",
              f"%v = stablehlo.select %f, %a, %b : tensor<i1>, {kind((), name)}", f"%k = stablehlo.select %f, %i, %j : tensor<i1>, {kind((), places)}",
              f"stablehlo.return %v, %k : {kind((), name)}, {kind((), places)}"]
    return "\n".join(lines)


def number(x, first):
    if x.dtype.kind == "f" and np.isinf(first):
        bits = x.dtype.type(first).view(f"u{x.itemsize}")
        return f"0x{int(bits):0{2 * x.itemsize}X}"
    return repr(float(first)) if x.dtype.kind == "f" else str(int(first))


def module(x, axis, how, places, first, nan, last, order):
    name, left = NAMES[x.dtype.name], x.shape[:axis] + x.shape[axis + 1 :]
    operands = f"({kind(x.shape, name)}, {kind(x.shape, places)}, {kind((), name)}, {kind((), places)})"
    results = f"({kind(left, name)}, {kind(left, places)})"
    return f"""func.func @main(%x: {kind(x.shape, name)}) -> {results} {{
%at = stablehlo.iota dim = {axis} : {kind(x.shape, places)}
%first = stablehlo.constant dense<{number(x, first)}> : {kind((), name)}
%zero = stablehlo.constant dense<0> : {kind((), places)}
%r:2 = "stablehlo.reduce"(%x, %at, %first, %zero) <{{dimensions = array<i64: {axis}>}}> ({{
^bb0(%a: {kind((), name)}, %i: {kind((), places)}, %b: {kind((), name)}, %j: {kind((), places)}):
{body(how, name, places, nan, last, order)}
}}) : {operands} -> {results}
return %r#0, %r#1 : {kind(left, name)}, {kind(left, places)}
}}
"""


def by_steps(x, axis, how, first, nan, last):
    """The body, from the first element to the last."""
    x = np.moveaxis(x, axis, 0)
    best, place = np.full(x.shape[1:], first, x.dtype), np.zeros(x.shape[1:], np.int64)
    for k, row in enumerate(x):
        keep = BODIES[how](best, row)
        if nan:
            keep |= best != best
        keep |= (best == row) & ((place > k) if last else (place < k))
        best, place = np.where(keep, best, row), np.where(keep, place, k)
    return best, place


def run(bench, x, threads):
    """Both results."""
    np.save(bench.folder / "x.npy", x)
    files = [bench.folder / "v.npy", bench.folder / "k.npy"]
    tools.run([f"{bench.bin}/pb-run", str(bench.folder / "m.pbe"), f"--threads={threads}", "--input", f"arg0={bench.folder / 'x.npy'}",
               "--output", f"out0={files[0]}", "--output", f"out1={files[1]}"])
    return [np.load(file) for file in files]


def check(bench, what, x, axis, how, places="i32", first=None, nan=True, last=False, order="FLOAT", apart=True):
    if not bench.takes_next():
        return
    if first is None:
        ends = (-np.inf, np.inf) if x.dtype.kind == "f" else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
        first = ends[how == "LT"]
    text = module(x, axis, how, places, first, nan, last, order)
    done = bench.compile(text)
    if done.returncode:
        raise SystemExit(done.stderr)
    bench.say(("arith.shli" not in bench.after("decided")) == apart, f"{what}: the place apart from the number: {apart}")
    best, place = by_steps(x, axis, how, first, nan, last)
    for threads in THREADS:
        value, at = (result.reshape(best.shape) for result in run(bench, x, threads))
        same = (np.isnan(value) & np.isnan(best)) | (value.view(f"i{x.itemsize}") == best.view(f"i{x.itemsize}")) if x.dtype.kind == "f" else value == best
        bench.say(same.all() and (at == place).all(), f"{what}, {threads} threads")


def cases(bench):
    rng = np.random.default_rng(5)
    for how in BODIES:
        for axis in 0, 1:
            x = rng.standard_normal((70, 45)).astype(np.float32)
            check(bench, f"{how} along {axis}", x, axis, how)
            check(bench, f"{how} along {axis}, ties", np.round(x), axis, how)
            check(bench, f"{how} along {axis}, NaN", np.where(rng.random(x.shape) < 0.03, np.float32(np.nan), x), axis, how)
            check(bench, f"{how} along {axis}, infinities", np.where(rng.random(x.shape) < 0.9, np.float32(-np.inf if how == "GT" else np.inf), x), axis, how)
            check(bench, f"{how} along {axis}, signed zeros", np.where(rng.random(x.shape) < 0.5, np.float32(-0.0), np.float32(0)), axis, how)
            for name in "float64", "int32", "int16", "int8":
                check(bench, f"{how} along {axis}, {name}", (20 * x).astype(name), axis, how)
        check(bench, f"{how}, the worst of all", np.full((3, 40), np.iinfo(np.int32).min if how == "GT" else np.iinfo(np.int32).max, np.int32), 1, how)
    x = np.round(rng.standard_normal((4, 20, 6)) * 2).astype(np.float32)
    check(bench, "in the middle", x, 1, "GT", "i64")
    check(bench, "one element", x[:1, :1, :1], 1, "GT")
    check(bench, "one row", rng.standard_normal(3000).astype(np.float32), 0, "LT")
    check(bench, "the last place", x, 1, "GT", last=True, apart=False)
    check(bench, "without a word on NaN", x, 1, "GT", nan=False, apart=False)
    check(bench, "by the order of codes", np.abs(x), 1, "GT", order="TOTALORDER", apart=False)
    check(bench, "from another number on", x, 2, "GT", first=1.0, apart=False)
    check(bench, "of wide integers", x.astype(np.int64), 1, "LT", apart=False)


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases, sampled=True))
