"""Networks that PT2E has quantised (torchao), a layer at a time: each takes the codes that eager makes, and its own are counted
where they are eager's. (From end to end a code that rounds the other way turns others behind it over.)

    run.py torch_quantised.py torch torchvision torchao -- [--least 0.999] [--target simnpu] [--by x86] [NAME...]

What a quantiser fuses it finds by the modules that nodes come from: a ReLU that a block calls twice counts once unless
torch.export is asked for strict=True, and the one for x86 fails then ("more than one output node")."""

import argparse
import sys
import time
import warnings

warnings.simplefilter("ignore")
import torch
from torch_models import Bert, drawn, ids, seeded, vision
import torchao.quantization.pt2e.quantizer.x86_inductor_quantizer as x86
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.testing.pt2e._xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

from polyblocks import polyblocks_jit_torch


class Layers(torch.fx.Interpreter):
    """Runs a graph; what is behind a tensor of codes takes the given one (none: its own)."""

    def __init__(self, module, given=None):
        super().__init__(module)
        self.codes, self.given = [], given

    def run_node(self, node):
        made = super().run_node(node)
        if str(node.target).startswith("quantized_decomposed.quantize_per_tensor"):
            self.codes.append(made)
            return made if self.given is None else self.given[len(self.codes) - 1]
        return made


class Fed(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, arguments, given):
        layers = Layers(self.module, given)
        return layers.run(*arguments), tuple(layers.codes)


def quantised(make, arguments, by):
    """By a scale for each channel, with samples about the arguments: symmetric codes, or x86's without a sign."""
    exported = torch.export.export(seeded(make()), arguments, strict=by == "x86").module()
    quantiser = x86.X86InductorQuantizer() if by == "x86" else XNNPACKQuantizer()
    quantiser.set_global(x86.get_default_x86_inductor_quantization_config() if by == "x86" else get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(exported, quantiser)
    prepared(*arguments)
    return convert_pt2e(prepared)


def bert():
    return Bert(), (ids(2, 12), torch.tensor([[1] * 12, [1] * 7 + [0] * 5]))


MODELS = {
    "resnet18": (vision("resnet18", 64)[0], lambda: (drawn(1, 3, 64, 64),)),
    "mobilenet_v2": (vision("mobilenet_v2", 64)[0], lambda: (drawn(1, 3, 64, 64),)),
    "bert": (lambda: bert()[0], lambda: bert()[1]),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--least", type=float, default=0.999)
    parser.add_argument("--target", default="cpu", help="where; what it has not goes to the processor")
    parser.add_argument("--by", choices=("xnnpack", "x86"), default="xnnpack", help="whose quantiser")
    o = parser.parse_args()
    bad = 0
    for name in o.names or MODELS:
        make, arguments = MODELS[name]
        arguments = arguments()
        with torch.no_grad():
            module = quantised(make, arguments, o.by)
            layers = Layers(module)
            want = layers.run(*arguments)
            start = time.time()
            got, codes = polyblocks_jit_torch(Fed(module), compile_options={"target": o.target, "strict_target": False, "device_one_time_load": True})(arguments, tuple(layers.codes))
        equal, count = sum(int((a == b).sum()) for a, b in zip(codes, layers.codes)), sum(a.numel() for a in codes)
        most = max(int((a.int() - b.int()).abs().max()) for a, b in zip(codes, layers.codes))
        want = want[0] if isinstance(want, (tuple, list)) else want
        got = got[0] if isinstance(got, (tuple, list)) else got
        far = float((got - want).abs().max() / want.abs().max())
        print(f"{name}, {o.by}, {o.target}: {len(codes)} tensors of codes, {equal} of {count} as eager's ({100 * equal / count:.4f}%), the others by {most} at most; "
              f"results {far:.1e} apart; {time.time() - start:.0f} s", flush=True)
        bad += not (len(codes) and equal >= o.least * count and most <= 1)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
