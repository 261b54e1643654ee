"""Profiles: one engine whose dims list values. Each profile gives, bit for bit, what an engine compiled for its extents alone
gives; the constants are there once; shapes that no profile has are refused with those that there are; and a file of profiles
of which a byte is changed is refused, or still right.

    tests/onnx/profiles.py --bin build/bin [--corpus FILE]    FILE: a small engine of two profiles, for the fuzzer"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnx.parser  # noqa: E402

DIGITS = Path(__file__).parent.parent / "models" / "digits.onnx"
HEAD = '<ir_version: 9, opset_import: ["" : 18]>\n'
MODEL = """g (float[batch, seq, 64] x, float[batch, seq] m) => (float[batch, seq, 96] y, float[batch, seq] n)
  <float[64, 96] w, float[96] b> { p = MatMul(x, w) s = Add(p, b) y = Relu(s) n = Neg(m) }"""
SMALL = "g (float[n] x) => (float[n] y) { y = Neg(x) }"


class Bench:
    def __init__(self, bin_dir, folder):
        self.bin, self.folder, self.failed = bin_dir, Path(folder), 0

    def say(self, good, what, why=""):
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {what}{'' if good else ': ' + str(why)}")

    def compile(self, model, name, *options, target="cpu"):
        path = self.folder / f"{name}.pbe"
        done = tools.call([f"{self.bin}/pbc", str(model), f"--target={target}", "-o", str(path), *options])
        return path, done

    def run(self, engine, outputs, *words, **inputs):
        command = [f"{self.bin}/pb-run", str(engine), *words]
        for name, value in inputs.items():
            np.save(self.folder / f"{name}.npy", value)
            command += ["--input", f"{name}={self.folder / name}.npy"]
        for name in outputs:
            command += ["--output", f"{name}={self.folder / 'out'}_{name}.npy"]
        done = tools.call(command)
        return done, [np.load(f"{self.folder / 'out'}_{name}.npy") for name in outputs] if not done.returncode else None

    def refused(self, what, done, *words):
        self.say(done.returncode == 1 and all(w in done.stderr for w in words), what, done.stderr)


def on_the_cpu(t):
    rng = np.random.default_rng(1)
    model = onnx.parser.parse_model(HEAD + MODEL)
    for name, value in (("w", rng.standard_normal((64, 96))), ("b", rng.standard_normal(96))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(value.astype(np.float32), name))
    path = t.folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    whole, done = t.compile(path, "whole", "--dim", "batch=1,2,8", "--dim", "seq=16,16,5")
    t.say(not done.returncode, "three profiles", done.stderr)
    sizes = 0
    for batch, seq in (8, 5), (1, 16), (2, 16):
        alone, done = t.compile(path, "alone", f"--dim=batch={batch}", f"--dim=seq={seq}")
        sizes += alone.stat().st_size
        x, m = rng.standard_normal((batch, seq, 64)).astype(np.float32), rng.standard_normal((batch, seq)).astype(np.float32)
        done, ours = t.run(whole, ("y", "n"), x=x, m=m)
        _, theirs = t.run(alone, ("y", "n"), x=x, m=m)
        t.say(ours is not None and all(np.array_equal(a, b) for a, b in zip(ours, theirs)), f"{batch} x {seq}", done.stderr)
    weights = 64 * 96 * 4
    t.say(whole.stat().st_size <= sizes - 2 * weights + 3 * 4096, "the weights are there once", (whole.stat().st_size, sizes))
    other = {"x": np.zeros((8, 16, 64), np.float32), "m": np.zeros((8, 16), np.float32)}
    t.refused("shapes of no profile", t.run(whole, ("y",), **other)[0], "PB5047", "there is x 1x16x64, m 1x16; x 2x16x64, m 2x16; x 8x5x64, m 8x5")
    done = tools.call([f"{t.bin}/pb-run", str(whole), "--info"])
    t.say(done.stdout.count("profile ") == 3 and "profile 3 of 3\ninput x: 8x5x64xf32" in done.stdout, "--info", done.stdout)
    t.refused("lists of two lengths", t.compile(path, "no", "--dim", "batch=1,2,8", "--dim", "seq=1,2")[1], "PB1004", "several lengths")
    t.refused("a text of several", t.compile(path, "no", "--dim", "batch=1,2", "--dim=seq=4", "--emit=s2")[1], "PB1008", "--emit is of one program")
    t.refused("the same twice", t.compile(path, "no", "--dim", "batch=2,2", "--dim=seq=4")[1], "PB5010", "two profiles for the same shapes")
    sixteen = ",".join(map(str, range(1, 17)))
    most, done = t.compile(path, "most", f"--dim=batch={sixteen}", "--dim=seq=2")
    x, m = rng.standard_normal((16, 2, 64)).astype(np.float32), np.zeros((16, 2), np.float32)
    t.say(not done.returncode and t.run(most, ("y",), x=x, m=m)[1] is not None, "as many as there may be", done.stderr)
    t.refused("one more", t.compile(path, "no", f"--dim=batch={sixteen},17", "--dim=seq=2")[1], "PB1004", "no dim an extent")
    t.refused("an empty place in a list", t.compile(path, "no", "--dim", "batch=1,,2", "--dim=seq=4")[1], "PB1004", "no dim an extent")


def on_the_npu(t, target):
    """Codes, words and the device's memory, or several of them; by --input-shape."""
    images = np.random.default_rng(2).random((3, 1, 8, 8), np.float32)
    name = onnx.load(DIGITS).graph.input[0].name
    model = onnx.load(DIGITS)
    model.graph.input[0].type.tensor_type.shape.dim[0].Clear()
    path = t.folder / "digits.onnx"
    path.write_bytes(model.SerializeToString())
    out = model.graph.output[0].name
    whole, done = t.compile(path, "npu", "--input-shape", f"{name}=1,3x1x8x8", target=target)
    t.say(not done.returncode, "profiles of words", done.stderr)
    for count in 3, 1:
        alone, _ = t.compile(path, "npu1", "--input-shape", f"{name}={count}x1x8x8", target=target)
        done, ours = t.run(whole, (out,), "--device=machine", **{name: images[:count]})
        _, theirs = t.run(alone, (out,), "--device=machine", **{name: images[:count]})
        t.say(ours is not None and np.array_equal(ours[0], theirs[0]), f"{count} images on the machine of {Path(target).stem}", done.stderr)


def damaged(t, corpus):
    path = t.folder / "small.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + SMALL).SerializeToString())
    whole, done = t.compile(path, "small", "--dim", "n=2,3")
    bytes_ = whole.read_bytes()
    if corpus:
        corpus.write_bytes(bytes_)
    rng, bad = random.Random(1), []
    x = np.float32([1, 2, 3])
    places = [*range(0, 160), *(4096 + k for k in range(0, 256, 3)), *(rng.randrange(len(bytes_)) for _ in range(200))]
    for at in places:
        changed = bytearray(bytes_)
        changed[at] ^= 1 << rng.randrange(8)
        whole.write_bytes(changed)
        done, out = t.run(whole, ("y",), x=x)
        right = out is not None and np.array_equal(out[0], -x)
        if not (right or (done.returncode == 1 and "[PB50" in done.stderr)):
            bad.append((at, done.returncode, done.stderr))
    t.say(not bad, f"{len(places)} changed bytes", bad[:3])
    whole.write_bytes(bytes_[:-1])
    t.refused("cut short", t.run(whole, ("y",), x=x)[0], "PB5004")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--corpus", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.bin, folder)
        on_the_cpu(bench)
        on_the_npu(bench, "simnpu")
        tests, three = Path(__file__).parent.parent, Path(folder) / "three_memories.td"
        on_the_npu(bench, str(tests / "chips" / "tpu_v1.td"))
        script = f'. "{tests}/device/three_memories.sh"; three_memories "{tests}/.."'
        three.write_bytes(subprocess.run(["bash", "-c", script], check=True, capture_output=True).stdout)
        on_the_npu(bench, str(three))
        damaged(bench, options.corpus)
    print(f"{bench.failed} failed")
    return bench.failed != 0


if __name__ == "__main__":
    sys.exit(main())
