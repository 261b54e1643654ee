"""Trains a small residual network on 8x8 digits, quantises it and writes the test model.

Writes digits.onnx (int8 QDQ), digits_images.npy and digits_labels.npy (360 held-back images)
beside this file, or into --out DIR. Same seed, same files.
"""

import argparse
import os

import numpy as np
from sklearn.datasets import load_digits

import net as netlib
import qdq

SEED = 7
HELD_BACK = 360


class Conv:
    """3x3 convolution, padding 1, by im2col, with its gradient."""

    def __init__(self, rng, cin, cout):
        self.w = rng.normal(0, np.sqrt(2 / (cin * 9)), (cout, cin * 9)).astype(np.float32)
        self.b = np.zeros(cout, np.float32)

    def forward(self, x):
        n, c, h, w = x.shape
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        taps = [padded[:, :, i : i + h, j : j + w] for i in range(3) for j in range(3)]
        self.shape = x.shape
        self.cols = np.stack(taps, 2).reshape(n, c * 9, h * w)
        return (self.w @ self.cols + self.b[:, None]).reshape(n, -1, h, w)

    def backward(self, dy):
        n, c, h, w = self.shape
        dy = dy.reshape(n, -1, h * w)
        self.dw = np.einsum("nop,nkp->ok", dy, self.cols, optimize=True)
        self.db = dy.sum((0, 2))
        dcols = (self.w.T @ dy).reshape(n, c, 3, 3, h, w)
        dx = np.zeros((n, c, h + 2, w + 2), np.float32)
        for i in range(3):
            for j in range(3):
                dx[:, :, i : i + h, j : j + w] += dcols[:, :, i, j]
        return dx[:, :, 1:-1, 1:-1]


class Dense:
    def __init__(self, rng, cin, cout):
        self.w = rng.normal(0, np.sqrt(1 / cin), (cout, cin)).astype(np.float32)
        self.b = np.zeros(cout, np.float32)

    def forward(self, x):
        self.x = x
        return x @ self.w.T + self.b

    def backward(self, dy):
        self.dw, self.db = dy.T @ self.x, dy.sum(0)
        return dy @ self.w


class Network:
    """conv-relu, maxpool, conv-relu, (conv + skip)-relu, global average, dense."""

    def __init__(self, rng):
        self.c1, self.c2, self.c3 = Conv(rng, 1, 16), Conv(rng, 16, 32), Conv(rng, 32, 32)
        self.fc = Dense(rng, 32, 10)
        self.parts = [self.c1, self.c2, self.c3, self.fc]

    def forward(self, x):
        n = len(x)
        self.a1 = np.maximum(self.c1.forward(x), 0)
        blocks = self.a1.reshape(n, 16, 4, 2, 4, 2)
        pooled = blocks.max((3, 5))
        # Ties share the gradient; they occur only among zeros of the relu, where it is zero anyway.
        self.winner = blocks == pooled[:, :, :, None, :, None]
        self.a2 = np.maximum(self.c2.forward(pooled), 0)
        self.a3 = np.maximum(self.c3.forward(self.a2) + self.a2, 0)
        return self.fc.forward(self.a3.mean((2, 3)))

    def backward(self, dlogits):
        n = len(dlogits)
        d3 = np.broadcast_to(self.fc.backward(dlogits)[:, :, None, None] / 16, self.a3.shape) * (self.a3 > 0)
        d2 = (self.c3.backward(d3) + d3) * (self.a2 > 0)
        dpool = self.c2.backward(d2).reshape(n, 16, 4, 1, 4, 1)
        self.c1.backward((self.winner * dpool).reshape(self.a1.shape) * (self.a1 > 0))


def adam(parts, state, step, rate):
    for k, part in enumerate(parts):
        for name in ("w", "b"):
            grad = getattr(part, "d" + name)
            mean, var = state.setdefault((k, name), [np.zeros_like(grad), np.zeros_like(grad)])
            mean += 0.1 * (grad - mean)
            var += 0.001 * (grad * grad - var)
            move = (mean / (1 - 0.9**step)) / (np.sqrt(var / (1 - 0.999**step)) + 1e-8)
            setattr(part, name, (getattr(part, name) - rate * move).astype(np.float32))


def train(images, labels, epochs=40, batch=64):
    rng = np.random.default_rng(SEED)
    network, state, step = Network(rng), {}, 0
    for epoch in range(epochs):
        rate = 0.004 * 0.5 * (1 + np.cos(np.pi * epoch / epochs))
        order = rng.permutation(len(images))
        for at in range(0, len(order), batch):
            pick = order[at : at + batch]
            logits = network.forward(images[pick])
            prob = np.exp(logits - logits.max(1, keepdims=True))
            prob /= prob.sum(1, keepdims=True)
            prob[np.arange(len(pick)), labels[pick]] -= 1
            network.backward((prob / len(pick)).astype(np.float32))
            step += 1
            adam(network.parts, state, step, rate)
    return network


def load_split():
    data = load_digits()
    images = (data.images / 16).astype(np.float32)[:, None]
    labels = data.target.astype(np.int64)
    order = np.random.default_rng(SEED).permutation(len(images))
    test, rest = order[:HELD_BACK], order[HELD_BACK:]
    return images[rest], labels[rest], images[test], labels[test]


def describe(network):
    """The trained network as layers for the ONNX writers."""
    net = netlib.Net("digits", "image", (1, 1, 8, 8), "logits")
    kernels = [c.w.reshape(len(c.b), -1, 3, 3) for c in (network.c1, network.c2, network.c3)]
    net.conv("conv1", kernels[0], network.c1.b, pad=1, act="relu")
    net.maxpool("maxpool", 2, 2)
    net.conv("conv2", kernels[1], network.c2.b, pad=1, act="relu")
    net.conv("conv3", kernels[2], network.c3.b, pad=1)
    net.residual("sum", "conv3", "conv2", act="relu")
    net.head("fc", network.fc.w, network.fc.b)
    return net


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=os.path.dirname(os.path.abspath(__file__)))
    args = parser.parse_args()
    train_x, train_y, test_x, test_y = load_split()
    network = train(train_x, train_y)
    accuracy = (network.forward(test_x).argmax(1) == test_y).mean()
    print(f"float32 accuracy on {len(test_x)} held-back images: {accuracy:.4f}")
    if accuracy < 0.96:
        raise SystemExit("digits.py: error: the trained network is below 96%")
    netlib.save(qdq.quantized_model(describe(network), train_x[:512]), os.path.join(args.out, "digits.onnx"))
    np.save(os.path.join(args.out, "digits_images.npy"), test_x)
    np.save(os.path.join(args.out, "digits_labels.npy"), test_y)


if __name__ == "__main__":
    main()
