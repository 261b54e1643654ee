// A tiled kernel before it is IR: buffers, loops and nests as a tree. The planner builds one for every candidate and
// adds up its cost; `tile` builds the one of the chosen plan and prints it. So what is planned is what is built.
#ifndef PB_S3_TILING_H
#define PB_S3_TILING_H

#include "core/s3/program.h"
#include "core/s3/roles.h"
#include "core/select/select.h"

enum { PB_MAX_BUFFERS = 48, PB_MAX_BANDS = 10, PB_MAX_FEEDS = 8, PB_MAX_TAILS = 8 };

// One loop over tiles: dim of the group's main nest, and how far one iteration steps along it.
typedef struct pb_band {
  int dim;
  int64_t step;
} pb_band;

// All choices for one kernel. It stands on the kernel as the attribute pb.plan.
typedef struct pb_plan {
  int band_count;
  pb_band bands[PB_MAX_BANDS]; // outermost first; what is left of each dim is walked inside the tile
  // How many bands are around the buffers of the two inputs and of the results; 0: resident for the whole kernel.
  int x_level, w_level, result_level;
  int x_depth, w_depth, result_depth; // copies, for overlap
  int64_t cycles;                     // predicted, for the kernel
  const char* bound;                  // the queue or memory that takes them
} pb_plan;

typedef struct pb_buffer {
  const char* name;
  int memory; // index in the chip
  pb_type type;
  int rank;
  int64_t shape[PB_NEST_RANK];
  int depth, level;
  int64_t bytes; // of one copy
} pb_buffer;

typedef enum pb_tree_kind { PB_TREE_LOOP, PB_TREE_NEST, PB_TREE_ALLOC } pb_tree_kind;
typedef struct pb_tree {
  pb_tree_kind kind;
  int level;      // loops around it
  int64_t extent; // LOOP
  pb_nest* nest;  // NEST
  int buffer;     // ALLOC
  struct pb_tree *first, *last, *next;
} pb_tree;

// What a kernel computes: a main nest (a reduction, or pointwise), what feeds its input, pointwise tails.
typedef struct pb_group {
  const pb_program* program; // of the kernel function
  pb_nest main;              // with a pad folded into its input as a box
  int main_index;
  bool reduces;
  int64_t lanes;                       // elements in a row of the chip's vectors
  int x;                               // the access that the plan's x_level is about
  int feed_count, feeds[PB_MAX_FEEDS]; // nests that make x, to be sliced into the tile
  int tail_count, tails[PB_MAX_TAILS];
  const pb_insn* contraction; // the instruction, when the main nest is a contraction that the chip has one for
  pb_roles roles, insn_roles;
} pb_group;

typedef struct pb_tiling {
  const pb_chip* chip;
  const pb_group* group;
  const pb_plan* plan;
  pb_arena* arena;
  pb_tree root;                    // a LOOP of extent 1
  pb_tree* body[PB_MAX_BANDS + 1]; // the loop that is filled at each level
  int buffer_count;
  pb_buffer buffers[PB_MAX_BUFFERS];
  const char* failure; // why there is no such tiling; NULL: all is well
} pb_tiling;

// Reads what the kernel function computes. PB_ERR_UNSUPPORTED with the op's place when the chip has no way.
pb_status pb_group_read(const pb_program* program, const pb_chip* chip, pb_diag* diag, pb_group* group) PB_MUST_CHECK;
// Builds the tree of a plan. false: impossible, tiling->failure says why.
bool pb_tiling_build(const pb_chip* chip, const pb_group* group, const pb_plan* plan, pb_arena* arena,
                     pb_tiling* tiling);
// The nest as the selection sees it: linear strides, and the memories of its buffers (tensors: the system's).
void pb_tiling_flat(const pb_tiling* tiling, const pb_nest* nest, pb_flat* flat);

// Inside tiling.
bool pb__tiling_fail(pb_tiling* t, const char* why);
bool pb__tiling_open_bands(pb_tiling* t, const pb_nest* main);
// Hangs the loop of band `level` into the loop around it: what was added there stands before it.
void pb__tiling_hang(pb_tiling* t, int level);
// Tells a nest how often the bands around it turn.
void pb__tiling_outers(const pb_tiling* t, pb_nest* nest);
// Adds a copy of the nest at a level.
void pb__tiling_add(pb_tiling* t, int level, const pb_nest* nest);
// The main nest's accesses written over bands (outer columns) and what is left inside the tile (own columns).
void pb__tiling_expand(const pb_tiling* t, const pb_nest* main, pb_nest* point);
// Gives `access` a buffer for everything inside `level`; adds the alloc there. The access then names the buffer.
// *load copies the slice of what it was into the buffer; the caller adds it, or not.
void pb__tiling_buffer(pb_tiling* t, pb_access* access, const int64_t* extents, int level, int memory, int depth,
                       const char* name, pb_nest* load);
// Allocates a buffer of the access's shape at a level; the access then names it.
void pb__tiling_own(pb_tiling* t, pb_access* local, int level, int memory, int depth, const char* name);
void pb__tiling_turn_to_store(pb_nest* load); // the mirror image: from the buffer to the tensor
// Asks the selection for the instruction of a nest whose results and constants may lie anywhere.
bool pb__tiling_select(pb_tiling* t, const pb_nest* nest, pb_match* match);
// The memory of the operand that stands for an access; PB_ANY_MEMORY: none does.
int pb__tiling_memory(const pb_match* match, int access);
// The nest with its tensors in no memory yet, for the selection to say where they should be.
pb_nest pb__tiling_undecided(const pb_nest* nest);
// A pointwise nest on the tile at `level`. `carried`: the access that is a buffer already, -1: none. `last`: the result
// goes to its tensor. `valid`: of the one row that the nest computes, how many elements exist; 0: all.
bool pb__tiling_point(pb_tiling* t, pb_nest* nest, int carried, int level, bool last, int64_t valid);

#endif
