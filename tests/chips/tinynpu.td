//===- tinynpu.td - a small chip that exists as a description only --------===//
//
// An 8x8 int8 array and a vector unit behind three queues. It shares nothing
// with the reference NPU but the schema: other memories and sizes, 24-byte
// commands with the opcode at the top, rows with a single stride, weights
// loaded by the array's own queue, loads and stores in one queue.
//===----------------------------------------------------------------------===//
include "pb.td"

// tinynpu_4.td, tinynpu_short.td, tinynpu_state.td, tinynpu_line.td, tinynpu_shared.td, tinynpu_registers.td, tinynpu_fence.td, tinynpu_async.td,
// tinynpu_fence_async.td, tinynpu_fence_loop.td, tinynpu_semaphores.td and tinynpu_events.td include this file with one of these macros, or two;
// tinynpu_16x8.td and tinynpu_32x16.td with SIDES, and numbers of their own for what stands under it.
#ifndef SIDES
#ifdef FOUR_LANES
defvar N = 4;
#else
defvar N = 8;
#endif
defvar K = N;       // rows of the array
defvar V = N;       // lanes of the vector unit
defvar U = N;       // codes, or words, that addresses count by
#endif
defvar W = !if(!gt(K, N), !if(!gt(K, V), K, V), !if(!gt(N, V), N, V)); // codes, or words, in a row of memory
#ifdef SHORT_COMMANDS
defvar Rows = 7;    // rows in one command of the array or the vector unit
defvar Boxes = 3;   // rows of runs, and runs, in one move
defvar Run = 15;    // elements in one run
defvar Ahead = 1;   // commands that a queue fetches ahead
defvar Count = 1;   // tokens in a counter
#else
defvar Rows = 255;
defvar Boxes = 255;
defvar Run = 1023;
defvar Ahead = 8;
defvar Count = 15;
#endif

def tinynpu : Chip {
  let Summary = "Test chip: an 8x8 int8 array, three queues, 24-byte commands";
  let Name = "tinynpu";
  let Schema = PB_SCHEMA;
  let Revision = 1;
  let Control = "queues";
  let MHz = 400;
  let Arguments = 8;
  let CommandBytes = 24;
}

def EXT : Memory { let Scope = "system"; let Bytes = !shl(1, 28); let RowBytes = 8; let BytesPerCycle = 8; let Latency = 60; }
def BUF : Memory { let Bytes = !mul(4096, U); let RowBytes = W; let Banks = 2; let BytesPerCycle = !mul(4, K); let Latency = 1; }
def SUM : Memory { let Bytes = !mul(1024, !mul(4, U)); let RowBytes = !mul(4, W); let Banks = 2; let BytesPerCycle = !mul(8, N); let Latency = 1; }
def WB  : Memory { let Kind = "registers"; let Bytes = !mul(2, !mul(K, N)); let RowBytes = N; let Banks = 2; let BytesPerCycle = N; }

#ifdef FENCES
class Waits : Queue { let Depth = Ahead; }
#else
#ifdef SEMAPHORES
class Waits : Queue { let Depth = Ahead; }
#else
class Waits : Queue { let Depth = Ahead; let Tokens = Count; }
#endif
#endif
#ifdef OUT_OF_ORDER
def DM : Waits { let InOrder = 0; }
#else
def DM : Waits;   // between EXT and the chip, both ways
#endif
def MX : Waits;   // the array and its weights
def VX : Waits;   // the vector unit
#ifdef FENCES
def FENCE : Fence {
  bits<3> on;
  let Queues = [DM, MX, VX]; let Wait = "on"; let Depth = 16; let Cycles = 2;
  let Inst{191-186} = 63; let Inst{2-0} = on;
}
#ifdef LOOPS
def AGAIN : HardwareLoop {
  bits<12> turns; bits<5> body;
  let Turns = "turns"; let Body = "body"; let MaxBody = 16;
  let Inst{191-186} = 62; let Inst{11-0} = turns; let Inst{16-12} = body;
}
#endif
#else
#ifdef SEMAPHORES
def OPERANDS : Semaphore<[DM, VX], [MX], 3>; // what the array reads is there, or the sums that it writes are free
def LOADED : Semaphore<[DM], [MX, VX], 2>;
def SUMS : Semaphore<[MX], [VX], 3>;
def FREE : Semaphore<[MX, VX], [DM], 3>;
def CODES : Semaphore<[VX], [DM], 3>;
def : Tokens {
  let Queues = [DM, MX, VX]; let Semaphores = [OPERANDS, LOADED, SUMS, FREE, CODES];
#ifdef EVENTS
  let WaitBits = 2; let Wait = "event"; let Count = "number"; let Signal = "signal";
#else
  let WaitBits = 2; let WaitBit = 176; let SignalBit = 0;
#endif
}
#else
def : Tokens {
  let Queues = [DM, MX, VX]; let WaitBit = 0; let SignalBit = 3;
#ifdef IN_A_LINE
  let Pairs = [Pair<DM, MX>, Pair<MX, DM>, Pair<MX, VX>, Pair<VX, MX>];
#endif
}
#endif
#endif

class Op<Queue q, bits<6> op> : Instruction<q> {
  let Inst{191-186} = op;
}

//===----------------------------------------------------------------------===//
// Movers
//===----------------------------------------------------------------------===//

class Ext<Type t, list<string> dims, list<string> strides> : Window<EXT, t, dims, "off", strides, 1> {
  let Slot = "arg";
}

class Move<bits<6> op> : Op<DM, op> {
  bits<3> arg; bits<26> off; bits<18> si; bits<16> sj; bits<8> ni; bits<8> nj; bits<10> nb;
  bits<15> loc; bits<14> li; bits<12> lj; bits<8> ilo; bits<8> ihi; bits<8> jlo; bits<8> jhi; bits<8> fill;
  let Mover = 1;
  let Dims = [Dim<"i", Boxes, "ni">, Dim<"j", Boxes, "nj">, Dim<"b", Run, "nb">];
  let Inst{20-6} = loc;
  let Inst{54-47} = ni;    let Inst{62-55} = nj;    let Inst{72-63} = nb;
  let Inst{75-73} = arg;   let Inst{101-76} = off;
#ifdef STRIDES_IN_STATE
  let State = [StateField<"si", "WALK", "si">, StateField<"sj", "WALK", "sj">, StateField<"li", "LOCAL", "li">,
               StateField<"lj", "LOCAL", "lj">];
#else
  let Inst{34-21} = li;    let Inst{46-35} = lj;    let Inst{119-102} = si; let Inst{135-120} = sj;
#endif
  let Latency = 8;
}

#ifdef STRIDES_IN_STATE
def WALK : Op<DM, 24> {
  let Summary = "set the strides of moves in EXT";
  bits<18> si; bits<16> sj;
  let Dims = [];
  let Operands = (ins);
  let Cycles = (plus 1, 0);
  let Inst{23-6} = si; let Inst{39-24} = sj;
}
def LOCAL : Op<DM, 25> {
  let Summary = "set the strides of moves on the chip";
  bits<14> li; bits<12> lj;
  let Dims = [];
  let Operands = (ins);
  let Cycles = (plus 1, 0);
  let Inst{19-6} = li; let Inst{31-20} = lj;
}
#endif

def ExtBox : Ext<I8, ["i", "j", "b"], ["si", "sj", "elem"]> {
  let BoxLo = ["ilo", "jlo", ""];
  let BoxHi = ["ihi", "jhi", ""];
  let Fill = "fill";
}

def GETB : Move<1> {
  let Summary = "load a box of bytes, filling what lies outside";
  let Operands = (ins ExtBox:$src, Window<BUF, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$dst);
  let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv $b, 8)));
  let Inst{143-136} = ilo; let Inst{151-144} = ihi; let Inst{159-152} = jlo; let Inst{167-160} = jhi;
  let Inst{175-168} = fill;
  let Signed = ["fill", "off"];
}
def GETW : Move<2> {
  let Summary = "load 32-bit words";
  let Operands = (ins Ext<I32, ["i", "j", "b"], ["si", "sj", "elem"]>:$src,
                      Window<SUM, I32, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$dst);
  let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 8)));
}
def PUTB : Move<3> {
  let Summary = "store bytes";
  let Operands = (ins Window<BUF, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$src,
                      Ext<I8, ["i", "j", "b"], ["si", "sj", "elem"]>:$dst);
  let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv $b, 8)));
}
def PUTW : Move<4> {
  let Summary = "store 32-bit words";
  let Operands = (ins Window<SUM, I32, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$src,
                      Ext<I32, ["i", "j", "b"], ["si", "sj", "elem"]>:$dst);
  let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 8)));
}

//===----------------------------------------------------------------------===//
// The array
//===----------------------------------------------------------------------===//

#ifdef IN_REGISTERS
// Registers, each written by a command of its own; a command that starts something carries nothing but its opcode.
class Register<Queue q, bits<6> op> : Op<q, op> { let Dims = []; let Operands = (ins); let Cycles = (plus 1, 0); }
def TILE_TO : Register<MX, 32> { bits<1> bank; let Inst{6} = bank; }
def TILE_FROM : Register<MX, 33> { bits<12> src; bits<8> step; let Inst{17-6} = src; let Inst{25-18} = step; }
def ROWS : Register<MX, 34> { bits<1> bank; bits<1> keep; bits<8> n_; let Inst{6} = bank; let Inst{7} = keep; let Inst{15-8} = n_; }
def ROWS_FROM : Register<MX, 35> { bits<12> a; bits<8> da; let Inst{17-6} = a; let Inst{25-18} = da; }
def ROWS_TO : Register<MX, 36> { bits<10> c; bits<7> dc; let Inst{15-6} = c; let Inst{22-16} = dc; }
def VECTORS : Register<VX, 37> { bits<8> n_; let Inst{13-6} = n_; }
def VECTORS_FROM : Register<VX, 38> { bits<12> a; bits<8> da; let Inst{17-6} = a; let Inst{25-18} = da; }
def VECTORS_TO : Register<VX, 39> { bits<12> y; bits<8> dy; let Inst{17-6} = y; let Inst{25-18} = dy; }
def CODES : Register<VX, 40> {
  bits<8> zp; bits<8> lo; bits<8> hi; let Signed = ["zp", "lo", "hi"];
  let Inst{13-6} = zp; let Inst{21-14} = lo; let Inst{29-22} = hi;
}
#endif

def SETW : Op<MX, 8> {
  let Summary = "load an 8x8 tile of weights into one of two banks";
  bits<1> bank; bits<12> src; bits<8> step;
  let Dims = [Dim<"k", K>, Dim<"n", N>];
  let Operands = (ins Window<BUF, I8, ["k", "n"], "src", ["step", "elem"], U>:$s,
                      Window<WB, I8, ["k", "n"], "bank", ["row", "elem"], !mul(K, N)>:$d);
  let Semantics = (set $d, $s);
  let Cycles = (plus K, 0);
  let Latency = 2;
#ifdef IN_REGISTERS
  let State = [StateField<"bank", "TILE_TO", "bank">, StateField<"src", "TILE_FROM", "src">, StateField<"step", "TILE_FROM", "step">];
#else
  let Inst{6} = bank; let Inst{18-7} = src; let Inst{26-19} = step;
#endif
}

class Pass<Queue q, bits<6> op> : Op<q, op> {
  let Summary = "do nothing: hand tokens on";
  let Dims = []; let Operands = (ins); let Cycles = (plus 1, 0);
}
#ifdef IN_A_LINE
def PASS : Pass<MX, 10>;
#endif
#ifdef SEMAPHORES
#ifdef EVENTS
class Event<Queue q, bits<6> op> : Op<q, op> { let Dims = []; let Operands = (ins); let Cycles = (plus 1, 0); }
class WaitFor<Queue q, bits<6> op> : Event<q, op> {
  let Summary = "wait for a semaphore, and take from it";
  bits<3> event; bits<2> number; let Inst{2-0} = event; let Inst{4-3} = number;
}
class Raise<Queue q, bits<6> op> : Event<q, op> {
  let Summary = "add one to a semaphore";
  bits<3> signal; let Inst{2-0} = signal;
}
def DM_WAIT : WaitFor<DM, 26>;
def MX_WAIT : WaitFor<MX, 27>;
def VX_WAIT : WaitFor<VX, 28>;
def DM_SIGNAL : Raise<DM, 29>;
def MX_SIGNAL : Raise<MX, 30>;
def VX_SIGNAL : Raise<VX, 31>;
#else
def PASS : Pass<MX, 10>;
def WAIT : Pass<DM, 26>;
def VPASS : Pass<VX, 27>;
#endif
#endif

def MUL : Op<MX, 9> {
  let Summary = "multiply rows by the weights in a bank; set or add to rows of sums";
  bits<1> bank; bits<1> keep; bits<8> n_; bits<12> a; bits<8> da; bits<10> c; bits<7> dc;
  let Dims = [Dim<"m", Rows, "n_">, Dim<"n", N>, Dim<"k", K>];
  let Operands = (ins Window<WB, I8, ["k", "n"], "bank", ["row", "elem"], !mul(K, N)>:$wt,
                      Window<BUF, I8, ["m", "k"], "a", ["da", "elem"], U>:$x,
                      Imm<I1>:$keep,
                      Window<SUM, I32, ["m", "n"], "c", ["dc", "elem"], !mul(4, U)>:$y);
  let Semantics = (acc_add $y, $keep, (mul (sext $x), (sext $wt)));
  let Cycles = (plus $m, 2);
  let Latency = 10;
#ifdef IN_REGISTERS
  let State = [StateField<"bank", "ROWS", "bank">, StateField<"keep", "ROWS", "keep">, StateField<"n_", "ROWS", "n_">,
               StateField<"a", "ROWS_FROM", "a">, StateField<"da", "ROWS_FROM", "da">, StateField<"c", "ROWS_TO", "c">,
               StateField<"dc", "ROWS_TO", "dc">];
#else
  let Inst{6} = bank; let Inst{7} = keep; let Inst{23-16} = n_;
  let Inst{35-24} = a; let Inst{43-36} = da; let Inst{53-44} = c; let Inst{60-54} = dc;
#endif
}

//===----------------------------------------------------------------------===//
// The vector unit: two cycles a row.
//===----------------------------------------------------------------------===//

#ifdef IN_REGISTERS
defvar Where = [StateField<"n_", "VECTORS", "n_">, StateField<"a", "VECTORS_FROM", "a">, StateField<"da", "VECTORS_FROM", "da">,
                StateField<"y", "VECTORS_TO", "y">, StateField<"dy", "VECTORS_TO", "dy">];
#endif
class Vec<bits<6> op> : Op<VX, op> {
  bits<8> n_; bits<12> a; bits<8> da; bits<12> y; bits<8> dy;
#ifdef ONE_STRIDE
  let Shared = ["da"];
#endif
  let Dims = [Dim<"m", Rows, "n_">, Dim<"n", V>];
  let Cycles = (times $m, 2);
  let Latency = 6;
#ifdef IN_REGISTERS
  let State = Where;
#else
  let Inst{13-6} = n_; let Inst{25-14} = a; let Inst{33-26} = da; let Inst{45-34} = y; let Inst{53-46} = dy;
#endif
}
class Code<bits<6> op> : Vec<op> {
  bits<8> zp; bits<8> lo; bits<8> hi;
#ifdef IN_REGISTERS
  let State = !listconcat(Where, [StateField<"zp", "CODES", "zp">, StateField<"lo", "CODES", "lo">, StateField<"hi", "CODES", "hi">]);
#else
  let Inst{61-54} = zp; let Inst{69-62} = lo; let Inst{77-70} = hi;
#endif
}
#ifdef ONE_STRIDE
defvar DY = "da"; // one stride for what is read and what is written
#else
defvar DY = "dy";
#endif
defvar YC = Window<BUF, I8, ["m", "n"], "y", [DY, "elem"], U>;
defvar AC = Window<BUF, I8, ["m", "n"], "a", ["da", "elem"], U>;

def REQ : Code<16> {
  let Summary = "requantise sums";
  bits<10> pb; bits<10> ps;
  let Operands = (ins YC:$d, Window<SUM, I32, ["m", "n"], "a", ["da", "elem"], !mul(4, U)>:$x,
                      Window<SUM, I32, ["n"], "pb", ["elem"], !mul(4, U)>:$bias, Window<SUM, F32, ["n"], "ps", ["elem"], !mul(4, U)>:$scale,
                      Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven (mul (sitofp (add $x, $bias)), $scale)), (sitofp $zp)),
                                              (sitofp $lo)), (sitofp $hi))));
  let Signed = ["zp", "lo", "hi"];
  let Inst{87-78} = pb; let Inst{97-88} = ps;
}
def ADDC : Code<17> {
  let Summary = "add two quantised tensors and requantise";
  bits<12> b; bits<8> db; bits<10> psa; bits<10> psb; bits<8> za; bits<8> zb;
  let Operands = (ins AC:$x, Window<BUF, I8, ["m", "n"], "b", ["db", "elem"], U>:$z,
                      Window<SUM, F32, ["n"], "psa", ["elem"], !mul(4, U)>:$sa, Window<SUM, F32, ["n"], "psb", ["elem"], !mul(4, U)>:$sb,
                      Imm<I8>:$za, Imm<I8>:$zb, Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YC:$d);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven
                      (add (mul (sub (sitofp $x), (sitofp $za)), $sa), (mul (sub (sitofp $z), (sitofp $zb)), $sb))),
                      (sitofp $zp)), (sitofp $lo)), (sitofp $hi))));
  let Signed = ["za", "zb", "zp", "lo", "hi"];
  let Inst{89-78} = b; let Inst{97-90} = db; let Inst{107-98} = psa; let Inst{117-108} = psb;
  let Inst{125-118} = za; let Inst{133-126} = zb;
}
def QNT : Code<18> {
  let Summary = "quantise f32";
  bits<10> ps;
  let Operands = (ins Window<SUM, F32, ["m", "n"], "a", ["da", "elem"], !mul(4, U)>:$x,
                      Window<SUM, F32, ["n"], "ps", ["elem"], !mul(4, U)>:$scale, Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YC:$d);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven (mul $x, $scale)), (sitofp $zp)), (sitofp $lo)), (sitofp $hi))));
  let Signed = ["zp", "lo", "hi"];
  let Inst{87-78} = ps;
}
def MAXC : Vec<19> {
  let Summary = "keep the larger code";
  bits<1> keep;
  let Operands = (ins AC:$x, Imm<I1>:$keep, YC:$d);
  let Semantics = (acc_max $d, $keep, $x);
  let Inst{54} = keep;
}
def SUMC : Vec<20> {
  let Shared = []; let Summary = "sum codes over rows";
  bits<1> keep;
  let Operands = (ins AC:$x, Imm<I1>:$keep, Window<SUM, I32, ["n"], "y", ["elem"], !mul(4, U)>:$d);
  let Semantics = (acc_add $d, $keep, (sext $x));
  let Inst{54} = keep;
}
def DEQ : Vec<21> {
  let Summary = "dequantise codes to f32";
  bits<10> ps; bits<8> za;
  let Operands = (ins AC:$x, Window<SUM, F32, ["n"], "ps", ["elem"], !mul(4, U)>:$scale, Imm<I8>:$za,
                      Window<SUM, F32, ["m", "n"], "y", [DY, "elem"], !mul(4, U)>:$d);
  let Semantics = (set $d, (mul (sub (sitofp $x), (sitofp $za)), $scale));
  let Signed = ["za"];
  let Inst{63-54} = ps; let Inst{71-64} = za;
}
