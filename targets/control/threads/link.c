// Object files of kernels to the shared library that an engine holds, by LLD.
#define _GNU_SOURCE
#include "targets/control/threads/code.h"
#include "targets/emit/llvm/lld.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

// Whether the folder has no room for as much as the objects take, once more.
static bool is_full(const char* const* objects, int count, const char* shared) {
  struct statvfs room;
  struct stat is;
  unsigned long long bytes = 0;
  char folder[4096];
  const char* slash = strrchr(shared, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - shared) : 1, slash ? shared : ".");
  for (int g = 0; g < count; ++g) bytes += stat(objects[g], &is) ? 0 : (unsigned long long)is.st_size;
  return !statvfs(folder, &room) && room.f_blocks && (unsigned long long)room.f_bavail * room.f_frsize < bytes + 65536;
}

static pb_status fail(pb_diag* diag) {
  (void)pb_error(diag, (pb_place){.what = "ld.lld"}, 4200, "this is a bug in the compiler, not in the model",
                 "the kernels do not link");
  return PB_ERR_SYSTEM;
}

// The C library of this process: kernels may take memory and copy it, and that is all. Whatever else they would call, a
// function of libm or of the compiler's own run-time library, is an error here.
static const char* c_library(void) {
  Dl_info info;
  return dladdr((void*)(uintptr_t)gnu_get_libc_version, &info) && info.dli_fname ? info.dli_fname : "";
}

pb_status pb_code_link(const char* const* objects, int count, const char* shared, pb_diag* diag) {
  enum { FIRST = 9 };
  const char* argv[PB_CODE_OBJECTS + FIRST + 3] = {
      "ld.lld",      "-shared", "--hash-style=gnu", "--build-id=none", "--no-undefined", "--no-mmap-output-file",
      "--threads=1", // of others it would end where no more can be started
      "-o",          shared};
  for (int g = 0; g < count; ++g) argv[FIRST + g] = objects[g];
  argv[FIRST + count] = "--as-needed";
  argv[FIRST + count + 1] = c_library();
  if (is_full(objects, count, shared)) { // where LLD would end with words of its own
    errno = ENOSPC;
    return pb_system_error(diag, (pb_place){.file = shared}, 4202, "cannot be written");
  }
  int code = 0;
  char* arguments[PB_CODE_OBJECTS + FIRST + 3];
  memcpy(arguments, argv, sizeof argv);
  PB_TRY(pb__lld_run(arguments, diag, &code));
  return WIFEXITED(code) && WEXITSTATUS(code) == 0 ? PB_OK : fail(diag);
}
