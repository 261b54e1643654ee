// Data of tensors in files of their own: beside the model or below its folder, nowhere else. The kernel resolves the
// path so (openat2): no "..", no absolute path, no symbolic link on the way; a file with a second name could be
// anybody's, so it has one.
#define _GNU_SOURCE
#include "core/frontend/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pb_status refuse(pb__loader* l, const char* tensor, const char* what) {
  return pb_error(l->diag, (pb_place){.file = l->graph->file, .what = tensor}, 2011,
                  "a file beside the model or below its folder, or the model saved in one file", "%s", what);
}

static int open_folder(const char* model) {
  const char* slash = strrchr(model, '/');
  pb_arena scratch = {0};
  const char* folder = slash ? pb_printf(&scratch, "%.*s/", (int)(slash - model), model) : ".";
  int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  pb_arena_free(&scratch);
  return fd;
}

static pb_status map_file(pb__loader* l, const char* tensor, const char* location, pb_mapping* mapping) {
  int folder = open_folder(l->graph->file);
  struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                         .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  long fd = folder < 0 ? -1 : syscall(SYS_openat2, folder, location, &how, sizeof how);
  int why = errno;
  if (folder >= 0) close(folder);
  struct stat st;
  if (fd < 0 && (why == EXDEV || why == ELOOP)) return refuse(l, tensor, "data in a file outside the model's folder");
  errno = why;
  if (fd < 0)
    return pb_system_error(l->diag, (pb_place){.file = l->graph->file, .what = tensor}, 2011, "its data's file '%s'",
                           location);
  bool plain = !fstat((int)fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0, alone = plain && st.st_nlink == 1;
  void* data = alone ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, (int)fd, 0) : MAP_FAILED;
  close((int)fd);
  if (!plain) return refuse(l, tensor, "data in what is no file, or an empty one");
  if (!alone) return refuse(l, tensor, "data in a file that has another name too (a hard link)");
  if (data == MAP_FAILED)
    return pb_system_error(l->diag, (pb_place){.file = l->graph->file, .what = tensor}, 2011, "its data's file '%s'",
                           location);
  *mapping = (pb_mapping){data, (size_t)st.st_size, location};
  return PB_OK;
}

static bool number(const char* text, uint64_t* value) {
  char* end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return *text >= '0' && *text <= '9' && !*end && !errno;
}

pb_status pb__external_data(pb__loader* l, const char* tensor, const pb__external* from, pb_wire* raw) {
  uint64_t offset = 0, length = 0;
  if (!l->in_file) return refuse(l, tensor, "data outside a model that is no file");
  if (!from->location || !*from->location) return refuse(l, tensor, "data outside the model, in no file");
  if ((from->offset && !number(from->offset, &offset)) || (from->length && !number(from->length, &length)))
    return refuse(l, tensor, "data outside the model at no place: offset and length are no numbers");
  pb_graph* g = l->graph;
  const pb_mapping* file = NULL;
  for (size_t k = 0; k < g->mapping_count; ++k)
    if (g->mappings[k].location && !strcmp(g->mappings[k].location, from->location)) file = &g->mappings[k];
  if (!file) {
    pb_mapping new;
    PB_TRY(map_file(l, tensor, from->location, &new));
    PB_PUSH(g->mappings, g->mapping_count, g->mapping_capacity, new);
    file = &g->mappings[g->mapping_count - 1];
  }
  if (offset > file->bytes || (from->length && length > file->bytes - offset))
    return refuse(l, tensor, "data outside the model, past the end of their file");
  raw->at = (const uint8_t*)file->data + offset;
  raw->end = raw->at + (from->length ? length : file->bytes - offset);
  return PB_OK;
}
