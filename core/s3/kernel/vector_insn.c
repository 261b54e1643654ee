// Instructions of cores that multiply, on vectors and on registers that hold rows, and those that move such registers:
// the selection is asked for the nests that they are.
#include "core/base/half_expr.h"
#include "core/s3/kernel/flat.h"
#include "core/s3/kernel/vector.h"

#include <string.h>

// Whether an instruction of the core's is the nest whose accesses lie in these memories.
static bool find(pb_select_memo* memo, const pb_nest* nest, const int* memories, pb_match* match) {
  pb_flat flat;
  const char* why;
  pb_flat_begin(nest, &flat);
  for (int a = 0; a < nest->access_count; ++a) pb_flat_place(memo->chip, nest, a, memories[a], &flat);
  return pb_select_again(memo, &flat, match, &why) && match->insn->emit && !match->loop_count;
}

// A nest over a register's dims, outermost first.
static void begin_nest(const char* part, int accesses, const int64_t* extents, int dims, pb_nest* nest) {
  pb_nest_begin(nest, "registers", part, accesses);
  nest->dim_count = dims;
  memcpy(nest->extent, extents, (size_t)dims * sizeof *extents);
}

static void set_access(pb_nest* nest, int a, pb_type type, int64_t elements, const int64_t* strides) {
  nest->access[a] = (pb_access){.type = type, .rank = 1, .shape = {elements}};
  memcpy(nest->access[a].index[0].coef, strides, (size_t)nest->dim_count * sizeof *strides);
}

static int add_node(void* user, const pb_expr_node* given) {
  pb_nest* nest = user;
  int id = pb_nest_node(nest, given->op, given->type, -1, -1);
  nest->expr[id] = *given;
  return id;
}

// The factor in access `a`, as wide as the product; narrow floats are widened as nests have it.
static int add_factor(pb_nest* nest, int a, bool is_unsigned, pb_type to) {
  pb_type from = nest->access[a].type;
  int load = pb_nest_load(nest, a);
  nest->expr[load].type = pb_type_stored(from);
  if (from == to) return load;
  if (pb_type_is_narrow(from)) return pb_half_widened(&(pb_expr_writer){add_node, nest}, from, load);
  return pb_nest_node(nest, is_unsigned ? PB_OP_ZEXT : PB_OP_SEXT, to, load, -1);
}

// Whole registers: `rows` and `steps` are 1 where they are vectors, of which x has the lanes too.
typedef struct whole {
  int64_t rows, lanes, steps, group;
} whole;

// y[m, n] += x[m, k, g] * w[k, n, g].
static void product_nest(const whole* r, pb_type x, bool x_unsigned, pb_type w, pb_type y, pb_nest* nest) {
  int64_t g = r->group, width = r->steps * g;
  bool vectors = r->rows == 1;
  begin_nest("add", 3, (int64_t[]){r->rows, r->lanes, r->steps, g}, 4, nest);
  nest->reduce = PB_ACC_ADD;
  if (vectors)
    set_access(nest, 0, x, r->lanes * g, (int64_t[]){0, g, 0, 1});
  else
    set_access(nest, 0, x, r->rows * width, (int64_t[]){width, 0, g, 1});
  set_access(nest, 1, w, r->lanes * width, (int64_t[]){0, g, r->lanes * g, 1});
  set_access(nest, 2, y, r->rows * r->lanes, (int64_t[]){r->lanes, 1, 0, 0});
  int a = add_factor(nest, 0, x_unsigned, y), b = add_factor(nest, 1, false, y);
  (void)pb_nest_node(nest, PB_OP_MUL, y, a, b);
}

// The product on registers of that file.
static pb_vector_insn product_on(pb_select_memo* memo, int file, const whole* r, pb_type x, bool flips, pb_type w,
                                 pb_type y) {
  const int memories[] = {file, file, file};
  pb_nest nest;
  pb_match match;
  product_nest(r, x, flips, w, y, &nest);
  if (!find(memo, &nest, memories, &match)) return (pb_vector_insn){0};
  return (pb_vector_insn){.insn = match.insn,
                          .lanes = (int)r->lanes,
                          .group = (int)r->group,
                          .x = pb_match_operand(&match, 0),
                          .w = pb_match_operand(&match, 1),
                          .y = match.insn->dest,
                          .flips = flips};
}

// ---- vectors ----

// The one that multiplies just these types.
static pb_vector_insn find_product(pb_select_memo* memo, int file, pb_type x, bool flips, pb_type w, pb_type y) {
  int64_t bits = memo->chip->memories[file].row_bytes * 8;
  const whole r = {1, bits / pb_type_bits(y), 1, pb_type_bits(y) / pb_type_bits(x)};
  return product_on(memo, file, &r, x, flips, w, y);
}

int64_t pb_vector_products(const pb_vector_insn* insn) {
  return (int64_t)insn->lanes * insn->group * insn->insn->units;
}

static bool is_code(pb_type type) { return type == PB_I8 || type == PB_I16; }

pb_vector_insn pb_vector_contraction(pb_select_memo* memo, pb_type x, pb_type w, pb_type y) {
  int file = pb_chip_register_file(memo->chip);
  pb_vector_insn found = {0};
  if (file < 0) return found;
  bool alike = pb_type_bits(x) == pb_type_bits(w) && pb_type_bits(y) % pb_type_bits(x) == 0;
  for (int flips = 0; alike && !found.insn && flips <= !pb_type_is_float(x); ++flips)
    found = find_product(memo, file, x, flips, w, y);
  if (found.insn || !is_code(x) || !is_code(w)) return found;
  return find_product(memo, file, PB_I16, false, PB_I16, y);
}

bool pb_vector_extends(const pb_vector_insn* insn, int o, pb_type type) {
  return pb_type_bits(type) < pb_type_bits(insn->insn->operands[o].type);
}

// ---- registers that hold rows ----

// What moves so many rows of `width` elements between the system's memory and the register file; NULL: nothing does.
static const pb_insn* mover(pb_select_memo* memo, int file, pb_type type, int64_t rows, int64_t width, bool load) {
  const pb_chip* chip = memo->chip;
  int64_t apart = chip->memories[chip->system_memory].row_bytes * 8 / pb_type_bits(type);
  const int memories[] = {load ? chip->system_memory : file, load ? file : chip->system_memory};
  pb_nest nest;
  pb_match match;
  begin_nest("load", 2, (int64_t[]){rows, width}, 2, &nest);
  set_access(&nest, !load, type, rows * apart, (int64_t[]){apart, 1});
  set_access(&nest, load, type, rows * width, (int64_t[]){width, 1});
  pb_nest_load(&nest, 0);
  return find(memo, &nest, memories, &match) ? match.insn : NULL;
}

static const pb_insn* clearing(pb_select_memo* memo, int file, pb_type type, int64_t rows, int64_t lanes) {
  pb_nest nest;
  pb_match match;
  begin_nest("init", 1, (int64_t[]){rows, lanes}, 2, &nest);
  set_access(&nest, 0, type, rows * lanes, (int64_t[]){lanes, 1});
  (void)pb_nest_const(&nest, type, 0);
  return find(memo, &nest, &file, &match) ? match.insn : NULL;
}

// On the registers of one file.
static bool find_matrix(pb_select_memo* memo, int file, const pb_contraction_dims* of, pb_matrix_insn* found) {
  pb_type x = of->x_type, w = of->w_type, y = of->y_type;
  int64_t bits = memo->chip->memories[file].row_bytes * 8;
  whole r = {.lanes = pb_vector_facts_of(memo->chip).lanes, .group = pb_type_bits(y) / pb_type_bits(x)};
  if (r.lanes) r.rows = bits / pb_type_bits(y) / r.lanes;
  if (r.rows && r.group) r.steps = bits / pb_type_bits(x) / r.group / r.rows;
  if (r.rows < 2 || r.steps < 1) return false;
  *found = (pb_matrix_insn){.product = product_on(memo, file, &r, x, false, w, y), .memory = file};
  const pb_vector_insn* product = &found->product;
  if (!product->insn) return false;
  const pb_operand *of_x = &product->insn->operands[product->x], *of_y = &product->insn->operands[product->y];
  if (of_x->rank != 3 || of_y->rank != 2) return false;
  found->m = of_y->dims[0];
  found->n = of_y->dims[1];
  found->k = of_x->dims[1];
  found->g = of_x->dims[2];
  found->rows = (int)r.rows;
  found->steps = (int)r.steps;
  found->load_x = mover(memo, file, x, r.rows, r.steps * r.group, true);
  found->load_w = mover(memo, file, w, r.steps, r.lanes * r.group, true);
  found->store = mover(memo, file, y, r.rows, r.lanes, false);
  found->zero = clearing(memo, file, y, r.rows, r.lanes);
  return found->load_x && found->load_w && found->store && found->zero;
}

pb_matrix_insn pb_matrix_contraction(pb_select_memo* memo, const pb_contraction_dims* of) {
  pb_matrix_insn found;
  for (int m = 0; m < memo->chip->memory_count; ++m)
    if (memo->chip->memories[m].value[0] && find_matrix(memo, m, of, &found)) return found;
  return (pb_matrix_insn){0};
}

int64_t pb_matrix_cycles(const pb_matrix_insn* matrix, int64_t rows, int64_t steps) {
  int64_t extents[PB_MAX_INSN_DIMS] = {0};
  extents[matrix->m] = rows;
  extents[matrix->n] = matrix->product.lanes;
  extents[matrix->k] = steps;
  extents[matrix->g] = matrix->product.group;
  return pb_cycles(matrix->product.insn, extents);
}
