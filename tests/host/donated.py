"""A token of a GPT behind its caches, which are donated: each layer puts its new row into keys and values. JAX's and
NumPy's are one text, given one of them. SHAPES: the arguments; the first LAYERS * 2 are caches."""
import numpy as np

LAYERS, HEADS, LENGTH, WIDTH, WORDS = 2, 4, 64, 16, 50
DIM = HEADS * WIDTH
CACHES = [f"{kind}{layer}" for layer in range(LAYERS) for kind in "kv"]


def arguments():
    random = np.random.default_rng(3)

    def draw(*shape):
        return (random.standard_normal(shape) / np.sqrt(shape[-2] if len(shape) > 1 else 1)).astype(np.float32)

    caches = [draw(1, HEADS, LENGTH, WIDTH) for _ in CACHES]
    layers = [[draw(DIM, 3 * DIM), draw(DIM, DIM), draw(DIM, 4 * DIM), draw(4 * DIM, DIM)] for _ in range(LAYERS)]
    return caches + [np.int32(7), np.int32(33), draw(WORDS, DIM), draw(LENGTH, DIM)] + sum(layers, [])


def token(np, place, *a):
    """place(cache, row, at): the cache with the row at a position."""
    caches, (word, at, words, places), weights = a[: 2 * LAYERS], a[2 * LAYERS : 2 * LAYERS + 4], a[2 * LAYERS + 4 :]
    made, x = [], (words[word] + places[at])[None]

    def norm(v):
        v = v - v.mean(-1, keepdims=True)
        return v / np.sqrt((v * v).mean(-1, keepdims=True) + 1e-5)

    for layer in range(LAYERS):
        w_qkv, w_out, w_up, w_down = weights[4 * layer : 4 * layer + 4]
        qkv = (norm(x) @ w_qkv).reshape(3, 1, HEADS, 1, WIDTH)
        k, v = (place(caches[2 * layer + j], qkv[1 + j], at) for j in (0, 1))
        made += [k, v]
        scores = (qkv[0] @ k.transpose(0, 1, 3, 2)) / WIDTH**0.5
        scores = np.where(np.arange(LENGTH) <= at, scores, -1e9)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        x = x + ((scores / scores.sum(-1, keepdims=True)) @ v).reshape(1, DIM) @ w_out
        x = x + np.tanh(norm(x) @ w_up) @ w_down
    return (*made, norm(x) @ words.T)


def placed(cache, row, at):
    cache = cache.copy()
    cache[:, :, int(at) : int(at) + 1] = row
    return cache
