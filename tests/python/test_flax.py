"""Networks and optimisers of Flax, Haiku and Optax against XLA."""

import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from test_jax import jit, same

RNG = np.random.default_rng(0)
IMAGES = jnp.asarray(RNG.standard_normal((2, 16, 16, 3)), jnp.float32)
ROWS = jnp.asarray(RNG.standard_normal((4, 12, 32)), jnp.float32)


class Convolutions(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        for width in (8, 16):
            x = nn.Conv(width, (3, 3))(x)
            x = nn.BatchNorm(use_running_average=not train)(x)
            x = nn.max_pool(nn.relu(x), (2, 2), (2, 2))
        return nn.Dense(10)(x.reshape(len(x), -1))


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            x = x + nn.MultiHeadDotProductAttention(4)(nn.LayerNorm()(x))
            x = x + nn.Dense(32)(nn.gelu(nn.Dense(64)(nn.LayerNorm()(x))))
        return nn.LayerNorm()(x)


class Recurrent(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.RNN(nn.LSTMCell(16))(x), nn.RNN(nn.GRUCell(8))(x)


@pytest.mark.parametrize("network, x", [(Convolutions(), IMAGES), (Encoder(), ROWS), (Recurrent(), ROWS)])
def test_linen(network, x):
    variables = network.init(jax.random.key(0), x)
    same(jit(network.apply)(variables, x), network.apply(variables, x))


def test_linen_gradients():
    network = Convolutions()
    variables = network.init(jax.random.key(0), IMAGES)

    def step(variables, x):
        def loss(parameters):
            y, more = network.apply({**variables, "params": parameters}, x, train=True, mutable=["batch_stats"])
            return jnp.mean(y**2), more

        return jax.value_and_grad(loss, has_aux=True)(variables["params"])

    same(jit(step)(variables, IMAGES), jax.jit(step)(variables, IMAGES), 1e-3)


def test_nnx():
    network = nnx.Sequential(nnx.Linear(32, 64, rngs=nnx.Rngs(0)), nnx.relu, nnx.LayerNorm(64, rngs=nnx.Rngs(0)), nnx.Linear(64, 5, rngs=nnx.Rngs(1)))
    graph, state = nnx.split(network)

    def apply(state, x):
        return nnx.merge(graph, state)(x)

    same(jit(apply)(state, ROWS), network(ROWS))


def test_haiku():
    def forward(x):
        return hk.Sequential([hk.Conv2D(8, 3), jax.nn.relu, hk.AvgPool(2, 2, "VALID"), hk.Flatten(), hk.nets.MLP([32, 10])])(x)

    network = hk.without_apply_rng(hk.transform(forward))
    parameters = network.init(jax.random.key(0), IMAGES)
    same(jit(network.apply)(parameters, IMAGES), network.apply(parameters, IMAGES))


OPTIMISERS = {
    "sgd": optax.sgd(0.1, momentum=0.9, nesterov=True),
    "adam": optax.adam(1e-2),
    "adamw": optax.adamw(1e-2),
    "rmsprop": optax.rmsprop(1e-2),
    "lion": optax.lion(1e-3),
    "clipped": optax.chain(optax.clip_by_global_norm(0.5), optax.adam(optax.cosine_decay_schedule(1e-2, 100))),
    "adafactor": optax.adafactor(1e-2),
}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optax(name):
    optimiser = OPTIMISERS[name]
    parameters = {"w": ROWS[0], "b": ROWS[0, 0]}

    def step(parameters, state, x):
        gradients = jax.grad(lambda p: jnp.mean(jnp.tanh(x @ p["w"].T + p["b"][:12]) ** 2))(parameters)
        updates, state = optimiser.update(gradients, state, parameters)
        return optax.apply_updates(parameters, updates), state

    ours, theirs = jit(step), jax.jit(step)
    got = want = (parameters, optimiser.init(parameters))
    for k in range(3):
        got, want = ours(*got, ROWS[k]), theirs(*want, ROWS[k])
    same(got, want, 1e-3)
