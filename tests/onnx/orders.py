"""TopK of more than a few of many and of all, ArgMax, ArgMin, ReduceMax and ReduceMin along any axis, against NumPy, to the element: ties, NaN, both ends,
several types, around the lengths of lanes and blocks; on 1, 2 and 7 threads.

    tests/onnx/orders.py --bin build/bin [--every 3]"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

TYPES = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "int64": TensorProto.INT64}
THREADS = 1, 2, 7


def drawn(rng, shape, dtype):
    x = rng.integers(-40, 40, shape).astype(dtype)  # many are alike
    return x / 4 if dtype == "float32" else x


def first_ones(x, k, axis, largest):
    """What is equal stays in order."""
    order = np.argsort(-x if largest else x, axis, kind="stable").take(range(k), axis)
    return np.take_along_axis(x, order, axis), order


def most(x, axis, least, last):
    x = np.where(np.isnan(x), -np.inf if least else np.inf, x) if x.dtype.kind == "f" else x
    end = np.flip(x, axis) if last else x
    place = np.expand_dims((end.argmin if least else end.argmax)(axis), axis)
    return (x.shape[axis] - 1 - place if last else place,)


def same(a, b):
    return np.array_equal(a, b, equal_nan=b.dtype.kind == "f")


def check(checks, bin, folder, what, nodes, x, wants):
    names = [f"y{k}" for k in range(len(wants))]
    nodes[-1].output[:] = names
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TYPES[str(x.dtype)], x.shape)],
                              [helper.make_tensor_value_info(n, TYPES[str(w.dtype)], w.shape) for n, w in zip(names, wants)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "m.onnx")
    done = tools.call([f"{bin}/pbc", str(folder / "m.onnx"), "--target=cpu", "-o", str(folder / "m.pbe")])
    if done.returncode:
        checks.say(False, f"{what}: {done.stderr.strip()[-200:]}")
        return
    np.save(folder / "x.npy", x)
    wrong = []
    for threads in THREADS:
        out = [f"--output={n}={folder / n}.npy" for n in names]
        tools.run([f"{bin}/pb-run", str(folder / "m.pbe"), f"--threads={threads}", "--input", str(folder / "x.npy"), *out])
        wrong += [f"{n} on {threads} threads" for n, w in zip(names, wants) if not same(np.load(folder / f"{n}.npy"), w)]
    checks.say(not wrong, f"{what}: {', '.join(wrong) or 'the same'}")


def cases():
    rng = np.random.default_rng(4)
    for shape, axis, k in (([3, 300], 1, 20), ([2, 1000], 1, 50), ([64, 10000], 1, 50), ([1, 8400], 1, 1000), ([1000, 3], 0, 40), ([2, 257], 1, 128),
                           ([5, 700], 1, 700), ([700, 5], 0, 700), ([2, 3, 400], 2, 17)):
        for dtype in TYPES:
            for largest in 1, 0:
                x = drawn(rng, shape, dtype)
                count = helper.make_node("Constant", [], ["k"], value=helper.make_tensor("k", TensorProto.INT64, [1], [k]))
                node = helper.make_node("TopK", ["x", "k"], ["y"], axis=axis, largest=largest)
                yield f"the {k} {'largest' if largest else 'least'} of {shape} {dtype} along {axis}", [count, node], x, first_ones(x, k, axis, largest)
    for shape in [64, 1000], [5, 17], [1000], [4, 21, 9, 40], [3, 1, 5]:
        for axis in range(len(shape)):
            for dtype, least, last, nan in (("float32", 0, 0, 0), ("float32", 1, 0, 0), ("float32", 0, 1, 0), ("float32", 1, 1, 1), ("float32", 0, 0, 1), ("int32", 0, 0, 0),
                                            ("int32", 1, 1, 0), ("int64", 0, 1, 0)):
                x = drawn(rng, shape, dtype)
                if nan:
                    x[rng.random(shape) < 0.05] = np.nan
                node = helper.make_node("ArgMin" if least else "ArgMax", ["x"], ["y"], axis=axis, select_last_index=last)
                yield f"{node.op_type} of {shape} {dtype} along {axis}, last {last}, NaN {nan}", [node], x, most(x, axis, least, last)
    for shape in [64, 1000], [5, 17], [3000], [4, 21, 9, 40]:
        for axes in *([axis] for axis in range(len(shape))), list(range(len(shape))):
            for dtype, least, nan in ("float32", 1, 0), ("float32", 1, 1), ("float32", 0, 1), ("int32", 1, 0), ("int64", 1, 0):
                x = drawn(rng, shape, dtype)
                if nan:
                    x[rng.random(shape) < 0.01] = np.nan
                node = helper.make_node("ReduceMin" if least else "ReduceMax", ["x"], ["y"], axes=axes)
                yield f"{node.op_type} of {shape} {dtype} along {axes}, NaN {nan}", [node], x, (x.min(tuple(axes), keepdims=True) if least else x.max(tuple(axes), keepdims=True),)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checks = tools.Checks(options.bin, folder)
        for k, (what, nodes, x, wants) in enumerate(cases()):
            if k % options.every == 0:
                check(checks, options.bin, Path(folder), what, nodes, x, wants)
        return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
