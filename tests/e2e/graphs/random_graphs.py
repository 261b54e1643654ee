"""Random small networks, each drawn from a generator of its own: number K of a seed is the same in every run.

    random_graphs.py --bin BUILD/bin --type int8|f32|f16|codes|any|backward --runs RUN,RUN... [--count 200] [--seed 1] [--shard 0/2] [--only K]
                     [--first K] [--keep DIR] [--bisect EVERY] [--refused PERCENT] [--like]
                     [--fallback]

A RUN is TARGET:DEVICE, with /N only each N-th graph, and A|B takes one after the other: cpu:v3:native|cpu:avx512:native.
What this processor cannot run is compiled alone; the next of A|B that it can run takes the graph too. The machine runs with
all its checks on.

codes: int8, also what is moved, cut and reduced along any axis (random_codes_any.py). any: f32, operators of any rank in every
form, also in other types, in branches and loops (random_any.py). backward: f32, gradients of small forward passes
(random_backward.py). f16: those of f32 and any, of f16 throughout (random_halves.py). --like: of a chip whose codes are made by its own formula every
output has the bits of the processor that is asked to be like it; what the chip lacks the processor does there too, as with --fallback.

int8: every output has the bits of the NumPy reference, whose every layer is within one code of ONNX Runtime (graph
optimisation off). f32: within 1e-4 of ONNX Runtime's largest output, by one thread or two; where numbers cancel out (less
their own mean), as far apart as roundings.py says that roundings bring them: those graphs are printed, and at most
CANCELLED of a hundred. f16: within HALVES of what ONNX Runtime makes in f32 of the same numbers, or as far apart as a rounding of
every result to f16 brings them. A graph that is refused must be so with a PB code; at most --refused of a hundred, and each reason
is printed.
"""

import argparse
import collections
import os
import random
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
tools.fill_memory()
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import roundings  # noqa: E402
from float_graph import compare, expected_of  # noqa: E402
from quantised_ops import differs  # noqa: E402
from random_any import draw_any  # noqa: E402
from random_backward import draw_backward  # noqa: E402
from random_codes import CodesDrawing, layers_apart  # noqa: E402
from random_codes_any import AnyCodesDrawing  # noqa: E402
from random_floats import FloatsDrawing  # noqa: E402
from random_halves import draw_halves  # noqa: E402
from reference import Reference  # noqa: E402

CANCELLED = {"backward": 8, "f16": 8}  # gradients of what is free of its own mean or sum are 0 along that; others 0.5
HALVES = 2e-3  # of the largest: four roundings to f16
# By name of what the chip lacks. A plan that cannot be carried out (4011, 4012) is the planner's own fault: nobody gave one.
REFUSAL = re.compile(r"\[PB(2\d{3}|40(0\d|1[03-9]|4[2389]))\]")


CODES = {"int8": CodesDrawing, "codes": AnyCodesDrawing}
FLOATS = {"f32": lambda rng, name: FloatsDrawing(rng, name).finish(), "any": draw_any, "backward": draw_backward}


class Graph:
    """One random graph: its model, inputs and expected outputs, and what is wrong with the model's reference."""

    def __init__(self, kind, seed, number):
        rng = random.Random(f"{kind} {seed} {number}")
        name = f"random{seed}_{number}"
        self.kind, self.number, self.wrong, self.apart, self.cancelled = kind, number, "", None, ""
        if kind in CODES:
            graph, self.what = CODES[kind](rng, name).finish()
            self.model, self.feeds = graph.model(), graph.feeds
            results = Reference(self.model).run(self.feeds)
            self.expected = {info.name: results[info.name] for info in self.model.graph.output}
            apart, layer = layers_apart(self.model, self.feeds)
            if apart > 1:
                self.wrong = f"the reference is {apart} codes from ONNX Runtime in {layer}"
        elif kind == "f16":
            case, self.what, *self.twin = draw_halves(rng, name)
            self.model, self.feeds = case.model, case.feeds
            types = {info.name: onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type) for info in self.model.graph.output}
            self.expected = {name: array.astype(types[name]) for name, array in expected_of(*self.twin).items()}
        else:
            case, self.what = FLOATS[kind](rng, name)
            self.model, self.feeds = case.model, case.feeds
            self.twin = self.model, self.feeds
            self.expected = expected_of(self.model, self.feeds)

    def differs(self, name, actual):
        if self.kind in CODES:
            return differs(self.expected[name], actual)
        wrong = compare(self.expected[name], actual, HALVES if self.kind == "f16" else 1e-4)
        if not wrong or actual.shape != self.expected[name].shape:
            return wrong
        try:
            self.apart = self.apart or roundings.apart(*self.twin, kept=2.0**-10 if self.kind == "f16" else 0.0)
        except roundings.NoRule as error:
            return f"{wrong}; roundings.py has no rule for {error}"
        apart = np.abs(self.expected[name].astype(np.float64) - actual)
        if np.any((apart > self.apart[name]) & (self.expected[name] != actual)):
            return wrong
        self.cancelled = f"{name} {wrong}; within {self.apart[name].max():.3g} by roundings"
        return None


def runs_here(bin_dir, name):
    target, device = name.rsplit(":", 1)
    return device != "native" or tools.runs_here(bin_dir, target)


def chosen(args, number):
    """The target and device of each run that takes this graph, and whether this processor can carry it out."""
    for run in args.runs.split(","):
        names, every = re.fullmatch(r"(.*?)(?:/(\d+))?", run).groups()
        if number % int(every or 1) == 0:
            for name, here in tools.turn(names.split("|"), number // int(every or 1), lambda name: runs_here(args.bin, name)):
                yield *name.rsplit(":", 1), here


class Runner:
    """Compiles and runs graphs in one folder."""

    def __init__(self, args, folder):
        self.args, self.folder, self.made = args, folder, 0
        self.model = os.path.join(folder, "m.onnx")

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, target, *options):
        """The engine of the model for a target, made only if all goes well."""
        tools.run([os.path.join(self.args.bin, "pbc"), self.model, f"--target={target}", "-o", self.path("m.pbe"), "--threads=1",
                   *options], timeout=120)
        self.made += 1
        engine = self.path(f"{self.made}.pbe")
        os.replace(self.path("m.pbe"), engine)
        return engine

    def all_is_left(self, engine):
        """Whether --fallback left every kernel to the processor."""
        shown = tools.run([os.path.join(self.args.bin, "pb-objdump"), engine])
        return not re.search(r"^  queue ", shown, re.M)

    def outputs(self, graph, engine, device):
        files = {name: self.path(f"out{k}.npy") for k, name in enumerate(graph.expected)}
        threads = [f"--threads={1 + graph.number % 2}"] if device == "native" else []
        tools.run([os.path.join(self.args.bin, "pb-run"), engine, f"--device={device}", *threads,
                   *(f"--input={name}={self.path(name + '.npy')}" for name in graph.feeds),
                   *(f"--output={name}={file}" for name, file in files.items())], timeout=120)
        return {name: np.load(file) for name, file in files.items()}

    def run_on(self, graph, engine, device):
        if (self.args.fallback or self.args.like) and self.all_is_left(engine):
            device = "native"
        wrong = {name: graph.differs(name, array) for name, array in self.outputs(graph, engine, device).items()}
        return [f"on {device}: {name} {text}" for name, text in wrong.items() if text]

    def check(self, graph):
        """What is wrong, and the reasons of refusals."""
        self.made = 0
        onnx.save(graph.model, self.model)
        for name, value in graph.feeds.items():
            np.save(self.path(name + ".npy"), value)
        problems, refusals, engines = [graph.wrong] if graph.wrong else [], [], {}
        for target, device, here in chosen(self.args, graph.number):
            try:
                if target not in engines:
                    engines[target], options = None, []
                    if self.args.bisect and graph.number % self.args.bisect == 0:
                        options.append("--bisect")
                    if self.args.like or self.args.fallback:
                        options.append("--fallback=cpu")
                    if self.args.like:
                        graph.expected = self.outputs(graph, self.compile("cpu", f"--like={target}"), "native")
                    engines[target] = self.compile(target, *options)
                if engines[target] and here:
                    problems += self.run_on(graph, engines[target], device)
            except tools.Failed as error:
                if error.code == 1 and REFUSAL.search(error.err) and engines[target] is None:
                    refusals.append(next(line for line in error.err.splitlines() if REFUSAL.search(line)))
                else:
                    problems.append(f"{target} {device}: {(error.out + error.err)[-600:]} (exit code {error.code})")
            except tools.subprocess.TimeoutExpired:
                problems.append(f"{target} {device}: takes more than two minutes")
        return problems, refusals

    def keep(self, graph):
        if self.args.keep:
            os.makedirs(self.args.keep, exist_ok=True)
            stem = os.path.join(self.args.keep, f"{graph.kind}-{self.args.seed}-{graph.number}")
            onnx.save(graph.model, stem + ".onnx")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--type", choices=[*CODES, *FLOATS, "f16"], required=True)
    parser.add_argument("--runs", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shard", default="0/1", help="I/N: each N-th graph, from I")
    parser.add_argument("--first", type=int, default=0, help="go on behind so many that are done")
    parser.add_argument("--only", type=int, help="one graph, by its number")
    parser.add_argument("--refused", type=float, default=1, help="percent of the graphs that may be refused")
    parser.add_argument("--bisect", type=int, help="run the IR after every pass for each so many-th graph")
    parser.add_argument("--like", action="store_true", help="by the formula of a chip that makes codes in its own way")
    parser.add_argument("--fallback", action="store_true", help="what a chip lacks is the processor's")
    parser.add_argument("--keep", help="folder for the models that fail")
    args = parser.parse_args()
    first, step = (int(part) for part in args.shard.split("/"))
    numbers = [k for k in range(first, args.count, step) if k >= args.first] if args.only is None else [args.only]
    named = [name.rsplit(":", 1) for name in re.split(r"[,|]", re.sub(r"/\d+(?=,|$)", "", args.runs))]
    if all(device == "native" for _, device in named):
        tools.skip_without(args.bin, *(target for target, _ in named))
    start, failed, refused, cancelled = time.monotonic(), 0, 0, 0
    reasons = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(args, folder)
        for number in numbers:
            graph = Graph(args.type, args.seed, number)
            problems, refusals = runner.check(graph)
            for problem in problems:
                print(f"FAILED {number}: {graph.what}: {problem}", flush=True)
            for refusal in refusals:
                print(f"refused {number}: {graph.what}: {refusal}", flush=True)
                reasons[re.sub(r"^\S+ error: |'[^']*'|\d+(?!\d*\])", "", refusal)] += 1
            if graph.cancelled:
                print(f"cancelled {number}: {graph.what}: {graph.cancelled}", flush=True)
            failed += bool(problems)
            cancelled += bool(graph.cancelled)
            refused += bool(refusals)
            if problems or refusals:
                runner.keep(graph)
    for reason, count in reasons.most_common():
        print(f"{count} refused: {reason}")
    print(f"{len(numbers)} {args.type} graphs of seed {args.seed} on {args.runs} in {time.monotonic() - start:.0f} s: "
          f"{len(numbers) - failed - refused} right, {refused} refused, {failed} failed"
          + (f", {cancelled} cancelled" if cancelled else ""))
    many = refused * 100 > args.refused * len(numbers) or cancelled * 100 > max(CANCELLED.get(args.type, 0.5) * len(numbers), 100)
    return int(failed > 0 or many or not numbers)


if __name__ == "__main__":
    sys.exit(main())
