// Fusion of groups: which of them become one kernel, where that is predicted to be faster.
#ifndef PB_S3_FUSION_H
#define PB_S3_FUSION_H

#include "core/s3/kernel/stages.h"
#include "core/s3/program.h"
#include "core/s3/s3.h"

// What outline has decided so far.
typedef struct pb_groups {
  pb_program* program;
  int count;
  int* of;                  // by nest: its group, -1: none yet
  int* main;                // by group: its last reduction, -1: none
  int* last;                // by group: the nest at whose place it runs; -1: the group is now part of another
  int *first, *next;        // by group its first nest and by nest its group's next one, in their order; -1: no more
  bool* staged;             // by group: it is of several stages
  const pb_blocks** blocks; // by group: what it does; NULL: everything
  // By group, values; 1 + each, 0: no more. Where no element of them is above 0, the group's results are there already.
  int (*guards)[PB_NEST_ACCESSES];
} pb_groups;

// Some nests in their order.
typedef struct pb_nest_list {
  int *nests, count;
} pb_nest_list;

// Merges the nests of a group into the list, which begins as {0}.
void pb_groups_add(const pb_groups* groups, int group, pb_arena* arena, pb_nest_list* list);
// Lists the nests of each group, once every nest has one.
void pb_groups_list(pb_groups* groups, pb_arena* arena);

// The nests of one group become nests of another, at whose place they run.
void pb_groups_join(pb_groups* groups, int from, int into);

// Whether a fused kernel's cycles are fewer by more than predictions of like plans err.
static inline bool pb_fusion_gains(int64_t fused, int64_t apart) { return fused < apart - apart / 100; }

// Cycles of the program as one kernel of one stage; INT64_MAX: the chip cannot run it so, as commands can name no more
// tensors, say.
int64_t pb_fusion_cycles(pb_unit* unit, const pb_program* program, pb_arena* scratch);

// Notes at values where they have zeros alone, if products by these add nothing (pb_value).
void pb_find_borders(pb_unit* unit, pb_program* program);

// Whether a mover makes the padded tensor that these nests make: it copies what lies inside a box, and fills the rest.
bool pb_fusion_fills(pb_unit* unit, const pb_program* program, const int* nests, int count);
// Whether the chip runs these nests of the program as one kernel of one stage.
bool pb_fusion_runs(pb_unit* unit, const pb_program* program, const int* nests, int count);

// Where it stands first among them; -1: nowhere.
int pb_position_of(const int* values, int count, int value);
// Of a kernel of these nests, whose tensors are `values`, attributes of its calls: which it makes (pb.makes), which of
// them may lie over which others, pair by pair (pb.over), and whether it only copies those (pb.copies). false: none
// may. lanes: that a register of the chip has.
enum { PB_OVER_TENSORS = 64 };
bool pb_print_over(const pb_program* program, int64_t lanes, const int* nests, int count, const int* values,
                   int value_count, pb_text* text);

// Joins what makes one padded tensor.
void pb_fuse_pads(pb_unit* unit, pb_groups* groups);

// Joins groups that become kernels of several stages.
void pb_fuse_stages(pb_unit* unit, pb_groups* groups);

// By value: the one that it is, in another shape; -1: it is a tensor of its own. Groups that would only copy the one to
// the other have no last nest any more.
const int* pb_find_same_tensors(const pb_chip* chip, pb_groups* groups, pb_arena* arena);

// Of copies of what a pointwise nest widens, copies of what it makes that of, the nest behind them (narrow_copies.c).
// Returns whether there were any.
bool pb_fusion_narrow_copies(pb_program* program, pb_arena* arena);

// ---- delinearize.c ----
// Inside fusion: one index of a tensor that several dims walk becomes two.

// Index r of the tensor that access a of nest n walks by several dims, outer * inner + ..: two indices, of that tensor
// and of all that lies between. false: nothing is cut, since some nest does not go so.
bool pb__cut_index(pb_unit* unit, pb_program* program, int n, int a, int r);

#endif
