"""Whether the random graphs of a seed draw every shape that they are there for.

    random_drawn.py --type int8|f32 --count 150 [--seed 1]

Each shape is looked for in the finished models, not in what the generator meant to draw: a change of the generator that
loses one would leave random_graphs.py passing. Nothing is compiled or run.
"""

import os
import argparse
import collections
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from random_codes import CodesDrawing  # noqa: E402
from random_floats import FloatsDrawing  # noqa: E402

BOTH = ["height of 1", "width of 1", "pads in front alone", "pads behind alone", "stride over kernel", "dilation with stride",
        "several inputs", "several outputs", "shared value", "unused value", "1 channel", "over 1,024 channels"]
WANTED = {"f32": BOTH, "int8": [*BOTH, "int8 and uint8 mixed", "uint8 alone", "int8 alone", "scales per channel"]}


def model_of(kind, seed, number):
    """As random_graphs.py draws it."""
    rng = random.Random(f"{kind} {seed} {number}")
    name = f"random{seed}_{number}"
    if kind == "int8":
        return CodesDrawing(rng, name).finish()[0].model()
    return FloatsDrawing(rng, name).finish()[0].model


def of_windows(nodes, consts):
    for node in nodes:
        attrs = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        kernel = attrs.get("kernel_shape")
        if node.op_type == "Conv" and not kernel and node.input[1] in consts:
            kernel = consts[node.input[1]].shape[2:]
        if not kernel or "strides" not in attrs:
            continue
        pads, dilations = attrs.get("pads", [0] * 4), attrs.get("dilations", [1, 1])
        for d, stride in enumerate(attrs["strides"]):
            if pads[d] and not pads[2 + d]:
                yield "pads in front alone"
            if pads[2 + d] and not pads[d]:
                yield "pads behind alone"
            if stride > kernel[d]:
                yield "stride over kernel"
            if dilations[d] > 1 and kernel[d] > 1 and stride > 1:
                yield "dilation with stride"


def of_values(graph, consts):
    reads = collections.Counter(name for node in graph.node for name in node.input if name not in consts)
    made = [name for node in graph.node for name in node.output if name] + [info.name for info in graph.input]
    outputs = {info.name for info in graph.output}
    if max(reads.values()) > 1:
        yield "shared value"
    if any(not reads[name] and name not in outputs for name in made):
        yield "unused value"
    if len(graph.input) > 1:
        yield "several inputs"
    if len(graph.output) > 1:
        yield "several outputs"


def of_codes(graph, consts):
    kinds = {consts[node.input[2]].dtype for node in graph.node if node.op_type == "QuantizeLinear"}
    if kinds:
        yield "int8 and uint8 mixed" if len(kinds) > 1 else f"{kinds.pop()} alone"
    weights = [node for node in graph.node if node.op_type == "DequantizeLinear" and node.input[0] in consts
               and consts[node.input[0]].ndim > 1]  # of one dim: biases
    if any(len(set(consts[node.input[1]].flat)) > 1 for node in weights):
        yield "scales per channel"


def of_images(graph):
    for info in graph.input:
        shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        if shape[2] == 1:
            yield "height of 1"
        if shape[3] == 1:
            yield "width of 1"
        if shape[1] == 1:
            yield "1 channel"
        if shape[1] > 1024:
            yield "over 1,024 channels"


def drawn(model):
    graph = model.graph
    consts = {init.name: onnx.numpy_helper.to_array(init) for init in graph.initializer}
    consts |= {node.output[0]: np.asarray(onnx.numpy_helper.to_array(node.attribute[0].t)) for node in graph.node
               if node.op_type == "Constant" and node.attribute[0].name == "value"}
    return {*of_windows(graph.node, consts), *of_values(graph, consts), *of_codes(graph, consts), *of_images(graph)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", help="as the other scripts have it; not used")
    parser.add_argument("--type", choices=["int8", "f32"], required=True)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    counts = collections.Counter()
    for number in range(args.count):
        counts.update(drawn(model_of(args.type, args.seed, number)))
    for shape in WANTED[args.type]:
        print(f"{counts[shape]:4} of {args.count} {args.type} graphs: {shape}")
    missing = [shape for shape in WANTED[args.type] if not counts[shape]]
    if missing:
        print(f"FAILED: no {args.type} graph of seed {args.seed} has: {', '.join(missing)}")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
