// Where descriptions are found, and what identifies one.
#include "core/base/sha256.h"
#include "tdl/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool exists(const char* path) { return access(path, R_OK) == 0; }

// DIR/NAME/NAME.td or DIR/NAME.td.
static bool in_folder(const char* folder, const char* name, char* path, size_t size) {
  snprintf(path, size, "%s/%s/%s.td", folder, name, name);
  if (exists(path)) return true;
  snprintf(path, size, "%s/%s.td", folder, name);
  return exists(path);
}

static bool locate(const char* name, const char* target_dir, char* path, size_t size) {
  if (target_dir && in_folder(target_dir, name, path, size)) return true;
  const char* list = getenv("PB_TARGET_PATH");
  while (list && *list) {
    char folder[1024];
    size_t n = strcspn(list, ":");
    snprintf(folder, sizeof folder, "%.*s", (int)n, list);
    if (n && in_folder(folder, name, path, size)) return true;
    list += n + (list[n] == ':');
  }
  return in_folder(PB_TARGETS_DIR, name, path, size);
}

pb_status pb_chip_find(const char* spec, const char* target_dir, pb_diag* diag, pb_chip** chip) {
  size_t n = strlen(spec);
  if (n > 3 && !strcmp(spec + n - 3, ".td")) return pb_chip_read(spec, "", diag, chip);
  char name[256], path[1400];
  const char* colon = strchr(spec, ':');
  snprintf(name, sizeof name, "%.*s", (int)(colon ? (size_t)(colon - spec) : n), spec);
  if (!name[0] || strchr(name, '/') || !locate(name, target_dir, path, sizeof path))
    return pb_error(diag, (pb_place){0}, 1010, "a target's name, NAME:VARIANT, or a description FILE.td",
                    "there is no target '%s'", spec);
  return pb_chip_read(path, colon ? colon + 1 : "", diag, chip);
}

// The text without the places of its records, so that a comment added to a description changes nothing.
void pb__chip_hash(pb_chip* chip) {
  pb_sha256 sha;
  pb_sha256_init(&sha);
  for (const char* at = chip->json; *at;) {
    const char* locs = strstr(at, "\"!locs\":");
    size_t n = locs ? (size_t)(locs - at) : strlen(at);
    pb_sha256_add(&sha, at, n);
    at += n;
    if (!locs) break;
    const char* end = strchr(at, ']');
    at = end ? end + 1 : at + strlen(at);
  }
  pb_sha256_add(&sha, chip->variant, strlen(chip->variant));
  pb_sha256_done(&sha, chip->hash);
}
