#include "core/driver/dump.h"

#include "core/base/arena.h"
#include "core/driver/pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

pb_status pb_dump_start(pb_dump* dump, const char* folder, pb_diag* diag) {
  *dump = (pb_dump){.folder = folder};
  if (!folder || !mkdir(folder, 0777) || errno == EEXIST) return PB_OK;
  return pb_system_error(diag, (pb_place){.file = folder}, 1003, "cannot be made");
}

pb_status pb_dump_text(pb_dump* dump, const char* name, char* text, pb_diag* diag) {
  if (!dump->folder) return free(text), PB_OK;
  pb_arena scratch = {0};
  const char* path = pb_printf(&scratch, "%s/%02d-%s", dump->folder, dump->count++, name);
  FILE* file = fopen(path, "w");
  bool failed = !file || fputs(text, file) < 0;
  if (file && fclose(file)) failed = true;
  pb_status status = PB_OK;
  if (failed) status = pb_system_error(diag, (pb_place){.file = path}, 1003, "cannot be written");
  pb_arena_free(&scratch);
  free(text);
  return status;
}

pb_status pb_dump_module(pb_dump* dump, const char* name, MlirModule module, pb_diag* diag) {
  if (!dump->folder) return PB_OK;
  pb_arena scratch = {0};
  pb_status status = pb_dump_text(dump, pb_printf(&scratch, "%s.mlir", name), pb_module_print(module), diag);
  pb_arena_free(&scratch);
  return status;
}
