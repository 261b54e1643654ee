"""Products and convolutions of codes with sums in i32, by weights that are constant or not: each type, each kind of zero point."""

import itertools

import numpy as np
from onnx import TensorProto, helper
from regression_cases import CASES, F32, I8, U8, Maker

TYPES = {"i8": (I8, TensorProto.INT8), "u8": (U8, TensorProto.UINT8)}
ALL = ("cpu:v3", "cpu", "simnpu")


class Codes(Maker):
    def codes_in(self, name, kind, *shape):
        numbers, code = TYPES[kind]
        self.inputs.append(helper.make_tensor_value_info(name, code, shape))
        self.feeds[name] = self.drawn(kind, shape)
        return name

    def drawn(self, kind, shape):
        info = np.iinfo(TYPES[kind][0])
        return self.rng.integers(info.min, info.max + 1, shape).astype(TYPES[kind][0])

    def zero(self, kind, which, columns):
        """None, one that leaves codes of 8 bits, one far away, one for each column."""
        number = TYPES[kind][0]
        if which == "none":
            return ""
        return self.const(number(3) if which == "one" else self.rng.integers(0, 120, columns).astype(number))

    def summed(self, y):
        self.types[y] = TensorProto.INT32
        return y


def product(label, kind, of_w, x_zero, w_zero, shape, targets):
    m = Codes(label)
    x, w = m.codes_in("x", kind, *shape), m.const(m.drawn(of_w, (shape[-1], 24)))
    y = m.op("MatMulInteger", x, w, m.zero(kind, x_zero, 1), m.zero(of_w, w_zero, 24))
    return m.done(m.summed(y), targets=targets)


def convolution(label, kind, of_w, x_zero, w_zero, targets, **attrs):
    m = Codes(label)
    x, w = m.codes_in("x", kind, 1, 16, 7, 6), m.const(m.drawn(of_w, (16, 16 // attrs.get("group", 1), 3, 3)))
    zero = m.zero(of_w, w_zero, 16) if w_zero != "each" else m.const(TYPES[of_w][0](5))
    return m.done(m.summed(m.op("ConvInteger", x, w, m.zero(kind, x_zero, 1), zero, **attrs)), targets=targets)


for _kind, _of_w, _x, _w in itertools.product(TYPES, TYPES, ("none", "one"), ("none", "one", "each")):
    _label = f"sums_{_kind}_by_{_of_w}_{_x}_{_w}"
    CASES[_label] = lambda a=(_label, _kind, _of_w, _x, _w, (8, 32), ALL): product(*a)
    CASES[_label + "_stack"] = lambda a=(_label + "_stack", _kind, _of_w, _x, _w, (2, 3, 17), ("cpu",)): product(*a)
    for _name, _attrs in (("padded", {"pads": [1, 1, 1, 1]}), ("strided", {"strides": [2, 2], "pads": [2, 0, 1, 1]}), ("groups", {"group": 4, "auto_pad": "SAME_UPPER"})):
        _window = f"window_{_label}_{_name}"
        _where = ALL if _name == "padded" else ("cpu",)
        CASES[_window] = lambda a=(_window, _kind, _of_w, _x, _w, _where), b=_attrs: convolution(*a, **b)


def computed(label, kind, zeros):
    m = Codes(label)
    x, w = m.codes_in("x", kind, 4, 32), m.codes_in("w", kind, 32, 16)
    more = [m.const(TYPES[kind][0](v)) for v in (3, 7)] if zeros else []
    return m.done(m.summed(m.op("MatMulInteger", x, w, *more)), targets=ALL if kind == "i8" and not zeros else ("cpu",))


def by_range(label, signed):
    """The zero point comes at run time."""
    m = Codes(label)
    m.nodes.append(helper.make_node("DynamicQuantizeLinear", [m.input("x", 5, 32)], ["codes", "scale", "zero"], name="by_range"))
    y = m.op("MatMulInteger", "codes", m.const(m.drawn("i8" if signed else "u8", (32, 24))), "zero", "" if signed else m.const(U8(99)))
    return m.done(m.op("Mul", m.op("Cast", y, to=TensorProto.FLOAT), m.op("Mul", "scale", m.const(F32(0.03)))), targets=("cpu",))


for _kind, _zeros in itertools.product(TYPES, (False, True)):
    CASES[f"sums_by_computed_{_kind}_{_zeros}"] = lambda a=(f"sums_by_computed_{_kind}_{_zeros}", _kind, _zeros): computed(*a)
for _signed in (False, True):
    CASES[f"sums_by_range_{_signed}"] = lambda a=(f"sums_by_range_{_signed}", _signed): by_range(*a)
