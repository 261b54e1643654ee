// The child process that MLIR's parser runs in: text from outside can make it take any time and memory, or fall over.
#define _GNU_SOURCE
#include "core/frontend/flat.h"

#include "core/base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED // they take all of the address space
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

enum { SECONDS = 60, TEXT = 4096 };
// Memory, and so much more for each byte of the file; a second more for so many bytes.
#define MEMORY ((uint64_t)4 << 30)
enum { BYTES_A_BYTE = 64, BYTES_A_SECOND = 1 << 20 };

// Forms of StableHLO that MLIR cannot read without the dialect: bytecode, and text that is not generic. The whole file
// need not be looked at: an operation of either form stands near its beginning.
static pb_status check_form(const char* path, pb_diag* diag) {
  char head[16384];
  FILE* f = fopen(path, "rb");
  size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;
  if (f) fclose(f);
  for (size_t k = 0; k < n; ++k)
    if (!head[k]) head[k] = ' ';
  head[n] = 0;
  pb_place place = {.file = path};
  if (!strncmp(head, "ML\xefR", 4))
    return pb_unsupported(diag, place, 2102,
                          "stablehlo-translate --deserialize FILE | stablehlo-opt --mlir-print-op-generic",
                          "this is bytecode; only generic text is read");
  if (strstr(head, "= stablehlo.") || strstr(head, "= chlo.") || strstr(head, "\n  func.func ") ||
      strstr(head, "\nfunc.func ") || !strncmp(head, "func.func ", 10) || !strncmp(head, "module ", 7))
    return pb_unsupported(diag, place, 2103,
                          "stablehlo-opt --mlir-print-op-generic FILE, or get_asm(print_generic_op_form=True)",
                          "this is text in the pretty form; only the generic one is read");
  return PB_OK;
}

// ---- the child ----

// What it writes: diagnostics, each a head and its text, then a head and the flat form, or only the status.
typedef struct head {
  char kind; // 'D', 'F' or 'S'
  char error;
  int32_t code; // D: of the diagnostic; S: the status
  uint64_t bytes;
} head;

static bool put(int to, const void* bytes, size_t count) {
  for (const char* at = bytes; count;) {
    ssize_t n = write(to, at, count);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    count -= (size_t)n;
  }
  return true;
}

static void hand_diagnostic(void* user, bool error, int code, const char* text) {
  head h = {.kind = 'D', .error = error, .code = code, .bytes = strlen(text)};
  int to = *(int*)user;
  if (h.bytes >= TEXT) h.bytes = TEXT - 1;
  (void)(put(to, &h, sizeof h) && put(to, text, (size_t)h.bytes));
}

static void limit(int what, uint64_t most) {
  struct rlimit old, now = {most, most};
  if (!getrlimit(what, &old) && old.rlim_max != RLIM_INFINITY && old.rlim_max < most) now = old;
  (void)setrlimit(what, &now);
}

static _Noreturn void child(int to, const char* path, const char* const* names, uint64_t size, uint64_t seconds) {
  limit(RLIMIT_CPU, seconds);
  limit(RLIMIT_CORE, 0);
#ifndef SANITIZED
  limit(RLIMIT_AS, MEMORY + size * BYTES_A_BYTE);
#else
  (void)size;
#endif
  pb_diag diag = {.sink = hand_diagnostic, .user = &to};
  pb_flat flat = {0};
  pb_status status = pb_flat_parse(path, names, &diag, &flat);
  head h = {.kind = status == PB_OK ? 'F' : 'S', .code = (int32_t)status};
  size_t bytes = 0;
  void* data = status == PB_OK ? pb_flat_pack(&flat, &bytes) : NULL;
  h.bytes = bytes;
  _exit(put(to, &h, sizeof h) && put(to, data, bytes) ? 0 : 1);
}

// ---- this process ----

typedef struct heard {
  char* data;
  size_t count, capacity;
} heard;

// Reads until the child is done; false: it took too long.
static bool hear(int from, double seconds, heard* h) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (;;) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    double left = seconds - (double)(now.tv_sec - start.tv_sec);
    struct pollfd p = {.fd = from, .events = POLLIN};
    int ready = left <= 0 ? 0 : poll(&p, 1, (int)(left * 1000) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    if (h->capacity - h->count < 65536) {
      h->capacity = h->capacity * 2 + 65536;
      char* grown = realloc(h->data, h->capacity);
      if (!grown) pb_no_memory(h->capacity);
      h->data = grown;
    }
    ssize_t n = read(from, h->data + h->count, h->capacity - h->count);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    h->count += (size_t)n;
  }
}

static pb_status ended(const char* path, int how, pb_diag* diag) {
  pb_place place = {.file = path};
  if (WIFSIGNALED(how) && WTERMSIG(how) != SIGXCPU && WTERMSIG(how) != SIGKILL)
    return pb_error(diag, place, 2105, "the text is damaged, or far too large",
                    "MLIR's parser fell over it, or had no memory left (signal %d)", WTERMSIG(how));
  if (WIFSIGNALED(how))
    return pb_error(diag, place, 2104, "the text is damaged, or far too large", "MLIR's parser took too long");
  return pb_error(diag, place, 2105, "the text is damaged, or far too large", "MLIR's parser ended without a result");
}

// The diagnostics go on; the last head says how it went. `data` becomes the flat form's when it is taken.
static pb_status take(const char* path, heard* h, int how, pb_diag* diag, pb_flat* flat) {
  size_t at = 0;
  head last = {0};
  while (h->count - at >= sizeof last) {
    memcpy(&last, h->data + at, sizeof last);
    at += sizeof last;
    if (last.bytes > h->count - at) return ended(path, how, diag);
    if (last.kind != 'D') break;
    char text[TEXT];
    if (last.bytes >= sizeof text) return ended(path, how, diag);
    memcpy(text, h->data + at, (size_t)last.bytes);
    text[last.bytes] = 0;
    pb_diag_pass(diag, last.error, last.code, text);
    at += (size_t)last.bytes;
  }
  if (last.kind == 'S' && (last.code == PB_ERR_INPUT || last.code == PB_ERR_UNSUPPORTED || last.code == PB_ERR_SYSTEM))
    return (pb_status)last.code;
  if (last.kind != 'F' || !WIFEXITED(how) || WEXITSTATUS(how)) return ended(path, how, diag);
  memmove(h->data, h->data + at, (size_t)last.bytes);
  if (!pb_flat_unpack(h->data, (size_t)last.bytes, flat)) return ended(path, how, diag);
  flat->file = pb_strdup(&flat->arena, path);
  h->data = NULL;
  return PB_OK;
}

pb_status pb_flat_read(const char* path, const char* const* attributes, pb_diag* diag, pb_flat* flat) {
  struct stat info;
  int ends[2], how = 0;
  if (stat(path, &info)) return pb_system_error(diag, (pb_place){.file = path}, 1001, "cannot be read");
  PB_TRY(check_form(path, diag));
  uint64_t size = (uint64_t)info.st_size, seconds = SECONDS + size / BYTES_A_SECOND;
  if (pipe2(ends, O_CLOEXEC)) return pb_system_error(diag, (pb_place){.file = path}, 1001, "no pipe");
  fflush(NULL);
  pid_t pid = fork();
  if (pid < 0) return pb_system_error(diag, (pb_place){.file = path}, 1001, "no child process");
  if (!pid) {
    close(ends[0]);
    child(ends[1], path, attributes, size, seconds);
  }
  close(ends[1]);
  heard h = {0};
  if (!hear(ends[0], (double)seconds * 2, &h)) kill(pid, SIGKILL);
  close(ends[0]);
  while (waitpid(pid, &how, 0) < 0 && errno == EINTR) continue;
  pb_status status = take(path, &h, how, diag, flat);
  free(h.data);
  return status;
}
