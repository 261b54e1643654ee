"""Tensors without elements: operands that have none, and results that have none."""

import numpy as np
from onnx import TensorProto
from regression_cases import CASES, F32, Maker

NONE = {
    "tile_of_nothing": lambda m: m.op("Tile", m.input("x", 3, 0), m.const(np.array([2, 2]))),
    "tile_to_nothing": lambda m: m.op("Tile", m.input("x", 3, 4), m.const(np.array([0, 2]))),
    "resize_of_nothing": lambda m: m.op("Resize", m.input("x", 0, 3, 4, 4), "", m.const(np.array([1, 1, 2, 2], F32))),
    "sized_of_nothing": lambda m: m.op("Resize", m.input("x", 0, 3, 4, 4), "", "", m.const(np.array([0, 3, 8, 8])), mode="linear"),
}
for _op in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
    NONE[f"{_op}_of_constant_nothing"] = lambda m, op=_op: m.op(op, m.input("x", 3, 1), m.const(np.zeros((3, 0), F32)))
    NONE[f"{_op}_of_nothing_first"] = lambda m, op=_op: m.op(op, m.const(np.zeros((0, 4), F32)), m.input("x", 4))
NONE["slope_of_nothing"] = lambda m: m.op("PRelu", m.input("x", 1), m.const(np.zeros(0, F32)))
NONE["folded_to_nothing"] = lambda m: m.op("Mul", m.input("x", 1, 4), m.op("Slice", m.const(np.ones((3, 4), F32)), *(m.const(np.array([k])) for k in (1, 1, 0))))


def nothing(label, build):
    """Beside it leaves its shape."""
    m = Maker(label)
    none = build(m)
    count = m.op("Cast", m.op("Shape", none), to=TensorProto.FLOAT)
    return m.done(none, m.op("Add", count, m.input("y", 1)), targets=("cpu", "simnpu"))


for _name, _build in NONE.items():
    CASES[_name] = lambda a=(_name, _build): nothing(*a)


def refused(label, opset, operator, shapes, **attrs):
    m = Maker(label, opset)
    y = m.op(operator, *(m.input(f"x{k}", *s) for k, s in enumerate(shapes)), **attrs)
    return m.done(y, refused="PB2020", targets=("cpu",))


CASES["keys_of_no_heads"] = lambda: refused("keys_of_no_heads", 23, "Attention", ((1, 2, 3, 4), (1, 0, 3, 4), (1, 0, 3, 4)))


def groups_of_nothing():
    """ONNX Runtime runs it not: its own function divides by how many there are."""
    m, n = Maker("groups_of_nothing", 21), Maker("groups_of_nothing", 21)
    x, ones = m.input("x", 0, 4, 2, 2), m.const(np.ones(4, F32))
    return m.done(m.op("GroupNormalization", x, ones, ones, num_groups=2), targets=("cpu", "simnpu"), same_as=n.done(n.op("Relu", n.input("x", 0, 4, 2, 2))).model)


CASES["groups_of_nothing"] = groups_of_nothing
