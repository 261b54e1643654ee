// Inside `layout` for cores with vector registers: what its two files share.
#ifndef PB_S3_LAYOUT_VECTOR_H
#define PB_S3_LAYOUT_VECTOR_H

#include "core/base/numbers.h"
#include "core/s3/kernel/vector.h"
#include "core/s3/kernels.h"
#include "core/s3/layout/grouped.h"
#include "core/s3/layout/relayout.h"

#include <stdlib.h>

typedef enum pb_vkind {
  PB_PLAIN,
  PB_BLOCKED, // [n, c / block, h, w, block]
  PB_PADDED   // the last dim padded to whole vectors
} pb_vkind;

typedef struct pb_vvalue {
  pb_vkind kind;
  int64_t block;
  bool refused;            // it must stay plain: what it is multiplied into does
  const char *ref, *outer; // outer: the graph's input or output; ref may be its twin in another layout
  bool masked;             // pointwise nests that make it clean its lanes
  const char* made;        // it is made here, then its lanes are cleaned; NULL: as it is
  int rank;
  int64_t shape[PB_NEST_RANK];
} pb_vvalue;

typedef struct pb_vconst {
  int id;
  const char* ref;
  pb_type type;
  int rank;
  int64_t shape[PB_NEST_RANK];
} pb_vconst;

// What pb_nest_roles says of a nest, once it was asked.
typedef struct pb_vroles {
  bool read, contracts;
  pb_roles roles;
} pb_vroles;

typedef struct pb_vlayout {
  pb_unit* unit;
  pb_program program;
  int64_t lanes;
  int64_t summed; // channels that an instruction on matrices sums over, 0: no nest is for one
  bool* gains;    // by value: blocks make it, or something that it meets, faster
  pb_vvalue* values;
  pb_vroles* roles; // by nest
  pb_vconst* consts;
  size_t const_count, const_capacity;
  pb_numbers const_of;        // by id: which of them
  int64_t full[PB_NEST_DIMS]; // extents of the nest being rewritten, before it is cut in parts
  int extra, serial;
  pb_text allocs, nests;
} pb_vlayout;

// How a nest's dim d is split: d = shift + block * size + lane * scale + group, or it stays as keep. -1: no such dim.
typedef struct pb_vsplit {
  int keep[PB_NEST_DIMS], block[PB_NEST_DIMS], lane[PB_NEST_DIMS], group[PB_NEST_DIMS];
  int64_t size[PB_NEST_DIMS], scale[PB_NEST_DIMS], shift[PB_NEST_DIMS];
  bool cut[PB_NEST_DIMS]; // fewer lanes than size stay fewer
} pb_vsplit;

static inline int64_t pb_vlayout_blocks(int64_t extent, int64_t block) { return (extent + block - 1) / block; }

// How the groups of a convolution are cut: those in one block of x or y, and those in one vector of y.
typedef struct pb_vgroups {
  int64_t block, lanes;
} pb_vgroups;

// Whether the nest is a contraction, and its roles if so.
bool pb_vlayout_roles(const pb_vlayout* l, int n, pb_roles* roles);
void pb_vlayout_declare(pb_vlayout* l, const char* ref, pb_type type, int rank, const int64_t* shape);
void pb_vlayout_print(pb_vlayout* l, const pb_nest* nest);
const pb_vconst* pb_vlayout_const(pb_vlayout* l, int id);
void pb_vlayout_use_const(pb_vlayout* l, pb_access* access, int id);
void pb_vlayout_use_value(const pb_vlayout* l, pb_access* access, int v);
void pb_vlayout_spread(const pb_vsplit* s, const pb_index* from, int dims, pb_index* to);
void pb_vlayout_rewrite(const pb_vlayout* l, const pb_vsplit* s, const pb_nest* nest, int v, const pb_access* from,
                        pb_access* to);
bool pb_vlayout_all_padded(const pb_vlayout* l, int n, int dim);
int pb_vlayout_dim_of_role(const pb_nest* nest, const pb_roles* roles, pb_role role); // -1: none, -2: several

// Channels that lie next to each other; whether value v may have blocks as far as others than nest `but` read it.
int64_t pb_vlayout_block(const pb_vlayout* l, int64_t channels);
bool pb_vlayout_can_block(const pb_vlayout* l, int v, int but);

// layout_vector_groups.c: convolutions of groups with several channels each.
void pb_vlayout_merge_groups(pb_vlayout* l); // in front of choosing layouts
// Whether nest n is one whose tensors can have blocks, and how it is cut then.
bool pb_vlayout_grouped(const pb_vlayout* l, int n, pb_grouped* g, pb_vgroups* s);
bool pb_vlayout_walks_groups(const pb_vlayout* l, int n, int a);
// Both its tensors have blocks or none. true: some value was refused, and layouts must be chosen again.
bool pb_vlayout_refuse_groups(pb_vlayout* l);

// layout_vector_rest.c: lanes that no channel fills. Which values' are cleaned, once all have their layouts; and the
// nest that does it, behind the last that makes what nest n makes.
void pb_vlayout_find_rests(pb_vlayout* l);
void pb_vlayout_mask_rest(pb_vlayout* l, int v, pb_nest* nest); // a rewritten nest that makes value v
void pb_vlayout_clean_rest(pb_vlayout* l, int n);

// Rewrites a sum of products in the order of the chip's instruction. false: it stays a plain nest.
bool pb_vlayout_contraction(pb_vlayout* l, int n, const pb_roles* roles);
// Whether nest n sets what the reduction then adds to. Contractions that were rewritten print their own.
bool pb_vlayout_is_init(const pb_vlayout* l, int n, int reduction);

pb_status pb_s3_layout_vector(pb_unit* unit) PB_MUST_CHECK;

#endif
