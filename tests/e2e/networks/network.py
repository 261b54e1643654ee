"""A network with seeded int8 weights on a device equals the NumPy reference bit for bit.

    network.py --bin BUILD/bin --net resnet18 --size 64 --device machine|rtl|native [--target simnpu] [--bisect]
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
from reference import Reference  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--net", required=True)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--device", required=True)
    parser.add_argument("--target", default="simnpu")
    parser.add_argument("--bisect", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model, engine = tools.network(args.bin, args.net, "int8", args.size, args.classes), os.path.join(folder, "m.pbe")
        reference = Reference(onnx.load(model))
        image = np.clip(np.random.RandomState(5).randn(1, 3, args.size, args.size), -2.5, 2.6).astype(np.float32)
        source, output = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
        np.save(source, image)
        expected = reference.run({reference.inputs[0]: image})[reference.outputs[0]].astype(np.float32)
        tools.compile_model(args.bin, model, args.target, engine, *(["--bisect"] if args.bisect else []))
        tools.run_engine(args.bin, engine, args.device, source, output)
        actual = np.load(output).reshape(expected.shape)
    wrong = np.count_nonzero(actual.view(np.int32) != expected.view(np.int32))
    print(f"{args.net} on {args.device}: {expected.size} logits, {wrong} differ")
    return int(wrong != 0 or len(np.unique(actual)) < 2)


if __name__ == "__main__":
    sys.exit(main())
