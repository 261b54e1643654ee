"""Stencils behind each other, of large pictures, which are made in bands of lines (core/s3/fusion/bands.c): two to four stages of
windows down or across, of sums with weights, of maxima, of what a function makes first; heights that bands divide and such that none
do, widths around whole rows of lanes, planes, a stage that two take. Against NumPy in f64, and on 1, 2 and 7 threads bit for bit. Some
must have come in bands.

    tests/stablehlo/programs/bands.py --bin build/bin [--count 24] [--seed 1] [--keep DIR]"""

import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from by_shares import THREADS, TOLERANCE, Program, kind  # noqa: E402

SHAPES = [(3, 604, 519), (1, 904, 1025), (964, 1040), (2, 724, 1023), (1201, 785), (3, 484, 640), (2, 487, 1010)]
TARGETS = "cpu:avx512", "cpu:v3"


def stage(p, x):
    """A window over x, along one of its last two dims."""
    shape = p.values[x].shape
    axis, taps, largest = len(shape) - p.rng.choice([1, 2]), p.rng.choice([2, 3, 5]), p.rng.random() < 0.3
    if p.rng.random() < 0.3:
        x = p.op("sine", [x], "", np.sin(p.values[x]))
    made, step = None, p.rng.choice([1, 1, 2])
    for k in range(taps):
        part = p.part(x, axis, k * step, shape[axis] - (taps - 1 - k) * step)
        if not largest:
            w = float(np.float32(p.rng.uniform(-0.5, 0.5)))
            weight = p.add(f"stablehlo.constant dense<{w}> : {kind(p.values[part].shape)}", np.full(p.values[part].shape, w))
            part = p.op("multiply", [weight, part], "", p.values[weight] * p.values[part])
        name, by = ("maximum", np.maximum) if largest else ("add", np.add)
        made = part if made is None else p.op(name, [made, part], "", by(p.values[made], p.values[part]))
    return made


def program(rng):
    p = Program(rng, rng.choice(SHAPES))
    made = [p.op("add", ["%a0", "%a1"], "", p.values["%a0"] + p.values["%a1"])]
    for _ in range(rng.randint(2, 4)):
        made.append(stage(p, made[-1]))
    return p, [made[-1], made[-2] if rng.random() < 0.2 else made[-1]]


def check(o, number, folder):
    """What is wrong with program `number`, or None; whether it has bands."""
    rng = random.Random(f"{o.seed} {number}")
    (p, results), target = program(rng), TARGETS[number % len(TARGETS)]
    kinds = ", ".join(kind(p.values[name].shape) for name in results)
    of, lines = kind(p.shape), "\n".join(p.lines)
    (folder / f"{number}.mlir").write_text(f"func.func @main(%a0: {of}, %a1: {of}) -> ({kinds}) {{\n{lines}\nreturn {', '.join(results)} : {kinds}\n}}\n")
    args = []
    for k, x in enumerate(p.inputs):
        np.save(folder / f"{k}.npy", x)
        args += ["--input", f"arg{k}={folder / f'{k}.npy'}"]
    command = [f"{o.bin}/pbc", str(folder / f"{number}.mlir"), f"--target={target}"]
    tools.run([*command, "-o", str(folder / "m.pbe")])
    before, after = (subprocess.run([*command, f"--emit={name}"], capture_output=True, text=True).stdout for name in ("delinearize", "bands"))
    first = None
    for count in THREADS:
        out = [folder / f"out{k}.npy" for k in range(2)]
        tools.run([f"{o.bin}/pb-run", str(folder / "m.pbe"), f"--threads={count}", *args, *(f"--output=out{k}={y}" for k, y in enumerate(out))])
        ys = [np.load(y) for y in out]
        first = first or ys
        if any(a.tobytes() != b.tobytes() for a, b in zip(ys, first)):
            return f"{target}, {count} threads: other bits than on one", False
    for name, y in zip(results, first):
        want = p.values[name]
        off = np.abs(y - want).max() / max(1, np.abs(want).max())
        if not off <= TOLERANCE:
            return f"{target}: {off:.2g} off NumPy", False
    return None, before != after


def main():
    o = tools.drawing(24).parse_args()
    failed = banded = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = o.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        for number in range(o.first, o.first + o.count):
            wrong, bands = check(o, number, folder)
            banded += bands
            failed += bool(wrong)
            if wrong:
                print(f"FAILED {number}: {wrong}")
    print(f"{o.count} programs, {banded} in bands, {failed} failed")
    return int(failed > 0 or banded * 4 < o.count)


if __name__ == "__main__":
    sys.exit(main())
