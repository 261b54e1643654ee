// The machine of a grid with one mistake in the code that it is given, or in a launch. The first option, mutant=FILE,
// names a file that says which:
//
//     line KERNEL N TEXT  the line N of that kernel's entry, which counts from 0 on, is TEXT
//     code KERNEL AT OLD NEW  in the object that has the kernel, the word OLD (as all three, hexadecimal) at byte AT is
//     NEW
//     launch KERNEL B T   that kernel has B blocks of T threads
//     damage SEED         of each module some bytes are others, or its end is gone, as SEED says
#include "targets/control/grid/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 4096 };

static const pb_chip chip = {.name = "mutants", .control = PB_CONTROL_GRID};
static pb_device_ops ops;
static long line; // -1: it is no line
static unsigned at_byte, old_word, new_word;
static enum { LINE, CODE, LAUNCH, DAMAGE } kind;
static char text[MOST_TEXT], kernel[256];
static unsigned blocks, threads, seed;

static int open_mutant(const char* options, pb_device** device) {
  char path[1024] = "", said[MOST_TEXT];
  if (options && sscanf(options, "mutant=%1023[^,]", path) == 1) options += strlen("mutant=") + strlen(path);
  options += options && *options == ',';
  FILE* file = fopen(path, "r");
  line = -1;
  *kernel = 0;
  kind = LINE;
  if (file && fgets(said, sizeof said, file)) {
    int from = 0;
    said[strcspn(said, "\n")] = 0;
    if (sscanf(said, "line %255s %ld%n", kernel, &line, &from) == 2)
      kind = LINE, snprintf(text, sizeof text, "%s", said + from);
    else if (sscanf(said, "code %255s %x %x %x", kernel, &at_byte, &old_word, &new_word) == 4)
      kind = CODE;
    else if (sscanf(said, "launch %255s %u %u", kernel, &blocks, &threads) == 3)
      kind = LAUNCH;
    else if (sscanf(said, "damage %u", &seed) == 1)
      kind = DAMAGE;
    else
      fprintf(stderr, "%s: no mutant\n", path);
  }
  if (file) fclose(file);
  return pb_grid_machine_ops(&chip)->open(options, device);
}

// Where the line of the kernel's entry begins; NULL: the module has no such kernel, or it is shorter.
static const char* find_line(const char* code) {
  char entry[sizeof kernel + 16];
  snprintf(entry, sizeof entry, ".entry %s(", kernel);
  const char* at = line < 0 ? NULL : strstr(code, entry);
  for (long n = 0; n < line && at; ++n) {
    at = strchr(at, '\n');
    at += at != NULL;
  }
  return at;
}

static bool has_kernel(const char* code, uint64_t bytes) {
  char descriptor[sizeof kernel + 8];
  size_t length = (size_t)snprintf(descriptor, sizeof descriptor, "%s.kd", kernel) + 1;
  for (uint64_t k = 0; k + length <= bytes; ++k)
    if (!memcmp(code + k, descriptor, length)) return true;
  return false;
}

static int load_object(pb_device* d, const void* code, uint64_t bytes, uint64_t* module) {
  char* changed = malloc(bytes);
  uint32_t word = 0;
  if (!changed) return 1;
  memcpy(changed, code, bytes);
  if (at_byte + sizeof word <= bytes) memcpy(&word, changed + at_byte, sizeof word);
  if (kind == CODE && *kernel && word == old_word && has_kernel(code, bytes))
    memcpy(changed + at_byte, &(uint32_t){new_word}, sizeof word);
  int result = pb_grid_machine_ops(&chip)->load(d, PB_DEVICE_HSACO, changed, bytes, module);
  free(changed);
  return result;
}

static uint32_t draw(uint32_t below) { // Numerical Recipes' generator
  seed = seed * 1664525u + 1013904223u;
  return below ? (seed >> 8) % below : 0;
}

// Of the text, or of the object, up to eight bytes are others, all behind one is gone, or a stretch stands elsewhere.
static int load_damaged(pb_device* d, pb_device_code form, const void* code, uint64_t bytes, uint64_t* module) {
  uint8_t* changed = malloc(bytes + 1);
  if (!changed) return 1;
  memcpy(changed, code, bytes);
  uint64_t size = bytes;
  uint32_t length = (uint32_t)bytes, how = draw(3);
  if (how == 0) size = draw(length);
  for (uint32_t k = how == 1 ? 1 + draw(8) : 0; k > 0; --k) changed[draw(length)] = (uint8_t)draw(256);
  if (how == 2) {
    uint32_t some = 1 + draw(64), most = length > some ? length - some : 0, from = draw(most), to = draw(most);
    if (most) memmove(changed + to, changed + from, some);
  }
  if (form == PB_DEVICE_PTX) { // a text ends where it does
    changed[size] = 0;
    if (size == 0 || changed[size - 1]) ++size;
  }
  int result = pb_grid_machine_ops(&chip)->load(d, form, changed, size, module);
  free(changed);
  return result;
}

static int load(pb_device* d, pb_device_code form, const void* code, uint64_t bytes, uint64_t* module) {
  const pb_device_ops* machine = pb_grid_machine_ops(&chip);
  if (kind == DAMAGE) return load_damaged(d, form, code, bytes, module);
  if (form == PB_DEVICE_HSACO) return load_object(d, code, bytes, module);
  const char* at = form == PB_DEVICE_PTX ? find_line(code) : NULL;
  if (!at) return machine->load(d, form, code, bytes, module);
  size_t before = (size_t)(at - (const char*)code), size = bytes + strlen(text) + 1;
  char* changed = calloc(1, size);
  if (!changed) return 1;
  memcpy(changed, code, before);
  snprintf(changed + before, size - before, "%s%s", text, strchr(at, '\n'));
  int result = machine->load(d, form, changed, strlen(changed) + 1, module);
  free(changed);
  return result;
}

static int launch(pb_device* d, const pb_device_launch* l) {
  pb_device_launch changed = *l;
  if (kind == LAUNCH && !strcmp(l->kernel, kernel)) changed.blocks[0] = blocks, changed.threads[0] = threads;
  return pb_grid_machine_ops(&chip)->launch(d, &changed);
}

const pb_device_ops* pb_device_entry(void) {
  ops = *pb_grid_machine_ops(&chip);
  ops.open = open_mutant;
  ops.load = load;
  ops.launch = launch;
  return &ops;
}
