"""Floats that an integer cannot hold: kept in range, NaN 0, the same of constants and at run time. Other compilers' casts wrap
or say nothing, so what must come out is NumPy's in whole numbers."""

import numpy as np
from onnx import TensorProto, helper
from regression_cases import CASES, F32, Maker

FLOATS = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "f64": TensorProto.DOUBLE}
INTEGERS = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64}
ENDS = [end + away for bits in (7, 8, 15, 16, 31, 32, 63, 64) for end in (2.0**bits, -(2.0**bits)) for away in (-1, -0.5, 0, 0.5, 1)]
VALUES = np.array([0.0, -0.0, 0.9, -0.9, 50.9, -50.9, 300, -300, 1e10, -1e10, 1e38, -1e38, np.nan, np.inf, -np.inf, 1e-40, *ENDS], F32)


def rounded(values, kind):
    """In f64, what `values` are in that type."""
    with np.errstate(over="ignore"):
        if kind == "f16":
            return values.astype(np.float16).astype(np.float64)
    if kind != "bf16":
        return values.astype(np.float64)
    bits = values.view(np.uint32)
    near = ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(F32)
    return np.where(np.isnan(values), values, near).astype(np.float64)


def kept(values, kind):
    info = np.iinfo(kind)
    whole = [0 if np.isnan(v) else info.max if v >= float(info.max) else info.min if v <= float(info.min) else int(v) for v in values]
    return np.array(whole, object).astype(kind)


def cast(label, source, kinds):
    m, n = Maker(label, 16), Maker(label, 16)
    made = {}
    for maker in (m, n):
        maker.input("x", len(VALUES), values=VALUES)
    for where, x in (("run", "x"), ("constant", m.const(VALUES))):
        x = x if source == "f32" else m.op("Cast", x, to=FLOATS[source])
        for kind in kinds:
            name = f"{kind}_{where}"
            to = helper.np_dtype_to_tensor_dtype(np.dtype(INTEGERS[kind]))
            m.op("Cast", x, to=to)
            n.op("Identity", n.const(kept(rounded(VALUES, source), INTEGERS[kind])))
            for maker in (m, n):
                maker.nodes[-1].output[0] = name
                maker.types[name] = to
            made[name] = None
    return m, n, list(made)


def casts(label, source, kinds, targets, **known):
    m, n, outputs = cast(label, source, kinds)
    return m.done(*outputs, targets=targets, same_as=n.done(*outputs).model, **known)


for _source in FLOATS:
    _label = f"casts_of_{_source}"
    CASES[_label] = lambda a=(_label, _source, list(INTEGERS), ("cpu",)): casts(*a)
    CASES[f"{_label}_after_each_pass"] = lambda a=(f"{_label}_after_each_pass", _source, list(INTEGERS), ("cpu",)): casts(*a, bisect=True)
