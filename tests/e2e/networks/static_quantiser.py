"""Small float networks quantised by ONNX Runtime's static quantiser, as its users do, with signed and with unsigned
codes, weights with zero points among them: compiled for two chips and equal to the NumPy reference bit for bit, whose
every layer is within one code of ONNX Runtime's (graph optimisation off).

    static_quantiser.py --bin BUILD/bin [--only TEXT] [--runs simnpu:machine,cpu:native]
"""

import argparse
import logging
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from float_graph import Graph  # noqa: E402
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static  # noqa: E402
from quantised_ops import differs  # noqa: E402
from random_codes import layers_apart  # noqa: E402
from reference import Reference  # noqa: E402

logging.disable(logging.WARNING)


class Samples(CalibrationDataReader):
    def __init__(self, feeds):
        rng = np.random.default_rng(1)
        draws = [{k: rng.standard_normal(v.shape).astype(np.float32) for k, v in feeds.items()} for _ in range(4)]
        self.left = iter([feeds, *draws])

    def get_next(self):
        return next(self.left, None)


def plain(g):
    """Convolutions, both kinds of pooling, a residual and two dense layers."""
    x = g.op("Relu", g.conv(g.input(1, 3, 16, 16), 3, 16, 3, pads=[1] * 4))
    x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.op("Relu", g.op("Add", g.conv(x, 16, 16, 3, pads=[1] * 4), x))
    x = g.op("AveragePool", g.conv(x, 16, 24, 3), kernel_shape=[2, 2], strides=[2, 2])
    x = g.op("Flatten", x)
    x = g.op("Relu", g.op("Gemm", x, g.const(g.draw(32, 216) / np.float32(15)), g.const(g.draw(32)), transB=1))
    return g.op("Gemm", x, g.const(g.draw(32, 10) / np.float32(6)), g.const(g.draw(10)))


def mobile(g):
    """Inverted residuals with Relu6, a squeeze-and-excite gate, a 1x1 head, a product by a matrix."""
    six = [g.const(np.float32(0)), g.const(np.float32(6))]
    x = g.op("Clip", g.conv(g.input(1, 3, 16, 16), 3, 16, 3, pads=[1] * 4, strides=[2, 2]), *six)
    y = g.op("Clip", g.conv(x, 16, 48, 1), *six)
    y = g.op("Clip", g.conv(y, 48, 48, 3, group=48, pads=[1] * 4), *six)
    gate = g.op("Clip", g.conv(g.op("GlobalAveragePool", y), 48, 48, 1), *six)
    x = g.op("Add", x, g.conv(g.op("Mul", y, gate), 48, 16, 1))
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    return g.op("MatMul", x, g.const(g.draw(16, 10)))


def branches(g):
    """Concatenated branches, groups, and images as outputs, two of them."""
    x = g.input(2, 8, 12, 10)
    a, b = g.op("Relu", g.conv(x, 8, 12, 1)), g.op("Relu", g.conv(x, 8, 20, 3, pads=[1] * 4))
    y = g.op("Concat", a, b, axis=1)
    y = g.op("Relu", g.conv(y, 32, 32, 3, group=8, pads=[1] * 4))
    return g.op("Add", y, g.conv(y, 32, 32, 1)), g.conv(y, 32, 5, 3)


def product(g):
    """A matrix product with its bias as an operator of its own, on rows of an image."""
    x = g.op("Relu", g.conv(g.input(1, 4, 8, 8), 4, 20, 3))
    x = g.op("Reshape", x, g.const(np.array([1, 20, 36], np.int64)))
    x = g.op("Relu", g.op("Add", g.op("MatMul", x, g.const(g.draw(36, 24))), g.const(g.draw(24))))
    return g.op("MatMul", x, g.const(g.draw(24, 10)))


NETWORKS = (plain, mobile, branches, product)


ONE, EACH, OFFSET = "by tensors", "by channels", "with zero points"


def quantised(network, signed, weights, folder, form=QuantFormat.QDQ):
    """The quantised model's file, and its inputs."""
    g = Graph(network.__name__)
    made = network(g)
    case = g.finish(*(made if isinstance(made, tuple) else (made,)))
    source, target = os.path.join(folder, "float.onnx"), os.path.join(folder, form.name + ".onnx")
    onnx.save(case.model, source)
    kind = QuantType.QInt8 if signed else QuantType.QUInt8
    quantize_static(source, target, Samples(case.feeds), quant_format=form, activation_type=kind,
                    weight_type=kind if weights == OFFSET else QuantType.QInt8, per_channel=weights == EACH,
                    extra_options={"WeightSymmetric": weights != OFFSET})
    return target, case.feeds


def check(args, name, network, signed, weights):
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        path, feeds = quantised(network, signed, weights, folder)
        model = onnx.load(path)
        results = Reference(model).run(feeds)
        expected = {o.name: results[o.name].astype(np.float32) for o in model.graph.output}
        apart, layer = layers_apart(model, feeds)
        if apart > 1:
            problems.append(f"the reference is {apart} codes from ONNX Runtime in {layer}")
        for run in args.runs.split(","):
            target, device = run.rsplit(":", 1)
            problems += compare(args, folder, path, feeds, target, device, expected)
    return [f"FAILED {name}: {problem}" for problem in problems]


def results_of(args, folder, path, feeds, names, target, device):
    """The compiled model's outputs by name."""
    engine = os.path.join(folder, "m.pbe")
    inputs = {key: os.path.join(folder, f"in-{key}.npy") for key in feeds}
    outputs = {key: os.path.join(folder, f"out{k}.npy") for k, key in enumerate(names)}
    for key, value in feeds.items():
        np.save(inputs[key], value)
    tools.compile_model(args.bin, path, target, engine)
    tools.run([os.path.join(args.bin, "pb-run"), engine, f"--device={device}",
               *(f"--input={key}={file}" for key, file in inputs.items()),
               *(f"--output={key}={file}" for key, file in outputs.items())])
    return {key: np.load(file) for key, file in outputs.items()}


def compare(args, folder, path, feeds, target, device, expected):
    try:
        results = results_of(args, folder, path, feeds, expected, target, device)
    except tools.Failed as error:
        told = [line for line in str(error).splitlines() if "error: " in line]
        return [f"{target} {device}: {'; '.join(told)[:400] or str(error)[-400:]}"]
    found = {key: differs(expected[key], result) for key, result in results.items()}
    return [f"{target} {device}: {key} {problem}" for key, problem in found.items() if problem]


def main(networks=NETWORKS, check=check, what="quantised networks"):
    """Checks each network in every form of codes and weights."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", default="simnpu:machine,cpu:native")
    args = parser.parse_args()
    failed = count = 0
    for network in networks:
        for signed in (True, False):
            for weights in (ONE, EACH, OFFSET):
                name = f"{network.__name__} {'int8' if signed else 'uint8'} {weights}"
                if args.only not in name:
                    continue
                problems = check(args, name, network, signed, weights)
                count, failed = count + 1, failed + bool(problems)
                if problems:
                    print("\n".join(problems), flush=True)
    print(f"{count} {what} on {args.runs}: {failed} failed")
    return int(failed > 0 or not count)


if __name__ == "__main__":
    sys.exit(main())
