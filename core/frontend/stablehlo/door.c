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

static pb_status check_type(pb_door* d, const pb_flat_op* op, int flat_value) {
  const pb_flat_type* type = pb__door_type(d, flat_value);
  if (type->is_open) return pb__door_refuse(d, op, "the extents of %s are not known", type->text);
  bool parts = type->type == PB_F32 || type->type == PB_F64;
  if (type->is_element && type->type != PB_TYPE_COUNT && d->table->has_elements) return PB_OK;
  if (type->type != PB_TYPE_COUNT && !type->is_element && (!type->is_complex || (parts && type->rank < PB_NEST_RANK)))
    return PB_OK;
  return pb__door_refuse(d, op, "values of %s are not supported", type->text);
}

// Tensors of no elements are no values: what makes them is left out, and what joins them to others leaves them out.
bool pb__door_is_empty(const pb_door* d, int flat_value) {
  const pb_flat_type* type = pb__door_type(d, flat_value);
  const char* shape = type->type == PB_TYPE_COUNT ? strchr(type->text, '<') : NULL;
  return shape && !strncmp(type->text, "tensor<", 7) && (!strncmp(shape, "<0x", 3) || strstr(shape, "x0x"));
}

static bool makes_nothing(const pb_door* d, const pb_flat_op* op) {
  bool nothing = op->result_count > 0 && op->region_count == 0;
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
                                      "stablehlo.dot_general",
                                      "stablehlo.bitcast_convert",
                                      "stablehlo.reduce",
                                      "stablehlo.reduce_window",
                                      "stablehlo.sort"};
  if (!pb__door_by_parts(op)) {
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

// Operators that hand values on as they are, or look at one by themselves.
static bool carries_values(const pb_flat_op* op) {
  return !strcmp(op->name, "func.call") || !strcmp(op->name, "stablehlo.custom_call") ||
         !strcmp(op->name, "stablehlo.optimization_barrier");
}

pb_status pb__door_op(pb_door* d, const pb_flat_op* op) {
  PB_TRY(pb__door_check(d, op));
  int k = row_of(d, op->name);
  if (makes_nothing(d, op)) return PB_OK;
  bool joins = !strcmp(op->name, "stablehlo.concatenate");
  for (int v = 0; v < op->operand_count; ++v) {
    if (joins && pb__door_is_empty(d, op->operands[v])) continue;
    PB_TRY(check_type(d, op, op->operands[v]));
    if (d->value[op->operands[v]] < 0) return pb__door_refuse(d, op, "an operand that is made elsewhere");
  }
  bool made = false;
  if (d->open) PB_TRY(pb__door_size(d, op, &made));
  if (made) return PB_OK;
  if (d->open && !carries_values(op)) pb__door_decide(d, op);
  if (d->open) PB_TRY(pb__door_refine(d, op));
  for (int v = 0; v < op->result_count && !d->open; ++v) PB_TRY(check_type(d, op, op->results[v]));
  d->m.name = d->name ? d->name : pb_printf(&d->m.program->arena, "%s:%d", strchr(op->name, '.') + 1, op->line);
  d->m.type = d->table->rows[k].name; // outlives the flat form
  bool is_complex = has_complex(d, op);
  for (int v = 0; v < op->result_count && !is_complex; ++v) d->imaginary[op->results[v]] = -1;
  PB_TRY(is_complex ? make_complex(d, op, d->table->makers[k]) : d->table->makers[k](d, op));
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

pb_status pb__door_callee(pb_door* d, const pb_flat_op* op, const pb_flat_func** func) {
  const pb_flat_attr* callee = pb_flat_find(op, "callee");
  const char* name = callee && callee->text ? callee->text : "";
  *func = NULL;
  for (int k = 0; k < d->flat->func_count; ++k)
    if (!strcmp(d->flat->funcs[k].name, name)) *func = &d->flat->funcs[k];
  if (!*func || (*func)->body.argument_count != op->operand_count)
    return pb__door_refuse(d, op, "no such function '%s'", name);
  if (d->calls == MOST_CALLS) return pb__door_refuse(d, op, "calls inside each other deeper than %d", MOST_CALLS);
  const pb_flat_op* end = return_of(&(*func)->body);
  if (!end || strcmp(end->name, "func.return") || end->operand_count != op->result_count)
    return pb__door_refuse(d, op, "'%s' does not return as many values", name);
  return PB_OK;
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

// What the value is read and written as everywhere becomes another one.
static void rename_value(pb_s1* program, int from, int to) {
  for (size_t k = 0; k < program->op_count; ++k) {
    pb_nest* nest = (pb_nest*)(uintptr_t)program->ops[k].nest; // the door's own
    if (program->ops[k].x == from) program->ops[k].x = to;
    if (program->ops[k].y == from) program->ops[k].y = to;
    for (int a = 0; nest && a < nest->access_count; ++a)
      if (nest->access[a].buffer == from) nest->access[a].buffer = to;
  }
}

static const pb_donation* donated(const pb_door* d, const char* input) {
  for (int k = 0; d->inputs && k < d->inputs->donation_count; ++k)
    if (!strcmp(d->inputs->donations[k].input, input)) return &d->inputs->donations[k];
  return NULL;
}

// Operators work on what is to be the output, which begins as the input is: its value is the runtime's to place.
static pb_status donate(pb_door* d, const pb_flat_op* head, int* in) {
  if (!donated(d, d->m.name)) return PB_OK;
  if (d->m.consts->open || pb_made(&d->m, *in)->const_id >= 0)
    return pb__door_refuse(d, head, "%s is donated, and has no memory that is known", d->m.name);
  int made = pb_control_variable(&d->m, *in);
  d->m.program->values[made].made_of = *in + 1;
  *in = made;
  return PB_OK;
}

// Each output that takes an input's place must be what was placed there.
static pb_status check_donations(pb_door* d, const pb_flat_op* end, const int* results) {
  const pb_s1* p = d->m.program;
  for (int k = 0; d->inputs && k < d->inputs->donation_count; ++k) {
    const pb_donation* one = &d->inputs->donations[k];
    int made = -1;
    for (int r = 0; r < end->operand_count; ++r)
      if (!strcmp(one->output, pb_printf(&d->m.program->arena, "out%d", r))) made = results[r];
    bool is = made >= 0 && p->values[made].made_of && !strcmp(p->values[p->values[made].made_of - 1].name, one->input);
    bool placed = false;
    for (size_t o = 0; is && o < p->op_count; ++o) placed |= p->ops[o].kind == PB_S1_PLACE && p->ops[o].y == made;
    if (!is || !placed)
      return pb_error(d->diag, (pb_place){.file = d->flat->file, .what = one->input}, 2030, NULL,
                      "is donated to %s, which is not it with an update at one place (dynamic_update_slice)",
                      one->output);
  }
  return PB_OK;
}

static pb_status make_outputs(pb_door* d, const pb_flat_op* end) {
  pb_s1* program = d->m.program;
  int count = end->operand_count;
  int *made = PB_NEW_ARRAY(&program->arena, int, (size_t)count + 1),
      *results = PB_NEW_ARRAY(&program->arena, int, (size_t)count + 1);
  for (int k = 0; k < count; ++k) {
    pb_door_value v = pb__door_get(d, end->operands[k]);
    results[k] = v.value >= 0 && v.imaginary >= 0 ? pb__door_pairs(d, v) : v.value;
  }
  PB_TRY(check_donations(d, end, results));
  for (int k = 0; k < count; ++k) {
    PB_TRY(check_type(d, end, end->operands[k]));
    int v = results[k];
    if (v >= 0) pb__door_decide_by(d, v);
    if (v < 0) return pb__door_refuse(d, end, "a result that is made elsewhere");
    const pb_s1_value old = program->values[v];
    d->m.name = pb_printf(&program->arena, "out%d", k);
    int out = made[k] = pb_make_value(&d->m, old.type, old.rank, old.shape);
    program->values[out].is_output = true;
    bool again = old.is_output;
    const pb_donation* to = old.made_of ? donated(d, program->values[old.made_of - 1].name) : NULL;
    if (to && !strcmp(to->output, d->m.name)) {
      program->values[out].is_variable = true;
      program->values[out].made_of = old.made_of;
      rename_value(program, v, out);
      for (int j = k + 1; j < count; ++j)
        if (results[j] == v) results[j] = out;
      continue;
    }
    for (int j = 0; j < k; ++j) again |= results[j] == v;
    if (old.is_input || old.is_variable || old.const_id >= 0 || again) {
      for (int j = 0; again && j < k; ++j)
        if (results[j] == v) v = made[j];
      pb_make_copy(&d->m, v, out);
    } else {
      rename_value(program, v, out);
    }
  }
  return PB_OK;
}

static const pb_bound* bound_to(const pb_door* d, const char* name) {
  for (int k = 0; d->inputs && k < d->inputs->bound_count; ++k)
    if (!strcmp(d->inputs->bounds[k].name, name)) return &d->inputs->bounds[k];
  return NULL;
}

static pb_status check_bound(pb_door* d, const pb_bound* bound, pb_type type, int rank, const int64_t* shape) {
  pb_place place = {.file = d->flat->file, .what = bound->name};
  bool fits = bound->rank == rank && (!rank || !memcmp(bound->shape, shape, sizeof *shape * (size_t)rank));
  pb_type is = bound->type == PB_U8 ? PB_UI8 : bound->type;
  if (is != type)
    return pb_error(d->diag, place, 2019, NULL, "is of %s, and what is bound to it of %s", pb_type_name(type),
                    pb_type_name(is));
  if (fits) return PB_OK;
  pb_arena* arena = &d->m.program->arena;
  return pb_error(d->diag, place, 2019, NULL, "is of shape %s, and what is bound to it of %s",
                  pb_shape_text(arena, rank, shape), pb_shape_text(arena, bound->rank, bound->shape));
}

// The argument that is meant, or -1.
static int argument_named(pb_door* d, const char* name, int arguments) {
  char* end;
  long at = !strncmp(name, "arg", 3) ? strtol(name + 3, &end, 10) : -1;
  return at >= 0 && at < arguments && !strcmp(name, pb_printf(&d->m.program->arena, "arg%ld", at)) ? (int)at : -1;
}

static pb_status no_argument(pb_door* d, const char* name) {
  return pb_error(d->diag, (pb_place){.file = d->flat->file}, 2014, "arguments are arg0, arg1, ...",
                  "no input is named '%s'", name);
}

// What the command line says of inputs that are not there, or not so: extents are the text's.
static pb_status check_names(pb_door* d, const pb_flat_block* body) {
  const pb_input_options* in = d->inputs;
  if (!in) return PB_OK;
  if (in->dim_count)
    return pb_error(d->diag, (pb_place){.file = d->flat->file}, 2026, "no dim of its inputs has a name",
                    "no dim is named '%s'", in->dims[0].name);
  for (int k = 0; k < in->bound_count; ++k) {
    const char* name = in->bounds[k].name;
    if (argument_named(d, name, body->argument_count) < 0) return no_argument(d, name);
    if (bound_to(d, name) != &in->bounds[k])
      return pb_error(d->diag, (pb_place){.file = d->flat->file, .what = name}, 2019, NULL, "is bound twice");
  }
  for (int k = 0; k < in->donation_count; ++k)
    if (argument_named(d, in->donations[k].input, body->argument_count) < 0)
      return no_argument(d, in->donations[k].input);
  for (int k = 0; k < in->shape_count; ++k) {
    const pb_input_shape* s = &in->shapes[k];
    int at = argument_named(d, s->name, body->argument_count);
    if (at < 0) return no_argument(d, s->name);
    const pb_flat_type* t = pb__door_type(d, body->arguments[at]);
    bool fits = t->rank == s->rank;
    for (int r = 0; fits && r < t->rank; ++r) fits = t->shape[r] < 0 || t->shape[r] == s->shape[r];
    if (!fits)
      return pb_error(d->diag, (pb_place){.file = d->flat->file, .what = s->name}, 2015, NULL,
                      "is of shape %s, and --input-shape says %s",
                      pb_shape_text(&d->m.program->arena, t->rank, t->shape),
                      pb_shape_text(&d->m.program->arena, s->rank, s->shape));
  }
  return PB_OK;
}

// Open extents of an argument: what the options say, or a symbol's.
static pb_status open_argument(pb_door* d, const pb_flat_op* head, int number, int flat) {
  pb_arena* arena = &d->m.program->arena;
  const pb_flat_type* type = pb__door_type(d, flat);
  const char* name = pb_printf(arena, "arg%d", number);
  pb_symbols* symbols = d->inputs ? d->inputs->symbols : NULL;
  int64_t shape[PB_FLAT_RANK];
  memcpy(shape, type->shape, sizeof shape);
  for (int k = 0; d->inputs && k < d->inputs->shape_count; ++k)
    if (!strcmp(d->inputs->shapes[k].name, name))
      memcpy(shape, d->inputs->shapes[k].shape, sizeof *shape * (size_t)type->rank);
  for (int r = 0; r < type->rank; ++r) {
    if (shape[r] >= 0) continue;
    int symbol = symbols ? pb_symbol_named(symbols, pb_printf(arena, "%s.%d", name, r)) : -1;
    if (symbol < 0)
      return pb_unsupported(d->diag, (pb_place){.file = d->flat->file, .what = name}, 2027,
                            "list its values, --input-shape arg0=1,8x3: each is compiled for itself",
                            symbols ? "its dim %d is one open dim too many"
                                    : "its dim %d is open, and this target's kernels are made for extents",
                            r);
    shape[r] = pb_symbol_extent(symbols, symbol);
    d->m.consts->open = true;
  }
  return pb__door_refine_as(d, head, flat, type->rank, shape);
}

static pb_status make_main(pb_door* d, const pb_flat_func* main) {
  const pb_flat_op* end = return_of(&main->body);
  pb_flat_op head = {.name = "func.func", .line = main->line, .column = main->column};
  if (!end || strcmp(end->name, "func.return")) return pb__door_refuse(d, &head, "@%s has no end", main->name);
  PB_TRY(check_names(d, &main->body));
  for (int k = 0; k < main->body.argument_count; ++k) {
    int flat = main->body.arguments[k];
    const pb_flat_type* type = pb__door_type(d, flat);
    if (type->is_open && type->type != PB_TYPE_COUNT) PB_TRY(open_argument(d, &head, k, flat));
    PB_TRY(check_type(d, &head, flat));
    if (type->type == PB_INDEX) return pb__door_refuse(d, &head, "an argument of type index");
    d->m.name = pb_printf(&d->m.program->arena, "arg%d", k);
    int64_t shape[PB_FLAT_RANK + 1];
    memcpy(shape, type->shape, sizeof type->shape);
    if (type->is_complex) shape[type->rank] = 2;
    const pb_bound* bound = bound_to(d, d->m.name);
    if (bound) PB_TRY(check_bound(d, bound, type->type, type->rank + type->is_complex, shape));
    int in = bound ? pb_make_constant(&d->m, type->type, bound->rank, shape, bound->data)
                   : pb_make_value(&d->m, type->type, type->rank + type->is_complex, shape);
    d->m.program->values[in].is_input = !bound;
    if (!type->is_complex) PB_TRY(donate(d, &head, &in));
    pb_door_value both = {in, -1};
    if (type->is_complex) both = (pb_door_value){pb__door_part(d, in, 0), pb__door_part(d, in, 1)};
    pb__door_set(d, flat, both);
  }
  PB_TRY(pb__door_block(d, &main->body));
  PB_TRY(make_outputs(d, end));
  pb_s1_drop_unread(d->m.program);
  return PB_OK;
}

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
  return make_main(d, main);
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
  size_t values = (size_t)flat->value_count + 1;
  pb_door* d = PB_NEW(&scratch, pb_door);
  *d = (pb_door){
      .table = table, .flat = flat, .inputs = inputs, .diag = diag, .m = {.program = program, .consts = consts}};
  d->types = PB_NEW_ARRAY(&scratch, pb_flat_type, values);
  if (flat->value_count) memcpy(d->types, flat->values, sizeof *d->types * (size_t)flat->value_count);
  for (int v = 0; v < flat->value_count; ++v) d->open |= flat->values[v].is_open;
  int** tables[] = {&d->value, &d->imaginary, &d->node, &d->imaginary_node, &d->filled, &d->uses, &d->marks};
  for (int k = 0; k < 7; ++k) {
    *tables[k] = PB_NEW_ARRAY(&scratch, int, values);
    memset(*tables[k], k < 5 ? 0xff : 0, values * sizeof(int));
  }
  for (int k = 0; k < flat->func_count; ++k) count_uses(d->uses, &flat->funcs[k].body);
  pb_status status = make_program(d);
  pb_arena_free(&scratch);
  return status;
}

const char* const* pb_stablehlo_attributes(pb_arena* arena) { return pb__door_attributes(&pb__door_stablehlo, arena); }

pb_status pb_stablehlo_make(const pb_flat* flat, const pb_input_options* inputs, pb_consts* consts, pb_diag* diag,
                            pb_s1* program) {
  return pb__door_make(&pb__door_stablehlo, flat, inputs, consts, diag, program);
}
