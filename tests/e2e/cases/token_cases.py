"""Tokens, their places and masks: integers of 64 bits, of which chips of codes have none. Rows of embeddings are the host's copies."""

import numpy as np
from onnx import TensorProto, helper
from regression_cases import CASES, F32, I8, I64, Maker, case

BOTH = ("cpu", "simnpu")


def integers(m, name, values):
    """An input of i64."""
    values = np.array(values, I64)
    m.inputs.append(helper.make_tensor_value_info(name, TensorProto.INT64, values.shape))
    m.feeds[name] = values
    return name


def embedded(m, ids, rows=40, width=32):
    """Rows of a table of codes."""
    table = m.weights(m.rng.integers(-128, 128, (rows, width)).astype(I8), F32(0.05), I8(7))
    return m.codes(m.op("Gather", table, ids), F32(0.05), I8(7))


def tokens(m, count=16):
    return integers(m, "ids", m.rng.integers(2, 40, (1, count)))


@case
def tokens_under_a_mask():
    """As PyTorch exports attention of a text: columns of the mask at constant places, which go in order, and causal rows."""
    m = Maker("tokens_under_a_mask")
    x = embedded(m, tokens(m), width=64)
    mask = m.op("Cast", integers(m, "mask", [[1] * 12 + [0] * 4]), to=TensorProto.BOOL)
    places = np.stack([np.zeros(16, I64), np.arange(16, dtype=I64)], -1).reshape(1, 1, 1, 16, 2)
    allowed = m.op("And", m.const(np.tri(16, dtype=bool).reshape(1, 1, 16, 16)), m.op("GatherND", mask, m.const(places)))
    bias = m.codes(m.op("Where", allowed, m.const(F32(0)), m.const(F32(-20))), F32(20 / 255), I8(127))
    heads = m.codes(m.op("Reshape", x, m.const(np.array([1, 16, 2, 32], I64))), F32(0.05), I8(7))
    q, k = (m.codes(m.op("Transpose", heads, perm=perm), F32(0.05), I8(7)) for perm in ([0, 2, 1, 3], [0, 2, 3, 1]))
    scores = m.codes(m.op("Add", m.codes(m.op("MatMul", q, k), F32(0.3)), bias), F32(0.3))
    shares = m.codes(m.op("Softmax", scores, axis=-1), F32(1 / 255), I8(-128))
    return m.done(shares, step=1 / 255, targets=BOTH)


@case
def numbers_past_words():
    """Compared with numbers of 32 bits and as truths, those past them are what they are, not what their lower half is."""
    m = Maker("numbers_past_words")
    x = integers(m, "x", [[5, 5 + 2**40, -7, -7 - 2**45, 2**32, 0, -(2**63), 2**63 - 1] * 2])
    tests = [m.op("Equal", x, m.const(np.array(5, I64))), m.op("Less", x, m.const(np.array(-3, I64))), m.op("Cast", x, to=TensorProto.BOOL)]
    sums = [m.op("Where", truth, m.const(F32(k + 1)), m.const(F32(0))) for k, truth in enumerate(tests)]
    return m.done(m.codes(m.op("Add", m.op("Add", sums[0], sums[1]), sums[2]), F32(0.5)), step=0, targets=BOTH)


@case
def places_that_tokens_say():
    """Places count the tokens that are none of padding: sums of truths, which are words, name rows of a second table."""
    m = Maker("places_that_tokens_say")
    ids = integers(m, "ids", [[5, 9, 3, 7, 2, 30, 11, 8, 6, 12, 39, 4, 1, 1, 1, 1]])
    real = m.op("Cast", m.op("Not", m.op("Equal", ids, m.const(np.array(1, I64)))), to=TensorProto.INT32)
    count = m.op("CumSum", real, m.const(np.array(1, I64)))
    places = m.op("Add", m.op("Cast", m.op("Mul", count, real), to=TensorProto.INT64), m.const(np.array(1, I64)))
    return m.done(m.codes(m.op("Add", embedded(m, ids), embedded(m, places, 20)), F32(0.1)), step=0.1, targets=BOTH)


@case
def places_of_an_alibi():
    """Sums of a mask itself, as floats: right for masks, and the engine says up to which numbers."""
    m = Maker("places_of_an_alibi")
    mask = integers(m, "mask", [[1] * 12 + [0] * 4])
    places = m.op("Mul", m.op("Sub", m.op("CumSum", mask, m.const(np.array(-1, I64))), m.const(np.array(1, I64))), mask)
    return m.done(m.codes(m.op("Cast", places, to=TensorProto.FLOAT), F32(0.125), I8(-100)), step=0, targets=BOTH)


@case
def one_row_for_all():
    """Token types of which there is one: elements of a constant that are all the same, at places that come at run time."""
    m = Maker("one_row_for_all")
    ids = tokens(m)
    types = m.op("GatherElements", m.const(np.zeros((1, 64), I64)), ids, axis=1)
    return m.done(m.codes(m.op("Add", embedded(m, ids), embedded(m, types, 2)), F32(0.1)), step=0.1, targets=BOTH)


@case
def bias_of_codes():
    """A bias that two products share is quantised once, to codes of 8 bits: one of 32 in units of each product's sums."""
    m = Maker("bias_of_codes")
    x = m.codes(m.input("x", 16, 32), F32(0.05))
    bias = m.weights(m.rng.integers(0, 256, 24).astype(np.uint8), F32(0.02), np.uint8(131))
    y = [m.codes(m.op("Gemm", x, m.weights(m.rng.integers(-127, 128, (32, 24)).astype(I8), F32(0.01), I8(0)), bias), F32(0.1)) for _ in range(2)]
    return m.done(m.codes(m.op("Add", *y), F32(0.2)), step=0.2, targets=BOTH)


def heads_of(m, count, width, tokens=24):
    """The columns of a projection's result."""
    w = m.weights(m.rng.integers(-127, 128, (64, count * width)).astype(I8), F32(0.005), I8(0))
    x = m.codes(m.op("MatMul", m.codes(m.input("x", 1, tokens, 64), F32(0.05)), w), F32(0.1))
    heads = m.codes(m.op("Reshape", x, m.const(np.array([1, tokens, count, width], I64))), F32(0.1))
    return m.codes(m.op("Transpose", heads, perm=[0, 2, 1, 3]), F32(0.1))


@case
def turned_heads():
    """Heads are columns of the matrix that a projection makes: turned by angles, as rotary embeddings do, they are rows of lanes, and
    their halves whole ones."""
    m = Maker("turned_heads")
    heads = heads_of(m, 4, 32)
    ends = [m.codes(m.op("Slice", heads, *(m.const(np.array([v], I64)) for v in (first, first + 16, 3))), F32(0.1)) for first in (16, 0)]
    turned = m.codes(m.op("Concat", m.codes(m.op("Neg", ends[0]), F32(0.1)), ends[1], axis=3), F32(0.1))
    sines, cosines = (m.weights(m.rng.integers(-127, 128, (1, 1, 24, 32)).astype(I8), F32(1 / 127), I8(0)) for _ in range(2))
    both = [m.codes(m.op("Mul", a, b), F32(0.1)) for a, b in ((heads, cosines), (turned, sines))]
    q = m.codes(m.op("Add", *both), F32(0.15))
    scores = m.codes(m.op("MatMul", q, m.codes(m.op("Transpose", q, perm=[0, 1, 3, 2]), F32(0.15))), F32(0.5))
    return m.done(m.codes(m.op("Softmax", scores, axis=-1), F32(1 / 255), I8(-128)), step=1 / 255, targets=BOTH, bisect=True)


def normed_heads(label, width):
    """Each head is divided by the root of its mean square, as Gemma 3's and Qwen 3's queries and keys are: a number for each row
    of a head, by sums along a part of the matrix's columns and by tables of codes. A code more in one of them is some in what follows."""
    m = Maker(label)
    heads = heads_of(m, 4, width)
    squares = m.codes(m.op("ReduceMean", m.op("Pow", heads, m.const(F32(2))), axes=[-1], keepdims=1), F32(0.05), I8(-128))
    above = m.codes(m.op("Add", squares, m.weights(I8(1), F32(0.05), I8(0))), F32(0.05), I8(-128))
    factors = m.codes(m.op("Reciprocal", m.codes(m.op("Sqrt", above), F32(0.015), I8(-128))), F32(0.01), I8(-128))
    gain = m.weights(m.rng.integers(60, 127, width).astype(I8), F32(0.01), I8(0))
    normed = m.codes(m.op("Mul", m.codes(m.op("Mul", heads, factors), F32(0.03)), gain), F32(0.03))
    q = m.codes(m.op("Mul", normed, m.weights(I8(90), F32(0.005), I8(0))), F32(0.015))
    scores = m.codes(m.op("MatMul", q, m.codes(m.op("Transpose", normed, perm=[0, 1, 3, 2]), F32(0.03))), F32(0.1))
    return m.done(m.codes(m.op("Softmax", scores, axis=-1), F32(1 / 255), I8(-128)), step=8 / 255, targets=BOTH, bisect=True)


@case
def column_of_heads():
    """The last column of each head divides the others, as the sum of keys does in linear attention: nothing has made that in all lanes."""
    m = Maker("column_of_heads")
    heads = heads_of(m, 3, 17)
    turned = m.codes(m.op("Transpose", heads, perm=[0, 1, 3, 2]), F32(0.1))
    weights = m.codes(m.op("Relu", m.codes(m.op("MatMul", heads, turned), F32(0.4))), F32(0.3), I8(-128))
    sums = m.codes(m.op("MatMul", weights, heads), F32(2), I8(-20))
    part = lambda first, end: m.codes(m.op("Slice", sums, *(m.const(np.array([v], I64)) for v in (first, end, 3))), F32(2), I8(-20))  # noqa: E731
    size = m.codes(m.op("Abs", m.codes(m.op("Add", part(16, 17), m.weights(I8(3), F32(2), I8(0))), F32(2))), F32(2), I8(-128))
    above = m.codes(m.op("Add", size, m.weights(I8(20), F32(1), I8(0))), F32(2), I8(-128))
    return m.done(m.codes(m.op("Div", part(0, 16), above), F32(0.1)), step=0.7, targets=BOTH, bisect=True)


for width in (32, 24):
    CASES[f"normed_heads_{width}"] = lambda label=f"normed_heads_{width}", width=width: normed_heads(label, width)


@case
def tokens_left_out():
    """As DeBERTa's embeddings: a mask in codes, one for each token, times the rows of a table; and which pairs of tokens count."""
    m = Maker("tokens_left_out")
    x = embedded(m, tokens(m))
    mask = integers(m, "mask", [[1] * 12 + [0] * 4])
    shaped = lambda x, *shape: m.op("Reshape", x, m.const(np.array(shape, I64)))  # noqa: E731
    kept = m.codes(shaped(m.op("Cast", mask, to=TensorProto.FLOAT), 1, 16, 1), F32(1 / 255), I8(-128))
    pairs = m.op("Cast", m.op("Mul", shaped(mask, 1, 1, 1, 16), shaped(mask, 1, 1, 16, 1)), to=TensorProto.BOOL)
    bias = m.codes(m.op("Where", pairs, m.const(F32(0)), m.const(F32(-20))), F32(20 / 255), I8(127))
    return m.done(m.codes(m.op("Mul", x, kept), F32(0.05), I8(7)), bias, step=0.05, targets=BOTH)


@case
def tokens_that_count():
    """As XLNet's masks: which tokens count is compared in a column, and left out of the rows of scores."""
    m = Maker("tokens_that_count")
    mask = m.input("mask", 1, 16, values=[[1] * 12 + [0] * 4])
    column = m.op("Sub", m.const(F32(1)), m.op("Transpose", mask, perm=[1, 0]))
    left = m.op("Greater", m.op("Reshape", column, m.const(np.array([1, 16, 1, 1], I64))), m.const(F32(0)))
    return m.done(m.codes(m.op("Where", left, m.const(F32(-20)), m.const(F32(0))), F32(20 / 255), I8(127)), step=20 / 255, targets=BOTH)


@case
def sums_of_tokens_times_rows():
    """Sums of all tokens, a row that ends inside a row of lanes, times each token's row: the row came out of a tensor of three dims."""
    m = Maker("sums_of_tokens_times_rows", opset=17)
    w = m.weights(m.rng.integers(-127, 128, (56, 56)).astype(I8), F32(0.005), I8(0))
    y = m.codes(m.op("MatMul", m.codes(m.input("x", 1, 28, 56), F32(0.05)), w), F32(0.1))
    total = m.codes(m.op("ReduceSum", y, m.const(np.array([1], I64)), keepdims=1), F32(0.5))
    z = m.codes(m.op("Mul", y, total), F32(2))
    return m.done(m.codes(m.op("MatMul", z, w), F32(8)), step=8, bisect=True)


@case
def products_by_a_normed_column():
    """Scores of tokens, each over the root of the squares of all, as codes: some of their operands lay in rows of lanes, others did not."""
    m = Maker("products_by_a_normed_column", opset=17)
    w = m.weights(m.rng.integers(-127, 128, (48, 48)).astype(I8), F32(0.005), I8(0))
    v = m.weights(m.rng.integers(-127, 128, (48, 1)).astype(I8), F32(0.01), I8(0))
    y = m.codes(m.op("MatMul", m.codes(m.input("x", 1, 20, 48), F32(0.05)), w), F32(0.1))
    score = m.codes(m.op("MatMul", y, v), F32(0.2))
    root = m.op("Clip", m.op("ReduceL2", score, axes=[1], keepdims=1), m.const(F32(1e-12)))
    part = m.codes(m.op("Div", score, m.op("Expand", root, m.const(np.array([1, 20, 1], I64)))), F32(0.01))
    return m.done(m.codes(m.op("Mul", y, part), F32(0.05)), step=0.1, bisect=True)


def product_by_a_column(label, x, z):
    """Products of two computed tensors, the second one a column: it is multiplied as a row, by the rows of the other."""
    m = Maker(label)
    a, b = m.codes(m.input("x", *x), F32(0.05), I8(-5)), m.codes(m.input("z", *z), F32(0.04), I8(9))
    return m.done(m.codes(m.op("MatMul", a, b), F32(0.1)), step=0.1, bisect=True)


for label, shapes in {"product_by_a_column": ((1, 48, 16), (1, 16, 1)), "products_by_columns": ((3, 20, 32), (3, 32, 1)),
                      "product_by_a_column_of_a_matrix": ((48, 16), (16, 1))}.items():
    CASES[label] = lambda label=label, shapes=shapes: product_by_a_column(label, *shapes)


@case
def codes_of_rows_as_columns():
    """Rows of f32 are quantised as one column of codes, of which each is multiplied by a row: what selects states in Mamba."""
    m = Maker("codes_of_rows_as_columns", opset=17)
    w = m.weights(m.rng.integers(-127, 128, (32, 32)).astype(I8), F32(0.005), I8(0))
    t = m.op("Softplus", m.codes(m.op("MatMul", m.codes(m.input("x", 1, 24, 32), F32(0.05)), w), F32(0.1)))
    column = m.codes(m.op("Unsqueeze", t, m.const(np.array([3], I64))), F32(0.02), I8(-128))
    scaled = m.op("Mul", column, m.const(m.rng.uniform(-1, 1, (1, 24, 1, 16)).astype(F32)))
    row = m.op("Mul", column, m.op("Unsqueeze", m.codes(m.input("z", 1, 32, 16), F32(0.05)), m.const(np.array([1], I64))))
    return m.done(m.codes(m.op("Exp", m.codes(scaled, F32(0.05))), F32(0.05)), m.codes(row, F32(0.1)), step=0.1)


@case
def norm_of_all_of_an_image():
    """One group over all channels of an image, as one row behind a reshape."""
    m = Maker("norm_of_all_of_an_image", opset=17)
    w = m.weights(m.rng.integers(-127, 128, (16, 16, 1, 1)).astype(I8), F32(0.01), I8(0))
    y = m.codes(m.op("Conv", m.codes(m.input("x", 1, 16, 8, 8), F32(0.05)), w), F32(0.1))
    rows = m.op("Reshape", y, m.const(np.array([0, 1, -1], I64)))
    norm = m.op("InstanceNormalization", rows, m.const(np.ones(1, F32)), m.const(np.zeros(1, F32)))
    y = m.codes(m.op("Reshape", norm, m.const(np.array([1, 16, 8, 8], I64))), F32(0.05))
    return m.done(m.codes(m.op("Conv", y, w), F32(0.1)), step=0.2, bisect=True)


@case
def largest_codes_of_rows():
    """One of each row: they are made as an image's channels and leave as a column."""
    m = Maker("largest_codes_of_rows")
    x = m.codes(m.input("x", 16, 3), F32(0.05), I8(-5))
    return m.done(m.codes(m.op("ReduceMax", x, axes=[1], keepdims=1), F32(0.05), I8(-5)), step=0.05, bisect=True)


def silu_and_turned(label, read):
    """A table of rows is made as their matrix; who walks the stack by its own dims had nothing to read."""
    m = Maker(label)
    w = m.weights(m.rng.integers(-127, 128, (32, 48)).astype(I8), F32(0.01), I8(0))
    x = m.codes(m.op("MatMul", m.codes(m.input("x", 1, 32, 32), F32(0.05)), w), F32(0.05))
    x = m.codes(m.op("Slice", x, m.const(np.array([0], I64)), m.const(np.array([32], I64)), m.const(np.array([2], I64))), F32(0.05))
    y = m.codes(m.op("Mul", x, m.codes(m.op("Sigmoid", x), F32(1 / 256))), F32(0.03))
    return m.done(*(m.codes(value, F32(0.03)) for value in read(m, y)), step=0.03, bisect=True)


for _label, _read in {
    "turned": lambda m, y: [m.op("Transpose", y, perm=[0, 2, 1])],
    "cut": lambda m, y: [m.op("Slice", y, m.const(np.array([1], I64)), m.const(np.array([17], I64)), m.const(np.array([2], I64)))],
    "twice": lambda m, y: [m.op("Transpose", y, perm=[0, 2, 1]), m.op("Mul", y, m.codes(m.op("Tanh", y), F32(1 / 128)))],
}.items():
    CASES[f"silu_{_label}"] = lambda a=(f"silu_{_label}", _read): silu_and_turned(*a)


@case
def sum_of_rows_and_of_heads():
    """Codes whose elements are a matrix's, and those of heads that were turned, under one shape."""
    m = Maker("sum_of_rows_and_of_heads")
    x, y = m.codes(m.input("x", 1, 12, 32), F32(0.05)), m.codes(m.input("y", 1, 2, 12, 16), F32(0.05))
    y = m.codes(m.op("Transpose", y, perm=[0, 2, 1, 3]), F32(0.05))
    y = m.codes(m.op("Reshape", y, m.const(np.array([1, 12, 32], I64))), F32(0.05))
    return m.done(m.codes(m.op("Add", x, y), F32(0.08)), step=0.08, targets=BOTH, bisect=True)


def sum_read_as_floats(label, shape, kind, other):
    """Rows of a float that became codes, and codes of their own or a row of constants, summed and added to floats again."""
    m = Maker(label)
    x = m.codes(m.input("x", *shape), F32(0.0166), I8(4))
    if other == "rows":
        y = m.codes(m.input("y", *shape), F32(0.02), I8(-9))
    elif other == "input":  # codes from outside
        m.inputs.append(helper.make_tensor_value_info("y", TensorProto.INT8, shape))
        m.feeds["y"] = m.rng.integers(-128, 128, shape).astype(I8)
        y = m.op("DequantizeLinear", "y", m.const(F32(0.0058)), m.const(I8(-128)))
    else:
        y = m.weights(m.rng.integers(-127, 128, shape[-1:]).astype(I8), F32(0.01), I8(0))
    s = m.codes(m.op(kind, x, y), F32(0.0194), I8(-16))
    return m.done(m.op("Add", m.input("c", *shape), s), step=0.02, targets=BOTH, bisect=True)


for _shape in ((2, 5, 4), (1, 5, 4), (2, 1, 20), (3, 7, 33), (2, 2, 5, 4), (2, 3, 16)):
    for _kind, _other in (("Add", "rows"), ("Sub", "rows"), ("Mul", "rows"), ("Add", "constant"), ("Add", "input")):
        _label = f"sum_read_as_floats_{'x'.join(map(str, _shape))}_{_kind}_{_other}".lower()
        CASES[_label] = lambda a=(_label, _shape, _kind, _other): sum_read_as_floats(*a)


def moved_without_codes(label, move, first, keys=17, width=17, **known):
    """Codes that are moved between DequantizeLinear and a product, with no QuantizeLinear behind the move: a product of codes, or of
    floats where a chip's rows do not hold their ends, which it says."""
    m = Maker(label)
    p, v = m.codes(m.input("p", 2, keys, keys), F32(0.05)), move(m, m.codes(m.input("v", keys, 2, width), F32(0.05)))
    y = m.op("MatMul", *((v, p) if first else (p, v)))
    return m.done(m.codes(y, F32(0.4)), step=0.4, bisect=True, **known)


def ints(m, *values):
    return m.const(np.array(values, I64))


def halves(m, v):
    """The second half of two that lie side by side."""
    both = m.op("Concat", v, v, axis=2)
    m.nodes.append(helper.make_node("Split", [m.codes(both, F32(0.05))], ["first", "second"], axis=2, name="halves"))
    return m.op("Transpose", "second", perm=[1, 0, 2])


MOVED = {
    "transpose": lambda m, v: m.op("Transpose", v, perm=[1, 0, 2]),
    "reshape_transpose": lambda m, v: m.op("Transpose", m.op("Reshape", v, ints(m, 0, 2, -1)), perm=[1, 0, 2]),
    "turned": lambda m, v: m.op("Transpose", v, perm=[1, 2, 0]),
}
for _name, _move in MOVED.items():
    for _first in (False, True):
        _label = f"moved_without_codes_{'first' if _first else 'second'}_{_name}"
        CASES[_label] = lambda a=(_label, _move, _first): moved_without_codes(*a, targets=BOTH)
MOVED |= {
    "split": halves,
    "slice": lambda m, v: m.op("Transpose", m.op("Slice", v, ints(m, 0), ints(m, 16), ints(m, 2)), perm=[1, 0, 2]),
    "slice_behind": lambda m, v: m.op("Slice", m.op("Transpose", v, perm=[1, 0, 2]), ints(m, 0), ints(m, 16), ints(m, 2)),
    "gather": lambda m, v: m.op("Gather", m.op("Transpose", v, perm=[1, 0, 2]), ints(m, 1, 0), axis=0),
    "unsqueeze": lambda m, v: m.op("Squeeze", m.op("Unsqueeze", m.op("Transpose", v, perm=[1, 0, 2]), ints(m, 0)), ints(m, 0)),
}
for _name, _move in MOVED.items():  # 32 keys: whole rows, so that no floats are left anywhere
    _label = f"moved_codes_{_name}"
    CASES[_label] = lambda a=(_label, _move): moved_without_codes(*a, False, 32, 32, targets=BOTH, unsaid=("PB2032",))
