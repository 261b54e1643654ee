"""Movers that fill with 0 and nothing else: a network whose codes have 0 for 0 is right on them, with its pads; one whose zero points
are others is refused with what is missing.

    zero_padding.py --bin BUILD/bin
"""

import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import numpy_helper  # noqa: E402
from reference import Reference  # noqa: E402

MODELS = os.path.join(HERE, "..", "models")
FILL = 'let Fill = "fill";'


def symmetric(model):
    """The network with 0 for each zero point of a tensor: other codes, and as good a network for the reference."""
    held = {tensor.name: tensor for tensor in model.graph.initializer}
    points = {node.input[2] for node in model.graph.node if node.op_type in ("QuantizeLinear", "DequantizeLinear") and len(node.input) > 2}
    changed = 0
    for name in points:
        point = numpy_helper.to_array(held[name])
        if point.ndim == 0 and point.dtype == np.int8 and point:
            held[name].CopyFrom(numpy_helper.from_array(np.zeros_like(point), name))
            changed += 1
    assert changed, "no zero point but 0"
    return model


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    a = p.parse_args()
    digits, images = os.path.join(MODELS, "digits.onnx"), np.load(os.path.join(MODELS, "digits_images.npy"))[:20]
    graph = symmetric(onnx.load(digits))
    reference = Reference(graph)
    expected = reference.run({reference.inputs[0]: images})[reference.outputs[0]].astype(np.float32)
    with tempfile.TemporaryDirectory() as work:
        model, target, engine, source, output = (os.path.join(work, f) for f in ("m.onnx", "zero.td", "m.pbe", "in.npy", "out.npy"))
        onnx.save(graph, model)
        np.save(source, images)
        for name in "tinynpu", "gemmini":
            text = open(os.path.join(HERE, name + ".td")).read()
            assert FILL in text, name
            open(target, "w").write(text.replace(FILL, ""))
            tools.compile_model(a.bin, model, target, engine)
            tools.run_engine(a.bin, engine, "machine", source, output)
            wrong = np.count_nonzero(np.load(output).reshape(expected.shape).view(np.int32) != expected.view(np.int32))
            refused = tools.call([os.path.join(a.bin, "pbc"), digits, f"--target={target}", "-o", engine])
            print(f"{name} that fills with 0: {expected.size} logits, {wrong} differ; zero points of -128 are refused")
            assert wrong == 0
            assert refused.returncode == 1 and "[PB4010]" in refused.stderr and "a move whose source has a box and a Fill" in refused.stderr, refused.stderr


if __name__ == "__main__":
    main()
