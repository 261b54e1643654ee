"""Damaged models, engines, descriptions and plans: exit code 0 or 1 (with a PB code), never a crash, never a hang.

    damaged.py --bin BUILD/bin [--count 200] [--seed 1]
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

SECONDS = 20


def damage(data, rng):
    """A copy with some bytes changed, cut off, doubled or left out."""
    data = bytearray(data)
    kind = rng.randrange(4)
    if kind == 0:
        for _ in range(rng.choice([1, 2, 8, 64])):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == 1:
        del data[rng.randrange(len(data)):]
    elif kind == 2:
        at, n = rng.randrange(len(data)), rng.randrange(1, 200)
        data[at:at] = data[at:at + n]
    else:
        at, n = rng.randrange(len(data)), rng.randrange(1, 200)
        del data[at:at + n]
    return bytes(data)


def judge(command):
    """None, or what is wrong with how the command ended."""
    try:
        result = tools.call(command, SECONDS)
    except subprocess.TimeoutExpired:
        return "no end"
    printed = result.stdout + result.stderr
    if result.returncode not in (0, 1):
        return f"exit code {result.returncode}: {printed[-300:]}"
    if result.returncode == 1 and not re.search(r"\[PB\d{4}\]", printed):
        return f"no PB code: {printed[-300:]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    pbc, pb_run = os.path.join(args.bin, "pbc"), os.path.join(args.bin, "pb-run")
    model = os.path.join(tools.MODELS, "digits.onnx")
    failures, refused = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        engine = os.path.join(folder, "d.pbe")
        tools.compile_model(args.bin, model, "simnpu", engine)
        plan = os.path.join(folder, "plan.txt")
        tools.run([pbc, model, "--target=simnpu", "--emit=plan", "-o", plan])
        sources = [(model, "onnx"), (engine, "pbe"), (plan, "txt"), (os.path.join(tools.SOURCE, "targets", "simnpu", "simnpu.td"), "td")]
        whole = {end: open(path, "rb").read() for path, end in sources}
        for k in range(args.count):
            end = sources[k % len(sources)][1]
            path, out = os.path.join(folder, f"x.{end}"), os.path.join(folder, "x.out")
            with open(path, "wb") as f:
                f.write(damage(whole[end], rng))
            command = {"onnx": [pbc, path, "--target=simnpu", "-o", out], "td": [pbc, model, f"--target={path}", "-o", out],
                       "txt": [pbc, model, "--target=simnpu", f"--plan={path}", "-o", out],
                       "pbe": [pb_run, path, "--input", "random:1"]}[end]
            wrong = judge(command)
            refused += wrong is None
            if wrong:
                failures += 1
                keep = os.path.join(tempfile.gettempdir(), f"damaged-{args.seed}-{k}.{end}")
                with open(path, "rb") as f, open(keep, "wb") as g:
                    g.write(f.read())
                print(f"FAILED: case {k} ({keep}): {wrong}")
    print(f"{args.count} damaged files, {failures} failed")
    return int(failures != 0)


if __name__ == "__main__":
    sys.exit(main())
