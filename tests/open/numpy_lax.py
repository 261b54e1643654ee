"""What jax.lax's control flow does, on NumPy's arrays."""
import numpy as np


def while_loop(cond, body, value):
    while cond(value):
        value = body(value)
    return value


def fori_loop(first, end, body, value):
    for i in range(int(first), int(end)):
        value = body(i, value)
    return value


def cond(truth, yes, no, *operands):
    return yes(*operands) if truth else no(*operands)


def scan(f, carry, xs, reverse=False):
    turns = range(len(xs))
    made = {}
    for k in reversed(turns) if reverse else turns:
        carry, made[k] = f(carry, xs[k])
    return carry, np.stack([made[k] for k in turns])
