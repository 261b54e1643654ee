// Elements at places that come at run time, where no command of the chip gathers: the numbers of rows of x are computed
// as a tensor, and a look-up of whole rows is left, which is the host's copy (host_rows.c). Rows are as long as what is
// read in one piece. What y's dims add to a place whatever the data is a constant tensor, as no index is computed
// either.
#include "core/s1/control.h"

#include <stdlib.h>
#include <string.h>

// Tables of so many elements are functions, of which a chip may have commands.
enum { FUNCTION = 256 };

static int number(pb_nest* n, int64_t value) { return pb_nest_integer(n, PB_I64, value); }

static bool is_divisible(const pb_nest* n, int node, int64_t by) {
  const pb_expr_node* e = &n->expr[node];
  if (by == 1) return true;
  if (e->op == PB_OP_CONST) return e->integer % by == 0;
  if (e->op == PB_OP_ADD) return is_divisible(n, e->args[0], by) && is_divisible(n, e->args[1], by);
  return e->op == PB_OP_MUL && n->expr[e->args[1]].op == PB_OP_CONST && is_divisible(n, e->args[1], by);
}

static int divided(pb_nest* n, int node, int64_t by) {
  const pb_expr_node e = n->expr[node];
  if (by == 1) return node;
  if (e.op == PB_OP_CONST) return number(n, e.integer / by);
  if (e.op == PB_OP_MUL) {
    int64_t left = n->expr[e.args[1]].integer / by;
    return left == 1 ? e.args[0] : pb_nest_node(n, PB_OP_MUL, PB_I64, e.args[0], number(n, left));
  }
  int a = divided(n, e.args[0], by), b = divided(n, e.args[1], by);
  return pb_nest_node(n, PB_OP_ADD, PB_I64, a, b);
}

// The last node and first + sum step[r] * i[r] more, over the loops `dims` of the result, which begins as z does.
static void add_steps(pb_maker* m, int z, const int* dims, int64_t first, const int64_t* step) {
  const pb_s1_value shape = *pb_made(m, z);
  int64_t count = pb_made_elements(m, z), at[PB_GRAPH_RANK] = {0};
  int last = m->nest.expr_count - 1;
  bool moves = false;
  for (int r = 0; r < shape.rank; ++r) moves |= step[r] && shape.shape[r] > 1;
  if (!moves && !first) return;
  if (!moves) {
    int all = number(&m->nest, first);
    (void)pb_nest_node(&m->nest, PB_OP_ADD, PB_I64, last, all);
    return;
  }
  int64_t* numbers = pb_alloc_array(&m->consts->arena, (size_t)count, sizeof *numbers);
  for (int64_t k = 0; k < count; ++k) {
    numbers[k] = first;
    for (int r = 0; r < shape.rank; ++r) numbers[k] += at[r] * step[r];
    for (int r = shape.rank - 1; r >= 0 && ++at[r] == shape.shape[r]; --r) at[r] = 0;
  }
  int access = pb_make_access(m, pb_make_constant(m, PB_I64, shape.rank, shape.shape, numbers));
  pb_make_along(m, access, dims);
  int more = pb_nest_load(&m->nest, access);
  (void)pb_nest_node(&m->nest, PB_OP_ADD, PB_I64, last, more);
}

// y as rows of x, of `inner` elements, at the numbers z, whose dims are y's first ones.
static void make_rows(pb_maker* m, int x, int z, int y, int64_t inner) {
  pb_s1_value rows = *pb_made(m, z);
  int64_t table[2] = {pb_made_elements(m, x) / inner, inner};
  int from = pb_make_value(m, pb_made(m, x)->type, 2, table);
  m->program->values[from].alias_of = pb_s1_base(m->program, x);
  rows.shape[rows.rank] = inner;
  int taken = pb_make_value(m, pb_made(m, x)->type, rows.rank + 1, rows.shape);
  pb_make_op(m, PB_S1_GATHER, from, taken)->z = z;
  pb_make_copy(m, taken, y);
}

// ---- nests ----

typedef struct look_up {
  const pb_nest* nest;
  const pb_access* from;
  int place, y;           // the node of the place
  int dims[PB_NEST_RANK]; // by y's dim
} look_up;

static bool walks_y(const pb_maker* m, look_up* l) {
  const pb_access* to = &l->nest->access[l->nest->access_count - 1];
  const pb_s1_value* y = pb_made(m, l->y = to->buffer);
  int walked = 0;
  for (int r = 0; r < y->rank; ++r) {
    l->dims[r] = -1;
    for (int d = 0; d < l->nest->dim_count; ++d) {
      if (!to->index[r].coef[d]) continue;
      if (l->dims[r] >= 0 || to->index[r].coef[d] != 1) return false;
      l->dims[r] = d;
      ++walked;
    }
    if (to->index[r].cst || (l->dims[r] < 0 ? 1 : l->nest->extent[l->dims[r]]) != y->shape[r]) return false;
  }
  return walked == l->nest->dim_count && !to->gathered && y->rank < PB_GRAPH_RANK;
}

static bool is_look_up(const pb_maker* m, const pb_s1_op* op, look_up* l) {
  const pb_nest* n = l->nest = op->nest;
  if (op->kind != PB_S1_NEST || n->reduce != PB_SET || n->expr[n->expr_count - 1].op != PB_OP_LOAD) return false;
  const pb_expr_node* load = &n->expr[n->expr_count - 1];
  l->from = &n->access[load->operand];
  if (l->from->gathered != 1 || l->from->rank != 1 || l->from->boxed) return false;
  const pb_expr_node* place = &n->expr[load->args[0]];
  l->place = place->args[0];
  bool constant = m->program->values[pb_s1_base(m->program, l->from->buffer)].const_id >= 0;
  for (int k = 0; k < n->expr_count - 1; ++k)
    if (n->expr[k].op == PB_OP_INDEX || (n->expr[k].op == PB_OP_LOAD && n->access[n->expr[k].operand].gathered))
      return false;
  return place->op == PB_OP_SEXT && n->expr[l->place].type == PB_I64 && walks_y(m, l) &&
         !(constant && l->from->shape[0] <= FUNCTION);
}

static bool is_of_data(const look_up* l, int dim) {
  for (int a = 0; a < l->nest->access_count - 1; ++a)
    if (&l->nest->access[a] != l->from && pb_access_uses(&l->nest->access[a], dim)) return true;
  return false;
}

// What is read in one piece, and the first of y's dims that walk it.
static int64_t piece_of(const pb_maker* m, const look_up* l, int* first) {
  const pb_index* at = &l->from->index[0];
  int64_t inner = 1;
  for (*first = pb_made(m, l->y)->rank; *first > 0; --*first) {
    int dim = l->dims[*first - 1];
    if (dim < 0) continue;
    int64_t more = inner * l->nest->extent[dim];
    bool whole = at->coef[dim] == inner && !is_of_data(l, dim) && l->from->shape[0] % more == 0 &&
                 at->cst % more == 0 && is_divisible(l->nest, l->place, more);
    for (int r = 0; r < *first - 1; ++r) whole &= l->dims[r] < 0 || at->coef[l->dims[r]] % more == 0;
    if (!whole) break;
    inner = more;
  }
  return inner;
}

// The place's nodes and what they load, over z's loops.
static int copy_place(pb_maker* m, const look_up* l, int rank, const int* dims) {
  int access[PB_NEST_ACCESSES], node[PB_NEST_EXPR];
  for (int a = 0; a < l->nest->access_count - 1; ++a) {
    const pb_access* from = &l->nest->access[a];
    if (from == l->from) continue;
    access[a] = pb_make_access(m, from->buffer);
    for (int i = 0; i < from->rank; ++i) {
      m->nest.access[access[a]].index[i].cst = from->index[i].cst;
      for (int r = 0; r < rank; ++r)
        if (l->dims[r] >= 0) pb_make_move(m, access[a], i, dims[r], from->index[i].coef[l->dims[r]]);
    }
  }
  for (int k = 0; k <= l->place; ++k) {
    pb_expr_node e = l->nest->expr[k];
    if (e.op == PB_OP_LOAD) e.operand = access[e.operand];
    node[k] = pb_nest_node_from(&m->nest, e, node);
  }
  return node[l->place];
}

static void take_nest(pb_maker* m, const look_up* l) {
  const pb_s1_value y = *pb_made(m, l->y);
  int rank, dims[PB_NEST_RANK];
  int64_t inner = piece_of(m, l, &rank), step[PB_GRAPH_RANK] = {0};
  int z = pb_make_value(m, PB_I64, rank, y.shape);
  for (int r = 0; r < rank; ++r)
    if (l->dims[r] >= 0) step[r] = l->from->index[0].coef[l->dims[r]] / inner;
  (void)pb_make_walk(m, "point", z, dims);
  int place = copy_place(m, l, rank, dims);
  pb_nest_end(&m->nest, divided(&m->nest, place, inner));
  add_steps(m, z, dims, l->from->index[0].cst / inner, step);
  pb_make_end(m, z, dims);
  make_rows(m, l->from->buffer, z, l->y, inner);
}

// ---- look-ups along an axis ----

static bool takes_elements(const pb_maker* m, const pb_s1_op* op) {
  if (op->kind != PB_S1_GATHER) return false;
  const pb_s1_value *x = pb_made(m, op->x), *z = pb_made(m, op->z), *y = pb_made(m, op->y);
  bool rows = !op->pointwise;
  for (int r = 0; r < op->axis; ++r) rows &= x->shape[r] == 1;
  return !rows && (z->type == PB_I32 || z->type == PB_I64) && y->rank < PB_GRAPH_RANK;
}

static void take_elements(pb_maker* m, const pb_s1_op* op) {
  const pb_s1_value x = *pb_made(m, op->x), z = *pb_made(m, op->z), y = *pb_made(m, op->y);
  int rank = op->pointwise ? y.rank : op->axis + z.rank, dims[PB_NEST_RANK];
  int64_t inner = 1, stride = 1, step[PB_GRAPH_RANK] = {0}, extent = x.shape[op->axis];
  for (int r = x.rank - 1; r >= 0; --r) {
    if (r == op->axis) inner = stride;
    if (r < op->axis || (op->pointwise && r != op->axis)) step[r] = stride;
    stride *= x.shape[r];
  }
  int64_t by = op->pointwise ? inner : 1;
  if (op->pointwise) inner = 1;
  for (int r = 0; r < op->axis; ++r) step[r] /= inner;
  int at = pb_make_value(m, PB_I64, rank, y.shape);
  pb_nest* n = pb_make_walk(m, "point", at, dims);
  int access = pb_make_access(m, op->z);
  for (int r = 0; r < z.rank; ++r) pb_make_move(m, access, r, dims[op->pointwise ? r : op->axis + r], 1);
  int k = pb_nest_load(n, access);
  if (z.type == PB_I32) k = pb_nest_node(n, PB_OP_SEXT, PB_I64, k, -1);
  int least = number(n, -extent), most = number(n, extent - 1), zero = number(n, 0), end = number(n, extent);
  k = pb_nest_node(n, PB_OP_MIN, PB_I64, pb_nest_node(n, PB_OP_MAX, PB_I64, k, least), most);
  int below = pb_nest_node(n, PB_OP_LESS, PB_I1, k, zero), more = pb_nest_node(n, PB_OP_ADD, PB_I64, k, end);
  int chosen = pb_nest_node(n, PB_OP_SELECT, PB_I64, below, more);
  n->expr[chosen].args[2] = k;
  k = chosen;
  if (by != 1) {
    int times = number(n, by);
    (void)pb_nest_node(n, PB_OP_MUL, PB_I64, k, times);
  }
  add_steps(m, at, dims, 0, step);
  pb_make_end(m, at, dims);
  make_rows(m, op->x, at, op->y, inner);
}

void pb_s1_places_by_host(pb_s1* program, pb_consts* consts) {
  pb_s1_op* ops = program->ops;
  size_t count = program->op_count;
  pb_maker* m = calloc(1, sizeof *m);
  if (!m) pb_no_memory(sizeof *m);
  *m = (pb_maker){.program = program, .consts = consts};
  program->ops = NULL;
  program->op_count = program->op_capacity = 0;
  for (size_t k = 0; k < count; ++k) {
    look_up l;
    m->name = ops[k].name;
    m->type = ops[k].type;
    if (is_look_up(m, &ops[k], &l))
      take_nest(m, &l);
    else if (takes_elements(m, &ops[k]))
      take_elements(m, &ops[k]);
    else
      PB_PUSH(program->ops, program->op_count, program->op_capacity, ops[k]);
  }
  free(ops);
  free(m);
}
