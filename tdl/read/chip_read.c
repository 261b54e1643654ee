// tblgen's JSON to a pb_chip. Every fault is reported with the record's place; reading goes on to find more.
#include "tdl/read/chip_read.h"

#include "tdl/check/check.h"
#include "tdl/read/tblgen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pb__fault(const record* rec, int code, const char* hint, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  ++rec->r->faults;
  (void)pb_error(rec->r->diag, rec->place, code, hint, "%s: %s", rec->name, text);
}

// "file:line" as tblgen gives it; the file is relative to where it was found.
record pb__open_record(reader* r, const char* name) {
  record rec = {.r = r, .json = json_object_get(r->root, name), .name = name ? name : "?", .place = {.file = r->path}};
  const char* where = json_string_value(json_array_get(json_object_get(rec.json, "!locs"), 0));
  const char* colon = where ? strrchr(where, ':') : NULL;
  if (colon) {
    rec.place.line = atoi(colon + 1);
    rec.place.column = 1;
  }
  const char* said = json_string_value(json_object_get(rec.json, "Name")); // of a chip, if its record has no name
  if (json_is_true(json_object_get(rec.json, "!anonymous"))) rec.name = said && *said ? said : "an unnamed record";
  return rec;
}

const char* pb__keep(reader* r, const char* text) { return pb_strdup(&r->chip->arena, text ? text : ""); }

int64_t pb__get_int(const record* rec, const char* field, int64_t missing) {
  json_t* v = json_object_get(rec->json, field);
  if (json_is_integer(v)) return json_integer_value(v);
  if (v && !json_is_null(v))
    pb__fault(rec, 3011, "write a number", "field '%s' is not an integer", field);
  else
    pb__fault(rec, 3010, "every field without a default must be given", "field '%s' is not set", field);
  return missing;
}

int pb__get_int32(const record* rec, const char* field, int missing) {
  int64_t value = pb__get_int(rec, field, missing);
  if (value >= INT32_MIN && value <= INT32_MAX) return (int)value;
  pb__fault(rec, 3013, "32 bits with sign", "field '%s' is %lld", field, (long long)value);
  return missing;
}

const char* pb__get_text(const record* rec, const char* field) {
  json_t* v = json_object_get(rec->json, field);
  if (json_is_string(v)) return pb__keep(rec->r, json_string_value(v));
  pb__fault(rec, 3010, "every field without a default must be given", "field '%s' is not set", field);
  return "";
}

const char* pb__text_of(json_t* v) { return json_is_string(v) ? json_string_value(v) : ""; }

const char* pb__get_def(json_t* v) {
  json_t* def = json_object_get(v, "def");
  return json_is_string(def) ? json_string_value(def) : NULL;
}

json_t* pb__instances(reader* r, const char* class) {
  return json_object_get(json_object_get(r->root, "!instanceof"), class);
}

int pb__choice(const record* rec, const char* field, const char* const* names, int count) {
  const char* text = pb__get_text(rec, field);
  for (int k = 0; k < count; ++k)
    if (!strcmp(text, names[k])) return k;
  char all[128] = "one of";
  for (int k = 0; k < count; ++k) {
    strncat(all, k ? ", " : " ", sizeof all - strlen(all) - 1);
    strncat(all, names[k], sizeof all - strlen(all) - 1);
  }
  if (json_is_string(json_object_get(rec->json, field))) // what is not set has been said
    pb__fault(rec, 3012, all, "field '%s' is \"%s\"", field, text);
  return 0;
}

void pb__name(const record* rec, const char* what, const char* name, size_t most) {
  pb__check_name(what, name, most, rec->place, rec->r->diag, &rec->r->faults);
}

pb_place pb__keep_place(reader* r, const record* rec) {
  pb_place place = rec->place;
  place.file = pb__keep(r, place.file);
  return place;
}

// What plans count; an engine of before has none.
static int counted_cycles(const record* rec, const char* field, int before) {
  int cycles = json_object_get(rec->json, field) ? pb__get_int32(rec, field, before) : before;
  if (cycles < 0 || cycles > PB_MOST_LATENCY) pb__fault(rec, 3398, "0 to 1048576", "%s is %d", field, cycles);
  return cycles;
}

// Descriptions that engines carry may be older than the field.
static void read_converts(const record* rec, pb_chip* c) {
  json_t* list = json_object_get(rec->json, "Converts");
  for (size_t k = 0; k < json_array_size(list); ++k) {
    const char* name = pb__text_of(json_array_get(list, k));
    bool known = false;
    for (int t = 0; t < PB_NARROW_TYPES; ++t) {
      if (pb_type_bits(pb_narrow_type(t)) != 16 || strcmp(name, pb_type_name(pb_narrow_type(t))) != 0) continue;
      c->converts[t] = known = true;
    }
    if (!known) pb__fault(rec, 3397, "f16, bf16", "Converts lists \"%s\"", name);
  }
}

static void read_chip_record(reader* r) {
  json_t* list = pb__instances(r, "Chip");
  pb_chip* c = r->chip;
  if (json_array_size(list) != 1) {
    ++r->faults;
    (void)pb_error(r->diag, (pb_place){.file = r->path}, 3020, "def mychip : Chip { ... }",
                   "%zu records of class Chip; there must be one", json_array_size(list));
    return;
  }
  static const char* const controls[] = {"threads", "grid", "queues"};
  static const char* const tunings[] = {"none", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
  record rec = pb__open_record(r, pb__text_of(json_array_get(list, 0)));
  c->place = pb__keep_place(r, &rec);
  c->name = pb__get_text(&rec, "Name");
  c->summary = pb__get_text(&rec, "Summary");
  c->features = json_object_get(rec.json, "Features") ? pb__get_text(&rec, "Features") : "";
  read_converts(&rec, c);
  c->root_estimate = json_object_get(rec.json, "RootEstimate") ? pb__get_text(&rec, "RootEstimate") : "";
  int tuning = json_object_get(rec.json, "Tuning") ? pb__choice(&rec, "Tuning", tunings, 4) : 0;
  c->tuning = tuning ? tunings[tuning] : "";
  if (json_is_string(json_object_get(rec.json, "Name"))) pb__name(&rec, "the chip", c->name, 64);
  c->revision = pb__get_int32(&rec, "Revision", 0);
  c->mhz = pb__get_int32(&rec, "MHz", 1000);
  if (c->revision < 0) pb__fault(&rec, 3023, "0 or more", "Revision is %d", c->revision);
  if (c->mhz < 1) pb__fault(&rec, 3024, "1 or more", "MHz is %d", c->mhz);
  c->arguments = pb__get_int32(&rec, "Arguments", 16);
  c->command_bytes = pb__get_int32(&rec, "CommandBytes", 0);
  c->command_port = pb__get_int(&rec, "CommandPort", 0) != 0;
  c->token_cycles = counted_cycles(&rec, "TokenCycles", 2);
  c->start_cycles = counted_cycles(&rec, "StartCycles", 6);
  c->stage_cycles = counted_cycles(&rec, "StageCycles", 40);
  c->branch_cycles = counted_cycles(&rec, "BranchCycles", 20);
  c->load_cycles = counted_cycles(&rec, "LoadCycles", 1);
  c->control = (pb_control)pb__choice(&rec, "Control", controls, 3);
  int64_t schema = pb__get_int(&rec, "Schema", 1);
  if (schema != 1) pb__fault(&rec, 3021, "this pb reads schema 1", "written for schema %lld", (long long)schema);
  json_t* variants = json_object_get(rec.json, "Variants");
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  bool known = c->variant[0] == 0;
  c->variants = PB_NEW_ARRAY(&c->arena, const char*, json_array_size(variants) + 1);
  for (size_t k = 0; k < json_array_size(variants); ++k) {
    const char* name = pb__keep(r, pb__text_of(json_array_get(variants, k)));
    c->variants[c->variant_count++] = name;
    if (strlen(name) > 32 || name[strspn(name, letters)] || !name[0])
      pb__fault(&rec, 3025, "letters, digits and '_', 32 at most", "a variant is named \"%s\"", name);
    for (size_t other = 0; other < k; ++other)
      if (!strcmp(c->variants[other], name))
        pb__fault(&rec, 3026, "each variant once", "Variants lists \"%s\" twice", name);
    known |= !strcmp(pb__text_of(json_array_get(variants, k)), c->variant);
  }
  if (known) return;
  const char* hint = c->variant_count ? "its variants: " : "list it in Variants";
  for (int k = 0; k < c->variant_count && k < 16; ++k)
    hint = pb_printf(&c->arena, "%s%s%s", hint, k ? ", " : "", c->variants[k]);
  pb__fault(&rec, 3022, hint, "has no variant '%s'", c->variant);
}

static bool is_faster(const pb_chip* c, int one, int other) {
  const pb_memory *a = &c->memories[c->constant_memories[one]], *b = &c->memories[c->constant_memories[other]];
  if (a->bytes_per_cycle != b->bytes_per_cycle) return a->bytes_per_cycle > b->bytes_per_cycle;
  return a->place.line < b->place.line;
}

// Numbers of the memories of constants by their rates, of equal ones as they stand in the file.
static void order_constants(pb_chip* c) {
  for (int k = 0; k < c->constant_memory_count; ++k) {
    int at = k;
    for (; at && is_faster(c, k, c->fastest_constants[at - 1]); --at)
      c->fastest_constants[at] = c->fastest_constants[at - 1];
    c->fastest_constants[at] = k;
  }
}

static void read_memories(reader* r) {
  static const char* const kinds[] = {"addressed", "registers", "shadow", "fifo"};
  static const char* const scopes[] = {"system", "constants", "chip", "core", "thread"};
  json_t* list = pb__instances(r, "Memory");
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
    record rec = pb__open_record(r, pb__text_of(json_array_get(list, (size_t)k)));
    pb_memory* m = &c->memories[k];
    m->name = pb__keep(r, rec.name);
    m->place = pb__keep_place(r, &rec);
    pb__name(&rec, "a memory", m->name, 64);
    m->kind = (pb_memory_kind)pb__choice(&rec, "Kind", kinds, 4);
    m->scope = (pb_scope)pb__choice(&rec, "Scope", scopes, 5);
    m->bytes = pb__get_int(&rec, "Bytes", 1);
    m->row_bytes = pb__get_int(&rec, "RowBytes", 1);
    m->bytes_per_cycle = pb__get_int(&rec, "BytesPerCycle", 1);
    m->line_bytes = pb__get_int(&rec, "LineBytes", 0);
    m->sector_bytes = pb__get_int(&rec, "SectorBytes", 0);
    m->banks = pb__get_int32(&rec, "Banks", 1);
    m->ports = pb__get_int32(&rec, "Ports", 1);
    m->latency = pb__get_int32(&rec, "Latency", 0);
    m->apart_cycles = pb__get_int32(&rec, "ApartCycles", 0);
    m->same_at_once = pb__get_int32(&rec, "SameAtOnce", 1);
    m->each_at_once = pb__get_int32(&rec, "EachAtOnce", 1);
    m->cached = pb__get_int(&rec, "Cached", 0) != 0;
    m->ways = json_object_get(rec.json, "Ways") ? pb__get_int32(&rec, "Ways", 1) : 1;
    m->value = pb__get_text(&rec, "Value");
    m->from_vector = pb__get_text(&rec, "FromVector");
    m->to_vector = pb__get_text(&rec, "ToVector");
    if (m->scope == PB_SCOPE_SYSTEM) {
      if (c->system_memory >= 0)
        pb__fault(&rec, 3031, "one memory holds the tensors", "a second memory of scope \"system\"");
      c->system_memory = k;
    }
    if (m->scope == PB_SCOPE_CONSTANTS) {
      if (c->constant_memory_count < PB_MAX_CONSTANT_MEMORIES)
        c->constant_memories[c->constant_memory_count++] = k;
      else
        pb__fault(&rec, 3034, NULL, "more than %d memories of scope \"constants\"", PB_MAX_CONSTANT_MEMORIES);
    }
    pb__check_memory(m, rec.place, r->diag, &r->faults);
  }
  order_constants(c);
  if (c->system_memory < 0) {
    ++r->faults;
    c->system_memory = 0;
    (void)pb_error(r->diag, (pb_place){.file = r->path}, 3030,
                   "let Scope = \"system\" on the memory that tensors live in", "no memory of scope \"system\"");
  }
}

// A chip with queues has one level at most: its cores.
static void read_cores(const record* rec, pb_chip* c, const pb_level* level) {
  if (c->level_count > 1)
    pb__fault(rec, 3048, "one level: the cores", "%d levels of a chip with queues", c->level_count);
  if (strcmp(level->sync, "none") || level->sync_cycles)
    pb__fault(rec, 3049, "let Sync = \"none\", and no SyncCycles",
              "cores with queues wait for each other where a kernel ends, by nothing of their own");
  if (level->max > 0) c->cores = level->max;
}

static void read_levels(reader* r) {
  json_t* list = pb__instances(r, "Level");
  pb_chip* c = r->chip;
  c->level_count = (int)json_array_size(list);
  c->levels = PB_NEW_ARRAY(&c->arena, pb_level, (size_t)c->level_count + 1);
  for (int k = 0; k < c->level_count; ++k) {
    static const char* const syncs[] = {"none", "barrier", "tokens"};
    record rec = pb__open_record(r, pb__text_of(json_array_get(list, (size_t)k)));
    c->levels[k] = (pb_level){.name = pb__get_text(&rec, "Name"),
                              .max = pb__get_int32(&rec, "Max", 1),
                              .sync = syncs[pb__choice(&rec, "Sync", syncs, 3)],
                              .sync_cycles = pb__get_int32(&rec, "SyncCycles", 0),
                              .busy = pb__get_int32(&rec, "Busy", 0)};
    if (c->levels[k].max < 1 || c->levels[k].sync_cycles < 0)
      pb__fault(&rec, 3046, "Max of 1 or more, SyncCycles of 0 or more", "Max is %d, SyncCycles is %d",
                c->levels[k].max, c->levels[k].sync_cycles);
    if (c->levels[k].busy < 0 || c->levels[k].busy > c->levels[k].max)
      pb__fault(&rec, 3398, "from 0 to Max", "Busy is %d, Max is %d", c->levels[k].busy, c->levels[k].max);
    if (c->control == PB_CONTROL_QUEUES) read_cores(&rec, c, &c->levels[k]);
  }
}

// Movers of each core that runs code, as they stand in the file.
static void read_core_movers(reader* r) {
  json_t* list = pb__instances(r, "CoreMover");
  pb_chip* c = r->chip;
  c->core_movers = PB_NEW_ARRAY(&c->arena, pb_core_mover, json_array_size(list) + 1);
  for (size_t k = 0; k < json_array_size(list) && k < PB_MAX_CORE_MOVERS; ++k) {
    record rec = pb__open_record(r, pb__text_of(json_array_get(list, k)));
    const char* near = pb__get_def(json_object_get(rec.json, "Near"));
    pb_core_mover mover = {.name = pb__keep(r, rec.name),
                           .place = pb__keep_place(r, &rec),
                           .near = near ? pb_chip_memory(c, near) : -1,
                           .in = pb__get_int(&rec, "In", 1) != 0,
                           .out = pb__get_int(&rec, "Out", 1) != 0,
                           .loops = pb__get_int32(&rec, "Loops", 2),
                           .depth = pb__get_int32(&rec, "Depth", 1),
                           .start_cycles = pb__get_int32(&rec, "StartCycles", 0)};
    int at = c->core_mover_count++;
    for (; at && c->core_movers[at - 1].place.line > mover.place.line; --at)
      c->core_movers[at] = c->core_movers[at - 1];
    c->core_movers[at] = mover;
    pb__name(&rec, "a mover", mover.name, 64);
    pb__check_core_mover(c, &mover, r->diag, &r->faults);
  }
  if (json_array_size(list) > PB_MAX_CORE_MOVERS)
    pb__fault(&(record){.r = r, .name = c->name, .place = c->place}, 3401, NULL, "%zu movers of a core, more than %d",
              json_array_size(list), PB_MAX_CORE_MOVERS);
}

// Threads are the one level of a chip whose code they share.
static void check_threads(reader* r) {
  pb_chip* c = r->chip;
  if (c->control != PB_CONTROL_THREADS || c->level_count == 1) return;
  pb__fault(&(record){.r = r, .name = c->name, .place = c->place}, 3399,
            "def THREAD : Level { let Name = \"thread\"; let Max = 64; let Sync = \"barrier\"; }",
            "%d levels of a chip whose code threads share; they are its one level", c->level_count);
}

// What each core has is in its own memories: none but those outside are seen by two.
static void check_scopes(reader* r) {
  json_t* list = pb__instances(r, "Memory");
  pb_chip* c = r->chip;
  for (int k = 0; k < c->memory_count && c->cores > 1; ++k) {
    record rec = pb__open_record(r, pb__text_of(json_array_get(list, (size_t)k)));
    if (!pb_is_outside(&c->memories[k]) && c->memories[k].scope != PB_SCOPE_CORE)
      pb__fault(&rec, 3033, "let Scope = \"core\": each core has its own", "a memory that %d cores share", c->cores);
  }
}

// All of the text is one finite number.
bool pb__read_number(const char* text, double* number) {
  char* end;
  *number = strtod(text, &end);
  return text[0] && !*end && isfinite(*number);
}

static void read_functions(reader* r) {
  json_t* list = pb__instances(r, "Function");
  pb_chip* c = r->chip;
  c->functions = PB_NEW_ARRAY(&c->arena, pb_function, json_array_size(list) + 1);
  for (size_t k = 0; k < json_array_size(list); ++k) {
    record rec = pb__open_record(r, pb__text_of(json_array_get(list, k)));
    pb_function* f = &c->functions[c->function_count++];
    f->name = pb__get_text(&rec, "Name");
    f->table_bits = pb__get_int32(&rec, "TableBits", 6);
    f->degree = pb__get_int32(&rec, "Degree", 2);
    const char* ulp = pb__get_text(&rec, "MaxUlp");
    if (ulp[0] && (!pb__read_number(ulp, &f->max_ulp) || f->max_ulp <= 0))
      pb__fault(&rec, 3053, "a positive number", "MaxUlp is \"%s\"", ulp);
    for (int j = 0; j + 1 < c->function_count; ++j)
      if (!strcmp(c->functions[j].name, f->name))
        pb__fault(&rec, 3054, "one of each", "a second Function \"%s\"", f->name);
    if (strcmp(f->name, "exp2") && strcmp(f->name, "recip") && strcmp(f->name, "rsqrt"))
      pb__fault(&rec, 3050, "exp2, recip or rsqrt", "a function named \"%s\"", f->name);
    if (f->table_bits < 2 || f->table_bits > 12) pb__fault(&rec, 3051, "2 to 12", "TableBits is %d", f->table_bits);
    if (f->degree < 1 || f->degree > 4) pb__fault(&rec, 3052, "1 to 4", "Degree is %d", f->degree);
  }
}

// Those that descriptions have; their names are the compiler's.
static const pb_type types[] = {PB_I1, PB_I4, PB_I8, PB_I16, PB_I32, PB_F32, PB_BF16, PB_F16, PB_E4M3, PB_E5M2};

pb_type pb__read_type(reader* r, const record* rec, const char* field) {
  const char* def = pb__get_def(json_object_get(rec->json, field));
  const char* name = def ? pb__text_of(json_object_get(json_object_get(r->root, def), "Name")) : NULL;
  for (size_t k = 0; name && k < sizeof types / sizeof *types; ++k)
    if (!strcmp(name, pb_type_name(types[k]))) return types[k];
  pb__fault(rec, 3060, "I1, I4, I8, I16, I32, F32, BF16, F16, F8E4M3 or F8E5M2", "an element type that is not known");
  return PB_I8;
}

// ---- instructions ----

bool pb__instance_of(json_t* json, const char* class) {
  json_t* supers = json_object_get(json, "!superclasses");
  for (size_t k = 0; k < json_array_size(supers); ++k)
    if (!strcmp(pb__text_of(json_array_get(supers, k)), class)) return true;
  return false;
}

// What only a command of a queue has: the queue, its encoding and the state that it reads.
static void read_command(const record* rec, pb_insn* insn) {
  const pb_chip* chip = rec->r->chip;
  const char* queue = pb__get_def(json_object_get(rec->json, "Q"));
  for (int q = 0; queue && q < chip->queue_count; ++q)
    if (!strcmp(chip->queues[q].name, queue)) insn->queue = q;
  if (insn->queue < 0) {
    pb__fault(rec, 3103, "one of Tokens.Queues", "its queue '%s' is not there", queue ? queue : "?");
    insn->queue = 0;
  }
  insn->mover = pb__get_int(rec, "Mover", 0) != 0;
  insn->buffer = pb__get_int(rec, "Buffer", 0);
  insn->beside = json_object_get(rec->json, "Beside") && pb__get_int(rec, "Beside", 0) != 0;
  pb__read_fields(rec, insn);
  pb__read_state(rec, insn);
  const char* cores = json_object_get(rec->json, "Broadcast") ? pb__get_text(rec, "Broadcast") : "";
  if (cores[0]) insn->broadcast = pb__field_named(rec, insn, cores, 3379, "Broadcast");
}

static void read_insn(reader* r, const char* name, pb_insn* insn) {
  record rec = pb__open_record(r, name);
  insn->name = pb__keep(r, name);
  pb__name(&rec, "an instruction", insn->name, 64);
  insn->summary = pb__get_text(&rec, "Summary");
  insn->file = r->chip->file;
  insn->line = rec.place.line;
  insn->latency = pb__get_int32(&rec, "Latency", 0);
  insn->queue = insn->unit = insn->state_of = insn->broadcast = -1;
  insn->units = 1;
  if (pb__instance_of(rec.json, "CoreInstruction")) {
    insn->units = pb__get_int32(&rec, "Units", 1);
    insn->adds = pb__get_int32(&rec, "Adds", 1) != 0;
    insn->emit = pb__get_text(&rec, "Emit");
    insn->options = pb__get_text(&rec, "Options");
    if (insn->options[strspn(insn->options, "0123456789 ")])
      pb__fault(&rec, 3111, "\"1 1 0\"", "field 'Options' has more than numbers");
    if (!insn->emit[0]) pb__fault(&rec, 3111, "the name of an LLVM intrinsic", "field 'Emit' is not set");
  } else {
    read_command(&rec, insn);
  }
  pb__read_dims(&rec, insn);
  pb__read_operands(&rec, insn);
  if (insn->operand_count)
    pb__read_semantics(&rec, insn);
  else
    insn->operands[0].memory = insn->acc_flag = -1; // writes state alone: `dest` names no window
  pb__read_shape(&rec, insn);
  json_t* cycles = json_object_get(rec.json, "Cycles");
  if (!json_is_object(cycles))
    pb__fault(&rec, 3010, "let Cycles = (plus $rows, 4)", "field 'Cycles' is not set");
  else
    pb__read_cycles(&rec, insn, cycles);
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

// Each queue is a unit, and has one more where commands go on beside others.
static void number_units(pb_chip* c) {
  int of[PB_CORE_QUEUES] = {0};
  c->unit_count = c->queue_count;
  for (int i = 0; i < c->insn_count; ++i) {
    pb_insn* insn = &c->insns[i];
    insn->unit = insn->queue;
    if (!insn->beside || insn->queue < 0) continue;
    if (!of[insn->queue]) of[insn->queue] = c->unit_count++;
    insn->unit = of[insn->queue];
  }
}

// tblgen lists records by name; the manual and the numbering follow the file.
static void read_insns(reader* r) {
  json_t *commands = pb__instances(r, "Instruction"), *core = pb__instances(r, "CoreInstruction");
  size_t count = json_array_size(commands), n = count + json_array_size(core);
  line_of* order = PB_NEW_ARRAY(&r->chip->arena, line_of, n + 1);
  for (size_t k = 0; k < n; ++k) {
    const char* name = pb__text_of(k < count ? json_array_get(commands, k) : json_array_get(core, k - count));
    record rec = pb__open_record(r, name);
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
  number_units(r->chip);
}

static void read_loop(reader* r) {
  json_t* names = pb__instances(r, "HardwareLoop");
  if (!json_array_size(names)) return;
  record rec = pb__open_record(r, pb__text_of(json_array_get(names, 0)));
  if (json_array_size(names) > 1) pb__fault(&rec, 3120, NULL, "a second HardwareLoop");
  if (r->chip->control != PB_CONTROL_QUEUES) pb__fault(&rec, 3121, NULL, "a HardwareLoop repeats commands of queues");
  pb_insn* loop = r->chip->loop = PB_NEW(&r->chip->arena, pb_insn);
  loop->name = pb__keep(r, pb__text_of(json_array_get(names, 0)));
  pb__name(&rec, "the loop", loop->name, 64);
  loop->summary = "";
  loop->file = r->chip->file;
  loop->line = rec.place.line;
  loop->index = loop->queue = loop->state_of = loop->acc_flag = loop->operands[0].memory = loop->broadcast = -1;
  pb__read_fields(&rec, loop);
  r->chip->loop_iterations = pb__field_named(&rec, loop, pb__get_text(&rec, "Turns"), 3122, "Turns");
  r->chip->loop_body = pb__field_named(&rec, loop, pb__get_text(&rec, "Body"), 3122, "Body");
  int64_t most = pb__get_int(&rec, "MaxBody", 0);
  if (most < 1 || most > PB_MAX_LOOP_BODY)
    pb__fault(&rec, 3123, "1 to 32", "MaxBody is %lld", (long long)most);
  else if (!r->faults && most > pb_field_max(&loop->fields[r->chip->loop_body]))
    pb__fault(&rec, 3124, "widen the field, or lower MaxBody", "MaxBody is %lld, its field '%s' goes to %lld",
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
  r->chip->cores = 1;
  read_levels(r);
  pb__read_grid(r);
  check_scopes(r);
  pb__read_queues(r);
  read_functions(r);
  read_core_movers(r);
  if (!r->faults || r->chip->queue_count) read_insns(r);
  read_loop(r);
  pb__read_formulas(r);
  if (!r->faults) pb__find_semaphore_insns(r->chip, r->diag, &r->faults);
  if (!r->faults) pb__find_sure_semaphores(r->chip);
  if (!r->faults) pb__check_chip(r->chip, r->diag, &r->faults);
  if (!r->faults) check_threads(r);
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
