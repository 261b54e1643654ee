"""Typical mistakes of a first description: the message names record, field and value, and what would be right.

    mistakes.py --bin BUILD/bin [--only TEXT] [--show]

Each changes one thing in the description that pb-target-new makes, in the same with weights in shadow banks, or in one whose PRELOAD
says state besides. `check` says what is wrong, or pbc when it compiles the
digits: where an instruction is missing, with the expression that is needed and the nearest instruction.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPLATE = os.path.join(HERE, "../../tools/templates/npu/NAME.td")
PRELOAD = os.path.join(HERE, "../chips/gemmini.td")

# The template with two banks of weights that commands do not name.
SHADOW = [('let Kind = "registers";', 'let Kind = "shadow";'), ("bits<1> bank; bits<12> src;", "bits<12> src;"),
          ('Window<WB, I8, ["k", "n"], "bank", ["row", "elem"], !mul(N, N)>:$d', 'Window<WB, I8, ["k", "n"], "", ["row", "elem"]>:$d'),
          ("let Inst{8} = bank; let Inst{20-9}", "let Inst{20-9}"), ("bits<1> bank; bits<1> keep", "bits<1> next; bits<1> keep"),
          ('Window<WB, I8, ["k", "n"], "bank", ["row", "elem"], !mul(N, N)>:$wt', 'Window<WB, I8, ["k", "n"], "next", ["row", "elem"]>:$wt'),
          ("let Inst{8} = bank; let Inst{9} = keep;", "let Inst{8} = next; let Inst{9} = keep;")]

# The template with one list and fences.
FENCE = ('def FENCE : Fence {\n  bits<4> queues; let Inst{191-186} = 63; let Inst{3-0} = queues;\n'
         '  let Queues = [LD, MX, VX, ST]; let Wait = "queues"; let Depth = 16;\n}')
FENCED = [("let Depth = 16; let Tokens = 31; }", "let Depth = 16; }"),
          ("def : Tokens { let Queues = [LD, MX, VX, ST]; let WaitBit = 0; let SignalBit = 4; }", FENCE)]

# What is wrong, the text and what stands in its place, what the message must say.
MISTAKES = [
    ('memory not whole rows', 'let Bytes = !mul(4096, N);',
     'let Bytes = !add(!mul(4096, N), 3);',
     r"""BUF: 65539 bytes are not whole rows of 16 .PB3202.\n +hint: a multiple of RowBytes"""),
    ('a memory of no size', 'let Bytes = !shl(1, 30);',
     'let Bytes = 0;',
     r"""DRAM: Bytes is 0 .PB3200.\n +hint: a positive number"""),
    ('a port without width', 'let BytesPerCycle = 16;',
     'let BytesPerCycle = 0;',
     r"""DRAM: BytesPerCycle is 0 .PB3205.\n +hint: 1 to 65536"""),
    ('a negative latency', 'let Latency = 80; ',
     'let Latency = -80;',
     r"""DRAM: Latency is -80 .PB3206.\n +hint: 0 to 1048576"""),
    ('rows that do not divide over banks', 'let Banks = 4;',
     'let Banks = 3;',
     r"""BUF: its rows do not divide over 3 banks .PB3204."""),
    ('the schema forgotten', 'let Schema = PB_SCHEMA; ',
     '',
     r"""mychip: field 'Schema' is not set .PB3010.\n +hint: every field without a default must be given"""),
    ('the control misspelt', 'let Control = "queues";',
     'let Control = "queue";',
     r"""mychip: field 'Control' is "queue" .PB3012.\n +hint: one of threads, grid, queues"""),
    ('queues of a chip of cores', 'let Control = "queues";',
     'let Control = "threads";',
     r"""Control is "threads", but \w+ is a command of a queue .PB3247.\n +hint: let Control = "queues", or a CoreInstruction for each"""),
    ('queues on threads', 'let Control = "queues";',
     'let Control = "threads";',
     r"""Control is "threads", but \w+ is a command of a queue .PB3247."""),
    ('queues on a grid', 'let Control = "queues";',
     'let Control = "grid";',
     r"""mychip: it is controlled by a grid, and no GridChip .PB3395.\n +hint: include "gpu.td", and a record of class GridChip"""),
    ('a scope left empty', 'let Scope = "system"; ',
     'let Scope = ""; ',
     r"""DRAM: field 'Scope' is "" .PB3012.\n +hint: one of system, constants, chip, core, thread"""),
    ('a name with a hyphen', 'let Name = "mychip"; ',
     'let Name = "my-chip";',
     r"""the chip is named "my-chip" .PB3270.\n +hint: letters, digits and '_', and no digit first"""),
    ('commands too short', 'let CommandBytes = 24;',
     'let CommandBytes = 16;',
     r"""LDB: its encoding needs bit 191, a command has 128 .PB3221.\n +hint: raise CommandBytes"""),
    ('too many arguments', 'let Arguments = 8;',
     'let Arguments = 32;',
     r"""Arguments is 32 .PB3257.\n +hint: 1 to 16"""),
    ('a slot too narrow for the arguments', 'let Arguments = 8;',
     'let Arguments = 16;',
     r"""LDB: field 'arg' cannot name the last of 16 arguments .PB3258.\n +hint: widen the field, or lower Arguments"""),
    ('a queue left out of Tokens', 'let Queues = [LD, MX, VX, ST];',
     'let Queues = [LD, MX, VX];',
     r"""ST: a queue that nobody can wait for .PB3044.\n +hint: add it to Tokens.Queues, or remove it"""),
    ('waits and signals on the same bits', 'let SignalBit = 4;',
     'let SignalBit = 2;',
     r"""WaitBit 0 and SignalBit 2 overlap .PB3256.\n +hint: a bit for each queue on both sides"""),
    ('tokens under the opcode', 'let WaitBit = 0;',
     'let WaitBit = 186;',
     r"""LDB: bit 186 is also a token bit .PB3222.\n +hint: move the field, or WaitBit and SignalBit"""),
    ('two opcodes alike', 'def LDW : Move<LD, 2>',
     'def LDW : Move<LD, 1>',
     r"""LDB and LDW have the same encoding .PB3250.\n +hint: give one another opcode"""),
    ('a field that is not encoded', 'let Inst{78-76} = arg; ',
     '',
     r"""LDB: field 'arg' carries a slot but is not encoded .PB3223.\n +hint: let Inst{..} = field, or a StateField"""),
    ('a bit left out', 'let Inst{47-38} = c;',
     'let Inst{46-38} = c{8-0};',
     r"""MMA: bit 9 of field 'c' is not in Inst .PB3220.\n +hint: encode every bit"""),
    ('two fields on one bit', 'let Inst{54-48} = dc;',
     'let Inst{53-47} = dc;',
     r"""MMA: bit 9 of field 'c' is not in Inst .PB3220."""),
    ('more bits on one side', 'let Inst{47-38} = c;',
     'let Inst{48-38} = c;',
     r"""Initializer is not compatible with bit range .PB3001.\n +hint: as many bits on the left as on the right"""),
    ('an extent that its field cannot carry', 'Dim<"m", 255, "m_">, Dim<"n", N>, Dim<"k", N>',
     'Dim<"m", 256, "m_">, Dim<"n", N>, Dim<"k", N>',
     r"""MMA: dim 'm' goes to 256, its field 'm_' to 255 .PB3211.\n +hint: widen the field, or lower the dim's largest extent"""),
    ('a base that does not reach the end', 'let Bytes = !mul(4096, N);',
     'let Bytes = !mul(8192, N);',
     r"""LDB: field 'loc' cannot reach the end of BUF .PB3233.\n +hint: widen the field"""),
    ('a field that is not declared', '"pb", ["elem"]>:$bias',
     '"bp", ["elem"]>:$bias',
     r"""REQ: a base names the field 'bp', which is not there .PB3086.\n +hint: declare it: bits<N> name"""),
    ('a dim that is not there', '["m", "k"], "a", ["da", "elem"]>:$x',
     '["m", "q"], "a", ["da", "elem"]>:$x',
     r"""MMA: a window walks the dim 'q', which is not there .PB3080.\n +hint: one of the instruction's Dims"""),
    ('fewer strides than dims', '["m", "k"], "a", ["da", "elem"]>:$x',
     '["m", "k"], "a", ["elem"]>:$x',
     r"""MMA: window 'x' has 2 dims and 1 strides .PB3081.\n +hint: one stride for each dim"""),
    ('an operand that is not there', '(mul (sext $x), (sext $wt))',
     '(mul (sext $x), (sext $weights))',
     r"""MMA: semantics name '\$weights', which is no operand .PB3092.\n +hint: one of its operands"""),
    ('an operator that is not there', '(roundeven (mul $x, $scale))',
     '(round (mul $x, $scale))',
     r"""Variable not defined: 'round' .PB3001.\n +hint: .*operators of Semantics and Cycles are listed in pb.td"""),
    ('types that are mixed', '(mul (sext $x), (sext $wt))',
     '(mul (sext $x), $wt)',
     r"""MMA: semantics mix i32 and i8 .PB3093.\n +hint: convert one of them: sext, sitofp"""),
    ('an operand that nothing uses', '(sitofp (add $x, $bias))',
     '(sitofp $x)',
     r"""REQ: operand 'bias' is neither read nor written .PB3237.\n +hint: use it in Semantics"""),
    ('a mover that computes', 'let Semantics = (set $dst, $src);   // what it does, for every (i, j, b)',
     'let Semantics = (set $dst, (trunc8 (sext $src)));',
     r"""LDB: a mover that does more than move .PB3240.\n +hint: let Mover = 0, or \(set \$dst, \$src\)"""),
    ('movers that are not said to be some', '  let Mover = 1;                      // it copies bits, and does nothing else\n',
     '',
     r"""LDB copies between DRAM and BUF and is no mover: nothing would be brought by it .PB3387.\n +hint: let Mover = 1"""),
    ("no slot on the system's memory", '  let Slot = "arg";\n',
     '',
     r"""LDB: window .src. is on the system.s memory and has no argument slot .PB3230.\n +hint: let Slot = .arg."""),
    ('one field for two strides', '["li", "lj", "elem"], 1>;\ndefvar InSUM',
     '["si", "lj", "elem"], 1>;\ndefvar InSUM',
     r"""LDB: field 'si' is the stride of window 'src' along 'i' and the stride of window 'dst' along 'i' .PB3260.\n +hint: a field of its own for each"""),
    ('words in a row of bytes', 'defvar YC = Window<BUF, I8,',
     'defvar YC = Window<BUF, I32,',
     r"""REQ: semantics write i8 into a window of i32 .PB3100.\n +hint: convert it"""),
    ('a window wider than a row', 'Window<SUM, F32, ["m", "n"], "a", ["da", "elem"]>:$x',
     'Window<BUF, F32, ["m", "n"], "a", ["da", "elem"], 16>:$x',
     r"""QNT: window 'x' takes 64 bytes of a row of BUF, which has 16 .PB3235.\n +hint: fewer lanes, or wider rows"""),
    ('an expression that is another', '(mul (sitofp (add $x, $bias)), $scale)',
     '(mul (sitofp (sub $x, $bias)), $scale)',
     r"""conv1_f \(point\): no instruction computes this expression .*PB4010.\n +hint: needed: \(set \$y, \(fptosi8 \(min \(max \(add \(roundeven \(mul \(sitofp \(add \$b, \$a\)\), \$c\)\), -128\), -128\), 127\)\)\); \$a: i32; \$b: i32 in SUM; \$c: f32; \$y: i8; REQ comes nearest: it computes sub where add is needed"""),
    ('a dim whose least is large', 'Dim<"m", 255, "m_">, Dim<"n", N>, Dim<"k", N>',
     'Dim<"m", 255, "m_", 64>, Dim<"n", N>, Dim<"k", N>',
     r"""conv2_f \(reduce\): MMA computes this, .*\n +hint: dim 'm' of MMA is at least 64, and no loop here walks as it does"""),
    ('lanes in rows of their own', 'Window<SUM, I32, ["n"], "y", ["elem"]>:$d', 'Window<SUM, I32, ["n"], "y", ["row"]>:$d',
     r"""pool_f \(reduce\): SUMC .*\n +hint: no dim of SUMC walks the loop of 16, which moves 'x' by 1 bytes, 'd' by 4 bytes"""),
    ('pooling that sums', '(acc_max $d, $keep, $x)',
     '(acc_add $d, $keep, $x)',
     r"""maxpool_f \(reduce\): no instruction .*\n +hint: needed: \(acc_max \$y, \$a\); \$a: i8; \$y: i8"""),
    ('no padding', '  let BoxLo = ["ilo", "jlo", ""];\n  let BoxHi = ["ihi", "jhi", ""];\n  let Fill = "fill";\n',
     '',
     r"""conv1_f \(load\): no instruction .*\n +hint: needed: \(set \$y, -128\); \$y: i8 in BUF; a move whose source has a box and a Fill writes constants"""),
    ('an external memory too small for commands and tensors', 'let Bytes = !shl(1, 30);',
     'let Bytes = !mul(5, 4096);',
     r"""DRAM: the system's memory has 20480 bytes .PB3291.\n +hint: at least 64 KiB, for tensors, constants and commands"""),
    ('weights that nothing brings', 'Window<BUF, I8, ["k", "n"], "src", ["step", "elem"]>:$s',
     'Window<WB, I8, ["k", "n"], "src", ["step", "elem"]>:$s',
     r"""nothing brings the weights to where their instruction reads them .PB4010."""),
    ('sums for products', '(acc_add $y, $keep, (mul (sext $x), (sext $wt)))',
     '(acc_add $y, $keep, (add (sext $x), (sext $wt)))',
     r"""mychip has no instruction that multiplies i8 by i8 into i32 .PB4003."""),
]

BANKS = [
    ('a third shadow bank', 'let Banks = 2;\n  let BytesPerCycle = N;', 'let Banks = 4;\n  let BytesPerCycle = N;',
     r"""WB: a memory of kind "shadow" has 4 banks .PB3292.\n +hint: let Banks = 2"""),
    ('a FIFO of one', 'let Kind = "shadow";             // a part of the array, not a memory with ports\n  let Bytes = !mul(2, !mul(N, N));\n  let RowBytes = N;\n  let Banks = 2;',
     'let Kind = "fifo";\n  let Bytes = !mul(2, !mul(N, N));\n  let RowBytes = N;\n  let Banks = 1;',
     r"""WB: a memory of kind "fifo" has 1 banks .PB3292.\n +hint: 2 to 64"""),
    ('a bank smaller than what fills it', 'let Bytes = !mul(2, !mul(N, N));', 'let Bytes = !mul(N, N);',
     r"""WLD: window 'd' reaches past the end of a bank of WB, which has 128 bytes .PB3294.\n +hint: smaller dims, or larger banks: Bytes / Banks"""),
    ('banks for cores', 'let Control = "queues";', 'let Control = "threads";',
     r"""WB: a memory of kind "shadow" is on the chip, for commands of queues .PB3292.\n +hint: an addressed one"""),
    ('a base of a bank that is filled', 'Window<WB, I8, ["k", "n"], "", ["row", "elem"]>:$d', 'Window<WB, I8, ["k", "n"], "bank", ["row", "elem"]>:$d',
     r"""WLD: the flag of a bank names the field 'bank', which is not there .PB3086.\n +hint: declare it: bits<N> name"""),
    ('a flag where a bank is filled', 'Window<WB, I8, ["k", "n"], "", ["row", "elem"]>:$d', 'Window<WB, I8, ["k", "n"], "step", ["row", "elem"]>:$d',
     r"""WLD: window 'd' fills a bank of WB, and has the flag 'step' .PB3296.\n +hint: "": what is written is the next bank"""),
    ('no flag where a bank is read', 'Window<WB, I8, ["k", "n"], "next", ["row", "elem"]>:$wt', 'Window<WB, I8, ["k", "n"], "", ["row", "elem"]>:$wt',
     r"""MMA: window 'wt' reads a bank of WB, and has no flag as its Base .PB3296.\n +hint: its flag, bits<1>: 1 takes the next bank first"""),
    ('a flag of many bits', 'Window<WB, I8, ["k", "n"], "next", ["row", "elem"]>:$wt', 'Window<WB, I8, ["k", "n"], "da", ["row", "elem"]>:$wt',
     r"""MMA: window 'wt' takes banks of WB by the field 'da', which is no flag .PB3296.\n +hint: one bit of the command itself: bits<1>, and let Inst\{\.\.\} = \.\.\."""),
    ('a flag that the command does not carry', 'let Inst{8} = next; ', '',
     r"""MMA: window 'wt' takes banks of WB by the field 'next', which is no flag .PB3296.\n +hint: one bit of the command itself: bits<1>, and let Inst\{\.\.\} = \.\.\."""),
    ('one bit for two things', 'Window<WB, I8, ["k", "n"], "next", ["row", "elem"]>:$wt', 'Window<WB, I8, ["k", "n"], "keep", ["row", "elem"]>:$wt',
     r"""MMA: field 'keep' is the flag by which window 'wt' takes a bank and the immediate 'keep' .PB3260.\n +hint: a field of its own for each"""),
    ('a bank that is filled out of order', 'def MX : Queue { let Depth = 16; let Tokens = 31; }', 'def MX : Queue { let Depth = 16; let Tokens = 31; let InOrder = 0; }',
     r"""WLD fills banks of WB in MX, which is not in order .PB3327.\n +hint: let InOrder = 1 for its queue"""),
    ('a unit inside a bank', 'Window<WB, I8, ["k", "n"], "", ["row", "elem"]>:$d', 'Window<WB, I8, ["k", "n"], "", ["row", "elem"], !mul(N, N)>:$d',
     r"""WLD: window 'd' is on banks of WB, where nothing has a unit .PB3295.\n +hint: leave it out"""),
    ('a bank with another layout each time', 'Window<WB, I8, ["k", "n"], "next", ["row", "elem"]>:$wt', 'Window<WB, I8, ["k", "n"], "next", ["da", "elem"]>:$wt',
     r"""MMA: window 'wt' is on banks of WB and has a stride in the field 'da' .PB3293.\n +hint: "row", "elem", "none" or a number: a bank has one layout"""),
    ('sums that start from what was in a bank', 'let Semantics = (set $d, $s);\n  let Cycles = (plus N, 0);',
     'let Semantics = (acc_add $d, $s);\n  let Cycles = (plus N, 0);',
     r"""WLD: window 'd' adds to a bank of WB .PB3297.\n +hint: \(set \$d, \.\.\.\): what was in the bank is nobody's"""),
    ('products beside their queue', '  let Latency = 18;', '  let Latency = 18;\n  let Beside = 1;',
     r"""MMA goes on beside the commands behind it, which could read what it has yet to write .PB3310.\n +hint: let Beside = 0; or fill a memory of kind "shadow" or "fifo", or write state alone"""),
    ('one row of a bank for all', 'Window<WB, I8, ["k", "n"], "next", ["row", "elem"]>:$wt', 'Window<WB, I8, ["k", "n"], "next", ["none", "elem"]>:$wt',
     r"""conv1_f \(reduce\): MMA computes this, but its address template cannot walk these strides .PB4010.\n +hint: no dim of MMA walks the loop of 16, which moves 'wt' by 16 bytes, 'x' by 1 bytes, 'y' by 0 bytes"""),
]
STATES = [
    ('state of an instruction that is not there', 'let StateOf = "PRELOAD";', 'let StateOf = "PRELOADS";',
     r"""PRELOAD_NONE: it writes the state of PRELOADS, which is not there .PB3127.\n +hint: an instruction defined above it"""),
    ('state of which a part is said', 'let StateOf = "PRELOAD";', 'let StateOf = "CONFIG_LD";',
     r"""PRELOAD_NONE: its field 'c' writes the state of CONFIG_LD, which has no such field .PB3128.\n +hint: the same name, width and sign on both sides"""),
    ('a field of another width', '  bits<10> c; bits<1> keep;\n  let Inst{30-21} = c;', '  bits<9> c; bits<1> keep;\n  let Inst{29-21} = c;',
     r"""PRELOAD_NONE: its field 'c' writes the state of PRELOAD, which has no such field .PB3128.\n +hint: the same name, width and sign on both sides"""),
    ('state said in part', '  bits<10> c; bits<1> keep;\n  let Inst{30-21} = c; let Inst{31} = keep;\n#ifdef', '  bits<10> c;\n  let Inst{30-21} = c;\n#ifdef',
     r"""PRELOAD_NONE writes the state of PRELOAD without 'keep' .PB3316.\n +hint: the fields that StateFields name, all of them"""),
    ('state in another queue', 'def PRELOAD_NONE : Op<EX, 20>', 'def PRELOAD_NONE : Op<LD, 20>',
     r"""PRELOAD_NONE writes the state of PRELOAD, and is not a command that does that alone .PB3313.\n +hint: let Operands = \(ins\), in its queue"""),
    ('two that write the same state', 'def COMPUTE : Product<18> {', 'def PRELOAD_AGAIN : Op<EX, 21>, Idle {\n  let StateOf = "PRELOAD";\n  bits<10> c; bits<1> keep;\n  let Inst{30-21} = c; let Inst{31} = keep;\n}\ndef COMPUTE : Product<18> {',
     r"""PRELOAD_NONE and PRELOAD_AGAIN both write the state of PRELOAD .PB3315.\n +hint: one"""),
    ('a writer that writes for another', 'defvar SAYS = "PRELOAD";', 'defvar SAYS = "PRELOAD_NONE";',
     r"""PRELOAD_NONE writes the state of PRELOAD, and is named as a writer itself .PB3314.\n +hint: the fields of one of the two in every StateField"""),
    ('moves beside their queue', 'class Move<Queue q, bits<6> op, string config> : AnyMove<q, op, config> {', 'class Move<Queue q, bits<6> op, string config> : AnyMove<q, op, config> {\n  let Beside = 1;',
     r"""MVIN goes on beside the commands behind it, which could read what it has yet to write .PB3310.\n +hint: let Beside = 0; or fill a memory of kind "shadow" or "fifo", or write state alone"""),
]


DISORDER = ('def MX : Queue { let Depth = 16; let Tokens = 31; }', 'def MX : Queue { let Depth = 16; let Tokens = 31; let InOrder = 0; }')
ORDERS = [
    ('a counter of a queue in order to itself', 'let WaitBit = 0; let SignalBit = 4;', 'let WaitBit = 0; let SignalBit = 4; let Pairs = [Pair<LD, LD>];',
     r"""an unnamed record: a pair of LD and LD .PB3055.\n +hint: two of Queues"""),
    ('no counter of a queue out of order to itself', 'let WaitBit = 0; let SignalBit = 4; }',
     'let WaitBit = 0; let SignalBit = 4;\n  let Pairs = [Pair<LD, MX>, Pair<MX, LD>, Pair<MX, VX>, Pair<VX, MX>, Pair<VX, ST>, Pair<ST, VX>, Pair<LD, VX>, Pair<VX, LD>]; }',
     r"""no tokens lead from MX to MX, whose commands complete in any order and share SUM .PB3285.\n +hint: a Pair of it and itself, or let InOrder = 1"""),
]


SEMAPHORES = [
    ('a semaphore of what is no queue', 'Semaphore<[MX], [VX], 3>', 'Semaphore<[MX], [BUF], 3>', r"""list|expected|type"""),
    ('a semaphore that nobody gives', 'Semaphore<[MX], [VX], 3>', 'Semaphore<[], [VX], 3>',
     r"""SUMS: Givers of SUMS is empty .PB3360.\n +hint: one queue or more"""),
    ('a queue that gives twice', 'Semaphore<[DM, VX], [MX], 3>', 'Semaphore<[DM, VX, DM], [MX], 3>',
     r"""OPERANDS: Givers of OPERANDS has DM twice .PB3360.\n +hint: each once"""),
    ('a semaphore that counts too far', 'Semaphore<[MX], [VX], 3>', 'Semaphore<[MX], [VX], 64>',
     r"""SUMS: Most is 64 .PB3361.\n +hint: 1 to 15"""),
    ('a semaphore that has no room for all that give it', 'Semaphore<[DM, VX], [MX], 3>', 'Semaphore<[DM, VX], [MX], 1>',
     r"""OPERANDS: 2 queues give OPERANDS, which counts to 1 and of which a command waits for 3 at most .PB3362.\n +hint: a larger Most, or more WaitBits, or fewer Givers"""),
    ('a semaphore of a queue in order with itself', 'Semaphore<[MX], [VX], 3>', 'Semaphore<[MX], [MX], 3>',
     r"""SUMS: SUMS is of MX alone .PB3364.\n +hint: another queue, or let InOrder = 0"""),
    ('a semaphore twice', 'let Semaphores = [OPERANDS, LOADED,', 'let Semaphores = [OPERANDS, OPERANDS, LOADED,',
     r"""an unnamed record: OPERANDS is listed twice .PB3363.\n +hint: once"""),
    ('numbers of no bits', 'let WaitBits = 2; let WaitBit', 'let WaitBits = 0; let WaitBit', r"""an unnamed record: WaitBits is 0 .PB3365.\n +hint: 1 to 4"""),
    ('pairs and semaphores', 'let WaitBits = 2; let WaitBit', 'let Pairs = [Pair<DM, MX>]; let WaitBits = 2; let WaitBit',
     r"""an unnamed record: there are Pairs and Semaphores .PB3366.\n +hint: one of the two"""),
    ('counters of a chip with semaphores', 'def MX : Waits;', 'def MX : Waits { let Tokens = 3; }',
     r"""MX: Tokens is 3, and Semaphores put its commands in order .PB3320.\n +hint: leave Tokens out, or the Semaphores"""),
    ('signals on the bits of numbers', 'let SignalBit = 0;', 'let SignalBit = 181;',
     r"""WaitBit 176 and SignalBit 181 overlap .PB3256.\n +hint: WaitBits for each semaphore on one side, a bit on the other"""),
    ('a queue that several give, and none of them gets an answer', 'Semaphore<[VX], [DM], 3>', 'Semaphore<[VX], [MX], 3>',
     r"""no tokens lead from \w+ to \w+, which both use \w+ .PB3285.\n +hint: a Semaphore that one gives and one takes; or that several give, with a way back to each by such"""),
    ('a giver that can do nothing', 'def WAIT : Pass<DM, 26>;', '',
     r"""no tokens lead from DM to MX, which both use BUF .PB3285."""),
]


EVENTS = [
    ('commands of their own, and bits', 'let WaitBits = 2; let Wait = "event";', 'let WaitBits = 2; let WaitBit = 0; let Wait = "event";',
     r"""an unnamed record: Wait is 'event' and Signal 'signal', of 5 semaphores, and there are bits besides .PB3370.\n +hint: Wait and Signal of Semaphores, and no WaitBit and SignalBit"""),
    ('nothing that signals', 'let Count = "number"; let Signal = "signal";', 'let Count = "number";',
     r"""an unnamed record: Wait is 'event' and Signal '', of 5 semaphores .PB3370."""),
    ('a number that no field says', 'let Count = "number"; ', '',
     r"""an unnamed record: WaitBits is 2, and no field says how many .PB3371.\n +hint: a field Count, or WaitBits = 1"""),
    ('one field for which and how many', 'let Count = "number";', 'let Count = "event";',
     r"""an unnamed record: Wait and Count are both 'event' .PB3374.\n +hint: two fields"""),
    ('a field too narrow for the semaphores', 'bits<3> event; bits<2> number; let Inst{2-0} = event;', 'bits<2> event; bits<2> number; let Inst{1-0} = event;',
     r"""DM_WAIT: field 'event' cannot say 4 .PB3372.\n +hint: a wider field, with all its bits in Inst"""),
    ('a field too narrow for the number', 'bits<2> number; let Inst{2-0} = event; let Inst{4-3} = number;', 'bits<1> number; let Inst{2-0} = event; let Inst{3} = number;',
     r"""DM_WAIT: field 'number' cannot say 2 .PB3372."""),
    ('a queue that cannot wait', 'def VX_WAIT : WaitFor<VX, 28>;', '',
     r"""VX takes semaphores, and no command of it has the field 'event' for that .PB3373.\n +hint: an Instruction of that queue with Operands = \(ins\) and that field"""),
    ('a queue that cannot signal', 'def MX_SIGNAL : Raise<MX, 30>;', '',
     r"""MX gives semaphores, and no command of it has the field 'signal' for that .PB3373."""),
]


FENCES = [
    ('counters of a chip with fences', 'def MX : Queue { let Depth = 16; }', 'def MX : Queue { let Depth = 16; let Tokens = 31; }',
     r"""MX: Tokens is 31, and a Fence puts its commands in order .PB3320.\n +hint: leave Tokens out, or the record of class Fence"""),
    ('tokens and fences', 'def FENCE : Fence {', 'def : Tokens { let Queues = [LD, MX, VX, ST]; let WaitBit = 0; let SignalBit = 4; }\ndef FENCE : Fence {',
     r"""1 records of class Tokens and 1 of class Fence; control by queues needs one .PB3040.\n +hint: def : Tokens \{.*\}, or a Fence"""),
    ('a fence for fewer queues', 'bits<4> queues; let Inst{191-186} = 63; let Inst{3-0} = queues;', 'bits<3> queues; let Inst{191-186} = 63; let Inst{2-0} = queues;',
     r"""FENCE: field 'queues' has 3 bits for 4 queues .PB3324.\n +hint: a bit for each of Queues"""),
    ('a fence by a field that is not there', 'let Wait = "queues";', 'let Wait = "mask";',
     r"""FENCE: Wait names the field 'mask', which is not there .PB3323.\n +hint: declare it: bits<N> name"""),
    ('a queue that no fence knows', 'let Queues = [LD, MX, VX, ST];', 'let Queues = [LD, MX, VX];',
     r"""ST: a queue that nobody can wait for .PB3044.\n +hint: add it to Fence.Queues, or remove it"""),
    ('a fence in no time', 'let Depth = 16;\n}', 'let Depth = 16; let Cycles = 0;\n}',
     r"""FENCE: Cycles is 0 .PB3326.\n +hint: 1 to 1048576"""),
    ('the opcode of another', 'let Inst{191-186} = 63;', 'let Inst{191-186} = 1;',
     r"""LDB and FENCE have the same encoding .PB3250.\n +hint: give one another opcode"""),
    ('queues of which a bit is lost', 'let Inst{3-0} = queues;', 'let Inst{2-0} = queues{2-0};',
     r"""FENCE: bit 3 of field 'queues' is not in Inst .PB3220.\n +hint: encode every bit"""),
]


# Four cores, and reads for several of them.
BROADCASTS = [
    ('the cores of a read by no field', 'let Broadcast = "cores";', 'let Broadcast = "core";',
     r"""IN: Broadcast names the field 'core', which is not there .PB3379.\n +hint: declare it: bits<N> name"""),
    ('the cores of a read not in the command', 'let Inst{199-196} = cores;', '',
     r"""IN: field 'cores' says which cores a read is for, and does not stand in Inst .PB3380.\n +hint: let Inst.... = field"""),
    ('the cores of a read with sign', 'let Broadcast = "cores"; }', 'let Broadcast = "cores"; let Signed = ["cores", "off"]; }',
     r"""WEIGHTS: field 'cores' says which cores a read is for, and is in Signed .PB3381.\n +hint: bits as they are"""),
    ('a bit too few for the cores', 'bits<4> cores; let Inst{199-196} = cores;', 'bits<3> cores; let Inst{198-196} = cores;',
     r"""IN: field 'cores' has 3 bits, the chip has 4 cores .PB3382.\n +hint: a bit for each core"""),
    ('the cores of a read say something else, too', 'let Broadcast = "cores";', 'let Broadcast = "lj";',
     r"""IN: field 'lj' is the stride of window 'dst' along 'j' and the cores that 'IN' reads for .PB3260.\n +hint: a field of its own for each"""),
    ('a store for several cores', 'def OUT : Move<Results, 4>', 'def OUT : Load<Results, 4>',
     r"""OUT reads for several cores, and is no mover from a memory that they share .PB3383.\n +hint: let Mover = 1, .set .dst, .src. with .src in a memory outside"""),
    ('a read for several cores to where they all are', '(ins Padded:$src, InSRAM:$dst)', '(ins Padded:$src, Dram<I8>:$dst)',
     r"""IN reads for several cores into DRAM, which they share .PB3384.\n +hint: a memory of the core's own whose places commands name"""),
]
LISTS = [
    ('reads for several cores in two queues of a list', 'class CodesIn<Queue q, bits<6> op> : Move<q, op>; //', 'class CodesIn<Queue q, bits<6> op> : Load<q, op>; //',
     r"""WEIGHTS of WT reads for several cores, as IN of LD does .PB3385.\n +hint: commands of one queue, whose order is the same in every core's list"""),
]


def described():
    """Every mistake with the description that it is made in."""
    template = open(TEMPLATE).read().replace("@NAME@", "mychip")
    shadow = template
    for old, new in SHADOW:
        if shadow.count(old) != 1:
            sys.exit(f"the text '{old}' is gone")
        shadow = shadow.replace(old, new)
    fenced = template
    for old, new in FENCED:
        if old not in fenced:
            sys.exit(f"the text '{old}' is gone")
        fenced = fenced.replace(old, new)
    disordered = template.replace(*DISORDER)
    if disordered == template:
        sys.exit("the queue MX is gone")
    preload = "#define PRELOAD_SAYS\n" + open(PRELOAD).read()
    yield from ((template, *m) for m in MISTAKES)
    yield from ((shadow, *m) for m in BANKS)
    yield from ((fenced, *m) for m in FENCES)
    yield from ((disordered, *m) for m in ORDERS)
    yield from ((preload, *m) for m in STATES)
    events = "#define SEMAPHORES\n#define EVENTS\n" + open(os.path.join(HERE, "../chips/tinynpu.td")).read()
    yield from ((events, *m) for m in EVENTS)
    semaphores = "#define SEMAPHORES\n" + open(os.path.join(HERE, "../chips/tinynpu.td")).read()
    yield from ((semaphores, *m) for m in SEMAPHORES)
    cores = "#define BROADCAST\n" + open(os.path.join(HERE, "../chips/fourcore.td")).read()
    yield from ((cores, *m) for m in BROADCASTS)
    yield from (("#define FENCES\n" + cores, *m) for m in LISTS)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--only", default="")
    p.add_argument("--every", type=int, default=1, help="each so many-th of them")
    p.add_argument("--show", action="store_true")
    a = p.parse_args()
    wrong = count = 0
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "mychip.td")
        for number, (text, what, old, new, message) in enumerate(described()):
            if a.only not in what or number % a.every:
                continue
            if old not in text:
                sys.exit(f"the text of '{what}' is gone")
            count += 1
            open(path, "w").write(text.replace(old, new, 1))
            run = subprocess.run([os.path.join(a.bin, "pb-tdl"), "check", path], capture_output=True, text=True)
            place = r"mychip\.td:\d+:\d+: error: "
            if not run.returncode:
                model = os.path.join(HERE, "../models/digits.onnx")
                run = subprocess.run([os.path.join(a.bin, "pbc"), model, f"--target={path}", "-o", os.path.join(work, "m.pbe")],
                                     capture_output=True, text=True)
                place = r"error: \w+: (mychip cannot run this: )?"
            good = run.returncode == 1 and re.search(place + message, run.stderr)
            wrong += not good
            if a.show or not good:
                print(f"{'ok   ' if good else 'WRONG'} {what}:\n{run.stderr}")
    print(f"{count} mistakes, {wrong} with another message")
    sys.exit(wrong > 0)


main()
