"""Writes opcodes.def: which number of which encoding is which instruction, as llvm-mc's disassembler says.

    opcodes.py LLVM_MC > opcodes.def
    opcodes.py LLVM_MC gfx1100 > rdna/opcodes.def
"""

import re
import subprocess
import sys

# The first word of an encoding with number n, and the rest; operands are registers 0 and up that all allow.
CDNA = {
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

RDNA = {
    **{name: CDNA[name] for name in ("SOP2", "SOPK", "SOP1", "SOPC", "SOPP", "VOP2", "VOP1", "VOPC")},
    "SMEM": (lambda n: [0xF4000000 | n << 18, 0xF8000000], range(0x40)),
    "VOP3": (lambda n: [0xD4000000 | n << 16, 0x00000100 | 0x100 << 9 | 0x100 << 18], range(0x200, 0x400)),
    "VOP3P": (lambda n: [0xCC000000 | n << 16, 0x00000100 | 0x100 << 9 | 0x100 << 18], range(0x80)),
    "FLAT": (lambda n: [0xDC000000 | n << 18, 0x7C0000], range(0x80)),
    "SCRATCH": (lambda n: [0xDC010000 | n << 18, 0xFC0000], range(0x80)),
    "GLOBAL": (lambda n: [0xDC020000 | n << 18, 0x7C0000], range(0x80)),
    "DS": (lambda n: [0xD8000000 | n << 18, 0], range(0x100)),
    "MUBUF": (lambda n: [0xE0000000 | n << 18, 0x80000000], range(0x20, 0x40)),
    "VOPDX": (lambda n: [0xC8000100 | n << 22 | 8 << 17, 0x02000101, 0], range(0x10)),
    "VOPDY": (lambda n: [0xC8000100 | 8 << 22 | n << 17, 0x02000101, 0], range(0x20)),
}


def mnemonic(tool, processor, words, second):
    text = ",".join(f"0x{b:02x}" for w in words for b in w.to_bytes(4, "little"))
    run = subprocess.run([tool, "--disassemble", "-triple=amdgcn", f"-mcpu={processor}"], input=text, capture_output=True, text=True)
    found = re.search(r":: ([a-z]\w+)" if second else r"^\s+([a-z]\w+)", run.stdout, re.M)
    if run.stderr.strip() or not found:
        return None
    return re.sub(r"_(e32|e64|dpp|sdwa)$", "", found[1])


def main():
    processor = sys.argv[2] if len(sys.argv) > 2 else "gfx942"
    print(f"// Made by opcodes.py. OPCODE(encoding, number, instruction) of {processor}.")
    for encoding, (words, numbers) in (RDNA if processor == "gfx1100" else CDNA).items():
        for n in numbers:
            name = mnemonic(sys.argv[1], processor, words(n), encoding == "VOPDY")
            if name and not re.search("cdbg|_fork|s_rfe|perflevel|ttrace|image_|bvh", name):  # of debuggers, traps and pictures
                print(f'OPCODE({encoding}, {n:#x}, "{name}")')


main()
