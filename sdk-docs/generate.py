"""Writes description-language.md from the schema tdl/pb.td and its comments, so that the page stays true.
Usage: generate.py [--check]   --check: exit code 1 if the page is not what the schema says"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "..", "tdl", "pb.td")
PAGE = os.path.join(HERE, "description-language.md")

CLASS = re.compile(r"class (\w+)(<.*>)? \{$")
FIELD = re.compile(r"  (\S+(?:<[^>]*>)?) (\w+) = (.*);\s*(?://\s*(.*))?$")
DEF = re.compile(r"def (\w+)\s*(?:: (.*?))?;\s*(?://\s*(.*))?$")

INTRODUCTION = """\
A chip is one `.td` file that begins with `include "pb.td"`, in the syntax of
[LLVM TableGen](https://llvm.org/docs/TableGen/ProgRef.html). This page is made from the schema `tdl/pb.td` by
`generate.py`. [adding-a-target.md](adding-a-target.md) shows how to write a description,
`targets/simnpu/simnpu.td` and `tests/chips/tinynpu.td` are whole ones, and `pb-tdl check FILE.td` names every fault.
`include "codes.td"` behind it has words for chips that come with codes of -128 to 127 and with codes of 0 to 255, as
`tests/chips/tpu_v1.td` does.

In the tables, `required` means that the field has no default.
"""


class Page:
    def __init__(self):
        self.lines, self.table, self.operators = [], False, False

    def text(self, *lines):
        self.table = self.operators = False
        self.lines += [*lines, ""]

    def row(self, head, *cells):
        if self.table != head:
            if self.table:
                self.lines.append("")
            self.lines += ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
            self.table = head
        self.lines.append("| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |")

    def end_table(self):
        if self.table:
            self.lines.append("")
        self.table = False


def template_arguments(text):
    """`int max, string count = ""` to [("int", "max", None), ("string", "count", '""')]."""
    depth, part, parts = 0, "", []
    for c in text:
        depth += (c in "<[(") - (c in ">])")
        if c == "," and not depth:
            parts.append(part)
            part = ""
        else:
            part += c
    found = []
    for p in [*parts, part]:
        declared, _, default = p.partition("=")
        kind, name = declared.strip().rsplit(" ", 1)
        found.append((kind, name, default.strip() or None))
    return found


def prose(comments):
    """Comment lines as Markdown: lines that are set further in are code."""
    out, code = [], False
    for c in comments:
        inside = c.startswith("   ")
        if inside != code:
            out += ["", "```"] if inside else ["```", ""]
        code = inside
        out.append(c.strip() if inside else c.strip().replace("<", "\\<"))
    return out + (["```"] if code else [])


def value(text, arguments):
    if text == "?":
        return "required"
    for _, name, default in arguments:
        if text == name:
            return f"the argument `{name}`" + (f", default `{default}`" if default else "")
    return f"`{text}`"


def class_part(page, lines, at, match, comments):
    """One class; returns the index of the line behind it."""
    name, template = match.group(1), match.group(2)
    page.end_table()
    arguments = template_arguments(template[1:-1]) if template else []
    shown = ", ".join(f"{kind} {n}" + (f" = {d}" if d else "") for kind, n, d in arguments)
    page.text(f"### {name}", *([] if not shown else ["", f"`{name}<{shown}>`"]))
    if comments:
        page.text(*prose(comments))
    pending = []
    while lines[at] != "}":
        line = lines[at]
        at += 1
        field = FIELD.match(line)
        if line.strip().startswith("//"):
            pending.append(line.strip()[2:].strip())
        elif field:
            kind, field_name, default, meaning = field.groups()
            page.row(("Field", "Type", "Default", "Meaning"), f"`{field_name}`", f"`{kind}`", value(default, arguments),
                     " ".join([*pending, meaning or ""]).strip())
            pending = []
        elif line.strip():
            raise SystemExit(f"{SCHEMA}: a line that is no field: {line}")
    page.end_table()
    return at + 1


def heading(lines, at):
    """The comment box of three lines at `at`, as (title, text, next); None when there is none."""
    if not lines[at].startswith("//===-"):
        return None
    end = at + 1
    while not lines[end].startswith("//===-"):
        end += 1
    body = [line[2:].strip() for line in lines[at + 1 : end]]
    if lines[at].startswith("//===- "):
        return re.sub(r"^//===- (.*?) -*===//$", r"\1", lines[at]), body, end + 1
    return body[0], [], end + 1


def generate():
    with open(SCHEMA, encoding="utf-8") as file:
        lines = file.read().split("\n")
    page, at, comments = Page(), 0, []
    while at < len(lines):
        line = lines[at]
        box = heading(lines, at)
        if box:
            title, body, at = box
            page.end_table()
            first = not page.lines
            page.text("# The chip description language" if first else f"## {title}")
            if first:
                page.text(*INTRODUCTION.strip().split("\n"))
                page.text(*[b for b in body])
            comments = []
            continue
        at += 1
        match, definition = CLASS.match(line), DEF.match(line)
        if line.startswith("//"):
            comments.append(line[2:])
            continue
        if match:
            at = class_part(page, lines, at, match, comments)
        elif definition:
            if comments:
                page.end_table()
                page.text(*prose(comments))
            name, kind, meaning = definition.groups()
            page.row(("Name", "Kind", "Meaning"), f"`{name}`", f"`{kind}`" if kind else "operator", meaning or "")
        elif line.startswith("defvar"):
            page.text(f"`{line.removeprefix('defvar ').rstrip(';')}`")
        elif line.strip() and not line.startswith("include"):
            raise SystemExit(f"{SCHEMA}:{at}: generate.py does not know what this is: {line}")
        comments = []
    page.end_table()
    text = "\n".join(page.lines)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def main():
    text = generate()
    if "--check" not in sys.argv[1:]:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
        return
    with open(PAGE, encoding="utf-8") as file:
        if file.read() != text:
            sys.exit(f"{PAGE}: not what tdl/pb.td says; run sdk-docs/generate.py")


if __name__ == "__main__":
    main()
