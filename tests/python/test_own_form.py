"""StableHLO in its own form, as JAX prints it, against StableHLO's own reader: what to_generic makes of it is the same module,
and pb-read-mlir hands over the same operations at the same places as from the generic form."""

import re
import subprocess
import tarfile
from os import environ
from pathlib import Path

import jax
import pytest
from jax._src.interpreters import mlir
from jax_programs import PROGRAMS
from jaxlib.mlir import ir

TESTS = Path(__file__).resolve().parent.parent
BIN = Path(environ["PB_LIBRARY"]).resolve().parent.parent / "bin"
ROWS = TESTS.parent / "core/frontend/stablehlo/stablehlo.def"
ATTRIBUTES = sorted({name for row in re.findall(r'^OP\("[^"]*", [^"]*"([^"]*)"', ROWS.read_text(), re.M) for name in re.findall(r"(\w+):", row)})
EVERY = 9  # file of the suite


def parsed(text):
    context = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    with context:
        return ir.Module.parse(text)


def printed(module, generic, places=False):
    return module.operation.get_asm(print_generic_op_form=generic, enable_debug_info=places)


def generic_by_pb(text, folder):
    (folder / "m.mlir").write_text(text)
    done = subprocess.run([BIN / "to_generic", folder / "m.mlir"], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


def flat(text):
    """What the compiler sees of a text: its operations, with lines and columns."""
    done = subprocess.run([BIN / "pb-read-mlir", "m.mlir", "60", str(4 << 30), "stablehlo", *ATTRIBUTES], input=text.encode(), capture_output=True)
    assert not done.returncode
    return done.stdout


def placed(module, own):
    """In the generic form with the places in the own one. StableHLO says of a reduction where its name ends."""
    lines, name = own.splitlines(), "stablehlo.reduce"

    def begin(match):
        line, column = int(match.group(1)), int(match.group(2))
        behind = lines[line - 1][: column - 1].endswith(name)
        return f'"-":{line}:{column - len(name) if behind else column}'

    return re.sub(r'"-":(\d+):(\d+)', begin, printed(module, True, places=True))


def agrees(own, folder):
    """The own form, as StableHLO reads it."""
    assert printed(parsed(generic_by_pb(own, folder)), True) == printed(parsed(own), True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_jax_program(name, tmp_path):
    function, arguments = PROGRAMS[name]
    lowered = jax.jit(function).lower(*arguments)
    own = lowered.as_text()
    agrees(own, tmp_path)
    agrees(lowered.as_text(debug_info=True), tmp_path)
    made = flat(own)
    assert made[:1] == b"F" and made == flat(placed(parsed(own), own))


def test_exported(tmp_path):
    rows = jax.export.symbolic_shape("n, 3")
    exported = jax.export.export(jax.jit(lambda x: (x.sum(0), jax.nn.softmax(x))))(jax.ShapeDtypeStruct(rows, "float32"))
    agrees(exported.mlir_module(), tmp_path)


def test_every_operator(tmp_path):
    text = (TESTS / "stablehlo/own_form/operators.mlir").read_text()
    agrees(text, tmp_path)
    for places in False, True:
        own = printed(parsed(text), False, places).replace(", , sizes = []", ", sizes = []")  # StableHLO does not read what it prints
        agrees(own, tmp_path)


def test_the_suite(tmp_path):
    read = 0
    with tarfile.open(TESTS / "stablehlo/data/stablehlo-dev.tar.xz") as tar:
        files = [f for f in tar if f.name.endswith(".mlir") and "/quantized/" not in f.name]  # jaxlib has no types of codes
        texts = [text for f in sorted(files, key=lambda f: f.name)[::EVERY] for text in tar.extractfile(f).read().decode().split("// -----\n")]
    for text in texts:
        try:
            module = parsed(text)
        except ir.MLIRError:
            continue  # of devices, which StableHLO's reader verifies
        own = printed(module, False)
        assert printed(parsed(generic_by_pb(own, tmp_path)), True) == printed(module, True)
        read += 1
    assert read > 150
