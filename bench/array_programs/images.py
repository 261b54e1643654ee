"""Image processing: several stages of stencils, look-up tables, pyramids, windows."""

import jax
import jax.numpy as jnp
import numpy as np
from common import edged, uniform, windows

FIVE = np.array([1, 4, 6, 4, 1], np.float32) / 16


def blur(x):
    across = sum(FIVE[k] * x[:, :, k : x.shape[2] - 4 + k] for k in range(5))
    return sum(FIVE[k] * across[:, k : x.shape[1] - 4 + k] for k in range(5))


def blur_by_convolutions(x):
    w = jnp.asarray(FIVE, x.dtype)
    x = jax.lax.conv_general_dilated(x[:, None], w.reshape(1, 1, 1, 5), (1, 1), "VALID")
    return jax.lax.conv_general_dilated(x, w.reshape(1, 1, 5, 1), (1, 1), "VALID")[:, 0]


def smooth(x):
    return blur(edged(x, 2))


def unsharp(x):
    soft = smooth(x)
    detail = x - soft
    return jnp.clip(jnp.where(jnp.abs(detail) > 0.02, x + 1.5 * detail, x), 0, 1)


def sobel(x):
    p = edged(x)
    a, b, c, d, _, f, g, h, i = windows(p, 3)
    return c + 2 * f + i - a - 2 * d - g, g + 2 * h + i - a - 2 * b - c


def edges(x):
    dx, dy = sobel(x)
    size = jnp.sqrt(dx * dx + dy * dy)
    return jnp.where(size > 0.5, size, 0)


def harris(x):
    dx, dy = sobel(x)
    xx, yy, xy = (sum(windows(edged(v), 3)) for v in (dx * dx, dy * dy, dx * dy))
    return xx * yy - xy * xy - 0.04 * (xx + yy) ** 2


def thinned(x):
    """The edges that are the largest across their direction."""
    dx, dy = sobel(x)
    size = jnp.sqrt(dx * dx + dy * dy)
    near = windows(jnp.pad(size, ((0, 0), (1, 1), (1, 1))), 3)
    flat, steep = jnp.abs(dx) > 2.4 * jnp.abs(dy), jnp.abs(dy) > 2.4 * jnp.abs(dx)
    along = [(near[3], near[5]), (near[1], near[7]), (near[0], near[8]), (near[2], near[6])]
    kept = [(size >= a) & (size >= b) for a, b in along]
    keep = jnp.where(flat, kept[0], jnp.where(steep, kept[1], jnp.where(dx * dy > 0, kept[2], kept[3])))
    return jnp.where(keep, size, 0)


def bilateral(x):
    p = edged(x, 2)
    total = weights = 0.0
    for k, v in enumerate(windows(p, 5)):
        di, dj = k // 5 - 2, k % 5 - 2
        w = np.float32(np.exp(-(di * di + dj * dj) / 4.5)) * jnp.exp(-((v - x) ** 2) / 0.02)
        total, weights = total + w * v, weights + w
    return total / weights


def halved(x):
    return smooth(x)[:, ::2, ::2]


def doubled(x):
    return jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)


def pyramid(x):
    levels = [x]
    for _ in range(4):
        levels.append(halved(levels[-1]))
    return levels[1:]


def blended(a, b, mask):
    """Two pictures put together by their Laplacian pyramids."""
    out = None
    stack = []
    for _ in range(3):
        a2, b2, m2 = halved(a), halved(b), halved(mask)
        stack.append(mask * (a - smooth(doubled(a2))) + (1 - mask) * (b - smooth(doubled(b2))))
        a, b, mask = a2, b2, m2
    out = mask * a + (1 - mask) * b
    for layer in reversed(stack):
        out = smooth(doubled(out)) + layer
    return out


def demosaic(raw):
    """RGGB, bilinear."""
    h, w = raw.shape
    i, j = jnp.arange(h)[:, None] % 2, jnp.arange(w)[None] % 2
    p = windows(jnp.pad(raw, 1, mode="reflect"), 3)
    cross, corners = (p[1] + p[3] + p[5] + p[7]) / 4, (p[0] + p[2] + p[6] + p[8]) / 4
    across, down = (p[3] + p[5]) / 2, (p[1] + p[7]) / 2
    red, blue = (i == 0) & (j == 0), (i == 1) & (j == 1)
    row_of_red = i == 0
    r = jnp.where(red, raw, jnp.where(blue, corners, jnp.where(row_of_red, across, down)))
    b = jnp.where(blue, raw, jnp.where(red, corners, jnp.where(row_of_red, down, across)))
    return jnp.stack([r, jnp.where(red | blue, cross, raw), b])


def equalised(x):
    levels = jnp.clip((x * 255).astype(jnp.int32), 0, 255)
    counts = jnp.zeros(256, jnp.int32).at[levels.ravel()].add(1)
    table = jnp.cumsum(counts).astype(jnp.float32) / x.size
    return table[levels]


def by_curve(x):
    places = jnp.linspace(0, 1, 33)
    return jnp.interp(x, places, jnp.sqrt(places))


def to_luma(x):
    m = np.array([[0.299, 0.587, 0.114], [-0.147, -0.289, 0.436], [0.615, -0.515, -0.100]], np.float32)
    yuv = jnp.einsum("ij,jhw->ihw", m, x)
    return yuv.at[0].set(jnp.clip((yuv[0] - 0.5) * 1.2 + 0.5, 0, 1))


def non_local_means(x):
    total = weights = jnp.zeros_like(x)
    for di in range(-2, 3):
        for dj in range(-2, 3):
            moved = jnp.roll(x, (di, dj), (1, 2))
            far = sum(windows(edged((x - moved) ** 2), 3))
            w = jnp.exp(-far / 0.1)
            total, weights = total + w * moved, weights + w
    return total / weights


def median(x):
    return jnp.median(jnp.stack(windows(edged(x), 3)), 0)


def opened(x):
    lower = -jax.lax.reduce_window(-x, -jnp.inf, jax.lax.max, (1, 5, 5), (1, 1, 1), "SAME")
    return jax.lax.reduce_window(lower, -jnp.inf, jax.lax.max, (1, 5, 5), (1, 1, 1), "SAME")


def box(x):
    """Means of 15 x 15 by sums from the corner."""
    s = jnp.pad(jnp.cumsum(jnp.cumsum(x, 1), 2), ((0, 0), (1, 0), (1, 0)))
    return (s[:, 15:, 15:] - s[:, :-15, 15:] - s[:, 15:, :-15] + s[:, :-15, :-15]) / 225


def convolved(x, w):
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")


def by_transform(x, w):
    size = x.shape
    return jnp.fft.irfft2(jnp.fft.rfft2(x) * jnp.fft.rfft2(w, size), size)


def rotated(x):
    h, w = x.shape
    i, j = jnp.meshgrid(jnp.arange(h, dtype=x.dtype) - h / 2, jnp.arange(w, dtype=x.dtype) - w / 2, indexing="ij")
    return jax.scipy.ndimage.map_coordinates(x, [0.8 * i - 0.6 * j + h / 2, 0.6 * i + 0.8 * j + w / 2], order=1)


def components(x):
    """Connected ones, each by its least number, until nothing changes."""
    inside, most = x > 0.4, x.size

    def step(state):
        label, _ = state
        p = jnp.pad(label, 1, constant_values=most)
        near = jnp.minimum(jnp.minimum(p[:-2, 1:-1], p[2:, 1:-1]), jnp.minimum(p[1:-1, :-2], p[1:-1, 2:]))
        new = jnp.where(inside, jnp.minimum(label, near), most)
        return new, (new != label).any()

    label = jnp.where(inside, jnp.arange(most).reshape(x.shape), most)
    return jax.lax.while_loop(lambda state: state[1], step, (label, jnp.array(True)))[0]


def by_grid(x):
    """A bilateral filter by a coarse grid of places and levels: summed up, blurred, looked up."""
    (h, w), size, levels = x.shape, 16, 10
    i, j = jnp.meshgrid(jnp.arange(h) // size, jnp.arange(w) // size, indexing="ij")
    z = jnp.clip((x * levels).astype(jnp.int32), 0, levels - 1)
    grid = jnp.zeros((h // size, w // size, levels, 2), x.dtype).at[i, j, z].add(jnp.stack([x, jnp.ones_like(x)], -1))
    for axis in range(3):
        p = jnp.pad(grid, [(int(k == axis),) * 2 for k in range(4)])
        a, b, c = (jax.lax.slice_in_dim(p, k, k + grid.shape[axis], axis=axis) for k in range(3))
        grid = 0.25 * a + 0.5 * b + 0.25 * c
    found = grid[i, j, z]
    return found[..., 0] / jnp.maximum(found[..., 1], 1e-6)


def warped(x, flow):
    i, j = jnp.meshgrid(jnp.arange(x.shape[0], dtype=x.dtype), jnp.arange(x.shape[1], dtype=x.dtype), indexing="ij")
    return jax.scipy.ndimage.map_coordinates(x, [i + flow[0], j + flow[1]], order=1, mode="nearest")


def white(x):
    """White balance of a picture whose colours are its last dim."""
    return jnp.clip(x * (x.mean() / x.mean((0, 1))), 0, 1)


def picture(seed, *shape):
    return lambda: (uniform(seed, *shape),)


def spectrogram(x):
    at = np.arange(0, x.shape[0] - 512, 128)[:, None] + np.arange(512)
    return jnp.abs(jnp.fft.rfft(x[at] * np.hanning(512).astype(np.float32)))


PROGRAMS = {
    "separable blur, 3 x 2048 x 2048": (blur, picture(1, 3, 2048, 2048)),
    "separable blur as convolutions, 3 x 2048 x 2048": (blur_by_convolutions, picture(1, 3, 2048, 2048)),
    "unsharp mask, 3 x 1024 x 1024": (unsharp, picture(2, 3, 1024, 1024)),
    "Sobel edges, 3 x 1024 x 1024": (edges, picture(3, 3, 1024, 1024)),
    "Harris corners, 3 x 1024 x 1024": (harris, picture(4, 3, 1024, 1024)),
    "thinned edges, 3 x 1024 x 1024": (thinned, picture(5, 3, 1024, 1024)),
    "bilateral filter 5 x 5, 3 x 512 x 512": (bilateral, picture(6, 3, 512, 512)),
    "Gaussian pyramid of 4 levels, 3 x 1024 x 1024": (pyramid, picture(7, 3, 1024, 1024)),
    "blending by pyramids, 3 x 512 x 512": (blended, lambda: tuple(uniform(k, 3, 512, 512) for k in (8, 9, 10))),
    "demosaic, 1024 x 1024": (demosaic, picture(11, 1024, 1024)),
    "histogram equalisation, 1024 x 1024": (equalised, picture(12, 1024, 1024)),
    "tone curve, 3 x 512 x 512": (by_curve, picture(13, 3, 512, 512)),
    "colours and contrast, 3 x 1024 x 1024": (to_luma, picture(14, 3, 1024, 1024)),
    "non-local means, 1 x 512 x 512": (non_local_means, picture(15, 1, 512, 512)),
    "median 3 x 3, 1 x 512 x 512": (median, picture(16, 1, 512, 512)),
    "opening 5 x 5, 3 x 1024 x 1024": (opened, picture(17, 3, 1024, 1024)),
    "box filter by sums, 3 x 1024 x 1024": (box, picture(18, 3, 1024, 1024)),
    "convolution 9 x 9, 1024 x 1024": (convolved, lambda: (uniform(19, 1, 1, 1024, 1024), uniform(20, 1, 1, 9, 9) / 81)),
    "convolution by Fourier transforms, 256 x 256": (by_transform, lambda: (uniform(21, 256, 256), uniform(22, 31, 31) / 961)),
    "rotation, bilinear, 1024 x 1024": (rotated, picture(23, 1024, 1024)),
    "spectrogram of 65,536": (spectrogram, lambda: (uniform(24, 65536) - 0.5,)),
    "connected components, 256 x 256": (components, picture(25, 256, 256)),
    "bilateral grid, 512 x 512": (by_grid, picture(26, 512, 512)),
    "warp by a flow, 512 x 512": (warped, lambda: (uniform(27, 512, 512), 6 * uniform(28, 2, 512, 512) - 3)),
    "white balance, 512 x 512 x 3": (white, picture(29, 512, 512, 3)),
}
