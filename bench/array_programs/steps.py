"""Simulations: stencils in time, particles, solvers, chains of small steps."""

import jax
import jax.numpy as jnp
import numpy as np
from common import floats, uniform


def jacobi(x):
    def step(_, u):
        return u.at[1:-1, 1:-1].set(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]))

    return jax.lax.fori_loop(0, 20, step, x)


def around(u):
    return jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u


def heat(x):
    return jax.lax.fori_loop(0, 20, lambda _, u: u + 0.1 * around(u), x)


def heat_in_space(x):
    def step(_, u):
        c = u[1:-1, 1:-1, 1:-1]
        near = u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2]
        return u.at[1:-1, 1:-1, 1:-1].set(c + 0.1 * (near - 6 * c))

    return jax.lax.fori_loop(0, 10, step, x)


def wave(now, before):
    def step(_, state):
        u, v = state
        return 2 * u - v + 0.1 * around(u), u

    return jax.lax.fori_loop(0, 20, step, (now, before))[0]


def reaction(u, v):
    def step(_, state):
        u, v = state
        uvv = u * v * v
        return u + 0.16 * around(u) - uvv + 0.035 * (1 - u), v + 0.08 * around(v) + uvv - 0.1 * v

    return jax.lax.fori_loop(0, 20, step, (u, v))


def life(x):
    def step(_, u):
        rows = u + jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0)
        near = rows + jnp.roll(rows, 1, 1) + jnp.roll(rows, -1, 1) - u
        return ((near == 3) | ((near == 2) & (u == 1))).astype(jnp.int32)

    return jax.lax.fori_loop(0, 20, step, x)


def mandelbrot(x, y):
    def step(_, state):
        a, b, n = state
        inside = a * a + b * b <= 4
        return jnp.where(inside, a * a - b * b + x, a), jnp.where(inside, 2 * a * b + y, b), n + inside

    zero = jnp.zeros_like(x)
    return jax.lax.fori_loop(0, 50, step, (zero, zero, jnp.zeros(x.shape, jnp.int32)))[2]


def plane():
    x, y = np.meshgrid(np.linspace(-2, 1, 768, dtype=np.float32), np.linspace(-1.2, 1.2, 512, dtype=np.float32))
    return x, y


def bodies(place, speed, mass):
    def step(_, state):
        p, v = state
        apart = p[None] - p[:, None]
        far = (apart**2).sum(-1) + 0.01
        pull = (apart * (mass[None, :, None] / (far * jnp.sqrt(far))[..., None])).sum(1)
        v = v + 0.001 * pull
        return p + 0.001 * v, v

    return jax.lax.fori_loop(0, 5, step, (place, speed))[0]


def rk4(y):
    def slope(v):
        return jnp.stack([10 * (v[1] - v[0]), v[0] * (28 - v[2]) - v[1], v[0] * v[1] - 8 / 3 * v[2]])

    def step(_, v):
        h = 0.001
        a = slope(v)
        b = slope(v + h / 2 * a)
        c = slope(v + h / 2 * b)
        return v + h / 6 * (a + 2 * b + 2 * c + slope(v + h * c))

    return jax.lax.fori_loop(0, 1000, step, y)


def pendulums(state):
    """10,000 of them side by side, 100 steps."""
    return jax.lax.fori_loop(0, 100, lambda _, s: (s[0] + 0.01 * s[1], s[1] - 0.01 * jnp.sin(s[0])), state)


def leapfrog(q, p, a):
    """The middle of Hamiltonian Monte Carlo for a Gaussian of 64 numbers."""
    def step(_, s):
        q, p = s
        p = p - 0.005 * (a @ q)
        q = q + 0.01 * p
        return q, p - 0.005 * (a @ q)

    return jax.lax.fori_loop(0, 200, step, (q, p))


def kalman(x, observed, a, c, q, r):
    def step(state, y):
        m, p = state
        m, p = a @ m, a @ p @ a.T + q
        s = c @ p @ c.T + r
        k = jnp.linalg.solve(s, c @ p).T
        m, p = m + k @ (y - c @ m), p - k @ c @ p
        return (m, p), m

    return jax.lax.scan(step, (x, jnp.eye(4)), observed)[1]


def kalman_arguments():
    return (floats(1, 4), floats(2, 100, 2), np.eye(4, dtype=np.float32) * 0.9 + floats(3, 4, 4, scale=0.05), floats(4, 2, 4),
            np.eye(4, dtype=np.float32) * 0.1, np.eye(2, dtype=np.float32))


def conjugate_gradients(a, b):
    """Until the rest is small: how many turns the numbers say."""
    def go(state):
        return (state[3] > 1e-6) & (state[4] < 200)

    def step(state):
        x, r, p, rr, n = state
        ap = a @ p
        alpha = rr / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        return x, r, r + new / rr * p, new, n + 1

    return jax.lax.while_loop(go, step, (jnp.zeros_like(b), b, b, b @ b, 0))[0]


def positive():
    x = floats(5, 512, 512, scale=0.02)
    return x @ x.T + np.eye(512, dtype=np.float32), floats(6, 512)


def ranks(links):
    link = links / jnp.maximum(links.sum(0), 1)
    return jax.lax.fori_loop(0, 20, lambda _, r: 0.85 * (link @ r) + 0.15 / r.size, jnp.full(links.shape[0], 1 / links.shape[0], links.dtype))


def roots(x):
    """Newton's method on 100,000 numbers, until all are found."""
    def go(s):
        return (jnp.abs(s[0] ** 3 - x).max() > 1e-3) & (s[1] < 60)

    return jax.lax.while_loop(go, lambda s: (s[0] - (s[0] ** 3 - x) / (3 * s[0] ** 2), s[1] + 1), (jnp.ones_like(x), 0))[0]


def fluid(f):
    """A lattice Boltzmann method with nine directions, closed round its edges: each moves by its place, and is drawn to the mean."""
    ways = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
    share = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4

    def step(_, f):
        f = jnp.stack([jnp.roll(part, (y, x), (0, 1)) for part, (x, y) in zip(f, ways)])
        mass = f.sum(0)
        u, v = (sum(way[k] * part for part, way in zip(f, ways)) / mass for k in range(2))
        along = [x * u + y * v for x, y in ways]
        rest = jnp.stack([w * mass * (1 + 3 * a + 4.5 * a * a - 1.5 * (u * u + v * v)) for w, a in zip(share, along)])
        return f + 0.6 * (rest.astype(f.dtype) - f)

    return jax.lax.fori_loop(0, 10, step, f)


def shortest_ways(d):
    return jax.lax.fori_loop(0, d.shape[0], lambda k, d: jnp.minimum(d, d[:, k, None] + d[None, k]), d)


def fdtd(ez, hx, hy):
    """Maxwell's equations in a plane on Yee's grid, with a source."""
    def step(k, state):
        ez, hx, hy = state
        hx = hx.at[:, :-1].add(-0.5 * (ez[:, 1:] - ez[:, :-1]))
        hy = hy.at[:-1, :].add(0.5 * (ez[1:, :] - ez[:-1, :]))
        ez = ez.at[1:-1, 1:-1].add(0.5 * (hy[1:-1, 1:-1] - hy[:-2, 1:-1] - hx[1:-1, 1:-1] + hx[1:-1, :-2]))
        return ez.at[100, 100].set(jnp.sin(k * np.float32(0.1)).astype(ez.dtype)), hx, hy

    return jax.lax.fori_loop(0, 50, step, (ez, hx, hy))[0]


def spins(s, seed):
    """Ising's model, ten sweeps of a checkerboard."""
    i, j = jnp.meshgrid(jnp.arange(s.shape[0]), jnp.arange(s.shape[1]), indexing="ij")

    def half(s, key, which):
        near = jnp.roll(s, 1, 0) + jnp.roll(s, -1, 0) + jnp.roll(s, 1, 1) + jnp.roll(s, -1, 1)
        turn = jax.random.uniform(key, s.shape, jnp.float32) < jnp.exp(-0.8 * (s * near).astype(jnp.float32))
        return jnp.where(which & turn, -s, s)

    def sweep(s, key):
        first, second = jax.random.split(key)
        black = (i + j) % 2 == 0
        return half(half(s, first, black), second, ~black), s.sum()

    return jax.lax.scan(sweep, s, jax.random.split(jax.random.wrap_key_data(seed, impl="threefry2x32"), 10))


def shallow_water(h, u, v):
    def step(_, state):
        h, u, v = state
        dx, dy = ((lambda a, r=r: (jnp.roll(a, -1, r) - jnp.roll(a, 1, r)) * 0.5) for r in (1, 0))
        new_u = u - 0.02 * (u * dx(u) + v * dy(u) + 9.8 * dx(h))
        new_v = v - 0.02 * (u * dx(v) + v * dy(v) + 9.8 * dy(h))
        return h - 0.02 * (dx(new_u * h) + dy(new_v * h)), new_u, new_v

    return jax.lax.fori_loop(0, 20, step, (h, u, v))


def lorenz(y):
    """As many systems side by side, 100 steps of RK4."""
    def slope(v):
        return jnp.stack([10 * (v[1] - v[0]), v[0] * (28 - v[2]) - v[1], v[0] * v[1] - 8 / 3 * v[2]])

    def one(y):
        def step(v, _):
            h = 0.005
            a = slope(v)
            b = slope(v + h / 2 * a)
            c = slope(v + h / 2 * b)
            v = v + h / 6 * (a + 2 * b + 2 * c + slope(v + h * c))
            return v, v[0]

        return jax.lax.scan(step, y, None, length=100)

    return jax.vmap(one)(y)


def on_a_grid(p):
    """Particles summed up on a grid, each into the four places around it, and what lies there read back."""
    n = 128
    c = jnp.floor(p).astype(jnp.int32)
    f = p - c
    near = [((c[:, 0] + i) % n, (c[:, 1] + j) % n, (f[:, 0] if i else 1 - f[:, 0]) * (f[:, 1] if j else 1 - f[:, 1])) for i in (0, 1) for j in (0, 1)]
    grid = jnp.zeros((n, n), p.dtype)
    for i, j, w in near:
        grid = grid.at[i, j].add(w)
    return grid, sum(w * grid[i, j] for i, j, w in near)


def tridiagonal(a, b, c, d):
    """Thomas's method, forth and back, for many right sides."""
    def forth(state, x):
        before, part = state
        a, b, c, d = x
        m = b - a * before
        state = c / m, (d - a * part) / m
        return state, state

    zero = jnp.zeros(a.shape[1:], a.dtype)
    _, made = jax.lax.scan(forth, (zero, zero), (a, b, c, d))
    return jax.lax.scan(lambda x, s: (s[1] - s[0] * x,) * 2, zero, made, reverse=True)[1]


PROGRAMS = {
    "20 Jacobi steps, 1024 x 1024": (jacobi, lambda: (floats(10, 1024, 1024),)),
    "20 heat steps by roll, 1024 x 1024": (heat, lambda: (floats(11, 1024, 1024),)),
    "10 heat steps in space, 128 x 128 x 128": (heat_in_space, lambda: (floats(12, 128, 128, 128),)),
    "20 steps of a wave, 512 x 512": (wave, lambda: (floats(13, 512, 512),) * 2),
    "20 steps of a reaction, 512 x 512": (reaction, lambda: (1 - 0.5 * uniform(14, 512, 512), 0.5 * uniform(15, 512, 512))),
    "20 turns of life, 512 x 512": (life, lambda: ((uniform(16, 512, 512) < 0.3).astype(np.int32),)),
    "Mandelbrot, 512 x 768, 50 turns": (mandelbrot, plane),
    "5 steps of 1,000 bodies": (bodies, lambda: (floats(17, 1000, 3), floats(18, 1000, 3), uniform(19, 1000))),
    "1,000 steps of RK4, 3 numbers": (rk4, lambda: (np.ones(3, np.float32),)),
    "100 steps of 10,000 pendulums": (lambda a, b: pendulums((a, b)), lambda: (floats(20, 10000), floats(21, 10000))),
    "200 leapfrog steps, 64 numbers": (leapfrog, lambda: (floats(22, 64), floats(23, 64), positive()[0][:64, :64])),
    "Kalman filter, 100 steps of 4 numbers": (kalman, kalman_arguments),
    "conjugate gradients, 512": (conjugate_gradients, positive),
    "page ranks, 1,000 pages": (ranks, lambda: ((uniform(24, 1000, 1000) < 0.02).astype(np.float32),)),
    "10 steps of a fluid, 9 x 128 x 256": (fluid, lambda: (0.5 + 0.1 * uniform(26, 9, 128, 256),)),
    "shortest ways between 200 places": (shortest_ways, lambda: (10 * uniform(27, 200, 200),)),
    "Newton's method until all are found, 100,000": (roots, lambda: (1 + 9 * uniform(25, 100000),)),
    "50 steps of Maxwell's equations, 300 x 400": (fdtd, lambda: (np.zeros((300, 400), np.float32),) * 3),
    "10 sweeps of Ising's model, 256 x 256": (spins, lambda: (np.sign(floats(28, 256, 256)).astype(np.int32), np.array([1, 2], np.uint32))),
    "20 steps of shallow water, 256 x 256": (shallow_water, lambda: (1 + 0.1 * uniform(29, 256, 256), floats(30, 256, 256, scale=0.1), floats(31, 256, 256, scale=0.1))),
    "2,000 systems of Lorenz, 100 steps": (lorenz, lambda: (floats(32, 2000, 3),)),
    "50,000 particles on a grid, 128 x 128": (on_a_grid, lambda: (128 * uniform(33, 50000, 2),)),
    "64 tridiagonal systems of 300": (tridiagonal, lambda: (uniform(34, 300, 64), 4 + uniform(35, 300, 64), uniform(36, 300, 64), floats(37, 300, 64))),
}
