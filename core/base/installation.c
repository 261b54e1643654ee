#define _GNU_SOURCE
#include "core/base/installation.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Beside PREFIX/bin/program and PREFIX/lib[/ARCHITECTURE]/libpb.so, so many folders up: PREFIX/share/pb. An
// installation may be moved as a whole.
static void beside(const char* file, int up, char* path, size_t size) {
  char program[2048];
  snprintf(program, sizeof program, "%s", file);
  for (; up > 0; --up) {
    char* slash = strrchr(program, '/');
    if (slash) *slash = 0;
  }
  snprintf(path, size, "%s/share/pb", program);
}

void pb_installed_folder(const char* part, char* path, size_t size) {
  char program[2048], own[2112], near[2112], far[2112];
  ssize_t bytes = readlink("/proc/self/exe", program, sizeof program - 1);
  program[bytes > 0 ? bytes : 0] = 0;
  Dl_info library = {0}; // that this code is in
  if (!dladdr((const void*)(uintptr_t)&pb_installed_folder, &library) || !library.dli_fname) library.dli_fname = "";
  beside(program, 2, own, sizeof own);
  beside(library.dli_fname, 2, near, sizeof near);
  beside(library.dli_fname, 3, far, sizeof far);
  const char* roots[] = {own, near, far, PB_SOURCE_ROOT, PB_INSTALLED_ROOT};
  for (size_t k = 0; k < sizeof roots / sizeof *roots; ++k) {
    int n = snprintf(path, size, "%s/%s", roots[k], part);
    if (n > 0 && (size_t)n < size && access(path, R_OK) == 0) return;
  }
}
