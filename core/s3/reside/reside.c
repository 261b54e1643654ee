// Reside: tensors between kernels stay in a memory of the chip, where that is predicted to be sooner done or to leave
// the system memory's port alone. Requires kernels in value form; leaves them so, on arguments some of which lie in a
// memory of the chip (a memory space and pb.address), with pb.reserved: bytes at the end of each memory in which
// tensors of other kernels' lie meanwhile. Exact.
//
//   before   %t = memref.alloc() : memref<..xi8>          call @k1(.., %t)  call @k2(%t, ..)
//   after    %t = memref.alloc() : memref<..xi8, "SPAD">  call @k1(.., %t)  call @k2(%t, ..)
//
// One tensor after the other, in the order of the program. All kernels from the one that makes it to the last that
// takes it are planned anew, with the room that it leaves them; it stays if what they take together, by the price that
// plans are chosen by, becomes less. Tensors lie from the end of the memory on, so that a kernel's own buffers, which
// begin in front, need not know of them. Where a kernel reads beside the tensor, which a mover would fill on the way,
// the tensor has a border, which the kernel that makes it fills (padding in memory, as the caches of processors have
// it: fusion/fold_padding.c).
#include "core/s3/reside/reside.h"

#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/pads.h"
#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"
#include "core/s3/transfer_paths.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>

// Between the first and the last, all of which are planned with less room; what lives longer takes it from too many.
enum { MOST_LAUNCHES = 32 };

// ---- what the module has ----

static size_t count(MlirBlock body, const char* name) {
  size_t ops = 0;
  PB_FOR_OPS (op, body) ops += pb_op_is(op, name);
  return ops;
}

// The module's functions by name.
typedef struct functions {
  pb_table numbers;
  MlirOperation* all;
  size_t count, capacity;
} functions;

static functions functions_of(MlirModule module) {
  functions f = {.count = 0};
  PB_FOR_OPS (op, mlirModuleGetBody(module)) {
    MlirStringRef name = mlirStringAttrGetValue(pb_op_attribute(op, "sym_name")); // lives as long as the context
    pb_table_add(&f.numbers, name.data, name.length, (int)f.count);
    PB_PUSH(f.all, f.count, f.capacity, op);
  }
  return f;
}

// The program of a launch's kernel: that of a launch before it with the same one.
static pb_status read_program(pb_reside* s, pb_table* known, int launch) {
  pb_launch* l = &s->launches[launch];
  int before = pb_table_find_address(known, l->func.ptr);
  l->like = before >= 0 ? before : launch;
  if (before >= 0) {
    l->program = s->launches[before].program;
    return PB_OK;
  }
  pb_program* program = PB_NEW(&s->unit->pass, pb_program);
  PB_TRY(pb_program_read(l->func, &s->unit->pass, s->unit->diag, program));
  pb_program_fold_pads(program, &s->unit->pass);
  l->program = program;
  pb_table_add_address(known, l->func.ptr, launch);
  return PB_OK;
}

static pb_status read_launches(pb_reside* s, MlirBlock body) {
  pb_table known = {0};
  pb_status status = PB_OK;
  functions f = functions_of(s->unit->module);
  s->launches = PB_NEW_ARRAY(&s->unit->pass, pb_launch, count(body, "func.call") + 1);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op) && status == PB_OK;
       op = mlirOperationGetNextInBlock(op)) {
    if (!pb_op_is(op, "func.call")) continue;
    MlirStringRef name = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(op, "callee"));
    int callee = pb_table_find(&f.numbers, name.data, name.length);
    s->launches[s->launch_count] = (pb_launch){.call = op, .func = f.all[callee]};
    pb_table_add_address(&s->calls, op.ptr, s->launch_count);
    status = read_program(s, &known, s->launch_count++);
  }
  pb_table_free(&known);
  pb_table_free(&f.numbers);
  free(f.all);
  return status;
}

int pb__reside_value(const pb_reside* s, int launch, MlirValue tensor) {
  const pb_launch* l = &s->launches[launch];
  for (int v = 0; v < l->program->value_count; ++v)
    if (l->program->values[v].argument >= 0 &&
        pb_value_same(mlirOperationGetOperand(l->call, l->program->values[v].argument), tensor))
      return v;
  return -1;
}

// ---- prices ----

// The price of the plan that the launch's kernel has without residents, if it can be carried out; -1: it cannot.
static int64_t price_of_old(pb_reside* s, int launch, const pb_program* program, pb_arena* scratch) {
  pb_diag quiet = {.sink = pb_diag_drop};
  pb_group group;
  const char* why;
  const pb_plan* old = s->launches[s->launches[launch].like].plan;
  if (!old || pb_group_read(program, s->unit->chip, scratch, &quiet, &group) != PB_OK) return -1;
  pb_plan plan = *old;
  return pb_plan_cost(s->unit->chip, &group, &plan, scratch, &why) ? pb_plan_price(&plan) : -1;
}

static int64_t price_of_new(pb_reside* s, int launch, const pb_program* program, bool staged, pb_arena* scratch) {
  pb_plan plan;
  pb_launch* like = &s->launches[s->launches[launch].like];
  if (!pb_plan_program_again(s->unit, program, staged, scratch, &plan)) return -1;
  if (!s->launches[launch].alive_count && !like->plan) {
    like->plan = PB_NEW(&s->unit->pass, pb_plan);
    *like->plan = plan;
  }
  return pb_plan_price(&plan);
}

static int64_t ask_price(pb_reside* s, int launch, bool anew) {
  pb_arena scratch = {0};
  pb_program* program = pb__reside_program(s, launch, &scratch);
  bool staged = pb_op_has(s->launches[launch].func, "pb.stages"); // of several stages new plans are looked for at once
  int64_t price =
      staged || anew ? price_of_new(s, launch, program, staged, &scratch) : price_of_old(s, launch, program, &scratch);
  pb_arena_free(&scratch);
  return price;
}

// What a price hangs on: the kernel, which of its tensors stay with what borders, and how much room all leave.
static void print_question(const pb_reside* s, int launch, bool anew, pb_text* text) {
  const pb_launch* l = &s->launches[launch];
  pb_text_add(text, "%d %d", l->like, anew);
  for (int k = 0; k < l->alive_count; ++k) {
    const pb_resident* r = &s->residents[l->alive[k]];
    int value = pb__reside_value(s, launch, r->tensor);
    pb_text_add(text, ", %d %lld %d", r->memory, (long long)r->address, value);
    for (int i = 0; value >= 0 && i < l->program->values[value].rank; ++i)
      pb_text_add(text, " %lld %lld %lld", (long long)r->low[i], (long long)r->high[i], (long long)r->spare[i]);
    if (value >= 0) pb_text_add(text, " %d %a", launch == r->first, r->fill);
  }
}

// What the launch's kernel takes with the residents, by a plan that is looked for, or (not `anew`) by the one that it
// had; -1: there is none.
static int64_t price_of(pb_reside* s, int launch, bool anew) {
  pb_text question = {0};
  print_question(s, launch, anew, &question);
  int next = (int)s->price_count,
      known = pb_table_number(&s->priced, &s->unit->pass, question.data, question.length, next);
  if (known == next) PB_PUSH(s->prices, s->price_count, s->price_capacity, ask_price(s, launch, anew));
  pb_text_free(&question);
  return s->prices[known];
}

// ---- which tensors ----

// Whether the kernel's nests store as many elements as the tensor has: lanes that nothing sets would be read as they
// are.
static bool stores_all(const pb_program* p, int value) {
  int64_t stored = 0;
  PB_FOR_WRITERS (n, p, value) stored += pb_nest_results(&p->nests[n]);
  return stored >= pb_value_elements(&p->values[value]);
}

// Whether the kernel is of several stages none of which multiplies by weights, as attention and norms are: an iteration
// of theirs needs the room, and plans with less of it are long to search for.
static bool keeps_room(const pb_reside* s, int launch) {
  const pb_launch* l = &s->launches[launch];
  return pb_op_has(l->func, "pb.stages") && !pb_program_products_by_weights(l->program);
}

// A border as wide as the access reads beside the tensor. false: what lies there is not one number, or no box says.
static bool widen_border(const pb_nest* nest, const pb_access* access, bool* any, pb_resident* r) {
  if (access->gathered) return false;
  for (int i = 0; i < access->rank; ++i) {
    int64_t least, most;
    if (!pb_index_range(nest, &access->index[i], &least, &most)) return false;
    most -= access->shape[i] - 1;
    if (least >= 0 && most <= 0) continue;
    if (!access->boxed || (*any && access->fill != r->fill)) return false;
    r->fill = access->fill;
    *any = true;
    if (-least > r->low[i]) r->low[i] = -least;
    if (most > r->high[i]) r->high[i] = most;
  }
  return true;
}

// The launches that make and take it, one before all others, and the border that they read beside it.
static bool find_life(const pb_reside* s, pb_resident* r) {
  bool any = false;
  r->first = s->launch_count;
  r->last = -1;
  for (MlirOpOperand use = mlirValueGetFirstUse(r->tensor); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    int l = pb_table_find_address(&s->calls, mlirOpOperandGetOwner(use).ptr);
    if (l < 0) return false; // something else looks at it
    if (l < r->first) r->first = l;
    if (l > r->last) r->last = l;
  }
  if (r->last <= r->first || r->last - r->first > MOST_LAUNCHES) return false;
  for (int l = r->first; l <= r->last; ++l) {
    const pb_program* p = s->launches[l].program;
    int v = pb__reside_value(s, l, r->tensor);
    if (v < 0) continue;
    bool taken = l == r->first ? stores_all(p, v) && !pb_program_readers(p, v) : pb_program_last_writer(p, v) < 0;
    if (keeps_room(s, l) || !taken) return false;
    PB_FOR_ACCESSES (n, a, p, v)
      if (!widen_border(&p->nests[n], &p->nests[n].access[a], &any, r)) return false;
  }
  return true;
}

// A window that a mover fills without reading stands on some tensor of its type outside (lower/map.c).
static bool can_fill(const pb_reside* s, const pb_resident* r) {
  const pb_program* p = s->launches[r->first].program;
  int made = pb__reside_value(s, r->first, r->tensor);
  bool border = false, other = false;
  for (int i = 0; i < PB_NEST_RANK; ++i) border |= r->low[i] || r->high[i];
  for (int v = 0; v < p->value_count; ++v)
    other |= p->values[v].kind == PB_VALUE_CONST && p->values[v].type == p->values[made].type;
  return !border || other;
}

// Movers bring operands here, and it keeps them until others come.
static bool is_kept_in(const pb_chip* chip, int memory, pb_type type) {
  const pb_memory* m = &chip->memories[memory];
  return !pb_is_outside(m) && !pb_holds_tiles(m) && pb_transfer_mover(chip, memory, type);
}

static bool is_any_kept(const pb_chip* chip) {
  for (int m = 0; m < chip->memory_count; ++m)
    for (pb_type type = 0; type < PB_TYPE_COUNT; ++type)
      if (is_kept_in(chip, m, type)) return true;
  return false;
}

// ---- where they lie ----

// The highest place where it meets no other that lives at the same time. false: there is none.
static bool find_place(const pb_reside* s, pb_resident* r) {
  const pb_memory* memory = &s->unit->chip->memories[r->memory];
  int64_t row = memory->row_bytes, bytes = (r->bytes + row - 1) / row * row;
  r->address = (memory->bytes - bytes) / row * row;
  for (bool moved = true; moved;) {
    moved = false;
    for (int l = r->first; l <= r->last; ++l)
      for (int k = 0; k < s->launches[l].alive_count; ++k) {
        const pb_resident* other = &s->residents[s->launches[l].alive[k]];
        if (other->memory != r->memory || other->address >= r->address + bytes ||
            r->address >= other->address + other->bytes)
          continue;
        r->address = (other->address - bytes) / row * row;
        moved = true;
      }
  }
  for (int l = r->first; l <= r->last; ++l)
    if (s->launches[l].alive_count == PB_MAX_RESIDENTS) return false;
  return r->address > 0;
}

// The tensor lives while these launches run, or does not after all.
static void begin_life(pb_reside* s, const pb_resident* r) {
  for (int l = r->first; l <= r->last; ++l) {
    pb_launch* launch = &s->launches[l];
    launch->alive[launch->alive_count++] = (int)(r - s->residents);
  }
  ++s->resident_count;
}

static void take_life(pb_reside* s, const pb_resident* r) {
  for (int l = r->first; l <= r->last; ++l) --s->launches[l].alive_count;
  --s->resident_count;
}

static bool describe(const pb_reside* s, MlirValue tensor, pb_type* type, pb_resident* r) {
  pb_access shape;
  *r = (pb_resident){.tensor = tensor};
  if (!pb_access_of_value(tensor, &shape) || !shape.rank || pb_type_bits(shape.type) < 8) return false;
  if (!find_life(s, r) || !can_fill(s, r)) return false;
  *type = shape.type;
  return true;
}

// What one command reads line by line, or block by block, is not all in one bank (pb__tiling_spread): lines of elements
// and what holds these are an odd number of the memory's rows long.
static void spread(const pb_chip* chip, pb_resident* r) {
  pb_access box;
  pb_access_of_value(r->tensor, &box);
  for (int i = 0; i < box.rank; ++i) box.shape[i] += r->low[i] + r->high[i];
  for (int i = box.rank - 2; i > 0 && i >= box.rank - 3; --i) {
    int64_t rows = box.shape[i];
    pb__tiling_spread(chip, r->memory, &box, i);
    r->spare[i] = box.shape[i] - rows;
  }
  r->bytes = pb_access_elements(&box) * (pb_type_bits(box.type) / 8);
}

// The prices of the launches in which the tensor lives, if they are together less than `most`.
static bool pays(pb_reside* s, const pb_resident* r, int64_t most, bool anew, int64_t* price) {
  int64_t sum = 0;
  for (int l = r->first; l <= r->last && sum < most; ++l) {
    price[l - r->first] = price_of(s, l, anew);
    sum = price[l - r->first] < 0 ? most : sum + price[l - r->first];
  }
  return sum < most;
}

// Takes the tensor in, described as it is, if it pays: by the plans that the kernels had, else, of one that leaves room
// for others, by new ones. Large ones seldom fit, and to look for plans of what does not takes longest. Returns whether
// it does.
static bool take_in(pb_reside* s, pb_resident* r) {
  int64_t before = 0;
  spread(s->unit->chip, r);
  bool leaves_room = r->bytes <= s->unit->chip->memories[r->memory].bytes / 8 * 7;
  if (!find_place(s, r)) return false;
  int64_t price[MOST_LAUNCHES + 1];
  for (int l = r->first; l <= r->last; ++l) {
    pb_launch* launch = &s->launches[l];
    if (!launch->price) launch->price = price_of(s, l, true);
    if (launch->price < 0) return false;
    before += launch->price;
  }
  begin_life(s, r);
  if (!pays(s, r, before, false, price) && !(leaves_room && pays(s, r, before, true, price))) {
    take_life(s, r);
    return false;
  }
  for (int l = r->first; l <= r->last; ++l) s->launches[l].price = price[l - r->first];
  return true;
}

static void consider(pb_reside* s, MlirValue tensor) {
  pb_resident* r = &s->residents[s->resident_count];
  pb_type type;
  if (!describe(s, tensor, &type, r)) return;
  for (r->memory = 0; r->memory < s->unit->chip->memory_count; ++r->memory)
    if (is_kept_in(s->unit->chip, r->memory, type) && take_in(s, r)) return;
}

static void consider_all(pb_reside* s, MlirBlock body) {
  s->residents = PB_NEW_ARRAY(&s->unit->pass, pb_resident, count(body, "memref.alloc") + 1);
  PB_FOR_OPS (op, body)
    if (pb_op_is(op, "memref.alloc")) consider(s, mlirOperationGetResult(op, 0));
}

pb_status pb_s3_reside(pb_unit* unit) {
  const pb_chip* chip = unit->chip;
  // each core of several has memories of its own, and a part of each tensor
  if (unit->between_outside || !is_any_kept(chip) || chip->cores > 1) return PB_OK;
  pb_reside s = {.unit = unit};
  MlirBlock body = pb_op_body(pb_module_func(unit->module, "main"));
  pb_status status = read_launches(&s, body);
  if (status == PB_OK) {
    consider_all(&s, body);
    if (s.resident_count) status = pb__reside_rewrite(&s);
  }
  pb_table_free(&s.calls);
  pb_table_free(&s.priced);
  free(s.prices);
  return status;
}
