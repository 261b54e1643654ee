"""Open dims against numbers: every test of ONNX's and StableHLO's suites whose leading dims can be left open is compiled once
with them open and once for each of some extents; both are run on the same inputs.

    tests/open/closed.py --bin build/bin [--sets package,stablehlo,onnx] [--only REGEX] [--every N] [--part 0/1] [--write]

A dim that an operator settles is compared at that extent alone. Of extent 0 results are compared where there are two. Equal means
bit for bit; of operators that add up, floats within 1e-6 of the largest result. What the open engine refuses when it runs, while one
for that extent would run, is pinned in closed.txt, by its code; so is what is refused when it is compiled. --write makes that anew,
of all tests."""

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / name) for name in ("e2e", "onnx", "stablehlo")]
import outcomes  # noqa: E402
import tools  # noqa: E402

tools.require("numpy", "onnx")
import modules  # noqa: E402
import nodes  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import suite  # noqa: E402

EXTENTS = 0, 1, 2, 3, 7
PINS = HERE / "closed.txt"
# Operators whose terms are added in an order of the plan's.
SUMS = re.compile(r"Average|Conv|Gemm|MatMul|Reduce(L1|L2|LogSum|Mean|Sum)|Norm|Softmax|LSTM|GRU|RNN|Einsum|Attention|Sum|DFT|STFT|Det|"
                  r"Loss|Lp|Lrn|LRN|Mel|Resize|Upsample|Grid|Roi|Adagrad|Adam|Momentum|Gelu|Mean|Loop|Scan|If|Affine|Hub|"
                  r"dot|conv|reduce|fft|cholesky|triangular|norm|select_and_scatter|scatter|composite|call|while|case", re.IGNORECASE)
TOLERANCE = 1e-6
SETTLED = re.compile(r"which is open, is taken as (\d+),")


def at_extent(value, extent):
    """The value with another leading extent: its rows in turn, elements of later turns moved along."""
    rows = [np.roll(value[k % len(value)], k // len(value)) for k in range(extent)]
    return np.ascontiguousarray(np.stack(rows).astype(value.dtype)) if rows else value[:0]


class OnnxCase:
    """A test's model with leading dims open."""

    file = "m.onnx"

    def __init__(self, folder):
        self.model = onnx.load(folder / "model.onnx")
        if nodes.strings(self.model) or folder.name in nodes.WRONG:
            raise suite.NotRead("strings")
        initialisers = {t.name for t in self.model.graph.initializer}
        self.inputs, data = {}, sorted(folder.glob("test_data_set_*"))[0]
        declared = [v for v in self.model.graph.input if v.name not in initialisers]
        for k, value in enumerate(declared):
            if value.type.WhichOneof("value") != "tensor_type":
                raise suite.NotRead("sequences")
            self.inputs[value.name] = nodes.read_tensor(data / f"input_{k}.pb")
            if self.inputs[value.name].dtype != onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type):
                raise suite.NotRead("data of another type")
        self.operators = {n.op_type for n in self.model.graph.node}
        shapes = set(self.shape_operands(folder))
        leading = {n: v.shape[0] for n, v in self.inputs.items() if v.ndim and v.shape[0] and n not in shapes}
        same = [n for n in leading if leading[n] == next(iter(leading.values()))]
        opened = [same, same[:1]] if len(same) > 1 else [same] if same else []
        self.choices = [(o, b) for b in ([set(), shapes] if shapes else [set()]) for o in opened]
        first = next((v.shape[0] for v in self.inputs.values() if v.ndim and v.shape[0]), None)
        if first:  # with integers: they are no shapes
            self.choices.append(([n for n, v in self.inputs.items() if v.ndim and v.shape[0] == first], set()))

    def shape_operands(self, folder):
        """By place, as nodes.py has it."""
        expanded, found = "expanded" in folder.name, set()
        for node in self.model.graph.node:
            for k, name in enumerate(node.input):
                if name not in self.inputs:
                    continue
                whole = self.inputs[name].dtype in (np.int64, np.int32) or "test_range" in folder.name
                if k in nodes.SHAPES[node.op_type] if node.op_type in nodes.SHAPES else (k > 0 or expanded) and whole:
                    found.add(name)
        return found

    def write(self, path, opened, bound, work):
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        for value in model.graph.input:
            if value.name in self.inputs:
                shape = value.type.tensor_type.shape
                shape.ClearField("dim")
                for at, extent in enumerate(self.inputs[value.name].shape):
                    dim = shape.dim.add()
                    dim.dim_value = extent
                    if not at and value.name in opened:
                        dim.dim_param = "open"
        for value in model.graph.output:
            nodes.held(value.type)[0].ClearField("shape")
        del model.graph.value_info[:]
        path.write_bytes(model.SerializeToString())
        options = []
        for n in bound:
            nodes.save(work / f"bind_{n}.npy", self.inputs[n])
            options.append(f"--bind={n}={work / f'bind_{n}.npy'}")
        return options

    open_options = ["--dim", "open=?"]

    @staticmethod
    def closed(extent, opened):
        return ["--dim", f"open={extent}"]


    def outputs(self):
        return [v.name for v in self.model.graph.output]


# Results whose extents a text must say, since operands do not.
SAYS_EXTENTS = {"stablehlo.reshape", "stablehlo.broadcast_in_dim", "stablehlo.iota", "stablehlo.constant", "stablehlo.custom_call",
                "stablehlo.if", "stablehlo.case", "stablehlo.composite", "stablehlo.rng_bit_generator"}
TYPE = r"(?:tuple<[^()]*>|!stablehlo\.token|tensor<(?:[^<>]|<[^<>]*>)*>)"
OPERATOR = re.compile(r'^\s*(?:(%[\w]+)(?::(\d+))? = )?"([\w.]+)"\(([^()]*)\)(.*)$')
TYPES = re.compile(rf" : \(((?:{TYPE}(?:, )?)*)\) -> (\(?(?:{TYPE}(?:, )?)*\)?)$")


def open_type(text, leading):
    """The type with ? for its dims, or for the leading one."""
    shape = re.match(r"tensor<((?:\d+x)*)", text).group(1)
    dims = shape.count("x")
    if not dims:
        return text
    return "tensor<" + ("?x" + shape.split("x", 1)[1] if leading else "?x" * dims) + text[len("tensor<") + len(shape) :]


class OpenText:
    """A text with the leading dims of some of main's arguments open: what is made of one has no extents that operands say."""

    def __init__(self, text, names, first):
        self.lines, self.names, self.first, self.results = text.split("\n"), names, first, {}
        self.heads = {m.group(1): at for at, line in enumerate(self.lines) if '"func.func"' in line and (m := re.search(r'sym_name = "([^"]*)"', line))}
        self.function("main", None)

    def function(self, name, given):
        """Its results' types, of arguments of these types."""
        if name in self.results:
            return self.results[name]
        head, types, stack = self.heads[name], {}, []
        for at in range(head + 1, len(self.lines)):
            line = self.lines[at]
            made = OPERATOR.match(line)
            if line.strip().startswith("^bb0") and stack and stack[-1].group(3) == "stablehlo.while":
                values = [types.get(v.strip(), "") for v in stack[-1].group(4).split(", ")]
                for (arg, kind), value in zip(re.findall(rf"(%\w+): ({TYPE})", line), values):
                    types[arg] = value or kind
                self.lines[at] = re.sub(rf"(%\w+): {TYPE}", lambda m: f"{m.group(1)}: {types[m.group(1)]}", line)
            elif line.strip().startswith("^bb0") and not types:
                for k, (arg, kind) in enumerate(re.findall(rf"(%\w+): ({TYPE})", line)):
                    types[arg] = given[k] if given else open_type(kind, True) if arg in self.names else kind
                self.lines[at] = re.sub(rf"(%\w+): {TYPE}", lambda m: f"{m.group(1)}: {types[m.group(1)]}", line)
                ins = list(types.values())
            elif made and line.endswith("({"):
                stack.append(made)
            elif line.strip().startswith("})"):
                if not stack:
                    break
                self.operator(at, stack.pop(), types)
            elif made:
                self.results[name] = self.operator(at, made, types)  # the last one returns
                if made.group(3) == "func.return" and not stack:
                    break
        outs = ", ".join(self.results[name])
        self.lines[head] = re.sub(r"function_type = .*, sym_name", lambda m: f"function_type = ({', '.join(ins)}) -> ({outs}), sym_name", self.lines[head])
        return self.results[name]

    def operator(self, at, made, types):
        """Its operands' types, as they are now."""
        line, result, many, op = self.lines[at], *made.group(1, 2, 3)
        found = TYPES.search(line)
        if not found:
            return []
        said, results = re.findall(TYPE, found.group(1)), re.findall(TYPE, found.group(2))
        now = [types.get(o.strip(), kind) for o, kind in zip(made.group(4).split(","), said)]
        if op == "func.call" and now != said:
            results = self.function(re.search(r'callee = @("[^"]+"|\w+)', line).group(1).strip('"'), now)
        elif op == "stablehlo.while":
            results = now
        elif op in ("stablehlo.broadcast_in_dim", "stablehlo.iota") and (size := self.size(at, results[0], types)):
            return self.say_extents(at, made, now, results, types, size)
        elif now != said and op not in SAYS_EXTENTS:
            results = [open_type(r, False) if r.startswith("tensor") else r for r in results]
        for k, r in enumerate(results):
            types[f"{result}#{k}" if many else result] = r
        outs = ", ".join(results)
        self.lines[at] = f"{line[: found.start()]} : ({', '.join(now)}) -> {f'({outs})' if found.group(2).startswith('(') else outs}"
        return now

    def size(self, at, kind, types):
        """The leading extent of an open argument, where the type has it as a number; what it is read of."""
        arg = next((a for a, k in types.items() if k.startswith("tensor<?")), None)
        return (arg, types[arg]) if arg and kind.startswith(f"tensor<{self.first}x") else None

    def say_extents(self, at, made, now, results, types, size):
        """The operator with an operand that says the result's extents."""
        kind, rest = results[0], re.match(r"tensor<((?:\d+x)*)", results[0]).group(1).split("x")[1:-1]
        name, rank, lines = "shape" + made.group(1)[1:], len(rest) + 1, []
        lines.append(f'%{name}_n = "stablehlo.get_dimension_size"({size[0]}) <{{dimension = 0 : i64}}> : ({size[1]}) -> tensor<i32>')
        lines.append(f'%{name}_s = "stablehlo.reshape"(%{name}_n) : (tensor<i32>) -> tensor<1xi32>')
        if rest:
            one = f"tensor<{rank - 1}xi32>"
            lines.append(f'%{name}_r = "stablehlo.constant"() <{{value = dense<[{", ".join(rest)}]> : {one}}}> : () -> {one}')
            lines.append(f'%{name}_e = "stablehlo.concatenate"(%{name}_s, %{name}_r) <{{dimension = 0 : i64}}> : (tensor<1xi32>, {one}) -> tensor<{rank}xi32>')
        shape, types[made.group(1)] = f"%{name}_{'e' if rest else 's'}", open_type(kind, True)
        operands = ", ".join([*filter(None, [made.group(4)]), shape])
        attributes = re.search(r"<\{.*?\}>", self.lines[at]).group(0)
        dynamic = made.group(3).replace("broadcast", "dynamic_broadcast").replace("iota", "dynamic_iota")
        lines.append(f'{made.group(1)} = "{dynamic}"({operands}) {attributes} : ({", ".join([*now, f"tensor<{rank}xi32>"])}) -> {types[made.group(1)]}')
        self.lines[at] = "\n".join(f"    {line}" for line in lines)
        return []


class StablehloCase:
    """A static file, arguments of the first one's leading extent open."""

    file = "m.mlir"

    def __init__(self, path):
        self.case = suite.Case(path)
        self.operators = set(re.findall(r'"stablehlo\.(\w+)"', self.case.text)) | set(re.findall(r'"chlo\.(\w+)"', self.case.text))
        self.inputs = {f"arg{k}": modules.as_input(v, "") for k, v in enumerate(self.case.inputs)}
        self.first = next((v.shape[0] for v in self.case.inputs if v.ndim and v.shape[0]), None)
        same = [n for n, v in self.inputs.items() if v.ndim and v.shape[0] == self.first]
        self.choices = [(o, set()) for o in ([same, same[:1]] if len(same) > 1 else [same] if same else [])]

    def write(self, path, opened, bound, work):
        path.write_text("\n".join(OpenText(self.case.text, {f"%model_{n}" for n in opened}, self.first).lines))
        return []

    open_options = []

    def closed(self, extent, opened):
        shapes = {n: [extent, *v.shape[1:]] for n, v in zip(self.inputs, self.case.inputs) if n in opened}
        return [f"--input-shape={n}={'x'.join(map(str, s))}" for n, s in shapes.items()]


    def outputs(self):
        return [f"out{k}" for k in range(len(self.case.checks))]


def code_of(done):
    codes = [c for line in done.stderr.splitlines() if "error: " in line for c in re.findall(r"\[(PB\d+)\]", line)]
    return codes[-1] if codes else f"exit-{done.returncode}"


def differs(a, b, adds):
    """What is another than it is, or nothing."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype}{list(a.shape)}, closed {b.dtype}{list(b.shape)}"
    if a.tobytes() == b.tobytes() or not a.size:
        return ""
    if a.dtype.kind not in "fc":
        wrong = a.reshape(-1).view(np.uint8) != b.reshape(-1).view(np.uint8)
        return f"{np.count_nonzero(wrong)} bytes of {a.nbytes} differ"
    with np.errstate(all="ignore"):
        finite = np.isfinite(b)
        most = np.abs(b[finite].astype(np.complex128)).max(initial=0)
        near = np.abs(a.astype(np.complex128) - b.astype(np.complex128)) <= (adds * most)
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (near & finite)
    if same.all():
        return ""
    at = tuple(int(k) for k in np.argwhere(~same)[0])
    return f"{np.count_nonzero(~same)} of {a.size} differ, at {at}: {a[at]!r}, closed {b[at]!r}"


class Bench:
    def __init__(self, bin_dir, work):
        self.bin, self.work = bin_dir, work

    def compile(self, path, engine, options):
        return tools.call([f"{self.bin}/pbc", str(path), "--target=cpu", "-o", str(self.work / engine), *options], timeout=120)

    def run(self, engine, case, feeds):
        command = [f"{self.bin}/pb-run", str(self.work / engine)]
        for k, (name, value) in enumerate(feeds.items()):
            nodes.save(self.work / f"in{k}.npy", value)
            command += ["--input", f"{name}={self.work}/in{k}.npy"]
        for k, name in enumerate(case.outputs()):
            command += ["--output", f"{name}={self.work}/out{k}.npy"]
        done = tools.call(command, timeout=120)
        return done, [np.load(self.work / f"out{k}.npy") for k in range(len(case.outputs()))] if not done.returncode else None

    def choice(self, case, opened, bound):
        """(what it came to, why) with those inputs' leading dims open, and those inputs' values bound."""
        path = self.work / case.file
        options = case.write(path, opened, bound, self.work)
        done = self.compile(path, "open.pbe", [*case.open_options, *options])
        if done.returncode:
            return ("refused" if done.returncode == 1 else "failed"), f"{done.stderr.strip()[-700:]} [{code_of(done)}]"
        adds = any(SUMS.search(op) for op in case.operators)
        settled = {int(n) for n in SETTLED.findall(done.stderr)}  # pb-run takes such an input sample by sample at others
        when_run = compared = 0
        for extent in sorted(settled) or EXTENTS:
            feeds = {n: at_extent(v, extent) if n in opened else v for n, v in case.inputs.items() if n not in bound}
            try:
                closed = self.compile(path, "closed.pbe", [*case.closed(extent, opened), *options])
            except tools.subprocess.TimeoutExpired:  # nothing to compare with; other tests judge it
                print(f"no end within 120 s of compiling for extent {extent}", flush=True)
                continue
            expected = None
            if not closed.returncode:
                _, expected = self.run("closed.pbe", case, feeds)
            done, got = self.run("open.pbe", case, feeds)
            if got is None and done.returncode != 1:
                return "failed", f"extent {extent}: exit {done.returncode}: {done.stderr.strip()}"
            if got is None and expected is not None and extent:  # of no elements it may be refused
                when_run, why = when_run + 1, f"extent {extent}: {done.stderr.strip()[:300]} [{code_of(done)}]"
            elif got is not None and expected is None and closed.returncode and extent:  # a text says 0 in its types alone
                return "failed", f"extent {extent} runs, and is refused as a number: {closed.stderr.strip()[:300]}"
            elif got is not None and expected is not None:
                compared += 1
                for name, a, b in zip(case.outputs(), got, expected):
                    wrong = differs(a, b, TOLERANCE if adds else 0)
                    if wrong:
                        return "failed", f"extent {extent}: {name}: {wrong}"
        return ("when-run", why) if when_run else ("passed" if compared else "none", "no extent runs")

    def one(self, case):
        """The first choice that runs; else what the first of all came to."""
        first = None
        for opened, bound in case.choices:
            came = self.choice(case, opened, bound)
            if came[0] not in ("refused", "when-run"):
                return came
            first = first or came
        return first or ("none", "no leading dim")


def onnx_folders(options):
    for name in ("node", "simple", "pytorch-operator", "pytorch-converted"):
        if nodes.DATA.is_dir() and "onnx" in options.sets:
            yield from ((f"{name}/{f.name}", f, OnnxCase) for f in sorted((nodes.DATA / name).iterdir()))
    if "package" in options.sets:
        nodes.BIN = options.bin
        yield from ((f"package/{f.name}", f, OnnxCase) for f in sorted(nodes.cases_of_package().iterdir()))


def stablehlo_files(options, folder):
    if "stablehlo" in options.sets:
        root = suite.unpacked(folder)
        index = json.loads((root / "index.json").read_text())
        yield from ((f"stablehlo/{e['file']}", root / e["file"], StablehloCase) for e in index if e["category"] == "static")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--sets", default="package,stablehlo")
    parser.add_argument("--only", default=".")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--part", default="0/1", help="K/N: every N-th from the K-th on")
    parser.add_argument("--verbose", action="store_true", help="what is refused too")
    parser.add_argument("--write", action="store_true", help="pin the outcomes")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    seen, counts = {}, Counter()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as work:
        tests = [t for t in [*onnx_folders(options), *stablehlo_files(options, folder)] if re.search(options.only, t[0]) and not nodes.RANDOM.search(t[0])]
        bench = Bench(options.bin, Path(work))
        for name, path, kind in tests[part :: parts][:: options.every]:
            try:
                what, why = bench.one(kind(path))
            except suite.NotRead as unread:
                what, why = "none", str(unread)
            except tools.subprocess.TimeoutExpired:
                what, why = "failed", "no end within 120 s"
            counts[what] += 1
            code = re.findall(r"\[(PB\d+)\]$", why) if what in ("refused", "when-run") else []
            seen[name] = ":".join([what, *code])
            if what in ("failed", "when-run") or options.verbose and what != "passed":
                print(f"{what}: {name}: {why}", flush=True)
    print(dict(counts))
    if options.write:
        outcomes.write(PINS, {**(outcomes.read(PINS) if PINS.exists() else {}), **seen})
    moved = outcomes.moved(outcomes.read(PINS), seen) if PINS.exists() else []
    print("\n".join(moved))
    return int(bool(moved) or counts["failed"] > 0 or not counts["passed"])


if __name__ == "__main__":
    sys.exit(main())
