#include "program.h"

#include "targets/control/queues/machine/machine.h"
#include "targets/control/queues/reroll.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void program_init(program* p, const pb_chip* chip) {
  memset(p, 0, sizeof *p);
  p->chip = chip;
}

void program_free(program* p) { free(p->commands); }

pb_command* program_add(program* p, const char* insn, const field_value* values) {
  if (p->count == p->capacity) {
    p->capacity = p->capacity ? 2 * p->capacity : 64;
    p->commands = realloc(p->commands, (size_t)p->capacity * sizeof *p->commands);
  }
  pb_command* command = &p->commands[p->count++];
  memset(command, 0, sizeof *command);
  command->insn = pb_chip_insn(p->chip, insn);
  assert(command->insn);
  for (; values->field; ++values) {
    int field = pb_insn_field(command->insn, values->field);
    assert(field >= 0);
    command->values[field] = values->value;
  }
  return command;
}

int64_t command_field(const pb_command* command, const char* name) {
  int field = pb_insn_field(command->insn, name);
  return field < 0 ? 0 : command->values[field];
}

// Ranges ------------------------------------------------------------------------------------------------------------

static int64_t row_bytes(const pb_chip* chip, place where) {
  static const char* const names[PLACES] = {"DRAM", "SPAD", "ACC", "WREG"};
  return chip->memories[pb_chip_memory(chip, names[where])].row_bytes;
}

static access range(place where, bool written, int64_t base, int64_t span, int64_t last) {
  return (access){where, written, base, base + span + last};
}

static int64_t steps(const pb_command* c, const char* i, const char* j) {
  return (command_field(c, "ni") - 1) * command_field(c, i) + (command_field(c, "nj") - 1) * command_field(c, j);
}

// ni x nj rows of `where` from the row in field `base`.
static access rows(const pb_chip* chip, const pb_command* c, place where, bool written, const char* base, const char* i,
                   const char* j) {
  int64_t unit = row_bytes(chip, where);
  return range(where, written, command_field(c, base) * unit, steps(c, i, j) * unit, unit);
}

static access row(const pb_chip* chip, const pb_command* c, place where, bool written, const char* base) {
  int64_t unit = row_bytes(chip, where);
  return range(where, written, command_field(c, base) * unit, 0, unit);
}

static int move_accesses(const pb_command* c, const uint64_t* args, access* out) {
  const char* name = c->insn->name;
  place local = name[2] == 'A' ? IN_ACC : IN_SPAD; // LDSn, LDRn, LDAn; STS, STA
  bool store = name[0] == 'S';
  int64_t len = command_field(c, "nb") * (local == IN_ACC ? 4 : 1);
  out[0] = range(local, !store, command_field(c, "loc"), steps(c, "li", "lj"), len);
  out[1] = range(IN_DRAM, store, (int64_t)args[command_field(c, "arg")] + command_field(c, "off"), steps(c, "si", "sj"),
                 len);
  return 2;
}

enum { TABLE_BYTES = 4 * 256 };

static bool starts(const char* name, const char* prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

static bool among(const char* name, const char* const* names, int count) {
  for (int k = 0; k < count; ++k)
    if (strcmp(name, names[k]) == 0) return true;
  return false;
}

bool command_on_codes(const pb_command* command, bool y) {
  static const char* const reads[] = {"VADDQ",  "VMAXQ",  "VSUMQ", "VDQ",   "VLUT",   "VLUTQ",
                                      "VRMAXQ", "VRSUMQ", "VRSQQ", "VRLUT", "VBELOW", "VSUBQ"};
  static const char* const writes[] = {"VRQ", "VADDQ", "VQ", "VMAXQ", "VLUT", "VLUTQ", "VBELOW", "VNQ"};
  const char* name = command->insn->name;
  return y ? among(name, writes, sizeof writes / sizeof *writes) : among(name, reads, sizeof reads / sizeof *reads);
}

int command_line(const pb_command* command) { return command->insn->name[3] - '0'; }
int command_window_step(const pb_command* command) { return command->insn->name[4] ? 2 : 1; }

int command_accesses(const pb_chip* chip, const uint64_t* args, const pb_command* c, access* out) {
  const char* name = c->insn->name;
  int64_t lanes = row_bytes(chip, IN_SPAD), bank = lanes * lanes;
  int n = 0;
  if (starts(name, "LD") || starts(name, "ST")) return move_accesses(c, args, out);
  if (strcmp(name, "WLD") == 0) {
    out[n++] =
        range(IN_SPAD, false, command_field(c, "src") * lanes, (lanes - 1) * command_field(c, "sk") * lanes, lanes);
    out[n++] = range(IN_WREG, true, command_field(c, "w") * bank, 0, bank);
    return n;
  }
  if (strcmp(name, "WLDT") == 0) {
    out[n++] =
        range(IN_SPAD, false, command_field(c, "src") * lanes, (lanes - 1) * command_field(c, "sn") * lanes, lanes);
    out[n++] = range(IN_WREG, true, command_field(c, "w") * bank, 0, bank);
    return n;
  }
  if (strcmp(name, "WLDR") == 0) {
    int64_t nk = command_field(c, "nk");
    out[n++] = range(IN_SPAD, false, command_field(c, "src") * lanes, (nk - 1) * command_field(c, "sk") * lanes, lanes);
    out[n++] = range(IN_WREG, true, command_field(c, "w") * lanes, (nk - 1) * lanes, lanes);
    return n;
  }
  if (starts(name, "MMC")) {
    int64_t last = (command_field(c, "ni") - 1) * command_field(c, "ai") +
                   (command_field(c, "nj") - 1) * command_window_step(c) +
                   (command_field(c, "nr") - 1) * command_field(c, "ar") + command_field(c, "nt") - 1;
    int64_t weights = (command_field(c, "nr") - 1) * command_line(c) + command_field(c, "nt") - 1;
    out[n++] = range(IN_SPAD, false, command_field(c, "a") * lanes, last * lanes, lanes);
    out[n++] = range(IN_WREG, false, command_field(c, "w") * lanes, weights * lanes, lanes);
    out[n++] = rows(chip, c, IN_ACC, true, "c", "ci", "cj");
    return n;
  }
  if (strcmp(name, "MMA") == 0) {
    out[n++] = rows(chip, c, IN_SPAD, false, "a", "ai", "aj");
    out[n++] = range(IN_WREG, false, command_field(c, "w") * bank, 0, bank);
    out[n++] = rows(chip, c, IN_ACC, true, "c", "ci", "cj");
    return n;
  }
  bool codes_in = command_on_codes(c, false), codes_out = command_on_codes(c, true);
  out[n++] = rows(chip, c, codes_in ? IN_SPAD : IN_ACC, false, "a", "ai", "aj");
  if (pb_insn_field(c->insn, "bi") >= 0)
    out[n++] = rows(chip, c, starts(name, "VADDQ") ? IN_SPAD : IN_ACC, false, "b", "bi", "bj");
  if (pb_insn_field(c->insn, "pt") >= 0)
    out[n++] = range(IN_ACC, false, command_field(c, "pt") * 4 * lanes, 0, TABLE_BYTES);
  static const char* const parameters[] = {"pb", "ps", "psa", "psb"};
  for (int k = 0; k < 4; ++k)
    if (pb_insn_field(c->insn, parameters[k]) >= 0) out[n++] = row(chip, c, IN_ACC, false, parameters[k]);
  out[n++] = starts(name, "VSUMQ") ? row(chip, c, IN_ACC, true, "y")
                                   : rows(chip, c, codes_out ? IN_SPAD : IN_ACC, true, "y", "yi", "yj");
  return n;
}

// Tokens ------------------------------------------------------------------------------------------------------------

static bool conflict(const access* a, int na, const access* b, int nb) {
  for (int x = 0; x < na; ++x)
    for (int y = 0; y < nb; ++y)
      if (a[x].place == b[y].place && (a[x].written || b[y].written) && a[x].lo < b[y].hi && b[y].lo < a[x].hi)
        return true;
  return false;
}

// Tokens of one pair of queues are taken in the order in which they were given, so a command that must follow command m
// of another queue either follows it already, because an earlier command here took a token of m's or a later one's, or
// takes a new one, and m has none given to this queue yet.
void program_order(program* p) {
  access(*all)[MAX_ACCESSES] = calloc((size_t)p->count + 1, sizeof *all);
  int* counts = calloc((size_t)p->count + 1, sizeof *counts);
  int after[QUEUES][QUEUES];
  for (int q = 0; q < QUEUES; ++q)
    for (int r = 0; r < QUEUES; ++r) after[q][r] = -1;
  for (int n = 0; n < p->count; ++n) {
    pb_command* c = &p->commands[n];
    int q = c->insn->queue;
    counts[n] = command_accesses(p->chip, p->args, c, all[n]);
    bool found[QUEUES] = {false};
    for (int m = n - 1; m >= 0; --m) {
      int r = p->commands[m].insn->queue;
      if (r == q || found[r] || m <= after[q][r] || !conflict(all[n], counts[n], all[m], counts[m])) continue;
      found[r] = true;
      after[q][r] = m;
      c->waits |= 1u << r;
      p->commands[m].signals |= 1u << q;
    }
  }
  free(all);
  free(counts);
}

// Device ------------------------------------------------------------------------------------------------------------

// Descriptions are read once: opening devices is cheap then.
static pb_chip* chips[3];

static void free_chips(void) {
  for (int n = 0; n < 3; ++n) {
    if (chips[n]) pb_chip_free(chips[n]);
    chips[n] = NULL;
  }
}

static pb_chip* chip_of(int lanes) {
  int n = lanes / 16;
  if (chips[n]) return chips[n];
  char spec[32];
  snprintf(spec, sizeof spec, lanes == 16 ? "simnpu" : "simnpu:%d", lanes);
  pb_diag diag = {0};
  if (pb_chip_find(spec, NULL, &diag, &chips[n]) != PB_OK) exit(1);
  atexit(free_chips);
  return chips[n];
}

static const pb_device_ops* load_rtl(device* d, const char* model) {
  char path[512];
  snprintf(path, sizeof path, "%s/lib/libsimnpu_rtl_%s.so", PB_BINARY_DIR, model);
  d->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!d->library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  const pb_device_ops* (*entry)(void);
  *(void**)&entry = dlsym(d->library, "pb_device_entry");
  return entry();
}

void device_start(device* d, const char* model, const char* options) {
  bool machine = strncmp(model, "machine_", 8) == 0;
  memset(d, 0, sizeof *d);
  d->lanes = atoi(machine ? model + 8 : model);
  d->chip = chip_of(d->lanes);
  d->ops = machine ? pb_machine_ops(d->chip) : load_rtl(d, model);
  if (!d->ops || d->ops->abi != PB_DEVICE_ABI || d->ops->open(options, &d->handle)) {
    fprintf(stderr, "%s: %s\n", model, d->ops ? d->ops->last_fault(NULL) : "no device");
    exit(1);
  }
}

void device_stop(device* d) {
  d->ops->close(d->handle);
  if (d->library) dlclose(d->library);
}

uint64_t device_buffer(device* d, uint64_t bytes) {
  uint64_t address;
  if (d->ops->alloc(d->handle, bytes, 64, &address)) abort();
  return address;
}

void device_argument(device* d, program* p, uint64_t bytes) {
  assert(p->arg_count < PB_DEVICE_MAX_ARGS);
  p->arg_bytes[p->arg_count] = bytes;
  p->args[p->arg_count++] = device_buffer(d, bytes);
}

void device_fill(device* d, const program* p, const uint8_t* image) {
  for (int n = 0; n < p->arg_count; ++n)
    if (d->ops->copy_in(d->handle, p->args[n], image + p->args[n], p->arg_bytes[n])) {
      fprintf(stderr, "%s\n", d->ops->last_fault(d->handle));
      exit(1);
    }
}

int device_run(device* d, const program* p, uint64_t cycle_limit) {
  pb_submission kernel = {.queue_count = QUEUES, .arg_count = PB_DEVICE_MAX_ARGS, .cycle_limit = cycle_limit};
  memcpy(kernel.args, p->args, sizeof kernel.args);
  uint64_t bytes = (uint64_t)d->chip->command_bytes;
  uint8_t* stream = malloc((size_t)p->count * bytes + 1);
  pb_diag diag = {0};
  for (int q = 0; q < QUEUES; ++q) {
    uint32_t count = 0;
    for (int n = 0; n < p->count; ++n)
      if (p->commands[n].insn->queue == q &&
          pb_encode(d->chip, &p->commands[n], stream + bytes * count++, &diag) != PB_OK)
        abort();
    if (p->rolled) count = (uint32_t)pb_reroll(d->chip, stream, count);
    kernel.count[q] = count;
    if (count == 0) continue;
    kernel.stream[q] = device_buffer(d, count * bytes);
    if (d->ops->copy_in(d->handle, kernel.stream[q], stream, count * bytes)) abort();
  }
  free(stream);
  int code = d->ops->submit(d->handle, &kernel);
  return code ? code : d->ops->wait(d->handle);
}

uint64_t device_counter(device* d, const char* name) {
  const char* at;
  for (uint32_t n = 0; (at = d->ops->counter_name(d->handle, n)); ++n)
    if (strcmp(at, name) == 0) return d->ops->counter(d->handle, n);
  abort();
}
