//===- edge_npu.td - an NPU of the edge, without floats --------------------===//
//
// What the small NPUs of microcontrollers and phones have in common, after R. David et al., "TensorFlow Lite Micro",
// MLSys 2021, B. Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
// Inference", CVPR 2018 (multiply and rounding shift), and Arm's public overview of the Ethos-U: an int8 array and an
// output unit that adds a bias, multiplies by a factor of 31 bits, shifts to the nearest and clamps on the store path.
// There is no float, and no zero point: those are in the biases. All sizes, rates and latencies are assumed. Six queues
// with tokens; with SEMAPHORES (edge_npu_semaphores.td) semaphores, of which several queues give some; with FENCES
// (edge_npu_fence.td) one list of commands with fences, as such chips have; with FLASH
// (edge_npu_flash.td) weights and parameters in a flash memory beside the DRAM, at a quarter of its rate; with
// SMALL_CODES (edge_npu_i4.td) a command besides that makes bytes of weights of 4 bits; with PACKED
// (edge_npu_packed.td) such weights lie two in a byte in the SRAM too, and the command that loads the array makes bytes
// of them, or with NARROW_ARRAY too (edge_npu_narrow.td) the array widens them; with PALETTE (edge_npu_palette.td) one
// that looks up weights of 16 values by codes of 4 bits, in a table of its own; with TWO_OF_FOUR
// (edge_npu_sparse.td) one that puts two of four weights where they belong; with GATHER (edge_npu_gather.td) one that gathers
// rows of a table by their numbers; with UNSIGNED (edge_npu_unsigned.td) codes are numbers of 0 to 255: codes.td.
//===----------------------------------------------------------------------===//
include "pb.td"
include "codes.td"

defvar N = 32;

#ifdef TWO_OF_FOUR
defvar Slots = 16; // weights take three
#else
defvar Slots = 8;
#endif

def edge_npu : Chip {
  let Summary = "Test chip: 32x32 int8, codes by multiply and shift, no float";
  let Name = "edge_npu"; let Schema = PB_SCHEMA; let Revision = 1; let Control = "queues";
  let MHz = 500; let Arguments = Slots; let CommandBytes = 32;
}

def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 30); let RowBytes = 32; let BytesPerCycle = 32; let Latency = 80; }
#ifdef FLASH
def ROM  : Memory { let Scope = "constants"; let Bytes = !shl(1, 25); let RowBytes = 32; let BytesPerCycle = 8; let Latency = 40; }
defvar Constants = ROM;
#else
defvar Constants = DRAM;
#endif
def SRAM : Memory { let Bytes = !shl(1, 19); let RowBytes = N; let Banks = 8; let BytesPerCycle = !mul(8, N); let Latency = 1; }
def ACC  : Memory { let Bytes = !shl(1, 18); let RowBytes = !mul(4, N); let Banks = 2; let BytesPerCycle = !mul(8, N); let Latency = 1; }
def WREG : Memory { let Kind = "registers"; let Bytes = !mul(4, !mul(N, N)); let RowBytes = N; let Banks = 4; let BytesPerCycle = N; }

#ifdef NARROW_ARRAY
def WREG4 : Memory { let Kind = "registers"; let Bytes = !mul(2, !mul(N, N)); let RowBytes = !div(N, 2); let Banks = 4; let BytesPerCycle = N; }
#endif
#ifdef PALETTE
#ifdef MANY_PALETTES
defvar Palettes = 64;
class TableNumber { bits<6> table; }
#else
defvar Palettes = 4;
class TableNumber { bits<2> table; }
#endif
def LUT : Memory { let Bytes = !mul(16, Palettes); let RowBytes = 16; let BytesPerCycle = 16; let Latency = 1; }
#endif

class Side : Queue { let Depth = 16; }
def LD : Side; // DMA in
def WT : Side; // DMA of weights and parameters
def TL : Side; // weights into the array
def MX : Side; // the array
def OU : Side; // the output unit
def ST : Side; // DMA out
defvar All = [LD, WT, TL, MX, OU, ST];
class Op<Queue q, bits<6> op> : Instruction<q> { let Inst{255-250} = op; }

#ifdef FENCES
def FENCE : Fence {
  bits<6> on;
  let Queues = All; let Wait = "on"; let Depth = 32;
  let Inst{255-250} = 63; let Inst{5-0} = on;
}
#else
#ifdef SEMAPHORES
def OPERANDS : Semaphore<[LD, OU], [MX], 3>;       // rows are there, and room for sums
def RESULTS : Semaphore<[LD, WT, MX], [OU], 3>;    // sums, factors and codes are there
class Alone<Queue from, Queue to> : Semaphore<[from], [to], 3>;
def ROWS : Alone<LD, MX>;
def WEIGHTS_IN : Alone<WT, TL>;
def WEIGHTS_OUT : Alone<TL, WT>;
def TILE_IN : Alone<TL, MX>;
def TILE_OUT : Alone<MX, TL>;
def SUMS : Alone<MX, OU>;
def CODES : Alone<OU, ST>;
def CODES_OUT : Alone<ST, OU>;
def FREE : Alone<ST, LD>;
def : Tokens {
  let Queues = All;
  let Semaphores = [OPERANDS, RESULTS, ROWS, WEIGHTS_IN, WEIGHTS_OUT, TILE_IN, TILE_OUT, SUMS, CODES, CODES_OUT, FREE];
  let WaitBits = 2; let WaitBit = 216; let SignalBit = 238;
}
class Pass<Queue q, bits<6> op> : Op<q, op>, Idle { let Summary = "do nothing: wait for semaphores and give some"; }
def LPASS : Pass<LD, 33>;
def WPASS : Pass<WT, 34>;
def TPASS : Pass<TL, 35>;
def MPASS : Pass<MX, 36>;
def OPASS : Pass<OU, 37>;
def SPASS : Pass<ST, 38>;
#else
def : Tokens { let Queues = All; let Most = 63; let WaitBit = 216; let SignalBit = 232; }
#endif
#endif

// DMA -----------------------------------------------------------------------------------------------------------------

class Dram<Type t, Memory m = DRAM> : Window<m, t, ["i", "j", "b"], "off", ["si", "sj", "elem"], 1> { let Slot = "arg"; }
def Padded : Dram<I8> { let BoxLo = ["ilo", "jlo", ""]; let BoxHi = ["ihi", "jhi", ""]; let Fill = "fill"; }
defvar InSRAM = Window<SRAM, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>;

class Move<Queue q, bits<6> op> : Op<q, op>, Copy {
#ifdef TWO_OF_FOUR
  bits<4> arg; let Inst{200} = arg{3};
#else
  bits<3> arg;
#endif
  bits<28> off; bits<20> si; bits<18> sj; bits<8> ni; bits<8> nj; bits<10> nb; bits<19> loc; bits<18> li; bits<14> lj;
  let Latency = 6; let Buffer = 4096;
  let Dims = [Dim<"i", 255, "ni">, Dim<"j", 255, "nj">, Dim<"b", 1023, "nb">];
  let Inst{12-10} = arg{2-0}; let Inst{40-13} = off; let Inst{60-41} = si; let Inst{78-61} = sj; let Inst{86-79} = ni; let Inst{94-87} = nj;
  let Inst{104-95} = nb; let Inst{123-105} = loc; let Inst{141-124} = li; let Inst{155-142} = lj;
  let Signed = ["off"];
  let Cycles = (times $i, (times $j, (ceildiv $b, 32)));
}
def IN : Move<LD, 1> {
  let Summary = "DRAM to SRAM, filling what lies outside";
  bits<8> ilo; bits<8> ihi; bits<8> jlo; bits<8> jhi; bits<8> fill;
  let Inst{163-156} = ilo; let Inst{171-164} = ihi; let Inst{179-172} = jlo; let Inst{187-180} = jhi; let Inst{195-188} = fill;
  let Operands = (ins Padded:$src, InSRAM:$dst); let Signed = SignedFill;
}
def WEIGHTS : Move<WT, 2> {
  let Summary = "weights to SRAM"; let Operands = (ins Dram<I8, Constants>:$src, InSRAM:$dst);
}
#ifdef SMALL_CODES
class Unpack<bits<6> op, dag widened> : Move<WT, op> {
  let Mover = 0; let Buffer = 0;
  let Operands = (ins Dram<I4, Constants>:$src, InSRAM:$dst); let Semantics = (set $dst, (trunc8 widened));
}
def SMALL_WEIGHTS : Unpack<5, (sext $src)> { let Summary = "weights of 4 bits to SRAM, a byte for each"; }
def UNSIGNED_WEIGHTS : Unpack<6, (zext $src)> { let Summary = "the same of 0 to 15"; }
#endif
#ifdef PACKED
def PACKED_WEIGHTS : Move<WT, 5> {
  let Summary = "weights of 4 bits to SRAM, two in a byte as they lie";
  let Operands = (ins Dram<I4, Constants>:$src, Window<SRAM, I4, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$dst);
  let Cycles = (times $i, (times $j, (ceildiv $b, 64)));
}
#endif
#ifdef TWO_OF_FOUR
class Kept<Type t, string slot, string base, string step> : Window<Constants, t, ["g", "b"], base, [step, "elem"], 1> { let Slot = slot; }
def SPARSE_WEIGHTS : Op<WT, 5> {
  let Summary = "weights of which two of four are not 0, and their places, to SRAM, all of them";
  bits<4> arg; bits<28> off; bits<4> arg2; bits<28> off2; bits<4> arg3; bits<28> off3; bits<14> si; bits<14> sp; bits<8> ng; bits<10> nb;
  bits<19> loc; bits<16> li; bits<14> lj;
  let Dims = [Dim<"g", 255, "ng">, Dim<"r", 4>, Dim<"b", 1023, "nb">]; let Latency = 6;
  let Operands = (ins Kept<I8, "arg", "off", "si">:$first, Kept<I8, "arg2", "off2", "si">:$second, Kept<I4, "arg3", "off3", "sp">:$places,
                      Window<SRAM, I8, ["g", "r", "b"], "loc", ["li", "lj", "elem"], 1>:$dst);
  let Semantics = (set $dst, (two_of_four $first, $second, $places)); let Cycles = (times $g, (times 4, (ceildiv $b, 32)));
  let Shared = ["si"]; let Signed = ["off", "off2", "off3"];
  let Inst{13-10} = arg; let Inst{41-14} = off; let Inst{45-42} = arg2; let Inst{73-46} = off2; let Inst{77-74} = arg3;
  let Inst{105-78} = off3; let Inst{119-106} = si; let Inst{133-120} = sp; let Inst{141-134} = ng; let Inst{151-142} = nb;
  let Inst{170-152} = loc; let Inst{186-171} = li; let Inst{200-187} = lj;
}
#endif
#ifdef PALETTE
def VALUES : Move<WT, 5> {
  let Summary = "a palette of 16 weights to the table of such";
  let Operands = (ins Dram<I8, Constants>:$src, Window<LUT, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$dst);
  let Cycles = (times $i, (times $j, (ceildiv $b, 16)));
}
def CODED_WEIGHTS : Move<WT, 6>, TableNumber {
  let Summary = "codes of 4 bits to SRAM, as the weights that a palette has for them";
  let Mover = 0; let Buffer = 0; let Inst{!add(155, !logtwo(Palettes))-156} = table;
  let Dims = [Dim<"i", 255, "ni">, Dim<"j", 255, "nj">, Dim<"b", 1023, "nb">, Dim<"t", 16>];
  let Operands = (ins Dram<I4, Constants>:$src, Window<LUT, I8, ["t"], "table", ["elem"]>:$t, InSRAM:$dst);
  let Semantics = (set $dst, (lookup $t, (zext $src)));
}
#endif
class Words<Queue q, bits<6> op, Memory from> : Move<q, op> {
  let Operands = (ins Dram<I32, from>:$src, Window<ACC, I32, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$dst);
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 32)));
}
def PARAMETERS : Words<WT, 3, Constants> { let Summary = "biases, factors and shifts to the accumulators"; }
#ifdef GATHER
def NUMBERS : Words<LD, 7, DRAM> { let Summary = "numbers of rows to the accumulators"; }
def TableRows : Window<Constants, I8, ["t", "b"], "off", ["st", "elem"], 1> { let Slot = "arg"; }
def ROWS : Op<WT, 12> {
  let Summary = "rows of a table of codes, by numbers among the accumulators";
  bits<3> arg; bits<28> off; bits<16> st; bits<18> nt; bits<16> ids; bits<8> ni; bits<10> nb; bits<19> loc; bits<18> li;
  let Dims = [Dim<"t", 262143, "nt">, Dim<"i", 255, "ni">, Dim<"b", 1023, "nb">]; let Latency = 6;
  let Operands = (ins TableRows:$table, Window<ACC, I32, ["i"], "ids", ["elem"], 4>:$rows,
                      Window<SRAM, I8, ["i", "b"], "loc", ["li", "elem"], 1>:$dst);
  let Semantics = (set $dst, (gather $table, $rows)); let Cycles = (times $i, (ceildiv $b, 32)); let Signed = ["off"];
  let Inst{12-10} = arg; let Inst{40-13} = off; let Inst{56-41} = st; let Inst{74-57} = nt; let Inst{90-75} = ids; let Inst{98-91} = ni;
  let Inst{108-99} = nb; let Inst{127-109} = loc; let Inst{145-128} = li;
}
#endif
def OUT : Move<ST, 4> {
  let Summary = "SRAM to DRAM"; let Operands = (ins InSRAM:$src, Dram<I8>:$dst);
}

// The array -----------------------------------------------------------------------------------------------------------

def Tiles : Window<WREG, I8, ["k", "n"], "bank", ["row", "elem"], !mul(N, N)>;
def TILE : Op<TL, 8> {
  let Summary = "a tile of 32x32 weights into one of four banks";
  bits<2> bank; bits<14> src; bits<8> step;
  let Dims = [Dim<"k", N>, Dim<"n", N>];
  let Operands = (ins Window<SRAM, I8, ["k", "n"], "src", ["step", "elem"]>:$s, Tiles:$d);
  let Semantics = (set $d, $s); let Cycles = (plus N, 0); let Latency = 2;
  let Inst{11-10} = bank; let Inst{25-12} = src; let Inst{33-26} = step;
}
#ifdef PACKED
class SmallTile<bits<6> op, Window to, dag semantics, int cycles> : Op<TL, op> {
  bits<2> bank; bits<15> src; bits<8> step;
  let Dims = [Dim<"k", N>, Dim<"n", N>];
  let Operands = (ins Window<SRAM, I4, ["k", "n"], "src", ["step", "elem"], !div(N, 2)>:$s, to:$d);
  let Semantics = semantics; let Cycles = (plus cycles, 0); let Latency = 3;
  let Inst{11-10} = bank; let Inst{26-12} = src; let Inst{34-27} = step;
}
#ifdef NARROW_ARRAY
def SmallTiles : Window<WREG4, I4, ["k", "n"], "bank", ["row", "elem"], !div(!mul(N, N), 2)>;
def SMALL_TILE : SmallTile<10, SmallTiles, (set $d, $s), !div(N, 2)> { let Summary = "a tile of 32x32 weights of 4 bits into one of four banks of its own"; }
#else
def SMALL_TILE : SmallTile<10, Tiles, (set $d, (trunc8 (sext $s))), N> { let Summary = "a tile of 32x32 weights of 4 bits into one of four banks, a byte for each"; }
def UNSIGNED_TILE : SmallTile<11, Tiles, (set $d, (trunc8 (zext $s))), N> { let Summary = "the same of 0 to 15"; }
#endif
#endif
class Multiply<bits<6> op, Window weights, dag product> : Op<MX, op> {
  bits<2> bank; bits<1> keep; bits<14> a; bits<12> ai; bits<8> aj; bits<11> c; bits<11> ci; bits<8> cj; bits<10> ni; bits<10> nj;
  let Dims = [Dim<"i", 1023, "ni">, Dim<"j", 1023, "nj">, Dim<"n", N>, Dim<"k", N>];
  let Operands = (ins Window<SRAM, I8, ["i", "j", "k"], "a", ["ai", "aj", "elem"]>:$x,
                      weights:$w, Imm<I1>:$keep, Window<ACC, I32, ["i", "j", "n"], "c", ["ci", "cj", "elem"]>:$y);
  let Semantics = (acc_add $y, $keep, product); let Cycles = (plus (times $i, $j), 1); let Latency = 36;
  let Inst{11-10} = bank; let Inst{12} = keep; let Inst{26-13} = a; let Inst{38-27} = ai; let Inst{46-39} = aj; let Inst{57-47} = c;
  let Inst{68-58} = ci; let Inst{76-69} = cj; let Inst{86-77} = ni; let Inst{96-87} = nj;
}
def MULTIPLY : Multiply<9, Tiles, (mul (Wide $x), (sext $w))> {
  let Summary = "rows of rows of codes by a tile of weights, into or onto accumulators";
}
#ifdef NARROW_ARRAY
def SMALL_MULTIPLY : Multiply<12, SmallTiles, (mul (sext $x), (sext $w))> { let Summary = "the same by weights of 4 bits, which the array widens"; }
def UNSIGNED_MULTIPLY : Multiply<13, SmallTiles, (mul (sext $x), (zext $w))> { let Summary = "the same of 0 to 15"; }
#endif

// The output unit -----------------------------------------------------------------------------------------------------

def : Formula<"sum"> {
  let Operands = (ins Element<I32>:$sum, ByChannel<I32>:$bias, ByChannel<I32>:$factor, ByChannel<I32>:$shift, Imm<I8>:$lo);
  let Value = (trunc8 (min (max (shrr (mul (sext64 (add $sum, $bias)), (sext64 $factor)), (sext64 $shift)), (Wide64 $lo)), (i64c Most)));
}
def : Formula<"add"> {
  let Operands = (ins Element<I8>:$a, Element<I8>:$b, Imm<I16>:$fa, Imm<I16>:$fb, Imm<I32>:$bias, Imm<I8>:$shift, Imm<I8>:$lo);
  let Value = (trunc8 (min (max (shrr (add (add (mul (Wide $a), (sext $fa)), (mul (Wide $b), (sext $fb))), $bias), (sext $shift)),
                                (Wide $lo)), (i32c Most)));
  let FactorBits = 15; let MaxShift = 22;
}

class Unit<bits<6> op> : Op<OU, op> {
  bits<14> y; bits<12> yi; bits<8> yj; bits<10> ni; bits<10> nj;
  let Dims = [Dim<"i", 1023, "ni">, Dim<"j", 1023, "nj">, Dim<"n", N>]; let Cycles = (plus (times $i, $j), 2); let Latency = 8;
  let Inst{23-10} = y; let Inst{35-24} = yi; let Inst{43-36} = yj; let Inst{53-44} = ni; let Inst{63-54} = nj;
}
class Codes<string base> : Window<SRAM, I8, ["i", "j", "n"], base, [base#"i", base#"j", "elem"]>;
class Row<string base> : Window<ACC, I32, ["n"], base, ["elem"]>;

def SCALE : Unit<16> {
  let Summary = "sums to codes: bias, factor, shift to the nearest, clamp";
  bits<11> c; bits<11> ci; bits<8> cj; bits<11> pb; bits<11> pf; bits<11> ps; bits<8> lo;
  let Operands = (ins Codes<"y">:$d, Window<ACC, I32, ["i", "j", "n"], "c", ["ci", "cj", "elem"]>:$x, Row<"pb">:$bias, Row<"pf">:$factor,
                      Row<"ps">:$shift, Imm<I8>:$lo);
  let Semantics = (set $d, (trunc8 (min (max (shrr (mul (sext64 (add $x, $bias)), (sext64 $factor)), (sext64 $shift)), (Wide64 $lo)), (i64c Most))));
  let Signed = SignedLow;
  let Inst{74-64} = c; let Inst{85-75} = ci; let Inst{93-86} = cj; let Inst{104-94} = pb; let Inst{115-105} = pf; let Inst{126-116} = ps;
  let Inst{134-127} = lo;
}
def ADD : Unit<17> {
  let Summary = "codes of two tensors, added";
  bits<14> a; bits<12> ai; bits<8> aj; bits<14> b; bits<12> bi; bits<8> bj; bits<16> fa; bits<16> fb; bits<32> bias; bits<8> shift; bits<8> lo;
  let Operands = (ins Codes<"a">:$x, Codes<"b">:$z, Imm<I16>:$fa, Imm<I16>:$fb, Imm<I32>:$bias, Imm<I8>:$shift, Imm<I8>:$lo, Codes<"y">:$d);
  let Semantics = (set $d, (trunc8 (min (max (shrr (add (add (mul (Wide $x), (sext $fa)), (mul (Wide $z), (sext $fb))), $bias), (sext $shift)),
                                             (Wide $lo)), (i32c Most))));
  let Signed = !listconcat(["fa", "fb", "bias", "shift"], SignedLow);
  let Inst{77-64} = a; let Inst{89-78} = ai; let Inst{97-90} = aj; let Inst{111-98} = b; let Inst{123-112} = bi; let Inst{131-124} = bj;
  let Inst{147-132} = fa; let Inst{163-148} = fb; let Inst{195-164} = bias; let Inst{203-196} = shift; let Inst{211-204} = lo;
}
class Pool<bits<6> op> : Unit<op> {
  bits<14> a; bits<12> ai; bits<8> aj; bits<1> keep;
  let Inst{77-64} = a; let Inst{89-78} = ai; let Inst{97-90} = aj; let Inst{98} = keep;
}
def POOL_MAX : Pool<18> {
  let Summary = "the larger code";
  let Operands = (ins Codes<"a">:$x, Imm<I1>:$keep, Codes<"y">:$d); let Semantics = (Larger $d, $keep, $x);
}
def POOL_SUM : Pool<19> {
  let Summary = "sums of codes";
  let Operands = (ins Codes<"a">:$x, Imm<I1>:$keep, Row<"y">:$d); let Semantics = (acc_add $d, $keep, (Wide $x));
}
