"""Arguments of the functions and models of this folder, at four sizes: 1, a small one, a prime, a larger one."""
import zlib
import numpy as np

SIZES = [1, 3, 13, 40]


def extents(size, dims):
    """Each open dim another extent, but for size 1."""
    return {d: size if size == 1 else size + 2 * k for k, d in enumerate(sorted(dims))}


def arguments(name, specs, size):
    random = np.random.default_rng(zlib.crc32(name.encode()) + size)
    of = extents(size, {d for s, _ in specs for d in s.split(",") if not d.isdigit()})
    made = []
    for shape, kind in specs:
        at = tuple(int(d) if d.isdigit() else of[d] for d in shape.split(","))
        made.append(random.integers(-20, 60, at).astype(np.int32) if kind == "i32"
                    else random.standard_normal(at).astype(np.float32))
    return made
