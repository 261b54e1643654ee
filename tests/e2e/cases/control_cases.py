"""What is written out in a node's place, and what stands behind it: the last node inside may take its reader for its own (a clamp, a
norm, a quantiser), and the tensor between them is never made. Branches that constants choose, loops of known turns, functions of the model, by
what they end in and by what follows."""

import numpy as np
from onnx import TensorProto, helper
from regression_cases import CASES, F32, I8, I64, Maker

IMAGE = (1, 4, 6, 5)


def weights(m, *shape):
    return m.const((m.rng.standard_normal(shape) / 3).astype(F32))


# What is inside ends in one of these.
LAST = {
    "tanh": lambda m, x: [("Tanh", [x], {})],
    "maximum": lambda m, x: [("Max", [x, x], {}), ("Neg", ["inner0"], {})],
    "conv": lambda m, x: [("Conv", [x, weights(m, 4, 4, 3, 3)], {"pads": [1, 1, 1, 1]})],
    "sum": lambda m, x: [("Add", [x, weights(m, 5)], {})],
    "product": lambda m, x: [("MatMul", [x, weights(m, 5, 5)], {})],
    "pool": lambda m, x: [("MaxPool", [x], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]})],
    "same": lambda m, x: [("Identity", [x], {})],
}


def clip(m, x):
    return m.op("Clip", x, m.const(F32(-0.5)), m.const(F32(0.75)))


def norm(m, x):
    numbers = [m.const(np.abs(m.rng.standard_normal(4)).astype(F32) + F32(0.5)) for _ in range(4)]
    return m.op("BatchNormalization", x, *numbers)


BEHIND = {
    "relu": lambda m, x: m.op("Relu", x),
    "clip": clip,
    "relu_and_clip": lambda m, x: clip(m, m.op("Relu", x)),
    "norm": norm,
    "codes": lambda m, x: m.codes(x, F32(0.05)),
    "codes_of_relu": lambda m, x: m.codes(m.op("Relu", x), F32(0.05)),
    "sum": lambda m, x: m.op("Add", x, m.const(F32(1))),
}


def nodes_of(m, last, x, to):
    made = LAST[last](m, x)
    return [helper.make_node(kind, names, [to if k == len(made) - 1 else f"inner{k}"], **attrs) for k, (kind, names, attrs) in enumerate(made)]


def info(name, shape=IMAGE, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def branch(m, x, last):
    taken = helper.make_graph(nodes_of(m, last, x, "out"), "taken", [], [info("out")])
    other = helper.make_graph([helper.make_node("Softsign", [x], ["other"])], "other", [], [info("other")])
    return m.op("If", m.const(np.array(True)), then_branch=taken, else_branch=other)


def turns(m, x, last, count=2):
    body = helper.make_graph([*nodes_of(m, last, "state", "next"), helper.make_node("Identity", ["go"], ["on"])], "body",
                             [info("turn", (), TensorProto.INT64), info("go", (), TensorProto.BOOL), info("state")], [info("on", (), TensorProto.BOOL), info("next")])
    return m.op("Loop", m.const(np.array(count, I64)), "", x, body=body)


def function(m, x, last):
    m.last = last
    return m.op("Inner", x, domain="pb.test")


WRITTEN_OUT = {"branch": branch, "turn": lambda m, x, last: turns(m, x, last, 1), "turns": turns, "function": function}


def with_function(case, m):
    """The case's model, its constants as nodes of the function."""
    inner = nodes_of(m, m.last, "given", "made")
    known = {c.name: c for c in m.consts}
    constants = [helper.make_node("Constant", [], [n], value=known[n]) for n in dict.fromkeys(n for node in inner for n in node.input if n in known)]
    opsets = [helper.make_opsetid("", m.opset), helper.make_opsetid("pb.test", 1)]
    case.model.functions.append(helper.make_function("pb.test", "Inner", ["given"], ["made"], [*constants, *inner], opsets[:1]))
    del case.model.opset_import[:]
    case.model.opset_import.extend(opsets)
    return case


def build(label, how, last, behind):
    m = Maker(label, 15)
    x = m.input("x", *IMAGE)
    y = BEHIND[behind](m, WRITTEN_OUT[how](m, x, last))
    case = m.done(y, step=0.05 if "codes" in behind else None, targets=("cpu",))
    return with_function(case, m) if how == "function" else case


for _how in WRITTEN_OUT:
    for _last in LAST:
        for _behind in BEHIND:
            _label = f"{_how}_ends_in_{_last}_before_{_behind}"
            CASES[_label] = lambda label=_label, how=_how, last=_last, behind=_behind: build(label, how, last, behind)
