"""Whole programs as the compiler makes them, pinned in program_pins.txt: models of every kind for targets of every kind, chosen
so that between them they run nearly every line that planning, layout, fusion and lowering have. A change of the compiler
that changes what it makes of one of them shows here; --write makes the pins anew, and the change of the file says which
programs it touches. Whether programs are right is for the other tests.

    program_pins.py --bin BUILD/bin [--only TEXT] [--shard 0/2] [--first] [--write] [--keep DIR] [--stages FILE]

A line is a model, a target and WHAT:DIGEST for what the engine has: the model's own bytes, the commands of a chip with queues,
LLVM's IR of cores (of every second model, for its own sake: machine code hangs on LLVM's version), the tensors and steps of
the engine's program, its constants. A refusal ends it with the code. What stands between passes is nobody's promise and not
pinned: --stages writes its digests too, to be compared with those of another build, and --keep leaves the texts themselves in
DIR/MODEL-TARGET. A line of a model and a target alone is filled in by --write. --first: stops at the first difference."""

import argparse
import base64
import functools
import hashlib
import os
import re
import shutil
import struct
import sys
import tarfile
import tempfile
import zlib
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

sys.path.insert(0, os.path.join(tools.HERE, "..", "stablehlo"))
tools.require("numpy", "onnx")
import code_cases  # noqa: E402, F401  (registers its cases)
import folded_cases  # noqa: E402, F401  (the same)
import function_cases  # noqa: E402, F401  (the same)
import image_cases  # noqa: E402, F401  (the same)
import quantised_cases  # noqa: E402
import regression_cases  # noqa: E402
import suite  # noqa: E402
import product_cases  # noqa: E402, F401  (the same)
import rank_cases  # noqa: E402, F401  (the same)
import token_cases  # noqa: E402, F401  (the same)
import transformer_cases  # noqa: E402, F401  (the same)
import typed_cases  # noqa: E402, F401  (the same)
from float_cases import CASES  # noqa: E402

PINS = Path(tools.HERE, "pins", "program_pins.txt")
TESTS = Path(tools.SOURCE, "tests")
TEXTS = {"open": TESTS / "open" / "texts", "host": TESTS / "host" / "texts"}
CORES = "cpu", "amx", "dsp"
STREAMS, CONSTS = 2, 4  # sections of an engine (core/artefact/format.h)
PINNED = "model", "s4", "commands", "words", "consts", "steps", "refused"


@functools.lru_cache(None)
def makers():
    """name: what makes the model of ONNX."""
    found = {f"float/{make.name}": lambda make=make: make().model for make in CASES}
    found.update({f"codes/{name}": lambda name=name: quantised_cases.make(name).model() for name in quantised_cases.CASES})
    found.update({f"regression/{name}": lambda make=make: make().model for name, make in regression_cases.CASES.items()})
    return found


@functools.lru_cache(None)
def suite_files():
    """The StableHLO suite's files: name without its ending, text."""
    with tarfile.open(TESTS / "stablehlo" / "data" / "stablehlo-dev.tar.xz") as tar:
        files = (member for member in tar.getmembers() if member.name.startswith("stablehlo/static/"))
        return {Path(member.name).stem: tar.extractfile(member).read() for member in files if member.isfile()}


def save_model(name, folder):
    """Its file."""
    kind, _, rest = name.partition("/")
    if kind in TEXTS:
        return TEXTS[kind] / f"{rest}.mlir"
    if name == "digits":
        return Path(tools.MODELS, "digits.onnx")
    if kind == "suite":
        (folder / "suite.mlir").write_bytes(suite_files()[rest])
        (folder / "m.mlir").write_text(suite.Case(folder / "suite.mlir").text)
        return folder / "m.mlir"
    (folder / "m.onnx").write_bytes(makers()[name]().SerializeToString(deterministic=True))
    return folder / "m.onnx"


def digest(data):
    return base64.b64encode(hashlib.sha256(data).digest(), b"-_")[:4].decode()


def sections(engine):
    """kind: bytes"""
    count, = struct.unpack_from("<I", engine, 12)
    table = (struct.unpack_from("<IIQQQ", engine, 64 + 32 * k) for k in range(count))
    return {kind: engine[offset:offset + size] for kind, _, offset, size, _ in table}


class Programs:
    def __init__(self, bin_dir, folder, keep):
        self.bin, self.folder, self.keep = Path(bin_dir), Path(folder), keep

    def options(self, name, target):
        chip = TESTS / "chips" / f"{target}.td"
        yield f"--target={chip if chip.exists() else target}"
        yield "--threads=1"
        if name.startswith("host/") and not target.startswith(CORES):
            yield "--fallback=cpu:v3"

    def stages(self, name, target):
        """(stage, its text) in order; the last perhaps of a refusal."""
        model, left, engine = save_model(name, self.folder), self.folder / "stages", self.folder / "m.pbe"
        shutil.rmtree(left, ignore_errors=True)
        yield "model", model.read_bytes()
        text = ["--emit=s4"] if target.startswith(CORES) and zlib.crc32(name.encode()) % 2 else []
        dump = [f"--dump-intermediates={left}"] if not name.startswith("open/") else []  # open dims: there is none
        told = tools.call([str(self.bin / "pbc"), str(model), *self.options(name, target), *text, *dump, "-o", str(engine)])
        for path in sorted(left.rglob("*"), key=lambda path: (path.parent, path.name)) if left.exists() else ():
            if path.is_file():
                yield re.sub(r"^\d+-", "", path.stem), path.read_bytes()
        if told.returncode:
            yield "refused", re.search(r"\[(PB\d+)\]|$", told.stderr).group().encode() or f"exit code {told.returncode}".encode()
            return
        made = engine.read_bytes()
        if text:
            yield "s4", made
        elif made.startswith(b"PBENGINE"):
            parts = sections(made)
            yield "words", parts[STREAMS]
            yield "consts", parts[CONSTS]
            headers = tools.run([str(self.bin / "pb-objdump"), str(engine), "--headers"])
            yield "steps", headers.split("\n", 1)[1].encode()  # without the hash of the description

    def line(self, name, target):
        """The digests of all stages, but for those whose text is that of the stage in front."""
        told, last, keep = [], None, self.keep and Path(self.keep, f"{name}-{target}".replace("/", "-"))
        for number, (stage, text) in enumerate(self.stages(name, target)):
            if keep:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{number:02}-{stage}").write_bytes(text)
            if text != last:
                told.append(f"{stage}:{text.decode() if stage == 'refused' else digest(text)}")
            last = text
        return told


def first_difference(pinned, now):
    for was, is_now in zip(pinned, now):
        if was != is_now:
            return f"{was.split(':')[0]} is another" if was.split(":")[0] == is_now.split(":")[0] else f"{is_now} came, not {was}"
    return f"{(now + pinned)[min(len(now), len(pinned))]} is there alone" if len(now) != len(pinned) else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="", help="lines that contain this")
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--first", action="store_true", help="stop at the first difference")
    parser.add_argument("--write", action="store_true", help="pin what is made now")
    parser.add_argument("--keep", help="where what the stages leave stays")
    parser.add_argument("--stages", type=argparse.FileType("w", encoding="utf-8"), help="where the digests of all stages go")
    args = parser.parse_args()
    shard, shards = map(int, args.shard.split("/"))
    lines, moved = [line.split() for line in PINS.read_text(encoding="utf-8").splitlines()], 0
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(args.bin, folder, args.keep)
        for number, (name, target, *pinned) in enumerate(lines):
            if args.only not in f"{name} {target}" or number % shards != shard:
                continue
            stages = programs.line(name, target)
            if args.stages:
                args.stages.write(" ".join([name, target, *stages]) + "\n")
            now = [digest for digest in stages if digest.split(":")[0] in PINNED]
            lines[number] = [name, target, *now]
            differs = first_difference(pinned, now)
            if differs and not args.write:
                moved += 1
                print(f"FAILED {name} {target}: {differs}\n  pinned {' '.join(pinned)}\n  now    {' '.join(now)}", flush=True)
            if differs and args.first and not args.write:
                break
    if args.write:
        PINS.write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} programs: {moved} moved")
    return int(moved > 0 or not lines)


if __name__ == "__main__":
    sys.exit(main())
