"""Compares reference.py with onnxruntime and onnx.reference, on the digits model unless told.

Prints how many codes differ, end to end and layer by layer (each layer fed the other evaluator's
codes). Fails when a layer fed the same codes differs by more than one code, when more than --limit
of the codes differ in that way, or when accuracy on digits is below 96%.
"""

import argparse
import os
import sys

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx.reference import ReferenceEvaluator

    from reference import Reference
except ImportError as error:
    print(f"check.py: skipped: {error}", file=sys.stderr)
    sys.exit(77)

MIN_ACCURACY = 0.96
HERE = os.path.dirname(os.path.abspath(__file__))


def exposed(model, names):
    """The model with every code tensor as an output too."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    shapes = onnx.shape_inference.infer_shapes(copy)
    known = {v.name: v for v in shapes.graph.value_info}
    copy.graph.output.extend(known[name] for name in names)
    return copy


def runtime(model, optimise):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    level = ort.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimise else level.ORT_DISABLE_ALL
    options.add_session_config_entry("session.x64quantprecision", "1")  # sums that do not saturate (exact.py)
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda feed: session.run(None, feed)


def evaluate(call, names, source, images):
    rows = [call({source: image[None]}) for image in images]
    return {name: np.concatenate([row[k] for row in rows]) for k, name in enumerate(names)}


def difference(a, b):
    """Number of codes, fraction that differ, largest difference."""
    gap = np.abs(a.astype(np.int32) - b.astype(np.int32))
    return gap.size, np.count_nonzero(gap) / gap.size, int(gap.max())


def compare(label, ours, theirs, names, table=True):
    total = off = worst = 0
    for name in names:
        size, fraction, largest = difference(ours[name], theirs[name])
        total, off, worst = total + size, off + fraction * size, max(worst, largest)
        if table:
            print(f"    {name:12s} {size:8d} codes  {100 * fraction:8.4f}% differ, at most {largest}")
    print(f"  {label}: {100 * off / total:.4f}% of {total} codes differ, at most {worst}")
    return off / total, worst


def accuracy_text(logits, labels):
    """Accuracy, or without labels the number of different top classes."""
    top = logits.argmax(1)
    if labels is None:
        return f"{len(set(top.tolist()))} top classes over {len(top)} images", False
    rate = (top == labels).mean()
    return f"accuracy {rate:.4f} on {len(top)} images", rate < MIN_ACCURACY


def evaluators_of(model, names, wanted):
    full = exposed(model, names)
    calls = {"onnxruntime, unoptimised": runtime(full, False)}
    if wanted == "all":
        reference = ReferenceEvaluator(full)
        calls["onnx.reference"] = lambda feed: reference.run(None, feed)
    return calls


def check_fused(reference, model, images, labels, ours):
    """An optimised session that exposes nothing runs the fused integer kernels."""
    source, output = reference.inputs[0], reference.outputs[0]
    fused = evaluate(runtime(model, True), [output], source, images)[output]
    last = reference.producer[output]
    scale, zero = (v[()] for v in reference.scale_zero(last))
    _, fraction, worst = difference(ours[last.input[0]], np.rint(fused / scale) + zero)
    text, failed = accuracy_text(fused, labels)
    print(f"onnxruntime, fused kernels: {text}")
    print(f"  logits: {100 * fraction:.4f}% differ, at most {worst}")
    return failed


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="another QDQ model than digits.onnx; needs --images")
    parser.add_argument("--images", help=".npy, one image a row")
    parser.add_argument("--against", choices=["all", "onnxruntime"], default="all")
    parser.add_argument("--limit", type=float, default=0.001, help="fraction of codes allowed to differ")
    args = parser.parse_args()
    if bool(args.model) != bool(args.images):
        parser.error("--model and --images go together")
    return args


def main():
    args = parse_args()
    model = onnx.load(args.model or os.path.join(HERE, "digits.onnx"))
    images = np.load(args.images or os.path.join(HERE, "digits_images.npy"))
    labels = None if args.model else np.load(os.path.join(HERE, "digits_labels.npy"))
    reference = Reference(model)
    source, output = reference.inputs[0], reference.outputs[0]
    codes = [node.output[0] for node in reference.nodes]
    ours = reference.run({source: images})
    text, failed = accuracy_text(ours[output], labels)
    print(f"reference.py: {text}")
    for name, call in evaluators_of(model, codes, args.against).items():
        theirs = evaluate(call, [output] + codes, source, images)
        text, bad = accuracy_text(theirs[output], labels)
        print(f"{name}: {text}")
        compare("end to end", ours, theirs, codes, table=False)
        layered = reference.run({source: images}, given=theirs)
        fraction, worst = compare("layer by layer", layered, theirs, codes)
        failed |= bad or fraction > args.limit or worst > 1
    failed |= check_fused(reference, model, images, labels, ours)
    print("FAILED" if failed else "passed")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
