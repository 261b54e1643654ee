"""Mistakes put into the PTX that engines carry, one at a time: barriers that are not there, indices and masks that are others,
launches of other sizes, too few registers. --target=amdgpu: into the words of code objects, waits instead of barriers (gcn.py). Each is a fault of the machine that names the kernel, or changes a value, which
pb-run --compare tells with the kernel; or it changes nothing: no fault and every tensor of every step equal, in all schedules.
A barrier, or a wait, that is not there must be a fault where it is not needless: values alone are luck.

    mutants.py --bin BUILD/bin --driver FILE.so [--target nvgpu] [--every N] [--seed N] [--list]

Nothing is random but the sample: the barriers of ten kernels and fifty of each other kind as the seed draws them, of those each N-th."""

import argparse
import os
import random
import re
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
sys.path.insert(0, os.path.join(HERE, ".."))
import exported  # noqa: E402
import gcn  # noqa: E402
import networks  # noqa: E402
import transformers  # noqa: E402

NETS = "bert", "lstm", "gpt2_token"
OPERATORS = "conv_3x3", "max_pooling", "residual"
KERNELS, OTHERS = 10, 50  # kernels whose barriers go, mutants of each other kind
SCHEDULES = "schedule=early", "schedule=late", "schedule=random,seed=7"
MUST_FAULT = "barrier", "wait"  # values alone are luck
BARRIER = re.compile(r"\b(bar\.(warp\.)?sync|barrier(\.cta)?\.sync)\b")
SHUFFLE = re.compile(r"\bshfl\.sync\b.*, (-1);$")


def models(folder):
    for name in OPERATORS:
        path = os.path.join(tools.MODELS, "operators", f"{name}.onnx")
        yield name, path, [("", path.replace(".onnx", "_in.npy"))]
    for name in NETS:
        nets = exported.NETS if name in exported.NETS else transformers.NETS
        yield name, *networks.built(folder, name, nets)


def other_number(line, draw):
    """An index or an address by another number."""
    address = re.search(r"\[(%rd?\d+)(?:\+(-?\d+))?\]", line)
    if address and re.search(r"\b(ld|st)\.(global|shared|local)", line):
        moved = int(address.group(2) or 0) + draw.choice([-4096, -128, -4, 4, 128, 4096, 1 << 20])
        return line.replace(address.group(0), f"[{address.group(1)}+{moved}]")
    index = re.match(r"\s*(add\.s64|add\.s32|shl\.b64|shl\.b32|mul\.wide\.u32|mad\.wide\.u32|mul\.lo\.s64)\b.*, (-?\d+);$", line)
    if index:
        return line[: index.start(2)] + str(int(index.group(2)) + draw.choice([-1, 1, 2])) + ";"
    return None


def other_mask(line, draw):
    if SHUFFLE.search(line):
        return line.replace(", -1;", f", {draw.choice([0x7fffffff, 0xffff, 0xfffffffe])};")
    guard = re.match(r"(\s*)@(!?)(%p\d+) (.*)$", line)
    if guard:
        return f"{guard.group(1)}@{'' if guard.group(2) else '!'}{guard.group(3)} {guard.group(4)}"
    compared = re.match(r"(\s*setp\.)(lt|le|gt|ge|eq|ne)(\.[subs]\d+\b.*)$", line)
    if compared:
        others = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq"}
        return compared.group(1) + others[compared.group(2)] + compared.group(3)
    return None


def fewer_registers(line, draw):
    counted = re.match(r"(\s*\.reg \.\w+ +%\w+<)(\d+)(>;.*)$", line)
    return f"{counted.group(1)}{max(1, int(counted.group(2)) - draw.choice([1, 2, 3]))}{counted.group(3)}" if counted else None


def mutants_of(kernel, lines, launch, draw):
    """(kind, kernel, what, what the driver is told)"""
    for number, line in enumerate(lines):
        if BARRIER.search(line):
            yield "barrier", kernel, line.strip(), f"line {kernel} {number}"
        for kind, make in (("index", other_number), ("mask", other_mask), ("registers", fewer_registers)):
            changed = make(line, draw)
            if changed:
                yield kind, kernel, f"{line.strip()} -> {changed.strip()}", f"line {kernel} {number}{changed}"
    yield from launches_of(kernel, launch)


def launches_of(kernel, launch):
    blocks, threads = launch
    for b, t in ((blocks + 1, threads), (blocks - 1, threads), (blocks, threads * 2), (blocks, threads // 2), (2 * blocks, threads)):
        if b > 0 and t > 0:
            yield "launch", kernel, f"{b} blocks of {t} threads, not {blocks} of {threads}", f"launch {kernel} {b} {t}"


def kernels_of(bin_dir, engine):
    """(entry, its lines, (blocks, threads)) of each."""
    names = re.findall(r"^kernel (\S+):", tools.run([os.path.join(bin_dir, "pb-objdump"), engine]), re.MULTILINE)
    for name in names:
        part = tools.run([os.path.join(bin_dir, "pb-objdump"), engine, f"--kernel={name}"])
        facts = re.search(r"grid, (\d+) blocks of (\d+) threads, entry (\w+)", part)
        entry = part.find(f".entry {facts[3]}(")
        yield facts[3], part[entry:].split("\n") if entry >= 0 else [], (int(facts[1]), int(facts[2]))


def mutants(args, engine, draw):
    kernels = list(kernels_of(args.bin, engine))
    if args.target.startswith("nvgpu"):
        return [one for kernel in kernels for one in mutants_of(*kernel, draw)]
    return [*gcn.mutants(engine, draw), *(one for name, _, launch in kernels for one in launches_of(name, launch))]


def judge(run, mutant, path):
    """"fault", "values", each with the kernel's name; the same "behind" it, where another kernel, or the host, takes what was not
    written, or shows first that it is another value; "nothing"; else what is wrong."""
    kind, kernel, _, line = mutant
    with open(path, "w", encoding="utf-8") as file:
        file.write(line + "\n")
    for schedule in SCHEDULES if kind in MUST_FAULT else SCHEDULES[:1]:
        done = run(schedule)
        if not done.returncode:
            continue
        said = done.stderr.strip()
        if done.returncode == 1 and re.search(rf"kernel {kernel}\b.*\[PB600[23]\]|\b{kernel}\b.*\[PB6003\]", said):
            return "fault"
        if done.returncode == 1 and re.search(rf"kernel {kernel.removeprefix('pb_')} of .* is the first that differs.*\[PB5061\]", said):
            return "values"
        if done.returncode == 1 and re.search(r"kernel pb_\w+, line.*never written \[PB6002\]|copy_out.*never written \[PB6001\]", said):
            return "fault behind"
        if done.returncode == 1 and "is the first that differs" in said:
            return "values behind"
        return f"exit code {done.returncode}: {said[-300:]}"
    return "nothing"


class Model:
    def __init__(self, args, folder, name, path, inputs):
        self.args, self.name = args, name
        self.engine, self.mutant = os.path.join(folder, f"{name}.pbe"), os.path.join(folder, "mutant")
        tools.run([os.path.join(args.bin, "pbc"), path, f"--target={args.target}", "-o", self.engine])
        self.given = [word for i, p in inputs for word in ("--input", f"{i}={p}" if i else p)]

    def run(self, schedule):
        options = f"--device-options=mutant={self.mutant},limit=20000000,{schedule}"
        return tools.call([os.path.join(self.args.bin, "pb-run"), self.engine, f"--device={self.args.driver}", options, "--compare=machine",
                           *self.given], timeout=120)


def sample(found, args):
    """Of the barriers those of so many kernels, of each other kind so many; of them each N-th."""
    draw = random.Random(args.seed)
    for kind in sorted({mutant[0] for _, mutant in found}):
        of_kind = [one for one in found if one[1][0] == kind]
        draw.shuffle(of_kind)
        if kind == "barrier":
            kernels = list(dict.fromkeys((model.name, mutant[1]) for model, mutant in of_kind))[:KERNELS]
            of_kind = [one for one in of_kind if (one[0].name, one[1][1]) in kernels]
        else:
            of_kind = of_kind[:OTHERS]
        yield from of_kind[:: args.every]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--target", default="nvgpu")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="say what came of each")
    args = parser.parse_args()
    os.environ["PB_PTXAS"] = ""  # the machine runs the text
    counts, good, draw = Counter(), True, random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        made = [Model(args, folder, *model) for model in models(folder)]
        found = [(m, one) for m in made for one in mutants(args, m.engine, draw)]
        for model, one in sample(found, args):
            what = judge(model.run, one, model.mutant)
            right = what in ("fault", "nothing") or (one[0] not in MUST_FAULT and what in ("values", "values behind", "fault behind"))
            counts[one[0], what if right else "wrong"] += 1
            good &= right
            if not right or args.list:
                print(f"{model.name}, {one[1]}: {one[0]}: {one[2]}: {what}", flush=True)
    for kind in sorted({k for k, _ in counts}):
        print(f"{kind}: " + ", ".join(f"{n} {what}" for (k, what), n in sorted(counts.items()) if k == kind))
    return int(not good or not counts)


if __name__ == "__main__":
    sys.exit(main())
