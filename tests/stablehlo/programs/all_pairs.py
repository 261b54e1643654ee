"""Programs of all pairs, against NumPy in f64: differences of two small tensors that several operators take are computed in each of
them, and the coordinates of points, a short last dim, are turned round while they are few. Of 2 to 5 coordinates, batches,
integers, three readers, the same reader twice; where a sum reads the differences too, and where they are no smaller, they stay,
unless one tensor as large is all that they are made of.

    tests/stablehlo/programs/all_pairs.py --bin build/bin"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402
from seams import Program  # noqa: E402
from written_out import kind_of  # noqa: E402


class Pairs(Program):
    def spread(self, a, shape, dims):
        places = [1] * len(shape)
        for r, d in enumerate(dims):
            places[d] = a[1].shape[r]
        value = np.broadcast_to(a[1].reshape(places), shape)
        return self.op("broadcast_in_dim", [a], f"<{{broadcast_dimensions = array<i64: {', '.join(map(str, dims))}>}}>", value)

    def total(self, a, dim):
        element = kind_of(a[1]).split("x")[-1][:-1]
        number = "0" if element.startswith("i") else "0.0"
        zero = self.op("constant", [], f"<{{value = dense<{number}> : tensor<{element}>}}>", np.zeros((), a[1].dtype))
        one = f"tensor<{element}>"
        body = f"({{\n^bb0(%p: {one}, %q: {one}):\n%s = stablehlo.add %p, %q : {one}\nstablehlo.return %s : {one}\n}})"
        name, value = f"%v{self.count}", a[1].astype(np.float64 if element[0] == "f" else a[1].dtype).sum(dim).astype(a[1].dtype)
        self.count += 1
        self.lines.append(f'{name} = "stablehlo.reduce"({a[0]}, {zero[0]}) <{{dimensions = array<i64: {dim}>}}> {body} : ({kind_of(a[1])}, {one}) -> {kind_of(value)}')
        return name, value

    def apart(self, a):
        """[n, c] to [n, n, c]; [b, n, c] to [b, n, n, c]."""
        *batch, n, c = a[1].shape
        shape, front = (*batch, n, n, c), list(range(len(batch)))
        first, second = self.spread(a, shape, [*front, len(batch), len(batch) + 2]), self.spread(a, shape, [*front, len(batch) + 1, len(batch) + 2])
        return self.both("subtract", second, first)


def pulls(p):
    """As bodies pull at each other."""
    apart = p.apart(("%a0", p.x))
    far = p.total(p.both("multiply", apart, apart), apart[1].ndim - 1)
    near = p.spread(far, apart[1].shape, list(range(far[1].ndim)))
    return p.total(p.both("multiply", apart, p.both("add", near, apart)), apart[1].ndim - 2)


def three_readers(p):
    n = p.x.shape[0]
    row, column = p.spread(("%a0", p.x), (n, n), [1]), p.spread(("%a0", p.x), (n, n), [0])
    d = p.both("subtract", row, column)
    square = p.both("multiply", d, d)
    return p.total(p.both("add", p.both("maximum", square, d), p.both("multiply", d, square)), 1)


def summed_too(p):
    """A sum takes the differences themselves: they are made."""
    apart = p.apart(("%a0", p.x))
    first, second = p.total(p.both("multiply", apart, apart), 1), p.total(apart, 1)
    return p.both("add", first, second)


def no_smaller(p):
    """What is read is as large as what is made."""
    d = p.both("subtract", ("%a0", p.x), p.rolled(("%a0", p.x), 1, 0))
    return p.both("add", p.total(p.both("maximum", d, ("%a0", p.x)), 0), p.total(p.both("multiply", d, d), 1))


def of_one(p):
    """What is read is as large as what is made, but it is the only such, and read in the same order."""
    d = p.both("maximum", ("%a0", p.x), ("%a0", p.x))
    return p.both("add", p.both("multiply", d, d), p.both("subtract", p.both("add", d, d), ("%a0", p.x)))


CASES = {  # the program, the input's shape and type, whether the differences go
    "bodies": (pulls, (70, 3), np.float32, True),
    "two rows of lanes and one": (pulls, (33, 3), np.float32, True),
    "four coordinates, less one lane": (pulls, (63, 4), np.float32, True),
    "in a plane": (pulls, (64, 2), np.float32, True),
    "five coordinates": (pulls, (33, 5), np.float32, True),
    "batches": (pulls, (3, 40, 3), np.float32, True),
    "integers": (pulls, (48, 3), np.int32, True),
    "in double precision": (pulls, (50, 3), np.float64, True),
    "three readers": (three_readers, (90,), np.float32, True),
    "summed too": (summed_too, (60, 3), np.float32, False),
    "no smaller": (no_smaller, (64, 64), np.float32, False),
    "of one as large": (of_one, (65, 79), np.float32, True),
}


def cases(bench):
    rng = np.random.default_rng(6)
    for name, (make, shape, dtype, goes) in CASES.items():
        x = rng.integers(-8, 8, shape).astype(dtype)  # sums of such are exact in any order
        program = Pairs(x)
        result, value = make(program)
        bench.say(np.array_equal(bench.run(program.text(result, value), x), value), name)
        passed = bench.after("inline")
        stays = f'pb.nest = "{"maximum" if make is of_one else "subtract"}' in passed
        bench.say(stays != goes and "pb.nest" in passed, f"{name}: differences {'go' if goes else 'stay'}")


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases))
