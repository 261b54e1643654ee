"""A chip's manual in HTML: a whole page, whose links lead somewhere, with the text of the Markdown, whatever is in it.

    manual.py --bin BUILD/bin FILE.td...
"""

import argparse
import html.parser
import os
import re
import subprocess
import sys
import tempfile

VOID = {"meta"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.ids, self.text, self.tables = [], [], set(), "", 0
        self.heads = 0  # rows of headings
        self.last = ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        self.tables += tag == "table"
        self.heads += tag == "th" and self.last == "tr"
        self.last = tag
        if tag == "a":
            self.links.append(attributes["href"])
        if "id" in attributes:
            assert attributes["id"] not in self.ids
            self.ids.add(attributes["id"])

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())
        self.text += " " if tag in ("th", "td", "li") else ""

    def handle_data(self, data):
        if "main" in self.open:
            self.text += data


def words(text):
    return re.findall(r"\w+", text)


def check(args, path):
    doc = [os.path.join(args.bin, "pb-tdl"), "doc", path]
    markdown = subprocess.run(doc, check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "manual.html")
        subprocess.run([*doc, f"--out={out}"], check=True)
        text = open(out).read()
    assert text == subprocess.run([*doc, "--html"], check=True, capture_output=True, text=True).stdout
    page = Page(text)
    assert words(page.text) == words(markdown), "the page has another text than the Markdown"
    assert {link[1:] for link in page.links} == page.ids and len(page.links) == len(re.findall(r"^#+ ", markdown, re.M))
    assert page.tables == page.heads == len(re.findall(r"^\|---", markdown, re.M))
    print(f"{path}: {len(page.links)} headings, {page.tables} tables")


def check_text(args):
    """What a description says is no markup."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "chips", "vta.td")
    said = "<script>a</script> & \\\"b\\\" | c"
    with tempfile.TemporaryDirectory() as work:
        chip = os.path.join(work, "chip.td")
        old = open(path).read()
        new = re.sub(r'let Summary = "VTA[^"]*"', lambda _: f'let Summary = "{said}"', old)
        assert new != old
        open(chip, "w").write(new)
        text = subprocess.run([os.path.join(args.bin, "pb-tdl"), "doc", chip, "--html"], check=True, capture_output=True, text=True).stdout
    assert "script" not in re.findall(r"<(\w+)", text) and '<script>a</script> & "b" | c' in Page(text).text, text[:3000]
    run = subprocess.run([os.path.join(args.bin, "pb-tdl"), "doc", path, "--out=absent/m.html"], capture_output=True, text=True)
    assert run.returncode == 1 and "absent/m.html: error: cannot write" in run.stderr, run.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("chips", nargs="+")
    args = parser.parse_args()
    for path in args.chips:
        check(args, path)
    check_text(args)


if __name__ == "__main__":
    sys.exit(main())
