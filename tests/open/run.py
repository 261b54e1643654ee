"""Programs with open dims: one engine each, run at four sizes. The functions of functions.py, whose texts jax.export wrote
of symbolic shapes (export.py), against NumPy.

    tests/open/run.py --bin build/bin [--only NAME] [--every N]"""
import argparse
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from functions import ROWS  # noqa: E402
from values import SIZES, arguments  # noqa: E402


def close(got, want, rtol=1e-4):
    if got.shape != want.shape or got.dtype.kind != want.dtype.kind:
        return False
    most = np.abs(want.astype(np.float64)).max(initial=1e-6)
    return bool(np.abs(got.astype(np.float64) - want).max(initial=0) <= (rtol * most if want.dtype.kind == "f" else 0))


def execute(bin_dir, engine, inputs, outputs, folder):
    """Runs it; the outputs as arrays, or its words."""
    command = [f"{bin_dir}/pb-run", str(engine)]
    for name, value in inputs.items():
        np.save(folder / f"in_{name}.npy", value)
        command += ["--input", f"{name}={folder}/in_{name}.npy"]
    for name in outputs:
        command += ["--output", f"{name}={folder}/out_{name}.npy"]
    done = tools.call(command)
    return [np.load(folder / f"out_{name}.npy") for name in outputs] if not done.returncode else done.stderr


def judge_all(cases, judge):
    """A test of cases, each a name and what it is: judge(bin_dir, folder, name, ...) says what is wrong, or nothing. 1: some are, or
    there was none."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, help="each so many-th of them")
    options = parser.parse_args()
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, *case in list(cases)[:: options.every]:
            if options.only not in name:
                continue
            why = judge(options.bin, Path(folder), name, *case)
            failed += bool(why)
            count += 1
            print(f"{'FAILED' if why else 'ok    '} {name}{': ' if why else ''}{why[:700]}", flush=True)
    print(f"{count - failed} of {count} right")
    return failed > 0 or not count


def check(bin_dir, row, folder):
    name, f, specs, least = row
    engine = folder / "m.pbe"
    done = tools.call([f"{bin_dir}/pbc", f"{HERE}/texts/{name}.mlir", "--target=cpu", "-o", str(engine)])
    if done.returncode:
        return f"refused: {done.stderr.strip()}"
    for size in SIZES:
        a = arguments(name, specs, max(size, least))
        got = execute(bin_dir, engine, {f"arg{k}": v for k, v in enumerate(a)}, ["out0"], folder)
        if isinstance(got, str):
            return f"size {size}: {got.strip()}"
        want = np.asarray(f(np, *a))
        if not close(got[0], want):
            return f"size {size}: wrong, {got[0].shape} and {want.shape}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only")
    parser.add_argument("--every", type=int, default=int(os.environ.get("PB_EVERY", 1)))
    options = parser.parse_args()
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for row in ROWS[:: options.every]:
            if options.only and row[0] != options.only:
                continue
            why = check(options.bin, row, Path(folder))
            failed += bool(why)
            count += 1
            print(f"{'FAILED' if why else 'ok    '} {row[0]}{': ' if why else ''}{why[:700]}", flush=True)
    print(f"{count - failed} of {count} right at {len(SIZES)} sizes")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
