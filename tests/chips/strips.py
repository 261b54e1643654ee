"""Rows of an image are brought once where windows lie over each other: the first convolution of ResNet-18 on tpu_v1.td, whose
mover takes a cycle a run and whose array has room for more sums. On fourcore_1.td, whose array binds it, windows stay whole, for
whole they have the fewest sums.

    strips.py --bin BUILD/bin
"""

import argparse
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")

SIZE, WINDOW, CHANNELS, STEP, OUTS = 128, 7, 3, 2, 64


def stem(a, model, chip, work):
    engine, stats = os.path.join(work, "m.pbe"), os.path.join(work, "s.json")
    tools.compile_model(a.bin, model, os.path.join(HERE, chip + ".td"), engine, "--fallback=cpu")
    tools.run([os.path.join(a.bin, "pb-run"), engine, "--device=machine", "--input", "image=random:7", f"--stats={stats}"])
    with open(stats, encoding="utf-8") as file:
        return next(step for step in json.load(file)["steps"] if step["macs"])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    a = p.parse_args()
    pixels = (SIZE // STEP) ** 2
    runs = pixels * WINDOW * CHANNELS
    with tempfile.TemporaryDirectory() as work:
        model = tools.network(a.bin, "resnet18", "int8", SIZE, 10)
        wide, narrow = stem(a, model, "tpu_v1", work), stem(a, model, "fourcore_1", work)
    whole = pixels * -(-WINDOW * WINDOW * CHANNELS // 16) * (OUTS // 16)  # rows of 16 lanes by an array of 16x16
    # a row of 256 lanes has one window and zeros behind it, 21 a cycle
    gathered = runs + pixels * -(-(256 - WINDOW * WINDOW * CHANNELS) // 21)
    print(f"tpu_v1: READ_HOST {wide['busy']['RD']:,} cycles, whole windows take {gathered:,}")
    print(f"fourcore_1: the array {narrow['busy']['MX']:,} cycles, whole windows are {whole:,} rows")
    assert wide["busy"]["RD"] < 0.95 * gathered, "windows are gathered whole"
    assert narrow["busy"]["MX"] < 1.1 * whole, "windows are summed in parts"
    return 0


if __name__ == "__main__":
    sys.exit(main())
