// What has regions: modules, functions, loops and reductions in their own form, and whatever is in the generic form.
#include "core/frontend/stablehlo/pretty/forms.h"

#include <stdlib.h>

enum { MOST_DEPTH = 80 }; // of regions; who reads the generic form takes fewer

// ---- regions ----

static void put_arguments(pb_scan* s, const pb_slices* names, const pb_slices* types) {
  pb__scan_puts(s, "(");
  for (size_t k = 0; k < names->count; ++k) {
    if (k) pb__scan_puts(s, ", ");
    pb__scan_put(s, names->items[k]);
    pb__scan_puts(s, ": ");
    pb__scan_put(s, types->items[k]);
  }
  pb__scan_puts(s, ")");
}

// ^bb0(%arg0: tensor<f32>, %arg1: tensor<f32>):
static bool label(pb_scan* s) {
  pb_slices names = {0}, types = {0};
  pb_slice word, piece;
  pb__scan_blanks(s);
  const char* from = s->at++;
  bool good = pb__scan_word(s, &word);
  pb__scan_puts(s, "\n");
  if (good) pb__scan_put(s, (pb_slice){from, word.to});
  if (good && pb__scan_take(s, "(")) {
    if (!pb__scan_sees(s, ")")) do {
        good = pb__scan_value(s, &piece);
        if (good) pb__slices_add(&names, piece);
        good = good && pb__scan_need(s, ":") && pb__scan_type(s, &piece);
        if (good) pb__slices_add(&types, piece);
        good = good && pb__scan_location(s);
      } while (good && pb__scan_take(s, ","));
    good = good && pb__scan_need(s, ")");
    if (good) put_arguments(s, &names, &types);
  }
  good = good && pb__scan_need(s, ":");
  if (good) pb__scan_puts(s, ":\n");
  free(names.items);
  free(types.items);
  return good;
}

bool pb__pretty_region(pb_scan* s, const pb_slices* arguments, const pb_slices* types) {
  pb__scan_blanks(s);
  s->place = s->at;
  if (s->depth == MOST_DEPTH) return pb__scan_refuse(s, s->at, "regions inside each other deeper than %d", MOST_DEPTH);
  if (!pb__scan_need(s, "{")) return false;
  ++s->depth;
  pb__scan_puts(s, "{\n");
  if (arguments) {
    pb__scan_puts(s, "^pb0");
    put_arguments(s, arguments, types);
    pb__scan_puts(s, ":\n");
  }
  while (!pb__scan_sees(s, "}")) {
    s->place = s->at;
    if (s->at == s->end) return pb__scan_need(s, "}");
    if (!(*s->at == '^' ? label(s) : pb__pretty_operation(s))) return false;
  }
  s->place = s->at;
  pb__scan_puts(s, "}");
  --s->depth;
  return pb__scan_take(s, "}");
}

// ---- in the generic form ----

// Behind the name: (operands) [successors] <{properties}> ({regions}) {attributes} : type
bool pb__pretty_generic(pb_scan* s) {
  pb_slice piece;
  pb__scan_blanks(s);
  const char* from = s->at;
  if (!pb__scan_sees(s, "(")) return pb__scan_need(s, "(");
  if (!pb__scan_group(s, &piece)) return false;
  if (pb__scan_sees(s, "[") && !pb__scan_group(s, &piece)) return false;
  if (pb__scan_sees(s, "<") && !pb__scan_group(s, &piece)) return false;
  if (pb__scan_take(s, "(")) {
    pb__scan_put(s, (pb_slice){from, s->at});
    do
      if (!pb__pretty_region(s, NULL, NULL)) return false;
    while (pb__scan_take(s, ",") && (pb__scan_puts(s, ", "), true));
    pb__scan_blanks(s);
    from = s->at;
    if (!pb__scan_need(s, ")")) return false;
  }
  if (pb__scan_sees(s, "{") && !pb__scan_group(s, &piece)) return false;
  if (!pb__scan_need(s, ":") || !pb__scan_type(s, &piece)) return false;
  pb__scan_put(s, (pb_slice){from, s->at});
  return true;
}

// ---- modules and functions ----

// module @name attributes {...} { }: the generic form has it as it is.
static bool module(pb_scan* s, const char* from) {
  pb_slice piece;
  if (pb__scan_sees(s, "@") && !pb__scan_symbol(s, &piece)) return false;
  if (pb__scan_take(s, "attributes") && !pb__scan_group(s, &piece)) return false;
  pb__scan_put(s, (pb_slice){from, s->at});
  pb__scan_puts(s, " ");
  return pb__pretty_region(s, NULL, NULL);
}

typedef struct function {
  pb_slice visibility, name;
  pb_slices arguments, attributes; // attributes: of each argument, and of each result behind them
  pb_pretty_op op;
} function;

// The attributes in braces behind an argument or a result, "{}" where there are none.
static bool attributes_of(pb_scan* s, function* f) {
  pb_slice group = pb__slice("{}");
  if (pb__scan_sees(s, "{") && !pb__scan_group(s, &group)) return false;
  pb__slices_add(&f->attributes, group);
  return true;
}

static bool argument(pb_scan* s, function* f) {
  pb_slice piece;
  if (pb__scan_sees(s, "%")) {
    if (!pb__scan_value(s, &piece) || !pb__scan_need(s, ":")) return false;
    pb__slices_add(&f->arguments, piece);
  }
  if (!pb__scan_type(s, &piece)) return false;
  pb__slices_add(&f->op.inputs, piece);
  return attributes_of(s, f) && pb__scan_location(s);
}

static bool result(pb_scan* s, function* f) {
  pb_slice piece;
  if (!pb__scan_type(s, &piece)) return false;
  pb__slices_add(&f->op.results, piece);
  return attributes_of(s, f);
}

// Of one alone a brace begins the body.
static bool one_result(pb_scan* s, function* f) {
  pb_slice piece;
  if (!pb__scan_type(s, &piece)) return false;
  pb__slices_add(&f->op.results, piece);
  pb__slices_add(&f->attributes, pb__slice("{}"));
  return true;
}

static bool listed(pb_scan* s, function* f, bool (*take)(pb_scan* s, function* f)) {
  if (!pb__scan_need(s, "(")) return false;
  if (pb__scan_take(s, ")")) return true;
  do
    if (!take(s, f)) return false;
  while (pb__scan_take(s, ","));
  return pb__scan_need(s, ")");
}

static bool head(pb_scan* s, function* f) {
  static const char* const words[] = {"public", "private", "nested"};
  for (int k = 0; k < 3; ++k) {
    pb__scan_blanks(s);
    if (!pb__scan_take(s, words[k])) continue;
    f->visibility = pb__slice(words[k]);
    break;
  }
  if (!pb__scan_symbol(s, &f->name) || !listed(s, f, argument)) return false;
  if (pb__scan_take(s, "->")) {
    bool good = pb__scan_sees(s, "(") ? listed(s, f, result) : one_result(s, f);
    if (!good) return false;
  }
  return !pb__scan_take(s, "attributes") || pb__pretty_more(s, &f->op);
}

static void put_lists(pb_scan* s, const char* name, const pb_slice* items, size_t count) {
  bool any = false;
  for (size_t k = 0; k < count; ++k) any |= !pb__slice_is(items[k], "{}");
  if (!any) return;
  pb__scan_puts(s, name);
  const pb_slices list = {(pb_slice*)(uintptr_t)items, count, count};
  pb__scan_put_list(s, &list);
  pb__scan_puts(s, "], ");
}

static void put_properties(pb_scan* s, const function* f) {
  const char* quote = *f->name.from == '"' ? "" : "\"";
  size_t arguments = f->op.inputs.count;
  pb__scan_puts(s, " <{");
  put_lists(s, "arg_attrs = [", f->attributes.items, arguments);
  put_lists(s, "res_attrs = [", f->attributes.items + arguments, f->attributes.count - arguments);
  pb__scan_puts(s, "function_type = (");
  pb__scan_put_list(s, &f->op.inputs);
  pb__scan_puts(s, ") -> (");
  pb__scan_put_list(s, &f->op.results);
  pb__scan_puts(s, "), sym_name = ");
  pb__scan_puts(s, quote);
  pb__scan_put(s, f->name);
  pb__scan_puts(s, quote);
  if (f->visibility.from) {
    pb__scan_puts(s, ", sym_visibility = \"");
    pb__scan_put(s, f->visibility);
    pb__scan_puts(s, "\"");
  }
  pb__scan_puts(s, "}> (");
}

bool pb__pretty_function(pb_scan* s) {
  function f = {.op = {.name = "func.func", .place = s->place}};
  bool good = head(s, &f);
  if (good) {
    pb__pretty_begin(s, &f.op);
    put_properties(s, &f);
    bool has_body = pb__scan_sees(s, "{");
    if (has_body && f.arguments.count != f.op.inputs.count)
      good = pb__scan_refuse(s, s->at, "arguments without names in front of a body");
    if (has_body)
      good = good && pb__pretty_region(s, &f.arguments, &f.op.inputs);
    else
      pb__scan_puts(s, "{}");
    pb__scan_puts(s, ")");
    free(f.op.inputs.items);
    free(f.op.results.items);
    f.op.inputs = f.op.results = (pb_slices){0};
    pb__pretty_end(s, &f.op);
  }
  free(f.arguments.items);
  free(f.attributes.items);
  pb__pretty_op_free(&f.op);
  return good;
}

// ---- loops and reductions ----

// (%arg = %0, %arg_1 = %1) : types attributes {...} cond {...} do {...}
static bool while_op(pb_scan* s, pb_pretty_op* op, pb_slices* carried) {
  pb_slice value;
  if (!pb__scan_need(s, "(")) return false;
  if (!pb__scan_sees(s, ")")) do {
      if (!pb__scan_value(s, &value) || !pb__scan_need(s, "=")) return false;
      pb__slices_add(carried, value);
      if (!pb__scan_value(s, &value)) return false;
      pb__slices_add(&op->operands, value);
    } while (pb__scan_take(s, ","));
  if (!pb__scan_need(s, ")")) return false;
  pb__scan_blanks(s);
  const char* types = s->at;
  if (op->operands.count && !(pb__scan_need(s, ":") && pb__scan_types(s, &op->inputs))) return false;
  if (op->inputs.count != op->operands.count)
    return pb__scan_refuse(s, types, "%zu types for %zu values", op->inputs.count, op->operands.count);
  for (size_t k = 0; k < op->inputs.count; ++k) pb__slices_add(&op->results, op->inputs.items[k]);
  if (pb__scan_take(s, "attributes") && !pb__pretty_more(s, op)) return false;
  if (!pb__scan_need(s, "cond")) return false;
  pb__pretty_begin(s, op);
  pb__scan_puts(s, " (");
  if (!pb__pretty_region(s, carried, &op->inputs) || !pb__scan_need(s, "do")) return false;
  pb__scan_puts(s, ", ");
  if (!pb__pretty_region(s, carried, &op->inputs)) return false;
  pb__scan_puts(s, ")");
  pb__pretty_end(s, op);
  return true;
}

bool pb__pretty_while(pb_scan* s) {
  pb_pretty_op op = {.name = "stablehlo.while", .place = s->place};
  pb_slices carried = {0};
  bool good = while_op(s, &op, &carried);
  free(carried.items);
  pb__pretty_op_free(&op);
  return good;
}

// `applies stablehlo.add`: a body of that operation. The type is of the elements of what is reduced.
static bool compact_body(pb_scan* s, const pb_pretty_op* op, pb_slice applied) {
  if (!op->inputs.count) return pb__scan_refuse(s, s->at, "expected the types of operands");
  pb_slice type = op->inputs.items[0];
  const char *open = memchr(type.from, '<', (size_t)(type.to - type.from)), *element = open ? open + 1 : NULL;
  if (strncmp(type.from, "tensor<", 7) != 0) return pb__scan_refuse(s, type.from, "expected a tensor's type");
  for (const char* c = element; c < type.to && *c && strchr("0123456789?x*", *c); ++c)
    if (*c == 'x') element = c + 1;
  const char *end = element, *last = type.to - 1;
  for (int depth = 0; end < last && (depth || *end != ','); ++end) // an encoding is none of the element
    depth += (*end == '<') - (*end == '>');
  pb_slice one = pb__scan_made(s, "tensor<%.*s>", (int)(end - element), element);
  int k = s->made++;
  pb_slice body =
      pb__scan_made(s,
                    " ({\n^pb0(%%pb.a%d: %s, %%pb.b%d: %s):\n%%pb.r%d = \"%.*s\"(%%pb.a%d, %%pb.b%d) : (%s, %s) -> %s\n"
                    "\"stablehlo.return\"(%%pb.r%d) : (%s) -> ()\n})",
                    k, one.from, k, one.from, k, (int)(applied.to - applied.from), applied.from, k, k, one.from,
                    one.from, one.from, k, one.from);
  pb__scan_put(s, body);
  return true;
}

// (%a: tensor<f32>, %b: tensor<f32>) for each operand: all that comes in front stands first.
static bool reducer(pb_scan* s, const pb_pretty_op* op) {
  pb_slices names[2] = {{0}}, types[2] = {{0}};
  pb_slice piece;
  bool good = true;
  while (good && pb__scan_take(s, "("))
    for (int k = 0; k < 2 && good; ++k) {
      good = pb__scan_value(s, &piece) && pb__scan_need(s, ":");
      if (good) pb__slices_add(&names[k], piece);
      good = good && pb__scan_type(s, &piece);
      if (good) pb__slices_add(&types[k], piece);
      good = good && pb__scan_location(s) && pb__scan_need(s, k ? ")" : ",");
    }
  for (size_t k = 0; good && k < names[1].count; ++k) {
    pb__slices_add(&names[0], names[1].items[k]);
    pb__slices_add(&types[0], types[1].items[k]);
  }
  s->place = op->place;
  pb__scan_puts(s, " (");
  good = good && pb__pretty_region(s, &names[0], &types[0]);
  pb__scan_puts(s, ")");
  for (int k = 0; k < 2; ++k) free(names[k].items), free(types[k].items);
  return good;
}

static bool dimensions(pb_scan* s, pb_pretty_op* op) {
  pb_slice group;
  if (!pb__scan_need(s, "across") || !pb__scan_need(s, "dimensions") || !pb__scan_need(s, "=")) return false;
  if (!pb__scan_sees(s, "[")) return pb__scan_need(s, "[");
  if (!pb__scan_group(s, &group)) return false;
  pb_slice inside = pb__slice_inside(group);
  pb__pretty_add(op, "dimensions", inside.from == inside.to ? "array<i64" : "array<i64: ", inside, ">");
  return true;
}

// (%x init: %c), (%y init: %d) applies stablehlo.add across dimensions = [1] {...} : type
// (%x init: %c), (%y init: %d) across dimensions = [1] {...} : type reducer(...) (...) {...}
static bool reduce_op(pb_scan* s, pb_pretty_op* op, pb_slices* first) {
  pb_slice value, applied = {0};
  do {
    if (!pb__scan_need(s, "(") || !pb__scan_value(s, &value)) return false;
    pb__slices_add(&op->operands, value);
    if (!pb__scan_need(s, "init") || !pb__scan_need(s, ":") || !pb__scan_value(s, &value) || !pb__scan_need(s, ")"))
      return false;
    pb__slices_add(first, value);
  } while (pb__scan_take(s, ","));
  for (size_t k = 0; k < first->count; ++k) pb__slices_add(&op->operands, first->items[k]);
  if (pb__scan_take(s, "applies") && !pb__scan_word(s, &applied)) return false;
  if (!dimensions(s, op) || !pb__pretty_more(s, op) || !pb__scan_need(s, ":") || !pb__pretty_signature(s, op))
    return false;
  if (!applied.from && !pb__scan_need(s, "reducer")) return false;
  pb__pretty_begin(s, op);
  if (!(applied.from ? compact_body(s, op, applied) : reducer(s, op))) return false;
  pb__pretty_end(s, op);
  return true;
}

bool pb__pretty_reduce(pb_scan* s) {
  pb_pretty_op op = {.name = "stablehlo.reduce", .place = s->place};
  pb_slices first = {0};
  bool good = reduce_op(s, &op, &first);
  free(first.items);
  pb__pretty_op_free(&op);
  return good;
}

// (inputs) inits (carried) dimension=0 attributes {...} {^bb0(...): ...} : type
static bool scan_op(pb_scan* s, pb_pretty_op* op) {
  pb_slice number;
  if (!pb__scan_need(s, "(") || !pb__scan_values(s, false, &op->operands)) return false;
  size_t inputs = op->operands.count;
  if (!pb__scan_need(s, ")") || !pb__scan_need(s, "inits") || !pb__scan_need(s, "(") ||
      !pb__scan_values(s, false, &op->operands) || !pb__scan_need(s, ")"))
    return false;
  size_t carried = op->operands.count - inputs;
  if (!pb__scan_need(s, "dimension") || !pb__scan_need(s, "=") || !pb__scan_number(s, &number)) return false;
  pb__pretty_add(op, "dimension", "", number, " : i64");
  if (pb__scan_take(s, "attributes") && !pb__pretty_more(s, op)) return false;
  pb__pretty_begin(s, op);
  pb__scan_puts(s, " (");
  if (!pb__pretty_region(s, NULL, NULL) || !pb__scan_need(s, ":") || !pb__pretty_signature(s, op)) return false;
  pb__scan_puts(s, ")");
  if (op->results.count < carried) return pb__scan_refuse(s, s->at, "fewer results than values that are carried");
  pb__pretty_add(op, "operandSegmentSizes", "array<i32: ", pb__scan_made(s, "%zu, %zu", inputs, carried), ">");
  pb__pretty_add(op, "resultSegmentSizes",
                 "array<i32: ", pb__scan_made(s, "%zu, %zu", op->results.count - carried, carried), ">");
  pb__pretty_end(s, op);
  return true;
}

bool pb__pretty_scan(pb_scan* s) {
  pb_pretty_op op = {.name = "chlo.scan", .place = s->place};
  bool good = scan_op(s, &op);
  pb__pretty_op_free(&op);
  return good;
}

// ---- operations ----

// %0, %1:2 =
static bool results(pb_scan* s) {
  pb_slice piece;
  const char* from = s->at;
  do {
    if (!pb__scan_value(s, &piece)) return false;
    if (pb__scan_take(s, ":") && !pb__scan_number(s, &piece)) return false;
  } while (pb__scan_take(s, ","));
  if (!pb__scan_need(s, "=")) return false;
  pb__scan_put(s, (pb_slice){from, s->at});
  pb__scan_puts(s, " ");
  return true;
}

static bool named(pb_scan* s, pb_slice name) {
  static const struct {
    const char* name;
    bool (*take)(pb_scan* s);
  } with_regions[] = {{"func.func", pb__pretty_function},
                      {"stablehlo.while", pb__pretty_while},
                      {"stablehlo.reduce", pb__pretty_reduce},
                      {"chlo.scan", pb__pretty_scan}};
  bool known;
  s->place = name.from;
  if (pb__slice_is(name, "module") || pb__slice_is(name, "builtin.module")) return module(s, name.from);
  for (size_t k = 0; k < sizeof with_regions / sizeof *with_regions; ++k)
    if (pb__slice_is(name, with_regions[k].name)) return with_regions[k].take(s);
  if (pb__scan_sees(s, "() <{")) { // a constant of another type than its result's
    pb__scan_puts(s, "\"");
    pb__scan_put(s, name);
    pb__scan_puts(s, "\"");
    return pb__pretty_generic(s);
  }
  if (!pb__pretty_form(s, name, &known)) return false;
  if (known) return true;
  return pb__scan_refuse(s, name.from, "operator '%.*s' is not read in its own form, only in the generic one",
                         (int)(name.to - name.from), name.from);
}

bool pb__pretty_operation(pb_scan* s) {
  pb_slice name;
  bool good = true;
  pb__scan_blanks(s);
  s->place = s->at;
  if (*s->at == '%') good = results(s);
  if (good && pb__scan_sees(s, "\"")) {
    good = pb__scan_text(s, &name);
    if (good) pb__scan_put(s, name);
    good = good && pb__pretty_generic(s);
  } else {
    good = good && pb__scan_word(s, &name) && named(s, name);
  }
  s->place = s->at;
  if (good) pb__scan_puts(s, "\n");
  return good && pb__scan_location(s);
}
