"""`pbc --explain` of ResNet-50 on simnpu: within its time, true against the machine, and a page that needs nothing else.

    explain.py --bin BUILD/bin
"""

import argparse
import html.parser
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime")

ENDLESS = 60  # seconds; how fast it is, is printed
WITHIN = 0.15


class Page(html.parser.HTMLParser):
    """Counts elements; fails on one that is not closed in its place, or that names something outside of the page."""

    OPEN_ENDED = {"tr", "td", "th", "li", "meta", "path", "rect"}

    def __init__(self, text):
        super().__init__()
        self.open, self.count, self.text = [], {}, ""
        self.feed(text)
        assert self.open == [], self.open

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        assert not any(name in ("src", "href") for name, _ in attributes), attributes
        if tag not in self.OPEN_ENDED:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.OPEN_ENDED:
            assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data


def explain(binaries, form, *arguments):
    run = subprocess.run([os.path.join(binaries, "pbc"), *arguments, f"--explain={form}"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def seconds_of(function):
    """Of the processor, which other work on the machine does not lengthen."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = function()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def check_machine(steps, measured):
    assert [s["kernel"] for s in steps] == [m["kernel"] for m in measured]
    off = {}
    for s, m in zip(steps, measured):
        assert s["predicted_cycles"] == m["predicted_cycles"], s["nodes"]
        if abs(s["predicted_cycles"] - m["cycles"]) > WITHIN * m["cycles"]:
            off[s["nodes"]] = s["predicted_cycles"] / m["cycles"]
        # The array is as busy as the machine found it; movers also wait for memory there, but for rows beside an image, which
        # come from none and are counted like others (0.1% of what stem_pool loads).
        assert s["busy"].get("MX", 0) == m["busy"]["MX"], (s["nodes"], s["busy"], m["busy"])
        beside = {queue: cycles - m["busy"][queue] for queue, cycles in s["busy"].items() if cycles > m["busy"][queue]}
        assert all(more <= 0.002 * m["busy"][queue] for queue, more in beside.items()), (s["nodes"], beside)
    print("off by more than 15%:", ", ".join(f"{name} {ratio:.2f}" for name, ratio in off.items()) or "none")
    assert not off, off


def check_graph(steps):
    """Every residual sum reads the block's other branch, several steps before it; what computes reads something."""
    by_node, by_kernel = {s["nodes"]: s for s in steps}, {s["kernel"]: s for s in steps}
    for s in steps:
        moves = all(i["mover"] for i in s["instructions"])  # zeros around an image are read from constants alone
        same = by_kernel[s["kernel"]]  # steps of one kernel are told the same of it
        assert s["commands"] == same["commands"] > 0 and s["memory_bytes"] == same["memory_bytes"], s
        assert (s["from"] or moves) and all(f < s["step"] for f in s["from"]), s
        if s["nodes"].endswith("conv3_f"):
            assert any(i["name"] == "VADDQ" for i in s["instructions"]) and len(s["from"]) == 2, s
    assert by_node["s1b1_skip_f"]["step"] in by_node["s1b1_conv3_f"]["from"]
    assert by_node["s1b1_conv3_f"]["step"] in by_node["s1b2_conv3_f"]["from"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    model = tools.network(args.bin, "resnet50", "int8", 224, 1000)
    took, page = seconds_of(lambda: explain(args.bin, "html", model, "--target=simnpu"))
    print(f"--explain=html of ResNet-50: {took:.2f} s")
    assert took <= ENDLESS, took
    told = json.loads(explain(args.bin, "json", model, "--target=simnpu"))
    steps = told["steps"]
    assert told["steps_missing"] == 0 and len(steps) > 50
    with tempfile.TemporaryDirectory() as folder:
        engine, stats = os.path.join(folder, "m.pbe"), os.path.join(folder, "stats.json")
        tools.compile_model(args.bin, model, "simnpu", engine)
        subprocess.run([os.path.join(args.bin, "pb-run"), engine, "--device=machine", "--input", "image=random:7",
                        f"--stats={stats}"], check=True,
                       stdout=subprocess.DEVNULL)
        with open(stats) as file:
            check_machine(steps, json.load(file)["steps"])
    check_graph(steps)
    drawn = Page(page)
    assert drawn.count["rect"] == len(steps) + 1 and drawn.count["tr"] == len(steps) + 1, drawn.count
    assert drawn.count["path"] == sum(len(s["from"]) for s in steps), drawn.count
    total = re.search(r", (\d+) cycles predicted", drawn.text)
    assert total and int(total.group(1)) == sum(s["predicted_cycles"] for s in steps), total
    # a box, its edge and no lane: each step of digits takes what the one in front of it made
    digits = os.path.join(tools.MODELS, "digits.onnx")
    said = re.search(r"(\d+) cycles predicted, (\d+) multiply-accumulates, ([\d.]+)% of the peak of (\d+) a cycle", explain(args.bin, "text", digits, "--target=simnpu"))
    cycles, products, share, peak = map(float, said.groups())
    assert abs(share - 100 * products / cycles / peak) < 0.051, said[0]
    chain = explain(args.bin, "html", digits, "--target=simnpu")
    assert re.search(r"<svg width='(\d+)'", chain)[1] == "211", chain[:2000]
    assert "Cycles by what binds the step" in drawn.text and "s4b3_conv3_f" in drawn.text
    return 0


if __name__ == "__main__":
    sys.exit(main())
