"""PyTorch's own samples of its operators (OpInfo) against eager.

    torch_ops.py [--samples 8] [--part 0/8] [--core] [--types int64 bool...] [--only NAME...] [--verbose]

Each sample of an entry is compiled by polyblocks_jit_torch; an entry is right where all of its samples are. What torch.export
itself refuses and what eager cannot do does not count. --core: entries alone whose graphs have core ATen's overloads. Without
--types each entry is judged in one type, the first of TYPES that it takes; with them in each of those, as an entry of its own."""

import argparse
import collections
import itertools
import sys
import time
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import polyblocks
from polyblocks import polyblocks_jit_torch

TYPES = (torch.float32, torch.int64, torch.bool, torch.complex64, torch.float64)
LOOSE = {"rtol": 1e-4, "atol": 1e-4}  # past which a result is wrong; what is past PyTorch's own tolerances of a type is loose
RANDOM = ("rand", "normal", "bernoulli", "multinomial", "dropout", "uniform", "exponential", "cauchy", "geometric", "empty", "rrelu", "log_normal")


PLACES = {"mode": ("dim", "keepdim"), "median": ("dim", "keepdim"), "nanmedian": ("dim", "keepdim"), "kthvalue": ("k", "dim", "keepdim")}  # arguments


def is_random(name):
    return any(word in name for word in RANDOM)


def same(got, want, tolerance):
    got, want = pytree.tree_leaves(got), pytree.tree_leaves(want)
    if len(got) != len(want):
        return f"{len(got)} results for {len(want)}"
    for a, b in zip(got, want):
        if not isinstance(b, torch.Tensor):
            if a != b:
                return f"{a!r}, not {b!r}"
            continue
        try:
            torch.testing.assert_close(a, b.detach(), **tolerance, equal_nan=True)
        except AssertionError as error:
            return " ".join(str(error).split())[:160]
    return None


def elements(op, sample, result):
    """Of a sort that is not stable: what stands at the places that it gave, each taken once, in place of the places. Eager's order of
    equal elements is its own; of a mode, a median or the k-th it gives any place that has it."""
    if op.name in PLACES and sample.input.dim() and not isinstance(result, torch.Tensor):
        rest = {"dim": -1, "keepdim": False} | dict(zip(PLACES[op.name], sample.args)) | sample.kwargs
        places = result[1] if rest["keepdim"] else result[1].unsqueeze(rest["dim"])
        return [result[0], sample.input.gather(rest["dim"], places)]
    stable = sample.kwargs.get("stable", op.name == "sort" and sample.args[:1] == (True,))
    if op.name not in ("sort", "argsort", "topk") or stable or not sample.input.dim():
        return result
    rest = dict(zip(("k", "dim") if op.name == "topk" else ("dim",), sample.args)) | sample.kwargs
    places = result if op.name == "argsort" else result[1]
    dim = rest.get("dim", -1)
    ordered = places.sort(dim=dim).values
    once = (ordered.diff(dim=dim) > 0).all() if places.numel() else torch.tensor(True)
    return [sample.input.gather(dim, places), once] + ([] if op.name == "argsort" else [result[0]])


def products(op, result):
    """Of a decomposition: what it says of the matrix. Vectors have any sign, and of equal values any turn, so they are judged by the matrix
    that they make and by their lengths and angles (PyTorch's own tests leave out signs)."""
    if op.name != "linalg.eigh":
        return result
    values, vectors = result
    return [values, vectors * values.unsqueeze(-2) @ vectors.mH, vectors.mH @ vectors]


def copied(value):
    return pytree.tree_map(lambda v: v.detach().clone() if isinstance(v, torch.Tensor) else v, value)


def judge(op, sample, dtype):
    """right, wrong, refused, not exported, or none: eager fails itself; and why."""
    call = op.get_op()
    arguments = (sample.input, *sample.args)
    if sample.kwargs.get("dropout_p") or ("attention" in op.name and sample.kwargs.get("training")):
        return "none", "random"
    try:
        with torch.no_grad():
            want = call(*copied(arguments), **copied(sample.kwargs))
    except Exception as error:
        return "none", str(error)[:80]
    if any(t.layout != torch.strided for t in pytree.tree_leaves(want) if isinstance(t, torch.Tensor)):
        return "none", "a layout of its own"

    def function(*args, **named):
        return call(*args, **named)

    try:
        with torch.no_grad():
            got = polyblocks_jit_torch(function, compile_options={"cache": False})(*copied(arguments), **copied(sample.kwargs))
    except polyblocks.CompileError as error:
        text = " ".join(str(error).split())
        return ("not exported" if "cannot be exported" in text else "refused"), text[:220]
    except Exception as error:
        return "failed", f"{type(error).__name__}: {' '.join(str(error).split())[:220]}"
    got, want = (products(op, elements(op, sample, result)) for result in (got, want))
    why = same(got, want, LOOSE)
    if why:
        return "wrong", why
    why = same(got, want, {})
    return ("loose", why) if why else ("right", "")


def is_core(op, sample):
    """Whether torch.export makes core ATen of it, and nothing else."""
    call, tensors = op.get_op(), []
    leaves, tree = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    class Whole(torch.nn.Module):
        def forward(self, *given):
            given = iter(given)
            args, named = pytree.tree_unflatten([next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves], tree)
            return call(*args, **named)

    try:
        with torch.no_grad():
            graph = torch.export.export(Whole(), tuple(copied(tensors)), strict=False).run_decompositions().graph
    except Exception:
        return False
    overloads = [node.target for node in graph.nodes if isinstance(node.target, torch._ops.OpOverload)]
    return all(torch.Tag.core in overload.tags for overload in overloads)


def types_of(op, names):
    """What it is judged in."""
    taken = [dtype for dtype in TYPES if dtype in op.dtypes]
    return [dtype for dtype in taken if str(dtype).removeprefix("torch.") in names] if names else taken[:1]


def judge_entry(name, op, samples, dtype, verbose):
    """The worst of what its samples are."""
    found = [judge(op, sample, dtype) for sample in samples]
    kinds = [kind for kind, _ in found if kind != "none"]
    order = ("wrong", "failed", "refused", "not exported", "loose", "right")
    worst = next((kind for kind in order if kind in kinds), "none")
    why = next((text for kind, text in found if kind == worst), "")
    if worst not in ("right", "none") or verbose:
        print(f"{worst:12} {name} {kinds.count('right')}/{len(kinds)} {why}", flush=True)
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--core", action="store_true")
    parser.add_argument("--types", nargs="*", default=[], help="float32, int64, bool, complex64, float64")
    parser.add_argument("--least", type=float, help="the share of entries that must be right")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    part, parts = map(int, options.part.split("/"))
    totals, start = collections.Counter(), time.time()
    for k, op in enumerate(op_db):
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        if k % parts != part or (options.only and name not in options.only) or is_random(name) or "sparse" in name:
            continue
        for dtype in types_of(op, options.types):
            torch.manual_seed(0)
            samples = list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), options.samples))
            if options.core and not (samples and is_core(op, samples[0])):
                continue
            worst = judge_entry(f"{name} {str(dtype).removeprefix('torch.')}", op, samples, dtype, options.verbose)
            totals[worst] += 1
    counted = sum(totals[kind] for kind in ("wrong", "failed", "refused", "loose", "right"))
    print(f"{totals['right']} of {counted} entries right; {dict(totals)}; {time.time() - start:.0f} s")
    share = totals["right"] / max(1, counted)
    return 1 if totals["wrong"] or totals["failed"] or (options.least is not None and share < options.least) else 0


if __name__ == "__main__":
    sys.exit(main())
