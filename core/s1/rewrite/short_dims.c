// Values whose last dim is short and summed away, as the coordinates of distances between all pairs are, get it as
// their first one: neighbours lie along a long dim then, which fills lanes. For processors; needs a program whose
// unread operators are dropped. Bits stay as they are: the sums go in the same order.
//
//     d[i, j, k] = p[i, k] - q[j, k]                 t[k, j] = q[j, k]
//     s[i, j] += d[i, j, k]                   ->     d[k, i, j] = p[i, k] - t[k, j]
//                                                    s[i, j] += d[k, i, j]
//
// All or none of the values of such a shape that nests without sums make of each other, and none that anything but
// a nest touches. What is read beside them and would come by strides is turned round first, where it is small.
//
// And a matrix of short rows that each turn of a loop multiplies by a vector, as regressions do, is turned round in
// front of the loop: its rows' numbers would have to be added up lane by lane, and stand in lanes then.
#include "core/s1/control.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 2, MOST = 16, LONG = 16, SMALLER = 4 };

typedef struct turner {
  pb_s1* program;
  bool *may, *in, *done; // by value: it may be turned; it is one of those that are looked at; they were looked at
  int64_t elements;      // of the one that is summed
} turner;

static bool is_set(const pb_s1_op* op) { return op->kind == PB_S1_NEST && op->nest->reduce == PB_SET; }
static int stored(const pb_s1_op* op) { return op->nest->access_count - 1; }

// The dim that alone moves index r, element by element; -1: it is not so.
static int dim_of(const pb_access* access, int r) {
  int found = -1;
  if (r < 0 || access->index[r].cst) return -1;
  for (int c = 0; c < PB_NEST_COLS; ++c) {
    int64_t coef = access->index[r].coef[c];
    if (!coef) continue;
    if (coef != 1 || found >= 0) return -1;
    found = c;
  }
  return found;
}

static bool moves(const pb_access* access, int dim) {
  for (int r = 0; r < access->rank; ++r)
    if (access->index[r].coef[dim]) return true;
  return false;
}

static void find_turnable(turner* t) {
  pb_s1* p = t->program;
  for (size_t k = 0; k < p->value_count; ++k) {
    const pb_s1_value* v = &p->values[k];
    int last = v->rank - 1;
    t->may[k] = v->type == PB_F32 && v->rank >= 3 && !v->is_input && !v->is_output && !v->is_variable && !v->made_of &&
                v->const_id < 0 && v->alias_of < 0 && !v->filled_with && v->shape[last] >= LEAST &&
                v->shape[last] <= MOST && v->shape[last - 1] >= LONG;
  }
  for (size_t k = 0; k < p->value_count; ++k)
    if (p->values[k].alias_of >= 0) t->may[p->values[k].alias_of] = false;
  for (size_t k = 0; k < p->op_count; ++k) {
    const pb_s1_op* op = &p->ops[k];
    const int own[4] = {op->x, op->z, op->third, op->y};
    for (int a = 0; a < 4 && op->kind != PB_S1_NEST; ++a)
      if (own[a] >= 0) t->may[own[a]] = false;
    for (int a = 0; op->kind == PB_S1_NEST && a < op->nest->access_count; ++a) {
      const pb_access* access = &op->nest->access[a];
      const pb_s1_value* v = &p->values[access->buffer];
      bool plain = !access->gathered && !access->boxed && access->rank == v->rank &&
                   !memcmp(access->shape, v->shape, sizeof *v->shape * (size_t)v->rank);
      bool sums_here = a == stored(op) && op->nest->reduce != PB_SET;
      if (!plain || sums_here) t->may[access->buffer] = false;
    }
  }
}

// What a nest reads or writes beside a value that is turned, whose last dim is `short_dim` there. false: they go not
// together.
static bool take_beside(turner* t, const pb_s1_op* op, int a, int short_dim, int long_dim) {
  const pb_access* access = &op->nest->access[a];
  const pb_s1_value* v = &t->program->values[access->buffer];
  int last = access->rank - 1;
  if (t->in[access->buffer] || !moves(access, short_dim)) return true;
  bool fits = dim_of(access, last) == short_dim && !access->gathered && !access->boxed;
  if (fits && t->may[access->buffer] && dim_of(access, last - 1) == long_dim) {
    t->in[access->buffer] = true;
    return true;
  }
  if (a == stored(op)) return false;
  if (!moves(access, long_dim)) return true; // one for all lanes
  return fits && v->type == PB_F32 && access->rank == v->rank && v->alias_of < 0 &&
         SMALLER * pb_s1_element_count(v) <= t->elements;
}

// Finds all that turn with those that are there. false: something stands against it.
static bool close_over(turner* t) {
  pb_s1* p = t->program;
  for (bool more = true; more;) {
    more = false;
    for (size_t k = 0; k < p->op_count; ++k) {
      const pb_s1_op* op = &p->ops[k];
      for (int a = 0; op->kind == PB_S1_NEST && a < op->nest->access_count; ++a) {
        const pb_access* access = &op->nest->access[a];
        if (!t->in[access->buffer] || !is_set(op)) continue;
        int short_dim = dim_of(access, access->rank - 1), long_dim = dim_of(access, access->rank - 2);
        if (short_dim < 0 || long_dim < 0 || short_dim >= PB_NEST_DIMS || long_dim >= PB_NEST_DIMS) return false;
        for (int b = 0; b < op->nest->access_count; ++b) {
          bool was = t->in[op->nest->access[b].buffer];
          if (!take_beside(t, op, b, short_dim, long_dim)) return false;
          more |= !was && t->in[op->nest->access[b].buffer];
        }
      }
    }
  }
  return true;
}

// ---- turned ----

static void turn_access(pb_access* access) {
  int last = access->rank - 1;
  pb_index index = access->index[last];
  int64_t extent = access->shape[last];
  memmove(access->index + 1, access->index, sizeof index * (size_t)last);
  memmove(access->shape + 1, access->shape, sizeof extent * (size_t)last);
  access->index[0] = index;
  access->shape[0] = extent;
}

static void turn_shape(pb_s1_value* v) {
  int last = v->rank - 1;
  int64_t extent = v->shape[last];
  memmove(v->shape + 1, v->shape, sizeof extent * (size_t)last);
  v->shape[0] = extent;
}

// The operator that makes a value that is another one turned.
static pb_s1_op copy_of(pb_s1* p, const pb_s1_op* reader, int from) {
  pb_s1_value value = {.name = p->values[from].name,
                       .type = p->values[from].type,
                       .rank = p->values[from].rank,
                       .alias_of = -1,
                       .const_id = -1};
  memcpy(value.shape, p->values[from].shape, sizeof value.shape);
  turn_shape(&value);
  PB_PUSH(p->values, p->value_count, p->value_capacity, value);
  pb_nest copy;
  pb_nest_begin(&copy, reader->nest->name, "copy", 2);
  pb_access own = {.buffer = from, .type = value.type, .rank = value.rank};
  memcpy(own.shape, p->values[from].shape, sizeof *own.shape * (size_t)own.rank);
  for (int r = 0; r < value.rank; ++r) { // in the order of what is made
    int index = r ? r - 1 : value.rank - 1;
    own.index[index].coef[pb_nest_add_dim(&copy, value.shape[r])] = 1;
  }
  copy.access[0] = own;
  turn_access(&own);
  own.buffer = (int)p->value_count - 1;
  copy.access[1] = own;
  (void)pb_nest_load(&copy, 0);
  pb_s1_op op = pb_s1_new_op(reader->name, reader->type, PB_S1_NEST);
  op.x = from;
  op.y = own.buffer;
  op.nest = pb_nest_kept(&p->arena, &copy);
  return op;
}

// Those that are looked at, in every nest; in front of each the copies that it needs.
static void turn_all(turner* t, size_t values) {
  pb_s1* p = t->program;
  pb_s1_op* ops = p->ops;
  size_t count = p->op_count;
  p->ops = NULL;
  p->op_count = p->op_capacity = 0;
  for (size_t k = 0; k < count; ++k) {
    pb_s1_op op = ops[k];
    pb_nest* nest = (pb_nest*)(uintptr_t)op.nest; // the program's own
    int short_dim = -1, long_dim = -1;
    for (int a = 0; op.kind == PB_S1_NEST && a < nest->access_count; ++a) {
      pb_access* access = &nest->access[a];
      if (!t->in[access->buffer]) continue;
      short_dim = dim_of(access, access->rank - 1);
      long_dim = dim_of(access, access->rank - 2);
    }
    for (int a = 0; op.kind == PB_S1_NEST && a < nest->access_count; ++a) {
      pb_access* access = &nest->access[a];
      if (t->in[access->buffer]) {
        turn_access(access);
      } else if (is_set(&op) && short_dim >= 0 && moves(access, short_dim) && moves(access, long_dim)) {
        pb_s1_op copy = copy_of(p, &op, access->buffer);
        PB_PUSH(p->ops, p->op_count, p->op_capacity, copy);
        turn_access(access);
        if (op.x == access->buffer) op.x = copy.y;
        access->buffer = copy.y;
      }
    }
    PB_PUSH(p->ops, p->op_count, p->op_capacity, op);
  }
  for (size_t v = 0; v < values; ++v)
    if (t->in[v]) turn_shape(&p->values[v]);
  free(ops);
}

// What the nest sums away along its last dim; -1: it does not.
static int summed_away(const turner* t, const pb_s1_op* op) {
  if (op->kind != PB_S1_NEST || op->nest->reduce == PB_SET || op->nest->access_count != 2) return -1;
  const pb_access *load = &op->nest->access[0], *store = &op->nest->access[1];
  int dim = dim_of(load, load->rank - 1), along = dim_of(load, load->rank - 2);
  if (!t->may[load->buffer] || dim < 0 || along < 0 || moves(store, dim)) return -1;
  return dim_of(store, store->rank - 1) == along ? load->buffer : -1;
}

// Turns one value and those that go with it. false: there is none.
static bool turn_one(pb_s1* program) {
  size_t values = program->value_count;
  bool turned = false;
  turner t = {.program = program};
  t.may = calloc(values + 1, sizeof *t.may);
  t.in = calloc(values + 1, sizeof *t.in);
  t.done = calloc(values + 1, sizeof *t.done);
  if (!t.may || !t.in || !t.done) pb_no_memory(values);
  find_turnable(&t);
  for (size_t k = 0; k < program->op_count && !turned; ++k) {
    int seed = summed_away(&t, &program->ops[k]);
    if (seed < 0 || t.done[seed]) continue;
    memset(t.in, 0, values);
    t.in[seed] = true;
    t.elements = pb_s1_element_count(&program->values[seed]);
    turned = close_over(&t);
    for (size_t v = 0; v < values; ++v) t.done[v] |= t.in[v];
    if (turned) turn_all(&t, values);
    if (turned) pb_s1_write_short_sums(program, t.in, values);
  }
  free(t.may);
  free(t.in);
  free(t.done);
  return turned;
}

// ---- matrices of loops ----

enum { SHORT_ROW = 64, LEAST_ROW = 4, MANY_ROWS = 256 };

static bool is_whole(const pb_s1* p, const pb_access* access) {
  const pb_s1_value* v = &p->values[access->buffer];
  return !access->gathered && !access->boxed && access->rank == v->rank &&
         !memcmp(access->shape, v->shape, sizeof *v->shape * (size_t)v->rank);
}

// The access to a matrix of many short rows that the nest multiplies by a vector; -1: it does something else.
static int matrix_of(const pb_s1* p, const pb_s1_op* op) {
  const pb_nest* nest = op->nest;
  if (op->kind != PB_S1_NEST || nest->reduce != PB_ACC_ADD || nest->access_count != 3 || nest->expr_count != 3 ||
      nest->expr[2].op != PB_OP_MUL)
    return -1;
  for (int a = 0; a < 2; ++a) {
    const pb_access *matrix = &nest->access[a], *vector = &nest->access[1 - a], *store = &nest->access[2];
    const pb_s1_value* v = &p->values[matrix->buffer];
    if (matrix->rank != 2 || !is_whole(p, matrix) || v->type != PB_F32 || v->alias_of >= 0 || v->const_id >= 0)
      continue;
    int row = dim_of(matrix, 0), column = dim_of(matrix, 1);
    if (row < 0 || column < 0 || row >= PB_NEST_DIMS || column >= PB_NEST_DIMS) continue;
    bool product = moves(store, row) && !moves(store, column) && moves(vector, column) && !moves(vector, row);
    bool whole = nest->extent[row] == v->shape[0] && nest->extent[column] == v->shape[1];
    if (product && whole && v->shape[0] >= MANY_ROWS && v->shape[1] >= LEAST_ROW && v->shape[1] <= SHORT_ROW) return a;
  }
  return -1;
}

// The loop that the operator stands in, in no branch of it; -1: none.
static int64_t loop_around(const pb_s1* p, size_t k) {
  int depth = 0;
  while (k-- > 0) {
    depth -= pb_s1_opens(p->ops[k].kind);
    if (depth < 0) return p->ops[k].kind == PB_S1_LOOP ? (int64_t)k : -1;
  }
  return -1;
}

static bool is_made_within(const pb_s1* p, size_t begin, size_t end, int value) {
  for (size_t k = begin; k <= end; ++k)
    if (p->ops[k].y >= 0 && pb_s1_base(p, p->ops[k].y) == value) return true;
  return false;
}

// What an operator between those makes of the matrix by turning it round; -1: nothing does.
static int turned_before(const pb_s1* p, size_t begin, size_t end, int matrix) {
  for (size_t k = begin; k < end; ++k) {
    const pb_s1_op* op = &p->ops[k];
    if (!is_set(op) || op->nest->access_count != 2 || op->nest->expr_count != 1 || op->nest->access[0].buffer != matrix)
      continue;
    const pb_access *from = &op->nest->access[0], *to = &op->nest->access[1];
    bool turned = to->rank == 2 && is_whole(p, from) && is_whole(p, to) && dim_of(to, 0) >= 0 && dim_of(to, 1) >= 0 &&
                  dim_of(to, 0) == dim_of(from, 1) && dim_of(to, 1) == dim_of(from, 0);
    if (turned && to->shape[0] == from->shape[1] && to->shape[1] == from->shape[0]) return to->buffer;
  }
  return -1;
}

static void turn_matrices(pb_s1* p) {
  for (size_t k = 0; k < p->op_count; ++k) {
    int a = matrix_of(p, &p->ops[k]);
    int64_t loop = a >= 0 ? loop_around(p, k) : -1;
    if (loop < 0) continue;
    pb_access* access = &((pb_nest*)(uintptr_t)p->ops[k].nest)->access[a]; // the program's own
    int matrix = access->buffer;
    if (is_made_within(p, (size_t)loop, pb_s1_end_of(p, (size_t)loop), matrix)) continue;
    int turned = turned_before(p, (size_t)loop, k, matrix);
    if (turned < 0) { // in front of the product; pb_s1_hoist takes it out
      pb_s1_op copy = copy_of(p, &p->ops[k], matrix);
      turned = copy.y;
      PB_PUSH(p->ops, p->op_count, p->op_capacity, copy);
      memmove(p->ops + k + 1, p->ops + k, (p->op_count - 1 - k) * sizeof *p->ops);
      p->ops[k++] = copy;
    }
    turn_access(access);
    access->buffer = turned;
    if (p->ops[k].x == matrix) p->ops[k].x = turned;
  }
}

void pb_s1_turn_short_dims(pb_s1* program) {
  enum { ROUNDS = 64 };
  for (int k = 0; k < ROUNDS && turn_one(program); ++k) continue;
  if (!pb_s1_has_control(program)) return;
  pb_s1_drop_unchanged(program);
  turn_matrices(program);
}
