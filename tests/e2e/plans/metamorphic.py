"""Chips that differ in capacities, widths, latencies and depths, drawn at random from a description, all give the same
logits on the digits network; none needs a new build.

    metamorphic.py --bin BUILD/bin [--chip simnpu|cpu] [--count 50] [--seed 1]

For cpu, registers of other widths than the machine's are taken apart by LLVM, so every variant runs.
"""

import argparse
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from reference import Reference  # noqa: E402

IMAGES = 6


def replace(text, pattern, new):
    changed, count = re.subn(pattern, new, text)
    assert count > 0, f"the description has no {pattern}"
    return changed


def vary(text, rng):
    """A description with other numbers, and what they are."""
    lanes = rng.choice([8, 16, 32])
    spad = rng.choice([64, 128, 256, 512, 1024])
    rows = rng.choice([512, 1024, 2048, 4096])
    latency, width = rng.choice([20, 100, 400]), rng.choice([4, 8, 16, 32])
    depth, tokens = rng.choice([2, 4, 8]), rng.choice([31, 63, 127])
    opcode = rng.choice([0x21, 0x6B])
    text = replace(text, r"defvar D = \d+;", f"defvar D = {lanes};")
    text = replace(text, r"!mul\(256, 1024\)", f"!mul({spad}, 1024)")
    text = replace(text, r"!mul\(2048, 4\)", f"!mul({rows}, 4)")
    text = replace(text, r"let RowBytes = 16; let BytesPerCycle = 16; let Latency = 100;",
                   f"let RowBytes = {width}; let BytesPerCycle = {width}; let Latency = {latency};")
    text = replace(text, r"let Depth = \d+; let Tokens = \d+;", f"let Depth = {depth}; let Tokens = {tokens};")
    text = replace(text, r"= 0x21;", f"= {opcode:#x};")
    return text, f"D={lanes} SPAD={spad}K ACC={rows} rows DRAM={width}B/{latency} depth={depth} tokens={tokens} MMA={opcode:#x}"


def vary_cpu(text, rng):
    row, registers = rng.choice([16, 32, 64]), rng.choice([8, 16, 24, 32])
    near, far = rng.choice([8, 16, 32, 64]), rng.choice([128, 256, 1024, 2048])
    load, latency = rng.choice([16, 32, 64, 128]), rng.choice([1, 4, 8])
    text = replace(text, r"defvar RegisterBytes = 32;", f"defvar RegisterBytes = {row};")
    text = replace(text, r"defvar Registers = 16;", f"defvar Registers = {registers};")
    text = replace(text, r"!mul\(1024, 1024\)", f"!mul({far}, 1024)")
    text = replace(text, r"!mul\(32, 1024\)", f"!mul({near}, 1024)")
    text = replace(text, r"let BytesPerCycle = 64; let Latency = 5;", f"let BytesPerCycle = {load}; let Latency = 5;")
    text = replace(text, r"let Latency = 4;", f"let Latency = {latency};")
    return text, f"{registers} registers of {row} bytes, L1 {near}K {load}B, L2 {far}K, latency {latency}"


CHIPS = {"simnpu": (vary, "machine"), "cpu": (vary_cpu, "native")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--chip", default="simnpu", choices=sorted(CHIPS))
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    vary_one, device = CHIPS[args.chip]
    with open(os.path.join(tools.SOURCE, "targets", args.chip, f"{args.chip}.td")) as f:
        text = f.read()
    model = os.path.join(tools.MODELS, "digits.onnx")
    images = np.load(os.path.join(tools.MODELS, "digits_images.npy"))[:IMAGES]
    reference = Reference(onnx.load(model))
    expected = reference.run({reference.inputs[0]: images})[reference.outputs[0]].astype(np.float32)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "in.npy")
        np.save(source, images)
        for k in range(args.count):
            varied, what = vary_one(text, rng)
            chip, engine, output = (os.path.join(folder, f"v{k}.{end}") for end in ("td", "pbe", "npy"))
            with open(chip, "w") as f:
                f.write(varied)
            try:
                tools.compile_model(args.bin, model, chip, engine)
                tools.run_engine(args.bin, engine, device, source, output)
                wrong = np.count_nonzero(np.load(output).reshape(expected.shape) != expected)
            except tools.Failed as error:
                print(error)
                wrong = -1
            if wrong:
                failures += 1
                print(f"FAILED: {what}: {wrong} logits differ")
    print(f"{args.count} chips, {failures} failed")
    return int(failures != 0)


if __name__ == "__main__":
    sys.exit(main())
