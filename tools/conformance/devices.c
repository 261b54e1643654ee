// What programs run on: the machine made from the description, or a driver's file.
#include "suite.h"

#include "targets/control/queues/machine/machine.h"

#include <dlfcn.h>
#include <string.h>

static const pb_device_ops* load_driver(const char* path, void** library, char* why) {
  char file[2048];
  snprintf(file, sizeof file, "%s%s", strchr(path, '/') ? "" : "./", path); // dlopen looks elsewhere for a plain name
  *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!*library) return snprintf(why, JUDGE_WHY, "cannot load the device: %.200s", dlerror()), NULL;
  void* symbol = dlsym(*library, "pb_device_entry");
  const pb_device_ops* (*entry)(void) = NULL;
  memcpy(&entry, &symbol, sizeof entry); // ISO C has no cast from object to function
  const pb_device_ops* ops = entry ? entry() : NULL;
  if (!ops) return snprintf(why, JUDGE_WHY, "%.200s exports no pb_device_entry", file), NULL;
  if (ops->abi < PB_DEVICE_LEAST_ABI || ops->abi > PB_DEVICE_ABI)
    return snprintf(why, JUDGE_WHY, "%.150s has interface %u; this knows %d to %d", file, ops->abi, PB_DEVICE_LEAST_ABI,
                    PB_DEVICE_ABI),
           NULL;
  return ops;
}

bool device_open(suite* s, const char* name, target_device* d, char* why) {
  *d = (target_device){.name = name};
  bool machine = !strcmp(name, "machine");
  d->ops = machine ? pb_machine_ops(s->chip) : load_driver(name, &d->library, why);
  if (!d->ops) {
    device_close(d);
    return false;
  }
  int constants = s->chip->constant_memory_count;
  bool knows =
      constants < 2 ? d->ops->abi >= 2 && d->ops->alloc_constants : d->ops->abi >= 3 && d->ops->alloc_constants_in;
  if (constants && !knows) {
    snprintf(why, JUDGE_WHY, "%.100s has no %s, for %.60s", name,
             constants < 2 ? "alloc_constants (interface 2)" : "alloc_constants_in (interface 3)",
             s->chip->memories[s->chip->constant_memories[0]].name);
    device_close(d);
    return false;
  }
  if (!d->ops->open(machine ? NULL : s->options->device_options, &d->handle)) return true;
  snprintf(why, JUDGE_WHY, "%.100s: %.140s", name, d->ops->last_fault(NULL));
  d->handle = NULL;
  device_close(d);
  return false;
}

void device_close(target_device* d) {
  if (d->handle) d->ops->close(d->handle);
  if (d->library) dlclose(d->library);
  *d = (target_device){0};
}
