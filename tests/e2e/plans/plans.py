"""Plans printed, edited and handed back: unedited they give the same engine, a legal edit is carried out and changes no
result, everything else is refused with its line. Then random edits, each of which must end in one of these two ways.

    plans.py --bin BUILD/bin [--count 60] [--seed 1]
"""

import argparse
import json
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from reference import Reference  # noqa: E402

MODEL = os.path.join(tools.MODELS, "digits.onnx")
K3 = r"(k3 = \{.*?)"
OUTSIDE = ["--between=system"]  # plans of kernels that load and store all that they take and make


class Session:
    def __init__(self, bin_dir, folder):
        self.bin, self.folder, self.failures, self.carried_out, self.refused = bin_dir, folder, 0, 0, 0
        self.plan = self.path("plan.txt")
        tools.run([os.path.join(bin_dir, "pbc"), MODEL, "--target=simnpu", *OUTSIDE, "--emit=plan", "-o", self.plan])
        with open(self.plan, encoding="utf-8") as file:
            self.text = file.read()
        images = np.load(os.path.join(tools.MODELS, "digits_images.npy"))[:4].astype(np.float32)
        np.save(self.path("x.npy"), images)
        reference = Reference(onnx.load(MODEL))
        self.expected = reference.run({reference.inputs[0]: images})[reference.outputs[0]].astype(np.float32)

    def path(self, name):
        return os.path.join(self.folder, name)

    def check(self, what, good):
        if not good:
            self.failures += 1
            print(f"FAILED: {what}")

    def compile(self, text, engine="edited.pbe"):
        """(exit code, what pbc said) with this text as the file of plans."""
        with open(self.path("edited.txt"), "w", encoding="utf-8") as file:
            file.write(text)
        command = [os.path.join(self.bin, "pbc"), MODEL, "--target=simnpu", *OUTSIDE, f"--plan={self.path('edited.txt')}",
                   "-o", self.path(engine)]
        result = tools.call(command, 120)
        return result.returncode, result.stderr

    def computes(self, engine="edited.pbe"):
        """None, or what is wrong with what the machine makes of the engine."""
        try:
            tools.run_engine(self.bin, self.path(engine), "machine", self.path("x.npy"), self.path("y.npy"))
        except tools.Failed as failed:
            return str(failed)
        actual = np.load(self.path("y.npy")).reshape(self.expected.shape)
        return None if np.array_equal(actual.view(np.int32), self.expected.view(np.int32)) else "other numbers"

    def refuses(self, what, text, code, line):
        status, said = self.compile(text)
        place = f"edited.txt:{line}:" if line else "edited.txt"
        self.check(f"{what}: {said}", status == 1 and f"[PB{code}]" in said and place in said)

    def carries_out(self, what, text):
        status, said = self.compile(text)
        self.check(f"{what}: {said}", status == 0 and text != self.text)
        wrong = self.computes()
        self.check(f"{what}: {wrong}", wrong is None)


def line_of(text, start):
    return [k for k, line in enumerate(text.split("\n"), 1) if line.startswith(start)][0]


def as_planned(s):
    """With tensors that stay on the chip the printed plans give the same engine too."""
    command = [os.path.join(s.bin, "pbc"), MODEL, "--target=simnpu"]
    tools.run([*command, "-o", s.path("chip.pbe")])
    tools.run([*command, "--emit=plan", "-o", s.path("chip.txt")])
    tools.run([*command, f"--plan={s.path('chip.txt')}", "-o", s.path("again.pbe")])
    with open(s.path("chip.pbe"), "rb") as a, open(s.path("again.pbe"), "rb") as b:
        s.check("an unedited plan of tensors that stay gives another engine", a.read() == b.read())
    wrong = s.computes("again.pbe")
    s.check(f"tensors that stay: {wrong}", wrong is None)


def fixed_cases(s):
    as_planned(s)
    tools.compile_model(s.bin, MODEL, "simnpu", s.path("planned.pbe"), *OUTSIDE)
    status, said = s.compile(s.text, "unedited.pbe")
    s.check(said, status == 0)
    with open(s.path("planned.pbe"), "rb") as a, open(s.path("unedited.pbe"), "rb") as b:
        s.check("an unedited plan gives another engine", a.read() == b.read())

    split = "1, 2, " + re.search(K3 + r"bands = array<i64: ([^>]*)>", s.text).group(2)  # two rows of the image at a time
    edited = re.sub(K3 + r"bands = array<i64: [^>]*>(.*?)result_level = 1", rf"\1bands = array<i64: {split}>\2result_level = 2",
                    s.text)
    edited = edited.replace("// conv2_f\nk3", "\n\n// by hand\nk3")
    status, said = s.compile(edited)
    s.check(said, status == 0 and edited != s.text)
    wrong = s.computes()
    s.check(f"a legal edit: {wrong}", wrong is None)
    again = tools.run([os.path.join(s.bin, "pbc"), MODEL, "--target=simnpu", *OUTSIDE, f"--plan={s.path('edited.txt')}", "--emit=plan"])
    s.check("the edit was not carried out", f"k3 = {{bands = array<i64: {split}>" in again)
    s.check("tile was not worked out anew", re.search(r"k3 = .*tile = array<i64: 1, 2, 4, 16, 1, 1, 16>", again))
    only = re.search(r"k3 = .*", edited).group(0)
    s.check("one kernel's plan alone is refused", s.compile(only)[0] == 0)

    k3 = line_of(s.text, "k3")
    s.carries_out("a last tile that is smaller, all blocks inside result_level", s.text.replace(
        "k3 = {bands = array<i64: ", "k3 = {bands = array<i64: 1, 3, "))
    s.refuses("a step longer than its dim", s.text.replace("k3 = {bands = array<i64: ", "k3 = {bands = array<i64: 1, 5, "), 2405, k3)
    s.refuses("a level past the bands", re.sub(K3 + "x_level = 0", r"\1x_level = 9", s.text), 2405, k3)
    s.refuses("a sum begun anew", re.sub(K3 + "result_level = 1", r"\1result_level = 3", s.text), 2405, k3)
    inside = re.sub(K3 + "bands = array<i64: ([^>]*)>", r"\1bands = array<i64: \2, 1, 2>", s.text)
    s.carries_out("results inside result_level", inside)
    deep = re.sub("^k4 = .*", lambda line: re.sub(r"depth = \d", "depth = 64", line.group(0)), s.text, flags=re.M)
    s.refuses("buffers that do not fit", deep, 2405, line_of(s.text, "k4"))
    s.refuses("a field taken out", re.sub(K3 + "x_level = 0 : i64", r"\1x_level = 1.5 : f32", s.text), 2406, k3)
    s.refuses("a field nobody knows", re.sub(K3 + "x_level = 0", r"\1y_level = 1 : i64, x_level = 0", s.text), 2406, k3)
    stage_cases(s)
    kept_cases(s)
    pad_cases(s)
    s.refuses("a kernel that is not there", s.text + "k99 = {}\n", 2404, line_of(s.text + "k99", "k99"))
    s.refuses("a kernel twice", s.text + "k3 = {}\n", 2403, line_of(s.text + "k99", "k99"))
    s.refuses("no attribute", re.sub(K3 + "x_level = 0", r"\1x_level = ", s.text), 2402, k3)
    s.refuses("no equals sign", s.text.replace("k3 = ", "k3 "), 2401, k3)
    s.refuses("no name", s.text.replace("k3 = ", "= "), 2401, k3)
    s.refuses("a brace left open", "\n\nk3 = {a = 1", 2401, 3)
    s.refuses("braces and quotes inside a string", re.sub(K3 + "x_level = 0", r'\1a = "}\\\\\\"}{", x_level = 0', s.text), 2406, k3)
    s.refuses("a fault in the third line of a plan", "k3 = {\nbands = array<i64>,\n x_level = }\n", 2402, 3)
    status, said = s.compile("// nothing\n")
    s.check(said, status == 0)


def band_in_front(plan, band):
    """The plan with one loop more around those that it has."""
    return re.sub(r"bands = array<i64(?:: ([^>]*))?>", lambda m: f"bands = array<i64: {', '.join(filter(None, (band, m.group(1))))}>", plan, count=1)


def stage_cases(s):
    """Plans of kernels of several stages: a convolution and a pooling by columns, and three stages that share no loop."""
    k2, k4 = line_of(s.text, "k2"), line_of(s.text, "k4")
    plan = re.search(r"^k2 = .*", s.text, flags=re.M).group(0)
    last = plan[plan.rindex(", {"):plan.rindex("]")]  # the pooling's

    def with_plan(edited):
        return s.text.replace(plan, edited, 1)

    s.refuses("a stage taken out", with_plan(plan.replace(last, "", 1)), 2405, k2)
    s.refuses("a stage too many", with_plan(plan.replace(last, last + last, 1)), 2405, k2)
    s.refuses("stages that are no list", re.sub(r"(k4 = \{.*)stages = \[.*?\]", r"\1stages = 1", s.text), 2406, k4)
    s.refuses("a stage that is no plan", with_plan(plan.replace(last, ", 1", 1)), 2406, k2)
    s.refuses("the plan of one stage for several", with_plan("k2 = " + re.search(r"^k3 = (.*)", s.text, flags=re.M).group(1)), 2406, k2)
    s.refuses("copies that nobody counts", with_plan(plan.replace("copies = 2", "copies = 65", 1)), 2406, k2)
    s.refuses("a loop that is not shared", with_plan(plan.replace("array<i64: 0, 1>", "array<i64: 1, 1>", 1)), 2406, k2)
    s.refuses("a step longer than the shared loop", with_plan(plan.replace("array<i64: 0, 1>", "array<i64: 0, 99>", 1)), 2405, k2)
    s.refuses("results outside the shared loops", with_plan(plan.replace(
        last, last.replace("result_level = 1", "result_level = 0"), 1)), 2405, k2)
    wider = plan.replace("array<i64: 4, 1>", "array<i64: 5, 1>", 1)  # the convolution has a dim more, of the iteration's columns
    s.carries_out("two columns at a time", with_plan(wider.replace("array<i64: 0, 1>", "array<i64: 0, 2>", 1)))
    s.carries_out("one copy of what lies between", with_plan(plan.replace("copies = 2", "copies = 1", 1)))
    s.carries_out("rows of the pooling one by one", with_plan(plan.replace(last, band_in_front(last, "0, 1").replace(
        "result_level = 1", "result_level = 2").replace("x_level = 1", "x_level = 2"), 1)))


def pad_cases(s):
    """The padded image row by row: the first and the last row are all border."""
    text = re.sub(r"(k1 = \{bands = array<i64)>", r"\1: 1, 1>", s.text)
    status, said = s.compile(text)
    s.check(f"a pad row by row: {said}", status == 0 and text != s.text)
    wrong = s.computes()
    s.check(f"a pad row by row: {wrong}", wrong is None)


def kept_cases(s):
    """conv2_f takes its image by lines of the window, once for each block of results: all of them each time, or but the last."""
    def edited(x, name="x_level = 2"):
        return re.sub(K3 + "(.*?)x_depth = .*", rf"\1\2x_depth = 1 : i64, {x}{name} : i64}}", s.text)
    read = {}
    for name, x in ("again", ""), ("kept", "x_kept = 2 : i64, "):
        s.carries_out(name, edited(x))
        tools.run([os.path.join(s.bin, "pb-run"), s.path("edited.pbe"), "--device=machine", "--input", s.path("x.npy"),
                   f"--stats={s.path('steps.json')}"])
        with open(s.path("steps.json"), encoding="utf-8") as file:
            read[name] = sum(step["dram_read"] for step in json.load(file)["steps"] if step["origin"] == "conv2_f")
    s.check(f"what stays is read again: {read}", 0 < read["kept"] < read["again"])
    again = tools.run([os.path.join(s.bin, "pbc"), MODEL, "--target=simnpu", *OUTSIDE, f"--plan={s.path('edited.txt')}", "--emit=plan"])
    s.check("what stays is not printed", re.search(r"k3 = .*x_kept = 2", again))
    k3 = line_of(s.text, "k3")
    s.refuses("all of it stays", edited("x_kept = 3 : i64, "), 2405, k3)
    s.refuses("no number of copies", edited("x_kept = 1 : i64, ").replace("x_depth = 1 : i64, x_kept", "x_depth = 2 : i64, x_kept"), 2405, k3)
    s.refuses("no band around x", edited("x_kept = 1 : i64, ", "x_level = 0"), 2405, k3)
    s.refuses("a band of results around x", edited("x_kept = 1 : i64, ", "x_level = 1"), 2405, k3)


def numbers_of(plan, field):
    return [int(n) for n in re.search(field + r" = array<i64:?([^>]*)>", plan).group(1).split(",") if n.strip()]


def random_edit(text, rng):
    """One number of one plan changed to a small one; now and then a band more or less, or two bands swapped. Of a kernel of
    several stages either the shared loops' part or one stage's is a plan."""
    lines = text.split("\n")
    at = rng.choice([k for k, line in enumerate(lines) if line.startswith("k")])
    begin, end = rng.choice([m.span() for m in re.finditer(r"\{[^{}]*(\}|(?=\{))", lines[at])])
    plan = lines[at][begin:end]
    bands, extents = numbers_of(plan, "bands"), numbers_of(plan, "extents")
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(4)
        if kind == 0:
            name = rng.choice(["x_level", "w_level", "result_level", "x_depth", "w_depth", "result_depth", "copies", "x_kept"])
            if name == "x_kept" and name not in plan:
                plan = plan.replace("x_level = ", "x_kept = 0 : i64, x_level = ", 1)
            plan = re.sub(f"\\b{name} = \\d+", f"{name} = {rng.choice([0, 1, 1, 2, 2, 3, 4])}", plan)
        elif kind == 1 and extents:
            dim = rng.randrange(len(extents))
            place = 2 * rng.randint(0, len(bands) // 2)
            bands[place:place] = [dim, rng.choice([n for n in range(1, extents[dim] + 1) if extents[dim] % n == 0])]
        elif kind == 2 and bands:
            place = 2 * rng.randrange(len(bands) // 2)
            del bands[place:place + 2]
        elif len(bands) > 2:
            a, b = 2 * rng.randrange(len(bands) // 2), 2 * rng.randrange(len(bands) // 2)
            bands[a:a + 2], bands[b:b + 2] = bands[b:b + 2], bands[a:a + 2]
    new = "bands = array<i64" + (": " + ", ".join(map(str, bands)) if bands else "") + ">"
    lines[at] = lines[at][:begin] + re.sub(r"bands = array<i64[^>]*>", new, plan) + lines[at][end:]
    return "\n".join(lines), lines[at]


def random_cases(s, count, rng):
    for _ in range(count):
        text, line = random_edit(s.text, rng)
        status, said = s.compile(text)
        if status == 0:
            s.carried_out += 1
            wrong = s.computes()
            s.check(f"{wrong}: {line}", wrong is None)
        else:
            s.refused += 1
            s.check(f"exit code {status}: {said}: {line}", status == 1 and re.search(r"edited.txt:\d+:\d+: .*\[PB24\d\d\]", said))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        s = Session(args.bin, folder)
        fixed_cases(s)
        random_cases(s, args.count, random.Random(args.seed))
    print(f"{args.count} random edits: {s.carried_out} carried out, {s.refused} refused; {s.failures} failures")
    return int(s.failures != 0)


if __name__ == "__main__":
    sys.exit(main())
