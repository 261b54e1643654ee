"""Compile time and memory of long chains of small operators: Conv, Add, Relu, MatMul in turn; --form adds: of Add alone, by a
few constants in turn; lstm, gru: of one operator of so many steps.

    bench/scale.py --bin build/bin [--form chain|adds|lstm|gru] [--nodes 1250,2500,5000,10000] [--targets cpu,simnpu] [--runs 1] [--most 2.6]
                   [--most-mb 300]

For simnpu the chain is the same in int8 (QDQ). Prints Markdown: seconds; the processor's seconds (the compiler's own and those of
what it starts), less than which no other load makes them; MB; and by what twice the nodes multiply the processor's seconds,
counted from the row above. --runs: the fastest of so many. --most: fails where that factor is above it; --most-mb: where a
row takes more memory.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

C, H = 8, 4


def float_chain(nodes):
    rng = np.random.RandomState(0)
    init, ops, x, shape = [], [], "x", None
    weights = [numpy_helper.from_array((rng.randn(C, C, 1, 1) / 3).astype(np.float32), f"w{k}") for k in range(4)]
    products = [numpy_helper.from_array((rng.randn(H, H) / 2).astype(np.float32), f"m{k}") for k in range(4)]
    biases = [numpy_helper.from_array(rng.randn(1, C, 1, 1).astype(np.float32), f"b{k}") for k in range(4)]
    init += weights + products + biases
    for k in range(nodes):
        y = f"t{k}"
        kind = k % 4
        if kind == 0:
            ops.append(helper.make_node("Conv", [x, f"w{k // 4 % 4}"], [y], name=f"n{k}"))
        elif kind == 1:
            ops.append(helper.make_node("Add", [x, f"b{k // 4 % 4}"], [y], name=f"n{k}"))
        elif kind == 2:
            ops.append(helper.make_node("Relu", [x], [y], name=f"n{k}"))
        else:
            ops.append(helper.make_node("MatMul", [x, f"m{k // 4 % 4}"], [y], name=f"n{k}"))
        x = y
    return finish(ops, init, x, TensorProto.FLOAT)


def code_chain(nodes):
    rng = np.random.RandomState(0)
    init = [numpy_helper.from_array(np.float32(0.05), "s"), numpy_helper.from_array(np.int8(0), "z"),
            numpy_helper.from_array(np.float32(0.02), "ws"), numpy_helper.from_array(np.float32(0.001), "bs"),
            numpy_helper.from_array(np.int32(0), "bz")]
    for k in range(4):
        init.append(numpy_helper.from_array(rng.randint(-127, 128, (C, C, 1, 1)).astype(np.int8), f"w{k}"))
        init.append(numpy_helper.from_array(rng.randint(-900, 900, C).astype(np.int32), f"b{k}"))
    ops, x = [], "x"
    for k in range(nodes // 2):
        f, y = f"f{k}", f"t{k}"
        ops.append(helper.make_node("DequantizeLinear", [x, "s", "z"], [f]))
        if k % 2 == 0:
            ops.append(helper.make_node("DequantizeLinear", [f"w{k // 2 % 4}", "ws", "z"], [f"wf{k}"]))
            ops.append(helper.make_node("DequantizeLinear", [f"b{k // 2 % 4}", "bs", "bz"], [f"bf{k}"]))
            ops.append(helper.make_node("Conv", [f, f"wf{k}", f"bf{k}"], [f"c{k}"], name=f"n{k}"))
            ops.append(helper.make_node("Relu", [f"c{k}"], [f"r{k}"]))
        else:
            ops.append(helper.make_node("Add", [f, f], [f"r{k}"], name=f"n{k}"))
        ops.append(helper.make_node("QuantizeLinear", [f"r{k}", "s", "z"], [y]))
        x = y
    return finish(ops, init, x, TensorProto.INT8)


def adds(nodes):
    rng = np.random.RandomState(0)
    init = [numpy_helper.from_array(rng.randn(1, C, H, H).astype(np.float32), f"c{k}") for k in range(7)]
    names = ["x", *(f"t{k}" for k in range(nodes))]
    return finish([helper.make_node("Add", [names[k], f"c{k % 7}"], [names[k + 1]], name=f"n{k}") for k in range(nodes)], init, names[-1], TensorProto.FLOAT)


def recurrent(kind, gates, steps):
    rng = np.random.RandomState(0)
    init = [numpy_helper.from_array(rng.randn(1, gates * 16, 16).astype(np.float32) / 4, name) for name in ("w", "r")]
    node = helper.make_node(kind, ["x", "w", "r"], ["y"], name="n", hidden_size=16)
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)] for name, shape in (("x", [steps, 1, 16]), ("y", [steps, 1, 1, 16]))]
    return helper.make_model(helper.make_graph([node], "steps", *ends, init), opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


FORMS = {"chain": float_chain, "adds": adds, "lstm": lambda n: recurrent("LSTM", 4, n), "gru": lambda n: recurrent("GRU", 3, n)}


def finish(ops, init, last, kind):
    graph = helper.make_graph(ops, "chain", [helper.make_tensor_value_info("x", kind, [1, C, H, H])],
                              [helper.make_tensor_value_info(last, kind, [1, C, H, H])], init)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def compile_once(args, path, target, folder):
    before = time.time()
    child = subprocess.Popen([os.path.join(args.bin, "pbc"), path, f"--target={target}", "-o", os.path.join(folder, "m.pbe")],
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{target}: the compiler failed")
    return time.time() - before, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--nodes", default="1250,2500,5000,10000")
    parser.add_argument("--targets", default="cpu,simnpu")
    parser.add_argument("--form", choices=FORMS, default="chain")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--most", type=float)
    parser.add_argument("--most-mb", type=float)
    args = parser.parse_args()
    failed = []
    print("| nodes | target | s | processor's s | MB | for twice the nodes |\n|--:|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for target in args.targets.split(","):
            sizes = [int(n) for n in args.nodes.split(",")]
            paths = [os.path.join(folder, f"{n}.onnx") for n in sizes]
            for path, nodes in zip(paths, sizes):
                onnx.save(code_chain(nodes) if target.startswith("simnpu") else FORMS[args.form](nodes), path)
            # size after size, run after run: a machine that is slow for a while is so for all of them
            runs = [[compile_once(args, path, target, folder) for path in paths] for _ in range(args.runs)]
            best = [[min(run[k][what] for run in runs) for what in range(3)] for k in range(len(sizes))]
            for k, (seconds, used, mb) in enumerate(best):
                factor = (used / best[k - 1][1]) ** (1 / math.log2(sizes[k] / sizes[k - 1])) if k else 0
                if args.most is not None and factor > args.most:
                    failed.append(f"{target}: twice the nodes take {factor:.2f} times as long, {args.most} at most")
                if args.most_mb is not None and mb > args.most_mb:
                    failed.append(f"{target}: {sizes[k]} nodes take {mb:.0f} MB, {args.most_mb:g} at most")
                print(f"| {sizes[k]:,} | {target} | {seconds:.1f} | {used:.1f} | {mb:.0f} | {f'{factor:.2f}' if k else ''} |",
                      flush=True)
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
