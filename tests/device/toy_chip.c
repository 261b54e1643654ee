// toy_chip FILE.td DESCRIPTOR: the chip's process. What a vendor's simulator does, the generated machine does here: it
// takes a request from the shared mapping, runs it, and answers. PB_TOY_CHIP=dies|sleeps: in place of its first answer.
#include "protocol.h"
#include "targets/control/queues/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void answer(shared* s, int fault, const char* text) {
  s->fault = fault;
  snprintf(s->text, sizeof s->text, "%s", text);
  sem_post(&s->done);
}

// The machine has a memory of its own: what is in use goes in before a run, and comes back after it.
static int run(shared* s, const pb_device_ops* ops, pb_device* d, uint8_t* memory) {
  uint64_t bytes = s->used - SHARED_FIRST, address;
  if (ops->free_all(d) || ops->alloc(d, bytes, 64, &address) || address != SHARED_FIRST) return 1;
  if (ops->copy_in(d, address, memory + address, bytes)) return 1;
  int code = ops->submit(d, &s->kernel);
  if (!code) code = ops->wait(d);
  s->cycles = ops->counter(d, 0);
  return code ? code : ops->copy_out(d, address, memory + address, bytes);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  shared* s = mmap(NULL, SHARED_HEADER + (size_t)SHARED_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[2]), 0);
  if (s == MAP_FAILED) return 2;
  uint8_t* memory = (uint8_t*)s + SHARED_HEADER;
  const char* mood = getenv("PB_TOY_CHIP");
  pb_diag diag = {0};
  pb_chip* chip = NULL;
  pb_device* d = NULL;
  if (pb_chip_read(argv[1], "", &diag, &chip) != PB_OK) return answer(s, 1, "its description is wrong"), 1;
  const pb_device_ops* ops = pb_machine_ops(chip);
  if (!ops || ops->open(NULL, &d)) return answer(s, 1, "no machine of this chip"), 1;
  answer(s, 0, "");
  for (;;) {
    sem_wait(&s->request);
    if (s->stop) break;
    if (mood && !strcmp(mood, "dies")) return 1;
    if (mood && !strcmp(mood, "sleeps")) continue;
    int code = run(s, ops, d, memory);
    answer(s, code, code ? ops->last_fault(d) : "");
  }
  ops->close(d);
  pb_chip_free(chip);
  return 0;
}
