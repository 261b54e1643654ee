"""simnpu: products of int8 whose extents no tile divides, against what the chip needs at least.

    bench/remainders.py --bin build/bin [--random N] [--seed S] [--shapes RxKxN,...]

The model is one MatMul of codes, [R, K] by constant [K, N]; its row is that kernel's alone, on the machine, and its
result is compared with NumPy. `least` is the largest of: weights loaded into the array (D cycles a DxD tile), rows
of products (a row a cycle and tile), and compulsory bytes over DRAM's bandwidth; extents of K and N in whole rows of
lanes. Prints Markdown and the worst ratio; the chip is simnpu with D = 16 and 16 bytes a cycle.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

D, BYTES = 16, 16
FIXED = [(r, 768, 768) for r in (1, 16, 17, 32, 131, 197, 577, 1021, 1024)] + [
    (r, k, n) for r in (17, 197, 577) for k in (769, 773) for n in (769, 773)]


def model(path, r, k, n, rng):
    codes = rng.randint(-127, 128, (k, n)).astype(np.int8)
    constants = {"s": np.float32(0.02), "z": np.int8(0), "w": codes, "ws": np.float32(0.01), "wz": np.int8(0),
                 "os": np.float32(0.02 * 0.01 * 4500 * max(1, (k / 768)) ** 0.5), "oz": np.int8(3)}
    nodes = [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["xf"]),
             helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"]),
             helper.make_node("MatMul", ["xf", "wf"], ["yf"], name="product"),
             helper.make_node("QuantizeLinear", ["yf", "os", "oz"], ["y"])]
    graph = helper.make_graph(nodes, "product", [helper.make_tensor_value_info("x", TensorProto.INT8, [r, k])],
                              [helper.make_tensor_value_info("y", TensorProto.INT8, [r, n])],
                              [numpy_helper.from_array(np.array(v), name) for name, v in constants.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(made, path)
    return constants


def expected(x, c):
    sums = x.astype(np.int32) @ c["w"].astype(np.int32)
    factor = c["s"] * c["ws"] / c["os"]  # each step rounded to float32
    return np.clip(np.rint(sums.astype(np.float32) * factor) + 3, -128, 127).astype(np.int8)


def measure(args, folder, r, k, n, seed):
    path = {name: os.path.join(folder, name) for name in ("m.onnx", "m.pbe", "x.npy", "y.npy", "s.json")}
    rng = np.random.RandomState(seed)
    constants = model(path["m.onnx"], r, k, n, rng)
    x = rng.randint(-128, 128, (r, k)).astype(np.int8)
    np.save(path["x.npy"], x)
    subprocess.run([os.path.join(args.bin, "pbc"), path["m.onnx"], "--target=simnpu", "-o", path["m.pbe"]], check=True)
    subprocess.run([os.path.join(args.bin, "pb-run"), path["m.pbe"], "--device=machine", "--input", path["x.npy"],
                    "--output", path["y.npy"], f"--stats={path['s.json']}"], check=True, capture_output=True)
    if not np.array_equal(np.load(path["y.npy"]), expected(x, constants)):
        sys.exit(f"{r}x{k}x{n}: the result is wrong")
    with open(path["s.json"]) as f:
        steps = json.load(f)["steps"]
    product = max(steps, key=lambda s: s["macs"])
    return product["cycles"], product["predicted_cycles"], sum(s["cycles"] for s in steps)


def least(r, k, n):
    tiles = -(-k // D) * -(-n // D)
    # a row of results is D sums, and its codes move in whole rows of lanes
    moved = r * -(-k // D) * D + tiles * D * D + r * -(-n // D) * D
    return max(tiles * D, tiles * r, moved // BYTES)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shapes", default="")
    parser.add_argument("--most", type=float, help="fail if a ratio is larger")
    args = parser.parse_args()
    shapes = [tuple(int(v) for v in s.split("x")) for s in args.shapes.split(",") if s] or FIXED
    if args.random:
        rng = np.random.RandomState(args.seed)
        shapes = [tuple(int(v) for v in rng.randint(1, 2049, 3)) for _ in range(args.random)]
    print("| R x K x N | cycles | least | cycles - 3,000 over least | predicted / measured | with edges |\n|---|--:|--:|--:|--:|--:|")
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        for r, k, n in shapes:
            cycles, predicted, whole = measure(args, folder, r, k, n, args.seed)
            ratio = (cycles - 3000) / least(r, k, n)
            worst = max(worst, ratio)
            print(f"| {r} x {k} x {n} | {cycles:,} | {least(r, k, n):,} | {ratio:.3f} | {predicted / cycles:.2f} | {whole:,} |", flush=True)
    print(f"\nworst: {worst:.3f} of {len(shapes)}")
    if args.most and worst > args.most:
        sys.exit(f"more than {args.most} times the least")


if __name__ == "__main__":
    main()
