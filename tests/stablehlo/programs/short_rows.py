"""Matrices of short rows that a loop multiplies by a vector, against NumPy: turned round in front of the loop where it leaves them
as they are (core/s1/rewrite/short_dims.c), beside a product by the matrix as it is turned by the program, and in loops of loops;
not where a turn changes the matrix, where rows are long, or where they are few.

    tests/stablehlo/programs/short_rows.py --bin build/bin"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402

TURNS = 501  # more than are written out


def text(n, k, body, changes):
    """v = body(x, v) in a loop; `changes`: x is another one after each turn."""
    x, v = f"tensor<{n}x{k}xf32>", f"tensor<{k}xf32>"
    return f"""func.func @main(%x: {x}, %v: {v}) -> {v} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %m = %x, %u = %v) : tensor<i32>, {x}, {v}
  cond {{
    %many = stablehlo.constant dense<{TURNS}> : tensor<i32>
    %p = stablehlo.compare LT, %i, %many, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
{body}
    %other = stablehlo.negate %m : {x}
    stablehlo.return %next, {'%other' if changes else '%m'}, %w : tensor<i32>, {x}, {v}
  }}
  return %r#2 : {v}
}}
"""


def products(n, k):
    """w = the signs of x.T @ (x @ v): numbers stay small, and sums exact."""
    x, v, y = f"tensor<{n}x{k}xf32>", f"tensor<{k}xf32>", f"tensor<{n}xf32>"
    return f"""    %y = stablehlo.dot_general %m, %u, contracting_dims = [1] x [0] : ({x}, {v}) -> {y}
    %s = stablehlo.sign %y : {y}
    %t = stablehlo.transpose %m, dims = [1, 0] : ({x}) -> tensor<{k}x{n}xf32>
    %z = stablehlo.dot_general %t, %s, contracting_dims = [1] x [0] : (tensor<{k}x{n}xf32>, {y}) -> {v}
    %w = stablehlo.sign %z : {v}"""


def only(n, k):
    """Without a product by the turned matrix: the first numbers of x @ v."""
    x, v, y = f"tensor<{n}x{k}xf32>", f"tensor<{k}xf32>", f"tensor<{n}xf32>"
    return f"""    %y = stablehlo.dot_general %m, %u, contracting_dims = [1] x [0] : ({x}, {v}) -> {y}
    %s = stablehlo.sign %y : {y}
    %w = stablehlo.slice %s [3:{3 + k}] : ({y}) -> {v}"""


CASES = {  # rows, columns, body, whether a turn changes the matrix, whether it is turned round
    "a regression": (400, 32, products, False, True),
    "the rows alone": (300, 7, only, False, True),
    "no whole register": (257, 19, only, False, True),
    "a matrix that changes": (400, 32, only, True, False),
    "long rows": (300, 100, only, False, False),
    "few rows": (90, 16, only, False, False),
}


def cases(bench):
    rng = np.random.default_rng(8)
    for name, (n, k, make, changes, turns) in CASES.items():
        x, v = rng.integers(-3, 4, (n, k)).astype(np.float32), rng.integers(-2, 3, k).astype(np.float32)
        want, m = v, x
        for _ in range(TURNS):
            s = np.sign(m @ want)
            want, m = np.sign(m.T @ s) if make is products else s[3 : 3 + k], -m if changes else m
        for threads, got in zip((1, 2), bench.runs(text(n, k, make(n, k), changes), (x, v), (1, 2))):
            bench.say(np.array_equal(got, want), f"{name}, {threads} threads")
        if make is only:
            bench.say((f"memref<{k}x{n}xf32>" in bench.after("scaled_codes")) == turns, f"{name}: turned round: {turns}")


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases))
