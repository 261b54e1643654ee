"""Vector registers that nothing fills from outside: operands come DRAM -> SRAM -> registers, and results go back so. ResNet-18 on
vectorunit.td has the bits of fourcore_1.td, whose unit adds in SRAM; what adds takes less than half of what it does where vectors come
from and go to DRAM straight, as predicted; with one more memory on the way it still has these bits; plans with too many homes, or too
few, are refused.

    steps.py --bin BUILD/bin
"""

import argparse
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402

CHIP = os.path.join(HERE, "vectorunit.td")


def run(a, work, model, target):
    """The logits, and of what adds: cycles, cycles predicted, kernels that the processor runs."""
    engine, output, stats = (os.path.join(work, f) for f in ("m.pbe", "out.npy", "stats.json"))
    tools.compile_model(a.bin, model, target, engine, "--fallback=cpu")
    tools.run([os.path.join(a.bin, "pb-run"), engine, "--device=machine", "--input", "image=random:7", "--output", output,
               f"--stats={stats}"])
    adds = [s for s in json.load(open(stats))["steps"] if "_sum" in s["origin"]]
    return np.load(output).view(np.int32), sum(s["cycles"] for s in adds), sum(s["predicted_cycles"] for s in adds), sum(not s["cycles"] for s in adds)


def variant(work, name, text, defines, *changes):
    path = os.path.join(work, name)
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    open(path, "w").write("".join(f"#define {d}\n" for d in defines) + text)
    return path


def check_plans(a, work, model):
    """One home fewer or more than a chip has steps."""
    def plans(target):
        return tools.call([os.path.join(a.bin, "pbc"), model, f"--target={target}", "--fallback=cpu", "--emit=plan"]).stdout

    def told(target, plan):
        path = os.path.join(work, "plan.txt")
        open(path, "w").write(plan)
        return tools.call([os.path.join(a.bin, "pbc"), model, f"--target={target}", "--fallback=cpu", f"--plan={path}", "-o", os.path.join(work, "no.pbe")])

    plan = next(k for k in re.findall(r"^k\d+ {\n.*?^}\n", plans(CHIP), re.MULTILINE | re.DOTALL) if k.count("home x") == 2)
    assert plan.count("home result") == 2
    again = told(CHIP, plan)
    assert again.returncode == 0, again.stderr
    few = told(CHIP, re.sub(r"^      home x.*\n", "", plan, flags=re.MULTILINE))
    assert few.returncode == 1 and "has its home inside all loops" in few.stderr and "PB2405" in few.stderr, few.stderr
    many = told(CHIP, re.sub(r"^(      home x.*\n)", r"\1\1", plan, flags=re.MULTILINE))
    assert many.returncode == 1 and "x has more homes than steps by which it comes" in many.stderr, many.stderr
    print("plans with a home too few and one too many are refused")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    a = p.parse_args()
    text = open(os.path.join(HERE, "fourcore.td")).read()
    with tempfile.TemporaryDirectory() as work:
        model = tools.network(a.bin, "resnet18", "int8", 64, 1000)
        check_plans(a, work, model)
        right, *_ = run(a, work, model, os.path.join(HERE, "fourcore_1.td"))
        straight = variant(work, "straight.td", text, ("ONE_CORE", "VECTOR_UNIT", "VECTORS_OUTSIDE"))
        far = variant(work, "far.td", text, ("ONE_CORE", "VECTOR_UNIT", "THREE_STEPS"))
        cycles = {}
        for target in CHIP, straight, far:
            bits, cycles[target], predicted, apart = run(a, work, model, target)
            print(f"{os.path.basename(target)}: what adds takes {cycles[target]:,} cycles, predicted {predicted:,}")
            assert np.array_equal(bits, right), f"{target} has other bits"
            assert not apart, f"the processor runs {apart} of what adds"
            assert abs(predicted / cycles[target] - 1) <= (0.05 if target == CHIP else 0.15), predicted
        assert 2 * cycles[CHIP] < cycles[straight]


if __name__ == "__main__":
    main()
