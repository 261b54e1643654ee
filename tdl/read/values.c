// The dags of a description, Semantics and Cycles, to nodes.
#include "tdl/read/chip_read.h"

#include "core/base/half_expr.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// What an operation takes, and what it gives: the type of its operands unless it says another.
typedef enum takes {
  ANY,
  INTEGERS,
  WORDS,
  FLOATS,
  TRUTHS
} takes; // WORDS: i32 and i64, which is what commands compute in

static const struct {
  const char* name;
  pb_op op;
  int args;
  takes takes;
  pb_type gives; // PB_TYPE_COUNT: as its last operand
} operators[] = {{"add", PB_OP_ADD, 2, ANY, PB_TYPE_COUNT},
                 {"sub", PB_OP_SUB, 2, ANY, PB_TYPE_COUNT},
                 {"mul", PB_OP_MUL, 2, ANY, PB_TYPE_COUNT},
                 {"max", PB_OP_MAX, 2, ANY, PB_TYPE_COUNT},
                 {"min", PB_OP_MIN, 2, ANY, PB_TYPE_COUNT},
                 {"less", PB_OP_LESS, 2, ANY, PB_I1},
                 {"less_equal", PB_OP_LESS_EQUAL, 2, ANY, PB_I1},
                 {"lessu", PB_OP_LESSU, 2, INTEGERS, PB_I1},
                 {"equal", PB_OP_EQUAL, 2, ANY, PB_I1},
                 {"select", PB_OP_SELECT, 3, ANY, PB_TYPE_COUNT},
                 {"and", PB_OP_AND, 2, INTEGERS, PB_TYPE_COUNT},
                 {"or", PB_OP_OR, 2, INTEGERS, PB_TYPE_COUNT},
                 {"xor", PB_OP_XOR, 2, INTEGERS, PB_TYPE_COUNT},
                 {"shl", PB_OP_SHL, 2, WORDS, PB_TYPE_COUNT},
                 {"shr", PB_OP_SHR, 2, WORDS, PB_TYPE_COUNT},
                 {"shru", PB_OP_SHRU, 2, WORDS, PB_TYPE_COUNT},
                 {"sext", PB_OP_SEXT, 1, INTEGERS, PB_I32},
                 {"zext", PB_OP_ZEXT, 1, INTEGERS, PB_I32},
                 {"zext8", PB_OP_ZEXT, 1, TRUTHS, PB_I8},
                 {"sext64", PB_OP_SEXT, 1, INTEGERS, PB_I64},
                 {"zext64", PB_OP_ZEXT, 1, INTEGERS, PB_I64},
                 {"trunc4", PB_OP_TRUNC, 1, WORDS, PB_I4},
                 {"trunc8", PB_OP_TRUNC, 1, WORDS, PB_I8},
                 {"trunc16", PB_OP_TRUNC, 1, WORDS, PB_I16},
                 {"trunc32", PB_OP_TRUNC, 1, WORDS, PB_I32},
                 {"sitofp", PB_OP_SITOFP, 1, INTEGERS, PB_F32},
                 {"fptosi8", PB_OP_FPTOSI8, 1, FLOATS, PB_I8},
                 {"fptosi32", PB_OP_FPTOSI, 1, FLOATS, PB_I32},
                 {"fptoui8", PB_OP_FPTOUI, 1, FLOATS, PB_I8},
                 {"roundeven", PB_OP_ROUNDEVEN, 1, FLOATS, PB_TYPE_COUNT},
                 {"div", PB_OP_DIV, 2, FLOATS, PB_TYPE_COUNT},
                 {"maximum", PB_OP_MAXIMUM, 2, FLOATS, PB_TYPE_COUNT},
                 {"minimum", PB_OP_MINIMUM, 2, FLOATS, PB_TYPE_COUNT},
                 {"neg", PB_OP_NEG, 1, FLOATS, PB_TYPE_COUNT},
                 {"abs", PB_OP_ABS, 1, FLOATS, PB_TYPE_COUNT},
                 {"sqrt", PB_OP_SQRT, 1, FLOATS, PB_TYPE_COUNT},
                 {"floor", PB_OP_FLOOR, 1, FLOATS, PB_TYPE_COUNT},
                 {"ceil", PB_OP_CEIL, 1, FLOATS, PB_TYPE_COUNT},
                 {"whole", PB_OP_WHOLE, 1, FLOATS, PB_TYPE_COUNT},
                 {"exp2", PB_OP_EXP2, 1, FLOATS, PB_TYPE_COUNT},
                 {"recip", PB_OP_RECIP, 1, FLOATS, PB_TYPE_COUNT},
                 {"rsqrt", PB_OP_RSQRT, 1, FLOATS, PB_TYPE_COUNT}};

const char* pb_semantics_name(pb_op op, pb_type gives) {
  const char* found = NULL;
  for (size_t k = 0; k < sizeof operators / sizeof *operators; ++k)
    if (operators[k].op == op && (!found || operators[k].gives == gives)) found = operators[k].name;
  return found;
}

static int add_node(const record* rec, pb_insn* insn, pb_expr_node node) {
  if (insn->expr_count == PB_MAX_EXPR) {
    pb__fault(rec, 3091, NULL, "semantics of more than %d operations", PB_MAX_EXPR);
    return 0;
  }
  insn->expr[insn->expr_count] = node;
  return insn->expr_count++;
}

static int read_leaf(const record* rec, pb_insn* insn, const char* name) {
  int o = name ? pb_insn_operand(insn, name) : -1;
  if (o < 0) {
    pb__fault(rec, 3092, "one of its operands", "semantics name '$%s', which is no operand", name ? name : "?");
    o = 0;
  }
  pb_operand* operand = &insn->operands[o];
  if (operand->memory >= 0) operand->read = true;
  return add_node(rec, insn,
                  (pb_expr_node){.op = operand->memory >= 0 ? PB_OP_LOAD : PB_OP_IMM,
                                 .type = operand->type,
                                 .args = {-1, -1, -1},
                                 .operand = o});
}

// Of operation number k with its values read; those that are computed alike must be of one type.
static pb_type result_type(const record* rec, const pb_insn* insn, const pb_expr_node* node, int k) {
  const char* name = operators[k].name;
  int args = operators[k].args;
  pb_op op = node->op;
  pb_type first = insn->expr[node->args[0]].type, a = args == 3 ? insn->expr[node->args[1]].type : first;
  pb_type b = args > 1 ? insn->expr[node->args[args - 1]].type : a, gives = operators[k].gives;
  bool is_float = a == PB_F32, word = a == PB_I32 || a == PB_I64;
  if (a != b)
    pb__fault(rec, 3093, "convert one of them: sext, sitofp", "semantics mix %s and %s", pb_type_name(a),
              pb_type_name(b));
  if (op == PB_OP_SELECT && first != PB_I1)
    pb__fault(rec, 3107, "(less ...) or an Imm<I1>", "select by a value of %s", pb_type_name(first));
  if (operators[k].takes == TRUTHS && a != PB_I1)
    pb__fault(rec, 3094, "(less ...) or an Imm<I1>", "%s of %s", name, pb_type_name(a));
  if (operators[k].takes == FLOATS && !is_float)
    pb__fault(rec, 3094, "sitofp first", "a float's operation on %s", pb_type_name(a));
  if ((operators[k].takes == INTEGERS && is_float) || (operators[k].takes == WORDS && !word))
    pb__fault(rec, 3094, is_float ? "an operation of integers" : "sext first", "%s of %s", name, pb_type_name(a));
  else if ((op == PB_OP_SEXT || op == PB_OP_ZEXT) && gives == PB_I64 && a == PB_I64)
    pb__fault(rec, 3094, "it is that wide", "%s of i64", name);
  else if ((op == PB_OP_SEXT || op == PB_OP_ZEXT) && gives != PB_I64 && a == PB_I64)
    pb__fault(rec, 3094, "trunc32 first", "%s of i64", name);
  else if (op == PB_OP_TRUNC && gives == a)
    pb__fault(rec, 3094, "it is that narrow", "%s of %s", name, pb_type_name(a));
  return gives == PB_TYPE_COUNT ? b : gives;
}

// (f32c "0.5"), (i8c 3), (i32c 3), (i64c 3): a number that the type has.
static int read_constant(const record* rec, pb_insn* insn, pb_type type, json_t* args) {
  json_t* c = json_array_get(json_array_get(args, 0), 0);
  double number = (double)json_integer_value(c);
  bool is_number =
      json_is_integer(c) || (type == PB_F32 && json_is_string(c) && pb__read_number(json_string_value(c), &number));
  // Numbers of nests are kept as doubles, which have integers of 53 bits.
  int64_t least = type == PB_I64 ? -((int64_t)1 << 53) : type == PB_I8 ? INT8_MIN : INT32_MIN;
  int64_t most = type == PB_I64 ? -least : type == PB_I8 ? INT8_MAX : INT32_MAX;
  bool fits = type == PB_F32 ? fabs(number) <= (double)FLT_MAX
                             : json_integer_value(c) >= least && json_integer_value(c) <= most;
  if (json_array_size(args) != 1 || !is_number || !fits)
    pb__fault(rec, 3105, "(f32c \"0.5\"), (i8c 3), (i32c 3), or (i64c 3)", "a constant that is no %s",
              pb_type_name(type));
  return add_node(rec, insn,
                  (pb_expr_node){.op = PB_OP_CONST,
                                 .type = type,
                                 .args = {-1, -1, -1},
                                 .value = fits ? number : 0,
                                 .integer = fits && type != PB_F32 ? (int64_t)number : 0});
}

static int read_expr(const record* rec, pb_insn* insn, json_t* arg, int depth);

// (lookup $table, index)
static int read_lookup(const record* rec, pb_insn* insn, json_t* args, int depth) {
  const char* name = json_string_value(json_array_get(json_array_get(args, 0), 1));
  int o = name ? pb_insn_operand(insn, name) : -1;
  bool fits = json_array_size(args) == 2 && o >= 0 && insn->operands[o].memory >= 0 && insn->operands[o].rank == 1 &&
              insn->dims[insn->operands[o].dims[0]].field < 0;
  if (!fits) {
    pb__fault(rec, 3125, "(lookup $t, index), $t a window of one dim of fixed extent", "a look-up in no table");
    return 0;
  }
  int index = read_expr(rec, insn, json_array_get(args, 1), depth + 1);
  if (insn->expr_count && insn->expr[index].type != PB_I32)
    pb__fault(rec, 3093, "sext first", "a look-up by an index of %s", pb_type_name(insn->expr[index].type));
  insn->operands[o].read = true;
  insn->dims[insn->operands[o].dims[0]].table = true;
  return add_node(
      rec, insn,
      (pb_expr_node){.op = PB_OP_LOAD, .type = insn->operands[o].type, .args = {index, -1, -1}, .operand = o});
}

// (gather $table, $rows)
static int read_gather(const record* rec, pb_insn* insn, json_t* args, int depth) {
  const char* name = json_string_value(json_array_get(json_array_get(args, 0), 1));
  int o = name ? pb_insn_operand(insn, name) : -1;
  bool fits = json_array_size(args) == 2 && o >= 0 && insn->operands[o].memory >= 0 && insn->operands[o].rank > 1;
  if (!fits) {
    pb__fault(rec, 3127, "(gather $t, $i), $t a window of rows: of two dims or more", "rows gathered of no table");
    return 0;
  }
  int index = read_expr(rec, insn, json_array_get(args, 1), depth + 1);
  const pb_expr_node* numbers = &insn->expr[index];
  if (insn->expr_count && (numbers->op != PB_OP_LOAD || numbers->args[0] >= 0 || numbers->type != PB_I32))
    pb__fault(rec, 3128, "a window of I32", "the rows of '%s' are named by what is no window of i32", name);
  insn->operands[o].read = true;
  insn->operands[o].rows = numbers->op == PB_OP_LOAD ? numbers->operand : -1;
  insn->dims[insn->operands[o].dims[0]].table = true;
  return add_node(
      rec, insn,
      (pb_expr_node){.op = PB_OP_LOAD, .type = insn->operands[o].type, .args = {index, -1, -1}, .operand = o});
}

static int constant(const record* rec, pb_insn* insn, pb_type type, int64_t number);
static int two(const record* rec, pb_insn* insn, pb_op op, int a, int b);

// The dim of four that the result walks and the operands do not; -1: there is none, or another dim like that.
static int dim_of_four(const pb_insn* insn, const int* operands) {
  int found = -1;
  for (int d = 0; d < insn->dim_count; ++d) {
    bool read = false;
    for (int k = 0; k < 3; ++k) read |= pb_operand_index(&insn->operands[operands[k]], d) >= 0;
    if (read || pb_operand_index(&insn->operands[insn->dest], d) < 0) continue;
    if (found >= 0 || insn->dims[d].field >= 0 || insn->dims[d].max != 4) return -1;
    found = d;
  }
  return found;
}

// (two_of_four $first, $second, $places)
static int read_two_of_four(const record* rec, pb_insn* insn, json_t* args) {
  int o[3] = {-1, -1, -1}, of_four = -1;
  for (size_t k = 0; k < 3; ++k) {
    const char* name = json_string_value(json_array_get(json_array_get(args, k), 1));
    o[k] = name ? pb_insn_operand(insn, name) : -1;
  }
  bool fits = json_array_size(args) == 3 && insn->expr_count == 0;
  for (int k = 0; k < 3; ++k) fits = fits && o[k] >= 0 && insn->operands[o[k]].memory >= 0;
  fits = fits && insn->operands[o[2]].type == PB_I4 && insn->operands[o[0]].type == insn->operands[o[1]].type;
  if (fits) of_four = dim_of_four(insn, o);
  if (of_four < 0) {
    pb__fault(rec, 3129, "(two_of_four $a, $b, $w), $w of I4, and all dims of the result but one, of fixed extent 4",
              "two of four of no such windows");
    return 0;
  }
  for (int k = 0; k < 3; ++k) insn->operands[o[k]].read = true;
  pb_type type = insn->operands[o[0]].type;
  int places =
      add_node(rec, insn, (pb_expr_node){.op = PB_OP_LOAD, .type = PB_I4, .args = {-1, -1, -1}, .operand = o[2]});
  int code = add_node(rec, insn, (pb_expr_node){.op = PB_OP_ZEXT, .type = PB_I32, .args = {places, -1, -1}});
  int low = two(rec, insn, PB_OP_AND, code, constant(rec, insn, PB_I32, 3));
  int at =
      add_node(rec, insn, (pb_expr_node){.op = PB_OP_INDEX, .type = PB_I32, .args = {-1, -1, -1}, .operand = of_four});
  int is_first = add_node(rec, insn, (pb_expr_node){.op = PB_OP_EQUAL, .type = PB_I1, .args = {low, at, -1}});
  int high = two(rec, insn, PB_OP_SHRU, code, constant(rec, insn, PB_I32, 2));
  int is_second = add_node(rec, insn, (pb_expr_node){.op = PB_OP_EQUAL, .type = PB_I1, .args = {high, at, -1}});
  int first =
      add_node(rec, insn, (pb_expr_node){.op = PB_OP_LOAD, .type = type, .args = {-1, -1, -1}, .operand = o[0]});
  int second =
      add_node(rec, insn, (pb_expr_node){.op = PB_OP_LOAD, .type = type, .args = {-1, -1, -1}, .operand = o[1]});
  int other = add_node(
      rec, insn,
      (pb_expr_node){.op = PB_OP_SELECT, .type = type, .args = {is_second, second, constant(rec, insn, type, 0)}});
  return add_node(rec, insn, (pb_expr_node){.op = PB_OP_SELECT, .type = type, .args = {is_first, first, other}});
}

static int constant(const record* rec, pb_insn* insn, pb_type type, int64_t number) {
  return add_node(
      rec, insn,
      (pb_expr_node){
          .op = PB_OP_CONST, .type = type, .args = {-1, -1, -1}, .value = (double)number, .integer = number});
}

static int two(const record* rec, pb_insn* insn, pb_op op, int a, int b) {
  return add_node(rec, insn, (pb_expr_node){.op = op, .type = insn->expr[a].type, .args = {a, b, -1}});
}

// x shifted right by s with sign, to the nearest. Halves go up; `away`: from 0. Half a unit is 0 where s is 0.
static int rounding_shift(const record* rec, pb_insn* insn, int x, int s, bool away) {
  pb_type type = insn->expr[x].type;
  int one = constant(rec, insn, type, 1);
  int half = two(rec, insn, PB_OP_SHRU, two(rec, insn, PB_OP_SHL, one, s), one);
  int sum = two(rec, insn, PB_OP_ADD, x, half);
  if (away) { // a negative half goes down: 1 less, unless nothing is rounded
    int sign = two(rec, insn, PB_OP_SHRU, x, constant(rec, insn, type, pb_type_bits(type) - 1));
    sum = two(rec, insn, PB_OP_SUB, sum, two(rec, insn, PB_OP_MIN, sign, half));
  }
  return two(rec, insn, PB_OP_SHR, sum, s);
}

// i32 or i64 to i8 or i16: the nearest number.
static int saturate(const record* rec, pb_insn* insn, int x, pb_type to) {
  pb_type type = insn->expr[x].type;
  int most = constant(rec, insn, type, to == PB_I8 ? INT8_MAX : INT16_MAX);
  int least = constant(rec, insn, type, to == PB_I8 ? INT8_MIN : INT16_MIN);
  int v = two(rec, insn, PB_OP_MIN, two(rec, insn, PB_OP_MAX, x, least), most);
  return add_node(rec, insn, (pb_expr_node){.op = PB_OP_TRUNC, .type = to, .args = {v, -1, -1}});
}

// The nodes of a value, for who writes them: core/base/half_expr.c.
typedef struct keeper {
  const record* rec;
  pb_insn* insn;
} keeper;

static int keep_node(void* user, const pb_expr_node* node) {
  const keeper* k = user;
  return add_node(k->rec, k->insn, *node);
}

// An operand of 16 or 8 bits to f32, as nests have it.
static int widen(const record* rec, pb_insn* insn, int x) {
  pb_expr_node* load = &insn->expr[x];
  pb_type type = load->type;
  if (load->op != PB_OP_LOAD || !pb_type_is_narrow(type)) {
    pb__fault(rec, 3094, "an operand of BF16, F16, F8E4M3 or F8E5M2", "extf of %s", pb_type_name(type));
    return x;
  }
  load->type = pb_type_stored(type);
  return pb_half_widened(&(pb_expr_writer){keep_node, &(keeper){rec, insn}}, type, x);
}

static int one(const record* rec, pb_insn* insn, pb_op op, pb_type type, int a) {
  return add_node(rec, insn, (pb_expr_node){.op = op, .type = type, .args = {a, -1, -1}});
}

// The bits of an f32 as an i32, or an i32 as those of an f32.
static int cast_bits(const record* rec, pb_insn* insn, int x) {
  pb_type type = insn->expr[x].type;
  if (type != PB_F32 && type != PB_I32) pb__fault(rec, 3094, "an f32 or an i32", "bitcast of %s", pb_type_name(type));
  return one(rec, insn, PB_OP_BITCAST, type == PB_F32 ? PB_I32 : PB_F32, x);
}

// An f32 to the nearest number of the window that it is written to, as S1 rounds.
static int round_to_half(const record* rec, pb_insn* insn, int x) {
  pb_type to = insn->operands[insn->dest].type;
  if (insn->expr[x].type != PB_F32 || !pb_type_is_narrow(to)) {
    pb__fault(rec, 3094, "a value of f32, into a window of BF16, F16, F8E4M3 or F8E5M2", "truncf of %s into %s",
              pb_type_name(insn->expr[x].type), pb_type_name(to));
    return x;
  }
  return pb_half_rounded(&(pb_expr_writer){keep_node, &(keeper){rec, insn}}, to, x);
}

// What is made of several operations, or gives another type than it says: shrr, shra, sat8, sat16, extf, truncf,
// bitcast. -1: another name.
static int read_composed(const record* rec, pb_insn* insn, const char* name, json_t* args, int depth) {
  bool shift = !strcmp(name, "shrr") || !strcmp(name, "shra"), widens = !strcmp(name, "extf");
  bool rounds = !strcmp(name, "truncf"), casts = !strcmp(name, "bitcast");
  bool wide = !strcmp(name, "sat16");
  if (!shift && !widens && !rounds && !casts && !wide && strcmp(name, "sat8")) return -1;
  if (json_array_size(args) != (shift ? 2 : 1)) {
    pb__fault(rec, 3095, NULL, "%s takes %d values, not %zu", name, shift ? 2 : 1, json_array_size(args));
    return 0;
  }
  int x = read_expr(rec, insn, json_array_get(args, 0), depth + 1);
  int s = shift ? read_expr(rec, insn, json_array_get(args, 1), depth + 1) : x;
  pb_type type = insn->expr[x].type;
  if (widens) return widen(rec, insn, x);
  if (rounds) return round_to_half(rec, insn, x);
  if (casts) return cast_bits(rec, insn, x);
  if (type != PB_I32 && type != PB_I64) pb__fault(rec, 3094, "sext first", "%s of %s", name, pb_type_name(type));
  if (insn->expr[s].type != type)
    pb__fault(rec, 3093, "convert one of them: sext, sext64", "semantics mix %s and %s", pb_type_name(type),
              pb_type_name(insn->expr[s].type));
  return shift ? rounding_shift(rec, insn, x, s, name[3] == 'a') : saturate(rec, insn, x, wide ? PB_I16 : PB_I8);
}

static int read_expr(const record* rec, pb_insn* insn, json_t* arg, int depth) {
  json_t* value = json_array_get(arg, 0);
  if (depth > 32) {
    if (depth == 33) pb__fault(rec, 3106, "a value in fewer steps", "semantics nested more than 32 deep");
    return 0;
  }
  if (!json_is_object(value)) return read_leaf(rec, insn, json_string_value(json_array_get(arg, 1)));
  const char* name = pb__get_def(json_object_get(value, "operator"));
  json_t* args = json_object_get(value, "args");
  if (name && !strcmp(name, "f32c")) return read_constant(rec, insn, PB_F32, args);
  if (name && !strcmp(name, "i8c")) return read_constant(rec, insn, PB_I8, args);
  if (name && !strcmp(name, "i32c")) return read_constant(rec, insn, PB_I32, args);
  if (name && !strcmp(name, "i64c")) return read_constant(rec, insn, PB_I64, args);
  if (name && !strcmp(name, "lookup")) return read_lookup(rec, insn, args, depth);
  if (name && !strcmp(name, "gather")) return read_gather(rec, insn, args, depth);
  if (name && !strcmp(name, "two_of_four")) return read_two_of_four(rec, insn, args);
  int composed = name ? read_composed(rec, insn, name, args, depth) : -1;
  if (composed >= 0) return composed;
  for (int k = 0; name && k < (int)(sizeof operators / sizeof *operators); ++k) {
    if (strcmp(name, operators[k].name)) continue;
    if ((int)json_array_size(args) != operators[k].args) {
      pb__fault(rec, 3095, NULL, "%s takes %d values, not %zu", name, operators[k].args, json_array_size(args));
      return 0;
    }
    pb_expr_node node = {.op = operators[k].op, .args = {-1, -1, -1}};
    for (int a = 0; a < operators[k].args; ++a)
      node.args[a] = read_expr(rec, insn, json_array_get(args, (size_t)a), depth + 1);
    node.type = result_type(rec, insn, &node, k);
    return add_node(rec, insn, node);
  }
  pb__fault(
      rec, 3096,
      "add, sub, mul, div, max, min, maximum, minimum, neg, abs, less, less_equal, lessu, equal, select, and, "
      "or, xor, shl, shr, shru, shrr, shra, sext, zext, "
      "zext8, sext64, zext64, trunc4, trunc8, trunc16, trunc32, sat8, sat16, extf, truncf, bitcast, sitofp, fptosi8, "
      "fptosi32, fptoui8, roundeven, "
      "floor, "
      "ceil, whole, sqrt, "
      "exp2, recip, rsqrt, "
      "lookup, gather, two_of_four, f32c, i8c, i32c, i64c",
      "semantics use '%s'", name ? name : "?");
  return 0;
}

int pb__read_value(const record* rec, pb_insn* insn, json_t* dag) {
  json_t* wrapped = json_pack("[O, n]", dag);
  if (!wrapped || !json_is_object(dag)) pb__fault(rec, 3010, "a dag of values", "its value is not set");
  int node = wrapped && json_is_object(dag) ? read_expr(rec, insn, wrapped, 0) : 0;
  json_decref(wrapped);
  return node;
}

// Windows of BF16 and F16 hold codes of 16 bits, those of F8E4M3 and F8E5M2 of 8, as nests have them: commands move
// them as they are, and compute with them once they are widened.
static void take_bits(const record* rec, pb_insn* insn) {
  const pb_expr_node* last = &insn->expr[insn->expr_count ? insn->expr_count - 1 : 0];
  bool picks = last->op == PB_OP_LOAD; // an element as it is, perhaps one that is looked up
  bool moves = insn->reduce == PB_SET && (picks || pb_insn_gathers(insn) >= 0);
  for (int n = 0; n < insn->expr_count; ++n) {
    pb_expr_node* node = &insn->expr[n];
    if (node->op != PB_OP_LOAD || !pb_type_is_narrow(node->type)) continue;
    if (!moves || (last != node && node->args[0] < 0))
      pb__fault(rec, 3094, "extf first", "an operation on %s", pb_type_name(node->type));
    node->type = pb_type_stored(node->type);
  }
  for (int o = 0; o < insn->operand_count; ++o)
    if (insn->operands[o].memory >= 0 && pb_type_is_narrow(insn->operands[o].type))
      insn->operands[o].type = pb_type_stored(insn->operands[o].type);
}

void pb__read_semantics(const record* rec, pb_insn* insn) {
  json_t* dag = json_object_get(rec->json, "Semantics");
  const char* form = pb__get_def(json_object_get(dag, "operator"));
  json_t* args = json_object_get(dag, "args");
  size_t wanted = insn->emit || (form && !strcmp(form, "set")) || json_array_size(args) == 2 ? 2 : 3;
  insn->acc_flag = -1;
  static const struct {
    const char* form;
    pb_reduce reduce;
  } forms[] = {{"set", PB_SET},
               {"acc_add", PB_ACC_ADD},
               {"acc_max", PB_ACC_MAX},
               {"acc_maximum", PB_ACC_MAXIMUM},
               {"acc_maxu", PB_ACC_MAXU}};
  size_t of = 0, count = sizeof forms / sizeof *forms;
  while (of < count && (!form || strcmp(form, forms[of].form))) ++of;
  if (of == count || json_array_size(args) != wanted) {
    pb__fault(rec, 3097,
              "(set $d, e), (acc_add $d, $flag, e), (acc_add $d, e), or acc_max, acc_maximum or acc_maxu like these",
              "semantics of no known form");
    return;
  }
  insn->reduce = forms[of].reduce;
  const char* dest = json_string_value(json_array_get(json_array_get(args, 0), 1));
  insn->dest = dest ? pb_insn_operand(insn, dest) : -1;
  if (insn->dest < 0 || insn->operands[insn->dest].memory < 0) {
    pb__fault(rec, 3098, "a window", "semantics write '$%s', which is no window", dest ? dest : "?");
    insn->dest = 0;
  }
  insn->operands[insn->dest].written = true;
  if (wanted == 3) {
    const char* flag = json_string_value(json_array_get(json_array_get(args, 1), 1));
    insn->acc_flag = flag ? pb_insn_operand(insn, flag) : -1;
    if (insn->acc_flag < 0 || insn->operands[insn->acc_flag].type != PB_I1)
      pb__fault(rec, 3099, "Imm<I1>", "the accumulate flag '$%s' is no bit", flag ? flag : "?");
  }
  int value = read_expr(rec, insn, json_array_get(args, wanted - 1), 0);
  pb_type given = insn->expr_count ? insn->expr[value].type : PB_TYPE_COUNT, to = insn->operands[insn->dest].type;
  bool half = pb_type_is_narrow(to), bits = !insn->emit && half && given == pb_type_stored(to);
  if (insn->reduce == PB_ACC_MAXU && to == PB_F32) pb__fault(rec, 3094, "acc_max", "acc_maxu of %s", pb_type_name(to));
  if (insn->reduce == PB_ACC_MAXIMUM && to != PB_F32)
    pb__fault(rec, 3094, "acc_max", "acc_maximum of %s", pb_type_name(to));
  if (insn->expr_count && given != to && !bits)
    pb__fault(rec, 3100, half ? "truncf" : "convert it", "semantics write %s into a window of %s", pb_type_name(given),
              pb_type_name(to));
  if (!insn->emit) take_bits(rec, insn);
}

static int read_cost(const record* rec, pb_insn* insn, json_t* arg, int depth) {
  json_t* value = json_array_get(arg, 0);
  pb_cost cost = {0};
  const char* name = json_is_object(value) ? pb__get_def(json_object_get(value, "operator")) : NULL;
  static const struct {
    const char* name;
    pb_cost_op op;
  } ops[] = {{"plus", PB_COST_PLUS}, {"times", PB_COST_TIMES}, {"ceildiv", PB_COST_CEILDIV}, {"maximum", PB_COST_MAX}};
  if (json_is_integer(value)) {
    cost = (pb_cost){.op = PB_COST_CONST, .value = json_integer_value(value)};
    if (cost.value < 0) pb__fault(rec, 3104, "0 or more", "cycles name the number %lld", (long long)cost.value);
  } else if (name && depth == 16) {
    pb__fault(rec, 3107, "a sum in fewer steps", "cycles nested more than 16 deep");
  } else if (name) {
    json_t* args = json_object_get(value, "args");
    bool known = false;
    for (size_t k = 0; k < 4; ++k)
      if (!strcmp(ops[k].name, name)) {
        known = true;
        cost.op = ops[k].op;
      }
    if (!known || json_array_size(args) != 2)
      pb__fault(rec, 3101, "plus, times, ceildiv or maximum of two", "cycles use '%s'", name);
    else {
      cost.a = read_cost(rec, insn, json_array_get(args, 0), depth + 1);
      cost.b = read_cost(rec, insn, json_array_get(args, 1), depth + 1);
    }
  } else {
    const char* leaf = json_string_value(json_array_get(arg, 1));
    cost = (pb_cost){.op = PB_COST_DIM, .value = -1};
    for (int d = 0; leaf && d < insn->dim_count; ++d)
      if (!strcmp(insn->dims[d].name, leaf)) cost.value = d;
    if (cost.value < 0) {
      pb__fault(rec, 3102, "one of its dims", "cycles name '$%s'", leaf ? leaf : "?");
      cost.value = 0;
    }
  }
  if (insn->cost_count == PB_MAX_EXPR) {
    pb__fault(rec, 3108, NULL, "cycles of more than %d operations", PB_MAX_EXPR);
    return 0;
  }
  insn->cost[insn->cost_count] = cost;
  return insn->cost_count++;
}

int pb__read_cycles(const record* rec, pb_insn* insn, json_t* dag) {
  json_t* wrapped = json_pack("[O, n]", dag);
  int node = read_cost(rec, insn, wrapped, 0);
  json_decref(wrapped);
  return node;
}

void pb__read_shape(const record* rec, pb_insn* insn) {
  json_t* shape = json_object_get(rec->json, "Shape");
  for (size_t k = 0; k < json_array_size(shape); ++k) {
    if (k == PB_MAX_SHAPE) {
      pb__fault(rec, 3113, NULL, "a Shape of more than %d numbers", PB_MAX_SHAPE);
      return;
    }
    insn->shape[insn->shape_count++] = pb__read_cycles(rec, insn, json_array_get(shape, k));
  }
}
