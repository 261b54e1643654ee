"""Caches of an ONNX model that are donated: a token of a transformer of three layers, a cache of 1,024 rows and more, against
NumPy, with memory of their own and in the inputs'; what is written to them; what is refused.

    donated.py --bin BUILD/bin
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
LAYERS, HEADS, WIDTH, LENGTH = 3, 4, 16, 1024
MODEL = HEADS * WIDTH


def info(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def weights(rng):
    return [{name: (rng.standard_normal((MODEL, MODEL)) / 8).astype(np.float32) for name in "qkvo"} for _ in range(LAYERS)]


def token_model(parts):
    """x: [1, MODEL], at: [1]; each layer writes a row of its two caches, [1, heads, length, width], and looks at all up to it."""
    nodes, constants = [], [numpy_helper.from_array(np.int64([1, HEADS, 1, WIDTH]), "split"), numpy_helper.from_array(np.int64([1, MODEL]), "row"),
                            numpy_helper.from_array(np.arange(LENGTH).reshape(1, 1, 1, LENGTH), "places"),
                            numpy_helper.from_array(np.float32(-1e9), "far"), numpy_helper.from_array(np.float32(0), "none"),
                            numpy_helper.from_array(np.float32(WIDTH**-0.5), "scale")]
    nodes += [helper.make_node("LessOrEqual", ["places", "at"], ["seen"]), helper.make_node("Where", ["seen", "none", "far"], ["mask"])]
    x, inputs, outputs = "x", [info("x", [1, MODEL]), info("at", [1], INT64)], []
    for k, part in enumerate(parts):
        constants += [numpy_helper.from_array(w, f"w{name}{k}") for name, w in part.items()]
        for name in "qkv":
            nodes += [helper.make_node("MatMul", [x, f"w{name}{k}"], [f"{name}{k}"]), helper.make_node("Reshape", [f"{name}{k}", "split"], [f"{name}h{k}"])]
        for name in "kv":
            inputs.append(info(f"past_{name}{k}", [1, HEADS, LENGTH, WIDTH]))
            outputs.append(info(f"present_{name}{k}", [1, HEADS, LENGTH, WIDTH]))
            nodes.append(helper.make_node("TensorScatter", [f"past_{name}{k}", f"{name}h{k}", "at"], [f"present_{name}{k}"], axis=2))
        nodes += [helper.make_node("Transpose", [f"present_k{k}"], [f"kt{k}"], perm=[0, 1, 3, 2]), helper.make_node("MatMul", [f"qh{k}", f"kt{k}"], [f"s{k}"]),
                  helper.make_node("Mul", [f"s{k}", "scale"], [f"sc{k}"]), helper.make_node("Add", [f"sc{k}", "mask"], [f"m{k}"]),
                  helper.make_node("Softmax", [f"m{k}"], [f"p{k}"], axis=-1), helper.make_node("MatMul", [f"p{k}", f"present_v{k}"], [f"a{k}"]),
                  helper.make_node("Reshape", [f"a{k}", "row"], [f"ar{k}"]), helper.make_node("MatMul", [f"ar{k}", f"wo{k}"], [f"y{k}"]),
                  helper.make_node("Add", [x, f"y{k}"], [f"x{k}"])]
        x = f"x{k}"
    nodes.append(helper.make_node("Neg", [x], ["out"]))
    graph = helper.make_graph(nodes, "token", inputs, [info("out", [1, MODEL]), *outputs], constants)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 24)])


def token(parts, x, at, caches):
    """(out, caches) in NumPy, f64"""
    caches = {name: c.astype(np.float64) for name, c in caches.items()}
    for k, part in enumerate(parts):
        q, new_k, new_v = ((x @ part[name]).reshape(HEADS, WIDTH) for name in "qkv")
        caches[f"k{k}"][0, :, at], caches[f"v{k}"][0, :, at] = new_k, new_v
        scores = np.einsum("hw,hlw->hl", q, caches[f"k{k}"][0, :, :at + 1]) * WIDTH**-0.5
        e = np.exp(scores - scores.max(1, keepdims=True))
        x = x + np.einsum("hl,hlw->hw", e / e.sum(1, keepdims=True), caches[f"v{k}"][0, :, :at + 1]).reshape(1, -1) @ part["o"]
    return -x, caches


class Bench(tools.Checks):
    def compile(self, model, *options):
        (self.folder / "m.onnx").write_bytes(model.SerializeToString())
        return tools.call([os.path.join(self.bin, "pbc"), str(self.folder / "m.onnx"), "--target=cpu", "-o", str(self.folder / "m.pbe"), *options])

    def run(self, inputs, outputs, *options):
        command = [os.path.join(self.bin, "pb-run"), str(self.folder / "m.pbe"), *options]
        for k, (name, value) in enumerate(inputs.items()):
            np.save(self.folder / f"in{k}.npy", value)
            command += ["--input", f"{name}={self.folder}/in{k}.npy"]
        for k, name in enumerate(outputs):
            command += ["--output", f"{name}={self.folder}/out{k}.npy"]
        tools.run(command)
        return {name: np.load(self.folder / f"out{k}.npy") for k, name in enumerate(outputs)}


def near(a, b):
    return a.shape == b.shape and bool(np.abs(a - b).max() <= 1e-4 * max(1, np.abs(b).max()))


def check_token(b):
    rng = np.random.default_rng(5)
    parts = weights(rng)
    names = [f"{name}{k}" for k in range(LAYERS) for name in "kv"]
    caches = {n: rng.standard_normal((1, HEADS, LENGTH, WIDTH)).astype(np.float32) for n in names}
    x = rng.standard_normal((1, MODEL)).astype(np.float32)
    done = b.compile(token_model(parts), *(f"--donate=past_{n}=present_{n}" for n in names))
    if done.returncode:
        return b.say(False, done.stderr)
    for at in (0, 511, LENGTH - 1):
        want, new = token(parts, x.astype(np.float64), at, caches)
        inputs = {"x": x, "at": np.int64([at]), **{f"past_{n}": c for n, c in caches.items()}}
        for how in ([], ["--in-place"], ["--in-place", "--threads=1"]):
            got = b.run(inputs, ["out", *(f"present_{n}" for n in names)], *how)
            b.say(near(got["out"], want) and all(near(got[f"present_{n}"], new[n]) for n in names), f"token at {at} {' '.join(how)}")
    placed, moved = tools.written_to_outputs(b.bin, b.folder / "m.pbe")
    rows = len(names) * MODEL * 4
    b.say(placed == rows and not moved, f"{placed} bytes are written to caches, of new rows {rows}")
    return None


def small(mode="linear", examples=1, rows=1, index=True, more=()):
    inputs = [info("c", [examples, 2, 6, 3]), info("u", [examples, 2, rows, 3])] + [info("i", [examples], INT64)] * index
    made = [helper.make_node("TensorScatter", ["c", "u", "i"][:2 + index], ["y"], axis=2, mode=mode), *more]
    outputs = [info("y", [examples, 2, 6, 3]), *(info(n.output[0], None) for n in more)]
    return helper.make_model(helper.make_graph(made, "g", inputs, outputs), ir_version=10, opset_imports=[helper.make_opsetid("", 24)])


def check_small(b):
    c, u = np.arange(36, dtype=np.float32).reshape(1, 2, 6, 3), -np.ones((1, 2, 2, 3), np.float32)
    for mode, rows, index, at, place in (("linear", 2, True, 3, 3), ("linear", 2, False, None, 0), ("circular", 1, True, 8, 2), ("linear", 1, True, 5, 5)):
        done = b.compile(small(mode, 1, rows, index), "--donate=c=y")
        b.say(not done.returncode, f"{mode}, {rows} rows {done.stderr if done.returncode else ''}")
        want = c.copy()
        want[:, :, place:place + rows] = u[:, :, :rows]
        inputs = {"c": c, "u": u[:, :, :rows].copy(), **({"i": np.int64([at])} if index else {})}
        for how in ([], ["--in-place"]):
            b.say(not done.returncode and np.array_equal(b.run(inputs, ["y"], *how)["y"], want), f"{mode} at {at} {' '.join(how)}")
    done = b.compile(small(more=[helper.make_node("Neg", ["y"], ["z"])]), "--donate=c=y")
    got = b.run({"c": c, "u": u[:, :, :1].copy(), "i": np.int64([4])}, ["y", "z"], "--in-place") if not done.returncode else {}
    b.say(not done.returncode and np.array_equal(got["z"], -got["y"]) and (got["y"][:, :, 4] == -1).all(), f"what is read behind it {done.stderr if done.returncode else ''}")


def check_refusals(b):
    longer = helper.make_model(helper.make_graph([helper.make_node("Concat", ["c", "u"], ["y"], axis=2)], "g", [info("c", [1, 2, 6, 3]), info("u", [1, 2, 1, 3])],
                                                 [info("y", None)]), ir_version=10, opset_imports=[helper.make_opsetid("", 24)])
    for model, options, words in (
            (longer, ["--donate=c=y"], "TensorScatter puts rows into one of its full length"),
            (small(), ["--donate=c=z"], "is donated to z, which is not it with rows put in"),
            (small(), ["--donate=u=y"], "is donated to y, which is not it with rows put in"),
            (small(), ["--donate=d=y"], "no input is named 'd'"),
            (small(examples=2), ["--donate=c=y"], "of 2 examples, each with its place"),
            (small("circular", rows=2), ["--donate=c=y"], "may go round its end"),
            (small(more=[helper.make_node("Neg", ["c"], ["z"])]), ["--donate=c=y"], "read elsewhere too")):
        done = b.compile(model, *options)
        b.say(done.returncode == 1 and words in done.stderr, f"{words}: {done.stderr.strip()}"[:200] if done.returncode != 1 or words not in done.stderr else words)


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, check_token, check_small, check_refusals))
