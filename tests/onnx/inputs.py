"""What the command line says of a model's inputs: extents of named dims, shapes, weights from .safetensors files. Each is
compiled for the CPU, run and compared with NumPy, or refused by the words that it names.

    tests/onnx/inputs.py --bin build/bin"""

import argparse
import json
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx.parser  # noqa: E402

HEAD = '<ir_version: 9, opset_import: ["" : 18]>\n'
MODEL = "g (float[batch, seq, 4] x, float[batch, seq, 4] z, float[4, 3] w, float[3] b) => (float[batch, seq, 3] y) {\n"
MODEL += "  s = Add(x, z) p = MatMul(s, w) y = Add(p, b) }"
CASTS = "g (float[1] x, uint8[3] u, bool[3] t, int64[3] i) => (float[3] y) {\n"
CASTS += "  a = Cast<to = 1>(u) b = Cast<to = 1>(t) c = Cast<to = 1>(i) d = Add(a, b) e = Add(d, c) y = Mul(e, x) }"
TEXT = """"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>):
    %y = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    "func.return"(%y) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"""
TYPES = {"float32": "F32", "float64": "F64", "uint8": "U8", "bool": "BOOL", "int64": "I64", "int8": "I8"}


def write_weights(path, tensors, pad=True):
    head, data = {"__metadata__": {"format": "pt"}}, b""
    for name, value in tensors.items():
        head[name] = {"dtype": TYPES[value.dtype.name], "shape": list(value.shape), "data_offsets": [len(data), len(data) + value.nbytes]}
        data += value.tobytes()
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8) if pad else b" " * ((3 - len(text)) % 8)  # or where no element is aligned
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


class Bench:
    def __init__(self, bin_dir, folder):
        self.bin, self.folder, self.failed = bin_dir, Path(folder), 0
        rng = np.random.default_rng(1)
        self.w, self.b = rng.standard_normal((4, 3)).astype(np.float32), rng.standard_normal(3).astype(np.float32)

    def model(self, text, name="m.onnx"):
        path = self.folder / name
        path.write_bytes(text.encode() if name.endswith("mlir") else onnx.parser.parse_model(HEAD + text).SerializeToString())
        return path

    def say(self, good, what, why=""):
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {what}{'' if good else ': ' + why}")

    def compile(self, model, options):
        return tools.call([f"{self.bin}/pbc", str(model), "--target=cpu", "-o", str(self.folder / "m.pbe"), *options])

    def right(self, what, model, options, inputs, expected):
        done = self.compile(model, options)
        if done.returncode:
            return self.say(False, what, done.stderr)
        command = [f"{self.bin}/pb-run", str(self.folder / "m.pbe"), "--output", str(self.folder / "y.npy")]
        for name, value in inputs.items():
            np.save(self.folder / f"{name}.npy", value)
            command += ["--input", f"{name}={self.folder / name}.npy"]
        tools.run(command)
        actual = np.load(self.folder / "y.npy")
        self.say(actual.shape == expected.shape and np.allclose(actual, expected, rtol=1e-5, atol=1e-5), what, str(actual))

    def refused(self, what, model, options, *words):
        done = self.compile(model, options)
        self.say(done.returncode == 1 and all(w in done.stderr for w in words), what, done.stderr)


def dims(t):
    m = t.model(MODEL)
    x = np.arange(2 * 5 * 4, dtype=np.float32).reshape(2, 5, 4) / 7
    all_of_it = {"x": x, "z": -2 * x, "w": t.w, "b": t.b}
    t.right("named dims", m, ["--dim", "batch=2", "--dim=seq=5"], all_of_it, -x @ t.w + t.b)
    t.right("a dim that --input-shape says too", m, ["--dim=seq=5", "--dim", "batch=2", "--input-shape", "x=2x5x4"], all_of_it, -x @ t.w + t.b)
    t.right("shapes of two inputs", m, ["--input-shape", "x=2x5x4", "--input-shape=z=2x5x4"], all_of_it, -x @ t.w + t.b)
    t.refused("an unknown dim", m, ["--dim", "sequence=5"], "PB2026", "no dim is named 'sequence'", "dims: batch seq\n")
    t.right("a dim that is left open", m, ["--dim", "batch=2"], all_of_it, -x @ t.w + t.b)
    t.right("all of them by ?", m, ["--dim", "batch=?", "--input-shape", "x=?x?x4"], all_of_it, -x @ t.w + t.b)
    t.refused("for another target", m, ["--dim", "batch=2", "--target=simnpu"], "PB2016", "dim 1 is open", "--dim 'seq=128'")
    t.refused("two extents", m, ["--dim=seq=5", "--dim=batch=2", "--input-shape", "x=2x6x4"], "PB2015", "its dim 'seq' is 5 by --dim, and 6 by --input-shape")
    t.refused("a dim twice", m, ["--dim=seq=5", "--dim=seq=5"], "PB1004", "dim 'seq' twice")
    for bad in "seq", "seq=", "seq=-1", "=4", "seq=4x", "seq=99999999999":
        t.refused(f"--dim {bad}", m, ["--dim", bad], "PB1004", "NAME=8")
    t.refused("no names at all", t.model(CASTS, "c.onnx"), ["--dim=batch=2"], "PB2026", "no dim of its inputs has a name")
    t.refused("text has no names", t.model(TEXT, "m.mlir"), ["--dim=batch=2"], "PB2026", "no dim of its inputs has a name")
    t.refused("a shape that the text does not have", t.model(TEXT, "m.mlir"), ["--input-shape", "arg0=4x3"], "PB2015", "is of shape 2x3, and --input-shape says 4x3")
    t.refused("a shape of no argument", t.model(TEXT, "m.mlir"), ["--input-shape", "x=4x3"], "PB2014", "no input is named 'x'")


# What is not as the format has it, and the byte of the head from which on.
HEADS = [("[1]", 0), ('{"w"}', 4), ('{"w":1}', 5), ('{"w":{}}', 6), ('{"w":{"dtype":"F32"}}', 20), ('{"w":{"shape":[3,],"dtype":"F32"}}', 17),
         ('{"w":{WHOLE,"more":1}}', 61), ('{"w":{WHOLE}', 54), ('{"w":{WHOLE}}x', 55), ('{"w":{WHOLE},}', 55), ('{"w', 3)]


def weights(t):
    m, f = t.model(MODEL), t.folder / "w.safetensors"
    x = np.arange(2 * 5 * 4, dtype=np.float32).reshape(2, 5, 4) / 7
    fed, shape = {"x": x, "z": x}, ["--dim=batch=2", "--dim=seq=5"]
    load = f"--weights={f}"
    for pad in True, False:
        write_weights(f, {"w": t.w, "b": t.b}, pad)
        t.right(f"weights of a file{'' if pad else ', not aligned'}", m, [*shape, load], fed, 2 * x @ t.w + t.b)
    write_weights(f, {"w": t.w})
    np.save(t.folder / "b.npy", t.b)
    t.right("some of a file, one bound", m, [*shape, load, "--bind", f"b={t.folder / 'b.npy'}"], fed, 2 * x @ t.w + t.b)
    t.refused("one twice", m, [*shape, load, load], "PB2019", "w: is bound twice")
    write_weights(f, {"arg1": t.w[:3, :].T.copy().repeat(2, 1)[:, :4].copy()})
    given = np.ascontiguousarray(t.w[:3, :].T.repeat(2, 1)[:, :4])
    y = np.arange(6, dtype=np.float32).reshape(2, 3)
    t.right("weights of a text", t.model(TEXT, "m.mlir"), [load], {"arg0": y}, y @ given)
    write_weights(f, {"weight": t.w})
    t.refused("a name that no input has", m, [*shape, load], "PB2014", "no input is named 'weight'", "inputs: x z w b")
    t.refused("a name that no argument has", t.model(TEXT, "m.mlir"), [load], "PB2014", "arguments are arg0, arg1")
    write_weights(f, {"w": t.w.T.copy()})
    t.refused("another shape", m, [*shape, load], "PB2019", "w: is of shape 4x3, and what is bound to it of 3x4")
    write_weights(f, {"w": t.w.astype(np.float64)})
    t.refused("another type", m, [*shape, load], "PB2019", "w: is of f32, and what is bound to it of f64")
    f.write_bytes(write_weights(f, {"w": t.w}).read_bytes()[:-1])
    t.refused("a file that is cut short", m, [*shape, load], "PB2025", "w.safetensors", "not as long as its shape says")
    f.write_bytes(b"\x93NUMPY")
    t.refused("another kind of file", m, [*shape, load], "PB2025", "this is no safetensors file")
    whole = '"dtype":"F32","shape":[3],"data_offsets":[0,12]'
    for head, byte in HEADS:
        head = head.replace("WHOLE", whole).encode()
        f.write_bytes(len(head).to_bytes(8, "little") + head + bytes(12))
        t.refused(f"a head of {head}", m, [*shape, load], "PB2025", "w.safetensors", f"from byte {byte} on", "a file that safetensors wrote")
    t.refused("no file", m, [*shape, "--weights=absent.safetensors"], "PB1001", "absent.safetensors")
    t.refused("a folder", m, [*shape, f"--weights={t.folder}"], "PB2025", "no file")
    name = 'w\u00e9\u20ac\U0001f600\t"\\/'  # all lengths of UTF-8, and what JSON writes with a backslash
    other = onnx.load(m)
    next(v for v in other.graph.input if v.name == "w").name = name
    next(n for n in other.graph.node if n.op_type == "MatMul").input[1] = name
    onnx.save(other, t.folder / "other.onnx")
    write_weights(f, {name: t.w, "b": t.b})
    t.right("a name of letters that are escaped", t.folder / "other.onnx", [*shape, load], fed, 2 * x @ t.w + t.b)
    small = {"u": np.array([1, 200, 3], np.uint8), "t": np.array([True, False, True]), "i": np.array([5, -6, 7])}
    write_weights(f, small)
    expected = np.array([2 * (1 + 1 + 5), 2 * (200 - 6), 2 * (3 + 1 + 7)], np.float32)
    t.right("codes, truths and integers", t.model(CASTS, "c.onnx"), [load], {"x": np.array([2], np.float32)}, expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.bin, folder)
        dims(bench)
        weights(bench)
    print(f"{bench.failed} failed")
    return bench.failed != 0


if __name__ == "__main__":
    sys.exit(main())
