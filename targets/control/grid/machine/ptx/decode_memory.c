// Loads, stores, atomics and asynchronous copies: 9.7.9 and 9.7.13 of the PTX ISA.
#include "targets/control/grid/machine/lanes/number.h"
#include "targets/control/grid/machine/ptx/decode.h"

#include <stdio.h>

static grid_space take_space(ptx_decoder* d) {
  if (ptx__drop(d, "shared") || ptx__drop(d, "shared::cta")) return GRID_SPACE_SHARED;
  if (ptx__drop(d, "local")) return GRID_SPACE_LOCAL;
  if (ptx__drop(d, "global") || ptx__drop(d, "const")) return GRID_SPACE_GLOBAL;
  return GRID_SPACE_GENERIC;
}

// Strong operations do not race with each other (8.3 and 8.10); acquire and release order what stands around them.
static int take_strength(const ptx_decoder* d) {
  if (ptx__has(d, "acquire")) return GRID_ACQUIRE;
  if (ptx__has(d, "release")) return GRID_RELEASE;
  return ptx__has(d, "relaxed") || ptx__has(d, "volatile") || ptx__has(d, "mmio") ? GRID_RELAXED : GRID_WEAK;
}

// What says how to cache is nothing here; scopes are not told apart.
static void drop_hints(ptx_decoder* d) {
  static const char* const hints[] = {"weak", "ca", "cg",      "cs",       "lu",      "cv",      "wb",
                                      "wt",   "nc", "relaxed", "acquire",  "release", "acq_rel", "cta",
                                      "gpu",  "gl", "sys",     "volatile", "mmio",    "noftz",   "unified"};
  for (size_t k = 0; k < sizeof hints / sizeof *hints; ++k) ptx__drop(d, hints[k]);
  for (int k = 1; k < d->word_count;)
    if (!strncmp(d->words[k], "L1::", 4) || !strncmp(d->words[k], "L2::", 4))
      ptx__drop(d, d->words[k]);
    else
      ++k;
}

typedef struct address {
  uint32_t row;
  int64_t offset;
  bool narrow; // 32 bits
  grid_space space;
} address;

static address take_address(ptx_decoder* d, const ptx_operand* o, grid_space space) {
  if (o->kind != PTX_OPERAND_MEMORY) ptx__wrong(d, "an address in brackets must stand there");
  const ptx_operand* at = o->parts;
  address a = {.offset = at->offset, .space = space};
  ptx_operand plain = *at;
  plain.offset = 0;
  if (at->kind == PTX_OPERAND_REGISTER) {
    uint32_t bytes = ptx__register_bytes(d, at);
    if (bytes != 4 && bytes != 8) ptx__wrong(d, "%s is no address", at->name);
    a.narrow = bytes == 4;
    a.row = ptx__source(d, &plain, bytes);
  } else if (at->kind == PTX_OPERAND_VARIABLE) {
    // The space of a variable is its own.
    ptx_space own = at->variable->space;
    grid_space has = own == PTX_SHARED                       ? GRID_SPACE_SHARED
                     : own == PTX_GLOBAL || own == PTX_CONST ? GRID_SPACE_GLOBAL
                                                             : GRID_SPACE_LOCAL;
    if (space != has && !(space == GRID_SPACE_GENERIC && own == PTX_PARAM))
      ptx__wrong(d, "%s lies in another space", at->name);
    a.space = has;
    a.row = ptx__source(d, &plain, 8);
  } else {
    a.row = ptx__source(d, &plain, 8);
  }
  return a;
}

static int take_count(ptx_decoder* d) {
  return ptx__drop(d, "v2") ? 2 : ptx__drop(d, "v4") ? 4 : ptx__drop(d, "v8") ? 8 : 1;
}

static void fits(ptx_decoder* d, const char* type, int count) {
  uint32_t bytes = ptx__type_bytes(type);
  if (!bytes || bytes > 8 || !strcmp(type, "pred"))
    ptx__wrong(d, ".%s is no type of memory that the machine knows", type);
  if (bytes * (uint32_t)count > 32) ptx__wrong(d, "%d elements of %u bytes", count, bytes);
}

static const ptx_operand* element(ptx_decoder* d, const ptx_operand* o, int k, int count) {
  if (o->kind == PTX_OPERAND_VECTOR) {
    if (o->count != count) ptx__wrong(d, "%d registers for %d elements", o->count, count);
    return &o->parts[k];
  }
  if (count != 1) ptx__wrong(d, "%d registers in braces must stand there", count);
  return o;
}

// Rows of the elements; all registers of one width, of the element's at least.
static const uint32_t* elements(ptx_decoder* d, const ptx_operand* o, int count, uint32_t bytes, bool write,
                                uint32_t* width) {
  uint32_t* list = PB_NEW_ARRAY(d->r->arena, uint32_t, count);
  *width = 0;
  for (int k = 0; k < count; ++k) {
    const ptx_operand* e = element(d, o, k, count);
    uint32_t has = e->kind == PTX_OPERAND_REGISTER ? ptx__register_bytes(d, e) : bytes < 2 ? 2 : bytes;
    if (has < bytes)
      ptx__wrong(d, "%s is narrower than an element of %u bytes", e->name ? e->name : "a register", bytes);
    if (*width && has != *width) ptx__wrong(d, "registers of several widths");
    *width = has;
    list[k] = write ? ptx__destination(d, e, has) : ptx__source(d, e, has);
  }
  return list;
}

static void narrowest(ptx_decoder* d, uint32_t bytes) {
  uint32_t shift = bytes == 1 ? 0 : bytes == 2 ? 1 : 2;
  if (shift < d->k->shift) d->k->shift = shift;
}

// Parameters of an entry are known before it runs.
static void load_parameter(ptx_decoder* d, const char* type, int count) {
  const ptx_operand* at = ptx__operand(d, 1)->parts;
  uint32_t bytes = ptx__type_bytes(type), width;
  uint64_t offset = at->variable->address + (uint64_t)at->offset;
  if (at->offset < 0 || (uint64_t)at->offset + bytes * (uint32_t)count > at->variable->size)
    ptx__wrong(d, "bytes outside of parameter %s", at->name);
  const uint32_t* rows = elements(d, ptx__operand(d, 0), count, bytes, true, &width);
  for (int k = 0; k < count; ++k) {
    uint32_t have = bytes < 2 ? 2 : bytes;
    grid_fill f = {ptx__row(d, have), (uint8_t)have, GRID_PARAM + 1, offset + bytes * (uint32_t)k};
    PB_PUSH(d->k->fills, d->k->fill_count, d->k->fill_capacity, f);
    char format[4] = {*type == 's' ? 's' : 'u', 0};
    snprintf(format + 1, sizeof format - 1, "%u", 8 * bytes);
    ptx__extend(d, rows[k], width, f.offset, have, format);
  }
}

static void load(ptx_decoder* d) {
  d->class = GRID_CLASS_MEMORY;
  ptx__operands(d, 2, 3);
  bool param = ptx__drop(d, "param") || ptx__drop(d, "param::entry") || ptx__drop(d, "param::func");
  grid_space space = take_space(d);
  int strength = take_strength(d);
  drop_hints(d);
  int count = take_count(d);
  const char* type = ptx__last(d);
  if (d->word_count != 2) ptx__wrong(d, ".%s: a load the machine does not know", d->words[1]);
  fits(d, type, count);
  const ptx_operand* from = ptx__operand(d, 1);
  if (param && from->kind == PTX_OPERAND_MEMORY && from->parts->kind != PTX_OPERAND_VARIABLE)
    ptx__wrong(d, "a parameter at an address that a register says");
  if (param && from->kind == PTX_OPERAND_MEMORY && ptx__is_parameter(d, from->parts->variable)) {
    load_parameter(d, type, count);
    return;
  }
  address at = take_address(d, from, space);
  uint32_t bytes = ptx__type_bytes(type), width;
  const uint32_t* rows = elements(d, ptx__operand(d, 0), count, bytes, true, &width);
  narrowest(d, bytes);
  grid_insn* i = ptx__emit(d, GRID_OP_LOAD);
  i->bytes = (uint8_t)bytes;
  i->count = (uint8_t)count;
  i->size = (uint8_t)width;
  i->extend = *type == 's';
  i->mode = (uint8_t)strength;
  i->list = rows;
  i->a = at.row;
  i->flag = at.narrow;
  i->offset = at.offset;
  i->space = (uint8_t)at.space;
}

static void store(ptx_decoder* d) {
  d->class = GRID_CLASS_MEMORY;
  ptx__operands(d, 2, 3);
  if (ptx__has(d, "async")) ptx__wrong(d, "an asynchronous store: the machine knows none yet");
  if (!ptx__drop(d, "param")) ptx__drop(d, "param::func");
  grid_space space = take_space(d);
  int strength = take_strength(d);
  drop_hints(d);
  int count = take_count(d);
  const char* type = ptx__last(d);
  if (d->word_count != 2) ptx__wrong(d, ".%s: a store the machine does not know", d->words[1]);
  fits(d, type, count);
  address at = take_address(d, ptx__operand(d, 0), space);
  uint32_t bytes = ptx__type_bytes(type), width;
  const uint32_t* rows = elements(d, ptx__operand(d, 1), count, bytes, false, &width);
  narrowest(d, bytes);
  grid_insn* i = ptx__emit(d, GRID_OP_STORE);
  i->mode = (uint8_t)strength;
  i->bytes = (uint8_t)bytes;
  i->count = (uint8_t)count;
  i->size = (uint8_t)width;
  i->list = rows;
  i->a = at.row;
  i->flag = at.narrow;
  i->offset = at.offset;
  i->space = (uint8_t)at.space;
}

static const char* const atomics[] = {"add", "and", "or", "xor", "exch", "cas", "min", "max", "inc", "dec"};

static void atomic(ptx_decoder* d, bool result) {
  d->class = GRID_CLASS_MEMORY;
  static const struct {
    const char* type;
    grid_format format;
  } types[] = {{"u32", GRID_U32}, {"s32", GRID_S32}, {"u64", GRID_U64}, {"s64", GRID_S64},
               {"f32", GRID_F32}, {"f64", GRID_F64}, {"f16", GRID_F16}, {"bf16", GRID_BF16},
               {"b16", GRID_U16}, {"b32", GRID_U32}, {"b64", GRID_U64}};
  grid_space space = take_space(d);
  bool acquire = ptx__has(d, "acquire") || ptx__has(d, "acq_rel");
  bool release = ptx__has(d, "release") || ptx__has(d, "acq_rel");
  drop_hints(d);
  int op = -1, format = -1;
  for (int k = 0; k < (int)(sizeof atomics / sizeof *atomics) && op < 0; ++k)
    if (ptx__drop(d, atomics[k])) op = k;
  const char* type = ptx__last(d);
  for (size_t k = 0; k < sizeof types / sizeof *types; ++k)
    if (!strcmp(types[k].type, type)) format = (int)types[k].format;
  bool is_float = *type == 'f' || !strcmp(type, "bf16");
  if (op < 0 || format < 0 || d->word_count != 2 || (is_float && op != 0) || (op >= 8 && strcmp(type, "u32")))
    ptx__wrong(d, "an atomic operation that the machine does not know");
  uint32_t bytes = ptx__type_bytes(type);
  int n = result;
  ptx__operands(d, n + 2 + (op == 5), n + 3);
  address at = take_address(d, ptx__operand(d, n), space);
  uint32_t a = ptx__source(d, ptx__operand(d, n + 1), bytes);
  uint32_t b = op == 5 ? ptx__source(d, ptx__operand(d, n + 2), bytes) : 0;
  uint32_t to = result ? ptx__destination(d, ptx__operand(d, 0), bytes) : GRID_NONE;
  narrowest(d, bytes);
  grid_insn* i = ptx__emit(d, GRID_OP_ATOMIC);
  i->bytes = i->size = (uint8_t)bytes;
  i->count = (uint8_t)format;
  i->mode = (uint8_t)op;
  i->extend = acquire;
  i->release = release;
  i->a = at.row;
  i->flag = at.narrow;
  i->offset = at.offset;
  i->space = (uint8_t)at.space;
  i->b = a;
  i->c = b;
  i->d = to;
}

// cp.async.ca|cg.shared.global [to], [from], bytes{, bytes that are read}
static void copy(ptx_decoder* d) {
  d->class = GRID_CLASS_MEMORY;
  if (ptx__drop(d, "commit_group")) {
    ptx__emit(d, GRID_OP_ASYNC_COMMIT);
    return;
  }
  bool all = ptx__drop(d, "wait_all");
  if (all || ptx__drop(d, "wait_group")) {
    if (!all) ptx__operands(d, 1, 1);
    int64_t left = all ? 0 : (int64_t)ptx__operand(d, 0)->bits;
    grid_insn* i = ptx__emit(d, GRID_OP_ASYNC_WAIT);
    i->offset = left;
    i->flag = all;
    return;
  }
  drop_hints(d);
  ptx__drop(d, "async");
  if (!(ptx__drop(d, "shared") || ptx__drop(d, "shared::cta")) || !ptx__drop(d, "global") || d->word_count != 1)
    ptx__wrong(d, "an asynchronous copy that the machine does not know");
  ptx__operands(d, 3, 5);
  address to = take_address(d, ptx__operand(d, 0), GRID_SPACE_SHARED),
          from = take_address(d, ptx__operand(d, 1), GRID_SPACE_GLOBAL);
  uint64_t bytes = ptx__operand(d, 2)->bits;
  if (ptx__operand(d, 2)->kind != PTX_OPERAND_INTEGER || (bytes != 4 && bytes != 8 && bytes != 16))
    ptx__wrong(d, "copies have 4, 8 or 16 bytes");
  uint32_t size = GRID_NONE;
  if (d->s->count > 3) {
    const ptx_operand* o = ptx__operand(d, 3);
    if (o->kind == PTX_OPERAND_REGISTER && ptx__register_bytes(d, o) == 0)
      ptx__wrong(d, "a copy that a predicate ignores: the machine does not know it");
    size = ptx__source(d, o, 4);
  }
  uint32_t* list = PB_NEW_ARRAY(d->r->arena, uint32_t, 2);
  list[0] = from.narrow;
  list[1] = (uint32_t)from.offset;
  grid_insn* i = ptx__emit(d, GRID_OP_ASYNC_COPY);
  i->bytes = (uint8_t)bytes;
  i->a = to.row;
  i->flag = to.narrow;
  i->offset = to.offset;
  i->b = from.row;
  i->c = size;
  i->list = list;
}

static void convert_address(ptx_decoder* d) {
  d->class = GRID_CLASS_MOVE;
  ptx__operands(d, 2, 2);
  bool to = ptx__drop(d, "to");
  grid_space space = take_space(d);
  if (ptx__has(d, "param") || space == GRID_SPACE_GENERIC)
    ptx__wrong(d, "an address of a space that the machine does not know");
  const ptx_operand* from = ptx__operand(d, 1);
  if (strcmp(ptx__last(d), "u64")) ptx__wrong(d, "generic addresses have 64 bits");
  uint32_t a = ptx__source(d, from, 8), out = ptx__destination(d, ptx__operand(d, 0), 8);
  uint64_t window = space == GRID_SPACE_SHARED ? GRID_SHARED : space == GRID_SPACE_LOCAL ? GRID_LOCAL : 0;
  if (window)
    ptx__lanes(d, to ? "sub.u64" : "add.u64", out, a, ptx__constant(d, window, 8), 0);
  else
    ptx__lanes(d, "mov.b64", out, a, 0, 0);
}

bool ptx__decode_memory(ptx_decoder* d) {
  const char* op = d->words[0];
  if (!strcmp(op, "ld") || !strcmp(op, "ldu"))
    load(d);
  else if (!strcmp(op, "st"))
    store(d);
  else if (!strcmp(op, "atom") || !strcmp(op, "red"))
    atomic(d, *op == 'a');
  else if (!strcmp(op, "cp") && ptx__has(d, "async") && !ptx__has(d, "bulk") && !ptx__has(d, "mbarrier"))
    copy(d);
  else if (!strcmp(op, "cvta"))
    convert_address(d);
  else
    return false;
  return true;
}
