"""Whole models by the code that an engine for a GPU carries, on the machine that checks it: what it takes to compile them and to
run them there, what the code does, and how far the results are from the processor's.

    python bench/gpu.py [--bin build/bin] [--nets resnet18,...] [--targets nvgpu:sm_80,amdgpu:gfx942] [--types f32,f16] [--rows FILE]

Nothing here is the time of a GPU. Random weights of a seed; images of 224, text of 128 tokens, transformers of two layers of
their base's width. One thread of the host, all checks; times are of the processor (user and system of all processes), so that
they say the same beside other work. Compiled: PTX without and with ptxas; of AMD's there is one. off: the largest difference
from --target=cpu, of the largest output; int8 must have its bits. FMAs: of 100 instructions of warps. sectors: read and written,
over what the bytes alone would take. DRAM: bytes behind the model of L2. cycles: thousands that the launches would keep such a GPU
busy at least, by the machine's clock. Rows go to the end of FILE (Markdown) as they are made."""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "tests", "models")
sys.path[:0] = [MODELS, os.path.join(HERE, "..", "tests", "e2e")]
import exported  # noqa: E402
import tools  # noqa: E402
import transformers  # noqa: E402

IMAGES = "resnet18", "resnet50", "mobilenetv2"
# Two layers of the base's width; of GPT-2 a text, and one token behind a cache of 128.
BUILT = {
    "efficientnet-b0": (exported.efficientnet, (224, exported.B0, 1280, 1000)),
    "unet": (exported.unet, (128, 32, 4, 2)),
    "lstm": (exported.lstm, (50, 80, 256, 2, 40)),
    "bert-2": (transformers.bert, (128, 2, 768, 12, 30522)),
    "gpt2-2": (transformers.gpt2, (128, 0, 2, 768, 12, 50257)),
    "gpt2-2-cache": (transformers.gpt2, (1, 128, 2, 768, 12, 50257)),
    "vit-2": (transformers.vit, (224, 16, 2, 768, 12, 1000)),
}
NETS = [*IMAGES, *BUILT, "resnet18-int8"]
HEAD = ["network", "type", "target", "compiled, s", "with ptxas", "run, s", "off", "cycles", "FMAs", "sectors", "DRAM read, MB", "written"]


def model_of(name, folder):
    """(path, [(input, file)])"""
    path = os.path.join(folder, f"{name}.onnx")
    if name in BUILT:
        make, parameters = BUILT[name]
        net = transformers.Net(name.replace("-", "_"))
        make(net, *parameters)
        onnx.save(net.model(), path)
        inputs = []
        for given, value in net.feeds.items():
            inputs.append((given, os.path.join(folder, f"{name}-{given}.npy")))
            np.save(inputs[-1][1], value)
        return path, inputs
    net, kind = name.removesuffix("-int8"), "int8" if name.endswith("-int8") else "f32"
    images = os.path.join(folder, f"{name}.npy")
    command = [sys.executable, os.path.join(MODELS, "networks.py"), "--net", net, "--type", kind, "--size", "224", "--out", path, "--input", images]
    subprocess.run(command, check=True)
    return path, [("", images)]


def timed(command, **environment):
    """(what it said, seconds of the processor, seconds)"""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PB_NO_SERVER": "1", **environment})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout, sum(getattr(after, k) - getattr(before, k) for k in ("ru_utime", "ru_stime")), time.perf_counter() - start


def outputs(options, engine, inputs, folder, *more):
    facts = tools.run([f"{options.bin}/pb-objdump", engine, "--headers"])
    names = re.findall(r"^  output\d+ (\S+):", facts, re.MULTILINE)
    command = [f"{options.bin}/pb-run", engine, *more]
    for given, path in inputs:
        command += ["--input", f"{given}={path}" if given else path]
    for k, name in enumerate(names):
        command += ["--output", f"{name}={folder}/out{k}.npy"]
    said, spent, _ = timed(command)
    return [np.load(f"{folder}/out{k}.npy") for k in range(len(names))], said, spent


def away(got, wanted):
    """The largest difference, of the largest output; 0 means all bits."""
    if all(a.tobytes() == b.tobytes() for a, b in zip(got, wanted)):
        return 0.0
    return max(float(np.abs(a.astype(np.float64) - b).max() / np.abs(b.astype(np.float64)).max()) for a, b in zip(got, wanted))


def row_of(options, name, kind, target, path, inputs, wanted, folder):
    engine = os.path.join(folder, "model.pbe")
    command = [f"{options.bin}/pbc", path, f"--target={target}", "-o", engine, *(["--precision=f16"] if kind == "f16" else [])]
    nvidia = target.startswith("nvgpu")
    _, plain, _ = timed(command, PB_PTXAS="", PB_CODE_CACHE="")
    ptxas = timed([*command[:-1], command[-1]], PB_CODE_CACHE="")[1] if nvidia and options.ptxas else None
    if ptxas is not None:
        timed(command, PB_PTXAS="")
    got, said, spent = outputs(options, engine, inputs, folder, "--device=machine", "--device-options=threads=1", "--counters")
    counts = {key: int(value) for key, value in re.findall(r"^([a-z_.]+) +(\d+)$", said, re.MULTILINE)}
    off = away(got, wanted)
    if kind == "int8" and off:
        raise SystemExit(f"{name} on {target}: other codes than the processor's")
    if not off <= {"f32": 1e-4, "f16": 2e-2, "int8": 0}[kind]:
        raise SystemExit(f"{name} of {kind} on {target}: {off} of the largest output off")
    return [name, kind, target, f"{plain:.1f}", "-" if ptxas is None else f"{ptxas:.1f}", f"{spent:.0f}", f"{off:.1e}" if off else "bits",
            f"{counts['cycles'] / 1e3:.0f}", f"{100 * counts['class.fma'] / counts['warp.instructions']:.0f}", f"{counts['global.sectors'] / counts['global.ideal_sectors']:.2f}",
            f"{counts['dram.read'] / 1e6:.0f}", f"{counts['dram.write'] / 1e6:.0f}"]


def say(options, cells):
    line = f"| {' | '.join(cells)} |"
    print(line, flush=True)
    if options.rows:
        with open(options.rows, "a", encoding="utf-8") as file:
            file.write(line + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--targets", default="nvgpu:sm_80,amdgpu:gfx942")
    parser.add_argument("--types", default="f32,f16", help="of networks that are no codes")
    parser.add_argument("--rows", help="a file, to whose end they go")
    parser.add_argument("--ptxas", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    say(options, HEAD)
    say(options, ["---", "---", "---", *["--:"] * (len(HEAD) - 3)])
    with tempfile.TemporaryDirectory() as folder:
        for name in options.nets.split(","):
            path, inputs = model_of(name, folder)
            processor = os.path.join(folder, "cpu.pbe")
            timed([f"{options.bin}/pbc", path, "--target=cpu", "-o", processor])
            wanted = outputs(options, processor, inputs, folder)[0]
            for kind in ["int8"] if name.endswith("int8") else options.types.split(","):
                for target in options.targets.split(","):
                    say(options, row_of(options, name, kind, target, path, inputs, wanted, folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
