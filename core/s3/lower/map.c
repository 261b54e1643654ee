// Map: nests become calls of instructions, on windows of the buffers; copies of buffers rotate (depth). Requires tiled
// kernels; leaves loops, allocs at the top of the function (one for all copies of a buffer), windows
// (memref.reinterpret_cast) that appear only as operands of calls, and calls. Every call's function has the
// instruction's semantics as a plain nest, so the IR still runs. Exact.
//
//   before   affine.for i, j, n, k: acc[i, j, n] += x[r + i, s + j, k] * held[k, n]
//   after    call @chip.MMA(window x, window held, window acc, accumulate?, rows...)
//
// A nest that only sets a result to its reduction's neutral value goes: the instruction's accumulate flag is false in
// the first iteration of the loops that reduce.
#include "core/poly/nest.h"
#include "core/s3/kernel/flat.h"
#include "core/s3/kernels.h"
#include "core/s3/lower/instruction.h"
#include "core/s3/tree/tiling.h"
#include "core/select/select.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Func.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BUFFERS = PB_MAX_BUFFERS, MAX_LEVELS = PB_NEST_OUTERS };

typedef struct mapped_buffer {
  MlirValue ir;
  pb_access shape;
  const char* name;
  int memory, depth, level;
  int argument;      // that it is, -1: an alloc
  bool pending_init; // set to neutral by a nest that went; accumulation starts below `init_level`
  int init_level;
} mapped_buffer;

typedef struct mapper {
  pb_unit* unit;
  const char* kernel;
  MlirOperation func;
  pb_text head, body; // allocs go to the head
  MlirValue ivs[MAX_LEVELS];
  int64_t extents[MAX_LEVELS];
  int64_t first[MAX_LEVELS], iterations[MAX_LEVELS]; // of the row of iterations that the loop is part of
  int levels;
  mapped_buffer buffers[MAX_BUFFERS];
  int buffer_count, serial;
  bool (*used)[PB_TYPE_COUNT + 1]; // instructions, by the type that a mover copies
  int* outside;                    // by argument: the memory in which commands read or write it; -1: none has yet
  bool* packed;                    // by argument: its codes lie two in a byte there
} mapper;

static mapped_buffer* buffer_of(mapper* m, MlirValue v) {
  for (int k = 0; k < m->buffer_count; ++k)
    if (pb_value_same(m->buffers[k].ir, v)) return &m->buffers[k];
  return NULL;
}

static const char* reference(mapper* m, MlirValue v) {
  mapped_buffer* b = buffer_of(m, v);
  if (b && b->argument < 0) return pb_printf(&m->unit->pass, "%%b%d", (int)(b - m->buffers));
  return pb_printf(&m->unit->pass, "%%a%d", (int)mlirBlockArgumentGetArgNumber(v));
}

static pb_status too_many_buffers(const mapper* m) {
  return pb_unsupported(m->unit->diag, (pb_place){.what = m->kernel}, 4020, NULL, "too many buffers");
}

static pb_status map_alloc(mapper* m, MlirOperation op) {
  if (m->buffer_count == MAX_BUFFERS) return too_many_buffers(m);
  mapped_buffer* b = &m->buffers[m->buffer_count];
  *b = (mapped_buffer){.ir = mlirOperationGetResult(op, 0),
                       .level = m->levels,
                       .depth = (int)pb_op_integer(op, "pb.depth", 1),
                       .argument = -1};
  pb_access_of_value(b->ir, &b->shape);
  b->memory = pb_memref_memory(m->unit->chip, b->ir);
  pb_access whole = b->shape;
  whole.space = m->unit->chip->memories[b->memory].name;
  whole.rank = b->shape.rank + 1;
  memmove(&whole.shape[1], &whole.shape[0], sizeof(int64_t) * (size_t)b->shape.rank);
  whole.shape[0] = b->depth;
  MlirAttribute name = pb_op_attribute(op, "pb.name");
  MlirStringRef s = mlirAttributeIsNull(name) ? mlirStringRefCreateFromCString("") : mlirStringAttrGetValue(name);
  pb_text_add(&m->head, "  %%b%d = memref.alloc() {pb.name = \"%.*s\"", m->buffer_count++, (int)s.length, s.data);
  int64_t place = pb_op_integer(op, "pb.place", -1);
  if (place >= 0) pb_text_add(&m->head, ", pb.place = %lld : i64", (long long)place);
  pb_text_add(&m->head, "} : ");
  pb_access_print_type(&m->head, &whole);
  pb_text_add(&m->head, "\n");
  return PB_OK;
}

static void flatten(mapper* m, const pb_nest* nest, pb_flat* flat) {
  const pb_chip* chip = m->unit->chip;
  pb_flat_begin(nest, flat);
  const mapped_buffer* stored = buffer_of(m, nest->access[nest->access_count - 1].memref);
  for (int a = 0; a < nest->access_count; ++a) {
    const mapped_buffer* b = buffer_of(m, nest->access[a].memref);
    if (!b) {
      pb_flat_place_tensor(chip, nest, a, stored ? stored->memory : -1, flat);
      continue;
    }
    pb_flat_place(chip, nest, a, b->memory, flat);
    int64_t copy = pb_access_elements(&b->shape) * (pb_type_bits(nest->access[a].type) / 8);
    if (b->depth > 1) flat->access[a].aligned_rows &= copy % chip->memories[b->memory].row_bytes == 0;
  }
}

// A mover copies bits: the type of what it moves where that is not its own, else PB_TYPE_COUNT.
static pb_type copied_type(const pb_nest* nest, const pb_match* match) {
  pb_type type = nest->access[nest->access_count - 1].type;
  return match->insn->mover && match->insn->operands[match->insn->dest].type != type ? type : PB_TYPE_COUNT;
}

typedef struct call {
  pb_type type;
  mapper* m;
  const pb_nest* nest;
  const pb_match* match;
  int indent, id;
  int stand_in; // argument of the kernel for a window that is not read, -1: none has its type
} call;

// The loops around the call, bands and then leftover ones, as a map's dims or as its operands.
static void print_loops(call* c, bool dims) {
  pb_text* t = &c->m->body;
  int levels = c->m->levels, leftover = c->match->loop_count;
  pb_text_add(t, "(");
  for (int k = 0; k < levels + leftover; ++k) {
    pb_text_add(t, "%s", k ? ", " : "");
    if (dims)
      pb_text_add(t, "d%d", k);
    else if (k < levels)
      pb_text_add(t, "%%o%d", k);
    else
      pb_text_add(t, "%%l%d_%d", c->id, k - levels);
  }
  pb_text_add(t, ")");
}

// %<name> = affine.apply of a linear function of the loops around the call: bands, then leftover loops.
static void print_apply(call* c, const char* name, const int64_t* bands, const int64_t* loops, int64_t cst,
                        const mapped_buffer* rotates) {
  pb_text* t = &c->m->body;
  pb_text_indent(t, c->indent);
  pb_text_add(t, "%%%s = affine.apply affine_map<", name);
  int levels = c->m->levels, leftover = c->match->loop_count;
  print_loops(c, true);
  pb_text_add(t, " -> (%lld", (long long)cst);
  for (int k = 0; k < levels; ++k)
    if (bands[k]) pb_text_add(t, " + d%d * %lld", k, (long long)bands[k]);
  for (int k = 0; k < leftover; ++k)
    if (loops[k]) pb_text_add(t, " + d%d * %lld", levels + k, (long long)loops[k]);
  if (rotates && rotates->depth > 1 && rotates->level > 0) {
    pb_text_add(t, " + ((");
    int64_t iterations = 1, before = 0; // of the loops inside, and those of which a loop is the remainder
    for (int k = rotates->level - 1; k >= 0; --k) {
      pb_text_add(t, "%sd%d * %lld", k < rotates->level - 1 ? " + " : "", k, (long long)iterations);
      before += c->m->first[k] * iterations;
      iterations *= c->m->iterations[k];
    }
    if (before) pb_text_add(t, " + %lld", (long long)before);
    pb_text_add(t, ") mod %d) * %lld", rotates->depth, (long long)pb_access_elements(&rotates->shape));
  }
  pb_text_add(t, ")>");
  print_loops(c, false);
  pb_text_add(t, "\n");
}

static void print_index_constant(pb_text* t, int indent, const char* name, int64_t value) {
  pb_text_indent(t, indent);
  pb_text_add(t, "%%%s = arith.constant %lld : index\n", name, (long long)value);
}

// The window of operand o: base, extents and strides as numbers, so that all windows of an operand have one type.
static void print_window(call* c, int o) {
  const pb_operand* operand = &c->match->insn->operands[o];
  const pb_flat* flat = &c->match->nest;
  pb_text* t = &c->m->body;
  int a = c->match->access_of[o];
  // a window that is not read (a mover that only fills) still has to be some window: a tensor stands in, its extents 1
  const pb_access* access = a >= 0 ? &c->nest->access[a] : NULL;
  char name[48];
  int64_t bands[MAX_LEVELS] = {0}, loops[PB_FLAT_DIMS] = {0};
  mapped_buffer* b = access ? buffer_of(c->m, access->memref) : NULL;
  if (access) {
    for (int k = 0; k < c->m->levels; ++k) bands[k] = pb_access_stride(access, PB_NEST_DIMS + k);
    for (int k = 0; k < c->match->loop_count; ++k) loops[k] = flat->access[a].stride[c->match->loops[k]];
  }
  snprintf(name, sizeof name, "p%d_%d", c->id, o);
  print_apply(c, name, bands, loops, access ? pb_access_offset(access) : 0, b);
  for (int k = 0; k < operand->rank; ++k) {
    int d = c->match->dim_of[operand->dims[k]];
    snprintf(name, sizeof name, "n%d_%d_%d", c->id, o, k);
    const pb_dim* dim = &c->match->insn->dims[operand->dims[k]];
    bool table = dim->table && access;
    const int64_t rows = table && operand->rows >= 0 ? flat->access[a].rows : 0;
    print_index_constant(t, c->indent, name, rows ? rows : table ? dim->max : d < 0 || !access ? 1 : flat->extent[d]);
    snprintf(name, sizeof name, "s%d_%d_%d", c->id, o, k);
    int64_t stride = rows                                                          ? flat->access[a].row
                     : table                                                       ? 1
                     : d < 0 || !access                                            ? 0
                     : access->splat && operand->strides[k].kind == PB_STRIDE_ELEM ? 1
                                                                                   : flat->access[a].stride[d];
    print_index_constant(t, c->indent, name, stride);
  }
  pb_text_indent(t, c->indent);
  pb_text_add(t, "%%w%d_%d = memref.reinterpret_cast %s to offset: [%%p%d_%d], sizes: [", c->id, o,
              access ? reference(c->m, access->memref) : pb_printf(&c->m->unit->pass, "%%a%d", c->stand_in), c->id, o);
  for (int k = 0; k < operand->rank; ++k) pb_text_add(t, "%s%%n%d_%d_%d", k ? ", " : "", c->id, o, k);
  pb_text_add(t, "], strides: [");
  for (int k = 0; k < operand->rank; ++k) pb_text_add(t, "%s%%s%d_%d_%d", k ? ", " : "", c->id, o, k);
  pb_text_add(t, "] : ");
  if (access) {
    pb_access type = *access;
    bool copies = b && b->argument < 0;
    if (copies) {
      type.rank = b->shape.rank + 1;
      type.shape[0] = b->depth;
      memcpy(&type.shape[1], b->shape.shape, sizeof(int64_t) * (size_t)b->shape.rank);
    }
    if (b) type.space = c->m->unit->chip->memories[b->memory].name;
    pb_access_print_type(t, &type);
  } else {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(c->m->func, 0));
    pb_access tensor;
    pb_access_of_value(mlirBlockGetArgument(block, c->stand_in), &tensor);
    pb_access_print_type(t, &tensor);
  }
  pb_text_add(t, " to ");
  pb_instruction_window_type(t, c->m->unit->chip, operand, c->type);
  pb_text_add(t, "\n");
}

// The box of one window dim: [lo, hi) of the dim's iterations that lie inside the tensor.
static void print_box(call* c, int o, int k) {
  const pb_operand* operand = &c->match->insn->operands[o];
  pb_text* t = &c->m->body;
  int a = c->match->access_of[o];
  int d = c->match->dim_of[operand->dims[k]];
  int64_t extent = d < 0 ? 1 : c->match->nest.extent[d];
  const pb_access* access = a >= 0 ? &c->nest->access[a] : NULL;
  int rank = access && access->boxed && d >= 0 ? c->match->nest.access[a].box_rank[d] : -1;
  if (rank < 0) {
    char lo[48], hi[48];
    snprintf(lo, sizeof lo, "lo%d_%d_%d", c->id, o, k);
    snprintf(hi, sizeof hi, "hi%d_%d_%d", c->id, o, k);
    print_index_constant(t, c->indent, lo, 0);
    print_index_constant(t, c->indent, hi, c->match->fills ? 0 : extent);
    return;
  }
  const pb_index* index = &access->index[rank];
  const pb_flat_access* flat = &c->match->nest.access[a];
  int64_t run = flat->box_run[d] > 1 ? flat->box_run[d] : 1; // a box in elements
  for (int side = 0; side < 2; ++side) {
    pb_text_indent(t, c->indent);
    pb_text_add(t, "%%%s%d_%d_%d = affine.%s affine_map<", side ? "hi" : "lo", c->id, o, k, side ? "min" : "max");
    print_loops(c, true);
    pb_text_add(t, " -> (%lld, %lld", side ? (long long)extent : 0LL,
                (long long)(run * (side ? access->shape[rank] - index->cst : -index->cst)));
    for (int l = 0; l < c->m->levels; ++l)
      if (index->coef[PB_NEST_DIMS + l])
        pb_text_add(t, " + d%d * %lld", l, (long long)(run * -index->coef[PB_NEST_DIMS + l]));
    for (int l = 0; l < c->match->loop_count; ++l)
      if (flat->box_rank[c->match->loops[l]] == rank)
        pb_text_add(t, " + d%d * %lld", c->m->levels + l, (long long)(run * -flat->box_step[c->match->loops[l]]));
    pb_text_add(t, ")>");
    print_loops(c, false);
    pb_text_add(t, "\n");
  }
}

// The accumulate flag: false in the first iteration of every loop that reduces into the buffer since it was set.
static void print_flag(call* c, int o) {
  pb_text* t = &c->m->body;
  const pb_access* store = &c->nest->access[c->nest->access_count - 1];
  mapped_buffer* b = buffer_of(c->m, store->memref);
  int64_t bands[MAX_LEVELS] = {0}, loops[PB_FLAT_DIMS] = {0};
  bool starts = b && b->pending_init && !c->match->nest.onto;
  for (int k = starts ? b->init_level : c->m->levels; k < c->m->levels; ++k)
    bands[k] = pb_access_uses(store, PB_NEST_DIMS + k) ? 0 : 1;
  const pb_flat_access* f = &c->match->nest.access[c->match->nest.access_count - 1];
  for (int k = 0; k < c->match->loop_count; ++k) loops[k] = f->stride[c->match->loops[k]] ? 0 : 1;
  char name[48];
  snprintf(name, sizeof name, "t%d", c->id);
  print_apply(c, name, bands, loops, starts ? 0 : 1, NULL);
  pb_text_indent(t, c->indent);
  pb_text_add(t, "%%z%d = arith.constant 0 : index\n", c->id);
  pb_text_indent(t, c->indent);
  pb_text_add(t, "%%m%d_%d = arith.cmpi ne, %%t%d, %%z%d : index\n", c->id, o, c->id, c->id);
}

static void print_immediate(call* c, int o) {
  pb_text* t = &c->m->body;
  pb_type type = c->match->insn->operands[o].type;
  pb_text_indent(t, c->indent);
  pb_text_add(t, "%%m%d_%d = arith.constant ", c->id, o);
  pb_number_print(t, type, c->match->imm[o]);
  pb_text_add(t, " : %s\n", pb_type_name(type));
}

// What the command says of dim d: how far the nest goes along it, or how many rows the table has that is gathered of.
static int64_t extent_of(const pb_match* match, int d) {
  int table = pb_insn_gathers(match->insn);
  if (table >= 0 && match->insn->operands[table].dims[0] == d) return match->nest.access[match->access_of[table]].rows;
  return match->dim_of[d] < 0 ? 1 : match->nest.extent[match->dim_of[d]];
}

// The first tensor outside of the type that the nest stores.
static int stand_in_for(mapper* m, const pb_nest* nest) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(m->func, 0));
  pb_access tensor;
  for (int k = 0; k < (int)mlirBlockGetNumArguments(block); ++k) {
    MlirValue argument = mlirBlockGetArgument(block, k);
    if (pb_access_of_value(argument, &tensor) && !buffer_of(m, argument) &&
        tensor.type == nest->access[nest->access_count - 1].type)
      return k;
  }
  return -1;
}

static void print_call(mapper* m, const pb_nest* nest, const pb_match* match, int indent) {
  call c = {.m = m, .nest = nest, .match = match, .indent = indent + match->loop_count, .id = m->serial++};
  const pb_insn* insn = match->insn;
  pb_text* t = &m->body;
  c.type = copied_type(nest, match);
  c.stand_in = match->fills ? stand_in_for(m, nest) : -1;
  m->used[insn->index][c.type] = true;
  for (int k = 0; k < match->loop_count; ++k) {
    pb_text_indent(t, indent + k);
    pb_text_add(t, "affine.for %%l%d_%d = 0 to %lld {\n", c.id, k, (long long)match->nest.extent[match->loops[k]]);
  }
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* operand = &insn->operands[o];
    if (operand->memory >= 0)
      print_window(&c, o);
    else if (o == insn->acc_flag)
      print_flag(&c, o);
    else
      print_immediate(&c, o);
    for (int k = 0; operand->memory >= 0 && operand->has_box && k < operand->rank; ++k)
      if (operand->box_lo[k] >= 0) print_box(&c, o, k);
  }
  for (int d = 0; d < insn->dim_count; ++d) {
    if (insn->dims[d].field < 0) continue;
    char name[48];
    snprintf(name, sizeof name, "x%d_%d", c.id, d);
    print_index_constant(t, c.indent, name, extent_of(match, d));
  }
  const pb_operand* boxed = pb_instruction_boxed(insn);
  if (boxed && boxed->fill >= 0) {
    double fill = match->fills ? match->fill : 0;
    for (int a = 0; a < nest->access_count; ++a)
      if (nest->access[a].boxed) fill = nest->access[a].fill;
    pb_text_indent(t, c.indent);
    pb_type type = c.type == PB_TYPE_COUNT ? boxed->type : c.type;
    pb_text_add(t, "%%f%d = arith.constant ", c.id);
    pb_number_print(t, type, fill);
    pb_text_add(t, " : %s\n", pb_type_name(type));
  }
  pb_text_indent(t, c.indent);
  pb_instruction_call(t, m->unit->chip, insn, c.type, c.id, nest->name);
  for (int k = match->loop_count - 1; k >= 0; --k) {
    pb_text_indent(t, indent + k);
    pb_text_add(t, "}\n");
  }
}

// Each argument lies in one memory: that of the windows on it.
static pb_status note_outside(mapper* m, const pb_nest* nest, const pb_match* match) {
  const pb_chip* chip = m->unit->chip;
  for (int o = 0; o < match->insn->operand_count; ++o) {
    int memory = match->insn->operands[o].memory, a = match->access_of[o];
    if (memory < 0 || a < 0 || !pb_is_outside(&chip->memories[memory])) continue;
    intptr_t argument = mlirBlockArgumentGetArgNumber(nest->access[a].memref);
    int* noted = &m->outside[argument];
    bool packed = match->insn->operands[o].type == PB_I4;
    if (*noted >= 0 && (*noted != memory || m->packed[argument] != packed))
      return pb_unsupported(m->unit->diag, (pb_place){.what = nest->name}, 4025,
                            "a command that copies it there in the other way too",
                            "one kernel reads a constant in %s%s and in %s%s, and it lies in one way",
                            chip->memories[*noted].name, m->packed[argument] ? " as codes of 4 bits" : "",
                            chip->memories[memory].name, packed ? " as codes of 4 bits" : "");
    *noted = memory;
    m->packed[argument] = packed;
  }
  return PB_OK;
}

// Notes at the function's arguments which lie in the memory of scope "constants", and which have two codes in a byte.
static void mark_outside(const mapper* m, size_t arguments) {
  const pb_chip* chip = m->unit->chip;
  for (size_t k = 0; k < arguments; ++k) {
    if (m->packed[k])
      mlirFuncSetArgAttr(m->func, (intptr_t)k, mlirStringRefCreateFromCString("pb.packed"),
                         mlirUnitAttrGet(m->unit->context));
    if (m->outside[k] < 0 || m->outside[k] != chip->constant_memory) continue;
    MlirAttribute name =
        mlirStringAttrGet(m->unit->context, mlirStringRefCreateFromCString(chip->memories[chip->constant_memory].name));
    mlirFuncSetArgAttr(m->func, (intptr_t)k, mlirStringRefCreateFromCString("pb.memory"), name);
  }
}

static bool sets_neutral(const pb_nest* nest) { return !strcmp(nest->part, "init") && nest->access_count == 1; }

static pb_status map_nest(mapper* m, MlirOperation op, int indent) {
  pb_nest* nest = pb_alloc_raw(&m->unit->pass, sizeof *nest);
  const char* why = pb_nest_read(op, &m->unit->pass, nest);
  if (why) return pb_unsupported(m->unit->diag, (pb_place){.what = nest->name}, 4021, NULL, "%s", why);
  pb_nest_order_outers(nest, m->ivs, m->extents, m->levels);
  for (int a = 0; a < nest->access_count; ++a) { // vectors of one number are marked on the kernel's argument
    mapped_buffer* b = buffer_of(m, nest->access[a].memref);
    nest->access[a].splat =
        b ? b->shape.splat : !mlirAttributeIsNull(pb_argument_attribute(nest->access[a].memref, "pb.splat"));
  }
  if (!strcmp(nest->part, "load") && nest->access_count == 2 && nest->access[0].splat) {
    mapped_buffer* b = buffer_of(m, nest->access[1].memref);
    if (b) b->shape.splat = true;
    nest->access[0].splat = false; // the load itself moves the whole row
    nest->access[1].splat = false;
  }
  if (sets_neutral(nest)) {
    mapped_buffer* b = buffer_of(m, nest->access[0].memref);
    if (b) {
      b->pending_init = true;
      b->init_level = m->levels;
      return PB_OK;
    }
  }
  pb_flat flat;
  pb_match match;
  flatten(m, nest, &flat);
  if (!pb_select(m->unit->chip, &flat, &m->unit->pass, &match, &why))
    return pb_unsupported(m->unit->diag, (pb_place){.what = nest->name}, 4022, NULL, "%s cannot run its part '%s': %s",
                          m->unit->chip->name, nest->part, why);
  if (match.fills && stand_in_for(m, nest) < 0)
    return pb_unsupported(m->unit->diag, (pb_place){.what = nest->name}, 4023, NULL,
                          "%s fills in its part '%s', and no tensor of this kernel has the type of what is filled",
                          match.insn->name, nest->part);
  match.insn = match.twins[nest->stream % match.twin_count];
  PB_TRY(note_outside(m, nest, &match));
  print_call(m, nest, &match, indent);
  return PB_OK;
}

// Which iterations of a loop are whose: with the number of its first among those of its band.
static void keep_share(mapper* m, MlirOperation loop) {
  MlirAttribute parts = pb_op_attribute(loop, "pb.parts");
  if (!mlirAttributeIsNull(parts)) {
    pb_text_add(&m->body,
                " {pb.first = %lld : i64, pb.iterations = %lld : i64, pb.parts = ", (long long)m->first[m->levels],
                (long long)m->iterations[m->levels]);
    mlirAttributePrint(parts, pb_text_append, &m->body);
    pb_text_add(&m->body, "}");
  }
  pb_text_add(&m->body, "\n");
}

static pb_status map_block(mapper* m, MlirBlock block, int indent);

// What is done in one iteration of a loop: the condition stays as it is.
static pb_status map_iteration(mapper* m, MlirOperation op, int indent) {
  int level = 0;
  while (level < m->levels && !pb_value_same(m->ivs[level], mlirOperationGetOperand(op, 0))) ++level;
  pb_text_indent(&m->body, indent);
  pb_text_add(&m->body, "affine.if ");
  mlirAttributePrint(pb_op_attribute(op, "condition"), pb_text_append, &m->body);
  pb_text_add(&m->body, "(%%o%d) {\n", level);
  PB_TRY(map_block(m, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)), indent + 1));
  pb_text_indent(&m->body, indent);
  pb_text_add(&m->body, "}\n");
  return PB_OK;
}

static pb_status map_block(mapper* m, MlirBlock block, int indent) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (pb_op_is(op, "memref.alloc"))
      PB_TRY(map_alloc(m, op));
    else if (!mlirAttributeIsNull(pb_op_attribute(op, "pb.part")))
      PB_TRY(map_nest(m, op, indent));
    else if (pb_op_is(op, "affine.if"))
      PB_TRY(map_iteration(m, op, indent));
    else if (pb_op_is(op, "affine.for")) {
      if (m->levels == MAX_LEVELS)
        return pb_unsupported(m->unit->diag, (pb_place){.what = m->kernel}, 4024, NULL,
                              "loops over tiles more than %d deep", MAX_LEVELS);
      MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
      m->extents[m->levels] = pb_loop_iterations(op);
      m->first[m->levels] = pb_op_integer(op, "pb.first", 0);
      m->iterations[m->levels] = pb_op_integer(op, "pb.iterations", m->extents[m->levels]);
      m->ivs[m->levels] = mlirBlockGetArgument(body, 0);
      pb_text_indent(&m->body, indent);
      pb_text_add(&m->body, "affine.for %%o%d = 0 to %lld {\n", m->levels, (long long)m->extents[m->levels]);
      ++m->levels;
      PB_TRY(map_block(m, body, indent + 1));
      --m->levels;
      pb_text_indent(&m->body, indent);
      pb_text_add(&m->body, "}");
      keep_share(m, op);
    }
  }
  return PB_OK;
}

// Tensors that stay on the chip from kernel to kernel.
static pb_status map_residents(mapper* m, MlirBlock block) {
  for (int k = 0; k < (int)mlirBlockGetNumArguments(block); ++k) {
    MlirValue ir = mlirBlockGetArgument(block, k);
    int memory = pb_memref_memory(m->unit->chip, ir);
    if (pb_is_outside(&m->unit->chip->memories[memory])) continue;
    if (m->buffer_count == MAX_BUFFERS) return too_many_buffers(m);
    mapped_buffer* b = &m->buffers[m->buffer_count++];
    *b = (mapped_buffer){.ir = ir, .memory = memory, .depth = 1, .argument = k};
    pb_access_of_value(ir, &b->shape);
  }
  return PB_OK;
}

static pb_status map_kernel(pb_unit* unit, MlirOperation func) {
  mapper* m = PB_NEW(&unit->pass, mapper);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  m->unit = unit;
  m->func = func;
  m->kernel = pb_func_name(func, &unit->pass);
  size_t arguments = (size_t)mlirBlockGetNumArguments(body);
  m->outside = PB_NEW_ARRAY(&unit->pass, int, arguments + 1);
  memset(m->outside, 0xff, (arguments + 1) * sizeof *m->outside);
  m->packed = PB_NEW_ARRAY(&unit->pass, bool, arguments + 1);
  m->used = pb_alloc_array(&unit->pass, (size_t)unit->chip->insn_count + 1, sizeof *m->used);
  pb_status status = map_residents(m, body);
  if (status == PB_OK) status = map_block(m, body, 1);
  if (status == PB_OK) {
    pb_text all = {0};
    for (int i = 0; i < unit->chip->insn_count; ++i)
      for (int type = 0; type <= PB_TYPE_COUNT; ++type)
        if (m->used[i][type]) pb_instruction_function(&all, unit->chip, &unit->chip->insns[i], (pb_type)type);
    mark_outside(m, arguments);
    pb_func_print_head(&all, func, "", NULL);
    pb_text_add(&all, "%s%s  return\n}\n", m->head.data ? m->head.data : "", m->body.data ? m->body.data : "");
    status = pb_kernel_replace(unit, func, &all, "map");
    pb_text_free(&all);
  }
  pb_text_free(&m->head);
  pb_text_free(&m->body);
  return status;
}

// Where code is made for the cores a nest needs no instruction.
pb_status pb_s3_map(pb_unit* unit) { return pb_chip_runs_code(unit->chip) ? PB_OK : pb_kernels_each(unit, map_kernel); }
