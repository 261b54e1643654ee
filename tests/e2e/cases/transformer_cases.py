"""Graphs of what transformers add to int8 networks: functions, softmax, norms, products of two computed
operands, attention. Ragged ones have rows that end inside a row of lanes."""

import numpy as np
from onnx import helper
from quantised_cases import CASES, family

FIRST = set(CASES)


@family("function", ("Sigmoid", 0.05, 1 / 128), ("Tanh", 0.03, 1 / 127), ("Erf", 0.02, 1 / 127), ("Exp", 0.02, 0.1),
        ("HardSwish", 0.06, 0.05), ("Softplus", 0.06, 0.06))
def function(g, kind, scale, result):
    x = g.input(2, 24, 32, codes=True, scale=scale, zero=7)
    g.output(g.op(kind, x, scale=result, zero=-20), codes=True)


@family("functions", (32, ))
def functions(g, width):
    """Every function that tables hold, with attributes and without, of negative codes and of none; alone, of each other, and
    with numbers."""
    g.opset = 20
    shape, every, at_least_0 = (3, width), g.input(3, width, codes=True, scale=0.06, zero=5), g.input(3, width, codes=True, scale=0.02, zero=-128)
    number = lambda value: g.const(np.float32(value))  # noqa: E731

    def out(y, scale=0.04, zero=-10):
        g.output(g.quantise(y, scale, zero, shape), codes=True)

    for kind, attrs in (("Abs", {}), ("Neg", {}), ("Tanh", {}), ("Erf", {}), ("HardSigmoid", {}), ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}), ("HardSwish", {}),
                        ("LeakyRelu", {}), ("LeakyRelu", {"alpha": 0.3}), ("Elu", {}), ("Elu", {"alpha": 0.7}), ("Selu", {}),
                        ("Selu", {"alpha": 1.2, "gamma": 0.9}), ("Softplus", {}), ("Softsign", {}), ("Gelu", {}), ("Gelu", {"approximate": "tanh"})):
        out(g.node(kind, [g.floats(every)], **attrs))
    for kind in "Sqrt", "Log", "Reciprocal":
        out(g.node(kind, [g.floats(at_least_0)]))
    tanh = lambda: g.node("Tanh", [g.floats(every)])  # noqa: E731
    for kind in "Relu", "Identity":
        out(g.node(kind, [tanh()]), 0.01)
    for kind in "Add", "Sub", "Mul":  # no functions: they have operators of their own
        by = g.node("DequantizeLinear", [g.const(np.int8(40)), number(0.02), g.const(np.int8(0))])
        out(g.node(kind, [g.floats(every), by]), 0.07)
    out(g.node("Sub", [number(0.5), tanh()]), 0.02)
    out(g.node("Div", [tanh(), number(0.7)]), 0.02)
    out(g.node("Div", [number(0.7), g.node("Exp", [g.floats(every)])]), 0.05)
    out(g.node("Pow", [g.node("Sigmoid", [g.floats(every)]), number(3)]), 0.01)
    out(g.node("Mul", [g.node("Add", [tanh(), number(1.5)]), number(-0.5)]), 0.02)


@family("silu", (16, ), (17, ))
def silu(g, width):
    """Several operators between: still one function of a code."""
    x = g.input(5, width, codes=True, scale=0.05, zero=-3)
    f = g.floats(x)
    y = g.node("Mul", [f, g.node("Sigmoid", [f])])
    g.output(g.quantise(y, 0.03, -100, (5, width)), codes=True)


@family("silu_steps", (16, ), (17, ))
def silu_steps(g, width):
    """A scale for each step: products and sums of codes and of tables of the same codes are tables, whoever else reads those; of
    other codes they are not."""
    x, other = (g.input(5, width, codes=True, scale=scale, zero=zero) for scale, zero in ((0.05, -3), (0.04, 9)))
    gate, wave = g.op("Sigmoid", x, scale=1 / 256, zero=-128), g.op("Tanh", x, scale=1 / 127, zero=2)
    g.output(gate, codes=True)
    for kind, a, b in ("Mul", x, gate), ("Mul", gate, x), ("Add", x, wave), ("Mul", gate, wave), ("Mul", other, gate):
        y = g.node(kind, [g.floats(a), g.floats(b)])
        g.output(g.quantise(y, 0.03, -100, (5, width)), codes=True)


@family("gelu_codes", (32, False), (32, True), (17, False))
def gelu_codes(g, width, image):
    """A scale for each step of GELU, as a static quantiser leaves it, a reshape among them: one table, whoever else reads a step; with
    numbers that differ it is none."""
    shape = (1, 20, 6, width) if image else (1, 6, width)
    x = g.input(*shape, codes=True, scale=0.05, zero=-3)
    one, half, others = (g.const(np.asarray(codes, np.int8)) for codes in (40, 25, g.rng.integers(-99, 99, width)))
    number = lambda codes, scale: g.node("DequantizeLinear", [codes, g.const(np.float32(scale)), g.const(np.int8(0))])  # noqa: E731

    def step(kind, a, by, scale, zero):
        return g.quantise(g.node(kind, [g.floats(a), by]), scale, zero, shape)

    error = g.op("Erf", x, scale=1 / 127, zero=2)
    more = step("Add", error, number(one, 0.025), 0.02, -30)
    for by in half, others:
        part = step("Mul", more, number(by, 0.02), 0.01, -100)
        g.output(g.quantise(g.node("Mul", [g.floats(x), g.floats(part)]), 0.03, -80, shape), codes=True)
    g.output(more, codes=True)


READERS = {  # of 24 rows of 32: attributes, and the shape that is made
    "Transpose": ({"perm": [0, 2, 1]}, (1, 32, 24)), "Softmax": ({"axis": 2}, (1, 24, 32)), "Concat": ({"axis": 2}, (1, 24, 64)),
    "MatMul": ({}, (1, 24, 24))}


@family("gelu_read", *((kind, ) for kind in READERS))
def gelu_read(g, kind):
    """The table that steps of GELU are joined in is of rows: who reads it in the shape that the model has finds it there."""
    x = g.input(1, 24, 32, codes=True, scale=0.05, zero=-3)
    half = g.node("DequantizeLinear", [g.const(np.int8(25)), g.const(np.float32(0.02)), g.const(np.int8(0))])
    part = g.quantise(g.node("Mul", [g.floats(g.op("Erf", x, scale=1 / 127, zero=2)), half]), 0.01, -100, (1, 24, 32))
    y = g.quantise(g.node("Mul", [g.floats(x), g.floats(part)]), 0.03, -80, (1, 24, 32))
    beside = {"MatMul": lambda: [g.floats(g.op("Transpose", x, perm=[0, 2, 1]))], "Concat": lambda: [g.floats(x)]}
    attrs, shape = READERS[kind]
    made = g.node(kind, [g.floats(y), *beside.get(kind, list)()], **attrs)
    g.output(g.quantise(made, 0.04, 3, shape), codes=True)


@family("gelu_steps", (48, ))
def gelu_steps(g, width):
    x = g.dense(g.input(6, 32), width)
    f = g.floats(x)
    e = g.node("Erf", [g.node("Div", [f, g.const(np.float32(np.sqrt(2)))])])
    y = g.node("Mul", [g.node("Mul", [f, g.node("Add", [e, g.const(np.float32(1))])]), g.const(np.float32(0.5))])
    g.output(g.quantise(y, x.scale, -60, (6, width)))


@family("ragged_softmax", (2, 3, 17), (1, 40, 5), (3, 33, 197))
@family("softmax", (1, 1, 16), (1, 1, 48), (4, 12, 32), (3, 17, 128), (2, 5, 48), (1, 3, 512))
def softmax(g, heads, rows, columns):
    x = g.input(1, heads, rows, columns, codes=True, scale=0.07, zero=11)
    g.output(g.op("Softmax", x, scale=1 / 255, zero=-128, axis=-1), codes=True)


@family("softmax_scale", (0.0001, ), (0.5, ), (3.0, ))
def softmax_scale(g, scale):
    x = g.input(9, 64, codes=True, scale=scale)
    g.output(g.op("Softmax", x, scale=1 / 64, zero=0, axis=1), codes=True)


@family("ragged_norm", ("LayerNormalization", 6, 20, 0.03), ("LayerNormalization", 40, 100, 0.05))
@family("norm", ("LayerNormalization", 6, 16, 0.03), ("LayerNormalization", 1, 32, 0.05), ("LayerNormalization", 33, 64, 0.1), ("LayerNormalization", 5, 768, 0.02))
def norm(g, kind, rows, width, scale):
    x = g.input(1, rows, width, codes=True, scale=scale, zero=9)
    gain = g.const((1 + 0.1 * g.rng.standard_normal(width)).astype(np.float32))
    shift = g.const((0.3 * g.rng.standard_normal(width)).astype(np.float32))
    g.output(g.op(kind, x, scale=0.02, zero=4, extra=[gain, shift], axis=-1, epsilon=1e-6), codes=True)


@family("norm_codes", (32, ))
def norm_codes(g, width):
    """Parameters as ONNX Runtime's quantiser writes them: codes, and a bias of 32 bits."""
    x = g.input(1, 7, width, codes=True, scale=0.04, zero=-6)
    gain = [g.const(g.rng.integers(60, 127, width).astype(np.int8)), g.const(np.float32(0.01)), g.const(np.int8(0))]
    shift = [g.const(g.rng.integers(-900, 900, width).astype(np.int32)), g.const(np.float32(0.0004)), g.const(np.int32(0))]
    extra = [g.node("DequantizeLinear", gain), g.node("DequantizeLinear", shift)]
    g.output(g.op("LayerNormalization", x, scale=0.02, zero=4, extra=extra, axis=-1), codes=True)


@family("norm_root", (16, 0.03), (64, 0.1))
def norm_root(g, width, scale):
    g.opset = 23
    x = g.input(1, 9, width, codes=True, scale=scale, zero=-4)
    gain = g.const((1 + 0.1 * g.rng.standard_normal(width)).astype(np.float32))
    g.output(g.op("RMSNormalization", x, scale=0.02, zero=4, extra=[gain], axis=-1), codes=True)


@family("norm_flat", (48, ))
def norm_flat(g, width):
    """Rows of equal codes: the variance is 0."""
    x = g.input(4, width, codes=True, scale=0.02)
    g.feeds["x0"][:] = g.feeds["x0"][:, :1]
    g.feeds["x0"][2, ::3] += 1
    gain = g.const(np.ones(width, np.float32))
    g.output(g.op("LayerNormalization", x, scale=0.02, zero=4, extra=[gain], axis=-1), codes=True)


@family("product", (1, 16, 16, 16), (3, 5, 32, 48), (2, 17, 64, 16), (4, 24, 16, 32))
def product(g, heads, rows, inner, columns):
    a = g.input(1, heads, rows, inner, codes=True, scale=0.03, zero=5)
    b = g.input(1, heads, inner, columns, codes=True, scale=0.02, zero=-9)
    g.output(g.op("MatMul", a, b, scale=0.06 * np.sqrt(inner), zero=2), codes=True)


@family("product_zeros", (0, 0), (-128, 0), (0, 127), (-128, -128))
def product_zeros(g, za, zb):
    a = g.input(1, 2, 16, 16, codes=True, scale=0.03, zero=za)
    b = g.input(1, 2, 16, 32, codes=True, scale=0.02, zero=zb)
    g.output(g.op("MatMul", a, b, scale=0.5, zero=2), codes=True)


def heads_of(g, x, tokens, heads, width, turned=False):
    x = g.op("Reshape", x, extra=[g.const(np.array([1, tokens, heads, width // heads], np.int64))])
    x = g.op("Transpose", x, perm=[0, 2, 1, 3])
    return g.op("Transpose", x, perm=[0, 1, 3, 2]) if turned else x


@family("ragged_attention", (24, 4, 64), (17, 2, 32))
@family("attention", (16, 2, 32), (32, 1, 16), (48, 3, 48))
def attention(g, tokens, heads, width):
    x = g.input(1, tokens, width, scale=0.02, zero=1)
    q, k, v = (g.dense(x, width, kind="MatMul", turned=False) for _ in range(3))
    q, k, v = heads_of(g, q, tokens, heads, width), heads_of(g, k, tokens, heads, width, True), heads_of(g, v, tokens, heads, width)
    root = np.sqrt(width // heads)
    s = g.op("MatMul", q, k, scale=float(q.scale) * float(k.scale) * root * 40, zero=3)
    p = g.op("Softmax", s, scale=1 / 255, zero=-128, axis=-1)
    o = g.op("MatMul", p, v, scale=float(v.scale) / 2, zero=0)
    o = g.op("Transpose", o, perm=[0, 2, 1, 3])
    o = g.op("Reshape", o, extra=[g.const(np.array([1, tokens, width], np.int64))])
    o = g.dense(o, width, kind="MatMul", turned=False)
    gain = g.const((1 + 0.1 * g.rng.standard_normal(width)).astype(np.float32))
    y = g.op("Add", o, x, scale=float(o.scale) * 1.2)
    g.output(g.op("LayerNormalization", y, scale=0.03, zero=0, extra=[gain], axis=-1))


@family("split_heads", (16, 2, 32))
def split_heads(g, tokens, heads, width):
    """Queries, keys and values in one product, as GPT-2 has them."""
    x = g.dense(g.input(1, tokens, width), 3 * width, kind="MatMul", turned=False)
    parts = []
    f = g.floats(x)
    names = [f"part{k}" for k in range(3)]
    node = helper.make_node("Split", [f, g.const(np.array([width] * 3, np.int64))], names, name="split", axis=2)
    g.nodes.append(node)
    for name in names:
        g.infos[name] = helper.make_tensor_value_info(name, 1, [1, tokens, width])
        parts.append(g.quantise(name, x.scale, x.zero, (1, tokens, width)))
    q, k, v = (heads_of(g, p, tokens, heads, width, t) for p, t in zip(parts, (False, True, False)))
    s = g.op("MatMul", q, k, scale=float(x.scale) ** 2 * 160, zero=0)
    p = g.op("Softmax", s, scale=1 / 255, zero=-128, axis=-1)
    g.output(g.op("MatMul", p, v, scale=float(x.scale) / 2, zero=0))


NAMES = [name for name in CASES if name not in FIRST]
