"""What XLA leaves to its own calls when TensorFlow prints a function: QR, products of reflectors and LU, as functions of the same text,
which TensorFlow itself prints (Householder's reflections, and Gauss's steps with pivots; Golub and Van Loan, Matrix Computations, 5.2, 3.4)."""

import re

import tensorflow as tf


def _one(j, count, like):
    return tf.one_hot(j, count, dtype=like.dtype)


def packed_reflectors(a):
    """R on and above the diagonal, reflectors below it, and their factors."""
    m, n = a.shape[-2:]
    rows, columns = tf.range(m), tf.range(n)
    k = min(m, n)

    def step(j, a, factors):
        x = tf.linalg.matvec(a, _one(j, n, a))
        below = tf.where(rows > j, x, 0)
        alpha = tf.reduce_sum(x * _one(j, m, a), -1, keepdims=True)
        rest = tf.reduce_sum(below * below, -1, keepdims=True)
        size = tf.sqrt(alpha * alpha + rest)
        is_done = rest == 0
        beta = tf.where(is_done, alpha, tf.where(alpha > 0, -size, size))
        by = tf.where(is_done, 0, (beta - alpha) / tf.where(is_done, 1, beta))
        below = below / tf.where(is_done, 1, alpha - beta)
        v = below + _one(j, m, a)
        sums = tf.linalg.matvec(a, v, transpose_a=True)
        a = a - tf.where(columns > j, v[..., :, None] * (by * sums)[..., None, :], 0)
        own = below + beta * _one(j, m, a)
        a = tf.where((columns == j) & (rows >= j)[:, None], own[..., None], a)
        return j + 1, a, factors + by * _one(j, k, a)

    return tf.while_loop(lambda j, *_: j < k, step, (0, a, tf.zeros((*a.shape[:-2], k), a.dtype)))[1:]


def product_of_reflectors(a, factors):
    """The first columns of the product, as many as the matrix has."""
    m, n = a.shape[-2:]
    rows, k = tf.range(m), factors.shape[-1]

    def step(i, q):
        j = k - 1 - i
        v = tf.where(rows > j, tf.linalg.matvec(a, _one(j, n, a)), 0) + _one(j, m, a)
        by = tf.reduce_sum(factors * _one(j, k, a), -1, keepdims=True)
        return i + 1, q - v[..., :, None] * (by * tf.linalg.matvec(q, v, transpose_a=True))[..., None, :]

    return tf.while_loop(lambda i, _: i < k, step, (0, tf.broadcast_to(tf.eye(m, n, dtype=a.dtype), a.shape)))[1:]


def lower_upper(a):
    """L below the diagonal and U in one, the row that each step exchanges with, and the order of rows that comes of it."""
    m, n = a.shape[-2:]
    k = min(m, n)
    rows, columns = tf.range(m), tf.range(n)

    def step(j, a, pivots, order):
        column = tf.linalg.matvec(a, _one(j, n, a))
        other = tf.argmax(tf.where(rows >= j, tf.abs(column), -1), -1, tf.int32)[..., None]
        here, there = rows == j, rows == other
        source = tf.where(here, other, tf.where(there, j, rows))
        a, order = tf.gather(a, source, batch_dims=a.shape.rank - 2, axis=-2), tf.gather(order, source, batch_dims=a.shape.rank - 2, axis=-1)
        column = tf.linalg.matvec(a, _one(j, n, a))
        pivot = tf.reduce_sum(column * _one(j, m, a), -1, keepdims=True)
        factor = tf.where(rows > j, column / tf.where(pivot == 0, 1, pivot), 0)
        top = tf.linalg.matvec(a, _one(j, m, a), transpose_a=True)
        a = a - tf.where(columns > j, factor[..., :, None] * top[..., None, :], 0)
        a = tf.where((columns == j) & (rows > j)[:, None], factor[..., None], a)
        return j + 1, a, pivots + other * tf.one_hot(j, k, dtype=tf.int32), order

    outer = a.shape[:-2]
    first = 0, a, tf.zeros((*outer, k), tf.int32), tf.broadcast_to(rows, (*outer, m))
    return tf.while_loop(lambda j, *_: j < k, step, first)[1:]


FUNCTIONS = {"Qr": packed_reflectors, "ProductOfElementaryHouseholderReflectors": product_of_reflectors, "LuDecomposition": lower_upper}
CALL = re.compile(r"stablehlo\.custom_call @(\w+)(\([^)]*\))[^\n]*? : (\(([^)]*)\) -> [^\n]*?)(?= loc\(|$)", re.M)
TYPES = {"f32": tf.float32, "f64": tf.float64}


def written_out(text):
    """The text with functions in the calls' place, and those functions behind it."""
    made, functions = {}, []

    def replaced(call):
        name, operands, types = call.group(1), call.group(2), [t.split("x") for t in re.findall(r"tensor<([^>]*)>", call.group(4))]
        if name not in FUNCTIONS or any(t[-1] not in TYPES for t in types):
            return call.group(0)
        key = name, call.group(4)
        if key not in made:
            made[key] = f"pb_{name}_{len(made)}"
            functions.append(_printed(FUNCTIONS[name], [tf.TensorSpec(list(map(int, t[:-1])), TYPES[t[-1]]) for t in types], made[key]))
        return f"call @{made[key]}{operands} : {call.group(3)}"

    text = CALL.sub(replaced, text)
    if not functions:
        return text
    end = text.rindex("\n}")
    return text[:end] + "\n" + "\n".join(functions) + text[end:]


def _printed(function, specs, name):
    """A function and those that it calls, without places."""
    text = tf.function(function, jit_compile=True).experimental_get_compiler_ir(*specs)(stage="stablehlo")
    lines = [re.sub(r" loc\((?:[^()]|\([^()]*\))*\)", "", line) for line in text.splitlines() if not line.startswith("#loc")]
    body = "\n".join(lines[1 : max(k for k, line in enumerate(lines) if line.startswith("}"))])
    for symbol in set(re.findall(r"func\.func (?:private |public )?@([\w.\-]+)", body)):
        body = re.sub(rf"@{re.escape(symbol)}(?![\w.\-])", f"@{name}" if symbol == "main" else f"@{name}_{symbol}", body)
    return re.sub(rf"func\.func (?:public )?@{name}\(", f"func.func private @{name}(", body)
