"""Whole reports of pbc, pinned in reports.txt: on queues, on cores, of two targets, of a kernel that runs as plain loops, of
names that JSON has to escape. What other tests pin (plans, cycles) and what hangs on LLVM is left out.

    reports.py --bin BUILD/bin [--write]
"""

import argparse
import difflib
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import fallback  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import typed_cases  # noqa: E402, F401  (registers its cases)
from float_cases import CASES  # noqa: E402
from regression_cases import F32, Maker  # noqa: E402

PINS = os.path.join(tools.HERE, "pins", "reports.txt")
DIGITS = os.path.join(tools.MODELS, "digits.onnx")
LEFT_OUT = "plan", "predicted_cycles", "description_sha256", "native_bytes", "caches"


def strange_names():
    m = Maker("strange_names")
    x = m.op("Relu", m.input("x", 1, 3), name='a "quoted" \\ name')
    return m.done(m.op("Add", x, m.const(np.ones(3, F32)), name="two\nlines\tand a tab")).model


def cases(folder):
    """name: model, options"""

    def saved(name, model):
        onnx.save(model, os.path.join(folder, name))
        return os.path.join(folder, name)

    lacking = os.path.join(folder, "lacking.td")
    with open(os.path.join(tools.SOURCE, "tests", "chips", "tinynpu.td"), encoding="utf-8") as chip, open(lacking, "w", encoding="utf-8") as file:
        file.write(fallback.without(chip.read(), "ADDC"))
    gather = next(make for make in CASES if make.name == "typed_gather_rows_i64")
    return {
        "queues": (DIGITS, "--target=simnpu:8"),
        "cores": (DIGITS, "--target=cpu:avx512"),
        "two targets": (DIGITS, f"--target={lacking}", "--fallback=cpu:v3"),
        "plain loops": (saved("gather.onnx", gather().model), "--target=cpu:v3"),
        "names": (saved("names.onnx", strange_names()), "--target=cpu:v3"),
    }


def without(told):
    if isinstance(told, dict):
        return {key: without(value) for key, value in told.items() if key not in LEFT_OUT}
    return [without(value) for value in told] if isinstance(told, list) else told


def report_of(args, folder, model, *options):
    path = os.path.join(folder, "r.json")
    tools.run([os.path.join(args.bin, "pbc"), model, "-o", os.path.join(folder, "e.pbe"), f"--report={path}", *options])
    with open(path, encoding="utf-8") as file:
        text = json.dumps(without(json.load(file)), indent=1)
    return text.replace(folder + "/", "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--write", action="store_true", help="pin what is written now")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        now = "".join(f"== {name}\n{report_of(args, folder, *words)}\n" for name, words in cases(folder).items())
    if args.write:
        with open(PINS, "w", encoding="utf-8") as file:
            file.write(now)
        return 0
    with open(PINS, encoding="utf-8") as file:
        moved = list(difflib.unified_diff(file.read().splitlines(), now.splitlines(), "pinned", "now", lineterm=""))
    print("\n".join(moved) or "5 reports: 0 failed")
    return int(bool(moved))


if __name__ == "__main__":
    sys.exit(main())
