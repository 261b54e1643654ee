"""Engines on disk, by what they were made of: text, options, constants, the compiler, and the processor that "cpu" means.

POLYBLOCKS_CACHE names the folder, ~/.cache/polyblocks where it is not set; set to nothing, nothing is kept. Engines hold
machine code: only the user may write there. What was not used for the longest time goes when there is too much."""

import functools
import hashlib
import os
import stat
import tempfile
import warnings
from pathlib import Path

import numpy as np

from .engine import Engine
from .errors import EngineError, PolyBlocksWarning

MOST_BYTES = 4 << 30


def folder():
    """The folder, None: nothing is kept."""
    said = os.environ.get("POLYBLOCKS_CACHE")
    if said == "":
        return None
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(said) if said else base / "polyblocks"


@functools.lru_cache(maxsize=None)
def compiler_identity(path):
    """Of the library that compiles and the processor that it compiles for."""
    try:
        file = os.stat(path)
        library = f"{os.path.realpath(path)} {file.st_size} {file.st_mtime_ns}"
    except OSError:
        library = path
    try:
        with open("/proc/cpuinfo") as file:
            flags = next((line for line in file if line.startswith(("flags", "Features"))), "")
    except OSError:
        flags = ""
    return f"{library}\n{flags}"


def descriptions(pairs):
    """The texts of descriptions that are files of the user's: with those beside them, which they may include."""
    for key, value in pairs:
        path = Path(value)
        inside = path if key == "target-dir" else path.parent if value.endswith(".td") else None
        if inside is not None and inside.is_dir():
            for file in sorted(inside.rglob("*.td")):
                yield str(file).encode()
                yield file.read_bytes()


def key(name, data, pairs, bound, library):
    h = hashlib.sha256()

    def add(part):
        h.update(len(part).to_bytes(8, "little"))
        h.update(part)

    add(compiler_identity(library).encode())
    add(name.rpartition(".")[2].encode())
    add(data)
    for option in pairs:
        add("=".join(option).encode())
    for text in descriptions(pairs):
        add(text)
    for constant, array in bound:
        add(f"{constant} {array.dtype} {array.shape}".encode())
        add(memoryview(np.ascontiguousarray(array).reshape(-1).view("u1")))
    return h.hexdigest()


def find(name, o):
    """The engine of that key, None: there is none, or what there is cannot be read."""
    base = folder()
    path = base / f"{name}.pbe" if base else None
    if path is None or not _is_ours(path):
        return None
    try:
        os.utime(path)
        return Engine(path, n_threads=o.n_threads, device=o.device)
    except (OSError, EngineError):
        path.unlink(missing_ok=True)
        return None


def _is_ours(path):
    try:
        file = os.stat(path)
    except OSError:
        return False
    return file.st_uid == os.getuid() and not file.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def keep(name, engine):
    """Leaves an engine there, whole or not at all."""
    base = folder()
    if base is None:
        return
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=base, suffix=".part")
        os.close(handle)
        try:
            engine.save(part)
            os.replace(part, base / f"{name}.pbe")
        except BaseException:
            os.unlink(part)
            raise
        prune(base)
    except OSError as error:
        warnings.warn(f"the engine is not kept: {error}", PolyBlocksWarning, stacklevel=4)


def prune(base, most=None):
    """Removes what was not used for the longest time, down to `most` bytes."""
    files = []
    for entry in os.scandir(base):
        if entry.name.endswith(".pbe"):
            file = entry.stat()
            files.append((file.st_mtime, file.st_size, entry.path))
    left = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if left <= (MOST_BYTES if most is None else most):
            return
        Path(path).unlink(missing_ok=True)
        left -= size
