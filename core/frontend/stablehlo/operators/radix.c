#include "core/frontend/stablehlo/operators/radix.h"

#include <string.h>

// A key is one number or two of 32 bits, in the order of numbers without a sign. For each, from the last one on, a
// tensor of i64 has two halves, which passes read and write in turn, and behind these the counters of all passes:
//
//   | n elements: the key, then which one it is | n elements | places of 256 digits, a pass after the other |
//
// The digits' counts hang on no order, so one nest counts for all passes. A pass takes elements in their order and
// makes two stores each, so that its innermost loop has two turns: the element to where its digit's next one goes, and
// that place, one further on, to where it stood.
enum { DIGIT = 8, DIGITS = 1 << DIGIT, HALF = 32 };

typedef struct radix {
  pb_door* d;
  int rank, axis; // of what is sorted
  int64_t n;
  int lead; // its other dims, which are the first of all tensors here
  int64_t shape[PB_NEST_RANK];
  int first, passes; // digits of the key that is sorted by
} radix;

static int whole(pb_nest* n, int64_t v) { return pb_nest_integer(n, PB_I64, v); }
static int op(pb_nest* n, pb_op o, int a, int b) { return pb_nest_node(n, o, PB_I64, a, b); }
static int add(pb_nest* n, int a, int b) { return op(n, PB_OP_ADD, a, b); }

// With a number as the second operand.
static int with(pb_nest* n, pb_op o, int a, int64_t number) {
  int b = whole(n, number);
  return op(n, o, a, b);
}

static int is_positive(pb_nest* n, int v) { return pb_nest_node(n, PB_OP_LESS, PB_I1, whole(n, 0), v); }

// ---- keys ----

// The number's code: that of a float with its sign put in front, others as they are, in an i32 or i64.
static int code_of(pb_nest* n, pb_type type, pb_radix_key key, int v) {
  pb_type is = n->expr[v].type, whole_type = pb_type_bits(is) > HALF ? PB_I64 : PB_I32;
  int bits = pb_type_bits(is);
  if (!pb_type_is_float(is)) {
    bool extends = pb_type_is_unsigned(type) || type == PB_I1;
    int code = is == whole_type ? v : pb_nest_node(n, extends ? PB_OP_ZEXT : PB_OP_SEXT, whole_type, v, -1);
    if (extends) return code;
    int sign = pb_nest_integer(n, whole_type, (int64_t)((uint64_t)-1 << (bits - 1)));
    return pb_nest_node(n, PB_OP_XOR, whole_type, code, sign);
  }
  int code = pb_nest_node(n, PB_OP_BITCAST, whole_type, v, -1);
  if (!key.by_codes) {
    int64_t quiet = bits == 32 ? 0x7FC00000 : 0x7FF8000000000000;
    int number = pb_nest_node(n, PB_OP_EQUAL, PB_I1, v, v);
    int zero = pb_nest_node(n, PB_OP_EQUAL, PB_I1, v, pb_nest_const(n, is, 0));
    int same = pb_nest_integer(n, whole_type, quiet), none = pb_nest_integer(n, whole_type, 0);
    code = pb__door_chosen(n, number, code, same);
    code = pb__door_chosen(n, zero, none, code);
  }
  int sign = pb_nest_node(n, PB_OP_SHR, whole_type, code, pb_nest_integer(n, whole_type, bits - 1));
  int least = pb_nest_integer(n, whole_type, bits == 32 ? INT32_MIN : INT64_MIN);
  return pb_nest_node(n, PB_OP_XOR, whole_type, code, pb_nest_node(n, PB_OP_OR, whole_type, sign, least));
}

static void loop_lead(const radix* s, int* dims) {
  for (int r = 0; r < s->lead; ++r) dims[r] = pb_make_loop(&s->d->m, s->shape[r]);
}

static void move_lead(const radix* s, int access, const int* dims) {
  for (int r = 0; r < s->lead; ++r) pb_make_move(&s->d->m, access, r, dims[r], 1);
}

static void move_sorted(const radix* s, int access, const int* dims, int along) {
  int to = 0;
  for (int r = 0; r < s->rank; ++r) pb_make_move(&s->d->m, access, r, r == s->axis ? along : dims[to++], 1);
}

static int new_value(const radix* s, pb_type type, int64_t last) {
  int64_t shape[PB_NEST_RANK];
  memcpy(shape, s->shape, sizeof shape);
  shape[s->lead] = last;
  return pb_make_value(&s->d->m, type, s->lead + 1, shape);
}

// The keys' codes, half `part` of them, the axis last: i32.
static int codes_of(const radix* s, int x, pb_radix_key key, int part) {
  pb_type type = pb_made(&s->d->m, x)->type;
  int made = new_value(s, PB_I32, s->n), dims[PB_NEST_RANK];
  pb_nest* n = pb_make_walk(&s->d->m, "point", made, dims);
  int from = pb_make_access(&s->d->m, x);
  move_sorted(s, from, dims, dims[s->lead]);
  int code = code_of(n, type, key, pb_scalar_load(n, from, type));
  pb_type is = n->expr[code].type;
  if (key.descending) code = pb_nest_node(n, PB_OP_XOR, is, code, pb_nest_integer(n, is, -1));
  if (part) code = with(n, PB_OP_SHRU, code, HALF);
  if (is == PB_I64) (void)pb_nest_node(n, PB_OP_TRUNC, PB_I32, code, -1);
  pb_make_end(&s->d->m, made, dims);
  return made;
}

// ---- passes ----

// Digit number `pass` of the key in the high half of an element: which counter it is.
static int counter_of(const radix* s, int element, int pass) {
  pb_nest* n = &s->d->m.nest;
  int shift = with(n, PB_OP_ADD, with(n, PB_OP_MUL, pass, DIGIT), HALF + DIGIT * s->first);
  int digit = with(n, PB_OP_AND, op(n, PB_OP_SHRU, element, shift), DIGITS - 1);
  int first = with(n, PB_OP_MUL, pass, DIGITS);
  return add(n, first, digit);
}

// How many elements have a digit up to each, by passes: i64.
static int counts_of(const radix* s, int codes) {
  pb_maker* m = &s->d->m;
  int64_t all = (int64_t)DIGITS * s->passes;
  int made = new_value(s, PB_I64, all), dims[PB_NEST_RANK];
  (void)pb_make_walk(m, "init", made, dims);
  (void)whole(&m->nest, 0);
  pb_make_end(m, made, dims);

  pb_nest* n = pb_make_start(m, "order");
  loop_lead(s, dims);
  int turn = pb_make_loop(m, s->n), pass = pb_make_loop(m, s->passes);
  int from = pb_make_access(m, codes), own = pb_make_access(m, made);
  move_lead(s, from, dims);
  pb_make_move(m, from, s->lead, turn, 1);
  move_lead(s, own, dims);
  int element = with(n, PB_OP_SHL, op(n, PB_OP_ZEXT, pb_nest_load(n, from), -1), HALF);
  int place = pb__door_as_place(n, pb__door_within(n, counter_of(s, element, pb__door_turn(n, pass)), 0, all - 1));
  (void)with(n, PB_OP_ADD, pb_nest_gather(n, own, s->lead, place), 1);
  int to = pb_make_access(m, made);
  move_lead(s, to, dims);
  n->access[to].gathered = 1 + s->lead;
  n->stored_at = place;
  n->reduce = PB_ACC_BODY;
  pb_make_finish(m);

  n = pb_make_start(m, "order"); // so far
  loop_lead(s, dims);
  int by = pb_make_loop(m, s->passes), digit = pb_make_loop(m, DIGITS);
  own = pb_make_access(m, made);
  to = pb_make_access(m, made);
  move_lead(s, own, dims);
  move_lead(s, to, dims);
  int at = pb__door_turn(n, digit), base = with(n, PB_OP_MUL, pb__door_turn(n, by), DIGITS), here = add(n, base, at);
  int before = pb__door_within(n, with(n, PB_OP_ADD, here, -1), 0, all - 1), none = whole(n, 0);
  int fewer = pb_nest_gather(n, own, s->lead, pb__door_as_place(n, before));
  place = pb__door_as_place(n, pb__door_within(n, here, 0, all - 1));
  int up_to = pb__door_chosen(n, is_positive(n, at), fewer, none), count = pb_nest_gather(n, own, s->lead, place);
  (void)add(n, count, up_to);
  n->access[to].gathered = 1 + s->lead;
  n->stored_at = place;
  n->reduce = PB_ACC_BODY;
  pb_make_finish(m);
  return made;
}

// Both halves of the work tensor: elements with their keys in the order so far (-1: none), and behind them where the
// first element of each digit goes.
static int work_of(const radix* s, int codes, int counts, int order) {
  pb_maker* m = &s->d->m;
  int64_t all = (int64_t)DIGITS * s->passes;
  int work = new_value(s, PB_I64, 2 * s->n + all), dims[PB_NEST_RANK];
  pb_nest* n = pb_make_start(m, "init");
  loop_lead(s, dims);
  int half = pb_make_loop(m, 2), turn = pb_make_loop(m, s->n), from = pb_make_access(m, codes), code;
  move_lead(s, from, dims);
  int which = pb__door_turn(n, turn);
  if (order < 0) {
    pb_make_move(m, from, s->lead, turn, 1);
    code = pb_nest_load(n, from);
  } else {
    int at = pb_make_access(m, order);
    move_sorted(s, at, dims, turn);
    which = pb__door_within(n, pb_nest_load(n, at), 0, s->n - 1);
    code = pb_nest_gather(n, from, s->lead, pb__door_as_place(n, which));
  }
  int high = with(n, PB_OP_SHL, op(n, PB_OP_ZEXT, code, -1), HALF);
  (void)op(n, PB_OP_OR, high, which);
  int to = pb_make_access(m, work);
  move_lead(s, to, dims);
  pb_make_move(m, to, s->lead, half, s->n);
  pb_make_move(m, to, s->lead, turn, 1);
  pb_make_finish(m);

  n = pb_make_start(m, "init");
  loop_lead(s, dims);
  int by = pb_make_loop(m, s->passes), digit = pb_make_loop(m, DIGITS), count = pb_make_access(m, counts);
  move_lead(s, count, dims);
  int at = pb__door_turn(n, digit), base = with(n, PB_OP_MUL, pb__door_turn(n, by), DIGITS);
  int before = pb__door_within(n, with(n, PB_OP_ADD, add(n, base, at), -1), 0, all - 1), none = whole(n, 0);
  int fewer = pb_nest_gather(n, count, s->lead, pb__door_as_place(n, before));
  (void)pb__door_chosen(n, is_positive(n, at), fewer, none);
  to = pb_make_access(m, work);
  move_lead(s, to, dims);
  pb_make_move(m, to, s->lead, by, DIGITS);
  pb_make_move(m, to, s->lead, digit, 1);
  n->access[to].index[s->lead].cst += 2 * s->n;
  pb_make_finish(m);
  return work;
}

static int load_work(const radix* s, int work, const int* dims, int at) {
  int access = pb_make_access(&s->d->m, work);
  move_lead(s, access, dims);
  return pb_nest_gather(&s->d->m.nest, access, s->lead, pb__door_as_place(&s->d->m.nest, at));
}

static void sort_work(const radix* s, int work) {
  pb_maker* m = &s->d->m;
  int64_t all = 2 * s->n + (int64_t)DIGITS * s->passes;
  int dims[PB_NEST_RANK];
  pb_nest* n = pb_make_start(m, "order");
  loop_lead(s, dims);
  int by = pb_make_loop(m, s->passes), turn = pb_make_loop(m, s->n), store = pb_make_loop(m, 2);
  int pass = pb__door_turn(n, by), second = is_positive(n, with(n, PB_OP_AND, pass, 1));
  int half = whole(n, s->n), none = whole(n, 0);
  int read = pb__door_chosen(n, second, half, none), written = pb__door_chosen(n, second, none, half);
  int from = add(n, read, pb__door_turn(n, turn));
  int element = load_work(s, work, dims, pb__door_within(n, from, 0, 2 * s->n - 1));
  int counter = pb__door_within(n, with(n, PB_OP_ADD, counter_of(s, element, pass), 2 * s->n), 2 * s->n, all - 1);
  int place = load_work(s, work, dims, counter);
  int goes_to = add(n, written, pb__door_within(n, place, 0, s->n - 1));
  int counts = is_positive(n, pb__door_turn(n, store)), at = pb__door_chosen(n, counts, counter, goes_to);
  at = pb__door_within(n, at, 0, all - 1);
  int where = pb__door_as_place(n, at), more = with(n, PB_OP_ADD, place, 1);
  (void)pb__door_chosen(n, counts, more, element);
  int to = pb_make_access(m, work);
  move_lead(s, to, dims);
  n->access[to].gathered = 1 + s->lead;
  n->stored_at = where;
  n->reduce = PB_ACC_BODY;
  pb_make_finish(m);
}

// Which elements the last pass has put where, in the shape of what is sorted.
static int order_of(const radix* s, int work, int like) {
  pb_maker* m = &s->d->m;
  const pb_s1_value in = *pb_made(m, like);
  int order = pb_make_value(m, PB_I64, in.rank, in.shape), dims[PB_NEST_RANK];
  pb_nest* n = pb_make_start(m, "point");
  loop_lead(s, dims);
  int turn = pb_make_loop(m, s->n), from = pb_make_access(m, work);
  move_lead(s, from, dims);
  pb_make_move(m, from, s->lead, turn, 1);
  if (s->passes % 2) n->access[from].index[s->lead].cst += s->n;
  (void)with(n, PB_OP_AND, pb_nest_load(n, from), ((int64_t)1 << HALF) - 1);
  int to = pb_make_access(m, order);
  move_sorted(s, to, dims, turn);
  pb_make_finish(m);
  return order;
}

int pb__door_radix(pb_door* d, const int* x, int axis, int key_count, const pb_radix_key* keys) {
  const pb_s1_value in = *pb_made(&d->m, x[0]);
  radix s = {.d = d, .rank = in.rank, .axis = axis, .n = in.shape[axis]};
  for (int r = 0; r < in.rank; ++r)
    if (r != axis) s.shape[s.lead++] = in.shape[r];
  int order = -1;
  for (int k = key_count - 1; k >= 0; --k) {
    pb_type type = pb_made(&d->m, x[keys[k].operand])->type;
    int bits = pb_type_bits(type), worked = pb_type_bits(pb_scalar_worked(type));
    bool floats = pb_type_is_float(type); // narrow ones are worked on as f32, whose last bits are all alike then
    s.first = type == PB_BF16 ? 2 : type == PB_F16 ? 1 : 0;
    s.passes = floats && bits < HALF ? HALF / DIGIT - s.first
               : bits >= HALF        ? HALF / DIGIT
                                     : (bits + DIGIT - 1) / DIGIT;
    for (int part = 0; part < (worked > HALF ? 2 : 1); ++part) {
      int codes = codes_of(&s, x[keys[k].operand], keys[k], part), counts = counts_of(&s, codes);
      int work = work_of(&s, codes, counts, order);
      sort_work(&s, work);
      order = order_of(&s, work, x[0]);
    }
  }
  return order;
}
