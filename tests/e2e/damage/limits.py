"""Tables of fixed size that IR can fill: what fills one exactly is taken, one more is refused with its code.

    limits.py --bin BUILD/bin
"""

import argparse
import os
import subprocess
import sys


def chain(count, function=None):
    """One nest whose body adds `count` times."""
    first = f"    %v0 = {function} %x0 : f32\n" if function else "    %v0 = arith.addf %x0, %x0 : f32\n"
    adds = "".join(f"    %v{k + 1} = arith.addf %v{k}, %x0 : f32\n" for k in range(count))
    return nest([16], ["x"], first + adds, f"%v{count}")


def chain_to(count, function):
    """The same, the function last: all that it becomes must find room."""
    adds = "".join(f"    %v{k + 1} = arith.addf %{f'v{k}' if k else 'x0'}, %x0 : f32\n" for k in range(count))
    return nest([16], ["x"], f"{adds}    %y0 = {function} %v{count} : f32\n", "%y0")


def sums(count):
    """One nest that loads `count` tensors."""
    names = [f"x{k}" for k in range(count)]
    adds = "".join(f"    %v{k + 1} = arith.addf %{f'v{k}' if k else 'x0'}, %x{k + 1} : f32\n" for k in range(count - 1))
    return nest([16], names, adds, f"%v{count - 1}")


def deep(rank):
    return nest([2] * rank, ["x"], "", "%x0")


def outer(loops):
    """A product over more loops than its tensors have dims."""
    return nest([2] * loops, ["x"], "", "%x0", dims=range(4))


def rows(loops):
    """The same where the first loop walks what will be blocks of lanes, and so becomes two."""
    return nest([2] * loops, ["x"], "", "%x0", dims=(1, 0, 2, 3))


def nest(extents, names, body, result, dims=None):
    dims = range(len(extents)) if dims is None else dims
    kind = f"memref<{'x'.join(str(extents[d]) for d in dims)}xf32>"
    place = ", ".join(f"%i{d}" for d in dims)
    inputs = "".join(f'%a{k}: {kind} {{pb.input = "{name}"}}, ' for k, name in enumerate(names))
    loops = "".join(f"  affine.for %i{d} = 0 to {extent} {{\n" for d, extent in enumerate(extents))
    loads = "".join(f"    %x{k} = affine.load %a{k}[{place}] : {kind}\n" for k in range(len(names)))
    ends = "  }" * (len(extents) - 1) + '  } {pb.nest = "n", pb.part = "point"}\n'
    return (f'func.func @main({inputs}%y: {kind} {{pb.output = "y"}}) {{\n{loops}{loads}{body}'
            f"    affine.store {result}, %y[{place}] : {kind}\n{ends}  return\n}}\n")


MATH, LANES = ("--target=cpu:v3", "--math"), ("--target=simnpu", "--layout")
# What is filled, how, the most that it takes, the code of the refusal, in which pass.
LIMITS = [
    ("nodes of a body", chain, 510, "PB4002", MATH),
    ("nodes of a body with a function", lambda n: chain(n, "math.exp"), 466, "PB4045", MATH),
    ("nodes of a body that ends in a function", lambda n: chain_to(n, "math.exp"), 460, "PB4045", MATH),
    ("loads of a nest", sums, 15, "PB4002", MATH),
    ("dims of a tensor", deep, 8, "PB4002", MATH),
    ("loops of a nest", outer, 12, "PB4002", MATH),
    ("loops of a nest in rows of lanes", rows, 11, "PB4041", LANES),
]


def tried(args, text, *options):
    result = subprocess.run([os.path.join(args.bin, "pb-opt"), "-", *options], input=text, capture_output=True, text=True)
    return result.returncode, result.stderr.strip()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    failed = 0
    for what, make, most, code, options in LIMITS:
        full, over = tried(args, make(most), *options, "--check"), tried(args, make(most + 1), *options)
        good = full[0] == 0 and over[0] == 1 and f"[{code}]" in over[1]
        failed += not good
        if not good:
            print(f"FAILED {what}: {most}: {full}; one more: {over}")
    print(f"{len(LIMITS)} limits: {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
