"""Devices with one fault each: pb-target-test must find each and name the instruction.

    faults.py --bin BUILD/bin --driver other_machine.so [--only TEXT] [--every 1]
    faults.py --bin BUILD/bin --rtl libsimnpu_rtl_8.so

The device is the machine of a description with one line changed; the suite has the right one. With --rtl it is simnpu's RTL, and the
suite has the description that is changed: for it the RTL has the fault, in the cases of the instruction that should be named.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TINY, GEMMINI, SIMNPU = "../chips/tinynpu.td", "../chips/gemmini.td", "../../targets/simnpu/simnpu.td"
INTEGERS, BANKS = "../chips/integers.td", "../machine/banks.td"
FENCES = "../chips/tinynpu.td#define FENCES\n"
SEMAPHORES = "../chips/tinynpu.td#define SEMAPHORES\n"
PRELOAD = "../chips/gemmini.td#define PRELOAD_SAYS\n"  # a file, and what stands in front of it

SMALL = "../chips/edge_npu.td#define FLASH\n#define SMALL_CODES\n"
GATHER = "../chips/bf16npu.td#define GATHER\n"
BYTES = "../chips/bf16npu.td#define BYTES\n"
PACKED = "../chips/edge_npu.td#define FLASH\n#define PACKED\n"
PALETTE = "../chips/edge_npu.td#define FLASH\n#define PALETTE\n"
SPARSE = "../chips/edge_npu.td#define FLASH\n#define TWO_OF_FOUR\n"
STATE = "../chips/tinynpu.td#define STRIDES_IN_STATE\n"
NVDLA, ASCEND, VECTORS, CORES = "../chips/nvdla.td", "../chips/ascend.td", "../chips/vectornpu.td", "../chips/fourcore.td"

BROADCAST = "../chips/fourcore.td#define BROADCAST\n"

# Chip, what is wrong, the instructions of which one must be named (of banks also the one that fills: what takes it follows at once), the text and what stands in its place.
FAULTS = [
    (SMALL, "codes of 4 bits without sign", ["SMALL_WEIGHTS"], "Unpack<5, (sext $src)>", "Unpack<5, (zext $src)>"),
    (SMALL, "codes of 4 bits with sign", ["UNSIGNED_WEIGHTS"], "Unpack<6, (zext $src)>", "Unpack<6, (sext $src)>"),
    (TINY, "sums wrong in sign", ["MUL"], "(mul (sext $x), (sext $wt))", "(mul (sext $x), (sub (i32c 0), (sext $wt)))"),
    (TINY, "weights without sign", ["MUL"], "(mul (sext $x), (sext $wt))", "(mul (sext $x), (zext $wt))"),
    (TINY, "products never add up", ["MUL"], "let Inst{7} = keep; let Inst{23-16}", "let Inst{180} = keep; let Inst{23-16}"),
    (TINY, "the sum begins anew", ["MAXC", "SUMC"], "let Inst{54} = keep;", "let Inst{180} = keep;"),
    (TINY, "the zero point before the rounding", ["REQ"],
     "(add (roundeven (mul (sitofp (add $x, $bias)), $scale)), (sitofp $zp))",
     "(roundeven (add (mul (sitofp (add $x, $bias)), $scale), (sitofp $zp)))"),
    (TINY, "no rounding", ["QNT"], "(add (roundeven (mul $x, $scale)), (sitofp $zp))", "(add (mul $x, $scale), (sitofp $zp))"),
    (TINY, "clamps in the other order", ["QNT"],
     "(min (max (add (roundeven (mul $x, $scale)), (sitofp $zp)), (sitofp $lo)), (sitofp $hi))",
     "(max (min (add (roundeven (mul $x, $scale)), (sitofp $zp)), (sitofp $hi)), (sitofp $lo))"),
    (TINY, "two zero points changed over", ["ADDC"], "let Inst{125-118} = za; let Inst{133-126} = zb;",
     "let Inst{125-118} = zb; let Inst{133-126} = za;"),
    (TINY, "a zero point without sign", ["DEQ"], "(sitofp $za)), $scale));\n  let Signed", "(sitofp (zext $za))), $scale));\n  let Signed"),
    (TINY, "the fill is always 0", ["GETB"], '  let Fill = "fill";\n', ""),
    (TINY, "the box's ends changed over", ["GETB"], 'let BoxHi = ["ihi", "jhi", ""];', 'let BoxHi = ["jhi", "ihi", ""];'),
    (TINY, "extents changed over", ["GETB", "GETW", "PUTB", "PUTW"], "let Inst{54-47} = ni;    let Inst{62-55} = nj;",
     "let Inst{54-47} = nj;    let Inst{62-55} = ni;"),
    (TINY, "the top bit of a base is lost", ["REQ", "ADDC", "QNT", "MAXC", "SUMC", "DEQ"], "let Inst{25-14} = a;",
     "let Inst{24-14} = a{10-0}; let Inst{180} = a{11};"),
    (TINY, "the top bit of a bound is lost", ["REQ", "ADDC", "QNT"], "let Inst{77-70} = hi;",
     "let Inst{76-70} = hi{6-0}; let Inst{180} = hi{7};"),
    (TINY, "rows of weights by another step", ["SETW", "MUL"],
     'Window<WB, I8, ["k", "n"], "bank", ["row", "elem"], !mul(K, N)>:$d', 'Window<WB, I8, ["n", "k"], "bank", ["row", "elem"], !mul(K, N)>:$d'),
    (TINY, "tokens of two queues changed over", None, "let Queues = [DM, MX, VX]; let WaitBit", "let Queues = [MX, DM, VX]; let WaitBit"),
    (TINY, "moves that complete in any order", None, "def DM : Waits;", "def DM : Waits { let InOrder = 0; }"),
    (FENCES, "moves that complete in any order", None, "def DM : Waits;", "def DM : Waits { let InOrder = 0; }"),
    (FENCES, "a fence for another queue", None, "let Queues = [DM, MX, VX]; let Wait", "let Queues = [MX, DM, VX]; let Wait"),
    (FENCES, "a fence never waits for the vector unit", None, "let Inst{2-0} = on;", "let Inst{1-0} = on{1-0}; let Inst{180} = on{2};"),
    (SEMAPHORES, "two semaphores changed over", None, "let Semaphores = [OPERANDS, LOADED,", "let Semaphores = [LOADED, OPERANDS,"),
    (SEMAPHORES, "what two give and what one gives changed over", None, "SUMS, FREE, CODES];", "SUMS, CODES, FREE];"),
    (SEMAPHORES, "signals by another bit", None, "let SignalBit = 0;", "let SignalBit = 1;"),
    (GEMMINI, "a move that adds sets", ["MVIN_ADD"], "(acc_add $dst, $src)", "(set $dst, $src)"),
    (GEMMINI, "clamps in the other order", ["MVOUT_ROUND"],
     "(min (max (add (roundeven $src), (sitofp $zp)), (sitofp $lo)), (sitofp $hi))",
     "(max (min (add (roundeven $src), (sitofp $zp)), (sitofp $hi)), (sitofp $lo))"),
    (GEMMINI, "a row's scale by another row", ["MVOUT_REQUANT"], "let Inst{71-62} = ps;",
     "let Inst{70-62} = ps{8-0}; let Inst{120} = ps{9};"),
    (GEMMINI, "the larger is the sum", ["POOL"], "(acc_max $d, $keep, $x)", "(acc_add $d, $keep, $x)"),
    (SIMNPU, "one column of a table", ["VLUT", "VLUTQ", "VRLUT"], "(lookup $table, (add (sext $x), (i32c 128)))",
     "(lookup $table, (add (sext $x), (i32c 127)))"),
    (SIMNPU, "the sign of a zero point is lost", ["MMA"], "let Inst{148-141} = zw;",
     "let Inst{147-141} = zw{6-0}; let Inst{255} = zw{7};"),
    (SIMNPU, "weights not transposed", ["WLDT"], '["n", "k"], "src", ["sn", "elem"]', '["k", "n"], "src", ["sn", "elem"]'),
    (SIMNPU, "the smaller for the larger", ["VMAX", "VRMAX"], "(max $x, $z)", "(min $x, $z)"),
    (SIMNPU, "a bank of weights too few", ["WLD", "MMA", "WLDT"], "let Inst{49-38} = sk; let Inst{51-50} = w;",
     "let Inst{49-38} = sk; let Inst{50} = w{0}; let Inst{255} = w{1};"),
    (INTEGERS, "halves away from 0 for up", ["SHRRS"], "<13, (shrr ", "<13, (shra "),
    (INTEGERS, "no rounding of a wide product", ["NEAR"], "<18, (trunc32 (shrr ", "<18, (trunc32 (shr "),
    (INTEGERS, "halves up for away from 0", ["FAR"], "<19, (trunc32 (shra ", "<19, (trunc32 (shrr "),
    (INTEGERS, "a shift with sign", ["SHRUS"], "<12, (shru ", "<12, (shr "),
    (INTEGERS, "a product of 32 bits", ["HIGH"], "(shr (mul (sext64 $a), (sext64 $b)), (zext64 $s))",
     "(shr (sext64 (mul $a, $b)), (zext64 $s))"),
    (INTEGERS, "the largest with a sign", ["MOST8", "MOST16", "MOST32"], "(acc_maxu $y, $keep, $x)", "(acc_max $y, $keep, $x)"),
    (INTEGERS, "codes that end at 127", ["BYTES"], "(fptoui8 $x)", "(fptosi8 $x)"),
    (INTEGERS, "codes of 4 bits that wrap", ["PACK"], "(trunc4 (min (max $x, (i32c -8)), (i32c 7)))", "(trunc4 $x)"),
    (INTEGERS, "a factor without sign", ["CODE"], "<23, (sat8 (shra (mul (sext64 $a)", "<23, (sat8 (shra (mul (zext64 $a)"),
    (PRELOAD, "banks that never change places", ["COMPUTE", "PRELOAD"], "let Inst{6} = swap;", "let Inst{160} = swap;"),
    (PRELOAD, "a PRELOAD of nothing says nothing", ["COMPUTE", "PRELOAD"], '  let StateOf = "PRELOAD";\n  let Beside = 1;\n', ""),
    (PRELOAD, "weights come in by columns", ["PRELOAD", "COMPUTE"], 'def ShadowWeights : Cells<"">;',
     'def ShadowWeights : Window<PE, I8, ["n", "k"], "", ["row", "elem"]>;'),
    (BANKS, "a FIFO of three", ["PUSH"], "let Banks = 4; let Bytes = 128;", "let Banks = 3; let Bytes = 96;"),
    (BANKS, "a FIFO that never goes on", ["POP", "PUSH"], "bits<1> next; let Inst{37} = next; let Cycles = (plus 20, 0);\n  let Operands = (ins Window<FF",
     "bits<1> next; let Inst{80} = next; let Cycles = (plus 20, 0);\n  let Operands = (ins Window<FF"),
    (BANKS, "half of a bank is lost", ["FILL", "USE"], '(ins Near<"loc">:$s, Window<SH, I8, ["r", "b"], "", ["row", "elem"]>:$d)',
     '(ins Near<"loc">:$s, Window<SH, I8, ["r", "b"], "", ["none", "elem"]>:$d)'),
    (GATHER, "rows by half their distance", ["ROWS"], '"off", ["st", "elem"], 2> {', '"off", ["st", "elem"], 1> {'),
    (GATHER, "an odd row less in the table", ["ROWS"], "let Inst{73-54} = nt;", "let Inst{73-55} = nt{19-1}; let Inst{200} = nt{0};"),
    (GATHER, "the top bit of where numbers lie is lost", ["ROWS"], "let Inst{89-74} = ids;", "let Inst{88-74} = ids{14-0}; let Inst{200} = ids{15};"),
    (GATHER, "numbers below 0 stay", ["FROM_END"], "(select (less $x, (i32c 0)), (add $x, $count), $x)", "(select (less $x, $count), $x, $x)"),
    (GATHER, "the other float of 16 bits", ["MULTIPLY", "ROUND", "WIDEN"], "defvar Half = BF16;", "defvar Half = F16;"),
    (BYTES, "the other float of 8 bits", ["MULTIPLY", "ROUND", "WIDEN"], "defvar Half = F8E4M3;", "defvar Half = F8E5M2;"),
    (BYTES, "ends at the largest for NaN", ["ROUND"], "(set $d, (truncf $x))", '(set $d, (truncf (max (min $x, (f32c "448")), (f32c "-448"))))'),
    (PACKED, "codes of 4 bits without their sign", ["SMALL_TILE", "MULTIPLY", "SCALE"], "(set $d, (trunc8 (sext $s)))", "(set $d, (trunc8 (zext $s)))"),
    (PACKED, "such codes from whole rows on alone", ["SMALL_TILE", "UNSIGNED_TILE", "MULTIPLY", "SCALE"],
     "let Inst{26-12} = src; let Inst{34-27} = step;\n}\n#ifdef NARROW_ARRAY", "let Inst{26-13} = src{14-1}; let Inst{200} = src{0}; let Inst{34-27} = step;\n}\n#ifdef NARROW_ARRAY"),
    (PALETTE, "every second place of a palette", ["CODED_WEIGHTS"], "let Inst{!add(155, !logtwo(Palettes))-156} = table;", "let Inst{157} = table{1}; let Inst{200} = table{0};"),
    (PALETTE, "half of a palette", ["CODED_WEIGHTS"], 'Dim<"t", 16>', 'Dim<"t", 8>'),
    (SPARSE, "the two of four changed over", ["SPARSE_WEIGHTS"], "(two_of_four $first, $second, $places)", "(two_of_four $second, $first, $places)"),
    (SPARSE, "places of the group before", ["SPARSE_WEIGHTS"], "let Inst{133-120} = sp;", "let Inst{133-121} = sp{13-1}; let Inst{201} = sp{0};"),
    (GATHER, "NaN becomes 0", ["RELU"], "(select (less $x, Zero), Zero, $x)", "(max $x, Zero)"),
    (GATHER, "NaN loses", ["MAXIMUM"], "(maximum $x, Zero)", "(max $x, Zero)"),
    (GATHER, "a mask that sets", ["MASK"], "(and (bitcast $x), $m)", "(or (bitcast $x), $m)"),
    (STATE, "two strides of state changed over", ["WALK", "GETB", "GETW", "PUTB", "PUTW"], "let Inst{23-6} = si; let Inst{39-24} = sj;",
     "let Inst{21-6} = sj; let Inst{39-22} = si;"),
    (NVDLA, "factors of two tensors changed over", ["ELTWISE"], "let Inst{147-132} = fa; let Inst{163-148} = fb;", "let Inst{147-132} = fb; let Inst{163-148} = fa;"),
    (ASCEND, "a line that is not transposed", ["LOAD_TRANS"], '"loc", ["li", "lj", "lb"], 1>', '"loc", ["lb", "lj", "li"], 1>'),
    (ASCEND, "biases of even rows alone", ["REQUANT"], "bits<13> pb; let Inst{117-105} = pb;\n", "bits<13> pb; let Inst{117-106} = pb{12-1}; let Inst{240} = pb{0};\n"),
    (VECTORS, "sums of codes without sign", ["POOL_SUM"], "(acc_add $d, $keep, (sext $x))", "(acc_add $d, $keep, (zext $x))"),
    (CORES, "no shift to the nearest", ["SCALE"], "(shrr (mul (sext64 (add $x", "(shr (mul (sext64 (add $x"),
    (BROADCAST, "a read for the last core is for the others alone", ["IN", "WEIGHTS", "PARAMETERS"], "let Inst{199-196} = cores;",
     "let Inst{198-196} = cores{2-0}; let Inst{255-250} = op; let Inst{240} = cores{3};"),
    (BROADCAST, "a read for several cores by the bits in the other order", ["IN", "WEIGHTS", "PARAMETERS"], "let Inst{199-196} = cores;",
     "let Inst{199} = cores{0}; let Inst{198} = cores{1}; let Inst{197} = cores{2}; let Inst{196} = cores{3};"),
    (SIMNPU, "a coarser table of powers", ["VEXP2"], 'let Name = "exp2";  let TableBits = 6;', 'let Name = "exp2";  let TableBits = 5;'),
    (SIMNPU, "roots by a line", ["VRSQRT"], 'let Name = "rsqrt"; let TableBits = 6; let Degree = 2;', 'let Name = "rsqrt"; let TableBits = 6; let Degree = 1;'),
    (INTEGERS, "a number in twos for threes", ["TIMES", "TIMES_SET", "SET_TIMES"], 'DerivedField<"p", "scaled", 3>]);', 'DerivedField<"p", "scaled", 2>]);'),
    (INTEGERS, "a stride that is not less one", ["TIMES", "TIMES_SET"], 'DerivedField<"yi", "minus">, DerivedField<"n", "minus">];',
     'DerivedField<"n", "minus">];'),
    (INTEGERS, "blocks of lines too close", ["UNBLOCK"], '["16", "48", "elem"], 1>', '["16", "32", "elem"], 1>'),
    (INTEGERS, "fractals of the first matrix by columns", ["FRACTALS"], '["m", "k", "r", "c"], "a", ["am", "4", "row", "elem"]', '["k", "m", "r", "c"], "a", ["am", "4", "row", "elem"]'),
    (INTEGERS, "rows in fractals of columns", ["FRACTALS"], '["k", "q", "n", "c"], "b"', '["k", "q", "c", "n"], "b"'),
    (ASCEND, "a tile of weights that is not turned", ["LOAD_L0B_TRANS", "MMAD", "REQUANT"], '11, Window<L1, I8, ["k", "n"], "src"', '11, Window<L1, I8, ["n", "k"], "src"'),
    (INTEGERS, "bits for the nearest number", ["ENDS"], "(sat16 $x)>", "(trunc16 $x)>"),
    (INTEGERS, "up for towards 0", ["WORDS"], "(fptosi32 $x)>", "(fptosi32 (ceil $x))>"),
    (INTEGERS, "equal for different", ["SAME"], "(select (equal $a, (sext $s)), $b, (i32c -7))", "(select (equal $a, (sext $s)), (i32c -7), $b)"),
    (INTEGERS, "codes that wrap", ["NARROW"], "(sat8 (shrr (mul (zext $a)", "(trunc8 (shrr (mul (zext $a)"),
]


def written(work, chip, old, new):
    """The description as it is, and with the fault; what stands in front of it goes with both."""
    chip, _, head = chip.partition("#")
    text = "#" * bool(head) + head + open(os.path.join(HERE, chip)).read()
    if old not in text:
        sys.exit(f"{chip}: the text of '{old}' is gone")
    paths = [os.path.join(work, os.path.basename(chip)), os.path.join(work, "other.td")]
    for path, said in zip(paths, (text, text.replace(old, new, 1))):
        open(path, "w").write(said)
    return paths


def suite(a, *options):
    return subprocess.run([os.path.join(a.bin, "pb-target-test"), *options, "--no-networks", "--first"], capture_output=True, text=True)


def is_found(run, names):
    named = re.search(r"the first command that differs is (\w+)", run.stdout)
    behind = re.search(r"was written last by (\w+)", run.stdout)
    found = run.returncode == 1 and bool(named or names is None) and (names is None or {m.group(1) for m in (named, behind) if m} & set(names))
    return found, named.group(1) if named else (run.stdout + run.stderr)[-300:]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--driver")
    p.add_argument("--rtl")
    p.add_argument("--only", default="")
    p.add_argument("--every", type=int, default=1, help="each so many-th of them")
    a = p.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as work:
        for chip, what, names, old, new in [f for f in FAULTS if not a.rtl or f[0] == SIMNPU][:: a.every]:
            if a.only not in what:
                continue
            path, other = written(work, chip + "#define VARIANT_8\n" * bool(a.rtl), old, new)
            if a.rtl:
                run = suite(a, other, f"--device={a.rtl}", f"--filter=insn/{names[0]}/")
            else:
                run = suite(a, path, f"--device={a.driver}", f"--device-options=td={other}")
            found, said = is_found(run, names)
            print(f"{'found ' if found else 'MISSED'} {os.path.basename(path)}: {what}: {said}")
            missed += not found
    print(f"{missed} missed")
    sys.exit(missed > 0)


main()
