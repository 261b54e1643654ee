"""Commands fetched further ahead never make a chip slower: the digits on ascend.td, whose queues run loops, with other
Depths. And a plan's copies of images count: with two of them alone the same kernels take longer. So do commands that come
by the port that data comes by, and boxes that are told by the pixel, not by the byte, as runs end with each pixel then.

    depth.py --bin BUILD/bin
"""

import argparse
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")

ASCEND = os.path.join(HERE, "ascend.td")


def cycles(a, model, target, work, *options):
    engine, stats = os.path.join(work, "m.pbe"), os.path.join(work, "s.json")
    tools.compile_model(a.bin, model, target, engine, *options)
    tools.run([os.path.join(a.bin, "pb-run"), engine, "--device=machine", "--input", "image=random:7", f"--stats={stats}"])
    return json.load(open(stats))["total"]["cycles"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    a = p.parse_args()
    text, taken = open(ASCEND).read(), []
    with tempfile.TemporaryDirectory() as work:
        model = tools.network(a.bin, "resnet18", "int8", 64, 10)
        for depth in (16, 32, 63, 64, 65, 200):
            path = os.path.join(work, "depth.td")
            open(path, "w").write(re.sub(r"let Depth = \d+;", f"let Depth = {depth};", text))
            taken.append(cycles(a, model, path, work))
        print("cycles by Depth 16, 32, 63, 64, 65, 200:", taken)
        assert all(b <= 1.01 * a for a, b in zip(taken, taken[1:])), taken
        plans = tools.run([os.path.join(a.bin, "pbc"), model, f"--target={ASCEND}", "--emit=plan"])
        images = r"(home x, \d cop[^\n]*\n(?:(?!home x)[^}])*?home x, )"  # a second home of the same operand
        assert len(re.findall(images + "[34] ", plans)) >= 3, plans
        path = os.path.join(work, "plan.txt")
        open(path, "w").write(re.sub(images + r"\d", r"\g<1>2", plans))
        two, more = (cycles(a, model, ASCEND, work, *options) for options in ([f"--plan={path}"], []))
        print(f"two copies of images: {two:,} cycles; as many as the plans say: {more:,}")
        assert more < 0.99 * two
        for name, line, instead in (("commands by the port of data", "let CommandPort = 1;", "let CommandPort = 0;"),
                                    ("boxes by pixels", '"jhi", "bhi"]', '"jhi", ""]')):
            changed = text.replace(line, instead).replace('"jlo", "blo"]', '"jlo", ""]' if "bhi" in line else '"jlo", "blo"]')
            assert changed != text
            open(os.path.join(work, "changed.td"), "w").write(changed)
            slower = cycles(a, model, os.path.join(work, "changed.td"), work)
            print(f"{name}: {slower:,} cycles")
            assert more < 0.98 * slower


if __name__ == "__main__":
    main()
