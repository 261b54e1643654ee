// NAME:native: a description in which the caches have the sizes that this machine's have, as Linux lists them. Nothing
// is read from a machine unless it is asked for by that word, and what was read stands in the description that an
// engine carries.
#include "tdl/caches.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CACHES = 16 };

static bool read_line(const char* cache, const char* what, char* text, int size) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", cache, what);
  FILE* file = fopen(path, "r");
  if (!file) return false;
  bool read = fgets(text, size, file) != NULL;
  fclose(file);
  if (read) text[strcspn(text, "\n")] = 0;
  return read;
}

// "0-3,8": how many.
static int64_t count_of(const char* list) {
  int64_t count = 0;
  for (const char* at = list; *at;) {
    char* end;
    long first = strtol(at, &end, 10), last = first;
    if (end == at) return 0;
    if (*end == '-') last = strtol(end + 1, &end, 10);
    count += last >= first ? last - first + 1 : 0;
    at = *end == ',' ? end + 1 : end;
    if (*end && *end != ',') return 0;
  }
  return count;
}

// The bytes of data that one processor has of the cache of a level, 0: not listed.
static int64_t bytes_of_level(int level) {
  for (int k = 0; k < MOST_CACHES; ++k) {
    char cache[128], text[256], *unit;
    snprintf(cache, sizeof cache, "/sys/devices/system/cpu/cpu0/cache/index%d", k);
    if (!read_line(cache, "level", text, sizeof text) || atoi(text) != level) continue;
    if (!read_line(cache, "type", text, sizeof text) || !strcmp(text, "Instruction")) continue;
    if (!read_line(cache, "size", text, sizeof text)) continue;
    int64_t bytes = strtoll(text, &unit, 10);
    bytes *= *unit == 'K' ? 1024 : *unit == 'M' ? 1024 * 1024 : 1;
    int64_t sharers = read_line(cache, "shared_cpu_list", text, sizeof text) ? count_of(text) : 0;
    if (bytes > 0 && sharers > 0) return bytes / sharers;
  }
  return 0;
}

// Whether memory `a` is a cache nearer to the core than `b`.
static bool is_nearer(const pb_chip* chip, int a, int b) {
  return chip->memories[a].cached && (chip->memories[a].bytes < chip->memories[b].bytes ||
                                      (chip->memories[a].bytes == chip->memories[b].bytes && a > b));
}

// Level 1 is the nearest to the core.
static int level_of(const pb_chip* chip, int memory) {
  int level = 1;
  for (int m = 0; m < chip->memory_count; ++m) level += is_nearer(chip, m, memory);
  return level;
}

static pb_status set_bytes(const pb_chip* chip, json_t* root, char* said, size_t size, pb_diag* diag) {
  for (int m = 0; m < chip->memory_count; ++m) {
    const pb_memory* memory = &chip->memories[m];
    if (!memory->cached) continue;
    int level = level_of(chip, m);
    int64_t row = memory->row_bytes, bytes = bytes_of_level(level) / row * row;
    if (!bytes)
      return pb_error(diag, (pb_place){.file = chip->file}, 1014, "name a variant: it states its caches' sizes",
                      "this machine does not say how large its cache of level %d is", level);
    json_object_set_new(json_object_get(root, memory->name), "Bytes", json_integer(bytes));
    size_t n = strlen(said);
    snprintf(said + n, size - n, "%s%s %lld", n ? ", " : "", memory->name, (long long)bytes);
  }
  return PB_OK;
}

// So that who reads the engine's description sees that they were read.
static void set_summary(const pb_chip* chip, json_t* root, const char* said) {
  json_t *classes = json_object_get(root, "!instanceof"), *chips = json_object_get(classes, "Chip");
  json_t* record = json_object_get(root, json_string_value(json_array_get(chips, 0)));
  char text[512];
  snprintf(text, sizeof text, "%s; caches of the machine that compiled: %s", chip->summary, said);
  json_object_set_new(record, "Summary", json_string(text));
}

pb_status pb__chip_with_own_caches(const pb_chip* chip, pb_diag* diag, pb_chip** native) {
  char said[256] = "";
  json_t* root = json_loads(chip->json, 0, NULL);
  if (!root) pb_no_memory(strlen(chip->json)); // it is JSON: the chip was made of it
  pb_status status = set_bytes(chip, root, said, sizeof said, diag);
  if (status == PB_OK) {
    set_summary(chip, root, said);
    char* text = json_dumps(root, 0);
    if (!text) pb_no_memory(strlen(chip->json));
    status = pb_chip_from_json(text, chip->file, chip->variant, diag, native);
    free(text);
  }
  json_decref(root);
  return status;
}
