"""Writes sdk-docs/stablehlo.md from the rows of core/frontend/stablehlo/stablehlo.def; --check: is it what they say?"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROWS = HERE.parent / "core" / "frontend" / "stablehlo" / "stablehlo.def"
HEAD = """# StableHLO and CHLO

Made by `sdk-docs/stablehlo.py` from `core/frontend/stablehlo/stablehlo.def`, one row an operator.

`pbc MODEL.mlir --target=cpu -o x.pbe` reads a module in MLIR's generic text (`stablehlo-opt --mlir-print-op-generic`; of JAX
`jax.jit(f).lower(x).compiler_ir('stablehlo').operation.get_asm(print_generic_op_form=True)`). Arguments of `@main` are inputs
`arg0`, `arg1`, ..., its results outputs `out0`, ... Operators that are not here are all named at once. Types: i1, signed and
unsigned integers of 8 to 64 bits, f16, bf16, f32, f64, with all extents known and none 0; complex numbers of f32 and f64
travel as pairs along one more dim, the last. bf16 in `.npy` files is `|V2`, or integers of two bytes.

An f16 or bf16 is worked on as f32 and rounded once where an operator ends; sums of products are taken in f32. Integers wrap;
a division by 0 has all bits set, a shift by all bits or more leaves nothing but the sign. Conversions round once; to
integers they go towards 0 and keep within the type, NaN is 0. What a reduction's body combines goes in the order of the
loops, but sums, which the planner may take in another. A sort takes time with the square of the length; a scan that is
written as a window of the whole length too.

What passes of StableHLO's conformance suite: [conformance.md](conformance.md).

| operator | attributes | |
| --- | --- | --- |
"""


def page():
    text = re.sub(r"^(//|#).*$", "", ROWS.read_text(), flags=re.M)
    rows = []
    for m in re.finditer(r'SCALAR_OP\("([\w.]+)", \d, "([^"]*)"\)', text):
        rows.append((m.group(1), "", m.group(2)))
    for m in re.finditer(r'\bOP\("([\w.]+)",[^"]*"([^"]*)",\s*\w+,\s*"([^"]*)"\)', text):
        names = ", ".join(a.split(":")[0] + ("?" if a.endswith("?") else "") for a in m.group(2).split())
        rows.append((m.group(1), names, m.group(3)))
    return HEAD + "".join(f"| `{name}` | {attributes} | {about} |\n" for name, attributes, about in sorted(rows))


def main():
    target = HERE / "stablehlo.md"
    if "--check" in sys.argv:
        if target.read_text() == page():
            return 0
        print("sdk-docs/stablehlo.md is not what stablehlo.def says: run sdk-docs/stablehlo.py")
        return 1
    target.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
