"""Attention over many keys, whose copies would be larger than caches, also of heads that share theirs: against NumPy in f64, and that the engine keeps
neither keys nor values nor scores in memory, where keys lie as the product of queries in lanes takes them. Causal ones also on NaN
and infinities, for which blocks of keys that the mask takes out must not be left out.

    attention.py --bin BUILD/bin
"""

import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

# batch, heads, queries, keys, width of queries and keys, width of values, form; whether memory holds nothing
# grouped: two heads of queries on each head of keys and values
CASES = [(1, 4, 1088, 1088, 64, 64, "plain", True), (1, 5, 96, 1001, 64, 64, "plain", True), (2, 2, 64, 1200, 64, 32, "plain", True),
         (1, 4, 160, 1100, 128, 128, "keys", True), (1, 3, 1040, 1040, 96, 48, "no scale", True), (1, 4, 72, 1100, 64, 64, "plain", False),
         (1, 4, 1088, 1088, 64, 64, "mask", False), (1, 4, 1088, 1088, 64, 64, "causal", True), (1, 4, 1072, 1072, 64, 32, "causal", True),
         (1, 6, 1088, 1088, 64, 64, "grouped", True), (2, 4, 96, 2100, 64, 32, "grouped", True), (1, 4, 1088, 1088, 64, 64, "grouped causal", True),
         (1, 10, 256, 256, 64, 64, "grouped", True)]
MOST = 1 << 20  # bytes between kernels


def save(path, batch, heads, queries, keys, width, value_width, form):
    own = heads // 2 if "grouped" in form else heads
    shapes = {"q": [batch, heads, queries, width], "k": [batch, own, keys, width], "v": [batch, own, keys, value_width]}
    constants, nodes, scores, k, v = [], [], "s", "k", "v"
    if "grouped" in form:
        for name, columns in ("k", width), ("v", value_width):
            constants += [numpy_helper.from_array(np.array(shape, np.int64), f"{name}_{what}") for what, shape in
                          (("apart", [batch, own, 1, keys, columns]), ("wide", [batch, own, 2, keys, columns]), ("joined", [batch, heads, keys, columns]))]
            nodes += [helper.make_node("Reshape", [name, f"{name}_apart"], [f"{name}1"]), helper.make_node("Expand", [f"{name}1", f"{name}_wide"], [f"{name}2"]),
                      helper.make_node("Reshape", [f"{name}2", f"{name}_joined"], [f"{name}3"])]
        k, v = "k3", "v3"
    nodes += [helper.make_node("Transpose", [k], ["kt"], perm=[0, 1, 3, 2]), helper.make_node("MatMul", ["q", "kt"], ["s"])]
    if form != "no scale":
        constants.append(numpy_helper.from_array(np.float32(width**-0.5), "scale"))
        nodes.append(helper.make_node("Mul", [scores, "scale"], ["scaled"]))
        scores = "scaled"
    if form in ("keys", "mask"):
        shapes["m"] = [1, 1, 1 if form == "keys" else queries, keys]
    if "causal" in form:
        constants.append(numpy_helper.from_array(np.triu(np.full((1, 1, queries, keys), np.finfo(np.float32).min, np.float32), 1), "m"))
    if form in ("keys", "mask") or "causal" in form:
        nodes.append(helper.make_node("Add", [scores, "m"], ["masked"]))
        scores = "masked"
    nodes += [helper.make_node("Softmax", [scores], ["p"], axis=-1), helper.make_node("MatMul", ["p", v], ["y"])]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [info(n, TensorProto.FLOAT, s) for n, s in shapes.items()],
                              [info("y", TensorProto.FLOAT, [batch, heads, queries, value_width])], constants)
    onnx.save(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 19)]), path)
    rng = np.random.default_rng(keys)
    return {n: rng.standard_normal(s, dtype=np.float32) for n, s in shapes.items()}


def wanted(feeds, width, form):
    q, k, v = (feeds[n].astype(np.float64) for n in "qkv")
    k, v = (np.repeat(each, q.shape[1] // each.shape[1], 1) for each in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (1 if form == "no scale" else width**-0.5)
    if "m" in feeds:
        scores += feeds["m"]
    if "causal" in form:
        scores += np.triu(np.full(scores.shape[-2:], -np.inf), 1)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v


def arena_of(binaries, engine):
    text = subprocess.run([f"{binaries}/pb-objdump", engine], check=True, capture_output=True, text=True).stdout
    return int(text.split("arena: ")[1].split()[0])


def special(feeds, form):
    """The same with one number that is none, or infinite, in each of them."""
    yield "plain numbers", feeds
    for name, number in [(n, x) for n in "qkv" for x in (np.nan, np.inf)] if "causal" in form else ():
        other = {n: array.copy() for n, array in feeds.items()}
        other[name][0, 1, 700, 3] = number
        yield f"{name} with {number}", other


def run(args, folder, engine, feeds, threads):
    for name, array in feeds.items():
        np.save(f"{folder}/{name}.npy", array)
    inputs = [f"--input={name}={folder}/{name}.npy" for name in feeds]
    tools.run([f"{args.bin}/pb-run", engine, f"--threads={threads}", *inputs, f"--output=y={folder}/y.npy"])
    return np.load(f"{folder}/y.npy")


def check(args, folder, case):
    *sizes, form, nothing = case
    model, engine = f"{folder}/m.onnx", f"{folder}/m.pbe"
    plain = save(model, *sizes, form)
    for target in args.targets.split(","):
        tools.run([f"{args.bin}/pbc", model, f"--target={target}", "-o", engine])
        for what, feeds in special(plain, form) if tools.runs_here(args.bin, target) else ():
            expected = wanted(feeds, sizes[4], form)
            for threads in (1, 3) if feeds is plain else (2,):
                got, finite = run(args, folder, engine, feeds, threads), np.isfinite(expected)
                off = np.abs(got - expected)[finite].max(initial=0) / np.abs(expected[finite]).max(initial=1)
                if not off < 1e-5 or (np.isnan(got) != np.isnan(expected)).any():
                    print(f"FAILED {case}, {target}, {threads} threads, {what}: off by {off}")
                    return False
        if nothing and target == "cpu:avx512" and arena_of(args.bin, engine) > MOST:
            print(f"FAILED {case}: an arena of {arena_of(args.bin, engine)} bytes")
            return False
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--targets", default="cpu:avx512,cpu:v3")
    parser.add_argument("--every", type=int, default=1, help="each so many-th of the cases")
    args = parser.parse_args()
    np.seterr(invalid="ignore")
    with tempfile.TemporaryDirectory() as folder:
        passed = [check(args, folder, case) for case in CASES[:: args.every]]
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed, 0 skipped")
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main())
