"""Draws timeline.svg: a network on a chip's machine, a row for each queue, a colour for each layer.

    timeline.py --bin BUILD/bin [--model digits.onnx] [--target simnpu] [--out timeline.svg]
"""

import argparse
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COLOURS = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#edc948", "#9c755f"]
LEFT, WIDTH, ROW, TOP = 44, 820, 26, 30


def run(args, work):
    engine, trace, stats = (os.path.join(work, n) for n in ("m.pbe", "trace.json", "stats.json"))
    tool = lambda name: os.path.join(args.bin, name)  # noqa: E731
    subprocess.run([tool("pbc"), args.model, f"--target={args.target}", "-o", engine], check=True)
    subprocess.run([tool("pb-run"), engine, "--input=random:1", f"--trace={trace}", f"--stats={stats}"], check=True,
                   stdout=subprocess.DEVNULL)
    return json.load(open(trace))["traceEvents"], json.load(open(stats))


def bars(events):
    """(queue, step) -> intervals in which commands of it run, joined."""
    found = {}
    for e in sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["args"]["start"]):
        runs = found.setdefault((e["tid"], e["args"]["step"]), [])
        start, end = e["args"]["start"], e["args"]["end"]
        if runs and start <= runs[-1][1] + 2:
            runs[-1][1] = max(runs[-1][1], end)
        else:
            runs.append([start, end])
    return found


def draw(args, events, stats):
    queues = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    found = bars(events)
    total = max(end for runs in found.values() for _, end in runs)
    scale = WIDTH / total
    height = TOP + ROW * len(queues) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 16} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="100%" height="100%" fill="#fff"/>']
    for row, (tid, name) in enumerate(sorted(queues.items())):
        y = TOP + ROW * row
        out.append(f'<text x="4" y="{y + 15}">{name}</text><line x1="{LEFT}" y1="{y + 20.5}" x2="{LEFT + WIDTH}" y2="{y + 20.5}" stroke="#ddd"/>')
        for (queue, step), runs in sorted(found.items()):
            if queue != tid:
                continue
            for start, end in runs:
                out.append(f'<rect x="{LEFT + start * scale:.1f}" y="{y + 4}" width="{max((end - start) * scale, 0.6):.1f}" height="16" '
                           f'fill="{COLOURS[step % len(COLOURS)]}"/>')
    for step, s in enumerate(stats["steps"]):
        starts = [r[0] for (_, k), runs in found.items() if k == step for r in runs]
        ends = [r[1] for (_, k), runs in found.items() if k == step for r in runs]
        if starts and (max(ends) - min(starts)) * scale > 60:
            out.append(f'<text x="{LEFT + min(starts) * scale:.1f}" y="18" fill="{COLOURS[step % len(COLOURS)]}">{s["origin"]}</text>')
    base = TOP + ROW * len(queues) + 14
    for cycle in range(500, total + 1, 500):
        x = LEFT + cycle * scale
        out.append(f'<text x="{x:.1f}" y="{base + 10}" fill="#666" text-anchor="middle">{cycle:,}</text>')
    out.append(f'<text x="4" y="{base + 10}" fill="#666">cycles</text></svg>')
    return "\n".join(out) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--bin", required=True)
    p.add_argument("--model", default=os.path.join(HERE, "..", "tests", "models", "digits.onnx"))
    p.add_argument("--target", default="simnpu")
    p.add_argument("--out", default=os.path.join(HERE, "timeline.svg"))
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        events, stats = run(args, work)
    with open(args.out, "w") as f:
        f.write(draw(args, events, stats))


if __name__ == "__main__":
    main()
