"""What is chosen for small graphs of every operator, pinned kernel by kernel in plan_pins.txt: the cycles that the plan
predicts, what binds them, the instruction of its products; on chips with queues the commands of each queue, the bytes of each
memory, and of each step the machine's cycles and bytes of system memory read and written. A change that moves one is meant: it says so, and --write makes the file anew.

    plan_pins.py --bin BUILD/bin [--only TEXT] [--write]
"""

import argparse
import json
import os
import re
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import onnx  # noqa: E402
import code_cases  # noqa: E402, F401  (registers its cases)
import function_cases  # noqa: E402, F401  (the same)
import quantised_cases  # noqa: E402
import regression_cases  # noqa: E402
import transformer_cases  # noqa: E402, F401  (the same)
import typed_cases  # noqa: E402, F401  (the same)
import window_cases  # noqa: E402, F401  (the same)
from float_cases import CASES  # noqa: E402

PINS = os.path.join(tools.HERE, "pins", "plan_pins.txt")
CORES, QUEUES = ("cpu:v3", "cpu:avx512"), ("simnpu", "simnpu:8")
EVERY_FLOAT, EVERY_QUANTISED = 5, 4


def number(name):
    """Of a case, whatever others there are."""
    return zlib.crc32(name.encode())


def graphs():
    """(name, model, targets): one target after the other where each is as good."""
    for make in CASES:
        if number(make.name) % EVERY_FLOAT == 0:
            yield make.name, make().model, CORES[number(make.name) // EVERY_FLOAT % 2:][:1]
    for name in "far_rows_130_128", "far_rows_70_128_True", "computed_late_weights_whole_blocks":
        yield name, regression_cases.CASES[name]().model, CORES[1:]
    for name in "lines_by_constants", "turned_by_products", "exponentials_in_many_commands", "gated_sums_of_floats":
        yield name, regression_cases.CASES[name]().model, QUEUES[:1]
    yield "conv_in_padded_pool_64", quantised_cases.make("conv_in_padded_pool_64").model(), QUEUES[:1]
    for name in quantised_cases.CASES:
        if number(name) % EVERY_QUANTISED == 0:
            k = number(name) // EVERY_QUANTISED % 2
            yield name, quantised_cases.make(name).model(), (CORES[k], QUEUES[k])


def kernels(args, folder, model, target):
    """One text for each kernel."""
    if target in CORES:
        text = tools.run([os.path.join(args.bin, "pbc"), model, f"--target={target}", "--emit=plan"])
        told = []
        for plan in re.findall(r"^k\d+ {\n(.*?)^}", text, re.MULTILINE | re.DOTALL):
            words = [re.search(said, plan) for said in (r"(\d+) cycles", r"bound by ([\w.]+)", r"instruction ([\w.]+)")]
            told.append(" ".join(m.group(1) for m in words if m))
        return told
    report, engine = os.path.join(folder, "r.json"), os.path.join(folder, "e.pbe")
    tools.compile_model(args.bin, model, target, engine, f"--report={report}")
    with open(report, encoding="utf-8") as file:
        told = json.load(file)["kernels"]
    inputs = [f"--input={value.name}=random:1" for value in onnx.load(model).graph.input]
    tools.run([os.path.join(args.bin, "pb-run"), engine, "--device=machine", *inputs, f"--stats={report}"])
    with open(report, encoding="utf-8") as file:
        ran = ["ran"] + [f'{step["cycles"]}/{step["dram_read"]}/{step["dram_write"]}' for step in json.load(file)["steps"]]
    return [" ".join([str(k["predicted_cycles"]), k["bound"], *(f"{m}={n}" for m, n in {**k["memory_bytes"], **k["commands"]}.items() if n)])
            for k in told] + [" ".join(ran)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="", help="graphs whose name contains this")
    parser.add_argument("--write", action="store_true", help="pin what is chosen now")
    args = parser.parse_args()
    now = {}
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "m.onnx")
        for name, model, targets in graphs():
            if args.only in name:
                onnx.save(model, file)
                for target in targets:
                    try:
                        now[f"{name} {target}"] = "; ".join(kernels(args, folder, file, target))
                    except tools.Failed as error:
                        now[f"{name} {target}"] = re.search(r"error: .*\[(PB\d+)\]", str(error)).group(1)
    with open(PINS, encoding="utf-8") as pins:
        pinned = dict(line.rstrip("\n").split(": ", 1) for line in pins)
    if args.write:
        kept = {key: text for key, text in pinned.items() if key in now or args.only not in key.split()[0]}
        with open(PINS, "w", encoding="utf-8") as pins:  # in the order that they had, new ones behind
            pins.writelines(f"{key}: {text}\n" for key, text in {**kept, **now}.items())
        return 0
    wanted = {key: text for key, text in pinned.items() if args.only in key.split()[0]}
    moved = [key for key in {**wanted, **now} if wanted.get(key) != now.get(key)]
    for key in moved:
        print(f"FAILED {key}:\n  pinned {wanted.get(key)}\n  now    {now.get(key)}")
    print(f"{len(now)} plans: {len(moved)} moved")
    return int(bool(moved) or not now)


if __name__ == "__main__":
    sys.exit(main())
