"""Engines for two targets: chips that lack an instruction leave what needs it to the processor (--fallback=cpu). The
digits network must come out bit for bit on all of them, and the report must say what ran where and why.

    fallback.py --bin BUILD/bin [--images 360]
"""

import argparse
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from reference import Reference  # noqa: E402

MODEL = os.path.join(tools.MODELS, "digits.onnx")

# What tinynpu loses, and the nodes that the processor must then run.
LACKS = {
    "QNT": {"image_q"},
    "ADDC": {"sum_f"},
    "MAXC": {"maxpool_f"},
    "SUMC": {"pool_f"},
    "REQ": {"conv1_f", "conv2_f", "conv3_f", "pool_f", "fc_f"},
    "MUL": {"conv1_f", "conv2_f", "conv3_f", "fc_f"},
}


def without(text, name):
    """The description without one instruction."""
    shorter = re.sub(rf"def {name} : .*?\n}}\n", "", text, flags=re.S)
    assert shorter != text, name
    return shorter


def run_one(bin_dir, folder, lacks, text, images, expected):
    """The problems of one chip."""
    chip, engine, report, output = (os.path.join(folder, f"{lacks}.{end}") for end in ("td", "pbe", "json", "npy"))
    with open(chip, "w", encoding="utf-8") as file:
        file.write(text)
    command = [os.path.join(bin_dir, "pbc"), MODEL, f"--target={chip}", "-o", engine]
    alone = tools.call(command, 60)
    problems = [] if alone.returncode == 1 and "PB40" in alone.stderr else ["not refused without a fall-back"]
    told = tools.call(command + ["--fallback=cpu", f"--report={report}"], 60)
    if told.returncode:
        return problems + [told.stderr]
    with open(report, encoding="utf-8") as file:
        steps = [step for step in json.load(file)["steps"] if "since" in step]
    left = {step["node"] for step in steps}
    if left != LACKS[lacks]:
        problems.append(f"left {sorted(left)}, not {sorted(LACKS[lacks])}")
    if not all("cpu" in step["runs_on"] and "PB40" in step["since"] for step in steps):
        problems.append("the report gives no reason")
    if told.stderr.count("[PB4063]") != len({step["kernel"] for step in steps}):
        problems.append("not every kernel that was left is a warning")
    tools.run_engine(bin_dir, engine, "machine", images, output)
    wrong = np.count_nonzero(np.load(output).reshape(expected.shape).view(np.int32) != expected.view(np.int32))
    if wrong:
        problems.append(f"{wrong} logits differ")
    native = tools.call([os.path.join(bin_dir, "pb-run"), engine, "--device=native", "--input", images], 60)
    if native.returncode != 1 or "PB5027" not in native.stderr:
        problems.append("runs without its chip")
    return problems


def rows_and_products():
    """Rows at numbers that come at run time, a product of f32 by them, and a softmax: simnpu runs all of it in several steps."""
    rng = np.random.default_rng(1)
    consts = [onnx.numpy_helper.from_array(v, name) for name, v in (("table", rng.standard_normal((50, 32)).astype(np.float32)),
                                                                   ("w", rng.standard_normal((32, 24)).astype(np.float32)), ("least", np.array(0, np.int64)),
                                                                   ("most", np.array(49, np.int64)))]
    nodes = [onnx.helper.make_node("Clip", ["ids", "least", "most"], ["at"]), onnx.helper.make_node("Gather", ["table", "at"], ["x"]),
             onnx.helper.make_node("MatMul", ["x", "w"], ["scores"]), onnx.helper.make_node("Softmax", ["scores"], ["y"], axis=0)]
    graph = onnx.helper.make_graph(nodes, "rows_and_products", [onnx.helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, [20])],
                                   [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)], consts)
    return onnx.helper.make_model(graph, ir_version=8, opset_imports=[onnx.helper.make_opsetid("", 17)])


def runs_alone(bin_dir, folder):
    """What the chip runs without another target it runs with one: the same engine, no warning."""
    model, engines = os.path.join(folder, "alone.onnx"), []
    onnx.save(rows_and_products(), model)
    for more in ([], ["--fallback=cpu"]):
        engine = os.path.join(folder, f"alone{len(more)}.pbe")
        told = tools.call([os.path.join(bin_dir, "pbc"), model, "--target=simnpu", "-o", engine, *more], 60)
        if told.returncode or "PB4063" in told.stderr:
            return [told.stderr[-300:]]
        with open(engine, "rb") as file:
            engines.append(file.read())
    return [] if engines[0] == engines[1] else ["another engine"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--images", type=int, default=360, help="so many of them")
    args = parser.parse_args()
    reference = Reference(onnx.load(MODEL))
    inputs = np.load(os.path.join(tools.MODELS, "digits_images.npy"))[:args.images]
    expected = reference.run({reference.inputs[0]: inputs})[reference.outputs[0]].astype(np.float32)
    with open(os.path.join(tools.SOURCE, "tests", "chips", "tinynpu.td"), encoding="utf-8") as file:
        text = file.read()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        images = os.path.join(folder, "images.npy")
        np.save(images, inputs)
        for lacks in LACKS:
            problems = run_one(args.bin, folder, lacks, without(text, lacks), images, expected)
            failed += bool(problems)
            print(f"without {lacks}: {'; '.join(problems) or 'as expected'}")
        problems = runs_alone(args.bin, folder)
        failed += bool(problems)
        print(f"what the chip runs alone: {'; '.join(problems) or 'as expected'}")
        other = tools.call([os.path.join(args.bin, "pbc"), MODEL, "--target=simnpu", "--fallback=simnpu", "-o",
                                os.path.join(folder, "x.pbe")], 60)
        refused = other.returncode == 1 and "PB4061" in other.stderr
        print(f"a fall-back with queues: {'refused' if refused else 'taken'}")
    return int(failed or not refused)


if __name__ == "__main__":
    sys.exit(main())
