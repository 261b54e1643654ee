// .npy files: what is written comes back; what is not such a file is refused.
#include "core/runtime/npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH PB_BINARY_DIR "/test_npy.npy"

static int last_code;
static void keep_code(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)text;
  last_code = code;
}
static pb_diag quiet = {.sink = keep_code};

static void round_trip(void** state) {
  (void)state;
  static const pb_type types[] = {PB_F32, PB_I8, PB_U8, PB_I32, PB_I64};
  for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
    for (int rank = 0; rank < 4; ++rank) {
      uint8_t data[24 * 8];
      pb_npy in = {.type = types[t], .rank = rank, .shape = {2, 3, 4}, .data = data}, out;
      in.bytes = (uint64_t)pb_type_bits(types[t]) / 8;
      for (int d = 0; d < rank; ++d) in.bytes *= (uint64_t)in.shape[d];
      for (size_t k = 0; k < sizeof data; ++k) data[k] = (uint8_t)(k * 7);
      assert_int_equal(pb_npy_write(PATH, &in, NULL), PB_OK);
      assert_int_equal(pb_npy_read(PATH, NULL, &out), PB_OK);
      assert_int_equal(out.type, in.type);
      assert_int_equal(out.rank, rank);
      assert_memory_equal(out.shape, in.shape, sizeof(int64_t) * (size_t)rank);
      assert_int_equal(out.bytes, in.bytes);
      assert_memory_equal(out.data, data, in.bytes);
      free(out.data);
    }
}

// A file that NumPy 1.26 wrote: numpy.save of arange(6, dtype=int32) as 2 x 3.
static void of_numpy(void** state) {
  (void)state;
  static const char head[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
  uint8_t bytes[128 + 24];
  memset(bytes, ' ', sizeof bytes);
  memcpy(bytes, head, sizeof head - 1);
  bytes[127] = '\n';
  for (int k = 0; k < 24; ++k) bytes[128 + k] = k % 4 ? 0 : (uint8_t)(k / 4);
  pb_npy npy;
  assert_int_equal(pb_npy_parse(bytes, sizeof bytes, "numpy", NULL, &npy), PB_OK);
  assert_int_equal(npy.type, PB_I32);
  assert_int_equal(npy.rank, 2);
  assert_int_equal(npy.shape[1], 3);
  assert_int_equal(((int32_t*)npy.data)[5], 5);
  free(npy.data);
}

static void expect_bytes(const char* header, const uint8_t* data, size_t count, pb_type type, int rank,
                         const uint8_t* expected) {
  uint8_t bytes[512] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  size_t n = strlen(header);
  pb_npy npy;
  bytes[8] = (uint8_t)n;
  memcpy(bytes + 10, header, n);
  memcpy(bytes + 10 + n, data, count);
  assert_int_equal(pb_npy_parse(bytes, 10 + n + count, header, NULL, &npy), PB_OK);
  assert_true(npy.type == type && npy.rank == rank && npy.bytes == count);
  assert_memory_equal(npy.data, expected, count);
  free(npy.data);
}

// The first dim fastest, the highest byte first, both, and complex numbers, whose parts lie together and are swapped
// apart.
static void orders(void** state) {
  (void)state;
  static const uint8_t data[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  static const uint8_t columns[] = {0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11},
                       swapped[] = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10};
  static const uint8_t both[] = {1, 0, 5, 4, 9, 8, 3, 2, 7, 6, 11, 10};
  static const uint8_t parts[] = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12};
  expect_bytes("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", data, 12, PB_I16, 2, columns);
  expect_bytes("{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }", data, 12, PB_I16, 2, swapped);
  expect_bytes("{'descr': '>f2', 'fortran_order': True, 'shape': (2, 3), }", data, 12, PB_F16, 2, both);
  expect_bytes("{'descr': '=i2', 'fortran_order': True, 'shape': (6,), }", data, 12, PB_I16, 1, data);
  expect_bytes("{'descr': '<c8', 'fortran_order': False, 'shape': (1, 2), }", data, 16, PB_F32, 3, data);
  expect_bytes("{'descr': '>c8', 'fortran_order': True, 'shape': (1, 2), }", data, 16, PB_F32, 3, parts);
  expect_bytes("{'descr': '>c16', 'fortran_order': False, 'shape': (0, 2), }", data, 0, PB_F64, 3, data);
  expect_bytes("{'descr': '|b1', 'fortran_order': True, 'shape': (2, 0, 3), }", data, 0, PB_I1, 3, data);
}

static void expect_refused(const char* header, size_t data, int code) {
  uint8_t bytes[512] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  size_t n = strlen(header);
  bytes[8] = (uint8_t)n;
  memcpy(bytes + 10, header, n);
  pb_npy npy;
  last_code = 0;
  if (pb_npy_parse(bytes, 10 + n + data, "bad", &quiet, &npy) == PB_OK || last_code != code)
    fail_msg("%s: code %d", header, last_code);
}

static void refused(void** state) {
  (void)state;
  expect_refused("{'descr': '?f4', 'fortran_order': False, 'shape': (2,), }", 8, 5031);
  expect_refused("{'descr': '|f4', 'fortran_order': False, 'shape': (2,), }", 8, 5031);
  expect_refused("{'descr': '', 'fortran_order': False, 'shape': (2,), }", 8, 5031);
  expect_refused("{'descr': '<c32', 'fortran_order': False, 'shape': (2,), }", 64, 5031);
  expect_refused("{'descr': '<c8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1), }", 8, 5031);
  expect_refused("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", 8, 5032);
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8, 5031);
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", 8, 5031);
  expect_refused("{'descr': '<f4', 'fortran_order': False}", 8, 5031);
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 4, 5031);
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 8, 5032);
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 8, 5032);
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 1000000000000, 1000000000000), }",
                 8, 5032);
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 8, 5031);
  pb_npy npy;
  assert_int_equal(pb_npy_parse("PK\3\4 not an array", 17, "bad", &quiet, &npy), PB_ERR_INPUT);
  assert_int_equal(last_code, 5030);
  assert_int_equal(pb_npy_read(PB_BINARY_DIR "/no_such.npy", &quiet, &npy), PB_ERR_SYSTEM);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(of_numpy), cmocka_unit_test(orders),
                                     cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
