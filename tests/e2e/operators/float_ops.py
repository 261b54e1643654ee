"""Graphs of one or a few f32 operators with odd sizes: compiled to machine code for two chips, run with one thread and
with two, every output compared with ONNX Runtime; and the int8 networks among them with their own reference, code for
code. A target simnpu+cpu is an engine for both: the machine runs what it can, native code the rest.

    float_ops.py --bin BUILD/bin [--only TEXT] [--targets cpu:v3,cpu:avx512] [--every 1] [--shard 0/1] [--keep DIR] [--list]

Targets A|B take one graph after the other. What this processor cannot run is compiled alone; the next of A|B that it can run
takes the graph too.
"""

import argparse
import concurrent.futures
import os
import re
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import function_cases  # noqa: E402, F401  (registers its cases)
import typed_cases  # noqa: E402, F401  (the same)
from float_cases import CASES  # noqa: E402
from float_graph import compare, expected_of  # noqa: E402

TOLERANCE = 1e-5  # of the output's largest number
# Of two targets: a reciprocal near its pole of a sum, which one of them takes in another order than ONNX Runtime: where 27 terms
# of up to 3 leave 0.00044, a last place of the largest makes 5e-4 of the reciprocal.
UNSTABLE = {"functions_behind_conv": 2e-4, "reciprocal_18_in_conv": 1e-4}


def run_on(bin_dir, stem, case, target, here, expected):
    """The problems of one case, whose files begin with `stem`, on one target."""
    chip, _, other = target.partition("+")
    sources = [f"--input={name}={stem}-in-{name}.npy" for name in case.feeds]
    files = {name: f"{stem}-{target.replace(':', '-')}-out{k}.npy" for k, name in enumerate(expected)}
    outputs = [f"--output={name}={file}" for name, file in files.items()]
    engine, problems = f"{stem}-{target.replace(':', '-')}.pbe", []
    try:
        tools.compile_model(bin_dir, stem + ".onnx", chip, engine, *([f"--fallback={other}"] if other else []))
        for threads in (1, 2) if here else ():
            device = ([] if other else ["--device=native"]) + [f"--threads={threads}"]
            tools.run([os.path.join(bin_dir, "pb-run"), engine, *device, *sources, *outputs])
            for name, file in files.items():
                most = UNSTABLE.get(case.name, TOLERANCE) if other else TOLERANCE
                wrong = compare(expected[name], np.load(file), 0 if case.reference else most)
                if wrong:
                    problems.append(f"{threads} threads: {name} {wrong}")
    except tools.Failed as error:
        told = [line for line in str(error).splitlines() if "error: " in line]
        problems.append("; ".join(told)[:400] or str(error)[-400:])
    return [f"FAILED {case.name} on {target}: {problem}" for problem in problems]


def run_case(bin_dir, folder, case, targets):
    """The problems of one case, and its model's file."""
    stem = os.path.join(folder, case.name)
    onnx.save(case.model, stem + ".onnx")
    for name, value in case.feeds.items():
        np.save(f"{stem}-in-{name}.npy", value)
    expected = case.reference() if case.reference else expected_of(case.model, case.feeds)
    problems = [problem for target, here in targets for problem in run_on(bin_dir, stem, case, target, here, expected)]
    return problems, stem + ".onnx"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--targets", default="cpu:v3,cpu:avx512")
    parser.add_argument("--every", type=int, default=1, help="take every so manyth case only")
    parser.add_argument("--shard", default="0/1", help="I/N: each N-th case, from I")
    parser.add_argument("--keep", help="folder for the models that fail")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    first, step = (int(part) for part in args.shard.split("/"))
    makers = [make for make in CASES if args.only in make.name][:: args.every]
    cases = [make() for make in makers][first::step]
    if args.list:
        print("\n".join(case.name for case in cases))
        return 0
    tools.skip_without(args.bin, *(target.partition("+")[0] for target in re.split(r"[,|]", args.targets)))
    here, failed = lambda target: tools.runs_here(args.bin, target.partition("+")[0]), 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        targets = args.targets.split(",")
        # by name: whichever cases are taken, each has the same code, which pb-server keeps
        numbers = [zlib.crc32(case.name.encode()) for case in cases]
        turns = [[taken for each in targets for taken in tools.turn(each.split("|"), number, here)] for number in numbers]
        jobs = [pool.submit(run_case, args.bin, folder, case, turns[k]) for k, case in enumerate(cases)]
        for job in jobs:
            problems, model = job.result()
            failed += bool(problems)
            if problems:
                print("\n".join(problems), flush=True)
            if problems and args.keep:
                os.makedirs(args.keep, exist_ok=True)
                os.replace(model, os.path.join(args.keep, os.path.basename(model)))
    print(f"{len(cases)} graphs on {' and '.join(targets)}: {failed} failed")
    return int(bool(failed) or not jobs)


if __name__ == "__main__":
    sys.exit(main())
