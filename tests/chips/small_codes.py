"""Weights of 4 bits: networks whose weights are ONNX's INT4, or UINT4 with a zero point of 8, on a chip with a command that makes bytes
of codes of 4 bits (edge_npu_i4.td). Its machine's bits are those of the same network with the same codes in int8, on the processor that
is asked to be like it; the weights take half of the bytes, in the engine and at the memory's port; and a chip without such a command
runs the network too. A weight that is no code of 4 bits comes as a byte.

    small_codes.py --bin BUILD/bin
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

DIGITS = os.path.join(HERE, "..", "models", "digits.onnx")
IMAGES = os.path.join(HERE, "..", "models", "digits_images.npy")


def with_weights(kind, path):
    """The digits with weights in steps of 16 of what they were: as INT4, UINT4, INT8, or INT8 with one code that 4 bits lack. "above"
    and "above8": 8 more each, as UINT4 without a zero point and as INT8."""
    model = onnx.load(DIGITS)
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


class Bench:
    def __init__(self, bin_dir, work):
        self.bin, self.work, self.images = bin_dir, work, os.path.join(work, "images.npy")
        np.save(self.images, np.load(IMAGES)[:20])

    def run(self, model, *options, device):
        engine, out, stats = (os.path.join(self.work, n) for n in ("m.pbe", "out.npy", "stats.json"))
        subprocess.run([f"{self.bin}/pbc", model, *options, "-o", engine], check=True, stderr=subprocess.DEVNULL)
        subprocess.run([f"{self.bin}/pb-run", engine, f"--device={device}", f"--input={self.images}", f"--output={out}", f"--stats={stats}"],
                       check=True, stdout=subprocess.DEVNULL)
        told = subprocess.run([f"{self.bin}/pb-objdump", engine], check=True, capture_output=True, text=True).stdout
        apart = re.search(r"(\d+) of them in their own memory", told)
        read = sum(s.get("constants_read", 0) for s in json.load(open(stats))["steps"])
        return np.load(out), told, int(apart[1]) if apart else 0, read


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    a = p.parse_args()
    chip = os.path.join(HERE, "edge_npu_i4.td")
    with tempfile.TemporaryDirectory() as work:
        t = Bench(a.bin, work)
        models = {kind: os.path.join(work, kind + ".onnx") for kind in ("INT8", "INT4", "UINT4", "wide", "above", "above8")}
        weights = {kind: with_weights(kind, path) for kind, path in models.items()}
        expected, above = (t.run(models[k], "--target=cpu", f"--like={chip}", device="native")[0] for k in ("INT8", "above8"))
        on = ("--fallback=cpu",)
        plain, told, bytes_, read = t.run(models["INT4"], f"--target={os.path.join(HERE, 'edge_npu_flash.td')}", *on, device="machine")
        assert "SMALL_WEIGHTS" not in told and np.array_equal(plain.view(np.int32), expected.view(np.int32)), "as bytes"
        for kind, command, logits in (("INT4", "SMALL_WEIGHTS", expected), ("UINT4", "SMALL_WEIGHTS", expected),
                                      ("INT8", "SMALL_WEIGHTS", expected), ("above", "UNSIGNED_WEIGHTS", above)):
            got, told, packed, moved = t.run(models[kind], f"--target={chip}", *on, device="machine")
            wrong = np.count_nonzero(got.view(np.int32) != logits.view(np.int32))
            print(f"{kind}: {wrong} of {got.size} logits differ; constants take {packed} bytes for {bytes_}, {moved} are read for {read}")
            assert not wrong and command in told
            assert bytes_ - packed >= 0.45 * weights[kind] and moved < 0.8 * read
        wide = t.run(models["wide"], "--target=cpu", f"--like={chip}", device="native")[0]
        got, told, packed, _ = t.run(models["wide"], f"--target={chip}", *on, device="machine")
        assert np.array_equal(got.view(np.int32), wide.view(np.int32)) and "SMALL_WEIGHTS" not in told and "UNSIGNED_WEIGHTS" not in told and packed == bytes_
        print("a code of 9: all weights are bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
