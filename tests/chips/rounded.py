"""Networks of f32 on a chip whose products take floats of 16 or 8 bits: what --precision is compiled to, against ONNX Runtime that
rounds the same factors by its own Cast, and against the model as it is.

    rounded.py --bin BUILD/bin --target bf16npu.td [--precision bf16|f16|f8e4m3|f8e5m2] [--net resnet18 --size 64] [--fallback]

With --fallback the processor does what the chip refuses, which it must do in f32 as the model says.
"""

import argparse
import os
import sys
import tempfile

import floats  # its graphs, and what it needs
import numpy as np
import onnx
import tools
from float_graph import Graph, compare, expected_of
from onnx import TensorProto, helper, numpy_helper

CLOSE = 1e-5  # of the output's largest number: sums in another order, where one product follows another no more
# To the rounded network: a sum beside the middle between two numbers may go either way, 2^-8 of it in bf16, 2^-11 in f16 and 2^-3 or
# 2^-2 in 8 bits, where it is rarer, and what follows with it; to the network of f32: bf16 has 8 bits, f16 has 11, E4M3 4, E5M2 3.
NEAR = {"bf16": {"digits": (1e-3, 0.02), "resnet18": (2e-3, 0.01), "mobilenetv2": (2e-3, 0.02)},
        "f16": {"digits": (2e-4, 0.003), "resnet18": (3e-4, 0.0015), "mobilenetv2": (3e-4, 0.003)},
        "f8e4m3": {"digits": (1e-5, 0.13), "resnet18": (1e-3, 0.08)},
        "f8e5m2": {"digits": (1e-5, 0.25), "resnet18": (1e-3, 0.17)}}
EITHER = {"bf16": 2e-3, "f16": 3e-4, "f8e4m3": 1e-5, "f8e5m2": 1e-5}  # where a product follows another
CASTS = {"bf16": TensorProto.BFLOAT16, "f16": TensorProto.FLOAT16, "f8e4m3": TensorProto.FLOAT8E4M3FN, "f8e5m2": TensorProto.FLOAT8E5M2}
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models")
# Zeros that keep groups apart: infinity and NaN would pass them. What no channel fills MASK clears. The chip rounds to the
# nearest alone.
REFUSED = {"grouped": "PB4042", "floors": "PB4010",
           **{name: "PB4042" for name in floats.REFUSED if "depthwise" in name}}


def rounded(model, precision):
    """The model with both factors of its products cast and back."""
    made, nodes = onnx.ModelProto(), []
    made.CopyFrom(model)
    ends = {"saturate": 0} if precision.startswith("f8") else {}  # past the largest stands an infinity, or NaN
    if ends:
        made.opset_import[0].version, made.ir_version = max(19, made.opset_import[0].version), max(9, made.ir_version)
    casts = {}
    for node in made.graph.node:
        if node.op_type in ("Conv", "Gemm", "MatMul"):
            for k in range(2):
                name = node.input[k]
                if name not in casts:
                    casts[name] = name + ".rounded"
                    nodes += [helper.make_node("Cast", [name], [name + ".narrow"], to=CASTS[precision], **ends),
                              helper.make_node("Cast", [name + ".narrow"], [casts[name]], to=TensorProto.FLOAT)]
                node.input[k] = casts[name]
        nodes.append(node)
    del made.graph.node[:]
    made.graph.node.extend(nodes)
    return made


def dequantised(model):
    """A network of codes as one of f32: its weights in numbers, and no rounding in between."""
    consts = {c.name: numpy_helper.to_array(c) for c in model.graph.initializer}
    same, nodes, numbers = {}, [], {}
    for node in model.graph.node:
        inputs = [same.get(i, i) for i in node.input]
        if node.op_type == "DequantizeLinear" and node.input[0] in consts:
            codes, scale, zero = (consts[i] for i in node.input)
            shape = [-1 if scale.ndim and d == 0 else 1 for d in range(codes.ndim)]
            number = (codes.astype(np.float32) - zero.astype(np.float32).reshape(shape if zero.ndim else [1] * codes.ndim))
            numbers[node.output[0]] = number * scale.reshape(shape if scale.ndim else [1] * codes.ndim)
        elif node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            same[node.output[0]] = inputs[0]
        else:
            nodes.append(helper.make_node(node.op_type, inputs, node.output, name=node.name,
                                          **{a.name: helper.get_attribute_value(a) for a in node.attribute}))
    outputs = [o.name for o in model.graph.output]
    nodes += [helper.make_node("Identity", [same[o]], [o]) for o in outputs if o in same]
    used = {i for n in nodes for i in n.input}
    weights = [numpy_helper.from_array(np.asarray(v, np.float32) if k in numbers else v, k)
               for k, v in {**consts, **numbers}.items() if k in used]
    made = helper.make_model(helper.make_graph(nodes, "f32", model.graph.input, model.graph.output, weights),
                             opset_imports=list(model.opset_import))
    made.ir_version = model.ir_version
    return made


def compiled(args, folder, model, rounds=True):
    """What the names of its files begin with. Without `rounds` the model's own types alone say what is rounded."""
    stem = os.path.join(folder, "m")
    onnx.save(model, stem + ".onnx")
    tools.compile_model(args.bin, stem + ".onnx", args.target, stem + ".pbe", *([f"--precision={args.precision}"] if rounds else []),
                        *(["--fallback=cpu"] if args.fallback else []))
    return stem


def machine(args, stem, model, feeds):
    for name, value in feeds.items():
        np.save(f"{stem}-{name}.npy", value)
    outputs = [o.name for o in model.graph.output]
    tools.run([os.path.join(args.bin, "pb-run"), stem + ".pbe", "--device=machine",
               *(f"--input={t}={stem}-{t}.npy" for t in feeds), *(f"--output={t}={stem}-{t}.npy" for t in outputs)])
    return {t: np.load(f"{stem}-{t}.npy") for t in outputs}


def run_graph(args, folder, name):
    g = Graph(name)
    made = g.finish(*floats.CASES[name](g))
    try:
        actual = machine(args, compiled(args, folder, made.model), made.model, made.feeds)
    except tools.Failed as error:
        refused = name in REFUSED and f"[{REFUSED[name]}]" in str(error)
        return None if refused else str(error)[-400:]
    if name in REFUSED:
        return "is not refused any more: take it off the list"
    # Where a product follows another, one factor may have gone the other way.
    products = sum(n.op_type in ("Conv", "Gemm", "MatMul") for n in made.model.graph.node)
    expected = expected_of(rounded(made.model, args.precision), made.feeds)
    return "; ".join(f"{t} {w}" for t, v in expected.items()
                     if (w := compare(v, actual[t], CLOSE if products < 2 else EITHER[args.precision]))) or None


def run_network(args, folder):
    name = args.net or "digits"
    if args.net:
        model = onnx.load(tools.network(args.bin, args.net, "f32", args.size, 10))
        images = np.random.RandomState(5).randn(1, 3, args.size, args.size).astype(np.float32)
    else:
        model = dequantised(onnx.load(os.path.join(MODELS, "digits.onnx")))
        images = np.load(os.path.join(MODELS, "digits_images.npy"))[:100]
    feeds, output = {model.graph.input[0].name: images}, model.graph.output[0].name
    stem = compiled(args, folder, model)
    actual = np.concatenate([machine(args, stem, model, {model.graph.input[0].name: one[None]})[output] for one in images])
    failed = 0
    for reference, bound in zip((rounded(model, args.precision), model), NEAR[args.precision][name]):
        wanted = np.concatenate([expected_of(reference, {next(iter(feeds)): one[None]})[output] for one in images])
        apart = float(np.abs(actual - wanted).max() / np.abs(wanted).max())
        print(f"{name}: {apart:.1e} of the largest number from the network {'of f32' if reference is model else 'in ' + args.precision}, "
              f"at most {bound:.0e}")
        failed += not apart <= bound
    if not args.net:
        right = int((actual.argmax(1) == np.load(os.path.join(MODELS, "digits_labels.npy"))[:len(images)]).sum())
        print(f"{right} of {len(images)} digits read right")
        failed += right < 0.95 * len(images)
    return failed


def run_halves(args, folder):
    """A model whose tensors are f16: each operator rounds what it makes, and products take their factors as they are."""
    rng = np.random.RandomState(3)
    x, tensors, nodes, last = rng.randn(1, 32, 9, 7).astype(np.float16), {}, [], "x"
    layers = [("a", (64, 32, 3, 3), 1), ("b", (64, 64, 1, 1), 0)]
    expected = x
    for name, shape, pad in layers:
        w, b = (rng.randn(*s).astype(np.float16) for s in (shape, shape[:1]))
        w = (w / np.float16(16)).astype(np.float16)
        tensors.update({f"{name}.w": w, f"{name}.b": b})
        nodes += [helper.make_node("Conv", [last, f"{name}.w", f"{name}.b"], [name], pads=[pad] * 4),
                  helper.make_node("Relu", [name], [f"{name}.relu"])]
        last = f"{name}.relu"
        wide = np.pad(expected.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        windows = np.lib.stride_tricks.sliding_window_view(wide, shape[2:], axis=(2, 3))
        sums = np.einsum("nchwrs,ocrs->nohw", windows, w.astype(np.float64)).astype(np.float16)
        expected = np.maximum(sums + b.reshape(1, -1, 1, 1), np.float16(0))
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT16, s) for n, s in (("x", x.shape), (last, expected.shape))]
    graph = helper.make_graph(nodes, "halves", info[:1], info[1:], [numpy_helper.from_array(v, k) for k, v in tensors.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    failed = 0
    for rounds in (True, False):
        actual = machine(args, compiled(args, folder, model, rounds), model, {"x": x})[last]
        apart = float(np.abs(actual.astype(np.float64) - expected).max() / np.abs(expected.astype(np.float64)).max())
        how = f"--precision={args.precision}" if rounds else "as they are"
        print(f"tensors of f16, {how}: {apart:.1e} of the largest number apart, at most 1e-03, {actual.dtype}")
        failed += not apart <= 1e-3 or actual.dtype != np.float16 or not (actual > 0).any()
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--precision", default="bf16", choices=list(CASTS))
    parser.add_argument("--net")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--only", default="")
    parser.add_argument("--fallback", action="store_true")
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        if args.net:
            return int(run_network(args, folder) > 0)
        names = [name for name in floats.CASES if args.only in name]
        for name in names:
            wrong = run_graph(args, folder, name)
            failed += wrong is not None
            if wrong:
                print(f"FAILED {name}: {wrong}")
        print(f"{len(names)} graphs of f32 with products of {args.precision}: {failed} failed")
        failed += run_network(args, folder) + (run_halves(args, folder) if args.precision == "f16" else 0)
    return int(failed > 0 or not names)


if __name__ == "__main__":
    sys.exit(main())
