// flat_mutants COUNT SEED FILE.mlir...: flat forms of texts with seeded damage, as a process that parses might hand
// them over. Each is refused, or makes a program in value form; none crashes, works for long or takes memory without
// end. Prints how many came to what, and the number of each that did not end well: flat_mutants 1 SEED:NUMBER FILE...
// is that one again.
#define _GNU_SOURCE
#include "core/driver/pipeline.h"
#include "core/frontend/flat.h"
#include "core/frontend/linalg/linalg.h"
#include "core/frontend/stablehlo/stablehlo.h"
#include "core/s1/control.h"
#include "core/s2/s2.h"
#include "core/s2/verify.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 20, BATCH = 512, WHY = 512, TURNS = 40, MOST = 1 << 20 };
#define MEMORY ((rlim_t)4 << 30)

typedef struct source {
  const char* path;
  pb_flat_language language;
  char* data;
  size_t bytes;
} source;

// What the process that judges says to the one that starts it.
typedef struct said {
  long now, refused, unread, parted, made; // unread: the bytes are no flat form; parted: has loops or branches
  char why[WHY];                           // of a mutant that did not end well
} said;

static uint64_t drawn(uint64_t* state) { // splitmix64
  uint64_t z = *state += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

static void keep(void* user, bool error, int code, const char* message) {
  (void)error;
  (void)code;
  snprintf(user, WHY, "%s", message);
}

// ---- damage ----

// A number of the form, which most of its bytes belong to: seven zeros behind one, or seven ones.
static bool is_number(const char* at) {
  for (int k = 3; k < 8; ++k)
    if (at[k] != at[7] || (at[k] && at[k] != -1)) return false;
  return true;
}

static void change_number(char* data, size_t bytes, uint64_t* state) {
  static const int64_t edges[] = {0, 1, -1, 2, 3, 7, 8, 16, 255, 65536, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  if (bytes < 16) return;
  for (int turn = 0; turn < 64; ++turn) {
    size_t at = (size_t)(drawn(state) % (bytes - 8));
    int64_t number;
    if (!is_number(data + at)) continue;
    memcpy(&number, data + at, 8);
    uint64_t how = drawn(state);
    number = how % 2 ? number + (how & 2 ? 1 : -1) : edges[how / 2 % (sizeof edges / sizeof *edges)];
    memcpy(data + at, &number, 8);
    return;
  }
}

static void change_byte(char* data, size_t bytes, uint64_t* state) {
  size_t at = (size_t)(drawn(state) % bytes);
  uint64_t how = drawn(state);
  data[at] = (char)(how % 3 == 0 ? data[at] ^ 1 << how / 3 % 8 : how % 3 == 1 ? (int)(how >> 8) : data[at] + 1);
}

// A copy of exactly its size, for AddressSanitizer.
static char* damage_once(const source* s, uint64_t* state, size_t* bytes) {
  *bytes = drawn(state) % 32 ? s->bytes : (size_t)(drawn(state) % s->bytes);
  char* copy = malloc(*bytes + !*bytes);
  if (!copy) abort();
  memcpy(copy, s->data, *bytes);
  for (uint64_t n = 1 + drawn(state) % 3; n && *bytes; --n)
    (drawn(state) % 4 ? change_number : change_byte)(copy, *bytes, state);
  return copy;
}

// Most damage is to sizes, which no reader takes: three mutants of four are drawn until the bytes are a flat form.
static bool damage(const source* s, uint64_t seed, long number, pb_flat* flat) {
  uint64_t state = seed * 1000003 + (uint64_t)number;
  size_t bytes;
  for (int turn = drawn(&state) % 4 ? 0 : TURNS - 1; turn < TURNS; ++turn) {
    char* data = damage_once(s, &state, &bytes);
    *flat = (pb_flat){0};
    if (pb_flat_unpack(data, bytes, flat)) return true;
    pb_flat_free(flat);
    free(data);
  }
  return false;
}

// ---- one mutant ----

// Value form is checked element by element.
static bool is_large(const pb_s1* program) {
  for (size_t v = 0; v < program->value_count; ++v) {
    double elements = 1;
    for (int r = 0; r < program->values[v].rank; ++r) elements *= (double)program->values[v].shape[r];
    if (elements > MOST) return true;
  }
  return false;
}

// False, and why: it is no program in value form.
static bool judge(MlirContext context, const pb_s1* program, const pb_consts* consts, char* why) {
  if (is_large(program)) return true;
  char* ir = pb_s2_build(program, consts);
  if (getenv("PB_FLAT_IR")) fputs(ir, stderr); // to look at one
  pb_diag diag = {.sink = keep, .user = why};
  snprintf(why, WHY, "stage S2 is no IR");
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(ir));
  bool good = !mlirModuleIsNull(module) && pb_s2_verify(module, "flat", &diag) == PB_OK;
  if (!mlirModuleIsNull(module)) mlirModuleDestroy(module);
  free(ir);
  return good;
}

static bool make(const source* s, const pb_flat* flat, MlirContext context, said* to) {
  pb_consts consts = {0};
  pb_s1 program = {0};
  char why[WHY] = "";
  pb_diag diag = {.sink = keep, .user = why};
  pb_status status = s->language == PB_FLAT_LINALG ? pb_linalg_make(flat, NULL, &consts, &diag, &program)
                                                   : pb_stablehlo_make(flat, NULL, &consts, &diag, &program);
  bool good = status == PB_OK || *why; // a refusal says why
  if (!good) snprintf(to->why, WHY, "refused without a word");
  if (status == PB_OK && pb_s1_has_control(&program)) {
    pb_segments parts = {0};
    good = pb_s1_segments(&program, &diag, &parts) == PB_OK || *why;
    pb_segments_free(&parts);
    ++to->parted;
  } else if (status == PB_OK) {
    good = judge(context, &program, &consts, to->why);
    ++to->made;
  } else {
    ++to->refused;
  }
  pb_s1_free(&program);
  pb_consts_free(&consts);
  return good;
}

static bool one(const source* s, uint64_t seed, long number, MlirContext context, said* to) {
  pb_flat flat = {0};
  bool good = true;
  (void)setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS}, NULL); // of its own time
  if (!damage(s, seed, number, &flat)) return ++to->unread;
  flat.file = "mutant.mlir";
  good = make(s, &flat, context, to);
  pb_flat_free(&flat);
  return good;
}

// ---- all of them ----

static _Noreturn void work(const source* sources, int count, uint64_t seed, long from, long end, said* to) {
  struct rlimit most = {MEMORY, MEMORY};
#if !defined(__SANITIZE_ADDRESS__)
  (void)setrlimit(RLIMIT_AS, &most);
#else
  (void)most;
#endif
  MlirContext context = pb_context_create();
  for (to->now = from; to->now < end; ++to->now) {
    *to->why = 0;
    if (!one(&sources[to->now % count], seed, to->now, context, to)) _exit(3);
  }
  _exit(0);
}

static long run(const source* sources, int count, uint64_t seed, long from, long end, said* to) {
  long failed = 0;
  while (from < end) {
    long stop = from + BATCH < end ? from + BATCH : end;
    int how;
    pid_t child = fork();
    if (child == 0) work(sources, count, seed, from, stop, to);
    if (child < 0 || waitpid(child, &how, 0) != child) return perror("fork"), failed + 1;
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0) {
      from = stop;
      continue;
    }
    ++failed;
    printf("FAILED flat %llu:%ld of %s: ", (unsigned long long)seed, to->now, sources[to->now % count].path);
    if (WIFSIGNALED(how))
      printf("%s\n", WTERMSIG(how) == SIGPROF ? "no end" : strsignal(WTERMSIG(how)));
    else
      printf("exit code %d: %s\n", WEXITSTATUS(how), to->why);
    fflush(stdout);
    from = to->now + 1;
  }
  return failed;
}

static bool load(source* s) {
  pb_flat flat = {0};
  pb_diag diag = {0};
  pb_arena names = {0};
  s->language = pb_flat_sniff(s->path);
  const char* const* attributes =
      s->language == PB_FLAT_LINALG ? pb_linalg_attributes(&names) : pb_stablehlo_attributes(&names);
  bool good = pb_flat_read(s->path, s->language, attributes, &diag, &flat) == PB_OK;
  if (good) s->data = pb_flat_pack(&flat, &s->bytes);
  pb_flat_free(&flat);
  pb_arena_free(&names);
  return good;
}

int main(int argc, char** argv) {
  if (argc < 4) return fprintf(stderr, "usage: flat_mutants COUNT SEED[:FIRST] FILE.mlir...\n"), 2;
  int count = argc - 3;
  long mutants = strtol(argv[1], NULL, 10), first = 0;
  char* colon;
  uint64_t seed = strtoull(argv[2], &colon, 10);
  if (*colon == ':') first = strtol(colon + 1, NULL, 10);
  source* sources = calloc((size_t)count, sizeof *sources);
  said* to = mmap(NULL, sizeof *to, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!sources || to == MAP_FAILED) return perror("memory"), 2;
  for (int k = 0; k < count; ++k) {
    sources[k].path = argv[3 + k];
    if (!load(&sources[k])) return 2;
  }
  long failed = run(sources, count, seed, first, first + mutants, to);
  printf("%6ld flat unread\n%6ld flat refused\n%6ld flat program\n%6ld flat program of segments\n", to->unread,
         to->refused, to->made, to->parted);
  printf("%ld flat forms: %ld wrong\n", mutants, failed);
  for (int k = 0; k < count; ++k) free(sources[k].data);
  free(sources);
  return failed || (mutants >= 1000 && (!to->refused || !to->made));
}
