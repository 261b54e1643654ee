#include "core/s3/kernels.h"

#include "core/s3/fallback.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

bool pb_op_is(MlirOperation op, const char* name) {
  MlirStringRef s = mlirIdentifierStr(mlirOperationGetName(op));
  return s.length == strlen(name) && !memcmp(s.data, name, s.length);
}

MlirAttribute pb_op_attribute(MlirOperation op, const char* name) {
  return mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(name));
}

int64_t pb_op_integer(MlirOperation op, const char* name, int64_t missing) {
  MlirAttribute a = pb_op_attribute(op, name);
  return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? missing : mlirIntegerAttrGetValueInt(a);
}

MlirAttribute pb_member(MlirAttribute dictionary, const char* name) {
  return mlirDictionaryAttrGetElementByName(dictionary, mlirStringRefCreateFromCString(name));
}

int64_t pb_loop_iterations(MlirOperation loop) {
  MlirAffineMap upper = mlirAffineMapAttrGetValue(pb_op_attribute(loop, "upperBoundMap"));
  return mlirAffineConstantExprGetValue(mlirAffineMapGetResult(upper, 0));
}

static pb_status attempt(pb_unit* unit, MlirOperation func, pb_status (*visit)(pb_unit* unit, MlirOperation func)) {
  pb_attempt attempt;
  bool left;
  const char* name = pb_func_name(func, &unit->arena);
  pb_attempt_begin(unit, &attempt, func);
  return pb_attempt_end(unit, &attempt, name, visit(unit, func), &left);
}

pb_status pb_kernels_each(pb_unit* unit, pb_status (*visit)(pb_unit* unit, MlirOperation func)) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(unit->module));
  while (!mlirOperationIsNull(op)) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    if (!mlirAttributeIsNull(pb_op_attribute(op, "pb.kernel")) && !pb_kernel_is_left(op)) {
      pb_status status = pb_may_leave(unit) ? attempt(unit, op, visit) : visit(unit, op);
      pb_arena_free(&unit->pass);
      if (status != PB_OK) return status;
    }
    op = next;
  }
  return PB_OK;
}

static MlirModule parse(pb_unit* unit, const pb_text* text, const char* pass) {
  MlirModule module = mlirModuleCreateParse(unit->context, mlirStringRefCreate(text->data, text->length));
  if (mlirModuleIsNull(module)) {
    fprintf(stderr, "%s\n", text->data);
    pb_error(unit->diag, (pb_place){.what = pass}, 4090, "this is a bug in the compiler, not in the model",
             "the pass made IR that does not verify");
  }
  return module;
}

pb_status pb_kernel_replace(pb_unit* unit, MlirOperation old, const pb_text* text, const char* pass) {
  ++unit->changes;
  MlirModule module = parse(unit, text, pass);
  if (mlirModuleIsNull(module)) return PB_ERR_SYSTEM;
  MlirBlock into = mlirModuleGetBody(unit->module);
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  while (!mlirOperationIsNull(op)) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    MlirStringRef name = mlirStringAttrGetValue(pb_op_attribute(op, "sym_name"));
    bool declared = false; // an instruction's function that another kernel has brought already
    if (mlirAttributeIsNull(pb_op_attribute(op, "pb.kernel"))) {
      pb_arena scratch = {0};
      declared =
          !mlirOperationIsNull(pb_module_func(unit->module, pb_printf(&scratch, "%.*s", (int)name.length, name.data)));
      pb_arena_free(&scratch);
    }
    if (declared)
      mlirOperationDestroy(op);
    else
      mlirBlockInsertOwnedOperationBefore(into, old, op);
    op = next;
  }
  mlirModuleDestroy(module);
  mlirOperationDestroy(old);
  return PB_OK;
}

pb_status pb_module_replace(pb_unit* unit, const pb_text* text, const char* pass) {
  ++unit->changes;
  pb_arena_free(&unit->pass);
  mlirModuleDestroy(unit->module);
  unit->module = parse(unit, text, pass);
  if (!mlirModuleIsNull(unit->module)) return PB_OK;
  unit->module = mlirModuleCreateEmpty(mlirLocationUnknownGet(unit->context));
  return PB_ERR_SYSTEM;
}

void pb_text_append(MlirStringRef part, void* text) { pb_text_add(text, "%.*s", (int)part.length, part.data); }

MlirAttribute pb_argument_attribute(MlirValue value, const char* name) {
  MlirAttribute none = {NULL};
  if (!value.ptr || !mlirValueIsABlockArgument(value)) return none;
  MlirOperation func = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
  MlirAttribute all = mlirOperationIsNull(func) ? none : pb_op_attribute(func, "arg_attrs");
  if (mlirAttributeIsNull(all)) return none;
  return pb_member(mlirArrayAttrGetElement(all, mlirBlockArgumentGetArgNumber(value)), name);
}

int pb_memref_memory(const pb_chip* chip, MlirValue memref) {
  MlirAttribute space = mlirMemRefTypeGetMemorySpace(mlirValueGetType(memref));
  if (mlirAttributeIsNull(space) && chip->constant_memory_count) space = pb_argument_attribute(memref, "pb.memory");
  if (mlirAttributeIsNull(space) || !mlirAttributeIsAString(space)) return chip->system_memory;
  MlirStringRef name = mlirStringAttrGetValue(space);
  for (int k = 0; k < chip->memory_count; ++k)
    if (mlirStringRefEqual(name, mlirStringRefCreateFromCString(chip->memories[k].name))) return k;
  return -1;
}

const char* pb_func_name(MlirOperation func, pb_arena* arena) {
  MlirStringRef s = mlirStringAttrGetValue(pb_op_attribute(func, "sym_name"));
  return pb_printf(arena, "%.*s", (int)s.length, s.data);
}

MlirOperation pb_module_func(MlirModule module, const char* name) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute a = pb_op_attribute(op, "sym_name");
    if (mlirAttributeIsNull(a)) continue;
    MlirStringRef s = mlirStringAttrGetValue(a);
    if (s.length == strlen(name) && !memcmp(s.data, name, s.length)) return op;
  }
  return (MlirOperation){NULL};
}

// `more`: arguments behind those that it has, may be "".
static void print_head(pb_text* text, MlirOperation func, const char* more, const char* extra,
                       const char* const* drop) {
  MlirStringRef name = mlirStringAttrGetValue(pb_op_attribute(func, "sym_name"));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  MlirAttribute attrs = pb_op_attribute(func, "arg_attrs");
  pb_text_add(text, "func.func @%.*s(", (int)name.length, name.data);
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k) {
    pb_text_add(text, "%s%%a%d: ", k ? ", " : "", (int)k);
    mlirTypePrint(mlirValueGetType(mlirBlockGetArgument(body, k)), pb_text_append, text);
    if (mlirAttributeIsNull(attrs)) continue;
    MlirAttribute one = mlirArrayAttrGetElement(attrs, k);
    if (mlirDictionaryAttrGetNumElements(one) == 0) continue;
    pb_text_add(text, " ");
    mlirAttributePrint(one, pb_text_append, text);
  }
  pb_text_add(text, "%s) attributes {%s", more, extra);
  bool any = extra[0] != 0;
  for (intptr_t k = 0; k < mlirOperationGetNumDiscardableAttributes(func); ++k) {
    MlirNamedAttribute a = mlirOperationGetDiscardableAttribute(func, k);
    MlirStringRef id = mlirIdentifierStr(a.name);
    bool dropped = false;
    for (int d = 0; drop && drop[d]; ++d)
      dropped |= id.length == strlen(drop[d]) && !memcmp(id.data, drop[d], id.length);
    if (dropped) continue;
    pb_text_add(text, "%s%.*s = ", any ? ", " : "", (int)id.length, id.data);
    mlirAttributePrint(a.attribute, pb_text_append, text);
    any = true;
  }
  pb_text_add(text, "} {\n");
}

void pb_func_print_head(pb_text* text, MlirOperation func, const char* extra, const char* const* drop) {
  print_head(text, func, "", extra, drop);
}

// Constants that a pass has added: arguments behind those of the function as it is.
static void print_new_arguments(const pb_program* p, pb_text* text) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->func, 0));
  int known = (int)mlirBlockGetNumArguments(body);
  for (int v = 0; v < p->value_count; ++v) {
    const pb_value* value = &p->values[v];
    if (value->kind != PB_VALUE_CONST || value->argument < known) continue;
    pb_access type = pb_value_shape(value);
    pb_text_add(text, ", %%a%d: ", value->argument);
    pb_access_print_type(text, &type);
    pb_text_add(text, " {pb.const = %d : i64}", value->const_id);
  }
}

void pb_program_print_head(const pb_program* program, const char* extra, pb_text* text) {
  pb_text more = {0};
  print_new_arguments(program, &more);
  print_head(text, program->func, more.data ? more.data : "", extra, NULL);
  pb_text_free(&more);
}

void pb_program_print_begin(const pb_program* p, const bool* dropped, pb_text* text) {
  pb_text_add(text, "module attributes {pb.stage = \"s3\"} {\n");
  pb_program_print_head(p, "", text);
  pb_program_print_allocs(p, dropped, text);
}

pb_status pb_program_print_end(pb_unit* unit, pb_text* text, const char* pass) {
  pb_text_add(text, "  return\n}\n}\n");
  pb_status status = pb_module_replace(unit, text, pass);
  pb_text_free(text);
  return status;
}

pb_status pb_program_rewrite(pb_unit* unit, pb_program* p, const bool* dropped, const char* pass) {
  pb_text text = {0};
  int serial = 0;
  pb_program_print_begin(p, dropped, &text);
  for (int n = 0; n < p->nest_count; ++n)
    if (!(dropped && dropped[n])) pb_program_print_nest(p, n, &unit->pass, &serial, &text);
  return pb_program_print_end(unit, &text, pass);
}
