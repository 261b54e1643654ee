// Where descriptions are found, and what identifies one.
#include "core/base/installation.h"
#include "core/base/processor.h"
#include "core/base/sha256.h"
#include "tdl/caches.h"
#include "tdl/check/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool exists(const char* path) { return access(path, R_OK) == 0; }

// DIR/NAME/NAME.td or DIR/NAME.td.
static bool in_folder(const char* folder, const char* name, char* path, size_t size) {
  int n = snprintf(path, size, "%s/%s/%s.td", folder, name, name);
  if (n > 0 && (size_t)n < size && exists(path)) return true;
  n = snprintf(path, size, "%s/%s.td", folder, name);
  return n > 0 && (size_t)n < size && exists(path);
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
  char own[2048];
  pb_installed_folder("targets", own, sizeof own);
  return in_folder(own, name, path, size);
}

// The names in the installation's folder, with commas between.
static const char* own_targets(const char* folder, pb_arena* arena) {
  struct dirent** entries;
  char path[2048];
  const char* text = "";
  int count = scandir(folder, &entries, NULL, alphasort);
  for (int k = 0; k < count; ++k) {
    const char* name = entries[k]->d_name;
    if (name[0] != '.' && in_folder(folder, name, path, sizeof path))
      text = pb_printf(arena, "%s%s%s", text, *text ? ", " : "", name);
    free(entries[k]);
  }
  if (count >= 0) free(entries);
  return text;
}

// A name that is nowhere: each folder that was looked into, and which of them are none.
static pb_status not_found(const char* spec, const char* name, const char* target_dir, pb_diag* diag) {
  pb_arena arena = {0};
  const char *list = getenv("PB_TARGET_PATH"), *text = "";
  if (target_dir) text = pb_printf(&arena, "%s%s, ", target_dir, access(target_dir, X_OK) ? " (no such folder)" : "");
  while (list && *list) {
    size_t n = strcspn(list, ":");
    const char* folder = pb_printf(&arena, "%.*s", (int)n, list);
    if (n) text = pb_printf(&arena, "%s%s%s, ", text, folder, access(folder, X_OK) ? " (no such folder)" : "");
    list += n + (list[n] == ':');
  }
  char own[2048];
  pb_installed_folder("targets", own, sizeof own);
  const char *there = own_targets(own, &arena), *hint = "a target's name, NAME:VARIANT, or a description FILE.td";
  if (*there) hint = pb_printf(&arena, "one of %s, NAME:VARIANT, or a description FILE.td", there);
  pb_status status = pb_error(diag, (pb_place){0}, 1010, hint, "there is no target '%s': no %s/%s.td or %s.td in %s%s",
                              spec, name, name, name, text, own);
  pb_arena_free(&arena);
  return status;
}

// Variants go from the least demanding to the most. Replaces *chip.
static pb_status choose_variant(const char* path, pb_diag* diag, pb_chip** chip) {
  pb_chip* plain = *chip;
  char missing[64] = "";
  if (plain->control != PB_CONTROL_THREADS || !plain->features[0] || !plain->variant_count) return PB_OK;
  for (int v = plain->variant_count - 1; v >= 0; --v) {
    pb_chip* variant;
    pb_status status = pb_chip_read(path, plain->variants[v], diag, &variant);
    if (status == PB_OK && !pb_processor_has(variant->features, missing, sizeof missing)) {
      pb_chip_free(variant);
      continue;
    }
    pb_chip_free(plain);
    *chip = status == PB_OK ? variant : NULL;
    return status;
  }
  pb_status status = pb_error(diag, (pb_place){.file = path}, 1013, "name a variant to compile for another machine",
                              "this processor lacks '%s', which every variant of '%s' needs", missing, plain->name);
  pb_chip_free(plain);
  *chip = NULL;
  return status;
}

// The variant that NAME alone means, with this machine's caches. A chip without caches is refused: nothing would be
// read.
static pb_status find_native(const char* path, pb_diag* diag, pb_chip** chip) {
  pb_chip* variant;
  PB_TRY(pb_chip_read(path, "", diag, &variant));
  bool cached = false;
  for (int m = 0; m < variant->memory_count; ++m) cached |= variant->memories[m].cached;
  pb_status status = cached ? choose_variant(path, diag, &variant)
                            : pb_error(diag, (pb_place){.file = path}, 1015, "the target's name alone",
                                       "'%s' has no caches whose sizes a machine could say", variant->name);
  if (status == PB_OK) status = pb__chip_with_own_caches(variant, diag, chip);
  pb_chip_free(variant);
  return status;
}

// NAME: with nothing behind the colon, where a variant is forgotten.
static pb_status refuse_no_variant(const char* spec, const char* path, pb_diag* diag) {
  pb_chip* plain;
  PB_TRY(pb_chip_read(path, "", diag, &plain));
  const char* hint = "the target's name alone";
  for (int v = 0; v < plain->variant_count && v < 16; ++v)
    hint = pb_printf(&plain->arena, "%s%s%s", hint, v ? ", " : ", or one of its variants: ", plain->variants[v]);
  pb_status status = pb_error(diag, (pb_place){.file = path}, 3022, hint, "'%s' names no variant", spec);
  pb_chip_free(plain);
  return status;
}

pb_status pb_chip_find(const char* spec, const char* target_dir, pb_diag* diag, pb_chip** chip) {
  size_t n = strlen(spec);
  if (n > 3 && !strcmp(spec + n - 3, ".td")) return pb_chip_read(spec, "", diag, chip);
  char name[256], path[1400];
  const char* colon = strchr(spec, ':');
  snprintf(name, sizeof name, "%.*s", (int)(colon ? (size_t)(colon - spec) : n), spec);
  if (!name[0] || strchr(name, '/'))
    return pb_error(diag, (pb_place){0}, 1010, "a target's name, NAME:VARIANT, or a description FILE.td",
                    "'%s' is no name of a target", spec);
  if (!locate(name, target_dir, path, sizeof path)) return not_found(spec, name, target_dir, diag);
  if (target_dir && access(target_dir, X_OK)) // another of that name would be taken
    return pb_system_error(diag, (pb_place){.file = target_dir}, 1010, "--target-dir is no folder");
  if (colon && !colon[1]) return refuse_no_variant(spec, path, diag);
  if (colon && !strcmp(colon + 1, "native")) return find_native(path, diag, chip);
  PB_TRY(pb_chip_read(path, colon ? colon + 1 : "", diag, chip));
  return colon ? PB_OK : choose_variant(path, diag, chip);
}

// The text without the places of its records, so that a comment added to a description changes nothing.
void pb__chip_hash(pb_chip* chip) {
  static const char key[] = "\"!locs\":";
  pb_sha256 sha;
  pb_sha256_init(&sha);
  const char* from = chip->json;
  for (const char* at = from; *at; ++at) { // one pass: sanitizers measure the whole rest for each strstr
    if (*at != '"' || strncmp(at, key, sizeof key - 1) != 0) continue;
    pb_sha256_add(&sha, from, (size_t)(at - from));
    const char* end = strchr(at, ']');
    from = end ? end + 1 : at + strlen(at);
    at = from - 1;
  }
  pb_sha256_add(&sha, from, strlen(from));
  pb_sha256_add(&sha, chip->variant, strlen(chip->variant));
  pb_sha256_done(&sha, chip->hash);
}
