"""Networks of torchvision and timm by their names, with seeded weights, beside eager: how far results are apart, over the largest.

    run.py torch_networks.py torch torchvision -- [--small] [--compile] [--table] [NAME...]      # 1 where one is more than 1e-4 apart"""

import argparse
import importlib.util
import sys
import time
import warnings

import torch
from torch.utils import _pytree as pytree
from torch_models import drawn, seeded

import polyblocks
from polyblocks import polyblocks_jit_torch

# name: the image's side, and a small one that the model takes
VISION = {
    "resnet18": (224, 64),
    "resnet50": (224, 64),
    "mobilenet_v2": (224, 64),
    "efficientnet_b0": (224, 64),
    "convnext_tiny": (224, 64),
    "vit_b_16": (224, 224),
    "resnext50_32x4d": (224, 64),
    "densenet121": (224, 64),
    "googlenet": (224, 64),
    "inception_v3": (299, 96),
    "shufflenet_v2_x1_0": (224, 64),
    "mobilenet_v3_large": (224, 64),
    "efficientnet_v2_s": (224, 64),
    "swin_t": (224, 64),
    "swin_v2_t": (256, 64),
    "maxvit_t": (224, 224),
    "segmentation.deeplabv3_resnet50": (224, 64),
    "segmentation.lraspp_mobilenet_v3_large": (224, 64),
}
TIMM = {
    "mixer_b16_224": (224, 224),
    "beit_base_patch16_224": (224, 224),
    "mobilevit_s": (256, 64),
    "hrnet_w18_small": (224, 64),
    "cait_xxs24_224": (224, 224),
    "nfnet_l0": (224, 64),
    "twins_svt_small": (224, 64),
    "nest_tiny": (224, 224),
}


def made(name):
    torch.manual_seed(0)
    if name in TIMM:
        import timm

        return timm.create_model(name, pretrained=False)
    import torchvision

    place, options = torchvision.models, {"weights": None}
    if name.startswith("segmentation."):
        place, options["weights_backbone"] = place.segmentation, None
    if name in ("googlenet", "inception_v3"):
        options |= {"init_weights": False, "aux_logits": True}
    return getattr(place, name.rpartition(".")[2])(**options)


def apart(got, want):
    """How far results are apart, over the largest of each."""
    got, want = pytree.tree_leaves(got), pytree.tree_leaves(want)
    assert len(got) == len(want)
    return max(float((a - b).abs().max() / b.abs().max()) for a, b in zip(got, want))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--compile", action="store_true", help="by torch.compile in place of the decorator")
    parser.add_argument("--table", action="store_true")
    o = parser.parse_args()
    warnings.simplefilter("ignore", polyblocks.PolyBlocksWarning)
    names, wrong = o.names or list(VISION) + list(TIMM), 0
    if not o.names and importlib.util.find_spec("timm") is None:
        print("left out, without timm:", ", ".join(TIMM))
        names = list(VISION)
    for name in names:
        side = (VISION | TIMM)[name][o.small]
        model, x = seeded(made(name)), drawn(1, 3, side, side)
        with torch.no_grad():
            want = model(x)
            start = time.time()
            try:
                compiled = torch.compile(model, backend="polyblocks") if o.compile else polyblocks_jit_torch(model)
                far, said = apart(compiled(x), want), ""
            except Exception as error:
                far, said = float("nan"), f"{type(error).__name__}: {str(error)[:600]}"
            took = time.time() - start
        largest = max(float(w.abs().max()) for w in pytree.tree_leaves(want))
        wrong += not far <= 1e-4
        if o.table:
            print(f"| {name.rpartition('.')[2]} | {side} | {far:.1e} | {took:.0f} s |", flush=True)
        else:
            print(f"{name:40} {side:4} {far:.1e} of {largest:.3g}; {took:.1f} s {said}", flush=True)
        if o.compile:
            torch._dynamo.reset()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
