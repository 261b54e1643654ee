// A driver whose chip is another process: the system's memory is shared, a semaphore is the doorbell, another says that
// the chip is done. It knows nothing of the SDK but pb/device.h. Options: chip=PROGRAM,td=FILE.td[,seconds=N].
#define _GNU_SOURCE // memfd_create
#include "protocol.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;
static _Thread_local char open_text[SHARED_TEXT] = "no fault";

struct pb_device {
  shared* s;
  pid_t chip;
  int seconds;
  char text[SHARED_TEXT];
};

static uint8_t* memory_of(pb_device* d) { return (uint8_t*)d->s + SHARED_HEADER; }

static int fault(pb_device* d, const char* text) {
  snprintf(d->text, sizeof d->text, "%s", text);
  return 1;
}

// The value of key= in the options, up to the next comma.
static int option(const char* options, const char* key, char* out, size_t size) {
  const char* at = options ? strstr(options, key) : NULL;
  if (!at) return 0;
  at += strlen(key);
  snprintf(out, size, "%.*s", (int)strcspn(at, ","), at);
  return 1;
}

// Until the chip answers, ends, or takes too long.
static int wait_for_chip(pb_device* d) {
  for (int tenth = 0; tenth < 10 * d->seconds; ++tenth) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
    if (!sem_timedwait(&d->s->done, &until)) return d->s->fault ? fault(d, d->s->text) : 0;
    if (waitpid(d->chip, NULL, WNOHANG) == d->chip) {
      d->chip = 0;
      return fault(d, "the chip's process has ended");
    }
  }
  return fault(d, "the chip does not answer");
}

static void close_device(pb_device* d) {
  d->s->stop = 1;
  sem_post(&d->s->request);
  if (d->chip) {
    struct timespec nap = {0, 50000000};
    int gone = 0;
    for (int k = 0; k < 20 && !gone; ++k) {
      gone = waitpid(d->chip, NULL, WNOHANG) == d->chip;
      if (!gone) nanosleep(&nap, NULL);
    }
    if (!gone) kill(d->chip, SIGKILL), waitpid(d->chip, NULL, 0);
  }
  munmap(d->s, SHARED_HEADER + (size_t)SHARED_MEMORY);
  free(d);
}

static int open_device(const char* options, pb_device** out) {
  char program[512], description[512], seconds[16] = "60", number[16];
  if (!option(options, "chip=", program, sizeof program) || !option(options, "td=", description, sizeof description))
    return snprintf(open_text, sizeof open_text, "chip=PROGRAM,td=FILE.td name the chip"), 1;
  option(options, "seconds=", seconds, sizeof seconds);
  int file = memfd_create("chip", 0); // inherited by the chip's process
  pb_device* d = calloc(1, sizeof *d);
  if (!d || file < 0 || ftruncate(file, SHARED_HEADER + (off_t)SHARED_MEMORY)) {
    free(d);
    return snprintf(open_text, sizeof open_text, "no memory to share"), 1;
  }
  d->seconds = atoi(seconds) > 0 ? atoi(seconds) : 1;
  d->s = mmap(NULL, SHARED_HEADER + (size_t)SHARED_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  snprintf(number, sizeof number, "%d", file);
  char* arguments[] = {program, description, number, NULL};
  sem_init(&d->s->request, 1, 0);
  sem_init(&d->s->done, 1, 0);
  d->s->used = SHARED_FIRST;
  int failed = posix_spawn(&d->chip, program, NULL, NULL, arguments, environ);
  close(file);
  if (failed) d->chip = 0;
  if (failed || wait_for_chip(d)) {
    snprintf(open_text, sizeof open_text, "%.400s: %.400s", program, failed ? strerror(failed) : d->text);
    close_device(d);
    return 1;
  }
  *out = d;
  return 0;
}

static int alloc(pb_device* d, uint64_t bytes, uint64_t align, uint64_t* address) {
  uint64_t unit = align > 64 ? align : 64, at = (d->s->used + unit - 1) / unit * unit;
  if (bytes > SHARED_MEMORY || at > SHARED_MEMORY - bytes) return fault(d, "no memory left");
  d->s->used = at + bytes;
  *address = at;
  return 0;
}
static int free_all(pb_device* d) {
  d->s->used = SHARED_FIRST;
  return 0;
}
static int outside(const pb_device* d, uint64_t address, uint64_t bytes) {
  return address > d->s->used || bytes > d->s->used - address;
}
static int copy_in(pb_device* d, uint64_t address, const void* data, uint64_t bytes) {
  if (outside(d, address, bytes)) return fault(d, "a copy outside of what is allocated");
  memcpy(memory_of(d) + address, data, bytes);
  return 0;
}
static int copy_out(pb_device* d, uint64_t address, void* data, uint64_t bytes) {
  if (outside(d, address, bytes)) return fault(d, "a copy outside of what is allocated");
  memcpy(data, memory_of(d) + address, bytes);
  return 0;
}
static int submit(pb_device* d, const pb_submission* kernel) {
  if (!d->chip) return fault(d, "the chip's process has ended");
  d->s->kernel = *kernel;
  sem_post(&d->s->request);
  return 0;
}
static const char* counter_name(pb_device* d, uint32_t k) {
  (void)d;
  return k == 0 ? "cycles" : NULL;
}
static uint64_t counter(pb_device* d, uint32_t k) { return k == 0 ? d->s->cycles : 0; }
static const char* last_fault(pb_device* d) { return d ? d->text : open_text; }

const pb_device_ops* pb_device_entry(void) {
  static const pb_device_ops ops = {.abi = PB_DEVICE_ABI,
                                    .name = "a chip in a process of its own",
                                    .open = open_device,
                                    .close = close_device,
                                    .alloc = alloc,
                                    .free_all = free_all,
                                    .copy_in = copy_in,
                                    .copy_out = copy_out,
                                    .submit = submit,
                                    .wait = wait_for_chip,
                                    .counter_name = counter_name,
                                    .counter = counter,
                                    .last_fault = last_fault};
  return &ops;
}
