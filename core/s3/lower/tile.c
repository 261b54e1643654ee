// Tile and fuse: carries out the plan. Requires a kernel function in value form with pb.plan. Leaves loops over tiles
// with, inside, allocs of the tile's buffers (pb.depth copies are wanted) and small nests: loads of slices, the main
// nest on the tile, its epilogues, stores. Exact: the order of every reduction is the one the axes say.
//
//   before   affine.for h, w, o, r, s, c: acc[h, w, o] += x[h + r, w + s, c] * w[r, s, c, o];  y = requant(acc)
//   after    affine.for th { x = alloc "SPAD"; load x; affine.for o { w = alloc; load w; acc = alloc "ACC"; init acc;
//              affine.for c, r, s { held = alloc; stage; acc += x * held } y = alloc; y = requant(acc); store y } }
#include "core/s3/lower/tiled.h"
#include "core/s3/plan/plan.h"
#include "core/s3/small_codes.h"

#include <string.h>

typedef struct printer {
  const pb_tiling* tiling;
  const pb_program* program;
  pb_arena* arena;
  pb_text* text;
  int serial;
  bool shared[PB_MAX_BUFFERS]; // another buffer lies where it lies
} printer;

// NULL: the system's memory.
static const char* space_of(const printer* p, int buffer) {
  const pb_chip* chip = p->tiling->chip;
  int memory = p->tiling->buffers[buffer].memory;
  return memory == chip->system_memory ? NULL : chip->memories[memory].name;
}

static void name_accesses(printer* p, pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a) {
    pb_access* access = &nest->access[a];
    if (access->memref.ptr) {
      const pb_value* value = &p->program->values[pb_program_value(p->program, access->memref)];
      access->ref = pb_printf(p->arena, "%%%s%d", access->rank == value->rank ? "a" : "f", value->argument);
    } else {
      int tensor = p->tiling->buffers[access->buffer].tensor;
      access->ref = tensor ? pb_printf(p->arena, "%%a%d", tensor - 1) : pb_printf(p->arena, "%%b%d", access->buffer);
      access->space = space_of(p, access->buffer);
    }
  }
}

static void print_alloc(void* user, int id, int indent) {
  printer* p = user;
  const pb_buffer* buffer = &p->tiling->buffers[id];
  pb_access type = {
      .type = pb_type_bits(buffer->type) == 4 ? PB_I8 : buffer->type, .rank = buffer->rank, .space = space_of(p, id)};
  memcpy(type.shape, buffer->shape, sizeof type.shape);
  pb_text_line(p->text, indent, "%%b%d = memref.alloc() {pb.name = \"%s\", pb.depth = %d : i64", id, buffer->name,
               buffer->depth);
  if (buffer->shares >= 0 || p->shared[id]) // one number for all that lie at one place
    pb_text_add(p->text, ", pb.place = %d : i64", buffer->shares >= 0 ? buffer->shares : id);
  if (buffer->number) pb_text_add(p->text, ", pb.splat");
  if (type.type != buffer->type) pb_text_add(p->text, ", pb.packed = %d : i64", pb_codes_of_type(buffer->type));
  pb_text_add(p->text, "} : ");
  pb_access_print_type(p->text, &type);
  pb_text_add(p->text, "\n");
}

static pb_status print_nest(void* user, pb_nest* nest, int indent) {
  printer* p = user;
  name_accesses(p, nest);
  pb_nest_print(p->text, nest, indent, &p->serial);
  return PB_OK;
}

static pb_status print_kernel(pb_unit* unit, MlirOperation func, const pb_program* program, const pb_tiling* tiling) {
  pb_text text = {0};
  pb_func_print_head(&text, func, tiling->by_number ? PB_BY_NUMBER : "");
  printer p = {.tiling = tiling, .program = program, .arena = &unit->pass, .text = &text};
  for (int b = 0; b < tiling->buffer_count; ++b)
    if (tiling->buffers[b].shares >= 0) p.shared[tiling->buffers[b].shares] = true;
  if (tiling->by_number) pb_program_print_flats(program, &text);
  pb_tiled_printer tree = {.text = &text, .user = &p, .nest = print_nest, .alloc = print_alloc};
  pb_status status = pb_tiled_print(&tree, &tiling->root, 1);
  pb_text_add(&text, "  return\n}\n");
  if (status == PB_OK) pb_kernel_replace_behind(unit, func, &text, "tile");
  pb_text_free(&text);
  return status;
}

static pb_status illegal(pb_unit* unit, MlirOperation func, const char* why) {
  return pb_error(unit->diag, (pb_place){.what = pb_func_name(func, &unit->pass)}, 4012, NULL,
                  "its plan is illegal: %s", why);
}

static pb_status tile_kernel(pb_unit* unit, MlirOperation func) {
  pb_program program;
  pb_kernel_form kernel;
  pb_kernel_plan plan;
  const char* why;
  if (pb_op_has(func, "pb.scalar")) return PB_OK;
  PB_TRY(pb_program_read(func, &unit->pass, unit->diag, &program));
  pb_plan_reader reader = pb_plan_reader_of(unit, func);
  bool several = pb_plan_is_of_stages(reader);
  PB_TRY(pb_kernel_read(unit->chip, &program, several, &unit->pass, unit->diag, &kernel));
  if (several && !kernel.stages) return illegal(unit, func, "its nests share no loop");
  if (pb_kernel_is_plain(&kernel)) return PB_OK;
  PB_TRY(pb_kernel_plan_read(&reader, &kernel, &unit->pass, &plan));
  if (!pb_kernel_plan_cost(unit->chip, &kernel, &unit->pass, &plan, &why)) return illegal(unit, func, why);
  pb_tiling* tiling = pb_alloc_raw(&unit->pass, sizeof(pb_tiling));
  if (!pb_kernel_plan_build(unit->chip, &kernel, &plan, &unit->pass, pb_plan_proofs(unit), tiling))
    return illegal(unit, func, tiling->failure);
  return print_kernel(unit, func, &program, tiling);
}

pb_status pb_s3_tile(pb_unit* unit) { return pb_kernels_each(unit, tile_kernel); }
