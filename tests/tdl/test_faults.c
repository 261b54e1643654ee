// Each row breaks the description in base.td at one place; the reader must refuse it with the code that says how, at
// the line where it is. The unbroken one must be read without a word.
#include "tdl/chip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct row {
  const char *find, *replace; // the first place of `find` after `after`
  const char* after;
  int code;
  const char* word; // in the message
} row;

// A load of matrices from a memory, with a Shape.
#define MATRIX(memory, shape) MATRIX_OF("I8", memory, shape)
#define MATRIX_OF(type, memory, shape)                                                                                 \
  "def RF : Memory { let Kind = \"registers\"; let Bytes = 128; let RowBytes = 64; let BytesPerCycle = 64; }\n"        \
  "def LOAD : CoreInstruction<\"load\"> { let Dims = [Dim<\"r\", 8>, Dim<\"b\", 8>]; let Cycles = (plus 1, 0); "       \
  "let Operands = (ins Reg<RF, " type ", [\"r\", \"b\"]>:$t, Rows<" memory ", " type ", [\"r\", \"b\"]>:$m); "         \
  "let Semantics = (set $t, $m); let Shape = [" shape "]; }\n"

// A command that sets a stride for others.
#define STRIDES                                                                                                        \
  "def SET : Instruction<LD> { bits<12> s; let Dims = []; let Operands = (ins); let Cycles = (plus 1, 0); "            \
  "let Inst{7-0} = 0x08; let Inst{23-12} = s; }\n"
#define LONG "a_name_of_forty_characters_and_no_fewer_x"
#define MEMORY "def : Memory { let Bytes = 64; let RowBytes = 8; let BytesPerCycle = 8; }\n"
#define CORES(count) "def : Level { let Name = \"core\"; let Max = " count "; }\n"
#define EXP2 "(exp2 "
#define PLUS "(plus "
#define END ")"
#define END_1 ", 1)"
#define TIMES_8(text) text text text text text text text text
#define TIMES_32(text) TIMES_8(text) TIMES_8(text) TIMES_8(text) TIMES_8(text)

// A way of its own from sums to codes.
#define FORMULA(of, operands, value, more)                                                                             \
  "def : Formula<\"" of "\"> { let Operands = (ins " operands "); let Value = " value "; " more " }\n"
#define SUM_OPERANDS "Element<I32>:$sum, ByChannel<I32>:$bias, Imm<I8>:$shift"
#define SUM_VALUE "(sat8 (shr (add $sum, $bias), (sext $shift)))"
#define BEFORE_TOY(text)                                                                                               \
  {                                                                                                                    \
    "def toy : Chip {", text "def toy : Chip {", ""

// A field of IN, or of the instruction that a text stands in, that holds less than its number.
#define DERIVED_OF(where, field, form, by, code, word)                                                                 \
  { where, "let Derived = [DerivedField<\"" field "\", \"" form "\", " by ">]; " where, "", code, word }
#define DERIVED(field, form, by, code, word)                                                                           \
  DERIVED_OF("let Semantics = (set $dst, $src); let Cycles = (times $i, $b); let Signed", field, form, by, code, word)

// One list with a fence in place of tokens; `queue`: what the queues say besides, `more`: what the fence does.
#define TOKENS                                                                                                         \
  "def LD : Queue { let Depth = 2; let Tokens = 7; }\ndef EX : Queue { let Depth = 3; let Tokens = 15; }\n"            \
  "def : Tokens { let Queues = [LD, EX]; let WaitBit = 8; let SignalBit = 10; }"
#define FENCED(queue, more, code, word)                                                                                \
  {                                                                                                                    \
    TOKENS,                                                                                                            \
        "def LD : Queue { let Depth = 2; " queue " }\ndef EX : Queue { let Depth = 3; }\n"                             \
        "def STOP : Fence { bits<2> on; let Queues = [LD, EX]; let Wait = \"on\"; let Depth = 4; "                     \
        "let Inst{7-0} = 0x3f; let Inst{9-8} = on; " more " }",                                                        \
        "", code, word                                                                                                 \
  }

#define PAIRS(pairs, code, word)                                                                                       \
  { "let WaitBit = 8;", "let Pairs = [" pairs "]; let WaitBit = 8;", "", code, word }
// Queues that leave it to the record of class Tokens how many tokens there are.
#define MOST(most, code, word)                                                                                         \
  {                                                                                                                    \
    TOKENS,                                                                                                            \
        "def LD : Queue { let Depth = 2; }\ndef EX : Queue { let Depth = 3; }\n"                                       \
        "def : Tokens { let Queues = [LD, EX]; let WaitBit = 8; let SignalBit = 10; " most " }",                       \
        "", code, word                                                                                                 \
  }
#define BETWEEN "def ON : Queue { let Depth = 2; let Tokens = 7; }\n"

// A second memory outside; a copy between it, or another, and a memory of the chip; and a window on it.
#define ROM                                                                                                            \
  "def ROM : Memory { let Scope = \"constants\"; let Bytes = 4096; let RowBytes = 8; let BytesPerCycle = 4; }\n"
#define MORE(name)                                                                                                     \
  "def " name " : Memory { let Scope = \"constants\"; let Bytes = 4096; let RowBytes = 8; let BytesPerCycle = 4; }\n"
#define OF_MORE "def OfMore : Window<MORE, I8, [\"b\"], \"off\", [\"elem\"], 1> { let Slot = \"arg\"; }\n"
#define OF_ROM "def OfRom : Window<ROM, I8, [\"b\"], \"off\", [\"elem\"], 1> { let Slot = \"arg\"; }\n"
#define HERE "Window<BUF, I8, [\"b\"], \"loc\", [\"elem\"], 1>"
#define FETCH(from, to, value)                                                                                         \
  "def FETCH : Instruction<LD> { bits<2> arg; bits<12> off; bits<2> too; bits<12> loc; bits<8> nb; "                   \
  "let Dims = [Dim<\"b\", 255, \"nb\">]; let Operands = (ins " from ":$src, " to ":$dst); "                            \
  "let Semantics = (set $dst, " value "); let Cycles = (plus $b, 0); let Inst{7-0} = 0x0b; let Inst{13-12} = arg; "    \
  "let Inst{25-14} = off; let Inst{27-26} = too; let Inst{39-28} = loc; let Inst{47-40} = nb; }\n"
#define SMALL(from, to, value)                                                                                         \
  "def SMALL : Instruction<LD> { bits<2> arg; bits<16> off; bits<2> too; bits<16> loc; bits<8> nb; bits<4> si; "       \
  "let Dims = [Dim<\"b\", 255, \"nb\">]; let Operands = (ins " from ":$src, " to ":$dst); "                            \
  "let Semantics = (set $dst, " value "); let Cycles = (plus $b, 0); let Inst{7-0} = 0x0c; let Inst{13-12} = arg; "    \
  "let Inst{29-14} = off; let Inst{31-30} = too; let Inst{47-32} = loc; let Inst{55-48} = nb; let Inst{59-56} = si; "  \
  "}\n"
#define SMALL_HERE(base) "Window<BUF, I4, [\"b\"], \"" base "\", [\"elem\"], 1>"
// A command that makes elements of two of four.
#define SPARSE(first, places, to, four, semantics)                                                                     \
  "def SPARSE : Instruction<LD> { bits<2> arg; bits<16> off; bits<2> too; bits<16> loc; bits<8> nb; bits<16> t; "      \
  "bits<16> u; bits<4> s; let Dims = [Dim<\"b\", 255, \"nb\">, Dim<\"r\", " four ">]; let Operands = (ins " first      \
  ":$a, OfMemToo:$b, " places ":$w, " to ":$dst); let Semantics = " semantics "; let Cycles = (plus $b, 0); "          \
  "let Inst{7-0} = 0x0e; let Inst{13-12} = arg; let Inst{29-14} = off; let Inst{31-30} = too; let Inst{47-32} = loc; " \
  "let Inst{55-48} = nb; let Inst{71-56} = t; let Inst{87-72} = u; let Inst{91-88} = s; }\n"
#define PART(name, type, base, more)                                                                                   \
  "def " name " : Window<MEM, " type ", [\"b\"], \"" base "\", [\"elem\"], 1> { " more " }\n"
#define PARTS                                                                                                          \
  PART("OfMem", "I8", "off", "let Slot = \"arg\";")                                                                    \
  PART("OfMemToo", "I8", "t", "let Slot = \"too\";") PART("Places", "I4", "u", "let Slot = \"s\";")
#define FOURS "Window<BUF, I8, [\"b\", \"r\"], \"loc\", [\"4\", \"elem\"], 1>"
#define PUT "(set $dst, (two_of_four $a, $b, $w))"
#define SPARSELY(parts, first, places, to, four, semantics, code, word)                                                \
  { "def LOOK :", parts SPARSE(first, places, to, four, semantics) "def LOOK :", "", code, word }
// A command that makes elements of codes and a palette; and one in place of another.
#define CODED(codes, palette, size)                                                                                    \
  "def CODED : Instruction<LD> { bits<2> arg; bits<16> off; bits<2> too; bits<16> loc; bits<8> nb; bits<16> t; "       \
  "let Dims = [Dim<\"b\", 255, \"nb\">, Dim<\"e\", " size ">]; let Operands = (ins " codes ":$src, " palette           \
  ":$t, " HERE ":$dst); let Semantics = (set $dst, (lookup $t, (zext $src))); let Cycles = (plus $b, 0); "             \
  "let Inst{7-0} = 0x0d; let Inst{13-12} = arg; let Inst{29-14} = off; let Inst{31-30} = too; let Inst{47-32} = loc; " \
  "let Inst{55-48} = nb; let Inst{71-56} = t; }\n"
#define PALETTE(memory) "Window<" memory ", I8, [\"e\"], \"t\", [\"elem\"]>"
#define OF_MEM "def OfMem : Window<MEM, I4, [\"b\"], \"off\", [\"elem\"], 1> { let Slot = \"arg\"; }\n"
// A command that gathers rows of a table of MEM, by numbers in SUM, to BUF; and what is in its place.
#define TABLE "Window<MEM, I8, [\"t\", \"b\"], \"off\", [\"st\", \"elem\"], 1>"
#define NUMBERS "Window<SUM, I32, [\"i\"], \"ids\", [\"elem\"], 4>"
#define ROWS_TO "Window<BUF, I8, [\"i\", \"b\"], \"loc\", [\"li\", \"elem\"], 1>"
#define GATHERS(table, box, numbers, to, semantics, code, word)                                                        \
  {                                                                                                                    \
    "def LOOK :",                                                                                                      \
        "def Table : " table " { " box " }\ndef ROWS : Instruction<LD> { bits<2> arg; bits<16> off; bits<12> st; "     \
        "bits<8> nt; bits<12> ids; bits<8> ni; bits<6> nb; bits<12> loc; bits<12> li; bits<1> keep; "                  \
        "let Dims = [Dim<\"t\", 255, \"nt\">, Dim<\"i\", 255, \"ni\">, Dim<\"b\", 63, \"nb\">]; "                      \
        "let Operands = (ins Table:$t, " numbers ":$n, " to ":$dst); let Semantics = " semantics "; "                  \
        "let Cycles = (times $i, $b); let Inst{7-0} = 0x0d; let Inst{13-12} = arg; let Inst{29-14} = off; "            \
        "let Inst{41-30} = st; let Inst{49-42} = nt; let Inst{61-50} = ids; let Inst{69-62} = ni; "                    \
        "let Inst{75-70} = nb; let Inst{87-76} = loc; let Inst{99-88} = li; }\ndef LOOK :",                            \
        "", code, word                                                                                                 \
  }
#define SLOT "let Slot = \"arg\";"
#define GATHERED "(set $dst, (gather $t, $n))"
#define OUTSIDE(text, code, word)                                                                                      \
  { "def LOOK :", ROM OF_ROM text "def LOOK :", "", code, word }

static const row rows[] =
    {
        // formulas
        BEFORE_TOY(FORMULA("mean", SUM_OPERANDS, SUM_VALUE, "")), 3012, "Of"},
                 BEFORE_TOY(FORMULA("sum", SUM_OPERANDS, SUM_VALUE, "") FORMULA("sum", SUM_OPERANDS, SUM_VALUE, "")),
                 3134, "second"
}
, BEFORE_TOY(FORMULA("sum", SUM_OPERANDS ", Imm<I8>:$za", SUM_VALUE, "")), 3130, "no operand '$za'"
}
, BEFORE_TOY(FORMULA("sum", SUM_OPERANDS ", Element<I8>:$zero", SUM_VALUE, "")), 3131, "another class"
}
, BEFORE_TOY(FORMULA("sum", "Element<I8>:$sum, ByChannel<I32>:$bias, Imm<I8>:$shift", SUM_VALUE, "")), 3132, "type i8"
}
, BEFORE_TOY(FORMULA("sum", SUM_OPERANDS ", Imm<I1>:$lo", SUM_VALUE, "")), 3132, "type i1"
}
, BEFORE_TOY(FORMULA("sum", "Element<I32>:$sum, Imm<I32>:$shift", "(sat8 (shr $sum, $shift))", "")), 3133, "'$bias'"
}
,
    BEFORE_TOY(FORMULA("add", "Element<I8>:$a, Element<I8>:$b, Imm<I8>:$fa, Imm<I8>:$shift",
                       "(sat8 (shr (add (mul (sext $a), (sext $fa)), (sext $b)), (sext $shift)))", "")),
    3133, "'$fb'"
}
, BEFORE_TOY(FORMULA("sum", SUM_OPERANDS, "(shr (add $sum, $bias), (sext $shift))", "")), 3135, "gives i32"
}
, BEFORE_TOY(FORMULA("sum", SUM_OPERANDS, "(fptosi8 (sitofp (shr (add $sum, $bias), (sext $shift))))", "")), 3136,
    "floats"
}
,
    BEFORE_TOY(FORMULA("sum", SUM_OPERANDS ", Imm<I8>:$lo",
                       "(trunc8 (min (max (shr (add $sum, $bias), (sext $shift)), (sext $lo)), (i32c 255)))", "")),
    3141, "'$lo' is read with sign, codes are made of 0 to 255"
}
,
    BEFORE_TOY(FORMULA("sum", SUM_OPERANDS ", Imm<I8>:$zero",
                       "(sat8 (add (shr (add $sum, $bias), (sext $shift)), (zext $zero)))", "")),
    3141, "'$zero' is read without sign, codes are made with it"
}
, BEFORE_TOY(FORMULA("sum", SUM_OPERANDS ", Imm<I8>:$lo", SUM_VALUE, "")), 3237, "'lo' is not used"
}
, BEFORE_TOY(FORMULA("sum", SUM_OPERANDS, SUM_VALUE, "let FactorBits = 40;")), 3137, "FactorBits is 40"
}
,
    BEFORE_TOY(FORMULA("sum", SUM_OPERANDS ", ByChannel<I8>:$factor",
                       "(sat8 (shr (mul (add $sum, $bias), (sext $factor)), (sext $shift)))", "let FactorBits = 8;")),
    3139, "8 bits do not fit an operand of i8"
}
, BEFORE_TOY(FORMULA("sum", SUM_OPERANDS, SUM_VALUE, "let MostOff = \"little\";")), 3138, "MostOff"
}
, BEFORE_TOY(FORMULA("sum", SUM_OPERANDS ", Imm<I8>:$shift", SUM_VALUE, "")), 3239, "two operands"
}
, BEFORE_TOY(FORMULA("sum", SUM_OPERANDS, "(sat8 (shr (add $sum, $bais), (sext $shift)))", "")), 3092, "bais"
}
, {"let Name = \"toy\";", "", "", 3010, "Name"}, {"let Revision = 1;", "", "", 3010, "Revision"},
    {"let Summary = \"a small chip\";", "", "", 3010, "Summary"},
    {"let Control = \"queues\";", "", "", 3010, "Control"}, {"\"queues\"", "\"magic\"", "", 3012, "Control"},
    {"let Control = \"queues\";", "let Control = \"queues\"; let Tuning = \"i386\";", "", 3012, "Tuning"},
    {"PB_SCHEMA;", "7;", "", 3021, "schema 7"},
    {"def toy : Chip {",
     "def other : Chip { let Name = \"o\"; let Summary = \"\"; let Schema = 1; let Revision = 1; let Control = "
     "\"queues\"; }\ndef toy : Chip {",
     "", 3020, "one"},
    {"let Scope = \"system\";", "", "", 3030, "system"},
    {"let Scope = \"system\";", "let Scope = \"\";", "", 3012, "Scope"},
    {"def BUF : Memory {", "def BUF : Memory { let Scope = \"system\";", "", 3031, "second"},
    {"let Bytes = 4096; ", "", "def BUF", 3010, "Bytes"}, {"let BytesPerCycle = 16;", "", "", 3010, "BytesPerCycle"},
    {"let Bytes = 4096;", "let Bytes = 4099;", "def BUF", 3202, "rows"},
    {"let Bytes = 4096;", "let Bytes = 0;", "def BUF", 3200, "Bytes"},
    {"let RowBytes = 8;", "let RowBytes = 0;", "def BUF", 3201, "RowBytes"},
    {"let Banks = 2;", "let Banks = 0;", "", 3203, "banks"}, {"let Banks = 2;", "let Banks = 3;", "", 3204, "banks"},
    {"let BytesPerCycle = 16;", "let BytesPerCycle = 0;", "", 3205, "BytesPerCycle"},
    {"let Banks = 2;", "let Banks = 4294967298;", "", 3013, "Banks"},
    {"let Latency = 1;", "let Latency = 4294967297;", "", 3013, "Latency"},
    {"let Tokens = 7;", "let Tokens = -4294967289;", "", 3013, "Tokens"},
    {"let Revision = 1;", "let Revision = 4294967297;", "", 3013, "Revision"},
    {"let Bytes = 4096;", "let Bytes = 562949953421312;", "def BUF", 3209, "Bytes"},
    {"let Bytes = 4096;", "let Bytes = 274877906944;", "def BUF", 3209, "rows"},
    {"let Latency = 1;", "let Latency = -1;", "", 3206, "Latency"},
    {"let Inst{81-70} = li;\n}", "let State = [StateField<\"li\", \"IN\", \"li\">];\n}", "", 3245, "comes from itself"},
    {"let Inst{45} = acc;", "let Inst{45} = acc; let State = [StateField<\"zp\", \"IN\", \"fill\">];", "", 3244,
     "queue"},
    {"let Mover = 1; let Dims", "let Mover = 1; let Buffer = -1; let Dims", "", 3243, "Buffer"},
    {"let Latency = 1;", "let Latency = 1; let Cached = 1;", "", 3207, "cached"},
    {"let Latency = 1;", "let Latency = 1; let Kind = \"bucket\";", "", 3012, "Kind"},
    {"let Latency = 1;", "let Latency = 1; let Value = \"tile\";", "", 3208, "Value"},
    {"def : Tokens", MATRIX("BUF", "(plus $r, 0)") "def : Tokens", "", 3112, "BUF"},
    {"def : Tokens", MATRIX("MEM", "(plus 1, 0), (plus 1, 0), (plus 1, 0), (plus 1, 0), (plus $r, 0)") "def : Tokens",
     "", 3113, "Shape"},
    {"def : Tokens", MATRIX("MEM", "(plus $q, 0)") "def : Tokens", "", 3102, "q"},
    {"def : Tokens", MATRIX("MEM", "]; let Units = 0; let Summary = \"\"; list<int> unused = [") "def : Tokens", "",
     3249, "Units"},
    {"def : Tokens { let Queues = [LD, EX]; let WaitBit = 8; let SignalBit = 10; }", "", "", 3040, "Tokens"},
    {"[LD, EX]", "[LD]", "", 3044, "nobody can wait"}, {"let Depth = 2;", "let Depth = 0;", "", 3042, "Depth"},
    {"let Tokens = 7;", "let Tokens = 0;", "", 3043, "Tokens"},
    {"let WaitBit = 8;", "let WaitBit = 300;", "", 3045, "WaitBit"},
    {"let WaitBit = 8;", "let WaitBit = -9;", "", 3045, "WaitBit"},
    {"let WaitBit = 8;", "let WaitBit = 9;", "", 3256, "overlap"},
    {"let CommandBytes = 16;", "let CommandBytes = 4;", "", 3221, "bit"},
    {"let CommandBytes = 16;", "let CommandBytes = 64;", "", 3255, "CommandBytes"},
    {"let Arguments = 4;", "let Arguments = 40;", "", 3257, "Arguments"},
    {"let Name = \"exp2\";", "let Name = \"cosine\";", "", 3050, "cosine"},
    {"let TableBits = 6;", "let TableBits = 60;", "", 3051, "TableBits"},
    {"let Degree = 2;", "let Degree = 9;", "", 3052, "Degree"},
    {"let Name = \"exp2\";", "let Name = \"recip\";", "", 3254, "exp2"},
    {"let Inst{7-0} = 0x03; ", "", "", 3075, "fixed"},
    {"let Inst{7-0} = 0x03;", "let Inst{7-0} = 0x04;", "", 3250, "same encoding"},
    {"let Inst{45} = acc;", "let Inst{45} = acc; let Inst{46} = acc;", "", 3074, "twice"},
    {"let Inst{45} = acc;", "", "", 3223, "acc"},
    {"let Inst{44-37} = rows;", "let Inst{43-37} = rows{6-0};", "def DOT", 3220, "rows"},
    {"let Inst{20-12} = a;", "let Inst{19-11} = a;", "", 3222, "token"},
    {"bits<1> acc;", "bits<1> acc; bits<70> big;", "def DOT", 3071, "64"},
    {"let Signed = [\"zp\"]", "let Signed = [\"zz\"]", "", 3072, "zz"},
    {"Dim<\"r\", 255, \"rows\">", "Dim<\"r\", 255, \"many\">", "def DOT", 3079, "many"},
    {"Dim<\"r\", 255, \"rows\">", "Dim<\"r\", 999, \"rows\">", "def DOT", 3211, "999"},
    {"Dim<\"r\", 255, \"rows\">", "Dim<\"r\", 2, \"rows\", 5>", "def DOT", 3210, "runs from"},
    {"Dim<\"n\", 8>, Dim<\"k\", 8>", "Dim<\"n\", 8>, Dim<\"n\", 8>", "def DOT", 3212, "two dims"},
    {"[\"r\", \"k\"], \"a\"", "[\"r\", \"q\"], \"a\"", "def DOT", 3080, "'q'"},
    {"\"a\", [\"row\", \"elem\"]", "\"a\", [\"elem\"]", "def DOT", 3081, "strides"},
    {"\"a\", [\"row\", \"elem\"]", "\"a\", [\"step\", \"elem\"]", "def DOT", 3082, "step"},
    {"let BoxLo = [\"lo\", \"\"];", "let BoxLo = [\"lo\"];", "", 3083, "box"},
    {"let Fill = \"fill\";", "let Fill = \"paint\";", "", 3084, "paint"},
    {"\"w\", [\"row\"", "\"ww\", [\"row\"", "def DOT", 3086, "ww"},
    {"let Slot = \"arg\";", "let Slot = \"argg\";", "", 3087, "argg"},
    {"let Slot = \"arg\"; let BoxLo", "let BoxLo", "", 3230, "argument slot"},
    {"Imm<I1>:$acc);", "Imm<I1>:$accu);", "def DOT", 3090, "accu"}, {"(sext $x)", "(sext $xx)", "def DOT", 3092, "xx"},
    {"(mul (sext $x), (sext $v))", "(mul (sext $x), $v)", "", 3093, "mix"},
    {"(roundeven (sitofp $x))", "(roundeven $x)", "", 3094, "float"},
    {"(mul (sext $x), (sext $v))", "(shl $x, $v)", "", 3094, "shl of i8"},
    {"(mul (sext $x), (sext $v))", "(shrr $x, $v)", "", 3094, "shrr of i8"},
    {"(mul (sext $x), (sext $v))", "(shra (sext $x))", "", 3095, "shra takes 2"},
    {"(mul (sext $x), (sext $v))", "(shrr (sext $x), (sext64 $v))", "", 3093, "mix i32 and i64"},
    {"(mul (sext $x), (sext $v))", "(trunc32 (mul (sext64 $x), (sext $v)))", "", 3093, "mix i64 and i32"},
    {"(mul (sext $x), (sext $v))", "(mul (sext64 $x), (sext64 $v))", "", 3100, "i64 into a window of i32"},
    {"(mul (sext $x), (sext $v))", "(trunc32 (sext $x))", "", 3094, "trunc32 of i32"},
    {"(mul (sext $x), (sext $v))", "(sext (sext64 $x))", "", 3094, "sext of i64"},
    {"(mul (sext $x), (sext $v))", "(sext (sitofp $x))", "", 3094, "sext of f32"},
    {"(mul (sext $x), (sext $v))", "(truncf (sext $x))", "", 3094, "truncf of i32"},
    {"(mul (sext $x), (sext $v))", "(bitcast $x)", "", 3094, "bitcast of i8"},
    {"(mul (sext $x), (sext $v))", "(extf $x)", "", 3094, "extf of i8"},
    {"Window<BUF, I8, [\"r\", \"k\"]", "Window<BUF, BF16, [\"r\", \"k\"]", "", 3094, "an operation on bf16"},
    {"(mul (sext $x), (sext $v))", "(trunc32 (add (sext64 $x), (i64c 9007199254740993)))", "", 3105, "no i64"},
    {"(mul (sext $x), (sext $v))", "(mul (sext $x))", "", 3095, "takes 2"},
    {"(mul (sext $x), (sext $v))", "(plus (sext $x), (sext $v))", "", 3096, "plus"},
    {"def AGAIN : HardwareLoop {",
     "def ONCE : HardwareLoop { bits<8> t; bits<4> b; let Turns = \"t\"; let Body = \"b\"; "
     "let MaxBody = 1; let Inst{7-0} = 0x09; let Inst{19-12} = t; let Inst{23-20} = b; }\ndef AGAIN : HardwareLoop {",
     "", 3120, "second"},
    {"let Turns = \"turns\";", "let Turns = \"round\";", "def AGAIN", 3122, "round"},
    {"let Body = \"body\";", "", "def AGAIN", 3122, "Body"},
    {"let MaxBody = 8;", "let MaxBody = 0;", "def AGAIN", 3123, "MaxBody"},
    {"let MaxBody = 8;", "let MaxBody = 33;", "def AGAIN", 3123, "MaxBody"},
    {"let MaxBody = 8;", "let MaxBody = 16;", "def AGAIN", 3124, "body"},
    {"let Inst{19-12} = turns;", "", "def AGAIN", 3223, "turns"},
    {"let Inst{7-0} = 0x06;", "let Inst{7-0} = 0x03;", "def AGAIN", 3250, "same encoding"},
    {"let Inst{19-12} = turns;", "let Inst{15-8} = turns;", "def AGAIN", 3222, "token"},
    {"Window<BUF, I8, [\"i\", \"b\"], \"loc\"", "Window<BUF, BF16, [\"i\", \"b\"], \"loc\"", "", 3100,
     "i8 into a window of bf16"},
    {"Window<SUM, I32, [\"r\", \"n\"], \"y\"", "Window<SUM, F16, [\"r\", \"n\"], \"y\"", "", 3100,
     "i32 into a window of f16"},
    {"(mul (sext $x), (sext $v))", "(truncf (sitofp $x))", "", 3094, "truncf of f32 into i32"},
    {"Window<BUF, I8, [\"r\", \"n\"], \"y\"", "Window<BUF, I1, [\"r\", \"n\"], \"y\"", "", 3272, "i1"},
    {"Imm<I8>:$zp", "Imm<F16>:$zp", "", 3272, "immediate 'zp' has type f16"},
    {"def LOOK :", MATRIX_OF("F8E4M3", "MEM", "") "def LOOK :", "", 3273, "LOAD: operand 't' has type f8e4m3"},
    {"(sext $v))", "(extf $v))", "", 3094, "extf of i8"},
    {"(acc_add $d, $acc,", "(acc_add $d,", "", 3237, "'acc' is not used"},
    {"(acc_add $d, $acc,", "(acc_add $d, $acc, $acc,", "", 3097, "form"},
    {"(acc_add $d,", "(acc_add $acc,", "", 3098, "no window"}, {"Imm<I1>:$acc", "Imm<I8>:$acc", "", 3099, "no bit"},
    {"(set $d, (fptosi8 (add (roundeven (sitofp $x)), (sitofp $zp))))", "(set $d, (sitofp $x))", "", 3100,
     "into a window"},
    {"(plus $r, 2)", "(power $r, 2)", "", 3001, "power"}, {"(plus $r, 2)", "(plus $rr, 2)", "", 3102, "rr"},
    {"let Cycles = (plus $r, 2);", "", "", 3010, "Cycles"},
    {"Dim<\"n\", 8>, Dim<\"k\", 8>", "Dim<\"n\", 16>, Dim<\"k\", 8>", "def DOT", 3235, "row"},
    {"bits<9> a;", "bits<5> a;", "def DOT", 3001, "bit"},
    // tables
    {"(lookup $table, (sext $x))", "(lookup $x, (sext $x))", "", 3125, "no table"},
    {"(lookup $table, (sext $x))", "(lookup $table)", "", 3125, "no table"},
    {"(lookup $table, (sext $x))", "(lookup $table, $x)", "", 3093, "by an index of i8"},
    {"(lookup $table, (sext $x))", "(add $table, (lookup $table, (sext $x)))", "", 3281, "without an index"},
    {"[\"r\", \"n\"], \"y\", [\"row\", \"elem\"]>:$d);\n  let Semantics = (set $d, (trunc8",
     "[\"r\", \"e\"], \"y\", [\"row\", \"elem\"]>:$d);\n  let Semantics = (set $d, (trunc8", "", 3280, "walks 'e'"},
    {"\"t\", [\"elem\"]>:$table", "\"t\", [\"row\"]>:$table", "", 3282, "has gaps"},
    {"(trunc8 (lookup $table, (sext $x)))", "(trunc8 $x)", "", 3094, "trunc8 of i8"},
    // two uses of one field
    {"\"loc\", [\"li\", \"elem\"], 1>:$dst);", "\"loc\", [\"si\", \"elem\"], 1>:$dst);", "def IN", 3260,
     "the stride of window 'src' along 'i' and the stride of window 'dst' along 'i'"},
    {"Window<BUF, I8, [\"i\", \"b\"], \"loc\", [\"li\", \"elem\"], 1>:$dst);",
     "Window<BUF, I8, [\"i\", \"b\"], \"off\", [\"li\", \"elem\"], 1>:$dst);", "def IN", 3260,
     "the base of window 'src' and the base of window 'dst'"},
    {"\"w\", [\"row\"", "\"a\", [\"row\"", "def DOT", 3260, "the base of window 'x' and the base of window 'v'"},
    {"\"y\", [\"row\", \"elem\"]>:$d, Imm", "\"a\", [\"row\", \"elem\"]>:$d, Imm", "def DOT", 3260,
     "the base of window 'x' and the base of window 'd'"},
    {"\"loc\", [\"li\", \"elem\"], 1>:$dst);", "\"loc\", [\"nb\", \"elem\"], 1>:$dst);", "def IN", 3260,
     "the extent of dim 'b' and the stride of window 'dst'"},
    {"Dim<\"b\", 255, \"nb\">", "Dim<\"b\", 255, \"ni\">", "def IN", 3260,
     "the extent of dim 'i' and the extent of dim 'b'"},
    {"let BoxHi = [\"hi\", \"\"];", "let BoxHi = [\"lo\", \"\"];", "", 3260, "the least 'i' in the box"},
    {"let Fill = \"fill\";", "let Fill = \"hi\";", "", 3260, "what window 'src' reads outside its box"},
    {"\"a\", [\"row\", \"elem\"]>:$x, Imm<I8>:$zp", "\"zp\", [\"row\", \"elem\"]>:$x, Imm<I8>:$zp", "def CODE", 3260,
     "the base of window 'x' and the immediate 'zp'"},
    {"let Body = \"body\";", "let Body = \"turns\";", "def AGAIN", 3260,
     "how many iterations there are and how many commands"},
    {"def OUT : Instruction<LD> {\n  bits<2> arg; bits<16> off; bits<12> si;",
     STRIDES
     "def OUT : Instruction<LD> {\n  let State = [StateField<\"si\", \"SET\", \"s\">, StateField<\"li\", \"SET\", "
     "\"s\">];\n  bits<2> arg; bits<16> off; bits<12> si;",
     "", 3262, "in Inst and in State"},
    {"def OUT : Instruction<LD> {\n  bits<2> arg; bits<16> off; bits<12> si;",
     STRIDES
     "def OUT : Instruction<LD> {\n  let State = [StateField<\"si\", \"SET\", \"s\">, StateField<\"li\", \"SET\", "
     "\"s\">];\n  bits<2> arg; bits<16> off; bits<12> si;",
     "", 3261, "fields 'li' and 'si' are both field 's' of SET"},
    {"def OUT : Instruction<LD> {\n  bits<2> arg; bits<16> off; bits<12> si; bits<8> ni; bits<8> nb; bits<12> loc; "
     "bits<12> li;",
     "def SET : Instruction<LD> { bits<12> s; let Dims = []; let Operands = (ins); let Cycles = (plus 1, 0); let "
     "Inst{7-0} = 0x08; }\n"
     "def OUT : Instruction<LD> {\n  let State = [StateField<\"li\", \"SET\", \"s\">];\n"
     "  bits<2> arg; bits<16> off; bits<12> si; bits<8> ni; bits<8> nb; bits<12> loc; bits<12> li;",
     "", 3268, "does not encode 's'"},
    {"def OUT : Instruction<LD> {\n  bits<2> arg;",
     "def SET : Instruction<LD> { bits<10> s; let Dims = []; let Operands = (ins); let Cycles = (plus 1, 0); "
     "let Inst{7-0} = 0x08; let Inst{21-12} = s; }\n"
     "def OUT : Instruction<LD> {\n  let State = [StateField<\"li\", \"SET\", \"s\">];\n  bits<2> arg;",
     "", 3269, "has 12 bits, but 's' of SET"},
    {"let Arguments = 4;", "let Arguments = 5;", "", 3258, "the last of 5"},
    {"Window<BUF, I8, [\"i\", \"b\"], \"loc\", [\"li\", \"elem\"], 1>:$src, OutsideTo:$dst",
     "Window<BUF, I32, [\"i\", \"b\"], \"loc\", [\"li\", \"elem\"], 1>:$src, OutsideTo:$dst", "def OUT", 3100,
     "into a window"},
    {"def OUT : Instruction<LD> {\n  bits<2> arg;",
     STRIDES "def OUT : Instruction<LD> {\n  let State = [StateField<\"li\", \"SET\", \"t\">];\n  bits<2> arg;", "",
     3077, "SET.t"},
    // names
    {"let Name = \"toy\";", "let Name = \"my-toy\";", "", 3270, "my-toy"},
    {"let Name = \"toy\";", "let Name = \"my toy\";", "", 3270, "my toy"},
    {"let Name = \"toy\";", "let Name = \"my\\\"toy\";", "", 3270, "the chip"},
    {"let Name = \"toy\";", "let Name = \"my/toy\";", "", 3270, "my/toy"},
    {"let Name = \"toy\";", "let Name = \"t\xc3\xb6y\";", "", 3270, "the chip"},
    {"let Name = \"toy\";", "let Name = \"\";", "", 3270, "the chip"},
    {"let Name = \"toy\";", "let Name = \"8toy\";", "", 3270, "8toy"},
    {"def OUT :", "def \"OUT-1\" :", "", 3270, "OUT-1"}, {"def BUF :", "def \"BUF 1\" :", "", 3001, "BUF"},
    {"Dim<\"r\", 255, \"rows\">", "Dim<\"r r\", 255, \"rows\">", "def DOT", 3270, "r r"},
    {"let Name = \"toy\";", "let Name = \"" LONG LONG "\";", "", 3271, "at most 64"},
    {"def : Tokens { let Queues = [LD, EX];",
     "def EX_WITH_A_NAME_TOO_LONG : Queue { let Depth = 1; let Tokens = 1; }\n"
     "def : Tokens { let Queues = [LD, EX, EX_WITH_A_NAME_TOO_LONG];",
     "", 3271, "at most 20"},
    {"let Variants = [\"a\"];", "let Variants = [\"a-b\"];", "", 3025, "a-b"},
    {"let Variants = [\"a\"];", "let Variants = [\"a\", \"b\", \"a\"];", "", 3026, "\"a\" twice"},
    // numbers
    {"let Bytes = 65536;", "let Bytes = 65528;", "", 3291, "65528 bytes"},
    {"let BytesPerCycle = 16;", "let BytesPerCycle = -16;", "", 3205, "BytesPerCycle"},
    {"let BytesPerCycle = 16;", "let BytesPerCycle = 65537;", "", 3205, "BytesPerCycle"},
    {"let Tokens = 7;", "let Tokens = 2147483647;", "", 3043, "Tokens"},
    {"let Depth = 2;", "let Depth = 4096;", "", 3042, "Depth"},
    {"let Latency = 1;", "let Latency = 1048577;", "", 3206, "Latency"},
    {"let Latency = 3;", "let Latency = 1048577;", "", 3241, "Latency"},
    {"let Latency = 1;", "let Latency = 1; let Kind = \"stack\";", "", 3012, "Kind"},
    {"let Latency = 1;", "let Latency = 1; let Ways = 0;", "", 3263, "ways"},
    {"let Revision = 1;", "let Revision = -1;", "", 3023, "Revision"},
    {"let Revision = 1;", "let Revision = 1; let MHz = -5;", "", 3024, "MHz"},
    {"let Revision = 1;", "let Revision = 1; let TokenCycles = -1;", "", 3398, "TokenCycles"},
    {"def : Tokens", "def : Level { let Name = \"core\"; let Max = 0; }\ndef : Tokens", "", 3046, "Max"},
    {"[LD, EX]", "[LD, EX, EX]", "", 3047, "twice"},
    // cores
    {"def BUF : Memory {", CORES("4") "def BUF : Memory {", "", 3033, "4 cores share"},
    {"def : Tokens", CORES("1025") "def : Tokens", "", 3041, "1025 cores with queues"},
    {"def : Tokens", CORES("2147483647") "def : Tokens", "", 3041, "2147483647 cores"},
    {"def : Tokens", CORES("1") CORES("1") "def : Tokens", "", 3048, "2 levels"},
    {"def : Tokens", "def : Level { let Name = \"core\"; let Max = 1; let Sync = \"barrier\"; }\ndef : Tokens", "",
     3049, "where a kernel ends"},
    {"let MaxUlp = \"4\";", "let MaxUlp = \"four\";", "", 3053, "four"},
    {"let MaxUlp = \"4\";", "let MaxUlp = \"-4\";", "", 3053, "-4"},
    {"def : Function {",
     "def : Function { let Name = \"exp2\"; let TableBits = 4; let Degree = 1; let MaxUlp = \"9\"; }\ndef : Function {",
     "", 3054, "second"},
    // fields that hold less than their numbers
    DERIVED("nx", "minus", "1", 3114, "'nx'"), DERIVED("ni", "less", "1", 3012, "less"),
    DERIVED("ni", "minus", "0", 3116, "by 0"), DERIVED("ni", "minus", "-1", 3116, "by -1"),
    DERIVED("ni", "minus", "1048577", 3116, "1048577"), DERIVED("si", "log2", "1", 3117, "12 bits"),
    DERIVED("ni", "scaled", "2", 3283, "an extent"), DERIVED("off", "minus", "1", 3283, "a base"),
    DERIVED("arg", "scaled", "2", 3283, "slot"), DERIVED("hi", "minus", "1", 3283, "a box"),
    DERIVED("lo", "minus", "1", 3283, "a box"), DERIVED("fill", "scaled", "2", 3283, "what fills"),
    DERIVED("ni", "minus", "2", 3284, "begins at 1"),
    DERIVED("ni\", \"minus\">, DerivedField<\"ni", "minus", "1", 3115, "twice"),
    DERIVED_OF("let Semantics = (acc_add", "acc", "minus", "1", 3283, "of bits"),
    DERIVED_OF("let Semantics = (acc_add", "zp", "minus", "1", 3283, "not used"),
    DERIVED_OF("let Turns", "turns", "scaled", "2", 3283, "turns"),
    {"def IN : Instruction<LD> {",
     STRIDES "def IN : Instruction<LD> {\n  let State = [StateField<\"si\", \"SET\", \"s\">]; "
             "let Derived = [DerivedField<\"si\", \"minus\">];",
     "", 3118, "state and derived"},
    {"\"a\", [\"row\", \"elem\"]>:$x", "\"a\", [\"12x\", \"elem\"]>:$x", "def DOT", 3126, "12x"},
    {"\"a\", [\"row\", \"elem\"]>:$x", "\"a\", [\"268435456\", \"elem\"]>:$x", "def DOT", 3126, "268435456"},
    {"\"a\", [\"row\", \"elem\"]>:$x", "\"a\", [\"99999999999999999999\", \"elem\"]>:$x", "def DOT", 3126, "999"},
    // one field for several windows or dims
    {"\"w\", [\"row\", \"elem\"]>:$v", "\"w\", [\"rows\", \"elem\"]>:$v", "def DOT", 3260, "the stride of window 'v'"},
    {"\"loc\", [\"li\", \"elem\"], 1>:$dst);", "\"loc\", [\"si\", \"elem\"], 1>:$dst);", "def IN", 3260,
     "the stride of window 'src' along 'i' and the stride of window 'dst'"},
    {"let Signed = [\"fill\"];", "let Signed = [\"fill\"]; let Shared = [\"si\"];", "def IN", 3287, "alone"},
    {"let Signed = [\"fill\"];", "let Signed = [\"fill\"]; let Shared = [\"sx\"];", "def IN", 3072, "'sx'"},
    {"Dim<\"b\", 255, \"nb\">];", "Dim<\"b\", 127, \"ni\">]; let Shared = [\"ni\"];", "def IN", 3288, "from 1 to 127"},
    {"\"loc\", [\"li\", \"elem\"], 1>:$dst);", "\"off\", [\"li\", \"elem\"], 1>:$dst); let Shared = [\"off\"];",
     "def IN", 3260, "the base of window 'dst'"},
    // a memory of constants
    OUTSIDE("", 3334, "nothing reads ROM"),
    OUTSIDE(FETCH("Window<ROM, I8, [\"b\"], \"off\", [\"elem\"], 1>", HERE, "$src"), 3230, "is on ROM"),
    OUTSIDE(FETCH(HERE, "OfRom", "$src"), 3331, "'dst' writes ROM"),
    OUTSIDE(FETCH("OfRom", HERE, "(trunc8 (sext $src))"), 3332, "computes on window 'src' in ROM"),
    OUTSIDE("def ToMem : Window<MEM, I8, [\"b\"], \"loc\", [\"elem\"], 1> { let Slot = \"too\"; }\n" FETCH("OfRom",
                                                                                                           "ToMem",
                                                                                                           "$src"),
            3333, "of ROM to MEM"),
    {"let Arguments = 4;\n}", "let Arguments = 1;\n}\n" ROM, "", 3330, "Arguments is 1"},
    // several of them: each is read, is not written, has an argument of its own, and there are not more than four
    OUTSIDE(MORE("MORE") FETCH("OfRom", HERE, "$src"), 3334, "nothing reads MORE"),
    OUTSIDE(MORE("MORE") OF_MORE FETCH("OfMore", HERE, "$src"), 3334, "nothing reads ROM"),
    OUTSIDE(MORE("MORE") OF_MORE FETCH(HERE, "OfMore", "$src"), 3331, "'dst' writes MORE"),
    OUTSIDE(MORE("MORE") OF_MORE FETCH("OfMore", HERE, "(trunc8 (sext $src))"), 3332, "window 'src' in MORE"),
    OUTSIDE(
        MORE("MORE") "def ToMore : Window<MORE, I8, [\"b\"], \"loc\", [\"elem\"], 1> { let Slot = \"too\"; }\n" FETCH(
            "OfRom", "ToMore", "$src"),
        3331, "'dst' writes MORE"),
    OUTSIDE(MORE("A") MORE("B") MORE("C") MORE("D"), 3034, "more than 4 memories of scope \"constants\""),
    {"let Arguments = 4;\n}", "let Arguments = 2;\n}\n" ROM MORE("MORE"), "", 3330, "Arguments is 2"},
    // codes of 4 bits
    OUTSIDE(FETCH("OfRom", HERE, "$src") "def Small : Window<ROM, I4, [\"b\"], \"off\", [\"elem\"], 1> { let Slot = "
                                         "\"arg\"; }\n" SMALL("Small", HERE, "(trunc8 (sext (trunc8 (sext $src))))"),
            3332, "computes on window 'src' in ROM"),
    {"def LOOK :", OF_MEM SMALL("OfMem", HERE, "(trunc8 (add (sext $src), (i32c 1)))") "def LOOK :", "", 3336,
     "does more with codes of i4, 'src'"},
    // by a palette
    {"def LOOK :", OF_MEM CODED("OfMem", PALETTE("BUF"), "32") "def LOOK :", "", 3348,
     "the palette 't' has 32 elements, and 'src' is of i4"},
    {"def LOOK :", OF_MEM CODED("OfMem", PALETTE("SUM"), "16") "def LOOK :", "", 3347, "brings the palette 't' to SUM"},
    {"def LOOK :",
     OF_MEM
     "def OfPalette : Window<MEM, I8, [\"e\"], \"t\", [\"elem\"]> { let Slot = \"too\"; }\n" CODED("OfMem", "OfPalette",
                                                                                                   "16") "def LOOK :",
     "", 3346, "CODED: the palette 't' lies in MEM"},
    // two of four
    SPARSELY(PARTS, "OfMem", "OfMem", FOURS, "4", PUT, 3129, "two of four of no such windows"),
    SPARSELY(PARTS, "OfMem", "Places", FOURS, "8", PUT, 3129, "two of four of no such windows"),
    SPARSELY(PARTS, "OfMem", "Places", HERE, "4", PUT, 3129, "two of four of no such windows"),
    SPARSELY(PARTS, "OfMem", "Places", FOURS, "4", "(set $dst, (max (two_of_four $a, $b, $w), $a))", 3349,
             "SPARSE does more with two of four"),
    SPARSELY(PARTS, "OfMem", "Places", FOURS, "4", "(acc_add $dst, (two_of_four $a, $b, $w))", 3349,
             "SPARSE does more with two of four"),
    SPARSELY(PARTS "def ToMem : Window<MEM, I8, [\"b\", \"r\"], \"loc\", [\"4\", \"elem\"], 1> { let Slot = \"s\"; }\n",
             "OfMem", "Places", "ToMem", "4", PUT, 3350, "SPARSE puts two of four into MEM"),
    SPARSELY(PARTS, HERE, "Places", FOURS, "4", PUT, 3351, "of window 'a', which lies elsewhere"),
    // in a memory of the chip they are copied, and widened by whatever reads them
    {"def LOOK :",
     OF_MEM "def ToMem : Window<MEM, I4, [\"b\"], \"loc\", [\"elem\"], 1> { let Slot = \"too\"; }\n" SMALL(
         "OfMem", "ToMem", "$src") "def LOOK :",
     "", 3335, "operand 'dst' is of i4"},
    {"def LOOK :", SMALL(SMALL_HERE("off"), SMALL_HERE("loc"), "(max $src, $src)") "def LOOK :", "", 3338,
     "SMALL writes codes of i4, 'dst'"},
    {"def LOOK :", SMALL(SMALL_HERE("off"), SMALL_HERE("loc"), "(trunc4 (sext $src))") "def LOOK :", "", 3386,
     "SMALL writes codes of i4, 'dst', and of a byte perhaps one alone"},
    {"def LOOK :", SMALL(SMALL_HERE("off"), HERE, "(trunc4 (sext $src))") "def LOOK :", "", 3100,
     "semantics write i4 into a window of i8"},
    {"def LOOK :", SMALL(SMALL_HERE("off"), HERE, "(trunc8 (add (sext $src), (sext (max $src, $src))))") "def LOOK :",
     "", 3339, "SMALL takes codes of i4, 'src', and does not widen"},
    {"def LOOK :",
     "def Boxed : Window<MEM, I4, [\"b\"], \"off\", [\"elem\"], 1> { let Slot = \"arg\"; let BoxLo = [\"off\"]; let "
     "BoxHi = [\"loc\"]; }\n" SMALL("Boxed", SMALL_HERE("loc"), "$src") "def LOOK :",
     "", 3345, "SMALL copies codes of i4, and fills"},
    {"def LOOK :",
     OF_MEM "def ToMem : Window<MEM, I8, [\"b\"], \"loc\", [\"elem\"], 1> { let Slot = \"too\"; }\n" SMALL(
         "OfMem", "ToMem", "(trunc8 (sext $src))") "def LOOK :",
     "", 3333, "of MEM to MEM"},
    {"def LOOK :",
     "def OfMem : Window<MEM, I4, [\"b\"], \"off\", [\"si\"], 1> { let Slot = \"arg\"; }\n" SMALL(
         "OfMem", HERE, "(trunc8 (sext $src))") "def LOOK :",
     "", 3337, "stride 0 of window 'src'"},
    // rows that are gathered
    GATHERS(TABLE, SLOT, NUMBERS, ROWS_TO, "(set $dst, (gather $t))", 3127, "no table"),
    GATHERS(TABLE, SLOT, NUMBERS, ROWS_TO, "(set $dst, (gather $n, $n))", 3127, "no table"),
    GATHERS(TABLE, SLOT, NUMBERS, ROWS_TO, "(set $dst, (gather $t, (add $n, $n)))", 3128, "'t' are named by"),
    GATHERS(TABLE, SLOT, "Window<SUM, I16, [\"i\"], \"ids\", [\"elem\"], 4>", ROWS_TO, GATHERED, 3128,
            "no window of i32"),
    GATHERS(TABLE, SLOT, NUMBERS, ROWS_TO, "(set $dst, (trunc8 (sext (gather $t, $n))))", 3340, "does more"),
    GATHERS(TABLE, SLOT " let BoxLo = [\"\", \"nb\"]; let BoxHi = [\"\", \"nt\"];", NUMBERS, ROWS_TO, GATHERED, 3341,
            "boxed"),
    GATHERS(TABLE,
            SLOT " }\ndef Boxed : Window<SUM, I32, [\"i\"], \"ids\", [\"elem\"], 4> { let BoxLo = [\"nt\"]; let BoxHi "
                 "= [\"nt\"];",
            "Boxed", ROWS_TO, GATHERED, 3342, "have a box"),
    GATHERS(TABLE, SLOT, NUMBERS, "Window<BUF, I8, [\"b\"], \"loc\", [\"elem\"], 1>", GATHERED, 3343, "'dst' does not"),
    GATHERS("Window<MEM, I8, [\"t\", \"b\"], \"off\", [\"none\", \"elem\"], 1>", SLOT, NUMBERS, ROWS_TO, GATHERED, 3344,
            "behind each other"),
    GATHERS(TABLE, SLOT, NUMBERS, "Window<BUF, I8, [\"t\", \"b\"], \"loc\", [\"li\", \"elem\"], 1>", GATHERED, 3280,
            "walks 't'"),
    // counters among some queues
    PAIRS("Pair<LD, EX>, Pair<EX, LD>, Pair<LD, LD>", 3055, "LD and LD"),
    PAIRS("Pair<LD, EX>, Pair<EX, LD>, Pair<LD, EX>", 3056, "twice"),
    PAIRS("Pair<LD, EX>", 3285, "from EX to LD, which both use BUF"),
    FENCED("", "let Inst{7-0} = 0x06;", 3250, "same encoding"), // a loop's
    FENCED("let Tokens = 7;", "", 3320, "LD: Tokens is 7"), MOST("let Most = -1;", 3043, "Most is -1"),
    MOST("let Most = 4096;", 3043, "Most is 4096"), MOST("", 3010, "field 'Tokens' is not set"),
    MOST("let Most = 3; let Semaphores = [Semaphore<[LD], [EX], 1>, Semaphore<[EX], [LD], 1>];", 3320,
         "Most is of counters"),
    FENCED("", "let Wait = \"of\";", 3323, "'of', which is not there"),
    FENCED("", "bits<3> one; let Inst{12-10} = one; let Wait = \"one\";", 3324, "'one' has 3 bits for 2 queues"),
    FENCED("", "let Cycles = 0;", 3326, "Cycles is 0"), FENCED("", "let Depth = 0;", 3042, "Depth is 0"),
    FENCED("", "let Queues = [LD];", 3044, "nobody can wait for"),
    {"def : Tokens {",
     "def STOP : Fence { let Queues = [LD, EX]; let Depth = 4; let Inst{7-0} = 0x3f; }\ndef : Tokens {", "", 3040,
     "1 records of class Tokens and 1 of class Fence"},
    {"def : Tokens { let Queues = [LD, EX]; let WaitBit = 8; let SignalBit = 10; }",
     BETWEEN
     "def : Tokens { let Queues = "
     "[LD, EX, ON]; let Pairs = [Pair<LD, ON>, Pair<ON, EX>, Pair<EX, LD>]; let WaitBit = 106; let SignalBit = 109; }",
     "", 3286, "by way of ON"},
    {"(plus $r, 2)", "(plus $r, -2)", "", 3104, "-2"}, {"(plus $r, 2)", "(times $r, 0)", "", 3242, "nothing"},
    {"(sext $v))", "(i32c 99999999999))", "", 3105, "i32"}, {"(sext $v))", "(i32c \"3\"))", "", 3105, "i32"},
    {"(exp2 $x)", "(mul $x, (f32c \"abc\"))", "", 3105, "f32"},
    {"(exp2 $x)", "(mul $x, (f32c \"0.5x\"))", "", 3105, "f32"},
    {"(exp2 $x)", "(mul $x, (f32c \"1e39\"))", "", 3105, "f32"},
    {"(exp2 $x)", "(mul $x, (f32c \"inf\"))", "", 3105, "f32"},
    {"(exp2 $x)", "(exp2 " TIMES_32(EXP2) "$x" TIMES_32(END) ")", "", 3106, "nested"},
    {"(plus $r, 2)", "(plus " TIMES_32(PLUS) "$r" TIMES_32(END_1) ", 2)", "", 3107, "nested"},
    {"bits<8> zp;\n  let Dims = [Dim<\"r\", 255, \"rows\">, Dim<\"n\", 8>];\n  let Operands = (ins Window<SUM, I32, "
     "[\"r\", \"n\"], "
     "\"a\", [\"row\", \"elem\"]>:$x, Imm<I8>:$zp",
     "bits<8> zp;\n  let Dims = [Dim<\"r\", 255, \"rows\">, Dim<\"n\", 8>];\n  let Operands = (ins Window<SUM, I32, "
     "[\"r\", \"n\"], "
     "\"a\", [\"row\", \"elem\"]>:$x, Imm<I16>:$zp",
     "def CODE", 3266, "8 bits"},
    {"Window<MEM, I8, [\"i\", \"b\"], \"off\", [\"si\", \"elem\"], 1> {\n  let Slot",
     "Window<MEM, I16, [\"i\", \"b\"], \"off\", [\"si\", \"elem\"], 1> {\n  let Slot", "", 3265, "8 bits"},
    {"Dim<\"i\", 255, \"ni\">", "Dim<\"i\", 256>", "def IN", 3264, "box"},
    {"def : Tokens", TIMES_8(MEMORY) TIMES_8(MEMORY) "def : Tokens", "", 3032, "19 memories"},
    // more than llvm-tblgen is given
    {"def : Tokens", "defvar endless = !range(0, 2000000000);\ndef : Tokens", "", 3006, "memory"},
    {"let Mover = 1;", "", "def NEVER", 0, ""},
}
;

typedef struct seen {
  int codes[64], count;
  char text[16384];
} seen;

static void note(void* user, bool error, int code, const char* text) {
  seen* s = user;
  assert_true(error);
  if (s->count < 64) s->codes[s->count++] = code;
  strncat(s->text, text, sizeof s->text - strlen(s->text) - 2);
  strcat(s->text, "\n");
}

static char* read_base(void) {
  FILE* f = fopen(PB_SOURCE_DIR "/tests/tdl/base.td", "rb");
  assert_non_null(f);
  char* text = calloc(1, 65536);
  assert_true(fread(text, 1, 65535, f) > 0);
  fclose(f);
  return text;
}

static pb_status read_text(const char* text, seen* s) {
  char path[512];
  const char* base = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/pb-faults-XXXXXX.td", base && base[0] ? base : P_tmpdir);
  int fd = mkstemps(path, 3);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  *s = (seen){0};
  pb_diag diag = {.sink = note, .user = s};
  pb_chip* chip = NULL;
  pb_status status = pb_chip_read(path, "", &diag, &chip);
  if (status == PB_OK) pb_chip_free(chip);
  unlink(path);
  return status;
}

static void the_base_has_no_fault(void** state) {
  (void)state;
  char* text = read_base();
  seen s;
  pb_status status = read_text(text, &s);
  if (status != PB_OK) fprintf(stderr, "%s", s.text);
  assert_int_equal(status, PB_OK);
  assert_int_equal(s.count, 0);
  free(text);
}

static bool check_row(const char* base, const row* r) {
  const char* from = r->after[0] ? strstr(base, r->after) : base;
  const char* at = from ? strstr(from, r->find) : NULL;
  if (!at) {
    fprintf(stderr, "base.td has no '%s' after '%s'\n", r->find, r->after);
    return false;
  }
  char* broken = calloc(1, strlen(base) + strlen(r->replace) + 1);
  memcpy(broken, base, (size_t)(at - base));
  strcat(broken, r->replace);
  strcat(broken, at + strlen(r->find));
  seen s;
  pb_status status = read_text(broken, &s);
  bool code = false;
  for (int k = 0; k < s.count; ++k) code |= s.codes[k] == r->code;
  bool ok = status == PB_ERR_INPUT && code && strstr(s.text, r->word);
  if (!ok)
    fprintf(stderr, "'%s' -> '%s': wanted PB%04d with '%s', got:\n%s\n", r->find, r->replace, r->code, r->word, s.text);
  free(broken);
  return ok;
}

static void every_fault_is_named(void** state) {
  (void)state;
  char* base = read_base();
  int failed = 0, count = 0;
  for (const row* r = rows; r->code; ++r, ++count) failed += !check_row(base, r);
  printf("%d faults, %d not named\n", count, failed);
  assert_int_equal(failed, 0);
  free(base);
}

static void commands_survive_encoding(void** state) {
  (void)state;
  static const char* const targets[] = {"simnpu", "simnpu:8", "simnpu:32", PB_SOURCE_DIR "/tests/chips/integers.td"};
  uint64_t seed = 1;
  for (size_t t = 0; t < sizeof targets / sizeof *targets; ++t) {
    pb_chip* chip;
    assert_int_equal(pb_chip_find(targets[t], NULL, NULL, &chip), PB_OK);
    for (int i = 0; i < chip->insn_count; ++i)
      for (int turn = 0; turn < 50; ++turn) {
        const pb_insn* insn = &chip->insns[i];
        pb_command c = {.insn = insn}, back;
        uint8_t bytes[PB_COMMAND_BITS / 8];
        for (int f = 0; f < insn->field_count; ++f) {
          const pb_field* field = &insn->fields[f];
          c.values[f] = pb_field_number(field, 0); // of state and of what is not used
          if (field->bits[0] < 0) continue;
          seed = seed * 6364136223846793005ull + 1442695040888963407ull;
          int64_t span = pb_field_max(field) - pb_field_min(field) + 1;
          int64_t number = turn == 0   ? pb_field_min(field)
                           : turn == 1 ? pb_field_max(field)
                                       : pb_field_min(field) + (int64_t)((seed >> 20) % (uint64_t)span);
          c.values[f] = pb_field_nearest(field, number);
          assert_true(pb_field_holds(field, c.values[f]));
        }
        for (int d = 0; d < insn->dim_count; ++d) {
          const pb_dim* dim = &insn->dims[d];
          if (dim->field >= 0 && c.values[dim->field] < dim->min) c.values[dim->field] = dim->min;
          if (dim->field >= 0 && c.values[dim->field] > dim->max) c.values[dim->field] = dim->max;
        }
        c.waits = (uint32_t)(seed >> 7) & chip->queues[insn->queue].takes;
        c.signals = (uint32_t)(seed >> 17) & chip->queues[insn->queue].gives;
        assert_int_equal(pb_encode(chip, &c, bytes, NULL), PB_OK);
        assert_int_equal(pb_decode(chip, bytes, &back, NULL), PB_OK);
        assert_ptr_equal(back.insn, insn);
        assert_memory_equal(back.values, c.values, sizeof c.values);
        assert_int_equal(back.waits, c.waits);
        assert_int_equal(back.signals, c.signals);
      }
    pb_chip_free(chip);
  }
}

// The first numbers that a field says, what its bits hold for them, and where its numbers end.
static void derived_fields_say_their_numbers(void** state) {
  (void)state;
  pb_field minus = {.width = 8, .form = PB_FORM_MINUS, .by = 1},
           scaled = {.width = 4, .form = PB_FORM_SCALED, .by = 48};
  pb_field log2 = {.width = 5, .form = PB_FORM_LOG2, .by = 1}, sign = scaled;
  sign.is_signed = true;
  assert_int_equal(pb_field_min(&minus), 1);
  assert_int_equal(pb_field_max(&minus), 256);
  assert_false(pb_field_holds(&minus, 0));
  assert_int_equal(pb_field_code(&minus, 256), 255);
  assert_int_equal(pb_field_max(&scaled), 720);
  assert_false(pb_field_holds(&scaled, 49));
  assert_int_equal(pb_field_nearest(&scaled, 49), 96);
  assert_int_equal(pb_field_min(&sign), -384);
  assert_int_equal(pb_field_nearest(&sign, -49), -96);
  assert_int_equal(pb_field_code(&sign, -96), -2);
  assert_int_equal(pb_field_min(&log2), 1);
  assert_int_equal(pb_field_max(&log2), (int64_t)1 << 31);
  assert_false(pb_field_holds(&log2, 0));
  assert_false(pb_field_holds(&log2, 12));
  assert_int_equal(pb_field_nearest(&log2, 12), 16);
  assert_int_equal(pb_field_code(&log2, 16), 4);
}

// A wait for a queue that there is no counter from is no command.
static void tokens_need_counters(void** state) {
  (void)state;
  pb_chip* chip;
  uint8_t bytes[PB_COMMAND_BITS / 8];
  pb_diag quiet = {.sink = pb_diag_drop};
  assert_int_equal(pb_chip_find(PB_SOURCE_DIR "/tests/chips/tinynpu_line.td", NULL, NULL, &chip), PB_OK);
  const pb_insn* pass = pb_chip_insn(chip, "PASS");
  pb_command c = {.insn = pb_chip_idle_insn(chip, pass->queue), .waits = 1 << 0, .signals = 1 << 2}, back;
  assert_ptr_equal(c.insn, pass);
  assert_int_equal(pb_token_way(chip, 0, 2), pass->queue);
  assert_int_equal(pb_token_way(chip, 2, 1), 1);
  assert_int_equal(pb_encode(chip, &c, bytes, NULL), PB_OK);
  assert_int_equal(pb_decode(chip, bytes, &back, &quiet), PB_OK);
  pb_command store = {.insn = pb_chip_insn(chip, "PUTB"), .waits = 1 << 2};
  for (int d = 0; d < store.insn->dim_count; ++d) store.values[store.insn->dims[d].field] = 1;
  assert_int_equal(pb_encode(chip, &store, bytes, NULL), PB_OK);
  assert_int_equal(pb_decode(chip, bytes, &back, &quiet), PB_ERR_INPUT);
  pb_chip_free(chip);
}

// A command whose extents stand in registers says nothing of them; what the registers say is judged once they are
// known.
static void extents_may_stand_in_state(void** state) {
  (void)state;
  pb_chip* chip;
  uint8_t bytes[PB_COMMAND_BITS / 8];
  pb_diag quiet = {.sink = pb_diag_drop};
  assert_int_equal(pb_chip_find(PB_SOURCE_DIR "/tests/chips/tinynpu_registers.td", NULL, NULL, &chip), PB_OK);
  int64_t(*held)[32] = calloc((size_t)chip->insn_count, sizeof *held);
  assert_non_null(held);
  pb_state_clear(chip, held);
  pb_command set = {.insn = pb_chip_insn(chip, "ROWS")}, start = {.insn = pb_chip_insn(chip, "MUL")}, back;
  for (int rows = 0; rows < 2; ++rows) {
    assert_int_equal(pb_encode(chip, &start, bytes, NULL), PB_OK);
    assert_int_equal(pb_decode(chip, bytes, &back, &quiet), PB_OK);
    pb_state_follow(chip, held, &back);
    assert_int_equal(pb_state_extents(&back, &quiet), rows ? PB_OK : PB_ERR_INPUT);
    set.values[pb_insn_field(set.insn, "n_")] = 5;
    pb_state_follow(chip, held, &set);
  }
  assert_int_equal(back.values[pb_insn_field(back.insn, "n_")], 5);
  free(held);
  pb_chip_free(chip);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_base_has_no_fault),     cmocka_unit_test(every_fault_is_named),
      cmocka_unit_test(commands_survive_encoding), cmocka_unit_test(derived_fields_say_their_numbers),
      cmocka_unit_test(tokens_need_counters),      cmocka_unit_test(extents_may_stand_in_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
