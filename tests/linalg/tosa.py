"""Every row of core/frontend/linalg/tosa.def against NumPy: floats near, integers to the bit of the specification's formulas.

    tests/linalg/tosa.py --bin build/bin [--target cpu] [--every N]

--every N: each N-th case alone."""

import argparse
import math
import re
import sys
import tempfile
from pathlib import Path

import text
from cases import Case, right, together
from text import np, tensor, tools

ROWS = Path(__file__).parents[2] / "core" / "frontend" / "linalg" / "tosa.def"
R = np.random.default_rng(7)
F = (R.standard_normal((2, 3, 4)) * 2).astype(np.float32)
G = R.standard_normal((2, 3, 4)).astype(np.float32)
P = np.abs(F) + np.float32(0.1)
I = R.integers(-1000, 1000, (2, 3, 4)).astype(np.int32)
J = R.integers(1, 40, (2, 3, 4)).astype(np.int32)
T, S = R.random((2, 3, 4)) < 0.5, R.random((2, 3, 4)) < 0.5


def plain(op, inputs, want, attributes="", near=0.0, of=None, before=(), more=()):
    """%r = tosa.op of all inputs, behind them what `before` makes."""
    names = ", ".join([*(f"%arg{k}" for k in range(len(inputs))), *(n for n, _ in more)])
    types = ", ".join([*map(tensor, inputs), *(t for _, t in more)])
    line = f"%r = \"tosa.{op}\"({names}) {{{attributes}}} : ({types}) -> {tensor(np.asarray(want))}"
    return Case(inputs, [*before, line], want, near, of or f"tosa.{op}")


def const(name, values, kind):
    values = np.asarray(values)
    listed = re.sub(r"\s+", ", ", str(values.tolist()).replace(",", " ").strip()).replace("[, ", "[").replace(", ]", "]")
    listed = {"True": "true", "False": "false"}.get(listed, listed)
    return f"%{name} = \"tosa.const\"() {{values = dense<{listed}> : {tensor(values.shape, kind)}}} : () -> {tensor(values.shape, kind)}"


def shape_of(name, values):
    kind = f"!tosa.shape<{len(values)}>"
    return f"%{name} = \"tosa.const_shape\"() {{values = dense<{list(map(int, values))}> : tensor<{len(values)}xindex>}} : () -> {kind}", (f"%{name}", kind)


def elements():
    for op, want in {"abs": np.abs(F), "ceil": np.ceil(F), "floor": np.floor(F)}.items():
        yield plain(op, [F], want)
    for op, want in {"cos": np.cos(F), "sin": np.sin(F), "exp": np.exp(F), "tanh": np.tanh(F), "sigmoid": 1 / (1 + np.exp(-F)),
                     "erf": np.vectorize(math.erf)(F)}.items():
        yield plain(op, [F], want.astype(np.float32), near=1e-6)
    for op, want in {"log": np.log(P), "reciprocal": 1 / P, "rsqrt": 1 / np.sqrt(P)}.items():
        yield plain(op, [P], want, near=1e-6)
    yield plain("abs", [I], np.abs(I), of="tosa.abs of i32")
    yield plain("bitwise_not", [I], ~I)
    yield plain("logical_not", [T], ~T)
    yield plain("clz", [I], np.vectorize(lambda v: 32 - (int(v) & 0xFFFFFFFF).bit_length())(I).astype(np.int32))
    yield plain("identity", [F], F)
    for op, of in {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "maximum": np.maximum, "minimum": np.minimum}.items():
        yield plain(op, [F, G], of(F, G))
        yield plain(op, [I, J], of(I, J), of=f"tosa.{op} of i32")
        yield plain(op, [F, G[:, :1]], of(F, G[:, :1]), of=f"tosa.{op} against one row")
    yield plain("pow", [P, G], np.power(P, G), near=1e-5)
    for op, want in {"equal": I == I // 2 * 2, "greater": I > I // 2 * 2, "greater_equal": I >= I // 2 * 2}.items():
        yield plain(op, [I, I // 2 * 2], want)
    for op, want in {"greater": F > G, "greater_equal": F >= G, "equal": F == G}.items():
        yield plain(op, [F, G], want, of=f"tosa.{op} of f32")
    for op, want in {"bitwise_and": I & J, "bitwise_or": I | J, "bitwise_xor": I ^ J}.items():
        yield plain(op, [I, J], want)
    for op, want in {"logical_and": T & S, "logical_or": T | S, "logical_xor": T ^ S}.items():
        yield plain(op, [T, S], want)
    by = J % 32
    yield plain("logical_left_shift", [I, by], I << by)
    yield plain("logical_right_shift", [I, by], (I.view(np.uint32) >> by.astype(np.uint32)).view(np.int32))
    for rounded in False, True:
        want = (I >> by) + (((I >> np.maximum(by - 1, 0)) & 1) * (by > 0) if rounded else 0)
        yield plain("arithmetic_right_shift", [I, by], want.astype(np.int32), f"round = {str(rounded).lower()}", of=f"tosa.arithmetic_right_shift, {rounded}")
    yield plain("intdiv", [I, J], np.trunc(I / J).astype(np.int32))
    yield plain("select", [T, F, G], np.where(T, F, G))
    zero = const("s", [0], "i8")
    yield plain("mul", [F, G], F * G, before=[zero], more=[("%s", "tensor<1xi8>")])
    yield plain("mul", [I, J], I * J, before=[zero], more=[("%s", "tensor<1xi8>")], of="tosa.mul of i32")
    wide = (I.astype(np.int64) * J * 1000 + (1 << 6)) >> 7
    yield plain("mul", [I, J * 1000], wide.astype(np.int32), before=[const("s", [7], "i8")], more=[("%s", "tensor<1xi8>")], of="tosa.mul with a shift")
    nil = const("z", [0.0], "f32")
    yield plain("negate", [F], -F, before=[nil], more=[("%z", "tensor<1xf32>")] * 2)
    x8 = R.integers(-128, 128, (3, 5)).astype(np.int8)
    points = [const("a", [3], "i8"), const("b", [-2], "i8")]
    want = np.clip(-(x8.astype(np.int32) - 3) - 2, -128, 127).astype(np.int8)
    yield plain("negate", [x8], want, before=points, more=[("%a", "tensor<1xi8>"), ("%b", "tensor<1xi8>")], of="tosa.negate of codes")
    yield plain("clamp", [F], np.clip(F, -1, 1.5), "min_val = -1.0 : f32, max_val = 1.5 : f32")
    yield plain("clamp", [x8], np.clip(x8, -20, 30), "min_val = -20 : i8, max_val = 30 : i8", of="tosa.clamp of i8")
    yield plain("cast", [I], I.astype(np.float32))
    yield plain("cast", [F], np.rint(F).astype(np.int32), of="tosa.cast to i32, halves to even")
    halves = np.float32([0.5, 1.5, 2.5, -0.5, -1.5, 300, -300])
    yield plain("cast", [halves], np.clip(np.rint(halves), -128, 127).astype(np.int8), of="tosa.cast to i8, kept in range")
    yield plain("cast", [T], T.astype(np.int8), of="tosa.cast of truths")
    yield plain("cast", [I], I != 0, of="tosa.cast to truths")
    table = R.integers(-128, 128, 256).astype(np.int8)
    yield plain("table", [x8], table[x8.astype(np.int32) + 128], before=[const("t", table, "i8")], more=[("%t", "tensor<256xi8>")])
    table, x16 = R.integers(-32768, 32767, 513).astype(np.int16), R.integers(-32768, 32767, (4, 6)).astype(np.int16)
    at = x16.astype(np.int32) + 32768
    base, rest = table[at >> 7].astype(np.int32), at & 127
    want = (base << 7) + (table[(at >> 7) + 1].astype(np.int32) - base) * rest
    yield plain("table", [x16], want.astype(np.int32), before=[const("t", table, "i16")], more=[("%t", "tensor<513xi16>")], of="tosa.table of i16")


def rescaled(x, multiplier, shift, zero_in, zero_out, kind, double):
    """The specification's apply_scale_32."""
    value = x.astype(object) - zero_in
    multiplier, shift = (np.asarray(v).astype(object) for v in (multiplier, shift))
    add = 2 ** (shift - 1)
    if double:
        add = add + np.where(shift > 31, np.where(value >= 0, 1 << 30, -(1 << 30)), 0)
    result = (value * multiplier + add) // 2**shift + zero_out
    bounds = np.iinfo(kind)
    return np.clip(result.astype(np.int64), bounds.min, bounds.max).astype(kind)


def rescales():
    names = {np.int8: "i8", np.int32: "i32", np.int16: "i16"}
    wide = R.integers(-2**24, 2**24, (3, 40, 6)).astype(np.int32)
    wide[0, 0] = [0, 1, -1, 2**30, -(2**30), 5]
    for to, double, channels in (np.int8, True, False), (np.int8, False, False), (np.int8, True, True), (np.int8, False, True), (np.int16, True, True), (np.int32, False, False):
        count = 6 if channels else 1
        m, s = R.integers(2**30, 2**31 - 1, count), R.integers(33 if to != np.int32 else 31, 50, count)
        out = -5 if to == np.int8 else 0
        before = [const("m", m, "i32"), const("s", s, "i8"), const("a", [0], "i32"), const("b", [out], names[to])]
        more = [("%m", f"tensor<{count}xi32>"), ("%s", f"tensor<{count}xi8>"), ("%a", "tensor<1xi32>"), ("%b", f"tensor<1x{names[to]}>")]
        how = f"scale32 = true, rounding_mode = {'#tosa.rounding_mode<DOUBLE_ROUND>' if double else '#tosa.rounding_mode<SINGLE_ROUND>'}, per_channel = {str(channels).lower()}, input_unsigned = false, output_unsigned = false"
        yield plain("rescale", [wide], rescaled(wide, m, s, 0, out, to, double), how, before=before, more=more, of=f"tosa.rescale to {names[to]}, double={double}, channels={channels}")
    x8 = R.integers(-128, 128, (4, 40)).astype(np.int8)
    for unsigned in False, True:
        how = f"scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = false, output_unsigned = {str(unsigned).lower()}"
        zero = 128 if unsigned else 7
        before = [const("m", [1 << 30], "i32"), const("s", [30], "i8"), const("a", [0], "i8"), const("b", [zero - 256 if zero > 127 else zero], "i8")]
        more = [("%m", "tensor<1xi32>"), ("%s", "tensor<1xi8>"), ("%a", "tensor<1xi8>"), ("%b", "tensor<1xi8>")]
        want = np.clip(x8.astype(np.int32) + zero, 0 if unsigned else -128, 255 if unsigned else 127).astype(np.uint8 if unsigned else np.int8).view(np.int8)
        yield plain("rescale", [x8], want, how, before=before, more=more, of=f"tosa.rescale of i8, unsigned={unsigned}")


def movement():
    yield plain("reverse", [F], F[:, ::-1].copy(), "axis = 1 : i32")
    yield plain("transpose", [F], F.transpose(2, 0, 1).copy(), "perms = array<i32: 2, 0, 1>")
    yield plain("concat", [F, G], np.concatenate([F, G], 1), "axis = 1 : i32")
    line, operand = shape_of("h", (4, 6))
    yield plain("reshape", [F], F.reshape(4, 6), before=[line], more=[operand])
    line, operand = shape_of("h", (1, 2, 3))
    yield plain("tile", [F], np.tile(F, (1, 2, 3)), before=[line], more=[operand])
    first, second = shape_of("f", (0, 1, 1)), shape_of("z", (2, 2, 3))
    yield plain("slice", [F], F[0:2, 1:3, 1:4].copy(), before=[first[0], second[0]], more=[first[1], second[1]])
    line, operand = shape_of("h", (0, 1, 2, 0, 0, 3))
    yield plain("pad", [F], np.pad(F, ((0, 1), (2, 0), (0, 3)), constant_values=2.5), before=[line, const("p", [2.5], "f32")], more=[operand, ("%p", "tensor<1xf32>")])
    at = R.integers(0, 3, (2, 5)).astype(np.int32)
    yield plain("gather", [F, at], np.take_along_axis(F, at[:, :, None].astype(np.int64), 1))
    places = np.stack([R.permutation(3)[:2] for _ in range(2)]).astype(np.int32)
    want, new = F.copy(), G[:, :2].copy()
    for b in range(2):
        want[b, places[b]] = new[b]
    yield plain("scatter", [F, places, new], want)


def reductions():
    for axis in 0, 1, 2:
        for op, of in {"reduce_sum": np.sum, "reduce_product": np.prod, "reduce_max": np.max, "reduce_min": np.min}.items():
            yield plain(op, [F], of(F, axis, keepdims=True), f"axis = {axis} : i32", near=1e-5, of=f"tosa.{op}, axis {axis}")
        for op, of in {"reduce_all": np.all, "reduce_any": np.any}.items():
            yield plain(op, [T], of(T, axis, keepdims=True), f"axis = {axis} : i32", of=f"tosa.{op}, axis {axis}")
        yield plain("argmax", [F], F.argmax(axis).astype(np.int32), f"axis = {axis} : i32", of=f"tosa.argmax, axis {axis}")
    yield plain("reduce_sum", [I], I.sum(2, keepdims=True).astype(np.int32), "axis = 2 : i32", of="tosa.reduce_sum of i32")


def windows_of(x, size, stride, dilation=(1, 1)):
    """[n, oh, ow, kh, kw, c] of an image [n, h, w, c]."""
    oh, ow = ((x.shape[1 + k] - (size[k] - 1) * dilation[k] - 1) // stride[k] + 1 for k in (0, 1))
    rows = np.arange(oh)[:, None] * stride[0] + np.arange(size[0]) * dilation[0]
    columns = np.arange(ow)[:, None] * stride[1] + np.arange(size[1]) * dilation[1]
    return x[:, rows[:, None, :, None], columns[None, :, None, :]]


def products():
    nil = const("z", [0.0], "f32")
    both = [("%z", "tensor<1xf32>")] * 2
    a, b = R.standard_normal((2, 5, 7)).astype(np.float32), R.standard_normal((2, 7, 4)).astype(np.float32)
    yield plain("matmul", [a, b], a @ b, near=1e-6, before=[nil], more=both)
    a8, b8 = R.integers(-128, 128, (2, 5, 7)).astype(np.int8), R.integers(-128, 128, (2, 7, 4)).astype(np.int8)
    points = [const("a", [3], "i8"), const("b", [-4], "i8")]
    more = [("%a", "tensor<1xi8>"), ("%b", "tensor<1xi8>")]
    yield plain("matmul", [a8, b8], (a8.astype(np.int32) - 3) @ (b8.astype(np.int32) + 4), before=points, more=more, of="tosa.matmul of codes")
    x, w, bias = R.standard_normal((1, 9, 8, 3)).astype(np.float32), R.standard_normal((5, 3, 2, 3)).astype(np.float32), R.standard_normal(5).astype(np.float32)
    how = "acc_type = f32, pad = array<i64: 1, 0, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 2>"
    cut = "acc_type = {}, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 2>"
    padded = np.pad(x, ((0, 0), (1, 1), (0, 1), (0, 0)))
    taken = windows_of(padded, (3, 2), (2, 1), (1, 2))
    yield plain("conv2d", [x, w, bias], np.einsum("nijklc,oklc->nijo", taken, w) + bias, cut.format("f32"), near=1e-6, before=[nil], more=both)
    x8, w8, b32 = R.integers(-128, 128, x.shape).astype(np.int8), R.integers(-128, 128, w.shape).astype(np.int8), R.integers(-500, 500, 5).astype(np.int32)
    taken = windows_of(np.pad(x8.astype(np.int32) - 3, ((0, 0), (1, 1), (0, 1), (0, 0))), (3, 2), (2, 1), (1, 2))
    want = (np.einsum("nijklc,oklc->nijo", taken, w8.astype(np.int32) + 4) + b32).astype(np.int32)
    yield plain("conv2d", [x8, w8, b32], want, cut.format("i32"), before=points, more=more, of="tosa.conv2d of codes")
    d, dw, db = R.standard_normal((1, 6, 7, 3)).astype(np.float32), R.standard_normal((3, 2, 3, 2)).astype(np.float32), R.standard_normal(6).astype(np.float32)
    want = np.einsum("nijklc,klcm->nijcm", windows_of(d, (3, 2), (1, 1)), dw).reshape(1, 4, 6, 6) + db
    how = "acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>"
    yield plain("depthwise_conv2d", [d, dw, db], want, how, near=1e-6, before=[nil], more=both)
    v, vw, vb = R.standard_normal((1, 4, 5, 6, 2)).astype(np.float32), R.standard_normal((3, 2, 2, 3, 2)).astype(np.float32), R.standard_normal(3).astype(np.float32)
    want = np.zeros((1, 3, 4, 4, 3), np.float32) + vb
    for t, i, j in np.ndindex(2, 2, 3):
        want += np.einsum("nabec,oc->nabeo", v[:, t:t + 3, i:i + 4, j:j + 4], vw[:, t, i, j])
    how = "acc_type = f32, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>, dilation = array<i64: 1, 1, 1>"
    yield plain("conv3d", [v, vw, vb], want, how, near=1e-6, before=[nil], more=both)


def turned_convolution(x, w, bias, stride, pad):
    """What each element of x [n, h, w, c] adds to the results it reaches, of filters [o, kh, kw, c]; `pad` is added to the result."""
    (n, h, wide, _), (count, kh, kw, _) = x.shape, w.shape
    sides = (h - 1) * stride[0] + pad[0] + pad[1] + kh, (wide - 1) * stride[1] + pad[2] + pad[3] + kw
    whole = np.zeros((n, sides[0] + 2 * kh, sides[1] + 2 * kw, count), np.float64 if x.dtype == np.float32 else np.int64)
    for i, j in np.ndindex(h, wide):
        at = i * stride[0] + pad[0] + kh, j * stride[1] + pad[2] + kw
        whole[:, at[0]:at[0] + kh, at[1]:at[1] + kw] += np.einsum("nc,oklc->nklo", x[:, i, j], w)
    return (whole[:, kh:kh + sides[0], kw:kw + sides[1]] + bias).astype(bias.dtype)


def turned():
    """Transposed convolutions: strides of each side, results that are cut or padded, codes."""
    nil, both = const("z", [0.0], "f32"), [("%z", "tensor<1xf32>")] * 2
    points, more = [const("a", [3], "i8"), const("b", [-4], "i8")], [("%a", "tensor<1xi8>"), ("%b", "tensor<1xi8>")]
    for stride, pad in (((1, 1), (0, 0, 0, 0)), ((2, 2), (0, 0, 0, 0)), ((2, 1), (-1, -1, 0, 0)), ((3, 2), (1, 0, 0, 2)), ((1, 1), (-1, 0, 0, -1))):
        x, w = R.standard_normal((2, 5, 4, 3)).astype(np.float32), R.standard_normal((7, 3, 2, 3)).astype(np.float32)
        bias = R.standard_normal(7).astype(np.float32)
        how = f"acc_type = {{}}, out_pad = array<i64: {', '.join(map(str, pad))}>, stride = array<i64: {stride[0]}, {stride[1]}>"
        of = f"tosa.transpose_conv2d, stride {stride[0]} by {stride[1]}, pad {pad}"
        yield plain("transpose_conv2d", [x, w, bias], turned_convolution(x, w, bias, stride, pad), how.format("f32"), near=2e-6, before=[nil], more=both, of=of)
        x, w = R.integers(-128, 128, x.shape).astype(np.int8), R.integers(-128, 128, w.shape).astype(np.int8)
        bias = R.integers(-500, 500, 7).astype(np.int32)
        want = turned_convolution(x.astype(np.int32) - 3, w.astype(np.int32) + 4, bias, stride, pad)
        yield plain("transpose_conv2d", [x, w, bias], want, how.format("i32"), before=points, more=more, of=of + ", of codes")


def biases():
    """Sums that begin with numbers that come at run time, or that another operator makes, and whose channels end inside a row of lanes."""
    how = "acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>"
    nil, both = const("z", [0.0], "f32"), [("%z", "tensor<1xf32>")] * 2
    x = R.standard_normal((1, 7, 8, 3)).astype(np.float32)
    for count in 1, 5, 31, 33, 67:
        w, bias = R.standard_normal((count, 2, 3, 3)).astype(np.float32), R.standard_normal(count).astype(np.float32)
        sums = np.einsum("nijklc,oklc->nijo", windows_of(x, (2, 3), (1, 1)), w)
        yield plain("conv2d", [x, w, bias], sums + bias, how, near=2e-6, before=[nil], more=both, of=f"tosa.conv2d, a bias of {count}")
        kind = f"tensor<{count}xf32>"
        twice = [nil, f'%twice = "tosa.add"(%arg2, %arg2) : ({kind}, {kind}) -> {kind}']
        made = plain("conv2d", [x, w, bias], sums + 2 * bias, how, near=2e-6, before=twice, more=both, of=f"tosa.conv2d, a made bias of {count}")
        made.lines[-1] = made.lines[-1].replace("%arg2", "%twice", 1)
        yield made
    a, b, c = R.standard_normal((6, 9)).astype(np.float32), R.standard_normal((9, 37)).astype(np.float32), R.standard_normal((6, 37)).astype(np.float32)
    lines = [f"%r = linalg.matmul ins(%arg0, %arg1 : {tensor(a)}, {tensor(b)}) outs(%arg2 : {tensor(c)}) -> {tensor(c)}"]
    yield Case([a, b, c], lines, a @ b + c, 2e-6, "linalg.matmul to a tensor")
    kernel = R.standard_normal((3, 2, 3, 5)).astype(np.float32)
    c = R.standard_normal((1, 5, 7, 5)).astype(np.float32)
    lines = [f"%r = linalg.conv_2d_nhwc_hwcf ins(%arg0, %arg1 : {tensor(x)}, {tensor(kernel)}) outs(%arg2 : {tensor(c)}) -> {tensor(c)}"]
    taken = windows_of(x, (3, 2), (1, 1))
    yield Case([x, kernel, c], lines, np.einsum("nijklc,klco->nijo", taken, kernel) + c, 2e-6, "linalg.conv_2d to a tensor")


def pools():
    x = R.standard_normal((1, 8, 7, 3)).astype(np.float32)
    how = "kernel = array<i64: 2, 3>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>"
    yield plain("max_pool2d", [x], windows_of(x, (2, 3), (2, 2)).max((3, 4)), how)
    x8 = R.integers(-128, 128, x.shape).astype(np.int8)
    yield plain("max_pool2d", [x8], windows_of(x8, (2, 3), (2, 2)).max((3, 4)), how, of="tosa.max_pool2d of i8")
    before, more = [const("z", [0.0], "f32")], [("%z", "tensor<1xf32>")] * 2
    yield plain("avg_pool2d", [x], windows_of(x, (2, 3), (2, 2)).mean((3, 4)), f"acc_type = f32, {how}", near=1e-6, before=before, more=more)
    how = "acc_type = i32, kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 1, 0, 1, 1>"
    padded = np.pad(x8.astype(np.int64) - 3, ((0, 0), (1, 0), (1, 1), (0, 0)))
    counted = np.pad(np.ones(x8.shape, np.int64), ((0, 0), (1, 0), (1, 1), (0, 0)))
    total, number = (windows_of(v, (3, 3), (2, 2)).sum((3, 4)) for v in (padded, counted))
    bits = np.vectorize(lambda v: 32 - (32 - int(v - 1).bit_length()))(number)  # the specification's reciprocal_scale
    scale = (((1 << 30) + 1) << bits) // number
    want = np.clip(((total * scale + (1 << (29 + bits))) >> (30 + bits)) + 2, -128, 127).astype(np.int8)
    points = [const("a", [3], "i8"), const("b", [2], "i8")]
    yield plain("avg_pool2d", [x8], want, how, before=points, more=[("%a", "tensor<1xi8>"), ("%b", "tensor<1xi8>")], of="tosa.avg_pool2d of codes")


def transforms():
    x, y = R.standard_normal((1, 4, 8)).astype(np.float32), R.standard_normal((1, 4, 8)).astype(np.float32)
    whole = np.fft.rfft2(x)
    for k, part in enumerate((whole.real, whole.imag)):
        out = tensor(part.astype(np.float32))
        lines = [f"%{'r' if not k else 'a'}, %{'r' if k else 'b'} = \"tosa.rfft2d\"(%arg0) : ({tensor(x)}) -> ({out}, {out})"]
        yield Case([x], lines, part.astype(np.float32), 1e-5, "tosa.rfft2d")
    for inverse in False, True:
        whole = np.fft.ifft2(x + 1j * y) * 32 if inverse else np.fft.fft2(x + 1j * y)
        out = tensor(x)
        lines = [f"%r, %b = \"tosa.fft2d\"(%arg0, %arg1) {{inverse = {str(inverse).lower()}}} : ({out}, {out}) -> ({out}, {out})"]
        yield Case([x, y], lines, whole.real.astype(np.float32), 1e-5, f"tosa.fft2d, {inverse}")


def resizes():
    x = R.standard_normal((1, 3, 4, 2)).astype(np.float32)
    numbers = [shape_of("a", (4, 2, 4, 2)), shape_of("b", (0, 0)), shape_of("c", (0, 0))]
    for mode in "NEAREST_NEIGHBOR", "BILINEAR":
        at = [np.arange(5) / 2, np.arange(7) / 2]
        if mode[0] == "N":
            rows, columns = (np.minimum(np.floor(p + 0.5).astype(int), n - 1) for p, n in zip(at, (3, 4)))
            want = x[:, rows][:, :, columns]
        else:
            low = [np.floor(p).astype(int) for p in at]
            high = [np.minimum(p + 1, n - 1) for p, n in zip(low, (3, 4))]
            d = [(p - q).astype(np.float32) for p, q in zip(at, low)]
            rows = x[:, low[0]] * (1 - d[0])[:, None, None] + x[:, high[0]] * d[0][:, None, None]
            want = rows[:, :, low[1]] * (1 - d[1])[:, None] + rows[:, :, high[1]] * d[1][:, None]
        yield plain("resize", [x], want.astype(np.float32), f"mode = #tosa.resize_mode<{mode}>", near=1e-6, before=[n for n, _ in numbers], more=[o for _, o in numbers], of=f"tosa.resize, {mode}")


def control(bench):
    """Branches and loops by data."""
    model = """func.func @main(%a: tensor<3xf32>, %b: tensor<i1>) -> tensor<3xf32> {
  %r = "tosa.cond_if"(%b, %a) ({
  ^bb0(%x: tensor<3xf32>):
    %n = "tosa.abs"(%x) : (tensor<3xf32>) -> tensor<3xf32>
    "tosa.yield"(%n) : (tensor<3xf32>) -> ()
  }, {
  ^bb0(%x: tensor<3xf32>):
    %n = "tosa.add"(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "tosa.yield"(%n) : (tensor<3xf32>) -> ()
  }) : (tensor<i1>, tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
"""
    x = np.float32([-1, 2, -3])
    for truth, want in (True, np.abs(x)), (False, 2 * x):
        bench.say(np.array_equal(bench.run(model, [x, np.array(truth)], 1)[0], want), f"tosa.cond_if, {truth}")
    model = """func.func @main(%a: tensor<i32>, %b: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
  %r:2 = "tosa.while_loop"(%a, %b) ({
  ^bb0(%i: tensor<i32>, %x: tensor<2xf32>):
    %n = "tosa.const"() {values = dense<5> : tensor<i32>} : () -> tensor<i32>
    %c = "tosa.greater"(%n, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tosa.yield"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %x: tensor<2xf32>):
    %o = "tosa.const"() {values = dense<1> : tensor<i32>} : () -> tensor<i32>
    %j = "tosa.add"(%i, %o) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %y = "tosa.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "tosa.yield"(%j, %y) : (tensor<i32>, tensor<2xf32>) -> ()
  }) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
  return %r#0, %r#1 : tensor<i32>, tensor<2xf32>
}
"""
    for start in 0, 3, 9:
        got = bench.run(model, [np.array(start, np.int32), np.float32([1, 3])], 2)
        turns = max(0, 5 - start)
        bench.say(got[0] == start + turns and np.array_equal(got[1], np.float32([1, 3]) * 2**turns), f"tosa.while_loop from {start}")


def refusals(bench):
    one = 'func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {\n  %r = {}\n  return %r : tensor<3xf32>\n}\n'
    custom = '"tosa.custom"(%a) {operator_name = "x", domain_name = "y", implementation_attrs = ""} : (tensor<3xf32>) -> tensor<3xf32>'
    bench.refuses("an operator without a meaning", one.replace("{}", custom, 1), "m.mlir:2:", "'tosa.custom' is not read")
    bench.refuses("no such operator", one.replace("{}", '"tosa.relu"(%a) : (tensor<3xf32>) -> tensor<3xf32>', 1), "m.mlir:2:", "tosa.relu")
    other = one.replace("{}", '"tosa.add"(%a, %a) : (tensor<3xf32>, tensor<3xf32>) -> tensor<4xf32>', 1).replace("return %r : tensor<3xf32>", "return %a : tensor<3xf32>")
    bench.refuses("shapes that do not fit", other, "m.mlir:2:")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = text.Bench(args.bin, folder, args.target)
        cases = [c for make in (elements, rescales, movement, reductions, products, pools, transforms, resizes) for c in make()]
        for part, model, inputs in together([*cases[:: args.every], *biases(), *turned()]):
            for case, got in zip(part, bench.run(model, inputs, len(part))):
                good = right(got, case)
                bench.say(good, case.name if good else f"{case.name}:\n{got}\nfor\n{case.want}")
        if args.every > 1:
            return bench.ended()
        control(bench)
        refusals(bench)
        rows = set(re.findall(r'^TOSA\("([\w.]+)"', ROWS.read_text(), re.M))
        used = {f"tosa.{n}" for n in re.findall(r"\btosa\.([a-z_0-9]+)", Path(__file__).read_text())}
        used |= {name for case in cases for name in re.findall(r"tosa\.[a-z_0-9]+", "\n".join(case.lines))}
        missing = sorted(rows - used)
        bench.say(not missing, f"every row has a case{': all but ' + ', '.join(missing) if missing else ''}")
        return bench.ended()


if __name__ == "__main__":
    sys.exit(main())
