"""Weights of 4 bits: networks whose weights are ONNX's INT4, or UINT4 with a zero point of 8, on chips with commands for codes of 4 bits:
they make bytes of them on the way in (edge_npu_i4.td), on the way into the array (edge_npu_packed.td), or the array widens them itself,
out of its registers (edge_npu_narrow.td) or of the weights' buffer (vta_packed.td). Each machine's bits are those of the same network with
the same codes in int8, on the processor that is asked to be like it; the weights take half of the bytes, in the engine, at the memory's
port and, where they stay packed, in the memory on the chip; and a chip without such commands runs the network too. A weight that is no
code of 4 bits comes as a byte.

    small_codes.py --bin BUILD/bin [--chips edge_npu_packed] [--images 20] [--net resnet18 --size 224]

With a network, that one alone instead of the digits: its bits, and what each chip takes for it.
"""

import argparse
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from reference_fixed import powers_of_two  # noqa: E402

DIGITS = os.path.join(HERE, "..", "models", "digits.onnx")
IMAGES = os.path.join(HERE, "..", "models", "digits_images.npy")


def with_weights(kind, path, source=DIGITS):
    """The digits, or another network, with weights in steps of 16 of what they were: as INT4, UINT4, INT8, or INT8 with one code that 4 bits lack. "above"
    and "above8": 8 more each, as UINT4 without a zero point and as INT8."""
    model = onnx.load(source)
    model.opset_import[0].version = 21
    model.ir_version = 10
    graph = model.graph
    tensors = {t.name: t for t in graph.initializer}
    weights = 0
    for node in graph.node:
        if node.op_type != "DequantizeLinear" or node.input[0] not in tensors:
            continue
        codes, scale = tensors[node.input[0]], tensors[node.input[1]]
        if codes.data_type != TensorProto.INT8 or len(codes.dims) < 2:
            continue
        small = np.clip(np.rint(numpy_helper.to_array(codes).astype(float) / 16), -8, 7).astype(int)
        if kind == "wide":
            small.flat[0] = 9
        if kind.startswith("above"):
            small += 8
        scale.CopyFrom(numpy_helper.from_array((numpy_helper.to_array(scale) * 16).astype(np.float32), scale.name))
        as_type = {"INT4": TensorProto.INT4, "UINT4": TensorProto.UINT4, "above": TensorProto.UINT4}.get(kind, TensorProto.INT8)
        zero = 8 if kind == "UINT4" else 0
        codes.CopyFrom(helper.make_tensor(codes.name, as_type, codes.dims, (small + zero).flatten().tolist()))
        zeros = helper.make_tensor(codes.name + "_zero", as_type, [len(numpy_helper.to_array(scale).flatten())] if scale.dims else [],
                                   [zero] * max(1, int(np.prod(scale.dims))))
        graph.initializer.append(zeros)
        del node.input[2:]
        node.input.append(zeros.name)
        weights += small.size
    onnx.save(model, path)
    return weights


# Commands that read codes with a sign, and those of 0 to 15; the chip without them; the memory in which they stay packed; whether scales
# are powers of 2.
CHIPS = {"edge_npu_i4": ("SMALL_WEIGHTS", "UNSIGNED_WEIGHTS", "edge_npu_flash", None, False),
         "edge_npu_packed": ("SMALL_TILE", "UNSIGNED_TILE", "edge_npu_flash", "SRAM", False),
         "edge_npu_narrow": ("SMALL_MULTIPLY", "UNSIGNED_MULTIPLY", "edge_npu_flash", "SRAM", False),
         "vta_packed": ("GEMM_PACKED", None, "vta", "WGT", True)}


class Bench:
    def __init__(self, bin_dir, work, images):
        self.bin, self.work, self.images = bin_dir, work, os.path.join(work, "images.npy")
        np.save(self.images, np.load(IMAGES)[:images])

    def take_image(self, size):
        """One, of a network's size, instead of the digits'."""
        np.save(self.images, np.clip(np.random.RandomState(5).randn(1, 3, size, size), -2.5, 2.6).astype(np.float32))

    def logits(self, model, *options, device):
        """What comes out, and bits of it; the constants' bytes, those that are read outside, and those of each memory that kernels use."""
        engine, out, stats = (os.path.join(self.work, n) for n in ("m.pbe", "out.npy", "stats.json"))
        tools.run([f"{self.bin}/pbc", model, *options, "-o", engine])
        tools.run([f"{self.bin}/pb-run", engine, f"--device={device}", f"--input={self.images}", f"--output={out}", f"--stats={stats}"])
        return np.load(out).view(np.int32), engine, json.load(open(stats))["steps"]

    def run(self, model, chip):
        target = f"--target={os.path.join(HERE, chip + '.td')}"
        got, engine, steps = self.logits(model, target, "--fallback=cpu", device="machine")
        self.told = tools.run([f"{self.bin}/pb-objdump", engine])
        explained = tools.run([f"{self.bin}/pbc", model, target, "--fallback=cpu", "--explain=json"])
        memory = {}
        self.cycles, self.predicted = (sum(s[k] for s in steps if s["cycles"]) for k in ("cycles", "predicted_cycles"))
        for step in json.loads(explained)["steps"]:
            for name, used in step["memory_bytes"].items():
                memory[name] = memory.get(name, 0) + used
        return got, int(re.search(r"constants: (\d+)", self.told)[1]), sum(s.get("constants_read", 0) + s.get("dram_read", 0) for s in steps), memory


def compare(t, chip, models, weights):
    signed, unsigned, plain, memory, powers = CHIPS[chip]
    like = f"--like={os.path.join(HERE, plain + '.td')}"
    expected, above, wide = (t.logits(models[k], "--target=cpu", like, device="native")[0] for k in ("INT8", "above8", "wide"))
    bits, constants, read, used = t.run(models["INT4"], plain)
    assert not np.count_nonzero(bits != expected), f"{plain}: as bytes"
    for kind, command, logits in (("INT4", signed, expected), ("UINT4", signed, expected), ("INT8", signed, expected), ("above", unsigned, above)):
        if not command:
            continue
        bits, packed, moved, held = t.run(models[kind], chip)
        wrong = np.count_nonzero(bits != logits)
        print(f"{chip}, {kind}: {wrong} of {bits.size} logits differ; constants take {packed} bytes for {constants}, {moved} are read for {read}"
              + (f", {held[memory]} of {memory} are used for {used[memory]}" if memory else ""))
        assert not wrong and command in t.told
        assert constants - packed >= 0.45 * weights[kind] and moved < read - 0.45 * weights[kind]
        assert not memory or held[memory] < 0.6 * used[memory]
    bits, packed, _, _ = t.run(models["wide"], chip)
    assert not np.count_nonzero(bits != wide) and packed == constants and not any(c and c in t.told for c in (signed, unsigned))
    print(f"{chip}: a code of 9: all weights are bytes")


def on_network(t, chips, net, size):
    """One image: the bits of the processor that is asked to be like the chip, and what the weights' halves save."""
    model = os.path.join(t.work, "net.onnx")
    t.take_image(size)
    with_weights("INT4", model, tools.network(t.bin, net, "int8", size, 10))
    for chip in chips:
        _, _, plain, memory, powers = CHIPS[chip]
        if powers:
            onnx.save(powers_of_two(onnx.load(model)), os.path.join(t.work, "powers.onnx"))
        path = os.path.join(t.work, "powers.onnx") if powers else model
        expected = t.logits(path, "--target=cpu", f"--like={os.path.join(HERE, plain + '.td')}", device="native")[0]
        for which in (plain, chip):
            bits, constants, read, used = t.run(path, which)
            print(f"{net} on {which}: {np.count_nonzero(bits != expected)} of {bits.size} logits differ; {t.cycles} cycles ({t.predicted} predicted), "
                  f"constants take {constants} bytes, {read} are read" + (f", {used[memory]} of {memory} used" if memory else ""), flush=True)
            assert not np.count_nonzero(bits != expected)


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--images", type=int, default=20)
    p.add_argument("--net")
    p.add_argument("--size", type=int, default=64)
    return p


def main():
    p = arguments()
    p.add_argument("--chips", default=",".join(CHIPS))
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        t = Bench(a.bin, work, a.images)
        if a.net:
            on_network(t, a.chips.split(","), a.net, a.size)
            return 0
        for powers in (False, True):
            chips = [c for c in a.chips.split(",") if CHIPS[c][4] == powers]
            models = {kind: os.path.join(work, kind + ".onnx") for kind in ("INT8", "INT4", "UINT4", "wide", "above", "above8")}
            weights = {kind: with_weights(kind, path) for kind, path in models.items() if chips}
            for path in models.values():
                if powers and chips:
                    onnx.save(powers_of_two(onnx.load(path)), path)
            for chip in chips:
                compare(t, chip, models, weights)
    return 0


if __name__ == "__main__":
    sys.exit(main())
