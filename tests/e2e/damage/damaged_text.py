"""Texts of StableHLO and of linalg, and seeded damage to them: what a hand may do to a text (numbers, types, operators, operands,
lines), and what a disk may (letters)."""

import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TESTS = HERE.parent.parent
MOST_BYTES = 24000  # of a text to be damaged
NUMBERS = [0, 1, 2, 3, 5, 7, 8, -1, 1 << 31, 1 << 40, -(1 << 63)]
ELEMENTS = ["f32", "f16", "bf16", "f64", "i1", "i8", "i16", "i32", "i64", "ui8", "ui32", "ui64", "complex<f32>", "f8E4M3FN", "i4", "index"]
LIKE = [  # operators of the same operands, and words of the same attribute
    "add subtract multiply divide maximum minimum power remainder atan2 and or xor shift_left shift_right_arithmetic shift_right_logical",
    "abs negate exponential log sqrt rsqrt tanh logistic sine cosine floor ceil sign cbrt tan exponential_minus_one log_plus_one not popcnt",
    "EQ NE LT LE GT GE", "FLOAT SIGNED UNSIGNED TOTALORDER",
    "addf subf mulf divf maximumf minimumf maxnumf remf", "addi subi muli andi ori xori maxsi minsi maxui shli shrsi shrui divsi remsi",
    "absf exp log sqrt tanh erf floor ceil sin cos", "parallel reduction", "slt sle sgt sge eq ne ult", "olt ole ogt oge oeq une",
]
ALIKE = {word: [w for w in row.split() if w != word] for row in LIKE for word in row.split()}
WORDS = re.compile(rb"[a-z_]+\.[a-z_0-9]+|%\w+|#map\d*|[fi]\d\d|array<i64[^>]*>")


def stablehlo_seeds(every=3):
    """(name, text) of the conformance suite's files, of loops and branches, and of open dims."""
    sys.path.insert(0, str(TESTS / "stablehlo"))
    import suite
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(suite.unpacked(folder).rglob("*.mlir"))[::every]:
            try:
                text = suite.Case(path).text
            except (suite.NotRead, StopIteration, AttributeError, ValueError, IndexError, KeyError):
                continue
            if len(text) <= MOST_BYTES:
                yield path.stem, text
    for path in sorted([*(TESTS / "host" / "texts").glob("*.mlir"), *(TESTS / "open" / "texts").glob("*.mlir")]):
        text = path.read_text()
        if len(text) <= MOST_BYTES:
            yield path.stem, text


def linalg_seeds():
    """(name, text) of the rows of linalg.def and tosa.def, of scf's loops, and of a layer of a BERT."""
    sys.path.insert(0, str(TESTS / "linalg"))
    import cases
    import text
    import tosa
    made = [make for module, names in ((cases, "elements conversions products windows named_elements bodies movement places"),
                                       (tosa, "elements rescales movement reductions products pools transforms resizes"))
            for make in (getattr(module, name) for name in names.split())]
    for make in made:
        for case in make():
            whole = text.module(case.inputs, case.lines, {"%r": text.tensor(case.want)})
            if len(whole) <= MOST_BYTES:
                yield case.name, whole
    loop = cases.LOOP.replace("FROM", "0").replace("STEP", "1").replace("TO", "4").replace("BOUND", "%n")
    yield from (("scf.for", loop), ("scf.while", cases.WHILE), ("scf.if", cases.BRANCH))


def one_number(data, rng):
    found = list(re.finditer(rb"(?<![\w.#%])-?\d+(?![\w.])", data))
    if found:
        m = rng.choice(found)
        data[m.start():m.end()] = str(rng.choice(NUMBERS[:8] if rng.random() < 0.8 else NUMBERS)).encode()


def one_extent(data, rng):
    """An extent becomes another wherever it stands in a type, so that shapes still agree."""
    extents = sorted(set(re.findall(rb"(?<=[<x])\d+(?=x)", data)))
    if extents:
        old = rng.choice(extents)
        new = str(rng.choice([0, 1, 2, 3, 4, 5, 7, 16, 17, 33, 100])).encode()
        data[:] = re.sub(rb"(?<=[<x])" + old + rb"(?=x)", new, bytes(data))


def one_element(data, rng):
    """A type of elements becomes another, everywhere."""
    kinds = sorted(set(re.findall(rb"(?<=[x<: ])(?:[su]?i\d+|b?f\d+)(?=[>,\s)])", data)))
    if kinds:
        old, new = rng.choice(kinds), rng.choice(ELEMENTS).encode()
        data[:] = re.sub(rb"(?<=[x<: ])" + old + rb"(?=[>,\s)])", new, bytes(data))


def one_word(data, rng):
    """An operator or a word becomes one like it."""
    found = [m for m in re.finditer(rb"[A-Za-z_]\w*", data) if m.group().decode() in ALIKE]
    if found:
        m = rng.choice(found)
        data[m.start():m.end()] = rng.choice(ALIKE[m.group().decode()]).encode()


def one_operand(data, rng):
    found = list(re.finditer(rb"%\w+(?:#\d+)?", data))
    if found:
        a, b = rng.choice(found), rng.choice(found)
        data[a.start():a.end()] = b.group()


def one_piece(data, rng):
    """A word where another stood."""
    found = list(WORDS.finditer(data))
    if found:
        a, b = rng.choice(found), rng.choice(found)
        data[a.start():a.end()] = b.group()


def one_line(data, rng):
    lines = bytes(data).split(b"\n")
    k = rng.randrange(len(lines))
    if rng.random() < 0.5:
        lines.insert(k, rng.choice(lines))
    else:
        lines.pop(k)
    data[:] = b"\n".join(lines)


def one_letter(data, rng):
    if data:
        at = rng.randrange(len(data))
        if rng.random() < 0.5:
            data[at] = rng.randrange(32, 127) if rng.random() < 0.9 else rng.randrange(256)
        else:
            del data[at:at + rng.randrange(1, 20)]


EDITS = [one_number, one_number, one_extent, one_element, one_word, one_word, one_operand, one_operand, one_piece, one_line, one_letter]


def damage_text(text, rng):
    """The text with one to three edits."""
    data = bytearray(text.encode() if isinstance(text, str) else text)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        rng.choice(EDITS)(data, rng)
    return bytes(data)
