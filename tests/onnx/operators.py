"""Operators of which ONNX's own tests have few cases, by references of their own.

    operators.py --bin BUILD/bin
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from table import FLOAT, INT64, model, node, run  # noqa: E402

TREES = "ai.onnx.ml"
MODES = [np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal]


def info(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


# ---- trees ----

def drawn_forest(rng, trees, depth, features, targets):
    """Complete trees whose nodes compare, and one node whose both ways end, as attributes."""
    lists = {k: [] for k in ("feature", "split", "mode", "yes", "no", "yes_leaf", "no_leaf", "track")}
    weights, ids, roots = [], [], []

    def grow(left):
        at = len(lists["feature"])
        for name, value in (("feature", rng.integers(features)), ("split", rng.integers(-3, 4) / 2), ("mode", rng.integers(6)),
                            ("track", rng.integers(2)), ("yes", 0), ("no", 0), ("yes_leaf", 0), ("no_leaf", 0)):
            lists[name].append(value)
        for way in "yes", "no":
            is_leaf = left == 0 or rng.random() < 0.2
            lists[f"{way}_leaf"][at] = int(is_leaf)
            lists[way][at] = len(weights) if is_leaf else grow(left - 1)
            if is_leaf:
                weights.append(rng.standard_normal())
                ids.append(rng.integers(targets))
        return at

    for _ in range(trees):
        roots.append(grow(depth))
    return lists, np.array(weights), ids, roots


def walked(forest, x, targets, how):
    lists, weights, ids, roots = forest
    result = np.zeros((len(x), targets))
    for row, values in enumerate(x):
        said = [[] for _ in range(targets)]
        for at in roots:
            while True:
                v = values[lists["feature"][at]]
                yes = MODES[lists["mode"][at]](v, np.float32(lists["split"][at])) or (np.isnan(v) and lists["track"][at])
                way = "yes" if yes else "no"
                at, leaf = lists[way][at], lists[f"{way}_leaf"][at]
                if leaf:
                    break
            said[ids[at]].append(weights[at])
        for t, all_of in enumerate(said):
            result[row, t] = 0 if not all_of else [sum(all_of) / len(roots), sum(all_of), min(all_of), max(all_of)][how]
    return result


def ensemble(forest, targets, how, after=0, kind=np.float32, **other):
    lists, weights, ids, roots = forest
    attributes = {
        "aggregate_function": how, "post_transform": after, "n_targets": targets, "tree_roots": roots,
        "leaf_targetids": [int(k) for k in ids], "leaf_weights": numpy_helper.from_array(weights.astype(kind)),
        "nodes_featureids": [int(k) for k in lists["feature"]], "nodes_splits": numpy_helper.from_array(np.array(lists["split"], kind)),
        "nodes_modes": numpy_helper.from_array(np.array(lists["mode"], np.uint8)),
        "nodes_missing_value_tracks_true": [int(k) for k in lists["track"]],
        "nodes_truenodeids": lists["yes"], "nodes_falsenodeids": lists["no"],
        "nodes_trueleafs": lists["yes_leaf"], "nodes_falseleafs": lists["no_leaf"], **other}
    return node("TreeEnsemble", domain=TREES, **attributes)


def of_trees(s):
    rng = np.random.default_rng(11)
    x = (rng.integers(-4, 5, (9, 5)) / 2).astype(np.float32)
    x[3, 2] = x[5] = np.nan

    def made(n, shape=x.shape):
        return model([n], shape=shape, domains=[TREES])

    for how, name in enumerate(("average", "sum", "least", "most")):
        forest = drawn_forest(rng, 7, 4, 5, 3)
        s.gives(f"the {name} of seven trees", made(ensemble(forest, 3, how)), walked(forest, x, 3, how), near=True, x=x)
    expected = walked(forest, x, 3, 1)
    s.gives("their logistic", made(ensemble(forest, 3, 1, 2)), 1 / (1 + np.exp(-expected)), near=True, x=x)
    e = np.exp(expected - expected.max(1, keepdims=True))
    s.gives("their softmax", made(ensemble(forest, 3, 1, 1)), e / e.sum(1, keepdims=True), near=True, x=x)
    s.refuses("another function of them", made(ensemble(forest, 3, 1, 4)), "post_transform 4")
    s.refuses("another gathering", made(ensemble(forest, 3, 7)), "aggregate_function 7")
    s.refuses("a feature too many", made(ensemble(forest, 3, 1), (9, 2)), "a feature that is not there")
    s.refuses("a target too many", made(ensemble(forest, 2, 1)), "a target that is not there")
    s.refuses("a root too many", made(ensemble(forest, 3, 1, tree_roots=[4096])), "a root that is not there")
    s.refuses("a list that is cut short", made(ensemble(forest, 3, 1, nodes_featureids=[0])), "nodes_featureids of 1 numbers")
    s.refuses("no leaf", made(ensemble(forest, 3, 1, leaf_weights=numpy_helper.from_array(np.zeros(0, np.float32)))), "or without anything")
    back = ({k: [0] for k in forest[0]}, np.ones(1), [0], [0])
    s.refuses("a tree that turns back", made(ensemble(back, 1, 1)), "or that turn back")
    few = ({**{k: [0] for k in forest[0]}, "mode": [6], "yes_leaf": [1], "no_leaf": [1]}, np.ones(1), [0], [0])
    s.refuses("nodes that look for nothing", made(ensemble(few, 1, 1)), "membership_values that are no list")


# ---- convolutions whose places move ----

def sampled(image, y, x):
    """[channels] between four pixels, 0 outside."""
    total = np.zeros(image.shape[0])
    for at_y in (int(np.floor(y)), int(np.floor(y)) + 1):
        for at_x in (int(np.floor(x)), int(np.floor(x)) + 1):
            if 0 <= at_y < image.shape[1] and 0 <= at_x < image.shape[2]:
                total += image[:, at_y, at_x] * (1 - abs(y - at_y)) * (1 - abs(x - at_x))
    return total


def deformed(x, w, offset, mask, stride, dilation, pad, group, offset_group):
    n, c, _, _ = x.shape
    m, per, kh, kw = w.shape
    rows, columns = offset.shape[2:]
    y = np.zeros((n, m, rows, columns))
    moves = offset.reshape(n, offset_group, kh * kw, 2, rows, columns)
    masks = mask.reshape(n, offset_group, kh * kw, rows, columns)
    for b, r, k in np.ndindex(n, rows, columns):
        taps = np.zeros((c, kh * kw))
        for g, t in np.ndindex(offset_group, kh * kw):
            at_y = r * stride[0] - pad[0] + t // kw * dilation[0] + moves[b, g, t, 0, r, k]
            at_x = k * stride[1] - pad[1] + t % kw * dilation[1] + moves[b, g, t, 1, r, k]
            channels = slice(g * c // offset_group, (g + 1) * c // offset_group)
            taps[channels, t] = sampled(x[b, channels], at_y, at_x) * masks[b, g, t, r, k]
        for o in range(m):
            first = o // (m // group) * per
            y[b, o, r, k] = (taps[first:first + per] * w[o].reshape(per, -1)).sum()
    return y


def of_moving_places(s):
    rng = np.random.default_rng(12)

    def draw(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    x, w, offset, bias = draw(2, 4, 6, 7), draw(6, 2, 3, 2), 1.5 * draw(2, 2 * 6 * 2, 3, 8), draw(6)
    mask = rng.random((2, 2 * 6, 3, 8)).astype(np.float32)
    forms = {"strides": [2, 1], "dilations": [1, 2], "pads": [1, 2, 0, 1], "group": 2, "offset_group": 2}
    expected = deformed(x, w, offset, mask, (2, 1), (1, 2), (1, 2), 2, 2)
    more = [info("w", w.shape), info("o", offset.shape), info("b", bias.shape), info("m", mask.shape)]

    def made(names, **other):
        return model([node("DeformConv", names, **{**forms, **other})], opset=22, shape=x.shape, more=more)

    ins = {"x": x, "w": w, "o": offset, "b": bias, "m": mask}
    s.gives("all of it", made(["x", "w", "o", "b", "m"]), expected + bias.reshape(1, 6, 1, 1), near=True, **ins)
    s.gives("without a bias", made(["x", "w", "o", "", "m"]), expected, near=True, **ins)
    plain = deformed(x, w, offset, np.ones_like(mask), (2, 1), (1, 2), (1, 2), 2, 2)
    s.gives("without a mask", made(["x", "w", "o"]), plain, near=True, **ins)
    s.refuses("offsets of other groups", made(["x", "w", "o"], offset_group=1), "offsets that do not fit")
    s.refuses("groups that do not divide", made(["x", "w", "o"], offset_group=3), "offset_group 3 of 4 channels")
    s.refuses("another window", made(["x", "w", "o"], kernel_shape=[3, 3]), "a kernel_shape that is not the weights'")
    s.refuses("a mask that is none", made(["x", "w", "o", "", "o"]), "a mask that does not fit")


# ---- others ----

def of_columns(s):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    at = np.array([[3, 0, -2]])
    made = model([node("ArrayFeatureExtractor", ["x", "i"], domain=TREES)], shape=x.shape, more=[info("i", at.shape, INT64)], domains=[TREES])
    s.gives("columns in their order", made, x[..., at[0]], x=x, i=at)
    made = model([node("ArrayFeatureExtractor", ["x", "i"], domain=TREES)], shape=(4,), more=[info("i", at.shape, INT64)], domains=[TREES])
    s.gives("of a vector, which is a row", made, x[0, 0][at], x=x[0, 0], i=at)


def of_distances(s):
    """Of what is close: ONNX Runtime, by products, finds up to 0.002 between a vector and itself."""
    x = np.random.default_rng(17).standard_normal((4, 8)).astype(np.float32) * 100
    z = np.concatenate([x[:2], x[2:] + np.float32(0.01)])
    expected = np.sqrt(((x[:, None].astype(np.float64) - z[None]) ** 2).sum(-1)).astype(np.float32)
    made = model([node("CDist", ["x", "z"], domain="com.microsoft", metric="euclidean")], shape=x.shape, more=[info("z", z.shape)],
                 domains=["com.microsoft"])
    s.gives("distances, small ones too", made, expected, near=True, x=x, z=z)


def of_examples(s):
    """Scan as opset 8 has it."""
    x = np.random.default_rng(13).standard_normal((2, 3, 2)).astype(np.float32)
    start = np.float32([[1, 2], [3, 4]])
    body = helper.make_graph([helper.make_node("Mul", ["a", "b"], ["sum"]), helper.make_node("Identity", ["sum"], ["out"])], "body",
                             [info("a", [2]), info("b", [2])], [info("sum", [2]), info("out", [2])])
    for turned in 0, 1:
        expected = start[:, None] * np.cumprod(x[:, ::-1] if turned else x, 1)
        for k, want in ((0, expected[:, -1]), (1, expected)):
            outputs = ["", "y"] if k else ["y", ""]
            made = model([node("Scan", ["", "s", "x"], outputs, body=body, num_scan_inputs=1, directions=[turned])], opset=8, shape=x.shape,
                         more=[info("s", start.shape)])
            s.gives(f"two examples, result {k}, turned {turned}", made, want, near=True, x=x, s=start)
    lengths = model([node("Scan", ["n", "s", "x"], ["", "y"], body=body, num_scan_inputs=1)], opset=8, shape=x.shape,
                    more=[info("n", [2], INT64), info("s", start.shape)])
    s.refuses("examples of several lengths", lengths, "examples of several lengths")
    later = model([node("Scan", ["s", "x"], ["", "y"], body=body, num_scan_inputs=1, directions=[0])], opset=9, shape=x.shape,
                  more=[info("s", start.shape)])
    s.refuses("a later opset with its attribute", later, "'directions', which is opset 8's")


def of_first_opsets(s):
    """Recurrent layers as opsets 1 and 3 have them: one attribute more, the same numbers. Range as opset 27 has it."""
    rng = np.random.default_rng(17)
    for kind, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        x, w, r = (rng.standard_normal(shape).astype(np.float32) for shape in ((3, 2, 4), (1, gates * 5, 4), (1, gates * 5, 5)))
        more = [info("w", w.shape), info("r", r.shape)]
        new = model([node(kind, ["x", "w", "r"], hidden_size=5)], opset=14, shape=x.shape, more=more)
        expected = ReferenceEvaluator(new).run(None, {"x": x, "w": w, "r": r})[0]
        for opset in (1, 3, 6) if kind == "GRU" else (1, 6):
            old = model([node(kind, ["x", "w", "r"], hidden_size=5, output_sequence=1)], opset=opset, shape=x.shape, more=more)
            s.gives(f"{kind} of opset {opset}", old, expected, near=True, x=x, w=w, r=r)
    for kind in np.float32, np.float16, np.int64:
        parts = [node("Constant", [], [name], value=numpy_helper.from_array(np.array(v, kind))) for name, v in (("a", 2), ("b", 9), ("c", 3))]
        made = model([*parts, node("Range", ["a", "b", "c"], ["r"], stash_type=1), node("Cast", ["r"], ["f"], to=FLOAT), node("Add", ["f", "x"])],
                     opset=27, shape=(3,))
        s.gives(f"Range of {np.dtype(kind).name} with a stash_type", made, np.float32([2, 5, 8]) + 1, x=np.ones(3, np.float32))


def of_optimisers(s):
    """Steps whose sums are as small as the number that keeps them from 0, which these nodes do not say."""
    domain, x, g = "ai.onnx.preview.training", np.zeros(3, np.float32), np.float32([1e-6, -3e-6, 1e-4])
    more = [info("r", []), info("t", [], INT64), *(info(name, [3]) for name in "gvh")]
    still = {"x": x, "r": np.float32(1), "t": np.int64(0), "g": g, "v": x, "h": x}
    root = np.abs(g.astype(np.float64))
    made = model([node("Adagrad", ["r", "t", "x", "g", "h"], ["y", "sums"], domain=domain)], shape=(3,), more=more, domains=[domain])
    s.gives("a step of Adagrad", made, -g / (root + 1e-6), near=True, **still)
    made = model([node("Adam", ["r", "t", "x", "g", "v", "h"], ["y", "mean", "sums"], domain=domain)], shape=(3,), more=more, domains=[domain])
    s.gives("a step of Adam", made, -0.1 * g / (np.sqrt(0.001) * root + 1e-6), near=True, **still)


def of_heads(s):
    table = [info("c", [1, 6, 2]), info("s", [1, 6, 2])]
    turned = model([node("RotaryEmbedding", ["x", "c", "s"])], opset=23, shape=(1, 6, 4), more=table)
    s.refuses("rows whose heads nobody counts", turned, "a last dim that is not 0 heads")


def of_middles(s):
    """A dim of one is one."""
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    constant = helper.make_node("Constant", [], ["shape"], value_ints=[1, 8])
    expected = np.pad(x[1:2], ((0, 0), (1, 2)))
    s.gives("the middle row, wider", model([constant, node("CenterCropPad", ["x", "shape"])], opset=18, shape=x.shape), expected, x=x)
    none = helper.make_node("Constant", [], ["shape"], value_ints=[0, 8])
    s.refuses("a middle without rows", model([none, node("CenterCropPad", ["x", "shape"])], opset=18, shape=x.shape), "a shape that makes no sense")


def of_halves(s):
    """What is computed of constants of 16 bits when a model is compiled is what the program would compute."""
    x = np.zeros(5, np.float32)
    for code, dtype in ((TensorProto.FLOAT16, np.float16), (TensorProto.BFLOAT16, helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16))):
        a, b = (np.array(v, np.float32).astype(dtype) for v in ([1.1, -3e4, 2e-5, 7, 0.3], [0.7, 4e4, 3e-3, -7, 0.1]))

        def constant(name, value):
            return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value, name))

        for kind, apply in (("Add", np.add), ("Mul", np.multiply), ("Div", np.divide)):
            with np.errstate(over="ignore"):
                expected = apply(a.astype(np.float32), b.astype(np.float32)).astype(dtype).astype(np.float32)
            nodes = [constant("a", a), constant("b", b), node(kind, ["a", "b"], ["c"]), node("Reshape", ["c", "shape"], ["d"]),
                     node("Transpose", ["d"], ["e"], perm=[1, 0]), node("Cast", ["e"], ["f"], to=FLOAT), node("Add", ["f", "x"])]
            shape = helper.make_node("Constant", [], ["shape"], value_ints=[5, 1])
            s.gives(f"{kind} of {np.dtype(dtype).name}", model([shape, *nodes], shape=(5,)), expected.reshape(1, 5), x=x)


# ---- sequences and optionals that come in and leave ----

def listed(nodes, inputs, outputs, opset=18):
    def declared(name, of, shape):
        element = helper.make_tensor_type_proto(FLOAT, shape)
        kind = {"list": helper.make_sequence_type_proto, "optional": helper.make_optional_type_proto, "tensor": lambda t: t,
                "optional list": lambda t: helper.make_optional_type_proto(helper.make_sequence_type_proto(t))}[of]
        return helper.make_value_info(name, kind(element))

    graph = helper.make_graph(nodes, "g", [declared(*i) for i in inputs], [declared(*o) for o in outputs])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])


def gives_all(s, what, made, expected, *options, **inputs):
    """Results by their names; none beside them."""
    done = s.compile(made, *options)
    s.check(f"{what}: {done.stderr}", done.returncode == 0)
    if done.returncode:
        return
    words = []
    for k, (name, value) in enumerate(inputs.items()):
        np.save(os.path.join(s.folder, f"in{k}.npy"), value)
        words += ["--input", f"{name}={os.path.join(s.folder, f'in{k}.npy')}"]
    for k, name in enumerate(expected):
        words += ["--output", f"{name}={os.path.join(s.folder, f'out{k}.npy')}"]
    done = tools.call([os.path.join(s.bin, "pb-run"), os.path.join(s.folder, "m.pbe"), *words])
    s.check(f"{what}: {done.stderr}", done.returncode == 0 and
            all(np.array_equal(np.load(os.path.join(s.folder, f"out{k}.npy")), v) for k, v in enumerate(expected.values())))


def of_sequences(s):
    a, b = np.float32([1, 2]), np.float32([[3, 4, 5]])
    turned = listed([node("Identity", ["x"], ["t"]), node("SequenceInsert", ["t", "e"], ["y"], domain="")],
                    [("x", "list", None), ("e", "tensor", [2])], [("y", "list", None)])
    shapes = ["--input-shape=x[0]=2", "--input-shape=x[1]=1x3"]
    gives_all(s, "two and one more", turned, {"y[0]": a, "y[1]": b, "y[2]": -a}, "--items=x=2", *shapes, **{"x[0]": a, "x[1]": b, "e": -a})
    gives_all(s, "none and one more", turned, {"y[0]": a}, "--items=x=0", e=a)
    s.refuses("a length that nobody says", turned, "x: an input that is a sequence, and nothing says how many", "--items 'NAME=3'")
    s.refuses("a sequence that is left out", turned, "is a sequence, which may be empty but has to be there", options=["--items=x=none"])
    s.refuses("a length of a tensor", turned, "e: is a tensor, not a sequence", options=["--items=x=0", "--items=e=1"])
    s.refuses("a length of no input", turned, "no input is named 'z'", options=["--items=z=1"])
    s.refuses("no length", turned, "'x=two' gives no sequence a length", options=["--items=x=two"])
    s.refuses("a length below 0", turned, "'x=-1' gives no sequence a length", options=["--items=x=-1"])
    s.refuses("two lengths", turned, "'x' twice", options=["--items=x=1", "--items=x=2"])
    s.refuses("an element without a shape", turned, "x[1]: an input whose shape is not known", options=["--items=x=2", shapes[0]])
    same = listed([node("SequenceConstruct", ["e", "e"], ["y"])], [("e", "tensor", [2])], [("y", "list", None), ("e", "tensor", [2])])
    gives_all(s, "an input twice", same, {"y[0]": a, "y[1]": a}, e=a)
    clash = listed([node("Neg", ["x[0]"], ["y"])], [("x", "list", [2]), ("x[0]", "tensor", [2])], [("y", "tensor", [2])])
    s.refuses("an element whose name is taken", clash, "has a tensor beside it that is named 'x[0]'", options=["--items=x=1"])

    for of, items, want in (("optional", 1, 1), ("optional", "none", 0), ("optional list", 0, 1), ("optional list", "none", 0)):
        nodes = [node("OptionalHasElement", ["x"], ["h"]), node("Cast", ["h"], ["f"], to=FLOAT), node("Add", ["f", "e"], ["y"])]
        made = listed(nodes, [("x", of, [2]), ("e", "tensor", [1])], [("y", "tensor", None)])
        gives_all(s, f"whether an {of} of {items} is there", made, {"y": np.float32([want + 1])}, f"--items=x={items}", e=np.ones(1, np.float32),
                  **({"x": a} if items == 1 else {}))
    made = listed([node("OptionalGetElement", ["x"], ["y"])], [("x", "optional", [2])], [("y", "tensor", [2])])
    gives_all(s, "what is in an optional", made, {"y": a}, "--items=x=1", x=a)
    s.refuses("what is in one that is empty", made, "of an optional without an element", options=["--items=x=none"])
    s.refuses("two in an optional", made, "is an optional of one tensor", options=["--items=x=2"])

    def branch(name, *tensors):
        nodes = [helper.make_node("Constant", [], [f"{name}{k}"], value=numpy_helper.from_array(v)) for k, v in enumerate(tensors)]
        nodes.append(helper.make_node("SequenceConstruct", [f"{name}{k}" for k in range(len(tensors))], [name]))
        return helper.make_graph(nodes, name, [], [helper.make_value_info(name, helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, None)))])

    def chosen(yes, no):
        less = [helper.make_node("ReduceSum", ["e"], ["sum"], keepdims=0), helper.make_node("Sub", ["sum", "sum"], ["zero"]),
                helper.make_node("Less", ["sum", "zero"], ["is"])]
        return listed([*less, node("If", ["is"], ["y"], then_branch=yes, else_branch=no)], [("e", "tensor", [2])], [("y", "list", None)])

    made = chosen(branch("yes", a, b), branch("no", 2 * a, 3 * b))
    gives_all(s, "by data, no", made, {"y[0]": 2 * a, "y[1]": 3 * b}, e=a)
    gives_all(s, "by data, yes", made, {"y[0]": a, "y[1]": b}, e=-a)
    s.refuses("sequences of two lengths by data", chosen(branch("yes", a, b), branch("no", a)), "not sequences of one length")
    s.refuses("elements of two shapes by data", chosen(branch("yes", a), branch("no", b)), "of two types or shapes")


if __name__ == "__main__":
    sys.exit(run(of_trees, of_moving_places, of_columns, of_distances, of_examples, of_first_opsets,
                 of_optimisers, of_heads, of_middles, of_halves, of_sequences))
