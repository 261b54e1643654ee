"""polyblocks.quantize: networks of ONNX in int8, near to what they were, and without fallback on the NPU."""

import numpy as np
import onnx
import polyblocks
import pytest
from onnx import TensorProto, helper, numpy_helper
from polyblocks import pb_quantize
from polyblocks.calibration import Ranges

RNG = np.random.default_rng(1)


class Net:
    """A chain of nodes on "x"."""

    def __init__(self, *shape):
        self.shape, self.last, self.nodes, self.constants = shape, "x", [], []

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, kind, *more, inputs=None, **attributes):
        out = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [*(inputs or [self.last]), *more], [out], name=f"{kind}{len(self.nodes)}", **attributes))
        self.last = out
        return self

    def conv(self, i, o, k=3, groups=1, bias=True, **attributes):
        w = self.constant((RNG.standard_normal((o, i // groups, k, k)) / np.sqrt(i // groups * k * k)).astype(np.float32))
        b = [self.constant((0.1 * RNG.standard_normal(o)).astype(np.float32))] if bias else []
        return self.add("Conv", w, *b, pads=[k // 2] * 4, group=groups, **attributes)

    def norm(self, c):
        parts = [1 + 0.2 * RNG.standard_normal(c), 0.1 * RNG.standard_normal(c), 0.1 * RNG.standard_normal(c), 1 + 0.5 * RNG.random(c)]
        return self.add("BatchNormalization", *(self.constant(p.astype(np.float32)) for p in parts))

    def gemm(self, i, o):
        return self.add("Gemm", self.constant((RNG.standard_normal((o, i)) / np.sqrt(i)).astype(np.float32)), self.constant(np.zeros(o, np.float32)), transB=1)

    def bytes(self, rank, opset=13, batch=None):
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch or self.shape[0], *self.shape[1:]])]
        output = helper.make_tensor_value_info(self.last, TensorProto.FLOAT, [None] * rank)
        graph = helper.make_graph(self.nodes, "net", inputs, [output], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()


def convolutions():
    net = Net(1, 3, 16, 16).conv(3, 16, bias=False).norm(16).add("Relu").conv(16, 16, groups=16).add("Clip", "", "six")
    net.constants.append(numpy_helper.from_array(np.float32(6), "six"))
    first = net.last
    net.conv(16, 16).add("Add", first).add("Relu").add("MaxPool", kernel_shape=[2, 2], strides=[2, 2]).conv(16, 32).add("Relu")
    return net.add("GlobalAveragePool").add("Flatten").gemm(32, 10), 2


def perceptron():
    net = Net(4, 24)
    return net.gemm(24, 32).add("Relu").gemm(32, 8), 2


def with_floats_between():
    return Net(1, 3, 8, 8).conv(3, 16).add("Softplus").conv(16, 16), 4


DATA = {
    "convolutions": [RNG.standard_normal((1, 3, 16, 16)).astype(np.float32) for _ in range(24)],
    "perceptron": [RNG.standard_normal((4, 24)).astype(np.float32) for _ in range(24)],
    "with_floats_between": [RNG.standard_normal((1, 3, 8, 8)).astype(np.float32) for _ in range(24)],
}


@pytest.mark.parametrize("make, strict", [(convolutions, True), (perceptron, True), (with_floats_between, False)])
def test_near_and_on_codes(make, strict, tmp_path):
    net, rank = make()
    data, model = DATA[make.__name__], net.bytes(rank)
    told = polyblocks.quantize(model, data, out=tmp_path / "int8.onnx")
    assert told["decibel"] > 25 and not told["kept"] and told["nodes"] >= 2, told
    compiled = polyblocks.compile(tmp_path / "int8.onnx", target="cpu")
    plain = polyblocks.compile(model, name="float.onnx")
    fresh = data[0][..., ::-1].copy()  # not among the samples
    want, got = plain(fresh), compiled(fresh)
    assert not np.array_equal(want, got) and np.sum((want - got) ** 2) < 0.02 * np.sum(want**2)
    kinds = [node.op_type for node in onnx.load(tmp_path / "int8.onnx").graph.node]
    assert "BatchNormalization" not in kinds and kinds.count("QuantizeLinear") >= told["nodes"]
    if strict:
        npu = polyblocks.compile(tmp_path / "int8.onnx", target="simnpu")
        assert np.array_equal(npu(fresh), got)


def test_bounds_of_a_clamp_by_a_node(tmp_path):
    """Clip's bounds come of Constant nodes, which stand behind the convolution that the clamp goes to."""
    net = Net(1, 3, 8, 8).conv(3, 16)
    last = net.last
    for name, value in (("low", 0.0), ("high", 6.0)):
        net.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.float32(value), name)))
    net.last = last
    net.add("Clip", "low", "high").conv(16, 16)
    told = polyblocks.quantize(net.bytes(4), DATA["with_floats_between"], tmp_path / "int8.onnx")
    assert told["decibel"] > 25 and told["nodes"] == 2, told


def test_excluded_and_free_extents(tmp_path):
    net, rank = perceptron()
    model = net.bytes(rank, batch="batch")
    told = polyblocks.quantize(model, DATA["perceptron"], exclude=["Gemm0"])
    assert told["kept"] == ["Gemm0"] and told["nodes"] == 1 and isinstance(told["model"], bytes)


def test_wrong_data():
    net, rank = perceptron()
    for data, says in (([], "no samples"), ([(1, 2)], "2 arrays for 1 inputs: x"), ([{"y": np.zeros((4, 24), np.float32)}], "no input 'y'; there are x")):
        with pytest.raises(polyblocks.ArgumentError, match=says):
            polyblocks.quantize(net.bytes(rank), data)


@pytest.mark.parametrize("method", ["percentile", "entropy"])
def test_ranges_without_what_lies_far_out(method):
    """One value of ten thousand is far from all others: min-max gives most codes away for it."""
    values = RNG.standard_normal((10, 1000)).astype(np.float32)
    values[0, 0] = 60
    ranges = {}
    for how in ("min-max", method):
        seen = Ranges(how, 99.9)
        for turn in range(seen.passes):
            for row in values:
                seen.see(turn, {"x": row, "zero": np.zeros(3, np.float32), "above": abs(row)})
        ranges[how] = seen.found()
    assert ranges["min-max"]["x"] == (float(values.min()), 60) and ranges["min-max"]["zero"] == (0, 0)
    low, high = ranges[method]["x"]
    assert low < -1 and 2 < high < 30
    assert ranges[method]["above"][0] == 0 and 2 < ranges[method]["above"][1] < 30  # 0 stays in
    scale = (high - low) / 255
    assert np.abs(np.clip(np.rint(values[1:] / scale), low / scale, high / scale) * scale - values[1:]).mean() < 0.05


@pytest.mark.parametrize("method", ["min-max", "percentile", "entropy"])
def test_methods(method, tmp_path):
    net, rank = convolutions()
    told = polyblocks.quantize(net.bytes(rank), DATA["convolutions"], tmp_path / "int8.onnx", method=method)
    assert told["decibel"] > 15 and not told["kept"], told
    if method != "min-max":
        with pytest.raises(polyblocks.ArgumentError, match="takes 'min-max', 'percentile', 'entropy'"):
            polyblocks.quantize(net.bytes(rank), DATA["convolutions"], method=method + "s")


@pytest.mark.parametrize("batch", [None, "n"])
def test_command(batch, tmp_path, capsys):
    net, rank = perceptron()
    (tmp_path / "net.onnx").write_bytes(net.bytes(rank, batch=batch))
    rows = np.concatenate(DATA["perceptron"])
    np.save(tmp_path / "rows.npy", rows)
    np.savez(tmp_path / "rows.npz", x=rows)
    command = [str(tmp_path / "net.onnx"), "-o", str(tmp_path / "int8.onnx")]
    assert pb_quantize.main([*command, str(tmp_path / "rows.npy"), str(tmp_path / "rows.npz"), "--method", "percentile", "--exclude", "Gemm0"]) == 0
    said = capsys.readouterr().out
    assert "1 nodes on codes" in said and f"on {2 * len(rows) // (1 if batch else 4)} samples; in floats: Gemm0" in said
    np.savez(tmp_path / "other.npz", y=rows)
    assert pb_quantize.main([*command, str(tmp_path / "other.npz")]) == 1 and "has no array 'x'; there are y" in capsys.readouterr().err
