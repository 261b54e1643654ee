// Conversions between formats of numbers, each rounded once (9.7.9 of the PTX ISA, cvt).
#include "targets/control/grid/machine/lanes/number.h"

#include "targets/control/grid/machine/code.h"

typedef struct layout { // of a float
  int precision, least; // bits with the leading one; exponent of the least normal number
  int exponent_bits;
  int moved; // its bits begin that many above bit 0
  bool infinite;
} layout;

static layout layout_of(grid_format f) {
  switch (f) {
  case GRID_F16:
    return (layout){11, -14, 5, 0, true};
  case GRID_BF16:
    return (layout){8, -126, 8, 0, true};
  case GRID_TF32:
    return (layout){11, -126, 8, 13, true};
  case GRID_F32:
    return (layout){24, -126, 8, 0, true};
  case GRID_E4M3:
    return (layout){4, -6, 4, 0, false};
  case GRID_E5M2:
    return (layout){3, -14, 5, 0, true};
  default:
    return (layout){53, -1022, 11, 0, true};
  }
}

int grid__format_bytes(grid_format f) {
  switch (f) {
  case GRID_U8:
  case GRID_S8:
  case GRID_E4M3:
  case GRID_E5M2:
    return 1;
  case GRID_U16:
  case GRID_S16:
  case GRID_F16:
  case GRID_BF16:
    return 2;
  case GRID_U64:
  case GRID_S64:
  case GRID_F64:
    return 8;
  default:
    return 4;
  }
}

// Up by one unit, for a magnitude of which `rest` of a unit is left?
static bool goes_up(uint64_t n, long double rest, bool negative, int round) {
  switch (round) {
  case GRID_ZERO:
    return false;
  case GRID_DOWN:
    return negative && rest > 0;
  case GRID_UP:
    return !negative && rest > 0;
  case GRID_AWAY:
    return rest >= 0.5L;
  default:
    return rest > 0.5L || (rest == 0.5L && n & 1);
  }
}

uint64_t grid__narrow(long double v, grid_format to, int round, bool saturate) {
  layout f = layout_of(to);
  uint64_t sign = signbit(v) ? UINT64_C(1) << (f.precision - 1 + f.exponent_bits) : 0;
  uint64_t infinite = ((UINT64_C(1) << f.exponent_bits) - 1) << (f.precision - 1);
  // E4M3 has numbers where others have infinities, all but the last.
  uint64_t largest = f.infinite ? infinite - 1 : (infinite | ((UINT64_C(1) << (f.precision - 1)) - 1)) - 1;
  uint64_t nan = to == GRID_F64 ? UINT64_C(0x7ff8) << 48 : infinite | ((UINT64_C(1) << (f.precision - 1)) - 1);
  if (v != v) return nan << f.moved;
  uint64_t bits = 0;
  bool over = v - v != 0;
  if (v != 0 && !over) {
    int exponent;
    long double magnitude = frexpl(fabsl(v), &exponent);
    int e = exponent - 1 < f.least ? f.least : exponent - 1;
    long double units = ldexpl(magnitude, exponent + f.precision - 1 - e), whole = floorl(units);
    uint64_t n = (uint64_t)whole;
    n += goes_up(n, units - whole, v < 0, round);
    bits = ((uint64_t)(e - f.least) << (f.precision - 1)) + n;
    over = bits > largest;
    if (over && (round == GRID_ZERO || round == (v < 0 ? GRID_UP : GRID_DOWN))) bits = largest, over = false;
  }
  if (over) bits = saturate ? largest : f.infinite ? infinite : nan;
  return (bits | sign) << f.moved;
}

static long double widen(uint64_t bits, grid_format from) {
  layout f = layout_of(from);
  bits >>= f.moved;
  uint64_t mask = (UINT64_C(1) << (f.precision - 1)) - 1, mantissa = bits & mask;
  uint64_t exponent = bits >> (f.precision - 1) & ((UINT64_C(1) << f.exponent_bits) - 1),
           top = (UINT64_C(1) << f.exponent_bits) - 1;
  bool negative = bits >> (f.precision - 1 + f.exponent_bits) & 1;
  long double v;
  if (exponent == top && (f.infinite || mantissa == mask))
    v = mantissa ? (long double)NAN : (long double)INFINITY;
  else
    v = ldexpl((long double)(exponent ? mantissa | (mask + 1) : mantissa),
               (exponent ? (int)exponent : 1) - 1 + f.least - (f.precision - 1));
  return negative ? -v : v;
}

static long double whole(long double v, int round) {
  long double f = floorl(v), rest = v - f;
  if (v - v != 0) return v;
  switch (round) {
  case GRID_ZERO:
    return truncl(v);
  case GRID_DOWN:
    return f;
  case GRID_UP:
    return ceill(v);
  default: {
    bool odd = fmodl(f, 2) != 0;
    long double r = rest > 0.5L || (rest == 0.5L && odd) ? f + 1 : f;
    return copysignl(r, v);
  }
  }
}

static bool is_integer(grid_format f) { return f <= GRID_S64; }

static uint64_t to_integer(long double v, grid_format to) {
  int bits = 8 * grid__format_bytes(to);
  bool with_sign = to & 1;
  long double most = ldexpl(1, bits - with_sign) - 1, least = with_sign ? -ldexpl(1, bits - 1) : 0;
  uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  if (v != v) return 0;
  if (v > most) v = most;
  if (v < least) v = least;
  return (v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v) & mask;
}

static long double value_of(uint64_t bits, grid_format from) {
  switch (from) {
  case GRID_U8:
    return (uint8_t)bits;
  case GRID_S8:
    return (int8_t)bits;
  case GRID_U16:
    return (uint16_t)bits;
  case GRID_S16:
    return (int16_t)bits;
  case GRID_U32:
    return (uint32_t)bits;
  case GRID_S32:
    return (int32_t)bits;
  case GRID_U64:
    return (long double)bits;
  case GRID_S64:
    return (long double)(int64_t)bits;
  default:
    return widen(bits, from);
  }
}

uint64_t grid__convert(uint64_t value, grid_format from, grid_format to, int round, int flags) {
  long double v = value_of(value, from);
  if (flags & GRID_FLUSH && from == GRID_F32 && fabsl(v) < 0x1p-126L) v = copysignl(0, v);
  if (is_integer(to)) {
    uint64_t clamped = to_integer(is_integer(from) ? v : whole(v, round), to);
    // Between integers what does not fit is cut off, unless it is to saturate.
    int bits = 8 * grid__format_bytes(to);
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, sign = UINT64_C(1) << (bits - 1);
    uint64_t cut =
        is_integer(from) && !(flags & GRID_SATURATE) ? (v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v) & mask : clamped;
    return to & 1 && bits < 64 ? (cut ^ sign) - sign : cut; // a wider register has the sign all the way
  }
  if (flags & GRID_INTEGRAL) v = whole(v, round);
  bool small = to == GRID_E4M3 || to == GRID_E5M2;
  if (flags & GRID_SATURATE && !small && to != GRID_TF32) v = v > 0 ? (v < 1 ? v : 1) : 0;
  if (flags & GRID_RELU && v < 0) v = 0;
  uint64_t bits = grid__narrow(v, to, round, flags & GRID_SATURATE);
  bool flush = flags & GRID_FLUSH && to == GRID_F32 && (bits & 0x7f800000) == 0;
  return flush ? bits & 0x80000000 : bits;
}
