"""No call has two arguments that change the same thing: C leaves open which of them is evaluated first, gcc takes the last and
clang the first, and what is appended there (nodes of a nest, values of a graph, draws of a generator) would come out in
another order by another compiler. Such arguments are computed in front of the call, into variables. Neither does a call in
the index of a list change what has the list: where that grows it moves, and which of them is read first is left open too.

    order.py SOURCE_FOLDER

A function changes what it takes by a pointer to a record that is not const; a macro, what its body's calls change. Memory of
an arena has no order that shows.
"""

import collections
import os
import re
import sys

FOLDERS = "core", "tdl", "targets", "tools"
UNSEEN = {"pb_arena", "char", "void", "FILE", "int", "bool", "float", "double", "unsigned", "long", "size_t"}
GROWN = r"\b(?:items|values|nests|nodes|tensors|ops)\["  # lists that move when they grow
READS = {"pb_nest_store"}  # takes what is not const for the sake of what it returns
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "defined", "__attribute__"}


def bare(text):
    """The same places without comments and strings, and each definition of a macro on one line."""
    blank = lambda m: '""' + re.sub(r"[^\n]", " ", m.group()[2:]) if m.group()[0] in "\"'" else re.sub(r"[^\n]", " ", m.group())  # noqa: E731
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.DOTALL)
    return text.replace("\\\n", "  ")


def changed_by(parameters):
    found = re.findall(r"(?:^|,)\s*((?:\w+\s+)*?)(\w+)\s*\*+\s*\w*(?=\s*(?:,|$|\[))", parameters)
    return {name for qualifiers, name in found if "const" not in qualifiers.split() and name not in UNSEEN and not name.endswith("_t")}


def arguments(text, opened):
    """The spans between the commas of the list that is opened there, and its end."""
    depth, start, spans = 0, opened + 1, []
    for k in range(opened, len(text)):
        c = text[k]
        depth += (c in "([{") - (c in ")]}")
        if depth == 1 and c == ",":
            spans.append((start, k))
            start = k + 1
        if depth == 0:
            return spans + [(start, k)], k
    return spans, len(text)


def calls(text, start, end):
    for m in re.finditer(r"\b([A-Za-z_]\w*)\s*\(", text[start:end]):
        if m.group(1) not in KEYWORDS:
            yield m.group(1), start + m.start(), start + m.end() - 1


class Names:
    """What functions and macros change."""

    def __init__(self, outer=None):
        self.changes = collections.defaultdict(set, outer.changes if outer else {})

    def read(self, text):
        code = re.sub(r"^\s*#\s*define[^\n]*", "", text, flags=re.MULTILINE)
        for m in re.finditer(r"^(?!\s*return\b)[\w \t*]*[\w*]\s+\**(\w+)\(([^()]*)\)\s*(?:[{;]|__attribute__)", code, re.MULTILINE):
            self.changes[m.group(1)] = changed_by(re.sub(r"\s+", " ", m.group(2)))
        for m in re.finditer(r"^\s*#\s*define\s+(\w+)\([^()]*\)([^\n]*)", text, re.MULTILINE):
            self.changes[m.group(1)] = self.within(text, *m.span(2))

    def within(self, text, start, end):
        """What the calls of a span change, all together."""
        return set().union(*(self.changes[name] for name, _, _ in calls(text, start, end) if name in self.changes and name not in READS))


def main():
    root = sys.argv[1]
    sources = {}
    for top in FOLDERS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        sources[path] = file.read()
    texts = {path: bare(text) for path, text in sources.items()}
    shared = Names()
    for _ in range(2):  # macros of one header may stand on another's
        for path in sorted(texts):
            if path.endswith(".h"):
                shared.read(texts[path])
    failed = seen = 0
    for path, text in sorted(texts.items()):
        names = Names(shared)
        names.read(text)
        for name, at, opened in calls(text, 0, len(text)):
            spans, _ = arguments(text, opened)
            counts = collections.Counter(what for span in spans for what in names.within(text, *span))
            seen += bool(counts)
            for what in sorted(what for what, count in counts.items() if count > 1):
                failed += 1
                print(f"{os.path.relpath(path, root)}:{sources[path].count(chr(10), 0, at) + 1}: two arguments of {name} change a {what}")
        for m in re.finditer(GROWN, text):
            _, end = arguments(text, m.end() - 1)
            for what in sorted(names.within(text, m.end(), end)):
                seen, failed = seen + 1, failed + 1
                print(f"{os.path.relpath(path, root)}:{sources[path].count(chr(10), 0, m.start()) + 1}: an index into a list changes a {what}")
    print(f"{seen} calls whose arguments change something: {failed} in an order that C leaves open")
    return int(failed > 0 or not seen)


if __name__ == "__main__":
    sys.exit(main())
