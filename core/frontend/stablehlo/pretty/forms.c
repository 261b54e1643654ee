// Operations in their own form, by the rows of forms.def.
#include "core/frontend/stablehlo/pretty/forms.h"

#include <stdlib.h>

typedef struct form {
  const char *name, *generic, *behind;
} form;

#define FORM(name, generic, behind) {name, generic, behind},
static const form forms[] = {
#include "core/frontend/stablehlo/pretty/forms.def"
};

enum { FORMS = sizeof forms / sizeof *forms };

// ---- the generic form ----

void pb__pretty_add(pb_pretty_op* op, const char* name, const char* before, pb_slice value, const char* behind) {
  if (op->attr_count == PB_PRETTY_ATTRIBUTES) abort(); // a row has fewer
  op->attrs[op->attr_count++] = (pb_pretty_attr){name, pb__slice(before), value, pb__slice(behind), value.from};
}

void pb__pretty_begin(pb_scan* s, const pb_pretty_op* op) {
  s->place = op->place;
  pb__scan_puts(s, "\"");
  pb__scan_puts(s, op->name);
  pb__scan_puts(s, "\"(");
  pb__scan_put_list(s, &op->operands);
  pb__scan_puts(s, ")");
}

static void put_attributes(pb_scan* s, const pb_pretty_op* op) {
  bool more = op->more.from != op->more.to;
  if (!op->attr_count && !more) return;
  pb__scan_puts(s, " {");
  for (int k = 0; k < op->attr_count; ++k) {
    const pb_pretty_attr* a = &op->attrs[k];
    if (a->place >= s->text && a->place <= s->end) s->place = a->place;
    if (k) pb__scan_puts(s, ", ");
    pb__scan_puts(s, a->name);
    pb__scan_puts(s, " = ");
    pb__scan_put(s, a->before);
    pb__scan_put(s, a->value);
    pb__scan_put(s, a->behind);
  }
  s->place = op->place;
  if (op->attr_count && more) pb__scan_puts(s, ", ");
  pb__scan_put(s, op->more);
  pb__scan_puts(s, "}");
}

void pb__pretty_end(pb_scan* s, const pb_pretty_op* op) {
  s->place = op->place;
  put_attributes(s, op);
  pb__scan_puts(s, " : (");
  pb__scan_put_list(s, &op->inputs);
  pb__scan_puts(s, ") -> (");
  pb__scan_put_list(s, &op->results);
  pb__scan_puts(s, ")");
}

void pb__pretty_op_free(pb_pretty_op* op) {
  free(op->operands.items);
  free(op->inputs.items);
  free(op->results.items);
}

bool pb__pretty_more(pb_scan* s, pb_pretty_op* op) {
  pb_slice group;
  if (!pb__scan_sees(s, "{")) return true;
  if (op->more.from != op->more.to) return pb__scan_refuse(s, s->at, "attributes in braces, which there were before");
  if (!pb__scan_group(s, &group)) return false;
  op->more = pb__slice_inside(group);
  return true;
}

bool pb__pretty_signature(pb_scan* s, pb_pretty_op* op) {
  if (!pb__scan_sees(s, "(")) return pb__scan_need(s, "(");
  return pb__scan_type_list(s, &op->inputs) && pb__scan_need(s, "->") && pb__scan_type_list(s, &op->results);
}

// ---- types ----

static void add_times(pb_slices* types, size_t times, pb_slice type) {
  while (times--) pb__slices_add(types, type);
}

static bool same(pb_scan* s, pb_pretty_op* op) {
  pb_slice type;
  if (pb__scan_sees(s, "(")) return pb__pretty_signature(s, op);
  if (!pb__scan_type(s, &type)) return false;
  add_times(&op->inputs, op->operands.count, type);
  pb__slices_add(&op->results, type);
  return true;
}

static bool selected(pb_scan* s, pb_pretty_op* op) {
  pb_slice type;
  if (pb__scan_sees(s, "(")) return pb__pretty_signature(s, op);
  if (!pb__scan_type(s, &type) || !pb__scan_need(s, ",")) return false;
  pb__slices_add(&op->inputs, type);
  if (!pb__scan_type(s, &type)) return false;
  add_times(&op->inputs, 2, type);
  pb__slices_add(&op->results, type);
  return true;
}

// tensor<2xcomplex<f32>>: its operands are tensor<2xf32>.
static bool complex_ones(pb_scan* s, pb_pretty_op* op) {
  static const char word[] = "complex<";
  pb_slice type;
  if (pb__scan_sees(s, "(")) return pb__pretty_signature(s, op);
  if (!pb__scan_type(s, &type)) return false;
  const char* at = type.from;
  while (type.to - at > (long)strlen(word) && strncmp(at, word, strlen(word)) != 0) ++at;
  const char *inner = at + strlen(word), *close = memchr(at, '>', (size_t)(type.to - at));
  if (!close || inner > close) return pb__scan_refuse(s, type.from, "expected a tensor of complex numbers");
  pb_slice part = pb__scan_made(s, "%.*s%.*s%.*s", (int)(at - type.from), type.from, (int)(close - inner), inner,
                                (int)(type.to - close - 1), close + 1);
  add_times(&op->inputs, op->operands.count, part);
  pb__slices_add(&op->results, type);
  return true;
}

static bool tuple(pb_scan* s, pb_pretty_op* op) {
  pb_slice type, group;
  pb__scan_blanks(s);
  const char* from = s->at;
  if (!pb__scan_need(s, "tuple") || !pb__scan_group(s, &group)) return false;
  type = (pb_slice){from, s->at};
  pb__slices_add(&op->results, type);
  const char *end = s->at, *text_end = s->end;
  s->at = group.from + 1;
  s->end = group.to - 1; // types end there
  pb__scan_blanks(s);
  bool good = s->at == s->end || pb__scan_types(s, &op->inputs);
  s->end = text_end;
  s->at = end;
  return good;
}

static bool pairs(pb_scan* s, pb_pretty_op* op) {
  if (!op->operands.count) return pb__scan_need(s, "(") && pb__scan_need(s, ")");
  if (!pb__scan_need(s, ":") || !pb__scan_types(s, &op->inputs)) return false;
  for (size_t k = 0; k < op->inputs.count; ++k) pb__slices_add(&op->results, op->inputs.items[k]);
  return true;
}

static bool ends(pb_scan* s, pb_pretty_op* op) {
  return !op->operands.count || (pb__scan_need(s, ":") && pb__scan_types(s, &op->inputs));
}

static bool arrow(pb_scan* s, pb_pretty_op* op) {
  bool good = pb__scan_sees(s, "(") ? pb__scan_type_list(s, &op->inputs) : pb__scan_types(s, &op->inputs);
  return good && pb__scan_need(s, "->") && pb__scan_type_list(s, &op->results);
}

static bool results(pb_scan* s, pb_pretty_op* op) { return pb__scan_types(s, &op->results); }

static bool types(pb_scan* s, pb_pretty_op* op, const char* how) {
  static const struct {
    const char* name;
    bool colon;
    bool (*take)(pb_scan* s, pb_pretty_op* op);
  } kinds[] = {{"same", true, same},       {"function", true, pb__pretty_signature},
               {"select", true, selected}, {"complex", true, complex_ones},
               {"tuple", true, tuple},     {"pairs", false, pairs},
               {"ends", false, ends},      {"arrow", true, arrow},
               {"results", true, results}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
    if (!strcmp(how, kinds[k].name))
      return pb__pretty_more(s, op) && (!kinds[k].colon || pb__scan_need(s, ":")) && kinds[k].take(s, op);
  abort(); // no such kind in forms.def
}

// ---- attributes ----

static bool integers(pb_scan* s, pb_pretty_op* op, const char* name) {
  pb_slice number, group;
  pb__scan_blanks(s);
  group.from = s->at + 1;
  if (!pb__scan_need(s, "[")) return false;
  if (!pb__scan_sees(s, "]")) do
      if (!pb__scan_number(s, &number)) return false;
    while (pb__scan_take(s, ","));
  group.to = s->at;
  bool none = pb__scan_sees(s, "]") && s->at == group.from;
  pb__pretty_add(op, name, none ? "array<i64" : "array<i64: ", group, ">");
  return pb__scan_need(s, "]");
}

static bool reference(pb_scan* s, pb_pretty_op* op, const char* name, bool is_text) {
  pb_slice symbol;
  if (!pb__scan_symbol(s, &symbol)) return false;
  const char* quote = is_text && *symbol.from != '"' ? "\"" : "";
  pb__pretty_add(op, name, is_text ? quote : "@", symbol, quote);
  return true;
}

static bool dialect_attribute(pb_scan* s, pb_pretty_op* op, const char* name, const char* kind) {
  pb_slice value;
  const char* inner = strchr(kind, '.') + 1;
  if (!strncmp(kind, "#sdy.", 5)) {
    if (!pb__scan_sees(s, "<")) return pb__scan_need(s, "<");
    if (!pb__scan_group(s, &value)) return false;
    pb__pretty_add(op, name, kind, value, "");
    return true;
  }
  if (!pb__scan_word(s, &value)) return false;
  const char* before = pb_printf(&s->arena, "%.*s<%s ", (int)(inner - 1 - kind), kind, inner);
  pb__pretty_add(op, name, before, value, ">");
  return true;
}

static bool attribute(pb_scan* s, pb_pretty_op* op, const char* name, const char* kind) {
  pb_slice value, type;
  if (!strcmp(kind, "i64s")) return integers(s, op, name);
  if (!strcmp(kind, "symbol") || !strcmp(kind, "reference")) return reference(s, op, name, *kind == 's');
  if (*kind == '#') return dialect_attribute(s, op, name, kind);
  if (!strcmp(kind, "of")) {
    if (!pb__scan_attribute(s, &value, &type)) return false;
    if (type.from == type.to) return pb__scan_refuse(s, s->at, "expected ':' and the type of the value");
    pb__slices_add(&op->results, type);
    pb__pretty_add(op, name, "", value, "");
    return true;
  }
  bool is_number = *kind == 'i';
  if (is_number ? !pb__scan_number(s, &value) : *kind == 't' ? !pb__scan_text(s, &value) : !pb__scan_word(s, &value))
    return false;
  if (*kind == 'b' && !pb__slice_is(value, "true") && !pb__slice_is(value, "false"))
    return pb__scan_refuse(s, value.from, "expected true or false");
  pb__pretty_add(op, name, "", value, !is_number ? "" : !strcmp(kind, "i32") ? " : i32" : " : i64");
  return true;
}

static bool direction(pb_scan* s, pb_pretty_op* op) {
  static const char* const words[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
  pb_slice word;
  if (!pb__scan_word(s, &word)) return false;
  for (int k = 0; k < 4; ++k)
    if (pb__slice_is(word, words[k])) {
      pb__pretty_add(op, "allowed_direction", "", pb__scan_made(s, "%d", k), " : i32");
      return true;
    }
  return pb__scan_refuse(s, word.from, "expected NONE, FORWARD, BACKWARD or BOTH");
}

static bool spelled(pb_scan* s, pb_pretty_op* op, const char* name) {
  static const struct {
    const char* name;
    bool (*take)(pb_scan* s, pb_pretty_op* op);
  } kinds[] = {{"slice_ranges", pb__pretty_slice_ranges},
               {"window", pb__pretty_window},
               {"convolution_dims", pb__pretty_convolution_dims},
               {"dot_dims", pb__pretty_dot_dims},
               {"precision", pb__pretty_precision},
               {"exponent", pb__pretty_exponent},
               {"direction", direction}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
    if (!strcmp(name, kinds[k].name)) return kinds[k].take(s, op);
  abort(); // no such spelling in forms.def
}

// ---- rows ----

static bool piece(pb_scan* s, pb_pretty_op* op, const char* what) {
  char *name, *kind;
  pb_slice value;
  switch (*what) {
  case '$':
    name = pb_strdup(&s->arena, what + 1);
    kind = strchr(name, ':');
    *kind++ = 0;
    return attribute(s, op, name, kind);
  case '*':
    return spelled(s, op, what + 1);
  case ':':
    if (what[1]) return types(s, op, what + 1);
    break;
  case '{':
    return pb__pretty_more(s, op);
  default:
    break;
  }
  if (!strcmp(what, "o...") || !strcmp(what, "o,...")) return pb__scan_values(s, what[1] == ',', &op->operands);
  if (strcmp(what, "o") != 0) return pb__scan_need(s, what);
  if (!pb__scan_value(s, &value)) return false;
  pb__slices_add(&op->operands, value);
  return true;
}

// The next piece of a row; false: it ends.
static bool next_piece(const char** row, char* what, size_t room) {
  *row += strspn(*row, " ");
  size_t n = strcspn(*row, " ");
  if (n >= room) abort();
  memcpy(what, *row, n);
  what[n] = 0;
  *row += n;
  return n > 0;
}

static bool row(pb_scan* s, pb_pretty_op* op, const char* behind) {
  char what[96];
  while (next_piece(&behind, what, sizeof what)) {
    if (!strcmp(what, ")?")) continue;
    if (strcmp(what, "(?") != 0) {
      if (!piece(s, op, what)) return false;
      continue;
    }
    const char* first = behind;
    next_piece(&first, what, sizeof what);
    if (pb__scan_sees(s, what)) continue; // it is there: its pieces follow
    behind = strstr(behind, ")?") + 2;
  }
  return true;
}

bool pb__pretty_form(pb_scan* s, pb_slice name, bool* known) {
  size_t k = 0;
  while (k < FORMS && !pb__slice_is(name, forms[k].name)) ++k;
  *known = k < FORMS;
  if (!*known) return true;
  pb_pretty_op op = {.name = forms[k].generic, .place = name.from};
  bool good = row(s, &op, forms[k].behind);
  if (good) {
    pb__pretty_begin(s, &op);
    pb__pretty_end(s, &op);
  }
  pb__pretty_op_free(&op);
  return good;
}
