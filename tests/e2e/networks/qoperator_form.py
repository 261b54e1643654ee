"""The networks of static_quantiser.py in ONNX Runtime's QOperator form: compiled for both targets, equal bit for bit on
both, within a code of ONNX Runtime's results (graph optimisation off), and equal to the same network as QDQ where ONNX
Runtime makes the same of both.

    qoperator_form.py --bin BUILD/bin [--only TEXT] [--runs simnpu:machine,cpu:native]
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from float_graph import expected_of  # noqa: E402
from onnxruntime.quantization import QuantFormat  # noqa: E402
from static_quantiser import NETWORKS, main, quantised, results_of  # noqa: E402


def attention(g):
    """A head of attention, whose products have two computed operands."""
    x = g.input(1, 12, 32)
    q, k, v = (g.op("MatMul", x, g.const(g.draw(32, 16) / np.float32(6))) for _ in range(3))
    p = g.op("Softmax", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 2, 1])), axis=-1)
    y = g.op("Add", x, g.op("MatMul", g.op("MatMul", p, v), g.const(g.draw(16, 32) / np.float32(4))))
    y = g.op("Sigmoid", g.op("MatMul", y, g.const(g.draw(32, 64) / np.float32(6))))
    return g.op("LeakyRelu", g.op("MatMul", y, g.const(g.draw(64, 8) / np.float32(8))), alpha=0.1)


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
        forms = {form.name: quantised(network, signed, weights, folder, form) for form in (QuantFormat.QOperator, QuantFormat.QDQ)}
        steps = steps_of(onnx.load(forms["QOperator"][0]))
        for form, (path, feeds) in forms.items():
            wanted[form], made[form] = list(expected_of(onnx.load(path), feeds).values()), {}
            for run in args.runs.split(","):
                target, device = run.rsplit(":", 1)
                try:
                    made[form][target] = list(results_of(args, folder, path, feeds, steps, target, device).values())
                except tools.Failed as error:
                    problems.append(f"{form} {target}: {str(error)[-400:]}")
    for form in forms:
        problems += judge(form, made[form], wanted[form], steps) if made[form] else []
    if all((a == b).all() for a, b in zip(*wanted.values())):
        for target in made["QOperator"].keys() & made["QDQ"].keys():
            if any((a != b).any() for a, b in zip(made["QOperator"][target], made["QDQ"][target])):
                problems.append(f"{target} makes other codes of the QOperator form than of QDQ, ONNX Runtime the same")
    return [f"FAILED {name}: {problem}" for problem in problems]


if __name__ == "__main__":
    sys.exit(main((*NETWORKS, attention), check, "networks in the QOperator form"))
