"""JAX: jax.numpy with its linalg and fft, jax.lax, jax.nn, jax.scipy.special, linalg, stats' functions."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import polyblocks  # noqa: E402
import walk  # noqa: E402
from polyblocks import polyblocks_jit_jax  # noqa: E402

OUT = ("array_repr", "array_str", "asarray", "can_cast", "dtype", "eval", "finfo", "iinfo", "frombuffer", "fromfile", "fromfunction", "fromiter", "fromstring", "from_dlpack", "get_printoptions", "printoptions", "set_printoptions",
       "save", "load", "issubdtype", "isdtype", "iscomplexobj", "isrealobj", "isscalar", "iterable", "ndim", "promote", "result_type", "result", "shape", "size", "unique", "nonzero", "argwhere", "flatnonzero", "extract", "setdiff", "setxor", "union", "intersect",
       "all_gather", "all_to_all", "axis_", "pmax", "pmin", "pmean", "ppermute", "pshuffle", "psum", "pswap", "pbroadcast", "pcast", "pvary", "psc", "ragged_all", "rng_", "random", "infeed", "outfeed", "custom_", "create_token", "after_all", "with_sharding", "empty", "broadcast_shapes", "padtype", "conv_dimension", "conv_transpose_shape",
       "conv_general_perm", "conv_general_shape", "composite", "platform", "optimization_barrier", "eig", "schur", "sqrtm", "funm", "hessenberg", "rsf2csf", "tridiagonal", "_", "dce", "reduce_and_p", "stop_gradient_p", "zeros_like_array", "approx_", "dot_algorithm", "xla", "svd", "qr", "eigh", "lu", "ldl", "histogram2d")  # fmt: skip


def arguments():
    g = np.random.default_rng(7)
    f, e = (g.normal(size=(4, 6)).astype("f4") for _ in range(2))
    p = g.uniform(0.1, 0.9, (4, 6)).astype("f4")
    s = walk.specials()
    i = (g.integers(1, 6, (4, 6)) * g.choice([-1, 1], (4, 6))).astype("i4")
    j = (g.integers(1, 5, (4, 6)) * g.choice([-1, 1], (4, 6))).astype("i4")
    zero = np.array([[0, 1, -1, 2**31 - 1, -(2**31), 7]] * 4, "i4")
    places = g.integers(0, 4, (4, 6)).astype("i4")
    u, n = g.integers(0, 256, (4, 6)).astype("u1"), np.array([[-128, 127, 3, -3, 7, -1]] * 4, "i1")
    b, d = g.integers(0, 2, (4, 6)).astype(bool), g.integers(0, 2, (4, 6)).astype(bool)
    c = (g.normal(size=(4, 6)) + 1j * g.normal(size=(4, 6))).astype("c8")
    h, hh = f.astype(jnp.bfloat16), f.astype("f2")
    m = g.normal(size=(5, 5)).astype("f4")
    m = m @ m.T + np.eye(5, dtype="f4")
    v, w = g.normal(size=6).astype("f4"), g.normal(size=6).astype("f4")
    x, line = g.normal(size=(2, 4, 6, 8)).astype("f4"), g.normal(size=(2, 4, 9)).astype("f4")
    k = g.normal(size=(4, 4, 3, 3)).astype("f4")
    z, none, at = np.float32(1.5), np.zeros((0, 6), "f4"), np.array([2, 0, 3], "i4")
    one = [("f", f), ("s", s), ("i", i), ("u8", u), ("i8", n), ("bool", b), ("c", c), ("bf16", h), ("f16", hh), ("p", p), ("m", m), ("v", v), ("x", x), ("line", line), ("0d", z), ("none", none), ("places", places), ("ends", zero), ("u32", u.astype("u4"))]  # fmt: skip
    cases = [("one", label, (a,)) for label, a in one]
    two = [("f,e", f, e), ("s,s", s, s[:, ::-1].copy()), ("i,j", i, j), ("u8,u8", u, u[::-1].copy()), ("ends,i", zero, i), ("i,ends", i, zero), ("i8,i8", n, n[:, ::-1].copy()), ("bool,bool", b, d), ("c,c", c, c[::-1].copy()), ("f,i", f, i), ("bool,f", b, f), ("u8,i8", u, n), ("bf16,f", h, f),
           ("bf16,bf16", h, h[::-1].copy()), ("f16,f16", hh, hh[::-1].copy()), ("p,p", p, p[::-1].copy()), ("v,w", v, w), ("f,fT", f, f.T.copy()), ("m,m", m, m[::-1].copy()), ("f,v", f, v), ("m,col", m, m[:, :2].copy()), ("f,at", f, at), ("f,places", f, places), ("x,k", x, k), ("none,none", none, none), ("places,f", places, f), ("f,bool", f, b)]  # fmt: skip
    cases += [("two", label, (a, b_)) for label, a, b_ in two]
    numbers = [("f,2", f, 2), ("f,0.5", f, 0.5), ("i,2", i, 2), ("i,-3", i, -3), ("u8,3", u, 3), ("bool,2", b, 2), ("s,0.5", s, 0.5), ("2,p", 2, p), ("f,-1", f, -1), ("f,(0,1)", f, (0, 1)), ("x,(1,0,3,2)", x, (1, 0, 3, 2)), ("s,-1", s, -1), ("i,1", i, 1), ("none,0", none, 0), ("none,1", none, 1), ("c,1", c, 1), ("f,(6,4)", f, (6, 4)), ("f,(2,4,6)", f, (2, 4, 6)), ("5", 5, 3), ("f,[50]", f, 50.0), ("f,((1,2),(0,1))", f, ((1, 2), (0, 1))), ("f,'int8'", f, "int8"), ("s,'int32'", s, "int32"), ("s,'uint8'", s, "uint8")]  # fmt: skip
    cases += [("number", label, (a, b_)) for label, a, b_ in numbers]
    more = [("f,e,p", f, e, p), ("f,0,1", f, 0, 1), ("f,-0.5,0.5", f, -0.5, 0.5), ("i,-2,2", i, -2, 2), ("s,-1.0,1.0", s, -1.0, 1.0), ("f,at,1", f, at, 1), ("f,at,0", f, at, 0), ("bool,f,e", b, f, e), ("bool,i,f", b, i, f), ("v,v,w", v, np.sort(v), w), ("f,True", f, True), ("f,1,True", f, 1, True), ("f,2,1", f, 2, 1), ("f,2,-1", f, 2, -1), ("f,1,0", f, 1, 0), ("0.1,2.0,7", 0.1, 2.0, 7), ("f,places,0", f, places, 0), ("p,p,p", p, p[::-1].copy(), p[:, ::-1].copy()), ("c,c,c", c, c[::-1].copy(), c), ("f,e,0", f, e, 0), ("f,e,1", f, e, 1), ("f,0,2,1", f, 0, 2, 1), ("s,s,s", s, s[::-1].copy(), s[:, ::-1].copy()), ("i,i,j", i, j, places), ("f,(0,1),(3,4)", f, (0, 1), (3, 4)), ("f,(0,0),(4,6),(2,2)", f, (0, 0), (4, 6), (2, 2)), ("x,k,(1,1),'SAME'", x, k, (1, 1), "SAME"), ("bool,s,s", s > 0, s, s[::-1].copy())]  # fmt: skip
    cases += [("more", label, tuple(rest)) for label, *rest in more]
    lists = [("[f,e]", [f, e]), ("[f,i]", [f, i]), ("[v,w]", [v, w]), ("[s,s]", [s, s]), ("[bool,f]", [b, f])]
    cases += [("list", label, (a,)) for label, a in lists] + [("list", "[f,e],1", ([f, e], 1)), ("list", "[f,i],-1", ([f, i], -1)), ("list", "'ij,jk',f,fT", ("ij,kj->ki", f, e)), ("list", "'ii'", ("ii->i", m)), ("list", "[b,b],[f,e]", ([b, d], [f, e]))]
    named = [("f;axis=-1", (f,), {"axis": -1}), ("s;axis=0", (s,), {"axis": 0}), ("f;axis=1,keepdims", (f,), {"axis": 1, "keepdims": True}), ("i;axis=(0,1)", (i,), {"axis": (0, 1)}), ("f;axis=()", (f,), {"axis": ()}), ("f;where", (f,), {"where": b, "initial": 1.0}), ("i;dtype", (i,), {"dtype": "int8"}), ("s;descending", (s,), {"descending": True, "stable": True}), ("f;n=9", (f,), {"n": 9}), ("f;ortho", (f,), {"norm": "ortho"}), ("f;ddof", (f,), {"axis": 1, "ddof": 1}), ("f;q", (f, 0.3), {"axis": 1, "method": "nearest"}), ("f;dimension=1", (f,), {"dimension": 1}), ("c;n=3", (c,), {"n": 3, "axis": 0}), ("s;k=2", (s,), {"k": 2}), ("s;reverse", (s,), {"axis": 1, "reverse": True}), ("f;dimensions", (f,), {"dimensions": (0,)}), ("s,side", (np.sort(v), f), {"side": "right"}), ("i;num_classes", (places,), {"num_classes": 5}), ("f;length", (places.ravel(),), {"length": 5}), ("f;mode", (f, 2), {"mode": "wrap"}), ("f;reflect", (f, 2), {"mode": "reflect"}), ("f;edge", (f, ((1, 0), (2, 3))), {"mode": "edge"}), ("f;linear_ramp", (f, 2), {"mode": "linear_ramp"})]  # fmt: skip
    cases += [("named", label, (args, kwargs)) for label, args, kwargs in named]
    return cases


ALL = arguments()
MOST = {"one": 9, "two": 10, "number": 8, "more": 6, "list": 4, "named": 6}


def names():
    found = {}
    import jax.scipy.stats as stats

    modules = ((jnp, "jnp."), (jnp.linalg, "linalg."), (jnp.fft, "fft."), (jax.lax, "lax."), (jax.nn, "nn."), (jax.scipy.special, "special."), (jax.scipy.linalg, "sp."), (jax.scipy.signal, "signal."),
               *((getattr(stats, name), f"{name}.") for name in ("norm", "beta", "gamma", "poisson", "t", "cauchy", "expon", "laplace", "logistic", "chi2", "binom", "geom", "uniform", "truncnorm")))  # fmt: skip
    for module, prefix in modules:
        for name in dir(module):
            value = getattr(module, name)
            if not name.startswith(OUT) and not name.endswith("_p") and callable(value) and not isinstance(value, type):
                found[prefix + name] = value
    return found


def plain(array):
    array = np.asarray(array)
    return array.astype("f4") if array.dtype.kind == "V" or str(array.dtype) in walk.HALVES else array


def is_array(value):
    return isinstance(value, (np.ndarray, np.generic))


class Jax(walk.Framework):
    REFUSED = (polyblocks.CompileError,)
    HEAVY = ("special.exp1", "special.expn", "special.expi", "special.hyp1f1", "special.hyp2f1", "special.betainc", "special.gammainc", "special.gammaincc", "lax.igamma", "lax.igammac", "lax.igamma_grad_a", "lax.regularized_incomplete_beta", "lax.random_gamma_grad", "linalg.lstsq", "beta.cdf", "beta.logcdf", "beta.sf", "beta.logsf", "gamma.cdf", "gamma.logcdf", "gamma.sf", "gamma.logsf", "chi2.cdf", "chi2.logcdf", "chi2.sf", "chi2.logsf", "poisson.cdf", "poisson.logcdf", "t.cdf", "jnp.histogram")  # fmt: skip

    def __init__(self):
        super().__init__(names(), ALL, MOST)

    @staticmethod
    def taken(call, args, kwargs):
        arrays = [a for a in jax.tree.leaves(args) if is_array(a)]

        def function(*given):
            given = iter(given)
            return call(*jax.tree.map(lambda a: next(given) if is_array(a) else a, args), **kwargs)

        found = jax.tree.leaves(Jax.eager(function, arrays))
        good = all(isinstance(v, jax.Array) and not jax.dtypes.issubdtype(v.dtype, jax.dtypes.extended) and v.size < 1 << 16 for v in found)
        return (function, arrays, found) if good else None

    def run(self, calls, arguments):
        def together(given):
            return [call(*args) for call, args in zip(calls, given)]

        return polyblocks_jit_jax(together)(arguments)

    @staticmethod
    def eager(call, arguments):
        return jax.jit(call)(*arguments)

    @staticmethod
    def exact(call, arguments, whole):
        with jax.enable_x64(True):
            return call(*[a.astype(walk.WIDE[whole].get(a.dtype.kind, a.dtype)) for a in arguments])

    leaves, array = staticmethod(jax.tree.leaves), staticmethod(plain)


if __name__ == "__main__":
    sys.exit(walk.main("jax", Jax()))
