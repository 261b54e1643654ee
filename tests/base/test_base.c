// What everything stands on: arenas, arrays that grow, diagnostics, types, the table of constants, SHA-256.
#include "core/base/consts.h"
#include "core/base/diag.h"
#include "core/base/half.h"
#include "core/base/numbers.h"
#include "core/base/pages.h"
#include "core/base/processor.h"
#include "core/base/sha256.h"
#include "core/base/shown.h"
#include "core/base/symbols.h"
#include "core/base/table.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static void arena_gives_zeroed_aligned_memory_that_stays(void** state) {
  (void)state;
  enum { COUNT = 3000 };
  pb_arena arena = {0};
  unsigned char* part[COUNT];
  size_t size[COUNT];
  for (int k = 0; k < COUNT; ++k) {
    size[k] = k % 500 == 499 ? 100000 : (size_t)(k * 7 % 400); // some are larger than a block
    part[k] = pb_alloc(&arena, size[k]);
    assert_int_equal((uintptr_t)part[k] % 16, 0);
    for (size_t b = 0; b < size[k]; ++b) assert_int_equal(part[k][b], 0);
    memset(part[k], k % 255 + 1, size[k]);
  }
  for (int k = 0; k < COUNT; ++k)
    for (size_t b = 0; b < size[k]; b += 97) assert_int_equal(part[k][b], k % 255 + 1);
  pb_arena_free(&arena);
  assert_null(arena.head);
  pb_arena_free(&arena); // an empty one is fine
}

static void arena_texts(void** state) {
  (void)state;
  pb_arena arena = {0};
  char text[] = "kernel";
  char* copy = pb_strdup(&arena, text);
  text[0] = 'K';
  assert_string_equal(copy, "kernel");
  assert_string_equal(pb_printf(&arena, "%s%d: %*d", "k", 12, 5000, 7) + 4, pb_printf(&arena, " %*d", 5000, 7));
  assert_string_equal(pb_printf(&arena, "%s", ""), "");
  pb_arena_free(&arena);
}

static void arrays_grow(void** state) {
  (void)state;
  int* items = NULL;
  size_t count = 0, capacity = 0;
  for (int k = 0; k < 10000; ++k) PB_PUSH(items, count, capacity, k * 3);
  assert_int_equal(count, 10000);
  assert_true(capacity >= count);
  for (int k = 0; k < 10000; ++k) assert_int_equal(items[k], k * 3);
  free(items);
}

typedef struct heard {
  int calls, code;
  bool error;
  char text[8192];
} heard;

static void listen(void* user, bool error, int code, const char* text) {
  heard* h = user;
  ++h->calls;
  h->error = error;
  h->code = code;
  snprintf(h->text, sizeof h->text, "%s", text);
}

static void diagnostics_have_one_form(void** state) {
  (void)state;
  heard h = {0};
  pb_diag diag = {.sink = listen, .user = &h};
  pb_place whole = {.file = "m.onnx", .line = 3, .column = 7, .what = "node 'c' (Conv)"};
  assert_int_equal(pb_error(&diag, whole, 2001, "make it %s", "no %s, %d", "good", 5), PB_ERR_INPUT);
  assert_string_equal(h.text, "m.onnx:3:7: error: node 'c' (Conv): no good, 5 [PB2001]\n  hint: make it %s");
  assert_true(h.error && h.code == 2001);
  assert_int_equal(pb_error(&diag, (pb_place){.file = "m", .line = 4}, 12, NULL, "x"), PB_ERR_INPUT);
  assert_string_equal(h.text, "m:4:1: error: x [PB0012]");
  assert_int_equal(pb_unsupported(&diag, (pb_place){.file = "m"}, 4001, NULL, "x"), PB_ERR_UNSUPPORTED);
  assert_string_equal(h.text, "m: error: x [PB4001]");
  errno = ENOENT;
  assert_int_equal(pb_system_error(&diag, (pb_place){0}, 1001, "cannot"), PB_ERR_SYSTEM);
  assert_non_null(strstr(h.text, strerror(ENOENT)));
  assert_int_equal(diag.errors, 4);
  pb_warning(&diag, (pb_place){0}, 1009, "w");
  assert_string_equal(h.text, "warning: w [PB1009]");
  assert_false(h.error);
  assert_int_equal(diag.errors, 4);
  assert_int_equal(diag.warnings, 1);
  assert_int_equal(h.calls, 5);
}

static void text_is_shown(void** state) {
  (void)state;
  static const struct {
    const char *text, *shown, *json;
  } rows[] = {{"conv1/3 'x' \\n", "conv1/3 'x' \\n", "\"conv1/3 'x' \\\\n\""},
              {"\xc3\xa9 \xe5\xb1\x82 \xf0\x9f\x8d\x8e", "\xc3\xa9 \xe5\xb1\x82 \xf0\x9f\x8d\x8e",
               "\"\xc3\xa9 \xe5\xb1\x82 \xf0\x9f\x8d\x8e\""},
              {"a\n\r\t\x1b[1m\x7f\"", "a\\n\\r\\t\\x1b[1m\\x7f\"", "\"a\\u000a\\u000d\\u0009\\u001b[1m\\u007f\\\"\""},
              {"\xc2\x9b", "\\xc2\\x9b", "\"\\u009b\""},                        // a control character of eight bits
              {"\xe2\x80\xae!", "\\xe2\\x80\\xae!", "\"\\u202e!\""},            // writes from right to left
              {"\xe2\x80\xa8", "\\xe2\\x80\\xa8", "\"\\u2028\""},               // ends a line
              {"\x9b", "\\x9b", "\"\\ufffd\""},                                 // no UTF-8: alone
              {"\xe5\xb1", "\\xe5\\xb1", "\"\\ufffd\\ufffd\""},                 // cut
              {"\xc0\x8a", "\\xc0\\x8a", "\"\\ufffd\\ufffd\""},                 // an end of a line in too many bytes
              {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\"\\ufffd\\ufffd\\ufffd\""}, // half a pair
              {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
              {"", "", "\"\""}};
  pb_arena arena = {0};
  char out[16];
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    assert_string_equal(pb_shown(&arena, rows[k].text), rows[k].shown);
    assert_string_equal(pb_shown_json(&arena, rows[k].text, strlen(rows[k].text)), rows[k].json);
  }
  assert_ptr_equal(pb_shown(&arena, rows[0].text), rows[0].text);
  assert_null(pb_shown(&arena, NULL));
  assert_string_equal(pb_show(out, sizeof out, "123456789012345"), "123456789012345");
  assert_string_equal(pb_show(out, sizeof out, "1234567890123456"), "123456789012...");
  assert_string_equal(pb_show(out, sizeof out, "12345678901\x1b..."),
                      "12345678901..."); // no half of what is written out
  assert_string_equal(pb_show(out, 3, "1234"), "12");
  assert_string_equal(pb_show(out, 1, "1234"), "");
  pb_arena_free(&arena);
}

static void names_forge_no_lines(void** state) {
  (void)state;
  heard h = {0};
  pb_diag diag = {.sink = listen, .user = &h};
  pb_place place = {.file = "m\n.onnx", .line = 1, .what = "node 'a\x1b[2J\nerror: b'"};
  (void)pb_error(&diag, place, 2001, "rename\nit", "no '%s'", "c\rd");
  assert_string_equal(h.text,
                      "m\\n.onnx:1:1: error: node 'a\\x1b[2J\\nerror: b': no 'c\\rd' [PB2001]\n  hint: rename\\nit");
  // however long a name is, the code is there
  char* name = calloc(1, 20001);
  memset(name, '\n', 20000);
  (void)pb_error(&diag, (pb_place){.what = name}, 2001, name, "%s", name);
  assert_non_null(strstr(h.text, "... [PB2001]\n  hint: \\n"));
  free(name);
}

static void long_diagnostics_are_cut(void** state) {
  (void)state;
  heard h = {0};
  pb_diag diag = {.sink = listen, .user = &h};
  char* file = calloc(1, 20001);
  memset(file, 'f', 20000);
  (void)pb_error(&diag, (pb_place){.file = file, .line = 1, .what = file}, 2001, file, "%s", file);
  assert_true(h.calls == 1 && strlen(h.text) < 8000);
  free(file);
}

static void types(void** state) {
  (void)state;
  static const struct {
    pb_type type;
    const char* name;
    int bits;
  } rows[] = {{PB_I1, "i1", 1},
              {PB_I8, "i8", 8},
              {PB_I16, "i16", 16},
              {PB_I32, "i32", 32},
              {PB_I64, "i64", 64},
              {PB_F16, "f16", 16},
              {PB_BF16, "bf16", 16},
              {PB_F32, "f32", 32},
              {PB_F64, "f64", 64},
              {PB_INDEX, "index", 64},
              {PB_U8, "u8", 8},
              {PB_UI8, "u8", 8},
              {PB_UI16, "u16", 16},
              {PB_UI32, "u32", 32},
              {PB_UI64, "u64", 64},
              {PB_I128, "i128", 128},
              {PB_F8E4M3FN, "f8E4M3FN", 8},
              {PB_F8E4M3FNUZ, "f8E4M3FNUZ", 8},
              {PB_F8E5M2, "f8E5M2", 8},
              {PB_F8E5M2FNUZ, "f8E5M2FNUZ", 8},
              {PB_F8E8M0FNU, "f8E8M0FNU", 8},
              {PB_F4E2M1FN, "f4E2M1FN", 4},
              {PB_I4, "i4", 4},
              {PB_U4, "u4", 4},
              {PB_I2, "i2", 2},
              {PB_U2, "u2", 2},
              {PB_E4M3, "f8e4m3", 8},
              {PB_E5M2, "f8e5m2", 8},
              {PB_W64, "i64", 64}};
  assert_int_equal(sizeof rows / sizeof *rows, PB_TYPE_COUNT);
  for (size_t k = 0; k < PB_TYPE_COUNT; ++k) {
    assert_int_equal(rows[k].type, k);
    assert_string_equal(pb_type_name(rows[k].type), rows[k].name);
    assert_int_equal(pb_type_bits(rows[k].type), rows[k].bits);
    assert_int_equal(pb_type_is_code(rows[k].type), k > PB_I128 && k < PB_E4M3);
    if (k > PB_I128) assert_int_equal(pb_type_stored(rows[k].type), k == PB_W64 ? PB_I32 : PB_I8);
  }
  assert_string_equal(pb_type_name(PB_TYPE_COUNT), "?");
}

// All of them there and back; the middle between two goes to the even one, and what is above it up.
static void halves(void** state) {
  (void)state;
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
    bool is_half = (bits & 0x7c00) != 0x7c00 || !(bits & 0x3ff),
         is_bfloat = (bits & 0x7f80) != 0x7f80 || !(bits & 0x7f);
    double half = (double)pb_half_number((uint16_t)bits), bfloat = (double)pb_bfloat_number((uint16_t)bits);
    if (is_half) assert_int_equal(pb_half_of(half), bits);
    if (is_bfloat) assert_int_equal(pb_bfloat_of(bfloat), bits);
    if (!is_half) assert_true(half != half && pb_half_of(half) == 0x7e00);
    if (!is_bfloat) assert_true(bfloat != bfloat && pb_bfloat_of(bfloat) == 0x7fc0);
    if ((bits & 0x7fff) < 0x7bff) {
      double middle = (half + (double)pb_half_number((uint16_t)(bits + 1))) / 2;
      assert_int_equal(pb_half_of(middle), bits + (bits & 1));
      assert_int_equal(pb_half_of(nextafter(middle, bits & 0x8000 ? -1e9 : 1e9)), bits + 1);
    }
  }
  assert_true(pb_half_number(1) == 0x1p-24f && pb_half_number(0x3c00) == 1 && pb_half_number(0xc000) == -2);
  assert_int_equal(pb_half_of(65519), 0x7bff);
  assert_int_equal(pb_half_of(65520), 0x7c00);
  assert_int_equal(pb_half_of(-1e300), 0xfc00);
  assert_int_equal(pb_bfloat_of(1 + 0x1p-8), 0x3f80);
  assert_int_equal(pb_bfloat_of(1 + 0x3p-8), 0x3f82);
}

// The same of 8 bits. E5M2 is the upper half of a float of 16 bits; E4M3 ends at 448, and NaN is behind it.
static void floats_of_a_byte(void** state) {
  (void)state;
  for (uint32_t bits = 0; bits < 256; ++bits) {
    double number = (double)pb_narrow_number(PB_E5M2, (uint16_t)bits), half = (double)pb_half_number(bits << 8);
    if (number == number)
      assert_true(number == half && pb_narrow_of(PB_E5M2, number) == bits);
    else
      assert_true(half != half && pb_narrow_of(PB_E5M2, number) == 0x7e);
    bool is_nan = (bits & 0x7f) == 0x7f;
    int exponent = bits >> 3 & 15;
    double magnitude = ldexp((double)((bits & 7) + (exponent ? 8 : 0)), (exponent ? exponent : 1) - 10);
    number = (double)pb_narrow_number(PB_E4M3, (uint16_t)bits);
    if (is_nan)
      assert_true(number != number && pb_narrow_of(PB_E4M3, number) == 0x7f);
    else
      assert_true(number == (bits & 0x80 ? -magnitude : magnitude) && pb_narrow_of(PB_E4M3, number) == bits);
    for (pb_type type = PB_E4M3; type <= PB_E5M2; ++type) {
      double here = (double)pb_narrow_number(type, bits), next = (double)pb_narrow_number(type, bits + 1);
      if ((bits & 0x7f) == 0x7f || here != here || next != next || isinf(next)) continue;
      double middle = (here + next) / 2;
      assert_int_equal(pb_narrow_of(type, middle), bits + (bits & 1));
      assert_int_equal(pb_narrow_of(type, nextafter(middle, bits & 0x80 ? -1e9 : 1e9)), bits + 1);
    }
  }
  assert_int_equal(pb_narrow_of(PB_E4M3, 464), 0x7e);
  assert_int_equal(pb_narrow_of(PB_E4M3, nextafter(464, 465)), 0x7f);
  assert_int_equal(pb_narrow_of(PB_E4M3, -INFINITY), 0xff);
  assert_int_equal(pb_narrow_of(PB_E5M2, nextafter(61440, 0)), 0x7b);
  assert_int_equal(pb_narrow_of(PB_E5M2, -61440), 0xfc);
}

static void constants_keep_their_ids(void** state) {
  (void)state;
  static const float numbers[6] = {1, 2, 3, 4, 5, 6};
  pb_consts consts = {0};
  char name[] = "first";
  assert_int_equal(pb_consts_add(&consts, name, PB_F32, 2, (const int64_t[]){2, 3}, numbers), 0);
  name[0] = '?';
  for (int k = 1; k < 100; ++k) assert_int_equal(pb_consts_add(&consts, NULL, PB_I8, 0, NULL, "x"), k);
  assert_int_equal(pb_consts_add(&consts, "bits", PB_I1, 1, (const int64_t[]){5}, "ababa"), 100);
  assert_string_equal(consts.items[0]->name, "first");
  assert_int_equal(consts.items[0]->bytes, 24);
  assert_int_equal(consts.items[0]->shape[1], 3);
  assert_ptr_equal(consts.items[0]->data, numbers); // not copied
  assert_string_equal(consts.items[1]->name, "");
  assert_int_equal(consts.items[1]->bytes, 1);
  assert_int_equal(consts.items[100]->bytes, 5); // a byte each
  pb_consts_free(&consts);
  assert_int_equal(consts.count, 0);
}

// Turns of a loop that are written out pack the same weights: once.
static void equal_packs_are_one(void** state) {
  (void)state;
  pb_consts consts = {0};
  const float numbers[6] = {1, 2, 3, 4, 5, 6};
  int from = pb_consts_add(&consts, "w", PB_F32, 2, (const int64_t[]){2, 3}, numbers);
  pb_pack pack = {.source = from, .dim_count = 2, .dims = {{3, 1, 1}, {2, 1, 0}}, .stride = {3, 1}, .extent = {2, 3}};
  for (int a = 2; a < PB_PACK_AXES; ++a) pack.extent[a] = 1;
  const int64_t turned[] = {3, 2}, flat[] = {6, 1};
  int first = pb_consts_add_pack(&consts, "a", 2, turned, &pack);
  assert_int_equal(pb_consts_add_pack(&consts, "b", 2, turned, &pack), first);
  assert_int_not_equal(pb_consts_add_pack(&consts, "c", 2, flat, &pack), first);
  pack.base = 1;
  pack.dims[0].extent = 2;
  int other = pb_consts_add_pack(&consts, "d", 2, (const int64_t[]){2, 2}, &pack);
  assert_int_not_equal(other, first);
  pack.source = first;
  assert_int_not_equal(pb_consts_add_pack(&consts, "e", 2, (const int64_t[]){2, 2}, &pack), other);
  const float* made = pb_const_data(&consts, first);
  assert_float_equal(made[1], 4, 0);
  pb_consts_free(&consts);
}

static void hex_of(const void* data, size_t bytes, size_t step, char* hex) {
  pb_sha256 sha;
  uint8_t hash[32];
  pb_sha256_init(&sha);
  for (size_t at = 0; at < bytes; at += step)
    pb_sha256_add(&sha, (const char*)data + at, bytes - at < step ? bytes - at : step);
  pb_sha256_done(&sha, hash);
  for (int k = 0; k < 32; ++k) sprintf(hex + 2 * k, "%02x", hash[k]);
}

// The examples of FIPS 180-4's test vectors.
static void sha256_of_known_texts(void** state) {
  (void)state;
  char hex[65], *million = malloc(1000000);
  hex_of("", 0, 1, hex);
  assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  hex_of("abc", 3, 3, hex);
  assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  hex_of(two, 56, 56, hex);
  assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  memset(million, 'a', 1000000);
  for (size_t step = 1; step < 1000000; step = step * 9 + 1) { // however it is cut into pieces
    hex_of(million, 1000000, step, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
  million[500000] ^= 1;
  hex_of(million, 1000000, 1000000, hex);
  assert_string_not_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  free(million);
}

// State 63 no processor has: it is refused when it is asked for.
static void features_are_there_or_pretended(void** state) {
  (void)state;
  char missing[32] = "";
  int number = 0;
  assert_true(pb_processor_has("", missing, sizeof missing));
  assert_true(pb_processor_state("state-63", &number));
  assert_int_equal(number, 63);
  assert_false(pb_processor_state("statement", NULL));
  assert_false(pb_processor_has("state-63", missing, sizeof missing));
  assert_string_equal(missing, "state-63");
  pb_processor_pretend("state-63,un_heard_of");
  assert_true(pb_processor_has("unheardof,state-63", missing, sizeof missing));
  assert_false(pb_processor_has("unheard", missing, sizeof missing));
  pb_processor_pretend(NULL);
  assert_false(pb_processor_has("unheardof", missing, sizeof missing));
}

static void memory_of_tensors_is_all_there(void** state) {
  (void)state;
  const uint64_t huge = 2u << 20, sizes[] = {0, 1, 63, 64, 4096, huge - 1, 2 * huge, 2 * huge + 1};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    unsigned char* data = pb_pages_alloc(sizes[k]);
    assert_non_null(data);
    assert_int_equal((uintptr_t)data % (sizes[k] < 2 * huge ? 64 : huge), 0);
    memset(data, 0x5a, sizes[k]);
    free(data);
  }
  for (uint64_t less = 0; less < huge; less += huge / 2) assert_null(pb_pages_alloc(UINT64_MAX - less));
}

static void tables_find_equal_bytes_and_the_same_address(void** state) {
  (void)state;
  enum { COUNT = 5000 };
  static char keys[COUNT][8];
  pb_table bytes = {0}, addresses = {0};
  assert_int_equal(pb_table_find(&bytes, "k0", 2), -1);
  for (int k = 0; k < COUNT; ++k) {
    sprintf(keys[k], "k%d", k);
    pb_table_add(&bytes, keys[k], strlen(keys[k]), k);
    pb_table_add_address(&addresses, keys[k], COUNT - k);
  }
  for (int k = 0; k < COUNT; ++k) {
    char same[8];
    strcpy(same, keys[k]);
    assert_int_equal(pb_table_find(&bytes, same, strlen(same)), k);
    assert_int_equal(pb_table_find_address(&addresses, keys[k]), COUNT - k);
    assert_int_equal(pb_table_find_address(&addresses, same), -1);
  }
  assert_int_equal(pb_table_find(&bytes, "k50001", 6), -1);
  assert_int_equal(pb_table_find(&bytes, "k50001", 0), -1); // no bytes are a key too
  pb_table_add(&bytes, "", 0, 77);
  assert_int_equal(pb_table_find(&bytes, keys, 0), 77);
  pb_table_free(&bytes);
  pb_table_free(&addresses);
  assert_int_equal(pb_table_find(&bytes, "k0", 2), -1);
}

static void numbers_by_index(void** state) {
  (void)state;
  pb_numbers numbers = {0};
  assert_int_equal(pb_numbers_at(&numbers, 0), -1);
  pb_numbers_set(&numbers, 300, 7);
  pb_numbers_set(&numbers, 2, 0);
  assert_int_equal(pb_numbers_at(&numbers, 300), 7);
  assert_int_equal(pb_numbers_at(&numbers, 2), 0);
  assert_int_equal(pb_numbers_at(&numbers, 3), -1);
  assert_int_equal(pb_numbers_at(&numbers, 301), -1);
  pb_numbers_free(&numbers);
}

// Twelve numbers each, in steps of 11, none twice; no two symbols have the same one.
static void open_dims_have_other_extents_in_each_sample(void** state) {
  (void)state;
  pb_symbols symbols = {0};
  for (int k = 0; k < PB_MOST_SYMBOLS; ++k) {
    char name[] = {(char)('A' + k), 0};
    assert_int_equal(pb_symbol_named(&symbols, name), k);
  }
  assert_int_equal(pb_symbol_named(&symbols, "one more"), -1);
  for (int k = 0; k < symbols.count; ++k) {
    int64_t least = 59 + 3 * k % 11, seen = 0;
    for (symbols.sample = 0; symbols.sample < PB_SYMBOL_SAMPLES; ++symbols.sample) {
      int64_t extent = pb_symbol_extent(&symbols, k);
      assert_int_equal((extent - least) % 11, 0);
      assert_in_range(extent, least, least + 11 * (PB_SYMBOL_SAMPLES - 1));
      seen |= INT64_C(1) << (extent - least) / 11;
      for (int other = 0; other < k; ++other) assert_int_not_equal(pb_symbol_extent(&symbols, other), extent);
    }
    assert_int_equal(seen, (1 << PB_SYMBOL_SAMPLES) - 1);
  }
  pb_symbols_free(&symbols);
}

// A file's data is packed some rows at a time, whose pages are given back: whatever dim takes the large steps.
static void packs_of_files(void** state) {
  (void)state;
  enum { ROWS = 3001, COLUMNS = 4096, LANES = 16 };
  FILE* file = tmpfile();
  assert_non_null(file);
  for (int32_t k = 0; k < ROWS * COLUMNS; ++k) assert_int_equal(fwrite(&k, sizeof k, 1, file), 1);
  assert_int_equal(fflush(file), 0);
  size_t bytes = (size_t)ROWS * COLUMNS * sizeof(int32_t);
  void* data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fileno(file), 0);
  assert_true(data != MAP_FAILED);
  pb_consts consts = {0};
  int from = pb_consts_add(&consts, "w", PB_I32, 2, (const int64_t[]){ROWS, COLUMNS}, data);
  consts.items[from]->mapped = true;
  pb_pack lanes = {.source = from, // blocks of columns, rows and one of zeros behind them, lanes
                   .dim_count = 3,
                   .dims = {{COLUMNS / LANES, LANES, 1}, {ROWS + 1, 1, 0}, {LANES, 1, 1}},
                   .stride = {COLUMNS, 1},
                   .extent = {ROWS, COLUMNS}};
  pb_pack turned = {.source = from, // columns, rows
                    .dim_count = 2,
                    .dims = {{COLUMNS, 1, 1}, {ROWS, 1, 0}},
                    .stride = {COLUMNS, 1},
                    .extent = {ROWS, COLUMNS}};
  for (int a = 2; a < PB_PACK_AXES; ++a) lanes.extent[a] = turned.extent[a] = 1;
  int by_lanes = pb_consts_add_pack(&consts, "a", 3, (const int64_t[]){COLUMNS / LANES, ROWS + 1, LANES}, &lanes);
  int by_columns = pb_consts_add_pack(&consts, "b", 2, (const int64_t[]){COLUMNS, ROWS}, &turned);
  const int32_t *a = pb_const_data(&consts, by_lanes), *b = pb_const_data(&consts, by_columns);
  bool good = true;
  for (int r = 0; r <= ROWS; ++r)
    for (int c = 0; c < COLUMNS; ++c) {
      int32_t lane = a[((size_t)(c / LANES) * (ROWS + 1) + (size_t)r) * LANES + (size_t)(c % LANES)];
      good &= lane == (r < ROWS ? r * COLUMNS + c : 0);
      good &= r == ROWS || b[(size_t)c * ROWS + (size_t)r] == r * COLUMNS + c;
    }
  assert_true(good);
  pb_consts_free(&consts);
  assert_int_equal(munmap(data, bytes), 0);
  fclose(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arena_gives_zeroed_aligned_memory_that_stays),
                                     cmocka_unit_test(arena_texts),
                                     cmocka_unit_test(arrays_grow),
                                     cmocka_unit_test(memory_of_tensors_is_all_there),
                                     cmocka_unit_test(tables_find_equal_bytes_and_the_same_address),
                                     cmocka_unit_test(open_dims_have_other_extents_in_each_sample),
                                     cmocka_unit_test(numbers_by_index),
                                     cmocka_unit_test(diagnostics_have_one_form),
                                     cmocka_unit_test(text_is_shown),
                                     cmocka_unit_test(names_forge_no_lines),
                                     cmocka_unit_test(long_diagnostics_are_cut),
                                     cmocka_unit_test(types),
                                     cmocka_unit_test(features_are_there_or_pretended),
                                     cmocka_unit_test(halves),
                                     cmocka_unit_test(floats_of_a_byte),
                                     cmocka_unit_test(constants_keep_their_ids),
                                     cmocka_unit_test(equal_packs_are_one),
                                     cmocka_unit_test(packs_of_files),
                                     cmocka_unit_test(sha256_of_known_texts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
