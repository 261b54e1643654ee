"""Reductions by every body that vectors, or loops that go in lanes, take for rows, columns and what is between: truths, whole
numbers with a sign and without, f16, bf16, f32 and f64, over one dim, several and all, on one thread and three, against NumPy:
of what is rounded within it, of all else to the bit. And the first places of extremes of truths and of what has no sign.

    tests/stablehlo/programs/combined.py --bin build/bin [--every N]"""

import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy", "ml_dtypes")
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402

BF16 = np.dtype(ml_dtypes.bfloat16)
KINDS = {"i1": np.bool_, "i8": np.int8, "ui8": np.uint8, "i16": np.int16, "ui16": np.uint16, "i32": np.int32, "ui32": np.uint32, "i64": np.int64,
         "f16": np.float16, "bf16": BF16, "f32": np.float32, "f64": np.float64}
SHAPES = {(40, 33): ((0,), (1,), (0, 1)), (5, 17, 40): ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2)), (3, 1, 70): ((1,), (0, 1)), (70, 4): ((0,),), (2, 3, 4, 50): ((0, 2), (1, 3))}


def bodies(kind):
    if kind == "i1":
        return {"and": np.logical_and, "or": np.logical_or, "maximum": np.logical_or, "minimum": np.logical_and}
    extremes = {"maximum": np.maximum, "minimum": np.minimum}
    if kind in ("f16", "bf16"):
        return extremes
    if kind in ("f32", "f64"):
        return {**extremes, "multiply": np.multiply, "add": np.add}
    return {**extremes, "multiply": np.multiply, "add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def beginning(kind, how):
    """What leaves every number as it is, and its code in the text."""
    dtype = np.dtype(KINDS[kind])
    if kind == "i1":
        return how in ("and", "minimum"), "true" if how in ("and", "minimum") else "false"
    if how in ("maximum", "minimum") and kind in ("f16", "bf16", "f32", "f64"):
        code = np.array(-np.inf if how == "maximum" else np.inf, dtype)
        return code[()], f"0x{int(code.view(f'u{dtype.itemsize}')):0{2 * dtype.itemsize}X}"
    if how in ("maximum", "minimum"):
        info = np.iinfo(dtype)
        value = info.min if how == "maximum" else info.max
        return value, str(value)
    value = {"multiply": 1, "and": -1 if dtype.kind == "i" else np.iinfo(dtype).max if dtype.kind == "u" else 0}.get(how, 0)
    return value, f"{value}.0" if dtype.kind == "f" else str(value)


def tensor(shape, kind):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{kind}>"


def drawn(rng, shape, kind):
    dtype = np.dtype(KINDS[kind])
    if kind == "i1":
        return rng.random(shape) < rng.choice([0.1, 0.5, 0.9])
    if dtype.kind in "iu":
        return rng.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8).view(dtype)[..., 0]
    x = (1 + rng.standard_normal(shape) / 64).astype(dtype)
    if kind in ("f16", "bf16"):
        x.reshape(-1)[rng.integers(0, x.size, 3)] = np.nan
    return x


class Module:
    """Reductions of one tensor of each kind, each a result."""

    def __init__(self, rng, shape, axes):
        self.inputs = {kind: drawn(rng, shape, kind) for kind in KINDS}
        self.lines, self.results, self.wants = [], [], []
        made = tuple(n for r, n in enumerate(shape) if r not in axes)
        for place, (kind, x) in enumerate(self.inputs.items()):
            for how, function in bodies(kind).items():
                value, code = beginning(kind, how)
                one, k = f"tensor<{kind}>", len(self.results)
                self.lines += [f"%b{k} = stablehlo.constant dense<{code}> : {one}",
                               f'%r{k} = "stablehlo.reduce"(%a{place}, %b{k}) ({{\n^bb0(%x: {one}, %y: {one}):\n'
                               f'%c = "stablehlo.{how}"(%x, %y) : ({one}, {one}) -> {one}\n"stablehlo.return"(%c) : ({one}) -> ()\n}}) '
                               f"{{dimensions = array<i64: {', '.join(map(str, axes))}>}} : ({tensor(shape, kind)}, {one}) -> {tensor(made, kind)}"]
                self.results.append(tensor(made, kind))
                self.wants.append((f"{how} of {kind}", self.reduced(x, axes, how, function, value)))
        self.shape = shape

    def reduced(self, x, axes, how, function, value):
        if how in ("add", "multiply") and x.dtype.kind == "f":
            return function.reduce(x.astype(np.float64), axis=axes)
        wide = x.astype(np.float32) if x.dtype in (np.float16, BF16) else x
        start = np.array(value).astype(wide.dtype)
        with np.errstate(over="ignore"):
            return function(start, function.reduce(wide, axis=axes, dtype=None if wide.dtype == bool else wide.dtype)).astype(x.dtype)

    def text(self):
        arguments = ", ".join(f"%a{k}: {tensor(self.shape, kind)}" for k, kind in enumerate(self.inputs))
        names, types = ", ".join(f"%r{k}" for k in range(len(self.results))), ", ".join(self.results)
        body = "\n".join(self.lines)
        return f"func.func @main({arguments}) -> ({types}) {{\n{body}\nreturn {names} : {types}\n}}\n"


def is_same(got, want):
    """What is summed or multiplied in floats is wanted as f64, whatever it is."""
    wide, rounds = got.astype(np.float64), want.dtype == np.float64 and got.dtype.kind == "f"
    if rounds:
        return np.allclose(wide, want, rtol=1e-5 if got.dtype == np.float32 else 1e-13, atol=0)
    return np.array_equal(wide, want.astype(np.float64), equal_nan=True) if got.dtype != np.int64 else np.array_equal(got, want)


def run(bench, inputs, count, threads):
    files = [bench.folder / f"out{k}.npy" for k in range(count)]
    given = []
    for k, x in enumerate(inputs):
        np.save(bench.folder / f"in{k}.npy", x.view(np.uint16) if x.dtype == BF16 else x)
        given += ["--input", f"arg{k}={bench.folder / f'in{k}.npy'}"]
    subprocess.run([f"{bench.bin}/pb-run", str(bench.folder / "m.pbe"), f"--threads={threads}", *given,
                    *(f"--output=out{k}={file}" for k, file in enumerate(files))], check=True, capture_output=True)
    return [np.load(file) for file in files]


def check(bench, rng, shape, axes):
    if not bench.takes_next():
        return
    module = Module(rng, shape, axes)
    done = bench.compile(module.text())
    if done.returncode:
        raise SystemExit(done.stderr)
    for threads in 1, 3:
        got = run(bench, module.inputs.values(), len(module.wants), threads)
        for array, (what, want) in zip(got, module.wants):
            array = array.view(BF16) if want.dtype == BF16 and array.dtype != BF16 and array.itemsize == 2 else array
            bench.say(is_same(array, want), f"{what} over {axes} of {shape}, {threads} threads")


def check_place(bench, rng, kind, axis, largest):
    """As jax.numpy has argmax and argmin: a number and its place, of equal ones the first."""
    if not bench.takes_next():
        return
    shape, x = (30, 40), drawn(rng, (30, 40), kind)
    made, one, place = (shape[1 - axis],), f"tensor<{kind}>", "tensor<i32>"
    worst = {"i1": ("false", "true")}.get(kind) or ("0", str(np.iinfo(KINDS[kind]).max))
    sign, unsigned = ("GT" if largest else "LT"), ", #stablehlo<comparison_type UNSIGNED>"
    compare = lambda how, a, b, kind, to: f"%{to} = stablehlo.compare {how}, %{a}, %{b}, {kind} : (tensor<{'i32' if kind == 'SIGNED' else x_kind}>, tensor<{'i32' if kind == 'SIGNED' else x_kind}>) -> tensor<i1>"
    x_kind = kind
    lines = [f"%i = stablehlo.iota dim = {axis} : {tensor(shape, 'i32')}", f"%b = stablehlo.constant dense<{worst[not largest]}> : {one}",
             f"%z = stablehlo.constant dense<0> : {place}",
             f'%r:2 = "stablehlo.reduce"(%a, %i, %b, %z) ({{\n^bb0(%x: {one}, %p: {place}, %y: {one}, %q: {place}):',
             compare(sign, "x", "y", "UNSIGNED", "m"), compare("NE", "x", "x", "UNSIGNED", "n"), "%o = stablehlo.or %m, %n : tensor<i1>",
             compare("EQ", "x", "y", "UNSIGNED", "e"), compare("LT", "p", "q", "SIGNED", "f"), "%g = stablehlo.and %e, %f : tensor<i1>",
             "%h = stablehlo.or %o, %g : tensor<i1>", f"%k = stablehlo.select %o, %x, %y : tensor<i1>, {one}",
             f"%l = stablehlo.select %h, %p, %q : tensor<i1>, {place}", f"stablehlo.return %k, %l : {one}, {place}",
             f"}}) {{dimensions = array<i64: {axis}>}} : ({tensor(shape, kind)}, {tensor(shape, 'i32')}, {one}, {place}) -> ({tensor(made, kind)}, {tensor(made, 'i32')})"]
    types = f"{tensor(made, kind)}, {tensor(made, 'i32')}"
    done = bench.compile(f"func.func @main(%a: {tensor(shape, kind)}) -> ({types}) {{\n" + "\n".join(lines) + f"\nreturn %r#0, %r#1 : {types}\n}}\n")
    if done.returncode:
        raise SystemExit(done.stderr)
    bench.say("plain loops" not in done.stderr, f"extremes of {kind} go in lanes: {done.stderr.strip()}")
    number, at = run(bench, [x], 2, 1)
    want = np.argmax(x, axis) if largest else np.argmin(x, axis)
    good = np.array_equal(at, want) and np.array_equal(number, np.take_along_axis(x, np.expand_dims(want, axis), axis).squeeze(axis))
    bench.say(good, f"{'largest' if largest else 'least'} of {kind} along {axis}")


def cases(bench):
    rng = np.random.default_rng(17)
    for shape, all_axes in SHAPES.items():
        for axes in all_axes:
            check(bench, rng, shape, axes)
    for kind in "i1", "ui8", "ui16":
        for axis in 0, 1:
            for largest in True, False:
                check_place(bench, rng, kind, axis, largest)


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases, sampled=True))
