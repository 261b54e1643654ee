"""What pbc prints and writes beside engines: every --emit, --report, --dump-intermediates, and the refusals of options; and how
pb-run draws, prints and compares numbers of each type.

    outputs.py --bin BUILD/bin
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

MODEL = os.path.join(tools.MODELS, "digits.onnx")
EMITS = {"s1": "conv", "s2": "affine.for", "s3": "pb.kernel", "s4": "MMA", "asm": "MMA", "commands": "MMA", "plan": "home result",
         "layout": "affine.for", "outline": "pb.kernel", "tile": "affine.for", "map": "func.call", "place": "pb.address"}
NATIVE = {"s4": "define void", "asm": ".globl", "s3": "affine.for"}


class Session:
    def __init__(self, bin_dir, folder):
        self.pbc, self.folder, self.failures = os.path.join(bin_dir, "pbc"), folder, 0

    def check(self, what, good):
        if not good:
            self.failures += 1
            print(f"FAILED: {what}")

    def run(self, *options):
        return tools.call([self.pbc, MODEL, *options], 120)

    def refuses(self, code, words, *options):
        result = self.run(*options)
        said = result.stderr
        self.check(f"{options}: {said}", result.returncode == 1 and f"[PB{code}]" in said and all(w in said for w in words))


def emits(s):
    for target, kinds in (("simnpu", EMITS), ("cpu", NATIVE)):
        for emit, word in kinds.items():
            result = s.run(f"--target={target}", f"--emit={emit}")
            s.check(f"--emit={emit} for {target}: {result.stderr}", result.returncode == 0 and word in result.stdout)
    comments = [line for line in s.run("--target=simnpu", "--emit=plan").stdout.splitlines() if line.startswith("// ")]
    s.check("--emit=plan names the nodes of its kernels", any(line.startswith("// conv1_f") for line in comments))
    s.refuses(1006, ["cannot emit 'binary'", *EMITS], "--target=simnpu", "--emit=binary")
    s.refuses(4062, [], "--target=cpu", "--emit=commands")
    s.refuses(1008, [], "--target=simnpu", "--emit=s1", "--report=r.json")
    engine = os.path.join(s.folder, "e.pbe")
    s.check("--emit=engine", s.run("--target=simnpu", "--emit=engine", "-o", engine).returncode == 0 and os.path.exists(engine))


def none(s):
    """Listings of a program of which no kernel is the chip's: words that say so, not an engine in their place."""
    model = os.path.join(s.folder, "doubles.onnx")
    x, y = (helper.make_tensor_value_info(name, TensorProto.DOUBLE, [4]) for name in "xy")
    onnx.save(helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y]), ir_version=8,
                                opset_imports=[helper.make_opsetid("", 17)]), model)
    for emit in "s4", "asm", "commands":
        result = tools.call([s.pbc, model, "--target=simnpu", "--fallback=cpu", f"--emit={emit}"], 120)
        s.check(f"--emit={emit} without kernels: {result.returncode}, {result.stdout[:80]!r}", (result.returncode, result.stdout) == (0, "// no commands\n"))


def listed(s):
    """Each kernel's listing has all of its commands; loops are written out."""
    path, lines, kernel = os.path.join(s.folder, "r.json"), {}, None
    for line in s.run("--target=simnpu", "--emit=asm").stdout.splitlines():
        if line.endswith(":"):
            kernel = line[:-1]
        else:
            lines[kernel, line.split()[0]] = lines.get((kernel, line.split()[0]), 0) + 1
    s.check("report", s.run("--target=simnpu", "-o", os.path.join(s.folder, "r.pbe"), f"--report={path}").returncode == 0)
    with open(path, encoding="utf-8") as file:
        for k in json.load(file)["kernels"]:
            missing = [queue for queue, count in k["commands"].items() if lines.get((k["name"], queue), 0) < count]
            s.check(f"commands of {k['name']} for {missing} are not listed", not missing)


def alone(s, *options):
    """pbc by itself, which pb-server does not show: what it ends with, its seconds by the clock and of processors."""
    used, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    result = subprocess.run([s.pbc, MODEL, *options], capture_output=True, text=True, timeout=120)
    wall, now = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return result, wall, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def threads(s):
    engines = [os.path.join(s.folder, f"t{count}.pbe") for count in (1, 2)]
    for count, engine in enumerate(engines, 1):
        result, wall, busy = alone(s, "--target=cpu", "-o", engine, f"--threads={count}")
        s.check("threads", result.returncode == 0)
        s.check(f"{count} threads take {busy:.2f} s of processors in {wall:.2f} s", 0 < busy <= (count + 0.15) * wall)
    with open(engines[0], "rb") as one, open(engines[1], "rb") as two:
        s.check("threads change the engine", one.read() == two.read())
    for wrong in "0", "x", "-1", "":
        told = s.run("--target=cpu", "-o", engines[0], f"--threads={wrong}")
        s.check("no number of threads", told.returncode == 1 and "[PB1009]" in told.stderr)


def times(s):
    """--time-passes: every stage once, each its own seconds and not those of the stages in front of it."""
    result, wall, _ = alone(s, "--target=simnpu", "-o", os.path.join(s.folder, "t.pbe"), "--time-passes")
    told = re.findall(r"^(\S+) +(\d+\.\d+) s$", result.stderr, re.MULTILINE)
    names, total = [name for name, _ in told], sum(float(seconds) for _, seconds in told)
    s.check(f"stages: {names}", names[:4] == ["target", "read", "s1", "s2"] and len(set(names)) == len(names) > 12)
    s.check(f"stages of {total:.2f} s in {wall:.2f} s", 0 < total <= wall)
    text = s.run("--target=simnpu", "--emit=s4", "-o", os.path.join(s.folder, "t.txt"), "--time-passes").stderr
    looked = re.search(r"^schedules +(\d+) looked at$", result.stderr, re.MULTILINE)
    s.check(f"schedules: {result.stderr}", looked is not None and 100 < int(looked[1]) < 100000)
    shown = re.findall(r"^(\S+) +\d+\.\d+ s$", text, re.MULTILINE)
    s.check(f"stages up to a text: {shown}", shown == names[: names.index("s4") + 1])


def reports(s):
    path, engine = os.path.join(s.folder, "r.json"), os.path.join(s.folder, "r.pbe")
    for target in "simnpu", "simnpu:8", "cpu":
        s.check("report", s.run(f"--target={target}", "-o", engine, f"--report={path}").returncode == 0)
        with open(path, encoding="utf-8") as file:
            r = json.load(file)
        s.check("target", r["target"].split(":")[0] == target.split(":")[0] and len(r["description_sha256"]) == 64)
        s.check("counts", r["totals"]["kernels"] == len(r["kernels"]) and r["totals"]["steps"] == len(r["steps"]))
        s.check("macs", r["totals"]["macs"] == sum(step["macs"] for step in r["steps"]) > 0)
        s.check("nodes", {"conv1_f", "fc_f"} <= {n for k in r["kernels"] for n in k["nodes"]})
        s.check("runs", sum(k["runs"] for k in r["kernels"]) == len(r["steps"]))
        s.check("runs_on", all(step["runs_on"] == r["target"] for step in r["steps"]))
        if target == "cpu":
            s.check("native", all(step["as"] == "native code" for step in r["steps"]) and r["totals"]["native_bytes"] > 0)
            continue
        s.check("cycles", r["totals"]["predicted_cycles"] == sum(step["predicted_cycles"] for step in r["steps"]))
        for k in r["kernels"]:
            s.check("plan", f'{k["predicted_cycles"]} cycles, bound by {k["bound"]}\n' in k["plan"] and "tile d0 " in k["plan"])
            s.check("memory", k["memory_bytes"] and all(b > 0 for b in k["memory_bytes"].values()))
        s.check("commands", r["totals"]["commands"]["MX"] == sum(k["commands"]["MX"] * k["runs"] for k in r["kernels"]))


def odd_names(s):
    """Names with what JSON and IR have signs of their own for."""
    path, engine, name = os.path.join(s.folder, "r.json"), os.path.join(s.folder, "odd.onnx"), 'a "b" \\ c\n\x01'
    model = onnx.load(MODEL)
    first = next(node for node in model.graph.node if node.name == "conv1_f")
    first.name = name
    onnx.save(model, engine)
    for target in "simnpu", "cpu":
        done = tools.call([s.pbc, engine, f"--target={target}", "-o", os.path.join(s.folder, "r.pbe"), f"--report={path}"], 120)
        s.check(f"an odd name: {done.stderr}", done.returncode == 0)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            names = {n for k in json.loads(text)["kernels"] for n in k["nodes"]}
        except ValueError as error:
            names = {str(error)}
        s.check(f"an odd name in a report: {names}", name in names)


def dumps(s):
    folder, engine = os.path.join(s.folder, "dump"), os.path.join(s.folder, "d.pbe")
    s.check("dump", s.run("--target=simnpu", "-o", engine, f"--dump-intermediates={folder}").returncode == 0)
    names = [name.split(".")[0] for name in sorted(os.listdir(folder))]
    wanted = ["s1", "s2", "scaled_codes", "decided", "unsigned", "lines", "parts", "views", "quantisers", "inline", "seams", "turn", "padding", "winograd", "widen",
              "row_numbers", "reductions", "align",
              "pieces", "pixels", "layout", "transposes", "math", "lanes", "delinearize", "narrow_places", "short_rows", "bands", "split_sums", "numbers", "outline", "reside",
              "plan", "tile", "map", "registers", "place", "commands"]
    s.check(f"files: {names}", names == [f"{k:02}-{name}" for k, name in enumerate(wanted)])
    s.check("empty", all(os.path.getsize(os.path.join(folder, name)) > 100 for name in os.listdir(folder)))
    s.refuses(1003, ["nowhere"], "--target=simnpu", "-o", engine, f"--dump-intermediates={s.folder}/nowhere/dump")


def fallbacks(s):
    """A chip that runs the whole model leaves nothing: the engine is the one without a fall-back (fallback.py: others)."""
    engines = [os.path.join(s.folder, name) for name in ("f.pbe", "g.pbe")]
    s.check("fallback not needed", s.run("--target=simnpu", "--fallback=cpu", "-o", engines[0]).returncode == 0)
    s.check("without", s.run("--target=simnpu", "-o", engines[1]).returncode == 0)
    with open(engines[0], "rb") as one, open(engines[1], "rb") as other:
        s.check("equal engines", one.read() == other.read())


# By type: a number, one that differs from it as little as it can, and how it is printed.
NUMBERS = {"float16": (0.5, np.nextafter(np.float16(0.5), np.float16(1)), "0.5"), "float32": (-3.25, -3.2500002, "-3.25"),
           "float64": (1e300, 1.0000000000000002e300, "1e+300"), "int8": (-7, -8, "-7"), "uint8": (200, 201, "200"),
           "int16": (-300, -301, "-300"), "uint16": (40000, 40001, "40000"), "int32": (-70000, -70001, "-70000"),
           "uint32": (3000000000, 3000000001, "3e+09"), "int64": (2**60, 2**60 + 1, "1.15292e+18"),
           "uint64": (2**63, 2**63 + 1, "9.22337e+18")}


def values(s):
    """pb-run --input, --output, --expect by type: what is drawn is of it, what is printed is the number, and the least
    difference is one."""
    run = os.path.join(os.path.dirname(s.pbc), "pb-run")
    model, engine, given = (os.path.join(s.folder, name) for name in ("v.onnx", "v.pbe", "v.npy"))
    for name, (number, other, printed) in NUMBERS.items():
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(name))
        info = [helper.make_tensor_value_info(n, kind, [3]) for n in ("x", "y")]
        graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", info[:1], info[1:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), model)
        np.save(given, np.array([number, 0, 1], name))
        compiled = tools.call([s.pbc, model, "--target=cpu", "-o", engine], 120)
        s.check(f"{name}: {compiled.stderr}", compiled.returncode == 0)
        shown = tools.call([run, engine, f"--input={given}"], 60).stdout
        s.check(f"{name}: {shown}", shown.strip().endswith(f"= {printed} 0 1"))
        for wrong, code in ((False, 0), (True, 1)):
            np.save(given + ".e.npy", np.array([other if wrong else number, 0, 1], name))
            result = tools.call([run, engine, f"--input={given}", f"--expect={given}.e.npy"], 60)
            s.check(f"{name}, {number} for {other if wrong else number}: {result.stdout} {result.stderr}", result.returncode == code)
        drawn = tools.call([run, engine, "--input=random:3", f"--output={given}"], 60)
        s.check(f"{name}: {drawn.stderr}", drawn.returncode == 0 and np.load(given).dtype == np.dtype(name))
        s.check(f"{name}: {np.load(given)}", bool(np.all(np.abs(np.load(given).astype(np.float64)) <= (1 if "f" in name else 255))))


def no_values(s):
    """Numbers that the type has not, and expected elements in another order, as a transposed file has them."""
    run = os.path.join(os.path.dirname(s.pbc), "pb-run")
    model, engine, given = (os.path.join(s.folder, name) for name in ("n.onnx", "n.pbe", "n.npy"))
    kinds = {"a": TensorProto.INT8, "b": TensorProto.BOOL, "c": TensorProto.UINT16, "d": TensorProto.FLOAT}
    info = [[helper.make_tensor_value_info(prefix + n, kind, [1, 2, 3]) for n, kind in kinds.items()] for prefix in ("", "y")]
    graph = helper.make_graph([helper.make_node("Identity", [n], ["y" + n]) for n in kinds], "g", *info)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), model)
    s.check("no_values", tools.call([s.pbc, model, "--target=cpu", "-o", engine], 120).returncode == 0)
    good = {"a": "1x2x3xi8=-128", "b": "1x2x3xi1=1", "c": "1x2x3xu16=65535", "d": "random:18446744073709551615"}
    for name, wrong, says in (("a", "1x2x3xi8=-128", None), ("a", "1x2x3xi8=128", "128 is no i8"), ("a", "1x2x3xi8=nan", "nan is no i8"),
                              ("a", "1x2x3xi8=0.5", "0.5 is no i8"), ("b", "1x2x3xi1=2", "2 is no i1"), ("c", "1x2x3xu16=-1", "-1 is no u16"),
                              ("c", "1x2x3xu16=65536", "65536 is no u16"), ("d", "random:18446744073709551616", "at most 64 bits")):
        result = tools.call([run, engine, *(f"--input={n}={v}" for n, v in {**good, name: wrong}.items())], 60)
        s.check(f"{name}={wrong}: {result.stderr}", result.returncode == 0 if says is None else result.returncode == 1 and says in result.stderr and "[PB5041]" in result.stderr)
    for shape, code in (([1, 2, 3], 0), ([2, 3], 0), ([2, 1, 3, 1], 0), ([3, 2], 1), ([6], 1)):
        np.save(given, np.full(shape, -128, np.int8))
        result = tools.call([run, engine, *(f"--input={n}={v}" for n, v in good.items()), f"--expect=ya={given}"], 60)
        s.check(f"expected {shape}: {result.stderr}", result.returncode == code and ("[PB5050]" in result.stderr) == bool(code))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        s = Session(args.bin, folder)
        for part in emits, none, listed, threads, times, reports, odd_names, dumps, fallbacks, values, no_values:
            part(s)
    print(f"{s.failures} failures")
    return int(s.failures != 0)


if __name__ == "__main__":
    sys.exit(main())
