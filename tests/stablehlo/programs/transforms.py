"""Fourier transforms of as many lines as fill lanes, of few, and along dims that are not the last, against NumPy's in f64; on 1, 2
and 7 threads the same bits.

    tests/stablehlo/programs/transforms.py --bin build/bin"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench, text_of  # noqa: E402
from written_out import close, drawn, kind_of  # noqa: E402

THREADS = 1, 2, 7
CASES = [  # of these dims the last ones, f64
    ("FFT", (16, 129), (16, 129), False), ("FFT", (17, 4), (4,), False), ("FFT", (15, 4), (4,), False), ("FFT", (31, 2), (2,), False),
    ("FFT", (3, 16, 12, 28), (16, 12, 28), True), ("IFFT", (33, 56), (56,), False), ("IFFT", (2, 1, 1024), (1024,), False),
    ("FFT", (1, 4000), (4000,), False), ("FFT", (5, 256), (256,), True), ("FFT", (20, 49), (49,), False), ("IFFT", (19, 30, 7), (30, 7), True),
    ("FFT", (2, 8, 3), (8, 3), False), ("IFFT", (40, 194), (194,), False), ("FFT", (1, 65536), (65536,), False),
    ("RFFT", (256, 64), (256, 64), False), ("RFFT", (37, 512), (512,), False), ("RFFT", (16, 16), (16,), False), ("RFFT", (17, 14), (14,), True),
    ("RFFT", (40, 75), (75,), False), ("RFFT", (3, 1000), (1000,), False), ("RFFT", (20, 98), (98,), True), ("RFFT", (4, 5, 6, 60), (6, 60), False),
    ("RFFT", (24, 2), (2,), False), ("RFFT", (24, 4), (4,), False), ("RFFT", (1, 3, 2048), (2048,), True), ("RFFT", (16, 18), (18,), False),
    ("IRFFT", (256, 64), (256, 64), False), ("IRFFT", (37, 512), (512,), True), ("IRFFT", (16, 16), (16,), False), ("IRFFT", (17, 14), (14,), False),
    ("IRFFT", (40, 75), (75,), False), ("IRFFT", (3, 1000), (1000,), True), ("IRFFT", (4, 5, 6, 60), (6, 60), False), ("IRFFT", (24, 18), (18,), True),
]  # fmt: skip


def judged(bench, rng, how, shape, lengths, wide):
    real, whole = (np.float64, np.complex128) if wide else (np.float32, np.complex64)
    axes = tuple(range(-len(lengths), 0))
    given = [*shape[:-1], shape[-1] // 2 + 1] if how == "IRFFT" else shape
    x = drawn(rng, given, real if how == "RFFT" else whole)
    exact = x.astype(np.float64 if how == "RFFT" else np.complex128)
    numpy = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": lambda v, axes: np.fft.irfftn(v, lengths, axes)}
    expected = numpy[how](exact, axes=axes)
    result = kind_of(expected.astype(real if how == "IRFFT" else whole))
    attributes = f"<{{fft_length = array<i64: {', '.join(map(str, lengths))}>, fft_type = #stablehlo<fft_type {how}>}}>"
    text = text_of([kind_of(x)], [f'%r = "stablehlo.fft"(%a0) {attributes} : ({kind_of(x)}) -> {result}'], result)
    made = bench.runs(text, [x], THREADS)
    what = f"{how} of {lengths} of {'x'.join(map(str, shape))}{', f64' if wide else ''}"
    close(bench, what, made[0], expected, 1e-14 if wide else 1e-6)
    bench.say(all(m.tobytes() == made[0].tobytes() for m in made), f"{what}: the same bits on {THREADS} threads")


def cases(bench):
    rng = np.random.default_rng(31)
    for case in CASES:
        if bench.takes_next():
            judged(bench, rng, *case)


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases, sampled=True))
