"""The operators of S1 as --emit=s1 prints them, for graphs that hold every kind of them between them, pinned in s1_text.txt.
A change of the text is meant: --write makes the file anew.

    s1_text.py --bin BUILD/bin [--write]
"""

import argparse
import difflib
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import onnx  # noqa: E402
import function_cases  # noqa: E402, F401  (registers its cases)
import quantised_cases  # noqa: E402
import transformer_cases  # noqa: E402, F401  (the same)
import typed_cases  # noqa: E402, F401  (the same)
from float_cases import CASES  # noqa: E402

ALWAYS = "functions_32", "silu_steps_16"  # each function is one table
PINS = os.path.join(tools.HERE, "pins", "s1_text.txt")


def graphs():
    for make in CASES:
        yield make.name, lambda make=make: make().model
    for name in quantised_cases.CASES:
        yield name, lambda name=name: quantised_cases.make(name).model()


def text_of(args, folder, model):
    file = os.path.join(folder, "m.onnx")
    onnx.save(model, file)
    return tools.run([os.path.join(args.bin, "pbc"), file, "--target=cpu:avx512", "--emit=s1"])


def chosen(args, folder):
    """The names of few graphs that hold every operator and every field that all graphs hold; and those of functions."""
    told = {name: set(re.findall(r" = (\w+) | (\w+)=", text_of(args, folder, make()))) for name, make in graphs()}
    seen, names = set(), [*ALWAYS]
    for name, words in sorted(told.items(), key=lambda item: -len(item[1])):
        if words - seen and name not in ALWAYS:
            seen |= words
            names.append(name)
    return names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--write", action="store_true", help="pin what is printed now")
    args = parser.parse_args()
    by_name = dict(graphs())
    with tempfile.TemporaryDirectory() as folder:
        if args.write:
            names = chosen(args, folder)
        else:
            with open(PINS, encoding="utf-8") as file:
                pinned = dict(part.split("\n", 1) for part in re.split(r"^== ", file.read(), flags=re.MULTILINE)[1:])
            names = list(pinned)
        now = {name: text_of(args, folder, by_name[name]()) for name in names}
    if args.write:
        with open(PINS, "w", encoding="utf-8") as file:
            file.writelines(f"== {name}\n{text}" for name, text in now.items())
        return 0
    failed = 0
    for name, text in now.items():
        if text != pinned[name]:
            failed += 1
            print(f"FAILED {name}:", *difflib.unified_diff(pinned[name].splitlines(), text.splitlines(), "pinned", "now", lineterm="", n=0), sep="\n")
    print(f"{len(now)} graphs: {failed} printed otherwise")
    return int(failed > 0 or not now)


if __name__ == "__main__":
    sys.exit(main())
