"""Commands that write configuration state are as few as can be: each one is needed by a command that comes before the
next of its kind. Reads `pb-objdump` of an engine for tinynpu_state.td.

    state.py --bin BUILD/bin --model digits.onnx --target tinynpu_state.td --work FOLDER
"""

import argparse
import os
import re
import subprocess
import sys

WRITERS = {"WALK": ("si", "sj"), "LOCAL": ("li", "lj")}
SIDES = {"GETB": ("WALK", "LOCAL"), "GETW": ("WALK", "LOCAL"), "PUTB": ("LOCAL", "WALK"), "PUTW": ("LOCAL", "WALK")}


def strides(text, side):
    """(extent, stride) of the two outer dims of `src=...[2:64(0..1),3:16,8]`; of an empty box, which nobody walks, none."""
    window = re.search(side + r"=[^\[]*\[([^\]]*)\]", text).group(1)
    if "(0..0)" in window:
        return []
    return [tuple(int(n) for n in re.match(r"(\d+):(-?\d+)", part).groups()) for part in window.split(",")[:2]]


def check_queue(lines):
    """Writes and moves of one queue of one kernel; fails on a move that reads another stride than was set."""
    state, former, needed, writes = {}, {}, {}, 0
    for name, text in lines:
        if name in WRITERS:
            assert needed.get(name, True), f"nothing needs the {name} before '{text}'"
            former[name], needed[name] = state.get(name), False
            state[name] = [int(n) for n in re.findall(r"=(-?\d+)", text)[:2]]
            writes += 1
        elif name in SIDES:
            for side, writer in zip(("src", "dst"), SIDES[name]):
                for k, (extent, stride) in enumerate(strides(text, side)):
                    if extent == 1:
                        continue
                    assert state[writer][k] == stride, text
                    needed[writer] |= former[writer] is None or former[writer][k] != stride
    assert all(needed.values()), "the last write is needed by nothing"
    return writes


def main():
    parser = argparse.ArgumentParser()
    for name in ("bin", "model", "target", "work"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    engine = os.path.join(args.work, "state.pbe")
    subprocess.run([os.path.join(args.bin, "pbc"), args.model, f"--target={args.target}", "-o", engine], check=True)
    dump = subprocess.run([os.path.join(args.bin, "pb-objdump"), engine], check=True, capture_output=True, text=True)
    queues = []
    for line in dump.stdout.splitlines():
        if line.startswith("  queue "):
            queues.append([])
        command = re.match(r" +\d+: (\w+)(.*)", line)
        if command and queues:
            queues[-1].append((command.group(1), command.group(2)))
    writes = sum(check_queue(lines) for lines in queues)
    moves = sum(name in SIDES for lines in queues for name, _ in lines)
    print(f"{writes} writes of state for {moves} moves")
    return int(writes == 0 or moves == 0)


if __name__ == "__main__":
    sys.exit(main())
