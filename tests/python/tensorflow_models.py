"""Keras models at their own sizes, with seeded weights, beside TensorFlow: how far results are apart, over the largest of them.

    run.py tensorflow_models.py tensorflow -- [--small] [NAME...]      # 1 where one is more than 1e-4 apart"""

import argparse
import sys
import time

import numpy as np
import tensorflow as tf

from polyblocks import polyblocks_jit_tf

keras = tf.keras
layers = keras.layers


def transformer(words, length, width, heads, depth, causal):
    """BERT (sums are normed) and GPT-2 (what goes into a layer is)."""
    ids = layers.Input((length,), dtype="int32")
    places = layers.Embedding(length, width)(tf.range(length))
    x = layers.Embedding(words, width)(ids) + places
    if not causal:
        x = layers.LayerNormalization(epsilon=1e-5)(x)
    for _ in range(depth):
        y = layers.LayerNormalization(epsilon=1e-5)(x) if causal else x
        x = x + layers.MultiHeadAttention(heads, width // heads)(y, y, use_causal_mask=causal)
        if not causal:
            x = layers.LayerNormalization(epsilon=1e-5)(x)
        y = layers.LayerNormalization(epsilon=1e-5)(x) if causal else x
        x = x + layers.Dense(width)(layers.Dense(4 * width, "gelu")(y))
        if not causal:
            x = layers.LayerNormalization(epsilon=1e-5)(x)
    return keras.Model(ids, layers.LayerNormalization(epsilon=1e-5)(x) if causal else x)


def of_applications(name):
    def made(small):
        side = 64 if small else 224
        return getattr(keras.applications, name)(weights=None, classifier_activation=None, input_shape=(side, side, 3)), (1, side, side, 3)

    return made


def bert(small):
    length, depth = (16, 2) if small else (128, 12)
    return transformer(1000 if small else 30522, length, 768, 12, depth, causal=False), (1, length)


def gpt2(small):
    length, depth = (16, 2) if small else (128, 12)
    return transformer(1000 if small else 50257, length, 768, 12, depth, causal=True), (1, length)


MODELS = {
    "ResNet-50": of_applications("ResNet50"),
    "MobileNetV2": of_applications("MobileNetV2"),
    "EfficientNet-B0": of_applications("EfficientNetB0"),
    "DenseNet-121": of_applications("DenseNet121"),
    "BERT-base": bert,
    "GPT-2": gpt2,
}


def seeded(model):
    """Weights that let numbers of all layers through, and statistics that are not 0 and 1."""
    rng = np.random.default_rng(1)
    for w in model.weights:
        shape, name = tuple(w.shape), w.name
        if "variance" in name:
            value = rng.uniform(0.5, 1.5, shape)
        elif "mean" in name or "beta" in name or "bias" in name:
            value = rng.normal(0, 0.1, shape)
        elif "gamma" in name:
            value = rng.normal(1, 0.1, shape)
        elif "kernel" in name:
            value = rng.normal(0, 1, shape) * np.sqrt(1.5 / max(1, np.prod(shape[:-1])))
        else:
            value = rng.normal(0, 0.5, shape) if "embed" in name else np.asarray(w)
        w.assign(value.astype(w.dtype if isinstance(w.dtype, str) else w.dtype.name))
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--small", action="store_true")
    o = parser.parse_args()
    wrong = 0
    for name in o.names or MODELS:
        made, shape = MODELS[name](o.small)
        model, rng = seeded(made), np.random.default_rng(2)
        x = rng.uniform(-1, 1, shape).astype(np.float32) if len(shape) == 4 else rng.integers(0, 1000, shape).astype(np.int32)
        x = tf.constant(x)
        want = model(x, training=False).numpy()
        start = time.time()
        compiled = polyblocks_jit_tf(lambda x, model=model: model(x, training=False))
        got = compiled(x).numpy()
        first = time.time() - start
        start = time.time()
        compiled(x)
        apart = float(np.abs(got - want).max() / np.abs(want).max())
        wrong += not apart <= 1e-4
        print(f"{name:16} {apart:.1e} of {np.abs(want).max():.3g}; first call {first:.1f} s, then {1e3 * (time.time() - start):.1f} ms", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
