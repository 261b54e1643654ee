"""Weights of few values: networks whose tensors of weights have 15, 16 or 17 values each, on chips whose commands make weights of codes of
4 bits and a palette of 16 (edge_npu_palette.td). The machine's bits are those of the same weights as bytes, on the processor that is asked to
be like the chip and on the chip without such commands; the weights take half of the bytes, in the engine and at the memory's port, and the
network fewer cycles. The zeros that fill lanes are a value too: of 16 values only what fills its lanes is taken so, of 17 nothing.

    palette.py --bin BUILD/bin [--net resnet18 --size 224]

With a network, that one alone instead of the digits: its bits, and what the chip takes for it with palettes and without.
"""

import argparse
import os
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import small_codes  # noqa: E402
from small_codes import DIGITS, Bench, tools  # noqa: E402

CHIP, PLAIN = "edge_npu_palette", "edge_npu_flash"


def with_values(count, path, source=DIGITS):
    """The network with so many values in each tensor of weights, apart as the weights are: how many weights there are."""
    model = onnx.load(source)
    tensors = {t.name: t for t in model.graph.initializer}
    weights = 0
    for node in model.graph.node:
        if node.op_type != "DequantizeLinear" or node.input[0] not in tensors:
            continue
        codes = tensors[node.input[0]]
        if codes.data_type != TensorProto.INT8 or len(codes.dims) < 2:
            continue
        whole = numpy_helper.to_array(codes).astype(int)
        steps = np.unique(np.quantile(whole, np.linspace(0, 1, count), method="nearest"))
        few = steps[np.abs(whole[..., None] - steps).argmin(-1)]
        few.flat[:len(steps)] = steps  # each of them is there
        for k in range(count - len(steps)):
            few.flat[len(steps) + k] = next(v for v in range(-128, 128) if v not in few)
        assert len(np.unique(few)) == count
        codes.CopyFrom(numpy_helper.from_array(few.astype(np.int8), codes.name))
        weights += few.size
    onnx.save(model, path)
    return weights


def digits(t):
    for count, tensors in ((15, 4), (16, 1), (17, 0)):
        model = os.path.join(t.work, f"{count}.onnx")
        weights = with_values(count, model)
        expected = t.logits(model, "--target=cpu", f"--like={os.path.join(HERE, PLAIN + '.td')}", device="native")[0]
        bits, constants, read, _ = t.run(model, PLAIN)
        assert not np.count_nonzero(bits != expected), f"{PLAIN}: as bytes"
        cycles = t.cycles
        bits, stored, moved, _ = t.run(model, CHIP)
        wrong = np.count_nonzero(bits != expected)
        print(f"{CHIP}, {count} values: {wrong} of {bits.size} logits differ; constants take {stored} bytes for {constants}, {moved} are read "
              f"for {read}, {t.cycles} cycles for {cycles}")
        assert not wrong and len(re.findall(r"^ *VALUES|: VALUES| VALUES ", t.told, re.M)) == tensors, t.told
        if count == 15:
            assert constants - stored > 0.45 * weights and read - moved > 0.45 * weights
        assert t.cycles < cycles if tensors else (stored, moved, t.cycles) == (constants, read, cycles)


def on_network(t, net, size):
    model = os.path.join(t.work, "net.onnx")
    np.save(t.images, np.clip(np.random.RandomState(5).randn(1, 3, size, size), -2.5, 2.6).astype(np.float32))
    with_values(15, model, tools.network(t.bin, net, "int8", size, 10))
    expected = t.logits(model, "--target=cpu", f"--like={os.path.join(HERE, PLAIN + '.td')}", device="native")[0]
    for chip in (PLAIN, CHIP):
        bits, constants, read, _ = t.run(model, chip)
        print(f"{net} on {chip}: {np.count_nonzero(bits != expected)} of {bits.size} logits differ; {t.cycles} cycles ({t.predicted} predicted), "
              f"constants take {constants} bytes, {read} are read", flush=True)
        assert not np.count_nonzero(bits != expected)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--net")
    p.add_argument("--size", type=int, default=64)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        t = Bench(a.bin, work)
        if a.net:
            on_network(t, a.net, a.size)
        else:
            digits(t)
    return 0


if __name__ == "__main__":
    sys.exit(main())
