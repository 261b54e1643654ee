// The section behind a module that holds blobs, as MLIR prints it:
//
//     {-#
//       dialect_resources: { builtin: { weight: "0x04000000CDCC8C3F", ... } }
//     #-}
//
// A blob begins with its alignment, four bytes. MLIR would copy them twice and give out one element at a time; here
// they are decoded where they stand, 2 bytes of text to one, so that a file takes no more memory than it has bytes.
#include "core/frontend/flat.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct scanner {
  char *text, *at, *end; // *end is 0
  const char* name;
  pb_diag* diag;
  pb_arena* arena;
  pb_flat_blobs* blobs;
  const char* line_begin; // of the line that `at` is in; lines before it may be bytes by now
  int line;
  signed char digit[UCHAR_MAX + 1]; // -1: none
} scanner;

enum { ALIGNMENT = 4, MOST_DEPTH = 8 };

static pb_status refuse(const scanner* s, const char* at, const char* why) {
  pb_place place = {.file = s->name, .line = s->line, .column = (int)(at - s->line_begin) + 1};
  return pb_error(s->diag, place, 2106, "{-# dialect_resources: { builtin: { name: \"0x04000000...\" } } #-}", "%s",
                  why);
}

static void skip_space(scanner* s) {
  for (; s->at < s->end && isspace((unsigned char)*s->at); ++s->at)
    if (*s->at == '\n') {
      ++s->line;
      s->line_begin = s->at + 1;
    }
}

static bool takes(scanner* s, const char* word) {
  size_t length = strlen(word);
  skip_space(s);
  if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0) return false;
  s->at += length;
  return true;
}

// Between quotation marks, or letters; what a backslash stands before is not what it is: no name here has any.
static pb_status take_word(scanner* s, const char** from, size_t* length) {
  skip_space(s);
  bool quoted = s->at < s->end && *s->at == '"';
  char* start = s->at += quoted;
  if (quoted)
    while (s->at < s->end && *s->at != '"' && *s->at != '\n' && *s->at != '\\') ++s->at;
  else
    while (s->at < s->end && (isalnum((unsigned char)*s->at) || strchr("_$.-+", *s->at))) ++s->at;
  *from = start;
  *length = (size_t)(s->at - start);
  if (quoted && (s->at == s->end || *s->at++ != '"')) return refuse(s, start - 1, "a string that does not end");
  return *length || quoted ? PB_OK : refuse(s, s->at, "a name or a value is missing");
}

static pb_status add_blob(scanner* s, const char* key, const char* text, size_t length) {
  if (length < 2 + 2 * ALIGNMENT || length % 2 || text[0] != '0' || text[1] != 'x')
    return refuse(s, text, "a blob is 0x, the 4 bytes of its alignment, and its bytes, two digits each");
  if (pb_table_find(&s->blobs->numbers, key, strlen(key)) >= 0) return refuse(s, text, "a second blob of this name");
  char* bytes = s->text + (text - s->text);
  size_t count = length / 2 - 1;
  int odd = 0;
  for (size_t k = 0; k < count; ++k) {
    int high = s->digit[(unsigned char)text[2 + 2 * k]], low = s->digit[(unsigned char)text[3 + 2 * k]];
    odd |= high | low; // below 0 where one is no digit
    bytes[k] = (char)((unsigned)high << 4 | (unsigned)low);
  }
  if (odd < 0) return refuse(s, text, "a blob of something else than digits");
  pb_table_add(&s->blobs->numbers, key, strlen(key), (int)s->blobs->count);
  pb_flat_blob blob = {key, bytes + ALIGNMENT, count - ALIGNMENT};
  PB_PUSH(s->blobs->items, s->blobs->count, s->blobs->capacity, blob);
  return PB_OK;
}

// "{ name: value, ... }"; the values at depth 2 of dialect_resources are blobs, of others nothing is said.
static pb_status take_entries(scanner* s, int depth, bool are_blobs) {
  if (takes(s, "}")) return PB_OK;
  do {
    const char *key, *value;
    size_t length, size;
    PB_TRY(take_word(s, &key, &length));
    const char* name = pb_printf(s->arena, "%.*s", (int)length, key);
    if (!takes(s, ":")) return refuse(s, s->at, "':' is missing");
    if (takes(s, "{")) {
      if (depth == MOST_DEPTH) return refuse(s, s->at, "too many things inside each other");
      PB_TRY(take_entries(s, depth + 1, depth ? are_blobs : !strcmp(name, "dialect_resources")));
    } else {
      PB_TRY(take_word(s, &value, &size));
      if (are_blobs && depth == 2) PB_TRY(add_blob(s, name, value, size));
    }
  } while (takes(s, ","));
  return takes(s, depth ? "}" : "#-}") ? PB_OK : refuse(s, s->at, depth ? "'}' is missing" : "'#-}' is missing");
}

// It begins a line: no string of a module goes over one.
static char* find_section(char* text, size_t length) {
  if (length > 3 && !strncmp(text, "{-#", 3)) return text;
  for (char *at = text, *end = text + length; (at = memchr(at, '{', (size_t)(end - at))); ++at)
    if (at > text && at[-1] == '\n' && end - at > 3 && !strncmp(at, "{-#", 3)) return at;
  return NULL;
}

pb_status pb_flat_take_blobs(char* text, size_t* length, const char* name, pb_diag* diag, pb_arena* arena,
                             pb_flat_blobs* blobs) {
  char* section = find_section(text, *length);
  if (!section) return PB_OK;
  scanner s = {text, section + 3, text + *length, name, diag, arena, blobs, section, 1, {0}};
  for (const char* c = text; c < section; ++c) s.line += *c == '\n';
  memset(s.digit, -1, sizeof s.digit);
  for (int k = 0; k < 10; ++k) s.digit['0' + k] = (signed char)k;
  for (int k = 0; k < 6; ++k) s.digit['A' + k] = s.digit['a' + k] = (signed char)(10 + k);
  PB_TRY(take_entries(&s, 0, false));
  skip_space(&s);
  if (s.at < s.end) return refuse(&s, s.at, "something stands behind the section of resources");
  *length = (size_t)(section - text);
  *section = 0;
  return PB_OK;
}

const pb_flat_blob* pb_flat_find_blob(const pb_flat_blobs* blobs, const char* name) {
  int k = pb_table_find(&blobs->numbers, name, strlen(name));
  return k < 0 ? NULL : &blobs->items[k];
}

void pb_flat_blobs_free(pb_flat_blobs* blobs) {
  free(blobs->items);
  pb_table_free(&blobs->numbers);
  *blobs = (pb_flat_blobs){0};
}
