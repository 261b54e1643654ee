"""A chip without floats, whose own way from sums to codes is multiply and shift: networks compiled to that formula equal
a reference of it bit for bit, on the chip's machine and on the processor that is asked to be like it.

    fixed.py --bin BUILD/bin --target edge_npu.td [--net resnet18 --size 64]
"""

import argparse
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from reference import Reference  # noqa: E402
from reference_fixed import FixedPoint, powers_of_two  # noqa: E402

# What is the chip's own: how the reference says its formula, and whether it needs powers of 2.
CHIPS = {"edge_npu": ({}, False), "edge_npu_fence": ({}, False), "edge_npu_semaphores": ({}, False), "edge_npu_flash": ({}, False), "edge_npu_three": ({}, False),
         "edge_npu_unsigned": (dict(unsigned=True), False),
         "fourcore": ({}, False),
         "fourcore_1": ({}, False),
         "fourcore_fence": ({}, False),
         "fourcore_broadcast": ({}, False),
         "fourcore_fence_broadcast": ({}, False),
         "vectornpu": ({}, False),
         "nvdla": (dict(sum=(15, 47), common=True, away=True), False),
         "nvdla_full": (dict(sum=(15, 47), common=True, away=True), False),
         "vta": (dict(sum=(0, 31), add=(6, 6), nearest=False), True)}
DIGITS = os.path.join(HERE, "..", "models", "digits.onnx")


def wrong_bits(actual, expected):
    return np.count_nonzero(actual.reshape(expected.shape).view(np.int32) != expected.view(np.int32))


class Case:
    def __init__(self, bin_dir, target, net, size, work):
        self.bin, self.target, self.work = bin_dir, target, work
        self.no_power = None  # an average whose scale is no power of 2: a chip that only shifts leaves it
        self.model = tools.network(bin_dir, net, "int8", size, 10) if net else DIGITS
        if net:
            self.images = np.clip(np.random.RandomState(5).randn(1, 3, size, size), -2.5, 2.6).astype(np.float32)
        else:
            self.images = np.load(os.path.join(HERE, "..", "models", "digits_images.npy"))[:40]
        formula, only_shifts = CHIPS[os.path.splitext(os.path.basename(target))[0]]
        graph = onnx.load(self.model)
        if only_shifts:
            self.no_power = "pool_f" if net and (size // 32) & (size // 32 - 1) else None
            graph, self.model = powers_of_two(graph), os.path.join(work, "powers.onnx")
            onnx.save(graph, self.model)
        image, self.own = {graph.graph.input[0].name: self.images}, Reference(graph)
        fixed = FixedPoint(graph, **formula)
        self.fixed, self.plain = fixed.run(image), self.own.run(image)
        self.expected = self.fixed[fixed.outputs[0]].astype(np.float32)

    def run(self, engine, device):
        output = os.path.join(self.work, "out.npy")
        rows = []
        for k, one in enumerate(self.images):
            source = os.path.join(self.work, "in.npy")
            np.save(source, one[None])
            tools.run_engine(self.bin, engine, device, source, output)
            rows.append(np.load(output).reshape(1, -1))
        return np.concatenate(rows)

    def compile(self, target, *options):
        engine, report = os.path.join(self.work, "m.pbe"), os.path.join(self.work, "report.json")
        tools.compile_model(self.bin, self.model, target, engine, f"--report={report}", *options)
        return engine, json.load(open(report))


def check_chip(case):
    engine, report = case.compile(case.target, "--fallback=cpu")
    left = [s["node"] for s in report["steps"] if s["runs_on"] != report["target"]]
    assert left[0] == report["steps"][0]["node"] and left[-1] == report["steps"][-1]["node"], left
    assert all(node == case.no_power for node in left[1:-1]) and (len(left) > 2) == (case.no_power is not None), left
    assert report["codes"]["formula_of"] == report["target"] and 0 <= report["codes"]["scales_off"] < 1e-3, report["codes"]
    wrong = wrong_bits(case.run(engine, "machine"), case.expected)
    print(f"on the chip's machine: {case.expected.size} logits, {wrong} differ; scales off by {report['codes']['scales_off']}")
    return wrong


def check_like(case):
    engine, report = case.compile("cpu", f"--like={case.target}")
    assert report["codes"]["formula_of"] != report["target"], report["codes"]
    wrong = wrong_bits(case.run(engine, "native"), case.expected)
    print(f"on the processor, like it: {case.expected.size} logits, {wrong} differ")
    return wrong


def refused(case, code, word, *arguments):
    run = tools.call([os.path.join(case.bin, "pbc"), case.model, *arguments, "-o", os.path.join(case.work, "no.pbe")])
    assert run.returncode == 1 and f"[PB{code}]" in run.stderr and word in run.stderr, run.stderr


def check_refusals(case):
    """What the formula cannot come near, has no operand for, or what no chip has a formula of."""
    text = open(case.target).read()

    def changed(old, new):
        assert old in text, old
        path = os.path.join(case.work, "changed.td")
        open(path, "w").write(text.replace(old, new, 1))
        return path

    refused(case, 4071, "simnpu makes codes as every target does", "--target=cpu", "--like=simnpu")
    exact = changed("let FactorBits = 15; let MaxShift = 22;", 'let FactorBits = 15; let MaxShift = 22; let MostOff = "0.000001";')
    refused(case, 4070, "% off; it allows", f"--target={exact}")
    other = changed("(i64c Most))));\n  let Signed", "(i64c 126))));\n  let Signed")
    run = tools.call([os.path.join(case.bin, "pbc"), case.model, f"--target={other}", "--explain"])
    assert "SCALE comes nearest: it has the constant 126, here it is 127" in run.stdout, run.stdout + run.stderr


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--target", required=True)
    p.add_argument("--net", default="")
    p.add_argument("--size", type=int, default=64)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        case = Case(a.bin, a.target, a.net, a.size, work)
        codes = [n for n, x in case.fixed.items() if x.dtype == np.int8]
        other = sum(np.count_nonzero(case.fixed[n] != case.plain[n]) for n in codes)
        print(f"the formulas differ in {other} codes of {sum(case.fixed[n].size for n in codes)}")
        assert other > 0, "this model cannot tell the formulas apart"
        wrong = check_chip(case) + check_like(case)
        if not a.net:
            case.compile(a.target, "--fallback=cpu", "--bisect")
            if os.path.basename(a.target) == "edge_npu.td":
                check_refusals(case)
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
