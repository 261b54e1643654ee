// Text out of a file as it is printed: names are anybody's, and what is printed is lines on somebody's terminal.
#ifndef PB_BASE_SHOWN_H
#define PB_BASE_SHOWN_H

#include "core/base/arena.h"

#include <stdbool.h>

// Whether the character that text begins with is printed as it is; *bytes: how many it has.
bool pb_printable(const char* text, int* bytes);
// Copies text with \n, \r, \t or \x1b for what is no printable character: control characters, bytes that are no UTF-8,
// and what breaks lines or turns the direction of writing. What does not fit is left out, "..." at the end; returns
// out.
char* pb_show(char* out, size_t size, const char* text);
// The same, whole: the text itself where all of it is printable. NULL stays NULL.
const char* pb_shown(pb_arena* arena, const char* text);
// A string of JSON, quotes around it, with the same characters written out; bytes that are no UTF-8 are U+FFFD.
const char* pb_shown_json(pb_arena* arena, const char* text, size_t length);

#endif
