// pbc, what reads its texts and pb-run many times for the price of one start: the tools' own mains, one job after the
// other in a fork of this process. A job that crashes or hangs takes only that fork with it; the next has a new one.
//
// A job on standard input: a line `SECONDS COUNT`, then COUNT lines, the command line with the tool's path first. The
// answer on standard output: a line `CODE OUT ERR`, then OUT bytes of the job's standard output and ERR bytes of its
// standard error; CODE is the exit code, minus the signal that ended the job, or `timeout`.
#define _GNU_SOURCE
#include "server_cache.h"

#include "tdl/chip.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
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

enum { MAX_ARGS = 4096, LEAKS_EVERY = 64, LEAKED = 86 }; // 86: what scripts/test has sanitizers end with

static void fail(const char* what) {
  perror(what);
  exit(1);
}

// ---- jobs: a command line each, a line for each word ----

typedef struct {
  long seconds; // that it may take
  int count;
  char* args[MAX_ARGS + 1];
} job;

// A line without its end; NULL at the end of the input. The caller frees it.
static char* read_line(FILE* from) {
  char* line = NULL;
  size_t capacity = 0;
  ssize_t n = getline(&line, &capacity, from);
  if (n <= 0) {
    free(line);
    return NULL;
  }
  if (line[n - 1] == '\n') line[n - 1] = 0;
  return line;
}

static void free_job(job* j) {
  for (int k = 0; k < j->count; ++k) free(j->args[k]);
  *j = (job){0};
}

// False: there is none any more.
static bool read_job(FILE* from, job* j) {
  int count;
  *j = (job){0};
  char* head = read_line(from);
  bool good = head && sscanf(head, "%ld %d", &j->seconds, &count) == 2 && count >= 1 && count <= MAX_ARGS;
  if (head && !good) fprintf(stderr, "no job: '%s'\n", head);
  free(head);
  if (!good) return false;
  while (j->count < count && (j->args[j->count] = read_line(from))) ++j->count;
  if (j->count == count) return true;
  free_job(j);
  return false;
}

static void write_job(FILE* to, const job* j) {
  fprintf(to, "%ld %d\n", j->seconds, j->count);
  for (int k = 0; k < j->count; ++k) fprintf(to, "%s\n", j->args[k]);
  fflush(to);
}

// ---- the worker: one job after the other, until one ends it or hangs ----

typedef struct {
  pid_t pid; // 0: none
  FILE* jobs;
  int codes;    // where its jobs' exit codes are read
  int files[2]; // what its jobs print
} worker;

// What server.py asks for, to see what becomes of it.
static int probe(const char* what) {
  for (int k = 0; k < 8 && !strcmp(what, "leak"); ++k) { // the last may be known to a register
    char* volatile lost = malloc(1 << 10);
    *lost = 1;
  }
  pb_chip* chip;
  if (!strcmp(what, "chip") && pb_chip_find("simnpu", NULL, NULL, &chip)) return 1;
  if (!strcmp(what, "crash")) raise(SIGKILL);
  if (!strcmp(what, "exit")) exit(7);
  if (!strcmp(what, "hang")) pause();
  if (!strcmp(what, "chips")) return printf("%ld\n", pb__cache_chips_read()), 3;
  return printf("%s\n", what), 3;
}

static int run_tool(int argc, char** argv) {
  const char* slash = strrchr(argv[0], '/');
  const char* tool = slash ? slash + 1 : argv[0];
  if (!strcmp(tool, "pbc")) return pbc_main(argc, argv);
  if (!strcmp(tool, "pb-run")) return pb_run_main(argc, argv);
  if (!strcmp(tool, "probe") && argc == 2) return probe(argv[1]);
  fprintf(stderr, "no tool '%s' here\n", tool);
  return 127;
}

// LeakSanitizer would look when the process ends. It takes as long as a job: each so many jobs, and after the last.
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
static bool leaks(void) {
  if (!__lsan_do_recoverable_leak_check || !__lsan_do_recoverable_leak_check()) return false;
  fprintf(stderr, "in this job or one of the %d in front of it\n", LEAKS_EVERY - 1);
  return true;
}

// As a program ends, which writes down the lines that ran, for scripts/mutate. LeakSanitizer has looked already.
static _Noreturn void leave(int code) {
  if (__lsan_do_recoverable_leak_check) _exit(code);
  exit(code);
}

static _Noreturn void be_worker(int jobs, int codes, const int files[2]) {
  job j;
  setpgid(0, 0);
  signal(SIGPIPE, SIG_DFL);
  FILE* from = fdopen(jobs, "r");
  if (!from || dup2(files[0], 1) < 0 || dup2(files[1], 2) < 0 || !freopen("/dev/null", "r", stdin)) fail("worker");
  for (int count = 1; read_job(from, &j); ++count) {
    int code = run_tool(j.count, j.args);
    fflush(NULL);
    free_job(&j);
    if (pb__cache_chip_is_kept()) {
      fprintf(stderr, "this job has not freed a chip\n");
      leave(LEAKED);
    }
    if (count % LEAKS_EVERY == 0 && leaks()) leave(LEAKED);
    if (write(codes, &code, sizeof code) != sizeof code) break;
  }
  leave(leaks() ? LEAKED : 0);
}

static void start_worker(worker* w) {
  int jobs[2], codes[2];
  if (pipe2(jobs, O_CLOEXEC) || pipe2(codes, O_CLOEXEC)) fail("pipe2");
  w->pid = fork();
  if (w->pid < 0) fail("fork");
  if (w->pid == 0) {
    close(jobs[1]);
    close(codes[0]);
    be_worker(jobs[0], codes[1], w->files);
  }
  close(jobs[0]);
  close(codes[1]);
  w->codes = codes[0];
  w->jobs = fdopen(jobs[1], "w");
  if (!w->jobs) fail("fdopen");
}

// How it ended, as waitpid says.
static int end_worker(worker* w, bool kill_it) {
  int status;
  if (kill_it) kill(-w->pid, SIGKILL);
  fclose(w->jobs);
  close(w->codes);
  if (waitpid(w->pid, &status, 0) != w->pid) fail("waitpid");
  w->pid = 0;
  return status;
}

// The exit code, or minus the signal that ended the job. False: it took too long.
static bool run_job(worker* w, const job* j, int* code) {
  for (int k = 0; k < 2; ++k) {
    if (ftruncate(w->files[k], 0) || lseek(w->files[k], 0, SEEK_SET)) fail("files");
  }
  if (!w->pid) start_worker(w);
  write_job(w->jobs, j);
  struct pollfd end = {.fd = w->codes, .events = POLLIN};
  int ready = poll(&end, 1, (int)(j->seconds * 1000));
  if (ready < 0) fail("poll");
  if (ready == 0) {
    (void)end_worker(w, true);
    return false;
  }
  if (read(w->codes, code, sizeof *code) == sizeof *code) return true;
  int status = end_worker(w, false); // the job ended the process
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return true;
}

static size_t size_of(int file) {
  struct stat s;
  if (fstat(file, &s)) fail("fstat");
  return (size_t)s.st_size;
}

static void send_file(int file, size_t bytes, FILE* to) {
  char part[1 << 16];
  lseek(file, 0, SEEK_SET);
  while (bytes) {
    ssize_t n = read(file, part, bytes < sizeof part ? bytes : sizeof part);
    if (n <= 0 || fwrite(part, 1, (size_t)n, to) != (size_t)n) fail("answer");
    bytes -= (size_t)n;
  }
}

static void answer(worker* w, const job* j) {
  int code;
  bool ended = run_job(w, j, &code);
  size_t bytes[2] = {size_of(w->files[0]), size_of(w->files[1])};
  if (ended)
    printf("%d", code);
  else
    printf("timeout");
  printf(" %zu %zu\n", bytes[0], bytes[1]);
  for (int k = 0; k < 2; ++k) send_file(w->files[k], bytes[k], stdout);
  fflush(stdout);
}

int main(int argc, char** argv) {
  worker w = {.files = {memfd_create("out", MFD_CLOEXEC), memfd_create("err", MFD_CLOEXEC)}};
  job j;
  if (argc != 1) return fprintf(stderr, "%s takes jobs on standard input\n", argv[0]), 1;
  if (w.files[0] < 0 || w.files[1] < 0) fail("memfd_create");
  if (!pb__cache_start()) fail("cache");
  mallopt(M_ARENA_MAX, 2);  // each thread's would reserve 128 MB of the room that tests give a worker
  signal(SIGPIPE, SIG_IGN); // a worker that is gone is seen where its code is read
  for (; read_job(stdin, &j); free_job(&j)) answer(&w, &j);
  int status = w.pid ? end_worker(&w, false) : 0;
  if (status) send_file(w.files[1], size_of(w.files[1]), stderr);
  pb__cache_stop();
  return status ? LEAKED : 0;
}
