#include "core/base/installation.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// PREFIX/bin/program: PREFIX/share/pb. An installation may be moved as a whole.
static void beside_program(char* path, size_t size) {
  char program[2048];
  ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  program[n > 0 ? n : 0] = 0;
  for (int up = 0; up < 2; ++up) {
    char* slash = strrchr(program, '/');
    if (slash) *slash = 0;
  }
  snprintf(path, size, "%s/share/pb", program);
}

void pb_installed_folder(const char* part, char* path, size_t size) {
  char own[2112];
  beside_program(own, sizeof own);
  const char* roots[] = {own, PB_SOURCE_ROOT, PB_INSTALLED_ROOT};
  for (size_t k = 0; k < sizeof roots / sizeof *roots; ++k) {
    int n = snprintf(path, size, "%s/%s", roots[k], part);
    if (n > 0 && (size_t)n < size && access(path, R_OK) == 0) return;
  }
}
