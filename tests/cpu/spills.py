"""Sums of register tiles stay in registers, in the code that pbc makes of products and convolutions: a sum that goes to the stack and
back inside a loop over terms costs each step a store and a load that the next one waits for. Of loops that use all registers LLVM may
spill one once for all the terms that it writes out: moves to the stack and back are less than 3 of 100 multiply-adds. And weights that
no cache near a core holds are prefetched a block ahead, others are not.

    spills.py --bin BUILD/bin
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

TARGETS = {"cpu:avx512": "zmm", "cpu:v3": "ymm"}
MOST = 0.03
PREFETCHES = {"convolution 64 56x56": False, "convolution 512 7x7": True}


def save(path, node, inputs, output, weights):
    constants = [helper.make_tensor("w", TensorProto.FLOAT, weights, np.ones(weights, np.float32).tobytes(), raw=True)] if weights else []
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), path)


def product(path, m, k, n):
    save(path, helper.make_node("MatMul", ["a", "b"], ["y"]), {"a": [m, k], "b": [k, n]}, [m, n], None)


def convolution(path, channels, edge):
    shape = [1, channels, edge, edge]
    save(path, helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4), {"x": shape}, shape, [channels, channels, 3, 3])


def depthwise(path, channels, edge, kernel):
    shape = [1, channels, edge, edge]
    save(path, helper.make_node("Conv", ["x", "w"], ["y"], pads=[kernel // 2] * 4, group=channels), {"x": shape}, shape,
         [channels, 1, kernel, kernel])


def loops_of(assembly):
    """Innermost loops that multiply: what stands from a label to the jump back to it, without another label between."""
    begin, lines, found = None, [], []
    for line in assembly.splitlines():
        label = re.match(r"(\.L\w+):", line)
        if label:
            begin, lines = label[1], []
        lines.append(line)
        if begin and re.match(rf"\s+j\w+\s+{re.escape(begin)}$", line) and any("vfmadd" in text for text in lines):
            found.append(lines)
    return found


def share_spilled(loop, register):
    moves = sum(bool(re.search(rf"%{register}.*\(%rsp\)|\(%rsp\).*%{register}", line)) for line in loop)
    return round(moves / sum("vfmadd" in line for line in loop), 3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    cases = {f"product {m}x{k}x{n}": lambda path, s=(m, k, n): product(path, *s)
             for m, k, n in [(256, 256, 256), (512, 512, 512), (196, 576, 256)]}
    cases |= {f"convolution {c} {e}x{e}": lambda path, c=c, e=e: convolution(path, c, e) for c, e in [(64, 56), (128, 28), (256, 14), (512, 7)]}
    cases |= {f"depthwise {c} {e}x{e}, {k}x{k}": lambda path, c=c, e=e, k=k: depthwise(path, c, e, k)
              for c, e, k in [(96, 56, 3), (192, 14, 3), (96, 28, 7)]}
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "m.onnx")
        for name, write in cases.items():
            write(model)
            for target, register in TARGETS.items():
                assembly = subprocess.run([os.path.join(args.bin, "pbc"), model, f"--target={target}", "--emit=asm"], check=True,
                                          capture_output=True, text=True).stdout
                loops = loops_of(assembly)
                spills = [share_spilled(loop, register) for loop in loops]
                good = loops and max(spills) < MOST
                passed, failed = passed + bool(good), failed + (not good)
                if PREFETCHES.get(name, None) not in (None, "prefetcht1" in assembly):
                    failed += 1
                    print(f"{name}, {target}: weights are {'not ' if PREFETCHES[name] else ''}prefetched")
                if not good:
                    print(f"{name}, {target}: moves of vectors to the stack and back, for each multiply-add of a loop: {spills}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
