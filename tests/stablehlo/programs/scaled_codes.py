"""Products of codes that a program scales by operators of its own, as PyTorch's quantised exports and linalg have them: made of the
codes where the chip multiplies those, and right where they are not. Each form against NumPy in f64: layers with borders, strides, groups and
columns, zero points, scales of all and by channel, biases, Relu, sums with another tensor; and what a number that is none is as a code.

    tests/stablehlo/programs/scaled_codes.py --bin build/bin [--targets cpu:v3,cpu:avx512,simnpu] [--every N] [--both]"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402


def kind(shape, of="f32"):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{of}>"


class Text:
    """StableHLO in its own form, a line an operator."""

    def __init__(self):
        self.lines, self.count = [], 0

    def line(self, text):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def constant(self, array):
        of = {"f": "f32", "i": f"i{array.dtype.itemsize * 8}"}[array.dtype.kind]
        numbers = array.tobytes().hex().upper()
        return self.line(f'stablehlo.constant dense<"0x{numbers}"> : {kind(array.shape, of)}')

    def spread(self, number, shape, axis=None):
        """One number, or one along the axis, as a tensor of the shape."""
        array = np.asarray(number, np.float32)
        dims = "[]" if array.ndim == 0 else f"[{axis}]"
        if array.ndim == 0:
            value = self.line(f"stablehlo.constant dense<{float(array)!r}> : tensor<f32>")
        else:
            value = self.constant(array)
        return self.line(f"stablehlo.broadcast_in_dim {value}, dims = {dims} : ({kind(array.shape)}) -> {kind(shape)}")

    def two(self, name, a, b, shape):
        return self.line(f"stablehlo.{name} {a}, {b} : {kind(shape)}")

    def floats(self, codes, shape, zero, scale, axis=None, of="i8"):
        """(codes - zero) * scale"""
        x = self.line(f"stablehlo.convert {codes} : ({kind(shape, of)}) -> {kind(shape)}")
        if zero:
            x = self.two("subtract", x, self.spread(zero, shape), shape)
        return self.two("multiply", x, self.spread(scale, shape, axis), shape)

    def codes(self, x, shape, zero, scale, of="i8"):
        least = 0 if of == "ui8" else -128
        x = self.two("multiply", x, self.spread(1 / scale, shape), shape)
        x = self.line(f"stablehlo.round_nearest_even {x} : {kind(shape)}")
        x = self.two("add", x, self.spread(zero, shape), shape)
        x = self.two("maximum", x, self.spread(least, shape), shape)
        x = self.two("minimum", x, self.spread(least + 255, shape), shape)
        return self.line(f"stablehlo.convert {x} : ({kind(shape)}) -> {kind(shape, of)}")


def convolved(x, w, stride, pad, groups):
    n, c, h, width = x.shape
    o, _, r, s = w.shape
    padded = np.zeros((n, c, h + 2 * pad, width + 2 * pad))
    padded[:, :, pad : pad + h, pad : pad + width] = x
    out = np.zeros((n, o, (h + 2 * pad - r) // stride + 1, (width + 2 * pad - s) // stride + 1))
    for k in range(o):
        part = padded[:, k // (o // groups) * (c // groups) :][:, : c // groups]
        for i in range(out.shape[2]):
            for j in range(out.shape[3]):
                out[:, k, i, j] = np.einsum("ncrs,crs->n", part[:, :, i * stride : i * stride + r, j * stride : j * stride + s], w[k])
    return out


# A layer: x's shape, w's, stride, border, groups (None: a matrix), zero points of x, w and the result, scales by channel, what follows
LAYERS = [
    ((1, 3, 12, 12), (16, 3, 3, 3), 1, 1, 1, 5, 0, -3, True, "relu"),
    ((1, 16, 9, 9), (16, 16, 3, 3), 2, 1, 1, -128, 0, -128, True, "relu"),
    ((2, 16, 8, 8), (16, 16, 1, 1), 1, 0, 1, 7, 0, 11, False, "sum"),
    ((1, 32, 7, 7), (32, 1, 3, 3), 1, 1, 32, -20, 0, -128, True, "relu"),
    ((1, 16, 6, 6), (24, 16, 3, 3), 1, 1, 1, 0, 0, 0, True, ""),
    ((1, 16, 6, 6), (16, 16, 3, 3), 1, 1, 1, 3, 2, 9, False, ""),  # w's zero point needs sums of x: made of floats
    ((5, 40), (40, 24), None, 0, 1, 9, 0, -7, True, "relu"),
    ((3, 64), (64, 10), None, 0, 1, -128, 0, 34, False, ""),
]


def layer(rng, case, of="i8"):
    """The text, its inputs, and the codes that are wanted, of f64. ui8: floats come and go, their codes without a sign are the program's."""
    of_x, of_w, stride, pad, groups, zero_x, zero_w, zero_y, by_channel, then = case
    x, w = rng.integers(-128, 128, of_x, np.int8), rng.integers(-100, 101, of_w, np.int8)
    columns = of_w[0] if stride else of_w[1]
    scale_x, scale_y = np.float32(0.021), np.float32(0.4 * np.sqrt(w.size / columns) / 4)
    scale_w = (rng.uniform(0.004, 0.02, columns) if by_channel else np.float64(0.011)).astype(np.float32)
    bias = rng.standard_normal(columns).astype(np.float32)
    t = Text()
    less = 128 if of == "ui8" else 0
    real_x = (x.astype(np.float64) - zero_x) * float(scale_x)
    along = np.asarray(scale_w, np.float64).reshape((-1, 1, 1, 1) if stride and by_channel else (1, -1) if by_channel else ())
    real_w = (w.astype(np.float64) - zero_w) * along
    y = convolved(real_x, real_w, stride, pad, groups) if stride else real_x @ real_w
    coded = t.codes("%x", of_x, zero_x + less, scale_x, of) if less else "%x"
    fx, fw = t.floats(coded, of_x, zero_x + less, scale_x, None, of), t.floats(t.constant(w), of_w, zero_w, scale_w, 0 if stride else 1)
    types = f"({kind(of_x)}, {kind(of_w)}) -> {kind(y.shape)}"
    if stride:
        made = t.line(f"stablehlo.convolution({fx}, {fw}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = "
                      f"{{stride = [{stride}, {stride}], pad = [[{pad}, {pad}], [{pad}, {pad}]]}} "
                      f"{{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}} : {types}")
    else:
        made = t.line(f"stablehlo.dot_general {fx}, {fw}, contracting_dims = [1] x [0] : {types}")
    made = t.two("add", made, t.spread(bias, y.shape, 1), y.shape)
    y = y + (bias.reshape(1, -1, 1, 1) if stride else bias)
    inputs = {"x": real_x.astype(np.float32) if less else x}
    if then == "sum":
        inputs["other"] = rng.integers(-128, 128, y.shape, np.int8)
        made = t.two("add", made, t.floats("%other", y.shape, 4, np.float32(0.05)), y.shape)
        y = y + (inputs["other"].astype(np.float64) - 4) * float(np.float32(0.05))
    if then == "relu":
        made = t.two("maximum", made, t.spread(0, y.shape), y.shape)
        y = np.maximum(y, 0)
    made = t.codes(made, y.shape, zero_y + less, scale_y, of)
    result = kind(y.shape) if less else kind(y.shape, "i8")
    if less:
        made = t.line(f"stablehlo.convert {made} : ({kind(y.shape, of)}) -> {result}")
    arguments = ", ".join(f"%{n}: {kind(a.shape, 'i8' if a.dtype == np.int8 else 'f32')}" for n, a in inputs.items())
    text = "\n".join([f"func.func @main({arguments}) -> {result} {{", *t.lines, f"  return {made} : {result}", "}", ""])
    return text, list(inputs.values()), np.clip(np.rint(y / float(scale_y)) + zero_y, -128, 127) + less


def run(bench, target, text, inputs):
    (bench.folder / "m.mlir").write_text(text)
    done = subprocess.run([f"{bench.bin}/pbc", str(bench.folder / "m.mlir"), f"--target={target}", "-o", str(bench.folder / "m.pbe")],
                          capture_output=True, text=True)
    if done.returncode or not (target == "simnpu" or tools.runs_here(bench.bin, target)):
        return done.stderr if done.returncode else None
    given = []
    for k, array in enumerate(inputs):
        np.save(bench.folder / f"{k}.npy", array)
        given.append(f"--input=arg{k}={bench.folder}/{k}.npy")
    device = ["--device=machine"] if target == "simnpu" else ["--threads=2"]
    done = subprocess.run([f"{bench.bin}/pb-run", str(bench.folder / "m.pbe"), *device, *given, f"--output=out0={bench.folder}/y.npy"],
                          capture_output=True, text=True)
    return done.stderr if done.returncode else np.load(bench.folder / "y.npy")


def check_layer(bench, target, k, case, of):
    text, inputs, want = layer(np.random.default_rng(k), case, of)
    got = run(bench, target, text, inputs)
    what = f"{target}, {of}, {case}"
    if isinstance(got, str):
        # floats are no products on simnpu where codes cannot take their place
        return bench.say(case[6] != 0 and target == "simnpu" and "PB4" in got, f"{what}: {got}")
    if got is not None:
        off = np.abs(got.astype(np.int64) - want)
        bench.say(off.max() <= 1 and (off != 0).mean() < 0.01, f"{what}: {int((off != 0).sum())} of {off.size} codes are others, by {int(off.max())}")
    if target == "cpu:v3":
        return
    made = subprocess.run([f"{bench.bin}/pbc", str(bench.folder / "m.mlir"), f"--target={target}", "--emit=scaled_codes"], capture_output=True, text=True).stdout
    bench.say(("arith.muli" in made) == (case[6] == 0), f"{what}: a product of codes: {case[6] == 0}")


def check_conversion(bench, target):
    """Numbers past both ends, halves, both zeros, infinities and NaN, whose code is 0."""
    np.seterr(over="ignore")  # of what is past the ends
    x = np.array([[-1e9, -2.6, -1.25, -0.5, -0.0, 0.0, 0.5, 0.75, 1.25, 2.5, 1e9, np.inf, -np.inf, np.nan, 31.6, -32.1]], np.float32)
    for zero, scale in (0, np.float32(0.5)), (-21, np.float32(0.25)), (127, np.float32(1)):
        t = Text()
        text = f"func.func @main(%x: {kind(x.shape)}) -> {kind(x.shape, 'i8')} {{\n"
        made = t.codes("%x", x.shape, zero, scale)
        got = run(bench, target, text + "\n".join([*t.lines, f"  return {made} : {kind(x.shape, 'i8')}", "}", ""]), [x])
        want = np.clip(np.rint(np.nan_to_num(x.astype(np.float64), nan=-zero * float(scale)) / float(scale)) + zero, -128, 127)
        if got is not None:
            bench.say(not isinstance(got, str) and (got == want).all(), f"{target}, to codes by {scale} and {zero}: {got} for {want.astype(int)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--targets", default="cpu:v3,cpu:avx512,simnpu")
    parser.add_argument("--every", type=int, default=1, help="each so many-th of the layers")
    parser.add_argument("--both", action="store_true", help="each layer of codes with and without a sign, not in turns")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.bin, folder)
        for target in options.targets.split(","):
            check_conversion(bench, target)
            for k, case in list(enumerate(LAYERS))[:: options.every]:
                for of in ("i8", "ui8") if options.both else (("i8", "ui8")[k % 2],):
                    check_layer(bench, target, k, case, of)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
