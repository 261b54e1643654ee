"""Sums, products, maxima and minima so far along a dim, which processors compute in loops whose turns go in order
(core/frontend/stablehlo/operators/turns.c): any dim of any shape, extents around lanes and blocks, forwards and from the end on, of four
types, with a step in front and one behind. Against NumPy in f64; on 1, 2 and 7 threads, bit for bit; some with each pass checked.

    tests/stablehlo/programs/in_turns.py --bin build/bin [--count 60] [--seed 1] [--bisect 10] [--keep DIR]"""

import random
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402

TARGETS = "cpu:avx512", "cpu:v3"
THREADS = 1, 2, 7
EXTENTS = (1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129, 130, 160, 161, 191, 193, 300, 1000, 2049, 5000)
TYPES = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64"}
TOLERANCE = {"float32": 4e-6, "float64": 2e-14, "int32": 0, "int64": 0}  # of the largest number so far along the line
BY = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


def shape_of(rng):
    """At most some 300,000 elements."""
    axis_extent, shape = rng.choice(EXTENTS), []
    for _ in range(rng.randint(0, 3)):
        shape.append(rng.choice((1, 2, 3, 5, 8, 16, 17, 24, 33, 40)))
    axis = rng.randint(0, len(shape))
    shape.insert(axis, axis_extent)
    while np.prod(shape) > 300000:
        largest = max((r for r in range(len(shape)) if r != axis), key=lambda r: shape[r])
        shape[largest] = shape[largest] // 2
    return shape, axis


def number_text(value, dtype):
    if dtype.startswith("int"):
        return str(value)
    bits = np.array(value, dtype)
    return "0x" + bits.view(f"u{bits.itemsize}").item().to_bytes(bits.itemsize, "big").hex().upper()


def neutral(name, dtype):
    if name in ("add", "multiply"):
        return int(name == "multiply")
    if dtype.startswith("int"):
        return np.iinfo(dtype).min if name == "maximum" else np.iinfo(dtype).max
    return -np.inf if name == "maximum" else np.inf


def program(rng):
    shape, axis = shape_of(rng)
    dtype, name, reverse = rng.choice(list(TYPES)), rng.choice(list(BY)), rng.random() < 0.4
    steps = rng.random() < 0.5, rng.random() < 0.5
    data = np.random.default_rng(rng.randrange(1 << 30))
    x = data.standard_normal(shape) if dtype.startswith("float") else data.integers(-9, 9, shape)
    if name == "multiply":
        x = np.where(x < 0, -1, 1) * (data.uniform(0.9, 1.1, shape) if dtype.startswith("float") else 1)
    x = x.astype(dtype)
    if dtype.startswith("float") and name in ("maximum", "minimum") and rng.random() < 0.4:
        x.flat[data.integers(0, x.size, 1 + x.size // 200)] = np.nan
        x.flat[data.integers(0, x.size, 1 + x.size // 50)] = -0.0
    element = TYPES[dtype]
    kind, number = "tensor<" + "".join(f"{n}x" for n in shape) + element + ">", f"tensor<{element}>"
    window = ", ".join(str(n if r == axis else 1) for r, n in enumerate(shape))
    pad = [([0, n - 1] if reverse else [n - 1, 0]) if r == axis else [0, 0] for r, n in enumerate(shape)]
    lines, at = [f'%z = "stablehlo.constant"() <{{value = dense<{number_text(neutral(name, dtype), dtype)}> : {number}}}> : () -> {number}'], "%a0"
    exact = x.astype(np.float64) if dtype.startswith("float") else x.astype(np.int64)
    if steps[0]:
        lines.append(f"%n = stablehlo.negate {at} : {kind}")
        at, exact = "%n", -exact
    lines.append(f'%y = "stablehlo.reduce_window"({at}, %z) <{{window_dimensions = array<i64: {window}>, padding = dense<{pad}> : tensor<{len(shape)}x2xi64>}}> '
                 f'({{^bb0(%t: {number}, %u: {number}): %v = "stablehlo.{name}"(%t, %u) : ({number}, {number}) -> {number} "stablehlo.return"(%v) : ({number}) -> ()}}) '
                 f": ({kind}, {number}) -> {kind}")
    turned = np.flip(exact, axis) if reverse else exact
    with np.errstate(invalid="ignore", over="ignore"):
        exact = BY[name].accumulate(turned, axis)
    largest = np.nanmax(np.abs(exact), axis, keepdims=True, initial=1e-30)
    exact, at = np.flip(exact, axis) if reverse else exact, "%y"
    if steps[1]:
        lines.append(f"%r = stablehlo.add %y, %a0 : {kind}")
        at, exact, largest = "%r", exact + x, largest + np.abs(np.nan_to_num(x)).max(axis, keepdims=True)
    text = f"func.func @main(%a0: {kind}) -> {kind} {{\n" + "\n".join(lines) + f"\nreturn {at} : {kind}\n}}\n"
    return text, x, exact, largest, f"{name} of {shape} along {axis}, {dtype}{', reverse' if reverse else ''}"


def check(o, number, folder):
    """What is wrong with program `number`, or None."""
    text, x, exact, largest, what = program(random.Random(f"{o.seed} {number}"))
    target = TARGETS[number % len(TARGETS)]
    model, y, bits = folder / f"{number}.mlir", folder / "y.npy", None
    model.write_text(text)
    np.save(folder / "x.npy", x)
    bisect = ["--bisect"] if o.bisect and number % o.bisect == 0 and x.size < 5000 else []
    tools.run([f"{o.bin}/pbc", str(model), f"--target={target}", *bisect, "-o", str(folder / "m.pbe")])
    for threads in THREADS:
        tools.run([f"{o.bin}/pb-run", str(folder / "m.pbe"), f"--threads={threads}", "--input", f"arg0={folder / 'x.npy'}", f"--output=out0={y}"])
        made = np.load(y)
        if bits not in (None, made.tobytes()):
            return f"{what}, {target}: other bits on {threads} threads"
        bits = made.tobytes()
    dtype = x.dtype.name
    if dtype.startswith("int"):
        return None if np.array_equal(made, exact.astype(dtype)) else f"{what}, {target}: other numbers"
    nan, close = np.isnan(exact), np.abs(made - exact) <= TOLERANCE[dtype] * largest
    off = np.nanmax(np.abs(made - exact) / largest, initial=0)
    return None if np.array_equal(np.isnan(made), nan) and (close | nan).all() else f"{what}, {target}: {off:.2g} off NumPy"


def main():
    parser = tools.drawing(60)
    parser.add_argument("--bisect", type=int, default=10)
    o = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = o.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        for number in range(o.first, o.first + o.count):
            wrong = check(o, number, folder)
            failed += bool(wrong)
            if wrong:
                print(f"FAILED {number}: {wrong}")
    print(f"{o.count} programs, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
