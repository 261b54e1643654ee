"""Two builds of pb on this machine's processor, in turn, in one run: what a change gained or lost.

    .venv-bench/bin/python bench/builds.py --before OTHER/build/bin --bin build/bin [--rounds 9] [--threads 1,2]

Matrix products, networks and convolutions of bench/matmul.py and bench/networks.py, compiled by each build and timed one behind the
other, each time in a process of its own. A figure is the median over the rounds of medians, in ms; the ratio is the time before over the
time now, above 1 what is faster. Compile times, of processor seconds, are the least of three. Prints Markdown.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np

import matmul
import networks
import peers

NETS = ["resnet18-f32", "resnet50-f32", "mobilenetv2-f32", "vgg16-f32", "resnet18-int8", "resnet50-int8", "mobilenetv2-int8"]
MORE = ["bert-f32", "vit-f32", "gpt2-f32", "llama-f32", "efficientnet-f32", "convnext-f32", "unet-f32"]


def cases(more):
    """(name, what writes the model there and returns its inputs)."""
    for m, k, n in matmul.SHAPES:
        yield f"{m}x{k}x{n}", lambda path, shape=(m, k, n): matmul.write_model(path, *shape)
    for net in [*NETS, *(MORE if more else [])]:
        yield net, lambda path, net=net: networks.write_network(path, net)
    for channels, edge in networks.CONVOLUTIONS:
        yield f"conv 3x3, {edge}²x{channels} f32", lambda path, c=channels, e=edge: networks.write_convolution(path, c, e)


def compile_seconds(target, binaries, model, engine):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([os.path.join(binaries, "pbc"), model, f"--target={target}", "-o", engine], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(args, folder, name, write):
    model = os.path.join(folder, "model.onnx")
    subprocess.run(["rm", "-rf", f"{model}.inputs"], check=True)
    inputs, builds = write(model), [args.before, args.bin]
    engines = [os.path.join(folder, f"{k}.pbe") for k in range(2)]
    compiled = [[compile_seconds(args.target, build, model, engine) for build, engine in zip(builds, engines)] for _ in range(3)]
    for threads in map(int, args.threads.split(",")):
        times = [[peers.ours(build, engine, threads, inputs, args.repeats) for build, engine in zip(builds, engines)]
                 for _ in range(args.rounds)]
        before, now = np.median(times, axis=0) * 1e3
        seconds = " | ".join(f"{s:.2f}" for s in np.min(compiled, axis=0))
        print(f"| {name} | {threads} | {before:.3f} | {now:.3f} | {before / now:.3f} | {seconds} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", required=True, help="folder of the other build's programs")
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--more", action="store_true", help="transformers and exported networks too")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    args = parser.parse_args()
    print(f"{peers.machine()}, {args.target}. ms a call; compile times in seconds of the processor.\n")
    print("| case | threads | before | now | before / now | compile before | now |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, write in cases(args.more):
            if args.only in name:
                row(args, folder, name, write)


if __name__ == "__main__":
    sys.exit(main())
