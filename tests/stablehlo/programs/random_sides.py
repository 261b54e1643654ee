"""Random StableHLO programs of vectors on both sides of reductions: what gradients of norms come to where all that is as large as
the batch is folded away. A vector is made of vectors, or is a sum or maximum over a matrix along either axis, of one element at
times; a matrix takes vectors as rows or columns. Any vector may be used again at any time, so that all orders of makers and
users around a reduction are drawn, and lengths around the lanes of registers. Results are compared with NumPy in f64.

    random_sides.py --bin BUILD/bin [--count 60] [--seed 1] [--first K] [--shard I/N] [--bisect EVERY]
                    [--targets cpu:v3,cpu:avx512] [--keep DIR]
"""

import random
import shutil
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402

LENGTHS = [3, 4, 7, 8, 8, 9, 12, 15, 16, 16, 16, 17, 24, 24, 31, 32, 32, 33, 40, 47, 48, 48, 49, 63, 64, 65, 80, 129]
DEPTHS = [1, 1, 1, 2, 3, 5, 8, 16, 17, 32]  # of a matrix's other axis
BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum}
UNARY = {"negate": np.negative, "tanh": np.tanh, "logistic": lambda x: 1 / (1 + np.exp(-x))}
REDUCE = {"add": (np.sum, "0.0"), "maximum": (np.max, "0xFF800000")}
TOLERANCE = 2e-5  # of the largest result: numbers stay below 4, and no more than 32 are added up


def type_of(shape):
    return "tensor<" + "".join(f"{n}x" for n in shape) + "f32>"


class Program:
    """Lines of text, and what each value is."""

    def __init__(self, seed):
        self.lines, self.arguments, self.value, self.numbers = [], [], {}, np.random.default_rng(seed)

    def given(self, shape, positive=False):
        array = np.clip(self.numbers.standard_normal(shape), -2, 2) * 0.5
        array = (np.abs(array) + 0.5 if positive else array).astype(np.float32)
        name = f"%a{len(self.arguments)}"
        self.arguments.append((name, array))
        self.value[name] = array.astype(np.float64)
        return name

    def add(self, text, value):
        name = f"%t{len(self.lines)}"
        self.lines.append(f"    {name} = {text}\n")
        self.value[name] = value
        return name

    def type(self, name):
        return type_of(self.value[name].shape)

    def op(self, kind, value, *operands):
        shown = ", ".join(self.type(name) for name in operands)
        return self.add(f'"stablehlo.{kind}"({", ".join(operands)}) : ({shown}) -> {type_of(value.shape)}', value)

    def reduce(self, kind, matrix, axis):
        function, start = REDUCE[kind]
        value = function(self.value[matrix], axis=axis)
        begin = self.add(f'"stablehlo.constant"() <{{value = dense<{start}> : tensor<f32>}}> : () -> tensor<f32>', np.zeros(()))
        return self.add(
            f'"stablehlo.reduce"({matrix}, {begin}) <{{dimensions = array<i64: {axis}>}}> ({{\n'
            "    ^bb0(%l: tensor<f32>, %r: tensor<f32>):\n"
            f'      %s = "stablehlo.{kind}"(%l, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n'
            '      "stablehlo.return"(%s) : (tensor<f32>) -> ()\n'
            f"    }}) : ({self.type(matrix)}, tensor<f32>) -> {type_of(value.shape)}",
            value,
        )

    def spread(self, vector, shape, axis):
        """The vector along the axis of a matrix."""
        value = np.broadcast_to(self.value[vector] if axis else self.value[vector][:, None], shape)
        return self.add(
            f'"stablehlo.broadcast_in_dim"({vector}) <{{broadcast_dimensions = array<i64: {axis}>}}> : '
            f"({self.type(vector)}) -> {type_of(shape)}",
            value,
        )

    def text(self, outputs):
        types = ", ".join(self.type(name) for name in outputs)
        given = ", ".join(type_of(array.shape) for _, array in self.arguments)
        return (
            '"builtin.module"() <{sym_name = "m"}> ({\n'
            f'  "func.func"() <{{function_type = ({given}) -> ({types}), sym_name = "main"}}> ({{\n'
            f'  ^bb0({", ".join(f"{name}: {type_of(array.shape)}" for name, array in self.arguments)}):\n'
            + "".join(self.lines)
            + f'    "func.return"({", ".join(outputs)}) : ({types}) -> ()\n  }}) : () -> ()\n}}) : () -> ()\n'
        )


class Drawing:
    def __init__(self, seed, number):
        self.rng = random.Random(f"sides {seed} {number}")
        self.program = Program([seed, number])
        self.length, self.depth, self.axis = self.rng.choice(LENGTHS), self.rng.choice(DEPTHS), self.rng.randrange(2)
        self.shape = self.shape_of(self.depth)
        self.vectors, self.matrices, self.used = [], [], set()

    def shape_of(self, depth):
        """Vectors lie along the axis."""
        return (depth, self.length) if self.axis else (self.length, depth)

    def take(self, values, shape):
        """One that nobody used yet, so that chains grow, or any, late ones as likely as early ones, or a new input."""
        what, fresh = self.rng.random(), [value for value in values if value not in self.used]
        if not values or what < 0.2:
            return self.program.given(shape)
        value = self.rng.choice(fresh if fresh and what < 0.65 else values)
        self.used.add(value)
        return value

    def vector(self):
        return self.take(self.vectors, (self.length,))

    def matrix(self):
        return self.take(self.matrices, self.shape)

    def small(self, name, value):
        """Halved where it grows, so that roundings stay small beside the results."""
        if np.abs(value).max() <= 4:
            return name
        half = self.program.add(
            f'"stablehlo.constant"() <{{value = dense<0.125> : {type_of(value.shape)}}}> : () -> {type_of(value.shape)}',
            np.full(value.shape, 0.125),
        )
        return self.binary("multiply", name, half)

    def binary(self, kind, a, b):
        value = BINARY[kind](self.program.value[a], self.program.value[b])
        return self.small(self.program.op(kind, value, a, b), value)

    def unary(self, a):
        kind = self.rng.choice(list(UNARY))
        return self.program.op(kind, UNARY[kind](self.program.value[a]), a)

    def of_vectors(self):
        what, a = self.rng.random(), self.vector()
        if what < 0.2:
            return self.unary(a)
        if what < 0.55:
            return self.dear(a)
        return self.binary(self.rng.choice(list(BINARY)), a, self.vector())

    def reduction(self):
        matrix = self.program.given(self.shape_of(self.rng.choice(DEPTHS))) if self.rng.random() < 0.5 else self.matrix()
        made = self.program.reduce(self.rng.choice(list(REDUCE)), matrix, 1 - self.axis)
        return self.small(made, self.program.value[made])

    def dear(self, a):
        """By what no other nest computes again, so that it is a nest of its own."""
        if self.rng.random() < 0.3:
            return self.program.op("tanh", np.tanh(self.program.value[a]), a)
        b = self.program.given((self.length,), positive=True)
        return self.program.op("divide", self.program.value[a] / self.program.value[b], a, b)

    def norm(self):
        """A vector that meets a reduction and is read again beside it, as in the gradient of a norm; what comes of both."""
        makers = [self.of_vectors, self.reduction]
        first = self.rng.randrange(2)
        made = [makers[first](), makers[1 - first]()]
        vector, reduced = made[first], made[1 - first]
        steps = [lambda: self.binary(self.rng.choice(list(BINARY)), reduced, self.unary(vector) if self.rng.random() < 0.5 else vector),
                 lambda: self.dear(vector)]
        first = self.rng.randrange(2)
        made = [steps[first](), steps[1 - first]()]
        return made[1 - first], self.dear(made[first])

    def of_matrices(self):
        matrix = self.matrix()
        if self.rng.random() < 0.2:
            return self.unary(matrix)
        other = self.program.spread(self.vector(), self.shape, self.axis) if self.rng.random() < 0.7 else self.matrix()
        operands = (matrix, other) if self.rng.random() < 0.7 else (other, matrix)
        return self.binary(self.rng.choice(list(BINARY)), *operands)

    def finish(self):
        """The program's text and the names of its results."""
        for _ in range(self.rng.randrange(1, 12)):
            what = self.rng.random()
            if what < 0.15:
                self.vectors += self.norm()
            elif what < 0.55:
                self.vectors.append(self.of_vectors())
            elif what < 0.8:
                self.vectors.append(self.reduction())
            else:
                self.matrices.append(self.of_matrices())
        left = [value for value in self.vectors + self.matrices if value not in self.used]
        self.rng.shuffle(left)
        outputs = [left.pop()] if len(left) > 1 and self.rng.random() < 0.25 else []
        whole = self.matrix()
        for value in left:  # one matrix of what nobody used yet, so that one kernel may make all of it
            operand = value if value in self.matrices else self.program.spread(value, self.shape, self.axis)
            whole = self.binary(self.rng.choice(["add", "subtract", "multiply"]), whole, operand)
        return [*outputs, whole]


def differs(want, got):
    apart = np.abs(want - got)
    if got.shape != want.shape or not np.all(apart <= TOLERANCE * max(1.0, np.abs(want).max())):
        return f"{(apart > TOLERANCE).sum()} of {want.size} differ, by at most {np.nanmax(apart):.3g}"
    return None


class Runner:
    def __init__(self, args, folder):
        self.args, self.bin, self.folder = args, args.bin, Path(folder)

    def check(self, number, targets):
        drawing = Drawing(self.args.seed, number)
        outputs = drawing.finish()
        program = drawing.program
        (self.folder / "m.mlir").write_text(program.text(outputs))
        wanted = [program.value[name] for name in outputs]
        given = []
        for k, (_, array) in enumerate(program.arguments):
            np.save(self.folder / f"in{k}.npy", array)
            given += ["--input", f"arg{k}={self.folder}/in{k}.npy"]
        wrong = []
        for target in targets:
            bisect = ["--bisect"] if self.args.bisect and number % self.args.bisect == 0 else []
            tools.run([f"{self.bin}/pbc", f"{self.folder}/m.mlir", f"--target={target}", "-o", f"{self.folder}/m.pbe", "--threads=1", *bisect])
            if not tools.runs_here(self.bin, target):
                continue
            results = [f"--output=out{k}={self.folder}/out{k}.npy" for k in range(len(outputs))]
            tools.run([f"{self.bin}/pb-run", f"{self.folder}/m.pbe", f"--threads={1 + number % 2}", *given, *results])
            for k, want in enumerate(wanted):
                text = differs(want, np.load(self.folder / f"out{k}.npy"))
                wrong += [f"{target}: out{k}: {text}"] if text else []
        what = f"{drawing.shape[0]}x{drawing.shape[1]}, vectors along axis {drawing.axis}, {len(program.lines)} lines"
        return what, wrong


def main():
    parser = tools.drawing(60)
    parser.add_argument("--targets", default="cpu:v3,cpu:avx512")
    parser.add_argument("--shard", default="0/1", help="I/N: each N-th program, from I")
    parser.add_argument("--bisect", type=int, help="run the IR after every pass for each so many-th program")
    args = parser.parse_args()
    tools.skip_without(args.bin, *args.targets.split(","))
    shard, shards = (int(part) for part in args.shard.split("/"))
    failed, ran = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(args, folder)
        for number in range(args.first, args.count):
            if number % shards != shard:
                continue
            ran += 1
            try:
                what, wrong = runner.check(number, args.targets.split(","))
            except tools.Failed as error:
                what, wrong = "", [(error.out + error.err)[-600:]]
            failed += bool(wrong)
            for text in wrong:
                print(f"FAILED {number}: {what}: {text}", flush=True)
            if wrong and args.keep:
                args.keep.mkdir(parents=True, exist_ok=True)
                shutil.copy(Path(folder) / "m.mlir", args.keep / f"sides-{args.seed}-{number}.mlir")
    print(f"{ran} programs of seed {args.seed} on {args.targets}: {failed} wrong")
    return int(failed > 0 or not ran)


if __name__ == "__main__":
    sys.exit(main())
