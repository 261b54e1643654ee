#include "core/ir/module.h"

#include "core/base/arena.h"
#include "core/poly/text.h"

#include <errno.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Pass.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(MlirStringRef part, void* text) { pb_text_add(text, "%.*s", (int)part.length, part.data); }

typedef struct route {
  pb_diag* diag;
  const char* path;
} route;

static MlirLocation first_of(MlirLocation fused) {
  size_t count = mlirLocationFusedGetNumLocations(fused);
  pb_arena scratch = {0};
  MlirLocation* all = PB_NEW_ARRAY(&scratch, MlirLocation, count + 1);
  mlirLocationFusedGetLocations(fused, all);
  MlirLocation first = count ? all[0] : fused;
  pb_arena_free(&scratch);
  return first;
}

// A place in a file, or the first within what names, joins or calls it; what MLIR's builders make may have none.
static MlirLocation place_in(MlirLocation loc) {
  for (int depth = 0; depth < 16 && !mlirLocationIsAFileLineColRange(loc); ++depth) {
    if (mlirLocationIsAName(loc))
      loc = mlirLocationNameGetChildLoc(loc);
    else if (mlirLocationIsACallSite(loc))
      loc = mlirLocationCallSiteGetCaller(loc);
    else if (mlirLocationIsAFused(loc))
      loc = first_of(loc);
    else
      break;
  }
  return loc;
}

static MlirLogicalResult on_diagnostic(MlirDiagnostic d, void* user) {
  route* r = user;
  if (mlirDiagnosticGetSeverity(d) != MlirDiagnosticError) return mlirLogicalResultSuccess();
  pb_text text = {0};
  mlirDiagnosticPrint(d, append, &text);
  MlirLocation loc = place_in(mlirDiagnosticGetLocation(d));
  pb_place place = {.file = r->path};
  if (mlirLocationIsAFileLineColRange(loc)) {
    place.line = mlirLocationFileLineColRangeGetStartLine(loc);
    place.column = mlirLocationFileLineColRangeGetStartColumn(loc);
  }
  (void)pb_error(r->diag, place, 2001, NULL, "%s", text.data ? text.data : "");
  pb_text_free(&text);
  return mlirLogicalResultSuccess();
}

char* pb_module_text(const char* path, size_t* length) {
  FILE* f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
  if (!f) return NULL;
  char* data = NULL;
  size_t n = 0, capacity = 0;
  for (;;) {
    if (n + 65536 > capacity) {
      capacity = capacity ? capacity * 2 : 1 << 17;
      char* grown = realloc(data, capacity);
      if (!grown) pb_no_memory(capacity);
      data = grown;
    }
    size_t got = fread(data + n, 1, capacity - n - 1, f);
    n += got;
    if (!got) break;
  }
  data[n] = 0;
  if (f != stdin) fclose(f);
  *length = n;
  return data;
}

pb_status pb_module_parse_text(MlirContext context, const char* text, size_t length, const char* name, pb_diag* diag,
                               MlirModule* module) {
  route r = {diag, name};
  MlirDiagnosticHandlerID id = mlirContextAttachDiagnosticHandler(context, on_diagnostic, &r, NULL);
  *module = mlirModuleCreateParse(context, mlirStringRefCreate(text, length));
  mlirContextDetachDiagnosticHandler(context, id);
  return mlirModuleIsNull(*module) ? PB_ERR_INPUT : PB_OK;
}

pb_status pb_module_lower(MlirModule module, const char* pipeline, const char* name, pb_diag* diag) {
  MlirContext context = mlirModuleGetContext(module);
  route r = {diag, name};
  MlirDiagnosticHandlerID id = mlirContextAttachDiagnosticHandler(context, on_diagnostic, &r, NULL);
  MlirPassManager passes = mlirPassManagerCreate(context);
  pb_text why = {0};
  bool good = mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
                  mlirPassManagerGetAsOpPassManager(passes), mlirStringRefCreateFromCString(pipeline), append, &why)) &&
              mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(module)));
  mlirPassManagerDestroy(passes);
  mlirContextDetachDiagnosticHandler(context, id);
  if (!good && !diag->errors)
    (void)pb_error(diag, (pb_place){.file = name}, 2001, NULL, "MLIR cannot lower it: %s", why.data ? why.data : "");
  pb_text_free(&why);
  return good ? PB_OK : PB_ERR_INPUT;
}

pb_status pb_module_parse(MlirContext context, const char* path, const char* name, pb_diag* diag, MlirModule* module) {
  size_t length;
  char* data = pb_module_text(path, &length);
  if (!data) return pb_system_error(diag, (pb_place){.file = name}, 1001, "cannot be read");
  pb_status status = pb_module_parse_text(context, data, length, name, diag, module);
  free(data);
  return status;
}

char* pb_module_print(MlirModule module) {
  pb_text text = {0};
  mlirOperationPrint(mlirModuleGetOperation(module), append, &text);
  pb_text_add(&text, "\n");
  return text.data;
}
