"""f32 networks as machine code against ONNX Runtime: every logit within 1e-4 of the largest.

compare_f32.py --bin BUILD/bin [--net resnet18,...] [--size 224] [--inputs 4] [--targets cpu:v3,cpu:avx512]
"""

import argparse
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import networks  # noqa: E402
import numpy as np  # noqa: E402
import qdq  # noqa: E402
from net import float_model, save  # noqa: E402

TOLERANCE = 1e-4  # of the largest logit


def compare(args, target, files, name, expected):
    """Whether one network on one target keeps to the tolerance; prints a line."""
    model, source, output = files
    start = time.monotonic()
    try:
        tools.compile_model(args.bin, model, target, model + ".pbe")
        tools.run(
            [
                os.path.join(args.bin, "pb-run"),
                model + ".pbe",
                "--device=native",
                f"--threads={args.threads}",
                "--input",
                source,
                "--output",
                output,
            ],
            timeout=3600,
        )
    except tools.Failed as error:
        print(f"{name:12s} {target:12s} {str(error)[-400:]}")
        return False
    ours = np.load(output).reshape(expected.shape)
    off = np.abs(ours - expected).max() / np.abs(expected).max()
    agree = int((ours.argmax(1) == expected.argmax(1)).sum())
    good = bool(off <= TOLERANCE)  # false for a NaN too
    print(
        f"{name:12s} {target:12s} {len(expected)} images, at most {off:.2e} of the largest logit, "
        f"{agree} first classes agree, {time.monotonic() - start:.0f} s{'' if good else '  MISSED'}",
        flush=True,
    )
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--net", default="resnet18,resnet50,mobilenetv2,vgg16", help="names with commas between them")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--inputs", type=int, default=4, help="images, 1 to 32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--targets", default="cpu:v3,cpu:avx512")
    args = parser.parse_args()
    if not 1 <= args.inputs <= networks.FIT_IMAGES:
        parser.error(f"--inputs is 1 to {networks.FIT_IMAGES}")
    tools.skip_without(args.bin, *args.targets.split(","))
    good = True
    for name in args.net.split(","):
        net, images = networks.build_network(name, args.size, args.classes)
        images, model = images[: args.inputs], float_model(net)
        session = qdq.float_session(model)
        expected = np.concatenate([session.run(None, {net.input: image[None]})[0] for image in images])
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, file) for file in ("m.onnx", "in.npy", "out.npy")]
            save(model, files[0], full_check=False)
            np.save(files[1], images)
            for target in filter(lambda target: tools.runs_here(args.bin, target), args.targets.split(",")):
                good &= compare(args, target, files, name, expected)
    print("passed" if good else "FAILED")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
