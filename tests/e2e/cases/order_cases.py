"""Inputs and outputs in the model's order, whatever nodes read and make first (regressions.py looks at every model's)."""

import numpy as np
from onnx import TensorProto, helper
from regression_cases import CASES, F32, U8, Maker

BOTH = ("cpu", "simnpu")


def made(m, order, **known):
    return m.done(*order, targets=BOTH, **known)


def pointwise(m):
    x = m.input("x", 2, 3)
    return [m.op("Neg", x), m.op("Exp", x), m.op("Abs", x)]


def views(m):
    x = m.op("Neg", m.input("x", 2, 6))
    return [x, m.op("Reshape", x, m.const(np.array([3, 4]))), m.op("Flatten", x, axis=0), m.op("Relu", x)]


def parts(m):
    y = m.op("Split", m.op("Neg", m.input("x", 2, 6)), axis=1)
    m.nodes[-1].output.extend(["b", "c"])
    return [y, "b", "c"]


def given(m):
    x, constant = m.input("x", 2, 3), m.const(np.ones((2, 3), F32))
    return [x, m.op("Identity", x), constant, m.op("Add", x, constant), m.op("Identity", constant)]


def coded(m):
    scale, zero = m.const(F32(0.05)), m.const(U8(7))
    y = m.op("QuantizeLinear", m.op("Relu", m.input("x", 2, 3)), scale, zero)
    m.types[y] = TensorProto.UINT8
    return [y, m.op("DequantizeLinear", y, scale, zero), m.op("Neg", "x")]


def products(m):
    x, w = m.input("x", 5, 8), m.const(m.rng.standard_normal((8, 6)).astype(F32))
    y = m.op("MatMul", x, w)
    return [y, m.op("Relu", y), m.op("Softmax", y), m.op("ReduceMax", y)]


def nothing(m):
    x = m.input("x", 3, 4)
    none = m.op("Slice", x, *(m.const(np.array([k])) for k in (3, 3, 0)))
    return [m.op("Relu", x), none, m.op("Neg", none)]


for _build in (pointwise, views, parts, given, coded, products, nothing):
    for _name, _order in (("backwards", lambda y: y[::-1]), ("turned", lambda y: y[1:] + y[:1]), ("twice", lambda y: [y[-1], y[0], y[0], y[-1], *y[1:-1]])):
        _label = f"outputs_{_name}_of_{_build.__name__}"

        def _case(label=_label, build=_build, order=_order):
            m = Maker(label)
            return made(m, order(build(m)), step=0.05 if build is coded else None)

        CASES[_label] = _case


def inputs_read_backwards(label, unused=False, listed=False):
    """What is read first comes last. `listed`: an initialiser stands among the inputs, as files of opset 8 have it."""
    m = Maker(label)
    names = [m.input(name, 2, 3) for name in ("u", "a", "b", "c")]
    y = m.op("Sub", m.op("Mul", "c", "b"), m.op("Exp", "a"))
    y = y if unused else m.op("Div", y, "u")
    if listed:
        y = m.op("Add", y, m.const(np.ones((2, 3), F32)))
        m.inputs.insert(1, helper.make_tensor_value_info(m.consts[-1].name, TensorProto.FLOAT, (2, 3)))
    return made(m, [y, m.op("Neg", names[3])])


for _name, _how in (("", {}), ("_one_unused", {"unused": True}), ("_one_with_a_value", {"listed": True})):
    CASES[f"inputs_read_backwards{_name}"] = lambda a=f"inputs_read_backwards{_name}", k=_how: inputs_read_backwards(a, **k)
