"""ResNet-50 in f32, batch 1, in two forms: as ONNX has it, channels in front, and as exporters write a model whose images are
[N, H, W, C]: its own operators work on that, and each Conv and pool stands between two Transposes.

    .venv/bin/python bench/layouts.py --bin build/bin [--net resnet50] [--target cpu:v3] [--threads 1,2] [--rounds 7] [--most 1.1]

The forms run in turn; a figure is the median over the rounds of pb-run's medians, in ms. --most: the larger figure over the
smaller one may not be more. Prints Markdown; outputs must agree."""

import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "models"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "e2e"))
import numpy as np
import onnx
import tools
from onnx import helper

import peers

SPATIAL = "Conv", "MaxPool", "AveragePool", "GlobalAveragePool"
BEHIND, IN_FRONT = [0, 2, 3, 1], [0, 3, 1, 2]  # to channels behind, and back


def channels_behind(model):
    """The same model of images with their channels behind."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    graph = out.graph
    ranked = {v.name: len(v.type.tensor_type.shape.dim) for v in [*onnx.shape_inference.infer_shapes(model).graph.value_info, *graph.input, *graph.output]}
    weights = {t.name for t in graph.initializer}
    nodes = []
    for node in model.graph.node:
        new = onnx.NodeProto()
        new.CopyFrom(node)
        images = [k for k, name in enumerate(node.input) if name not in weights and ranked.get(name) == 4]
        flat = images and (node.op_type in SPATIAL or ranked.get(node.output[0]) != 4)  # what makes no image takes one as it was
        for k in images if flat else []:
            turned = f"{node.name or node.output[0]}_in{k}"
            nodes.append(helper.make_node("Transpose", [node.input[k]], [turned], perm=IN_FRONT, name=turned))
            new.input[k] = turned
        nodes.append(new)
        if node.op_type in SPATIAL:
            made = f"{node.output[0]}_chw"
            new.output[0] = made
            nodes.append(helper.make_node("Transpose", [made], [node.output[0]], perm=BEHIND, name=made + "_back"))
        elif images and node.op_type not in ("Relu", "Add", "Clip", "Identity", "Flatten", "Reshape", "ReduceMean"):
            raise SystemExit(f"{node.op_type} is not known to work on any order of dims")
    del graph.node[:]
    graph.node.extend(nodes)
    del graph.value_info[:]
    for value in graph.input:
        dims = value.type.tensor_type.shape.dim
        if value.name not in weights and len(dims) == 4:
            extents = [dims[k].dim_value for k in BEHIND]
            for dim, extent in zip(dims, extents):
                dim.dim_value = extent
    onnx.checker.check_model(out)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--net", default="resnet50")
    parser.add_argument("--size", default="224")
    parser.add_argument("--target", default="cpu:v3")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--most", type=float, default=1.1)
    parser.add_argument("--keep", metavar="FOLDER", help="where the models and the engines go")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        folder = args.keep or own
        os.makedirs(folder, exist_ok=True)
        first = os.path.join(folder, "nchw.onnx")
        tools.run([sys.executable, os.path.join(tools.MODELS, "networks.py"), "--net", args.net, "--type", "f32", "--size", args.size,
                   "--classes", "1000", "--out", first], timeout=600)
        model = onnx.load(first)
        onnx.save(channels_behind(model), os.path.join(folder, "nhwc.onnx"))
        shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        name, result, made = model.graph.input[0].name, model.graph.output[0].name, {}
        for form, data in (("nchw", x), ("nhwc", np.ascontiguousarray(x.transpose(BEHIND)))):
            np.save(os.path.join(folder, form), data)
            tools.run([f"{args.bin}/pbc", f"{folder}/{form}.onnx", f"--target={args.target}", "-o", f"{folder}/{form}.pbe"], timeout=600)
            tools.run([f"{args.bin}/pb-run", f"{folder}/{form}.pbe", f"--input={name}={folder}/{form}.npy", f"--output={result}={folder}/{form}_y.npy"])
            made[form] = np.load(f"{folder}/{form}_y.npy")
        away = np.abs(made["nchw"] - made["nhwc"]).max() / np.abs(made["nchw"]).max()
        if away > 1e-4:
            sys.exit(f"the forms' results are {away:.2g} of the largest apart")
        print(f"{peers.machine()}\n\n| threads | NCHW, ms | NHWC, ms | larger over smaller |\n|--:|--:|--:|--:|")
        worst = 0
        for threads in map(int, args.threads.split(",")):
            runs = {"nchw": [], "nhwc": []}
            for _ in range(args.rounds):
                for form, all_of in runs.items():
                    command = [os.path.join(args.bin, "pb-run"), f"{folder}/{form}.pbe", f"--input={name}={folder}/{form}.npy", "--repeat=9", f"--threads={threads}"]
                    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                    all_of.append(1e3 * peers.told(text, "median"))
            a, b = (float(np.median(all_of)) for all_of in runs.values())
            worst = max(worst, a / b, b / a)
            print(f"| {threads} | {a:.2f} | {b:.2f} | {max(a / b, b / a):.2f} |", flush=True)
    return int(worst > args.most)


if __name__ == "__main__":
    sys.exit(main())
