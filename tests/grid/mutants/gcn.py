"""Mistakes in AMD's code objects, a word each: waits that are not there, other masks, comparisons, offsets and numbers, too few
registers. Where instructions begin LLVM's disassembler says."""

import re
import shutil
import struct
import subprocess
import tempfile

OBJDUMP = shutil.which("llvm-objdump-22") or shutil.which("llvm-objdump") or "/usr/lib/llvm-22/bin/llvm-objdump"
NOTHING = 0xBF800000  # s_nop 0
AMD = 224  # the machine in an ELF header
# One comparison for another, by the low three bits of the opcode: lt and le, gt and ge, eq and the one of both that is not.
OTHER = {1: 3, 3: 1, 4: 6, 6: 4, 2: 5, 5: 2}


def objects(engine):
    """The code objects that the engine's file has."""
    with open(engine, "rb") as file:
        data = file.read()
    for found in re.finditer(b"\x7fELF\x02", data):
        head = data[found.start() : found.start() + 64]
        if len(head) == 64 and struct.unpack_from("<H", head, 18)[0] == AMD:
            sections, size, count = struct.unpack_from("<Q", head, 40)[0], *struct.unpack_from("<HH", head, 58)
            yield data[found.start() : found.start() + sections + size * count]


def sections_of(elf):
    """(type, address, offset, bytes, link) of each."""
    first, (size, count) = struct.unpack_from("<Q", elf, 40)[0], struct.unpack_from("<HH", elf, 58)
    for k in range(count):
        _, kind, _, address, offset, size_of, link = struct.unpack_from("<IIQQQQI", elf, first + k * size)
        yield kind, address, offset, size_of, link


def place_of(elf, address):
    """The byte of the file that lies at the address."""
    return next(address - a + at for kind, a, at, size, _ in sections_of(elf) if kind == 1 and a and a <= address < a + size)


def symbols_of(elf):
    sections = list(sections_of(elf))
    for kind, _, at, size, link in sections:
        if kind == 11:  # dynamic symbols
            for k in range(at, at + size, 24):
                name, value = struct.unpack_from("<I", elf, k)[0], struct.unpack_from("<Q", elf, k + 8)[0]
                text = elf[sections[link][2] + name :]
                yield text[: text.index(b"\0")].decode(), value


def instructions_of(elf):
    """(kernel, text, address, first words) of each."""
    with tempfile.NamedTemporaryFile(suffix=".hsaco") as file:
        file.write(elf)
        file.flush()
        said = subprocess.run([OBJDUMP, "-d", file.name], capture_output=True, text=True, check=True).stdout
    kernel = None
    for line in said.splitlines():
        begun = re.match(r"[0-9a-f]+ <(\w+)>:", line)
        kernel = begun[1] if begun else kernel
        found = re.match(r"\s+(\S.*?)\s+// ([0-9A-F]+): ([0-9A-F ]+)", line)
        if found and kernel:
            yield kernel, found[1], int(found[2], 16), [int(w, 16) for w in found[3].split()]


def other_mask(text, word):
    if re.match(r"s_and_saveexec|s_or_saveexec|s_andn2_saveexec", text) or re.match(r"s_(or|and|andn2|xor)_b(32|64) exec", text):
        return NOTHING
    if word >> 25 == 0x3E and (word >> 17 & 0xFF) >= 0xC0:  # VOPC of integers: numbers of iterations and lanes
        low = word >> 17 & 7
        return word ^ (low ^ OTHER[low]) << 17 if low in OTHER else None
    if re.match(r"s_cmp_(lt|le|gt|ge)_", text):
        change = {2: 3, 3: 2, 4: 5, 5: 4, 8: 9, 9: 8, 10: 11, 11: 10}.get(word >> 16 & 0x7F)
        return word & 0xFF80FFFF | change << 16 if change is not None else None
    return None


def other_number(text, words, draw):
    """(which word, another one)"""
    by = draw.choice([-64, -4, 4, 64, 256])
    if words[0] >> 26 == 0x37 and len(words) == 2:  # flat and global: an offset of 13 bits
        return 0, words[0] & ~0x1FFF | (words[0] & 0x1FFF) + by & 0x1FFF
    if words[0] >> 26 == 0x30 and len(words) == 2 and "null" not in text:  # scalar loads: of 21
        return 1, words[1] & ~0x1FFFFF | (words[1] & 0x1FFFFF) + abs(by) & 0x1FFFFF
    if re.match(r"v_(lshlrev|mul|mad|add|and)_", text) and words[0] >> 31 == 0 and 129 <= words[0] & 0x1FF < 192:  # VOP2 of a small number
        return 0, words[0] + 1
    return None


def mutants(engine, draw):
    """(kind, kernel, what, what the driver is told)"""
    for elf in objects(engine):
        descriptors = {name.removesuffix(".kd"): place_of(elf, value) for name, value in symbols_of(elf) if name.endswith(".kd")}
        for kernel, text, address, words in instructions_of(elf):
            at = place_of(elf, address)
            told = f"code {kernel} {at:x} {words[0]:x}"
            if text.startswith(("s_waitcnt", "s_barrier")):
                yield "wait", kernel, f"{text} -> s_nop", f"{told} {NOTHING:x}"
            mask = other_mask(text, words[0])
            if mask is not None:
                yield "mask", kernel, f"{text} -> {mask:x}", f"{told} {mask:x}"
            number = other_number(text, words, draw)
            if number:
                k, word = number
                yield "index", kernel, f"{text} -> {word:x}", f"code {kernel} {at + 4 * k:x} {words[k]:x} {word:x}"
        for kernel, at in descriptors.items():
            resources = struct.unpack_from("<I", elf, at + 48)[0]
            if resources & 0x3F:  # vector registers, by eights
                yield "registers", kernel, f"{8 * (resources & 0x3F)} registers, not {8 * (resources & 0x3F) + 8}", f"code {kernel} {at + 48:x} {resources:x} {resources - 1:x}"
