"""Weights that lie outside in another form than their elements: networks whose tensors of weights have 15, 16 or 17 values each, on a chip
whose command makes weights of codes of 4 bits and a palette of 16 (edge_npu_palette.td), and networks of whose weights two of each four input
channels are 0, on one whose command puts the others where they belong (edge_npu_sparse.td). The machine's bits are those of the same weights
as bytes, on the processor that is asked to be like the chip and on the chip without such commands; the weights take a half, or five eighths,
of the bytes in the engine and at the memory's port, and the network fewer cycles. The zeros that fill lanes are a value too: of 16 values
only what fills its lanes is taken so, of 17 nothing; and where three of four are not 0 the tensor comes as it is, as all do of
kernels of several stages. Where each block of columns has values of its own, and the table room for more palettes (edge_npu_palettes.td),
each has its palette. The same of networks of
floats, whose weights of bf16 have 200 values and come as codes of 8 bits (bf16npu_palette.td).

    stored_forms.py --bin BUILD/bin [--only digits,blocks,floats] [--net resnet18 --size 224]

With a network, that one alone instead of the digits: its bits, and what the chips take for it with such forms and without.
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from small_codes import DIGITS, Bench, arguments, np, onnx, tools  # noqa: E402
from onnx import TensorProto, numpy_helper  # noqa: E402

PLAIN = "edge_npu_flash"
# By chip: the command; each network's name, how many of the digits' tensors are stored so, and which share of the constants' bytes goes.
CHIPS = {"edge_npu_palette": ("CODED_WEIGHTS", {"15 values": (4, 0.44), "16 values": (1, 0), "17 values": (0, 0)}),
         "edge_npu_sparse": ("SPARSE_WEIGHTS", {"two of four": (1, 0.13), "three of four once": (0, 0)})}


def of_few_values(whole, count):
    """So many values, apart as the weights are."""
    steps = np.unique(np.quantile(whole, np.linspace(0, 1, count), method="nearest"))
    few = steps[np.abs(whole[..., None] - steps).argmin(-1)]
    few.flat[:len(steps)] = steps  # each of them is there
    for k in range(count - len(steps)):
        few.flat[len(steps) + k] = next(v for v in range(-128, 128) if v not in few)
    assert len(np.unique(few)) == count
    return few


def by_blocks(whole, count, channels=32):
    """So many values for each block of output channels, which many together have: as formats have them that cluster by channels."""
    few = whole.copy()
    for first in range(0, whole.shape[0], channels):
        block = np.clip(whole[first:first + channels] + first // channels % 5, -127, 127)
        few[first:first + channels] = of_few_values(block, min(count, len(np.unique(block))))
    return few


def two_of_four(whole):
    """Of each four input channels the two smaller weights become 0."""
    if whole.shape[1] % 4:
        return whole
    by_fours = np.moveaxis(whole, 1, -1).reshape(-1, 4)
    smaller = np.argsort(np.abs(by_fours), axis=1)[:, :2]
    np.put_along_axis(by_fours, smaller, 0, 1)
    return np.moveaxis(by_fours.reshape(np.moveaxis(whole, 1, -1).shape), -1, 1)


def with_weights(kind, path, source=DIGITS):
    model = onnx.load(source)
    tensors = {t.name: t for t in model.graph.initializer}
    first = None
    for node in model.graph.node:
        codes = tensors.get(node.input[0]) if node.op_type == "DequantizeLinear" else None
        if codes is None or codes.data_type != TensorProto.INT8 or len(codes.dims) < 2:
            continue
        whole = numpy_helper.to_array(codes).astype(int)
        values = int(kind.split()[0]) if "values" in kind else 0
        whole = by_blocks(whole, values) if "block" in kind else of_few_values(whole, values) if values else two_of_four(whole)
        codes.CopyFrom(numpy_helper.from_array(whole.astype(np.int8), codes.name))
        if whole.shape[1] % 4 == 0 and first is None:
            first = codes
    if kind.endswith("once"):
        whole = numpy_helper.to_array(first).copy()
        whole[0, :3, 0, 0] = 1
        first.CopyFrom(numpy_helper.from_array(whole, first.name))
    onnx.save(model, path)


class Forms(Bench):
    def plan(self, model, chip):
        target = f"--target={os.path.join(HERE, chip + '.td')}"
        return subprocess.run([f"{self.bin}/pbc", model, target, "--fallback=cpu", "--emit=plan"], check=True, capture_output=True, text=True).stdout

    def expected(self, model):
        return self.logits(model, "--target=cpu", f"--like={os.path.join(HERE, PLAIN + '.td')}", device="native")[0]


def digits(t):
    for chip, (command, kinds) in CHIPS.items():
        for kind, (tensors, share) in list(kinds.items())[:t.kinds]:
            model = os.path.join(t.work, "digits.onnx")
            with_weights(kind, model)
            expected = t.expected(model)
            bits, constants, read, _ = t.run(model, PLAIN)
            assert not np.count_nonzero(bits != expected), f"{PLAIN}: as bytes"
            cycles = t.cycles
            bits, stored, moved, _ = t.run(model, chip)
            wrong = np.count_nonzero(bits != expected)
            print(f"{chip}, {kind}: {wrong} of {bits.size} logits differ; constants take {stored} bytes for {constants}, {moved} are read "
                  f"for {read}, {t.cycles} cycles for {cycles}")
            told = t.plan(model, chip).count("weights stored as ")
            if tensors:  # the IR computes the same behind each pass
                subprocess.run([f"{t.bin}/pbc", model, f"--target={os.path.join(HERE, chip + '.td')}", "--fallback=cpu", "--bisect",
                                "-o", os.path.join(t.work, "bisected.pbe")], check=True, stderr=subprocess.DEVNULL)
            assert not wrong and told == tensors and (command in t.told) == (tensors > 0), told
            assert constants - stored >= share * constants
            if tensors:
                assert stored < constants and moved < read and t.cycles < cycles
            else:
                assert stored == constants and moved == read and t.cycles <= cycles


def blocks(t):
    """Each 32 output channels have values of their own: one palette does for none of the large tensors, one a block for all."""
    size, model, found = 64, os.path.join(t.work, "blocks.onnx"), {}
    with_weights("15 values a block", model, tools.network(t.bin, "resnet18", "int8", size, 10))
    images = np.load(t.images)
    t.take_image(size)
    expected = t.expected(model)
    for chip in (PLAIN, "edge_npu_palette", "edge_npu_palettes"):
        bits, constants, read, _ = t.run(model, chip)
        forms = t.plan(model, chip).count("weights stored as ")
        print(f"resnet18, 15 values a block, on {chip}: {np.count_nonzero(bits != expected)} of {bits.size} logits differ; {forms} tensors as codes, "
              f"{t.cycles} cycles, constants take {constants} bytes, {read} are read")
        assert not np.count_nonzero(bits != expected)
        found[chip] = forms, t.cycles, constants, read
    assert found[PLAIN][0] == 0 and found["edge_npu_palettes"][0] == 21
    assert 0 < found["edge_npu_palette"][0] < 21  # which has room for four
    assert all(many < 0.6 * plain for many, plain in zip(found["edge_npu_palettes"][1:], found[PLAIN][1:]))
    np.save(t.images, images)


def floats(t):
    from rounded import dequantised
    model = dequantised(onnx.load(DIGITS))
    for tensor in model.graph.initializer:
        whole = numpy_helper.to_array(tensor)
        if whole.ndim > 1:
            step = np.abs(whole).max() / 100
            tensor.CopyFrom(numpy_helper.from_array((np.rint(whole / step) * step).astype(np.float32), tensor.name))
    path, found = os.path.join(t.work, "floats.onnx"), {}
    onnx.save(model, path)
    np.save(t.images, np.load(t.images)[:1])
    for chip in ("bf16npu", "bf16npu_palette"):
        bits, engine, steps = t.logits(path, f"--target={os.path.join(HERE, chip + '.td')}", "--precision=bf16", device="machine")
        told = subprocess.run([f"{t.bin}/pb-objdump", engine], check=True, capture_output=True, text=True).stdout
        found[chip] = bits, int(re.search(r"constants: (\d+)", told)[1]), sum(s["cycles"] for s in steps), sum(s["dram_read"] for s in steps)
    (plain, whole, cycles, read), (bits, stored, coded_cycles, moved) = found.values()
    wrong = np.count_nonzero(bits != plain)
    print(f"bf16npu_palette, 200 values: {wrong} of {bits.size} logits differ; constants take {stored} bytes for {whole}, {moved} are read for {read}, "
          f"{coded_cycles} cycles for {cycles}")
    assert not wrong and stored < 0.65 * whole and moved < read and "CODED_WEIGHTS" in told


def on_network(t, net, size):
    source = tools.network(t.bin, net, "int8", size, 10)
    t.take_image(size)
    for chip, (_, kinds) in CHIPS.items():
        model, kind = os.path.join(t.work, "net.onnx"), next(iter(kinds))
        with_weights(kind, model, source)
        expected = t.expected(model)
        for which in (PLAIN, chip):
            bits, constants, read, _ = t.run(model, which)
            print(f"{net}, {kind}, on {which}: {np.count_nonzero(bits != expected)} of {bits.size} logits differ; {t.cycles} cycles ({t.predicted} "
                  f"predicted), constants take {constants} bytes, {read} are read", flush=True)
            assert not np.count_nonzero(bits != expected)


def main():
    parts = {"digits": digits, "blocks": blocks, "floats": floats}
    parser = arguments()
    parser.add_argument("--only", default=",".join(parts))
    parser.add_argument("--kinds", type=int, help="so many of each chip's networks of digits")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        t = Forms(a.bin, work, a.images)
        t.kinds = a.kinds
        if a.net:
            on_network(t, a.net, a.size)
        else:
            for part in a.only.split(","):
                parts[part](t)
    return 0


if __name__ == "__main__":
    sys.exit(main())
