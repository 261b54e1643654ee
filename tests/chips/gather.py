"""Rows of a table by numbers that come at run time (ONNX's Gather along the first axis: embeddings), on chips with a command that gathers
rows: bf16npu_gather.td, whose tables are f32 in DRAM and whose vector unit turns numbers that count from the end, and
edge_npu_gather.td, whose tables are codes in a memory of constants. Against NumPy, to the bit; numbers of i64 come as
i32, and where the chip computes none of those the processor keeps them inside. Of the table only the rows that are named leave the memory; on bf16npu_gather_near.td all of it comes, and the command gathers
on the chip.

    gather.py --bin BUILD/bin
"""

import argparse
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

RNG = np.random.default_rng(7)


class Model:
    """A Gather of `rows` rows of `wide` elements by numbers of `shape`, and what stands behind it."""

    def __init__(self, name, of, ids, shape, rows, wide, behind=""):
        self.name, self.shape, self.ids, self.wide = name, shape, ids, wide
        self.table = RNG.integers(-128, 128, (rows, wide)).astype(np.int8) if of == "i8" else RNG.standard_normal((rows, wide)).astype(np.float32)
        self.places = RNG.standard_normal((shape[-1], wide)).astype(np.float32)
        self.kinds = RNG.standard_normal((2, wide)).astype(np.float32)
        self.behind = behind

    def save(self, path):
        element = TensorProto.INT8 if self.table.dtype == np.int8 else TensorProto.FLOAT
        number = TensorProto.INT32 if self.ids == "i32" else TensorProto.INT64
        inputs, nodes, tensors, last = [helper.make_tensor_value_info("ids", number, self.shape)], [], [], "words"
        if "made" in self.behind:  # the table is an activation
            inputs.append(helper.make_tensor_value_info("given", element, self.table.shape))
            nodes.append(helper.make_node("Relu", ["given"], ["table"], name="made"))
        else:
            tensors.append(numpy_helper.from_array(self.table, "table"))
        nodes.append(helper.make_node("Gather", ["table", "ids"], ["words"], name="words", axis=0))
        if "kinds" in self.behind:  # of which sentence a word is: a table of two rows
            inputs.append(helper.make_tensor_value_info("kind", number, self.shape))
            nodes.append(helper.make_node("Gather", ["kinds", "kind"], ["two"], name="two", axis=0))
            nodes.append(helper.make_node("Add", ["words", "two"], ["both"], name="both"))
            tensors.append(numpy_helper.from_array(self.kinds, "kinds"))
            last = "both"
        if "places" in self.behind:
            nodes.append(helper.make_node("Add", [last, "places"], ["placed"], name="placed"))
            tensors.append(numpy_helper.from_array(self.places, "places"))
            last = "placed"
        out = helper.make_tensor_value_info(last, element, [*self.shape, self.wide])
        graph = helper.make_graph(nodes, "g", inputs, [out], tensors)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)

    def draw(self):
        kind = np.int32 if self.ids == "i32" else np.int64
        rows = len(self.table)
        ids = [RNG.integers(-2 * rows, 2 * rows, self.shape).astype(kind)]  # what is no row is kept inside, as the SDK says
        if "made" in self.behind:
            ids.append(self.table)
        if "kinds" in self.behind:
            ids.append(RNG.integers(0, 2, self.shape).astype(kind))
        return ids

    def expected(self, ids):
        rows, table = len(self.table), np.maximum(self.table, 0) if "made" in self.behind else self.table
        y = table[np.clip(np.where(ids[0] < 0, ids[0] + rows, ids[0]), 0, rows - 1)]
        if "kinds" in self.behind:
            y = y + self.kinds[ids[1]]
        return y + self.places if "places" in self.behind else y


def run(bin_dir, work, model, target, options):
    """The result, the steps, and what pb-objdump says of the engine."""
    path, engine, stats, out = (os.path.join(work, n) for n in ("m.onnx", "m.pbe", "stats.json", "out.npy"))
    ids = model.draw()
    model.save(path)
    tools.run([f"{bin_dir}/pbc", path, f"--target={target}", "-o", engine, *options])
    inputs = []
    for name, x in zip(("ids", "given" if "made" in model.behind else "kind"), ids):
        np.save(os.path.join(work, f"{name}.npy"), x)
        inputs.append(f"--input={name}={os.path.join(work, name + '.npy')}")
    tools.run([f"{bin_dir}/pb-run", engine, "--device=machine", *inputs, f"--output={out}", f"--stats={stats}"])
    told = tools.run([f"{bin_dir}/pb-objdump", engine])
    return np.load(out), model.expected(ids), json.load(open(stats))["steps"], told


MODELS = [  # chip, model, options
    ("bf16npu_gather", Model("numbers of i32", "f32", "i32", [40], 300, 128), ()),
    ("bf16npu_gather", Model("a batch of them", "f32", "i32", [2, 16], 300, 64), ()),
    ("bf16npu_gather", Model("rows that end inside a row of lanes", "f32", "i32", [40], 100, 50), ()),
    ("bf16npu_gather", Model("a word", "f32", "i32", [1], 300, 128), ()),
    ("bf16npu_gather", Model("more than a command takes", "f32", "i32", [700], 5000, 64), ()),
    ("bf16npu_gather", Model("of a tensor that is made", "f32", "i32", [20], 60, 128, "made"), ()),
    ("bf16npu_gather", Model("of one whose rows end inside a row of lanes", "f32", "i32", [20], 60, 50, "made"), ()),
    ("bf16npu_gather", Model("words and places", "f32", "i32", [1, 32], 1000, 128, "places"), ()),
    ("bf16npu_gather", Model("words, places and sentences", "f32", "i32", [1, 32], 1000, 128, "kinds places"), ()),
    ("bf16npu_gather", Model("words, places and sentences of i64", "f32", "i64", [1, 32], 1000, 128, "kinds places"), ()),
    ("bf16npu_gather_near", Model("of a table on the chip", "f32", "i32", [40], 60, 128), ()),
    ("bf16npu_gather_near", Model("of a tensor that is made", "f32", "i32", [20], 60, 128, "made"), ()),
    ("edge_npu_gather", Model("codes in a ROM", "i8", "i64", [1, 48], 500, 256), ("--fallback=cpu",)),
]


def stablehlo(bin_dir, work):
    """StableHLO's gather says places by element numbers: of a table that comes as an input."""
    table, ids = RNG.standard_normal((60, 96)).astype(np.float32), RNG.integers(-20, 80, (2, 9)).astype(np.int32)
    path, engine, out = (os.path.join(work, n) for n in ("m.mlir", "m.pbe", "out.npy"))
    numbers = "#stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>"
    of = "(tensor<60x96xf32>, tensor<2x9xi32>) -> tensor<2x9x96xf32>"
    open(path, "w").write(f'''"builtin.module"() ({{
  "func.func"() <{{function_type = {of}, sym_name = "main"}}> ({{
  ^bb0(%t: tensor<60x96xf32>, %i: tensor<2x9xi32>):
    %y = "stablehlo.gather"(%t, %i) <{{dimension_numbers = {numbers}, slice_sizes = array<i64: 1, 96>}}> : {of}
    "func.return"(%y) : (tensor<2x9x96xf32>) -> ()
  }}) : () -> ()
}}) : () -> ()
''')
    for name, x in (("arg0", table), ("arg1", ids)):
        np.save(os.path.join(work, name + ".npy"), x)
    tools.run([f"{bin_dir}/pbc", path, f"--target={os.path.join(HERE, 'bf16npu_gather.td')}", "-o", engine])
    tools.run([f"{bin_dir}/pb-run", engine, "--device=machine", f"--input=arg0={work}/arg0.npy", f"--input=arg1={work}/arg1.npy", f"--output={out}"])
    told = tools.run([f"{bin_dir}/pb-objdump", engine])
    assert "ROWS" in told and np.array_equal(np.load(out), table[np.clip(ids, 0, 59)])
    print("bf16npu, StableHLO's gather: no byte differs")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        for chip, model, options in MODELS:
            got, expected, steps, told = run(a.bin, work, model, os.path.join(HERE, chip + ".td"), options)
            wrong = np.count_nonzero(got.reshape(expected.shape).view(np.int8) != expected.view(np.int8))
            last = "placed" if "places" in model.behind else "words"  # what takes the rows element by element is done beside them
            step = next(s for s in steps if s["origin"] == last)
            read, rows = step["dram_read"] + step.get("constants_read", 0), expected.size * expected.itemsize * (1 + len(model.behind.replace("made", "").split()))
            print(f"{chip}, {model.name}: {wrong} bytes differ; {read} bytes read for rows of {rows}, a table of {model.table.nbytes}; "
                  f"{step['cycles']} cycles ({step['predicted_cycles']} predicted), {sum(s['cycles'] for s in steps)} in all")
            assert not wrong and "ROWS" in told and step["cycles"] > 0
            least = model.table.nbytes if chip.endswith("near") else rows
            assert read <= least * 1.5 + 512, "rows that nobody named were read"
            on_host = [s["origin"] for s in steps if not s["cycles"]]
            assert all(s.endswith(".rows") for s in on_host) and bool(on_host) == bool(options), on_host
        stablehlo(a.bin, work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
