// The header is a Python dictionary of three known keys; only that form is taken, none of Python's others.
#include "core/runtime/npy.h"

#include "core/base/arena.h"
#include "core/base/pages.h"
#include "core/runtime/npz.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Behind the letter of the order of bytes. V1: codes of a byte each.
static const struct {
  const char* descr;
  pb_type type;
  bool is_complex;
} formats[] = {{"f4", PB_F32, false},  {"i1", PB_I8, false},   {"u1", PB_U8, false},       {"i4", PB_I32, false},
               {"i8", PB_I64, false},  {"b1", PB_I1, false},   {"i2", PB_I16, false},      {"f8", PB_F64, false},
               {"f2", PB_F16, false},  {"u2", PB_UI16, false}, {"u4", PB_UI32, false},     {"u8", PB_UI64, false},
               {"V2", PB_BF16, false}, {"c8", PB_F32, true},   {"V1", PB_F8E4M3FN, false}, {"c16", PB_F64, true}};
enum { FORMATS = sizeof formats / sizeof formats[0] };

// How the numbers lie in the file.
typedef struct lie {
  bool columns, swapped; // the first dim fastest; the first byte is the highest
} lie;

typedef struct cursor {
  const char *at, *end;
} cursor;

static void blank(cursor* c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')) ++c->at;
}

static bool take(cursor* c, const char* text) {
  blank(c);
  size_t n = strlen(text);
  if ((size_t)(c->end - c->at) < n || memcmp(c->at, text, n)) return false;
  c->at += n;
  return true;
}

static bool take_quoted(cursor* c, char* out, size_t size) {
  if (!take(c, "'")) return false;
  size_t n = 0;
  while (c->at < c->end && *c->at != '\'' && n + 1 < size) out[n++] = *c->at++;
  out[n] = 0;
  return take(c, "'");
}

static bool take_number(cursor* c, int64_t* value) {
  blank(c);
  *value = 0;
  const char* start = c->at;
  for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; ++c->at) {
    if (*value > (int64_t)1 << 50) return false;
    *value = *value * 10 + (*c->at - '0');
  }
  return c->at > start;
}

static bool take_shape(cursor* c, pb_npy* npy) {
  if (!take(c, "(")) return false;
  for (npy->rank = 0; !take(c, ")"); ++npy->rank) {
    if (npy->rank == PB_NPY_MAX_RANK || !take_number(c, &npy->shape[npy->rank])) return false;
    if (!take(c, ",")) {
      ++npy->rank;
      return take(c, ")");
    }
  }
  return true;
}

static bool take_descr(cursor* c, pb_npy* npy, lie* l) {
  char text[16];
  if (!take_quoted(c, text, sizeof text) || !strchr("<>|=", text[0]) || !text[0]) return false;
  for (int k = 0; k < FORMATS; ++k)
    if (!strcmp(formats[k].descr, text + 1)) {
      npy->type = formats[k].type;
      npy->is_complex = formats[k].is_complex;
      l->swapped = text[0] == '>';
      return text[0] != '|' || pb_type_bits(npy->type) <= 8 || npy->type == PB_BF16;
    }
  return false;
}

static bool take_header(cursor* c, pb_npy* npy, lie* l) {
  bool have_type = false, have_order = false, have_shape = false;
  if (!take(c, "{")) return false;
  while (!take(c, "}")) {
    char key[32];
    if (!take_quoted(c, key, sizeof key) || !take(c, ":")) return false;
    bool good = !strcmp(key, "descr")           ? (have_type = take_descr(c, npy, l))
                : !strcmp(key, "fortran_order") ? (have_order = (l->columns = take(c, "True")) || take(c, "False"))
                : !strcmp(key, "shape")         ? (have_shape = take_shape(c, npy))
                                                : false;
    if (!good) return false;
    (void)take(c, ",");
  }
  if (!have_type || !have_order || !have_shape || (npy->is_complex && npy->rank == PB_NPY_MAX_RANK)) return false;
  if (npy->is_complex) npy->shape[npy->rank++] = 2;
  return true;
}

// Parts of complex numbers, each for itself.
static void swap_bytes(uint8_t* data, uint64_t bytes, uint64_t size) {
  for (uint64_t at = 0; at < bytes; at += size)
    for (uint64_t k = 0; k < size / 2; ++k) {
      uint8_t byte = data[at + k];
      data[at + k] = data[at + size - 1 - k];
      data[at + size - 1 - k] = byte;
    }
}

// From the first dim fastest to the last one fastest.
static void put_rows(const pb_npy* npy, const uint8_t* from, uint8_t* to) {
  uint64_t size = (uint64_t)(pb_type_bits(npy->type) + 7) / 8 * (npy->is_complex ? 2 : 1);
  int rank = npy->rank - npy->is_complex;
  int64_t at[PB_NPY_MAX_RANK] = {0};
  for (uint64_t n = npy->bytes / size; n > 0; --n, to += size) {
    uint64_t place = 0;
    for (int d = rank - 1; d >= 0; --d) place = place * (uint64_t)npy->shape[d] + (uint64_t)at[d];
    memcpy(to, from + place * size, size);
    for (int d = rank - 1; d >= 0 && ++at[d] == npy->shape[d]; --d) at[d] = 0;
  }
}

pb_status pb_npy_parse(const void* bytes, uint64_t count, const char* path, pb_diag* diag, pb_npy* npy) {
  const uint8_t* head = bytes;
  pb_place place = {.file = path};
  *npy = (pb_npy){0};
  if (count < 12 || memcmp(head, "\x93NUMPY", 6))
    return pb_error(diag, place, 5030, "a file that numpy.save wrote", "not a .npy file");
  uint64_t prefix = head[6] == 1 ? 10 : 12;
  if (head[6] < 1 || head[6] > 3)
    return pb_error(diag, place, 5031, NULL, ".npy version %d; 1 to 3 are known", head[6]);
  uint64_t length = (uint64_t)head[8] | (uint64_t)head[9] << 8;
  if (prefix == 12) length |= (uint64_t)head[10] << 16 | (uint64_t)head[11] << 24;
  if (length > count - prefix) return pb_error(diag, place, 5031, NULL, "the header is longer than the file");
  cursor c = {(const char*)head + prefix, (const char*)head + prefix + length};
  lie l = {0};
  if (!take_header(&c, npy, &l)) {
    *npy = (pb_npy){0};
    return pb_error(
        diag, place, 5031,
        "at most 8 dimensions (7 of c8 and c16), f2 f4 f8 c8 c16 i1 i2 i4 i8 u1 u2 u4 u8 b1, V2 for bf16, V1 "
        "for codes of a byte each",
        "this kind of .npy file is not known");
  }
  uint64_t size = (uint64_t)(pb_type_bits(npy->type) + 7) / 8, left = count - prefix - length;
  npy->bytes = size;
  bool empty = false;
  for (int d = 0; d < npy->rank; ++d) empty |= npy->shape[d] == 0;
  for (int d = 0; d < npy->rank && !empty; ++d) {
    if ((uint64_t)npy->shape[d] > left / npy->bytes)
      return pb_error(diag, place, 5032, NULL, "the file is shorter than its shape says");
    npy->bytes *= (uint64_t)npy->shape[d];
  }
  if (empty) npy->bytes = 0;
  if (npy->bytes != left)
    return pb_error(diag, place, 5032, NULL, "%llu bytes of data; its shape says %llu", (unsigned long long)left,
                    (unsigned long long)npy->bytes);
  npy->data = pb_pages_alloc(left);
  if (!npy->data) return pb_system_error(diag, place, 5033, "no memory for %llu bytes", (unsigned long long)left);
  if (l.columns && npy->rank - npy->is_complex > 1)
    put_rows(npy, head + prefix + length, npy->data);
  else
    memcpy(npy->data, head + prefix + length, left);
  if (l.swapped) swap_bytes(npy->data, left, size);
  return PB_OK;
}

bool pb_npy_is_file(const char* text) {
  size_t n = strlen(text);
  const char* array;
  return (n > 4 && !strcmp(text + n - 4, ".npy")) || pb_npz_named(text, &n, &array);
}

static pb_status read_array(const char* text, size_t length, const char* array, pb_diag* diag, pb_npy* npy) {
  pb_arena scratch = {0};
  pb_npz npz;
  const uint8_t* bytes;
  uint64_t count;
  pb_status status = pb_npz_open(pb_printf(&scratch, "%.*s", (int)length, text), diag, &npz);
  if (status == PB_OK) {
    status = pb_npz_find(npz.bytes, npz.count, npz.path, array, diag, &bytes, &count);
    if (status == PB_OK) status = pb_npy_parse(bytes, count, text, diag, npy);
    pb_npz_close(&npz);
  }
  pb_arena_free(&scratch);
  return status;
}

pb_status pb_npy_read(const char* path, pb_diag* diag, pb_npy* npy) {
  *npy = (pb_npy){0};
  size_t length;
  const char* array;
  if (pb_npz_named(path, &length, &array)) return read_array(path, length, array, diag, npy);
  pb_place place = {.file = path};
  errno = 0;
  FILE* file = fopen(path, "rb");
  if (!file) return pb_system_error(diag, place, 5033, "cannot open");
  uint8_t* bytes = NULL;
  size_t count = 0, capacity = 0;
  do {
    if (count == capacity) {
      capacity = capacity ? 2 * capacity : 1 << 16;
      uint8_t* more = realloc(bytes, capacity);
      if (!more) {
        free(bytes);
        fclose(file);
        return pb_system_error(diag, place, 5033, "no memory for %zu bytes", capacity);
      }
      bytes = more;
    }
    count += fread(bytes + count, 1, capacity - count, file);
  } while (!feof(file) && !ferror(file));
  pb_status status =
      ferror(file) ? pb_system_error(diag, place, 5033, "cannot read") : pb_npy_parse(bytes, count, path, diag, npy);
  fclose(file);
  free(bytes);
  return status;
}

pb_status pb_npy_write(const char* path, const pb_npy* npy, pb_diag* diag) {
  const char* descr = NULL;
  for (int k = 0; k < FORMATS && !descr; ++k)
    if (formats[k].type == (pb_type_is_code(npy->type) ? PB_F8E4M3FN : npy->type) &&
        formats[k].is_complex == npy->is_complex)
      descr = formats[k].descr;
  pb_place place = {.file = path};
  if (!descr) return pb_unsupported(diag, place, 5031, NULL, ".npy files have no type %s", pb_type_name(npy->type));
  char text[512];
  int n = snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                   pb_type_bits(npy->type) <= 8 || npy->type == PB_BF16 ? '|' : '<', descr);
  for (int d = 0; d < npy->rank - npy->is_complex; ++d)
    n += snprintf(text + n, sizeof text - (size_t)n, "%lld,%s", (long long)npy->shape[d],
                  d + 1 < npy->rank - npy->is_complex ? " " : "");
  n += snprintf(text + n, sizeof text - (size_t)n, "), }");
  while ((10 + n + 1) % 64) text[n++] = ' ';
  text[n++] = '\n';
  const uint8_t head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)(n & 255), (uint8_t)(n >> 8)};
  errno = 0;
  FILE* file = fopen(path, "wb");
  if (!file) return pb_system_error(diag, place, 5033, "cannot write");
  bool good = fwrite(head, 1, 10, file) == 10 && fwrite(text, 1, (size_t)n, file) == (size_t)n;
  good = good && fwrite(npy->data, 1, npy->bytes, file) == npy->bytes;
  good &= fclose(file) == 0;
  return good ? PB_OK : pb_system_error(diag, place, 5033, "cannot write");
}
