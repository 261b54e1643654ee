#include "core/ir/module.h"

#include "core/base/arena.h"
#include "core/poly/text.h"

#include <errno.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(MlirStringRef part, void* text) { pb_text_add(text, "%.*s", (int)part.length, part.data); }

typedef struct route {
  pb_diag* diag;
  const char* path;
  const pb_module_origin* origin;
  pb_text* unplaced; // takes the first message that has no place, NULL: it is a diagnostic like the others
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
    if (r->origin) r->origin->place(r->origin->user, &place.line, &place.column);
  }
  bool waits = r->unplaced && !place.line;
  if (waits && !r->unplaced->length) pb_text_add(r->unplaced, "%s", text.data ? text.data : "");
  if (!waits) (void)pb_error(r->diag, place, 2001, NULL, "%s", text.data ? text.data : "");
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
  int wrong = ferror(f) ? errno : 0; // part of a text may be one, too
  if (f != stdin) fclose(f);
  *length = n;
  if (!wrong) return data;
  free(data);
  errno = wrong;
  return NULL;
}

// ---- where something is wrong that has no place ----

enum { MOST_SEARCHED = 1 << 24 }; // bytes, parsed some twenty times

// The text's first bytes, and what closes the regions that are open there, each by an operation that may end any block.
static void cut_text(const char* text, size_t n, pb_text* to) {
  pb_text open = {0}; // brackets
  bool quoted = false;
  for (size_t k = 0; k < n; ++k) {
    if (text[k] == '"' && (!k || text[k - 1] != '\\')) quoted = !quoted;
    if (!quoted && (text[k] == '{' || text[k] == '(')) pb_text_add(&open, "%c", text[k]);
    if (!quoted && (text[k] == '}' || text[k] == ')') && open.length) open.data[--open.length] = 0;
  }
  pb_text_add(to, "%.*s\n\"pb.end\"() : () -> ()\n", (int)n, text);
  for (size_t k = open.length; k-- > 0;) pb_text_add(to, open.data[k] == '{' ? "}\n" : ") : () -> ()\n");
  pb_text_free(&open);
}

static bool says(MlirContext context, const char* text, size_t n, const char* message) {
  pb_text cut = {0}, found = {0};
  pb_diag silent = {.sink = pb_diag_drop};
  route r = {.diag = &silent, .unplaced = &found};
  cut_text(text, n, &cut);
  MlirDiagnosticHandlerID id = mlirContextAttachDiagnosticHandler(context, on_diagnostic, &r, NULL);
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreate(cut.data, cut.length));
  mlirContextDetachDiagnosticHandler(context, id);
  if (!mlirModuleIsNull(module)) mlirModuleDestroy(module);
  bool same = found.length && !strcmp(found.data, message);
  pb_text_free(&cut);
  pb_text_free(&found);
  return same;
}

// Operations that MLIR's builders make for others have no place. The line is the first whose text is enough for MLIR to
// say the same, found by halving.
static pb_place place_of(MlirContext context, const char* text, size_t length, const char* name, const char* message) {
  if (length > MOST_SEARCHED) return (pb_place){.file = name};
  size_t good = 0, bad = 1, lines = 1;
  for (size_t k = 0; k < length; ++k) lines += text[k] == '\n';
  const char** ends = malloc(sizeof *ends * (lines + 1));
  if (!ends) pb_no_memory(sizeof *ends * (lines + 1));
  ends[0] = text;
  for (size_t k = 1; k <= lines; ++k) {
    const char* end = memchr(ends[k - 1], '\n', length - (size_t)(ends[k - 1] - text));
    ends[k] = end ? end + 1 : text + length;
  }
  for (bad = lines; bad - good > 1;) {
    size_t half = good + (bad - good) / 2;
    *(says(context, text, (size_t)(ends[half] - text), message) ? &bad : &good) = half;
  }
  pb_place place = {.file = name, .line = (int)bad, .column = 1 + (int)strspn(ends[bad - 1], " \t")};
  free(ends);
  return place;
}

pb_status pb_module_parse_text(MlirContext context, const char* text, size_t length, const char* name,
                               const pb_module_origin* origin, pb_diag* diag, MlirModule* module) {
  pb_text unplaced = {0};
  route r = {diag, name, origin, &unplaced};
  MlirDiagnosticHandlerID id = mlirContextAttachDiagnosticHandler(context, on_diagnostic, &r, NULL);
  *module = mlirModuleCreateParse(context, mlirStringRefCreate(text, length));
  mlirContextDetachDiagnosticHandler(context, id);
  if (unplaced.length) {
    pb_place place = place_of(context, text, length, name, unplaced.data);
    if (origin && place.line) origin->place(origin->user, &place.line, &place.column);
    (void)pb_error(diag, place, 2001, NULL, "%s", unplaced.data);
  }
  pb_text_free(&unplaced);
  return mlirModuleIsNull(*module) ? PB_ERR_INPUT : PB_OK;
}

pb_status pb_module_lower(MlirModule module, const char* pipeline, const char* name, pb_diag* diag) {
  MlirContext context = mlirModuleGetContext(module);
  route r = {.diag = diag, .path = name};
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
  pb_status status = pb_module_parse_text(context, data, length, name, NULL, diag, module);
  free(data);
  return status;
}

char* pb_module_print(MlirModule module) {
  pb_text text = {0};
  mlirOperationPrint(mlirModuleGetOperation(module), append, &text);
  pb_text_add(&text, "\n");
  return text.data;
}

MlirContext pb_context_create(void) {
  static const char* const dialects[] = {"func",   "arith", "math",   "affine", "memref",
                                         "vector", "scf",   "linalg", "tensor"};
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithThreading(false);
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);
  for (size_t k = 0; k < sizeof dialects / sizeof *dialects; ++k)
    mlirContextGetOrLoadDialect(context, mlirStringRefCreateFromCString(dialects[k]));
  return context;
}
