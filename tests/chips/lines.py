"""Each line of a description left out in turn, each name in it misspelt: refused by a code, or the digits and two products of f32
come out right. Nothing may end by a signal, print no code or take longer than a minute. And what a core's description is told of
features and intrinsics, by the words.

    lines.py --bin BUILD/bin [--every N] [--first K] [--only TEXT]"""

import argparse
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

ROOT = os.path.join(HERE, "..", "..")
DIGITS = os.path.join(HERE, "..", "models", "digits.onnx")
# file, variant, whether it is a core, whose code runs here
CHIPS = {"cpu scaffold": ("tools/templates/cpu/NAME.td", "", True), "npu scaffold": ("tools/templates/npu/NAME.td", "", False),
         "cpu.td": ("targets/cpu/cpu.td", "v3", True), "dsp.td": ("tests/chips/dsp.td", "", True),
         "vectornpu.td": ("tests/chips/vectornpu.td", "", False)}
FMA = '(ins Reg<VREG, F32, ["n"]>:$a, Reg<VREG, F32, ["n"]>:$b, Reg<VREG, F32, ["n"]>:$c)'
THREADS = 'def THREAD : Level { let Name = "thread"; let Max = 64; let Sync = "barrier"; let SyncCycles = 3000; }'
# Of the cpu scaffold: what is wrong, the text, what stands in its place, what must be said of which line.
TOLD = [
    ("an order that the intrinsic does not have", FMA, '(ins Reg<VREG, F32, ["n"]>:$c, Reg<VREG, F32, ["n"]>:$a, Reg<VREG, F32, ["n"]>:$b)',
     r"m.td:35:1: error: VFMADD: 'llvm.fma' comes to something else than Semantics says .PB3391"),
    ("a sum that is none", "(acc_add $c, (mul $a, $b))", "(acc_add $c, (sub $a, $b))", r"m.td:35:1: error: VFMADD: .* than Semantics says .PB3391"),
    ("a feature that it needs", "avx2,fma", "avx2", r"m.td:35:1: error: VFMADD: 'llvm.fma' is no instruction of a processor with the features 'avx2' .PB3390"),
    ("no features", 'let Features = "avx2,fma"; ', "", r"with the features '' .PB3390"),
    ("another processor's", "avx2,fma", "neon,fullfp16", r"m.td:12:1: error: Features: 'neon' is none of x86_64, which code is made for here .PB3388"),
    ("a feature misspelt", "avx2,fma", "avx2,fmaa", r"Features: 'fmaa' is none of x86_64"),
    ("an intrinsic misspelt", "llvm.fma", "llvm.fmma", r"m.td:35:1: error: VFMADD: LLVM has no intrinsic 'llvm.fmma' .PB3389"),
    ("no threads", THREADS, "", r"m.td:12:1: error: mychip: 0 levels of a chip whose code threads share; .*PB3399"),
    ("an intrinsic of other operands", "llvm.fma", "llvm.fabs", r"m.td:35:1: error: VFMADD: its operands are not those of 'llvm.fabs' .PB3389"),
]


def product():
    rng = np.random.default_rng(0)
    weights = [numpy_helper.from_array(rng.standard_normal(s).astype(np.float32), n) for n, s in (("w", (40, 33)), ("v", (33, 10)))]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Relu", ["t"], ["r"]), helper.make_node("MatMul", ["r", "v"], ["y"])]
    ends = [[helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s)] for n, s in (("x", [3, 40]), ("y", [3, 10]))]
    return helper.make_model(helper.make_graph(nodes, "g", *ends, weights), ir_version=9, opset_imports=[helper.make_opsetid("", 17)])


def damaged(text):
    """(what was done, the text)"""
    lines = text.splitlines(keepends=True)
    for k, line in enumerate(lines):
        code = line.split("//")[0]
        if not code.strip():
            continue
        yield f"line {k + 1} left out: {code.strip()[:60]}", "".join([*lines[:k], "\n", *lines[k + 1:]])
        for m in re.finditer(r"[A-Za-z_]\w*", code):
            yield f"line {k + 1}: {m.group()}q", "".join([*lines[:k], line[: m.end()] + "q" + line[m.end():], *lines[k + 1:]])


class Bench:
    def __init__(self, bin_dir, folder):
        self.bin, self.folder = bin_dir, folder
        rng = np.random.default_rng(1)
        onnx.save(product(), f"{folder}/product.onnx")
        self.models = {"digits": (DIGITS, rng.random((1, 1, 8, 8), np.float32), 0), "product": (f"{folder}/product.onnx", rng.standard_normal((3, 40)).astype(np.float32), 1e-4)}
        for name, (path, x, _) in self.models.items():
            np.save(f"{folder}/{name}.npy", x)
        self.right = {}

    def call(self, *command):
        try:
            done = tools.subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60)
        except tools.subprocess.TimeoutExpired:
            return 1 << 8, "no end within 60 s"
        return done.returncode, done.stderr

    def judge(self, path, variant, core):
        """What is wrong with how the description is taken, or nothing."""
        code, said = self.call(f"{self.bin}/pb-tdl", "check", path, *([f"--variant={variant}"] if variant else []))
        if code:
            return "" if code == 1 and "[PB" in said else f"the check ends with {code}: {said[:300]}"
        for name, (model, _, within) in self.models.items():
            if name == "product" and not core:
                continue
            wrong = self.network(path + (f":{variant}" if variant else ""), name, model, within, core)
            if wrong:
                return f"{name}: {wrong}"
        return ""

    def network(self, target, name, model, within, core):
        code, said = self.call(f"{self.bin}/pbc", model, f"--target={target}", "-o", f"{self.folder}/e.pbe")
        if code:
            return "" if code == 1 and "[PB" in said and "bug in the compiler" not in said else f"pbc ends with {code}: {said[:300]}"
        code, said = self.call(f"{self.bin}/pb-run", f"{self.folder}/e.pbe", *([] if core else ["--device=machine"]),
                               f"--input={self.folder}/{name}.npy", f"--output={self.folder}/y.npy")
        if code:
            return "" if core and code == 1 and "[PB" in said else f"pb-run ends with {code}: {said[:300]}"
        y = np.load(f"{self.folder}/y.npy")
        right = self.right.setdefault(name, y)  # of the description as it is, which comes first
        return "" if y.shape == right.shape and np.allclose(y, right, rtol=0, atol=within) else "another result"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    failed = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.bin, folder)
        scaffold = open(os.path.join(ROOT, CHIPS["cpu scaffold"][0]), encoding="utf-8").read().replace("@NAME@", "mychip")
        for what, old, new, wanted in TOLD:
            path = f"{folder}/m.td"
            assert old in scaffold, what
            open(path, "w", encoding="utf-8").write(scaffold.replace(old, new))
            code, said = bench.call(f"{options.bin}/pb-tdl", "check", path)
            compiled, also = bench.call(f"{options.bin}/pbc", DIGITS, f"--target={path}", "-o", f"{folder}/e.pbe")
            good = code == compiled == 1 and re.search(wanted, said) and re.search(wanted, also)
            failed += not good
            print(f"{'ok    ' if good else 'FAILED'} {what}{'' if good else ': ' + said + also}", flush=True)
        for chip, (file, variant, core) in CHIPS.items():
            if options.only not in chip:
                continue
            text = open(os.path.join(ROOT, file), encoding="utf-8").read().replace("@NAME@", "mychip")
            bench.right = {}
            for number, (what, edited) in enumerate([("as it is", text), *damaged(text)]):
                if number and number % options.every != options.first % options.every:
                    continue
                path = f"{folder}/{'mychip' if 'scaffold' in chip else chip[:-3]}.td"
                open(path, "w", encoding="utf-8").write(edited)
                wrong = bench.judge(path, variant, core)
                tried += 1
                failed += bool(wrong)
                if wrong:
                    print(f"FAILED {chip}: {what}: {wrong}", flush=True)
    print(f"{tried} descriptions, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
