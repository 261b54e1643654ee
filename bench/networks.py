"""Networks on this machine, batch 1: pb against ONNX Runtime and OpenVINO, in processes of their own, interleaved.

    .venv-bench/bin/python bench/networks.py --bin build/bin [--nets resnet18-f32,resnet50-int8] [--peers onnxruntime]

Models come from tests/models/networks.py and exported.py (seeded weights). Also convolutions alone, as models of one layer. A figure is
the median over the rounds of medians, in ms; the ratio is the best peer's time over pb's. Prints Markdown.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import peers

NETS = ["resnet18-f32", "resnet50-f32", "mobilenetv2-f32", "vgg16-f32", "resnet18-int8", "resnet50-int8",
        "mobilenetv2-int8", "efficientnet-f32", "convnext-f32", "unet-f32", "lstm-f32"]
EXPORTED = "efficientnet", "convnext", "unet", "lstm"  # -f32
TRANSFORMERS = "bert", "distilbert", "vit", "gpt2", "gpt2_token", "llama"  # -f32
CONVOLUTIONS = [(64, 56), (128, 28), (256, 14), (512, 7)]
PEERS = ["onnxruntime", "openvino"]


def write_exported(path, net):
    """Those of tests/models/exported.py and transformers.py, whole."""
    sys.path.insert(0, os.path.join(peers.HERE, "..", "tests", "models"))
    import exported
    import transformers

    made = transformers.build(net, "full", transformers.NETS if net in TRANSFORMERS else exported.NETS)
    onnx.save(made.model(), path)
    peers.save_feeds(path, made.feeds)
    return peers.saved_feeds(path)


def write_network(path, name):
    net, kind = name.rsplit("-", 1)
    if net in (*EXPORTED, *TRANSFORMERS):
        return write_exported(path, net)
    script = os.path.join(peers.HERE, "..", "tests", "models", "networks.py")
    subprocess.run([sys.executable, script, "--net", net, "--type", kind, "--out", path], check=True,
                   capture_output=True)
    return ["image"]


def write_convolution(path, channels, edge):
    w = (np.random.RandomState(1).randn(channels, channels, 3, 3) / channels).astype(np.float32)
    shape = [1, channels, edge, edge]
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4, name="conv")], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
                              [helper.make_tensor("w", TensorProto.FLOAT, w.shape, w.tobytes(), raw=True)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), path)
    return ["x"]


def row(args, folder, name, write):
    model, engine = (os.path.join(folder, f"{name}.{kind}".replace(" ", "_")) for kind in ("onnx", "pbe"))
    inputs = write(model)
    subprocess.run([os.path.join(args.bin, "pbc"), model, "--target=cpu", "-o", engine], check=True,
                   capture_output=True)
    for threads in map(int, args.threads.split(",")):
        times = {key: [] for key in ["pb", *args.peers]}
        for _ in range(args.rounds):
            times["pb"].append(peers.ours(args.bin, engine, threads, inputs, args.repeats))
            for peer in args.peers:
                times[peer].append(peers.seconds(peer, threads, model, args.repeats))
        median = {key: np.median(t) if None not in t else None for key, t in times.items()}
        best = min(v for key, v in median.items() if key != "pb" and v)
        cells = [f"{v * 1e3:.2f}" if v else "–" for v in median.values()]
        print(f"| {name} | {threads} | " + " | ".join(cells) + f" | {best / median['pb']:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--peers", type=lambda text: text.split(","), default=PEERS)
    parser.add_argument("--no-convolutions", action="store_true")
    args = parser.parse_args()
    print(f"{peers.machine()}. ms a call, and the best peer's time over pb's.\n")
    print("| model | threads | pb | " + " | ".join(args.peers) + " | ratio |")
    print("|---|--:|--:|" + "--:|" * len(args.peers) + "--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in filter(None, args.nets.split(",")):
            row(args, folder, name, lambda path, name=name: write_network(path, name))
        for channels, edge in [] if args.no_convolutions else CONVOLUTIONS:
            row(args, folder, f"conv 3x3, {edge}²x{channels} f32",
                lambda path, c=channels, e=edge: write_convolution(path, c, e))


if __name__ == "__main__":
    sys.exit(main())
