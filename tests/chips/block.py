"""A BERT block on the chips of this folder: refused by the name of what the chip lacks, and with --fallback=cpu right,
bit for bit: by the NumPy reference, or, on a chip whose codes are made by another formula, by the processor that is asked to
be like it, its cycles near to those predicted. In int8; on a chip that multiplies bf16 in f32, near to ONNX Runtime. A good part of
a small block's kernels is their beginning and end, of which the prediction knows less (cores that share a port: 10% off).

    block.py --bin BUILD/bin [--chips gemmini,...] [--base]

A block of a few channels, or with --base one of BERT-base: 128 tokens of 768.
"""

import argparse
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), os.path.join(HERE, "..", "models")]
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import quantised_transformers as transformers  # noqa: E402
from reference import Reference  # noqa: E402
from reference_fixed import powers_of_two  # noqa: E402

SIZE = (32, 1, 128, 2, 64)  # tokens, layers, width, heads, classes: heads of 64, as BERT-base has them
BASE = (128, 1, 768, 12, 64)
# What the chip's paper does not have. With the processor's help it runs all products but those of attention.
REFUSED = ("softmax", "PB4048")
CHIPS = ("tinynpu", "gemmini", "gemmini_preload", "ascend", "edge_npu", "nvdla", "vta", "fourcore", "tpu_v1")
IN_BF16 = {"bf16npu": ("matmul", "PB4003")}  # attention's products, of two computed f32
NEAR = 0.02  # of the largest number: products by weights take 8 bits of both
WITHIN = {"small": 0.12, "base": 0.06}  # of the machine's cycles, all kernels on the chip together
OWN_FORMULA = {"edge_npu", "nvdla", "vta", "fourcore"}
ONLY_SHIFT = {"vta"}


def run(args, folder, engine, name, array, device):
    np.save(f"{folder}/x.npy", array)
    tools.run([os.path.join(args.bin, "pb-run"), engine, f"--device={device}", f"--input={name}={folder}/x.npy",
               f"--output={folder}/y.npy", f"--stats={folder}/stats.json"])
    return np.load(f"{folder}/y.npy"), json.load(open(f"{folder}/stats.json"))["steps"]


def told_of(steps):
    """The share of the products that the chip computed, how far its cycles' prediction is off, and the same in words."""
    there, all_of = (sum(s["macs"] for s in steps if s["cycles"] or everywhere) for everywhere in (False, True))
    took, said = (sum(s[what] for s in steps if s["cycles"]) for what in ("cycles", "predicted_cycles"))
    return there / all_of, abs(said / took - 1), f"{there / all_of:.0%} of the products on the chip, {took:,} cycles, predicted {100 * (said / took - 1):+.1f}%"


def what_is_wrong(args, share, off):
    if share <= 0.9:
        return "too few of its products"
    return "its prediction is too far off" if off > WITHIN["base" if args.base else "small"] else None


def judge_bf16(args, folder, chip, model, feeds):
    target = os.path.join(HERE, chip + ".td")
    pbc = [os.path.join(args.bin, "pbc"), model, f"--target={target}", "--precision=bf16", "-o", f"{folder}/m.pbe"]
    told, (operator, code) = tools.call(pbc), IN_BF16[chip]
    if told.returncode != 1 or f"error: {operator}" not in told.stderr or f"[{code}]" not in told.stderr:
        return f"is not refused by {operator}, {code}: {told.stderr[:300]}", None
    tools.run([*pbc, "--fallback=cpu"])
    (name, array), = feeds.items()
    got, steps = run(args, folder, f"{folder}/m.pbe", name, array, "machine")
    want = transformers.session_of(model).run(None, feeds)[0]
    apart = float(np.abs(got.reshape(want.shape) - want).max() / np.abs(want).max())
    share, off, did = told_of(steps)
    wrong = f"{apart:.1e} of the largest number off" if apart > NEAR else what_is_wrong(args, share, off)
    return wrong, f"{apart:.1e} off, {did}"


def judge(args, folder, chip, model, feeds):
    """What is wrong, or what the machine did."""
    target, graph = os.path.join(HERE, chip + ".td"), onnx.load(model)
    if chip in ONLY_SHIFT:
        graph, model = powers_of_two(graph), f"{folder}/powers.onnx"
        onnx.save(graph, model)
    (name, array), = feeds.items()
    pbc, engine = os.path.join(args.bin, "pbc"), f"{folder}/m.pbe"
    told = tools.call([pbc, model, f"--target={target}", "-o", engine])
    operator, code = REFUSED
    if told.returncode != 1 or f"error: {operator}" not in told.stderr or f"[{code}]" not in told.stderr:
        return f"is not refused by {operator}, {code}: {told.stderr[:300]}", None
    tools.run([pbc, model, f"--target={target}", "--fallback=cpu", "-o", engine])
    got, steps = run(args, folder, engine, name, array, "machine")
    if chip in OWN_FORMULA:
        tools.run([pbc, model, "--target=cpu", f"--like={target}", "-o", engine])
        want, _ = run(args, folder, engine, name, array, "native")
    else:
        reference = Reference(graph)
        want = reference.run(feeds)[reference.outputs[0]].astype(np.float32)
    different, (share, off, did) = int((got.reshape(want.shape) != want).sum()), told_of(steps)
    return f"{different} of {want.size} differ" if different else what_is_wrong(args, share, off), did


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--chips", default=",".join([*CHIPS, *IN_BF16]))
    parser.add_argument("--base", action="store_true")
    args = parser.parse_args()
    failed = 0
    transformers.NETS["block"] = (transformers.bert, {"small": BASE if args.base else SIZE})
    with tempfile.TemporaryDirectory() as folder:
        in_f32, model, feeds = transformers.build("block", "small", folder)
        for chip in args.chips.split(","):
            wrong, did = judge_bf16(args, folder, chip, in_f32, feeds) if chip in IN_BF16 else judge(args, folder, chip, model, feeds)
            failed += wrong is not None
            lacks = IN_BF16.get(chip, REFUSED)
            print(f"{chip}: refused by {' '.join(lacks)}; with the processor {wrong or 'right'}, {did}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
