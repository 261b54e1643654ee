"""Engines for a GPU whose code sections are damaged: cut off, or with other bytes. As a file such an engine is refused by its
checksum; and where the machine is handed the damaged code all the same, that is an error that says what and where, or code that
runs: never a crash, never a hang, and never an error without words.

    damaged.py --bin BUILD/bin --driver FILE.so [--count 60] [--seed 1]
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy")
SECONDS = 60
MODEL = os.path.join(tools.MODELS, "operators", "conv_3x3.onnx")
INPUT = MODEL.replace(".onnx", "_in.npy")
CODE = {"nvgpu": b".version", "amdgpu": b"\x7fELF\x02"}  # how a section's code begins


def ended(command):
    """(how it ended, its words), or None: it did not."""
    try:
        done = tools.call(command, SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return done.returncode, done.stdout + done.stderr


def files(whole, begins, rng):
    """(what, an engine with damage behind the first byte of its code): each way to cut it, then other bytes."""
    first = whole.index(begins)
    places = [found.start() for found in re.finditer(re.escape(begins), whole)]
    for at in [*places, first + 1, first + 100, len(whole) - 1]:
        yield f"ends at byte {at}", whole[:at]
    for _ in range(10):
        at = rng.randrange(first, len(whole))
        changed = bytearray(whole)
        changed[at] ^= 1 << rng.randrange(8)
        yield f"another byte {at}", bytes(changed)


def refuses_files(args, target, engine, folder, rng):
    whole, wrong = open(engine, "rb").read(), 0
    for what, data in files(whole, CODE[target], rng):
        path = os.path.join(folder, "damaged.pbe")
        with open(path, "wb") as file:
            file.write(data)
        end = ended([os.path.join(args.bin, "pb-run"), path, "--device=machine", "--input", INPUT])
        if not end or end[0] != 1 or not re.search(r"damaged\.pbe.*\[PB\d{4}\]", end[1]):
            print(f"{target}: an engine that {what}: {end}")
            wrong += 1
    return wrong


def survives_code(args, target, engine, folder):
    counts, wrong = {"refused or a fault": 0, "ran": 0}, 0
    for k in range(args.count):
        mutant = os.path.join(folder, "mutant")
        with open(mutant, "w", encoding="utf-8") as file:
            file.write(f"damage {args.seed * 100000 + k}\n")
        options = f"--device-options=mutant={mutant},threads=1,limit=200000"
        end = ended([os.path.join(args.bin, "pb-run"), engine, f"--device={args.driver}", options, "--input", INPUT])
        good = end and (end[0] == 0 or (end[0] == 1 and re.search(r"\S.* \[PB\d{4}\]", end[1])))
        if not good:
            print(f"{target}: damage {args.seed * 100000 + k}: {end}")
            wrong += 1
        elif end[0]:
            counts["refused or a fault"] += 1
        else:
            counts["ran"] += 1
    print(f"{target}: {counts}")
    return wrong + (counts["refused or a fault"] < args.count // 4)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    os.environ["PB_PTXAS"] = ""  # the machine runs the text
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for target in CODE:
            engine = os.path.join(folder, f"{target}.pbe")
            tools.run([os.path.join(args.bin, "pbc"), MODEL, f"--target={target}", "-o", engine])
            wrong += refuses_files(args, target, engine, folder, random.Random(args.seed)) + survives_code(args, target, engine, folder)
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
