// Banks that are taken in turn, for the tests of the machine: two that one queue fills and works on, and a FIFO of four
// between two queues; and state that is written beside the command which goes on.
include "pb.td"

def banks : Chip {
  let Summary = "for the tests of banks";
  let Name = "banks"; let Schema = PB_SCHEMA; let Revision = 1; let Control = "queues"; let Arguments = 4; let CommandBytes = 16;
}

def FAR : Memory { let Scope = "system"; let Bytes = !shl(1, 20); let RowBytes = 8; let BytesPerCycle = 8; let Latency = 20; }
def BUF : Memory { let Bytes = 4096; let RowBytes = 8; let BytesPerCycle = 64; }
def SH  : Memory { let Kind = "shadow"; let Banks = 2; let Bytes = 64; let RowBytes = 8; let BytesPerCycle = 8; }
def FF  : Memory { let Kind = "fifo"; let Banks = 4; let Bytes = 128; let RowBytes = 8; let BytesPerCycle = 8; }

def L : Queue { let Depth = 8; let Tokens = 7; }
def X : Queue { let Depth = 8; let Tokens = 7; }
def S : Queue { let Depth = 8; let Tokens = 7; }
def : Tokens { let Queues = [L, X, S]; let WaitBit = 8; let SignalBit = 11; }

def Far : Window<FAR, I8, ["r", "b"], "off", ["8", "elem"], 1> { let Slot = "arg"; }
class Near<string base> : Window<BUF, I8, ["r", "b"], base, ["row", "elem"]>;
class Op<Queue q, bits<6> op> : Instruction<q> { let Dims = [Dim<"r", 4>, Dim<"b", 8>]; let Inst{5-0} = op; }
class Move<Queue q, bits<6> op> : Op<q, op> {
  bits<2> arg; bits<12> off; bits<9> loc;
  let Mover = 1; let Cycles = (plus 4, 0); let Latency = 2;
  let Inst{15-14} = arg; let Inst{27-16} = off; let Inst{36-28} = loc;
}
def LD : Move<L, 1> { let Summary = "load"; let Operands = (ins Far:$s, Near<"loc">:$d); let Semantics = (set $d, $s); }
def ST : Move<S, 2> { let Summary = "store"; let Operands = (ins Near<"loc">:$s, Far:$d); let Semantics = (set $d, $s); }
def PUSH : Op<L, 3> {
  let Summary = "load into the FIFO"; bits<2> arg; bits<12> off;
  let Mover = 1; let Cycles = (plus 4, 0); let Latency = 2;
  let Operands = (ins Far:$s, Window<FF, I8, ["r", "b"], "", ["row", "elem"]>:$d); let Semantics = (set $d, $s);
  let Inst{15-14} = arg; let Inst{27-16} = off;
}
class Near2<bits<6> op> : Op<X, op> { bits<9> loc; let Latency = 3; let Inst{36-28} = loc; }
def FILL : Near2<4> {
  let Summary = "into the bank that is not in use"; let Beside = 1; let Cycles = (plus 16, 0);
  let Operands = (ins Near<"loc">:$s, Window<SH, I8, ["r", "b"], "", ["row", "elem"]>:$d); let Semantics = (set $d, $s);
}
class Work<bits<6> op> : Near2<op> { bits<1> next; bits<8> k; let Inst{37} = next; let Cycles = (plus 20, 0); }
def USE : Work<5> {
  let Summary = "the bank in use, and a number";
  let Operands = (ins Window<SH, I8, ["r", "b"], "next", ["row", "elem"]>:$s, Imm<I8>:$k, Near<"loc">:$d);
  let Semantics = (set $d, (trunc8 (add (sext $s), (sext $k)))); let Inst{45-38} = k;
}
def POP : Near2<6> {
  let Summary = "what lies in front in the FIFO"; bits<1> next; let Inst{37} = next; let Cycles = (plus 20, 0);
  let Operands = (ins Window<FF, I8, ["r", "b"], "next", ["row", "elem"]>:$s, Near<"loc">:$d); let Semantics = (set $d, $s);
}
class Nothing<bits<6> op> : Instruction<X> { let Dims = []; let Operands = (ins); let Inst{5-0} = op; let Cycles = (plus 15, 0); }
def SET : Nothing<7> { let Summary = "the number of ADD, written beside what goes on"; let Beside = 1; bits<8> k; let Inst{45-38} = k; }
def ADD : Near2<8> {
  let Summary = "a number, in state"; bits<8> k; let State = [StateField<"k", "SET", "k">]; let Cycles = (plus 20, 0);
  let Operands = (ins Near<"from">:$s, Imm<I8>:$k, Near<"loc">:$d); bits<9> from; let Inst{54-46} = from;
  let Semantics = (set $d, (trunc8 (add (sext $s), (sext $k))));
}
