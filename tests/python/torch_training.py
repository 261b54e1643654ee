"""Networks that learn by torch.compile(backend="polyblocks") beside eager: the losses of twenty steps, from the same weights.

    run.py torch_training.py torch torchvision -- [--steps 20] [--side 64] [NAME...]        # 1 where one is more than 1e-3 apart"""

import argparse
import copy
import sys
import time
import warnings

import torch
from torch.nn import functional as F
from torch_models import Gpt2, drawn, ids, seeded

import polyblocks.dynamo


def classes(side):
    import torchvision

    return torchvision.models.resnet18(num_classes=10), drawn(4, 3, side, side), torch.arange(4), lambda made, want: F.cross_entropy(made, want)


def words(side):
    given = ids(4, 24)
    return Gpt2(), given, given.roll(-1, 1), lambda made, want: F.cross_entropy(made.flatten(0, 1), want.flatten())


NETS = {"resnet18": classes, "gpt": words}
STEPS = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, 0.01, momentum=0.9),
    "Adam": lambda parameters: torch.optim.Adam(parameters, 1e-4),
}


def losses(network, called, step, x, want, loss, steps):
    made = []
    for _ in range(steps):
        step.zero_grad()
        value = loss(called(x), want)
        value.backward()
        step.step()
        made.append(value.item())
    return made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--side", type=int, default=64, help="of images")
    o = parser.parse_args()
    warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
    if not torch.cuda.is_available():
        torch.cuda.is_current_stream_capturing = lambda: False  # which asks the driver
    polyblocks.dynamo.register()
    bad = 0
    for name in o.names or NETS:
        network, x, want, loss = NETS[name](o.side)
        network = seeded(network).train()
        for way, step in STEPS.items():
            torch.compiler.reset()
            ours, theirs, start = copy.deepcopy(network), copy.deepcopy(network), time.time()
            made = losses(ours, torch.compile(ours, backend="polyblocks"), step(ours.parameters()), x, want, loss, o.steps)
            took, right = time.time() - start, losses(theirs, theirs, step(theirs.parameters()), x, want, loss, o.steps)
            far = max(abs(a - b) / max(1.0, abs(b)) for a, b in zip(made, right))
            print(f"{name}, {way}: losses {right[0]:.4f} to {right[-1]:.4f} in {len(right)} steps, {far:.1e} apart at most; {took:.0f} s", flush=True)
            bad += not far <= 1e-3
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
