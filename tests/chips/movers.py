"""A mover beside each core, which fills the core's memory and takes results out of it while the core computes. ResNet-18 on dmadsp.td
has the bits of dsp.td, whose code copies, with one thread and with several; with two copies of each buffer it takes a fifth less than
with one, as predicted; plans with three copies, plans of it for a chip without a mover and movers that cannot be are refused.

    movers.py --bin BUILD/bin
"""

import argparse
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

CODE, MOVER = (os.path.join(HERE, name) for name in ("dsp.td", "dmadsp.td"))
NEAR = 0.05  # that all of the network may be off from what is predicted
EACH = 0.10  # and with two copies each kernel of some cycles: short ones begin and end at most


def run(a, work, model, target, threads, *options):
    """The logits, and by step the cycles and those predicted."""
    engine, output, stats = (os.path.join(work, f) for f in ("m.pbe", "out.npy", "stats.json"))
    tools.compile_model(a.bin, model, target, engine, *options)
    tools.run([os.path.join(a.bin, "pb-run"), engine, f"--threads={threads}", "--input", "image=random:7", "--output", output,
               f"--stats={stats}"])
    steps = json.load(open(stats))["steps"]
    return np.load(output).view(np.int32), [(s["cycles"], s["predicted_cycles"], s["origin"]) for s in steps]


def plan_of(a, model, target, *options):
    return tools.call([os.path.join(a.bin, "pbc"), model, f"--target={target}", "--emit=plan", *options])


def given(a, work, model, target, plan):
    path = os.path.join(work, "plan.txt")
    open(path, "w").write(plan)
    return plan_of(a, model, target, f"--plan={path}"), f"--plan={path}"


def check_plans(a, work, model):
    """As printed a plan is taken again; copies that nobody takes turns with are not. Returns the option for plans of one copy."""
    plan = plan_of(a, model, MOVER).stdout
    assert "home moved, 2 copies // DRAM -> TCM by DMA, TCM -> DRAM by DMA" in plan, plan
    again, _ = given(a, work, model, MOVER, plan)
    assert again.returncode == 0 and again.stdout == plan, again.stderr
    three, _ = given(a, work, model, MOVER, plan.replace("moved, 2 copies", "moved, 3 copies"))
    assert three.returncode == 1 and "take turns with two copies" in three.stderr and "PB2405" in three.stderr, three.stderr
    none, _ = given(a, work, model, CODE, plan)
    assert none.returncode == 1 and "PB2405" in none.stderr, none.stderr
    one, option = given(a, work, model, MOVER, plan.replace("moved, 2 copies", "moved, 1 copy"))
    assert one.returncode == 0, one.stderr
    print("a plan is taken as printed; of three copies, or without a mover, it is refused")
    return option


def check_descriptions(a, work):
    """Movers that cannot be: each is told by the line of its record."""
    text = open(CODE).read()
    mover = next(line for line in text.split("\n") if line.startswith("def DMA"))
    for old, new, code in (("Near = TCM", "Near = DRAM", "PB3402"), ("Near = TCM", "Near = VREG", "PB3402"),
                           ("StartCycles = 12", "StartCycles = 12; let In = 0; let Out = 0", "PB3403"), ("Loops = 2", "Loops = 4", "PB3404"),
                           ("Depth = 16", "Depth = 0", "PB3405"), ("StartCycles = 12", "StartCycles = -1", "PB3406")):
        assert old in mover, mover
        path = os.path.join(work, "other.td")
        open(path, "w").write("#define MOVER\n" + text.replace(mover, mover.replace(old, new)))
        told = tools.call([os.path.join(a.bin, "pb-tdl"), "check", path])
        line = open(path).read().split("\n").index(mover.replace(old, new)) + 1
        assert told.returncode and code in told.stderr and f"other.td:{line}:" in told.stderr, told.stderr
    print("movers that cannot be are refused")


def check_kinds(a, work, model, right):
    """A mover that brings alone, and code copies results; one for each way; one of single runs, each of which code waits for."""
    text = open(CODE).read()
    mover = next(line for line in text.split("\n") if line.startswith("def DMA"))
    one = "def {} : CoreMover {{ let Near = TCM; let Depth = {}; let StartCycles = 12; {} }}"
    for name, records in (("in", [one.format("DMA", 8, "let Out = 0;")]),
                          ("both", [one.format("BRING", 8, "let Out = 0;"), one.format("TAKE", 8, "let In = 0;")]),
                          ("runs", [one.format("DMA", 1, "let Loops = 0;")])):
        path = os.path.join(work, f"{name}.td")
        open(path, "w").write("#define MOVER\n" + text.replace(mover, "\n".join(records)))
        bits, steps = run(a, work, model, path, 1)
        assert np.array_equal(bits, right), f"{name}: other bits"
        cycles, predicted = (sum(s[k] for s in steps) for k in (0, 1))
        print(f"{name}: {cycles:,} cycles, predicted {predicted:,}")
        assert abs(predicted / cycles - 1) <= EACH, name


def check_tiles(a, work):
    """Products of which no operand has room as a whole are tiled along rows and columns, by rows of lanes: a seventh more
    than multiplying takes at most."""
    for rows, sums, columns in (512, 512, 512), (197, 768, 768):
        x, w, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [rows, sums]), ("w", [sums, columns]), ("y", [rows, columns])))
        path = os.path.join(work, "product.onnx")
        onnx.save(helper.make_model(helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "product", [x, w], [y])), path)
        given = {n: np.random.default_rng(k).standard_normal(s).astype(np.float32) for k, (n, s) in enumerate((("x", (rows, sums)), ("w", (sums, columns))))}
        np.savez(os.path.join(work, "given.npz"), **given)
        engine, output, stats = (os.path.join(work, f) for f in ("p.pbe", "p.npy", "p.json"))
        tools.compile_model(a.bin, path, MOVER, engine)
        tools.run([os.path.join(a.bin, "pb-run"), engine, "--threads=1", "--input", os.path.join(work, "given.npz"), "--output", output, f"--stats={stats}"])
        assert np.allclose(np.load(output), given["x"].astype(np.float64) @ given["w"], rtol=1e-4, atol=1e-4)
        step = max(json.load(open(stats))["steps"], key=lambda s: s["cycles"])
        cycles, least = step["cycles"], rows * sums * columns // 8
        print(f"{rows}x{sums} by {columns}: {cycles:,} cycles, predicted {step['predicted_cycles']:,}, multiplying {least:,}")
        assert cycles < 1.15 * least and abs(step["predicted_cycles"] / cycles - 1) < EACH


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    a = p.parse_args()
    tools.skip_without(a.bin, CODE)
    with tempfile.TemporaryDirectory() as work:
        check_descriptions(a, work)
        check_tiles(a, work)
        model = tools.network(a.bin, "resnet18", "f32", 64, 1000)
        option = check_plans(a, work, model)
        right, _ = run(a, work, model, CODE, 2)
        cycles = {}
        for name, threads, options in (("two copies", 1, ()), ("one copy", 1, (option,)), ("two copies, two threads", 2, ())):
            bits, steps = run(a, work, model, MOVER, threads, *options)
            assert np.array_equal(bits, right), f"{name}: other bits"
            cycles[name], predicted = (sum(s[k] for s in steps) for k in (0, 1))
            print(f"{name}: {cycles[name]:,} cycles, predicted {predicted:,}")
            if threads > 1:
                continue
            assert abs(predicted / cycles[name] - 1) <= NEAR, predicted
            off = [s for s in steps if not options and s[0] > 10000 and abs(s[1] / s[0] - 1) > EACH]
            assert not off, off
        check_kinds(a, work, model, right)
        _, steps = run(a, work, tools.network(a.bin, "resnet18", "int8", 64, 1000), MOVER, 1)
        of_codes, predicted = (sum(s[k] for s in steps) for k in (0, 1))
        print(f"codes, by plain operations: {of_codes:,} cycles, predicted {predicted:,}")
        assert abs(predicted / of_codes - 1) <= NEAR, predicted
        assert cycles["two copies"] < 0.8 * cycles["one copy"], cycles
        assert cycles["two copies, two threads"] < 0.6 * cycles["two copies"], cycles


if __name__ == "__main__":
    main()
