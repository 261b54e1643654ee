"""The k largest of rows long enough that they are found and not sorted (core/frontend/stablehlo/operators/select.c): every
type, ties, NaN and signed zeros, rows past 16 bits of places, against NumPy's stable order of their codes.

    tests/stablehlo/programs/top_k.py --bin build/bin [--every N]"""

import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402

NAMES = {"float32": "f32", "float16": "f16", "float64": "f64", "int32": "i32", "int16": "i16", "int8": "i8", "int64": "i64", "uint32": "ui32", "uint64": "ui64", "uint16": "ui16", "uint8": "ui8"}


def keys(x):
    """Integers in the order of the elements: of floats that of their codes, -0 below 0 and NaN outside of all."""
    if x.dtype.kind != "f":
        return x.astype(np.int64) if x.dtype != np.uint64 else x
    code = x.view(f"i{x.itemsize}").astype(np.int64)
    return np.where(code < 0, code ^ ((1 << (8 * x.itemsize - 1)) - 1), code)


def largest(x, count):
    order = np.argsort(~keys(x), -1, kind="stable")[..., :count]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)


def check(bench, what, x, count, selects=True):
    if not bench.takes_next():
        return
    shape, made = "".join(f"{n}x" for n in x.shape), "".join(f"{n}x" for n in (*x.shape[:-1], count))
    kind, values, places = f"tensor<{shape}{NAMES[x.dtype.name]}>", f"tensor<{made}{NAMES[x.dtype.name]}>", f"tensor<{made}i32>"
    text = f"func.func @main(%a: {kind}) -> ({values}, {places}) {{\n%r:2 = chlo.top_k(%a, k = {count}) : {kind} -> ({values}, {places})\nreturn %r#0, %r#1 : {values}, {places}\n}}\n"
    done = bench.compile(text)
    if done.returncode:
        raise SystemExit(done.stderr)
    steps = subprocess.run([f"{bench.bin}/pb-objdump", str(bench.folder / "m.pbe"), "--headers"], check=True, capture_output=True, text=True).stdout
    bench.say((steps.count("\n") > 25) == selects, f"{what}: found, not sorted: {selects}")
    np.save(bench.folder / "x.npy", x)
    for threads in 1, 3:
        files = [bench.folder / "v.npy", bench.folder / "p.npy"]
        subprocess.run([f"{bench.bin}/pb-run", str(bench.folder / "m.pbe"), f"--threads={threads}", "--input", f"arg0={bench.folder / 'x.npy'}",
                        "--output", f"out0={files[0]}", "--output", f"out1={files[1]}"], check=True, capture_output=True)
        good = all(np.load(path).tobytes() == want.tobytes() for path, want in zip(files, largest(x, count)))
        bench.say(good, f"{what}, {threads} threads")


def cases(bench):
    rng = np.random.default_rng(11)
    for name in "float32", "float16", "float64", "int32", "int16", "int8", "int64", "uint32", "uint16", "uint8", "uint64":
        kind = np.dtype(name)
        codes = rng.integers(0, 256, (5, 400, kind.itemsize), dtype=np.uint8).view(kind)[..., 0]  # any code: NaN, infinities
        check(bench, f"codes of {name}", codes, 37)
        few = rng.integers(0, 4, (3, 300)).astype(kind)
        check(bench, f"ties of {name}", few, 100)
    zeros = np.where(rng.random((4, 512)) < 0.5, -0.0, 0.0).astype(np.float32)
    check(bench, "signed zeros", zeros, 9)
    check(bench, "all the same", np.full((2, 600), np.float32(-3)), 300)
    check(bench, "one of them", rng.standard_normal((6, 1000)).astype(np.float32), 1)
    check(bench, "a row alone", rng.standard_normal(777).astype(np.float32), 20)
    check(bench, "rows of rows", rng.integers(-50, 50, (2, 3, 260)).astype(np.float32), 30)
    check(bench, "long rows", rng.integers(-9, 9, (2, 40000)).astype(np.float32), 70)
    for name in "float32", "int16", "uint8", "int64", "float64":  # by blocks, the last of which may be short; of any code, and of few
        kind = np.dtype(name)
        codes = rng.integers(0, 256, (3, 2511, kind.itemsize), dtype=np.uint8).view(kind)[..., 0]
        check(bench, f"blocks of {name}", codes, 7)
        check(bench, f"blocks of {name}, ties", rng.integers(0, 3, (2, 2, 4096)).astype(kind), 33)
    for name in "int64", "uint64":  # of few upper halves, the most and the least among them
        halves = rng.choice(np.array([-(2**31), -1, 0, 5, 2**31 - 1]), (5, 700)) << 32
        halves[1] = (2**31 - 1) << 32
        halves[2] = -(2**31) << 32
        lower = np.where(rng.random((5, 700)) < 0.3, rng.choice(np.array([0, 2**31, 2**32 - 1]), (5, 700)), rng.integers(0, 2**32, (5, 700)))
        for count in (1, 100, 350):
            check(bench, f"{count} of halves of {name}", (halves | lower).view(name), count)
    least = np.full((2, 3001), np.uint32(0xFFFFFFFF)).view(np.float32)  # as low as what fills the last block
    check(bench, "blocks of the least code", least, 5)
    check(bench, "more than are ranked", rng.standard_normal((2, 1500)).astype(np.float32), 600)
    check(bench, "most of them, which are sorted", rng.standard_normal((3, 400)).astype(np.float32), 300, False)


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases, sampled=True))
