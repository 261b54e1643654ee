"""Threads change nothing: a network compiled by 1 to 4 threads is the same engine byte for byte, and run by 1 to 4 it gives
the same bits.

    threads.py --bin BUILD/bin [--target cpu] [--net mobilenetv2] [--size 64] [--type int8] [--device native]
"""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402

MOST = 4


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--net", default="mobilenetv2")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--type", default="int8")
    parser.add_argument("--device", default="native", help="that of a chip with queues runs as it does, by one thread")
    args = parser.parse_args()
    model, faults = tools.network(args.bin, args.net, args.type, args.size), []
    with tempfile.TemporaryDirectory() as folder:
        source, engine, output = (os.path.join(folder, name) for name in ("x.npy", "e.pbe", "y.npy"))
        np.save(source, np.random.RandomState(5).randn(1, 3, args.size, args.size).astype(np.float32))
        engines, results = [], []
        for threads in range(1, MOST + 1):
            tools.compile_model(args.bin, model, args.target, engine, f"--threads={threads}")
            with open(engine, "rb") as file:
                engines.append(file.read())
            shared = [f"--threads={threads}"] if args.device == "native" else []
            tools.run([os.path.join(args.bin, "pb-run"), engine, f"--device={args.device}", *shared, "--input", source,
                       "--output", output])
            results.append(np.load(output))
    for k in range(1, MOST):
        if engines[k] != engines[0]:
            faults.append(f"{k + 1} threads compile another engine than one")
        if not np.array_equal(results[k].view(np.int32), results[0].view(np.int32)):
            faults.append(f"{k + 1} threads give other bits than one")
    print("\n".join(faults) or f"{args.net} {args.type} on {args.target}: 1 to {MOST} threads are equal")
    return int(bool(faults) or len(np.unique(results[0])) < 2)


if __name__ == "__main__":
    sys.exit(main())
