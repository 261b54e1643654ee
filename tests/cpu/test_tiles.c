// The decoder of instructions on tiles against encodings made by LLVM's assembler, and what the instructions do against
// sums written out here.
#include "tests/cpu/tiles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINES = 4096, MOST_BYTES = 16 };

static const char* const names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

typedef struct line {
  char text[96];
  pb_tile_code wanted; // length: as the assembler has it
} line;

typedef struct lines {
  line* items;
  int count;
} lines;

static line* add_line(lines* l, pb_tile_op op) {
  assert_true(l->count < MOST_LINES);
  line* new = &l->items[l->count++];
  new->wanted = (pb_tile_code){.op = op, .base = PB_TILE_NO_REGISTER, .index = PB_TILE_NO_REGISTER, .scale = 1};
  return new;
}

static void add_address(line* l, const char* before, int base, int index, int scale, int displacement,
                        const char* after) {
  l->wanted.base = base;
  l->wanted.index = index;
  l->wanted.scale = scale;
  l->wanted.displacement = displacement;
  const char* from = base == PB_TILE_NEXT ? "%rip" : "";
  char place[48];
  if (base >= 0 && index >= 0)
    snprintf(place, sizeof place, "%d(%%%s,%%%s,%d)", displacement, names[base], names[index], scale);
  else if (base >= 0)
    snprintf(place, sizeof place, "%d(%%%s)", displacement, names[base]);
  else if (index >= 0)
    snprintf(place, sizeof place, "%d(,%%%s,%d)", displacement, names[index], scale);
  else
    snprintf(place, sizeof place, "%d(%s)", displacement, from);
  snprintf(l->text, sizeof l->text, "%s%s%s", before, place, after);
}

// Every base, index, factor and size of displacement, all tiles in turn.
static void add_moves(lines* l) {
  static const int displacements[] = {0, 5, -128, 127, 128, -4096, 1 << 20};
  int turn = 0;
  for (int base = 0; base < 16; ++base)
    for (int index = 0; index < 16; ++index) {
      if (index == 4) continue; // rsp cannot be one
      int scale = 1 << turn % 4, displacement = displacements[turn % 7], tile = turn % PB_TILES, kind = turn % 3;
      char before[32], after[16] = "";
      ++turn;
      snprintf(before, sizeof before, kind == 2 ? "tilestored %%tmm%d, " : kind ? "tileloadd " : "tileloaddt1 ", tile);
      if (kind != 2) snprintf(after, sizeof after, ", %%tmm%d", tile);
      line* new = add_line(l, kind == 2 ? PB_TILE_STORE : PB_TILE_LOAD);
      new->wanted.dest = tile;
      add_address(new, before, base, index, scale, displacement, after);
    }
  line* new = add_line(l, PB_TILE_LOAD);
  new->wanted.dest = 3;
  add_address(new, "tileloadd ", PB_TILE_NO_REGISTER, 9, 2, 64, ", %tmm3");
}

static void add_configurations(lines* l) {
  for (int base = 0; base < 16; ++base) {
    add_address(add_line(l, PB_TILE_CONFIG), "ldtilecfg ", base, PB_TILE_NO_REGISTER, 1, 8 - 70 * base, "");
    add_address(add_line(l, PB_TILE_CONFIG), "ldtilecfg ", base, (base + 5) % 16 == 4 ? 5 : (base + 5) % 16, 4, base,
                "");
  }
  add_address(add_line(l, PB_TILE_CONFIG), "ldtilecfg ", PB_TILE_NEXT, PB_TILE_NO_REGISTER, 1, 1234, "");
  strcpy(add_line(l, PB_TILE_RELEASE)->text, "tilerelease");
}

static void add_products(lines* l) {
  static const char* const spellings[2][2] = {{"tdpbuud", "tdpbusd"}, {"tdpbsud", "tdpbssd"}};
  for (int d = 0; d < PB_TILES; ++d) {
    line* zero = add_line(l, PB_TILE_ZERO);
    zero->wanted.dest = d;
    snprintf(zero->text, sizeof zero->text, "tilezero %%tmm%d", d);
    for (int a = 0; a < PB_TILES; ++a)
      for (int b = 0; b < PB_TILES; ++b) {
        if (a == b || a == d || b == d) continue;
        bool signed_a = (a + b + d) & 1, signed_b = (a + d) & 1;
        line* new = add_line(l, PB_TILE_DOT);
        new->wanted.dest = d;
        new->wanted.a = a;
        new->wanted.b = b;
        new->wanted.a_is_signed = signed_a;
        new->wanted.b_is_signed = signed_b;
        snprintf(new->text, sizeof new->text, "%s %%tmm%d, %%tmm%d, %%tmm%d", spellings[signed_a][signed_b], b, a, d);
        line* floats = add_line(l, PB_TILE_DOT_BF16);
        floats->wanted.dest = d;
        floats->wanted.a = a;
        floats->wanted.b = b;
        snprintf(floats->text, sizeof floats->text, "tdpbf16ps %%tmm%d, %%tmm%d, %%tmm%d", b, a, d);
      }
  }
}

// What the assembler makes of the lines, one after the other.
static FILE* assemble(const lines* l, char* path) {
  int file = mkstemp(path);
  assert_true(file >= 0);
  FILE* source = fdopen(file, "w");
  for (int k = 0; k < l->count; ++k) fprintf(source, "%s\n", l->items[k].text);
  fclose(source);
  char command[512];
  snprintf(command, sizeof command, "%s -triple=x86_64 -mattr=+amx-tile,+amx-int8,+amx-bf16 --show-encoding %s",
           PB_LLVM_MC, path);
  return popen(command, "r");
}

static int read_bytes(const char* text, uint8_t* bytes) {
  const char* at = strstr(text, "encoding: [");
  int count = 0;
  if (!at) return 0;
  for (at += strlen("encoding: ["); count < MOST_BYTES && *at && *at != ']'; at += *at == ',') {
    char* end;
    bytes[count++] = (uint8_t)strtoul(at, &end, 16);
    at = end;
  }
  return count;
}

static void check_decoded(const line* l, const uint8_t* bytes, int length) {
  pb_tile_code got;
  if (!pb_tile_decode(bytes, &got)) fail_msg("not decoded: %s", l->text);
  const pb_tile_code* want = &l->wanted;
  bool addressed = want->op == PB_TILE_CONFIG || want->op == PB_TILE_LOAD || want->op == PB_TILE_STORE;
  bool same = got.op == want->op && got.length == length && got.dest == want->dest;
  if (want->op == PB_TILE_DOT || want->op == PB_TILE_DOT_BF16)
    same &= got.a == want->a && got.b == want->b && got.a_is_signed == want->a_is_signed &&
            got.b_is_signed == want->b_is_signed;
  if (addressed)
    same &= got.base == want->base && got.index == want->index && (got.index < 0 || got.scale == want->scale) &&
            got.displacement == want->displacement;
  if (!same) fail_msg("decoded as something else: %s", l->text);
}

static void test_decodes_what_the_assembler_makes(void** state) {
  (void)state;
  lines l = {calloc(MOST_LINES, sizeof(line)), 0};
  assert_non_null(l.items);
  add_moves(&l);
  add_configurations(&l);
  add_products(&l);
  char path[] = P_tmpdir "/pb-tiles-XXXXXX", text[256];
  FILE* listing = assemble(&l, path);
  assert_non_null(listing);
  int checked = 0;
  while (fgets(text, sizeof text, listing)) {
    uint8_t bytes[MOST_BYTES + 16] = {0};
    int length = read_bytes(text, bytes);
    if (!length) continue;
    assert_true(checked < l.count);
    check_decoded(&l.items[checked++], bytes, length);
  }
  assert_int_equal(pclose(listing), 0);
  unlink(path);
  assert_int_equal(checked, l.count);
  free(l.items);
}

static void test_leaves_other_instructions(void** state) {
  (void)state;
  static const uint8_t others[][8] = {
      {0x0F, 0x0B},                                     // ud2
      {0xC4, 0xE2, 0x79, 0x49, 0x00},                   // sttilecfg (%rax)
      {0xC4, 0xE2, 0x73, 0x5C, 0xDA},                   // tdpfp16ps
      {0xC4, 0xE2, 0x71, 0x50, 0xC2},                   // vpdpbusd of AVX-VNNI
      {0xC4, 0xE2, 0xF8, 0x49, 0xC0},                   // W = 1
      {0xC4, 0xE2, 0x7B, 0x4B, 0x00},                   // tileloadd without a SIB byte
      {0x62, 0xF2, 0x75, 0x48, 0x50, 0xC2, 0x00, 0x00}, // EVEX
  };
  for (size_t k = 0; k < sizeof others / sizeof *others; ++k) {
    pb_tile_code code;
    uint8_t bytes[MOST_BYTES] = {0};
    memcpy(bytes, others[k], sizeof others[k]);
    assert_false(pb_tile_decode(bytes, &code));
  }
}

// ---- what they do ----

typedef struct shapes {
  uint8_t bytes[64];
} shapes;

static void set_shape(shapes* s, int tile, int rows, int row_bytes) {
  s->bytes[0] = 1;
  s->bytes[16 + 2 * tile] = (uint8_t)row_bytes;
  s->bytes[48 + tile] = (uint8_t)rows;
}

static const char* configure(pb_tile_state* state, const shapes* s) {
  pb_tile_code code = {.op = PB_TILE_CONFIG, .base = 0, .index = PB_TILE_NO_REGISTER, .scale = 1};
  return pb_tile_execute(state, &code, (uint64_t[16]){(uint64_t)(uintptr_t)s->bytes}, 0);
}

static const char* move(pb_tile_state* state, pb_tile_op op, int tile, void* at, uint64_t stride) {
  pb_tile_code code = {.op = op, .dest = tile, .base = 3, .index = 9, .scale = 2, .displacement = -8};
  uint64_t registers[16] = {[3] = (uint64_t)(uintptr_t)at + 8, [9] = stride / 2};
  return pb_tile_execute(state, &code, registers, 0);
}

static void test_multiplies(void** state) {
  (void)state;
  enum { M = 5, N = 7, K = 3, APART = 90 };
  static int8_t a[M * APART], b[K * 4 * N];
  static int32_t c[M * 20];
  srand(4);
  for (size_t k = 0; k < sizeof a; ++k) a[k] = (int8_t)rand();
  for (size_t k = 0; k < sizeof b; ++k) b[k] = (int8_t)rand();
  for (int signs = 0; signs < 4; ++signs) {
    pb_tile_state* tiles = calloc(1, sizeof *tiles);
    assert_non_null(tiles);
    shapes s = {{0}};
    set_shape(&s, 1, M, 4 * N);
    set_shape(&s, 4, M, 4 * K);
    set_shape(&s, 6, K, 4 * N);
    assert_null(configure(tiles, &s));
    for (int k = 0; k < M * 20; ++k) c[k] = 1000 * k - 50000;
    assert_null(move(tiles, PB_TILE_LOAD, 1, c, 80));
    assert_null(move(tiles, PB_TILE_LOAD, 4, a, APART));
    assert_null(move(tiles, PB_TILE_LOAD, 6, b, 4 * N));
    pb_tile_code code = {
        .op = PB_TILE_DOT, .dest = 1, .a = 4, .b = 6, .a_is_signed = signs & 1, .b_is_signed = signs & 2};
    for (int twice = 0; twice < 2; ++twice) assert_null(pb_tile_execute(tiles, &code, (uint64_t[16]){0}, 0));
    int32_t got[M * 20];
    memset(got, 0x55, sizeof got);
    assert_null(move(tiles, PB_TILE_STORE, 1, got, 80));
    for (int m = 0; m < M; ++m)
      for (int n = 0; n < 20; ++n) {
        int sum = 0;
        for (int k = 0; n < N && k < 4 * K; ++k) {
          int8_t x = a[m * APART + k], w = b[k / 4 * 4 * N + 4 * n + k % 4];
          sum += (signs & 1 ? x : (uint8_t)x) * (signs & 2 ? w : (uint8_t)w);
        }
        assert_int_equal(got[m * 20 + n], n < N ? c[m * 20 + n] + 2 * sum : 0x55555555);
      }
    free(tiles);
  }
}

static uint16_t upper_half(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return (uint16_t)(bits >> 16);
}

// Small whole numbers, whose sums are exact in any order, and one product below the least normal number, which is lost.
static void test_multiplies_bf16(void** state) {
  (void)state;
  enum { M = 3, N = 5, K = 4 };
  static uint16_t a[M][2 * K], b[K][2 * N]; // the upper halves of f32
  static float c[M][N], got[M][N], x[M][2 * K], w[K][2 * N];
  srand(5);
  for (int m = 0; m < M; ++m)
    for (int k = 0; k < 2 * K; ++k) x[m][k] = (float)(rand() % 64 - 32);
  for (int k = 0; k < K; ++k)
    for (int n = 0; n < 2 * N; ++n) w[k][n] = (float)(rand() % 64 - 32);
  x[0][0] = 0x1p-100f; // times w: 2^-128
  for (int n = 0; n < N; ++n) w[0][2 * n] = 0x1p-28f;
  for (int m = 0; m < M; ++m)
    for (int k = 0; k < 2 * K; ++k) a[m][k] = upper_half(x[m][k]);
  for (int k = 0; k < K; ++k)
    for (int n = 0; n < 2 * N; ++n) b[k][n] = upper_half(w[k][n]);
  pb_tile_state* tiles = calloc(1, sizeof *tiles);
  assert_non_null(tiles);
  shapes s = {{0}};
  set_shape(&s, 1, M, 4 * N);
  set_shape(&s, 4, M, 4 * K);
  set_shape(&s, 6, K, 4 * N);
  assert_null(configure(tiles, &s));
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) c[m][n] = (float)(m - n);
  assert_null(move(tiles, PB_TILE_LOAD, 1, c, sizeof c[0]));
  assert_null(move(tiles, PB_TILE_LOAD, 4, a, sizeof a[0]));
  assert_null(move(tiles, PB_TILE_LOAD, 6, b, sizeof b[0]));
  pb_tile_code code = {.op = PB_TILE_DOT_BF16, .dest = 1, .a = 4, .b = 6};
  assert_null(pb_tile_execute(tiles, &code, (uint64_t[16]){0}, 0));
  assert_null(move(tiles, PB_TILE_STORE, 1, got, sizeof got[0]));
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      float sum = 0, even = 0;
      for (int k = 0; k < K; ++k) {
        even += x[m][2 * k] * w[k][2 * n];
        sum += x[m][2 * k + 1] * w[k][2 * n + 1];
      }
      if (m == 0) even -= x[0][0] * w[0][2 * n];
      assert_true(got[m][n] == c[m][n] + (even + sum));
    }
  free(tiles);
}

static void test_clears(void** state) {
  (void)state;
  pb_tile_state* tiles = calloc(1, sizeof *tiles);
  assert_non_null(tiles);
  shapes s = {{0}};
  set_shape(&s, 2, 16, 64);
  assert_null(configure(tiles, &s));
  memset(tiles->data[2], 7, sizeof tiles->data[2]);
  pb_tile_code code = {.op = PB_TILE_ZERO, .dest = 2};
  assert_null(pb_tile_execute(tiles, &code, (uint64_t[16]){0}, 0));
  for (int r = 0; r < 16; ++r)
    for (int k = 0; k < 64; ++k) assert_int_equal(tiles->data[2][r][k], 0);
  code.op = PB_TILE_RELEASE;
  assert_null(pb_tile_execute(tiles, &code, (uint64_t[16]){0}, 0));
  code.op = PB_TILE_ZERO;
  assert_non_null(pb_tile_execute(tiles, &code, (uint64_t[16]){0}, 0));
  free(tiles);
}

// A processor raises an exception; the trap must not pass over it.
static void test_refuses(void** state) {
  (void)state;
  pb_tile_state* tiles = calloc(1, sizeof *tiles);
  assert_non_null(tiles);
  shapes s = {{0}};
  set_shape(&s, 0, 17, 64);
  assert_non_null(configure(tiles, &s));
  set_shape(&s, 0, 16, 0);
  assert_non_null(configure(tiles, &s));
  set_shape(&s, 0, 16, 64);
  set_shape(&s, 1, 15, 64);
  set_shape(&s, 2, 16, 64);
  s.bytes[5] = 1;
  assert_non_null(configure(tiles, &s));
  s.bytes[5] = 0;
  assert_null(configure(tiles, &s));
  pb_tile_code code = {.op = PB_TILE_DOT, .dest = 0, .a = 1, .b = 2};
  assert_non_null(pb_tile_execute(tiles, &code, (uint64_t[16]){0}, 0)); // 15 rows into 16
  code.a = 2;
  assert_non_null(pb_tile_execute(tiles, &code, (uint64_t[16]){0}, 0)); // one tile twice
  code = (pb_tile_code){.op = PB_TILE_ZERO, .dest = 3};
  assert_non_null(pb_tile_execute(tiles, &code, (uint64_t[16]){0}, 0)); // without a shape
  free(tiles);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_decodes_what_the_assembler_makes),
      cmocka_unit_test(test_leaves_other_instructions),
      cmocka_unit_test(test_multiplies),
      cmocka_unit_test(test_multiplies_bf16),
      cmocka_unit_test(test_clears),
      cmocka_unit_test(test_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
