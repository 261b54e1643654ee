"""Attention alone on this machine's processor: pb against ONNX Runtime and, where it is installed, torch's
scaled_dot_product_attention, each with 1 and 2 threads, in turn, in one run.

    .venv-bench/bin/python bench/attention.py --bin build/bin [--lengths 128,1024] [--sizes 64,128] [--forms plain,causal]

Batch 1, 12 heads; forms: plain, causal (a mask that is added), grouped (3 heads of keys), query (one query against all
keys). A figure is the median over rounds of medians, in ms, or with --best the least of all, where others use the machine;
results are compared with ONNX Runtime's. Arena: what pb's engine has of memory beyond inputs and outputs, MB a thread, without the
buffers of an iteration on each thread's stack, 0.8 MB at most. Prints Markdown.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HEADS, GROUPS = 12, 3


def model(path, length, size, form):
    queries = 1 if form == "query" else length
    heads = GROUPS if form == "grouped" else HEADS
    shapes = {"q": [1, HEADS, queries, size], "k": [1, heads, length, size], "v": [1, heads, length, size]}
    consts = [numpy_helper.from_array(np.float32(size**-0.5), "scale")]
    nodes, k, v, scores = [], "k", "v", "scaled"
    if form == "grouped":
        share = HEADS // GROUPS
        consts += [numpy_helper.from_array(np.array(s, np.int64), n) for n, s in
                   [("apart", [1, GROUPS, 1, length, size]), ("wide", [1, GROUPS, share, length, size]),
                    ("joined", [1, HEADS, length, size])]]
        for name in "kv":
            nodes += [helper.make_node("Reshape", [name, "apart"], [name + "1"]),
                      helper.make_node("Expand", [name + "1", "wide"], [name + "2"]),
                      helper.make_node("Reshape", [name + "2", "joined"], [name + "3"])]
        k, v = "k3", "v3"
    nodes += [helper.make_node("Transpose", [k], ["kt"], perm=[0, 1, 3, 2]),
              helper.make_node("MatMul", ["q", "kt"], ["scores"]), helper.make_node("Mul", ["scores", "scale"], ["scaled"])]
    if form == "causal":
        mask = np.triu(np.full((length, length), np.finfo(np.float32).min, np.float32), 1)
        consts.append(numpy_helper.from_array(mask.reshape(1, 1, length, length), "mask"))
        nodes.append(helper.make_node("Add", ["scaled", "mask"], ["masked"]))
        scores = "masked"
    nodes += [helper.make_node("Softmax", [scores], ["p"], axis=-1), helper.make_node("MatMul", ["p", v], ["y"])]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "attention", [value(n, TensorProto.FLOAT, s) for n, s in shapes.items()],
                              [value("y", TensorProto.FLOAT, [1, HEADS, queries, size])], consts)
    onnx.save(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 19)]), path)
    rng = np.random.default_rng(length)
    return {n: rng.standard_normal(s, dtype=np.float32) for n, s in shapes.items()}


def ours(binaries, engine, folder, threads, repeats, best):
    inputs = [a for n in "qkv" for a in ("--input", f"{n}={folder}/{n}.npy")]
    out = subprocess.run([f"{binaries}/pb-run", engine, *inputs, f"--threads={threads}", "--warmup=2",
                          f"--repeat={repeats}", "--output", f"y={folder}/y.npy"], check=True, capture_output=True,
                         text=True).stdout
    return float(out.split(" ms best" if best else " ms median")[0].split()[-1])


def arena_of(binaries, engine):
    """MB of the engine's tensors between kernels."""
    text = subprocess.run([f"{binaries}/pb-objdump", engine], check=True, capture_output=True, text=True).stdout
    return int(text.split("arena: ")[1].split()[0]) / 1e6


def timed(call, repeats, best):
    times = []
    for k in range(repeats + 2):
        start = time.perf_counter()
        call()
        if k >= 2:
            times.append(time.perf_counter() - start)
    return float(np.min(times) if best else np.median(times)) * 1e3


def onnxruntime_call(path, feeds, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)[0]


def torch_call(feeds, form, threads):
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(threads)
    q, k, v = (torch.from_numpy(feeds[n]) for n in "qkv")

    def call():
        with torch.no_grad():
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=form == "causal",
                                                                    enable_gqa=form == "grouped").numpy()
    return call


def shown(ms):
    return f"{ms:.2f}" if ms >= 0.1 else f"{ms:.3f}"


def measure(args, folder, length, size, form):
    path, engine = f"{folder}/m.onnx", f"{folder}/m.pbe"
    feeds = model(path, length, size, form)
    for name, array in feeds.items():
        np.save(f"{folder}/{name}.npy", array)
    subprocess.run([f"{args.bin}/pbc", path, "--target=cpu", "-o", engine], check=True, capture_output=True)
    repeats, arena = max(3, min(40, int(3e7 / (length * length)))), arena_of(args.bin, engine)
    for threads in (int(t) for t in args.threads.split(",")):
        peers = {"ONNX Runtime": onnxruntime_call(path, feeds, threads), "torch": torch_call(feeds, form, threads)}
        peers = {n: c for n, c in peers.items() if c}
        rounds = {n: [] for n in ["pb", *peers]}
        for _ in range(args.rounds):
            rounds["pb"].append(ours(args.bin, engine, folder, threads, repeats, args.best))
            for n, c in peers.items():
                rounds[n].append(timed(c, repeats, args.best))
        expected = peers["ONNX Runtime"]()
        error = np.abs(np.load(f"{folder}/y.npy") - expected).max() / np.abs(expected).max()
        assert error < 1e-4, f"{form} {length} {size}: off by {error}"
        ms = {n: float(np.min(r) if args.best else np.median(r)) for n, r in rounds.items()}
        best = min(m for n, m in ms.items() if n != "pb")
        peers_ms = " | ".join(shown(ms[n]) for n in peers)
        print(f"| {form} | {length} | {size} | {threads} | {shown(ms['pb'])} | {peers_ms} | {best / ms['pb']:.2f} | "
              f"{arena / threads:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--lengths", default="128,256,512,1024,2048,4096")
    parser.add_argument("--sizes", default="64,128")
    parser.add_argument("--forms", default="plain,causal,grouped,query")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--best", action="store_true")
    args = parser.parse_args()
    names = "ONNX Runtime"
    try:
        import torch  # noqa: F401
        names += " | torch"
    except ImportError:
        print("torch is not installed: not compared with", file=sys.stderr)
    print(f"| form | length | head | threads | pb | {names} | best / pb | arena |\n"
          f"|---|--:|--:|--:|--:|{'--:|' * (names.count('|') + 1)}--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for form in args.forms.split(","):
            for size in args.sizes.split(","):
                for length in args.lengths.split(","):
                    measure(args, folder, int(length), int(size), form)


if __name__ == "__main__":
    sys.exit(main())
