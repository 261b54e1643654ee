"""Which tests run which line: gcov's counters, kept apart for each test. For scripts/mutate."""

import collections
import hashlib
import json
import os
import shutil
import subprocess


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


class Lines:
    """What each test runs of the files in a copy of the tree, as last measured."""

    def __init__(self, copy, build, at):
        self.copy, self.build, self.at = copy, os.path.join(copy, build), at
        self.tests, self.files, self.codes = {}, {}, {}
        if os.path.exists(at):
            with open(at) as file:
                known = json.load(file)
            self.tests, self.files = known["tests"], known["files"]  # test: seconds and lines by file; file: its digest
            self.codes = {name: set(lines) for name, lines in known["codes"].items()}

    def save(self):
        with open(self.at + ".new", "w") as file:
            json.dump({"tests": self.tests, "files": self.files, "codes": {k: sorted(v) for k, v in self.codes.items()}}, file)
        os.replace(self.at + ".new", self.at)

    def read(self, folder):
        """What the counters in folder say, by file: lines that have code, and those that ran. The folder goes."""
        data, ran = [], collections.defaultdict(lambda: (set(), set()))
        for at, _, names in os.walk(folder):
            for name in names:
                source = os.path.join(os.sep, os.path.relpath(at, folder), name)  # where the object is
                if "/tests/" not in source and "/tools/" not in source:
                    notes = source[: -len("gcda")] + "gcno"
                    os.symlink(notes, os.path.join(at, name[: -len("gcda")] + "gcno"))
                    data.append(os.path.join(at, name))
        for first in range(0, len(data), 50):
            told = subprocess.run(["gcov", "--json-format", "--stdout", *data[first:first + 50]], capture_output=True, cwd=self.build, check=True)
            for document in told.stdout.splitlines():
                for file in json.loads(document)["files"]:
                    name = os.path.relpath(os.path.join(self.build, file["file"]), self.copy)
                    if name.endswith(".c"):
                        ran[name][0].update(line["line_number"] for line in file["lines"])
                        ran[name][1].update(line["line_number"] for line in file["lines"] if line["count"])
        shutil.rmtree(folder, ignore_errors=True)
        return ran

    def add(self, test, seconds, passed, ran):
        """What `read` said of a test."""
        for name, (codes, _) in ran.items():
            self.codes.setdefault(name, set()).update(codes)
            self.files[name] = digest(os.path.join(self.copy, name))
        self.tests[test] = {"seconds": seconds, "passed": passed, "ran": {name: sorted(lines) for name, (_, lines) in ran.items()}}

    def place(self, name, line, text):
        """The line whose counter counts for this one: its own, or that of the statement above; None: a table's."""
        codes = self.codes.get(name, set())
        for at in range(line, max(0, line - 15), -1):
            if at in codes:
                return at
            if text[at - 1].startswith("}"):
                break
        return None

    def reach(self, name, line, text):
        """(tests that run the line, by time; whether the line has a counter at all)."""
        fresh = self.files.get(name) == digest(os.path.join(self.copy, name))
        place = self.place(name, line, text) if fresh else None
        found = [test for test, told in self.tests.items() if told["passed"] and name in told["ran"]
                 and (place is None or place in told["ran"][name])]
        return sorted(found, key=lambda test: self.tests[test]["seconds"]), place is not None

    def dead(self):
        """file: lines that have code and that no test runs."""
        live = collections.defaultdict(set)
        for told in self.tests.values():
            for name, lines in told["ran"].items():
                live[name].update(lines)
        return {name: sorted(codes - live[name]) for name, codes in sorted(self.codes.items()) if codes - live[name]}
