"""Images of other extents: along one dim after the other each element is a sum of few neighbours by weights that the extents say.

A dim that becomes a whole number of times as long is read in phases: all elements of a phase have the same weights, so that it
takes slices and no index. Else the neighbours are gathered, or the last dim is multiplied by a small matrix."""

import contextlib
import math

import torch

from .builder import HALVES
from .table import row
from .windows import along

MOST_IN_PRODUCT = 64  # elements of a line that is multiplied by a matrix
MOST_BESIDE = 4  # phases of the last dim, which are put together an element at a time


class Taps:
    """Along one dim: for each element of the result its neighbours, of which those beyond the ends are the ends, and weights."""

    def __init__(self, extent, places, weights):
        self.extent, self.places, self.weights = extent, places, weights

    @property
    def out(self):
        return len(self.places)

    def inside(self):
        """For each element of the result its neighbours, each once, and their weights."""
        made = []
        for places, weights in zip(self.places, self.weights):
            sums = {}
            for at, weight in zip(places, weights):
                at = min(max(at, 0), self.extent - 1)
                sums[at] = sums.get(at, 0) + weight
            made.append({at: weight for at, weight in sums.items() if weight} or {0: 0.0})
        return made

    def phases(self):
        """Weights by offset, a list of a weight for each phase; none where they are not alike all along."""
        times, rest = divmod(self.out, self.extent)
        if rest or times < 1:
            return None
        of = [{at: weight for at, weight in zip(self.places[p], self.weights[p]) if weight} for p in range(times)]
        for k, (places, weights) in enumerate(zip(self.places, self.weights)):
            moved = {at - k // times: weight for at, weight in zip(places, weights) if weight}
            if moved.keys() != of[k % times].keys() or any(abs(weight - of[k % times][at]) > 1e-6 for at, weight in moved.items()):
                return None
        return {at: [phase.get(at, 0.0) for phase in of] for at in sorted(set().union(*of))}

    def transposed(self):
        """What an element of the input is a neighbour of."""
        sums = [{} for _ in range(self.extent)]
        for k, inside in enumerate(self.inside()):
            for at, weight in inside.items():
                sums[at][k] = weight
        return Taps(self.out, [list(s) or [0] for s in sums], [list(s.values()) or [0.0] for s in sums])


def resized(b, x, dims, taps):
    """From the last dim on, whose lines are shorter then."""
    dtype = x.dtype
    weighs = any(weight not in (0, 1) for t in taps for weights in t.weights for weight in weights)
    x = b.convert(x, torch.float32) if weighs and (dtype in HALVES or not dtype.is_floating_point) else x
    for dim, t in sorted(zip(dims, taps), key=lambda pair: -pair[0]):
        x = weighed(b, x, dim, t)
    if weighs and not dtype.is_floating_point:
        bounds = torch.iinfo(dtype)
        x = b.unary("round_nearest_even", x)
        x = b.binary("minimum", b.binary("maximum", x, bounds.min), bounds.max)
    return b.convert(x, dtype)


def weighed(b, x, dim, taps):
    inside = taps.inside()
    if inside == [{k: 1.0} for k in range(taps.extent)]:
        return x
    phases, last = taps.phases(), dim == x.rank - 1
    if phases and (not last or len(phases) == 1 and set(*phases.values()) == {1.0}):
        return spread(b, x, dim, phases)
    if phases and taps.out <= MOST_BESIDE * taps.extent:
        return interleaved(b, x, dim, phases)
    most = max(map(len, inside))
    if x.dtype.is_floating_point and (most > 8 or last and taps.extent <= MOST_IN_PRODUCT and most > 1):
        numbers = [line.get(at, 0.0) for line in inside for at in range(taps.extent)]
        return along(b, x, dim, b.table(numbers, x.dtype, (taps.out, taps.extent)))
    y = None
    for t in range(most):
        pairs = [list(line.items())[t] if t < len(line) else (next(iter(line)), 0.0) for line in inside]
        part = taken(b, x, dim, [at for at, _ in pairs])
        y = summed(b, y, part, [weight for _, weight in pairs], dim)
    return y


def summed(b, y, part, weights, dim):
    """y and a part by weights along a dim."""
    if any(weight != 1 for weight in weights):
        table = b.constant(weights[0], part.dtype) if len(set(weights)) == 1 else b.table(weights, part.dtype, (len(weights),))
        part = b.multiply(part, b.broadcast(table, part.shape, (dim,) if table.rank else ()))
    return part if y is None else b.add(y, part)


def taken(b, x, dim, places):
    if places == list(range(places[0], places[0] + len(places))):
        return b.along(x, dim, places[0], places[0] + len(places))
    rest = [d for d in range(x.rank) if d != dim]
    return b.gather(x, b.table(places, torch.int64, (len(places), 1)), rest, [dim], [dim], [1 if d == dim else n for d, n in enumerate(x.shape)])


def windows(b, x, dim, offsets):
    """By offset x moved along a dim, its ends repeated."""
    low, high, extent = max(0, -min(offsets)), max(0, *offsets), x.shape[dim]
    first, last = b.along(x, dim, 0, 1), b.along(x, dim, extent - 1, extent)
    around = b.concatenate([first] * low + [x] + [last] * high, dim) if low or high else x
    return {at: b.along(around, dim, low + at, low + at + extent) for at in offsets}


def spread(b, x, dim, phases):
    """Phases as a dim behind the one that they are of, along which neighbours are repeated."""
    times = len(next(iter(phases.values())))
    shape = x.shape[: dim + 1] + (times,) + x.shape[dim + 1 :]
    dims, y = [d for d in range(len(shape)) if d != dim + 1], None
    for at, part in windows(b, x, dim, list(phases)).items():
        y = summed(b, y, b.broadcast(part, shape, dims), phases[at], dim + 1)
    return b.reshape(y, x.shape[:dim] + (x.shape[dim] * times,) + x.shape[dim + 1 :])


def interleaved(b, x, dim, phases):
    """A phase after the other, put together: the last dim, whose neighbours lie side by side."""
    parts, moved = [], windows(b, x, dim, list(phases))
    for p in range(len(next(iter(phases.values())))):
        y = None
        for at, weights in phases.items():
            if weights[p]:
                y = summed(b, y, moved[at], [weights[p]], dim)
        parts.append(b.reshape(y, y.shape[: dim + 1] + (1,) + y.shape[dim + 1 :]))
    return b.reshape(b.concatenate(parts, dim + 1), x.shape[:dim] + (x.shape[dim] * len(parts),) + x.shape[dim + 1 :])


# ---- what PyTorch's kinds of interpolation weigh, in the arithmetic that it has for the type ----


def step_of(extent, out, align, scale, real):
    if align:
        return torch.tensor(extent - 1, dtype=real) / (out - 1) if out > 1 else torch.tensor(0, dtype=real)
    return torch.tensor(1.0 / scale, dtype=real) if scale else torch.tensor(extent, dtype=real) / out


def sources(extent, out, align, scale, real):
    """Where elements of the result lie in the input; exactly, where phases are alike but for rounding."""
    if not align and out % extent == 0 and scale in (None, out // extent):
        times = out // extent
        return torch.tensor([k // times + (2 * (k % times) + 1 - times) / (2 * times) for k in range(out)], dtype=torch.float64)
    at, step = torch.arange(out, dtype=real), step_of(extent, out, align, scale, real)
    return at * step if align else (at + 0.5) * step - 0.5


def nearest(extent, out, align, scale, real, half=0.0):
    places = ((torch.arange(out, dtype=real) + half) * step_of(extent, out, False, scale, real)).to(torch.int64)
    return Taps(extent, [[min(at, extent - 1)] for at in places.tolist()], [[1.0]] * out)


def exact(*given):
    return nearest(*given, half=0.5)


def linear(extent, out, align, scale, real):
    if extent == out:  # whatever the scale is
        return nearest(extent, out, align, None, real)
    source = sources(extent, out, align, scale, real)
    if align:
        source = source.clamp(min=0)
    low = source.floor()
    far = (source - low).tolist()
    return Taps(extent, [[int(at), int(at) + 1] for at in low.tolist()], [[1 - w, w] for w in far])


def cubic_weight(x, a):
    x = abs(x)
    if x <= 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a if x < 2 else 0.0


def cubic(extent, out, align, scale, real):
    source = sources(extent, out, align, scale, real)
    low = source.floor()
    pairs = list(zip(low.to(torch.int64).tolist(), (source - low).tolist()))
    return Taps(extent, [[at + k for k in range(-1, 3)] for at, _ in pairs], [[cubic_weight(far - k, -0.75) for k in range(-1, 3)] for _, far in pairs])


def smoothed(reach, weight):
    """Of fewer elements each is a mean of all that it stands for."""

    def taps(extent, out, align, scale, real):
        step = float(step_of(extent, out, align, scale, real))
        wide = max(step, 1.0)
        places, weights = [], []
        for k in range(out):
            centre = step * (k + 0.5)
            low = max(int(centre - reach * wide + 0.5), 0)
            around = range(low, min(int(centre + reach * wide + 0.5), extent))
            by = [weight((at - centre + 0.5) / wide) for at in around]
            places.append(list(around))
            weights.append([w / sum(by) for w in by])
        return Taps(extent, places, weights)

    return taps


def lanczos(x):
    return math.sin(math.pi * x) * math.sin(math.pi * x / 3) * 3 / (math.pi * x) ** 2 if 0 < abs(x) < 3 else float(x == 0)


KINDS = {
    "upsample_nearest{}d": (nearest, (1, 2, 3), False),
    "_upsample_nearest_exact{}d": (exact, (1, 2, 3), False),
    "upsample_linear{}d": (linear, (1,), True),
    "upsample_bilinear{}d": (linear, (2,), True),
    "upsample_trilinear{}d": (linear, (3,), True),
    "upsample_bicubic{}d": (cubic, (2,), True),
    "_upsample_bilinear{}d_aa": (smoothed(1.0, lambda x: max(0.0, 1 - abs(x))), (2,), True),
    "_upsample_bicubic{}d_aa": (smoothed(2.0, lambda x: cubic_weight(x, -0.5)), (2,), True),
    "_upsample_lanczos{}d_aa": (smoothed(3.0, lanczos), (2,), True),
}
NAMES = [pattern.format(spatial) for pattern, (_, counts, _) in KINDS.items() for spatial in counts]


@contextlib.contextmanager
def kept_whole(also=()):
    """While a graph is traced through autograd: PyTorch takes them apart there, into gathers of elements, whatever the table says.
    also: overloads of which the same holds."""
    keys = torch._C.DispatchKey.Autograd, torch._C.DispatchKey.CompositeImplicitAutograd
    overloads = [getattr(getattr(torch.ops.aten, name), part) for name in NAMES if hasattr(torch.ops.aten, name) for part in ("default", "vec")]
    overloads += also
    taken = [(op, key, op.py_kernels.pop(key)) for op in overloads for key in keys if key in op.py_kernels]
    for op in overloads:
        op._dispatch_cache.clear()
    try:
        yield
    finally:
        for op, key, kernel in taken:
            op.py_kernels[key] = kernel
            op._dispatch_cache.clear()


def all_taps(kind, dtype, extents, outs, align, scales):
    real = torch.float64 if dtype == torch.float64 else torch.float32
    return [kind(extent, out, align, scale, real) for extent, out, scale in zip(extents, outs, scales)]


def kind_rows(name, kind, spatial, aligns):
    @row(name, f"{name}.vec")
    def forward(b, x, size, *more, made):
        align, scales = (more[0], more[1:]) if aligns else (False, more)
        scales = scales[0] if scales and isinstance(scales[0], (list, tuple)) else scales  # .vec
        scales = [*scales, *[None] * spatial][:spatial]
        front = x.rank - spatial
        return resized(b, x, range(front, x.rank), all_taps(kind, x.dtype, x.shape[front:], made.shape[front:], align, scales))

    @row(f"{name}_backward")
    def backward(b, gradient, size, extents, *more, made):
        align, scales = (more[0], more[1:]) if aligns else (False, more)
        scales, front = [*scales, *[None] * spatial][:spatial], gradient.rank - spatial
        taps = all_taps(kind, gradient.dtype, made.shape[front:], gradient.shape[front:], align, scales)
        return resized(b, gradient, range(front, gradient.rank), [t.transposed() for t in taps])


for pattern, (kind, counts, aligns) in KINDS.items():
    for spatial in counts:
        kind_rows(pattern.format(spatial), kind, spatial, aligns)
