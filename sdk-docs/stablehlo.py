"""Writes sdk-docs/stablehlo.md and linalg.md from the rows of core/frontend/*/*.def of those names; --check: are they what
those say?"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
FRONTEND = HERE.parent / "core" / "frontend"
STABLEHLO = """# StableHLO and CHLO

Made by `sdk-docs/stablehlo.py` from `core/frontend/stablehlo/stablehlo.def`, one row an operator.

`pbc MODEL.mlir --target=cpu -o x.pbe` reads a module in StableHLO's own form, as JAX (`jax.jit(f).lower(x).as_text()`,
`jax.export.export(f)(x).mlir_module()`), TensorFlow (`get_compiler_ir(stage='stablehlo')`) and StableHLO's tools print it, or
in MLIR's generic form, each for itself or generic operations among the others. Every operator's own form is a row of
`core/frontend/stablehlo/pretty/forms.def`, those of CHLO and what Shardy says of one device too; what has none is refused with its
place (PB2107). Bytecode is not read. Errors name lines and columns of the file; locations that the text says are passed over in its
own form, and in the generic one leave errors without a line. Arguments of `@main` are inputs `arg0`, `arg1`, ..., its results outputs `out0`, ... Operators that are not here are all named at once. Types: i1, signed and
unsigned integers of 2, 4 and 8 to 64 bits, f8E4M3FN, f8E5M2, f16, bf16, f32, f64; extents of arguments may be open (`tensor<?x4xf32>`,
[how](open-shapes.md)), or `--input-shape` says them; complex numbers of f32 and f64,
in the C interface pairs along one more dim, the last (`is_complex`), in `.npy` files `<c8` and `<c16`. bf16 in `.npy` files is `|V2`, or integers of two bytes. Tensors without elements
may be arguments and results; what is made of them is what their other operands say (a reduction's first value, padding, 0).
Constants of truths in hexadecimal have a bit or a byte each. `sdy.*` attributes and meshes are passed over: here is one device.

A float of 8 or 16 bits is worked on as f32 and rounded once where an operator ends; sums of products are taken in f32. Integers wrap;
a division by 0 has all bits set, a shift by all bits or more leaves nothing but the sign. Conversions round once; to
integers they go towards 0 and keep within the type, NaN is 0. What a reduction's body combines goes in the order of the
loops, but sums, which the planner may take in another. Of n elements a sort takes n log n (up to 256 the square, on any number of units);
the k largest of more than 256, and of twice k, are found by counting, bit by bit (types of up to 32 bits). A
sum, product, maximum or minimum so far that is written as a window of the whole length (`jnp.cumsum`) is made by blocks, in linear time.

Quantised tensors (`!quant.uniform`, codes of i8, u8, i16 and i32, scales for all or along an axis, of f32) are their codes, in
files too. What moves elements moves codes; any other operator is made of f32, as the specification says, and its result
rounded to codes; a product of two such, of i8, is made of the codes where the chip multiplies those and the zero points allow it. Integers of 2 and 4 bits are a byte each, `|V1` in files.

Functions of complex numbers are computed in f64 (`core/s1/scalar/written.def` has them as papers do, with their sources), with the
cuts and the signed zeros of C's: each part is within 3 ULP, of complex<f32> and of complex<f64>, powers and roots too. Of
complex<f64> what terms leave little of each other in (exponential, exponential_minus_one, logistic, sine, cosine, tan, tanh,
sinh, cosh), rsqrt and powers are made of pairs of f64 (`core/s1/scalar/written_pairs.def`): rounded from some 90 bits of their
terms, for turns below 2^27; beyond, and in the bodies of other operators, tan, tanh and logistic are within 7 ULP, and powers and
what is left of differences are less near. Arcs and their like go to 3.6 ULP at one number of 100,000.

What passes of StableHLO's conformance suite: [conformance.md](conformance.md).

| operator | attributes | |
| --- | --- | --- |
"""


LINALG = """# linalg on tensors

Made by `sdk-docs/stablehlo.py` from `core/frontend/linalg/linalg.def` and `tosa.def`, one row an operator.

`pbc MODEL.mlir --target=cpu -o x.pbe` reads a module of linalg on tensors, as torch-mlir prints it
(`torch_mlir.fx.export_and_import(model, *inputs, output_type="linalg-on-tensors", func_name="main")`), in MLIR's pretty form or
the generic one; weights are `dense_resource` blobs behind the module, `dense` literals or arguments. The language is that of the
text's first operator. Arguments of `@main` are inputs `arg0`, `arg1`, ..., its results outputs `out0`, `out1`, ... MLIR's own
rules for these dialects hold, and what they say of a text comes with its line and column; operators that are not here are all
named at once. Types are signless integers of 1 to 64 bits, f16, bf16, f32, f64 and index, with all extents known and none 0.

A structured operator is the loop nest that its maps and its body say, whatever its name: the loops of a result come first, in
its order, what is summed over inside. Indices are sums of loops times numbers; a result is written at loops alone. Up to ten
tensors meet in a body. Two results that hang on each other (a maximum and its place) are one number inside. Sums of f32, f64 and
integers may be taken in another order than the loops'; all else that a body combines is in theirs. Operations of f16 and bf16 are
rounded one by one. `fastmath` is a permission that is not made use of. What the language leaves open is what StableHLO says: a
division of integers by 0 has all bits set, a conversion to an integer keeps within it. `cf.assert` is not checked: places in
`tensor.extract`, `insert` and slices are kept within their tensor. What nothing is stored in where parts of a `tensor.empty` are
is 0. `ml_program.global` is passed over as long as nothing reads it.

`scf.if`, `scf.for` and `scf.while` are what [StableHLO's](control-flow.md) are: what constants decide is written out, what data
decide the engine's host program turns and chooses. Not read: `memref`, extents that come at run time, `scf.index_switch`,
`forall` and `parallel`, `linalg.softmax`, `pack` and `unpack`.

TOSA is taken to these dialects by MLIR's own conversions, in the process that parses the text, and goes on from there; the
operators that are read are listed last. Integers are computed by the specification's formulas: `rescale` to the bit, in one
rounding or two.

| operator | attributes | |
| --- | --- | --- |
"""
PAGES = {"stablehlo": STABLEHLO, "linalg": LINALG}


def page(name):
    text = re.sub(r"^(//|#).*$", "", (FRONTEND / name / f"{name}.def").read_text(), flags=re.M)
    rows = []
    for m in re.finditer(r'\b(?:SCALAR_OP|STRUCTURED)\("([\w.]+)",(?: \d,)? "([^"]*)"\)', text):
        rows.append((m.group(1), "", m.group(2)))
    for m in re.finditer(r'\b(?:OP|ELEMENT)\("([\w.]+)",[^"]*"([^"]*)",\s*(?:\w+,\s*)?"([^"]*)"\)', text):
        names = ", ".join(a.split(":")[0] + ("?" if a.endswith("?") else "") for a in m.group(2).split())
        rows.append((m.group(1), names, m.group(3)))
    if name == "linalg":
        rows += re.findall(r'\bTOSA\("([\w.]+)", ()"([^"]*)"\)', (FRONTEND / name / "tosa.def").read_text())
    return PAGES[name] + "".join(f"| `{name}` | {attributes} | {about} |\n" for name, attributes, about in sorted(rows, key=lambda row: (row[0].startswith("tosa."), row)))


def main():
    stale = 0
    for name in PAGES:
        target = HERE / f"{name}.md"
        if "--check" not in sys.argv:
            target.write_text(page(name))
        elif not target.exists() or target.read_text() != page(name):
            print(f"sdk-docs/{name}.md is not what {name}.def says: run sdk-docs/stablehlo.py")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
