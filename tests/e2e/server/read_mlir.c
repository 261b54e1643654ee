// pb-read-mlir in a fork of the process that wants it, whose start takes longer than most of the tests' texts to parse.
// For programs that have its main as pb_read_mlir_main and are linked with --wrap=pb__flat_spawn. What stands in front
// of it in the process's memory counts against its limit too, which is next to nothing.
//
// A process with other threads starts the program itself where it is sanitised: one of them may end right now, and in
// the fork AddressSanitizer's memory would be locked by it for ever.
#include "core/frontend/stablehlo/flat/spawn.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int pb_read_mlir_main(int argc, char** argv);
int __real_pb__flat_spawn(const char* program, char* const argv[], int in, int out, pid_t* pid);
int __wrap_pb__flat_spawn(const char* program, char* const argv[], int in, int out, pid_t* pid);

static int may_hang_in_a_fork(void) {
#ifdef __SANITIZE_ADDRESS__
  DIR* threads = opendir("/proc/self/task");
  int count = 0;
  for (const struct dirent* e = threads ? readdir(threads) : NULL; e; e = readdir(threads))
    count += e->d_name[0] != '.';
  if (threads) closedir(threads);
  return count != 1;
#else
  return 0;
#endif
}

int __wrap_pb__flat_spawn(const char* program, char* const argv[], int in, int out, pid_t* pid) {
  int argc = 0;
  if (may_hang_in_a_fork()) return __real_pb__flat_spawn(program, argv, in, out, pid);
  while (argv[argc]) ++argc;
  *pid = fork();
  if (*pid < 0) return errno;
  if (*pid > 0) return 0;
  if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0) {
    perror("dup2");
    _exit(1);
  }
  signal(SIGSEGV, SIG_DFL); // MLIR's parser may fall over a text: of that pb-read-mlir dies, and no sanitizer asks why
  signal(SIGABRT, SIG_DFL);
  _exit(pb_read_mlir_main(argc, (char**)(uintptr_t)argv));
}
