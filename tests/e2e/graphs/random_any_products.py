"""Products of matrices of any ranks, sums by letters, recurrent layers. Functions of a drawing and a tensor."""

import numpy as np
from random_shapes import product

DIRECTIONS = ["forward", "reverse", "bidirectional"]


def scaled(d, shape, terms):
    return (d.numbers(shape) / np.float32(np.sqrt(max(terms, 1)))).astype(np.float32)


def matmul(d, x):
    """With a matrix, a vector or a batch that is broadcast either way; from either side."""
    if not x.rank:
        return None
    left, n = d.chance(0.7), d.rng.choice([1, 2, 3, 5, 8, 16, 17, 33])
    terms = x.shape[-1] if left or x.rank == 1 else x.shape[-2]
    batch = tuple(m if d.chance(0.5) else 1 for m in x.shape[:-2])[d.rng.randrange(max(x.rank - 1, 1)):]
    if d.chance(0.15):
        batch = (d.rng.choice([2, 3]), *(1 for _ in x.shape[:-2]))
    if d.chance(0.15):
        shape = (terms,)
    else:
        shape = (*batch, terms, n) if left else (*batch, n, terms)
    y = d.operand(scaled(d, shape, terms), 0.5)
    return d.op("MatMul", *((x, y) if left else (y, x)))


def rows(d, x):
    """Products with itself, turned: scores, and what they weigh."""
    if x.rank < 2:
        return None
    perm = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    turned = d.op("Transpose", x, perm=perm, exact=True)
    scores = d.op("MatMul", x, turned)
    scores = d.op("Mul", scores, d.const(np.float32(1 / np.sqrt(x.shape[-1]))))
    scores = d.op("Softmax", scores, axis=-1)
    return d.op("MatMul", scores, x) if d.chance(0.6) else scores


def gemm(d, x):
    if x.rank != 2:
        return None
    a, b, n = d.rng.randrange(2), d.rng.randrange(2), d.rng.choice([1, 3, 8, 16, 17, 33])
    m, terms = x.shape[::-1] if a else x.shape
    weights = d.operand(scaled(d, (n, terms) if b else (terms, n), terms), 0.6)
    bias = d.operand(d.rng.choice([(), (1,), (n,), (1, n), (m, 1), (m, n)])) if d.chance(0.7) else None
    factors = {"alpha": d.rng.choice([0.5, 2.0]), "beta": d.rng.choice([0.25, 1.5])} if d.chance(0.3) else {}
    return d.op("Gemm", x, weights, *([bias] if bias is not None else []), transA=a, transB=b, **factors)


def einsum(d, x):
    """The letters of x in an equation that keeps some, sums over others, and has a second operand perhaps."""
    if not x.rank:
        return None
    letters = "abcde"[:x.rank]
    if d.chance(0.3):  # alone
        kept = [letter for letter in letters if d.chance(0.7)]
        d.rng.shuffle(kept)
        return d.op("Einsum", x, equation=f"{letters}->{''.join(kept)}")
    shared = [letter for letter in letters if d.chance(0.6)]
    more = {"p": d.rng.choice([1, 2, 3, 8])} if d.chance(0.7) else {}
    second = [*shared, *more]
    d.rng.shuffle(second)
    if not second:
        return None
    extents = {**dict(zip(letters, x.shape)), **more}
    kept = [letter for letter in (*letters, *more) if letter in more or d.chance(0.6)]
    d.rng.shuffle(kept)
    terms = product(extents[letter] for letter in letters if letter not in kept)
    y = d.operand(scaled(d, tuple(extents[letter] for letter in second), terms), 0.5)
    return d.op("Einsum", x, y, equation=f"{letters},{''.join(second)}->{''.join(kept)}")


def recurrent(d, x):
    """LSTM, GRU or RNN: directions, layouts, lengths, states."""
    if x.rank != 3 or max(x.shape) > 17:
        return None
    kind, direction = d.rng.choice(["LSTM", "GRU", "RNN"]), d.rng.choice(DIRECTIONS)
    gates, ways = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind], 2 if direction == "bidirectional" else 1
    (time, batch, inside), hidden = x.shape, d.rng.choice([1, 3, 8, 16])
    if gates * ways * hidden * (hidden + inside) > 4_000:
        return None
    weights = d.operand(scaled(d, (ways, gates * hidden, inside), inside))
    again = d.operand(scaled(d, (ways, gates * hidden, hidden), hidden))
    bias = d.operand((ways, 2 * gates * hidden)) if d.chance(0.7) else None
    lengths = d.operand(d.graph.rng.integers(1, time + 1, batch).astype(np.int32)) if d.chance(0.3) else None
    states = [d.operand((ways, batch, hidden)) for _ in range(2 if kind == "LSTM" else 1)] if d.chance(0.4) else []
    peephole = [d.operand((ways, 3 * hidden))] if kind == "LSTM" and states and d.chance(0.5) else []
    attrs = {"linear_before_reset": d.rng.randrange(2)} if kind == "GRU" else {}
    if d.chance(0.2):
        attrs["clip"] = 0.75
    if kind == "RNN" and d.chance(0.4):
        attrs["activations"] = [d.rng.choice(["Relu", "Sigmoid", "Tanh"])] * ways
    results = d.op(kind, x, weights, again, bias, lengths, *states, *peephole, hidden_size=hidden, direction=direction,
                   results=2, **attrs)
    return d.rng.choice(results)


PRODUCTS = [matmul] * 4 + [rows, gemm, gemm, gemm, einsum, einsum, recurrent, recurrent, recurrent]
