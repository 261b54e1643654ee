"""PyTorch: torch, its methods, torch.nn.functional, fft, linalg, special."""

import sys
from pathlib import Path

import numpy as np
import torch
from torch.utils import _pytree as pytree

sys.path.insert(0, str(Path(__file__).resolve().parent))
import polyblocks  # noqa: E402
import walk  # noqa: E402
from polyblocks import polyblocks_jit_torch  # noqa: E402

REFUSED = (polyblocks.CompileError,)
# Of no numbers: what configures, draws, makes files, threads, or types of its own.
OUT = ("set_", "get_", "is_", "_", "save", "load", "from_file", "manual", "seed", "initial", "rand", "bernoulli", "multinomial", "normal", "poisson", "empty",
       "init_", "use_", "export", "compile", "import", "autocast", "backward", "register", "retain", "requires", "storage", "share", "to_sparse", "sparse",
       "quantize", "q_", "dequantize", "fake_quant", "fused_", "cudnn", "miopen", "mkldnn", "vmap", "cond", "while", "typename", "isscalar", "thread", "fork",
       "wait", "profiler", "dropout", "alpha_drop", "feature_", "rrelu", "gumbel", "binomial", "exponential_", "geometric_", "cauchy_", "log_normal_", "uniform_",
       "random_", "data_ptr", "numpy", "tolist", "item", "apply_", "map_", "map2_", "module_load", "element_size", "dim_order", "ndimension", "type", "cuda",
       "xpu", "mtia", "ipu", "hpu", "pin_memory", "reinforce", "record_stream", "reduce_ex", "to_mkldnn", "col_indices", "crow", "ccol", "row_ind", "resize",
       "index_reduce", "resize_as", "handle_torch", "has_torch", "boolean_dispatch", "assert_int", "broadcast_to_", "lobpcg", "segment_reduce", "names",
       "rename", "refine", "align", "unify", "classes", "ops", "Size", "Generator", "Stream", "Event", "nonzero", "unique", "masked_select", "argwhere",
       "sym_", "eigvals", "eig", "stft", "istft", "dsmm", "hsmm", "smm", "sspaddmm", "result_type", "promote", "can_cast", "cpu", "numel", "nelement", "stride", "size",
       "dim", "ctc_loss", "has_names", "detach_", "tensor_split", "untyped", "threshold_", "rrelu_", "ldl", "cholesky_inverse", "obj", "shape", "view_as_", "retains_grad", "embedding_renorm_", "combinations", "version", "svd", "qr", "eigh", "pca_lowrank", "geqrf", "from_dlpack", "mode", "searchsorted", "bucketize", "native_dropout",  "as_subclass", "new", "to_dense", "to_padded", "values", "indices", "coalesce", "sum_to_size_", "char", "chalf", "fill_diagonal", "__")  # fmt: skip


def t(array):
    return torch.from_numpy(np.ascontiguousarray(array))


def arguments():
    g = np.random.default_rng(7)
    f = t(g.normal(size=(4, 6)).astype("f4"))
    e = t(g.normal(size=(4, 6)).astype("f4"))
    p = t(g.uniform(0.1, 0.9, (4, 6)).astype("f4"))
    s = t(walk.specials())
    i = t(g.integers(1, 6, (4, 6)) * g.choice([-1, 1], (4, 6)))
    j = t(g.integers(1, 5, (4, 6)) * g.choice([-1, 1], (4, 6)))
    places = t(g.integers(0, 4, (4, 6)))
    u = t(g.integers(0, 256, (4, 6)).astype("u1"))
    n = t(np.array([[-128, 127, 3, -3, 7, -1]] * 4, "i1"))
    b, d = t(g.integers(0, 2, (4, 6)).astype(bool)), t(g.integers(0, 2, (4, 6)).astype(bool))
    c = t((g.normal(size=(4, 6)) + 1j * g.normal(size=(4, 6))).astype("c8"))
    h, hh = f.bfloat16(), f.half()
    m = g.normal(size=(2, 5, 5)).astype("f4")
    m = t(m @ m.transpose(0, 2, 1) + np.eye(5, dtype="f4"))
    v, w = t(g.normal(size=6).astype("f4")), t(g.normal(size=6).astype("f4"))
    x = t(g.normal(size=(2, 4, 6, 8)).astype("f4"))
    k = t(g.normal(size=(4, 4, 3, 3)).astype("f4"))
    line, kernel = t(g.normal(size=(2, 4, 9)).astype("f4")), t(g.normal(size=(4, 4, 3)).astype("f4"))
    cube, cubic = t(g.normal(size=(1, 2, 4, 5, 6)).astype("f4")), t(g.normal(size=(2, 2, 3, 3, 3)).astype("f4"))
    at, cls = t(np.array([2, 0, 3])), t(np.array([1, 5, 0, 3]))
    z = torch.tensor(1.5)
    turned, repeated = t(g.normal(size=(6, 4)).astype("f4")).T, t(g.normal(size=(1, 6)).astype("f4")).expand(4, 6)
    none = torch.zeros(0, 6)
    one = [("f", f), ("s", s), ("i", i), ("u8", u), ("i8", n), ("bool", b), ("c", c), ("bf16", h), ("f16", hh), ("p", p), ("m", m), ("v", v), ("x", x), ("line", line),
           ("cube", cube), ("0d", z), ("turned", turned), ("repeated", repeated), ("none", none), ("places", places)]  # fmt: skip
    cases = [("one", label, (a,)) for label, a in one]
    two = [("f,e", f, e), ("s,sT", s, s.flip(1)), ("i,j", i, j), ("u8,u8", u, u.flip(0) | 1), ("i8,i8", n, n.flip(1)), ("bool,bool", b, d), ("c,c", c, c.flip(0)), ("f,i", f, i), ("i,f", i, f), ("bool,f", b, f),
           ("u8,i8", u, n), ("bf16,f", h, f), ("f,0d", f, z), ("i,0d", i, z), ("bf16,bf16", h, h.flip(1)), ("p,p", p, p.flip(0)), ("v,w", v, w), ("f,fT", f, f.T), ("m,m", m, m.flip(0)), ("f,v", f, v),
           ("m,col", m, m[..., :2]), ("f,bool", f, b), ("f,cls", f, cls), ("f,places", f, places), ("x,k", x, k), ("line,kernel", line, kernel), ("cube,cubic", cube, cubic), ("turned,repeated", turned, repeated),
           ("none,none", none, none), ("c,f", c, f), ("places,f", places, f), ("i32,i32", i.int(), j.int())]  # fmt: skip
    cases += [("two", label, (a, b_)) for label, a, b_ in two]
    numbers = [("f,2", f, 2), ("f,0.5", f, 0.5), ("i,2", i, 2), ("i,-3", i, -3), ("i,0.5", i, 0.5), ("u8,3", u, 3), ("bool,2", b, 2), ("s,0.5", s, 0.5), ("s,2", s, 2), ("2,f", 2, f), ("0.5,i", 0.5, i), ("2,p", 2, p), ("x,2", x, 2), ("x,(3,2)", x, (3, 2)),
               ("f,-1", f, -1), ("f,(0,1)", f, (0, 1)), ("x,(1,0,3,2)", x, (1, 0, 3, 2)), ("line,3", line, 3), ("cube,2", cube, 2), ("s,-1", s, -1), ("i,1", i, 1), ("bool,0", b, 0), ("none,0", none, 0), ("none,1", none, 1), ("repeated,1", repeated, 1), ("m,1", m, 1), ("c,1", c, 1), ("f,(2,3,4)", f, (2, 3, 4)), ("f,(6,4)", f, (6, 4)), ("c,2", c, 2), ("f,dtype", f, torch.int32), ("s,i64?", p, torch.int64)]  # fmt: skip
    cases += [("number", label, (a, b_)) for label, a, b_ in numbers]
    more = [("f,e,p", f, e, p), ("f,0,1", f, 0, 1), ("f,-0.5,0.5", f, -0.5, 0.5), ("i,-2,2", i, -2, 2), ("s,-1.0,1.0", s, -1.0, 1.0), ("f,1,at", f, 1, at), ("f,0,at", f, 0, at), ("f,b,2.0", f, b, 2.0), ("f,bool,e", f, b, e), ("bool,f,e", b, f, e),
            ("i,bool,2", i, b, 2), ("bool,i,f", b, i, f), ("f,1,places", f, 1, places), ("f,0,places,e", f, 0, places, e), ("f,1,at,2.0", f, 1, at, 2.0), ("f,0,at,rows", f, 0, at, e[:3]), ("m,m,m", m, m, m), ("f,True", f, True), ("f,1,True", f, 1, True), ("s,1,True", s, 1, True), ("i,1,True", i, 1, True), ("f,0,2,3", f, 0, 2, 3), ("f,2,1", f, 2, 1), ("f,1,0", f, 1, 0),
            ("x,3,2,1", x, 3, 2, 1), ("line,3,2,1", line, 3, 2, 1), ("x,k,None,2,1", x, k, None, 2, 1), ("line,line,line", line, line, line), ("x,x,x", x, x, x), ("v,v,w", v, v, w), ("m,[m,m]", m[0], m[0], m[1]), ("0.1,2,7", 0.1, 2.0, 7), ("f,places,e", f, places, e), ("i,j,j", i, j, j),
            ("f,(1,),e", f, (places[:, 0],), e[:, 0]), ("x,x4", x, x.mean((0, 2, 3)), x.var((0, 2, 3))), ("f,v,v", f, v, w), ("s,s,s", s, s.flip(0), s.flip(1)), ("c,c,c", c, c.flip(0), c.flip(1)), ("f,e,2", f, e, 2), ("f,e,0.3", f, e, 0.3), ("f,2,-1", f, 2, -1), ("f,(1,2,2,1)", f, (1, 2, 2, 1)), ("x,(1,2,2,1),'reflect'", x, (1, 2, 2, 1), "reflect"), ("x,(1,2,0,1),'circular'", x, (1, 2, 0, 1), "circular"), ("x,(-1,2,0,1)", x, (-1, 2, 0, 1))]  # fmt: skip
    cases += [("more", label, tuple(rest)) for label, *rest in more]
    lists = [("[f,e]", [f, e]), ("[f,i]", [f, i]), ("[v,w]", [v, w]), ("[s,s]", [s, s]), ("[bool,f]", [b, f])]
    cases += [("list", label, (a,)) for label, a in lists] + [("list", "[f,e],1", ([f, e], 1)), ("list", "[f,i],-1", ([f, i], -1)), ("list", "*f,e", (f, e, f))]
    named = [("f;dim=-1", (f,), {"dim": -1}), ("s;dim=0", (s,), {"dim": 0}), ("f;dim=1,keepdim", (f,), {"dim": 1, "keepdim": True}), ("i;dim=(0,1)", (i,), {"dim": (0, 1)}), ("f;dim=()", (f,), {"dim": ()}), ("i;dtype=f64", (i,), {"dtype": torch.float64}), ("s;descending", (s,), {"descending": True, "stable": True}), ("f,e;none", (f, e), {"reduction": "none"}), ("f,p;sum", (p, p.flip(0)), {"reduction": "sum"}), ("f,cls;smooth", (f, cls), {"label_smoothing": 0.1, "ignore_index": 5}), ("f,cls;weight", (f, cls), {"weight": v.abs()}), ("x;scale", (x,), {"scale_factor": 1.5}), ("x;bilinear", (x,), {"size": (7, 5), "mode": "bilinear"}), ("f;n=9", (f,), {"n": 9}), ("f;ortho", (f,), {"norm": "ortho"}), ("c;n=3", (c,), {"n": 3, "dim": 0}), ("i;floor", (i, j), {"rounding_mode": "floor"}), ("s;floor", (s, s.flip(1)), {"rounding_mode": "floor"}), ("i;trunc", (i, j), {"rounding_mode": "trunc"}), ("f;alpha", (f, e), {"alpha": 2}), ("i;alpha", (i, j), {"alpha": -3}), ("f;value", (f, e, p), {"value": -2}), ("f;approx", (f,), {"approximate": "tanh"}), ("f;unbiased", (f,), {"dim": 1, "correction": 0}), ("s;right", (v.sort().values, f), {"right": True})]  # fmt: skip
    cases += [("named", label, (args, kwargs)) for label, args, kwargs in named]
    return cases


ALL = arguments()
MOST = {"one": 7, "two": 9, "number": 8, "more": 6, "list": 3, "named": 6}


def is_out(name):
    return any(name.startswith(word) for word in OUT)


def names():
    found = {}
    for module, prefix in ((torch, "torch."), (torch.nn.functional, "F."), (torch.fft, "fft."), (torch.linalg, "linalg."), (torch.special, "special.")):
        for name in dir(module):
            value = getattr(module, name)
            if not is_out(name) and callable(value) and not isinstance(value, type) and not (prefix == "F." and hasattr(torch, name) and not name.endswith("loss")):
                found[prefix + name] = value
    for name in dir(torch.Tensor):
        if not is_out(name) and callable(getattr(torch.Tensor, name)) and f"torch.{name}" not in found:
            found["Tensor." + name] = method(name)
    return found


def method(name):
    def call(x, *args, **kwargs):
        x = x.clone()
        y = getattr(x, name)(*args, **kwargs)
        return (y, x) if name.endswith("_") else y

    return call


def copied(value):
    return pytree.tree_map(lambda v: v.clone(memory_format=torch.preserve_format) if isinstance(v, torch.Tensor) and v.stride().count(0) == 0 else v, value)


def numbers(result):
    return [v for v in pytree.tree_leaves(result) if isinstance(v, torch.Tensor)]


def array(tensor):
    return (tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor).detach().resolve_conj().resolve_neg().numpy()


class Torch(walk.Framework):
    REFUSED = REFUSED

    def __init__(self):
        super().__init__(names(), ALL, MOST)

    @staticmethod
    def taken(call, args, kwargs):
        def function(*given):
            return call(*given, **kwargs)

        found = numbers(Torch.eager(function, args))
        if not found or any(v.layout != torch.strided or v.is_quantized or v.numel() > 1 << 16 for v in found):
            return None
        return function, args, found

    def run(self, calls, arguments):
        def together(*given):
            return [call(*args) for call, args in zip(calls, given)]

        with torch.no_grad():
            return polyblocks_jit_torch(together)(*[copied(args) for args in arguments])

    @staticmethod
    def eager(call, arguments):
        with torch.no_grad():
            return call(*copied(arguments))

    @staticmethod
    def exact(call, arguments, whole):
        def wide(v):
            return v.double() if isinstance(v, torch.Tensor) and not v.is_complex() and (v.is_floating_point() or whole and v.dtype != torch.bool) else v

        return Torch.eager(call, pytree.tree_map(wide, arguments))

    leaves, array = staticmethod(numbers), staticmethod(array)


if __name__ == "__main__":
    sys.exit(walk.main("torch", Torch()))
