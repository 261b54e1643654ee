"""Loops whose turns change what they carry in its place (core/driver/in_place.c), against NumPy in f64, on 1, 2 and 7 threads, of
extents that fill no whole registers: two fields that change each other, one of which a point is set in; and what must not lie in
one place: a value that is read around, one that another variable takes as it was, one that a later kernel reads, a small one.

    tests/stablehlo/programs/turns_in_place.py --bin build/bin"""

import re
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "e2e")]
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402
from doors import Bench  # noqa: E402

TURNS = 7


def text(n, m, body, result="%r#2"):
    """%u and %v become %u1 and %v1, TURNS times; N, M and T are extents and the type, ?> and ?= comparisons."""
    t = f"tensor<{n}x{m}xf32>"
    body = body.replace("T", t).replace("N1", str(n - 1)).replace("M1", str(m - 1)).replace("N", str(n)).replace("M", str(m))
    body = body.replace("?>", "GT").replace("?=", "EQ")
    return f"""func.func @main(%a: {t}, %b: {t}, %n: tensor<i32>) -> {t} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %nothing = stablehlo.constant dense<0.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : {t}
  %r:3 = stablehlo.while(%i = %zero, %u = %a, %v = %b) : tensor<i32>, {t}, {t}
  cond {{
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
{body}
    stablehlo.return %next, %u1, %v1 : tensor<i32>, {t}, {t}
  }}
  %s = stablehlo.add %r#1, %r#2 : {t}
  return %s : {t}
}}
"""


SHIFTED = """    %{0}w = stablehlo.slice %{1} [0:N, 1:M] : (T) -> tensor<NxM1xf32>
    %{0} = stablehlo.pad %{0}w, %nothing, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<NxM1xf32>, tensor<f32>) -> T
"""

FIELDS = SHIFTED.format("d", "v") + """    %dh = stablehlo.multiply %d, %half : T
    %u1 = stablehlo.subtract %u, %dh : T
""" + SHIFTED.format("e", "u1") + """    %eh = stablehlo.multiply %e, %half : T
    %x = stablehlo.add %v, %eh : T
    %xh = stablehlo.multiply %x, %half : T
    %three = stablehlo.constant dense<3> : tensor<i32>
    %point = stablehlo.constant dense<0.25> : tensor<1x1xf32>
    %v1 = stablehlo.dynamic_update_slice %xh, %point, %three, %three : (T, tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> T"""

AROUND = SHIFTED.format("d", "u") + """    %s1 = stablehlo.add %u, %d : T
    %u1 = stablehlo.multiply %s1, %half : T
    %v1 = stablehlo.multiply %v, %half : T"""

TAKEN = """    %s1 = stablehlo.add %u, %v : T
    %u1 = stablehlo.multiply %s1, %half : T
    %v1 = stablehlo.negate %u : T"""

LATER = """    %s1 = stablehlo.multiply %u, %half : T
    %u1 = stablehlo.tanh %s1 : T
""" + SHIFTED.format("d", "u") + SHIFTED.format("e", "u1") + """    %f = stablehlo.multiply %d, %e : T
    %v1 = stablehlo.add %f, %half : T"""

# A step of an elimination: rows below less a multiple of one row, and another row set. Multiples and masks of rows are made in
# the same kernel, tile by tile.
ELIMINATED = SHIFTED.format("d", "v") + """    %v1 = stablehlo.multiply %d, %half : T
    %rows = stablehlo.iota dim = 0 : tensor<Nxi32>
    %at = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<Nxi32>
    %below = stablehlo.compare ?>, %rows, %at : (tensor<Nxi32>, tensor<Nxi32>) -> tensor<Nxi1>
    %here = stablehlo.compare ?=, %rows, %at : (tensor<Nxi32>, tensor<Nxi32>) -> tensor<Nxi1>
    %column = stablehlo.dynamic_slice %u, %zero, %i, sizes = [N, 1] : (T, tensor<i32>, tensor<i32>) -> tensor<Nx1xf32>
    %none = stablehlo.constant dense<0.0> : tensor<Nx1xf32>
    %belows = stablehlo.broadcast_in_dim %below, dims = [0] : (tensor<Nxi1>) -> tensor<Nx1xi1>
    %by = stablehlo.select %belows, %column, %none : tensor<Nx1xi1>, tensor<Nx1xf32>
    %row = stablehlo.dynamic_slice %u, %i, %zero, sizes = [1, M] : (T, tensor<i32>, tensor<i32>) -> tensor<1xMxf32>
    %line = stablehlo.reshape %row : (tensor<1xMxf32>) -> tensor<Mxf32>
    %bent = stablehlo.tanh %line : tensor<Mxf32>
    %bys = stablehlo.broadcast_in_dim %by, dims = [0, 1] : (tensor<Nx1xf32>) -> T
    %lines = stablehlo.broadcast_in_dim %line, dims = [1] : (tensor<Mxf32>) -> T
    %bents = stablehlo.broadcast_in_dim %bent, dims = [1] : (tensor<Mxf32>) -> T
    %heres = stablehlo.broadcast_in_dim %here, dims = [0] : (tensor<Nxi1>) -> tensor<NxMxi1>
    %product = stablehlo.multiply %bys, %lines : T
    %parts = stablehlo.multiply %product, %half : T
    %part = stablehlo.multiply %parts, %half : T
    %less = stablehlo.subtract %u, %part : T
    %u1 = stablehlo.select %heres, %bents, %less : tensor<NxMxi1>, T"""


def shifted(u):
    return np.pad(u[:, 1:], ((0, 0), (0, 1)))


def eliminated(u, v, k):
    less = u - 0.25 * np.where(np.arange(len(u)) > k, u[:, k], 0)[:, None] * u[k]
    less[k] = np.tanh(u[k])
    return less, shifted(v) * 0.5


def fields(u, v, k):
    u = u - shifted(v) * 0.5
    v = (v + shifted(u) * 0.5) * 0.5
    v[3, 3] = 0.25
    return u, v


CASES = {  # body, the same in NumPy, rows and columns, whether a kernel has one place twice
    "two fields": (FIELDS, fields, (137, 261), True),
    "rows of a register and one": (FIELDS, fields, (1065, 17), True),
    "whole registers": (FIELDS, fields, (132, 256), True),
    "read around": (AROUND, lambda u, v, k: ((u + shifted(u)) * 0.5, v * 0.5), (243, 147), True),
    "taken as it was": (TAKEN, lambda u, v, k: ((u + v) * 0.5, -u), (141, 253), False),
    "read later": (LATER, lambda u, v, k: (np.tanh(u * 0.5), shifted(u) * shifted(np.tanh(u * 0.5)) + 0.5), (445, 131), False),
    "eliminated, many rows": (ELIMINATED, eliminated, (137, 261), True),
    "eliminated, few rows": (ELIMINATED, eliminated, (32, 2048), True),
    "eliminated, few rows that end in a register": (ELIMINATED, eliminated, (32, 2051), False),
    "eliminated in whole registers": (ELIMINATED, eliminated, (64, 512), True),
    "eliminated in registers and one": (ELIMINATED, eliminated, (64, 513), True),
    "eliminated in registers but one": (ELIMINATED, eliminated, (41, 1039), True),
    "eliminated in odd rows": (ELIMINATED, eliminated, (37, 1117), True),
    "small": (FIELDS, fields, (6, 9), False),
}


def cases(bench):
    rng = np.random.default_rng(3)
    for name, (body, function, (n, m), once) in CASES.items():
        a, b = (rng.standard_normal((n, m)).astype(np.float32) for _ in range(2))
        u, v = a.astype(np.float64), b.astype(np.float64)
        for k in range(TURNS):
            u, v = function(u, v, k)
        for threads, got in zip((1, 2, 7), bench.runs(text(n, m, body), (a, b, np.array(TURNS, np.int32)), (1, 2, 7))):
            bench.say(np.allclose(got, u + v, rtol=1e-4, atol=1e-5), f"{name}, {threads} threads")
        steps = subprocess.run([f"{bench.bin}/pb-objdump", str(bench.folder / "m.pbe"), "--headers"], check=True, capture_output=True, text=True).stdout
        places = [re.findall(r"arena\+\d+", line) for line in steps.splitlines() if re.match(r"\s*\d+: k\d+\(", line)]
        bench.say(any(len(set(p)) < len(p) for p in places) == once, f"{name}: {'a' if once else 'no'} kernel stores where it loads")


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, cases))
