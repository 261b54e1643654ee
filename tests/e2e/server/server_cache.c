// What the jobs of a pb-server would have made again and again by programs and libraries that are not under test.
//
// Descriptions: llvm-tblgen reads each once, as long as the server lives, those of the source tree once until they are
// changed (what it made of them lies beside the code); and jobs of one process that read the same JSON, a description's
// or an engine's, share the chip that it describes (pb_chip_read, pb_chip_from_json), which is half of a small job's
// time. Whoever has a chip only looks at it, and gives it back: LeakSanitizer would not see that it does not, so the
// server looks (pb__cache_chip_is_kept). What is wrong with a description is found, and said, each time.
//
// Code: LLVM makes the same object of the same IR, and LLD the same library of the same objects, so both are kept in
// files named by a SHA-256 of all that goes in: IR, description, LLVM, and the sources of what calls it. The folder is
// PB_CODE_CACHE, BUILD/code where that is not set; set to nothing, everything is made anew. Builds may share it.
#define _GNU_SOURCE
#include "server_cache.h"

#include "code_sources.h"
#include "core/base/diag.h"
#include "core/base/installation.h"
#include "core/base/sha256.h"
#include "json_sources.h"
#include "targets/control/threads/code.h"
#include "tdl/chip.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char descriptions[1024];
static char codes[2048]; // the folder; "": none

// ---- files ----

static bool read_bytes(const char* path, pb_text* bytes) {
  char part[1 << 14];
  FILE* from = fopen(path, "rb");
  if (!from) return false;
  for (size_t n; (n = fread(part, 1, sizeof part, from)) > 0;) pb_text_add_bytes(bytes, part, n);
  bool ok = !ferror(from);
  fclose(from);
  return ok;
}

// Whoever looks sees all of the file or none.
static bool write_bytes(const char* path, const pb_text* bytes) {
  char fresh[4096];
  snprintf(fresh, sizeof fresh, "%s.%d-%p", path, (int)getpid(), (const void*)bytes);
  FILE* to = fopen(fresh, "wb");
  if (!to) return false;
  bool ok = fwrite(bytes->data, 1, bytes->length, to) == bytes->length;
  ok = !fclose(to) && ok;
  if (ok && !rename(fresh, path)) return true;
  (void)unlink(fresh);
  return false;
}

static void copy(const char* path, const char* to) {
  pb_text bytes = {0};
  if (read_bytes(path, &bytes)) (void)write_bytes(to, &bytes);
  pb_text_free(&bytes);
}

// ---- names of what is kept ----

static void add(pb_sha256* sha, const void* data, size_t bytes) {
  uint64_t length = bytes;
  pb_sha256_add(sha, &length, sizeof length);
  if (bytes) pb_sha256_add(sha, data, bytes);
}

// The libraries that hold these functions, as they are now. They are looked for by name: what MLIR's C functions are
// linked from is this program itself, which is another one after each change of the compiler.
typedef struct {
  const char *function, *path;
  long long facts[3];
} library;
static library libraries[] = {{.function = "LLVMContextCreate"},
                              {.function = "_ZN4mlir11MLIRContextD1Ev"}}; // MLIR: its context's destructor
static pthread_once_t libraries_known = PTHREAD_ONCE_INIT;

// Once: dladdr goes through all names of a library.
static void look_libraries_up(void) {
  for (size_t k = 0; k < sizeof libraries / sizeof *libraries; ++k) {
    library* l = &libraries[k];
    Dl_info info;
    struct stat s = {0};
    void* found = dlsym(RTLD_DEFAULT, l->function);
    if (!found || !dladdr(found, &info) || stat(info.dli_fname, &s)) {
      fprintf(stderr, "pb-server: no library has '%s', by which code is kept\n", l->function);
      exit(1);
    }
    *l = (library){
        l->function, info.dli_fname, {(long long)s.st_ino, (long long)s.st_size, (long long)s.st_mtim.tv_sec}};
  }
}

static void begin(pb_sha256* sha, const char* what, const char* sources) {
  pb_sha256_init(sha);
  add(sha, what, strlen(what));
  add(sha, sources, strlen(sources));
  (void)pthread_once(&libraries_known, look_libraries_up);
  for (size_t k = 0; k < sizeof libraries / sizeof *libraries; ++k) {
    add(sha, libraries[k].path, strlen(libraries[k].path));
    add(sha, libraries[k].facts, sizeof libraries[k].facts);
  }
}

static void name_kept(pb_sha256* sha, char* name, size_t size) {
  uint8_t hash[32];
  pb_sha256_done(sha, hash);
  int n = snprintf(name, size, "%s/", codes);
  for (size_t k = 0; k < sizeof hash; ++k) n += snprintf(name + n, size - (size_t)n, "%02x", hash[k]);
}

// False: there is none. The file's time says that it was of use.
static bool take(const char* name, const char* to) {
  if (access(name, R_OK)) return false;
  copy(name, to);
  (void)utimensat(AT_FDCWD, name, NULL, 0);
  return !access(to, R_OK);
}

// ---- descriptions ----

pb_status __real_pb__tblgen_run(const char* path, const char* variant, pb_diag* diag, char** json);
pb_status __wrap_pb__tblgen_run(const char* path, const char* variant, pb_diag* diag, char** json);

// The name of what was read from that file as it is now. Its includes do not change while tests run.
static bool name_description(const char* path, const char* variant, char* name, size_t size) {
  struct stat s;
  if (stat(path, &s)) return false;
  snprintf(name, size, "%s/%llx-%llx-%lld.%09ld-%lld-%s.json", descriptions, (unsigned long long)s.st_dev,
           (unsigned long long)s.st_ino, (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec, (long long)s.st_size,
           variant ? variant : "");
  return !variant || !strchr(variant, '/');
}

// A description's text and those that it may include: where a name is found in several folders, each of them.
static bool add_description(pb_sha256* sha, const char* path, const char* const folders[2], int depth) {
  pb_text text = {0};
  bool good = depth < 8 && read_bytes(path, &text) && text.length;
  if (good) add(sha, text.data, text.length);
  for (const char* at = good ? text.data : ""; good && (at = strstr(at, "include"));) {
    at += strlen("include");
    at += strspn(at, " \t\r\n");
    int n = *at == '"' ? (int)strcspn(at + 1, "\"\n") : 0;
    for (int k = 0; k < 2 && n && good; ++k) {
      char name[4096];
      snprintf(name, sizeof name, "%s/%.*s", folders[k], n, at + 1);
      if (!access(name, R_OK)) good = add_description(sha, name, folders, depth + 1);
    }
  }
  pb_text_free(&text);
  return good;
}

// Of descriptions in the source tree alone: others are made by a test, and seldom twice.
static bool name_kept_description(const char* path, const char* variant, char* name, size_t size) {
  char language[2200], whole[PATH_MAX], folder[PATH_MAX];
  pb_sha256 sha;
  pb_installed_folder("tdl", language, sizeof language);
  const char* slash = strrchr(language, '/');
  if (!codes[0] || getenv("PB_TDL_PATH") || !slash || !realpath(path, whole)) return false;
  if (strncmp(whole, language, (size_t)(slash - language) + 1) != 0) return false;
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(whole, '/') - whole), whole);
  begin(&sha, "description", PB_JSON_SOURCES);
  add(&sha, path, strlen(path)); // which is told of each record
  add(&sha, variant, variant ? strlen(variant) : 0);
  if (!add_description(&sha, path, (const char* const[]){language, folder}, 0)) return false;
  name_kept(&sha, name, size);
  return true;
}

pb_status __wrap_pb__tblgen_run(const char* path, const char* variant, pb_diag* diag, char** json) {
  char name[2048], kept[4096];
  pb_text text = {0};
  if (!name_description(path, variant, name, sizeof name)) return __real_pb__tblgen_run(path, variant, diag, json);
  bool keep = access(name, R_OK) && name_kept_description(path, variant, kept, sizeof kept);
  if (keep) (void)take(kept, name);
  if (read_bytes(name, &text) && text.length) {
    *json = strndup(text.data, text.length);
    pb_text_free(&text);
    return PB_OK;
  }
  PB_TRY(__real_pb__tblgen_run(path, variant, diag, json));
  pb_text_add(&text, "%s", *json);
  (void)write_bytes(name, &text);
  if (keep) (void)write_bytes(kept, &text);
  pb_text_free(&text);
  return PB_OK;
}

// ---- chips ----

pb_status __real_pb_chip_from_json(const char* text, const char* path, const char* variant, pb_diag* diag,
                                   pb_chip** chip);
pb_status __wrap_pb_chip_from_json(const char* text, const char* path, const char* variant, pb_diag* diag,
                                   pb_chip** chip);
pb_status __wrap_pb_chip_read(const char* path, const char* variant, pb_diag* diag, pb_chip** chip);
void __real_pb_chip_free(pb_chip* chip);
void __wrap_pb_chip_free(pb_chip* chip);

// The last chips that this process read, whoever has them now, and how many jobs' parts that are.
enum { CHIPS = 8 };
static struct {
  pb_chip* chip;
  int users;
  long last; // when it was asked for
} chips[CHIPS];
static long asked, read_anew;

// A chip's file is named in what is said of its description when models are compiled, never when an engine runs, whose
// chip may come of any file.
static bool is_of(const pb_chip* chip, const char* text, const char* path, const char* variant) {
  size_t n = strlen(path);
  bool described = n > 3 && !strcmp(path + n - 3, ".td");
  return chip && !strcmp(chip->variant, variant ? variant : "") && (!described || !strcmp(chip->file, path)) &&
         !strcmp(chip->json, text);
}

// The place that was asked for longest ago of those that nobody uses; -1: all are in use.
static int free_place(void) {
  int oldest = -1;
  for (int k = 0; k < CHIPS; ++k)
    if (!chips[k].users && (oldest < 0 || chips[k].last < chips[oldest].last)) oldest = k;
  return oldest;
}

pb_status __wrap_pb_chip_from_json(const char* text, const char* path, const char* variant, pb_diag* diag,
                                   pb_chip** chip) {
  int k = 0;
  while (k < CHIPS && !is_of(chips[k].chip, text, path, variant)) ++k;
  if (k == CHIPS) {
    PB_TRY(__real_pb_chip_from_json(text, path, variant, diag, chip));
    ++read_anew;
    k = free_place();
    if (k < 0) return PB_OK;
    __real_pb_chip_free(chips[k].chip);
    chips[k].chip = *chip;
  }
  chips[k].last = ++asked;
  ++chips[k].users;
  *chip = chips[k].chip;
  return PB_OK;
}

// As chip_read.c has it, whose own call of pb_chip_from_json is not seen here.
pb_status __wrap_pb_chip_read(const char* path, const char* variant, pb_diag* diag, pb_chip** chip) {
  char* json;
  PB_TRY(__wrap_pb__tblgen_run(path, variant, diag, &json));
  pb_status status = __wrap_pb_chip_from_json(json, path, variant, diag, chip);
  free(json);
  return status;
}

void __wrap_pb_chip_free(pb_chip* chip) {
  int k = 0;
  while (k < CHIPS && (!chip || chips[k].chip != chip)) ++k;
  if (k == CHIPS)
    __real_pb_chip_free(chip);
  else
    --chips[k].users;
}

long pb__cache_chips_read(void) { return read_anew; }

bool pb__cache_chip_is_kept(void) {
  for (int k = 0; k < CHIPS; ++k)
    if (chips[k].users) return true;
  return false;
}

// ---- code ----

void __real_pb_code_make(pb_code* code);
void __wrap_pb_code_make(pb_code* code);
pb_status __real_pb_code_link(const char* const* objects, int count, const char* shared, pb_diag* diag);
pb_status __wrap_pb_code_link(const char* const* objects, int count, const char* shared, pb_diag* diag);

static void add_part(MlirStringRef part, void* sha) { add(sha, part.data, part.length); }

// Code says nothing of the lines of text that its IR was read from.
static MlirWalkResult forget_place(MlirOperation op, void* unknown) {
  const MlirLocation* place = unknown;
  mlirOperationSetLocation(op, *place);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(block);
         block = mlirBlockGetNextInRegion(block))
      for (intptr_t k = 0; k < mlirBlockGetNumArguments(block); ++k)
        mlirBlockArgumentSetLocation(mlirBlockGetArgument(block, k), *place);
  return MlirWalkResultAdvance;
}

static void add_kernels(pb_sha256* sha, MlirModule kernels) {
  MlirLocation unknown = mlirLocationUnknownGet(mlirModuleGetContext(kernels));
  mlirOperationWalk(mlirModuleGetOperation(kernels), forget_place, &unknown, MlirWalkPreOrder);
  mlirOperationWriteBytecode(mlirModuleGetOperation(kernels), add_part, sha);
}

void __wrap_pb_code_make(pb_code* code) {
  char name[4096];
  pb_sha256 sha;
  if (!codes[0] || code->form != PB_CODE_OBJECT) {
    __real_pb_code_make(code);
    return;
  }
  begin(&sha, "object", PB_CODE_SOURCES);
  add(&sha, code->chip->hash, sizeof code->chip->hash);
  add(&sha, code->chip->features, strlen(code->chip->features));
  add(&sha, code->chip->tuning, strlen(code->chip->tuning));
  add_kernels(&sha, code->kernels);
  add(&sha, code->entries.data, code->entries.length);
  name_kept(&sha, name, sizeof name);
  if (take(name, code->object)) return;
  __real_pb_code_make(code);
  if (!code->why) copy(code->object, name);
}

pb_status __wrap_pb_code_link(const char* const* objects, int count, const char* shared, pb_diag* diag) {
  char name[4096];
  pb_sha256 sha;
  if (!codes[0]) return __real_pb_code_link(objects, count, shared, diag);
  begin(&sha, "library", PB_CODE_SOURCES);
  for (int k = 0; k < count; ++k) {
    pb_text bytes = {0};
    if (!read_bytes(objects[k], &bytes)) return __real_pb_code_link(objects, count, shared, diag);
    add(&sha, bytes.data, bytes.length);
    pb_text_free(&bytes);
  }
  name_kept(&sha, name, sizeof name);
  if (take(name, shared)) return PB_OK;
  PB_TRY(__real_pb_code_link(objects, count, shared, diag));
  copy(shared, name);
  return PB_OK;
}

// ---- both ----

bool pb__cache_start(void) {
  const char* folder = getenv("PB_CODE_CACHE");
  char here[1024] = "";
  ssize_t n = folder ? 0 : readlink("/proc/self/exe", here, sizeof here - 1);
  for (int k = 0; k < 2 && n > 0; ++k) { // BUILD/bin/pb-server
    char* slash = strrchr(here, '/');
    if (slash) *slash = 0;
  }
  if (folder)
    snprintf(codes, sizeof codes, "%s", folder);
  else if (n > 0)
    snprintf(codes, sizeof codes, "%s/code", here);
  if (codes[0] && mkdir(codes, 0777) && access(codes, W_OK)) return false;
  const char* base = getenv("TMPDIR");
  snprintf(descriptions, sizeof descriptions, "%s/pb-server-XXXXXX", base && base[0] ? base : P_tmpdir);
  return mkdtemp(descriptions) != NULL;
}

void pb__cache_stop(void) {
  char command[2048];
  snprintf(command, sizeof command, "rm -rf '%s'", descriptions);
  if (system(command)) perror(descriptions);
}
