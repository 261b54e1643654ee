"""torch.compile(model, backend="polyblocks"): graphs of dynamo, through AOTAutograd, forwards and backwards.

options={...} of torch.compile are compile_options. Graphs of symbolic extents are made for the extents of each call."""

import collections
import contextlib
import threading
import warnings

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.utils import counters
from torch._subclasses import FakeTensorMode
from torch._subclasses.fake_tensor import DynamicOutputShapeException
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.attention import SDPBackend, sdpa_kernel

from .aten.graph import Module, decompositions
from .aten.replaced import RECURRENT
from .aten.resizing import kept_whole
from .aten.taken_apart import TAKEN_APART
from .errors import NotSupported, PolyBlocksWarning
from .from_torch import Tensors, stamps
from .options import Options


class Graph:
    """A graph of ATen overloads, compiled for what it is called with."""

    def __init__(self, graph_module, options, name, may_bind):
        self.graph_module, self.options, self.name = graph_module, options, name
        self.binds = may_bind and options.device_one_time_load
        self.symbolic = any(_is_symbolic(node.meta.get("val")) for node in graph_module.graph.nodes)
        self.programs, self.lock = {}, threading.Lock()

    def __call__(self, *inputs):
        key = tuple([(t.shape, t.dtype) if isinstance(t, torch.Tensor) else t for t in inputs]) if self.symbolic else None
        held = {k: t for k, t in enumerate(inputs) if isinstance(t, torch.nn.Parameter)} if self.binds else {}
        if held:
            key = (key, stamps(held.values()))
        program = self.programs.get(key)
        if program is None:
            with self.lock:
                program = self.programs.get(key)
                if program is None:
                    self.tell(inputs)
                    program = self.programs[key] = self.compiled(inputs, held)
        return program(inputs)

    def tell(self, inputs):
        """That a graph of symbolic extents is compiled once more, which takes seconds where a call takes less."""
        if self.symbolic and self.programs:
            extents = ", ".join("x".join(map(str, t.shape)) or "()" for t in inputs if isinstance(t, torch.Tensor) and not isinstance(t, torch.nn.Parameter))
            warnings.warn(f"{self.name} is compiled for inputs of {extents}, besides {len(self.programs)} before", PolyBlocksWarning, stacklevel=2)

    def compiled(self, inputs, held):
        graph_module = self.graph_module
        if self.symbolic:
            with FakeTensorMode(allow_non_fake_inputs=True) as mode:
                fakes = [mode.from_tensor(t, static_shapes=True) if isinstance(t, torch.Tensor) else t for t in inputs]
                try:
                    graph_module = make_fx(graph_module, decomposition_table=decompositions())(*fakes)
                except DynamicOutputShapeException as error:
                    hint = "torch.where, and a mask as an index of what is written, keep the shape"
                    raise NotSupported(f"operator {error.func}: how long its result is only data say", None, hint) from error
        module = Module(graph_module, self.name, self.options)
        bound = {k: held[a] for k, a in enumerate(module.arguments) if type(a) is int and a in held}
        return Tensors(module, self.options, bound)


def _is_symbolic(value):
    if isinstance(value, (list, tuple)):
        return any(map(_is_symbolic, value))
    if isinstance(value, torch.SymInt):
        return True
    return isinstance(value, torch.Tensor) and any(isinstance(n, torch.SymInt) for n in (*value.shape, *value.stride()))


def polyblocks(graph_module, example_inputs, *, options=None, mode=None):
    """The backend, under its name in torch.compile."""
    checked = Options(options)

    def compiler_of(name, may_bind=False):
        return lambda graph, _: make_boxed_func(Graph(graph, checked, name, may_bind))

    aot = aot_autograd(
        fw_compiler=compiler_of("forward"),
        bw_compiler=compiler_of("backward"),
        inference_compiler=compiler_of("graph", may_bind=True),
        decompositions=decompositions(),
    )
    tell_breaks()
    trains = torch.is_grad_enabled() and any(isinstance(t, torch.Tensor) and t.requires_grad for t in (*example_inputs, *graph_module.parameters()))
    if not trains:
        keep_recurrent(graph_module)
    whole = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)  # recurrent layers that train as plain operators
    try:
        with kept_whole(TAKEN_APART), sdpa_kernel(SDPBackend.MATH) if trains else contextlib.nullcontext():  # whose gradient is made of plain operators
            return aot(graph_module, example_inputs)
    finally:
        torch._C._set_mkldnn_enabled(whole)


def keep_recurrent(graph_module):
    """Recurrent layers as one operator each, which has no gradient; in the graphs of branches and loops, too."""
    for part in graph_module.modules():
        for node in part.graph.nodes if isinstance(part, torch.fx.GraphModule) else ():
            node.target = RECURRENT.get(node.target, node.target) if node.op == "call_function" else node.target
        if isinstance(part, torch.fx.GraphModule):
            part.recompile()


told = collections.Counter()


def tell_breaks():
    """Where dynamo has left something to Python since the last graph, and why."""
    for reason, count in counters["graph_break"].items():
        if count > told[reason]:
            lines = [line.strip() for line in str(reason).splitlines() if line.strip()]
            warnings.warn(f"a graph is broken: {' '.join(lines[:2])}", PolyBlocksWarning, stacklevel=2)
        told[reason] = count


def register():
    """Makes the backend known by its name. Dynamo is told to look into LSTM and GRU, which it else leaves to eager."""
    if hasattr(torch._dynamo.config, "allow_rnn"):
        torch._dynamo.config.allow_rnn = True
    if "polyblocks" not in torch._dynamo.list_backends(None):
        torch._dynamo.register_backend(polyblocks, name="polyblocks")
