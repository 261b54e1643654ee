"""BERT-base in f32, batch 1, one engine of several lengths (profiles) against an engine made for each length alone.

    .venv/bin/python bench/profiles.py --bin build/bin [--lengths 64,128] [--target cpu:v3] [--threads 1,2] [--rounds 7] [--most 1.05]

Both run in turn; a figure is the least of the rounds' medians by pb-run, in ms. --most: the profile may take no more of the other
engine's time. Prints Markdown; outputs must be equal bit for bit."""

import argparse
import os
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", part) for part in ("models", "e2e")]
import numpy as np
import peers
import tools
import transformers


def bert(path, length, layers):
    """Writes the model, its dims open, and its inputs beside it. Returns their files by name."""
    g = transformers.Net("profiles")
    transformers.bert(g, length, layers, 768, 12, 30522)
    model = g.model()
    files = {}
    for value in model.graph.input:
        for dim, name in zip(value.type.tensor_type.shape.dim, ("batch", "sequence")):
            dim.dim_param = name
        files[value.name] = f"{path}-{value.name}-{length}.npy"
        np.save(files[value.name], g.feeds[value.name])
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--lengths", default="64,128")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--target", default="cpu:v3")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--most", type=float, default=1.05)
    args = parser.parse_args()
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        model, all_lengths = os.path.join(folder, "bert.onnx"), [int(n) for n in args.lengths.split(",")]
        inputs = {n: bert(model, n, args.layers) for n in all_lengths}
        engines = {"profiles": args.lengths, **{n: n for n in all_lengths}}
        for name, lengths in engines.items():
            tools.run([f"{args.bin}/pbc", model, f"--target={args.target}", "--dim", "batch=1", "--dim", f"sequence={lengths}",
                       "-o", f"{folder}/{name}.pbe"], timeout=600)
        print(f"{peers.machine()}\n\n| length | threads | alone, ms | as a profile, ms | ratio |\n|--:|--:|--:|--:|--:|")
        for length in all_lengths:
            for threads in map(int, args.threads.split(",")):
                times, results = {length: [], "profiles": []}, {}
                for _ in range(args.rounds):
                    for name, all_of in times.items():
                        y = f"{folder}/y-{name}.npy"
                        command = [f"{args.bin}/pb-run", f"{folder}/{name}.pbe", *[f"--input={k}={v}" for k, v in inputs[length].items()],
                                   f"--output=last_hidden_state={y}", f"--threads={threads}", "--warmup=1", "--repeat=5"]
                        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                        all_of.append(1e3 * peers.told(text, "median"))
                        results[name] = np.load(y)
                if not np.array_equal(results[length], results["profiles"]):
                    sys.exit(f"length {length}: the engines' results differ")
                alone, profile = min(times[length]), min(times["profiles"])
                worst = max(worst, profile / alone)
                print(f"| {length} | {threads} | {alone:.2f} | {profile:.2f} | {profile / alone:.3f} |", flush=True)
    return int(worst > args.most)


if __name__ == "__main__":
    sys.exit(main())
