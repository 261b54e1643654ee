"""Ranges of activations, which become scales: from what tensors are on the samples.

"min-max" has all values. "percentile" leaves out the outermost of them, as many on both sides; what is left out becomes the nearest code.
"entropy" takes the range in which codes tell the most of how values are spread (least Kullback-Leibler divergence), which leaves out far ones, too.
A range has 0 always, which is a code of its own then."""

import numpy as np

from .errors import ArgumentError

METHODS = "min-max", "percentile", "entropy"
BINS, CODES = 8192, 256  # of a histogram; of a tensor
PARTS = np.geomspace(1, 1 / 16, 64)  # of each end that are tried


class Ranges:
    """What is known of tensors by name, after `see` of all samples' values, and for other methods than min-max once more."""

    def __init__(self, method="min-max", percentile=99.99):
        if method not in METHODS:
            raise ArgumentError(f"method is {method!r}; it takes {', '.join(map(repr, METHODS))}")
        if not 50 < percentile <= 100:
            raise ArgumentError(f"percentile is {percentile!r}; it takes a number above 50, to 100")
        self.method, self.percentile = method, percentile
        self.ends, self.counts = {}, {}

    @property
    def passes(self):
        """How often samples are seen: where the ends of the histograms are has to be known first."""
        return 1 if self.method == "min-max" else 2

    def see(self, turn, values):
        for name, value in values.items():
            if turn == 0:
                low, high = self.ends.get(name, (0.0, 0.0))
                self.ends[name] = min(low, float(value.min())), max(high, float(value.max()))
            else:
                low, high = self.ends[name]
                counts = np.histogram(value, BINS, (low, high if high > low else low + 1))[0]
                self.counts[name] = self.counts.get(name, 0) + counts

    def found(self):
        if self.method == "min-max":
            return self.ends
        take = self.inner if self.method == "percentile" else self.telling
        return {name: take(counts, *self.ends[name]) for name, counts in self.counts.items()}

    def inner(self, counts, low, high):
        edges, below = np.linspace(low, high, BINS + 1), np.cumsum(counts) / max(1, counts.sum())
        out = (1 - self.percentile / 100) / 2
        first, last = np.searchsorted(below, out, "right"), np.searchsorted(below, 1 - out)
        return min(0.0, edges[min(first, BINS - 1)]), max(0.0, edges[min(last, BINS - 1) + 1])

    @staticmethod
    def telling(counts, low, high):
        """The end that is farther from 0 is moved towards it first, then the other one, each to where the divergence is least."""
        middles, ends, counts = np.linspace(low, high, 2 * BINS + 1)[1::2], [low, high], counts.copy()
        zero = min(int(np.searchsorted(np.linspace(low, high, BINS + 1), 0, "right")), BINS) - 1
        around = np.delete(counts[max(0, zero - 2) : zero + 3], min(zero, 2))
        counts[zero] = min(counts[zero], around.mean())  # the many zeros of a Relu have a code of their own in any range
        for end in (0, 1) if -low > high else (1, 0):
            best, far = np.inf, ends[end]
            for part in PARTS:
                tried = [part * far if k == end else ends[k] for k in range(2)]
                first, last = np.searchsorted(middles, tried)
                if last - first < CODES // 2:
                    break
                apart = divergence(counts, first, last)
                if apart < best:
                    best, ends[end] = apart, part * far
        return tuple(ends)


def divergence(counts, first, last):
    """How far what codes say is from how values are spread; values beyond the range are in its outermost codes."""
    spread = counts[first:last].astype(np.float64)
    inside = spread.copy()
    spread[0] += counts[:first].sum()
    spread[-1] += counts[last:].sum()
    group = np.arange(len(inside)) * CODES // len(inside)
    filled = np.bincount(group, inside > 0, CODES)
    said = np.bincount(group, inside, CODES) / np.maximum(filled, 1)
    said = np.where(inside > 0, said[group], 0)
    p, q = spread / max(spread.sum(), 1), said / max(said.sum(), 1)
    both = p > 0
    return float(np.sum(p[both] * np.log(p[both] / np.maximum(q[both], 1e-9))))
