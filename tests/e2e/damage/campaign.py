"""Bad input of every kind: models of ONNX and of text, flat forms, engines, in the shares below; each mutant is refused with a code (texts
with file:line:column), or what comes of it is right; none crashes, hangs or reads what it must not. A table says how many came to what.

    campaign.py --bin BUILD/bin [--count 100000] [--seed 1] [--oracle PYTHON] [--keep DIR]

models      damaged graphs and files, compiled, run and compared with ONNX Runtime (mutants.py)
model files damaged bytes, read up to stage S1 (tests/fuzz, in one process)
places      of weights outside of the model's file (escapes.py)
stablehlo   damaged texts, compiled and run; with --oracle, a Python that has jax, compared with XLA (text_mutants.py)
linalg      the same, of linalg's and TOSA's
flat forms  what the process that parses texts hands over, up to value form (flat_mutants)
engines     damaged, read and run (mutants.py)
engine files damaged bytes, read, with their sums put right too (tests/fuzz, in one process)
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import damaged_text  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(tools.SOURCE, "tests", "fuzz", "corpus")
SHARES = {"models": 0.04, "model files": 0.2, "places": 0.005, "stablehlo": 0.04, "linalg": 0.025, "flat forms": 0.46, "engines": 0.03, "engine files": 0.2}
ROW = re.compile(r"^ *(\d+) (?:model|engine|stablehlo|linalg|flat|place) (\w+)", re.M)
GOOD = {"equal", "ran", "right", "program", "endless", "large"}


def texts(folder, every):
    """Seeds as files, for flat_mutants."""
    paths = []
    for seeds in (damaged_text.stablehlo_seeds(every), list(damaged_text.linalg_seeds())[::2]):
        for _, text in seeds:
            paths.append(os.path.join(folder, f"{len(paths)}.mlir"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(text)
    return paths


def commands(args, folder):
    """(kind, how many, command)"""
    counts = {kind: max(1, round(args.count * share)) for kind, share in SHARES.items()}
    python = [sys.executable]
    common = ["--bin", args.bin, "--seed", str(args.seed)]
    keep = ["--keep", args.keep] if args.keep else []
    oracle = ["--oracle", args.oracle] if args.oracle else []

    def script(name, *words):
        return [*python, os.path.join(HERE, name), *common, *map(str, words)]

    def replayed(name, kind):
        corpus = os.path.join(CORPUS, name)
        rounds = -(-counts[kind] // len(os.listdir(corpus)))
        return [os.path.join(args.bin, f"replay_{name}"), corpus, str(rounds), str(args.seed)]

    yield "flat forms", [os.path.join(args.bin, "flat_mutants"), str(counts["flat forms"]), str(args.seed), *texts(folder, 20 if args.count >= 50000 else 60)]
    yield "model files", replayed("onnx", "model files")
    yield "engine files", replayed("engine", "engine files")
    yield "places", script("escapes.py", "--count", counts["places"])
    yield "engines", script("mutants.py", "--models", 0, "--engines", counts["engines"], "--jobs", 1, *keep)
    yield "stablehlo", script("text_mutants.py", "--stablehlo", counts["stablehlo"], "--linalg", 0, *oracle, *keep)
    yield "linalg", script("text_mutants.py", "--stablehlo", 0, "--linalg", counts["linalg"], *oracle, *keep)
    yield "models", script("mutants.py", "--models", counts["models"], "--engines", 0, "--jobs", 1, *keep)


def run(kind, command):
    """A row of the table: mutants, refused, good, without a place, not taken by the oracle, wrong, seconds; and what went wrong."""
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    seconds = time.time() - start
    found = {}
    for count, what in ROW.findall(done.stdout):
        found[what] = found.get(what, 0) + int(count)
    wrong = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    if done.returncode and not wrong:
        wrong = [f"FAILED {kind}: exit code {done.returncode}: {done.stderr[-500:]}"]
    read = re.search(r"(\d+) mutants$", done.stdout.strip())
    if read:  # replay: what is refused and what is read is not told apart
        found["ran"] = int(read.group(1))
    refused = found.get("refused", 0) + found.get("unread", 0)
    good, unplaced, unlike = sum(found.get(word, 0) for word in GOOD), found.get("unplaced", 0), found.get("unlike", 0)
    return (refused + good + unplaced + unlike + len(wrong), refused, good, unplaced, unlike, len(wrong), seconds), wrong, done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--oracle", help="a Python that has jax, for texts of StableHLO")
    parser.add_argument("--keep", help="a folder for mutants to be looked at")
    args = parser.parse_args()
    args.bin, rows, failed = os.path.abspath(args.bin), [], 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, command in commands(args, folder):
            row, wrong, printed = run(kind, command)
            rows.append((kind, *row))
            failed += len(wrong)
            print("\n".join(wrong + [line for line in printed.splitlines() if line.startswith("no place")]), flush=True)
            print(f"-- {kind}: {row[0]} in {row[-1]:.0f} s, {len(wrong)} wrong", flush=True)
            if args.keep:
                os.makedirs(args.keep, exist_ok=True)
                with open(os.path.join(args.keep, f"{kind.replace(' ', '_')}.log"), "w", encoding="utf-8") as file:
                    file.write(printed)
    rows.append(("all", *(sum(row[k] for row in rows) for k in range(1, 8))))
    print("| kind | mutants | refused | right, or run | refused without a place | the oracle refuses | wrong | s |\n| --- | --: | --: | --: | --: | --: | --: | --: |")
    for kind, *numbers in rows:
        print(f"| {kind} | {' | '.join(f'{n:.0f}' for n in numbers)} |")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
