"""cpu:native: the sizes of this machine's caches are in the report and in the engine, and only there where they were asked
for; the result stays the same. And of each variant the tests run just what pb-run does: tools.lacks names what it names.

    native_target.py --bin BUILD/bin
"""

import argparse
import glob
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy")
import numpy as np  # noqa: E402

MODEL = os.path.join(tools.MODELS, "digits.onnx")
VARIANTS = "cpu:v3", "cpu:avx512", "cpu:bf16", "cpu:amx"
STATED = {"L1": 32 << 10, "L2": 1 << 20, "L3": 4 << 20}  # cpu.td


def read(path):
    with open(path) as file:
        return file.read().strip()


def own_caches():
    """Bytes of data by level, a processor's share of what several have."""
    sizes = {}
    for folder in glob.glob("/sys/devices/system/cpu/cpu0/cache/index*"):
        if read(folder + "/type") == "Instruction":
            continue
        parts = [part.split("-") for part in read(folder + "/shared_cpu_list").split(",")]
        sharers = sum(int(part[-1]) - int(part[0]) + 1 for part in parts)
        kib = int(read(folder + "/size").rstrip("K"))
        sizes["L" + read(folder + "/level")] = kib * 1024 // sharers // 64 * 64
    return sizes


def compiled(args, folder, target):
    """The report, the engine's bytes and its result."""
    engine, report, output = (os.path.join(folder, name) for name in ("e.pbe", "r.json", "y.npy"))
    tools.compile_model(args.bin, MODEL, target, engine, f"--report={report}")
    tools.run_engine(args.bin, engine, "native", os.path.join(tools.MODELS, "digits_images.npy"), output)
    with open(report) as file, open(engine, "rb") as bytes_of:
        return json.load(file), bytes_of.read(), np.load(output)


def left_out(args, folder):
    """Code that tests would leave out and that runs here, or the other way round."""
    engine, faults = os.path.join(folder, "e.pbe"), []
    for target in VARIANTS:
        tools.compile_model(args.bin, MODEL, target, engine)
        told = tools.call([os.path.join(args.bin, "pb-run"), engine, "--device=native",
                           "--input", os.path.join(tools.MODELS, "digits_images.npy")])
        missing = re.search(r"this processor lacks '(.*?)'.*\[PB5021\]", told.stderr)
        named = missing.group(1) if missing else None if told.returncode == 0 else told.stderr
        if named != tools.lacks(args.bin, target):
            faults.append(f"{target}: pb-run misses {named}, the tests {tools.lacks(args.bin, target)}")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    own = own_caches()
    with tempfile.TemporaryDirectory() as folder:
        faults = left_out(args, folder)
    if set(own) != set(STATED) and not faults:
        print(f"skipped: this machine lists the caches {sorted(own)}")
        return tools.SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        plain, plain_engine, expected = compiled(args, folder, "cpu")
        native, engine, actual = compiled(args, folder, "cpu:native")
        if plain["caches"] != STATED:
            faults.append(f"cpu alone took the caches for {plain['caches']}")
        if native["caches"] != own:
            faults.append(f"cpu:native took the caches for {native['caches']}; the machine says {own}")
        if native["target"] != plain["target"]:
            faults.append(f"cpu:native is {native['target']}, cpu is {plain['target']}")
        mark = b"caches of the machine that compiled: "
        if mark in plain_engine or mark not in engine:
            faults.append("an engine that does not say where its caches' sizes are from")
        if not np.array_equal(expected.view(np.int32), actual.view(np.int32)):
            faults.append("another result")
    refused = tools.call([os.path.join(args.bin, "pbc"), MODEL, "--target=simnpu:native", "-o", os.devnull])
    if refused.returncode != 1 or "PB1015" not in refused.stderr:
        faults.append(f"simnpu:native: {refused.stderr}")
    print("\n".join(faults) or f"caches {native['caches']}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
