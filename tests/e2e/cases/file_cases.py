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
