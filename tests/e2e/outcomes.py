"""What conformance suites came to, pinned: a file of lines `TEST RESULT` for every test that does not simply pass. A test that
is refused today and was not is a failure like a wrong one; one that passes and was refused wants the file made anew."""

import re


def read(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.split() for line in file)


def result(what, why):
    """passed, bound, skipped or failed; of a refusal its code too."""
    code = re.search(r"\[(PB\d+)\]", why) if what == "refused" else None
    return f"{what}:{code.group(1)}" if code else what


def moved(pins, seen):
    """A line for every test of `seen` that came to something else. Failures are told apart anyway."""
    return [f"moved: {name}: {now}, pinned {pins.get(name, 'passed')}" for name, now in seen.items()
            if now != pins.get(name, "passed") and now != "failed"]


def write(path, seen, whole=False):
    """whole: with those that pass"""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{name} {now}\n" for name, now in sorted(seen.items()) if whole or now != "passed")
