"""Single faults, drawn by a seed: one line of a file as it may become. For scripts/mutate and tests/conformance/rtl_mutants.py."""

import fnmatch
import random
import re
import subprocess

from mutate_tree import ROOT

SWAPS = [("<=", "<"), (">=", ">"), (" < ", " <= "), (" > ", " >= "), ("==", "!="), ("!=", "=="), ("&&", "||"), ("||", "&&"),
         (" + ", " - "), (" - ", " + "), (" * ", " + "), (" / ", " * "), (" % ", " / "), ("++", "--"), (" & ", " | "),
         (" << ", " >> "), ("+= ", "-= "), ("true", "false"), ("false", "true"), ("continue;", "break;")]


# In front of a number of which one more changes nothing: the size of an array that is declared or allocated, an element whose
# size is taken, bytes that are allocated (a sum or a product of them).
NOTHING = re.compile(r"(^|[;{(,\s])(?!return|else|case)[a-z_]\w* \**\w+\[[^]=]*$|^\s*(?!return|else|case)[a-z_]\w* [^=(]*\[[^]=]*$|\bPB_NEW_ARRAY\([^;]*$|\bsizeof [^;,()]*$"
                     r"|\b([mc]|re|pb_)alloc\((?:[^;?%/\[-]|->)*$")
# The smaller or larger of two whole numbers: where both are equal, either is the same number, so `<` and `<=` are too. So is
# what is compared with one more: `x < 1 ? 1 : x` and `x < 2 ? 1 : x`.
SPELT = r"(?<![\w.>\])])([\w.]+(?:->[\w.]+|\[[\w.]+\])*)"
EITHER = [re.compile(rf"{SPELT}( [<>]=? )([\w.]+(?:->[\w.]+|\[[\w.]+\])*) \? (?:\1 : \3|\3 : \1)(?![\w.\[(+*/%-]| [-+*/%&|<>=?])"),
          re.compile(rf"\bif \({SPELT}( [<>]=? )([\w.]+(?:->[\w.]+|\[[\w.]+\])*)\) (?:\1 = \3|\3 = \1);")]
FREES = re.compile(r"\s*\w*free\(.*\);\s*$")
NONE = re.compile(r"(?<![\w)\]])-$")  # in front of the 1 of what is not there: -2 is not there either, 0 is


def code_of(line):
    """The line without its comment; strings stay, for their quotes keep places apart."""
    return re.split(r"//|/\*", line)[0]


def faults_of(line, whole=False):
    """Every line that this one may become, and what was done; whole: the file has no numbers with signs of zero."""
    code, comment = code_of(line), line[len(code_of(line)):]
    strings = [m.span() for m in re.finditer(r'"(?:\\.|[^"\\])*"', code)]
    inside = lambda at: any(a <= at < b for a, b in strings)  # noqa: E731
    either = [m for pattern in EITHER for m in pattern.finditer(code)] if whole else []
    at_least = [m.start(3) for m in either if m.group(2) == " < "]
    for old, new in SWAPS:
        for m in re.finditer(re.escape(old), code):
            if any(e.start(2) <= m.start() and m.end() <= e.end(2) for e in either):
                continue
            if not inside(m.start()) and code[m.end():m.end() + 1] not in ("=", ">"):
                yield code[: m.start()] + new + code[m.end():] + comment, f"{old.strip()} became {new.strip()}"
    for m in re.finditer(r"(?<![\w.'])\d+(?![\w.'])", code):
        front = code[: m.start()]
        if inside(m.start()) or NOTHING.search(front) or m.start() in at_least:
            continue
        if m.group() == "1" and NONE.search(front):
            yield front[:-1] + "0" + code[m.end():] + comment, "-1 became one more"
        else:
            yield front + str(int(m.group()) + 1) + code[m.end():] + comment, f"{m.group()} became one more"
    m = re.search(r"\bif \((.*)\)(?= [\w{]|$)", code.rstrip())
    if m and code.count("(") == code.count(")"):
        yield code[: m.start(1)] + f"!({m.group(1)})" + code[m.end(1):] + comment, "a condition was negated"
    if re.match(r"\s+[\w>.\[\]*-]+(\(.*\)| [-+|&^]?= .*);\s*$", code) and not re.match(r"\s+(return|static|const)\b", code):
        yield re.match(r"\s*", code).group() + ";\n", "the line was dropped"


def places(patterns):
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [name for name in files if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def draw(rng, files):
    """One fault: file, line, the new text, what was done. Lines count the same, whichever file they are in."""
    while True:
        name = rng.choices([f for f, _ in files], [len(lines) for _, lines in files])[0]
        lines = dict(files)[name]
        number = rng.randrange(len(lines))
        if lines[number].lstrip().startswith(("//", "#", "*", "`")):
            continue
        found = list(faults_of(lines[number], whole=not any(re.search(r"\b(double|float)\b", line) for line in lines)))
        if found:
            return name, number, *rng.choice(found)


def fault_of(seed, number, files):
    """The fault of that number: the seed's, whatever was drawn before."""
    name, at, text, what = draw(random.Random(f"{seed} {number}"), files)
    return {"number": number, "file": name, "line": at + 1, "was": dict(files)[name][at], "now": text, "what": what}
