#include "targets/emit/llvm/lld.h"

#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

pb_status pb__lld_run(char* const* arguments, pb_diag* diag, int* code) {
  pid_t pid;
  if (posix_spawn(&pid, PB_LLD, NULL, NULL, arguments, environ))
    return pb_system_error(diag, (pb_place){.file = PB_LLD}, 4201, "cannot be started");
  waitpid(pid, code, 0);
  return PB_OK;
}
