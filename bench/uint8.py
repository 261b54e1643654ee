"""Networks with uint8 activations and weights in int8 by channels, as ONNX Runtime's static quantiser writes them (QDQ): pb
against ONNX Runtime and OpenVINO, in turn, in one run.

    .venv-bench/bin/python bench/uint8.py --bin build/bin [--nets resnet50,mobilenetv2] [--threads 1,2]

A figure is the median over the rounds of medians, in ms; ratios are of the best peer's time, and of ONNX Runtime's where its sums
may not saturate, over pb's. A difference is that of a first output from that run's, of its largest number: pb's, ONNX Runtime's as
it comes, OpenVINO's. Without VNNI both peers add pairs of products in 16 bits. Prints Markdown.
"""

import logging
import os
import subprocess
import sys
import tempfile

import numpy as np
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

import networks
import peers

EXACT = "onnxruntime-exact"
PEERS = ["onnxruntime", EXACT, "openvino-f32", "openvino-bf16"]  # what is not quantised, in f32 or bf16
JUDGED = ["pb", "onnxruntime", "openvino-f32"]


class Samples(CalibrationDataReader):
    def __init__(self, feeds):
        self.left = [feeds, {name: -value if value.dtype == np.float32 else value for name, value in feeds.items()}]

    def get_next(self):
        return self.left.pop() if self.left else None


def write_model(path, net):
    networks.write_network(f"{path}.f32", f"{net}-f32")
    feeds = peers.model_feeds(f"{path}.f32")
    logging.disable(logging.WARNING)  # the quantiser's advice
    quantize_static(f"{path}.f32", path, Samples(feeds), QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8)
    peers.save_feeds(path, feeds)


def measure(args, path, who, threads, output):
    if who != "pb":
        return peers.seconds(who, threads, path, args.repeats, output)
    return peers.ours(args.bin, f"{path}.pbe", threads, peers.saved_feeds(path), args.repeats, "--output", output)


def row(args, folder, net):
    path, outputs = os.path.join(folder, f"{net}.onnx"), {who: os.path.join(folder, f"{who}.npy") for who in ["pb", *PEERS]}
    write_model(path, net)
    subprocess.run([f"{args.bin}/pbc", path, "--target=cpu", "-o", f"{path}.pbe"], check=True, capture_output=True)
    for threads in map(int, args.threads.split(",")):
        times = {who: [] for who in outputs}
        for _ in range(args.rounds):
            for who, output in outputs.items():
                times[who].append(measure(args, path, who, threads, output))
        middle = {who: sorted(t)[len(t) // 2] for who, t in times.items()}
        exact = np.load(outputs[EXACT]).ravel()
        apart = [np.abs(np.load(outputs[who]).ravel() - exact).max() / np.abs(exact).max() for who in JUDGED]
        best = min(middle[who] for who in PEERS)
        print(f"| {net} | {threads} | " + " | ".join(f"{1e3 * middle[who]:.3g}" for who in outputs) +
              f" | {best / middle['pb']:.2f} | {middle[EXACT] / middle['pb']:.2f} | " +
              " | ".join(f"{part:.1e}" for part in apart) + " |", flush=True)


def main():
    args = peers.arguments(__doc__, nets="resnet50,mobilenetv2", rounds=3, repeats=15)
    print(f"{peers.machine()}. ms.\n")
    print("| | threads | pb | " + " | ".join(PEERS) + " | ratio | of exact | " + " | ".join(f"{who} off" for who in JUDGED) +
          " |\n|---|--:|" + "--:|" * (len(PEERS) + 3 + len(JUDGED)))
    with tempfile.TemporaryDirectory() as folder:
        for net in args.nets.split(","):
            row(args, folder, net)


if __name__ == "__main__":
    sys.exit(main())
