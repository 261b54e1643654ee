"""Shapes that come at run time: one engine takes several, whatever they are computed of; what cannot be is refused when it comes.

    tests/onnx/said.py --bin build/bin"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx.parser  # noqa: E402
import onnxruntime  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

HEAD = '<ir_version: 9, opset_import: ["" : 18]>\n'


def ints(*items):
    return np.array(items, np.int64)


def floats(*shape):
    return np.random.default_rng(sum(shape) + len(shape)).standard_normal(shape, np.float32)


def boxes(batches, count):
    at = np.random.default_rng(count).random((batches, count, 2), np.float32)
    far = at + np.random.default_rng(count + 1).random((batches, count, 2), np.float32) / 2
    turned = np.arange(count) % 3 == 0  # corners in another order
    return np.concatenate([np.where(turned[None, :, None], far, at), np.where(turned[None, :, None], at, far)], axis=2)


def suppressions(seed, b, c, n):
    """Scores with more and fewer ties, boxes that lie apart or in a crowd, and a threshold."""
    r = np.random.default_rng(seed)
    at = r.random((b, n, 2)) * (20, 2, 0.2)[seed % 3]
    x = np.concatenate([at, at + r.random((b, n, 2))], axis=2).astype(np.float32)
    s = np.round(r.random((b, c, n)) ** (1, 4)[seed % 2], (1, 2, 6)[seed // 3 % 3]).astype(np.float32)
    return {"x": x, "s": s, "o": np.float32((0.1, 0.5, 0.8)[seed // 2 % 3]), "t": np.float32((0, 0.25, 0.9)[seed // 4 % 3])}


def many(count):
    """So many tensors of four dims each that data say."""
    ins = ", ".join(f"int64[4] s{k}" for k in range(count))
    outs = ", ".join(f"float[a{k}, b{k}, c{k}, d{k}] y{k}" for k in range(count))
    return f"g ({ins}) => ({outs}) {{ {' '.join(f'x{k} = ConstantOfShape(s{k}) y{k} = Cos(x{k})' for k in range(count))} }}"


X = floats(4, 6)
# name: the graph, sets of inputs that are right, and of such that are refused at run time
MODELS = {
    "a shape, of what is computed": (
        "g (float[4, 6] x, int64[2] s, int64[2] t) => (float[a, b] z) { w = Add(s, t) y = Reshape(x, w) z = Relu(y) }",
        [{"x": X, "s": ints(1, 2), "t": ints(1, 10)}, {"x": X, "s": ints(20, 0), "t": ints(4, -1)}, {"x": X, "s": ints(2, 1), "t": ints(6, 2)}],
        [{"x": X, "s": ints(1, 2), "t": ints(1, 11)}, {"x": X, "s": ints(-1, -1), "t": ints(0, 0)}, {"x": X, "s": ints(-4, -6), "t": ints(0, 0)}]),
    "what holds, and what follows it": (
        "g (float[4, 6] x, float[6] y) => (int64[2, n] z, float[4, m] v) { zero = Constant<value_float = 0.0>() a = Greater(x, zero) z = NonZero(a)"
        " b = Greater(y, zero) w = Compress<axis = 1>(x, b) v = Mul(w, w) }",
        [{"x": X, "y": floats(6)}, {"x": np.abs(X), "y": np.abs(floats(6))}, {"x": -np.abs(X), "y": -np.abs(floats(6))}], []),
    "one shape behind another": (
        "g (float[4, 6] x, int64[1] k, int64[2] r) => (float[a, b] z) <int64[1] one = {1}, int64[1] zero = {0}>"
        " { y = Slice(x, zero, k, one) t = Tile(y, r) n = Neg(t) z = Add(n, t) }",
        [{"x": X, "k": ints(3), "r": ints(2, 2)}, {"x": X, "k": ints(-1), "r": ints(1, 3)}, {"x": X, "k": ints(0), "r": ints(1, 1)}], []),
    "axes": (
        "g (float[4, 6] x, int64[1] a) => (float[n] z) { z = ReduceMax<keepdims = 0>(x, a) }",
        [{"x": X, "a": ints(0)}, {"x": X, "a": ints(1)}, {"x": X, "a": ints(-2)}], [{"x": X, "a": ints(2)}, {"x": X, "a": ints(-3)}]),
    "with an open dim": (
        "g (float[3, s] x, int64[2] r) => (float[a, b] z) { y = Expand(x, r) z = Add(y, x) }",
        [{"x": floats(3, 5), "r": ints(3, 5)}, {"x": floats(3, 7), "r": ints(1, 1)}], [{"x": floats(3, 5), "r": ints(3, 4)}]),
    "parts": (
        "g (float[4, 6] x, int64[2] p) => (float[4, a] z, float[4, b] v) { z, v = Split<axis = 1>(x, p) }",
        [{"x": X, "p": ints(2, 4)}, {"x": X, "p": ints(5, 1)}], [{"x": X, "p": ints(2, 5)}, {"x": X, "p": ints(-1, 7)}]),
    "a range": (
        "g (int64 a, int64 b, int64 c) => (int64[n] z) { z = Range(a, b, c) }",
        [{"a": np.int64(3), "b": np.int64(20), "c": np.int64(4)}, {"a": np.int64(3), "b": np.int64(-20), "c": np.int64(-5)},
         {"a": np.int64(3), "b": np.int64(0), "c": np.int64(1)}],
        [{"a": np.int64(3), "b": np.int64(20), "c": np.int64(0)}]),
    "a declared shape": (
        "g (float[4, 6] x, int64[3] s) => (float[2, 3, 4] z) { z = Reshape(x, s) }",
        [{"x": X, "s": ints(2, 3, 4)}, {"x": X, "s": ints(2, -1, 4)}], [{"x": X, "s": ints(3, 2, 4)}]),
    "in a branch, to one shape": (
        "g (bool c, float[4, 6] x, int64[2] s) => (float z) <int64[1] one = {1}> { z = If (c) <"
        " then_branch = t () => (float y) { p = Reshape(x, s) q = ReduceMax<keepdims = 0>(p, one) y = ReduceSum<keepdims = 0>(q) },"
        " else_branch = f () => (float v) { v = ReduceMin<keepdims = 0>(x) }> }",
        [{"c": np.bool_(True), "x": X, "s": ints(8, 3)}, {"c": np.bool_(True), "x": X, "s": ints(2, -1)}, {"c": np.bool_(False), "x": X, "s": ints(3, 8)}],
        [{"c": np.bool_(True), "x": X, "s": ints(5, 5)}]),
    "in both branches, under one name": (
        "g (bool c, float[4, 6] x, int64[1] j, int64[1] k) => (float z) <int64[1] zero = {0}> { z = If (c) <"
        " then_branch = t () => (float y) { p = Slice(x, zero, j) y = ReduceSum<keepdims = 0>(p) },"
        " else_branch = f () => (float y) { p = Slice(x, zero, k) y = ReduceSum<keepdims = 0>(p) }> }",
        [{"c": np.bool_(True), "x": X, "j": ints(1), "k": ints(3)}, {"c": np.bool_(False), "x": X, "j": ints(1), "k": ints(3)}], []),
    "what is there once, in order": (
        "g (float[n] x) => (float[a] y, int64[b] f, int64[n] i, int64[c] k) { y, f, i, k = Unique(x) }",
        [{"x": np.float32([2, 1, 1, 3, 4, 3, -0.0, 0])}, {"x": np.float32([7])}, {"x": np.round(floats(300) * 8)}, {"x": np.round(floats(100000) * 300)}], [{"x": np.float32([1, np.nan])}]),
    "what is there once, as it comes": (
        "g (int64[n] x) => (int64[a] y, int64[b] f, int64[n] i, int64[c] k) { y, f, i, k = Unique<sorted = 0>(x) }",
        [{"x": ints(2, 1, 1, 3, 4, 3)}, {"x": ints(5, 5, 5)}, {"x": ints(*(k * k % 37 - 9 for k in range(200)))}], []),
    "rows that are there once": (
        "g (int64[m, n] x) => (int64[a, n] y, int64[m] i) { y, f, i = Unique<axis = 0>(x) }",
        [{"x": np.int64([[1, 0, 0], [1, 0, 0], [2, 3, 4], [200, 3, 4], [1, 0, 1]])}, {"x": np.random.default_rng(1).integers(0, 2, (40, 4))}], []),
    "columns that are there once": (
        "g (float[2, m, n] x) => (float[2, a, n] y, int64[c] k) { y, f, i, k = Unique<axis = 1, sorted = 0>(x) }",
        [{"x": np.random.default_rng(2).integers(0, 2, (2, 30, 2)).astype(np.float32)}], []),
    "boxes": (
        "g (float[b, n, 4] x, float[b, c, n] s, int64 m, float o, float t) => (int64[k, 3] y) { y = NonMaxSuppression(x, s, m, o, t) }",
        [{"x": boxes(b, n), "s": np.random.default_rng(n).random((b, c, n), np.float32), "m": np.int64(m), "o": np.float32(0.4), "t": np.float32(t)}
         for b, c, n, m, t in ((1, 1, 6, 3, 0.0), (2, 3, 60, 7, 0.3), (1, 2, 200, 1000, 0.1), (1, 1, 20, 0, 0.0), (1, 1, 20, 5, 2.0))], []),
    "boxes by their middles": (
        "g (float[2, 50, 4] x, float[2, 2, 50] s) => (int64[k, 3] y) <int64 m = {9}, float o = {0.3}> { y = NonMaxSuppression<center_point_box = 1>(x, s, m, o) }",
        [{"x": np.abs(boxes(2, 50)), "s": np.random.default_rng(7).random((2, 2, 50), np.float32)}], []),
    "a few of many boxes": (
        "g (float[b, n, 4] x, float[b, 2, n] s) => (int64[k, 3] y) <int64 m = {5}, float o = {0.5}, float t = {0.2}> { y = NonMaxSuppression(x, s, m, o, t) }",
        [{"x": boxes(b, n), "s": np.random.default_rng(n).random((b, 2, n), np.float32)} for b, n in ((1, 3), (2, 300), (1, 20000))], []),
    "boxes of several classes, all extents known": (
        "g (float[2, 700, 4] x, float[2, 3, 700] s) => (int64[k, 3] y) <int64 m = {60}, float o = {0.4}, float t = {0.1}> { y = NonMaxSuppression(x, s, m, o, t) }",
        [{"x": boxes(2, 700), "s": np.round(np.random.default_rng(k).random((2, 3, 700), np.float32), 2)} for k in range(2)]
        + [{"x": boxes(2, 700), "s": np.zeros((2, 3, 700), np.float32)}], []),
    "boxes at random, few of many": (
        "g (float[2, 1500, 4] x, float[2, 3, 1500] s, float o, float t) => (int64[k, 3] y) <int64 m = {60}> { y = NonMaxSuppression(x, s, m, o, t) }",
        [suppressions(k, 2, 3, 1500) for k in range(12)], []),
    "boxes twice, and of those that are taken": (
        "g (float[1, 600, 4] x, float[1, 2, 600] s, float o, float t) => (int64[k, 3] y, int64[j, 3] z) <int64 m = {9}, int64 all = {1000}> "
        "{ y = NonMaxSuppression(x, s, m, o, t)\n l = Constant<value_int = 2>()\n b = Gather<axis = 1>(y, l)\n r = Gather<axis = 1>(x, b)\n q = Gather<axis = 2>(s, b)\n"
        " z = NonMaxSuppression(r, q, all, t, o) }",
        [suppressions(k, 1, 2, 600) for k in range(6)], []),
    "boxes at random, of any shape": (
        "g (float[b, n, 4] x, float[b, c, n] s, int64 m, float o, float t) => (int64[k, 3] y) { y = NonMaxSuppression(x, s, m, o, t) }",
        [{**suppressions(k, 1 + k % 3, 1 + k % 4, 1 + k * k * 7), "m": np.int64(1 + k % 5 * 20)} for k in range(12)], []),
    "as many extents as there may be": (many(16), [{f"s{k}": ints(k % 8 + 1, 2, 3, 9 - k % 8) for k in range(16)}], []),
    "in a loop of three turns": (
        "g (float[4, 6] x, int64[1] k) => (float[4, 6] z) <int64 n = {3}, bool c = {1}, int64[1] zero = {0}> { z = Loop (n, c, x) <"
        " body = b (int64 i, bool d, float[4, 6] a) => (bool e, float[4, 6] y)"
        " { e = Identity(d) end = Add(i, k) p = Slice(a, zero, end) s = ReduceSum<keepdims = 0>(p) y = Add(a, s) }> }",
        [{"x": X, "k": ints(1)}, {"x": X, "k": ints(0)}, {"x": X, "k": ints(-3)}], []),
    "in a scan": (
        "g (float[4, 6] x, int64[4, 1] k) => (float[4] z) <int64[1] zero = {0}> { z = Scan<num_scan_inputs = 2,"
        " body = b (float[6] a, int64[1] end) => (float y) { p = Slice(a, zero, end) y = ReduceSum<keepdims = 0>(p) }>(x, k) }",
        [{"x": X, "k": ints(1, 2, 3, 4).reshape(4, 1)}, {"x": X, "k": ints(6, 0, -1, 2).reshape(4, 1)}], []),
}
# What is refused when it is compiled, by words of the reason.
REFUSED = {
    "more extents than there may be": (many(17), "more than 64 extents"),
    "a result that is called as extents are": (
        "g (float[4, 6] x, int64[2] s, int64[3] t) => (float[a, b] y, int64[3] EXTENTS) { y = Reshape(x, s) EXTENTS = Neg(t) }",
        "have one name"),
    "results of two shapes": (
        "g (bool c, float[4, 6] x, int64[2] s) => (float[a, b] z) { z = If (c) <"
        " then_branch = t () => (float[d, e] y) { y = Reshape(x, s) }, else_branch = f () => (float[d, e] v) { v = Neg(x) }> }",
        "results are of two types or shapes"),
    "in a loop that the host turns": (
        "g (int64 n, float[4, 6] x, int64[1] k) => (float[4, 6] z) <bool c = {1}, int64[1] zero = {0}> { z = Loop (n, c, x) <"
        " body = b (int64 i, bool d, float[4, 6] a) => (bool e, float[4, 6] y)"
        " { e = Identity(d) end = Add(i, k) p = Slice(a, zero, end) s = ReduceSum<keepdims = 0>(p) y = Add(a, s) }> }",
        "data say the shape of what is made in a loop"),
    "a chip with queues": ("g (float[4, 6] x, int64[2] s) => (float[a, b] z) { z = Reshape(x, s) }", "that data say"),
}


def results(model, values):
    """By the package's own evaluator, but what that has not: slices that are there once along an axis, boxes of several classes."""
    if any(node.op_type in ("Unique", "NonMaxSuppression") for node in model.graph.node):
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return session.run(None, {name: np.asarray(value) for name, value in values.items()})
    return ReferenceEvaluator(model).run(None, values)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    options = parser.parse_args()
    failed = 0

    def say(good, what, why=""):
        nonlocal failed
        failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {what}{'' if good else ': ' + str(why)}")

    def compiled(model, target):
        (folder / "m.onnx").write_bytes(model.SerializeToString())
        names = {d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param}
        dims = [f"--dim={name}=?" for name in sorted(names)]
        return tools.call([f"{options.bin}/pbc", str(folder / "m.onnx"), f"--target={target}", *dims, "-o", str(folder / "m.pbe")])

    def run(model, values):
        args = []
        for k, (name, value) in enumerate(values.items()):
            np.save(folder / f"in{k}.npy", value)
            args += ["--input", f"{name}={folder}/in{k}.npy"]
        for k, out in enumerate(model.graph.output):
            args += ["--output", f"{out.name}={folder}/out{k}.npy"]
        return tools.call([f"{options.bin}/pb-run", str(folder / "m.pbe"), *args])

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, (text, right, wrong) in MODELS.items():
            model = onnx.parser.parse_model(HEAD + text)
            made = compiled(model, "cpu")
            say(not made.returncode, what, made.stderr)
            for k, values in enumerate(right if not made.returncode else []):
                done = run(model, values)
                say(not done.returncode, f"{what}, set {k}", done.stderr)
                for n, expected in enumerate(results(model, values) if not done.returncode else []):
                    ours = np.load(folder / f"out{n}.npy")
                    say(ours.shape == expected.shape and np.allclose(ours, expected, rtol=1e-6), f"{what}, set {k}, result {n}", (ours, expected))
            for k, values in enumerate(wrong if not made.returncode else []):
                done = run(model, values)
                say(done.returncode == 1 and ("PB5053" in done.stderr or "PB5049" in done.stderr), f"{what}, wrong set {k}", done.stderr)
        for what, (text, words) in REFUSED.items():
            model = onnx.parser.parse_model(HEAD + text)
            for out in model.graph.output:  # a name that the text has no way to say
                out.name = out.name.replace("EXTENTS", "extents of 'y'")
            for node in model.graph.node:
                node.output[:] = [name.replace("EXTENTS", "extents of 'y'") for name in node.output]
            made = compiled(model, "simnpu" if "queues" in what else "cpu")
            say(made.returncode == 1 and words in made.stderr, what, made.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
