"""Small models that compile, and their engines, with seeded damage: attributes, shapes, types, wiring and constants of
the graph, or bytes of the file. Each mutant is refused with a code, or its result is ONNX Runtime's on the same mutant;
none crashes or works for long. Equal is what roundings.py allows for the mutant's own numbers. What ONNX Runtime refuses and pbc takes is listed by its reason.

    mutants.py --bin BUILD/bin [--models 10000] [--engines 10000] [--seed 1] [--jobs 2] [--keep DIR]
"""

import argparse
import collections
import concurrent.futures
import contextlib
import os
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import roundings  # noqa: E402
from damaged import damage  # noqa: E402
from exact import session_of  # noqa: E402
from onnx import numpy_helper  # noqa: E402

SECONDS, WAITING, MEMORY = 20, 10, 4 << 30
F32 = onnx.TensorProto.FLOAT
NUMBERS = [0, 1, -1, 2, 3, 5, 7, 8, 16, 127, 128, 255, 256, 1000, 65536, 1 << 20, 2**31 - 1, 2**31, 2**32, 2**62, -2, -(2**31), -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-3, 1e3, 1e-38, 1e-45, 3e38, float("inf"), float("-inf"), float("nan")]


def seeds():
    """(name, model bytes) of small models that compile for the processor."""
    import float_cases
    import function_cases  # noqa: F401
    import quantised_cases
    import regression_cases
    found = []
    for make in float_cases.CASES[::3]:
        case = make()
        found.append((case.name, case.model))
    for name in list(quantised_cases.CASES)[::2]:
        for kind in (np.int8, np.uint8):
            found.append((f"{name}_{kind.__name__}", quantised_cases.make(name, kind=kind).model()))
    for name, make in regression_cases.CASES.items():
        case = make()
        if not case.refused:
            found.append((name, case.model))
    return [(name, model.SerializeToString()) for name, model in found if model.ByteSize() < 40000]


def mutate_graph(data, rng):
    model = onnx.ModelProto.FromString(data)
    graph = model.graph
    for _ in range(rng.choice([1, 1, 2])):
        node = rng.choice(graph.node)
        kind = rng.randrange(8)
        attrs = [a for n in graph.node for a in n.attribute]
        if kind <= 1 and attrs:
            a = rng.choice(attrs)
            if a.ints:
                a.ints[rng.randrange(len(a.ints))] = rng.choice(NUMBERS[:9] if rng.random() < 0.7 else NUMBERS)
            elif a.type == onnx.AttributeProto.INT:
                a.i = rng.choice(NUMBERS[:9] if rng.random() < 0.7 else NUMBERS)
            elif a.type == onnx.AttributeProto.FLOAT:
                a.f = rng.choice(FLOATS)
            else:
                node.attribute.remove(a) if a in node.attribute else None
        elif kind == 2 and graph.initializer:
            t = rng.choice(graph.initializer)
            array = numpy_helper.to_array(t).copy()
            if array.size:
                values = FLOATS if array.dtype.kind == "f" else [np.clip(n, np.iinfo(array.dtype).min, np.iinfo(array.dtype).max) if array.dtype.kind in "iu" else n for n in NUMBERS]
                array.reshape(-1)[rng.randrange(array.size)] = rng.choice(values)
                t.CopyFrom(numpy_helper.from_array(array, t.name))
        elif kind == 3 and graph.initializer:
            t = rng.choice(graph.initializer)
            array = numpy_helper.to_array(t)
            change = rng.randrange(3)
            if change == 0 and array.dtype.itemsize == 1:
                array = array.view(np.uint8 if array.dtype == np.int8 else np.int8)
            elif change == 1:
                array = array.reshape(-1)
            elif array.ndim:
                array = array[:1] if rng.random() < 0.5 else np.concatenate([array, array])
            t.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array), t.name))
        elif kind == 4 and node.input:
            names = [i for n in graph.node for i in list(n.input) + list(n.output)] + [""]
            node.input[rng.randrange(len(node.input))] = rng.choice(names)
        elif kind == 5:
            info = rng.choice(graph.input)
            dims = info.type.tensor_type.shape.dim
            if dims:
                rng.choice(dims).dim_value = rng.choice(NUMBERS[:9] if rng.random() < 0.8 else NUMBERS)
        elif kind == 6:
            node.op_type = rng.choice([n.op_type for n in graph.node] + ["Relu", "Add", "Mul", "MaxPool", "Sigmoid", "Conv", "Softmax", "Identity"])
        else:
            graph.node.remove(node) if len(graph.node) > 1 and rng.random() < 0.5 else model.opset_import[0].__setattr__("version", rng.randrange(6, 23))
    return model.SerializeToString()


def run(command, seconds=SECONDS, again=True):
    """(exit code or None when it did not end, what was printed). In this process's server, whose memory is limited, and
    that of its worker with it. What does not end there is run once more, alone."""
    server = tools.server_for(command[0])
    if server:
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        result = tools.call(command, seconds)
    except subprocess.TimeoutExpired:
        return run_alone(command) if again else (None, "no end")
    return result.returncode, result.stdout + result.stderr


def run_alone(command):
    """The same in a process of its own, whose own time counts: what others leave of a busy machine may be next to nothing."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=WAITING * SECONDS, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return None, "no end"
    return (None, "no end") if result.returncode == -signal.SIGXCPU else (result.returncode, result.stdout + result.stderr)


def refused(code, printed):
    return code == 1 and re.search(r"\[PB\d{4}\]", printed) and "bug in the compiler" not in printed


def by_runtime(path, feeds, out):
    """ONNX Runtime in a process of its own: it may not survive the mutant. None, or why it refuses."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            signal.alarm(SECONDS)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            why = "?"
            try:
                session = session_of(onnx.load(path))
                names = [o.name for o in session.get_outputs()]
                np.savez(out, **{str(k): v for k, v in enumerate(session.run(None, feeds))})
                why = "\n".join(names)
                os.write(1, b"")
                with open(out + ".ok", "w") as f:
                    f.write(why)
            except Exception as error:  # noqa: BLE001
                with open(out + ".no", "w") as f:
                    f.write(str(error))
        os._exit(0)
    os.waitpid(pid, 0)
    if os.path.exists(out + ".ok"):
        return None
    return open(out + ".no").read() if os.path.exists(out + ".no") else "it crashed"


def differs(model, feeds, name, expected, actual):
    """What is wrong with an output, or None: codes are equal and floats within 1e-4 of the largest, or as far apart as
    roundings can bring them."""
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return f"{name} is {actual.dtype}{list(actual.shape)}, not {expected.dtype}{list(expected.shape)}"
    x, y = expected.astype(np.float64), actual.astype(np.float64)
    floats = expected.dtype.kind == "f" and not any(node.op_type == "QuantizeLinear" for node in model.graph.node)
    with np.errstate(invalid="ignore"):
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        same |= (np.abs(x) > 1e37) | (np.abs(y) > 1e37)  # whether a sum overflows depends on its order
        if floats:
            same |= np.abs(x - y) <= 1e-4 * np.abs(x[np.isfinite(x)]).max(initial=0) + 1e-30
    if same.all():
        return None
    try:
        same |= np.abs(x - y) <= 1.000001 * roundings.apart(model, feeds)[name]
        why = ""
    except roundings.NoRule as missing:
        why = f" (no rule for {missing})"
    if same.all():
        return None
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    return f"{name}: {(~same).sum()} of {same.size} differ, the first at {list(at)}: {actual[at]!r}, not {expected[at]!r}{why}"


def feeds_of(model, number):
    rng, feeds = np.random.default_rng(number), {}
    kinds = {F32: np.float32, onnx.TensorProto.INT8: np.int8, onnx.TensorProto.UINT8: np.uint8}
    made = {t.name for t in model.graph.initializer}
    for info in model.graph.input:
        if info.name in made:
            continue
        shape = [d.dim_value if d.HasField("dim_value") else 1 for d in info.type.tensor_type.shape.dim]
        kind = kinds.get(info.type.tensor_type.elem_type)
        if kind is None or np.prod([float(max(d, 0)) for d in shape]) > 1 << 22 or min(shape, default=1) < 0:
            return None
        feeds[info.name] = rng.standard_normal(shape).astype(np.float32) if kind == np.float32 else rng.integers(-9, 9, shape).astype(kind)
    return feeds


def judge_model(args, folder, data, number):
    """('refused' | 'equal' | 'unlike: why' | 'wrong: what')."""
    stem = os.path.join(folder, str(number))
    path = stem + ".onnx"
    with open(path, "wb") as f:
        f.write(data)
    target, device = (("cpu", "native") if number % 5 else ("simnpu", "machine"))
    code, printed = run([os.path.join(args.bin, "pbc"), path, f"--target={target}", "-o", stem + ".pbe"])
    if refused(code, printed):
        return "refused"
    if code != 0:
        return f"wrong: pbc: exit code {code}: {printed[-300:]}"
    try:
        model = onnx.ModelProto.FromString(data)
        feeds = feeds_of(model, number)
    except Exception as error:  # noqa: BLE001
        return f"unlike: protobuf or its types: {str(error)[:60]}"
    if feeds is None:
        return "large"
    names = [o.name for o in model.graph.output]
    command = [os.path.join(args.bin, "pb-run"), stem + ".pbe", f"--device={device}"]
    for k, (name, value) in enumerate(feeds.items()):
        np.save(f"{stem}-{k}.npy", value)
        command.append(f"--input={name}={stem}-{k}.npy")
    command += [f"--output={name}={stem}-out{k}.npy" for k, name in enumerate(dict.fromkeys(names))]
    code, printed = run(command)
    if code != 0:
        return f"wrong: pb-run: exit code {code}: {printed[-300:]}"
    why = by_runtime(path, feeds, stem + ".npz")
    if why is not None:
        return "unlike: " + re.sub(r"[0-9]+|'[^']*'|\"[^\"]*\"|\([^)]*\)|node:\S+|\S*/\S*", "*", why)[:110]
    expected = np.load(stem + ".npz")
    for k, name in enumerate(dict.fromkeys(names)):
        wrong = differs(model, feeds, name, expected[str(names.index(name))], np.load(f"{stem}-out{k}.npy"))
        if wrong:
            return f"wrong: {target}: {wrong}"
    return "equal"


def crc64(data):
    crc = 0xFFFFFFFFFFFFFFFF
    for byte in data:
        crc = CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFFFFFFFFFF


CRC = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0xC96C5795D7870F42 if n & 1 else 0)
    CRC.append(n)
HEADER, ROW = 64, 32


def repair(data, whole):
    """The sums and sizes of a damaged engine put right, so that the damage gets past them."""
    data = bytearray(data)
    if len(data) < HEADER:
        return bytes(data)
    count = min(struct.unpack_from("<I", data, 12)[0], (len(data) - HEADER) // ROW)
    struct.pack_into("<Q", data, 16, len(data))
    for s in range(count):
        offset, size = struct.unpack_from("<QQ", data, HEADER + ROW * s + 8)
        inside = offset <= len(data) and size <= len(data) - offset
        if inside and data[offset:offset + size] != whole[offset:offset + size]:
            struct.pack_into("<Q", data, HEADER + ROW * s + 24, crc64(data[offset:offset + size]))
    struct.pack_into("<Q", data, 24, 0)
    struct.pack_into("<Q", data, 24, crc64(data[:HEADER + ROW * count]))
    return bytes(data)


def mutate_engine(data, rng):
    """Some bytes of one section changed: each section as often, whatever its size."""
    data = bytearray(data)
    count = struct.unpack_from("<I", data, 12)[0]
    places = [struct.unpack_from("<QQ", data, HEADER + ROW * s + 8) for s in range(count)]
    offset, size = rng.choice([place for place in places if place[1]])
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[offset + rng.randrange(size)] = rng.choice([0, 1, 2, 127, 128, 254, 255, rng.randrange(256)])
    return bytes(data)


def judge_engine(args, folder, data, number, mended, expected):
    path = os.path.join(folder, f"{number}.pbe")
    with open(path, "wb") as f:
        f.write(data)
    inputs = [f"--input={name}=random:1" for name in expected["inputs"]]
    code, printed = run([os.path.join(args.bin, "pb-run"), path, *inputs, f"--device={expected['device']}"])
    if refused(code, printed):
        return "refused"
    if code != 0:
        return f"wrong: pb-run: exit code {code}: {printed[-300:]}"
    # Damage that its sums do not show must not show; with the sums put right it is another program.
    return "equal" if mended or printed == expected["printed"] else f"wrong: another result from a damaged engine: {printed[-200:]}"


def judge(args, pool, engines, number):
    rng = random.Random(args.seed * 1000003 + number)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        if number >= args.models:
            name, whole, expected = rng.choice(engines)
            mended = rng.random() < 0.8 and expected["device"] != "native"  # machine code may do as it likes
            data = repair(mutate_engine(whole, rng), whole) if mended else damage(whole, rng)
            found = judge_engine(args, folder, data, number, mended, expected)
        else:
            name, whole = rng.choice(pool)
            data = mutate_graph(whole, rng) if rng.random() < 0.75 else damage(whole, rng)
            found = judge_model(args, folder, data, number)
        if found.startswith(("wrong", "unlike")) and args.keep:
            os.makedirs(args.keep, exist_ok=True)
            with open(os.path.join(args.keep, f"{found[:5]}-{args.seed}-{number}.{'pbe' if number >= args.models else 'onnx'}"), "wb") as f:
                f.write(data)
    return name, found


MOST_BYTES = 1 << 20  # of an engine to be damaged; the chip's description alone is half of that
CHIPS = os.path.join(tools.SOURCE, "tests", "chips")
ENGINES = 2  # of each target
TARGETS = {"simnpu": "machine", "simnpu:8": "machine", "simnpu:32": "machine", os.path.join(CHIPS, "gemmini.td"): "machine",
           os.path.join(CHIPS, "tinynpu_state.td"): "machine", os.path.join(CHIPS, "floatnpu.td"): "machine", "cpu": "native"}


def engine_of(args, name, data, target, device):
    """(what it is, its bytes, what it is run with and prints), or None: this model makes no engine to be damaged."""
    path, engine = os.path.join(args.folder, "e.onnx"), os.path.join(args.folder, "e.pbe")
    with open(path, "wb") as f:
        f.write(data)
    if run([os.path.join(args.bin, "pbc"), path, f"--target={target}", "-o", engine])[0] != 0:
        return None
    with open(engine, "rb") as f:
        whole = f.read()
    inputs = [i.name for i in onnx.ModelProto.FromString(data).graph.input]
    code, printed = run([os.path.join(args.bin, "pb-run"), engine, *(f"--input={i}=random:1" for i in inputs), f"--device={device}"])
    if code != 0 or len(whole) >= MOST_BYTES:
        return None
    return f"{name} for {os.path.basename(target)}", whole, {"inputs": inputs, "printed": printed, "device": device}


def engines_of(args, pool):
    """Engines of every target, of models that lie apart in the pool."""
    made = []
    for target, device in TARGETS.items():
        start, step = len(made), max(1, len(pool) // 97)
        for name, data in pool[len(made) % step::step]:
            if len(made) - start == ENGINES:
                break
            engine = engine_of(args, name, data, target, device)
            if engine:
                made.append(engine)
        if len(made) == start:
            raise SystemExit(f"no model of the pool makes an engine for {target} that is small enough to be damaged")
    return made


STATE = {}


def work(number):
    return number, *judge(STATE["args"], STATE["pool"], STATE["engines"], number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--models", type=int, default=10000)
    parser.add_argument("--engines", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="a folder for the mutants that are wrong, or that ONNX Runtime refuses")
    args = parser.parse_args()
    counts, wrong = collections.Counter(), 0
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        args.folder = folder
        pool = seeds()
        STATE.update(args=args, pool=pool, engines=engines_of(args, pool[::-1]) if args.engines else [])
        with concurrent.futures.ProcessPoolExecutor(args.jobs, initializer=tools.servers.__dict__.clear) as workers:
            for number, name, found in workers.map(work, range(args.models + args.engines), chunksize=16):
                counts[("engine " if number >= args.models else "model ") + (found if found.startswith("unlike") else found.split(":")[0])] += 1
                if found.startswith("wrong"):
                    wrong += 1
                    print(f"FAILED {number} of {name}: {found}", flush=True)
    for what, count in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{count:6} {what}")
    equal = counts["model equal"]
    print(f"{args.models} models, {args.engines} engines: {wrong} wrong, {equal} equal to ONNX Runtime")
    return int(wrong > 0 or (args.models and not equal))


if __name__ == "__main__":
    sys.exit(main())
