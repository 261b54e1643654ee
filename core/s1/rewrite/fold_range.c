// Range of constants, of every type that ONNX has it for.
#include "core/base/half.h"
#include "core/s1/rewrite/fold.h"

#include <math.h>
#include <string.h>

enum { MOST_TURNS = 1 << 26 };

// A number of a type that has more digits than f32, too.
typedef struct wide {
  int64_t i;
  double f;
} wide;

static bool is_real(pb_type type) { return type == PB_F64 || type == PB_F32 || pb_type_is_narrow(type); }

static bool read_number(lifter* l, int tensor, pb_type* type, wide* v) {
  const pb_const* from = pb__constant(l, tensor);
  if (!from || pb__elements(from->rank, from->shape) != 1) return false;
  const void* data = pb_const_data(l->consts, from->id);
  int16_t small;
  pb__folded c;
  *type = from->type;
  *v = (wide){0};
  if (from->type == PB_F64) {
    memcpy(&v->f, data, sizeof v->f);
    return true;
  }
  if (from->type == PB_I16) {
    memcpy(&small, data, sizeof small);
    v->i = small;
    return true;
  }
  if (!pb__fold_take(l, tensor, &c)) return false;
  pb__number number = pb__fold_number(&c, 0);
  v->f = (double)number.f;
  v->i = number.i;
  return is_real(c.type) || c.type == PB_I64 || c.type == PB_I32;
}

// Floats of 32 bits and fewer are computed in f32, as the program does it.
static void write_number(pb__folded* y, int64_t k, const wide* start, const wide* step) {
  char* at = y->data + (size_t)k * pb__fold_size(y->type);
  double large = start->f + (double)k * step->f;
  float real = (float)start->f + (float)k * (float)step->f;
  uint64_t whole = (uint64_t)start->i + (uint64_t)k * (uint64_t)step->i;
  uint16_t half = pb_narrow_of(y->type, (double)real);
  const void* from = y->type == PB_F64   ? (const void*)&large
                     : y->type == PB_F32 ? (const void*)&real
                     : is_real(y->type)  ? (const void*)&half
                                         : (const void*)&whole; // the low bytes of a little-endian number
  memcpy(at, from, pb__fold_size(y->type));
}

bool pb__fold_range(lifter* l, const pb_node* n, pb__folded* y) {
  wide v[3];
  pb_type type[3];
  for (int k = 0; k < 3; ++k)
    if (!read_number(l, pb__input(n, k), &type[k], &v[k]) || type[k] != type[0]) return false;
  bool real = is_real(type[0]);
  double step = real ? v[2].f : (double)v[2].i, span = real ? v[1].f - v[0].f : (double)v[1].i - (double)v[0].i,
         turns = ceil(span / step);
  if (step == 0 || !(turns < MOST_TURNS)) return false;
  int64_t count = turns > 0 ? (int64_t)turns : 0;
  if (!pb__fold_start(l, type[0], 1, &count, y)) return false;
  for (int64_t k = 0; k < count; ++k) write_number(y, k, &v[0], &v[2]);
  return true;
}
