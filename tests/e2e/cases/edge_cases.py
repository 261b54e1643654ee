"""What lies on an edge: zeros of both signs, places in the middle between two, indices of no dims, defaults of first opsets."""

import itertools

import numpy as np
from onnx import TensorProto
from regression_cases import CASES, F32, I64, Maker, case


def top(label, count, k, largest, said=False):
    """Equal numbers keep their order, zeros of both signs are such."""
    m = Maker(label)
    values = np.tile(np.array([-0.0, 0.0, -0.0, 0.0, -1, 1, 1], F32), (2, -(-count // 7)))[:, :count]
    x = m.input("x", 2, count, values=values)
    many = m.op("Cast", m.input("k", 1, values=[k]), to=TensorProto.INT64) if said else m.const(np.array([k], I64))
    y = m.op("TopK", x, many, largest=largest)
    m.nodes[-1].output.append("places")
    m.types["places"] = TensorProto.INT64
    return m.done(y, "places", targets=("cpu",))


for (_count, _k), _largest in itertools.product(((7, 7), (9, 4), (70, 12), (70, 40)), (0, 1)):
    _label = f"top_{_k}_of_{_count}_zeros_{'largest' if _largest else 'smallest'}"
    CASES[_label] = lambda a=(_label, _count, _k, _largest): top(*a)
    CASES[_label + "_said"] = lambda a=(_label + "_said", _count, _k, _largest): top(*a, said=True)


def sampled(label, mode, padding, align):
    """Every quarter of a pixel, far outside too."""
    m = Maker(label, 20)
    at = np.linspace(-3, 3, 49, dtype=F32)
    grid = np.stack([at, at[::-1]], -1)[None, None]
    x = m.input("x", 1, 2, 4, 4)
    return m.done(m.op("GridSample", x, m.input("grid", *grid.shape, values=grid), mode=mode, padding_mode=padding, align_corners=align), targets=("cpu",))


for _mode, _padding, _align in itertools.product(("nearest", "linear"), ("zeros", "border", "reflection"), (0, 1)):
    _label = f"grid_{_mode}_{_padding}_{_align}"
    CASES[_label] = lambda a=(_label, _mode, _padding, _align): sampled(*a)


def named(m, n):
    """m, which makes what n makes."""
    for maker in (m, n):
        maker.nodes[-1].output[0] = "y"
    return m.done("y", targets=("cpu",), same_as=n.done("y").model)


def whole(label, kind, how, count):
    """Indices of no dims stand for all of the tensor."""
    m, n = Maker(label, 18), Maker(label, 18)
    at = m.const(np.zeros((count, 0), I64))
    x = m.input("x", 2, 3)
    if kind == "GatherND":
        m.op(kind, x, at)
        n.op("Expand", n.input("x", 2, 3), n.const(np.array([count, 2, 3])))
        return named(m, n)
    m.op(kind, x, at, m.input("u", count, 2, 3), reduction=how)
    x, u = n.input("x", 2, 3), n.input("u", count, 2, 3)
    parts = [n.op("Gather", u, n.const(np.int64(k))) for k in range(count)]
    ops = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}
    for part in parts:
        x = part if how == "none" else n.op(ops[how], x, part)
    n.op("Identity", x)
    return named(m, n)


for _how in ("none", "add", "mul", "max", "min"):
    CASES[f"whole_scattered_by_{_how}"] = lambda a=(f"whole_scattered_by_{_how}", "ScatterND", _how, 3): whole(*a)
CASES["whole_gathered"] = lambda: whole("whole_gathered", "GatherND", "", 3)
CASES["one_whole_scattered"] = lambda: whole("one_whole_scattered", "ScatterND", "none", 1)


def joined_first(label, constant):
    """Concat of opset 1 to 3 says no axis where it is 1."""
    makers = (Maker(label, 1), {}), (Maker(label), {"axis": 1})
    for maker, attrs in makers:
        x = maker.const(np.arange(24, dtype=F32).reshape(2, 3, 4)) if constant else maker.input("x", 2, 3, 4)
        maker.op("Concat", x, x, **attrs)
    (m, _), (n, _) = makers
    return m.done("t0", same_as=n.done("t0").model)


for _constant in (False, True):
    _label = f"joined_in_the_first_form{'_of_constants' if _constant else ''}"
    CASES[_label] = lambda a=(_label, _constant): joined_first(*a)


def resized(label, opset, scale, mode):
    m = Maker(label, opset)
    x = m.input("x", 1, 2, 12, 11)
    scales = m.const(np.array([1, 1, scale, scale], F32))
    return m.done(m.op("Upsample" if opset < 10 else "Resize", x, scales, mode=mode), targets=("cpu",))


for _opset, _scale, _mode in itertools.product((9, 10), (0.25, 0.3, 0.6, 0.7, 0.95, 1.1, 1.5, 2, 2.3), ("nearest", "linear")):
    if _opset == 9 and _scale < 1:
        continue
    _label = f"resized_by_{_scale}_{_mode}_of_opset_{_opset}"
    CASES[_label] = lambda a=(_label, _opset, _scale, _mode): resized(*a)


ENDS = (-np.inf, -3e38, -8, -1, -0.5, -1e-40, -0.0, 0.0, 1e-40, 0.5, 1, 2, 3e38, np.inf, np.nan)


def powers(label, exponent, targets):
    """By 0.5 it is the square root, which C's pow is not of -infinity alone."""
    m = Maker(label)
    values = [v for v in ENDS if exponent != 0.5 or v != -np.inf]
    x = m.input("x", len(values), values=values)
    return m.done(m.op("Pow", x, m.const(F32(exponent))), targets=targets)


for _exponent in (-2.5, -1.5, -1, -0.5, 0.5, 1.5, 2, 2.5, 3, 0.25, -17):
    _label = f"to_the_power_of_{_exponent}".replace("-", "minus_")
    CASES[_label] = lambda a=(_label, _exponent, ("cpu", "simnpu") if _exponent in (-2.5, -0.5, 0.5, 2, 1.5) else ("cpu",)): powers(*a)


def dropped(label, training, ratio, kind=None, says=(), refused=None, mask=False):
    """In training it is run as in inference, and a warning says so; a mask that is drawn is refused."""
    m, n = Maker(label), Maker(label)
    for maker in (m, n):
        x = maker.input("x", 3, 4)
        x = maker.op("Cast", x, to=kind) if kind else x
        if maker is m:
            mode = m.op("Cast", m.input("mode", 1, values=[0]), to=TensorProto.BOOL) if training is None else m.const(np.array(training))
            mode = m.op("Squeeze", mode) if training is None else mode
            y = m.op("Dropout", x, m.const(np.array(ratio, F32)), mode)
        else:
            n.input("mode", 1, values=[0])
            y = n.op("Identity", x)
        if mask and maker is m:
            m.nodes[-1].output.append("mask")
        maker.op("Cast", y, to=TensorProto.FLOAT)
        maker.nodes[-1].output[0] = "y"
    if training is not None:
        n.inputs.pop()
    m.types["mask"] = TensorProto.BOOL
    return m.done("y", *(["mask"] if mask else []), targets=("cpu",), says=says, refused=refused, same_as=n.done("y").model)


for _name, _how in {
    "in_training": dict(training=True, ratio=0.5, says=("PB2038",)),
    "in_training_f16": dict(training=True, ratio=0.5, kind=TensorProto.FLOAT16, says=("PB2038",)),
    "in_a_mode_that_comes": dict(training=None, ratio=0.25, says=("PB2038",)),
    "of_nothing": dict(training=True, ratio=0.0),
    "in_inference": dict(training=False, ratio=0.5),
    "with_a_mask": dict(training=True, ratio=0.5, refused="PB2020", mask=True),
}.items():
    CASES[f"dropped_{_name}"] = lambda a=f"dropped_{_name}", k=_how: dropped(a, **k)


@case
def selu_of_the_first_form():
    """Its numbers had fewer digits up to opset 5, of which no runtime has it."""
    m, n = Maker("selu_of_the_first_form", 1), Maker("selu_of_the_first_form")
    for maker, attrs in ((m, {}), (n, {"alpha": 1.6732, "gamma": 1.0507})):
        maker.op("Selu", maker.input("x", 3, 4), **attrs)
    return named(m, n)


def integer_powers(label, extent, dtype):
    """Of integers by integers, whose code uses each step twice."""
    m = Maker(label)
    x = m.input("x", extent, values=(np.arange(extent) % 7 - 3).astype(dtype))
    y = m.input("y", extent, values=(np.arange(extent) % 5).astype(dtype))
    return m.done(m.op("Pow", x, y), targets=("cpu", "cpu:v3"))


for _extent, _dtype in itertools.product((1, 2, 5), (np.int32, I64)):
    _label = f"integer_powers_of_{_extent}_{np.dtype(_dtype).name}"
    CASES[_label] = lambda a=(_label, _extent, _dtype): integer_powers(*a)
