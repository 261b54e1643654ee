// A register tile as text: loads shared between the points that use them, sums as loop-carried vectors.
#include "core/s3/lower/vector_tile.h"
#include "core/s3/tree/cost_cores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EPILOGUE_NODES = 1000 }; // of all points of a tile, written out

static int lanes_of(const pb_vtile* t) { return t->e->k->lanes; }

static pb_type type_of_sums(const pb_vtile* t) {
  const pb_nest* main = t->e->k->main;
  return main->access[pb_vkernel_store(main)].type;
}

// What a sum is while it stands in a register.
static void print_sum_type(const pb_vtile* t) {
  const pb_vkernel* k = t->e->k;
  if (k->matrix.product.insn)
    pb_instruction_register_type(t->e->text, t->e->chip, &k->matrix.product.insn->operands[k->matrix.product.y]);
  else
    pb_text_add(t->e->text, "%s", pb_lowered_type(t->e->out, type_of_sums(t), lanes_of(t)));
}

// ---- expressions ----

// The value of a nest's expression at a point, so far.
typedef struct evaluation {
  pb_vtile* t;
  const pb_nest* nest;
  int point, indent;
  const int64_t* iteration;
  MlirValue made;                  // what the nest before made, of which the point's register is
  const char* taken;               // the register; NULL: none did
  const char* names[PB_NEST_EXPR]; // by node
} evaluation;

static const char* load_node(evaluation* v, const pb_expr_node* node) {
  const pb_access* access = &v->nest->access[node->operand];
  if (v->taken && !access->gathered && pb_value_same(access->memref, v->made)) return v->taken;
  if (!access->gathered) return pb__vtile_load(v->t, access, v->point, v->iteration, v->indent);
  int index = node->args[0];
  return pb__vtile_look_up(v->t, access, v->names[index], v->nest->expr[index].type, v->indent);
}

static const char* compute_node(evaluation* v, int n) {
  const pb_expr_node *expr = v->nest->expr, *node = &expr[n];
  pb_lowered* out = v->t->e->out;
  int lanes = lanes_of(v->t);
  if (node->op == PB_OP_SITOFP && v->t->wide && v->names[node->args[0]] == v->t->code)
    return pb_lowered_line(out, v->indent, "arith.sitofp %s : %s to %s", v->t->wide,
                           pb_lowered_type(out, PB_I32, lanes), pb_lowered_type(out, node->type, lanes));
  const char* name = pb_lowered_begin_line(out, v->indent);
  pb_text_add(&out->body, "%s ", pb_node_spelling(expr, n));
  for (int a = 0; a < 3 && node->args[a] >= 0; ++a)
    pb_text_add(&out->body, "%s%s", a ? ", " : "", v->names[node->args[a]]);
  pb_text_add(&out->body, " : ");
  pb_op_print_types(&out->body, expr, n, lanes);
  pb_text_add(&out->body, "\n");
  return name;
}

// `before`: the nest whose value stands in the point's register, NULL: none.
static const char* evaluate(pb_vtile* t, const pb_nest* nest, int point, const int64_t* iteration,
                            const pb_nest* before, int indent) {
  evaluation v = {.t = t, .nest = nest, .point = point, .indent = indent, .iteration = iteration};
  const pb_expr_node* expr = nest->expr;
  bool needed[PB_NEST_EXPR];
  pb_vcode code;
  if (before) {
    v.made = before->access[pb_vkernel_store(before)].memref;
    v.taken = t->acc[point];
  }
  pb__vtile_needed(expr, nest->expr_count, needed);
  for (int n = 0; n < nest->expr_count; ++n) {
    if (!needed[n]) continue;
    if (pb__vtile_is_code(expr, n, &code))
      v.names[n] = pb__vtile_code(t, expr, &code, v.names, indent);
    else if (expr[n].op == PB_OP_LOAD)
      v.names[n] = load_node(&v, &expr[n]);
    else if (expr[n].op == PB_OP_CONST)
      v.names[n] = pb_lowered_constant(t->e->out, &expr[n], lanes_of(t));
    else
      v.names[n] = compute_node(&v, n);
  }
  return v.names[nest->expr_count - 1];
}

// ---- products ----

// A factor at a place, as wide as the instruction takes it.
static const char* extended(pb_vtile* t, const pb_access* access, int64_t displacement, const char* from, int operand,
                            int indent) {
  pb_vemit* e = t->e;
  const pb_vector_insn* insn = &e->k->insn;
  if (!pb_vector_extends(insn, operand, access->type)) return from;
  const char* name = pb__vtile_find_load(e, access, displacement, PB_VTILE_WIDE);
  if (name) return name;
  int count = lanes_of(t) * insn->group;
  name =
      pb_lowered_line(e->out, indent, "arith.extsi %s : %s to %s", from, pb_lowered_type(e->out, access->type, count),
                      pb_lowered_type(e->out, insn->insn->operands[operand].type, count));
  pb__vtile_note_load(e, access, displacement, PB_VTILE_WIDE, name);
  return name;
}

// What the instruction takes, and the extents that it is told, if any.
static pb_instruction_use product_of(const pb_vkernel* k) {
  pb_instruction_use use = {.insn = k->insn.insn, .type = PB_TYPE_COUNT};
  if (!k->matrix.product.insn) return use;
  use.extent[k->matrix.m] = k->rows;
  use.extent[k->matrix.n] = k->insn.lanes;
  use.extent[k->matrix.k] = k->depth;
  use.extent[k->matrix.g] = k->insn.group;
  return use;
}

// One product on the sum of a point.
static void call_instruction(pb_vtile* t, int point, const int64_t* iteration, int indent) {
  const pb_vkernel* k = t->e->k;
  const pb_instruction_use use = product_of(k);
  const char* operands[PB_MAX_OPERANDS] = {0};
  int o[] = {k->insn.w, k->insn.x};
  const pb_access* access[] = {&k->main->access[k->w], &k->main->access[k->x]};
  for (int f = 0; f < 2; ++f) operands[o[f]] = pb__vtile_load(t, access[f], point, iteration, indent);
  for (int f = 0; f < 2; ++f) {
    int64_t displacement = pb__vtile_displacement(t, access[f], point, iteration);
    operands[o[f]] = extended(t, access[f], displacement, operands[o[f]], o[f], indent);
  }
  operands[k->insn.y] = t->acc[point];
  t->acc[point] = pb_lowered_call(t->e->out, indent, &use, operands, NULL);
}

// The number that all sums start from; NULL: there is no such nest, or it sets more.
static const pb_expr_node* start_of(const pb_group* group) {
  const pb_nest* init = group->around.init;
  return init && init->expr_count == 1 && init->expr[0].op == PB_OP_CONST ? &init->expr[0] : NULL;
}

// Whether the sums are largest elements so far that are never NaN: they start from a number, and terms that are NaN do
// not count.
static bool keeps_largest(const pb_vtile* t) {
  const pb_expr_node* start = start_of(t->e->group);
  return t->e->k->main->reduce == PB_ACC_MAX && pb_type_is_float(type_of_sums(t)) && start && !isnan(start->value);
}

// One more term on each sum.
static void add_terms(pb_vtile* t, const int64_t* iteration, int indent) {
  pb_vemit* e = t->e;
  bool largest = keeps_largest(t);
  const char* add = pb_op_spelling(pb_reduce_op(e->k->main->reduce), type_of_sums(t));
  for (int p = 0; p < t->points; ++p) {
    if (e->k->insn.insn) {
      if (!pb__vtile_in_border(t, p, iteration)) call_instruction(t, p, iteration, indent);
      continue;
    }
    const char* value = evaluate(t, e->k->main, p, iteration, NULL, indent);
    t->acc[p] = largest ? pb__vtile_pick(t, "ogt", value, t->acc[p], type_of_sums(t), indent)
                        : pb_lowered_line(e->out, indent, "%s %s, %s : %s", add, t->acc[p], value,
                                          pb_lowered_type(e->out, type_of_sums(t), lanes_of(t)));
  }
}

// ---- sums ----

static void unrolled(pb_vtile* t, int d, int64_t* iteration, int indent) {
  const pb_vkernel* k = t->e->k;
  while (d < k->main->dim_count && (!k->is_sum[d] || d == k->group_dim)) ++d;
  if (d == k->main->dim_count) {
    if (k->matrix.product.insn)
      t->e->load_count = 0; // kept from iteration to iteration they would take more registers than planned
    add_terms(t, iteration, indent);
    return;
  }
  int64_t step = d == k->depth_dim ? k->depth : 1;
  for (iteration[d] = 0; iteration[d] < k->main->extent[d]; iteration[d] += step) unrolled(t, d + 1, iteration, indent);
  iteration[d] = 0;
}

static void print_types(pb_vtile* t) {
  for (int p = 0; p < t->points; ++p) {
    if (p) pb_text_add(t->e->text, ", ");
    print_sum_type(t);
  }
}

static void print_yield(pb_vtile* t, int indent) {
  pb_vemit* e = t->e;
  pb_text_line(e->text, indent, "affine.yield ");
  for (int p = 0; p < t->points; ++p) pb_text_add(e->text, "%s%s", p ? ", " : "", t->acc[p]);
  pb_text_add(e->text, " : ");
  print_types(t);
  pb_text_add(e->text, "\n");
}

static void sum(pb_vtile* t, int n, int indent);

// affine.for over terms with the sums as loop-carried values: some iterations of the n-th loop.
static void sum_run(pb_vtile* t, int n, int64_t begin, int64_t end, int indent) {
  pb_vemit* e = t->e;
  const pb_vsum* loop = &e->sums[n];
  int result = e->out->serial++, first = e->out->serial;
  e->out->serial += t->points;
  pb_text_line(e->text, indent, "%%r%d:%d = affine.for %%o%d = ", result, t->points, loop->level);
  pb__vtile_print_run(t, n, begin, end);
  pb_text_add(e->text, " step %lld iter_args(", (long long)loop->step);
  for (int p = 0; p < t->points; ++p) {
    pb_text_add(e->text, "%s%%v%d = %s", p ? ", " : "", first + p, t->acc[p]);
    t->acc[p] = pb_printf(e->arena, "%%v%d", first + p);
  }
  pb_text_add(e->text, ") -> (");
  print_types(t);
  pb_text_add(e->text, ") {\n");
  e->load_count = 0;
  sum(t, n + 1, indent + 1);
  print_yield(t, indent + 1);
  pb_text_line(e->text, indent, "}\n");
  e->load_count = 0;
  for (int p = 0; p < t->points; ++p) t->acc[p] = pb_printf(e->arena, "%%r%d#%d", result, p);
}

// From the n-th loop on.
static void sum(pb_vtile* t, int n, int indent) {
  pb_vemit* e = t->e;
  if (n == e->sum_count) {
    int64_t iteration[PB_NEST_DIMS] = {0};
    e->load_count = 0;
    unrolled(t, 0, iteration, indent);
    return;
  }
  for (int64_t begin = 0, end; begin < e->sums[n].iterations; begin = end) {
    if (!pb__vtile_next_run(t, n, begin, &end)) continue;
    if (t->one[n])
      sum(t, n + 1, indent);
    else
      sum_run(t, n, begin, end, indent);
  }
  t->iteration[n] = -1;
  t->one[n] = false;
}

// ---- the tile ----

// Where the n-th step along a dim begins. A short last vector or matrix is a whole one that begins earlier and makes
// some elements once more.
static int64_t point_offset(const pb_vemit* e, int d, int64_t n) {
  int64_t step = pb_vkernel_unit(e->k, d);
  return n * step - (e->short_lanes[d] && n == e->size[d] - 1 ? step - e->short_lanes[d] : 0);
}

// Points in the order in which their products are written: rows outermost, so that the vectors of w, which all rows
// share, stay in registers and each element of x is needed for a short while only.
static void add_points(pb_vtile* t, const int* dims, int count, int64_t* offset) {
  const pb_vemit* e = t->e;
  if (!count) {
    memcpy(t->offset[t->points++], offset, sizeof t->offset[0]);
    return;
  }
  int d = dims[0];
  for (int64_t n = 0; n < e->size[d]; ++n) {
    offset[d] = point_offset(e, d, n);
    add_points(t, dims + 1, count - 1, offset);
  }
  offset[d] = 0;
}

static int point_dims(const pb_vemit* e, int* dims) {
  int count = 0;
  for (int columns = 0; columns < 2; ++columns)
    for (int d = 0; d < e->k->main->dim_count; ++d)
      if (pb_vkernel_is_spatial(e->k, d) && pb_vkernel_is_column(e->k, d) == columns) dims[count++] = d;
  return count;
}

static void make_points(pb_vtile* t) {
  int dims[PB_NEST_DIMS], count = point_dims(t->e, dims);
  int64_t offset[PB_NEST_DIMS] = {0};
  add_points(t, dims, count, offset);
}

// Sums so far, where the result will be.
static const pb_access* partial_place(const pb_vtile* t) { return pb_vkernel_result(t->e->k); }

static void start_sums(pb_vtile* t, int indent) {
  if (t->e->k->matrix.product.insn) {
    pb__vtile_clear_matrices(t, indent);
    return;
  }
  for (int p = 0; p < t->points; ++p) t->acc[p] = evaluate(t, t->e->group->around.init, p, NULL, NULL, indent);
}

// The first part of a sum starts from what the init nest says, the others from the sums so far.
static void start_partial_sums(pb_vtile* t, int indent) {
  pb_vemit* e = t->e;
  int result = e->out->serial++;
  pb_text_line(e->text, indent, "%%r%d:%d = affine.if affine_set<(d0) : (d0 == 0)>(%%o%d) -> (", result, t->points,
               e->blocks.level);
  print_types(t);
  pb_text_add(e->text, ") {\n");
  for (int first = 1; first >= 0; --first) {
    e->load_count = 0;
    if (first) start_sums(t, indent + 1);
    for (int p = 0; p < t->points && !first; ++p) t->acc[p] = pb__vtile_load(t, partial_place(t), p, NULL, indent + 1);
    print_yield(t, indent + 1);
    pb_text_line(e->text, indent, first ? "} else {\n" : "}\n");
  }
  for (int p = 0; p < t->points; ++p) t->acc[p] = pb_printf(e->arena, "%%r%d#%d", result, p);
}

static void finish_point(pb_vtile* t, int point, int indent) {
  pb_vemit* e = t->e;
  const pb_nest* before = e->k->main;
  for (int n = 0; n < e->group->around.epilogue_count; ++n) {
    const pb_nest* epilogue = e->group->around.epilogues[n].nest;
    t->acc[point] = evaluate(t, epilogue, point, NULL, before, indent);
    before = epilogue;
  }
  pb__vtile_store(t, pb_vkernel_result(e->k), point, indent);
}

// Registers that hold rows are cleared by an instruction; what else the sums start from is added at the end.
static bool starts_from_zero(const pb_group* group) {
  const pb_expr_node* start = start_of(group);
  return !group->around.init || (start && start->value == 0);
}

static const char* add_start(pb_vtile* t, int point, const char* sum, int indent) {
  pb_vemit* e = t->e;
  const char* start = evaluate(t, e->group->around.init, point, NULL, NULL, indent);
  return pb_lowered_line(e->out, indent, "%s %s, %s : %s", pb_op_spelling(PB_OP_ADD, type_of_sums(t)), sum, start,
                         pb_lowered_type(e->out, type_of_sums(t), lanes_of(t)));
}

// A loop over a dim of the tile: %q<id>, which is returned.
static int walk(pb_vemit* e, int d, int64_t step, int64_t count, int indent) {
  int id = e->out->serial++;
  e->walk[d] = id + 1;
  e->walk_step[d] = step;
  pb_text_line(e->text, indent, "affine.for %%q%d = 0 to %lld {\n", id, (long long)count);
  return id;
}

static void end_walk(pb_vemit* e, int d, int indent) {
  e->walk[d] = 0;
  pb_text_line(e->text, indent, "}\n");
}

// A register that holds rows becomes vectors by way of memory: no instruction moves its rows to others. Two rows are
// finished in one iteration, as one is a chain of operations that each wait for the one before.
static void finish_matrix(pb_vtile* t, int point, int indent) {
  pb_vemit* e = t->e;
  int64_t lanes = e->k->matrix.product.lanes, most = e->k->matrix.rows * lanes;
  const char *type = pb_type_name(type_of_sums(t)), *sums = pb__vtile_store_matrix(t, point, indent);
  int64_t rows = e->k->rows, jam = rows % 2 ? 1 : 2, first = t->offset[point][e->k->row_dim];
  int row = walk(e, e->k->row_dim, jam, rows / jam, indent);
  e->load_count = 0;
  for (int64_t r = 0; r < jam; ++r) {
    const char* sum = pb_lowered_begin_line(e->out, indent + 1);
    t->offset[point][e->k->row_dim] = first + r;
    pb_text_add(e->text, "affine.vector_load %s[%%q%d * %lld + %lld] : memref<%lldx%s>, vector<%lldx%s>\n", sums, row,
                (long long)(lanes * jam), (long long)(r * lanes), (long long)most, type, (long long)lanes, type);
    if (!starts_from_zero(e->group)) sum = add_start(t, point, sum, indent + 1);
    t->acc[point] = sum;
    finish_point(t, point, indent + 1);
  }
  t->offset[point][e->k->row_dim] = first;
  end_walk(e, e->k->row_dim, indent);
  e->load_count = 0;
}

// A tile's values on their way through memory to loops that finish them.
typedef struct finishing {
  pb_vtile* t;
  int dims[PB_NEST_DIMS], count;
  int64_t stride[PB_NEST_DIMS]; // of the number of a value
  int64_t offset[PB_NEST_DIMS], number;
  const char* room; // where they are
} finishing;

static int64_t epilogue_nodes(const pb_around* around) {
  int64_t nodes = 0;
  for (int n = 0; n < around->epilogue_count; ++n) nodes += around->epilogues[n].nest->expr_count;
  return nodes;
}

static const char* load_value(const finishing* f, int indent) {
  pb_vemit* e = f->t->e;
  int lanes = lanes_of(f->t);
  const char* name = pb_lowered_begin_line(e->out, indent);
  const char* type = pb_type_name(type_of_sums(f->t));
  pb_text_add(e->text, "affine.vector_load %s[", f->room);
  for (int k = 0; k < f->count; ++k)
    if (e->walk[f->dims[k]])
      pb_text_add(e->text, "%%q%d * %lld + ", e->walk[f->dims[k]] - 1, (long long)(f->stride[k] * lanes));
  pb_text_add(e->text, "%lld] : memref<%dx%s>, vector<%dx%s>\n", (long long)(f->number * lanes),
              PB_VTILE_POINTS * lanes, type, lanes, type);
  return name;
}

static void finish_dims(finishing* f, int k, int indent) {
  pb_vtile* t = f->t;
  pb_vemit* e = t->e;
  if (k == f->count) {
    e->load_count = 0;
    memcpy(t->offset[0], f->offset, sizeof t->offset[0]);
    t->acc[0] = load_value(f, indent);
    finish_point(t, 0, indent);
    return;
  }
  int d = f->dims[k];
  int64_t step = pb_vkernel_unit(e->k, d);
  if (e->size[d] > 1 && !e->short_lanes[d]) {
    walk(e, d, step, e->size[d], indent);
    finish_dims(f, k + 1, indent + 1);
    end_walk(e, d, indent);
    return;
  }
  for (int64_t n = 0; n < e->size[d]; ++n) {
    f->offset[d] = point_offset(e, d, n);
    f->number += n * f->stride[k];
    finish_dims(f, k + 1, indent);
    f->number -= n * f->stride[k];
  }
  f->offset[d] = 0;
}

// A long epilogue written out for each of a tile's points would not stay in the cache of instructions (Gelu behind a
// product took twice its time so): loops go over the points, which come from memory.
static void finish_in_loops(pb_vtile* t, int indent) {
  pb_vemit* e = t->e;
  int64_t stride = 1;
  int lanes = lanes_of(t), room = PB_VTILE_POINTS * lanes;
  const char* type = pb_type_name(type_of_sums(t));
  finishing f = {.t = t, .room = pb_lowered_room(e->out, type_of_sums(t), room)};
  f.count = point_dims(e, f.dims);
  for (int k = f.count - 1; k >= 0; --k) {
    f.stride[k] = stride;
    stride *= e->size[f.dims[k]];
  }
  for (int p = 0; p < t->points; ++p)
    pb_text_line(e->text, indent, "affine.vector_store %s, %s[%d] : memref<%dx%s>, vector<%dx%s>\n", t->acc[p], f.room,
                 p * lanes, room, type, lanes, type);
  finish_dims(&f, 0, indent);
  e->load_count = 0;
}

static void finish(pb_vtile* t, int indent) {
  t->e->load_count = 0;
  if (!t->e->k->matrix.product.insn && lanes_of(t) > 1 &&
      t->points * epilogue_nodes(&t->e->group->around) > MOST_EPILOGUE_NODES) {
    finish_in_loops(t, indent);
    return;
  }
  for (int p = 0; p < t->points; ++p)
    if (t->e->k->matrix.product.insn)
      finish_matrix(t, p, indent);
    else
      finish_point(t, p, indent);
}

bool pb_vemit_tile(pb_vemit* e, int indent) {
  if (pb_core_registers(e->k, e->size, NULL) > PB_VTILE_POINTS) return false;
  pb_vtile* t = calloc(1, sizeof *t);
  if (!t) pb_no_memory(sizeof *t);
  t->e = e;
  make_points(t);
  pb__vtile_find_borders(t);
  pb__vtile_choose_prefetch(t);
  e->load_count = 0;
  if (e->k->main->reduce == PB_SET) {
    for (int p = 0; p < t->points; ++p) t->acc[p] = evaluate(t, e->k->main, p, NULL, NULL, indent);
  } else {
    if (e->blocks.level >= 0)
      start_partial_sums(t, indent);
    else
      start_sums(t, indent);
    sum(t, 0, indent);
  }
  if (e->blocks.level >= 0 && e->blocks.ends_last) {
    const char* sums[PB_VTILE_POINTS];
    memcpy(sums, t->acc, sizeof sums);
    pb_text_line(e->text, indent, "affine.if affine_set<(d0) : (d0 - %lld == 0)>(%%o%d) {\n", (long long)e->blocks.last,
                 e->blocks.level);
    finish(t, indent + 1);
    pb_text_line(e->text, indent, "} else {\n");
    memcpy(t->acc, sums, sizeof sums);
    for (int p = 0; p < t->points; ++p) pb__vtile_store(t, partial_place(t), p, indent + 1);
    pb_text_line(e->text, indent, "}\n");
  } else {
    finish(t, indent);
  }
  free(t);
  free(e->loads);
  e->loads = NULL;
  e->load_count = e->load_capacity = 0;
  return true;
}
