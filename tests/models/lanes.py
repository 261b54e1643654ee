"""Transformers in int8 on chips of other widths than simnpu's: its description with rows of so many lanes, so that heads end
inside a row. The outputs have the bits of the NumPy reference.

    lanes.py --bin BUILD/bin --lanes N --nets bert,... [--size small|layer]
"""

import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402
from metamorphic import replace  # noqa: E402


def widen(text, lanes):
    """A chip of so many lanes, with the memories that its rows need."""
    text = replace(text, r"defvar D = \d+;", f"defvar D = {lanes};")
    text = replace(text, r"!mul\(256, 1024\)", "!mul(1024, 1024)")
    text = replace(text, r"!mul\(2048, 4\)", f"!mul({min(2048, 262144 // lanes)}, 4)")
    for narrow, wide in ((r"bits<6> nn;", "bits<9> nn;"), (r"let Inst\{180-175\} = nn;", "let Inst{224-216} = nn;"),
                         (r"let Inst\{134-129\} = nn;", "let Inst{137-129} = nn;"),
                         (r"bits<6> nk; bits<8> w;", "bits<9> nk; bits<10> w;"),
                         (r"let Inst\{55-50\} = nk; let Inst\{63-56\} = w;", "let Inst{58-50} = nk; let Inst{68-59} = w;"),
                         (r"bits<3> nt; bits<8> w;", "bits<3> nt; bits<10> w;"),
                         (r"let Inst\{75-68\} = w;", "let Inst{77-68} = w;")):
        text = replace(text, narrow, wide)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--lanes", type=int, required=True)
    parser.add_argument("--nets", required=True)
    parser.add_argument("--size", default="small")
    args = parser.parse_args()
    with open(os.path.join(tools.SOURCE, "targets", "simnpu", "simnpu.td"), encoding="utf-8") as f:
        text = widen(f.read(), args.lanes)
    with tempfile.TemporaryDirectory() as folder:
        chip = os.path.join(folder, f"lanes{args.lanes}.td")
        with open(chip, "w", encoding="utf-8") as f:
            f.write(text)
        return subprocess.run([sys.executable, os.path.join(HERE, "quantised_transformers.py"), "--bin", args.bin, "--size",
                               args.size, "--net", args.nets, "--runs", f"{chip}:machine"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
