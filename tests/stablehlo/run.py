"""The StableHLO suite on a target: each static file's @main is compiled, run on its inputs and checked as it says; then the
quantised files and the interpreter's, module by module, but the distributed ones (modules.py).

    tests/stablehlo/run.py --bin build/bin [--sets static,quantised,interpret] [--only REGEX] [--every N] [--part 0/1]
                           [--target simnpu [--fallback] [--types i1,i8,i32,i64,f32]] [--out FILE.json] [--write] [--page FILE.md]

The suite comes from data/stablehlo-dev.tar.xz. A refusal by the compiler is counted as such, with its reason; everything else
that does not pass is a failure, and makes the run fail, and so does another outcome than outcomes.txt has (--write makes that
anew, of all files). Of a target alone, without a fallback, they are in TARGET.txt: of each of the files whose tensors have no
other elements than --types, so that this is their list too; there a refusal must name the operator and what it lacks."""

import argparse
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import modules  # noqa: E402
import outcomes  # noqa: E402
import plain_loops  # noqa: E402
import suite  # noqa: E402
import tools  # noqa: E402

HERE = Path(__file__).parent
tools.fill_memory()
SETS = {"static": "static", "quantised": "quantized", "interpret": "interpret"}  # the suite's own names
WANTED = {"macro": 0.98, "static": 0.99, "quantised": 0.9, "interpret": 0.95}
DEVICES = {"cpu": "native"}  # machines for all others
ON_THE_CHIP = 0.4  # wanted of a target's own list
LACKS = re.compile(r"(\w+:\d+|arg\d+|out\d+): .*(no instruction|no memory|reads nothing|computes no|combines by|lanes|no such|does not|cannot|too |neutral value)")


def element_types(text):
    return {m for m in re.findall(r"tensor<(?:\d+x)*((?:complex<)?[a-z]+\d+\w*)", text)}


class Failed(Exception):
    """what: "refused" by the compiler, "failed", "not read" by modules.py"""

    def __init__(self, what, why):
        super().__init__(why)
        self.what = what


class Runner:
    def __init__(self, options, work):
        self.bin, self.work = options.bin, work
        self.target = [f"--target={options.target}", *(["--fallback=cpu"] if options.fallback else [])]
        self.on_one_thread = set()  # as plain loops
        self.device = [] if options.fallback else [f"--device={DEVICES.get(options.target, 'machine')}"]

    def compile(self, text):
        model = self.work / "m.mlir"
        model.write_text(text)
        done = tools.call([f"{self.bin}/pbc", str(model), *self.target, "-o", str(self.work / "m.pbe")], timeout=120)
        if done.returncode:
            said = done.stderr.strip()
            lines = [line for line in said.splitlines() if "error: " in line]
            known = done.returncode == 1 and lines and not any("PB4090" in line or "PB4200" in line for line in lines)
            raise Failed("refused" if known else "failed", (lines or [said or f"exit code {done.returncode}"])[0])
        if self.target == ["--target=cpu"]:
            self.on_one_thread |= plain_loops.operators(done.stderr)

    def run(self, inputs, count):
        args = [self.work / "m.pbe", *self.device]
        for k, data in enumerate(inputs):
            np.save(self.work / f"in{k}.npy", data)
            args += ["--input", f"arg{k}={self.work / f'in{k}.npy'}"]
        for k in range(count):
            args += ["--output", f"out{k}={self.work / f'out{k}.npy'}"]
        done = tools.call([f"{self.bin}/pb-run", *map(str, args)], timeout=120)
        if done.returncode:
            raise Failed("failed", f"pb-run: {done.stderr.strip()[-300:]}")
        return [np.load(self.work / f"out{k}.npy") for k in range(count)]

    def one(self, text, inputs, elements):
        """The outputs of a module in the types of their elements."""
        self.compile(text)
        outputs = self.run([modules.as_input(*one) for one in inputs], len(elements))
        return [as_element(data, element) for data, element in zip(outputs, elements)]


def as_element(data, element):
    dtype = np.dtype(suite.TYPES.get(element, np.uint8))
    return data.view(dtype) if data.dtype != dtype and data.itemsize == dtype.itemsize else data


def run_file(runner, path):
    try:
        case = suite.Case(path)
    except suite.NotRead as why:
        raise Failed("not read", f"error: the runner has no {why}") from None
    outputs = runner.one(case.text, [(data, "") for data in case.inputs], [element for _, _, element in case.checks])
    for k, (how, expected, element) in enumerate(case.checks):
        actual = outputs[k]
        if not expected.shape and actual.shape == (1,):
            actual = actual.reshape(())
        good, why = suite.passes(how, actual, expected, element)
        if not good:
            raise Failed("failed", f"out{k} ({element}, {how}): {why}")


def run_module(runner, text):
    try:
        case = modules.Module(text)
    except suite.NotRead as why:
        raise Failed("not read", f"error: the runner has no {why}") from None
    wrong = case.judge(runner.one(case.text, case.inputs, case.outputs))
    if wrong:
        raise Failed("failed", wrong)


def tests_of(folder, options):
    """(set, name, operator, what runs it, whether it does not count)"""
    index, found = json.loads((folder / "index.json").read_text()), []
    for kind in options.sets.split(","):
        of_kind = []
        for entry in (e for e in index if e["category"] == SETS[kind]):
            path, disabled = folder / entry["file"], entry.get("upstream_disabled", False)
            if kind == "static":
                if options.types and not element_types(path.read_text()) <= set(options.types.split(",")):
                    continue
                of_kind.append((kind, entry["file"], entry["op"], path, disabled))
                continue
            texts = modules.modules_of(path)
            texts = [(f"{entry['file']}#{k}" if len(texts) > 1 else entry["file"], text) for k, text in enumerate(texts)]
            of_kind += [(kind, name, entry["op"], text, False) for name, text in texts if not modules.is_distributed(text)]
        of_kind = [t for t in of_kind if re.search(options.only, t[1])][:: options.every]
        part, parts = map(int, options.part.split("/"))
        found += of_kind[len(of_kind) * part // parts : len(of_kind) * (part + 1) // parts]
    return found


def run_all(options, folder, work):
    runner, results = Runner(options, work), []
    for kind, name, op, test, disabled in tests_of(folder, options):
        what, why = "passed", ""
        try:
            run_file(runner, test) if kind == "static" else run_module(runner, test)
        except Failed as failed:
            what, why = failed.what, str(failed)
        except tools.subprocess.TimeoutExpired:
            what, why = "failed", "no end within 120 s"
        results.append({"set": kind, "file": name, "op": op, "result": what, "reason": why, "disabled": disabled})
        if what != "passed" and not options.quiet:
            print(f"{'not counted, ' if disabled else ''}{what}: {name}: {why}", flush=True)
    return results, sorted(runner.on_one_thread - plain_loops.listed() - plain_loops.listed("StableHLO's "))


def shares(results):
    """{"macro" or a set: (how many of its tests pass, of how many)}; macro: a mean over operators, of 1."""
    counts, by_set = defaultdict(Counter), defaultdict(Counter)
    for r in results:
        if r["disabled"]:
            continue
        by_set[r["set"]][r["result"]] += 1
        if r["set"] != "interpret":
            counts[r["op"]][r["result"]] += 1
    found = {"macro": (float(np.mean([c["passed"] / sum(c.values()) for c in counts.values()])), 1)} if counts else {}
    return found | {kind: (c["passed"], sum(c.values())) for kind, c in by_set.items()}, counts


def table(found):
    names = {"macro": "mean over operators, static and quantised", "static": "static files", "quantised": "quantised modules",
             "interpret": "the interpreter's modules, not distributed"}
    for kind, (passed, count) in found.items():
        yield names[kind], f"{passed} of {count}" if count > 1 else "", f"{100 * passed / count:.1f}%", f"{100 * WANTED[kind]:.0f}%"


PLAIN = "cpu", "nvgpu", "amdgpu"  # targets whose kernels may be plain loops: all that one does the others do


def judge_pins(options, results, seen):
    """What came to something else than it did; of a chip alone too what is refused without a reason."""
    if options.fallback:
        return [f"{r['file']}: {r['reason']}" for r in results if r["result"] == "refused" and not r["disabled"]]
    alone = options.target.split(":")[0] not in PLAIN
    pins = HERE / (f"{options.target}.txt" if alone else "outcomes.txt")
    if options.write:
        outcomes.write(pins, seen, whole=alone)
    unnamed = [f"no reason: {r['file']}: {r['reason']}" for r in results if alone and r["result"] == "refused" and not LACKS.search(r["reason"])]
    if alone:
        named = outcomes.read(pins)
        passed = sum(what == "passed" for what in named.values())
        print(f"{options.target} alone: {passed} of {len(named)} files of its list, {100 * passed / max(1, len(named)):.1f}%, wanted {100 * ON_THE_CHIP:.0f}%")
    return outcomes.moved(outcomes.read(pins), seen) + unnamed


CHIP_LINES = "On simnpu alone", "On simnpu with"  # how the page's lines of another target's runs begin


def chip_lines(path):
    """What the page says of them today: that is another run's."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [next((line for line in lines if line.startswith(start)), f"{start}: not run.") for start in CHIP_LINES]


def say_chip(options, results):
    """This run's line, on the page."""
    passed = sum(r["result"] == "passed" for r in results if not r["disabled"])
    count = sum(not r["disabled"] for r in results)
    share = f"{passed} of {count} static files, {100 * passed / count:.1f}%"
    if options.fallback:
        line = f"{CHIP_LINES[1]} the CPU's help (`--target simnpu --fallback --sets static`): {share}."
    else:
        why = Counter(re.sub(r"^.*?error: (\w+:?\d*: )?|\w+:\d+ \(\w+\): | \[PB\d+\]$", "", r["reason"]) for r in results if r["result"] == "refused")
        most = "; ".join(f"{n} {re.sub('simnpu cannot run this: ', '', reason)}" for reason, n in why.most_common(6))
        line = (f"{CHIP_LINES[0]} (`--target simnpu --sets static --types {options.types}`, `tests/stablehlo/simnpu.txt`): {share}, "
                f"{100 * ON_THE_CHIP:.0f}% wanted. What it lacks, by files: {most}.")
    old = chip_lines(options.page)[options.fallback]
    options.page.write_text(options.page.read_text().replace(old, line))


def page(results, lines):
    """sdk-docs/conformance.md"""
    found, counts = shares(results)
    out = [
        "# StableHLO's conformance suite on the CPU",
        "",
        "Made by `tests/stablehlo/run.py --bin build/bin --page sdk-docs/conformance.md`; a line an operator of the static and",
        "the quantised files, that is a primitive of JAX. Passed: compiled, run on inputs that come at run time, and within what",
        "the file's check allows (3 ULP, or equal). Refused: an error that names the operator and the reason. Nothing is wrong",
        "without a word: a failure fails the run. Files that StableHLO's own interpreter does not pass are left out.",
        "",
        "| | passed | | wanted |",
        "| --- | --: | --: | --: |",
        *(f"| {name} | {passed} | {share} | {wanted} |" for name, passed, share, wanted in table(found)),
        "",
        *(text for line in lines for text in (line, "")),
        "| operator | passed | refused | failed |",
        "| --- | --: | --: | --: |",
    ]
    out += [f"| {op} | {c['passed']} | {c['refused'] + c['not read']} | {c['failed']} |" for op, c in sorted(counts.items())]
    bad = [r for r in results if r["result"] != "passed" and not r["disabled"]]
    if bad:
        out += ["", "What does not pass, and why:", "", "| test | |  |", "| --- | --- | --- |"]
    out += [f"| {r['file']} | {r['result']} | {re.sub(r'^.*?error: ', '', r['reason'])} |" for r in bad]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--suite", type=Path, help="a folder that has it unpacked")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--only", default=".")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--part", default="0/1", help="K/N: the K-th of N runs of tests that follow each other")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--fallback", action="store_true", help="what the target does not do the CPU does")
    parser.add_argument("--types", help="static files that have no other elements")
    parser.add_argument("--write", action="store_true", help="pin the outcomes")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--page", type=Path, help="the conformance page, to be written")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results, unlisted = run_all(options, options.suite or suite.unpacked(folder), Path(folder))
    found, counts = shares(results)
    for op, c in sorted(counts.items()):
        print(f"{op:32} {c['passed']:4} passed {c['refused'] + c['not read']:4} refused {c['failed']:4} failed")
    for row in table(found):
        print("{}: {} {}, wanted {}".format(*row))
    if options.page and options.target.split(":")[0] not in PLAIN:
        say_chip(options, results)
    elif options.page:
        options.page.write_text(page(results, chip_lines(options.page)))
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")
    seen = {r["file"]: outcomes.result(r["result"].replace(" ", "-"), r["reason"]) for r in results if not r["disabled"]}
    moved = judge_pins(options, results, seen)
    print("\n".join(moved))
    for operator in unlisted:
        print(f"{operator} runs as plain loops on one thread, which sdk-docs/plain-loops.md does not list")
    failed = any(r["result"] == "failed" and not r["disabled"] for r in results) or unlisted
    return 1 if moved or failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
