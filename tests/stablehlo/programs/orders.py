"""Sorts of more elements than are ranked, by the digits of their keys (core/frontend/stablehlo/operators/radix.c): any code of
each type, ties, several keys, what is carried along, both directions, any dim, against NumPy's stable order; comparators that
compare otherwise are merged, and right too.

    tests/stablehlo/programs/orders.py --bin build/bin [--every N]"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402

NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "bool": "i1",
         "uint64": "ui64", "uint32": "ui32", "uint16": "ui16", "uint8": "ui8"}
THREADS = 1, 2, 7


def kind(x):
    return f"tensor<{''.join(f'{n}x' for n in x.shape)}{NAMES[x.dtype.name]}>"


def scalar(x):
    return f"tensor<{NAMES[x.dtype.name]}>"


def keys(x, by_codes):
    """Whole numbers in the order of the elements: of floats in that of their codes, or of their numbers, where NaN is the last."""
    if x.dtype.kind != "f":
        return x.astype(np.uint64) if x.dtype == np.uint64 else x.astype(np.int64)
    if not by_codes:
        x = np.where(x == 0, x.dtype.type(0), np.where(np.isnan(x), x.dtype.type(np.nan), x))
    code = x.view(f"i{x.itemsize}").astype(np.int64)
    code = np.where(code < 0, code ^ ((1 << (8 * x.itemsize - 1)) - 1), code)
    return np.where(np.isnan(x), np.iinfo(np.int64).max, code) if not by_codes else code


def compared(name, x, k, how, by_codes):
    """The lines of operand k alone: what goes in front, and whether both are alike."""
    t, a, b = scalar(x), f"%a{k}", f"%b{k}"
    order = "TOTALORDER" if by_codes else "FLOAT" if x.dtype.kind == "f" else "UNSIGNED" if x.dtype.kind in "ub" else "SIGNED"
    lines = [f"%{name} = stablehlo.compare {how}, {a}, {b}, {order} : ({t}, {t}) -> tensor<i1>"]
    if x.dtype.kind == "f" and not by_codes:  # NaN is behind all, or in front of all where the order is turned round
        first, second = (a, b) if how == "GT" else (b, a)
        lines += [f"%n{name} = stablehlo.compare NE, {first}, {first}, FLOAT : ({t}, {t}) -> tensor<i1>",
                  f"%o{name} = stablehlo.compare EQ, {second}, {second}, FLOAT : ({t}, {t}) -> tensor<i1>",
                  f"%m{name} = stablehlo.and %n{name}, %o{name} : tensor<i1>", f"%l{name} = stablehlo.or %{name}, %m{name} : tensor<i1>"]
        return lines, f"%l{name}"
    return lines, f"%{name}"


def module(x, axis, ways, by_codes):
    """The first operands are keys, in the order of `ways`."""
    lines, before = [], None
    for k in reversed(range(len(ways))):
        made, first = compared(f"k{k}", x[k], k, ways[k], by_codes)
        lines += made
        if before:
            other = "LT" if ways[k] == "GT" else "GT"
            made, behind = compared(f"r{k}", x[k], k, other, by_codes)
            lines += made + [f"%s{k} = stablehlo.or {first}, {behind} : tensor<i1>", f"%t{k} = stablehlo.not %s{k} : tensor<i1>",
                             f"%u{k} = stablehlo.and %t{k}, {before} : tensor<i1>", f"%v{k} = stablehlo.or {first}, %u{k} : tensor<i1>"]
            first = f"%v{k}"
        before = first
    return text(x, axis, lines, before)


def text(x, axis, lines, before):
    kinds = ", ".join(map(kind, x))
    arguments = ", ".join(f"%a{k}: {scalar(v)}, %b{k}: {scalar(v)}" for k, v in enumerate(x))
    results = ", ".join(f"%r#{k}" for k in range(len(x))) if len(x) > 1 else "%r"
    return f"""func.func @main({', '.join(f'%x{k}: {kind(v)}' for k, v in enumerate(x))}) -> ({kinds}) {{
%r{f':{len(x)}' if len(x) > 1 else ''} = "stablehlo.sort"({', '.join(f'%x{k}' for k in range(len(x)))}) <{{dimension = {axis} : i64, is_stable = true}}> ({{
^bb0({arguments}):
{chr(10).join(lines)}
stablehlo.return {before} : tensor<i1>
}}) : ({kinds}) -> ({kinds})
return {results} : {kinds}
}}
"""


def in_order(x, axis, ways, by_codes):
    order = np.broadcast_to(np.arange(x[0].shape[axis]).reshape([-1 if r == axis else 1 for r in range(x[0].ndim)]), x[0].shape)
    for k in reversed(range(len(ways))):
        key = np.take_along_axis(keys(x[k], by_codes), order, axis)
        key = ~key if ways[k] == "GT" else key
        order = np.take_along_axis(order, np.argsort(key, axis, kind="stable"), axis)
    return [np.take_along_axis(v, order, axis) for v in x]


def run(bench, x, threads):
    command = [f"{bench.bin}/pb-run", str(bench.folder / "m.pbe"), f"--threads={threads}"]
    for k, v in enumerate(x):
        np.save(bench.folder / f"x{k}.npy", v)
        command += ["--input", f"arg{k}={bench.folder / f'x{k}.npy'}", "--output", f"out{k}={bench.folder / f'y{k}.npy'}"]
    tools.run(command)
    return [np.load(bench.folder / f"y{k}.npy") for k in range(len(x))]


def check(bench, what, x, axis, ways, by_codes=False, written=None, want=None, by_digits=True):
    if not bench.takes_next():
        return
    done = bench.compile(written or module(x, axis, ways, by_codes))
    if done.returncode:
        raise SystemExit(done.stderr)
    bench.say(("arith.shrui" in bench.after("decided")) == by_digits, f"{what}: by digits: {by_digits}")
    want = want or in_order(x, axis, ways, by_codes)
    for threads in THREADS:
        same = all(a.tobytes() == np.ascontiguousarray(b).tobytes() for a, b in zip(run(bench, x, threads), want))
        bench.say(same, f"{what}, {threads} threads")


def codes(rng, shape, name):
    """Any code of the type."""
    kind = np.dtype(name)
    return rng.integers(0, 2, shape).astype(bool) if kind == bool else rng.integers(0, 256, (*shape, kind.itemsize), dtype=np.uint8).view(kind)[..., 0]


def cases(bench):
    rng = np.random.default_rng(17)
    at = np.broadcast_to(np.arange(300, dtype=np.int32), (5, 300)).copy()
    for name in NAMES:
        for way in "LT", "GT":
            check(bench, f"{name}, {way}", [codes(rng, (5, 300), name), at], 1, [way])
            if np.dtype(name).kind == "f":
                check(bench, f"{name}, {way}, by codes", [codes(rng, (5, 300), name), at], 1, [way], True)
    few = rng.integers(-2, 3, (4, 700)).astype(np.float32) * np.float32(-1)
    check(bench, "ties and signed zeros", [few, np.broadcast_to(np.arange(700, dtype=np.int32), few.shape).copy()], 1, ["LT"])
    check(bench, "columns", [np.ascontiguousarray(codes(rng, (6, 400), "float32").T), np.ascontiguousarray(codes(rng, (6, 400), "int8").T)], 0, ["GT"])
    check(bench, "in the middle", [codes(rng, (2, 260, 3), "int16")], 1, ["LT"])
    check(bench, "a row alone", [rng.standard_normal(5000).astype(np.float32)], 0, ["LT"])
    check(bench, "long rows", [codes(rng, (2, 70000), "uint32")], 1, ["LT"])
    shape = (3, 500)
    check(bench, "two keys", [rng.integers(0, 5, shape).astype(np.int32), rng.standard_normal(shape).astype(np.float32), codes(rng, shape, "uint8")], 1, ["LT", "GT"])
    check(bench, "two wide keys", [rng.integers(-2, 2, shape).astype(np.int64) << 40, np.round(rng.standard_normal(shape))], 1, ["GT", "LT"])
    check(bench, "three keys", [rng.integers(0, 3, shape).astype(name) for name in ("int8", "float32", "uint16")], 1, ["GT", "LT", "GT"])
    x = rng.permutation(1000).reshape(2, 500).astype(np.int32)
    lines = ["%c = stablehlo.abs %a0 : tensor<i32>", "%d = stablehlo.abs %b0 : tensor<i32>",
             "%r = stablehlo.compare LT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>"]
    y = x - 400
    want = [np.take_along_axis(y, np.argsort(np.abs(y), 1, kind="stable"), 1)]
    check(bench, "by magnitude, which is merged", [y], 1, None, written=text([y], 1, lines, "%r"), want=want, by_digits=False)
    lines = ["%r = stablehlo.compare LT, %a0, %b0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>"]
    z = x.astype(np.float32)
    check(bench, "without a word on NaN, merged", [z], 1, None, written=text([z], 1, lines, "%r"), want=[np.sort(z, 1)], by_digits=False)


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases, sampled=True))
