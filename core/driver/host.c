#include "core/base/workers.h"
#include "core/driver/host_places.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t padded(uint64_t bytes) { return (bytes + PB_ENGINE_ALIGN - 1) / PB_ENGINE_ALIGN * PB_ENGINE_ALIGN; }

static int place_of(const pb_host* h, MlirValue v) {
  return pb_table_find_address(&h->numbers, pb_tensor_viewed(v).ptr);
}

// Whether the tensor lies in the system's memory.
static bool is_outside(const pb_host* h, MlirValue v) {
  return pb_memref_memory(h->unit->chip, v) == h->unit->chip->system_memory;
}

int pb__host_add(pb_host* h, pb_host_place place) {
  PB_PUSH(h->places, h->place_count, h->place_capacity, place);
  return (int)h->place_count - 1;
}

void pb__host_name(pb_host* h, MlirValue value, int place) { pb_table_add_address(&h->numbers, value.ptr, place); }

static const char* text_of(pb_engine* e, MlirAttribute a) {
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAString(a)) return "";
  MlirStringRef s = mlirStringAttrGetValue(a);
  return pb_printf(&e->arena, "%.*s", (int)s.length, s.data);
}

static void add_tensor(pb_engine* e, pb_tensor_info* list, int* count, MlirAttribute name, const pb_access* shape) {
  pb_tensor_info* info = &list[(*count)++];
  *info = (pb_tensor_info){.name = text_of(e, name), .type = shape->type, .rank = shape->rank};
  memcpy(info->shape, shape->shape, sizeof(int64_t) * (size_t)shape->rank);
}

static void take_arguments(pb_host* h, MlirOperation main) {
  pb_engine* e = h->engine;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0));
  intptr_t n = mlirBlockGetNumArguments(body);
  e->inputs = PB_NEW_ARRAY(&e->arena, pb_tensor_info, (size_t)n + 1);
  e->outputs = PB_NEW_ARRAY(&e->arena, pb_tensor_info, (size_t)n + 1);
  for (intptr_t k = 0; k < n; ++k) {
    MlirValue value = mlirBlockGetArgument(body, k);
    pb_host_place p = {.first = 0};
    pb_access shape;
    pb_access_of_value(value, &shape);
    MlirAttribute id = pb_argument_attribute(value, "pb.const");
    if (!mlirAttributeIsNull(id)) {
      p.arg = (pb_arg){PB_SPACE_CONST, (uint64_t)mlirIntegerAttrGetValueInt(id)}; // the id; its offset comes later
    } else if (pb_argument_has(value, "pb.output")) {
      p.arg = (pb_arg){PB_SPACE_OUTPUT, (uint64_t)e->output_count};
      add_tensor(e, e->outputs, &e->output_count, pb_argument_attribute(value, "pb.output"), &shape);
    } else {
      p.arg = (pb_arg){PB_SPACE_INPUT, (uint64_t)e->input_count};
      add_tensor(e, e->inputs, &e->input_count, pb_argument_attribute(value, "pb.input"), &shape);
    }
    pb__host_name(h, value, pb__host_add(h, p));
  }
}

static MlirOperation first_op(MlirOperation main) {
  return mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0)));
}

uint64_t pb__host_bytes(MlirValue tensor) {
  pb_access shape;
  return pb_access_of_value(tensor, &shape)
             ? padded((uint64_t)pb_access_elements(&shape) * (uint64_t)((pb_type_bits(shape.type) + 7) / 8))
             : 0;
}

int pb__host_launches(MlirOperation main) {
  int calls = 0;
  for (MlirOperation op = first_op(main); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    calls += pb_op_is(op, "func.call");
  return calls;
}

void pb__host_touch(pb_host* h, int step, int place) {
  pb_host_place* p = &h->places[place];
  if (p->first < 0) p->first = step;
  p->last = step;
}

void pb__host_use(pb_host* h, int step, int argument, int place) {
  pb_host_place* p = &h->places[place];
  uint64_t value = p->arg.space == PB_SPACE_ARENA ? (uint64_t)place : p->arg.value;
  h->engine->steps[step].args[argument] = (pb_arg){p->arg.space, value};
  pb__host_touch(h, step, place);
}

// Beside a constant's id until it has its place: its codes lie two in a byte.
static const uint64_t packed_bit = (uint64_t)1 << 62;

// How the kernel reads its constants: in which memory of scope "constants", and packed.
static void note_constants(const pb_host* h, MlirOperation call, pb_step* step) {
  pb_arena* arena = &h->engine->arena;
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(call, "callee"));
  MlirOperation kernel = pb_module_func(h->unit->module, pb_printf(arena, "%.*s", (int)name.length, name.data));
  if (mlirOperationIsNull(kernel)) return;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
  for (int k = 0, a = 0; a < step->arg_count; ++k) { // by the kernel's arguments, by the step's
    if (!is_outside(h, mlirOperationGetOperand(call, k))) continue;
    MlirValue v = mlirBlockGetArgument(body, k);
    pb_arg* arg = &step->args[a++];
    if (arg->space != PB_SPACE_CONST) continue;
    int number = pb_constants_number(h->unit->chip, pb_memref_memory(h->unit->chip, v));
    if (number >= 0) arg->space = (pb_space)(PB_SPACE_CONST_APART + number);
    if (pb_argument_has(v, "pb.packed")) arg->value |= packed_bit;
  }
}

static pb_status take_launch(pb_host* h, MlirOperation call) {
  pb_engine* e = h->engine;
  pb_step* step = &e->steps[e->step_count];
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(call, "callee"));
  *step = (pb_step){.kernel = pb_table_find(&h->kernels, callee.data, callee.length),
                    .target = -1,
                    .origin = text_of(e, pb_op_attribute(call, "pb.origin")),
                    .macs = (uint64_t)pb_op_integer(call, "pb.macs", 0),
                    .arg_count = (int)mlirOperationGetNumOperands(call)};
  bool words = step->kernel >= 0 && e->kernels[step->kernel].is_words;
  int most = words ? PB_ENGINE_MAX_DEVICE_ARGS : PB_ENGINE_MAX_ARGS;
  if (step->kernel < 0 || step->arg_count > most)
    return pb_unsupported(h->unit->diag, (pb_place){.what = step->origin}, 4050, NULL,
                          "%d tensors in one kernel; %d at most", step->arg_count, most);
  int operands = step->arg_count;
  step->arg_count = 0;
  for (int k = 0; k < operands; ++k) { // what stays on the chip is in the commands
    MlirValue operand = mlirOperationGetOperand(call, k);
    if (is_outside(h, operand))
      pb__host_use(h, e->step_count, step->arg_count++, place_of(h, operand));
    else
      pb__host_touch(h, e->step_count, place_of(h, operand));
  }
  if (words) note_constants(h, call, step);
  ++e->step_count;
  return PB_OK;
}

pb_status pb__host_take(pb_host* h, MlirOperation main) {
  for (MlirOperation op = first_op(main); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!pb_op_is(op, "memref.alloc")) continue;
    MlirValue tensor = mlirOperationGetResult(op, 0);
    pb_host_place p = {.arg = {PB_SPACE_ARENA, 0}, .first = -1, .last = -1, .bytes = pb__host_bytes(tensor)};
    if (!is_outside(h, tensor)) {
      pb_access shape;
      pb_access_of_value(tensor, &shape);
      p.kept.memory = pb_memref_memory(h->unit->chip, tensor);
      p.kept.address = (uint64_t)pb_op_integer(op, "pb.address", 0);
      p.kept.bytes = (uint64_t)(pb_access_elements(&shape) * (pb_type_bits(shape.type) / 8));
    }
    pb__host_name(h, tensor, pb__host_add(h, p));
  }
  for (MlirOperation op = first_op(main); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (pb_op_is(op, "func.call")) PB_TRY(take_launch(h, op));
  return PB_OK;
}

// Large ones first, else in the order of the program: the same on every machine.
static int by_bytes(const void* a, const void* b) {
  const pb_host_place *x = *(pb_host_place*const*)a, *y = *(pb_host_place*const*)b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return (x > y) - (x < y);
}

// Large tensors first, each at the lowest offset where it meets no tensor that lives at the same time.
static void place_arena(pb_host* h) {
  size_t n = h->place_count;
  pb_host_place** order = malloc((n + 1) * sizeof *order);
  if (!order) pb_no_memory(n * sizeof *order);
  size_t count = 0;
  for (size_t k = 0; k < n; ++k)
    if (h->places[k].arg.space == PB_SPACE_ARENA && h->places[k].first >= 0 && !h->places[k].kept.bytes)
      order[count++] = &h->places[k];
  qsort(order, count, sizeof *order, by_bytes);
  for (size_t i = 0; i < count; ++i) {
    pb_host_place* p = order[i];
    uint64_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t j = 0; j < i; ++j) {
        const pb_host_place* q = order[j];
        bool together = p->first <= q->last && q->first <= p->last;
        if (together && at < q->arg.value + q->bytes && q->arg.value < at + p->bytes) {
          at = q->arg.value + q->bytes;
          moved = true;
        }
      }
    }
    p->arg.value = at;
    if (at + p->bytes > h->engine->arena_bytes) h->engine->arena_bytes = at + p->bytes;
  }
  free(order);
}

// ---- tensors that stay on the chip ----

_Static_assert((int)PB_MAX_RESIDENTS <= (int)PB_ENGINE_MAX_KEPT, "a step has room for what stays while it runs");

// Notes where those steps that come behind the one that makes it, up to the last that takes it, find the tensor.
static void keep(pb_host* h, const pb_host_place* p) {
  for (int s = p->first + 1; s <= p->last; ++s) {
    pb_step* step = &h->engine->steps[s];
    if (!step->kept) step->kept = PB_NEW_ARRAY(&h->engine->arena, pb_kept, PB_ENGINE_MAX_KEPT);
    step->kept[step->kept_count++] = p->kept;
  }
}

// Constants by how they lie: in the system's memory, or in one of those apart; as they are, or packed. What is read in
// several ways lies in all of them.
enum { APART = 2, PACKED = 1, WAYS = APART * (1 + PB_ENGINE_MAX_APART) };
_Static_assert((int)PB_ENGINE_MAX_APART == (int)PB_MAX_CONSTANT_MEMORIES, "a space for each memory of constants");

typedef struct placed_constants {
  pb_engine* engine;
  const pb_consts* consts;
  size_t* ids; // way by way, in order of first use
  int count[WAYS];
  uint64_t* offset[WAYS]; // by id, UINT64_MAX: no step uses it so
} placed_constants;

static int way_of(const pb_arg* arg) {
  if (!pb_is_constant(arg)) return -1;
  return APART * (pb_apart_memory(arg) + 1) + (arg->value & packed_bit ? PACKED : 0);
}

static size_t id_of(const pb_arg* arg) { return (size_t)(arg->value & ~packed_bit); }

static uint64_t placed_bytes(const pb_const* c, int way) { return way & PACKED ? (c->bytes + 1) / 2 : c->bytes; }

static void find_constants(placed_constants* c, int way) {
  pb_engine* e = c->engine;
  size_t* ids = c->ids;
  for (int w = 0; w < way; ++w) ids += c->count[w];
  for (int s = 0; s < e->step_count; ++s)
    for (int k = 0; k < e->steps[s].arg_count; ++k) {
      if (way_of(&e->steps[s].args[k]) != way) continue;
      size_t id = id_of(&e->steps[s].args[k]);
      if (c->offset[way][id] != UINT64_MAX) continue;
      ids[c->count[way]++] = id;
      c->offset[way][id] = e->const_bytes;
      e->const_bytes += padded(placed_bytes(c->consts->items[id], way));
    }
}

// Two codes in a byte, the first below.
static void write_packed(const pb_consts* consts, size_t id, unsigned char* to) {
  uint64_t count = consts->items[id]->bytes;
  unsigned char* codes = malloc(count + 1);
  if (!codes) pb_no_memory(count + 1);
  codes[count] = 0;
  pb_const_write(consts, (int)id, codes);
  for (uint64_t k = 0; k < count; k += 2) to[k / 2] = (unsigned char)((codes[k] & 15) | (codes[k + 1] & 15) << 4);
  free(codes);
}

// A worker writes one: whoever packs weights waits for memory most of the time.
static void write_constant(void* constants, int k) {
  const placed_constants* c = constants;
  size_t id = c->ids[k];
  int way = 0;
  for (; k >= c->count[way]; ++way) k -= c->count[way];
  uint64_t bytes = placed_bytes(c->consts->items[id], way);
  unsigned char* to = c->engine->consts + c->offset[way][id];
  if (way & PACKED)
    write_packed(c->consts, id, to);
  else
    pb_const_write(c->consts, (int)id, to);
  memset(to + bytes, 0, padded(bytes) - bytes);
}

// Constants that a step uses, in order of first use; those that lie apart behind the others, memory by memory.
static void place_constants(pb_host* h) {
  pb_engine* e = h->engine;
  size_t room = h->unit->consts->count + 1;
  placed_constants c = {.engine = e, .consts = h->unit->consts};
  c.ids = malloc(WAYS * room * sizeof *c.ids);
  if (!c.ids) pb_no_memory(WAYS * room * sizeof *c.ids);
  e->const_bytes = 0;
  int count = 0;
  for (int way = 0; way < WAYS; ++way) {
    c.offset[way] = malloc(room * sizeof *c.offset[way]);
    if (!c.offset[way]) pb_no_memory(room * sizeof *c.offset[way]);
    memset(c.offset[way], 0xff, room * sizeof *c.offset[way]);
    find_constants(&c, way);
    count += c.count[way];
  }
  e->consts = pb_alloc_raw(&e->arena, e->const_bytes + 1);
  pb_work_on(count, h->unit->workers, write_constant, &c);
  for (int s = 0; s < e->step_count; ++s)
    for (int k = 0; k < e->steps[s].arg_count; ++k) {
      pb_arg* arg = &e->steps[s].args[k];
      if (way_of(arg) >= 0)
        arg->value = c.offset[way_of(arg)][id_of(arg)];
      else if (arg->space == PB_SPACE_ARENA)
        arg->value = h->places[arg->value].arg.value;
    }
  free(c.ids);
  for (int way = 0; way < WAYS; ++way) free(c.offset[way]);
}

static pb_status check_room(const pb_unit* unit, uint64_t bytes) {
  const pb_memory* m = &unit->chip->memories[unit->chip->system_memory];
  if (bytes <= (uint64_t)m->bytes) return PB_OK;
  return pb_unsupported(
      unit->diag, (pb_place){.what = "model"}, 4051, "smaller tensors, or --target=cpu",
      "inputs, outputs, constants, commands and what lies between kernels take %llu bytes of %s's %s, which "
      "has %lld",
      (unsigned long long)bytes, unit->chip->name, m->name, (long long)m->bytes);
}

static pb_status check_apart(const pb_unit* unit, int number, uint64_t bytes) {
  if (!bytes) return PB_OK;
  const pb_memory* m = &unit->chip->memories[unit->chip->constant_memories[number]];
  if (bytes <= (uint64_t)m->bytes) return PB_OK;
  return pb_unsupported(unit->diag, (pb_place){.what = "model"}, 4051, "fewer weights, or --target=cpu",
                        "constants take %llu bytes of %s's %s, which has %lld", (unsigned long long)bytes,
                        unit->chip->name, m->name, (long long)m->bytes);
}

pb_status pb_host_check(const pb_unit* unit) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(pb_module_func(unit->module, "main"), 0));
  uint64_t outside = 0, most = 0;
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k) {
    MlirValue v = mlirBlockGetArgument(body, k);
    if (unit->chip->constant_memory_count && pb_argument_has(v, "pb.const")) continue; // it may lie there
    outside += pb__host_bytes(v);
  }
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    uint64_t inside = pb_op_is(op, "memref.alloc") ? pb__host_bytes(mlirOperationGetResult(op, 0)) : 0;
    for (intptr_t k = 0; pb_op_is(op, "func.call") && k < mlirOperationGetNumOperands(op); ++k) {
      MlirValue v = mlirOperationGetOperand(op, k);
      if (mlirValueIsAOpResult(v)) inside += pb__host_bytes(v);
    }
    if (inside > most) most = inside;
  }
  return check_room(unit, outside + most);
}

static uint64_t outside_bytes(const pb_engine* e) {
  uint64_t bytes = pb_engine_apart(e, 0);
  for (int pass = 0; pass < 2; ++pass)
    for (int k = 0; k < (pass ? e->output_count : e->input_count); ++k) {
      const pb_tensor_info* info = pass ? &e->outputs[k] : &e->inputs[k];
      uint64_t size = (uint64_t)((pb_type_bits(info->type) + 7) / 8);
      for (int r = 0; r < info->rank; ++r) size *= (uint64_t)info->shape[r];
      bytes += padded(size);
    }
  return bytes;
}

// Commands are fetched from the memory that tensors lie in.
static uint64_t command_bytes(const pb_engine* e) {
  uint64_t bytes = 0;
  for (int k = 0; k < e->kernel_count; ++k)
    for (int q = 0; e->kernels[k].is_words && q < e->kernels[k].words.queue_count; ++q)
      bytes += padded((uint64_t)e->kernels[k].words.count[q] * (uint64_t)e->command_bytes);
  return bytes;
}

void pb__host_start(pb_host* h, const pb_unit* unit, pb_engine* engine) {
  *h = (pb_host){.unit = unit, .engine = engine};
  for (int k = 0; k < engine->kernel_count; ++k)
    pb_table_add(&h->kernels, engine->kernels[k].name, strlen(engine->kernels[k].name), k);
}

pb_status pb__host_end(pb_host* h) {
  for (size_t k = 0; k < h->place_count; ++k)
    if (h->places[k].kept.bytes && h->places[k].first >= 0) keep(h, &h->places[k]);
  place_arena(h);
  place_constants(h);
  PB_TRY(check_room(h->unit, outside_bytes(h->engine) + h->engine->arena_bytes + command_bytes(h->engine)));
  for (int k = 0; k < PB_ENGINE_MAX_APART; ++k) PB_TRY(check_apart(h->unit, k, pb_engine_apart_bytes(h->engine, k)));
  return PB_OK;
}

void pb__host_free(pb_host* h) {
  free(h->places);
  pb_table_free(&h->numbers);
  pb_table_free(&h->kernels);
}

pb_status pb_host_build(const pb_unit* unit, pb_engine* engine) {
  pb_host h;
  MlirOperation main = pb_module_func(unit->module, "main");
  pb__host_start(&h, unit, engine);
  take_arguments(&h, main);
  engine->steps = PB_NEW_ARRAY(&engine->arena, pb_step, (size_t)pb__host_launches(main) + 1);
  pb_status status = pb__host_take(&h, main);
  if (status == PB_OK) status = pb__host_end(&h);
  pb__host_free(&h);
  return status;
}
