"""Sums of two tensors with gaps, each where the other has its elements, bit for bit as NumPy has them: along each dim of ranks 1
to 3, of even and odd extents, several types, of -0; and sums that are not such, which pad as they say.

    tests/stablehlo/programs/interleaves.py --bin build/bin"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402
from written_out import kind_of  # noqa: E402


def padded(x, axis, low, high, gap, fill):
    shape = list(x.shape)
    shape[axis] = (shape[axis] - 1) * (gap + 1) + 1 + low + high
    y = np.full(shape, fill, x.dtype)
    y[tuple(slice(low, low + (x.shape[axis] - 1) * (gap + 1) + 1, gap + 1) if r == axis else slice(None) for r in range(x.ndim))] = x
    return y


def list_of(rank, axis, n):
    return ", ".join(str(n if r == axis else 0) for r in range(rank))


def program(inputs, axis, edges, gap, fill, name, types):
    """The text, and what NumPy makes of it. edges: of each input, in front and behind."""
    number = float(fill) if types.startswith("f") else fill
    lines, made = [f"%z = stablehlo.constant dense<{number}> : tensor<{types}>"], []
    for k, (x, (low, high)) in enumerate(zip(inputs, edges)):
        made.append(padded(x, axis, low, high, gap, fill))
        says = [f"{n} = array<i64: {list_of(x.ndim, axis, v)}>" for n, v in (("edge_padding_low", low), ("edge_padding_high", high), ("interior_padding", gap))]
        lines.append(f'%p{k} = "stablehlo.pad"(%a{k}, %z) <{{{", ".join(says)}}}> : ({kind_of(x)}, tensor<{types}>) -> {kind_of(made[-1])}')
    y = {"add": np.add, "subtract": np.subtract}[name](*made)
    lines += [f"%r = stablehlo.{name} %p0, %p1 : {kind_of(y)}"]
    arguments = ", ".join(f"%a{k}: {kind_of(x)}" for k, x in enumerate(inputs))
    return f"func.func @main({arguments}) -> {kind_of(y)} {{\n" + "\n".join(lines) + f"\nreturn %r : {kind_of(y)}\n}}\n", y


def numbers(rng, shape, dtype):
    x = rng.integers(-20, 20, shape).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        x[rng.random(shape) < 0.2] = -0.0
    return x


def cases(bench):
    rng = np.random.default_rng(11)
    in_turns = made = 0
    for dtype, types in ((np.float32, "f32"), (np.float64, "f64"), (np.int32, "i32"), (np.int8, "i8"), (np.int64, "i64")):
        for shape, axis in (((37,), 0), ((5, 64), 1), ((64, 5), 0), ((3, 17, 8), 1), ((2, 3, 33), 2), ((4, 1), 1)):
            if types != "f32" and axis != 1:
                continue
            for longer in (0, 1):  # the first has as many, or one more
                first = tuple(n + (longer if r == axis else 0) for r, n in enumerate(shape))
                inputs = numbers(rng, first, dtype), numbers(rng, shape, dtype)
                edges = [(0, 1 - longer), (1, longer)]
                turned = rng.random() < 0.5
                text, y = program(inputs[::-1] if turned else inputs, axis, edges[::-1] if turned else edges, 1, 0, "add", types)
                got = bench.run(text, *(inputs[::-1] if turned else inputs))
                same = got.tobytes() == np.ascontiguousarray(y).tobytes()
                bench.say(same, f"{types} {first} and {shape} along {axis}")
                made += 1
                in_turns += "gather" not in bench.after("unsigned")
    bench.say(in_turns == made, f"{in_turns} of {made} look for no places")
    x, y = numbers(rng, (6, 20), np.float32), numbers(rng, (6, 20), np.float32)
    for what, edges, gap, fill, name in (
        ("both in the same places", [(0, 1), (0, 1)], 1, 0, "add"),
        ("wider gaps", [(0, 2), (1, 1)], 2, 0, "add"),
        ("gaps of ones", [(0, 1), (1, 0)], 1, 1, "add"),
        ("wider edges", [(2, 1), (1, 2)], 1, 0, "add"),
        ("a difference", [(0, 1), (1, 0)], 1, 0, "subtract"),
    ):
        text, result = program((x, y), 1, edges, gap, fill, name, "f32")
        bench.say(np.array_equal(bench.run(text, x, y), result), what)


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases))
