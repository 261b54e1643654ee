"""The package over NumPy alone: compile, load, calls, errors, threads, the cache."""

import gc
import os
import threading
import time
from pathlib import Path

import numpy as np
import polyblocks
import pytest
from polyblocks import cache, library
from polyblocks.options import in_python

MODELS = Path(__file__).resolve().parents[1] / "models"


def module(types, results, body, names="xyz"):
    """A StableHLO module whose arguments are %x, %y, %z."""
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in zip(names, types))
    ends = ", ".join(f"%r{k}" for k in range(len(results)))
    kinds = ", ".join(results)
    return f'''"builtin.module"() ({{
  "func.func"() <{{function_type = ({", ".join(types)}) -> ({kinds}), sym_name = "main"}}> ({{
  ^bb0({arguments}):
{body}
    "func.return"({ends}) : ({kinds}) -> ()
  }}) : () -> ()
}}) : () -> ()
'''


def add(kind):
    return module([kind, kind], [kind], f'    %r0 = "stablehlo.add"(%x, %y) : ({kind}, {kind}) -> {kind}')


@pytest.fixture(scope="module")
def adder():
    return polyblocks.compile(add("tensor<2x3xf32>"))


X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_describes_itself(adder):
    assert [(i.name, i.dtype, i.shape) for i in adder.inputs] == [("arg0", np.float32, (2, 3)), ("arg1", np.float32, (2, 3))]
    assert repr(adder.outputs) == "[out0: float32[2, 3]]" and not adder.is_open


def test_arguments(adder):
    want = X + 2 * X
    for got in (
        adder(X, 2 * X),
        adder(X, arg1=2 * X),
        adder(arg1=2 * X, arg0=X),
        adder({"arg0": X, "arg1": 2 * X}),
        adder([X, None, {"a": 2 * X}]),
        adder((X,), None, weights=[2 * X]),
        adder(memoryview(X), 2 * X),
        adder(X.T.copy().T, np.asfortranarray(2 * X)),
    ):
        assert np.array_equal(got, want) and got.dtype == np.float32


class Lender:
    """Has DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_no_copy():
    from polyblocks.arrays import as_numpy

    for lent in (X, memoryview(X), Lender(X)):
        assert np.shares_memory(as_numpy(lent), X)
    read_only = X.copy()
    read_only.flags.writeable = False
    assert np.shares_memory(as_numpy(read_only), read_only)


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda e: e(X), "1 arrays for 2 inputs"),
        (lambda e: e(X, X, X), "3 arrays for 2 inputs"),
        (lambda e: e(X, X.astype(np.float64)), "'arg1' takes float32, not float64"),
        (lambda e: e(X, X.astype(np.int32)), "'arg1' takes float32, not int32"),
        (lambda e: e(X, X[:1]), "'arg1' takes 2x3, not 1x3"),
        (lambda e: e(X, 3.0), "'arg1' takes 2x3, not a number"),
        (lambda e: e(X, arg7=X), "no input 'arg7'; there are arg0, arg1"),
        (lambda e: e(X, "text"), "str is no array"),
        (lambda e: e(X, object()), "object is no array"),
    ],
)
def test_wrong_arguments(adder, call, says):
    with pytest.raises(polyblocks.ArgumentError) as error:
        call(adder)
    assert says in str(error.value)


def test_numbers():
    e = polyblocks.compile(add("tensor<i32>"))
    assert e(3, 4) == 7 and e(3, 4).shape == ()
    for wrong in (2.5, 1 << 40, 1j):
        with pytest.raises(polyblocks.ArgumentError, match="'arg1' takes int32, which has no"):
            e(3, wrong)


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "f32", "f64"])
def test_types(kind):
    e = polyblocks.compile(add(f"tensor<5x{kind}>"))
    x = np.arange(5).astype(e.inputs[0].dtype)
    assert np.array_equal(e(x, x), x + x)


def test_complex_and_truths():
    kind = "tensor<3xcomplex<f32>>"
    x = np.array([1 + 2j, -3j, 4], np.complex64)
    assert np.array_equal(polyblocks.compile(add(kind))(x, x), x + x)
    kind = "tensor<4xi1>"
    t, f = np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool)
    assert np.array_equal(polyblocks.compile(add(kind))(t, f), t | f)


def test_several_outputs_and_empty():
    kind = "tensor<2x3xf32>"
    body = f'    %r0 = "stablehlo.negate"(%x) : ({kind}) -> {kind}\n    %r1 = "stablehlo.abs"(%x) : ({kind}) -> {kind}'
    a, b = polyblocks.compile(module([kind], [kind, kind], body))(X - 2)
    assert np.array_equal(a, 2 - X) and np.array_equal(b, abs(X - 2))
    e = polyblocks.compile(add("tensor<0x3xf32>"))
    assert e(X[:0], X[:0]).shape == (0, 3)


def test_open_extents():
    kind = "tensor<?x3xf32>"
    e = polyblocks.compile(module([kind], [kind], f'    %r0 = "stablehlo.negate"(%x) : ({kind}) -> {kind}'))
    assert e.is_open and e.inputs[0].shape == (-1, 3)
    for rows in (1, 7, 2):
        x = np.arange(3.0 * rows, dtype=np.float32).reshape(rows, 3)
        assert np.array_equal(e(x), -x)
    with pytest.raises(polyblocks.ArgumentError, match=r"'arg0' takes \?x3, not 2x4"):
        e(np.zeros((2, 4), np.float32))


def test_model_file_and_profiles():
    images, labels = np.load(MODELS / "digits_images.npy"), np.load(MODELS / "digits_labels.npy")
    e = polyblocks.compile(MODELS / "digits.onnx", target="cpu")
    x = images[: e.inputs[0].shape[0]].astype(e.inputs[0].dtype).reshape(e.inputs[0].shape)
    assert e(x).shape == e.outputs[0].shape
    assert len(labels) == len(images)


def test_save_and_load(adder, tmp_path):
    adder.save(tmp_path / "add.pbe")
    for source in (tmp_path / "add.pbe", str(tmp_path / "add.pbe"), (tmp_path / "add.pbe").read_bytes()):
        assert np.array_equal(polyblocks.load(source, n_threads=1)(X, X), X + X)
    with pytest.raises(polyblocks.EngineError) as error:
        polyblocks.load((tmp_path / "add.pbe").read_bytes()[:-9])
    assert 5000 <= error.value.code < 6000
    with pytest.raises(polyblocks.EngineError):
        polyblocks.load(tmp_path / "absent.pbe")


def test_constants():
    e = polyblocks.compile(add("tensor<2x3xf32>"), constants={"arg1": 3 * X})
    assert len(e.inputs) == 1 and np.array_equal(e(X), 4 * X)
    with pytest.raises(polyblocks.CompileError, match="no input is named 'arg9'"):
        polyblocks.compile(add("tensor<2x3xf32>"), constants={"arg9": X})


def test_diagnostics():
    with pytest.raises(polyblocks.CompileError) as error:
        polyblocks.compile(add("tensor<2x3xf32>").replace("stablehlo.add", "stablehlo.ad"), name="model.mlir")
    first = error.value.diagnostics[0]
    assert (first.code, first.file, first.line, first.hint) == (2111, "model.mlir", 4, "perhaps stablehlo.add")
    assert "operator 'stablehlo.ad' is not read" in str(error.value) and error.value.code == 2111


@pytest.mark.parametrize(
    "hint, said",
    [
        ("another target, or --fallback=cpu", "another target, or strict_target=False"),
        ("fewer weights, or --target=cpu:v3", "fewer weights, or target='cpu:v3'"),
        ("--precision=bf16, if its factors may be rounded", "mm_conv_precision_mode='bf16', if its factors may be rounded"),
        ("--dim 'n=128'", "dims={'n': 128}"),
        ("list values for its dims, --dim NAME=1,8 or --input-shape", "list values for its dims, dims={'NAME': (1,8)} or input_shapes"),
        ("--input-shape x=1x3x224x224", "input_shapes={'x': (1, 3, 224, 224)}"),
    ],
)
def test_hints_name_options_of_python(hint, said):
    assert in_python(hint) == said


@pytest.mark.parametrize(
    "options, says",
    [
        ({"targt": "cpu"}, "perhaps 'target'"),
        ({"wibble": 1}, "There are: target, strict_target"),
        ({"strict_target": "no"}, "takes True or False"),
        ({"mm_conv_precision_mode": "tf32"}, "it takes 'f32', 'bf16'"),
        ({"num_iters": 0}, "from 1 on"),
        ({"on_gpu_tensors": True}, "in the system's memory"),
        ({"polyblocks_disable_affine_fusion": True}, "cannot be True"),
        ("cpu", "it takes a dict"),
    ],
)
def test_wrong_options(options, says):
    with pytest.raises(polyblocks.OptionError) as error:
        polyblocks.compile(add("tensor<2x3xf32>"), options=options)
    assert says in str(error.value)


def test_other_targets():
    with pytest.raises(polyblocks.CompileError):
        polyblocks.compile(add("tensor<2x3xf32>"), target="nosuch")
    text = add("tensor<2x3xf64>")
    with pytest.raises(polyblocks.CompileError):
        polyblocks.compile(text, target="simnpu")
    with pytest.warns(polyblocks.PolyBlocksWarning):
        e = polyblocks.compile(text, target="simnpu", strict_target=False)
    assert np.array_equal(e(X.astype(float), X.astype(float)), 2.0 * X)


def test_loops_read_from_anywhere():
    """Arrays that a loop reads in each turn are copied where they begin inside of a line of the caches, anew in each run."""
    text = """func.func @main(%w: tensor<96x96xf32>, %x: tensor<8x96xf32>) -> tensor<8x96xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%k = %zero, %v = %x) : tensor<i32>, tensor<8x96xf32>
  cond {
    %many = stablehlo.constant dense<2000> : tensor<i32>
    %p = stablehlo.compare LT, %k, %many, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %k, %one : tensor<i32>
    %y = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : (tensor<8x96xf32>, tensor<96x96xf32>) -> tensor<8x96xf32>
    stablehlo.return %next, %y : tensor<i32>, tensor<8x96xf32>
  }
  return %r#1 : tensor<8x96xf32>
}
"""
    engine = polyblocks.compile(text)
    rows = np.random.default_rng(1).permutation(96)
    x = np.random.default_rng(2).standard_normal((8, 96)).astype(np.float32)
    memory = np.zeros(96 * 96 * 4 + 128, np.uint8)
    for offset in (0, 4, 16, 60):
        start = -memory.ctypes.data % 64 + offset
        w = memory[start : start + 96 * 96 * 4].view(np.float32).reshape(96, 96)
        for turn in range(2):  # the same memory with other numbers in it
            w[:] = np.eye(96, dtype=np.float32)[np.roll(rows, turn)]
            want = x
            for _ in range(2000):
                want = want @ w
            assert np.array_equal(engine(w, x), want) and np.array_equal(w, np.eye(96, dtype=np.float32)[np.roll(rows, turn)])


def test_threads(adder):
    """Eight threads with numbers of their own; the interpreter runs beside them."""
    wrong = []

    def work(first):
        for k in range(300):
            x = X + first * 1000 + k
            if not np.array_equal(adder(x, x), 2 * x):
                wrong.append((first, k))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_lets_go_of_the_lock():
    """While an engine runs, another thread of Python goes on."""
    kind = "tensor<1024x1024xf32>"
    dims = "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
    body = f'    %r0 = "stablehlo.dot_general"(%x, %y) <{{dot_dimension_numbers = {dims}}}> : ({kind}, {kind}) -> {kind}'
    e = polyblocks.compile(module([kind, kind], [kind], body), n_threads=1)
    x, y = np.ones((1024, 1024), np.float32), np.empty((1024, 1024), np.float32)
    e(x, x)
    ticks, running = [], True

    def tick():
        while running:
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    t = threading.Thread(target=tick)
    t.start()
    start = time.perf_counter()
    for _ in range(20):
        e.run_pointers([x.ctypes.data, x.ctypes.data], [y.ctypes.data])
    end = time.perf_counter()
    running = False
    t.join()
    inside = [now for now in ticks if start < now < end]
    assert len(inside) > 20, f"{len(inside)} turns of another thread in {end - start:.3f} s"


def test_overhead(adder):
    """What a call costs over the C function; the best of several, for others use the machine too."""
    e = polyblocks.compile(add("tensor<2x3xf32>"), n_threads=1)
    runtime, out = e._free[0], np.empty_like(X)
    runtime.inputs[:] = [X.ctypes.data, X.ctypes.data]
    runtime.outputs[:] = [out.ctypes.data]

    def best(call):
        times = []
        for _ in range(20):
            start = time.perf_counter()
            for _ in range(200):
                call()
            times.append((time.perf_counter() - start) / 200)
        return min(times)

    c = best(lambda: e._run(runtime.handle, runtime.inputs, runtime.outputs))
    over = best(lambda: e(X, X)) - c
    print(f"a call takes {1e6 * over:.1f} us more than C's {1e6 * c:.1f}")
    assert over <= 20e-6


def test_nothing_is_left(adder):
    def files():
        return len(os.listdir("/proc/self/fd"))

    polyblocks.compile(add("tensor<7xf32>"), cache=False)
    gc.collect()
    before = files()
    for _ in range(5):
        e = polyblocks.compile(add("tensor<7xf32>"), cache=False)
        e(np.zeros(7, np.float32), np.zeros(7, np.float32))
        del e
        gc.collect()
    assert files() == before


def test_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYBLOCKS_CACHE", str(tmp_path / "kept"))
    text = add("tensor<11xf32>")
    polyblocks.compile(text)
    (kept,) = (tmp_path / "kept").iterdir()
    first = kept.stat().st_ino
    x = np.ones(11, np.float32)
    assert np.array_equal(polyblocks.compile(text)(x, x), x + x) and kept.stat().st_ino == first
    for more in ({"mm_conv_precision_mode": "bf16"}, {"constants": {"arg1": x}}, {"constants": {"arg1": 2 * x}}):
        count = len(list((tmp_path / "kept").iterdir()))
        polyblocks.compile(text, **more)
        assert len(list((tmp_path / "kept").iterdir())) == count + 1, more
    kept.write_bytes(kept.read_bytes()[:100])  # damaged: made anew
    assert np.array_equal(polyblocks.compile(text)(x, x), x + x)
    assert len(kept.read_bytes()) > 100
    kept.write_bytes(b"what another user may have left there")
    kept.chmod(0o666)
    assert np.array_equal(polyblocks.compile(text)(x, x), x + x)
    cache.prune(tmp_path / "kept", most=0)
    assert not list((tmp_path / "kept").iterdir())
    monkeypatch.setenv("POLYBLOCKS_CACHE", "")
    polyblocks.compile(text)
    assert not list((tmp_path / "kept").iterdir())


def test_library_is_named(monkeypatch):
    library.library.cache_clear()
    monkeypatch.setenv("PB_LIBRARY", "/nowhere/libpb.so")
    try:
        with pytest.raises(polyblocks.PolyBlocksError, match="PB_LIBRARY=FILE names it"):
            library.library()
    finally:
        library.library.cache_clear()


def test_explain():
    text = polyblocks.explain(MODELS / "digits.onnx", target="simnpu")
    assert "cycles" in text
    told = polyblocks.explain(MODELS / "digits.onnx", target="simnpu", format="json")
    assert isinstance(told, dict) and told
    assert polyblocks.explain(MODELS / "digits.onnx", target="cpu", format="html").lstrip().startswith("<")
    lacking = polyblocks.explain(add("tensor<2x3xf64>"), target="simnpu")
    assert "add" in lacking
    with pytest.raises(polyblocks.ArgumentError, match="it takes 'text', 'json', 'html'"):
        polyblocks.explain(add("tensor<2x3xf32>"), format="pdf")
    with pytest.raises(polyblocks.ArgumentError, match="decorate it first"):
        polyblocks.explain(abs, X)
    with pytest.raises(polyblocks.CompileError, match="absent.onnx"):
        polyblocks.explain("absent.onnx")
