"""Loops whose turns make large tensors anew, which lie in two places in turn, against NumPy: one and several, that change places,
go round three, come out of branches and of loops inside; with small kernels beside them, which are one. No turn to six of them,
on one thread and on several.

    tests/host/in_turn.py --bin build/bin"""

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE)]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from run import execute  # noqa: E402
from updates import Text, kind, module  # noqa: E402

SHAPE = (160, 96)
LARGE, SMALL = kind(SHAPE), "tensor<f32>"


def turned(t, x):
    """Read otherwise than it is written: no place may be both."""
    return t.op("reverse", [x], [LARGE], LARGE, "<{dimensions = array<i64: 0>}>")


def spread(t, x):
    return t.op("broadcast_in_dim", [x], [SMALL], LARGE, "<{broadcast_dimensions = array<i64>}>")


def one(t, names):
    _, a, w = names
    return [t.same("add", turned(t, a), w, SHAPE), w]


def two(t, names):
    _, a, b = names
    return [t.same("add", turned(t, a), b, SHAPE), t.same("subtract", b, turned(t, a), SHAPE)]


def changed(t, names):
    _, a, b = names
    return [t.same("add", turned(t, b), a, SHAPE), a]


def three(t, names):
    _, a, b, c = names
    return [t.same("add", turned(t, c), a, SHAPE), a, b]


def given_on(t, names):
    """What is made goes into two values."""
    _, a, b = names
    made = t.same("add", turned(t, a), b, SHAPE)
    return [made, made]


def with_numbers(t, names):
    """Small kernels in a row, some of whose numbers the next turn reads."""
    _, a, s = names
    for _ in range(5):
        s = t.op("cosine", [t.same("add", s, t.op("tanh", [s], [SMALL], SMALL), ())], [SMALL], SMALL)
    return [t.same("add", turned(t, a), spread(t, s), SHAPE), s]


def inside(t, names):
    """Three turns of a loop in each."""
    i, a, w = names
    lines = Text()
    lines.count = 1000
    made = lines.same("add", turned(lines, "%d1"), w, SHAPE)
    more = lines.op("add", ["%d0", lines.number(1)], ["tensor<i32>"] * 2, "tensor<i32>")
    last = t.op("add", [i, t.number(3)], ["tensor<i32>"] * 2, "tensor<i32>")
    pair = f"tensor<i32>, {LARGE}"
    t.lines.append(f'''%inner:2 = "stablehlo.while"({i}, {a}) ({{
      ^bb0(%e0: tensor<i32>, %e1: {LARGE}):
        %on = "stablehlo.compare"(%e0, {last}) <{{comparison_direction = #stablehlo<comparison_direction LT>}}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%on) : (tensor<i1>) -> ()
      }}, {{
      ^bb0(%d0: tensor<i32>, %d1: {LARGE}):
        {" ".join(f"{line}{chr(10)}" for line in lines.lines)}
        "stablehlo.return"({more}, {made}) : ({pair}) -> ()
      }}) : ({pair}) -> ({pair})''')
    return [t.same("subtract", turned(t, "%inner#1"), w, SHAPE), w]


def branch(t, names):
    """Every second turn by a product, which is jumped over else."""
    i, a, w = names
    bit = t.op("and", [i, t.number(1)], ["tensor<i32>"] * 2, "tensor<i32>")
    odd = t.op("compare", [bit, t.number(1)], ["tensor<i32>"] * 2, "tensor<i1>", "<{comparison_direction = #stablehlo<comparison_direction EQ>}>")
    inner = Text()
    inner.count = 1000
    square = kind((SHAPE[1], SHAPE[1]))
    dims = "#stablehlo.dot<lhs_contracting_dimensions = [{}], rhs_contracting_dimensions = [0]>"
    across = inner.op("dot_general", [a, w], [LARGE, LARGE], square, f"<{{dot_dimension_numbers = {dims.format(0)}}}>")
    made = inner.op("dot_general", [w, across], [LARGE, square], LARGE, f"<{{dot_dimension_numbers = {dims.format(1)}}}>")
    made = inner.op("tanh", [made], [LARGE], LARGE)
    t.lines.append(f'''%chosen = "stablehlo.if"({odd}) ({{
        {" ".join(f"{line}{chr(10)}" for line in inner.lines)}
        "stablehlo.return"({made}) : ({LARGE}) -> ()
      }}, {{
        "stablehlo.return"({turned(t, a)}) : ({LARGE}) -> ()
      }}) : (tensor<i1>) -> {LARGE}''')
    return ["%chosen", w]


def of_numbers(i, a, s):
    for _ in range(5):
        s = np.cos(s + np.tanh(s))
    return a[::-1] + s, s


def of_inside(i, a, w):
    for _ in range(3):
        a = a[::-1] + w
    return a[::-1] - w, w


CASES = {  # kinds, the turn as text and in NumPy, whether copies of whole tensors go, if one loop tells
    "one": ([LARGE] * 2, one, lambda i, a, w: (a[::-1] + w, w), True),
    "two": ([LARGE] * 2, two, lambda i, a, b: (a[::-1] + b, b - a[::-1]), True),
    "two that change places": ([LARGE] * 2, changed, lambda i, a, b: (b[::-1] + a, a), True),
    "three that go round": ([LARGE] * 3, three, lambda i, a, b, c: (c[::-1] + a, a, b), True),
    "given on": ([LARGE] * 2, given_on, lambda i, a, b: (a[::-1] + b,) * 2, False),
    "numbers beside it": ([LARGE, SMALL], with_numbers, of_numbers, True),
    "a loop inside": ([LARGE] * 2, inside, of_inside, None),
    "a branch": ([LARGE] * 2, branch, lambda i, a, w: (np.tanh(w @ (a.T @ w)) if i & 1 else a[::-1], w), None),
}


def compiled(bin_dir, folder, how):
    done = tools.call([f"{bin_dir}/pbc", str(folder / "m.mlir"), "--target=cpu", f"--loops={how}", "-o", str(folder / f"{how}.pbe")])
    return done.stderr.strip() if done.returncode else ""


def problems(bin_dir, folder, case, rng):
    kinds, body, numpy, saves = case
    (folder / "m.mlir").write_text(module(kinds, body))
    values = [(0.1 * rng.standard_normal(SHAPE if k == LARGE else ())).astype(np.float32) for k in kinds]
    for how in "steps", "kernels":
        refused = compiled(bin_dir, folder, how)
        if refused:
            return f"refused: {refused}"
    want, first = values, None
    for turns in range(7):
        want = want if not turns else numpy(turns - 1, *want)
        for how, threads in ("steps", 1), ("kernels", 1), ("kernels", 3):
            got = execute(bin_dir, folder / f"{how}.pbe", [*values, np.int32(turns)], len(kinds), threads, folder)
            if not all(a.shape == np.shape(b) and np.allclose(a, b, rtol=1e-4, atol=1e-4) for a, b in zip(got, want)):
                return f"{turns} turns by {how} on {threads} threads are wrong"
            first = got if how == "steps" else first
            if any(a.tobytes() != b.tobytes() for a, b in zip(got, first)):
                return f"{turns} turns by {how} on {threads} threads have other bits"
    listed = tools.run([f"{bin_dir}/pb-objdump", str(folder / "steps.pbe"), "--headers"])
    if saves is not None and saves != (listed.count("unless(") == 2):
        return f"copies {'are left' if saves else 'went'}:\n{listed}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    options = parser.parse_args()
    failed, rng = 0, np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        for name, case in CASES.items():
            why = problems(options.bin, Path(folder), case, rng)
            failed += bool(why)
            if why:
                print(f"FAILED {name}: {why}", flush=True)
    print(f"{len(CASES) - failed} of {len(CASES)} right")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
