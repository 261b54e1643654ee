//===- pb.td - the chip description language, schema version 1 ------------===//
//
// A chip is one .td file that includes this one. It reads like the chip's data
// sheet: types, memories, queues, instructions with their meaning, their cost
// and their encoding. The back end, the executable machine, the cost model, the
// SystemVerilog parameter package and the manual are all made from it.
//
// Units: Bytes are bytes, Cycles are cycles of the chip's one clock, rates are
// per cycle. A field left unset (`?`) that has no default here is an error.
// Names of records, dims, operands and fields are letters, digits and '_'.
//===----------------------------------------------------------------------===//

defvar PB_SCHEMA = 1;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

// Kind: "int" (two's complement) or "float" (IEEE 754 or as named).
class Type<string name, int width, string kind> {
  string Name = name;           // as IR spells it
  int Bits = width;             // of one element
  string Kind = kind;           // "int" or "float"
}
def I1   : Type<"i1", 1, "int">;      // of immediates
def I4   : Type<"i4", 4, "int">;      // two in a byte, the first below: of windows that commands copy, widen, or make
def I8   : Type<"i8", 8, "int">;
def I16  : Type<"i16", 16, "int">;
def I32  : Type<"i32", 32, "int">;
def F32  : Type<"f32", 32, "float">;
def BF16 : Type<"bf16", 16, "float">; // commands of queues move it, widen it (extf) and round to it (truncf)
def F16  : Type<"f16", 16, "float">;  // the same
def F8E4M3 : Type<"f8e4m3", 8, "float">; // the same: OCP's E4M3, without infinities: 4 bits of exponent, 3 behind the point, to 448
def F8E5M2 : Type<"f8e5m2", 8, "float">; // the same: OCP's E5M2: the upper half of an F16, to 57344

//===----------------------------------------------------------------------===//
// The chip
//===----------------------------------------------------------------------===//

// Exactly one record of this class.
class Chip {
  string Name = ?;              // as in --target=Name
  string Summary = ?;           // one line for the manual
  int Schema = ?;               // PB_SCHEMA it was written for
  int Revision = ?;             // grows when old engines no longer run
  string Control = ?;           // "threads", "grid" or "queues"
  list<string> Variants = [];   // --target=Name:V defines the macro VARIANT_V
  int MHz = 1000;               // for reports only: turns cycles into time
  int Arguments = 16;           // base-address slots a kernel's commands can name
  string Features = "";         // threads: what the code generator may use and a machine must have, by LLVM's names, "avx2,fma"; state-N: granted by the system
  string Tuning = "none";       // threads: the level of processors, "x86-64-v2" to "x86-64-v4", or "none", whose units and latencies code is ordered for; what it may use is Features' alone
  list<string> Converts = [];   // threads and grids: floats of 16 bits, "f16" and "bf16", that cores widen to f32 and round to by instructions of their own
  string RootEstimate = "";     // threads: LLVM's intrinsic that takes a row of lanes of f32, what else lanes are, and a mask of those that are not, and gives 1 / sqrt(x) within 2^-14: x / (s * sqrt(s)) is by it, within 3 ulp
  int CommandBytes = 0;         // queues: size of one encoded command
  bit CommandPort = 0;          // queues: 1: commands come by a port of their own, as wide as the system memory's and as far away, and take nothing from movers
  int TokenCycles = 2;          // queues: what plans count from when a command's results are visible until who waits for them starts
  int StartCycles = 6;          // queues: the same from when a command has arrived until it starts
  int StageCycles = 40;         // threads: what plans count for a core to begin one stage of a kernel behind another
  int BranchCycles = 20;        // threads: the same where a loop ends, whose last branch was not foreseen
  int LoadCycles = 1;           // threads: the same of a register that a sum of plain operations loads; 0: loads go on beside operations
}

// A place where parallel work can go: a thread, or a core that has all queues and the memories of scope "core" to itself.
// A chip with threads has one; with queues one, its cores, or none.
class Level {
  string Name = ?;              // in reports
  int Max = ?;                  // how many there are; of cores with queues at most 1024
  string Sync = "none";         // threads: how its members wait for each other: "barrier", "tokens", "none"; cores with queues do where a kernel ends
  int SyncCycles = 0;           // threads: what one such wait costs
  int Busy = 0;                 // threads: there always are so many, which keep all units busy; 0: nobody knows how many there will be
}

//===----------------------------------------------------------------------===//
// Memories
//===----------------------------------------------------------------------===//

// Exactly one memory is of scope "system": inputs, outputs, what lies between kernels and commands are there, and those
// constants (weights, tables) that no command brings from elsewhere. Up to four more may be outside the chip, of scope
// "constants": the host fills them before the first kernel runs, as DRAM that only weights have, or a ROM. Commands only copy
// from them into the chip, by a port of each, and a constant lies in one where a command copies it from there to the memory that wants
// it: of several in the one of the highest BytesPerCycle that has room for it, of equal ones in the first. All belong to all cores.
// A memory of kind "shadow" or "fifo" is Banks equal parts that commands do not name. A command that writes
// it fills the next bank in turn. One that reads it works on the bank that was taken
// last; if its flag is set it first takes the next, in the order in which they were filled.
// "shadow" has two: one is worked on while the other is filled, and the flag makes them
// change places. "fifo" has several: writing pushes, taking pops, and what was popped
// stays where it is until the next is. A bank may be filled again once all that read it
// are done, and all that were filled are taken before a kernel ends. The hardware makes no
// command wait for that but those that fill and take in one queue; tokens do.
class Memory {
  string Kind = "addressed";    // "addressed", "registers" (matrices or vectors that units hold), "shadow" or "fifo"
  string Scope = "chip";        // "system" (the one that tensors live in), "constants", "chip", "core", "thread"
  int Bytes = ?;                // whole size; of the system's memory at least 64 KiB
  int RowBytes = ?;             // bytes moved by one access; an address unit of `row` windows
  int Banks = 1;                // rows interleave over banks: bank = row mod Banks; of "shadow" and "fifo": how many parts
  int Ports = 1;                // reads that a bank serves in one cycle, and as many writes
  int BytesPerCycle = ?;        // all banks together
  int Latency = 0;              // cycles from request to data
  bit Cached = 0;               // 1: hardware decides what is in it. 0, of scope "core" or "thread" and addressed, where cores run code: tensors pass through it on their way to registers and back
  int LineBytes = 0;            // cached: line
  int SectorBytes = 0;          // cached: so many of a line come by themselves; 0: all of it
  int Ways = 8;                 // cached: lines that can lie in one set
  int ApartCycles = 0;          // registers whose lanes are loaded each from an address of its own: cycles of such a load. 0: lanes are neighbours in memory
  int SameAtOnce = 1;           // registers: so many neighbours, each of which is one number for all lanes, come by one load
  int EachAtOnce = 1;           // registers: so many neighbours of each lane's own come by one load
  // Registers that are no vectors for the code generator, but matrices of rows: LLVM's type of one, and the intrinsics
  // that make it from a vector of i32 of the same bytes and the other way round.
  string Value = "";            // "x86_amx"; "": registers are vectors
  string FromVector = "";       // intrinsic
  string ToVector = "";         // intrinsic
}

//===----------------------------------------------------------------------===//
// Queues and tokens (control by queues)
//===----------------------------------------------------------------------===//

// Commands in one queue start and complete in order; queues run freely against
// each other. A command may wait for one token from each of several queues
// before it starts and hand one token to each of several queues when all it
// wrote is visible. Every ordered pair of queues has a counter, or those that Tokens
// lists; or there are semaphores, which several queues give and take. A chip without tokens has a Fence.
// With InOrder = 0 commands still start in order, but complete in any: one may begin to read or write before those in
// front of it in its own queue have written, or read, what they have to. What must come after one of its own queue
// takes a token from it, for which the queue has a counter to itself, or stands behind a fence for it. A token goes out
// when all that the queue began before are done, too. Such a queue fills and takes no banks, and nothing in it is Beside.
class Queue {
  int Depth = ?;                // commands fetched ahead; of one list with fences: that it holds
  bit InOrder = 1;              // 0: its commands complete in any order
  int Tokens = ?;               // largest count of each of its counters, where it is not the Most of Tokens; with a Fence or Semaphores there are none: leave it out
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

// An iteration dimension of an instruction. Extent from Min to Max; Field names
// the encoded field that carries it, "" means that the extent is always Max.
class Dim<string name, int max, string count = "", int min = 1> {
  string Name = name;           // as in a window's Dims, and $name in Cycles
  int Min = !if(!eq(count, ""), max, min); // least extent
  int Max = max;                // largest extent
  string Field = count;         // the encoded field with the extent
}

// A window on a memory: element (d0, d1, ...) of the operand lies at
//   Base * Unit + sum(d_k * stride_k)        bytes.
// Base names an encoded field. A stride is the name of an encoded field (in Unit
// bytes, signed if listed in Signed), a number of Units ("64": layouts in blocks
// that the hardware knows), "elem" (neighbouring elements), "row" (the next row of
// the memory) or "none" (the dimension does not move the window).
// Unit is the memory's RowBytes unless said.
// Slot names the field with the argument slot, for windows on memories outside: of scope "system" or "constants".
// On a memory of kind "shadow" or "fifo" Base is "" where the window is written, and
// where it is read the flag, of one bit: 1 takes the next bank before it reads. No
// stride is a field there: a bank is filled whole, and has one layout.
// The last stride of a window of I4 is "elem", and no other is: rows begin at whole bytes. A constant all of whose codes are
// -8 to 7, or 0 to 15, lies so in a memory outside, in rows of an even number. There the window is read alone, by a command
// that makes each code a byte, (trunc8 (sext $a)) for the one kind and (trunc8 (zext $a)) for the other, or that copies it
// to a window of I4 on the chip: (set $dst, $src), without a box, both windows along one dim last. Copies move whole bytes,
// of an odd number of codes the half behind them too. In a memory of the chip, or in registers, other commands read such
// codes, and widen them at once: (sext $a), (zext $a). There a command may make them, too: (set $d, (trunc4 e)), where the last
// dim of $d has a fixed, even extent, so that nobody writes half of a byte.
// A command may make elements of codes outside, of I4 or of I8 where elements have more bits, and a palette, a window of
// one dim in an addressed memory of the chip: (set $dst, (lookup $t, (zext $c))). Weights of no more values than the palette
// has elements, the zeros that fill lanes among them, then lie outside as codes in rows of an even number, and the palette
// comes to where it is looked up by a command that copies it; where both take longer than to copy the weights, they are copied.
// Where one palette does not do and the memory has room for several, whose place the window's base names, each block of
// columns that the array takes at once has its own.
// Weights of which, of each four along a sum, two at most are not 0, a command may make of these and of their places: (set $dst,
// (two_of_four $a, $b, $w)) and nothing else, of windows in one memory outside, without a box, on a result in the chip.
// A command that gathers rows says (set $dst, (gather $t, $i)) and does nothing else: $i is a window of I32 in a memory of
// the chip, the table $t lies there or outside. The extent of the table's first dim is how many rows it has, and no loop:
// what takes time are the rows that $i names. A number below 0 is row 0, one past the end the last row.
// An encoded field says one thing: no two of an instruction's bases, strides,
// slots, extents, boxes, fills and immediates share one, in a command or in state,
// but strides, and extents, that Shared lists.
class Window<Memory mem, Type type, list<string> dims, string base, list<string> strides, int unit = 0> {
  Memory Mem = mem;             // where it lies
  Type Elem = type;             // of one element
  list<string> Dims = dims;     // the dims that walk it, outermost first
  string Base = base;           // field: place of the first element, in Units; of banks the flag, or ""
  list<string> Strides = strides; // one for each of Dims
  int Unit = !if(!eq(unit, 0), mem.RowBytes, unit); // bytes of one step of Base and of stride fields
  string Slot = "";             // field: the argument slot; on memories outside only
  // A box [lo, hi) per dimension, by field names; outside it the window reads as
  // the field Fill (or 0). "" = unbounded. Only for windows that are read.
  list<string> BoxLo = [];
  list<string> BoxHi = [];      // the box's ends
  string Fill = "";             // field: what is read outside the box; "": 0
}

// A scalar in the command itself: a number of its type, made of the field's low bits. Signed says which numbers the
// compiler may write there.
class Imm<Type type> {
  Type Elem = type;             // the encoded field is named like the operand
}

// Operators of Operands, Semantics and Cycles.
def ins;      // (ins operand:$name, ...)
// Semantics: what to do with the value, for every point of the destination's dims
def set;      // (set $d, e)             d[...] = e
def acc_add;  // (acc_add $d, $flag, e)  d[...] = (flag ? d[...] : 0) + sum of e over the dims that d lacks
def acc_max;  // (acc_max $d, $flag, e)  the same with max and the type's least value
def acc_maximum; // (acc_maximum $d, $flag, e) the same of f32 with maximum: NaN wins, as ReduceMax and MaxPool need it
def acc_maxu; // (acc_maxu $d, $flag, e) the same of integers taken as unsigned numbers, and 0
// Without $flag both always add to what is there.
// Semantics: values. Types follow the operands; no implicit conversion.
def add;      // sum; integers wrap
def sub;      // difference; integers wrap
def mul;      // product; integers wrap, f32 rounded once
def div;      // quotient of two f32, correctly rounded
def max;      // the larger; of f32 a number wins over NaN, and -0 is below 0
def min;      // the smaller, the same
def neg;      // of an f32: its sign turned, of NaN too
def abs;      // of an f32: without its sign
def sext;       // (sext $a): to i32
def zext;       // (zext $a): to i32, the bits of $a taken as an unsigned number
def zext8;      // (zext8 $i1): to i8, 0 or 1
def sitofp;     // any integer to f32, round to nearest even
def sext64;     // (sext64 $a): to i64, which no window has: wide products and what is made of them
def zext64;     // (zext64 $a): to i64, the bits of $a taken as an unsigned number
def trunc4;     // i32 or i64 to i4: its low bits, which are written
def trunc8;     // the same to i8
def trunc16;    // the same to i16
def trunc32;    // i64 to i32
def sat8;       // i32 or i64 to i8: the nearest code
def sat16;      // the same to i16
def extf;       // (extf $a): an operand of BF16, F16, F8E4M3 or F8E5M2 to f32
def truncf;     // (truncf $x): an f32 to such a type, which is written: the nearest, halves to even; NaN stays one, past the largest stands an infinity, of F8E4M3 NaN: (truncf (max (min $x, (f32c "448")), (f32c "-448"))) ends there
def bitcast;    // the bits of an f32 as an i32, or an i32 as those of an f32
def and;        // of two integers, bit by bit
def or;
def xor;
def shl;        // (shl $a, $s), of i32 or i64: $s counts modulo their bits
def shr;        // right, with sign
def shru;       // right, without
def shrr;       // right, with sign, to the nearest: halves go up. It is (shr (add $a, (shru (shl 1, $s), 1)), $s)
def shra;       // the same, but negative halves go down: away from 0
def sqrt;       // of an f32, correctly rounded
def lookup;     // (lookup $t, $i): element i, an i32 that counts modulo their number, of a window of one dim, which nothing else walks
def two_of_four; // (two_of_four $a, $b, $w): of elements that $a, $b and $w, of I4, do not walk, along a dim of four: $a where the low two bits of $w count them, $b where the high two do, else 0
def gather;     // (gather $t, $i): row $i, an i32, of window $t: along its first dim, which nothing else walks and $i is kept in
def fptosi8;    // f32 in [-128, 127], already integral, to i8
def fptoui8;    // f32 in [0, 255], already integral, to i8: its bits, an unsigned number
def fptosi32;   // f32 to i32, towards 0; past the ends and of NaN: the nearest end, of NaN the least
def less;       // (less $a, $b): i1: $a < $b with sign; of two f32 not so when either is NaN
def less_equal; // the same, or equal
def lessu;      // (lessu $a, $b): i1, of integers taken as unsigned numbers
def equal;      // (equal $a, $b): i1; of two f32 not so when either is NaN
def select;     // (select $i1, $a, $b): $a where the bit is set, else $b
def roundeven;  // f32 to integral f32
def floor;      // the same, down
def ceil;       // up
def whole;      // towards 0
def exp2;       // the Function named exp2
def recip;      // the Function named recip
def rsqrt;      // the Function named rsqrt
// Cycles: integers over dims and fields
def plus;     // (plus a, b): sum
def times;    // (times a, b): product
def ceildiv;  // (ceildiv a, b): quotient, rounded up
def maximum;  // (maximum a, b): the larger; in Semantics of two f32, and NaN wins
def minimum;  // in Semantics alone, the same: the smaller

// Numbers are carried by these in a Semantics dag: (add $x, (f32c "0.5")), (i32c 3)
def f32c;     // a finite number of type f32, as text
def i8c;      // a number of type i8
def i32c;     // a number of type i32
def i64c;     // a number of type i64, of 53 bits at most

// A field of an instruction whose value stands in state written by another one.
class StateField<string name, string writer, string writerName = name> {
  string Field = name;          // of this instruction
  string Writer = writer;       // the instruction that writes the state
  string WriterField = writerName; // and its field
}

// Several that one instruction writes by fields of the same names: let State = StateFields<"CONFIG", ["si", "sj"]>.All.
class StateFields<string writer, list<string> names> {
  list<StateField> All = !foreach(name, names, StateField<name, writer>); // as State wants them
}

// An encoded field that holds another number than the one that is meant. Dims, windows, immediates, costs and semantics
// speak of the number that is meant, at whose place in the command stands
//   "minus"    number - By: a count of 1 to 256 in 8 bits
//   "scaled"   number / By: a stride or an address in blocks; only multiples of By can be said
//   "log2"     its logarithm: only powers of 2 can be said, in 5 bits at most
// Extents and a HardwareLoop's fields may be "minus"; bases "scaled"; strides and immediates of integers all three.
// A dim that counts blocks needs none of it: Dim<"block", 64, "n"> around Dim<"lane", 16>.
class DerivedField<string name, string form, int by = 1> {
  string Field = name;          // of this instruction
  string Form = form;           // "minus", "scaled" or "log2"
  int By = by;                  // "minus", "scaled": by how much
}

// Commands that fill a "shadow" or "fifo" from a memory of the chip, and those that write state alone, may be Beside:
// the queue goes on a cycle later; those of its queue that take the bank or read the state wait, and so does the next one
// that is Beside. So a unit is set up, or its next weights come in, while it works.
// Broadcast: a mover from a memory outside may read once for several cores. The field has a bit for each core, that of the
// first at its bit 0. With two bits or more every core named has the command in its queue, with the same cores, source and
// extents, and a place in its own memory; it begins in all of them together, once it is the next in each of these queues
// and has there what it waits for. Else the core reads for itself alone. Nothing more orders one core after another: with
// tokens, all such commands of a kernel stand in one order in every core; with fences, those of one queue may be such.
// StateOf: an instruction that computes may say something besides, for those that read it as State. One without operands,
// below it, that names it as StateOf says that alone: all of it, by fields of the same names.
class Instruction<Queue queue> {
  Queue Q = queue;              // that executes it
  string Summary = "";          // one line for the manual
  list<Dim> Dims = ?;           // at most 6
  dag Operands = ?;             // (ins Window<...>:$a, Imm<F32>:$s, ...)
  dag Semantics = ?;            // (set $d, e), (acc_add $d, $flag, e), (acc_add $d, e), or acc_max, acc_maximum, acc_maxu like these
  dag Cycles = ?;               // how long its queue is busy
  int Latency = 0;              // further cycles until what it wrote is visible
  bits<256> Inst = ?;           // from bit 0 of byte 0 up; unset bits are 0
  list<string> Signed = [];     // fields in two's complement
  list<string> Shared = [];     // fields that are the stride of several windows, or the extent of several dims: one number for all of them
  list<DerivedField> Derived = []; // fields that hold number - 1, number / 64, log2(number); of state, where the writer says so
  // Fields not in Inst, but held in configuration state: [field, writer, writer's field]
  list<StateField> State = [];
  string StateOf = "";          // the instruction whose state it writes; "": its own
  bit Mover = 0;                // moves data: src is the only window read, dst the only one written
  string Broadcast = "";        // mover, of several cores: the field with a bit for each core that its read is for
  int Buffer = 0;               // mover: bytes asked for and not yet written; over them it reads ahead of its writing
  bit Beside = 0;               // 1: it starts in its turn, and goes on for its Cycles beside the commands behind it
}

// What instructions have in common: a second class of an instruction, behind the first, as in
// class Move<Queue q, bits<6> op> : Op<q, op>, Copy.
// It moves data as they are, from its window src to its window dst.
class Copy {
  bit Mover = 1;                // as of an Instruction
  dag Semantics = (set $dst, $src); // as of an Instruction
}
// It computes nothing: it writes state, or waits and signals alone.
class Idle {
  list<Dim> Dims = [];          // as of an Instruction
  dag Operands = (ins);         // as of an Instruction
  dag Cycles = (plus 1, 0);     // as of an Instruction
}

// An operand in a row of registers: element (d0, d1, ...) follows element (..., dk - 1).
class Reg<Memory mem, Type type, list<string> dims> {
  Memory Mem = mem;             // of kind "registers"
  Type Elem = type;             // of one element
  list<string> Dims = dims;     // the dims that walk it, outermost first, all of them fixed
}

// An operand of a core's instruction in the system's memory, as its caches show it: rows of neighbours, which lie apart
// by a stride that the program gives. The first dim walks the rows, the others walk the neighbours of one.
class Rows<Memory mem, Type type, list<string> dims> {
  Memory Mem = mem;             // of scope "system"
  Type Elem = type;             // of one element
  list<string> Dims = dims;     // the dims that walk it, outermost first
}

// An instruction of a core that runs code made by LLVM (control by threads or a grid): it has no queue and no
// encoding, but a name that the code generator knows. Its operands are whole rows of registers. It has no flag.
// Rows<...> are two arguments: a pointer and the stride in bytes (i64). A register that is only set is no argument.
// With a Shape it works on smaller extents of its dims too, and the code generator is told of them.
// `pb-tdl check`, and pbc with a file for a target, ask LLVM: the intrinsic exists and takes such operands (PB3389), the
// Features are those of the processors that code is made for (PB3388) and suffice for it (PB3390), and on vectors, where
// the processor at hand has them, it comes to what Semantics says, so that another order of operands is found (PB3391).
class CoreInstruction<string emit> {
  string Emit = emit;           // LLVM intrinsic; its arguments are the operands in order, its result the new destination. llvm.fma widens narrower floats to its result's type first, and of several products a result adds one after the other
  string Options = "";          // where lanes of a grid run it: numbers of the intrinsic's that must be constants, in their order, "1 1 0"; 0 what it leaves out
  list<dag> Shape = [];         // arguments (i16) before them, over dims like Cycles: (times $k, 4)
  string Summary = "";          // one line for the manual
  list<Dim> Dims = ?;           // at most 6
  dag Operands = ?;             // (ins Reg<...>:$a, ...)
  dag Semantics = ?;            // (set $d, e), (acc_add $d, e) or (acc_max $d, e)
  dag Cycles = ?;               // how long it keeps its unit busy
  int Units = 1;                // of a core that run it: so many begin at once
  int Adds = 1;                 // 0: the intrinsic only multiplies, without the destination, to which an addition puts that
  int Latency = 0;              // further cycles until the result can be used
}

// A mover that each core has to itself, where cores run code (control by threads): it copies between the system's memory and one of
// the core's own while the code goes on. Code starts a move, and waits for it before it reads what that brings, or writes again what
// it takes; of the moves that were started it makes one after the other. A move is a run of neighbours, repeated along so many loops
// as the mover has. It takes as many beats of the system's memory as its runs touch. A processor that has none runs such code by a
// machine in its runtime, which makes a move no sooner than somebody waits for it and counts cycles.
class CoreMover {
  Memory Near = ?;              // of scope "core" or "thread", addressed, not cached
  bit In = 1;                   // it brings to that memory
  bit Out = 1;                  // it takes from there
  int Loops = 2;                // around a run, 0 to 3
  int Depth = ?;                // moves that are started and not done, at most: a core that starts another waits
  int StartCycles = ?;          // of the core, for each move that it starts
}

// A command that repeats those behind it in its queue, whichever queue that is, or in the list. Behind it stand as many pairs of words as
// the field Body says: a command and a step. In turn t of as many as the field Turns says, the queue runs each command as
// the number command + t * step, modulo 2^(8 * CommandBytes); so every field may grow or fall by a constant of its own.
// Tokens are part of the number. A loop stands in no other loop's body. At most one record of this class.
class HardwareLoop {
  bits<256> Inst = ?;           // as of an Instruction
  string Turns = ?;             // field
  string Body = ?;              // field
  int MaxBody = ?;              // commands in a body, at most; 1 to 32
  list<string> Signed = [];     // as of an Instruction; none of Turns and Body
  list<DerivedField> Derived = []; // as of an Instruction: turns - 1
}

// A counter: commands of one queue hand out tokens that those of the other take, or the same if they complete in any
// order.
class Pair<Queue from, Queue to> {
  Queue From = from;            // hands them out
  Queue To = to;                // takes them
}

// A counting semaphore: each command that signals it adds one when it completes, whichever of Givers its queue is, and
// a command that waits for it takes as many as it says, when so many are there. A count says how many, not whose they
// are. So a wait is for as many as have been given since the wait before it, and no command may signal it for a later
// wait that is not behind those that signal it for an earlier one, or behind that earlier wait itself; the generated
// machine reports one that does. Where several queues take one, each wait must also be behind the others' by other
// semaphores.
// The compiler gives a semaphore when nobody can mistake it, and else first makes sure of that. So queues that use one
// memory must have, straight or by way of others, semaphores of one giver and one taker, or such that several give and
// one takes from which the former lead back to the giver. Queues on these ways, and those givers, need a command that
// does nothing: an Instruction without operands whose fields, if any, are nobody's state. All other semaphores serve
// where they happen to fit.
class Semaphore<list<Queue> givers, list<Queue> takers, int most> {
  list<Queue> Givers = givers;  // whose commands add to it
  list<Queue> Takers = takers;  // whose commands wait for it
  int Most = most;              // largest count, 1 to 15: a command that would add one more completes later
}

// Where tokens stand in every command: one bit for each queue, in order of Queues; or for each of Semaphores a bit to
// signal it, and as many as WaitBits with the number that a command waits for. Or semaphores have commands of their own:
// Instructions without operands, one of each queue that takes some with the field Wait, which is a semaphore's place in
// Semaphores, and Count, how many it takes ("": one), and one of each that gives some with the field Signal. What stands
// behind the former in its queue waits too; the latter signals when all before it is done. They need no other command
// that does nothing.
// Two queues that use one memory and have no counter are put in order by way of
// others: each of those hands the token on by a command that does nothing, an
// Instruction without operands whose fields, if any, are nobody's state.
class Tokens {
  list<Queue> Queues = ?;       // all of them; bit k of both sets is queue k
  list<Pair> Pairs = [];        // which counters there are; []: one for every ordered pair
  int Most = 0;                 // largest count of each counter, of queues that do not say their own Tokens; 0: all say theirs
  list<Semaphore> Semaphores = []; // in place of counters for pairs: at most 16
  int WaitBits = 1;             // of semaphores: bits of how many of one a command waits for, 1 to 4
  int WaitBit = -1;             // first bit of the set of queues to wait for, or of the numbers, in order of Semaphores
  int SignalBit = -1;           // first bit of the set of queues to signal, or of semaphores
  string Wait = "";             // in their place: the field of a command that waits for one semaphore
  string Count = "";            // and its field with how many it takes, which holds 1 to 2^WaitBits - 1
  string Signal = "";           // the field of a command that signals one
}

// In place of Tokens: the commands of all queues stand in one list. What reads it hands each to its queue, one a cycle
// and in the order of the list, and stops where that queue is full. Queues run freely against each other; what orders
// them is this command, which is of no queue: the list goes on behind it when the queues that Wait names have nothing
// left to do, and all that they wrote is visible. Of several cores each has a list. A HardwareLoop stands in the list,
// with commands of whichever queues and fences in its body.
class Fence {
  list<Queue> Queues = ?;       // all of them; bit k of Wait is queue k
  bits<256> Inst = ?;           // as of an Instruction
  string Wait = "";             // field: a bit for each queue that it waits for; "": it waits for all
  int Depth = ?;                // commands of the list that are fetched ahead
  int Cycles = 1;               // from when the queues are done until the list goes on
}

// A function that a unit approximates, defined to the bit: range reduction, then a table of
// 2^TableBits segments with a polynomial of degree Degree and coefficients of f32.
class Function {
  string Name = ?;              // "exp2", "recip", "rsqrt"
  int TableBits = ?;            // log2 of the table's segments
  int Degree = ?;               // of the polynomial in each segment
  string MaxUlp = ?;            // stated error, checked by test
}

//===----------------------------------------------------------------------===//
// Codes, where the chip makes them in another way than this SDK's quantisation
//===----------------------------------------------------------------------===//

// Without such a record codes are clamp(roundeven(f32(sum + bias) * scale) + zero). With one, models are compiled to its
// Value: operators that make codes of sums, or add codes, compute it on every target that is asked to (--like), and
// instructions are found whose Semantics say the same. A scale becomes factor * 2^-shift, to the nearest; a zero point
// that has no operand is folded into the bias. At most one record of each kind.
// "sum", codes of a sum of products: $sum, $bias, $shift, and if wanted $factor, $zero, $lo, $hi.
// "add", codes of two tensors, added: $a, $b, $fa, $fb, $shift, and if wanted $za, $zb, $bias, $zero, $lo, $hi.
class Formula<string of> {
  string Of = of;               // "sum" or "add"
  dag Operands = ?;             // (ins Element<I32>:$sum, ByChannel<I32>:$bias, Imm<I8>:$lo, ...)
  dag Value = ?;                // the code, an i8, of integers alone
  int FactorBits = 31;          // factors are whole numbers of so many bits
  int MaxShift = 62;            // the largest shift
  string MostOff = "0.001";     // a model whose scales would be off by a larger share is refused
}

// The elements of a tensor: $sum, $a, $b.
class Element<Type type> {
  Type Elem = type;             // I32 of a sum, I8 of codes
}

// A number for each channel.
class ByChannel<Type type> {
  Type Elem = type;             // of the number
}
