// The engine reader on any bytes; then on the same bytes with sizes and checksums put right, so that changes get past
// them. Engines with open dims compute their sizes for some extents, as in front of a run.
#define _GNU_SOURCE
#include "fuzz.h"

#include "core/artefact/format.h"
#include "pb/pb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void ignore(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code, (void)text;
}

// Touches all that the engine points to.
static uint64_t use(const pb_engine* e) {
  uint64_t sum = e->description ? strlen(e->description) : 0;
  for (int k = 0; k < e->kernel_count; ++k) {
    const pb_words_kernel* words = &e->kernels[k].words;
    for (int q = 0; q < words->queue_count; ++q)
      sum += pb__crc64(0, words->streams[q], (size_t)words->count[q] * (size_t)e->command_bytes);
  }
  for (int k = 0; k < e->step_count; ++k) {
    const pb_step* s = &e->steps[k];
    sum += strlen(s->origin);
    if (s->op == PB_HOST_LAUNCH)
      sum += strlen(e->kernels[s->kernel].name);
    else if (s->target < 0 || s->target > e->step_count || (s->op == PB_HOST_MOVE && s->arg_count != 2))
      abort();
    else if (s->op == PB_HOST_MOVE && s->args[1].space == PB_SPACE_CONST && !e->open) // there it is a size's number
      sum += pb__crc64(0, e->consts + s->args[1].value, s->bytes);
  }
  return sum + pb__crc64(0, e->consts, e->const_bytes) + pb__crc64(0, e->native, e->native_bytes);
}

static void choose(const uint8_t* bytes, size_t count) {
  pb_rt* rt;
  if (pb_rt_load_bytes(bytes, count, 0, &rt)) return;
  int64_t extents[4][PB_MAX_RANK];
  for (int turn = 0; pb_rt_is_open(rt) && turn < 3; ++turn) {
    const int64_t* shapes[64];
    static const int64_t of_iteration[] = {1, 5, 70000};
    for (int d = 0; d < PB_MAX_RANK; ++d) extents[turn][d] = of_iteration[turn];
    if (pb_rt_input_count(rt) > 64) break;
    for (int k = 0; k < pb_rt_input_count(rt); ++k) shapes[k] = extents[turn];
    (void)pb_rt_choose(rt, shapes);
  }
  pb_rt_free(rt);
}

static void read_bytes(const uint8_t* bytes, size_t count) {
  static int file = -1;
  char path[64];
  if (file < 0) file = memfd_create("fuzz", 0);
  if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, bytes, count, 0) != (ssize_t)count) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  pb_diag diag = {.sink = ignore};
  pb_engine* engine;
  pb_status status = pb_engine_read(path, &diag, &engine);
  if (status == PB_OK) {
    for (const pb_engine* e = engine; e; e = e->next) {
      volatile uint64_t sum = use(e);
      (void)sum;
    }
    bool open = engine->open != NULL;
    pb_engine_free(engine);
    if (open) choose(bytes, count);
  } else if (!diag.errors || engine) {
    abort(); // a refusal says why, and gives nothing
  }
}

static bool repair(uint8_t* bytes, size_t count);

// Of a file of several engines: its head, and each of them.
static bool repair_profiles(uint8_t* bytes, size_t count) {
  size_t profiles = 2, table = PB_HEADER_BYTES + PB_SECTION_BYTES * profiles;
  if (count < 2 * PB_PAGE) return false;
  pb__put(bytes + 8, 4, PB_ENGINE_VERSION);
  pb__put(bytes + 12, 4, profiles);
  pb__put(bytes + 16, 8, count);
  memset(bytes + 32, 0, PB_HEADER_BYTES - 32);
  for (size_t k = 0; k < profiles; ++k) {
    uint8_t* row = bytes + PB_HEADER_BYTES + PB_SECTION_BYTES * k;
    uint64_t offset = pb__get(row + 8, 8), size = pb__get(row + 16, 8);
    if (offset >= PB_PAGE && offset <= count && size <= count - offset) (void)repair(bytes + offset, size);
  }
  pb__put(bytes + 24, 8, 0);
  pb__put(bytes + 24, 8, pb__crc64(0, bytes, table));
  return true;
}

static bool repair(uint8_t* bytes, size_t count) {
  if (count >= 8 && !memcmp(bytes, PB_PROFILES_MAGIC, 8)) return repair_profiles(bytes, count);
  size_t table = PB_HEADER_BYTES + PB_SECTION_BYTES * PB_SECTION_COUNT;
  if (count < table) return false;
  uint64_t version = pb__get(bytes + 8, 4);
  bool known = version >= PB_ENGINE_VERSION && version <= PB_ENGINE_GRID_VERSION;
  memcpy(bytes, PB_ENGINE_MAGIC, 8);
  pb__put(bytes + 8, 4, known ? version : PB_ENGINE_VERSION);
  pb__put(bytes + 12, 4, PB_SECTION_COUNT);
  pb__put(bytes + 16, 8, count);
  for (int s = 0, end = (int)table; s < PB_SECTION_COUNT; ++s) {
    uint8_t* row = bytes + PB_HEADER_BYTES + PB_SECTION_BYTES * s;
    uint64_t offset = pb__get(row + 8, 8), size = pb__get(row + 16, 8);
    if (offset > count || size > count - offset) continue;
    if (offset > (uint64_t)end) memset(bytes + end, 0, offset - (uint64_t)end);
    pb__put(row + 24, 8, pb__crc64(0, bytes + offset, size));
    end = (int)(offset + size);
  }
  pb__put(bytes + 24, 8, 0);
  pb__put(bytes + 24, 8, pb__crc64(0, bytes, table));
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read_bytes(data, size);
  uint8_t* copy = malloc(size + 1);
  if (!copy) abort();
  memcpy(copy, data, size);
  if (repair(copy, size)) read_bytes(copy, size);
  free(copy);
  return 0;
}
