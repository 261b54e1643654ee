// Transposes by products. A copy whose source walks another dim element by element than its destination is a run of one
// byte for each element to a mover. Where the array of a chip loads weights by their columns, a product with ones on a
// diagonal turns a tile at once: y[i, c] = sum over k of one[i, k] * x[c, k], exact in whole numbers, and the codes are
// made of the sums with a scale of 1. Each copy becomes one where the plans say that this takes fewer cycles.
#include "core/s3/fusion/fusion.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/stages.h"
#include "core/s3/kernels.h"
#include "core/s3/transfer_paths.h"

#include <string.h>

enum { DIAGONAL, BIASES, SCALES, CONSTANTS }; // what the nests need
enum { INIT, PRODUCT, CODES, OWN_NESTS };     // that a copy becomes

// A copy of codes with the dims in which it turns tiles of lanes x lanes.
typedef struct transpose {
  pb_nest copy; // these dims cut into tiles
  int row;      // neighbours of the source, rows of a tile of the destination, or the first of them
  int column;   // neighbours of the destination
} transpose;

typedef struct transposer {
  pb_unit* unit;
  pb_program *from, to;
  int64_t lanes;
  int constants[CONSTANTS]; // values of `to`
  size_t had;               // constants of the model before
} transposer;

// The dim along which the access goes by neighbours in whole rows of lanes, -1: none.
static int dim_of_neighbours(const pb_nest* nest, const pb_access* access, int64_t lanes) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (pb_access_stride(access, d) == 1 && nest->extent[d] % lanes == 0) return d;
  return -1;
}

// The same for a source of which fewer elements are wanted than a row of lanes has, as channels that end inside of one:
// the row is there as a whole, and what the diagonal has no row for is multiplied by zeros alone.
static int dim_of_part(const pb_nest* nest, const pb_access* access, int64_t lanes) {
  const int last = access->rank - 1;
  int dim = last < 0 ? -1 : pb_index_dim(&access->index[last]);
  bool part = dim >= 0 && nest->extent[dim] > 1 && nest->extent[dim] < lanes && access->shape[last] == lanes &&
              pb_access_moves_only(access, last, dim);
  return part ? dim : -1;
}

// Cuts the dim into tiles of lanes. Returns the dim inside.
static int cut(pb_nest* nest, int d, int64_t lanes, int* other) {
  if (nest->extent[d] <= lanes) return d;
  pb_nest_cut_dim(nest, d, lanes);
  *other += *other > d;
  return d + 1;
}

static bool is_transpose(const transposer* t, int n, transpose* found) {
  const pb_nest* nest = &t->from->nests[n];
  const pb_access *x = &nest->access[0], *y = &nest->access[1];
  if (!pb_nest_is_copy(nest) || x->type != PB_I8 || y->type != PB_I8 || x->boxed || x->splat ||
      nest->dim_count + 3 > PB_NEST_DIMS)
    return false;
  if (pb_program_is_const(t->from, n, 0)) return false;
  int row = dim_of_neighbours(nest, x, t->lanes), column = dim_of_neighbours(nest, y, t->lanes);
  if (row < 0) row = dim_of_part(nest, x, t->lanes);
  if (row < 0 || column < 0 || row == column || pb_access_stride(x, column) % t->lanes) return false;
  for (int d = 0; d < nest->dim_count; ++d) {
    int64_t apart = pb_access_stride(y, d);
    if (nest->extent[d] > 1 && pb_access_stride(x, d) < 0) return false;
    if (d != column && nest->extent[d] > 1 && (apart <= 0 || apart % t->lanes)) return false;
  }
  pb_nest_copy(&found->copy, nest);
  found->row = cut(&found->copy, row, t->lanes, &column);
  found->column = cut(&found->copy, column, t->lanes, &found->row);
  return true;
}

// ---- nests ----

// Begins a nest over the copy's dims, those of its tiles innermost. map: of the copy's dims.
static void begin(const transpose* s, const char* part, int accesses, pb_nest* nest, int* map) {
  const pb_nest* copy = &s->copy;
  pb_nest_begin(nest, copy->name, part, accesses);
  for (int d = 0; d < copy->dim_count; ++d)
    if (d != s->row && d != s->column) map[d] = pb_nest_add_dim(nest, copy->extent[d]);
  map[s->row] = pb_nest_add_dim(nest, copy->extent[s->row]);
  map[s->column] = pb_nest_add_dim(nest, copy->extent[s->column]);
}

// An access of the copy over the nest's dims, of a tensor of this type.
static pb_access mapped(const transpose* s, int a, pb_type type, const int* map) {
  const pb_access* from = &s->copy.access[a];
  pb_access to = {.type = type, .rank = from->rank, .buffer = -1};
  memcpy(to.shape, from->shape, sizeof to.shape);
  memcpy(to.index, from->index, sizeof *to.index * (size_t)to.rank);
  pb_access_renumber(&to, map, s->copy.dim_count);
  return to;
}

static pb_access constant(const transposer* t, pb_type type, int rank) {
  return (pb_access){.type = type, .rank = rank, .buffer = -1, .shape = {t->lanes, rank > 1 ? t->lanes : 0}};
}

// What the sums start from, the products, and the codes that are made of the sums.
static void make_nests(const transposer* t, const transpose* s, pb_nest* own) {
  int map[PB_NEST_DIMS];
  pb_nest* nest = &own[INIT];
  begin(s, "init", 1, nest, map);
  nest->access[0] = mapped(s, 1, PB_I32, map);
  (void)pb_nest_integer(nest, PB_I32, 0);

  nest = &own[PRODUCT];
  begin(s, "reduce", 3, nest, map);
  int row = map[s->row], sum = pb_nest_add_dim(nest, t->lanes);
  nest->reduce = PB_ACC_ADD;
  nest->access[0] = constant(t, PB_I8, 2);
  nest->access[0].index[0].coef[row] = nest->access[0].index[1].coef[sum] = 1;
  nest->access[2] = mapped(s, 1, PB_I32, map);
  map[s->row] = sum;
  nest->access[1] = mapped(s, 0, PB_I8, map);
  (void)pb_nest_product(nest);

  nest = &own[CODES];
  begin(s, "point", 4, nest, map);
  nest->access[0] = mapped(s, 1, PB_I32, map);
  nest->access[1] = constant(t, PB_I32, 1);
  nest->access[2] = constant(t, PB_F32, 1);
  nest->access[1].index[0].coef[map[s->column]] = nest->access[2].index[0].coef[map[s->column]] = 1;
  nest->access[3] = mapped(s, 1, PB_I8, map);
  int x = pb_nest_load(nest, 0);
  x = pb_nest_node(nest, PB_OP_ADD, PB_I32, x, pb_nest_load(nest, 1));
  x = pb_nest_node(nest, PB_OP_SITOFP, PB_F32, x, -1);
  x = pb_nest_node(nest, PB_OP_MUL, PB_F32, x, pb_nest_load(nest, 2));
  x = pb_nest_node(nest, PB_OP_ROUNDEVEN, PB_F32, x, -1);
  x = pb_nest_node(nest, PB_OP_ADD, PB_F32, x, pb_nest_const(nest, PB_F32, 0));
  x = pb_nest_node(nest, PB_OP_MAX, PB_F32, x, pb_nest_const(nest, PB_F32, INT8_MIN));
  x = pb_nest_node(nest, PB_OP_MIN, PB_F32, x, pb_nest_const(nest, PB_F32, INT8_MAX));
  (void)pb_nest_node(nest, PB_OP_FPTOSI8, PB_I8, x, -1);
}

static void add_constants(transposer* t) {
  pb_arena* arena = &t->unit->consts->arena;
  const int64_t shape[] = {t->lanes, t->lanes};
  int8_t* diagonal = pb_alloc(arena, (size_t)(t->lanes * t->lanes));
  int32_t* biases = PB_NEW_ARRAY(arena, int32_t, (size_t)t->lanes);
  float* scales = PB_NEW_ARRAY(arena, float, (size_t)t->lanes);
  for (int64_t k = 0; k < t->lanes; ++k) {
    diagonal[k * t->lanes + k] = 1;
    scales[k] = 1;
  }
  pb_consts* consts = t->unit->consts;
  t->constants[DIAGONAL] = pb_program_add_const(&t->to, &t->unit->pass, consts, "diagonal", PB_I8, 2, shape, diagonal);
  t->constants[BIASES] = pb_program_add_const(&t->to, &t->unit->pass, consts, "zeros", PB_I32, 1, shape, biases);
  t->constants[SCALES] = pb_program_add_const(&t->to, &t->unit->pass, consts, "ones", PB_F32, 1, shape, scales);
}

// ---- is it worth it ----

static void print_argument(pb_text* text, int number, const pb_access* like, const char* attributes) {
  pb_text_add(text, "%s%%a%d: ", number ? ", " : "", number);
  pb_access_print_type(text, like);
  pb_text_add(text, " %s", attributes);
}

// The nests as a program of their own: source, constants and destination are its arguments.
static MlirModule as_program(const transposer* t, pb_nest* own) {
  static const char* const refs[OWN_NESTS][4] = {{"%sums"}, {"%a1", "%a0", "%sums"}, {"%sums", "%a2", "%a3", "%a4"}};
  pb_text text = {0};
  pb_arena scratch = {0};
  int serial = 0;
  pb_text_add(&text, "module attributes {pb.stage = \"s3\"} {\nfunc.func @main(");
  print_argument(&text, 0, &own[PRODUCT].access[1], "{pb.input = \"0\"}");
  for (int k = 0; k < CONSTANTS; ++k) {
    const pb_access* like = k == DIAGONAL ? &own[PRODUCT].access[0] : &own[CODES].access[k];
    int id = t->to.values[t->constants[k]].const_id;
    print_argument(&text, 1 + k, like, pb_printf(&scratch, "{pb.const = %d : i64}", id));
  }
  print_argument(&text, 1 + CONSTANTS, &own[CODES].access[3], "{pb.output = \"0\"}");
  pb_text_add(&text, ") {\n%%sums = memref.alloc() : ");
  pb_access_print_type(&text, &own[INIT].access[0]);
  pb_text_add(&text, "\n");
  for (int n = 0; n < OWN_NESTS; ++n) {
    for (int a = 0; a < own[n].access_count; ++a) own[n].access[a].ref = refs[n][a];
    pb_nest_print(&text, &own[n], 1, &serial);
  }
  pb_text_add(&text, "return\n}\n}\n");
  MlirModule module = mlirModuleCreateParse(t->unit->context, mlirStringRefCreate(text.data, text.length));
  pb_text_free(&text);
  pb_arena_free(&scratch);
  return module;
}

static int64_t cycles_of_products(const transposer* t, pb_nest* own, pb_arena* scratch) {
  pb_diag quiet = {.sink = pb_diag_drop};
  pb_program program;
  int64_t cycles = INT64_MAX;
  MlirModule module = as_program(t, own);
  if (mlirModuleIsNull(module)) return cycles;
  if (pb_program_read(pb_module_func(module, "main"), scratch, &quiet, &program) == PB_OK)
    cycles = pb_fusion_cycles(t->unit, &program, scratch);
  mlirModuleDestroy(module);
  return cycles;
}

static bool pays(const transposer* t, int n, pb_nest* own) {
  pb_arena scratch = {0};
  pb_program copy;
  pb_program_view(t->from, &n, 1, &scratch, &copy);
  int64_t copied = pb_fusion_cycles(t->unit, &copy, &scratch);
  bool gains = copied < INT64_MAX && pb_fusion_gains(cycles_of_products(t, own, &scratch), copied);
  pb_arena_free(&scratch);
  return gains;
}

// ---- the program ----

static void replace(transposer* t, int n, const pb_nest* own) {
  int x = t->from->value_of[n][0], y = t->from->value_of[n][1];
  int sums = pb_program_add_local(&t->to, &t->unit->pass, &own[INIT].access[0]);
  (void)pb_program_add_nest(&t->to, &own[INIT], (int[PB_NEST_ACCESSES]){sums});
  (void)pb_program_add_nest(&t->to, &own[PRODUCT], (int[PB_NEST_ACCESSES]){t->constants[DIAGONAL], x, sums});
  (void)pb_program_add_nest(&t->to, &own[CODES],
                            (int[PB_NEST_ACCESSES]){sums, t->constants[BIASES], t->constants[SCALES], y});
}

// Whether the chip's array could: an instruction multiplies codes, one bank of weights after the other, whose rows it
// takes from a memory and not out of registers.
static bool multiplies(const pb_chip* chip) {
  const pb_contraction_dims codes = {.x_type = PB_I8, .w_type = PB_I8, .y_type = PB_I32};
  pb_contraction_dims roles;
  const pb_insn* insn = pb_chip_contraction(chip, &codes, &roles);
  bool rows = insn && chip->memories[insn->operands[roles.x].memory].kind != PB_MEM_REGISTERS;
  return rows && !pb_sums_by_lanes(insn, &roles);
}

bool pb_s3_transposes(pb_unit* unit, pb_program* p) {
  transposer t = {.unit = unit, .from = p, .lanes = pb_chip_lanes(unit->chip), .had = unit->consts->count};
  bool any = false, changed = false;
  transpose* s = PB_NEW(&unit->pass, transpose);
  pb_nest* own = PB_NEW_ARRAY(&unit->pass, pb_nest, OWN_NESTS);
  for (int n = 0; n < p->nest_count && !any; ++n) any = is_transpose(&t, n, s);
  if (!any || !multiplies(unit->chip)) return false;
  pb_program_begin_nests(p, &unit->pass, &t.to);
  add_constants(&t);
  for (int n = 0; n < p->nest_count; ++n) {
    bool turns = is_transpose(&t, n, s);
    if (turns) make_nests(&t, s, own);
    turns = turns && pays(&t, n, own);
    if (turns)
      replace(&t, n, own);
    else
      (void)pb_program_add_nest(&t.to, &p->nests[n], p->value_of[n]);
    changed |= turns;
  }
  if (!changed) unit->consts->count = t.had;
  *p = t.to;
  return changed;
}
