"""Cycles that the plans of cores with vector registers predict for whole networks of 64x64 images, pinned within 0.1%: a
change that moves one is meant, and writes its new figure here.

    predictions.py --bin BUILD/bin [--write]
"""

import argparse
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")

SHARE = 0.001
PINS = {
    ("resnet18", "f32", "cpu:v3"): 12943884,
    ("resnet18", "f32", "cpu:avx512"): 12033648,
    ("mobilenetv2", "f32", "cpu:v3"): 2680222,
    ("mobilenetv2", "f32", "cpu:avx512"): 2431747,
    ("resnet18", "int8", "cpu:v3"): 6691677,
    ("resnet18", "int8", "cpu:avx512"): 3374137,
    ("mobilenetv2", "int8", "cpu:v3"): 3127276,
    ("mobilenetv2", "int8", "cpu:avx512"): 1386941,
}


def predicted(bin_dir, net, kind, target):
    """By the plans of the kernels that the host calls: no code is made for it."""
    text = tools.run([os.path.join(bin_dir, "pbc"), tools.network(bin_dir, net, kind, 64), f"--target={target}", "--emit=tile"])
    cycles = dict(re.findall(r"func\.func @(\w+)\([^\n]*?\bpb\.cycles = (\d+)", text))
    return sum(int(cycles.get(name, 0)) for name in re.findall(r"\bcall @(\w+)\(", text))


def reported(bin_dir, net, kind, target):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "r.json")
        tools.compile_model(bin_dir, tools.network(bin_dir, net, kind, 64), target, os.path.join(folder, "e.pbe"), f"--report={report}")
        with open(report, encoding="utf-8") as file:
            return json.load(file)["totals"]["predicted_cycles"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--write", action="store_true", help="print the figures as they are")
    args = parser.parse_args()
    failed = 0
    for key, pin in PINS.items():
        cycles = predicted(args.bin, *key)
        wrong = abs(cycles - pin) > SHARE * pin
        failed += wrong
        if args.write:
            print(f"    {key}: {cycles},")
        elif wrong:
            print(f"FAILED {' '.join(key)}: {cycles} cycles predicted, {pin} pinned")
    last = list(PINS)[-1]
    if reported(args.bin, *last) != predicted(args.bin, *last):
        failed += 1
        print(f"FAILED {' '.join(last)}: {reported(args.bin, *last)} cycles in the report, {predicted(args.bin, *last)} in the plans")
    print(f"{len(PINS)} predictions: {failed} failed")
    return int(failed > 0 and not args.write)


if __name__ == "__main__":
    sys.exit(main())
