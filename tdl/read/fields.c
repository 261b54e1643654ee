// An instruction's fields: what they are, what their bits hold, where those stand, and which stand in state.
#include "tdl/read/chip_read.h"

#include "tdl/check/check.h"

#include <stdlib.h>
#include <string.h>

int pb__field_named(const record* rec, pb_insn* insn, const char* name, int code, const char* what) {
  int f = pb_insn_field(insn, name);
  if (f < 0)
    pb__fault(rec, code, "declare it: bits<N> name", "%s names the field '%s', which is not there", what, name);
  return f < 0 ? 0 : f;
}

static bool is_bits(json_t* v) {
  for (size_t k = 0; k < json_array_size(v); ++k)
    if (!json_is_null(json_array_get(v, k)) && !json_is_integer(json_array_get(v, k)) &&
        !json_is_object(json_array_get(v, k)))
      return false;
  return json_is_array(v) && json_array_size(v) > 0;
}

// Fields are the record's own `bits<N>` members; where their bits stand is read off Inst.
static void read_fields(const record* rec, pb_insn* insn) {
  static const char* const not_fields[] = {"Inst", "Dims", "Signed", "State", "Derived", "Shared"};
  const char* key;
  json_t* value;
  insn->fields = PB_NEW_ARRAY(&rec->r->chip->arena, pb_field, 33);
  json_object_foreach(rec->json, key, value) {
    bool skip = key[0] == '!' || !is_bits(value) || json_is_object(json_array_get(value, 0));
    for (size_t k = 0; k < sizeof not_fields / sizeof *not_fields; ++k) skip |= !strcmp(key, not_fields[k]);
    if (skip) continue;
    if (insn->field_count == 32) {
      pb__fault(rec, 3070, "32 fields at most", "too many fields");
      return;
    }
    pb_field* f = &insn->fields[insn->field_count++];
    pb__name(rec, "a field", key, 64);
    *f = (pb_field){.name = pb__keep(rec->r, key),
                    .width = (int)json_array_size(value),
                    .by = 1,
                    .state_writer = -1,
                    .state_field = -1,
                    .state_of = -1};
    memset(f->bits, 0xff, sizeof f->bits);
    if (f->width > 64) {
      pb__fault(rec, 3071, "64 bits at most", "field '%s' has %d bits", key, f->width);
      f->width = 64;
    }
  }
  json_t* names = json_object_get(rec->json, "Signed");
  for (size_t k = 0; k < json_array_size(names); ++k)
    insn->fields[pb__field_named(rec, insn, pb__text_of(json_array_get(names, k)), 3072, "Signed")].is_signed = true;
  names = json_object_get(rec->json, "Shared");
  for (size_t k = 0; k < json_array_size(names); ++k)
    insn->fields[pb__field_named(rec, insn, pb__text_of(json_array_get(names, k)), 3072, "Shared")].shared = true;
}

// What fields hold in place of their numbers.
static void read_derived(const record* rec, pb_insn* insn) {
  static const char* const forms[] = {"minus", "scaled", "log2"};
  json_t* list = json_object_get(rec->json, "Derived");
  for (size_t k = 0; k < json_array_size(list); ++k) {
    record d = pb__open_record(rec->r, pb__get_def(json_array_get(list, k)));
    d.place = rec->place;
    pb_field* field = &insn->fields[pb__field_named(rec, insn, pb__get_text(&d, "Field"), 3114, "Derived")];
    int64_t by = pb__get_int(&d, "By", 1);
    if (field->form) pb__fault(rec, 3115, "once", "field '%s' is derived twice", field->name);
    field->form = (pb_form)(PB_FORM_MINUS + pb__choice(&d, "Form", forms, 3));
    field->by = field->form == PB_FORM_LOG2 ? 1 : by;
    int faults = rec->r->faults;
    if (by < 1 || by > PB_MOST_DERIVED)
      pb__fault(rec, 3116, "1 to 1048576", "field '%s' is derived by %lld", field->name, (long long)by);
    else if (field->form == PB_FORM_LOG2 && (field->is_signed || field->width > 5))
      pb__fault(rec, 3117, "5 bits at most, without sign", "field '%s' holds logarithms in %d bits%s", field->name,
                field->width, field->is_signed ? " with sign" : "");
    else if (field->width > 40)
      pb__fault(rec, 3117, "40 bits at most", "field '%s' is derived and has %d bits", field->name, field->width);
    if (rec->r->faults > faults) field->form = PB_FORM_PLAIN; // what is checked behind it counts on these limits
  }
}

static void read_encoding(const record* rec, pb_insn* insn) {
  json_t* inst = json_object_get(rec->json, "Inst");
  bool opcode = false;
  for (int b = 0; b < PB_COMMAND_BITS; ++b) {
    json_t* bit = json_array_get(inst, (size_t)b);
    if (json_is_integer(bit)) {
      opcode = true;
      insn->fixed_mask[b / 8] |= (uint8_t)(1 << b % 8);
      if (json_integer_value(bit)) insn->fixed_value[b / 8] |= (uint8_t)(1 << b % 8);
    } else if (json_is_object(bit)) {
      const char* var = json_string_value(json_object_get(bit, "var"));
      int f = var ? pb_insn_field(insn, var) : -1;
      int64_t index = json_integer_value(json_object_get(bit, "index"));
      if (f < 0 || index < 0 || index >= insn->fields[f].width) {
        pb__fault(rec, 3073, "let Inst{hi-lo} = field", "bit %d of Inst is of no field", b);
        continue;
      }
      if (insn->fields[f].bits[index] >= 0)
        pb__fault(rec, 3074, NULL, "bit %lld of field '%s' stands twice in Inst", (long long)index, var);
      insn->fields[f].bits[index] = (int16_t)b;
    }
  }
  if (!opcode) pb__fault(rec, 3075, "let Inst{7-0} = 0x..;", "has no fixed bits: it cannot be told from others");
}

void pb__read_fields(const record* rec, pb_insn* insn) {
  read_fields(rec, insn);
  read_derived(rec, insn);
  read_encoding(rec, insn);
}

// State holds what its writer's field does.
static void take_form(pb_field* field, const pb_field* written) {
  field->form = written->form;
  field->by = written->by;
}

// Whose state it writes instead of its own.
static void read_state_of(const record* rec, pb_insn* insn) {
  const pb_chip* chip = rec->r->chip;
  const char* name = json_object_get(rec->json, "StateOf") ? pb__get_text(rec, "StateOf") : "";
  if (!name[0]) return;
  for (int i = 0; i < chip->insn_count; ++i)
    if (!strcmp(chip->insns[i].name, name)) insn->state_of = i;
  if (insn->state_of < 0) {
    pb__fault(rec, 3127, "an instruction defined above it", "it writes the state of %s, which is not there", name);
    return;
  }
  for (int f = 0; f < insn->field_count; ++f) {
    const pb_insn* of = &chip->insns[insn->state_of];
    pb_field* field = &insn->fields[f];
    if (field->bits[0] < 0) continue; // says nothing
    field->state_of = pb_insn_field(of, field->name);
    if (field->state_of >= 0 && of->fields[field->state_of].width == field->width &&
        of->fields[field->state_of].is_signed == field->is_signed && of->fields[field->state_of].form == field->form &&
        of->fields[field->state_of].by == field->by)
      continue;
    pb__fault(rec, 3128, "the same name, width and sign on both sides",
              "its field '%s' writes the state of %s, which has no such field", field->name, name);
    field->state_of = 0;
  }
}

void pb__read_state(const record* rec, pb_insn* insn) {
  read_state_of(rec, insn);
  json_t* list = json_object_get(rec->json, "State");
  for (size_t k = 0; k < json_array_size(list); ++k) {
    record s = pb__open_record(rec->r, pb__get_def(json_array_get(list, k)));
    int f = pb__field_named(rec, insn, pb__get_text(&s, "Field"), 3076, "State");
    const char* writer = pb__get_text(&s, "Writer");
    const char* writer_field = pb__get_text(&s, "WriterField");
    insn->fields[f].state_writer = -2; // resolved once all instructions are there
    for (int i = 0; i < rec->r->chip->insn_count; ++i)
      if (!strcmp(rec->r->chip->insns[i].name, writer)) {
        insn->fields[f].state_writer = i;
        insn->fields[f].state_field = pb_insn_field(&rec->r->chip->insns[i], writer_field);
      }
    if (insn->fields[f].form)
      pb__fault(rec, 3118, "leave it to the writer's", "field '%s' is state and derived", insn->fields[f].name);
    else if (insn->fields[f].state_writer >= 0 && insn->fields[f].state_field >= 0)
      take_form(&insn->fields[f],
                &rec->r->chip->insns[insn->fields[f].state_writer].fields[insn->fields[f].state_field]);
    if (insn->fields[f].state_writer < 0 || insn->fields[f].state_field < 0)
      pb__fault(rec, 3077, "an instruction defined above it, and a field of that",
                "state '%s' is written by %s.%s, which is not there", insn->fields[f].name, writer, writer_field);
  }
}
