"""What pbc says about a model's file: data in files of their own, of which none outside the model's folder is read; open
and impossible shapes; types that are not read; names that are none; text that is no ONNX.

    model_files.py --bin BUILD/bin
"""

import argparse
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

WEIGHTS = np.arange(8 * 4, dtype=np.float32).reshape(8, 4) / 16


def gemm(consts, shape=(2, 8), kind=TensorProto.FLOAT, nodes=(), outputs=("y",), x="x"):
    nodes = list(nodes) or [helper.make_node("MatMul", [x, "w"], ["y"], name="product")]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    inputs = [helper.make_tensor_value_info(x, kind, shape)]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, infos, consts), ir_version=8,
                             opset_imports=[helper.make_opsetid("", 13)])


CODES = [numpy_helper.from_array(np.float32(0.5), "s"), numpy_helper.from_array(np.int8(0), "z"), numpy_helper.from_array(WEIGHTS, "w")]


def circles():
    """(what goes round, nodes, the node that is refused): a result that hangs on itself, also by a bound or a scale."""
    node, codes = helper.make_node, helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"])
    ends = [node("Relu", ["x"], ["y"])]
    yield "two Relu", [node("Relu", ["b"], ["a"], name="first"), node("Relu", ["a"], ["b"]), *ends], "first"
    yield "its own scale", [codes, node("DequantizeLinear", ["q", "d", "z"], ["d"], name="own"), node("Relu", ["d"], ["y"])], "own"
    yield "its own zero point", [codes, node("DequantizeLinear", ["q", "s", "d"], ["d"], name="own"), node("Relu", ["d"], ["y"])], "own"
    yield "two scales", [codes, node("DequantizeLinear", ["q", "e", "z"], ["d"], name="one"), node("DequantizeLinear", ["q", "d", "z"], ["e"], name="one"),
                         node("Relu", ["d"], ["y"])], "one"
    yield "2,000 scales in a row", [codes, *(node("DequantizeLinear", ["q", f"e{k - 1}" if k else "s", "z"], [f"e{k}"], name="one of them") for k in range(2000)),
                                    node("Relu", ["e1999"], ["y"])], "one of them"
    dequantised = [codes, *(node("DequantizeLinear", ["q", "s", "z"], [name]) for name in ("d", "e"))]
    clip = [node("Clip", ["r", "a"], ["c"], name="bounded"), node("Relu", ["c"], ["r"]), *ends]
    yield "what a sum of codes bounds", [*dequantised, node("Add", ["d", "e"], ["a"]), *clip], "bounded"
    yield "what a softmax of codes bounds", [*dequantised, node("Softmax", ["d"], ["a"]), *clip], "bounded"


def outside(location, **place):
    """The weights in a file of their own."""
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=WEIGHTS.shape, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **place}.items():
        tensor.external_data.add(key=key, value=str(value))
    return gemm([tensor])


class Session:
    def __init__(self, bin_dir, folder):
        self.bin, self.folder, self.failures, self.count = bin_dir, os.path.join(folder, "models"), 0, 0
        os.makedirs(os.path.join(self.folder, "below", "more"))
        for path in ("w.bin", "below/more/w.bin", "../w.bin"):
            with open(os.path.join(self.folder, path), "wb") as f:
                f.write(b"\0" * 64 + WEIGHTS.tobytes())
        os.symlink("w.bin", os.path.join(self.folder, "link.bin"))
        os.symlink("below", os.path.join(self.folder, "linked"))
        os.link(os.path.join(self.folder, "..", "w.bin"), os.path.join(self.folder, "hard.bin"))
        os.mkfifo(os.path.join(self.folder, "fifo.bin"))

    def compile(self, model, *options):
        self.count += 1
        path = os.path.join(self.folder, "m.onnx")
        with open(path, "wb") as f:
            f.write(model if isinstance(model, bytes) else model.SerializeToString())
        command = [os.path.join(self.bin, "pbc"), "m.onnx", "--target=cpu", "-o", "m.pbe", *options]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, errors="replace", timeout=60)

    def check(self, what, good):
        if not good:
            self.failures += 1
            print(f"FAILED: {what}")

    def takes(self, what, model, warning=None, *options):
        result = self.compile(model, *options)
        quiet = "warning" not in result.stderr
        self.check(f"{what}: {result.returncode} {result.stderr}",
                   result.returncode == 0 and (quiet if warning is None else warning in result.stderr))

    def refuses(self, what, model, code, *words):
        result = self.compile(model)
        self.check(f"{what}: {result.returncode} {result.stderr}",
                   result.returncode == 1 and f"[PB{code}]" in result.stderr and all(w in result.stderr for w in words))


def data_outside(s):
    s.takes("data beside the model", outside("w.bin", offset=64, length=128))
    s.takes("data to the end of a file", outside("w.bin", offset=64))
    s.takes("data below the model's folder", outside("below/more/w.bin", offset=64, length=128))
    s.takes("data by a longer way", outside("./below/../w.bin", offset=64, length=128))
    np.save(os.path.join(s.folder, "x.npy"), np.eye(2, 8, dtype=np.float32))
    run = subprocess.run([os.path.join(s.bin, "pb-run"), "m.pbe", "--input=x.npy", "--output=y.npy"], cwd=s.folder, capture_output=True, text=True)
    s.check(f"what is computed with them: {run.stderr}", run.returncode == 0 and (np.load(os.path.join(s.folder, "y.npy")) == WEIGHTS[:2]).all())
    there, away = {"offset": 64, "length": 128}, "outside the model's folder"
    s.refuses("an absolute path", outside(os.path.join(s.folder, "w.bin"), **there), 2011, away)
    s.refuses("a path out of the folder", outside("../w.bin", **there), 2011, away)
    s.refuses("a path out of it and back", outside("../models/w.bin", **there), 2011, away)
    s.refuses("a path out of it further in", outside("below/../../w.bin", **there), 2011, away)
    s.refuses("a symbolic link", outside("link.bin", **there), 2011, away)
    s.refuses("a symbolic link on the way", outside("linked/more/w.bin", **there), 2011, away)
    s.refuses("a hard link", outside("hard.bin", **there), 2011, "hard link")
    s.refuses("a file that is not there", outside("none.bin", **there), 2011, "none.bin", "No such file")
    s.refuses("a folder", outside("below", **there), 2011, "no file")
    s.refuses("a pipe", outside("fifo.bin", **there), 2011, "no file")
    s.refuses("no place", outside("", **there), 2011, "no file")
    s.refuses("an offset past the end", outside("w.bin", offset=193, length=0), 2011, "past the end")
    s.refuses("a length past the end", outside("w.bin", offset=65, length=128), 2011, "past the end")
    s.refuses("an offset that is huge", outside("w.bin", offset=2**64 - 1, length=2), 2011, "past the end")
    s.refuses("an offset beyond 64 bits", outside("w.bin", offset=2**64 + 64, length=128), 2011, "no numbers")
    s.refuses("a negative offset", outside("w.bin", offset=-64, length=128), 2011, "no numbers")
    s.refuses("an offset in words", outside("w.bin", offset="here", length=128), 2011, "no numbers")
    s.refuses("another length than the shape's", outside("w.bin", offset=64, length=124), 2010, "not as long")


def compared(op, a, b):
    infos = [helper.make_tensor_value_info(name, kind, (4,)) for name, kind in (("x", a), ("y", b), ("z", TensorProto.BOOL))]
    graph = helper.make_graph([helper.make_node(op, ["x", "y"], ["z"], name="compared")], "g", infos[:2], infos[2:])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])


def types(s):
    """Numbers of two types are not compared: codes with a sign and without have the same bits for others."""
    pairs = (("FLOAT", "INT32"), ("INT32", "INT64"), ("INT8", "UINT8"), ("UINT8", "INT32"), ("BOOL", "INT8"))
    for op in ("Less", "Greater", "Equal"):
        for a, b in pairs:
            s.refuses(f"{op} of {a} and {b}", compared(op, TensorProto.DataType.Value(a), TensorProto.DataType.Value(b)), 2110, "operands of different types")


def shapes(s):
    w = numpy_helper.from_array(WEIGHTS, "w")
    s.takes("an open first dim", gemm([w], ("batch", 8)), "m.onnx: warning: x: its first dim is open and compiled as 1; --input-shape 'x=1x8' says another [PB2017]")
    s.takes("one that is given", gemm([w], ("batch", 8)), None, "--input-shape", "x=3x8")
    s.takes("one that is given, of a name with =", gemm([w], ("batch", 8), x="a=b"), None, "--input-shape=a=b=3x8")
    s.takes("an open dim that weights say", gemm([w], (2, "width")), "m.onnx: warning: 'width', which is open, is taken as 8, which the engine checks: an operator takes no other [PB2038]")
    s.refuses("no shape", gemm([w], None), 2016, "shape is not known", "--input-shape")
    s.refuses("a dim without elements, where the weights have some", gemm([w], (2, 0)), 2020, "shapes that do not fit")
    s.refuses("a dim of less than nothing", gemm([w], (2, -2)), 2016, "dim 1 is -2 long")
    s.refuses("f16", gemm([w], kind=TensorProto.FLOAT16), 2020, "operands of several types")
    s.refuses("f64", gemm([w], kind=TensorProto.DOUBLE), 2020, "operands of several types")
    s.refuses("a product of i64", gemm([w], kind=TensorProto.INT64), 2020, "operands of several types")
    s.refuses("strings", gemm([w], kind=TensorProto.STRING), 2016, "an input of ONNX type 8")
    s.refuses("an input of nine dims", gemm([w], shape=(2, 4, *[1] * 6, 8)), 2010, "x: a tensor of more than 8 dims")
    s.refuses("a constant of nine dims", gemm([numpy_helper.from_array(np.ones((1,) * 9, np.float32), "w")]), 2010, "w: a tensor of more than 8 dims")
    s.refuses("no type", gemm([w], kind=0), 2016, "type is not known")
    relu = [helper.make_node("Relu", ["w"], ["y"], name="r")]
    s.takes("an operator on a constant", gemm([w], nodes=relu), None)
    s.takes("an output that is a constant", gemm([w], outputs=("y", "w")))
    s.refuses("a tensor that two nodes make", gemm([w], nodes=[helper.make_node("MatMul", ["x", "w"], ["y"])] * 2), 2010, "y: a tensor that two nodes make")
    s.refuses("a node that makes an input", gemm([w], nodes=[helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["x"])]), 2010, "x: a tensor that two nodes make")
    s.refuses("a node that makes a constant", gemm([w], nodes=[helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["w"])]), 2010, "w: a tensor that two nodes make")
    s.refuses("two constants of a name", gemm([w, w]), 2010, "w: a tensor that two nodes make")
    s.takes("a node that comes before its input", gemm([w], nodes=[helper.make_node("Relu", ["z"], ["y"]), helper.make_node("MatMul", ["x", "w"], ["z"])]))
    for what, nodes, node in circles():
        s.refuses(f"a circle of {what}", gemm(CODES, nodes=nodes), 2020, f"node '{node}'")
    s.refuses("an output that nothing makes", gemm([w], outputs=("y", "elsewhere")), 2022, "elsewhere: an output that no supported operator makes")
    named = gemm([w]).SerializeToString().replace(b"product", b"pro\0uct")
    s.refuses("a name with a NUL", named, 2010, "NUL")


def declared(s):
    """What the file says of outputs, and of itself, against what is computed."""
    def computing(kind, shape, node=None, opset=13):
        made = gemm([numpy_helper.from_array(WEIGHTS, "w")], nodes=[node] if node else ())
        made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", kind, shape))
        made.opset_import[0].version = opset
        return made
    s.takes("the output's type and shape", computing(TensorProto.FLOAT, (2, 4)))
    s.takes("its type and a dim by name", computing(TensorProto.FLOAT, ("rows", 4)))
    for kind, said in ((TensorProto.INT32, "i32"), (TensorProto.DOUBLE, "f64"), (TensorProto.UINT8, "u8"), (TensorProto.BOOL, "bool"), (TensorProto.STRING, "of ONNX type 8")):
        s.refuses(f"another type, {said}", computing(kind, (2, 4)), 2034, f"error: y: the model says of this output that it is {said}, and computes f32")
    s.refuses("codes of the other sign", computing(TensorProto.INT8, (2, 8), helper.make_node("Cast", ["x"], ["y"], to=TensorProto.UINT8)), 2034, "that it is i8, and computes u8")
    s.refuses("numbers for truths", computing(TensorProto.INT8, (2, 8), helper.make_node("IsNaN", ["x"], ["y"])), 2034, "that it is i8, and computes bool")
    s.refuses("a constant of another type", computing(TensorProto.INT64, (8, 4), helper.make_node("Relu", ["w"], ["y"])), 2034, "that it is i64, and computes f32")
    s.takes("another shape", computing(TensorProto.FLOAT, (2, 5)), "warning: y: the model says of this output that it is 2x5, and computes 2x4 [PB2035]")
    s.takes("another rank", computing(TensorProto.FLOAT, (8,)), "that it is 8, and computes 2x4 [PB2035]")
    s.takes("the newest opset", computing(TensorProto.FLOAT, (2, 4), opset=28))
    s.refuses("a later one", computing(TensorProto.FLOAT, (2, 4), opset=29), 2036, "the model is of opset 29; 1 to 28 are known")
    s.refuses("one below 0", computing(TensorProto.FLOAT, (2, 4), opset=-1), 2036, "the model is of opset -1")
    without = computing(TensorProto.FLOAT, (2, 4))
    del without.opset_import[:]
    s.refuses("none", without, 2036, "node 'product' (MatMul): the model does not say of which opset")


def indexed(s):
    """Constant indices outside of what they index: ONNX has no result for them, and the node may never run."""
    def model(op, places, *more, shape, **attrs):
        constants = [numpy_helper.from_array(np.array(places, np.int64), "at"), *(numpy_helper.from_array(u, "u") for u in more)]
        node = helper.make_node(op, ["x", "at", *("u" for _ in more)], ["y"], name="look", **attrs)
        made = gemm(constants, nodes=[node])
        made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, shape))
        made.opset_import[0].version = 18
        return made
    row = np.ones((1, 8), np.float32)
    s.takes("an index past the end", model("Gather", [7, 8], shape=(2, 2), axis=1), "index 8, number 1 of the constant 'at', lies outside of dim 1, which has 8: the nearest is read [PB2037]")
    s.takes("one too far from the end", model("GatherElements", [[-3, 1]], shape=(1, 2)), "index -3, number 0 of the constant 'at', lies outside of dim 0, which has 2")
    s.takes("a vector outside", model("GatherND", [[1, 3], [0, 9]], shape=(2, )), "index 9, number 3 of the constant 'at', lies outside of dim 1, which has 8")
    s.takes("an update of a row that is not there", model("ScatterND", [[2]], row, shape=(2, 8)), "outside of dim 0, which has 2: it sets nothing [PB2037]")
    for op, places in (("Gather", [[-8, 7]]), ("GatherND", [[-2, -8]])):
        found = s.compile(model(op, places, shape=(2, 1, 2) if op == "Gather" else (1, ), **({"axis": 1} if op == "Gather" else {})))
        s.check(f"places of {op} within: {found.stderr}", found.returncode == 0 and "PB2037" not in found.stderr)


def between_codes(s):
    """What keeps an operator between codes from being one of codes, by its name."""
    constants = [numpy_helper.from_array(np.float32(0.1), "s"), numpy_helper.from_array(np.uint16(7), "z")]
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]), helper.make_node("Relu", ["d"], ["r"], name="bend"),
             helper.make_node("QuantizeLinear", ["r", "s", "z"], ["c"]), helper.make_node("DequantizeLinear", ["c", "s", "z"], ["y"])]
    made = gemm(constants, nodes=nodes)
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, (2, 8)))
    made.opset_import[0].version = 21
    s.takes("codes of 16 bits", made, "node 'bend' (Relu): is computed in floats, not in the codes around it: codes of u16, where products, sums and tables are of those of 8 bits [PB2032]")


def packed(s):
    """Numbers of an attribute one behind the other, as some writers have them, not each with its tag: the same engine."""
    def engine(model):
        done = s.compile(model)
        with open(os.path.join(s.folder, "m.pbe"), "rb") as f:
            return done.returncode, done.stderr, f.read()
    for name, numbers, apart, together in (
            ("value_floats", [0.75, 1.5], struct.pack("<BfBf", 0x3d, 0.75, 0x3d, 1.5), struct.pack("<BBff", 0x3a, 8, 0.75, 1.5)),
            ("value_ints", [5, 7], bytes((0x40, 5, 0x40, 7)), bytes((0x42, 2, 5, 7)))):
        nodes = [helper.make_node("Constant", [], ["c"], **{name: numbers}), helper.make_node("Cast", ["c"], ["f"], to=TensorProto.FLOAT),
                 helper.make_node("Add", ["x", "f"], ["y"])]
        one = gemm([], (2,), nodes=nodes).SerializeToString()
        s.check(f"{name} are not packed", one.count(apart) == 1)
        s.check(f"{name}, packed", engine(one) == engine(one.replace(apart, together)))


def texts(s):
    for text in ("module @m {\n}\n", "\n  func.func @main() { return }", "// made by hand\nmodule {}", '"builtin.module"() ({}) : () -> ()', "ML\xefR\x01StableHLO"):
        s.refuses(f"MLIR: {text!r}", text.encode("latin-1"), 2018, "this is MLIR, and the file's name says ONNX")
    s.refuses("some text", b"hello", 2010)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    with tempfile.TemporaryDirectory() as folder:
        session = Session(args.bin, folder)
        for part in (data_outside, types, shapes, declared, indexed, between_codes, packed, texts):
            part(session)
    print(f"{session.count} models, {session.failures} failed")
    return int(session.failures > 0)


if __name__ == "__main__":
    sys.exit(main())
