"""ONNX's own tests on the CPU: each model of libonnx-testdata is compiled, run on the inputs that lie beside it and compared.

    tests/onnx/nodes.py --bin build/bin [--only REGEX] [--every N] [--part 0/1] [--target cpu] [--out FILE.json] [--page FILE.md] [--write]
    tests/onnx/nodes.py --bin build/bin --sets node --erased 0.93 [--page FILE.md]

Equal means what ONNX's runner means: integers and truths equal, floats within 1e-3 of the value and 1e-7, narrow ones within two
units in their last place. Where a
model is refused, operands that say a shape (axes, starts, k, ...) and come as inputs are bound with --bind: the test then
counts as bound, not as passed. A
refusal by the compiler is counted with its reason; everything else that is not right is a failure, and makes the run fail,
and so does another outcome than outcomes.txt has (--write makes that anew, of all tests, with --package; with --only or
--part those lines alone). --erased: the same without the shapes that the models declare of their outputs, of which at least
that share of the tests over numbers must pass and none fail; outcomes are not looked at."""

import argparse
import json
import re
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import outcomes  # noqa: E402
import plain_loops  # noqa: E402
import tools  # noqa: E402

tools.require("numpy", "onnx")
tools.fill_memory()
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import numpy_helper  # noqa: E402

DATA = Path("/usr/share/libonnx-testdata/data")
PINS = Path(__file__).parent / "outcomes.txt"
ON_ONE_THREAD = defaultdict(set)  # by operator: tests of which a part runs as plain loops
SETS = "node", "simple", "pytorch-operator", "pytorch-converted"
RTOL, ATOL = 1e-3, 1e-7
NARROW = {"float16": 2**-9, "bfloat16": 2**-6}  # two units in the last place

# What is drawn at random: the files hold one draw.
RANDOM = re.compile(r"bernoulli|training_dropout(?!.*zero_ratio)")


# In every sample: they once went wrong where no sample had their like.
ALWAYS = re.compile(r"^test_dequantizelinear_(uint4|e4m3fn_zero_point)$")

# Where the expected numbers hold the noise of how they were made: 1e-7 of a transform's sum of tens, where 0 is right.
NOISE = {"test_dft_inverse_opset19": 1e-6, "test_dft_inverse": 1e-6}
# Tests whose data are not what their models say.
WRONG = {"test_adam_multiple": "data of epsilon 0.01, which the node does not say"}


def read_tensor(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def held(type_of):
    """(the type of the tensors in it, whether it is a sequence, whether it is an optional)"""
    kinds = []
    while type_of.WhichOneof("value") not in ("tensor_type", None):
        kinds.append(type_of.WhichOneof("value"))
        type_of = getattr(type_of, kinds[-1]).elem_type
    return type_of.tensor_type, "sequence_type" in kinds, "optional_type" in kinds


def strings(model):
    return any(held(v.type)[0].elem_type == onnx.TensorProto.STRING for v in [*model.graph.input, *model.graph.output])


def read_values(path, declared):
    """What a file holds by names behind the input's: a tensor by none, those of a sequence by their places."""
    _, lists, may_miss = held(declared)
    if not lists and not may_miss:
        return {"": read_tensor(path)}
    if may_miss:
        value = onnx.OptionalProto()
        value.ParseFromString(path.read_bytes())
        if value.elem_type == onnx.OptionalProto.UNDEFINED:
            return {}
        if not lists:
            return {"": numpy_helper.to_array(value.tensor_value)}
        value = value.sequence_value
    else:
        value = onnx.SequenceProto()
        value.ParseFromString(path.read_bytes())
    return {f"[{k}]": numpy_helper.to_array(t) for k, t in enumerate(value.tensor_values)}


def input_options(name, values, declared):
    """What the compiler has to be told of an input: how many tensors a sequence holds, and shapes that the model leaves open."""
    tensor, lists, may_miss = held(declared)
    if not lists and not may_miss:
        is_open = any(d.dim_param for d in tensor.shape.dim) and 0 not in values[""].shape
        return [f"--input-shape={name}={'x'.join(map(str, values[''].shape))}"] if is_open else []
    missing = may_miss and not values
    shapes = [f"--input-shape={name}{at}={'x'.join(map(str, v.shape))}" for at, v in values.items() if v.ndim]
    return [f"--items={name}={'none' if missing else len(values)}", *shapes]


def save(path, value):
    codes = value.dtype.name[:4] in ("floa", "int2", "int4", "uint") and value.dtype.itemsize == 1 and value.dtype != np.uint8
    np.save(path, value.view("|V2") if value.dtype.name == "bfloat16" else value.view(np.uint8).view("|V1") if codes else value)


def compiled(model, engine, *options):
    """(engine made, it was refused, what was said: of a refusal the first line)"""
    done = tools.call([f"{BIN}/pbc", str(model), f"--target={TARGET}", "-o", str(engine), *options], timeout=120)
    if not done.returncode:
        return True, False, done.stderr
    lines = [line for line in done.stderr.strip().splitlines() if "error: " in line]
    known = done.returncode == 1 and lines and not any("PB4090" in line or "PB4200" in line for line in lines)
    return False, known, (lines or [done.stderr.strip() or f"exit code {done.returncode}"])[0]


def close(actual, expected, atol=ATOL):
    if actual.dtype == "V2" and expected.dtype == np.uint16:  # the test has it as its bits, and any NaN is one
        expected = expected.view(onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.BFLOAT16))
    kind = expected.dtype.name
    if actual.dtype == "V1" and expected.dtype.itemsize == 1:
        actual = actual.view(np.uint8).view(expected.dtype)
        both = actual.astype(np.float32), expected.astype(np.float32)
        return "" if actual.shape == expected.shape and np.array_equal(*both, equal_nan=True) else f"{both[0]}, expected {both[1]}"
    if actual.dtype.kind == "V" or expected.dtype.name == "bfloat16":
        expected, actual = expected.astype(np.float32), actual.view(expected.dtype).astype(np.float32)
    if actual.size != expected.size or (actual.shape != expected.shape and expected.shape):
        return f"shape {actual.shape}, expected {expected.shape}"
    if actual.dtype != expected.dtype:
        return f"type {actual.dtype}, expected {expected.dtype}"
    actual = actual.reshape(expected.shape)
    if expected.dtype.kind in "fc":
        same = np.allclose(actual, expected, rtol=max(RTOL, NARROW.get(kind, 0)), atol=atol, equal_nan=True)
    else:
        same = np.array_equal(actual, expected)
    if same:
        return ""
    wrong = np.argwhere(~np.isclose(actual, expected, rtol=RTOL, atol=ATOL, equal_nan=True))
    at = tuple(wrong[0]) if len(wrong) else ()
    return f"{len(wrong)} of {actual.size} differ, at {at}: {actual[at]}, expected {expected[at]}"


# Which operands say a shape, or where something is.
SHAPES = {"Resize": (1, 2, 3), "Upsample": (1,), "Slice": (1, 2, 3, 4), "Pad": (1, 3), "Range": (0, 1, 2), "ConstantOfShape": (0,),
          "HannWindow": (0,), "HammingWindow": (0,), "BlackmanWindow": (0,), "MaxUnpool": (2,), "DFT": (1, 2), "Dropout": (1, 2), "STFT": (1, 3),
          "MelWeightMatrix": (0, 1, 2, 3, 4), "Loop": (0, 1), "If": (0,), "Compress": (1,), "OneHot": (1,),
          "NonZero": (0,), "Unique": (0,), "NonMaxSuppression": (0, 1, 2, 3, 4)}


def shape_operands(model, inputs, name_of_test):
    expanded = "expanded" in name_of_test
    found = set()
    for node in model.graph.node:
        for k, name in enumerate(node.input):
            whole = name in inputs and np.load(inputs[name]).dtype in (np.int64, np.int32)
            whole = whole or (name in inputs and "test_range" in name_of_test)
            if name in inputs and (k in SHAPES[node.op_type] if node.op_type in SHAPES else (k > 0 or expanded) and whole):
                found.add(name)
    return sorted(found)


def without_shapes(model, work):
    """The model's file without what it declares of its outputs' shapes."""
    for output in model.graph.output:
        held(output.type)[0].ClearField("shape")
    path = work / "erased.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def run_one(folder, work, erased=False):
    """("passed" | "bound" | "refused" | "failed" | "skipped", reason)"""
    path, engine = folder / "model.onnx", work / "m.pbe"
    model = onnx.load(path)
    if erased:
        path = without_shapes(model, work)
    if folder.name in WRONG:
        return "refused", WRONG[folder.name]
    if strings(model):
        return "refused", "strings"
    initialisers = {t.name for t in model.graph.initializer}
    names = [v.name for v in model.graph.input if v.name not in initialisers]
    given = sorted(folder.glob("test_data_set_*"))[0]
    inputs, told = {}, []
    for k, name in enumerate(names):
        tensor = held(model.graph.input[k].type)[0]
        values = read_values(given / f"input_{k}.pb", model.graph.input[k].type)
        told += input_options(name, values, model.graph.input[k].type)
        for at, value in values.items():
            if tensor.elem_type == onnx.TensorProto.BFLOAT16 and value.dtype == np.uint16:
                value = value.view(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))  # as its bits
            if value.dtype != onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type):
                return "refused", "the test's data are of another type than its model"
            shape = [d.dim_value for d in tensor.shape.dim]
            if all(shape) and list(value.shape) != shape and not told:
                return "refused", "the test's data are of another shape than its model"
            inputs[name + at] = work / f"in{len(inputs)}.npy"
            save(inputs[name + at], value)
    made, refused, why = compiled(path, engine, *told)
    bound = []
    if refused:
        bound = shape_operands(model, inputs, folder.name)
        if bound:
            made, refused, why = compiled(path, engine, *told, *(f"--bind={n}={inputs[n]}" for n in bound))
    if not made:
        return ("refused" if refused else "failed"), why
    if TARGET == "cpu" and plain_loops.is_said(why):
        ON_ONE_THREAD[operator_of(folder)].add(folder.name)
    args = [word for n in inputs if n not in bound for word in ("--input", f"{n}={inputs[n]}")]
    outputs = {v.name + at: value for k, v in enumerate(model.graph.output)
               for at, value in read_values(given / f"output_{k}.pb", v.type).items()}
    for k, name in enumerate(outputs):
        args += ["--output", f"{name}={work / f'out{k}.npy'}"]
    done = tools.call([f"{BIN}/pb-run", str(engine), *args], timeout=120)
    if done.returncode:
        return "failed", f"pb-run: {done.stderr.strip()[-300:]}"
    for k, (name, expected) in enumerate(outputs.items()):
        why = close(np.load(work / f"out{k}.npy"), expected, NOISE.get(folder.name, ATOL))
        if why:
            return "failed", f"{name}: {why}"
    return ("bound" if bound else "passed"), ""






def cases_of_package():
    """The folder of the package's cases, written once for all runs of a build."""
    folder = BIN / ".." / "networks" / f"onnx-cases-{onnx.__version__}-all"
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as mine:
            write_cases(Path(mine) / "cases")
            try:
                (Path(mine) / "cases").rename(folder)
            except OSError:  # another run was first
                if not folder.exists():
                    raise
    return folder


def write_cases(folder):
    """The package's cases in the form of the others."""
    warnings.simplefilter("ignore")
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        if case.model is None or not case.data_sets:
            continue
        data = folder / case.name / "test_data_set_0"
        data.mkdir(parents=True)
        (folder / case.name / "model.onnx").write_bytes(case.model.SerializeToString())
        ends = zip(("input", "output"), case.data_sets[0], (case.model.graph.input, case.model.graph.output))
        for kind, values, declared in ends:
            for k, (value, of) in enumerate(zip(values, declared)):
                (data / f"{kind}_{k}.pb").write_bytes(proto_of(value, of.type).SerializeToString())


def proto_of(value, declared):
    """As ONNX's own files have it."""
    if isinstance(value, onnx.TensorProto):
        return value
    _, lists, may_miss = held(declared)
    if may_miss:
        return numpy_helper.from_optional(value)
    return numpy_helper.from_list(value) if lists else numpy_helper.from_array(np.asarray(value))


def operator_of(folder):
    """What the test is a test of: the operator of its name's expansion, or the one that is no constant."""
    try:
        nodes = onnx.load(folder / "model.onnx").graph.node
    except Exception:
        return "?"
    kinds = [n.op_type for n in nodes if n.op_type != "Constant"]
    if folder.name.endswith("_expanded") or "_expanded_ver" in folder.name:
        return "functions, expanded"
    return kinds[0] if len(set(kinds)) == 1 else "several"


COLUMNS = "passed", "bound", "refused", "failed"


ERASED = "The node tests without the shapes"  # how the page's line of --erased begins


def erased_line(path):
    """What the page says of them today: that is another run's."""
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line for line in lines if line.startswith(ERASED)), f"{ERASED} that the models declare of their outputs: not run.")


def page(counts, reasons, sets, erased):
    """sdk-docs/conformance-onnx.md"""
    out = [
        "# ONNX's own tests on the CPU",
        "",
        "Made by `tests/onnx/nodes.py --bin build/bin --page sdk-docs/conformance-onnx.md` over Debian's `libonnx-testdata`",
        "(ONNX 1.12); with `--package` over the cases of the Python package (ONNX 1.23, opset 28) too. Passed: compiled, run on inputs that come at run time, integers equal and floats within 1e-3 of the value",
        "and 1e-7, as ONNX's own runner has it. Bound: the same, where operands that say a shape (axes, starts, k, ...) come as",
        "inputs there and were given with `--bind`. Refused: an error that names the operator and the reason. Tests whose results",
        "are drawn at random are left out.",
        "",
        "| set | passed | bound | refused | failed |",
        "| --- | --: | --: | --: | --: |",
    ]
    out += [f"| {name} | " + " | ".join(str(c[k]) for k in COLUMNS) + " |" for name, c in sets.items()]
    out += ["", erased]
    out += ["", "The node tests by operator:", "", "| operator | passed | bound | refused | failed |", "| --- | --: | --: | --: | --: |"]
    out += [f"| {op} | " + " | ".join(str(c[k]) for k in COLUMNS) + " |" for op, c in sorted(counts.items())]
    out += ["", "What is refused, by reason:", "", "| tests | reason |", "| --: | --- |"]
    out += [f"| {n} | {why} |" for why, n in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--package", action="store_true", help="the cases of the Python package onnx too, of its last opset")
    parser.add_argument("--only", default=".")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--part", default="0/1", help="K/N: the K-th of N runs of tests that follow each other")
    parser.add_argument("--write", action="store_true", help="pin the outcomes")
    parser.add_argument("--erased", type=float, metavar="SHARE", help="outputs' declared shapes taken away; what must pass")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--page", type=Path, help="the conformance page, to be written")
    options = parser.parse_args()
    if not options.data.is_dir():
        print("skipped: libonnx-testdata is not installed (scripts/setup installs it)")
        return tools.SKIPPED
    global BIN, TARGET
    BIN, TARGET = options.bin, options.target
    with tempfile.TemporaryDirectory() as folder:
        return run_all(options, Path(folder))


def judge_erased(results, least, path):
    """Whether enough of the tests over numbers pass where outputs have no shapes; said on the page."""
    counted = Counter(r["result"] for r in results if r["reason"] != "strings")
    share = counted["passed"] / max(1, sum(counted.values()))
    print(f"outputs' shapes erased: {counted['passed']} of {sum(counted.values())} over numbers pass ({100 * share:.1f}%), at least {100 * least:g}%")
    if path:
        line = (f"{ERASED} that the models declare of their outputs (`--sets node --erased {least:g}`): {counted['passed']} of "
                f"{sum(counted.values())} over numbers pass, {100 * share:.1f}%, and {counted['bound']} more with what says a shape bound.")
        path.write_text(path.read_text().replace(erased_line(path), line))
    return int(share < least or counted["failed"] > 0)


def run_all(options, work):
    counts, reasons, results, sets, seen = defaultdict(Counter), Counter(), [], {}, {}
    part, parts = map(int, options.part.split("/"))
    for name in [*filter(None, options.sets.split(",")), *["package"] * options.package]:
        data = cases_of_package() if name == "package" else options.data / name
        folders = [f for f in sorted(data.iterdir()) if re.search(options.only, f.name)]
        sets[name] = total = Counter()
        for k, folder in enumerate(folders[len(folders) * part // parts:len(folders) * (part + 1) // parts]):
            if k % options.every and not ALWAYS.search(folder.name):
                continue
            if RANDOM.search(folder.name):
                continue
            what, why = run_one(folder, work, options.erased is not None)
            results.append({"set": name, "test": folder.name, "result": what, "reason": why})
            total[what] += 1
            seen[f"{name}/{folder.name}"] = outcomes.result(what, why)
            if name == "node":
                counts[operator_of(folder)][what] += 1
            if what == "refused":
                reasons[re.sub(r"^.*?error: ", "", re.sub(r"node '[^']*'", "node", why))] += 1
            if what == "failed" and not options.quiet:
                print(f"failed: {name}/{folder.name}: {why}", flush=True)
    for why, n in reasons.most_common(80):
        print(f"{n:5} {why}")
    for name, c in sets.items():
        print(f"{name:20} {dict(c)} of {sum(c.values())}")
    if options.page and options.erased is None:
        options.page.write_text(page(counts, reasons, sets, erased_line(options.page)))
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")
    if options.write:
        outcomes.write(PINS, {**outcomes.read(PINS), **seen})
    if options.erased is not None:
        return judge_erased(results, options.erased, options.page)
    moved = outcomes.moved(outcomes.read(PINS), seen)
    for operator in sorted(set(ON_ONE_THREAD) - plain_loops.listed("ONNX's ") - {"functions, expanded", "several"}):
        moved.append(f"{operator} runs as plain loops on one thread, which sdk-docs/plain-loops.md does not list: {sorted(ON_ONE_THREAD[operator])}")
    print("\n".join(moved))
    return 1 if moved or not results or any(c["failed"] for c in sets.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
