"""Chains of large kernels that the driver makes one of, share by share (core/driver/chunks.c): random programs of elements, of
neighbours, of sums of rows, of what is turned round, put together, looked up or read back later, so that what may follow share by share and
what must not stand beside each other. Against NumPy in f64; against the same kernels one by one (--loops=steps), and on 1, 2 and 7
threads, bit for bit. Some of the programs must have such a kernel.

    tests/stablehlo/programs/by_shares.py --bin build/bin [--count 24] [--seed 1] [--keep DIR]"""

import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402

SHAPES = [(512, 768), (256, 1024), (3, 512, 256), (384, 384), (640, 640), (250, 1100), (128, 2048), (262144,), (300007,)]
TARGETS = "cpu:avx512", "cpu:v3"
THREADS = 1, 2, 7
TOLERANCE = 1e-4  # of the largest number
BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}
UNARY = {"negate": np.negative, "tanh": np.tanh, "sine": np.sin, "abs": np.abs}


def kind(shape, element="f32"):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


class Program:
    """Lines, and what each value is in f64; all but a few are of one shape."""

    def __init__(self, rng, shape):
        self.rng, self.shape, self.lines, self.values = rng, shape, [], {}
        self.inputs = [np.random.default_rng(rng.randrange(1 << 30)).uniform(-1, 1, shape).astype(np.float32) for _ in range(2)]
        self.whole = []  # names of values of the shape
        for k, x in enumerate(self.inputs):
            self.values[f"%a{k}"] = x.astype(np.float64)
            self.whole.append(f"%a{k}")

    def add(self, text, value):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.values[name] = value
        if value.shape == self.shape and value.dtype == np.float64:
            self.whole.append(name)
        return name

    def some(self):
        """Late ones more often."""
        return self.whole[-1 - min(int(self.rng.expovariate(0.5)), len(self.whole) - 1)]

    def op(self, name, operands, attributes, value):
        kinds = ", ".join(kind(self.values[n].shape) for n in operands)
        return self.add(f'"stablehlo.{name}"({", ".join(operands)}) {attributes} : ({kinds}) -> {kind(value.shape)}', value)

    def element(self):
        if self.rng.random() < 0.3:
            name, x = self.rng.choice(list(UNARY)), self.some()
            return self.op(name, [x], "", UNARY[name](self.values[x]))
        name, x, y = self.rng.choice(list(BINARY)), self.some(), self.some()
        return self.bounded(self.op(name, [x, y], "", BINARY[name](self.values[x], self.values[y])))

    def bounded(self, x):
        """Numbers stay near 1."""
        return x if np.abs(self.values[x]).max() < 3 else self.op("tanh", [x], "", np.tanh(self.values[x]))

    def part(self, x, axis, first, last):
        shape = self.values[x].shape
        ends = [[first if r == axis else 0 for r in range(len(shape))], [last if r == axis else n for r, n in enumerate(shape)]]
        texts = [", ".join(map(str, e)) for e in (*ends, [1] * len(shape))]
        attributes = f"<{{start_indices = array<i64: {texts[0]}>, limit_indices = array<i64: {texts[1]}>, strides = array<i64: {texts[2]}>}}>"
        return self.op("slice", [x], attributes, self.values[x][tuple(slice(*e) for e in zip(*ends))])

    def rolled(self):
        x, axis = self.some(), self.rng.randrange(len(self.shape))
        n = self.shape[axis]
        by = self.rng.choice([b for b in (1, 2, 16, n // 2) if b < n])
        parts = [self.part(x, axis, by, n), self.part(x, axis, 0, by)]
        return self.op("concatenate", parts, f"<{{dimension = {axis} : i64}}>", np.roll(self.values[x], -by, axis))

    def window(self):
        """Sums of neighbours, of what has a border put around it."""
        x, axis = self.some(), self.rng.randrange(len(self.shape))
        n, edge = self.shape[axis], self.part(self.whole[-1], axis, 0, 1)
        wide = self.op("concatenate", [edge, x, edge], f"<{{dimension = {axis} : i64}}>",
                       np.concatenate([self.values[edge], self.values[x], self.values[edge]], axis))
        a, b = self.part(wide, axis, 0, n), self.part(wide, axis, 2, n + 2)
        return self.bounded(self.op("add", [a, b], "", self.values[a] + self.values[b]))

    def turned(self):
        if len(self.shape) < 2 or self.shape[-1] != self.shape[-2]:
            return self.rolled()
        x = self.some()
        order = list(range(len(self.shape)))
        order[-1], order[-2] = order[-2], order[-1]
        attributes = f"<{{permutation = array<i64: {', '.join(map(str, order))}>}}>"
        return self.op("transpose", [x], attributes, self.values[x].transpose(order))

    def rows(self):
        """Less the mean of the row, or of the column."""
        x, axis = self.some(), self.rng.randrange(len(self.shape))
        zero = self.add("stablehlo.constant dense<0.0> : tensor<f32>", np.zeros(()))
        body = "({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n%s = stablehlo.add %p, %q : tensor<f32>\nstablehlo.return %s : tensor<f32>\n})"
        value = self.values[x].sum(axis)
        sums = self.add(f'"stablehlo.reduce"({x}, {zero}) <{{dimensions = array<i64: {axis}>}}> {body} : ({kind(self.shape)}, tensor<f32>) -> {kind(value.shape)}', value)
        count = self.add(f"stablehlo.constant dense<{float(self.shape[axis])}> : {kind(value.shape)}", np.full(value.shape, float(self.shape[axis])))
        mean = self.op("divide", [sums, count], "", value / self.shape[axis])
        kept = ", ".join(str(r) for r in range(len(self.shape)) if r != axis)
        dims = f"array<i64{': ' if kept else ''}{kept}>"
        wide = np.broadcast_to(np.expand_dims(self.values[mean], axis), self.shape)
        spread = self.op("broadcast_in_dim", [mean], f"<{{broadcast_dimensions = {dims}}}>", wide)
        return self.op("subtract", [x, spread], "", self.values[x] - wide)

    def chosen(self):
        """By a mask that several take."""
        x, y = self.some(), self.some()
        apart = self.values[x] - self.values[y]
        mask = self.add(f"stablehlo.compare GE, {x}, {y} : ({kind(self.shape)}, {kind(self.shape)}) -> {kind(self.shape, 'i1')}", apart >= 0)
        for _ in range(2):
            a, b = self.some(), self.some()
            value = np.where(self.values[mask], self.values[a], self.values[b])
            self.add(f"stablehlo.select {mask}, {a}, {b} : {kind(self.shape, 'i1')}, {kind(self.shape)}", value)
        self.close |= bool((np.abs(apart) < 1e-5).any() and (apart != 0).any())
        return self.whole[-1]

    def looked_up(self):
        """Elements of a value at places that an input says: near its front, each several times."""
        x, at = self.some(), f"%a{self.rng.randrange(2)}"
        most, count, of = float(self.rng.choice([256, 4096, 1 << 20])), int(np.prod(self.shape)), self.shape
        most_of = self.add(f"stablehlo.constant dense<{most}> : {kind(of)}", np.full(of, most))
        scaled = self.op("multiply", [at, most_of], "", self.values[at] * most)  # exact, and so is its integer
        place = np.trunc(self.values[scaled]).astype(np.int64)
        places = self.add(f"stablehlo.convert {scaled} : ({kind(of)}) -> {kind(of, 'i32')}", place)
        flat = self.add(f"stablehlo.reshape {x} : ({kind(of)}) -> {kind((count,))}", self.values[x].reshape(-1))
        numbers = f"#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = {len(of)}>"
        return self.add(f'"stablehlo.gather"({flat}, {places}) <{{dimension_numbers = {numbers}, slice_sizes = array<i64: 1>}}> : '
                        f"({kind((count,))}, {kind(of, 'i32')}) -> {kind(of)}", self.values[flat][place.clip(0, count - 1)])

    close = False  # a mask that rounding decides: f64 is no judge

    def text(self):
        results = [self.whole[-1], self.some()]
        of = kind(self.shape)
        lines = "\n".join(self.lines)
        return f"func.func @main(%a0: {of}, %a1: {of}) -> ({of}, {of}) {{\n{lines}\nreturn {results[0]}, {results[1]} : {of}, {of}\n}}\n", results


def program(rng):
    p = Program(rng, rng.choice(SHAPES))
    others = rng.sample([p.rolled, p.window, p.turned, p.rows, p.chosen, p.looked_up], 2)
    for _ in range(rng.randint(6, 30)):
        rng.choices([p.element, *others], [6, 1, 1])[0]()
    return p


def check(o, number, folder):
    """What is wrong with program `number`, or None; whether a kernel of it goes share by share."""
    rng = random.Random(f"{o.seed} {number}")
    p, target = program(rng), TARGETS[number % len(TARGETS)]
    text, results = p.text()
    model = folder / f"{number}.mlir"
    model.write_text(text)
    args = []
    for k, x in enumerate(p.inputs):
        np.save(folder / f"{k}.npy", x)
        args += ["--input", f"arg{k}={folder / f'{k}.npy'}"]

    def made(threads, *options):
        tools.run([f"{o.bin}/pbc", str(model), f"--target={target}", *options, "-o", str(folder / "m.pbe")])
        all_of_them = []
        for count in threads:
            out = [folder / f"out{k}.npy" for k in range(2)]
            tools.run([f"{o.bin}/pb-run", str(folder / "m.pbe"), f"--threads={count}", *args, *(f"--output=out{k}={y}" for k, y in enumerate(out))])
            all_of_them.append([np.load(y) for y in out])
        return all_of_them

    alone, together = made([1], "--loops=steps")[0], made(THREADS)
    explained = subprocess.run([f"{o.bin}/pbc", str(model), f"--target={target}", "--explain"], capture_output=True, text=True).stdout
    for count, ys in zip(THREADS, together):
        if any(a.tobytes() != b.tobytes() for a, b in zip(ys, alone)):
            return f"{target}, {count} threads: other bits than kernel by kernel", False
    for name, y in zip(results, alone):
        want = p.values[name]
        off = np.abs(y - want).max() / max(1, np.abs(want).max())
        if not p.close and not off <= TOLERANCE:
            return f"{target}: {off:.2g} off NumPy", False
    return None, "for each share" in explained


def main():
    parser = tools.drawing(24)
    o = parser.parse_args()
    failed = together = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = o.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        for number in range(o.first, o.first + o.count):
            wrong, by_shares = check(o, number, folder)
            together += by_shares
            failed += bool(wrong)
            if wrong:
                print(f"FAILED {number}: {wrong}")
    print(f"{o.count} programs, {together} with a kernel that goes share by share, {failed} failed")
    return int(failed > 0 or together * 4 < o.count)


if __name__ == "__main__":
    sys.exit(main())
