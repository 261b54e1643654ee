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
#include "core/s3/lower/lowered.h"
#include "core/s3/small_codes.h"
#include "core/select/select.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

// What nests have done to a buffer so far.
typedef struct buffer_state {
  bool pending_init; // set to neutral by a nest that went; accumulation starts below `init_level`
  int init_level;
} buffer_state;

typedef struct mapper {
  pb_lowered l;
  pb_tiled_printer tree;
  buffer_state states[PB_MAX_BUFFERS];
  int* outside; // by argument: the memory in which commands read or write it; -1: none has yet
  bool* packed; // by argument: its codes lie two in a byte there
} mapper;

static pb_tiled_buffer* buffer_of(const mapper* m, const pb_access* access) {
  return access->buffer >= 0 ? &m->l.tiled->buffers[access->buffer] : NULL;
}

static const char* reference(const mapper* m, const pb_access* access) {
  const pb_tiled_buffer* b = buffer_of(m, access);
  if (b && b->argument < 0) return pb_printf(&m->l.unit->pass, "%%b%d", access->buffer);
  return pb_printf(&m->l.unit->pass, "%%a%d", (int)mlirBlockArgumentGetArgNumber(access->memref));
}

// The type of all copies of a buffer, one after the other: an index more than tensors may have.
static void print_copies_type(const mapper* m, const pb_tiled_buffer* b, pb_text* text) {
  pb_text_add(text, "memref<%dx", b->depth);
  for (int r = 0; r < b->shape.rank; ++r) pb_text_add(text, "%lldx", (long long)b->shape.shape[r]);
  pb_text_add(text, "%s, \"%s\">", pb_type_name(b->shape.type), m->l.unit->chip->memories[b->memory].name);
}

static void map_alloc(void* user, int buffer, int indent) {
  (void)indent; // it stands at the head
  mapper* m = user;
  const pb_tiled_buffer* b = &m->l.tiled->buffers[buffer];
  pb_text_add(&m->l.head, "  %%b%d = memref.alloc() {pb.name = \"%s\"", buffer, b->name);
  if (b->lies != b->shape.type) pb_text_add(&m->l.head, ", pb.packed = %d : i64", pb_codes_of_type(b->lies));
  if (b->place >= 0) pb_text_add(&m->l.head, ", pb.place = %lld : i64", (long long)b->place);
  pb_text_add(&m->l.head, "} : ");
  print_copies_type(m, b, &m->l.head);
  pb_text_add(&m->l.head, "\n");
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
  pb_flat_at_homes(m->l.unit->chip, nest, homes, &m->l.unit->pass, flat);
}

// A mover copies bits: the type of what it moves where that is not its own, else PB_TYPE_COUNT.
static pb_type copied_type(const pb_nest* nest, const pb_match* match) {
  pb_type type = nest->access[nest->access_count - 1].type;
  pb_type moved = match->insn->operands[match->insn->dest].type;
  return match->insn->mover && moved != type && moved != PB_I4 ? type : PB_TYPE_COUNT;
}

enum { MOST_ARGUMENTS = PB_MAX_OPERANDS + 3 * PB_MAX_INSN_DIMS + 1 };
typedef struct call {
  pb_type type;
  mapper* m;
  const pb_nest* nest;
  const pb_match* match;
  int indent, id;
  int stand_in; // argument of the kernel for a window that is not read, -1: none has its type
  const char* arguments[MOST_ARGUMENTS];
  int argument_count;
} call;

static const char* number(call* c, int64_t value) { return pb_lowered_integer(&c->m->l, PB_INDEX, value, 1); }

static void add_argument(call* c, const char* name) { c->arguments[c->argument_count++] = name; }

static void add_leftover(const call* c, int k, int64_t factor, pb_linear* sum) {
  pb_linear_add(sum, factor, 0, "l%d_%d", c->id, k);
}

static const char* print_linear(call* c, const pb_linear* sum) {
  return sum->count ? pb_lowered_linear(&c->m->l, c->indent, "apply", sum, NULL) : number(c, sum->cst);
}

// What is linear, but at most, or at least, the limit.
static const char* print_limit(call* c, const pb_linear* sum, bool most, int64_t limit) {
  if (!sum->count) return number(c, (sum->cst < limit) == most ? sum->cst : limit);
  return pb_lowered_linear(&c->m->l, c->indent, most ? "min" : "max", sum, &limit);
}

// Which of its copies a buffer has its turn in: by iteration of the loops around it.
static void add_copies(const call* c, const pb_tiled_buffer* b, int64_t* turn, pb_linear* base) {
  if (!b || b->depth == 1) return;
  int64_t iterations = 1; // of the loops inside, and those of which a loop is the remainder
  for (int k = b->level - 1; k >= 0; --k) {
    const pb_tree* loop = c->m->tree.loops[k];
    turn[k] = iterations;
    base->turn += loop->iterations_before * iterations;
    iterations *= loop->iterations ? loop->iterations : loop->extent;
  }
  base->copies = b->level ? b->depth : 1;
  base->copy = pb_access_elements(&b->shape);
}

static const char* print_base(call* c, int o) {
  pb_linear base = {0};
  int a = c->match->access_of[o];
  if (a >= 0) {
    const pb_access* access = &c->nest->access[a];
    int64_t turn[PB_NEST_OUTERS] = {0};
    base.cst = pb_access_offset(access);
    add_copies(c, buffer_of(c->m, access), turn, &base);
    for (int k = 0; k < c->m->tree.levels; ++k)
      pb_linear_add(&base, pb_access_stride(access, PB_NEST_DIMS + k), turn[k], "o%d", k);
    for (int k = 0; k < c->match->loop_count; ++k)
      add_leftover(c, k, c->match->nest.access[a].stride[c->match->loops[k]], &base);
  }
  return print_linear(c, &base);
}

// How far the window goes along its k-th dim, and elements from one to the next.
static void window_dim(const call* c, int o, int k, int64_t* extent, int64_t* stride) {
  const pb_operand* operand = &c->match->insn->operands[o];
  const pb_dim* dim = &c->match->insn->dims[operand->dims[k]];
  int a = c->match->access_of[o], d = c->match->dim_of[operand->dims[k]];
  const pb_flat_access* flat = &c->match->nest.access[a < 0 ? 0 : a];
  *extent = 1;
  *stride = 0;
  if (a < 0) return;
  if (dim->table) {
    bool rows = operand->rows >= 0 && flat->rows;
    *extent = rows ? flat->rows : dim->max;
    *stride = rows ? flat->row : 1;
  } else if (d >= 0) {
    *extent = c->match->nest.extent[d];
    *stride = c->nest->access[a].splat && operand->strides[k].kind == PB_STRIDE_ELEM ? 1 : flat->stride[d];
  }
}

// What a window is on, and its type. One that is not read (a mover that only fills) still has to be some window: a
// tensor stands in.
static void set_whole(const call* c, const pb_access* access, pb_text* type, pb_window* window) {
  const pb_tiled_buffer* b = access ? buffer_of(c->m, access) : NULL;
  pb_access whole;
  if (access) {
    window->whole = reference(c->m, access);
    whole = *access;
  } else {
    MlirBlock block = pb_op_body(c->m->l.func);
    window->whole = pb_printf(&c->m->l.unit->pass, "%%a%d", c->stand_in);
    pb_access_of_value(mlirBlockGetArgument(block, c->stand_in), &whole);
  }
  if (b) whole.space = c->m->l.unit->chip->memories[b->memory].name;
  if (b && b->argument < 0)
    print_copies_type(c->m, b, type);
  else
    pb_access_print_type(type, &whole);
  window->whole_type = type->data;
}

static void print_window(call* c, int o) {
  const pb_operand* operand = &c->match->insn->operands[o];
  int a = c->match->access_of[o];
  pb_text type = {0};
  pb_window window = {.base = print_base(c, o)};
  set_whole(c, a >= 0 ? &c->nest->access[a] : NULL, &type, &window);
  for (int k = 0; k < operand->rank; ++k) {
    int64_t extent, stride;
    window_dim(c, o, k, &extent, &stride);
    window.extents[k] = number(c, extent);
    window.strides[k] = number(c, stride);
  }
  add_argument(c, pb_lowered_begin_line(&c->m->l, c->indent));
  pb_instruction_print_window(&c->m->l.body, c->m->l.unit->chip, operand, c->type, &window);
  pb_text_free(&type);
}

// The box of one window dim: [lo, hi) of the dim's iterations that lie inside the tensor.
static void print_box(call* c, int o, int k) {
  const pb_operand* operand = &c->match->insn->operands[o];
  int a = c->match->access_of[o], d = c->match->dim_of[operand->dims[k]];
  int64_t extent = d < 0 ? 1 : c->match->nest.extent[d];
  const pb_access* access = a >= 0 ? &c->nest->access[a] : NULL;
  int rank = access && access->boxed && d >= 0 ? c->match->nest.access[a].box_rank[d] : -1;
  if (rank < 0) {
    add_argument(c, number(c, 0));
    add_argument(c, number(c, c->match->fills ? 0 : extent));
    return;
  }
  const pb_index* index = &access->index[rank];
  const pb_flat_access* flat = &c->match->nest.access[a];
  int64_t run = flat->box_run[d] > 1 ? flat->box_run[d] : 1; // a box in elements
  for (int side = 0; side < 2; ++side) {
    int64_t limit = side ? extent : 0;
    pb_linear edge = {.cst = run * (side ? access->shape[rank] - index->cst : -index->cst)};
    for (int l = 0; l < c->m->tree.levels; ++l) pb_linear_add(&edge, run * -index->coef[PB_NEST_DIMS + l], 0, "o%d", l);
    for (int l = 0; l < c->match->loop_count; ++l)
      if (flat->box_rank[c->match->loops[l]] == rank)
        add_leftover(c, l, run * -flat->box_step[c->match->loops[l]], &edge);
    add_argument(c, print_limit(c, &edge, side, limit));
  }
}

// The accumulate flag: false in the first iteration of every loop that reduces into the buffer since it was set.
static void print_flag(call* c) {
  const pb_access* store = &c->nest->access[c->nest->access_count - 1];
  const pb_flat_access* f = &c->match->nest.access[c->match->nest.access_count - 1];
  const buffer_state* sums = store->buffer >= 0 ? &c->m->states[store->buffer] : NULL;
  bool starts = sums && sums->pending_init && !c->match->nest.onto;
  pb_linear done = {.cst = !starts};
  for (int k = starts ? sums->init_level : c->m->tree.levels; k < c->m->tree.levels; ++k)
    pb_linear_add(&done, !pb_access_uses(store, PB_NEST_DIMS + k), 0, "o%d", k);
  for (int k = 0; k < c->match->loop_count; ++k) add_leftover(c, k, !f->stride[c->match->loops[k]], &done);
  const char *any = print_linear(c, &done), *none = number(c, 0);
  add_argument(c, pb_lowered_line(&c->m->l, c->indent, "arith.cmpi ne, %s, %s : index", any, none));
}

// A number of the command's own: others like it may differ in it.
static void print_immediate(call* c, pb_type type, double value) {
  add_argument(c, pb_lowered_begin_line(&c->m->l, c->indent));
  pb_text_add(&c->m->l.body, "arith.constant ");
  pb_number_print(&c->m->l.body, type, value);
  pb_text_add(&c->m->l.body, " : %s\n", pb_type_name(type));
}

// What the command says of dim d: how far the nest goes along it, or how many rows the table has that is gathered of.
static int64_t extent_of(const pb_match* match, int d) {
  int table = pb_insn_gathers(match->insn);
  if (table >= 0 && match->insn->operands[table].dims[0] == d) return match->nest.access[match->access_of[table]].rows;
  return match->dim_of[d] < 0 ? 1 : match->nest.extent[match->dim_of[d]];
}

// The first tensor outside of the type that the nest stores.
static int stand_in_for(mapper* m, const pb_nest* nest) {
  MlirBlock block = pb_op_body(m->l.func);
  pb_access tensor;
  for (int k = 0; k < (int)mlirBlockGetNumArguments(block); ++k) {
    MlirValue argument = mlirBlockGetArgument(block, k);
    bool resident = false;
    for (int b = 0; b < m->l.tiled->buffer_count; ++b) resident |= m->l.tiled->buffers[b].argument == k;
    if (!resident && pb_access_of_value(argument, &tensor) && tensor.type == nest->access[nest->access_count - 1].type)
      return k;
  }
  return -1;
}

static void print_operands(call* c) {
  const pb_insn* insn = c->match->insn;
  for (int o = 0; o < insn->operand_count; ++o) {
    if (insn->operands[o].memory >= 0)
      print_window(c, o);
    else if (o == insn->acc_flag)
      print_flag(c);
    else
      print_immediate(c, insn->operands[o].type, c->match->imm[o]);
  }
  for (int d = 0; d < insn->dim_count; ++d)
    if (insn->dims[d].field >= 0) add_argument(c, number(c, extent_of(c->match, d)));
}

static void print_boxes(call* c) {
  const pb_operand* boxed = pb_instruction_boxed(c->match->insn);
  if (!boxed) return;
  for (int k = 0; k < boxed->rank; ++k)
    if (boxed->box_lo[k] >= 0) print_box(c, (int)(boxed - c->match->insn->operands), k);
  if (boxed->fill < 0) return;
  double fill = c->match->fills ? c->match->fill : 0;
  for (int a = 0; a < c->nest->access_count; ++a)
    if (c->nest->access[a].boxed) fill = c->nest->access[a].fill;
  print_immediate(c, c->type == PB_TYPE_COUNT ? boxed->type : c->type, fill);
}

static void print_call(mapper* m, const pb_nest* nest, const pb_match* match, int indent) {
  call c = {.m = m, .nest = nest, .match = match, .indent = indent + match->loop_count, .id = m->l.serial++};
  pb_text* t = &m->l.body;
  c.type = copied_type(nest, match);
  c.stand_in = match->fills ? stand_in_for(m, nest) : -1;
  for (int k = 0; k < match->loop_count; ++k)
    pb_text_line(t, indent + k, "affine.for %%l%d_%d = 0 to %lld {\n", c.id, k,
                 (long long)match->nest.extent[match->loops[k]]);
  print_operands(&c);
  print_boxes(&c);
  const pb_instruction_use use = {.insn = match->insn, .type = c.type};
  (void)pb_lowered_call(&m->l, c.indent, &use, c.arguments, nest->name ? nest->name : "");
  for (int k = match->loop_count - 1; k >= 0; --k) pb_text_line(t, indent + k, "}\n");
}

// Each argument lies in one memory: that of the windows on it.
static pb_status note_outside(mapper* m, const pb_nest* nest, const pb_match* match) {
  const pb_chip* chip = m->l.unit->chip;
  for (int o = 0; o < match->insn->operand_count; ++o) {
    int memory = match->insn->operands[o].memory, a = match->access_of[o];
    if (memory < 0 || a < 0 || !pb_is_outside(&chip->memories[memory])) continue;
    intptr_t argument = mlirBlockArgumentGetArgNumber(nest->access[a].memref);
    int* noted = &m->outside[argument];
    bool packed = match->insn->operands[o].type == PB_I4;
    if (*noted >= 0 && (*noted != memory || m->packed[argument] != packed))
      return pb_unsupported(m->l.unit->diag, (pb_place){.what = nest->name}, 4025,
                            "a command that copies it there in the other way too",
                            "one kernel reads a constant in %s%s and in %s%s, and it lies in one way",
                            chip->memories[*noted].name, m->packed[argument] ? " as codes of 4 bits" : "",
                            chip->memories[memory].name, packed ? " as codes of 4 bits" : "");
    *noted = memory;
    m->packed[argument] = packed;
  }
  return PB_OK;
}

// Notes at the function's arguments which lie in a memory of scope "constants", and which have two codes in a byte.
static void mark_outside(const mapper* m, intptr_t arguments) {
  const pb_chip* chip = m->l.unit->chip;
  MlirContext context = m->l.unit->context;
  for (intptr_t k = 0; k < arguments; ++k) {
    if (m->packed[k]) pb_argument_set_attribute(m->l.func, k, "pb.packed", mlirUnitAttrGet(context));
    if (pb_constants_number(chip, m->outside[k]) < 0) continue;
    const char* name = chip->memories[m->outside[k]].name;
    pb_argument_set_attribute(m->l.func, k, "pb.memory", pb_text_attribute(context, name));
  }
}

static bool sets_neutral(const pb_nest* nest) { return !strcmp(nest->part, "init") && nest->access_count == 1; }

// Vectors of one number are marked on the kernel's argument, whose loads bring them into a buffer, or on the buffer.
// What fills one moves all of it.
static void note_splats(const mapper* m, pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_tiled_buffer* b = buffer_of(m, &nest->access[a]);
    nest->access[a].splat = b ? b->shape.splat : pb_argument_has(nest->access[a].memref, "pb.splat");
  }
  pb_nest_store(nest)->splat = false;
  if (strcmp(nest->part, "load") || nest->access_count != 2 || !nest->access[0].splat) return;
  pb_tiled_buffer* b = buffer_of(m, &nest->access[1]);
  if (b) b->shape.splat = true;
  nest->access[0].splat = false;
}

static pb_status map_nest(void* user, pb_nest* nest, int indent) {
  mapper* m = user;
  const char* why;
  note_splats(m, nest);
  if (sets_neutral(nest) && nest->access[0].buffer >= 0) {
    m->states[nest->access[0].buffer] = (buffer_state){true, m->tree.levels};
    return PB_OK;
  }
  pb_flat flat;
  pb_match match;
  flatten(m, nest, &flat);
  if (!pb_select(m->l.unit->chip, &flat, &m->l.unit->pass, &match, &why))
    return pb_unsupported(m->l.unit->diag, (pb_place){.what = nest->name}, 4022, NULL,
                          "%s cannot run its part '%s': %s", m->l.unit->chip->name, nest->part, why);
  if (match.fills && stand_in_for(m, nest) < 0) {
    flat.unfilled = true; // by another command then, that sets numbers
    if (!pb_select(m->l.unit->chip, &flat, &m->l.unit->pass, &match, &why))
      return pb_unsupported(m->l.unit->diag, (pb_place){.what = nest->name}, 4023, NULL,
                            "%s fills in its part '%s', and no tensor of this kernel has the type of what is filled",
                            match.insn->name, nest->part);
  }
  match.insn = match.twins[nest->stream % match.twin_count];
  PB_TRY(note_outside(m, nest, &match));
  print_call(m, nest, &match, indent);
  return PB_OK;
}

static pb_status map_kernel(pb_unit* unit, MlirOperation func) {
  if (pb_op_has(func, PB_BY_NUMBER) || pb_op_has(func, "pb.scalar")) return PB_OK; // of what code makes
  mapper* m = PB_NEW(&unit->pass, mapper);
  intptr_t arguments = mlirBlockGetNumArguments(pb_op_body(func));
  m->outside = PB_NEW_ARRAY(&unit->pass, int, (size_t)arguments + 1);
  memset(m->outside, 0xff, ((size_t)arguments + 1) * sizeof *m->outside);
  m->packed = PB_NEW_ARRAY(&unit->pass, bool, (size_t)arguments + 1);
  pb_status status = pb_lowered_begin(unit, func, &m->l);
  m->tree = (pb_tiled_printer){.text = &m->l.body, .user = m, .nest = map_nest, .alloc = map_alloc};
  if (status == PB_OK) status = pb_tiled_print(&m->tree, &m->l.tiled->root, 1);
  if (status == PB_OK) mark_outside(m, arguments);
  return pb_lowered_end(&m->l, status, "", NULL, "map");
}

pb_status pb_s3_map(pb_unit* unit) { return pb_kernels_each(unit, map_kernel); }
