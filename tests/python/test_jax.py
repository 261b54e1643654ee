"""The JAX front end: programs against XLA, and how a decorated function behaves."""

import functools
import itertools
import threading
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import polyblocks
import pytest
import jax_parts  # noqa: F401  (which adds to the programs)
from jax_programs import PROGRAMS, REFUSED, f
from polyblocks import polyblocks_jit_jax

jit = functools.partial(polyblocks_jit_jax, compile_options={"target": "cpu"})


def plain(leaf):
    return jax.random.key_data(leaf) if jnp.issubdtype(jnp.asarray(leaf).dtype, jax.dtypes.prng_key) else leaf


def same(got, want, most=1e-4):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want)):
        assert a.dtype == b.dtype and a.shape == b.shape
        a, b = np.asarray(plain(a)), np.asarray(plain(b))
        if a.dtype.kind not in "fc" and a.dtype.kind != "V":
            np.testing.assert_array_equal(a, b)
        elif a.dtype.itemsize < 4 and a.dtype.kind != "c":
            np.testing.assert_allclose(a.astype(np.float32), b.astype(np.float32), rtol=1e-2, atol=1e-2)
        else:
            np.testing.assert_allclose(a, b, rtol=most, atol=most * max(1.0, float(np.max(np.abs(b), initial=0, where=np.isfinite(b)))))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    function, arguments = PROGRAMS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
        if name in REFUSED:
            with pytest.raises(polyblocks.CompileError) as error:
                jit(function)(*arguments)
            assert REFUSED[name] in str(error.value) and "jax_programs.py:" in str(error.value)
            return
        same(jit(function)(*arguments), jax.jit(function)(*arguments))


MATRICES = [f(n, n, seed=n) for n in (1, 2, 17)] + [f(3, 6, 6, seed=4), jnp.zeros((4, 4)), f(6, 1) @ f(1, 6, seed=2)]


@pytest.mark.parametrize("number", range(len(MATRICES)))
def test_symmetric_matrices(number):
    """Values as LAPACK has them; vectors by what they are, since their signs, and those of alike values, are open."""
    a = MATRICES[number] + jnp.swapaxes(MATRICES[number], -1, -2)
    values, vectors = jit(jnp.linalg.eigh)(a)
    most = 2e-5 * max(1, float(jnp.abs(a).max()) * a.shape[-1])
    np.testing.assert_allclose(values, jnp.linalg.eigvalsh(a), atol=most)
    np.testing.assert_allclose(a @ vectors, vectors * values[..., None, :], atol=most)
    np.testing.assert_allclose(jnp.swapaxes(vectors, -1, -2) @ vectors, np.broadcast_to(np.eye(a.shape[-1]), a.shape), atol=2e-5)
    np.testing.assert_allclose(jit(jnp.linalg.eigvalsh)(a), values, atol=most)


@pytest.mark.parametrize("number, full", [(k, k % 2 > 0) for k in range(len(MATRICES))] + [(len(MATRICES) + k, full) for k in range(2) for full in (False, True)])
def test_singular_values(number, full):
    a = [*MATRICES, f(9, 4), f(2, 3, 5)][number]
    u, s, vt = jit(lambda x: jnp.linalg.svd(x, full_matrices=full))(a)
    want, k = jnp.linalg.svd(a, full_matrices=full), s.shape[-1]
    most = 2e-5 * max(1, float(jnp.abs(a).max()) * max(a.shape[-2:]))
    assert (u.shape, s.shape, vt.shape) == tuple(w.shape for w in want)
    np.testing.assert_allclose(s, want[1], atol=most)
    np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ vt[..., :k, :], a, atol=most)
    for x in (jnp.swapaxes(u, -1, -2) @ u, vt @ jnp.swapaxes(vt, -1, -2)):
        np.testing.assert_allclose(x, np.broadcast_to(np.eye(x.shape[-1]), x.shape), atol=2e-5)


def test_systems_of_many_rows():
    """Past what the compiler writes out: loops."""
    a, b = f(90, 90, seed=8) + 20 * jnp.eye(90), f(90, 3, seed=9)
    spd = a @ a.T
    np.testing.assert_allclose(jit(jnp.linalg.solve)(a, b), jnp.linalg.solve(a, b), rtol=1e-4, atol=1e-6)
    same(jit(jnp.linalg.cholesky)(spd), jnp.linalg.cholesky(spd))
    assert np.isnan(jit(jnp.linalg.cholesky)(-spd)).any()
    for how in {}, {"lower": True}, {"trans": 1}, {"unit_diagonal": True, "lower": True}:
        triangle = jnp.tril(a / 20) if how.get("lower") else jnp.triu(a / 20)
        solve = functools.partial(jax.scipy.linalg.solve_triangular, **how)
        same(jit(lambda x, y: solve(x, y))(triangle, b), solve(triangle, b))


@pytest.mark.parametrize("shape, mode", [((5, 5), "r"), ((9, 4), "reduced"), ((9, 4), "complete"), ((4, 9), "reduced"), ((2, 6, 3), "complete"), ((1, 1), "reduced")])
def test_qr(shape, mode):
    a = f(*shape, seed=3)
    made, want = jit(lambda x: jnp.linalg.qr(x, mode=mode))(a), jnp.linalg.qr(a, mode=mode)
    same(jax.tree.map(jnp.abs, made), jax.tree.map(jnp.abs, want))
    if mode != "r":
        np.testing.assert_allclose(made[0] @ made[1], a, atol=1e-5)


@pytest.mark.parametrize("n, columns", [(65, 3), (100, 1), (96, 40)])
def test_triangles(n, columns):
    """Panels of 32 rows, whole and not: factors, and systems of either triangle, turned or not, of one diagonal or another."""
    rng = np.random.default_rng(n)
    a = rng.standard_normal((n, n)).astype(np.float32)
    b = rng.standard_normal((n, columns)).astype(np.float32)
    for lower, turned, unit in itertools.product((True, False), (0, 1), (True, False)):
        t = (np.tril(a) if lower else np.triu(a)) / (50 if unit else 1) + (0 if unit else 16) * np.eye(n, dtype=np.float32)
        system = functools.partial(jax.scipy.linalg.solve_triangular, lower=lower, trans=turned, unit_diagonal=unit)
        np.testing.assert_allclose(polyblocks_jit_jax(system)(t, b), system(t, b), rtol=1e-3, atol=2e-5)
    square = a @ a.T + n * np.eye(n, dtype=np.float32)
    np.testing.assert_allclose(polyblocks_jit_jax(jnp.linalg.cholesky)(square), np.linalg.cholesky(square), rtol=1e-4, atol=1e-4)
    both = polyblocks_jit_jax(jax.vmap(jnp.linalg.cholesky))(np.stack([square, 2 * square]))
    np.testing.assert_allclose(both[1], np.linalg.cholesky(2 * square), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n", [250, 256, 513])
def test_cholesky_of_many_panels(n):
    """Half of them are made of the whole matrix, the others of what is left."""
    a = np.random.default_rng(n).standard_normal((n, n))
    square = a @ a.T + n * np.eye(n)
    made = polyblocks_jit_jax(jnp.linalg.cholesky)(square.astype(np.float32))
    np.testing.assert_allclose(made, np.linalg.cholesky(square), rtol=1e-4, atol=1e-4)
    square[n - 3, n - 3] = -1
    assert np.isnan(polyblocks_jit_jax(jnp.linalg.cholesky)(square.astype(np.float32))[np.tril_indices(n)]).all()


def test_lu_of_ties():
    """All are as large as each other, in every column: the first one is the pivot, in the order that rows have come to."""
    a = np.ones((1, 1), np.float32)
    for _ in range(7):
        a = np.block([[a, a], [a, -a]])
    factors, pivots, order = polyblocks_jit_jax(jax.lax.linalg.lu)(a)
    wanted, left = a.astype(np.float64), np.arange(len(a))
    for k in range(len(a)):
        at = k + np.argmax(np.abs(wanted[k:, k]))
        assert pivots[k] == at
        wanted[[k, at]], left[[k, at]] = wanted[[at, k]], left[[at, k]]
        wanted[k + 1 :, k] /= wanted[k, k]
        wanted[k + 1 :, k + 1 :] -= np.outer(wanted[k + 1 :, k], wanted[k, k + 1 :])
    np.testing.assert_array_equal(order, left)
    np.testing.assert_array_equal(factors, wanted)


@pytest.mark.parametrize("shape", [(65, 65), (70, 100), (130, 66), (32, 32), (96, 96), (64, 64), (33, 20), (64, 160), (160, 64), (1, 40)])
def test_lu(shape):
    """Panels of 32 columns, whole and not, with columns behind the last one and without."""
    a = np.random.default_rng(7).standard_normal(shape).astype(np.float32)
    factors, pivots, order = polyblocks_jit_jax(jax.lax.linalg.lu)(a)
    wanted = jax.lax.linalg.lu(a)
    np.testing.assert_array_equal(pivots, wanted[1])
    np.testing.assert_array_equal(order, wanted[2])
    np.testing.assert_allclose(factors, wanted[0], rtol=1e-2, atol=1e-3)


def test_lu_of_what_is_singular():
    """Rows that are alike leave zeros, of which the first one is the pivot; several matrices at once."""
    a = np.random.default_rng(8).integers(-3, 4, (2, 70, 70)).astype(np.float32)
    a[0, 40:] = a[0, :30]
    a[1, :, 50:] = 0
    factors, pivots, order = polyblocks_jit_jax(jax.lax.linalg.lu)(a)
    for made, to, of in zip(factors, order, a, strict=True):
        made = np.asarray(made, np.float64)
        np.testing.assert_allclose((np.tril(made, -1) + np.eye(70)) @ np.triu(made), of[to], atol=1e-3)
    np.testing.assert_array_equal(pivots[1, 50:], np.arange(50, 70))


def test_what_is_made_of_decompositions():
    a, b = f(12, 5, seed=6), f(12, seed=7)
    for function in (jnp.linalg.pinv, lambda x: jnp.linalg.lstsq(x, b)[0], jnp.linalg.matrix_rank, jax.grad(lambda x: jnp.linalg.norm(x, "nuc"))):
        same(jit(function)(a), function(a), 2e-4)


def test_arguments_of_every_kind():
    @jit
    def f(tree, x, scale=2.0):
        return {"y": tree["a"] @ tree["b"][0] * scale, "x": x, "none": None}

    a, b = np.ones((2, 3), np.float32), jnp.ones((3, 2))
    got = f({"a": a, "b": [b]}, 3, scale=0.5)
    assert isinstance(got["y"], jax.Array) and np.allclose(got["y"], 1.5) and got["x"] == 3 and got["none"] is None
    assert np.allclose(f({"a": a, "b": [b]}, 3)["y"], 6)  # another signature
    assert len(f.programs) == 2
    f({"a": 2 * a, "b": [b]}, 4)
    assert len(f.programs) == 2
    f({"a": a[:1], "b": [b]}, 4)
    assert len(f.programs) == 3


def test_static_numbers_of_types():
    """Equal ones of two types are two."""
    jitted, x = polyblocks_jit_jax(lambda x, by: x * by, static_argnums=1), np.array([1, -1], np.int32)
    for by in (0, 0.0, 1, 1.0, True):
        got, want = jitted(x, by), jnp.asarray(x) * by
        assert got.dtype == want.dtype and np.array_equal(got, want)


def test_settings_of_jax():
    """What JAX traces by is part of what is compiled."""
    draw = polyblocks_jit_jax(lambda: jax.random.uniform(jax.random.key(0), (3,)))
    for setting in (True, False, True):
        with jax.threefry_partitionable(setting):
            np.testing.assert_allclose(draw(), jax.random.uniform(jax.random.key(0), (3,)))


@pytest.mark.parametrize("algorithm", ["PHILOX", "THREE_FRY", "DEFAULT"])
def test_random_bits(algorithm):
    """As XLA makes them, and the state behind them."""
    shapes, types = [(), (1,), (4,), (7, 3), (3, 4), (5, 3, 7), (4, 1, 6)], [jnp.uint8, jnp.uint16, jnp.uint32, jnp.uint64]

    def bits(key):
        return [jax.lax.rng_bit_generator(key, shape, t, getattr(jax.lax.RandomAlgorithm, "RNG_" + algorithm)) for shape in shapes for t in types]

    with jax.enable_x64(True):
        for key in (np.array([1, 2, 3, 4], np.uint32), np.array([3, 2**64 - 2], np.uint64)):
            got, want = polyblocks_jit_jax(bits)(key), jax.jit(bits)(key)
            for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want)):
                assert a.dtype == b.dtype and np.array_equal(a, b)


@pytest.mark.parametrize("kind", ["rbg", "unsafe_rbg"])
def test_keys_of_random_bits(kind):
    def drawn(seed):
        a, b = jax.random.split(jax.random.key(seed, impl=kind))
        return jax.random.normal(a, (3, 5)), jax.random.bernoulli(b, 0.3, (9,)), jax.random.permutation(a, 10)

    for got, want in zip(polyblocks_jit_jax(drawn)(7), jax.jit(drawn)(7)):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_static_arguments():
    def f(x, n, mode="add"):
        return x + n if mode == "add" else x * n

    x = jnp.arange(4.0)
    for g in (
        polyblocks_jit_jax(f, static_argnums=(1, 2)),
        polyblocks_jit_jax(f, static_argnames=("n", "mode")),
    ):
        assert np.array_equal(g(x, 3), x + 3) and np.array_equal(g(x, 3, "mul"), 3 * x) and np.array_equal(g(x, 3), x + 3)
        assert np.array_equal(g(x, n=4), x + 4)
        assert len(g.programs) == 3


def test_constants_are_bound_once():
    @functools.partial(polyblocks_jit_jax, constants="params")
    def f(params, x):
        return x @ params["w"] + params["b"]

    rng = np.random.default_rng(0)
    params = {"w": jnp.asarray(rng.standard_normal((4, 3)), jnp.float32), "b": jnp.ones(3)}
    x = jnp.ones((2, 4))
    same(f(params, x), x @ params["w"] + params["b"])
    (program,) = f.programs.values()
    assert len(program.engine.inputs) == 1
    f(params, x)
    assert len(f.programs) == 1
    other = {"w": 2 * params["w"], "b": params["b"]}
    same(f(other, x), x @ other["w"] + other["b"])
    assert len(f.programs) == 2
    w = jnp.ones((2, 2))
    g = polyblocks_jit_jax(lambda w, x, n: x @ w * n, constants="w", static_argnums=2)
    same(g(w, w, 3), 3 * w @ w)  # the same array beside it is no constant
    same(g(w, 2 * w, 3), 6 * w @ w)
    assert len(g.programs) == 1
    with pytest.raises(polyblocks.ArgumentError, match="has no argument 'weights'; it has params, x"):
        polyblocks_jit_jax(f.function, constants="weights")


def test_closed_over_arrays_are_no_text():
    w = jnp.asarray(np.random.default_rng(0).standard_normal((300, 300)), jnp.float32)
    f = jit(lambda x: jnp.tanh(x @ w))
    assert len(f.lower(jnp.ones((2, 300))).text) < 5000
    same(f(jnp.ones((2, 300))), jnp.tanh(jnp.ones((2, 300)) @ w))


def test_donated_arguments():
    @functools.partial(polyblocks_jit_jax, donate_argnums=(0,))
    def f(cache, x, k):
        return jax.lax.dynamic_update_slice(cache, x[None], (k, 0)), x + 1

    cache = jnp.zeros((3, 4))
    for k in range(3):
        given, at = cache, cache.unsafe_buffer_pointer()
        cache, y = f(cache, jnp.full(4, k + 1.0), jnp.int32(k))
        assert cache.unsafe_buffer_pointer() == at and given.is_deleted() and np.array_equal(y, np.full(4, k + 2))
    assert np.array_equal(cache, np.ones((3, 4)) * [[1], [2], [3]])
    (program,) = f.programs.values()
    assert program.engine.aliases == [0, -1]
    kept = np.zeros((3, 4), np.float32)  # NumPy's are copied: they are not the engine's to write
    assert np.array_equal(f(kept, jnp.ones(4), jnp.int32(1))[0][1], np.ones(4)) and not kept.any()


def test_donations_that_cannot_be_had():
    f = polyblocks_jit_jax(lambda a, b: (a[::-1] + b, a * 2), donate_argnums=(0, 1))
    same(f(jnp.arange(3.0), jnp.ones(3)), (jnp.arange(3.0)[::-1] + 1, jnp.arange(3.0) * 2))


class Model:
    def __init__(self, scale):
        self.scale = scale

    @polyblocks_jit_jax
    def whole(self, x):
        return self.part(x) + 1

    @functools.partial(polyblocks_jit_jax, static_argnums=(2,))
    def part(self, x, n=2):
        return x * self.scale * n


def test_methods_and_calls_inside():
    x = jnp.arange(3.0)
    two, three = Model(2.0), Model(3.0)
    assert np.array_equal(two.whole(x), 4 * x + 1) and np.array_equal(three.whole(x), 6 * x + 1)
    assert np.array_equal(two.part(x, 5), 10 * x)
    assert Model.whole.__name__ == "whole"


def test_x64():
    with jax.enable_x64(True):
        f = jit(lambda x, n: (x * 2 + 1, n * 3))
        x, n = f(jnp.arange(4.0), jnp.int64(1 << 40))
        assert x.dtype == jnp.float64 and n.dtype == jnp.int64 and n == 3 << 40
    x, n = f(jnp.arange(4.0), 7)
    assert x.dtype == jnp.float32 and n.dtype == jnp.int32


@pytest.mark.parametrize(
    "transform, says",
    [
        (lambda f: jax.grad(lambda x: f(x).sum()), "only what is inside can be differentiated"),
        (lambda f: jax.jacfwd(f), "only what is inside can be differentiated"),
        (lambda f: jax.vmap(f), "jax.vmap cannot look into"),
        (lambda f: jax.jit(f), "decorate the outer function too"),
    ],
)
def test_transforms_from_outside(transform, says):
    f = jit(lambda x: jnp.sin(x))
    with pytest.raises(polyblocks.ArgumentError) as error:
        transform(f)(jnp.ones((2, 3)))
    assert says in str(error.value)


def test_gradients_inside():
    f = jit(lambda x: jnp.sin(x).sum())
    g = jit(jax.grad(lambda x: f(x) ** 2))  # another decorated one inside is a part of it
    x = jnp.arange(3.0)
    same(g(x), jax.grad(lambda x: jnp.sin(x).sum() ** 2)(x))


def test_threads():
    f = jit(lambda x: jnp.cumsum(x) * 2)
    wrong = []

    def work(k):
        for turn in range(40):
            x = np.full(20 + turn % 3, k, np.float32)
            if not np.array_equal(f(x), np.cumsum(x) * 2):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and len(f.programs) == 3


def test_results_live_on():
    f = jit(lambda x: x + 1)
    results = [f(np.full(1000, k, np.float32)) for k in range(50)]
    assert all(np.array_equal(r, np.full(1000, k + 1)) for k, r in enumerate(results))
    assert np.array_equal(jax.jit(lambda a: a * 2)(results[3]), np.full(1000, 8))


def test_cost_of_compiling_and_calling():
    """A jitted add: compiled within half a second, and a call over the C function, the best of several."""
    import time

    f = polyblocks_jit_jax(lambda a, b: a + b, compile_options={"cache": False, "n_threads": 1})
    x = jnp.ones((2, 3))
    f(x, x[:1])
    start = time.perf_counter()
    f(x, x)
    compiled = time.perf_counter() - start
    program = list(f.programs.values())[-1]
    runtime = program.engine._free[0]

    def best(call):
        times = []
        for _ in range(30):
            start = time.perf_counter()
            for _ in range(100):
                call()
            times.append((time.perf_counter() - start) / 100)
        return min(times)

    over = best(lambda: f(x, x)) - best(lambda: program.engine._run(runtime.handle, runtime.inputs, runtime.outputs))
    print(f"compiled in {compiled:.2f} s, {1e6 * over:.1f} us a call more than C's")
    assert compiled <= 0.5 and over <= 20e-6


def test_wrong_calls():
    f = jit(lambda x: x + 1)
    with pytest.raises(TypeError):
        f("text")
    with pytest.raises(polyblocks.OptionError, match="perhaps 'target'"):
        polyblocks_jit_jax(lambda x: x, compile_options={"targets": "cpu"})
    with pytest.raises(polyblocks.ArgumentError, match="3 is no function"):
        polyblocks_jit_jax(3)
    with pytest.raises(polyblocks.CompileError):
        polyblocks_jit_jax(lambda x: x + 1, compile_options={"target": "nosuch"})(jnp.ones(3))


def test_explain():
    f = jit(lambda x, y: jnp.tanh(x @ y))
    text = polyblocks.explain(f, jnp.ones((8, 8)), jnp.ones((8, 8)))
    assert "dot_general" in text or "tanh" in text
    assert not f.programs


def test_what_calls_python_or_libraries_says_what():
    with pytest.raises(polyblocks.CompileError, match="callback.*\n  hint: what is compiled calls no Python"):
        jit(lambda x: (jax.debug.print("{}", x), x + 1)[1])(jnp.ones(3))
    with pytest.raises(polyblocks.CompileError, match=r"test_jax\.py:\d+: error: .*lapack_sgeev"):
        jit(jnp.linalg.eigvals)(jnp.ones((3, 3)))


def test_weak_types():
    """A result that came of Python's numbers alone yields to the type that it meets, as JAX's own does."""

    def function(x, k):
        return 2.5, k * 2, jnp.asarray(1) + 1.5, jnp.where(x > 0, 1.0, 0), x * 2.0

    got, want = polyblocks_jit_jax(function)(jnp.ones(3), 3), jax.jit(function)(jnp.ones(3), 3)
    half = jnp.ones(3, jnp.bfloat16)
    for a, b in zip(got, want, strict=True):
        assert a.weak_type == b.weak_type and (half * a).dtype == (half * b).dtype and np.array_equal(a, b)
        assert np.array_equal(polyblocks_jit_jax(lambda v: v + 1)(a), b + 1)


def test_numbers_of_four_bits():
    """JAX packs two of them in a byte."""

    def function(x, u):
        return x.astype("int32") * 3, x + x, u.astype("float32")

    x, u = jnp.arange(-8, 8).astype("int4"), jnp.arange(16).astype("uint4")
    for a, b in zip(jit(function)(x, u), jax.jit(function)(x, u), strict=True):
        assert a.dtype == b.dtype and np.array_equal(a.astype("int32"), b.astype("int32"))


@pytest.mark.parametrize("kind", [jnp.float8_e4m3fn, jnp.float8_e5m2])
def test_floats_of_8_bits(kind):
    """Inside, as arguments and as results; each operation rounds."""
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.standard_normal(244) * 10.0 ** rng.integers(-6, 4, 244), [0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 465, 480, 57344, 61440, 61441]]).astype(np.float32)
    y, a, b = x.astype(kind), rng.standard_normal((8, 16)).astype(kind), rng.standard_normal((16, 4)).astype(kind)

    def all_of_them(x, y, a, b):
        converted = x.astype(kind), x.astype(kind).astype(jnp.bfloat16), y.astype(np.float32), y.astype(np.int32)
        elements = y + y, y * jnp.asarray(0.3, kind), -y, jnp.maximum(y, y[::-1]), y < y[::-1], jnp.where(y > 0, y, 0)
        moved = y.reshape(4, -1).T, jnp.concatenate([y, y[:3]]), jnp.pad(a, 1), a.at[2].set(1), a[jnp.array([1, 3])], jax.lax.bitcast_convert_type(a, np.uint8)
        loops = jax.lax.scan(lambda c, v: ((c + v).astype(kind), c), a[0], a), jax.lax.cond(x[0] > 0, lambda v: v * 2, lambda v: v, a)
        return converted, elements, moved, loops, jnp.dot(a, b, preferred_element_type=np.float32), a.max(1), jnp.argmax(a, 1), a.sum(1)

    for got, want in zip(jax.tree.leaves(jit(all_of_them)(x, y, a, b)), jax.tree.leaves(jax.jit(all_of_them)(x, y, a, b))):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(np.asarray(got).astype(np.float32), np.asarray(want).astype(np.float32), rtol=1e-6)


def test_scattered_products_of_complex_numbers():
    x, k = np.random.default_rng(1).standard_normal((6, 9, 2)).astype(np.float32).view(np.complex64)[..., 0], np.array([2, -1, 0, 2, 5], np.int32)

    def updated(x, k):
        return x.at[:, ::3].multiply(2 + 1j), x.at[k].multiply(1j), x.at[k, k + 1].multiply(x[0, 0]), x.at[2].power(2), x.at[k].set(1j), jax.scipy.signal.welch(x.real.ravel(), nperseg=16)

    same(jit(updated)(x, k), jax.jit(updated)(x, k))


@pytest.mark.parametrize("kind", [np.float32, np.float16, jnp.bfloat16])
def test_next_numbers(kind):
    """Towards each other one, without those that XLA takes for 0."""
    ends = np.array([0, -0.0, 1, -1, 3.25, np.inf, -np.inf, np.nan, 6e4, -2.5], np.float32).astype(kind)
    a, b = (v.ravel() for v in np.meshgrid(ends, ends))
    same(jit(jnp.nextafter)(a, b), jax.jit(jnp.nextafter)(a, b), 0)
