"""Writes sdk-docs/onnx.md from the rows of core/frontend/onnx/onnx.def; --check: is it what they say?"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROWS = HERE.parent / "core" / "frontend" / "onnx" / "onnx.def"
HEAD = """# ONNX

Made by `sdk-docs/onnx.py` from `core/frontend/onnx/onnx.def`, one row an operator.

`pbc MODEL.onnx --target=cpu -o x.pbe` reads a model whose extents are known (`--dim NAME=8` says that of a
dim that it names and leaves open, `--input-shape NAME=1x3x224x224` those of an input). Operators that are not here are all named at once, each with the nearest name that is; an attribute that an
operator does not have, or of another kind, is an error. Types: bool, signed and unsigned integers of 8 to 64 bits, f16, bf16,
f32, f64; floats of 8 and 4 bits and integers of 4 and 2, a byte each (`|V1` in `.npy`), are moved, cast and quantised to.
Weights of INT4 and UINT4 behind a `DequantizeLinear` are those of int8 with the same codes.
An extent may be 0: reductions of nothing are what they begin with. What a node's meaning hangs on (shapes, axes, bounds of slices, k, ...) is best constant: an initialiser, computed
of constants and shapes, or an input that `--bind NAME=FILE.npy` makes one, or a tensor of
`--weights=FILE.safetensors`, whose names are the inputs'. On a processor the shapes of `Reshape`, `Squeeze`, `Unsqueeze`,
`Expand`, `Tile`, `ConstantOfShape`, `Range`, `Slice`, `Pad`, `Resize`, `Split`, `TopK`, `OneHot` and the axes of reductions and
`CumSum` may also [come at run time](open-shapes.md#extents-that-data-say), and so does what `NonZero`, `Compress`, `Unique` and `NonMaxSuppression` find;
the rest is refused.

A row says what its operator is in the operators of [StableHLO](stablehlo.md), whose rows make the loop nests: there are no
two ways to the same one, and what that page says of rounding, sums and times holds here. Forms that the planner knows by
name (products, convolutions and pools over f32, softmax, norms, attention, everything on codes of 8 bits between
DequantizeLinear and QuantizeLinear) are recognised first, by `core/s1/lift*.c`; the row has the other types, ranks and
attributes. What stands between codes and is in none of these forms (a convolution over three dims) is
computed by its row in floats, as ONNX defines it, and a warning says so and why (PB2032); so is a product of codes that
nodes move on the way (DequantizeLinear, Transpose, MatMul) where the chip has none of codes of these extents, else it is one of codes;
so does one of a scale that is 0, negative or no number (PB2033). ONNX Runtime's QOperator form is the same: where scales and
zero points are constants, `QLinearConv`, `QLinearMatMul`, `QGemm` and the other `QLinear` operators (`QLinearWhere` and images
whose channels are last aside), and what chooses among codes beside them (`MaxPool`, `Transpose`, `Slice`, ...), are read as the
operator between DequantizeLinear and QuantizeLinear (`core/s1/rewrite/qoperators.c`); with others their rows run them.
Opsets 1 to 28 are read, others refused (PB2036).
Operators of several steps (norms, losses, reductions of squares and exponentials, activations, `LpPool`, `Gemm` with a factor
or a bias) are of f16 and bf16 what they are in f32 of the same numbers, rounded once; recurrent layers round at each step.
Of constant indices outside of what they index, for which ONNX has no result, a warning tells (PB2037). An output whose
type is not what the model declares is refused (PB2034), of one whose shape is not a warning tells (PB2035). An operator is added by its row, its
function in `core/frontend/onnx` and its test in `tests/onnx`.

Nodes that stand in front of what they read, as converters to half precision leave them, are put in order first, and an
`Identity` goes. Functions that a model brings along are taken in place of their calls, before anything else looks; their opset
may be another than the model's, and one of the same domain and name goes before a row. `Scan` and sequences leave nothing behind, nor do `If` and `Loop` where constants
decide: the branch that is taken and a loop's turns are written out, 65,536 operators at most. What data decide is [the host's
program](control-flow.md): loops, and branches that are long; two short ones are both computed, and their results chosen
among. Values from turn to turn keep their types and shapes; where results are gathered turn by turn the number of turns has to be
constant, as above.

An engine's inputs and outputs are the model's, in the model's order, whatever nodes read and make first; an output that it
lists twice is given twice, and an input that is an initialiser too is a constant.

A sequence that comes in is as many inputs as `--items NAME=3` says, `NAME[0]` to `NAME[2]`, each with a shape of its own
(`--input-shape 'NAME[1]=4x5'`); an optional tensor is an input of its own name (`--items NAME=1`), or not there
(`--items NAME=none`). One that leaves is an output an element, `NAME[0]` and on.

A dim may list values, `--dim batch=1,8` or `--input-shape NAME=1,8x3x224x224`: the engine then has a program for each, made
for those extents alone, and their constants once. Of several dims that list values the k-th ones go together. `pb-run` and
`pb_rt_choose` take the program that has the inputs' shapes; for others the error lists those that there are. Or it stays
open, `--dim 'batch=?'`: [one program takes any extent](open-shapes.md).

What passes of ONNX's own tests: [conformance-onnx.md](conformance-onnx.md).

"""
FAMILY = re.compile(r"^// ---- (.*) ----$")
ROW = re.compile(r'^OP\("([\w.]+)", (\d+), (\w+), (\w+), (\w+), "([^"]*)", \w+, "[^"]*", "([^"]*)"\)$')


def page():
    out = [HEAD]
    for line in ROWS.read_text().splitlines():
        family, row = FAMILY.match(line), ROW.match(line)
        if family:
            out.append(f"\n## {family.group(1).capitalize()}\n\n| operator | from opset | attributes | |\n| --- | --: | --- | --- |\n")
        elif row:
            name, since, _, _, _, attributes, about = row.groups()
            names = ", ".join(a.split(":")[0] for a in attributes.split() if not a.startswith("consumed_inputs"))
            out.append(f"| `{name}` | {since} | {names} | {about} |\n")
        elif line.startswith("OP("):
            raise SystemExit(f"{ROWS}: onnx.py does not read {line}")
    return "".join(out)


def main():
    target = HERE / "onnx.md"
    if "--check" in sys.argv:
        if target.read_text() == page():
            return 0
        print("sdk-docs/onnx.md is not what onnx.def says: run sdk-docs/onnx.py")
        return 1
    target.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
