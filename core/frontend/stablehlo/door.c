// The way through a module: unknown operators are named, calls are put in their places, results become outputs.
#include "core/frontend/stablehlo/door.h"

#include "core/base/distance.h"
#include "core/s1/control.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 32, MOST_NAMES = 64 };

#define OP(name, least, most, results, attributes, function, summary) {name, least, most, results, attributes, summary},
static const pb_door_row rows[] = {
#include "core/frontend/stablehlo/stablehlo.def"
    {0}};
#undef OP
#define OP(name, least, most, results, attributes, function, summary) pb__door_##function,
static pb_door_maker* const makers[] = {
#include "core/frontend/stablehlo/stablehlo.def"
};
#undef OP
static const char* const ends[] = {"func.return", "stablehlo.return", NULL};
const pb_door_table pb__door_stablehlo = {rows, makers, ends, false, PB_FLAT_STABLEHLO};

static int row_of(const pb_door* d, const char* name) {
  for (int k = 0; d->table->rows[k].name; ++k)
    if (!strcmp(d->table->rows[k].name, name)) return k;
  return -1;
}

static bool is_end(const pb_door* d, const pb_flat_op* op) {
  for (int k = 0; d->table->ends[k]; ++k)
    if (!strcmp(d->table->ends[k], op->name)) return true;
  return false;
}

static pb_place place_of(const pb_door* d, const pb_flat_op* op) {
  return (pb_place){.file = d->flat->file, .line = op->line, .column = op->column, .what = d->what};
}

pb_status pb__door_refuse(pb_door* d, const pb_flat_op* op, const char* format, ...) {
  char why[512];
  va_list args;
  va_start(args, format);
  vsnprintf(why, sizeof why, format, args);
  va_end(args);
  return pb_unsupported(d->diag, place_of(d, op), 2110, NULL, "%s: %s", op->name, why);
}

const pb_flat_type* pb__door_type(const pb_door* d, int flat_value) { return &d->types[flat_value]; }

int pb__door_result_part(pb_door* d, const pb_flat_op* op, int k, int part) {
  const pb_flat_type* type = pb__door_type(d, op->results[k]);
  int made = pb_make_value(&d->m, type->type, type->rank, type->shape);
  return (part ? d->imaginary : d->value)[op->results[k]] = made;
}

int pb__door_flat_operands(pb_door* d, const pb_flat_op* op, int from, int count, int most, int* values) {
  bool by_parts = pb__door_by_parts(op);
  int made = 0;
  for (int k = from; k < from + count; ++k) {
    int parts = !by_parts && pb__door_type(d, op->operands[k])->is_complex ? 2 : 1;
    if (made + parts > most) return -1;
    values[made++] = pb__door_in(d, op, k);
    if (parts == 2) values[made++] = d->imaginary[op->operands[k]];
  }
  return made;
}

int pb__door_result(pb_door* d, const pb_flat_op* op, int k) {
  const pb_flat_type* type = pb__door_type(d, op->results[k]);
  return d->value[op->results[k]] = pb_make_value(&d->m, type->type, type->rank, type->shape);
}

bool pb__door_alike(const pb_door* d, const pb_flat_op* op, int result, int k) {
  const pb_flat_type *a = pb__door_type(d, op->results[result]), *b = pb__door_type(d, op->operands[k]);
  return a->type == b->type && a->is_complex == b->is_complex && a->rank == b->rank &&
         !memcmp(a->shape, b->shape, sizeof(int64_t) * (size_t)a->rank);
}

// ---- attributes ----

int64_t pb__door_int(const pb_flat_op* op, const char* name, int64_t missing) {
  const pb_flat_attr* a = pb_flat_find(op, name);
  return a ? a->i : missing;
}

const int64_t* pb__door_ints(pb_door* d, const pb_flat_op* op, const char* name, int count, int64_t missing) {
  const pb_flat_attr* a = pb_flat_find(op, name);
  const int64_t far = (int64_t)1 << 31; // products and sums of what is nearer do not overflow
  for (int k = 0; a && a->ints && k < a->count; ++k)
    if (a->ints[k] < -far || a->ints[k] > far) return NULL;
  if (a) return a->ints && a->count == count ? a->ints : NULL;
  int64_t* all = PB_NEW_ARRAY(&d->m.program->arena, int64_t, (size_t)count + 1);
  for (int k = 0; k < count; ++k) all[k] = missing;
  return all;
}

// Behind "name =" in the text, NULL: it is not there.
static const char* behind(const pb_flat_op* op, const char* attribute, const char* name) {
  const pb_flat_attr* a = pb_flat_find(op, attribute);
  size_t length = strlen(name);
  for (const char* at = a ? a->text : NULL; at && (at = strstr(at, name)); at += length) {
    bool starts = at == a->text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
    if (starts && !strncmp(at + length, " = ", 3)) return at + length + 3;
  }
  return NULL;
}

int pb__door_list(const pb_flat_op* op, const char* attribute, const char* name, int most, int64_t* items) {
  const char* at = behind(op, attribute, name);
  int count = 0;
  if (!at || *at != '[') return 0;
  for (++at; *at && *at != ']';) {
    char* end;
    long long number = strtoll(at, &end, 10);
    if (end == at || count == most) return -1;
    items[count++] = number;
    at = *end == ',' ? end + 1 : end;
    while (*at == ' ') ++at;
  }
  return count;
}

int64_t pb__door_field(const pb_flat_op* op, const char* attribute, const char* name, int64_t missing) {
  const char* at = behind(op, attribute, name);
  return at ? strtoll(at, NULL, 10) : missing;
}

bool pb__door_says(const pb_flat_op* op, const char* attribute, const char* word) {
  const pb_flat_attr* a = pb_flat_find(op, attribute);
  const char* at = a ? strstr(a->text, word) : NULL;
  return at && !isalnum((unsigned char)at[strlen(word)]) && (at == a->text || !isalnum((unsigned char)at[-1]));
}

static bool is_kind(const pb_flat_attr* a, const char* kind, size_t length) {
  static const char* const kinds[] = {
      [PB_FLAT_INT] = "int", [PB_FLAT_INTS] = "ints", [PB_FLAT_TEXT] = "text", [PB_FLAT_TENSOR] = "tensor"};
  if (length == 3 && !strncmp(kind, "any", 3)) return true;
  const char* is = a->ints && length == 4 && !strncmp(kind, "ints", 4) ? "ints" : kinds[a->kind];
  return strlen(is) == length && !strncmp(is, kind, length);
}

// The row's attributes, "name:kind?" by blanks.
static pb_status check_attributes(pb_door* d, const pb_flat_op* op, const char* spec) {
  while (*spec) {
    size_t name = strcspn(spec, ":"), kind = strcspn(spec + name + 1, "? ");
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)name, spec);
    const pb_flat_attr* a = pb_flat_find(op, text);
    const char* end = spec + name + 1 + kind;
    if (!a && *end != '?') return pb__door_refuse(d, op, "attribute '%s' is missing", text);
    if (a && !is_kind(a, spec + name + 1, kind))
      return pb__door_refuse(d, op, "attribute '%s' is not of the kind %.*s", text, (int)kind, spec + name + 1);
    spec = end + (*end == '?');
    while (*spec == ' ') ++spec;
  }
  return PB_OK;
}

// The names of all attributes of all rows, for the reader.
const char* const* pb__door_attributes(const pb_door_table* table, pb_arena* arena) {
  const char** names = PB_NEW_ARRAY(arena, const char*, MOST_NAMES + 1);
  int count = 0;
  for (int k = 0; table->rows[k].name; ++k)
    for (const char* at = table->rows[k].attributes; *at;) {
      const char* name = pb_printf(arena, "%.*s", (int)strcspn(at, ":"), at);
      bool known = false;
      for (int n = 0; n < count; ++n) known |= !strcmp(names[n], name);
      if (!known && count < MOST_NAMES) names[count++] = name;
      at += strcspn(at, " ");
      while (*at == ' ') ++at;
    }
  return names;
}

// ---- operators that are not known ----

static const char* nearest(const pb_door* d, const char* name) {
  const char* best = NULL;
  int at = 4; // further away it is another word
  for (int k = 0; d->table->rows[k].name; ++k) {
    int away = pb_edit_distance(name, d->table->rows[k].name);
    if (away < at) {
      at = away;
      best = d->table->rows[k].name;
    }
  }
  return best;
}

static void find_unknown(pb_door* d, const pb_flat_block* block, const char** told, int* count) {
  for (int k = 0; k < block->op_count; ++k) {
    const pb_flat_op* op = &block->ops[k];
    for (int r = 0; r < op->region_count; ++r) find_unknown(d, &op->regions[r], told, count);
    bool known = row_of(d, op->name) >= 0 || is_end(d, op);
    for (int t = 0; t < *count; ++t) known |= !strcmp(told[t], op->name);
    if (known || *count == MOST_NAMES) continue;
    told[(*count)++] = op->name;
    const char* near = nearest(d, op->name);
    (void)pb_unsupported(d->diag, place_of(d, op), 2111,
                         near ? pb_printf(&d->m.program->arena, "perhaps %s", near) : NULL, "operator '%s' is not read",
                         op->name);
  }
}

// ---- values ----

pb_status pb__door_check_type(pb_door* d, const pb_flat_op* op, int flat_value) {
  const char* why = pb__door_unreadable(d, flat_value);
  if (why) return pb__door_refuse(d, op, "%s: %s", pb__door_type(d, flat_value)->text, why);
  const pb_flat_type* type = pb__door_type(d, flat_value);
  if (type->is_open) return pb__door_refuse(d, op, "the extents of %s are not known", type->text);
  bool parts = type->type == PB_F32 || type->type == PB_F64;
  if (type->is_element && type->type != PB_TYPE_COUNT && d->table->has_elements) return PB_OK;
  if (type->type != PB_TYPE_COUNT && !type->is_element && !pb_type_is_code(type->type) &&
      (!type->is_complex || (parts && type->rank < PB_NEST_RANK)))
    return PB_OK;
  return pb__door_refuse(d, op, "values of %s are not supported", type->text);
}

// Tensors of no elements are no values: what makes them is left out, and what joins them to others leaves them out.
bool pb__door_is_empty(const pb_door* d, int flat_value) {
  const pb_flat_type* type = pb__door_type(d, flat_value);
  const char* shape = type->type == PB_TYPE_COUNT ? strchr(type->text, '<') : NULL;
  return shape && !strncmp(type->text, "tensor<", 7) && (!strncmp(shape, "<0x", 3) || strstr(shape, "x0x"));
}

// Operators that have values inside that they are not made of.
static bool has_values_inside(const pb_flat_op* op) {
  return !strcmp(op->name, "stablehlo.while") || !strcmp(op->name, "stablehlo.if") ||
         !strcmp(op->name, "stablehlo.case");
}

static bool makes_nothing(const pb_door* d, const pb_flat_op* op) {
  bool nothing = op->result_count > 0 && !has_values_inside(op);
  for (int k = 0; k < op->result_count; ++k) nothing &= pb__door_is_empty(d, op->results[k]);
  return nothing;
}

pb_door_value pb__door_get(const pb_door* d, int flat_value) {
  return (pb_door_value){d->value[flat_value], d->imaginary[flat_value]};
}

void pb__door_set(pb_door* d, int flat_value, pb_door_value v) {
  d->value[flat_value] = v.value;
  d->imaginary[flat_value] = v.imaginary;
}

pb_status pb__door_bind(pb_door* d, const pb_flat_op* op, int flat_value, pb_door_value v) {
  const pb_flat_type* name = pb__door_type(d, flat_value);
  if (pb__door_is_empty(d, flat_value)) return PB_OK;
  bool fits = v.value >= 0 && name->is_complex == (v.imaginary >= 0);
  const pb_s1_value* value = fits ? pb_made(&d->m, v.value) : NULL;
  if (fits && d->flat->values[flat_value].is_open)
    PB_TRY(pb__door_refine_as(d, op, flat_value, value->rank, value->shape));
  pb_type type = name->type == PB_INDEX ? PB_I64 : name->type;
  fits = fits && value->type == type && value->rank == name->rank &&
         !memcmp(value->shape, name->shape, sizeof(int64_t) * (size_t)name->rank);
  if (!fits) return pb__door_refuse(d, op, "a value that is not of %s", name->text);
  pb__door_set(d, flat_value, v);
  return PB_OK;
}

static bool has_complex(const pb_door* d, const pb_flat_op* op) {
  for (int k = 0; k < op->operand_count; ++k)
    if (pb__door_type(d, op->operands[k])->is_complex) return true;
  for (int k = 0; k < op->result_count; ++k)
    if (pb__door_type(d, op->results[k])->is_complex) return true;
  return false;
}

// Operators that have regions or calls inside carry pairs by themselves; others are made for each part, or for both.
static pb_status make_complex(pb_door* d, const pb_flat_op* op, pb_door_maker* make) {
  static const char* const carry[] = {"func.call",
                                      "stablehlo.while",
                                      "stablehlo.if",
                                      "stablehlo.case",
                                      "stablehlo.complex",
                                      "stablehlo.real",
                                      "stablehlo.imag",
                                      "stablehlo.optimization_barrier",
                                      "sdy.sharding_constraint",
                                      "sdy.propagation_barrier",
                                      "stablehlo.custom_call",
                                      "chlo.conj",
                                      "stablehlo.cholesky",
                                      "stablehlo.composite",
                                      "stablehlo.fft",
                                      "stablehlo.get_dimension_size",
                                      "stablehlo.real_dynamic_slice",
                                      "stablehlo.dynamic_pad",
                                      "stablehlo.dynamic_gather",
                                      "stablehlo.iota",
                                      "chlo.scan",
                                      "stablehlo.triangular_solve",
                                      "stablehlo.dot_general",
                                      "stablehlo.bitcast_convert",
                                      "stablehlo.reduce",
                                      "stablehlo.reduce_window",
                                      "stablehlo.scatter",
                                      "stablehlo.sort"};
  if (!pb__door_by_parts(op)) {
    if (make == pb__door_broadcast || make == pb__door_constant_like) return make(d, op); // others, which come here
    for (size_t k = 0; k < sizeof carry / sizeof *carry; ++k)
      if (!strcmp(op->name, carry[k])) return make(d, op);
    bool element = make == pb__door_element;
    return element ? pb__door_complex_element(d, op) : pb__door_refuse(d, op, "of complex numbers");
  }
  int* first = PB_NEW_ARRAY(&d->m.program->arena, int, (size_t)op->result_count + 1);
  PB_TRY(make(d, op));
  for (int k = 0; k < op->result_count; ++k) first[k] = d->value[op->results[k]];
  d->part = 1;
  PB_TRY(make(d, op));
  d->part = 0;
  for (int k = 0; k < op->result_count; ++k)
    pb__door_set(d, op->results[k], (pb_door_value){first[k], d->value[op->results[k]]});
  return PB_OK;
}

pb_status pb__door_check(pb_door* d, const pb_flat_op* op) {
  int k = row_of(d, op->name);
  if (k < 0) return pb__door_refuse(d, op, "no such operator");
  const pb_door_row* row = &d->table->rows[k];
  if (op->operand_count < row->least || op->operand_count > row->most ||
      (row->results >= 0 && op->result_count != row->results))
    return pb__door_refuse(d, op, "%d operands and %d results do not fit it", op->operand_count, op->result_count);
  return check_attributes(d, op, row->attributes);
}

// Operators that hand their operands to regions of their own.
static bool goes_on_inside(const pb_flat_op* op) {
  return !strcmp(op->name, "stablehlo.while") || !strcmp(op->name, "scf.for");
}

// Operators that hand values on as they are, or look at one by themselves.
static bool carries_values(const pb_flat_op* op) {
  return !strcmp(op->name, "func.call") || !strcmp(op->name, "stablehlo.composite") ||
         !strcmp(op->name, "stablehlo.custom_call") || !strcmp(op->name, "stablehlo.optimization_barrier") ||
         !strcmp(op->name, "sdy.sharding_constraint") || !strcmp(op->name, "sdy.propagation_barrier");
}

pb_status pb__door_op(pb_door* d, const pb_flat_op* op) {
  int k = row_of(d, op->name);
  if (k >= 0 && makes_nothing(d, op)) return PB_OK;
  PB_TRY(pb__door_check(d, op));
  if (d->table->makers[k] == pb__door_nothing || d->table->makers[k] == pb__door_get_tuple_element ||
      d->table->makers[k] == pb__door_dot)
    return d->table->makers[k](d, op); // of what is no tensor, and what is another operator
  bool made = false, joins = !strcmp(op->name, "stablehlo.concatenate") || carries_values(op) || goes_on_inside(op);
  for (int v = 0; v < op->result_count; ++v)
    if (!d->open && !pb__door_is_empty(d, op->results[v])) PB_TRY(pb__door_check_type(d, op, op->results[v]));
  PB_TRY(pb__door_of_nothing(d, op, &made));
  if (made) return PB_OK;
  for (int v = 0; v < op->operand_count; ++v) {
    if (joins && pb__door_is_empty(d, op->operands[v])) continue;
    PB_TRY(pb__door_check_type(d, op, op->operands[v]));
    if (d->value[op->operands[v]] < 0) return pb__door_refuse(d, op, "an operand that is made elsewhere");
  }
  if (d->open || !d->m.consts->open) // of small integers: sizes, and places that constants say
    PB_TRY(pb__door_size(d, op, &made));
  if (made) return PB_OK;
  if (d->open && !carries_values(op)) pb__door_decide(d, op);
  if (d->open) PB_TRY(pb__door_refine(d, op));
  if (d->open && makes_nothing(d, op)) return PB_OK;
  d->m.name = d->name ? d->name : pb_printf(&d->m.program->arena, "%s:%d", strchr(op->name, '.') + 1, op->line);
  d->m.type = d->table->rows[k].name; // outlives the flat form
  bool is_complex = has_complex(d, op);
  for (int v = 0; v < op->result_count && !is_complex; ++v) d->imaginary[op->results[v]] = -1;
  pb_door_maker* make = d->table->makers[k];
  PB_TRY(is_complex ? make_complex(d, op, make) : pb__door_is_coded(d, op) ? pb__door_coded(d, op, make) : make(d, op));
  return d->m.is_wrong ? pb__door_refuse(d, op, "operands or results of types that do not fit") : PB_OK;
}

pb_status pb__door_block(pb_door* d, const pb_flat_block* block) {
  for (int k = 0; k < block->op_count; ++k)
    if (!is_end(d, &block->ops[k])) PB_TRY(pb__door_op(d, &block->ops[k]));
  return PB_OK;
}

static const pb_flat_op* return_of(const pb_flat_block* block) {
  return block->op_count ? &block->ops[block->op_count - 1] : NULL;
}

static const char* callee_of(const pb_flat_op* op) {
  const pb_flat_attr* callee = pb_flat_find(op, "callee");
  return callee && callee->text ? callee->text : "";
}

const pb_flat_func* pb__door_function(const pb_door* d, const pb_flat_op* op) {
  for (int k = 0; k < d->flat->func_count; ++k)
    if (!strcmp(d->flat->funcs[k].name, callee_of(op))) return &d->flat->funcs[k];
  return NULL;
}

pb_status pb__door_callee(pb_door* d, const pb_flat_op* op, const pb_flat_func** func) {
  const char* name = callee_of(op);
  *func = pb__door_function(d, op);
  if (!*func || (*func)->body.argument_count != op->operand_count)
    return pb__door_refuse(d, op, "no such function '%s'", name);
  if (d->calls == MOST_CALLS) return pb__door_refuse(d, op, "calls inside each other deeper than %d", MOST_CALLS);
  const pb_flat_op* end = return_of(&(*func)->body);
  if (!end || strcmp(end->name, "func.return") || end->operand_count != op->result_count)
    return pb__door_refuse(d, op, "'%s' does not return as many values", name);
  for (int k = 0; k < op->operand_count; ++k)
    if (d->filled[op->operands[k]] == -2) return pb__door_refuse(d, op, "it hands on a tensor.empty");
  return PB_OK;
}

// By its decomposition, whatever its name.
pb_status pb__door_composite(pb_door* d, const pb_flat_op* op) {
  pb_flat_attr callee = *pb_flat_find(op, "decomposition");
  pb_flat_op call = *op;
  callee.name = "callee";
  call.name = "func.call";
  call.attrs = &callee;
  call.attr_count = 1;
  return pb__door_call(d, &call);
}

// ---- tuples: the values that they hold ----

static const pb_flat_op* maker_in(const pb_flat_block* block, int flat) {
  for (int k = 0; k < block->op_count; ++k) {
    const pb_flat_op* op = &block->ops[k];
    for (int r = 0; r < op->result_count; ++r)
      if (op->results[r] == flat) return op;
    for (int r = 0; r < op->region_count; ++r) {
      const pb_flat_op* inside = maker_in(&op->regions[r], flat);
      if (inside) return inside;
    }
  }
  return NULL;
}

const pb_flat_op* pb__door_maker_of(const pb_door* d, int flat) {
  const pb_flat_op* made = NULL;
  for (int f = 0; f < d->flat->func_count && !made; ++f) made = maker_in(&d->flat->funcs[f].body, flat);
  return made;
}

// The value that element k of a tuple is, -1: it is made elsewhere.
static int element_of(const pb_door* d, int flat, int64_t k, int depth) {
  const pb_flat_op* made = pb__door_maker_of(d, flat);
  if (!made || depth == MOST_CALLS) return -1;
  if (!strcmp(made->name, "stablehlo.tuple")) return k >= 0 && k < made->operand_count ? made->operands[k] : -1;
  if (strcmp(made->name, "stablehlo.get_tuple_element") || made->operand_count != 1) return -1;
  int inner = element_of(d, made->operands[0], pb__door_int(made, "index", -1), depth + 1);
  return inner < 0 ? -1 : element_of(d, inner, k, depth + 1);
}

pb_status pb__door_nothing(pb_door* d, const pb_flat_op* op) {
  (void)d, (void)op;
  return PB_OK;
}

pb_status pb__door_get_tuple_element(pb_door* d, const pb_flat_op* op) {
  int element = element_of(d, op->operands[0], pb__door_int(op, "index", -1), 0);
  if (element < 0) return pb__door_refuse(d, op, "of a tuple that no stablehlo.tuple makes");
  if (!strncmp(pb__door_type(d, op->results[0])->text, "tuple<", 6)) return PB_OK;
  PB_TRY(pb__door_check_type(d, op, op->results[0]));
  return pb__door_bind(d, op, op->results[0], pb__door_get(d, element));
}

// The callee's values are made anew at each call.
pb_status pb__door_call(pb_door* d, const pb_flat_op* op) {
  const pb_flat_func* func;
  PB_TRY(pb__door_callee(d, op, &func));
  for (int k = 0; k < op->operand_count; ++k)
    PB_TRY(pb__door_bind(d, op, func->body.arguments[k], pb__door_get(d, op->operands[k])));
  ++d->calls;
  PB_TRY(pb__door_block(d, &func->body));
  --d->calls;
  const pb_flat_op* end = return_of(&func->body);
  for (int k = 0; k < op->result_count; ++k)
    PB_TRY(pb__door_bind(d, op, op->results[k], pb__door_get(d, end->operands[k])));
  return PB_OK;
}

// ---- the program ----

static pb_status make_program(pb_door* d) {
  const pb_flat_func* main = d->flat->func_count == 1 ? d->flat->funcs : NULL;
  const char* told[MOST_NAMES];
  int unknown = 0;
  for (int k = 0; k < d->flat->func_count; ++k) {
    if (!strcmp(d->flat->funcs[k].name, "main")) main = &d->flat->funcs[k];
    find_unknown(d, &d->flat->funcs[k].body, told, &unknown);
  }
  if (unknown) return PB_ERR_UNSUPPORTED;
  if (!main) return pb_error(d->diag, (pb_place){.file = d->flat->file}, 2112, NULL, "there is no function 'main'");
  return pb__door_main(d, main);
}

static void count_uses(int* uses, const pb_flat_block* block) {
  for (int k = 0; k < block->op_count; ++k) {
    const pb_flat_op* op = &block->ops[k];
    for (int v = 0; v < op->operand_count; ++v) ++uses[op->operands[v]];
    for (int r = 0; r < op->region_count; ++r) count_uses(uses, &op->regions[r]);
  }
}

pb_status pb__door_make(const pb_door_table* table, const pb_flat* flat, const pb_input_options* inputs,
                        pb_consts* consts, pb_diag* diag, pb_s1* program) {
  pb_arena scratch = {0};
  size_t values = (size_t)flat->value_count + PB_DOOR_SPARE + 1;
  pb_door* d = PB_NEW(&scratch, pb_door);
  pb_s1_elements elements = pb_s1_elements_new(program, consts);
  *d = (pb_door){.elements = &elements,
                 .table = table,
                 .flat = flat,
                 .inputs = inputs,
                 .diag = diag,
                 .m = {.program = program, .consts = consts}};
  d->multiplied = inputs ? inputs->multiplied : NULL;
  d->value_room = (int)values;
  d->types = PB_NEW_ARRAY(&scratch, pb_flat_type, values);
  pb_flat_type* said = PB_NEW_ARRAY(&scratch, pb_flat_type, values); // of those that are written out: nothing
  for (int v = 0; v < flat->value_count; ++v) d->types[v] = said[v] = flat->values[v];
  pb_flat whole = *flat;
  whole.values = said;
  d->flat = &whole;
  for (int v = 0; v < flat->value_count; ++v) d->open |= flat->values[v].is_open;
  int** tables[] = {&d->value, &d->imaginary, &d->node, &d->imaginary_node, &d->filled, &d->uses, &d->marks};
  for (int k = 0; k < 7; ++k) {
    *tables[k] = PB_NEW_ARRAY(&scratch, int, values);
    memset(*tables[k], k < 5 ? 0xff : 0, values * sizeof(int));
  }
  if (table == &pb__door_stablehlo) pb__door_take_codes(d);
  for (int k = 0; k < flat->func_count; ++k) count_uses(d->uses, &flat->funcs[k].body);
  pb_status status = make_program(d);
  pb_s1_elements_free(&elements);
  pb_arena_free(&scratch);
  return status;
}

const char* const* pb_stablehlo_attributes(pb_arena* arena) { return pb__door_attributes(&pb__door_stablehlo, arena); }

pb_status pb_stablehlo_make(const pb_flat* flat, const pb_input_options* inputs, pb_consts* consts, pb_diag* diag,
                            pb_s1* program) {
  return pb__door_make(&pb__door_stablehlo, flat, inputs, consts, diag, program);
}
