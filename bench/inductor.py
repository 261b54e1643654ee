"""The networks of tests/models/transformers.py by shape, in PyTorch, frozen and compiled by Inductor: a peer for the table of
transformers in cpu.md. Weights are random; times do not depend on them.

    python bench/inductor.py [--nets bert,gpt2] [--threads 1,2]      (needs torch, transformers and a C++ compiler)

A figure is the median of seven calls in a process of its own, in ms. Prints Markdown.
"""

import argparse
import statistics
import subprocess
import sys
import time

NETS = "distilbert", "bert", "vit", "gpt2", "llama"


def network(name):
    import torch
    import transformers as hf

    ids = torch.randint(0, 1000, (1, 128))
    if name == "bert":
        return hf.BertModel(hf.BertConfig()), {"input_ids": ids}
    if name == "distilbert":
        return hf.DistilBertModel(hf.DistilBertConfig()), {"input_ids": ids}
    if name == "vit":
        return hf.ViTForImageClassification(hf.ViTConfig(num_labels=1000)), {"pixel_values": torch.randn(1, 3, 224, 224)}
    if name == "gpt2":
        return hf.GPT2LMHeadModel(hf.GPT2Config(use_cache=False)), {"input_ids": ids}
    config = hf.LlamaConfig(vocab_size=32, hidden_size=2048, intermediate_size=8192, num_hidden_layers=1,
                            num_attention_heads=32, num_key_value_heads=8, use_cache=False)
    return hf.LlamaModel(config), {"inputs_embeds": torch.randn(1, 128, 2048)}


def milliseconds(name, threads):
    import torch
    import torch._inductor.config

    torch.set_num_threads(threads)
    torch._inductor.config.freezing = True
    model, inputs = network(name)
    run = torch.compile(model.eval())
    with torch.no_grad():
        for _ in range(3):
            run(**inputs)
        times = []
        for _ in range(7):
            start = time.perf_counter()
            run(**inputs)
            times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--one", action="store_true", help="print the figure of one network alone")
    args = parser.parse_args()
    if args.one:
        print(milliseconds(args.nets, int(args.threads)))
        return
    print("| model | threads | Inductor, ms |\n|---|--:|--:|")
    for name in args.nets.split(","):
        for threads in args.threads.split(","):
            done = subprocess.run([sys.executable, __file__, "--one", "--nets", name, "--threads", threads],
                                  capture_output=True, text=True)
            if done.returncode:
                print(f"{name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            else:
                print(f"| {name} | {threads} | {float(done.stdout.splitlines()[-1]):.2f} |", flush=True)


if __name__ == "__main__":
    main()
