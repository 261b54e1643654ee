"""Transformers in ONNX's operators, as exporters write them, with seeded weights: BERT, DistilBERT, a ViT, GPT-2 (a
prompt, and one token against a cache), a block of the Llama kind. Compiled for the CPU and compared with ONNX Runtime.

    transformers.py --bin BUILD/bin [--size small|full] [--net bert,...] [--time] [--keep DIR]

Every output must be within 1e-4 of the largest of ONNX Runtime's, with one thread and with two, and every product must
be in vectors.
"""

import argparse
import os
import sys
import tempfile
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

TOLERANCE = 1e-4  # of the largest number of each output
FAR = np.float32(np.finfo(np.float32).min)


class Net:
    def __init__(self, name):
        self.name, self.nodes, self.consts, self.inputs, self.feeds = name, [], [], [], {}
        self.outputs = []
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def feed(self, name, array):
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, kind, array.shape))
        self.feeds[name] = array
        return name

    def ids(self, name, most, *shape):
        return self.feed(name, self.rng.integers(0, most, shape))

    def const(self, array):
        self.consts.append(numpy_helper.from_array(np.array(array, order="C"), f"c{len(self.consts)}"))
        return self.consts[-1].name

    def whole(self, *numbers):
        return self.const(np.array(numbers, np.int64))

    def number(self, value):
        return self.const(np.float32(value))

    def weights(self, *shape):
        scale = 1 / np.sqrt(shape[-2] if len(shape) > 1 else 1)
        return self.const((self.rng.standard_normal(shape) * scale).astype(np.float32))

    def shift(self, *shape):
        return self.const((self.rng.standard_normal(shape) * 0.1).astype(np.float32))

    def op(self, kind, *inputs, count=1, **attrs):
        names = [f"t{len(self.nodes)}_{k}" for k in range(count)]
        node = helper.make_node(kind, list(inputs), names, name=f"{kind.lower()}{len(self.nodes)}", **attrs)
        self.nodes.append(node)
        return names[0] if count == 1 else names

    def cast(self, x, kind):
        y = f"t{len(self.nodes)}_0"
        self.nodes.append(helper.make_node("Cast", [x], [y], name=f"cast{len(self.nodes)}", to=kind))
        return y

    def give(self, name, tensor):
        self.nodes.append(helper.make_node("Identity", [tensor], [name], name=name))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.consts)
        return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)])

    # ---- what they are made of ----

    def linear(self, x, inside, outside, bias=True):
        y = self.op("MatMul", x, self.weights(inside, outside))
        return self.op("Add", self.shift(outside), y) if bias else y

    def norm(self, x, width, epsilon):
        scale = self.const((1 + 0.1 * self.rng.standard_normal(width)).astype(np.float32))
        return self.op("LayerNormalization", x, scale, self.shift(width), axis=-1, epsilon=epsilon)

    def root_norm(self, x, width):
        """RMSNorm as PyTorch's exporter leaves it."""
        squares = self.op("ReduceMean", self.op("Pow", x, self.number(2)), axes=[-1], keepdims=1)
        root = self.op("Sqrt", self.op("Add", squares, self.number(1e-5)))
        return self.op("Mul", self.op("Mul", x, self.op("Reciprocal", root)), self.weights(width))

    def gelu(self, x):
        e = self.op("Erf", self.op("Div", x, self.number(np.sqrt(2))))
        return self.op("Mul", self.op("Mul", x, self.op("Add", e, self.number(1))), self.number(0.5))

    def gelu_tanh(self, x):
        cube = self.op("Mul", self.op("Pow", x, self.number(3)), self.number(0.044715))
        t = self.op("Tanh", self.op("Mul", self.op("Add", x, cube), self.number(np.sqrt(2 / np.pi))))
        return self.op("Mul", self.op("Mul", x, self.number(0.5)), self.op("Add", t, self.number(1)))

    def size_of(self, x, axis):
        """An extent as exporters compute it, [1]."""
        size = self.op("Gather", self.op("Shape", x), self.const(np.int64(axis)), axis=0)
        return self.op("Unsqueeze", size, self.whole(0))

    def heads(self, x, heads, width):
        shape = self.op("Concat", self.size_of(x, 0), self.size_of(x, 1), self.whole(heads, width // heads), axis=0)
        return self.op("Transpose", self.op("Reshape", x, shape), perm=[0, 2, 1, 3])

    def joined(self, x, width):
        x = self.op("Transpose", x, perm=[0, 2, 1, 3])
        return self.op("Reshape", x, self.whole(0, 0, width))

    def attend(self, q, k, v, masked, scale):
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = masked(self.op("Mul", scores, self.number(scale)))
        return self.op("MatMul", self.op("Softmax", scores, axis=-1), v)


def encoder(g, x, heads, width, inner, masked, first, epsilon):
    """A layer that normalises first (ViT), or last (BERT)."""
    y = g.norm(x, width, epsilon) if first else x
    q, k, v = (g.heads(g.linear(y, width, width), heads, width) for _ in range(3))
    y = g.linear(g.joined(g.attend(q, k, v, masked, (width // heads) ** -0.5), width), width, width)
    x = g.op("Add", y, x)
    y = x = x if first else g.norm(x, width, epsilon)
    y = g.norm(x, width, epsilon) if first else y
    y = g.op("Add", g.linear(g.gelu(g.linear(y, width, inner)), inner, width), x)
    return y if first else g.norm(y, width, epsilon)


def embedded(g, tokens, vocabulary, positions, width, ids):
    """Words and positions; the latter counted from the shape."""
    words = g.op("Gather", g.weights(vocabulary, width), ids)
    count = g.op("Squeeze", g.size_of(ids, 1), g.whole(0))
    at = g.op("Range", g.const(np.int64(0)), count, g.const(np.int64(1)))
    return g.op("Add", words, g.op("Gather", g.weights(positions, width), g.op("Unsqueeze", at, g.whole(0))))


def bert(g, tokens, layers, width, heads, vocabulary):
    ids = g.ids("input_ids", vocabulary, 1, tokens)
    mask = g.feed("attention_mask", (np.arange(tokens)[None] < tokens * 3 // 4).astype(np.int64))
    kinds = g.feed("token_type_ids", (np.arange(tokens)[None] > tokens // 2).astype(np.int64))
    x = g.op("Add", embedded(g, tokens, vocabulary, 512, width, ids), g.op("Gather", g.weights(2, width), kinds))
    x = g.norm(x, width, 1e-12)
    m = g.cast(g.op("Unsqueeze", mask, g.whole(1, 2)), TensorProto.FLOAT)
    m = g.op("Mul", g.op("Sub", g.number(1), m), g.const(FAR))
    for _ in range(layers):
        x = encoder(g, x, heads, width, 4 * width, lambda s: g.op("Add", s, m), False, 1e-12)
    g.give("last_hidden_state", x)
    first = g.op("Gather", x, g.const(np.int64(0)), axis=1)
    g.give("pooled", g.op("Tanh", g.op("Gemm", first, g.weights(width, width), g.shift(width), transB=1)))


def distilbert(g, tokens, layers, width, heads, vocabulary):
    ids = g.ids("input_ids", vocabulary, 1, tokens)
    mask = g.feed("attention_mask", (np.arange(tokens)[None] < tokens * 3 // 4).astype(np.int64))
    x = g.norm(embedded(g, tokens, vocabulary, 512, width, ids), width, 1e-12)
    hidden = g.op("Equal", mask, g.const(np.int64(0)))
    hidden = g.op("Reshape", hidden, g.whole(1, 1, 1, tokens))

    def masked(scores):
        return g.op("Where", g.op("Expand", hidden, g.op("Shape", scores)), g.const(FAR), scores)

    for _ in range(layers):
        x = encoder(g, x, heads, width, 4 * width, masked, False, 1e-12)
    g.give("last_hidden_state", x)


def vit(g, side, patch, layers, width, heads, classes):
    image = g.feed("pixel_values", g.rng.standard_normal((1, 3, side, side)).astype(np.float32))
    w = g.const((g.rng.standard_normal((width, 3, patch, patch)) / np.sqrt(3 * patch**2)).astype(np.float32))
    x = g.op("Conv", image, w, g.shift(width), strides=[patch, patch], kernel_shape=[patch, patch])
    x = g.op("Transpose", g.op("Reshape", x, g.whole(1, width, -1)), perm=[0, 2, 1])
    token = g.op("Expand", g.weights(1, 1, width), g.whole(1, 1, 1))
    count = (side // patch) ** 2 + 1
    x = g.op("Add", g.op("Concat", token, x, axis=1), g.weights(1, count, width))
    for _ in range(layers):
        x = encoder(g, x, heads, width, 4 * width, lambda s: s, True, 1e-6)
    x = g.op("Gather", g.norm(x, width, 1e-6), g.const(np.int64(0)), axis=1)
    g.give("logits", g.op("Gemm", x, g.weights(classes, width), g.shift(classes), transB=1))


def gpt2_layer(g, x, heads, width, past, tokens, context):
    y = g.norm(x, width, 1e-5)
    flat = g.op("Reshape", y, g.whole(-1, width))
    flat = g.op("Gemm", flat, g.weights(width, 3 * width), g.shift(3 * width))
    y = g.op("Reshape", flat, g.whole(1, tokens, 3 * width))
    q, k, v = (g.heads(part, heads, width) for part in g.op("Split", y, g.whole(*[width] * 3), count=3, axis=2))
    if past:
        k, v = (g.op("Concat", old, new, axis=2) for old, new in zip(past, (k, v)))
    seen = np.tril(np.ones((1, 1, context, context), np.bool_))
    keys = g.size_of(k, 2)
    rows = g.op("Slice", g.const(seen), g.op("Sub", keys, g.size_of(q, 2)), keys, g.whole(2))
    seen = g.op("Slice", rows, g.whole(0), keys, g.whole(3))
    width_root = (width // heads) ** -0.5
    y = g.attend(q, k, v, lambda s: g.op("Where", seen, s, g.const(FAR)), width_root)
    x = g.op("Add", g.linear(g.joined(y, width), width, width), x)
    y = g.linear(g.norm(x, width, 1e-5), width, 4 * width)
    return g.op("Add", g.linear(g.gelu_tanh(y), 4 * width, width), x), k, v


def gpt2(g, tokens, cache, layers, width, heads, vocabulary):
    ids = g.ids("input_ids", vocabulary, 1, tokens)
    at = g.feed("position_ids", np.arange(cache, cache + tokens)[None])
    words, context = g.weights(vocabulary, width), max(cache + tokens, 16)
    x = g.op("Add", g.op("Gather", words, ids), g.op("Gather", g.weights(context, width), at))
    for k in range(layers):
        past = []
        for side in "kv" if cache else "":
            old = g.rng.standard_normal((1, heads, cache, width // heads)).astype(np.float32)
            past.append(g.feed(f"past_{side}{k}", old))
        x, key, value = gpt2_layer(g, x, heads, width, past, tokens, context)
        g.give(f"present_k{k}", key)
        g.give(f"present_v{k}", value)
    x = g.norm(x, width, 1e-5)
    g.give("logits", g.op("MatMul", x, g.op("Transpose", words, perm=[1, 0])))


def rotated(g, x, cos, sin, half):
    """Rotary positions: x cos + (-x2, x1) sin."""
    first = g.op("Slice", x, g.whole(0), g.whole(half), g.whole(3))
    second = g.op("Slice", x, g.whole(half), g.whole(2**63 - 1), g.whole(3))
    turned = g.op("Concat", g.op("Neg", second), first, axis=-1)
    return g.op("Add", g.op("Mul", x, cos), g.op("Mul", turned, sin))


def llama(g, tokens, layers, width, heads, groups, inner):
    x = g.feed("hidden_states", g.rng.standard_normal((1, tokens, width)).astype(np.float32))
    at = g.feed("position_ids", np.arange(7, 7 + tokens)[None])
    head, times = width // heads, heads // groups
    angles = np.outer(np.arange(tokens + 16), 10000.0 ** (-np.arange(0, head, 2) / head))
    cos, sin = (
        g.op("Unsqueeze", g.op("Gather", g.const(np.tile(f(angles), 2).astype(np.float32)), at), g.whole(1))
        for f in (np.cos, np.sin)
    )
    seen = g.const(np.tril(np.ones((tokens, tokens), np.bool_)))
    for _ in range(layers):
        y = g.root_norm(x, width)
        q = g.heads(g.linear(y, width, width, bias=False), heads, width)
        k, v = (g.heads(g.linear(y, width, groups * head, bias=False), groups, groups * head) for _ in range(2))
        q, k = (rotated(g, part, cos, sin, head // 2) for part in (q, k))
        spread = []
        for part in (k, v):  # each key and value for several heads
            part = g.op("Expand", g.op("Unsqueeze", part, g.whole(2)), g.whole(1, groups, times, tokens, head))
            spread.append(g.op("Reshape", part, g.whole(1, heads, tokens, head)))
        y = g.attend(q, *spread, lambda s: g.op("Where", seen, s, g.const(FAR)), head**-0.5)
        x = g.op("Add", x, g.linear(g.joined(y, width), width, width, bias=False))
        y = g.root_norm(x, width)
        gate, up = (g.linear(y, width, inner, bias=False) for _ in range(2))
        y = g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), up)
        x = g.op("Add", x, g.linear(y, inner, width, bias=False))
    g.give("hidden_states_out", x)


NETS = {
    "bert": (bert, {"small": (24, 2, 64, 4, 100), "full": (128, 12, 768, 12, 30522)}),
    "distilbert": (distilbert, {"small": (24, 2, 64, 4, 100), "full": (128, 6, 768, 12, 30522)}),
    "vit": (vit, {"small": (32, 8, 2, 64, 4, 10), "full": (224, 16, 12, 768, 12, 1000)}),
    "gpt2": (gpt2, {"small": (24, 0, 2, 64, 4, 100), "full": (128, 0, 12, 768, 12, 50257)}),
    "gpt2_token": (gpt2, {"small": (1, 40, 2, 64, 4, 100), "full": (1, 1024, 12, 768, 12, 50257)}),
    "llama": (llama, {"small": (24, 2, 64, 4, 2, 96), "full": (128, 1, 2048, 32, 8, 8192)}),
}


def build(name, size, nets=NETS):
    g = Net(f"{name}_{size}")
    make, parameters = nets[name]
    make(g, *parameters[size])
    return g


def session_of(path, threads, plain):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    if plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def median_of(run):
    for _ in range(3):
        run()
    times = []
    for _ in range(9):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e3


def worst_of(expected, files):
    worst = 0.0
    for name, theirs in expected.items():
        ours = np.load(files[name])
        if ours.shape != theirs.shape or not np.isfinite(ours).all():
            return float("inf")
        worst = max(worst, float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
    return worst


def run_net(args, folder, name, nets):
    """Whether a network is right with one thread and with two; prints a line for each."""
    g = build(name, args.size, nets)
    stem = os.path.join(folder, g.name)
    onnx.save(g.model(), stem + ".onnx")
    session = session_of(stem + ".onnx", 2, plain=True)
    expected = dict(zip((o.name for o in session.get_outputs()), session.run(None, g.feeds)))
    del session
    for source, array in g.feeds.items():
        np.save(f"{stem}-{source}.npy", array)
    files = {output: f"{stem}-out-{output}.npy" for output in expected}
    start, good = time.monotonic(), True
    try:
        command = [os.path.join(args.bin, "pbc"), stem + ".onnx", f"--target={args.target}", "-o", stem + ".pbe"]
        if args.bisect and name.split("_")[0] in args.bisect.split(","):
            command.append("--bisect")  # every pass leaves results as they were, or says why not
        told = tools.call(command)
        if told.returncode:
            raise tools.Failed(command, told)
        compiled = time.monotonic() - start
        scalar = [line for line in told.stderr.splitlines() if "PB4065" in line and "matmul" in line]
        if scalar:
            print(f"{g.name}: a product without vectors: {scalar[0]}")
            good = False
        for threads in (1, 2):
            command = [os.path.join(args.bin, "pb-run"), stem + ".pbe", "--device=native", f"--threads={threads}"]
            command += [f"--input={source}={stem}-{source}.npy" for source in g.feeds]
            tools.run(command + [f"--output={output}={file}" for output, file in files.items()], timeout=600)
            worst = worst_of(expected, files)
            good &= worst <= TOLERANCE
            line = f"{g.name:18s} {threads} threads: {worst:.1e} of the largest, compiled in {compiled:.1f} s"
            if args.time:
                printed = tools.run(command + ["--warmup=3", "--repeat=9"], timeout=600)
                session = session_of(stem + ".onnx", threads, plain=False)
                line += f"; ONNX Runtime {median_of(lambda: session.run(None, g.feeds)):.2f} ms; ours:"
                line += "".join(f" {told}" for told in printed.splitlines() if " ms" in told or " us" in told)
            print(line + ("" if worst <= TOLERANCE else "  MISSED"), flush=True)
    except tools.Failed as error:
        print(f"{g.name}: {str(error)[-1500:]}", flush=True)
        return False
    return good


def main(nets=NETS, text=__doc__):
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--net", default=",".join(nets))
    parser.add_argument("--size", choices=("small", "full"), default="small")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--time", action="store_true", help="beside ONNX Runtime")
    parser.add_argument("--bisect", default="", help="networks for which the IR is run after every pass")
    parser.add_argument("--keep", help="a folder for the models and what they give")
    args = parser.parse_args()
    good = True
    for name in args.net.split(","):
        with tempfile.TemporaryDirectory() as folder:
            if args.keep:
                os.makedirs(args.keep, exist_ok=True)
            good &= run_net(args, args.keep or folder, name, nets)
    print("passed" if good else "FAILED")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
