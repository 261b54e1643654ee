"""Networks of Flax at their own sizes, with drawn weights, beside XLA: how far results are apart, over the largest of them.

    run.py jax_networks.py jax flax -- [--small] [NAME...]      # 1 where one is more than 1e-4 apart"""

import argparse
import functools
import sys
import time

import flax.linen as nn
import jax
import jax.numpy as jnp

from polyblocks import polyblocks_jit_jax


class Bottleneck(nn.Module):
    width: int
    stride: int

    @nn.compact
    def __call__(self, x):
        norm = functools.partial(nn.BatchNorm, use_running_average=True)
        y = nn.relu(norm()(nn.Conv(self.width, (1, 1), use_bias=False)(x)))
        y = nn.relu(norm()(nn.Conv(self.width, (3, 3), self.stride, use_bias=False)(y)))
        y = norm()(nn.Conv(4 * self.width, (1, 1), use_bias=False)(y))
        if x.shape != y.shape:
            x = norm()(nn.Conv(4 * self.width, (1, 1), self.stride, use_bias=False)(x))
        return nn.relu(x + y)


class ResNet50(nn.Module):
    depths: tuple = (3, 4, 6, 3)

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.BatchNorm(use_running_average=True)(nn.Conv(64, (7, 7), 2, padding=3, use_bias=False)(x)))
        x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
        for k, depth in enumerate(self.depths):
            for n in range(depth):
                x = Bottleneck(64 << k, 2 if k and not n else 1)(x)
        return nn.Dense(1000)(x.mean((1, 2)))


class Transformer(nn.Module):
    """BERT (sums are normed), or GPT-2 (what goes into a layer is), whose table of words makes its results."""

    words: int
    depth: int
    causal: bool
    width: int = 768
    heads: int = 12

    @nn.compact
    def __call__(self, ids):
        words = nn.Embed(self.words, self.width)
        x = words(ids) + nn.Embed(128, self.width)(jnp.arange(ids.shape[1]))
        mask = nn.make_causal_mask(ids) if self.causal else None
        before = nn.LayerNorm if self.causal else lambda: lambda x: x
        after = (lambda: lambda x: x) if self.causal else nn.LayerNorm
        x = after()(x)
        for _ in range(self.depth):
            x = after()(x + nn.MultiHeadDotProductAttention(self.heads)(before()(x), mask=mask))
            x = after()(x + nn.Dense(self.width)(nn.gelu(nn.Dense(4 * self.width)(before()(x)), approximate=self.causal)))
        return words.attend(nn.LayerNorm()(x)) if self.causal else x


def networks(small):
    side, length, depth = (64, 16, 2) if small else (224, 128, 12)
    image = jax.random.uniform(jax.random.key(1), (1, side, side, 3), minval=-1)
    ids = jax.random.randint(jax.random.key(2), (1, length), 0, 1000)
    return {
        "ResNet-50": (ResNet50(), image),
        "BERT-base": (Transformer(1000 if small else 30522, depth, False), ids),
        "GPT-2": (Transformer(1000 if small else 50257, depth, True), ids),
    }


def drawn(variables):
    """Statistics and biases that are not 0 and 1."""
    leaves, tree = jax.tree.flatten(variables)
    keys = jax.random.split(jax.random.key(3), len(leaves))
    return tree.unflatten([v * jax.random.uniform(k, v.shape, minval=0.5, maxval=1.5) + (0.05 if v.ndim == 1 else 0) for k, v in zip(keys, leaves)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--small", action="store_true")
    o = parser.parse_args()
    wrong, made = 0, networks(o.small)
    for name in o.names or made:
        network, x = made[name]
        variables = drawn(network.init(jax.random.key(0), x))
        want = jax.jit(network.apply)(variables, x)
        compiled, start = polyblocks_jit_jax(network.apply), time.time()
        got = compiled(variables, x)
        first, start = time.time() - start, time.time()
        compiled(variables, x)
        took = time.time() - start
        apart = float(jnp.abs(got - want).max() / jnp.abs(want).max())
        wrong += not apart <= 1e-4
        print(f"{name:10} {apart:.1e} of {float(jnp.abs(want).max()):.3g}; first call {first:.1f} s, then {1e3 * took:.1f} ms", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
