// What lanes have of vectors: types, constants, numbers.
#define _GNU_SOURCE
#include "targets/control/grid/lanes/warp.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WIDTH = 64 };

void pb__warp_refuse(pb__warp* w, const char* format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (!w->lanes->why) w->lanes->why = strdup(text);
}

static bool is_vector_type(LLVMTypeRef type) { return LLVMGetTypeKind(type) == LLVMVectorTypeKind; }

bool pb__is_vector(LLVMValueRef value) { return is_vector_type(LLVMTypeOf(value)); }

int64_t pb__vector_size(LLVMTypeRef vector) { return LLVMGetVectorSize(vector); }

int64_t pb__per_lane(const pb__warp* w, LLVMTypeRef vector) {
  return (pb__vector_size(vector) + w->width - 1) / w->width;
}

LLVMTypeRef pb__lane_type(const pb__warp* w, LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMScalableVectorTypeKind) return NULL;
  if (!is_vector_type(type)) return type;
  int64_t count = pb__per_lane(w, type);
  LLVMTypeRef element = LLVMGetElementType(type);
  return count == 1 ? element : LLVMVectorType(element, (unsigned)count);
}

pb_isa_place pb__isa_place(const pb__warp* w) { return (pb_isa_place){w->module, w->at, w->width, w->thread}; }

LLVMValueRef pb__number(const pb__warp* w, int64_t value) {
  return LLVMConstInt(w->word, (unsigned long long)value, 1);
}

LLVMValueRef pb__slot(const pb__warp* w, LLVMTypeRef vector, LLVMValueRef lane, int64_t slot) {
  return pb__per_lane(w, vector) == 1 ? lane : LLVMBuildExtractElement(w->at, lane, pb__number(w, slot), "");
}

LLVMValueRef pb__with_slot(const pb__warp* w, LLVMTypeRef vector, LLVMValueRef lane, int64_t slot,
                           LLVMValueRef element) {
  return pb__per_lane(w, vector) == 1 ? element : LLVMBuildInsertElement(w->at, lane, element, pb__number(w, slot), "");
}

// ---- numbers by lane ----

// list[l] = base ^ the bits' numbers of those bits that l has, for all l from `begin` on and below `end`.
typedef struct linear {
  int64_t base, of_bit[6];
} linear;

static int64_t linear_at(const linear* f, int64_t lane) {
  int64_t value = f->base;
  for (int b = 0; b < 6; ++b)
    if (lane >> b & 1) value ^= f->of_bit[b];
  return value;
}

// How many of the first numbers the function is right for that the numbers at 0 and at powers of 2 say.
static int64_t fit(const int64_t* list, int64_t count, linear* f) {
  *f = (linear){.base = list[0] < 0 ? 0 : list[0]};
  for (int b = 0; 1 << b < count; ++b)
    if (list[1 << b] >= 0) f->of_bit[b] = list[1 << b] ^ f->base;
  int64_t n = 0;
  while (n < count && (list[n] < 0 || linear_at(f, n) == list[n])) ++n;
  return n;
}

// Bits that go to others by one shift are taken together.
static LLVMValueRef emit_linear(const pb__warp* w, const linear* f) {
  LLVMValueRef sum = NULL;
  bool done[6] = {false};
  for (int b = 0; b < 6; ++b) {
    if (done[b] || !f->of_bit[b]) continue;
    int64_t mask = 0, to = f->of_bit[b];
    bool one = !(to & (to - 1));
    int shift = -b;
    while (one && to >> (shift + b) != 1) ++shift; // to is 1 << (b + shift)
    for (int other = b; other < 6; ++other) {
      bool alike = other == b ||
                   (one && f->of_bit[other] && other + shift >= 0 && f->of_bit[other] == (int64_t)1 << (other + shift));
      if (alike) mask |= (int64_t)1 << other, done[other] = true;
    }
    LLVMValueRef part = LLVMBuildAnd(w->at, w->lane, pb__number(w, mask), "");
    if (!one) {
      part = LLVMBuildLShr(w->at, part, pb__number(w, b), "");
      part = LLVMBuildMul(w->at, part, pb__number(w, to), "");
    } else if (shift) {
      part = shift > 0 ? LLVMBuildShl(w->at, part, pb__number(w, shift), "")
                       : LLVMBuildLShr(w->at, part, pb__number(w, -shift), "");
    }
    sum = sum ? LLVMBuildXor(w->at, sum, part, "") : part;
  }
  LLVMValueRef base = pb__number(w, f->base);
  return !sum ? base : f->base ? LLVMBuildXor(w->at, sum, base, "") : sum;
}

// A table that nobody writes, and its element at a number.
static LLVMValueRef look_up(const pb__warp* w, LLVMTypeRef element, LLVMValueRef* list, int64_t count,
                            LLVMValueRef at) {
  LLVMTypeRef type = LLVMArrayType2(element, (uint64_t)count);
  LLVMValueRef table = LLVMAddGlobalInAddressSpace(w->module, type, "pb_table", w->lanes->isa->constants);
  LLVMSetInitializer(table, LLVMConstArray2(element, list, (uint64_t)count));
  LLVMSetLinkage(table, LLVMInternalLinkage);
  LLVMSetGlobalConstant(table, 1);
  LLVMSetUnnamedAddress(table, LLVMGlobalUnnamedAddr);
  return LLVMBuildLoad2(w->at, element, LLVMBuildInBoundsGEP2(w->at, element, table, &at, 1, ""), "");
}

LLVMValueRef pb__lane_number(pb__warp* w, const int64_t* list) {
  linear f;
  int64_t right = fit(list, w->width, &f), rest = right;
  LLVMValueRef first = NULL;
  if (right == w->width) return emit_linear(w, &f);
  while (rest < w->width && (list[rest] < 0 || list[rest] == list[right])) ++rest;
  if (rest == w->width) { // a row's end, and one number behind it
    first = emit_linear(w, &f);
    LLVMValueRef inside = LLVMBuildICmp(w->at, LLVMIntULT, w->lane, pb__number(w, right), "");
    return LLVMBuildSelect(w->at, inside, first, pb__number(w, list[right]), "");
  }
  LLVMValueRef numbers[MOST_WIDTH];
  for (int l = 0; l < w->width; ++l) numbers[l] = pb__number(w, list[l] < 0 ? 0 : list[l]);
  return look_up(w, w->word, numbers, w->width, w->lane);
}

// ---- constants ----

static bool is_any(LLVMValueRef value) { return LLVMIsPoison(value) || LLVMIsUndef(value); }

// The element that all are; NULL: they differ.
static LLVMValueRef element_of_all(LLVMValueRef constant, int64_t count) {
  LLVMValueRef all = NULL;
  for (int64_t k = 0; k < count; ++k) {
    LLVMValueRef element = LLVMGetAggregateElement(constant, (unsigned)k);
    if (!element || (all && !is_any(element) && element != all)) return NULL;
    if (!is_any(element)) all = element;
  }
  return all ? all : LLVMGetPoison(LLVMGetElementType(LLVMTypeOf(constant)));
}

static LLVMValueRef spread(const pb__warp* w, LLVMTypeRef vector, LLVMValueRef element) {
  int64_t count = pb__per_lane(w, vector);
  if (count == 1) return element;
  LLVMValueRef list[MOST_WIDTH];
  for (int64_t k = 0; k < count; ++k) list[k] = element;
  return LLVMConstVector(list, (unsigned)count);
}

// What grows by one step from lane to lane, as places in memory do, whatever its size; NULL: it does not.
static LLVMValueRef sequence(const pb__warp* w, LLVMTypeRef element, LLVMValueRef* list) {
  if (LLVMGetTypeKind(element) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(element) < 32) return NULL;
  for (int l = 0; l < w->width; ++l)
    if (!LLVMIsAConstantInt(list[l])) return NULL;
  int64_t first = LLVMConstIntGetSExtValue(list[0]), step = LLVMConstIntGetSExtValue(list[1]) - first;
  for (int l = 2; l < w->width; ++l)
    if (LLVMConstIntGetSExtValue(list[l]) != first + l * step) return NULL;
  LLVMValueRef lane = LLVMBuildIntCast2(w->at, w->lane, element, 0, "");
  lane = LLVMBuildMul(w->at, lane, LLVMConstInt(element, (unsigned long long)step, 1), "");
  return LLVMBuildAdd(w->at, lane, list[0], "");
}

// Small integers are computed, others looked up.
static LLVMValueRef differing(pb__warp* w, LLVMValueRef constant, int64_t slot, int64_t per_lane) {
  LLVMTypeRef type = LLVMTypeOf(constant), element = LLVMGetElementType(type);
  int64_t numbers[MOST_WIDTH], count = pb__vector_size(type);
  LLVMValueRef list[MOST_WIDTH];
  bool small = LLVMGetTypeKind(element) == LLVMIntegerTypeKind;
  for (int l = 0; l < w->width; ++l) {
    int64_t k = l * per_lane + slot;
    list[l] = k < count ? LLVMGetAggregateElement(constant, (unsigned)k) : LLVMGetPoison(element);
    bool any = is_any(list[l]);
    if (any) list[l] = LLVMConstNull(element);
    if (!any && !LLVMIsAConstantInt(list[l])) small = false;
    numbers[l] = any ? -1 : small ? LLVMConstIntGetSExtValue(list[l]) : 0;
    small &= any || (numbers[l] >= 0 && numbers[l] < 1 << 20) || LLVMGetIntTypeWidth(element) == 1;
    if (small && !any && LLVMGetIntTypeWidth(element) == 1) numbers[l] &= 1;
  }
  linear f;
  bool by_bits = small && fit(numbers, w->width, &f) == w->width;
  LLVMValueRef steps = by_bits ? NULL : sequence(w, element, list);
  if (steps) return steps;
  if (!small) return look_up(w, element, list, w->width, w->lane);
  return LLVMBuildIntCast2(w->at, pb__lane_number(w, numbers), element, 0, "");
}

static LLVMValueRef constant_of_lane(pb__warp* w, LLVMValueRef constant, bool* same) {
  LLVMTypeRef type = LLVMTypeOf(constant), lane = pb__lane_type(w, type);
  *same = true;
  if (is_any(constant)) return LLVMGetPoison(lane);
  if (LLVMIsNull(constant)) return LLVMConstNull(lane);
  int64_t count = pb__vector_size(type), per_lane = pb__per_lane(w, type);
  LLVMValueRef all = element_of_all(constant, count);
  if (all) return spread(w, type, all);
  *same = false;
  LLVMValueRef made = LLVMGetPoison(lane);
  for (int64_t s = 0; s < per_lane; ++s) made = pb__with_slot(w, type, made, s, differing(w, constant, s, per_lane));
  return made;
}

// ---- values ----

static const pb__lane_value* find(const pb__warp* w, LLVMValueRef value) {
  int number = pb_table_find_address(&w->numbers, value);
  return number < 0 ? NULL : &w->values[number];
}

LLVMValueRef pb__lane(pb__warp* w, LLVMValueRef value) {
  const pb__lane_value* known = find(w, value);
  bool same;
  if (known) return known->value;
  if (!LLVMIsConstant(value)) {
    pb__warp_refuse(w, "a value comes in front of what makes it");
    return LLVMGetPoison(pb__lane_type(w, LLVMTypeOf(value)));
  }
  return pb__is_vector(value) ? constant_of_lane(w, value, &same) : value;
}

bool pb__is_same(const pb__warp* w, LLVMValueRef value) {
  const pb__lane_value* known = find(w, value);
  if (known) return known->same;
  return LLVMIsConstant(value) && pb__is_vector(value) &&
         (is_any(value) || LLVMIsNull(value) || element_of_all(value, pb__vector_size(LLVMTypeOf(value))));
}

void pb__set_lane(pb__warp* w, LLVMValueRef value, LLVMValueRef lane, bool same) {
  pb__lane_value made = {lane, same};
  pb_table_add_address(&w->numbers, value, (int)w->value_count);
  PB_PUSH(w->values, w->value_count, w->value_capacity, made);
}
