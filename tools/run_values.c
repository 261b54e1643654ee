#include "run_values.h"

#include "core/base/arena.h"
#include "core/base/half.h"
#include "core/base/pages.h"
#include "core/base/shown.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pb_type type_named(const char* name) {
  for (int t = 0; t < PB_TYPE_COUNT; ++t)
    if (!strcmp(pb_type_name((pb_type)t), name)) return (pb_type)t;
  return PB_TYPE_COUNT;
}

static const char* shape_text(int rank, const int64_t* shape, const char* type, bool is_complex, char* out,
                              size_t size) {
  size_t n = 0;
  out[0] = 0;
  for (int d = 0; d < rank - is_complex && n < size; ++d)
    n += (size_t)snprintf(out + n, size - n, "%lldx", (long long)shape[d]);
  if (n < size) snprintf(out + n, size - n, is_complex ? "complex<%s>" : "%s", type);
  return out;
}

static const char* tensor_text(const pb_rt_tensor* t, char* out, size_t size) {
  return shape_text(t->rank, t->shape, t->type, t->is_complex, out, size);
}

static const char* file_text(const pb_npy* npy, char* out, size_t size) {
  return shape_text(npy->rank, npy->shape, pb_type_name(npy->type), npy->is_complex, out, size);
}

pb_status run_value_named(const char* option, const char* text, int count,
                          const pb_rt_tensor* (*tensor)(const pb_rt*, int), const pb_rt* rt, const char** rest,
                          int* index) {
  size_t longest = 0;
  for (int k = 0; k < count; ++k) {
    const char* name = tensor(rt, k)->name;
    size_t length = strlen(name);
    if (strncmp(name, text, length) || text[length] != '=' || length < longest) continue;
    *index = k;
    *rest = text + length + 1;
    longest = length;
  }
  if (longest) return PB_OK;
  *index = 0;
  *rest = text;
  if (count == 1) return PB_OK;
  char names[512] = "";
  for (int k = 0; k < count; ++k) {
    size_t n = strlen(names);
    snprintf(names + n, sizeof names - n, "%s%s", k ? ", " : "", tensor(rt, k)->name);
  }
  return pb_error(NULL, (pb_place){0}, 1004, "NAME=... with one of the engine's names", "%s %s: which of '%s'?", option,
                  text, names);
}

// Types that NumPy has no name for travel as integers of their size.
static bool fits(pb_type file, pb_type tensor) {
  return file == tensor || (file == PB_I8 && tensor == PB_I1) ||
         ((pb_type_is_code(file) || file == PB_U8) && pb_type_is_code(tensor)) ||
         ((file == PB_I16 || file == PB_UI16) && tensor == PB_BF16);
}

static pb_status check_shape(const char* path, const pb_rt_tensor* tensor, const pb_npy* npy, int64_t* samples) {
  char ours[256], theirs[256];
  int parts = tensor->is_complex ? 1 : 0, rank = tensor->rank - parts; // pairs of numbers are complex ones too
  bool good = fits(npy->type, type_named(tensor->type)) && (!npy->is_complex || tensor->is_complex) &&
              (npy->rank == tensor->rank || (rank == 0 && npy->rank == 1 + parts));
  *samples = 1;
  if (good && npy->rank > parts) {
    int64_t first = rank ? tensor->shape[0] : 1;
    *samples = first ? npy->shape[0] / first : 1;
    good = first ? *samples > 0 && npy->shape[0] % first == 0 : !npy->shape[0];
    for (int d = 1; d < rank; ++d) good = good && npy->shape[d] == tensor->shape[d];
  }
  if (parts) good = good && npy->shape[npy->rank - 1] == 2;
  if (good) return PB_OK;
  return pb_error(NULL, (pb_place){.file = path}, 5040, "the same, or several samples along the first dimension",
                  "the file holds %s; '%s' is %s", file_text(npy, theirs, sizeof theirs), tensor->name,
                  tensor_text(tensor, ours, sizeof ours));
}

static void store(void* data, pb_type type, uint64_t index, double number) {
  switch (type) {
  case PB_F32:
    ((float*)data)[index] = (float)number;
    break;
  case PB_F64:
    ((double*)data)[index] = number;
    break;
  case PB_F16:
  case PB_BF16:
    ((uint16_t*)data)[index] = pb_narrow_of(type, number);
    break;
  case PB_I16:
    ((int16_t*)data)[index] = (int16_t)number;
    break;
  case PB_UI16:
    ((uint16_t*)data)[index] = (uint16_t)number;
    break;
  case PB_I32:
    ((int32_t*)data)[index] = (int32_t)number;
    break;
  case PB_UI32:
    ((uint32_t*)data)[index] = (uint32_t)number;
    break;
  case PB_I64:
  case PB_INDEX:
    ((int64_t*)data)[index] = (int64_t)number;
    break;
  case PB_UI64:
    ((uint64_t*)data)[index] = (uint64_t)number;
    break;
  case PB_U8:
  case PB_UI8:
    ((uint8_t*)data)[index] = (uint8_t)number;
    break;
  default:
    ((int8_t*)data)[index] = (int8_t)number;
    break;
  }
}

static double number_at(const void* data, pb_type type, uint64_t index) {
  switch (type) {
  case PB_F32:
    return (double)((const float*)data)[index];
  case PB_F64:
    return ((const double*)data)[index];
  case PB_F16:
  case PB_BF16:
    return (double)pb_narrow_number(type, ((const uint16_t*)data)[index]);
  case PB_I16:
    return ((const int16_t*)data)[index];
  case PB_UI16:
    return ((const uint16_t*)data)[index];
  case PB_I32:
    return ((const int32_t*)data)[index];
  case PB_UI32:
    return ((const uint32_t*)data)[index];
  case PB_I64:
  case PB_INDEX:
    return (double)((const int64_t*)data)[index];
  case PB_UI64:
    return (double)((const uint64_t*)data)[index];
  case PB_U8:
  case PB_UI8:
    return ((const uint8_t*)data)[index];
  default:
    return ((const int8_t*)data)[index];
  }
}

// Whether elements of the type can be the number; codes travel as bytes.
static bool holds(pb_type type, double number) {
  if (pb_type_is_float(type)) return true;
  bool no_sign = pb_type_is_unsigned(type) || type == PB_U8 || type == PB_I1;
  int bits = type == PB_INDEX ? 64 : pb_type_is_code(type) ? 8 : pb_type_bits(type);
  double end = ldexp(1, no_sign ? bits : bits - 1);
  return floor(number) == number && number >= (no_sign ? 0 : -end) && number < end;
}

// SplitMix64 (Steele, Lea, Flood 2014).
static uint64_t next_random(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static void fill_random(const pb_rt_tensor* tensor, pb_npy* npy, uint64_t seed) {
  uint64_t count = tensor->bytes / tensor->element_bytes;
  for (uint64_t k = 0; k < count; ++k) {
    uint64_t bits = next_random(&seed) >> 11;
    double unit = (double)bits * 0x1p-53;
    double number = pb_type_is_float(npy->type) ? 2 * unit - 1
                    : npy->type == PB_I8        ? floor(256 * unit) - 128
                    : npy->type == PB_U8        ? floor(256 * unit)
                    : npy->type == PB_I1        ? floor(2 * unit)
                                                : floor(10 * unit);
    store(npy->data, npy->type, k, number);
  }
}

static pb_status fill_constant(const pb_rt_tensor* tensor, const char* text, pb_npy* npy) {
  char ours[256], parts[256];
  tensor_text(tensor, ours, sizeof ours);
  shape_text(tensor->rank, tensor->shape, tensor->type, false, parts, sizeof parts);
  bool pairs = tensor->is_complex && !strncmp(text, parts, strlen(parts));
  if (pairs) memcpy(ours, parts, sizeof ours);
  size_t n = strlen(ours), step = tensor->is_complex && !pairs ? 2 : 1; // of a complex number the real part
  char* end = NULL;
  double number = !strncmp(text, ours, n) && text[n] == '=' ? strtod(text + n + 1, &end) : 0;
  if (!end || *end || end == text + n + 1)
    return pb_error(NULL, (pb_place){0}, 5041, "FILE.npy, FILE.npz:ARRAY, random:SEED or SHAPExTYPE=NUMBER",
                    "'%s' is no value for '%s', which is %s", text, tensor->name, ours);
  if (!holds(npy->type, number))
    return pb_error(NULL, (pb_place){0}, 5041, "a number of the type", "'%s': %s is no %s", text, text + n + 1,
                    tensor->type);
  for (uint64_t k = 0; k < tensor->bytes / tensor->element_bytes; k += step) store(npy->data, npy->type, k, number);
  return PB_OK;
}

pb_status run_value_read(const pb_rt_tensor* tensor, const char* text, run_value* value) {
  char* end = NULL;
  run_value_free(value);
  value->tensor = tensor;
  if (pb_npy_is_file(text)) {
    PB_TRY(pb_npy_read(text, NULL, &value->all));
    return check_shape(text, tensor, &value->all, &value->samples);
  }
  run_value_make(tensor, 1, value);
  if (strncmp(text, "random:", 7)) return fill_constant(tensor, text, &value->all);
  errno = 0;
  uint64_t seed = strtoull(text + 7, &end, 0);
  if (*end || end == text + 7 || errno)
    return pb_error(NULL, (pb_place){0}, 5041, "random:7", "'%s' has no number of at most 64 bits", text);
  fill_random(tensor, &value->all, seed);
  return PB_OK;
}

void run_value_make(const pb_rt_tensor* tensor, int64_t samples, run_value* value) {
  *value = (run_value){.tensor = tensor, .samples = samples};
  pb_npy* npy = &value->all;
  npy->type = type_named(tensor->type);
  npy->rank = tensor->rank;
  npy->is_complex = tensor->is_complex != 0;
  memcpy(npy->shape, tensor->shape, (size_t)tensor->rank * sizeof *tensor->shape);
  if (npy->rank > npy->is_complex) {
    npy->shape[0] *= samples;
  } else if (samples > 1) {
    if (npy->is_complex) npy->shape[1] = 2;
    npy->shape[0] = samples;
    ++npy->rank;
  }
  npy->bytes = tensor->bytes * (uint64_t)samples;
  npy->data = pb_pages_alloc(npy->bytes);
  if (!npy->data) pb_no_memory(npy->bytes);
  memset(npy->data, 0, npy->bytes);
}

void* run_value_sample(const run_value* value, int64_t sample) {
  return (char*)value->all.data + (value->samples > 1 ? (uint64_t)sample * value->tensor->bytes : 0);
}

void run_value_free(run_value* value) {
  free(value->all.data);
  *value = (run_value){0};
}

// Whether one walks the same elements in the same order: dims of 1 may be left out.
static bool same_dims(const pb_npy* a, const pb_npy* b) {
  int i = 0, k = 0;
  for (;; ++i, ++k) {
    while (i < a->rank && a->shape[i] == 1) ++i;
    while (k < b->rank && b->shape[k] == 1) ++k;
    if (i == a->rank || k == b->rank) return i == a->rank && k == b->rank;
    if (a->shape[i] != b->shape[k]) return false;
  }
}

pb_status run_value_expect(const run_value* value, const char* path, double atol, double rtol) {
  pb_npy theirs;
  PB_TRY(pb_npy_read(path, NULL, &theirs));
  char a[256], b[256];
  pb_arena scratch = {0};
  const pb_npy* ours = &value->all;
  pb_status status = PB_OK;
  if (!fits(theirs.type, ours->type) || (theirs.is_complex && !ours->is_complex) || theirs.bytes != ours->bytes ||
      !same_dims(&theirs, ours))
    status = pb_error(NULL, (pb_place){.file = path}, 5050, NULL, "the file holds %s; '%s' is %s",
                      file_text(&theirs, a, sizeof a), value->tensor->name, file_text(ours, b, sizeof b));
  uint64_t count = ours->bytes / value->tensor->element_bytes, wrong = 0, first = 0;
  double worst = 0;
  size_t size = value->tensor->element_bytes;
  bool whole = !pb_type_is_float(ours->type); // integers of 64 bits may differ where they are equal as doubles
  for (uint64_t k = 0; status == PB_OK && k < count; ++k) {
    double x = number_at(ours->data, ours->type, k), y = number_at(theirs.data, ours->type, k), gap = fabs(x - y);
    bool same = whole ? !memcmp((const char*)ours->data + k * size, (const char*)theirs.data + k * size, size)
                      : x == y || (isnan(x) && isnan(y));
    if (whole && !same && gap < 1) gap = 1;
    if (!same && !(gap <= worst)) worst = gap;
    if (same || gap <= atol + rtol * fabs(y)) continue;
    if (!wrong++) first = k;
  }
  if (status == PB_OK && wrong)
    status = pb_error(NULL, (pb_place){.file = path}, 5051, NULL,
                      "'%s': %llu of %llu differ, by at most %g; the first is element %llu: %.9g, expected %.9g",
                      value->tensor->name, (unsigned long long)wrong, (unsigned long long)count, worst,
                      (unsigned long long)first, number_at(ours->data, ours->type, first),
                      number_at(theirs.data, ours->type, first));
  else if (status == PB_OK)
    printf("%s: %llu elements as expected, largest difference %g\n", pb_shown(&scratch, value->tensor->name),
           (unsigned long long)count, worst);
  pb_arena_free(&scratch);
  free(theirs.data);
  return status;
}

void run_value_print(const run_value* value) {
  char shape[256];
  uint64_t count = value->all.bytes / value->tensor->element_bytes;
  pb_arena scratch = {0};
  printf("%s: %s =", pb_shown(&scratch, value->tensor->name), file_text(&value->all, shape, sizeof shape));
  for (uint64_t k = 0; k < count && k < 10; ++k) {
    bool imaginary = value->all.is_complex && k % 2;
    printf(imaginary ? "%+.6gj" : " %.6g", number_at(value->all.data, value->all.type, k));
  }
  puts(count > 10 ? " ..." : "");
  pb_arena_free(&scratch);
}
