#include "core/poly/text.h"

#include "core/base/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(pb_text* text, size_t more) {
  if (text->length + more + 1 <= text->capacity) return;
  size_t capacity = text->capacity ? text->capacity * 2 : 4096;
  while (capacity < text->length + more + 1) capacity *= 2;
  text->data = realloc(text->data, capacity);
  if (!text->data) pb_no_memory(capacity);
  text->capacity = capacity;
}

void pb_text_add_bytes(pb_text* text, const char* data, size_t length) {
  reserve(text, length);
  memcpy(text->data + text->length, data, length);
  text->length += length;
  text->data[text->length] = 0;
}

void pb_text_add_args(pb_text* text, const char* format, va_list args) {
  reserve(text, 128); // most are shorter, and are formatted once
  for (;;) {
    size_t room = text->capacity - text->length;
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(text->data + text->length, room, format, again);
    va_end(again);
    if (n < 0) abort(); // of formats without wide characters, as all are, and less than 2 GiB
    if ((size_t)n < room) {
      text->length += (size_t)n;
      return;
    }
    reserve(text, (size_t)n);
  }
}

void pb_text_add(pb_text* text, const char* format, ...) {
  va_list args;
  va_start(args, format);
  pb_text_add_args(text, format, args);
  va_end(args);
}

void pb_text_line(pb_text* text, int depth, const char* format, ...) {
  va_list args;
  pb_text_indent(text, depth);
  va_start(args, format);
  pb_text_add_args(text, format, args);
  va_end(args);
}

void pb_text_add_quoted(pb_text* text, const char* bytes) {
  pb_text_add(text, "\"");
  for (int length; *bytes; bytes += length)
    if (pb_printable(bytes, &length) && *bytes != '"' && *bytes != '\\')
      pb_text_add_bytes(text, bytes, (size_t)length);
    else
      for (int k = 0; k < length; ++k) pb_text_add(text, "\\%02X", (unsigned char)bytes[k]);
  pb_text_add(text, "\"");
}

void pb_text_add_json(pb_text* text, const char* bytes, size_t length) {
  pb_arena scratch = {0};
  pb_text_add(text, "%s", pb_shown_json(&scratch, bytes, length));
  pb_arena_free(&scratch);
}

void pb_text_add_shown(pb_text* text, const char* bytes) {
  pb_arena scratch = {0};
  pb_text_add(text, "%s", pb_shown(&scratch, bytes));
  pb_arena_free(&scratch);
}

void pb_text_indent(pb_text* text, int depth) {
  for (int k = 0; k < depth; ++k) pb_text_add(text, "  ");
}

void pb_text_free(pb_text* text) {
  free(text->data);
  *text = (pb_text){0};
}
