// The words of MLIR's syntax. Whatever stands in brackets is passed over as one; strings hold anything, and the > of ->
// closes nothing.
#include "core/frontend/stablehlo/pretty/scan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static void place_of(const pb_scan* s, const char* at, pb_place* place) {
  *place = (pb_place){.file = s->name, .line = 1, .column = 1};
  for (const char* c = s->text; c < at; ++c) {
    place->column = *c == '\n' ? 1 : place->column + 1;
    place->line += *c == '\n';
  }
}

bool pb__scan_refuse(pb_scan* s, const char* at, const char* format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  pb_place place;
  place_of(s, at, &place);
  if (s->status == PB_OK) s->status = pb_error(s->diag, place, 2107, NULL, "%s", text);
  return false;
}

void pb__scan_blanks(pb_scan* s) {
  for (;;) {
    while (s->at < s->end && isspace((unsigned char)*s->at)) ++s->at;
    if (s->end - s->at < 2 || s->at[0] != '/' || s->at[1] != '/') return;
    while (s->at < s->end && *s->at != '\n') ++s->at;
  }
}

static bool is_letter(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool is_in_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.'; }
static bool is_in_name(char c) { return is_in_word(c) || c == '-'; }

bool pb__scan_sees(pb_scan* s, const char* mark) {
  size_t n = strlen(mark);
  pb__scan_blanks(s);
  if ((size_t)(s->end - s->at) < n || strncmp(s->at, mark, n) != 0) return false;
  return !is_letter(mark[0]) || !is_in_word(s->at[n]);
}

bool pb__scan_take(pb_scan* s, const char* mark) {
  if (!pb__scan_sees(s, mark)) return false;
  s->at += strlen(mark);
  return true;
}

// What stands there, for a diagnostic.
static pb_slice seen(const pb_scan* s) {
  pb_slice piece = {s->at, s->at};
  while (piece.to < s->end && piece.to - piece.from < 40 && is_in_name(*piece.to)) ++piece.to;
  piece.to += piece.to == piece.from && piece.to < s->end;
  return piece;
}

static bool expected(pb_scan* s, const char* what) {
  pb__scan_blanks(s);
  pb_slice at = seen(s);
  if (at.from == at.to) return pb__scan_refuse(s, s->at, "expected %s, and here is the end of the text", what);
  return pb__scan_refuse(s, s->at, "expected %s, not '%.*s'", what, (int)(at.to - at.from), at.from);
}

bool pb__scan_need(pb_scan* s, const char* mark) {
  char what[64];
  snprintf(what, sizeof what, "'%s'", mark);
  return pb__scan_take(s, mark) || expected(s, what);
}

bool pb__scan_word(pb_scan* s, pb_slice* word) {
  pb__scan_blanks(s);
  if (!is_letter(*s->at)) return expected(s, "a word");
  word->from = s->at;
  while (s->at < s->end && is_in_word(*s->at)) ++s->at;
  word->to = s->at;
  return true;
}

bool pb__scan_value(pb_scan* s, pb_slice* value) {
  pb__scan_blanks(s);
  const char* from = s->at;
  if (*s->at != '%' || !is_in_name(s->at[1])) return expected(s, "a value, as %0");
  for (++s->at; s->at < s->end && is_in_name(*s->at);) ++s->at;
  if (*s->at == '#' && isdigit((unsigned char)s->at[1]))
    for (++s->at; isdigit((unsigned char)*s->at);) ++s->at;
  *value = (pb_slice){from, s->at};
  return true;
}

bool pb__scan_text(pb_scan* s, pb_slice* text) {
  pb__scan_blanks(s);
  if (*s->at != '"') return expected(s, "a text in quotation marks");
  const char *from = s->at, *to = from + 1;
  while (to < s->end && *to != '"') to += to[0] == '\\' && to + 1 < s->end ? 2 : 1;
  if (to >= s->end) return pb__scan_refuse(s, from, "a text that does not end");
  s->at = to + 1;
  *text = (pb_slice){from, s->at};
  return true;
}

bool pb__scan_symbol(pb_scan* s, pb_slice* symbol) {
  if (!pb__scan_take(s, "@")) return expected(s, "a name, as @main");
  if (*s->at == '"') return pb__scan_text(s, symbol);
  symbol->from = s->at;
  while (s->at < s->end && is_in_name(*s->at)) ++s->at;
  symbol->to = s->at;
  return symbol->to > symbol->from || expected(s, "a name");
}

bool pb__scan_number(pb_scan* s, pb_slice* number) {
  pb__scan_blanks(s);
  const char* from = s->at;
  const char* digits = from + (*from == '-');
  if (!isdigit((unsigned char)*digits)) return expected(s, "an integer");
  for (s->at = digits; isdigit((unsigned char)*s->at);) ++s->at;
  *number = (pb_slice){from, s->at};
  return true;
}

bool pb__scan_group(pb_scan* s, pb_slice* group) {
  enum { MOST = 256 };
  static const char opens[] = "([{<", closes[] = ")]}>";
  char wanted[MOST];
  int depth = 0;
  pb__scan_blanks(s);
  const char *from = s->at, *c = from;
  if (!*c || !strchr(opens, *c)) return expected(s, "a bracket");
  do {
    const char* open = *c && c < s->end ? strchr(opens, *c) : NULL;
    if (c >= s->end) return pb__scan_refuse(s, from, "a bracket that is not closed");
    if (open) {
      if (depth == MOST) return pb__scan_refuse(s, c, "brackets inside each other deeper than %d", MOST);
      wanted[depth++] = closes[open - opens];
    } else if (*c == '"') {
      pb_slice text;
      s->at = c;
      if (!pb__scan_text(s, &text)) return false;
      c = s->at - 1;
    } else if (c[0] == '-' && c[1] == '>') {
      ++c;
    } else if (strchr(closes, *c)) {
      if (*c != wanted[depth - 1]) return pb__scan_refuse(s, c, "'%c' where '%c' is expected", *c, wanted[depth - 1]);
      --depth;
    }
    ++c;
  } while (depth);
  s->at = c;
  *group = (pb_slice){from, c};
  return true;
}

// A name and what stands in brackets behind it: tensor<2xf32>, !quant.uniform<i8:f32, 0.5>, dense<[1, 2]>, loc("a").
static bool take_named(pb_scan* s, const char* brackets) {
  pb_slice group;
  while (s->at < s->end && is_in_name(*s->at) && !(s->at[0] == '-' && s->at[1] == '>')) ++s->at;
  return !*s->at || !strchr(brackets, *s->at) || pb__scan_group(s, &group);
}

bool pb__scan_type(pb_scan* s, pb_slice* type) {
  pb__scan_blanks(s);
  const char* from = s->at;
  pb_slices parts = {0};
  if (*s->at == '(') { // of a function
    bool good = pb__scan_type_list(s, &parts) && pb__scan_need(s, "->") && pb__scan_type_list(s, &parts);
    free(parts.items);
    *type = (pb_slice){from, s->at};
    return good;
  }
  if (*s->at == '!') ++s->at;
  if (!is_letter(*s->at)) {
    s->at = from;
    return expected(s, "a type");
  }
  if (!take_named(s, "<")) return false;
  *type = (pb_slice){from, s->at};
  return true;
}

bool pb__scan_attribute(pb_scan* s, pb_slice* attribute, pb_slice* type) {
  pb__scan_blanks(s);
  const char* from = s->at;
  pb_slice part;
  bool good;
  if (*from == '"') {
    good = pb__scan_text(s, &part);
  } else if (*from == '@') {
    good = pb__scan_symbol(s, &part);
    while (good && pb__scan_take(s, "::")) good = pb__scan_symbol(s, &part);
  } else if (*from == '[' || *from == '{') {
    good = pb__scan_group(s, &part);
  } else if (*from == '#' || is_letter(*from)) {
    ++s->at;
    good = take_named(s, "<(");
  } else if (*from == '-' || isdigit((unsigned char)*from)) {
    for (++s->at; is_in_word(*s->at) || ((*s->at == '+' || *s->at == '-') && tolower((unsigned char)s->at[-1]) == 'e');)
      ++s->at;
    good = true;
  } else {
    good = expected(s, "an attribute");
  }
  *type = (pb_slice){s->at, s->at};
  const char* to = s->at;
  if (good && pb__scan_take(s, ":")) {
    good = pb__scan_type(s, type);
    to = s->at;
  }
  *attribute = (pb_slice){from, to};
  s->at = to;
  return good;
}

bool pb__scan_values(pb_scan* s, bool closed, pb_slices* values) {
  pb_slice value;
  while (pb__scan_sees(s, "%")) {
    if (!pb__scan_value(s, &value)) return false;
    pb__slices_add(values, value);
    if (closed ? !pb__scan_need(s, ",") : !pb__scan_take(s, ",")) return !closed;
    if (!closed && !pb__scan_sees(s, "%")) return expected(s, "a value, as %0");
  }
  return true;
}

bool pb__scan_types(pb_scan* s, pb_slices* types) {
  pb_slice type;
  do {
    if (!pb__scan_type(s, &type)) return false;
    pb__slices_add(types, type);
  } while (pb__scan_take(s, ","));
  return true;
}

bool pb__scan_type_list(pb_scan* s, pb_slices* types) {
  pb_slice type;
  if (pb__scan_take(s, "(")) return pb__scan_take(s, ")") || (pb__scan_types(s, types) && pb__scan_need(s, ")"));
  if (!pb__scan_type(s, &type)) return false;
  pb__slices_add(types, type);
  return true;
}

bool pb__scan_location(pb_scan* s) {
  pb_slice group;
  return !pb__scan_take(s, "loc") || pb__scan_group(s, &group);
}

pb_slice pb__slice_inside(pb_slice group) {
  for (++group.from, --group.to; group.from < group.to && isspace((unsigned char)*group.from);) ++group.from;
  while (group.from < group.to && isspace((unsigned char)group.to[-1])) --group.to;
  return group;
}

pb_slice pb__scan_made(pb_scan* s, const char* format, ...) {
  pb_text text = {0};
  va_list args;
  va_start(args, format);
  pb_text_add_args(&text, format, args);
  va_end(args);
  const char* kept = pb_strdup(&s->arena, text.data ? text.data : "");
  pb_text_free(&text);
  return pb__slice(kept);
}

void pb__slices_add(pb_slices* slices, pb_slice slice) {
  PB_PUSH(slices->items, slices->count, slices->capacity, slice);
}

// ---- the generic form ----

static void mark(pb_scan* s, const char* own, bool is_copy) {
  pb_pretty* out = s->out;
  pb_pretty_mark new = {out->text.length, (size_t)(own - s->text), is_copy};
  const pb_pretty_mark* last = out->mark_count ? &out->marks[out->mark_count - 1] : NULL;
  if (last && !is_copy && !last->is_copy && last->own == new.own) return;
  PB_PUSH(out->marks, out->mark_count, out->mark_capacity, new);
}

void pb__scan_put(pb_scan* s, pb_slice piece) {
  if (piece.from == piece.to) return;
  bool is_copy = piece.from >= s->text && piece.to <= s->end;
  mark(s, is_copy ? piece.from : s->place, is_copy);
  pb_text_add_bytes(&s->out->text, piece.from, (size_t)(piece.to - piece.from));
}

void pb__scan_puts(pb_scan* s, const char* text) { pb__scan_put(s, pb__slice(text)); }

void pb__scan_put_list(pb_scan* s, const pb_slices* slices) {
  for (size_t k = 0; k < slices->count; ++k) {
    if (k) pb__scan_puts(s, ", ");
    pb__scan_put(s, slices->items[k]);
  }
}
