"""Arguments of the functions and models of this folder, at four sizes: 1, a small one, a prime, a larger one."""
import zlib
import numpy as np

SIZES = [1, 3, 13, 40]


def extents(size, dims):
    """Each open dim another extent, but for size 1."""
    return {d: size if size == 1 else size + 2 * k for k, d in enumerate(sorted(dims))}


def factors(dim):
    """A dim of a shape as a number and the open dim that it multiplies, or None: 4, h, 4*h."""
    *times, last = dim.split("*")
    number = int(times[0]) if times else 1
    return (int(last), None) if last.isdigit() else (number, last)


def arguments(name, specs, size):
    random = np.random.default_rng(zlib.crc32(name.encode()) + size)
    of = extents(size, {d for s, _ in specs for d in (factors(f)[1] for f in s.split(",")) if d})
    made = []
    for shape, kind in specs:
        at = tuple(n * of.get(d, 1) for n, d in map(factors, shape.split(",")))
        made.append(random.integers(-20, 60, at).astype(np.int32) if kind == "i32"
                    else random.standard_normal(at).astype(np.float32))
    return made
