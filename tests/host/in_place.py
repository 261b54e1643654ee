"""Outputs in the place of inputs that are donated: a token of a GPT (donated.py, its text by export.py) whose caches get a
row each, with memory of their own and in the inputs', against NumPy; what is written to them; what is refused.

    tests/host/in_place.py --bin build/bin"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy")
import donated  # noqa: E402
import numpy as np  # noqa: E402

CACHE = "tensor<4x8xf32>"
TEXT = """"builtin.module"() ({{
  "func.func"() <{{function_type = (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>) -> ({results}), sym_name = "main"}}> ({{
  ^bb0(%a: tensor<4x8xf32>, %u: tensor<1x8xf32>, %i: tensor<i32>):
    %z = "stablehlo.constant"() <{{value = dense<0> : tensor<i32>}}> : () -> tensor<i32>
{body}  }}) : () -> ()
}}) : () -> ()
"""
UPDATE = '    %{} = "stablehlo.dynamic_update_slice"({}) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>\n'
ADD = '    %s = "stablehlo.add"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>\n'
END = '    "func.return"({}) : ({}) -> ()\n'
DONATE = "--donate=arg0=out0"


def text(body, *results):
    types = ", ".join([CACHE] * len(results))
    return TEXT.format(results=types, body=body + END.format(", ".join(results), types))


ONE = text(UPDATE.format("y", "%a, %u, %i, %z"), "%y")
TWICE = text(UPDATE.format("y", "%a, %u, %i, %z") + UPDATE.format("w", "%y, %u, %z, %z"), "%w")
BESIDE = text(UPDATE.format("y", "%a, %u, %i, %z") + ADD.replace("%a", "%y"), "%y", "%s")
BOTH = text(UPDATE.format("y", "%a, %u, %i, %z"), "%y", "%y")
REFUSED = [
    (text(UPDATE.format("y", "%a, %u, %i, %z") + ADD, "%y", "%s"), [DONATE], "read elsewhere too"),
    (text(ADD, "%s"), [DONATE], "which is not it with an update"),
    (text(ADD, "%a", "%s"), [DONATE], "which is not it with an update"),
    (ONE, ["--donate=arg0=out1"], "is donated to out1"),
    (ONE, ["--donate=arg7=out0"], "no input is named 'arg7'"),
    (ONE, ["--donate=arg1=out0"], "which is not it with an update"),
    (ONE, [DONATE, "--donate=arg0=out1"], "donated twice"),
    (ONE, ["--donate=arg0"], "donates no input to an output"),
]


class Bench(tools.Checks):
    def compile(self, model, options, target="cpu"):
        engine = self.folder / "m.pbe"
        done = tools.call([f"{self.bin}/pbc", str(model), f"--target={target}", "-o", str(engine), *options])
        return engine, done

    def run(self, engine, arguments, count, *options):
        command = [f"{self.bin}/pb-run", str(engine), *options]
        for k, value in enumerate(arguments):
            np.save(self.folder / f"in{k}.npy", value)
            command += ["--input", f"arg{k}={self.folder}/in{k}.npy"]
        for k in range(count):
            command += ["--output", f"out{k}={self.folder}/out{k}.npy"]
        tools.run(command)
        return [np.load(self.folder / f"out{k}.npy") for k in range(count)]


def close(got, want):
    return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-4) for a, b in zip(got, want, strict=True))


def check_token(bench):
    a = list(donated.arguments())
    count = len(donated.CACHES) + 1
    options = [f"--donate=arg{k}=out{k}" for k in range(count - 1)]
    engine, done = bench.compile(HERE / "texts" / "token.mlir", options)
    if done.returncode:
        return bench.say(False, done.stderr)
    for at in (0, 33, donated.LENGTH - 1):
        a[len(donated.CACHES) + 1] = np.int32(at)
        want = donated.token(np, donated.placed, *a)
        for how in ([], ["--in-place"], ["--in-place", "--threads=1"]):
            bench.say(close(bench.run(engine, a, count, *how), want), f"token at {at} {' '.join(how)}")
    steps = tools.run([f"{bench.bin}/pb-objdump", str(engine), "--headers"])
    placed, moved = tools.written_to_outputs(bench.bin, engine)
    rows = len(donated.CACHES) * donated.DIM * 4
    kernels = re.findall(r": (k\d+)\(", steps)  # 68 if segments shared none
    bench.say(len(set(kernels)) < 50, f"{len(kernels)} launches of {len(set(kernels))} kernels")
    bench.say(placed == rows and not moved, f"{placed} bytes are written to caches, of new rows {rows}")
    return None


def check_small(bench):
    x, u = np.arange(32, dtype=np.float32).reshape(4, 8), -np.ones((1, 8), np.float32)
    for name, model, target in (("one", ONE, "cpu"), ("twice", TWICE, "cpu"), ("beside", BESIDE, "cpu"), ("both", BOTH, "cpu"),
                                ("one", ONE, "simnpu")):
        (bench.folder / "m.mlir").write_text(model)
        engine, done = bench.compile(bench.folder / "m.mlir", [DONATE], target)
        if done.returncode:
            bench.say(False, f"{name}, {target}: {done.stderr}")
            continue
        for at in (-3, 0, 2, 3, 99):
            y = x.copy()
            y[min(max(at, 0), 3)] = u
            if name == "twice":
                y[0] = u
            want = [y] + ([y + y] if name == "beside" else [y] if name == "both" else [])
            for how in ([], ["--in-place"]):
                got = bench.run(engine, [x, u, np.int32(at)], len(want), *how)
                bench.say(all((a == b).all() for a, b in zip(got, want)), f"{name} at {at}, {target} {' '.join(how)}")


def check_refusals(bench):
    for model, options, words in REFUSED:
        (bench.folder / "m.mlir").write_text(model)
        _, done = bench.compile(bench.folder / "m.mlir", options)
        good = done.returncode == 1 and words in done.stderr
        bench.say(good, words if good else f"{words}: exit code {done.returncode}, {done.stderr}")


if __name__ == "__main__":
    sys.exit(tools.run_checks(Bench, check_token, check_small, check_refusals))
