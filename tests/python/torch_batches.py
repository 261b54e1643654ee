"""Models by torch.compile at many batch sizes: results as eager's, and how often each was compiled.

    run.py torch_batches.py torch torchvision -- [--batches 1,2,3,8,17,64] [NAME...]"""

import argparse
import sys
import time
import warnings

import torch
from torch.utils import _pytree as pytree
from torch_models import MODELS, seeded

from polyblocks import compiler, dynamo


def of_batch(arguments, batch):
    """The arguments with so many samples: theirs, again and again, each a bit other."""
    return tuple(a[torch.arange(batch) % len(a)] + (torch.rand(batch, *[1] * (a.dim() - 1)) if a.dtype.is_floating_point else 0) for a in arguments)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--batches", default="1,2,3,8,17,64")
    o = parser.parse_args()
    warnings.simplefilter("ignore")
    dynamo.register()
    batches, compiled, bad = list(map(int, o.batches.split(","))), [], 0
    plain = compiler.engine
    compiler.engine = lambda *a, **n: compiled.append(a[0]) or plain(*a, **n)
    for name in o.names or [name for name in MODELS if name != "gru"]:
        make, arguments = MODELS[name]
        module, arguments = seeded(make()), arguments()
        torch._dynamo.reset()
        call, counts, far, start = torch.compile(module, backend="polyblocks"), [], 0.0, time.time()
        with torch.no_grad():
            for batch in [*batches, *batches]:
                x, before = of_batch(arguments, batch), len(compiled)
                got, want = pytree.tree_leaves(call(*x)), pytree.tree_leaves(module(*x))
                far = max(far, *(float((a - b).abs().max() / b.abs().max()) for a, b in zip(got, want)))
                counts.append(len(compiled) - before)
        bad += not (far <= 1e-4 and max(counts[: len(batches)]) <= 1 and not any(counts[len(batches) :]))
        print(f"{name}: batches {o.batches} compiled {counts[: len(batches)]}, then {sum(counts[len(batches) :])}; {far:.1e} apart; {time.time() - start:.0f} s", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
