"""pb from Python.

    @polyblocks_jit_jax(compile_options={"target": "cpu"})        # _torch, _tf: functions, modules, methods
    polyblocks.compile("model.onnx", target="cpu").save("x.pbe")
    y = polyblocks.load("x.pbe")(x)

Front ends are imported when they are used: this package needs NumPy alone."""

from .compiler import compile
from .engine import Engine, load
from .errors import (
    ArgumentError,
    CompileError,
    Diagnostic,
    EngineError,
    NotSupported,
    OptionError,
    PolyBlocksError,
    PolyBlocksWarning,
)
from .explain import explain
from .quantize import quantize

_FRONT_ENDS = {"polyblocks_jit_jax": "from_jax", "polyblocks_jit_torch": "from_torch", "polyblocks_jit_tf": "from_tensorflow"}


def __getattr__(name):
    import importlib

    if name == "dynamo":  # torch.compile's backend
        return importlib.import_module(".dynamo", __name__)
    if name in _FRONT_ENDS:
        front_end = importlib.import_module(f".{_FRONT_ENDS[name]}", __name__)
        if name == "polyblocks_jit_torch":  # torch.compile knows the backend from then on; a wheel has an entry point for it
            importlib.import_module(".dynamo", __name__).register()
        return getattr(front_end, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__version__ = "0.1.0"
__all__ = [
    "ArgumentError",
    "CompileError",
    "Diagnostic",
    "Engine",
    "EngineError",
    "NotSupported",
    "OptionError",
    "PolyBlocksError",
    "PolyBlocksWarning",
    "compile",
    "explain",
    "load",
    "quantize",
]  # front ends are asked for by name: each needs its framework
