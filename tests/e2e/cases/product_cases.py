"""Products of floats that nobody quantised, on chips whose products are of codes: rows multiplied and summed, right and slow."""

import numpy as np
from regression_cases import F32, I64, Maker, case

LANES = ("cpu", "simnpu", "simnpu:8", "simnpu:32")


def product(name, left, right, constant=False):
    m = Maker(name)
    right_factor = m.const(m.rng.standard_normal(right).astype(F32)) if constant else m.input("w", *right)
    return m.done(m.op("MatMul", m.input("x", *left), right_factor), targets=LANES)


@case
def float_product():
    """Neither its terms nor its columns fill rows of lanes."""
    return product("float_product", (20, 40), (40, 24))


@case
def float_product_by_weights():
    return product("float_product_by_weights", (7, 33), (33, 5), constant=True)


@case
def float_heads():
    """Rows of products by heads: three loops around each sum, which lie together on the chip."""
    return product("float_heads", (1, 3, 16, 24), (1, 3, 24, 16))


@case
def float_heads_of_shared_keys():
    return product("float_heads_of_shared_keys", (2, 3, 5, 12), (2, 1, 12, 9))


@case
def float_rows_of_stacks():
    return product("float_rows_of_stacks", (4, 1, 3), (4, 3, 16))


@case
def float_outer_product():
    """A single term: nothing is summed."""
    return product("float_outer_product", (9, 1), (1, 20))


@case
def float_product_of_vectors():
    return product("float_product_of_vectors", (37,), (37,))


@case
def float_convolutions():
    """A window over a padded image, channels that each have a window of their own, and one that steps."""
    m = Maker("float_convolutions")

    def convolve(x, inside, out, size, **attrs):
        weights = m.rng.standard_normal((out, inside, size, size)).astype(F32) / F32(size)
        return m.op("Conv", x, m.const(weights), m.const(m.rng.standard_normal(out).astype(F32)), **attrs)

    x = m.op("Relu", convolve(m.input("x", 1, 3, 9, 9), 3, 6, 3, pads=[1, 1, 1, 1]))
    x = m.op("Clip", convolve(x, 1, 6, 3, group=6, pads=[1, 1, 1, 1]), m.const(F32(0)), m.const(F32(6)))
    return m.done(convolve(x, 6, 5, 2, strides=[2, 2]), targets=LANES)


@case
def float_attention():
    """Scores, their softmax and what it weighs: all three in floats."""
    m = Maker("float_attention")
    q, k, v = (m.input(name, 10, 24) for name in "qkv")
    scores = m.op("Mul", m.op("MatMul", q, m.op("Transpose", k, perm=[1, 0])), m.const(F32(0.2)))
    return m.done(m.op("MatMul", m.op("Softmax", scores, axis=-1), v), targets=LANES)


@case
def float_product_between_codes():
    """As a quantiser leaves a network of which it has taken one product out."""
    m = Maker("float_product_between_codes")
    x = m.codes(m.input("x", 6, 20), F32(0.05))
    y = m.op("MatMul", x, m.const(m.rng.standard_normal((20, 11)).astype(F32)))
    return m.done(m.codes(m.op("Relu", y), F32(0.1)), step=0.1, targets=LANES)


@case
def rows_each_with_each():
    """Each row of one tensor times each of another, and their sums: rows are read again, not copied."""
    m = Maker("rows_each_with_each")
    pairs = m.op("Mul", m.input("x", 7, 1, 20), m.input("y", 1, 9, 20))
    return m.done(m.op("ReduceSum", pairs, m.const(np.array([2], I64)), keepdims=0), targets=LANES)
