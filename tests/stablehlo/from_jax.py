"""ResNet-18 and a BERT of two layers as jax.export writes them, seeded, compiled for the cpu and run, against XLA. Needs jax:
scripts/nightly runs it with the Python of PB_ORACLE.

    from_jax.py --bin BUILD/bin [--most 1e-4]"""

import argparse
import os
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

WIDTH, HEADS, LAYERS, WORDS = 256, 4, 2, 1000
RNG = np.random.default_rng(1)


def weights(*shape):
    return (RNG.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


def convolution(out, channels, kernel, stride, pad):
    w, sides = weights(out, channels, kernel, kernel), ("NCHW", "OIHW", "NCHW")
    gain, shift, mean, variance = (RNG.random((1, out, 1, 1)).astype(np.float32) + 0.5 for _ in range(4))

    def layer(x):
        y = lax.conv_general_dilated(x, w, (stride, stride), [(pad, pad)] * 2, dimension_numbers=sides)
        return (y - mean) / jnp.sqrt(variance + 1e-5) * gain + shift

    return layer


def residual(channels, out, stride):
    first, second = convolution(out, channels, 3, stride, 1), convolution(out, out, 3, 1, 1)
    beside = convolution(out, channels, 1, stride, 0) if channels != out else lambda x: x
    return lambda x: jax.nn.relu(second(jax.nn.relu(first(x))) + beside(x))


def resnet18():
    layers, channels = [convolution(64, 3, 7, 2, 3)], 64
    for out, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [residual(channels, out, stride), residual(out, out, 1)]
        channels = out
    last = weights(1000, 512)

    def network(x):
        x = jax.nn.relu(layers[0](x))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1)))
        for layer in layers[1:]:
            x = layer(x)
        return x.mean((2, 3)) @ last.T

    return network, [RNG.standard_normal((1, 3, 224, 224)).astype(np.float32)]


def norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-12)


def bert():
    words = weights(WORDS, WIDTH)
    layers = [[weights(WIDTH, WIDTH) for _ in range(4)] + [weights(WIDTH, 4 * WIDTH), weights(4 * WIDTH, WIDTH)] for _ in range(LAYERS)]

    def network(ids, mask):
        x, hidden = norm(jnp.asarray(words)[ids]), (1 - mask.astype(jnp.float32)) * jnp.finfo(jnp.float32).min
        for q, k, v, o, up, down in layers:
            a, b, c = ((x @ w).reshape(-1, HEADS, WIDTH // HEADS).transpose(1, 0, 2) for w in (q, k, v))
            y = jax.nn.softmax(a @ b.transpose(0, 2, 1) / 8 + hidden, axis=-1) @ c
            x = norm(x + y.transpose(1, 0, 2).reshape(-1, WIDTH) @ o)
            x = norm(x + jax.nn.gelu(x @ up, approximate=False) @ down)
        return x

    return network, [RNG.integers(0, WORDS, 64).astype(np.int32), (np.arange(64) < 50).astype(np.int32)]


def check(bin_dir, folder, name, made):
    """How far the outputs lie apart, as a part of the largest."""
    network, inputs = made
    stem, feeds = os.path.join(folder, name), []
    with mlir.make_ir_context(), open(stem + ".mlir", "w", encoding="utf-8") as file:
        module = ir.Module.parse(export.export(jax.jit(network))(*inputs).mlir_module())
        file.write(module.operation.get_asm(print_generic_op_form=True))
    for k, value in enumerate(inputs):
        np.save(f"{stem}{k}.npy", value)
        feeds.append(f"--input=arg{k}={stem}{k}.npy")
    subprocess.run([f"{bin_dir}/pbc", stem + ".mlir", "--target=cpu:native", "-o", stem + ".pbe"], check=True)
    subprocess.run([f"{bin_dir}/pb-run", stem + ".pbe", *feeds, f"--output=out0={stem}-y.npy"], check=True)
    want = np.asarray(jax.jit(network)(*inputs))
    return np.abs(np.load(stem + "-y.npy") - want).max() / np.abs(want).max()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--most", type=float, default=1e-4)
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (("resnet18", resnet18), ("bert", bert)):
            away = check(args.bin, folder, name, make())
            failed += not away <= args.most
            print(f"{'ok    ' if away <= args.most else 'FAILED'} {name}: {away:.1e} of the largest", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
