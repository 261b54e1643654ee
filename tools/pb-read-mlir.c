// The process that MLIR's parser runs in: text from outside can make it take any time and memory, or fall over. It is a
// program of its own, and not a fork of the one that compiles: that may have threads, whose locks a fork would copy
// held. Started by pb_flat_read. Usage: pb-read-mlir NAME SECONDS MEMORY stablehlo|linalg [ATTRIBUTE...]
// <TEXT >FLAT
#include "core/frontend/flat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED // they take all of the address space
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

static bool put(const void* bytes, size_t count) {
  for (const char* at = bytes; count;) {
    ssize_t n = write(STDOUT_FILENO, at, count);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    count -= (size_t)n;
  }
  return true;
}

static void hand_diagnostic(void* user, bool error, int code, const char* text) {
  (void)user;
  pb_flat_head h = {.kind = 'D', .error = error, .code = code, .bytes = strlen(text)};
  if (h.bytes >= PB_FLAT_MESSAGE) h.bytes = PB_FLAT_MESSAGE - 1;
  (void)(put(&h, sizeof h) && put(text, (size_t)h.bytes));
}

static void limit(int what, uint64_t most) {
  struct rlimit old, now = {most, most};
  if (!getrlimit(what, &old) && old.rlim_max != RLIM_INFINITY && old.rlim_max < most) now = old;
  (void)setrlimit(what, &now);
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fputs("usage: pb-read-mlir NAME SECONDS MEMORY stablehlo|linalg [ATTRIBUTE...] <TEXT >FLAT\n"
          "pbc starts this program to parse MLIR text under limits of time and memory.\n",
          stderr);
    return 1;
  }
  limit(RLIMIT_CPU, strtoull(argv[2], NULL, 10));
  limit(RLIMIT_CORE, 0);
#ifndef SANITIZED
  limit(RLIMIT_AS, strtoull(argv[3], NULL, 10));
#endif
  pb_diag diag = {.sink = hand_diagnostic};
  pb_flat flat = {0};
  pb_status status = pb_flat_parse(argv[1], strcmp(argv[4], "linalg") ? PB_FLAT_STABLEHLO : PB_FLAT_LINALG,
                                   (const char* const*)argv + 5, &diag, &flat);
  pb_flat_head h = {.kind = status == PB_OK ? 'F' : 'S', .code = (int32_t)status};
  size_t bytes = 0;
  void* data = status == PB_OK ? pb_flat_pack(&flat, &bytes) : NULL;
  h.bytes = bytes;
  _exit(put(&h, sizeof h) && put(data, bytes) ? 0 : 1); // nothing is worth being freed
}
