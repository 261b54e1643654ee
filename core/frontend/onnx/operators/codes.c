// Numbers of 8 bits and fewer: what each code is, by a table, and the code nearest to a number.
#include "core/frontend/onnx/emit.h"

#include <math.h>
#include <string.h>

typedef struct form {
  int mantissa, least;     // bits, and the exponent that numbers below 1 in the mantissa have
  int most, infinity, nan; // codes, of numbers without a sign; infinity: -1, there is none
  bool no_sign;            // of 0 and NaN: NaN is the code that -0 would have
} form;

static const form* form_of(pb_type type) {
  static const form e4m3 = {3, -6, 0x7e, -1, 0x7f, false}, e4m3uz = {3, -7, 0x7f, -1, 0x80, true},
                    e5m2 = {2, -14, 0x7b, 0x7c, 0x7e, false}, e5m2uz = {2, -15, 0x7f, -1, 0x80, true},
                    e2m1 = {1, 0, 7, -1, -1, false};
  return type == PB_F8E4M3FN     ? &e4m3
         : type == PB_F8E4M3FNUZ ? &e4m3uz
         : type == PB_F8E5M2     ? &e5m2
         : type == PB_F8E5M2FNUZ ? &e5m2uz
         : type == PB_F4E2M1FN   ? &e2m1
                                 : NULL;
}

static float number_of(pb_type type, int code) {
  const form* f = form_of(type);
  int bits = pb_type_bits(type), sign = 1 << (bits - 1);
  code &= (1 << bits) - 1;
  if (type == PB_F8E8M0FNU) return code == 255 ? NAN : ldexpf(1, code - 127);
  if (!f) return (float)((type == PB_I4 || type == PB_I2) && code & sign ? code - 2 * sign : code);
  int magnitude = code & (sign - 1), exponent = magnitude >> f->mantissa;
  if (f->no_sign ? code == f->nan : f->nan >= 0 && magnitude > (f->infinity >= 0 ? f->infinity : f->most)) return NAN;
  int part = magnitude & ((1 << f->mantissa) - 1);
  float value = ldexpf((float)(exponent ? part + (1 << f->mantissa) : part),
                       f->least - f->mantissa + (exponent ? exponent - 1 : 0));
  if (magnitude == f->infinity) value = INFINITY;
  return code & sign ? -value : value;
}

int pb__o_same_bytes(pb_onnx* o, int x, pb_type to) {
  const pb_flat_type in = *pb__o_type(o, x);
  int y = pb__o_new(o, to, in.rank, in.shape);
  if (pb__o_bad(o)) return y;
  int value = pb_make_value(&o->door.m, to, in.rank, in.shape);
  if (!pb__is_empty(in.rank, in.shape)) pb_make_copy(&o->door.m, o->door.value[x], value);
  o->door.value[y] = value;
  return y;
}

int pb__o_decode(pb_onnx* o, int x) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t count = pb__o_elements(o, x), codes = 256;
  float table[256];
  for (int k = 0; k < 256; ++k) table[k] = number_of(in.type, k);
  int at = pb__o_cast(o, pb__o_same_bytes(o, x, PB_UI8), PB_I64), numbers = pb__o_constant(o, PB_F32, 1, &codes, table);
  const pb_onnx_places p = {.dropped = 1, .drop = {0}, .maps = 1, .map = {0}, .size = {1}};
  at = pb__o_reshape(o, at, 2, (const int64_t[]){count, 1});
  return pb__o_reshape(o, pb__o_gather(o, numbers, at, &p, 1, &count), in.rank, in.shape);
}

#define WHOLE(v) pb__o_integer(o, PB_I32, v)
#define PLUS(a, b) pb__o_add(o, a, b)
#define WHERE(truth, yes, no) pb__o_select(o, truth, yes, no)

static int shifted(pb_onnx* o, const char* how, int x, int by) { return pb__o_binary(o, how, x, WHOLE(by)); }

// Powers of two by their exponent: 127 more.
static int power_code(pb_onnx* o, int magnitude, bool saturate, const char* round) {
  static const int half = 1 << 22;
  bool up = !strcmp(round, "up"), nearest = !strcmp(round, "nearest");
  if (!up && !nearest && strcmp(round, "down")) pb__o_refuse(o, "a round_mode '%s'", round);
  int exponent = shifted(o, "shift_right_logical", magnitude, 23),
      part = pb__o_binary(o, "and", magnitude, WHOLE(2 * half - 1));
  // Below 2^-126 the least number is 2^-127: a part of `half`.
  int step = pb__o_compare(o, "GE", part, WHOLE(up ? 1 : half)),
      low = pb__o_compare(o, "GE", part, WHOLE(up ? half + 1 : half + half / 2));
  int more = WHERE(pb__o_compare(o, "EQ", exponent, WHOLE(0)), low, step);
  int y = up || nearest ? PLUS(exponent, pb__o_cast(o, more, PB_I32)) : exponent;
  int infinite = pb__o_compare(o, "EQ", magnitude, WHOLE(0x7f800000)),
      nan = pb__o_compare(o, "GT", magnitude, WHOLE(0x7f800000));
  if (saturate) {
    y = pb__o_least(o, y, WHOLE(254));
  } else {
    int kept = pb__o_least(o, y, WHOLE(255)), none = WHOLE(255);
    y = WHERE(pb__o_compare(o, "LT", magnitude, WHOLE(half)), none, kept);
  }
  y = WHERE(infinite, WHOLE(saturate ? 254 : 255), y);
  return WHERE(nan, WHOLE(255), y);
}

// |x| in units of its last place, rounded to even, behind the exponent: a carry goes into that by itself.
static int float_code(pb_onnx* o, const form* f, int magnitude, bool saturate) {
  int least = WHOLE(f->least), bias = WHOLE(127);
  int exponent = pb__o_most(o, pb__o_sub(o, shifted(o, "shift_right_logical", magnitude, 23), bias), least);
  int unit = pb__o_bits(o, shifted(o, "shift_left", PLUS(exponent, WHOLE(127 - f->mantissa)), 23), PB_F32);
  int places = pb__o_unary(o, "round_nearest_even", pb__o_div(o, pb__o_bits(o, magnitude, PB_F32), unit));
  places = pb__o_least(o, places, pb__o_number(o, PB_F32, 2 << f->mantissa));
  int y = shifted(o, "shift_left", pb__o_sub(o, exponent, WHOLE(f->least)), f->mantissa);
  y = PLUS(y, pb__o_cast(o, places, PB_I32));
  int beyond = saturate || f->nan < 0 ? f->most : f->infinity >= 0 ? f->infinity : f->nan;
  int code = WHOLE(beyond);
  y = WHERE(pb__o_compare(o, "GT", y, WHOLE(f->most)), code, y);
  code = WHOLE(beyond);
  return WHERE(pb__o_compare(o, "EQ", magnitude, WHOLE(0x7f800000)), code, y);
}

static int signed_part(pb_onnx* o, int below, int minus, int plus) {
  int otherwise = WHOLE(plus);
  return WHERE(below, WHOLE(minus), otherwise);
}

static int code_of(pb_onnx* o, const form* f, int x, pb_type to, bool saturate) {
  int bits = pb__o_bits(o, x, PB_I32), magnitude = pb__o_binary(o, "and", bits, WHOLE(INT32_MAX)),
      sign = 1 << (pb_type_bits(to) - 1);
  int below = pb__o_compare(o, "LT", bits, WHOLE(0)), nan = pb__o_compare(o, "GT", magnitude, WHOLE(0x7f800000));
  int y = float_code(o, f, magnitude, saturate);
  if (f->nan < 0) {
    int number = PLUS(y, signed_part(o, below, sign, 0));
    return WHERE(nan, signed_part(o, below, 0, sign), number);
  }
  if (!f->no_sign) {
    int its = signed_part(o, below, sign, 0);
    return PLUS(WHERE(nan, WHOLE(f->nan), y), its);
  }
  int would_be_nan = pb__o_compare(o, "EQ", y, WHOLE(f->nan));
  int bare = pb__o_binary(o, "or", pb__o_compare(o, "EQ", y, WHOLE(0)), would_be_nan);
  y = WHERE(bare, y, PLUS(y, signed_part(o, below, sign, 0)));
  return WHERE(nan, WHOLE(f->nan), y);
}

int pb__o_encode(pb_onnx* o, int x, pb_type to, bool saturate, const char* round) {
  const pb_type from = pb__o_type(o, x)->type;
  const form* f = form_of(to);
  bool exact = from == PB_F32 || pb_type_is_narrow(from) || from == PB_I1 ||
               (!pb_type_is_float(from) && pb_type_bits(from) <= 16);
  if ((f || to == PB_F8E8M0FNU) && !exact) pb__o_refuse(o, "of %s to %s", pb_type_name(from), pb_type_name(to));
  if (pb__o_bad(o)) return x;
  int y;
  if (f) {
    y = code_of(o, f, pb__o_cast(o, x, PB_F32), to, saturate);
  } else if (to == PB_F8E8M0FNU) {
    int all = WHOLE(INT32_MAX);
    int magnitude = pb__o_binary(o, "and", pb__o_bits(o, pb__o_cast(o, x, PB_F32), PB_I32), all);
    y = power_code(o, magnitude, saturate, round);
  } else {
    int low = WHOLE((1 << pb_type_bits(to)) - 1); // higher bits go
    y = pb__o_binary(o, "and", pb__o_cast(o, x, PB_I32), low);
  }
  return pb__o_same_bytes(o, pb__o_cast(o, y, PB_UI8), to);
}
