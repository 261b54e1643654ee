"""JAX: functions compiled at their first call with arguments of new shapes, types or static values."""

import functools
import inspect
import re
import threading

import jax
import numpy as np
from jax import tree_util
from jaxlib import _jax

from . import compiler, decompositions
from .arrays import address
from .errors import ArgumentError, CompileError, PolyBlocksError
from .held_numbers import number_key
from .options import Options
from .places import Places

try:
    from jax._src.config import trace_context
except ImportError:  # pragma: no cover - of other versions

    def trace_context():
        return jax.config.jax_enable_x64


try:
    from jax._src.core import eval_jaxpr
except ImportError:  # pragma: no cover - of other versions
    from jax.core import eval_jaxpr

Array = type(jax.numpy.zeros(()))
LEAST_CONSTANT = 64  # elements: what is shorter stays in the text
NOT_IN_PLACE = 2030  # the diagnostic of a donation that cannot be had
PACKED = ("int4", "uint4", "int2", "uint2", "float4_e2m1fn")
_state = threading.local()


def polyblocks_jit_jax(
    function=None, *, compile_options=None, static_argnums=None, static_argnames=None, donate_argnums=None, constants=None
):
    """Compiles a function of arrays, or a method, as jax.jit does.

    static_argnums, static_argnames, donate_argnums: as jax.jit has them
    constants: names of arguments that are bound once: their arrays become part of the engine, and other ones are compiled
               anew. They are known by their identity: NumPy arrays among them must not be changed."""
    options = Options(compile_options)
    if function is None:
        return functools.partial(
            polyblocks_jit_jax,
            compile_options=compile_options,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            constants=constants,
        )
    if not callable(function):
        raise ArgumentError(f"{function!r} is no function")
    how = {"static_argnums": static_argnums, "static_argnames": static_argnames, "donate_argnums": donate_argnums}
    return JitJax(function, options, {key: value for key, value in how.items() if value is not None}, constants)


def numbers(value):
    return (value,) if isinstance(value, int) else tuple(value or ())


class JitJax:
    """A function that is compiled by pb when it is called."""

    def __init__(self, function, options, how, constants):
        functools.update_wrapper(self, function)
        self.function, self.options, self.how = function, options, how
        names = (constants,) if isinstance(constants, str) else tuple(constants or ())
        try:
            self.signature = inspect.signature(function)
        except (TypeError, ValueError):
            self.signature = None
        known = list(self.signature.parameters) if self.signature else []
        for name in names:
            if name not in known:
                raise ArgumentError(f"constants: {function.__name__} has no argument {name!r}; it has {', '.join(known)}")
        self.constants = frozenset(names)
        statics = {k % len(known) if known else k for k in numbers(how.get("static_argnums"))}
        given = how.get("static_argnames") or ()
        self.static_names = {given} if isinstance(given, str) else set(given)
        self.static_names |= {known[k] for k in statics if k < len(known)}
        self.static_numbers = statics | {known.index(n) for n in self.static_names if n in known}
        self.is_plain = not self.static_names and not self.static_numbers and not self.constants
        self.jitted = jax.jit(function, keep_unused=True, **how)
        self.programs = {}
        self.lock = threading.Lock()

    def __get__(self, instance, owner=None):
        """A method: `self` is a constant of what is compiled, as in a closure."""
        if instance is None:
            return self
        made = instance.__dict__.setdefault("_polyblocks_jit", {}) if hasattr(instance, "__dict__") else {}
        if self not in made:
            bound = functools.update_wrapper(functools.partial(self.function, instance), self.function)
            shifted = dict(self.how)
            for name in ("static_argnums", "donate_argnums"):
                if name in shifted:
                    shifted[name] = tuple(k - 1 for k in numbers(shifted[name]))
            made[self] = JitJax(bound, self.options, shifted, self.constants)
        return made[self]

    def __call__(self, *args, **named):
        if getattr(_state, "lowering", False):
            return self.function(*args, **named)  # inside another one, which it becomes a part of
        static, dynamic = (), (args, named)
        if not self.is_plain:
            static, dynamic = self._parted(args, named)
        leaves, tree = tree_util.tree_flatten(dynamic)
        key = (tree, static, trace_context(), *[_kind(leaf) for leaf in leaves])
        program = self.programs.get(key)
        if program is None:
            program = self._made(key, args, named, leaves)
        return program(leaves)

    def _parted(self, args, named):
        """What of the arguments says which program it is, and what the program is called with."""
        static, rest = [], []
        for k, value in enumerate(args):
            if k in self.static_numbers:
                static.append((k, number_key(value)))
            rest.append(None if k in self.static_numbers else value)
        kept = {}
        for name, value in named.items():
            if name in self.static_names:
                static.append((name, number_key(value)))
            else:
                kept[name] = value
        if self.constants:
            bound = self.signature.bind(*args, **named).arguments
            leaves = tree_util.tree_leaves([bound[name] for name in sorted(self.constants & set(bound))])
            static.append(tuple(_Same(leaf) for leaf in leaves))
        return tuple(static), (tuple(rest), kept)

    def _made(self, key, args, named, leaves):
        for leaf in leaves:
            if isinstance(leaf, jax.core.Tracer):
                raise _traced(self, leaf)
        with self.lock:
            program = self.programs.get(key)
            if program is None:
                program = self.programs[key] = self._compiled(args, named)
            return program

    def lower(self, *args, **named):
        """The text of the StableHLO module that these arguments make, its constants and how its results are put together."""
        return Lowered(self, args, named)

    def polyblocks_describe(self, *args, **named):
        lowered = self.lower(*args, **named)
        constants = {f"arg{k}": c for k, c in lowered.constants.items() if c.size and c.dtype.kind != "c"}
        return lowered.name, lowered.text, self.options.for_compiler(), constants, lowered.places

    def _compiled(self, args, named):
        return Program(Lowered(self, args, named), self.options)


class _Same:
    """An object as a key: equal to itself alone."""

    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return id(self.value)

    def __eq__(self, other):
        return self.value is other.value


def _kind(leaf):
    """What of an argument decides how a function is traced."""
    if type(leaf) is Array:
        return leaf.aval
    if isinstance(leaf, jax.core.Tracer):
        return _Same(leaf)
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.shape, leaf.dtype
    return type(leaf), getattr(leaf, "shape", None), getattr(leaf, "dtype", None)


def _traced(function, leaf):
    name, kind = function.function.__name__, type(leaf).__name__
    if "JVP" in kind or "Linearize" in kind:
        why = "jax.grad and its like cannot look into what is compiled: only what is inside can be differentiated"
        hint = f"decorate a function that computes jax.grad(...) of the plain one, {name}.__wrapped__"
    elif "Batch" in kind:
        why = "jax.vmap cannot look into what is compiled"
        hint = f"decorate jax.vmap of the plain one, {name}.__wrapped__"
    else:
        why = "it is called while another function is traced by JAX itself"
        hint = "decorate the outer function too, or call the plain one, " + f"{name}.__wrapped__"
    return ArgumentError(f"{name} is compiled by polyblocks: {why}\n  hint: {hint}")


class Lowered:
    """A traced function as StableHLO: `text`, `constants` (arrays by the names of inputs), `donate` and the results."""

    def __init__(self, jit, args, named):
        _state.lowering = True
        try:
            traced = jit.jitted.trace(*args, **named)
            closed = traced.jaxpr
            at = {k: c for k, c in enumerate(closed.consts) if np.size(c) >= LEAST_CONSTANT}
            leaves = tree_util.tree_leaves(traced.args_info)
            donated = [k for k, leaf in enumerate(leaves) if leaf.donated]
            if at:
                lower = self._hoisted(closed, at, leaves, donated)
            else:
                lower = traced.lower
            lowered = lower()
            text = self.printed(lowered)
            if "lapack_" in text or "ApproxTopK" in text:
                lowered, text = self._without_libraries(lower) or (lowered, text)
        finally:
            _state.lowering = False
        self.name = re.sub(r"\W+", "_", getattr(jit.function, "__name__", "function")) + ".mlir"
        self.results, self.tree = tree_util.tree_leaves(traced.out_info), tree_util.tree_structure(traced.out_info)
        self.text = text
        self.constants = dict(enumerate(np.asarray(c) for c in at.values()))
        self.first = len(at)  # arguments that stand behind the constants
        self.leaves = leaves
        self.argument_names = _names(args, named, jit)
        self._bind(jit, args, named)
        self.places = Places(lambda: self.printed(lowered, places=True))
        self.donate = self._donations()

    @classmethod
    def _without_libraries(cls, lower):
        """Of a platform that JAX has no library for: decompositions are programs of their own there, JAX's and ours. None: one
        has none."""
        decompositions.register("polyblocks")
        try:
            lowered = lower(lowering_platforms=("polyblocks",))
        except NotImplementedError:
            return None
        text = cls.printed(lowered)
        return None if "custom_call" in text else (lowered, text)

    @staticmethod
    def printed(lowered, places=False):
        return lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True, enable_debug_info=places)

    @staticmethod
    def _hoisted(closed, at, leaves, donated):
        """The same with arrays that it closes over as arguments: they go to the compiler by pointer, not as text."""

        def function(consts, *arguments):
            all_consts = [consts.get(str(k), c) for k, c in enumerate(closed.consts)]
            return eval_jaxpr(closed.jaxpr, all_consts, *arguments)

        consts = {f"{k}": jax.ShapeDtypeStruct(np.shape(c), c.dtype) for k, c in at.items()}
        shapes = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=getattr(leaf, "weak_type", False)) for leaf in leaves]
        # dicts are flattened by the order of their keys: as texts
        order = sorted(at, key=str)
        at_in_order = {k: at[k] for k in order}
        at.clear()
        at.update(at_in_order)
        jitted = jax.jit(function, keep_unused=True, donate_argnums=tuple(k + 1 for k in donated))
        return jitted.trace(consts, *shapes).lower

    def _bind(self, jit, args, named):
        """Arguments that are constants, by their places among the leaves."""
        if not jit.constants:
            return
        leaves, tree = tree_util.tree_flatten(jit._parted(args, named)[1])
        places, named_places = tree_util.tree_unflatten(tree, range(len(leaves)))
        bound = jit.signature.bind_partial(*places, **named_places).arguments
        for k in tree_util.tree_leaves([bound[name] for name in sorted(jit.constants & set(bound))]):
            if isinstance(leaves[k], (Array, np.ndarray)):
                self.constants[self.first + k] = np.asarray(leaves[k])

    def is_key(self, place):
        """Whether an argument is a key of random numbers, which the engine takes as integers."""
        return place >= 0 and jax.numpy.issubdtype(self.leaves[place].dtype, jax.dtypes.prng_key)

    def is_packed(self, place):
        """Whether an argument is of numbers of less than a byte, which JAX packs, and engines take in a byte each."""
        return place >= 0 and str(self.leaves[place].dtype) in PACKED

    def _donations(self):
        found = re.search(r"arg_attrs = \[(.*?)\], function_type", self.text)
        parts = re.findall(r"\{([^{}]*)\}", found.group(1)) if found else []
        donate = {}
        for k, part in enumerate(parts):
            output = re.search(r"tf\.aliasing_output = (\d+)", part)
            if output and k not in self.constants:
                donate[k] = int(output.group(1))
        return donate


def _names(args, named, jit):
    """What each leaf of the arguments is called in errors."""
    paths, _ = tree_util.tree_flatten_with_path(jit._parted(args, named)[1])
    return [tree_util.keystr(path[1:]) for path, _ in paths]


class Program:
    """An engine with what its calls need: called with the leaves of the arguments."""

    def __init__(self, lowered, options):
        bindable = {k: c for k, c in lowered.constants.items() if c.size and c.dtype.kind != "c"}
        self.engine = self._engine(lowered, options, {f"arg{k}": c for k, c in bindable.items()})
        held = {k: c for k, c in lowered.constants.items() if k not in bindable}  # given at each call
        self.turns, self.names = range(options.num_iters), lowered.argument_names
        given = [k for k in range(lowered.first + len(lowered.argument_names)) if k not in bindable]
        self.plan = [-1 if k in held else k - lowered.first for k in given]  # which leaf each input of the engine is
        self.held = [held.get(k) for k in given]
        if len(self.plan) != len(self.engine.inputs):
            raise PolyBlocksError(f"the engine has {len(self.engine.inputs)} inputs for {len(self.plan)} arguments")
        self.is_plain = [not lowered.is_key(place) for place in self.plan]
        self.is_direct = [plain and not lowered.is_packed(place) for plain, place in zip(self.is_plain, self.plan)]
        self.made = [_Made(info, said) for info, said in zip(self.engine.outputs, lowered.results)]
        self.in_place = [(o, k) for o, k in enumerate(self.engine.aliases) if k >= 0 and self.is_direct[k] and len(self.turns) == 1]
        self.tree = lowered.tree
        self.is_one = tree_util.treedef_is_leaf(self.tree)
        self.device = jax.local_devices(backend="cpu")[0]

    @staticmethod
    def _engine(lowered, options, constants):
        """To donate is to allow: what the compiler cannot make in the input's place is made beside it."""
        donate = {f"arg{k}": f"out{output}" for k, output in lowered.donate.items()}
        while True:
            pairs = options.for_compiler() + [("donate", f"{k}={output}") for k, output in donate.items()]
            try:
                return compiler.engine(lowered.name, lowered.text.encode(), pairs, constants, options, lowered.places)
            except CompileError as error:
                told = re.findall(r"\b(arg\d+): is donated to", str(error)) if error.code == NOT_IN_PLACE else []
                if not set(told) & set(donate):
                    raise
                donate = {k: output for k, output in donate.items() if k not in told}

    def __call__(self, leaves):
        inputs, kept, k = [], None, 0
        for place in self.plan:
            leaf = leaves[place] if place >= 0 else self.held[k]
            if type(leaf) is Array and self.is_direct[k]:
                leaf.block_until_ready()
                try:
                    inputs.append(leaf.unsafe_buffer_pointer())
                    k += 1
                    continue
                except Exception:  # in several parts
                    pass
            array = self._array(leaf, k)
            kept = (kept, array)
            inputs.append(address(array))
            k += 1
        results, outputs = [], []
        for made in self.made:
            array, at = made.empty()
            results.append(array)
            outputs.append(at)
        if self.in_place:
            self._take_over(leaves, inputs, outputs, results)
        for _ in self.turns:
            self.engine.run_pointers(inputs, outputs)
        results = [made.as_jax(array, self.device) for made, array in zip(self.made, results)]
        return results[0] if self.is_one else tree_util.tree_unflatten(self.tree, results)

    def _take_over(self, leaves, inputs, outputs, results):
        """Results that are made in donated arrays: they have their memory from now on, and the arrays are gone, as JAX has it."""
        for output, k in self.in_place:
            leaf = leaves[self.plan[k]]
            if type(leaf) is Array and inputs.count(inputs[k]) == 1 and inputs[k] == leaf.unsafe_buffer_pointer():
                outputs[output] = inputs[k]
                results[output] = _jax.dlpack_managed_tensor_to_buffer(leaf.__dlpack__(), self.device, None, False)
                leaf.delete()

    def _array(self, leaf, k):
        """The leaf as a dense NumPy array of the type that the function was traced with, for input k."""
        info = self.engine.inputs[k]
        if type(leaf) is np.ndarray and leaf.dtype is info.dtype and leaf.shape == info.shape and leaf.flags.c_contiguous:
            return leaf
        array = np.asarray(leaf if self.is_plain[k] else jax.random.key_data(leaf))
        if array.dtype != info.dtype:
            array = array.astype(info.dtype)
        if array.shape != info.shape:
            raise ArgumentError(f"argument {self.names[self.plan[k]]} is of shape {array.shape}, not {info.shape}")
        return np.ascontiguousarray(array).reshape(info.shape)


class _Made:
    """A result: memory for it, and what JAX calls it."""

    def __init__(self, info, said):
        self.dtype, self.shape = info.dtype, info.shape
        self.bytes = int(np.prod(info.shape, dtype=np.int64)) * info.dtype.itemsize
        self.key = said.dtype._impl.name if jax.numpy.issubdtype(said.dtype, jax.dtypes.prng_key) else None
        self.weak = jax.core.ShapedArray(said.shape, said.dtype, weak_type=True) if getattr(said, "weak_type", False) else None

    def empty(self):
        """An array and where it lies: at a multiple of 64 bytes, which is what XLA takes without a copy."""
        raw = np.empty(self.bytes + 64, np.uint8)
        at = address(raw)
        return np.ndarray(self.shape, self.dtype, raw, -at % 64), at + -at % 64

    def as_jax(self, array, device):
        result = array  # in a donated one's place
        if type(array) is not Array:
            try:
                result = _jax.dlpack_managed_tensor_to_buffer(array.__dlpack__(), device, None, False)
            except Exception:  # types that DLPack lacks
                result = jax.numpy.asarray(array)
        if self.weak is not None:  # yields to types of others, as Python's numbers do
            return Array(self.weak, result.sharding, [result], committed=False)
        return result if self.key is None else jax.random.wrap_key_data(result, impl=self.key)
