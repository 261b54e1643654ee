// Loops and branches of the host's program that are made of a few small kernels become one kernel with the loop inside:
//
//     LOOP                       func.func @k9(%v0: memref<i32>, ...) attributes {pb.kernel, pb.turns} {
//     s3: call @k4, call @k5       cf.br ^b0
//     WHILE 7                    ^b0:
//     s4: call @k6                 call @k9.s3(...)                       // segments' functions, with their calls
//     MOVE 2 = 8                   cf.cond_br %t, ^b1, ^b2
//     AGAIN                        ...
//
// A step of the host takes longer than such a kernel. That is done where what kernels of the loop would gain of a
// second thread is no more than what its steps take, and what goes from turn to turn stays in registers where it is
// small.
//
// Needs: the segments' kernels in the unit's module. Leaves: a segment for the whole loop, marked `whole`, whose
// function calls the one kernel; kernels that nobody else calls are marked pb.inside, and no kernels any more.
#include "core/driver/compilation.h"
#include "core/poly/nest.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_CALLS = 512,  // of kernels in a loop: what is compiled
  STEP_CYCLES = 200, // of the host, for a call
  MOST_LOST = MOST_CALLS * STEP_CYCLES,
  MOST_LOCAL = 256,  // bytes of a tensor that lies on the stack, where it may be taken apart
  MOST_STACK = 16384 // bytes of all
};

// What the kernel takes, or has on its stack.
typedef struct tensor {
  int value, constant; // of the program, or of the unit: one of them is -1; both: a segment's own
  MlirType type;
  bool local, carried; // carried: local, and copied when the loop begins and ends
} tensor;

typedef struct joiner {
  compilation* c;
  const pb_s1* program;
  size_t begin, end;   // marks: LOOP, AGAIN
  size_t first, count; // segments
  const char* name;
  tensor* tensors;
  size_t tensor_count, tensor_capacity;
  int* of_value; // by value of the program: its tensor, -1
  bool* outside; // by value: something outside of the loop reads or makes it
  pb_text text, declarations;
  int blocks, numbers;
} joiner;

static MlirBlock body_of(MlirOperation func) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0)); }

static void put_type(joiner* j, MlirType type) { mlirTypePrint(type, pb_text_append, &j->text); }

// ---- whether it is worth it ----

static bool is_read(const joiner* j, size_t op) { return op >= j->begin && op <= j->end; }

static void note(joiner* j, int value) {
  if (value >= 0) j->outside[pb_s1_base(j->program, value)] = true;
}

static void find_outside(joiner* j) {
  for (size_t k = 0; k < j->program->op_count; ++k) {
    const pb_s1_op* op = &j->program->ops[k];
    if (is_read(j, k)) continue;
    note(j, op->x);
    note(j, op->z);
    note(j, op->third);
    note(j, op->y);
    for (int a = 0; op->nest && a < op->nest->access_count; ++a) note(j, op->nest->access[a].buffer);
  }
}

// Whether its kernels are known; *lost: what they would gain of a second thread.
static bool add_calls(const joiner* j, MlirOperation main, int* calls, int64_t* lost) {
  compilation* c = j->c;
  PB_FOR_OPS (op, body_of(main)) {
    if (!pb_op_is(op, "func.call")) continue;
    MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(op, "callee"));
    const char* name = pb_printf(&c->unit.arena, "%.*s", (int)callee.length, callee.data);
    MlirOperation kernel = pb_module_func(c->unit.module, name);
    if (++*calls > MOST_CALLS || mlirOperationIsNull(kernel) || pb_kernel_left(&c->unit, name)) return false;
    int64_t saved = c->control->saved(c->chip, kernel);
    *lost += saved > 0 ? saved : 0;
  }
  return true;
}

static int tensor_of(joiner* j, int value, int constant, MlirType type) {
  if (value >= 0 && j->of_value[value] >= 0) return j->of_value[value];
  for (size_t k = 0; constant >= 0 && k < j->tensor_count; ++k)
    if (j->tensors[k].constant == constant && mlirTypeEqual(j->tensors[k].type, type)) return (int)k;
  PB_PUSH(j->tensors, j->tensor_count, j->tensor_capacity, ((tensor){value, constant, type, false, false}));
  if (value >= 0) j->of_value[value] = (int)j->tensor_count - 1;
  return (int)j->tensor_count - 1;
}

// The tensor that the segment's function takes as argument k; -1: another one has its name, under another type.
static int argument_of(joiner* j, MlirOperation main, intptr_t k) {
  MlirValue v = mlirBlockGetArgument(body_of(main), k);
  MlirType type = mlirValueGetType(v);
  MlirAttribute id = pb_argument_attribute(v, "pb.const");
  bool constant = !mlirAttributeIsNull(id);
  int value = constant ? -1 : pb__value_of_argument(v);
  if (!mlirTypeIsAMemRef(type) || (!constant && value < 0)) return -1;
  int at = tensor_of(j, value, constant ? (int)mlirIntegerAttrGetValueInt(id) : -1, type);
  return mlirTypeEqual(j->tensors[at].type, type) ? at : -1;
}

// A mark's operand; -1: it is not there yet.
static int operand_of(const joiner* j, int value) {
  int base = pb_s1_base(j->program, value), constant = j->program->values[base].const_id;
  if (j->of_value[base] >= 0) return j->of_value[base];
  for (size_t k = 0; constant >= 0 && k < j->tensor_count; ++k)
    if (j->tensors[k].constant == constant) return (int)k;
  return -1;
}

// The same of one that no segment has looked at: as it lies in memory. -1: kernels have no such type.
static int mark_operand(joiner* j, int value) {
  const pb_s1_value* v = &j->program->values[pb_s1_base(j->program, value)];
  int there = operand_of(j, value);
  if (there >= 0) return there;
  pb_text text = {0};
  pb_access as = {.type = pb_type_stored(v->type), .rank = v->rank};
  memcpy(as.shape, v->shape, sizeof *v->shape * (size_t)v->rank);
  pb_access_print_type(&text, &as);
  MlirType type = mlirTypeParseGet(j->c->unit.context, mlirStringRefCreate(text.data, text.length));
  pb_text_free(&text);
  if (mlirTypeIsNull(type)) return -1;
  return tensor_of(j, v->const_id < 0 ? pb_s1_base(j->program, value) : -1, v->const_id, type);
}

static bool has_operands(joiner* j, const pb_s1_op* op) {
  int x = op->x < 0 ? 0 : mark_operand(j, op->x), y = op->y < 0 ? 0 : mark_operand(j, op->y);
  switch (op->kind) {
  case PB_S1_MOVE:
  case PB_S1_PLACE:
    if (x < 0 || y < 0 || (op->kind == PB_S1_PLACE && mark_operand(j, op->third) < 0)) return false;
    return mlirTypeEqual(mlirShapedTypeGetElementType(j->tensors[x].type),
                         mlirShapedTypeGetElementType(j->tensors[y].type));
  case PB_S1_WHILE:
  case PB_S1_IF:
    return x >= 0 && mlirTypeIsAInteger(mlirShapedTypeGetElementType(j->tensors[x].type));
  case PB_S1_TAKE:
    return false;
  default:
    return true;
  }
}

// What is small goes on the stack: what nobody outside sees, and what is carried, by copies.
static void place_tensors(joiner* j) {
  int64_t stack = 0;
  for (size_t k = 0; k < j->tensor_count; ++k) {
    tensor* t = &j->tensors[k];
    const pb_s1_value* v = t->value < 0 ? NULL : &j->program->values[t->value];
    int64_t bytes = pb__tensor_bytes(t->type);
    bool own = t->constant < 0 && (!v || !j->outside[t->value]);
    if (t->constant >= 0 || bytes > MOST_LOCAL || stack + bytes > MOST_STACK) continue;
    if (v && (v->is_input || v->is_output)) continue;
    if (!own && !v->is_variable) continue;
    t->local = true;
    t->carried = !own;
    stack += bytes;
  }
}

// Segments' own tensors become tensors of the whole, in the order in which their functions make them.
static bool collect(joiner* j) {
  const compilation* c = j->c;
  int calls = 0, taken = 0;
  int64_t lost = 0;
  for (size_t s = j->first; s < j->first + j->count; ++s) {
    if (!add_calls(j, c->mains[s], &calls, &lost) || lost > MOST_LOST) return false;
    for (intptr_t k = 0; k < mlirBlockGetNumArguments(body_of(c->mains[s])); ++k)
      if (argument_of(j, c->mains[s], k) < 0) return false;
    PB_FOR_OPS (op, body_of(c->mains[s]))
      if (pb_op_is(op, "memref.alloc")) (void)tensor_of(j, -1, -1, mlirValueGetType(mlirOperationGetResult(op, 0)));
  }
  for (size_t k = j->begin; k <= j->end; ++k)
    if (pb_s1_is_control(&j->program->ops[k]) && !has_operands(j, &j->program->ops[k])) return false;
  place_tensors(j);
  for (size_t k = 0; k < j->tensor_count; ++k) taken += !j->tensors[k].local || j->tensors[k].carried;
  return calls && taken <= PB_ENGINE_MAX_ARGS && lost <= (int64_t)calls * STEP_CYCLES;
}

// ---- the kernel ----

static void put_shape(joiner* j, int rank, const int64_t* shape, MlirType element) {
  pb_text_add(&j->text, "memref<");
  for (int r = 0; r < rank; ++r) pb_text_add(&j->text, "%lldx", (long long)shape[r]);
  put_type(j, element);
  pb_text_add(&j->text, ">");
}

// The tensor under another shape of the same elements: the number of the value that it is then.
static int reshaped(joiner* j, int t, int rank, const int64_t* shape) {
  pb_text* text = &j->text;
  int64_t stride = 1, strides[PB_GRAPH_RANK];
  for (int r = rank; r-- > 0; stride *= shape[r]) strides[r] = stride;
  pb_text_add(text, "  %%r%d = memref.reinterpret_cast %%t%d to offset: [0], sizes: [", j->numbers, t);
  for (int r = 0; r < rank; ++r) pb_text_add(text, "%s%lld", r ? ", " : "", (long long)shape[r]);
  pb_text_add(text, "], strides: [");
  for (int r = 0; r < rank; ++r) pb_text_add(text, "%s%lld", r ? ", " : "", (long long)strides[r]);
  pb_text_add(text, "] : ");
  put_type(j, j->tensors[t].type);
  pb_text_add(text, " to ");
  put_shape(j, rank, shape, mlirShapedTypeGetElementType(j->tensors[t].type));
  pb_text_add(text, "\n");
  return j->numbers++;
}

// Copied as a row of elements; `to` and `from` are names.
static void put_copy(joiner* j, const char* from, MlirType from_type, const char* to, MlirType to_type) {
  pb_text_add(&j->text, "  memref.copy %s, %s : ", from, to);
  put_type(j, from_type);
  pb_text_add(&j->text, " to ");
  put_type(j, to_type);
  pb_text_add(&j->text, "\n");
}

static void put_move(joiner* j, const pb_s1_op* op) {
  if (pb_s1_base(j->program, op->x) == op->y) return;
  int x = operand_of(j, op->x), y = operand_of(j, op->y);
  MlirType element = mlirShapedTypeGetElementType(j->tensors[x].type);
  int64_t count = pb__tensor_elements(j->tensors[y].type);
  int from = reshaped(j, x, 1, &count), to = reshaped(j, y, 1, &count);
  pb_text_add(&j->text, "  memref.copy %%r%d, %%r%d : ", from, to);
  put_shape(j, 1, &count, element);
  pb_text_add(&j->text, " to ");
  put_shape(j, 1, &count, element);
  pb_text_add(&j->text, "\n");
}

// The first element of a tensor: the number of its value.
static int put_first(joiner* j, int t) {
  const int64_t one = 1;
  int row = reshaped(j, t, 1, &one);
  pb_text_add(&j->text, "  %%r%d = memref.load %%r%d[%%zero] : ", j->numbers, row);
  put_shape(j, 1, &one, mlirShapedTypeGetElementType(j->tensors[t].type));
  pb_text_add(&j->text, "\n");
  return j->numbers++;
}

static int put_truth(joiner* j, int value) {
  int t = operand_of(j, value), byte = put_first(j, t);
  MlirType element = mlirShapedTypeGetElementType(j->tensors[t].type);
  unsigned width = mlirIntegerTypeGetWidth(element);
  if (width == 1) return byte;
  pb_text_add(&j->text, "  %%none%d = arith.constant 0 : i%u\n  %%r%d = arith.cmpi ne, %%r%d, %%none%d : i%u\n", byte,
              width, j->numbers, byte, byte, width);
  return j->numbers++;
}

// x goes into y at an index that is kept inside, element by element.
static void put_place(joiner* j, const pb_s1_op* op) {
  const pb_s1_value *y = &j->program->values[op->y], *x = &j->program->values[op->x];
  int number = operand_of(j, op->third), first = put_first(j, number), at = j->numbers++;
  int from = reshaped(j, operand_of(j, op->x), x->rank, x->shape);
  int to = reshaped(j, operand_of(j, op->y), y->rank, y->shape);
  MlirType element = mlirShapedTypeGetElementType(j->tensors[operand_of(j, op->x)].type);
  pb_text* text = &j->text;
  pb_text_add(text, "  %%i%d = arith.index_cast %%r%d : ", at, first);
  put_type(j, mlirShapedTypeGetElementType(j->tensors[number].type));
  pb_text_add(text,
              " to index\n  %%most%d = arith.constant %lld : index\n  %%l%d = arith.maxsi %%i%d, %%zero : index\n"
              "  %%at%d = arith.minsi %%l%d, %%most%d : index\n",
              at, (long long)(y->shape[op->axis] - x->shape[op->axis]), at, at, at, at, at);
  for (int r = 0; r < x->rank; ++r)
    pb_text_add(text,
                "  %%n%d_%d = arith.constant %lld : index\n  scf.for %%d%d_%d = %%zero to %%n%d_%d step %%one {\n", at,
                r, (long long)x->shape[r], at, r, at, r);
  pb_text_add(text, "  %%p%d = arith.addi %%d%d_%d, %%at%d : index\n  %%e%d = memref.load %%r%d[", at, at, op->axis, at,
              at, from);
  for (int r = 0; r < x->rank; ++r) pb_text_add(text, "%s%%d%d_%d", r ? ", " : "", at, r);
  pb_text_add(text, "] : ");
  put_shape(j, x->rank, x->shape, element);
  pb_text_add(text, "\n  memref.store %%e%d, %%r%d[", at, to);
  for (int r = 0; r < x->rank; ++r) {
    if (r == op->axis)
      pb_text_add(text, "%s%%p%d", r ? ", " : "", at);
    else
      pb_text_add(text, "%s%%d%d_%d", r ? ", " : "", at, r);
  }
  pb_text_add(text, "] : ");
  put_shape(j, y->rank, y->shape, element);
  pb_text_add(text, "\n");
  for (int r = 0; r < x->rank; ++r) pb_text_add(text, "  }\n");
}

// Jumps: where a loop begins and where it is left, where a branch's other part begins and both end.
typedef struct bracket {
  int begin, leave, end;
} bracket;

static void put_label(joiner* j, int block) { pb_text_add(&j->text, "^b%d:\n", block); }
static void put_jump(joiner* j, int block) { pb_text_add(&j->text, "  cf.br ^b%d\n", block); }

// Goes on here if it holds, else at a block to come, which it returns.
static int put_unless(joiner* j, int value) {
  int truth = put_truth(j, value), on = j->blocks++, past = j->blocks++;
  pb_text_add(&j->text, "  cf.cond_br %%r%d, ^b%d, ^b%d\n", truth, on, past);
  put_label(j, on);
  return past;
}

static void put_mark(joiner* j, const pb_s1_op* op, bracket* open, int* depth) {
  bracket* top = *depth ? &open[*depth - 1] : NULL;
  switch (op->kind) {
  case PB_S1_MOVE:
    put_move(j, op);
    break;
  case PB_S1_PLACE:
    put_place(j, op);
    break;
  case PB_S1_LOOP:
    open[*depth] = (bracket){j->blocks++, -1, -1};
    put_jump(j, open[*depth].begin);
    put_label(j, open[(*depth)++].begin);
    break;
  case PB_S1_WHILE:
    top->leave = put_unless(j, op->x);
    break;
  case PB_S1_IF:
    open[(*depth)++] = (bracket){-1, put_unless(j, op->x), -1};
    break;
  case PB_S1_ELSE:
    top->end = j->blocks++;
    put_jump(j, top->end);
    put_label(j, top->leave);
    break;
  default: // AGAIN, END
    put_jump(j, op->kind == PB_S1_AGAIN ? top->begin : top->end < 0 ? top->leave : top->end);
    put_label(j, op->kind == PB_S1_AGAIN || top->end < 0 ? top->leave : top->end);
    --*depth;
  }
}

// A segment's function takes its own tensors from outside.
static void take_own(MlirOperation main) {
  MlirBlock body = body_of(main);
  MlirContext context = mlirOperationGetContext(main);
  MlirOperation next, op = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!pb_op_is(op, "memref.alloc")) continue;
    MlirValue old = mlirOperationGetResult(op, 0);
    MlirValue new = mlirBlockAddArgument(body, mlirValueGetType(old), mlirOperationGetLocation(op));
    mlirValueReplaceAllUsesOfWith(old, new);
    mlirOperationDestroy(op);
  }
  intptr_t count = mlirBlockGetNumArguments(body);
  pb_arena scratch = {0};
  MlirType* types = PB_NEW_ARRAY(&scratch, MlirType, (size_t)count + 1);
  for (intptr_t k = 0; k < count; ++k) types[k] = mlirValueGetType(mlirBlockGetArgument(body, k));
  pb_op_set_attribute(main, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(context, count, types, 0, NULL)));
  mlirOperationRemoveAttributeByName(main, mlirStringRefCreateFromCString("arg_attrs"));
  mlirOperationRemoveAttributeByName(main, mlirStringRefCreateFromCString("pb.host"));
  pb_arena_free(&scratch);
}

// So that calls of what is in the unit's module verify.
static void put_declaration(joiner* j, const char* name, MlirOperation func) {
  pb_text_add(&j->declarations, "func.func private @%s(", name);
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body_of(func)); ++k) {
    pb_text_add(&j->declarations, "%s", k ? ", " : "");
    mlirTypePrint(mlirValueGetType(mlirBlockGetArgument(body_of(func), k)), pb_text_append, &j->declarations);
  }
  pb_text_add(&j->declarations, ")\n");
}

// The call of a segment, whose function moves to the unit's module. *own: the tensor that its next own one is.
static void put_segment(joiner* j, size_t s, int* own) {
  compilation* c = j->c;
  MlirOperation main = c->mains[s];
  pb_arena scratch = {0};
  intptr_t given = mlirBlockGetNumArguments(body_of(main));
  int* arguments = PB_NEW_ARRAY(&scratch, int, (size_t)given + 1);
  for (intptr_t k = 0; k < given; ++k) arguments[k] = argument_of(j, main, k);
  take_own(main);
  intptr_t count = mlirBlockGetNumArguments(body_of(main));
  const char* name = pb_printf(&c->unit.arena, "%s.s%zu", j->name, s);
  pb_op_set_attribute(main, "sym_name", pb_text_attribute(c->unit.context, name));
  pb_op_set_attribute(main, "pb.inside", mlirUnitAttrGet(c->unit.context));
  mlirOperationRemoveFromParent(main);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(c->unit.module), main);
  put_declaration(j, name, main);
  pb_text_add(&j->text, "  func.call @%s(", name);
  for (intptr_t k = 0; k < count; ++k) {
    while (k >= given && (j->tensors[*own].value >= 0 || j->tensors[*own].constant >= 0)) ++*own;
    pb_text_add(&j->text, "%s%%t%d", k ? ", " : "", k < given ? arguments[k] : (*own)++);
  }
  pb_text_add(&j->text, ") : (");
  for (intptr_t k = 0; k < count; ++k) {
    pb_text_add(&j->text, "%s", k ? ", " : "");
    put_type(j, mlirValueGetType(mlirBlockGetArgument(body_of(main), k)));
  }
  pb_text_add(&j->text, ") -> ()\n");
  pb_arena_free(&scratch);
}

// The tensors that it takes from outside: as "name: type", or the types alone.
static void put_taken(joiner* j, const char* before, bool names, bool types) {
  bool first = true;
  for (size_t k = 0; k < j->tensor_count; ++k) {
    const tensor* t = &j->tensors[k];
    if (t->local && !t->carried) continue;
    pb_text_add(&j->text, "%s", first ? "" : ", ");
    if (names) pb_text_add(&j->text, "%%%s%zu%s", t->carried ? before : "t", k, types ? ": " : "");
    if (types) put_type(j, t->type);
    first = false;
  }
}

// What is carried goes in, or out.
static void put_carried(joiner* j, bool in) {
  pb_arena scratch = {0};
  for (size_t k = 0; k < j->tensor_count; ++k) {
    const tensor* t = &j->tensors[k];
    const char *own = pb_printf(&scratch, "%%t%zu", k), *other = pb_printf(&scratch, "%%c%zu", k);
    if (t->carried) put_copy(j, in ? other : own, t->type, in ? own : other, t->type);
  }
  pb_arena_free(&scratch);
}

static void put_kernel(joiner* j) {
  pb_text* text = &j->text;
  pb_arena scratch = {0};
  bracket* open = PB_NEW_ARRAY(&scratch, bracket, j->end - j->begin + 2);
  int depth = 0, own = 0;
  pb_text_add(text, "func.func @%s(", j->name);
  put_taken(j, "c", true, true);
  pb_text_add(text, ") attributes {pb.kernel, pb.turns} {\n  %%zero = arith.constant 0 : index\n"
                    "  %%one = arith.constant 1 : index\n");
  for (size_t k = 0; k < j->tensor_count; ++k) {
    if (!j->tensors[k].local) continue;
    pb_text_add(text, "  %%t%zu = memref.alloca() {alignment = 64 : i64} : ", k);
    put_type(j, j->tensors[k].type);
    pb_text_add(text, "\n");
  }
  put_carried(j, true);
  size_t s = j->first;
  for (size_t k = j->begin; k <= j->end;) {
    if (s < j->first + j->count && j->c->segments.items[s].first == k) {
      put_segment(j, s, &own);
      k = j->c->segments.items[s++].end;
      continue;
    }
    put_mark(j, &j->program->ops[k++], open, &depth);
  }
  put_carried(j, false);
  pb_text_add(text, "  return\n}\n");
  pb_arena_free(&scratch);
}

// The segment's function that is left: it calls the kernel.
static void put_main(joiner* j) {
  pb_text* text = &j->text;
  bool first = true;
  pb_text_add(text, "func.func @main(");
  for (size_t k = 0; k < j->tensor_count; ++k) {
    const tensor* t = &j->tensors[k];
    if ((t->local && !t->carried) || (t->value < 0 && t->constant < 0)) continue;
    pb_text_add(text, "%s%%t%zu: ", first ? "" : ", ", k);
    put_type(j, t->type);
    if (t->constant >= 0)
      pb_text_add(text, " {pb.const = %d : i64}", t->constant);
    else
      pb_text_add(text, " {pb.output = \"%d\"}", t->value);
    first = false;
  }
  pb_text_add(text, ") attributes {pb.host} {\n");
  for (size_t k = 0; k < j->tensor_count; ++k) {
    const tensor* t = &j->tensors[k];
    if (t->local || t->value >= 0 || t->constant >= 0) continue;
    pb_text_add(text, "  %%t%zu = memref.alloc() : ", k);
    put_type(j, t->type);
    pb_text_add(text, "\n");
  }
  pb_text_add(text, "  call @%s(", j->name);
  put_taken(j, "t", true, false);
  pb_text_add(text, ") {pb.macs = 0 : i64, pb.origin = ");
  pb_text_add_quoted(text, j->program->ops[j->begin].name);
  pb_text_add(text, "} : (");
  put_taken(j, "t", false, true);
  pb_text_add(text, ") -> ()\n  return\n}\n");
}

static pb_status take_functions(joiner* j) {
  compilation* c = j->c;
  MlirModule made;
  pb_text_add(&j->text, "%s", j->declarations.data);
  PB_TRY(pb_module_parse_text(c->unit.context, j->text.data, j->text.length, j->name, NULL, c->unit.diag, &made));
  MlirOperation next, op = mlirBlockGetFirstOperation(mlirModuleGetBody(made));
  for (; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    bool is_main = pb_op_has(op, "pb.host");
    if (!is_main && !pb_op_has(op, "pb.turns")) continue; // a declaration
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(mlirModuleGetBody(is_main ? c->parts[j->first].unit.module : c->unit.module), op);
    if (is_main) c->mains[j->first] = op;
  }
  mlirModuleDestroy(made);
  return PB_OK;
}

// One segment in the place of those of the loop.
static void replace_segments(joiner* j) {
  pb_segments* all = &j->c->segments;
  all->items[j->first].first = j->begin;
  all->items[j->first].end = j->end + 1;
  for (size_t s = j->first + j->count; s < all->count; ++s) {
    all->items[s - j->count + 1] = all->items[s];
    j->c->mains[s - j->count + 1] = j->c->mains[s];
  }
  all->count -= j->count - 1;
}

static pb_status join(compilation* c, size_t begin, size_t end, const char* name, bool* joined) {
  pb_arena scratch = {0};
  size_t values = c->s1.value_count + 1;
  joiner j = {.c = c, .program = &c->s1, .begin = begin, .end = end, .name = name};
  while (j.first < c->segments.count && c->segments.items[j.first].first < begin) ++j.first;
  while (j.first + j.count < c->segments.count && c->segments.items[j.first + j.count].first < end) ++j.count;
  j.of_value = PB_NEW_ARRAY(&scratch, int, values);
  j.outside = PB_NEW_ARRAY(&scratch, bool, values);
  memset(j.of_value, 0xff, values * sizeof(int));
  find_outside(&j);
  *joined = j.count && collect(&j);
  pb_status status = PB_OK;
  if (*joined) {
    put_kernel(&j);
    put_main(&j);
    status = take_functions(&j);
    if (status == PB_OK) replace_segments(&j);
  }
  pb_text_free(&j.text);
  pb_text_free(&j.declarations);
  free(j.tensors);
  pb_arena_free(&scratch);
  return status;
}

// Kernels that no segment's function calls are called by those with loops alone.
static void mark_inside(compilation* c, const MlirOperation* mains, size_t count) {
  pb_table called = {0};
  pb_arena* arena = &c->unit.arena;
  for (size_t s = 0; s < count; ++s)
    PB_FOR_OPS (op, body_of(mains[s])) {
      if (!pb_op_is(op, "func.call")) continue;
      MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(op, "callee"));
      const char* name = pb_printf(arena, "%.*s", (int)callee.length, callee.data);
      if (pb_table_find(&called, name, callee.length) < 0) pb_table_add(&called, name, callee.length, 0);
    }
  PB_FOR_OPS (op, mlirModuleGetBody(c->unit.module)) {
    const char* name = pb_func_name(op, arena);
    if (!pb_op_has(op, "pb.kernel") || pb_table_find(&called, name, strlen(name)) >= 0) continue;
    mlirOperationRemoveAttributeByName(op, mlirStringRefCreateFromCString("pb.kernel"));
    pb_op_set_attribute(op, "pb.inside", mlirUnitAttrGet(c->unit.context));
  }
  pb_table_free(&called);
}

static int kernels_of(MlirModule module) {
  int count = 0;
  PB_FOR_OPS (op, mlirModuleGetBody(module)) count += pb_op_has(op, "pb.kernel");
  return count;
}

bool pb__joins_kernels(const compilation* c) {
  return c->control->saved && !(c->options->loops && !strcmp(c->options->loops, "steps"));
}

pb_status pb__join_loops(compilation* c) {
  int number = kernels_of(c->unit.module);
  bool any = false;
  if (!pb__joins_kernels(c)) return PB_OK;
  for (size_t k = 0; k < c->s1.op_count; ++k) {
    if (c->s1.ops[k].kind != PB_S1_LOOP && c->s1.ops[k].kind != PB_S1_IF) continue;
    bool joined;
    size_t end = pb_s1_end_of(&c->s1, k);
    PB_TRY(join(c, k, end, pb_printf(&c->unit.arena, "k%d", number), &joined));
    if (!joined) continue; // perhaps one inside of it
    k = end;
    ++number;
    any = true;
  }
  PB_TRY(pb__join_runs(c, &number, &any));
  for (size_t s = 0; s < c->segments.count; ++s)
    if (!pb__is_in_loop(&c->s1, c->segments.items[s].first)) PB_TRY(pb__join_chunks(c, c->mains[s], &number, &any));
  if (any) mark_inside(c, c->mains, c->segments.count);
  return PB_OK;
}

pb_status pb__join_kernels(compilation* c) {
  int number = kernels_of(c->unit.module);
  MlirOperation main = pb_module_func(c->unit.module, "main");
  bool any = false;
  PB_TRY(pb__join_chunks(c, main, &number, &any));
  if (any) mark_inside(c, &main, 1);
  return PB_OK;
}
