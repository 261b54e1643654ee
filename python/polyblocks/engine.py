"""Engines: what was compiled, called with arrays."""

import ctypes
import math
import os
import threading
from ctypes import c_int64, c_void_p

import numpy as np

from . import arrays, dtypes
from .errors import ArgumentError, EngineError
from .library import library


class TensorInfo:
    """An input or output: `name`, `dtype` (NumPy's), `shape` (-1: open)."""

    __slots__ = ("name", "dtype", "shape", "type")

    def __init__(self, name, dtype, shape, type):
        self.name, self.dtype, self.shape, self.type = name, dtype, shape, type

    def __repr__(self):
        return f"{self.name}: {self.dtype}[{', '.join('?' if n < 0 else str(n) for n in self.shape)}]"


def _shape_of(tensor):
    t = tensor.contents
    shape = tuple(t.shape[d] for d in range(t.rank))
    return shape[:-1] if t.is_complex else shape


def _info(tensor):
    t = tensor.contents
    name = t.type.decode()
    return TensorInfo(t.name.decode(), dtypes.numpy_type(name, bool(t.is_complex)), _shape_of(tensor), name)


class _Runtime:
    """One pb_rt, of one thread at a time, with the arrays of pointers that its runs take."""

    def __init__(self, path, options):
        self.lib = library()
        handle = c_void_p()
        code = self.lib.pb_rt_load(path.encode(), 0, ctypes.byref(handle))
        if code:
            raise EngineError(code, self.lib.pb_rt_error().decode())
        self.handle = handle
        self.inputs = (c_void_p * max(1, self.lib.pb_rt_input_count(handle)))()
        self.outputs = (c_void_p * max(1, self.lib.pb_rt_output_count(handle)))()
        self.shapes = None  # for which it was last chosen
        if options.get("n_threads"):
            self.lib.pb_rt_set_threads(handle, options["n_threads"])
        if options.get("device"):
            self.check(self.lib.pb_rt_set_device(handle, options["device"].encode(), options.get("device_options")))

    def check(self, code):
        if code:
            raise EngineError(code, self.lib.pb_rt_error().decode())

    def __del__(self):
        if getattr(self, "handle", None):
            self.lib.pb_rt_free(self.handle)
            self.handle = None

    def choose(self, shapes):
        """Extents of open dims, or which of its profiles: what the inputs' shapes say."""
        if shapes == self.shapes:
            return
        self.shapes = None
        extents = [(c_int64 * max(1, len(shape)))(*shape) for shape in shapes]
        pointer = ctypes.POINTER(c_int64)
        self.check(self.lib.pb_rt_choose(self.handle, (pointer * max(1, len(extents)))(*(ctypes.cast(e, pointer) for e in extents))))
        self.shapes = shapes


class Engine:
    """A compiled model. `engine(x, ...)` takes what `inputs` lists, by position, by name or nested in tuples, lists and dicts
    (None is left out), and gives an array for each of `outputs`: one as it is, several as a tuple. Any number of threads may
    call it at once."""

    def __init__(self, source, n_threads=0, device=None):
        """`source`: a path of a .pbe file, or its bytes."""
        self._file = None
        self._closed = False
        if isinstance(source, (bytes, bytearray, memoryview)):
            self._file = os.memfd_create("engine", os.MFD_CLOEXEC)
            with open(self._file, "wb", closefd=False) as file:
                file.write(source)
            self.path = f"/proc/self/fd/{self._file}"
        else:
            self.path = os.fspath(source)
        self._options = {"n_threads": n_threads, "device": device}
        self._free = []  # runtimes that no thread is using
        self._lock = threading.Lock()
        runtime = _Runtime(self.path, self._options)
        lib, rt = runtime.lib, runtime.handle
        self.target = lib.pb_rt_target(rt).decode()
        self.inputs = [_info(lib.pb_rt_input(rt, k)) for k in range(lib.pb_rt_input_count(rt))]
        self.outputs = [_info(lib.pb_rt_output(rt, k)) for k in range(lib.pb_rt_output_count(rt))]
        self.aliases = [lib.pb_rt_alias(rt, k) for k in range(len(self.outputs))]
        profiles = lib.pb_rt_profile_count(rt)
        self.is_open = bool(lib.pb_rt_is_open(rt))
        self._chooses = self.is_open or profiles > 1
        if profiles > 1:  # what the first has is no bound
            for info in self.inputs:
                info.shape = (-1,) * len(info.shape)
        self._index = {info.name: k for k, info in enumerate(self.inputs)}
        self._fast = [(info.dtype, info.shape) for info in self.inputs]
        self._made = [(info.shape, info.dtype) for info in self.outputs]
        self._free.append(runtime)
        self._run = lib.pb_rt_run

    @property
    def n_threads(self):
        return self._options["n_threads"]

    def __repr__(self):
        return f"<Engine for {self.target}: ({', '.join(map(repr, self.inputs))}) -> ({', '.join(map(repr, self.outputs))})>"

    def __del__(self, close=os.close):  # which may be gone when Python ends
        self._free = []
        if getattr(self, "_file", None) is not None:
            close(self._file)
            self._file = None

    def save(self, path):
        """Leaves the engine as a .pbe file, which `load` and pb-run take."""
        with open(self.path, "rb") as source, open(path, "wb") as file:
            while part := source.read(1 << 24):
                file.write(part)
        return self

    # ---- calls ----

    def __call__(self, *args, **named):
        if named or len(args) != len(self._fast):
            args = self._arranged(args, named)
        outputs = self.run(args)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def run(self, args, outputs=None):
        """A run on a list of arrays, one for each input; a list of arrays, new ones or `outputs`."""
        runtime = self._take()
        try:
            pointers = runtime.inputs
            kept = None
            k = 0
            for array in args:
                dtype, shape = self._fast[k]
                if type(array) is not np.ndarray or array.shape != shape or array.dtype != dtype or not array.flags.c_contiguous:
                    if kept is None:
                        args = kept = list(args)
                    array = kept[k] = self._fitted(k, array)
                pointers[k] = arrays.address(array)
                k += 1
            if self._chooses:
                runtime.choose(tuple([array.shape for array in args]))
                return self._run_open(runtime)
            if outputs is None:
                outputs = [np.empty(shape, dtype) for shape, dtype in self._made]
            pointers = runtime.outputs
            k = 0
            for array in outputs:
                pointers[k] = arrays.address(array)
                k += 1
            code = self._run(runtime.handle, runtime.inputs, pointers)
            if code:
                runtime.check(code)
            return outputs
        finally:
            self._free.append(runtime)

    def run_pointers(self, inputs, outputs):
        """A run on addresses, whose memory the caller has checked and keeps: of engines whose extents are numbers."""
        runtime = self._take()
        try:
            to = runtime.inputs
            for k, pointer in enumerate(inputs):
                to[k] = pointer
            to = runtime.outputs
            for k, pointer in enumerate(outputs):
                to[k] = pointer
            code = self._run(runtime.handle, runtime.inputs, to)
            if code:
                runtime.check(code)
        finally:
            self._free.append(runtime)

    def _take(self):
        try:
            return self._free.pop()  # a list's own operations are whole
        except IndexError:
            return _Runtime(self.path, self._options)

    def _fitted(self, k, value):
        return arrays.fitted(value, self.inputs[k])

    def _arranged(self, args, named):
        """One value for each input, by position and by name."""
        values = [None] * len(self.inputs)
        flat = list(arrays.flatten(args))
        if len(args) == 1 and isinstance(args[0], dict) and set(args[0]) <= set(self._index):
            named, flat = {**args[0], **named}, []
        for name in named:
            if name not in self._index and not isinstance(named[name], (tuple, list, dict)):
                raise ArgumentError(f"no input {name!r}; there are {', '.join(self._index)}")
        for name, value in named.items():
            if name in self._index:
                if value is not None:
                    values[self._index[name]] = value
            else:
                flat.extend(arrays.flatten(value, name))
        free = [k for k, value in enumerate(values) if value is None]
        if len(flat) != len(free):
            given, wanted = len(self.inputs) - len(free) + len(flat), len(self.inputs)
            raise ArgumentError(f"{given} arrays for {wanted} inputs: {', '.join(map(repr, self.inputs))}")
        for k, (_, value) in zip(free, flat):
            values[k] = value
        return values

    def _run_open(self, runtime):
        lib, rt = runtime.lib, runtime.handle
        tensors = [lib.pb_rt_output(rt, k) for k in range(len(self.outputs))]
        shapes = [_shape_of(tensor) for tensor in tensors]
        outputs = [np.empty(s, i.dtype) if min(s, default=0) >= 0 else None for s, i in zip(shapes, self.outputs)]
        for k, array in enumerate(outputs):
            runtime.outputs[k] = None if array is None else array.__array_interface__["data"][0]
        runtime.check(self._run(rt, runtime.inputs, runtime.outputs))
        for k, info in enumerate(self.outputs):
            if outputs[k] is None:  # its extents are known now
                shape, data = _shape_of(lib.pb_rt_output(rt, k)), lib.pb_rt_output_data(rt, k)
                outputs[k] = np.empty(shape, info.dtype)
                if math.prod(shape):
                    ctypes.memmove(outputs[k].__array_interface__["data"][0], data, outputs[k].nbytes)
        return outputs


def load(path, n_threads=0, device=None):
    """The engine in a .pbe file, or in its bytes."""
    return Engine(path, n_threads=n_threads, device=device)
