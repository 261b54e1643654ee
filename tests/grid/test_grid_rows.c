// Instructions that LLVM makes of nothing, or another way: PTX by hand against a plain reading of the ISA, here in C.
#include "grid.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 2048 };
#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

typedef uint64_t (*meaning)(uint64_t x, uint64_t y, uint64_t z);
typedef struct instruction {
  const char* text;    // of %r0 (32 bits), %d0 (64), %h0 (16) from registers 1, 2, 3 of their widths
  int result, sources; // bytes
  meaning right;
} instruction;

static uint32_t u(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return f != f ? 0x7fffffff : bits;
}
static float f(uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, 4);
  return value;
}

// Bit by bit, as the ISA's own pseudo-code has it.
static uint64_t bfe(uint64_t a, uint64_t b, uint64_t c, int width, bool with_sign) {
  int pos = b & 0xff, len = c & 0xff, msb = width - 1;
  uint64_t sign = !with_sign || len == 0 ? 0 : a >> (pos + len - 1 < msb ? pos + len - 1 : msb) & 1, d = 0;
  for (int i = 0; i <= msb; ++i) d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
  return d;
}
static uint64_t bfe_u32(uint64_t x, uint64_t y, uint64_t z) { return bfe(x, y, z, 32, false); }
static uint64_t bfe_s32(uint64_t x, uint64_t y, uint64_t z) { return bfe(x, y, z, 32, true); }
static uint64_t bfi(uint64_t x, uint64_t y, uint64_t z) { // x into y at z, as many as x's low bits say
  int pos = z & 0xff, len = x & 0xff;
  uint64_t d = y;
  for (int i = 0; i < len && pos + i <= 31; ++i) d = (d & ~(UINT64_C(1) << (pos + i))) | (x >> i & 1) << (pos + i);
  return d;
}
static uint64_t prmt(uint64_t x, uint64_t y, uint64_t z) {
  uint8_t bytes[8];
  uint32_t d = 0;
  memcpy(bytes, &x, 4), memcpy(bytes + 4, &y, 4);
  for (int k = 0; k < 4; ++k) {
    uint32_t s = z >> 4 * k & 15;
    uint8_t byte = bytes[s & 7];
    if (s & 8) byte = byte & 0x80 ? 0xff : 0;
    d |= (uint32_t)byte << 8 * k;
  }
  return d;
}
static uint64_t shf_lw(uint64_t x, uint64_t y, uint64_t z) {
  return z & 31 ? (uint32_t)(y << (z & 31)) | x >> (32 - (z & 31)) : y;
}
static uint64_t shf_rc(uint64_t x, uint64_t y, uint64_t z) {
  uint32_t n = z < 32 ? (uint32_t)z : 32;
  return n == 32 ? y : n ? (uint32_t)(y << (32 - n)) | x >> n : x;
}
static uint64_t shf_lc(uint64_t x, uint64_t y, uint64_t z) {
  uint32_t n = z < 32 ? (uint32_t)z : 32;
  return n == 32 ? x : n ? (uint32_t)(y << n) | x >> (32 - n) : y;
}
static uint64_t dp4a(uint64_t x, uint64_t y, uint64_t z) {
  for (int k = 0; k < 4; ++k) z += (uint64_t)(int64_t)((int8_t)(x >> 8 * k) * (int8_t)(y >> 8 * k));
  return (uint32_t)z;
}
static uint64_t dp4a_u(uint64_t x, uint64_t y, uint64_t z) {
  for (int k = 0; k < 4; ++k) z += (x >> 8 * k & 0xff) * (y >> 8 * k & 0xff);
  return (uint32_t)z;
}
static uint64_t lop3(uint64_t x, uint64_t y, uint64_t z) { return (uint32_t)((x & y) | (~x & z)); }
static uint64_t sad(uint64_t x, uint64_t y, uint64_t z) {
  int64_t d = (int64_t)(int32_t)x - (int32_t)y;
  return (uint32_t)(z + (uint64_t)(d < 0 ? -d : d));
}
static uint64_t bfind(uint64_t x, uint64_t y, uint64_t z) {
  (void)y, (void)z;
  for (int k = 31; k >= 0; --k)
    if (x >> k & 1) return (uint64_t)k;
  return UINT32_MAX;
}
static uint64_t fns_sat(uint64_t x, uint64_t y, uint64_t z) {
  (void)z;
  int64_t d = (int64_t)(int32_t)x + (int32_t)y;
  return (uint32_t)(d > INT32_MAX ? INT32_MAX : d < INT32_MIN ? INT32_MIN : d);
}
static uint64_t mul24(uint64_t x, uint64_t y, uint64_t z) {
  (void)z;
  return (uint32_t)((x & 0xffffff) * (y & 0xffffff));
}
static uint64_t carry(uint64_t x, uint64_t y, uint64_t z) { // the upper word of x:y + z:x
  uint64_t low = (uint64_t)(uint32_t)y + (uint32_t)x;
  return (uint32_t)(x + z + (low >> 32));
}
static uint64_t borrow(uint64_t x, uint64_t y, uint64_t z) { return (uint32_t)(x - z - ((uint32_t)y < (uint32_t)x)); }
static float flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
static uint64_t add_ftz(uint64_t x, uint64_t y, uint64_t z) { return (void)z, u(flush(flush(f(x)) + flush(f(y)))); }
static uint64_t fma_ftz(uint64_t x, uint64_t y, uint64_t z) {
  return u(flush(fmaf(flush(f(x)), flush(f(y)), flush(f(z)))));
}
static uint64_t rounded(int mode, uint64_t x, uint64_t y) {
  fesetround(mode);
  volatile float a = f(x), b = f(y), c = a * b;
  fesetround(FE_TONEAREST);
  return u(c);
}
static uint64_t mul_rz(uint64_t x, uint64_t y, uint64_t z) { return (void)z, rounded(FE_TOWARDZERO, x, y); }
static uint64_t mul_rp(uint64_t x, uint64_t y, uint64_t z) { return (void)z, rounded(FE_UPWARD, x, y); }
static uint64_t mul_rm(uint64_t x, uint64_t y, uint64_t z) { return (void)z, rounded(FE_DOWNWARD, x, y); }
static uint64_t add_sat(uint64_t x, uint64_t y, uint64_t z) {
  (void)z;
  float s = f(x) + f(y);
  return u(s > 0 ? s < 1 ? s : 1 : 0);
}
static uint64_t ex2(uint64_t x, uint64_t y, uint64_t z) { return (void)y, (void)z, u((float)exp2(f(x))); }
static uint64_t slct(uint64_t x, uint64_t y, uint64_t z) { return (int32_t)z >= 0 ? x : y; }
static uint64_t cvt_s8(uint64_t x, uint64_t y, uint64_t z) { return (void)y, (void)z, (uint32_t)(int32_t)(int8_t)x; }
static uint64_t cvt_sat_u8(uint64_t x, uint64_t y, uint64_t z) {
  (void)y, (void)z;
  int32_t v = (int32_t)x;
  return v < 0 ? 0 : v > 255 ? 255 : (uint32_t)v;
}
static uint64_t cvt_sat_s8f(uint64_t x, uint64_t y, uint64_t z) {
  (void)y, (void)z;
  float v = rintf(f(x));
  return v != v ? 0 : (uint32_t)(int32_t)(v < -128 ? -128 : v > 127 ? 127 : v);
}
static uint64_t cvt_tf32(uint64_t x, uint64_t y, uint64_t z) {
  (void)y, (void)z;
  if (f(x) != f(x)) return 0x7fffe000;
  return ((uint32_t)x + 0x1000) & 0xffffe000;
}
// f16 by all its values: the nearest one to a number that f128 holds exactly.
__extension__ typedef __float128 exact;
static exact half_value(uint32_t h) {
  int e = h >> 10 & 31;
  exact m = (exact)((h & 0x3ff) | (e ? 0x400 : 0));
  for (int k = e ? e : 1; k < 25; ++k) m /= 2;
  for (int k = 25; k < e; ++k) m *= 2;
  return h & 0x8000 ? -m : m;
}
static uint64_t half_nearest(exact v, bool minus) {
  exact a = v < 0 ? -v : v;
  uint32_t low = 0, high = 0x7c00; // of magnitudes; 0x7c00 stands for 2^16
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    if (half_value(middle) <= a)
      low = middle;
    else
      high = middle;
  }
  exact below = half_value(low), above = low == 0x7bff ? (exact)65536 : half_value(low + 1);
  if (a - below > above - a || (a - below == above - a && low & 1)) ++low;
  return low | (minus ? 0x8000 : 0);
}
static uint64_t hfma(uint64_t x, uint64_t y, uint64_t z) {
  x &= 0xffff, y &= 0xffff, z &= 0xffff;
  bool infinite = (x & 0x7fff) >= 0x7c00 || (y & 0x7fff) >= 0x7c00 || (z & 0x7fff) >= 0x7c00;
  if (infinite) return 0x10000; // not asked
  exact p = half_value((uint32_t)x) * half_value((uint32_t)y), s = p + half_value((uint32_t)z);
  bool minus = s < 0 || (s == 0 && (z & 0x8000) && ((x ^ y) & 0x8000));
  if (s == 0 && p == 0 && !half_value((uint32_t)z)) minus = (z & 0x8000) && ((x ^ y) & 0x8000);
  return half_nearest(s, minus);
}

static const instruction instructions[] = {
    {"bfe.u32 %r0, %r1, %r2, %r3", 4, 4, bfe_u32},
    {"bfe.s32 %r0, %r1, %r2, %r3", 4, 4, bfe_s32},
    {"bfi.b32 %r0, %r1, %r2, %r3, %r1", 4, 4, bfi},
    {"prmt.b32 %r0, %r1, %r2, %r3", 4, 4, prmt},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3", 4, 4, shf_lw},
    {"shf.l.clamp.b32 %r0, %r1, %r2, %r3", 4, 4, shf_lc},
    {"shf.r.clamp.b32 %r0, %r1, %r2, %r3", 4, 4, shf_rc},
    {"dp4a.s32.s32 %r0, %r1, %r2, %r3", 4, 4, dp4a},
    {"dp4a.u32.u32 %r0, %r1, %r2, %r3", 4, 4, dp4a_u},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0xCA", 4, 4, lop3},
    {"sad.s32 %r0, %r1, %r2, %r3", 4, 4, sad},
    {"bfind.u32 %r0, %r1", 4, 4, bfind},
    {"add.sat.s32 %r0, %r1, %r2", 4, 4, fns_sat},
    {"mul24.lo.u32 %r0, %r1, %r2", 4, 4, mul24},
    {"add.cc.u32 %r4, %r2, %r1; addc.u32 %r0, %r1, %r3", 4, 4, carry},
    {"sub.cc.u32 %r4, %r2, %r1; subc.u32 %r0, %r1, %r3", 4, 4, borrow},
    {"slct.u32.s32 %r0, %r1, %r2, %r3", 4, 4, slct},
    {"add.ftz.f32 %f0, %f1, %f2", 4, 4, add_ftz},
    {"fma.rn.ftz.f32 %f0, %f1, %f2, %f3", 4, 4, fma_ftz},
    {"mul.rz.f32 %f0, %f1, %f2", 4, 4, mul_rz},
    {"mul.rp.f32 %f0, %f1, %f2", 4, 4, mul_rp},
    {"mul.rm.f32 %f0, %f1, %f2", 4, 4, mul_rm},
    {"add.sat.f32 %f0, %f1, %f2", 4, 4, add_sat},
    {"ex2.approx.f32 %f0, %f1", 4, 4, ex2},
    {"cvt.s32.s8 %r0, %r1", 4, 4, cvt_s8},
    {"cvt.sat.u8.s32 %r0, %r1", 4, 4, cvt_sat_u8},
    {"cvt.rni.sat.s8.f32 %r0, %f1", 4, 4, cvt_sat_s8f},
    {"cvt.rna.tf32.f32 %r0, %f1", 4, 4, cvt_tf32},
    {"fma.rn.f16 %h0, %h1, %h2, %h3", 2, 2, hfma},
};

static uint64_t next_random(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static uint32_t operand(uint64_t* random, bool is_float) {
  uint64_t r = next_random(random);
  uint32_t bits = (uint32_t)(r >> 32);
  switch (r % 4) {
  case 0:
    return is_float
               ? (uint32_t[]){0, 0x80000000, 0x7f800000, 0x3f800000, 1, 0x807fffff, 0x00800000, 0x7f7fffff}[r / 4 % 8]
               : (uint32_t)(r / 4 % 40);
  case 1:
    return is_float ? 0x3f000000 + (bits >> 7) : bits >> (r / 4 % 32);
  case 2:
    return is_float ? bits & 0x80ffffff : bits;
  default:
    return is_float && (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits;
  }
}

static void run(const instruction* in) {
  grid g;
  grid_open(&g, "threads=1");
  char text[4096], r = in->result == 2 ? 'h' : strstr(in->text, "%f0") ? 'f' : 'r';
  bool is_float = strchr(in->text, 'f') && strstr(in->text, "%f1");
  static const char* const types[] = {"u32", "f32", "b16"};
  const char *from = in->sources == 2 ? types[2]
                     : is_float       ? types[1]
                                      : types[0],
             *to = r == 'h'   ? types[2]
                   : r == 'f' ? types[1]
                              : types[0];
  char s = in->sources == 2 ? 'h' : is_float ? 'f' : 'r';
  snprintf(text, sizeof text,
           HEAD ".visible .entry k(.param .u64 o, .param .u64 a, .param .u64 b, .param .u64 c)\n{\n .reg .b32 "
                "%%r<9>;\n .reg .f32 %%f<9>;\n"
                " .reg .b16 %%h<9>;\n .reg .b64 %%d<9>;\n ld.param.u64 %%d1, [a];\n ld.param.u64 %%d2, [b];\n "
                "ld.param.u64 %%d3, [c];\n"
                " ld.param.u64 %%d4, [o];\n mov.u32 %%r5, %%tid.x;\n mov.u32 %%r6, %%ctaid.x;\n shl.b32 %%r6, %%r6, "
                "7;\n add.u32 %%r5, %%r5, %%r6;\n"
                " mul.wide.u32 %%d5, %%r5, 4;\n add.s64 %%d1, %%d1, %%d5;\n add.s64 %%d2, %%d2, %%d5;\n add.s64 %%d3, "
                "%%d3, %%d5;\n"
                " add.s64 %%d4, %%d4, %%d5;\n ld.global.%s %%%c1, [%%d1];\n ld.global.%s %%%c2, [%%d2];\n ld.global.%s "
                "%%%c3, [%%d3];\n"
                " %s;\n st.global.%s [%%d4], %%%c0;\n ret;\n}\n",
           from, s, from, s, from, s, in->text, to, r);
  grid_load(&g, text);
  static uint32_t a[N], b[N], c[N], o[N];
  uint64_t random = 99;
  for (int k = 0; k < N; ++k)
    a[k] = operand(&random, is_float), b[k] = operand(&random, is_float), c[k] = operand(&random, is_float);
  memset(o, 0, sizeof o);
  uint64_t at = grid_buffer(&g, o, sizeof o);
  grid_buffer(&g, a, sizeof a), grid_buffer(&g, b, sizeof b), grid_buffer(&g, c, sizeof c);
  grid_runs(&g, "k", N / 128, 128);
  grid_read(&g, at, o, sizeof o);
  for (int k = 0; k < N; ++k) {
    uint64_t right = in->right(a[k], b[k], c[k]), have = in->result == 2 ? o[k] & 0xffff : o[k];
    if (in->result == 2 && right > 0xffff) continue;
    if (have != right)
      fail_msg("%s of %#x, %#x, %#x is %#llx, the machine says %#llx", in->text, a[k], b[k], c[k],
               (unsigned long long)right, (unsigned long long)have);
  }
  grid_close(&g);
}

static void as_the_isa_says(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof instructions / sizeof *instructions; ++k) run(&instructions[k]);
}

// Products of a warp: small whole numbers, exact in any order.
typedef struct product {
  const char *shape, *types;
  int k, factor, sum; // bits of a factor; 's', 'f', 'h' or 'd'
} product;
static const product products[] = {
    {"m16n8k16", "f32.f16.f16.f32", 16, 16, 'f'},    {"m16n8k8", "f32.f16.f16.f32", 8, 16, 'f'},
    {"m16n8k16", "f32.bf16.bf16.f32", 16, -16, 'f'}, {"m16n8k8", "f32.tf32.tf32.f32", 8, 32, 'f'},
    {"m16n8k4", "f32.tf32.tf32.f32", 4, 32, 'f'},    {"m16n8k32", "s32.s8.s8.s32", 32, 8, 's'},
    {"m16n8k16", "s32.s8.s8.s32", 16, 8, 's'},       {"m16n8k16", "f16.f16.f16.f16", 16, 16, 'h'},
};

static uint32_t encode(int value, int bits) {
  float v = (float)value;
  uint32_t b;
  memcpy(&b, &v, 4);
  if (bits == 32) return b;
  if (bits == -16) return b >> 16;
  if (bits == 8) return (uint32_t)value & 0xff;
  return value ? (b >> 16 & 0x8000) | (((b >> 23 & 0xff) - 112) << 10) | (b >> 13 & 0x3ff) : 0;
}

static void multiply(const product* p) {
  int bits = abs(p->factor), per = 32 / bits, of_a = 16 * p->k / 32 / per, of_b = 8 * p->k / 32 / per,
      of_c = p->sum == 'h' ? 2 : 4;
  int a[16][32], b[32][8], c[16][8];
  uint32_t in[32][12] = {0}, out[32][4];
  for (int m = 0; m < 16; ++m)
    for (int k = 0; k < p->k; ++k) a[m][k] = (m * 5 + k * 3) % 9 - 4;
  for (int k = 0; k < p->k; ++k)
    for (int n = 0; n < 8; ++n) b[k][n] = (k * 7 + n) % 7 - 3;
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 8; ++n) c[m][n] = m - 2 * n;
  // Registers 0 to 3 are A, 4 and 5 B, 6 to 9 C; 9.7.14.5 of the ISA.
  for (int l = 0; l < 32; ++l) {
    int group = l >> 2, in_group = l % 4;
    for (int i = 0; i < of_a * per; ++i) {
      int reg = i / per, row = group + (reg % 2 ? 8 : 0), column = in_group * per + i % per + (reg >= 2 ? 4 * per : 0);
      in[l][reg] |= encode(a[row][column], p->factor) << bits % 32 * (i % per);
    }
    for (int i = 0; i < of_b * per; ++i) {
      int row = in_group * per + i % per + i / per * 4 * per;
      in[l][4 + i / per] |= encode(b[row][group], p->factor) << bits % 32 * (i % per);
    }
    for (int i = 0; i < 4; ++i) {
      int v = c[group + (i >= 2 ? 8 : 0)][in_group * 2 + i % 2];
      if (p->sum == 'h')
        in[l][6 + i / 2] |= encode(v, 16) << 16 * (i % 2);
      else
        in[l][6 + i] = p->sum == 's' ? (uint32_t)v : encode(v, 32);
    }
  }
  char text[4096], as[64] = "", bs[64] = "", cs[64] = "";
  for (int r = 0; r < of_a; ++r) sprintf(as + strlen(as), "%s%%r%d", r ? ", " : "", r);
  for (int r = 0; r < of_b; ++r) sprintf(bs + strlen(bs), "%s%%r%d", r ? ", " : "", 4 + r);
  for (int r = 0; r < of_c; ++r) sprintf(cs + strlen(cs), "%s%%r%d", r ? ", " : "", 6 + r);
  snprintf(text, sizeof text,
           HEAD ".visible .entry k(.param .u64 o, .param .u64 a)\n{\n .reg .b32 %%r<20>;\n .reg .b64 %%d<9>;\n "
                "ld.param.u64 %%d1, [o];\n ld.param.u64 %%d2, [a];\n"
                " mov.u32 %%r12, %%tid.x;\n mul.wide.u32 %%d3, %%r12, 48;\n add.s64 %%d2, %%d2, %%d3;\n mul.wide.u32 "
                "%%d3, %%r12, 16;\n add.s64 %%d1, %%d1, %%d3;\n"
                " ld.global.v4.u32 {%%r0,%%r1,%%r2,%%r3}, [%%d2];\n ld.global.v4.u32 {%%r4,%%r5,%%r6,%%r7}, "
                "[%%d2+16];\n ld.global.v4.u32 {%%r8,%%r9,%%r10,%%r11}, [%%d2+32];\n"
                " mma.sync.aligned.%s.row.col.%s {%s}, {%s}, {%s}, {%s};\n st.global.v4.u32 [%%d1], "
                "{%%r6,%%r7,%%r8,%%r9};\n ret;\n}\n",
           p->shape, p->types, cs, as, bs, cs);
  grid g;
  grid_open(&g, NULL);
  grid_load(&g, text);
  uint64_t at = grid_buffer(&g, NULL, sizeof out);
  grid_buffer(&g, in, sizeof in);
  grid_runs(&g, "k", 1, 32);
  grid_read(&g, at, out, sizeof out);
  assert_int_equal(grid_counter(&g, "matrix.macs"), 16 * 8 * p->k);
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 4; ++i) {
      int m = (l >> 2) + (i >= 2 ? 8 : 0), n = l % 4 * 2 + i % 2, sum = c[m][n];
      for (int k = 0; k < p->k; ++k) sum += a[m][k] * b[k][n];
      uint32_t right = p->sum == 'h' ? encode(sum, 16) : p->sum == 's' ? (uint32_t)sum : encode(sum, 32);
      uint32_t have = p->sum == 'h' ? out[l][i / 2] >> 16 * (i % 2) & 0xffff : out[l][i];
      if (have != right)
        fail_msg("%s.%s: row %d, column %d is %#x, the machine says %#x", p->shape, p->types, m, n, right, have);
    }
  grid_close(&g);
}

static void matrices(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof products / sizeof *products; ++k) multiply(&products[k]);
}

// Four matrices of 8 x 8 from shared memory, as they are and transposed, and back.
static void fragments(void** state) {
  (void)state;
  for (int turned = 0; turned < 2; ++turned) {
    grid g;
    grid_open(&g, NULL);
    char text[4096];
    snprintf(text, sizeof text,
             HEAD ".visible .entry k(.param .u64 o, .param .u64 a)\n{\n .reg .b32 %%r<20>;\n .reg .b64 %%d<9>;\n "
                  ".shared .align 16 .b8 s[512];\n .shared .align 16 .b8 t[512];\n"
                  " ld.param.u64 %%d1, [o];\n ld.param.u64 %%d2, [a];\n mov.u32 %%r1, %%tid.x;\n mul.wide.u32 %%d3, "
                  "%%r1, 16;\n add.s64 %%d2, %%d2, %%d3;\n add.s64 %%d1, %%d1, %%d3;\n"
                  " shl.b32 %%r2, %%r1, 4;\n mov.u32 %%r3, s;\n add.u32 %%r4, %%r3, %%r2;\n mov.u32 %%r3, t;\n add.u32 "
                  "%%r9, %%r3, %%r2;\n"
                  " cp.async.cg.shared.global [%%r4], [%%d2], 16;\n cp.async.commit_group;\n cp.async.wait_group 0;\n "
                  "bar.sync 0;\n"
                  " ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 {%%r5,%%r6,%%r7,%%r8}, [%%r4];\n"
                  " stmatrix.sync.aligned.m8n8.x4.shared.b16 [%%r9], {%%r5,%%r6,%%r7,%%r8};\n bar.sync 0;\n"
                  " ld.shared.v4.u32 {%%r5,%%r6,%%r7,%%r8}, [%%r9];\n st.global.v4.u32 [%%d1], "
                  "{%%r5,%%r6,%%r7,%%r8};\n ret;\n}\n",
             turned ? ".trans" : "");
    grid_load(&g, text);
    uint16_t in[4][8][8], out[4][8][8];
    for (int k = 0; k < 256; ++k) ((uint16_t*)in)[k] = (uint16_t)(k * 257 + 1);
    uint64_t at = grid_buffer(&g, NULL, sizeof out);
    grid_buffer(&g, in, sizeof in);
    grid_runs(&g, "k", 1, 32);
    grid_read(&g, at, out, sizeof out);
    for (int m = 0; m < 4; ++m)
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) assert_int_equal(out[m][i][j], turned ? in[m][j][i] : in[m][i][j]);
    grid_close(&g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_isa_says), cmocka_unit_test(matrices),
                                     cmocka_unit_test(fragments)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
