"""Boxes of tensors whose bounds lie beyond either end, and parts that have no elements."""

import itertools

import numpy as np
from onnx import TensorProto
from regression_cases import CASES, F32, I64, Maker

BOUNDS = (np.iinfo(I64).min, -9, -3, -2, -1, 0, 1, 2, 3, 9, np.iinfo(I64).max)
FAR = (-9, -3, -1, 1, 9)


def vector(m, *items, dtype=I64):
    return m.const(np.array(items, dtype))


def sliced(label, step, extent, constant=False, dtype=I64):
    """All pairs of bounds. ONNX keeps a start at an element, an end may lie in front of the first one where the step is back."""
    m = Maker(label)
    x = m.const(np.arange(6 * extent, dtype=F32).reshape(3, extent, 2)) if constant else m.input("x", 3, extent, 2)
    info = np.iinfo(dtype)
    bounds = [int(np.clip(b, info.min, info.max - (step < 0))) for b in BOUNDS]  # ONNX Runtime takes the largest for the end either way
    boxes = [m.op("Slice", x, vector(m, a, dtype=dtype), vector(m, b, dtype=dtype), vector(m, -2, dtype=dtype), vector(m, step, dtype=dtype)) for a, b in itertools.product(bounds, bounds)]
    return m.done(*boxes, targets=("cpu", "simnpu") if extent == 2 and step < 0 else ("cpu",))


def first_form(label):
    """Opset 1: bounds are attributes, and there are no steps."""
    m = Maker(label, 9)
    x = m.input("x", 3, 2, 2)
    return m.done(*(m.op("Slice", x, starts=[a], ends=[b], axes=[1]) for a, b in itertools.product(FAR, FAR)), targets=("cpu",))


def said(label, step, given="starts"):
    """Bounds that come at run time."""
    m = Maker(label)
    x, boxes = m.input("x", 3, 2, 2), []
    for k, (a, b) in enumerate(itertools.product(FAR, FAR)):
        at = {"starts": a, "ends": b}
        at = {name: m.op("Cast", m.input(f"at{k}", 1, values=[v]), to=TensorProto.INT64) if name == given else vector(m, v) for name, v in at.items()}
        boxes.append(m.op("Slice", x, at["starts"], at["ends"], vector(m, 1), vector(m, step)))
    return m.done(*boxes, targets=("cpu",))


for _step, _extent in itertools.product((-2, -1, 1, 3), (0, 1, 2)):
    _label = f"sliced_by_{_step}_of_{_extent}".replace("-", "minus_")
    CASES[_label] = lambda a=(_label, _step, _extent): sliced(*a)
for _step in (-1, 2):
    _label = f"constant_sliced_by_{_step}".replace("-", "minus_")
    CASES[_label] = lambda a=(_label, _step, 2, True): sliced(*a)
    _label = f"sliced_by_words_of_{_step}".replace("-", "minus_")
    CASES[_label] = lambda a=(_label, _step, 2, False, np.int32): sliced(*a)
    for _given in ("starts", "ends"):
        _label = f"sliced_by_{_given}_that_come_{_step}".replace("-", "minus_")
        CASES[_label] = lambda a=(_label, _step, _given): said(*a)
CASES["sliced_in_the_first_form"] = lambda: first_form("sliced_in_the_first_form")


def joined(label, axis, *parts):
    """Parts by shape: constants where they have no elements, or all of them."""
    m = Maker(label)
    made = [m.const(np.zeros(shape, F32)) if 0 in shape else m.input(f"x{k}", *shape) for k, shape in enumerate(parts)]
    y = m.op("Concat", *made, axis=axis)
    count = m.op("Cast", m.op("Shape", y), to=TensorProto.FLOAT)
    return m.done(y, m.op("Add", count, m.input("z", 1)))


JOINED = {"rows_of_nothing": (1, (0, 1, 32), (0, 3, 32), (0, 3, 32)), "rows_of_nothing_last": (1, (0, 3, 32), (0, 4, 32)), "columns_of_nothing": (-1, (2, 0, 3), (2, 0, 5)),
          "no_rows_first": (0, (0, 4), (3, 4)), "no_rows_between": (1, (2, 3, 4), (2, 0, 4), (2, 1, 4)), "no_rows_at_all": (0, (0, 4), (0, 4))}
for _name, (_axis, *_parts) in JOINED.items():
    CASES[f"joined_{_name}"] = lambda a=(f"joined_{_name}", _axis, *_parts): joined(*a)


def joined_input(label):
    """What has no elements is computed."""
    m = Maker(label)
    none = m.op("Slice", m.input("x", 3, 4), vector(m, 3), vector(m, 3), vector(m, 0))
    return m.done(m.op("Concat", none, m.op("Neg", none), m.const(np.zeros((0, 2), F32)), axis=1), targets=("cpu", "simnpu"))


CASES["joined_computed_nothing"] = lambda: joined_input("joined_computed_nothing")
