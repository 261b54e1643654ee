"""Peers of the CPU benches: matrix products by libraries through ctypes, whole models by their run-times.

Every peer runs in a process of its own (`python bench/peers.py PEER ARGS...`), whose thread count is set before it
starts, and prints the median seconds of its repeats. The caller interleaves them.
"""

import argparse
import ctypes
import glob
import json
import os
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PREFIX = sys.prefix


def library(pattern):
    found = sorted(glob.glob(os.path.join(PREFIX, pattern), recursive=True))
    if not found:
        raise SystemExit(f"peers: nothing matches {pattern}; run bench/setup")
    return ctypes.CDLL(found[0], mode=ctypes.RTLD_GLOBAL)


def median(call, repeats):
    for _ in range(3):
        call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def sgemm(peer, threads, m, k, n):
    """A call of y = a @ b, row-major, by a library's own entry point."""
    rng = np.random.RandomState(1)
    a, b = rng.randn(m, k).astype(np.float32), rng.randn(k, n).astype(np.float32)
    y = np.zeros((m, n), np.float32)
    if peer == "mkl":
        lib, integer = library("lib/libmkl_rt.so*"), ctypes.c_int
        lib.MKL_Set_Num_Threads(threads)
        product = lib.cblas_sgemm
    elif peer == "openblas":
        lib, integer = library("lib/python*/site-packages/numpy.libs/libscipy_openblas64*"), ctypes.c_int64
        lib.scipy_openblas_set_num_threads64_(threads)
        product = lib.scipy_cblas_sgemm64_
    else:
        lib = library("lib/**/libdnnl.so*")
        i64, one, zero = ctypes.c_int64, ctypes.c_float(1), ctypes.c_float(0)
        letter = ctypes.c_char(b"N")

        def call():
            lib.dnnl_sgemm(letter, letter, i64(m), i64(n), i64(k), one, pointer(a), i64(k), pointer(b), i64(n), zero,
                           pointer(y), i64(n))
        return call, lambda: np.abs(y - a @ b).max()

    def call():
        product(101, 111, 111, integer(m), integer(n), integer(k), ctypes.c_float(1), pointer(a), integer(k),
                pointer(b), integer(n), ctypes.c_float(0), pointer(y), integer(n))
    return call, lambda: np.abs(y - a @ b).max()


def save_feeds(path, feeds):
    """Beside the model, where model_feeds finds them."""
    os.makedirs(f"{path}.inputs")
    for name, value in feeds.items():
        np.save(f"{path}.inputs/{name}.npy", value)


def saved_feeds(path):
    """What save_feeds wrote, as pb-run's inputs."""
    return [f"{file[:-4]}={path}.inputs/{file}" for file in sorted(os.listdir(f"{path}.inputs"))]


def arguments(doc, nets, rounds, repeats):
    """The options of a bench of networks."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--nets", default=nets)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--repeats", type=int, default=repeats)
    return parser.parse_args()


def model_feeds(path):
    """The inputs beside the model (NAME.npy in a folder PATH.inputs), else random floats."""
    import onnx
    given = sorted(glob.glob(f"{path}.inputs/*.npy"))
    if given:
        return {os.path.basename(file)[:-4]: np.load(file) for file in given}
    inputs = onnx.load(path, load_external_data=False).graph.input
    return {i.name: np.random.RandomState(7).randn(*(d.dim_value for d in i.type.tensor_type.shape.dim)).astype(np.float32)
            for i in inputs}


def model_call(peer, threads, path):
    """A call of the whole model. PEER may end in -bf16: OpenVINO is told to compute so; in -exact: ONNX Runtime is told that
    its sums of int8 products must not saturate. Its result, as a list, too."""
    feeds = model_feeds(path)
    if peer.startswith("onnxruntime"):
        import onnxruntime as ort
        options = ort.SessionOptions()
        if peer.endswith("-exact"):
            options.add_session_config_entry("session.x64quantprecision", "1")
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, feeds)
    import openvino as ov
    core = ov.Core()
    compiled = core.compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": peer.partition("-")[2] or "f32",
                                                "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1})
    request = compiled.create_infer_request()
    return lambda: list(request.infer(feeds).values())


def environment(threads):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads),
               OPENBLAS_NUM_THREADS=str(threads))
    with open("/proc/cpuinfo") as f:
        if "avx512f" in f.read():
            env.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    return env


def seconds(peer, threads, *args):
    """Median seconds of a peer, measured in a process of its own; None when it fails."""
    done = subprocess.run([sys.executable, os.path.abspath(__file__), peer, str(threads), *map(str, args)],
                          env=environment(threads), capture_output=True, text=True)
    if done.returncode:
        print(f"peers: {peer} {args}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return float(done.stdout.strip().splitlines()[-1])


def told(text, which):
    """Seconds of what pb-run printed of its timed runs: which is median or best."""
    line = [part for part in text.splitlines() if f" ms {which}" in part][-1]
    return float(line.split(f" ms {which}")[0].split()[-1]) / 1e3


def ours(binaries, engine, threads, inputs, repeats, *more):
    """Median seconds of an engine under pb-run. inputs: names, or NAME=VALUE; random numbers where no value is given."""
    command = [os.path.join(binaries, "pb-run"), engine, "--device=native", f"--threads={threads}", "--warmup=3",
               f"--repeat={repeats}", f"--stats={engine}.json", *more]
    for name in inputs:
        command += ["--input", name if "=" in name else f"{name}=random:7"]
    return told(subprocess.run(command, check=True, capture_output=True, text=True).stdout, "median")


def machine():
    with open("/proc/cpuinfo") as f:
        text = f.read()
    name = [line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name")][0]
    return f"{name}, {text.count('processor	:')} processors"


if __name__ == "__main__":
    kind, count = sys.argv[1], int(sys.argv[2])
    if kind.split("-")[0] in ("onnxruntime", "openvino"):
        run = model_call(kind, count, sys.argv[3])
        if sys.argv[5:]:  # where the first output goes
            np.save(sys.argv[5], run()[0])
        print(median(run, int(sys.argv[4])))
    else:
        shape = [int(v) for v in sys.argv[3:6]]
        run, error = sgemm(kind, count, *shape)
        took = median(run, int(sys.argv[6]))
        assert error() < 1e-2 * max(1, shape[1] / 1024), "the peer's product is wrong"
        print(took)
