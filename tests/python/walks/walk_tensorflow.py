"""TensorFlow: tf, tf.math, tf.linalg, tf.nn, tf.signal, tf.image, tf.bitwise, tf.keras' activations, losses and ops."""

import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

sys.path.insert(0, str(Path(__file__).resolve().parent))
import polyblocks  # noqa: E402
import walk  # noqa: E402
import walk_jax  # noqa: E402
from polyblocks import polyblocks_jit_tf  # noqa: E402

OUT = ("print", "Assert", "assert", "debugging", "function", "py_function", "numpy_function", "random", "experimental", "load", "save", "init_scope", "control", "device", "name_scope", "no_gradient", "recompute", "register", "custom_grad", "grad_pass",
       "unique", "boolean_mask", "ragged", "string", "as_string", "decode", "encode", "get_", "is_tensor", "type_spec", "Variable", "py_func", "map_fn", "while_loop", "switch_case", "case", "cond", "scan", "foldl", "foldr", "executing", "inside_function", "has_", "vectorized_map", "stateless", "sample", "draw",
       "extract_jpeg", "adjust_jpeg", "crop_to", "eig", "sqrtm", "logm", "fixed_unigram", "learned_unigram", "log_uniform", "uniform_candidate", "compute_accidental", "nce_loss", "sampled_softmax", "ctc", "collapse", "all_candidate", "generate_bounding", "non_max", "combined_non", "in_top_k", "_", "make_ndarray", "make_tensor", "edit_distance", "variable_creator", "dynamic_partition", "sets", "hessians", "gradients", "guarantee", "constant_initializer", "fingerprint", "strings", "timestamp", "where_v2", "embedding_lookup_sparse", "RaggedTensor", "serial", "deserial", "set_", "tensor_scatter_nd_", "isotonic", "searchsorted", "zero_fraction_")  # fmt: skip
MOST = {"one": 8, "two": 8, "number": 7, "more": 6, "list": 4, "named": 6}


def arguments():
    """Those of JAX, with images that have channels last."""
    cases = [case for case in walk_jax.ALL if not any(label in case[1] for label in ("bf16", "f16", "x,k"))]
    g = np.random.default_rng(3)
    x, k = g.normal(size=(2, 6, 8, 3)).astype("f4"), g.normal(size=(3, 3, 3, 4)).astype("f4")
    picture = g.uniform(0, 1, (2, 6, 8, 3)).astype("f4")
    line = g.normal(size=(2, 40)).astype("f4")
    t = np.array([[0, 1, 0, 2], [2, 2, 1, 0]], "i4")
    more = [("one", "picture", (picture,)), ("one", "bytes", ((picture * 255).astype("u1"),)), ("one", "sound", (line,)), ("number", "picture,2", (picture, 2)), ("number", "picture,0.3", (picture, 0.3)), ("number", "picture,(4,5)", (picture, (4, 5))), ("number", "picture,(9,11)", (picture, (9, 11))), ("number", "sound,8", (line, 8)),
            ("more", "x,k,1,SAME", (x, k, 1, "SAME")), ("more", "x,k,2,VALID", (x, k, 2, "VALID")), ("more", "x,2,2,SAME", (x, 2, 2, "SAME")), ("more", "x,3,1,VALID", (x, 3, 1, "VALID")), ("more", "sound,8,4", (line, 8, 4)), ("more", "t,at,3", (g.normal(size=8).astype("f4"), t.ravel(), 3)), ("two", "picture,picture", (picture, picture[:, ::-1].copy())), ("more", "picture,picture,1.0", (picture, picture[:, ::-1].copy(), 1.0)), ("more", "picture,1,2,4,5", (picture, 1, 2, 4, 5)), ("more", "picture,0.5,2.0,0", (picture, 0.5, 1.5)), ("two", "f,indices", (x, t)), ("two", "nd", (g.normal(size=(3, 3)).astype("f4"), np.array([[0, 1], [2, 2]], "i4"))),
            ("named", "x;axis=1", (x,), {"axis": 1}), ("named", "depth", (t,), {"depth": 4}), ("named", "f;perm", (x,), {"perm": (0, 3, 1, 2)}), ("named", "labels", (t,), {"num_classes": 3}), ("named", "k;k=2", (line,), {"k": 2}), ("named", "labels,logits", (), {"labels": abs(picture), "logits": x}), ("named", "sparse", (), {"labels": t, "logits": g.normal(size=(2, 4, 5)).astype("f4")}), ("named", "exclusive", (line,), {"axis": 1, "exclusive": True}), ("named", "paddings", (t,), {"paddings": ((1, 1), (0, 2)), "constant_values": 3}), ("named", "reverse,symmetric", (t,), {"paddings": ((1, 1), (1, 0)), "mode": "SYMMETRIC"})]  # fmt: skip
    return [(group, label, rest[0] if group != "named" else tuple(rest)) for group, label, *rest in more] + cases


ALL = arguments()


def names():
    found = {}
    modules = [(tf, "tf.")] + [(getattr(tf, part), f"{part}.") for part in ("math", "linalg", "nn", "signal", "image", "bitwise")]
    modules += [(tf.keras.activations, "activations."), (tf.keras.losses, "losses."), (tf.keras.ops, "ops.")]
    seen = set()
    for module, prefix in modules:
        for name in dir(module):
            value = getattr(module, name)
            if name.startswith(OUT) or not callable(value) or isinstance(value, type) or id(value) in seen:
                continue
            seen.add(id(value))
            found[prefix + name] = value
    return found


def leaves(value):
    return [v for v in tf.nest.flatten(value) if tf.is_tensor(v)]


class TensorFlow(walk.Framework):
    REFUSED = (polyblocks.CompileError,)

    def __init__(self):
        super().__init__(names(), ALL, MOST)

    @staticmethod
    def taken(call, args, kwargs):
        flat = tf.nest.flatten((args, kwargs))
        arrays = [a for a in flat if walk_jax.is_array(a)]

        def function(*given):
            given = iter(given)
            a, k = tf.nest.pack_sequence_as((args, kwargs), [next(given) if walk_jax.is_array(v) else v for v in flat])
            return call(*a, **k)

        found = leaves(tf.function(function)(*map(tf.constant, arrays)))
        if not found or any(not isinstance(v, tf.Tensor) or v.dtype in (tf.string, tf.resource, tf.variant) or tf.size(v) > 1 << 16 for v in found):
            return None
        return function, arrays, leaves(TensorFlow.eager(function, arrays))

    def run(self, calls, arguments):
        def together(*given):
            given, made = iter(given), []
            for call, args in zip(calls, arguments):
                made.append(leaves(call(*[next(given) for _ in args])))
            return made

        return polyblocks_jit_tf(together)(*[tf.constant(a) for args in arguments for a in args])

    @staticmethod
    def eager(call, arguments):
        tensors = list(map(tf.constant, arguments))
        try:
            return call(*tensors)
        except Exception:  # which graphs alone take
            return tf.function(call)(*tensors)

    @staticmethod
    def exact(call, arguments, whole):
        return TensorFlow.eager(call, [a.astype(walk.WIDE[whole].get(a.dtype.kind, a.dtype)) for a in arguments])

    @staticmethod
    def array(tensor):
        return tensor.numpy()

    leaves = staticmethod(leaves)


if __name__ == "__main__":
    sys.exit(walk.main("tensorflow", TensorFlow()))
