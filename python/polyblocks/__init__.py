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
    "load",
]
