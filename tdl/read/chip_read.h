// Inside the reader of descriptions: what its files share.
#ifndef PB_TDL_CHIP_READ_H
#define PB_TDL_CHIP_READ_H

#include "tdl/chip.h"

#include <jansson.h>

typedef struct reader {
  pb_chip* chip;
  json_t* root;
  pb_diag* diag;
  const char* path;
  int faults;
} reader;

typedef struct record {
  reader* r;
  json_t* json;
  const char* name;
  pb_place place;
} record;

// Reports a fault with the record's place and counts it.
void pb__fault(const record* rec, int code, const char* hint, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
const char* pb__keep(reader* r, const char* text); // a copy that lives as long as the chip
// A string, or "" for whatever else stands there: the text may come from a stranger's engine.
const char* pb__text_of(json_t* v);
const char* pb__get_def(json_t* v); // the record's name, NULL: it is none
bool pb__read_number(const char* text, double* number);

json_t* pb__instances(reader* r, const char* class); // names of the records of the class
record pb__open_record(reader* r, const char* name);
pb_place pb__keep_place(reader* r, const record* rec);
bool pb__instance_of(json_t* json, const char* class);
int64_t pb__get_int(const record* rec, const char* field, int64_t missing);
int pb__get_int32(const record* rec, const char* field, int missing);
const char* pb__get_text(const record* rec, const char* field);
// A name of the record's that appears in IR, SystemVerilog and reports.
void pb__name(const record* rec, const char* what, const char* name, size_t most);
int pb__choice(const record* rec, const char* field, const char* const* names, int count);
pb_type pb__read_type(reader* r, const record* rec, const char* field);

// fields.c
// The field, or the first with a fault that says what names it.
int pb__field_named(const record* rec, pb_insn* insn, const char* name, int code, const char* what);
void pb__read_fields(const record* rec, pb_insn* insn); // with their encoding
void pb__read_state(const record* rec, pb_insn* insn);
// operands.c
void pb__read_dims(const record* rec, pb_insn* insn);
void pb__read_operands(const record* rec, pb_insn* insn);
// queues.c
void pb__read_queues(reader* r);
// grid.c
void pb__read_grid(reader* r);
// formula.c
void pb__read_formulas(reader* r);
// values.c
int pb__read_value(const record* rec, pb_insn* insn, json_t* dag); // appends to insn's nodes; the last one
void pb__read_semantics(const record* rec, pb_insn* insn);
int pb__read_cycles(const record* rec, pb_insn* insn, json_t* dag); // the node
void pb__read_shape(const record* rec, pb_insn* insn);

#endif
