// Structured operators: loops, a map from loops to places for each operand, and a body. Which of them it is by name
// says nothing more than these do.
#include "core/frontend/linalg/rows.h"

#include <math.h>
#include <string.h>

// A map as the flat form has it: a row of steps by loop for each index, and where it starts behind them.
typedef struct map {
  int indices;
  const int64_t* rows;
} map;

typedef struct nest {
  const pb_flat_op* op;
  int loop_count, ins; // operands: so many are read alone, the others are what the results begin as
  map maps[PB_FLAT_RANK];
  int64_t extent[PB_FLAT_LOOPS];
} nest;

static const int64_t* row_of(const nest* t, int operand, int index) {
  return t->maps[operand].rows + (size_t)index * (size_t)(t->loop_count + 1);
}

static int64_t step(const nest* t, int operand, int index, int loop) { return row_of(t, operand, index)[loop]; }
static int64_t start(const nest* t, int operand, int index) { return row_of(t, operand, index)[t->loop_count]; }

static pb_status read_maps(pb_door* d, const pb_flat_op* op, nest* t) {
  const pb_flat_attr* a = pb_flat_find(op, "indexing_maps");
  if (!a->ints || a->kind != PB_FLAT_INTS)
    return pb__door_refuse(d, op, "indexing maps that are not sums of loops times numbers");
  int at = 0, count = 0;
  for (; at + 2 <= a->count; ++count) {
    int64_t loops = a->ints[at], indices = a->ints[at + 1];
    if (count == op->operand_count || loops < 0 || loops > PB_FLAT_LOOPS || indices < 0 || indices > PB_FLAT_RANK ||
        (count && loops != t->loop_count) || indices * (loops + 1) > a->count - at - 2)
      return pb__door_refuse(d, op, "indexing maps that do not fit");
    t->loop_count = (int)loops;
    t->maps[count] = (map){(int)indices, a->ints + at + 2};
    at += 2 + (int)(indices * (loops + 1));
  }
  return count == op->operand_count && at == a->count ? PB_OK : pb__door_refuse(d, op, "a map for each operand");
}

// The one loop that the index is, -1: it is none alone.
static int single(const nest* t, int operand, int index) {
  int loop = -1;
  for (int k = 0; k < t->loop_count; ++k) {
    if (!step(t, operand, index, k)) continue;
    if (loop >= 0 || step(t, operand, index, k) != 1) return -1;
    loop = k;
  }
  return start(t, operand, index) ? -1 : loop;
}

static pb_status find_extents(pb_door* d, const pb_flat_op* op, nest* t) {
  for (int k = 0; k < op->operand_count; ++k) {
    const pb_flat_type* type = pb__door_type(d, op->operands[k]);
    if (t->maps[k].indices != type->rank) return pb__door_refuse(d, op, "a map of another rank than its operand");
    for (int r = 0; r < type->rank; ++r) {
      int loop = single(t, k, r);
      if (loop < 0) continue;
      if (t->extent[loop] && t->extent[loop] != type->shape[r])
        return pb__door_refuse(d, op, "a loop of %lld turns and of %lld", (long long)t->extent[loop],
                               (long long)type->shape[r]);
      t->extent[loop] = type->shape[r];
    }
  }
  for (int k = 0; k < t->loop_count; ++k)
    if (!t->extent[k]) return pb__door_refuse(d, op, "no operand says how often loop %d turns", k);
  return PB_OK;
}

// In doubles: what comes from outside may be any number.
static pb_status check_places(pb_door* d, const pb_flat_op* op, const nest* t) {
  for (int k = 0; k < op->operand_count; ++k)
    for (int r = 0; r < t->maps[k].indices; ++r) {
      double least = (double)start(t, k, r), most = least;
      for (int l = 0; l < t->loop_count; ++l) {
        double far = (double)step(t, k, r, l) * (double)(t->extent[l] - 1);
        *(far < 0 ? &least : &most) += far;
      }
      if (!(least >= 0) || !(most < (double)pb__door_type(d, op->operands[k])->shape[r]))
        return pb__door_refuse(d, op, "places outside of operand %d", k);
    }
  return PB_OK;
}

// Results are written at loops alone, each once.
static pb_status check_results(pb_door* d, const pb_flat_op* op, const nest* t) {
  for (int k = t->ins; k < op->operand_count; ++k) {
    const pb_flat_type *to = pb__door_type(d, op->operands[k]), *y = pb__door_type(d, op->results[k - t->ins]);
    bool seen[PB_FLAT_LOOPS] = {false};
    if (to->is_element || y->is_element || to->type != y->type || to->rank != y->rank ||
        memcmp(to->shape, y->shape, sizeof(int64_t) * (size_t)y->rank) != 0)
      return pb__door_refuse(d, op, "a result of another type than what it begins as");
    for (int r = 0; r < to->rank; ++r) {
      int loop = single(t, k, r);
      bool fits = loop < 0 ? to->shape[r] == 1 : !seen[loop];
      if (!fits) return pb__door_refuse(d, op, "a result that is written at sums of loops");
      if (loop >= 0) seen[loop] = true;
    }
  }
  return PB_OK;
}

static pb_status read_nest(pb_door* d, const pb_flat_op* op, nest* t) {
  *t = (nest){.op = op, .ins = op->operand_count - op->result_count};
  if (op->result_count < 1 || t->ins < 0 || op->operand_count > PB_FLAT_RANK)
    return pb__door_refuse(d, op, "a result for each tensor that it writes: memrefs are not read");
  if (op->region_count != 1 || !op->regions[0].op_count) return pb__door_refuse(d, op, "its body is missing");
  const pb_flat_block* body = &op->regions[0];
  const pb_flat_op* end = &body->ops[body->op_count - 1];
  if (strcmp(end->name, "linalg.yield") || end->operand_count != op->result_count)
    return pb__door_refuse(d, op, "a body that does not yield as many values as it has results");
  if (body->argument_count != op->operand_count && body->argument_count != t->ins)
    return pb__door_refuse(d, op, "a body of %d arguments", body->argument_count);
  for (int k = 0; k < body->argument_count; ++k) {
    const pb_flat_type* type = pb__door_type(d, body->arguments[k]);
    if (!type->is_element || type->type != pb__door_type(d, op->operands[k])->type)
      return pb__door_refuse(d, op, "a body over %s", type->text);
  }
  PB_TRY(read_maps(d, op, t));
  PB_TRY(find_extents(d, op, t));
  PB_TRY(check_places(d, op, t));
  return check_results(d, op, t);
}

// ---- one result ----

typedef struct made {
  const nest* t;
  pb_l_body body;
  int k, y, loops[PB_FLAT_LOOPS];
  bool reduces; // by the result's loops
  const int* uses;
} made;

static int result_operand(const made* m) { return m->t->ins + m->k; }

// The argument that what is there already comes as, -1: it does not.
static int own_argument(const made* m) {
  const pb_flat_block* block = m->body.block;
  return result_operand(m) < block->argument_count ? block->arguments[result_operand(m)] : -1;
}

// Whether some loop of several turns does not move what the nest writes.
static bool reduces(const nest* t, int operand) {
  for (int l = 0; l < t->loop_count; ++l) {
    bool moves = t->extent[l] == 1;
    for (int r = 0; r < t->maps[operand].indices; ++r) moves |= single(t, operand, r) == l;
    if (!moves) return true;
  }
  return false;
}

// The result's loops come first, in its order, as everywhere: what is summed over is inside.
static pb_status make_loops(pb_door* d, made* m) {
  const nest* t = m->t;
  const pb_s1_value* y = pb_made(&d->m, m->y);
  bool seen[PB_FLAT_LOOPS] = {false};
  int loops = 0;
  m->reduces = reduces(t, result_operand(m));
  for (int l = 0; l < t->loop_count; ++l) loops += t->extent[l] > 1;
  if (loops >= PB_NEST_DIMS) return pb__door_refuse(d, t->op, "more than %d loops of several turns", PB_NEST_DIMS - 1);
  pb_nest* n = m->body.n = pb_make_start(&d->m, m->reduces ? "reduce" : "point");
  for (int r = 0; r < y->rank; ++r) {
    int l = single(t, result_operand(m), r);
    if (l < 0) continue;
    seen[l] = true;
    m->loops[l] = pb_make_loop(&d->m, t->extent[l]);
    if (!m->reduces && r == 1 && y->rank > 2 && t->extent[l] == 1) { // channels keep theirs
      n->extent[n->dim_count] = 1;
      m->loops[l] = n->dim_count++;
    }
  }
  for (int l = 0; l < t->loop_count; ++l)
    if (!seen[l]) m->loops[l] = pb_make_loop(&d->m, t->extent[l]);
  m->body.loops = m->loops;
  m->body.loop_count = t->loop_count;
  return PB_OK;
}

static void move(pb_door* d, const made* m, int access, int operand) {
  for (int r = 0; r < m->t->maps[operand].indices; ++r) {
    for (int l = 0; l < m->t->loop_count; ++l)
      if (step(m->t, operand, r, l)) pb_make_move(&d->m, access, r, m->loops[l], step(m->t, operand, r, l));
    d->m.nest.access[access].index[r].cst += start(m->t, operand, r);
  }
}

static bool same_place(const made* m, int a, int b) {
  const nest* t = m->t;
  size_t count = (size_t)t->maps[a].indices * (size_t)(t->loop_count + 1);
  return t->op->operands[a] == t->op->operands[b] && t->maps[a].indices == t->maps[b].indices &&
         !memcmp(t->maps[a].rows, t->maps[b].rows, count * sizeof(int64_t));
}

// The nodes of what the body reads.
static pb_status load_operands(pb_door* d, made* m) {
  const pb_flat_block* block = m->body.block;
  for (int a = 0; a < block->argument_count; ++a) {
    bool own = a >= m->t->ins && m->reduces;
    int access, value;
    if (!m->uses[block->arguments[a]] || own) continue;
    for (int b = 0; b < a; ++b)
      if (same_place(m, a, b) && d->node[block->arguments[b]] >= 0)
        d->node[block->arguments[a]] = d->node[block->arguments[b]];
    if (d->node[block->arguments[a]] >= 0) continue;
    if (d->m.nest.access_count + 3 > PB_NEST_ACCESSES)
      return pb__door_refuse(d, m->t->op, "a body that reads more than %d tensors", PB_NEST_ACCESSES - 2);
    PB_TRY(pb__l_in(d, m->t->op, a, &value));
    int filled = d->filled[m->t->op->operands[a]];
    d->node[block->arguments[a]] = pb__door_load(d, filled >= 0 ? filled : value, &access);
    if (access >= 0 && filled < 0) move(d, m, access, a);
  }
  return PB_OK;
}

// What the result begins as, where its loops add to it.
static pb_status begin(pb_door* d, const made* m) {
  int operand = result_operand(m), filled = d->filled[m->t->op->operands[operand]], value;
  if (filled >= 0) {
    pb__door_fill(d, m->y, filled);
    return PB_OK;
  }
  PB_TRY(pb__l_in(d, m->t->op, operand, &value));
  pb_make_copy(&d->m, value, m->y);
  return PB_OK;
}

// Sums and maxima that the planner knows by themselves: the last operation adds one thing to what is there. *combines:
// which operation that is, -1: the body makes all of it.
static pb_reduce known_reduction(pb_door* d, const made* m, int* combines, int* added) {
  const pb_flat_block* block = m->body.block;
  int result = block->ops[block->op_count - 1].operands[m->k], own = own_argument(m);
  pb_type type = pb_made(&d->m, m->y)->type;
  *combines = -1;
  if (type == PB_I1 || pb_type_is_narrow(type) || m->uses[own] != 1 || m->uses[result] != 1) return PB_ACC_BODY;
  for (int o = 0; o + 1 < block->op_count; ++o) {
    const pb_flat_op* op = &block->ops[o];
    if (op->result_count != 1 || op->results[0] != result || op->operand_count != 2) continue;
    bool sum = !strcmp(op->name, pb_type_is_float(type) ? "arith.addf" : "arith.addi");
    bool most = !strcmp(op->name, pb_type_is_float(type) ? "arith.maxnumf" : "arith.maxsi");
    bool maximum = !strcmp(op->name, "arith.maximumf");
    int at = op->operands[0] == own ? 1 : op->operands[1] == own ? 0 : -1;
    if (at < 0 || (!sum && !most && !maximum) || op->operands[at] == own) continue;
    *combines = o;
    *added = op->operands[at];
    return sum ? PB_ACC_ADD : most ? PB_ACC_MAX : PB_ACC_MAXIMUM;
  }
  return PB_ACC_BODY;
}

static void forget_nodes(pb_door* d, const pb_flat_block* block) {
  for (int a = 0; a < block->argument_count; ++a) d->node[block->arguments[a]] = -1;
  for (int o = 0; o < block->op_count; ++o) {
    for (int v = 0; v < block->ops[o].operand_count; ++v) d->node[block->ops[o].operands[v]] = -1;
    for (int v = 0; v < block->ops[o].result_count; ++v) d->node[block->ops[o].results[v]] = -1;
  }
}

static pb_status finish(pb_door* d, made* m, int node) {
  pb_type type = pb_made(&d->m, m->y)->type;
  if (d->m.nest.expr[node].type != pb_scalar_worked(type))
    return pb__door_refuse(d, m->t->op, "a body that yields another type");
  pb__door_last(d, node, type);
  move(d, m, pb_make_access(&d->m, m->y), result_operand(m));
  pb_make_finish(&d->m);
  return PB_OK;
}

static pb_status make_result(pb_door* d, made* m) {
  const pb_flat_op* end = &m->body.block->ops[m->body.block->op_count - 1];
  int own = own_argument(m), combines = -1, added = -1, node;
  m->y = pb__l_result(d, m->t->op, m->k);
  PB_TRY(pb__l_flatten(&m->body));
  PB_TRY(make_loops(d, m));
  if (m->reduces) {
    if (own < 0 || !m->uses[own]) return pb__door_refuse(d, m->t->op, "a result that its loops write several times");
    PB_TRY(begin(d, m));
    PB_TRY(make_loops(d, m)); // the nest anew
    d->m.nest.reduce = known_reduction(d, m, &combines, &added);
  }
  PB_TRY(load_operands(d, m));
  if (m->reduces && combines < 0) {
    int access = pb_make_access(&d->m, m->y);
    move(d, m, access, result_operand(m));
    d->node[own] = pb_scalar_load(&d->m.nest, access, pb_made(&d->m, m->y)->type);
  }
  PB_TRY(pb__l_body(&m->body, combines));
  PB_TRY(pb__l_node(&m->body, end, combines < 0 ? end->operands[m->k] : added, &node));
  return finish(d, m, node);
}

// ---- two results that hang on each other: a maximum and its place ----

// Both of what they begin as, as one number.
static pb_status begin_pair(pb_door* d, const nest* t, const pb_door_state* s) {
  int dims[PB_NEST_RANK], worked[2], value, access;
  pb_nest* n = pb_make_walk(&d->m, "init", s->value, dims);
  for (int k = 0; k < 2; ++k) {
    int filled = d->filled[t->op->operands[t->ins + k]];
    PB_TRY(pb__l_in(d, t->op, t->ins + k, &value));
    worked[k] = pb__door_load(d, filled >= 0 ? filled : value, &access);
    if (access >= 0 && filled < 0) pb_make_along(&d->m, access, dims);
  }
  (void)pb__door_packed(n, s, worked);
  pb_make_end(&d->m, s->value, dims);
  return PB_OK;
}

static pb_status make_pair(pb_door* d, const nest* t) {
  const pb_flat_op* op = t->op;
  const pb_flat_type *a = pb__door_type(d, op->results[0]), *b = pb__door_type(d, op->results[1]);
  made m = {.t = t, .body = {.d = d, .owner = op, .block = &op->regions[0]}};
  const pb_flat_op* end = &m.body.block->ops[m.body.block->op_count - 1];
  int results[2];
  size_t map = (size_t)t->maps[t->ins].indices * (size_t)(t->loop_count + 1) * sizeof(int64_t);
  if (op->result_count != 2 || a->rank != b->rank || memcmp(a->shape, b->shape, sizeof(int64_t) * (size_t)a->rank) ||
      memcmp(t->maps[t->ins].rows, t->maps[t->ins + 1].rows, map))
    return pb__door_refuse(d, op, "more than two results that hang on each other, or of different shapes");
  const pb_type types[2] = {a->type, b->type};
  pb_door_state s = pb__door_new_state(d, types, 2, a->rank, a->shape);
  m.y = s.value;
  forget_nodes(d, m.body.block);
  m.uses = pb__l_mark(&m.body, -1);
  PB_TRY(pb__l_flatten(&m.body));
  PB_TRY(begin_pair(d, t, &s));
  PB_TRY(make_loops(d, &m));
  m.reduces = true; // what both hold comes from the state
  pb_nest* n = m.body.n;
  PB_TRY(load_operands(d, &m));
  int access = pb_make_access(&d->m, s.value);
  move(d, &m, access, t->ins);
  int old = pb_nest_load(n, access);
  for (int k = 0; k < 2; ++k) d->node[m.body.block->arguments[t->ins + k]] = pb__door_unpacked(n, &s, old, k);
  PB_TRY(pb__l_body(&m.body, -1));
  for (int k = 0; k < 2; ++k) {
    PB_TRY(pb__l_node(&m.body, end, end->operands[k], &results[k]));
    if (n->expr[results[k]].type != pb_scalar_worked(types[k]))
      return pb__door_refuse(d, op, "a body that yields another type");
  }
  (void)pb__door_packed(n, &s, results);
  n->reduce = PB_ACC_BODY;
  move(d, &m, pb_make_access(&d->m, s.value), t->ins);
  pb_make_finish(&d->m);
  pb__door_take_results(d, op, &s);
  return PB_OK;
}

// ---- constants in other places ----

// A constant that is moved is one: y's elements are x's, by the two maps.
static bool fold_movement(pb_door* d, const nest* t) {
  const pb_flat_block* block = &t->op->regions[0];
  const pb_flat_op* end = &block->ops[block->op_count - 1];
  if (t->op->result_count != 1 || t->ins != 1 || end->operands[0] != block->arguments[0]) return false;
  int x = d->value[t->op->operands[0]];
  const pb_flat_type* type = pb__door_type(d, t->op->results[0]);
  if (x < 0 || !pb__l_is_constant(d, x) || pb_made_splat(&d->m, x) || type->rank < 1) return false;
  const pb_s1_value in = *pb_made(&d->m, x);
  int64_t elements = 1, stride[PB_FLAT_RANK], along[PB_FLAT_RANK] = {0}, from = 0, at[PB_FLAT_RANK] = {0};
  for (int r = 0; r < type->rank; ++r) elements *= type->shape[r];
  if (elements > pb_made_elements(&d->m, x)) return false;
  for (int r = in.rank - 1; r >= 0; --r) stride[r] = r + 1 < in.rank ? stride[r + 1] * in.shape[r + 1] : 1;
  for (int r = 0; r < in.rank; ++r) from += start(t, 0, r) * stride[r];
  for (int q = 0; q < type->rank; ++q)
    for (int r = 0, l = single(t, 1, q); r < in.rank && l >= 0; ++r) along[q] += step(t, 0, r, l) * stride[r];
  size_t size = (size_t)pb_type_bits(pb_type_stored(in.type)) / 8;
  const char* data = d->m.consts->items[in.const_id]->data;
  char* moved = pb_alloc_array(&d->m.consts->arena, (size_t)elements, size);
  for (int64_t k = 0; k < elements; ++k) {
    memcpy(moved + (size_t)k * size, data + (size_t)from * size, size);
    for (int q = type->rank - 1; q >= 0; --q) {
      from += along[q];
      if (++at[q] < type->shape[q]) break;
      from -= along[q] * type->shape[q];
      at[q] = 0;
    }
  }
  d->value[t->op->results[0]] = pb_make_constant(&d->m, in.type, type->rank, type->shape, moved);
  return true;
}

pb_status pb__l_op_structured(pb_door* d, const pb_flat_op* op) {
  nest t;
  PB_TRY(read_nest(d, op, &t));
  if (fold_movement(d, &t)) return PB_OK;
  for (int k = 0; k < op->result_count; ++k) {
    made m = {.t = &t, .k = k, .body = {.d = d, .owner = op, .block = &op->regions[0]}};
    if (op->result_count > 1 && !d->uses[op->results[k]]) continue;
    forget_nodes(d, m.body.block);
    m.uses = pb__l_mark(&m.body, k);
    bool others = false; // it hangs on what the other results hold, which changes by turns
    for (int j = t.ins; j < m.body.block->argument_count; ++j)
      others |= j != t.ins + k && m.uses[m.body.block->arguments[j]] && reduces(&t, j);
    if (others) return make_pair(d, &t);
    PB_TRY(make_result(d, &m));
  }
  return PB_OK;
}

// A body over the places of its result: its arguments are the turns of the loops.
pb_status pb__l_op_generate(pb_door* d, const pb_flat_op* op) {
  if (op->region_count != 1 || !op->regions[0].op_count) return pb__door_refuse(d, op, "its body is missing");
  const pb_flat_block* block = &op->regions[0];
  const pb_flat_op* end = &block->ops[block->op_count - 1];
  int dims[PB_NEST_RANK], node, y = pb__l_result(d, op, 0), rank = pb_made(&d->m, y)->rank;
  if (strcmp(end->name, "tensor.yield") || end->operand_count != 1 || block->argument_count != rank)
    return pb__door_refuse(d, op, "a body that does not yield one element of each place");
  pb_l_body body = {.d = d, .owner = op, .block = block, .loops = dims, .loop_count = rank};
  forget_nodes(d, block);
  (void)pb__l_mark(&body, -1);
  PB_TRY(pb__l_flatten(&body));
  body.n = pb_make_walk(&d->m, "point", y, dims);
  for (int r = 0; r < rank; ++r) d->node[block->arguments[r]] = pb__door_turn(body.n, dims[r]);
  PB_TRY(pb__l_body(&body, -1));
  PB_TRY(pb__l_node(&body, end, end->operands[0], &node));
  if (body.n->expr[node].type != pb_scalar_worked(pb_made(&d->m, y)->type))
    return pb__door_refuse(d, op, "a body that yields another type");
  pb__door_store(d, node, y, dims);
  return PB_OK;
}

pb_status pb__l_op_fill(pb_door* d, const pb_flat_op* op) {
  int with = d->value[op->operands[0]];
  if (op->result_count != 1 || pb_made(&d->m, with)->rank ||
      pb_made(&d->m, with)->type != pb__l_type(d, op->results[0]))
    return pb__door_refuse(d, op, "not one number of the result's type");
  pb__door_fill(d, pb__l_result(d, op, 0), with);
  d->filled[op->results[0]] = with;
  return PB_OK;
}

pb_status pb__l_op_inside(pb_door* d, const pb_flat_op* op) { return pb__door_refuse(d, op, "outside of a body"); }
