"""Random edits of the plans that were chosen: none of the legal ones is cheaper, by the compiler's own model, by more than a few per
cent, else the search did not look at it. What it does not try, and why, is named: UNTRIED.

    cheaper.py --bin BUILD/bin [--edits 50] [--seed 1] [--percent 2] [--nets digits,resnet18:int8:64,...] [--targets simnpu,...] [--show]

An edit changes one kernel, at one to three places: a loop's step, copies, the loop around a home, the order of loops, a loop more or
less. Edits of as many kernels as there are go to the compiler at once; those that it refuses are dropped one after the other.
"""

import argparse
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")

UNTRIED = {
    "order": "another order of loops: which of two sums is outside is cheaper by the banks that rows of a window lie in, which the model "
             "does not see",
    "again": "a home inside a loop that does not walk its operand: it is brought again, which the model takes to be hidden",
    "short": "a kernel of less than 500 cycles, in which latencies are most",
    "stages": "a stage's homes: which groups share a kernel is decided by plans before tensors stay on the chip",
}
SHORT = 500  # cycles: such a kernel waits more than it works
STILL = {"x": "columns", "w": "rows"}  # loops that bring the same again
KERNEL = re.compile(r"^(k\d+) {\n(.*?)^}\n", re.MULTILINE | re.DOTALL)
CYCLES = re.compile(r"// (\d+) cycles, bound")


def model_of(bin_dir, net):
    if net == "digits":
        return os.path.join(tools.MODELS, "digits.onnx")
    name, kind, size = net.split(":")
    return tools.network(bin_dir, name, kind, int(size), 1000)


class Plans:
    """The plans of one network for one target, and what the compiler makes of edited ones."""

    def __init__(self, bin_dir, model, target, folder):
        self.command = [os.path.join(bin_dir, "pbc"), model, f"--target={target}", "--emit=plan"]
        if target.endswith(".td"):
            self.command.append("--fallback=cpu")
        self.file = os.path.join(folder, "plan.txt")
        self.kernels = self.read(tools.run(self.command))
        self.cycles = {name: self.cost(text) for name, text in self.kernels.items()}

    @staticmethod
    def read(text):
        return {name: body for name, body in KERNEL.findall(text) if CYCLES.search(body)}

    @staticmethod
    def cost(text):
        return int(CYCLES.search(text).group(1))

    def judge(self, edited):
        """By kernel the cycles of its edited plan; what is refused is left out."""
        left = dict(edited)
        while left:
            lines, first = [], {}
            for name, body in left.items():
                first[len(lines) + 1] = name
                lines += f"{name} {{\n{body}}}".split("\n")
            with open(self.file, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
            result = tools.call([*self.command, f"--plan={self.file}"])
            if result.returncode == 0:
                now = self.read(result.stdout)
                return {name: self.cost(now[name]) for name in left}
            at = [int(n) for n in re.findall(r"plan\.txt:(\d+):\d+: error: .*\[PB24\d\d\]", result.stderr)]
            if not at:
                raise tools.Failed(self.command, result)
            del left[first[max(line for line in first if line <= at[0])]]
        return {}


def steps_of(extent, rng):
    """A step of a loop over so many: now and then any, else one that makes parts of nearly one size."""
    if extent < 2:
        return 1
    return rng.randint(1, extent - 1) if not rng.randrange(4) else -(-extent // rng.choice([k for k in range(2, extent + 1) if k < 9 or extent % k == 0]))


def edit(body, rng):
    """A plan with one to three places changed."""
    lines = [line for line in body.split("\n") if line.strip()]
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        loops = [k for k, line in enumerate(lines) if re.match(" *loop ", line)]
        homes = [k for k, line in enumerate(lines) if re.match(" *home ", line)]
        kind = rng.choice("ssccmmoal")
        if kind == "s" and loops:
            at = rng.choice(loops)
            extent = int(re.search(r"// of (\d+)", lines[at] + "// of 1").group(1))
            lines[at] = re.sub(r"step \d+", f"step {steps_of(extent, rng)}", lines[at])
        elif kind == "c" and homes:
            at = rng.choice(homes)
            lines[at] = re.sub(r"\d+ cop(y|ies)", f"{rng.choice([1, 2, 2, 3, 3, 4])} copies", lines[at])
        elif kind == "m" and homes:
            line = lines.pop(rng.choice(homes))
            same = [k for k, other in enumerate(lines) if re.match(" *(loop|home) ", other)]
            lines.insert(rng.choice(same) + rng.randrange(2) if same else 0, line)
        elif kind == "o" and len(loops) > 1:
            a, b = rng.sample(loops, 2)
            lines[a], lines[b] = lines[b], lines[a]
        elif kind == "a":
            tiles = [line for line in lines if "tile" in line and "//" in line]
            dims = re.findall(r"d(\d+) (\d+)", rng.choice(tiles)) if tiles else []
            dims = [(d, int(n)) for d, n in dims if int(n) > 1]
            same = [k for k, line in enumerate(lines) if re.match(" *(loop|home) ", line)]
            if dims and same:
                d, n = rng.choice(dims)
                lines.insert(rng.choice(same) + rng.randrange(2), f"  loop d{d} step {steps_of(n, rng)}")
        elif kind == "l" and loops:
            del lines[rng.choice(loops)]
    return "\n".join(lines) + "\n"


def untried(chosen, edited):
    """Why the search does not look at the edited plan; None: it should have."""
    def loops(body):
        return [(m[1], m[2]) for m in re.finditer(r"loop d(\d+) step (\d+)", body)]

    def still(body, operand):
        """Loops around the operand's first home that do not walk it."""
        before = body[:body.index(f"home {operand},")] if f"home {operand}," in body else ""
        return len(re.findall(rf"loop .*, {STILL[operand]}$", before, re.M))
    if "stage {" in chosen:
        return "stages"
    if Plans.cost(chosen) < SHORT:
        return "short"
    if loops(chosen) != loops(edited) and sorted(loops(chosen)) == sorted(loops(edited)):
        return "order"
    return "again" if any(still(edited, o) > still(chosen, o) for o in STILL) else None


def try_edits(plans, count, rng, found):
    """So many legal edits of plans: those that are cheaper go to found, by kernel and reason the cheapest."""
    legal = tried = 0
    while legal < count and tried < 40 * count:
        edited = {}
        for name in rng.sample(sorted(plans.kernels), min(len(plans.kernels), 8)):
            new = edit(plans.kernels[name], rng)
            if new != plans.kernels[name]:
                edited[name] = new
        tried += len(edited)
        for name, cycles in plans.judge(edited).items():
            legal += 1
            why = untried(plans.kernels[name], edited[name])
            if cycles < found.get((name, why), (plans.cycles[name],))[0]:
                found[name, why] = cycles, edited[name]
    return legal, tried


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--edits", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--percent", type=float, default=2)
    parser.add_argument("--nets", default="digits,resnet18:int8:64,mobilenetv2:int8:64")
    parser.add_argument("--targets", default="simnpu")
    parser.add_argument("--show", action="store_true", help="the plans that are cheaper")
    args = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for net in args.nets.split(","):
            for target in args.targets.split(","):
                plans, found = Plans(args.bin, model_of(args.bin, net), target, folder), {}
                legal, tried = try_edits(plans, args.edits, random.Random(args.seed), found)
                print(f"{net} for {os.path.basename(target)}: {len(plans.kernels)} plans, {legal} legal edits of {tried}")
                for (name, why), (cycles, text) in sorted(found.items(), key=str):
                    off = 100 * (plans.cycles[name] / cycles - 1)
                    if off <= args.percent:
                        continue
                    failures += why is None
                    print(f"{'untried' if why else 'CHEAPER'}: {name}: {cycles:,} cycles, the plan that was chosen {plans.cycles[name]:,} "
                          f"({off:.1f}% more){': ' + UNTRIED[why] if why else ''}")
                    if args.show:
                        print(f"chosen\n{plans.kernels[name]}edited\n{text}")
    return int(failures != 0)


if __name__ == "__main__":
    sys.exit(main())
