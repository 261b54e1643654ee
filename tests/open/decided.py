"""What extents decide while an ONNX model is read: where slices end, tables, windows, comparisons. One engine each for all of
several sizes, among them those where it is decided otherwise than for large ones, against ONNX Runtime.

    tests/open/decided.py --bin build/bin [--only TEXT]"""

import random
import sys

from by_runtime import Opened, model_of  # first: it skips where a package is missing
import numpy as np
from run import judge_all

SIZES = 1, 2, 3, 5, 7, 12, 30
END = 2**40


def floats(shape, turn):
    return np.random.default_rng(turn).standard_normal(shape).astype(np.float32)


def shapes_of(*dims):
    """By size: each dim that is text is that many more or less than it: "n", "n+1", "2n"."""
    return lambda n: tuple(d if isinstance(d, int) else eval(d.replace("2n", "2*n"), {"n": n}) for d in dims)


def slices():
    boxes = [(0, 3, 1), (2, 5, 1), (3, END, 1), (0, -3, 1), (-3, END, 1), (5, -1, 1), (2, END, 2), (0, 10, 2), (-5, -2, 1), (1, -1, 1),
             (0, 10, 3), (4, 40, 1), (-1, -END, -1), (7, 2, -1), (-2, -6, -1), (10, -END, -3), (-3, -END, -1)]
    for start, end, step in boxes:
        yield (f"slice {start}:{end}:{step}".replace(str(END), ""), f"""g (float[N, 4] x) => (float[M, 4] y)
            <int64[1] a = {{{start}}}, int64[1] b = {{{end}}}, int64[1] c = {{0}}, int64[1] s = {{{step}}}> {{ y = Slice(x, a, b, c, s) }}""",
               {"x": shapes_of("n", 4)})
    for start, end, step in ((-1, 4, 1), (-1, 3, -1), (4, -1, 1)):  # elements for small ones alone: or refused, never fewer
        yield (f"slice {start}:{end}:{step}, or a refusal", f"""g (float[N, 4] x) => (float[M, 4] y)
            <int64[1] a = {{{start}}}, int64[1] b = {{{end}}}, int64[1] c = {{0}}, int64[1] s = {{{step}}}> {{ y = Slice(x, a, b, c, s) }}""", {"x": shapes_of("n", 4)})
    for start, end in ((-4, 2), (-1, -END), (-END, -END), (-3, -1)):  # of a tensor of no elements none: or a refusal, though nothing of it is read
        yield (f"how many a slice {start}:{end}:-1 takes, or a refusal".replace(str(END), ""), f"""g (float[N, 2] x) => (int64[2] y)
            <int64[1] a = {{{start}}}, int64[1] b = {{{end}}}, int64[1] c = {{0}}, int64[1] s = {{-1}}> {{ t = Slice(x, a, b, c, s) y = Shape(t) }}""", {"x": shapes_of("n-1", 2)})
    yield ("slices and what is made of them", """g (float[N, 4] x) => (float[M, 4] y, float[1, 4] z)
        <int64[1] a = {2}, int64[1] b = {10}, int64[1] c = {0}> { t = Slice(x, a, b, c) y = Relu(t) z = ReduceSum(t, c) }""", {"x": shapes_of("n", 4)})
    yield ("a smaller one of two", """g (float[N, 4] x) => (float[M, 4] y) <int64[1] c = {0}, int64[1] k = {8}>
        { s = Shape(x) n = Gather(s, c) m = Min(n, k) y = Slice(x, c, m, c) }""", {"x": shapes_of("n", 4)})
    yield ("a larger one of two", """g (float[N, 4] x) => (float[M, 4] y) <int64[1] c = {0}, int64[1] k = {8}, int64[1] four = {4}>
        { s = Shape(x) n = Gather(s, c) m = Max(n, k) t = Concat<axis = 0>(m, four) o = ConstantOfShape(t) y = Relu(o) }""", {"x": shapes_of("n", 4)})
    yield ("half of what is below 0, or a refusal", """g (float[N, 4] x) => (float[M] y) <int64[1] c = {0}, int64[1] two = {2}, int64[1] nine = {9}, int64[1] ten = {10}>
        { s = Shape(x) n = Gather(s, c) d = Sub(n, nine) h = Div(d, two) e = Add(h, ten) o = ConstantOfShape(e) y = Relu(o) }""", {"x": shapes_of("n", 4)})
    yield ("halves", """g (float[N, 4] x) => (float[M, 4] y, float[K, 4] z) <int64[1] c = {0}, int64[1] two = {2}, int64[1] e = {9223372036854775807}>
        { s = Shape(x) n = Gather(s, c) h = Div(n, two) y = Slice(x, c, h, c) z = Slice(x, h, e, c) }""", {"x": shapes_of("n", 4)})


def many():
    """More than a few of all that is counted: slices whose bounds extents decide, names of dims."""
    draw = random.Random(1)
    bounds, parts = [], []
    for k in range(100):
        start = draw.choice([draw.randrange(20), -draw.randrange(10, 20)])
        end = draw.choice([draw.randrange(21, 60), -draw.randrange(1, 9), END] if start >= 0 else [-draw.randrange(1, 9), END])
        bounds.append(f"int64[1] a{k} = {{{start}}}, int64[1] b{k} = {{{end}}}")
        parts.append(f"s{k} = Slice(x, a{k}, b{k}, c)")
    yield ("a hundred slices", f"""g (float[N, 4] x) => (float[M, 4] y) <int64[1] c = {{0}}, {", ".join(bounds)}>
        {{ {" ".join(parts)} t = Concat<axis = 0>({", ".join(f"s{k}" for k in range(100))}) y = Relu(t) }}""", {"x": shapes_of("n", 4)})
    yield ("a slice for each length", f"""g (float[N, 4] x) => (float[M, 4] y) <int64[1] c = {{0}}, {", ".join(f"int64[1] b{k} = {{{k + 2}}}" for k in range(60))}>
        {{ {" ".join(f"s{k} = Slice(x, c, b{k}, c)" for k in range(60))} y = Concat<axis = 0>({", ".join(f"s{k}" for k in range(60))}) }}""", {"x": shapes_of("n", 4)})
    yield ("as many open dims as there may be", f"""g ({", ".join(f"float[d{k}, 3] x{k}" for k in range(64))}) => (float[M, 3] y)
        {{ t = Concat<axis = 0>({", ".join(f"x{k}" for k in range(64))}) y = Relu(t) }}""", {f"x{k}": shapes_of(f"n+{k % 5}", 3) for k in range(64)})


def windows():
    for kernel, stride in ((2, 2), (3, 2), (3, 3), (4, 3), (5, 2), (7, 4)):
        for mode in ("SAME_UPPER", "SAME_LOWER"):
            yield (f"Conv {kernel} {stride} {mode}", f"""g (float[1, 2, N, M] x) => (float[1, 3, A, B] y) {{ o = Constant<value_ints = [3, 2, {kernel}, {kernel}]>()
                w = ConstantOfShape<value = float[1] {{0.5}}>(o)
                y = Conv<auto_pad = "{mode}", strides = [{stride}, {stride}], kernel_shape = [{kernel}, {kernel}]>(x, w) }}""", {"x": shapes_of(1, 2, "n", "n+1")})
    yield ("Conv over one dim", """g (float[1, 2, N] x) => (float[1, 3, A] y) { o = Constant<value_ints = [3, 2, 3]>()
        w = ConstantOfShape<value = float[1] {0.5}>(o) y = Conv<auto_pad = "SAME_LOWER", strides = [2], kernel_shape = [3]>(x, w) }""", {"x": shapes_of(1, 2, "n")})
    for mode in ("SAME_UPPER", "SAME_LOWER"):
        yield (f"MaxPool {mode}", f"""g (float[1, 2, N, M] x) => (float[1, 2, A, B] y)
            {{ y = MaxPool<auto_pad = "{mode}", strides = [2, 2], kernel_shape = [3, 3]>(x) }}""", {"x": shapes_of(1, 2, "n", "n+1")})
        yield (f"Conv over three dims {mode}", f"""g (float[1, 2, N, M, K] x) => (float[1, 3, A, B, C] y) {{ o = Constant<value_ints = [3, 2, 2, 3, 3]>()
            w = ConstantOfShape<value = float[1] {{0.5}}>(o)
            y = Conv<auto_pad = "{mode}", strides = [3, 2, 4], kernel_shape = [2, 3, 3]>(x, w) }}""", {"x": shapes_of(1, 2, "n", "n+1", "n+2")})
        yield (f"MaxPool with places {mode}", f"""g (float[1, 2, N, M] x) => (float[1, 2, A, B] y, int64[1, 2, A, B] i)
            {{ y, i = MaxPool<auto_pad = "{mode}", strides = [2, 2], kernel_shape = [3, 3]>(x) }}""", {"x": shapes_of(1, 2, "n", "n+1")})
    for said in ('auto_pad = "SAME_UPPER", ', 'auto_pad = "SAME_LOWER", ', "pads = [1, 0, 1, 1], ", "pads = [1, 1, 1, 1], count_include_pad = 1, ", "ceil_mode = 1, ",
                 "pads = [1, 0, 0, 1], ceil_mode = 1, ", "pads = [1, 1, 1, 1], ceil_mode = 1, count_include_pad = 1, "):
        line = said.replace("1, 0, 1, 1", "1, 0").replace("1, 0, 0, 1", "0, 1").replace("1, 1, 1, 1", "1, 1")
        for stride in (1, 2, 3):
            yield (f"AveragePool {said}{stride}", f"""g (float[1, 2, N, M] x) => (float[1, 2, A, B] y)
                {{ y = AveragePool<{said}strides = [{stride}, {stride}], kernel_shape = [3, 3]>(x) }}""", {"x": shapes_of(1, 2, "n+2", "n+3")})
        yield (f"AveragePool over one dim {line}", f"g (float[1, 2, N] x) => (float[1, 2, A] y) {{ y = AveragePool<{line}strides = [2], kernel_shape = [3]>(x) }}",
               {"x": shapes_of(1, 2, "n+2")})
    yield ("LpPool", "g (float[1, 2, N] x) => (float[1, 2, A] y) { y = LpPool<pads = [1, 1], strides = [2], kernel_shape = [3]>(x) }", {"x": shapes_of(1, 2, "n+2")})
    yield ("MaxPool to the ceiling", """g (float[1, 2, N, M] x) => (float[1, 2, A, B] y)
        { y = MaxPool<ceil_mode = 1, strides = [2, 2], kernel_shape = [3, 3]>(x) }""", {"x": shapes_of(1, 2, "n+2", "n+3")})


def tables():
    for upper in (0, 1):
        yield (f"Trilu {upper}", f"g (float[N, M] x) => (float[N, M] y) {{ y = Trilu<upper = {upper}>(x) }}", {"x": shapes_of("n", "n+2")})
        yield (f"Trilu {upper} from a diagonal on", f"g (float[N, M] x) => (float[N, M] y) <int64 k = {{-1}}> {{ y = Trilu<upper = {upper}>(x, k) }}",
               {"x": shapes_of("n", "n+2")})
        yield (f"CumSum reverse {upper}", f"g (float[N, 3] x) => (float[N, 3] y) <int64 a = {{0}}> {{ y = CumSum<reverse = {upper}>(x, a) }}", {"x": shapes_of("n", 3)})
        yield (f"CumSum exclusive {upper}", f"g (float[3, N] x) => (float[3, N] y) <int64 a = {{1}}> {{ y = CumSum<exclusive = {upper}>(x, a) }}",
               {"x": shapes_of(3, "n")})
        yield (f"TopK {upper}", f"g (float[N, 3] x) => (float[2, 3] y, int64[2, 3] i) <int64[1] k = {{2}}> {{ y, i = TopK<axis = 0, largest = {upper}>(x, k) }}",
               {"x": shapes_of("n+1", 3)})
    yield ("CenterCropPad", "g (float[N, M] x) => (float[10, 7] y) <int64[2] s = {10, 7}> { y = CenterCropPad(x, s) }", {"x": shapes_of("n", "n+3")})
    yield ("CenterCropPad of one axis", "g (float[N, M, 3] x) => (float[N, 9, 3] y) <int64[1] s = {9}> { y = CenterCropPad<axes = [1]>(x, s) }",
           {"x": shapes_of("n", "n+1", 3)})
    yield ("CenterCropPad to another's size", "g (float[N, M] x, float[P, Q] z) => (float[P, Q] y) { s = Shape(z) t = CenterCropPad(x, s) y = Add(t, z) }",
           {"x": shapes_of("n", "n+3"), "z": shapes_of("2n", 5)})
    yield ("Trilu by Shape", """g (float[N, 3] x) => (float[N, N] y) { s = Shape<start = 0, end = 1>(x) t = Concat<axis = 0>(s, s)
        o = ConstantOfShape<value = float[1] {1.0}>(t) y = Trilu<upper = 0>(o) }""", {"x": shapes_of("n", 3)})
    yield ("a diagonal by Shape", """g (float[N, M] x) => (float[N, M] y) { s = Shape<start = 0, end = 1>(x) k = Squeeze(s) y = Trilu(x, k) }""",
           {"x": shapes_of("n", "n+9")})
    yield ("a causal mask", """g (float[N, N] x) => (float[N, N] y) { s = Shape(x) o = ConstantOfShape<value = float[1] {-1000.0}>(s)
        t = Trilu<upper = 1>(o) y = Add(x, t) }""", {"x": shapes_of("n", "n")})
    yield ("TopK of all", "g (float[N] x) => (float[N] y, int64[N] i) { k = Shape(x) y, i = TopK<axis = 0>(x, k) }", {"x": shapes_of("n")})
    for mode in ("nearest", "linear", "cubic"):
        how = f'mode = "{mode}", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"'
        yield (f"Resize {mode} to another's size", f"""g (float[1, 2, N, M] x, float[1, 2, P, Q] z) => (float[1, 2, P, Q] y)
            {{ s = Shape(z) t = Resize<{how}>(x, , , s) y = Add(t, z) }}""", {"x": shapes_of(1, 2, "n", "n+1"), "z": shapes_of(1, 2, "2n", "n+3")})
        yield (f"Resize {mode} by 2", f"""g (float[1, 2, N, M] x) => (float[1, 2, P, Q] y) <float[4] s = {{1.0, 1.0, 2.0, 2.0}}>
            {{ y = Resize<{how}>(x, , s) }}""", {"x": shapes_of(1, 2, "n", "n+1")})
        yield (f"Resize {mode} by a half", f"""g (float[B, 2, N, M] x) => (float[B, 2, P, Q] y) <float[4] s = {{1.0, 1.0, 0.5, 0.5}}>
            {{ y = Resize<{how}>(x, , s) }}""", {"x": shapes_of("n", 2, "n+1", "n+2")})


def choices():
    found = "nz = NonZero(x) s = Shape(nz) n = Gather(s, one) c = Greater(n, zero) m = Neg(x) y = Where(c, x, m)"
    for name, extent in (("an open tensor", "N"), ("five", "5")):
        yield (f"whether anything is found, of {name}", f"g (float[{extent}] x) => (float[{extent}] y) <int64[1] one = {{1}}, int64[1] zero = {{0}}> {{ {found} }}",
               {"x": shapes_of("n" if extent == "N" else 5)})
    yield ("open dims of two names", "g (float[N, 3] x, float[M, 3] z) => (float[N, 3] y) { y = Add(x, z) }", {"x": shapes_of("n", 3), "z": shapes_of("n", 3)})
    yield ("parts of which the last is smaller", "g (float[N] x) => (float[A] y, float[B] z, float[C] w) { y, z, w = Split<axis = 0, num_outputs = 3>(x) }",
           {"x": shapes_of("2n+1")})


CASES = [*slices(), *many(), *windows(), *tables(), *choices()]


def check(bin_dir, folder, name, text, shapes):
    opened, may_refuse = Opened(bin_dir, folder, model_of(text)), "or a refusal" in name
    if opened.refused():
        return "" if may_refuse and "PB41" in opened.refused() else opened.refused()
    for turn, size in enumerate(SIZES):
        feeds = {n: floats(of(size), turn) for n, of in shapes.items()}
        if turn % 2 and "NonZero" in text:  # nothing is found
            feeds["x"] *= 0
        why = opened.differs(feeds)
        if why and not (may_refuse and "PB5049" in why):
            return f"size {size}: {why}"
    return ""


if __name__ == "__main__":
    sys.exit(judge_all(CASES, check))
