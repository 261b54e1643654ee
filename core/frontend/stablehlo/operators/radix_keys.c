// By which operands a sort's body compares, and how: tried on pairs of numbers, and then on all pairs of pairs.
#include "core/frontend/stablehlo/operators/radix.h"
#include "core/frontend/stablehlo/operators/trial.h"

#include <math.h>
#include <string.h>

enum { MOST_SAMPLES = 8, FEW_SAMPLES = 4, FEW_KEYS = 2 };

typedef struct samples {
  int count;
  double of[MOST_SAMPLES];
} samples;

static samples samples_of(pb_type type, bool few) {
  static const samples floats = {8, {1, -2.5, 0, NAN, -0.0, INFINITY, -INFINITY, -NAN}};
  static const samples integers = {5, {1, -7, 0, 40, -1}}, naturals = {4, {1, 0, 7, 200}}, truths = {2, {1, 0}};
  samples s = pb_type_is_float(type)      ? floats
              : type == PB_I1             ? truths
              : pb_type_is_unsigned(type) ? naturals
                                          : integers;
  if (few && s.count > FEW_SAMPLES) s.count = FEW_SAMPLES;
  return s;
}

// Whether key a goes in front of key b.
static bool goes_first(const pb_radix_key* key, double a, double b) {
  if (key->descending) {
    double c = a;
    a = b;
    b = c;
  }
  if (key->by_codes) return pb__door_code_less(a, b);
  return isnan(b) ? !isnan(a) : a < b;
}

typedef struct comparator {
  const pb_flat_block* body;
  int count;
  double pair[PB_TRIAL_ARGUMENTS]; // of each operand two
} comparator;

static bool answers(const comparator* c, bool* is) {
  double truth;
  if (!pb__door_try(c->body, c->pair, 1, &truth)) return false;
  *is = truth != 0;
  return true;
}

// How the body compares operand k where all others are alike. *is_key: at all. false: in no order that is known.
static bool order_of(comparator* c, int k, pb_type type, pb_radix_key* key, bool* is_key) {
  samples s = samples_of(type, false);
  bool fits[4] = {true, true, true, true}, first;
  *is_key = false;
  for (int i = 0; i < s.count; ++i)
    for (int j = 0; j < s.count; ++j) {
      c->pair[2 * k] = s.of[i];
      c->pair[2 * k + 1] = s.of[j];
      if (!answers(c, &first)) return false;
      *is_key |= first;
      for (int way = 0; way < 4; ++way) {
        const pb_radix_key tried = {k, way & 1, way & 2};
        fits[way] &= goes_first(&tried, s.of[i], s.of[j]) == first;
      }
    }
  c->pair[2 * k] = c->pair[2 * k + 1] = 1;
  for (int way = 0; way < 4; ++way)
    if (fits[way]) return *key = (pb_radix_key){k, way & 1, way & 2}, true;
  return !*is_key;
}

// All pairs of the keys from number k on, in front of which they are alike or `decided`; what is no key is 1 and 2, or
// 2 and 1.
static bool compares(const pb_door* d, const pb_flat_op* op, comparator* c, int k, int count, const pb_radix_key* keys,
                     int decided) {
  bool first;
  if (k == count) return answers(c, &first) && first == (decided > 0);
  int operand = keys[k].operand;
  samples s = samples_of(pb__door_type(d, op->operands[operand])->type, count > FEW_KEYS);
  for (int i = 0; i < s.count; ++i)
    for (int j = 0; j < s.count; ++j) {
      double a = c->pair[2 * operand] = s.of[i], b = c->pair[2 * operand + 1] = s.of[j];
      int now = decided ? decided : goes_first(&keys[k], a, b) - goes_first(&keys[k], b, a);
      if (!compares(d, op, c, k + 1, count, keys, now)) return false;
    }
  return true;
}

int pb__door_radix_keys(const pb_door* d, const pb_flat_op* op, pb_radix_key* keys) {
  const pb_flat_block* body = op->region_count == 1 ? &op->regions[0] : NULL;
  comparator c = {.body = body, .count = op->operand_count};
  int count = 0;
  if (!body || op->operand_count > PB_RADIX_KEYS || body->argument_count != 2 * op->operand_count) return 0;
  for (int k = 0; k < PB_TRIAL_ARGUMENTS; ++k) c.pair[k] = 1;
  for (int k = 0; k < op->operand_count; ++k) {
    const pb_flat_type* type = pb__door_type(d, op->operands[k]);
    bool is_key;
    if (type->is_complex || pb_type_is_code(type->type)) return 0;
    if (!order_of(&c, k, type->type, &keys[count], &is_key)) return 0;
    count += is_key;
  }
  for (int turned = 0; count && turned < 2; ++turned) {
    for (int k = 0; k < op->operand_count; ++k) {
      c.pair[2 * k] = 1 + turned;
      c.pair[2 * k + 1] = 2 - turned;
    }
    if (!compares(d, op, &c, 0, count, keys, 0)) return 0;
  }
  return count;
}
