"""Judges compiled int8 networks, layer by layer and as a whole.

    judge.py --bin BUILD/bin [--net resnet18,...] [--size 224] [--inputs 32] [--devices native,machine]

Layers: each layer alone, as a model of its own, gets the inputs that reference.py computed for it; on every device at
least 99.99% of its codes are the reference's and none is more than one code apart.

Inputs: seeded images through the whole network on `native`. At least 8 different classes come first (as many as there
are images, when those are fewer); the first class is ONNX Runtime's wherever its margin is over one code of the logits'
scale; the logits, less their mean over the images, have a cosine of at least 0.999 with ONNX Runtime's. That is ONNX
Runtime as it comes, with its kernels on integers. Unoptimised, operator by operator in floats, it rounds some codes the
other way, and in a deep network with random weights one such code changes many later ones: how close its two ways are
to each other is printed beside ours. On `machine` the first image only, whose logits must be those of `native`.

Prints a table for each network; exit code 1 when anything misses.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import networks  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import qdq  # noqa: E402
from net import save  # noqa: E402
from reference import Reference  # noqa: E402

TARGETS = {"native": "cpu", "machine": "simnpu"}
EQUAL, APART, CLASSES, COSINE = 0.9999, 1, 8, 0.999


def run(args, model_file, device, inputs, output):
    """Compiles a model file for the device and runs it. inputs: (name, file) pairs."""
    engine = model_file + f".{device}.pbe"
    tools.compile_model(args.bin, model_file, TARGETS[device], engine)
    named = [f"--input={name}={file}" for name, file in inputs]
    tools.run(
        [os.path.join(args.bin, "pb-run"), engine, f"--device={device}", *named, "--output", output], timeout=3600
    )
    os.remove(engine)
    return np.load(output)


# ---- layer by layer ----


def judge_layer(args, folder, model, codes, values, device):
    """(elements, equal ones, the largest distance in codes) of one layer on one device."""
    shapes = {name: value.shape for name, value in values.items()}
    alone = qdq.one_layer(model, codes, shapes)
    stem = os.path.join(folder, f"{codes}.{device}")
    save(alone, stem + ".onnx", full_check=False)
    parts, sources = Reference(alone), []
    for value in alone.graph.input:
        name = value.name.removeprefix("in_")
        array = values[name]
        if name != value.name:  # codes, as the floats that stand for them
            quant = next(node for node in alone.graph.node if node.output[0] == name)
            scale, zero = parts.scale_zero(quant)
            array = (array.astype(np.float32) - np.float32(zero)) * scale
        np.save(f"{stem}.in{len(sources)}.npy", array.astype(np.float32))
        sources.append((value.name, f"{stem}.in{len(sources)}.npy"))
    actual = run(args, stem + ".onnx", device, sources, stem + ".out.npy")
    scale, zero = parts.scale_zero(alone.graph.node[-1])
    actual = np.rint(actual / scale) + zero
    os.remove(stem + ".out.npy")
    apart = np.abs(actual - values[codes].reshape(actual.shape).astype(np.float64))
    for file in [stem + ".onnx"] + [file for _, file in sources]:
        os.remove(file)
    return apart.size, int((apart == 0).sum()), int(apart.max())


def judge_layers(args, folder, model, image):
    reference = Reference(model)
    source = reference.inputs[0]
    values = {source: image, **reference.run({source: image})}
    layers = [node.output[0] for node in reference.nodes]
    for output in reference.outputs:
        values.pop(output)
    good = True
    for device in args.devices:
        start, rows = time.monotonic(), []
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            jobs = {codes: pool.submit(judge_layer, args, folder, model, codes, values, device) for codes in layers}
            for codes, job in jobs.items():
                try:
                    size, equal, apart = job.result()
                except tools.Failed as error:
                    told = [line for line in str(error).splitlines() if "error: " in line]
                    print(f"  {codes} on {device}: {'; '.join(told) or str(error)[-300:]}")
                    good = False
                    continue
                rows.append((equal / size, apart, codes, size, equal))
                if equal < EQUAL * size or apart > APART:
                    print(f"  {codes} on {device}: {100 * equal / size:.4f}% of {size} equal, at most {apart} apart")
                    good = False
        least, size, equal = min(rows, default=(0, 0, "none")), sum(row[3] for row in rows), sum(row[4] for row in rows)
        share = 100 * equal / max(size, 1)
        print(
            f"  layers  {device:8s} {len(rows)} of {len(layers)} run, {size} codes, {share:.5f}% equal, "
            f"at most {max((row[1] for row in rows), default=0)} apart, least {100 * least[0]:.4f}% ({least[2]}), "
            f"{time.monotonic() - start:.0f} s",
            flush=True,
        )
    return good


# ---- whole networks ----


def runtime_logits(model, images, optimised):
    options, levels = onnxruntime.SessionOptions(), onnxruntime.GraphOptimizationLevel
    options.log_severity_level = 3
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    options.add_session_config_entry("session.x64quantprecision", "1")  # sums that do not saturate (exact.py)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {session.get_inputs()[0].name: image[None]})[0] for image in images])


def cosine(a, b):
    """Of two sets of logits, one image a row, each less its mean over the images."""
    a, b = a - a.mean(0), b - b.mean(0)
    return float((a * b).sum() / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-30))


def judge_inputs(args, folder, model, images):
    start, stem, reference = time.monotonic(), os.path.join(folder, "whole"), Reference(model)
    save(model, stem + ".onnx", full_check=False)
    np.save(stem + ".npy", images)
    np.save(stem + "1.npy", images[:1])
    name = reference.inputs[0]
    try:
        ours = run(args, stem + ".onnx", "native", [(name, stem + ".npy")], stem + ".out.npy").reshape(len(images), -1)
    except tools.Failed as error:
        print(f"  native: {error}")
        return False
    theirs, floats = (runtime_logits(model, images, optimised) for optimised in (True, False))
    scale = float(reference.source(reference.outputs[0])[1])
    best = np.sort(theirs, 1)[:, -2:]
    clear = best[:, 1] - best[:, 0] > scale * 1.0001  # logits are multiples of the scale, but for rounding
    agree = ours.argmax(1) == theirs.argmax(1)
    classes, close = len(set(ours.argmax(1).tolist())), cosine(ours, theirs)
    good = classes >= min(CLASSES, len(images)) and bool(agree[clear].all()) and close >= COSINE
    print(
        f"  inputs  native   {len(images)} images, {classes} first classes; "
        f"{(agree & clear).sum()} of {clear.sum()} clear ones agree, {agree.sum()} of all; cosine {close:.6f}, "
        f"with the unoptimised {cosine(ours, floats):.6f}, of those two {cosine(theirs, floats):.6f}; "
        f"{time.monotonic() - start:.0f} s",
        flush=True,
    )
    return good and ("machine" not in args.devices or judge_machine(args, stem, name, ours[0]))


def judge_machine(args, stem, name, expected):
    start = time.monotonic()
    try:
        logits = run(args, stem + ".onnx", "machine", [(name, stem + "1.npy")], stem + ".out.npy").reshape(-1)
    except (tools.Failed, subprocess.TimeoutExpired) as error:
        print(f"  machine: {str(error)[-400:]}")
        return False
    wrong = int((logits != expected).sum())
    seconds = time.monotonic() - start
    print(f"  inputs  machine  1 image, {wrong} of {logits.size} logits are not native's; {seconds:.0f} s", flush=True)
    return wrong == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--net", default="resnet18,resnet50,mobilenetv2,vgg16", help="names with commas between them")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--inputs", type=int, default=32, help="images, 1 to 32")
    parser.add_argument("--devices", default="native,machine")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2, help="layers at a time")
    parser.add_argument("--part", choices=["all", "layers", "inputs"], default="all")
    args = parser.parse_args()
    args.devices = args.devices.split(",")
    if not set(args.devices) <= set(TARGETS) or not 1 <= args.inputs <= networks.FIT_IMAGES:
        parser.error(f"--devices are among {', '.join(TARGETS)}; --inputs is 1 to {networks.FIT_IMAGES}")
    missed = []
    for name in args.net.split(","):
        net, images = networks.build_network(name, args.size, args.classes)
        model = qdq.quantized_model(net, images[: networks.CALIBRATION_IMAGES])
        print(f"{name} at {args.size}x{args.size}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            good = args.part == "layers" or judge_inputs(args, folder, model, images[: args.inputs])
            good &= args.part == "inputs" or judge_layers(args, folder, model, images[:1])
        missed += [] if good else [name]
    print(f"missed: {', '.join(missed)}" if missed else "passed")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
