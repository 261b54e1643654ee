"""Random graphs with an open leading dim, of the kinds any and f32 of random_graphs.py: one engine for the extents 1, 2, 3 and 7,
against ONNX Runtime. All inputs whose leading extent is the first input's have it open.

    tests/open/graphs.py --bin build/bin [--count 100] [--seed 1] [--shard 0/2] [--only K] [--keep DIR]

A graph is refused by a code, when it is compiled or for an extent; one that ONNX Runtime refuses is not run. What differs
from ONNX Runtime by more than 1e-4 of the largest, and is what an engine for that extent gives or no further than roundings of f32
reach (roundings.py), is what numbers cancel to: as many are said, and judged by random_graphs.py."""

import argparse
import multiprocessing
import os
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE)]
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import roundings  # noqa: E402
from exact import session_of  # noqa: E402
from closed import EXTENTS, at_extent, differs  # noqa: E402
from random_graphs import FLOATS  # noqa: E402


def opened(model, feeds):
    """The model with the dim open, without what it says of other shapes; which inputs have it."""
    first = next((v.shape[0] for v in feeds.values() if v.ndim), None)
    names = [n for n, v in feeds.items() if v.ndim and v.shape[0] == first]
    for value in model.graph.input:
        if value.name in names:
            value.type.tensor_type.shape.dim[0].dim_param = "open"
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    return names


def reference(session, feeds, apart):
    """ONNX Runtime's results; None: it refuses. apart: in a process of its own, for what has no elements ends it at times."""
    def run():
        try:
            return session.run(None, feeds)
        except Exception:  # noqa: BLE001 - what it says is of no interest
            return None

    if not apart:
        return run()
    here, there = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        there.send(run())
        os._exit(0)
    there.close()
    try:
        found = here.recv()
    except EOFError:
        found = None
    os.waitpid(child, 0)
    return found


class Bench:
    def __init__(self, bin_dir, work):
        self.bin, self.work = bin_dir, work

    def compile(self, engine, extent):
        return tools.call([f"{self.bin}/pbc", f"{self.work}/m.onnx", "--target=cpu", "-o", f"{self.work}/{engine}", "--dim", f"open={extent}"], timeout=120)

    def run(self, engine, feeds, outputs):
        command = [f"{self.bin}/pb-run", f"{self.work}/{engine}"]
        for k, (name, value) in enumerate(feeds.items()):
            np.save(f"{self.work}/in{k}.npy", value)
            command += ["--input", f"{name}={self.work}/in{k}.npy"]
        for k, name in enumerate(outputs):
            command += ["--output", f"{name}={self.work}/out{k}.npy"]
        done = tools.call(command, timeout=120)
        return done, [np.load(f"{self.work}/out{k}.npy") for k in range(len(outputs))] if not done.returncode else None

    def one(self, kind, seed, number):
        """(what it came to, what is said of it)"""
        case, what = FLOATS[kind](random.Random(f"open {kind} {seed} {number}"), f"open{seed}_{number}")
        model, feeds = case.model, case.feeds
        names = opened(model, feeds)
        if not names:
            return "no leading dim", ""
        Path(f"{self.work}/m.onnx").write_bytes(model.SerializeToString())
        done = self.compile("open.pbe", "?")
        if done.returncode:
            known = done.returncode == 1 and re.search(r"\[PB\d+\]", done.stderr) and "bug in the compiler" not in done.stderr
            return ("refused" if known else "failed"), f"{done.stderr.strip()[-500:]} ({what})"
        session = session_of(model)
        outputs = [o.name for o in model.graph.output]
        came, why = Counter(), ""
        for extent in EXTENTS:
            at = {n: at_extent(v, extent) if n in names else v for n, v in feeds.items()}
            done, got = self.run("open.pbe", at, outputs)
            if got is None and (done.returncode != 1 or not re.search(r"\[PB5\d+\]", done.stderr)):
                return "failed", f"extent {extent}: exit {done.returncode}: {done.stderr.strip()[:400]} ({what})"
            expected = reference(session, at, apart=extent == 0)
            if expected is None:
                continue
            if got is None:
                came["refused at an extent"] += 1
                why = f"extent {extent}: {done.stderr.strip()[:400]} ({what})"
                continue
            wrong = self.wrong(model, extent, at, outputs, got, expected)
            if wrong:
                return wrong[0], f"extent {extent}: {wrong[1]} ({what})"
            came["right"] += 1
        return ("refused at an extent" if came["refused at an extent"] else "right" if came else "no extent runs"), why

    def wrong(self, model, extent, feeds, outputs, got, expected):
        for k, (a, b) in enumerate(zip(got, expected)):
            why = differs(a, np.asarray(b), 1e-4)
            if not why:
                continue
            closed = self.run("closed.pbe", feeds, outputs)[1] if not self.compile("closed.pbe", extent).returncode else None
            same = closed is not None and not differs(a, closed[k], 1e-5)
            return ("cancels" if same or self.by_roundings(model, feeds, outputs[k], a, b) else "failed"), f"{outputs[k]}: {why}"
        return None

    @staticmethod
    def by_roundings(model, feeds, name, a, b):
        """Whether no rounding of f32 says which of the two it is: engines with open dims sum in f64."""
        try:
            apart = roundings.apart(model, feeds)[name]
        except roundings.NoRule:
            return False
        b = np.asarray(b, np.float64)
        return a.shape == b.shape and not np.any((np.abs(a - b) > apart) & (a != b))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep")
    parser.add_argument("--verbose", action="store_true", help="what is refused too")
    options = parser.parse_args()
    shard, shards = map(int, options.shard.split("/"))
    counts = Counter()
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options.bin, work)
        for number in [options.only] if options.only is not None else range(shard, options.count, shards):
            kind = "f32" if number % 4 == 3 else "any"
            try:
                what, why = bench.one(kind, options.seed, number)
            except tools.subprocess.TimeoutExpired:
                what, why = "failed", "no end within 120 s"
            counts[what] += 1
            if what in ("failed", "cancels") or options.verbose and what.startswith("refused"):
                print(f"{what}: {number}: {why}", flush=True)
            if what == "failed" and options.keep:
                Path(options.keep).mkdir(parents=True, exist_ok=True)
                Path(options.keep, f"open_{options.seed}_{number}.onnx").write_bytes(Path(f"{work}/m.onnx").read_bytes())
    print(dict(counts))
    return int(counts["failed"] > 0 or not counts["right"])


if __name__ == "__main__":
    sys.exit(main())
