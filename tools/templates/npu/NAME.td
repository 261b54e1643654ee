//===- @NAME@.td - the chip @NAME@ ------------------------------------------===//
//
// What the SDK knows of the chip stands here: the compiler, the executable machine, the conformance suite, the disassembler
// and the manual are all made from it. As generated it is an int8 accelerator with a 16 x 16 array and a vector unit. Change
// a piece, then run
//     pb-tdl check @NAME@.td && pb-target-test @NAME@.td
// Every class and field: sdk-docs/description-language.md.
//===----------------------------------------------------------------------===//
include "pb.td" // the language itself

defvar N = 16; // rows and columns of the array, and lanes of a vector

def : Chip {                        // without a name of its own: the target's may be any word, "int" or "MMA" too
  let Name = "@NAME@";                // as in --target=@NAME@
  let Summary = "A 16x16 int8 array and a vector unit"; // one line for the manual
  let Schema = PB_SCHEMA;             // the version of the language that this file is written in
  let Revision = 1;                   // to be raised when old engines no longer run on the chip
  let Control = "queues";             // units read commands from queues, which tokens keep in order
  let MHz = 500;                      // turns cycles into time, in reports only
  let Arguments = 8;                  // base addresses that a kernel's commands can name: tensors in the system's memory
  let CommandBytes = 24;              // every command is encoded in so many bytes
}

//===----------------------------------------------------------------------===//
// Memories: how large, how wide, how fast
//===----------------------------------------------------------------------===//

// The memory that tensors live in, off the chip.
def DRAM : Memory {
  let Scope = "system";               // tensors live here; exactly one memory is so
  let Bytes = !shl(1, 30);            // 1 GiB
  let RowBytes = 16;                  // what one access moves
  let BytesPerCycle = 16;             // the port's width
  let Latency = 80;                   // cycles from asking to data
}
// Codes: inputs, weights and results, a row for the lanes.
def BUF : Memory {
  let Bytes = !mul(4096, N);          // 4096 rows
  let RowBytes = N;                   // and the unit of addresses where a window says nothing else
  let Banks = 4;                      // row r lies in bank r mod 4; each serves a read and a write a cycle
  let BytesPerCycle = !mul(4, N);     // of all banks together
  let Latency = 1;
}
// Sums, biases and scales: 32-bit words.
def SUM : Memory {
  let Bytes = !mul(1024, !mul(4, N)); // 1024 rows
  let RowBytes = !mul(4, N);
  let Banks = 2;
  let BytesPerCycle = !mul(8, N);
  let Latency = 1;
}
// The weights in the array: two banks, so that one is filled while the other works.
def WB : Memory {
  let Kind = "registers";             // a part of the array, not a memory with ports
  let Bytes = !mul(2, !mul(N, N));
  let RowBytes = N;
  let Banks = 2;
  let BytesPerCycle = N;
}

//===----------------------------------------------------------------------===//
// Queues: units that run at the same time
//===----------------------------------------------------------------------===//

// Depth: commands fetched ahead; short of Latency / cycles of a command the unit starves. Tokens: the largest count of each
// counter, one for every ordered pair of queues.
def LD : Queue { let Depth = 16; let Tokens = 31; } // DRAM to the chip
def MX : Queue { let Depth = 16; let Tokens = 31; } // the array and its weights
def VX : Queue { let Depth = 16; let Tokens = 31; } // the vector unit
def ST : Queue { let Depth = 16; let Tokens = 31; } // the chip to DRAM
// Where a command says whom it waits for and whom it signals: a bit for each queue, bits 0 to 3 and 4 to 7.
def : Tokens { let Queues = [LD, MX, VX, ST]; let WaitBit = 0; let SignalBit = 4; }

class Op<Queue q, bits<6> op> : Instruction<q> {
  let Inst{191-186} = op;             // the opcode: what tells commands apart
}

//===----------------------------------------------------------------------===//
// Movers: ni x nj runs of nb elements, from one place to another
//===----------------------------------------------------------------------===//

// A window: element (i, j, b) lies at off + i * si + j * sj + b, in bytes (unit 1), of the argument that the field `arg` names.
class Outside<Type t> : Window<DRAM, t, ["i", "j", "b"], "off", ["si", "sj", "elem"], 1> {
  let Slot = "arg";
}
// The same with a box: outside of it `fill` is read, so that padding costs nothing.
def Padded : Outside<I8> {
  let BoxLo = ["ilo", "jlo", ""];
  let BoxHi = ["ihi", "jhi", ""];
  let Fill = "fill";
}
defvar InBUF = Window<BUF, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>;
defvar InSUM = Window<SUM, I32, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>;

class Move<Queue q, bits<6> op> : Op<q, op> {
  bits<3> arg; bits<26> off; bits<18> si; bits<16> sj; bits<8> ni; bits<8> nj; bits<10> nb; // fields, and their widths
  bits<16> loc; bits<14> li; bits<12> lj;
  let Mover = 1;                      // it copies bits, and does nothing else
  let Dims = [Dim<"i", 255, "ni">, Dim<"j", 255, "nj">, Dim<"b", 1023, "nb">]; // name, largest extent, its field
  let Latency = 8;                    // cycles after it has left its queue until what it wrote can be read
  // Where each field stands in the command.
  let Inst{23-8} = loc;    let Inst{37-24} = li;    let Inst{49-38} = lj;
  let Inst{57-50} = ni;    let Inst{65-58} = nj;    let Inst{75-66} = nb;
  let Inst{78-76} = arg;   let Inst{104-79} = off;  let Inst{122-105} = si; let Inst{138-123} = sj;
}

def LDB : Move<LD, 1> {
  let Summary = "load a box of bytes, filling what lies outside";
  bits<8> ilo; bits<8> ihi; bits<8> jlo; bits<8> jhi; bits<8> fill;
  let Operands = (ins Padded:$src, InBUF:$dst);
  let Semantics = (set $dst, $src);   // what it does, for every (i, j, b)
  let Cycles = (times $i, (times $j, (ceildiv $b, 16))); // how long its queue is busy
  let Signed = ["fill", "off"];       // fields in two's complement
  let Inst{146-139} = ilo; let Inst{154-147} = ihi; let Inst{162-155} = jlo; let Inst{170-163} = jhi;
  let Inst{178-171} = fill;
}
def LDW : Move<LD, 2> {
  let Summary = "load 32-bit words";
  let Operands = (ins Outside<I32>:$src, InSUM:$dst);
  let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 16)));
}
def STB : Move<ST, 3> {
  let Summary = "store bytes";
  let Operands = (ins InBUF:$src, Outside<I8>:$dst);
  let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv $b, 16)));
}
def STW : Move<ST, 4> {
  let Summary = "store 32-bit words";
  let Operands = (ins InSUM:$src, Outside<I32>:$dst);
  let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 16)));
}

//===----------------------------------------------------------------------===//
// The array
//===----------------------------------------------------------------------===//

def WLD : Op<MX, 8> {
  let Summary = "load a 16x16 tile of weights into one of two banks";
  bits<1> bank; bits<12> src; bits<8> step;
  let Dims = [Dim<"k", N>, Dim<"n", N>]; // no field: the extent is always N
  // Bases count rows (the memory's RowBytes) unless a window gives another unit, as that of the bank: a whole tile.
  let Operands = (ins Window<BUF, I8, ["k", "n"], "src", ["step", "elem"]>:$s,
                      Window<WB, I8, ["k", "n"], "bank", ["row", "elem"], !mul(N, N)>:$d);
  let Semantics = (set $d, $s);
  let Cycles = (plus N, 0);
  let Latency = 2;
  let Inst{8} = bank; let Inst{20-9} = src; let Inst{28-21} = step;
}

def MMA : Op<MX, 9> {
  let Summary = "multiply rows by the weights in a bank; set or add to rows of sums";
  bits<1> bank; bits<1> keep; bits<8> m_; bits<12> a; bits<8> da; bits<10> c; bits<7> dc;
  let Dims = [Dim<"m", 255, "m_">, Dim<"n", N>, Dim<"k", N>];
  let Operands = (ins Window<WB, I8, ["k", "n"], "bank", ["row", "elem"], !mul(N, N)>:$wt,
                      Window<BUF, I8, ["m", "k"], "a", ["da", "elem"]>:$x,
                      Imm<I1>:$keep,  // a number in the command itself
                      Window<SUM, I32, ["m", "n"], "c", ["dc", "elem"]>:$y);
  // y = (keep ? y : 0) + the sum over k, which y lacks.
  let Semantics = (acc_add $y, $keep, (mul (sext $x), (sext $wt)));
  let Cycles = (plus $m, 2);
  let Latency = 18;
  let Inst{8} = bank; let Inst{9} = keep; let Inst{17-10} = m_;
  let Inst{29-18} = a; let Inst{37-30} = da; let Inst{47-38} = c; let Inst{54-48} = dc;
}

//===----------------------------------------------------------------------===//
// The vector unit: a row of N lanes a cycle
//===----------------------------------------------------------------------===//

class Vec<bits<6> op> : Op<VX, op> {
  bits<8> m_; bits<12> a; bits<8> da; bits<12> y; bits<8> dy;
  let Dims = [Dim<"m", 255, "m_">, Dim<"n", N>];
  let Cycles = (plus $m, 2);
  let Latency = 6;
  let Inst{15-8} = m_; let Inst{27-16} = a; let Inst{35-28} = da; let Inst{47-36} = y; let Inst{55-48} = dy;
}
// Results that are codes: zero point zp, between lo and hi.
class Code<bits<6> op> : Vec<op> {
  bits<8> zp; bits<8> lo; bits<8> hi;
  let Inst{63-56} = zp; let Inst{71-64} = lo; let Inst{79-72} = hi;
}
defvar YC = Window<BUF, I8, ["m", "n"], "y", ["dy", "elem"]>; // rows of codes, written
defvar AC = Window<BUF, I8, ["m", "n"], "a", ["da", "elem"]>; // rows of codes, read

// The results of convolutions and products. The compiler finds an instruction by its expression, never by its name: change
// the expression and it is another instruction.
def REQ : Code<16> {
  let Summary = "requantise sums";
  bits<10> pb; bits<10> ps;
  let Operands = (ins YC:$d, Window<SUM, I32, ["m", "n"], "a", ["da", "elem"]>:$x,
                      Window<SUM, I32, ["n"], "pb", ["elem"]>:$bias, Window<SUM, F32, ["n"], "ps", ["elem"]>:$scale,
                      Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven (mul (sitofp (add $x, $bias)), $scale)), (sitofp $zp)),
                                              (sitofp $lo)), (sitofp $hi))));
  let Signed = ["zp", "lo", "hi"];
  let Inst{89-80} = pb; let Inst{99-90} = ps;
}
// Residuals: the sum of two tensors of different scales.
def ADDC : Code<17> {
  let Summary = "add two quantised tensors and requantise";
  bits<12> b; bits<8> db; bits<10> psa; bits<10> psb; bits<8> za; bits<8> zb;
  let Operands = (ins AC:$x, Window<BUF, I8, ["m", "n"], "b", ["db", "elem"]>:$z,
                      Window<SUM, F32, ["n"], "psa", ["elem"]>:$sa, Window<SUM, F32, ["n"], "psb", ["elem"]>:$sb,
                      Imm<I8>:$za, Imm<I8>:$zb, Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YC:$d);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven
                      (add (mul (sub (sitofp $x), (sitofp $za)), $sa), (mul (sub (sitofp $z), (sitofp $zb)), $sb))),
                      (sitofp $zp)), (sitofp $lo)), (sitofp $hi))));
  let Signed = ["za", "zb", "zp", "lo", "hi"];
  let Inst{91-80} = b; let Inst{99-92} = db; let Inst{109-100} = psa; let Inst{119-110} = psb;
  let Inst{127-120} = za; let Inst{135-128} = zb;
}
// The model's input, and its output further down: f32 outside, codes inside.
def QNT : Code<18> {
  let Summary = "quantise f32";
  bits<10> ps;
  let Operands = (ins Window<SUM, F32, ["m", "n"], "a", ["da", "elem"]>:$x,
                      Window<SUM, F32, ["n"], "ps", ["elem"]>:$scale, Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YC:$d);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven (mul $x, $scale)), (sitofp $zp)), (sitofp $lo)), (sitofp $hi))));
  let Signed = ["zp", "lo", "hi"];
  let Inst{89-80} = ps;
}
// Max pooling, one position of the window a command.
def MAXC : Vec<19> {
  let Summary = "keep the larger code";
  bits<1> keep;
  let Operands = (ins AC:$x, Imm<I1>:$keep, YC:$d);
  let Semantics = (acc_max $d, $keep, $x);
  let Inst{56} = keep;
}
// Average pooling.
def SUMC : Vec<20> {
  let Summary = "sum codes over rows";
  bits<1> keep;
  let Operands = (ins AC:$x, Imm<I1>:$keep, Window<SUM, I32, ["n"], "y", ["elem"]>:$d);
  let Semantics = (acc_add $d, $keep, (sext $x));
  let Inst{56} = keep;
}
def DEQ : Vec<21> {
  let Summary = "dequantise codes to f32";
  bits<10> ps; bits<8> za;
  let Operands = (ins AC:$x, Window<SUM, F32, ["n"], "ps", ["elem"]>:$scale, Imm<I8>:$za,
                      Window<SUM, F32, ["m", "n"], "y", ["dy", "elem"]>:$d);
  let Semantics = (set $d, (mul (sub (sitofp $x), (sitofp $za)), $scale));
  let Signed = ["za"];
  let Inst{65-56} = ps; let Inst{73-66} = za;
}
