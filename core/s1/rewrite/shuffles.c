// Channel shuffles in front of convolutions of codes. Channels that are split into groups and dealt out again are a
// transposition that moves every element by itself; a convolution by constant weights sums over channels in any order.
// So it reads those channels where they come from, in the order in which they lie there, and its weights take that
// order. What the model has between (concatenations, slices, other scales) moves with the channels; the shuffle is then
// read by nobody and goes.
//
//   before   s[c * 2 + k] = y[k * 58 + c];  x[c] = s[58 + c];  z[o] += x[c] * w[o, c]
//   after    x'[c] = y[29 + c];  x'[29 + c] = y[58 + 29 + c];  z[o] += x'[c] * w'[o, c]
//
// A convolution of each channel for itself leaves its result in the same order, where others sum over it. Where
// something else needs the shuffled tensor the convolutions read that one as well.
#include "core/s1/control.h"
#include "core/s1/lift/lift.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };
enum { LEAST_RUN = 4 }; // channels that lie together, on the average: else the copies are no better than the shuffle

// A channel of a value, and what its elements go through: the last step, NONE.
typedef struct origin {
  int value, last;
  int64_t channel;
} origin;

typedef struct step {
  int before; // NONE: it is the first one
  size_t index;
  pb_s1_op op;
} step;

// A tensor's elements in their order: images of `count` channels of `inner` elements.
typedef struct channels {
  int64_t count, inner;
  origin* from; // by channel; NULL: nothing is known
  bool shuffled;
} channels;

// Channels as a convolution is to have them.
typedef struct order {
  int value;
  int64_t* of; // by channel of that value: the channel that it was
} order;

typedef struct shuffler {
  pb_maker make;
  pb_s1* p;
  pb_arena* arena;
  size_t known;       // values that the program had
  channels* channels; // by value
  order* orders;      // by value, of: NULL until some convolution asks
  bool* summed;       // by value: convolutions of one group alone read it
  bool* folds;        // by operator: convolutions whose weights take the order
  step* steps;
  size_t step_count, step_capacity;
} shuffler;

// ---- where channels come from ----

static bool is_image(const pb_s1_value* v) { return v->rank == PB_IMAGE_RANK && v->type == PB_I8 && !v->is_variable; }

static channels* channels_of(shuffler* s, int value) {
  const int base = pb_s1_base(s->p, value);
  const pb_s1_value* v = &s->p->values[base];
  channels* c = &s->channels[base];
  if (c->from || !is_image(v)) return c;
  c->count = v->shape[PB_IMAGE_CHANNELS];
  c->inner = v->shape[2] * v->shape[3];
  c->from = PB_NEW_ARRAY(s->arena, origin, (size_t)c->count);
  for (int64_t k = 0; k < c->count; ++k) c->from[k] = (origin){base, NONE, k};
  return c;
}

// The channels of an image, as the operator sees it.
static channels* channels_of_image(shuffler* s, int value) {
  const pb_s1_value* v = &s->p->values[value];
  channels* c = channels_of(s, value);
  bool fits =
      is_image(v) && c->from && c->count == v->shape[PB_IMAGE_CHANNELS] && c->inner == v->shape[2] * v->shape[3];
  return fits ? c : NULL;
}

static void note_concat(shuffler* s, const pb_s1_op* op) {
  const channels* x = channels_of_image(s, op->x);
  channels* y = channels_of_image(s, op->y);
  if (!x || !y || op->axis != PB_IMAGE_CHANNELS || op->apart > 1) return;
  memcpy(y->from + op->offset, x->from, sizeof *x->from * (size_t)x->count);
  y->shuffled |= x->shuffled;
}

static void note_slice(shuffler* s, const pb_s1_op* op) {
  const channels* x = channels_of_image(s, op->x);
  channels* y = channels_of_image(s, op->y);
  const pb_s1_value *from = &s->p->values[op->x], *to = &s->p->values[op->y];
  if (!x || !y || !x->shuffled) return;
  for (int r = 0; r < PB_IMAGE_RANK; ++r)
    if (r != PB_IMAGE_CHANNELS && from->shape[r] != to->shape[r]) return;
  for (int64_t c = 0; c < y->count; ++c)
    y->from[c] = x->from[op->start[PB_IMAGE_CHANNELS] + c * op->step[PB_IMAGE_CHANNELS]];
  y->shuffled = true;
}

static int step_behind(shuffler* s, int before, size_t index, const pb_s1_op* op) {
  for (size_t k = s->step_count; k-- > 0 && s->steps[k].index == index;)
    if (s->steps[k].before == before) return (int)k;
  const step made = {before, index, *op};
  PB_PUSH(s->steps, s->step_count, s->step_capacity, made);
  return (int)s->step_count - 1;
}

// What each element goes through by itself.
static void note_step(shuffler* s, const pb_s1_op* op, size_t index) {
  const channels* x = channels_of_image(s, op->x);
  channels* y = channels_of_image(s, op->y);
  if (!x || !y || !x->shuffled || op->terms || x->count != y->count || x->inner != y->inner) return;
  for (int64_t c = 0; c < y->count; ++c) {
    y->from[c] = x->from[c];
    y->from[c].last = step_behind(s, x->from[c].last, index, op);
  }
  y->shuffled = true;
}

// The same elements in their order.
static void note_copy(shuffler* s, const pb_s1_op* op) {
  const channels* x = channels_of(s, op->x);
  if (x->from) s->channels[op->y] = *x;
}

// Groups of channels that change places: the images and what lies in a channel stay.
static void note_transpose(shuffler* s, const pb_s1_op* op) {
  const pb_s1_value *x = &s->p->values[op->x], *y = &s->p->values[op->y];
  const channels* from = channels_of(s, op->x);
  int64_t stride[PB_GRAPH_RANK], inner = 1, count = 1;
  int end = x->rank;
  if (!from->from || op->order[0] || y->is_variable) return;
  while (end > 1 && inner < from->inner && op->order[end - 1] == end - 1) inner *= x->shape[--end];
  for (int r = end; r-- > 1;) {
    stride[r] = count;
    count *= x->shape[r];
  }
  if (inner != from->inner || count != from->count) return;
  channels to = {.count = count, .inner = inner, .shuffled = true};
  to.from = PB_NEW_ARRAY(s->arena, origin, (size_t)count);
  for (int64_t c = 0; c < count; ++c) {
    int64_t left = c, at = 0;
    for (int r = end; r-- > 1;) {
      at += left % y->shape[r] * stride[op->order[r]];
      left /= y->shape[r];
    }
    to.from[c] = from->from[at];
  }
  s->channels[op->y] = to;
}

static void note(shuffler* s, const pb_s1_op* op, size_t index) {
  switch (op->kind) {
  case PB_S1_CONCAT:
    note_concat(s, op);
    break;
  case PB_S1_SLICE:
    note_slice(s, op);
    break;
  case PB_S1_RESCALE:
  case PB_S1_TABLE:
    note_step(s, op, index);
    break;
  case PB_S1_COPY:
    note_copy(s, op);
    break;
  case PB_S1_FTRANSPOSE:
    note_transpose(s, op);
    break;
  default:
    break;
  }
}

// ---- channels in the order in which they lie ----

typedef struct place {
  origin from;
  int64_t channel;
} place;

static int by_place(const void* a, const void* b) {
  const place *x = a, *y = b;
  if (x->from.value != y->from.value) return x->from.value < y->from.value ? -1 : 1;
  if (x->from.last != y->from.last) return x->from.last < y->from.last ? -1 : 1;
  return (x->from.channel > y->from.channel) - (x->from.channel < y->from.channel);
}

static int64_t run_from(const place* places, int64_t first, int64_t count) {
  int64_t end = first + 1;
  while (end < count && places[end].from.value == places[first].from.value &&
         places[end].from.last == places[first].from.last &&
         places[end].from.channel == places[end - 1].from.channel + 1)
    ++end;
  return end - first;
}

static int new_image(shuffler* s, const pb_s1_value* like, int64_t count) {
  int64_t shape[PB_IMAGE_RANK];
  memcpy(shape, like->shape, sizeof shape);
  shape[PB_IMAGE_CHANNELS] = count;
  return pb_make_value(&s->make, PB_I8, PB_IMAGE_RANK, shape);
}

static int through_steps(shuffler* s, int value, int last) {
  if (last == NONE) return value;
  const step made = s->steps[last];
  int x = through_steps(s, value, made.before);
  const pb_s1_value like = s->p->values[x];
  pb_s1_op op = made.op;
  op.x = x;
  op.y = new_image(s, &like, like.shape[PB_IMAGE_CHANNELS]);
  PB_PUSH(s->p->ops, s->p->op_count, s->p->op_capacity, op);
  return op.y;
}

// So many channels of an origin's value from there on, as they are behind its steps.
static int part_of(shuffler* s, const origin* from, int64_t count) {
  const pb_s1_value like = s->p->values[from->value];
  int part = from->value;
  if (count < like.shape[PB_IMAGE_CHANNELS]) {
    part = new_image(s, &like, count);
    pb_s1_op* op = pb_make_op(&s->make, PB_S1_SLICE, from->value, part);
    for (int r = 0; r < PB_IMAGE_RANK; ++r) op->step[r] = 1;
    op->start[PB_IMAGE_CHANNELS] = from->channel;
  }
  return through_steps(s, part, from->last);
}

static void put_together(shuffler* s, const pb_s1_value* like, const place* places, int64_t count, order* made) {
  int64_t whole = run_from(places, 0, count);
  made->value = whole == count ? NONE : new_image(s, like, count);
  for (int64_t k = 0, run; k < count; k += run) {
    run = run_from(places, k, count);
    int part = part_of(s, &places[k].from, run);
    if (whole == count) {
      made->value = part;
    } else {
      pb_s1_op* op = pb_make_op(&s->make, PB_S1_CONCAT, part, made->value);
      op->axis = PB_IMAGE_CHANNELS;
      op->offset = k;
    }
  }
}

static place* places_of(shuffler* s, const channels* c) {
  place* places = PB_NEW_ARRAY(s->arena, place, (size_t)c->count);
  for (int64_t k = 0; k < c->count; ++k) places[k] = (place){c->from[k], k};
  qsort(places, (size_t)c->count, sizeof *places, by_place);
  return places;
}

static bool lies_together(shuffler* s, const channels* c) {
  const place* places = places_of(s, c);
  int64_t runs = 0;
  for (int64_t k = 0; k < c->count; k += run_from(places, k, c->count)) ++runs;
  return runs == 1 || runs * LEAST_RUN <= c->count;
}

// The shuffled image in the order in which its channels lie.
static order order_of(shuffler* s, const channels* c, int value) {
  const pb_s1_value like = s->p->values[value];
  order* known = &s->orders[pb_s1_base(s->p, value)];
  if (known->of) return *known;
  const place* places = places_of(s, c);
  put_together(s, &like, places, c->count, known);
  known->of = PB_NEW_ARRAY(s->arena, int64_t, (size_t)c->count);
  for (int64_t k = 0; k < c->count; ++k) known->of[k] = places[k].channel;
  return *known;
}

// ---- convolutions ----

// A constant [outer, count, each]: its middle in that order, `each` bytes together.
static int reordered(shuffler* s, int id, int64_t outer, const int64_t* of, int64_t count, int64_t each) {
  if (id < 0) return id;
  const pb_const* from = s->make.consts->items[id];
  const char* data = pb_const_data(s->make.consts, id);
  char* to = pb_alloc(&s->make.consts->arena, from->bytes);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < count; ++k)
      memcpy(to + (o * count + k) * each, data + (o * count + of[k]) * each, (size_t)each);
  return pb_consts_add(s->make.consts, from->name, from->type, from->rank, from->shape, to);
}

static int64_t bytes_of(const shuffler* s, int id) { return id < 0 ? 0 : (int64_t)s->make.consts->items[id]->bytes; }

static bool is_apart(const pb_s1_op* op) { return op->groups > 1; }

static void reorder_sum(shuffler* s, pb_s1_op* op, const channels* c) {
  const order x = order_of(s, c, op->x);
  const int64_t outputs = s->p->values[op->y].shape[PB_IMAGE_CHANNELS], bytes = bytes_of(s, op->weights);
  op->weights = reordered(s, op->weights, outputs, x.of, c->count, bytes / (outputs * c->count));
  op->x = x.value;
}

// Of each channel for itself: the result has the order too, as a tensor beside the one that nobody reads then.
static void reorder_apart(shuffler* s, const pb_s1_op* op, const channels* c) {
  const order x = order_of(s, c, op->x);
  const pb_s1_value y = s->p->values[op->y];
  pb_s1_op made = *op;
  made.x = x.value;
  made.y = new_image(s, &y, c->count);
  made.weights = reordered(s, op->weights, 1, x.of, c->count, bytes_of(s, op->weights) / c->count);
  made.bias = reordered(s, op->bias, 1, x.of, c->count, sizeof(int32_t));
  made.m = reordered(s, op->m, 1, x.of, c->count, sizeof(float));
  PB_PUSH(s->p->ops, s->p->op_count, s->p->op_capacity, made);
  channels* left = channels_of(s, op->y);
  for (int64_t k = 0; k < c->count; ++k) left->from[x.of[k]] = (origin){made.y, NONE, k};
  left->shuffled = true;
}

static void reorder(shuffler* s, pb_s1_op* op) {
  const channels* c = channels_of_image(s, op->x);
  s->make.name = op->name;
  s->make.type = op->type;
  if (is_apart(op))
    reorder_apart(s, op, c);
  else
    reorder_sum(s, op, c);
}

// ---- which of them ----

// Whether the convolution could take its channels in the order in which they lie.
static bool takes_order(shuffler* s, const pb_s1_op* op) {
  const pb_s1_value* y = op->kind == PB_S1_CONV ? &s->p->values[op->y] : NULL;
  const channels* c = y && is_image(y) ? channels_of_image(s, op->x) : NULL;
  if (!c || !c->shuffled || !lies_together(s, c)) return false;
  const int64_t numbers = c->count * (int64_t)sizeof(int32_t), bytes = bytes_of(s, op->weights);
  if (!is_apart(op)) return bytes % (y->shape[PB_IMAGE_CHANNELS] * c->count) == 0;
  return op->groups == c->count && y->shape[PB_IMAGE_CHANNELS] == c->count && bytes % c->count == 0 && !y->is_output &&
         !op->terms && s->summed[op->y] && (op->bias < 0 || bytes_of(s, op->bias) == numbers) &&
         (op->m < 0 || bytes_of(s, op->m) == numbers);
}

static bool moves(const pb_s1_op* op) {
  return op->kind == PB_S1_CONCAT || op->kind == PB_S1_SLICE || op->kind == PB_S1_RESCALE || op->kind == PB_S1_TABLE ||
         op->kind == PB_S1_COPY || op->kind == PB_S1_FTRANSPOSE;
}

// Which values are read by convolutions of one group alone.
static void find_summed(shuffler* s) {
  memset(s->summed, true, s->known);
  for (size_t k = 0; k < s->p->op_count; ++k) {
    const pb_s1_op* op = &s->p->ops[k];
    const int operands[] = {op->x, op->z, op->third};
    for (int o = 0; o < 3; ++o)
      if (operands[o] >= 0 && (op->kind != PB_S1_CONV || op->groups > 1 || o))
        s->summed[pb_s1_base(s->p, operands[o])] = false;
    for (int a = 0; op->nest && a < op->nest->access_count; ++a)
      s->summed[pb_s1_base(s->p, op->nest->access[a].buffer)] = false;
  }
}

// What is still needed of what the convolutions that fold do not read any more.
static void find_needed(const shuffler* s, bool* needed) {
  const pb_s1* p = s->p;
  memset(needed, false, s->known);
  for (size_t k = p->op_count; k-- > 0;) {
    const pb_s1_op* op = &p->ops[k];
    const int operands[] = {op->x, op->z, op->third}, y = pb_s1_base(p, op->y);
    if (s->folds[k] || (moves(op) && !needed[y] && !p->values[y].is_output)) continue;
    for (int o = 0; o < 3; ++o)
      if (operands[o] >= 0) needed[pb_s1_base(p, operands[o])] = true;
    for (int a = 0; op->nest && a < op->nest->access_count; ++a)
      needed[pb_s1_base(p, op->nest->access[a].buffer)] = true;
  }
}

// Follows the channels to each operator, as if convolutions of each channel for itself kept the order. Returns whether
// one that was to fold does not.
static bool follow(shuffler* s) {
  bool any = false;
  memset(s->channels, 0, sizeof *s->channels * s->known);
  for (size_t k = 0; k < s->p->op_count; ++k) {
    const pb_s1_op* op = &s->p->ops[k];
    bool folds = s->folds[k] && takes_order(s, op);
    any |= s->folds[k] && !folds;
    s->folds[k] = folds;
    note(s, op, k);
    if (folds && is_apart(op)) channels_of(s, op->y)->shuffled = true;
  }
  return any;
}

// Convolutions behind a shuffle that is needed anyhow read what it leaves.
static bool leave_needed(shuffler* s, const bool* needed) {
  const pb_s1* p = s->p;
  bool any = false, *held = PB_NEW_ARRAY(s->arena, bool, s->known + 1);
  for (size_t k = 0; k < p->op_count; ++k) {
    const pb_s1_op* op = &p->ops[k];
    if (op->x < 0 || op->y < 0) continue;
    const int x = pb_s1_base(p, op->x), y = pb_s1_base(p, op->y);
    if (op->kind == PB_S1_FTRANSPOSE) held[y] |= needed[y] && s->channels[y].shuffled;
    if (moves(op)) held[y] |= held[x];
    any |= s->folds[k] && held[x];
    s->folds[k] &= !held[x];
  }
  return any;
}

static void find_folds(shuffler* s) {
  bool* needed = PB_NEW_ARRAY(s->arena, bool, s->known + 1);
  memset(s->folds, true, s->p->op_count);
  for (bool more = true; more;) {
    more = follow(s);
    find_needed(s, needed);
    more |= leave_needed(s, needed);
  }
  memset(s->channels, 0, sizeof *s->channels * s->known);
}

static bool has_shuffles(const pb_s1* p) {
  for (size_t k = 0; k < p->op_count; ++k)
    if (p->ops[k].kind == PB_S1_FTRANSPOSE && p->values[p->ops[k].x].type == PB_I8 &&
        p->values[p->ops[k].x].rank > PB_IMAGE_RANK)
      return true;
  return false;
}

void pb__s1_shuffles(pb_s1* p, pb_consts* consts) {
  if (!has_shuffles(p) || consts->open || pb_s1_has_control(p)) return;
  pb_arena arena = {0};
  shuffler s = {.make = {.program = p, .consts = consts}, .p = p, .arena = &arena, .known = p->value_count};
  pb_s1_op* ops = p->ops;
  const size_t count = p->op_count;
  s.channels = PB_NEW_ARRAY(&arena, channels, s.known);
  s.orders = PB_NEW_ARRAY(&arena, order, s.known);
  s.summed = PB_NEW_ARRAY(&arena, bool, s.known);
  s.folds = PB_NEW_ARRAY(&arena, bool, count + 1);
  find_summed(&s);
  find_folds(&s);
  p->ops = NULL;
  p->op_count = p->op_capacity = 0;
  for (size_t k = 0; k < count; ++k) {
    pb_s1_op op = ops[k];
    if (s.folds[k]) reorder(&s, &op);
    PB_PUSH(p->ops, p->op_count, p->op_capacity, op);
    note(&s, &op, k);
  }
  free(ops);
  free(s.steps);
  pb_arena_free(&arena);
}
