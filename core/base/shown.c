#include "core/base/shown.h"

#include <stdio.h>
#include <string.h>

// The character that text begins with, and its bytes; -1 and 1 where they are no UTF-8. There are `left` bytes.
static int character(const char* text, size_t left, int* bytes) {
  int c = (unsigned char)text[0];
  *bytes = 1;
  if (c < 0x80) return c;
  int more = c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : 0;
  if (!more || (size_t)more >= left) return -1;
  c &= 0x3f >> more;
  for (int k = 1; k <= more; ++k) {
    if ((text[k] & 0xc0) != 0x80) return -1;
    c = c << 6 | (text[k] & 0x3f);
  }
  static const int least[] = {0, 0x80, 0x800, 0x10000};
  if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return -1;
  *bytes = 1 + more;
  return c;
}

static bool printable(int c) {
  return c >= ' ' && !(c >= 0x7f && c < 0xa0) && c != 0x200e && c != 0x200f && !(c >= 0x2028 && c <= 0x202e) &&
         !(c >= 0x2066 && c <= 0x2069) && c != 0xfeff;
}

bool pb_printable(const char* text, int* bytes) { return printable(character(text, strnlen(text, 4), bytes)); }

// What text begins with as it is printed: at most 17 bytes in `as`, of which it returns the number; *bytes of the text.
static int next(const char* text, char as[static 18], int* bytes) {
  int c = character(text, strnlen(text, 4), bytes);
  if (printable(c)) {
    memcpy(as, text, (size_t)*bytes);
    return *bytes;
  }
  if (c == '\n' || c == '\r' || c == '\t') return snprintf(as, 18, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
  int n = 0;
  for (int k = 0; k < *bytes; ++k) n += snprintf(as + n, 18 - (size_t)n, "\\x%02x", (unsigned char)text[k]);
  return n;
}

char* pb_show(char* out, size_t size, const char* text) {
  static const char cut[] = "...";
  size_t n = 0, room = 0; // how much of it can stay if "..." must follow
  char as[18];
  for (int bytes; *text; text += bytes) {
    int length = next(text, as, &bytes);
    if (n + (size_t)length >= size) {
      if (size > sizeof cut) memcpy(out + room, cut, sizeof cut - 1), n = room + sizeof cut - 1;
      break;
    }
    memcpy(out + n, as, (size_t)length);
    n += (size_t)length;
    if (n + sizeof cut <= size) room = n;
  }
  if (size) out[n] = 0;
  return out;
}

const char* pb_shown(pb_arena* arena, const char* text) {
  if (!text) return NULL;
  size_t length = 1;
  bool same = true;
  char as[18];
  const char* at = text;
  for (int bytes; *at; at += bytes) {
    int n = next(at, as, &bytes);
    same &= n == bytes;
    length += (size_t)n;
  }
  return same ? text : pb_show(pb_alloc(arena, length), length, text);
}

// What text begins with in a string of JSON: the same.
static int next_json(const char* text, size_t left, char as[static 18], int* bytes) {
  int c = character(text, left, bytes);
  if (c == '"' || c == '\\') return snprintf(as, 18, "\\%c", c);
  if (c < 0) return snprintf(as, 18, "\\ufffd");
  if (!printable(c)) return snprintf(as, 18, "\\u%04x", (unsigned)c);
  memcpy(as, text, (size_t)*bytes);
  return *bytes;
}

const char* pb_shown_json(pb_arena* arena, const char* text, size_t length) {
  size_t n = 0;
  char as[18];
  int bytes;
  for (size_t k = 0; k < length; k += (size_t)bytes) n += (size_t)next_json(text + k, length - k, as, &bytes);
  char* out = pb_alloc(arena, n + 3);
  out[0] = '"';
  n = 1;
  for (size_t k = 0; k < length; k += (size_t)bytes) {
    int more = next_json(text + k, length - k, as, &bytes);
    memcpy(out + n, as, (size_t)more);
    n += (size_t)more;
  }
  out[n] = '"';
  return out;
}
