// The functions of lanes.def, one loop over lanes each, compiled once for each kind of processor (CMakeLists.txt).
#include "targets/control/grid/machine/code.h"
#include "targets/control/grid/machine/lanes/number.h"

#ifdef __clang__
#define VECTOR _Pragma("clang loop vectorize(assume_safety)")
#else
#define VECTOR _Pragma("GCC ivdep")
#endif

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

static inline int32_t clamp32(int64_t x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x; }
static inline uint64_t reversed(uint64_t x) {
  x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
  x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
  return __builtin_bswap64(x);
}
static inline uint32_t highest(uint64_t x) { return x ? 63 - (uint32_t)__builtin_clzll(x) : UINT32_MAX; }
// bfe: what lies behind the word reads as its sign.
static inline uint64_t field(uint64_t x, uint32_t start, uint32_t length, uint32_t width, bool with_sign) {
  start &= 0xff, length &= 0xff;
  if (!length) return 0;
  uint32_t last = start + length - 1 < width - 1 ? start + length - 1 : width - 1;
  uint64_t sign = with_sign ? x >> last & 1 : 0;
  uint64_t bits = start < width ? x >> start : 0;
  uint32_t held = start < width ? (length < width - start ? length : width - start) : 0;
  uint64_t mask = held >= 64 ? UINT64_MAX : (UINT64_C(1) << held) - 1;
  return (bits & mask) | (sign ? ~mask : 0);
}
static inline uint64_t insert(uint64_t into, uint64_t x, uint64_t start, uint64_t length, uint64_t width) {
  if (start >= width || !length) return into;
  uint64_t held = length < width - start ? length : width - start;
  uint64_t mask = (held >= 64 ? UINT64_MAX : (UINT64_C(1) << held) - 1) << start;
  return (into & ~mask) | (x << start & mask);
}
static inline int64_t part(uint32_t x, int at, int bits, bool with_sign) {
  uint32_t v = x >> at & (uint32_t)((UINT64_C(1) << bits) - 1);
  return with_sign && v >> (bits - 1) ? (int64_t)v - (INT64_C(1) << bits) : (int64_t)v;
}
static inline uint32_t dot4(uint32_t x, uint32_t y, bool sx, bool sy) {
  int64_t sum = 0;
  for (int k = 0; k < 4; ++k) sum += part(x, 8 * k, 8, sx) * part(y, 8 * k, 8, sy);
  return (uint32_t)sum;
}
static inline uint32_t dot2(uint32_t x, uint32_t y, bool sx, bool sy) {
  int64_t sum = 0;
  for (int k = 0; k < 2; ++k) sum += part(x, 16 * k, 16, sx) * part(y, 8 * k, 8, sy);
  return (uint32_t)sum;
}
static inline uint32_t permute(uint32_t x, uint32_t y, uint32_t select) {
  uint64_t bytes = (uint64_t)y << 32 | x;
  uint32_t out = 0;
  for (int k = 0; k < 4; ++k) {
    uint32_t s = select >> 4 * k & 15, byte = (uint32_t)(bytes >> 8 * (s & 7) & 0xff);
    out |= (s & 8 ? (byte >> 7) * 0xff : byte) << 8 * k;
  }
  return out;
}
// A NaN loses against a number; -0 lies below 0.
static inline float least(float x, float y) {
  float m = x < y || (x == y && signbit(x)) ? x : y;
  return grid__canonical(x != x ? y : y != y ? x : m);
}
static inline float most(float x, float y) {
  float m = x > y || (x == y && !signbit(x)) ? x : y;
  return grid__canonical(x != x ? y : y != y ? x : m);
}
static inline bool any_nan(float x, float y) { return x != x || y != y; }

// v_perm_b32: bytes of {x, y}, signs of its halves, 0 and 0xff.
static inline uint32_t choose(uint32_t x, uint32_t y, uint32_t select) {
  uint64_t bytes = (uint64_t)x << 32 | y;
  uint32_t out = 0;
  for (int k = 0; k < 4; ++k) {
    uint32_t s = select >> 8 * k & 0xff, sign = s & 8 ? (uint32_t)(bytes >> (16 * (s & 3) + 15) & 1) * 0xff : 0;
    uint32_t byte = s < 8 ? (uint32_t)(bytes >> 8 * s & 0xff) : s < 12 ? sign : s == 12 ? 0 : 0xff;
    out |= byte << 8 * k;
  }
  return out;
}
static inline uint32_t apart(uint32_t x, uint32_t y, int bits) {
  uint32_t sum = 0;
  for (int k = 0; k < 32; k += bits) {
    uint32_t a = x >> k & ((1u << bits) - 1), b = y >> k & ((1u << bits) - 1);
    sum += a < b ? b - a : a - b;
  }
  return sum;
}
static inline float fraction(float x) {
  int e;
  return frexpf(x, &e);
}
static inline int32_t exponent(float x) {
  int e;
  frexpf(x, &e);
  return e;
}
static inline float median(float x, float y, float z) {
  if (x != x || y != y || z != z) return least(least(x, y), z);
  return most(least(x, y), least(most(x, y), z));
}
static inline int32_t rounded16(float x, int32_t least_value, int32_t most_value) {
  float t = truncf(x);
  return x != x ? 0 : t < (float)least_value ? least_value : t > (float)most_value ? most_value : (int32_t)t;
}

#define FLUSHED(f) grid__canonical(grid__flush(f))
#define ODD(x, y, z) grid__odd_float(grid__odd_fma(x, y, z))
#define TWO(low, high) ((uint32_t)(uint16_t)(low) | (uint32_t)(uint16_t)(high) << 16)
#define LO(x) ((uint16_t)(x))
#define HI(x) ((uint16_t)((x) >> 16))
#define INFINITE_f16 0x7c00
#define INFINITE_bf16 0x7f80

#define L1(key, section, name, R, A, expression)                                                                       \
  static void name(void* d, const void* a, const void* b, const void* c) {                                             \
    R* r = d;                                                                                                          \
    const A* xs = a;                                                                                                   \
    (void)b, (void)c;                                                                                                  \
    VECTOR for (int l = 0; l < GRID_LANES; ++l) {                                                                      \
      A x = xs[l];                                                                                                     \
      r[l] = (R)(expression);                                                                                          \
    }                                                                                                                  \
  }
#define L2(key, section, name, R, A, B, expression)                                                                    \
  static void name(void* d, const void* a, const void* b, const void* c) {                                             \
    R* r = d;                                                                                                          \
    const A* xs = a;                                                                                                   \
    const B* ys = b;                                                                                                   \
    (void)c;                                                                                                           \
    VECTOR for (int l = 0; l < GRID_LANES; ++l) {                                                                      \
      A x = xs[l];                                                                                                     \
      B y = ys[l];                                                                                                     \
      r[l] = (R)(expression);                                                                                          \
    }                                                                                                                  \
  }
#define L3(key, section, name, R, A, B, C, expression)                                                                 \
  static void name(void* d, const void* a, const void* b, const void* c) {                                             \
    R* r = d;                                                                                                          \
    const A* xs = a;                                                                                                   \
    const B* ys = b;                                                                                                   \
    const C* zs = c;                                                                                                   \
    VECTOR for (int l = 0; l < GRID_LANES; ++l) {                                                                      \
      A x = xs[l];                                                                                                     \
      B y = ys[l];                                                                                                     \
      C z = zs[l];                                                                                                     \
      r[l] = (R)(expression);                                                                                          \
    }                                                                                                                  \
  }
#define P2(key, section, name, T, expression)                                                                          \
  static void p_##name(void* d, const void* a, const void* b, const void* c) {                                         \
    const T *xs = a, *ys = b;                                                                                          \
    (void)c;                                                                                                           \
    uint32_t bits = 0;                                                                                                 \
    for (int l = 0; l < GRID_LANES; ++l) {                                                                             \
      T x = xs[l], y = ys[l];                                                                                          \
      (void)y;                                                                                                         \
      bits |= (uint32_t)(expression) << l;                                                                             \
    }                                                                                                                  \
    memcpy(d, &bits, 4);                                                                                               \
  }
#define SEL(key, section, name, T)                                                                                     \
  static void name(void* d, const void* a, const void* b, const void* c) {                                             \
    T* r = d;                                                                                                          \
    const T *xs = a, *ys = b;                                                                                          \
    uint32_t bits;                                                                                                     \
    memcpy(&bits, c, 4);                                                                                               \
    VECTOR for (int l = 0; l < GRID_LANES; ++l) r[l] = bits >> l & 1 ? xs[l] : ys[l];                                  \
  }
// clang-format off
#include "targets/control/grid/machine/lanes/lanes.def"
// clang-format on
#undef L1
#undef L2
#undef L3
#undef P2
#undef SEL

#define L1(key, section, name, R, A, expression) {key, section, name, {sizeof(R), sizeof(A)}, false},
#define L2(key, section, name, R, A, B, expression) {key, section, name, {sizeof(R), sizeof(A), sizeof(B)}, false},
#define L3(key, section, name, R, A, B, C, expression)                                                                 \
  {key, section, name, {sizeof(R), sizeof(A), sizeof(B), sizeof(C)}, false},
#define P2(key, section, name, T, expression) {key, section, p_##name, {0, sizeof(T), sizeof(T)}, true},
#define SEL(key, section, name, T) {key, section, name, {sizeof(T), sizeof(T), sizeof(T)}, false},
extern const grid_lane_row GRID_LANE_TABLE[];
extern const size_t GRID_LANE_COUNT;
const grid_lane_row GRID_LANE_TABLE[] = {
// clang-format off
#include "targets/control/grid/machine/lanes/lanes.def"
    // clang-format on
};
const size_t GRID_LANE_COUNT = sizeof GRID_LANE_TABLE / sizeof *GRID_LANE_TABLE;
