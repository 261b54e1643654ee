"""Pictures whose colours are their last dim, and other rows that are shorter than a register: with what is read for each row
(core/s3/fusion/short_rows.c). regressions.py runs them."""

from rank_cases import drawn
from regression_cases import CASES, F32, Maker

from onnx import TensorProto

SHAPES = [(64, 80, 3), (2, 30, 50, 3), (1000, 4), (77, 33, 3), (1, 24, 24, 20), (5, 49, 7), (3, 40, 40, 1), (128, 16, 5), (640, 24)]
FEW = {"targets": ("cpu:v3", "cpu:avx512")}


def added(label, shape, make):
    def built():
        m = Maker(f"{label}_{'x'.join(map(str, shape))}")
        return m.done(make(m, m.input("x", *shape), shape[-1]), bisect=True, **FEW)

    CASES[f"{label}_{'x'.join(map(str, shape))}"] = built


def normalised(m, x, colours):
    """As pictures come into networks: constants for each colour."""
    return m.op("Div", m.op("Sub", x, m.const(drawn(m, colours))), m.const(1 + abs(drawn(m, colours))))


def balanced(m, x, colours):
    """What is made when the program runs, and two rows that differ."""
    s, t = m.input("s", colours), m.input("t", 1, colours)
    return m.op("Clip", m.op("Add", m.op("Mul", x, m.op("Sqrt", m.op("Abs", s))), t), m.const(F32(-1)), m.const(F32(2)))


def of_bytes(m, x, colours):
    """Narrower elements beside: codes that become numbers."""
    codes = m.op("Cast", m.op("Clip", x, m.const(F32(0)), m.const(F32(200))), to=TensorProto.UINT8)
    return m.op("Mul", m.op("Cast", codes, to=TensorProto.FLOAT), m.const(drawn(m, colours)))


for _shape in SHAPES:
    added("colours_normalised", _shape, normalised)
for _shape in SHAPES[::2]:
    added("colours_balanced", _shape, balanced)
    added("colours_of_bytes", _shape, of_bytes)


def rows_of_two_lengths(m, x, colours):
    """One row for all lines, one for all pixels; and a number for each pixel, which is no row."""
    y = m.op("Add", x, m.input("r", 80, colours))
    y = m.op("Mul", y, m.const(drawn(m, colours)))
    return m.op("Max", y, m.input("p", 64, 80, 1))


added("rows_of_two_lengths", (64, 80, 3), rows_of_two_lengths)
added("rows_of_two_lengths", (2, 64, 80, 6), rows_of_two_lengths)
added("row_behind_sums", (64, 80, 3), lambda m, x, c: m.op("Mul", x, m.op("ReduceMean", x, axes=[0, 1], keepdims=0)))
