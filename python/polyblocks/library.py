"""libpb by ctypes: where it is found, and the functions of include/pb/compiler.h and include/pb/pb.h that are called.

PB_LIBRARY names the file; else it is the one beside this package (polyblocks/lib, as a wheel has it), that of the
build tree in whose sources this package lies (build/lib), or what the system's loader finds."""

import ctypes
import functools
import os
from ctypes import POINTER, Structure, c_bool, c_char_p, c_int, c_int64, c_uint, c_uint64, c_void_p
from pathlib import Path

from .errors import PolyBlocksError


class Option(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class BoundTensor(Structure):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("rank", c_int), ("shape", POINTER(c_int64)), ("data", c_void_p)]


class Model(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("bytes", c_char_p),
        ("size", c_uint64),
        ("options", POINTER(Option)),
        ("option_count", c_int),
        ("bound", POINTER(BoundTensor)),
        ("bound_count", c_int),
    ]


class Record(Structure):
    _fields_ = [
        ("is_error", c_bool),
        ("code", c_int),
        ("file", c_char_p),
        ("line", c_int),
        ("column", c_int),
        ("text", c_char_p),
        ("hint", c_char_p),
        ("whole", c_char_p),
    ]


class Tensor(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_char_p),
        ("rank", c_int),
        ("shape", POINTER(c_int64)),
        ("element_bytes", c_uint64),
        ("bytes", c_uint64),
        ("is_complex", c_int),
    ]


# Name, result, arguments. Each call lets go of the interpreter's lock.
FUNCTIONS = [
    ("pb_compiler_run", c_void_p, [POINTER(Model)]),
    ("pb_compiler_free", None, [c_void_p]),
    ("pb_compiler_engine", c_void_p, [c_void_p, POINTER(c_uint64)]),
    ("pb_compiler_text", c_char_p, [c_void_p]),
    ("pb_compiler_record_count", c_int, [c_void_p]),
    ("pb_compiler_get_record", POINTER(Record), [c_void_p, c_int]),
    ("pb_rt_load", c_int, [c_char_p, c_uint, POINTER(c_void_p)]),
    ("pb_rt_free", None, [c_void_p]),
    ("pb_rt_error", c_char_p, []),
    ("pb_rt_target", c_char_p, [c_void_p]),
    ("pb_rt_input_count", c_int, [c_void_p]),
    ("pb_rt_output_count", c_int, [c_void_p]),
    ("pb_rt_input", POINTER(Tensor), [c_void_p, c_int]),
    ("pb_rt_output", POINTER(Tensor), [c_void_p, c_int]),
    ("pb_rt_alias", c_int, [c_void_p, c_int]),
    ("pb_rt_profile_count", c_int, [c_void_p]),
    ("pb_rt_choose", c_int, [c_void_p, POINTER(POINTER(c_int64))]),
    ("pb_rt_is_open", c_bool, [c_void_p]),
    ("pb_rt_set_device", c_int, [c_void_p, c_char_p, c_char_p]),
    ("pb_rt_set_threads", None, [c_void_p, c_int]),
    ("pb_rt_add_machine", None, []),
    ("pb_rt_output_data", c_void_p, [c_void_p, c_int]),
    ("pb_rt_run", c_int, [c_void_p, c_void_p, c_void_p]),
]


def candidates():
    """The files that may be the library, in the order in which they are tried."""
    if "PB_LIBRARY" in os.environ:
        return [os.environ["PB_LIBRARY"]]
    package = Path(__file__).resolve().parent
    return [str(package / "lib" / "libpb.so"), str(package.parents[1] / "build" / "lib" / "libpb.so"), "libpb.so.0"]


@functools.lru_cache(maxsize=None)
def library():
    """libpb, loaded at the first use."""
    tried = []
    for path in candidates():
        if os.sep in path and not os.path.exists(path):
            tried.append(f"{path}: no such file")
            continue
        try:
            # its own LLVM, whatever a framework in this process has of it
            lib = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL | getattr(os, "RTLD_DEEPBIND", 0))
        except OSError as error:
            tried.append(f"{path}: {error}")
            continue
        for name, result, arguments in FUNCTIONS:
            try:
                function = getattr(lib, name)
            except AttributeError:
                raise PolyBlocksError(f"{path} is no libpb of this version: it has no {name}") from None
            function.restype, function.argtypes = result, arguments
        lib.pb_rt_add_machine()
        lib.path = path
        return lib
    raise PolyBlocksError("libpb.so is not found; PB_LIBRARY=FILE names it. Tried:\n  " + "\n  ".join(tried))
