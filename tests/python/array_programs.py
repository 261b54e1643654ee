"""The programs of bench/array_programs: the same bits on 1, 2 and 7 threads and from run to run, and no warning of plain loops on
one thread but for the operators that sdk-docs/plain-loops.md has, with its reason for each.

    run.py array_programs.py jax -- [--every N] [--only TEXT]"""

import argparse
import re
import sys
import warnings
from pathlib import Path

import jax
import numpy as np
from polyblocks import PolyBlocksWarning, polyblocks_jit_jax

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "array_programs"))

import arrays  # noqa: E402
import images  # noqa: E402
import learning  # noqa: E402
import steps  # noqa: E402

PROGRAMS = {name: program for part in (arrays, images, learning, steps) for name, program in part.PROGRAMS.items()}
THREADS = 1, 2, 7


def allowed():
    """The operators of the page's table."""
    page = (ROOT / "sdk-docs" / "plain-loops.md").read_text(encoding="utf-8")
    return {name for row in re.findall(r"^\| (`.*?) \|", page, re.M) for name in re.findall(r"`(\w+)`", row)}


def on_one_thread(said):
    return {m[1] for text in said for m in [re.search(r"(\w+):\d+: runs as plain loops on one thread", text)] if m}


def bits(results):
    return [np.asarray(leaf).tobytes() for leaf in jax.tree_util.tree_leaves(results)]


def faults(function, arguments, listed):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", PolyBlocksWarning)
        compiled = [polyblocks_jit_jax(function, compile_options={"n_threads": n}) for n in THREADS]
        first = bits(compiled[0](*arguments))
    for n, one in zip((1, *THREADS[1:]), compiled):
        if bits(one(*arguments)) != first:
            yield f"other bits on {n} threads"
    for operator in sorted(on_one_thread([str(w.message) for w in said]) - listed):
        yield f"{operator} runs as plain loops on one thread, which sdk-docs/plain-loops.md does not list"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    failed, listed = 0, allowed()
    for name, (function, make) in list(PROGRAMS.items())[:: options.every]:
        if options.only not in name:
            continue
        wrong = list(faults(function, make(), listed))
        failed += bool(wrong)
        print(f"{'FAILED' if wrong else 'ok    '} {name}{': ' if wrong else ''}{'; '.join(wrong)}", flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
