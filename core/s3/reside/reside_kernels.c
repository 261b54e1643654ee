// Kernels with tensors that stay on the chip: their programs, and the module that has them.
#include "core/s3/reside/reside.h"

#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

// ---- programs ----

// The tensor with its border.
static void move_in(const pb_reside* s, const pb_resident* r, pb_program* p, int value) {
  pb_value* v = &p->values[value];
  v->space = s->unit->chip->memories[r->memory].name;
  v->address = r->address;
  for (int i = 0; i < v->rank; ++i) v->shape[i] += r->low[i] + r->high[i] + r->spare[i];
  PB_FOR_ACCESSES (n, a, p, value) {
    pb_access* access = &p->nests[n].access[a];
    access->space = v->space;
    access->boxed = false;
    memcpy(access->shape, v->shape, sizeof access->shape);
    for (int i = 0; i < access->rank; ++i) access->index[i].cst += r->low[i];
  }
}

// Sets so many rows of the border along index i, from `from` on.
static void add_fill(const pb_resident* r, pb_program* p, int value, int i, int64_t from, int64_t rows) {
  const pb_value* v = &p->values[value];
  int64_t low[PB_NEST_RANK], high[PB_NEST_RANK];
  for (int k = 0; k < v->rank; ++k) {
    int64_t used = v->shape[k] - r->spare[k];
    low[k] = k == i ? from : k < i ? r->low[k] : 0;
    high[k] = k == i ? from + rows : k < i ? used - r->high[k] : used;
  }
  pb_nest* fill = pb_program_add_fill(p, p->nests[0].name, "fill", value, low, high, r->fill);
  if (!fill) return;
  fill->access[0].memref = v->ir;
  if (!fill->dim_count) fill->extent[fill->dim_count++] = 1;
}

// Behind what makes the tensor; no two of them set the same element.
static void add_border(const pb_resident* r, pb_program* p, int value) {
  for (int i = 0; i < p->values[value].rank; ++i) {
    add_fill(r, p, value, i, 0, r->low[i]);
    add_fill(r, p, value, i, p->values[value].shape[i] - r->spare[i] - r->high[i], r->high[i]);
  }
}

pb_program* pb__reside_program(const pb_reside* s, int launch, pb_arena* arena) {
  const pb_launch* l = &s->launches[launch];
  const pb_program* from = s->launches[launch].program;
  pb_program* p = PB_NEW(arena, pb_program);
  int64_t* reserved = PB_NEW_ARRAY(arena, int64_t, (size_t)s->unit->chip->memory_count + 1);
  pb_program_begin_nests(from, arena, p);
  p->values = PB_NEW_ARRAY(arena, pb_value, (size_t)from->value_capacity + 1);
  memcpy(p->values, from->values, sizeof *p->values * (size_t)from->value_count);
  for (int n = 0; n < from->nest_count; ++n) (void)pb_program_add_nest(p, &from->nests[n], from->value_of[n]);
  for (int k = 0; k < l->alive_count; ++k) {
    const pb_resident* r = &s->residents[l->alive[k]];
    int64_t behind = s->unit->chip->memories[r->memory].bytes - r->address;
    if (behind > reserved[r->memory]) reserved[r->memory] = behind;
    p->reserved = reserved;
    int value = pb__reside_value(s, launch, r->tensor);
    if (value < 0) continue;
    move_in(s, r, p, value);
    if (launch == r->first) add_border(r, p, value);
  }
  pb_program_index(p, arena);
  return p;
}

// ---- the module ----

static MlirType type_of(MlirContext context, const pb_value* v) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(v->ir));
  MlirAttribute space = v->space ? pb_text_attribute(context, v->space) : mlirAttributeGetNull();
  return mlirMemRefTypeContiguousGet(element, v->rank, v->shape, space);
}

// A function whose arguments are the program's, for its head to be printed.
static void set_arguments(pb_reside* s, MlirOperation func, const pb_program* p) {
  MlirContext context = s->unit->context;
  MlirBlock body = pb_op_body(func);
  for (int v = 0; v < p->value_count; ++v) {
    const pb_value* value = &p->values[v];
    if (!value->space) continue;
    mlirValueSetType(mlirBlockGetArgument(body, value->argument), type_of(context, value));
    pb_argument_set_attribute(func, value->argument, "pb.address", pb_number_attribute(context, value->address));
  }
  if (p->reserved)
    pb_op_set_attribute(func, "pb.reserved", mlirDenseI64ArrayGet(context, s->unit->chip->memory_count, p->reserved));
}

static void print_body(pb_reside* s, pb_program* p, pb_text* text) {
  int serial = 0;
  pb_program_print_allocs(p, text);
  for (int n = 0; n < p->nest_count; ++n) pb_program_print_nest(p, n, &s->unit->pass, &serial, text);
  pb_text_add(text, "  return\n}\n");
}

// Whether the kernel is launched without residents, too.
static bool is_launched(const pb_reside* s, MlirOperation func) {
  for (int l = 0; l < s->launch_count; ++l)
    if (mlirOperationEqual(s->launches[l].func, func) && !s->launches[l].alive_count) return true;
  return false;
}

// A name that no function has, for another form of the kernel: of one that will be gone the first has its own.
static const char* new_name(pb_reside* s, MlirOperation func) {
  const char *base = pb_func_name(func, &s->unit->pass), *name = base;
  bool gone = !is_launched(s, func);
  for (int k = !gone;; ++k) {
    if (k) name = pb_printf(&s->unit->pass, "%s_%d", base, k + gone);
    MlirOperation taken = pb_module_func(s->unit->module, name);
    if (mlirOperationIsNull(taken) || (gone && mlirOperationEqual(taken, func))) return name;
  }
}

// The launch calls its own form of the kernel; `forms`: numbers of launches by the forms that there are.
static pb_status rewrite_launch(pb_reside* s, int launch, pb_table* forms) {
  pb_launch* l = &s->launches[launch];
  MlirContext context = s->unit->context;
  pb_text text = {0}, key = {0};
  pb_arena scratch = {0};
  pb_program* p = pb__reside_program(s, launch, &scratch);
  MlirOperation form = mlirOperationClone(l->func);
  set_arguments(s, form, p);
  pb_func_print_head(&key, form, "");
  print_body(s, p, &key);
  int known = pb_table_find(forms, key.data, key.length);
  pb_status status = PB_OK;
  if (known >= 0) {
    mlirOperationDestroy(form);
    pb_op_set_attribute(l->call, "callee", pb_op_attribute(s->launches[known].call, "callee"));
  } else {
    const char* name = new_name(s, l->func);
    pb_table_add(forms, pb_strdup(&s->unit->pass, key.data), key.length, launch);
    pb_op_set_attribute(form, "sym_name", pb_text_attribute(context, name));
    mlirBlockInsertOwnedOperationBefore(mlirModuleGetBody(s->unit->module), l->func, form);
    pb_func_print_head(&text, form, "");
    print_body(s, p, &text);
    pb_op_set_attribute(l->call, "callee", mlirFlatSymbolRefAttrGet(context, mlirStringRefCreateFromCString(name)));
    status = pb_kernel_replace(s->unit, form, &text, "reside");
  }
  pb_text_free(&text);
  pb_text_free(&key);
  pb_arena_free(&scratch);
  return status;
}

static void move_tensors(pb_reside* s) {
  for (int k = 0; k < s->resident_count; ++k) {
    const pb_resident* r = &s->residents[k];
    pb_arena scratch = {0};
    const pb_program* p = pb__reside_program(s, r->first, &scratch);
    const pb_value* v = &p->values[pb__reside_value(s, r->first, r->tensor)];
    mlirValueSetType(r->tensor, type_of(s->unit->context, v));
    pb_op_set_attribute(mlirOpResultGetOwner(r->tensor), "pb.address",
                        pb_number_attribute(s->unit->context, r->address));
    pb_arena_free(&scratch);
  }
}

// Kernels all of whose launches have forms of their own.
static void drop_unused(pb_reside* s) {
  for (int l = 0; l < s->launch_count; ++l) {
    MlirOperation func = s->launches[l].func;
    if (mlirOperationIsNull(func) || is_launched(s, func)) continue;
    for (int k = l; k < s->launch_count; ++k)
      if (mlirOperationEqual(s->launches[k].func, func)) s->launches[k].func = (MlirOperation){NULL};
    mlirOperationDestroy(func);
  }
}

pb_status pb__reside_rewrite(pb_reside* s) {
  pb_table forms = {0};
  pb_status status = PB_OK;
  for (int l = 0; l < s->launch_count && status == PB_OK; ++l)
    if (s->launches[l].alive_count) status = rewrite_launch(s, l, &forms);
  pb_table_free(&forms);
  if (status != PB_OK) return status;
  move_tensors(s);
  drop_unused(s);
  return PB_OK;
}
