"""The graphs of function_cases.py on a chip that lacks most of what they need: each is refused by the very words that
refusals_TARGET.txt has for it, with its code and hint, which name a node of the graph; or it is not in there, and its result is
ONNX Runtime's. And the functions between codes: the same, where a result may be one code away.

    refusals.py --bin BUILD/bin [--target simnpu] [--device machine] [--only TEXT] [--every 1] [--write]

--write makes the file anew, to be read before it is committed: a reason that became another, or a graph that is no
longer right, is a change in what users see.
"""

import argparse
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import float_cases  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from float_graph import Graph, compare, expected_of  # noqa: E402

OTHERS = len(float_cases.CASES)
import function_cases  # noqa: E402

SCALE = np.float32(1 / 16)


# 1 / x of sums that are nearly 0: terms that are added in another order leave another last bit of the largest one.
NEAR_ZERO = {"functions_behind_conv": 2e-4, "reciprocal_18_in_conv": 1e-4}


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
            yield make(), NEAR_ZERO.get(make.name, 1e-5)
    for shape in ((1, 1, 3, 3), (1, 5), (1, 1, 1, 1), (1, 1, 5, 5)):
        case = small_input(*shape)
        if only in case.name:
            yield case, 1e-5
    for kind, attrs in function_cases.FUNCTIONS:
        if only in f"codes_{kind.lower()}" and kind != "Reciprocal":
            case = between_codes(kind, **attrs)
            largest = max(np.abs(value).max() for value in expected_of(case.model, case.feeds).values())
            yield case, 1.01 * float(SCALE / largest)


def table_of(args):
    """The line that refuses a graph, by the graph's name."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"refusals_{args.target}.txt")
    if not os.path.exists(path):
        return path, {}
    with open(path, encoding="utf-8") as file:
        return path, dict(line.rstrip("\n").split(": ", 1) for line in file)


def run(args, folder, case, tolerance, refusals):
    """'equal', 'refused', or what is wrong. `refusals`: what is to be said; with --write, what was."""
    known = refusals.get(case.name)
    model, engine = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.pbe")
    onnx.save(case.model, model)
    try:
        tools.compile_model(args.bin, model, args.target, engine)
    except tools.Failed as error:
        told = re.findall(r"error: (.*\[PB\d{4}\](?:\n +hint: .*)?)", str(error))
        told = [re.sub(r"\n +hint", " hint", line) for line in told]
        names = [node.name for node in case.model.graph.node]
        if not told or not any(re.search(rf"\b{re.escape(name)}\b", line) for line in told for name in names):
            return f"an error without a code or a node: {str(error)[-300:]}"
        if args.write:
            refusals[case.name] = told[0]
        elif told[0] != known:
            return f"refused by '{told[0]}', not by '{known}'"
        return "refused"
    if known and not args.write:
        return f"not refused by '{known}'"
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
    parser.add_argument("--write", action="store_true", help="the refusals that there are become those that there should be")
    args = parser.parse_args()
    path, refusals = table_of(args)
    if args.write:
        refusals = {}
    counts = {"equal": 0, "refused": 0, "failed": 0}
    with tempfile.TemporaryDirectory() as folder:
        for case, tolerance in cases(args.only, args.every):
            found = run(args, folder, case, tolerance, refusals)
            counts[found if found in counts else "failed"] += 1
            if found not in counts:
                print(f"FAILED {case.name} on {args.target}: {found}", flush=True)
    if args.write:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{name}: {line}\n" for name, line in refusals.items())
    print(f"{args.target}: " + ", ".join(f"{count} {word}" for word, count in counts.items()))
    return int(counts["failed"] or not counts["equal"])


if __name__ == "__main__":
    sys.exit(main())
