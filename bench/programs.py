"""Programs that are no networks, written in JAX: pb by polyblocks_jit_jax beside XLA by jax.jit, in turns in one process, and
beside twelve of them as C with OpenMP (array_programs/c). The best of as many runs of each as fit into a time, how far each is
from the same program in f64, and what compiling took. Ratios below 1: pb is faster. A program that is further from f64 than XLA's
four times over, or is refused, or C that gives something else, fails the run.

    bench/programs.py [--cores 0,1] [--runs 9] [--seconds 1] [--only NAME ...] [--markdown]   # a Python with jax, PB_LIBRARY

All use all cores that the process may run on, or those of --cores. On one it is the processor's time that counts, which work
beside it does not add to."""

import argparse
import os
import platform
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE / "array_programs")]

if "--cores" in sys.argv[:-1]:  # JAX looks at them when it is imported
    os.sched_setaffinity(0, {int(k) for k in sys.argv[sys.argv.index("--cores") + 1].split(",")})

import in_c  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from polyblocks import polyblocks_jit_jax  # noqa: E402

import arrays, images, learning, steps  # noqa: E402, E401

PROGRAMS = {}

for part in arrays, images, learning, steps:
    PROGRAMS.update(part.PROGRAMS)


CLOCK = time.process_time if len(os.sched_getaffinity(0)) == 1 else time.perf_counter


def timed(f, arguments):
    start = CLOCK()
    result = jax.block_until_ready(f(*arguments))
    return CLOCK() - start, result


def apart(all_results, exact):
    """The furthest that results are from those in f64, for each: of the largest of the array, or of a thousandth of all where that
    is more, for some are 0 but for what cancels."""
    def largest(b):
        return np.abs(b[np.isfinite(b)]).max(initial=0)

    found = []
    least = max(1e-3 * max(largest(np.asarray(b, np.float64)) for b in jax.tree_util.tree_leaves(exact)), 1e-30)
    for results in all_results:
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


def measure(function, c, arguments, runs, seconds):
    """Best times of XLA, pb and C; what the first two took to compile; how far off each is."""
    all_of_them = [jax.jit(function), polyblocks_jit_jax(function)] + [c] * bool(c)
    firsts = [timed(f, arguments) for f in all_of_them]
    off = apart([result for _, result in firsts], in_double(function, arguments))
    best, start, done = [float("inf")] * len(all_of_them), time.perf_counter(), 0
    while done < runs or time.perf_counter() < start + seconds:
        for k, f in enumerate(all_of_them):
            best[k] = min(best[k], timed(f, arguments)[0])
        done += 1
    return best, [took for took, _ in firsts[:2]], off


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cores")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    print(f"{model}, {cores} cores, JAX {jax.__version__}, {time.strftime('%Y-%m-%d')}\n")
    if options.markdown:
        print("| program | XLA, ms | pb, ms | pb / XLA | C, ms | pb / C | compiled in, s: XLA, pb | off from f64: XLA, pb |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    ratios, of_c, failed, wrong, library = [], [], [], 0, in_c.compiled()
    for name, (function, make) in PROGRAMS.items():
        if not any(text in name for text in options.only):
            continue
        try:
            best, compiled, off = measure(function, in_c.function(library, name, cores), make(), options.runs, options.seconds)
        except Exception as error:  # of any kind: the others are measured all the same
            failed.append(name)
            print(f"FAILED {name}: {str(error).strip()[-500:]}", flush=True)
            continue
        wrong += off[1] > max(4 * off[0], 1e-5) or off[-1] > max(10 * off[0], 1e-4)
        ratios.append(best[1] / best[0])
        of_c += [best[1] / best[2]] if len(best) > 2 else []
        beside = [f"{best[2] * 1e3:.2f}", f"{of_c[-1]:.2f}"] if len(best) > 2 else ["", ""]
        row = [name, f"{best[0] * 1e3:.2f}", f"{best[1] * 1e3:.2f}", f"{ratios[-1]:.2f}", *beside, f"{compiled[0]:.2f}, {compiled[1]:.2f}", f"{off[0]:.1g}, {off[1]:.1g}"]
        print(f"| {' | '.join(row)} |" if options.markdown else "  ".join(row), flush=True)
    ratios, of_c = np.array(ratios), np.array(of_c)
    print(f"\ngeometric mean of pb / XLA: {float(np.exp(np.mean(np.log(ratios)))):.2f} of {len(ratios)}; {int((ratios > 1.25).sum())} over 1.25; "
          f"{wrong} further from f64 than XLA is; {len(failed)} failed")
    if len(of_c):
        print(f"geometric mean of pb / C: {float(np.exp(np.mean(np.log(of_c)))):.2f} of {len(of_c)}; {int((of_c > 1 / 0.9).sum())} over 1.11")
    return int(bool(failed or wrong))


if __name__ == "__main__":
    sys.exit(main())
