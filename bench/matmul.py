"""f32 matrix products on this machine: pb against MKL, OpenBLAS and oneDNN, each at its best thread setting, and the
machine's ceiling of multiply-adds, all in one run.

    .venv-bench/bin/python bench/matmul.py --bin build/bin [--random 60 --seed 1]

Squares have both factors at run time; the other shapes are layers, whose right factor is constant and packed at
compile time (libraries get it as it is: their calls have no other form). Rounds are interleaved; a figure is the median
over the rounds of medians. Results are compared with ONNX Runtime's. Prints Markdown. --random: as many seeded random shapes
instead, every other one with both factors at run time, the best of the rounds of medians, against the three libraries alone.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import peers

SHAPES = [(256,) * 3, (512,) * 3, (1024,) * 3, (2048,) * 3, (4096,) * 3, (128, 768, 3072), (3136, 576, 64),
          (196, 2304, 256), (1, 4096, 4096)]
PEERS = ["mkl", "openblas", "onednn", "onnxruntime"]


def write_model(path, m, k, n, computed=None):
    inputs = [helper.make_tensor_value_info("a", TensorProto.FLOAT, [m, k])]
    constants = []
    if m == k == n if computed is None else computed:
        inputs.append(helper.make_tensor_value_info("b", TensorProto.FLOAT, [k, n]))
    else:
        b = np.random.RandomState(1).randn(k, n).astype(np.float32)
        constants = [helper.make_tensor("b", TensorProto.FLOAT, [k, n], b.tobytes(), raw=True)]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [m, n])
    graph = helper.make_graph([helper.make_node("MatMul", ["a", "b"], ["y"], name="product")], "g", inputs, [output],
                              constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    onnx.save(model, path)
    return [i.name for i in inputs]


def check(binaries, model, engine, folder):
    import onnxruntime as ort
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    feeds, command = {}, [os.path.join(binaries, "pb-run"), engine, "--device=native"]
    for k, source in enumerate(session.get_inputs()):
        feeds[source.name] = np.random.RandomState(k).randn(*source.shape).astype(np.float32)
        np.save(os.path.join(folder, f"{source.name}.npy"), feeds[source.name])
        command += ["--input", f"{source.name}={folder}/{source.name}.npy"]
    subprocess.run(command + ["--output", f"y={folder}/y.npy"], check=True, capture_output=True)
    expected = session.run(None, feeds)[0]
    difference = np.abs(np.load(os.path.join(folder, "y.npy")) - expected).max() / np.abs(expected).max()
    assert difference < 1e-4, f"{model}: differs by {difference}"


def rates(times, operations, of):
    """What the table shows of each in GFLOP/s, by `of` all its times, and pb's to the best of the others. A library that did not run
    has None among them."""
    rate = {name: operations / of(t) / 1e9 if None not in t else None for name, t in times.items()}
    best = max(v for name, v in rate.items() if name != "pb" and v)
    return [f"{v:.0f}" if v and v >= 10 else f"{v:.1f}" if v else "–" for v in rate.values()], rate["pb"] / best


def random_shapes(args, threads, folder):
    """Prints how pb stands to the best library on each, the geometric mean and the worst."""
    rng, ratios = np.random.default_rng(args.seed), []
    print(f"| {threads} thread{'s' if threads > 1 else ''} | factors | pb | " + " | ".join(PEERS[:3]) + " | ratio |")
    print("|---|---|--:|" + "--:|" * 3 + "--:|")
    for number in range(args.random):
        m, k, n = (int(2 ** rng.uniform(0 if d == 0 else 4, 11)) for d in range(3))
        model, engine = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.pbe")
        names = write_model(model, m, k, n, number % 2 == 1)
        subprocess.run([os.path.join(args.bin, "pbc"), model, "--target=cpu", "-o", engine], check=True, capture_output=True)
        check(args.bin, model, engine, folder)
        times = {name: [] for name in ["pb"] + PEERS[:3]}
        for _ in range(args.rounds):
            times["pb"].append(peers.ours(args.bin, engine, threads, names, 21))
            for peer in PEERS[:3]:
                times[peer].append(peers.seconds(peer, threads, m, k, n, 21))
        cells, ratio = rates(times, 2 * m * k * n, min)
        ratios.append(ratio)
        print(f"| {m}x{k}x{n} | {'both' if number % 2 else 'left'} | " + " | ".join(cells) + f" | {ratios[-1]:.2f} |", flush=True)
    print(f"\nGeometric mean {np.exp(np.log(ratios).mean()):.2f}, worst {min(ratios):.2f}.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--largest", type=int, default=4096, help="leave out larger shapes")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fma = os.path.join(folder, "fma")
        subprocess.run(["cc", "-O3", "-march=native", "-ffp-contract=fast", "-o", fma,
                        os.path.join(peers.HERE, "fma.c")], check=True)
        ceiling = float(subprocess.run([fma], check=True, capture_output=True, text=True).stdout)
        print(f"{peers.machine()}. Ceiling: {ceiling:.0f} GFLOP/s a thread. GFLOP/s, and the ratio of pb to the best "
              "peer.\n")
        for threads in map(int, args.threads.split(",") if args.random else []):
            random_shapes(args, threads, folder)
        for threads in map(int, [] if args.random else args.threads.split(",")):
            print(f"| {threads} thread{'s' if threads > 1 else ''} | pb | " + " | ".join(PEERS) + " | ratio |")
            print("|---|--:|" + "--:|" * len(PEERS) + "--:|")
            for m, k, n in SHAPES:
                if max(m, k, n) > args.largest:
                    continue
                model, engine = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.pbe")
                names = write_model(model, m, k, n)
                subprocess.run([os.path.join(args.bin, "pbc"), model, "--target=cpu", "-o", engine], check=True,
                               capture_output=True)
                check(args.bin, model, engine, folder)
                repeats = 7 if m * k * n > 1 << 32 else 21
                times = {name: [] for name in ["pb"] + PEERS}
                for _ in range(args.rounds):
                    times["pb"].append(peers.ours(args.bin, engine, threads, names, repeats))
                    for peer in PEERS:
                        what = (model, repeats) if peer == "onnxruntime" else (m, k, n, repeats)
                        times[peer].append(peers.seconds(peer, threads, *what))
                cells, ratio = rates(times, 2 * m * k * n, np.median)
                print(f"| {m}x{k}x{n} | " + " | ".join(cells) + f" | {ratio:.2f} |", flush=True)
            print()


if __name__ == "__main__":
    sys.exit(main())
