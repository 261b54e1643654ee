// An instruction's dims and operands.
#include "tdl/read/chip_read.h"

#include "tdl/check/check.h"

#include <stdlib.h>
#include <string.h>

void pb__read_dims(const record* rec, pb_insn* insn) {
  json_t* list = json_object_get(rec->json, "Dims");
  if (!json_is_array(list)) pb__fault(rec, 3010, "let Dims = [Dim<...>, ...]", "field 'Dims' is not set");
  for (size_t k = 0; k < json_array_size(list); ++k) {
    if (insn->dim_count == PB_MAX_INSN_DIMS) {
      pb__fault(rec, 3078, NULL, "more than %d dims", PB_MAX_INSN_DIMS);
      return;
    }
    record d = pb__open_record(rec->r, pb__get_def(json_array_get(list, k)));
    const char* field = pb__get_text(&d, "Field");
    pb_dim* dim = &insn->dims[insn->dim_count++];
    *dim = (pb_dim){.name = pb__get_text(&d, "Name"),
                    .min = pb__get_int32(&d, "Min", 1),
                    .max = pb__get_int32(&d, "Max", 1),
                    .field = -1};
    pb__name(rec, "a dim", dim->name, 64);
    if (field[0]) dim->field = pb__field_named(rec, insn, field, 3079, "a dim");
    pb__check_dim(insn, dim, rec->name, rec->place, rec->r->diag, &rec->r->faults);
  }
}

static int dim_named(const record* rec, const pb_insn* insn, const char* name) {
  for (int d = 0; name && d < insn->dim_count; ++d)
    if (!strcmp(insn->dims[d].name, name)) return d;
  pb__fault(rec, 3080, "one of the instruction's Dims", "a window walks the dim '%s', which is not there",
            name ? name : "?");
  return 0;
}

// A number of units, as text.
static pb_stride read_units(const record* rec, const pb_operand* operand, const char* text) {
  char* end;
  long long units = strtoll(text, &end, 10), most = INT32_MAX / (operand->unit < 1 ? 1 : operand->unit);
  if (*end || units > most || units < -most)
    pb__fault(rec, 3126, "a whole number of units, less than 2^31 bytes in all", "window '%s' has a stride of '%.40s'",
              operand->name, text);
  return (pb_stride){PB_STRIDE_NUMBER, -1, units};
}

static void read_strides(const record* rec, const record* w, pb_insn* insn, pb_operand* operand) {
  json_t *dims = json_object_get(w->json, "Dims"), *strides = json_object_get(w->json, "Strides");
  operand->rank = (int)json_array_size(dims);
  if (json_array_size(strides) != json_array_size(dims) || operand->rank > PB_MAX_INSN_DIMS) {
    pb__fault(rec, 3081, "one stride for each dim", "window '%s' has %zu dims and %zu strides", operand->name,
              json_array_size(dims), json_array_size(strides));
    operand->rank = 0;
  }
  for (int k = 0; k < operand->rank; ++k) {
    operand->dims[k] = dim_named(rec, insn, json_string_value(json_array_get(dims, (size_t)k)));
    const char* stride = json_string_value(json_array_get(strides, (size_t)k));
    operand->box_lo[k] = operand->box_hi[k] = -1;
    if (!stride) continue;
    if (!strcmp(stride, "elem"))
      operand->strides[k].kind = PB_STRIDE_ELEM;
    else if (!strcmp(stride, "row"))
      operand->strides[k].kind = PB_STRIDE_ROW;
    else if (!strcmp(stride, "none"))
      operand->strides[k].kind = PB_STRIDE_NONE;
    else if (stride[0] == '-' || (stride[0] >= '0' && stride[0] <= '9'))
      operand->strides[k] = read_units(rec, operand, stride);
    else
      operand->strides[k] = (pb_stride){PB_STRIDE_FIELD, pb__field_named(rec, insn, stride, 3082, "a stride"), 0};
  }
}

static void read_box(const record* rec, const record* w, pb_insn* insn, pb_operand* operand) {
  json_t *lo = json_object_get(w->json, "BoxLo"), *hi = json_object_get(w->json, "BoxHi");
  if (json_array_size(lo) != json_array_size(hi) ||
      (json_array_size(lo) && (int)json_array_size(lo) != operand->rank)) {
    pb__fault(rec, 3083, "one name for each dim in BoxLo and BoxHi", "window '%s' has a box of another rank",
              operand->name);
    return;
  }
  for (size_t k = 0; k < json_array_size(lo); ++k) {
    const char *l = json_string_value(json_array_get(lo, k)), *h = json_string_value(json_array_get(hi, k));
    if (!l || !h || !l[0] || !h[0]) continue;
    operand->box_lo[k] = pb__field_named(rec, insn, l, 3084, "a box");
    operand->box_hi[k] = pb__field_named(rec, insn, h, 3084, "a box");
    operand->has_box = true;
  }
  const char* fill = pb__get_text(w, "Fill");
  if (fill[0]) operand->fill = pb__field_named(rec, insn, fill, 3084, "a box");
}

// The place of a bank is a number of the command's like others, which no bit of it says.
static int add_hidden(const record* rec, pb_insn* insn, const pb_operand* operand) {
  if (insn->field_count == 32) {
    pb__fault(rec, 3070, "32 fields at most, and one for each window on banks", "too many fields");
    return 0;
  }
  const pb_memory* m = &rec->r->chip->memories[operand->memory];
  bool whole = m->row_bytes > 0 && m->banks > 0 && m->bytes / m->row_bytes >= m->banks; // else it has been reported
  pb_field* f = &insn->fields[insn->field_count];
  *f = (pb_field){.name = pb_printf(&rec->r->chip->arena, "bank of %s", operand->name),
                  .width = 40,
                  .by = whole ? m->bytes / m->row_bytes / m->banks : 1, // it begins with a bank
                  .hidden = true,
                  .state_writer = -1,
                  .state_field = -1,
                  .state_of = -1};
  memset(f->bits, 0xff, sizeof f->bits);
  return insn->field_count++;
}

// Banks have no base: a flag takes the next one.
static void read_base(const record* rec, const char* base, pb_insn* insn, pb_operand* operand) {
  if (!pb_in_banks(&rec->r->chip->memories[operand->memory])) {
    operand->base = pb__field_named(rec, insn, base, 3086, "a base");
    return;
  }
  if (base[0]) operand->take = pb__field_named(rec, insn, base, 3086, "the flag of a bank");
  operand->base = add_hidden(rec, insn, operand);
}

static void read_window(const record* rec, const record* w, pb_insn* insn, pb_operand* operand) {
  const char* memory = pb__get_def(json_object_get(w->json, "Mem"));
  operand->memory = memory ? pb_chip_memory(rec->r->chip, memory) : -1;
  if (operand->memory < 0) {
    pb__fault(rec, 3085, NULL, "window '%s' is on a memory that is not there", operand->name);
    operand->memory = 0;
  }
  operand->unit = pb__get_int(w, "Unit", 1);
  read_base(rec, pb__get_text(w, "Base"), insn, operand);
  const char* slot = pb__get_text(w, "Slot");
  if (slot[0]) operand->slot = pb__field_named(rec, insn, slot, 3087, "a slot");
  read_strides(rec, w, insn, operand);
  read_box(rec, w, insn, operand);
}

static void read_registers(const record* rec, const record* w, pb_insn* insn, pb_operand* operand) {
  const char* memory = pb__get_def(json_object_get(w->json, "Mem"));
  operand->memory = memory ? pb_chip_memory(rec->r->chip, memory) : -1;
  if (operand->memory < 0 || rec->r->chip->memories[operand->memory].kind != PB_MEM_REGISTERS) {
    pb__fault(rec, 3110, "a memory of kind \"registers\"", "operand '%s' is in '%s'", operand->name,
              memory ? memory : "?");
    operand->memory = 0;
  }
  operand->base = -1;
  operand->unit = 1;
  json_t* dims = json_object_get(w->json, "Dims");
  for (size_t k = 0; k < json_array_size(dims) && k < PB_MAX_INSN_DIMS; ++k) {
    operand->dims[operand->rank] = dim_named(rec, insn, pb__text_of(json_array_get(dims, k)));
    operand->strides[operand->rank++] = (pb_stride){PB_STRIDE_PACKED, -1, 0};
  }
}

static void read_rows(const record* rec, const record* w, pb_insn* insn, pb_operand* operand) {
  const pb_chip* chip = rec->r->chip;
  const char* memory = pb__get_def(json_object_get(w->json, "Mem"));
  operand->memory = memory ? pb_chip_memory(chip, memory) : -1;
  if (operand->memory < 0 || chip->memories[operand->memory].scope != PB_SCOPE_SYSTEM) {
    pb__fault(rec, 3112, "the memory of scope \"system\"", "rows '%s' are in '%s'", operand->name,
              memory ? memory : "?");
    operand->memory = chip->system_memory;
  }
  operand->base = -1;
  operand->unit = 1;
  json_t* dims = json_object_get(w->json, "Dims");
  for (size_t k = 0; k < json_array_size(dims) && k < PB_MAX_INSN_DIMS; ++k) {
    operand->dims[operand->rank] = dim_named(rec, insn, pb__text_of(json_array_get(dims, k)));
    operand->strides[operand->rank++] = (pb_stride){k ? PB_STRIDE_ELEM : PB_STRIDE_ROW, -1, 0};
  }
}

void pb__read_operands(const record* rec, pb_insn* insn) {
  json_t* args = json_object_get(json_object_get(rec->json, "Operands"), "args");
  if (!args) pb__fault(rec, 3010, "let Operands = (ins Window<...>:$a, ...)", "field 'Operands' is not set");
  for (size_t k = 0; k < json_array_size(args); ++k) {
    if (insn->operand_count == PB_MAX_OPERANDS) {
      pb__fault(rec, 3088, NULL, "more than %d operands", PB_MAX_OPERANDS);
      return;
    }
    json_t* arg = json_array_get(args, k);
    const char *def = pb__get_def(json_array_get(arg, 0)), *name = json_string_value(json_array_get(arg, 1));
    if (!def || !name) {
      pb__fault(rec, 3089, "Window<...>:$name or Imm<...>:$name", "operand %zu has no name or is no window", k);
      continue;
    }
    pb__name(rec, "an operand", name, 64);
    record w = pb__open_record(rec->r, def);
    pb_operand* operand = &insn->operands[insn->operand_count++];
    *operand = (pb_operand){.name = pb__keep(rec->r, name),
                            .memory = -1,
                            .take = -1,
                            .slot = -1,
                            .fill = -1,
                            .rows = -1,
                            .type = pb__read_type(rec->r, &w, "Elem")};
    if (pb__instance_of(w.json, "Window"))
      read_window(rec, &w, insn, operand);
    else if (pb__instance_of(w.json, "Reg"))
      read_registers(rec, &w, insn, operand);
    else if (pb__instance_of(w.json, "Rows"))
      read_rows(rec, &w, insn, operand);
    else
      operand->base = pb__field_named(rec, insn, name, 3090, "an immediate");
  }
}
