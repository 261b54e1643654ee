"""The twelve programs of c/programs.c, compiled by the machine's own compiler: functions of NumPy arrays that give arrays."""

import ctypes
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).resolve().parent / "c" / "programs.c"
COMMAND = ["gcc", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC"]
FUNCTIONS = {  # by program: its function, and shapes and types of its results, which lie one behind the other
    "cumulative sum, 256 x 4096": ("cumulative_sum", [((256, 4096), np.float32)]),
    "top-k, 64 x 10000, k 50": ("top_k", [((64, 50), np.float32), ((64, 50), np.int32)]),
    "segment sum, 100000 x 64 into 1000": ("segment_sum", [((1000, 64), np.float32)]),
    "histogram of 1,000,000": ("histogram", [((256,), np.int32)]),
    "gather of 100000 rows of 64": ("gather_rows", [((100000, 64), np.float32)]),
    "separable blur, 3 x 2048 x 2048": ("blur", [((3, 2044, 2044), np.float32)]),
    "Sobel edges, 3 x 1024 x 1024": ("sobel", [((3, 1024, 1024), np.float32)]),
    "opening 5 x 5, 3 x 1024 x 1024": ("opening", [((3, 1024, 1024), np.float32)]),
    "20 Jacobi steps, 1024 x 1024": ("jacobi", [((1024, 1024), np.float32)]),
    "Mandelbrot, 512 x 768, 50 turns": ("mandelbrot", [((512, 768), np.int32)]),
    "5 steps of 1,000 bodies": ("bodies", [((1000, 3), np.float32)]),
    "logistic regression, 100 steps": ("logistic", [((32,), np.float32)]),
}


def compiled():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*COMMAND, "-o", f"{folder}/programs.so", str(SOURCE), "-lm"], check=True)
        return ctypes.CDLL(f"{folder}/programs.so")


def function(library, program, threads):
    """A function of the program's arguments, or None: it is not one of the twelve."""
    if program not in FUNCTIONS:
        return None
    os.environ["OMP_NUM_THREADS"] = str(threads)
    name, results = FUNCTIONS[program]
    code = getattr(library, name)
    sizes = [int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in results]

    def run(*arguments):
        held = [np.ascontiguousarray(a) for a in arguments]
        out = np.empty(sum(sizes), np.uint8)
        code((ctypes.c_void_p * len(held))(*(a.ctypes.data for a in held)), ctypes.c_void_p(out.ctypes.data))
        ends = np.cumsum(sizes)
        made = [out[end - size : end].view(kind).reshape(shape) for end, size, (shape, kind) in zip(ends, sizes, results)]
        return made[0] if len(made) == 1 else made

    return run
