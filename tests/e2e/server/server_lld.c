// The jobs of a pb-server share one ld.lld, started with the first that links and forked for each (lld_waits.c).
#define _GNU_SOURCE
#include "lld_waits.h"
#include "targets/emit/llvm/lld.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

extern char** environ;
pb_status __wrap_pb__lld_run(char* const* arguments, pb_diag* diag, int* code);

static int jobs = -1;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

// It ends when this process has: then nobody has the other end of its socket.
static bool start(const char* program) {
  int ends[2];
  pid_t pid;
  posix_spawn_file_actions_t files;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) return false;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], LLD_JOBS);
  char* const arguments[] = {(char*)(uintptr_t)program, NULL};
  size_t count = 0;
  while (environ[count]) ++count;
  char** environment = calloc(count + 2, sizeof *environment);
  if (!environment) return false;
  memcpy(environment, environ, count * sizeof *environment);
  environment[count] = (char[]){"LD_PRELOAD=" PB_LLD_WAITS};
  bool good = !posix_spawn(&pid, PB_LLD, &files, NULL, arguments, environment);
  free(environment);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  jobs = ends[0];
  return good;
}

static bool run(char* const* arguments, int* code) {
  char job[LLD_BYTES];
  size_t bytes = 0;
  for (int k = 0; arguments[k]; ++k) {
    size_t n = strlen(arguments[k]) + 1;
    if (k == LLD_ARGUMENTS || n > sizeof job - bytes) return false;
    memcpy(job + bytes, arguments[k], n);
    bytes += n;
  }
  return send(jobs, job, bytes, MSG_NOSIGNAL) == (ssize_t)bytes && recv(jobs, code, sizeof *code, 0) == sizeof *code;
}

pb_status __wrap_pb__lld_run(char* const* arguments, pb_diag* diag, int* code) {
  (void)pthread_mutex_lock(&one_at_a_time);
  bool good = (jobs >= 0 || start(arguments[0])) && run(arguments, code);
  (void)pthread_mutex_unlock(&one_at_a_time);
  return good ? PB_OK : pb_system_error(diag, (pb_place){.file = PB_LLD}, 4201, "takes no jobs");
}
