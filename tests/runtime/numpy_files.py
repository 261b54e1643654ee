"""Files of numbers as NumPy writes them: each type that a model can have, both orders of dims and of bytes, no elements and no
dims, complex numbers, given to pb-run and written by it.

    tests/runtime/numpy_files.py --bin build/bin"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402

TYPES = {"bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64",
         "float16": "f16", "float32": "f32", "float64": "f64", "complex64": "complex<f32>", "complex128": "complex<f64>"}
SHAPES = (), (1,), (3,), (2, 3), (2, 1, 3), (3, 2, 2, 2), (0,), (2, 0, 3)


def engine(tests, kind):
    """Of one argument, which is the result, reversed where it has dims."""
    text = f'"builtin.module"() ({{\n"func.func"() <{{function_type = ({kind}) -> {kind}, sym_name = "main"}}> ({{\n^bb0(%a: {kind}):\n' \
           f'%r = "stablehlo.optimization_barrier"(%a) : ({kind}) -> {kind}\n"func.return"(%r) : ({kind}) -> ()\n}}) : () -> ()\n}}) : () -> ()\n'
    (tests.folder / "m.mlir").write_text(text)
    tools.compile_model(tests.bin, str(tests.folder / "m.mlir"), "cpu", str(tests.folder / "m.pbe"))


def run(tests, *options):
    command = [f"{tests.bin}/pb-run", str(tests.folder / "m.pbe"), *options]
    return tools.call(command)


def comes_back(tests):
    rng = np.random.default_rng(1)
    for dtype, element in TYPES.items():
        for shape in SHAPES:
            x = rng.integers(0, 2 if dtype == "bool" else 100, shape)
            x = (x - 50.25 + 3j * x if dtype.startswith("complex") else x - 0.5 * (dtype[0] == "f")).astype(dtype) if x.ndim else np.array(x).astype(dtype)
            engine(tests, f"tensor<{''.join(f'{n}x' for n in shape)}{element}>")
            wrong = []
            for what, file in {"rows": x, "columns": np.asfortranarray(x), "big": x.astype(x.dtype.newbyteorder(">")),
                               "big, columns": np.asfortranarray(x.astype(x.dtype.newbyteorder(">")))}.items():
                np.save(tests.folder / "x.npy", file)
                done = run(tests, f"--input={tests.folder}/x.npy", f"--output={tests.folder}/y.npy", f"--expect={tests.folder}/x.npy")
                y = np.load(tests.folder / "y.npy") if not done.returncode else None
                if y is None or y.dtype != x.dtype or y.shape != x.shape or not np.array_equal(x, y):
                    wrong.append(f"{what}: {done.stderr or y!r}")
            tests.say(not wrong, f"{dtype} {shape} {wrong or ''}")


def archives(tests):
    """Arrays of one file, by name: what numpy.savez writes. What is compressed or damaged is refused."""
    f, z = tests.folder, "tensor<3xf32>"
    text = f'"builtin.module"() ({{\n"func.func"() <{{function_type = ({z}, {z}) -> {z}, sym_name = "main"}}> ({{\n^bb0(%a: {z}, %b: {z}):\n' \
           f'%r = "stablehlo.subtract"(%a, %b) : ({z}, {z}) -> {z}\n"func.return"(%r) : ({z}) -> ()\n}}) : () -> ()\n}}) : () -> ()\n'
    (f / "m.mlir").write_text(text)
    tools.compile_model(tests.bin, str(f / "m.mlir"), "cpu", str(f / "m.pbe"))
    a, b = np.array([1, 2, 4], np.float32), np.array([8, 0.5, 3], np.float32)
    np.savez(f / "both.npz", arg0=a, arg1=b, wanted=a - b)
    np.savez(f / "first.npz", a)
    np.savez(f / "other.npz", x=a, y=b)
    np.savez_compressed(f / "packed.npz", arg0=a, arg1=b)
    whole = (f / "both.npz").read_bytes()
    (f / "cut.npz").write_bytes(whole[:-30])
    (f / "turned.npz").write_bytes(whole.replace(a.tobytes(), b.tobytes()))
    (f / "nothing.npz").write_bytes(b"")
    wide = (Path(__file__).parent.parent / "fuzz" / "corpus" / "npz" / "wide.npz")
    for what, options, words in (
            ("all inputs", [f"--input={f}/both.npz", f"--expect={f}/both.npz:wanted"], "3 elements as expected"),
            ("each by its array", [f"--input=arg0={f}/both.npz:arg0", f"--input=arg1={f}/other.npz:y", f"--expect={f}/both.npz:wanted"], "3 elements as expected"),
            ("the only array", [f"--input=arg0={f}/first.npz", f"--input=arg1={f}/both.npz:arg1", f"--expect={f}/both.npz:wanted"], "3 elements as expected"),
            ("by the member's name", [f"--input=arg0={f}/first.npz:arr_0.npy", f"--input=arg1={f}/both.npz:arg1", f"--expect={f}/both.npz:wanted"], "3 elements as expected"),
            ("an input twice", [f"--input={f}/both.npz", "--input=arg0=random:1"], "PB5042"),
            ("no input's name", [f"--input={f}/other.npz"], "PB5058"),
            ("which of two", [f"--input=arg0={f}/both.npz", "--input=arg1=random:1"], "PB5058"),
            ("no such array", [f"--input=arg0={f}/both.npz:z", "--input=arg1=random:1"], "PB5058"),
            ("of another shape", [f"--input=arg0={wide}:x", "--input=arg1=random:1"], "PB5040"),
            ("compressed", [f"--input={f}/packed.npz"], "PB5057"),
            ("cut", [f"--input={f}/cut.npz"], "PB5056"),
            ("of another checksum", [f"--input={f}/turned.npz"], "PB5056"),
            ("of no bytes", [f"--input={f}/nothing.npz"], "PB5056"),
            ("not there", [f"--input={f}/nowhere.npz"], "PB5033"),
            ("a folder", [f"--input=arg0={f}.npz/", "--input=arg1=random:1"], "PB5041")):
        done = run(tests, *options)
        good = words in done.stdout + done.stderr and done.returncode == int("PB" in words)
        tests.say(good, f"arrays of one file: {what}" + ("" if good else f": {done.returncode} {done.stdout} {done.stderr}"))


def complex_forms(tests):
    engine(tests, "tensor<2x3xcomplex<f32>>")
    x = (np.arange(6) + 1j * np.arange(6, 0, -1)).astype(np.complex64).reshape(2, 3)
    np.save(tests.folder / "x.npy", x)
    np.save(tests.folder / "pairs.npy", x.view(np.float32).reshape(2, 3, 2))
    np.save(tests.folder / "twice.npy", np.concatenate([x, -x]))
    for what, options, words in (("of pairs", [f"--input={tests.folder}/pairs.npy", f"--expect={tests.folder}/x.npy"], "12 elements as expected"),
                                 ("are expected as pairs", [f"--input={tests.folder}/x.npy", f"--expect={tests.folder}/pairs.npy"], "12 elements as expected"),
                                 ("of two samples", [f"--input={tests.folder}/twice.npy", f"--expect={tests.folder}/twice.npy"], "24 elements as expected"),
                                 ("are printed", [f"--input={tests.folder}/x.npy"], "out0: 2x3xcomplex<f32> = 0+6j 1+5j"),
                                 ("are a number", ["--input=2x3xcomplex<f32>=3"], "= 3+0j 3+0j"), ("are pairs of a number", ["--input=2x3x2xf32=3"], "= 3+3j"),
                                 ("are random", ["--input=random:4"], "complex<f32> = "), ("are told of", ["--info"], "input arg0: 2x3xcomplex<f32>")):
        done = run(tests, *options)
        tests.say(not done.returncode and words in done.stdout, f"complex numbers {what} {done.stdout if words not in done.stdout else ''}{done.stderr}")
    listed = subprocess.run([f"{tests.bin}/pb-objdump", str(tests.folder / "m.pbe"), "--headers"], capture_output=True, text=True).stdout
    tests.say("output0 out0: 2x3xcomplex<f32>" in listed, "complex numbers in pb-objdump")
    np.save(tests.folder / "wide.npy", x.astype(np.complex128))
    np.save(tests.folder / "real.npy", x.real.copy())
    for what, file in ("wider", "wide.npy"), ("real", "real.npy"):
        done = run(tests, f"--input={tests.folder}/{file}")
        tests.say(done.returncode == 1 and "'arg0' is 2x3xcomplex<f32> [PB5040]" in done.stderr, f"{what} numbers are refused")
    engine(tests, "tensor<2x3x2xf32>")
    done = run(tests, f"--input={tests.folder}/x.npy")
    tests.say(done.returncode == 1 and "holds 2x3xcomplex<f32>; 'arg0' is 2x3x2xf32 [PB5040]" in done.stderr, "real numbers are not complex ones")


sys.exit(tools.run_checks(tools.Checks, comes_back, complex_forms, archives))
