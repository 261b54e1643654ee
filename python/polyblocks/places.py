"""Which line of Python a line of a module's text comes from, by the locations in the same text printed with them."""

import os
import re

OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
REFERENCE = re.compile(r"#loc\d*\b")
FILE = re.compile(r'"([^"]+\.py[^"]*)":(\d+)')
AT_END = re.compile(r"loc\((#loc\d*|.*)\)\s*$")


class Places:
    """`places(line)`: "FILE:LINE", None: nothing is known. The text is asked for when it is needed: `text()`, with the locations."""

    def __init__(self, text):
        self.text, self.lines, self.aliases = text, None, None

    def read(self):
        lines = self.text().splitlines()
        first = next((k for k, line in enumerate(lines) if not line.startswith("#")), 0)
        self.aliases = dict(re.match(r"(#loc\d*) = (.*)", line).groups() for line in lines if re.match(r"#loc\d* = ", line))
        self.lines = lines[first:]

    def __call__(self, line):
        if self.lines is None:
            self.read()
        return self.of_line(line, 0)

    def of_line(self, line, depth):
        """Of a function that says nothing of files: where it is called."""
        found = AT_END.search(self.lines[line - 1]) if 0 < line <= len(self.lines) else None
        place = self.file_in(found.group(1), 0) if found else None
        if place or not found or depth == 8:
            return place
        above = (re.search(r'"func.func".*sym_name = "([^"]*)"', text) for text in reversed(self.lines[:line]))
        name = next((function.group(1) for function in above if function), None)
        call = re.compile(rf"callee = @{re.escape(name or '')}\b")
        calls = (k for k, text in enumerate(self.lines, 1) if name and "func.call" in text and call.search(text))
        return next((place for place in (self.of_line(k, depth + 1) for k in calls) if place), None)

    def file_in(self, location, depth):
        """The first file that a location names, but the package's own: of a call, the place in what is called."""
        for part in re.finditer(f"{FILE.pattern}|{REFERENCE.pattern}", location):
            if part.group(1):
                if part.group(1).startswith(OWN):
                    continue
                return f"{part.group(1)}:{part.group(2)}"
            inner = self.aliases.get(part.group(0))
            place = self.file_in(inner, depth + 1) if inner and depth < 40 else None
            if place:
                return place
        return None
