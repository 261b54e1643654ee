"""The digits network on a device: the test images equal the NumPy reference bit for bit, and it still reads digits.

    digits.py --bin BUILD/bin --device machine|rtl|native [--target simnpu] [--bisect] [--images 360]
"""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from reference import Reference  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--device", required=True)
    parser.add_argument("--target", default="simnpu")
    parser.add_argument("--bisect", action="store_true")
    parser.add_argument("--images", type=int, default=360, help="so many of them")
    args = parser.parse_args()
    model = os.path.join(tools.MODELS, "digits.onnx")
    images = np.load(os.path.join(tools.MODELS, "digits_images.npy"))[:args.images]
    labels = np.load(os.path.join(tools.MODELS, "digits_labels.npy"))[:args.images]
    reference = Reference(onnx.load(model))
    expected = reference.run({reference.inputs[0]: images})[reference.outputs[0]].astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        engine, source, output = (os.path.join(folder, name) for name in ("d.pbe", "images.npy", "logits.npy"))
        np.save(source, images)
        tools.compile_model(args.bin, model, args.target, engine, *(["--bisect"] if args.bisect else []))
        tools.run_engine(args.bin, engine, args.device, source, output)
        actual = np.load(output).reshape(expected.shape)
    wrong = np.count_nonzero(actual.view(np.int32) != expected.view(np.int32))
    accuracy = (actual.argmax(1) == labels).mean()
    print(f"{args.target} on {args.device}: {expected.size} logits, {wrong} differ; accuracy {accuracy:.4f}")
    return int(wrong != 0 or accuracy < 0.96)


if __name__ == "__main__":
    sys.exit(main())
