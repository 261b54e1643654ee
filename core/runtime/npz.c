// An archive ends with a directory: a record for each file in it, behind the files, and a record behind these that says
// where they begin. Numbers of 64 bits stand in further records where 32 bits are all ones. Of what ZIP knows besides
// only the plain form is taken: one part, nothing compressed, nothing encrypted.
#include "core/runtime/npz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { END = 22, END_64 = 56, LOCATOR = 20, ENTRY = 46, LOCAL = 30, COMMENT = 65535, NPY = 4 };
static const uint32_t all_ones = 0xffffffffu;

typedef struct archive {
  const uint8_t* bytes;
  uint64_t count, first, entries; // where the directory begins
  pb_place place;
  pb_diag* diag;
} archive;

typedef struct entry {
  const char* name;
  size_t length;
  uint32_t check;
  int method, flags;
  uint64_t packed, size, at; // of its local header
} entry;

static uint64_t number(const uint8_t* from, int bytes) {
  uint64_t n = 0;
  for (int k = bytes - 1; k >= 0; --k) n = n << 8 | from[k];
  return n;
}

static bool inside(const archive* a, uint64_t at, uint64_t bytes) { return at <= a->count && bytes <= a->count - at; }

static bool is_signed(const archive* a, uint64_t at, uint64_t bytes, const char* signature) {
  return inside(a, at, bytes) && !memcmp(a->bytes + at, signature, 4);
}

static pb_status damaged(const archive* a, const char* why) {
  return pb_error(a->diag, a->place, 5056, "a file that numpy.savez wrote", "a damaged .npz file: %s", why);
}

static uint32_t checksum(const uint8_t* bytes, uint64_t count) {
  uint32_t table[256], sum = all_ones;
  for (uint32_t k = 0; k < 256; ++k) {
    table[k] = k;
    for (int bit = 0; bit < 8; ++bit) table[k] = table[k] & 1 ? table[k] >> 1 ^ 0xedb88320u : table[k] >> 1;
  }
  for (uint64_t k = 0; k < count; ++k) sum = table[(sum ^ bytes[k]) & 255] ^ sum >> 8;
  return ~sum;
}

static pb_status find_directory(archive* a) {
  if (a->count < END) return damaged(a, "it has no directory");
  uint64_t least = a->count - END > COMMENT ? a->count - END - COMMENT : 0, at = a->count - END;
  while (at > least && !is_signed(a, at, END, "PK\5\6")) --at;
  if (!is_signed(a, at, END, "PK\5\6")) return damaged(a, "it has no directory");
  const uint8_t* end = a->bytes + at;
  a->entries = number(end + 10, 2);
  a->first = number(end + 16, 4);
  if (at >= LOCATOR && is_signed(a, at - LOCATOR, LOCATOR, "PK\6\7")) {
    uint64_t wide = number(a->bytes + at - LOCATOR + 8, 8);
    if (!is_signed(a, wide, END_64, "PK\6\6")) return damaged(a, "its directory's end lies outside");
    a->entries = number(a->bytes + wide + 32, 8);
    a->first = number(a->bytes + wide + 48, 8);
  }
  if (a->entries > a->count / ENTRY || a->first > a->count) return damaged(a, "its directory lies outside");
  return PB_OK;
}

// Numbers of 64 bits in the order in which the fields that they are for are all ones.
static bool read_wide(const uint8_t* more, uint64_t length, entry* e) {
  uint64_t* fields[] = {&e->size, &e->packed, &e->at};
  uint64_t at = 0;
  while (at + 4 <= length && number(more + at, 2) != 1) at += 4 + number(more + at + 2, 2);
  uint64_t end = at + 4 <= length ? at + 4 + number(more + at + 2, 2) : 0;
  at += 4;
  for (int k = 0; k < 3; ++k) {
    if (*fields[k] != all_ones) continue;
    if (end > length || at + 8 > end) return false;
    *fields[k] = number(more + at, 8);
    at += 8;
  }
  return true;
}

// The entry at *at, which goes on to the next one.
static pb_status read_entry(const archive* a, uint64_t* at, entry* e) {
  if (!is_signed(a, *at, ENTRY, "PK\1\2")) return damaged(a, "its directory ends early");
  const uint8_t* from = a->bytes + *at;
  uint64_t more = number(from + 30, 2), comment = number(from + 32, 2);
  *e = (entry){.name = (const char*)from + ENTRY,
               .length = number(from + 28, 2),
               .check = (uint32_t)number(from + 16, 4),
               .method = (int)number(from + 10, 2),
               .flags = (int)number(from + 8, 2),
               .packed = number(from + 20, 4),
               .size = number(from + 24, 4),
               .at = number(from + 42, 4)};
  if (!inside(a, *at + ENTRY, e->length + more + comment)) return damaged(a, "its directory ends early");
  if (!read_wide(from + ENTRY + e->length, more, e)) return damaged(a, "a size of 64 bits is missing");
  *at += ENTRY + e->length + more + comment;
  return PB_OK;
}

// NAME.npy, or all of NAME itself.
static bool is_named(const entry* e, const char* array) {
  size_t n = strlen(array);
  bool same = e->length >= n && !memcmp(e->name, array, n);
  return same && (e->length == n || (e->length == n + NPY && !memcmp(e->name + n, ".npy", NPY)));
}

static pb_status contents(const archive* a, const entry* e, const uint8_t** npy, uint64_t* size) {
  int shown = e->length < 64 ? (int)e->length : 64;
  if (e->flags & 1)
    return pb_unsupported(a->diag, a->place, 5057, "numpy.savez", "'%.*s' is encrypted", shown, e->name);
  if (e->method)
    return pb_unsupported(a->diag, a->place, 5057, "numpy.savez, in the place of numpy.savez_compressed",
                          "'%.*s' is compressed (method %d), which is not read", shown, e->name, e->method);
  if (!is_signed(a, e->at, LOCAL, "PK\3\4")) return damaged(a, "an array lies outside");
  uint64_t from = e->at + LOCAL + number(a->bytes + e->at + 26, 2) + number(a->bytes + e->at + 28, 2);
  if (e->packed != e->size || !inside(a, from, e->size)) return damaged(a, "an array is longer than the file");
  if (checksum(a->bytes + from, e->size) != e->check) return damaged(a, "an array has another checksum");
  *npy = a->bytes + from;
  *size = e->size;
  return PB_OK;
}

// The entry of the name, or the only one; *found: how many there are.
static pb_status look_up(const archive* a, const char* array, entry* e, uint64_t* found) {
  uint64_t at = a->first;
  *found = 0;
  for (uint64_t k = 0; k < a->entries; ++k) {
    entry next;
    PB_TRY(read_entry(a, &at, &next));
    if (array && !is_named(&next, array)) continue;
    *e = next;
    ++*found;
  }
  return PB_OK;
}

pb_status pb_npz_find(const void* bytes, uint64_t count, const char* path, const char* array, pb_diag* diag,
                      const uint8_t** npy, uint64_t* size) {
  archive a = {.bytes = bytes, .count = count, .place = {.file = path}, .diag = diag};
  entry e;
  uint64_t found;
  *npy = NULL;
  *size = 0;
  PB_TRY(find_directory(&a));
  PB_TRY(look_up(&a, array, &e, &found));
  if (array && !found)
    return pb_error(diag, a.place, 5058, "FILE.npz:ARRAY, by one of its names", "has no array '%s'", array);
  if (found != 1)
    return pb_error(diag, a.place, 5058, "FILE.npz:ARRAY", "holds %llu arrays%s%s", (unsigned long long)found,
                    array ? " called " : "", array ? array : "");
  return contents(&a, &e, npy, size);
}

pb_status pb_npz_has(const pb_npz* npz, const char* array, pb_diag* diag, bool* has) {
  archive a = {.bytes = npz->bytes, .count = npz->count, .place = {.file = npz->path}, .diag = diag};
  entry e;
  uint64_t found = 0;
  PB_TRY(find_directory(&a));
  PB_TRY(look_up(&a, array, &e, &found));
  *has = found > 0;
  return PB_OK;
}

bool pb_npz_named(const char* text, size_t* length, const char** array) {
  static const char end[] = ".npz";
  size_t n = strlen(text), e = sizeof end - 1;
  const char* colon = strstr(text, ".npz:");
  *array = colon ? colon + e + 1 : NULL;
  *length = colon ? (size_t)(colon - text) + e : n;
  return *length > e && !memcmp(text + *length - e, end, e);
}

pb_status pb_npz_open(const char* path, pb_diag* diag, pb_npz* npz) {
  pb_place place = {.file = path};
  struct stat about;
  *npz = (pb_npz){.path = path};
  errno = 0;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return pb_system_error(diag, place, 5033, "cannot open");
  pb_status status = PB_OK;
  if (fstat(file, &about) || !S_ISREG(about.st_mode)) {
    status = pb_error(diag, place, 5033, "a plain file: its directory stands at its end", "cannot be mapped");
  } else if (about.st_size > 0) {
    void* bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
      status = pb_system_error(diag, place, 5033, "cannot be mapped");
    else
      *npz = (pb_npz){.path = path, .bytes = bytes, .count = (uint64_t)about.st_size};
  }
  close(file);
  return status;
}

void pb_npz_close(pb_npz* npz) {
  if (npz->count) munmap((void*)(uintptr_t)npz->bytes, npz->count);
  *npz = (pb_npz){0};
}
