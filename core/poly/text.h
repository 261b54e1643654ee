// Text that grows: IR is written as text and parsed, which reads like the IR that it makes.
#ifndef PB_POLY_TEXT_H
#define PB_POLY_TEXT_H

#include <stdarg.h>
#include <stddef.h>

typedef struct pb_text {
  char* data; // zero-terminated; NULL while empty
  size_t length, capacity;
} pb_text; // starts as {0}

void pb_text_add(pb_text* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
void pb_text_add_args(pb_text* text, const char* format, va_list args) __attribute__((format(printf, 2, 0)));
void pb_text_add_bytes(pb_text* text, const char* data, size_t length);
// As a string of MLIR's syntax, quotes around it, whatever bytes it is made of.
void pb_text_add_quoted(pb_text* text, const char* bytes);
// As a string of JSON, quotes around it.
void pb_text_add_json(pb_text* text, const char* bytes, size_t length);
// As it is printed: core/base/shown.h.
void pb_text_add_shown(pb_text* text, const char* bytes);
void pb_text_indent(pb_text* text, int depth);
// A line, or how one begins: indented.
void pb_text_line(pb_text* text, int depth, const char* format, ...) __attribute__((format(printf, 3, 4)));
void pb_text_free(pb_text* text);

#endif
