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
    return [k for k, line in enumerate(text.split("\n"), 1) if line.startswith(start + " ")][0]


def kernel(text, name):
    """The kernel's plan with its name and braces."""
    return re.search(rf"^{name} {{\n.*?^}}\n", text, re.MULTILINE | re.DOTALL).group()


def edit(text, name, *changes):
    """The first place of each pattern in the kernel's plan, replaced."""
    old = new = kernel(text, name)
    for pattern, instead in changes:
        new, count = re.subn(pattern, instead, new, count=1, flags=re.DOTALL)
        assert count, pattern
    return text.replace(old, new, 1)


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

    edited = edit(s.text, "k3", ("loop d0 step 1", "loop d1 step 2\n  loop d0 step 1"))  # two rows of the image at a time
    edited = edited.replace("// conv2_f\nk3", "\n\n// by hand\nk3")
    status, said = s.compile(edited)
    s.check(said, status == 0 and edited != s.text)
    wrong = s.computes()
    s.check(f"a legal edit: {wrong}", wrong is None)
    again = tools.run([os.path.join(s.bin, "pbc"), MODEL, "--target=simnpu", *OUTSIDE, f"--plan={s.path('edited.txt')}", "--emit=plan"])
    s.check("the edit was not carried out", re.search(r"loop d1 step 2 // of 4.*\n +loop d0 step 1", kernel(again, "k3")))
    s.check("tile was not worked out anew", "tile d0 1, d1 2, d2 4, d3 16, d4 1, d5 1, d6 16" in kernel(again, "k3"))
    only = kernel(edited, "k3")
    s.check("one kernel's plan alone is refused", s.compile(only)[0] == 0)

    k3 = line_of(s.text, "k3")
    homes, sums = "  home result, 2 copies\n", r" *home result, 2 copies\n"
    s.carries_out("a last tile that is smaller, all blocks inside the result's home", edit(s.text, "k3", (sums, ""), (
        "  loop d0 step 1", f"  loop d1 step 3\n{homes}  loop d0 step 1")))
    s.refuses("a step longer than its dim", edit(s.text, "k3", ("loop d0 step 1", "loop d1 step 5\n  loop d0 step 1")), 2405, k3)
    s.refuses("a home in more loops than there are", edit(s.text, "k3", ("home x, 1 copy", "home x, 1 copy, inside 9")), 2405, k3)
    s.refuses("a sum begun anew", edit(s.text, "k3", (sums, ""), ("\n}\n", f"\n{homes}}}\n")), 2405, k3)
    inside = edit(s.text, "k3", ("\n}\n", "\n  loop d1 step 2\n}\n"))
    s.carries_out("results inside their home", inside)
    deep = s.text.replace(kernel(s.text, "k4"), re.sub(r"\d+ cop(y|ies)", "64 copies", kernel(s.text, "k4")))
    s.refuses("buffers that do not fit", deep, 2405, line_of(s.text, "k4"))
    s.refuses("no home", edit(s.text, "k3", (sums, "")), 2406, k3 + kernel(s.text, "k3").count("\n") - 2)
    s.refuses("a home of weights that are none", edit(s.text, "k0", ("home x", "home w, 1 copy\n  home x")), 2405, line_of(s.text, "k0"))
    s.refuses("weights without a home", edit(s.text, "k3", (r" *home w, 1 copy\n", "")), 2405, k3)
    s.refuses("a home twice", edit(s.text, "k3", ("home w", "home w, 1 copy\n  home w")), 2406, k3 + 4)
    s.refuses("a home more than steps", edit(s.text, "k3", ("home x", "home x, 1 copy\n  home x")), 2405, k3)
    s.refuses("a result's home more than steps", edit(s.text, "k3", (sums, f"{homes}{homes}")), 2405, k3)
    s.refuses("half a copy", edit(s.text, "k3", ("home x, 1 copy", "home x, 1.5 copies")), 2406, k3 + 2)
    s.refuses("no number", edit(s.text, "k3", ("home x, 1 copy", "home x, copies")), 2406, k3 + 2)
    s.refuses("a number too long", edit(s.text, "k3", ("loop d0 step 1", "loop d0 step 99999999999999999999")), 2406, k3 + 4)
    s.refuses("an operand nobody knows", edit(s.text, "k3", ("home x", "home y, 1 copy\n  home x")), 2406, k3 + 2)
    s.refuses("a level nobody knows", edit(s.text, "k3", ("loop d0 step 1", "loop d0 step 1 over thread 2")), 2406, k3 + 4)
    stage_cases(s)
    kept_cases(s)
    pad_cases(s)
    last = s.text.count("\n") + 1
    s.refuses("a kernel that is not there", s.text + "k99 {}\n", 2404, last)
    s.refuses("a kernel twice", s.text + "k3 {}\n", 2403, last)
    s.refuses("no brace", s.text.replace("k3 {", "k3 ", 1), 2401, k3 + 2)
    s.refuses("no name", s.text.replace("k3 {", "{", 1), 2401, k3)
    s.refuses("a brace left open", "\n\nk3 {home x", 2401, 3)
    s.refuses("a brace that a comment has", "\n\nk3 { // }\n", 2401, 3)
    s.refuses("a fault in the third line of a plan", "k3 {\nhome x, 1 copy\n home w, }\n", 2406, 3)
    status, said = s.compile("// nothing\n")
    s.check(said, status == 0)


def stage_cases(s):
    """Plans of kernels of several stages: a convolution and a pooling by columns, and three stages that share no loop."""
    k2, k4 = line_of(s.text, "k2"), line_of(s.text, "k4")
    plan = kernel(s.text, "k2")
    last = plan[plan.rindex("    stage {"):-len("}\n")]  # the pooling's

    def with_plan(edited):
        return s.text.replace(plan, edited, 1)

    s.refuses("a stage taken out", with_plan(plan.replace(last, "", 1)), 2405, k2)
    s.refuses("a stage too many", with_plan(plan.replace(last, last + last, 1)), 2405, k2)
    s.refuses("far too many stages", with_plan(plan.replace(last, 30 * last, 1)), 2406, None)
    s.refuses("stages by another name", edit(s.text, "k4", ("stage {", "stages {")), 2406, k4 + 3)
    s.refuses("a stage that is no plan", with_plan(plan.replace(last, "1\n", 1)), 2406, k2 + plan[:plan.index(last)].count("\n"))
    s.refuses("the plan of one stage for several", with_plan(kernel(s.text, "k3").replace("k3", "k2", 1)), 2406, k2 + 2)
    s.refuses("the plan of several stages for one", s.text.replace(kernel(s.text, "k3"), plan.replace("k2", "k3", 1)), 2406, None)
    s.refuses("copies that nobody counts", edit(s.text, "k2", ("between, 2", "between, 65")), 2406, k2 + 3)
    s.refuses("a loop that is not shared", edit(s.text, "k2", ("loop d0", "loop d1")), 2406, k2 + 2)
    s.refuses("a step longer than the shared loop", edit(s.text, "k2", ("loop d0 step 1", "loop d0 step 99")), 2405, k2)
    s.refuses("results outside the shared loops", with_plan(plan.replace(
        last, re.sub(r"home result, \d copies", r"\g<0>, inside 0", last), 1)), 2405, k2)
    s.carries_out("two columns at a time",  # the convolution has a dim more, of the iteration's columns
                  edit(s.text, "k2", ("loop d0 step 1", "loop d0 step 2"), ("loop d4 step 1", "loop d5 step 1")))
    s.carries_out("one copy of what lies between", edit(s.text, "k2", ("between, 2 copies", "between, 1 copy")))
    s.carries_out("rows of the pooling one by one", with_plan(plan.replace(last, last.replace("home x", "loop d0 step 1\n      home x"), 1)))


def pad_cases(s):
    """The padded image row by row: the first and the last row are all border."""
    for what, change in (("a pad row by row", ("  home x", "  loop d1 step 1\n  home x")),
                         ("a pad row by row, results at once", (r"  home x, (.*?)\n(.*?)\n", r"\2\n  loop d1 step 1\n  home x, \1\n"))):
        s.carries_out(what, edit(s.text, "k1", change))
    s.refuses("an operand at once", edit(s.text, "k1", ("  home result", "  loop d1 step 1\n  home result")), 2405, line_of(s.text, "k1"))


def kept_cases(s):
    """conv2_f takes its image by lines of the window, once for each block of results: all of them each time, or but the last."""
    def edited(keeps, behind="loop d4 step 1"):
        home = f"home x, 1 copy{keeps}\n"
        return edit(s.text, "k3", (r" *home x, 1 copy\n", ""), (f"({behind}.*?)\n", rf"\1\n{home}"))
    read = {}
    for name, keeps in ("again", ""), ("kept", ", keeps 2"):
        s.carries_out(name, edited(keeps))
        tools.run([os.path.join(s.bin, "pb-run"), s.path("edited.pbe"), "--device=machine", "--input", s.path("x.npy"),
                   f"--stats={s.path('steps.json')}"])
        with open(s.path("steps.json"), encoding="utf-8") as file:
            read[name] = sum(step["dram_read"] for step in json.load(file)["steps"] if step["origin"] == "conv2_f")
    s.check(f"what stays is read again: {read}", 0 < read["kept"] < read["again"])
    again = tools.run([os.path.join(s.bin, "pbc"), MODEL, "--target=simnpu", *OUTSIDE, f"--plan={s.path('edited.txt')}", "--emit=plan"])
    s.check("what stays is not printed", "home x, 1 copy, keeps 2" in kernel(again, "k3"))
    k3 = line_of(s.text, "k3")
    s.refuses("all of it stays", edited(", keeps 3"), 2405, k3)
    s.refuses("no number of copies", edited(", keeps 1").replace("home x, 1 copy, keeps", "home x, 2 copies, keeps"), 2405, k3)
    s.refuses("no loop around x", edit(s.text, "k3", ("home x, 1 copy", "home x, 1 copy, keeps 1")), 2405, k3)
    s.refuses("a loop of results around x", edited(", keeps 1", "loop d0 step 1"), 2405, k3)


def random_edit(text, rng):
    """Numbers of one kernel's plan changed to small ones; now and then a loop more or less, or two lines that change places."""
    old = kernel(text, rng.choice(re.findall(r"^(k\d+) {", text, re.MULTILINE)))
    lines = old.split("\n")
    for _ in range(rng.randint(1, 3)):
        said = [k for k, line in enumerate(lines) if re.match(" *(loop|home) ", line)]
        at, other = rng.choice(said), rng.choice(said)
        kind = rng.choice([0, 0, 0, 1, 2, 3])
        if kind == 0:
            lines[at] = re.sub(r"\d+ cop(y|ies)|(?<=step )\d+", lambda m: f"{rng.choice([1, 1, 2, 2, 3, 4])}" + (" copies" if "cop" in m[0] else ""), lines[at])
            if "home" in lines[at] and "between" not in lines[at] and not rng.randrange(6):
                lines[at] += rng.choice([", keeps 1", ", keeps 2", ", inside 0", ", inside 1", ", inside 3"])
        elif kind == 1:
            lines.insert(at, f"  loop d{rng.randrange(6)} step {rng.choice([1, 1, 2, 3, 4, 8])}")
        elif kind == 2 and len(said) > 1:
            del lines[at]
        else:
            lines[at], lines[other] = lines[other], lines[at]
    new = "\n".join(lines)
    return text.replace(old, new, 1), new


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
