// A small chip without faults; test_faults.c breaks it in one place at a time.
include "pb.td"
def toy : Chip {
  let Name = "toy"; let Summary = "a small chip"; let Schema = PB_SCHEMA; let Revision = 1;
  let Control = "queues"; let Variants = ["a"]; let CommandBytes = 16; let Arguments = 4;
}
def MEM : Memory { let Scope = "system"; let Bytes = 65536; let RowBytes = 8; let BytesPerCycle = 8; let Latency = 20; }
def BUF : Memory { let Bytes = 4096; let RowBytes = 8; let Banks = 2; let BytesPerCycle = 16; let Latency = 1; }
def SUM : Memory { let Bytes = 4096; let RowBytes = 32; let BytesPerCycle = 32; }
def LD : Queue { let Depth = 2; let Tokens = 7; }
def EX : Queue { let Depth = 3; let Tokens = 15; }
def : Tokens { let Queues = [LD, EX]; let WaitBit = 8; let SignalBit = 10; }
def Outside : Window<MEM, I8, ["i", "b"], "off", ["si", "elem"], 1> {
  let Slot = "arg"; let BoxLo = ["lo", ""]; let BoxHi = ["hi", ""]; let Fill = "fill";
}
def OutsideTo : Window<MEM, I8, ["i", "b"], "off", ["si", "elem"], 1> { let Slot = "arg"; }
def IN : Instruction<LD> {
  bits<2> arg; bits<16> off; bits<12> si; bits<8> ni; bits<8> nb; bits<12> loc; bits<12> li; bits<8> lo; bits<8> hi; bits<8> fill;
  let Mover = 1; let Dims = [Dim<"i", 255, "ni">, Dim<"b", 255, "nb">];
  let Operands = (ins Outside:$src, Window<BUF, I8, ["i", "b"], "loc", ["li", "elem"], 1>:$dst);
  let Semantics = (set $dst, $src); let Cycles = (times $i, $b); let Signed = ["fill"];
  let Inst{7-0} = 0x01; let Inst{13-12} = arg; let Inst{29-14} = off; let Inst{41-30} = si; let Inst{49-42} = ni; let Inst{57-50} = nb;
  let Inst{69-58} = loc; let Inst{81-70} = li; let Inst{89-82} = lo; let Inst{97-90} = hi; let Inst{105-98} = fill;
}
def OUT : Instruction<LD> {
  bits<2> arg; bits<16> off; bits<12> si; bits<8> ni; bits<8> nb; bits<12> loc; bits<12> li;
  let Mover = 1; let Dims = [Dim<"i", 255, "ni">, Dim<"b", 255, "nb">];
  let Operands = (ins Window<BUF, I8, ["i", "b"], "loc", ["li", "elem"], 1>:$src, OutsideTo:$dst);
  let Semantics = (set $dst, $src); let Cycles = (times $i, $b);
  let Inst{7-0} = 0x02; let Inst{13-12} = arg; let Inst{29-14} = off; let Inst{41-30} = si; let Inst{49-42} = ni; let Inst{57-50} = nb;
  let Inst{69-58} = loc; let Inst{81-70} = li;
}
def DOT : Instruction<EX> {
  bits<9> a; bits<9> w; bits<7> y; bits<8> rows; bits<1> acc; bits<8> zp;
  let Dims = [Dim<"r", 255, "rows">, Dim<"n", 8>, Dim<"k", 8>];
  let Operands = (ins Window<BUF, I8, ["r", "k"], "a", ["row", "elem"]>:$x, Window<BUF, I8, ["k", "n"], "w", ["row", "elem"]>:$v,
                      Window<SUM, I32, ["r", "n"], "y", ["row", "elem"]>:$d, Imm<I1>:$acc);
  let Semantics = (acc_add $d, $acc, (mul (sext $x), (sext $v)));
  let Cycles = (plus $r, 2); let Latency = 3;
  let Inst{7-0} = 0x03; let Inst{20-12} = a; let Inst{29-21} = w; let Inst{36-30} = y; let Inst{44-37} = rows; let Inst{45} = acc;
}
def CODE : Instruction<EX> {
  bits<7> a; bits<9> y; bits<8> rows; bits<8> zp;
  let Dims = [Dim<"r", 255, "rows">, Dim<"n", 8>];
  let Operands = (ins Window<SUM, I32, ["r", "n"], "a", ["row", "elem"]>:$x, Imm<I8>:$zp, Window<BUF, I8, ["r", "n"], "y", ["row", "elem"]>:$d);
  let Semantics = (set $d, (fptosi8 (add (roundeven (sitofp $x)), (sitofp $zp))));
  let Cycles = (plus $r, 1); let Signed = ["zp"];
  let Inst{7-0} = 0x04; let Inst{18-12} = a; let Inst{27-19} = y; let Inst{35-28} = rows; let Inst{43-36} = zp;
}
def EXP : Instruction<EX> {
  bits<7> a; bits<7> y; bits<8> rows;
  let Dims = [Dim<"r", 255, "rows">, Dim<"n", 8>];
  let Operands = (ins Window<SUM, F32, ["r", "n"], "a", ["row", "elem"]>:$x, Window<SUM, F32, ["r", "n"], "y", ["row", "elem"]>:$d);
  let Semantics = (set $d, (exp2 $x)); let Cycles = (plus $r, 1);
  let Inst{7-0} = 0x05; let Inst{18-12} = a; let Inst{25-19} = y; let Inst{33-26} = rows;
}
def LOOK : Instruction<EX> {
  bits<9> a; bits<7> t; bits<9> y; bits<8> rows;
  let Dims = [Dim<"r", 255, "rows">, Dim<"n", 8>, Dim<"e", 16>];
  let Operands = (ins Window<BUF, I8, ["r", "n"], "a", ["row", "elem"]>:$x, Window<SUM, I32, ["e"], "t", ["elem"]>:$table,
                      Window<BUF, I8, ["r", "n"], "y", ["row", "elem"]>:$d);
  let Semantics = (set $d, (trunc8 (lookup $table, (sext $x)))); let Cycles = (plus $r, 3);
  let Inst{7-0} = 0x07; let Inst{20-12} = a; let Inst{27-21} = t; let Inst{36-28} = y; let Inst{44-37} = rows;
}
def : Function { let Name = "exp2"; let TableBits = 6; let Degree = 2; let MaxUlp = "4"; }
def AGAIN : HardwareLoop {
  bits<8> turns; bits<4> body;
  let Turns = "turns"; let Body = "body"; let MaxBody = 8;
  let Inst{7-0} = 0x06; let Inst{19-12} = turns; let Inst{23-20} = body;
}
