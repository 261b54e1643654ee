// pb-target-new: a folder for a new target, from a template: description, driver, tests, README, CMake project, CI.
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/installation.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: pb-target-new NAME --class=npu|cpu|gpu [--out DIR]\n"
    "Makes the folder DIR/NAME (DIR is the current folder unless said) with a target that builds, runs and passes its "
    "tests:\n"
    "a description with each line explained, a README with the next five steps, a driver to be filled in, tests, a "
    "CMake\n"
    "project and a CI file. Nothing else is written.\n"
    "  --class=npu   units fed by queues of commands: an int8 array and a vector unit, movers and memories\n"
    "  --class=cpu   a processor that runs code made by LLVM, with work shared between threads\n"
    "  --class=gpu   a processor of grids of warps, by PTX or AMD's code, with a machine that runs it\n"
    "  --help, --version\n";

enum { MOST_NAME = 32, PATH_BYTES = 3072 };

static pb_status fail_at(const char* path, const char* text) {
  return pb_system_error(NULL, (pb_place){.file = path}, 1003, "%s", text);
}

static char* read_file(const char* path, size_t* bytes) {
  FILE* in = fopen(path, "r");
  char* text = NULL;
  size_t capacity = 0;
  *bytes = 0;
  for (int c; in && (c = fgetc(in)) != EOF;) PB_PUSH(text, *bytes, capacity, (char)c);
  if (in) fclose(in);
  return text;
}

// The file with the target's name in place of @NAME@.
static pb_status copy_file(const char* from, const char* to, const char* name) {
  size_t bytes;
  char* text = read_file(from, &bytes);
  if (!text) return fail_at(from, "cannot be read");
  FILE* out = fopen(to, "wx");
  for (size_t k = 0; out && k < bytes;) {
    bool here = bytes - k >= 6 && !memcmp(text + k, "@NAME@", 6);
    if (here)
      fputs(name, out);
    else
      fputc(text[k], out);
    k += here ? 6 : 1;
  }
  free(text);
  return out && !fclose(out) ? PB_OK : fail_at(to, "cannot be written");
}

// NAME.td of a template is the target's name with that ending.
static void name_of(const char* entry, const char* name, char* out, size_t size) {
  bool named = !strncmp(entry, "NAME.", 5);
  snprintf(out, size, "%s%s", named ? name : "", named ? entry + 4 : entry);
}

static pb_status copy_folder(const char* from, const char* to, const char* name) {
  if (mkdir(to, 0777)) return fail_at(to, "cannot be made");
  DIR* d = opendir(from);
  if (!d) return fail_at(from, "cannot be read");
  pb_status status = PB_OK;
  for (struct dirent* e; status == PB_OK && (e = readdir(d));) {
    char source[PATH_BYTES], target[PATH_BYTES], entry[320];
    struct stat info;
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
    name_of(e->d_name, name, entry, sizeof entry);
    int n = snprintf(source, sizeof source, "%s/%s", from, e->d_name),
        m = snprintf(target, sizeof target, "%s/%s", to, entry);
    if (n >= PATH_BYTES || m >= PATH_BYTES || stat(source, &info))
      status = fail_at(source, "cannot be read");
    else
      status = S_ISDIR(info.st_mode) ? copy_folder(source, target, name) : copy_file(source, target, name);
  }
  closedir(d);
  return status;
}

static pb_status check_name(const char* name) {
  size_t n = strlen(name);
  bool plain = n && n <= MOST_NAME && !(name[0] >= '0' && name[0] <= '9');
  for (size_t k = 0; k < n; ++k)
    plain &= name[k] == '_' || (name[k] >= '0' && name[k] <= '9') || ((name[k] | 32) >= 'a' && (name[k] | 32) <= 'z');
  if (plain) return PB_OK;
  return pb_error(NULL, (pb_place){0}, 1016, "letters, digits and '_', no digit first, at most 32",
                  "'%s' is no name for a target", name);
}

static pb_status find_template(const char* class_name, char* path, size_t size) {
  bool known = !strcmp(class_name, "npu") || !strcmp(class_name, "cpu") || !strcmp(class_name, "gpu");
  if (!known)
    return pb_error(NULL, (pb_place){0}, 1017, "--class=npu, cpu or gpu", "there is no class '%s' of targets",
                    class_name);
  char part[64];
  snprintf(part, sizeof part, "tools/templates/%s", class_name);
  pb_installed_folder(part, path, size);
  return PB_OK;
}

static pb_status make_target(const char* name, const char* class_name, const char* out) {
  char from[PATH_BYTES / 2], to[PATH_BYTES / 2];
  PB_TRY(check_name(name));
  PB_TRY(find_template(class_name, from, sizeof from));
  if (snprintf(to, sizeof to, "%s/%s", out, name) >= (int)sizeof to) return fail_at(out, "its path is too long");
  if (access(out, X_OK)) return fail_at(out, "no such folder");
  if (!access(to, F_OK))
    return pb_error(NULL, (pb_place){.file = to}, 1018, "another name, or another --out", "it is there already");
  PB_TRY(copy_folder(from, to, name));
  printf("%s: made. Next:\n  pb-target-test %s/%s.td\n  pbc MODEL.onnx --target=%s/%s.td -o model.pbe\n%s/README.md "
         "says how to go on.\n",
         to, to, name, to, name, to);
  return PB_OK;
}

int main(int argc, char** argv) {
  const char *name = NULL, *class_name = NULL, *out = ".";
  for (int k = 1; k < argc; ++k) {
    const char* a = argv[k];
    if (!strcmp(a, "--help")) return fputs(help, stdout), pb_printed(0);
    if (!strcmp(a, "--version")) return puts("pb-target-new 0.1.0"), pb_printed(0);
    if (!strncmp(a, "--class=", 8))
      class_name = a + 8;
    else if (!strncmp(a, "--out=", 6))
      out = a + 6;
    else if (!strcmp(a, "--out") && k + 1 < argc)
      out = argv[++k];
    else if (a[0] != '-' && !name)
      name = a;
    else
      return pb_error(NULL, (pb_place){0}, 1002, "pb-target-new --help", "bad option '%s'", a), 1;
  }
  if (!name) return fputs(help, stderr), 1;
  if (!class_name) return pb_error(NULL, (pb_place){0}, 1017, "--class=npu, cpu or gpu", "no class is given"), 1;
  return pb_printed(make_target(name, class_name, out) == PB_OK ? 0 : 1);
}
