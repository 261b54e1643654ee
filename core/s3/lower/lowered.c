#include "core/s3/lower/lowered.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pb_status pb_lowered_begin(pb_unit* unit, MlirOperation func, pb_lowered* l) {
  *l = (pb_lowered){.unit = unit, .func = func, .tiled = PB_NEW(&unit->pass, pb_tiled), .called.chip = unit->chip};
  return pb_tiled_read(unit, func, l->tiled);
}

static const char* text_of(const pb_text* text) { return text->data ? text->data : ""; }

pb_status pb_lowered_end(pb_lowered* l, pb_status status, const char* extra, const char* more, const char* pass) {
  if (status == PB_OK) {
    pb_text all = {0};
    pb_func_print_head(&all, l->func, extra);
    pb_text_add(&all, "%s%s  return\n}\n%s", text_of(&l->head), text_of(&l->body), more ? more : "");
    pb_instruction_functions(&all, &l->called);
    pb_kernel_replace_behind(l->unit, l->func, &all, pass);
    pb_text_free(&all);
  }
  pb_text_free(&l->head);
  pb_text_free(&l->body);
  free(l->definitions);
  pb_instructions_free(&l->called);
  return status;
}

// ---- lines of the body ----

static const char* new_name(pb_lowered* l) { return pb_printf(&l->unit->pass, "%%v%d", l->serial++); }

const char* pb_lowered_begin_line(pb_lowered* l, int indent) {
  const char* name = new_name(l);
  pb_text_line(&l->body, indent, "%s = ", name);
  return name;
}

const char* pb_lowered_line(pb_lowered* l, int indent, const char* format, ...) {
  va_list args;
  const char* name = pb_lowered_begin_line(l, indent);
  va_start(args, format);
  pb_text_add_args(&l->body, format, args);
  va_end(args);
  pb_text_add(&l->body, "\n");
  return name;
}

const char* pb_lowered_type(const pb_lowered* l, pb_type type, int64_t lanes) {
  const char* element = pb_type_name(type);
  return lanes > 1 ? pb_printf(&l->unit->pass, "vector<%lldx%s>", (long long)lanes, element) : element;
}

const char* pb_lowered_call(pb_lowered* l, int indent, const pb_instruction_use* use, const char* const* arguments,
                            const char* nest) {
  const char* made = NULL;
  if (pb_instruction_makes_register(l->called.chip, use->insn))
    made = pb_lowered_begin_line(l, indent);
  else
    pb_text_indent(&l->body, indent);
  pb_instruction_call(&l->body, &l->called, use, arguments, nest);
  return made;
}

// ---- the head ----

const char* pb_lowered_define(pb_lowered* l, const char* definition) {
  for (size_t n = 0; n < l->definition_count; ++n)
    if (!strcmp(l->definitions[n].text, definition)) return l->definitions[n].name;
  struct pb_definition made = {pb_strdup(&l->unit->pass, definition), new_name(l)};
  PB_PUSH(l->definitions, l->definition_count, l->definition_capacity, made);
  pb_text_add(&l->head, "  %s = %s\n", made.name, definition);
  return made.name;
}

const char* pb_lowered_room(pb_lowered* l, pb_type type, int64_t elements) {
  return pb_lowered_define(l, pb_printf(&l->unit->pass, "memref.alloca() {alignment = 64 : i64} : memref<%lldx%s>",
                                        (long long)elements, pb_type_name(type)));
}

const char* pb_lowered_constant(pb_lowered* l, const pb_expr_node* node, int lanes) {
  pb_text line = {0};
  bool dense = lanes > 1;
  pb_text_add(&line, dense ? "arith.constant dense<" : "arith.constant ");
  pb_constant_print(&line, node);
  pb_text_add(&line, "%s : %s", dense ? ">" : "", pb_lowered_type(l, node->type, lanes));
  const char* name = pb_lowered_define(l, line.data);
  pb_text_free(&line);
  return name;
}

const char* pb_lowered_integer(pb_lowered* l, pb_type type, int64_t value, int lanes) {
  return pb_lowered_constant(l, &(pb_expr_node){.op = PB_OP_CONST, .type = type, .integer = value}, lanes);
}

// ---- places ----

void pb_linear_add(pb_linear* sum, int64_t factor, int64_t turn, const char* format, ...) {
  if (!factor && !turn) return;
  va_list args;
  va_start(args, format);
  vsnprintf(sum->term[sum->count].name, PB_LINEAR_NAME, format, args);
  va_end(args);
  sum->term[sum->count].factor = factor;
  sum->term[sum->count++].turn = turn;
}

void pb_linear_print(pb_text* text, const pb_linear* sum) {
  for (int k = 0; k < sum->count; ++k)
    pb_text_add(text, "%%%s * %lld + ", sum->term[k].name, (long long)sum->term[k].factor);
  pb_text_add(text, "%lld", (long long)sum->cst);
}

static void print_map(pb_text* text, const pb_linear* sum, const int64_t* limit) {
  pb_text_add(text, "affine_map<(");
  for (int k = 0; k < sum->count; ++k) pb_text_add(text, "%sd%d", k ? ", " : "", k);
  pb_text_add(text, ") -> (");
  if (limit) pb_text_add(text, "%lld, ", (long long)*limit);
  for (int k = 0; k < sum->count; ++k) pb_text_add(text, "d%d * %lld + ", k, (long long)sum->term[k].factor);
  if (sum->copies > 1) {
    pb_text_add(text, "((");
    for (int k = 0; k < sum->count; ++k) pb_text_add(text, "d%d * %lld + ", k, (long long)sum->term[k].turn);
    pb_text_add(text, "%lld) mod %lld) * %lld + ", (long long)sum->turn, (long long)sum->copies, (long long)sum->copy);
  }
  pb_text_add(text, "%lld)>(", (long long)sum->cst);
  for (int k = 0; k < sum->count; ++k) pb_text_add(text, "%s%%%s", k ? ", " : "", sum->term[k].name);
  pb_text_add(text, ")");
}

const char* pb_lowered_linear(pb_lowered* l, int indent, const char* which, const pb_linear* sum,
                              const int64_t* limit) {
  const char* name = pb_lowered_begin_line(l, indent);
  pb_text_add(&l->body, "affine.%s ", which);
  print_map(&l->body, sum, limit);
  pb_text_add(&l->body, "\n");
  return name;
}
