"""StableHLO text at the edges: every code of the narrow floats converted both ways, functions of f64 against long double,
what is refused and how, and that an engine calls nothing but the C library's memory.

    tests/stablehlo/doors.py --bin build/bin"""

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
import suite  # noqa: E402
from modules import CODES, read_codes  # noqa: E402

FUNCTIONS = {  # of f64: the reference, and the error that core/math/table.c states
    "exponential": (np.exp, 1),
    "exponential_minus_one": (np.expm1, 2),
    "log": (np.log, 1),
    "log_plus_one": (np.log1p, 2),
    "tanh": (np.tanh, 3),
    "cbrt": (np.cbrt, 1.5),
    "atan": (np.arctan, 0.9),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1.5),
    "sine": (np.sin, 1),
    "cosine": (np.cos, 1),
    "tan": (np.tan, 2.5),
    "asin": (np.arcsin, 2.5),
    "acos": (np.arccos, 2.5),
    "atanh": (np.arctanh, 2),
    "asinh": (np.arcsinh, 2),
    "acosh": (np.arccosh, 2.5),
    "sinh": (np.sinh, 3),
    "cosh": (np.cosh, 2),
}
SERIES = {"erfc": 2.5, "erf_inv": 2.5, "lgamma": 2.5, "digamma": 2.75, "bessel_i1e": 3}  # of f64, on data/special.txt
CHLO = {"atan", "tan", "asin", "acos", "atanh", "asinh", "acosh", "sinh", "cosh"}
ALLOWED = {"malloc", "free", "memcpy", "memset", "memmove"}


def text_of(operands, ops, result):
    """A module whose @main takes %a0, %a1, ..., has the lines `ops` and returns %r."""
    arguments = ", ".join(f"%a{k}: {t}" for k, t in enumerate(operands))
    head = f"  ^bb0({arguments}):\n" if operands else ""
    body = "".join(f"    {line}\n" for line in ops)
    return (
        f'"builtin.module"() ({{\n  "func.func"() <{{function_type = ({", ".join(operands)}) -> {result}, '
        f'sym_name = "main"}}> ({{\n{head}{body}    "func.return"(%r) : ({result}) -> ()\n  }}) : () -> ()\n}}) : () -> ()\n'
    )


class Bench(tools.Checks):
    def compile(self, text, name="m.mlir"):
        model = self.folder / name
        if text is None:
            model.mkdir()
        else:
            model.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tools.call([f"{self.bin}/pbc", str(model), "--target=cpu", "-o", str(self.folder / "m.pbe")])

    def after(self, name):
        """The program behind that pass."""
        command = [f"{self.bin}/pbc", str(self.folder / "m.mlir"), "--target=cpu", f"--print-after={name}", "-o", str(self.folder / "m.pbe")]
        return subprocess.run(command, capture_output=True, text=True).stderr

    def refuses_on(self, target, what, text, *words):
        (self.folder / "m.mlir").write_text(text)
        done = tools.call([f"{self.bin}/pbc", str(self.folder / "m.mlir"), f"--target={target}", "-o", str(self.folder / "m.pbe")])
        good = done.returncode == 1 and all(word in done.stderr for word in words)
        self.say(good, what if good else f"{what}: exit code {done.returncode}, {done.stderr.strip()[:400]!r}")

    def run(self, text, *inputs):
        return self.runs(text, inputs)[0]

    def runs(self, text, inputs, threads=(None,)):
        """The first result on each of those numbers of threads; None: as many as pb-run takes."""
        done = self.compile(text)
        if done.returncode:
            raise SystemExit(done.stderr)
        args = []
        for k, data in enumerate(inputs):
            np.save(self.folder / f"{k}.npy", data)
            args += ["--input", f"arg{k}={self.folder / f'{k}.npy'}"]
        made = []
        for count in threads:
            on = [f"--threads={count}"] if count else []
            tools.run([f"{self.bin}/pb-run", str(self.folder / "m.pbe"), *on, *args, "--output", f"out0={self.folder / 'y.npy'}"])
            made.append(np.load(self.folder / "y.npy"))
        return made

    def refuses(self, what, text, *words, name="m.mlir"):
        done = self.compile(text, name)
        good = done.returncode == 1 and all(word in done.stderr for word in words) and "ended without a result" not in done.stderr
        self.say(good, what if good else f"{what}: exit code {done.returncode}, {done.stderr.strip()[:400]!r}")


def converted(bench, data, source, target):
    shape = "x".join(map(str, data.shape))
    a, r = f"tensor<{shape}x{source}>", f"tensor<{shape}x{target}>"
    return bench.run(text_of([a], [f'%r = "stablehlo.convert"(%a0) : ({a}) -> {r}'], r), data)


def same(a, b):
    """Equal bits, or both NaN."""
    return np.all((a == b) | ((a != a) & (b != b)))


def narrow_floats(bench):
    codes = np.arange(1 << 16, dtype=np.uint16)
    halves = codes.view(np.float16)
    wide = converted(bench, halves, "f16", "f32")
    bench.say(same(wide, halves.astype(np.float32)), "f16 to f32, every code")
    bench.say(same(converted(bench, wide, "f32", "f16"), halves), "and back")
    brains = (codes.astype(np.uint32) << 16).view(np.float32)
    made = converted(bench, codes, "bf16", "f32")
    bench.say(same(made, brains), "bf16 to f32, every code")
    random = np.random.default_rng(3)
    bits = random.integers(0, 1 << 32, 1 << 18, dtype=np.uint32)
    near = (halves.astype(np.float32).view(np.uint32).astype(np.int64)[:, None] + [-1, 1, 0x1000, 0xFFF, 0x1001]).ravel()
    floats = np.concatenate([bits, near.astype(np.uint32)]).view(np.float32)
    with np.errstate(all="ignore"):
        bench.say(same(converted(bench, floats, "f32", "f16"), floats.astype(np.float16)), "f32 to f16, ties and their neighbours")
    got = converted(bench, floats, "f32", "bf16").view(np.uint16)
    wanted = suite.to_bf16(floats)
    good = (got == wanted) | (np.isnan(floats) & ((got & 0x7F80) == 0x7F80) & ((got & 0x7F) != 0))
    bench.say(np.all(good), "f32 to bf16")
    doubles = np.concatenate([random.normal(size=4000) * 10.0 ** random.integers(-9, 6, 4000), halves.astype(np.float64)[:, None].repeat(3, 1).ravel()])
    doubles[4000:] = np.nextafter(doubles[4000:], np.tile([-np.inf, np.inf, 0], 1 << 16)) + 0.0
    with np.errstate(all="ignore"):
        bench.say(same(converted(bench, doubles, "f64", "f16"), doubles.astype(np.float16)), "f64 to f16, rounded once")
    whole = random.integers(-(1 << 63), (1 << 63) - 1, 4000)
    whole[:2000] >>= random.integers(0, 63, 2000)
    bench.say(same(converted(bench, whole, "i64", "f16"), whole.astype(np.float16)), "i64 to f16")
    with np.errstate(all="ignore"):
        kept = np.where(np.isnan(floats), 0, np.clip(floats.astype(np.float64), -128, 127)).astype(np.int8)
    bench.say(np.all(converted(bench, floats, "f32", "i8") == kept), "f32 to i8, kept within it")
    for element, (bits, signed) in CODES.items():
        least = -(1 << (bits - 1)) if signed else 0
        with np.errstate(all="ignore"):
            kept = np.where(np.isnan(floats), 0, np.clip(floats.astype(np.float64), least, least + (1 << bits) - 1)).astype(np.int8)
        bench.say(np.all(read_codes(converted(bench, floats, "f32", element), element) == kept), f"f32 to {element}, kept within it")


def functions(bench):
    random = np.random.default_rng(1)
    count = 100000
    x = random.integers(0, 1 << 64, count, dtype=np.uint64).view(np.float64).copy()
    x[: count // 2] = random.normal(size=count // 2) * np.where(random.random(count // 2) < 0.5, 5, 300)
    x[:16] = [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 5e-324, -5e-324, 1e-310, 710, 709.7, -745, -746, 1.7e308, 0.5]
    kind = f"tensor<{count}xf64>"
    for name, (reference, stated) in FUNCTIONS.items():
        y = bench.run(text_of([kind], [f'%r = "{"chlo" if name in CHLO else "stablehlo"}.{name}"(%a0) : ({kind}) -> {kind}'], kind), x)
        with np.errstate(all="ignore"):
            exact = reference(x.astype(np.longdouble))
            near = exact.astype(np.float64)
            ulp = np.abs(y - exact) / np.maximum(np.spacing(np.abs(near)), 5e-324)
        equal = (y == near) | (np.isnan(y) & np.isnan(near))
        worst = float(np.max(np.where(equal & ~np.isfinite(ulp), 0, np.where(np.isnan(ulp), np.inf, ulp))))
        signs = np.all((near != 0) | (np.signbit(y) == np.signbit(near)))
        bench.say(worst <= stated and signs, f"{name} of f64: {worst:.3g} ULP, stated {stated:g}")


def by_terms(function):
    def each(x):
        return np.array([function(float(v)) for v in x])

    return each


def lgamma(x):
    return math.inf if np.isinf(x) or (x <= 0 and x == math.floor(x)) else x if math.isnan(x) else math.lgamma(x)


def digamma(x):
    if math.isnan(x) or x == math.inf:
        return x
    if x == -math.inf:
        return math.nan
    if x == 0:
        return -math.copysign(math.inf, x)
    if x < 0:
        return math.nan if x == math.floor(x) else digamma(1 - x) - math.pi / math.tan(math.pi * (x - math.floor(x)))
    below = 0.0
    while x < 30:
        below, x = below + 1 / x, x + 1
    return math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6) - below


def bessel_i1e(x):
    """By its integral over a period, where a sum is exact."""
    if not math.isfinite(x) or x == 0:
        return math.copysign(0.0, x) if math.isinf(x) else x
    t = (np.arange(4096) + 0.5) * (math.pi / 4096)
    return math.copysign(1, x) * float(np.mean(np.exp(abs(x) * (np.cos(t) - 1)) * np.cos(t)))


# name: reference, where, ULP of f32, and what is allowed beside, near a root that is no number of f32.
SPECIAL = {
    "asin": (np.arcsin, 1, 2, 0), "acos": (np.arccos, 1, 2, 0), "atanh": (np.arctanh, 1, 2, 0), "asinh": (np.arcsinh, 40, 2, 0),
    "acosh": (np.arccosh, 40, 2, 0), "sinh": (np.sinh, 4, 6, 0), "cosh": (np.cosh, 4, 6, 0), "erfc": (by_terms(math.erfc), 9, 2, 0),
    "lgamma": (by_terms(lgamma), 40, 2, 1e-6), "digamma": (by_terms(digamma), 40, 2, 1e-6), "bessel_i1e": (by_terms(bessel_i1e), 30, 4, 1e-15),
}


def special_functions(bench):
    """Those of CHLO on f32: a grid, every whole number and half of it, the ends, and what is none."""
    for name, (reference, most, ulps, beside) in SPECIAL.items():
        x = np.concatenate([np.linspace(-most, most, 3001), np.arange(-2 * most, 2 * most + 1) / 2, [0, -0.0, np.inf, -np.inf, np.nan, 1e-7, -1e-7, 1e-30]])
        x = x.astype(np.float32)
        kind = f"tensor<{x.size}xf32>"
        y = bench.run(text_of([kind], [f'%r = "chlo.{name}"(%a0) : ({kind}) -> {kind}'], kind), x).astype(np.float64)
        with np.errstate(all="ignore"):
            exact = reference(x.astype(np.float64))
            near = exact.astype(np.float32)
            off = np.abs(y - exact) / (np.spacing(np.abs(near)).astype(np.float64) + beside)
        off = np.where((y == near) | (np.isnan(y) & np.isnan(near)), 0, np.where(np.isfinite(off), off, np.inf))
        at = int(np.argmax(off))
        bench.say(off[at] <= ulps, f"{name} of f32: {off[at]:.3g} ULP at {x[at]}, which is {y[at]}, not {exact[at]}")


def series(bench):
    """Those of CHLO on f64 that have series of their own: at the numbers of data/special.txt, and at the ends."""
    rows = [line.split() for line in (Path(__file__).parent / "data" / "special.txt").read_text().splitlines()]
    nan, inf = np.nan, np.inf
    ends = {
        "erfc": ([0, -0.0, inf, -inf, nan, 28], [1, 1, 0, 2, nan, 0]),
        "erf_inv": ([0, -0.0, 1, -1, 1.5, -2, inf, nan], [0, -0.0, inf, -inf, nan, nan, nan, nan]),
        "lgamma": ([0, -0.0, 1, 2, -1, -3, inf, -inf, nan], [inf, inf, 0, 0, inf, inf, inf, inf, nan]),
        "digamma": ([0, -0.0, -1, -3, inf, -inf, nan], [-inf, inf, nan, nan, inf, nan, nan]),
        "bessel_i1e": ([0, -0.0, inf, -inf, nan], [0, -0.0, 0, -0.0, nan]),
    }
    for name, limit in SERIES.items():
        at, values = zip(*((float.fromhex(x), np.longdouble(y)) for other, x, y in rows if other == name))
        x = np.array([*at, *ends[name][0]], np.float64)
        kind = f"tensor<{x.size}xf64>"
        made = bench.run(text_of([kind], [f'%r = "chlo.{name}"(%a0) : ({kind}) -> {kind}'], kind), x)
        y, exact, last = made[: len(at)], np.array(values, np.longdouble), made[len(at) :]
        off = np.abs(y - exact) / np.spacing(np.abs(exact.astype(np.float64)))
        worst = int(np.argmax(off))
        bench.say(off[worst] <= limit, f"{name} of f64: {off[worst]:.3g} ULP at {x[worst]!r}, stated {limit:g}")
        bench.say(same(last, np.array(ends[name][1], np.float64)), f"{name} of f64 at the ends: {last}")


def zetas(bench):
    """Hurwitz's zeta and polygamma: at the numbers of data/zeta.txt, at poles and beyond, and in narrower types."""
    inf, nan = np.inf, np.nan
    rows = [line.split() for line in (Path(__file__).parent / "data" / "zeta.txt").read_text().splitlines()]
    ends = {"chlo.zeta": [(1, 5, inf), (0.5, 5, nan), (2, 0, inf), (3, 0, nan), (2, -1, inf), (3, -1, nan), (2, -1.5, nan), (2, inf, 0), (inf, 2, 0), (nan, 2, nan), (2, nan, nan), (1e30, 3, 0)],
            "chlo.polygamma": [(0, 1, -0.5772156649015329), (0.5, 2, nan), (-1, 2, nan), (1, 0, inf), (2, 0, nan), (1, -1, inf), (1, -0.5, nan), (nan, 1, nan), (3, inf, 0)]}
    for name, limit in ("chlo.zeta", 6), ("chlo.polygamma", 24):
        a, b, values = zip(*((float.fromhex(x), float.fromhex(q), np.longdouble(y)) for other, x, q, y in rows if other == name))
        x, q, wanted = (np.array([*most, *last]) for most, last in zip((a, b, values), zip(*ends[name])))
        for kind, dtype in ("f64", np.float64), ("f32", np.float32), ("f16", np.float16):
            s, t = x.astype(dtype), q.astype(dtype)
            t[np.isinf(t) & np.isfinite(q)] = 1
            full = f"tensor<{x.size}x{kind}>"
            y = bench.run(text_of([full] * 2, [f'%r = "{name}"(%a0, %a1) : ({full}, {full}) -> {full}'], full), s, t)
            if kind == "f64":
                off = np.abs(y[: len(a)] - np.array(values)) / np.spacing(np.abs(np.array(values, np.float64)))
                good, exact = off.max() <= limit, wanted.astype(np.float64)
                bench.say(good and same(y[len(a) :], exact[len(a) :]), f"{name} of f64: {off.max():.3g} ULP, stated {limit}; at the ends {y[len(a):]}")
            else:
                wide = f"tensor<{x.size}xf64>"
                other = bench.run(text_of([wide] * 2, [f'%r = "{name}"(%a0, %a1) : ({wide}, {wide}) -> {wide}'], wide), s.astype(np.float64), t.astype(np.float64))
                with np.errstate(over="ignore"):
                    bench.say(same(y, other.astype(dtype)), f"{name} of {kind} is that of f64, rounded")
    f = "tensor<4xf32>"
    bench.refuses("zeta of integers", text_of(["tensor<4xi32>"], ['%r = "chlo.zeta"(%a0, %a0) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>'], "tensor<4xi32>"), "of integers", "PB2110")
    bench.refuses("polygamma of different shapes", text_of([f, "tensor<1xf32>"], [f'%r = "chlo.polygamma"(%a0, %a1) : ({f}, tensor<1xf32>) -> {f}'], f), "of different types or shapes", "PB2110")


def complex_text(name, element, count):
    kind = f"tensor<{count}xcomplex<{element}>>"
    return text_of([kind], [f'%r = "{name}"(%a0) : ({kind}) -> {kind}'], kind)


def pairs(numbers):
    return numbers.view(numbers.real.dtype).reshape(*numbers.shape, 2)


def complex_functions(bench):
    """At the numbers of data/complex.txt, both types; and on each side of the cuts, whose sides zeros tell by their signs."""
    rows = [line.split() for line in (Path(__file__).parent / "data" / "complex.txt").read_text().splitlines()]
    for name in sorted({row[0] for row in rows}):
        mine = [row[1:] for row in rows if row[0] == name]
        x = np.array([[float.fromhex(v) for v in row[:2]] for row in mine])
        exact = np.array([[np.longdouble(v) for v in row[2:]] for row in mine])
        with np.errstate(all="ignore"):
            off = np.abs(pairs(bench.run(complex_text(name, "f64", len(x)), x)) - exact) / np.spacing(np.abs(exact.astype(np.float64)))
        off = np.where(np.isfinite(off), off, np.where(exact == 0, 0, np.inf))
        at = int(np.argmax(np.max(off, axis=1)))
        bench.say(off[at].max() <= 3, f"{name} of complex<f64>: {off[at].max():.3g} ULP at {x[at]}, stated 3")
    cut = np.array([[a, b] for a in (-3, -0.5, -0.0, 0.0, 0.5, 3) for b in (-0.0, 0.0)])
    cuts = np.concatenate([cut, cut[:, ::-1]])
    known = {"sqrt": np.sqrt, "log": np.log, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
             "acosh": np.arccosh, "atanh": np.arctanh}
    for name, function in known.items():
        with np.errstate(all="ignore"):
            expected = function(cuts.copy().view(np.complex128)[:, 0]).view(np.float64).reshape(cuts.shape)
        y = pairs(bench.run(complex_text(f"{'stablehlo' if name in ('sqrt', 'log') else 'chlo'}.{name}", "f64", len(cuts)), cuts))
        good = np.isclose(y, expected, rtol=1e-14, atol=1e-300, equal_nan=True) & ((np.signbit(y) == np.signbit(expected)) | np.isnan(y))
        at = int(np.argmin(np.all(good, axis=1)))
        bench.say(np.all(good), f"{name} of complex<f64> on its cuts: at {cuts[at]} {y[at]}, C has {expected[at]}")


def complex_pairs(bench):
    """Functions whose terms leave little of each other, and powers, at the numbers of data/complex_pairs.txt: what 100 bits round to."""
    rows = [line.split() for line in (Path(__file__).parent / "data" / "complex_pairs.txt").read_text().splitlines()]
    for name in sorted({row[0] for row in rows}):
        mine = [row[1:] for row in rows if row[0] == name]
        x = np.array([[float.fromhex(v) for v in row[:-2]] for row in mine])
        exact = np.array([[np.longdouble(v) for v in row[-2:]] for row in mine])
        kind = f"tensor<{len(x)}xcomplex<f64>>"
        operands, types = [("%a0", kind), ("%a0, %a1", f"{kind}, {kind}")][x.shape[1] == 4]
        text = text_of([kind] * (x.shape[1] // 2), [f'%r = "{name}"({operands}) : ({types}) -> {kind}'], kind)
        y = pairs(bench.run(text, *(np.ascontiguousarray(x[:, k : k + 2]) for k in range(0, x.shape[1], 2))))
        off = np.abs(y - exact) / np.spacing(np.abs(exact.astype(np.float64)))
        at, stated = int(np.argmax(np.max(off, axis=1))), 2 if name == "stablehlo.log_plus_one" else 0.502
        bench.say(off[at].max() <= stated, f"{name} of complex<f64>: {off[at].max():.4g} ULP at {x[at]}, stated {stated}")


def complex_powers(bench):
    """Of f32: powers and roots go by f64, and are within 3 ULP however far their exponents turn."""
    rng = np.random.default_rng(8)
    z = [(rng.standard_normal(400) + 1j * rng.standard_normal(400)).astype(np.complex64) * s for s in (np.float32(3), np.float32(6))]
    kind = "tensor<400xcomplex<f32>>"
    for name, inputs, exact in (("power", z, z[0].astype(np.complex128) ** z[1].astype(np.complex128)),
                                ("cbrt", z[:1], z[0].astype(np.complex128) ** (1 / 3)), ("exponential_minus_one", z[:1], np.expm1(z[0].astype(np.complex128))),
                                ("logistic", z[:1], 1 / (1 + np.exp(-z[0].astype(np.complex128))))):
        operands = ", ".join(f"%a{k}" for k in range(len(inputs)))
        text = text_of([kind] * len(inputs), [f'%r = "stablehlo.{name}"({operands}) : ({", ".join([kind] * len(inputs))}) -> {kind}'], kind)
        y = pairs(bench.run(text, *inputs))
        want = exact.view(np.float64).reshape(-1, 2)
        keep = (np.abs(want) > 1e-6 * np.abs(exact)[:, None]) & (np.abs(want) < 1e37) & (np.abs(want) > 1e-37)
        off = np.max((np.abs(y - want) / np.spacing(np.abs(want).astype(np.float32)))[keep])
        bench.say(keep.mean() > 0.9 and off <= 3, f"{name} of complex<f32>: {off:.3g} ULP, stated 3")


def long_bodies(bench):
    """Functions that take many nodes at the end of long bodies: a program, or refused."""
    number = "tensor<f64>"
    for name in SERIES:
        codes = set()
        for count in range(150, 340, 18):
            lines = [f'%v{k + 1} = "stablehlo.add"(%v{k}, %s) : ({number}, {number}) -> {number}' for k in range(count)]
            body = (f'({{^bb0(%s: {number}): %v0 = "stablehlo.add"(%s, %s) : ({number}, {number}) -> {number} {" ".join(lines)} '
                    f'%u = "chlo.{name}"(%v{count}) : ({number}) -> {number} "stablehlo.return"(%u) : ({number}) -> ()}})')
            op = f'%r = "stablehlo.map"(%a0) <{{dimensions = array<i64: 0>}}> {body} : (tensor<7xf64>) -> tensor<7xf64>'
            codes.add(bench.compile(text_of(["tensor<7xf64>"], [op], "tensor<7xf64>")).returncode)
        bench.say(codes <= {0, 1} and 1 in codes, f"{name} in long bodies: exit codes {sorted(codes)}")


def remainders(bench):
    """Of f64, which is exact: numbers all over the type and next to each other, and what is none."""
    rng = np.random.default_rng(5)
    odd = np.array([0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.0, -3.0, 1.7976931348623157e308, np.inf, -np.inf, np.nan])
    any_bits = rng.integers(0, 2**64, (2, 20000), np.uint64).view(np.float64)
    near = rng.standard_normal((2, 5000)) * np.exp2(rng.integers(-60, 60, (2, 5000)))
    whole = rng.integers(-2**53, 2**53, (2, 5000)).astype(np.float64)
    small = rng.integers(0, 2**54, (2, 5000), np.uint64).view(np.float64)
    x, y = np.concatenate([any_bits, near, whole, small, np.array(np.meshgrid(odd, odd)).reshape(2, -1)], 1)
    kind = f"tensor<{x.size}xf64>"
    made = bench.run(text_of([kind, kind], [f'%r = "stablehlo.remainder"(%a0, %a1) : ({kind}, {kind}) -> {kind}'], kind), x, y)
    with np.errstate(invalid="ignore"):
        exact = np.fmod(x, y)
    good = (made.view(np.uint64) == exact.view(np.uint64)) | (np.isnan(made) & np.isnan(exact))
    at = int(np.argmin(good))
    bench.say(good.all(), f"remainder of f64: {np.sum(~good)} of {x.size} differ, as {x[at]} by {y[at]}: {made[at]}, not {exact[at]}")


def batches(bench):
    """Rows of each batch's own part of a tensor, by indices of its own; and the same places, written."""
    x, at = np.arange(30, dtype=np.float32).reshape(2, 5, 3), np.array([[4, 0, 2, 2], [1, 3, 3, 0]], np.int32)
    types = ["tensor<2x5x3xf32>", "tensor<2x4x1xi32>", "tensor<2x4x3xf32>"]
    read = ("offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], "
            "start_index_map = [1], index_vector_dim = 2")
    gather = (f'%r = "stablehlo.gather"(%a0, %a1) <{{dimension_numbers = #stablehlo.gather<{read}>, indices_are_sorted = false, '
              f'slice_sizes = array<i64: 1, 1, 3>}}> : ({types[0]}, {types[1]}) -> {types[2]}')
    made, expected = bench.run(text_of(types[:2], [gather], types[2]), x, at[:, :, None]), np.stack([x[b, at[b]] for b in range(2)])
    bench.say(np.array_equal(made, expected), f"rows gathered in batches: {made.tolist()}, not {expected.tolist()}")
    written = ("update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], "
               "scatter_dims_to_operand_dims = [1], index_vector_dim = 2")
    number = "tensor<f32>"
    scatter = (f'%r = "stablehlo.scatter"(%a0, %a1, %a2) <{{indices_are_sorted = false, scatter_dimension_numbers = '
               f'#stablehlo.scatter<{written}>, unique_indices = false}}> ({{^bb0(%s: {number}, %t: {number}): '
               f'%u = "stablehlo.add"(%s, %t) : ({number}, {number}) -> {number} "stablehlo.return"(%u) : ({number}) -> ()}}) : '
               f'({", ".join(types)}) -> {types[0]}')
    rows = np.arange(24, dtype=np.float32).reshape(2, 4, 3) * 100
    made, expected = bench.run(text_of(types, [scatter], types[0]), x, at[:, :, None], rows), x.copy()
    for b in range(2):
        np.add.at(expected[b], at[b], rows[b])
    bench.say(np.array_equal(made, expected), f"rows scattered in batches: {made.tolist()}, not {expected.tolist()}")
    scatter = scatter.replace(f'%u = "stablehlo.add"(%s, %t)', f'%e = "stablehlo.exponential"(%t) : ({number}) -> {number} %u = "stablehlo.add"(%s, %e)')
    made, expected = bench.run(text_of(types, [scatter], types[0]), x, at[:, :, None], rows / 1000), x.copy()
    for b in range(2):
        np.add.at(expected[b], at[b], np.exp(rows[b] / 1000))
    bench.say(np.abs(made - expected).max() < 1e-4, f"functions of rows scattered: {made.tolist()}, not {expected.tolist()}")


def no_coordinates(bench):
    """Places of no coordinates, one or two: windows that lie where the tensor begins."""
    for element, dtype in (("f32", np.float32), ("i32", np.int32)):
        number, whole = f"tensor<{element}>", f"tensor<3x4x{element}>"
        x = np.arange(12, dtype=dtype).reshape(3, 4)
        for shape in ((2, 4), (3, 4), (1, 2)):
            for count in (None, 1, 2):
                sides = ((count,) if count else ()) + shape
                index, windows = f"tensor<{f'{count}x' if count else ''}0xi32>", [k + bool(count) for k in (0, 1)]
                last = ", index_vector_dim = 1" if count else ""
                part = f"tensor<{'x'.join(map(str, sides))}x{element}>"
                makes = f'%i = "stablehlo.constant"() <{{value = dense<> : {index}}}> : () -> {index}'
                gather = (f'%r = "stablehlo.gather"(%a0, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = {windows}{last}>, '
                          f'indices_are_sorted = false, slice_sizes = array<i64: {shape[0]}, {shape[1]}>}}> : ({whole}, {index}) -> {part}')
                box = x[: shape[0], : shape[1]]
                made, expected = bench.run(text_of([whole], [makes, gather], part), x), np.broadcast_to(box, sides)
                bench.say(np.array_equal(made, expected), f"{part} gathered by {index}: {made.tolist()}")
                scatter = (f'%r = "stablehlo.scatter"(%a0, %i, %a1) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = '
                           f'{windows}{last}>}}> ({{^bb0(%s: {number}, %t: {number}): %u = "stablehlo.add"(%s, %t) : ({number}, {number}) '
                           f'-> {number} "stablehlo.return"(%u) : ({number}) -> ()}}) : ({whole}, {index}, {part}) -> {whole}')
                updates = np.arange(1, 1 + np.prod(sides)).astype(dtype).reshape(sides)
                made, expected = bench.run(text_of([whole, part], [makes, scatter], whole), x, updates), x.copy()
                expected[: shape[0], : shape[1]] += updates.sum(0) if count else updates
                bench.say(np.array_equal(made, expected), f"{part} scattered by {index}: {made.tolist()}, not {expected.tolist()}")


def orders(bench):
    """Sorts and largest ones of more elements than are ranked: merged, by the elements in front where some are alike."""
    rng = np.random.default_rng(9)
    for shape, axis, element, descends in (([257], 0, "f32", False), ([3, 1000], 1, "f16", True), ([2, 301, 3], 1, "i8", False), ([40000], 0, "i32", True)):
        x = np.ascontiguousarray(rng.integers(-50, 50, shape), {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32}[element])
        turns = np.ascontiguousarray(np.broadcast_to(np.expand_dims(np.arange(shape[axis], dtype=np.int32), [k for k in range(len(shape)) if k != axis]), shape))
        dims, number = "x".join(map(str, shape)), f"tensor<{element}>"
        a, i = f"tensor<{dims}x{element}>", f"tensor<{dims}xi32>"
        body = (f'({{^bb0(%x: {number}, %y: {number}, %p: tensor<i32>, %q: tensor<i32>): %c = "stablehlo.compare"(%x, %y) <{{comparison_direction = '
                f'#stablehlo<comparison_direction {"GT" if descends else "LT"}>}}> : ({number}, {number}) -> tensor<i1> "stablehlo.return"(%c) : (tensor<i1>) -> ()}})')
        sort = f'%v, %r = "stablehlo.sort"(%a0, %a1) <{{dimension = {axis} : i64, is_stable = true}}> {body} : ({a}, {i}) -> ({a}, {i})'
        made = bench.run(text_of([a, i], [sort], i), x, turns)
        good = np.array_equal(made, np.argsort(-x.astype(np.int32) if descends else x, axis=axis, kind="stable"))
        bench.say(good, f"order of {dims} {element} along {axis}")
    x, kind = np.float32(rng.integers(-500, 500, (2, 700))), "tensor<2x700xf32>"
    for result, exact in (("%r, %i", -np.sort(-x)[:, :9]), ("%v, %r", np.argsort(-x, kind="stable")[:, :9])):
        types = "tensor<2x9xf32>", "tensor<2x9xi32>"
        top = f'{result} = "chlo.top_k"(%a0) <{{k = 9 : i64}}> : ({kind}) -> ({", ".join(types)})'
        bench.say(np.array_equal(bench.run(text_of([kind], [top], types["%r" in result[3:]]), x), exact), f"the largest of 2x700: {result}")


def open_convolution(bench):
    """Windows over open extents: with steps, holes and paddings, which say how many there are."""
    rng, kernel = np.random.default_rng(3), "tensor<3x2x3x5xf32>"
    x_type, y_type = "tensor<?x?x?x3xf32>", "tensor<?x?x?x5xf32>"
    conv = (f'%r = "stablehlo.convolution"(%a0, %a1) <{{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<'
            f'[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, padding = dense<[[1, 0], [1, 2]]> : '
            f'tensor<2x2xi64>, rhs_dilation = array<i64: 1, 2>, window_strides = array<i64: 2, 1>}}> : ({x_type}, {kernel}) -> {y_type}')
    w = rng.integers(-4, 5, (3, 2, 3, 5)).astype(np.float32)
    for shape in (1, 6, 7, 3), (2, 9, 4, 3):
        x = rng.integers(-4, 5, shape).astype(np.float32)
        wide = np.pad(x, ((0, 0), (1, 0), (1, 2), (0, 0)))
        rows, columns = (wide.shape[1] - 3) // 2 + 1, wide.shape[2] - 2
        expected = sum(wide[:, i:i + 2 * rows - 1:2, 2 * j:2 * j + columns] @ w[i, j] for i in range(3) for j in range(2))
        made = bench.run(text_of([x_type, kernel], [conv], y_type), x, w)
        bench.say(np.array_equal(made, expected), f"an open convolution of {shape}: {made.shape}, {expected.shape}")


def symbols(bench):
    """An engine's code is a shared object inside of its file: what it leaves undefined."""
    kind = "tensor<64xf32>"
    ops = []
    for k, name in enumerate(("sine", "tan", "cbrt", "exponential", "logistic", "log_plus_one")):
        ops.append(f'%{k} = "stablehlo.{name}"({f"%{k - 1}" if k else "%a0"}) : ({kind}) -> {kind}')
    ops.append(f'%6 = "stablehlo.convert"(%5) : ({kind}) -> tensor<64xbf16>')
    ops.append(f'%7 = "stablehlo.convert"(%6) : (tensor<64xbf16>) -> {kind}')
    ops.append(f'%8 = "stablehlo.power"(%7, %a0) : ({kind}, {kind}) -> {kind}')
    ops.append(f'%r = "stablehlo.remainder"(%8, %a0) : ({kind}, {kind}) -> {kind}')
    done = bench.compile(text_of([kind], ops, kind))
    data = (bench.folder / "m.pbe").read_bytes() if done.returncode == 0 else b""
    start = data.find(b"\x7fELF")
    (bench.folder / "code.so").write_bytes(data[start:])
    listed = subprocess.run(["nm", "-D", "--undefined-only", str(bench.folder / "code.so")], capture_output=True, text=True)
    names = {line.split()[-1].split("@")[0] for line in listed.stdout.splitlines() if line.strip()}
    bench.say(start >= 0 and listed.returncode == 0 and names <= ALLOWED, f"symbols that an engine wants: {sorted(names)}")


def refusals(bench):
    f = "tensor<4xf32>"
    both = [f'%0 = "stablehlo.sinn"(%a0) : ({f}) -> {f}', f'%r = "mystery.op"(%0) : ({f}) -> {f}']
    bench.refuses("all operators that are not known", text_of([f], both, f), "m.mlir:4:10: error: operator 'stablehlo.sinn'",
                  "operator 'mystery.op' is not read", "PB2111", "perhaps stablehlo.si")
    bench.refuses("an attribute that is missing", text_of([f], [f'%r = "stablehlo.reverse"(%a0) : ({f}) -> {f}'], f),
                  "m.mlir:4:10", "attribute 'dimensions' is missing")
    bench.refuses("an attribute of another kind", text_of([f], [f'%r = "stablehlo.reverse"(%a0) <{{dimensions = "0"}}> : ({f}) -> {f}'], f),
                  "not of the kind ints")
    bench.refuses("operands of different shapes", text_of([f, "tensor<5xf32>"], [f'%r = "stablehlo.add"(%a0, %a1) : ({f}, tensor<5xf32>) -> {f}'], f),
                  "operands of different shapes")
    bench.refuses("operands of different types", text_of([f, "tensor<4xf64>"], [f'%r = "stablehlo.add"(%a0, %a1) : ({f}, tensor<4xf64>) -> {f}'], f),
                  "operands of different types")
    bench.refuses("a type that is not there", text_of([f], [f'%r = "stablehlo.not"(%a0) : ({f}) -> {f}'], f), "of f32")
    bench.refuses("an extent that data decide", text_of([f, "tensor<1xi32>"], [f'%r = "stablehlo.dynamic_reshape"(%a0, %a1) : ({f}, tensor<1xi32>) -> tensor<?xf32>'], "tensor<?xf32>"),
                  "extents of its result that other extents do not decide")
    bench.refuses("an open rank", text_of(["tensor<*xf32>"], ['%r = "stablehlo.abs"(%a0) : (tensor<*xf32>) -> tensor<*xf32>'], "tensor<*xf32>"),
                  "values of tensor<*xf32> are not supported")
    bench.refuses("a slice past the end", text_of([f], [f'%r = "stablehlo.slice"(%a0) <{{limit_indices = array<i64: 5>, start_indices = array<i64: 1>, strides = array<i64: 1>}}> : ({f}) -> {f}'], f),
                  "bounds that do not fit")
    square = "tensor<4x4xf32>"
    dot = '"stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>'
    bench.refuses("a product of another shape", text_of([square, square], [f"%r = {dot} : ({square}, {square}) -> tensor<4x3xf32>"], "tensor<4x3xf32>"),
                  "do not fit")
    bench.refuses("the largest of another shape", text_of([square], [f'%r, %i = "chlo.top_k"(%a0) <{{k = 2 : i64}}> : ({square}) -> (tensor<3x2xf32>, tensor<4x2xi32>)'], "tensor<3x2xf32>"),
                  "results that do not fit")
    conv = '"stablehlo.convolution"(%a0, %a1) <{batch_group_count = 1 : i64, dimension_numbers = "none", feature_group_count = 1 : i64}>'
    bench.refuses("a convolution without numbers", text_of([square, square], [f"%r = {conv} : ({square}, {square}) -> {square}"], square), "dimension numbers that do not fit")
    pad = '"stablehlo.pad"(%a0, %z) <{edge_padding_high = array<i64: 0>, edge_padding_low = array<i64: 9223372036854775807>, interior_padding = array<i64: 9223372036854775807>}>'
    zero = '%z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>'
    bench.refuses("edges that no number holds", text_of([f], [zero, f"%r = {pad} : ({f}, tensor<f32>) -> {f}"], f), "paddings that do not fit")
    wide, without = "tensor<2x3xi64>", "tensor<2x3xui64>"
    bench.refuses_on("simnpu", "u64 made of i64, which words cannot stand for", text_of([wide], [f'%r = "stablehlo.bitcast_convert"(%a0) : ({wide}) -> {without}'], without),
                     "m.mlir:4", "has no instruction on elements of i64 [PB4048]")
    bench.refuses("recursion", text_of([f], [f'%r = "func.call"(%a0) <{{callee = @main}}> : ({f}) -> {f}'], f), "calls inside each other")
    bench.refuses("a function that is not there", text_of([f], [f'%r = "func.call"(%a0) <{{callee = @f}}> : ({f}) -> {f}'], f), "no such function 'f'")
    bench.refuses("what MLIR's own parser falls over", text_of([f], [f'%r = "stablehlo.abs"(%a0) <{{a = array<index>}}> : ({f}) -> {f}'], f),
                  "m.mlir:4:47: error: MLIR's parser fell over it", "PB2105")
    bench.refuses("no MLIR", "no such thing", "m.mlir:1:1: error")
    bench.refuses("an empty file", "", "there is no function 'main'")
    bench.refuses("a folder, which opens and cannot be read", None, "folder.mlir: error: cannot be read", "PB1001", name="folder.mlir")
    own = "func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = "
    bench.refuses("an operator without a form", own + "stablehlo.fold %a, %b : tensor<4xf32>\n", "m.mlir:2:8: error: operator 'stablehlo.fold' is not read in its own form", "PB2107")
    bench.refuses("an extent that is made another", own + "stablehlo.constant dense<3> : tensor<i32>\n  %1 = stablehlo.set_dimension_size %a, %0, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>\n"
                  "  return %1 : tensor<4xf32>\n}\n", "m.mlir:3:8: error: stablehlo.set_dimension_size: to another extent than it has")
    bench.refuses("bytecode", b"ML\xefR\x01StableHLO_v1.0.0\x00\x01", "bytecode", "stablehlo-translate --deserialize")


def damaged(bench, count):
    """Text with a few bytes changed: an error, or a program; no crash and no hang."""
    f = "tensor<4x6xf32>"
    text = text_of([f, "tensor<2x1xi32>"], [
        '%0 = "stablehlo.constant"() <{value = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>}> : () -> tensor<6xf32>',
        f'%1 = "stablehlo.broadcast_in_dim"(%0) <{{broadcast_dimensions = array<i64: 1>}}> : (tensor<6xf32>) -> {f}',
        f'%2 = "stablehlo.multiply"(%a0, %1) : ({f}, {f}) -> {f}',
        '%3 = "stablehlo.dot_general"(%2, %a0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], '
        f'rhs_contracting_dimensions = [1]>}}> : ({f}, {f}) -> tensor<4x4xf32>',
        '%r = "stablehlo.gather"(%3, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], '
        'start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<2x1xi32>) '
        '-> tensor<2x4xf32>'], "tensor<2x4xf32>").encode()
    random = np.random.default_rng(5)
    compiled = refused = 0
    for _ in range(count):
        copy = bytearray(text)
        for _ in range(random.integers(1, 4)):
            at = int(random.integers(0, len(copy)))
            how = random.integers(0, 4)
            if how == 0:
                copy[at] = int(random.integers(32, 127))
            elif how == 1:
                del copy[at : at + int(random.integers(1, 12))]
            elif how == 2:
                copy[at:at] = copy[at : at + int(random.integers(1, 40))]
            else:
                copy[at:at] = str(random.integers(0, 10)).encode()
        done = bench.compile(bytes(copy))
        good = done.returncode in (0, 1) and (done.returncode == 0 or "error: " in done.stderr) and "PB4090" not in done.stderr
        compiled += done.returncode == 0
        refused += done.returncode == 1
        if not good:
            bench.say(False, f"damaged text: exit code {done.returncode}, {done.stderr[-300:]!r}\n{bytes(copy).decode(errors='replace')}")
    bench.say(compiled and refused > count / 2, f"damaged text: {compiled} compiled, {refused} refused, of {count}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--damaged", type=int, default=60, help="how many damaged texts")
    parser.add_argument("--forms", action="store_true", help="without functions by their values")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.bin, folder)
        forms = refusals, symbols, long_bodies, remainders, batches, no_coordinates, orders, open_convolution
        values = narrow_floats, functions, special_functions, series, zetas, complex_functions, complex_pairs, complex_powers
        for part in forms if options.forms else forms + values:
            part(bench)
        damaged(bench, options.damaged)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
