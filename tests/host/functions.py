"""Functions whose loops data end and whose branches data choose: each for JAX, and the same for NumPy as plain Python.
ROWS: name, JAX's, NumPy's, and the arguments of each run."""
import numpy as np

F, I = np.float32, np.int32
RANDOM = np.random.default_rng(11)


def draw(*shape):
    return RANDOM.standard_normal(shape).astype(F)


def collatz(jax, jnp, lax):
    def next(s):
        n, k = s
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), k + 1
    return lambda n: lax.while_loop(lambda s: s[0] != 1, next, (n, jnp.int32(0)))[1]


def collatz_np(n):
    k, n = 0, int(n)
    while n != 1:
        n, k = n // 2 if n % 2 == 0 else 3 * n + 1, k + 1
    return I(k)


def gcd(jax, jnp, lax):
    return lambda a, b: lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], s[0] % s[1]), (a, b))[0]


def newton(jax, jnp, lax):
    def f(x):
        return lax.while_loop(lambda r: jnp.max(jnp.abs(r * r - x) / x) > 1e-5, lambda r: 0.5 * (r + x / r), jnp.ones_like(x))
    return f


def counted(jax, jnp, lax):
    return lambda n, x, w: lax.fori_loop(0, n, lambda k, y: jnp.tanh(y @ w) + k * 0.125, x)


def counted_np(n, x, w):
    for k in range(int(n)):
        x = np.tanh(x @ w) + F(k * 0.125)
    return x


def nested(jax, jnp, lax):
    def f(n, x):
        def outer(i, y):
            return lax.fori_loop(0, i, lambda j, z: z * 0.5 + j, y) + i
        return lax.fori_loop(0, n, outer, x)
    return f


def nested_np(n, x):
    for i in range(int(n)):
        for j in range(i):
            x = x * F(0.5) + j
        x = x + i
    return x.astype(F)


def branches(jax, jnp, lax):
    return lambda c, x, w: lax.cond(c > 0, lambda: x @ w, lambda: jnp.sin(x @ w.T) - 1)


def branches_np(c, x, w):
    return x @ w if c > 0 else np.sin(x @ w.T) - 1


def switch(jax, jnp, lax):
    def f(k, x, w):
        return lax.switch(k, [lambda v: v @ w, lambda v: jnp.exp(-v @ w), lambda v: v, lambda v: (v @ w) @ w], x)
    return f


def switch_np(k, x, w):
    k = min(max(int(k), 0), 3)
    return [lambda: x @ w, lambda: np.exp(-x @ w), lambda: x, lambda: (x @ w) @ w][k]()


def loop_in_a_branch(jax, jnp, lax):
    def f(n, x):
        return lax.cond(n > 3, lambda: lax.while_loop(lambda v: jnp.sum(v) > 1, lambda v: v * 0.5, x), lambda: -x)
    return f


def loop_in_a_branch_np(n, x):
    if n <= 3:
        return -x
    while x.sum() > 1:
        x = x * F(0.5)
    return x


def branch_in_a_loop(jax, jnp, lax):
    def f(n, x, w):
        def turn(s):
            k, y = s
            return k + 1, lax.cond(y[0, 0] > 0, lambda: y @ w - 0.25, lambda: y @ w.T + 0.25)
        return lax.while_loop(lambda s: s[0] < n, turn, (jnp.int32(0), x))[1]
    return f


def branch_in_a_loop_np(n, x, w):
    for _ in range(int(n)):
        x = x @ w - F(0.25) if x[0, 0] > 0 else x @ w.T + F(0.25)
    return x


def greedy(jax, jnp, lax):
    """Tokens one by one into a buffer, until the last one or eight."""
    def f(first, embed, w):
        def turn(s):
            k, token, tokens, state = s
            state = jnp.tanh(state @ w + embed[token])
            token = jnp.argmax(state @ embed.T).astype(jnp.int32)
            return k + 1, token, lax.dynamic_update_slice(tokens, token[None], (k,)), state
        start = (jnp.int32(0), first, jnp.zeros(8, jnp.int32), jnp.zeros(embed.shape[1]))
        k, _, tokens, _ = lax.while_loop(lambda s: (s[0] < 8) & (s[1] != 0), turn, start)
        return tokens, k
    return f


def greedy_np(first, embed, w):
    k, token, tokens, state = 0, int(first), np.zeros(8, I), np.zeros(embed.shape[1], F)
    while k < 8 and token:
        state = np.tanh(state @ w + embed[token])
        token = int(np.argmax(state @ embed.T))
        tokens[k] = token
        k += 1
    return tokens, I(k)


def fibonacci(jax, jnp, lax):
    def f(n):
        return lax.while_loop(lambda s: s[2] > 0, lambda s: (s[1], s[0] + s[1], s[2] - 1), (jnp.int32(0), jnp.int32(1), n))[0]
    return f


def fibonacci_np(n):
    a, b = 0, 1
    for _ in range(int(n)):
        a, b = b, a + b
    return I(a)


def rotated(jax, jnp, lax):
    def f(n, x, y, z):
        return lax.while_loop(lambda s: s[0] > 0, lambda s: (s[0] - 1, s[2], s[3], s[1]), (n, x, y, z))[1:]
    return f


def rotated_np(n, x, y, z):
    for _ in range(int(n)):
        x, y, z = y, z, x
    return x, y, z


def gradients(jax, jnp, lax):
    """Conjugate gradients until the residual is small."""
    def f(a, b):
        def turn(s):
            x, r, p, rr = s
            ap = a @ p
            step = rr / (p @ ap)
            x, r = x + step * p, r - step * ap
            new = r @ r
            return x, r, r + new / rr * p, new
        return lax.while_loop(lambda s: s[3] > 1e-8, turn, (jnp.zeros_like(b), b, b, b @ b))[0]
    return f


def sorted_by_swaps(jax, jnp, lax):
    def f(x):
        def turn(s):
            v, _ = s
            for first in (0, 1):
                pairs = v[first:first + (len(v) - first) // 2 * 2].reshape(-1, 2)
                low = jnp.stack([pairs.min(1), pairs.max(1)], 1).reshape(-1)
                v = lax.dynamic_update_slice(v, low, (first,))
            return v, jnp.any(v[1:] < v[:-1])
        return lax.while_loop(lambda s: s[1], turn, (x, jnp.array(True)))[0]
    return f


def long_scan(jax, jnp, lax):
    return lambda x, xs: lax.scan(lambda c, e: (c * 0.99 + e, c[0]), x, xs)


def long_scan_np(x, xs):
    all = []
    for e in xs:
        all.append(x[0])
        x = x * F(0.99) + e
    return x, np.array(all, F)


def turned(jax, jnp, lax):
    """Complex numbers from turn to turn."""
    def f(n, x):
        z = lax.complex(x, jnp.zeros_like(x))
        return jnp.imag(lax.fori_loop(0, n, lambda k, v: v * (0.6 + 0.8j), z))
    return f


def turned_np(n, x):
    return (x * (0.6 + 0.8j) ** int(n)).imag.astype(F)


def bisected(jax, jnp, lax):
    def f(low, high):
        def turn(s):
            a, b = s
            m = 0.5 * (a + b)
            up = m * m * m - m < 2
            return jnp.where(up, m, a), jnp.where(up, b, m)
        return lax.while_loop(lambda s: jnp.max(s[1] - s[0]) > 1e-4, turn, (low, high))[0]
    return f


def bisected_np(a, b):
    while (b - a).max() > 1e-4:
        m = F(0.5) * (a + b)
        up = m * m * m - m < 2
        a, b = np.where(up, m, a), np.where(up, b, m)
    return a


def two_loops(jax, jnp, lax):
    def f(n, x):
        y = lax.while_loop(lambda v: jnp.max(v) < 100, lambda v: v * 2 + 1, jnp.abs(x))
        z = lax.fori_loop(0, n, lambda k, v: v - y * 0.125, y)
        return y + z, z.sum()
    return f


def two_loops_np(n, x):
    y = np.abs(x)
    while y.max() < 100:
        y = y * 2 + 1
    z = y
    for _ in range(int(n)):
        z = z - y * F(0.125)
    return y + z, z.sum()


def rejected(jax, jnp, lax):
    """Numbers of a generator until one falls below the bound."""
    def f(seed, bound):
        return lax.while_loop(lambda s: (s >> 16) > bound, lambda s: s * jnp.uint32(1664525) + jnp.uint32(1013904223), seed)
    return f


def rejected_np(seed, bound):
    s = int(seed)
    while s >> 16 > bound:
        s = (s * 1664525 + 1013904223) % 2**32
    return np.uint32(s)


def no_turn(jax, jnp, lax):
    return lambda x: lax.while_loop(lambda v: v[0] > 1e30, lambda v: v @ jnp.ones((3, 3)), x)


def masks(jax, jnp, lax):
    """Truths from turn to turn: what is reached from the first of a graph's nodes."""
    def f(edges):
        def turn(s):
            seen, _ = s
            more = seen | jnp.any(edges & seen[:, None], 0)
            return more, jnp.any(more != seen)
        start = jnp.zeros(edges.shape[0], bool).at[0].set(True)
        return lax.while_loop(lambda s: s[1], turn, (start, jnp.array(True)))[0]
    return f


def masks_np(edges):
    seen = np.zeros(len(edges), bool)
    seen[0] = True
    while True:
        more = seen | (edges & seen[:, None]).any(0)
        if (more == seen).all():
            return seen
        seen = more


W, EMBED, POSITIVE = 0.5 * draw(8, 8), draw(10, 8), draw(6, 6)
POSITIVE = (POSITIVE @ POSITIVE.T + 6 * np.eye(6)).astype(F)
ROWS = [
    ("collatz", collatz, collatz_np, [[I(1)], [I(27)], [I(97)]]),
    ("gcd", gcd, np.gcd, [[I(84), I(36)], [I(7), I(0)], [I(1071), I(462)]]),
    ("newton", newton, np.sqrt, [[np.abs(draw(12)) + F(0.1)], [F(1e4) * np.abs(draw(12)) + 1]]),
    ("counted", counted, counted_np, [[I(n), draw(4, 8), W] for n in (0, 1, 30)]),
    ("nested", nested, nested_np, [[I(n), draw(5)] for n in (0, 1, 6)]),
    ("branches", branches, branches_np, [[I(c), draw(4, 8), W] for c in (1, -1)]),
    ("switch", switch, switch_np, [[I(k), draw(4, 8), W] for k in (-2, 0, 1, 2, 3, 9)]),
    ("loop_in_a_branch", loop_in_a_branch, loop_in_a_branch_np, [[I(n), F(9) * np.abs(draw(7))] for n in (3, 4)]),
    ("branch_in_a_loop", branch_in_a_loop, branch_in_a_loop_np, [[I(n), draw(8, 8), W] for n in (0, 5)]),
    ("greedy", greedy, greedy_np, [[I(k), EMBED, W] for k in (0, 3, 7)]),
    ("fibonacci", fibonacci, fibonacci_np, [[I(n)] for n in (0, 1, 30)]),
    ("rotated", rotated, rotated_np, [[I(n), draw(3, 5), draw(3, 5), draw(3, 5)] for n in (0, 1, 2, 10)]),
    ("gradients", gradients, np.linalg.solve, [[POSITIVE, draw(6)]]),
    ("sorted_by_swaps", sorted_by_swaps, np.sort, [[draw(11)], [np.sort(draw(11))]]),
    ("long_scan", long_scan, long_scan_np, [[draw(3), draw(5000, 3)]]),
    ("turned", turned, turned_np, [[I(n), draw(4)] for n in (0, 1, 5)]),
    ("bisected", bisected, bisected_np, [[np.zeros(5, F), np.linspace(2, 9, 5).astype(F)]]),
    ("two_loops", two_loops, two_loops_np, [[I(n), draw(9)] for n in (0, 3)]),
    ("rejected", rejected, rejected_np, [[np.uint32(5), np.uint32(300)], [np.uint32(5), np.uint32(70000)]]),
    ("no_turn", no_turn, lambda x: x, [[draw(3)]]),
    ("masks", masks, masks_np, [[RANDOM.uniform(size=(24, 24)) < p] for p in (0.02, 0.08, 0.5)]),
]
