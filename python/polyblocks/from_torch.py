"""PyTorch: functions, modules and methods, exported by torch.export and compiled for the shapes that they are called with."""

import contextlib
import copy
import dataclasses
import functools
import inspect
import threading
import traceback
import types
import warnings

import numpy as np
import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.fx.proxy import TracerBase
from torch.utils import _pytree as pytree

from . import compiler
from .aten.graph import Module, decompositions
from .aten.replaced import Replaced, masks_as_they_are
from .aten import table
from .aten.taken_apart import TAKEN_APART
from .errors import ArgumentError, NotSupported, PolyBlocksWarning
from .held_numbers import Methods, Reads, attributes_of, has_attributes, number_key
from .options import Options
from .torch_memory import Memory, refuse_shared, shared
from .torch_places import OF_ALL_MODULES, PLAIN, Places, is_held, owner_of, place_of, read_by, refuse_own_kind, same_places, ties, visit_modules
from .torch_state import Assigned, holds_tensors, is_object, kind, numbers_of, settings_of


def polyblocks_jit_torch(function=None, *, compile_options=None):
    """Compiles a function of tensors, a method, a module or a class of modules; results have no gradient: for training there is
    torch.compile(model, backend="polyblocks")."""
    options = Options(compile_options)
    if function is None:
        return functools.partial(polyblocks_jit_torch, compile_options=compile_options)
    if isinstance(function, torch.nn.Module):
        return JitTorchModule(function, options)
    if inspect.isclass(function) and issubclass(function, torch.nn.Module):
        function.forward = JitTorch(function.forward, options)
        return function
    if not callable(function):
        raise ArgumentError(f"{function!r} is no function and no module")
    return JitTorch(function, options)


class Tensors:
    """Runs an engine on PyTorch's tensors. `module` says what its arguments are and what comes of its outputs."""

    def __init__(self, module, options, constants=None):
        constants = constants or {}
        bound = {f"arg{k}": t for k, t in constants.items() if t.numel() and not t.dtype.is_complex}
        pairs = options.for_compiler()
        self.engine = compiler.engine(f"{module.name}.mlir", module.text.encode(), pairs, bound, options, module.place)
        kept = [k for k in range(len(module.arguments)) if f"arg{k}" not in bound]
        self.plan = [module.arguments[k] for k in kept]
        self.read = [what for what in self.plan if type(what) is int]  # placeholders, of which constants are none
        self.turns = range(options.num_iters)
        self.made = [(value.shape, value.dtype) for value in module.values]
        self.results = module.outputs
        self.shapes = [module.b.inputs[k].shape for k in kept]
        self.dtypes = [module.b.inputs[k].dtype for k in kept]

    def __call__(self, given):
        """The graph's results for its placeholders' values."""
        kept, inputs = [], []
        for what, shape, dtype in zip(self.plan, self.shapes, self.dtypes):
            tensor = given[what] if type(what) is int else what() if callable(what) else what
            if tensor is None:  # the token of an order of checks
                tensor = torch.empty(shape, dtype=dtype)
            if type(tensor) not in PLAIN:
                refuse_own_kind(tensor)
            if not tensor.is_contiguous() or tensor.is_conj() or tensor.is_neg():
                tensor = tensor.contiguous().resolve_conj().resolve_neg()
            if tensor.shape != shape or tensor.dtype != dtype or tensor.device.type != "cpu":
                raise ArgumentError(f"{dtype} {tuple(shape)} on the cpu is asked for, not {tensor.dtype} {tuple(tensor.shape)} on {tensor.device}")
            kept.append(tensor)
            inputs.append(tensor.data_ptr())
        outputs = [torch.empty(shape, dtype=dtype, device="cpu") for shape, dtype in self.made]
        at = [tensor.data_ptr() for tensor in outputs]
        for _ in self.turns:
            self.engine.run_pointers(inputs, at)
        return [outputs[result] if type(result) is int else result.value for result in self.results]


def stamps(tensors):
    """What says whether tensors have changed: where they are, and how often they were written to in place."""
    return tuple([(t.data_ptr(), 0 if t.is_inference() else t._version) for t in tensors])


class _Holder(torch.nn.Module):
    """A function of tensors alone: what else it is called with is a part of it. Its modules are those that the function uses."""

    def __init__(self, function, modules):
        super().__init__()
        self.__dict__["function"] = function  # which may be a module, and is one once
        self.tree, self.leaves = None, []
        for k, module in enumerate(modules):
            self.add_module(f"m{k}", module)

    def with_arguments(self, leaves, tree, memories=()):
        """The tensors that it takes are those at `places`, and memories that others lie in."""
        made = copy.copy(self)
        made.__dict__["objects"] = [module for module in made.modules() if module is not made] + self.plain_owner()
        kept = {id(vars(part).get(name)) for part in made.objects for name in vars(part)}
        outside = [(owner, name, value) for owner, name, value in made.read if isinstance(value, (torch.Tensor, list, dict)) and id(value) not in kept]
        made.__dict__["assigned"] = Assigned(made.objects, outside)
        made.tree, made.leaves = tree, [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        within = {k for memory in memories for k in memory.numbers}
        made.places = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor) and k not in within]
        made.places += memories
        return made

    def plain_owner(self):
        """The object whose method the function is, where that is no module, and those that it is called with."""
        owner = getattr(self.function, "__self__", None)
        return self.given + [owner] if hasattr(owner, "__dict__") and not isinstance(owner, (torch.nn.Module, types.ModuleType, type)) else self.given

    def forward(self, *tensors):
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors):
            if type(place) is int:
                leaves[place] = tensor
                continue
            for k, *view in place.views:
                leaves[k] = tensor.as_strided(*view)
        args, named = pytree.tree_unflatten(leaves, self.tree)
        self.assigned.begin()
        before = pytree.tree_leaves((args, named))
        with Replaced():
            result = self.function(*args, **named)
        self.refuse_other_arguments(before, args, named)
        while take_apart_dataclasses(pytree.tree_leaves(result)):
            pass
        assigned = self.assigned.taken()
        return (result, assigned) if assigned else result

    def refuse_other_arguments(self, before, args, named):
        """What a function puts into a list or a dict that it is called with its caller would not find there."""
        now, tree = pytree.tree_flatten((args, named))
        if tree == self.tree and all(a is b or not isinstance(a, torch.Tensor) for a, b in zip(now, before)):
            return
        hint = "return it: tensors that are arguments may be written in place"
        raise NotSupported("a list, a dict or a dataclass among the arguments has other contents after the call", None, hint)


def modules_of(function, read):
    """Modules that a function is, is a method of, closes over or names."""
    if isinstance(function, torch.nn.Module):
        return [function]
    modules = []
    for value in [getattr(function, "__self__", None), *(value for _, _, value in read)]:
        value = value.module if isinstance(value, JitTorchModule) else value
        if isinstance(value, torch.nn.Module) and all(value is not m for m in modules):
            modules.append(value)
    return modules


class JitTorch:
    """A function that is compiled by pb when it is called."""

    def __init__(self, function, options):
        functools.update_wrapper(self, function, updated=() if isinstance(function, torch.nn.Module) else ("__dict__",))
        self.function, self.options = function, options
        self.programs, self.lock = {}, threading.Lock()
        self.holder, self.watched = None, []  # attributes that calls assign
        self.counted = set()  # numbers that calls change
        self.given = []  # objects that it was called with

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        made = instance.__dict__.setdefault("_polyblocks_jit", {})
        if self not in made:
            made[self] = JitTorch(types.MethodType(self.function, instance), self.options)
        return made[self]

    def hold(self):
        given = [value for value in self.given if not isinstance(value, torch.nn.Module)]
        reads, visited = self.reads(given), set()
        while True:
            read = read_by(self.function) + reads.values
            modules = modules_of(self.function, read)
            modules += [value for value in self.given if isinstance(value, torch.nn.Module) and all(value is not m for m in modules)]
            new = {id(part): part for m in modules for part in m.modules() if id(part) not in visited}
            if not new:
                break
            visit_modules(reads, new.values())
            visited.update(new)
        holder = _Holder(self.function, [m for k, m in enumerate(modules) if not any(m is part for other in modules[:k] for part in other.modules())])
        holder.read, holder.given = Places(read), given
        self.held_modules = list(holder.modules())[1:]
        self.held_lengths, self.held_forwards = reads.lengths, Methods(self.held_modules, "forward")
        self.hold_numbers(holder)
        parts = [part for m in self.held_modules for part in (m._modules, m._forward_hooks, m._forward_pre_hooks)] + OF_ALL_MODULES
        self.held_empty = [part for part in parts if not part]
        self.held_parts = [(part, tuple(part.values())) for part in parts if part]
        self.held_tensors = [part for m in self.held_modules for part in (m._parameters, m._buffers)]
        self.held_ids = [id(t) for part in self.held_tensors for t in part.values()]
        self.held_ties = ties(self.held_ids)
        self.held_pairs, self.held_alike = same_places(holder)
        self.holder = holder

    def reads(self, parts):
        """What the function and the objects that it is called with read."""
        reads = Reads(self.function, parts, self.counted, torch.nn.Module)
        for value in parts:
            reads.visit(value, attributes_of(value) if has_attributes(value) else ())
        return reads

    def hold_given(self, leaves):
        """Objects that it is called with are read as those are that it names; of many the last ones."""
        new = [leaf for leaf in leaves if type(leaf) not in QUICK and is_of_attributes(leaf) and all(leaf is not value for value in self.given)]
        if new:
            with self.lock:
                self.given = [*self.given, *new][-8:]
                self.hold()

    def hold_numbers(self, holder):
        parts = [*self.held_modules, *holder.plain_owner()]
        parts += {id(value): value for part in parts for value in settings_of(part)}.values()
        held = [numbers for part in parts for numbers in numbers_of(part, self.counted)]
        reads = self.reads(parts[len(self.held_modules) :])
        visit_modules(reads, self.held_modules)
        self.held_numbers = held + reads.numbers
        kinds = (torch.nn.Module, JitTorchModule, np.ndarray)
        self.held_read = [place for place in [*holder.read, *reads.values] if isinstance(place[2], kinds) or is_object(place[2])]

    def is_kept(self):
        """Whether the modules are those that they were, with the parts, hooks and numbers that they had: else programs are of others."""
        for part, values in self.held_parts:
            if tuple(part.values()) != values:
                return False
        if any(self.held_empty) or not self.held_forwards.are_kept() or not self.are_tied([id(t) for part in self.held_tensors for t in part.values()]):
            return False
        try:
            for (owner, name), (other, its_name) in self.held_pairs:
                if owner[name] is not other[its_name]:
                    return False
            for owner, name, value in (*self.held_read, *self.held_alike):
                if owner[name] is not value:
                    return False
        except (KeyError, IndexError):
            return False
        for value, length in self.held_lengths:
            if len(value) != length:
                return False
        for numbers in self.held_numbers:
            if not numbers.is_kept():
                return False
        return True

    def are_tied(self, ids):
        """Whether the modules' tensors, others perhaps, are one where they were one: a program has one that several names have once."""
        if ids == self.held_ids:
            return True
        if ties(ids) != self.held_ties:
            return False
        self.held_ids = ids
        return True

    def hold_again(self):
        with self.lock:
            if not self.is_kept():
                others = [text for numbers in self.held_numbers for _, text in numbers.others()]
                if others and self.programs:
                    warnings.warn(f"{others[0]}: what is called is compiled anew", PolyBlocksWarning, stacklevel=4)
                self.programs.clear()
                self.hold()

    def polyblocks_describe(self, *args, **named):
        leaves, tree = pytree.tree_flatten((args, named))
        if self.holder is None or not self.is_kept():
            self.hold()
        program = Exported(self.holder, leaves, tree, self.options, getattr(self.function, "__name__", "function"), compile=False)
        constants = {f"arg{k}": tensor for k, tensor in program.constants().items()}
        return f"{program.module.name}.mlir", program.module.text, self.options.for_compiler(), constants, program.module.place

    def __call__(self, *args, **named):
        leaves, tree = args, None
        for leaf in args:
            if type(leaf) not in PLAIN:
                leaves = None
                break
        if leaves is None or named:  # not tensors alone
            leaves, tree = pytree.tree_flatten((args, named))
            if any(isinstance(leaf, torch.Tensor) and is_traced(leaf) for leaf in leaves):
                return self.function(*args, **named)  # inside another one, which it becomes a part of
        program, given = self.program_of(args, named, leaves, tree)
        try:
            return program(given)
        except HeldOthers:
            with self.lock:
                self.programs.clear()
                self.hold()
            program, given = self.program_of(args, named, leaves, tree)
            return program(given)

    def program_of(self, args, named, leaves=None, tree=None):
        """The program for such arguments, and the leaves that it takes."""
        if leaves is None:
            leaves, tree = pytree.tree_flatten((args, named))
        self.hold_given(leaves)
        if self.holder is None:
            self.hold()
        elif not self.is_kept():
            self.hold_again()
        mode = torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu"), torch.get_default_dtype()
        try:
            key = (tree, mode, *[_kind(leaf) for leaf in leaves], *[m.training for m in self.held_modules])
        except ArgumentError:
            if not take_apart_dataclasses(leaves):
                raise
            return self.program_of(args, named)
        if self.watched:
            key = (key, *[kind(vars(module).get(name)) for module, name in self.watched])
        program = self.programs.get(key)
        if program is None:
            with self.lock:
                program = self.programs.get(key)
                if program is None:
                    if self.programs:  # what was held may have been put in others' places since
                        self.hold()
                    leaves, tree = pytree.tree_flatten((args, named))
                    program = Exported(self.holder, leaves, tree, self.options, getattr(self.function, "__name__", "function"))
                    key = self.watch(program, key)
                    self.programs[key] = program
        if program.writes_any:
            program = self.of_memories(program, key, leaves, tree)
        return program, leaves

    def of_memories(self, program, key, leaves, tree):
        """A program that writes, for arguments that lie in one memory or do not."""
        program.refuse_shared(leaves)
        memories = shared(leaves, program.writes)
        if not memories:
            return program
        leaves, tree = pytree.tree_flatten(pytree.tree_unflatten(leaves, tree)) if tree is not None else pytree.tree_flatten((tuple(leaves), {}))
        key = (key, *[memory.views for memory in memories])
        with self.lock:
            if key not in self.programs:
                self.programs[key] = Exported(self.holder, leaves, tree, self.options, getattr(self.function, "__name__", "function"), memories=memories)
            return self.programs[key]

    def watch(self, program, key):
        """The key of a program, once more attributes are known that calls assign; programs before are keyed without them and go."""
        self.refuse_kept()
        counted = {(numbers.whose, name): text for numbers in self.held_numbers for name, text in numbers.others()}
        for text in counted.values():
            warnings.warn(f"{text} after a call, which the program does not change", PolyBlocksWarning, stacklevel=4)
        if not self.counted.issuperset([*program.assigned.counted, *counted]):
            self.counted.update(program.assigned.counted, counted)
            self.hold_numbers(self.holder)
        more = [pair for pair in program.assigned.names if all(pair[0] is not m or pair[1] != name for m, name in self.watched)]
        if not more:
            return key
        self.programs.clear()
        key = key[0] if self.watched else key
        self.watched += more
        return (key, *[kind(vars(module).get(name)) for module, name in self.watched])

    def refuse_kept(self):
        """A tensor in the place of a number that a function reads: of the trace, which has none."""
        for numbers in self.held_numbers:
            for name, kept in zip(numbers.names, numbers.kept):
                if holds_tensors(numbers.now(name)) and hasattr(numbers.owner, "__setitem__"):
                    numbers.owner[name] = kept
                    raise NotSupported(f"{name}: a tensor is kept outside of the function, in a variable of others", None, "return it")


class JitTorchModule(JitTorch):
    """A module that is compiled: all else of it is its own."""

    def __init__(self, module, options):
        self.__dict__["module"] = module
        super().__init__(module, options)
        self.__wrapped__ = module

    def __getattr__(self, name):
        return getattr(self.__dict__["module"], name)


QUICK = (*PLAIN, bool, int, float, str, type(None))


def is_of_attributes(leaf):
    """Whether an argument is of attributes, or a function: what may read numbers of its own."""
    return has_attributes(leaf) and not isinstance(leaf, (torch.Tensor, type, types.ModuleType))


def is_traced(tensor):
    return isinstance(tensor, (torch._subclasses.FakeTensor, FunctionalTensor))


def take_apart_dataclasses(leaves):
    """Tells PyTorch of the fields of dataclasses among the leaves, so that they are none any more; whether there were any."""
    kinds = {type(leaf) for leaf in leaves if dataclasses.is_dataclass(leaf) and not isinstance(leaf, type)}
    for kind_ in kinds:
        pytree.register_dataclass(kind_)
    return bool(kinds)


def _kind(leaf):
    if isinstance(leaf, torch.Tensor):
        if type(leaf) not in PLAIN:
            refuse_own_kind(leaf)
        if leaf.requires_grad and torch.is_grad_enabled() and leaf.grad_fn is not None:
            raise ArgumentError(
                "an argument has a gradient, and what polyblocks_jit_torch compiles gives none\n"
                '  hint: torch.compile(model, backend="polyblocks"), or torch.no_grad()'
            )
        return leaf.shape, leaf.dtype, leaf.device.type, None if leaf.layout != torch.strided or leaf.is_contiguous() else leaf.stride()
    if isinstance(leaf, slice):
        return slice, number_key(leaf.start), number_key(leaf.stop), number_key(leaf.step)
    try:
        hash(leaf)
    except TypeError:
        hint = "\n  hint: torch.from_numpy makes a tensor of it" if hasattr(leaf, "__array_interface__") else ""
        raise ArgumentError(f"{type(leaf).__name__} is no argument: tensors, numbers, texts, and tuples, lists and dicts of them are{hint}") from None
    return number_key(leaf)


_export_lock = threading.Lock()


@contextlib.contextmanager
def unchecked_distributions():
    """Distributions look at their numbers and raise an error in Python where they make no sense: a graph has no such branch."""
    plain = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        torch.distributions.Distribution.set_default_validate_args(plain)


@contextlib.contextmanager
def traces_of_users():
    """While a graph is exported its nodes keep all lines of Python outside of PyTorch, not those of `forward` alone."""

    def kept(tracer, summary):
        return traceback.StackSummary.from_list([frame for frame in summary if "/torch/" not in frame.filename])

    plain = TracerBase.__dict__.get("_filter_traceback_frames")
    with _export_lock, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*LeafSpec", category=FutureWarning)  # of PyTorch's own copies
        warnings.filterwarnings("ignore", message=".*assigned during export", category=UserWarning)  # which torch_state takes care of
        if plain is None:  # another version's tracer
            yield
            return
        TracerBase._filter_traceback_frames = kept
        try:
            yield
        finally:
            TracerBase._filter_traceback_frames = plain


def exported_graph(holder, tensors):
    """The graph in overloads that the table knows, or that nobody does."""
    taken_apart = torch.export.default_decompositions()
    taken_apart.update(decompositions())
    for op in [op for op in taken_apart if str(op) in table.load() and op not in TAKEN_APART]:
        taken_apart.pop(op)
    with torch.no_grad(), traces_of_users(), unchecked_distributions(), masks_as_they_are():
        try:
            return torch.export.export(holder, tensors, strict=False).run_decompositions(taken_apart)
        except NotSupported:
            raise
        except Exception as error:
            raise _export_error(error) from error


def _like(tensor):
    """A tensor of the same kind with memory of its own: what lies in one memory by chance is no part of the graph."""
    plain = tensor.layout == torch.strided and not tensor.is_quantized
    if not plain:
        return tensor
    if tensor.is_contiguous():
        return torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)


def _export_error(error):
    """What torch.export says, with the line of the user's where there is one."""
    text = str(error).strip().splitlines()
    if isinstance(error, (DataDependentOutputException, DynamicOutputShapeException)):
        text = [f"operator {error.func}: what it gives, or how long that is, only data say"]
    trace, place, transformed = error.__traceback__, None, "torch._functorch" in str(error) or "_unwrap_for_grad" in str(error)
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "/torch/" not in file and "/polyblocks/" not in file and not file.startswith("<"):
            place = f"{file}:{trace.tb_lineno}"
        transformed = transformed or file.endswith(("_functorch/predispatch.py", "_functorch/eager_transforms.py", "_functorch/pyfunctorch.py"))
        trace = trace.tb_next
    if text and "expected compiled_fn to be GraphModule" in text[0]:
        text = ["a tensor of the module's is written that another one of its tensors lies in: neither says so"]
    elif text and text[0].startswith("Constant") and "is mutated" in text[0]:
        text = ["a tensor that is closed over is written", "make it an argument, or a buffer of a module"]
    hint = " ".join(text[1:2])
    if transformed or any(said in str(error) for said in ("fake tensor in the exported program constant", "data pointer of Tensor that doesn't have storage")):
        hint = 'torch.export does not take torch.func\'s transforms: torch.compile(function, backend="polyblocks") does'
    elif "data-dependent" in str(error) or "got FakeTensor" in str(error):
        hint = "Python decides by numbers of a tensor, which a graph does not have: torch.where chooses elements, torch.cond branches"
    return NotSupported(f"it cannot be exported: {text[0] if text else type(error).__name__}", place, hint)


def _is_of_codes(node):
    """Whether a tensor of the module is read as codes alone, or as the scales or zero points of some."""
    return bool(node.users) and all(str(user.target).startswith("quantized_decomposed.") for user in node.users)


class HeldOthers(ArgumentError):
    """A tensor that a module or a function holds is of another shape or type than it was."""


class Exported:
    """A program of one signature."""

    def __init__(self, holder, leaves, tree, options, name, compile=True, memories=()):
        if any(OF_ALL_MODULES):
            raise NotSupported("a hook of all modules (register_module_forward_hook, register_module_forward_pre_hook)", None, "hooks of single modules are part of a program")
        for held in (*holder.parameters(), *holder.buffers()):
            if not isinstance(held, torch.nn.parameter.UninitializedTensorMixin):
                refuse_own_kind(held)
        holder = holder.with_arguments(leaves, tree, memories)
        self.assigned = holder.assigned
        try:
            program = exported_graph(holder, tuple(_like(self.tensor(place, leaves)) for place in holder.places))
        finally:
            self.assigned.as_before()
        signature = program.graph_signature
        kinds = torch.export.graph_signature.InputKind
        self.module = Module(program.graph_module, "".join(c if c.isalnum() else "_" for c in name), options)
        self.where = []  # for each placeholder: a leaf's place, or where its tensor is kept
        users = 0
        for spec in signature.input_specs:
            if spec.kind == kinds.USER_INPUT:
                self.where.append(holder.places[users])
                users += 1
            elif spec.kind in (kinds.PARAMETER, kinds.BUFFER) and (spec.target not in program.constants or is_held(holder, spec.target)):
                self.where.append(owner_of(holder, spec.target))
            elif spec.kind in (kinds.CONSTANT_TENSOR, kinds.PARAMETER, kinds.BUFFER):
                self.where.append(place_of(holder, program.constants[spec.target]))
            elif spec.kind == kinds.TOKEN:  # an order of checks
                self.where.append(None)
            else:
                hint = "random numbers come of PyTorch's own generator, torch.manual_seed; another one is an argument of none" if spec.kind == kinds.CUSTOM_OBJ else ""
                raise NotSupported(f"an input of kind {spec.kind.name}, {spec.target}", None, hint)
        self.options, self.programs = options, {}
        placeholders = [node for node in program.graph_module.graph.nodes if node.op == "placeholder"]
        self.kept = {}  # inputs of the engine that are the module's own tensors
        for k, a in enumerate(self.module.arguments):
            if type(a) is int and type(self.where[a]) not in (int, Memory):
                self.kept[k] = self.where[a]
        self.coded = {k for k in self.kept if _is_of_codes(placeholders[self.module.arguments[k]])}
        self.bound = [(k, where) for k, where in self.kept.items() if options.device_one_time_load or k in self.coded]
        self.tree = program.call_spec.out_spec
        self.mutated = []
        outputs = torch.export.graph_signature.OutputKind
        self.first = 0
        for spec in signature.output_specs:
            if spec.kind in (outputs.BUFFER_MUTATION, outputs.PARAMETER_MUTATION):
                self.mutated.append(owner_of(holder, spec.target))
            elif spec.kind == outputs.TOKEN:
                self.mutated.append(None)
            elif spec.kind == outputs.USER_INPUT_MUTATION:
                names = [s.arg.name for s in signature.input_specs if s.kind == kinds.USER_INPUT]
                self.mutated.append(holder.places[names.index(spec.target)])
            else:
                break
            self.first += 1
        self.writes = {k for k in self.mutated if type(k) is int}
        self.writes_any = not memories and self.mutated != [None] * len(self.mutated)
        if compile:
            self.engine()
            self.hint()

    def constants(self):
        """The module's tensors that are the engine's constants: codes and their scales, and all with device_one_time_load."""
        return {k: self.tensor(where, None) for k, where in self.bound}

    def engine(self):
        """Other constants are compiled anew."""
        held = [self.tensor(where, None) for _, where in self.bound] if not self.mutated else []
        key = stamps(held)
        run = self.programs.get(key)
        if run is None:
            self.check_held()
            self.programs.clear()
            run = self.programs[key] = Tensors(self.module, self.options, dict(zip((k for k, _ in self.bound), held)))
        return run

    def check_held(self):
        for k, where in self.kept.items():
            tensor, info = self.tensor(where, None), self.module.b.inputs[k]
            if tensor.shape != info.shape or tensor.dtype != info.dtype:
                raise HeldOthers(f"{info.dtype} {tuple(info.shape)} was held, and {tensor.dtype} {tuple(tensor.shape)} is now")

    def hint(self):
        """That weights at run time cost time, of a module that does not train."""
        weights = [self.tensor(where, None) for where in self.kept.values()]
        large = [w for w in weights if w.dim() > 1 and w.numel() >= 1 << 16]
        if large and not self.options.device_one_time_load and not torch.is_grad_enabled():
            warnings.warn(
                "weights that come at run time are packed in each call; compile_options={'device_one_time_load': True} makes them "
                "constants of the engine, which is faster where few rows meet them",
                PolyBlocksWarning,
                stacklevel=5,
            )

    @staticmethod
    def tensor(where, leaves):
        if type(where) is int:
            return leaves[where]
        if where is None:
            return torch.empty(0)
        if type(where) is Memory:
            return where.of(leaves)
        return where[0][where[1]] if type(where) is tuple else where

    def refuse_shared(self, leaves):
        """An argument that lies in a tensor of the module's."""
        held, written = ([self.tensor(where, leaves) for where in of if type(where) not in (int, type(None))] for of in (self.where, self.mutated))
        refuse_shared(leaves, self.writes, held, written)

    def __call__(self, leaves):
        run = self.engine()
        given = {what: self.tensor(self.where[what], leaves) for what in run.read}
        try:
            results = run(given)
        except ArgumentError:
            self.check_held()
            raise
        written = [(self.tensor(where, leaves), value) for where, value in zip(self.mutated, results) if where is not None]
        if any(tensor.shape != value.shape for tensor, value in written):
            raise HeldOthers("a tensor that is written is of another shape than it was")
        with torch.no_grad():
            for tensor, value in written:
                tensor.copy_(value)
        made = pytree.tree_unflatten(results[self.first :], self.tree)
        if not self.assigned.names:
            return made
        self.assigned.put(made[1])
        return made[0]
