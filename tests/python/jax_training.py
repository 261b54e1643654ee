"""Networks of Flax that learn by whole training steps of our own: the losses of twenty steps beside those of XLA in f64, from the
same weights. XLA's own in f32 are told too: sums of squares less squares of sums, as Flax has the variance, part ways in f32.

    run.py jax_training.py jax flax optax -- [--steps 20] [--side 64] [NAME...]        # 1 where one is more than 1e-3 apart"""

import argparse
import sys
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from polyblocks import polyblocks_jit_jax


class Block(nn.Module):
    """Two convolutions and what goes around them (He et al., Deep Residual Learning for Image Recognition, 2015)."""

    width: int
    stride: int

    @nn.compact
    def __call__(self, x):
        def normal(x, start=nn.initializers.ones):
            return nn.BatchNorm(use_running_average=False, momentum=0.9, scale_init=start)(x)

        y = nn.relu(normal(nn.Conv(self.width, (3, 3), (self.stride, self.stride), padding=1, use_bias=False)(x)))
        y = normal(nn.Conv(self.width, (3, 3), padding=1, use_bias=False)(y))
        if x.shape != y.shape:
            x = normal(nn.Conv(self.width, (1, 1), (self.stride, self.stride), use_bias=False)(x))
        return nn.relu(x + y)


class ResNet18(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(64, (7, 7), (2, 2), padding=3, use_bias=False)(x)
        x = nn.max_pool(nn.relu(nn.BatchNorm(use_running_average=False, momentum=0.9)(x)), (3, 3), (2, 2), ((1, 1), (1, 1)))
        for width, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
            x = Block(width, stride)(x)
        return nn.Dense(10)(x.mean((1, 2)))


class Gpt(nn.Module):
    words: int = 500
    width: int = 64

    @nn.compact
    def __call__(self, ids):
        table = nn.Embed(self.words, self.width)
        x = table(ids) + nn.Embed(64, self.width)(jnp.arange(ids.shape[1]))
        for _ in range(2):
            y = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(4)(y, mask=nn.make_causal_mask(ids))
            x = x + nn.Dense(self.width)(nn.gelu(nn.Dense(4 * self.width)(nn.LayerNorm()(x))))
        return table.attend(nn.LayerNorm()(x))


def classes(side):
    x = np.random.default_rng(0).standard_normal((4, side, side, 3)).astype(np.float32)
    return ResNet18(), jnp.asarray(x), jnp.arange(4)


def words(_):
    x = np.random.default_rng(0).integers(0, Gpt.words, (4, 24)).astype(np.int32)
    return Gpt(), jnp.asarray(x), jnp.asarray(np.roll(x, -1, 1))


NETS = {"resnet18": classes, "gpt": words}
STEPS = {"SGD": optax.sgd(0.01, momentum=0.9), "Adam": optax.adam(1e-4)}


def step_of(network, x, want, rule):
    def step(parameters, state):
        def cost(parameters):
            made, more = network.apply({"params": parameters, "batch_stats": state[1]}, x, mutable=["batch_stats"])
            return optax.softmax_cross_entropy_with_integer_labels(made, want).mean(), more.get("batch_stats", {})

        (loss, seen), gradient = jax.value_and_grad(cost, has_aux=True)(parameters)
        change, moments = rule.update(gradient, state[0], parameters)
        return optax.apply_updates(parameters, change), (moments, seen), loss

    return step


def losses(compiled, variables, rule, steps):
    """Of one compiled step, run again with what it gave."""
    parameters = variables["params"]
    state, made = (rule.init(parameters), variables.get("batch_stats", {})), []
    for _ in range(steps):
        parameters, state, loss = compiled(parameters, state)
        made.append(float(loss))
    return made


def in_f64(values):
    def wide(v):
        return jnp.asarray(np.asarray(v, np.float64) if jnp.issubdtype(v.dtype, jnp.floating) else v)

    return jax.tree.map(wide, values)


def apart(made, right):
    return max(abs(a - b) / max(1.0, abs(b)) for a, b in zip(made, right, strict=True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--side", type=int, default=64, help="of images")
    o = parser.parse_args()
    bad = 0
    for name in o.names or NETS:
        network, x, want = NETS[name](o.side)
        variables = network.init(jax.random.key(0), x)
        for way, rule in STEPS.items():
            step, start = step_of(network, x, want, rule), time.time()
            made = losses(polyblocks_jit_jax(step), variables, rule, o.steps)
            took, theirs = time.time() - start, losses(jax.jit(step), variables, rule, o.steps)
            with jax.enable_x64(True):
                right = losses(jax.jit(step_of(network, in_f64(x), want, rule)), in_f64(variables), rule, o.steps)
            far = apart(made, right)
            print(f"{name}, {way}: losses {right[0]:.4f} to {right[-1]:.4f} in {o.steps} steps, {far:.1e} from f64 at most (XLA {apart(theirs, right):.1e}); "
                  f"{took:.0f} s", flush=True)
            bad += not far <= 1e-3
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
