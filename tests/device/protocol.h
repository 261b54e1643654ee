// What the driver and the chip's process share: one mapping, a request at a time.
#ifndef PB_TESTS_DEVICE_PROTOCOL_H
#define PB_TESTS_DEVICE_PROTOCOL_H

#include "pb/device.h"

#include <semaphore.h>

enum { SHARED_MEMORY = 1 << 28, SHARED_FIRST = 4096, SHARED_TEXT = 1024 };

typedef struct shared {
  sem_t request, done;  // the driver posts one, the chip the other
  int stop;             // 1: the chip's process ends
  int ready;            // 1: the chip has read its description
  pb_submission kernel; // of a request
  uint64_t used;        // bytes of memory in use, from address 0
  int fault;            // of the answer: 0, or the chip's fault code with its text
  char text[SHARED_TEXT];
  uint64_t cycles; // since the chip started
} shared;

// The system's memory lies behind it, at a page of its own.
enum { SHARED_HEADER = (sizeof(shared) + 4095) / 4096 * 4096 };

#endif
