"""What a loop's remainder takes is predicted as its turns are: it waits for the buffers at whose places its own lie.

One product is planned by hand with steps that divide its rows and steps that do not; each prediction is compared with the
machine's cycles.

    remainder_costs.py --bin BUILD/bin
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "bench"))
import remainders  # noqa: E402

ROWS, MOST = 128, 0.05
STEPS = (32, 43, 50, 64, 65, 100)  # of ROWS


def edited(plan, step):
    """All operands beside a tile of so many rows, one copy of each."""
    by_hand = f"loop d0 step {step}\nhome x, 1 copy\nhome w, 1 copy\nhome result, 2 copies\n"
    return re.sub(r"^(k\d+ {\n)([^}]*instruction[^}]*)}", rf"\1{by_hand}}}", plan, flags=re.MULTILINE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    pbc, run, failed = os.path.join(args.bin, "pbc"), os.path.join(args.bin, "pb-run"), 0
    with tempfile.TemporaryDirectory() as folder:
        path = {name: os.path.join(folder, name) for name in ("m.onnx", "plan", "m.pbe", "s.json")}
        remainders.model(path["m.onnx"], ROWS, 16, 16, np.random.RandomState(1))
        plan = subprocess.run([pbc, path["m.onnx"], "--target=simnpu", "--emit=plan"], check=True, capture_output=True,
                              text=True).stdout
        for step in STEPS:
            with open(path["plan"], "w") as f:
                f.write(edited(plan, step))
            subprocess.run([pbc, path["m.onnx"], "--target=simnpu", f"--plan={path['plan']}", "-o", path["m.pbe"]],
                           check=True)
            subprocess.run([run, path["m.pbe"], "--device=machine", "--input", "random:1", f"--stats={path['s.json']}"],
                           check=True, capture_output=True)
            with open(path["s.json"]) as f:
                product = max(json.load(f)["steps"], key=lambda s: s["macs"])
            off = product["predicted_cycles"] / product["cycles"] - 1
            failed += abs(off) > MOST
            print(f"{'FAILED' if abs(off) > MOST else 'ok'} {ROWS} rows by {step}: {product['cycles']} cycles, "
                  f"{product['predicted_cycles']} predicted ({off:+.1%})")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
