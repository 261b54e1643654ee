"""ONNX models with open dims, one engine each, against ONNX Runtime."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx.numpy_helper  # noqa: E402
import onnx.parser  # noqa: E402
from exact import session_of  # noqa: E402
from run import close, execute  # noqa: E402

HEAD = '<ir_version: 9, opset_import: ["" : 18]>\n'


def model_of(graph):
    """Of a graph's text, from its name on."""
    return onnx.parser.parse_model(HEAD + graph)


def weights_of(graph, rng, scale):
    """Initialisers that a graph's text names by their shape: w3x4, or of one dim g8 and b8."""
    for name in sorted(set(re.findall(r"\b(?:w\d+(?:x\d+)+|[gb]\d+)\b", graph))):
        shape = tuple(map(int, name[1:].split("x")))
        yield onnx.numpy_helper.from_array((rng.standard_normal(shape) * scale).astype(np.float32), name)


class Opened:
    """A model whose named dims are all left open. `done`: what the compiler said."""

    def __init__(self, bin_dir, folder, model):
        self.bin, self.folder, self.model, self.engine = bin_dir, folder, model, folder / "m.pbe"
        path = folder / "m.onnx"
        path.write_bytes(model.SerializeToString())
        named = sorted({d.dim_param for v in model.graph.input for d in v.type.tensor_type.shape.dim if d.dim_param})
        options = [o for d in named for o in ("--dim", f"{d}=?")]
        self.done = tools.call([f"{bin_dir}/pbc", str(path), "--target=cpu", "-o", str(self.engine), *options])
        self.session = None if self.done.returncode else session_of(model)

    def refused(self):
        return f"refused: {self.done.stderr.strip()}" if self.done.returncode else ""

    def takes(self, dims, how):
        """What is wrong with what is said of dims: `how` by dim that operators take so, and of no other dim."""
        for dim in dims:
            if f"'{dim}', which is open, is taken as {how(dim)}" not in self.done.stderr:
                return f"nothing is said of {dim}: {self.done.stderr.strip()}"
        if self.done.stderr.count("is taken as ") != len(dims):
            return f"others are taken so too: {self.done.stderr.strip()}"
        return ""

    def run(self, feeds):
        """The outputs by name, or the engine's words."""
        names = [o.name for o in self.session.get_outputs()]
        got = execute(self.bin, self.engine, feeds, names, self.folder)
        return got if isinstance(got, str) else dict(zip(names, got))

    def differs(self, feeds, rtol=1e-4):
        """What is wrong with the outputs, or nothing."""
        got = self.run(feeds)
        if isinstance(got, str):
            return got.strip()
        for name, want in zip(got, self.session.run(None, feeds)):
            if not close(got[name], want, rtol):
                return f"{name} is wrong, {got[name].shape} for {want.shape}"
        return ""
