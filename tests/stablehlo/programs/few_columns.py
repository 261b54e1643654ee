"""Products whose columns are too few for a register, which are made with rows and columns changed round, and matrices of short
rows times a vector, whose sums of lanes are turned round: against NumPy in f64, on one thread and on three.

    tests/stablehlo/programs/few_columns.py --bin build/bin"""

import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402


def kind(shape):
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


def check(bench, a, b, batches, of_a, of_b, turns):
    """a . b summed over dims of_a and of_b; `turns`: whether columns come as rows of what is multiplied."""
    batch = list(range(batches))
    rest = [[n for d, n in enumerate(x.shape) if d not in batch and d not in of] for x, of in ((a, of_a), (b, of_b))]
    made = list(a.shape[:batches]) + rest[0] + rest[1]
    letters = "abcdefghij"
    of = [letters[: a.ndim], [None] * b.ndim]
    for d in batch:
        of[1][d] = letters[d]
    for d, e in zip(of_a, of_b):
        of[1][e] = letters[d]
    fresh = iter(letters[a.ndim :])
    of[1] = "".join(c or next(fresh) for c in of[1])
    out = "".join(of[0][d] for d in batch) + "".join(c for d, c in enumerate(of[0]) if d not in batch and d not in of_a)
    out += "".join(c for d, c in enumerate(of[1]) if d not in batch and d not in of_b)
    text = f"func.func @main(%a: {kind(a.shape)}, %b: {kind(b.shape)}) -> {kind(made)} {{\n"
    text += f"%y = stablehlo.dot_general %a, %b, batching_dims = {batch} x {batch}, contracting_dims = {list(of_a)} x {list(of_b)} "
    text += f": ({kind(a.shape)}, {kind(b.shape)}) -> {kind(made)}\nreturn %y : {kind(made)}\n}}\n"
    what = f"{a.shape} by {b.shape} over {of_a} and {of_b}"
    found = bench.runs(text, [a, b], (1, 3))
    nests = subprocess.run([f"{bench.bin}/pbc", str(bench.folder / "m.mlir"), "--target=cpu", "--emit=s1"], check=True, capture_output=True, text=True).stdout
    bench.say((nests.count("= nest") > 2) == turns, f"{what}: changed round: {turns}")
    want = np.einsum(f"{of[0]},{of[1]}->{out}", a.astype(np.float64), b.astype(np.float64))
    for threads, got in zip((1, 3), found):
        bench.say(got.shape == want.shape and np.abs(got - want).max() <= 1e-5 * np.abs(want).max(), f"{what}, {threads} threads")


def cases(bench):
    rng = np.random.default_rng(5)
    some = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    check(bench, some(192, 32), some(8, 32), 0, [1], [1], True)
    check(bench, some(203, 37), some(37, 10), 0, [1], [0], True)
    check(bench, some(33, 70), some(33, 2), 0, [0], [0], True)
    check(bench, some(3, 40, 24), some(3, 24, 5), 1, [2], [1], True)
    check(bench, some(4, 20, 9), some(9, 3, 5), 0, [2], [0], True)  # several dims of rows, and of columns
    check(bench, some(40, 6, 7), some(7, 3, 6), 0, [1, 2], [2, 0], True)
    check(bench, some(15, 32), some(32, 15), 0, [1], [0], False)
    check(bench, some(40, 32), some(32, 16), 0, [1], [0], False)
    for rows, row in (2000, 32), (250, 48), (37, 41), (16, 64):
        check(bench, some(rows, row), some(row), 0, [1], [0], False)
    check(bench, some(3, 50, 36), some(3, 36), 1, [2], [1], False)


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases))
