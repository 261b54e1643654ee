"""Programs whose loops data end and whose branches data choose: the functions of functions.py, whose texts JAX wrote
(export.py), run on each of their arguments, on one thread and on two, against NumPy. Loops and branches are steps of the
engine's host program: each text must have them. On the CPU those of small kernels are kernels, in another engine, with the
same bits.

    tests/host/run.py --bin build/bin [--only NAME] [--every N] [--target=simnpu]

A target that the CPU helps has --fallback=cpu."""

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from functions import ROWS  # noqa: E402


LARGE = {"branches"}  # kernels that threads share: their loops stay steps


def close(got, want):
    want = np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if want.dtype.kind != "f":
        return bool((got == want).all())
    return bool(np.abs(got - want).max(initial=0) <= 1e-4 * max(1, np.abs(want).max(initial=0)))


def execute(bin_dir, engine, arguments, count, threads, folder):
    command = [f"{bin_dir}/pb-run", str(engine), f"--threads={threads}"]
    for k, value in enumerate(arguments):
        np.save(folder / f"in{k}.npy", value)
        command += ["--input", f"arg{k}={folder}/in{k}.npy"]
    for k in range(count):
        command += ["--output", f"out{k}={folder}/out{k}.npy"]
    tools.run(command, timeout=60)
    return [np.load(folder / f"out{k}.npy") for k in range(count)]


def check(bin_dir, name, reference, runs, target, folder):
    engines = [folder / "m.pbe"] + ([folder / "joined.pbe"] if target == ["--target=cpu"] else [])
    for engine, loops in zip(engines, ("steps", "kernels")):
        done = tools.call([f"{bin_dir}/pbc", f"{HERE}/texts/{name}.mlir", *target, f"--loops={loops}", "-o", str(engine)])
        if done.returncode:
            return f"refused: {done.stderr.strip()}"
    steps = [tools.run([f"{bin_dir}/pb-objdump", str(engine), "--headers"]) for engine in engines]
    if "unless(" not in steps[0]:
        return "has no step that decides"
    if name not in LARGE and any("unless(" in text for text in steps[1:]):
        return "its loops are no kernels"
    for arguments in runs:
        want = reference(*arguments)
        want = want if isinstance(want, tuple) else (want,)
        for threads in (1, 2):
            all_got = [execute(bin_dir, engine, arguments, len(want), threads, folder) for engine in engines]
            for k, (a, b) in enumerate(zip(all_got[0], want)):
                if not close(a, b):
                    return f"{threads} threads, {arguments[0]}: result {k} is {a}, expected {b}"[:600]
            for k, both in enumerate(zip(*all_got)):
                if any(other.tobytes() != both[0].tobytes() for other in both[1:]):
                    return f"{threads} threads, {arguments[0]}: result {k} is {both[1]} by kernels with loops inside, {both[0]} by steps"[:600]
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    failed = count = 0
    target = [f"--target={options.target}"] + (["--fallback=cpu"] if options.target != "cpu" else [])
    with tempfile.TemporaryDirectory() as folder:
        for name, _, reference, runs in ROWS[:: options.every]:
            if options.only and name != options.only:
                continue
            why = check(options.bin, name, reference, runs, target, Path(folder))
            failed += bool(why)
            count += 1
            print(f"{'FAILED' if why else 'ok    '} {name}{': ' if why else ''}{why}", flush=True)
    print(f"{count - failed} of {count} right")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
