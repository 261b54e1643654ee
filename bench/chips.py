"""The chips of tests/chips on one network: cycles on the machine of each, the share of its array's peak, what binds it.

    chips.py [--bin build/bin] [--net resnet18] [--size 224] [--chips vta,edge_npu] [--within 10] [--batch 8] [--codes]

With --within it fails where a prediction is further off than so many per cent.

Chips that only shift run the network with powers of 2 for scales, those that multiply floats of 16 or 8 bits the one of f32; what a chip has no instructions for, as the steps from
and to f32 of one without floats, runs on the processor and is not counted. That bits are right the tests of
tests/chips say; here the whole network runs once, and predictions are compared with the machine's cycles.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CHIPS = os.path.join(HERE, "..", "tests", "chips")
sys.path[:0] = [os.path.join(HERE, "..", "tests", "e2e"), os.path.join(HERE, "..", "tests", "models")]
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import onnx  # noqa: E402
from reference_fixed import powers_of_two  # noqa: E402

ALL = "tinynpu,gemmini,gemmini_preload,ascend,tpu_v1,edge_npu,vectornpu,fourcore_1,fourcore,vta,nvdla,bf16npu,f16npu"
ONLY_SHIFT = {"vta"}
NARROW = {"bf16npu": "bf16", "f16npu": "f16", "f8npu": "f8e4m3", "f8npu_e5m2": "f8e5m2"}  # precision of their products


def lines_of(path):
    """Lines that say something: neither empty nor a comment."""
    return sum(bool(line.split("//")[0].strip()) for line in open(path))


def of_batch(model, images):
    """The network for so many images at a time."""
    for tensor in [*model.graph.input, *model.graph.output]:
        tensor.type.tensor_type.shape.dim[0].dim_value = images
    del model.graph.value_info[:]
    return model


def of_codes(model):
    """The network from its image's codes to its logits': the host makes the ones and reads the others."""
    graph = model.graph
    first = next(n for n in graph.node if n.op_type == "QuantizeLinear" and n.input[0] == graph.input[0].name)
    last = next(n for n in graph.node if n.op_type == "DequantizeLinear" and n.output[0] == graph.output[0].name)
    for tensor, name in (graph.input[0], first.output[0]), (graph.output[0], last.input[0]):
        tensor.type.tensor_type.elem_type = onnx.TensorProto.INT8
        tensor.name = name
    graph.node.remove(first)
    graph.node.remove(last)
    return model


def measure(args, chip, model, work):
    path, engine, stats = os.path.join(CHIPS, chip + ".td"), os.path.join(work, "m.pbe"), os.path.join(work, "s.json")
    pbc = [os.path.join(args.bin, "pbc"), model, f"--target={path}", *([f"--precision={NARROW[chip]}"] if chip in NARROW else [])]
    subprocess.run([*pbc, "--fallback=cpu", "-o", engine], check=True, stderr=subprocess.DEVNULL)
    told = json.loads(subprocess.run([*pbc, "--explain=json"], check=True, capture_output=True, text=True).stdout)
    subprocess.run([os.path.join(args.bin, "pb-run"), engine, "--device=machine", "--input", f"{onnx.load(model).graph.input[0].name}=random:7", f"--stats={stats}"],
                   check=True, stdout=subprocess.DEVNULL)
    measured = json.load(open(stats))
    bound, worst, predicted = {}, 0, 0
    for s, m in zip(told["steps"], measured["steps"]):
        assert s["kernel"] == m["kernel"]
        if not m["cycles"]:
            continue
        bound[s["bound"]] = bound.get(s["bound"], 0) + m["cycles"]
        predicted += s["predicted_cycles"]
    total = sum(bound.values())
    binds = ", ".join(f"{unit} {100 * c / total:.0f}%" for unit, c in sorted(bound.items(), key=lambda b: -b[1])[:3])
    share = told["macs"] / (total * measured["peak_macs_per_cycle"])
    left = sum(not m["cycles"] for m in measured["steps"])
    return 100 * abs(predicted / total - 1), (f"| {chip} | {lines_of(path)} ({sum(1 for _ in open(path))}) | {measured['peak_macs_per_cycle']:,} | {total:,} | {100 * share:.1f}% | "
            f"{100 * (predicted / total - 1):+.1f}% | {binds} | {left} of {len(measured['steps'])} |")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--bin", default=os.path.join(HERE, "..", "build", "bin"))
    p.add_argument("--net", default="resnet18")
    p.add_argument("--size", type=int, default=224)
    p.add_argument("--chips", default=ALL)
    p.add_argument("--within", type=float)
    p.add_argument("--batch", type=int, default=1)
    p.add_argument("--codes", action="store_true", help="the host makes codes of the image, and logits of codes")
    args = p.parse_args()
    classes = 1000 if args.size > 64 else 10
    model = tools.network(args.bin, args.net, "int8", args.size, classes)
    print(f"{args.net}, {args.size}x{args.size}, on each chip's machine\n")
    print("| chip | lines that say something (of all) | MACs a cycle | cycles | of peak | predicted | bound by | steps on the processor |")
    print("|---|--:|--:|--:|--:|--:|---|--:|")
    failed = False
    with tempfile.TemporaryDirectory() as work:
        powers, batched = os.path.join(work, "powers.onnx"), os.path.join(work, "batched.onnx")
        if ONLY_SHIFT & set(args.chips.split(",")):
            onnx.save(powers_of_two(onnx.load(model)), powers)
        for chip in args.chips.split(","):
            net = tools.network(args.bin, args.net, "f32", args.size, classes) if chip in NARROW else model
            net = powers if chip in ONLY_SHIFT else net
            if args.batch > 1:
                onnx.save(of_batch(onnx.load(net), args.batch), batched)
                net = batched
            if args.codes:
                onnx.save(of_codes(onnx.load(net)), batched)
                net = batched
            off, row = measure(args, chip, net, work)
            print(row, flush=True)
            failed |= args.within is not None and off > args.within
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
