"""Operators of StableHLO that are written out in others, at sizes and in forms that the suite has not, against NumPy: systems,
factors, transforms, scans, upper halves of products, codes; and what of them is refused.

    tests/stablehlo/programs/written_out.py --bin build/bin"""

import re
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench, text_of  # noqa: E402

ELEMENTS = {"bool": "i1", "float32": "f32", "float64": "f64", "complex64": "complex<f32>", "complex128": "complex<f64>", "int64": "i64", "uint64": "ui64",
            "int32": "i32", "int8": "i8"}


def kind_of(data, shape=None):
    return f"tensor<{''.join(f'{n}x' for n in (data.shape if shape is None else shape))}{ELEMENTS[data.dtype.name]}>"


def computed(bench, name, attributes, operands, result):
    """The operator on these operands, as an array like `result`."""
    kinds = [kind_of(x) for x in operands]
    names = ", ".join(f"%a{k}" for k in range(len(operands)))
    text = text_of(kinds, [f'%r = "{name}"({names}) {attributes} : ({", ".join(kinds)}) -> {kind_of(result)}'], kind_of(result))
    made = bench.run(text, *operands)
    return made


def close(bench, what, made, expected, by):
    away = float(np.abs(made - expected).max() / np.abs(expected).max())
    bench.say(made.shape == expected.shape and away <= by, f"{what}: {away:.2g} of the largest away, {by:g} allowed")


def drawn(rng, shape, dtype):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def systems(bench, rng):
    for dtype, rows in (("float32", 1), ("float64", 20), ("complex64", 5), ("complex128", 9)):
        by = 1e-4 if dtype in ("float32", "complex64") else 1e-12
        square = drawn(rng, (2, rows, rows), dtype) / rows + 2 * np.eye(rows, dtype=dtype)
        for left, lower, unit, how in ((1, 1, 0, "NO_TRANSPOSE"), (0, 1, 1, "TRANSPOSE"), (1, 0, 1, "ADJOINT"), (0, 0, 0, "ADJOINT")):
            b = drawn(rng, (2, rows, 3) if left else (2, 3, rows), dtype)
            a = np.tril(square) if lower else np.triu(square)
            if unit:
                a = a - a * np.eye(rows) + np.eye(rows)
            a = {"NO_TRANSPOSE": a, "TRANSPOSE": a.swapaxes(1, 2), "ADJOINT": a.swapaxes(1, 2).conj()}[how]
            x = np.linalg.solve(a, b) if left else np.linalg.solve(a.swapaxes(1, 2), b.swapaxes(1, 2)).swapaxes(1, 2)
            flags = ", ".join(f"{name} = {'true' if v else 'false'}" for name, v in (("left_side", left), ("lower", lower), ("unit_diagonal", unit)))
            attributes = f"<{{{flags}, transpose_a = #stablehlo<transpose {how}>}}>"
            made = computed(bench, "stablehlo.triangular_solve", attributes, [square, b], b)
            close(bench, f"systems of {rows} rows of {dtype}, {how}, {flags}", made, x, by)
        matrix = square @ square.swapaxes(1, 2).conj()
        for lower in (1, 0):
            factor = np.linalg.cholesky(matrix)
            read = np.tril(matrix) if lower else np.triu(matrix)  # the other triangle is not looked at
            made = computed(bench, "stablehlo.cholesky", f"<{{lower = {'true' if lower else 'false'}}}>", [read], matrix)
            close(bench, f"factors of {rows} rows of {dtype}, lower {lower}", made, factor if lower else factor.swapaxes(1, 2).conj(), by)


def transforms(bench, rng):
    judge_transforms(bench, rng, (("FFT", (7,), "complex64"), ("FFT", (6, 5), "complex128"), ("IFFT", (3, 4, 5), "complex128"),
                             ("RFFT", (9,), "float32"), ("RFFT", (4, 6), "float64"), ("IRFFT", (4, 7), "complex128"), ("IRFFT", (12,), "complex64"),
                             ("FFT", (128,), "complex64"), ("IFFT", (75, 66), "complex128"), ("FFT", (4800,), "complex64"), ("FFT", (67,), "complex64"),
                             ("RFFT", (3, 130), "float64"), ("RFFT", (99,), "float32"), ("IRFFT", (65, 96), "complex128"), ("IRFFT", (34,), "complex64")))


def transforms_of_two_passes(bench, rng):
    judge_transforms(bench, rng, (("RFFT", (128,), "float32"), ("RFFT", (66,), "float64"), ("RFFT", (6, 400), "float32"), ("RFFT", (4096,), "float64"),
                                  ("RFFT", (600, 256), "float32"), ("IRFFT", (130,), "complex128"), ("IRFFT", (5, 512), "complex64"), ("IRFFT", (100,), "complex64")))


def judge_transforms(bench, rng, cases):
    for how, lengths, dtype in cases:
        axes = list(range(1, 1 + len(lengths)))
        shape = [2, *lengths[:-1], lengths[-1] // 2 + 1 if how == "IRFFT" else lengths[-1]]
        x = drawn(rng, shape, dtype)
        numpy = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": lambda v, axes: np.fft.irfftn(v, lengths, axes)}
        wide = dtype in ("float64", "complex128")
        expected = numpy[how](x, axes=axes)
        expected = expected.astype({True: np.complex128, False: np.complex64}[wide] if np.iscomplexobj(expected) else np.float64 if wide else np.float32)
        attributes = f"<{{fft_length = array<i64: {', '.join(map(str, lengths))}>, fft_type = #stablehlo<fft_type {how}>}}>"
        made = computed(bench, "stablehlo.fft", attributes, [x], expected)
        close(bench, f"{how} of {lengths} of {dtype}", made, expected, 1e-13 if wide else 2e-6 * max(1, max(lengths) / 100) ** 0.5)


def halves(bench, rng):
    for dtype in ("int8", "int32", "int64", "uint64"):
        info = np.iinfo(dtype)
        x, y = (rng.integers(info.min, info.max, 500, dtype=dtype, endpoint=True) for _ in range(2))
        ends = np.array([info.min, info.max, 0, 1, info.max // 2], dtype)
        x, y = np.concatenate([x, np.repeat(ends, 5)]), np.concatenate([y, np.tile(ends, 5)])
        made = computed(bench, "chlo.mulhi", "", [x, y], x)
        exact = np.array([(int(a) * int(b)) >> info.bits for a, b in zip(x, y)], object)
        bench.say(all(int(m) == e for m, e in zip(made, exact)), f"upper halves of products of {dtype}")


def float8_numbers(bits, bias, has_infinity):
    """What the 256 codes are, of so many bits behind the point."""
    codes = np.arange(256)
    magnitude = codes & 0x7F
    exponent, part = magnitude >> bits, magnitude & ((1 << bits) - 1)
    value = np.where(exponent, ((1 << bits) + part) * 2.0 ** (exponent - bias - bits), part * 2.0 ** (1 - bias - bits))
    last = 0x7F >> bits << bits  # the largest exponent
    value = np.where(magnitude < (last if has_infinity else 0x7F), value, np.where(has_infinity & (magnitude == last), np.inf, np.nan))
    return np.where(codes & 0x80, -value, value).astype(np.float32)


def floats_of_8_bits(bench, _):
    """All codes as numbers, numbers as the codes nearest to them, ties to even; sums that are rounded in each step; a body's constant."""
    rng = np.random.default_rng(9)
    for name, bits, bias, has_infinity in (("f8E4M3FN", 3, 7, False), ("f8E5M2", 2, 15, True)):
        numbers = float8_numbers(bits, bias, has_infinity)
        many, whole = f"tensor<256x{name}>", "tensor<256xf32>"
        as_number = f'%r = "stablehlo.convert"(%q) : ({many}) -> {whole}'
        made = bench.run(text_of(["tensor<256xui8>"], [f'%q = "stablehlo.bitcast_convert"(%a0) : (tensor<256xui8>) -> {many}', as_number], whole), np.arange(256, dtype=np.uint8))
        bench.say(np.array_equal(made, numbers, equal_nan=True), f"codes of {name} as numbers")
        finite = np.sort(numbers[:128][np.isfinite(numbers[:128])].astype(np.float64))
        middles = (finite[1:] + finite[:-1]) / 2  # ties
        end = finite[-1] + (finite[-1] - finite[-2]) / 2
        x = np.concatenate([middles[:120], np.nextafter(np.float32(middles[:60]), np.float32(np.inf)), rng.standard_normal(60) * 10.0 ** rng.integers(-6, 3, 60), [end, -end * 1.01, np.inf, np.nan]])
        x = np.resize(x, 256).astype(np.float32)
        made = bench.run(text_of([whole], [f'%q = "stablehlo.convert"(%a0) : ({whole}) -> {many}', as_number], whole), x)

        def rounded(v):
            away = np.abs(finite[:, None] - np.abs(v.astype(np.float64)))
            places = np.where(away == away.min(0), np.arange(len(finite))[:, None] % 2, 2).argmin(0)  # codes go up with the numbers
            over = np.abs(v) >= end if has_infinity else np.abs(v) > end
            size = np.where(over, np.inf if has_infinity else np.nan, finite[places])
            return np.where(np.isnan(v), np.nan, np.copysign(size, v)).astype(np.float32)

        bench.say(np.array_equal(made, rounded(x), equal_nan=True), f"numbers as {name}")
        y, one = rounded(rng.standard_normal(256).astype(np.float32)), f"tensor<{name}>"
        ops = [f'%q = "stablehlo.convert"(%a0) : ({whole}) -> {many}', f'%z = "stablehlo.constant"() <{{value = dense<1.0> : {one}}}> : () -> {one}',
               f'%s = "stablehlo.reduce"(%q, %z) <{{dimensions = array<i64: 0>}}> ({{', f"^bb0(%x: {one}, %y: {one}):",
               f'%h = "stablehlo.constant"() <{{value = dense<0.5> : {one}}}> : () -> {one}', f'%m = "stablehlo.multiply"(%y, %h) : ({one}, {one}) -> {one}',
               f'%n = "stablehlo.add"(%x, %m) : ({one}, {one}) -> {one}', f'"stablehlo.return"(%n) : ({one}) -> ()', f"}}) : ({many}, {one}) -> {one}",
               f'%r = "stablehlo.convert"(%s) : ({one}) -> tensor<f32>']
        total = np.float32(1)
        for v in y:
            total = rounded(np.array([total + rounded(np.array([v / 2]))[0]]))[0]
        made = bench.run(text_of([whole], ops, "tensor<f32>"), y)
        bench.say(made == total, f"a sum of {name}: {made}, not {total}")


def scans(bench, rng):
    x, number = rng.integers(-9, 9, (3, 100)).astype(np.int32), "tensor<3xi32>"
    kind, start = kind_of(x), np.array([1, 2, 3], np.int32)
    body = f'({{^bb0(%s: {number}, %t: {number}): %u = "stablehlo.add"(%s, %t) : ({number}, {number}) -> {number} "stablehlo.return"(%u, %u) : ({number}, {number}) -> ()}})'
    segments = "operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>"
    for reverse in (False, True):
        ops = [f'%q:2 = "chlo.scan"(%a0, %a1) <{{dimension = 1 : i64, is_reverse = {str(reverse).lower()}, {segments}}}> {body} : ({kind}, {number}) -> ({kind}, {number})',
               f'%w = "stablehlo.broadcast_in_dim"(%q#1) <{{broadcast_dimensions = array<i64: 0>}}> : ({number}) -> {kind}',
               f'%r = "stablehlo.add"(%q#0, %w) : ({kind}, {kind}) -> {kind}']
        made = bench.run(text_of([kind, number], ops, kind), x, start)
        sums = (np.cumsum(x[:, ::-1], 1)[:, ::-1] if reverse else np.cumsum(x, 1)) + start[:, None]
        expected = sums + (sums[:, :1] if reverse else sums[:, -1:])
        bench.say(np.array_equal(made, expected), f"sums of 100 columns, reverse {reverse}")


def prefixes(bench, rng):
    """Windows of a whole dim: sums, products, largest and least ones so far, by blocks and blocks of blocks; what a window begins with
    may be no neutral number, and lies in it as often as it is padded."""
    combine = {"add": (np.cumsum, np.add, 0), "multiply": (np.cumprod, np.multiply, 1), "maximum": (np.maximum.accumulate, np.maximum, None),
               "minimum": (np.minimum.accumulate, np.minimum, None)}
    for shape, axis, dtype, name, reverse, other in (
            ((65,), 0, "float32", "add", False, 0), ((4, 1025), 1, "float64", "add", True, 0), ((3000, 3), 0, "int32", "add", False, 0),
            ((2, 100, 3), 1, "int64", "multiply", True, 0), ((2, 4096), 1, "float32", "maximum", False, 0), ((130, 2), 0, "float32", "minimum", True, 0),
            ((64, 2), 0, "float32", "add", False, 0), ((3, 200), 1, "int32", "maximum", True, 0), ((2, 90), 1, "float64", "multiply", False, 0),
            ((3, 100), 1, "int32", "add", False, 2), ((3, 100), 1, "float32", "maximum", False, 1), ((1, 2, 70, 1, 2), 2, "float32", "add", True, 0)):
        accumulate, by, neutral = combine[name]
        x = rng.integers(-1 if name == "multiply" else -9, 2 if name == "multiply" else 9, shape).astype(dtype)
        info = np.iinfo(dtype) if x.dtype.kind == "i" else None
        if neutral is None:
            neutral = (info.min if info else -np.inf) if name == "maximum" else (info.max if info else np.inf)
        start = neutral + other if np.isfinite(neutral) else (1 if other else neutral)
        text = str(start) if info else "0x" + np.array(start, dtype).view(f"u{x.dtype.itemsize}").item().to_bytes(x.dtype.itemsize, "big").hex().upper()
        kind, number, n = kind_of(x), f"tensor<{ELEMENTS[dtype]}>", shape[axis]
        window = [n if r == axis else 1 for r in range(len(shape))]
        pad = [[(0, n - 1) if reverse else (n - 1, 0)][0] if r == axis else (0, 0) for r in range(len(shape))]
        ops = [f'%s = "stablehlo.constant"() <{{value = dense<{text}> : {number}}}> : () -> {number}',
               f'%r = "stablehlo.reduce_window"(%a0, %s) <{{window_dimensions = array<i64: {", ".join(map(str, window))}>, padding = dense<'
               f'{[list(p) for p in pad]}> : tensor<{len(shape)}x2xi64>}}> ({{^bb0(%t: {number}, %u: {number}): %v = "stablehlo.{name}"(%t, %u) : '
               f'({number}, {number}) -> {number} "stablehlo.return"(%v) : ({number}) -> ()}}) : ({kind}, {number}) -> {kind}']
        turned = np.flip(x, axis) if reverse else x
        expected = accumulate(turned, axis, dtype=x.dtype) if accumulate in (np.cumsum, np.cumprod) else accumulate(turned, axis)
        if other:  # once for the window, and once for each place outside
            times = np.arange(n, 0, -1).reshape([n if r == axis else 1 for r in range(len(shape))])
            expected = expected + start * times if name == "add" else by(expected, np.array(start, dtype))
        expected = (np.flip(expected, axis) if reverse else expected).astype(dtype)
        made = bench.run(text_of([kind], ops, kind), x)
        bench.say(np.array_equal(made, expected), f"{name} of {shape} along {axis}, {dtype}, reverse {reverse}, from {start}")


def windows(bench, rng):
    """Largest and least elements under windows of several dims, past their edges too, NaN and zeros of either sign among them."""
    for shape, window, pad, dtype, name, start in (
            ((40, 37), (7, 6), ((3, 3), (2, 3)), "float32", "maximum", -np.inf), ((3, 30, 33), (1, 7, 6), ((0, 0), (3, 0), (0, 2)), "float32", "minimum", np.inf),
            ((9, 20, 21), (2, 4, 5), ((1, 0), (0, 0), (1, 3)), "float64", "maximum", 0.5), ((20, 19), (6, 6), ((0, 0), (5, 1)), "int32", "minimum", 3)):
        x = rng.integers(-9, 9, shape).astype(dtype)
        if x.dtype.kind == "f":
            x.flat[::7], x.flat[3::11], x.flat[5] = -0.0, 0.0, np.nan
        bits = str(start) if x.dtype.kind == "i" else "0x" + np.array(start, dtype).view(f"u{x.dtype.itemsize}").item().to_bytes(x.dtype.itemsize, "big").hex().upper()
        by = np.maximum if name == "maximum" else np.minimum
        wide = np.pad(x, pad, constant_values=np.array(start, dtype))
        views = np.lib.stride_tricks.sliding_window_view(wide, window)
        axes = tuple(range(x.ndim, 2 * x.ndim))
        expected = by(by.reduce(views, axes), np.array(start, dtype))
        zero = expected == 0  # -0 < +0, which NumPy leaves open
        signs = (np.signbit(views) if x.dtype.kind == "f" else np.zeros(views.shape, bool)) & (views == 0)
        plus = ((views == 0) & ~signs).any(axes)
        minus = signs.any(axes)
        number, kind = f"tensor<{ELEMENTS[dtype]}>", kind_of(x)
        ops = [f'%s = "stablehlo.constant"() <{{value = dense<{bits}> : {number}}}> : () -> {number}',
               f'%r = "stablehlo.reduce_window"(%a0, %s) <{{window_dimensions = array<i64: {", ".join(map(str, window))}>, padding = dense<'
               f'{[list(p) for p in pad]}> : tensor<{x.ndim}x2xi64>}}> ({{^bb0(%t: {number}, %u: {number}): %v = "stablehlo.{name}"(%t, %u) : '
               f'({number}, {number}) -> {number} "stablehlo.return"(%v) : ({number}) -> ()}}) : ({kind}, {number}) -> {kind_of(expected)}']
        made = bench.run(text_of([kind], ops, kind_of(expected)), x)
        good = np.array_equal(made, expected, equal_nan=x.dtype.kind == "f")
        if x.dtype.kind == "f":
            good &= np.array_equal(np.signbit(made)[zero], (~plus if name == "maximum" else minus)[zero])
        bench.say(good, f"{name} under windows of {window} of {shape}, {dtype}, from {start}")


def bodies(bench, rng):
    """Windows of a whole dim by a body of several operations: one that is a monoid, by blocks; one that is none, in the order of elements."""
    steps = {"logaddexp": (["maximum(%t, %u)", "subtract(%t, %u)", "abs(%b)", "negate(%c)", "exponential(%d)", "log_plus_one(%e)", "add(%a, %f)",
                            "compare(%b, %b)", "add(%t, %u)", "select(%h, %i, %g)"],
                           np.logaddexp, -np.inf),
             "mean": (["add(%t, %u)", "subtract(%t, %u)", "subtract(%a, %b)", "add(%c, %a)", "subtract(%d, %t)", "subtract(%e, %u)", "add(%b, %f)"],
                      lambda t, u: (t - u) + (((t + u) - (t - u)) + (t + u) - t - u), 0)}
    for name, shape, axis, reverse in (("logaddexp", (3, 130), 1, False), ("logaddexp", (70, 2, 3), 0, True), ("logaddexp", (2, 2100), 1, True), ("mean", (2, 70), 1, False)):
        lines, by, start = steps[name]
        x = rng.standard_normal(shape).astype(np.float32)
        kind, number, n = kind_of(x), "tensor<f32>", shape[axis]
        typed = []
        for k, line in enumerate(lines):
            op, values = re.fullmatch(r"(\w+)\((.*)\)", line).groups()
            types = [number] * (values.count(",") + 1)
            more, to = (' <{comparison_direction = #stablehlo<comparison_direction NE>}>', "tensor<i1>") if op == "compare" else ("", number)
            types[0] = "tensor<i1>" if op == "select" else number
            typed.append(f'%{"abcdefghij"[k]} = "stablehlo.{op}"({values}){more} : ({", ".join(types)}) -> {to}')
        last = "abcdefghij"[len(lines) - 1]
        pad = [[0, 0] if r != axis else [0, n - 1] if reverse else [n - 1, 0] for r in range(len(shape))]
        window = [n if r == axis else 1 for r in range(len(shape))]
        text = "0x" + np.array(start, np.float32).view("u4").item().to_bytes(4, "big").hex().upper()
        ops = [f'%s = "stablehlo.constant"() <{{value = dense<{text}> : {number}}}> : () -> {number}',
               f'%r = "stablehlo.reduce_window"(%a0, %s) <{{window_dimensions = array<i64: {", ".join(map(str, window))}>, padding = dense<{pad}> : '
               f'tensor<{len(shape)}x2xi64>}}> ({{^bb0(%t: {number}, %u: {number}): {" ".join(typed)} "stablehlo.return"(%{last}) : ({number}) -> ()}}) : '
               f'({kind}, {number}) -> {kind}']
        made = bench.run(text_of([kind], ops, kind), x)
        rows = np.moveaxis(np.flip(x, axis) if reverse else x, axis, 0).astype(np.float64)
        if name == "logaddexp":
            expected = by.accumulate(rows, 0)
        else:  # every window begins with the number, as often as it has places outside
            expected = np.stack([fold(by, start, [np.full(rows.shape[1:], start)] * (n - 1 - k) + list(rows[: k + 1])) for k in range(n)])
        expected = np.moveaxis(expected, 0, axis)
        expected = np.flip(expected, axis) if reverse else expected
        bench.say(np.allclose(made, expected, rtol=1e-5, atol=1e-6), f"{name} of {shape} along {axis}, reverse {reverse}")


def fold(by, first, rows):
    for row in rows:
        first = by(first, row)
    return first


def codes(bench, rng):
    """Scales along an axis, and a product of quantised tensors as numbers say it."""
    x = rng.uniform(-3, 3, (4, 3)).astype(np.float32)
    scales, zeros = np.array([0.1, 0.02, 0.3], np.float32), np.array([-3, 5, 0])
    by_axis = "tensor<4x3x!quant.uniform<i8:f32:1, {0.1:-3, 0.02:5, 0.3}>>"
    ops = [f'%q = "stablehlo.uniform_quantize"(%a0) : (tensor<4x3xf32>) -> {by_axis}',
           f'%r = "stablehlo.uniform_dequantize"(%q) : ({by_axis}) -> tensor<4x3xf32>']
    made = bench.run(text_of(["tensor<4x3xf32>"], ops, "tensor<4x3xf32>"), x)
    expected = (np.clip(np.rint(x / scales) + zeros, -128, 127) - zeros).astype(np.float32) * scales
    bench.say(np.array_equal(made, expected), "codes by scales along an axis")
    y = rng.uniform(-1, 1, (3, 5)).astype(np.float32)
    left, right, out = (f"!quant.uniform<i8{text}>" for text in (":f32, 0.025:3", "<-127:127>:f32, 0.01", ":f32, 0.05:-7"))
    ops = [f'%p = "stablehlo.uniform_quantize"(%a0) : (tensor<4x3xf32>) -> tensor<4x3x{left}>',
           f'%q = "stablehlo.uniform_quantize"(%a1) : (tensor<3x5xf32>) -> tensor<3x5x{right}>',
           f'%s = "stablehlo.dot_general"(%p, %q) <{{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}}> : (tensor<4x3x{left}>, tensor<3x5x{right}>) -> tensor<4x5x{out}>',
           f'%r = "stablehlo.bitcast_convert"(%s) : (tensor<4x5x{out}>) -> tensor<4x5xi8>']
    made = bench.run(text_of(["tensor<4x3xf32>", "tensor<3x5xf32>"], ops, "tensor<4x5xi8>"), x, y)
    p, q = np.clip(np.rint(x / np.float32(0.025)) + 3, -128, 127) - 3, np.clip(np.rint(y / np.float32(0.01)), -127, 127)
    expected = np.clip(np.rint(p @ q * 0.025 * 0.01 / 0.05) - 7, -128, 127).astype(np.int8)
    bench.say(np.array_equal(made, expected), "a product of quantised tensors")


def scatters(bench, rng):
    """Scatter at places that the model says: windows over each other and over edges, in their order, and one that sets."""
    kind, ops = "tensor<5x7x3xi32>", ("add", "subtract", "maximum", "")
    for turn, combine in enumerate(ops * 2):
        x = rng.integers(-99, 99, (5, 7, 3), dtype=np.int32)
        at = rng.integers(-3, 8, (2, 2, 2)) if turn < len(ops) else np.array([[[0, 1], [1, 2]], [[4, 6], [0, 1]]])
        u = rng.integers(-99, 99, (2, 3, 2, 2), dtype=np.int32)
        expected = x.copy()
        for k, m, i, j in np.ndindex(2, 2, 3, 2):
            row, column, new = at[k, m, 0] + i, at[k, m, 1] + j, u[k, i, m, j]
            if 0 <= row < 5 and 0 <= column < 7:
                old = expected[row, column, 2 * k]
                expected[row, column, 2 * k] = {"add": old + new, "subtract": new - old, "maximum": max(old, new), "": new}[combine]
        body = f'%c = "stablehlo.{combine}"(%new, %old) : (tensor<i32>, tensor<i32>) -> tensor<i32>' if combine else ""
        places = np.concatenate([at, np.broadcast_to(2 * np.arange(2)[:, None, None], (2, 2, 1))], 2)
        numbers = "update_window_dims = [1, 3], inserted_window_dims = [2], scatter_dims_to_operand_dims = [0, 1, 2], index_vector_dim = 2"
        lines = [f'%p = "stablehlo.constant"() <{{value = dense<{places.tolist()}> : tensor<2x2x3xi64>}}> : () -> tensor<2x2x3xi64>',
                 f'%r = "stablehlo.scatter"(%a0, %p, %a1) <{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}> ({{',
                 "^bb0(%old: tensor<i32>, %new: tensor<i32>):", body, f'"stablehlo.return"({"%c" if combine else "%new"}) : (tensor<i32>) -> ()',
                 f"}}) : ({kind}, tensor<2x2x3xi64>, tensor<2x3x2x2xi32>) -> {kind}"]
        made = bench.run(text_of([kind, "tensor<2x3x2x2xi32>"], lines, kind), x, u)
        bench.say(np.array_equal(made, expected), f"scatter by {combine or 'the updates alone'} at {places.tolist()}")


def scatters_of_several(bench, _):
    """Products of complex numbers, and operands that meet in the body: at places that come at run time, some outside or twice, and
    at constants."""
    rng, at = np.random.default_rng(8), np.array([[2], [-1], [0], [2], [9], [4]], np.int32)
    numbers = "<{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}>"
    constant = f'%p = "stablehlo.constant"() <{{value = dense<{at.tolist()}> : tensor<6x1xi32>}}> : () -> tensor<6x1xi32>'
    for element, real in (("f32", np.float32), ("f64", np.float64)):
        one, kind, part = (f"tensor<{shape}complex<{element}>>" for shape in ("", "5x3x", "6x3x"))
        x, u = (rng.standard_normal((n, 3, 2)).astype(real) for n in (5, 6))
        want = x.copy().view(np.complex64 if real is np.float32 else np.complex128)[..., 0]
        for k, row in enumerate(at[:, 0]):
            if 0 <= row < 5:
                want[row] *= u.view(want.dtype)[k, :, 0]
        for places, lines, inputs in (("%a2", [], (x, u, at)), ("%p", [constant], (x, u))):
            ops = [*lines, f'%r = "stablehlo.scatter"(%a0, {places}, %a1) {numbers} ({{', f"^bb0(%old: {one}, %new: {one}):",
                   f'%c = "stablehlo.multiply"(%old, %new) : ({one}, {one}) -> {one}', f'"stablehlo.return"(%c) : ({one}) -> ()',
                   f"}}) : ({kind}, tensor<6x1xi32>, {part}) -> {kind}"]
            made = bench.run(text_of([kind, part, "tensor<6x1xi32>"][: len(inputs)], ops, kind), *inputs)
            bench.say(np.allclose(made.view(want.dtype).reshape(want.shape), want, 1e-5, 1e-6), f"products of complex<{element}> scattered at {places}")
    x, u = rng.standard_normal((5, 3)).astype(np.float32), rng.standard_normal((6, 3)).astype(np.float32)
    y, v = rng.integers(0, 9, (5, 3), np.int32), rng.integers(10, 99, (6, 3), np.int32)
    ops = [f'%q:2 = "stablehlo.scatter"(%a0, %a1, %a4, %a2, %a3) {numbers} ({{', "^bb0(%x: tensor<f32>, %y: tensor<i32>, %u: tensor<f32>, %v: tensor<i32>):",
           '%l = "stablehlo.compare"(%x, %u) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>',
           *(f'%{r} = "stablehlo.select"(%l, %{b}, %{a}) : (tensor<i1>, tensor<{e}>, tensor<{e}>) -> tensor<{e}>' for r, a, b, e in (("m", "x", "u", "f32"), ("n", "y", "v", "i32"))),
           '"stablehlo.return"(%m, %n) : (tensor<f32>, tensor<i32>) -> ()',
           "}) : (tensor<5x3xf32>, tensor<5x3xi32>, tensor<6x1xi32>, tensor<6x3xf32>, tensor<6x3xi32>) -> (tensor<5x3xf32>, tensor<5x3xi32>)",
           '%b = "stablehlo.convert"(%q#1) : (tensor<5x3xi32>) -> tensor<5x3xf32>', '%r = "stablehlo.add"(%q#0, %b) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>']
    made = bench.run(text_of(["tensor<5x3xf32>", "tensor<5x3xi32>", "tensor<6x3xf32>", "tensor<6x3xi32>", "tensor<6x1xi32>"], ops, "tensor<5x3xf32>"), x, y, u, v, at)
    for k, row in enumerate(at[:, 0]):
        if 0 <= row < 5:
            larger = x[row] < u[k]
            x[row], y[row] = np.where(larger, u[k], x[row]), np.where(larger, v[k], y[row])
    bench.say(np.array_equal(made, x + y.astype(np.float32)), "the largest, and which it is, scattered together")


def powers(bench, rng):
    """Integers' powers, which wrap; below 0 what is left of 1 / x^-z."""
    for element, dtype in (("i32", np.int32), ("i64", np.int64), ("ui8", np.uint8)):
        least, bits = int(np.iinfo(dtype).min), 8 * np.dtype(dtype).itemsize
        x, z = rng.integers(max(least, -9), 9, (5, 40)), rng.integers(max(least, -4), 70, (5, 40))
        x[:2], x[2, :20] = 1 if least == 0 else -1, 0
        kind = f"tensor<5x40x{element}>"
        made = bench.run(text_of([kind, kind], [f'%r = "stablehlo.power"(%a0, %a1) : ({kind}, {kind}) -> {kind}'], kind), x.astype(dtype), z.astype(dtype))
        whole = [int(a) ** int(b) if b >= 0 else int(a) ** (int(b) % 2) if abs(a) == 1 else 0 for a, b in zip(x.flat, z.flat)]
        expected = np.array([v % 2**bits - (2**bits if least and v % 2**bits >= 2 ** (bits - 1) else 0) for v in whole], dtype).reshape(x.shape)
        bench.say(np.array_equal(made, expected), f"powers of {element}")


def refused(bench):
    small, matrix = "tensor<4x3xf32>", "tensor<65x65xf32>"
    for what, kinds, op, result, word in (
        ("more rows than are written out", [matrix], '%r = "stablehlo.cholesky"(%a0) <{lower = true}> : (' + matrix + ") -> " + matrix, matrix, "of more than 64 rows"),
        ("a matrix that is not square", [small], f'%r = "stablehlo.cholesky"(%a0) : ({small}) -> {small}', small, "square matrices"),
        ("a length that is not there", [small], f'%r = "stablehlo.fft"(%a0) <{{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type RFFT>}}> : ({small}) -> tensor<4x2xcomplex<f32>>', "tensor<4x2xcomplex<f32>>", "lengths that do not fit"),
        ("scales of another number", [small], f'%q = "stablehlo.uniform_quantize"(%a0) : ({small}) -> tensor<4x3x!quant.uniform<i8:f32:1, {{0.1, 0.2}}>> %r = "stablehlo.uniform_dequantize"(%q) : (tensor<4x3x!quant.uniform<i8:f32:1, {{0.1, 0.2}}>>) -> {small}', small, "scales that do not fit its shape"),
        ("codes of another type", [small], f'%q = "stablehlo.uniform_quantize"(%a0) : ({small}) -> tensor<4x3x!quant.uniform<i4:f32, 0.1>> %r = "stablehlo.uniform_dequantize"(%q) : (tensor<4x3x!quant.uniform<i4:f32, 0.1>>) -> {small}', small, "codes of another type than i8, u8, i16 and i32"),
        ("an element that a tuple has not", [small], f'%q = "stablehlo.tuple"(%a0) : ({small}) -> tuple<{small}> %r = "stablehlo.get_tuple_element"(%q) <{{index = 1 : i32}}> : (tuple<{small}>) -> {small}', small, "of a tuple that no stablehlo.tuple makes"),
    ):
        bench.refuses(what, text_of(kinds, [op], result), word, "PB2110")


def all_parts(bench):
    rng = np.random.default_rng(7)
    for part in (systems, transforms, halves, scans, codes, scatters, scatters_of_several, floats_of_8_bits, prefixes, bodies, windows, transforms_of_two_passes, powers):
        part(bench, rng)


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, all_parts, refused))
