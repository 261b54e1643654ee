"""Models in PyTorch, batch 1: eager, torch.compile by Inductor (frozen), and pb by the decorator with weights as constants and at
run time, by torch.compile, and as an ONNX file that PyTorch wrote of the same module; in turns in one process.

    LD_LIBRARY_PATH=.venv-frameworks/cuda-stubs PYTHONPATH=python:tests/python .venv-frameworks/bin/python bench/frameworks.py
        [--nets resnet50,bert] [--ways eager,inductor,constants,late,compile,onnx] [--threads 1] [--rounds 9] [--processor]

wants torch and torchvision; onnx and onnxscript for files. A figure is the best of the rounds, in ms; with --processor of the processors'
time, which other work on the machine lengthens less. Prints Markdown."""

import argparse
import math
import os
import sys
import tempfile
import time
import warnings

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python")]
warnings.simplefilter("ignore")
import torch
from torch_models import Bert, Gpt2, Recurrent, UNet, drawn, ids, seeded
from torch_networks import made

import polyblocks
from polyblocks import polyblocks_jit_torch

WAYS = "eager", "inductor", "constants", "late", "compile", "onnx"


def bert(layers):
    def make():
        module = Bert(768, 12, layers, 30522)
        module.places = torch.nn.Embedding(128, 768)
        return module

    return make, lambda: (ids(1, 128), torch.ones(1, 128, dtype=torch.int64))


def gpt2():
    module = Gpt2(768, 12, 12, 50257)
    module.places = torch.nn.Embedding(128, 768)
    return module


def image(name, side=224):
    return lambda: made(name), lambda: (drawn(1, 3, side, side),)


NETS = {
    "resnet18": image("resnet18"),
    "resnet50": image("resnet50"),
    "mobilenet_v2": image("mobilenet_v2"),
    "efficientnet_b0": image("efficientnet_b0"),
    "convnext_tiny": image("convnext_tiny"),
    "vit_b_16": image("vit_b_16"),
    "bert": bert(12),
    "distilbert": bert(6),
    "gpt2": (gpt2, lambda: (ids(1, 128),)),
    "gpt2_token": (gpt2, lambda: (ids(1, 1),)),
    "unet": (lambda: UNet(32), lambda: (drawn(1, 3, 256, 256),)),
    "lstm": (lambda: Recurrent(torch.nn.LSTM), lambda: (drawn(1, 64, 16),)),
}


def ready(way, module, arguments, threads):
    """What is called."""
    options = {"n_threads": threads}
    if way == "inductor":
        return torch.compile(module, options={"freezing": True, "cpp.threads": threads})
    if way in ("constants", "late"):
        return polyblocks_jit_torch(module, compile_options={**options, "device_one_time_load": way == "constants"})
    if way == "compile":
        return torch.compile(module, backend="polyblocks", options={**options, "device_one_time_load": True})
    if way == "onnx":
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            torch.onnx.export(module, arguments, path, dynamo=True, external_data=True, verbose=False)
            engine = polyblocks.compile(path, options=options)
        return lambda *a: engine(*a[: len(engine.inputs)])
    return module


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--processor", action="store_true")
    o = parser.parse_args()
    torch.set_num_threads(o.threads)
    ways, times, clock = o.ways.split(","), [], time.process_time if o.processor else time.perf_counter
    print(f"| {o.threads} thread{'s' * (o.threads > 1)} |", " | ".join(ways), "|\n| --- |", "--: | " * len(ways))
    for name in o.nets.split(","):
        make, arguments = NETS[name]
        module, arguments, called, best = seeded(make()), arguments(), {}, {}
        with torch.no_grad():
            for way in ways:
                torch._dynamo.reset()
                try:
                    called[way] = ready(way, module, arguments, o.threads)
                    called[way](*arguments)
                except Exception as error:
                    print(f"{name} {way}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
                    called.pop(way, None)
            for _ in range(o.rounds):
                for way, call in called.items():
                    start = clock()
                    call(*arguments)
                    best[way] = min(best.get(way, math.inf), clock() - start)
        times.append(best)
        print(f"| {name} |", " | ".join(f"{1e3 * best[way]:.3g}" if way in best else "" for way in ways), "|", flush=True)
    for way in [w for w in ways if w not in ("constants", "onnx") and all("constants" in t for t in times)]:
        ratios = [t[way] / t["constants"] for t in times if way in t]
        if ratios:
            print(f"geometric mean of {way} / constants: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} of {len(ratios)}")


if __name__ == "__main__":
    main()
