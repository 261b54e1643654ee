"""TensorFlow: functions, Keras models and methods, as the StableHLO that tf.function makes for the CPU."""

import functools
import inspect
import os
import re
import sys
import threading
import types
import warnings

import numpy as np
import tensorflow as tf
from tensorflow.python.util import nest

from . import compiler
from .errors import ArgumentError, NotSupported, PolyBlocksError, PolyBlocksWarning
from .held_numbers import FIXED_TOO, Methods, Numbers, Reads, has_attributes, is_fixed, number_key, of_a_library
from .operators import Operators
from .options import Options
from .tf_systems import written_out


def polyblocks_jit_tf(function=None, *, compile_options=None):
    """Compiles a function of tensors, a method, a tf.function or a Keras model for the shapes that it is called with. Variables
    are read, and written, at each call. Results have no gradient: compute it inside, with tf.GradientTape."""
    options = Options(compile_options)
    if function is None:
        return functools.partial(polyblocks_jit_tf, compile_options=compile_options)
    if not callable(function):
        raise ArgumentError(f"{function!r} is no function and no model")
    return JitTf(function, options)


class JitTf:
    """A function that is compiled by pb when it is called."""

    def __init__(self, function, options):
        plain = getattr(function, "python_function", function)
        self.__wrapped__, self.__name__ = function, getattr(plain, "__name__", type(plain).__name__)
        self.__doc__ = getattr(plain, "__doc__", None)
        if options.device_one_time_load:  # of a variable nothing says that it was written to
            warnings.warn("device_one_time_load changes nothing here: variables are read at each call", PolyBlocksWarning, stacklevel=3)
        self.options, self.plain = options, plain
        specs = getattr(function, "input_signature", None)
        self.signature = Signature(plain, specs) if specs is not None and plain is not function else None
        self.programs, self.lock = {}, threading.Lock()

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        made = instance.__dict__.setdefault("_polyblocks_jit", {})
        if self not in made:
            made[self] = JitTf(functools.partial(self.plain, instance), self.options)
        return made[self]

    def __call__(self, *args, **named):
        if not tf.executing_eagerly():
            return self.plain(*args, **named)  # inside another one, which it becomes a part of
        if self.signature is not None:
            args, named = self.signature.converted(args, named)
        leaves = tf.nest.flatten((args, named), expand_composites=False)
        tensors = [_tensor(leaf) for leaf in leaves]
        _no_tape(tensors)
        _tell_masks(tensors)
        key = (str(_skeleton((args, named))), *_keras_settings(), *[_kind(t, leaf) for t, leaf in zip(tensors, leaves)])
        program = self.programs.get(key)
        if program is None or not program.held.is_kept():
            with self.lock:
                program = self.programs.get(key)
                if program is None or not program.held.is_kept():
                    program = self.programs[key] = Program(self, tensors, args, named)
        return program([t for t in tensors if t is not None])

    def polyblocks_describe(self, *args, **named):
        tensors = [_tensor(leaf) for leaf in tf.nest.flatten((args, named))]
        lowered = Lowered(self, tensors, args, named)
        return lowered.name, lowered.text, self.options.for_compiler(), {}, lowered.place


class Signature:
    """What a tf.function says that it takes: what is called otherwise becomes such tensors first."""

    def __init__(self, plain, specs):
        names = list(inspect.signature(plain).parameters)
        self.names, self.specs = [name for name in names if name != "self"][: len(specs)], specs

    def converted(self, args, named):
        named = {name: self.of(self.specs[self.names.index(name)], value) if name in self.names else value for name, value in named.items()}
        return tuple([self.of(spec, value) for spec, value in zip(self.specs, args)] + list(args[len(self.specs) :])), named

    @staticmethod
    def of(spec, value):
        def tensor(spec, value):
            if not isinstance(spec, tf.TensorSpec) or (tf.is_tensor(value) and value.dtype == spec.dtype):
                return value
            value = value if tf.is_tensor(value) else tf.convert_to_tensor(value, None if isinstance(value, np.ndarray) else spec.dtype)
            return tf.cast(value, spec.dtype)

        return nest.map_structure_up_to(spec, tensor, spec, value)


class Held:
    """Where modules that a function reads hold their variables, tensors, arrays and numbers, and what it closes over or names itself. What is put
    into another's place there is seen: an attribute that another variable is assigned to, a longer list of layers, another number."""

    def __init__(self, function):
        self.places, self.numbers, self.modules, seen = [], [], [], set()
        for value in _read_by(function):
            self.add(value, seen)
        for holder, names in _named_by(function):
            self.add_named(holder, names)
        reads = Reads(function, kinds=module_kinds())
        self.places += [(owner, None, [(name, value)]) for owner, name, value in reads.values if isinstance(value, (tf.Variable, tf.Tensor)) or is_module(value) or is_object(value)]
        self.places += [(value, length, []) for value, length in reads.lengths]
        for _, _, value in reads.values:
            if is_module(value):
                self.add(value, seen)
        for module in self.modules:
            reads.visit_object(module, ())
            for name, value in vars(module).items():
                reads.visit_settings(value)
                if callable(value) and not is_module(value) and not isinstance(value, (type, tf.Variable)) and not is_book(name):
                    reads.visit(value, ())
                if is_object(value):
                    self.places.append((vars(module), None, [(name, value)]))
        self.numbers += reads.numbers
        self.methods = Methods(self.modules, "call")

    def add(self, value, seen):
        if id(value) in seen:
            return
        if is_module(value):
            holder = vars(value)
        elif isinstance(value, (list, dict)):
            holder = value
        elif isinstance(value, tuple):
            holder = None
        else:
            return
        seen.add(id(value))
        items = list(value) if holder is None else list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
        if holder is None:
            for part in items:
                self.add(part, seen)
            return
        if is_module(value) and not isinstance(value, tf.Module):  # Keras keeps books of its own
            items = [(key, part) for key, part in items if not is_book(key)]
        parts = [(key, part) for key, part in items if isinstance(part, (*HELD, *keras_variables())) or is_module(part)]
        if is_module(value):
            self.modules.append(value)
            names = [key for key, part in items if is_fixed(part) and not is_book(key)]
            self.numbers += [Numbers(holder, names, f"{type(value).__name__}.")] if names else []
        if parts:
            self.places.append((holder, len(holder) if isinstance(holder, list) else None, parts))
        for _, part in parts:
            self.add(part, seen)

    def add_named(self, holder, names):
        """What a function closes over, or names among the globals."""
        named = [(name, holder[name]) for name in names]
        parts = [(name, value) for name, value in named if isinstance(value, (tf.Variable, tf.Tensor))]
        if parts:
            self.places.append((holder, None, parts))

    def is_kept(self):
        try:
            if not self.methods.are_kept() or not all(numbers.is_kept() for numbers in self.numbers):
                return False
            return all((count is None or len(holder) == count) and all(holder[key] is part for key, part in parts) for holder, count, parts in self.places)
        except (KeyError, IndexError):
            return False


HELD = (tf.Variable, tf.Tensor, tf.Module, np.ndarray, list, dict, tuple)
FIXED_TOO |= {tf.DType, tf.TensorShape}


def module_kinds():
    """TensorFlow's modules, and layers of Keras, which is a library of its own."""
    keras = sys.modules.get("keras")
    return (tf.Module,) if keras is None else (tf.Module, keras.Layer)


def keras_variables():
    keras = sys.modules.get("keras")
    return () if keras is None else (keras.Variable,)


def is_module(value):
    return isinstance(value, module_kinds())


def is_object(value):
    """Whether a value is an object of attributes, of one of the user's classes, that is no module."""
    return has_attributes(value) and not of_a_library(type(value).__module__) and not isinstance(value, type) and not is_module(value) and not is_fixed(value)


@functools.lru_cache(maxsize=None)
def books():
    """Attributes that TensorFlow and Keras keep books in, of each module."""
    plain, keras = [tf.Module()], sys.modules.get("keras")
    if keras is not None:
        inner = keras.Input((1,), name="books")  # names of their own, as Keras counts those that it gives
        plain += [keras.Layer(name="books"), keras.Sequential([], name="books"), keras.Model(inner, inner, name="books")]
        plain += [type("Model", (keras.Model,), {})(name="books")]
    return frozenset(name for module in plain for name in vars(module) if name.startswith("_")) - {"_layers", "_trainable"}


def is_book(name):
    return name.startswith("_self_") or name in books()


class Cells:
    """What a function closes over, by its names."""

    def __init__(self, cells):
        self.cells = cells

    def __getitem__(self, name):
        try:
            return self.cells[name].cell_contents
        except ValueError:  # of which nothing is there yet
            raise KeyError(name) from None


def _named_by(function):
    """Mappings that a function reads by names: its closure, the globals."""
    while isinstance(function, functools.partial):
        function = function.func
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    if code is None:
        return []
    cells = {name: cell for name, cell in zip(code.co_freevars, plain.__closure__ or ()) if cell != types.CellType()}
    return [(Cells(cells), list(cells)), (plain.__globals__, [name for name in code.co_names if name in plain.__globals__])]


def _read_by(function):
    """Modules that a function is, is a method of, closes over or names."""
    found = [function]
    while isinstance(function, functools.partial):
        found += function.args
        function = function.func
    found.append(getattr(function, "__self__", None))
    found += [holder[name] for holder, names in _named_by(function) for name in names]
    return [value for value in found if is_module(value)]


def _skeleton(value):
    return tf.nest.map_structure(lambda leaf: 0, value)


def _keras_settings():
    """Those of Keras that say how numbers are kept and how images lie."""
    keras = sys.modules.get("keras")
    return () if keras is None else (keras.config.floatx(), keras.config.image_data_format(), keras.config.dtype_policy().name)


def _tell_masks(tensors):
    if any(getattr(t, "_keras_mask", None) is not None for t in tensors):
        text = "an argument has a mask of Keras's, which is no part of a tensor in a graph: a layer that takes one is given it, mask=...; or what makes it goes inside"
        warnings.warn(text, PolyBlocksWarning, stacklevel=3)


def _tensor(leaf):
    """What is an argument of the engine; variables, numbers, texts and None are parts of the function."""
    if isinstance(leaf, tf.Tensor):
        return leaf
    return tf.convert_to_tensor(leaf) if isinstance(leaf, (np.ndarray, np.generic)) else None


def _kind(tensor, leaf):
    if tensor is not None:
        return tuple(tensor.shape), tensor.dtype.name
    if isinstance(leaf, tf.Variable):
        return leaf.ref()
    if isinstance(leaf, tf.__internal__.CompositeTensor):
        raise ArgumentError(f"{type(leaf).__name__} is no argument: its parts are tensors, of which it can be made inside")
    try:
        hash(leaf)
    except TypeError:
        raise ArgumentError(f"{type(leaf).__name__} is no argument: tensors, arrays, numbers, texts and nests of them are") from None
    return number_key(leaf)


def _no_tape(tensors):
    from tensorflow.python.eager import record

    if record.could_possibly_record() and any(t is not None and t.dtype.is_floating for t in tensors):
        raise ArgumentError(
            "a tf.GradientTape cannot look into what is compiled: only what is inside can be differentiated\n"
            "  hint: decorate a function that has the tape in it"
        )


class Lowered:
    """A traced function: the text, what its arguments are and what becomes of its results."""

    def __init__(self, jit, tensors, args, named):
        leaves = tf.nest.flatten((args, named))
        given = [t for t in tensors if t is not None]

        def whole(*inner):
            inner = iter(inner)
            flat = [leaf if t is None else next(inner) for t, leaf in zip(tensors, leaves)]
            inner_args, inner_named = tf.nest.pack_sequence_as((args, named), flat)
            return jit.plain(*inner_args, **inner_named)

        traced = tf.function(whole, jit_compile=True)
        specs = [tf.TensorSpec(t.shape, t.dtype) for t in given]
        try:
            concrete = traced.get_concrete_function(*specs)
            text = traced.experimental_get_compiler_ir(*specs)(stage="stablehlo")
        except PolyBlocksError:
            raise
        except Exception as error:
            raise _trace_error(error) from error
        self.name = re.sub(r"\W+", "_", jit.__name__) + ".mlir"
        self.structure = concrete.structured_outputs
        # tensors and variables that the function closes over stand behind its arguments, as it came upon them
        variables = {id(v.handle): v for v in (*concrete.variables, *concrete.graph.variables)}
        self.arguments = list(range(len(given)))
        for tensor in concrete.captured_inputs:
            self.arguments.append(_variable_of(variables, tensor) if tensor.dtype == tf.resource else tensor)
        self.written = aliases(text)
        refuse_hidden_state(text)
        refuse_open_extents(text)
        self.text = written_out(text, Operators(text))
        self.place = Operators(self.text)


def _variable_of(variables, handle):
    if id(handle) not in variables:
        raise NotSupported(f"a resource that is no variable ({handle})")
    variable = variables[id(handle)]
    if not variable.shape.is_fully_defined():
        raise NotSupported(f"the variable {variable.name} of shape {variable.shape}, which an assignment may change")
    return variable


def aliases(text):
    """Results that are written to variables: the number of the argument by that of the result."""
    found = re.search(r"mhlo\.input_output_alias = \[(.*?)\], mhlo\.is_dynamic", text)
    pairs = re.findall(r"parameter_number = (\d+) : i64\}, output_index = array<i64(?:: (\d+))?>", found.group(1)) if found else []
    return {int(output or 0): int(parameter) for parameter, output in pairs}


def refuse_open_extents(text):
    """TensorFlow prints a reshape of what data say the extent of as an operator without a name."""
    for k, line in enumerate(text.splitlines()):
        if '"mhlo.unknown"' in line:
            hint = "tf.where of three arguments, and sums by a mask, keep the shape"
            raise NotSupported("a result whose extents data say (tf.boolean_mask, tf.where of one argument)", Operators(text)(k + 1), hint)


def refuse_hidden_state(text):
    """Random numbers of a state that TensorFlow keeps by itself, which the text has not."""
    at = next((k for k, line in enumerate(text.splitlines()) if "= stablehlo.rng " in line), None)
    if at is not None:
        hint = "tf.random.stateless_*, a tf.random.Generator and Keras's layers and keras.random have a state that is seen"
        raise NotSupported("random numbers of TensorFlow's own state (tf.random, tf.nn.dropout)", Operators(text)(at + 1), hint)


def _trace_error(error):
    """What tracing says, with the user's line where there is one."""
    trace, place = error.__traceback__, None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not any(part in file for part in ("/tensorflow/", "/keras/", "/polyblocks/", "<")):
            place = f"{file}:{trace.tb_lineno}"
        trace = trace.tb_next
    text = str(error).strip()
    inner = re.findall(r'File "([^"]+)", line (\d+), in', text)
    inner = [(file if os.path.exists(file) else f"/{file}", line) for file, line in inner]  # XLA's texts leave out the first slash
    own = [f"{file}:{line}" for file, line in inner if not any(p in file for p in ("/tensorflow/", "/keras/", "/polyblocks/"))]
    found = re.search(r"[^\n]*(?:must be a compile-time constant|Detected unsupported|not compilable|unsupported operation)[^\n]*", text)
    lines = [line.strip() for line in text.splitlines()]
    lines = [found.group(0).strip()] if found else [line for line in lines if line and not line.startswith(("File", "in user code", "The op is created"))]
    lines = [line for line in lines if "TF_DUMP_GRAPH_PREFIX" not in line] or lines
    return NotSupported(f"it cannot be traced for XLA: {lines[-1] if lines else type(error).__name__}", own[-1] if own else place)


class Program:
    """An engine of one signature."""

    def __init__(self, jit, tensors, args, named):
        lowered = Lowered(jit, tensors, args, named)
        options = jit.options
        self.engine = compiler.engine(lowered.name, lowered.text.encode(), options.for_compiler(), {}, options, lowered.place)
        self.arguments, self.structure, self.turns = lowered.arguments, lowered.structure, options.num_iters
        self.held = Held(jit.plain)
        self.written = [(output, self.arguments[k]) for output, k in lowered.written.items()]
        given = [t for t in tensors if t is not None]
        shapes = [tuple((given[what] if type(what) is int else what).shape) for what in self.arguments]
        if [info.shape for info in self.engine.inputs] != shapes:
            raise PolyBlocksError(f"the engine takes {self.engine.inputs} for arguments of {shapes}")

    def __call__(self, given):
        inputs = [given[what] if type(what) is int else what for what in self.arguments]
        inputs = [np.asarray(t.numpy() if hasattr(t, "numpy") else t) for t in inputs]
        for _ in range(self.turns):
            outputs = self.engine.run(inputs)
        made = [tf.convert_to_tensor(array) for array in outputs]
        for output, variable in self.written:
            variable.assign(made[output])
        results = iter(made)
        return tf.nest.map_structure(lambda leaf: next(results) if isinstance(leaf, tf.Tensor) else leaf, self.structure)
