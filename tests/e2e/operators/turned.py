"""Models whose images have their channels behind, each Conv and pool between two Transposes: right, and as many steps as the
form with channels in front has, which is what the Transposes cost that are left.

    turned.py --bin BUILD/bin"""

import argparse
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
sys.path.insert(0, os.path.join(tools.SOURCE, "bench"))
import layouts  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

BACK, FRONT = layouts.BEHIND, layouts.IN_FRONT


def graph(nodes, weights, outputs, shape=(1, 6, 7, 4)):
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs]
    made = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], values,
                             [numpy_helper.from_array(v, k) for k, v in weights.items() if any(k in n.input for n in nodes)])
    return onnx.shape_inference.infer_shapes(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))


def turned(name, source, to, order):
    return helper.make_node("Transpose", [source], [to], perm=order, name=name)


def conv(name, source, to, weights):
    return [turned(f"{name}_in", source, f"{name}_a", FRONT), helper.make_node("Conv", [f"{name}_a", weights], [f"{name}_b"], name=name),
            turned(f"{name}_out", f"{name}_b", to, BACK)]


def cases():
    """(name, model, steps at most)"""
    rng = np.random.default_rng(3)
    w, v = (rng.standard_normal((4, 4, 1, 1)).astype(np.float32) for _ in range(2))
    by_channel, number = rng.standard_normal(4).astype(np.float32), np.array(0.7, np.float32)
    weights = {"w": w, "v": v, "c": by_channel, "d": by_channel.reshape(1, 1, 1, 4), "n": number, "low": np.array(-1, np.float32),
               "rows": rng.standard_normal((7, 1)).astype(np.float32)}
    two = conv("first", "x", "p", "w")
    node = helper.make_node
    yield "numbers for each channel, and one for all", graph(
        [*two, node("Mul", ["p", "c"], ["q"], name="mul"), node("Sub", ["d", "q"], ["r"], name="sub"), node("Clip", ["r", "low", ""], ["s"], name="clip"),
         node("Div", ["s", "n"], ["t"], name="div"), *conv("last", "t", "y", "v")], weights, ["y"]), 4
    yield "numbers by another dim", graph([*two, node("Mul", ["p", "rows"], ["q"], name="mul"), *conv("last", "q", "y", "v")], weights, ["y"]), 5
    yield "what is read turned and not", graph(
        [*two, node("Relu", ["p"], ["q"], name="relu"), node("Add", ["q", "p"], ["r"], name="add"), *conv("last", "r", "y", "v"),
         node("Add", ["r", "x"], ["z"], name="mixed")], weights, ["y", "z", "r"]), 7
    yield "two that undo each other at the end", graph(
        [*two, node("Sigmoid", ["p"], ["q"], name="sigmoid"), turned("end", "q", "y", FRONT)], weights, ["y"]), 3


def steps(bin_dir, engine):
    return len(re.findall(r"^ *\d+: k\d+\(", tools.run([f"{bin_dir}/pb-objdump", engine, "--headers"]), re.M))


def check(bin_dir, folder, model):
    """How far the outputs are from ONNX Runtime's, and the engine's steps."""
    path, engine = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.pbe")
    onnx.save(model, path)
    tools.run([f"{bin_dir}/pbc", path, "--target=cpu", "-o", engine])
    info = model.graph.input[0]
    x = np.random.default_rng(5).standard_normal([d.dim_value for d in info.type.tensor_type.shape.dim]).astype(np.float32)
    np.save(os.path.join(folder, "x.npy"), x)
    names = [o.name for o in model.graph.output]
    tools.run([f"{bin_dir}/pb-run", engine, f"--input={info.name}={folder}/x.npy", *(f"--output={n}={folder}/{n}.npy" for n in names)])
    expected = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(names, {info.name: x})
    away = max(np.abs(np.load(f"{folder}/{n}.npy") - e).max() / np.abs(e).max() for n, e in zip(names, expected))
    return float(away), steps(bin_dir, engine)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = tools.Checks(args.bin, folder)
        for name, model, most in cases():
            away, count = check(args.bin, folder, model)
            bench.say(away <= 1e-5 and 0 < count <= most, f"{name}: {away:.2g} of the largest away, {count} steps of {most}")
        path = os.path.join(folder, "net.onnx")
        tools.run([sys.executable, os.path.join(tools.MODELS, "networks.py"), "--net", "resnet18", "--type", "f32", "--size", "64", "--classes", "10", "--out", path])
        plain = onnx.load(path)
        (_, front), (away, behind) = check(args.bin, folder, plain), check(args.bin, folder, layouts.channels_behind(plain))
        bench.say(away <= 1e-4 and 0 < behind <= front + 1, f"resnet18: {away:.2g} of the largest away, {behind} steps, {front} with channels in front")
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
