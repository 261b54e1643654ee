"""Random bits by counters (rng_bit_generator) and the state behind them, against both ciphers in NumPy, which are held to what their authors
say they give of zeros.

    tests/stablehlo/programs/random_bits.py --bin build/bin"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench, text_of  # noqa: E402

WORD = 2**32
PARTS = {"PHILOX": (2, 3), "THREE_FRY": (2,), "DEFAULT": (3,)}
RESULTS = (((), "ui32"), ((1,), "ui64"), ((7,), "ui8"), ((3, 5), "ui32"), ((3, 4), "i32"), ((5, 3, 7), "ui16"), ((4, 1, 6), "i64"), ((2, 3), "ui64"), ((3, 3), "f32"), ((130,), "i8"))
TYPES = {"ui8": "u1", "ui16": "u2", "ui32": "u4", "ui64": "u8", "i8": "i1", "i32": "i4", "i64": "i8", "f32": "f4"}


def halves(number):
    return [number % WORD, number // WORD % WORD]


def philox(counter, key):
    """Four words of a counter of 128 bits."""
    x, keys = halves(counter) + halves(counter >> 64), halves(key)
    for _ in range(10):
        (low, high), (low2, high2) = halves(x[0] * 0xD2511F53), halves(x[2] * 0xCD9E8D57)
        x = [high2 ^ x[1] ^ keys[0], low2, high ^ x[3] ^ keys[1], low]
        keys = [(keys[0] + 0x9E3779B9) % WORD, (keys[1] + 0xBB67AE85) % WORD]
    return x


def threefry(counter, key):
    """Two words of a counter of 64."""
    keys = halves(key)
    keys.append(keys[0] ^ keys[1] ^ 0x1BD11BDA)
    x = [(a + b) % WORD for a, b in zip(halves(counter), keys)]
    for turn in range(5):
        for by in ((13, 15, 26, 6), (17, 29, 16, 24))[turn % 2]:
            x[0] = (x[0] + x[1]) % WORD
            x[1] = (x[1] << by | x[1] >> 32 - by) % WORD ^ x[0]
        x = [(x[0] + keys[(turn + 1) % 3]) % WORD, (x[1] + keys[(turn + 2) % 3] + turn + 1) % WORD]
    return x


def by_philox(state, shape, bits):
    count, high = int(np.prod(shape)), state[2] if len(state) == 3 else state[0]
    groups = -(-count * max(1, bits // 32) // 4)
    start = state[1] + (high << 64)
    words = np.array([philox((start + k) % 2**128, state[0]) for k in range(groups)], np.uint64).ravel()
    end = (start + groups) % 2**128
    pairs = words[0::2] | words[1::2] << np.uint64(32) if bits == 64 else words
    return pairs[:count].reshape(shape), [state[0], end % 2**64, end >> 64][: len(state)]


def by_threefry(state, shape, bits):
    def words(count):
        return np.array([threefry((state[1] + k) % 2**64, state[0]) for k in range(count)], np.uint64), [state[0], (state[1] + count) % 2**64]

    if bits == 64:
        made, end = words(int(np.prod(shape)))
        return (made[:, 0] | made[:, 1] << np.uint64(32)).reshape(shape), end
    whole = list(shape) or [1]
    along = next((k for k, n in enumerate(whole) if n % 2 == 0), int(np.argmax(whole)))
    split = [*whole[:along], -(-whole[along] // 2), *whole[along + 1 :]]
    made, end = words(int(np.prod(split)))
    both = np.stack([made[:, 0].reshape(split), made[:, 1].reshape(split)], along + 1)
    both = both.reshape([*whole[:along], -1, *whole[along + 1 :]])
    return both.take(range(whole[along]), along).reshape(shape), end


def bits_of(bench, algorithm, state):
    made_by, given = by_threefry if algorithm == "THREE_FRY" else by_philox, f"tensor<{len(state)}xui64>"
    for shape, element in RESULTS:
        kind, dtype = f"tensor<{''.join(f'{n}x' for n in shape)}{element}>", np.dtype(TYPES[element])
        bits, end = made_by(state, shape, 8 * dtype.itemsize)
        bits = (bits & np.uint64(2 ** (8 * dtype.itemsize) - 1)).astype(f"u{dtype.itemsize}")
        for result, wanted in (("%s, %r", bits), ("%r, %v", np.array(end, np.uint64))):
            op = f'{result} = "stablehlo.rng_bit_generator"(%a0) <{{rng_algorithm = #stablehlo<rng_algorithm {algorithm}>}}> : ({given}) -> ({given}, {kind})'
            got = bench.run(text_of([given], [op], kind if result == "%s, %r" else given), np.array(state, np.uint64))
            got = got.view(wanted.dtype) if got.dtype.kind in "if" else got
            bench.say(got.dtype == wanted.dtype and np.array_equal(got, wanted), f"{algorithm} of {state}: {kind} {result}: {got.ravel()[:4]}, not {wanted.ravel()[:4]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    options = parser.parse_args()
    assert philox(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8] and threefry(0, 0) == [0x6B200159, 0x99BA4EFE]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.bin, folder)
        for algorithm, counts in PARTS.items():
            for count in counts:
                bits_of(bench, algorithm, [0x123456789ABCDEF0, 2**64 - 2, 2**64 - 1][:count])
        for state, algorithm, word in (("2xi64", "PHILOX", "state"), ("3xui64", "THREE_FRY", "state"), ("2xui64", "OTHER", "algorithm")):
            op = f'%s, %r = "stablehlo.rng_bit_generator"(%a0) <{{rng_algorithm = #stablehlo<rng_algorithm {algorithm}>}}> : (tensor<{state}>) -> (tensor<{state}>, tensor<4xui32>)'
            bench.refuses(f"another {word}", text_of([f"tensor<{state}>"], [op], "tensor<4xui32>"), "stablehlo.rng_bit_generator", word)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
