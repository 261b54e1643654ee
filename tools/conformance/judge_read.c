// The judge's own reading of a description: records of pb.td's classes in llvm-tblgen's JSON.
#include "judge_read.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  judge* j;
  json_t* root;
  char* why;
} reader;

static bool wrong(reader* r, const char* format, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(reader* r, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(r->why, JUDGE_WHY, format, args);
  va_end(args);
  return false;
}

static const char* text(const json_t* record, const char* key) {
  const char* s = json_string_value(json_object_get(record, key));
  return s ? s : "";
}
static int64_t number(const json_t* record, const char* key) {
  return json_integer_value(json_object_get(record, key));
}

static void copy_name(char* to, const char* from) { snprintf(to, 64, "%.63s", from); }

// The record that a value of kind "def" names.
static const json_t* record_of(const reader* r, const json_t* value) {
  return json_object_get(r->root, text(value, "def"));
}

static const json_t* instances(const reader* r, const char* class_name) {
  return json_object_get(json_object_get(r->root, "!instanceof"), class_name);
}

static bool is_a(const json_t* record, const char* class_name) {
  size_t k;
  json_t* super;
  json_array_foreach(json_object_get(record, "!superclasses"), k, super) {
    if (!strcmp(json_string_value(super), class_name)) return true;
  }
  return false;
}

static judge_type type_of(const reader* r, const json_t* value) {
  const json_t* type = record_of(r, value);
  return (judge_type){(int)number(type, "Bits"), !strcmp(text(type, "Kind"), "float"),
                      !strcmp(text(type, "Name"), "bf16"), !strcmp(text(type, "Name"), "f8e4m3")};
}

static int field_named(const judge_insn_record* insn, const char* name) {
  for (int f = 0; f < insn->field_count; ++f)
    if (!strcmp(insn->fields[f].name, name)) return f;
  return -1;
}
static int dim_named(const judge_insn_record* insn, const char* name) {
  for (int d = 0; d < insn->dim_count; ++d)
    if (!strcmp(insn->dims[d].name, name)) return d;
  return -1;
}
static int operand_named(const judge_insn_record* insn, const char* name) {
  for (int o = 0; o < insn->operand_count; ++o)
    if (!strcmp(insn->operands[o].name, name)) return o;
  return -1;
}

static bool listed(const json_t* list, const char* name) {
  size_t k;
  json_t* one;
  json_array_foreach(list, k, one) {
    if (json_is_string(one) && !strcmp(json_string_value(one), name)) return true;
  }
  return false;
}

// Members that are lists of bits, but for Inst, are fields.
static bool is_field(const char* key, const json_t* value) {
  static const char* const others[] = {"Inst", "Dims", "Signed", "State", "Shape", "Derived", "Shared"};
  for (size_t k = 0; k < sizeof others / sizeof *others; ++k)
    if (!strcmp(key, others[k])) return false;
  if (key[0] == '!' || !json_array_size(value)) return false;
  size_t k;
  json_t* bit;
  json_array_foreach(value, k, bit) {
    if (!json_is_null(bit) && !json_is_integer(bit)) return false;
  }
  return true;
}

// Inst says where each bit of the fields stands.
static bool read_encoding(reader* r, const json_t* record, judge_insn_record* insn) {
  const char* key;
  json_t* value;
  json_object_foreach((json_t*)record, key, value) {
    if (!is_field(key, value)) continue;
    if (insn->field_count == JUDGE_FIELDS) return wrong(r, "%s: more than %d fields", insn->name, JUDGE_FIELDS);
    judge_field_record* f = &insn->fields[insn->field_count++];
    copy_name(f->name, key);
    f->width = (int)json_array_size(value);
    if (f->width > 64) return wrong(r, "%s: field '%s' has %d bits", insn->name, key, f->width);
    f->is_signed = listed(json_object_get(record, "Signed"), key);
    f->writer = f->of = -1;
    for (int b = 0; b < 64; ++b) f->bit[b] = -1;
  }
  size_t bit;
  json_array_foreach(json_object_get(record, "Inst"), bit, value) {
    if (json_is_integer(value)) {
      insn->mask[bit / 8] |= (uint8_t)(1u << bit % 8);
      if (json_integer_value(value)) insn->fixed[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
    int f = json_is_object(value) ? field_named(insn, text(value, "var")) : -1;
    int64_t of = json_is_object(value) ? number(value, "index") : 0;
    if (f >= 0 && of < insn->fields[f].width) insn->fields[f].bit[of] = (int16_t)bit;
  }
  size_t k;
  json_array_foreach(json_object_get(record, "Derived"), k, value) {
    const json_t* derived = record_of(r, value);
    int f = field_named(insn, text(derived, "Field"));
    if (f < 0) return wrong(r, "%s: no field '%s' to be derived", insn->name, text(derived, "Field"));
    const char* form = text(derived, "Form");
    insn->fields[f].form = !strcmp(form, "minus") ? JUDGE_MINUS : !strcmp(form, "scaled") ? JUDGE_SCALED : JUDGE_LOG2;
    insn->fields[f].by = number(derived, "By");
  }
  json_array_foreach(json_object_get(record, "State"), k, value) {
    const json_t* state = record_of(r, value);
    int f = field_named(insn, text(state, "Field"));
    if (f < 0) return wrong(r, "%s: no field '%s' to stand in state", insn->name, text(state, "Field"));
    copy_name(insn->fields[f].writer_name, text(state, "Writer"));
    copy_name(insn->fields[f].writer_field_name, text(state, "WriterField"));
  }
  return true;
}

static void read_dims(const reader* r, const json_t* record, judge_insn_record* insn) {
  size_t k;
  json_t* value;
  json_array_foreach(json_object_get(record, "Dims"), k, value) {
    const json_t* dim = record_of(r, value);
    if (insn->dim_count == JUDGE_DIMS) return;
    int d = insn->dim_count++;
    copy_name(insn->dims[d].name, text(dim, "Name"));
    insn->dims[d].min = (int)number(dim, "Min");
    insn->dims[d].max = (int)number(dim, "Max");
    insn->dims[d].field = *text(dim, "Field") ? field_named(insn, text(dim, "Field")) : -1;
  }
}

static bool read_window(reader* r, const json_t* window, const judge_insn_record* insn, judge_operand* o) {
  const char* memory = text(json_object_get(window, "Mem"), "def");
  o->memory = -1;
  for (int m = 0; m < r->j->memory_count; ++m)
    if (!strcmp(r->j->memories[m].name, memory)) o->memory = m;
  const char* base = text(window, "Base");
  bool banks = o->memory >= 0 && r->j->memories[o->memory].banks;
  o->base = banks ? -1 : field_named(insn, base);
  o->take = banks && *base ? field_named(insn, base) : -1;
  o->slot = *text(window, "Slot") ? field_named(insn, text(window, "Slot")) : -1;
  o->fill = *text(window, "Fill") ? field_named(insn, text(window, "Fill")) : -1;
  o->unit = number(window, "Unit");
  if (o->memory < 0 || (!banks && o->base < 0) || (banks && *base && o->take < 0))
    return wrong(r, "%s: window '%s' has no memory or base", insn->name, o->name);
  const json_t *dims = json_object_get(window, "Dims"), *strides = json_object_get(window, "Strides");
  const json_t *lo = json_object_get(window, "BoxLo"), *hi = json_object_get(window, "BoxHi");
  o->rank = (int)json_array_size(dims);
  if (o->rank > JUDGE_DIMS) return wrong(r, "%s: window '%s' has %d dims", insn->name, o->name, o->rank);
  for (int k = 0; k < o->rank; ++k) {
    const char* step = json_string_value(json_array_get(strides, (size_t)k));
    const char *low = json_string_value(json_array_get(lo, (size_t)k)),
               *high = json_string_value(json_array_get(hi, (size_t)k));
    o->dims[k] = dim_named(insn, json_string_value(json_array_get(dims, (size_t)k)));
    o->steps[k] = !strcmp(step, "elem")          ? JUDGE_BY_ELEMENT
                  : !strcmp(step, "row")         ? JUDGE_BY_ROW
                  : !strcmp(step, "none")        ? JUDGE_BY_NONE
                  : strchr("-0123456789", *step) ? JUDGE_BY_NUMBER
                                                 : JUDGE_BY_FIELD;
    o->units[k] = o->steps[k] == JUDGE_BY_NUMBER ? strtoll(step, NULL, 10) : 0;
    o->strides[k] = o->steps[k] == JUDGE_BY_FIELD ? field_named(insn, step) : -1;
    o->box_lo[k] = low && *low ? field_named(insn, low) : -1;
    o->box_hi[k] = high && *high ? field_named(insn, high) : -1;
    if (o->dims[k] < 0 || (o->steps[k] == JUDGE_BY_FIELD && o->strides[k] < 0))
      return wrong(r, "%s: window '%s' walks what is not there", insn->name, o->name);
  }
  return true;
}

static bool read_operands(reader* r, const json_t* record, judge_insn_record* insn) {
  size_t k;
  json_t* arg;
  json_array_foreach(json_object_get(json_object_get(record, "Operands"), "args"), k, arg) {
    if (insn->operand_count == JUDGE_OPERANDS) return wrong(r, "%s: too many operands", insn->name);
    judge_operand* o = &insn->operands[insn->operand_count++];
    const json_t* what = record_of(r, json_array_get(arg, 0));
    copy_name(o->name, json_string_value(json_array_get(arg, 1)));
    o->type = type_of(r, json_object_get(what, "Elem"));
    o->is_window = is_a(what, "Window");
    o->memory = o->slot = o->fill = o->take = -1;
    if (!o->is_window && (o->base = field_named(insn, o->name)) < 0)
      return wrong(r, "%s: immediate '%s' has no field", insn->name, o->name);
    if (o->is_window && !read_window(r, what, insn, o)) return false;
  }
  return true;
}

static const struct {
  const char* name;
  judge_op op;
} operators[] = {{"add", JUDGE_ADD},         {"sub", JUDGE_SUB},
                 {"mul", JUDGE_MUL},         {"div", JUDGE_DIV},
                 {"max", JUDGE_MAX},         {"min", JUDGE_MIN},
                 {"sext", JUDGE_SEXT},       {"zext", JUDGE_ZEXT},
                 {"sitofp", JUDGE_SITOFP},   {"trunc8", JUDGE_TRUNC8},
                 {"sqrt", JUDGE_SQRT},       {"lookup", JUDGE_LOOKUP},
                 {"gather", JUDGE_GATHER},   {"two_of_four", JUDGE_TWO_OF_FOUR},
                 {"fptosi8", JUDGE_FPTOSI8}, {"less", JUDGE_LESS},
                 {"select", JUDGE_SELECT},   {"roundeven", JUDGE_ROUNDEVEN},
                 {"and", JUDGE_AND},         {"or", JUDGE_OR},
                 {"xor", JUDGE_XOR},         {"shl", JUDGE_SHL},
                 {"shr", JUDGE_SHR},         {"shru", JUDGE_SHRU},
                 {"shrr", JUDGE_SHRR},       {"shra", JUDGE_SHRA},
                 {"sat8", JUDGE_SAT8},       {"trunc16", JUDGE_TRUNC16},
                 {"trunc32", JUDGE_TRUNC32}, {"sext64", JUDGE_SEXT64},
                 {"zext64", JUDGE_ZEXT64},   {"equal", JUDGE_EQUAL},
                 {"exp2", JUDGE_EXP2},       {"recip", JUDGE_RECIP},
                 {"rsqrt", JUDGE_RSQRT},     {"extf", JUDGE_EXTF},
                 {"truncf", JUDGE_TRUNCF},   {"bitcast", JUDGE_BITCAST},
                 {"floor", JUDGE_FLOOR},     {"ceil", JUDGE_CEIL},
                 {"whole", JUDGE_WHOLE},     {"maximum", JUDGE_MAXIMUM},
                 {"minimum", JUDGE_MINIMUM}, {"neg", JUDGE_NEG},
                 {"abs", JUDGE_ABS},         {"less_equal", JUDGE_LESS_EQUAL},
                 {"lessu", JUDGE_LESSU},     {"zext8", JUDGE_ZEXT8},
                 {"sat16", JUDGE_SAT16},     {"fptosi32", JUDGE_FPTOSI32},
                 {"fptoui8", JUDGE_FPTOUI8}, {"trunc4", JUDGE_TRUNC4}};

static judge_type result_type(const judge_insn_record* insn, const judge_node* n) {
  judge_type first = insn->nodes[n->args[0]].type;
  switch (n->op) {
  case JUDGE_SEXT:
  case JUDGE_ZEXT:
  case JUDGE_TRUNC32:
  case JUDGE_FPTOSI32:
    return (judge_type){.bits = 32, .is_float = false};
  case JUDGE_SEXT64:
  case JUDGE_ZEXT64:
    return (judge_type){.bits = 64, .is_float = false};
  case JUDGE_TRUNC16:
  case JUDGE_SAT16:
    return (judge_type){.bits = 16, .is_float = false};
  case JUDGE_TRUNC4:
    return (judge_type){.bits = 4, .is_float = false};
  case JUDGE_TRUNC8:
  case JUDGE_SAT8:
  case JUDGE_FPTOSI8:
  case JUDGE_FPTOUI8:
  case JUDGE_ZEXT8:
    return (judge_type){.bits = 8, .is_float = false};
  case JUDGE_EQUAL:
  case JUDGE_LESS:
  case JUDGE_LESS_EQUAL:
  case JUDGE_LESSU:
    return (judge_type){.bits = 1, .is_float = false};
  case JUDGE_SELECT:
    return insn->nodes[n->args[1]].type;
  case JUDGE_SITOFP:
  case JUDGE_EXTF:
    return (judge_type){.bits = 32, .is_float = true};
  case JUDGE_TRUNCF:
    return insn->operands[insn->dest].type; // what is written
  case JUDGE_BITCAST:
    return (judge_type){.bits = 32, .is_float = !first.is_float};
  default:
    return first;
  }
}

static int read_value(reader* r, const json_t* value, const char* name, judge_insn_record* insn);

static int add_node(reader* r, judge_insn_record* insn, judge_node node) {
  if (insn->node_count == JUDGE_NODES) return wrong(r, "%s: more than %d operations", insn->name, JUDGE_NODES), -1;
  insn->nodes[insn->node_count] = node;
  return insn->node_count++;
}

static int read_number(reader* r, const json_t* args, const char* name, judge_insn_record* insn) {
  const json_t* value = json_array_get(json_array_get(args, 0), 0);
  bool is_float = name[0] == 'f';
  judge_node n = {.op = JUDGE_NUMBER,
                  .type = {.bits = name[1] == '6'   ? 64
                                   : name[1] == '8' ? 8
                                                    : 32,
                           .is_float = is_float}};
  if (n.type.bits == 64)
    n.number.w = json_integer_value(value);
  else if (is_float)
    n.number.f = strtof(json_is_string(value) ? json_string_value(value) : "0", NULL);
  else
    n.number.i = (int32_t)json_integer_value(value);
  return add_node(r, insn, n);
}

static bool walks(const judge_operand* window, int dim) {
  for (int k = 0; k < window->rank; ++k)
    if (window->dims[k] == dim) return true;
  return false;
}

// The dim of four that the result walks, and what is read does not.
static int dim_of_four(const judge_insn_record* insn, const judge_node* n) {
  for (int d = 0; d < insn->dim_count; ++d) {
    bool read = n->args[2] < 0;
    for (int k = 0; k < 3 && !read; ++k) {
      const judge_node* load = &insn->nodes[n->args[k]];
      read = load->op != JUDGE_LOAD || walks(&insn->operands[load->operand], d);
    }
    if (!read && walks(&insn->operands[insn->dest], d) && insn->dims[d].max == 4) return d;
  }
  return -1;
}

static int read_operation(reader* r, const json_t* dag, judge_insn_record* insn) {
  const char* name = text(json_object_get(dag, "operator"), "def");
  const json_t* args = json_object_get(dag, "args");
  if (!strcmp(name, "f32c") || !strcmp(name, "i8c") || !strcmp(name, "i32c") || !strcmp(name, "i64c"))
    return read_number(r, args, name, insn);
  judge_node n = {.op = JUDGE_LOAD, .operand = -1, .args = {-1, -1, -1}};
  for (size_t k = 0; k < sizeof operators / sizeof *operators; ++k)
    if (!strcmp(name, operators[k].name)) n.op = operators[k].op;
  if (n.op == JUDGE_LOAD) return wrong(r, "%s: the judge knows no operator '%s'", insn->name, name), -1;
  size_t first = n.op == JUDGE_LOOKUP || n.op == JUDGE_GATHER;
  if (first) n.operand = operand_named(insn, json_string_value(json_array_get(json_array_get(args, 0), 1)));
  for (size_t k = first; k < json_array_size(args) && k < 3 + first; ++k) {
    const json_t* arg = json_array_get(args, k);
    int at = read_value(r, json_array_get(arg, 0), json_string_value(json_array_get(arg, 1)), insn);
    if (at < 0) return -1;
    n.args[k - first] = at;
  }
  if (first) {
    if (n.operand < 0) return wrong(r, "%s: a look-up in no table", insn->name), -1;
    judge_operand* table = &insn->operands[n.operand];
    table->table = insn->dims[table->dims[0]].table = true;
    n.type = table->type;
  } else
    n.type = result_type(insn, &n);
  if (n.op == JUDGE_TWO_OF_FOUR && (n.operand = dim_of_four(insn, &n)) < 0)
    return wrong(r, "%s: two of four along no dim", insn->name), -1;
  return add_node(r, insn, n);
}

static int read_value(reader* r, const json_t* value, const char* name, judge_insn_record* insn) {
  if (json_is_object(value) && !strcmp(text(value, "kind"), "dag")) return read_operation(r, value, insn);
  int o = name ? operand_named(insn, name) : -1;
  if (o < 0) return wrong(r, "%s: Semantics names no operand '%s'", insn->name, name ? name : "?"), -1;
  return add_node(r, insn,
                  (judge_node){.op = insn->operands[o].is_window ? JUDGE_LOAD : JUDGE_IMMEDIATE,
                               .type = insn->operands[o].type,
                               .operand = o,
                               .args = {-1, -1, -1}});
}

static bool read_semantics(reader* r, const json_t* record, judge_insn_record* insn) {
  const json_t* dag = json_object_get(record, "Semantics");
  const char* name = text(json_object_get(dag, "operator"), "def");
  const json_t* args = json_object_get(dag, "args");
  size_t count = json_array_size(args);
  insn->how = !strcmp(name, "acc_add")       ? JUDGE_ACC_ADD
              : !strcmp(name, "acc_max")     ? JUDGE_ACC_MAX
              : !strcmp(name, "acc_maxu")    ? JUDGE_ACC_MAXU
              : !strcmp(name, "acc_maximum") ? JUDGE_ACC_MAXIMUM
                                             : JUDGE_SET;
  insn->dest = operand_named(insn, json_string_value(json_array_get(json_array_get(args, 0), 1)));
  insn->flag = count == 3 ? operand_named(insn, json_string_value(json_array_get(json_array_get(args, 1), 1))) : -1;
  if (insn->dest < 0 || count < 2) return wrong(r, "%s: Semantics of another shape", insn->name);
  const json_t* value = json_array_get(args, count - 1);
  return read_value(r, json_array_get(value, 0), json_string_value(json_array_get(value, 1)), insn) >= 0;
}

static bool read_insn(reader* r, const char* name, judge_insn_record* insn) {
  const json_t* record = json_object_get(r->root, name);
  copy_name(insn->name, name);
  insn->dest = insn->flag = insn->state_of = -1;
  copy_name(insn->state_of_name, text(record, "StateOf"));
  if (!read_encoding(r, record, insn)) return false;
  read_dims(r, record, insn);
  if (!read_operands(r, record, insn)) return false;
  return !insn->operand_count || read_semantics(r, record, insn);
}

static bool resolve_state(reader* r) {
  judge* j = r->j;
  for (int i = 0; i < j->insn_count; ++i)
    for (int f = 0; f < j->insns[i].field_count; ++f) {
      judge_field_record* field = &j->insns[i].fields[f];
      if (!field->writer_name[0]) continue;
      field->writer = judge_insn(j, field->writer_name);
      field->writer_field = field->writer < 0 ? -1 : judge_field(j, field->writer, field->writer_field_name);
      if (field->writer_field < 0)
        return wrong(r, "%s: no %s.%s", j->insns[i].name, field->writer_name, field->writer_field_name);
    }
  return true;
}

// Whose state an instruction writes in place of its own.
static bool resolve_owners(reader* r) {
  judge* j = r->j;
  for (int i = 0; i < j->insn_count; ++i) {
    judge_insn_record* insn = &j->insns[i];
    if (!insn->state_of_name[0]) continue;
    insn->state_of = judge_insn(j, insn->state_of_name);
    for (int f = 0; f < insn->field_count; ++f) {
      if (insn->fields[f].bit[0] < 0) continue;
      insn->fields[f].of = insn->state_of < 0 ? -1 : judge_field(j, insn->state_of, insn->fields[f].name);
      if (insn->fields[f].of < 0)
        return wrong(r, "%s: no %s.%s", insn->name, insn->state_of_name, insn->fields[f].name);
    }
  }
  return true;
}

static bool read_memories(reader* r) {
  size_t k;
  json_t* name;
  r->j->system = -1;
  json_array_foreach(instances(r, "Memory"), k, name) {
    const json_t* m = json_object_get(r->root, json_string_value(name));
    int at = r->j->memory_count++;
    if (at == JUDGE_MEMORIES) return wrong(r, "more than %d memories", JUDGE_MEMORIES);
    copy_name(r->j->memories[at].name, json_string_value(name));
    r->j->memories[at].bytes = number(m, "Bytes");
    r->j->memories[at].row_bytes = number(m, "RowBytes");
    if (!strcmp(text(m, "Scope"), "system")) r->j->system = at;
    r->j->memories[at].outside = r->j->system == at || !strcmp(text(m, "Scope"), "constants");
    if (strcmp(text(m, "Kind"), "shadow") && strcmp(text(m, "Kind"), "fifo")) continue;
    r->j->memories[at].banks = (int)number(m, "Banks");
    if (r->j->memories[at].banks < 1 || r->j->memories[at].banks > JUDGE_BANKS)
      return wrong(r, "%s: %d banks", r->j->memories[at].name, r->j->memories[at].banks);
  }
  return r->j->system >= 0 || wrong(r, "no memory of scope \"system\"");
}

// What puts queues in order: bits of every command, or a command of its own.
static bool read_order(reader* r) {
  judge* j = r->j;
  const char* name = json_string_value(json_array_get(instances(r, "Fence"), 0));
  const json_t* fence = name ? json_object_get(r->root, name) : NULL;
  const json_t* tokens = json_object_get(r->root, json_string_value(json_array_get(instances(r, "Tokens"), 0)));
  j->queue_count = (int)json_array_size(json_object_get(fence ? fence : tokens, "Queues"));
  bool semaphores = json_array_size(json_object_get(tokens, "Semaphores")) > 0;
  j->counters = (int)json_array_size(json_object_get(tokens, semaphores ? "Semaphores" : "Queues"));
  j->count_bits = semaphores ? (int)number(tokens, "WaitBits") : 0;
  copy_name(j->wait_field, text(tokens, "Wait"));
  copy_name(j->count_field, text(tokens, "Count"));
  copy_name(j->signal_field, text(tokens, "Signal"));
  j->wait_bit = (int)number(tokens, "WaitBit");
  j->signal_bit = (int)number(tokens, "SignalBit");
  j->has_fence = fence != NULL;
  if (!fence) return true;
  copy_name(j->fence.name, name);
  j->fence_wait = -1;
  if (!read_encoding(r, fence, &j->fence)) return false;
  if (!*text(fence, "Wait")) return true;
  j->fence_wait = field_named(&j->fence, text(fence, "Wait"));
  return j->fence_wait >= 0 || wrong(r, "%s: no field '%s'", name, text(fence, "Wait"));
}

static bool read_all(reader* r) {
  judge* j = r->j;
  const json_t* chip = json_object_get(r->root, json_string_value(json_array_get(instances(r, "Chip"), 0)));
  j->command_bytes = (int)number(chip, "CommandBytes");
  if (j->command_bytes < 1 || j->command_bytes * 8 > JUDGE_BITS)
    return wrong(r, "commands of %d bytes", j->command_bytes);
  if (!read_order(r) || !read_memories(r)) return false;
  const json_t* names = instances(r, "Instruction");
  j->insns = calloc(json_array_size(names) + 1, sizeof *j->insns);
  size_t k;
  json_t* name;
  json_array_foreach(names, k, name) {
    if (!j->insns || !read_insn(r, json_string_value(name), &j->insns[j->insn_count++])) return false;
  }
  json_array_foreach(instances(r, "Function"), k, name) {
    const json_t* f = json_object_get(r->root, json_string_value(name));
    if (j->function_count == 4) break;
    snprintf(j->functions[j->function_count].name, 16, "%.15s", text(f, "Name"));
    j->functions[j->function_count].table_bits = (int)number(f, "TableBits");
    j->functions[j->function_count++].degree = (int)number(f, "Degree");
  }
  return resolve_state(r) && resolve_owners(r);
}

bool judge__read_description(judge* j, const char* json, char* why) {
  json_error_t error;
  reader r = {.j = j, .root = json_loads(json, 0, &error), .why = why};
  if (!r.root) return wrong(&r, "line %d: %s", error.line, error.text);
  bool good = read_all(&r);
  json_decref(r.root);
  return good;
}
