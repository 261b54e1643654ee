"""The networks of bench/zoo.py as ONNX Runtime's static quantiser leaves them (QDQ, uint8 activations, int8 weights by channels): on
cpu beside ONNX Runtime, and on the machine model of simnpu.

    python bench/zoo.py --export --models DIR
    .venv-bench/bin/python bench/zoo_int8.py --models DIR [--bin build/bin] [--nets lcnet_050,...] [--rounds 2] [--most 45]

takes the files of DIR up to so many MB, with the inputs beside them. One thread, batch 1; a figure is the median over the rounds of
medians, in ms, and the ratio ONNX Runtime's time over pb's. `pb` and `theirs` under cosine: of the outputs with the network's in f32, for pb and for ONNX Runtime
without its optimisations of graphs; codes that differ by one grow from layer to layer, so that outputs say little alone. simnpu:
millions of cycles on the machine, and the share of its peak, where its output is the cpu's; what it refuses first, and, of the network
with --fallback=cpu, the same behind how many of its kernels the cpu runs. Prints Markdown.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

import peers
import zoo
from uint8 import Samples

SCALE_OFF = 1e-4  # outputs leave as f32, which cores and queues make of the same codes by the same operations


def quantise(source, path):
    feeds = zoo.feeds_of(source)
    quant_pre_process(source, f"{path}.pre", skip_symbolic_shape=True)
    quantize_static(f"{path}.pre", path, Samples(feeds), QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8)
    return feeds


def cosine(a, b):
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    return a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-300)


def run(args, engine, source, output, *more):
    given = [f"--input={value}" for value in peers.saved_feeds(source)]
    subprocess.run([f"{args.bin}/pb-run", engine, *given, f"--output={output}", *more], check=True, capture_output=True)
    return np.load(output)


def on_simnpu(args, path, source, expected):
    command = [f"{args.bin}/pbc", path, "--target=simnpu", "-o", f"{path}.npu"]
    made, refused = subprocess.run(command, capture_output=True, text=True), ""
    if made.returncode:
        refused = made.stderr.strip().splitlines()[0].replace(f"{path}: ", "").replace("error: ", "")
        made = subprocess.run([*command, "--fallback=cpu"], capture_output=True, text=True)
        if made.returncode:
            return refused
        refused += f"; {len(re.findall(': runs on cpu', made.stderr))} on cpu: "
    y = run(args, f"{path}.npu", source, f"{path}.y.npy", f"--stats={path}.json")
    with open(f"{path}.json", encoding="utf-8") as file:
        steps = json.load(file)
    cycles, macs = (sum(step[what] for step in steps["steps"]) for what in ("cycles", "macs"))
    if np.abs(y - expected).max() > SCALE_OFF * max(np.abs(expected).max(), 1e-30):
        return f"{refused}another result than the cpu's"
    return f"{refused}{cycles / 1e6:.2f}, {100 * macs / max(cycles * steps['peak_macs_per_cycle'], 1):.0f}%"


def row(args, source, folder):
    name = os.path.splitext(os.path.basename(source))[0]
    path = os.path.join(folder, f"{name}.onnx")
    feeds = quantise(source, path)
    os.symlink(f"{os.path.abspath(source)}.inputs", f"{path}.inputs")  # where peers look for them
    subprocess.run([f"{args.bin}/pbc", path, "--target=cpu", "-o", f"{path}.pbe"], check=True, capture_output=True)
    ours, theirs = run(args, f"{path}.pbe", source, f"{path}.y.npy"), zoo.session(path).run(None, feeds)[0]
    exact = zoo.session(source).run(None, feeds)[0]
    times = {"pb": [], "onnxruntime": []}
    for _ in range(args.rounds):
        times["pb"].append(peers.ours(args.bin, f"{path}.pbe", 1, peers.saved_feeds(source), args.repeats))
        times["onnxruntime"].append(peers.seconds("onnxruntime", 1, path, args.repeats))
    pb, peer = (np.median([one for one in t if one] or np.nan) * 1e3 for t in times.values())  # a peer may refuse
    print(f"| {name} | {pb:.2f} | {peer:.2f} | {peer / pb:.2f} | {cosine(ours, exact):.3f} | {cosine(theirs, exact):.3f} "
          f"| {on_simnpu(args, path, source, ours)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--models", required=True)
    parser.add_argument("--nets", type=lambda text: text.split(","), default=[])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--most", type=float, default=45)
    args = parser.parse_args()
    print(f"{peers.machine()}.\n\n| network | pb | onnxruntime | ratio | cosine, pb | theirs | simnpu |\n|---|--:|--:|--:|--:|--:|--|")
    for source in sorted(glob.glob(f"{args.models}/*.onnx")):
        name = os.path.splitext(os.path.basename(source))[0]
        if (args.nets and name not in args.nets) or os.path.getsize(source) > args.most * 1e6:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                row(args, source, folder)
            except Exception as error:  # pylint: disable=broad-exception-caught; quantisers raise what they like
                said = getattr(error, "stderr", None) or str(error).encode()
                print(f"| {name} | {said.decode(errors='replace').strip().splitlines()[-1].replace(f'{folder}/', '')[:200]} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
