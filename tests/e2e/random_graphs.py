"""Random small int8 networks: compiled, run on the generated machine with all checks on, equal to the NumPy reference bit
for bit. A network that the compiler refuses must be refused with a PB code, and few may be.

    random_graphs.py --bin BUILD/bin [--count 200] [--seed 1] [--target simnpu] [--device machine]
"""

import argparse
import os
import random
import re
import sys
import tempfile

import tools

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from net import Net  # noqa: E402
from qdq import quantized_model  # noqa: E402
from reference import Reference  # noqa: E402


def draw(rng, number):
    """A network of 1 to 5 layers over a small image, and what it is."""
    channels, size = rng.choice([1, 2, 3, 8, 16, 17, 32]), rng.randrange(4, 21)
    weights = np.random.RandomState(number)
    net = Net(f"random{number}", "image", (1, channels, size, size), "out")
    words = [f"{channels}x{size}x{size}"]

    def noise(*shape):
        return (weights.randn(*shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype(np.float32)

    for layer in range(rng.randrange(1, 6)):
        kind = rng.choice(["conv", "conv", "conv", "depthwise", "pool", "residual"])
        act = rng.choice(["", "relu", "relu6"])
        window = rng.choice([k for k in (1, 2, 3, 5, 7) if k <= size])
        pad = rng.randrange(0, window // 2 + 1)
        stride = rng.choice([1, 1, 2])
        after = (size + 2 * pad - window) // stride + 1
        if kind == "pool":
            net.maxpool(f"l{layer}", window, stride, pad)
            size = after
        elif kind == "depthwise":
            net.conv(f"l{layer}", noise(channels, 1, window, window), noise(channels), stride, pad, channels, act)
            size = after
        elif kind == "residual":
            source = net.last
            net.conv(f"l{layer}a", noise(channels, channels, 3, 3), noise(channels), 1, 1, 1, "")
            net.residual(f"l{layer}", net.last, source, "relu" if act else "")
        else:
            outputs = rng.choice([1, 5, 8, 16, 24, 33, 40])
            net.conv(f"l{layer}", noise(outputs, channels, window, window), noise(outputs), stride, pad, 1, act)
            channels, size = outputs, after
        words.append(f"{kind}{window}s{stride}p{pad}{act}->{channels}x{size}x{size}")
    classes = rng.choice([1, 3, 10, 16, 37])
    net.head("fc", noise(classes, channels), noise(classes))
    words.append(f"fc{classes}")
    return net, " ".join(words)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", default="simnpu")
    parser.add_argument("--device", default="machine")
    parser.add_argument("--keep", help="folder for the models that fail")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    failures, refusals = [], []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(args.count):
            net, what = draw(rng, args.seed * 100000 + k)
            images = np.random.RandomState(k).randn(3, *net.shape[1:]).astype(np.float32)
            model, engine = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.pbe")
            source, output = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
            onnx.save(quantized_model(net, images), model)
            np.save(source, images)
            reference = Reference(onnx.load(model))
            expected = reference.run({reference.inputs[0]: images})[reference.outputs[0]].astype(np.float32)
            problem = None
            try:
                tools.compile_model(args.bin, model, args.target, engine, *(["--bisect"] if args.device == "machine" and k % 10 == 0 else []))
                tools.run_engine(args.bin, engine, args.device, source, output)
                wrong = np.count_nonzero(np.load(output).reshape(expected.shape) != expected)
                problem = f"{wrong} numbers differ" if wrong else None
            except tools.Failed as error:
                if re.search(r"\[PB(2\d{3}|40[01]\d)\]", str(error)):
                    refusals.append(f"{k}: {what}: {str(error).splitlines()[-1]}")
                    continue
                problem = str(error)[-400:]
            if problem:
                failures.append(f"FAILED {k}: {what}: {problem}")
                if args.keep:
                    os.makedirs(args.keep, exist_ok=True)
                    os.replace(model, os.path.join(args.keep, f"{k}.onnx"))
    print("\n".join(refusals + failures))
    print(f"{args.count} networks: {args.count - len(failures) - len(refusals)} equal, {len(refusals)} refused, {len(failures)} failed")
    return int(bool(failures) or len(refusals) * 10 > args.count)


if __name__ == "__main__":
    sys.exit(main())
