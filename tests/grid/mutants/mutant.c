// The machine of a grid with one mistake in the code that it is given, or in a launch. The first option, mutant=FILE,
// names a file that says which:
//
//     line KERNEL N TEXT  the line N of that kernel's entry, which counts from 0 on, is TEXT
//     launch KERNEL B T   that kernel has B blocks of T threads
#include "targets/control/grid/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 4096 };

static const pb_chip chip = {.name = "mutants", .control = PB_CONTROL_GRID};
static pb_device_ops ops;
static long line; // -1: it is the launch
static char text[MOST_TEXT], kernel[256];
static unsigned blocks, threads;

static int open_mutant(const char* options, pb_device** device) {
  char path[1024] = "", said[MOST_TEXT];
  if (options && sscanf(options, "mutant=%1023[^,]", path) == 1) options += strlen("mutant=") + strlen(path);
  options += options && *options == ',';
  FILE* file = fopen(path, "r");
  line = -1;
  *kernel = 0;
  if (file && fgets(said, sizeof said, file)) {
    int from = 0;
    said[strcspn(said, "\n")] = 0;
    if (sscanf(said, "line %255s %ld%n", kernel, &line, &from) == 2)
      snprintf(text, sizeof text, "%s", said + from);
    else if (sscanf(said, "launch %255s %u %u", kernel, &blocks, &threads) != 3)
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

static int load(pb_device* d, pb_device_code form, const void* code, uint64_t bytes, uint64_t* module) {
  const pb_device_ops* machine = pb_grid_machine_ops(&chip);
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
  if (line < 0 && !strcmp(l->kernel, kernel)) changed.blocks[0] = blocks, changed.threads[0] = threads;
  return pb_grid_machine_ops(&chip)->launch(d, &changed);
}

const pb_device_ops* pb_device_entry(void) {
  ops = *pb_grid_machine_ops(&chip);
  ops.open = open_mutant;
  ops.load = load;
  ops.launch = launch;
  return &ops;
}
