"""Networks of torchvision, timm and transformers, with random weights, as PyTorch's exporters write them, each compared with ONNX
Runtime and timed beside it: what shapes and operators of the field the compiler is slow or wrong on.

    python bench/zoo.py [--bin build/bin] [--nets r3d_18,maxvit_t,transformers] [--models DIR] [--rounds 2] [--export] [--torchscript]

needs torch, torchvision, timm, transformers, onnxscript, onnx and onnxruntime; DIR keeps the exported files and their inputs, of which
those that are there are not made anew. --nets transformers: those of bench/zoo_transformers.py. --torchscript: by the older exporter. One thread, batch 1; a figure is the median over the rounds of medians, in ms, and the ratio ONNX Runtime's time over
pb's. `off`: the largest difference, of the largest output. `alone`: cycles, of 100 predicted, of kernels that multiply and have no
instruction for it. Prints Markdown. --export: makes
the files and stops.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

import peers
import zoo_transformers

IMAGES = """squeezenet1_1 shufflenet_v2_x1_0 googlenet densenet121 inception_v3 mnasnet1_0 regnet_y_400mf mobilenet_v3_large
    resnext50_32x4d efficientnet_v2_s swin_t swin_v2_t maxvit_t vit_b_32 alexnet convnext_tiny""".split()
SEGMENTS = ["deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"]
VIDEOS = {"r3d_18": 112, "mc3_18": 112, "r2plus1d_18": 112, "mvit_v2_s": 224}
TIMM = """ghostnet_100 res2net50_26w_4s tf_mixnet_s hrnet_w18_small dla34 repvgg_a0 mixer_s32_224 deit_tiny_patch16_224 pit_ti_224
    levit_128s cait_xxs24_224 coat_tiny xcit_nano_12_p16_224 poolformer_s12 edgenext_xx_small mobilevit_xxs efficientformer_l1
    fastvit_t8 eca_nfnet_l0 rexnet_100 botnet26t_256 halonet26t visformer_tiny eva02_tiny_patch14_224 efficientvit_b0
    mambaout_femto starnet_s1 tiny_vit_5m_224 inception_next_tiny caformer_s18 regnetz_b16 densenetblur121d nf_resnet50
    convnextv2_atto davit_tiny gcvit_xxtiny coatnet_nano_rw_224 pvt_v2_b0""".split()
NETS = [*IMAGES, *SEGMENTS, *VIDEOS, *TIMM]
FAMILIES = {"transformers": list(zoo_transformers.NETS)}


def network(name):
    """(module, its inputs' shapes by name)."""
    if name in zoo_transformers.NETS:
        return zoo_transformers.network(name)
    import torchvision

    if name in VIDEOS:
        return torchvision.models.get_model(name, weights=None), {"x": (1, 3, 16, VIDEOS[name], VIDEOS[name])}
    if name in SEGMENTS:
        return torchvision.models.get_model(name, weights=None, weights_backbone=None), {"x": (1, 3, 224, 224)}
    if name in IMAGES:
        more = {"googlenet": {"init_weights": False, "aux_logits": False}, "inception_v3": {"init_weights": False}}.get(name, {})
        side = 299 if name == "inception_v3" else 224
        return torchvision.models.get_model(name, weights=None, **more), {"x": (1, 3, side, side)}
    import timm

    module = timm.create_model(name, pretrained=False)
    return module, {"x": (1, *module.default_cfg["input_size"])}


def drawn(rng, name, shape, kind):
    """An input: a mask that leaves the last fourth out, tokens, or numbers."""
    if name.endswith("mask"):
        return np.broadcast_to(np.arange(shape[-1]) < shape[-1] - shape[-1] // 4, shape).astype(kind)
    return rng.randint(3, zoo_transformers.WORDS, shape) if kind == np.int64 else rng.randn(*shape).astype(np.float32)


def write_model(path, name, torchscript):
    import torch

    class First(torch.nn.Module):
        """The first result of those that a network has; its operands by their names."""

        def __init__(self, module, names):
            super().__init__()
            self.module, self.names = module, names

        def forward(self, *operands):
            y = self.module(*operands) if self.names == ["x"] else self.module(**dict(zip(self.names, operands)))
            y = y.to_tuple() if hasattr(y, "to_tuple") else y["out"] if isinstance(y, dict) else y
            while isinstance(y, (tuple, list)):
                y = y[0]
            return y

    torch.manual_seed(0)
    module, shapes = network(name)
    for part in module.modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    for weights in module.parameters():  # scales begin with ones, biases and heads with zeros: exporters would join them
        if weights.ndim == 1 or not weights.detach().any():
            weights.data += torch.randn(weights.shape) * 0.02
    kinds = {given: zoo_transformers.kind_of(name, given) for given in shapes}
    operands = tuple(torch.from_numpy(drawn(np.random.RandomState(1), given, shape, kinds[given])) for given, shape in shapes.items())
    how = {"dynamo": False, "opset_version": 17} if torchscript else {"dynamo": True, "opset_version": 18, "external_data": False, "verbose": False}
    with torch.no_grad():
        torch.onnx.export(First(module.eval(), list(shapes)), operands, path, input_names=list(shapes), **how)


def share_alone(pbc, model):
    """Of the cycles that the plans predict for this machine, those of kernels that multiply without an instruction, in percent."""
    outline, plan = (subprocess.run([pbc, model, "--target=cpu", f"--emit={what}"], capture_output=True, text=True, check=True).stdout
                     for what in ("outline", "plan"))
    multiplies, uses, name = set(), {}, None
    for line in outline.splitlines():
        kernel, called = re.search(r"func\.func @(\w+)\(.*\{pb\.kernel", line), re.search(r"call @(\w+)\(", line)
        name = kernel.group(1) if kernel else name
        if "pb.macs" in line and 'pb.part = "reduce"' in line:
            multiplies.add(name)
        if called:
            uses[called.group(1)] = uses.get(called.group(1), 0) + 1
    total = alone = 0
    for kernel, said in re.findall(r"^(k\d+) = (.*)$", plan, re.MULTILINE):
        cycles = int(re.findall(r"cycles = (\d+)", said)[-1]) * uses.get(kernel, 1)
        total += cycles
        alone += cycles if kernel in multiplies and "instruction" not in said else 0
    return 100 * alone / max(total, 1)


def session(path):
    """The model's own operators: without optimisations of graphs."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def feeds_of(model):
    """The inputs beside the model, which are made where there are none."""
    if not os.path.exists(f"{model}.inputs"):
        rng, kinds = np.random.RandomState(0), {"tensor(int64)": np.int64, "tensor(float)": np.float32}
        peers.save_feeds(model, {given.name: drawn(rng, given.name, given.shape, kinds[given.type]) for given in session(model).get_inputs()})
    return peers.model_feeds(model)


def difference(args, model, engine, folder):
    feeds, file = feeds_of(model), os.path.join(folder, "y.npy")
    subprocess.run([os.path.join(args.bin, "pb-run"), engine, *(f"--input={given}" for given in peers.saved_feeds(model)), f"--output={file}"],
                   check=True, capture_output=True)
    theirs = session(model).run(None, feeds)[0]
    return np.abs(np.load(file) - theirs).max() / max(np.abs(theirs).max(), 1e-30)


def row(args, name, folder):
    model, engine = os.path.join(args.models or folder, f"{name}.onnx"), os.path.join(folder, "m.pbe")
    if not os.path.exists(model):
        write_model(model, name, args.torchscript)
    if args.export:
        return
    pbc, start = os.path.join(args.bin, "pbc"), time.time()
    subprocess.run([pbc, model, "--target=cpu", "-o", engine], check=True, capture_output=True)
    seconds = time.time() - start
    off = difference(args, model, engine, folder)
    times = {"pb": [], "onnxruntime": []}
    for _ in range(args.rounds):
        times["pb"].append(peers.ours(args.bin, engine, 1, peers.saved_feeds(model), args.repeats))
        times["onnxruntime"].append(peers.seconds("onnxruntime", 1, model, args.repeats))
    pb, theirs = (np.median([one for one in t if one] or np.nan) * 1e3 for t in times.values())  # a peer may refuse
    print(f"| {name} | {pb:.2f} | {theirs:.2f} | {theirs / pb:.2f} | {off:.1e} | {share_alone(pbc, model):.0f} | {seconds:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--nets", type=lambda text: text.split(","), default=NETS)
    parser.add_argument("--models")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--export", action="store_true")
    parser.add_argument("--torchscript", action="store_true")
    args = parser.parse_args()
    args.nets = [net for name in args.nets for net in FAMILIES.get(name, [name])]
    warnings.filterwarnings("ignore")
    if not args.export:
        print(f"{peers.machine()}.\n\n| network | pb | onnxruntime | ratio | off | alone | compiled in, s |\n|---|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.nets:
            try:
                row(args, name, folder)
            except subprocess.CalledProcessError as error:
                print(f"| {name} | {(error.stderr or b'').decode(errors='replace').strip().splitlines()[-1:]} |", flush=True)
            except Exception as error:  # pylint: disable=broad-exception-caught; exporters raise what they like
                print(f"| {name} | not exported: {type(error).__name__} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
