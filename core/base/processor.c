// What this processor can do, by the operating system's list, so that no instruction set is named here. Spellings
// differ between compilers and kernels only in punctuation.
#define _GNU_SOURCE
#include "core/base/processor.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool same_feature(const char* a, size_t na, const char* b, size_t nb) {
  size_t x = 0, y = 0;
  for (;;) {
    while (x < na && !isalnum((unsigned char)a[x])) ++x;
    while (y < nb && !isalnum((unsigned char)b[y])) ++y;
    if (x == na || y == nb) return x == na && y == nb;
    if (tolower((unsigned char)a[x++]) != tolower((unsigned char)b[y++])) return false;
  }
}

static bool listed(const char* list, const char* feature, size_t n) {
  for (const char* at = list; *at;) {
    at += strspn(at, " \t\n:");
    size_t length = strcspn(at, " \t\n");
    if (length && same_feature(at, length, feature, n)) return true;
    at += length;
  }
  return false;
}

// The caller frees it.
static char* system_list(void) {
  FILE* file = fopen("/proc/cpuinfo", "r");
  char* line = NULL;
  size_t capacity = 0;
  bool found = false;
  while (file && !found && getline(&line, &capacity, file) > 0)
    found = !strncmp(line, "flags", 5) || !strncmp(line, "Features", 8);
  if (file) fclose(file);
  if (found) return line;
  free(line);
  return NULL;
}

bool pb_processor_state(const char* feature, int* number) {
  static const char prefix[] = "state-";
  if (strncmp(feature, prefix, sizeof prefix - 1) != 0) return false;
  if (number) *number = atoi(feature + sizeof prefix - 1);
  return true;
}

// Large register files are given to a process on request only.
static bool request_state(int number) {
#if defined(__linux__) && defined(SYS_arch_prctl)
  enum { REQUEST = 0x1023 }; // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, REQUEST, number) == 0;
#else
  (void)number;
  return false;
#endif
}

static const char* pretended = "";

void pb_processor_pretend(const char* features) { pretended = features ? features : ""; }

static bool pretends(const char* feature, size_t n) {
  for (const char* at = pretended; *at; at += strspn(at, ",")) {
    size_t length = strcspn(at, ",");
    if (same_feature(at, length, feature, n)) return true;
    at += length;
  }
  return false;
}

static bool has(const char* list, const char* feature, size_t n) {
  int number;
  if (pretends(feature, n)) return true;
  if (pb_processor_state(feature, &number)) return request_state(number);
  return list && listed(list, feature, n);
}

bool pb_processor_has(const char* features, char* missing, int size) {
  char* list = *features ? system_list() : NULL;
  bool all = true;
  for (const char* at = features; *at && all;) {
    size_t n = strcspn(at, ",");
    if (n && !has(list, at, n)) {
      snprintf(missing, (size_t)size, "%.*s", (int)n, at);
      all = false;
    }
    at += n + (at[n] == ',');
  }
  free(list);
  return all;
}
