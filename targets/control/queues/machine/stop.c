// Stopping behind a command, with what a memory holds then: options stop=KERNEL:QUEUE:COMMAND and dump=MEMORY:FILE. The
// kernel is the so manyth that the device runs since it was opened, from 0; the command, of its queue's in the order in
// which the queue runs them; the memory is its core's. A command has done its work when it starts, as everywhere on
// this machine; what other queues have started by then is done too.
#include "targets/control/queues/machine/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// "3:MX:17", up to `length`.
bool machine__read_stop(pb_device* device, const char* text, size_t length) {
  char *end, *last;
  machine_stop* s = &device->stop;
  s->kernel = strtoull(text, &end, 10);
  if (end == text || *end != ':') return false;
  const char* name = end + 1;
  size_t chars = strcspn(name, ":,");
  if (name[chars] != ':') return false;
  s->command = strtoull(name + chars + 1, &last, 10);
  if (last == name + chars + 1 || last != text + length) return false;
  s->queue = -1;
  for (int q = 0; q < pb_chip_queues(device->chip); ++q)
    if (strlen(pb_chip_queue_name(device->chip, q)) == chars &&
        !memcmp(pb_chip_queue_name(device->chip, q), name, chars))
      s->queue = q;
  return s->queue >= 0;
}

// "SPAD:spad.txt", up to `length`.
bool machine__read_dump(pb_device* device, const char* text, size_t length) {
  size_t chars = strcspn(text, ":,");
  if (chars >= length || text[chars] != ':' || length - chars - 1 >= sizeof device->stop.file || length == chars + 1)
    return false;
  memcpy(device->stop.file, text + chars + 1, length - chars - 1);
  device->stop.memory = -1;
  for (int m = 0; m < device->chip->memory_count; ++m)
    if (strlen(device->chip->memories[m].name) == chars && !memcmp(device->chip->memories[m].name, text, chars))
      device->stop.memory = m;
  return device->stop.memory >= 0 && machine__outside(device, device->stop.memory) < 0;
}

// A line for each row in which something was written: its address, its bytes from the lowest up, -- for those that
// nothing wrote.
static bool write_memory(const pb_device* device) {
  const machine_memory* m = &device->memories[machine__core(device, device->stop.queue)][device->stop.memory];
  int64_t row = device->chip->memories[device->stop.memory].row_bytes;
  FILE* out = fopen(device->stop.file, "w");
  for (int64_t at = 0; out && at + row <= m->bytes; at += row) {
    bool any = false;
    for (int64_t b = 0; b < row; ++b) any |= machine__first_invalid(m, at + b, 1) < 0;
    if (!any) continue;
    fprintf(out, "%06llx:", (unsigned long long)at);
    for (int64_t b = 0; b < row; ++b)
      if (machine__first_invalid(m, at + b, 1) < 0)
        fprintf(out, " %02x", m->data[at + b]);
      else
        fputs(" --", out);
    fputc('\n', out);
  }
  bool good = out && !ferror(out);
  return out && !fclose(out) && good;
}

int machine__stop_behind(pb_device* device, int queue, uint32_t index, const machine_command* command) {
  const machine_stop* s = &device->stop;
  if (!s->set || queue != s->queue || index != s->command || device->launches != s->kernel + 1) return MACHINE_OK;
  machine_site site = {.queue = queue, .index = index};
  if (!s->file[0]) return machine__fault_at(device, MACHINE_STOPPED, &site, command, "stopped behind it");
  if (!write_memory(device))
    return machine__fault_at(device, MACHINE_STOPPED, &site, command, "stopped behind it, but %s cannot be written",
                             s->file);
  return machine__fault_at(device, MACHINE_STOPPED, &site, command, "stopped behind it; %s is in %s",
                           device->chip->memories[s->memory].name, s->file);
}
