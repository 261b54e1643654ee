// Values with a short dim that operators take apart or put together, as the coordinates of points, the state of many
// small systems side by side or the colours of a picture are, become planes: a value for each place along it. Lanes
// then lie along a long dim, and what reads one coordinate reads neighbours. For processors; needs a program whose
// unread operators are dropped. Bits stay as they are, but where a sum goes over more than the short dim.
//
//     a[i] = v[i, 1] - v[i, 0]                 a[i] = v1[i] - v0[i]
//     w[i, k] = v[i, k] * 2             ->     w0[i] = v0[i] * 2; w1[i] = v1[i] * 2
//     s[i] += w[i, k]                          s[i] = (0 + w0[i]) + w1[i]
//
// All values that nests walk by the same loop go together, or none. What else such a nest reads or writes (inputs,
// outputs, constants) stays as it is and is read or written place by place.
#include "core/s1/control.h"

#include <stdlib.h>
#include <string.h>

enum {
  LEAST = 2,
  MOST = 4,
  LONG = 32,
  MOST_COPIES = 16,
  MOST_NODES = PB_NEST_EXPR / 2,
  GROWTH = 6,
  SHORT_SUM = 16,
  SMALLER = 8
};

typedef struct splitter {
  pb_s1* program;
  size_t values;     // that there were when it began
  bool *may, *tried; // by value
  int *dim, *planes; // by value: 1 + the dim along which it is taken apart, 0: it stays; its first plane
  int* copies;       // by value and place: what of a value that stays is copied in front of all, 0: nothing is
  bool* drops;       // by operator: begins a sum that is written out
  bool along, away;  // values of pairs are summed along a long dim, a sum for each plane; and over the short dim
  pb_s1_op* front;   // made in front of all
  size_t front_count, front_capacity;
} splitter;

// ---- what may be taken apart ----

static bool is_whole(const pb_s1* p, const pb_access* access) {
  const pb_s1_value* v = &p->values[access->buffer];
  return access->rank == v->rank && !memcmp(access->shape, v->shape, sizeof *v->shape * (size_t)v->rank);
}

static void find_candidates(splitter* s) {
  pb_s1* p = s->program;
  for (size_t k = 0; k < s->values; ++k) {
    const pb_s1_value* v = &p->values[k];
    s->may[k] = v->rank >= 2 && !v->is_input && !v->is_output && !v->is_updated && !v->is_extents && !v->made_of &&
                v->const_id < 0 && v->alias_of < 0 && !v->filled_with;
  }
  for (size_t k = 0; k < s->values; ++k)
    if (p->values[k].alias_of >= 0) s->may[p->values[k].alias_of] = false;
  for (size_t k = 0; k < p->op_count; ++k) {
    const pb_s1_op* op = &p->ops[k];
    const int own[4] = {op->x, op->z, op->third, op->y};
    for (int a = 0; a < 4 && op->kind != PB_S1_NEST && op->kind != PB_S1_MOVE; ++a)
      if (own[a] >= 0) s->may[own[a]] = false;
    for (int a = 0; op->kind == PB_S1_NEST && a < op->nest->access_count; ++a)
      if (!is_whole(p, &op->nest->access[a])) s->may[op->nest->access[a].buffer] = false;
  }
}

static bool fits(const splitter* s, int value, int r) {
  const pb_s1_value* v = &s->program->values[value];
  if (!s->may[value]) return false; // of numbers there is no index r
  int64_t extent = v->shape[r];
  return extent >= LEAST && extent <= MOST && pb_s1_element_count(v) / extent >= LONG;
}

// ---- which go together ----

// The loop that moves index r; -1: none does; -2: several do.
static int mover_of(const pb_access* access, int r) {
  int found = -1;
  for (int c = 0; c < PB_NEST_COLS; ++c)
    if (access->index[r].coef[c]) found = found == -1 ? c : -2;
  return found;
}

// The loops that become one turn each. false: it cannot be so.
static bool find_fixed(const splitter* s, const pb_nest* nest, bool* fixed) {
  int64_t copies = 1;
  memset(fixed, 0, sizeof *fixed * PB_NEST_DIMS);
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    int r = s->dim[access->buffer] - 1;
    if (r < 0) continue;
    int d = mover_of(access, r);
    if (d == -2 || d >= PB_NEST_DIMS || access->gathered == r + 1) return false;
    if (d < 0 || fixed[d]) continue;
    fixed[d] = true;
    copies *= nest->extent[d];
    if (copies > MOST_COPIES) return false;
  }
  return true;
}

// Values that the nest walks by loops which are to be one turn each go too.
static bool join_by_nest(splitter* s, const pb_nest* nest, bool* more) {
  bool fixed[PB_NEST_DIMS];
  if (!find_fixed(s, nest, fixed)) return false;
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    for (int r = 0; r < access->rank && !s->dim[access->buffer]; ++r) {
      int d = mover_of(access, r);
      bool walks = d >= 0 && d < PB_NEST_DIMS && fixed[d] && access->index[r].coef[d] == 1 && !access->index[r].cst;
      if (!walks || access->shape[r] != nest->extent[d] || !fits(s, access->buffer, r)) continue;
      s->dim[access->buffer] = r + 1;
      *more = true;
    }
  }
  return true;
}

static bool join_by_move(splitter* s, const pb_s1_op* op, bool* more) {
  int *x = &s->dim[op->x], *y = &s->dim[op->y];
  if (*x == *y) return true;
  if (*x && *y) return false;
  if (*y && !fits(s, op->x, *y - 1)) return s->program->values[op->x].alias_of < 0; // copies are taken of it
  if (*x && !fits(s, op->y, *x - 1)) return false;
  *x = *y = *x ? *x : *y;
  *more = true;
  return true;
}

static bool close_over(splitter* s) {
  const pb_s1* p = s->program;
  for (bool more = true; more;) {
    more = false;
    for (size_t k = 0; k < p->op_count; ++k) {
      const pb_s1_op* op = &p->ops[k];
      if (op->kind == PB_S1_NEST && !join_by_nest(s, op->nest, &more)) return false;
      if (op->kind == PB_S1_MOVE && !join_by_move(s, op, &more)) return false;
    }
  }
  return true;
}

// ---- whether each nest can do with planes ----

// Turns that one result sums over by the loops that are fixed, or by those that are not.
static int64_t turns_summed(const pb_nest* nest, const bool* fixed, bool by_fixed) {
  int64_t turns = 1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (fixed[d] == by_fixed && pb_nest_reduces_over(nest, d)) turns *= nest->extent[d];
  return turns;
}

// The operator that fills what a sum begins with; -1: it begins otherwise.
static int64_t beginning_of(const pb_s1* p, size_t sum) {
  int y = p->ops[sum].y;
  for (size_t k = sum; k-- > 0;) {
    const pb_s1_op* op = &p->ops[k];
    if (op->y != y) continue;
    bool fills = op->kind == PB_S1_NEST && op->nest->reduce == PB_SET && op->nest->expr_count == 1 &&
                 op->nest->expr[0].op == PB_OP_CONST;
    return fills ? (int64_t)k : -1;
  }
  return -1;
}

static bool stays_inside(const pb_nest* nest, const pb_access* access, int r) {
  const pb_index* index = &access->index[r];
  int d = mover_of(access, r);
  int64_t to = index->cst + (d >= 0 ? index->coef[d] * (nest->extent[d] - 1) : 0);
  return index->cst >= 0 && to >= 0 && index->cst < access->shape[r] && to < access->shape[r];
}

static bool can_sum(splitter* s, size_t k, const bool* fixed) {
  const pb_nest* nest = s->program->ops[k].nest;
  int64_t here = turns_summed(nest, fixed, true), left = turns_summed(nest, fixed, false);
  bool pairs = nest->access[0].rank > 2 && nest->access[0].type == PB_F32;
  s->along |= pairs && here == 1 && left >= LONG;
  s->away |= pairs && here > 1;
  if (here == 1) return nest->access_count <= 2 || left <= SHORT_SUM || nest->reduce == PB_ACC_BODY;
  int loads = nest->access_count - 1;
  if (!pb_reduce_combines(nest->reduce) || pb_nest_gathers(nest)) return false;
  if (here * loads >= PB_NEST_JOINED || here * nest->expr_count > MOST_NODES) return false;
  if (left > 1) return loads == 1;
  int64_t begin = beginning_of(s->program, k);
  if (begin < 0) return false;
  s->drops[begin] = true;
  return true;
}

static bool can_split(splitter* s, size_t k) {
  const pb_nest* nest = s->program->ops[k].nest;
  bool fixed[PB_NEST_DIMS], any = false;
  if (!find_fixed(s, nest, fixed)) return false;
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    int r = s->dim[access->buffer] - 1;
    if (r >= 0 && !stays_inside(nest, access, r)) return false;
    any |= r >= 0;
  }
  return !any || nest->reduce == PB_SET || can_sum(s, k, fixed);
}

// Not where all pairs of points are summed once for each plane, and what the short dim alone makes of them is a factor
// of all these sums: in one nest they take it once, with the short dim turned out of the lanes' way (short_dims.c).
static bool can_split_all(splitter* s) {
  memset(s->drops, 0, s->program->op_count);
  s->along = s->away = false;
  for (size_t k = 0; k < s->program->op_count; ++k)
    if (s->program->ops[k].kind == PB_S1_NEST && !can_split(s, k)) return false;
  return !s->along || !s->away;
}

// Whether nothing fills lanes where the nest walks the value by its last dim.
static bool lanes_are_empty(const pb_nest* nest, int a) {
  const pb_access* access = &nest->access[a];
  int d = mover_of(access, access->rank - 1);
  if (d < 0 || d >= PB_NEST_DIMS || pb_nest_reduces_over(nest, d)) return d != -2;
  for (int b = 0; b < nest->access_count; ++b) {
    const pb_access* other = &nest->access[b];
    bool moves = false;
    for (int r = 0; r < other->rank; ++r) moves |= mover_of(other, r) != -1;
    if (moves && mover_of(other, other->rank - 1) != d) return true;
  }
  return false;
}

// A value of whose short last dim lanes are made, and should not be; -1: there is none.
static int find_seed(const splitter* s) {
  for (size_t k = 0; k < s->program->op_count; ++k) {
    const pb_s1_op* op = &s->program->ops[k];
    for (int a = 0; op->kind == PB_S1_NEST && a < op->nest->access_count; ++a) {
      int v = op->nest->access[a].buffer, last = op->nest->access[a].rank - 1;
      if (!s->tried[v] && fits(s, v, last) && lanes_are_empty(op->nest, a)) return v;
    }
  }
  return -1;
}

// ---- taken apart ----

static int plane_of(splitter* s, int value, int64_t place) {
  pb_s1* p = s->program;
  int r = s->dim[value] - 1;
  if (s->planes[value] < 0) {
    s->planes[value] = (int)p->value_count;
    for (int64_t k = 0, extent = p->values[value].shape[r]; k < extent; ++k) {
      pb_s1_value plane = p->values[value];
      for (int at = r; at + 1 < plane.rank; ++at) plane.shape[at] = plane.shape[at + 1];
      --plane.rank;
      PB_PUSH(p->values, p->value_count, p->value_capacity, plane);
    }
  }
  return s->planes[value] + (int)place;
}

static void drop_index(pb_access* access, int r) {
  for (int at = r; at + 1 < access->rank; ++at) {
    access->index[at] = access->index[at + 1];
    access->shape[at] = access->shape[at + 1];
  }
  --access->rank;
  if (access->gathered > r + 1) --access->gathered;
}

// The access to a value that is taken apart becomes one to the plane that its index says, which nothing moves.
static void take_plane(splitter* s, pb_access* access) {
  int r = s->dim[access->buffer] - 1;
  access->buffer = plane_of(s, access->buffer, access->index[r].cst);
  drop_index(access, r);
}

// The nest with its fixed loops at turn `number` of all their turns, those that are summed over or the others.
static void fix_dims(pb_nest* nest, const bool* fixed, const bool* summed, int64_t other, int64_t sum) {
  for (int d = nest->dim_count - 1; d >= 0; --d) {
    if (!fixed[d]) continue;
    int64_t *number = summed[d] ? &sum : &other, extent = nest->extent[d];
    pb_nest_fix_dim(nest, d, *number % extent);
    *number /= extent;
  }
}

static bool reads_own(const pb_nest* nest) {
  for (int a = 0; a + 1 < nest->access_count; ++a)
    if (nest->access[a].buffer == nest->access[nest->access_count - 1].buffer) return true;
  return false;
}

// A turn that took what the one before has made takes another plane than its own then.
static void push(splitter* s, const pb_s1_op* like, const pb_nest* nest) {
  pb_s1* p = s->program;
  pb_s1_op op = *like;
  pb_nest* kept = pb_nest_kept(&p->arena, nest);
  if (nest->reduce == PB_ACC_BODY && reads_own(like->nest) && !reads_own(nest)) kept->reduce = PB_SET;
  op.nest = kept;
  op.y = nest->access[nest->access_count - 1].buffer;
  op.x = nest->access_count > 1 ? nest->access[0].buffer : -1;
  PB_PUSH(p->ops, p->op_count, p->op_capacity, op);
}

// Puts the body and the loads of one turn behind those that are there. Returns its value.
static int append_turn(pb_nest* to, const pb_nest* turn) {
  int load[PB_NEST_ACCESSES] = {0}, node[PB_NEST_EXPR];
  for (int a = 0; a + 1 < turn->access_count; ++a) {
    load[a] = pb_nest_add_access(to);
    to->access[load[a]] = turn->access[a];
  }
  for (int n = 0; n < turn->expr_count; ++n) {
    node[n] = pb_nest_node_from(to, turn->expr[n], node);
    if (turn->expr[n].op == PB_OP_LOAD) to->expr[node[n]].operand = load[turn->expr[n].operand];
  }
  return node[turn->expr_count - 1];
}

// A sum over fixed loops, written out: from `begin` on, NULL: onto what is there, for it sums over more.
static void write_sum(pb_nest* to, const pb_nest* nest, const bool* fixed, const bool* summed, int64_t other,
                      int64_t turns, const pb_expr_node* begin) {
  pb_nest turn;
  pb_op by = pb_reduce_op(nest->reduce);
  pb_nest_copy(to, nest);
  fix_dims(to, fixed, summed, other, 0);
  to->access[0] = to->access[to->access_count - 1];
  to->access_count = 1;
  to->expr_count = 0;
  int value = -1;
  if (begin) {
    to->reduce = PB_SET;
    value = pb_nest_node_from(to, *begin, NULL);
  }
  for (int64_t t = 0; t < turns; ++t) {
    pb_nest_copy(&turn, nest);
    fix_dims(&turn, fixed, summed, other, t);
    int made = append_turn(to, &turn);
    value = value < 0 ? made : pb_nest_node(to, by, to->expr[made].type, value, made);
  }
}

static bool is_there(const pb_s1_value* v) { return v->is_input || v->const_id >= 0; }

// A plane of a value that stays whole, copied in front of its reader; of what is there from the start in front of all,
// for all readers.
static int copied_plane(splitter* s, const pb_s1_op* reader, int value, int r, int64_t place) {
  pb_s1* p = s->program;
  const pb_s1_value from = p->values[value];
  bool there = is_there(&from);
  int* known = &s->copies[(size_t)value * MOST + (size_t)place];
  if (there && *known) return *known;
  pb_nest copy;
  pb_s1_value plane = {.name = from.name, .type = from.type, .rank = from.rank - 1, .alias_of = -1, .const_id = -1};
  for (int at = 0; at < plane.rank; ++at) plane.shape[at] = from.shape[at < r ? at : at + 1];
  pb_nest_begin(&copy, reader->name, "copy", 2);
  copy.access[0] = (pb_access){.buffer = value, .type = from.type, .rank = from.rank};
  copy.access[1] = (pb_access){.buffer = (int)p->value_count, .type = plane.type, .rank = plane.rank};
  memcpy(copy.access[0].shape, from.shape, sizeof *from.shape * (size_t)from.rank);
  memcpy(copy.access[1].shape, plane.shape, sizeof *plane.shape * (size_t)plane.rank);
  copy.access[0].index[r].cst = place;
  for (int at = 0; at < plane.rank; ++at) {
    int d = pb_nest_add_dim(&copy, plane.shape[at]);
    copy.access[0].index[at < r ? at : at + 1].coef[d] = copy.access[1].index[at].coef[d] = 1;
  }
  (void)pb_nest_load(&copy, 0);
  PB_PUSH(p->values, p->value_count, p->value_capacity, plane);
  pb_s1_op op = pb_s1_new_op(reader->name, reader->type, PB_S1_NEST);
  op.x = value;
  op.y = (int)p->value_count - 1;
  op.nest = pb_nest_kept(&p->arena, &copy);
  if (there) {
    PB_PUSH(s->front, s->front_count, s->front_capacity, op);
    *known = op.y;
  } else {
    PB_PUSH(p->ops, p->op_count, p->op_capacity, op);
  }
  return op.y;
}

// What the nest reads several times of such a value by its last dim, which is fixed, would come by strides each time.
static bool is_copied(const splitter* s, const pb_nest* nest, const bool* fixed, int a) {
  const pb_access* access = &nest->access[a];
  const pb_s1_value* v = &s->program->values[access->buffer];
  int r = access->rank - 1, d = r > 0 ? mover_of(access, r) : -1;
  if (s->dim[access->buffer] || !is_there(v) || d < 0 || d >= PB_NEST_DIMS || !fixed[d] || access->gathered ||
      access->boxed || a == nest->access_count - 1 || !is_whole(s->program, access))
    return false;
  return v->shape[r] <= MOST && stays_inside(nest, access, r) &&
         SMALLER * pb_s1_element_count(v) <= pb_nest_iterations(nest);
}

static void split_nest(splitter* s, const pb_s1_op* op, const pb_expr_node* begin) {
  pb_nest made;
  const pb_nest* nest = op->nest;
  bool fixed[PB_NEST_DIMS], summed[PB_NEST_DIMS] = {0};
  (void)find_fixed(s, nest, fixed);
  int64_t others = 1, sums = 1;
  for (int d = 0; d < nest->dim_count; ++d) {
    summed[d] = fixed[d] && pb_nest_reduces_over(nest, d);
    if (fixed[d]) *(summed[d] ? &sums : &others) *= nest->extent[d];
  }
  for (int64_t other = 0; other < others; ++other) {
    if (sums > 1) {
      write_sum(&made, nest, fixed, summed, other, sums, begin);
    } else {
      pb_nest_copy(&made, nest);
      fix_dims(&made, fixed, summed, other, 0);
    }
    for (int a = 0; a < made.access_count; ++a) {
      pb_access* access = &made.access[a];
      if (s->dim[access->buffer]) {
        take_plane(s, access);
      } else if (sums == 1 && is_copied(s, nest, fixed, a)) {
        access->buffer = copied_plane(s, op, access->buffer, access->rank - 1, access->index[access->rank - 1].cst);
        drop_index(access, access->rank - 1);
      }
    }
    push(s, op, &made);
  }
}

static void split_move(splitter* s, const pb_s1_op* move) {
  pb_s1* p = s->program;
  int64_t extent = p->values[move->y].shape[s->dim[move->y] - 1];
  int from[MOST];
  for (int64_t k = 0; k < extent; ++k)
    from[k] = s->dim[move->x] ? plane_of(s, move->x, k) : copied_plane(s, move, move->x, s->dim[move->y] - 1, k);
  for (int64_t k = 0; k < extent; ++k) {
    pb_s1_op op = *move;
    op.x = from[k];
    op.y = plane_of(s, move->y, k);
    PB_PUSH(p->ops, p->op_count, p->op_capacity, op);
  }
}

static bool touches(const splitter* s, const pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a)
    if (s->dim[nest->access[a].buffer]) return true;
  return false;
}

static void split_all(splitter* s) {
  pb_s1* p = s->program;
  pb_s1_op* ops = p->ops;
  size_t count = p->op_count;
  const pb_expr_node** begins = calloc(s->values + 1, sizeof *begins); // by value: what its sum begins with
  if (!begins) pb_no_memory(s->values * sizeof *begins);
  p->ops = NULL;
  p->op_count = p->op_capacity = 0;
  for (size_t k = 0; k < count; ++k) {
    pb_s1_op op = ops[k];
    if (s->drops[k]) {
      begins[op.y] = op.nest->expr;
    } else if (op.kind == PB_S1_NEST && touches(s, op.nest)) {
      split_nest(s, &op, begins[op.y]);
    } else if (op.kind == PB_S1_MOVE && s->dim[op.y]) {
      split_move(s, &op);
    } else {
      PB_PUSH(p->ops, p->op_count, p->op_capacity, op);
    }
  }
  size_t behind = p->op_count;
  for (size_t k = 0; k < s->front_count; ++k) PB_PUSH(p->ops, p->op_count, p->op_capacity, s->front[k]);
  memmove(p->ops + s->front_count, p->ops, behind * sizeof *p->ops);
  for (size_t k = 0; k < s->front_count; ++k) p->ops[k] = s->front[k];
  free(begins);
  free(ops);
}

// Takes apart one value and those that go with it. false: there is none.
static bool split_one(pb_s1* program) {
  splitter s = {.program = program, .values = program->value_count};
  bool split = false;
  s.may = calloc(s.values + 1, sizeof *s.may);
  s.tried = calloc(s.values + 1, sizeof *s.tried);
  s.dim = calloc(s.values + 1, sizeof *s.dim);
  s.planes = malloc((s.values + 1) * sizeof *s.planes);
  s.copies = calloc((s.values + 1) * MOST, sizeof *s.copies);
  s.drops = calloc(program->op_count + 1, sizeof *s.drops);
  if (!s.may || !s.tried || !s.dim || !s.planes || !s.copies || !s.drops) pb_no_memory(s.values);
  memset(s.planes, 0xff, (s.values + 1) * sizeof *s.planes);
  find_candidates(&s);
  for (int seed; !split && (seed = find_seed(&s)) >= 0;) {
    memset(s.dim, 0, (s.values + 1) * sizeof *s.dim);
    s.dim[seed] = program->values[seed].rank;
    s.tried[seed] = true;
    split = close_over(&s) && can_split_all(&s);
    for (size_t v = 0; v < s.values; ++v) s.tried[v] |= s.dim[v] != 0;
  }
  if (split) split_all(&s);
  free(s.may);
  free(s.tried);
  free(s.dim);
  free(s.planes);
  free(s.copies);
  free(s.drops);
  free(s.front);
  return split;
}

// A sum of a few elements along the first dim, which nothing else moves; -1: it is another nest.
static int sum_of_few(const pb_nest* nest) {
  if (nest->reduce != PB_ACC_ADD || nest->access_count != 2 || nest->expr_count != 1) return -1;
  int d = mover_of(&nest->access[0], 0);
  bool few = d >= 0 && d < PB_NEST_DIMS && pb_nest_reduces_over(nest, d) && nest->extent[d] <= MOST &&
             pb_access_moves_only(&nest->access[0], 0, d);
  return few && nest->extent[d] == pb_nest_steps(nest) ? d : -1;
}

void pb_s1_write_short_sums(pb_s1* program, const bool* of, size_t values) {
  for (size_t k = 0; k < program->op_count; ++k) {
    pb_s1_op* op = &program->ops[k];
    size_t summed = op->kind == PB_S1_NEST ? (size_t)op->nest->access[0].buffer : values;
    int d = summed < values && of[summed] ? sum_of_few(op->nest) : -1;
    int64_t begin = d >= 0 ? beginning_of(program, k) : -1;
    if (begin < 0) continue;
    bool fixed[PB_NEST_DIMS] = {0};
    pb_nest made;
    fixed[d] = true;
    write_sum(&made, op->nest, fixed, fixed, 0, op->nest->extent[d], program->ops[begin].nest->expr);
    op->nest = pb_nest_kept(&program->arena, &made);
    memmove(program->ops + begin, program->ops + begin + 1, (--program->op_count - (size_t)begin) * sizeof *op);
    --k;
  }
}

void pb_s1_split_short_dims(pb_s1* program) {
  enum { ROUNDS = 64, FEW = 64 };
  size_t most = GROWTH * (program->op_count + FEW);
  for (int k = 0; k < ROUNDS && program->op_count < most && split_one(program);) ++k;
}
