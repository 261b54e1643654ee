// Elements that go from lane to lane.
#include "targets/control/grid/lanes/warp.h"

enum { MOST_WIDTH = 64, MOST_SLOTS = 32 };

static unsigned bits_of(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
  case LLVMHalfTypeKind:
  case LLVMBFloatTypeKind:
    return 16;
  case LLVMFloatTypeKind:
    return 32;
  case LLVMDoubleTypeKind:
  case LLVMPointerTypeKind:
    return 64;
  case LLVMIntegerTypeKind:
    return LLVMGetIntTypeWidth(type);
  default:
    return 0;
  }
}

static LLVMValueRef word_from(pb__warp* w, LLVMValueRef word, LLVMValueRef lane) {
  pb_isa_place place = pb__isa_place(w);
  return w->lanes->isa->shuffle(&place, word, lane);
}

LLVMValueRef pb__from_lane(pb__warp* w, LLVMValueRef value, LLVMValueRef lane) {
  LLVMTypeRef type = LLVMTypeOf(value);
  unsigned bits = bits_of(type);
  bool pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind;
  if (!bits || bits > 64) {
    pb__warp_refuse(w, "elements of a type that lanes cannot exchange");
    return value;
  }
  LLVMTypeRef integer = LLVMIntTypeInContext(w->context, bits);
  LLVMValueRef number =
      pointer ? LLVMBuildPtrToInt(w->at, value, integer, "") : LLVMBuildBitCast(w->at, value, integer, "");
  if (bits <= 32) {
    number = word_from(w, LLVMBuildIntCast2(w->at, number, w->word, 0, ""), lane);
    number = LLVMBuildIntCast2(w->at, number, integer, 0, "");
  } else {
    LLVMValueRef whole = LLVMBuildIntCast2(w->at, number, w->wide, 0, ""), half = LLVMConstInt(w->wide, 32, 0);
    LLVMValueRef low = word_from(w, LLVMBuildTrunc(w->at, whole, w->word, ""), lane);
    LLVMValueRef high = LLVMBuildTrunc(w->at, LLVMBuildLShr(w->at, whole, half, ""), w->word, "");
    high = LLVMBuildShl(w->at, LLVMBuildZExt(w->at, word_from(w, high, lane), w->wide, ""), half, "");
    number = LLVMBuildOr(w->at, high, LLVMBuildZExt(w->at, low, w->wide, ""), "");
    number = LLVMBuildIntCast2(w->at, number, integer, 0, "");
  }
  return pointer ? LLVMBuildIntToPtr(w->at, number, type, "") : LLVMBuildBitCast(w->at, number, type, "");
}

LLVMValueRef pb__element(pb__warp* w, LLVMValueRef vector, int64_t index) {
  LLVMTypeRef type = LLVMTypeOf(vector);
  int64_t per_lane = pb__per_lane(w, type);
  LLVMValueRef lane = pb__lane(w, vector);
  if (pb__is_same(w, vector)) return pb__slot(w, type, lane, 0);
  return pb__from_lane(w, pb__slot(w, type, lane, index % per_lane), pb__number(w, index / per_lane));
}

void pb__extract(pb__warp* w, LLVMValueRef extract) {
  LLVMValueRef vector = LLVMGetOperand(extract, 0), index = LLVMGetOperand(extract, 1), made;
  LLVMTypeRef type = LLVMTypeOf(vector);
  int64_t per_lane = pb__per_lane(w, type);
  if (LLVMIsAConstantInt(index)) {
    int64_t k = LLVMConstIntGetSExtValue(index);
    bool inside = k >= 0 && k < pb__vector_size(type);
    made = inside ? pb__element(w, vector, k) : LLVMGetPoison(LLVMTypeOf(extract));
  } else {
    LLVMValueRef k = LLVMBuildIntCast2(w->at, pb__lane(w, index), w->word, 0, ""), count = pb__number(w, per_lane);
    LLVMValueRef lane = pb__lane(w, vector);
    if (per_lane > 1) lane = LLVMBuildExtractElement(w->at, lane, LLVMBuildURem(w->at, k, count, ""), "");
    made = pb__from_lane(w, lane, LLVMBuildUDiv(w->at, k, count, ""));
  }
  pb__set_lane(w, extract, made, false);
}

// The element stands in one lane; where the others have nothing yet they have it too.
void pb__insert(pb__warp* w, LLVMValueRef insert) {
  LLVMValueRef vector = LLVMGetOperand(insert, 0), index = LLVMGetOperand(insert, 2);
  LLVMValueRef element = pb__lane(w, LLVMGetOperand(insert, 1)), lane = pb__lane(w, vector);
  LLVMTypeRef type = LLVMTypeOf(vector);
  int64_t per_lane = pb__per_lane(w, type);
  bool nothing = LLVMIsPoison(vector) || LLVMIsUndef(vector);
  if (nothing) {
    for (int64_t s = 0; s < per_lane; ++s) lane = pb__with_slot(w, type, lane, s, element);
    pb__set_lane(w, insert, lane, true);
    return;
  }
  LLVMValueRef k = LLVMBuildIntCast2(w->at, pb__lane(w, index), w->word, 0, ""), count = pb__number(w, per_lane), put;
  put = per_lane == 1 ? element : LLVMBuildInsertElement(w->at, lane, element, LLVMBuildURem(w->at, k, count, ""), "");
  LLVMValueRef here = LLVMBuildICmp(w->at, LLVMIntEQ, w->lane, LLVMBuildUDiv(w->at, k, count, ""), "");
  pb__set_lane(w, insert, LLVMBuildSelect(w->at, here, put, lane, ""), false);
}

// ---- shuffles ----

// Where the elements of one slot of the result come from, lane by lane: -1 is anywhere.
typedef struct sources {
  int64_t element[MOST_WIDTH]; // of both operands, one behind the other
} sources;

// Elements that stand in one slot of one operand: those that lanes want of it, and in which lane each is.
static LLVMValueRef from_slot(pb__warp* w, LLVMValueRef operand, int64_t before, int64_t slot, const sources* s,
                              bool* wanted, int64_t* here) {
  LLVMTypeRef type = LLVMTypeOf(operand);
  int64_t lanes[MOST_WIDTH], per_lane = pb__per_lane(w, type);
  bool moves = false;
  *wanted = false;
  for (int l = 0; l < w->width; ++l) {
    int64_t k = s->element[l] - before;
    bool is = s->element[l] >= 0 && k >= 0 && k < pb__vector_size(type) && k % per_lane == slot;
    here[l] = s->element[l] < 0 ? -1 : is;
    lanes[l] = is ? k / per_lane : -1;
    *wanted |= is;
    moves |= is && lanes[l] != l;
  }
  if (!*wanted) return NULL;
  LLVMValueRef value = pb__slot(w, type, pb__lane(w, operand), slot);
  return moves && !pb__is_same(w, operand) ? pb__from_lane(w, value, pb__lane_number(w, lanes)) : value;
}

// NULL: lanes want nothing of the instruction's first `count` operands.
static LLVMValueRef gather(pb__warp* w, LLVMValueRef instruction, unsigned count, const sources* s) {
  LLVMValueRef made = NULL;
  int64_t before = 0, here[MOST_WIDTH];
  for (unsigned o = 0; o < count; ++o) {
    LLVMValueRef operand = LLVMGetOperand(instruction, o);
    LLVMTypeRef type = LLVMTypeOf(operand);
    bool any = LLVMIsPoison(operand) || LLVMIsUndef(operand), wanted;
    for (int64_t slot = 0; slot < pb__per_lane(w, type) && !any; ++slot) {
      LLVMValueRef value = from_slot(w, operand, before, slot, s, &wanted, here);
      if (!wanted) continue;
      made = made ? LLVMBuildSelect(w->at, LLVMBuildTrunc(w->at, pb__lane_number(w, here), w->bit, ""), value, made, "")
                  : value;
    }
    before += pb__vector_size(type);
  }
  return made;
}

// The one element that all of the mask name; -1: there are several, -2: none.
static int64_t one_element(LLVMValueRef shuffle, int64_t count) {
  int64_t one = -2;
  for (int64_t k = 0; k < count; ++k) {
    int m = LLVMGetMaskValue(shuffle, (unsigned)k);
    if (m < 0) continue;
    if (one >= 0 && one != m) return -1;
    one = m;
  }
  return one;
}

static LLVMValueRef same_for_all(pb__warp* w, LLVMValueRef shuffle, int64_t element) {
  LLVMValueRef first = LLVMGetOperand(shuffle, 0);
  LLVMTypeRef type = LLVMTypeOf(shuffle);
  int64_t before = pb__vector_size(LLVMTypeOf(first));
  LLVMValueRef value =
      element < before ? pb__element(w, first, element) : pb__element(w, LLVMGetOperand(shuffle, 1), element - before);
  LLVMValueRef made = LLVMGetPoison(pb__lane_type(w, type));
  for (int64_t s = 0; s < pb__per_lane(w, type); ++s) made = pb__with_slot(w, type, made, s, value);
  return made;
}

void pb__shuffle(pb__warp* w, LLVMValueRef shuffle) {
  LLVMTypeRef type = LLVMTypeOf(shuffle);
  int64_t count = pb__vector_size(type), per_lane = pb__per_lane(w, type), one = one_element(shuffle, count);
  LLVMValueRef made = LLVMGetPoison(pb__lane_type(w, type));
  if (one >= 0) made = same_for_all(w, shuffle, one);
  for (int64_t s = 0; s < per_lane && one == -1; ++s) {
    sources from;
    for (int l = 0; l < w->width; ++l) {
      int64_t k = l * per_lane + s;
      from.element[l] = k < count ? LLVMGetMaskValue(shuffle, (unsigned)k) : -1;
    }
    LLVMValueRef value = gather(w, shuffle, 2, &from);
    if (value) made = pb__with_slot(w, type, made, s, value);
  }
  pb__set_lane(w, shuffle, made, one != -1);
}

// ---- bits as those of other elements ----

static LLVMValueRef as_integer(const pb__warp* w, LLVMValueRef value, unsigned bits) {
  LLVMTypeRef is = LLVMIntTypeInContext(w->context, bits_of(LLVMTypeOf(value)));
  return LLVMBuildZExtOrBitCast(w->at, LLVMBuildBitCast(w->at, value, is, ""), LLVMIntTypeInContext(w->context, bits),
                                "");
}

// An element of the result, in slot `slot` of each lane, whose bits are several elements side by side.
static LLVMValueRef joined(pb__warp* w, LLVMValueRef cast, int64_t slot, int parts, unsigned bits) {
  int64_t count = pb__vector_size(LLVMTypeOf(cast)), per_lane = pb__per_lane(w, LLVMTypeOf(cast));
  LLVMValueRef all = NULL;
  for (int p = 0; p < parts; ++p) {
    sources from;
    for (int l = 0; l < w->width; ++l) {
      int64_t k = l * per_lane + slot;
      from.element[l] = k < count ? k * parts + p : -1;
    }
    LLVMValueRef part = gather(w, cast, 1, &from);
    if (!part) return NULL; // the slot is behind the last
    LLVMValueRef by = LLVMConstInt(LLVMIntTypeInContext(w->context, bits), bits / (unsigned)parts * (unsigned)p, 0);
    part = LLVMBuildShl(w->at, as_integer(w, part, bits), by, "");
    all = all ? LLVMBuildOr(w->at, all, part, "") : part;
  }
  return all;
}

// The same where one element has several of the result's, of which the lane takes one.
static LLVMValueRef parted(pb__warp* w, LLVMValueRef cast, int64_t slot, int parts, unsigned bits) {
  int64_t count = pb__vector_size(LLVMTypeOf(cast)), per_lane = pb__per_lane(w, LLVMTypeOf(cast)), shifts[MOST_WIDTH];
  sources from;
  for (int l = 0; l < w->width; ++l) {
    int64_t k = l * per_lane + slot;
    from.element[l] = k < count ? k / parts : -1;
    shifts[l] = k < count ? k % parts * bits : -1;
  }
  LLVMValueRef whole = gather(w, cast, 1, &from);
  if (!whole) return NULL;
  unsigned wide = bits * (unsigned)parts;
  LLVMValueRef by = LLVMBuildIntCast2(w->at, pb__lane_number(w, shifts), LLVMIntTypeInContext(w->context, wide), 0, "");
  return LLVMBuildTrunc(w->at, LLVMBuildLShr(w->at, as_integer(w, whole, wide), by, ""),
                        LLVMIntTypeInContext(w->context, bits), "");
}

void pb__bitcast(pb__warp* w, LLVMValueRef cast) {
  LLVMValueRef from = LLVMGetOperand(cast, 0);
  LLVMTypeRef is = LLVMTypeOf(from), becomes = LLVMTypeOf(cast), lane = pb__lane_type(w, becomes);
  bool both = pb__is_vector(from) && pb__is_vector(cast);
  bool alike = both && pb__vector_size(is) == pb__vector_size(becomes);
  bool whole = both && pb__vector_size(is) % w->width == 0 && pb__vector_size(becomes) % w->width == 0;
  if (alike || whole) {
    pb__set_lane(w, cast, LLVMBuildBitCast(w->at, pb__lane(w, from), lane, ""), false);
    return;
  }
  unsigned narrow = both ? bits_of(LLVMGetElementType(is)) : 0, bits = both ? bits_of(LLVMGetElementType(becomes)) : 0;
  bool joins = bits > narrow;
  unsigned parts = !narrow || !bits ? 0 : joins ? bits / narrow : narrow / bits;
  if (!parts || (joins ? bits % narrow : narrow % bits) || bits > 64 || narrow > 64) {
    pb__warp_refuse(w, "a vector that becomes one of other elements, of which none is a part of the others");
    return;
  }
  LLVMValueRef made = LLVMGetPoison(lane);
  for (int64_t s = 0; s < pb__per_lane(w, becomes); ++s) {
    LLVMValueRef value = joins ? joined(w, cast, s, (int)parts, bits) : parted(w, cast, s, (int)parts, bits);
    if (value)
      made = pb__with_slot(w, becomes, made, s, LLVMBuildBitCast(w->at, value, LLVMGetElementType(becomes), ""));
  }
  pb__set_lane(w, cast, made, false);
}
