// Small integers that extents alone decide: get_dimension_size and what is computed of it, on the numbers at hand. They
// say the extents of other values. Where extents are open (core/open) results are marked, and what a comparison, a
// maximum or a minimum came out as is noted: the program is for extents that decide so too.
#include "core/frontend/stablehlo/door.h"

#include <string.h>

enum { MOST = 64 };

typedef struct numbers {
  int count; // -1: they are not known
  int64_t at[MOST];
} numbers;

static const pb_const* constant_of(const pb_door* d, int value) {
  int id = value < 0 ? -1 : pb_made(&d->m, value)->const_id;
  return id < 0 ? NULL : d->m.consts->items[id];
}

// The elements as integers. -1: they are none, or there are more than `most`.
static int as_integers(const pb_door* d, int value, const char* data, int most, int64_t* integers) {
  pb_type type = pb_made(&d->m, value)->type, stored = pb_type_stored(type);
  int bits = pb_type_bits(stored), shift = 64 - bits;
  int64_t count = pb_made_elements(&d->m, value);
  if (pb_type_is_float(stored) || pb_type_is_narrow(type) || pb_type_is_code(type) || bits > 64 || count > most)
    return -1;
  bool is_unsigned = pb_type_is_unsigned(type) || type == PB_I1;
  for (int64_t k = 0; k < count; ++k) {
    uint64_t raw = 0;
    memcpy(&raw, data + k * (bits / 8), (size_t)bits / 8);
    raw <<= shift;
    integers[k] = is_unsigned ? (int64_t)(raw >> shift) : (int64_t)raw >> shift;
  }
  return (int)count;
}

int pb__door_integers(const pb_door* d, int value, int most, int64_t* integers) {
  const pb_const* c = constant_of(d, value);
  return c && c->data ? as_integers(d, value, c->data, most, integers) : -1;
}

const void* pb__door_elements(const pb_door* d, int value) {
  const pb_const* c = constant_of(d, value);
  return c ? c->data : d->elements ? pb_s1_elements_of(d->elements, value) : NULL;
}

int pb__door_decided(const pb_door* d, int value, int most, int64_t* integers) {
  const char* data = pb__door_elements(d, value);
  return data ? as_integers(d, value, data, most, integers) : -1;
}

static void give(pb_door* d, const pb_flat_op* op, const int64_t* integers, bool sized) {
  const pb_flat_type* type = pb__door_type(d, op->results[0]);
  size_t width = (size_t)pb_type_bits(pb_type_stored(type->type)) / 8, count = 1;
  for (int r = 0; r < type->rank; ++r) count *= (size_t)type->shape[r];
  char* kept = pb_alloc_array(&d->m.consts->arena, count + 1, 8);
  for (size_t k = 0; k < count; ++k) memcpy(kept + k * width, &integers[k], width); // little-endian
  int v = d->value[op->results[0]] = pb_make_constant(&d->m, type->type, type->rank, type->shape, kept);
  d->imaginary[op->results[0]] = -1;
  pb_const* made = d->m.consts->items[pb_made(&d->m, v)->const_id];
  made->sized = sized;
  made->why = (int)d->reasons;
  made->why_count = (int)(d->m.consts->reason_count - d->reasons);
}

pb_status pb__door_get_dimension_size(pb_door* d, const pb_flat_op* op) {
  const pb_s1_value* x = pb_made(&d->m, pb__door_in(d, op, 0));
  int64_t dim = pb__door_int(op, "dimension", 0);
  if (dim < 0 || dim >= x->rank) return pb__door_refuse(d, op, "no such dimension");
  d->reasons = d->m.consts->reason_count;
  give(d, op, &x->shape[dim], true);
  return PB_OK;
}

// ---- what truths rest on ----

static const char text[] = "the model is read for extents that decide as these do";

// Among those of the result that is made, which begin at d->reasons.
static void add_reason(pb_door* d, bool equal, int64_t a, int64_t b) {
  pb_consts* c = d->m.consts;
  for (size_t k = d->reasons; k < c->reason_count; ++k)
    if (c->reasons[k].equal == equal && c->reasons[k].a == a && c->reasons[k].b == b) return;
  pb_guard g = {.equal = equal, .a = a, .b = b, .text = text};
  PB_PUSH(c->reasons, c->reason_count, c->reason_capacity, g);
}

static void copy_reasons(pb_door* d, int value) {
  const pb_const* of = constant_of(d, value);
  for (int k = 0; of && k < of->why_count; ++k) {
    pb_guard g = d->m.consts->reasons[of->why + k];
    add_reason(d, g.equal, g.a, g.b);
  }
}

// Something is decided by the value.
void pb__door_decide_by(pb_door* d, int value) {
  pb_consts* c = d->m.consts;
  const pb_const* of = constant_of(d, value);
  for (int k = 0; of && k < of->why_count; ++k) {
    const pb_guard* g = &c->reasons[of->why + k];
    pb_consts_guard(c, g->equal, g->a, g->b, g->text);
  }
}

void pb__door_decide(pb_door* d, const pb_flat_op* op) {
  for (int k = 0; k < op->operand_count; ++k) pb__door_decide_by(d, pb__door_in(d, op, k));
}

// A result rests on what its operands do: of a false "and" on what makes one of them false, of a true "or" on what
// makes one true; a choice on the truth and what is chosen.
static void carry_reasons(pb_door* d, const pb_flat_op* op) {
  bool is_and = !strcmp(op->name, "stablehlo.and"), is_or = !strcmp(op->name, "stablehlo.or"),
       selects = !strcmp(op->name, "stablehlo.select");
  int64_t v[MOST];
  int only = -1;
  for (int k = 0; k < op->operand_count && (is_and || is_or) && only < 0; ++k)
    if (pb__door_integers(d, pb__door_in(d, op, k), MOST, v) == 1 && v[0] == is_or) only = k;
  bool yes = selects && pb__door_integers(d, pb__door_in(d, op, 0), MOST, v) == 1 && v[0];
  for (int k = 0; k < op->operand_count; ++k)
    if (only < 0 ? !selects || !k || k == (yes ? 1 : 2) : k == only) copy_reasons(d, pb__door_in(d, op, k));
}

static bool compare(pb_door* d, const pb_flat_op* op, int64_t a, int64_t b, int64_t* y) {
  static const char* const names[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  const bool holds[] = {a == b, a != b, a >= b, a > b, a <= b, a < b};
  const int64_t less[][2][2] = {{{b, a}, {a + 1, b}}, {{b + 1, a}, {a, b}}, {{a, b}, {b + 1, a}}, {{a + 1, b}, {b, a}}};
  for (int k = 0; k < 6; ++k) {
    if (!pb__door_says(op, "comparison_direction", names[k])) continue;
    *y = holds[k];
    if (k >= 2)
      add_reason(d, false, less[k - 2][!holds[k]][0], less[k - 2][!holds[k]][1]);
    else
      add_reason(d, a == b, a < b ? a + 1 : a > b ? b + 1 : a, a > b ? a : b);
    return true;
  }
  return false;
}

static int64_t larger(pb_door* d, int64_t a, int64_t b) {
  add_reason(d, false, a > b ? b : a, a > b ? a : b);
  return a > b ? a : b;
}

static int64_t smaller(pb_door* d, int64_t a, int64_t b) { return a + b - larger(d, a, b); }

static bool computed(pb_door* d, const pb_flat_op* op, const int64_t* v, int64_t* y) {
  const char* name = strchr(op->name, '.') + 1;
  const int64_t far = (int64_t)1 << 31; // products of what is nearer do not overflow
  int64_t a = v[0], b = v[1];
  bool rounds = !strcmp(name, "divide") || !strcmp(name, "remainder"); // towards 0: each side of it for itself
  for (int k = 0; k < 3; ++k)
    if (v[k] > far || v[k] < -far) return false;
  if (!strcmp(name, "compare")) return compare(d, op, a, b, y);
  for (int k = 0; rounds && k < 2; ++k) (void)larger(d, v[k], 0);
  if (!strcmp(name, "convert"))
    *y = a;
  else if (!strcmp(name, "select"))
    *y = a ? b : v[2];
  else if (!strcmp(name, "add"))
    *y = a + b;
  else if (!strcmp(name, "subtract"))
    *y = a - b;
  else if (!strcmp(name, "multiply"))
    *y = a * b;
  else if (!strcmp(name, "divide") && b)
    *y = a / b;
  else if (!strcmp(name, "remainder") && b)
    *y = a % b;
  else if (!strcmp(name, "negate"))
    *y = -a;
  else if (!strcmp(name, "abs"))
    *y = larger(d, a, -a);
  else if (!strcmp(name, "maximum"))
    *y = larger(d, a, b);
  else if (!strcmp(name, "minimum"))
    *y = smaller(d, a, b);
  else if (!strcmp(name, "sign"))
    *y = (larger(d, a, 0) > 0) - (larger(d, -a, 0) > 0);
  else if (!strcmp(name, "clamp"))
    *y = smaller(d, larger(d, a, b), v[2]);
  else if (!strcmp(name, "and"))
    *y = a & b;
  else if (!strcmp(name, "or"))
    *y = a | b;
  else if (!strcmp(name, "not"))
    *y = !a;
  else
    return false;
  return true;
}

static bool each(pb_door* d, const pb_flat_op* op, const numbers* in, int count, int64_t* out) {
  bool truth = pb__door_type(d, op->operands[0])->type == PB_I1;
  if (truth && (!strcmp(op->name, "stablehlo.add") || !strcmp(op->name, "stablehlo.multiply"))) return false;
  if (!truth && !strcmp(op->name, "stablehlo.not")) return false;
  for (int k = 0; k < count; ++k) {
    int64_t v[3] = {0};
    for (int o = 0; o < op->operand_count; ++o) {
      if (in[o].count != 1 && in[o].count != count) return false;
      v[o] = in[o].at[in[o].count == 1 ? 0 : k];
    }
    if (!computed(d, op, v, &out[k])) return false;
  }
  return true;
}

static bool moved(pb_door* d, const pb_flat_op* op, const numbers* in, int count, int64_t* out) {
  const char* name = strchr(op->name, '.') + 1;
  int rank = pb__door_type(d, op->operands[0])->rank;
  if (!strcmp(name, "reshape") && in[0].count == count) {
    memcpy(out, in[0].at, sizeof *out * (size_t)count);
    return true;
  }
  if (!strcmp(name, "broadcast_in_dim") && in[0].count == 1) {
    for (int k = 0; k < count; ++k) out[k] = in[0].at[0];
    return true;
  }
  if (!strcmp(name, "slice") && rank == 1) {
    const int64_t *start = pb__door_ints(d, op, "start_indices", 1, 0), *step = pb__door_ints(d, op, "strides", 1, 1);
    for (int k = 0; start && step && k < count; ++k) {
      int64_t at = start[0] + k * step[0];
      if (at < 0 || at >= in[0].count) return false;
      out[k] = in[0].at[at];
    }
    return start && step;
  }
  return false;
}

static bool joined(pb_door* d, const pb_flat_op* op, int count, int64_t* out, bool* sized) {
  int at = 0;
  for (int k = 0; k < op->operand_count; ++k) {
    int64_t part[MOST];
    int n = pb__door_integers(d, pb__door_in(d, op, k), MOST, part);
    if (n < 0 || at + n > count || pb__door_type(d, op->operands[k])->rank != 1) return false;
    memcpy(out + at, part, sizeof *out * (size_t)n);
    *sized |= constant_of(d, pb__door_in(d, op, k))->sized;
    at += n;
  }
  return at == count;
}

pb_status pb__door_size(pb_door* d, const pb_flat_op* op, bool* made) {
  *made = false;
  if (op->result_count != 1 || op->region_count || !op->operand_count) return PB_OK;
  const pb_flat_type* type = pb__door_type(d, op->results[0]);
  bool plain = type->type == PB_I1 || type->type == PB_I32 || type->type == PB_I64 || type->type == PB_UI32;
  if (!plain || d->flat->values[op->results[0]].is_open || type->is_complex) return PB_OK;
  int64_t count = 1, out[MOST];
  for (int r = 0; r < type->rank && count <= MOST; ++r) count *= type->shape[r];
  if (count > MOST) return PB_OK;
  bool sized = false;
  pb_consts* c = d->m.consts;
  d->reasons = c->reason_count;
  if (!strcmp(op->name, "stablehlo.concatenate")) {
    *made = joined(d, op, (int)count, out, &sized);
  } else {
    numbers in[3];
    if (op->operand_count > 3) return PB_OK;
    for (int k = 0; k < op->operand_count; ++k) {
      in[k].count = pb__door_integers(d, pb__door_in(d, op, k), MOST, in[k].at);
      if (in[k].count < 1) return PB_OK;
      sized |= constant_of(d, pb__door_in(d, op, k))->sized;
    }
    *made = each(d, op, in, (int)count, out) || moved(d, op, in, (int)count, out);
  }
  if (*made && sized) carry_reasons(d, op);
  if (!*made || !sized) c->reason_count = d->reasons; // of numbers that are always so
  if (*made) give(d, op, out, sized);
  return PB_OK;
}

// ---- assertions ----

// The comparison that makes the truth, of two known numbers for equality, where open dims may follow from it; else
// NULL.
static const pb_flat_op* equality_of(pb_door* d, int truth, int64_t* a, int64_t* b) {
  const pb_flat_op* maker = pb__door_maker_of(d, truth);
  bool is = d->inputs && d->inputs->symbols && maker && !strcmp(maker->name, "stablehlo.compare") &&
            pb__door_says(maker, "comparison_direction", "EQ") &&
            pb__door_integers(d, pb__door_in(d, maker, 0), 1, a) == 1 &&
            pb__door_integers(d, pb__door_in(d, maker, 1), 1, b) == 1;
  return is ? maker : NULL;
}

// What is asserted of extents that open dims have: two of them are one, or one leaves nothing when it is divided, by a
// remainder or a function that makes it. Whether the text is read again, with dims of which it holds.
static bool takes_dims(pb_door* d, int truth) {
  int64_t a, b, of, by;
  const pb_flat_op* compare = equality_of(d, truth, &a, &b);
  if (!compare) return false;
  pb_symbols* s = d->inputs->symbols;
  const pb_flat_op* from = pb__door_maker_of(d, compare->operands[0]);
  bool divides = from && from->operand_count == 2 && pb__door_integers(d, pb__door_in(d, from, 0), 1, &of) == 1 &&
                 pb__door_integers(d, pb__door_in(d, from, 1), 1, &by) == 1 && !b && by > 1 && of >= 0 && of % by == a;
  if (divides)
    (void)pb_symbols_hold(s, !a, &of, 1);
  else if (a == b || !pb_symbols_unify(s, a, b))
    (void)pb_symbols_hold(s, a == b, (const int64_t[]){a, b}, 2);
  return s->again;
}

bool pb__door_unifies(pb_door* d, int rank, const int64_t* a, const int64_t* b) {
  bool one = false;
  for (int r = 0; r < rank && d->inputs && d->inputs->symbols; ++r) {
    if (a[r] == b[r]) continue;
    if (!pb_symbols_unify(d->inputs->symbols, a[r], b[r])) return false;
    one = true;
  }
  return one;
}

pb_status pb__door_custom_call(pb_door* d, const pb_flat_op* op) {
  const char* target = pb_flat_find(op, "call_target_name")->text;
  int64_t holds;
  if (!strcmp(target, "Sharding")) return pb__door_same(d, op); // of one device, which has all of it
  if (strcmp(target, "shape_assertion") != 0 || op->operand_count < 1 || op->result_count)
    return pb__door_refuse(d, op, "of '%s'", target);
  if (pb__door_integers(d, pb__door_in(d, op, 0), 1, &holds) != 1)
    return pb__door_refuse(d, op, "an assertion that extents alone do not decide");
  pb__door_decide_by(d, pb__door_in(d, op, 0));
  if (takes_dims(d, op->operands[0])) return PB_ERR_UNSUPPORTED; // it is read again
  if (holds) return PB_OK;
  const pb_flat_attr* message = pb_flat_find(op, "error_message");
  return pb__door_refuse(d, op, "an assertion that does not hold: %s", message ? message->text : "");
}
