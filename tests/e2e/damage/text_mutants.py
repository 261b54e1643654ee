"""Texts of StableHLO and of linalg that compile, with seeded damage (damaged_text.py). Each is refused with a code and the place, file:
line:column, or its engine runs; none crashes or works for long. With --oracle, the Python of an environment that has jax, what the
engines of StableHLO compute is XLA's result on the same text, and what those of linalg compute is that of MLIR's own lowering
(bin/linalg_oracle).

    text_mutants.py --bin BUILD/bin [--stablehlo 300] [--linalg 300] [--seed 1] [--oracle PYTHON] [--keep DIR]
"""

import argparse
import collections
import json
import os
import random
import re
import select
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy")
import damaged_text  # noqa: E402
import mutants  # noqa: E402
import numpy as np  # noqa: E402

LOOP_SECONDS = 4  # of a text that has loops: damage may take their ends away
MOST = 1 << 20
PLACED = re.compile(r"m\.mlir:\d+:\d+: error: .*\[PB\d{4}\]")
KINDS = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16, "i1": np.bool_, "i8": np.int8, "i16": np.int16,
         "i32": np.int32, "i64": np.int64, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64}
TENSOR = re.compile(r"tensor<((?:\d+x|\?x)*)(complex<\w+>|\w+)(?:, [^<>]*)?>")
NEAR = {"f16": 4e-3, "bf16": 3e-2, "f8": 1}  # of the largest; 1e-4 else
# What the specification leaves to the implementation (orders of folds that are no monoids, and how often they begin), or XLA does in
# another way than it says (updates of which a part lies outside).
FREE = re.compile(rb"rng|stablehlo\.sort|stablehlo\.reduce_precision|custom_call|approx|scatter|reduce_window|stablehlo.reduce\"")

# By substitution: behind a number that is too large for the type the next are infinite or none, as they were rounded on the way.
SOLVES = re.compile(rb"triangular_solve|cholesky")


def types(text):
    return [([3 if n == "?" else int(n) for n in dims.split("x") if n], kind) for dims, kind in TENSOR.findall(text)]


def signature(text):
    """The types of @main's arguments and of its results, or None."""
    text = text.decode(errors="replace")
    head = re.search(r"function_type = \((.*?)\) -> (.*?), sym_name = \"main\"", text)
    if head:
        return types(head.group(1)), types(head.group(2))
    head = re.search(r"func\.func @main\((.*?)\) -> (.*?) \{\n", text)
    return (types(head.group(1)), types(head.group(2))) if head else None


def drawn(shape, kind, rng):
    """An array as pb-run takes it; None: too large."""
    shape = list(shape) + ([2] if kind.startswith("complex") else [])
    if np.prod(shape, dtype=np.float64) > MOST:
        return None
    part = kind[8:-1] if kind.startswith("complex") else kind
    dtype = KINDS.get(part)
    if dtype is None:
        return rng.integers(0, 8, shape).astype(np.uint8).view("V1")
    if part == "bf16":
        return (rng.standard_normal(shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view("V2")
    if np.dtype(dtype).kind == "f":
        return (rng.standard_normal(shape) * rng.choice([1, 1, 4])).astype(dtype)
    low = 0 if np.dtype(dtype).kind in "ub" else -9
    return rng.integers(low, 2 if part == "i1" else 10, shape).astype(dtype)


class Oracle:
    """A process that says what a text computes; it is started anew when a text ends it."""

    def __init__(self, *command):
        self.command, self.process = command, None

    def ask(self, job, seconds=60):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            self.process.stdin.write((json.dumps(job) + "\n").encode())
            self.process.stdin.flush()
            line = self.process.stdout.readline() if select.select([self.process.stdout], [], [], seconds)[0] else b""
        except BrokenPipeError:
            line = b""
        if line:
            return json.loads(line)
        self.process.kill()
        self.process.wait()
        self.process = None
        return {"why": "it crashed or did not end"}


def numbers(raw, kind):
    raw = raw.view(np.uint8) if raw.dtype.kind == "V" and raw.dtype.itemsize == 1 else raw
    raw = raw.view(np.uint16) if raw.dtype.kind == "V" else raw
    raw = raw.view(raw.real.dtype).reshape(*raw.shape, 2) if raw.dtype.kind == "c" else raw
    return (raw.astype(np.uint32) << 16).view(np.float32) if kind == "bf16" else raw


def differs(want, got, kind, name, solves=False):
    """What is wrong with an output, or None. solves: infinite and none are the same."""
    x, y = numbers(want, kind), numbers(got, kind)
    if x.shape != y.shape and x.size == 1 == y.size:
        y = y.reshape(x.shape)
    if x.shape != y.shape or x.dtype != y.dtype:
        return f"{name} is {y.dtype}{list(y.shape)}, not {x.dtype}{list(x.shape)}"
    if x.dtype.kind == "b" or x.dtype.kind not in "f":
        same = x == y
    else:
        x, y = x.astype(np.float64), y.astype(np.float64)
        part = kind[8:-1] if kind.startswith("complex") else kind
        with np.errstate(invalid="ignore"):
            same = solves & ~np.isfinite(x) & ~np.isfinite(y)
            same |= (x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x) > 1e37) & (np.abs(y) > 1e37)
            same |= np.abs(x - y) <= NEAR.get(part, 1e-4) * max(1, np.abs(x[np.isfinite(x)]).max(initial=0))
    if same.all():
        return None
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    return f"{name} ({kind}): {(~same).sum()} of {same.size} differ, the first at {list(at)}: {y[at]!r}, not {x[at]!r}"


class Judge:
    def __init__(self, args, folder):
        self.bin, self.folder, self.xla, self.mlir = args.bin, folder, None, None
        oracle = os.path.join(args.bin, "linalg_oracle")
        if args.oracle:
            self.xla = Oracle(args.oracle, os.path.join(os.path.dirname(os.path.abspath(__file__)), "text_oracle.py"))
            self.mlir = Oracle(oracle) if os.path.exists(oracle) else None

    def judge(self, data, number, linalg):
        """('refused' | 'unplaced: why' | 'ran' | 'endless' | 'equal' | 'unlike: why' | 'large' | 'wrong: what')"""
        path, engine = os.path.join(self.folder, "m.mlir"), os.path.join(self.folder, "m.pbe")
        with open(path, "wb") as f:
            f.write(data)
        target = ["--target=cpu"] if number % 8 else ["--target=simnpu", "--fallback=cpu"]
        code, printed = mutants.run([os.path.join(self.bin, "pbc"), path, *target, "-o", engine])
        if mutants.refused(code, printed):
            return "refused" if PLACED.search(printed) else "unplaced: " + printed.strip().replace(path, "m.mlir")[:200]
        if code != 0:
            return f"wrong: pbc: exit code {code}: {printed[:600]} ... {printed[-300:]}"
        sides = signature(data)
        if sides is None:
            return "unlike: no signature"
        rng, inputs, command = np.random.default_rng(number), [], [os.path.join(self.bin, "pb-run"), engine]
        for k, (shape, kind) in enumerate(sides[0]):
            value = drawn(shape, kind, rng)
            if value is None:
                return "large"
            np.save(os.path.join(self.folder, f"in{k}.npy"), value)
            inputs.append([os.path.join(self.folder, f"in{k}.npy"), kind])
            command.append(f"--input=arg{k}={inputs[-1][0]}")
        command += [f"--output=out{k}={self.folder}/out{k}.npy" for k in range(len(sides[1]))]
        loops = re.search(rb"stablehlo\.while|scf\.(while|for)", data)
        code, printed = mutants.run(command, *((LOOP_SECONDS, False) if loops else ()))
        if code is None and loops:
            return "endless"
        if code != 0 and b"?" in data and mutants.refused(code, printed):
            return "refused"
        if code != 0:
            return f"wrong: pb-run: exit code {code}: {printed[-300:]}"
        return self.compare(data, path, inputs, sides[1], linalg)

    def compare(self, data, path, inputs, results, linalg):
        oracle = self.mlir if linalg else self.xla
        if not oracle or FREE.search(data):
            return "ran"
        said = oracle.ask({"text": path, "inputs": inputs, "results": [[shape, kind] for shape, kind in results], "out": f"{self.folder}/want"})
        if "why" in said:
            return "unlike: " + re.sub(r"[0-9]+|'[^']*'|\"[^\"]*\"|\S*/\S*", "*", said["why"])[:110]
        for k, (_, kind) in enumerate(results):
            wrong = differs(np.load(f"{self.folder}/want{k}.npy"), np.load(f"{self.folder}/out{k}.npy"), kind, f"out{k}", bool(SOLVES.search(data)))
            if wrong:
                return f"wrong: {wrong}"
        return "equal"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--stablehlo", type=int, default=300)
    parser.add_argument("--linalg", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutant")
    parser.add_argument("--oracle", help="a Python that has jax")
    parser.add_argument("--keep", help="a folder for the mutants that are wrong, that have no place, or that the oracle refuses")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    counts, wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        judge = Judge(args, folder)
        for kind, count, seeds in (("stablehlo", args.stablehlo, damaged_text.stablehlo_seeds), ("linalg", args.linalg, damaged_text.linalg_seeds)):
            pool = list(seeds()) if count else []
            for number in range(args.first, args.first + count):
                rng = random.Random(f"{kind} {args.seed} {number}")
                name, text = rng.choice(pool)
                data = damaged_text.damage_text(text, rng)
                found = judge.judge(data, number, kind == "linalg")
                counts[kind, found if found.startswith("unlike") else found.split(":")[0]] += 1
                if found.startswith(("wrong", "unplaced", "unlike")) and args.keep:
                    os.makedirs(args.keep, exist_ok=True)
                    with open(os.path.join(args.keep, f"{found[:5]}-{kind}-{args.seed}-{number}.mlir"), "wb") as f:
                        f.write(data)
                if found.startswith(("wrong", "unplaced")):
                    wrong += found.startswith("wrong")
                    print(f"{'FAILED' if found.startswith('wrong') else 'no place'} {kind} {number} of {name}: {found}", flush=True)
    for (kind, what), count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"{count:6} {kind} {what}")
    print(f"{args.stablehlo} texts of StableHLO, {args.linalg} of linalg: {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
