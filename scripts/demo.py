"""The demonstration behind scripts/demo: compile, run, compare, draw. MACs are counted from the model: products with
lanes that a chip pads are none."""

import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np
import onnx

import roofline

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODELS = os.path.join(ROOT, "tests", "models")
SHADES = " .:-=+*#%@"
TARGET = "simnpu"


class Failed(Exception):
    pass


def step(text, command):
    """Runs a program, tells how long it took; its error text when it fails."""
    print(f"   {text} ...", end="", flush=True)
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        print()
        raise Failed(f"cannot start {command[0]}: {error.strerror}") from error
    seconds = time.monotonic() - start
    if done.returncode:
        print()
        raise Failed(done.stderr.strip() or done.stdout.strip() or f"{command[0]} ended with {done.returncode}")
    print(f" {seconds:.1f} s", flush=True)
    return seconds


class Network:
    def __init__(self, name, model, images, bin_folder, out):
        self.name, self.model, self.images, self.bin, self.out = name, model, images, bin_folder, out

    def path(self, suffix):
        return os.path.join(self.out, f"{self.name}_{suffix}")

    def compile(self, target):
        engine = self.path(f"{target}.pbe")
        step(f"pbc {os.path.basename(self.model)} --target={target}",
             [self.bin("pbc"), self.model, f"--target={target}", "-o", engine])
        return engine

    def run(self, engine, device, trace=False):
        """Output, and the statistics of the run."""
        result, stats = self.path(f"{device}.npy"), self.path(f"{device}.json")
        command = [self.bin("pb-run"), engine, f"--device={device}", f"--input={self.images}",
                   f"--output={result}", f"--stats={stats}"]
        if trace:
            command.append(f"--trace={self.path('timeline.json')}")
        step(f"pb-run --device={device}", command)
        with open(stats) as file:
            return np.load(result), json.load(file)

    def native_time(self, engine):
        """What pb-run says of repeated runs on all processors, inputs drawn at random."""
        text = subprocess.run([self.bin("pb-run"), engine, "--device=native", "--input=image=random:1", "--warmup=2",
                               "--repeat=9"], check=True, capture_output=True, text=True).stdout
        return [line for line in text.splitlines() if " ms median" in line][-1]

    def draw(self, stats, title):
        roofline.draw(stats, title, self.path("roofline"))

    def reference(self):
        result = self.path("reference.npy")
        step("the NumPy reference", [sys.executable, os.path.join(MODELS, "reference.py"), self.model,
                                     "--input", self.images, "--output", result])
        return np.load(result)


def same_bits(what, got, expected):
    wrong = int((got.reshape(-1).view(np.uint32) != expected.reshape(-1).view(np.uint32)).sum())
    if wrong:
        raise Failed(f"{what}: {wrong} of {expected.size} numbers are not the reference's")
    print(f"   {what}: all {expected.size} numbers are the reference's, bit for bit")


def draw_digits(images, logits, labels, count=6):
    """A row of images in characters, with what was read and what is true below each."""
    right = logits.argmax(1) == labels
    wrong = np.flatnonzero(~right)[:1]
    shown = [*np.flatnonzero(right)[: count - len(wrong)], *wrong]
    pictures = [images[k].reshape(8, 8) / images.max() for k in shown]
    print()
    for y in range(8):
        print("   " + "   ".join("".join(SHADES[int(v * (len(SHADES) - 1))] * 2 for v in p[y]) for p in pictures))
    for title, numbers in (("read", [logits[k].argmax() for k in shown]), ("true", [labels[k] for k in shown])):
        print("   " + "   ".join(f"{title} {n}".center(16) for n in numbers))
    if len(wrong):
        print("   (the last one is the first of those that it reads wrong)")
    print()


def model_macs(path):
    """Multiply-accumulates by output tensor."""
    graph = onnx.shape_inference.infer_shapes(onnx.load(path)).graph
    shapes = {v.name: [d.dim_value or 1 for d in v.type.tensor_type.shape.dim]
              for v in [*graph.value_info, *graph.input, *graph.output]}
    shapes |= {t.name: list(t.dims) for t in graph.initializer}
    macs = {}
    for node in graph.node:
        if node.op_type == "Conv":
            macs[node.output[0]] = int(np.prod(shapes[node.output[0]]) * np.prod(shapes[node.input[1]][1:]))
        elif node.op_type in ("Gemm", "MatMul"):
            macs[node.output[0]] = int(np.prod(shapes[node.output[0]]) * shapes[node.input[0]][-1])
    return macs


def count_model_macs(stats, path):
    """The statistics with MACs counted from the model, not taken from the engine; a layer without a step is a failure."""
    macs = model_macs(path)
    for s in stats["steps"]:
        nodes = s["origin"].split(" + ")  # of a fused kernel: several
        s["macs"] = sum(macs.pop(node, 0) for node in nodes) if s["macs"] else 0
    if macs:
        raise Failed(f"no step of the engine computes {', '.join(macs)}")
    stats["total"]["macs"] = sum(s["macs"] for s in stats["steps"])
    for s in [*stats["steps"], stats["total"]]:
        s["peak_share"] = s["macs"] / (s["cycles"] * stats["peak_macs_per_cycle"])
    return stats


def layer_table(stats):
    peak = stats["peak_macs_per_cycle"]
    print(f"\n   {'layer':<16} {'MACs':>12} {'cycles':>10} {'of peak':>8} {'DRAM bytes':>11}  bound by")
    for s in [s for s in stats["steps"] if s["macs"]] + [stats["total"] | {"origin": "all steps"}]:
        moved = s["dram_read"] + s["dram_write"] + s["dram_fetch"]
        print(f"   {s['origin']:<16.16} {s['macs']:>12,} {s['cycles']:>10,} {s['peak_share']:>8.1%} {moved:>11,}  {s['bound']}")
    rest = sum(s["cycles"] for s in stats["steps"] if not s["macs"])
    total = stats["total"]["cycles"]
    print(f"   Steps without MACs (pooling, layouts, quantising): {rest:,} of {total:,} cycles.")
    print(f"   Peak is {peak} MACs a cycle; at {stats['mhz']} MHz one image takes {total / stats['mhz'] / 1e3:.3f} ms.\n")


def on_the_cpu(network, expected):
    try:
        engine = network.compile("cpu")
    except Failed as refused:
        if "[PB" not in str(refused):
            raise
        print(f"   skipped on the CPU: {str(refused).splitlines()[0]}")
        return
    same_bits("CPU", network.run(engine, "native")[0], expected)
    print(f"   CPU, one image: {network.native_time(engine)}")


def digits(bin_folder, out):
    print("== digits: a small int8 network, 360 images that it was not trained on")
    network = Network("digits", os.path.join(MODELS, "digits.onnx"), os.path.join(MODELS, "digits_images.npy"),
                      bin_folder, out)
    images, labels = np.load(network.images), np.load(os.path.join(MODELS, "digits_labels.npy"))
    engine = network.compile(TARGET)
    expected = network.reference()
    logits, stats = network.run(engine, "rtl", trace=True)
    machine, _ = network.run(engine, "machine")
    same_bits("RTL", logits, expected)
    same_bits("machine", machine, expected)
    on_the_cpu(network, expected)
    draw_digits(images, logits, labels)
    right = int((logits.argmax(1) == labels).sum())
    print(f"   {right} of {len(labels)} digits read right: {right / len(labels):.1%}")
    layer_table(count_model_macs(stats, network.model))
    network.draw(stats, f"digits int8 on {TARGET} RTL")
    return network


def resnet(bin_folder, out):
    print("== ResNet-18, 224x224, int8, seeded weights")
    model, image = os.path.join(out, "resnet18.onnx"), os.path.join(out, "image.npy")
    if not (os.path.exists(model) and os.path.exists(image)):
        step("making the model", [sys.executable, os.path.join(MODELS, "networks.py"), "--net", "resnet18",
                                  "--type", "int8", "--out", model, "--input", image])
    network = Network("resnet18", model, image, bin_folder, out)
    engine = network.compile(TARGET)
    expected = network.reference()
    logits, stats = network.run(engine, "rtl", trace=True)
    machine, modelled = network.run(engine, "machine")
    same_bits("RTL", logits, expected)
    same_bits("machine", machine, expected)
    off = modelled["total"]["cycles"] / stats["total"]["cycles"] - 1
    print(f"   cycles: {stats['total']['cycles']:,} on the RTL; the machine says {off:+.2%}, "
          f"the compiler's cost model said {stats['total']['predicted_cycles'] / stats['total']['cycles'] - 1:+.2%}")
    on_the_cpu(network, expected)
    layer_table(count_model_macs(stats, network.model))
    network.draw(stats, f"ResNet-18 int8 on {TARGET} RTL")
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin", metavar="FOLDER", help="where pbc and pb-run are")
    parser.add_argument("--out", default="build/demo", metavar="FOLDER", help="where the files go")
    parser.add_argument("--no-resnet", action="store_true", help="the digits only")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    start = time.monotonic()
    tool = lambda name: os.path.join(args.bin, name)
    networks = [digits(tool, args.out)] + ([] if args.no_resnet else [resnet(tool, args.out)])
    print(f"== done in {time.monotonic() - start:.0f} s. Timelines open in https://ui.perfetto.dev")
    for path in [n.path(f) for n in networks for f in ("timeline.json", "roofline.png", "roofline.svg")]:
        print(f"   {os.path.getsize(path) / 1e6:7.2f} MB  {path}")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"demo: failed: {failure}")
    except KeyboardInterrupt:
        sys.exit("\ndemo: stopped")
