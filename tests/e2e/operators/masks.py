"""Attention with a constant mask leaves out blocks of keys that count for no row of a block. Results have the bits of the same
attention whose mask is an input, of which nothing is known: on plain numbers, and where NaN, infinities, huge scores and values
that vanish stand among what is left out.

    masks.py --bin BUILD/bin [--only TEXT] [--every 3] [--seed 1]
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
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

LOWEST = np.finfo(np.float32).min
TARGETS = "cpu:v3", "cpu:avx512"


def masks():
    """Name, heads, queries, keys, size of a head, mask, and whether blocks are left out."""
    def at(rows, keys):
        return np.arange(rows)[:, None] + keys - rows, np.arange(keys)[None]

    def added(where, low):
        return np.where(where, 0, low).astype(np.float32)

    i, j = at(128, 128)
    yield "lowest", 2, 128, 128, 64, added(j <= i, LOWEST), True
    yield "where", 2, 128, 128, 64, j <= i, True
    i, j = at(208, 208)
    yield "infinite", 1, 208, 208, 32, added(j <= i, -np.inf), True
    yield "window", 1, 208, 208, 64, added((j <= i) & (j > i - 40), -np.inf), True
    i, j = at(160, 208)
    yield "finite", 2, 160, 208, 32, added(j <= i, -1e4), True
    yield "distances", 1, 160, 208, 64, np.where(j <= i, np.float32(-0.05) * (i - j), -np.inf).astype(np.float32), True
    i, j = at(256, 256)
    row = added(j <= i, LOWEST)
    row[50] = LOWEST  # its probabilities are all the same
    yield "row", 2, 256, 256, 64, row, True
    i, j = at(128, 128)
    row = added(j <= i, -np.inf)
    row[50] = -np.inf  # it is NaN
    yield "row_of_nan", 2, 128, 128, 64, row, False
    yield "near", 2, 128, 128, 64, added(j <= i, -60), False  # not so low that an exponential is 0
    yield "full", 2, 128, 128, 64, added((i >= 0) & (j >= 0), LOWEST), False
    i, j = at(128, 1024)  # probabilities are copied for the product: keys are two indices of theirs
    yield "far", 1, 128, 1024, 128, added((j <= i) & (j > i - 200), LOWEST), True


def model(path, heads, rows, keys, size, mask, constant):
    value = helper.make_tensor_value_info
    inputs = [value(n, TensorProto.FLOAT, [1, heads, rows if n == "q" else keys, size]) for n in "qkv"]
    consts = [numpy_helper.from_array(np.float32(size**-0.5), "scale"), numpy_helper.from_array(np.float32(-np.inf), "low")]
    if constant:
        consts.append(numpy_helper.from_array(mask[None, None], "mask"))
    else:
        inputs.append(value("mask", TensorProto.BOOL if mask.dtype == bool else TensorProto.FLOAT, [1, 1, rows, keys]))
    masked = (helper.make_node("Where", ["mask", "scaled", "low"], ["masked"]) if mask.dtype == bool
              else helper.make_node("Add", ["scaled", "mask"], ["masked"]))
    nodes = [helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]), helper.make_node("MatMul", ["q", "kt"], ["scores"]),
             helper.make_node("Mul", ["scores", "scale"], ["scaled"]), masked,
             helper.make_node("Softmax", ["masked"], ["p"], axis=-1), helper.make_node("MatMul", ["p", "v"], ["y"])]
    graph = helper.make_graph(nodes, "masks", inputs, [value("y", TensorProto.FLOAT, [1, heads, rows, size])], consts)
    onnx.save(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 19)]), path)


def feeds(rng, heads, rows, keys, size):
    """Name and inputs: plain ones, then what the guards are for, most of it in the last key, which few rows have."""
    def plain():
        return {n: rng.standard_normal((1, heads, rows if n == "q" else keys, size), dtype=np.float32) for n in "qkv"}

    yield "plain", plain()
    for name in "qkv":
        for number in np.nan, np.inf, -np.inf:
            one, some = plain(), plain()
            one[name][0, 0, -1, 3] = number
            yield f"{number} in {name}", one
            some[name].reshape(-1)[rng.integers(0, some[name].size, 3)] = number
            yield f"some {number} in {name}", some
    huge = plain()
    huge["q"] *= np.float32(1e19)
    huge["k"][0, :, -1] *= np.float32(1e19)
    yield "huge scores that are masked", huge
    huge = plain()
    huge["q"] *= np.float32(1e3)
    huge["k"] *= np.float32(1e3)
    yield "large scores", huge
    for zero in 0.0, -0.0:
        zeros = plain()
        zeros["v"][:] = zero
        yield f"values {zero}", zeros
    tiny = plain()  # products vanish below 0; those left out are zeros above it
    tiny["v"] = -np.abs(tiny["v"]) * np.float32(1e-44)
    tiny["v"][0, :, keys // 2:] *= -1
    yield "values that vanish", tiny


def ran(args, folder, engine, inputs):
    given = []
    for name, value in inputs.items():
        np.save(f"{folder}/{name}.npy", value)
        given.append(f"--input={name}={folder}/{name}.npy")
    tools.run([f"{args.bin}/pb-run", engine, *given, "--threads=2", "--output", f"y={folder}/y.npy"])
    return np.load(f"{folder}/y.npy").view(np.int32)


def predicted(args, model, target):
    """Cycles of the whole, and how many kernels are not expected to run."""
    text = tools.run([f"{args.bin}/pbc", model, f"--target={target}", "--explain"])
    return int(text.split(" cycles predicted")[0].split()[-1]), text.count("only where a guard says so")


def check(args, folder, rng, target, name, heads, rows, keys, size, mask, leaves_out):
    for constant in True, False:
        model(f"{folder}/{constant}.onnx", heads, rows, keys, size, mask, constant)
        tools.run([f"{args.bin}/pbc", f"{folder}/{constant}.onnx", f"--target={target}", "-o", f"{folder}/{constant}.pbe"])
    text = tools.run([f"{args.bin}/pbc", f"{folder}/True.onnx", f"--target={target}", "--emit=outline"])
    failed = [] if ("pb.blocks" in text) == leaves_out else ["blocks are left out" if "pb.blocks" in text else "no block is left out"]
    some, guarded = predicted(args, f"{folder}/True.onnx", target)
    if leaves_out and (some >= predicted(args, f"{folder}/False.onnx", target)[0] or guarded != 1):
        failed.append(f"{some} cycles are predicted, and {guarded} kernels are guarded")
    for what, inputs in feeds(rng, heads, rows, keys, size) if tools.runs_here(args.bin, target) else ():
        known = ran(args, folder, f"{folder}/True.pbe", inputs)
        unknown = ran(args, folder, f"{folder}/False.pbe", {**inputs, "mask": mask[None, None]})
        if not np.array_equal(known, unknown):
            failed.append(f"{what}: {np.count_nonzero(known != unknown)} elements differ")
    print(f"{target} {name}: {'; '.join(failed) or 'ok'}", flush=True)
    return len(failed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, help="each so many-th of the masks")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    ran, failed, rng = 0, 0, np.random.default_rng(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(masks()):
            if args.only in case[0] and number % args.every == 0:
                ran += 1
                failed += check(args, folder, rng, TARGETS[number % 2 or case[0] == "far"], *case)
        model(os.path.join(folder, "m.onnx"), 1, 128, 128, 64, np.triu(np.full((128, 128), LOWEST, np.float32), 1), True)
        for target in TARGETS if not args.only else ():
            tools.run([f"{args.bin}/pbc", f"{folder}/m.onnx", f"--target={target}", "--bisect", "-o", f"{folder}/m.pbe"])
    return int(failed > 0 or not ran)


if __name__ == "__main__":
    sys.exit(main())
