"""The StableHLO suite on the CPU: each file's @main is compiled, run on its inputs and checked as it says.

    tests/stablehlo/run.py --bin build/bin [--only REGEX] [--every N] [--part 0/1] [--out FILE.json] [--write]

The suite comes from data/stablehlo-dev.tar.xz. A refusal by the compiler is counted as such, with its reason; everything else
that does not pass is a failure, and makes the run fail, and so does another outcome than outcomes.txt has (--write makes that
anew, of all files)."""

import argparse
import json
import re
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import outcomes  # noqa: E402
import suite  # noqa: E402
import tools  # noqa: E402

PINS = Path(__file__).parent / "outcomes.txt"


def run_one(path, work):
    """("passed" | "refused" | "failed" | "not read", reason)"""
    try:
        case = suite.Case(path)
    except suite.NotRead as why:
        return "refused", f"the runner has no {why}"
    model, engine = work / "m.mlir", work / "m.pbe"
    model.write_text(case.text)
    done = tools.call([f"{BIN}/pbc", str(model), "--target=cpu", "-o", str(engine)], timeout=120)
    if done.returncode:
        text = done.stderr.strip()
        lines = [line for line in text.splitlines() if "error: " in line]
        known = done.returncode == 1 and lines and not any("PB4090" in line or "PB4200" in line for line in lines)
        return ("refused" if known else "failed"), (lines or [text or f"exit code {done.returncode}"])[0]
    args = [engine]
    for k, data in enumerate(case.inputs):
        if np.iscomplexobj(data):  # pairs
            data = data.view(data.real.dtype).reshape(*data.shape, 2) if data.shape else np.array([data.real, data.imag])
        np.save(work / f"in{k}.npy", data)
        args += ["--input", f"arg{k}={work / f'in{k}.npy'}"]
    for k in range(len(case.checks)):
        args += ["--output", f"out{k}={work / f'out{k}.npy'}"]
    done = tools.call([f"{BIN}/pb-run", *map(str, args)], timeout=120)
    if done.returncode:
        return "failed", f"pb-run: {done.stderr.strip()[-300:]}"
    for k, (how, expected, element) in enumerate(case.checks):
        actual = np.load(work / f"out{k}.npy")
        if actual.dtype.kind == "V" or (element == "bf16" and actual.dtype != np.uint16):
            actual = actual.view(np.uint16)
        if np.iscomplexobj(expected):
            actual = actual.astype(expected.real.dtype).view(expected.dtype).reshape(expected.shape)
        if actual.dtype != expected.dtype:
            actual = actual.view(expected.dtype) if actual.itemsize == expected.itemsize else actual.astype(expected.dtype)
        if not expected.shape and actual.shape == (1,):
            actual = actual.reshape(())
        good, why = suite.passes(how, actual, expected, element)
        if not good:
            return "failed", f"out{k} ({element}, {how}): {why}"
    return "passed", ""


def page(counts, reasons, macro, share, total):
    """sdk-docs/conformance.md"""
    out = [
        "# StableHLO's conformance suite on the CPU",
        "",
        "Made by `tests/stablehlo/run.py --bin build/bin --page sdk-docs/conformance.md`; a line an operator of the suite, that",
        "is a primitive of JAX. Passed: compiled, run on inputs that come at run time, and within what the file's check allows (3",
        "ULP, or equal). Refused: an error that names the operator and the reason. Nothing is wrong without a word: a failure",
        "fails the run. Files that StableHLO's own interpreter does not pass are left out.",
        "",
        f"{total['passed']} of {sum(total.values())} files pass ({100 * share:.1f}%); the mean over operators is {100 * macro:.1f}%.",
        "",
        "| operator | passed | refused | failed |",
        "| --- | --: | --: | --: |",
    ]
    out += [f"| {op} | {c['passed']} | {c['refused']} | {c['failed']} |" for op, c in sorted(counts.items())]
    if reasons:
        out += ["", "What is refused, by reason:", "", "| files | reason |", "| --: | --- |"]
    out += [f"| {n} | {why} |" for why, n in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--suite", type=Path, help="a folder that has it unpacked")
    parser.add_argument("--only", default=".")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--part", default="0/1", help="K/N: the K-th of N runs of files that follow each other")
    parser.add_argument("--write", action="store_true", help="pin the outcomes")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--page", type=Path, help="the conformance page, to be written")
    options = parser.parse_args()
    global BIN
    BIN = options.bin
    with tempfile.TemporaryDirectory() as folder:
        return run_all(options, options.suite or unpacked(folder), Path(folder))


def unpacked(folder):
    with tarfile.open(Path(__file__).parent / "data" / "stablehlo-dev.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return Path(folder) / "stablehlo"


def run_all(options, folder, work):
    index = [e for e in json.loads((folder / "index.json").read_text()) if e["category"] == "static"]
    index = [e for e in index if re.search(options.only, e["file"])][:: options.every]
    part, parts = map(int, options.part.split("/"))
    index = index[len(index) * part // parts:len(index) * (part + 1) // parts]
    counts, reasons, results, seen = defaultdict(Counter), Counter(), [], {}
    for entry in index:
        what, why = run_one(folder / entry["file"], work)
        disabled = entry.get("upstream_disabled", False)
        results.append({"file": entry["file"], "op": entry["op"], "result": what, "reason": why, "disabled": disabled})
        if disabled:
            print(f"not counted ({what}): {entry['file']} {why}")
            continue
        counts[entry["op"]][what] += 1
        seen[entry["file"]] = outcomes.result(what, why)
        if what == "refused":
            reasons[re.sub(r"^.*?error: ", "", why)] += 1
        if what == "failed" and not options.quiet:
            print(f"failed: {entry['file']}: {why}", flush=True)
    for op in sorted(counts):
        c = counts[op]
        print(f"{op:32} {c['passed']:4} passed {c['refused']:4} refused {c['failed']:4} failed")
    for why, n in reasons.most_common(60):
        print(f"{n:5} {why}")
    total = sum(counts.values(), Counter())
    macro = np.mean([c["passed"] / sum(c.values()) for c in counts.values()]) if counts else 0
    share = total["passed"] / max(1, sum(total.values()))
    print(f"{len(counts)} operators, macro {100 * macro:.1f}%, plain {100 * share:.1f}%: {dict(total)}")
    if options.page:
        options.page.write_text(page(counts, reasons, macro, share, total))
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")
    if options.write:
        outcomes.write(PINS, seen)
    moved = outcomes.moved(outcomes.read(PINS), seen)
    print("\n".join(moved))
    return 1 if moved or total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
