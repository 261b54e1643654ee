"""Every row of core/frontend/linalg/linalg.def: named operators, bodies, tensors in other places, against NumPy.

    tests/linalg/cases.py --bin build/bin [--target cpu] [--every N]

--every N: each N-th case alone; neither what the host turns nor whether each row has a case is looked at then."""

import argparse
import itertools
import math
import re
import sys
import tempfile
from pathlib import Path

import text
from text import np, tensor

ROWS = Path(__file__).parents[2] / "core" / "frontend" / "linalg" / "linalg.def"
USED = set()


class Case:
    """Lines that make %r from %arg0, ..., and what %r is; `near`: how far it may be away, of the largest (0: equal)."""

    def __init__(self, inputs, lines, want, near=0.0, of=None):
        self.inputs, self.lines, self.want, self.near = inputs, lines, np.asarray(want), near
        USED.update(re.findall(r"\b(?:linalg|tensor|arith|math|cf|scf|index)\.[a-z_0-9]+", "\n".join(lines)))
        self.name = of or next(iter(re.findall(r"\b(?:linalg|tensor|arith|math|index)\.\w+", "\n".join(lines[::-1]))))


def kind_of(x):
    return next(n for n, t in text.NAMES.items() if t == x.dtype.type)


def identity(rank):
    dims = ", ".join(f"d{k}" for k in range(rank))
    return f"affine_map<({dims}) -> ({dims})>"


def pointwise(inputs, body, out, shape=None):
    """A linalg.generic of one loop a dim; `body` makes %v of %a0, ..."""
    shape = inputs[0].shape if shape is None else shape
    of = tensor(shape, out)
    maps = ", ".join([identity(len(shape))] * (len(inputs) + 1))
    kinds = ", ".join(['"parallel"'] * len(shape))
    names, types = ", ".join(f"%arg{k}" for k in range(len(inputs))), ", ".join(map(tensor, inputs))
    arguments = ", ".join(f"%a{k}: {kind_of(x)}" for k, x in enumerate(inputs))
    return [
        f"%e = tensor.empty() : {of}",
        f"%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({names} : {types}) outs(%e : {of}) {{",
        f"^bb0({arguments}, %o: {out}):",
        *body,
        f"linalg.yield %v : {out}",
        f"}} -> {of}",
    ]


def whole(op, inputs, out, rest=""):
    names = ", ".join(f"%arg{k}" for k in range(len(inputs)))
    return [f"%r = {op} {names}{rest} : {tensor(inputs[0].shape, out)}"]


R = np.random.default_rng(5)
F = R.normal(size=48).astype(np.float32) * 2
G = R.normal(size=48).astype(np.float32)
EDGES = np.array([0.0, -0.0, 1.5, -1.5, 2.5, 0.5, -0.5, np.nan, np.inf, -np.inf], np.float32)
F[:10], G[:10] = EDGES, np.roll(EDGES, 3)
P = np.abs(R.normal(size=48)).astype(np.float32) + 0.1
U = R.uniform(-0.99, 0.99, 48).astype(np.float32)
I = R.integers(-100, 100, 48).astype(np.int32)
J = R.integers(1, 50, 48).astype(np.int32) * np.where(R.random(48) < 0.5, -1, 1).astype(np.int32)
T = R.random(48) < 0.5
S = R.random(48) < 0.5
each = np.vectorize


def both(a, b, how):
    """NaN wins."""
    return np.where(np.isnan(a) | np.isnan(b), np.float32(np.nan), how(a, b))


def elements():
    with np.errstate(all="ignore"):
        unary = {  # name: (x, what NumPy makes of it, ULP-like distance)
            "negf": (F, -F, 0),
            "math.absf": (F, np.abs(F), 0),
            "math.ceil": (F, np.ceil(F), 0),
            "math.floor": (F, np.floor(F), 0),
            "math.trunc": (F, np.trunc(F), 0),
            "math.roundeven": (F, np.rint(F), 0),
            "math.round": (F, np.copysign(np.floor(np.abs(F) + 0.5), F), 0),
            "math.sqrt": (P, np.sqrt(P), 0),
            "math.acos": (U, np.arccos(U), 1e-6),
            "math.acosh": (1 + P, np.arccosh(1 + P), 1e-6),
            "math.asin": (U, np.arcsin(U), 1e-6),
            "math.asinh": (G, np.arcsinh(G), 1e-6),
            "math.atan": (F, np.arctan(F), 1e-6),
            "math.atanh": (U, np.arctanh(U), 1e-6),
            "math.cbrt": (F, np.cbrt(F), 1e-6),
            "math.cos": (U, np.cos(U), 1e-6),
            "math.cosh": (U, np.cosh(U), 1e-6),
            "math.erf": (U, each(math.erf)(U), 1e-6),
            "math.erfc": (U, each(math.erfc)(U), 1e-6),
            "math.exp": (G, np.exp(G), 1e-6),
            "math.exp2": (U, np.exp2(U), 1e-6),
            "math.expm1": (U, np.expm1(U), 1e-6),
            "math.log": (P, np.log(P), 1e-6),
            "math.log10": (P, np.log10(P), 1e-6),
            "math.log1p": (P, np.log1p(P), 1e-6),
            "math.log2": (P, np.log2(P), 1e-6),
            "math.rsqrt": (P, 1 / np.sqrt(P), 1e-6),
            "math.sin": (U, np.sin(U), 1e-6),
            "math.sinh": (U, np.sinh(U), 1e-6),
            "math.tan": (U, np.tan(U), 1e-6),
            "math.tanh": (F, np.tanh(F), 1e-6),
            "math.absi": (I, np.abs(I), 0),
            "math.ctpop": (I, each(lambda v: bin(int(v) & 0xFFFFFFFF).count("1"))(I), 0),
            "math.cttz": (I, each(lambda v: 32 if not v else (int(v) & -int(v)).bit_length() - 1)(I), 0),
            "math.ctlz": (I, each(lambda v: 32 - (int(v) & 0xFFFFFFFF).bit_length())(I), 0),
        }
        for name, (x, want, near) in unary.items():
            op = name if "." in name else f"arith.{name}"
            kind = kind_of(x)
            yield Case([x], pointwise([x], [f"%v = {op} %a0 : {kind}"], kind), np.asarray(want).astype(x.dtype), near)
            yield Case([x], whole(op, [x], kind), np.asarray(want).astype(x.dtype), near)
        for name, want in {"isnan": np.isnan(F), "isinf": np.isinf(F), "isfinite": np.isfinite(F)}.items():
            yield Case([F], pointwise([F], [f"%v = math.{name} %a0 : f32"], "i1"), want)
        wide = lambda a: a.astype(np.uint32).astype(np.uint64)  # noqa: E731
        quotient = each(lambda a, b: int(a / b))(I.astype(object), J.astype(object))
        binary = {
            "addf": (F, G, F + G, 0),
            "subf": (F, G, F - G, 0),
            "mulf": (F, G, F * G, 0),
            "divf": (F, G, F / G, 0),
            "remf": (F, P, np.fmod(F, P), 0),
            "maximumf": (F, G, both(F, G, np.maximum), 0),
            "minimumf": (F, G, both(F, G, np.minimum), 0),
            "maxnumf": (F, G, np.fmax(F, G), 0),
            "minnumf": (F, G, np.fmin(F, G), 0),
            "math.atan2": (G[10:], P[10:], np.arctan2(G[10:], P[10:]), 1e-6),
            "math.powf": (P, U, np.power(P, U), 1e-6),
            "math.copysign": (F, G, np.copysign(F, G), 0),
            "addi": (I, J, I + J, 0),
            "subi": (I, J, I - J, 0),
            "muli": (I, J, I * J, 0),
            "divsi": (I, J, quotient, 0),
            "remsi": (I, J, I - quotient.astype(np.int32) * J, 0),
            "floordivsi": (I, J, I // J, 0),
            "ceildivsi": (I, J, -(-I // J), 0),
            "ceildivui": (I, J, -(-wide(I).astype(object) // wide(J).astype(object)), 0),
            "divui": (I, J, wide(I) // wide(J), 0),
            "remui": (I, J, wide(I) % wide(J), 0),
            "maxsi": (I, J, np.maximum(I, J), 0),
            "minsi": (I, J, np.minimum(I, J), 0),
            "maxui": (I, J, np.maximum(wide(I), wide(J)), 0),
            "minui": (I, J, np.minimum(wide(I), wide(J)), 0),
            "andi": (I, J, I & J, 0),
            "ori": (I, J, I | J, 0),
            "xori": (I, J, I ^ J, 0),
            "shli": (I, np.abs(J) % 32, I << (np.abs(J) % 32), 0),
            "shrsi": (I, np.abs(J) % 32, I >> (np.abs(J) % 32), 0),
            "shrui": (I, np.abs(J) % 32, wide(I) >> (np.abs(J) % 32).astype(np.uint64), 0),
        }
        for name, (x, z, want, near) in binary.items():
            op = name if "." in name else f"arith.{name}"
            kind = kind_of(x)
            want = np.asarray(want).astype(np.uint64).astype(np.uint32).view(np.int32) if kind == "i32" and want.dtype == np.uint64 else np.asarray(want).astype(x.dtype)
            yield Case([x, z], pointwise([x, z], [f"%v = {op} %a0, %a1 : {kind}"], kind), want, near)
        for name, want in {"addi": T ^ S, "subi": T ^ S, "muli": T & S, "andi": T & S, "ori": T | S, "xori": T ^ S, "maxui": T | S, "minui": T & S}.items():
            yield Case([T, S], pointwise([T, S], [f"%v = arith.{name} %a0, %a1 : i1"], "i1"), want)
        nan = np.isnan(F) | np.isnan(G)
        ordered = {"false": T & ~T, "oeq": F == G, "ogt": F > G, "oge": F >= G, "olt": F < G, "ole": F <= G, "one": (F != G) & ~nan, "ord": ~nan}
        ordered |= {"ueq": (F == G) | nan, "ugt": (F > G) | nan, "uge": (F >= G) | nan, "ult": (F < G) | nan, "ule": (F <= G) | nan}
        ordered |= {"une": F != G, "uno": nan, "true": T | ~T}
        for how, want in ordered.items():
            yield Case([F, G], pointwise([F, G], [f"%v = arith.cmpf {how}, %a0, %a1 : f32"], "i1"), want)
        K = np.where(T, I, J)
        signed = {"eq": I == K, "ne": I != K, "slt": I < K, "sle": I <= K, "sgt": I > K, "sge": I >= K}
        signed |= {"ult": wide(I) < wide(K), "ule": wide(I) <= wide(K), "ugt": wide(I) > wide(K), "uge": wide(I) >= wide(K)}
        for how, want in signed.items():
            yield Case([I, K], pointwise([I, K], [f"%v = arith.cmpi {how}, %a0, %a1 : i32"], "i1"), want)
        yield Case([T, F, G], pointwise([T, F, G], ["%v = arith.select %a0, %a1, %a2 : f32"], "f32"), np.where(T, F, G))
        yield Case([U, -P, P / 4], pointwise([U, -P, P / 4], ["%v = math.clampf %a0 to [%a1, %a2] : f32"], "f32"), np.minimum(np.maximum(U, -P), P / 4))
        for times, want in {2: P * P, 3: P * P * P, 7: P**7, -2: P**-2.0}.items():
            body = [f"%n = arith.constant {times} : i64", "%v = math.fpowi %a0, %n : f32, i64"]
            yield Case([P], pointwise([P], body, "f32"), want, 1e-6)
        fma = (U.astype(np.float64) * P + G[::-1]).astype(np.float32)
        yield Case([U, P, G[::-1].copy()], pointwise([U, P, G], ["%v = math.fma %a0, %a1, %a2 : f32"], "f32"), fma, 1e-7)


def conversions():
    with np.errstate(all="ignore"):
        H = F.astype(np.float16)
        L = np.where(T, np.int64(1) << 40, I.astype(np.int64))
        yield Case([H], pointwise([H], ["%v = arith.extf %a0 : f16 to f32"], "f32"), H.astype(np.float32))
        yield Case([F], pointwise([F], ["%v = arith.truncf %a0 : f32 to f16"], "f16"), H)
        yield Case([F], pointwise([F], ["%w = arith.extf %a0 : f32 to f64", "%v = arith.truncf %w : f64 to f32"], "f32"), F)
        yield Case([I], pointwise([I], ["%v = arith.extsi %a0 : i32 to i64"], "i64"), I.astype(np.int64))
        yield Case([I], pointwise([I], ["%v = arith.extui %a0 : i32 to i64"], "i64"), I.view(np.uint32).astype(np.int64))
        yield Case([T], pointwise([T], ["%v = arith.extsi %a0 : i1 to i32"], "i32"), -T.astype(np.int32))
        yield Case([T], pointwise([T], ["%v = arith.extui %a0 : i1 to i32"], "i32"), T.astype(np.int32))
        yield Case([L], pointwise([L], ["%v = arith.trunci %a0 : i64 to i32"], "i32"), L.astype(np.int32))
        yield Case([I], pointwise([I], ["%v = arith.trunci %a0 : i32 to i1"], "i1"), (I & 1).astype(np.bool_))
        yield Case([I], pointwise([I], ["%v = arith.sitofp %a0 : i32 to f32"], "f32"), I.astype(np.float32))
        yield Case([T], pointwise([T], ["%v = arith.sitofp %a0 : i1 to f32"], "f32"), -T.astype(np.float32) + 0.0)
        yield Case([I], pointwise([I], ["%v = arith.uitofp %a0 : i32 to f32"], "f32"), I.view(np.uint32).astype(np.float32))
        yield Case([T], pointwise([T], ["%v = arith.uitofp %a0 : i1 to f32"], "f32"), T.astype(np.float32))
        X = F[10:] * 30
        yield Case([X], pointwise([X], ["%v = arith.fptosi %a0 : f32 to i8"], "i8"), np.clip(np.trunc(X), -128, 127).astype(np.int8))
        yield Case([P], pointwise([P], ["%v = arith.fptoui %a0 : f32 to i32"], "i32"), P.astype(np.int32))
        yield Case([F], pointwise([F], ["%v = arith.bitcast %a0 : f32 to i32"], "i32"), F.view(np.int32))
        yield Case([H], pointwise([H], ["%v = arith.bitcast %a0 : f16 to i16"], "i16"), H.view(np.int16))
        yield Case([I], ["%r = tensor.bitcast %arg0 : tensor<48xi32> to tensor<48xf32>"], I.view(np.float32))
        indices = ["%w = linalg.index 0 : index", "%x = arith.index_cast %w : index to i32", "%v = arith.addi %x, %a0 : i32"]
        yield Case([I], pointwise([I], indices, "i32"), np.arange(48, dtype=np.int32) + I)
        back = ["%w = arith.index_castui %a0 : i32 to index", "%v = arith.index_castui %w : index to i64"]
        yield Case([I], pointwise([I], back, "i64"), I.view(np.uint32).astype(np.int64))


# ---- named operators ----


def named(op, inputs, out, want, attributes="", near=1e-5, begin="0.0"):
    """ins(...) outs(a tensor of one number)."""
    kind = {"f": f"{begin}", "i": "0"}[out[0]]
    of = tensor(np.asarray(want).shape, out)
    names, types = ", ".join(f"%arg{k}" for k in range(len(inputs))), ", ".join(map(tensor, inputs))
    lines = [f"%c = arith.constant {kind} : {out}", f"%e = tensor.empty() : {of}", f"%f = linalg.fill ins(%c : {out}) outs(%e : {of}) -> {of}"]
    lines += [f"%r = linalg.{op} {attributes} ins({names} : {types}) outs(%f : {of}) -> {of}"]
    return Case(inputs, lines, np.asarray(want).astype(text.NAMES[out]), near, f"linalg.{op}")


def normal(*shape):
    return R.normal(size=shape).astype(np.float32)


def softmaxes():
    """Over each dim, of large numbers, of narrow ones; one that a matrix is multiplied by."""
    for shape in (5, 7), (2, 3, 40), (3, 1, 4):
        x = normal(*shape) * 30
        for dim in range(len(shape)):
            e = np.exp(x.astype(np.float64) - x.max(dim, keepdims=True))
            yield named("softmax", [x], "f32", e / e.sum(dim, keepdims=True), f"dimension({dim})", 1e-6)
    x = normal(4, 33).astype(np.float16)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    yield named("softmax", [x], "f16", e / e.sum(1, keepdims=True), "dimension(1)", 1e-3)


def generated():
    """Tensors of their places, of numbers from outside and of another tensor's elements."""
    body = ["^bb0(%i: index, %j: index):", "%p = arith.muli %i, %i : index", "%s = arith.subi %p, %j : index",
            "%v = arith.index_cast %s : index to i64", "tensor.yield %v : i64"]
    i, j = np.mgrid[:5, :37]
    yield Case([], ["%r = tensor.generate {", *body, "} : tensor<5x37xi64>"], (i * i - j).astype(np.int64), 0, "tensor.generate of places")
    x = normal(37, 5)
    body = ["^bb0(%i: index, %j: index):", "%e = tensor.extract %arg0[%j, %i] : tensor<37x5xf32>", "%v = arith.addf %e, %e : f32", "tensor.yield %v : f32"]
    yield Case([x], ["%r = tensor.generate {", *body, "} : tensor<5x37xf32>"], x.T + x.T, 0, "tensor.generate of another's elements")


def codes(*shape):
    return R.integers(-20, 20, shape).astype(np.int8)


def products():
    a, b = normal(5, 7), normal(7, 6)
    x, y = normal(3, 5, 7), normal(3, 7, 6)
    yield named("matmul", [a, b], "f32", a @ b)
    yield named("batch_matmul", [x, y], "f32", x @ y)
    yield named("batch_reduce_matmul", [x, y], "f32", (x @ y).sum(0))
    yield named("dot", [a[0].copy(), b[:, 0].copy()], "f32", a[0] @ b[:, 0])
    yield named("matvec", [a, b[:, 0].copy()], "f32", a @ b[:, 0])
    yield named("vecmat", [a[0].copy(), b], "f32", a[0] @ b)
    yield named("batch_matvec", [x, y[:, :, 0].copy()], "f32", np.einsum("bmk,bk->bm", x, y[:, :, 0]))
    yield named("batch_vecmat", [x[:, 0].copy(), y], "f32", np.einsum("bk,bkn->bn", x[:, 0], y))
    l, r = normal(2, 3, 4, 5), normal(6, 3, 7, 5)
    yield named("mmt4d", [l, r], "f32", np.einsum("mkac,nkbc->mnab", l, r))
    l, r = normal(2, 2, 3, 4, 5), normal(2, 6, 3, 7, 5)
    yield named("batch_mmt4d", [l, r], "f32", np.einsum("zmkac,znkbc->zmnab", l, r))
    p, q, zp = codes(5, 7), codes(7, 6), np.int32(3)
    scalars = [np.array(3, np.int32), np.array(-2, np.int32)]
    want = (p.astype(np.int32) - zp) @ (q.astype(np.int32) + 2)
    yield quantised("quantized_matmul", [p, q], scalars, want)
    p, q = codes(2, 5, 7), codes(2, 7, 6)
    yield quantised("quantized_batch_matmul", [p, q], scalars, (p.astype(np.int32) - zp) @ (q.astype(np.int32) + 2))
    maps = "indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]"
    yield named("contract", [a, b], "f32", a @ b, maps)
    into = normal(5, 6)
    lines = ["%r = linalg.matmul ins(%arg0, %arg1 : tensor<5x7xf32>, tensor<7x6xf32>) outs(%arg2 : tensor<5x6xf32>) -> tensor<5x6xf32>"]
    yield Case([a, b, into], lines, a @ b + into, 1e-5, "linalg.matmul onto a tensor")


def quantised(op, inputs, zeros, want, attributes=""):
    """The zero points are numbers of constants."""
    of = tensor(want.shape, "i32")
    types = ", ".join([tensor(x) for x in inputs] + ["i32"] * len(zeros))
    names = ", ".join([f"%arg{k}" for k in range(len(inputs))] + [f"%z{k}" for k in range(len(zeros))])
    lines = [f"%z{k} = arith.constant {int(z)} : i32" for k, z in enumerate(zeros)]
    lines += ["%c = arith.constant 0 : i32", f"%e = tensor.empty() : {of}", f"%f = linalg.fill ins(%c : i32) outs(%e : {of}) -> {of}"]
    lines += [f"%r = linalg.{op} {attributes} ins({names} : {types}) outs(%f : {of}) -> {of}"]
    return Case(inputs, lines, want.astype(np.int32), 0, f"linalg.{op}")


def convolved(x, w, of_x, of_w, stride, dilation):
    """By the letters of both operands: spaces d, h, w (of the kernel too); what is in both and is c is summed."""
    spaces = [s for s in "dhw" if s in of_x]
    depthwise = "f" not in of_w
    kept = of_x if depthwise else of_x.replace("c", "f")
    kept += "m" if "m" in of_w else ""
    sizes = [w.shape[of_w.index(s)] for s in spaces]
    outs = [(x.shape[of_x.index(s)] - (k - 1) * d - 1) // st + 1 for s, k, st, d in zip(spaces, sizes, stride, dilation)]
    total = 0
    for at in itertools.product(*map(range, sizes)):
        part, weight = x, w
        for s, k, o, st, d in zip(spaces, at, outs, stride, dilation):
            part = np.take(part, range(k * d, k * d + (o - 1) * st + 1, st), of_x.index(s))
        for s, k in sorted(zip(spaces, at), key=lambda p: -of_w.index(p[0])):
            weight = np.take(weight, k, of_w.index(s))
        rest = "".join(c for c in of_w if c not in spaces)
        total = total + np.einsum(f"{of_x},{rest}->{kept}", part, weight)
    return total


def windows():
    sizes = {"n": 2, "c": 3, "f": 4, "g": 2, "m": 2, "d": 5, "h": 6, "w": 8}
    kernel = {"d": 2, "h": 2, "w": 3}
    for op in re.findall(r'"linalg\.((?:depthwise_)?conv_\w+)"', ROWS.read_text()):
        rank = int(re.search(r"conv_(\d)d", op)[1])
        spaces = "dhw"[3 - rank :]
        letters = re.search(r"conv_\dd_?(\w*)", op)[1].removesuffix("_q")
        of_x, of_w = letters.split("_") if letters else (spaces, spaces)
        stride, dilation = ((2,) * rank, (1, 2, 2)[:rank]) if letters else ((1,) * rank, (1,) * rank)
        shape_x, shape_w = [sizes[s] for s in of_x], [kernel.get(s) or sizes[s] for s in of_w]
        attributes = f"{{strides = dense<{list(stride)}> : tensor<{rank}xi64>, dilations = dense<{list(dilation)}> : tensor<{rank}xi64>}}" if letters else ""
        if op.endswith("_q"):
            x, w = codes(*shape_x), codes(*shape_w)
            want = convolved(x.astype(np.int64) - 3, w.astype(np.int64) + 2, of_x, of_w, stride, dilation)
            yield quantised(op, [x, w], [3, -2], want, attributes)
        else:
            x, w = normal(*shape_x), normal(*shape_w)
            yield named(op, [x, w], "f32", convolved(x.astype(np.float64), w, of_x, of_w, stride, dilation), attributes)
    for op in re.findall(r'"linalg\.(pooling_\w+)"', ROWS.read_text()):
        letters, how = re.search(r"pooling_([a-z]+)_(\w+)", op).groups()
        spaces = [s for s in letters if s in "dhw"]
        unsigned = how.endswith("unsigned")
        shape = [sizes[s] for s in letters]
        x = codes(*shape).astype(np.int32) if unsigned else normal(*shape)
        window, combine = np.zeros([kernel[s] for s in spaces], x.dtype), {"s": np.add, "m": np.maximum}[how[0]]
        combine = np.minimum if how.startswith("min") else combine
        y = x.view(np.uint32) if unsigned else x
        outs = [(sizes[s] - kernel[s]) // 2 + 1 for s in spaces]
        want = None
        for at in itertools.product(*(range(kernel[s]) for s in spaces)):
            part = y
            for s, k, o in zip(spaces, at, outs):
                part = np.take(part, range(k, k + 2 * o - 1, 2), letters.index(s))
            want = part if want is None else combine(want, part)
        rank = len(spaces)
        attributes = f"{{strides = dense<2> : tensor<{rank}xi64>, dilations = dense<1> : tensor<{rank}xi64>}}"
        begin = {"sum": "0.0", "max": "0xFF800000", "min": "0x7F800000"}[how.split("_")[0]]
        if unsigned:
            begin = "0" if how.startswith("max") else "-1"
            case = named(op, [x, window], "i32", want.view(np.int32), attributes, 0)
            case.lines[0] = f"%c = arith.constant {begin} : i32"
            yield case
        else:
            yield named(op, [x, window], "f32", want, attributes, 1e-6, begin)


def named_elements():
    x, z = normal(4, 6), normal(4, 6)
    p = np.abs(x) + 0.5
    ones = {"abs": np.abs(x), "ceil": np.ceil(x), "erf": each(math.erf)(x), "exp": np.exp(x), "floor": np.floor(x), "negf": -x}
    ones |= {"round": np.copysign(np.floor(np.abs(x) + 0.5), x), "square": x * x, "tanh": np.tanh(x)}
    for op, want in ones.items():
        yield named(op, [x], "f32", want, near=1e-6)
    for op, want in {"log": np.log(p), "reciprocal": 1 / p, "rsqrt": 1 / np.sqrt(p), "sqrt": np.sqrt(p)}.items():
        yield named(op, [p], "f32", want, near=1e-6)
    for op, want in {"add": x + z, "sub": x - z, "mul": x * z, "div": x / z, "max": np.maximum(x, z), "min": np.minimum(x, z)}.items():
        yield named(op, [x, z], "f32", want, near=1e-6)
    yield named("powf", [p, z], "f32", np.power(p, z), near=1e-6)
    a, b = R.integers(1, 100, (4, 6)).astype(np.int32), R.integers(1, 9, (4, 6)).astype(np.int32)
    yield named("div_unsigned", [-a, b], "i32", ((-a).view(np.uint32) // b.view(np.uint32)).view(np.int32), near=0)
    t = R.random((4, 6)) < 0.5
    yield named("select", [t, x, z], "f32", np.where(t, x, z), near=0)
    yield named("copy", [x], "f32", x, near=0)
    yield named("elementwise", [x, z], "f32", x + z, "kind=#linalg.elementwise_kind<add>", near=0)
    yield Case([x, z], ["%e = tensor.empty() : tensor<4x6xf32>", "%r = linalg.map { arith.addf } ins(%arg0, %arg1 : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>)"], x + z)
    begin = ["%c = arith.constant 0.0 : f32", "%e = tensor.empty() : tensor<6xf32>", "%f = linalg.fill ins(%c : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>"]
    yield Case([x], begin + ["%r = linalg.reduce { arith.addf } ins(%arg0 : tensor<4x6xf32>) outs(%f : tensor<6xf32>) dimensions = [0]"], x.sum(0), 1e-6)
    yield Case([x], ["%e = tensor.empty() : tensor<6x4xf32>", "%r = linalg.transpose ins(%arg0 : tensor<4x6xf32>) outs(%e : tensor<6x4xf32>) permutation = [1, 0]"], x.T)
    constant = ["%k = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>", "%e = tensor.empty() : tensor<3x2xf32>"]
    constant += ["%t = linalg.transpose ins(%k : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]", "%r = arith.addf %t, %arg0 : tensor<3x2xf32>"]
    yield Case([np.zeros((3, 2), np.float32)], constant, np.array([[1, 4], [2, 5], [3, 6]], np.float32), of="linalg.transpose of a constant")
    yield Case([x], ["%e = tensor.empty() : tensor<4x3x6xf32>", "%r = linalg.broadcast ins(%arg0 : tensor<4x6xf32>) outs(%e : tensor<4x3x6xf32>) dimensions = [1]"], np.broadcast_to(x[:, None], (4, 3, 6)))


# ---- generic operators with other maps and bodies ----


def generic(inputs, maps, kinds, outs, body, want, near=0.0, of="linalg.generic"):
    """outs: what %r begins as, name and type."""
    names, types = ", ".join(f"%arg{k}" for k in range(len(inputs))), ", ".join(map(tensor, inputs))
    kinds = ", ".join(f'"{ {"p": "parallel", "r": "reduction"}[k]}"' for k in kinds)
    ins = f"ins({names} : {types}) " if inputs else ""
    maps = ", ".join(f"affine_map<{m}>" for m in maps)
    head, kind = f"%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {ins}", outs[1]
    return Case(inputs, [*outs[2], f"{head}outs({outs[0]} : {kind}) {{", *body, f"}} -> {kind}"], want, near, of)


def filled(kind, number):
    element = kind.rstrip(">").split("x")[-1].split("<")[-1]
    return ("%f", kind, [f"%c = arith.constant {number} : {element}", f"%e = tensor.empty() : {kind}", f"%f = linalg.fill ins(%c : {element}) outs(%e : {kind}) -> {kind}"])


def bodies():
    x, z = normal(4, 6), normal(6)
    add = ["^bb0(%a: f32, %o: f32):", "%v = arith.addf %o, %a : f32", "linalg.yield %v : f32"]
    yield generic([x], ["(i, j) -> (i, j)", "(i, j) -> (i)"], "pr", filled("tensor<4xf32>", "1.0"), add, x.sum(1) + 1, 1e-6, "a sum that begins at 1")
    yield generic([x], ["(i, j) -> (j, i)", "(i, j) -> (j)"], "rp", filled("tensor<4xf32>", "0.0"), add, x.sum(1), 1e-6, "a sum along the loop outside")
    yield generic([x], ["(i, j) -> (i, j)", "(i, j) -> ()"], "rr", filled("tensor<f32>", "0.0"), add, x.sum(), 1e-6, "a sum of all")
    yield generic([x], ["(i, j) -> (i, j)", "(i, j) -> (i, 0)"], "pr", filled("tensor<4x1xf32>", "0.0"), add, x.sum(1, keepdims=True), 1e-6, "a sum that keeps its dim")
    most = ["^bb0(%a: f32, %o: f32):", "%v = arith.maximumf %a, %o : f32", "linalg.yield %v : f32"]
    odd = x.copy()
    odd[1, 2] = np.nan
    yield generic([odd], ["(i, j) -> (i, j)", "(i, j) -> (i)"], "pr", filled("tensor<4xf32>", "0xFF800000"), most, odd.max(1), 0, "a maximum that NaN wins")
    other = [most[0], "%v = arith.maxnumf %a, %o : f32", most[2]]
    yield generic([odd], ["(i, j) -> (i, j)", "(i, j) -> (i)"], "pr", filled("tensor<4xf32>", "0xFF800000"), other, np.nanmax(odd, 1), 0, "a maximum that NaN loses")
    halves = x.astype(np.float16)
    less = ["^bb0(%a: f16, %o: f16):", "%v = arith.addf %o, %a : f16", "linalg.yield %v : f16"]
    want = np.zeros(4, np.float16)
    for k in range(6):
        want = (want + halves[:, k]).astype(np.float16)
    yield generic([halves], ["(i, j) -> (i, j)", "(i, j) -> (i)"], "pr", filled("tensor<4xf16>", "0.0"), less, want, 0, "a sum of halves, rounded each time")
    twice = ["^bb0(%a: f32, %o: f32):", "%w = arith.mulf %o, %a : f32", "%v = arith.addf %w, %a : f32", "linalg.yield %v : f32"]
    want = np.ones(4, np.float32)
    for k in range(6):
        want = want * x[:, k] + x[:, k]
    yield generic([x], ["(i, j) -> (i, j)", "(i, j) -> (i)"], "pr", filled("tensor<4xf32>", "1.0"), twice, want, 1e-6, "a body that is no sum, in order")
    across = ["^bb0(%a: f32, %b: f32, %o: f32):", "%v = arith.mulf %a, %b : f32", "linalg.yield %v : f32"]
    into = ("%e", "tensor<4x6xf32>", ["%e = tensor.empty() : tensor<4x6xf32>"])
    yield generic([x, z], ["(i, j) -> (i, j)", "(i, j) -> (j)", "(i, j) -> (i, j)"], "pp", into, across, x * z, 0, "a row for all")
    slide = ("%e", "tensor<5xf32>", ["%e = tensor.empty() : tensor<5xf32>"])
    w = normal(14)
    tap = ["^bb0(%a: f32, %b: f32, %o: f32):", "%v = arith.subf %b, %a : f32", "linalg.yield %v : f32"]
    yield generic([w, z[:5].copy()], ["(i) -> (2 * i + 3)", "(i) -> (i)", "(i) -> (i)"], "p", slide, tap, z[:5] - w[3:13:2], 0, "every second, from the third")
    back = ["^bb0(%a: f32, %b: f32, %o: f32):", "%v = arith.addf %b, %a : f32", "linalg.yield %v : f32"]
    yield generic([w, z[:5].copy()], ["(i) -> (13 - i)", "(i) -> (i)", "(i) -> (i)"], "p", slide, back, z[:5] + w[13:8:-1], 0, "from behind")
    old = ["^bb0(%a: f32, %o: f32):", "%v = arith.subf %a, %o : f32", "linalg.yield %v : f32"]
    yield generic([x], ["(i, j) -> (i, j)"] * 2, "pp", filled("tensor<4x6xf32>", "2.0"), old, x - 2, 0, "what was there, with no loop more")
    table, places = normal(9, 5), np.array([3, 0, 8, 12, -4], np.int64)
    look = ["^bb0(%a: i64, %o: f32):", "%i = arith.index_cast %a : i64 to index", "%j = linalg.index 1 : index", "%n = arith.constant 9 : index"]
    look += ["%t = arith.cmpi slt, %i, %n : index", 'cf.assert %t, "inside"', "%v = tensor.extract %arg1[%i, %j] : tensor<9x5xf32>", "linalg.yield %v : f32"]
    out = ("%e", "tensor<5x5xf32>", ["%e = tensor.empty() : tensor<5x5xf32>"])
    case = generic([places], ["(i, j) -> (i)", "(i, j) -> (i, j)"], "pp", out, look, table[np.clip(places, 0, 8)], 0, "tensor.extract in a body: rows by number")
    case.inputs.append(table)
    yield case
    both = ["^bb0(%a: i64, %o: f32):", "%i = arith.index_cast %a : i64 to index", "%v = tensor.extract %arg1[%i, %i] : tensor<9x5xf32>", "linalg.yield %v : f32"]
    case = generic([places], ["(i) -> (i)", "(i) -> (i)"], "p", slide, both, table[np.clip(places, 0, 8), np.clip(places, 0, 4)], 0, "tensor.extract in a body: two computed places")
    case.inputs.append(table)
    yield case
    yield Case([table, np.array(2, np.int64)], ["%n = arith.constant 3 : index", "%v = tensor.extract %arg0[%n, %n] : tensor<9x5xf32>", "%r = tensor.splat %v : tensor<2x2xf32>"], np.full((2, 2), table[3, 3]))
    pair = ["%l = arith.constant 0xFF800000 : f32", "%z = arith.constant 0 : i64", "%e = tensor.empty() : tensor<4xf32>", "%g = tensor.empty() : tensor<4xi64>"]
    pair += ["%f = linalg.fill ins(%l : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>", "%h = linalg.fill ins(%z : i64) outs(%g : tensor<4xi64>) -> tensor<4xi64>"]
    pair += ['%p:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<4x6xf32>) outs(%f, %h : tensor<4xf32>, tensor<4xi64>) {']
    pair += ["^bb0(%a: f32, %o: f32, %q: i64):", "%i = linalg.index 1 : index", "%j = arith.index_cast %i : index to i64", "%m = arith.maximumf %a, %o : f32"]
    pair += ["%t = arith.cmpf ogt, %a, %o : f32", "%k = arith.select %t, %j, %q : i64", "linalg.yield %m, %k : f32, i64", "} -> (tensor<4xf32>, tensor<4xi64>)"]
    yield Case([x], pair + ["%r = tensor.cast %p#1 : tensor<4xi64> to tensor<4xi64>"], x.argmax(1).astype(np.int64), of="the place of a maximum")
    both = ["%e = tensor.empty() : tensor<4x6xf32>"]
    both += ['%p:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e, %arg0 : tensor<4x6xf32>, tensor<4x6xf32>) {']
    both += ["^bb0(%o: f32, %q: f32):", "%m = arith.addf %q, %q : f32", "%n = arith.negf %q : f32", "linalg.yield %m, %n : f32, f32", "} -> (tensor<4x6xf32>, tensor<4x6xf32>)"]
    yield Case([x], both + ["%r = arith.addf %p#0, %p#1 : tensor<4x6xf32>"], x, of="two results that read what one of them begins as")


def movement():
    x = normal(4, 6)
    y = normal(2, 3, 4)
    yield Case([y], ["%r = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>"], y.reshape(6, 4))
    yield Case([x], ["%r = tensor.expand_shape %arg0 [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>"], x.reshape(4, 2, 3))
    yield Case([x], ["%s = arith.constant dense<[8, 3]> : tensor<2xi64>", "%r = tensor.reshape %arg0(%s) : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<8x3xf32>"], x.reshape(8, 3))
    yield Case([x], ["%r = tensor.extract_slice %arg0[1, 2] [2, 2] [2, 3] : tensor<4x6xf32> to tensor<2x2xf32>"], x[1::2, 2::3])
    yield Case([y], ["%r = tensor.extract_slice %arg0[1, 0, 2] [1, 3, 1] [1, 1, 1] : tensor<2x3x4xf32> to tensor<3xf32>"], y[1, :, 2], of="tensor.extract_slice of fewer dims")
    z = normal(2, 3)
    want = x.copy()
    want[1:3, 2:5] = z
    yield Case([z, x], ["%r = tensor.insert_slice %arg0 into %arg1[1, 2] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>"], want)
    apart = np.full((5, 7), 3, np.float32)
    apart[1:4:2, 0:5:2] = z
    yield Case([z], [*filled("tensor<5x7xf32>", "3.0")[2], "%r = tensor.insert_slice %arg0 into %f[1, 0] [2, 3] [2, 2] : tensor<2x3xf32> into tensor<5x7xf32>"], apart, of="tensor.insert_slice with steps")
    inner = ["%c = arith.constant 7.0 : f32", "%r = tensor.pad %arg0 low[1, 0] high[0, 2] {", "^bb0(%i: index, %j: index):", "tensor.yield %c : f32", "} : tensor<4x6xf32> to tensor<5x8xf32>"]
    yield Case([x], inner, np.pad(x, ((1, 0), (0, 2)), constant_values=7))
    yield Case([x, z], ["%p = tensor.extract_slice %arg0[0, 0] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>", "%r = tensor.concat dim(0) %p, %arg1 : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>"], np.concatenate([x[:, :3], z]))
    yield Case([x], ["%a = arith.constant 1.0 : f32", "%b = arith.constant 2.0 : f32", "%k = tensor.from_elements %a, %b, %b, %a : tensor<2x2xf32>", "%s = tensor.extract_slice %arg0[0, 0] [2, 2] [1, 1] : tensor<4x6xf32> to tensor<2x2xf32>", "%r = arith.mulf %k, %s : tensor<2x2xf32>"], x[:2, :2] * np.array([[1, 2], [2, 1]], np.float32))


def places():
    """Numbers that a body or a loop computes, and tensors that are written there."""
    at = np.arange(4 * 6).reshape(4, 6)
    for op, want in {"add": at // 6 + at % 6, "sub": at // 6 - at % 6, "mul": (at // 6) * (at % 6), "remu": (at // 6) % (at % 6 + 1)}.items():
        last = "%one = arith.constant 1 : index", "%j = arith.addi %k, %one : index"
        body = ["%i = linalg.index 0 : index", "%k = linalg.index 1 : index", *last, f"%n = index.{op} %i, {'%j' if op == 'remu' else '%k'}", "%v = arith.index_cast %n : index to i32"]
        x = np.zeros((4, 6), np.int32)
        yield Case([x], pointwise([x], body, "i32"), want.astype(np.int32), of=f"index.{op}")
    x, part = normal(4, 6), normal(2, 3)
    for row in 0, 2, -3, 7:
        where = np.array(row)
        head = ["%w = tensor.extract %arg1[] : tensor<i64>", "%i = arith.index_cast %w : i64 to index", "%c = arith.constant 5 : index"]
        kept = min(max(row, 0), 3)
        one = x.copy()
        one[kept, 5] = 9
        yield Case([x, where], [*head, "%f = arith.constant 9.0 : f32", "%r = tensor.insert %f into %arg0[%i, %c] : tensor<4x6xf32>"], one, of=f"tensor.insert at {row}")
        yield Case([x, where], [*head, "%r = tensor.extract_slice %arg0[%i, 1] [1, 2] [1, 3] : tensor<4x6xf32> to tensor<2xf32>"], x[kept, 1:5:3], of=f"tensor.extract_slice at {row}")
        kept = min(max(row, 0), 2)
        box = x.copy()
        box[kept : kept + 2, 3:6] = part
        yield Case([x, where, part], [*head, "%d = arith.constant 3 : index", "%r = tensor.insert_slice %arg2 into %arg0[%i, %d] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>"], box, of=f"tensor.insert_slice at {row}")
    extent = ["%a = arith.constant 1 : index", "%n = tensor.dim %arg0, %a : tensor<4x6xf32>", "%k = arith.index_cast %n : index to i32", "%r = tensor.from_elements %k : tensor<1xi32>"]
    yield Case([x], extent, np.int32([6]))
    joined = ["%e = tensor.empty() : tensor<8x6xf32>", "%f = tensor.insert_slice %arg0 into %e[0, 0] [4, 6] [1, 1] : tensor<4x6xf32> into tensor<8x6xf32>",
              "%r = tensor.insert_slice %arg0 into %f[4, 0] [4, 6] [1, 1] : tensor<4x6xf32> into tensor<8x6xf32>"]
    yield Case([x], joined, np.concatenate([x, x]), of="tensor.insert_slice part by part")


LOOP = """func.func @main(%x: tensor<4x3xf32>, %w: tensor<i64>) -> (tensor<4x3xf32>, tensor<3xf32>) {
  %a = arith.constant FROM : index
  %s = arith.constant STEP : index
  %b = arith.constant TO : index
  %e = tensor.empty() : tensor<4x3xf32>
  %z = arith.constant dense<0.0> : tensor<3xf32>
  %m = tensor.extract %w[] : tensor<i64>
  %n = arith.index_cast %m : i64 to index
  %r:2 = scf.for %i = %a to BOUND step %s iter_args(%p = %e, %q = %z) -> (tensor<4x3xf32>, tensor<3xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>
    %t = arith.addf %q, %row : tensor<3xf32>
    %u = tensor.insert_slice %t into %p[%i, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<4x3xf32>
    scf.yield %u, %t : tensor<4x3xf32>, tensor<3xf32>
  }
  return %r#0, %r#1 : tensor<4x3xf32>, tensor<3xf32>
}
"""
WHILE = """func.func @main(%x: tensor<2xf32>, %w: tensor<i32>) -> (tensor<i32>, tensor<2xf32>) {
  %n = tensor.extract %w[] : tensor<i32>
  %one = arith.constant 1 : i32
  %top = arith.constant 5 : i32
  %r:2 = scf.while (%i = %n, %y = %x) : (i32, tensor<2xf32>) -> (i32, tensor<2xf32>) {
    %c = arith.cmpi slt, %i, %top : i32
    scf.condition(%c) %i, %y : i32, tensor<2xf32>
  } do {
  ^bb0(%i: i32, %y: tensor<2xf32>):
    %j = arith.addi %i, %one : i32
    %d = arith.addf %y, %y : tensor<2xf32>
    scf.yield %j, %d : i32, tensor<2xf32>
  }
  %k = tensor.from_elements %r#0 : tensor<i32>
  return %k, %r#1 : tensor<i32>, tensor<2xf32>
}
"""
BRANCH = """func.func @main(%x: tensor<3x3xf32>, %w: tensor<i1>) -> tensor<3x3xf32> {
  %c = tensor.extract %w[] : tensor<i1>
  %r = scf.if %c -> (tensor<3x3xf32>) {
    %n = arith.negf %x : tensor<3x3xf32>
    scf.yield %n : tensor<3x3xf32>
  } else {
    %e = tensor.empty() : tensor<3x3xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
    %p = linalg.matmul ins(%x, %x : tensor<3x3xf32>, tensor<3x3xf32>) outs(%f : tensor<3x3xf32>) -> tensor<3x3xf32>
    scf.yield %p : tensor<3x3xf32>
  }
  return %r : tensor<3x3xf32>
}
"""


def control(bench):
    """scf: loops that are written out and loops that the host turns; a branch by data."""
    USED.update(re.findall(r"\bscf\.[a-z]+", LOOP + WHILE + BRANCH))
    x = normal(4, 3)
    for start, step in (0, 1), (1, 2), (0, 3):
        for top, bound in (4, "%b"), (3, "%b"), (0, "%b"), (4, "%n"), (2, "%n"), (0, "%n"), (-1, "%n"):
            model = LOOP.replace("FROM", str(start)).replace("STEP", str(step)).replace("TO", str(top)).replace("BOUND", bound)
            total, rows = np.zeros(3, np.float32), {}
            for i in range(start, top, step):
                rows[i] = total = total + x[i]
            got = bench.run(model, [x, np.array(top)], 2)
            good = np.array_equal(got[1], total) and all(np.array_equal(got[0][i], row) for i, row in rows.items())
            bench.say(good, f"scf.for from {start} to {top} ({bound}) by {step}")
    long = LOOP.replace("FROM", "-10000").replace("STEP", "1").replace("TO", "1").replace("BOUND", "%b")
    bench.say(np.array_equal(bench.run(long, [x * 0 + 1, np.array(0)], 2)[1], np.full(3, 10001, np.float32)), "scf.for of more turns than are written out")
    for start in 0, 4, 5, 9:
        got = bench.run(WHILE, [np.float32([1, 3]), np.array(start, np.int32)], 2)
        turns = max(0, 5 - start)
        bench.say(got[0] == start + turns and np.array_equal(got[1], np.float32([1, 3]) * 2**turns), f"scf.while from {start}")
    y = normal(3, 3)
    for truth in True, False:
        bench.say(np.allclose(bench.run(BRANCH, [y, np.array(truth)], 1)[0], -y if truth else y @ y, rtol=1e-6, atol=1e-6), f"scf.if, {truth}")
    other = WHILE.replace("scf.condition(%c) %i, %y", "scf.condition(%c) %n, %y")
    bench.refuses("a condition that hands on something else", other, "m.mlir:5:", "scf.while: a condition that hands on other values")
    step = LOOP.replace("FROM", "0").replace("STEP", "1").replace("TO", "4").replace("BOUND", "%b").replace("[%i, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>", "[%i, 0] [1, 3] [%s, 1] : tensor<4x3xf32> to tensor<3xf32>")
    bench.refuses("a step that an operand says", step, "m.mlir:10:", "places that are not known")


def together(cases, most=12):
    """Cases as modules of several results: one engine for up to so many."""
    for at in range(0, len(cases), most):
        part, inputs, lines, results = cases[at : at + most], [], [], {}
        for k, c in enumerate(part):
            body = "\n".join(c.lines)
            for a in reversed(range(len(c.inputs))):
                body = re.sub(rf"%arg{a}\b", f"%@{len(inputs) + a}", body)
            body = re.sub(r"%([A-Za-z]\w*)", rf"%c{k}_\1", body).replace("%@", "%arg")
            inputs += c.inputs
            lines += body.split("\n")
            results[f"%c{k}_r"] = tensor(c.want)
        yield part, text.module(inputs, lines, results), inputs


def right(got, case):
    if got.shape != case.want.shape or got.dtype != case.want.dtype:
        return False
    if case.near == 0 or got.dtype.kind != "f":
        return np.array_equal(got, case.want, equal_nan=got.dtype.kind == "f")
    with np.errstate(all="ignore"):
        away = np.abs(got.astype(np.float64) - case.want)
    odd = ~np.isfinite(case.want)
    good = np.where(odd, (got == case.want) | (np.isnan(got) & np.isnan(case.want)), True)
    largest = np.abs(case.want[~odd]).max() if (~odd).any() else 1
    return bool(good.all() and (away[~odd] <= case.near * max(1, largest)).all())


def calls(bench):
    x = normal(3)
    model = f"""func.func private @twice(%a: tensor<3xf32>) -> tensor<3xf32> {{
  %r = arith.addf %a, %a : tensor<3xf32>
  return %r : tensor<3xf32>
}}
func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {{
  %b = func.call @twice(%a) : (tensor<3xf32>) -> tensor<3xf32>
  %r = call @twice(%b) : (tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}}
"""
    USED.add("func.call")
    bench.say(np.array_equal(bench.run(model, [x], 1)[0], 4 * x), "func.call")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = text.Bench(args.bin, folder, args.target)
        cases = [c for make in (elements, conversions, products, softmaxes, generated, windows, named_elements, bodies, movement, places) for c in make()]
        for part, model, inputs in together(cases[:: args.every]):
            for case, got in zip(part, bench.run(model, inputs, len(part))):
                good = right(got, case)
                bench.say(good, case.name if good else f"{case.name}:\n{got}\nfor\n{case.want}")
        if args.every > 1:
            return bench.ended()
        calls(bench)
        control(bench)
        rows = set(re.findall(r'^(?:OP|STRUCTURED|ELEMENT)\("([\w.]+)"', ROWS.read_text(), re.M))
        bench.say(not rows - USED, f"every row has a case{': all but ' + ', '.join(sorted(rows - USED)) if rows - USED else ''}")
        return bench.ended()


if __name__ == "__main__":
    sys.exit(main())
