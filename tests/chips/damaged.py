"""Damaged and harmlessly edited descriptions: each is refused with its place, or the digits come out right.

    damaged.py --bin BUILD/bin [--count 60] [--from 0] [--seed 1] [--kind shared] [--chip tinynpu] [--suite] [--keep DIR] [--verbose]

Every description that compiles runs on the machine made from it, which must neither report anything nor give another
bit than the NumPy reference; a chip with a formula of its own, another bit than the processor that follows that formula.
With --suite a description that `pb-tdl check` accepts passes its conformance suite too. A harmless edit must compile.
Nothing may crash, print IR or take longer than 10 seconds (the suite: 60).
"""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CODES = os.path.join(HERE, "..", "..", "tdl", "codes.td")
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import tools  # noqa: E402

tools.require("numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from reference import Reference  # noqa: E402
from reference_fixed import powers_of_two  # noqa: E402

IMAGES, SECONDS, SUITE_SECONDS = 3, 10, 60  # of a process's own time, however busy the machine is; waiting is given six times as much
CHIPS = {"simnpu": ("../../targets/simnpu/simnpu.td", ""), "tinynpu": ("tinynpu.td", ""),
         "tinynpu_state": ("tinynpu.td", "#define STRIDES_IN_STATE\n"),
         "tinynpu_short": ("tinynpu.td", "#define SHORT_COMMANDS\n"), "tinynpu_line": ("tinynpu.td", "#define IN_A_LINE\n"),
         "tinynpu_shared": ("tinynpu.td", "#define ONE_STRIDE\n"), "tinynpu_registers": ("tinynpu.td", "#define IN_REGISTERS\n"),
         "tinynpu_4": ("tinynpu.td", "#define FOUR_LANES\n"), "tinynpu_fence": ("tinynpu.td", "#define FENCES\n"), "tinynpu_fence_loop": ("tinynpu.td", "#define FENCES\n#define LOOPS\n"),
         "tinynpu_async": ("tinynpu.td", "#define OUT_OF_ORDER\n"), "tinynpu_fence_async": ("tinynpu.td", "#define FENCES\n#define OUT_OF_ORDER\n"),
         "gemmini": ("gemmini.td", ""), "gemmini_preload": ("gemmini.td", "#define PRELOAD_SAYS\n"), "banks": ("../machine/banks.td", ""), "ascend": ("ascend.td", ""), "tpu_v1": ("tpu_v1.td", ""), "edge_npu": ("edge_npu.td", ""), "edge_npu_packed": ("edge_npu.td", "#define FLASH\n#define PACKED\n"), "edge_npu_three": ("edge_npu_three.td", ""),
         "edge_npu_palette": ("edge_npu.td", "#define FLASH\n#define PALETTE\n"), "edge_npu_palettes": ("edge_npu.td", "#define FLASH\n#define PALETTE\n#define MANY_PALETTES\n"), "edge_npu_sparse": ("edge_npu.td", "#define FLASH\n#define TWO_OF_FOUR\n"),
         "tinynpu_semaphores": ("tinynpu.td", "#define SEMAPHORES\n"), "tinynpu_events": ("tinynpu.td", "#define SEMAPHORES\n#define EVENTS\n"), "edge_npu_semaphores": ("edge_npu.td", "#define SEMAPHORES\n"),
         "nvdla": ("nvdla.td", ""), "vta": ("vta.td", ""), "floatnpu": ("floatnpu.td", ""), "integers": ("integers.td", ""),
         "bf16npu": ("bf16npu.td", ""), "bf16npu_palette": ("bf16npu.td", "#define PALETTE\n"), "bf16npu_gather": ("bf16npu.td", "#define GATHER\n"), "f8npu": ("bf16npu.td", "#define BYTES\n"), "fourcore": ("fourcore.td", ""), "fourcore_broadcast": ("fourcore.td", "#define BROADCAST\n"), "fourcore_fence_broadcast": ("fourcore.td", "#define FENCES\n#define BROADCAST\n"),
         "vectornpu": ("vectornpu.td", "")}
LIKE = {"edge_npu", "edge_npu_three", "edge_npu_semaphores", "edge_npu_packed", "edge_npu_palette", "edge_npu_palettes", "edge_npu_sparse", "nvdla", "vta", "fourcore", "fourcore_broadcast", "fourcore_fence_broadcast", "vectornpu"}  # with a formula of their own
NO_DIGITS = {"floatnpu", "integers", "bf16npu", "bf16npu_gather", "bf16npu_palette", "f8npu", "banks"}  # which run no int8 network: the suite alone says that they are right
NUMBERS = [-(1 << 31) - 1, -1, 0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 255, 256, 257, 1023, 1024, 4095,
           4096, 65535, 65536, 65537, (1 << 20), (1 << 31) - 1, 1 << 31, (1 << 32) + 1, (1 << 63) - 1, 99999999999]
NAMES = ["", " ", "a b", "a-b", 'a\\"b', "a/b", "../x", "\u00e4", "8x", "x" * 65, "x" * 5000, "%s%n", "a.b", "a;b", "\\n", "if"]


class Skip(Exception):
    """The text has no place for this damage."""


def pick(rng, items):
    items = list(items)
    if not items:
        raise Skip
    return rng.choice(items)


def put(text, match, new, group=0):
    return text[:match.start(group)] + new + text[match.end(group):]


def body(text, pattern):
    """Matches behind the includes and outside comments."""
    comments = [(m.start(), m.end()) for m in re.finditer(r"//[^\n]*", text)]
    return [m for m in re.finditer(pattern, text) if not any(a <= m.start() < b for a, b in comments)]


def fields(text):
    return sorted(set(m.group(1) for m in body(text, r"bits<\d+> (\w+);")))


# ---- damage ----


def shared(text, rng):
    """One use of a field says another field of the same block."""
    blocks = [m for m in body(text, r"(?ms)^(?:class|def) [^\n]*?\{.*?^\}")]
    block = pick(rng, [b for b in blocks if len(re.findall(r"bits<\d+> \w+;", b.group())) > 1])
    names = re.findall(r"bits<\d+> (\w+);", block.group())
    known = set(fields(text))
    uses = [m for m in body(text, r'"(\w+)"') if m.group(1) in known]
    use = pick(rng, uses)
    other = pick(rng, [n for n in names if n != use.group(1)])
    return put(text, use, other, 1), f'"{use.group(1)}" says "{other}"'


def shared_state(text, rng):
    use = pick(rng, body(text, r'StateField<"(\w+)", \w+|StateField<"(\w+)", "\w+", "(\w+)">'))
    other = pick(rng, fields(text))
    group = 3 if use.group(3) else 1
    return put(text, use, other, group), f"a state of {use.group(group)} is {other}"


def named(text, rng):
    """A name that is none."""
    place = pick(rng, body(text, r'let Name = "([^"]*)"|\bDim<"([^"]*)"|\bdef (\w+) : (?:Memory|Queue|Op|Vec|Move|Instruction)|>:\$(\w+)'))
    group = next(g for g in range(1, 5) if place.group(g) is not None)
    name = pick(rng, NAMES)
    return put(text, place, f'"{name}"' if group == 3 else name, group), f"{place.group(group)} is named {name[:20]!r}"


def extreme(text, rng):
    """A number at or past the end of what numbers can be."""
    place = pick(rng, body(text, r"(?:let \w+ = |bits<|, |!mul\(|!shl\(|defvar \w+ = |\(plus \$?\w+, )(\d+)(?=[;>,)\s])"))
    number = pick(rng, NUMBERS)
    return put(text, place, str(number), 1), f"{place.group()} becomes {number}"


def width(text, rng):
    place = pick(rng, body(text, r"bits<(\d+)> (\w+);"))
    bits = max(1, int(place.group(1)) + pick(rng, [-8, -4, -2, -1, 1, 2]))
    ranges = [m for m in body(text, rf"let Inst\{{(\d+)-(\d+)\}} = {place.group(2)};")]
    if rng.random() < 0.5 and ranges:  # both: the encoding is whole, the field narrower or over its neighbour
        for m in reversed(ranges):
            text = put(text, m, str(int(m.group(2)) + bits - 1), 1)
        place = body(text, rf"bits<{place.group(1)}> {place.group(2)};")[0]
        place = re.compile(rf"bits<({place.group()[5:].split('>')[0]})>").match(text, place.start())
    return put(text, place, str(bits), 1), f"{place.group()} of {bits} bits"


def left_out(text, rng):
    place = pick(rng, body(text, r"let \w+(?:\{[^}]*\})? = [^;{}]*;|bits<\d+> \w+;|\n(?:def|defm) [^\n]*\}(?=\n)"))
    return put(text, place, ""), f"without {place.group()[:60]!r}"


def twice(text, rng):
    place = pick(rng, body(text, r"let \w+(?:\{[^}]*\})? = [^;{}]*;|\n(?:def|defm) (\w+) [^\n]*\}(?=\n)"))
    return put(text, place, place.group() * 2), f"twice {place.group()[:60]!r}"


def operator(text, rng):
    place = pick(rng, body(text, r"\((add|sub|mul|max|min|sext|zext|sitofp|fptosi8|roundeven|set|acc_add|acc_max|plus|times|ceildiv|maximum)\b"))
    other = pick(rng, ["add", "sub", "mul", "max", "min", "sext", "zext", "sitofp", "fptosi8", "roundeven", "exp2", "set", "acc_add",
                       "acc_max", "plus", "times", "ceildiv", "maximum", "i32c 99999999999", 'f32c "abc"', "i32c -1"])
    return put(text, place, other, 1), f"{place.group(1)} becomes {other}"


def operand(text, rng):
    place = pick(rng, body(text, r"\$(\w+)(?=[\s),])"))
    other = pick(rng, {m.group(1) for m in body(text, r":\$(\w+)")})
    return put(text, place, other, 1), f"${place.group(1)} becomes ${other}"


def stride(text, rng):
    place = pick(rng, body(text, r'"(elem|row|none|\w+)"(?=[\],])'))
    other = pick(rng, ["elem", "row", "none", "1", "-3", "64"])
    return put(text, place, other, 1), f'"{place.group(1)}" becomes "{other}"'


def memory(text, rng):
    names = sorted({m.group(1) for m in body(text, r"def (\w+)\s*: Memory")})
    place = pick(rng, body(text, r"Window<(\w+),|Queue q|Op<(\w+),|Instruction<(\w+)>"))
    group = next((g for g in range(1, 4) if place.group(g)), None)
    if not group:
        raise Skip
    other = pick(rng, names if group == 1 else sorted({m.group(1) for m in body(text, r"def (\w+)\s*: Queue")}))
    return put(text, place, other, group), f"{place.group()} on {other}"


def typed(text, rng):
    place = pick(rng, body(text, r"\b(I1|I8|I32|F32)\b"))
    other = pick(rng, ["I1", "I8", "I16", "I32", "F32", "F16", "BF16"])
    return put(text, place, other, 1), f"{place.group()} becomes {other}"


def kind(text, rng):
    place = pick(rng, body(text, r"let (Scope|Kind|Control|Mover|Schema|Signed|Fill|Slot|BoxLo|BoxHi|Beside|StateOf) = ([^;]*);"))
    other = pick(rng, ['"fifo"', '"shadow"', '"registers"', '"system"', '"chip"', '"threads"', '"grid"', "0", "1", "[]", '""', '"loc"', '["zp"]'])
    return put(text, place, other, 2), f"{place.group(1)} becomes {other}"


def banks(text, rng):
    """What fills or takes banks names another place, or none; or what it does goes on beside others, or no longer."""
    windows = body(text, r'Window<\w+, \w+, \[[^\]]*\], ("\w*")')
    besides = body(text, r"let Latency = \d+;|let Beside = 1;|let Banks = \d+;")
    place = pick(rng, windows + besides)
    if place.group().startswith("Window"):
        other = pick(rng, ['""', *(f'"{name}"' for name in fields(text))])
        return put(text, place, other, 1), f"{place.group()} becomes {other}"
    other = pick(rng, ["", "let Beside = 1;", "let Banks = 2;", "let Banks = 3;", 'let StateOf = "CONFIG_EX";', 'let StateOf = "SET";'])
    return put(text, place, (place.group() if "Latency" in place.group() else "") + " " + other), f"{place.group()} becomes {other}"


def order(text, rng):
    """What puts queues in order is another thing, or says another."""
    place = pick(rng, body(text, r"(?m)^def : Tokens \{|: Fence \{|let Wait = [^;]*;|let Queues = \[[^\]]*\];|bits<\d+> on;|let Depth = \w+;|let InOrder = 0;|let Cycles = 2;|let Tokens = \w+;"))
    other = pick(rng, ["def X : Fence {", ": Fence { let Cycles = 0;", 'let Wait = "";', 'let Wait = "loc";', "let Queues = [MX, DM, VX];", "let Queues = [];",
                       "let Queues = [DM, DM];", "bits<2> on;", "bits<40> on;", "let Depth = 1;", "let Depth = 5000;", "let InOrder = 0;", "let InOrder = 1;", "let Cycles = 100000;", ""])
    return put(text, place, other), f"{place.group()} becomes {other}"


def semaphores(text, rng):
    """Others give or take what is counted, or it counts to another number."""
    place = pick(rng, body(text, r'Semaphore<(\[[\w, ]+\]), (\[[\w, ]+\]), (\d+)>|let Semaphores = (\[[^\]]*\]);|let (?:WaitBits|WaitBit|SignalBit) = (\d+);|Alone<(\w+, \w+)>|let (?:Wait|Count|Signal) = ("\w+");|bits<(\d)> (?:event|number|signal);|def \w+ : (?:WaitFor|Raise)<(\w+),'))
    group = pick(rng, [k for k in range(1, 10) if place.group(k)])
    queues = sorted({m.group(1) for m in body(text, r"def (\w+)\s*: (?:Queue|Waits|Side)\b")})
    listed = re.findall(r"\w+", place.group(group))
    other = pick(rng, {3: [0, 1, 2, 4, 15, 16, -1, 1 << 31], 5: [0, 1, 2, 3, 4, 5, 40, 170, 200, 250, -1],
                       6: [f"{a}, {b}" for a in queues for b in queues], 7: ['"event"', '"number"', '"signal"', '"loc"', '""'],
                  8: [1, 2, 3, 4, 64], 9: queues}.get(group) or
                 ["[]", "[" + ", ".join(listed[1:]) + "]", "[" + ", ".join(reversed(listed)) + "]", "[" + ", ".join([*listed, listed[0]]) + "]",
                  "[EXT]", "[" + ", ".join(queues[:2]) + "]", "[" + ", ".join(queues) + "]"])
    return put(text, place, str(other), group), f"{place.group()}: {place.group(group)} becomes {other}"


def derived(text, rng):
    """A field holds another number than it did."""
    place = pick(rng, body(text, r"bits<\d+> (\w+);"))
    form, by = rng.choice(["minus", "minus", "scaled", "log2", "less"]), pick(rng, [1, 1, 2, 16, *NUMBERS])
    what = f'DerivedField<"{place.group(1)}", "{form}", {by}>'
    return put(text, place, f"{place.group()} let Derived = [{what}];"), what


def at_once(text, rng):
    """A field that several uses share on purpose, or one that has but one."""
    place = pick(rng, body(text, r"bits<\d+> (\w+);"))
    return put(text, place, f'{place.group()} let Shared = ["{place.group(1)}"];'), f"{place.group(1)} is shared"


def garbled(text, rng):
    at = rng.randrange(len(text))
    new = rng.choice(["", text[at] * 2, "(", ")", "{", "}", '"', ";", "$", "\x00", "\u00e9", "0", "<", ">"])
    return text[:at] + new + text[at + 1:], f"character {at} becomes {new!r}"


def vast(text, rng):
    """More than llvm-tblgen is given, and nesting without end."""
    deep = rng.choice([40, 300, 3000])
    return rng.choice([
        lambda: (text + "\ndefvar R = !range(0, 2000000000);\n", "a range of 2^31"),
        lambda: (text + "\nforeach i = !range(0, 100000000) in def X#i { int A = i; }\n", "10^8 records"),
        lambda: (text.replace("(sext $x)", "(add " * deep + "(sext $x)" + ", (i32c 0))" * deep), f"{deep} deep"),
        lambda: (re.sub(r"\(plus \$i, \$j\)|\(plus \$m, 2\)", "(plus " * deep + "1" + ", 1)" * deep, text), f"cycles {deep} deep"),
    ])()


DAMAGE = {"shared": (shared, 8), "state": (shared_state, 2), "named": (named, 4), "extreme": (extreme, 8), "width": (width, 4),
          "left_out": (left_out, 5), "twice": (twice, 2), "operator": (operator, 3), "operand": (operand, 3), "stride": (stride, 3),
          "memory": (memory, 2), "typed": (typed, 3), "kind": (kind, 3), "banks": (banks, 2), "order": (order, 2), "semaphores": (semaphores, 3), "derived": (derived, 3), "at_once": (at_once, 1), "garbled": (garbled, 2), "vast": (vast, 1)}

# ---- harmless edits ----


def renamed(text, rng):
    """A field has another name wherever it is meant."""
    meant_elsewhere = r"\$({0})\b|\b(?:dag|string|int|bits<\d+>|list<\w+>) {0}[,>]"  # an operand, a parameter
    pasted = tuple({m.group(1) for m in body(text, r'#\s*"(\w+)"')})  # base # "i" is a name too
    included = open(CODES).read() if 'include "codes.td"' in text else ""  # which has lists of fields by their names
    name = pick(rng, [n for n in fields(text) if len(n) > 1 and not n.endswith(pasted) and not body(text, meant_elsewhere.format(n))
                      and f'"{n}"' not in included])
    return re.sub(rf'(bits<\d+> |"|= ){name}(?=[;"{{])', rf"\g<1>{name}_x", text), f"{name} is {name}_x"


def commented(text, rng):
    place = pick(rng, re.finditer(r";\n", text))
    return put(text, place, ";   // harmless \u00e4\n\n"), "a comment"


def told(text, rng):
    place = pick(rng, body(text, r'let Summary = "([^"]*)"'))
    return put(text, place, rng.choice(["", "|x| <y> & z", "100%", "x" * 3000]), 1), "another summary"


def faster(text, rng):
    place = pick(rng, body(text, r"let (Latency|Depth|Tokens|MHz|BytesPerCycle) = (\d+);"))
    least = {"Latency": 0}.get(place.group(1), 1)
    number = max(least, int(int(place.group(2)) * rng.choice([0.25, 0.5, 2, 3, 16])) + rng.choice([0, 1]))
    if place.group(1) in ("Depth", "Tokens"):
        number = min(number, 4095)
    return put(text, place, str(number), 2), f"{place.group()} becomes {number}"


def larger(text, rng):
    place = pick(rng, body(text, r"let CommandBytes = (\d+);|let Revision = (\d+);"))
    group = 1 if place.group(1) else 2
    number = 32 if group == 1 else rng.randint(0, 99)
    return put(text, place, str(number), group), f"{place.group()} becomes {number}"


def free_opcodes(text):
    """Those that no variant of the description has."""
    return [number for number in range(40, 63) if not re.search(rf"[<, ]{number}[,>;]", text)]


def spare(text, rng):
    """An instruction more, which nobody needs: like another, with its own opcode. What writes derived fields for readers of
    state needs one that reads them."""
    place = pick(rng, body(text, r"\ndef (\w+)( : (?:\w+)<(?:[^\n>]*, )?)(0x[0-9a-f]+|\d+)((?:, \"\w+\")?> *(?:;|\{[^\n]*\}|\{\n(?:.*\n)*?\}))"))
    if "Derived" in place.group(4) and re.search(rf'StateField<"\w+", "{place.group(1)}"', text):
        raise Skip
    high = {"0x": lambda: f"0x{rng.randint(0xe0, 0xee):x}"}.get(place.group(3)[:2], lambda: str(rng.choice(free_opcodes(text))))()
    return put(text, place, place.group() + f"\ndef {place.group(1)}_X{place.group(2)}{high}{place.group(4)}"), f"a second {place.group(1)}"


def unused(text, rng):
    place = pick(rng, body(text, r"bits<\d+> \w+;"))
    return put(text, place, place.group() + " bits<3> spare_field;"), "a field that nobody uses"


def opcode(text, rng):
    place = pick(rng, body(text, r"let Inst\{7-0\} = (0x[0-9a-f]+);|(?:Move|Vec|Code|Op)<(?:\w+, )?(\d+)[,>]"))
    if place.group(1):
        return put(text, place, f"0x{rng.randint(0xe0, 0xee):x}", 1), f"another opcode for {place.group(1)}"
    return put(text, place, str(rng.choice(free_opcodes(text))), 2), f"another opcode for {place.group(2)}"


HARMLESS = {"renamed": (renamed, 3), "commented": (commented, 1), "told": (told, 1), "faster": (faster, 4), "larger": (larger, 1),
            "spare": (spare, 4), "unused": (unused, 2), "opcode": (opcode, 2)}

ERROR = re.compile(r"^(?P<place>[^\n]*?): error: .*\[PB(?P<code>\d{4})\]$|^error: (?P<what>[^\n]*)\[PB(?P<code2>\d{4})\]$", re.M)


def refusal(stderr):
    """The code of an honest refusal, None when it is none."""
    lines = [line for line in stderr.splitlines() if "error: " in line]
    found = [ERROR.match(line) for line in lines]
    if not lines or not all(found) or "bug in the compiler" in stderr or "PB4090" in stderr:
        return None
    codes = [f.group("code") or f.group("code2") for f in found]
    placed = all(f.group("what") is not None or re.search(r"\.td(:\d+)*$|^[\w/. +-]+$", f.group("place")) for f in found)
    return codes[0] if placed else None


def limit(seconds):
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def run(command, seconds=SECONDS):
    """(code, standard error and output); None: it took too long."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=6 * seconds, preexec_fn=limit(seconds))
    except subprocess.TimeoutExpired:
        return None, "took too long"
    return done.returncode, done.stderr.decode(errors="replace") + done.stdout.decode(errors="replace")[-2000:]


def compiled(args, model, engine, *options):
    """None, or what came of it."""
    code, said = run([os.path.join(args.bin, "pbc"), model, *options, "-o", engine])
    if code == 0:
        return None
    why = refusal(said)
    return ("refused", why) if code == 1 and why else ("FAILED", f"pbc ends with {code}: {said[:300]}")


def result(args, engine, output):
    """(array, None), or (None, what came of it)."""
    code, said = run([os.path.join(args.bin, "pb-run"), engine, f"--input={args.source}", f"--output={output}"])
    if code != 0:
        return None, ("FAILED", f"pb-run ends with {code}: {said[:300]}")
    return np.load(output).reshape(args.expected.shape), None


def digits(args, like, chip, base):
    engine, output = base + ".pbe", base + ".npy"
    model = args.powers if like == "vta" else args.model
    expected = args.expected
    if like:  # what the description's formula says, whatever it says, on the processor
        bad = compiled(args, model, engine, "--target=cpu", f"--like={chip}")
        expected, bad = (None, bad) if bad else result(args, engine, output)
        if bad:
            return bad
    bad = compiled(args, model, engine, f"--target={chip}", *(["--fallback=cpu"] if like else []))
    actual, bad = (None, bad) if bad else result(args, engine, output)
    if bad:
        return bad
    wrong = np.count_nonzero(actual.view(np.int32) != expected.view(np.int32))
    return ("FAILED", f"{wrong} logits differ") if wrong else ("right", "")


def suite(args, chip):
    code, said = run([os.path.join(args.bin, "pb-tdl"), "check", chip])
    if code != 0:
        why = refusal(said)
        return ("refused", why) if code == 1 and why else ("FAILED", f"pb-tdl check ends with {code}: {said[:300]}")
    code, said = run([os.path.join(args.bin, "pb-target-test"), chip, "--no-networks", "--random=8"], SUITE_SECONDS)
    return ("right", "") if code == 0 else ("FAILED", f"pb-target-test ends with {code}: {said[:300]} ... {said[-200:]}")


def try_one(args, folder, number, name, text):
    """("right", ""), ("refused", code) or ("FAILED", why)."""
    base = os.path.join(folder, f"d{number}")
    chip = base + ".td"
    with open(chip, "w") as f:
        f.write(text)
    verdict = ("right", "")
    if args.suite or name in NO_DIGITS:
        verdict = suite(args, chip)
    if verdict[0] == "right" and name not in NO_DIGITS:
        verdict = digits(args, name if name in LIKE else None, chip, base)
    for end in (".td", ".pbe", ".npy"):
        if os.path.exists(base + end):
            os.remove(base + end)
    return verdict


def whole(path):
    """The description with what it includes of other chips."""
    with open(os.path.join(HERE, path)) as f:
        text = f.read()
    return re.sub(r'(?m)^include "(edge_npu\.td)"$', lambda m: whole(m.group(1)), text)


def draw(args, number):
    """A description by its number, whatever the order: (chip, kind, what, text)."""
    rng = random.Random(f"{args.seed}-{number}")
    chip = args.chip or rng.choice(sorted(CHIPS))
    path, head = CHIPS[chip]
    text = head + whole(path)
    kinds = dict(HARMLESS if number % 3 == 2 else DAMAGE)
    if args.kind:
        kinds = {args.kind: (DAMAGE | HARMLESS)[args.kind]}
    while True:
        name = rng.choices(list(kinds), [weight for _, weight in kinds.values()])[0]
        try:
            new, what = kinds[name][0](text, rng)
        except Skip:
            if len(kinds) == 1:
                return chip, name, "nothing to damage", text
            continue
        if new != text:
            return chip, name, what, new


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--from", dest="first", type=int, default=0, help="number of the first, of --count in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, help="this one alone")
    parser.add_argument("--kind", choices=sorted(DAMAGE | HARMLESS))
    parser.add_argument("--chip", choices=sorted(CHIPS))
    parser.add_argument("--suite", action="store_true", help="the conformance suite too")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="failing descriptions go here")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    args.model = os.path.join(tools.MODELS, "digits.onnx")
    images = np.load(os.path.join(tools.MODELS, "digits_images.npy"))[:IMAGES]
    reference = Reference(onnx.load(args.model))
    args.expected = reference.run({reference.inputs[0]: images})[reference.outputs[0]].astype(np.float32)
    numbers = [args.number] if args.number is not None else range(args.first, args.count)
    counts, failed = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        args.source = os.path.join(folder, "in.npy")
        np.save(args.source, images)
        args.powers = os.path.join(folder, "powers.onnx")
        onnx.save(powers_of_two(onnx.load(args.model)), args.powers)
        drawn = [draw(args, number) for number in numbers]
        results = pool.map(lambda n: try_one(args, folder, n[0], n[1][0], n[1][3]), zip(numbers, drawn))
        for number, (chip, name, what, text), (verdict, why) in zip(numbers, drawn, results):
            if name in HARMLESS and verdict == "refused":
                verdict, why = "FAILED", f"a harmless edit is refused, PB{why}"
            counts[("harmless" if name in HARMLESS else "damaged", verdict)] += 1
            failed += verdict == "FAILED"
            if verdict == "FAILED" or args.verbose:
                print(f"{verdict} {number} {chip} {name}: {what}: {why}", flush=True)
            if verdict == "FAILED" and args.keep:
                os.makedirs(args.keep, exist_ok=True)
                with open(os.path.join(args.keep, f"{args.seed}_{number}.td"), "w") as f:
                    f.write(text)
    print(f"{len(numbers)} descriptions: " + ", ".join(f"{n} {k} {v}" for (k, v), n in sorted(counts.items())))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
