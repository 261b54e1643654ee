"""What is refused of programs with open dims, when they are compiled and when shapes come: by its words.

    tests/open/refusals.py --bin build/bin"""
import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent / "models")]
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx.parser  # noqa: E402

HEAD = '<ir_version: 9, opset_import: ["" : 18]>\n'
ADD = "g (float[b, s] x, float[b, s] y) => (float[b, s] z) { z = Add(x, y) }"
NEEDED = "g (float[n] x) => (float[m] z) <int64[1] from = {0}, int64[1] to = {10}, float[9] w = {1,1,1,1,1,1,1,1,1}> { y = Slice(x, from, to) z = Add(y, w) }"
TEN = NEEDED.replace("[9] w = {", "[10] w = {1,")
TWO = "g (float[n] x, float[m] y) => (float[n] z) { z = Add(x, y) }"
WINDOW = "g (float[1, 1, n, n] x) => (float[1, 1, m, m] z) <float[1, 1, 3, 3] w = {1,1,1,1,1,1,1,1,1}> { y = Conv(x, w) z = Conv(y, w) }"
TAIL = "int64[1] from = {4}, int64[1] to = {9223372036854775807}, int64[1] zero = {0}"
SET = "g (float[n, 3] x, float[1, 3] u) => (float[m, 3] z) <%s, int64[1, 3] at = {0, 0, 0}> { y = Slice(x, from, to, zero) z = ScatterElements<axis = 1>(y, at, u) }" % TAIL
SET_ROW = "g (float[n, 3] x, float[1, 3] u) => (float[m, 3] z) <%s, int64[1, 3] at = {0, 0, 0}> { y = Slice(x, from, to, zero) z = ScatterElements<axis = 0>(y, at, u) }" % TAIL
TAKE = "g (float[n, 3] x) => (float[1, 2] z) <%s, int64[1, 2] at = {0, 2}> { y = Slice(x, from, to, zero) z = GatherElements<axis = 1>(y, at) }" % TAIL
SAID = "g (float[1, n, m] x, int64[3] s) => (float[a, b] z) <float[4, 1] w = {1,1,1,1}> { t = Expand(x, s) y = Flatten<axis = 0>(t) z = MatMul(y, w) }"
LARGEST = "g (float[n, 3] x) => (int64[1, 3] z) { z = ArgMax<axis = 0>(x) }"
SQUEEZE = "g (float[n, 3] x) => (float[m, 3] y) { y = Squeeze(x) }"


class Bench:
    def __init__(self, bin_dir, folder):
        self.bin, self.folder, self.failed = bin_dir, Path(folder), 0

    def say(self, good, what, why=""):
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {what}{'' if good else ': ' + why}")

    def compile(self, model, options, target="cpu"):
        path = model
        if not str(model).endswith(".mlir"):
            path = self.folder / "m.onnx"
            path.write_bytes(onnx.parser.parse_model(HEAD + model).SerializeToString())
        return tools.call([f"{self.bin}/pbc", str(path), f"--target={target}", "-o", str(self.folder / "m.pbe"), *options])

    def refused(self, what, model, options, *words, target="cpu"):
        done = self.compile(model, options, target)
        self.say(done.returncode == 1 and all(w in done.stderr for w in words), what, done.stderr)

    def run(self, inputs):
        command = [f"{self.bin}/pb-run", str(self.folder / "m.pbe"), "--output", f"z={self.folder}/z.npy"]
        for name, shape in inputs.items():
            np.save(self.folder / f"{name}.npy", np.ones(shape, np.float32))
            command += ["--input", f"{name}={self.folder}/{name}.npy"]
        return tools.call(command)

    def run_refused(self, what, model, inputs, *words):
        done = self.compile(model, ["--dim", "b=?", "--dim", "s=?"] if "float[b" in model else ["--dim", "n=?"])
        if done.returncode:
            return self.say(False, what, done.stderr)
        done = self.run(inputs)
        self.say(done.returncode != 0 and all(w in done.stderr for w in words), what, done.stderr)

    def runs(self, what, inputs, shape):
        done = self.run(inputs)
        good = not done.returncode and np.load(self.folder / "z.npy").shape == shape
        self.say(good, what, done.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    with tempfile.TemporaryDirectory() as folder:
        t = Bench(parser.parse_args().bin, folder)
        text = HERE / "texts" / "doubled.mlir"
        t.refused("a chip with queues, a text", text, [], "PB2027", "arg0: its dim 0 is open", "--input-shape arg0=1,8", target="simnpu")
        t.refused("a chip with queues, a model", ADD, ["--dim", "b=?"], "PB2027", "list its values", target="simnpu")
        t.refused("an open dim in a profile", ADD, ["--dim", "b=1,8", "--dim", "s=?"], "PB1004", "'s' is open in a profile")
        t.refused("what is of one plan", ADD, ["--dim", "b=?", "--dim", "s=4", "--emit=plan"], "PB1008", "'b' is open")
        narrow = t.folder / "narrow.mlir"  # sizes in 8 bits: they wrap
        narrow.write_text((HERE / "texts" / "all_mean.mlir").read_text().replace("tensor<i32>", "tensor<ui8>"))
        t.refused("a count that wraps, by its line", narrow, [], "narrow.mlir:18:1: error: convert:18: ", "PB4111", "list values")
        t.refused("an op that a chip lacks, by its line", HERE / "texts" / "largest_place.mlir", ["--input-shape", "arg0=4x6"],
                  "largest_place.mlir:27:1: error: reduce:27: ", "PB4048", target="simnpu")
        t.refused("no such dim", ADD, ["--dim", "q=?"], "PB2026", "dims: b s")
        t.run_refused("two extents of one name", ADD, {"x": (2, 3), "y": (2, 4)}, "PB5047", "input 'y': its dim 1 is 4, and 's' is 3 by 'x'")
        t.run_refused("another rank", ADD, {"x": (2, 3), "y": (2, 3, 1)}, "PB5047", "'y'")
        t.refused("a sum of shapes that say another", NEEDED, ["--dim", "n=?"], "PB2020", "shapes that do not fit")
        t.refused("columns that open dims and data say together", SAID, [], "PB2020", "shapes that do not fit", "PB2029", "n (open) as 59", "t.0 (which data say) as ", "--bind")
        done = t.compile(TEN, ["--dim", "n=?"])
        t.say(not done.returncode and "PB2039" in done.stderr and "shapes that do not fit" in done.stderr, "which is said when it is compiled", done.stderr)
        names = ", ".join(f"float[d{k}] x{k}" for k in range(65))
        t.refused("too many open dims", f"g ({names}) => (float[m] z) {{ z = Concat<axis = 0>({', '.join(f'x{k}' for k in range(65))}) }}",
                  [o for k in range(65) for o in ("--dim", f"d{k}=?")], "PB2027", "more than 64 open dims")
        t.run_refused("a slice past the end, whose extent is needed", TEN, {"x": (7,)}, "PB5049", "10 is more than 7")
        t.runs("and within it", {"x": (11,)}, (10,))
        t.run_refused("open dims of two names, which an operator takes as one", TWO, {"x": (3,), "y": (4,)}, "PB5047", "its dim 0 is 4, and 'n' is 3 by 'x'")
        t.runs("and which are one", {"x": (3,), "y": (3,)}, (3,))
        done = t.compile(TWO, ["--dim", "n=?", "--dim", "m=?"])
        t.say("'n' and 'm' are taken as one" in done.stderr and "PB2038" in done.stderr, "which is said", done.stderr)
        t.run_refused("windows that are larger than what they walk", WINDOW, {"x": (1, 1, 2, 2)}, "PB5049", "0 is more than -2")
        t.runs("and as large", {"x": (1, 1, 5, 5)}, (1, 1, 1, 1))
        for name, model in (("sets elements", SET), ("sets rows", SET_ROW), ("takes elements", TAKE)):
            feeds = {"x": (4, 3)} if model == TAKE else {"x": (4, 3), "u": (1, 3)}
            t.run_refused(f"{name} of a tensor that has none", model, feeds, "PB5049", "is more than")
        t.run_refused("the place of the largest of none", LARGEST, {"x": (0, 3)}, "PB5049", "1 is more than 0")
        t.runs("and of some", {"x": (2, 3)}, (1, 3))
        t.run_refused("Squeeze of an extent that is 1", SQUEEZE, {"x": (1, 3)}, "PB5049", "2 is more than 1")
    return t.failed > 0


sys.exit(main())
