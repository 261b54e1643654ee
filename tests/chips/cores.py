"""Cores share kernels out: ResNet-18 on the four cores of fourcore.td has the bits of one core alone in so much less time,
all of them work, the time is predicted, and a plan that cores cannot share is refused. Where the port is narrow, a read that is for
several cores saves reads and time.

    cores.py --bin BUILD/bin [--size 224 --times 3.4]
"""

import argparse
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402

DIGITS = os.path.join(HERE, "..", "models", "digits.onnx")


def chip(name):
    return os.path.join(HERE, name + ".td")


def run(a, work, model, target):
    engine, output, stats, trace = (os.path.join(work, f) for f in ("m.pbe", "out.npy", "stats.json", "trace.json"))
    tools.compile_model(a.bin, model, target, engine, "--fallback=cpu")
    tools.run([os.path.join(a.bin, "pb-run"), engine, "--device=machine", "--input", "image=random:7", "--output", output,
               f"--stats={stats}", f"--trace={trace}"])
    events = json.load(open(trace))["traceEvents"]
    return np.load(output), json.load(open(stats)), {e["args"]["name"] for e in events if e["ph"] == "M"}


def check_speed(a, work):
    model = tools.network(a.bin, "resnet18", "int8", a.size, 1000)
    (one, alone, _), (four, shared, threads) = (run(a, work, model, chip(name)) for name in ("fourcore_1", "fourcore"))
    assert np.array_equal(one.view(np.int32), four.view(np.int32)), "four cores have other bits than one"
    cycles = [sum(s["cycles"] for s in stats["steps"]) for stats in (alone, shared)]
    told = sum(s["predicted_cycles"] for s in shared["steps"] if s["cycles"])
    times, off = cycles[0] / cycles[1], told / cycles[1] - 1
    print(f"resnet18 {a.size}x{a.size}: {cycles[0]:,} cycles on one core, {cycles[1]:,} on four: {times:.2f} times; predicted {100 * off:+.1f}%")
    queues = [f"{core}.{queue}" for core in range(4) for queue in ("LD", "WT", "MX", "OU")]
    assert threads == set(queues) and list(shared["total"]["busy"]) == queues, shared["total"]["busy"]
    assert min(shared["total"]["busy"].values()) > 0, shared["total"]["busy"]
    assert shared["peak_macs_per_cycle"] == 4 * alone["peak_macs_per_cycle"] == 1024
    assert times >= a.times and abs(off) <= 0.1


def check_broadcast(a, work):
    """On a port of 16 bytes a cycle, with reads for each core alone and for several."""
    alone, text = os.path.join(work, "narrow.td"), open(chip("fourcore")).read()
    assert "defvar Rate = 64;" in text
    open(alone, "w").write(text.replace("defvar Rate = 64;", "defvar Rate = 16;"))
    model, rows = tools.network(a.bin, "resnet18", "int8", a.size, 1000), []
    for target in alone, chip("fourcore_broadcast"):
        bits, stats, _ = run(a, work, model, target)
        cycles, told = (sum(s[k] for s in stats["steps"] if s["cycles"]) for k in ("cycles", "predicted_cycles"))
        rows.append((bits, stats["total"]["dram_read"], cycles))
        print(f"resnet18 {a.size}x{a.size}, {os.path.basename(target)}: {cycles:,} cycles, predicted {100 * (told / cycles - 1):+.1f}%, {rows[-1][1]:,} bytes read")
        assert abs(told / cycles - 1) <= 0.1
    (plain, read, longer), (same, less, sooner) = rows
    assert np.array_equal(plain.view(np.int32), same.view(np.int32)), "reads for several cores make other bits"
    assert less < 0.9 * read and sooner < 0.97 * longer


def check_many(a, work):
    """80 cores of six queues, 480 in all, against four of them: the same bits, sooner, as predicted; a read is for 32 at most."""
    few, text = os.path.join(work, "few.td"), open(chip("fourcore")).read()
    assert "let Max = 80;" in text
    open(few, "w").write("#define EIGHTY_CORES\n" + text.replace("let Max = 80;", "let Max = 4;"))
    model = tools.network(a.bin, "resnet18", "int8", 64, 1000)
    (one, alone, _), (all_of_them, shared, threads) = (run(a, work, model, target) for target in (few, chip("eightycore")))
    assert np.array_equal(one.view(np.int32), all_of_them.view(np.int32)), "80 cores have other bits than four"
    cycles = [sum(s["cycles"] for s in stats["steps"]) for stats in (alone, shared)]
    told = sum(s["predicted_cycles"] for s in shared["steps"] if s["cycles"])
    print(f"resnet18 64x64: {cycles[0]:,} cycles on four cores, {cycles[1]:,} on 80; predicted {100 * (told / cycles[1] - 1):+.1f}%")
    assert len(shared["total"]["busy"]) == 480 and threads >= {"0.LD", "15.MX"}, threads
    assert 1.6 * cycles[1] <= cycles[0] and abs(told / cycles[1] - 1) <= 0.1
    wide = os.path.join(work, "wide.td")
    open(wide, "w").write("#define BROADCAST\n" + text.replace("let Max = 4;", "let Max = 40;"))
    told = tools.call([os.path.join(a.bin, "pb-tdl"), "check", wide])
    assert told.returncode == 1 and "reads for several of 40 cores [PB3397]" in told.stderr, told.stderr


def pbc(a, *options):
    return tools.call([os.path.join(a.bin, "pbc"), DIGITS, f"--target={chip('fourcore')}", "--fallback=cpu", *options])


def check_plans(a, work):
    """Plans whose parts no chip of four cores can take."""
    path, plans = os.path.join(work, "plan.txt"), pbc(a, "--emit=plan").stdout
    plan = next(text for text in re.findall(r"^k\d+ {\n.*?^}\n", plans, re.MULTILINE | re.DOTALL) if "over core 4" in text)
    wrong = {" over core 5": ("PB2406", "not so many members of the level"),
             " over core 1": ("PB2406", "not so many members of the level"),
             " over thread 4": ("PB2406", "'core' is expected"),
             " over core 3": ("PB2405", "has not as many iterations as cores"),
             "": None}
    for share, why in wrong.items():
        open(path, "w").write(plan.replace(" over core 4", share, 1))
        told = pbc(a, f"--plan={path}", "-o", os.path.join(work, "no.pbe"))
        if why is None:
            assert told.returncode == 0, told.stderr
        else:
            assert told.returncode == 1 and all(word in told.stderr for word in why), (share, told.stderr)
    open(path, "w").write(re.sub(r"home (\w+), (\d+ cop\w+)", r"home \1, \2, inside 0", plan))
    told = pbc(a, f"--plan={path}", "-o", os.path.join(work, "no.pbe"))
    assert told.returncode == 1 and "outside all buffers" in told.stderr, told.stderr
    twice = re.sub(r"loop d\d step \d+ over core 4", r"\g<0>\n  \g<0>", plan, count=1)
    open(path, "w").write(twice)
    told = pbc(a, f"--plan={path}", "-o", os.path.join(work, "no.pbe"))
    assert told.returncode == 1 and "PB2405" in told.stderr, told.stderr
    print(f"{len(wrong)} plans: those that cores cannot share are refused")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--size", type=int, default=224)
    p.add_argument("--times", type=float, default=3.4)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        check_plans(a, work)
        check_speed(a, work)
        check_broadcast(a, work)
        check_many(a, work)


if __name__ == "__main__":
    main()
