"""A network of int8 for processors with tiles, run under the trap (trap.c), which carries out the instructions on tiles
on any processor, or by the unit itself where there is one: the same bits as the NumPy reference and as vectors.

    tiles.py --bin BUILD/bin --net digits|resnet18|mobilenetv2 --size 64 [--target amx.td] [--bisect] [--unit] [--images 360]
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from reference import Reference  # noqa: E402

VECTORS, TILES = "cpu:avx512", "cpu:amx"
UNGRANTED = "PB5021"


def make_model(args, folder):
    """The model's path and an input of it."""
    if args.net == "digits":
        images = np.load(os.path.join(tools.MODELS, "digits_images.npy"))[:args.images]
        return os.path.join(tools.MODELS, "digits.onnx"), images
    model = tools.network(args.bin, args.net, "int8", args.size)
    image = np.random.RandomState(5).randn(1, 3, args.size, args.size)
    return model, np.clip(image, -2.5, 2.6).astype(np.float32)


def run_tiles(args, engine, source, output, threads):
    """What the engine writes, and how many instructions the trap carried out."""
    command = [os.path.join(args.bin, "" if args.unit else "trapped", "pb-run"), engine, "--device=native", f"--threads={threads}",
               "--input", source, "--output", output]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if result.returncode != 0:
        raise tools.Failed(f"{' '.join(command)}\nexit code {result.returncode}\n{result.stdout}{result.stderr}")
    count = re.search(r"tile trap: (\d+) instructions", result.stderr)
    return np.load(output), int(count.group(1)) if count else 0


def check_refusal(args, engine, source, output):
    """Without the trap a machine that has no tiles says so, before any of the code runs."""
    result = subprocess.run([os.path.join(args.bin, "pb-run"), engine, "--device=native", "--input", source,
                             "--output", output], capture_output=True, text=True, timeout=600)
    return result.returncode == 1 and UNGRANTED in result.stderr + result.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--net", required=True)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--target", default=TILES)
    parser.add_argument("--bisect", action="store_true")
    parser.add_argument("--images", type=int, default=360, help="so many digits")
    parser.add_argument("--unit", action="store_true", help="run on the processor's own tiles")
    args = parser.parse_args()
    # The trap has tiles only: the vectors must be there. With --unit so must the tiles.
    tools.skip_without(args.bin, VECTORS)
    tools.skip_without(args.bin if args.unit else os.path.join(args.bin, tools.TRAPPED), args.target)
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        model, image = make_model(args, folder)
        engine, vectors = os.path.join(folder, "tiles.pbe"), os.path.join(folder, "vectors.pbe")
        source, output = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
        np.save(source, image)
        tools.compile_model(args.bin, model, args.target, engine, *(["--bisect"] if args.bisect else []))
        tools.compile_model(args.bin, model, VECTORS, vectors)
        tools.run_engine(args.bin, vectors, "native", source, output)
        by_vectors = np.load(output)
        reference = Reference(onnx.load(model))
        expected = reference.run({reference.inputs[0]: image})[reference.outputs[0]].astype(np.float32)
        expected = expected.reshape(by_vectors.shape)
        for threads in 1, 2:
            actual, count = run_tiles(args, engine, source, output, threads)
            for name, other in ("the reference", expected), ("vectors", by_vectors):
                wrong = np.count_nonzero(actual.view(np.int32) != other.view(np.int32))
                if wrong:
                    faults.append(f"{threads} threads: {wrong} of {actual.size} values differ from {name}")
            if (count == 0) != args.unit:
                faults.append(f"{count} instructions on tiles were carried out by the trap")
            print(f"{args.net} with {threads} threads: {actual.size} values, {count} instructions on tiles trapped")
        if tools.lacks(args.bin, args.target) and not check_refusal(args, engine, source, output):
            faults.append("an engine for tiles is not refused where there are none")
    for fault in faults:
        print(fault)
    return int(bool(faults) or len(np.unique(by_vectors)) < 2)


if __name__ == "__main__":
    sys.exit(main())
