#include "targets/control/grid/driver/driver.h"

#include "core/base/arena.h"
#include "targets/control/grid/driver/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76, FUNCTIONS = 1024, MOST_NAME = 96 };

// A function of a module, so that it is looked up once.
typedef struct function {
  uint64_t module;
  const char* name; // its own copy
  pb_gpu_handle found;
} function;

struct pb_device {
  const pb_gpu_library* of;
  void* file;
  pb_gpu_calls call;
  pb_gpu_ranges ranges;
  pb_gpu_handle context;
  int number;
  bool open, waits, has_pools, records; // records: a graph of its own
  char name[MOST_NAME];
  pb_gpu_handle own, stream, left; // streams: the device's, the one at hand; what the one before was given (an event)
  pb_gpu_handle *modules, *marks, made, graph;
  uint64_t* blocks;
  void** host;
  size_t module_count, block_count, host_count, mark_count;
  size_t module_capacity, block_capacity, host_capacity, mark_capacity;
  function functions[FUNCTIONS];
  char why[PB_GPU_WHY];
};

static int fail(pb_device* d, const char* what, int code) {
  pb_gpu_say(d->of, &d->call, what, code, d->why);
  return 1;
}

static int checked(pb_device* d, const char* what, pb_gpu_status code) { return code ? fail(d, what, code) : 0; }

// ---- opening ----

// "N", or "device=N,sync=1".
static bool read_options(pb_device* d, const char* options) {
  const char* at = options ? options : "";
  while (*at) {
    size_t length = strcspn(at, ",");
    char* end;
    bool sync = !strncmp(at, "sync=", 5);
    const char* value = sync ? at + 5 : !strncmp(at, "device=", 7) ? at + 7 : at;
    long number = strtol(value, &end, 10);
    if (end == value || end != at + length || number < 0 || number > (sync ? 1 : 1000)) {
      snprintf(d->why, sizeof d->why, "option '%.*s': N or device=N, and sync=0|1, are known", (int)length, at);
      return false;
    }
    if (sync)
      d->waits = number;
    else
      d->number = (int)number;
    at += length + (at[length] == ',');
  }
  return true;
}

static int open_context(pb_device* d) {
  int device;
  if (checked(d, "starting the driver", d->call.init(0))) return 1;
  if (checked(d, "finding the device", d->call.get_device(&device, d->number))) return 1;
  if (checked(d, "asking for the device's name", d->call.device_name(d->name, MOST_NAME, device))) return 1;
  if (checked(d, "opening the device", d->call.retain(&d->context, device))) return 1;
  d->number = device;
  d->open = true;
  d->has_pools = true;
  if (checked(d, "choosing the device", d->call.set_current(d->context))) return 1;
  if (checked(d, "making a stream", d->call.open_stream(&d->own, PB_GPU_NON_BLOCKING))) return 1;
  d->stream = d->own;
  return checked(d, "making an event", d->call.open_event(&d->left, 0));
}

static int open_device(const pb_gpu_library* of, const char* options, pb_device** made) {
  pb_device* d = *made = calloc(1, sizeof *d);
  if (!d) pb_no_memory(sizeof *d);
  d->of = of;
  if (!read_options(d, options)) return 1;
  if (!pb_gpu_open(of, &d->file, &d->call, d->why)) return 1;
  pb_gpu_open_ranges(of, &d->ranges);
  return open_context(d);
}

static int open_cuda(const char* options, pb_device** made) { return open_device(&pb_gpu_cuda, options, made); }
static int open_hip(const char* options, pb_device** made) { return open_device(&pb_gpu_hip, options, made); }

// ---- streams ----

static bool is_captured(const pb_device* d, pb_gpu_handle stream) {
  int captured = 0;
  return !d->call.is_capturing(stream, &captured) && captured;
}

// What the one before was given comes first, but where one of them is captured: a graph cannot wait for what is not in
// it.
static int use_stream(pb_device* d, void* stream) {
  pb_gpu_handle next = stream ? stream : d->own;
  if (checked(d, "choosing the device", d->call.set_current(d->context))) return 1;
  if (next == d->stream) return 0;
  bool ordered = !is_captured(d, d->stream) && !is_captured(d, next);
  if (ordered && checked(d, "recording an event", d->call.record(d->left, d->stream))) return 1;
  if (ordered && checked(d, "waiting for an event", d->call.wait_event(next, d->left, 0))) return 1;
  d->stream = next;
  return 0;
}

static int wait_device(pb_device* d) {
  if (is_captured(d, d->stream)) return 0;
  return checked(d, "waiting for the device", d->call.wait(d->stream));
}

static int mark(pb_device* d, uint32_t number) {
  while (d->mark_count <= number) {
    pb_gpu_handle event;
    if (checked(d, "making an event", d->call.open_event(&event, 0))) return 1;
    PB_PUSH(d->marks, d->mark_count, d->mark_capacity, event);
  }
  return checked(d, "recording an event", d->call.record(d->marks[number], d->stream));
}

static int seconds(pb_device* d, uint32_t first, uint32_t last, double* seconds) {
  float milliseconds = 0;
  if (checked(d, "waiting for an event", d->call.wait_for_event(d->marks[last]))) return 1;
  if (checked(d, "timing", d->call.elapsed(&milliseconds, d->marks[first], d->marks[last]))) return 1;
  *seconds = 1e-3 * (double)milliseconds;
  return 0;
}

// ---- graphs ----

static int begin_graph(pb_device* d) {
  if (checked(d, "beginning a graph", d->call.begin_capture(d->stream, PB_GPU_RELAXED))) return 1;
  d->records = true;
  return 0;
}

static void drop_graph(pb_device* d) {
  if (d->made) (void)d->call.close_made(d->made);
  if (d->graph) (void)d->call.close_graph(d->graph);
  d->made = d->graph = NULL;
}

static int end_graph(pb_device* d) {
  drop_graph(d);
  d->records = false;
  if (checked(d, "ending a graph", d->call.end_capture(d->stream, &d->graph))) return 1;
  return checked(d, "making a graph", d->call.instantiate(&d->made, d->graph, 0));
}

static int run_graph(pb_device* d) {
  return checked(d, "running the graph", d->call.run_graph(d->made, d->stream)) || (d->waits ? wait_device(d) : 0);
}

// ---- memory ----

static int no_room(pb_device* d, uint64_t bytes, int code) {
  size_t left = 0, all = 0;
  char what[256];
  (void)d->call.free_memory(&left, &all);
  snprintf(what, sizeof what, "no memory for %llu bytes, of the %llu of '%s' %llu are free", (unsigned long long)bytes,
           (unsigned long long)all, d->name, (unsigned long long)left);
  return fail(d, what, code);
}

// Drivers align to 256 bytes.
static int allocate(pb_device* d, uint64_t bytes, uint64_t align, uint64_t* address) {
  (void)align;
  int code = d->has_pools ? d->call.pool_allocate(address, bytes, d->own) : PB_GPU_NOT_SUPPORTED;
  if (code == PB_GPU_NOT_SUPPORTED) {
    d->has_pools = false;
    code = d->call.allocate(address, bytes);
  }
  if (code == PB_GPU_OUT_OF_MEMORY) return no_room(d, bytes, code);
  if (checked(d, "allocating memory", code)) return 1;
  PB_PUSH(d->blocks, d->block_count, d->block_capacity, *address);
  return 0;
}

// Without pools a device frees at once, whatever still runs.
static int give_back(pb_device* d, uint64_t address) {
  if (d->has_pools) return checked(d, "freeing memory", d->call.pool_free(address, d->own));
  return checked(d, "waiting for the device", d->call.wait(d->own)) ||
         checked(d, "freeing memory", d->call.free(address));
}

static int free_block(pb_device* d, uint64_t address) {
  for (size_t k = 0; k < d->block_count; ++k) {
    if (d->blocks[k] != address) continue;
    d->blocks[k] = d->blocks[--d->block_count];
    return give_back(d, address);
  }
  snprintf(d->why, sizeof d->why, "freeing memory: nothing was allocated at %#llx", (unsigned long long)address);
  return 1;
}

static int free_all(pb_device* d) {
  while (d->block_count) (void)give_back(d, d->blocks[--d->block_count]);
  return 0;
}

static int look(pb_device* d, uint64_t address, uint64_t bytes) {
  uint64_t start = 0, size = 0;
  bool known =
      !d->call.pointer(&start, PB_GPU_RANGE_START, address) && !d->call.pointer(&size, PB_GPU_RANGE_SIZE, address);
  if (known && address - start <= size && bytes <= size - (address - start)) return 0;
  if (known)
    snprintf(d->why, sizeof d->why, "%llu bytes at %#llx: the memory there ends after %llu", (unsigned long long)bytes,
             (unsigned long long)address, (unsigned long long)(size - (address - start)));
  else
    snprintf(d->why, sizeof d->why, "%#llx is no memory that '%s' knows", (unsigned long long)address, d->name);
  return 1;
}

static int alloc_host(pb_device* d, uint64_t bytes, void** data) {
  if (checked(d, "allocating memory of the host", d->call.allocate_host(data, bytes, 0))) return 1;
  PB_PUSH(d->host, d->host_count, d->host_capacity, *data);
  return 0;
}

static int copy_in(pb_device* d, uint64_t address, const void* data, uint64_t bytes) {
  return checked(d, "copying to the device", d->call.copy_in(address, data, bytes, d->stream));
}

// Of a graph of its own it is a node; on another stream that is being captured whoever reads would read what is not
// there yet.
static int copy_out(pb_device* d, uint64_t address, void* data, uint64_t bytes) {
  if (!d->records && is_captured(d, d->stream)) {
    snprintf(d->why, sizeof d->why, "the stream is being captured: what comes on it cannot be read yet");
    return 1;
  }
  return checked(d, "copying from the device", d->call.copy_out(data, address, bytes, d->stream)) || wait_device(d);
}

static int copy(pb_device* d, uint64_t to, uint64_t from, uint64_t bytes) {
  return checked(d, "copying on the device", d->call.copy(to, from, bytes, d->stream));
}

// ---- code ----

// Of "sm_80" 80, which later ones run as well; "sm_90a" is for that one alone. *own: only there.
static int capability(const char* processor, bool* own) {
  char* end;
  if (strncmp(processor, "sm_", 3) != 0) return 0;
  long number = strtol(processor + 3, &end, 10);
  *own = *end != 0;
  return (int)number;
}

static int suits(pb_device* d, const char* processor) {
  int major = 0, minor = 0, wants, has;
  bool own = false;
  if (!d->of->takes[PB_DEVICE_PTX]) return 1; // its code is loaded, or not
  if (d->call.attribute(&major, CAPABILITY_MAJOR, d->number) || d->call.attribute(&minor, CAPABILITY_MINOR, d->number))
    return 1;
  wants = capability(processor, &own);
  has = 10 * major + minor;
  snprintf(d->why, sizeof d->why, "'%s' is of compute capability %d.%d", d->name, major, minor);
  return own ? (wants == has ? 2 * wants + 1 : 0) : wants <= has ? 2 * wants : 0;
}

static int load(pb_device* d, pb_device_code form, const void* code, uint64_t bytes, uint64_t* module) {
  pb_gpu_handle made;
  (void)bytes;
  if ((unsigned)form >= PB_GPU_FORMS || !d->of->takes[form]) {
    snprintf(d->why, sizeof d->why, "%s takes no code of this form", d->of->file);
    return 1;
  }
  if (checked(d, "loading code", d->call.load(&made, code))) return 1;
  PB_PUSH(d->modules, d->module_count, d->module_capacity, made);
  *module = (uint64_t)(uintptr_t)made;
  return 0;
}

// Where it is kept, or may be; NULL: all places are taken.
static function* place_of(pb_device* d, uint64_t module, const char* name) {
  uint64_t hash = module * UINT64_C(0x9e3779b97f4a7c15);
  for (const char* at = name; *at; ++at) hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
  for (size_t k = 0; k < FUNCTIONS; ++k) {
    function* f = &d->functions[(hash + k) % FUNCTIONS];
    if (!f->name || (f->module == module && !strcmp(f->name, name))) return f;
  }
  return NULL;
}

static int find(pb_device* d, uint64_t module, const char* name, pb_gpu_handle* found) {
  function* f = place_of(d, module, name);
  if (f && f->name) return *found = f->found, 0;
  if (checked(d, name, d->call.find(found, (pb_gpu_handle)(uintptr_t)module, name))) return 1;
  if (f) *f = (function){module, strdup(name), *found};
  return 0;
}

static int launch(pb_device* d, const pb_device_launch* l) {
  pb_gpu_handle found;
  void* parameters[PB_DEVICE_MAX_LAUNCH_ARGS + 1] = {NULL};
  for (uint32_t a = 0; a < l->arg_count; ++a) parameters[a] = (void*)(uintptr_t)&l->args[a];
  if (find(d, l->module, l->kernel, &found)) return 1;
  if (d->ranges.push) (void)d->ranges.push(l->kernel);
  int code = d->call.launch(found, l->blocks[0], l->blocks[1], l->blocks[2], l->threads[0], l->threads[1],
                            l->threads[2], l->shared_bytes, d->stream, parameters, NULL);
  if (d->ranges.push) (void)d->ranges.pop();
  return checked(d, l->kernel, code) || (d->waits ? wait_device(d) : 0);
}

// ---- closing ----

static void close_device(pb_device* d) {
  if (d->open) (void)d->call.set_current(d->context);
  if (d->own) (void)d->call.wait(d->own); // behind what any stream was given (use_stream)
  drop_graph(d);
  for (size_t k = 0; k < d->module_count; ++k) (void)d->call.unload(d->modules[k]);
  for (size_t k = 0; k < d->mark_count; ++k) (void)d->call.close_event(d->marks[k]);
  for (size_t k = 0; k < d->host_count; ++k) (void)d->call.free_host(d->host[k]);
  free_all(d);
  if (d->own) (void)d->call.wait(d->own);
  if (d->left) (void)d->call.close_event(d->left);
  if (d->own) (void)d->call.close_stream(d->own);
  if (d->open) (void)d->call.release(d->number);
  if (d->ranges.file) dlclose(d->ranges.file);
  if (d->file) dlclose(d->file);
  for (size_t k = 0; k < FUNCTIONS; ++k) free((char*)(uintptr_t)d->functions[k].name);
  free(d->modules);
  free(d->marks);
  free(d->host);
  free(d->blocks);
  free(d);
}

static const char* counter_name(pb_device* d, uint32_t index) { return (void)d, (void)index, NULL; }
static uint64_t counter(pb_device* d, uint32_t index) { return (void)d, (void)index, 0; }
static const char* last_fault(pb_device* d) { return d->why; }

#define OPS(library)                                                                                                   \
  {                                                                                                                    \
    .abi = PB_DEVICE_ABI, .name = #library, .open = open_##library, .close = close_device, .alloc = allocate,          \
    .free_all = free_all, .copy_in = copy_in, .copy_out = copy_out, .wait = wait_device, .counter_name = counter_name, \
    .counter = counter, .last_fault = last_fault, .load = load, .launch = launch, .use_stream = use_stream,            \
    .copy = copy, .free = free_block, .look = look, .alloc_host = alloc_host, .mark = mark, .seconds = seconds,        \
    .begin_graph = begin_graph, .end_graph = end_graph, .run_graph = run_graph, .suits = suits                         \
  }
static const pb_device_ops cuda_ops = OPS(cuda), hip_ops = OPS(hip);

static bool is_of(const pb_chip* chip, const char* arch) {
  return chip->control == PB_CONTROL_GRID && !strncmp(chip->grid.triple, arch, strlen(arch));
}

const pb_device_ops* pb_cuda_ops(const pb_chip* chip) { return is_of(chip, "nvptx64-") ? &cuda_ops : NULL; }
const pb_device_ops* pb_hip_ops(const pb_chip* chip) { return is_of(chip, "amdgcn-") ? &hip_ops : NULL; }
