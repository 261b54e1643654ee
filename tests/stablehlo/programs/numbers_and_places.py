"""Tensors that are one number everywhere, and places that a few operators compute, against NumPy: what takes the number has it in
its code, and what looks up or scatters elements computes the places on the way. Counts, sums and maxima by place, look-ups, numbers
chosen by a truth, places that are read twice or take long to compute, and such out of range; sums by place of up to 65,536, to the bit.

    tests/stablehlo/programs/numbers_and_places.py --bin build/bin"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402
from seams import Program  # noqa: E402
from written_out import kind_of  # noqa: E402


class Places(Program):
    def number(self, value, shape, dtype):
        element = kind_of(np.zeros((), dtype))[7:-1]
        one = self.op("constant", [], f"<{{value = dense<{value}> : tensor<{element}>}}>", np.array(value, dtype))
        return self.op("broadcast_in_dim", [one], "<{broadcast_dimensions = array<i64>}>", np.full(shape, value, dtype)) if shape else one

    def wrapped(self, i, n):
        """As jax.numpy reads places from the end."""
        size, zero = self.number(n, i[1].shape, np.int32), self.number(0, i[1].shape, np.int32)
        less = self.op("compare", [i, zero], "<{comparison_direction = #stablehlo<comparison_direction LT>}>", i[1] < 0)
        return self.op("select", [less, self.both("add", i, size), i], "", np.where(i[1] < 0, i[1] + n, i[1]).astype(np.int32))

    def column(self, i):
        return self.op("reshape", [i], "", i[1][:, None])

    def scattered(self, into, i, updates, by):
        value, how = into[1].copy(), {"add": np.add, "maximum": np.maximum}[by]
        inside = (i[1] >= 0) & (i[1] < len(value))
        how.at(value, i[1][inside], updates[1][inside])
        one, made = kind_of(into[1][0]), f"%v{self.count}"
        self.count += 1
        body = f"({{\n^bb0(%p: {one}, %q: {one}):\n%s = stablehlo.{by} %p, %q : {one}\nstablehlo.return %s : {one}\n}})"
        column = self.column(i)
        attributes = "<{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}>"
        kinds = ", ".join(kind_of(v) for _, v in (into, column, updates))
        self.lines.append(f'{made} = "stablehlo.scatter"({into[0]}, {column[0]}, {updates[0]}) {attributes} {body} : ({kinds}) -> {kind_of(value)}')
        return made, value

    def taken(self, table, i):
        attributes = "<{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}>"
        return self.op("gather", [table, self.column(i)], attributes, table[1][np.clip(i[1], 0, len(table[1]) - 1)])


COUNT, BINS = 700, 37


def counts(p):
    return p.scattered(p.number(0, (BINS,), np.int32), p.wrapped(("%a0", p.x), BINS), p.number(1, (len(p.x),), np.int32), "add")


def counts_in_f32(p):
    return p.scattered(p.number(2.5, (BINS,), np.float32), p.wrapped(("%a0", p.x), BINS), p.number(0.5, (len(p.x),), np.float32), "add")


def largest(p):
    """What is scattered is read as well, so that its places are made by a nest of their own."""
    i = p.wrapped(("%a0", p.x), BINS)
    most = p.scattered(p.number(-50, (BINS,), np.int32), i, p.both("multiply", i, ("%a0", p.x)), "maximum")
    return p.taken(most, i)


def looked_up(p):
    table = p.both("multiply", p.number(3, (BINS,), np.int32), p.scattered(p.number(0, (BINS,), np.int32), ("%a0", p.x), p.number(1, (len(p.x),), np.int32), "add"))
    i = p.both("subtract", p.wrapped(("%a0", p.x), BINS), p.number(1, (len(p.x),), np.int32))
    return p.taken(table, i)


def chosen(p):
    """A number where a truth says so; the same number is added elsewhere."""
    x, two = ("%a0", p.x), p.number(2, (len(p.x),), np.int32)
    less = p.op("compare", [x, two], "<{comparison_direction = #stablehlo<comparison_direction LT>}>", p.x < 2)
    return p.both("add", p.op("select", [less, two, x], "", np.where(p.x < 2, 2, p.x).astype(np.int32)), two)


def weighted(dtype):
    """Numbers of the turn are added, each rounded in its order: onto -0, which stays what it is where nothing is."""
    def make(p):
        x = p.op("convert", [("%a0", p.x)], "", p.x.astype(dtype))
        updates = p.both("multiply", x, p.number(3 if np.issubdtype(dtype, np.integer) else 0.1, (len(p.x),), dtype))
        return p.scattered(p.number(0 if np.issubdtype(dtype, np.integer) else -0.0, (BINS,), dtype), ("%a0", p.x), updates, "add")
    return make


CASES = {  # the program, and how many nests of code it is at most
    "counts": (counts, 2),
    "counts of floats": (counts_in_f32, 2),
    "largest by place": (largest, 6),
    "look-ups": (looked_up, 5),
    "a number by a truth": (chosen, 1),
}


def cases(bench):
    rng = np.random.default_rng(7)
    for name, (make, most) in CASES.items():
        x = rng.integers(-BINS - 5, BINS + 5, COUNT).astype(np.int32)
        program = Places(x)
        result, value = make(program)
        bench.say(np.array_equal(bench.run(program.text(result, value), x), value), name)
        passed = bench.after("inline")
        bench.say(1 <= passed.count("pb.nest") <= most, f"{name}: {passed.count('pb.nest')} nests")
    for count in 1023, 1024, 1031, 1600, 2500, 4096, 5000, 65536:  # places of several hundred turns at a time
        x = rng.integers(-5, BINS + 5, count).astype(np.int32)
        x[x == 7] = 8  # a place that stays
        many = {"counts": counts, "counts of floats": counts_in_f32, **{f"weights in {np.dtype(t).name}": weighted(t) for t in (np.int32, np.int64, np.float32, np.float64)}}
        for name, make in many.items():
            program = Places(x)
            result, value = make(program)
            bench.say(bench.run(program.text(result, value), x).tobytes() == value.tobytes(), f"{count} {name}")


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases))
