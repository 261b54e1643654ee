"""Modules of linalg on tensors as text, and what an engine of one computes."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402

NAMES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "i1": np.bool_}


def tensor(data, element=None):
    """The type of an array, or of a shape and the element's type."""
    shape, kind = (data.shape, next(n for n, t in NAMES.items() if t == data.dtype.type)) if element is None else (data, element)
    return f"tensor<{''.join(f'{n}x' for n in shape)}{kind}>"


def module(inputs, lines, results):
    """@main over %arg0, ... that has the lines and returns what `results` says: name to type."""
    arguments = ", ".join(f"%arg{k}: {tensor(x)}" for k, x in enumerate(inputs))
    body = "".join(f"    {line}\n" for line in lines)
    types = ", ".join(results.values())
    return f"module {{\n  func.func @main({arguments}) -> ({types}) {{\n{body}    return {', '.join(results)} : {types}\n  }}\n}}\n"


class Bench(tools.Checks):
    def __init__(self, bin_dir, folder, target="cpu"):
        super().__init__(bin_dir, folder)
        self.target = target

    def compile(self, text, name="m.mlir"):
        model = self.folder / name
        model.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tools.call([f"{self.bin}/pbc", str(model), f"--target={self.target}", "-o", str(self.folder / "m.pbe")])

    def run(self, text, inputs, count):
        done = self.compile(text)
        if done.returncode:
            raise SystemExit(done.stderr + "".join(text.splitlines(True)[:60])[:4000])
        args = []
        for k, data in enumerate(inputs):
            np.save(self.folder / f"{k}.npy", data)
            args += ["--input", f"arg{k}={self.folder / f'{k}.npy'}"]
        for k in range(count):
            args += ["--output", f"out{k}={self.folder / f'y{k}.npy'}"]
        tools.run([f"{self.bin}/pb-run", str(self.folder / "m.pbe"), *args])
        return [np.load(self.folder / f"y{k}.npy") for k in range(count)]

    def refuses(self, what, text, *words, name="m.mlir"):
        done = self.compile(text, name)
        good = done.returncode == 1 and all(word in done.stderr for word in words)
        self.say(good, what if good else f"{what}: exit code {done.returncode}, {done.stderr.strip()[:600]!r}")

    def ended(self):
        """What the script exits with."""
        print(f"{self.cases} cases, {self.failed} failed")
        return 1 if self.failed or not self.cases else 0
