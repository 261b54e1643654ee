#include "core/s3/kernels.h"

#include "core/base/workers.h"
#include "core/s3/fallback.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Func.h>
#include <stdio.h>
#include <stdlib.h>

bool pb_op_is(MlirOperation op, const char* name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), mlirStringRefCreateFromCString(name));
}

MlirValue pb_tensor_viewed(MlirValue value) {
  while (mlirValueIsAOpResult(value)) {
    MlirOperation op = mlirOpResultGetOwner(value);
    if (!pb_op_is(op, "memref.collapse_shape") && !pb_op_is(op, "memref.reinterpret_cast")) break;
    value = mlirOperationGetOperand(op, 0);
  }
  return value;
}

MlirAttribute pb_op_attribute(MlirOperation op, const char* name) {
  return mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(name));
}

void pb_op_set_attribute(MlirOperation op, const char* name, MlirAttribute value) {
  mlirOperationSetAttributeByName(op, mlirStringRefCreateFromCString(name), value);
}

void pb_argument_set_attribute(MlirOperation func, intptr_t argument, const char* name, MlirAttribute value) {
  mlirFuncSetArgAttr(func, argument, mlirStringRefCreateFromCString(name), value);
}

MlirAttribute pb_number_attribute(MlirContext context, int64_t number) {
  return mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), number);
}

MlirAttribute pb_text_attribute(MlirContext context, const char* text) {
  return mlirStringAttrGet(context, mlirStringRefCreateFromCString(text));
}

int64_t pb_op_integer(MlirOperation op, const char* name, int64_t missing) {
  MlirAttribute a = pb_op_attribute(op, name);
  return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? missing : mlirIntegerAttrGetValueInt(a);
}

int64_t pb_argument_integer(MlirValue value, const char* name, int64_t missing) {
  MlirAttribute a = pb_argument_attribute(value, name);
  return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? missing : mlirIntegerAttrGetValueInt(a);
}

MlirAttribute pb_member(MlirAttribute dictionary, const char* name) {
  return mlirDictionaryAttrGetElementByName(dictionary, mlirStringRefCreateFromCString(name));
}

int64_t pb_loop_iterations(MlirOperation loop) {
  MlirAffineMap upper = mlirAffineMapAttrGetValue(pb_op_attribute(loop, "upperBoundMap"));
  return mlirAffineConstantExprGetValue(mlirAffineMapGetResult(upper, 0));
}

static MlirModule parse(MlirContext context, const pb_text* text) {
  return mlirModuleCreateParse(context, mlirStringRefCreate(text->data, text->length));
}

static pb_status does_not_verify(pb_unit* unit, const pb_text* text, const char* pass) {
  fprintf(stderr, "%s\n", text->data);
  (void)pb_error(unit->diag, (pb_place){.what = pass}, 4090, "this is a bug in the compiler, not in the model",
                 "the pass made IR that does not verify");
  return PB_ERR_SYSTEM;
}

// What stands in the module of one kernel takes the old one's place.
static void put(pb_unit* unit, MlirOperation old, MlirModule module) {
  MlirBlock into = mlirModuleGetBody(unit->module);
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  while (!mlirOperationIsNull(op)) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    MlirStringRef name = mlirStringAttrGetValue(pb_op_attribute(op, "sym_name"));
    bool declared = false; // an instruction's function that another kernel has brought already
    if (!pb_op_has(op, "pb.kernel")) {
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
}

pb_status pb_kernel_replace(pb_unit* unit, MlirOperation old, const pb_text* text, const char* pass) {
  ++unit->changes;
  MlirModule module = parse(unit->context, text);
  if (mlirModuleIsNull(module)) return does_not_verify(unit, text, pass);
  put(unit, old, module);
  return PB_OK;
}

// ---- kernel by kernel ----

enum {
  MOST_TEXT = 1 << 21,  // that waits, and is IR twice over once it is parsed
  LEAST_TEXT = 1 << 19, // that is worth other threads
};

// A kernel's new text, and what it says.
typedef struct replacement {
  MlirOperation old;
  pb_text text;
  const char* pass;
  MlirModule module;
} replacement;

typedef struct pb_replacements {
  MlirContext context;
  replacement* items;
  size_t count, capacity, length; // the texts' together
} replacements;

static void parse_item(void* list, int k) {
  replacements* all = list;
  all->items[k].module = parse(all->context, &all->items[k].text);
}

void pb_kernel_replace_behind(pb_unit* unit, MlirOperation old, pb_text* text, const char* pass) {
  replacements* all = unit->replacements;
  replacement item = {.old = old, .text = *text, .pass = pass};
  PB_PUSH(all->items, all->count, all->capacity, item);
  all->length += text->length;
  *text = (pb_text){0};
}

// The texts are independent of each other. They need no dialect that is not loaded.
static void parse_all(const pb_unit* unit, replacements* all) {
  bool several = all->count > 1 && all->length > LEAST_TEXT && unit->workers != 1;
  if (several) mlirContextEnableMultithreading(unit->context, true);
  pb_work_on((int)all->count, several ? unit->workers : 1, parse_item, all);
  if (several) mlirContextEnableMultithreading(unit->context, false);
}

// All of them, or those in front of the first that does not parse.
static pb_status put_all(pb_unit* unit, replacements* all, pb_status status) {
  if (status == PB_OK) parse_all(unit, all);
  for (size_t k = 0; k < all->count; ++k) {
    replacement* item = &all->items[k];
    bool parsed = item->module.ptr != NULL;
    if (status == PB_OK && !parsed) status = does_not_verify(unit, &item->text, item->pass);
    if (parsed && status == PB_OK) {
      ++unit->changes;
      put(unit, item->old, item->module);
    } else if (parsed) {
      mlirModuleDestroy(item->module);
    }
    pb_text_free(&item->text);
  }
  free(all->items);
  *all = (replacements){.context = all->context};
  return status;
}

static pb_status attempt(pb_unit* unit, MlirOperation func, pb_status (*visit)(pb_unit* unit, MlirOperation func)) {
  pb_attempt attempt;
  bool left;
  const char* name = pb_func_name(func, &unit->arena);
  pb_attempt_begin(unit, &attempt, func);
  return pb_attempt_end(unit, &attempt, name, visit(unit, func), &left);
}

pb_status pb_kernels_each(pb_unit* unit, pb_status (*visit)(pb_unit* unit, MlirOperation func)) {
  pb_status status = PB_OK;
  replacements all = {.context = unit->context};
  unit->replacements = &all;
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(unit->module));
  while (!mlirOperationIsNull(op) && status == PB_OK) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    if (pb_op_has(op, "pb.kernel") && !pb_kernel_is_left(op)) {
      status = pb_may_leave(unit) ? attempt(unit, op, visit) : visit(unit, op);
      pb_arena_free(&unit->pass);
      if (all.length > MOST_TEXT) status = put_all(unit, &all, status);
    }
    op = next;
  }
  unit->replacements = NULL;
  return put_all(unit, &all, status);
}

pb_status pb_module_replace(pb_unit* unit, const pb_text* text, const char* pass) {
  ++unit->changes;
  pb_arena_free(&unit->pass);
  mlirModuleDestroy(unit->module);
  unit->module = parse(unit->context, text);
  if (!mlirModuleIsNull(unit->module)) return PB_OK;
  unit->module = mlirModuleCreateEmpty(mlirLocationUnknownGet(unit->context));
  return does_not_verify(unit, text, pass);
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

const char* pb_attribute_text(MlirAttribute text, pb_arena* arena) {
  MlirStringRef s = mlirStringAttrGetValue(text);
  return pb_printf(arena, "%.*s", (int)s.length, s.data);
}

const char* pb_func_name(MlirOperation func, pb_arena* arena) {
  return pb_attribute_text(pb_op_attribute(func, "sym_name"), arena);
}

MlirOperation pb_module_func(MlirModule module, const char* name) {
  PB_FOR_OPS (op, mlirModuleGetBody(module)) {
    MlirAttribute a = pb_op_attribute(op, "sym_name");
    if (!mlirAttributeIsNull(a) && mlirStringRefEqual(mlirStringAttrGetValue(a), mlirStringRefCreateFromCString(name)))
      return op;
  }
  return (MlirOperation){NULL};
}

// `more`: arguments behind those that it has, may be "".
static void print_head(pb_text* text, MlirOperation func, const char* more, const char* extra) {
  MlirStringRef name = mlirStringAttrGetValue(pb_op_attribute(func, "sym_name"));
  MlirBlock body = pb_op_body(func);
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
    pb_text_add(text, "%s%.*s = ", any ? ", " : "", (int)id.length, id.data);
    mlirAttributePrint(a.attribute, pb_text_append, text);
    any = true;
  }
  pb_text_add(text, "} {\n");
}

void pb_func_print_head(pb_text* text, MlirOperation func, const char* extra) { print_head(text, func, "", extra); }

// Constants that a pass has added: arguments behind those of the function as it is.
static void print_new_arguments(const pb_program* p, pb_text* text) {
  int known = pb_program_arguments(p);
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
  print_head(text, program->func, more.data ? more.data : "", extra);
  pb_text_free(&more);
}

pb_status pb_program_print_end(pb_unit* unit, pb_text* text, const char* pass) {
  pb_text_add(text, "  return\n}\n}\n");
  pb_status status = pb_module_replace(unit, text, pass);
  pb_text_free(text);
  return status;
}

pb_status pb_program_read_main(pb_unit* unit, pb_program* program) {
  return pb_program_read(pb_module_func(unit->module, "main"), &unit->pass, unit->diag, program);
}

pb_status pb_program_change(pb_unit* unit, pb_program_pass change, const char* pass) {
  pb_program program;
  PB_TRY(pb_program_read_main(unit, &program));
  return change(unit, &program) ? pb_program_rewrite(unit, &program, pass) : PB_OK;
}

pb_status pb_program_rewrite(pb_unit* unit, pb_program* p, const char* pass) {
  pb_text text = {0};
  int serial = 0;
  pb_text_add(&text, "module attributes {pb.stage = \"s3\"} {\n");
  pb_program_index(p, &unit->pass);
  pb_program_print_head(p, "", &text);
  pb_program_print_allocs(p, &text);
  for (int n = 0; n < p->nest_count; ++n)
    if (!pb_program_is_gone(p, n)) pb_program_print_nest(p, n, &unit->pass, &serial, &text);
  return pb_program_print_end(unit, &text, pass);
}
