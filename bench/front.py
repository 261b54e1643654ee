"""The front half of the compiler: what reading a model and making nests of it takes.

    .venv-bench/bin/python bench/front.py --bin build/bin [--models resnet50,bert,chain5000,chain10000,gigabyte]

Seconds of pbc --time-passes from the file to S2 (the target's description read, the model, S1, S2), best of three, for
--target=cpu; the file's size, and the most memory that the whole compiler takes beyond that, in MB. `gigabyte` is one
product by 1 GiB of weights. Prints Markdown.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import networks
import scale

MODELS = ["resnet50", "bert", "chain5000", "chain10000", "gigabyte"]
FRONT = ["read", "s1", "s2"]


def product(path, inside, outside):
    weights = np.zeros((inside, outside), np.float32)
    weights[::64, ::64] = 1
    shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name, size in (("x", inside), ("y", outside))]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], "g", shapes[:1], shapes[1:],
                              [helper.make_tensor("w", TensorProto.FLOAT, weights.shape, weights.tobytes(), raw=True)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), path)


def write(path, name):
    if name.startswith("chain"):
        onnx.save(scale.float_chain(int(name[len("chain"):])), path)
    elif name == "gigabyte":
        product(path, 1 << 14, 1 << 14)
    else:
        networks.write_network(path, f"{name}-f32")


def compiled(args, path):
    """Seconds by pass, and the most memory in MB."""
    command = [os.path.join(args.bin, "pbc"), path, "--target=cpu", "-o", path + ".pbe", "--time-passes"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{path}: {said}")
    return {name: float(seconds) for name, seconds in re.findall(r"^ *(\w+) +([0-9.]+) s$", said, re.M)}, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--write", metavar="FILE", help="writes the one model alone")
    args = parser.parse_args()
    if args.write:
        write(args.write, args.models)
        return
    print("| model | file, MB | read | S1 | S2 | front half, s | whole, s | memory beyond the file, MB |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.models.split(","):
            path = os.path.join(folder, name + ".onnx")
            # in a process of its own: the system counts this one's memory to what it starts
            subprocess.run([sys.executable, __file__, "--models", name, "--write", path], check=True, capture_output=True)
            runs = [compiled(args, path) for _ in range(3)]
            best, memory = min(runs, key=lambda run: sum(run[0][p] for p in FRONT))
            size = os.path.getsize(path) / 2**20
            cells = [f"{size:.0f}", *(f"{best[p]:.3f}" for p in FRONT), f"{sum(best[p] for p in FRONT):.3f}",
                     f"{sum(best.values()):.2f}", f"{memory - size:.0f}"]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
            os.remove(path)


if __name__ == "__main__":
    main()
