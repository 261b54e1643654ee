// Preloaded into ld.lld: the program waits, with its libraries loaded and started, and runs each job in a fork of
// itself. What it takes from being started to its first line is three quarters of a link of small kernels.
//
// A job on LLD_JOBS is one packet, the arguments with a 0 behind each; the answer is how the fork ended, an int as
// waitpid says. At the end of the jobs it ends.
#define _GNU_SOURCE
#include "lld_waits.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_function(int, char**, char**);
static main_function* lld_main;

static int run(char* job, size_t bytes, char** environment) {
  static char* arguments[LLD_ARGUMENTS + 1];
  int count = 0;
  close(LLD_JOBS);
  for (char* at = job; at < job + bytes && count < LLD_ARGUMENTS; at += strlen(at) + 1) arguments[count++] = at;
  return lld_main(count, arguments, environment);
}

static int wait_for_jobs(int argc, char** argv, char** environment) {
  static char job[LLD_BYTES + 1];
  (void)argc, (void)argv;
  for (ssize_t n; (n = recv(LLD_JOBS, job, LLD_BYTES, 0)) > 0;) {
    int code;
    pid_t pid = fork();
    if (pid == 0) return run(job, (size_t)n, environment);
    if (pid < 0 || waitpid(pid, &code, 0) != pid) return 1;
    if (send(LLD_JOBS, &code, sizeof code, MSG_NOSIGNAL) != sizeof code) return 1;
  }
  return 0;
}

// The C library's function that calls main.
typedef int start_function(main_function*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
start_function __libc_start_main;
int __libc_start_main(main_function* entry, int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end) {
  start_function* real;
  *(void**)&real = dlsym(RTLD_NEXT, "__libc_start_main");
  lld_main = entry;
  return real(wait_for_jobs, argc, argv, init, fini, rtld_fini, stack_end);
}
