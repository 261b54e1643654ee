#define _GNU_SOURCE
#include "core/base/installation.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The prefixes of the installation that this code may be in: PREFIX/bin/program, PREFIX/lib[/ARCHITECTURE]/libpb.so. An
// installation may be moved as a whole.
enum { PREFIXES = 3, PATH = 2048 };

static void go_up(char* path, int folders) {
  for (; folders > 0; --folders) {
    char* slash = strrchr(path, '/');
    if (slash) *slash = 0;
  }
}

static void find_prefixes(char prefixes[PREFIXES][PATH]) {
  ssize_t bytes = readlink("/proc/self/exe", prefixes[0], PATH - 1);
  prefixes[0][bytes > 0 ? bytes : 0] = 0;
  Dl_info library = {0}; // that this code is in
  bool known = dladdr((const void*)(uintptr_t)&pb_installed_folder, &library) && library.dli_fname;
  for (int k = 1; k < PREFIXES; ++k) snprintf(prefixes[k], PATH, "%s", known ? library.dli_fname : "");
  go_up(prefixes[0], 2);
  go_up(prefixes[1], 2);
  go_up(prefixes[2], 3);
}

static bool is_there(char* path, size_t size, int how, const char* root, const char* folder, const char* part) {
  int n = snprintf(path, size, "%s%s/%s", root, folder, part);
  return n > 0 && (size_t)n < size && access(path, how) == 0;
}

void pb_installed_folder(const char* part, char* path, size_t size) {
  char prefixes[PREFIXES][PATH];
  find_prefixes(prefixes);
  for (int k = 0; k < PREFIXES; ++k)
    if (is_there(path, size, R_OK, prefixes[k], "/share/pb", part)) return;
  if (!is_there(path, size, R_OK, PB_SOURCE_ROOT, "", part)) is_there(path, size, R_OK, PB_INSTALLED_ROOT, "", part);
}

void pb_installed_program(const char* name, char* path, size_t size) {
  char prefixes[PREFIXES][PATH];
  find_prefixes(prefixes);
  for (int k = 0; k < PREFIXES; ++k)
    if (is_there(path, size, X_OK, prefixes[k], "/bin", name)) return;
  if (!is_there(path, size, X_OK, PB_BUILT_PROGRAMS, "", name))
    is_there(path, size, X_OK, PB_INSTALLED_PROGRAMS, "", name);
}

void pb_program_path(const char* name, char* path, size_t size) {
  if (strchr(name, '/'))
    snprintf(path, size, "%s", name);
  else
    pb_installed_program(name, path, size);
}
