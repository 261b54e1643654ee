// tblgen's JSON to a pb_chip. Every fault is reported with the record's place; reading goes on to find more.
#include "tdl/check.h"
#include "tdl/chip.h"
#include "tdl/tblgen.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  pb_chip* chip;
  json_t* root;
  pb_diag* diag;
  const char* path;
  int faults;
} reader;

typedef struct record {
  reader* r;
  json_t* json;
  const char* name;
  pb_place place;
} record;

static void fault(const record* rec, int code, const char* hint, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
static void fault(const record* rec, int code, const char* hint, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  ++rec->r->faults;
  (void)pb_error(rec->r->diag, rec->place, code, hint, "%s: %s", rec->name, text);
}

// "file:line" as tblgen gives it; the file is relative to where it was found.
static record open_record(reader* r, const char* name) {
  record rec = {.r = r, .json = json_object_get(r->root, name), .name = name ? name : "?", .place = {.file = r->path}};
  const char* where = json_string_value(json_array_get(json_object_get(rec.json, "!locs"), 0));
  const char* colon = where ? strrchr(where, ':') : NULL;
  if (colon) {
    rec.place.line = atoi(colon + 1);
    rec.place.column = 1;
  }
  if (json_is_true(json_object_get(rec.json, "!anonymous"))) rec.name = "an unnamed record";
  return rec;
}

static const char* keep(reader* r, const char* text) { return pb_strdup(&r->chip->arena, text ? text : ""); }

static int64_t get_int(const record* rec, const char* field, int64_t missing) {
  json_t* v = json_object_get(rec->json, field);
  if (json_is_integer(v)) return json_integer_value(v);
  if (v && !json_is_null(v))
    fault(rec, 3011, "write a number", "field '%s' is not an integer", field);
  else
    fault(rec, 3010, "every field without a default must be given", "field '%s' is not set", field);
  return missing;
}

static int get_int32(const record* rec, const char* field, int missing) {
  int64_t value = get_int(rec, field, missing);
  if (value >= INT32_MIN && value <= INT32_MAX) return (int)value;
  fault(rec, 3013, "32 bits with sign", "field '%s' is %lld", field, (long long)value);
  return missing;
}

static const char* get_text(const record* rec, const char* field) {
  json_t* v = json_object_get(rec->json, field);
  if (json_is_string(v)) return keep(rec->r, json_string_value(v));
  fault(rec, 3010, "every field without a default must be given", "field '%s' is not set", field);
  return "";
}

// A string, or "" for whatever else stands there: the text may come from a stranger's engine.
static const char* text_of(json_t* v) { return json_is_string(v) ? json_string_value(v) : ""; }

static const char* get_def(json_t* v) {
  json_t* def = json_object_get(v, "def");
  return json_is_string(def) ? json_string_value(def) : NULL;
}

static json_t* instances(reader* r, const char* class) {
  return json_object_get(json_object_get(r->root, "!instanceof"), class);
}

static int choice(const record* rec, const char* field, const char* const* names, int count) {
  const char* text = get_text(rec, field);
  for (int k = 0; k < count; ++k)
    if (!strcmp(text, names[k])) return k;
  char all[128] = "one of";
  for (int k = 0; k < count; ++k) {
    strncat(all, k ? ", " : " ", sizeof all - strlen(all) - 1);
    strncat(all, names[k], sizeof all - strlen(all) - 1);
  }
  if (text[0]) fault(rec, 3012, all, "field '%s' is \"%s\"", field, text);
  return 0;
}

static void check_name(const record* rec, const char* what, const char* name, size_t most) {
  pb__check_name(what, name, most, rec->place, rec->r->diag, &rec->r->faults);
}

static pb_place keep_place(reader* r, const record* rec) {
  pb_place place = rec->place;
  place.file = keep(r, place.file);
  return place;
}

static void read_chip_record(reader* r) {
  json_t* list = instances(r, "Chip");
  pb_chip* c = r->chip;
  if (json_array_size(list) != 1) {
    ++r->faults;
    (void)pb_error(r->diag, (pb_place){.file = r->path}, 3020, "def mychip : Chip { ... }",
                   "%zu records of class Chip; there must be one", json_array_size(list));
    return;
  }
  static const char* const controls[] = {"threads", "grid", "queues"};
  record rec = open_record(r, text_of(json_array_get(list, 0)));
  c->place = keep_place(r, &rec);
  c->name = get_text(&rec, "Name");
  c->summary = get_text(&rec, "Summary");
  c->features = json_object_get(rec.json, "Features") ? get_text(&rec, "Features") : "";
  if (json_is_string(json_object_get(rec.json, "Name"))) check_name(&rec, "the chip", c->name, 64);
  c->revision = get_int32(&rec, "Revision", 0);
  c->mhz = get_int32(&rec, "MHz", 1000);
  if (c->revision < 0) fault(&rec, 3023, "0 or more", "Revision is %d", c->revision);
  if (c->mhz < 1) fault(&rec, 3024, "1 or more", "MHz is %d", c->mhz);
  c->arguments = get_int32(&rec, "Arguments", 16);
  c->command_bytes = get_int32(&rec, "CommandBytes", 0);
  c->control = (pb_control)choice(&rec, "Control", controls, 3);
  int64_t schema = get_int(&rec, "Schema", 1);
  if (schema != 1) fault(&rec, 3021, "this pb reads schema 1", "written for schema %lld", (long long)schema);
  json_t* variants = json_object_get(rec.json, "Variants");
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  bool known = c->variant[0] == 0;
  c->variants = PB_NEW_ARRAY(&c->arena, const char*, json_array_size(variants) + 1);
  for (size_t k = 0; k < json_array_size(variants); ++k) {
    const char* name = keep(r, text_of(json_array_get(variants, k)));
    c->variants[c->variant_count++] = name;
    if (strlen(name) > 32 || name[strspn(name, letters)] || !name[0])
      fault(&rec, 3025, "letters, digits and '_', 32 at most", "a variant is named \"%s\"", name);
    known |= !strcmp(text_of(json_array_get(variants, k)), c->variant);
  }
  if (!known) fault(&rec, 3022, "list it in Variants", "has no variant '%s'", c->variant);
}

static void read_memories(reader* r) {
  static const char* const kinds[] = {"addressed", "registers"};
  static const char* const scopes[] = {"system", "chip", "core", "thread"};
  json_t* list = instances(r, "Memory");
  pb_chip* c = r->chip;
  c->memory_count = (int)json_array_size(list);
  if (c->memory_count > PB_MAX_MEMORIES) {
    ++r->faults;
    (void)pb_error(r->diag, (pb_place){.file = r->path}, 3032, NULL, "%d memories, more than %d", c->memory_count,
                   PB_MAX_MEMORIES);
  }
  c->memories = PB_NEW_ARRAY(&c->arena, pb_memory, (size_t)c->memory_count + 1);
  c->system_memory = -1;
  for (int k = 0; k < c->memory_count; ++k) {
    record rec = open_record(r, text_of(json_array_get(list, (size_t)k)));
    pb_memory* m = &c->memories[k];
    m->name = keep(r, rec.name);
    check_name(&rec, "a memory", m->name, 64);
    m->kind = (pb_memory_kind)choice(&rec, "Kind", kinds, 2);
    m->scope = (pb_scope)choice(&rec, "Scope", scopes, 4);
    m->bytes = get_int(&rec, "Bytes", 1);
    m->row_bytes = get_int(&rec, "RowBytes", 1);
    m->bytes_per_cycle = get_int(&rec, "BytesPerCycle", 1);
    m->line_bytes = get_int(&rec, "LineBytes", 0);
    m->banks = get_int32(&rec, "Banks", 1);
    m->ports = get_int32(&rec, "Ports", 1);
    m->latency = get_int32(&rec, "Latency", 0);
    m->cached = get_int(&rec, "Cached", 0) != 0;
    m->ways = json_object_get(rec.json, "Ways") ? get_int32(&rec, "Ways", 1) : 1;
    m->value = get_text(&rec, "Value");
    m->from_vector = get_text(&rec, "FromVector");
    m->to_vector = get_text(&rec, "ToVector");
    if (m->scope == PB_SCOPE_SYSTEM) {
      if (c->system_memory >= 0)
        fault(&rec, 3031, "one memory holds the tensors", "a second memory of scope \"system\"");
      c->system_memory = k;
    }
    pb__check_memory(m, rec.place, r->diag, &r->faults);
  }
  if (c->system_memory < 0) {
    ++r->faults;
    c->system_memory = 0;
    (void)pb_error(r->diag, (pb_place){.file = r->path}, 3030,
                   "let Scope = \"system\" on the memory that tensors live in", "no memory of scope \"system\"");
  }
}

static void read_levels(reader* r) {
  json_t* list = instances(r, "Level");
  pb_chip* c = r->chip;
  c->level_count = (int)json_array_size(list);
  c->levels = PB_NEW_ARRAY(&c->arena, pb_level, (size_t)c->level_count + 1);
  for (int k = 0; k < c->level_count; ++k) {
    static const char* const syncs[] = {"none", "barrier", "tokens"};
    record rec = open_record(r, text_of(json_array_get(list, (size_t)k)));
    c->levels[k] = (pb_level){.name = get_text(&rec, "Name"),
                              .max = get_int32(&rec, "Max", 1),
                              .sync = syncs[choice(&rec, "Sync", syncs, 3)],
                              .sync_cycles = get_int32(&rec, "SyncCycles", 0)};
    if (c->levels[k].max < 1 || c->levels[k].sync_cycles < 0)
      fault(&rec, 3046, "Max of 1 or more, SyncCycles of 0 or more", "Max is %d, SyncCycles is %d", c->levels[k].max,
            c->levels[k].sync_cycles);
  }
}

static void read_queues(reader* r) {
  json_t* tokens = instances(r, "Tokens");
  pb_chip* c = r->chip;
  if (c->control != PB_CONTROL_QUEUES && !json_array_size(tokens)) return;
  if (json_array_size(tokens) != 1) {
    ++r->faults;
    (void)pb_error(r->diag, (pb_place){.file = r->path}, 3040,
                   "def : Tokens { let Queues = [...]; let WaitBit = ...; let SignalBit = ...; }",
                   "%zu records of class Tokens; control by queues needs one", json_array_size(tokens));
    return;
  }
  record rec = open_record(r, json_string_value(json_array_get(tokens, 0)));
  c->tokens_place = keep_place(r, &rec);
  c->wait_bit = get_int32(&rec, "WaitBit", 0);
  c->signal_bit = get_int32(&rec, "SignalBit", 0);
  int bits = 8 * (c->command_bytes < 0                     ? 0
                  : c->command_bytes > PB_COMMAND_BITS / 8 ? PB_COMMAND_BITS / 8
                                                           : c->command_bytes);
  json_t* list = json_object_get(rec.json, "Queues");
  int count = (int)json_array_size(list);
  for (int side = 0; side < 2; ++side) {
    int* bit = side ? &c->signal_bit : &c->wait_bit;
    if (*bit >= 0 && *bit <= bits - count) continue;
    fault(&rec, 3045, "bits inside the command", "%s is %d: %d queues need bits of the command's %d",
          side ? "SignalBit" : "WaitBit", *bit, count, bits);
    *bit = 0;
  }
  c->queue_count = (int)json_array_size(list);
  if (c->queue_count < 1 || c->queue_count > PB_MAX_QUEUES) {
    fault(&rec, 3041, "1 to 16", "%d queues", c->queue_count);
    c->queue_count = c->queue_count < 1 ? 0 : PB_MAX_QUEUES;
  }
  c->queues = PB_NEW_ARRAY(&c->arena, pb_queue, (size_t)c->queue_count + 1);
  for (int k = 0; k < c->queue_count; ++k) {
    record q = open_record(r, get_def(json_array_get(list, (size_t)k)));
    c->queues[k] =
        (pb_queue){.name = keep(r, q.name), .depth = get_int32(&q, "Depth", 1), .tokens = get_int32(&q, "Tokens", 1)};
    check_name(&q, "a queue", c->queues[k].name, 20); // counters are named after it
    if (c->queues[k].depth < 1 || c->queues[k].depth > PB_MOST_TOKENS)
      fault(&q, 3042, "1 to 4095", "Depth is %d", c->queues[k].depth);
    if (c->queues[k].tokens < 1 || c->queues[k].tokens > PB_MOST_TOKENS)
      fault(&q, 3043, "1 to 4095", "Tokens is %d", c->queues[k].tokens);
    for (int j = 0; j < k; ++j)
      if (!strcmp(c->queues[j].name, c->queues[k].name)) fault(&rec, 3047, "once", "queue %s is listed twice", q.name);
  }
  for (size_t k = 0; k < json_array_size(instances(r, "Queue")); ++k) {
    const char* name = text_of(json_array_get(instances(r, "Queue"), k));
    bool listed = false;
    for (int q = 0; q < c->queue_count; ++q) listed |= !strcmp(c->queues[q].name, name);
    record q = open_record(r, name);
    if (!listed) fault(&q, 3044, "add it to Tokens.Queues, or remove it", "a queue that nobody can wait for");
  }
}

// All of the text is one finite number.
static bool read_number(const char* text, double* number) {
  char* end;
  *number = strtod(text, &end);
  return text[0] && !*end && isfinite(*number);
}

static void read_functions(reader* r) {
  json_t* list = instances(r, "Function");
  pb_chip* c = r->chip;
  c->functions = PB_NEW_ARRAY(&c->arena, pb_function, json_array_size(list) + 1);
  for (size_t k = 0; k < json_array_size(list); ++k) {
    record rec = open_record(r, text_of(json_array_get(list, k)));
    pb_function* f = &c->functions[c->function_count++];
    f->name = get_text(&rec, "Name");
    f->table_bits = get_int32(&rec, "TableBits", 6);
    f->degree = get_int32(&rec, "Degree", 2);
    const char* ulp = get_text(&rec, "MaxUlp");
    if (ulp[0] && (!read_number(ulp, &f->max_ulp) || f->max_ulp <= 0))
      fault(&rec, 3053, "a positive number", "MaxUlp is \"%s\"", ulp);
    for (int j = 0; j + 1 < c->function_count; ++j)
      if (!strcmp(c->functions[j].name, f->name)) fault(&rec, 3054, "one of each", "a second Function \"%s\"", f->name);
    if (strcmp(f->name, "exp2") && strcmp(f->name, "recip") && strcmp(f->name, "rsqrt"))
      fault(&rec, 3050, "exp2, recip or rsqrt", "a function named \"%s\"", f->name);
    if (f->table_bits < 2 || f->table_bits > 12) fault(&rec, 3051, "2 to 12", "TableBits is %d", f->table_bits);
    if (f->degree < 1 || f->degree > 4) fault(&rec, 3052, "1 to 4", "Degree is %d", f->degree);
  }
}

static const struct {
  const char* name;
  pb_type type;
} type_names[] = {{"i1", PB_I1},   {"i8", PB_I8},     {"i16", PB_I16}, {"i32", PB_I32},
                  {"f32", PB_F32}, {"bf16", PB_BF16}, {"f16", PB_F16}};

static pb_type read_type(reader* r, const record* rec, const char* field) {
  const char* def = get_def(json_object_get(rec->json, field));
  const char* name = def ? text_of(json_object_get(json_object_get(r->root, def), "Name")) : NULL;
  for (size_t k = 0; name && k < sizeof type_names / sizeof *type_names; ++k)
    if (!strcmp(name, type_names[k].name)) return type_names[k].type;
  fault(rec, 3060, "I1, I8, I16, I32, F32, BF16 or F16", "an element type that is not known");
  return PB_I8;
}

// ---- instructions ----

static int field_named(const record* rec, pb_insn* insn, const char* name, int code, const char* what) {
  int f = pb_insn_field(insn, name);
  if (f < 0) fault(rec, code, "declare it: bits<N> name", "%s names the field '%s', which is not there", what, name);
  return f < 0 ? 0 : f;
}

static bool is_bits(json_t* v) {
  for (size_t k = 0; k < json_array_size(v); ++k)
    if (!json_is_null(json_array_get(v, k)) && !json_is_integer(json_array_get(v, k)) &&
        !json_is_object(json_array_get(v, k)))
      return false;
  return json_is_array(v) && json_array_size(v) > 0;
}

// Fields are the record's own `bits<N>` members; where their bits stand is read off Inst.
static void read_fields(const record* rec, pb_insn* insn) {
  static const char* const not_fields[] = {"Inst", "Dims", "Signed", "State"};
  const char* key;
  json_t* value;
  insn->fields = PB_NEW_ARRAY(&rec->r->chip->arena, pb_field, 33);
  json_object_foreach(rec->json, key, value) {
    bool skip = key[0] == '!' || !is_bits(value) || json_is_object(json_array_get(value, 0));
    for (size_t k = 0; k < 4; ++k) skip |= !strcmp(key, not_fields[k]);
    if (skip) continue;
    if (insn->field_count == 32) {
      fault(rec, 3070, "32 fields at most", "too many fields");
      return;
    }
    pb_field* f = &insn->fields[insn->field_count++];
    check_name(rec, "a field", key, 64);
    *f = (pb_field){
        .name = keep(rec->r, key), .width = (int)json_array_size(value), .state_writer = -1, .state_field = -1};
    memset(f->bits, 0xff, sizeof f->bits);
    if (f->width > 64) {
      fault(rec, 3071, "64 bits at most", "field '%s' has %d bits", key, f->width);
      f->width = 64;
    }
  }
  json_t* names = json_object_get(rec->json, "Signed");
  for (size_t k = 0; k < json_array_size(names); ++k)
    insn->fields[field_named(rec, insn, text_of(json_array_get(names, k)), 3072, "Signed")].is_signed = true;
}

static void read_encoding(const record* rec, pb_insn* insn) {
  json_t* inst = json_object_get(rec->json, "Inst");
  bool opcode = false;
  for (int b = 0; b < PB_COMMAND_BITS; ++b) {
    json_t* bit = json_array_get(inst, (size_t)b);
    if (json_is_integer(bit)) {
      opcode = true;
      insn->fixed_mask[b / 8] |= (uint8_t)(1 << b % 8);
      if (json_integer_value(bit)) insn->fixed_value[b / 8] |= (uint8_t)(1 << b % 8);
    } else if (json_is_object(bit)) {
      const char* var = json_string_value(json_object_get(bit, "var"));
      int f = var ? pb_insn_field(insn, var) : -1;
      int64_t index = json_integer_value(json_object_get(bit, "index"));
      if (f < 0 || index < 0 || index >= insn->fields[f].width) {
        fault(rec, 3073, "let Inst{hi-lo} = field", "bit %d of Inst is of no field", b);
        continue;
      }
      if (insn->fields[f].bits[index] >= 0)
        fault(rec, 3074, NULL, "bit %lld of field '%s' stands twice in Inst", (long long)index, var);
      insn->fields[f].bits[index] = (int16_t)b;
    }
  }
  if (!opcode) fault(rec, 3075, "let Inst{7-0} = 0x..;", "has no fixed bits: it cannot be told from others");
}

static void read_state(const record* rec, pb_insn* insn) {
  json_t* list = json_object_get(rec->json, "State");
  for (size_t k = 0; k < json_array_size(list); ++k) {
    record s = open_record(rec->r, get_def(json_array_get(list, k)));
    int f = field_named(rec, insn, get_text(&s, "Field"), 3076, "State");
    const char* writer = get_text(&s, "Writer");
    const char* writer_field = get_text(&s, "WriterField");
    insn->fields[f].state_writer = -2; // resolved once all instructions are there
    for (int i = 0; i < rec->r->chip->insn_count; ++i)
      if (!strcmp(rec->r->chip->insns[i].name, writer)) {
        insn->fields[f].state_writer = i;
        insn->fields[f].state_field = pb_insn_field(&rec->r->chip->insns[i], writer_field);
      }
    if (insn->fields[f].state_writer < 0 || insn->fields[f].state_field < 0)
      fault(rec, 3077, "an instruction defined above it, and a field of that",
            "state '%s' is written by %s.%s, which is not there", insn->fields[f].name, writer, writer_field);
  }
}

static void read_dims(const record* rec, pb_insn* insn) {
  json_t* list = json_object_get(rec->json, "Dims");
  if (!json_is_array(list)) fault(rec, 3010, "let Dims = [Dim<...>, ...]", "field 'Dims' is not set");
  for (size_t k = 0; k < json_array_size(list); ++k) {
    if (insn->dim_count == PB_MAX_INSN_DIMS) {
      fault(rec, 3078, NULL, "more than %d dims", PB_MAX_INSN_DIMS);
      return;
    }
    record d = open_record(rec->r, get_def(json_array_get(list, k)));
    const char* field = get_text(&d, "Field");
    pb_dim* dim = &insn->dims[insn->dim_count++];
    *dim = (pb_dim){
        .name = get_text(&d, "Name"), .min = get_int32(&d, "Min", 1), .max = get_int32(&d, "Max", 1), .field = -1};
    check_name(rec, "a dim", dim->name, 64);
    if (field[0]) dim->field = field_named(rec, insn, field, 3079, "a dim");
    pb__check_dim(insn, dim, rec->name, rec->place, rec->r->diag, &rec->r->faults);
  }
}

static int dim_named(const record* rec, const pb_insn* insn, const char* name) {
  for (int d = 0; name && d < insn->dim_count; ++d)
    if (!strcmp(insn->dims[d].name, name)) return d;
  fault(rec, 3080, "one of the instruction's Dims", "a window walks the dim '%s', which is not there",
        name ? name : "?");
  return 0;
}

static void read_strides(const record* rec, const record* w, pb_insn* insn, pb_operand* operand) {
  json_t *dims = json_object_get(w->json, "Dims"), *strides = json_object_get(w->json, "Strides");
  operand->rank = (int)json_array_size(dims);
  if (json_array_size(strides) != json_array_size(dims) || operand->rank > PB_MAX_INSN_DIMS) {
    fault(rec, 3081, "one stride for each dim", "window '%s' has %zu dims and %zu strides", operand->name,
          json_array_size(dims), json_array_size(strides));
    operand->rank = 0;
  }
  for (int k = 0; k < operand->rank; ++k) {
    operand->dims[k] = dim_named(rec, insn, json_string_value(json_array_get(dims, (size_t)k)));
    const char* stride = json_string_value(json_array_get(strides, (size_t)k));
    operand->box_lo[k] = operand->box_hi[k] = -1;
    if (!stride) continue;
    if (!strcmp(stride, "elem"))
      operand->strides[k].kind = PB_STRIDE_ELEM;
    else if (!strcmp(stride, "row"))
      operand->strides[k].kind = PB_STRIDE_ROW;
    else if (!strcmp(stride, "none"))
      operand->strides[k].kind = PB_STRIDE_NONE;
    else
      operand->strides[k] = (pb_stride){PB_STRIDE_FIELD, field_named(rec, insn, stride, 3082, "a stride")};
  }
}

static void read_box(const record* rec, const record* w, pb_insn* insn, pb_operand* operand) {
  json_t *lo = json_object_get(w->json, "BoxLo"), *hi = json_object_get(w->json, "BoxHi");
  if (json_array_size(lo) != json_array_size(hi) ||
      (json_array_size(lo) && (int)json_array_size(lo) != operand->rank)) {
    fault(rec, 3083, "one name for each dim in BoxLo and BoxHi", "window '%s' has a box of another rank",
          operand->name);
    return;
  }
  for (size_t k = 0; k < json_array_size(lo); ++k) {
    const char *l = json_string_value(json_array_get(lo, k)), *h = json_string_value(json_array_get(hi, k));
    if (!l || !h || !l[0] || !h[0]) continue;
    operand->box_lo[k] = field_named(rec, insn, l, 3084, "a box");
    operand->box_hi[k] = field_named(rec, insn, h, 3084, "a box");
    operand->has_box = true;
  }
  const char* fill = get_text(w, "Fill");
  if (fill[0]) operand->fill = field_named(rec, insn, fill, 3084, "a box");
}

static void read_window(const record* rec, const record* w, pb_insn* insn, pb_operand* operand) {
  const char* memory = get_def(json_object_get(w->json, "Mem"));
  operand->memory = memory ? pb_chip_memory(rec->r->chip, memory) : -1;
  if (operand->memory < 0) {
    fault(rec, 3085, NULL, "window '%s' is on a memory that is not there", operand->name);
    operand->memory = 0;
  }
  operand->unit = get_int(w, "Unit", 1);
  operand->base = field_named(rec, insn, get_text(w, "Base"), 3086, "a base");
  const char* slot = get_text(w, "Slot");
  if (slot[0]) operand->slot = field_named(rec, insn, slot, 3087, "a slot");
  read_strides(rec, w, insn, operand);
  read_box(rec, w, insn, operand);
}

static void read_registers(const record* rec, const record* w, pb_insn* insn, pb_operand* operand) {
  const char* memory = get_def(json_object_get(w->json, "Mem"));
  operand->memory = memory ? pb_chip_memory(rec->r->chip, memory) : -1;
  if (operand->memory < 0 || rec->r->chip->memories[operand->memory].kind != PB_MEM_REGISTERS) {
    fault(rec, 3110, "a memory of kind \"registers\"", "operand '%s' is in '%s'", operand->name, memory ? memory : "?");
    operand->memory = 0;
  }
  operand->base = -1;
  operand->unit = 1;
  json_t* dims = json_object_get(w->json, "Dims");
  for (size_t k = 0; k < json_array_size(dims) && k < PB_MAX_INSN_DIMS; ++k) {
    operand->dims[operand->rank] = dim_named(rec, insn, text_of(json_array_get(dims, k)));
    operand->strides[operand->rank++] = (pb_stride){PB_STRIDE_ELEM, -1};
  }
}

static void read_rows(const record* rec, const record* w, pb_insn* insn, pb_operand* operand) {
  const pb_chip* chip = rec->r->chip;
  const char* memory = get_def(json_object_get(w->json, "Mem"));
  operand->memory = memory ? pb_chip_memory(chip, memory) : -1;
  if (operand->memory < 0 || chip->memories[operand->memory].scope != PB_SCOPE_SYSTEM) {
    fault(rec, 3112, "the memory of scope \"system\"", "rows '%s' are in '%s'", operand->name, memory ? memory : "?");
    operand->memory = chip->system_memory;
  }
  operand->base = -1;
  operand->unit = 1;
  json_t* dims = json_object_get(w->json, "Dims");
  for (size_t k = 0; k < json_array_size(dims) && k < PB_MAX_INSN_DIMS; ++k) {
    operand->dims[operand->rank] = dim_named(rec, insn, text_of(json_array_get(dims, k)));
    operand->strides[operand->rank++] = (pb_stride){k ? PB_STRIDE_ELEM : PB_STRIDE_ROW, -1};
  }
}

static bool instance_of(json_t* json, const char* class) {
  json_t* supers = json_object_get(json, "!superclasses");
  for (size_t k = 0; k < json_array_size(supers); ++k)
    if (!strcmp(text_of(json_array_get(supers, k)), class)) return true;
  return false;
}

static void read_operands(const record* rec, pb_insn* insn) {
  json_t* args = json_object_get(json_object_get(rec->json, "Operands"), "args");
  if (!args) fault(rec, 3010, "let Operands = (ins Window<...>:$a, ...)", "field 'Operands' is not set");
  for (size_t k = 0; k < json_array_size(args); ++k) {
    if (insn->operand_count == PB_MAX_OPERANDS) {
      fault(rec, 3088, NULL, "more than %d operands", PB_MAX_OPERANDS);
      return;
    }
    json_t* arg = json_array_get(args, k);
    const char *def = get_def(json_array_get(arg, 0)), *name = json_string_value(json_array_get(arg, 1));
    if (!def || !name) {
      fault(rec, 3089, "Window<...>:$name or Imm<...>:$name", "operand %zu has no name or is no window", k);
      continue;
    }
    check_name(rec, "an operand", name, 64);
    record w = open_record(rec->r, def);
    pb_operand* operand = &insn->operands[insn->operand_count++];
    *operand = (pb_operand){
        .name = keep(rec->r, name), .memory = -1, .slot = -1, .fill = -1, .type = read_type(rec->r, &w, "Elem")};
    if (instance_of(w.json, "Window"))
      read_window(rec, &w, insn, operand);
    else if (instance_of(w.json, "Reg"))
      read_registers(rec, &w, insn, operand);
    else if (instance_of(w.json, "Rows"))
      read_rows(rec, &w, insn, operand);
    else
      operand->base = field_named(rec, insn, name, 3090, "an immediate");
  }
}

// ---- semantics and cost: dags to nodes ----

static const struct {
  const char* name;
  pb_op op;
  int args;
} operators[] = {{"add", PB_OP_ADD, 2},         {"sub", PB_OP_SUB, 2},
                 {"mul", PB_OP_MUL, 2},         {"max", PB_OP_MAX, 2},
                 {"min", PB_OP_MIN, 2},         {"sext", PB_OP_SEXT, 1},
                 {"zext", PB_OP_ZEXT, 1},       {"sitofp", PB_OP_SITOFP, 1},
                 {"fptosi8", PB_OP_FPTOSI8, 1}, {"roundeven", PB_OP_ROUNDEVEN, 1},
                 {"exp2", PB_OP_EXP2, 1},       {"recip", PB_OP_RECIP, 1},
                 {"rsqrt", PB_OP_RSQRT, 1},     {"less", PB_OP_LESS, 2},
                 {"select", PB_OP_SELECT, 3},   {"div", PB_OP_DIV, 2},
                 {"sqrt", PB_OP_SQRT, 1},       {"trunc8", PB_OP_TRUNC, 1}};

static int add_node(const record* rec, pb_insn* insn, pb_expr_node node) {
  if (insn->expr_count == PB_MAX_EXPR) {
    fault(rec, 3091, NULL, "semantics of more than %d operations", PB_MAX_EXPR);
    return 0;
  }
  insn->expr[insn->expr_count] = node;
  return insn->expr_count++;
}

static int read_leaf(const record* rec, pb_insn* insn, const char* name) {
  int o = name ? pb_insn_operand(insn, name) : -1;
  if (o < 0) {
    fault(rec, 3092, "one of its operands", "semantics name '$%s', which is no operand", name ? name : "?");
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

// Of `node` with so many values behind it; those that are computed alike must be of one type.
static pb_type result_type(const record* rec, const pb_insn* insn, const pb_expr_node* node, int args) {
  pb_op op = node->op;
  pb_type first = insn->expr[node->args[0]].type, a = args == 3 ? insn->expr[node->args[1]].type : first;
  pb_type b = args > 1 ? insn->expr[node->args[args - 1]].type : a;
  bool f = a == PB_F32;
  if (a != b)
    fault(rec, 3093, "convert one of them: sext, sitofp", "semantics mix %s and %s", pb_type_name(a), pb_type_name(b));
  if (op == PB_OP_SELECT && first != PB_I1)
    fault(rec, 3107, "(less ...) or an Imm<I1>", "select by a value of %s", pb_type_name(first));
  if (op == PB_OP_LESS && !f) fault(rec, 3094, "sitofp first", "a float's operation on %s", pb_type_name(a));
  if (op == PB_OP_LESS) return PB_I1;
  if (op == PB_OP_TRUNC && a != PB_I32) fault(rec, 3094, "sext first", "trunc8 of %s", pb_type_name(a));
  if (op == PB_OP_TRUNC) return PB_I8;
  if (op == PB_OP_SEXT || op == PB_OP_ZEXT) return PB_I32;
  if (op == PB_OP_SITOFP) {
    if (f) fault(rec, 3094, NULL, "sitofp of a float");
    return PB_F32;
  }
  if ((op == PB_OP_FPTOSI8 || op == PB_OP_ROUNDEVEN || op == PB_OP_EXP2 || op == PB_OP_RECIP || op == PB_OP_RSQRT ||
       op == PB_OP_SQRT || op == PB_OP_DIV) &&
      !f)
    fault(rec, 3094, "sitofp first", "a float's operation on %s", pb_type_name(a));
  return op == PB_OP_FPTOSI8 ? PB_I8 : a;
}

// (f32c "0.5"), (i32c 3): a number that the type has.
static int read_constant(const record* rec, pb_insn* insn, pb_type type, json_t* args) {
  json_t* c = json_array_get(json_array_get(args, 0), 0);
  double number = (double)json_integer_value(c);
  bool is_number =
      json_is_integer(c) || (type == PB_F32 && json_is_string(c) && read_number(json_string_value(c), &number));
  bool fits = type == PB_F32 ? fabs(number) <= (double)FLT_MAX : number >= INT32_MIN && number <= INT32_MAX;
  if (json_array_size(args) != 1 || !is_number || !fits)
    fault(rec, 3105, "(f32c \"0.5\"), or (i32c 3)", "a constant that is no %s", pb_type_name(type));
  return add_node(rec, insn,
                  (pb_expr_node){.op = PB_OP_CONST, .type = type, .args = {-1, -1, -1}, .value = fits ? number : 0});
}

static int read_expr(const record* rec, pb_insn* insn, json_t* arg, int depth);

// (lookup $table, index)
static int read_lookup(const record* rec, pb_insn* insn, json_t* args, int depth) {
  const char* name = json_string_value(json_array_get(json_array_get(args, 0), 1));
  int o = name ? pb_insn_operand(insn, name) : -1;
  bool fits = json_array_size(args) == 2 && o >= 0 && insn->operands[o].memory >= 0 && insn->operands[o].rank == 1 &&
              insn->dims[insn->operands[o].dims[0]].field < 0;
  if (!fits) {
    fault(rec, 3125, "(lookup $t, index), $t a window of one dim of fixed extent", "a look-up in no table");
    return 0;
  }
  int index = read_expr(rec, insn, json_array_get(args, 1), depth + 1);
  if (insn->expr_count && insn->expr[index].type != PB_I32)
    fault(rec, 3093, "sext first", "a look-up by an index of %s", pb_type_name(insn->expr[index].type));
  insn->operands[o].read = true;
  insn->dims[insn->operands[o].dims[0]].table = true;
  return add_node(
      rec, insn,
      (pb_expr_node){.op = PB_OP_LOAD, .type = insn->operands[o].type, .args = {index, -1, -1}, .operand = o});
}

static int read_expr(const record* rec, pb_insn* insn, json_t* arg, int depth) {
  json_t* value = json_array_get(arg, 0);
  if (depth > 32) {
    if (depth == 33) fault(rec, 3106, "a value in fewer steps", "semantics nested more than 32 deep");
    return 0;
  }
  if (!json_is_object(value)) return read_leaf(rec, insn, json_string_value(json_array_get(arg, 1)));
  const char* name = get_def(json_object_get(value, "operator"));
  json_t* args = json_object_get(value, "args");
  if (name && (!strcmp(name, "f32c") || !strcmp(name, "i32c"))) {
    return read_constant(rec, insn, name[0] == 'f' ? PB_F32 : PB_I32, args);
  }
  if (name && !strcmp(name, "lookup")) return read_lookup(rec, insn, args, depth);
  for (size_t k = 0; name && k < sizeof operators / sizeof *operators; ++k) {
    if (strcmp(name, operators[k].name)) continue;
    if ((int)json_array_size(args) != operators[k].args) {
      fault(rec, 3095, NULL, "%s takes %d values, not %zu", name, operators[k].args, json_array_size(args));
      return 0;
    }
    pb_expr_node node = {.op = operators[k].op, .args = {-1, -1, -1}};
    for (int a = 0; a < operators[k].args; ++a)
      node.args[a] = read_expr(rec, insn, json_array_get(args, (size_t)a), depth + 1);
    node.type = result_type(rec, insn, &node, operators[k].args);
    return add_node(rec, insn, node);
  }
  fault(
      rec, 3096,
      "add, sub, mul, div, max, min, less, select, sext, zext, trunc8, sitofp, fptosi8, roundeven, sqrt, exp2, recip, "
      "rsqrt, lookup, f32c, i32c",
      "semantics use '%s'", name ? name : "?");
  return 0;
}

static void read_semantics(const record* rec, pb_insn* insn) {
  json_t* dag = json_object_get(rec->json, "Semantics");
  const char* form = get_def(json_object_get(dag, "operator"));
  json_t* args = json_object_get(dag, "args");
  size_t wanted = insn->emit || (form && !strcmp(form, "set")) || json_array_size(args) == 2 ? 2 : 3;
  insn->acc_flag = -1;
  if (!form || (strcmp(form, "set") && strcmp(form, "acc_add") && strcmp(form, "acc_max")) ||
      json_array_size(args) != wanted) {
    fault(rec, 3097, "(set $d, e), (acc_add $d, $flag, e), (acc_add $d, e), or acc_max like these",
          "semantics of no known form");
    return;
  }
  insn->reduce = form[0] == 's' ? PB_SET : !strcmp(form, "acc_add") ? PB_ACC_ADD : PB_ACC_MAX;
  const char* dest = json_string_value(json_array_get(json_array_get(args, 0), 1));
  insn->dest = dest ? pb_insn_operand(insn, dest) : -1;
  if (insn->dest < 0 || insn->operands[insn->dest].memory < 0) {
    fault(rec, 3098, "a window", "semantics write '$%s', which is no window", dest ? dest : "?");
    insn->dest = 0;
  }
  insn->operands[insn->dest].written = true;
  if (wanted == 3) {
    const char* flag = json_string_value(json_array_get(json_array_get(args, 1), 1));
    insn->acc_flag = flag ? pb_insn_operand(insn, flag) : -1;
    if (insn->acc_flag < 0 || insn->operands[insn->acc_flag].type != PB_I1)
      fault(rec, 3099, "Imm<I1>", "the accumulate flag '$%s' is no bit", flag ? flag : "?");
  }
  int value = read_expr(rec, insn, json_array_get(args, wanted - 1), 0);
  if (insn->expr_count && insn->expr[value].type != insn->operands[insn->dest].type)
    fault(rec, 3100, "convert it", "semantics write %s into a window of %s", pb_type_name(insn->expr[value].type),
          pb_type_name(insn->operands[insn->dest].type));
}

static int read_cost(const record* rec, pb_insn* insn, json_t* arg, int depth) {
  json_t* value = json_array_get(arg, 0);
  pb_cost cost = {0};
  const char* name = json_is_object(value) ? get_def(json_object_get(value, "operator")) : NULL;
  static const struct {
    const char* name;
    pb_cost_op op;
  } ops[] = {{"plus", PB_COST_PLUS}, {"times", PB_COST_TIMES}, {"ceildiv", PB_COST_CEILDIV}, {"maximum", PB_COST_MAX}};
  if (json_is_integer(value)) {
    cost = (pb_cost){.op = PB_COST_CONST, .value = json_integer_value(value)};
    if (cost.value < 0) fault(rec, 3104, "0 or more", "cycles name the number %lld", (long long)cost.value);
  } else if (name && depth == 16) {
    fault(rec, 3107, "a sum in fewer steps", "cycles nested more than 16 deep");
  } else if (name) {
    json_t* args = json_object_get(value, "args");
    bool known = false;
    for (size_t k = 0; k < 4; ++k)
      if (!strcmp(ops[k].name, name)) {
        known = true;
        cost.op = ops[k].op;
      }
    if (!known || json_array_size(args) != 2)
      fault(rec, 3101, "plus, times, ceildiv or maximum of two", "cycles use '%s'", name);
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
      fault(rec, 3102, "one of its dims", "cycles name '$%s'", leaf ? leaf : "?");
      cost.value = 0;
    }
  }
  if (insn->cost_count == PB_MAX_EXPR) {
    fault(rec, 3108, NULL, "cycles of more than %d operations", PB_MAX_EXPR);
    return 0;
  }
  insn->cost[insn->cost_count] = cost;
  return insn->cost_count++;
}

static int read_cost_dag(const record* rec, pb_insn* insn, json_t* dag) {
  json_t* wrapped = json_pack("[O, n]", dag);
  int node = read_cost(rec, insn, wrapped, 0);
  json_decref(wrapped);
  return node;
}

static void read_shape(const record* rec, pb_insn* insn) {
  json_t* shape = json_object_get(rec->json, "Shape");
  for (size_t k = 0; k < json_array_size(shape); ++k) {
    if (k == PB_MAX_SHAPE) {
      fault(rec, 3113, NULL, "a Shape of more than %d numbers", PB_MAX_SHAPE);
      return;
    }
    insn->shape[insn->shape_count++] = read_cost_dag(rec, insn, json_array_get(shape, k));
  }
}

// What only a command of a queue has: the queue, its encoding and the state that it reads.
static void read_command(const record* rec, pb_insn* insn) {
  const pb_chip* chip = rec->r->chip;
  const char* queue = get_def(json_object_get(rec->json, "Q"));
  for (int q = 0; queue && q < chip->queue_count; ++q)
    if (!strcmp(chip->queues[q].name, queue)) insn->queue = q;
  if (insn->queue < 0) {
    fault(rec, 3103, "one of Tokens.Queues", "its queue '%s' is not there", queue ? queue : "?");
    insn->queue = 0;
  }
  insn->mover = get_int(rec, "Mover", 0) != 0;
  insn->buffer = get_int(rec, "Buffer", 0);
  read_fields(rec, insn);
  read_encoding(rec, insn);
  read_state(rec, insn);
}

static void read_insn(reader* r, const char* name, pb_insn* insn) {
  record rec = open_record(r, name);
  insn->name = keep(r, name);
  check_name(&rec, "an instruction", insn->name, 64);
  insn->summary = get_text(&rec, "Summary");
  insn->file = r->chip->file;
  insn->line = rec.place.line;
  insn->latency = get_int32(&rec, "Latency", 0);
  insn->queue = -1;
  if (instance_of(rec.json, "CoreInstruction")) {
    insn->emit = get_text(&rec, "Emit");
    if (!insn->emit[0]) fault(&rec, 3111, "the name of an LLVM intrinsic", "field 'Emit' is not set");
  } else {
    read_command(&rec, insn);
  }
  read_dims(&rec, insn);
  read_operands(&rec, insn);
  if (insn->operand_count)
    read_semantics(&rec, insn);
  else
    insn->operands[0].memory = insn->acc_flag = -1; // writes state alone: `dest` names no window
  read_shape(&rec, insn);
  json_t* cycles = json_object_get(rec.json, "Cycles");
  if (!json_is_object(cycles))
    fault(&rec, 3010, "let Cycles = (plus $rows, 4)", "field 'Cycles' is not set");
  else
    read_cost_dag(&rec, insn, cycles);
  pb__check_insn(r->chip, insn, rec.place, r->diag, &r->faults);
}

typedef struct line_of {
  const char* name;
  int line;
  size_t at;
} line_of;

static int by_line(const void* a, const void* b) {
  const line_of *x = a, *y = b;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  return strcmp(x->name, y->name);
}

// tblgen lists records by name; the manual and the numbering follow the file.
static void read_insns(reader* r) {
  json_t *commands = instances(r, "Instruction"), *core = instances(r, "CoreInstruction");
  size_t count = json_array_size(commands), n = count + json_array_size(core);
  line_of* order = PB_NEW_ARRAY(&r->chip->arena, line_of, n + 1);
  for (size_t k = 0; k < n; ++k) {
    const char* name = text_of(k < count ? json_array_get(commands, k) : json_array_get(core, k - count));
    record rec = open_record(r, name);
    order[k] = (line_of){name, rec.place.line, k};
  }
  qsort(order, n, sizeof *order, by_line);
  r->chip->insns = PB_NEW_ARRAY(&r->chip->arena, pb_insn, n + 1);
  for (size_t k = 0; k < n; ++k) {
    pb_insn* insn = &r->chip->insns[k];
    insn->index = (int)k;
    read_insn(r, order[k].name, insn);
    ++r->chip->insn_count;
  }
}

static void read_loop(reader* r) {
  json_t* names = instances(r, "HardwareLoop");
  if (!json_array_size(names)) return;
  record rec = open_record(r, text_of(json_array_get(names, 0)));
  if (json_array_size(names) > 1) fault(&rec, 3120, NULL, "a second HardwareLoop");
  if (r->chip->control != PB_CONTROL_QUEUES) fault(&rec, 3121, NULL, "a HardwareLoop repeats commands of queues");
  pb_insn* loop = r->chip->loop = PB_NEW(&r->chip->arena, pb_insn);
  loop->name = keep(r, text_of(json_array_get(names, 0)));
  check_name(&rec, "the loop", loop->name, 64);
  loop->summary = "";
  loop->file = r->chip->file;
  loop->line = rec.place.line;
  loop->index = loop->queue = loop->acc_flag = loop->operands[0].memory = -1;
  read_fields(&rec, loop);
  read_encoding(&rec, loop);
  r->chip->loop_turns = field_named(&rec, loop, get_text(&rec, "Turns"), 3122, "Turns");
  r->chip->loop_body = field_named(&rec, loop, get_text(&rec, "Body"), 3122, "Body");
  int64_t most = get_int(&rec, "MaxBody", 0);
  if (most < 1 || most > PB_MAX_LOOP_BODY)
    fault(&rec, 3123, "1 to 32", "MaxBody is %lld", (long long)most);
  else if (!r->faults && most > pb_field_max(&loop->fields[r->chip->loop_body]))
    fault(&rec, 3124, "widen the field, or lower MaxBody", "MaxBody is %lld, its field '%s' goes to %lld",
          (long long)most, loop->fields[r->chip->loop_body].name,
          (long long)pb_field_max(&loop->fields[r->chip->loop_body]));
  r->chip->loop_most = (int)most;
}

static pb_status read_json(reader* r, const char* text) {
  json_error_t error;
  r->root = json_loads(text, 0, &error);
  if (!r->root || !json_is_object(r->root)) {
    json_decref(r->root);
    return pb_error(r->diag, (pb_place){.file = r->path}, 3005, NULL, "not a description: %s",
                    r->root ? "not an object" : error.text);
  }
  read_chip_record(r);
  read_memories(r);
  read_levels(r);
  read_queues(r);
  read_functions(r);
  if (!r->faults || r->chip->queue_count) read_insns(r);
  read_loop(r);
  if (!r->faults) pb__check_chip(r->chip, r->diag, &r->faults);
  json_decref(r->root);
  return r->faults ? PB_ERR_INPUT : PB_OK;
}

pb_status pb_chip_from_json(const char* text, const char* path, const char* variant, pb_diag* diag, pb_chip** chip) {
  pb_chip* c = calloc(1, sizeof *c);
  if (!c) return PB_ERR_SYSTEM;
  c->file = pb_strdup(&c->arena, path);
  c->variant = pb_strdup(&c->arena, variant ? variant : "");
  c->json = pb_strdup(&c->arena, text);
  reader r = {.chip = c, .diag = diag, .path = c->file};
  pb_status status = read_json(&r, text);
  if (status == PB_OK) {
    pb__chip_hash(c);
    *chip = c;
  } else {
    pb_chip_free(c);
  }
  return status;
}

pb_status pb_chip_read(const char* path, const char* variant, pb_diag* diag, pb_chip** chip) {
  char* json;
  PB_TRY(pb__tblgen_run(path, variant, diag, &json));
  pb_status status = pb_chip_from_json(json, path, variant, diag, chip);
  free(json);
  return status;
}
