"""A chip with several memories of constants: each constant lies in the fastest that has room for it and from which commands
bring it to where it is taken, in the order of the program; what finds no room in any of them in the system's memory, where
commands bring it from there; the rest is refused by name. Results are those of the reference whatever lies where.

    constants.py --bin BUILD/bin
"""

import argparse
import filecmp
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import fixed  # noqa: E402
import stored_forms  # noqa: E402
from fixed import np, onnx, tools  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

WEIGHTS, PARAMETERS = 22528, 1920  # of the digits, as they lie
EXTRA = """def MORE : Memory { let Scope = "constants"; let Bytes = %d; let RowBytes = 32; let BytesPerCycle = %d; let Latency = 60; }
def MORE_WEIGHTS : Move<WT, 21> {
  let Summary = "weights of one more memory to SRAM"; let Operands = (ins Dram<I8, MORE>:$src, InSRAM:$dst);
}
"""


class Chips:
    """edge_npu_three with other sizes."""

    def __init__(self, bin_dir, work):
        self.bin, self.work, self.count = bin_dir, work, 0
        with open(os.path.join(HERE, "edge_npu_three.td")) as three, open(os.path.join(HERE, "edge_npu.td")) as others:
            self.text = three.read().replace('include "edge_npu.td"', others.read())
        self.case = fixed.Case(bin_dir, os.path.join(HERE, "edge_npu_three.td"), "", 0, work)

    def make(self, hbm=1 << 22, rom=1 << 25, fast=32, more=""):
        text = self.text
        for old, new in (("!shl(1, 22)", hbm), ("!shl(1, 25)", rom), ("32; let Latency = 60", f"{fast}; let Latency = 60")):
            assert text.count(old) == 1, old
            text = text.replace(old, str(new))
        self.count += 1
        path = os.path.join(self.work, f"chip{self.count}.td")
        open(path, "w").write(text + more)
        return path

    def run(self, chip):
        """Bytes by memory, and cycles; all results compared."""
        engine, _ = self.case.compile(chip, "--fallback=cpu")
        again = os.path.join(self.work, "again.pbe")
        tools.compile_model(self.bin, self.case.model, chip, again, "--fallback=cpu")
        assert filecmp.cmp(engine, again, shallow=False), "two compilations differ"
        assert fixed.wrong_bits(self.case.run(engine, "machine"), self.case.expected) == 0, chip
        said = json.loads(tools.call([os.path.join(self.bin, "pbc"), self.case.model, f"--target={chip}", "--fallback=cpu",
                                      "--explain=json"]).stdout)
        return said["constant_bytes"], said["predicted_cycles"]

    def refused(self, chip, *options):
        run = tools.call([os.path.join(self.bin, "pbc"), self.case.model, f"--target={chip}", *options, "-o",
                          os.path.join(self.work, "no.pbe")])
        assert run.returncode == 1 and "[PB4051]" in run.stderr, run.stderr
        return run.stderr


def check_places(chips):
    all_fast, fastest = chips.run(chips.make())
    assert (all_fast["HBM"], all_fast["ROM"]) == (WEIGHTS, PARAMETERS), all_fast
    exact, _ = chips.run(chips.make(hbm=WEIGHTS))
    assert exact == all_fast, exact
    # what no longer fits comes from the flash, the first in the program's order stay; plans know
    some, slower = chips.run(chips.make(hbm=WEIGHTS - 1024))
    assert 0 < some["ROM"] - PARAMETERS == WEIGHTS - some["HBM"] and some["HBM"] <= WEIGHTS - 1024, some
    assert slower > fastest, (slower, fastest)
    none, slowest = chips.run(chips.make(hbm=64))
    assert none["HBM"] == 0 and none["ROM"] == WEIGHTS + PARAMETERS and slowest > slower, (none, slowest)
    # commands that bring codes bring them from the system's memory too
    system, _ = chips.run(chips.make(hbm=4096, rom=16384))
    assert system["HBM"] <= 4096 and system["ROM"] <= 16384 and system["DRAM"] >= WEIGHTS + PARAMETERS - 4096 - 16384, system
    print(f"two memories: {fastest} cycles with all weights in the fast one, {slower} with some, {slowest} with none")


def check_order(chips):
    """By rate, and of equal rates as they stand in the file, whatever their names."""
    for name, rate, first in (("MORE", 16, "HBM"), ("MORE", 32, "HBM"), ("ALSO", 32, "HBM"), ("MORE", 33, "MORE"), ("ALSO", 33, "ALSO")):
        bytes_in, _ = chips.run(chips.make(more=EXTRA.replace("MORE", name) % (1 << 22, rate)))
        assert bytes_in[first] == WEIGHTS, (name, rate, bytes_in)
    slow, _ = chips.run(chips.make(fast=4))
    assert slow["ROM"] == WEIGHTS + PARAMETERS, slow
    chain, _ = chips.run(chips.make(hbm=10240, more=EXTRA % (10240, 16)))
    assert 0 < chain["HBM"] <= 10240 and 0 < chain["MORE"] <= 10240, chain
    assert chain["HBM"] + chain["MORE"] + chain["ROM"] == WEIGHTS + PARAMETERS, chain
    print(f"three memories of constants, by their rates: {chain}")


def tensor(name, *shape, kind=TensorProto.INT8):
    return helper.make_tensor_value_info(name, kind, shape)


IMAGE = (1, 32, 6, 6)
SHARED = [helper.make_tensor("s", TensorProto.FLOAT, [], [0.05]), helper.make_tensor("z", TensorProto.INT8, [], [0]),
          helper.make_tensor("ws", TensorProto.FLOAT, [], [0.01])]


def convolution(name, source, seed, channels=32):
    """Nodes and weights of one of so many channels of codes to as many; of 32 9216 bytes of weights."""
    codes = np.random.default_rng(seed).integers(-60, 60, channels * channels * 9).tolist()
    return [helper.make_node("DequantizeLinear", [source, "s", "z"], [name + "f"], name + "_in"),
            helper.make_node("DequantizeLinear", [name + "w", "ws", "z"], [name + "wf"], name + "_weights"),
            helper.make_node("Conv", [name + "f", name + "wf"], [name + "c"], name + "_conv", pads=[1, 1, 1, 1]),
            helper.make_node("QuantizeLinear", [name + "c", "s", "z"], [name + "y"], name + "_out")], \
        helper.make_tensor(name + "w", TensorProto.INT8, [channels, channels, 3, 3], codes)


def save(path, nodes, inputs, output, more=()):
    graph = helper.make_graph(nodes, "codes", inputs, [output], [*SHARED, *more])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def branches(path):
    """Codes through one of two convolutions, as the input says."""
    def branch(name, seed):
        nodes, weights = convolution(name, "x", seed)
        return helper.make_graph(nodes, name, [], [tensor(name + "y", *IMAGE)], [weights])

    node = helper.make_node("If", ["which"], ["y"], "either", then_branch=branch("a", 7), else_branch=branch("b", 9))
    save(path, [node], [tensor("which", kind=TensorProto.BOOL), tensor("x", *IMAGE)], tensor("y", *IMAGE))


def check_alike(chips):
    """Kernels that are alike but for where their weights lie have plans of their own: those that they have alone."""
    model, nodes, weights, steps = os.path.join(chips.work, "alike.onnx"), [], [], []
    for k, (name, source) in enumerate((("a", "x"), ("b", "ay"), ("c", "by"), ("d", "cy"))):
        more, of_it = convolution(name, source, k, 512)
        nodes, weights = nodes + more, weights + [of_it]
    save(model, nodes, [tensor("x", 1, 512, 2, 2)], tensor("dy", 1, 512, 2, 2), weights)
    for chip in (chips.make(hbm=2 * 512 * 512 * 9), os.path.join(HERE, "edge_npu_flash.td")):
        said = json.loads(tools.call([os.path.join(chips.bin, "pbc"), model, f"--target={chip}", "--explain=json"]).stdout)
        steps.append([s["predicted_cycles"] for s in said["steps"] if "MULTIPLY" in json.dumps(s)])
    assert len(steps[0]) == 4 and steps[0][2:] == steps[1][2:] and steps[0][1] < steps[1][1] / 2, steps
    print(f"four products alike, two with their weights in the fast memory: {steps[0]} cycles")


def check_segments(chips):
    """What is compiled each for itself shares the memories."""
    model, got = os.path.join(chips.work, "branches.onnx"), {}
    branches(model)
    source = {"which": os.path.join(chips.work, "which.npy"), "x": os.path.join(chips.work, "x.npy")}
    np.save(source["x"], np.random.default_rng(8).integers(-128, 127, (1, 32, 6, 6)).astype(np.int8))
    for hbm in (1 << 22, 10240):
        engine, output = os.path.join(chips.work, f"if{hbm}.pbe"), os.path.join(chips.work, "y.npy")
        tools.compile_model(chips.bin, model, chips.make(hbm=hbm), engine, "--fallback=cpu")
        said = tools.call([os.path.join(chips.bin, "pb-objdump"), engine]).stdout
        got[hbm] = [int(re.search(rf"(\d+) of them in memory {k} of constants", said).group(1)) for k in (0, 1)]
        for which in (True, False):
            np.save(source["which"], np.array(which))
            run = tools.call([os.path.join(chips.bin, "pb-run"), engine, "--device=machine", *(f"--input={n}={f}" for n, f in source.items()),
                              f"--output={output}"])
            assert run.returncode == 0, run.stderr
            got[hbm, which] = np.load(output)
    assert got[1 << 22][0] == 2 * 9216 and got[10240][0] == 9216 and sum(got[10240]) == sum(got[1 << 22]), got
    for which in (True, False):
        assert np.array_equal(got[10240, which], got[1 << 22, which]) and got[10240, which].std() > 10
    assert not np.array_equal(got[10240, True], got[10240, False])
    print(f"two branches: {got[10240][0]} bytes of weights in a fast memory of 10240, {got[10240][1]} in the other")


def check_forms(chips):
    """Weights in another form, as far as that has room beside the parameters, which lie nowhere else: the others come as they are."""
    for chip, kind, form in (("edge_npu_palette", "15 values", "CODED_WEIGHTS"), ("edge_npu_sparse", "two of four", "SPARSE_WEIGHTS")):
        model, path = os.path.join(chips.work, "formed.onnx"), os.path.join(chips.work, "formed.td")
        stored_forms.with_weights(kind, model)
        with open(os.path.join(HERE, chip + ".td")) as head, open(os.path.join(HERE, "edge_npu.td")) as text:
            whole = head.read().replace('include "edge_npu.td"', text.read())
        for rom in (1 << 25, 8192):
            open(path, "w").write(whole.replace("!shl(1, 25)", str(rom), 1))
            engine = os.path.join(chips.work, "formed.pbe")
            tools.compile_model(chips.bin, model, path, engine, "--fallback=cpu")
            said = tools.call([os.path.join(chips.bin, "pbc"), model, f"--target={path}", "--fallback=cpu", "--explain=json"]).stdout
            lie = json.loads(said)["constant_bytes"]
            assert form in said and lie["ROM"] <= rom and (lie["DRAM"] > 9000) == (rom == 8192), (chip, rom, lie)
            got = chips.case.run(engine, "machine")
            if rom == 8192:
                assert fixed.wrong_bits(got, whole_rom) == 0, chip
            whole_rom = got
        print(f"{chip}, {kind}: {lie} bytes where the flash memory has {rom}")


def check_refusals(chips):
    said = chips.refused(chips.make(rom=1024), "--fallback=cpu")
    assert re.search(r"error: \w[^ ]*: a constant of \d+ bytes has no room in HBM, which has 4194304 and from which no command brings it, "
                     r"nor elsewhere: constants take 1920 bytes of edge_npu's ROM, which has 1024 .PB4051", said), said
    said = chips.refused(chips.make(hbm=64, rom=1024), "--fallback=cpu")
    assert re.search(r"has no room in HBM, which has 64 and from which no command brings it, nor elsewhere: constants take 1920 bytes", said), said
    print("what has room nowhere is refused by name and sizes")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        chips = Chips(a.bin, work)
        check_places(chips)
        check_order(chips)
        check_alike(chips)
        check_segments(chips)
        check_forms(chips)
        check_refusals(chips)
    return 0


if __name__ == "__main__":
    sys.exit(main())
