"""Models to engines: `compile`, and the texts of front ends."""

import ctypes
import json
import os
import sys
import warnings
from ctypes import POINTER, c_int64, c_uint64

from . import cache
from .arrays import as_numpy, shape_text
from .dtypes import name_of
from .engine import Engine
from .errors import ArgumentError, CompileError, Diagnostic, PolyBlocksWarning
from .library import BoundTensor, Model, Option, library
from .options import Options, in_python


SLOW = (2028, 4065)  # that something runs, and how slowly: `explain` says it, a call does not


def compile(model, target=None, *, name=None, input_shapes=None, dims=None, constants=None, donate=None, options=None, **more):
    """An engine of a model: a file (.onnx; .mlir: StableHLO or linalg as text), or its bytes or text with a `name` that ends so; or a
    program of torch.export.

    input_shapes: {"x": (1, 3, 224, 224)}; an extent may be "?" (open) or a list (profiles)
    dims:         {"batch": 8}, extents of dims that the model names, likewise
    constants:    {"mask": array}, inputs that are constants: what is made of them is made now
    donate:       {"arg1": "out0"}, outputs that are made in an input's place
    options:      compile_options, of which any may stand here by its name too"""
    if target is not None:
        more["target"] = target
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.export.ExportedProgram):
        return _torch_program(model, input_shapes, {"name": name, "dims": dims, "constants": constants, "donate": donate}, options, more)
    return engine(*described(model, name, input_shapes, dims, donate, Options(options, **more), constants))


def _torch_program(model, input_shapes, others, options, more):
    from .torch_program import TorchProgram

    said = [key for key, value in others.items() if value is not None]
    if said:
        raise ArgumentError(f"{said[0]} is nothing of a torch.export program's: it takes input_shapes and compile options")
    if options is not None and not isinstance(options, dict):
        raise ArgumentError(f"options is {options!r}; it takes a dict")
    return TorchProgram(model, Options({"device_one_time_load": True, **(options or {})}, **more), input_shapes)


def described(model, name, input_shapes, dims, donate, o, constants):
    """A model and what is said of it as libpb takes them."""
    data = None
    if isinstance(model, str) and (name is not None or model.lstrip()[:1] in ('"', "#") or "\n" in model):
        data, name = model.encode(), name or "model.mlir"
    elif isinstance(model, (bytes, bytearray, memoryview)):
        data, name = bytes(model), name or "model.onnx"
    else:
        name = os.fspath(model)
    pairs = o.for_compiler()
    pairs += [("input-shape", f"{key}={'x'.join(map(extents, shape))}") for key, shape in (input_shapes or {}).items()]
    pairs += [("dim", f"{key}={extents(extent)}") for key, extent in (dims or {}).items()]
    pairs += [("donate", f"{key}={value}") for key, value in (donate or {}).items()]
    return name, data, pairs, constants or {}, o


def extents(value):
    """8, "?" or a list of extents, as libpb's options have them."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(extents, value))
    if value in (None, "?", -1):
        return "?"
    if isinstance(value, int) and value > 0:
        return str(value)
    raise ArgumentError(f"{value!r} is no extent: a number from 1 on, '?' for any, or a list of numbers")


def engine(name, data, pairs, constants, o, place=None):
    """Compiles, or takes from the cache. `place` says of a line of the text which line of Python it is of."""
    bound = [(key, as_numpy(value)) for key, value in constants.items()]
    key = cache.key(name, data, pairs, bound, library().path) if o.cache and data is not None else None
    found = cache.find(key, o) if key else None
    if found is not None:
        return found
    made = Engine(run(name, data, pairs, bound, place), n_threads=o.n_threads, device=o.device)
    if key:
        cache.keep(key, made)
    if o.polyblock_gen_library:
        os.makedirs(o.polyblock_gen_library, exist_ok=True)
        made.save(os.path.join(o.polyblock_gen_library, f"{os.path.basename(name).rpartition('.')[0]}.pbe"))
    return made


def _bound_tensors(bound):
    """The constants as libpb takes them, and what must live as long as they do."""
    tensors, kept = (BoundTensor * max(1, len(bound)))(), []
    for k, (key, array) in enumerate(bound):
        said = name_of(array.dtype)
        if said is None or said[1]:
            raise ArgumentError(f"constant {key!r}: there are no constants of {array.dtype}")
        if 0 in array.shape:
            raise ArgumentError(f"constant {key!r} is of shape {shape_text(array.shape)}: it has no elements")
        dense = array if array.flags.c_contiguous else array.copy(order="C")
        shape = (c_int64 * max(1, dense.ndim))(*dense.shape)
        kept += [dense, shape]
        data = dense.__array_interface__["data"][0]
        tensors[k] = BoundTensor(key.encode(), said[0].encode(), dense.ndim, ctypes.cast(shape, POINTER(c_int64)), data)
    return tensors, kept


def run(name, data, pairs, bound=(), place=None, taken=None):
    """The bytes of an engine. CompileError: the compiler's diagnostics; its warnings are Python's."""
    lib = library()
    options = (Option * len(pairs))(*(Option(key.encode(), value.encode()) for key, value in pairs))
    tensors, kept = _bound_tensors(bound)
    model = Model(name.encode(), data, len(data) if data is not None else 0, options, len(pairs), tensors, len(bound))
    result = lib.pb_compiler_run(ctypes.byref(model))
    del kept
    try:
        said = [lib.pb_compiler_get_record(result, k).contents for k in range(lib.pb_compiler_record_count(result))]
        diagnostics = [_diagnostic(record, place) for record in said]
        made = (taken or _engine_of)(lib, result)
        if made is None:
            raise CompileError(diagnostics)
        for diagnostic in (d for d in diagnostics if d.code not in SLOW):
            warnings.warn(str(diagnostic), PolyBlocksWarning, stacklevel=4)
        return made
    finally:
        lib.pb_compiler_free(result)


def _engine_of(lib, result):
    size = c_uint64()
    at = lib.pb_compiler_engine(result, ctypes.byref(size))
    return memoryview((ctypes.c_char * size.value).from_address(at)).tobytes() if at else None


def _text_of(lib, result):
    text = lib.pb_compiler_text(result)
    return text.decode() if text is not None else None


def explained(name, data, pairs, bound, how, place=None):
    """How a model runs: its steps, by which instructions, how long each is predicted to take, what the target lacks."""
    text = run(name, data, [*pairs, ("explain", how)], bound, place, _text_of)
    return json.loads(text) if how == "json" else text


def _diagnostic(record, place):
    texts = [in_python(said.decode(errors="replace")) for said in (record.text, record.hint, record.whole)]
    if "callback" in texts[0] and not texts[1]:
        texts[1] = "what is compiled calls no Python: without jax.debug.print, jax.pure_callback, tf.py_function and their like"
        texts[2] += f"\n  hint: {texts[1]}"
    found = Diagnostic(record.is_error, record.code, record.file.decode(errors="replace"), record.line, record.column, *texts)
    if place and record.line:
        found.source = place(record.line)
    return found
