"""Loops, recurrent layers and branches of ONNX models whose dims are open: extents say how often they turn, or data do. One
engine each, run at several extents, against ONNX Runtime.

    tests/open/loops.py --bin build/bin [--only TEXT]"""
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnx.parser  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from run import judge_all  # noqa: E402

HEAD = '<ir_version: 9, opset_import: ["" : 18]>\n'
ADD = "body = b (int64 i, bool c, float[n, 3] v) => (c, w%s) { half = Constant<value_float = 0.5>() m = Mul(v, half) w = Add(m, v)%s }"
SCAN = """body = b (float[n] v, float[n] e) => (w, u) { w = Add(v, e) u = Mul(w, v) }"""
COUNT = "at = Constant<value_int = 0>() shape = Shape(s) k = Gather(shape, at)"
X, S = "float[n, 3] x", "float[l, 2] s"
TEXTS = {
    "turns_by_an_extent": f"g ({X}, {S}) => (y) {{ {COUNT} y = Loop<{ADD % ('', '')}>(k, , x) }}",
    "gathered_by_an_extent": f"g ({X}, {S}) => (y, all) {{ {COUNT} y, all = Loop<{ADD % (', u', ' u = Neg(w)')}>(k, , x) }}",
    "turns_by_an_input": f"g ({X}, int64 k) => (y) {{ y = Loop<{ADD % ('', '')}>(k, , x) }}",
    "turns_by_data": f"""g ({X}) => (y) {{ go = Constant<value = bool {{1}}>()
        y = Loop<body = b (int64 i, bool c, float[n, 3] v) => (d, w) {{
            most = Constant<value_float = 50.0>() p = Abs(v) w = Add(v, p) m = ReduceMax<keepdims = 0>(w) d = Less(m, most) }}>(, go, x) }}""",
    "by_data_or_an_extent": f"""g ({X}, {S}) => (y) {{ go = Constant<value = bool {{1}}>() {COUNT}
        y = Loop<body = b (int64 i, bool c, float[n, 3] v) => (d, w) {{
            most = Constant<value_float = 50.0>() p = Abs(v) w = Add(v, p) m = ReduceMax<keepdims = 0>(w) d = Less(m, most) }}>(k, go, x) }}""",
    "loop_in_a_loop": f"""g ({X}, {S}) => (y) {{ {COUNT}
        y = Loop<body = o (int64 j, bool d, float[n, 3] r) => (d, t) {{ t = Loop<{ADD % ('', '')}>(j, , r) }}>(k, , x) }}""",
    "scan": f"g (float[n] x, float[l, n] s) => (y, all) {{ y, all = Scan<num_scan_inputs = 1, {SCAN}>(x, s) }}",
    "scan_backwards": f"""g (float[n] x, float[l, n] s) => (y, all) {{
        y, all = Scan<num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1], {SCAN}>(x, s) }}""",
    "scan_along_the_last": f"""g (float[n] x, float[n, l] s) => (y, all) {{
        y, all = Scan<num_scan_inputs = 1, scan_input_axes = [-1], scan_output_axes = [-1], {SCAN}>(x, s) }}""",
    "a_long_branch": f"""g ({X}, bool c, float[3, 3] w) => (y) {{
        y = If<then_branch = a () => (u) {{ t = MatMul(x, w) u = MatMul(t, w) }}, else_branch = b () => (u) {{ r = Relu(x) u = MatMul(r, w) }}>(c) }}""",
    "a_loop_of_what_is_found": """g (float[n] x) => (y) { at = Constant<value_int = 1>() f = NonZero(x) shape = Shape(f) k = Gather(shape, at)
        y = Loop<body = b (int64 i, bool c, float[n] v) => (c, w) { one = Constant<value_float = 1.0>() w = Add(v, one) }>(k, , x) }""",
}


def recurrent(op, direction, lengths, linear):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    directions = 2 if direction == "bidirectional" else 1
    random = np.random.default_rng(gates)
    weights = {"w": (directions, gates * 5, 3), "r": (directions, gates * 5, 5), "b": (directions, 2 * gates * 5)}
    values = [numpy_helper.from_array((random.standard_normal(s) * 0.3).astype(np.float32), n) for n, s in weights.items()]
    results = ["y", "h"] + (["c"] if op == "LSTM" else [])
    more = {"linear_before_reset": linear} if op == "GRU" else {}
    node = helper.make_node(op, ["x", "w", "r", "b"] + ["len"] * lengths, results, hidden_size=5, direction=direction, **more)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["l", "n", 3])]
    inputs += [helper.make_tensor_value_info("len", TensorProto.INT32, ["n"])] * lengths
    outputs = [helper.make_tensor_value_info(r, TensorProto.FLOAT, None) for r in results]
    graph = helper.make_graph([node], "g", inputs, outputs, values)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def cases():
    for name, text in TEXTS.items():
        model = onnx.parser.parse_model(HEAD + text)
        for output in model.graph.output:
            output.type.tensor_type.elem_type = TensorProto.FLOAT
        yield name, model
    for op in ("LSTM", "GRU", "RNN"):
        for direction in ("forward", "reverse", "bidirectional"):
            for lengths in (False, True):
                yield f"{op}_{direction}{'_lengths' * lengths}", recurrent(op, direction, lengths, direction == "reverse")


def inputs_of(model, n, l):
    random = np.random.default_rng(100 * n + l)
    made = {}
    for i in model.graph.input:
        of = {"n": n, "l": l}
        shape = [d.dim_value or of[d.dim_param] for d in i.type.tensor_type.shape.dim]
        kind = i.type.tensor_type.elem_type
        if i.name == "len":
            made[i.name] = random.integers(1, l + 1, shape).astype(np.int32)
        elif kind == TensorProto.FLOAT:
            made[i.name] = random.standard_normal(shape).astype(np.float32)
        else:
            made[i.name] = np.array(l, np.int64) if kind == TensorProto.INT64 else np.array(l % 2 == 0)
    return made


def run(bin_dir, folder, session, inputs):
    """What is wrong, "" if nothing is."""
    names = [o.name for o in session.get_outputs()]
    command = [f"{bin_dir}/pb-run", f"{folder}/m.pbe"]
    for name, value in inputs.items():
        np.save(folder / f"in_{name}.npy", value)
        command += ["--input", f"{name}={folder}/in_{name}.npy"]
    for name in names:
        command += ["--output", f"{name}={folder}/out_{name}.npy"]
    done = tools.call(command)
    if done.returncode:
        return done.stderr.strip()
    for name, want in zip(names, session.run(None, inputs)):
        got = np.load(folder / f"out_{name}.npy")
        most = float(np.abs(want[np.isfinite(want)]).max(initial=1))
        if got.shape != want.shape or not np.allclose(got, want, rtol=0, atol=1e-4 * most, equal_nan=True):
            return f"{name} is wrong, {got.shape} and {want.shape}"
    return ""


def check(bin_dir, folder, name, model):
    onnx.save(model, folder / "m.onnx")
    options = [x for d in ("n", "l") for x in ("--dim", f"{d}=?") if any(
        p.dim_param == d for i in model.graph.input for p in i.type.tensor_type.shape.dim)]
    done = tools.call([f"{bin_dir}/pbc", f"{folder}/m.onnx", "--target=cpu", "-o", f"{folder}/m.pbe", *options])
    if done.returncode:
        return f"refused: {done.stderr.strip()}"
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    for n, l in ((1, 1), (2, 3), (3, 2), (4, 17), (5, 61)):
        why = run(bin_dir, folder, session, inputs_of(model, n, l))
        if why:
            return f"n = {n}, l = {l}: {why}"
    return ""


if __name__ == "__main__":
    sys.exit(judge_all(cases(), check))
