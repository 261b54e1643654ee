// The table of constants: weights and tables never stand in the IR, which holds their ids only.
#ifndef PB_BASE_CONSTS_H
#define PB_BASE_CONSTS_H

#include "core/base/arena.h"
#include "core/base/expr.h"

#include <stdbool.h>
#include <stdint.h>

enum { PB_PACK_DIMS = 8, PB_PACK_AXES = 12 };

// Another order of a constant's elements, made when it is needed. Element (p0, p1, ...) lies at axis values
// a = sum of p * scale over the dims that walk the axis; it is source[base + sum a * stride], or 0 where an axis is
// past its extent.
typedef struct pb_pack {
  int source; // id
  int64_t base;
  int dim_count;
  struct {
    int64_t extent, scale;
    int axis;
  } dims[PB_PACK_DIMS];
  int64_t stride[PB_PACK_AXES], extent[PB_PACK_AXES]; // by axis
} pb_pack;

typedef struct pb_const {
  int id;
  const char* name;
  pb_type type;
  int rank;
  int64_t shape[8];
  const void* data;    // row-major, dense; large ones may point into the mapped model, aligned or not.
                       // NULL: `pack` says how to make it
  const pb_pack* pack; // NULL: none
  void* made;          // what pb_const_data made of it
  bool mapped;         // the data is a file's: its pages come back when they are read again
  uint64_t bytes;
  bool sized;         // its elements were computed of extents of open dims
  int why, why_count; // of truths: what must hold for them to be so, of the table's reasons
  // Where it is kept on a chip: of the memories of constants those, a bit each, that have no room for it; and 1 more
  // than the constant that it is a part of in another form, 0: of none. And in which of them it lies for what has been
  // compiled: two bits each, as it is and with two codes in a byte.
  unsigned kept_out;
  int part_of;
  uint8_t lies;
  int newest_pack, older_pack; // the packs of a constant, from the last one on; 0: none, a pack is never the first
} pb_const;

// What was decided by extents of open dims, and holds for others that decide so too: a <= b, or a == b.
typedef struct pb_guard {
  bool equal;
  int64_t a, b;
  const char* text;
  int rank; // of a tensor: where it has no elements it holds anyhow; 0: of none
  int64_t shape[8];
} pb_guard;

typedef struct pb_consts {
  pb_const** items; // by id; each stays where it is while others are added
  size_t count, capacity;
  bool open;                  // the program has open dims: what is computed of their extents is marked, and guarded
  pb_guard *guards, *reasons; // reasons become guards once something is decided by them
  bool in_turns;              // kernels may be loops whose turns go in order, each by what the one before has made
  struct pb_symbols* symbols; // where data may say extents; NULL: nowhere
  size_t guard_count, guard_capacity, reason_count, reason_capacity;
  pb_arena arena; // names and data made at compile time
} pb_consts;      // starts as {0}

// Appends and returns the id. `data` must outlive the table (or come from its arena).
int pb_consts_add(pb_consts* consts, const char* name, pb_type type, int rank, const int64_t* shape, const void* data);
// Another order of a constant: appended, or the one that is there already. dims and shape have the same number of
// elements.
int pb_consts_add_pack(pb_consts* consts, const char* name, int rank, const int64_t* shape, const pb_pack* pack);
// Notes that a <= b, or a == b, is what the program is made for; `text` outlives the table. Where nothing is open, and
// where it cannot be otherwise, nothing is noted.
void pb_consts_guard(pb_consts* consts, bool equal, int64_t a, int64_t b, const char* text);
// That a <= b, where a tensor of the shape has elements.
void pb_consts_guard_of(pb_consts* consts, int64_t a, int64_t b, int rank, const int64_t* shape, const char* text);
// That a number has the sign that it has here: what is rounded towards 0 is another expression on the other side.
void pb_consts_guard_sign(pb_consts* consts, int64_t a, const char* text);
// The same of what a comparison of a and b came out as.
void pb_consts_guard_order(pb_consts* consts, int64_t a, int64_t b, const char* text);
// The smaller one of two numbers, of which the program is for this one being it, or for either: then it is what stands
// for it (pb_symbols_smaller).
int64_t pb_consts_smaller(pb_consts* consts, int64_t a, int64_t b, const char* text);
// Whether how two numbers compare is left to the program; else it is guarded.
bool pb_consts_leave_order(pb_consts* consts, int64_t a, int64_t b, const char* text);
// Whether what is a table of extents is to be computed when the program runs: they are open, and a constant would not
// do.
bool pb_consts_computes(pb_consts* consts);
void pb_consts_free(pb_consts* consts);

// The elements; made once and kept when the constant is a pack. Owned by the table.
const void* pb_const_data(pb_consts* consts, int id);
// Whether no element is infinite or NaN: of f32, other floats are not looked at and may be.
bool pb_const_is_finite(pb_consts* consts, int id);
// Writes the elements to `to`, which has room for the constant's bytes; nothing is kept.
void pb_const_write(const pb_consts* consts, int id, void* to);

#endif
