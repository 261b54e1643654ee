"""Whole models by the code that an engine for a grid carries, on the machine, which checks it: every output has the bits that
the same plan has as threads of vectors (cores32.td, cores64.td for waves of 64, cores16.td for tests/chips/tinygpu.td), which
LLVM brings down to this processor.

    networks.py --bin BUILD/bin [--nets digits,operators,resnet18,transformers,...] [--target nvgpu]

Products of codes must run as the description's instruction of four.

--assemble: instead, that NVIDIA's assembler takes every kernel, without a spill or a stack; skipped where it is not found.
--target amdgpu: that LLVM has code for every kernel, without a spill.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402

import exported  # noqa: E402
import transformers  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = sys.executable


def threads(target):
    if target.endswith(".td"):
        return os.path.join(HERE, "cores16.td")
    wide = target.startswith("amdgpu") and not target.endswith("gfx1100")
    return os.path.join(HERE, "cores64.td" if wide else "cores32.td")


def image_net(folder, name, kind):
    path = os.path.join(folder, f"{name}_{kind}.onnx")
    images = os.path.join(folder, f"{name}_{kind}.npy")
    tools.run([PYTHON, os.path.join(tools.MODELS, "networks.py"), "--net", name, "--type", kind, "--size", "64", "--classes", "40",
               "--out", path, "--input", images])
    return path, [("", images)]


def built(folder, name, nets):
    """A model of transformers.py or exported.py, small, with inputs of its own."""
    path = os.path.join(folder, f"{name}.onnx")
    net = transformers.build(name, "small", nets)
    onnx.save(net.model(), path)
    return path, [(given, save(folder, name, given, value)) for given, value in net.feeds.items()]


def save(folder, name, given, value):
    path = os.path.join(folder, f"{name}-{given}.npy")
    np.save(path, value)
    return path


def models(folder, names):
    for name in names:
        if name == "digits":
            images = os.path.join(folder, "digits.npy")
            np.save(images, np.load(os.path.join(tools.MODELS, "digits_images.npy"))[:3])
            yield name, os.path.join(tools.MODELS, "digits.onnx"), [("", images)]
        elif name == "operators":
            for path in sorted(glob.glob(os.path.join(tools.MODELS, "operators", "*.onnx"))):
                yield os.path.basename(path), path, [("", path.replace(".onnx", "_in.npy"))]
        elif name in ("resnet18", "mobilenetv2"):
            for kind in "f32", "int8":
                yield f"{name} {kind}", *image_net(folder, name, kind)
        else:
            nets = exported.NETS if name in exported.NETS else transformers.NETS
            yield name, *built(folder, name, nets)


def outputs(engine, inputs, folder, args, *more):
    facts = tools.run([os.path.join(args.bin, "pb-objdump"), engine, "--headers"])
    names = re.findall(r"^  output\d+ (\S+):", facts, re.MULTILINE)
    files = [os.path.join(folder, f"out{k}.npy") for k in range(len(names))]
    command = [os.path.join(args.bin, "pb-run"), engine, *more]
    for name, path in inputs:
        command += ["--input", f"{name}={path}" if name else path]
    for name, path in zip(names, files):
        command += ["--output", f"{name}={path}"]
    tools.run(command)
    return {name: np.load(path) for name, path in zip(names, files)}


def multiplies_codes(name, path, args):
    """Whether a network of codes multiplies by dot products of four, by the explanation."""
    if not name.endswith("int8"):
        return True
    said = tools.run([os.path.join(args.bin, "pbc"), path, f"--target={args.target}", "--explain"])
    runs_as = re.findall(r"^ +\d+ .* (\S+)$", said, re.MULTILINE)
    good = sum(name in ("DP4A", "DOT4") for name in runs_as) >= 20 or args.target.endswith(".td")
    if not good:
        print(f"{name}: runs as {runs_as}")
    return good


def compare(name, path, inputs, folder, args):
    engine = os.path.join(folder, "model.pbe")
    pbc = os.path.join(args.bin, "pbc")
    tools.run([pbc, path, f"--target={args.target}", "-o", engine])
    got = outputs(engine, inputs, folder, args, "--device=machine")
    tools.run([pbc, path, f"--target={threads(args.target)}", "-o", engine])
    expected = outputs(engine, inputs, folder, args)
    wrong = [k for k in got if got[k].tobytes() != expected[k].tobytes()]
    print(f"{name}: {'all bits equal' if not wrong else f'differs in {wrong}'}", flush=True)
    return not wrong and multiplies_codes(name, path, args) and len(got) == len(expected) > 0


def spills_of_ptx(text, folder):
    path = os.path.join(folder, "kernels.ptx")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run(["ptxas", f"-arch={re.search(r'.target (sm_[0-9a-z]+)', text)[1]}", "-v", path, "-o", os.devnull],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return ["refused: " + done.stderr.strip().splitlines()[0]]
    entries = re.findall(r"function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill", done.stderr, re.DOTALL)
    return [name for name, stack, spill in entries if stack != "0" or spill != "0"] or ([] if entries else ["no kernel"])


def spills_of_amd(text):
    found = re.findall(r"\.sgpr_spill_count: +(\d+)|\.vgpr_spill_count: +(\d+)|\.private_segment_fixed_size: +(\d+)", text)
    return [] if found and not any(int(n or 0) for row in found for n in row) else ["a kernel"]


def assemble(name, path, folder, args):
    text = tools.run([os.path.join(args.bin, "pbc"), path, f"--target={args.target}", "--emit=asm"])
    found = spills_of_amd(text) if args.target.startswith("amdgpu") else spills_of_ptx(text, folder)
    print(f"{name}: {'all in registers' if not found else f'spills or refused: {found}'}", flush=True)
    return not found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--target", default="nvgpu")
    parser.add_argument("--nets", default="digits,operators,resnet18")
    parser.add_argument("--assemble", action="store_true")
    args = parser.parse_args()
    if args.assemble and args.target.startswith("nvgpu") and not shutil.which("ptxas"):
        print("skipped: ptxas is not in PATH")
        return tools.SKIPPED
    if not args.assemble:
        tools.skip_without(args.bin, threads(args.target))
    os.environ["PB_PTXAS"] = ""  # the machine runs the text
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name, path, inputs in models(folder, args.nets.split(",")):
            good &= assemble(name, path, folder, args) if args.assemble else compare(name, path, inputs, folder, args)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
