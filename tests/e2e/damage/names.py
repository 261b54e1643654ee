"""What is printed of names out of files: lines of printable UTF-8, of which no name makes one of its own. Every name of a
model, of a text and of a file, where the model compiles and where it is refused, by every program that prints any.

    names.py --bin BUILD/bin
"""

import json
import os
import subprocess
import sys
import unicodedata

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

# Colours and titles of terminals, lines, what rubs out, controls of eight bits, what turns writing, what is no UTF-8.
MARK, BYTES = "@@", b"\xff\x9b"  # as long: text of a protobuf is UTF-8 until it is written
EVIL = f"a\x1b[31m\nFORGED: error: no [PB0001]\r\x07\x08\x7f\u009b2J\u202e\u2028FORGED{MARK}\t"
HEAD = "builtin.module"


def evil(name):
    return f"{name}{EVIL}"


def unprintable(out):
    """What of it is none of lines of printable text, or None."""
    try:
        text = out.decode()
    except UnicodeDecodeError as error:
        return str(error)
    for c in text:
        if c != "\n" and (unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")):
            return f"{c!r} in {text[max(text.index(c) - 60, 0):][:120]!r}"
    forged = [line for line in text.split("\n") if line.startswith("FORGED")]
    return f"a line of a name's own: {forged[0]!r}" if forged else None


class Names(tools.Checks):
    def call(self, program, *arguments):
        command = [os.path.join(self.bin, program).encode(), *(a if isinstance(a, bytes) else str(a).encode() for a in arguments)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, timeout=120)

    def prints(self, what, code, program, *arguments, says=""):
        result = self.call(program, *arguments)
        wrong = unprintable(result.stdout + b"\n" + result.stderr)
        if not wrong and result.returncode != code:
            wrong = f"exit code {result.returncode}: {(result.stdout + result.stderr)[-300:].decode()}"
        if not wrong and says not in (result.stdout + result.stderr).decode():
            wrong = f"no {says!r} in {(result.stdout + result.stderr)[-600:].decode()}"
        self.say(not wrong, f"{what}: {program} {wrong or ''}")
        return result

    def save(self, model, name="m.onnx"):
        data = model if isinstance(model, bytes) else model.SerializeToString()
        (self.folder / name).write_bytes(data.replace(MARK.encode(), BYTES))
        return name


def model(nodes, inputs, outputs, consts=(), opsets=(("", 21),), functions=(), metadata=(), name="g", dims=(2, 8)):
    made = helper.make_model(helper.make_graph(
        nodes, name, [helper.make_tensor_value_info(n, TensorProto.FLOAT, dims) for n in inputs],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs], list(consts)),
        ir_version=10, opset_imports=[helper.make_opsetid(*o) for o in opsets], functions=list(functions), producer_name=evil("p"))
    helper.set_model_props(made, dict(metadata))
    return made


WEIGHTS = numpy_helper.from_array(np.arange(64, dtype=np.float32).reshape(8, 8) / 64, evil("w"))


def compiles(s):
    """All names of a model that compiles, for cores and for queues, in everything that is printed of it."""
    node = helper.make_node
    inner = helper.make_graph([node("Neg", [evil("r")], [evil("t")], name=evil("then"))], evil("branch"), [],
                              [helper.make_tensor_value_info(evil("t"), TensorProto.FLOAT, None)])
    other = helper.make_graph([node("Abs", [evil("r")], [evil("e")], name=evil("else"))], evil("other"), [],
                              [helper.make_tensor_value_info(evil("e"), TensorProto.FLOAT, None)])
    nodes = [node("MatMul", [evil("x"), evil("w")], [evil("p")], name=evil("product")), node("Relu", [evil("p")], [evil("r")], name=evil("relu")),
             node("ReduceSum", [evil("r")], [evil("sum")], name=evil("all"), keepdims=0), node("Cast", [evil("sum")], [evil("some")], to=TensorProto.BOOL),
             node("If", [evil("some")], [evil("y")], name=evil("if"), then_branch=inner, else_branch=other)]
    whole = model(nodes, [evil("x")], [evil("y")], [WEIGHTS], metadata=[(evil("key"), evil("value"))], name=evil("g"))
    straight = model(nodes[:2], [evil("x")], [evil("r")], [WEIGHTS], name=evil("g"))
    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 8)
    np.save(s.folder / "x.npy", x)
    for what, made in ("straight", straight), ("branches", whole):
        s.save(made)
        for target in "cpu", "simnpu":
            options = ["m.onnx", f"--target={target}", *(["--fallback=cpu"] if target == "simnpu" else [])]
            for how in ["--emit=s1"], ["--emit=s2"], ["--emit=s3"], ["--emit=plan"], ["--explain"], ["--explain=json"], ["--explain=html"], \
                    ["-o", "m.pbe", "--print-after=outline", "--time-passes", "--report=m.json", "--dump-intermediates=dumped"]:
                s.prints(f"{what}, {target}, {how[0]}", 0, "pbc", *options, *how)
            report = json.loads((s.folder / "m.json").read_text())
            s.say(unprintable((s.folder / "m.json").read_bytes()) is None and report, f"{what}, {target}: its report")
            for how in [], ["--headers"], ["--c-array=m"]:
                s.prints(f"{what}, {target}, {how}", 0, "pb-objdump", "m.pbe", *how)
            for how in ["--info"], ["--input=x.npy"], ["--input=x.npy", "--stats", "--stats=s.json", "--trace=t.json"]:
                s.prints(f"{what}, {target}, {how[-1]}", 0, "pb-run", "m.pbe", *how)
            s.say(unprintable((s.folder / "s.json").read_bytes()) is None and json.loads((s.folder / "s.json").read_text()), f"{what}, {target}: its statistics")
            s.prints(f"{what}, {target}, no input", 1, "pb-run", "m.pbe")
            s.prints(f"{what}, {target}, wrong shape", 1, "pb-run", "m.pbe", "--input=3x3xf32=1")
            name = (evil("r") if what == "straight" else evil("y")).encode().replace(MARK.encode(), BYTES)
            s.prints(f"{what}, {target}, written and read back", 0, "pb-run", "m.pbe", "--input=x.npy", b"--output", name + b"=y.npy")
            s.prints(f"{what}, {target}, as expected", 0, "pb-run", "m.pbe", "--input=x.npy", "--expect=y.npy")
            np.save(s.folder / "z.npy", np.load(s.folder / "y.npy") + 1)
            s.prints(f"{what}, {target}, not as expected", 1, "pb-run", "m.pbe", "--input=x.npy", "--expect=z.npy")
    s.prints("bisected", 0, "pbc", "m.onnx", "--target=cpu", "-o", "m.pbe", "--bisect")


def refused(s):
    """Each kind of name in a model that is refused by it."""
    node, x, y = helper.make_node, evil("x"), evil("y")
    function = helper.make_function("d", evil("F"), ["a"], ["b"], [node(evil("Op"), ["a"], ["b"], name=evil("in"))], [helper.make_opsetid("", 21)])
    external = TensorProto(name=evil("w"), data_type=TensorProto.FLOAT, dims=(8, 8), data_location=TensorProto.EXTERNAL)
    external.external_data.add(key="location", value=evil("file"))
    wrong = numpy_helper.from_array(np.zeros((3, 3), np.float32), evil("w"))
    short = TensorProto(name=evil("w"), data_type=TensorProto.FLOAT, dims=(8, 8), raw_data=b"1234")
    attribute = node("Relu", [x], [y], name=evil("n"))
    attribute.attribute.append(helper.make_attribute(evil("axis"), 1))
    text = node("DepthToSpace", [x], [y], name=evil("n"), blocksize=2, mode=evil("DCR"))
    kind = helper.make_tensor_value_info(x, TensorProto.STRING, (2,))
    of_text = model([node("Relu", [x], [y], name=evil("n"))], [x], [y])
    of_text.graph.input[0].CopyFrom(kind)
    cases = [
        ("operator", model([node(evil("Op"), [x], [y], name=evil("n"))], [x], [y])),
        ("domain", model([node("Op", [x], [y], name=evil("n"), domain=evil("d"))], [x], [y], opsets=(("", 21), (evil("d"), 1)))),
        ("opset's domain", model([node("Relu", [x], [y])], [x], [y], opsets=((evil("d"), 99), ("", 99)))),
        ("attribute", model([attribute], [x], [y])),
        ("text of an attribute", model([text], [x], [y], dims=(1, 8, 2, 2))),
        ("input that nobody makes", model([node("Add", [x, evil("z")], [y], name=evil("n"))], [x], [y])),
        ("output that nobody makes", model([node("Relu", [x], ["q"], name=evil("n"))], [x], [y])),
        ("made twice", model([node("Relu", [x], [y]), node("Neg", [x], [y], name=evil("n"))], [x], [y])),
        ("circle", model([node("Add", [x, evil("c")], [evil("b")], name=evil("n")), node("Neg", [evil("b")], [evil("c")], name=evil("m"))], [x], [evil("c")])),
        ("function", model([node(evil("F"), [x], [y], name=evil("n"), domain="d")], [x], [y], opsets=(("", 21), ("d", 1)), functions=[function])),
        ("file of data", model([node("MatMul", [x, evil("w")], [y])], [x], [y], [external])),
        ("shapes", model([node("MatMul", [x, evil("w")], [y], name=evil("n"))], [x], [y], [wrong])),
        ("short initialiser", model([node("MatMul", [x, evil("w")], [y], name=evil("n"))], [x], [y], [short])),
        ("strings", of_text),
    ]
    for what, made in cases:
        if not s.takes_next():
            continue
        s.save(made)
        s.prints(what, 1, "pbc", "m.onnx", "--target=cpu", "-o", "m.pbe", says=r"\x1b[31m\n" if what != "opset's domain" else "")
        s.prints(f"{what}, queues", 1, "pbc", "m.onnx", "--target=simnpu", "-o", "m.pbe")
    s.save(model([node("Relu", [x], [y])], [x], [y], dims=(2, evil("N"))))
    s.prints("open dim", 0, "pbc", "m.onnx", "--target=cpu", "-o", "m.pbe", says="stays open")
    s.prints("open dim, queues", 1, "pbc", "m.onnx", "--target=simnpu", "-o", "m.pbe")
    s.save(model([node("Acosh", [x], [y], name=evil("n"))], [x], [y]))
    s.prints("what the chip lacks", 1, "pbc", "m.onnx", "--target=simnpu", "-o", "m.pbe")
    s.prints("what the chip lacks, explained", 0, "pbc", "m.onnx", "--target=simnpu", "--explain")
    for option in "--input-shape=nosuch=1x2", "--dim=nosuch=1", "--items=nosuch=1", "--donate=nosuch=other", f"--input-shape={evil('q')}=2x3":
        s.prints(option.split("=")[0], 1, "pbc", "m.onnx", "--target=cpu", "-o", "m.pbe", option)
    head = json.dumps({evil("t"): {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}).encode()
    (s.folder / "w.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + bytes(16))
    s.prints("tensors of a file", 1, "pbc", "m.onnx", "--target=cpu", "-o", "m.pbe", "--weights=w.safetensors")


def texts(s):
    """StableHLO and linalg: names in quotes, in places, and what the parser quotes."""
    quoted = "".join(c if " " <= c < "\x7f" and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode()) for c in EVIL)
    body = '"func.func"() <{{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}}> ({{\n^bb0(%a: tensor<2xf32>):\n{}\n' \
           '"func.return"(%r) : (tensor<2xf32>) -> () loc(#place)\n}}) : () -> ()\n'
    op = '%r = "{}"(%a) {{{}}} : (tensor<2xf32>) -> tensor<2xf32> loc(#place)'
    cases = [("operator", op.format(f"stablehlo.{quoted}", ""), 1), ("dialect", op.format(f"{quoted}.add", ""), 1),
             ("attribute", op.format("stablehlo.negate", f'"{quoted}" = 1 : i32'), None), ("attribute's text", op.format("stablehlo.custom_call", f'call_target_name = "{quoted}"'), 1),
             ("raw", op.format(f"stablehlo.{EVIL}", ""), 1), ("raw, outside quotes", f"%r = {EVIL}", 1), ("place", op.format("stablehlo.exponential", ""), 0)]
    for what, line, code in cases:
        if not s.takes_next():
            continue
        text = f'#place = loc("{quoted}":3:5)\n"{HEAD}"() ({{\n{body.format(line)}}}) : () -> ()\n'
        s.save(text.encode(), "m.mlir")
        result = s.call("pbc", "m.mlir", "--target=cpu", "--explain")
        wrong = unprintable(result.stdout + result.stderr)
        s.say(not wrong and result.returncode in ((0, 1) if code is None else (code,)), f"StableHLO, {what}: {wrong or result.returncode}")
    for what, line in ("operator", f'%r = "linalg.{quoted}"(%a) : (tensor<2xf32>) -> tensor<2xf32>'), ("call", f'%r = func.call @"{quoted}"(%a) : (tensor<2xf32>) -> tensor<2xf32>'):
        s.save(f'module {{\nfunc.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {{\n{line}\nreturn %r : tensor<2xf32>\n}}\n}}\n'.encode(), "m.mlir")
        s.prints(f"linalg, {what}", 1, "pbc", "m.mlir", "--target=cpu", "-o", "m.pbe")


def files(s):
    """Names of files and of options."""
    name = EVIL.replace(MARK, "").replace("/", "").encode() + b"\xff"
    s.prints("model", 1, "pbc", name, "--target=cpu", "-o", "m.pbe")
    s.prints("target", 1, "pbc", "m.onnx", b"--target=" + name, "-o", "m.pbe")
    s.prints("engine to be written", 1, "pbc", "m.onnx", "--target=cpu", "-o", b"nowhere/" + name)
    s.prints("option", 1, "pbc", "m.onnx", b"--" + name)
    for program in "pb-run", "pb-objdump":
        s.prints("engine", 1, program, name)
        s.prints("option", 1, program, b"--" + name)
    s.prints("description", 1, "pb-tdl", "check", name)
    s.prints("new target", 1, "pb-target-new", name, "--class=npu")
    s.save(model([helper.make_node("Relu", ["x"], ["y"])], ["x"], ["y"]))
    s.prints("compiled", 0, "pbc", "m.onnx", "--target=cpu", "-o", name)
    s.prints("its steps", 0, "pb-objdump", name)
    s.prints("as C", 0, "pb-objdump", name, "--c-array=m")
    s.prints("run", 0, "pb-run", name, "--input=random:1")
    s.prints("file of numbers", 1, "pb-run", name, b"--input=" + name + b".npy")
    (s.folder / os.fsdecode(name + b".npy")).write_bytes(b"no numbers")
    s.prints("file without numbers", 1, "pb-run", name, b"--input=" + name + b".npy")


sys.exit(tools.run_checks(Names, compiles, refused, texts, files, sampled=True))
