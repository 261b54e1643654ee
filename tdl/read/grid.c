// What a chip says that is controlled by a grid.
#include "tdl/read/chip_read.h"

#include <string.h>

static bool is_power(int number) { return number > 0 && !(number & (number - 1)); }

// Levels come by the names of their records: here in the order that the chip says.
static void order_levels(const record* rec, pb_chip* c) {
  json_t *all = pb__instances(rec->r, "Level"), *said = json_object_get(rec->json, "Levels");
  pb_level* ordered = PB_NEW_ARRAY(&c->arena, pb_level, (size_t)c->level_count + 1);
  int count = 0;
  for (size_t k = 0; k < json_array_size(said) && count < c->level_count; ++k) {
    const char* name = pb__get_def(json_array_get(said, k));
    for (size_t n = 0; name && n < json_array_size(all); ++n)
      if (!strcmp(name, pb__text_of(json_array_get(all, n)))) ordered[count++] = c->levels[n];
  }
  for (int k = 0; k < count; ++k)
    for (int other = k + 1; other < count; ++other)
      if (!strcmp(ordered[k].name, ordered[other].name))
        pb__fault(rec, 3392, "each level once", "Levels lists \"%s\" twice", ordered[k].name);
  if (count == c->level_count && json_array_size(said) == (size_t)count) c->levels = ordered;
}

static void check_levels(const record* rec, const pb_chip* c) {
  static const char hint[] = "Levels = [...]: warps, processors that run them, lanes of one";
  if (c->level_count != PB_GRID_LEVELS) {
    pb__fault(rec, 3392, hint, "%d levels of a chip with a grid", c->level_count);
    return;
  }
  int lanes = c->levels[PB_GRID_LANES].max;
  if (c->levels[PB_GRID_WARPS].max < c->levels[PB_GRID_PROCESSORS].max)
    pb__fault(rec, 3392, hint, "%d warps on %d processors", c->levels[PB_GRID_WARPS].max,
              c->levels[PB_GRID_PROCESSORS].max);
  if (!is_power(lanes) || lanes < 2 || lanes > PB_MOST_LANES)
    pb__fault(rec, 3393, "a power of 2, 64 at most", "a warp of %d lanes", lanes);
  for (int m = 0; m < c->memory_count; ++m)
    if (c->memories[m].kind == PB_MEM_REGISTERS && c->memories[m].row_bytes != 4 * lanes)
      pb__fault(rec, 3394, "RowBytes of 4 for each lane", "a register of %s has %lld bytes, of %d lanes",
                c->memories[m].name, (long long)c->memories[m].row_bytes, lanes);
}

void pb__read_grid(reader* r) {
  json_t* list = pb__instances(r, "GridChip");
  pb_chip* c = r->chip;
  json_t* all = pb__instances(r, "Chip");
  if (c->control != PB_CONTROL_GRID || json_array_size(all) != 1) return;
  record rec = pb__open_record(r, pb__text_of(json_array_get(all, 0)));
  if (json_array_size(list) != 1) {
    pb__fault(&rec, 3395, "include \"gpu.td\", and a record of class GridChip",
              "it is controlled by a grid, and no GridChip");
    return;
  }
  c->grid.triple = pb__get_text(&rec, "Triple");
  c->grid.processor = pb__get_text(&rec, "Processor");
  c->grid.block_bytes = pb__get_int32(&rec, "BlockBytes", 0);
  c->grid.block_warps = pb__get_int32(&rec, "BlockWarps", 4);
  if (c->grid.block_bytes < 0 || c->grid.block_warps < 1 || c->grid.block_warps > PB_MOST_BLOCK_WARPS)
    pb__fault(&rec, 3396, "BlockBytes of 0 or more, BlockWarps of 1 to 16", "BlockBytes is %d, BlockWarps is %d",
              c->grid.block_bytes, c->grid.block_warps);
  c->grid.product_cycles = pb__get_int32(&rec, "ProductCycles", 1);
  if (c->grid.product_cycles < 1 || c->grid.product_cycles > PB_MOST_LANES)
    pb__fault(&rec, 3396, "from 1 to 64", "ProductCycles is %d", c->grid.product_cycles);
  order_levels(&rec, c);
  check_levels(&rec, c);
}
