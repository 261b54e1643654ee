"""The graphs of function_cases.py on a chip that lacks most of what they need: each is refused with a code, by a line
that names a node of the graph or an input (whose copy into rows of lanes is a kernel too), or its result is ONNX Runtime's. And the functions between codes: the same, where a
result may be one code away.

    refusals.py --bin BUILD/bin [--target simnpu] [--device machine] [--only TEXT] [--every 1]
"""

import argparse
import os
import re
import sys
import tempfile

import tools

tools.require("numpy", "onnx", "onnxruntime")
import float_cases  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from float_graph import Graph, compare, expected_of  # noqa: E402

OTHERS = len(float_cases.CASES)
import function_cases  # noqa: E402

SCALE = np.float32(1 / 16)


def codes(g, x):
    scale, zero = g.const(SCALE), g.const(np.int8(3))
    return g.op("DequantizeLinear", g.op("QuantizeLinear", x, scale, zero), scale, zero)


def between_codes(kind, **attrs):
    """The function on codes: quantised in front and behind."""
    g = Graph(f"codes_{kind.lower()}")
    return g.finish(codes(g, g.op(kind, codes(g, g.input(1, 16, 5, 7)), **attrs)))


def small_input(*shape):
    """Floats that do not fill a row of lanes: the NPU moves floats without a box, so nothing fills the row up."""
    g = Graph("codes_of_" + "x".join(map(str, shape)))
    return g.finish(codes(g, g.input(*shape)))


def cases(only, every):
    for make in float_cases.CASES[OTHERS::every]:
        if only in make.name:
            yield make(), 1e-5
    for shape in ((1, 1, 3, 3), (1, 5), (1, 1, 1, 1), (1, 1, 5, 5)):
        case = small_input(*shape)
        if only in case.name:
            yield case, 1e-5
    for kind, attrs in function_cases.FUNCTIONS:
        if only in f"codes_{kind.lower()}" and kind != "Reciprocal":
            case = between_codes(kind, **attrs)
            largest = max(np.abs(value).max() for value in expected_of(case.model, case.feeds).values())
            yield case, 1.01 * float(SCALE / largest)


def run(args, folder, case, tolerance):
    """'equal', 'refused', or what is wrong."""
    model, engine = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.pbe")
    onnx.save(case.model, model)
    try:
        tools.compile_model(args.bin, model, args.target, engine)
    except tools.Failed as error:
        told = [line for line in str(error).splitlines() if re.search(r"error: .*\[PB\d{4}\]", line)]
        names = [place.name for place in (*case.model.graph.node, *case.model.graph.input)]
        if told and any(re.search(rf"\b{re.escape(name)}\b", line) for line in told for name in names):
            return "refused"
        return f"an error without a code or a node: {str(error)[-300:]}"
    command = [os.path.join(args.bin, "pb-run"), engine, f"--device={args.device}"]
    for name, value in case.feeds.items():
        np.save(os.path.join(folder, f"in-{name}.npy"), value)
        command.append(f"--input={name}={folder}/in-{name}.npy")
    expected = expected_of(case.model, case.feeds)
    files = {name: os.path.join(folder, f"out{k}.npy") for k, name in enumerate(expected)}
    try:
        tools.run(command + [f"--output={name}={file}" for name, file in files.items()])
    except tools.Failed as error:
        return str(error)[-300:]
    wrong = [compare(expected[name], np.load(file), tolerance) for name, file in files.items()]
    return "; ".join(text for text in wrong if text) or "equal"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--target", default="simnpu")
    parser.add_argument("--device", default="machine")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, help="of the graphs only each so many-th")
    args = parser.parse_args()
    counts = {"equal": 0, "refused": 0, "failed": 0}
    with tempfile.TemporaryDirectory() as folder:
        for case, tolerance in cases(args.only, args.every):
            found = run(args, folder, case, tolerance)
            counts[found if found in counts else "failed"] += 1
            if found not in counts:
                print(f"FAILED {case.name} on {args.target}: {found}", flush=True)
    print(f"{args.target}: " + ", ".join(f"{count} {word}" for word, count in counts.items()))
    # A chip without functions that refuses nothing is not asked.
    return int(counts["failed"] or not counts["equal"] or (args.device == "machine" and not counts["refused"]))


if __name__ == "__main__":
    sys.exit(main())
