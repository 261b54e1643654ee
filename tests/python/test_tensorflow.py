"""The TensorFlow front end against eager: functions, variables, Keras models."""

import argparse
import functools
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import polyblocks
import pytest
import tensorflow as tf
from polyblocks import polyblocks_jit_tf


def same(got, want, most=1e-4):
    tf.nest.assert_same_structure(got, want)
    for a, b in zip(tf.nest.flatten(got), tf.nest.flatten(want)):
        if b is None:
            assert a is None
            continue
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=most, atol=most * max(1.0, float(np.max(np.abs(b), initial=0))))


RNG = np.random.default_rng(0)


def f(*shape):
    return tf.constant(RNG.uniform(-1, 1, shape).astype(np.float32))


X, Y = f(4, 6), f(4, 6)
PROGRAMS = {
    "arithmetic": (lambda x, y: (x + y * 2, x - y, x / (y + 3), x**2, -x), X, Y),
    "products": (lambda x, y: (tf.matmul(x, y, transpose_b=True), tf.tensordot(x, y, [[1], [1]]), tf.einsum("ij,kj->ik", x, y)), X, Y),
    "functions": (lambda x: [g(x) for g in (tf.exp, tf.sin, tf.tanh, tf.sigmoid, tf.math.erf, tf.math.softplus, tf.nn.gelu, tf.nn.relu6, tf.nn.elu, tf.math.log1p)], X),
    "reductions": (lambda x: (tf.reduce_sum(x, 0), tf.reduce_mean(x), tf.reduce_max(x, 1), tf.argmax(x, 1), tf.math.reduce_std(x), tf.cumsum(x, 1)), X),
    "movement": (lambda x: (tf.transpose(x), tf.reshape(x, [3, -1]), tf.concat([x, x], 1), x[1:, ::2], tf.pad(x, [[1, 0], [0, 2]]), tf.tile(x, [2, 1]), tf.reverse(x, [0])), X),
    "gather": (lambda x, k: (tf.gather(x, k, axis=1), tf.gather_nd(x, tf.stack([k, k], 1)), tf.one_hot(k, 6)), X, tf.constant([0, 2, 3])),
    "scatter": (lambda x, k: tf.tensor_scatter_nd_add(x, k[:, None], x[:2]), X, tf.constant([1, 3])),
    "choice": (lambda x, y: (tf.where(x > y, x, y), tf.clip_by_value(x, -0.5, 0.5), tf.maximum(x, y)), X, Y),
    "softmax": (lambda x: (tf.nn.softmax(x), tf.nn.log_softmax(x), tf.nn.l2_normalize(x, 1)), X),
    "sorts": (lambda x: (tf.sort(x, 1), tf.argsort(x, 1), tf.math.top_k(x, 3).values), X),
    "casts": (lambda x: (tf.cast(3 * x, tf.int32), tf.cast(x > 0, tf.float32), tf.cast(x, tf.bfloat16)), X),
    "convolution": (lambda x, w: tf.nn.conv2d(x, w, 2, "SAME"), f(2, 9, 9, 3), f(3, 3, 3, 5)),
    "depthwise": (lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"), f(2, 9, 9, 3), f(3, 3, 3, 2)),
    "pools": (lambda x: (tf.nn.max_pool2d(x, 2, 2, "VALID"), tf.nn.avg_pool2d(x, 3, 1, "SAME")), f(2, 8, 8, 3)),
    "while_loop": (lambda x: tf.while_loop(lambda k, v: k < 5, lambda k, v: (k + 1, v * 1.1), (0, x))[1], X),
    "cond": (lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1), X),
    "batched": (lambda x, y: tf.matmul(x, y), f(3, 4, 5), f(3, 5, 2)),
    "integers": (lambda a, b: (a // b, a % b, tf.bitwise.bitwise_xor(a, b)), tf.constant([7, -7, 9]), tf.constant([2, 2, 4])),
    "linear_algebra": (lambda a: (tf.linalg.band_part(a, 0, -1), tf.linalg.trace(a), tf.linalg.norm(a)), f(5, 5)),
    "named": (lambda d: {"s": d["a"] + d["b"], "both": [d["a"], None]}, {"a": X, "b": Y}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    function, *arguments = PROGRAMS[name]
    same(polyblocks_jit_tf(function)(*arguments), function(*arguments))


def test_variables():
    v, w, count = tf.Variable(f(3, 3)), tf.Variable(f(3, 3)), tf.Variable(0.0)

    @polyblocks_jit_tf
    def g(x):
        count.assign_add(1.0)
        return tf.matmul(tf.matmul(x, w), v) * count

    x = f(2, 3)
    for k in range(1, 4):
        same(g(x), tf.matmul(tf.matmul(x, w), v) * float(k))
        assert count.numpy() == k
    v.assign(2 * v)
    same(g(x), tf.matmul(tf.matmul(x, w), v) * 4.0)


def test_variables_among_tensors():
    """Both are closed over, of one shape, and stand in the text as the function comes upon them."""
    first, second, third = f(70, 70), f(70, 70), f(70, 70)
    v, w = tf.Variable(f(70, 70)), tf.Variable(f(70, 70))

    def g(x):
        y = v - 2 * first
        w.assign_sub(y)
        return (x + 3 * y) @ second - 4 * w + 5 * third

    x, kept = f(70, 70), w.numpy()
    want, written = g(x), w.numpy()
    w.assign(kept)
    same(polyblocks_jit_tf(g)(x), want)
    same(w, written)


def test_signatures():
    g = polyblocks_jit_tf(lambda x, n=2: x * n)
    same(g(X), 2 * X)
    same(g(X, 3), 3 * X)
    same(g(X[:2]), 2 * X[:2])
    same(g(np.ones((2, 2), np.float32)), tf.fill((2, 2), 2.0))
    assert len(g.programs) == 4


def test_gradients_inside():
    v = tf.Variable(f(6, 2))

    @polyblocks_jit_tf
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(x @ v) ** 2)
        return loss, tape.gradient(loss, v)

    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(X @ v) ** 2)
    same(step(X), (loss, tape.gradient(loss, v)))
    with tf.GradientTape() as tape:
        tape.watch(X)
        with pytest.raises(polyblocks.ArgumentError, match="only what is inside can be differentiated"):
            polyblocks_jit_tf(lambda x: x * 2)(X)


class Scale(tf.Module):
    def __init__(self):
        self.by = tf.Variable(3.0)

    @polyblocks_jit_tf
    def scaled(self, x):
        return x * self.by


def test_methods():
    module = Scale()
    same(module.scaled(X), 3 * X)
    module.by.assign(4.0)
    same(module.scaled(X), 4 * X)


class Parts(tf.Module):
    def __init__(self):
        self.w, self.table = tf.Variable(f(6, 3)), f(3)
        self.more, self.named = [tf.Variable(f(3)), Scale()], {"a": tf.Variable(1.0), "b": (Scale(),)}

    def __call__(self, x):
        y = x @ self.w + self.table
        for part in self.more:
            y = y * (part.by if isinstance(part, Scale) else part)
        return y * self.named["a"] * self.named["b"][0].by

    @polyblocks_jit_tf
    def called(self, x):
        return self(x)


def test_what_modules_hold_is_replaced():
    parts = Parts()
    ways = polyblocks_jit_tf(parts), polyblocks_jit_tf(lambda x: 2 * parts(x)), parts.called
    changes = [
        lambda: None, lambda: setattr(parts, "w", tf.Variable(f(6, 3))), lambda: setattr(parts, "table", f(3)), lambda: parts.more.append(tf.Variable(f(3))),
        lambda: parts.named.update(a=tf.Variable(7.0)), lambda: setattr(parts.named["b"][0], "by", tf.Variable(5.0)), lambda: setattr(parts, "more", []),
    ]  # fmt: skip
    for change in changes:
        change()
        for way, times in zip(ways, (1, 2, 1)):
            same(way(X), times * parts(X))
    assert len(ways[0].programs) == 1


def test_variables_of_open_shape():
    v = tf.Variable(tf.zeros((2, 3)), shape=tf.TensorShape((None, 3)))
    with pytest.raises(polyblocks.PolyBlocksError, match="which an assignment may change"):
        polyblocks_jit_tf(lambda x: x + v)(f(2, 3))


def convolutions():
    return tf.keras.Sequential([
        tf.keras.layers.Input((16, 16, 3)), tf.keras.layers.Conv2D(8, 3, padding="same"), tf.keras.layers.BatchNormalization(),
        tf.keras.layers.ReLU(), tf.keras.layers.MaxPool2D(), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10, "softmax")])


def attention():
    x = tf.keras.layers.Input((12, 32))
    y = tf.keras.layers.LayerNormalization()(x + tf.keras.layers.MultiHeadAttention(4, 8)(x, x))
    return tf.keras.Model(x, tf.keras.layers.Dense(5)(tf.keras.layers.Dense(64, "gelu")(y)))


def recurrent():
    return tf.keras.Sequential([tf.keras.layers.Input((7, 6)), tf.keras.layers.LSTM(8, return_sequences=True), tf.keras.layers.GRU(5)])


@pytest.mark.parametrize("make, shape", [(convolutions, (2, 16, 16, 3)), (attention, (2, 12, 32)), (recurrent, (2, 7, 6))])
def test_keras(make, shape):
    tf.keras.utils.set_random_seed(1)
    model, x = make(), f(*shape)
    same(polyblocks_jit_tf(model)(x), model(x))


def as_xla(make, *arguments):
    """Three calls of what draws numbers, and of the same by XLA: to the bit but for what rounds behind them."""
    called = []
    for jit in (polyblocks_jit_tf, functools.partial(tf.function, jit_compile=True)):
        tf.keras.utils.set_random_seed(1)
        function = make()
        function(*arguments)  # layers are built
        function = jit(function)
        called.append([function(*arguments) for _ in range(3)])
    same(*called, 1e-5)
    return [np.asarray(tf.nest.flatten(y)[0]) for y in called[0]]


LAYERS = tf.keras.layers
DRAWN = {
    "dropout": lambda: functools.partial(LAYERS.Dropout(0.3), training=True),
    "noise": lambda: functools.partial(LAYERS.GaussianNoise(0.3, seed=3), training=True),
    "network": lambda: functools.partial(tf.keras.Sequential([LAYERS.Dense(8), LAYERS.Dropout(0.5), LAYERS.Dense(3)]), training=True),
    "generator": lambda: functools.partial(lambda g, x: x + g.normal(x.shape), tf.random.Generator.from_seed(7)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_random_numbers(name):
    """Of a state that a layer or a generator has: each call draws others."""
    first, second, _ = as_xla(DRAWN[name], f(4, 50))
    assert not np.array_equal(first, second)


def test_random_numbers_of_seeds():
    def drawn(x, seed):
        of = tf.random
        whole = of.stateless_uniform((7,), seed, minval=-5, maxval=9, dtype=tf.int32), of.stateless_uniform((3, 5), seed, dtype=tf.float64), of.stateless_uniform((3, 5), seed, alg="threefry")
        return (*whole, of.stateless_normal((3, 5), seed), of.stateless_truncated_normal((9,), (1, 2)), of.stateless_categorical(x, 4, seed), of.split(seed, 3), tf.keras.random.shuffle(x, seed=3))

    seed = tf.constant([3, -4])
    same(polyblocks_jit_tf(drawn)(X, seed), tf.function(drawn, jit_compile=True)(X, seed), 1e-5)
    with pytest.raises(polyblocks.CompileError, match="TensorFlow's own state"):
        polyblocks_jit_tf(lambda x: tf.nn.dropout(x, 0.3))(X)


def test_refused_by_name():
    with pytest.raises(polyblocks.PolyBlocksError, match="py_function|EagerPyFunc"):
        polyblocks_jit_tf(lambda x: tf.py_function(lambda v: v, [x], tf.float32))(X)
    with pytest.raises(polyblocks.CompileError, match=r"operator 'Unique': error: .*PB2110"):
        polyblocks_jit_tf(lambda x: tf.unique(tf.reshape(x, [-1])).y)(X)
    with pytest.raises(polyblocks.NotSupported, match="extents data say"):
        polyblocks_jit_tf(tf.keras.ops.nanmedian)(X)
    with pytest.raises(polyblocks.PolyBlocksError, match="test_tensorflow.py:"):
        polyblocks_jit_tf(lambda x: tf.matmul(x, x))(X)


def test_systems():
    """By the calls that XLA has of its own for QR, which are functions of the text here; signs of columns are LAPACK's."""
    a, y, tall = f(3, 6, 6), f(3, 6, 2), f(2, 7, 4)
    same(polyblocks_jit_tf(lambda a, y: (tf.linalg.solve(a, y), tf.linalg.inv(a), tf.linalg.expm(a / 4)))(a, y), (tf.linalg.solve(a, y), tf.linalg.inv(a), tf.linalg.expm(a / 4)), 1e-3)

    def reflected(a, full):
        q, r = tf.linalg.qr(a, full_matrices=full)
        return q @ r, tf.matmul(q, q, transpose_a=True), tf.abs(r)

    for matrix in (tall, f(3, 5), tf.zeros((3, 3)), tf.cast(tall, tf.float64)):
        for full in (False, True):
            same(polyblocks_jit_tf(lambda a: reflected(a, full))(matrix), reflected(matrix, full))
    with pytest.raises(polyblocks.NotSupported, match="operator 'SelfAdjointEigV2': error: XLA's own call 'Eigh' of complex<f32>"):
        polyblocks_jit_tf(tf.linalg.eigvalsh)(tf.cast(a, tf.complex64))
    with pytest.raises(polyblocks.NotSupported, match="MatrixDeterminant"):
        polyblocks_jit_tf(tf.linalg.det)(a)


@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (3, 5, 5), (2, 2, 4, 4)])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_symmetric_eigenvalues(shape, dtype):
    """The lower triangle says the matrix; signs of vectors are LAPACK's."""
    a, most = tf.cast(f(*shape), dtype), 1e-4 if dtype == tf.float32 else 1e-12
    lower = tf.linalg.band_part(a, -1, 0)
    values, vectors = polyblocks_jit_tf(tf.linalg.eigh)(a)
    same(values, tf.linalg.eigvalsh(a), most)
    same(vectors @ (values[..., None] * tf.linalg.matrix_transpose(vectors)), lower + tf.linalg.matrix_transpose(lower) - tf.linalg.diag(tf.linalg.diag_part(a)), most)
    same(polyblocks_jit_tf(tf.linalg.eigvalsh)(tf.zeros_like(a) + 1), tf.linalg.eigvalsh(tf.zeros_like(a) + 1), most)


def test_constants_are_not_taken():
    with pytest.warns(polyblocks.PolyBlocksWarning, match="variables are read at each call"):
        polyblocks_jit_tf(lambda x: x, compile_options={"device_one_time_load": True})


def test_explain():
    assert "dot_general" in polyblocks.explain(polyblocks_jit_tf(lambda x, y: tf.matmul(x, y, transpose_b=True)), X, Y)


BY, OFFSET = 2.0, tf.constant(1.0)


def test_numbers_that_change():
    """Of a module, closed over, global: as eager has them."""

    class Scaled(tf.Module):
        def __init__(self):
            super().__init__()
            self.k, self.v = 2.0, tf.Variable(3.0)

        def __call__(self, x):
            return x * self.k * self.v

    x, k, module = tf.constant([1.0, 2.0]), 2.0, Scaled()
    compiled, closed, named = polyblocks_jit_tf(module), polyblocks_jit_tf(lambda x: x * k), polyblocks_jit_tf(lambda x: x * BY + OFFSET)
    for by in (2.0, 2.0, 5.0):
        k = module.k = by
        globals()["BY"], globals()["OFFSET"] = by, tf.constant(by)
        assert np.allclose(compiled(x), x * by * 3) and np.allclose(closed(x), x * by) and np.allclose(named(x), x * by + by)
    kept = compiled.programs.copy()
    compiled(x)
    assert compiled.programs == kept


class Own(tf.Module):
    by = 1.0

    def __init__(self):
        super().__init__()
        self.numbers, self.names, self.config, self.function = [1.0], {"k": 1.0}, argparse.Namespace(z=1.0), tf.nn.relu

    def __call__(self, x):
        return self.function(x * self.by * self.numbers[0] * self.names["k"] * self.config.z)


class Layer(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.pair = (1.0, 2.0)

    def call(self, x):
        return x * self.pair[0] + self.pair[1]


def test_what_else_changes_between_calls():
    """Lists, dicts, objects and functions of a module, its class, what helpers name; a Keras layer's own."""
    x, module, layer, by = tf.constant([1.0, -2.0]), Own(), Layer(), [2.0]
    tensors, layers = {"a": tf.constant([1.0, 2.0])}, [Own(), Own()]

    def helper(x):
        return x * by[0]

    def with_helper(x):
        return helper(x)

    def with_helper_of_tensors(x):
        return helper_of_tensors(x)

    def helper_of_tensors(x):
        return x * tensors["a"]

    def with_layers(x):
        for layer in layers:
            x = layer(x)
        return x

    part = functools.partial(lambda x, by: x * by, by=2.0)
    changes = [
        (with_helper_of_tensors, lambda: tensors.update(a=tf.constant([3.0, 4.0]))),
        (with_layers, lambda: layers.append(Own())),
        (with_layers, lambda: layers.__setitem__(0, layer)),
        (with_layers, lambda: setattr(layers[1], "by", 3.0)),
        (module, lambda: module.numbers.__setitem__(0, 2.0)),
        (module, lambda: module.names.update(k=3.0)),
        (module, lambda: setattr(module.config, "z", 4.0)),
        (module, lambda: setattr(module, "function", tf.nn.tanh)),
        (module, lambda: setattr(Own, "by", 0.5)),
        (module, lambda: setattr(module, "by", 0.7)),
        (layer, lambda: setattr(layer, "pair", (3.0, 4.0))),
        (with_helper, lambda: by.__setitem__(0, 3.0)),
        (part, lambda: part.keywords.update(by=5.0)),
    ]
    compiled = {id(function): polyblocks_jit_tf(function) for function, _ in changes}
    for function, change in changes:
        jitted = compiled[id(function)]
        same(jitted(x), function(x))
        change()
        same(jitted(x), function(x))
    kept = list(compiled[id(layer)].programs.values())
    compiled[id(layer)](x)
    assert list(compiled[id(layer)].programs.values()) == kept


def follows(function, changes, x, **named):
    """The same as eager before and behind each change."""
    compiled = polyblocks_jit_tf(function)
    same(compiled(x, **named), function(x, **named))
    for change in changes:
        change()
        same(compiled(x, **named), function(x, **named))


class Private(tf.keras.layers.Layer):
    """Whose attributes have names that Keras keeps books under."""

    def __init__(self):
        super().__init__()
        self._by, self._function, self._settings, self._pair = 2.0, tf.nn.relu, argparse.Namespace(k=3.0), np.ones(2, "f4")

    def call(self, x):
        return self._function(x * self._by) * self._settings.k + self._pair


def test_private_attributes_and_methods():
    layer = Private()
    changes = [functools.partial(setattr, layer, "_by", 5.0), functools.partial(setattr, layer, "_function", tf.nn.tanh)]
    changes += [functools.partial(setattr, layer._settings, "k", 4.0), lambda: layer._pair.__setitem__(0, 7.0)]
    changes += [functools.partial(setattr, layer, "call", lambda x: x * 2), lambda: delattr(layer, "call")]
    follows(layer, changes, f(3, 2))


def test_layers_that_train_no_more():
    layer = tf.keras.layers.BatchNormalization()
    layer.build((None, 3))
    x = f(8, 3) + 1
    compiled = polyblocks_jit_tf(layer)
    compiled(x, training=True)
    layer.trainable = False
    same(compiled(x, training=True), layer(x, training=True))


def test_what_a_signature_says():
    @tf.function(input_signature=[tf.TensorSpec((None, 3), tf.float32), tf.TensorSpec((), tf.int32)])
    def taken(x, n):
        return x * 2, n + 1

    compiled = polyblocks_jit_tf(taken)
    for args, named in ((([[1.0, 2, 3]], 3), {}), ((np.ones((2, 3)),), {"n": 4}), ((tf.ones((4, 3)),), {"n": tf.constant(5)})):
        same(compiled(*args, **named), taken(*args, **named))


def test_settings_of_keras_and_composite_arguments():
    def halves(x):
        return tf.keras.ops.average_pool(x, 2)

    compiled, x = polyblocks_jit_tf(halves), f(1, 4, 4, 4)
    same(compiled(x), halves(x))
    tf.keras.config.set_image_data_format("channels_first")
    try:
        same(compiled(x), halves(x))
    finally:
        tf.keras.config.set_image_data_format("channels_last")
    for value in (tf.sparse.from_dense([[1.0, 0.0]]), tf.ragged.constant([[1.0], []])):
        with pytest.raises(polyblocks.ArgumentError, match=type(value).__name__):
            polyblocks_jit_tf(lambda x: x)(value)
