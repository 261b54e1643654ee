"""What a prover of others, SentryWard, says of the PTX that engines carry: each kernel is race free, or it is named with what the
prover does not support. Rows of lanes that end a tensor lie over those in front of them, and both store the same, by relaxed
stores, which are no race: such stores it does not model. Of each kernel that waits the first wait is taken away, too: what it says
then is printed, and over all it must find some.

    prover.py --bin BUILD/bin [--nets bert,lstm,resnet18] [--timeout 60] [--most N]

Skipped where the Python package sentryward is not installed."""

import argparse
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
if not importlib.util.find_spec("sentryward"):
    print("skipped: the Python package sentryward is not installed")
    sys.exit(tools.SKIPPED)
sys.path[:0] = [HERE, os.path.join(HERE, "mutants")]
import exported  # noqa: E402
import mutants  # noqa: E402
import networks  # noqa: E402
import transformers  # noqa: E402

SOUND = "race_free", "unsupported", "timeout", "analysis_budget_exceeded"  # what it cannot tell it says
FOUND = "potential_race", "not_wellsynced"
STORE = re.compile(r"\bst\.(relaxed\.gpu\.)?global\b")


def prove(text, entry, launch, folder, timeout):
    """(result, what it lacked)"""
    ptx, about = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.json")
    with open(ptx, "w", encoding="utf-8") as file:
        file.write(text)
    with open(about, "w", encoding="utf-8") as file:
        json.dump({"schema": "spverify.kernel-input/v1", "entry": entry,
                   "launch": {"grid_dim": [launch[0], 1, 1], "block_dim": [launch[1], 1, 1]}}, file)
    done = subprocess.run([sys.executable, "-m", "sentryward", ptx, "--input", about, "--timeout", str(timeout)],
                          capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)
    codes = sorted({str(d.get("code")) for d in said.get("diagnostics") or []})
    return said["result"], ", ".join(codes)


def models(folder, names):
    for name in names:
        if name == "resnet18":
            yield name, networks.image_net(folder, name, "f32")[0]
        else:
            yield name, networks.built(folder, name, exported.NETS if name in exported.NETS else transformers.NETS)[0]


def without(text, entry, line):
    """The module without that line of the entry."""
    lines = text.split("\n")
    first = next(k for k, one in enumerate(lines) if f".entry {entry}(" in one)
    del lines[first + line]
    return "\n".join(lines)


def check(args, name, path, folder, counts):
    engine, good = os.path.join(folder, f"{name}.pbe"), True
    pbc = [os.path.join(args.bin, "pbc"), path, "--target=nvgpu"]
    tools.run([*pbc, "-o", engine])
    text = tools.run([*pbc, "--emit=asm"])
    kernels = list(mutants.kernels_of(args.bin, engine))
    random.Random(1).shuffle(kernels)
    for entry, lines, launch in kernels[: args.most]:
        result, lacks = prove(text, entry, launch, folder, args.timeout)
        waits = [k for k, line in enumerate(lines) if mutants.BARRIER.search(line)]
        changed = prove(without(text, entry, waits[0]), entry, launch, folder, args.timeout)[0] if waits and result == "race_free" else ""
        stores = [one for one in map(STORE.search, lines) if one]
        if result == "potential_race" and stores and all(one[1] for one in stores):
            result = "relaxed stores meet"
        good &= result in SOUND or result == "relaxed stores meet"
        counts[result] += 1
        counts[f"without a wait: {'found' if changed in FOUND else changed}"] += bool(changed)
        print(f"{name}, {entry}: {result}{': ' + lacks if lacks else ''}{'; without a wait: ' + changed if changed else ''}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--nets", default="bert,lstm,resnet18")
    parser.add_argument("--timeout", type=int, default=60)
    parser.add_argument("--most", type=int, default=10**9, help="kernels of a network")
    args = parser.parse_args()
    os.environ["PB_PTXAS"] = ""
    counts, good = Counter(), True
    with tempfile.TemporaryDirectory() as folder:
        for name, path in models(folder, args.nets.split(",")):
            good &= check(args, name, path, folder, counts)
    print(", ".join(f"{n} {what}" for what, n in counts.most_common() if n))
    return int(not good or not counts["race_free"] or not counts["without a wait: found"])


if __name__ == "__main__":
    sys.exit(main())
