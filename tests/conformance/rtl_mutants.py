#!/usr/bin/env python3
"""Faults of hardware: single ones in simnpu's RTL and in what writes the bits of commands. pb-target-test must find them, and name
the instruction of the first difference.

    rtl_mutants.py [--count 60] [--seed 1] [--need 58] [--first K] [--workers 1] [--only NUMBER,...] [--anew] [--results FILE] [--list]

A fault is one line in which an operator, a constant, a condition or a signal is another, or that is dropped, drawn by seed and number
as scripts/mutate draws. Four of five lie in the RTL, weighted by lines; one in the functions of ENCODER, which write the bits of
commands and tell the RTL where they stand. Each is built in a copy of the tree (build-mutate/): Verilator's model of 8 lanes, and
the suite where the encoder is another. The model's registers begin with random bits, as those of a chip do. The suite runs
twice, with DRAM as the description has it, and with latencies that are drawn; the first case that fails ends it.

What does not compile is drawn again. So is what changes no result of any legal program: rtl_equivalent.txt has each of those that
were drawn, with the reason; it is printed and not counted. What became of each fault is kept in build-mutate/, and a run goes on
where the last one ended, unless --anew forgets that. The exit code is 0 when at least --need of --count are found.
"""

import argparse
import json
import os
import random
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts"))
from mutate_draw import code_of, draw, places  # noqa: E402
from mutate_tree import ROOT, Place, run  # noqa: E402

FOLDER = os.path.join(ROOT, os.environ.get("PB_MUTATE_FOLDER", "build-mutate"))
RTL = "targets/simnpu/rtl/*.sv"
ABSENT = "targets/simnpu/rtl/simnpu_cells_systolic.sv"  # another form of the cells, which the model does not have
ENCODER = {"tdl/codec.c": ["set_bit", "pb_encode_tokens", "pb_encode", "pb_command_step"], "tdl/field.c": ["pb_field_code"],
           "tdl/sv.c": ["number", "print_queues", "in_one_piece", "print_instruction"]}
RUNS = ["powered=1", "powered=1,random=1,stall=20,seed=2"]  # options of the device
DECLARED = re.compile(r"\s*(?:(?:input|output|localparam)\s+)?(?:logic|queues_t|row_t|window_t|address_t|tag_t|float_t)\s*(?:\[[^\]]*\]\s*)?([a-z]\w*(?:\s*,\s*[a-z]\w*)+)\s*;")


def functions(lines, names):
    """The numbers of the lines of these functions: from the line that has a name and ends in { to the } in the first column."""
    inside, found = False, []
    for number, line in enumerate(lines):
        if re.match(r"[a-z].*\b(%s)\(.*[{}]\s*$" % "|".join(names), line):
            inside = True
        if inside:
            found.append(number)
        if line.startswith("}") or inside and line.rstrip().endswith("}") and not line.startswith(" "):
            inside = False
    return found


def signals_of(lines, number):
    """Lines with a signal in place of one that was declared with it, so of its width."""
    for line in lines:
        m = DECLARED.match(code_of(line))
        alike = re.split(r"\s*,\s*", m.group(1)) if m else []
        code = code_of(lines[number])
        for old in alike if lines[number] != line else []:
            at = [x for x in re.finditer(rf"(?<![\w.]){old}(?![\w(])", code) if re.search(r"[=(?!&|]", code[: x.start()])]
            for x in at:
                for new in alike:
                    if new != old:
                        yield code[: x.start()] + new + code[x.end():] + lines[number][len(code):], f"{old} became {new}"


def draw_signal(rng, files):
    while True:
        name, lines = rng.choices(files, [len(lines) for _, lines in files])[0]
        number = rng.randrange(len(lines))
        found = list(signals_of(lines, number))
        if found:
            return name, number, *rng.choice(found)


def draw_encoder(rng, files):
    """A fault as `draw` has it, in one of ENCODER's functions."""
    within = {name: set(functions(lines, ENCODER[name])) for name, lines in files}
    while True:
        fault = draw(rng, files)
        if fault[1] in within[fault[0]]:
            return fault


def fault_of(seed, number, rtl, encoder):
    rng = random.Random(f"{seed} {number}")
    kind = rng.randrange(10)
    name, at, text, what = draw_encoder(rng, encoder) if kind < 2 else draw_signal(rng, rtl) if kind < 4 else draw(rng, rtl)
    return {"number": number, "file": name, "line": at + 1, "was": dict(rtl + encoder)[name][at], "now": text, "what": what}


def equivalents():
    """Why a fault changes no result: by its file, its line and what that becomes. The file says a fault in four lines: the
    file's name, the line as it is, as it becomes, and the reason."""
    found = {}
    for block in open(os.path.join(HERE, "rtl_equivalent.txt")).read().split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if lines:
            name, was, now, why = lines
            found[name, was.strip(), now.strip()] = why
    return found


def judge(tree):
    """(what became of the fault: "found", "missed" or "unnamed"; the instruction or what else was said)"""
    suite = [os.path.join(tree.copy, tree.folder, "bin", "pb-target-test"), "simnpu:8", "--no-networks", "--first",
             "--device=" + os.path.join(tree.copy, tree.folder, "lib", "libsimnpu_rtl_8.so")]
    for options in RUNS:
        good, out = run([*suite, "--device-options=" + options], 900, cwd=tree.copy)
        if good:
            continue
        case = re.search(r"^FAILED +(\S+)", out, re.M)
        named = re.search(r"the first command that differs is (\w+)", out) or re.search(r"crashed .* before the chip is drained is (\w+)", out) or \
            re.search(r"^FAILED +encoding/(\w+)", out, re.M)
        behind = f", {case.group(1)}" if case else ""
        return ("found", named.group(1) + behind + f" ({options})") if named else ("unnamed", out[-300:].replace("\n", " "))
    return "missed", ""


def try_fault(fault, place, lines):
    """None: it does not compile."""
    tree, path, at = place.tree("build-suite"), os.path.join(place.copy, fault["file"]), fault["line"] - 1
    try:
        with open(path, "w") as file:
            file.writelines(lines[:at] + [fault["now"]] + lines[at + 1:])
        built, _ = tree.timed("building", ["ninja", "-C", tree.folder, f"-j{tree.jobs}", *tree.targets], 1800)
        return judge(tree) if built else None
    finally:
        with open(path, "w") as file:
            file.writelines(lines)


class Campaign:
    def __init__(self, args, rtl, encoder):
        self.args, self.rtl, self.encoder, self.lines, self.known = args, rtl, encoder, dict(rtl + encoder), equivalents()
        self.number, self.lock, self.told, self.under_way = args.first, threading.Lock(), {}, 0
        self.kept = args.results or os.path.join(FOLDER, f"rtl-{args.seed}.jsonl")
        if os.path.exists(self.kept) and args.anew:
            os.remove(self.kept)
        if os.path.exists(self.kept) and not args.only:
            self.told = {told["number"]: told for told in map(json.loads, open(self.kept)) if self.is_here(told)}

    def is_here(self, told):
        """Whether the fault is still the one of that number; what was missed is tried again."""
        fault = fault_of(self.args.seed, told["number"], self.rtl, self.encoder)
        return all(told[key] == fault[key] for key in fault) and told["how"] not in ("missed", "unnamed")

    def why_equivalent(self, fault):
        return self.known.get((fault["file"], fault["was"].strip(), fault["now"].strip()))

    def counted(self):
        return sum(told["how"] in ("found", "missed", "unnamed") for told in self.told.values())

    def take(self):
        with self.lock:
            if self.args.only is not None:
                return fault_of(self.args.seed, self.args.only.pop(0), self.rtl, self.encoder) if self.args.only else None
            while self.number in self.told:
                self.number += 1
            if self.counted() + self.under_way >= self.args.count:
                return None
            self.number += 1
            self.under_way += 1
            return fault_of(self.args.seed, self.number - 1, self.rtl, self.encoder)

    def keep(self, fault, how, said, seconds):
        told = {**fault, "how": how, "said": said, "seconds": round(seconds)}
        with self.lock:
            self.told[fault["number"]] = told
            self.under_way -= 1
            if not self.args.only:
                os.makedirs(os.path.dirname(self.kept), exist_ok=True)
                with open(self.kept, "a") as file:
                    file.write(json.dumps(told) + "\n")
            print_fault(told)

    def work(self, place):
        while fault := self.take():
            start, why = time.monotonic(), self.why_equivalent(fault)
            how, said = ("equivalent", why) if why else try_fault(fault, place, self.lines[fault["file"]]) or ("not built", "")
            self.keep(fault, how, said, time.monotonic() - start)

    def run(self):
        workers = [Place(FOLDER, k, 1) for k in range(self.args.workers)]
        with ThreadPoolExecutor(len(workers)) as pool:
            for done in [pool.submit(self.work, place) for place in workers]:
                done.result()


def print_fault(told):
    if told["how"] == "not built":
        return
    print(f"{told['number']:3} {told['how']:10} {told['file']}:{told['line']}: {told['what']}: {told['said']}", flush=True)
    if told["how"] in ("missed", "unnamed"):
        print(f"-{told['was']}+{told['now']}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--count", type=int, default=60)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--need", type=int, default=58)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--only", help="these numbers alone, whatever was found before")
    p.add_argument("--anew", action="store_true", help="what became of faults before is forgotten")
    p.add_argument("--results")
    p.add_argument("--list", action="store_true")
    args = p.parse_args()
    args.only = [int(number) for number in args.only.split(",")] if args.only else None
    rtl, encoder = ([(name, open(os.path.join(ROOT, name)).read().splitlines(keepends=True)) for name in places(which) if name != ABSENT]
                    for which in ([RTL], ENCODER))
    if args.list:
        for number in range(args.first, args.first + args.count):
            fault = fault_of(args.seed, number, rtl, encoder)
            print(f"{number} {fault['file']}:{fault['line']}: {fault['what']}\n-{fault['was']}+{fault['now']}", end="")
        return 0
    campaign = Campaign(args, rtl, encoder)
    old = list(campaign.told.values())
    for told in old:
        print_fault(told)
    campaign.run()
    found = sum(told["how"] == "found" for told in campaign.told.values())
    print(f"seed {args.seed}: {campaign.counted()} faults, {found} found and named; besides "
          f"{sum(told['how'] == 'equivalent' for told in campaign.told.values())} that change no result")
    return int(found < min(args.need, campaign.counted()) if campaign.counted() < args.need else found < args.need)


if __name__ == "__main__":
    sys.exit(main())
