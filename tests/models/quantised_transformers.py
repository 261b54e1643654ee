"""Transformers in int8 QDQ form as ONNX Runtime's static quantiser writes them: from the sum of embeddings to the logits,
QuantizeLinear and DequantizeLinear around every operator, seeded weights, scales from runs of the f32 model.

    quantised_transformers.py --bin BUILD/bin [--size small|layer|full] [--net bert,...] [--runs cpu:native,...] [--keep DIR]
                              [--judge]

The engine's outputs must have the bits of the NumPy reference. --judge: and the cosine between logits and those of the f32
model is no more than 0.002 below that of ONNX Runtime's own run of the int8 model; each layer of codes within one code of
ONNX Runtime's on the same inputs.
"""

import argparse
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import helper  # noqa: E402
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static  # noqa: E402
from reference import Reference  # noqa: E402
from transformers import Net  # noqa: E402

SAMPLES = 4


class Codes(Net):
    """The nets of transformers.py with shapes that are numbers, one operator for Gelu, and float inputs."""

    opset = 20

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.consts)
        return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", self.opset)])

    def give(self, name, tensor):
        """The tensor itself leaves, under the name."""
        maker = self.nodes[-1]
        assert list(maker.output) == [tensor]
        maker.output[0] = name
        self.outputs.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))

    def gelu(self, x):
        return self.op("Gelu", x)

    def gelu_tanh(self, x):
        return self.op("Gelu", x, approximate="tanh")

    batch = 1

    def split_heads(self, x, tokens, heads, width):
        x = self.op("Reshape", x, self.whole(self.batch, tokens, heads, width // heads))
        return self.op("Transpose", x, perm=[0, 2, 1, 3])

    def attention(self, q, k, v, tokens, heads, width, mask=None):
        """The scale goes into the queries' weights, as run-times fold it."""
        q, k, v = (self.split_heads(part, tokens, heads, width) for part in (q, k, v))
        s = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        s = s if mask is None else self.op("Add", s, mask)
        y = self.op("MatMul", self.op("Softmax", s, axis=-1), v)
        return self.op("Reshape", self.op("Transpose", y, perm=[0, 2, 1, 3]), self.whole(self.batch, tokens, width))

    def queries(self, x, width, heads):
        w = self.rng.standard_normal((width, width)) / np.sqrt(width) * (width // heads) ** -0.5
        return self.op("Add", self.op("MatMul", x, self.const(w.astype(np.float32))), self.shift(width))


def bert(g, tokens, layers, width, heads, classes, batch=1):
    """BERT and DistilBERT: norms behind each block; what reads the first token at the end."""
    g.batch = batch
    x = g.norm(g.feed("embeddings", g.rng.standard_normal((batch, tokens, width)).astype(np.float32)), width, 1e-12)
    for _ in range(layers):
        q, k, v = g.queries(x, width, heads), g.linear(x, width, width), g.linear(x, width, width)
        y = g.linear(g.attention(q, k, v, tokens, heads, width), width, width)
        x = g.norm(g.op("Add", y, x), width, 1e-12)
        y = g.linear(g.gelu(g.linear(x, width, 4 * width)), 4 * width, width)
        x = g.norm(g.op("Add", y, x), width, 1e-12)
    g.give("logits", g.linear(x, width, classes))


def gpt2(g, tokens, layers, width, heads, classes):
    """Norms in front, queries, keys and values in one product, a causal mask that is added."""
    x = g.feed("embeddings", g.rng.standard_normal((1, tokens, width)).astype(np.float32))
    seen = np.tril(np.ones((tokens, tokens), np.bool_))
    mask = g.const(np.where(seen, 0, -12).astype(np.float32)[None, None])
    for _ in range(layers):
        y = g.norm(x, width, 1e-5)
        w = g.rng.standard_normal((width, 3 * width)) / np.sqrt(width)
        w[:, :width] *= (width // heads) ** -0.5
        y = g.op("Add", g.op("MatMul", y, g.const(w.astype(np.float32))), g.shift(3 * width))
        q, k, v = g.op("Split", y, g.whole(*[width] * 3), count=3, axis=2)
        y = g.linear(g.attention(q, k, v, tokens, heads, width, mask), width, width)
        x = g.op("Add", y, x)
        y = g.norm(x, width, 1e-5)
        x = g.op("Add", g.linear(g.gelu_tanh(g.linear(y, width, 4 * width)), 4 * width, width), x)
    g.give("logits", g.linear(g.norm(x, width, 1e-5), width, classes, bias=False))


def gpt2_token(g, past, layers, width, heads, classes):
    """One token of GPT-2 against a cache of keys and values, which the graph is given and hands on with one row more."""
    head = width // heads
    x = g.feed("embeddings", g.rng.standard_normal((1, 1, width)).astype(np.float32))
    for layer in range(layers):
        y = g.norm(x, width, 1e-5)
        q, k, v = g.queries(y, width, heads), g.linear(y, width, width), g.linear(y, width, width)
        rows = []
        for name, row in (("keys", k), ("values", v)):
            cache = g.feed(f"{name}{layer}", g.rng.standard_normal((1, heads, past, head)).astype(np.float32))
            rows.append(g.op("Concat", cache, g.split_heads(row, 1, heads, width), axis=2))
        scores = g.op("MatMul", g.split_heads(q, 1, heads, width), g.op("Transpose", rows[0], perm=[0, 1, 3, 2]))
        y = g.op("MatMul", g.op("Softmax", scores, axis=-1), rows[1])
        y = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]), g.whole(1, 1, width))
        x = g.op("Add", g.linear(y, width, width), x)
        y = g.norm(x, width, 1e-5)
        x = g.op("Add", g.linear(g.gelu_tanh(g.linear(y, width, 4 * width)), 4 * width, width), x)
    g.give("logits", g.linear(g.norm(x, width, 1e-5), width, classes, bias=False))


def vit(g, tokens, layers, width, heads, classes):
    x = g.feed("embeddings", g.rng.standard_normal((1, tokens, width)).astype(np.float32))
    for _ in range(layers):
        y = g.norm(x, width, 1e-6)
        q, k, v = g.queries(y, width, heads), g.linear(y, width, width), g.linear(y, width, width)
        x = g.op("Add", g.linear(g.attention(q, k, v, tokens, heads, width), width, width), x)
        y = g.norm(x, width, 1e-6)
        x = g.op("Add", g.linear(g.gelu(g.linear(y, width, 4 * width)), 4 * width, width), x)
    g.give("logits", g.linear(g.norm(x, width, 1e-6), width, classes))


def llama(g, tokens, layers, width, heads, groups, inner, classes):
    """Root norms, keys and values for several heads each, a gated product by silu."""
    x = g.feed("hidden_states", g.rng.standard_normal((1, tokens, width)).astype(np.float32))
    mask = g.const(np.where(np.tril(np.ones((tokens, tokens), np.bool_)), 0, -12).astype(np.float32)[None, None])
    head, g.opset = width // heads, 23

    def root_norm(x):
        return g.op("RMSNormalization", x, g.const((1 + 0.1 * g.rng.standard_normal(width)).astype(np.float32)),
                    axis=-1, epsilon=1e-5)

    for _ in range(layers):
        y = root_norm(x)
        w = g.rng.standard_normal((width, width)) / np.sqrt(width) * head**-0.5
        q = g.split_heads(g.op("MatMul", y, g.const(w.astype(np.float32))), tokens, heads, width)
        spread = []
        for _ in range(2):
            part = g.split_heads(g.linear(y, width, groups * head, bias=False), tokens, groups, groups * head)
            part = g.op("Reshape", part, g.whole(1, groups, 1, tokens, head))
            part = g.op("Expand", part, g.whole(1, groups, heads // groups, tokens, head))
            spread.append(g.op("Reshape", part, g.whole(1, heads, tokens, head)))
        s = g.op("Add", g.op("MatMul", q, g.op("Transpose", spread[0], perm=[0, 1, 3, 2])), mask)
        y = g.op("MatMul", g.op("Softmax", s, axis=-1), spread[1])
        y = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]), g.whole(1, tokens, width))
        x = g.op("Add", x, g.linear(y, width, width, bias=False))
        y = root_norm(x)
        gate, up = (g.linear(y, width, inner, bias=False) for _ in range(2))
        y = g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), up)
        x = g.op("Add", x, g.linear(y, inner, width, bias=False))
    g.give("logits", g.linear(root_norm(x), width, classes, bias=False))


# tokens, layers, width, heads, ..., classes
NETS = {
    "bert": (bert, {"small": (32, 2, 64, 4, 16), "layer": (128, 1, 768, 12, 768), "full": (128, 12, 768, 12, 768)}),
    "distilbert": (bert, {"small": (16, 2, 96, 3, 16), "layer": (128, 1, 768, 12, 768), "full": (128, 6, 768, 12, 768)}),
    "gpt2": (gpt2, {"small": (32, 2, 64, 4, 96), "layer": (128, 1, 768, 12, 768), "full": (128, 12, 768, 12, 50257)}),
    "vit": (vit, {"small": (17, 2, 64, 4, 10), "layer": (197, 1, 768, 12, 1000), "full": (197, 12, 768, 12, 1000)}),
    "llama": (llama, {"small": (32, 2, 64, 4, 2, 96, 32), "layer": (128, 1, 2048, 32, 8, 8192, 2048),
                      "full": (128, 4, 2048, 32, 8, 8192, 2048)}),
    "gpt2-token": (gpt2_token, {"small": (24, 1, 64, 4, 96), "layer": (1024, 1, 768, 12, 768)}),
    # Lengths that are no multiple of anything: shorter than a row of lanes, a row and one more, a prime.
    "bert-5": (bert, {"small": (5, 1, 64, 2, 16)}),
    "bert-3x21": (bert, {"small": (21, 1, 64, 2, 16, 3)}),
    "gpt2-37": (gpt2, {"small": (37, 1, 64, 4, 96)}),
    "llama-19": (llama, {"small": (19, 1, 64, 4, 2, 96, 32)}),
}


class Samples(CalibrationDataReader):
    def __init__(self, feeds):
        rng = np.random.default_rng(1)
        rest = [{n: rng.standard_normal(a.shape).astype(np.float32) for n, a in feeds.items()} for _ in range(SAMPLES - 1)]
        self.left = [feeds, *rest]

    def get_next(self):
        return self.left.pop(0) if self.left else None


def build(name, size, folder):
    """The f32 model, the int8 model, the inputs."""
    g = Codes(f"{name}_int8_{size}")
    make, parameters = NETS[name]
    make(g, *parameters[size])
    path = os.path.join(folder, g.name)
    onnx.save(g.model(), path + "-f32.onnx")
    kinds = sorted({node.op_type for node in g.nodes})
    quantize_static(path + "-f32.onnx", path + ".onnx", Samples(g.feeds), QuantFormat.QDQ, op_types_to_quantize=kinds,
                    per_channel=True, activation_type=QuantType.QInt8, weight_type=QuantType.QInt8)
    return path + "-f32.onnx", path + ".onnx", g.feeds


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def cosine(a, b):
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def judge(f32_path, path, feeds, reference):
    """What the quantisation costs by our arithmetic and by ONNX Runtime's; the largest difference of a layer's codes."""
    right, theirs = (session_of(p).run(None, feeds)[0] for p in (f32_path, path))
    model = onnx.load(path)
    codes = [n.output[0] for n in model.graph.node if n.op_type == "QuantizeLinear"]
    for name in codes:
        model.graph.output.append(helper.make_tensor_value_info(name, onnx.TensorProto.INT8, None))
    session = session_of(model.SerializeToString())
    given = dict(zip(codes, session.run(codes, feeds)))
    ours = reference.run(feeds, given)
    apart = max(int(np.abs(ours[name].astype(int) - given[name].astype(int)).max()) for name in codes)
    logits = reference.run(feeds)[reference.outputs[0]]
    mine, its = cosine(logits, right), cosine(theirs, right)
    print(f"  cosine to f32 {mine:.5f}, ONNX Runtime's int8 {its:.5f}; a layer's codes at most {apart} apart", flush=True)
    return mine >= its - 0.002 and apart <= 1


def run_net(args, folder, name):
    f32_path, path, feeds = build(name, args.size, folder)
    reference = Reference(onnx.load(path))
    expected = reference.run(feeds)[reference.outputs[0]]
    good = judge(f32_path, path, feeds, reference) if args.judge else True
    for source, array in feeds.items():
        np.save(f"{path}-{source}.npy", array)
    for run in args.runs.split(","):
        target, device = run.rsplit(":", 1)
        engine, out = f"{path}-{device}.pbe", f"{path}-{device}.npy"
        try:
            start = time.monotonic()
            report = f"{path}-{device}.json"
            tools.compile_model(args.bin, path, target, engine, f"--report={report}")
            compiled = time.monotonic() - start
            if device == "native" and not tools.runs_here(args.bin, target):
                print(f"{name} {args.size} on {run}: compiled in {compiled:.1f} s")
                continue
            told = tools.run([os.path.join(args.bin, "pb-run"), engine, f"--device={device}", "--stats",
                              *(f"--input={source}={path}-{source}.npy" for source in feeds), f"--output={out}"], timeout=7200)
            different = int((np.load(out) != expected).sum())
            cycles = [" ".join(line.split()) for line in told.splitlines() if line.startswith("total")][:1]
            print(f"{name} {args.size} on {run}: {different} of {expected.size} differ, compiled in {compiled:.1f} s; "
                  f"{' '.join(cycles)}", flush=True)
            good &= different == 0
            with open(report, encoding="utf-8") as file:
                plain = [f"{kernel['name']} ({', '.join(kernel['nodes'])}): {kernel['scalar']}" for kernel in json.load(file)["kernels"]
                         if "scalar" in kernel]
            for kernel in plain:
                print(f"  runs as plain loops: {kernel}", flush=True)
            good &= not plain
        except tools.Failed as error:
            print(f"{name} {args.size} on {run}: {str(error)[-1200:]}", flush=True)
            good = False
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--net", default=",".join(NETS))
    parser.add_argument("--size", choices=("small", "layer", "full"), default="small")
    parser.add_argument("--runs", default="cpu:native")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--keep", help="a folder for the models and what they give")
    args = parser.parse_args()
    good = True
    for name in args.net.split(","):
        with tempfile.TemporaryDirectory() as folder:
            if args.keep:
                os.makedirs(args.keep, exist_ok=True)
            good &= run_net(args, args.keep or folder, name)
    print("passed" if good else "FAILED")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
