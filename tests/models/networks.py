"""Writes well-known image networks with seeded random weights, float32 or int8 QDQ.

    networks.py --net resnet50 --type int8 --out resnet50_int8.onnx

The weights mean nothing, but the shapes, operations and value ranges are those of the real
networks, and the last layer is fitted so that different images get different top classes:
a wrong result then shows as a wrong class.
"""

import argparse
import time

import numpy as np

import net as netlib
import qdq

SEED = 20240
FIT_IMAGES = 32
CALIBRATION_IMAGES = 4
MAIN_CLASSES = 16


class Builder:
    """Seeded weights on top of Net; keeps track of the channel count of each tensor."""

    def __init__(self, name, size, seed):
        self.net = netlib.Net(name, "image", (1, 3, size, size), "logits")
        self.rng = np.random.default_rng(seed)
        self.channels = {"image": 3}

    def weights(self, shape, gain=2.0):
        """He initialisation, and a small bias."""
        spread = np.float32(np.sqrt(gain / np.prod(shape[1:])))
        weight = self.rng.standard_normal(shape, np.float32) * spread
        return weight, self.rng.standard_normal(shape[0], np.float32) * np.float32(0.05)

    def conv(self, name, cout, kernel, stride=1, act="", src=None, depthwise=False, gain=2.0):
        src = src or self.net.last
        cin = self.channels[src]
        weight, bias = self.weights((cout, 1 if depthwise else cin, kernel, kernel), gain)
        group = cin if depthwise else 1
        self.channels[name] = cout
        return self.net.conv(name, weight, bias, stride, kernel // 2, group, act, src)

    def maxpool(self, name, kernel, stride, pad=0):
        self.channels[name] = self.channels[self.net.last]
        return self.net.maxpool(name, kernel, stride, pad)

    def residual(self, name, a, b, act=""):
        self.channels[name] = self.channels[a]
        return self.net.residual(name, a, b, act)

    def head(self, classes):
        self.net.head("fc", *self.weights((classes, self.channels[self.net.last]), 1.0))


def resnet(build, blocks, bottleneck, classes):
    build.conv("stem", 64, 7, 2, "relu")
    build.maxpool("stem_pool", 3, 2, 1)
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for block in range(count):
            name, stride = f"s{stage + 1}b{block + 1}", 2 if stage and not block else 1
            skip = build.net.last
            # The branch's last convolution is damped: sums of equal terms would grow stage by stage.
            if bottleneck:
                build.conv(name + "_conv1", width, 1, 1, "relu")
                build.conv(name + "_conv2", width, 3, stride, "relu")
                end = build.conv(name + "_conv3", width * 4, 1, gain=0.5)
            else:
                build.conv(name + "_conv1", width, 3, stride, "relu")
                end = build.conv(name + "_conv2", width, 3, gain=0.5)
            if stride != 1 or build.channels[skip] != build.channels[end]:
                skip = build.conv(name + "_skip", build.channels[end], 1, stride, src=skip, gain=1.0)
            build.residual(name + "_sum", end, skip, "relu")
    build.head(classes)


def mobilenetv2(build, classes):
    build.conv("stem", 32, 3, 2, "relu6")
    # (expansion, channels, blocks, stride of the first block): table 2 of Sandler et al., 2018.
    settings = [
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ]
    number = 0
    for expand, cout, count, first_stride in settings:
        for block in range(count):
            number += 1
            name, stride, skip = f"b{number}", first_stride if block == 0 else 1, build.net.last
            cin = build.channels[skip]
            if expand != 1:
                build.conv(name + "_expand", cin * expand, 1, 1, "relu6")
            build.conv(name + "_depth", cin * expand, 3, stride, "relu6", depthwise=True)
            end = build.conv(name + "_project", cout, 1, gain=1.0)
            if stride == 1 and cin == cout:
                build.residual(name + "_sum", end, skip)
    build.conv("last", 1280, 1, 1, "relu6")
    build.head(classes)


def vgg16(build, classes):
    for stage, (count, width) in enumerate([(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)]):
        for k in range(count):
            build.conv(f"conv{stage + 1}_{k + 1}", width, 3, 1, "relu")
        build.maxpool(f"pool{stage + 1}", 2, 2)
    edge = build.net.shape[2] // 32
    build.net.add("Flatten", "features", attrs={"axis": 1})
    build.net.dense("fc6", *build.weights((4096, 512 * edge * edge)), act="relu")
    build.net.dense("fc7", *build.weights((4096, 4096)), act="relu")
    build.net.dense("fc", *build.weights((classes, 4096), 1.0))


NETWORKS = {
    "resnet18": lambda b, classes: resnet(b, [2, 2, 2, 2], False, classes),
    "resnet50": lambda b, classes: resnet(b, [3, 4, 6, 3], True, classes),
    "mobilenetv2": mobilenetv2,
    "vgg16": vgg16,
}


def seeded_images(count, size, seed=1):
    """Images that differ in colour, contrast and pattern, roughly of mean 0 and deviation 1."""
    rng = np.random.default_rng(seed)
    rows, cols = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size), indexing="ij")
    images = np.empty((count, 3, size, size), np.float32)
    for image in images:
        for channel in image:
            fx, fy, phase = rng.uniform(0, 25, 2).tolist() + [rng.uniform(0, 2 * np.pi)]
            wave = np.sin(2 * np.pi * (fx * cols + fy * rows) + phase)
            noise = rng.standard_normal((size, size))
            channel[:] = rng.normal(0, 0.8) + rng.uniform(0.2, 1.2) * wave + rng.uniform(0.05, 0.6) * noise
    # Bounds chosen off half codes of the input scale: no quantised pixel is a rounding tie.
    return np.clip(images, -2.5, 2.6)


def spread_rows(points, count):
    """Indices of `count` points far from each other (farthest-point sampling)."""
    chosen = [int(np.argmax(((points - points.mean(0)) ** 2).sum(1)))]
    distance = ((points - points[chosen[0]]) ** 2).sum(1)
    while len(chosen) < count:
        chosen.append(int(distance.argmax()))
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(1))
    return chosen


def fit_head(net, images, rng):
    """Makes the last layer a nearest-centre classifier on the features of some of `images`.

    Random features of different images are nearly parallel, so a plain random layer gives one
    class to all. Here class k scores c_k.f - |c_k|^2/2 (features f and centres c_k taken about
    the mean), which is largest at the nearest centre. Centres far apart keep that decision clear
    of quantisation noise; the remaining classes are mixtures of centres, held back by a margin.
    """
    head = net.layers[-1]
    session = qdq.float_session(netlib.float_model(net, expose=True))
    features = np.concatenate([session.run(head.inputs, {net.input: image[None]})[0] for image in images])
    features = features.astype(np.float64)
    mean = features.mean(0)
    classes = head.weight.shape[0]
    main = min(MAIN_CLASSES, classes)
    centres = (features - mean)[spread_rows(features, main)]
    others = rng.dirichlet(np.ones(main), classes - main) @ centres
    offset = np.concatenate([np.zeros(main), np.full(classes - main, 0.1 * (centres**2).sum(1).max())])
    weight = np.concatenate([centres, others])
    bias = -(weight**2).sum(1) / 2 - offset - weight @ mean
    order = rng.permutation(classes)
    # Deviation of a few units, as in trained networks; the classes do not depend on it.
    scale = 4 / ((features - mean) @ centres.T).std()
    head.weight = (weight[order] * scale).astype(np.float32)
    head.bias = (bias[order] * scale).astype(np.float32)


def build_network(name, size, classes, seed=SEED):
    """The fitted network and the images it was fitted on."""
    build = Builder(name, size, seed)
    NETWORKS[name](build, classes)
    images = seeded_images(FIT_IMAGES, size)
    fit_head(build.net, images, build.rng)
    return build.net, images


def top_classes(model, source, images):
    session = qdq.float_session(model)
    return [int(session.run(None, {source: image[None]})[0].argmax()) for image in images]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--net", required=True, choices=sorted(NETWORKS))
    parser.add_argument("--type", default="int8", choices=["f32", "int8"])
    parser.add_argument("--size", type=int, default=224, help="image edge in pixels, a multiple of 32")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--out", metavar="FILE", help="default: NET_TYPE_SIZE.onnx here")
    parser.add_argument("--input", metavar="FILE", help="also write seeded images as .npy")
    parser.add_argument("--count", type=int, default=1, help="images in --input, 1 to 32")
    parser.add_argument("--verify", action="store_true", help="count the top classes of the fitted images")
    args = parser.parse_args()
    if args.size < 32 or args.size % 32 or args.classes < 2:
        parser.error("--size must be a positive multiple of 32 and --classes at least 2")
    if not 1 <= args.count <= FIT_IMAGES:
        parser.error(f"--count must be 1 to {FIT_IMAGES}")
    start = time.monotonic()
    net, images = build_network(args.net, args.size, args.classes)
    if args.type == "f32":
        model = netlib.float_model(net)
    else:
        model = qdq.quantized_model(net, images[:CALIBRATION_IMAGES])
    path = args.out or f"{args.net}_{args.type}_{args.size}.onnx"
    netlib.save(model, path, full_check=False)
    print(f"{path}: {len(model.graph.node)} nodes, {model.ByteSize() / 1e6:.1f} MB, {time.monotonic() - start:.1f} s")
    if args.input:
        np.save(args.input, images[-args.count :])
    if args.verify:
        found = len(set(top_classes(model, net.input, images)))
        print(f"{found} different top classes over {len(images)} images")
        if found < 8:
            raise SystemExit("networks.py: error: fewer than 8 different top classes")


if __name__ == "__main__":
    main()
