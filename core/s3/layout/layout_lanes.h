// Inside `layout` for chips with rows of lanes: what its files share.
#ifndef PB_S3_LAYOUT_LANES_H
#define PB_S3_LAYOUT_LANES_H

#include "core/base/numbers.h"
#include "core/s3/kernel/roles.h"
#include "core/s3/kernels.h"
#include "core/s3/program.h"

// SPREAD: [r, 1], one number for each row, stands in all lanes of a row of lanes. ENDING: [r, c] padded to whole rows
// of lanes; the elements lie as BLOCKED has them, but what makes a number of each row counts c of them.
typedef enum pb_lanes_kind {
  PB_LANES_PLAIN,
  PB_LANES_BLOCKED,
  PB_LANES_ENDING,
  PB_LANES_PADDED,
  PB_LANES_SPREAD
} pb_lanes_kind;

typedef struct pb_lanes_value {
  pb_lanes_kind kind;
  enum { PB_REST_UNKNOWN, PB_REST_FINITE, PB_REST_ANY } rest; // lanes that no channel fills, of floats
  int64_t run; // its rows are runs of so many, each with an end of its own: two indices; 0: they are one
  const char* ref;
  int rank;
  int64_t shape[PB_NEST_RANK]; // without the index of runs
} pb_lanes_value;

typedef struct pb_lanes_const {
  int id;
  const char* ref;
  bool splat;
  pb_type type;
  int rank;
  int64_t shape[PB_NEST_RANK];
} pb_lanes_const;

// A tensor at the graph's edge keeps the model's layout; what is computed reads and writes its twin, which a copy makes
// (of an input) or takes (to an output).
typedef struct pb_lanes_twin {
  int edge, twin, copy; // values and the nest between them
  const char* name;     // the operator that it is copied for
  bool out;             // from the twin
} pb_lanes_twin;

// Operators that stay as the model has them, for another target: with --fallback those that no layout of this one fits.
// What they share with others gets a twin as if it left the graph and came back.
typedef struct pb_lanes_apart {
  const char** names;
  size_t count, capacity;
} pb_lanes_apart;

typedef struct pb_lanes_layout {
  pb_unit* unit;
  pb_program program;
  int64_t lanes;
  pb_lanes_value* values;
  bool* gathers;        // by nest
  bool* gone;           // by nest: a copy that is not needed
  bool has_runs;        // of some value rows are runs
  pb_lanes_twin* twins; // in the order of their own values, which stand behind those of the model
  int twin_count;
  pb_lanes_apart* apart;
  pb_lanes_const* consts;
  size_t const_count, const_capacity;
  pb_numbers const_of; // by id: which of them
  int extra_values, serial;
  pb_text allocs, nests;
} pb_lanes_layout;

// How the nest's dims are split: dim d becomes block[d] and lane[d] (new dims), or stays as keep[d].
typedef struct pb_lanes_dims {
  int keep[PB_NEST_DIMS], block[PB_NEST_DIMS], lane[PB_NEST_DIMS];
  int row; // the dim along which numbers of rows are read and written, -1: lane 0 of them is read
} pb_lanes_dims;

static inline int64_t pb__lanes_blocks(const pb_lanes_layout* l, int64_t extent) {
  return (extent + l->lanes - 1) / l->lanes;
}

// Whether value v lies in rows of lanes along its channels.
static inline bool pb__lanes_in_rows(const pb_lanes_layout* l, int v) {
  return l->values[v].kind == PB_LANES_BLOCKED || l->values[v].kind == PB_LANES_ENDING;
}

bool pb__lanes_roles(const pb_lanes_layout* l, int n, pb_roles* roles);
// Whether the access goes through its channels in such a way that rows of lanes stay rows of lanes: one dim through all
// of them, or through a part that begins with a block; groups of whole blocks.
bool pb__lanes_walks(const pb_lanes_layout* l, const pb_nest* nest, const pb_access* access);
// Whether nest n sets elements so that lanes are another dim than those of what it reads.
bool pb__lanes_turns(const pb_lanes_layout* l, int n);
// The one dim that walks x, w and y together, when each group has one input and one output channel; -1: no such nest.
int pb__lanes_depthwise(const pb_nest* nest, const pb_roles* roles);
void pb__lanes_use_value(const pb_lanes_layout* l, pb_access* access, int v);
// New dims in order: blocks where the dim stood, lanes behind all of them.
void pb__lanes_split(const pb_lanes_layout* l, const pb_nest* nest, const bool* lanes, const bool* pads, pb_nest* out,
                     pb_lanes_dims* s);
void pb__lanes_spread(const pb_lanes_layout* l, const pb_lanes_dims* s, const pb_index* from, int dims, pb_index* to);
// An access to a value over the new dims.
void pb__lanes_rewrite_access(const pb_lanes_layout* l, const pb_lanes_dims* s, const pb_nest* nest, int v,
                              const pb_access* from, pb_access* to);
void pb__lanes_rewrite_accesses(pb_lanes_layout* l, int n, const pb_lanes_dims* s, const pb_nest* nest, pb_nest* out);
// Scalar factors become loads of rows of equal numbers, unless instructions take the numbers themselves.
void pb__lanes_splat(pb_lanes_layout* l, pb_nest* nest);

// layout_apart.c: operators left for another target.
bool pb__lanes_is_apart(const pb_lanes_layout* l, int n);
void pb__lanes_set_apart(pb_lanes_layout* l, int n);
bool pb__lanes_touched(const pb_lanes_layout* l, int v, bool apart); // by such operators, or by others
void pb__lanes_print_apart(pb_lanes_layout* l, int n);
// Nests that write a value together stay together, and what no layout fits stays apart. true: an operator was added.
bool pb__lanes_grow_apart(pb_lanes_layout* l);

// layout_edges.c: between plain tensors and blocks.
void pb__lanes_add_twins(pb_lanes_layout* l);  // in front of choosing layouts
void pb__lanes_drop_twins(pb_lanes_layout* l); // behind it: those that are as plain as their edge
bool pb__lanes_flattened(const pb_lanes_layout* l, int v);
const pb_lanes_twin* pb__lanes_twin_of(const pb_lanes_layout* l, int v); // whose twin v is, NULL: of none
bool pb__lanes_unused(const pb_lanes_layout* l, int v);                  // a twin that was dropped
// Whether nest n takes from the one and makes the other, so that there is more to do than to split its dims.
bool pb__lanes_crosses(const pb_lanes_layout* l, int n);
pb_status pb__lanes_cross(pb_lanes_layout* l, int n) PB_MUST_CHECK;

// layout_floats.c: whether a sum of products, if of floats, comes out right in rows of lanes.
pb_status pb__lanes_check_floats(pb_lanes_layout* l, int n, const pb_roles* roles) PB_MUST_CHECK;

// layout_rows.c: one number for each row of lanes.
void pb__lanes_choose_rows(pb_lanes_layout* l);
bool pb__lanes_read_by_rows(const pb_lanes_layout* l, int v); // a number is made of each of its rows
// Whether value v, of which that is so, has rows that end inside a row of lanes, and the chip counts lanes there.
bool pb__lanes_ends_rows(const pb_lanes_layout* l, int v);
// What such values are made of element by element lies as they do: a product's sums and their codes are one shape.
void pb__lanes_choose_ends(pb_lanes_layout* l);
// Whether nest n makes a number of each row.
bool pb__lanes_takes_rows(const pb_lanes_layout* l, int n);
bool pb__lanes_has_rows(const pb_lanes_layout* l, int n); // nest n reads or writes such numbers
// Nests of products of two computed tensors, of tables, and with numbers of rows.
void pb__lanes_rewrite_rows(pb_lanes_layout* l, int n);
// Whether the chip looks up what the nest does: in constants, of as many elements as its tables have.
bool pb__lanes_looks_up(const pb_lanes_layout* l, int n);

// layout_products.c: products of two computed tensors, whose sums may end inside a row of lanes.
pb_status pb__lanes_check_rows(const pb_lanes_layout* l, int n) PB_MUST_CHECK;
void pb__lanes_choose_runs(pb_lanes_layout* l);
// Puts a box around the second factor where whole rows of lanes reach past its end.
void pb__lanes_box_rows(const pb_lanes_layout* l, int n, pb_nest* out);
// Prints a rewritten nest; rows of tensors that are cut in runs get their two indices.
void pb__lanes_print(pb_lanes_layout* l, const pb_nest* nest);

// layout_groups.c: convolutions of groups with several channels each.
void pb__lanes_merge_groups(pb_lanes_layout* l);

#endif
