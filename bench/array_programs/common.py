"""What the programs share. A program is a function of arrays and a function that makes these, drawn from its own generator."""

import jax.numpy as jnp
import numpy as np


def floats(seed, *shape, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def uniform(seed, *shape):
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def whole(seed, most, *shape):
    return np.random.default_rng(seed).integers(0, most, shape).astype(np.int32)


def edged(x, pad=1):
    """An image with its edge repeated around it."""
    return jnp.pad(x, [(0, 0)] * (x.ndim - 2) + [(pad, pad)] * 2, mode="edge")


def windows(x, size):
    """The size x size pictures that x is, moved by so many places each: of an image with such an edge around it."""
    h, w = x.shape[-2] - size + 1, x.shape[-1] - size + 1
    return [x[..., i : i + h, j : j + w] for i in range(size) for j in range(size)]
