"""pb from Python.

    @polyblocks_jit_jax(compile_options={"target": "cpu"})        # _torch, _tf: functions, modules, methods
    polyblocks.compile("model.onnx", target="cpu").save("x.pbe")
    y = polyblocks.load("x.pbe")(x)

Front ends are imported when they are used: this package needs NumPy alone."""

from .compiler import compile
from .engine import Engine, load
from .explain import explain
from .quantize import quantize
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

_FRONT_ENDS = {"polyblocks_jit_jax": "from_jax", "polyblocks_jit_torch": "from_torch", "polyblocks_jit_tf": "from_tensorflow"}


def _register_backend():
    """torch.compile finds the backend "polyblocks" where PyTorch was imported first; else by the package's entry point."""
    import sys

    if "torch" in sys.modules:
        from .dynamo import register

        register()


def __getattr__(name):
    if name in _FRONT_ENDS:
        import importlib

        return getattr(importlib.import_module(f".{_FRONT_ENDS[name]}", __name__), name)
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
    "polyblocks_jit_jax",
    "polyblocks_jit_tf",
    "polyblocks_jit_torch",
    "quantize",
]
