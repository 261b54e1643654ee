"""The networks of static_quantiser.py in ONNX Runtime's QOperator form: compiled for both targets, equal bit for bit on
both, within a code of ONNX Runtime's results (graph optimisation off), and equal to the same network as QDQ where ONNX
Runtime makes the same of both.

    qoperator_form.py --bin BUILD/bin [--only TEXT] [--runs simnpu:machine,cpu:native]
"""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from float_graph import Graph, expected_of  # noqa: E402
from onnxruntime.quantization import QuantFormat, QuantType, quantize_static  # noqa: E402
from static_quantiser import EACH, NETWORKS, ONE, OFFSET, Samples  # noqa: E402


def attention(g):
    """A head of attention, whose products have two computed operands."""
    x = g.input(1, 12, 32)
    q, k, v = (g.op("MatMul", x, g.const(g.draw(32, 16) / np.float32(6))) for _ in range(3))
    p = g.op("Softmax", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 2, 1])), axis=-1)
    y = g.op("Add", x, g.op("MatMul", g.op("MatMul", p, v), g.const(g.draw(16, 32) / np.float32(4))))
    y = g.op("Sigmoid", g.op("MatMul", y, g.const(g.draw(32, 64) / np.float32(6))))
    return g.op("LeakyRelu", g.op("MatMul", y, g.const(g.draw(64, 8) / np.float32(8))), alpha=0.1)


def quantised(network, signed, weights, folder):
    """The files of both forms, and the inputs."""
    g = Graph(network.__name__)
    made = network(g)
    case = g.finish(*(made if isinstance(made, tuple) else (made,)))
    source = os.path.join(folder, "float.onnx")
    onnx.save(case.model, source)
    kind = QuantType.QInt8 if signed else QuantType.QUInt8
    forms = {}
    for form in QuantFormat.QOperator, QuantFormat.QDQ:
        forms[form.name] = os.path.join(folder, form.name + ".onnx")
        quantize_static(source, forms[form.name], Samples(case.feeds), quant_format=form, activation_type=kind,
                        weight_type=kind if weights == OFFSET else QuantType.QInt8, per_channel=weights == EACH,
                        extra_options={"WeightSymmetric": weights != OFFSET})
    return forms, case.feeds


def results_of(args, folder, path, feeds, names, target, device):
    engine = os.path.join(folder, "m.pbe")
    inputs = {key: os.path.join(folder, f"in-{key}.npy") for key in feeds}
    outputs = [os.path.join(folder, f"out{k}.npy") for k in range(len(names))]
    for key, value in feeds.items():
        np.save(inputs[key], value)
    tools.compile_model(args.bin, path, target, engine)
    tools.run([os.path.join(args.bin, "pb-run"), engine, f"--device={device}",
               *(f"--input={key}={file}" for key, file in inputs.items()),
               *(f"--output={key}={file}" for key, file in zip(names, outputs))])
    return [np.load(file) for file in outputs]


def steps_of(model):
    """By output: a code's worth, as the DequantizeLinear that makes it says."""
    numbers = {c.name: onnx.numpy_helper.to_array(c) for c in model.graph.initializer}
    makers = {o: n for n in model.graph.node for o in n.output}
    return {o.name: float(numbers[makers[o.name].input[1]]) for o in model.graph.output}


def judge(form, made, wanted, steps):
    """What is wrong with the results of a form by target."""
    problems = []
    for target, results in made.items():
        for name, y, right, step in zip(steps, results, wanted, steps.values()):
            off = np.abs(y - right).max() / step
            if off > 1.001:
                problems.append(f"{form} {target}: {name} is {off:.1f} codes from ONNX Runtime")
    first, *others = made.items()
    for target, results in others:
        if any((a != b).any() for a, b in zip(first[1], results)):
            problems.append(f"{form}: {target} makes other codes than {first[0]}")
    return problems


def check(args, name, network, signed, weights):
    problems, made, wanted = [], {}, {}
    with tempfile.TemporaryDirectory() as folder:
        forms, feeds = quantised(network, signed, weights, folder)
        steps = steps_of(onnx.load(forms["QOperator"]))
        for form, path in forms.items():
            wanted[form], made[form] = list(expected_of(onnx.load(path), feeds).values()), {}
            for run in args.runs.split(","):
                target, device = run.rsplit(":", 1)
                try:
                    made[form][target] = results_of(args, folder, path, feeds, list(steps), target, device)
                except tools.Failed as error:
                    problems.append(f"{form} {target}: {str(error)[-400:]}")
    for form in forms:
        problems += judge(form, made[form], wanted[form], steps) if made[form] else []
    if all((a == b).all() for a, b in zip(*wanted.values())):
        for target in made["QOperator"].keys() & made["QDQ"].keys():
            if any((a != b).any() for a, b in zip(made["QOperator"][target], made["QDQ"][target])):
                problems.append(f"{target} makes other codes of the QOperator form than of QDQ, ONNX Runtime the same")
    return [f"FAILED {name}: {problem}" for problem in problems]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", default="simnpu:machine,cpu:native")
    args = parser.parse_args()
    failed = count = 0
    for network in (*NETWORKS, attention):
        for signed in (True, False):
            for weights in (ONE, EACH, OFFSET):
                name = f"{network.__name__} {'int8' if signed else 'uint8'} {weights}"
                if args.only not in name:
                    continue
                problems = check(args, name, network, signed, weights)
                count, failed = count + 1, failed + bool(problems)
                if problems:
                    print("\n".join(problems), flush=True)
    print(f"{count} networks in the QOperator form on {args.runs}: {failed} failed")
    return int(failed > 0 or not count)


if __name__ == "__main__":
    sys.exit(main())
