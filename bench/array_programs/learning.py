"""Training steps, statistics, and what is written in JAX's libraries. A library that is not there leaves its programs out."""

import importlib.util

import jax
import jax.numpy as jnp
import numpy as np
from common import floats, uniform, whole


def sizes(seed, *widths):
    return [(floats(seed + k, a, b, scale=a**-0.5), floats(seed + 50 + k, b)) for k, (a, b) in enumerate(zip(widths, widths[1:]))]


def layers(parameters, x):
    for w, b in parameters[:-1]:
        x = jnp.tanh(x @ w + b)
    return x @ parameters[-1][0] + parameters[-1][1]


def cross_entropy(parameters, x, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(layers(parameters, x)), y[:, None], 1).mean()


def descent(parameters, x, y):
    slope = jax.grad(cross_entropy)(parameters, x, y)
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, parameters, slope)


def many_descents(parameters, x, y):
    return jax.lax.fori_loop(0, 50, lambda _, p: descent(p, x, y), parameters)


def logistic(x, y):
    def step(_, w):
        return w + 0.1 * x.T @ (y - jax.nn.sigmoid(x @ w)) / x.shape[0]

    return jax.lax.fori_loop(0, 100, step, jnp.zeros(x.shape[1], x.dtype))


def process(x, y, at):
    """A Gaussian process: mean and variance at other places."""
    def kernel(a, b):
        return jnp.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1))

    factor = jax.scipy.linalg.cho_factor(kernel(x, x) + 0.1 * jnp.eye(x.shape[0]), lower=True)
    between = kernel(at, x)
    return between @ jax.scipy.linalg.cho_solve(factor, y), 1 - (between * jax.scipy.linalg.cho_solve(factor, between.T).T).sum(1)


def mixture(x, means):
    """Ten rounds of expectation and maximisation for a mixture of Gaussians with one variance each."""
    def step(_, s):
        m, v, p = s
        far = ((x[:, None] - m[None]) ** 2).sum(-1)
        share = jax.nn.softmax(jnp.log(p) - far / (2 * v) - x.shape[1] / 2 * jnp.log(v), 1)
        n = share.sum(0)
        m = share.T @ x / n[:, None]
        far = ((x[:, None] - m[None]) ** 2).sum(-1)
        return m, (share * far).sum(0) / (n * x.shape[1]), n / x.shape[0]

    k = means.shape[0]
    return jax.lax.fori_loop(0, 10, step, (means, jnp.ones(k, x.dtype), jnp.full(k, 1 / k, x.dtype)))


def norm_gradient(x, scale, y):
    def loss(x, scale):
        z = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale
        return (z * y).sum()

    return jax.grad(loss, (0, 1))(x, scale)


def attention(q, k, v):
    return jax.nn.softmax(q @ k.swapaxes(-1, -2) / np.float32(8), -1) @ v


def drawn(seed):
    return jax.random.normal(jax.random.wrap_key_data(seed, impl="threefry2x32"), (500000,), jnp.float32)


def mlp():
    return sizes(1, 64, 256, 256, 10), floats(2, 256, 64), whole(3, 10, 256)


PROGRAMS = {
    "a training step of an MLP": (descent, mlp),
    "50 training steps of a small MLP": (many_descents, lambda: (sizes(4, 16, 32, 10), floats(5, 64, 16), whole(6, 10, 64))),
    "logistic regression, 100 steps": (logistic, lambda: (floats(7, 2000, 32), (uniform(8, 2000) < 0.5).astype(np.float32))),
    "Gaussian process, 256 places": (process, lambda: (floats(9, 256, 3), floats(10, 256), floats(11, 64, 3))),
    "mixture of 16 Gaussians, 10,000 x 8": (mixture, lambda: (floats(12, 10000, 8), floats(13, 16, 8))),
    "gradient of a layer norm, 4096 x 768": (norm_gradient, lambda: (floats(14, 4096, 768), floats(15, 768), floats(16, 4096, 768))),
    "attention, 8 heads, 512 x 64": (attention, lambda: tuple(floats(k, 8, 512, 64) for k in (17, 18, 19))),
    "500,000 normal numbers": (drawn, lambda: (np.array([1, 2], np.uint32),)),
    "eigenvalues (and vectors), 128 x 128": (lambda x: jnp.linalg.eigh(x + x.T)[0], lambda: (floats(20, 128, 128),)),
    "singular values, 64 x 64": (lambda x: jnp.linalg.svd(x, compute_uv=False), lambda: (floats(21, 64, 64),)),
    "QR, 128 x 128": (lambda x: jnp.abs(jnp.linalg.qr(x, mode="r")), lambda: (floats(22, 128, 128),)),
    "Cholesky, 256 x 256": (lambda x: jnp.linalg.cholesky(x @ x.T + 256 * jnp.eye(256)), lambda: (floats(23, 256, 256),)),
    "triangular system, 256 x 256 for 64": (lambda a, b: jax.scipy.linalg.solve_triangular(jnp.tril(a) + 16 * jnp.eye(256), b, lower=True), lambda: (floats(24, 256, 256), floats(25, 256, 64))),
    "LU and a solution, 128 x 128": (lambda a, b: jnp.linalg.solve(a, b), lambda: (floats(26, 128, 128), floats(27, 128))),
}


def has(name):
    return importlib.util.find_spec(name) is not None


def adam():
    import optax

    rule = optax.adam(1e-3)

    def step(parameters, state, x, y):
        change, state = rule.update(jax.grad(cross_entropy)(parameters, x, y), state)
        return optax.apply_updates(parameters, change), state

    def make():
        parameters, x, y = mlp()
        return parameters, rule.init(parameters), x, y

    return step, make


def flax_block():
    from flax import linen as nn

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = x + nn.MultiHeadDotProductAttention(num_heads=4)(nn.LayerNorm()(x))
            return x + nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(4 * x.shape[-1])(nn.LayerNorm()(x))))

    block = Block()

    def step(parameters, x):
        return jax.tree_util.tree_map(lambda p, g: p - 0.01 * g, parameters, jax.grad(lambda p: (block.apply(p, x) ** 2).mean())(parameters))

    return step, lambda: (block.init(jax.random.key(0), floats(30, 8, 64, 128)), floats(30, 8, 64, 128))


def flax_images():
    from flax import linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            for width in (16, 32):
                x = nn.avg_pool(nn.relu(nn.Conv(width, (3, 3))(x)), (2, 2), (2, 2))
            return nn.Dense(10)(x.reshape(x.shape[0], -1))

    net = Net()

    def step(parameters, x, y):
        def loss(p):
            return -jnp.take_along_axis(jax.nn.log_softmax(net.apply(p, x)), y[:, None], 1).mean()

        return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, parameters, jax.grad(loss)(parameters))

    return step, lambda: (net.init(jax.random.key(1), floats(31, 32, 28, 28, 1)), floats(31, 32, 28, 28, 1), whole(32, 10, 32))


def haiku_residual():
    import haiku as hk

    def net(x):
        for _ in range(3):
            y = hk.Conv2D(16, 3)(jax.nn.relu(hk.Conv2D(16, 3)(x)))
            x = jax.nn.relu(x + hk.LayerNorm(-1, True, True)(y))
        return hk.Linear(10)(x.mean((1, 2)))

    pure = hk.without_apply_rng(hk.transform(net))
    return pure.apply, lambda: (pure.init(jax.random.key(2), floats(33, 8, 32, 32, 16)), floats(33, 8, 32, 32, 16))


def equinox_rnn():
    import equinox as eqx

    cell = eqx.nn.GRUCell(32, 64, key=jax.random.key(3))
    arrays, rest = eqx.partition(cell, eqx.is_array)

    def run(arrays, xs):
        cell = eqx.combine(arrays, rest)
        return jax.lax.scan(lambda h, x: (jax.vmap(cell)(x, h),) * 2, jnp.zeros((8, 64)), xs)[0]

    return run, lambda: (arrays, floats(34, 64, 8, 32))


def numpyro_density():
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer.util import log_density

    def model(x, y):
        w = numpyro.sample("w", dist.Normal(jnp.zeros(x.shape[1]), 1).to_event(1))
        s = numpyro.sample("s", dist.HalfNormal(1.0))
        numpyro.sample("y", dist.Normal(x @ w, s), obs=y)

    def slope(w, s, x, y):
        return jax.grad(lambda w, s: log_density(model, (x, y), {}, {"w": w, "s": s})[0], (0, 1))(w, s)

    return slope, lambda: (floats(35, 32), np.float32(0.7), floats(36, 20000, 32), floats(37, 20000))


for name, module, made in (("a training step of an MLP with Adam (Optax)", "optax", adam),
                           ("a training step of a transformer's block (Flax)", "flax", flax_block),
                           ("a training step of a small image network (Flax)", "flax", flax_images),
                           ("residual blocks (Haiku)", "haiku", haiku_residual), ("GRU, 64 steps of 8 x 64 (Equinox)", "equinox", equinox_rnn),
                           ("gradient of a log density (NumPyro)", "numpyro", numpyro_density)):
    if has(module):
        PROGRAMS[name] = made()
    else:
        print(f"left out: {name}: there is no {module}")
