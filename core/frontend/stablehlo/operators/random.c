// Random bits by counters (rng_bit_generator), to the bit as XLA makes them: rounds of a cipher over the state plus the
// element's number (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011).
//
//   Philox 4x32, 10 rounds: state u64 [key, low, high], the key again where high is missing; four words for each
//   counter Threefry 2x32, 20 rounds: state u64 [key, counter]; two words for each counter, side by side along a dim
//
// Results are words, pairs of them or their low bits, and the state with what was taken added to its counter.
#include "core/frontend/stablehlo/write_out.h"

#include <string.h>

static int of_type(pb_writer* w, int like, pb_type type, uint64_t number) {
  pb_flat_type in = pb__write_type(w, like), scalar = pb__write_shaped(in, 0, NULL);
  scalar.type = type;
  return pb__write_spread(w, pb__write_constant(w, scalar, &number), in.rank, in.shape);
}

static int number(pb_writer* w, int like, uint64_t is) { return of_type(w, like, pb__write_type(w, like).type, is); }

static int add(pb_writer* w, int x, int y) { return pb__write_binary(w, "stablehlo.add", x, y); }
static int xored(pb_writer* w, int x, int y) { return pb__write_binary(w, "stablehlo.xor", x, y); }
static int ored(pb_writer* w, int x, int y) { return pb__write_binary(w, "stablehlo.or", x, y); }
static int plus(pb_writer* w, int x, uint64_t by) { return by ? add(w, x, number(w, x, by)) : x; }

static int shifted(pb_writer* w, const char* name, int x, uint64_t by) {
  return pb__write_binary(w, name, x, number(w, x, by));
}

static int low_word(pb_writer* w, int x) { return pb__write_converted(w, x, PB_UI32); }

static int high_word(pb_writer* w, int x) { return low_word(w, shifted(w, "stablehlo.shift_right_logical", x, 32)); }

static void words_of(pb_writer* w, int x, int* words) {
  words[0] = low_word(w, x);
  words[1] = high_word(w, x);
}

static int of_words(pb_writer* w, int low, int high) {
  int upper = shifted(w, "stablehlo.shift_left", pb__write_converted(w, high, PB_UI64), 32);
  return ored(w, upper, pb__write_converted(w, low, PB_UI64));
}

static int reshaped(pb_writer* w, int x, int rank, const int64_t* shape) {
  return pb__write(w, "stablehlo.reshape", pb__write_shaped(pb__write_type(w, x), rank, shape), 1, &x, 0, NULL);
}

// 0, 1, ..., as u64.
static int count_up(pb_writer* w, pb_flat_type type, int64_t count) {
  pb_flat_attr dimension = {.name = "iota_dimension", .kind = PB_FLAT_INT, .text = ""};
  type = pb__write_shaped(type, 1, &count);
  type.type = PB_UI64;
  return pb__write(w, "stablehlo.iota", type, 0, NULL, 1, &dimension);
}

// ---- Philox ----

// Both words of a product by a number.
static void multiplied(pb_writer* w, int x, uint64_t by, int* low, int* high) {
  int wide = pb__write_converted(w, x, PB_UI64);
  int product = pb__write_binary(w, "stablehlo.multiply", wide, number(w, wide, by));
  *low = low_word(w, product);
  *high = high_word(w, product);
}

static void philox(pb_writer* w, const int* key, int* x) {
  static const uint64_t steps[2] = {0x9E3779B9, 0xBB67AE85};
  for (uint64_t round = 0; round < 10; ++round) {
    int low[2], high[2], keys[2];
    for (int k = 0; k < 2; ++k) keys[k] = plus(w, key[k], (uint32_t)(round * steps[k]));
    multiplied(w, x[0], 0xD2511F53, &low[0], &high[0]);
    multiplied(w, x[2], 0xCD9E8D57, &low[1], &high[1]);
    x[0] = xored(w, xored(w, high[1], x[1]), keys[0]);
    x[1] = low[1];
    x[2] = xored(w, xored(w, high[0], x[3]), keys[1]);
    x[3] = low[0];
  }
}

// The sum of both halves of a counter and a number.
static void advanced(pb_writer* w, int by, int* low, int* high) {
  *low = add(w, *low, by);
  int carried = pb__write_compared(w, "LT", *low, by);
  *high = add(w, *high, pb__write_converted(w, carried, PB_UI64));
}

// So many words, as u32, and the counter's halves behind them.
static int philox_words(pb_writer* w, const int* state, int64_t count, int* after) {
  int64_t groups = (count + 3) / 4, column[2] = {groups, 1}, all = 4 * groups;
  int at = count_up(w, pb__write_type(w, state[0]), groups), spread[3], x[4], key[2];
  for (int k = 0; k < 3; ++k) spread[k] = pb__write_spread(w, state[k], 1, &groups);
  advanced(w, at, &spread[1], &spread[2]);
  for (int k = 0; k < 2; ++k) {
    words_of(w, spread[1 + k], x + 2 * k);
    after[k] = state[1 + k];
  }
  words_of(w, spread[0], key);
  philox(w, key, x);
  advanced(w, number(w, after[0], (uint64_t)groups), &after[0], &after[1]);
  for (int k = 0; k < 4; ++k) x[k] = reshaped(w, x[k], 2, column);
  int words = reshaped(w, pb__write_joined(w, 1, 4, x), 1, &all);
  return all == count ? words : pb__write_rows(w, words, 0, 0, count);
}

// ---- Threefry ----

static int rotated(pb_writer* w, int x, uint64_t by) {
  int left = shifted(w, "stablehlo.shift_left", x, by);
  return ored(w, left, shifted(w, "stablehlo.shift_right_logical", x, 32 - by));
}

static void threefry(pb_writer* w, const int* key, int* x) {
  static const uint64_t by[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  int keys[3] = {key[0], key[1], xored(w, key[0], key[1])};
  keys[2] = xored(w, keys[2], number(w, keys[2], 0x1BD11BDA));
  for (int k = 0; k < 2; ++k) x[k] = add(w, x[k], keys[k]);
  for (int turn = 1; turn <= 5; ++turn) {
    for (int k = 0; k < 4; ++k) {
      x[0] = add(w, x[0], x[1]);
      x[1] = xored(w, rotated(w, x[1], by[(turn - 1) % 2][k]), x[0]);
    }
    x[0] = add(w, x[0], keys[turn % 3]);
    x[1] = plus(w, add(w, x[1], keys[(turn + 1) % 3]), (uint64_t)turn);
  }
}

// Both words of so many counters.
static void threefry_words(pb_writer* w, const int* state, int64_t count, int* x, int* after) {
  int at = count_up(w, pb__write_type(w, state[0]), count), key[2];
  at = add(w, at, pb__write_spread(w, state[1], 1, &count));
  words_of(w, at, x);
  words_of(w, pb__write_spread(w, state[0], 1, &count), key);
  threefry(w, key, x);
  *after = plus(w, state[1], (uint64_t)count);
}

// The dim along which a counter's words lie side by side: the first of an even extent, else the longest.
static int dim_of_pairs(const pb_flat_type* type) {
  int longest = 0;
  for (int r = 0; r < type->rank; ++r)
    if (type->shape[r] % 2 == 0) return r;
  for (int r = 1; r < type->rank; ++r)
    if (type->shape[r] > type->shape[longest]) longest = r;
  return longest;
}

// The words of a result, which has one less than there are where no extent is even.
static int threefry_pairs(pb_writer* w, const int* state, const pb_flat_type* type, int* after) {
  int split = dim_of_pairs(type), x[2];
  int64_t extent = type->rank ? type->shape[split] : 1, half = (extent + 1) / 2;
  int64_t outer = pb_flat_elements(type, 0, split), inner = pb_flat_elements(type, split + 1, type->rank);
  threefry_words(w, state, outer * half * inner, x, after);
  for (int k = 0; k < 2; ++k) x[k] = reshaped(w, x[k], 4, (const int64_t[]){outer, half, 1, inner});
  int both = reshaped(w, pb__write_joined(w, 2, 2, x), 3, (const int64_t[]){outer, 2 * half, inner});
  return extent % 2 ? pb__write_rows(w, both, 1, 0, extent) : both;
}

// ---- the operator ----

static int64_t elements_of(const pb_flat_type* type) { return pb_flat_elements(type, 0, type->rank); }

// A word for each element of a flat result, or a pair: u32 or u64.
static int by_philox(pb_writer* w, const int* state, int64_t count, bool is_wide, int* after) {
  int words = philox_words(w, state, is_wide ? 2 * count : count, after);
  if (!is_wide) return words;
  words = reshaped(w, words, 2, (const int64_t[]){count, 2});
  int low = pb__write_rows(w, words, 1, 0, 1), high = pb__write_rows(w, words, 1, 1, 2);
  return of_words(w, low, high);
}

static int by_threefry(pb_writer* w, const int* state, const pb_flat_type* type, bool is_wide, int* after) {
  if (!is_wide) return threefry_pairs(w, state, type, after);
  int x[2];
  threefry_words(w, state, elements_of(type), x, after);
  return of_words(w, x[0], x[1]);
}

// As unsigned numbers of that many bits, which have the result's type afterwards.
static int as_type(pb_writer* w, int words, const pb_flat_type* type) {
  static const pb_type plain[] = {PB_UI8, PB_UI16, PB_UI32, PB_UI64};
  int bits = pb_type_bits(type->type), k = 0;
  while (8 << k < bits) ++k;
  if (bits < 32) {
    int low = number(w, words, ((uint64_t)1 << bits) - 1);
    words = pb__write_converted(w, pb__write_binary(w, "stablehlo.and", words, low), plain[k]);
  }
  words = reshaped(w, words, type->rank, type->shape);
  return plain[k] == type->type ? words : pb__write(w, "stablehlo.bitcast_convert", *type, 1, &words, 0, NULL);
}

pb_status pb__door_rng_bit_generator(pb_door* d, const pb_flat_op* op) {
  pb_flat_type in = *pb__door_type(d, op->operands[0]), type = *pb__door_type(d, op->results[1]);
  bool is_threefry = pb__door_says(op, "rng_algorithm", "THREE_FRY");
  bool is_known =
      is_threefry || pb__door_says(op, "rng_algorithm", "PHILOX") || pb__door_says(op, "rng_algorithm", "DEFAULT");
  int64_t parts = in.rank == 1 ? in.shape[0] : 0;
  if (!is_known) return pb__door_refuse(d, op, "of another algorithm than Philox and Threefry");
  if (in.type != PB_UI64 || in.is_complex || parts < 2 || parts > (is_threefry ? 2 : 3))
    return pb__door_refuse(d, op, "a state that is no ui64[2]%s", is_threefry ? "" : " or ui64[3]");
  if (!pb__door_alike(d, op, 0, 0) || type.is_complex || pb_type_bits(type.type) < 8 || !elements_of(&type))
    return pb__door_refuse(d, op,
                           "a result of another type than integers and floats of whole bytes, or of no elements");
  pb_writer w = pb__write_start(d, op);
  int state[3], after[3];
  for (int64_t k = 0; k < 3; ++k) state[k] = pb__write_rows(&w, op->operands[0], 0, k % parts, k % parts + 1);
  after[0] = state[0];
  bool is_wide = pb_type_bits(type.type) == 64;
  int words = is_threefry ? by_threefry(&w, state, &type, is_wide, after + 1)
                          : by_philox(&w, state, elements_of(&type), is_wide, after + 1);
  pb__write_result(&w, 0, pb__write_joined(&w, 0, (int)parts, after));
  pb__write_result(&w, 1, as_type(&w, words, &type));
  return pb__write_end(&w);
}
