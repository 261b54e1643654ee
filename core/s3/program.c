#include "core/s3/program.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

static bool name_is(MlirOperation op, const char* name) {
  MlirStringRef s = mlirIdentifierStr(mlirOperationGetName(op));
  return s.length == strlen(name) && !memcmp(s.data, name, s.length);
}

static MlirAttribute argument_attribute(MlirOperation func, intptr_t argument, const char* name) {
  MlirAttribute all = mlirOperationGetAttributeByName(func, mlirStringRefCreateFromCString("arg_attrs"));
  if (mlirAttributeIsNull(all)) return mlirAttributeGetNull();
  MlirAttribute one = mlirArrayAttrGetElement(all, argument);
  return mlirDictionaryAttrGetElementByName(one, mlirStringRefCreateFromCString(name));
}

static const char* text_of(MlirAttribute a, pb_arena* arena) {
  MlirStringRef s = mlirStringAttrGetValue(a);
  return pb_printf(arena, "%.*s", (int)s.length, s.data);
}

static void describe(MlirValue ir, pb_value* value) {
  pb_access shape;
  *value = (pb_value){.ir = ir, .argument = -1, .const_id = -1, .type = PB_TYPE_COUNT, .first_use = -1, .last_use = -1};
  if (!pb_access_of_value(ir, &shape)) return;
  value->type = shape.type;
  value->rank = shape.rank;
  memcpy(value->shape, shape.shape, sizeof value->shape);
}

static void describe_argument(MlirOperation func, MlirValue ir, int k, pb_arena* arena, pb_value* value) {
  describe(ir, value);
  value->argument = k;
  MlirAttribute a = argument_attribute(func, k, "pb.const");
  if (!mlirAttributeIsNull(a)) {
    value->kind = PB_VALUE_CONST;
    value->const_id = (int)mlirIntegerAttrGetValueInt(a);
    return;
  }
  a = argument_attribute(func, k, "pb.output");
  value->kind = mlirAttributeIsNull(a) ? PB_VALUE_INPUT : PB_VALUE_OUTPUT;
  if (mlirAttributeIsNull(a)) a = argument_attribute(func, k, "pb.input");
  value->name = mlirAttributeIsNull(a) ? "" : text_of(a, arena);
}

static int find(const pb_program* program, MlirValue ir) {
  for (int v = 0; v < program->value_count; ++v)
    if (pb_value_same(program->values[v].ir, ir)) return v;
  return -1;
}

static pb_status note_uses(pb_program* program, int nest, pb_diag* diag) {
  pb_nest* n = &program->nests[nest];
  for (int a = 0; a < n->access_count; ++a) {
    int v = find(program, n->access[a].memref);
    if (v < 0)
      return pb_unsupported(diag, (pb_place){.what = n->name}, 4001, NULL,
                            "a nest uses a memref that is no value of its function");
    program->value_of[nest][a] = v;
    pb_value* value = &program->values[v];
    if (value->first_use < 0) value->first_use = nest;
    value->last_use = nest;
    n->access[a].splat = value->kind == PB_VALUE_CONST && value->rank == 1 &&
                         !mlirAttributeIsNull(argument_attribute(program->func, value->argument, "pb.splat"));
  }
  return PB_OK;
}

pb_status pb_program_read(MlirOperation func, pb_arena* arena, pb_diag* diag, pb_program* program) {
  *program = (pb_program){.func = func};
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  int arguments = (int)mlirBlockGetNumArguments(body), locals = 0, nests = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    locals += name_is(op, "memref.alloc");
    nests += name_is(op, "affine.for") || name_is(op, "affine.store");
  }
  program->values = PB_NEW_ARRAY(arena, pb_value, (size_t)(arguments + locals) + 1);
  program->nests = PB_NEW_ARRAY(arena, pb_nest, (size_t)nests + 1);
  program->value_of = pb_alloc_array(arena, (size_t)nests + 1, sizeof *program->value_of);
  for (int k = 0; k < arguments; ++k)
    describe_argument(func, mlirBlockGetArgument(body, k), k, arena, &program->values[program->value_count++]);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (name_is(op, "memref.alloc")) {
      pb_value* value = &program->values[program->value_count++];
      describe(mlirOperationGetResult(op, 0), value);
      value->kind = PB_VALUE_LOCAL;
    } else if (name_is(op, "affine.for") || name_is(op, "affine.store")) {
      pb_nest* nest = &program->nests[program->nest_count];
      const char* why = pb_nest_read(op, arena, nest);
      if (why) return pb_unsupported(diag, (pb_place){.what = nest->name}, 4002, NULL, "not in value form: %s", why);
      PB_TRY(note_uses(program, program->nest_count++, diag));
    }
  }
  return PB_OK;
}

int pb_program_stored(const pb_program* program, int nest) {
  return program->value_of[nest][program->nests[nest].access_count - 1];
}

bool pb_program_same_place(const pb_program* p, int a, int b) {
  if (pb_program_stored(p, a) != pb_program_stored(p, b)) return false;
  const pb_access *x = &p->nests[a].access[p->nests[a].access_count - 1],
                  *y = &p->nests[b].access[p->nests[b].access_count - 1];
  for (int r = 0; r < x->rank; ++r) {
    int64_t ex = 1, ey = 1;
    for (int d = 0; d < p->nests[a].dim_count; ++d)
      if (x->index[r].coef[d]) ex *= p->nests[a].extent[d];
    for (int d = 0; d < p->nests[b].dim_count; ++d)
      if (y->index[r].coef[d]) ey *= p->nests[b].extent[d];
    if (x->index[r].cst != y->index[r].cst || ex != ey) return false;
  }
  return true;
}

bool pb_program_writes(const pb_program* program, int nest, int value) {
  return pb_program_stored(program, nest) == value;
}

bool pb_program_reads(const pb_program* program, int nest, int value) {
  const pb_nest* n = &program->nests[nest];
  for (int a = 0; a + 1 < n->access_count; ++a)
    if (program->value_of[nest][a] == value) return true;
  return n->reduce != PB_SET && pb_program_writes(program, nest, value);
}

int pb_program_readers(const pb_program* program, int value) {
  int readers = 0;
  for (int n = 0; n < program->nest_count; ++n) {
    const pb_nest* nest = &program->nests[n];
    for (int a = 0; a + 1 < nest->access_count; ++a)
      if (program->value_of[n][a] == value) {
        ++readers;
        break;
      }
  }
  return readers;
}

void pb_program_print_allocs(const pb_program* program, pb_text* text) {
  for (int v = 0; v < program->value_count; ++v) {
    const pb_value* value = &program->values[v];
    if (value->kind != PB_VALUE_LOCAL) continue;
    pb_access type = {.type = value->type, .rank = value->rank};
    memcpy(type.shape, value->shape, sizeof type.shape);
    pb_text_add(text, "  %%v%d = memref.alloc() : ", v);
    pb_access_print_type(text, &type);
    pb_text_add(text, "\n");
  }
}

int pb_program_add_value(pb_program* p, pb_arena* arena, const pb_value* value) {
  pb_value* all = PB_NEW_ARRAY(arena, pb_value, (size_t)p->value_count + 1);
  memcpy(all, p->values, sizeof *all * (size_t)p->value_count);
  all[p->value_count] = *value;
  p->values = all;
  return p->value_count++;
}
