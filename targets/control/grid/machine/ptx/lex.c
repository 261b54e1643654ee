// Tokens of PTX, 4.3 to 4.5 of the ISA: a name takes its dots with it, so that an instruction is one word.
#include "targets/control/grid/machine/ptx/ptx.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void ptx__fail(ptx_reader* r, uint32_t line, const char* format, ...) {
  char what[512];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  grid__fault(r->device, GRID_BAD_CODE, "PTX, line %u: %s", line, what);
  longjmp(r->fail, 1);
}

static void skip_blanks(ptx_reader* r) {
  while (r->at < r->end) {
    if (*r->at == '\n') {
      ++r->line, ++r->at;
    } else if (isspace((unsigned char)*r->at)) {
      ++r->at;
    } else if (r->end - r->at >= 2 && r->at[0] == '/' && r->at[1] == '/') {
      while (r->at < r->end && *r->at != '\n') ++r->at;
    } else if (r->end - r->at >= 2 && r->at[0] == '/' && r->at[1] == '*') {
      uint32_t from = r->line;
      for (r->at += 2; !(r->end - r->at >= 2 && r->at[0] == '*' && r->at[1] == '/'); ++r->at) {
        if (r->at >= r->end) ptx__fail(r, from, "a comment without an end");
        r->line += *r->at == '\n';
      }
      r->at += 2;
    } else {
      break;
    }
  }
}

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%'; }

// 0f and 0d are floats by their bits; a number with a point or an exponent is an f64.
static void number(ptx_reader* r) {
  const char* from = r->at;
  while (r->at < r->end &&
         (isalnum((unsigned char)*r->at) || *r->at == '.' ||
          ((*r->at == '+' || *r->at == '-') && (r->at[-1] == 'e' || r->at[-1] == 'E') && from[1] != 'x' &&
           from[1] != 'f' && from[1] != 'F' && from[1] != 'd' && from[1] != 'D' && from[1] != 'X')))
    ++r->at;
  char text[64];
  size_t length = (size_t)(r->at - from);
  if (length >= sizeof text) ptx__fail(r, r->line, "a number of %zu characters", length);
  memcpy(text, from, length);
  text[length] = 0;
  char* end = text;
  ptx_token* t = &r->token;
  t->kind = PTX_INTEGER;
  errno = 0;
  bool zero = text[0] == '0' && length > 2;
  if (zero && (text[1] == 'f' || text[1] == 'F') && length == 10) {
    t->kind = PTX_FLOAT32;
    t->bits = strtoull(text + 2, &end, 16);
  } else if (zero && (text[1] == 'd' || text[1] == 'D') && length == 18) {
    t->kind = PTX_FLOAT64;
    t->bits = strtoull(text + 2, &end, 16);
  } else if (zero && (text[1] == 'b' || text[1] == 'B')) {
    t->bits = strtoull(text + 2, &end, 2);
  } else if (zero && (text[1] == 'x' || text[1] == 'X')) {
    t->bits = strtoull(text + 2, &end, 16);
  } else if (strpbrk(text, ".eE")) {
    double value = strtod(text, &end);
    t->kind = PTX_FLOAT64;
    memcpy(&t->bits, &value, 8);
    errno = 0;
  } else {
    t->bits = strtoull(text, &end, 0);
  }
  if (t->kind == PTX_INTEGER && *end == 'U') ++end;
  if (*end || end == text || errno) ptx__fail(r, r->line, "'%s' is no number", text);
}

void ptx__next(ptx_reader* r) {
  skip_blanks(r);
  ptx_token* t = &r->token;
  *t = (ptx_token){.kind = PTX_END, .text = r->at, .line = r->line};
  if (r->at >= r->end || !*r->at) return;
  char c = *r->at;
  if (isdigit((unsigned char)c)) {
    number(r);
  } else if (in_name(c) || (c == '.' && r->end - r->at > 1 && in_name(r->at[1]))) {
    t->kind = PTX_WORD;
    // Two colons stand within a word: "ld.global.L1::no_allocate".
    for (++r->at; r->at < r->end; ++r->at) {
      bool colons = r->end - r->at > 2 && r->at[0] == ':' && r->at[1] == ':' && in_name(r->at[2]);
      if (colons)
        ++r->at;
      else if (!in_name(*r->at) && !(*r->at == '.' && r->end - r->at > 1 && in_name(r->at[1])))
        break;
    }
  } else if (c == '"') {
    t->kind = PTX_STRING;
    for (++r->at; r->at < r->end && *r->at != '"'; ++r->at)
      if (*r->at == '\n') break;
    if (r->at >= r->end || *r->at != '"') ptx__fail(r, r->line, "a string without an end");
    ++r->at;
    t->text += 1;
    t->length = (size_t)(r->at - t->text) - 1;
    return;
  } else {
    t->kind = PTX_MARK;
    t->mark = c;
    ++r->at;
  }
  t->length = (size_t)(r->at - t->text);
}

bool ptx__is(const ptx_reader* r, const char* text) {
  return (r->token.kind == PTX_WORD || r->token.kind == PTX_MARK) && strlen(text) == r->token.length &&
         !memcmp(text, r->token.text, r->token.length);
}

bool ptx__take(ptx_reader* r, const char* text) {
  if (!ptx__is(r, text)) return false;
  ptx__next(r);
  return true;
}

static const char* shown(const ptx_reader* r) {
  return r->token.kind == PTX_END
             ? "the end"
             : pb_printf(r->arena, "'%.*s'", (int)(r->token.length < 80 ? r->token.length : 80), r->token.text);
}

void ptx__want(ptx_reader* r, const char* text) {
  if (!ptx__take(r, text)) ptx__fail(r, r->token.line, "%s where '%s' must stand", shown(r), text);
}

const char* ptx__word(ptx_reader* r, const char* what) {
  if (r->token.kind != PTX_WORD) ptx__fail(r, r->token.line, "%s where %s must stand", shown(r), what);
  const char* word = pb_printf(r->arena, "%.*s", (int)r->token.length, r->token.text);
  ptx__next(r);
  return word;
}

uint64_t ptx__integer(ptx_reader* r, const char* what) {
  bool minus = ptx__take(r, "-");
  if (r->token.kind != PTX_INTEGER) ptx__fail(r, r->token.line, "%s where %s must stand", shown(r), what);
  uint64_t bits = r->token.bits;
  ptx__next(r);
  return minus ? 0 - bits : bits;
}
