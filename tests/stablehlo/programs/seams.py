"""Pointwise programs that read tensors put together of copies (rolls, borders that repeat), against NumPy: in one and three dims,
by several places, of several readers and types; where parts are as large as each other and nothing is cut.

    tests/stablehlo/programs/seams.py --bin build/bin"""

import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402
from written_out import kind_of  # noqa: E402


class Program:
    """Values with what NumPy makes of them."""

    def __init__(self, x):
        self.lines, self.x, self.count = [], x, 0

    def op(self, name, operands, attributes, value):
        made = f"%v{self.count}"
        self.count += 1
        kinds = ", ".join(kind_of(v) for _, v in operands)
        self.lines.append(f'{made} = "stablehlo.{name}"({", ".join(n for n, _ in operands)}) {attributes} : ({kinds}) -> {kind_of(value)}')
        return made, value

    def text(self, result, value):
        """The function of the one input x."""
        lines, of, to = "\n".join(self.lines), kind_of(self.x), kind_of(value)
        return f"func.func @main(%a0: {of}) -> {to} {{\n{lines}\nreturn {result} : {to}\n}}\n"

    def slice(self, a, axis, first, last):
        shape = a[1].shape
        ends = [[first if r == axis else 0 for r in range(len(shape))], [last if r == axis else n for r, n in enumerate(shape)]]
        texts = [", ".join(map(str, list(e))) for e in (*ends, [1] * len(shape))]
        attributes = f"<{{start_indices = array<i64: {texts[0]}>, limit_indices = array<i64: {texts[1]}>, strides = array<i64: {texts[2]}>}}>"
        return self.op("slice", [a], attributes, a[1][tuple(slice(*e) for e in zip(*ends))])

    def joined(self, parts, axis):
        return self.op("concatenate", parts, f"<{{dimension = {axis} : i64}}>", np.concatenate([v for _, v in parts], axis))

    def rolled(self, a, by, axis):
        n = a[1].shape[axis]
        return self.joined([self.slice(a, axis, n - by % n, n), self.slice(a, axis, 0, n - by % n)], axis)

    def both(self, name, a, b):
        by = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum}[name]
        return self.op(name, [a, b], "", by(a[1], b[1]))


def life(p):
    """Sums along one dim, and of these along the other; what is made so is read three times."""
    u = "%a0", p.x
    rows = p.both("add", p.both("add", u, p.rolled(u, 1, 0)), p.rolled(u, -1, 0))
    return p.both("subtract", p.both("add", p.both("add", rows, p.rolled(rows, 1, 1)), p.rolled(rows, -1, 1)), u)


def far(p):
    """By several places, and of a roll of a roll."""
    u = "%a0", p.x
    return p.both("maximum", p.both("multiply", p.rolled(u, 3, 0), p.rolled(u, -2, 0)), p.rolled(p.rolled(u, 1, 1), -2, 0))


def in_space(p):
    u = "%a0", p.x
    made = u
    for axis in range(3):
        made = p.both("add", made, p.both("subtract", p.rolled(u, 1, axis), p.rolled(u, -1, axis)))
    return made


def repeated(p):
    """Borders that repeat the edge, and a stencil inside of them."""
    u, n = ("%a0", p.x), p.x.shape[1]
    wide = p.joined([p.slice(u, 1, 0, 1), u, p.slice(u, 1, n - 1, n)], 1)
    return p.both("subtract", p.slice(wide, 1, 2, n + 2), p.slice(wide, 1, 0, n))


def halves(p):
    u, n = ("%a0", p.x), p.x.shape[0]
    return p.both("add", u, p.rolled(u, n // 2, 0))


def two_readers(p):
    """One takes the tensor by elements, the other sums it: it is put together all the same."""
    u = "%a0", p.x
    r = p.rolled(u, 1, 1)
    zero = p.op("constant", [], "<{value = dense<0.0> : tensor<f32>}>", np.zeros((), np.float32))
    body = "({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n%s = stablehlo.add %p, %q : tensor<f32>\nstablehlo.return %s : tensor<f32>\n})"
    name, value = f"%v{p.count}", r[1].sum(1)
    p.count += 1
    p.lines.append(f'{name} = "stablehlo.reduce"({r[0]}, {zero[0]}) <{{dimensions = array<i64: 1>}}> {body} : ({kind_of(r[1])}, tensor<f32>) -> {kind_of(value)}')
    spread = p.op("broadcast_in_dim", [(name, value)], "<{broadcast_dimensions = array<i64: 0>}>", np.broadcast_to(value[:, None], r[1].shape))
    return p.both("add", p.both("subtract", u, r), spread)


CASES = {  # the program, the input's shape and type, whether its tensors put together go
    "sums along two dims": (life, (40, 70), np.float32, True),
    "of integers": (life, (33, 64), np.int32, True),
    "by several places": (far, (90, 48), np.float32, True),
    "in space": (in_space, (48, 60, 50), np.float32, True),
    "a border that repeats": (repeated, (5, 90), np.float32, True),
    "parts of one size": (halves, (32, 32), np.float32, False),
    "read by a sum too": (two_readers, (20, 60), np.float32, False),
}


def cases(bench):
    rng = np.random.default_rng(5)
    for name, (make, shape, dtype, goes) in CASES.items():
        x = rng.integers(-20, 20, shape).astype(dtype)
        program = Program(x)
        result, value = make(program)
        bench.say(np.array_equal(bench.run(program.text(result, value), x), value), name)
        explained = subprocess.run([f"{bench.bin}/pbc", str(bench.folder / "m.mlir"), "--target=cpu", "--explain"], capture_output=True, text=True).stdout
        bench.say(("concatenate:" in explained) != goes, f"{name}: what is put together {'goes' if goes else 'stays'}")


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases))
