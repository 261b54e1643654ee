// MLIR's parser runs in a program of its own, pb-read-mlir (tools/pb-read-mlir.c): it is started, heard and judged
// here.
#define _GNU_SOURCE
#include "core/frontend/flat.h"

#include "core/base/arena.h"
#include "core/base/installation.h"
#include "core/frontend/stablehlo/flat/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 60 };
// Memory, and so much more for each byte of the file; a second more for so many bytes.
#define MEMORY ((uint64_t)4 << 30)
enum { BYTES_A_BYTE = 64, BYTES_A_SECOND = 1 << 20 };
enum { PLACE_SECONDS = 20 }; // to find out where a text ends the parser

// The first operator of either decides. A name in front of which something else stands than in front of an operator is
// part of a path or a word.
static pb_flat_language language_of(const char* text, size_t n, bool* decided) {
  static const struct {
    const char* name;
    pb_flat_language is;
  } dialects[] = {{"stablehlo.", PB_FLAT_STABLEHLO}, {"chlo.", PB_FLAT_STABLEHLO}, {"vhlo.", PB_FLAT_STABLEHLO},
                  {"linalg.", PB_FLAT_LINALG},       {"tensor.", PB_FLAT_LINALG},  {"arith.", PB_FLAT_LINALG},
                  {"math.", PB_FLAT_LINALG},         {"scf.", PB_FLAT_LINALG},     {"tosa.", PB_FLAT_LINALG}};
  for (const char *at = text, *end = text + n; (at = memchr(at, '.', (size_t)(end - at))); ++at)
    for (size_t k = 0; k < sizeof dialects / sizeof *dialects; ++k) {
      size_t length = strlen(dialects[k].name);
      const char* from = at + 1 - length;
      if ((size_t)(at + 1 - text) < length || strncmp(from, dialects[k].name, length) != 0) continue;
      if (from > text && !strchr(" \t\n\"=#(", from[-1])) continue;
      *decided = true;
      return dialects[k].is;
    }
  return PB_FLAT_STABLEHLO;
}

pb_flat_language pb_flat_sniff(const char* path) {
  enum { PIECE = 1 << 16, OVERLAP = 32 };
  char* text = malloc(PIECE);
  if (!text) pb_no_memory(PIECE);
  FILE* f = fopen(path, "rb");
  size_t kept = 0;
  bool decided = false;
  pb_flat_language is = PB_FLAT_STABLEHLO;
  while (f && !decided) {
    size_t got = fread(text + kept, 1, PIECE - kept, f), n = kept + got;
    if (!got) break;
    is = language_of(text, n, &decided);
    kept = n < OVERLAP ? n : OVERLAP;
    memmove(text, text + n - kept, kept);
  }
  if (f) fclose(f);
  free(text);
  return is;
}

// Bytecode of StableHLO cannot be read without the dialect, and of linalg there is text.
static pb_status check_form(const char* path, pb_diag* diag) {
  char head[4];
  FILE* f = fopen(path, "rb");
  size_t n = f ? fread(head, 1, sizeof head, f) : 0;
  if (f) fclose(f);
  if (n < 4 || strncmp(head, "ML\xefR", 4) != 0) return PB_OK;
  return pb_unsupported(diag, (pb_place){.file = path, .line = 1, .column = 1}, 2102,
                        "stablehlo-translate --deserialize FILE; of linalg mlir-opt FILE",
                        "this is bytecode; only text is read");
}

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

// How it went when no result came; `place` is as far as it read.
static pb_status ended(pb_place place, int how, pb_diag* diag) {
  if (WIFSIGNALED(how) && WTERMSIG(how) != SIGXCPU && WTERMSIG(how) != SIGKILL)
    return pb_error(diag, place, 2105, "the text is damaged, or far too large",
                    "MLIR's parser fell over it, or had no memory left (signal %d)", WTERMSIG(how));
  if (WIFSIGNALED(how))
    return pb_error(diag, place, 2104, "the text is damaged, or far too large", "MLIR's parser took too long");
  return pb_error(diag, place, 2105, "the text is damaged, or far too large", "MLIR's parser ended without a result");
}

// The diagnostics go on; the last head says how it went. `data` becomes the flat form's when it is taken. false: no
// result came.
static bool take(const char* path, heard* h, int how, pb_diag* diag, pb_flat* flat, pb_status* status) {
  size_t at = 0;
  pb_flat_head last = {0};
  while (h->count - at >= sizeof last) {
    memcpy(&last, h->data + at, sizeof last);
    at += sizeof last;
    if (last.bytes > h->count - at) return false;
    if (last.kind != 'D') break;
    char text[PB_FLAT_MESSAGE];
    if (last.bytes >= sizeof text) return false;
    memcpy(text, h->data + at, (size_t)last.bytes);
    text[last.bytes] = 0;
    pb_diag_pass(diag, last.error, last.code, text);
    at += (size_t)last.bytes;
  }
  *status = last.kind == 'S' ? (pb_status)last.code : PB_OK;
  if (*status == PB_ERR_INPUT || *status == PB_ERR_UNSUPPORTED || *status == PB_ERR_SYSTEM) return true;
  if (last.kind != 'F' || !WIFEXITED(how) || WEXITSTATUS(how)) return false;
  memmove(h->data, h->data + at, (size_t)last.bytes);
  if (!pb_flat_unpack(h->data, (size_t)last.bytes, flat)) return false;
  flat->file = pb_strdup(&flat->arena, path);
  h->data = NULL;
  return true;
}

// A text and how it is read.
typedef struct job {
  const char* path;
  pb_flat_language language;
  const char* const* attributes;
} job;

// The program with `text`, a file of `size` bytes, as its standard input and `out` as its standard output.
static pb_status start(const job* j, int text, uint64_t size, uint64_t seconds, int out, pb_diag* diag, pid_t* pid) {
  char program[2112], limits[2][32];
  pb_installed_program("pb-read-mlir", program, sizeof program);
  const char* words[] = {[PB_FLAT_STABLEHLO] = "stablehlo", [PB_FLAT_LINALG] = "linalg"};
  snprintf(limits[0], sizeof limits[0], "%llu", (unsigned long long)seconds);
  snprintf(limits[1], sizeof limits[1], "%llu", (unsigned long long)(MEMORY + size * BYTES_A_BYTE));
  size_t count = 0;
  while (j->attributes[count]) ++count;
  pb_arena scratch = {0};
  char** argv = PB_NEW_ARRAY(&scratch, char*, count + 6);
  const char* first[] = {program, j->path, limits[0], limits[1], words[j->language]};
  for (size_t k = 0; k < 5; ++k) argv[k] = (char*)(uintptr_t)first[k];
  for (size_t k = 0; k < count; ++k) argv[5 + k] = (char*)(uintptr_t)j->attributes[k];
  errno = pb__flat_spawn(program, argv, text, out, pid);
  pb_status status = errno ? pb_system_error(diag, (pb_place){.file = program}, 1001, "cannot be started") : PB_OK;
  pb_arena_free(&scratch);
  return status;
}

// All that the program says, and how it ended.
static pb_status run(const job* j, int text, uint64_t size, uint64_t seconds, pb_diag* diag, heard* h, int* how) {
  int ends[2];
  pid_t pid = 0;
  if (pipe2(ends, O_CLOEXEC)) return pb_system_error(diag, (pb_place){.file = j->path}, 1001, "no pipe");
  pb_status status = start(j, text, size, seconds, ends[1], diag, &pid);
  close(ends[1]);
  if (status == PB_OK) {
    if (!hear(ends[0], (double)seconds * 2, h)) kill(pid, SIGKILL);
    while (waitpid(pid, how, 0) < 0 && errno == EINTR) continue;
  }
  close(ends[0]);
  return status;
}

// Whether the first n bytes are as fatal as the whole text is. They are read within a second: the whole took a minute,
// or fell over something.
static bool is_fatal(const job* j, const char* text, size_t n) {
  int file = memfd_create("text", MFD_CLOEXEC), how = 0;
  pb_diag silent = {.sink = pb_diag_drop};
  pb_flat flat = {0};
  pb_status status = PB_OK;
  heard h = {0};
  bool fatal = false;
  if (file >= 0 && write(file, text, n) == (ssize_t)n && !lseek(file, 0, SEEK_SET) &&
      run(j, file, n, 1, &silent, &h, &how) == PB_OK)
    fatal = !take(j->path, &h, how, &silent, &flat, &status);
  pb_flat_free(&flat);
  free(h.data);
  if (file >= 0) close(file);
  return fatal;
}

// The parser goes through the text from its beginning, so what it does not survive lies at the end of the shortest
// beginning that it does not survive. Halved until one byte is left, or for PLACE_SECONDS.
static pb_place place_of_end(const job* j, int text, size_t size) {
  pb_place place = {.file = j->path, .line = 1, .column = 1};
  struct timespec start, now;
  const char* bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, text, 0) : MAP_FAILED;
  if (bytes == MAP_FAILED) return place;
  clock_gettime(CLOCK_MONOTONIC, &start);
  size_t good = 0, bad = size;
  do {
    size_t half = good + (bad - good) / 2;
    if (half == good) break;
    *(is_fatal(j, bytes, half) ? &bad : &good) = half;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - start.tv_sec < PLACE_SECONDS);
  for (size_t k = 0; k + 1 < bad; ++k) {
    place.column = bytes[k] == '\n' ? 1 : place.column + 1;
    place.line += bytes[k] == '\n';
  }
  munmap((void*)(uintptr_t)bytes, size);
  return place;
}

pb_status pb_flat_read(const char* path, pb_flat_language language, const char* const* attributes, pb_diag* diag,
                       pb_flat* flat) {
  const job j = {path, language, attributes};
  struct stat info;
  int how = 0, text = open(path, O_RDONLY | O_CLOEXEC);
  heard h = {0};
  pb_status status = PB_OK;
  if (text < 0 || fstat(text, &info)) status = pb_system_error(diag, (pb_place){.file = path}, 1001, "cannot be read");
  if (status == PB_OK) status = check_form(path, diag);
  if (status == PB_OK) {
    uint64_t size = (uint64_t)info.st_size;
    status = run(&j, text, size, SECONDS + size / BYTES_A_SECOND, diag, &h, &how);
    if (status == PB_OK && !take(path, &h, how, diag, flat, &status))
      status = ended(place_of_end(&j, text, (size_t)size), how, diag);
  }
  if (text >= 0) close(text);
  free(h.data);
  return status;
}
