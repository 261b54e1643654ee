// A library of the names that a GPU's driver has, which runs what it is given on the machine of a grid. It shows that
// calls come in order, that each thing is open while it is used and closed once, and that errors are said; that a GPU
// would do the same it does not show. FAKE_CUDA: of NVIDIA's names, else of AMD's. PB_FAKE_FAILS=NAME: that function
// fails.
#include "targets/control/grid/machine/machine.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FAKE_CUDA
#define NAME(cuda, hip) cuda
enum { NO_BINARY = 209 };
static const char target[] = "nvgpu";
#else
#define NAME(cuda, hip) hip
enum { NO_BINARY = 209 };
static const char target[] = "amdgpu";
#endif
enum { INVALID = 1, UNINITIALISED = 3, FAULT = 700 };

static const pb_device_ops* ops;
static pb_device* device;
static pb_chip* chip;
static bool started, retained, current;
static int modules, blocks;

typedef struct entry {
  uint64_t module;
  char name[128];
} entry;
static entry entries[256];
static int entry_count;

static int fails(const char* name) {
  const char* which = getenv("PB_FAKE_FAILS");
  return which && !strcmp(which, name) ? 999 : 0;
}
#define BEGIN(name)                                                                                                    \
  do {                                                                                                                 \
    int code = fails(name);                                                                                            \
    if (code) return code;                                                                                             \
  } while (0)

int NAME(cuInit, hipInit)(unsigned flags) {
  BEGIN("init");
  started = true;
  return flags ? INVALID : 0;
}

int NAME(cuDeviceGet, hipDeviceGet)(int* found, int number) {
  if (!started) return UNINITIALISED;
  *found = number;
  return number ? 101 : 0; // there is one
}

int NAME(cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain)(void** context, int number) {
  if (number || !started || retained) return INVALID;
  if (pb_chip_find(target, NULL, NULL, &chip) != PB_OK || !(ops = pb_grid_machine_ops(chip))) return FAULT;
  retained = true;
  *context = &device;
  return ops->open(NULL, &device) ? FAULT : 0;
}

int NAME(cuCtxSetCurrent, hipCtxSetCurrent)(void* context) {
  current = context == &device;
  return current ? 0 : INVALID;
}

int NAME(cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease)(int number) {
  if (number || !retained || modules || blocks) {
    fprintf(stderr, "fake driver: %d modules and %d blocks are left\n", modules, blocks);
    abort();
  }
  ops->close(device);
  pb_chip_free(chip);
  retained = false;
  return 0;
}

int NAME(cuMemAlloc_v2, hipMalloc)(uint64_t* address, size_t bytes) {
  BEGIN("allocate");
  if (!current || !bytes) return INVALID;
  ++blocks;
  return ops->alloc(device, bytes, 256, address) ? FAULT : 0;
}

int NAME(cuMemFree_v2, hipFree)(uint64_t address) {
  --blocks;
  return address && retained ? 0 : INVALID;
}

int NAME(cuMemcpyHtoD_v2, hipMemcpyHtoD)(uint64_t to, const void* from, size_t bytes) {
  BEGIN("copy_in");
  return !current ? INVALID : ops->copy_in(device, to, from, bytes) ? FAULT : 0;
}

int NAME(cuMemcpyDtoH_v2, hipMemcpyDtoH)(void* to, uint64_t from, size_t bytes) {
  BEGIN("copy_out");
  return !current ? INVALID : ops->copy_out(device, from, to, bytes) ? FAULT : 0;
}

// PTX is text to its end, a code object as long as its table of sections says; a cubin is for another GPU than this.
int NAME(cuModuleLoadData, hipModuleLoadData)(void** module, const void* image) {
  uint64_t made, table;
  uint16_t rows[3];
  BEGIN("load");
  bool elf = !memcmp(image, "\177ELF", 4);
  if (!current) return INVALID;
  memcpy(&table, (const char*)image + 40, 8);
  memcpy(rows, (const char*)image + 58, 6);
  if (elf && !strcmp(target, "nvgpu")) return NO_BINARY;
  uint64_t bytes = elf ? table + (uint64_t)rows[0] * rows[1] : strlen(image) + 1;
  if (ops->load(device, elf ? PB_DEVICE_HSACO : PB_DEVICE_PTX, image, bytes, &made)) return FAULT;
  ++modules;
  *module = (void*)(uintptr_t)made;
  return 0;
}

int NAME(cuModuleUnload, hipModuleUnload)(void* module) {
  (void)module;
  --modules;
  return retained ? 0 : INVALID;
}

int NAME(cuModuleGetFunction, hipModuleGetFunction)(void** function, void* module, const char* name) {
  BEGIN("find");
  int k = 0;
  while (k < entry_count && (entries[k].module != (uintptr_t)module || strcmp(entries[k].name, name) != 0)) ++k;
  if (k == (int)(sizeof entries / sizeof *entries)) return FAULT;
  if (k == entry_count) ++entry_count;
  entries[k].module = (uint64_t)(uintptr_t)module;
  snprintf(entries[k].name, sizeof entries[k].name, "%s", name);
  *function = &entries[k];
  return 0;
}

// How many parameters there are a driver knows from the code; here a NULL ends them.
int NAME(cuLaunchKernel, hipModuleLaunchKernel)(void* function, unsigned bx, unsigned by, unsigned bz, unsigned tx,
                                                unsigned ty, unsigned tz, unsigned shared, void* stream,
                                                void** parameters, void** extra) {
  const entry* e = function;
  BEGIN("launch");
  if (!current || stream || extra) return INVALID;
  pb_device_launch launch = {
      .module = e->module, .kernel = e->name, .blocks = {bx, by, bz}, .threads = {tx, ty, tz}, .shared_bytes = shared};
  for (; launch.arg_count < PB_DEVICE_MAX_LAUNCH_ARGS && parameters[launch.arg_count]; ++launch.arg_count)
    memcpy(&launch.args[launch.arg_count], parameters[launch.arg_count], 8);
  if (!ops->launch(device, &launch)) return 0;
  fprintf(stderr, "fake driver: %s\n", ops->last_fault(device));
  return FAULT;
}

int NAME(cuCtxSynchronize, hipDeviceSynchronize)(void) {
  BEGIN("wait");
  return !current ? INVALID : ops->wait(device) ? FAULT : 0;
}
