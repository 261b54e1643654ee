"""Random StableHLO loops that carry several tensors: each turn makes some of them anew, element by element, of neighbours, by parts
that are set, by sums of rows, or takes another one as it was; some are kept, some change places, a branch or a loop may stand
within. What may be made where it lies, and what must not, is drawn in all orders. Results are compared with NumPy in f64, and on
several threads with one another, bit by bit.

    random_turns.py --bin BUILD/bin [--count 40] [--seed 1] [--first K] [--targets cpu:v3,cpu:avx512] [--keep DIR]"""

import random
import shutil
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402

SHAPES = [(1030,), (2048,), (5000,), (33, 40), (64, 64), (17, 129), (128, 96), (260, 31), (6, 18, 20), (3, 40, 41), (12, 7)]
THREADS = (1, 2, 5)
TOLERANCE = 1e-4  # of the largest result: numbers stay near 1
BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}
UNARY = {"negate": np.negative, "tanh": np.tanh, "sine": np.sin, "abs": np.abs}


def type_of(shape, element="f32"):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


class Body:
    """Lines of one turn, and by name a function of the turn's values that says what each is."""

    def __init__(self, rng, shape, prefix):
        self.rng, self.shape, self.type, self.prefix, self.lines, self.made = rng, shape, type_of(shape), prefix, [], []

    def add(self, text, function):
        name = f"%{self.prefix}{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.made.append((name, function))
        return name

    def run(self, values):
        for name, function in self.made:
            values[name] = function(values)

    def number(self, value, shape=None):
        shape = self.shape if shape is None else shape
        return self.add(f"stablehlo.constant dense<{value}> : {type_of(shape)}", lambda v: np.full(shape, value, np.float64))

    def halved(self, name):
        return self.binary("multiply", name, self.number(0.5))

    def binary(self, kind, a, b):
        return self.add(f"stablehlo.{kind} {a}, {b} : {self.type}", lambda v: BINARY[kind](v[a], v[b]))

    def by_element(self, values):
        a, b = self.rng.choice(values), self.rng.choice(values)
        if self.rng.random() < 0.4:
            kind = self.rng.choice(list(UNARY))
            return self.add(f"stablehlo.{kind} {a} : {self.type}", lambda v: UNARY[kind](v[a]))
        return self.halved(self.binary(self.rng.choice(list(BINARY)), a, b))

    def neighbours(self, values):
        """Moved by one or two places along a dim, zeros behind."""
        a, axis, by, back = self.rng.choice(values), self.rng.randrange(len(self.shape)), self.rng.choice((1, 2)), self.rng.random() < 0.5
        low, high, begin = [0] * len(self.shape), [0] * len(self.shape), [0] * len(self.shape)
        end, cut = list(self.shape), list(self.shape)
        cut[axis] -= by
        (low if back else high)[axis] = by
        if back:
            end[axis] -= by
        else:
            begin[axis] = by
        parts = ", ".join(f"{b}:{e}" for b, e in zip(begin, end))
        part = self.add(f"stablehlo.slice {a} [{parts}] : ({self.type}) -> {type_of(cut)}", lambda v: v[a][tuple(map(slice, begin, end))])
        zero = self.number(0.0, ())
        moved = self.add(f"stablehlo.pad {part}, {zero}, low = {low}, high = {high}, interior = {[0] * len(low)} : ({type_of(cut)}, tensor<f32>) -> {self.type}",
                         lambda v: np.pad(v[part], list(zip(low, high))))
        return self.halved(self.binary(self.rng.choice(("add", "subtract")), self.rng.choice(values), moved)) if self.rng.random() < 0.8 else moved

    def turned(self, values):
        a, axis = self.rng.choice(values), self.rng.randrange(len(self.shape))
        return self.add(f"stablehlo.reverse {a}, dims = [{axis}] : {self.type}", lambda v: np.flip(v[a], axis))

    def part_set(self, values):
        """A part, at a place of constants or of the turn's number, becomes something of another one's part."""
        a, b = self.rng.choice(values), self.rng.choice(values)
        size = [self.rng.randrange(1, n + 1) if self.rng.random() < 0.7 else n for n in self.shape]
        begin = [self.rng.randrange(n - s + 1) for n, s in zip(self.shape, size)]
        parts = ", ".join(f"{p}:{p + s}" for p, s in zip(begin, size))
        part = self.add(f"stablehlo.slice {b} [{parts}] : ({self.type}) -> {type_of(size)}",
                        lambda v: v[b][tuple(slice(p, p + s) for p, s in zip(begin, size))])
        part = self.add(f"stablehlo.cosine {part} : {type_of(size)}", lambda v, part=part: np.cos(v[part]))
        by_turn = self.rng.random() < 0.5
        at = [self.rng.randrange(n - s + 1) for n, s in zip(self.shape, size)]
        names = [self.add(f"stablehlo.constant dense<{k}> : tensor<i32>", lambda v, k=k: k) for k in at]
        if by_turn:
            names[0] = "%i"
        most = [n - s for n, s in zip(self.shape, size)]

        def value(v):
            first = [min(max(int(v[n]), 0), m) for n, m in zip(names, most)]
            out = v[a].copy()
            out[tuple(slice(p, p + s) for p, s in zip(first, size))] = v[part]
            return out

        return self.add(f"stablehlo.dynamic_update_slice {a}, {part}, {', '.join(names)} : ({self.type}, {type_of(size)}, {', '.join(['tensor<i32>'] * len(at))}) -> {self.type}", value)

    def less_mean(self, values):
        a, axis = self.rng.choice(values), self.rng.randrange(len(self.shape))
        left, others = self.shape[:axis] + self.shape[axis + 1:], [k for k in range(len(self.shape)) if k != axis]
        zero, share = self.number(0.0, ()), self.number(float(np.float32(1 / self.shape[axis])), left)
        total = self.add(f"stablehlo.reduce({a} init: {zero}) applies stablehlo.add across dimensions = [{axis}] : ({self.type}, tensor<f32>) -> {type_of(left)}",
                         lambda v: v[a].sum(axis))
        mean = self.add(f"stablehlo.multiply {total}, {share} : {type_of(left)}", lambda v: v[total] * v[share])
        wide = self.add(f"stablehlo.broadcast_in_dim {mean}, dims = {others} : ({type_of(left)}) -> {self.type}",
                        lambda v: np.broadcast_to(np.expand_dims(v[mean], axis), self.shape))
        return self.binary("subtract", self.rng.choice(values), wide)

    def chosen(self, values):
        a, b, c = (self.rng.choice(values) for _ in range(3))
        truth = self.add(f"stablehlo.compare GT, {a}, {self.number(self.rng.choice((-0.125, 0.375)))}, FLOAT : ({self.type}, {self.type}) -> {type_of(self.shape, 'i1')}", None)
        level = self.made[-2][0]
        self.made[-1] = (truth, lambda v: v[a] > v[level])
        return self.add(f"stablehlo.select {truth}, {b}, {c} : {type_of(self.shape, 'i1')}, {self.type}", lambda v: np.where(v[truth], v[b], v[c]))

    def inner(self, values):
        """A loop of a few turns within, of two of them."""
        a, b, turns = self.rng.choice(values), self.rng.choice(values), self.rng.randrange(2, 5)
        n = len(self.lines)
        body = Body(self.rng, self.shape, f"{self.prefix}{n}_")
        j, u, w = (f"%{self.prefix}{n}{x}" for x in "juw")
        inside = [u, w]
        for _ in range(self.rng.randrange(1, 4)):
            inside.append(self.rng.choice((body.by_element, body.neighbours))(inside))
        ends = self.rng.choice(inside), self.rng.choice(inside[2:])
        r, zero = f"%{self.prefix}{n}", self.add("stablehlo.constant dense<0> : tensor<i32>", lambda v: 0)
        r = f"%{self.prefix}{len(self.lines)}"
        text = (f"{r}:3 = stablehlo.while({j} = {zero}, {u} = {a}, {w} = {b}) : tensor<i32>, {self.type}, {self.type}\n"
                f"cond {{\n%most = stablehlo.constant dense<{turns}> : tensor<i32>\n%p = stablehlo.compare LT, {j}, %most, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                "stablehlo.return %p : tensor<i1>\n} do {\n" + "\n".join(body.lines) +
                f"\n%one = stablehlo.constant dense<1> : tensor<i32>\n%next = stablehlo.add {j}, %one : tensor<i32>\nstablehlo.return %next, {ends[0]}, {ends[1]} : tensor<i32>, {self.type}, {self.type}\n}}")
        self.lines.append(text)

        def value(v):
            state = v[a], v[b]
            for _ in range(turns):
                here = {u: state[0], w: state[1], "%i": v["%i"]}
                body.run(here)
                state = here[ends[0]], here[ends[1]]
            v[f"{r}#1"] = state[0]
            return state[1]

        self.made.append((f"{r}#2", value))
        return f"{r}#2"


def draw(seed, number):
    """The text, the inputs and the results of a program."""
    rng = random.Random(f"turns {seed} {number}")
    shape, count, turns = rng.choice(SHAPES), rng.randrange(1, 5), rng.randrange(1, 9)
    t, body = type_of(shape), Body(rng, shape, "t")
    carried, given = [f"%v{k}" for k in range(count)], [f"%g{k}" for k in range(rng.randrange(2))]
    values = carried + given
    forms = [body.by_element] * 5 + [body.neighbours] * 3 + [body.part_set] * 3 + [body.chosen] + [body.turned] + ([body.less_mean] if len(shape) > 1 else []) + [body.inner]
    for _ in range(rng.randrange(1, 9)):
        recent = values[-3:] + carried if rng.random() < 0.6 else values
        values.append(rng.choice(forms)(recent))
    made = values[count + len(given):]
    ends = [rng.choice(made) if rng.random() < 0.75 else rng.choice(values) for _ in carried]
    known = rng.random() < 0.5
    results = [f"%r#{k + 1}" for k in range(count) if rng.random() < 0.7 or k == 0]
    types = ", ".join(["tensor<i32>"] + [t] * count)
    begin = [rng.choice([f"%a{k}", f"%a{rng.randrange(count)}"]) for k in range(count)]
    text = (f"func.func @main({', '.join(f'%a{k}: {t}' for k in range(count))}{''.join(f', {g}: {t}' for g in given)}, %n: tensor<i32>) -> ({', '.join([t] * len(results))}) {{\n"
            f"%zero = stablehlo.constant dense<0> : tensor<i32>\n%known = stablehlo.constant dense<{turns}> : tensor<i32>\n"
            f"%r:{count + 1} = stablehlo.while(%i = %zero, {', '.join(f'{v} = {b}' for v, b in zip(carried, begin))}) : {types}\n"
            f"cond {{\n%p = stablehlo.compare LT, %i, {'%known' if known else '%n'}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %p : tensor<i1>\n}} do {{\n"
            + "\n".join(body.lines) + "\n%one1 = stablehlo.constant dense<1> : tensor<i32>\n%next1 = stablehlo.add %i, %one1 : tensor<i32>\n"
            f"stablehlo.return %next1, {', '.join(ends)} : {types}\n}}\nreturn {', '.join(results)} : {', '.join([t] * len(results))}\n}}\n")
    numbers = np.random.default_rng([seed, number])
    arrays = [(np.clip(numbers.standard_normal(shape), -2, 2) * 0.5).astype(np.float32) for _ in range(count + len(given))]
    fixed = dict(zip(given, (a.astype(np.float64) for a in arrays[count:])))
    state = [arrays[int(b[2:])].astype(np.float64) for b in begin]
    for turn in range(turns):
        here = {**dict(zip(carried, state)), **fixed, "%i": turn}
        body.run(here)
        state = [here[e] for e in ends]
    return text, [*arrays, np.array(turns, np.int32)], [state[int(r[3:]) - 1] for r in results]


def check(options, folder, target, text, inputs, want):
    """What is wrong, or nothing; "refused: ..." where it is."""
    (folder / "m.mlir").write_text(text)
    done = tools.call([f"{options.bin}/pbc", str(folder / "m.mlir"), f"--target={target}", "-o", str(folder / "m.pbe")])
    if done.returncode:
        return f"refused: {done.stderr.strip()[:400]}"
    command = [f"{options.bin}/pb-run", str(folder / "m.pbe")]
    for k, value in enumerate(inputs):
        np.save(folder / f"in{k}.npy", value)
        command += ["--input", f"arg{k}={folder}/in{k}.npy"]
    for k in range(len(want)):
        command += ["--output", f"out{k}={folder}/out{k}.npy"]
    first = None
    for threads in THREADS:
        done = tools.call([*command, f"--threads={threads}"])
        if done.returncode:
            return f"{threads} threads: {done.stderr.strip()[:400]}"
        got = [np.load(folder / f"out{k}.npy") for k in range(len(want))]
        for k, (g, w) in enumerate(zip(got, want)):
            off = np.abs(g - w).max() / max(np.abs(w).max(), 1)
            if not off <= TOLERANCE:
                return f"result {k} on {threads} threads is off by {off:.2g}"
        if first and any(g.tobytes() != f.tobytes() for g, f in zip(got, first)):
            return f"other bits on {threads} threads"
        first = first or got
    return ""


def main():
    parser = tools.drawing(40)
    parser.add_argument("--targets", default="cpu:v3,cpu:avx512")
    options = parser.parse_args()
    targets = options.targets.split(",")
    wrong = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.first, options.first + options.count):
            target = targets[number % len(targets)]
            text, inputs, want = draw(options.seed, number)
            why = check(options, Path(folder), target, text, inputs, want)
            refused += why.startswith("refused")
            wrong += bool(why) and not why.startswith("refused")
            if why:
                print(f"{number} on {target}: {why}", flush=True)
            if why and options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                shutil.copy(Path(folder) / "m.mlir", options.keep / f"turns-{options.seed}-{number}.mlir")
    print(f"{options.count - wrong - refused} right, {refused} refused, {wrong} wrong")
    return 1 if wrong or refused else 0


if __name__ == "__main__":
    sys.exit(main())
