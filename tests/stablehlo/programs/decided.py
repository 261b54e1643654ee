"""What constants alone decide, as exporters say it: positions by iota, masks, tables of sines, places of gathers and scatters
that are computed of such. It is computed once, so that chips run it which compute no index: against NumPy.

    tests/stablehlo/programs/decided.py --bin build/bin [--targets cpu,simnpu]"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402

ELEMENTS = {"float32": "f32", "int32": "i32", "int64": "i64", "bool": "i1"}


class Text:
    """A function in the making: each call adds a line and returns the value that it makes, with its type."""

    def __init__(self, *inputs):
        self.kinds, self.lines = [self.kind(x.shape, ELEMENTS[str(x.dtype)]) for x in inputs], []
        self.arguments = [(f"%a{k}", kind) for k, kind in enumerate(self.kinds)]

    @staticmethod
    def kind(shape, element="f32"):
        return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"

    def op(self, name, operands, kind, attributes=""):
        made = f"%v{len(self.lines)}"
        of = ", ".join(operand[0] for operand in operands)
        types = ", ".join(operand[1] for operand in operands)
        self.lines.append(f'{made} = "stablehlo.{name}"({of}) <{{{attributes}}}> : ({types}) -> {kind}')
        return made, kind

    def number(self, value, shape, element="f32"):
        return self.op("constant", [], self.kind(shape, element), f"value = dense<{value}> : {self.kind(shape, element)}")

    def iota(self, shape, dim, element="f32"):
        return self.op("iota", [], self.kind(shape, element), f"iota_dimension = {dim} : i64")

    def spread(self, x, shape, dims, element="f32"):
        return self.op("broadcast_in_dim", [x], self.kind(shape, element), f"broadcast_dimensions = array<i64{':' if dims else ''} {', '.join(map(str, dims))}>")

    def compare(self, how, a, b, shape, sign="SIGNED"):
        said = f"comparison_direction = #stablehlo<comparison_direction {how}>, compare_type = #stablehlo<comparison_type {sign}>"
        return self.op("compare", [a, b], self.kind(shape, "i1"), said)

    def gather(self, x, at, kind, offset, collapsed, start, vector, size):
        numbers = f"offset_dims = {offset}, collapsed_slice_dims = {collapsed}, start_index_map = {start}, index_vector_dim = {vector}"
        said = f"dimension_numbers = #stablehlo.gather<{numbers}>, indices_are_sorted = false, slice_sizes = array<i64: {', '.join(map(str, size))}>"
        return self.op("gather", [x, at], kind, said)

    def done(self, result):
        arguments = ", ".join(f"{name}: {kind}" for name, kind in self.arguments)
        body = "\n".join(self.lines)
        return f'func.func @main({arguments}) -> {result[1]} {{\n{body}\n"func.return"({result[0]}) : ({result[1]}) -> ()\n}}\n'


def sines(x):
    """x plus a table of sines of positions times frequencies that are powers of another table."""
    n, length, width = x.shape
    t = Text(x)
    frequency = t.op("exponential", [t.op("multiply", [t.iota((width,), 0), t.number(-0.25, (width,))], t.kind((width,)))], t.kind((width,)))
    angle = t.op("multiply", [t.iota((length, width), 0), t.spread(frequency, (length, width), [1])], t.kind((length, width)))
    table = t.op("sine", [angle], angle[1])
    text = t.done(t.op("add", [t.arguments[0], t.spread(table, x.shape, [1, 2])], t.kinds[0]))
    return text, x + np.sin(np.arange(length)[:, None] * np.exp(-0.25 * np.arange(width)))


def causal(x):
    """Scores below a diagonal, all others a large negative number."""
    rows, columns = x.shape[-2:]
    t = Text(x)
    at = t.op("add", [t.iota((rows, columns), 0, "i32"), t.number(2, (rows, columns), "i32")], t.kind((rows, columns), "i32"))
    holds = t.compare("GE", at, t.iota((rows, columns), 1, "i32"), (rows, columns))
    spread = t.spread(holds, x.shape, [x.ndim - 2, x.ndim - 1], "i1")
    text = t.done(t.op("select", [spread, t.arguments[0], t.number(-1e9, x.shape)], t.kinds[0]))
    return text, np.where(np.arange(rows)[:, None] + 2 >= np.arange(columns), x, -1e9)


def rotary(x):
    """Halves of rows turned by angles of their positions."""
    n, length, width = x.shape
    t, half = Text(x), width // 2
    angle = t.op("multiply", [t.iota((length, half), 0), t.op("rsqrt", [t.op("add", [t.iota((length, half), 1), t.number(1.0, (length, half))], t.kind((length, half)))], t.kind((length, half)))], t.kind((length, half)))
    kind = t.kind((n, length, half))
    cos, sin = (t.spread(t.op(name, [angle], angle[1]), (n, length, half), [1, 2]) for name in ("cosine", "sine"))
    parts = [t.op("slice", [t.arguments[0]], kind, f"start_indices = array<i64: 0, 0, {k * half}>, limit_indices = array<i64: {n}, {length}, {(k + 1) * half}>, strides = array<i64: 1, 1, 1>") for k in (0, 1)]
    by = lambda a, b: t.op("multiply", [a, b], kind)  # noqa: E731
    turned = [t.op("subtract", [by(parts[0], cos), by(parts[1], sin)], kind), t.op("add", [by(parts[0], sin), by(parts[1], cos)], kind)]
    text = t.done(t.op("concatenate", turned, t.kinds[0], "dimension = 2 : i64"))
    a = np.arange(length)[:, None] / np.sqrt(np.arange(half) + 1)
    return text, np.concatenate([x[..., :half] * np.cos(a) - x[..., half:] * np.sin(a), x[..., :half] * np.sin(a) + x[..., half:] * np.cos(a)], -1)


def rows(at, table):
    """Rows of a table at numbers of i64, counted from its end where they are below 0, and positions' rows by iota."""
    t = Text(at, table)
    shape, (count, width) = at.shape, table.shape
    wrapped = t.op("add", [t.arguments[0], t.number(count, shape, "i64")], t.kinds[0])
    place = t.op("select", [t.compare("LT", t.arguments[0], t.number(0, shape, "i64"), shape), wrapped, t.arguments[0]], t.kinds[0])
    own = t.op("multiply", [t.iota(shape, 0, "i64"), t.number(2, shape, "i64")], t.kinds[0])
    kind = t.kind((*shape, width))
    both = [t.gather(t.arguments[1], t.op("reshape", [p], t.kind((*shape, 1), "i64")), kind, [1], [0], [0], 1, (1, width)) for p in (place, own)]
    return t.done(t.op("add", both, kind)), table[at] + table[2 * np.arange(len(at))]


def enlarged(x, by):
    """Neighbours repeated, at places that are made of floats: floor(k / by)."""
    n, c, h, w = x.shape
    t = Text(x)

    def places(extent):
        k = t.op("multiply", [t.iota((extent * by,), 0), t.number(1.0 / by, (extent * by,))], t.kind((extent * by,)))
        whole = t.op("convert", [t.op("floor", [k], k[1])], t.kind((extent * by,), "i64"))
        wrapped = t.op("add", [whole, t.number(extent, (extent * by,), "i64")], whole[1])
        return t.op("select", [t.compare("LT", whole, t.number(0, (extent * by,), "i64"), (extent * by,)), wrapped, whole], whole[1])

    shape = (h * by, w * by)
    at = [t.spread(places(extent), (*shape, 1), [d], "i64") for d, extent in enumerate((h, w))]
    vectors = t.op("concatenate", at, t.kind((*shape, 2), "i64"), "dimension = 2 : i64")
    return t.done(t.gather(t.arguments[0], vectors, t.kind((n, c, *shape)), [0, 1], [2, 3], [2, 3], 2, (n, c, 1, 1))), x.repeat(by, 2).repeat(by, 3)


def distances(x):
    """A bias by how far two positions are apart, as windows of attention have it."""
    heads, size, _ = x.shape
    t = Text(x)
    apart = t.op("subtract", [t.iota((size, size), 0, "i32"), t.iota((size, size), 1, "i32")], t.kind((size, size), "i32"))
    far = t.op("convert", [t.op("abs", [apart], apart[1])], t.kind((size, size)))
    slope = t.op("exponential", [t.op("negate", [t.iota((heads,), 0)], t.kind((heads,)))], t.kind((heads,)))
    bias = t.op("multiply", [t.spread(far, x.shape, [1, 2]), t.spread(slope, x.shape, [0])], t.kinds[0])
    text = t.done(t.op("subtract", [t.arguments[0], bias], t.kinds[0]))
    far = np.abs(np.arange(size)[:, None] - np.arange(size))
    return text, x - far * np.exp(-np.arange(heads))[:, None, None]


def turned(x, turns):
    """Rows the other way round in each turn of a loop that data end, and once more at places that are made behind it."""
    t, count = Text(x, turns), len(x)

    def reverse(of):
        k = t.op("subtract", [t.number(count - 1, (count,), "i32"), t.iota((count,), 0, "i32")], t.kind((count,), "i32"))
        return t.gather(of, t.op("reshape", [k], t.kind((count, 1), "i32")), t.kinds[0], [1], [0], [0], 1, (1, x.shape[1]))

    zero = t.number(0, (), "i32")
    head, types = t.lines, f"{t.kinds[0]}, tensor<i32>"
    t.lines = []
    state = (("%x", t.kinds[0]), ("%k", "tensor<i32>"))
    t.lines = [""] * len(head)  # names go on
    holds = t.compare("LT", state[1], t.arguments[1], ())
    condition, t.lines = t.lines[len(head) :], [""] * (len(t.lines))
    made, one = reverse(state[0]), t.number(1, (), "i32")
    twice = t.op("add", [made, state[0]], t.kinds[0])
    after = t.op("add", [state[1], one], "tensor<i32>")
    body = [line for line in t.lines if line]
    names = len(t.lines)
    loop = [f'%w:2 = "stablehlo.while"(%a0, {zero[0]}) ({{', f"^bb0(%x: {t.kinds[0]}, %k: tensor<i32>):", *condition, f'"stablehlo.return"({holds[0]}) : (tensor<i1>) -> ()', "}, {"]
    loop += [f"^bb0(%x: {t.kinds[0]}, %k: tensor<i32>):", *body, f'"stablehlo.return"({twice[0]}, {after[0]}) : ({types}) -> ()', f"}}) : ({types}) -> ({types})"]
    t.lines = [""] * names
    result = reverse(("%w#0", t.kinds[0]))
    t.lines = head + loop + [line for line in t.lines if line]
    want = x.astype(np.float64)
    for _ in range(int(turns)):
        want = want + want[::-1]
    return t.done(result), want[::-1]


def constant(x):
    """A result that no input decides, beside its only reader."""
    t = Text(x)
    return t.done(t.op("cosine", [t.iota((37,), 0)], t.kind((37,)))), np.cos(np.arange(37))


def asked(targets):
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--targets", default=targets)
    return parser.parse_args()


def main():
    options = asked("cpu:v3,simnpu,nvgpu")
    rng = np.random.default_rng(3)
    some = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    at = rng.integers(-40, 40, 9)
    cases = [
        (sines, some(2, 7, 16)), (sines, some(1, 19, 40)), (causal, some(3, 16, 16)), (causal, some(2, 5, 33)), (rotary, some(2, 9, 32)),
        (rows, at, some(40, 16)), (rows, at, some(40, 23)), (enlarged, some(1, 16, 5, 6), 2), (enlarged, some(2, 3, 4, 7), 3),
        (distances, some(4, 16, 16)), (distances, some(3, 11, 11)), (constant, some(4)), (turned, some(5, 8), np.array(3, np.int32)),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for make, *given in cases:
            inputs = [x for x in given if isinstance(x, np.ndarray)]
            text, want = make(*given)
            made.append((f"{make.__name__} of {[x.shape for x in inputs]}", text, inputs, want))
        return checked(options, folder, made)


def checked(options, folder, cases):
    """Compares each case, (what, text, inputs, wanted), on each of the targets; the exit code."""
    bench = tools.Checks(options.bin, folder)
    for what, text, inputs, want in cases:
        for target in options.targets.split(","):
            got = run(bench, target, text, inputs)
            if isinstance(got, str):
                bench.say(False, f"{target}: {what}: {got}")
            else:
                bench.say(got.shape == want.shape and np.abs(got - want).max() <= 2e-6 * max(1, np.abs(want).max()), f"{target}: {what}")
    return 1 if bench.failed else 0


def run(bench, target, text, inputs):
    (bench.folder / "m.mlir").write_text(text)
    done = tools.call([f"{bench.bin}/pbc", str(bench.folder / "m.mlir"), f"--target={target}", "-o", str(bench.folder / "m.pbe")])
    if done.returncode:
        return done.stderr
    args = [f"--device={'native' if target.startswith('cpu') else 'machine'}"]
    for k, data in enumerate(inputs):
        np.save(bench.folder / f"{k}.npy", data)
        args += ["--input", f"arg{k}={bench.folder / f'{k}.npy'}"]
    done = tools.call([f"{bench.bin}/pb-run", str(bench.folder / "m.pbe"), *args, "--output", f"out0={bench.folder / 'y.npy'}"])
    return done.stderr if done.returncode else np.load(bench.folder / "y.npy")


if __name__ == "__main__":
    sys.exit(main())
