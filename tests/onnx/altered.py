"""ONNX's own tests with other attributes, extents, types and constants than they came with, against ONNX Runtime and ONNX's
reference.

    tests/onnx/altered.py --bin build/bin --count 1000 --seed 1 [--only REGEX] [--keep DIR] [--target cpu]

A case is one test's model altered in one to three places. What neither judge takes is no case; what the compiler refuses must be
a named error; a result is wrong where it agrees with neither. The judges run in a process of their own: both can end by signals."""

import argparse
import math
import multiprocessing
import re
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import ml_dtypes  # noqa: E402
import nodes  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from exact import session_of  # noqa: E402
from onnx import AttributeProto, TensorProto, helper, numpy_helper  # noqa: E402

FLOATS = [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE]
INTEGERS = [TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT32]
# What is drawn, has no numbers or no one result (division by 0).
LEFT_OUT = re.compile(r"_div_u?int|bernoulli|random|dropout|training|string|optional|sequence|split_to|loop|scan|_if_|tfidf|regex|label_encoder"
                      r"|image_decoder|nonmax|adam|adagrad|momentum|gradient")
LARGEST = 40000  # elements of an operand
SECONDS = 20  # for a judge


# ---- altering ----

def extents_changed(rng, values):
    """Every extent of the operands has one new one, wherever it stands: operands that match still do."""
    known = sorted({e for v in values for e in v.shape})
    if not known:
        return values
    count = 1 if rng.random() < 0.6 else len(known)
    chosen = rng.choice(known, size=min(count, len(known)), replace=False)
    new = {int(e): int(rng.choice([1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 40, 64])) for e in chosen if e not in (0, 1) or rng.random() < 0.1}
    shapes = [[new.get(e, e) for e in v.shape] for v in values]
    if any(math.prod(shape) > LARGEST for shape in shapes):
        return values
    return [v if list(v.shape) == shape else filled(rng, shape, v) for v, shape in zip(values, shapes)]


def filled(rng, shape, like):
    """Numbers of the kind that `like` holds: its own, drawn with repetition."""
    if like.size == 0:
        return np.zeros(shape, like.dtype)
    drawn = rng.choice(like.reshape(-1), size=shape)
    if like.dtype.kind == "f" and like.size > 2 and rng.random() < 0.8:
        drawn = (drawn * rng.uniform(0.5, 1.5, size=shape)).astype(like.dtype)
    return np.asarray(drawn, like.dtype).reshape(shape)


def attribute_changed(rng, node):
    if not node.attribute:
        return False
    a = node.attribute[int(rng.integers(len(node.attribute)))]
    if rng.random() < 0.15:
        node.attribute.remove(a)
        return True
    if a.type == AttributeProto.INT:
        a.i = int(rng.choice([0, 1, -1, 2, -2, 3, 1 - a.i, a.i + 1, a.i - 1]))
    elif a.type == AttributeProto.FLOAT:
        a.f = float(rng.choice([0, 1, -1, 0.5, 2, -0.3, a.f * 1.5]))
    elif a.type == AttributeProto.INTS and len(a.ints):
        way = rng.random()
        if way < 0.6:
            k = int(rng.integers(len(a.ints)))
            a.ints[k] = int(rng.choice([0, 1, 2, 3, -1, a.ints[k] + 1, a.ints[k] - 1]))
        elif way < 0.85:
            order = rng.permutation(len(a.ints))
            a.ints[:] = [a.ints[int(k)] for k in order]
        else:
            del a.ints[int(rng.integers(len(a.ints)))]
    elif a.type == AttributeProto.FLOATS and len(a.floats):
        k = int(rng.integers(len(a.floats)))
        a.floats[k] = float(rng.choice([0, 1, 0.5, -1, 2.5]))
    elif a.type == AttributeProto.STRING:
        others = STRINGS.get(a.name)
        if not others:
            return False
        a.s = rng.choice(others).encode()
    else:
        return False
    return True


STRINGS = {"auto_pad": ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"], "direction": ["forward", "reverse", "bidirectional", "LEFT", "RIGHT"],
           "mode": ["nearest", "linear", "cubic", "constant", "edge", "reflect", "wrap", "DCR", "CRD", "bilinear", "bicubic"],
           "padding_mode": ["zeros", "border", "reflection"], "reduction": ["none", "add", "mul", "max", "min", "sum", "mean"],
           "coordinate_transformation_mode": ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric",
                                              "tf_crop_and_resize", "output_half_pixel"],
           "nearest_mode": ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"], "approximate": ["none", "tanh"],
           "keep_aspect_ratio_policy": ["stretch", "not_larger", "not_smaller"]}


def attribute_added(rng, node):
    try:
        schema = onnx.defs.get_schema(node.op_type, domain=node.domain)
    except onnx.defs.SchemaError:
        return False
    there = {a.name for a in node.attribute}
    free = sorted(n for n in schema.attributes if n not in there)
    if not free:
        return False
    name = str(rng.choice(free))
    kind = schema.attributes[name].type
    if kind == onnx.defs.OpSchema.AttrType.INT:
        value = int(rng.choice([0, 1, -1, 2]))
    elif kind == onnx.defs.OpSchema.AttrType.FLOAT:
        value = float(rng.choice([0, 0.5, 1, 2]))
    elif kind == onnx.defs.OpSchema.AttrType.INTS:
        value = [int(k) for k in rng.choice([0, 1, 2], size=int(rng.choice([1, 2, 3, 4])))]
    elif kind == onnx.defs.OpSchema.AttrType.STRING and STRINGS.get(name):
        value = str(rng.choice(STRINGS[name]))
    else:
        return False
    node.attribute.append(helper.make_attribute(name, value))
    return True


def type_changed(rng, values, may):
    """All floats, or all integers of one type, have another; those that say shapes have their own."""
    kinds = sorted({v.dtype.name for v, can in zip(values, may) if can and v.dtype.name in ("float32", "float16", "float64", "int8", "uint8", "int16", "int32", "int64", "uint32")})
    if not kinds:
        return values
    old = str(rng.choice(kinds))
    group = FLOATS if old.startswith("float") else INTEGERS
    new = helper.tensor_dtype_to_np_dtype(int(rng.choice(group)))
    with np.errstate(all="ignore"):
        return [v.astype(new) if can and v.dtype.name == old else v for v, can in zip(values, may)]


def place_changed(rng, node, values):
    """One integer is another; labels are none of the classes where they are negative."""
    whole = [k for k, v in enumerate(values) if v.dtype.kind in "iu" and v.size]
    if not whole:
        return values
    k = int(rng.choice(whole))
    flat = values[k].copy().reshape(-1)
    signed = flat.dtype.kind == "i" and "Loss" not in node.op_type
    flat[int(rng.integers(flat.size))] = int(rng.choice([0, 1, 2, 3, -1, -2] if signed else [0, 1, 2, 3]))
    return [*values[:k], flat.reshape(values[k].shape), *values[k + 1:]]


def operand_dropped(rng, node, values, names):
    """An operand that may be missing is."""
    last = len(node.input) - 1
    if last < 1 or node.input[last] not in names:
        return values, names
    k = names.index(node.input[last])
    del node.input[last]
    return values[:k] + values[k + 1:], names[:k] + names[k + 1:]


def saying_shapes(graph, values):
    """The operands that say a shape or where something is: constants, mostly."""
    found = set()
    for node in graph.node:
        for k, name in enumerate(node.input):
            if name in values and (k in nodes.SHAPES.get(node.op_type, ()) or (k > 0 and node.op_type not in nodes.SHAPES and values[name].dtype.kind == "i")):
                found.add(name)
    return found


def altered(rng, model, values):
    """The model with other places and its inputs' values; None where nothing could be changed."""
    graph = model.graph
    names = [v.name for v in graph.input]
    body = [n for n in graph.node if n.op_type != "Constant"]
    if not body or len(names) != len(values):
        return None
    for _ in range(int(rng.integers(1, 4))):
        node = body[int(rng.integers(len(body)))]
        way = rng.random()
        if way < 0.4:
            attribute_changed(rng, node) or attribute_added(rng, node)
        elif way < 0.5:
            attribute_added(rng, node)
        elif way < 0.8:
            values = extents_changed(rng, values)
        elif way < 0.9:
            shapes = saying_shapes(graph, dict(zip(names, values)))
            values = type_changed(rng, values, [name not in shapes for name in names])
        elif way < 0.95:
            values, names = operand_dropped(rng, node, values, names)
        else:
            values = place_changed(rng, node, values)
    if any(v.size > LARGEST for v in values):
        return None
    shapes = saying_shapes(graph, dict(zip(names, values)))
    del graph.input[:], graph.value_info[:]
    inputs = {}
    for name, value in zip(names, values):
        if name in shapes or (rng.random() < 0.1 and name in {n for node in graph.node for n in node.input[1:]}):
            graph.initializer.append(numpy_helper.from_array(value, name))
        else:
            graph.input.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
            inputs[name] = value
    # an output's type is the judges' to say
    return model, inputs


# ---- judging ----

def judge(text, inputs):
    """(outputs of ONNX Runtime, of ONNX's reference), None for who takes it not"""
    said = []
    warnings.simplefilter("ignore")
    for run in by_runtime, by_reference:
        try:
            said.append(run(text, inputs))
        except Exception:
            said.append(None)
    return said


def by_runtime(text, inputs):
    return session_of(onnx.load_from_string(text)).run(None, inputs)


def by_reference(text, inputs):
    from onnx.reference import ReferenceEvaluator

    with np.errstate(all="ignore"):
        return [np.asarray(v) for v in ReferenceEvaluator(onnx.load_from_string(text)).run(None, inputs)]


def serve(pipe):
    try:
        while True:
            pipe.send(judge(*pipe.recv()))
    except EOFError:
        pass


class Judges:
    """A process that answers; one that died or takes too long is begun anew."""

    def __init__(self):
        self.process = None

    def ask(self, text, inputs):
        if self.process is None or not self.process.is_alive():
            self.pipe, theirs = multiprocessing.Pipe()
            self.process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
            self.process.start()
            theirs.close()
        try:
            self.pipe.send((text, inputs))
            if self.pipe.poll(SECONDS):
                return self.pipe.recv()
        except (EOFError, OSError):
            pass
        self.process.kill()
        self.process = None
        return [None, None]


def same(actual, expected):
    """Whether they are the same numbers, as far as the type and a sum of some hundred terms say."""
    expected = np.asarray(expected)
    if actual.shape != expected.shape or (actual.dtype != expected.dtype and actual.dtype.kind != "V"):
        return False
    if actual.dtype.kind == "V":
        actual = actual.view(expected.dtype).astype(np.float32)
    if expected.dtype.kind == "V" or expected.dtype.name == "bfloat16":
        unit = 2e-2 if expected.dtype.name == "bfloat16" else 0
        return np.allclose(actual.astype(np.float32), expected.astype(np.float32), rtol=unit, atol=unit, equal_nan=True)
    if expected.dtype.kind not in "fc":
        return np.array_equal(actual, expected)
    a, e = (v.astype(np.complex128 if expected.dtype.kind == "c" else np.float64) for v in (actual, expected))
    finite = e[np.isfinite(e)]
    size = np.abs(finite).max() if finite.size else 0
    unit = {"float16": 4e-3, "float64": 1e-7}.get(expected.dtype.name, 3e-5)
    return np.allclose(a, e, rtol=max(unit, 1e-3), atol=unit * size + 1e-30, equal_nan=True)


def holds(kind, values):
    """Whether a type of integers has numbers for them all; floats have."""
    try:
        limits = ml_dtypes.iinfo(kind)
    except ValueError:
        return True
    values = np.trunc(values.astype(np.float64))
    return bool(np.all((values >= float(limits.min)) & (values <= float(limits.max))))


# ---- the run ----

def cases(options):
    folders = [*sorted((nodes.DATA / "node").iterdir()), *sorted(nodes.cases_of_package().iterdir())]
    return [f for f in folders if re.search(options.only, f.name) and not LEFT_OUT.search(f.name)]


def read(folder):
    model = onnx.load(folder / "model.onnx")
    if nodes.strings(model) or model.graph.initializer or any(nodes.held(v.type)[1] or nodes.held(v.type)[2] for v in [*model.graph.input, *model.graph.output]):
        return None
    given = sorted(folder.glob("test_data_set_*"))
    if not given:
        return None
    return model, [nodes.read_values(given[0] / f"input_{k}.pb", v.type)[""] for k, v in enumerate(model.graph.input)]


def run_case(options, rng, folder, work, judges):
    """(outcome, what there is to say)"""
    got = read(folder)
    made = got and altered(rng, *got)
    if not made:
        return "no case", ""
    model, inputs = made
    model.ir_version = min(model.ir_version, 10)
    for output in model.graph.output:
        nodes.held(output.type)[0].ClearField("shape")
    text = model.SerializeToString()
    said = judges.ask(text, inputs)
    if said[0] is None and said[1] is None:
        return "no case", ""
    types = [np.asarray(v).dtype for v in (said[0] if said[0] is not None else said[1])]
    if "cast" in folder.name and not all(holds(types[0], v) for v in inputs.values()):
        return "no case", ""  # out of range: each judge's own way, and a page says ours
    for output, kind in zip(model.graph.output, types):
        if kind.kind in "OUS":
            return "no case", ""
        nodes.held(output.type)[0].elem_type = helper.np_dtype_to_tensor_dtype(kind)
    path, engine = work / "m.onnx", work / "m.pbe"
    path.write_bytes(model.SerializeToString())
    made, refused, why = nodes.compiled(path, engine)
    if not made:
        agree = said[0] is not None and said[1] is not None and all(same(np.asarray(a), b) for a, b in zip(said[0], said[1]))
        return ("refused, both judges agree" if agree else "refused") if refused else "BROKEN", why
    args = []
    for k, (name, value) in enumerate(inputs.items()):
        nodes.save(work / f"in{k}.npy", value)
        args += ["--input", f"{name}={work / f'in{k}.npy'}"]
    for k, output in enumerate(model.graph.output):
        args += ["--output", f"{output.name}={work / f'out{k}.npy'}"]
    done = tools.call([f"{nodes.BIN}/pb-run", str(engine), *args], timeout=120)
    if done.returncode:
        named = done.returncode == 1 and "PB" in done.stderr
        return ("refused at run" if named else "BROKEN"), f"pb-run {done.returncode}: {done.stderr.strip()[-300:]}"
    results = [np.load(work / f"out{k}.npy") for k in range(len(model.graph.output))]
    right = [v is not None and all(same(a, b) for a, b in zip(results, v)) for v in said]
    if any(right):
        return "right", ""
    if said[0] is not None and said[1] is not None and not all(same(np.asarray(a), b) for a, b in zip(said[0], said[1])):
        return "judges disagree", describe(results, said)
    return "WRONG", describe(results, said)


def describe(results, said):
    def brief(v):
        return "none" if v is None else "; ".join(f"{np.asarray(x).dtype}{list(np.asarray(x).shape)} {np.asarray(x).reshape(-1)[:6]}" for x in v)

    return f"ours {brief(results)} | runtime {brief(said[0])} | reference {brief(said[1])}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=".")
    parser.add_argument("--keep", type=Path, help="where models that are not right are kept")
    parser.add_argument("--number", type=int, help="this one case of the seed")
    parser.add_argument("--show", default="", help="outcomes to print besides the bad ones, e.g. refused")
    options = parser.parse_args()
    nodes.BIN, nodes.TARGET = options.bin, options.target
    folders, judges, counts = cases(options), Judges(), Counter()
    for number in range(options.count) if options.number is None else [options.number]:
        rng = np.random.default_rng([options.seed, number])
        folder = folders[int(rng.integers(len(folders)))]
        with tempfile.TemporaryDirectory() as work:
            outcome, why = run_case(options, rng, folder, Path(work), judges)
            counts[outcome] += 1
            bad = outcome in ("WRONG", "BROKEN")
            if bad or (options.show and re.search(options.show, outcome)):
                print(f"{outcome}: {number} {folder.name}: {why}", flush=True)
            if bad and options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{options.seed}-{number}.onnx").write_bytes((Path(work) / "m.onnx").read_bytes())
    print(", ".join(f"{n} {what}" for what, n in counts.most_common()))
    return 1 if counts["WRONG"] or counts["BROKEN"] else 0


if __name__ == "__main__":
    sys.exit(main())
