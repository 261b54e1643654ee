"""A roofline (Williams, Waterman and Patterson, 2009) of what pb-run --stats=FILE.json measured: a point for each layer
with multiply-accumulates, x = MACs a DRAM byte (data and commands), y = MACs a cycle.
Usage: roofline.py STATS.json OUT  writes OUT.png and OUT.svg"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

COLOURS = {"MX": "tab:blue", "DRAM": "tab:red", "VX": "tab:green"}


def points(stats):
    for s in stats["steps"]:
        moved = s["dram_read"] + s["dram_write"] + s["dram_fetch"]
        if s["macs"] and s["cycles"] and moved:
            yield s["origin"].replace("_f", ""), s["macs"] / moved, s["macs"] / s["cycles"], s["bound"]


def draw(stats, title, out):
    peak, rate = stats["peak_macs_per_cycle"], stats["dram_bytes_per_cycle"]
    found = sorted(points(stats), key=lambda p: p[1])
    figure, (axes, bars) = plt.subplots(1, 2, figsize=(13, 6), width_ratios=(3, 2), layout="constrained")
    low = min([p[1] for p in found] + [peak / rate]) / 2
    high = max([p[1] for p in found] + [peak / rate]) * 2
    x = np.geomspace(low, high, 200)
    axes.loglog(x, np.minimum(peak, rate * x), color="black", linewidth=1.5)
    axes.annotate(f"{peak} MACs a cycle", (high, peak), (-4, 6), textcoords="offset points", ha="right")
    middle = np.sqrt(low * peak / rate)
    axes.annotate(f"DRAM: {rate} bytes a cycle", (middle, rate * middle), (-10, 4), textcoords="offset points", ha="right")
    bottom = min([p[2] for p in found] + [rate * low])
    axes.set_ylim(bottom / 1.5, peak * 1.7)
    seen = set()
    for _, intensity, speed, bound in found:
        label = None if bound in seen else f"bound by {bound}, says the compiler"
        seen.add(bound)
        axes.plot(intensity, speed, "o", markersize=7, color=COLOURS.get(bound, "tab:grey"), alpha=0.75, label=label)
    axes.set(xlabel="MACs per DRAM byte (data and commands)", ylabel="MACs per cycle", title=title)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.grid(True, which="both", alpha=0.2)
    axes.legend(loc="lower right")
    # Many layers share one place at the roof; the bars beside name them. Names of neighbours go down in steps.
    placed = []
    for name, intensity, speed, _ in found:
        if speed >= 0.95 * peak:
            continue
        near = [p for p in placed if abs(np.log(p[0] / intensity)) < 1 and abs(np.log(p[1] / speed)) < 1]
        placed.append((intensity, speed))
        axes.annotate(name, (intensity, speed), (10, -14 - 17 * len(near)), textcoords="offset points", fontsize=9,
                      va="center", arrowprops={"arrowstyle": "-", "color": "grey", "linewidth": 0.5, "shrinkB": 3,
                                               "relpos": (0, 0.5)})
    names = [p[0] for p in points(stats)][::-1]
    shares = [100 * p[2] / peak for p in points(stats)][::-1]
    colours = [COLOURS.get(p[3], "tab:grey") for p in points(stats)][::-1]
    bars.barh(names, shares, color=colours, alpha=0.75)
    for k, share in enumerate(shares):
        bars.text(share + 1, k, f"{share:.1f}", va="center", fontsize=8)
    bars.set(xlabel="% of peak MACs", xlim=(0, 112), title="layers in order of execution")
    bars.tick_params(axis="y", labelsize=8)
    for kind in ("png", "svg"):
        figure.savefig(f"{out}.{kind}", dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        draw(json.load(file), "roofline", sys.argv[2])
