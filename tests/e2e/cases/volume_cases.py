"""Volumes, [n, c, d, h, w], less a dim: what is reduced along one of them is an image whose channels are another dim of the volume. Few
channels fill no row of lanes, and what lies behind the last one is no element of the other tensor."""

import numpy as np
from onnx import TensorProto
from regression_cases import CASES, I64, Maker

SHAPES = [(2, 1, 2, 2, 32), (2, 3, 2, 3, 8), (1, 8, 3, 2, 5), (2, 1, 9, 2, 4), (1, 17, 8, 3, 3)]


def norm(axis, p):
    return lambda m, x: m.op("LpNormalization", x, axis=axis, p=p)


def reduced(kind, axis, how):
    """Less, or over, what is reduced along the axis, whose dim goes and comes back."""

    def build(m, x):
        axes = m.const(np.array([axis], I64))
        y = m.op(kind, x, axes, keepdims=0)
        return m.op(how, m.op("Elu", x), m.op("Unsqueeze", m.op("Tanh", y), axes))

    return build


def turned(axis):
    """The image's rows as the volume's, behind a sum."""

    def build(m, x):
        y = m.op("ReduceSum", m.op("Sigmoid", x), m.const(np.array([axis], I64)), keepdims=0)
        return m.op("Relu", m.op("Transpose", y, perm=[0, 2, 1, 3]))

    return build


FORMS = {**{f"norm_{p}_along_{axis}": norm(axis, p) for axis in (1, 2, 4) for p in (1, 2)},
         **{f"{kind.lower()}_along_{axis}_{how.lower()}": reduced(kind, axis, how)
            for kind, how in (("ReduceSum", "Sub"), ("ReduceMax", "Mul")) for axis in (1, 2, 3)},
         **{f"turned_sum_along_{axis}": turned(axis) for axis in (1, 2)}}


def build(label, form, shape, half):
    m = Maker(label, 18)
    x = m.input("x", *shape)
    if half:  # what is between two casts is in f16
        x = m.op("Cast", x, to=TensorProto.FLOAT16)
        x = m.op("Cast", m.op("Elu", x, alpha=1.5), to=TensorProto.FLOAT)
    y = FORMS[form](m, m.op("Elu", x, alpha=1.5))
    return m.done(y, targets=("cpu",), step=0.01 if half else None)


for _form in FORMS:
    for _shape in SHAPES:
        for _half in (False, True):
            _label = f"volume_{'x'.join(map(str, _shape))}_{_form}{'_f16' if _half else ''}"
            CASES[_label] = lambda label=_label, form=_form, shape=_shape, half=_half: build(label, form, shape, half)
