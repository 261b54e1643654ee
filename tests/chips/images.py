"""Several images for each of the weights: on tpu_v1.td, whose time is that of its weights, eight images of one network
take little more than one where their rows fit beside each other, and every image's codes are those that it has alone; so they are
where the host makes codes of the images.

    images.py --bin BUILD/bin
"""

import argparse
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), os.path.join(HERE, "..", "..", "bench")]
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from chips import of_batch, of_codes  # noqa: E402

IMAGES = 8


def scale_of(model, kind, name):
    """Scale and zero point of the network's own step of that kind from or to `name`."""
    node = next(n for n in model.graph.node if n.op_type == kind and name in (n.input[0], n.output[0]))
    return [onnx.numpy_helper.to_array(next(i for i in model.graph.initializer if i.name == which)) for which in node.input[1:]]


def run_codes(a, model, images, work):
    """The logits of codes that are made here."""
    scale, zero = scale_of(model, "QuantizeLinear", "image")
    to, from_zero = scale_of(model, "DequantizeLinear", model.graph.output[0].name)
    path = os.path.join(work, "codes.onnx")
    onnx.save(of_codes(model), path)
    codes, _ = run(a, path, np.clip(np.rint(images / scale) + zero, -128, 127).astype(np.int8), work)
    return (codes.astype(np.float32) - from_zero) * to


def run(a, model, image, work):
    engine, stats, out = (os.path.join(work, name) for name in ("m.pbe", "s.json", "out.npy"))
    tools.compile_model(a.bin, model, os.path.join(HERE, "tpu_v1.td"), engine)
    np.save(os.path.join(work, "image.npy"), image)
    tools.run([os.path.join(a.bin, "pb-run"), engine, "--device=machine", "--input", f"{work}/image.npy", f"--output={out}", f"--stats={stats}"])
    steps = [step for step in json.load(open(stats))["steps"] if step["origin"].startswith(("s3b2", "s4b2"))]
    assert len(steps) == 4, steps
    return np.load(out), sum(step["cycles"] for step in steps)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    a = p.parse_args()
    images = np.random.default_rng(5).standard_normal((IMAGES, 3, 64, 64)).astype(np.float32)
    with tempfile.TemporaryDirectory() as work:
        model, batched = tools.network(a.bin, "resnet18", "int8", 64, 10), os.path.join(work, "batched.onnx")
        onnx.save(of_batch(onnx.load(model), IMAGES), batched)
        alone = [run(a, model, image[None], work) for image in images]
        together, cycles = run(a, batched, images, work)
        of_hosts_codes = run_codes(a, onnx.load(batched), images, work)
    print(f"the last stages' convolutions: {alone[0][1]:,} cycles for an image, {cycles:,} for {IMAGES}")
    wrong = np.count_nonzero(np.concatenate([logits for logits, _ in alone]).view(np.int32) != together.view(np.int32))
    assert not wrong, f"{wrong} logits differ"
    assert np.array_equal(of_hosts_codes, together), "codes that the host makes give other logits"
    assert cycles < 1.5 * alone[0][1]
    return 0


if __name__ == "__main__":
    sys.exit(main())
