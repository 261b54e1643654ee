#define _GNU_SOURCE
#include "core/base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, NAME = 4096 };

// Those of this process. A lock on each says to others that it is in use; one beyond them is removed by its maker
// alone.
static struct {
  char path[NAME];
  int lock;
  bool is_file;
  volatile sig_atomic_t used;
} mine[MOST];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

typedef struct entry { // getdents64
  uint64_t inode;
  int64_t next;
  unsigned short length;
  unsigned char type;
  char name[];
} entry;

// Calls of the system alone: signals come at any time.
static void empty(const char* path) {
  union {
    entry first;
    char bytes[4096];
  } list;
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  for (long got; (got = syscall(SYS_getdents64, folder, list.bytes, sizeof list.bytes)) > 0;)
    for (long at = 0; at < got;) {
      const entry* e = (const entry*)(const void*)(list.bytes + at);
      (void)unlinkat(folder, e->name, 0); // of . and .. it does nothing
      at += e->length;
    }
  close(folder);
  (void)rmdir(path);
}

// Whether the process of the number that begins there is dead; *end: behind the number.
static bool is_dead(const char* number, char** end) {
  long pid = strtol(number, end, 10);
  return *end != number && pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH;
}

// pb-PID-XXXXXX of this user, whose process is dead and whose lock nobody has: that of another's namespace may live.
static void remove_dead(const char* base, const char* name) {
  char path[NAME], *end;
  struct stat is;
  if (strncmp(name, "pb-", 3) != 0) return;
  if (!is_dead(name + 3, &end) || *end != '-' || strlen(end) != 7) return;
  if ((size_t)snprintf(path, sizeof path, "%s/%s", base, name) >= sizeof path) return;
  if (lstat(path, &is) || !S_ISDIR(is.st_mode) || is.st_uid != geteuid()) return;
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0 && !flock(folder, LOCK_EX | LOCK_NB)) empty(path);
  if (folder >= 0) close(folder);
}

// A place among those of this process, MOST: none is free. The caller has the lock.
static int note(const char* path, bool is_file) {
  int k = 0;
  while (k < MOST && mine[k].used) ++k;
  if (k == MOST || strlen(path) >= NAME) return MOST;
  strcpy(mine[k].path, path);
  mine[k].lock = -1;
  mine[k].is_file = is_file;
  mine[k].used = 1;
  return k;
}

// It is known before it is there: a signal may come in between.
static bool make(const char* path) {
  pthread_mutex_lock(&making);
  int k = note(path, false);
  bool fits = k < MOST;
  bool good = !mkdir(path, 0700);
  int error = errno;
  if (fits && good) mine[k].lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fits && mine[k].lock >= 0) (void)flock(mine[k].lock, LOCK_SH | LOCK_NB);
  if (fits && !good) mine[k].used = 0;
  pthread_mutex_unlock(&making);
  errno = error;
  return good;
}

const char* pb_scratch_make(pb_arena* arena) {
  const char* base = getenv("TMPDIR");
  if (!base || !*base) base = P_tmpdir;
  DIR* all = opendir(base);
  for (struct dirent* e; all && (e = readdir(all));) remove_dead(base, e->d_name);
  if (all) closedir(all);
  for (int tries = 0; tries < 100; ++tries) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const char* path = pb_printf(arena, "%s/pb-%ld-%06x", base, (long)getpid(), (unsigned)now.tv_nsec & 0xffffff);
    if (make(path)) return path;
    if (errno != EEXIST) break;
  }
  return NULL;
}

static void forget(const char* path) {
  pthread_mutex_lock(&making);
  for (int k = 0; k < MOST; ++k) {
    if (!mine[k].used || strcmp(mine[k].path, path) != 0) continue;
    mine[k].used = 0;
    if (mine[k].lock >= 0) close(mine[k].lock);
  }
  pthread_mutex_unlock(&making);
}

void pb_scratch_remove(const char* folder) {
  empty(folder);
  forget(folder);
}

void pb_scratch_file(const char* path) {
  pthread_mutex_lock(&making);
  (void)note(path, true);
  pthread_mutex_unlock(&making);
}

void pb_scratch_forget(const char* path) { forget(path); }

// Its maker has a lock on it, which says that it lives where its number says nothing: in another namespace.
static void remove_part(const char* path) {
  struct stat is;
  if (lstat(path, &is) || !S_ISREG(is.st_mode) || is.st_uid != geteuid()) return;
  int file = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file >= 0 && !flock(file, LOCK_EX | LOCK_NB)) (void)unlink(path);
  if (file >= 0) close(file);
}

void pb_scratch_remove_parts(const char* path) {
  char folder[NAME], part[2 * NAME];
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  int length = slash ? (int)(slash - path) : 0;
  if ((size_t)snprintf(folder, sizeof folder, "%.*s", length, path) >= sizeof folder) return;
  DIR* all = opendir(slash ? (length ? folder : "/") : ".");
  for (struct dirent* e; all && (e = readdir(all));) {
    size_t n = strlen(name);
    char* end;
    if (strncmp(e->d_name, name, n) != 0 || e->d_name[n] != '.') continue;
    if (!is_dead(e->d_name + n + 1, &end) || strcmp(end, ".part") != 0) continue;
    if (snprintf(part, sizeof part, "%s%s%s", folder, slash ? "/" : "", e->d_name) < (int)sizeof part)
      remove_part(part);
  }
  if (all) closedir(all);
}

void pb_scratch_remove_all(void) {
  for (int k = 0; k < MOST; ++k)
    if (mine[k].used && mine[k].is_file)
      (void)unlink(mine[k].path);
    else if (mine[k].used)
      empty(mine[k].path);
}

static void end(int number) {
  pb_scratch_remove_all();
  (void)signal(number, SIG_DFL);
  (void)raise(number);
}

void pb_scratch_end_on_signals(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; ++k) {
    struct sigaction now;
    if (sigaction(numbers[k], NULL, &now) || now.sa_handler != SIG_DFL) continue; // nohup stays so
    (void)signal(numbers[k], end);
  }
}
