"""Models whose files say in another way what others say: nodes in no order, copies between operators, names of domains."""

import numpy as np
from onnx import TensorProto, helper
from regression_cases import CASES, F32, I8, U8, Maker, case, codes_conv


def through(m, x):
    return m.op("Identity", x)


@case
def copies_between_codes():
    """Identity behind constants, as exporters write it where several layers share one, and next to operators on codes."""
    m = Maker("copies_between_codes")
    scale, zero = through(m, m.const(F32(0.05))), through(m, m.const(I8(3)))
    x = m.codes(through(m, m.input("x", 1, 16, 5, 6)), through(m, scale), zero)
    w = m.op("DequantizeLinear", through(m, m.const(m.rng.integers(-127, 128, (24, 16, 1, 1)).astype(I8))), m.const(F32(0.01)), m.const(I8(0)))
    y = m.codes(through(m, m.op("Conv", through(m, x), through(m, w))), F32(0.1))
    return m.done(m.codes(m.op("Relu", through(m, y)), F32(0.1)), y, step=0.1, targets=("cpu", "simnpu"), bisect=True)


def copies_in_a_branch():
    """A graph inside a node reads what a copy around it makes."""
    m = Maker("copies_in_a_branch")
    x = m.input("x", 3, 4)
    y = through(m, m.op("Tanh", x))
    info = helper.make_tensor_value_info("inner", TensorProto.FLOAT, [3, 4])
    one, other = (helper.make_graph([helper.make_node(kind, [y], ["inner"])], "body", [], [info]) for kind in ("Abs", "Identity"))
    z = m.op("If", m.const(np.array(True)), then_branch=one, else_branch=other)
    return m.done(z, y, targets=("cpu",))


CASES["copies_in_a_branch"] = copies_in_a_branch


def rescaled(label, shape, zero, scale):
    """Codes that become codes by another scale, with no operator between."""
    m = Maker(label)
    x = codes_conv(m, m.codes(m.input("x", 1, 16, *shape), F32(0.05)), 16, 24, 1, scale=F32(0.1))
    return m.done(codes_conv(m, m.codes(x, F32(scale), zero), 24, 8, 1, scale=F32(0.5)), step=1, targets=("cpu", "simnpu"), bisect=True)


for _k, (_shape, _zero, _scale) in enumerate((((5, 6), I8(-9), 0.08), ((1, 1), I8(3), 0.1), ((7, 3), U8(131), 0.1), ((5, 6), U8(9), 0.2))):
    CASES[f"codes_rescaled_{_k}"] = lambda k=_k, a=(_shape, _zero, _scale): rescaled(f"codes_rescaled_{k}", *a)


@case
def codes_rescaled_of_an_input():
    m = Maker("codes_rescaled_of_an_input")
    return m.done(m.codes(m.codes(m.input("x", 2, 33), F32(0.05)), F32(0.07), U8(100)), step=0.07, targets=("cpu", "simnpu"), bisect=True)


@case
def nodes_in_no_order():
    """Casts behind all others, as converters to half precision append them, and a branch that reads what comes later."""
    m = Maker("nodes_in_no_order")
    y = m.op("Add", m.op("Tanh", m.op("Sin", m.input("x", 3, 4))), "later")
    info = helper.make_tensor_value_info("inner", TensorProto.FLOAT, [3, 4])
    bodies = [helper.make_graph([helper.make_node(kind, ["later"], ["inner"])], "body", [], [info]) for kind in ("Abs", "Neg")]
    z = m.op("If", m.const(np.array(False)), then_branch=bodies[0], else_branch=bodies[1])
    m.nodes.append(helper.make_node("Cos", ["x"], ["later"], name="later"))
    m.nodes.reverse()
    m.nodes.insert(1, m.nodes.pop())
    return m.done(y, z, targets=("cpu",), bisect=True)


def bodies(m, kind, turned):
    """What a node inside another means stands behind it, beside it or around it, where `turned` turns the nodes of each body."""
    order = (lambda nodes: nodes[::-1]) if turned else (lambda nodes: nodes)
    x = m.input("x", 3, 4)
    m.nodes.append(helper.make_node("Sin", [x], ["outer"]))
    floats = lambda name, *shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = lambda nodes, given, made: helper.make_graph(order(nodes), "body", given, made)
    if kind == "Loop":
        truths = [helper.make_tensor_value_info(name, TensorProto.BOOL, []) for name in ("on_in", "on")]
        nodes = [helper.make_node(*n) for n in (("Tanh", ["v"], ["late"]), ("Neg", ["late"], ["w"]), ("Identity", ["on_in"], ["on"]))]
        given = [helper.make_tensor_value_info("k", TensorProto.INT64, []), truths[0], floats("v", 3, 4)]
        return m.op("Loop", m.const(np.array(3, np.int64)), m.const(np.array(True)), "outer", body=graph(nodes, given, [truths[1], floats("w", 3, 4)]))
    if kind == "Scan":
        nodes = [helper.make_node("Tanh", ["row"], ["late"]), helper.make_node("Neg", ["late"], ["w"])]
        return m.op("Scan", "outer", body=graph(nodes, [floats("row", 4)], [floats("w", 4)]), num_scan_inputs=1)
    deep = helper.make_graph([helper.make_node("Abs", ["late"], ["deep"])], "deep", [], [floats("deep", 3, 4)])
    nodes = [
        helper.make_node("Tanh", ["outer"], ["late"]),
        helper.make_node("If", [m.const(np.array(True))], ["b"], then_branch=deep, else_branch=deep),
        helper.make_node("Neg", ["late"], ["a"]),
        helper.make_node("Add", ["a", "b"], ["y"]),
    ]
    if kind == "If":
        branch = graph(nodes, [], [floats("y", 3, 4)])
        return m.op("If", m.const(np.array(True)), then_branch=branch, else_branch=branch)
    opsets = [helper.make_opsetid("", m.opset), helper.make_opsetid("local", 1)]
    once = order([helper.make_node("Cos", ["v"], ["late"]), helper.make_node("Sin", ["late"], ["later"]), helper.make_node("Neg", ["later"], ["z"])])
    nodes[0] = helper.make_node("Once", ["outer"], ["late"], domain="local")
    nodes[1].input[0] = "flag"
    nodes.insert(0, helper.make_node("Constant", [], ["flag"], value=helper.make_tensor("v", TensorProto.BOOL, [], [True])))
    m.functions = [helper.make_function("local", "Once", ["v"], ["z"], once, opsets)]
    m.functions.append(helper.make_function("local", "Twice", ["outer"], ["y"], order(nodes), opsets))
    return m.op("Twice", "outer", domain="local")


def bodies_in_no_order(kind):
    """ONNX Runtime sorts the model's own nodes alone."""
    made = []
    for turned in (False, True):
        m = Maker(f"bodies_in_no_order_{kind}")
        m.functions = []
        made.append(m.done(bodies(m, kind, turned), targets=("cpu",), bisect=True, same_as=made[0].model if made else None))
        made[-1].model.opset_import.append(helper.make_opsetid("local", 1))
        made[-1].model.functions.extend(m.functions)
    return made[1]


for _kind in ("If", "Loop", "Scan", "Function"):
    CASES[f"bodies_in_no_order_{_kind}"] = lambda k=_kind: bodies_in_no_order(k)


def of_the_runtime(label, kind, function):
    """Codes by the operators of ONNX Runtime's own domain around a function, which is a table where codes have 8 bits."""
    m = Maker(label, 17)
    parts = [m.const(F32(0.05)), m.const(kind(3))]
    x = m.op("QuantizeLinear", m.input("x", 2, 48), *parts, domain="com.microsoft")
    y = m.op(function, m.op("DequantizeLinear", x, *parts, domain="com.microsoft"))
    y = m.op("QuantizeLinear", y, *parts, domain="com.microsoft")
    made = m.done(m.op("DequantizeLinear", y, *parts, domain="com.microsoft"), step=0.05, targets=("cpu",) if kind == np.uint16 else ("cpu", "simnpu"))
    made.model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return made


for _kind in (I8, U8, np.uint16):
    for _function in ("Erf", "Tanh", "Relu"):
        _label = f"codes_of_the_runtime_{_function}_{_kind.__name__}"
        CASES[_label] = lambda a=(_label, _kind, _function): of_the_runtime(*a)


def constants_that_are_quantised(label, axis, kind):
    """Weights, biases and scales in floats, as training with codes leaves them: QuantizeLinear and DequantizeLinear behind each."""
    m = Maker(label)

    def quantised(shape, scale, along=None):
        scales = np.full(shape[along], scale, F32) * (1 + np.arange(shape[along], dtype=F32) / 64) if along is not None else F32(scale)
        zeros = np.zeros_like(scales, kind) + (0 if kind == I8 else 128)
        names = [m.const(scales), m.const(zeros.astype(kind) if along is not None else kind(zeros))]
        attrs = {} if along is None else {"axis": along}
        q = m.op("QuantizeLinear", m.const(m.rng.standard_normal(shape).astype(F32)), *names, **attrs)
        return m.op("DequantizeLinear", q, *names, **attrs)

    x = m.codes(m.input("x", 1, 16, 4, 4), F32(0.05))
    y = m.codes(m.op("Conv", x, quantised((24, 16, 1, 1), 0.02, None if axis is None else 0)), F32(0.2))
    rows = m.codes(m.op("Reshape", y, m.const(np.array([24, 16], np.int64))), F32(0.2))
    z = m.codes(m.op("MatMul", rows, quantised((16, 32), 0.02, axis)), F32(0.5))
    z = m.codes(m.op("Add", z, quantised((32,), 0.02)), F32(0.5))
    return m.done(z, step=1, targets=("cpu", "simnpu"), bisect=True)


for _axis in (None, 1, -1):
    for _kind in (I8, U8):
        _label = f"constants_that_are_quantised_{_axis}_{_kind.__name__}".replace("-", "minus_")
        CASES[_label] = lambda a=(_label, _axis, _kind): constants_that_are_quantised(*a)


@case
def product_behind_heads():
    """Heads that a product leaves in the rows that the next product reads: that one read the tensor that was gone."""
    m = Maker("product_behind_heads")
    q, k, w = (m.codes(m.input(name, *shape), F32(0.05)) for name, shape in (("q", (1, 4, 16, 16)), ("k", (1, 4, 16, 16)), ("w", (64, 32))))
    heads = m.codes(m.op("Transpose", m.codes(m.op("MatMul", q, k), F32(0.2)), perm=[0, 2, 1, 3]), F32(0.2))
    rows = m.codes(m.op("Reshape", heads, m.const(np.array([16, 64], np.int64))), F32(0.2))
    return m.done(m.codes(m.op("MatMul", rows, w), F32(2)), step=2, targets=("cpu", "simnpu"), bisect=True)


def single_head(label, build, scale):
    """Rows of one head leave as an image of one channel: they were walked as channels."""
    m = Maker(label)
    x, y = (m.codes(m.input(name, 1, 1, *shape), F32(0.05)) for name, shape in (("x", (8, 16)), ("y", (16, 32))))
    return m.done(m.codes(build(m, x, y), F32(scale), I8(-5)), step=scale, targets=("cpu", "simnpu"), bisect=True)


def head_by_weights(m, x, y):
    w = m.op("DequantizeLinear", m.const(m.rng.integers(-127, 128, (16, 32)).astype(I8)), m.const(F32(0.01)), m.const(I8(0)))
    return m.op("MatMul", x, w)


_heads = {
    "product": (lambda m, x, y: m.op("MatMul", x, y), 0.2),
    "softmax": (lambda m, x, y: m.op("Softmax", y, axis=-1), 0.01),
    "by_weights": (head_by_weights, 0.2),
}
for _name, (_build, _scale) in _heads.items():
    CASES[f"single_head_{_name}"] = lambda a=(f"single_head_{_name}", _build, _scale): single_head(*a)
