"""Parts of networks and samplers in JAX, most with their gradients; they join the programs of jax_programs.py."""

import jax
import jax.numpy as jnp
from jax import lax, nn

from jax_programs import f, i, program


def with_gradient(*arguments, of=0):
    """The program gives its result and the gradient of the result's weighted sum."""

    def add(function):
        def whole(*given):
            def total(*given):
                leaves = jax.tree.leaves(function(*given))
                return sum(jnp.sum(leaf * jnp.linspace(0.5, 1.5, leaf.size).reshape(leaf.shape)) for leaf in leaves if leaf.dtype == jnp.float32)

            return function(*given), jax.grad(total, argnums=of)(*given)

        program(*arguments, name="part_" + function.__name__)(whole)
        return function

    return add


def attended(q, k, v, mask):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    return jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(jnp.where(mask, scores, -1e9), -1), v)


def rotated(x, at):
    angle = at[:, None] / 1e4 ** (jnp.arange(0, x.shape[-1], 2) / x.shape[-1])
    cos, sin = jnp.cos(angle)[None, :, None], jnp.sin(angle)[None, :, None]
    a, b = x[..., ::2], x[..., 1::2]
    return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


@with_gradient(f(1, 3, 4, 8), f(1, 3, 2, 8, seed=1), f(1, 16, 2, 8, seed=2), jnp.int32(5))
def cached_attention(q, k, cache, start):
    at = start + jnp.arange(3)
    cache = lax.dynamic_update_slice(cache, rotated(k, at), (0, start, 0, 0))
    wide = jnp.repeat(cache, 2, 2)
    return attended(rotated(q, at), wide, wide, jnp.arange(16)[None] <= at[:, None]), cache


@with_gradient(f(6, 16), f(4, 16, 8, seed=1), f(4, 8, 16, seed=2), f(16, 4, seed=3), of=(0, 1, 3))
def experts(x, up, down, router):
    weight, which = lax.top_k(nn.softmax(x @ router), 2)
    share = (nn.one_hot(which, 4) * weight[..., None]).sum(1) / weight.sum(1, keepdims=True)
    y = jnp.einsum("td,edf->tef", x, up)
    return jnp.einsum("tef,efd,te->td", nn.gelu(y), down, share)


@with_gradient(f(2, 12, 6), f(6, 4, seed=1), f(2, 12, 4, seed=2), of=(0, 1, 2))
def state_space(x, a, b):
    """A recurrence by an associative scan."""
    decay = jnp.exp(-nn.softplus(x)[..., None] * jnp.abs(a))
    moved = x[..., None] * b[:, :, None]
    _, state = lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (decay, moved), axis=1)
    return jnp.einsum("btdn,btn->btd", state, b)


@with_gradient(f(6, 8), i(2, 14, high=6), f(8, 8, seed=1), of=(0, 2))
def message_passing(x, edges, w):
    source, to = edges
    y = x @ w
    score = nn.leaky_relu((y[source] * y[to]).sum(-1))
    e = jnp.exp(score - jax.ops.segment_max(score, to, 6)[to])
    e = e / jax.ops.segment_sum(e, to, 6)[to]
    return jax.ops.segment_sum(e[:, None] * y[source], to, 6)


@with_gradient(f(2, 400))
def mel(x):
    frames = x[:, jnp.arange(0, 320, 32)[:, None] + jnp.arange(64)] * jnp.hanning(64)
    power = jnp.abs(jnp.fft.rfft(frames)) ** 2
    return jnp.log(power @ jnp.abs(jnp.sin(jnp.arange(33.0)[:, None] * jnp.arange(1, 9))) + 1e-3)


@with_gradient(f(2, 6, 6, 4), f(3, 3, 4, 4, seed=1), of=(0, 1))
def diffusion(x, w):
    """Steps in a loop whose tables are read by its number."""
    kept = jnp.cumprod(1 - jnp.linspace(1e-4, 0.02, 20))

    def step(x, t):
        noise = jnp.tanh(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))) * jnp.cos(t / 20.0)
        before = jnp.where(t >= 4, kept[t - 4], 1.0)
        return jnp.sqrt(before / kept[t]) * (x - jnp.sqrt(1 - kept[t]) * noise) + jnp.sqrt(1 - before) * noise, t

    return lax.scan(step, x, jnp.arange(19, -1, -4))[0]


@with_gradient(f(4, 6), f(6, 6, seed=1), of=(0, 1))
def flow_of_four_steps(x, w):
    """Runge and Kutta's, in a loop."""

    def slope(y, t):
        return jnp.tanh(y @ w) * jnp.cos(t)

    def step(y, t):
        a = slope(y, t)
        b = slope(y + a / 8, t + 0.125)
        c = slope(y + b / 8, t + 0.125)
        return y + (a + 2 * b + 2 * c + slope(y + c / 4, t + 0.25)) / 24, y

    return lax.scan(step, x, jnp.arange(4) / 4)


@with_gradient(f(20, 8), i(3, 5, high=20), f(3, 5, seed=1), of=(0, 2))
def bags(table, ids, weights):
    return (jnp.take(table, ids, axis=0) * weights[..., None]).sum(1), jnp.take(table, ids, axis=0).max(1)


@with_gradient(f(2, 4, 4, 3), f(2, 9, 7, 3, seed=1))
def pyramid(small, large):
    up = jax.image.resize(small, (2, 9, 7, 3), "bicubic")
    return large + up, jax.image.resize(large, (2, 4, 3, 3), "linear", antialias=True), jax.image.resize(small, (2, 8, 8, 3), "nearest")


@with_gradient(f(2, 9, 9, 4), f(3, 3, 4, 8, seed=1), f(8, seed=2), of=(0, 1, 2))
def weight_norm(x, v, g):
    w = g * v / jnp.sqrt((v**2).sum((0, 1, 2), keepdims=True))
    y = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return nn.glu(lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"))


@with_gradient(f(3, 25, 4), f(16, 4, seed=1), of=(0, 1))
def codes(x, book):
    far = ((x[:, :, None] - book) ** 2).sum(-1)
    at = far.argmin(-1)
    near = book[at]
    return x + lax.stop_gradient(near - x), ((lax.stop_gradient(x) - near) ** 2).mean(), at


@with_gradient(f(6, 6), f(6, seed=1), of=(0, 1))
def transport(cost, x):
    def turn(k, log):
        log = log - nn.logsumexp(log, 1, keepdims=True)
        return log - nn.logsumexp(log, 0, keepdims=True)

    return jnp.exp(lax.fori_loop(0, 5, turn, -cost / 0.5)) @ x


@with_gradient(f(4, 30), i(4, 7, high=30))
def sampled_words(logits, ids):
    seen = jnp.take_along_axis(logits, ids, 1)
    logits = logits.at[jnp.arange(4)[:, None], ids].set(jnp.where(seen < 0, seen * 1.2, seen / 1.2))
    order = jnp.argsort(-logits, 1)
    ranked = jnp.take_along_axis(logits, order, 1)
    late = jnp.cumsum(nn.softmax(ranked), 1) > 0.9
    late = jnp.zeros_like(late).at[jnp.arange(4)[:, None], order].set(jnp.roll(late, 1, 1).at[:, 0].set(False))
    return nn.softmax(jnp.where(late, -jnp.inf, logits))


@with_gradient(f(12, 5), i(4, high=4) + 1)
def ctc(logits, labels):
    """The forward variables of connectionist classification."""
    log, wide = nn.log_softmax(logits), jnp.zeros(9, jnp.int32).at[1::2].set(labels)
    skips = jnp.concatenate([jnp.zeros(2, bool), (wide[2:] != 0) & (wide[2:] != wide[:-2])])

    def step(a, row):
        one = jnp.concatenate([jnp.full(1, -1e9), a[:-1]])
        two = jnp.where(skips, jnp.concatenate([jnp.full(2, -1e9), a[:-2]]), -1e9)
        return nn.logsumexp(jnp.stack([a, one, two]), 0) + row[wide], None

    first = jnp.full(9, -1e9).at[:2].set(log[0, wide[:2]])
    return -jnp.logaddexp(*lax.scan(step, first, log[1:])[0][-2:])
