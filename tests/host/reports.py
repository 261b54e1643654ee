"""--report, --explain, --emit=plan and --plan of programs whose loops data end and whose branches data choose: each kernel
stands under the loop or branch that it is launched in.

    tests/host/reports.py --bin build/bin"""

import argparse
import html.parser
import json
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import tools  # noqa: E402


class Session:
    def __init__(self, bin_dir, folder):
        self.bin, self.folder, self.failures, self.count = bin_dir, folder, 0, 0

    def check(self, what, good):
        self.count += 1
        if not good:
            self.failures += 1
            print(f"FAILED: {what}"[:600])

    def pbc(self, name, *options):
        loops = [] if any(option.startswith("--loops") for option in options) else ["--loops=steps"]
        return tools.call([f"{self.bin}/pbc", str(HERE / "texts" / f"{name}.mlir"), *loops, *options])

    def text(self, name, *options):
        done = self.pbc(name, *options)
        self.check(f"{name} {options}: {done.stderr}", done.returncode == 0)
        return done.stdout


def places(steps):
    """Of each launch the kinds of what it stands in, the outermost first."""
    return [tuple(s["in"] for s in step["within"]) for step in steps if "kernel" in step and step["kernel"]]


def reported(s, name, target):
    path = s.folder / "r.json"
    s.text(name, *target, "-o", str(s.folder / "m.pbe"), f"--report={path}")
    return json.loads(path.read_text())


# Which places a program's launches stand in.
EXPECTED = {
    "branch_in_a_loop": {(), ("loop",), ("loop", "then"), ("loop", "else")},
    "loop_in_a_branch": {(), ("then",), ("else", "loop")},
    "nested": {(), ("loop",), ("loop", "loop")},
    "switch": {(), ("then",), ("else",), ("else", "then"), ("else", "else"), ("else", "else", "else")},
}


def of_steps(s, name, target):
    report = reported(s, name, target)
    headers = tools.run([f"{s.bin}/pb-objdump", str(s.folder / "m.pbe"), "--headers"])
    jumps = {int(a): int(b) for a, b in re.findall(r"^\s+(\d+): (?:jump|unless)\(.*\) -> (\d+)", headers, re.M)}
    steps = report["steps"]
    s.check(f"{name}: the steps of the engine", len(steps) == len(re.findall(r"^\s+\d+: \w+\(", headers, re.M)))
    for step in steps:
        inner = step["step"]
        for scope in reversed(step["within"]):
            s.check(f"{name}: step {inner} in {scope}", scope["first"] <= step["step"] <= scope["last"])
            if scope["in"] == "loop":
                s.check(f"{name}: the loop {scope} turns", jumps.get(scope["last"]) == scope["first"])
            else:  # somebody jumps over it, or to it
                s.check(f"{name}: the branch {scope}", scope["first"] - 1 in jumps or scope["first"] in jumps.values())
    s.check(f"{name}: {set(places(steps))}", set(places(steps)) == EXPECTED[name])
    explained = json.loads(s.text(name, *target, "--explain=json"))["steps"]
    s.check(f"{name}: explained steps", [e["within"] for e in explained] == [r["within"] for r in steps])
    s.check(f"{name}: what each launch makes", all(e["result"] for e in explained if e["kernel"]))
    s.check(f"{name}: what a step reads comes before it", all(f < e["step"] for e in explained for f in e["from"]))
    kernels = {k["name"] for k in report["kernels"]}
    s.check(f"{name}: a kernel of each", {r["kernel"] for r in steps if "kernel" in r} == kernels)


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.boxes = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "rect":
            self.boxes.append(int(dict(attributes)["x"]))


def of_rows(s):
    """A program whose host places rows, and jumps nowhere."""
    steps = reported(s, "token", ["--target=cpu", "--donate=arg0=out0"])["steps"]
    s.check("the host's steps", any("bytes placed among others" in step.get("host", "") for step in steps))
    s.check("no loop", not any("within" in step for step in steps))
    s.text("token", "--target=cpu", "--donate=arg0=out0", "--explain")


def of_texts(s):
    text = s.text("branch_in_a_loop", "--target=cpu", "--explain")
    lines = text.splitlines()
    heads = [line.split(":")[0].strip() for line in lines if re.match(r"\s+(loop|then|else), steps", line)]
    s.check(f"its loop and both branches: {heads}", [h.split(",")[0] for h in heads] == ["loop", "then", "else"])
    inner = next(line for line in lines if re.match(r" *\d+ +dot_general:20 ", line))
    outer = next(line for line in lines if re.match(r" *\d+ +out0 ", line))
    s.check("what is inside stands further in", inner.index("dot") == outer.index("out0") + 4)
    s.check("what cycles are said of", "of each loop one iteration, and every branch" in lines[0])
    page = Page(s.text("branch_in_a_loop", "--target=cpu", "--explain=html"))
    s.check(f"boxes further in: {page.boxes}", len(set(page.boxes)) == 3)


# The comments in front of the plans of each segment.
PLACES = {
    "branch_in_a_loop": ["// segment 0, loop 'while:5'", "// segment 1, loop 'while:5'", "// segment 2, loop 'while:5', then of 'case:18'",
                         "// segment 3, loop 'while:5', else of 'case:18'", "// segment 4"],
    "nested": ["// segment 0, loop 'while:5'", "// segment 1, loop 'while:5'", "// segment 2, loop 'while:5', loop 'while:14'",
               "// segment 3, loop 'while:5', loop 'while:14'", "// segment 4, loop 'while:5'", "// segment 5"],
    "greedy": ["// segment 0", "// segment 1, loop 'while:9'", "// segment 2, loop 'while:9'", "// segment 3"],
}


def of_plans(s, target):
    for name in ("branch_in_a_loop", "nested", "greedy"):
        plans = s.text(name, *target, "--emit=plan")
        path = s.folder / "plans.txt"
        path.write_text(plans)
        kernels = re.findall(r"^(s\d+\.k\d+) \{", plans, re.M)
        s.check(f"{name}: plans of several segments", len({k.split(".")[0] for k in kernels}) > 1 and len(set(kernels)) == len(kernels))
        s.check(f"{name}: where they stand", [line for line in plans.splitlines() if line.startswith("// segment")] == PLACES[name])
        s.check(f"{name}: the same again", s.text(name, *target, f"--plan={path}", "--emit=plan") == plans)
        engines = [s.folder / "a.pbe", s.folder / "b.pbe"]
        s.text(name, *target, "-o", str(engines[0]))
        s.text(name, *target, f"--plan={path}", "-o", str(engines[1]))
        s.check(f"{name}: the same engine by its own plans", engines[0].read_bytes() == engines[1].read_bytes())
        path.write_text(f"// none\n{kernels[0].split('.')[0]}.k99 {{}}\n")
        done = s.pbc(name, *target, f"--plan={path}", "-o", str(engines[1]))
        s.check(f"{name}: a kernel that is not there: {done.stderr}", done.returncode == 1 and "plans.txt:2" in done.stderr and "PB2404" in done.stderr)
        path.write_text("k0 {}\n")
        done = s.pbc(name, *target, f"--plan={path}", "-o", str(engines[1]))
        s.check(f"{name}: a kernel of no segment: {done.stderr}", done.returncode == 1 and "s0.k0 and on" in done.stderr and "PB2404" in done.stderr)
        path.write_text("s0.k0 {\n")
        done = s.pbc(name, *target, f"--plan={path}", "-o", str(engines[1]))
        s.check(f"{name}: no plan: {done.stderr}", done.returncode == 1 and "plans.txt:1" in done.stderr and "PB2401" in done.stderr)


def of_kernels(s):
    """Loops that are kernels: a step each, which is told as any other."""
    target = ["--target=cpu", "--loops=kernels"]
    for name in EXPECTED:
        report = reported(s, name, target)
        headers = tools.run([f"{s.bin}/pb-objdump", str(s.folder / "m.pbe"), "--headers"])
        loops = re.findall(r"^\s+\d+: (k\d+)\(.*\)  ; (?:while|case|if):", headers, re.M)
        s.check(f"{name}: kernels with loops and branches inside", loops and "unless(" not in headers)
        s.check(f"{name}: steps that stand in nothing", not any("within" in step for step in report["steps"]))
        s.check(f"{name}: its kernels", len(report["kernels"]) == len(re.findall(r"^\s+\d+: k\d+\(", headers, re.M)))
        s.check(f"{name}: what runs", "with its turns or branches inside" in s.text(name, *target, "--explain"))
    done = s.pbc("nested", "--target=cpu", "--loops=none", "-o", str(s.folder / "m.pbe"))
    s.check(f"what loops are not: {done.stderr}", done.returncode == 1 and "PB1004" in done.stderr and "kernels or steps" in done.stderr)


def of_dumps(s):
    folder = s.folder / "dump"
    s.text("nested", "--target=cpu", "-o", str(s.folder / "m.pbe"), f"--dump-intermediates={folder}")
    segments = sorted(p.name for p in folder.iterdir() if p.is_dir())
    s.check(f"a folder a segment: {segments}", len(segments) > 2 and segments[0] == "segment-0")
    s.check("all stages of each", all(any(f.name.endswith("-s2.mlir") for f in (folder / d).iterdir()) for d in segments))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        s = Session(options.bin, Path(folder))
        for name in EXPECTED:
            of_steps(s, name, ["--target=cpu"])
        of_steps(s, "nested", ["--target=simnpu", "--fallback=cpu"])
        of_rows(s)
        of_texts(s)
        of_plans(s, ["--target=cpu"])
        of_dumps(s)
        of_kernels(s)
    print(f"{s.count} checks, {s.failures} failed")
    return 1 if s.failures else 0


if __name__ == "__main__":
    sys.exit(main())
