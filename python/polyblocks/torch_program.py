"""Programs of torch.export, as `compile` takes them: weights are constants of the engine, and each set of extents that open dims get
has an engine of its own."""

import re
import warnings

import numpy as np
import torch
from torch.export.graph_signature import InputKind, SymIntArgument, TensorArgument
from torch.utils import _pytree as pytree

from .arrays import shape_text
from .errors import ArgumentError, PolyBlocksWarning
from .from_torch import JitTorch


class TorchProgram:
    """A compiled program: called with what the program takes (tensors, or NumPy's arrays), it gives what the program gives. It is
    compiled for the extents of its example, or for those of `input_shapes` alone, and else once for each others that come."""

    def __init__(self, program, options, input_shapes=None):
        self.program, self.made, self.only = program, {}, None
        self.inputs = [Input(program, spec) for spec in program.graph_signature.input_specs if spec.kind == InputKind.USER_INPUT]
        self.jit = JitTorch(program.module(), options)
        sets = self.said(input_shapes) if input_shapes else [[x.example() for x in self.inputs]]
        for leaves in sets:
            self.prepare(leaves)
        if input_shapes:
            self.only = set(self.made)

    def __repr__(self):
        return f"<program of torch.export: ({', '.join(map(repr, self.inputs))}), {len(self.made)} engine{'s' * (len(self.made) != 1)}>"

    def said(self, input_shapes):
        """Inputs of each set of extents: the k-th of each list, where there are lists."""
        names = {x.name: x for x in self.inputs if x.is_tensor}
        unknown = [name for name in input_shapes if name not in names]
        if unknown:
            raise ArgumentError(f"no input {unknown[0]!r}; there are {', '.join(names)}")
        shapes = {name: input_shapes.get(name, x.shape) for name, x in names.items()}
        for name, shape in shapes.items():
            if any(n in ("?", None, -1) or isinstance(n, torch.SymInt) and not n.node.is_constant() for n in shape):
                text = "x".join(map(str, shape))
                raise ArgumentError(f"input_shapes leaves {name!r} open ({text}): numbers or lists of them say it; without input_shapes any extents are taken")
        counts = {len(n) for shape in shapes.values() for n in shape if isinstance(n, (list, tuple))}
        if len(counts) > 1:
            raise ArgumentError(f"lists of extents of {' and '.join(map(str, sorted(counts)))} numbers: the k-th of each are a set")
        sets = []
        for k in range(counts.pop() if counts else 1):
            taken = {name: [int(n[k] if isinstance(n, (list, tuple)) else n) for n in shape] for name, shape in shapes.items()}
            sets.append([x.of_shape(taken[x.name]) if x.is_tensor else x.example() for x in self.inputs])
        return sets

    def prepare(self, leaves):
        """An engine for inputs of these extents, which the program's own ranges and multiples must allow."""
        self.check(leaves)
        args, named = pytree.tree_unflatten(leaves, self.program.call_spec.in_spec)
        self.made[key_of(leaves)] = self.jit.program_of(args, named)[0]

    def check(self, leaves):
        for x, leaf in zip(self.inputs, leaves):
            x.check(leaf)
        paths = [((pytree.SequenceKey(0), pytree.SequenceKey(k)), leaf) for k, leaf in enumerate(leaves)]
        try:
            self.program._check_input_constraints(paths)
        except RuntimeError as error:
            text = re.sub(r"\*args\[(\d+)\]", lambda m: repr(self.inputs[int(m.group(1))].name), str(error))
            raise ArgumentError(f"the program is not for these inputs: {text}") from None

    def __call__(self, *args, **named):
        leaves = self.leaves_of(args, named)
        key = key_of(leaves)
        if key not in self.made:
            self.check(leaves)
            extents = ", ".join(shape_text(leaf.shape) for leaf in leaves if isinstance(leaf, torch.Tensor))
            if self.only is not None:
                raise ArgumentError(f"inputs of {extents}: it is compiled for what input_shapes says alone")
            warnings.warn(f"the program is compiled for inputs of {extents}, besides {len(self.made)} before", PolyBlocksWarning, stacklevel=2)
            self.prepare(leaves)
        args, named = pytree.tree_unflatten(leaves, self.program.call_spec.in_spec)
        program, leaves = self.jit.program_of(args, named)
        return program(leaves)

    def leaves_of(self, args, named):
        """What it is called with, in the program's order; NumPy's arrays as tensors of the same memory."""
        spec = self.program.call_spec.in_spec
        known = spec.child(1).context if spec.num_children == 2 else None
        if known and set(known) == set(named):
            named = {name: named[name] for name in known}
        leaves, tree = pytree.tree_flatten((args, named))
        if tree != spec:
            raise ArgumentError(f"the program takes {', '.join(map(repr, self.inputs))}, nested as its example: {spec}")
        return [torch.from_numpy(leaf) if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]

    def polyblocks_describe(self, *args, **named):
        leaves = self.leaves_of(args, named)
        self.check(leaves)
        args, named = pytree.tree_unflatten(leaves, self.program.call_spec.in_spec)
        return self.jit.polyblocks_describe(*args, **named)

    def save(self, path):
        """Leaves the engine as a .pbe file, of the program's inputs in their order, which `load` and pb-run take."""
        if len(self.made) != 1:
            raise ArgumentError(f"a file has one engine, and there are {len(self.made)}: input_shapes says for which extents it is")
        (made,) = self.made.values()
        if made.mutated or any(type(made.where[what]) is not int if type(what) is int else True for what in made.engine().plan):
            raise ArgumentError("the program has a state or draws random numbers, which a file has not: call it from Python")
        made.engine().engine.save(path)
        return self


class Input:
    """An argument of the program, or a part of one: a tensor of a type and a shape with symbols, or a value that is part of the program."""

    def __init__(self, program, spec):
        self.name, self.is_tensor = spec.arg.name, isinstance(spec.arg, TensorArgument)
        value = next(node for node in program.graph.nodes if node.op == "placeholder" and node.name == spec.arg.name).meta["val"]
        self.value = int(value) if isinstance(spec.arg, SymIntArgument) else value
        self.shape = tuple(value.shape) if self.is_tensor else None

    def __repr__(self):
        if not self.is_tensor:
            return f"{self.name}: {self.value!r}"
        return f"{self.name}: {str(self.value.dtype).removeprefix('torch.')}[{', '.join(map(str, self.shape))}]"

    def of_shape(self, shape):
        return torch.empty(shape, dtype=self.value.dtype)

    def example(self):
        """What stands for it: a tensor of its extents in the example."""
        return self.of_shape([n.node.hint if isinstance(n, torch.SymInt) else n for n in self.shape]) if self.is_tensor else self.value

    def check(self, leaf):
        if not self.is_tensor:
            return
        if not isinstance(leaf, torch.Tensor):
            raise ArgumentError(f"{self.name!r} is a tensor, not {type(leaf).__name__}")
        if leaf.dtype != self.value.dtype:
            raise ArgumentError(f"{self.name!r} takes {self.value.dtype}, not {leaf.dtype}")
        if leaf.dim() != len(self.shape):
            raise ArgumentError(f"{self!r} has {len(self.shape)} dims, not {leaf.dim()}")


def key_of(leaves):
    return tuple((tuple(leaf.shape), leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves)
