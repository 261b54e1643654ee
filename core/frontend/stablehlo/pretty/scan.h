// The words of MLIR's syntax, one after the other, and the generic form as it is written.
#ifndef PB_STABLEHLO_PRETTY_SCAN_H
#define PB_STABLEHLO_PRETTY_SCAN_H

#include "core/base/arena.h"
#include "core/frontend/stablehlo/pretty/pretty.h"

#include <string.h>

typedef struct pb_slice {
  const char *from, *to;
} pb_slice;

typedef struct pb_slices {
  pb_slice* items;
  size_t count, capacity;
} pb_slices; // starts as {0}

typedef struct pb_scan {
  const char *text, *at, *end; // *end is 0
  const char* name;
  pb_diag* diag;
  pb_status status;
  pb_arena arena; // of texts that stand nowhere
  pb_pretty* out;
  const char* place; // that texts which stand nowhere come from
  int depth;         // of regions
  int made;          // values that compact forms leave out
} pb_scan;

// Says what is wrong at a place, once; false.
bool pb__scan_refuse(pb_scan* s, const char* at, const char* format, ...) __attribute__((format(printf, 3, 4)));

// Blanks and comments; then what comes next.
void pb__scan_blanks(pb_scan* s);
bool pb__scan_sees(pb_scan* s, const char* mark);
// Takes a mark, or a whole word; need: it must be there.
bool pb__scan_take(pb_scan* s, const char* mark);
bool pb__scan_need(pb_scan* s, const char* mark);

// Each takes what it is named after, which must be there.
bool pb__scan_word(pb_scan* s, pb_slice* word);
bool pb__scan_value(pb_scan* s, pb_slice* value);   // %0, %0#1
bool pb__scan_symbol(pb_scan* s, pb_slice* symbol); // @f, without the @
bool pb__scan_text(pb_scan* s, pb_slice* text);     // in quotation marks, which stay
bool pb__scan_number(pb_scan* s, pb_slice* number); // an integer
bool pb__scan_group(pb_scan* s, pb_slice* group);   // in brackets of any kind, which stay
bool pb__scan_type(pb_scan* s, pb_slice* type);
bool pb__scan_attribute(pb_scan* s, pb_slice* attribute, pb_slice* type); // a type behind it is a part of it
// Values with commas between them, as many as there are; with one behind each: `closed`.
bool pb__scan_values(pb_scan* s, bool closed, pb_slices* values);
bool pb__scan_types(pb_scan* s, pb_slices* types);     // with commas between them
bool pb__scan_type_list(pb_scan* s, pb_slices* types); // the same in brackets; one may stand without them
bool pb__scan_location(pb_scan* s);                    // where there is one, which is passed over

static inline pb_slice pb__slice(const char* text) { return (pb_slice){text, text + strlen(text)}; }
static inline bool pb__slice_is(pb_slice s, const char* text) {
  return (size_t)(s.to - s.from) == strlen(text) && !strncmp(s.from, text, (size_t)(s.to - s.from));
}
// Without the brackets around it, and the blanks inside of them.
pb_slice pb__slice_inside(pb_slice group);
// A text that stands nowhere.
pb_slice pb__scan_made(pb_scan* s, const char* format, ...) __attribute__((format(printf, 2, 3)));
void pb__slices_add(pb_slices* slices, pb_slice slice);

// Writes to the generic form: a piece of the text, or what stands nowhere.
void pb__scan_put(pb_scan* s, pb_slice piece);
void pb__scan_puts(pb_scan* s, const char* text);
void pb__scan_put_list(pb_scan* s, const pb_slices* slices); // with commas between them

#endif
