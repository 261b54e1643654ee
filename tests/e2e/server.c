// pbc and pb-run many times for the price of one start: the tools' own mains, each job in a fork of a process whose
// libraries are loaded and bound. A job that crashes or hangs takes only its fork with it.
//
// A job on standard input: a line `SECONDS COUNT`, then COUNT lines, the command line with the tool's path first. The
// answer on standard output: a line `CODE OUT ERR`, then OUT bytes of the job's standard output and ERR bytes of its
// standard error; CODE is the exit code, minus the signal that ended the job, or `timeout`.
#define _GNU_SOURCE
#include "core/base/diag.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int pbc_main(int argc, char** argv);
int pb_run_main(int argc, char** argv);

enum { MAX_ARGS = 256 };

static char cache[] = P_tmpdir "/pb-server-XXXXXX"; // descriptions as JSON

static void fail(const char* what) {
  perror(what);
  exit(1);
}

// ---- descriptions: llvm-tblgen reads each once ----

pb_status __real_pb__tblgen_run(const char* path, const char* variant, pb_diag* diag, char** json);
pb_status __wrap_pb__tblgen_run(const char* path, const char* variant, pb_diag* diag, char** json);

static char* read_text(const char* path) {
  char* text = NULL;
  size_t length = 0;
  FILE* from = fopen(path, "r");
  if (!from) return NULL;
  ssize_t n = getdelim(&text, &length, 0, from);
  fclose(from);
  if (n > 0) return text;
  free(text);
  return NULL;
}

// The name of what was read from that file as it is now. Its includes do not change while tests run.
static bool cache_name(const char* path, const char* variant, char* name, size_t size) {
  struct stat s;
  if (stat(path, &s)) return false;
  snprintf(name, size, "%s/%llx-%llx-%lld.%09ld-%lld-%s.json", cache, (unsigned long long)s.st_dev,
           (unsigned long long)s.st_ino, (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec, (long long)s.st_size,
           variant ? variant : "");
  return !variant || !strchr(variant, '/');
}

pb_status __wrap_pb__tblgen_run(const char* path, const char* variant, pb_diag* diag, char** json) {
  char name[512], fresh[544];
  if (!cache_name(path, variant, name, sizeof name)) return __real_pb__tblgen_run(path, variant, diag, json);
  *json = read_text(name);
  if (*json) return PB_OK;
  PB_TRY(__real_pb__tblgen_run(path, variant, diag, json));
  snprintf(fresh, sizeof fresh, "%s.%d", name, (int)getpid());
  FILE* to = fopen(fresh, "w");
  if (to && fputs(*json, to) >= 0 && !fclose(to)) (void)rename(fresh, name);
  return PB_OK;
}

static void remove_cache(void) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", cache);
  if (system(command)) perror(cache);
}

// ---- jobs ----

static int run_tool(int argc, char** argv) {
  const char* slash = strrchr(argv[0], '/');
  const char* tool = slash ? slash + 1 : argv[0];
  if (!strcmp(tool, "pbc")) return pbc_main(argc, argv);
  if (!strcmp(tool, "pb-run")) return pb_run_main(argc, argv);
  fprintf(stderr, "no tool '%s' here\n", tool);
  return 127;
}

static _Noreturn void be_job(int argc, char** argv, const int files[2], const sigset_t* mask) {
  setpgid(0, 0);
  sigprocmask(SIG_SETMASK, mask, NULL);
  if (dup2(files[0], 1) < 0 || dup2(files[1], 2) < 0 || !freopen("/dev/null", "r", stdin)) fail("dup2");
  exit(run_tool(argc, argv));
}

// Waits for the job; false: it took too long and was ended.
static bool wait_for(pid_t pid, long seconds, const sigset_t* child, int* status) {
  struct timespec limit = {.tv_sec = seconds};
  for (;;) {
    pid_t ended = waitpid(pid, status, WNOHANG);
    if (ended == pid) return true;
    if (ended < 0) fail("waitpid");
    if (sigtimedwait(child, NULL, &limit) < 0 && errno == EAGAIN) break;
  }
  kill(-pid, SIGKILL);
  waitpid(pid, status, 0);
  return false;
}

static void send_file(int file, size_t bytes) {
  char part[1 << 16];
  lseek(file, 0, SEEK_SET);
  while (bytes) {
    ssize_t n = read(file, part, bytes < sizeof part ? bytes : sizeof part);
    if (n <= 0 || fwrite(part, 1, (size_t)n, stdout) != (size_t)n) fail("answer");
    bytes -= (size_t)n;
  }
}

static void answer(int argc, char** argv, long seconds) {
  sigset_t child, before;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, &before);
  int files[2] = {memfd_create("out", MFD_CLOEXEC), memfd_create("err", MFD_CLOEXEC)}, status = 0;
  if (files[0] < 0 || files[1] < 0) fail("memfd_create");
  pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) be_job(argc, argv, files, &before);
  bool ended = wait_for(pid, seconds, &child, &status);
  size_t bytes[2];
  for (int k = 0; k < 2; ++k) {
    struct stat s;
    if (fstat(files[k], &s)) fail("fstat");
    bytes[k] = (size_t)s.st_size;
  }
  if (ended)
    printf("%d", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  else
    printf("timeout");
  printf(" %zu %zu\n", bytes[0], bytes[1]);
  for (int k = 0; k < 2; ++k) {
    send_file(files[k], bytes[k]);
    close(files[k]);
  }
  fflush(stdout);
}

// A line without its end; NULL at the end of the input. The caller frees it.
static char* read_line(void) {
  char* line = NULL;
  size_t capacity = 0;
  ssize_t n = getline(&line, &capacity, stdin);
  if (n <= 0) {
    free(line);
    return NULL;
  }
  if (line[n - 1] == '\n') line[n - 1] = 0;
  return line;
}

int main(int argc, char** argv) {
  if (argc != 1) return fprintf(stderr, "%s takes jobs on standard input\n", argv[0]), 1;
  if (!mkdtemp(cache)) fail(cache);
  for (char* head; (head = read_line());) {
    long seconds;
    int count, have = 0;
    char* args[MAX_ARGS + 1] = {0};
    if (sscanf(head, "%ld %d", &seconds, &count) != 2 || count < 1 || count > MAX_ARGS) {
      fprintf(stderr, "no job: '%s'\n", head);
      return 1;
    }
    while (have < count && (args[have] = read_line())) ++have;
    if (have == count) answer(count, args, seconds);
    for (int k = 0; k < have; ++k) free(args[k]);
    free(head);
  }
  remove_cache();
  return 0;
}
