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
#include "core/s3/kernel/flat.h"
#include "core/s3/lower/instruction.h"
#include "core/s3/lower/tiled.h"
#include "core/s3/small_codes.h"
#include "core/select/select.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Dialect/Func.h>
#include <stdio.h>
#include <string.h>

// What nests have done to a buffer so far.
typedef struct buffer_state {
  bool pending_init; // set to neutral by a nest that went; accumulation starts below `init_level`
  int init_level;
} buffer_state;

typedef struct mapper {
  pb_unit* unit;
  MlirOperation func;
  pb_tiled* tiled;
  pb_text head, body; // allocs go to the head
  const pb_tree* loops[PB_NEST_OUTERS];
  int levels, serial;
  buffer_state states[PB_MAX_BUFFERS];
  pb_instructions called;
  int* outside; // by argument: the memory in which commands read or write it; -1: none has yet
  bool* packed; // by argument: its codes lie two in a byte there
} mapper;

static pb_tiled_buffer* buffer_of(const mapper* m, const pb_access* access) {
  return access->buffer >= 0 ? &m->tiled->buffers[access->buffer] : NULL;
}

static const char* reference(const mapper* m, const pb_access* access) {
  const pb_tiled_buffer* b = buffer_of(m, access);
  if (b && b->argument < 0) return pb_printf(&m->unit->pass, "%%b%d", access->buffer);
  return pb_printf(&m->unit->pass, "%%a%d", (int)mlirBlockArgumentGetArgNumber(access->memref));
}

// The type of all copies of a buffer, one after the other: an index more than tensors may have.
static void print_copies_type(const mapper* m, const pb_tiled_buffer* b, pb_text* text) {
  pb_text_add(text, "memref<%dx", b->depth);
  for (int r = 0; r < b->shape.rank; ++r) pb_text_add(text, "%lldx", (long long)b->shape.shape[r]);
  pb_text_add(text, "%s, \"%s\">", pb_type_name(b->shape.type), m->unit->chip->memories[b->memory].name);
}

static void map_alloc(mapper* m, int buffer) {
  const pb_tiled_buffer* b = &m->tiled->buffers[buffer];
  pb_text_add(&m->head, "  %%b%d = memref.alloc() {pb.name = \"%s\"", buffer, b->name);
  if (b->lies != b->shape.type) pb_text_add(&m->head, ", pb.packed = %d : i64", pb_codes_of_type(b->lies));
  if (b->place >= 0) pb_text_add(&m->head, ", pb.place = %lld : i64", (long long)b->place);
  pb_text_add(&m->head, "} : ");
  print_copies_type(m, b, &m->head);
  pb_text_add(&m->head, "\n");
}

static void flatten(mapper* m, const pb_nest* nest, pb_flat* flat) {
  pb_flat_home homes[PB_NEST_ACCESSES];
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_tiled_buffer* b = buffer_of(m, &nest->access[a]);
    homes[a] = (pb_flat_home){.tensor = true};
    if (b)
      homes[a] = (pb_flat_home){.memory = b->memory,
                                .copies = b->depth,
                                .bytes = pb_bytes_of(b->lies, pb_access_elements(&b->shape)),
                                .lies = b->lies};
  }
  pb_flat_at_homes(m->unit->chip, nest, homes, &m->unit->pass, flat);
}

// A mover copies bits: the type of what it moves where that is not its own, else PB_TYPE_COUNT.
static pb_type copied_type(const pb_nest* nest, const pb_match* match) {
  pb_type type = nest->access[nest->access_count - 1].type;
  pb_type moved = match->insn->operands[match->insn->dest].type;
  return match->insn->mover && moved != type && moved != PB_I4 ? type : PB_TYPE_COUNT;
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
                        const pb_tiled_buffer* rotates) {
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
      before += c->m->loops[k]->iterations_before * iterations;
      iterations *= pb_tiled_iterations(c->m->loops[k]);
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
  int64_t bands[PB_NEST_OUTERS] = {0}, loops[PB_FLAT_DIMS] = {0};
  const pb_tiled_buffer* b = access ? buffer_of(c->m, access) : NULL;
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
              access ? reference(c->m, access) : pb_printf(&c->m->unit->pass, "%%a%d", c->stand_in), c->id, o);
  for (int k = 0; k < operand->rank; ++k) pb_text_add(t, "%s%%n%d_%d_%d", k ? ", " : "", c->id, o, k);
  pb_text_add(t, "], strides: [");
  for (int k = 0; k < operand->rank; ++k) pb_text_add(t, "%s%%s%d_%d_%d", k ? ", " : "", c->id, o, k);
  pb_text_add(t, "] : ");
  if (b && b->argument < 0) {
    print_copies_type(c->m, b, t);
  } else if (access) {
    pb_access type = *access;
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
  const buffer_state* sums = store->buffer >= 0 ? &c->m->states[store->buffer] : NULL;
  int64_t bands[PB_NEST_OUTERS] = {0}, loops[PB_FLAT_DIMS] = {0};
  bool starts = sums && sums->pending_init && !c->match->nest.onto;
  for (int k = starts ? sums->init_level : c->m->levels; k < c->m->levels; ++k)
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
    bool resident = false;
    for (int b = 0; b < m->tiled->buffer_count; ++b) resident |= m->tiled->buffers[b].argument == k;
    if (!resident && pb_access_of_value(argument, &tensor) && tensor.type == nest->access[nest->access_count - 1].type)
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
  const pb_instruction_use use = {.insn = insn, .type = c.type};
  pb_instruction_call(t, &m->called, &use, c.id, NULL, nest->name ? nest->name : "");
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

// Vectors of one number are marked on the kernel's argument; what loads one brings them into a buffer.
static void note_splats(const mapper* m, pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_tiled_buffer* b = buffer_of(m, &nest->access[a]);
    nest->access[a].splat =
        b ? b->shape.splat : !mlirAttributeIsNull(pb_argument_attribute(nest->access[a].memref, "pb.splat"));
  }
  if (strcmp(nest->part, "load") || nest->access_count != 2 || !nest->access[0].splat) return;
  pb_tiled_buffer* b = buffer_of(m, &nest->access[1]);
  if (b) b->shape.splat = true;
  nest->access[0].splat = false; // the load itself moves the whole row
  nest->access[1].splat = false;
}

static pb_status map_nest(mapper* m, pb_nest* nest, int indent) {
  const char* why;
  note_splats(m, nest);
  if (sets_neutral(nest) && nest->access[0].buffer >= 0) {
    m->states[nest->access[0].buffer] = (buffer_state){true, m->levels};
    return PB_OK;
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

static pb_status map_tree(mapper* m, const pb_tree* tree, int indent);

static void close(mapper* m, int indent, const char* end) {
  pb_text_indent(&m->body, indent);
  pb_text_add(&m->body, "}%s", end);
}

static pb_status map_iteration(mapper* m, const pb_tree* node, int indent) {
  pb_text_indent(&m->body, indent);
  pb_text_add(&m->body, "affine.if affine_set<(d0) : (d0 - %lld == 0)>(%%o%d) {\n", (long long)node->iteration,
              node->loop);
  PB_TRY(map_tree(m, node, indent + 1));
  close(m, indent, "\n");
  return PB_OK;
}

// Which iterations of a loop are whose stays with it, and the number of its first among those of its band.
static pb_status map_loop(mapper* m, const pb_tree* loop, int indent) {
  pb_text_indent(&m->body, indent);
  pb_text_add(&m->body, "affine.for %%o%d = 0 to %lld {\n", m->levels, (long long)loop->extent);
  m->loops[m->levels++] = loop;
  PB_TRY(map_tree(m, loop, indent + 1));
  --m->levels;
  close(m, indent, "");
  if (loop->parts)
    pb_text_add(&m->body, " {pb.first = %lld : i64, pb.iterations = %lld : i64, pb.parts = array<i64: %lld, %lld>}",
                (long long)loop->iterations_before, (long long)pb_tiled_iterations(loop), (long long)loop->parts,
                (long long)loop->parts_step);
  pb_text_add(&m->body, "\n");
  return PB_OK;
}

static pb_status map_tree(mapper* m, const pb_tree* tree, int indent) {
  for (const pb_tree* node = tree->first; node; node = node->next) {
    if (node->kind == PB_TREE_ALLOC) map_alloc(m, node->buffer);
    if (node->kind == PB_TREE_NEST) PB_TRY(map_nest(m, node->nest, indent));
    if (node->kind == PB_TREE_ITERATION) PB_TRY(map_iteration(m, node, indent));
    if (node->kind == PB_TREE_LOOP) PB_TRY(map_loop(m, node, indent));
  }
  return PB_OK;
}

static pb_status map_kernel(pb_unit* unit, MlirOperation func) {
  mapper* m = PB_NEW(&unit->pass, mapper);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  m->unit = unit;
  m->func = func;
  m->tiled = PB_NEW(&unit->pass, pb_tiled);
  size_t arguments = (size_t)mlirBlockGetNumArguments(body);
  m->outside = PB_NEW_ARRAY(&unit->pass, int, arguments + 1);
  memset(m->outside, 0xff, (arguments + 1) * sizeof *m->outside);
  m->packed = PB_NEW_ARRAY(&unit->pass, bool, arguments + 1);
  m->called.chip = unit->chip;
  pb_status status = pb_tiled_read(unit, func, m->tiled);
  if (status == PB_OK) status = map_tree(m, &m->tiled->root, 1);
  if (status == PB_OK) {
    pb_text all = {0};
    pb_instruction_functions(&all, &m->called);
    mark_outside(m, arguments);
    pb_func_print_head(&all, func, "", NULL);
    pb_text_add(&all, "%s%s  return\n}\n", m->head.data ? m->head.data : "", m->body.data ? m->body.data : "");
    status = pb_kernel_replace(unit, func, &all, "map");
    pb_text_free(&all);
  }
  pb_text_free(&m->head);
  pb_text_free(&m->body);
  pb_instructions_free(&m->called);
  return status;
}

// Where code is made for the cores a nest needs no instruction.
pb_status pb_s3_map(pb_unit* unit) { return pb_chip_runs_code(unit->chip) ? PB_OK : pb_kernels_each(unit, map_kernel); }
