"""A graph of ATen overloads (torch.fx) as a StableHLO module."""

import functools
import operator
import re

import torch
from torch._subclasses.fake_tensor import FakeTensor

from .. import compiler
from ..errors import CompileError, NotSupported, PolyBlocksError
from . import table
from .creation import DRAWN
from .builder import ELEMENTS, Builder, Unsupported, Value
from .taken_apart import TAKEN_APART
from .vision import of_torchvision

DRAWN_ROWS = {"aten." + (name if "." in name else f"{name}.default") for name in DRAWN}
NOTHING = ("_assert", "_linalg_check_errors", "sym_constrain_range", "record_stream", "_set_grad_enabled", "set_grad_enabled", "_enter_autocast", "_exit_autocast")
IN_PLACE = {name: f"{name}_" for name in ("uniform", "exponential", "bernoulli", "cauchy", "geometric", "log_normal", "random")}
IN_PLACE["normal_functional"] = "normal_"
FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def without_generator(target, kwargs):
    """The overload that takes no generator, where None is given for one."""
    words = target._overloadname.split("_")
    if "generator" not in words or kwargs.get("generator") is not None:
        return target
    words.remove("generator")
    return getattr(getattr(getattr(torch.ops, target.namespace), target._opname), "_".join(words) or "default", target)


def source_of(node):
    """The line of Python that a node comes from: the last that its trace names, outside of PyTorch where there is one."""
    frames = FRAME.findall(node.meta.get("stack_trace") or "")
    own = [f for f in frames if not any(part in f[0] for part in ("/torch/", "/polyblocks/", "<"))]
    return f"{own[-1][0]}:{own[-1][1]}" if own else None


class Module:
    """What came of a graph: `text`, a `source` for each of its lines, and what its arguments are.

    arguments: for each input of the engine a placeholder's number, a tensor, or a function that draws one
    outputs:   for each result of the graph its number among the engine's outputs, or the constant that it is"""

    def __init__(self, graph_module, name="graph", options=None):
        self.rows, self.b = table.load(), Builder(options and (lambda: runs_loops(options)))
        self.name, self.arguments, self.env, self.later = name, [], {}, []
        self.placeholders, self.parts = 0, 0
        results = self.walk(graph_module, None)
        outputs, self.outputs = [], []
        for result in results:
            self.outputs.append(len(outputs) if isinstance(result, Value) else _Constant(result))
            if isinstance(result, Value):
                outputs.append(result)
        self.values = outputs
        self.b.inputs, self.arguments = self.in_order()
        self.text, self.sources = self.b.module(outputs)

    def in_order(self):
        """Placeholders first, then what the graph holds and what is drawn."""
        pairs = sorted(zip(self.b.inputs, self.arguments), key=lambda pair: 0 if isinstance(pair[1], int) else 1)
        return [value for value, _ in pairs], [argument for _, argument in pairs]

    def place(self, line):
        return self.sources[line - 1] if 0 < line <= len(self.sources) else None

    # ---- nodes ----

    def walk(self, graph_module, given):
        """The graph's results; `given`: the values of its placeholders, where it is a part of another."""
        env, given = {}, None if given is None else list(given)
        for node in graph_module.graph.nodes:
            self.b.source = source_of(node) or self.b.source
            if node.op == "placeholder":
                env[node] = self.placeholder(node) if given is None else given.pop(0)
            elif node.op == "get_attr":
                env[node] = self.held(graph_module, node)
            elif node.op == "output":
                return [self.argument(env, a) for a in _flat(node.args[0])]
            elif node.op == "call_function":
                env[node] = self.call(env, node)
            else:
                raise NotSupported(f"a node {node.op} {node.target}", self.b.source)
        return []

    def placeholder(self, node):
        value, number = node.meta.get("val"), self.placeholders
        self.placeholders += 1
        if not isinstance(value, torch.Tensor):
            return value
        return self.input(value, number)

    def input(self, tensor, argument):
        if tensor.dtype not in ELEMENTS:
            raise NotSupported(f"tensors of {str(tensor.dtype).removeprefix('torch.')}", self.b.source)
        if tensor.device.type not in ("cpu", "meta"):
            raise NotSupported(f"a tensor on {tensor.device}", self.b.source, "tensors lie in the system's memory")
        if tensor.layout != torch.strided:
            raise NotSupported(f"a tensor of layout {tensor.layout}", self.b.source)
        value = self.b.input(tensor.dtype, concrete(tensor.shape))
        self.arguments.append(argument)
        return value

    def held(self, graph_module, node):
        value = graph_module
        for part in node.target.split("."):
            value = getattr(value, part)
        if isinstance(value, torch.Tensor):
            if isinstance(value, FakeTensor):
                raise PolyBlocksError(f"the tensor {node.target} has no numbers")
            return self.input(value, value)
        return value

    def argument(self, env, value):
        if isinstance(value, torch.fx.Node):
            return env[value]
        if isinstance(value, (list, tuple)):
            return [self.argument(env, v) for v in value]
        if isinstance(value, dict):
            return {k: self.argument(env, v) for k, v in value.items()}
        if isinstance(value, slice):
            return slice(*(self.argument(env, v) for v in (value.start, value.stop, value.step)))
        return value

    def call(self, env, node):
        args, kwargs = self.argument(env, node.args), self.argument(env, node.kwargs)
        target = node.target
        if target is operator.getitem:
            return args[0][args[1]]
        name = getattr(target, "__name__", str(target))
        if any(word in name for word in NOTHING):
            return None
        if isinstance(target, torch._ops.HigherOrderOperator):
            return self.higher_order(name, args, node)
        if not isinstance(target, torch._ops.OpOverload):
            return self.python(target, name, args, kwargs)
        target, made = without_generator(target, kwargs), node.meta.get("val")
        if any(isinstance(a, torch.ScriptObject) or isinstance(a, torch.Generator) for a in (*args, *kwargs.values())) or "generator" in target._overloadname:
            hint = "random numbers come of PyTorch's own generator, torch.manual_seed; another one is an argument of none"
            raise NotSupported(f"operator {target}: a generator of its own", self.b.source, hint)
        if str(target) in DRAWN_ROWS:
            return self.drawn(target, node, made)
        if target.namespace == "aten" and target._opname.startswith("sym_"):
            return self.symbol(target._opname, args)
        if str(target) not in self.rows and isinstance(made, torch.Tensor) and is_constant(target, args, kwargs):
            value = target(*args, **kwargs)
            return self.input(value, value)
        if str(target) not in self.rows:
            of_data = any(isinstance(n, torch.SymInt) for t in _flat([made]) if isinstance(t, torch.Tensor) for n in t.shape)
            raise NotSupported(f"operator {target}{': how long its result is only data say' if of_data else ' is not known'}", self.b.source)
        return self.row(target, node, args, kwargs, made)

    def row(self, target, node, args, kwargs, made):
        args = [self.held_argument(a) for a in args]
        if target._opname == "as_strided":
            args[0] = self.in_order_of_memory(node.args[0].meta["val"], args[0])
        try:
            made = _Made.of(made)
            used = _used(node, len(made)) if isinstance(made, list) else None
            results = table.lower(self.b, target, args, kwargs, made, used)
        except Unsupported as why:
            raise NotSupported(f"operator {target}: {why}", self.b.source) from None
        self.check(target, results, made)
        return results

    def in_order_of_memory(self, said, value):
        """A value as its memory has it, which strides are of."""
        order = sorted(range(value.rank), key=lambda d: (said.stride(d), said.shape[d] != 1), reverse=True)
        if not said.permute(order).is_contiguous():
            raise NotSupported("operator aten.as_strided of a tensor with gaps", self.b.source, "tensor.contiguous() has none")
        return self.b.transpose(value, order)

    def held_argument(self, value):
        """Tensors that stand among the arguments themselves become inputs."""
        if isinstance(value, torch.Tensor):
            return self.input(value, value)
        if isinstance(value, (list, tuple)):
            return [self.held_argument(v) for v in value]
        return value

    def check(self, target, results, made):
        """What a row made is what PyTorch says: else the row is wrong, and nobody shall compute with it."""
        for result, said in zip(results if isinstance(results, list) else [results], made if isinstance(made, list) else [made]):
            if result is not None and said is not None and (result.dtype != said.dtype or result.shape != said.shape):
                raise PolyBlocksError(f"{target} is {said.type} and was made as {result.type}: a bug of the table")

    def symbol(self, name, args):
        x = args[0]
        return {"sym_size": lambda: x.shape[args[1]] if len(args) > 1 else list(x.shape), "sym_numel": lambda: torch.Size(x.shape).numel()}.get(name, lambda: 0)()

    def python(self, target, name, args, kwargs):
        """Of numbers, which are known."""
        if any(isinstance(a, Value) for a in _flat(args)):
            raise NotSupported(f"{name} of a tensor", self.b.source)
        return target(*args, **kwargs)

    def drawn(self, target, node, made):
        """A random tensor: PyTorch draws it at each call, in the order of the graph, and so as it does by itself."""
        if self.parts:
            raise NotSupported(f"operator {target} in a branch or a loop: a call draws its random numbers once", self.b.source)
        if any(isinstance(a, torch.fx.Node) and not isinstance(a.meta.get("val"), torch.Tensor) for a in _flat(node.args)):
            raise NotSupported(f"operator {target} by numbers that are not known", self.b.source)
        examples = [_like(a.meta["val"]) if isinstance(a, torch.fx.Node) else a for a in node.args]
        kwargs = {k: v for k, v in node.kwargs.items() if not isinstance(v, torch.fx.Node) and (k != "generator" or v is not None)}
        if target._opname in IN_PLACE:  # of a tensor that eager fills
            fill, like, rest = getattr(torch.Tensor, IN_PLACE[target._opname]), node.args[0].meta["val"], examples[1:]
            return self.input(made, lambda: fill(_like(like), *rest, **kwargs))
        return self.input(made, lambda: target(*examples, **kwargs))

    def higher_order(self, name, args, node):
        if name in ("wrap_with_set_grad_enabled", "wrap_with_autocast", "hints_wrapper"):
            part = next(k for k, a in enumerate(args) if isinstance(a, torch.fx.GraphModule))
            return self.walk(args[part], args[part + 1 :])
        if name == "with_effects":  # (token, overload, ...): of checks, which a run does not make
            if any(word in str(args[1]) for word in (*NOTHING, "check_errors")):
                return [args[0], None]
            raise NotSupported(f"operator {args[1]} has effects", self.b.source)
        if name == "cond":
            return self.chosen(*args, node)
        if name == "while_loop":
            return self.looped(*args)
        if name in ("scan", "map_impl"):
            return self.scanned(*(args if name == "scan" else (args[0], [], *args[1:])), node)
        raise NotSupported(f"operator {name} of other graphs is not known", self.b.source)

    def within(self, graph_module, captured):
        """What writes a graph as a region that has some of its arguments and captures the others."""

        def write(inner, *values):
            outer, self.b = self.b, inner
            self.parts += 1
            try:
                results = self.walk(graph_module, [*values, *captured])
            finally:
                self.b = outer
                self.parts -= 1
            if any(not isinstance(result, Value) for result in results):
                raise NotSupported("a branch or turn has a result that is no tensor", self.b.source)
            return results

        return write

    def chosen(self, condition, if_true, if_false, operands, node):
        if not isinstance(condition, Value):
            return self.walk(if_true if condition else if_false, operands)
        types = [(value.dtype, value.shape) for value in _Made.of(node.meta["val"])]
        condition = self.b.reshape(condition, ())
        return self.b.choose(condition, types, self.within(if_true, operands), self.within(if_false, operands))

    def looped(self, condition, step, carried, captured):
        carried = [v if isinstance(v, Value) else self.b.constant(v, torch.int64) for v in carried]
        write = self.within(condition, captured)
        return self.b.loop(carried, lambda b, *values: [b.reshape(v, ()) for v in write(b, *values)], self.within(step, captured))

    def scanned(self, step, first, along, captured, node):
        """One step for each item along the first dim; what a step leaves besides the carried values is gathered."""
        count, write = along[0].shape[0], self.within(step, captured)
        gathered = _Made.of(node.meta["val"])[len(first) :]
        rows = [self.b.constant(0, value.dtype, value.shape) for value in gathered]

        def turn(b, k, *values):
            carried, rows = values[: len(first)], values[len(first) :]
            items = [b.reshape(b.part(x, [k] + [None] * (x.rank - 1), (1, *x.shape[1:])), x.shape[1:]) for x in along]
            results = write(b, *carried, *items)
            made = results[len(first) :]
            put = [b.put(row, b.reshape(y, (1, *y.shape)), [k] + [None] * y.rank) for row, y in zip(rows, made)]
            return [*results[: len(first)], *put]

        return self.b.turns(count, [*first, *rows], turn)


def runs_loops(options):
    """Whether the target takes a loop that reads and writes at its turns' numbers by itself: a small one is compiled for it."""
    return _runs_loops(tuple(pair for pair in options.for_compiler() if pair[0] != "fallback"))


@functools.lru_cache(maxsize=None)
def _runs_loops(pairs):
    b = Builder()
    x = b.input(torch.float32, (2, 1))

    def turn(b, k, y):
        return [b.put(y, b.part(x, [k, None], (1, 1)), [k, None])]

    text, _ = b.module(b.turns(2, [b.constant(0, x.dtype, x.shape)], turn))
    try:
        compiler.run("loop.mlir", text.encode(), pairs)
    except CompileError:
        return False
    return True


class _Constant:
    """A result that is no tensor of the engine."""

    def __init__(self, value):
        self.value = value


class _Made:
    """PyTorch's word of a result."""

    @staticmethod
    def of(value):
        if isinstance(value, (list, tuple)):
            return [_Made.of(v) for v in value]
        return Value("", value.dtype, concrete(value.shape)) if isinstance(value, torch.Tensor) else None


def concrete(shape):
    """Extents as numbers: graphs are made for given shapes."""
    try:
        return tuple(int(n) for n in shape)
    except RuntimeError:  # a symbol of what data say
        raise Unsupported("how long its result is only data say") from None


def _flat(value):
    if isinstance(value, (list, tuple)):
        return [v for part in value for v in _flat(part)]
    return [value]


def _used(node, count):
    """Which of its results the graph reads."""
    used = [False] * count
    for user in node.users:
        if user.target is operator.getitem:
            used[user.args[1]] = used[user.args[1]] or bool(user.users)
        else:
            return [True] * count
    return used


def _like(tensor):
    """With its strides: PyTorch draws in the order of memory."""
    return torch.empty_strided(concrete(tensor.shape), concrete(tensor.stride()), dtype=tensor.dtype)


def is_constant(target, args, kwargs):
    """Whether it is a tensor of numbers that are known: a window, a table."""
    return torch.Tag.nondeterministic_seeded not in target.tags and not any(isinstance(a, (Value, torch.SymInt)) for a in _flat([args, list(kwargs.values())]))


def decompositions():
    """How overloads without a row are taken apart."""
    return {**of_pytorch(), **of_torchvision()}


@functools.lru_cache(maxsize=None)
def of_pytorch():
    """By PyTorch itself, and ours. References of operators that autograd takes apart anyway
    are left out: they are made of operators of their own (prims)."""
    known, found = table.load(), dict(TAKEN_APART)
    for op, by in torch._decomp.decomposition_table.items():
        if not isinstance(op, torch._ops.OpOverload) or str(op) in known or op in TAKEN_APART:
            continue
        implicit = torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CompositeImplicitAutograd")
        if by.__module__.startswith("torch._decomp") or not implicit:
            found[op] = by
    return found
