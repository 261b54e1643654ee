"""Products by constants in bf16 on this machine's processor: pb --precision=bf16 against OpenVINO told to use bf16, and both in
f32, in turn, in one run.

    .venv-bench/bin/python bench/bf16.py --bin build/bin [--nets bert,vit,resnet50] [--threads 1,2]

A figure is the best over the rounds of medians, in ms; the error is the largest difference from the product in f64 (for networks
from ONNX Runtime in f32), of the largest output. Prints Markdown.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx

import matmul
import networks
import peers

SHAPES = [(128, 768, 768), (128, 768, 3072), (128, 3072, 768), (512, 1024, 4096), (196, 2304, 256), (1, 4096, 4096)]
FORMS = ["pb-bf16", "openvino-bf16", "pb-f32", "openvino-f32"]


def write_net(path, net):
    sys.path.insert(0, os.path.join(peers.HERE, "..", "tests", "models"))
    import transformers

    if net not in transformers.NETS:
        networks.write_network(path, f"{net}-f32")
        return peers.model_feeds(path)
    made = transformers.build(net, "full", transformers.NETS)
    onnx.save(made.model(), path)
    return made.feeds


def write_product(path, m, k, n):
    matmul.write_model(path, m, k, n)
    return peers.model_feeds(path)


def expected(path, product):
    feeds = peers.model_feeds(path)
    if product:
        right = onnx.numpy_helper.to_array(onnx.load(path).graph.initializer[0])
        return next(iter(feeds.values())).astype(np.float64) @ right.astype(np.float64)
    import onnxruntime
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, feeds)[0].astype(np.float64)


def pb(args, path, form, threads, output):
    engine = f"{path}.{form}.pbe"
    if not os.path.exists(engine):
        subprocess.run([f"{args.bin}/pbc", path, "--target=cpu", f"--precision={form}", "-o", engine], check=True, capture_output=True)
    first = onnx.load(path, load_external_data=False).graph.output[0].name
    return peers.ours(args.bin, engine, threads, peers.saved_feeds(path), args.repeats, "--output", f"{first}={output}")


def measure(args, path, form, threads, output):
    who, kind = form.split("-")
    if who == "pb":
        return pb(args, path, kind, threads, output)
    return peers.seconds(form, threads, path, args.repeats, output)


def row(args, folder, name, write, product):
    path, output = os.path.join(folder, f"{name}.onnx"), os.path.join(folder, "y.npy")
    peers.save_feeds(path, write(path))
    want = expected(path, product)
    for threads in map(int, args.threads.split(",")):
        times, errors = {form: [] for form in FORMS}, {}
        for _ in range(args.rounds):
            for form in FORMS:
                times[form].append(measure(args, path, form, threads, output))
                got = np.load(output).astype(np.float64).reshape(want.shape)
                errors[form] = np.abs(got - want).max() / np.abs(want).max()
        best = {form: min(t) for form, t in times.items()}
        cells = [f"{1e3 * best[form]:.3g}" for form in FORMS]
        print(f"| {name} | {threads} | " + " | ".join(cells) + f" | {best['openvino-bf16'] / best['pb-bf16']:.2f} | "
              f"{errors['pb-bf16']:.1e} | {errors['openvino-bf16']:.1e} |", flush=True)


def main():
    args = peers.arguments(__doc__, nets="bert,vit,resnet50", rounds=5, repeats=9)
    print(f"{peers.machine()}. ms, OpenVINO's time over pb's in bf16, and the errors of both in bf16.\n")
    print("| | threads | " + " | ".join(FORMS) + " | ratio | error pb | error openvino |\n|---|--:|" + "--:|" * (len(FORMS) + 3))
    with tempfile.TemporaryDirectory() as folder:
        for m, k, n in SHAPES:
            row(args, folder, f"{m}x{k}x{n}", lambda path: write_product(path, m, k, n), True)
        for net in filter(None, args.nets.split(",")):
            row(args, folder, net, lambda path: write_net(path, net), False)


if __name__ == "__main__":
    sys.exit(main())
