"""simnpu: cycles and share of the array's peak, by memory bandwidth, on RTL and machine; and compile time by pass.

    bench/simnpu.py --bin build/bin [--nets resnet18,resnet50]

The product 512x512x512 is a 1x1 convolution of 512 to 512 channels over 16x32 pixels inside a small network: its row is
that kernel's alone, from doorbell to the last write acknowledged. The RTL exists for 16 bytes a cycle; the other
bandwidths run on the machine. Every result is compared with the NumPy reference. Prints Markdown.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(SOURCE, "tests", "models"))
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from net import Net  # noqa: E402
from qdq import quantized_model  # noqa: E402
from reference import Reference  # noqa: E402


def matmul_network(path):
    rng = np.random.RandomState(1)
    net = Net("matmul", "image", (1, 512, 16, 32), "out")
    net.conv("product", (rng.randn(512, 512, 1, 1) / 23).astype(np.float32), np.zeros(512, np.float32))
    net.head("fc", (rng.randn(10, 512) / 23).astype(np.float32), np.zeros(10, np.float32))
    onnx.save(quantized_model(net, rng.randn(2, 512, 16, 32).astype(np.float32)), path)


def chip(folder, bytes_per_cycle):
    if bytes_per_cycle == 16:
        return "simnpu"
    with open(os.path.join(SOURCE, "targets", "simnpu", "simnpu.td")) as f:
        text = f.read()
    old = "let RowBytes = 16; let BytesPerCycle = 16; let Latency = 100;"
    assert old in text
    path = os.path.join(folder, f"simnpu_{bytes_per_cycle}.td")
    with open(path, "w") as f:
        f.write(text.replace(old, old.replace("16", str(bytes_per_cycle))))
    return path


def measure(args, folder, model, target, device):
    """The steps of one run, after its result was found equal to the reference."""
    engine, stats, out, image = (os.path.join(folder, name) for name in ("m.pbe", "s.json", "o.npy", "i.npy"))
    reference = Reference(onnx.load(model))
    shape = [d.dim_value or 1 for d in onnx.load(model).graph.input[0].type.tensor_type.shape.dim]
    np.save(image, np.clip(np.random.RandomState(5).randn(*shape), -2.5, 2.6).astype(np.float32))
    expected = reference.run({reference.inputs[0]: np.load(image)})[reference.outputs[0]].astype(np.float32)
    compiled = subprocess.run([os.path.join(args.bin, "pbc"), model, f"--target={target}", "-o", engine, "--time-passes"],
                              check=True, capture_output=True, text=True)
    subprocess.run([os.path.join(args.bin, "pb-run"), engine, f"--device={device}", "--input", image, "--output", out,
                    f"--stats={stats}"], check=True, capture_output=True)
    assert np.array_equal(np.load(out).reshape(expected.shape), expected), "the result is not the reference's"
    with open(stats) as f:
        return json.load(f), re.findall(r"^(\S+) +([\d.]+) s$", compiled.stderr, re.M)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--nets", default="resnet18,resnet50")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = {"512x512x512": os.path.join(folder, "matmul.onnx")}
        matmul_network(models["512x512x512"])
        for net in args.nets.split(","):
            models[net] = os.path.join(folder, f"{net}.onnx")
            subprocess.run([sys.executable, os.path.join(SOURCE, "tests", "models", "networks.py"), "--net", net, "--type", "int8",
                            "--out", models[net]], check=True, capture_output=True)
        print("| int8 | DRAM bytes a cycle | device | cycles | of peak MACs | predicted / measured |\n|---|--:|---|--:|--:|--:|")
        times = {}
        for name, model in models.items():
            for width, device in ((8, "machine"), (16, "machine"), (16, "rtl"), (32, "machine")):
                result, passes = measure(args, folder, model, chip(folder, width), device)
                steps = [s for s in result["steps"] if name != "512x512x512" or s["origin"] == "product_f"]
                cycles, macs = sum(s["cycles"] for s in steps), sum(s["macs"] for s in steps)
                share = macs / cycles / result["peak_macs_per_cycle"]
                ratio = sum(s["predicted_cycles"] for s in steps) / cycles
                print(f"| {name} | {width} | {device} | {cycles:,} | {share:.1%} | {ratio:.2f} |")
                times[name] = passes
        print("\n| compile, s | " + " | ".join(p for p, _ in times["512x512x512"]) + " | total |")
        print("|---|" + "--:|" * (len(times["512x512x512"]) + 1))
        for name, passes in times.items():
            print(f"| {name} | " + " | ".join(t for _, t in passes) + f" | {sum(float(t) for _, t in passes):.2f} |")


if __name__ == "__main__":
    main()
