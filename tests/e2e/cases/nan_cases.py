"""NaN among what the largest or the least is taken of: it wins, wherever it stands, in every type, as NumPy has it.

What ONNX Runtime makes of NaN in a pool or a reduction hangs on its kernels, so what is expected is computed of the numbers alone, and
of where NaN is alone."""

import itertools

import numpy as np
from onnx import TensorProto
from regression_cases import CASES, F32, I64, Maker

TYPES = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "f64": TensorProto.DOUBLE}


def with_nan(rng, shape):
    """Rows with NaN at the front, at the end, within, alone and together with infinities; most without. Each type has the numbers."""
    x = (np.round(64 * rng.standard_normal(shape)) / 16).astype(F32)
    flat = x.reshape(-1, shape[-1])
    for row in range(0, len(flat), 3):
        flat[row, rng.integers(0, shape[-1], 1 + row % 2)] = np.nan
    flat[0], flat[1, 0], flat[2, -1] = np.nan, np.inf, -np.inf
    flat[-1, 0], flat[-1, -1] = np.nan, np.inf
    return x


def typed(m, name, kind):
    return name if kind == "f32" else m.op("Cast", name, to=TYPES[kind])


def number(m, y, kind):
    return y if kind == "f32" else m.op("Cast", y, to=TensorProto.FLOAT)


def reduced(label, how, kind, shape, axes, targets):
    makers = Maker(label, 22), Maker(label, 22)
    for m, said in zip(makers, (False, True)):
        x = m.input("x", *shape, values=with_nan(np.random.default_rng(5), shape))
        if said:
            bad = m.op("IsNaN", m.op("ReduceSum", m.op("Where", m.op("IsNaN", x), x, m.const(F32(0))), m.const(np.array(axes, I64))))
            least = m.const(F32(-np.inf if how == "ReduceMax" else np.inf))
            y = m.op(how, m.op("Where", m.op("IsNaN", x), least, number(m, typed(m, x, kind), kind)), m.const(np.array(axes, I64)))
            m.op("Where", bad, m.const(F32(np.nan)), y)
        else:
            number(m, m.op(how, typed(m, x, kind), m.const(np.array(axes, I64))), kind)
        m.nodes[-1].output[0] = "y"
    return makers[0].done("y", targets=targets, same_as=makers[1].done("y").model, bisect=True)


def pooled(label, kind, shape, window, targets, **attrs):
    makers = Maker(label, 22), Maker(label, 22)
    for m, said in zip(makers, (False, True)):
        x = m.input("x", *shape, values=with_nan(np.random.default_rng(7), shape))
        pool = lambda v: m.op("MaxPool", v, kernel_shape=window, **attrs)
        if said:
            nan = m.op("IsNaN", x)
            bad = pool(m.op("Where", nan, m.const(F32(1)), m.const(F32(0))))
            y = pool(m.op("Where", nan, m.const(F32(-np.inf)), number(m, typed(m, x, kind), kind)))
            m.op("Where", m.op("Greater", bad, m.const(F32(0))), m.const(F32(np.nan)), y)
        else:
            number(m, pool(typed(m, x, kind)), kind)
        m.nodes[-1].output[0] = "y"
    return makers[0].done("y", targets=targets, same_as=makers[1].done("y").model, bisect=True)


ALL = ("cpu:v3", "cpu", "simnpu")
for _how, _kind in itertools.product(("ReduceMax", "ReduceMin"), TYPES):
    _targets = ALL if (_how, _kind) == ("ReduceMax", "f32") else ALL[:2]
    for _shape, _axes in (((6, 5), [1]), ((7, 40), [1]), ((9, 33), [0]), ((3, 16, 4, 5), [2, 3]), ((2, 3, 70), [0, 2]), ((4, 3, 19), [0, 1, 2])):
        _label = f"nan_{_how}_{_kind}_{'x'.join(map(str, _shape))}_{''.join(map(str, _axes))}"
        CASES[_label] = lambda a=(_label, _how, _kind, _shape, _axes, _targets): reduced(*a)

for _kind in TYPES:
    for _shape, _window, _attrs in (((1, 16, 9, 9), [3, 3], {"strides": [2, 2], "pads": [1, 1, 1, 1]}), ((2, 5, 8, 7), [2, 2], {}),
                                    ((1, 3, 40), [3], {"strides": [2]}), ((1, 2, 5, 6, 7), [2, 3, 2], {}),
                                    ((1, 4, 11, 11), [3, 3], {"dilations": [2, 2]}), ((1, 20, 6, 6), [6, 6], {})):
        _targets = ALL if _kind == "f32" and len(_window) < 3 else ALL[:2]
        _label = f"nan_MaxPool_{_kind}_{'x'.join(map(str, _shape))}{'_dilated' if 'dilations' in _attrs else ''}"
        CASES[_label] = lambda a=(_label, _kind, _shape, _window, _targets), b=_attrs: pooled(*a, **b)


def made(label, kind, build, named, targets=("cpu:v3", "cpu")):
    """What `build` makes of numbers of the type, and what it makes of the same in f32, or `named` of them and of where NaN is."""
    makers = Maker(label, 22), Maker(label, 22)
    for m, said in zip(makers, (False, True)):
        x = m.input("x", 6, 37, values=with_nan(np.random.default_rng(9), (6, 37)))
        y = named(m, x, build) if said else build(m, typed(m, x, kind))
        if not said and not m.types.get(y):
            number(m, y, kind)
        m.nodes[-1].output[0] = "y"
        m.types["y"] = m.types.get(y, TensorProto.FLOAT)
    step = {"f16": 0.004, "bf16": 0.04}.get(kind) if "oft" in label else None
    return makers[0].done("y", targets=targets, same_as=makers[1].done("y").model, step=step, bisect=True)


def plainly(m, x, build):
    return build(m, x)


def apart(m, x, build):
    """The place or the number by what is no NaN, and where there is any by that alone."""
    nan = m.op("IsNaN", x)
    flags = m.op("Where", nan, m.const(F32(1)), m.const(F32(0)))
    found = build(m, flags)
    plain = build(m, m.op("Where", nan, m.const(F32(0)), x))
    if m.types.get(found):
        any_found = m.op("Greater", m.op("ReduceMax", flags, m.const(np.array([1], I64))), m.const(F32(0)))
        y = m.op("Where", any_found, m.op("ArgMax", flags, axis=1, select_last_index=int(m.last)), plain)
        m.types[y] = TensorProto.INT64
        return y
    return m.op("Where", m.op("Greater", found, m.const(F32(0))), m.const(F32(np.nan)), plain)


def places(kind, last=0):
    def build(m, x):
        m.last = last
        y = m.op(kind, x, axis=1, select_last_index=last)
        m.types[y] = TensorProto.INT64
        return y

    return build


def whole_image(m, x):
    return m.op("GlobalMaxPool", m.op("Reshape", x, m.const(np.array([2, 3, 1, -1]))))


def between(m, x):
    low, high = (m.op("CastLike", m.const(F32(v)), x) for v in (-0.5, 0.5))
    return m.op("Clip", x, low, high)


def with_negative(kind):
    return lambda m, x: m.op(kind, x, m.op("Neg", x))


def softly(kind, axis):
    return lambda m, x: m.op(kind, x, axis=axis)


OPS = {"Softmax_last": (softly("Softmax", -1), plainly), "Softmax_first": (softly("Softmax", 0), plainly),
       "LogSoftmax": (softly("LogSoftmax", -1), plainly), "ArgMax": (places("ArgMax"), apart), "ArgMin": (places("ArgMin"), apart),
       "ArgMax_last": (places("ArgMax", 1), apart), "GlobalMaxPool": (whole_image, apart), "Relu": (lambda m, x: m.op("Relu", x), plainly),
       "Max": (with_negative("Max"), plainly), "Min": (with_negative("Min"), plainly), "Clip": (between, plainly)}
for (_name, _how), _kind in itertools.product(OPS.items(), TYPES):
    _label = f"nan_{_name}_{_kind}"
    _simnpu = ("simnpu",) if _kind == "f32" and _name in ("Softmax_last", "Relu", "GlobalMaxPool") else ()
    CASES[_label] = lambda a=(_label, _kind, *_how, ("cpu:v3", "cpu", *_simnpu)): made(*a)
