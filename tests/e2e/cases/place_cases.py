"""Elements at places that the model says, along one dim or several: copies of boxes, on chips that look nothing up too."""

import numpy as np
from onnx import TensorProto, helper
from regression_cases import CASES, F32, I8, I32, I64, Maker, case

BOTH = ("cpu", "simnpu")
RELATIVE = np.arange(24)[:, None] - np.arange(24)[None]


def bucketed(distance, buckets=8):
    """As DeBERTa has relative positions: near ones each by itself, far ones by powers."""
    far = buckets / 2 + np.log(np.maximum(np.abs(distance), 1) / (buckets / 2)) / np.log(8) * (buckets / 2)
    return np.where(np.abs(distance) <= buckets / 2, distance, np.sign(distance) * np.ceil(far)).clip(1 - buckets, buckets - 1).astype(I64)


def at_places(label, shape, places, axis, coded, kind="GatherElements"):
    m = Maker(label)
    x = m.op("Neg", m.input("x", *shape))
    if not coded:
        return m.done(m.op("Relu", m.op(kind, x, m.const(places), axis=axis)), targets=BOTH, bisect=True)
    y = m.codes(m.op(kind, m.codes(x, F32(0.01)), m.const(places), axis=axis), F32(0.01))
    return m.done(m.codes(m.op("Add", y, m.const(F32(0.1))), F32(0.02)), step=0.02, targets=BOTH, bisect=True)


def spread(places, *shape):
    return np.ascontiguousarray(np.broadcast_to(places, shape))


PLACES = {
    "of_differences": ((2, 24, 16), spread(bucketed(RELATIVE) + 8, 2, 24, 24), 2),  # scores by relative positions
    "of_sums": ((3, 24, 47), spread(np.arange(24)[:, None] + np.arange(24)[None], 3, 24, 24), -1),
    "of_differences_in_front": ((2, 47, 24), spread(23 - RELATIVE, 2, 24, 24), 1),
    "from_the_end": ((2, 12, 40), spread(-1 - np.arange(32), 2, 12, 32), 2),
    "of_blocks_by_heads": ((2, 6, 8, 20), spread(np.array([[5, 1, 3], [2, 2, 7]]).reshape(2, 1, 3, 1), 2, 6, 3, 20), 2),
    "that_differ_in_rows": ((2, 4, 40), spread(np.array([3, 0, 8, 5])[:, None] + np.arange(24)[None], 2, 4, 24), 2),
}
for name, (shape, places, axis) in PLACES.items():
    for coded in (False, True):
        label = f"places_{name}{'_on_codes' if coded else ''}"
        CASES[label] = lambda label=label, s=shape, p=places, a=axis, c=coded: at_places(label, s, p, a, c)
for name, places in (("some_rows", [7, 0, 3]), ("rows_in_two_dims", [[4, 1, 1], [0, 6, 2]]), ("many_rows", np.random.default_rng(1).permutation(40))):
    for coded in (False, True):
        label = f"{name}_at_places{'_on_codes' if coded else ''}"
        CASES[label] = lambda label=label, p=places, c=coded: at_places(label, (2, 40, 96), np.array(p, I64), 1, c, "Gather")


def embedded(label, tokens, words, *row):
    """Rows of a table by numbers that come, some from the end: loops whose elements go in lanes, of which nothing is said."""
    m = Maker(label)
    numbers = np.arange(tokens, dtype=I64).reshape(2, -1) * 7 % words - words // 4
    given = m.op("Cast", m.input("x", 2, tokens // 2, values=numbers), to=TensorProto.INT64)
    return m.done(m.op("Gather", m.const(m.rng.standard_normal((words, *row)).astype(F32)), given), targets=("cpu",), unsaid=("PB4065",))


for name, rows in (("", (64,)), ("_of_two_dims", (3, 40)), ("_that_fill_no_register", (21,))):
    CASES[f"embedded_rows{name}"] = lambda label=f"embedded_rows{name}", r=rows: embedded(label, 24, 200, *r)


@case
def places_in_two_dims():
    """A vector of indices for each window, of which none is another's neighbour."""
    m = Maker("places_in_two_dims")
    at = np.array([[0, 2], [3, 1], [1, 4], [2, 2]], I64)
    return m.done(m.op("Relu", m.op("GatherND", m.input("x", 4, 5, 64), m.const(at))), targets=BOTH, bisect=True)


def cubic(label, extent, to):
    """Four neighbours for each element, at places in as many runs as both extents have steps. ONNX Runtime computes places in f32."""
    m = Maker(label, 18)
    shape = m.const(np.array([1, 3, to, to], I64))
    y = m.op("Resize", m.input("x", 1, 3, extent, extent), "", "", shape, mode="cubic", coordinate_transformation_mode="half_pixel")
    return m.done(m.op("Relu", y), step=2e-4, targets=BOTH, bisect=True)


for extent, to in ((150, 140), (24, 36), (40, 38)):
    CASES[f"cubic_{extent}_to_{to}"] = lambda e=extent, t=to: cubic(f"cubic_{e}_to_{t}", e, t)


def changed(label, kind, shape, places, how, **attrs):
    """Rows of a tensor changed at places in any order: what lies between them is left."""
    m = Maker(label, 18)
    x, places = m.input("x", *shape), np.array(places, I64)
    update = m.op("Neg", m.input("u", *(places.shape if kind == "ScatterElements" else (len(places), *shape[1:]))))
    return m.done(m.op("Relu", m.op(kind, x, m.const(places), update, reduction=how, **attrs)), targets=BOTH, bisect=True)


ROWS = np.array([7, 8, 0, -1, 4])
for how in ("none", "add", "max"):
    label = f"rows_changed_by_{how}"
    CASES[label] = lambda label=label, how=how: changed(label, "ScatterND", (12, 48), ROWS[:, None], how)
    label = f"columns_changed_by_{how}"
    CASES[label] = lambda label=label, how=how: changed(label, "ScatterElements", (2, 12, 32), spread(ROWS[:, None], 2, 5, 32), how, axis=1)


@case
def rows_changed_one_by_one():
    """As recurrent layers come out of PyTorch: each step's row takes its place in what begins as zeros."""
    m = Maker("rows_changed_one_by_one")
    x, state, y = m.input("x", 1, 6, 64), m.input("s", 1, 64), m.const(np.zeros((1, 6, 64), F32))
    for k in range(6):
        state = m.op("Tanh", m.op("Add", state, m.op("Gather", x, m.const(np.array(k, I64)), axis=1)))
        row = m.op("Unsqueeze", state, m.const(np.array([1], I64)))
        y = m.op("ScatterElements", y, m.const(np.full((1, 1, 64), k, I64)), row, axis=1)
    return m.done(y, targets=BOTH, bisect=True)


@case
def places_of_constants():
    """As frameworks compute indices of positions: parts of constants set and looked up, numbers from the end among the places."""
    m = Maker("places_of_constants", 18)
    table = m.const(np.arange(6 * 8 * 5, dtype=F32).reshape(6, 8, 5) / 64)
    columns = m.const(np.broadcast_to(np.array([3, -1, 0], I64)[:, None], (6, 3, 5)).copy())
    y = m.op("ScatterElements", table, columns, m.const(-np.arange(90, dtype=F32).reshape(6, 3, 5) / 32), axis=-2)
    y = m.op("ScatterND", y, m.const(np.array([[[2, -2], [5, 0]]], I64)), m.const(np.linspace(1, 2, 10, dtype=F32).reshape(1, 2, 5)))
    y = m.op("GatherND", y, m.const(np.array([[[7, -1], [0, 2]]] * 6, I64)), batch_dims=1)
    y = m.op("GatherElements", y, m.const(np.array([[1, 0, -1]] * 6, I64)), axis=1)
    return m.done(m.op("Relu", m.op("Add", m.input("x", 6, 3), y)), targets=BOTH, bisect=True)


def integers(m, name, values, kind=I64):
    """An input of whole numbers, i64 or i32."""
    values = np.array(values, kind)
    m.inputs.append(helper.make_tensor_value_info(name, TensorProto.INT64 if kind == I64 else TensorProto.INT32, values.shape))
    m.feeds[name] = values
    return name


def looked_up(label, shape, places, kind, integer=I64, **attrs):
    """Places that come at run time: rows at numbers that are computed, which the host copies where no command gathers."""
    m = Maker(label)
    x = m.op("Neg", m.input("x", *shape))
    return m.done(m.op("Relu", m.op(kind, x, integers(m, "at", places, integer), **attrs)), targets=BOTH, bisect=True)


LOOKED_UP = {
    "columns": ((3, 5, 48), [4, -1, 0, 2], "Gather", I64, {"axis": 1}),
    "numbers_of_columns": ((2, 3, 20), [[19, -20], [7, 7]], "Gather", I32, {"axis": 2}),
    "elements": ((2, 6, 16), np.random.default_rng(3).integers(-16, 16, (2, 6, 5)), "GatherElements", I64, {"axis": 2}),
    "elements_of_rows": ((7, 32), np.random.default_rng(4).integers(-7, 7, (4, 32)), "GatherElements", I64, {"axis": 0}),
    "vectors": ((4, 5, 32), [[0, 2], [3, -1], [-2, 4]], "GatherND", I64, {}),
    "whole_vectors": ((4, 5, 6), [[[0, 2, 5], [3, 1, -6]]], "GatherND", I64, {}),
}
for name, (shape, places, kind, integer, attrs) in LOOKED_UP.items():
    label = f"looked_up_{name}"
    CASES[label] = lambda label=label, s=shape, p=places, k=kind, i=integer, a=attrs: looked_up(label, s, p, k, i, **a)


def sampled(label, channels):
    """Pixels of images and volumes at places between them, whose channels are many enough to be lanes, or not."""
    m, outs = Maker(label, opset=20), []
    x, grid = m.input("x", 2, channels, 5, 7), m.input("grid", 2, 4, 3, 2)
    outs += [m.op("GridSample", x, grid, mode=mode, padding_mode=edge) for mode, edge in (("linear", "zeros"), ("cubic", "border"), ("nearest", "reflection"))]
    outs.append(m.op("GridSample", m.input("volume", 1, channels, 3, 4, 5), m.input("places", 1, 2, 3, 2, 3), padding_mode="border"))
    boxes = np.array([[0, 1, 4, 4], [2.5, 0, 6, 3], [-3, -2, 9, 8]], F32)
    for how in ("avg", "max"):
        outs.append(m.op("RoiAlign", x, m.const(boxes), m.const(np.array([1, 0, 1], I64)), output_height=2, output_width=3, sampling_ratio=1 if how == "max" else 2, mode=how))
    return m.done(*outs, targets=("cpu",))  # bisecting runs for half a minute: nightly does


for _channels in (15, 16, 35):
    CASES[f"sampled_pixels_of_{_channels}_channels"] = lambda c=_channels: sampled(f"sampled_pixels_of_{c}_channels", c)
