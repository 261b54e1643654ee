"""ONNX models in int8: each operator that a chip has on codes stands between DequantizeLinear and QuantizeLinear.

Weights: symmetric, a scale for each output channel, codes from -127 to 127. Activations: a scale and a zero point for each tensor,
from the range that it has on the data that is given. Biases: int32, in steps of both scales. Needs the package onnx."""

import itertools

import numpy as np

from . import compiler
from .errors import ArgumentError, PolyBlocksError

BY_WEIGHTS = {"Conv": 0, "ConvTranspose": 1, "Gemm": 0, "MatMul": 1}  # the dim of the weights that output channels lie along
MOVES = {"MaxPool", "Flatten", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Slice", "Identity"}  # which keep codes as they are
OTHERS = {"Add", "Sub", "Mul", "AveragePool", "GlobalAveragePool", "Concat", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish", "HardSigmoid"}
CLAMPS = {"Relu", "Clip"}


def quantize(model, data, out=None, *, exclude=(), input_shapes=None, target="cpu"):
    """Writes an int8 model to `out` and returns what came of it: {"nodes": how many run on codes, "kept": those of known kinds that
    do not, "decibel": how far its outputs are from the model's on the data, the greater the nearer}.

    model:   a file, or its bytes
    data:    samples: arrays, tuples of arrays, or dicts by the inputs' names
    exclude: names of nodes, or kinds, that stay in floats"""
    onnx = _onnx()
    graph_model = onnx.load(model) if not isinstance(model, bytes) else onnx.load_from_string(model)
    if graph_model.opset_import[0].version < 13:
        graph_model = onnx.version_converter.convert_version(graph_model, 13)
    samples = [_named(graph_model, sample) for sample in data]
    if not samples:
        raise ArgumentError("data has no samples: ranges of activations come from them")
    shapes = {name: value.shape for name, value in samples[0].items()}
    _fold_norms(onnx, graph_model)
    graph_model = onnx.shape_inference.infer_shapes(_of_shapes(onnx, graph_model, input_shapes or shapes))
    writer = _Writer(onnx, graph_model, set(exclude))
    ranges, wanted = _ranges(onnx, graph_model, writer.tensors, samples, target)
    made = writer.written(ranges)
    onnx.checker.check_model(made)
    decibel = _apart(made, samples, wanted, target)
    if out is not None:
        onnx.save(made, out)
    return {"nodes": len(writer.chosen), "kept": writer.kept, "decibel": decibel, "model": None if out is not None else made.SerializeToString()}


def _onnx():
    try:
        import onnx
        import onnx.checker
        import onnx.shape_inference
        import onnx.version_converter
    except ImportError:
        raise PolyBlocksError("polyblocks.quantize reads and writes models by the package onnx: pip install onnx") from None
    return onnx


def _named(model, sample):
    initializers = {t.name for t in model.graph.initializer}
    names = [i.name for i in model.graph.input if i.name not in initializers]
    if not isinstance(sample, dict):
        values = sample if isinstance(sample, (tuple, list)) else (sample,)
        if len(values) != len(names):
            raise ArgumentError(f"a sample of {len(values)} arrays for {len(names)} inputs: {', '.join(names)}")
        sample = dict(zip(names, values))
    for name in sample:
        if name not in names:
            raise ArgumentError(f"no input {name!r}; there are {', '.join(names)}")
    return {name: np.ascontiguousarray(value) for name, value in sample.items()}


def _of_shapes(onnx, model, shapes):
    """The model for these extents, of which its own must be free or the same."""
    for value in model.graph.input:
        for dim, extent in zip(value.type.tensor_type.shape.dim, shapes.get(value.name, ())):
            if not dim.HasField("dim_value"):
                dim.dim_value = int(extent)
    for value in itertools.chain(model.graph.output, model.graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            if dim.HasField("dim_param"):
                dim.ClearField("dim_param")
    return model


def _fold_norms(onnx, model):
    """Batch normalisation behind a convolution becomes a part of its weights."""
    graph = model.graph
    numbers = {t.name: t for t in graph.initializer}
    makers = {name: node for node in graph.node for name in node.output}
    uses = [name for node in graph.node for name in node.input] + [o.name for o in graph.output]
    for node in [n for n in graph.node if n.op_type == "BatchNormalization"]:
        conv = makers.get(node.input[0])
        known = all(name in numbers for name in node.input[1:])
        if conv is None or conv.op_type != "Conv" or not known or conv.input[1] not in numbers or uses.count(node.input[0]) != 1:
            continue
        gain, shift, mean, var = (onnx.numpy_helper.to_array(numbers[name]) for name in node.input[1:5])
        eps = next((a.f for a in node.attribute if a.name == "epsilon"), 1e-5)
        factor = gain / np.sqrt(var + eps)
        w = onnx.numpy_helper.to_array(numbers[conv.input[1]])
        bias = onnx.numpy_helper.to_array(numbers[conv.input[2]]) if len(conv.input) > 2 else np.zeros(w.shape[0], w.dtype)
        arrays = {f"{node.name or node.output[0]}_w": w * factor.reshape(-1, *[1] * (w.ndim - 1)), f"{node.name or node.output[0]}_b": (bias - mean) * factor + shift}
        for name, array in arrays.items():
            graph.initializer.append(onnx.numpy_helper.from_array(array.astype(w.dtype), name))
        del conv.input[1:]
        conv.input.extend(arrays)
        conv.output[0] = node.output[0]
        graph.node.remove(node)


def _ranges(onnx, model, tensors, samples, target):
    """The least and the greatest of each tensor over the samples, and the model's outputs."""
    looked_at = onnx.ModelProto()
    looked_at.CopyFrom(model)
    outputs, inputs = [o.name for o in model.graph.output], {i.name for i in model.graph.input}
    more = [name for name in tensors if name not in outputs and name not in inputs]
    looked_at.graph.output.extend(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in more)
    looked_at = onnx.shape_inference.infer_shapes(looked_at)
    engine = compiler.compile(looked_at.SerializeToString(), name="float.onnx", target="cpu", cache=False)
    ranges, wanted = {}, []
    for sample in samples:
        made = engine(**sample)
        values = dict(zip(outputs + more, made if isinstance(made, tuple) else (made,)))
        wanted.append([values[name] for name in outputs])
        for name in tensors:
            value = sample[name] if name in sample else values[name]
            low, high = ranges.get(name, (0.0, 0.0))  # 0 has a code of its own
            ranges[name] = min(low, float(value.min())), max(high, float(value.max()))
    return ranges, wanted


def _apart(model, samples, wanted, target):
    engine = compiler.compile(model.SerializeToString(), name="int8.onnx", target=target, strict_target=False, cache=False)
    signal = noise = 0.0
    for sample, want in zip(samples, wanted):
        made = engine(**sample)
        for a, b in zip(made if isinstance(made, tuple) else (made,), want):
            signal += float(np.sum(np.square(b, dtype=np.float64)))
            noise += float(np.sum(np.square(a.astype(np.float64) - b)))
    return float("inf") if noise == 0 else 10 * float(np.log10(max(signal, 1e-300) / noise))


class _Writer:
    """Which nodes run on codes, and the model in which they do."""

    def __init__(self, onnx, model, exclude):
        self.onnx, self.model, self.graph = onnx, model, model.graph
        self.numbers = {t.name: t for t in self.graph.initializer}
        for node in self.graph.node:
            if node.op_type == "Constant":
                self.numbers.update({node.output[0]: a.t for a in node.attribute if a.name == "value"})
        types = {v.name: v.type.tensor_type.elem_type for v in itertools.chain(self.graph.value_info, self.graph.input, self.graph.output)}
        self.floats = {name for name, kind in types.items() if kind == onnx.TensorProto.FLOAT}
        self.users = {}
        for node in self.graph.node:
            for name in node.input:
                self.users.setdefault(name, []).append(node)
        self.outputs = {o.name for o in self.graph.output}
        self.chosen, self.kept, self.merged = [], [], {}
        kinds = BY_WEIGHTS.keys() | MOVES | OTHERS
        for node in self.graph.node:
            if node.op_type in kinds:
                fits = node.name not in exclude and node.op_type not in exclude and self.fits(node)
                (self.chosen if fits else self.kept).append(node if fits else node.name or node.output[0])
        for node in self.chosen:
            clamp = self.clamp_behind(node)
            if clamp is not None:
                self.merged[id(node)] = clamp
        self.tensors = []
        for node in self.chosen:
            for name in [*self.activations(node), self.result(node)]:
                if name not in self.tensors:
                    self.tensors.append(name)

    def fits(self, node):
        if node.output[0] not in self.floats or not self.activations(node):
            return False
        if any(name not in self.floats for name in self.activations(node)):
            return False
        if node.op_type in BY_WEIGHTS and node.op_type != "MatMul":
            return all(name in self.numbers for name in node.input[1:] if name)
        return True

    def activations(self, node):
        """Operands that are computed, as floats."""
        names = list(node.input[:1]) if node.op_type in MOVES else [n for n in node.input if n]
        return [name for name in names if name not in self.numbers]

    def clamp_behind(self, node):
        users = self.users.get(node.output[0], [])
        alone = len(users) == 1 and node.output[0] not in self.outputs and node.op_type not in MOVES
        return users[0] if alone and users[0].op_type in CLAMPS else None

    def result(self, node):
        clamp = self.merged.get(id(node))
        return (clamp or node).output[0]

    # ---- the model ----

    def written(self, ranges):
        self.nodes, self.added, self.scales, self.codes = [], [], {}, set()
        for name in self.tensors:
            low, high = ranges[name]
            scale = np.float32(max(high - low, 1e-6) / 255)
            self.scales[name] = scale, np.int8(np.clip(np.rint(-128 - low / float(scale)), -128, 127))
        for node in self.chosen:  # what moves codes has the scale of what it moves
            if node.op_type in MOVES:
                self.scales[self.result(node)] = self.scales[node.input[0]]
        for name in (i.name for i in self.graph.input):
            if name in self.scales:
                self.quantized(name)
        chosen, clamps = {id(n) for n in self.chosen}, {id(c) for c in self.merged.values()}
        for node in self.graph.node:
            if id(node) in clamps:
                continue
            if id(node) in chosen:
                self.on_codes(node)
            else:
                self.nodes.append(node)
                for name in node.output:
                    if name in self.scales:
                        self.quantized(name)
        made = self.onnx.ModelProto()
        made.CopyFrom(self.model)
        del made.graph.node[:]
        made.graph.node.extend(self.nodes)
        made.graph.initializer.extend(self.added)
        self.drop_unread(made.graph)
        return made

    @staticmethod
    def drop_unread(graph):
        read = {name for node in graph.node for name in node.input} | {o.name for o in graph.output}
        for tensor in [t for t in graph.initializer if t.name not in read]:
            graph.initializer.remove(tensor)

    def constant(self, name, array):
        self.added.append(self.onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def quantized(self, name, source=None):
        """The tensor's codes."""
        scale, zero = self.scales[name]
        self.constant(f"{name}/scale", scale)
        self.constant(f"{name}/zero", zero)
        self.codes.add(name)
        return self.node("QuantizeLinear", [source or name, f"{name}/scale", f"{name}/zero"], f"{name}/codes")

    def dequantized(self, name, output):
        return self.node("DequantizeLinear", [f"{name}/codes", f"{name}/scale", f"{name}/zero"], output)

    def on_codes(self, node):
        name, result = node.output[0], self.result(node)
        inputs, source = [], None
        for k, operand in enumerate(node.input):
            if operand in self.codes and operand in self.activations(node):
                inputs.append(self.dequantized(operand, f"{name}/in{k}"))
                source = source or operand
            elif node.op_type in BY_WEIGHTS and operand in self.numbers:
                inputs.append(self.parameter(node, k, source))
            else:
                inputs.append(operand)
        copy = self.onnx.NodeProto()
        copy.CopyFrom(node)
        del copy.input[:], copy.output[:]
        copy.input.extend(inputs)
        copy.output.append(f"{name}/float")
        self.nodes.append(copy)
        last = f"{name}/float"
        clamp = self.merged.get(id(node))
        if clamp is not None:
            second = self.onnx.NodeProto()
            second.CopyFrom(clamp)
            del second.output[:]
            second.input[0] = last
            second.output.append(f"{result}/clamped")
            self.nodes.append(second)
            last = f"{result}/clamped"
        self.quantized(result, last)
        if result in self.outputs or any(not self.reads_codes(user, result) for user in self.users.get(result, [])):
            self.dequantized(result, result)

    def reads_codes(self, user, name):
        return any(user is node for node in self.chosen) and name in self.activations(user)

    def parameter(self, node, k, source):
        """Weights in int8, a scale for each channel; a bias in int32."""
        base, array = f"{node.output[0]}/p{k}", self.onnx.numpy_helper.to_array(self.numbers[node.input[k]])
        if k == 2:
            scale = (self.scales[source][0] * self.weight_scale).astype(np.float32)
            codes = np.clip(np.rint(array.reshape(-1).astype(np.float64) / scale), -(2**30), 2**30).astype(np.int32)
            axis = 0
        else:
            axis = self.channels(node, array)
            rest = tuple(d for d in range(array.ndim) if d != axis)
            scale = (np.maximum(np.abs(array).max(axis=rest), 1e-8) / 127).astype(np.float32)
            shape = [-1 if d == axis else 1 for d in range(array.ndim)]
            codes = np.clip(np.rint(array / scale.reshape(shape)), -127, 127).astype(np.int8)
            self.weight_scale = scale
        names = [self.constant(f"{base}/codes", codes), self.constant(f"{base}/scale", scale)]
        names.append(self.constant(f"{base}/zero", np.zeros(scale.shape, codes.dtype)))
        return self.node("DequantizeLinear", names, base, axis=axis)

    @staticmethod
    def channels(node, array):
        if node.op_type == "Gemm":
            return 0 if any(a.name == "transB" and a.i for a in node.attribute) else 1
        return array.ndim - 1 if node.op_type == "MatMul" else BY_WEIGHTS[node.op_type]
