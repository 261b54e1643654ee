// Where devices come from: this process, or a shared library.
#define _GNU_SOURCE
#include "core/runtime/rt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEVICES = 8 };
static struct {
  const char* name;
  const pb_device_ops* (*ops)(const pb_chip* chip);
} devices[MAX_DEVICES];

void pb_rt_add_device(const char* name, const pb_device_ops* (*ops)(const pb_chip* chip)) {
  int k = 0;
  while (k < MAX_DEVICES - 1 && devices[k].name && (strcmp(devices[k].name, name) != 0 || devices[k].ops != ops)) ++k;
  devices[k].name = name;
  devices[k].ops = ops;
}

const pb_device_ops* pb__device_named(const char* name, const pb_chip* chip) {
  const pb_device_ops* ops = NULL;
  for (int k = MAX_DEVICES - 1; k >= 0 && !ops; --k) // the one added last
    if (devices[k].name && !strcmp(devices[k].name, name)) ops = devices[k].ops(chip);
  return ops;
}

static bool readable(const char* path) { return access(path, R_OK) == 0; }

// Of a target "name" or "name:variant".
static bool in_folder(pb_rt* rt, const char* folder, char* path, size_t size) {
  const char* target = rt->engine->target;
  const char* colon = strchr(target, ':');
  int n = (int)(colon ? (size_t)(colon - target) : strlen(target));
  snprintf(path, size, "%s/lib%.*s_rtl_%s.so", folder, n, target, colon ? colon + 1 : "default");
  if (readable(path)) return true;
  snprintf(path, size, "%s/lib%.*s_rtl.so", folder, n, target);
  return !colon && readable(path);
}

static bool find_library(pb_rt* rt, char* path, size_t size) {
  const char* list = getenv("PB_DEVICE_PATH");
  while (list && *list) {
    char folder[1024];
    size_t n = strcspn(list, ":");
    snprintf(folder, sizeof folder, "%.*s", (int)n, list);
    if (n && in_folder(rt, folder, path, size)) return true;
    list += n + (list[n] == ':');
  }
  char program[1024], folder[1400];
  ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  program[n > 0 ? n : 0] = 0;
  char* slash = strrchr(program, '/');
  if (!slash) return false;
  *slash = 0;
  snprintf(folder, sizeof folder, "%s/../lib", program);
  if (in_folder(rt, folder, path, size)) return true;
  snprintf(folder, sizeof folder, "%s/../lib/pb", program); // an installation
  if (in_folder(rt, folder, path, size)) return true;
  snprintf(folder, sizeof folder, "%s/../targets/%.*s", program, (int)strcspn(rt->engine->target, ":"),
           rt->engine->target);
  return in_folder(rt, folder, path, size);
}

bool pb__device_is_file(const char* name) {
  size_t n = strlen(name);
  return strchr(name, '/') || (n > 3 && !strcmp(name + n - 3, ".so"));
}

pb_status pb__device_library(pb_rt* rt, const char* name, pb_diag* diag, void** library, const pb_device_ops** ops) {
  char path[2048];
  pb_place place = {.file = rt->path};
  if (pb__device_is_file(name)) // dlopen looks elsewhere for a name without a folder
    snprintf(path, sizeof path, "%s%s", strchr(name, '/') ? "" : "./", name);
  else if (strchr(rt->engine->target, '/') || !find_library(rt, path, sizeof path))
    return pb_error(diag, place, 5024, "set PB_DEVICE_PATH to the folder with the library", "no RTL of '%s' was found",
                    rt->engine->target);
  *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!*library) return pb_error(diag, (pb_place){.file = path}, 5024, NULL, "cannot load the device: %s", dlerror());
  void* symbol = dlsym(*library, "pb_device_entry");
  const pb_device_ops* (*entry)(void) = NULL;
  memcpy(&entry, &symbol, sizeof entry); // ISO C has no cast from object to function
  *ops = entry ? entry() : NULL;
  if (!*ops || (*ops)->abi < PB_DEVICE_LEAST_ABI || (*ops)->abi > PB_DEVICE_ABI)
    return pb_error(diag, (pb_place){.file = path}, 5024, NULL, "not a device of interface %d to %d",
                    PB_DEVICE_LEAST_ABI, PB_DEVICE_ABI);
  return PB_OK;
}
