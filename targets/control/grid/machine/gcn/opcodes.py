"""Writes opcodes.def: which number of which encoding is which instruction, as llvm-mc's disassembler says.

    opcodes.py LLVM_MC > opcodes.def
"""

import re
import subprocess
import sys

# The first word of an encoding with number n, and the rest; operands are registers 0 and up that all allow.
ENCODINGS = {
    "SOP2": (lambda n: [0x80000000 | n << 23], range(0x60)),
    "SOPK": (lambda n: [0xB0000000 | n << 23], range(0x20)),
    "SOP1": (lambda n: [0xBE800000 | n << 8], range(0x100)),
    "SOPC": (lambda n: [0xBF000000 | n << 16], range(0x80)),
    "SOPP": (lambda n: [0xBF800000 | n << 16], range(0x80)),
    "SMEM": (lambda n: [0xC0020000 | n << 18, 0], range(0x40)),
    "VOP2": (lambda n: [n << 25 | 0x100, 0], range(0x3E)),
    "VOP1": (lambda n: [0x7E000100 | n << 9], range(0x100)),
    "VOPC": (lambda n: [0x7C000100 | n << 17], range(0x100)),
    "VOP3": (lambda n: [0xD0000000 | n << 16, 0x00000100 | 0x100 << 9 | 0x100 << 18], range(0x1C0, 0x380)),
    "VOP3P": (lambda n: [0xD3800000 | n << 16, 0x00000100 | 0x100 << 9 | 0x100 << 18], range(0x80)),
    "FLAT": (lambda n: [0xDC000000 | n << 18, 0], range(0x80)),
    "GLOBAL": (lambda n: [0xDC008000 | n << 18, 0x7F0000], range(0x80)),
    "SCRATCH": (lambda n: [0xDC004000 | n << 18, 0x7F0000], range(0x80)),
    "DS": (lambda n: [0xD8000000 | n << 17, 0], range(0x100)),
}


def mnemonic(tool, words):
    text = ",".join(f"0x{b:02x}" for w in words for b in w.to_bytes(4, "little"))
    run = subprocess.run([tool, "--disassemble", "-triple=amdgcn", "-mcpu=gfx942"], input=text, capture_output=True, text=True)
    found = re.search(r"^\s+([a-z]\w+)", run.stdout, re.M)
    if run.stderr.strip() or not found:
        return None
    return re.sub(r"_(e32|e64|dpp|sdwa)$", "", found[1])


def main():
    print("// Made by opcodes.py. OPCODE(encoding, number, instruction) of gfx942.")
    for encoding, (words, numbers) in ENCODINGS.items():
        for n in numbers:
            name = mnemonic(sys.argv[1], words(n))
            if name and not re.search("cdbg|_fork|s_rfe|perflevel|ttrace", name):  # of debuggers and traps
                print(f'OPCODE({encoding}, {n:#x}, "{name}")')


main()
