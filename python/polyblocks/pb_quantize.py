"""pb-quantize: an ONNX model in int8, of samples in files."""

import argparse
import sys

import numpy as np

from .calibration import METHODS
from .errors import ArgumentError, PolyBlocksError
from .quantize import open_model, quantize


def main(given=None):
    parser = argparse.ArgumentParser(prog="pb-quantize", description=__doc__)
    parser.add_argument("model", help="a file of ONNX, in floats")
    parser.add_argument("samples", nargs="+", help="FILE.npy, samples along its first dim, or FILE.npz with such an array for each input by its name")
    parser.add_argument("-o", "--output", required=True, help="the model in int8")
    parser.add_argument("--method", choices=METHODS, default="min-max", help="what an activation's range is: all values, a part of them, where codes tell the most")
    parser.add_argument("--percentile", type=float, default=99.99, help="of values that are in the range, for that method")
    parser.add_argument("--exclude", nargs="*", default=(), metavar="NAME", help="nodes, or kinds of them, that stay in floats")
    parser.add_argument("--target", default="cpu", help="what the int8 model is tried on")
    options = parser.parse_args(given)
    try:
        data = [sample for file in options.samples for sample in samples_of(options.model, file)]
        told = quantize(options.model, data, options.output, exclude=options.exclude, target=options.target, method=options.method, percentile=options.percentile)
    except (PolyBlocksError, OSError, ValueError) as error:
        print(f"pb-quantize: error: {error}", file=sys.stderr)
        return 1
    kept = f"; in floats: {', '.join(told['kept'])}" if told["kept"] else ""
    print(f"{options.output}: {told['nodes']} nodes on codes, {told['decibel']:.1f} dB from the model's outputs on {len(data)} samples{kept}")
    return 0


def samples_of(model, file):
    """A file's samples, each of as many rows as the model takes at once."""
    inputs = open_model(model)[1]
    arrays = np.load(file)
    if isinstance(arrays, np.ndarray):
        if len(inputs) != 1:
            raise ArgumentError(f"{file} has one array for {len(inputs)} inputs: {', '.join(inputs)}; an .npz has one for each by its name")
        arrays = {next(iter(inputs)): arrays}
    missing = [name for name in inputs if name not in arrays]
    if missing:
        raise ArgumentError(f"{file} has no array {missing[0]!r}; there are {', '.join(arrays)}")
    arrays = {name: arrays[name] for name in inputs}
    rows = {name: shape[0] if shape and shape[0] else 1 for name, shape in inputs.items()}
    counts = {array.shape[0] // rows[name] if array.ndim else 0 for name, array in arrays.items()}
    if len(counts) != 1:
        raise ArgumentError(f"{file}: arrays of {' and '.join(map(str, sorted(counts)))} samples")
    return [{name: array[k * rows[name] : (k + 1) * rows[name]] for name, array in arrays.items()} for k in range(counts.pop())]


if __name__ == "__main__":
    sys.exit(main())
