// The elements of values that constants and loops' numbers alone decide, as far as nests make them
// (core/poly/evaluate.h), while a program is being made or behind that.
#ifndef PB_S1_ELEMENTS_H
#define PB_S1_ELEMENTS_H

#include "core/base/consts.h"
#include "core/s1/s1.h"

typedef struct pb_s1_elements_state {
  void* data;   // NULL: not known
  bool is_open; // something else makes some of it
} pb_s1_elements_state;

typedef struct pb_s1_elements {
  const pb_s1* program;
  pb_consts* consts;
  size_t ran; // so many of the program's operators
  int64_t work;
  pb_s1_elements_state* of; // by value that owns its elements
  size_t count, capacity;
  pb_arena arena;
} pb_s1_elements;

pb_s1_elements pb_s1_elements_new(const pb_s1* program, pb_consts* consts);
void pb_s1_elements_free(pb_s1_elements* e);
// The program has lost operators; no value that they made is that of others later.
void pb_s1_elements_take_back(pb_s1_elements* e);
// Row-major, as the type is stored, as many as the value has, behind all operators that the program has by now. NULL:
// they are not known, or would take long. Until the next call; constants' are the table's.
const void* pb_s1_elements_of(pb_s1_elements* e, int value);

#endif
