"""Programs of JAX as people write them: name, function, arguments. A name that begins with "refused" says that the compiler
has no such thing, and which word its error has."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax, nn

PROGRAMS = {}
REFUSED = {}


def program(*arguments, refused=None, name=None):
    def add(function):
        key = name or function.__name__
        assert key not in PROGRAMS, key
        PROGRAMS[key] = (function, arguments)
        if refused:
            REFUSED[key] = refused
        return function

    return add


def f(*shape, seed=0, low=-1.0, high=1.0):
    return jnp.asarray(np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32))


def i(*shape, high=10, seed=0):
    return jnp.asarray(np.random.default_rng(seed).integers(0, high, shape).astype(np.int32))


X, Y, V, P, Q = f(4, 6), f(4, 6, seed=1), f(6), f(4, 6, low=0.1, high=3.0), f(5, 5, seed=3)
IMAGE, SPD = f(2, 3, 12, 12), Q @ Q.T + 2 * jnp.eye(5)

# ---- jax.numpy, in one expression each ----
for name, function, *arguments in [
    ("where", lambda x, y: jnp.where(x > y, x, -y), X, Y),
    ("clip_and_round", lambda x: jnp.round(jnp.clip(3 * x, -1, 1)), X),
    ("mean_var_std", lambda x: (x.mean(0), x.var(1), x.std()), X),
    ("cumulative", lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x)), X),
    ("sort_and_argsort", lambda x: (jnp.sort(x, 1), jnp.argsort(x, 0)), X),
    ("arg_extremes", lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 0)), X),
    ("percentiles", lambda x: (jnp.median(x, 1), jnp.quantile(x, 0.3), jnp.percentile(x, 80.0, axis=0)), X),
    ("stacks", lambda x, y: (jnp.stack([x, y]), jnp.hstack([x, y]), jnp.vstack([x, y]), jnp.dstack([x, y])), X, Y),
    ("splits", lambda x: jnp.split(x, 3, 1) + list(jnp.array_split(x, 3)), X),
    ("tiles", lambda x: (jnp.tile(x, (2, 3)), jnp.repeat(x, 2, 1), jnp.roll(x, 2, 1), jnp.flip(x, 0)), X),
    ("pads", lambda x: [jnp.pad(x, 2, mode=m) for m in ("constant", "edge", "reflect", "wrap", "symmetric")], X),
    ("takes", lambda x, k: (jnp.take(x, k, 1), x[k % 4], jnp.take_along_axis(x, k[None] % 6, 1)), X, i(4)),
    ("einsums", lambda x, y: (jnp.einsum("ij,kj->ik", x, y), jnp.einsum("ij,ij->j", x, y), jnp.einsum("ij,kl->", x, y)), X, Y),
    ("products", lambda x, y: (x @ y.T, jnp.dot(x, y[0]), jnp.outer(x[0], y[0]), jnp.inner(x, y), jnp.kron(x[:2, :2], y[:2, :2])), X, Y),
    ("tensordot", lambda a, b: jnp.tensordot(a, b, ([2, 1], [0, 2])), f(2, 3, 4), f(4, 5, 3)),
    ("vander_and_polyval", lambda v: (jnp.vander(v, 4), jnp.polyval(v, 0.5)), V),
    ("triangles", lambda x: (jnp.tril(x), jnp.triu(x, 1), jnp.trace(x), jnp.diag(x), jnp.diag(x[0])), Q),
    ("meshes", lambda v: jnp.meshgrid(v, 2 * v), V),
    ("logic", lambda x, y: (jnp.any(x > y, 0), jnp.all(x < 2), jnp.logical_xor(x > 0, y > 0), jnp.isclose(x, y)), X, Y),
    ("integers", lambda a, b: (a // b, a % b, a << 2, a >> 1, a & b, a | b, a ^ b, ~a, jnp.gcd(a, b)), i(20) + 5, i(20, seed=2) + 1),
    ("float_division", lambda x, y: (x // y, x % y, jnp.fmod(x, y), jnp.divmod(x, y)), X, Y + 2),
    ("exponentials", lambda x: (jnp.exp(x), jnp.exp2(x), jnp.expm1(x), jnp.log(x), jnp.log2(x), jnp.log10(x), jnp.log1p(x)), P),
    ("angles", lambda x: (jnp.sin(x), jnp.cos(x), jnp.tan(x), jnp.arcsin(x), jnp.arccos(x), jnp.arctan(x)), X),
    ("hyperbolic", lambda x: (jnp.sinh(x), jnp.cosh(x), jnp.tanh(x), jnp.arcsinh(x), jnp.arccosh(x + 1), jnp.arctanh(x / 4)), P),
    ("powers", lambda x: (x**2, x**-3, x**0.5, 2**x, jnp.cbrt(x), jnp.sqrt(x), lax.rsqrt(x), jnp.square(x), jnp.reciprocal(x)), P),
    ("two_numbers", lambda x, y: (jnp.hypot(x, y), jnp.arctan2(x, y), jnp.logaddexp(x, y), jnp.copysign(x, y), jnp.heaviside(x, y), jnp.nextafter(x, y)), X, Y),
    ("parts_of_floats", lambda x: (*jnp.modf(x), jnp.sign(x), jnp.trunc(x), jnp.ldexp(x, 3), jnp.nan_to_num(x / (x - x))), 3 * X),
    ("complex_numbers", lambda x, y: (jnp.abs(x + 1j * y), jnp.angle(x + 1j * y), jnp.conj(x + 1j * y), (x + 1j * y) * (y - 2j), jnp.exp(1j * x)), X, Y),
    ("fourier", lambda x: (jnp.fft.fft(x), jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.fft2(x), jnp.fft.fftshift(x)), f(4, 8)),
    ("convolve", lambda v: (jnp.convolve(v, v[:3]), jnp.correlate(v, v[:4], "full"), jnp.convolve(v, v[:2], "same")), V),
    ("searchsorted", lambda v, x: (jnp.searchsorted(v, x), jnp.digitize(x, v), jnp.interp(x, v, v * 2)), jnp.linspace(-1, 1, 9), X),
    ("bincount", lambda k: jnp.bincount(k, length=10), i(50)),
    ("histogram", lambda v: jnp.histogram(v, bins=5)[0], f(50)),
    ("unique_of_size", lambda k: jnp.unique(k, size=6, fill_value=-1), i(12)),
    ("nonzero_of_size", lambda x: jnp.nonzero(x > 0, size=8, fill_value=-1), X),
    ("lexsort", lambda a, b: jnp.lexsort((a, b)), i(12), i(12, seed=2)),
    ("reductions", lambda x: (x.sum(), x.prod(1), x.max(0), x.min(), jnp.ptp(x, 1), jnp.nansum(x), jnp.count_nonzero(x > 0)), X),
    ("nan_reductions", lambda x: (jnp.nanmax(jnp.where(x > 0, x, jnp.nan), 1), jnp.nanmean(jnp.where(x > 0, x, jnp.nan))), X),
    ("covariance", lambda x: (jnp.cov(x), jnp.corrcoef(x)), X),
    ("gradient_of_samples", lambda x: jnp.gradient(x, axis=1), X),
    ("differences", lambda x: (jnp.diff(x), jnp.ediff1d(x), jnp.trapezoid(x)), X),
    ("axes", lambda x: (jnp.moveaxis(x, 0, 2), jnp.swapaxes(x, 0, 1), jnp.expand_dims(x, 1), jnp.rot90(x), x.reshape(3, -1)), f(2, 3, 4)),
    ("slices", lambda x: (x[1:3, ::2], x[::-1], x[..., None, 2], x[-1], x[:, [0, 2]], x[jnp.array([1, 0]), jnp.array([2, 3])]), X),
    ("masked_choice", lambda x: jnp.select([x < -0.5, x > 0.5], [x - 1, x + 1], 0.0), X),
    ("piecewise", lambda x: jnp.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * v]), X),
    ("casts", lambda x: (x.astype(jnp.int32), x.astype(jnp.bfloat16).astype(jnp.float32), (x > 0).astype(jnp.float32), (3 * x).astype(jnp.int8)), 3 * X),
    ("halves", lambda x: (x.astype(jnp.float16) * 2, x.astype(jnp.bfloat16) + 1), X),
    ("bit_views", lambda x: lax.bitcast_convert_type(x, jnp.int32), X),
    ("cross_and_norms", lambda a: (jnp.cross(a, a[::-1]), jnp.linalg.norm(a, axis=1), jnp.linalg.norm(a)), f(4, 3)),
    ("unwrap_and_sinc", lambda v: (jnp.unwrap(3 * v), jnp.sinc(v), jnp.i0(v)), V),
]:
    program(*arguments, name="numpy_" + name)(function)

# ---- updates at indices ----
for name, function, *arguments in [
    ("set_rows", lambda x, k: x.at[k].set(1.0), X, jnp.array([0, 2])),
    ("add_twice", lambda x, k: x.at[k].add(1.0), X, jnp.array([1, 1, 3])),
    ("multiply_min_max", lambda x, k: (x.at[k].multiply(2), x.at[k].min(0.0), x.at[k].max(0.0)), X, jnp.array([1, 3])),
    ("set_a_box", lambda x: x.at[1:3, ::2].set(-1), X),
    ("get_with_fill", lambda x, k: x.at[k].get(mode="fill", fill_value=-9), X, jnp.array([0, 99])),
    ("drop_outside", lambda x, k: x.at[k].set(5.0, mode="drop"), X, jnp.array([0, 99])),
]:
    program(*arguments, name="at_" + name)(function)

# ---- lax ----
SIDES = ("NCHW", "OIHW", "NCHW")
for name, function, *arguments in [
    ("convolution", lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=SIDES), IMAGE, f(8, 3, 3, 3)),
    ("depthwise", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=SIDES, feature_group_count=3), IMAGE, f(6, 1, 3, 3)),
    ("atrous", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "VALID", rhs_dilation=(2, 2), dimension_numbers=SIDES), IMAGE, f(4, 3, 3, 3)),
    ("transposed", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), f(1, 5, 5, 3), f(3, 3, 3, 4)),
    ("line_convolution", lambda x, w: lax.conv(x, w, (1,), "SAME"), f(2, 3, 16), f(4, 3, 5)),
    ("pools", lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"), lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 1, 1), "SAME") / 9), IMAGE),
    ("top_k", lambda x: lax.top_k(x, 3), X),
    ("near_top_k", lambda x: (lax.approx_max_k(x, 2), lax.approx_min_k(x, 2, reduction_dimension=0)), X),
    ("dynamic_slices", lambda x, k: (lax.dynamic_slice(x, (k, k), (2, 3)), lax.dynamic_update_slice(x, x[:1, :2], (k, 0))), X, jnp.int32(1)),
    ("scan", lambda x: lax.scan(lambda c, v: (0.5 * c + v, jnp.sin(c)), jnp.zeros(6), x), X),
    ("scan_reverse", lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(6), x, reverse=True), X),
    ("associative_scan", lambda x: lax.associative_scan(jnp.add, x, axis=1), X),
    ("fori_loop", lambda x: lax.fori_loop(0, 5, lambda k, c: c * 1.1 + k, x), X),
    ("fori_of_data", lambda x, n: lax.fori_loop(0, n, lambda k, c: jnp.cos(c), x), X, jnp.int32(7)),
    ("while_loop", lambda x: lax.while_loop(lambda c: jnp.sum(c) < 100, lambda c: c * 1.5 + 0.1, jnp.abs(x)), X),
    ("cond", lambda x: lax.cond(x.sum() > 0, lambda v: v * 2, lambda v: v - 1, x), X),
    ("switch", lambda k, x: lax.switch(k, [jnp.sin, jnp.cos, jnp.tanh], x), jnp.int32(1), X),
    ("map", lambda x: lax.map(lambda r: r / (1 + jnp.abs(r).sum()), x), X),
    ("reduce", lambda x: lax.reduce(x, jnp.float32(1), lax.mul, (1,)), X),
    ("select_and_precision", lambda x: lax.reduce_precision(x, 5, 10), X),
    ("batched_product", lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))), f(3, 4, 5), f(3, 5, 6)),
    ("integer_product", lambda a, b: a @ b, i(4, 5), i(5, 3, seed=1)),
    ("population", lambda a: (lax.population_count(a), lax.clz(a)), i(10, high=1000)),
    ("sort_pairs", lambda k, x: lax.sort((k, x), num_keys=1), i(10), f(10)),
    ("erf_and_gamma", lambda x: (lax.erf(x), lax.erfc(x), lax.erf_inv(x / 4), lax.lgamma(x), lax.digamma(x)), P),
]:
    program(*arguments, name="lax_" + name)(function)

# ---- nn and scipy ----
for name, function, *arguments in [
    ("activations", lambda x: [a(x) for a in (nn.relu, nn.relu6, nn.gelu, nn.silu, nn.elu, nn.selu, nn.softplus, nn.sigmoid, nn.hard_swish, nn.mish, nn.celu, nn.leaky_relu, nn.log_sigmoid, nn.soft_sign)], 3 * X),
    ("exact_gelu", lambda x: nn.gelu(x, approximate=False), X),
    ("softmax", lambda x: (nn.softmax(x), nn.log_softmax(x, 0), nn.logsumexp(x, 1)), X),
    ("one_hot", lambda k: nn.one_hot(k, 10), i(6)),
    ("standardize", lambda x: nn.standardize(x), X),
    ("glu", lambda x: nn.glu(x), X),
    ("attention", lambda q, k, v: nn.dot_product_attention(q, k, v), f(2, 8, 4, 16), f(2, 8, 4, 16, seed=1), f(2, 8, 4, 16, seed=2)),
    ("causal_attention", lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True), f(2, 8, 4, 16), f(2, 8, 4, 16, seed=1), f(2, 8, 4, 16, seed=2)),
    ("initializers", lambda: nn.initializers.orthogonal()(jax.random.key(0), (4, 4)) if False else nn.initializers.glorot_normal()(jax.random.key(0), (4, 4)),),
    ("special", lambda x: (jsp.special.gammaln(x), jsp.special.logit(x / 4), jsp.special.xlogy(x, x), jsp.special.entr(x), jsp.special.i0e(x), jsp.special.ndtr(x)), P),
    ("distributions", lambda x: (jsp.stats.norm.pdf(x), jsp.stats.norm.logcdf(x), jsp.stats.laplace.logpdf(x), jsp.stats.gamma.logpdf(x, 2.0)), P),
    ("betainc", lambda x: jsp.special.betainc(2.0, 3.0, x / 4), P),
    ("solve_triangular", lambda a, b: jsp.linalg.solve_triangular(a, b, lower=True), jnp.linalg.cholesky(SPD), f(5, 2)),
    ("cholesky", lambda a: jnp.linalg.cholesky(a), SPD),
    ("cho_solve", lambda a, b: jsp.linalg.cho_solve(jsp.linalg.cho_factor(a), b), SPD, f(5)),
    ("matrix_exponential", lambda a: jsp.linalg.expm(a / 10), SPD),
    ("map_coordinates", lambda x, c: jsp.ndimage.map_coordinates(x, [c, c], 1), X, f(8, low=0, high=3)),
    ("resize", lambda x: jax.image.resize(x, (2, 3, 20, 20), "bilinear"), IMAGE),
    ("convolve2d", lambda x: jsp.signal.convolve2d(x, x[:3, :3], "same"), f(8, 8)),
    ("inverse", lambda a: jnp.linalg.inv(a), SPD),
    ("determinant", lambda a: jnp.linalg.det(a), SPD),
]:
    program(*arguments, name="more_" + name)(function)

# ---- differentiation, vectorisation, random numbers, programs of several parts ----


def network(parameters, x):
    for w, b in parameters[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = parameters[-1]
    return x @ w + b


def loss(parameters, x, y):
    return jnp.mean((network(parameters, x) - y) ** 2)


LAYERS = [(f(6, 16, seed=5), f(16, seed=6)), (f(16, 3, seed=7), f(3, seed=8))]


@jax.custom_vjp
def clipped(x):
    return jnp.exp(x)


clipped.defvjp(lambda x: (jnp.exp(x), x), lambda x, g: (jnp.clip(g * jnp.exp(x), -1, 1),))


@jax.custom_jvp
def softened(x):
    return jnp.log1p(jnp.exp(x))


softened.defjvp(lambda p, t: (softened(*p), t[0] * nn.sigmoid(p[0])))


def conv_loss(w, x):
    y = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=SIDES)
    return jnp.sum(nn.relu(y) ** 2)


def norm_loss(g, b, x):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return jnp.sum(jnp.tanh((x - mean) * lax.rsqrt(var + 1e-5) * g + b))


def attention_loss(w, x):
    q, k, v = jnp.split(x @ w, 3, -1)
    return jnp.sum(nn.softmax(q @ k.T / 4) @ v)


@program(LAYERS, X, f(4, 3), name="step_of_descent")
def descent(parameters, x, y):
    value, gradients = jax.value_and_grad(loss)(parameters, x, y)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)


for name, function, *arguments in [
    ("grad_of_convolution", jax.grad(conv_loss), f(8, 3, 3, 3), IMAGE),
    ("grad_of_norm", jax.grad(norm_loss, (0, 1, 2)), V, V + 1, X),
    ("grad_of_attention", jax.grad(attention_loss), f(6, 48), X),
    ("grad_of_pool", jax.grad(lambda x: jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID") ** 2)), IMAGE),
    ("grad_of_scan", jax.grad(lambda x: lax.scan(lambda c, v: (jnp.sin(c) + v, c), jnp.zeros(6), x)[0].sum()), X),
    ("grad_of_gather", jax.grad(lambda x: jnp.sum(x[jnp.array([0, 0, 2])] ** 2)), X),
    ("grad_of_sort", jax.grad(lambda x: jnp.sum(jnp.sort(x, 1) * jnp.arange(6.0))), X),
    ("grad_of_cholesky", jax.grad(lambda a: jnp.linalg.cholesky(a).sum()), SPD),
    ("custom_vjp", jax.grad(lambda x: clipped(x).sum()), X),
    ("custom_jvp", jax.grad(lambda x: softened(x).sum()), X),
    ("hessian", jax.hessian(lambda v: jnp.sum(jnp.sin(v) * v[::-1])), V),
    ("jacobians", lambda v: (jax.jacfwd(jnp.cumsum)(v), jax.jacrev(jnp.cumsum)(v)), V),
    ("jvp_and_vjp", lambda v: (jax.jvp(jnp.tanh, (v,), (v,)), jax.vjp(jnp.tanh, v)[1](v)), V),
    ("checkpoint", jax.grad(lambda x: jax.checkpoint(lambda v: jnp.sin(jnp.sin(v)))(x).sum()), X),
    ("vmap", jax.vmap(lambda a, b: a @ b, (0, None)), f(3, 4, 5), f(5, 2)),
    ("vmap_of_grad", jax.vmap(jax.grad(lambda v: jnp.prod(v))), X),
    ("random_normal", lambda k: jax.random.normal(k, (4, 5)), jax.random.key(3)),
    ("random_uniform", lambda k: (jax.random.uniform(k, (7,)), jax.random.randint(k, (7,), 0, 9), jax.random.bernoulli(k, 0.3, (7,))), jax.random.key(3)),
    ("random_old_key", lambda k: jax.random.normal(k, (5,)), jax.random.PRNGKey(7)),
    ("random_split", lambda k: jax.random.split(k, 3), jax.random.key(3)),
    ("random_categorical", lambda k, x: (jax.random.categorical(k, x), jax.random.permutation(k, 8), jax.random.gumbel(k, (3,))), jax.random.key(3), X),
    ("dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, 0.5, x.shape), x / 0.5, 0), jax.random.key(1), X),
    ("named_parts", lambda d: {"sum": d["a"] + d["b"], "both": (d["a"], [d["b"]])}, {"a": X, "b": Y}),
    ("nothing_to_do", lambda x, n: (x, None, 3.0, n), X, 2),
    ("empty_arrays", lambda x: (x[:0], jnp.concatenate([x[:0], x])), X),
    ("unsigned", lambda a: (a + jnp.uint8(250), a.astype(jnp.uint32) * 3, a >> 1), i(10).astype(jnp.uint8)),
    ("newton", lambda x: lax.fori_loop(0, 20, lambda k, c: 0.5 * (c + x / c), x), P),
    ("power_iteration", lambda a: lax.fori_loop(0, 30, lambda k, v: a @ v / jnp.linalg.norm(a @ v), jnp.ones(5)), SPD),
    ("game_of_life", lambda a: jnp.where(sum(jnp.roll(a, s, (0, 1)) for s in ((1, 0), (0, 1), (1, 1), (-1, 0), (0, -1), (-1, -1), (1, -1), (-1, 1))) == 3, 1, 0), i(8, 8, high=2)),
    ("k_means_step", lambda x, c: jnp.argmin(((x[:, None] - c[None]) ** 2).sum(-1), 1), f(20, 3), f(4, 3, seed=2)),
    ("logistic_regression", jax.grad(lambda w, x, y: jnp.mean(nn.softplus(-y * (x @ w)))), V, X, jnp.array([1.0, -1, 1, -1])),
]:
    program(*arguments, name=name)(function)

program(X, name="refused_callback", refused="custom_call")(lambda x: jax.pure_callback(np.sin, x, x))
program(SPD, name="refused_eig", refused="lapack_sgeev_ffi")(lambda a: jnp.linalg.eig(a))
program(SPD + 0j, name="refused_eigh_of_complex", refused="lapack_cheevd_ffi")(lambda a: jnp.linalg.eigh(a))
