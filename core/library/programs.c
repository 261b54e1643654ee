// The programs that what compiles starts, as functions of libpb.so (PB_STATIC_LLVM): LLVM is there once. Each is an
// executable of a few lines (program.c), which calls this by the name of its file.
#include "core/library/programs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int pb_read_mlir_main(int argc, char** argv);
int pb_check_core_main(int argc, char** argv);
int pb_grid_code_main(int argc, char** argv);
int pb_lld_main(int argc, char** argv);    // lld_main.cpp
int pb_tblgen_main(int argc, char** argv); // tblgen_main.cpp

static const struct {
  const char* name;
  int (*main)(int argc, char** argv);
} programs[] = {{"pb-read-mlir", pb_read_mlir_main},
                {"pb-check-core", pb_check_core_main},
                {"pb-grid-code", pb_grid_code_main},
                {"pb-lld", pb_lld_main},
                {"pb-tblgen", pb_tblgen_main}};

int pb_program_main(int argc, char** argv) {
  char path[4096];
  ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);
  path[bytes > 0 ? bytes : 0] = 0;
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  for (size_t k = 0; k < sizeof programs / sizeof *programs; ++k)
    if (!strcmp(programs[k].name, name)) return programs[k].main(argc, argv);
  fprintf(stderr, "%s: there is no such program in libpb.so\n", name);
  return 1;
}
