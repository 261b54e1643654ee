"""Cases of float_ops.py on integers and truths: comparisons, choices, conversions, look-ups, and what makes masks."""

import numpy as np
from float_cases import case
from onnx import TensorProto, helper, numpy_helper

WIDE = 2**53 + 1  # no double has it
KINDS = {
    "f32": (np.float32, TensorProto.FLOAT),
    "i64": (np.int64, TensorProto.INT64),
    "i32": (np.int32, TensorProto.INT32),
    "bool": (np.bool_, TensorProto.BOOL),
    "u8": (np.uint8, TensorProto.UINT8),
    "i8": (np.int8, TensorProto.INT8),
}


def numbers(g, kind, *shape):
    if kind == "f32":
        return (g.draw(*shape) * 3).astype(np.float32)
    if kind == "bool":
        return g.draw(*shape) > 0
    low, high = {"u8": (0, 256), "i8": (-128, 128)}.get(kind, (-9, 10))
    return g.rng.integers(low, high, shape).astype(KINDS[kind][0])


def out(g, name, kind):
    g.types[name] = KINDS[kind][1]
    return name


def cast_to(g, x, kind):
    name = f"t{len(g.nodes)}"
    g.nodes.append(helper.make_node("Cast", [x], [name], name=f"cast{len(g.nodes)}", to=KINDS[kind][1]))
    return name


COMPARISONS = "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"
for _op in COMPARISONS:
    for _kind in ("f32", "i64", "i32") + (("bool",) if _op == "Equal" else ()):

        @case(f"typed_{_op.lower()}_{_kind}", _op, _kind)
        def comparison(g, op, kind):
            a = numbers(g, kind, 3, 5, 17)
            b = np.where(g.draw(1, 5, 17) > 0, a[:1], numbers(g, kind, 1, 5, 17)).astype(a.dtype)
            return out(g, g.op(op, g.feed("a", a), g.feed("b", b)), "bool")


@case("typed_less_nan")
def less_nan(g):
    a = g.draw(4, 40)
    a[1, ::3] = np.nan
    return [
        out(g, g.op("Less", g.feed("a", a), g.const(np.float32(0))), "bool"),
        out(g, g.op("IsNaN", "a"), "bool"),
        out(g, g.op("GreaterOrEqual", "a", g.const(np.float32(0))), "bool"),
    ]


@case("typed_truths")
def truths(g):
    a, b = (g.feed(name, numbers(g, "bool", 3, 33)) for name in "ab")
    made = [g.op(op, a, b) for op in ("And", "Or", "Xor")] + [g.op("Not", a)]
    return [out(g, name, "bool") for name in made]


for _kind in ("f32", "i64", "i32", "bool"):

    @case(f"typed_where_{_kind}", _kind)
    def where(g, kind):
        c = g.feed("c", numbers(g, "bool", 5, 1, 19))
        x, y = g.feed("x", numbers(g, kind, 4, 19)), g.feed("y", numbers(g, kind, 5, 4, 1))
        return out(g, g.op("Where", c, x, y), kind)


@case("typed_where_number")
def where_number(g):
    c = g.op("Less", g.input(6, 40), g.const(np.float32(0.25)))
    return g.op("Where", c, g.const(np.float32(-3e38)), g.op("Abs", "x"))


for _from in KINDS:
    for _to in KINDS:
        if _from != _to:

            @case(f"typed_cast_{_from}_{_to}", _from, _to)
            def cast(g, start, to):
                x = numbers(g, start, 3, 37)
                if start == "f32" and to == "u8":
                    x = np.abs(x)  # below 0: not defined
                return out(g, cast_to(g, g.feed("x", x), to), to)


for _op in ("Add", "Sub", "Mul", "Max", "Min"):
    for _kind in ("i64", "i32"):

        @case(f"typed_{_op.lower()}_{_kind}", _op, _kind)
        def integers(g, op, kind):
            return out(g, g.op(op, g.feed("a", numbers(g, kind, 5, 21)), g.feed("b", numbers(g, kind, 21))), kind)


@case("typed_signs")
def signs(g):
    a, b = g.feed("a", numbers(g, "i64", 3, 9)), g.feed("b", numbers(g, "i32", 3, 9))
    quotient = g.op("Div", a, g.const(np.array([3], np.int64)))
    made = [(g.op("Neg", a), "i64"), (g.op("Abs", b), "i32"), (quotient, "i64")]
    return [out(g, name, kind) for name, kind in made]


@case("typed_wide")
def wide(g):
    """All 64 bits of a number, from the input and from the model."""
    a = g.feed("a", np.array([[WIDE, -WIDE, 1, 2**62]], np.int64))
    return [
        out(g, g.op("Add", a, g.const(np.array([WIDE], np.int64))), "i64"),
        out(g, g.op("Equal", a, g.const(np.array([WIDE], np.int64))), "bool"),
    ]


GATHERS = [
    ("rows", (50, 24), (2, 7), 0),
    ("odd_rows", (31, 17), (5,), 0),
    ("columns", (9, 40), (3, 5), 1),
    ("middle", (4, 11, 13), (6,), -2),
    ("of_four", (2, 5, 7, 9), (3,), 3),
    ("one", (40, 16), (), 0),
    ("one_row", (1, 16), (4,), 0),
]
for _name, _shape, _ids, _axis in GATHERS:
    for _kind in ("i64", "i32"):

        @case(f"typed_gather_{_name}_{_kind}", _shape, _ids, _axis, _kind)
        def gather(g, shape, ids, axis, kind):
            extent = shape[axis]
            i = g.rng.integers(-extent, extent, ids).astype(KINDS[kind][0])
            return g.op("Gather", g.const(g.draw(*shape)), g.feed("i", i), axis=axis)


@case("typed_gather_made")
def gather_made(g):
    """From a tensor that the network makes, at numbers that it makes, and on from there."""
    x = g.op("MatMul", g.input(20, 24), g.const(g.draw(24, 40)))
    i = g.op("Add", g.feed("i", g.rng.integers(0, 9, (6,))), g.const(np.array([3], np.int64)))
    y = g.op("Gather", x, i, axis=0)
    return g.op("Relu", g.op("MatMul", y, g.const(g.draw(40, 17))))


@case("typed_gather_integers")
def gather_integers(g):
    y = g.op("Gather", g.feed("x", numbers(g, "i64", 9, 5)), g.feed("i", g.rng.integers(0, 9, (4,))))
    z = g.op("Gather", g.feed("m", numbers(g, "bool", 9, 5)), "i")
    return [out(g, y, "i64"), out(g, z, "bool")]


@case("typed_gather_f64")  # by the operators that all types have
def gather_f64(g):
    y = g.op("Gather", g.feed("x", g.draw(3, 9, 5).astype(np.float64)), g.feed("i", g.rng.integers(-9, 9, (2, 2))), axis=1)
    g.types[y] = TensorProto.DOUBLE
    return y


@case("typed_gather_elements_f64")  # the same, and where they go back to
def gather_elements_f64(g):
    x, i = g.feed("x", g.draw(4, 6, 9).astype(np.float64)), g.feed("i", g.rng.permuted(np.tile(np.arange(-3, 3), (4, 9, 1)), axis=2)[..., :3].swapaxes(1, 2))
    y = g.op("GatherElements", x, i, axis=1)
    z = g.op("ScatterElements", x, i, y, axis=1, reduction="add")
    g.types[y] = g.types[z] = TensorProto.DOUBLE
    return [y, z]


@case("typed_reversed_f64")  # the same
def reversed_f64(g):
    ends = [g.const(np.array(ends, np.int64)) for ends in ((-1, -1), (-9, -9), (0, 2), (-1, -2))]
    y = g.op("Slice", g.feed("x", g.draw(3, 4, 5).astype(np.float64)), *ends)
    g.types[y] = TensorProto.DOUBLE
    return y


@case("typed_gather_constant")
def gather_constant(g):
    x = g.input(3, 8, 16)
    picks = [np.int64(0), np.int64(-1), np.array([1, 3, 5]), np.array([5, 2, 2])]
    return [g.op("Gather", x, g.const(np.asarray(i, np.int64)), axis=1) for i in picks]


@case("typed_gather_elements")
def gather_elements(g):
    x, i = g.input(4, 6, 9), g.feed("i", g.rng.integers(-6, 6, (4, 3, 9)))
    return g.op("GatherElements", x, i, axis=1)


for _kind in ("i64", "bool", "u8"):

    @case(f"typed_moves_{_kind}", _kind)
    def moves(g, kind):
        x = g.feed("x", numbers(g, kind, 2, 6, 8))
        t = g.op("Transpose", x, perm=[0, 2, 1])
        s = g.op("Slice", t, *(g.const(np.array(v, np.int64)) for v in ([1], [7], [1], [2])))
        g.op_of_many("Split", [s], ["p", "q"], axis=2, num_outputs=2)
        c = g.op("Concat", "q", "p", axis=1)
        u = g.op("Unsqueeze", c, g.const(np.array([0], np.int64)))
        r = g.op("Reshape", u, g.const(np.array([2, -1], np.int64)))
        return [out(g, c, kind), out(g, r, kind)]


@case("typed_trilu")
def trilu(g):
    x = g.input(3, 7, 9)
    i = g.feed("i", numbers(g, "i64", 5, 5))
    made = [g.op("Trilu", x, upper=0), g.op("Trilu", x, g.const(np.int64(2)))]
    return made + [out(g, g.op("Trilu", i, g.const(np.int64(-1)), upper=0), "i64")]


@case("typed_expand")
def expand(g):
    x = g.op("Expand", g.input(5, 1), g.const(np.array([3, 1, 17], np.int64)))
    m = g.op("Expand", g.feed("m", numbers(g, "bool", 1, 9)), g.const(np.array([4, 1], np.int64)))
    return [x, out(g, m, "bool")]


@case("typed_mask")
def mask(g):
    """The mask of a padded batch, as BERT has it."""
    i = g.feed("mask", (g.draw(2, 24) > -0.5).astype(np.int64))
    m = cast_to(g, g.op("Unsqueeze", i, g.const(np.array([1, 2], np.int64))), "f32")
    m = g.op("Mul", g.op("Sub", g.const(np.float32(1)), m), g.const(np.float32(-3.4e38)))
    return g.op("Softmax", g.op("Add", g.input(2, 3, 24, 24), m), axis=-1)



@case("typed_shapes")
def shapes(g):
    """A reshape by what an exporter computes of the shape."""
    x = g.input(2, 6, 8)
    s = g.op("Shape", x)
    batch = g.op("Gather", s, g.const(np.int64(0)), axis=0)
    rest = g.op("Mul", g.op("Gather", s, g.const(np.int64(1)), axis=0), g.const(np.int64(2)))
    rows = [g.op("Unsqueeze", part, g.const(np.array([0], np.int64))) for part in (batch, rest)]

    return g.op("Reshape", x, g.op("Concat", *rows, g.const(np.array([-1], np.int64)), axis=0))


@case("typed_shape_is_output")  # the program's first constant
def shape_is_output(g):
    x = g.input(2, 17, 5)
    return [out(g, g.op("Shape", x), "i64"), g.op("Relu", x)]


@case("typed_positions")
def positions(g):
    """A causal mask, positions and a scale that only the shape decides."""
    x = g.input(3, 12, 12)
    n = g.op("Gather", g.op("Shape", x), g.const(np.int64(2)), axis=0)
    i = g.op("Range", g.const(np.int64(0)), n, g.const(np.int64(1)))
    columns, rows = (g.op("Unsqueeze", i, g.const(np.array([d], np.int64))) for d in (0, 1))
    seen = g.op("LessOrEqual", columns, rows)
    size = g.op("Unsqueeze", n, g.const(np.array([0], np.int64)))
    full = g.op("ConstantOfShape", size, value=numpy_helper.from_array(np.array([-1e9], np.float32)))
    scaled = g.op("Div", x, g.op("Sqrt", cast_to(g, n, "f32")))
    return g.op("Softmax", g.op("Where", seen, scaled, full), axis=-1)


@case("typed_folded")
def folded(g):
    """Weights that the model still turns, cuts and joins."""
    w = g.op("Transpose", g.const(g.draw(40, 24)), perm=[1, 0])
    w = g.op("Concat", w, g.op("Neg", w), axis=1)
    w = g.op("Expand", g.op("Mul", w, g.const(np.float32(0.5))), g.const(np.array([1, 1], np.int64)))
    return g.op("MatMul", g.input(9, 24), w)


PRODUCTS = [
    ("grouped", (2, 4, 9, 16), (2, 1, 16, 24)),
    ("shared", (1, 3, 17, 16), (5, 1, 16, 40)),
    ("more_behind", (9, 16), (2, 3, 16, 17)),
    ("fewer_behind", (2, 3, 9, 16), (3, 16, 17)),
    ("one_row", (2, 4, 1, 40), (2, 4, 40, 24)),
    ("one_column", (2, 4, 5, 40), (2, 4, 40, 1)),
]
for _name, _a, _b in PRODUCTS:
    for _made in ("both", "left", "right"):

        @case(f"typed_product_{_name}_{_made}", _a, _b, _made)
        def product(g, a, b, made):
            left = g.input(*a, name="a") if made != "right" else g.const(g.draw(*a))
            right = g.input(*b, name="b") if made != "left" else g.const(g.draw(*b))
            return g.op("MatMul", left, right)


@case("typed_root_norm")
def root_norm(g):
    g.opset, g.ir_version = 23, 11
    return g.op("RMSNormalization", g.input(3, 7, 40), g.const(g.draw(40)), epsilon=1e-6)


SCALARS = {  # what an operator's operand is drawn from
    "Sin": 30, "Cos": 30, "Tan": 1.4, "Asin": 0, "Acos": 0, "Atan": 9, "Sinh": 3, "Cosh": 3, "Asinh": 50, "Atanh": 0,
    "Floor": 9, "Ceil": 9, "Round": 9, "Sign": 2,
}
for _op, _width in SCALARS.items():

    @case(f"scalar_{_op.lower()}", _op, _width)
    def scalar(g, op, width):
        x = g.draw(3, 5, 17) * width if width else np.tanh(g.draw(3, 5, 17)) * 0.99
        if op in ("Round", "Floor", "Ceil"):
            x[0] = np.round(x[0] * 2) / 2
        return g.op(op, g.feed("x", x.astype(np.float32)))


@case("scalar_acosh")
def acosh(g):
    return g.op("Acosh", g.feed("x", (1 + np.abs(g.draw(3, 40)) * 20).astype(np.float32)))


@case("scalar_pow_tensor")
def pow_tensor(g):
    base = np.abs(g.draw(4, 33)).astype(np.float32) + 0.1
    return g.op("Pow", g.feed("x", base), g.feed("y", g.draw(1, 33) * 3))


@case("scalar_pow_odd")
def pow_odd(g):
    return g.op("Pow", g.feed("x", np.abs(g.draw(4, 33)).astype(np.float32)), g.const(np.float32(2.2)))


@case("scalar_after_product")
def after_product(g):
    w = g.const(g.draw(16, 24) / 4)
    return g.op("Cos", g.op("MatMul", g.input(10, 16), w))


for _op in ("And", "Or", "Xor"):

    @case(f"scalar_bitwise_{_op.lower()}", _op)
    def bitwise(g, op):
        a, b = numbers(g, "i32", 4, 9), numbers(g, "i32", 1, 9)
        return out(g, g.op(f"Bitwise{op}", g.feed("a", a), g.feed("b", b)), "i32")
