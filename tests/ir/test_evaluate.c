// Nests executed on the host (core/poly/evaluate.h) against MLIR's own lowering and LLVM's code of the same nests.
#include "core/driver/pipeline.h"
#include "core/ir/execute.h"
#include "core/poly/evaluate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 200, MOST = 300, OPERANDS = 3, TYPES = 7 };

static const pb_type types[TYPES] = {PB_I1, PB_I8, PB_I16, PB_I32, PB_I64, PB_F32, PB_F64};

static void complain(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code;
  print_message("%s\n", text);
}

static int number_of(pb_type type) {
  for (int k = 0; k < TYPES; ++k)
    if (types[k] == type) return k;
  return -1;
}

// What operands of a type are: ends of the range, zeros of both signs, infinities, NaN, and numbers of a seed.
typedef struct operands {
  char x[TYPES][OPERANDS][COUNT * 8];
} operands;

static uint64_t random_state = 88172645463325252u;
static uint64_t random_bits(void) { // Marsaglia, "Xorshift RNGs", 2003
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

static pb_number drawn(pb_type type, int k) {
  static const double odd[] = {0.0,  -0.0,   1,        -1,        0.5, -0.5,    2.5,     -3.5,
                               1e30, -1e-30, INFINITY, -INFINITY, NAN, 8388609, 0x1p-140};
  if (pb_type_is_float(type)) {
    double number = k % 4 == 0 ? odd[random_bits() % 15] : ((double)(int64_t)random_bits()) * 0x1p-60;
    return type == PB_F32 ? (pb_number){.f = (float)number} : (pb_number){.d = number};
  }
  uint64_t bits = k % 4 ? random_bits() >> random_bits() % 60 : (uint64_t)(k % 8 ? -1 : 1) << random_bits() % 64;
  char memory[8];
  memcpy(memory, &bits, sizeof bits);
  return pb_number_read(type, memory);
}

static void draw(operands* all) {
  for (int t = 0; t < TYPES; ++t)
    for (int o = 0; o < OPERANDS; ++o)
      for (int k = 0; k < COUNT; ++k)
        pb_number_write(types[t], drawn(types[t], k + o), all->x[t][o] + (size_t)k * pb_number_bytes(types[t]));
}

// ---- one operator a nest ----

typedef struct tried {
  pb_nest* nest;
  char ref[16];
  bool is_function; // of core/math and libm: not the same to the last bit
} tried;

static pb_arena arena;
static tried all[MOST];
static int tried_count;

static int add_operand(pb_nest* nest, pb_type type, int operand) {
  int a = operand;
  nest->access[a] = (pb_access){.type = type, .rank = 1, .shape = {COUNT}, .buffer = -1};
  nest->access[a].index[0].coef[0] = 1;
  nest->access[a].ref = pb_printf(&arena, "%%x%d_%d", number_of(type), operand);
  return pb_nest_load(nest, a);
}

// A divisor that is not 0 and no -1, a shift by fewer bits than there are, a float that fits.
static int tamed(pb_nest* nest, pb_op op, int operand, int node, pb_type type) {
  bool divides = op == PB_OP_DIV || op == PB_OP_DIVU || op == PB_OP_REM || op == PB_OP_REMU;
  bool shifts = op == PB_OP_SHL || op == PB_OP_SHR || op == PB_OP_SHRU;
  if (operand == 1 && divides && !pb_type_is_float(type)) {
    node = pb_nest_node(nest, PB_OP_AND, type, node, pb_nest_integer(nest, type, 63));
    return pb_nest_node(nest, PB_OP_OR, type, node, pb_nest_integer(nest, type, 3));
  }
  if (operand == 1 && shifts)
    return pb_nest_node(nest, PB_OP_AND, type, node, pb_nest_integer(nest, type, pb_type_bits(type) - 1));
  if (op == PB_OP_FPTOSI || op == PB_OP_FPTOUI || op == PB_OP_FPTOSI8) {
    double low = op == PB_OP_FPTOUI ? 0 : -100;
    node = pb_nest_node(nest, PB_OP_MAX, type, node, pb_nest_const(nest, type, low));
    return pb_nest_node(nest, PB_OP_MIN, type, node, pb_nest_const(nest, type, 100));
  }
  return node;
}

static void try_op(pb_op op, int count, const pb_type* of, pb_type type, bool is_function) {
  assert_true(tried_count < MOST);
  tried* t = &all[tried_count];
  pb_nest* nest = t->nest = PB_NEW(&arena, pb_nest);
  int nodes[OPERANDS] = {-1, -1, -1};
  pb_nest_begin(nest, "n", "point", count + 1);
  nest->dim_count = 1;
  nest->extent[0] = COUNT;
  for (int k = 0; k < count; ++k) nodes[k] = add_operand(nest, of[k], k);
  for (int k = 0; k < count; ++k) nodes[k] = tamed(nest, op, k, nodes[k], of[k]);
  int made = pb_nest_node(nest, op, type, nodes[0], nodes[1]);
  nest->expr[made].args[2] = nodes[2];
  nest->access[count] = (pb_access){.type = type, .rank = 1, .shape = {COUNT}, .buffer = -1};
  nest->access[count].index[0].coef[0] = 1;
  snprintf(t->ref, sizeof t->ref, "%%y%d", tried_count++);
  nest->access[count].ref = t->ref;
  t->is_function = is_function;
}

static void try_all(void) {
  static const pb_op both[] = {PB_OP_ADD, PB_OP_SUB, PB_OP_MUL, PB_OP_DIV, PB_OP_MAX, PB_OP_MIN};
  static const pb_op integers[] = {PB_OP_DIVU, PB_OP_REM, PB_OP_REMU, PB_OP_MAXU, PB_OP_MINU, PB_OP_XOR,
                                   PB_OP_AND,  PB_OP_OR,  PB_OP_SHL,  PB_OP_SHR,  PB_OP_SHRU};
  static const pb_op compares[] = {PB_OP_LESS, PB_OP_LESS_EQUAL, PB_OP_EQUAL, PB_OP_LESSU, PB_OP_LESS_EQUALU};
  static const pb_op exact[] = {PB_OP_NEG,  PB_OP_ABS,   PB_OP_SQRT,     PB_OP_FLOOR,
                                PB_OP_CEIL, PB_OP_WHOLE, PB_OP_ROUNDEVEN};
  static const pb_op functions[] = {PB_OP_EXP2,  PB_OP_EXP,  PB_OP_EXPM1, PB_OP_LOG,  PB_OP_LOG2,
                                    PB_OP_LOG1P, PB_OP_TANH, PB_OP_ERF,   PB_OP_SIN,  PB_OP_COS,
                                    PB_OP_TAN,   PB_OP_ATAN, PB_OP_CBRT,  PB_OP_RSQRT};
  for (int t = 1; t < TYPES; ++t) {
    const pb_type same[OPERANDS] = {types[t], types[t], types[t]}, chosen[OPERANDS] = {PB_I1, types[t], types[t]};
    bool is_float = pb_type_is_float(types[t]);
    for (size_t k = 0; k < sizeof both / sizeof *both; ++k) try_op(both[k], 2, same, types[t], false);
    for (size_t k = 0; k < sizeof integers / sizeof *integers && !is_float; ++k)
      try_op(integers[k], 2, same, types[t], false);
    for (size_t k = 0; k < (is_float ? 3 : 5); ++k) try_op(compares[k], 2, same, PB_I1, false);
    try_op(PB_OP_SELECT, 3, chosen, types[t], false);
    if (!is_float) try_op(PB_OP_POPCOUNT, 1, same, types[t], false);
    if (!is_float) try_op(PB_OP_CLZ, 1, same, types[t], false);
    if (!is_float) continue;
    try_op(PB_OP_MAXIMUM, 2, same, types[t], false);
    try_op(PB_OP_MINIMUM, 2, same, types[t], false);
    try_op(PB_OP_FMA, 3, same, types[t], false);
    for (size_t k = 0; k < sizeof exact / sizeof *exact; ++k) try_op(exact[k], 1, same, types[t], false);
    for (size_t k = 0; k < sizeof functions / sizeof *functions; ++k) try_op(functions[k], 1, same, types[t], true);
    try_op(PB_OP_ATAN2, 2, same, types[t], true);
    try_op(PB_OP_FPTOSI, 1, same, PB_I32, false);
    try_op(PB_OP_FPTOSI, 1, same, PB_I64, false);
    try_op(PB_OP_FPTOUI, 1, same, PB_I8, false);
    for (int from = 1; from < 5; ++from) {
      try_op(PB_OP_SITOFP, 1, &types[from], types[t], false);
      try_op(PB_OP_UITOFP, 1, &types[from], types[t], false);
    }
  }
  for (int from = 0; from < 5; ++from)
    for (int to = from + 1; to < 5; ++to) {
      if (from) try_op(PB_OP_SEXT, 1, &types[from], types[to], false);
      try_op(PB_OP_ZEXT, 1, &types[from], types[to], false);
      try_op(PB_OP_TRUNC, 1, &types[to], types[from], false);
    }
  try_op(PB_OP_BITCAST, 1, (const pb_type[]){PB_F32}, PB_I32, false);
  try_op(PB_OP_BITCAST, 1, (const pb_type[]){PB_I64}, PB_F64, false);
  try_op(PB_OP_EXTF, 1, (const pb_type[]){PB_F32}, PB_F64, false);
  try_op(PB_OP_TRUNCF, 1, (const pb_type[]){PB_F64}, PB_F32, false);
}

static void run_by_llvm(const char* text, void* const* buffers, int count) {
  pb_diag diag = {.sink = complain};
  MlirContext context = pb_context_create();
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  assert_false(mlirModuleIsNull(module));
  assert_int_equal(pb_ir_execute(module, "main", buffers, count, &diag), PB_OK);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
}

static double as_double(pb_type type, pb_number v) { return type == PB_F32 ? (double)v.f : v.d; }

static bool is_same(const tried* t, pb_type type, pb_number a, pb_number b) {
  if (!pb_type_is_float(type)) return a.i == b.i;
  double x = as_double(type, a), y = as_double(type, b);
  if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
  pb_op op = t->nest->expr[t->nest->expr_count - 1].op;
  double near = op == PB_OP_EXPM1 || op == PB_OP_LOG1P ? 1 : 1e-300; // MLIR has them by differences
  if (t->is_function && isfinite(x) && isfinite(y))
    return fabs(x - y) <= (type == PB_F32 ? 4e-7 : 1e-14) * (fabs(x) + near);
  return x == y && signbit(x) == signbit(y);
}

static void test_operators(void** state) {
  (void)state;
  operands* in = calloc(1, sizeof *in);
  char(*made)[COUNT * 8] = calloc(MOST, sizeof *made), (*expected)[COUNT * 8] = calloc(MOST, sizeof *expected);
  void* buffers[TYPES * OPERANDS + MOST];
  pb_text text = {0};
  int count = 0, serial = 0;
  draw(in);
  try_all();
  pb_text_add(&text, "func.func @main(");
  for (int t = 0; t < TYPES; ++t)
    for (int o = 0; o < OPERANDS; ++o) {
      pb_text_add(&text, "%s%%x%d_%d: memref<%dx%s>", count ? ", " : "", t, o, COUNT, pb_type_name(types[t]));
      buffers[count++] = in->x[t][o];
    }
  for (int k = 0; k < tried_count; ++k) {
    const pb_access* store = pb_nest_store(all[k].nest);
    pb_text_add(&text, ", %s: memref<%dx%s>", store->ref, COUNT, pb_type_name(store->type));
    buffers[count++] = expected[k];
  }
  pb_text_add(&text, ") {\n");
  for (int k = 0; k < tried_count; ++k) {
    pb_nest_print(&text, all[k].nest, 1, &serial);
    pb_text_add(&text, "\n");
  }
  pb_text_add(&text, "  return\n}\n");
  run_by_llvm(text.data, buffers, count);
  for (int k = 0; k < tried_count; ++k) {
    const pb_nest* nest = all[k].nest;
    void* data[PB_NEST_ACCESSES];
    for (int a = 0; a + 1 < nest->access_count; ++a) data[a] = in->x[number_of(nest->access[a].type)][a];
    data[nest->access_count - 1] = made[k];
    assert_true(pb_nest_evaluate(nest, data));
    pb_type type = nest->access[nest->access_count - 1].type;
    const pb_expr_node* node = &nest->expr[nest->expr_count - 1];
    for (size_t e = 0; e < COUNT; ++e) {
      pb_number a = pb_number_read(type, made[k] + e * pb_number_bytes(type)),
                b = pb_number_read(type, expected[k] + e * pb_number_bytes(type));
      if (!is_same(&all[k], type, a, b))
        fail_msg("%s to %s, element %zu: %lld (%g) for %lld (%g)", pb_node_spelling(nest->expr, nest->expr_count - 1),
                 pb_type_name(node->type), e, (long long)a.i, as_double(type, a), (long long)b.i, as_double(type, b));
    }
  }
  pb_text_free(&text);
  free(in);
  free(made);
  free(expected);
}

// ---- loops ----

static pb_access tensor(const char* ref, pb_type type, int64_t rows, int64_t columns) {
  return (pb_access){.type = type, .rank = 2, .shape = {rows, columns}, .buffer = -1, .ref = ref};
}

// y[r, c] combines x[r + k, c - 1] over k, 7 where that lies outside.
static void windows(pb_nest* nest, pb_reduce reduce, pb_type type) {
  pb_nest_begin(nest, "n", "reduce", 2);
  nest->dim_count = 3;
  memcpy(nest->extent, (const int64_t[3]){4, 6, 3}, 3 * sizeof(int64_t));
  nest->access[0] = tensor("%x", type, 5, 5);
  nest->access[0].boxed = true;
  nest->access[0].fill = 7;
  nest->access[0].index[0].coef[0] = nest->access[0].index[0].coef[2] = nest->access[0].index[1].coef[1] = 1;
  nest->access[0].index[1].cst = -1;
  nest->access[1] = tensor("%y", type, 4, 6);
  nest->access[1].index[0].coef[0] = nest->access[1].index[1].coef[1] = 1;
  nest->reduce = reduce;
  (void)pb_nest_load(nest, 0);
}

// y[i[r], c] = 3 x[i[r], c] + r: a load and a store at numbers that the body computes.
static void places(pb_nest* nest) {
  pb_nest_begin(nest, "n", "point", 3);
  nest->dim_count = 2;
  nest->extent[0] = 4, nest->extent[1] = 5;
  nest->access[0] = tensor("%i", PB_I32, 4, 1);
  nest->access[0].index[0].coef[0] = 1;
  nest->access[1] = tensor("%x", PB_I32, 5, 5);
  nest->access[2] = tensor("%y", PB_I32, 5, 5);
  nest->access[1].index[1].coef[1] = nest->access[2].index[1].coef[1] = 1;
  int at = pb_nest_node(nest, PB_OP_SEXT, PB_INDEX, pb_nest_load(nest, 0), -1);
  int x = pb_nest_gather(nest, 1, 0, at);
  int product = pb_nest_node(nest, PB_OP_MUL, PB_I32, x, pb_nest_integer(nest, PB_I32, 3));
  int row = pb_nest_node(nest, PB_OP_INDEX, PB_I64, -1, -1);
  nest->expr[row].operand = 0;
  (void)pb_nest_node(nest, PB_OP_ADD, PB_I32, product, pb_nest_node(nest, PB_OP_TRUNC, PB_I32, row, -1));
  nest->access[2].gathered = 1;
  nest->stored_at = at;
}

static void same_as_llvm(const pb_nest* nest, const char* head, void* const* in, size_t bytes) {
  static const int32_t begin[30] = {4, 1 << 30, 9, 0, 1};
  int32_t made[30], expected[30];
  void *data[PB_NEST_ACCESSES] = {0}, *buffers[PB_NEST_ACCESSES] = {0};
  pb_text text = {0};
  int serial = 0, last = nest->access_count - 1;
  memcpy(made, begin, sizeof made);
  memcpy(expected, begin, sizeof expected);
  for (int a = 0; a < last; ++a) data[a] = buffers[a] = in[a];
  data[last] = made;
  buffers[last] = expected;
  pb_text_add(&text, "func.func @main(%s) {\n", head);
  pb_nest_print(&text, nest, 1, &serial);
  pb_text_add(&text, "\n  return\n}\n");
  run_by_llvm(text.data, buffers, last + 1);
  assert_true(pb_nest_evaluate(nest, data));
  assert_memory_equal(made, expected, bytes);
  pb_text_free(&text);
}

static void test_loops(void** state) {
  (void)state;
  static const pb_reduce sums[] = {PB_SET, PB_ACC_ADD, PB_ACC_MAX, PB_ACC_MAXU};
  int32_t x[25], i[4] = {3, 0, 4, 1};
  float f[25];
  pb_nest* nest = PB_NEW(&arena, pb_nest);
  for (int k = 0; k < 25; ++k) f[k] = (float)(x[k] = (int32_t)(random_bits() % 41) - 20) / 8;
  for (size_t k = 0; k < sizeof sums / sizeof *sums; ++k) {
    windows(nest, sums[k], PB_I32);
    same_as_llvm(nest, "%x: memref<5x5xi32>, %y: memref<4x6xi32>", (void*[]){x}, 4 * 24);
  }
  windows(nest, PB_ACC_MAXIMUM, PB_F32);
  same_as_llvm(nest, "%x: memref<5x5xf32>, %y: memref<4x6xf32>", (void*[]){f}, 4 * 24);
  places(nest);
  same_as_llvm(nest, "%i: memref<4x1xi32>, %x: memref<5x5xi32>, %y: memref<5x5xi32>", (void*[]){i, x}, 4 * 25);
}

// What has no number ends it.
static void test_refusals(void** state) {
  (void)state;
  int32_t zero[COUNT] = {0}, made[COUNT];
  float large[COUNT] = {[COUNT - 1] = 1e20F};
  pb_nest* nest = PB_NEW(&arena, pb_nest);
  windows(nest, PB_SET, PB_I32);
  int x = nest->expr_count - 1;
  (void)pb_nest_node(nest, PB_OP_DIV, PB_I32, x, x);
  assert_false(pb_nest_evaluate(nest, (void*[]){zero, made}));
  nest->access[0].boxed = false; // it leaves the tensor
  pb_nest_end(nest, x);
  assert_false(pb_nest_evaluate(nest, (void*[]){zero, made}));
  const pb_expr_node node = {.op = PB_OP_FPTOSI, .type = PB_I32, .args = {0, -1, -1}};
  pb_number number;
  assert_false(pb_number_compute(&node, (const pb_type[3]){PB_F32}, &(pb_number){.f = large[COUNT - 1]}, &number));
  windows(nest, PB_SET, PB_F16);
  assert_false(pb_nest_evaluate(nest, (void*[]){zero, made}));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_operators), cmocka_unit_test(test_loops),
                                     cmocka_unit_test(test_refusals)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  pb_arena_free(&arena);
  return failed;
}
