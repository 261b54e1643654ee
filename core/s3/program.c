#include "core/s3/program.h"

#include "core/base/table.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

static void describe(MlirValue ir, pb_value* value) {
  pb_access shape;
  *value = (pb_value){.ir = ir, .argument = -1, .const_id = -1, .type = PB_TYPE_COUNT};
  if (!pb_access_of_value(ir, &shape)) return;
  value->type = shape.type;
  value->rank = shape.rank;
  memcpy(value->shape, shape.shape, sizeof value->shape);
}

// Of each index its first and last elements that are zeros.
static void read_border(MlirValue ir, pb_value* value) {
  MlirAttribute a = pb_argument_attribute(ir, "pb.border");
  if (mlirAttributeIsNull(a) || !mlirAttributeIsADenseI64Array(a) || mlirDenseArrayGetNumElements(a) != 2 * value->rank)
    return;
  for (int r = 0; r < value->rank; ++r)
    for (int side = 0; side < 2; ++side) value->border[r][side] = mlirDenseI64ArrayGetElement(a, 2 * r + side);
}

static void describe_argument(MlirValue ir, int k, pb_arena* arena, pb_value* value) {
  describe(ir, value);
  value->argument = k;
  MlirAttribute a = mlirMemRefTypeGetMemorySpace(mlirValueGetType(ir));
  if (!mlirAttributeIsNull(a) && mlirAttributeIsAString(a)) value->space = pb_attribute_text(a, arena);
  value->address = pb_argument_integer(ir, "pb.address", value->address);
  read_border(ir, value);
  if (pb_argument_has(ir, "pb.const")) {
    value->kind = PB_VALUE_CONST;
    value->const_id = (int)pb_argument_integer(ir, "pb.const", -1);
    return;
  }
  a = pb_argument_attribute(ir, "pb.output");
  value->kind = mlirAttributeIsNull(a) ? PB_VALUE_INPUT : PB_VALUE_OUTPUT;
  if (mlirAttributeIsNull(a)) a = pb_argument_attribute(ir, "pb.input");
  value->name = mlirAttributeIsNull(a) ? "" : pb_attribute_text(a, arena);
}

static pb_status find_values(pb_program* program, const pb_table* numbers, int nest, pb_diag* diag) {
  pb_nest* n = &program->nests[nest];
  for (int a = 0; a < n->access_count; ++a) {
    int v = pb_table_find_address(numbers, n->access[a].memref.ptr);
    if (v < 0)
      return pb_unsupported(diag, (pb_place){.what = n->name}, 4001, NULL,
                            "a nest uses a memref that is no value of its function");
    program->value_of[nest][a] = v;
    pb_value* value = &program->values[v];
    n->access[a].space = value->space;
    n->access[a].splat = value->kind == PB_VALUE_CONST && value->rank == 1 && pb_argument_has(value->ir, "pb.splat");
  }
  return PB_OK;
}

static bool used_before(const pb_program* p, int nest, int access) {
  for (int a = 0; a < access; ++a)
    if (p->value_of[nest][a] == p->value_of[nest][access]) return true;
  return false;
}

void pb_program_index(pb_program* p, pb_arena* arena) {
  p->uses = PB_NEW_ARRAY(arena, pb_uses, (size_t)p->value_capacity + 1);
  int total = 0;
  for (int fill = 0; fill < 2; ++fill) {
    int* all = fill ? PB_NEW_ARRAY(arena, int, (size_t)total + 1) : NULL;
    for (int v = 0; fill && v < p->value_count; ++v) {
      pb_uses* uses = &p->uses[v];
      *uses = (pb_uses){.nests = all, .capacity = uses->count};
      all += uses->capacity;
    }
    for (int n = 0; n < p->nest_count; ++n)
      for (int a = 0; a < p->nests[n].access_count; ++a) {
        if (used_before(p, n, a)) continue;
        pb_uses* uses = &p->uses[p->value_of[n][a]];
        if (fill) uses->nests[uses->count] = n;
        ++uses->count;
        total += !fill;
      }
  }
}

// The function's nests in order, with the values that they use.
static pb_status read_nests(pb_program* program, MlirBlock body, const pb_table* numbers, pb_arena* arena,
                            pb_diag* diag) {
  PB_FOR_OPS (op, body) {
    if (!pb_op_is(op, "affine.for") && !pb_op_is(op, "affine.store")) continue;
    pb_nest* nest = &program->nests[program->nest_count];
    const char* why = pb_nest_read(op, arena, nest);
    if (why) return pb_unsupported(diag, (pb_place){.what = nest->name}, 4002, NULL, "not in value form: %s", why);
    PB_TRY(find_values(program, numbers, program->nest_count++, diag));
  }
  return PB_OK;
}

static const int64_t* reserved_by(MlirOperation func, pb_arena* arena) {
  MlirAttribute a = pb_op_attribute(func, "pb.reserved");
  if (mlirAttributeIsNull(a) || !mlirAttributeIsADenseI64Array(a)) return NULL;
  intptr_t count = mlirDenseArrayGetNumElements(a);
  int64_t* bytes = PB_NEW_ARRAY(arena, int64_t, (size_t)count + 1);
  for (intptr_t m = 0; m < count; ++m) bytes[m] = mlirDenseI64ArrayGetElement(a, m);
  return bytes;
}

// The function's arguments, with room for so many locals.
static void begin(MlirOperation func, int locals, pb_arena* arena, pb_program* program) {
  MlirBlock body = pb_op_body(func);
  int arguments = (int)mlirBlockGetNumArguments(body);
  *program = (pb_program){.func = func, .value_capacity = arguments + locals};
  program->values = PB_NEW_ARRAY(arena, pb_value, (size_t)program->value_capacity + 1);
  for (int k = 0; k < arguments; ++k)
    describe_argument(mlirBlockGetArgument(body, k), k, arena, &program->values[program->value_count++]);
}

static void put_nest(pb_program* p, int at, const pb_nest* nest, const int* value_of) {
  pb_nest_copy(&p->nests[at], nest);
  memcpy(p->value_of[at], value_of, sizeof *p->value_of);
}

// Room for so many nests. Memory that is not touched is free.
static void reserve(pb_program* p, pb_arena* arena, int room) {
  const pb_program had = *p;
  p->arena = arena;
  p->nest_capacity = room;
  p->nests = pb_alloc_raw(arena, ((size_t)room + 1) * sizeof *p->nests);
  p->value_of = pb_alloc_array(arena, (size_t)room + 1, sizeof *p->value_of);
  p->gone = PB_NEW_ARRAY(arena, bool, (size_t)room + 1);
  for (int n = 0; n < p->nest_count; ++n) {
    put_nest(p, n, &had.nests[n], had.value_of[n]);
    p->gone[n] = pb_program_is_gone(&had, n);
  }
}

pb_status pb_program_read(MlirOperation func, pb_arena* arena, pb_diag* diag, pb_program* program) {
  MlirBlock body = pb_op_body(func);
  int locals = 0, nests = 0;
  PB_FOR_OPS (op, body) {
    locals += pb_op_is(op, "memref.alloc");
    nests += pb_op_is(op, "affine.for") || pb_op_is(op, "affine.store");
  }
  begin(func, locals, arena, program);
  program->reserved = reserved_by(func, arena);
  program->over = pb_op_has(func, "pb.over");
  reserve(program, arena, nests + program->value_capacity); // a copy of each value may go in
  pb_table numbers = {0};
  PB_FOR_OPS (op, body)
    if (pb_op_is(op, "memref.alloc")) {
      pb_value* value = &program->values[program->value_count++];
      describe(mlirOperationGetResult(op, 0), value);
      value->kind = PB_VALUE_LOCAL;
    }
  for (int v = 0; v < program->value_count; ++v) pb_table_add_address(&numbers, program->values[v].ir.ptr, v);
  pb_status status = read_nests(program, body, &numbers, arena, diag);
  pb_table_free(&numbers);
  if (status == PB_OK) pb_program_index(program, arena);
  return status;
}

void pb_program_read_arguments(MlirOperation func, pb_arena* arena, pb_program* program) {
  begin(func, 0, arena, program);
  pb_program_index(program, arena);
}

pb_access pb_value_shape(const pb_value* value) {
  pb_access access = {.type = value->type, .rank = value->rank, .space = value->space, .buffer = -1};
  memcpy(access.shape, value->shape, sizeof access.shape);
  return access;
}

int64_t pb_value_elements(const pb_value* value) {
  pb_access shape = pb_value_shape(value);
  return pb_access_elements(&shape);
}

int64_t pb_value_bytes(const pb_value* value) {
  return pb_value_elements(value) * (value->type == PB_I1 ? 8 : pb_type_bits(value->type)) / 8;
}

int pb_program_value(const pb_program* program, MlirValue ir) {
  for (int v = 0; v < program->value_count; ++v)
    if (pb_value_same(program->values[v].ir, ir)) return v;
  return -1;
}

int pb_program_stored(const pb_program* program, int nest) {
  return program->value_of[nest][program->nests[nest].access_count - 1];
}

bool pb_program_same_place(const pb_program* p, int a, int b) {
  if (pb_program_stored(p, a) != pb_program_stored(p, b)) return false;
  const pb_access *x = &p->nests[a].access[p->nests[a].access_count - 1],
                  *y = &p->nests[b].access[p->nests[b].access_count - 1];
  for (int r = 0; r < x->rank; ++r) {
    int64_t ex = 1, ey = 1;
    for (int d = 0; d < p->nests[a].dim_count; ++d)
      if (x->index[r].coef[d]) ex *= p->nests[a].extent[d];
    for (int d = 0; d < p->nests[b].dim_count; ++d)
      if (y->index[r].coef[d]) ey *= p->nests[b].extent[d];
    if (x->index[r].cst != y->index[r].cst || ex != ey) return false;
  }
  return true;
}

bool pb_program_writes(const pb_program* program, int nest, int value) {
  return pb_program_stored(program, nest) == value;
}

bool pb_program_reads(const pb_program* program, int nest, int value) {
  const pb_nest* n = &program->nests[nest];
  return pb_program_load_of(program, nest, value) >= 0 ||
         (n->reduce != PB_SET && pb_program_writes(program, nest, value));
}

// Where the nest stands among the uses, or would.
static int place_among(const pb_uses* uses, int nest) {
  int low = 0, high = uses->count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (uses->nests[middle] < nest)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int pb_program_next_use(const pb_program* program, int value, int after) {
  const pb_uses* uses = &program->uses[value];
  int at = place_among(uses, after + 1);
  return at < uses->count ? uses->nests[at] : -1;
}

int pb_program_next_writer(const pb_program* program, int value, int after) {
  do after = pb_program_next_use(program, value, after);
  while (after >= 0 && !pb_program_writes(program, after, value));
  return after;
}

int pb_program_last_writer(const pb_program* program, int value) {
  int last = -1;
  PB_FOR_WRITERS (n, program, value) last = n;
  return last;
}

int pb_program_next_access(const pb_program* program, int nest, int value, int after) {
  for (int a = after + 1; a < program->nests[nest].access_count; ++a)
    if (program->value_of[nest][a] == value) return a;
  return -1;
}

int pb_program_load_of(const pb_program* program, int nest, int value) {
  int a = pb_program_next_access(program, nest, value, -1);
  return a + 1 < program->nests[nest].access_count ? a : -1;
}

void pb_program_begin_nests(const pb_program* program, pb_arena* arena, pb_program* to) {
  *to = *program;
  to->nest_count = 0;
  reserve(to, arena, 2 * program->nest_count + 8);
}

pb_nest* pb_program_add_nest(pb_program* program, const pb_nest* nest, const int* value_of) {
  if (program->nest_count == program->nest_capacity) reserve(program, program->arena, 2 * program->nest_count + 8);
  put_nest(program, program->nest_count, nest, value_of);
  return &program->nests[program->nest_count++];
}

void pb_program_add_copy(pb_program* program, const pb_nest* like, const pb_access* from, int from_value,
                         const pb_access* to, int to_value) {
  pb_nest copy;
  pb_nest_begin(&copy, like->name, "copy", 2);
  copy.dim_count = like->dim_count;
  memcpy(copy.extent, like->extent, sizeof copy.extent);
  copy.access[0] = *from;
  copy.access[1] = *to;
  (void)pb_nest_load(&copy, 0);
  for (int d = copy.dim_count - 1; d >= 0; --d)
    if (!pb_access_uses(from, d) && !pb_access_uses(to, d)) pb_nest_remove_dim(&copy, d);
  (void)pb_program_add_nest(program, &copy, (const int[PB_NEST_ACCESSES]){from_value, to_value});
}

pb_nest* pb_program_add_fill(pb_program* program, const char* name, const char* part, int value, const int64_t* low,
                             const int64_t* high, double number) {
  pb_nest fill;
  pb_nest_begin(&fill, name, part, 1);
  fill.access[0] = pb_value_shape(&program->values[value]);
  for (int r = 0; r < fill.access[0].rank; ++r) {
    pb_index* index = &fill.access[0].index[r];
    index->cst = low ? low[r] : 0;
    int64_t extent = (high ? high[r] : fill.access[0].shape[r]) - index->cst;
    if (extent <= 0) return NULL;
    pb_nest_walk(&fill, index, 1, extent);
  }
  (void)pb_nest_const(&fill, fill.access[0].type, number);
  return pb_program_add_nest(program, &fill, (const int[PB_NEST_ACCESSES]){value});
}

static int by_place(const void* a, const void* b) {
  const pb_insertion *x = a, *y = b;
  return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->order > y->order) - (x->order < y->order);
}

// From the end on, so that every nest moves into room that is free.
void pb_program_insert(pb_program* p, pb_arena* arena, pb_insertion* nests, int count) {
  if (p->nest_count + count > p->nest_capacity) reserve(p, arena, p->nest_count + count);
  qsort(nests, (size_t)count, sizeof *nests, by_place);
  for (int n = p->nest_count, at = n + count, k = count; n >= 0; --n) {
    if (n < p->nest_count && --at > n) put_nest(p, at, &p->nests[n], p->value_of[n]);
    for (; k > 0 && nests[k - 1].at == n; --k)
      put_nest(p, --at, nests[k - 1].nest, (const int[PB_NEST_ACCESSES]){nests[k - 1].from, nests[k - 1].to});
  }
  p->nest_count += count;
  pb_program_index(p, arena);
}

void pb_program_drop_nests(pb_program* program, pb_arena* arena) {
  int count = program->nest_count;
  program->nest_count = 0;
  for (int n = 0; n < count; ++n) {
    if (program->gone[n]) continue;
    if (program->nest_count < n) put_nest(program, program->nest_count, &program->nests[n], program->value_of[n]);
    ++program->nest_count;
  }
  memset(program->gone, 0, (size_t)count);
  pb_program_index(program, arena);
}

int pb_program_readers(const pb_program* program, int value) {
  int readers = 0;
  PB_FOR_USES (n, program, value) readers += pb_program_load_of(program, n, value) >= 0;
  return readers;
}

// Whether nothing but the number that the body computes moves the access.
static bool is_look_up(const pb_nest* nest, int a) {
  const pb_access* access = &nest->access[a];
  for (int d = 0; d < nest->dim_count; ++d)
    if (pb_access_uses(access, d)) return false;
  return a + 1 < nest->access_count && pb_access_elements(access) == access->shape[access->gathered - 1];
}

bool pb_program_is_fixed(const pb_program* p, int n) {
  const pb_nest* nest = &p->nests[n];
  if (pb_nest_needs_its_loops(nest)) return true;
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].gathered && (!pb_program_is_const(p, n, a) || !is_look_up(nest, a))) return true;
  return false;
}

static bool is_used(const pb_program* p, int value) {
  PB_FOR_USES (n, p, value)
    if (!pb_program_is_gone(p, n) && (pb_program_reads(p, n, value) || pb_program_writes(p, n, value))) return true;
  return false;
}

void pb_program_print_allocs(const pb_program* program, pb_text* text) {
  for (int v = 0; v < program->value_count; ++v) {
    const pb_value* value = &program->values[v];
    if (value->kind != PB_VALUE_LOCAL || !is_used(program, v)) continue;
    pb_access type = pb_value_shape(value);
    pb_text_add(text, "  %%v%d = memref.alloc() : ", v);
    pb_access_print_type(text, &type);
    pb_text_add(text, "\n");
  }
}

void pb_program_print_nest(pb_program* p, int n, pb_arena* arena, int* serial, pb_text* text) {
  pb_nest* nest = &p->nests[n];
  for (int a = 0; a < nest->access_count; ++a) {
    int v = p->value_of[n][a], argument = p->values[v].argument;
    nest->access[a].ref = argument >= 0 ? pb_printf(arena, "%%a%d", argument) : pb_printf(arena, "%%v%d", v);
  }
  pb_nest_print(text, nest, 1, serial);
}

void pb_program_print_flats(const pb_program* program, pb_text* text) {
  for (int v = 0; v < program->value_count; ++v) {
    const pb_value* value = &program->values[v];
    pb_access shape = pb_value_shape(value);
    const char* name = pb_type_name(value->type);
    if (value->kind == PB_VALUE_LOCAL || value->rank == 1) continue;
    if (value->rank == 0) {
      pb_text_add(text, "  %%f%d = memref.expand_shape %%a%d [] output_shape [1] : memref<%s> into memref<1x%s>\n",
                  value->argument, value->argument, name, name);
      continue;
    }
    pb_text_add(text, "  %%f%d = memref.collapse_shape %%a%d [[", value->argument, value->argument);
    for (int r = 0; r < value->rank; ++r) pb_text_add(text, "%s%d", r ? ", " : "", r);
    pb_text_add(text, "]] : ");
    pb_access_print_type(text, &shape);
    pb_text_add(text, " into memref<%lldx%s>\n", (long long)pb_access_elements(&shape), name);
  }
}

int pb_program_add_value(pb_program* p, pb_arena* arena, const pb_value* value) {
  if (p->value_count == p->value_capacity) {
    size_t count = (size_t)p->value_count, capacity = count * 2 + 8;
    pb_value* values = PB_NEW_ARRAY(arena, pb_value, capacity + 1);
    pb_uses* uses = PB_NEW_ARRAY(arena, pb_uses, capacity + 1);
    if (count) memcpy(values, p->values, sizeof *values * count);
    if (count && p->uses) memcpy(uses, p->uses, sizeof *uses * count);
    p->values = values;
    p->uses = uses;
    p->value_capacity = (int)capacity;
  }
  p->values[p->value_count] = *value;
  return p->value_count++;
}

int pb_program_add_local(pb_program* p, pb_arena* arena, const pb_access* like) {
  pb_value local = {.kind = PB_VALUE_LOCAL, .argument = -1, .const_id = -1, .type = like->type, .rank = like->rank};
  memcpy(local.shape, like->shape, sizeof local.shape);
  return pb_program_add_value(p, arena, &local);
}

int pb_program_add_known(pb_program* p, pb_arena* arena, const pb_consts* consts, int id) {
  const pb_const* c = consts->items[id];
  pb_value value = {.kind = PB_VALUE_CONST,
                    .argument = pb_program_given(p),
                    .const_id = id,
                    .type = pb_type_stored(c->type),
                    .rank = c->rank};
  memcpy(value.shape, c->shape, sizeof *c->shape * (size_t)c->rank);
  return pb_program_add_value(p, arena, &value);
}

int pb_program_add_const(pb_program* p, pb_arena* arena, pb_consts* consts, const char* name, pb_type type, int rank,
                         const int64_t* shape, const void* data) {
  return pb_program_add_known(p, arena, consts, pb_consts_add(consts, name, type, rank, shape, data));
}

int pb_program_gather_const(pb_program* p, pb_arena* arena, pb_consts* consts, int id, int64_t* const* from,
                            const int64_t* shape) {
  const pb_const* of = consts->items[id];
  const char* data = pb_const_data(consts, id);
  size_t size = (size_t)(pb_type_bits(of->type) + 7) / 8;
  int64_t count = 1, at[PB_NEST_RANK] = {0};
  for (int r = 0; r < of->rank; ++r) count *= shape[r];
  char* made = pb_alloc_array(&consts->arena, (size_t)count + 1, size);
  for (int64_t k = 0; k < count; ++k) {
    int64_t source = 0;
    for (int r = 0; r < of->rank && source >= 0; ++r) {
      int64_t i = from[r] ? from[r][at[r]] : at[r];
      source = i < 0 ? -1 : source * of->shape[r] + i;
    }
    if (source >= 0) memcpy(made + (size_t)k * size, data + (size_t)source * size, size);
    for (int r = of->rank - 1; r >= 0 && ++at[r] == shape[r]; --r) at[r] = 0;
  }
  return pb_program_add_const(p, arena, consts, of->name, of->type, of->rank, shape, made);
}

void pb_program_cut_value(pb_program* p, int v, int r, int64_t inner) {
  pb_value* value = &p->values[v];
  PB_FOR_ACCESSES (n, a, p, v) pb_access_cut_index(&p->nests[n].access[a], r, inner);
  memmove(&value->shape[r + 1], &value->shape[r], sizeof *value->shape * (size_t)(value->rank++ - r));
  value->shape[r] /= inner;
  value->shape[r + 1] = inner;
}

// Takes index r out of a shape.
static void take_out(int64_t* shape, int rank, int r) {
  memmove(&shape[r], &shape[r + 1], sizeof *shape * (size_t)(rank - r - 1));
}

static void join_indices(pb_access* access, int r) {
  pb_index *to = &access->index[r], *inner = &access->index[r + 1];
  int64_t extent = access->shape[r + 1];
  for (int c = 0; c < PB_NEST_COLS; ++c) to->coef[c] = to->coef[c] * extent + inner->coef[c];
  to->cst = to->cst * extent + inner->cst;
  access->shape[r] *= extent;
  memmove(inner, inner + 1, sizeof *inner * (size_t)(access->rank - r - 2));
  take_out(access->shape, access->rank, r + 1);
  --access->rank;
}

void pb_program_join_value(pb_program* p, int v, int r) {
  pb_value* value = &p->values[v];
  PB_FOR_ACCESSES (n, a, p, v) join_indices(&p->nests[n].access[a], r);
  value->shape[r] *= value->shape[r + 1];
  take_out(value->shape, value->rank, r + 1);
  --value->rank;
}

static void add_use(pb_program* p, pb_arena* arena, int nest, int value) {
  pb_uses* uses = &p->uses[value];
  int at = place_among(uses, nest);
  if (at < uses->count && uses->nests[at] == nest) return;
  if (uses->count == uses->capacity) {
    int* nests = PB_NEW_ARRAY(arena, int, (size_t)uses->capacity * 2 + 4);
    if (uses->count) memcpy(nests, uses->nests, sizeof *nests * (size_t)uses->count);
    uses->nests = nests;
    uses->capacity = uses->capacity * 2 + 4;
  }
  memmove(uses->nests + at + 1, uses->nests + at, sizeof *uses->nests * (size_t)(uses->count++ - at));
  uses->nests[at] = nest;
}

int pb_program_add_access(pb_program* p, pb_arena* arena, int n, int value) {
  int at = pb_nest_add_access(&p->nests[n]);
  p->nests[n].access[at] = pb_value_shape(&p->values[value]);
  p->value_of[n][at + 1] = p->value_of[n][at];
  p->value_of[n][at] = value;
  add_use(p, arena, n, value);
  return at;
}

static void take_use(pb_program* p, int nest, int value) {
  pb_uses* uses = &p->uses[value];
  int at = place_among(uses, nest);
  if (at == uses->count || uses->nests[at] != nest) return; // of several accesses to it another one was first
  memmove(uses->nests + at, uses->nests + at + 1, sizeof *uses->nests * (size_t)(--uses->count - at));
}

void pb_program_set_value(pb_program* p, pb_arena* arena, int nest, int access, int value) {
  int before = p->value_of[nest][access];
  p->value_of[nest][access] = value;
  add_use(p, arena, nest, value);
  for (int a = 0; a < p->nests[nest].access_count; ++a)
    if (p->value_of[nest][a] == before) return;
  take_use(p, nest, before);
}

void pb_program_set_nest(pb_program* p, pb_arena* arena, int nest, const pb_nest* to, const int* values) {
  for (int a = 0; a < p->nests[nest].access_count; ++a) take_use(p, nest, p->value_of[nest][a]);
  pb_nest_copy(&p->nests[nest], to);
  memcpy(p->value_of[nest], values, sizeof *values * (size_t)to->access_count);
  for (int a = 0; a < to->access_count; ++a) add_use(p, arena, nest, values[a]);
}

int pb_program_given(const pb_program* p) {
  int count = 0;
  for (int v = 0; v < p->value_count; ++v) count += !pb_program_is_local(p, v);
  return count;
}
