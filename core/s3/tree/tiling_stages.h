// The tree of a kernel of several stages: loops over tiles of what the stages share, and inside them each stage by a
// plan of its own, on buffers that hold what lies between them.
#ifndef PB_S3_TILING_STAGES_H
#define PB_S3_TILING_STAGES_H

#include "core/s3/tree/tiling.h"

// The buffer that stands for a tensor in one access of a nest, and where in the tensor it begins.
typedef struct pb_home {
  pb_access box, origin; // the buffer, which lies flat in its memory, as the tensor's indices walk it
  int value;             // of the iteration's program; -1: not numbered yet
} pb_home;

typedef struct pb_staging {
  const pb_stages* stages;
  int memory;                          // of the homes, and of what lies between stages
  pb_home* (*homes)[PB_NEST_ACCESSES]; // by nest and access, NULL: none yet. NULL: tensors are read where they are
} pb_staging;

// What several stages read of a tensor in an iteration, all of them the same part: a nest of one of them, and its
// access. nest NULL: the value is no such tensor.
typedef struct pb_held {
  const pb_nest* nest;
  int access, memory;     // memory: where a mover brings it
  pb_access part, origin; // origin: where in the tensor the part begins
} pb_held;

// A value in an iteration of the shared loops.
typedef struct pb_between {
  int memory, maker; // between stages: where it lies, and the stage that makes it; -1
  int home;          // the value in whose buffer it lies, itself or one that it takes over
  bool matrix;       // a matrix instruction reads its rows, or sums in the same memory take several of them each
  pb_held held;
} pb_between;

// One iteration of the shared loops, each of its stages a kernel on buffers that hold what lies between them, and where
// values lie, by value.
typedef struct pb_iteration_groups {
  int count;         // stages
  pb_program* views; // by stage,
  pb_group* groups;  // and what it computes
  int** origin;      // by stage, by value of its view: that of the iteration
  const pb_value* values;
  int value_count;
  const char* why; // the chip cannot run it; NULL: it can
  pb_between* of;
  pb_plan* plans; // of its stages, where they are its own; NULL: not planned yet
  struct pb_iteration_groups* next;
} pb_iteration_groups;

// Plans a stage by itself. false: *why says why there is no plan.
typedef bool (*pb_stage_planner)(const pb_chip* chip, const pb_group* group, pb_plan* plan, const char** why);

// What is built. Iterations are read once and lie in its arena; the plan may change between two trees as long as the
// axes of its loops stay.
typedef struct pb_stage_tiles {
  const pb_chip* chip;
  const pb_stages* stages;
  const pb_kernel_plan* plan;
  pb_stage_planner rest; // of what full iterations leave, and of copies; NULL: they go as full ones do
  int built;             // so many stages, the first ones
  pb_select_memo* memo;
  pb_arena* arena;
  pb_staging staging;                    // so far, from the outermost loop inwards
  int block;                             // that is built, of stages->blocks
  int* between;                          // buffers of the first block, by value, in which the others' values lie too
  int64_t parts;                         // in which threads share the iterations of the first axes; 0: there are none
  int64_t cycles;                        // of what cores run, by the plans of its stages
  pb_iteration_groups *iterations, **at; // full ones first, then those of remainders; at: the next one
} pb_stage_tiles;

void pb_stage_tiles_begin(const pb_chip* chip, const pb_stages* stages, const pb_kernel_plan* plan, pb_arena* arena,
                          pb_stage_tiles* s);
// Builds the tree, in `arena`. false: impossible, tiling->failure says why.
bool pb_stage_tiles_build(pb_stage_tiles* s, pb_arena* arena, struct pb_proofs* proofs, pb_tiling* tiling);

// Inside. An iteration is done as often as the loops around say, or it is what full ones leave, or a copy.
typedef enum pb_iteration_kind { PB_ITERATION_FULL, PB_ITERATION_REST, PB_ITERATION_COPY } pb_iteration_kind;
// The next iteration, on a tile of the shared loops; in tiling_iteration.c. NULL: the chip cannot run it.
const pb_iteration_groups* pb__stages_next(pb_stage_tiles* s, pb_tiling* t, const pb_tile* tile);
// A copy between a tensor and a buffer as an iteration of its own, in t's arena.
const pb_iteration_groups* pb__stages_copy(const pb_stage_tiles* s, pb_tiling* t, const pb_nest* copy, int level);
// By value of an iteration, its buffer: none yet, -1.
int* pb__stages_no_buffers(const pb_iteration_groups* iteration, pb_arena* arena);
// Buffers of what the stages from `first` to `end` make for each other.
bool pb__stages_allocate(pb_tiling* t, pb_stage_tiles* s, const pb_iteration_groups* iteration, int first, int end,
                         int level, int* buffer);
// The stages from `first` to `end`, as far as there are any.
bool pb__stages_build(pb_tiling* t, pb_stage_tiles* s, const pb_iteration_groups* iteration, pb_iteration_kind kind,
                      int first, int end, int level, const int* buffer);
// The dims of one of the stages' nests that the shared loops walk, inside the loops opened so far; in
// tiling_iteration.c.
void pb__stages_tile(const pb_stages* stages, int nest, const pb_tile* shared, pb_tile* own);

// The innermost loop with the first stage's sums an iteration ahead; in tiling_skew.c.
bool pb__stages_skew(pb_tiling* t, pb_stage_tiles* s, const pb_tile* tile, int level);

// Inside, of cores whose registers load from a memory of the core's own (pb_chip_staging): what the iterations of the
// shared loops touch of a tensor lies in a buffer there, brought before it is read and taken back when it has been set;
// in tiling_staging.c.
//
// A nest that copies between a tensor and a buffer, to be built inside `level` loops.
typedef bool (*pb_copy_builder)(pb_tiling* t, void* user, const pb_nest* copy, int level);

pb_staging pb__staging_begin(const pb_chip* chip, const pb_stages* stages, pb_arena* arena);
// How many of the axes stand around nothing but each other: no tensor is brought between them. *first: any is brought
// in front of all of them.
int pb__staging_outer_axes(const pb_tiling* t, const pb_staging* s, bool* first);
// Brings what the nests read of tensors and no loop inside `level` moves, or that the innermost iteration needs; makes
// room for what they set. The homes that *s has so far are kept: outer loops' are used by several runs of inner ones.
bool pb__staging_bring(pb_tiling* t, pb_staging* s, const pb_tile* tile, int level, pb_copy_builder copy, void* user);
// The iteration's nests use the homes: values of the iteration's own, which are appended to it.
void pb__staging_use(const pb_staging* s, pb_program* iteration, pb_arena* arena);
// Takes what the iteration has set back to its tensors.
bool pb__staging_return(pb_tiling* t, const pb_staging* s, int level, pb_copy_builder copy, void* user);

#endif
