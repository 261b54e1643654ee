"""What compiling takes: the peak of memory is held to the model's file and a fixed amount, the time is printed.

    compile_limits.py --bin BUILD/bin --nets digits,resnet18 --size 224 --targets simnpu,cpu:avx512 [--types int8,f32]
        [--over 400] [--product 512]

--product: one product by so many megabytes of f32 weights too, which are read where they lie in the file and written in another
order: there is one copy of them in memory at most.
--over: megabytes (10^6 bytes) beyond the file. Chips with command queues compile int8 only. Time is never a failure: it
is the machine's as much as the compiler's.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402


def model_of(net, kind, size, classes, folder):
    """The model's file; None for what does not exist."""
    if net == "digits":
        return os.path.join(tools.MODELS, "digits.onnx") if kind == "int8" else None
    path = os.path.join(folder, f"{net}-{kind}.onnx")
    if not os.path.exists(path):
        tools.run([sys.executable, os.path.join(tools.MODELS, "networks.py"), "--net", net, "--type", kind,
                   "--size", str(size), "--classes", str(classes), "--out", path], timeout=3600)
    return path


PRODUCT = """
import sys, numpy, onnx
from onnx import TensorProto, helper
size, path = int(sys.argv[1]) * 2**20 // 4 // 4096, sys.argv[2]
weights = numpy.arange(4096 * size, dtype=numpy.int32).view(numpy.float32)
ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, k]) for n, k in (("x", 4096), ("y", size))]
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", ends[:1], ends[1:],
                          [helper.make_tensor("w", TensorProto.FLOAT, [4096, size], weights.tobytes(), raw=True)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), path)
"""


def models_of(args, folder):
    """(name, type, target, the model's file)"""
    for net in filter(None, args.nets.split(",")):
        for kind in args.types.split(","):
            for target in args.targets.split(","):
                model = model_of(net, kind, args.size, args.classes, folder)
                if model and (kind == "int8" or target.startswith("cpu")):
                    yield net, kind, target, model
    if args.product:
        model = os.path.join(folder, "product.onnx")
        tools.run([sys.executable, "-c", PRODUCT, str(args.product), model])
        yield "product", "f32", "cpu", model


def compile_once(args, model, target, engine):
    """Seconds, and the peak of the compiler's resident memory in bytes. This process stays small: a child counts what
    its parent held when it began."""
    start = time.monotonic()
    child = subprocess.Popen([os.path.join(args.bin, "pbc"), model, f"--target={target}", "-o", engine],
                             stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise tools.Failed(f"pbc {model} --target={target}: exit code {child.returncode}")
    return time.monotonic() - start, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--nets", default="")
    parser.add_argument("--types", default="int8")
    parser.add_argument("--targets", default="simnpu,cpu:avx512")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--over", type=float, default=400)
    parser.add_argument("--product", type=int, default=0)
    args = parser.parse_args()
    if subprocess.run([sys.executable, "-c", "import numpy, onnx, onnxruntime"], capture_output=True).returncode:
        print("skipped: numpy, onnx or onnxruntime is not installed (scripts/setup installs them)")
        return tools.SKIPPED
    beyond = 0
    with tempfile.TemporaryDirectory() as folder:
        for net, kind, target, model in models_of(args, folder):
            seconds, peak = compile_once(args, model, target, os.path.join(folder, "m.pbe"))
            limit = os.path.getsize(model) + args.over * 1e6
            beyond += peak > limit
            print(f"{net:12} {kind:5} {target:12} {seconds:7.2f} s  {peak / 1e6:7.1f} MB of {limit / 1e6:7.1f}"
                  f"{' too much' if peak > limit else ''}", flush=True)
    return int(beyond != 0)


if __name__ == "__main__":
    sys.exit(main())
