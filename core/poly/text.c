#include "core/poly/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void pb_text_add(pb_text* text, const char* format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (n < 0) abort();
  if (text->length + (size_t)n + 1 > text->capacity) {
    size_t capacity = text->capacity ? text->capacity * 2 : 4096;
    while (capacity < text->length + (size_t)n + 1) capacity *= 2;
    text->data = realloc(text->data, capacity);
    if (!text->data) abort();
    text->capacity = capacity;
  }
  va_start(args, format);
  vsnprintf(text->data + text->length, text->capacity - text->length, format, args);
  va_end(args);
  text->length += (size_t)n;
}

void pb_text_indent(pb_text* text, int depth) {
  for (int k = 0; k < depth; ++k) pb_text_add(text, "  ");
}

void pb_text_free(pb_text* text) {
  free(text->data);
  *text = (pb_text){0};
}
