"""What XLA leaves to calls of its own in the text of a function: QR and products of reflectors (of tf.linalg's qr, inv, solve), eigenvalues of
symmetric matrices, as functions of the same text, which TensorFlow itself prints (Householder's reflections and Jacobi's rotations, half as
many at once as there are rows; Golub and Van Loan, Matrix Computations, 5.2 and 8.5)."""

import re

import numpy as np
import tensorflow as tf

from .errors import NotSupported


def _one(j, count, like):
    return tf.one_hot(j, count, dtype=like.dtype)


def packed_reflectors(a):
    """R on and above the diagonal, reflectors below it, and their factors."""
    m, n = a.shape[-2:]
    rows, columns, k = tf.range(m), tf.range(n), min(m, n)

    def step(j, a, factors):
        x = tf.linalg.matvec(a, _one(j, n, a))
        below = x * tf.cast(rows > j, a.dtype)
        alpha = tf.reduce_sum(x * _one(j, m, a), -1, keepdims=True)
        rest = tf.reduce_sum(below * below, -1, keepdims=True)
        size = tf.sqrt(alpha * alpha + rest)
        is_done = rest == 0
        beta = tf.where(is_done, alpha, tf.where(alpha > 0, -size, size))
        by = tf.math.divide_no_nan(beta - alpha, beta)
        below = tf.math.divide_no_nan(below, alpha - beta)
        v = below + _one(j, m, a)
        sums = tf.linalg.matvec(a, v, transpose_a=True)
        a = a - v[..., :, None] * (by * sums * tf.cast(columns > j, a.dtype))[..., None, :]
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
        v = tf.linalg.matvec(a, _one(j, n, a)) * tf.cast(rows > j, a.dtype) + _one(j, m, a)
        by = tf.reduce_sum(factors * _one(j, k, a), -1, keepdims=True)
        return i + 1, q - v[..., :, None] * (by * tf.linalg.matvec(q, v, transpose_a=True))[..., None, :]

    return tf.while_loop(lambda i, _: i < k, step, (0, tf.broadcast_to(tf.eye(m, n, dtype=a.dtype), a.shape)))[1:]


def _but_zeros(x):
    """x with 1 in the place of 0, to divide by."""
    return tf.where(x == 0, tf.ones_like(x), x)


def _rotations(own, mixed, other):
    """Cosines and sines that make `mixed`, of each row and its partner, 0; own: what stands on the diagonal."""
    is_low = tf.range(own.shape[-1]) < other
    theirs = tf.gather(own, other, axis=-1)
    ratio = tf.where(is_low, theirs - own, own - theirs) / _but_zeros(2 * mixed)
    tangent = tf.where(ratio >= 0, tf.ones_like(own), -tf.ones_like(own)) / (tf.abs(ratio) + tf.sqrt(ratio * ratio + 1))
    tangent = tf.where(mixed == 0, tf.zeros_like(own), tangent)
    cosine = 1 / tf.sqrt(tangent * tangent + 1)
    return cosine, tf.where(is_low, -tangent * cosine, tangent * cosine)


def symmetric_eigen(a):
    """Vectors, as columns, and values, the least first. The lower triangle says the matrix."""
    n, dtype = a.shape[-1], a.dtype
    a = tf.linalg.band_part(a, -1, 0)
    a = a + tf.linalg.matrix_transpose(a) - tf.linalg.diag(tf.linalg.diag_part(a))
    scale = _but_zeros(tf.reduce_max(tf.abs(a), (-2, -1), keepdims=True))
    size = n + n % 2  # nothing is mixed with a row of zeros
    a = tf.pad(a / scale, [(0, 0)] * (len(a.shape) - 2) + [(0, size - n)] * 2)
    places, last = tf.range(size), size - 1

    def turn(k, a, v):
        """Each row meets one other, in size - 1 turns each of them once."""
        other = (2 * k - places + 2 * size - 2) % max(last, 1)
        other = tf.where(places == last, k, tf.where(other == places, last, other))
        met = places == other[:, None]
        cosine, sine = _rotations(tf.linalg.diag_part(a), tf.reduce_sum(tf.where(met, a, tf.zeros_like(a)), -1), other)
        a = a * cosine[..., None] + tf.gather(a, other, axis=-2) * sine[..., None]
        a, v = (x * cosine[..., None, :] + tf.gather(x, other, axis=-1) * sine[..., None, :] for x in (a, v))
        return k + 1, tf.where(met, tf.zeros_like(a), a), v

    def far(a):
        whole = tf.reduce_sum(a * a, (-2, -1))
        off = tf.reduce_sum(tf.where(tf.eye(size, dtype=tf.bool), tf.zeros_like(a), a * a), (-2, -1))
        return tf.sqrt(tf.reduce_max(off / _but_zeros(whole)))

    def sweep(count, _, a, v):
        a, v = tf.while_loop(lambda k, *_: k < last, turn, (0, a, v))[1:]
        return count + 1, far(a), a, v

    def goes_on(count, worst, *_):
        return (count < 30) & (worst > np.finfo(dtype.as_numpy_dtype).eps)

    start = (0, tf.constant(1, dtype), a, tf.broadcast_to(tf.eye(size, dtype=dtype), a.shape))
    a, v = tf.while_loop(goes_on, sweep, start)[2:]
    values = tf.linalg.diag_part(a)[..., :n]
    order = tf.argsort(values, axis=-1, stable=True)
    moves = tf.linalg.matrix_transpose(tf.one_hot(order, n, dtype=dtype))
    by_size = tf.reduce_sum(tf.where(moves > 0, values[..., None], tf.zeros_like(moves)), -2)
    return v[..., :n, :n] @ moves, by_size * scale[..., 0]


FUNCTIONS = {"Eigh": symmetric_eigen, "Qr": packed_reflectors, "ProductOfElementaryHouseholderReflectors": product_of_reflectors}
CALL = re.compile(r"(%\w+) = stablehlo\.custom_call @(\w+)(\([^)]*\)) [^\n]*?: \(([^)]*)\) -> (tuple<(.*?>)>|tensor<[^>]*>)(?=\s|$)")
PART = re.compile(r"stablehlo\.get_tuple_element (%\w+)\[(\d+)\] : \([^)]*\) -> (tensor<[^>]*>)")
TYPES = {"f32": tf.float32, "f64": tf.float64}


def written_out(text, place):
    """The text with functions in the calls' place, and those functions behind it. `place` says where a line of the text comes from."""
    made, functions, lines = {}, [], text.splitlines()
    for k, line in enumerate(lines):
        call = CALL.search(line)
        if call is None:
            lines[k] = PART.sub(r"stablehlo.reshape \1#\2 : (\3) -> \3", line)
            continue
        value, name, operands, given, result, several = call.groups()
        types = [(*dims.split("x")[:-1], kind) for dims, kind in re.findall(r"tensor<((?:\d+x)*)(complex<\w+>|\w+)>", given)]
        if name not in FUNCTIONS or any(t[-1] not in TYPES for t in types):
            if several is None:  # which the compiler knows, or refuses by name
                continue
            kinds = " and ".join(t[-1] for t in types)
            raise NotSupported(f"XLA's own call '{name}' of {kinds}", place(k + 1))
        if (name, given) not in made:
            made[name, given] = f"pb_{name}_{len(made)}"
            specs = [tf.TensorSpec(list(map(int, t[:-1])), TYPES[t[-1]]) for t in types]
            functions.append(_printed(FUNCTIONS[name], specs, made[name, given]))
        count = f":{several.count('tensor<')}" if several else ""
        said = f"{value}{count} = func.call @{made[name, given]}{operands} : ({given}) -> {f'({several})' if several else result}"
        lines[k] = line[: call.start()] + said + line[call.end() :]
    if not functions:
        return text
    end = max(k for k, line in enumerate(lines) if line.startswith("}"))
    return "\n".join([*lines[:end], *functions, *lines[end:], ""])


def _printed(function, specs, name):
    """A function and those that it calls, without places."""
    text = tf.function(function, jit_compile=True).experimental_get_compiler_ir(*specs)(stage="stablehlo")
    lines = [re.sub(r" loc\((?:[^()]|\([^()]*\))*\)", "", line) for line in text.splitlines() if not line.startswith("#loc")]
    body = "\n".join(lines[1 : max(k for k, line in enumerate(lines) if line.startswith("}"))])
    for symbol in set(re.findall(r"func\.func (?:private |public )?@([\w.\-]+)", body)):
        body = re.sub(rf"@{re.escape(symbol)}(?![\w.\-])", f"@{name}" if symbol == "main" else f"@{name}_{symbol}", body)
    return re.sub(rf"func\.func (?:public )?@{name}\(", f"func.func private @{name}(", body)
