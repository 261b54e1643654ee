#include "targets/control/grid/driver/driver.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WHY = 512, FORMS = 3 };

typedef void* handle;
typedef int status; // 0: it went well

// What both libraries have, by their own names; addresses of a device are as wide as pointers.
typedef struct calls {
  status (*init)(unsigned flags);
  status (*get_device)(int* device, int number);
  status (*retain)(handle* context, int device);
  status (*set_current)(handle context);
  status (*release)(int device);
  status (*allocate)(uint64_t* address, size_t bytes);
  status (*free)(uint64_t address);
  status (*copy_in)(uint64_t to, const void* from, size_t bytes);
  status (*copy_out)(void* to, uint64_t from, size_t bytes);
  status (*load)(handle* module, const void* image);
  status (*unload)(handle module);
  status (*find)(handle* function, handle module, const char* name);
  status (*launch)(handle function, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty, unsigned tz,
                   unsigned shared, handle stream, void** parameters, void** extra);
  status (*wait)(void);
} calls;

typedef struct library {
  const char *name, *variable, *file;
  const char* functions[sizeof(calls) / sizeof(void*)]; // in the order of `calls`
  bool takes[FORMS];                                    // by pb_device_code
} library;

// Of the driver's own names those that stand for today's: cuMemAlloc without _v2 is that of 32-bit addresses.
static const library cuda = {"cuda",
                             "PB_CUDA_LIBRARY",
                             "libcuda.so.1",
                             {"cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
                              "cuDevicePrimaryCtxRelease_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoD_v2",
                              "cuMemcpyDtoH_v2", "cuModuleLoadData", "cuModuleUnload", "cuModuleGetFunction",
                              "cuLaunchKernel", "cuCtxSynchronize"},
                             {[PB_DEVICE_PTX] = true, [PB_DEVICE_CUBIN] = true}};
static const library hip = {"hip",
                            "PB_HIP_LIBRARY",
                            "libamdhip64.so",
                            {"hipInit", "hipDeviceGet", "hipDevicePrimaryCtxRetain", "hipCtxSetCurrent",
                             "hipDevicePrimaryCtxRelease", "hipMalloc", "hipFree", "hipMemcpyHtoD", "hipMemcpyDtoH",
                             "hipModuleLoadData", "hipModuleUnload", "hipModuleGetFunction", "hipModuleLaunchKernel",
                             "hipDeviceSynchronize"},
                            {[PB_DEVICE_HSACO] = true}};

struct pb_device {
  const library* of;
  void* file;
  calls call;
  int number;
  bool open;
  handle* modules;
  uint64_t* blocks;
  size_t module_count, block_count;
  char why[MOST_WHY];
};

static int fail(pb_device* d, const char* what, int code) {
  snprintf(d->why, sizeof d->why, "%s: error %d of %s", what, code, d->of->file);
  return 1;
}

static int checked(pb_device* d, const char* what, status code) { return code ? fail(d, what, code) : 0; }

static bool find_functions(pb_device* d) {
  void** to = (void**)&d->call;
  for (size_t k = 0; k < sizeof d->of->functions / sizeof *d->of->functions; ++k) {
    to[k] = dlsym(d->file, d->of->functions[k]);
    if (to[k]) continue;
    snprintf(d->why, sizeof d->why, "%s has no %s: it is older than this interface", d->of->file, d->of->functions[k]);
    return false;
  }
  return true;
}

static int open_library(pb_device* d) {
  const char *named = getenv(d->of->variable), *file = named && *named ? named : d->of->file;
  d->file = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (d->file) return !find_functions(d);
  snprintf(d->why, sizeof d->why, "no driver: %s was looked for%s and is not there (%s); %s names another file", file,
           strchr(file, '/') ? "" : " in LD_LIBRARY_PATH and in the system's folders", dlerror(), d->of->variable);
  return 1;
}

static int open_device(const library* of, const char* options, pb_device** made) {
  pb_device* d = *made = calloc(1, sizeof *d);
  handle context;
  int device;
  if (!d) pb_no_memory(sizeof *d);
  d->of = of;
  d->number = options ? atoi(options) : 0;
  if (open_library(d)) return 1;
  if (checked(d, "starting the driver", d->call.init(0))) return 1;
  if (checked(d, "finding the device", d->call.get_device(&device, d->number))) return 1;
  if (checked(d, "opening the device", d->call.retain(&context, device))) return 1;
  d->number = device;
  d->open = true;
  return checked(d, "choosing the device", d->call.set_current(context));
}

static int open_cuda(const char* options, pb_device** made) { return open_device(&cuda, options, made); }
static int open_hip(const char* options, pb_device** made) { return open_device(&hip, options, made); }

static int free_all(pb_device* d) {
  for (size_t k = 0; k < d->block_count; ++k) (void)d->call.free(d->blocks[k]);
  d->block_count = 0;
  return 0;
}

static void close_device(pb_device* d) {
  for (size_t k = 0; k < d->module_count; ++k) (void)d->call.unload(d->modules[k]);
  free_all(d);
  if (d->open) (void)d->call.release(d->number);
  if (d->file) dlclose(d->file);
  free(d->modules);
  free(d->blocks);
  free(d);
}

static void* grown(void* list, size_t count, size_t size) {
  void* more = realloc(list, (count + 1) * size);
  if (!more) pb_no_memory((count + 1) * size);
  return more;
}

// Drivers align to 256 bytes.
static int allocate(pb_device* d, uint64_t bytes, uint64_t align, uint64_t* address) {
  (void)align;
  if (checked(d, "allocating memory", d->call.allocate(address, bytes))) return 1;
  d->blocks = grown(d->blocks, d->block_count, sizeof *d->blocks);
  d->blocks[d->block_count++] = *address;
  return 0;
}

static int copy_in(pb_device* d, uint64_t address, const void* data, uint64_t bytes) {
  return checked(d, "copying to the device", d->call.copy_in(address, data, bytes));
}

static int copy_out(pb_device* d, uint64_t address, void* data, uint64_t bytes) {
  return checked(d, "copying from the device", d->call.copy_out(data, address, bytes));
}

static int load(pb_device* d, pb_device_code form, const void* code, uint64_t bytes, uint64_t* module) {
  handle made;
  (void)bytes;
  if ((unsigned)form >= FORMS || !d->of->takes[form]) {
    snprintf(d->why, sizeof d->why, "%s takes no code of this form", d->of->file);
    return 1;
  }
  if (checked(d, "loading code", d->call.load(&made, code))) return 1;
  d->modules = grown(d->modules, d->module_count, sizeof *d->modules);
  d->modules[d->module_count++] = made;
  *module = (uint64_t)(uintptr_t)made;
  return 0;
}

static int launch(pb_device* d, const pb_device_launch* l) {
  handle function;
  void* parameters[PB_DEVICE_MAX_LAUNCH_ARGS + 1] = {NULL};
  for (uint32_t a = 0; a < l->arg_count; ++a) parameters[a] = (void*)(uintptr_t)&l->args[a];
  if (checked(d, l->kernel, d->call.find(&function, (handle)(uintptr_t)l->module, l->kernel))) return 1;
  return checked(d, l->kernel,
                 d->call.launch(function, l->blocks[0], l->blocks[1], l->blocks[2], l->threads[0], l->threads[1],
                                l->threads[2], l->shared_bytes, NULL, parameters, NULL));
}

static int wait_device(pb_device* d) { return checked(d, "waiting for the device", d->call.wait()); }

static const char* counter_name(pb_device* d, uint32_t index) { return (void)d, (void)index, NULL; }
static uint64_t counter(pb_device* d, uint32_t index) { return (void)d, (void)index, 0; }
static const char* last_fault(pb_device* d) { return d->why; }

#define OPS(library)                                                                                                   \
  {                                                                                                                    \
    .abi = 4, .name = #library, .open = open_##library, .close = close_device, .alloc = allocate,                      \
    .free_all = free_all, .copy_in = copy_in, .copy_out = copy_out, .wait = wait_device, .counter_name = counter_name, \
    .counter = counter, .last_fault = last_fault, .load = load, .launch = launch                                       \
  }
static const pb_device_ops cuda_ops = OPS(cuda), hip_ops = OPS(hip);

static bool is_of(const pb_chip* chip, const char* arch) {
  return chip->control == PB_CONTROL_GRID && !strncmp(chip->grid.triple, arch, strlen(arch));
}

const pb_device_ops* pb_cuda_ops(const pb_chip* chip) { return is_of(chip, "nvptx64-") ? &cuda_ops : NULL; }
const pb_device_ops* pb_hip_ops(const pb_chip* chip) { return is_of(chip, "amdgcn-") ? &hip_ops : NULL; }
