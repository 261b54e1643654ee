"""Small int8 graphs compiled for two chips and compared, output by output, with the NumPy reference bit for bit.

    quantised_ops.py --bin BUILD/bin [--only TEXT] [--runs simnpu:machine,cpu:native] [--bisect] [--unsigned] [--every 1]
                     [--shard 0/1] [--list] [--transformers] [--skip TEXT]

With --transformers the graphs are those of transformer_cases.py, and the reference must be within one code of ONNX Runtime.
"""

import argparse
import concurrent.futures
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402

try:
    from exact import session_of
except ImportError:  # no ONNX Runtime, which only --transformers asks
    session_of = None
from quantised_cases import CASES, make  # noqa: E402
from transformer_cases import NAMES as TRANSFORMERS  # noqa: E402
from reference import Reference  # noqa: E402


def differs(expected, actual):
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return f"is {actual.dtype}{list(actual.shape)}, not {expected.dtype}{list(expected.shape)}"
    wrong = np.argwhere(expected != actual)
    if not len(wrong):
        return None
    at = tuple(wrong[0])
    return f"{len(wrong)} of {expected.size} differ, the first at {[int(i) for i in at]}: {actual[at]}, not {expected[at]}"


def run_on(args, stem, graph, target, device, expected):
    engine, problems = f"{stem}-{device}.pbe", []
    files = {name: f"{stem}-{device}-out{k}.npy" for k, name in enumerate(expected)}
    try:
        tools.compile_model(args.bin, stem + ".onnx", target, engine, *(["--bisect"] if args.bisect else []))
        if device == "native" and not tools.runs_here(args.bin, target):
            return []
        tools.run([os.path.join(args.bin, "pb-run"), engine, f"--device={device}",
                   *(f"--input={name}={stem}-in-{name}.npy" for name in graph.feeds),
                   *(f"--output={name}={file}" for name, file in files.items())])
        problems = [f"{name} {wrong}" for name, file in files.items() if (wrong := differs(expected[name], np.load(file)))]
    except tools.Failed as error:
        told = [line for line in str(error).splitlines() if "error: " in line]
        problems.append("; ".join(told)[:400] or str(error)[-400:])
    return [f"FAILED {graph.name} on {target} {device}: {problem}" for problem in problems]


def judged(model, graph, expected):
    """What the reference gives more than a code off ONNX Runtime, which reads the same model."""
    theirs = session_of(model).run(list(expected), graph.feeds)
    scales = {o: last.scale if ours.dtype == np.float32 else 1 for (o, ours), last in zip(expected.items(), graph.given)}
    return [f"FAILED {graph.name}: {name} is {worst:.2f} codes from ONNX Runtime's"
            for (name, ours), right in zip(expected.items(), theirs)
            if (worst := np.abs(ours.astype(np.float64) - right).max() / scales[name]) > 1.01]


def run_case(args, folder, name):
    """What is wrong with one graph on all targets."""
    graph = make(name, kind=np.uint8 if args.unsigned else np.int8)
    model, stem = graph.model(), os.path.join(folder, name)
    onnx.save(model, stem + ".onnx")
    for tensor, value in graph.feeds.items():
        np.save(f"{stem}-in-{tensor}.npy", value)
    results = Reference(model).run(graph.feeds)
    expected = {info.name: results[info.name] for info in model.graph.output}
    flat = [tensor for tensor, value in expected.items() if value.size > 64 and len(np.unique(value)) < 5]
    problems = [f"FAILED {name}: the reference of {tensor} is nearly constant" for tensor in flat]
    if args.transformers:
        flat = []
        problems = judged(model, graph, expected)
    for run in args.runs.split(","):
        target, device = run.rsplit(":", 1)
        problems += run_on(args, stem, graph, target, device, expected)
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--runs", default="simnpu:machine,cpu:native", help="targets and devices")
    parser.add_argument("--bisect", action="store_true")
    parser.add_argument("--unsigned", action="store_true", help="codes are uint8")
    parser.add_argument("--every", type=int, default=1, help="take every so manyth case only")
    parser.add_argument("--shard", default="0/1", help="I/N: each N-th case, from I")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--transformers", action="store_true", help="the graphs of transformer_cases.py")
    parser.add_argument("--skip", help="cases whose name begins so")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    first, step = (int(part) for part in args.shard.split("/"))
    if args.transformers:
        tools.require("onnxruntime")
    names = [name for name in CASES if args.only in name and (name in TRANSFORMERS) == args.transformers
             and not (args.skip and name.startswith(args.skip))][:: args.every][first::step]
    if args.list:
        print("\n".join(names))
        return 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        problems = list(pool.map(lambda name: run_case(args, folder, name), names))
    for lines in problems:
        if lines:
            print("\n".join(lines))
    failed = sum(bool(lines) for lines in problems)
    print(f"{len(names)} graphs on {args.runs}: {failed} failed")
    return int(failed > 0 or not names)


if __name__ == "__main__":
    sys.exit(main())
