"""Programs that are no networks, written in JAX: pb by polyblocks_jit_jax beside XLA by jax.jit, in turns in one process. The
best of so many runs of each, the largest difference, and what compiling took. Ratios below 1: pb is faster.

    bench/programs.py [--runs 9] [--only NAME ...] [--markdown]        # a Python with jax (scripts/frameworks), PB_LIBRARY

Both use all cores that the process may run on: taskset -c 0 for one."""

import argparse
import os
import platform
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from polyblocks import polyblocks_jit_jax  # noqa: E402

RNG = np.random.default_rng(0)


def floats(*shape, scale=1.0):
    return (RNG.standard_normal(shape) * scale).astype(np.float32)


def lstm(xs, w, u, b):
    def cell(carry, x):
        h, c = carry
        i, f, o, z = jnp.split(x @ w + h @ u + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(z)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((xs.shape[1], u.shape[0]))
    return jax.lax.scan(cell, (zero, zero), xs)[1]


def small_scan(start, xs):
    return jax.lax.scan(lambda c, x: (c * 0.99 + x, c[0]), start, xs)


def jacobi(x):
    def step(_, u):
        return u.at[1:-1, 1:-1].set(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]))

    return jax.lax.fori_loop(0, 20, step, x)


def heat(x):
    def step(_, u):
        return u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u)

    return jax.lax.fori_loop(0, 20, step, x)


def rk4(y):
    def slope(v):
        return jnp.stack([10 * (v[1] - v[0]), v[0] * (28 - v[2]) - v[1], v[0] * v[1] - 8 / 3 * v[2]])

    def step(_, v):
        h = 0.001
        a = slope(v)
        b = slope(v + h / 2 * a)
        c = slope(v + h / 2 * b)
        d = slope(v + h * c)
        return v + h / 6 * (a + 2 * b + 2 * c + d)

    return jax.lax.fori_loop(0, 1000, step, y)


def blur(x):
    w = jnp.array([1, 4, 6, 4, 1], jnp.float32) / 16
    across = sum(w[k] * x[:, :, k:x.shape[2] - 4 + k] for k in range(5))
    return sum(w[k] * across[:, k:x.shape[1] - 4 + k] for k in range(5))


PROGRAMS = {
    "scan of an LSTM cell, 64 steps of 8 x 128": (lstm, lambda: (floats(64, 8, 32), floats(32, 512, scale=0.1), floats(128, 512, scale=0.1), floats(512))),
    "scan of 2,000 small turns": (small_scan, lambda: (np.ones(3, np.float32), floats(2000, 3))),
    "1,000 steps of RK4, 3 numbers": (rk4, lambda: (np.array([1, 1, 1], np.float32),)),
    "20 Jacobi steps, 1024 x 1024": (jacobi, lambda: (floats(1024, 1024),)),
    "20 heat steps by roll, 1024 x 1024": (heat, lambda: (floats(1024, 1024),)),
    "separable blur, 3 x 1024 x 1024": (blur, lambda: (floats(3, 1024, 1024),)),
    "cumulative sum, 256 x 4096": (lambda x: jnp.cumsum(x, 1), lambda: (floats(256, 4096),)),
    "top-k, 64 x 10000, k 50": (lambda x: jax.lax.top_k(x, 50), lambda: (floats(64, 10000),)),
    "sort, 64 x 10000": (lambda x: jnp.sort(x, 1), lambda: (floats(64, 10000),)),
    "segment sum, 100000 x 64 into 1000": (lambda x, i: jax.ops.segment_sum(x, i, 1000), lambda: (floats(100000, 64), RNG.integers(0, 1000, 100000).astype(np.int32))),
    "eigenvalues (and vectors), 128 x 128": (lambda x: jnp.linalg.eigh(x + x.T)[0], lambda: (floats(128, 128),)),
    "singular values, 64 x 64": (lambda x: jnp.linalg.svd(x, compute_uv=False), lambda: (floats(64, 64),)),
    "QR, 128 x 128": (lambda x: jnp.abs(jnp.linalg.qr(x, mode="r")), lambda: (floats(128, 128),)),
    "Cholesky, 256 x 256": (lambda x: jnp.linalg.cholesky(x @ x.T + 256 * jnp.eye(256)), lambda: (floats(256, 256),)),
    "gather of 100000 rows of 64": (lambda x, i: x[i], lambda: (floats(1000, 64), RNG.integers(0, 1000, 100000).astype(np.int32))),
}


def timed(f, arguments):
    start = time.perf_counter()
    result = jax.block_until_ready(f(*arguments))
    return time.perf_counter() - start, result


def measure(function, arguments, runs):
    xla, ours = jax.jit(function), polyblocks_jit_jax(function)
    compile_xla, want = timed(xla, arguments)
    compile_ours, got = timed(ours, arguments)
    off = max(float(np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)).max()) for a, b in zip(jax.tree_util.tree_leaves(got), jax.tree_util.tree_leaves(want)))
    best = [float("inf")] * 2
    for _ in range(runs):
        for k, f in enumerate((xla, ours)):
            best[k] = min(best[k], timed(f, arguments)[0])
    return best, (compile_xla, compile_ours), off


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    print(f"{model}, {cores} cores, JAX {jax.__version__}, {time.strftime('%Y-%m-%d')}\n")
    if options.markdown:
        print("| program | XLA, ms | pb, ms | pb / XLA | compiled in, s: XLA, pb | largest difference |\n|---|--:|--:|--:|--:|--:|")
    ratios = []
    for name, (function, make) in PROGRAMS.items():
        if not any(text in name for text in options.only):
            continue
        best, compiled, off = measure(function, make(), options.runs)
        ratios.append(best[1] / best[0])
        row = name, f"{best[0] * 1e3:.2f}", f"{best[1] * 1e3:.2f}", f"{ratios[-1]:.2f}", f"{compiled[0]:.2f}, {compiled[1]:.2f}", f"{off:.2g}"
        print(f"| {' | '.join(row)} |" if options.markdown else "  ".join(row), flush=True)
    print(f"\ngeometric mean of pb / XLA: {float(np.exp(np.mean(np.log(ratios)))):.2f} of {len(ratios)}")


if __name__ == "__main__":
    main()
