"""Plans of cores printed, edited and handed back: unedited they give the same engine; each edit of a number is carried out and
changes no result, or is refused with its line. Products, pooling, int8, and kernels of several stages. Where this processor
lacks what a target needs, the best of what it has takes the graph.

    plans_cpu.py --bin BUILD/bin [--count 40] [--seed 1]
"""

import argparse
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import function_cases  # noqa: E402, F401  (registers its cases)
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from float_cases import CASES  # noqa: E402
from float_graph import expected_of  # noqa: E402

# cores whose registers load from a memory of their own
STAGED = os.path.join(tools.HERE, "..", "chips", "dsp.td")
GRAPHS = (("conv_3x3", "cpu:avx512"), ("int8_conv_3_to_17", "cpu:avx512"), ("heads_", "cpu:v3"), ("mlp", "cpu:v3"),
          ("causal", "cpu:v3"), ("conv_3x3", STAGED))
NUMBERS = 0, 1, 1, 2, 2, 3, 4, 6, 8, 16, 31, 1000, -1


class Graph:
    def __init__(self, bin_dir, folder, name, target):
        self.bin, self.folder, self.target = bin_dir, folder, target
        case = next(make for make in CASES if make.name.startswith(name))()
        self.name, self.model = case.name, self.path("m.onnx")
        onnx.save(case.model, self.model)
        self.inputs = []
        for k, (tensor, value) in enumerate(case.feeds.items()):
            np.save(self.path(f"in{k}.npy"), value)
            self.inputs.append(f"--input={tensor}={self.path(f'in{k}.npy')}")
        self.expected, self.exact = (case.reference(), True) if case.reference else (expected_of(case.model, case.feeds), False)
        self.text = tools.run([os.path.join(bin_dir, "pbc"), self.model, f"--target={target}", "--emit=plan"])

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, text, engine):
        with open(self.path("edited.txt"), "w", encoding="utf-8") as file:
            file.write(text)
        return tools.call([os.path.join(self.bin, "pbc"), self.model, f"--target={self.target}", f"--plan={self.path('edited.txt')}",
                           "-o", self.path(engine)], 120)

    def wrong(self, engine):
        """None, or what the engine makes wrongly."""
        files = {name: self.path(f"out{k}.npy") for k, name in enumerate(self.expected)}
        result = tools.call([os.path.join(self.bin, "pb-run"), self.path(engine), "--device=native", "--threads=2", *self.inputs,
                             *(f"--output={name}={file}" for name, file in files.items())], 120)
        if result.returncode:
            return f"exit code {result.returncode}: {result.stderr}"
        for name, file in files.items():
            made, right = np.load(file), self.expected[name]
            near = np.array_equal(made, right) if self.exact else np.allclose(made, right, rtol=1e-4, atol=1e-5 * np.abs(right).max())
            if not near:
                return f"{name} differs"
        return None

    def unedited(self):
        """The same engine, byte for byte."""
        tools.compile_model(self.bin, self.model, self.target, self.path("own.pbe"))
        told = self.compile(self.text, "again.pbe")
        if told.returncode:
            return told.stderr
        with open(self.path("own.pbe"), "rb") as own, open(self.path("again.pbe"), "rb") as again:
            return None if own.read() == again.read() else "another engine"


def shared_stage(graph):
    """Stages are done in one iteration of shared loops: parts of their own are refused for just that reason."""
    text, changed = re.subn(r"(stage {[^}]*?loop d\d+ step \d+)", rf"\1 over {'core' if graph.target == STAGED else 'thread'} 2", graph.text, count=1)
    told = graph.compile(text, "edited.pbe") if changed else None
    return told.stderr or "carried out" if told and "it has no parts of its own" not in told.stderr else None


def large_tile(graph):
    """A copy whose tile has all of the longer dim, more values than are written out, is refused for just that reason."""
    text, changed = re.subn(r"loop d0 step 8 // of 117\n", "loop d1 step 8\n", graph.text)
    told = graph.compile(text, "edited.pbe") if changed else None
    return (told.stderr or "carried out") if told and "more values than are written out" not in told.stderr else None


def edited(text, rng):
    """One or two numbers changed, or loops that change places."""
    lines, changed = text.split("\n"), []
    for _ in range(rng.randint(1, 2)):
        at, other = rng.choices([k for k, line in enumerate(lines) if re.match(" *(loop|home)", line)], k=2)
        if rng.randrange(5):
            m = rng.choice(list(re.finditer(r"\b\d+", lines[at].split("//")[0])))
            old = int(m[0])
            new = rng.choice([2 * old, max(1, old // 2), old + 1, old + 8, rng.choice(NUMBERS)])
            lines[at] = lines[at][: m.start()] + str(new) + lines[at][m.end():]
        else:
            lines[at], lines[other] = lines[other], lines[at]
        changed += [lines[at], lines[other]]
    return "\n".join(lines), " | ".join(changed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, carried_out, refused, failed = random.Random(args.seed), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        graphs = [Graph(args.bin, tempfile.mkdtemp(dir=folder), name, target if tools.runs_here(args.bin, target) else "cpu")
                  for name, target in GRAPHS]
        for graph in graphs:
            if told := graph.unedited():
                failed += 1
                print(f"FAILED {graph.name}, unedited: {told}")
        for graph in graphs:
            if told := shared_stage(graph):
                failed += 1
                print(f"FAILED {graph.name} on {graph.target}, with a stage shared among threads: {told}")
        if told := large_tile(graphs[-1]):
            failed += 1
            print(f"FAILED {graphs[-1].name} on {graphs[-1].target}, with a large tile: {told}")
        for k in range(args.count):
            graph = graphs[k % len(graphs)]
            text, line = edited(graph.text, rng)
            told = graph.compile(text, "edited.pbe")
            if told.returncode == 0:
                carried_out += 1
                problem = graph.wrong("edited.pbe")
            else:
                refused += 1
                named = re.search(r"edited.txt:\d+:\d+: error: .*\[PB24\d\d\]", told.stderr)
                problem = None if told.returncode == 1 and named else f"exit code {told.returncode}: {told.stderr}"
            if problem:
                failed += 1
                print(f"FAILED {graph.name} on {graph.target}: {problem}\n  {line}")
    print(f"{args.count} edits: {carried_out} carried out, {refused} refused; {failed} failed")
    return int(failed > 0 or not carried_out or not refused)


if __name__ == "__main__":
    sys.exit(main())
