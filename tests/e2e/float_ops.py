"""Graphs of one or a few f32 operators with odd sizes: compiled to machine code for two chips, run with one thread and
with two, every output compared with ONNX Runtime; and the int8 networks among them with their own reference, code for
code.

    float_ops.py --bin BUILD/bin [--only TEXT] [--targets cpu:v3,cpu:avx512] [--keep DIR] [--list]
"""

import argparse
import concurrent.futures
import os
import sys
import tempfile

import tools

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from float_cases import CASES, compare, expected_of  # noqa: E402

TOLERANCE = 1e-5  # of the output's largest number


def run_case(bin_dir, folder, case, target):
    """The problems of one case on one target."""
    stem = os.path.join(folder, f"{case.name}-{target.replace(':', '-')}")
    onnx.save(case.model, stem + ".onnx")
    sources = []
    for name, value in case.feeds.items():
        np.save(f"{stem}-in-{name}.npy", value)
        sources += ["--input", f"{name}={stem}-in-{name}.npy"]
    problems = []
    try:
        expected = case.reference() if case.reference else expected_of(case.model, case.feeds)
        tools.compile_model(bin_dir, stem + ".onnx", target, stem + ".pbe")
        for threads in (1, 2):
            files = {name: f"{stem}-out{k}.npy" for k, name in enumerate(expected)}
            command = [
                os.path.join(bin_dir, "pb-run"),
                stem + ".pbe",
                "--device=native",
                f"--threads={threads}",
                *sources,
            ]
            for name, file in files.items():
                command += ["--output", f"{name}={file}"]
            tools.run(command)
            for name, file in files.items():
                wrong = compare(expected[name], np.load(file), 0 if case.reference else TOLERANCE)
                if wrong:
                    problems.append(f"{threads} threads: {name} {wrong}")
    except tools.Failed as error:
        told = [line for line in str(error).splitlines() if "error: " in line]
        problems.append("; ".join(told)[:400] or str(error)[-400:])
    except Exception as error:  # a case that is wrong itself
        problems.append(f"{type(error).__name__}: {error}")
    return [f"FAILED {case.name} on {target}: {problem}" for problem in problems], stem


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--targets", default="cpu:v3,cpu:avx512")
    parser.add_argument("--keep", help="folder for the models that fail")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    cases = [make() for make in CASES if args.only in make.name]
    if args.list:
        print("\n".join(case.name for case in cases))
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(run_case, args.bin, folder, case, target)
            for case in cases
            for target in args.targets.split(",")
        ]
        for job in jobs:
            problems, stem = job.result()
            failed += bool(problems)
            if problems:
                print("\n".join(problems), flush=True)
            if problems and args.keep:
                os.makedirs(args.keep, exist_ok=True)
                os.replace(stem + ".onnx", os.path.join(args.keep, os.path.basename(stem) + ".onnx"))
    print(f"{len(jobs)} compiled and run, {failed} failed")
    return int(bool(failed) or not jobs)


if __name__ == "__main__":
    sys.exit(main())
