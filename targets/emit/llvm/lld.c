#include "targets/emit/llvm/lld.h"

#include "core/base/installation.h"

#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

pb_status pb__lld_run(char* const* arguments, pb_diag* diag, int* code) {
  pid_t pid;
  char path[4096];
  pb_program_path(PB_LLD, path, sizeof path);
  if (posix_spawn(&pid, path, NULL, NULL, arguments, environ))
    return pb_system_error(diag, (pb_place){.file = path}, 4201, "cannot be started");
  waitpid(pid, code, 0);
  return PB_OK;
}
