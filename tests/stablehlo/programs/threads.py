"""Plain loops that threads share: sorts, top-k, rows that are scattered and gathered, on 1, 2 and 7 threads, the same bits,
against NumPy. What cannot be cut stays one thread's, and pbc says so.

    tests/stablehlo/programs/threads.py --bin build/bin"""

import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402
from written_out import kind_of  # noqa: E402

THREADS = 1, 2, 7


def module(arguments, results, lines):
    head = ", ".join(f"%a{k}: {kind}" for k, kind in enumerate(arguments))
    return f"func.func @main({head}) -> ({', '.join(results)}) {{\n" + "\n".join(lines) + "\n}\n"


def sorted_rows(rng, rows=9):
    x = rng.integers(-50, 50, (rows, 700)).astype(np.float32)
    body = "({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n%c = stablehlo.compare LT, %p, %q, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>\nstablehlo.return %c : tensor<i1>\n})"
    kind = kind_of(x)
    text = module([kind], [kind], [f'%r = "stablehlo.sort"(%a0) <{{dimension = 1 : i64, is_stable = true}}> {body} : ({kind}) -> {kind}', f"return %r : {kind}"])
    return text, [x], [np.sort(x, 1)]


def sorted_columns(rng):
    text, (x,), _ = sorted_rows(rng)
    x = np.ascontiguousarray(x.T)
    return text.replace("dimension = 1", "dimension = 0").replace("tensor<9x700xf32>", "tensor<700x9xf32>"), [x], [np.sort(x, 0)]


def largest(rng):
    x = rng.integers(-500, 500, (11, 900)).astype(np.float32)
    order = np.argsort(-x, 1, kind="stable")[:, :40]
    values, places = "tensor<11x40xf32>", "tensor<11x40xi32>"
    text = module([kind_of(x)], [values, places], [f"%r:2 = chlo.top_k(%a0, k = 40) : {kind_of(x)} -> ({values}, {places})", f"return %r#0, %r#1 : {values}, {places}"])
    return text, [x], [np.take_along_axis(x, order, 1), order.astype(np.int32)]


def scattered(rng, axis, add):
    """Rows, or columns, at places of which some lie outside: these change nothing."""
    x, shape = rng.integers(-9, 9, (40, 24)).astype(np.float32), [500, 24]
    if axis:
        shape = [40, 500]
    at = rng.integers(-3, x.shape[axis] + 3, (500, 1)).astype(np.int32)
    u = rng.integers(-9, 9, shape).astype(np.float32)
    want = x.copy()
    for k in range(500):
        if 0 <= at[k, 0] < x.shape[axis]:
            part = (slice(None), at[k, 0]) if axis else at[k, 0]
            want[part] = want[part] + u.take(k, axis) if add else u.take(k, axis)
    body = "%s = stablehlo.add %p, %q : tensor<f32>\nstablehlo.return %s : tensor<f32>" if add else "stablehlo.return %q : tensor<f32>"
    numbers = f"#stablehlo.scatter<update_window_dims = [{0 if axis else 1}], inserted_window_dims = [{axis}], scatter_dims_to_operand_dims = [{axis}], index_vector_dim = 1>"
    text = module([kind_of(x), kind_of(at), kind_of(u)], [kind_of(x)], [
        f'%r = "stablehlo.scatter"(%a0, %a1, %a2) <{{scatter_dimension_numbers = {numbers}}}> ({{\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n{body}\n}})'
        f" : ({kind_of(x)}, {kind_of(at)}, {kind_of(u)}) -> {kind_of(x)}", f"return %r : {kind_of(x)}"])
    return text, [x, at, u], [want]


def counted(rng):
    """Numbers of one dim alone: nothing of it can be cut."""
    at = rng.integers(-2, 34, (3000, 1)).astype(np.int32)
    want = np.bincount(at[(at >= 0) & (at < 32)], minlength=32).astype(np.int32)
    lines = ["%z = stablehlo.constant dense<0> : tensor<32xi32>", "%o = stablehlo.constant dense<1> : tensor<3000xi32>",
             '%r = "stablehlo.scatter"(%z, %a0, %o) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n'
             "^bb0(%p: tensor<i32>, %q: tensor<i32>):\n%s = stablehlo.add %p, %q : tensor<i32>\nstablehlo.return %s : tensor<i32>\n}) : (tensor<32xi32>, tensor<3000x1xi32>, tensor<3000xi32>) -> tensor<32xi32>",
             "return %r : tensor<32xi32>"]
    return module([kind_of(at)], ["tensor<32xi32>"], lines), [at], [want]


CASES = {
    "sorted rows": (sorted_rows, True),
    "sorted rows, of which none are merged side by side": (lambda rng: sorted_rows(rng, 11), True),
    "sorted columns": (sorted_columns, True),
    "the largest": (largest, True),
    "rows that are set": (lambda rng: scattered(rng, 0, False), True),
    "rows that are added": (lambda rng: scattered(rng, 0, True), True),
    "columns that are added": (lambda rng: scattered(rng, 1, True), True),
    "numbers that are counted": (counted, False),
}


def check(bench, name, make, shared, rng):
    text, inputs, expected = make(rng)
    done = bench.compile(text)
    if done.returncode:
        raise SystemExit(done.stderr)
    said = [line for line in done.stderr.splitlines() if "PB4065" in line]
    bench.say(bool(said) and all(("on one thread" not in line) == shared for line in said), f"{name}: what pbc says of its loops: {said}")
    args = []
    for k, data in enumerate(inputs):
        np.save(bench.folder / f"{k}.npy", data)
        args += ["--input", f"arg{k}={bench.folder / f'{k}.npy'}"]
    for threads in THREADS:
        outputs = [bench.folder / f"out{k}.npy" for k in range(len(expected))]
        subprocess.run([f"{bench.bin}/pb-run", str(bench.folder / "m.pbe"), f"--threads={threads}", *args,
                        *[word for k, path in enumerate(outputs) for word in ("--output", f"out{k}={path}")]], check=True, capture_output=True)
        good = all(np.array_equal(np.load(path), want) for path, want in zip(outputs, expected))
        bench.say(good, f"{name}, {threads} threads")


def cases(bench):
    rng = np.random.default_rng(3)
    for name, (make, shared) in CASES.items():
        check(bench, name, make, shared, rng)


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases))
