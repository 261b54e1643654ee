"""What the table of ONNX's operators says of a model, and inputs that are bound.

    table.py --bin BUILD/bin
"""

import math
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx.numpy_helper  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def model(nodes, opset=17, shape=(2, 6), more=(), domains=()):
    inputs = [helper.make_tensor_value_info("x", FLOAT, shape), *more]
    outputs = [helper.make_tensor_value_info("y", FLOAT, None)]
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, 1) for name in domains)]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, outputs), ir_version=8, opset_imports=imports)


def node(kind, inputs=("x",), outputs=("y",), **attributes):
    return helper.make_node(kind, list(inputs), list(outputs), name=f"the_{kind.lower()}", **attributes)


class Session:
    def __init__(self, bin_dir, folder):
        self.bin, self.folder, self.failures, self.count = bin_dir, folder, 0, 0

    def compile(self, made, *options):
        self.count += 1
        path = os.path.join(self.folder, "m.onnx")
        Path(path).write_bytes(made.SerializeToString())
        return tools.call([os.path.join(self.bin, "pbc"), path, "--target=cpu", "-o", os.path.join(self.folder, "m.pbe"), *options])

    def check(self, what, good):
        if not good:
            self.failures += 1
            print(f"FAILED: {what}")

    def refuses(self, what, made, *words, options=()):
        done = self.compile(made, *options)
        self.check(f"{what}: {done.returncode} {done.stderr}", done.returncode == 1 and all(w in done.stderr for w in words))

    def gives(self, what, made, expected, *options, near=False, nan=False, device="native", **inputs):
        done = self.compile(made, *options)
        self.check(f"{what}: {done.stderr}", done.returncode == 0)
        if done.returncode:
            return
        words = []
        for name, value in inputs.items():
            np.save(os.path.join(self.folder, f"{name}.npy"), value)
            words += ["--input", f"{name}={os.path.join(self.folder, name + '.npy')}"]
        out = os.path.join(self.folder, "out.npy")
        done = tools.call([os.path.join(self.bin, "pb-run"), os.path.join(self.folder, "m.pbe"), f"--device={device}", *words, "--output", f"y={out}"])
        self.check(f"{what}: {done.stderr}", done.returncode == 0 and
                   (np.allclose(np.load(out), expected, rtol=1e-5, atol=1e-6) if near else np.array_equal(np.load(out), expected, equal_nan=nan)))


def refusals(s):
    nodes = [node("Relux", outputs=["a"]), node("Relux", ["a"], ["b"]), node("Convv", ["b", "b"], ["c"]),
             node("Thing", ["c"], domain="com.example")]
    s.refuses("all operators that are not read, each once", model(nodes, domains=["com.example"]),
              "node 'the_relux' (Relux): operator 'Relux' is not read", "perhaps Relu",
              "operator 'Convv' is not read", "perhaps Conv", "operator 'com.example.Thing' is not read")
    s.refuses("an attribute that it does not have", model([node("Relu", slope=0.5)]), "node 'the_relu' (Relu)",
              "an attribute 'slope' that it does not have")
    s.refuses("an attribute of another kind", model([node("Softmax", axis=0.5)]), "attribute 'axis' is of the kind real, not int")
    s.refuses("a flag that is neither 0 nor 1", model([node("ReduceSum", keepdims=2)]), "attribute 'keepdims' is 2")
    s.refuses("an attribute that is missing", model([node("Einsum")]), "attribute 'equation' is missing")
    s.refuses("too many operands", model([node("Relu", ["x", "x"])]), "2 operands and 1 results; it has 1 to 1, and up to 1")
    s.refuses("an operator of a later opset", model([node("Mish")], opset=17), "it came with opset 18, and the model is of 17")
    s.refuses("an axis that is not there", model([node("ArgMax", axis=2)]), "axis 2 of 2 dims")
    s.refuses("a type that it does not take", model([node("Not")]), "of f32")
    s.refuses("strings", model([node("Cast", to=TensorProto.STRING)]), "to ONNX type 8")


def bound(s):
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    shape = helper.make_tensor_value_info("shape", INT64, [2])
    reshaped = model([node("Reshape", ["x", "shape"])], more=[shape])
    path = os.path.join(s.folder, "shape.npy")
    option = f"--bind=shape={path}"
    np.save(path, np.array([4, 3]))
    s.gives("a shape that comes at run time", reshaped, x.reshape(4, 3), x=x, shape=np.array([4, 3]))
    s.gives("a shape that is bound", reshaped, x.reshape(4, 3), option, x=x)
    np.save(path, np.array([4, 3], np.int32))
    s.refuses("of another type", reshaped, "shape: is of i64, and what is bound to it of i32", options=[option])
    np.save(path, np.array([4, 3, 1]))
    s.refuses("of another shape", reshaped, "shape: is of shape 2, and what is bound to it of 3", options=[option])
    s.refuses("a name that no input has", reshaped, "no input is named 'form'", options=[f"--bind=form={path}"])
    s.refuses("no file", reshaped, "none.npy", options=["--bind=shape=none.npy"])
    s.refuses("no name", reshaped, "binds nothing", options=["--bind=shape"])


def values(s):
    x = np.linspace(-3, 3, 12, dtype=np.float32).reshape(2, 6)
    twice = model([node("Identity", outputs=["a"]), node("Neg", ["a"], ["y"])])
    s.gives("a copy and what is made of it", twice, -x, x=x)
    ranks = model([node("ArgMax", outputs=["a"], axis=1, keepdims=0), node("Cast", ["a"], to=FLOAT)])
    nan = x.copy()
    nan[1, 2] = np.nan
    s.gives("the place of the largest, NaN the largest", ranks, np.argmax(nan, 1).astype(np.float32), x=nan)
    last = model([node("ArgMax", outputs=["a"], axis=1, keepdims=0, select_last_index=1), node("Cast", ["a"], to=FLOAT)])
    s.gives("the last of equal ones", last, np.full(2, 5, np.float32), x=np.ones((2, 6), np.float32))
    power = model([node("Cast", outputs=["a"], to=INT64), node("Pow", ["a", "a"], ["b"]), node("Cast", ["b"], to=FLOAT)])
    base = np.array([[-2, -1, 0, 1, 2, 3], [4, 5, 6, 7, 8, 9]], np.float32)
    s.gives("an integer's power", power, np.array([[0, -1, 1, 1, 4, 27], [256, 3125, 46656, 823543, 16777216, 387420489]], np.float32), x=base)


def of_runtime(s):
    """What ONNX's own tests do not have."""
    x = np.random.default_rng(1).standard_normal((2, 6)).astype(np.float32)
    row = np.linspace(-1, 1, 6, dtype=np.float32)
    erf = np.vectorize(math.erf)

    def run(kind, expected, inputs=(), outputs=("y",), **attributes):
        more = [helper.make_tensor_value_info(name, FLOAT, value.shape) for name, value in dict(inputs).items()]
        made = model([node(kind, ["x", *dict(inputs)], outputs, domain="com.microsoft", **attributes)], more=more, domains=["com.microsoft"])
        s.gives(f"com.microsoft.{kind}", made, expected, near=True, x=x, **dict(inputs))

    def gelu(v):
        return v / 2 * (1 + erf(v / np.sqrt(2)))

    def tanh_gelu(v):
        return v / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)))

    run("Gelu", gelu(x))
    run("FastGelu", tanh_gelu(x))
    run("FastGelu", tanh_gelu(x + row), {"b": row})
    run("BiasGelu", gelu(x + row), {"b": row})
    run("QuickGelu", x / (1 + np.exp(-1.5 * x)), alpha=1.5)
    total = x + x[::-1] + row
    rest = total - total.mean(1, keepdims=True)
    normal = rest / np.sqrt((rest**2).mean(1, keepdims=True) + 1e-5) * row + 2
    skip = {"skip": x[::-1].copy(), "gamma": row, "beta": np.full(6, 2, np.float32), "bias": row + 0}
    run("SkipLayerNormalization", normal, skip, epsilon=1e-5)
    root = x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-5) * row
    run("SimplifiedLayerNormalization", root, {"gamma": row}, epsilon=1e-5)
    total = x + x[::-1]
    root = total / np.sqrt((total**2).mean(1, keepdims=True) + 1e-5) * row
    run("SkipSimplifiedLayerNormalization", root, {"skip": x[::-1].copy(), "gamma": row}, epsilon=1e-5)
    pool = model([node("GlobalLpPool", p=3)], shape=(1, 2, 6))
    s.gives("GlobalLpPool", pool, (np.abs(x) ** 3).sum(1).reshape(1, 2, 1) ** (1 / 3), near=True, x=x.reshape(1, 2, 6))


def of_language_models(s):
    """Attention over groups of heads with a cache, a window and truths as a mask; what it refuses."""
    rng = np.random.default_rng(2)
    q, k, v = (rng.standard_normal((1, 3, heads * 4)).astype(np.float32) for heads in (4, 2, 2))
    past = [rng.standard_normal((1, 2, 5, 4)).astype(np.float32) for _ in range(2)]
    mask = rng.random((3, 8)) < 0.8
    more = [helper.make_tensor_value_info(name, FLOAT, value.shape) for name, value in (("k", k), ("v", v), ("pk", past[0]), ("pv", past[1]))]
    more.append(helper.make_tensor_value_info("m", TensorProto.BOOL, mask.shape))
    names = ["x", "k", "v", "m", "pk", "pv"]
    forms = {"q_num_heads": 4, "kv_num_heads": 2, "is_causal": 1, "left_window_size": 4}
    made = model([node("Attention", names, **forms)], opset=25, shape=q.shape, more=more)
    heads = [np.concatenate([old, new.reshape(1, 3, 2, 4).transpose(0, 2, 1, 3)], 2).repeat(2, 1) for old, new in zip(past, (k, v))]
    scores = q.reshape(1, 3, 4, 4).transpose(0, 2, 1, 3) @ heads[0].transpose(0, 1, 3, 2) / 2
    at, key = np.arange(3)[:, None] + 5, np.arange(8)
    e = np.where(mask & (key <= at) & (at - key <= 4), np.exp(scores), 0)
    e /= np.maximum(e.sum(-1, keepdims=True), 1e-30)
    expected = (e @ heads[1]).transpose(0, 2, 1, 3).reshape(1, 3, 16)
    s.gives("attention by groups", made, expected, near=True, x=q, k=k, v=v, m=mask, pk=past[0], pv=past[1])
    s.refuses("heads that do not divide", model([node("Attention", names, q_num_heads=3, kv_num_heads=2)], opset=25, shape=q.shape, more=more),
              "last one is not q_num_heads heads")
    s.refuses("a cache alone", model([node("Attention", names[:5], q_num_heads=4, kv_num_heads=2)], opset=25, shape=q.shape, more=more),
              "past_key or past_value alone")
    boxes = [helper.make_tensor_value_info("r", FLOAT, [1, 4]), helper.make_tensor_value_info("b", INT64, [1])]
    s.refuses("as many points as boxes say", model([node("RoiAlign", ["x", "r", "b"])], shape=(1, 1, 4, 4), more=boxes), "sampling_ratio 0")


def of_codes(s):
    """Every code of the types below 8 bits and of 8 as a number, and the code of numbers all over f32, by ml_dtypes."""
    import ml_dtypes

    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 2**32, 4096, np.uint32).view(np.float32)
    near = (rng.standard_normal(4096) * np.exp2(rng.integers(-18, 18, 4096))).astype(np.float32)
    for name, kind in [("FLOAT8E4M3FN", "float8_e4m3fn"), ("FLOAT8E4M3FNUZ", "float8_e4m3fnuz"), ("FLOAT8E5M2", "float8_e5m2"),
                       ("FLOAT8E5M2FNUZ", "float8_e5m2fnuz"), ("FLOAT8E8M0", "float8_e8m0fnu"), ("FLOAT4E2M1", "float4_e2m1fn"),
                       ("INT4", "int4"), ("UINT4", "uint4"), ("INT2", "int2"), ("UINT2", "uint2")]:
        dtype, code = np.dtype(getattr(ml_dtypes, kind)), getattr(TensorProto, name)
        bits = {"4": 4, "2": 2}.get(name[-1], 8) if "INT" in name else 4 if "4E2" in name else 8
        all_of_them = np.arange(1 << bits, dtype=np.uint8).view(dtype)
        constant = helper.make_node("Constant", [], ["c"], value=onnx.numpy_helper.from_array(all_of_them, "c"))
        more = [node("Cast", ["c"], ["n"], to=FLOAT), node("Mul", ["n", "x"], ["y"])]
        expected = all_of_them.astype(np.float32)
        s.gives(f"all codes of {kind}", model([constant, *more], opset=25, shape=(1,)), expected, x=np.ones(1, np.float32), nan=True)
        if "INT" in name or "8E8" in name:
            continue
        x = np.concatenate([numbers, near, expected, (expected[1:] + expected[:-1]) / 2, np.float32([0, -0.0, np.inf, -np.inf, np.nan])])
        there = model([node("Cast", outputs=["c"], to=code, saturate=0), node("Cast", ["c"], ["y"], to=FLOAT)], opset=25, shape=x.shape)
        s.gives(f"numbers as {kind}", there, x.astype(dtype).astype(np.float32), x=x, nan=True)
        most = float(ml_dtypes.finfo(dtype).max)
        there = model([node("Cast", outputs=["c"], to=code), node("Cast", ["c"], ["y"], to=FLOAT)], opset=25, shape=x.shape)
        s.gives(f"numbers as {kind}, kept in range", there, np.clip(x, -most, most).astype(dtype).astype(np.float32), x=x, nan=True)
    path = os.path.join(s.folder, "c.npy")
    np.save(path, np.array([0x38, 0xb8, 0], np.uint8).view("|V1"))
    there = model([node("Cast", ["c"], ["n"], to=FLOAT), node("Mul", ["n", "x"], ["y"])], opset=25, shape=(1,), more=[helper.make_tensor_value_info("c", TensorProto.FLOAT8E4M3FN, [3])])
    s.gives("codes that are bound", there, np.float32([1, -1, 0]), f"--bind=c={path}", x=np.ones(1, np.float32))
    s.refuses("codes for numbers", model([node("Add", ["x", "c"])], shape=(3,), more=[helper.make_tensor_value_info("c", FLOAT, [3])]),
              "is of f32, and what is bound to it of", options=[f"--bind=c={path}"])
    s.refuses("codes that are worked on", model([node("Cast", outputs=["c"], to=TensorProto.FLOAT8E5M2), node("Add", ["c", "c"])], opset=25),
              "of f8E5M2, which is only moved and converted")
    s.refuses("f64 to f8", model([node("Cast", outputs=["d"], to=TensorProto.DOUBLE), node("Cast", ["d"], ["y"], to=TensorProto.FLOAT8E5M2)], opset=25),
              "of f64 to f8E5M2")


def of_nothing(s):
    """Tensors without elements: what is made of them, and what is not."""
    x, none = np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((2, 0), np.float32)
    empty = [helper.make_tensor_value_info("e", FLOAT, [2, 0])]
    s.gives("a part without elements", model([node("Concat", ["e", "x", "e"], axis=1)], shape=x.shape, more=empty), x, x=x, e=none)
    s.gives("parts of which one has some", model([node("Concat", ["e", "x", "e", "x"], axis=1)], shape=x.shape, more=empty), np.concatenate([x, x], 1), x=x, e=none)
    for kind, least in (("ReduceMax", -np.inf), ("ReduceMin", np.inf), ("ReduceL1", 0), ("ReduceProd", 1)):
        made = model([node(kind, ["e"], keepdims=0, axes=[1])], shape=x.shape, more=empty)
        s.gives(f"{kind} of nothing", made, np.full(2, least, np.float32), x=x, e=none)
    made = model([node("Transpose", ["e"], ["t"]), node("MatMul", ["e", "t"], ["p"]), node("Add", ["p", "x"])], shape=(2, 2), more=empty)
    s.gives("a product that sums nothing", made, x[:, :2], x=x[:, :2].copy(), e=none)
    for device in "native", "machine":
        s.gives(f"nothing of nothing, {device}", model([node("Relu", ["e"])], more=empty, shape=x.shape), none, device=device, x=x, e=none)
    s.refuses("the place of the largest of nothing", model([node("ArgMax", ["e"], ["i"], axis=1), node("Cast", ["i"], to=FLOAT)], more=empty), "without elements")
    zero = helper.make_node("Constant", [], ["c"], value_ints=[0, 3])
    s.refuses("a 0 that is one", model([zero, node("Reshape", ["x", "c"], allowzero=1)], shape=x.shape), "a shape that does not fit")
    s.gives("a 0 that stands for the input's", model([zero, node("Reshape", ["x", "c"])], shape=x.shape), x, x=x)


def run(*parts):
    """What a script exits with whose parts each take a session."""
    s = tools.run_parts(Session, *parts)
    print(f"{s.count} models, {s.failures} failed")
    return 1 if s.failures else 0


if __name__ == "__main__":
    sys.exit(run(refusals, bound, values, of_runtime, of_language_models, of_codes, of_nothing))
