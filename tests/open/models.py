"""ONNX models with open dims, seeded: one engine each, run at four sizes, against ONNX Runtime.

    tests/open/models.py --bin build/bin [--only NAME]"""
import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent / "models")]
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
from run import close, execute  # noqa: E402
from transformers import Net, bert, distilbert, encoder, gpt2  # noqa: E402


def perceptron(g):
    x = g.feed("x", np.zeros((1, 20), np.float32))
    y = g.op("Relu", g.op("Gemm", x, g.weights(20, 32), g.shift(32)))
    g.give("y", g.op("Softmax", g.op("Gemm", y, g.weights(32, 10), g.shift(10)), axis=-1))
    return {"x": ["batch", 20]}


def convolutions(g):
    x = g.feed("image", np.zeros((1, 3, 20, 20), np.float32))
    for inside, outside, stride in ((3, 8, 1), (8, 16, 2), (16, 16, 1)):
        y = g.op("Conv", x, g.weights(outside, inside, 3, 3), g.shift(outside), pads=[1, 1, 1, 1], strides=[stride] * 2,
                 kernel_shape=[3, 3])
        y = g.op("BatchNormalization", y, g.shift(outside), g.shift(outside), g.shift(outside),
                 g.const(np.full(outside, 2, np.float32)))
        y = g.op("Relu", y)
        x = g.op("Add", x, y) if inside == outside else y
    x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    g.give("logits", g.op("Gemm", x, g.weights(10, 16), g.shift(10), transB=1))
    return {"image": ["batch", 3, 20, 20]}


def pixels(g):
    """Open height and width: strides, pools, an upsampling, a join with what came before."""
    x = g.feed("image", np.zeros((1, 3, 20, 20), np.float32))
    a = g.op("Relu", g.op("Conv", x, g.weights(4, 3, 3, 3), g.shift(4), pads=[1, 1, 1, 1], kernel_shape=[3, 3]))
    b = g.op("Conv", a, g.weights(8, 4, 3, 3), g.shift(8), pads=[1, 1, 1, 1], strides=[2, 2], kernel_shape=[3, 3])
    b = g.op("MaxPool", g.op("Relu", b), kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    g.give("y", g.op("Conv", b, g.weights(2, 8, 1, 1), g.shift(2), kernel_shape=[1, 1]))
    return {"image": ["batch", 3, "height", "width"]}


def recurrent(g):
    x = g.feed("x", np.zeros((6, 1, 8), np.float32))
    lstm = g.op("LSTM", x, g.weights(1, 64, 8), g.weights(1, 64, 16), g.shift(1, 128), count=3, hidden_size=16)
    gru = g.op("GRU", g.op("Squeeze", lstm[0], g.whole(1)), g.weights(1, 36, 16), g.weights(1, 36, 12), g.shift(1, 72),
               count=2, hidden_size=12)
    g.give("y", g.op("Squeeze", gru[0], g.whole(1)))
    return {"x": [6, "batch", 8]}


def language(g):
    bert(g, 24, 2, 64, 4, 100)
    return {name: ["batch", "sequence"] for name in ("input_ids", "attention_mask", "token_type_ids")}


def layer(g):
    x = g.feed("x", np.zeros((1, 24, 32), np.float32))
    g.give("y", encoder(g, x, 4, 32, 64, lambda s: s, True, 1e-5))
    return {"x": ["batch", "sequence", 32]}


def cached(g):
    """A token behind a cache of any length."""
    gpt2(g, 1, 300, 2, 64, 4, 100)
    return {n: [1, 4, "past", 16] if n.startswith("past") else [1, 1] for n in g.feeds}


def many(g):
    """More kernels than 64: none has the name of a function of the C library."""
    for half in range(2):  # a kernel for each place in either
        x = g.feed(f"x{half}", np.zeros((1, 5 + half), np.float32))
        parts = [g.op("Mul", x, g.number(k + 1.3)) for k in range(36)]
        g.give(f"y{half}", g.op("Concat", *parts, axis=1))
    return {"x0": ["batch", 5], "x1": ["batch", 6]}


def maxima(g):
    """Over numbers of neighbours around those of lanes: LLVM must not leave the last ones out."""
    image = g.feed("image", np.zeros((1, 2, 15, 15), np.float32))
    for window in (2, 3, 5, 7, 15):
        for step in (1, 2, 3):
            g.give(f"pool{window}_{step}", g.op("MaxPool", image, kernel_shape=[window] * 2, strides=[step] * 2))
        row = g.op("Slice", image, g.whole(0), g.whole(window), g.whole(3))
        g.give(f"most{window}", g.op("ReduceMax", row, axes=[3]))
        g.give(f"least{window}", g.op("ReduceMin", row, axes=[3], keepdims=0))
        g.give(f"soft{window}", g.op("LogSoftmax", row, axis=3))
    g.give("whole", g.op("GlobalMaxPool", image))
    g.give("uneven", g.op("MaxPool", image, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 0, 1]))
    return {"image": ["batch", 2, 15, 15]}


MODELS = {f.__name__: f for f in (perceptron, convolutions, pixels, recurrent, language, layer, cached, many, maxima)}
SIZES = [{"batch": 1, "sequence": 1, "height": 1, "width": 1, "past": 1},
         {"batch": 2, "sequence": 5, "height": 4, "width": 6, "past": 3},
         {"batch": 7, "sequence": 13, "height": 13, "width": 17, "past": 31},
         {"batch": 9, "sequence": 100, "height": 64, "width": 50, "past": 250}]


def feed_of(g, name, dims, size, rng):
    shape = [size.get(d, d) for d in dims]
    kind = g.feeds[name].dtype
    if kind == np.float32:
        return rng.standard_normal(shape).astype(np.float32)
    most = {"input_ids": 100, "position_ids": 1}.get(name, 2)
    return rng.integers(0, most, shape).astype(kind) if name != "position_ids" else np.full(shape, size["past"], kind)


def check(bin_dir, name, folder):
    g = Net(f"open_{name}")
    dims = MODELS[name](g)
    model = g.model()
    for value in model.graph.input:
        for at, d in enumerate(dims[value.name]):
            if isinstance(d, str):
                value.type.tensor_type.shape.dim[at].dim_param = d
    path, engine = folder / "m.onnx", folder / "m.pbe"
    path.write_bytes(model.SerializeToString())
    named = sorted({d for v in dims.values() for d in v if isinstance(d, str)})
    options = [o for d in named for o in ("--dim", f"{d}=?")]
    done = tools.call([f"{bin_dir}/pbc", str(path), "--target=cpu", "-o", str(engine), *options])
    if done.returncode:
        return f"refused: {done.stderr.strip()}"
    session = onnxruntime.InferenceSession(path.read_bytes())
    rng = np.random.default_rng(3)
    for size in SIZES:
        feeds = {n: feed_of(g, n, dims[n], size, rng) for n in g.feeds}
        outputs = [o.name for o in session.get_outputs()]
        want, got = session.run(None, feeds), execute(bin_dir, engine, feeds, outputs, folder)
        if isinstance(got, str):
            return f"{size}: {got.strip()}"
        for n, w, y in zip(outputs, want, got):
            if not close(y, w):
                return f"{size}: {n} is wrong, {y.shape} and {w.shape}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in [options.only] if options.only else MODELS:
            why = check(options.bin, name, Path(folder))
            failed += bool(why)
            print(f"{'FAILED' if why else 'ok    '} {name}{': ' if why else ''}{why[:900]}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
