// Kernels of machine code: the engine's shared object goes to an anonymous file and is opened from there.
#define _GNU_SOURCE
#include "core/base/pages.h"
#include "core/base/processor.h"
#include "core/runtime/rt.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// That this process may run on, which in a container are fewer than there are.
static int usable_processors(void) {
  cpu_set_t set;
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  return count > 0 ? count : 1;
}

static pb_status write_object(pb_rt* rt, int file, pb_diag* diag) {
  for (uint64_t done = 0; done < rt->engine->native_bytes;) {
    ssize_t n = write(file, rt->engine->native + done, rt->engine->native_bytes - done);
    if (n <= 0) return pb_system_error(diag, (pb_place){.file = rt->path}, 5022, "cannot copy the native code");
    done += (uint64_t)n;
  }
  return PB_OK;
}

static pb_status open_object(pb_rt* rt, pb_diag* diag) {
  pb_place place = {.file = rt->path};
  pb__native* native = &rt->native;
  native->file = memfd_create("engine", MFD_CLOEXEC);
  if (native->file < 0) return pb_system_error(diag, place, 5022, "cannot make a file for the native code");
  PB_TRY(write_object(rt, native->file, diag));
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", native->file);
  native->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!native->library) return pb_error(diag, place, 5022, NULL, "cannot load the native code: %s", dlerror());
  native->entries = PB_NEW_ARRAY(&rt->arena, pb__native_entry, (size_t)rt->engine->kernel_count);
  for (int k = 0; k < rt->engine->kernel_count; ++k) {
    if (rt->engine->kernels[k].is_words) continue;
    void* symbol = dlsym(native->library, rt->engine->kernels[k].symbol);
    if (!symbol) return pb_error(diag, place, 5023, NULL, "the native code has no '%s'", rt->engine->kernels[k].symbol);
    native->shares |= !rt->engine->kernels[k].alone;
    memcpy(&native->entries[k], &symbol, sizeof symbol); // ISO C has no cast from object to function
  }
  return PB_OK;
}

// Code of cores with movers beside them calls a machine, by the description that the engine carries.
static pb_status open_cores(pb_rt* rt, pb_diag* diag) {
  void* table = dlsym(rt->native.library, PB_CORE_MACHINE);
  if (!table) return PB_OK;
  const char* colon = strchr(rt->engine->target, ':');
  if (!rt->chip) PB_TRY(pb_chip_from_json(rt->engine->description, rt->path, colon ? colon + 1 : "", diag, &rt->chip));
  if (!rt->chip->core_mover_count)
    return pb_error(diag, (pb_place){.file = rt->path}, 5028, "compile for one target alone",
                    "the native code starts moves of movers that '%s' lacks", rt->engine->target);
  rt->native.cores = pb__core_machine_open(rt->chip, table);
  return PB_OK;
}

static pb_status make_arena(pb_rt* rt, pb_diag* diag) {
  rt->native.arena = pb_pages_alloc(rt->engine->arena_bytes);
  if (rt->native.arena) return PB_OK;
  return pb_system_error(diag, (pb_place){.file = rt->path}, 5026, "no memory for an arena of %llu bytes",
                         (unsigned long long)rt->engine->arena_bytes);
}

pb_status pb__native_open(pb_rt* rt, pb_diag* diag) {
  pb_place place = {.file = rt->path};
  char missing[64];
  if (rt->flags & PB_LOAD_NO_NATIVE)
    return pb_error(diag, place, 5020, NULL, "the engine holds machine code, which is not allowed here");
  if (!pb_processor_has(rt->engine->features ? rt->engine->features : "", missing, sizeof missing))
    return pb_error(diag, place, 5021, "compile for a target that this processor has",
                    "this processor lacks '%s'; the engine is for '%s'", missing, rt->engine->target);
  rt->native.processors = usable_processors();
  PB_TRY(open_object(rt, diag));
  PB_TRY(open_cores(rt, diag));
  return make_arena(rt, diag);
}

void* pb__native_address(pb_rt* rt, pb_arg arg) {
  switch (arg.space) {
  case PB_SPACE_INPUT:
    return (void*)(uintptr_t)rt->run_inputs[arg.value]; // which nobody writes
  case PB_SPACE_OUTPUT:
    return rt->run_outputs[arg.value];
  case PB_SPACE_CONST:
    return rt->engine->consts + arg.value;
  case PB_SPACE_ARENA:
    return rt->engine->open ? rt->open.buffers[arg.value] : rt->native.arena + arg.value;
  case PB_SPACE_SIZES:
    return rt->open.blocks[arg.value];
  default: // apart, which commands alone reach
    break;
  }
  return NULL;
}

// What cores with movers have done while a step ran.
static pb_status ask_cores(pb_rt* rt, int index, pb_diag* diag) {
  char fault[96];
  rt->steps[index].cycles += pb__core_machine_cycles(rt->native.cores);
  if (!pb__core_machine_fault(rt->native.cores, fault, sizeof fault)) return PB_OK;
  const pb_step* step = &rt->engine->steps[index];
  return pb_error(diag, (pb_place){.what = rt->engine->kernels[step->kernel].symbol}, 5029,
                  "waits in front of what takes a buffer, which the compiler makes", "%s", fault);
}

pb_status pb__native_step(pb_rt* rt, int index, pb_diag* diag) {
  const pb_step* step = &rt->engine->steps[index];
  void* args[PB_ENGINE_MAX_ARGS];
  for (int a = 0; a < step->arg_count; ++a) args[a] = pb__native_address(rt, step->args[a]);
  pb__native_entry entry = rt->native.entries[step->kernel];
  if (rt->engine->kernels[step->kernel].alone)
    entry(args, 0, 1);
  else
    pb__team_do(&rt->native.team, entry, args);
  return rt->native.cores ? ask_cores(rt, index, diag) : PB_OK;
}

// Others are woken where a kernel is shared among them.
void pb__native_run(pb_rt* rt, void (*body)(void* user), void* user) {
  int threads = rt->threads > 0 ? rt->threads : rt->native.processors;
  pb__team_run(&rt->native.team, rt->native.shares ? threads : 1, body, user);
}

void pb__native_close(pb_rt* rt) {
  if (rt->native.library) dlclose(rt->native.library);
  if (rt->native.file > 0) close(rt->native.file);
  pb__core_machine_close(rt->native.cores);
  free(rt->native.arena);
  rt->native = (pb__native){0};
}
