"""ONNX models in int8: each operator that a chip has on codes stands between DequantizeLinear and QuantizeLinear.

Weights: symmetric, a scale for each output channel, codes from -127 to 127. Activations: a scale and a zero point for each tensor,
from the range that it has on the data that is given. Biases: int32, in steps of both scales. Needs the package onnx."""

import itertools

import numpy as np

from . import compiler
from .calibration import Ranges
from .errors import ArgumentError, PolyBlocksError

BY_WEIGHTS = {"Conv": 0, "ConvTranspose": 1, "Gemm": 0, "MatMul": 1}  # the dim of the weights that output channels lie along
MOVES = {"MaxPool", "Flatten", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Slice", "Identity"}  # which keep codes as they are
OTHERS = {"Add", "Sub", "Mul", "AveragePool", "GlobalAveragePool", "Concat", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish", "HardSigmoid"}
CLAMPS = {"Relu", "Clip"}
OF_SHAPES = {"Cast", "Slice", "Gather", "Concat", "Squeeze", "Unsqueeze", "Add", "Sub", "Mul", "Div", "Identity"}  # by which shapes are computed
RANK = 64  # numbers at most, in what is a shape


def quantize(model, data, out=None, *, exclude=(), input_shapes=None, target="cpu", method="min-max", percentile=99.99):
    """Writes an int8 model to `out` and returns what came of it: {"nodes": how many run on codes, "kept": those of known kinds that
    do not, "decibel": how far its outputs are from the model's on the data, the greater the nearer}.

    model:   a file, or its bytes
    data:    samples: arrays, tuples of arrays, or dicts by the inputs' names
    exclude: names of nodes, or kinds, that stay in floats
    method:  what an activation's range is: "min-max", all values; "percentile", that part of them; "entropy", where codes tell the most"""
    ranges = Ranges(method, percentile)
    onnx = _onnx()
    graph_model, _ = open_model(model)
    if graph_model.opset_import[0].version < 13:
        graph_model = onnx.version_converter.convert_version(graph_model, 13)
    samples = [_named(graph_model, sample) for sample in data]
    if not samples:
        raise ArgumentError("data has no samples: ranges of activations come from them")
    shapes = {name: value.shape for name, value in samples[0].items()}
    _lift_constants(onnx, graph_model)
    _fold_norms(onnx, graph_model)
    graph_model = _fold_shapes(onnx, onnx.shape_inference.infer_shapes(_of_shapes(onnx, graph_model, input_shapes or shapes)))
    writer = _Writer(onnx, graph_model, set(exclude))
    wanted = _see(onnx, graph_model, writer.tensors, samples, ranges)
    made = writer.written(ranges.found())
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


def open_model(model):
    """A model and the extents of its inputs by name, 0 where one is free."""
    onnx = _onnx()
    model = onnx.load_from_string(model) if isinstance(model, bytes) else onnx.load(model)
    return model, {i.name: [dim.dim_value for dim in i.type.tensor_type.shape.dim] for i in _inputs(model)}


def _inputs(model):
    initializers = {t.name for t in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in initializers]


def _named(model, sample):
    names = [i.name for i in _inputs(model)]
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


def _fold_shapes(onnx, model):
    """Shapes, and what is computed of them alone, are numbers where extents are: else what reads them would hang on the codes between."""
    import onnx.reference

    numbers = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer if 0 not in t.dims and np.prod(t.dims) <= RANK}
    while True:
        values = itertools.chain(model.graph.value_info, model.graph.input)
        known = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in values if v.type.tensor_type.HasField("shape")}
        folded = 0
        for node in model.graph.node:
            array = None
            if node.op_type == "Shape" and all(known.get(node.input[0], [0])):
                ends = {a.name: a.i for a in node.attribute}
                array = np.array(known[node.input[0]][ends.get("start", 0) : ends.get("end")], np.int64)
            elif node.op_type in OF_SHAPES and all(name in numbers for name in node.input if name) and numbers[node.input[0]].dtype.kind == "i":
                feeds = {name: numbers[name] for name in node.input if name}
                ends = [[onnx.helper.make_value_info(name, onnx.TypeProto()) for name in names] for names in (feeds, node.output)]
                alone = onnx.helper.make_model(onnx.helper.make_graph([node], "node", *ends), opset_imports=model.opset_import)
                array = onnx.reference.ReferenceEvaluator(alone).run(None, feeds)[0]
            if array is not None:
                numbers[node.output[0]] = np.asarray(array)
                value = onnx.numpy_helper.from_array(numbers[node.output[0]])
                node.CopyFrom(onnx.helper.make_node("Constant", [], list(node.output), name=node.name, value=value))
                folded += 1
        if not folded:
            return model
        _lift_constants(onnx, model)
        model = onnx.shape_inference.infer_shapes(model, data_prop=True)


def _lift_constants(onnx, model):
    """Constants of nodes as the model's own: weights, what norms are of, bounds of clamps."""
    for node in [n for n in model.graph.node if n.op_type == "Constant"]:
        for attribute in node.attribute:
            if attribute.name == "value":
                model.graph.initializer.append(attribute.t)
                model.graph.initializer[-1].name = node.output[0]
                model.graph.node.remove(node)


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


def _see(onnx, model, tensors, samples, ranges):
    """Lets ranges see each tensor on the samples; the model's outputs."""
    looked_at = onnx.ModelProto()
    looked_at.CopyFrom(model)
    outputs, inputs = [o.name for o in model.graph.output], {i.name for i in model.graph.input}
    more = [name for name in tensors if name not in outputs and name not in inputs]
    looked_at.graph.output.extend(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in more)
    looked_at = onnx.shape_inference.infer_shapes(looked_at)
    engine = compiler.compile(looked_at.SerializeToString(), name="float.onnx", target="cpu", cache=False)
    wanted = []
    for turn in range(ranges.passes):
        for sample in samples:
            made = engine(**sample)
            values = dict(zip(outputs + more, made if isinstance(made, tuple) else (made,)))
            if turn == 0:
                wanted.append([values[name] for name in outputs])
            ranges.see(turn, {name: sample[name] if name in sample else values[name] for name in tensors})
    return wanted


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
