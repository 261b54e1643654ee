"""Programs that are no networks, written in JAX: pb by polyblocks_jit_jax beside XLA by jax.jit, in turns in one process. The
best of so many runs of each, how far each is from the same program in f64, and what compiling took. Ratios below 1: pb is faster.
A program that is further from f64 than XLA's four times over, or is refused, fails the run.

    bench/programs.py [--runs 9] [--only NAME ...] [--markdown]        # a Python with jax (scripts/frameworks), PB_LIBRARY

Both use all cores that the process may run on: taskset -c 0 for one."""

import argparse
import os
import platform
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE / "array_programs")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from polyblocks import polyblocks_jit_jax  # noqa: E402

import arrays, images, learning, steps  # noqa: E402, E401

PROGRAMS = {}

for part in arrays, images, learning, steps:
    PROGRAMS.update(part.PROGRAMS)


def timed(f, arguments):
    start = time.perf_counter()
    result = jax.block_until_ready(f(*arguments))
    return time.perf_counter() - start, result


def apart(got, want, exact):
    """The furthest that results are from those in f64, for each: of the largest of the array, or of a thousandth of all where that
    is more, for some are 0 but for what cancels."""
    def largest(b):
        return np.abs(b[np.isfinite(b)]).max(initial=0)

    found = []
    least = max(1e-3 * max(largest(np.asarray(b, np.float64)) for b in jax.tree_util.tree_leaves(exact)), 1e-30)
    for results in got, want:
        off = 0.0
        for a, b in zip(jax.tree_util.tree_leaves(results), jax.tree_util.tree_leaves(exact), strict=True):
            a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
            assert a.shape == b.shape, (a.shape, b.shape)
            finite = np.isfinite(b)
            off = max(off, float(np.abs(a - b)[finite].max(initial=0) / max(largest(b), least)))
        found.append(off)
    return found


def in_double(function, arguments):
    with jax.enable_x64(True):
        wide = jax.tree_util.tree_map(lambda a: np.asarray(a, np.float64) if np.asarray(a).dtype == np.float32 else a, arguments)
        return jax.tree_util.tree_map(np.asarray, jax.jit(function)(*wide))


def measure(function, arguments, runs):
    xla, ours = jax.jit(function), polyblocks_jit_jax(function)
    compile_xla, want = timed(xla, arguments)
    compile_ours, got = timed(ours, arguments)
    off = apart(got, want, in_double(function, arguments))
    best = [float("inf")] * 2
    for _ in range(runs):
        for k, f in enumerate((xla, ours)):
            best[k] = min(best[k], timed(f, arguments)[0])
    return best, (compile_xla, compile_ours), off


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    print(f"{model}, {cores} cores, JAX {jax.__version__}, {time.strftime('%Y-%m-%d')}\n")
    if options.markdown:
        print("| program | XLA, ms | pb, ms | pb / XLA | compiled in, s: XLA, pb | off from f64: XLA, pb |\n|---|--:|--:|--:|--:|--:|")
    ratios, failed, wrong = [], [], 0
    for name, (function, make) in PROGRAMS.items():
        if not any(text in name for text in options.only):
            continue
        try:
            best, compiled, off = measure(function, make(), options.runs)
        except Exception as error:  # of any kind: the others are measured all the same
            failed.append(name)
            print(f"FAILED {name}: {str(error).strip()[-500:]}", flush=True)
            continue
        wrong += off[0] > max(4 * off[1], 1e-5)
        ratios.append(best[1] / best[0])
        row = name, f"{best[0] * 1e3:.2f}", f"{best[1] * 1e3:.2f}", f"{ratios[-1]:.2f}", f"{compiled[0]:.2f}, {compiled[1]:.2f}", f"{off[1]:.1g}, {off[0]:.1g}"
        print(f"| {' | '.join(row)} |" if options.markdown else "  ".join(row), flush=True)
    ratios = np.array(ratios)
    print(f"\ngeometric mean of pb / XLA: {float(np.exp(np.mean(np.log(ratios)))):.2f} of {len(ratios)}; {int((ratios > 1.25).sum())} over 1.25; "
          f"{wrong} further from f64 than XLA is; {len(failed)} failed")
    return int(bool(failed or wrong))


if __name__ == "__main__":
    sys.exit(main())
