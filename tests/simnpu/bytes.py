"""Bytes of DRAM that a layer of an int8 transformer reads and writes on the machine, kernel by kernel, against what it must:
each kernel's operands and results once; and the cycles that the plans predict against the machine's.

    bytes.py --bin BUILD/bin [--net bert,gpt2,vit,llama,gpt2-token] [--target simnpu] [--table]

The layer is what stands between the first norm and the product of the logits. The test fails where it moves more than its
limit times what it must, and where a kernel of the network is predicted more than 15% off, as tests/simnpu/cycles.py has it.
"""

import argparse
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
sys.path.insert(0, os.path.join(HERE, "..", "models"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import quantised_transformers  # noqa: E402

# ViT's 197 rows leave the accumulator's last rows free, and its last product reads its input once more for that.
# Of eight thousand columns in the Llama class' last product an eighth has room, and its norms read their rows twice.
LIMITS = {"bert": 1.1, "gpt2": 1.1, "vit": 1.2, "llama": 1.3, "gpt2-token": None}
PREDICTED_SHARE, PREDICTED_CYCLES = 0.15, 200
BITS = {"i8": 8, "i32": 32, "f32": 32}


def arguments(bin_dir, model, target):
    """By kernel: bytes of the arguments that lie in DRAM."""
    text = tools.run([os.path.join(bin_dir, "pbc"), model, f"--target={target}", "--emit=reside"])
    found = {}
    for name, given in re.findall(r"func\.func @(\w+)\((.*?)\) attributes \{pb\.kernel", text):
        found[name] = 0
        for shape, space in re.findall(r"memref<([\dxif]+)(, \"\w+\")?>", given):
            *extents, kind = shape.split("x")
            found[name] += 0 if space else int(np.prod([int(e) for e in extents])) * BITS[kind] // 8
    return found


def steps_of(bin_dir, model, target, feeds, folder):
    engine, stats = os.path.join(folder, "m.pbe"), os.path.join(folder, "s.json")
    tools.compile_model(bin_dir, model, target, engine)
    for name, array in feeds.items():
        np.save(os.path.join(folder, f"{name}.npy"), array)
    tools.run([os.path.join(bin_dir, "pb-run"), engine, "--device=machine", f"--stats={stats}",
               *(f"--input={name}={os.path.join(folder, name)}.npy" for name in feeds)], timeout=7200)
    with open(stats, encoding="utf-8") as file:
        return json.load(file)["steps"]


def layer_of(steps):
    """From the first norm on, up to the last product."""
    norm = next(k for k, s in enumerate(steps) if "norm" in s["origin"])
    logits = max(k for k, s in enumerate(steps) if "matmul" in s["origin"])
    return steps[norm:logits]


def mispredicted(net, steps):
    far = [s for s in steps if abs(s["predicted_cycles"] - s["cycles"]) > max(PREDICTED_SHARE * s["cycles"], PREDICTED_CYCLES)]
    for s in far:
        print(f"{net}, {s['kernel']} {s['origin'][:60]}: {s['predicted_cycles']} cycles predicted, {s['cycles']} on the machine FAILED")
    return len(far)


def account(args, net, folder):
    _, model, feeds = quantised_transformers.build(net, "layer", folder)
    least = arguments(args.bin, model, args.target)
    moved = must = 0
    steps = steps_of(args.bin, model, args.target, feeds, folder)
    for s in layer_of(steps):
        both = s["dram_read"] + s["dram_write"]
        moved += both
        must += least[s["kernel"]]
        if args.table:
            print(f"  {s['kernel']:6} {s['origin'][:44]:44} read {s['dram_read']:10} written {s['dram_write']:9} "
                  f"must {least[s['kernel']]:10} {both / least[s['kernel']]:.2f}  {s['cycles']} cycles")
    limit = LIMITS.get(net)
    failed = limit is not None and moved > limit * must
    print(f"{net}: {moved} bytes, {moved / must:.3f} times {must}" + (f"; at most {limit}" if limit else "")
          + (" FAILED" if failed else ""), flush=True)
    return failed + mispredicted(net, steps)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--net", default=",".join(LIMITS))
    parser.add_argument("--target", default="simnpu")
    parser.add_argument("--table", action="store_true", help="every kernel's bytes")
    args = parser.parse_args()
    failed = 0
    for net in args.net.split(","):
        with tempfile.TemporaryDirectory() as folder:
            failed += account(args, net, folder)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
