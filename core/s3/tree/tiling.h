// A tiled kernel before it is IR: buffers, loops and nests as a tree. The planner builds one for every candidate and
// adds up its cost; `tile` builds the one of the chosen plan and prints it. So what is planned is what is built.
#ifndef PB_S3_TILING_H
#define PB_S3_TILING_H

#include "core/s3/kernel/group.h"
#include "core/s3/kernel/stages.h"
#include "core/s3/tree/schedule.h"

// Beats of the system's memory that a mover's run takes at least: shorter ones cost more than they bring forward.
enum { PB_RUN_BEATS = 4 };
enum { PB_MAX_BUFFERS = 512 };

typedef struct pb_buffer {
  const char* name;
  int memory;   // index in the chip
  pb_type type; // PB_I4, PB_U4: accesses are of i8, and lie two in a byte (with a sign, without)
  int rank;
  int64_t shape[PB_NEST_RANK];
  int depth, level;
  int64_t bytes;     // of one copy
  int shares;        // the buffer before it at whose place it lies, since the two take turns; -1: it has its own
  const void* whole; // the constant all of which it holds for the whole kernel; NULL: it is none of these
  bool alike;        // along its first index it is the same again, in rows that are neighbours in the memory
  const struct pb_expr_node* number; // the number that all of it is for the whole kernel; NULL: it is no such row
  bool passes; // what lies there goes on to, or comes from, where an instruction takes it, by a step of its own
  bool ahead;  // a loop inside takes what the iteration before has left there, then leaves it for the next
  int claimed; // by the buffers of which remainder, 0: none
  int tensor;  // 1 + the argument of the kernel that lies there and stays; 0: it is the kernel's own
  int along;   // 1 + the index along which its load goes piece by piece; 0: it does not
} pb_buffer;

// Equal iterations of a axis: each takes `extent` of its dim, the first from `begin` on, the next one `step` further.
typedef struct pb_iterations {
  int64_t count, extent, begin, step;
} pb_iterations;
enum { PB_MAX_RUNS = 3 };

// What the loops opened so far leave of each dim of a stage's main nest, and where that begins: linear in the loops.
typedef struct pb_tile {
  int64_t extent[PB_NEST_DIMS];
  pb_index origin[PB_NEST_DIMS];
  bool adds; // it is the rest of a sum: what it adds to has been set
} pb_tile;

// While the remainder of a loop is built: the buffers inside the loop, at whose places those of the remainder lie.
typedef struct pb_twins {
  int first, end, level, serial;
  const struct pb_twins* around; // of a remainder in which this one is; NULL: it is in none
} pb_twins;

// ITERATION: what it holds is done in one iteration of one of the loops around. STAGE: it is one stage of a kernel,
// which a core runs as its own plan says, while movers beside the core go on.
typedef enum pb_tree_kind { PB_TREE_LOOP, PB_TREE_NEST, PB_TREE_ALLOC, PB_TREE_ITERATION, PB_TREE_STAGE } pb_tree_kind;
typedef struct pb_tree {
  pb_tree_kind kind;
  int level;      // loops around it
  int64_t extent; // LOOP
  // LOOP: iterations of the axis that come before it, and of the whole axis: a loop and its remainder are one row of
  // iterations, in which buffers take their copies in order. 0, 0: they are the loop's own.
  int64_t iterations_before, iterations;
  // LOOP: the iterations of this axis, and of those inside it up to the next one that says so, are shared out among
  // threads in so many parts. A thread's share is a number of such parts, of which these are the digit of weight
  // parts_step. Among cores with queues: the iterations of this axis, one for each.
  int64_t parts, parts_step;
  int loop; // ITERATION: the level of the loop, and its iteration
  int64_t iteration;
  struct pb_tree* others; // ITERATION: what the other iterations do; NULL: nothing
  pb_nest* nest;          // NEST; STAGE: its accesses are the buffers that the stage takes, the last one what it makes
  int64_t cycles;         // STAGE: of the core
  int buffer;             // ALLOC
  struct pb_tree *first, *last, *next;
} pb_tree;
// Behind what stands in `parent`.
void pb_tree_put(pb_tree* parent, pb_tree* node);

// Fields of an instruction that nests of the tree read as state, and those that more than one nest reads.
typedef struct pb_state_reads {
  uint32_t read, others;
} pb_state_reads;

typedef struct pb_tiling {
  const pb_chip* chip;
  const pb_group* group;
  const pb_plan* plan;
  pb_arena* arena;
  int base;                          // loops that are around the stage that is built
  bool numbered;                     // tensors are there by element number: dims stay, and buffers serve every tile
  bool by_number;                    // so they are in a stage that has been built
  int last_apart;                    // 1 + the level of the loop whose last full iteration is apart; 0: of none
  const struct pb_into* into;        // where its result goes; NULL: to its tensor
  pb_tree root;                      // a LOOP of extent 1
  pb_tree* body[PB_NEST_OUTERS + 1]; // the loop that is filled at each level
  int buffer_count;
  pb_twins twins;
  int remainders;
  pb_state_reads* writers; // by instruction; NULL: the chip has no state
  // Every slice is found by isl as well, and must be the same: for the tree that is carried out. NULL: they are not.
  struct pb_proofs* proofs;
  // Buffers of the register file from first_register on serve every tile of the stage in turn; from next_register on
  // they are free in this one.
  int first_register, next_register;
  int64_t row_tiles, column_tiles; // that threads share
  // While costs are added up. around: the loops around, as in body; issuers: who carries nests out; compute: cycles of
  // a core itself; apart: each operand has the caches to itself, as far as traffic is concerned.
  const pb_tree* around[PB_NEST_OUTERS + 1];
  const struct pb_issuers* issuers;
  int64_t compute, near;
  const pb_nest* filled[PB_MAX_BUFFERS]; // with operands, by what, of the core's registers
  bool apart;
  const char* failure;               // why there is no such tiling; NULL: all is well
  pb_buffer buffers[PB_MAX_BUFFERS]; // last: large, and few are in use
} pb_tiling;

// Where a stage leaves what the next ones take: the buffer, and where in the tensor that it stands for the buffer
// begins.
typedef struct pb_into {
  int buffer;
  pb_access origin;
} pb_into;

// An empty tree, in whatever memory `tiling` is.
void pb_tiling_begin(const pb_chip* chip, const pb_group* group, const pb_plan* plan, pb_arena* arena,
                     pb_tiling* tiling);
// The nest as the selection sees it: linear strides, and the memories of its buffers (tensors: the system's).
void pb_tiling_flat(const pb_tiling* tiling, const pb_nest* nest, pb_flat* flat);

// Builds the tree of a plan, with each slice proved by isl in every build of the compiler (proofs NULL: unproved).
// false: impossible, tiling->failure says why; or a slice is not the least box, which is a bug.
bool pb_tiling_prove(const pb_chip* chip, const pb_group* group, const pb_plan* plan, pb_arena* arena,
                     struct pb_proofs* proofs, pb_tiling* tiling);
static inline bool pb_tiling_build(const pb_chip* chip, const pb_group* group, const pb_plan* plan, pb_arena* arena,
                                   pb_tiling* tiling) {
  return pb_tiling_prove(chip, group, plan, arena, NULL, tiling);
}

// Of a plan of registers: in how many parts threads share its tiles of rows, or of columns, 1: they do not; and one
// that says so, where it has such tiles.
int64_t pb_registers_parts(const pb_vkernel* kernel, const pb_plan* plan, bool columns);
void pb_registers_share(const pb_vkernel* kernel, pb_plan* plan, bool columns, int64_t parts);

// Inside tiling.
// Whether a column of the one access moves an index that a column of the other moves.
static inline bool pb__moves_same(const pb_access* a, int column, const pb_access* b, int other) {
  for (int r = 0; r < a->rank && r < b->rank; ++r)
    if (a->index[r].coef[column] && b->index[r].coef[other]) return true;
  return false;
}
// Adds so many times what the loops around, and nothing inside them, make of `by`.
static inline void pb__index_add(pb_index* to, int64_t times, const pb_index* by) {
  for (int c = PB_NEST_DIMS; c < PB_NEST_COLS && times; ++c) to->coef[c] += times * by->coef[c];
  to->cst += times * by->cst;
}
// Loops over tiles around everything of the stage that is built.
static inline int pb__tiling_levels(const pb_tiling* t) { return t->base + t->plan->axis_count; }
bool pb__tiling_fail(pb_tiling* t, const char* why);
bool pb__tiling_open_axes(pb_tiling* t, const pb_nest* main);
// Whether the outermost axis walks a dim that is summed over, outside the sums' buffer: sums in parts.
bool pb__tiling_cuts_sum(const pb_tiling* t);
// Counts the tiles of rows and of columns that threads share.
void pb__tiling_count_shared(pb_tiling* t);
// Whether the iterations of that axis are shared out, with those of the axes inside it up to the next such.
bool pb__tiling_begins_share(const pb_tiling* t, int axis);
// What sets the borders of what the group stores.
void pb__tiling_add_fills(pb_tiling* t);
// Builds everything of t's group by t's plan, inside t->base loops.
bool pb__tiling_build_group(pb_tiling* t);
// Of the values of t's group some lie in buffers (buffer_of: by value, -1: it does not), which begin where origin_of,
// by value, says, NULL: at their fronts. The group reads and fills them, by t->into where instructions do. In
// tiling_residents.c.
void pb__tiling_take_buffers(pb_tiling* t, const int* buffer_of, const pb_access* const* origin_of);
// A copy of t's group, of which `change` has changed each nest; n: its number among the program's, -1: a fill, which
// has none.
typedef void (*pb_nest_change)(const pb_tiling* t, const void* user, int n, pb_nest* nest);
pb_group* pb__tiling_group_with(const pb_tiling* t, pb_nest_change change, const void* user);
// The same for arguments that lie in a memory of the chip.
void pb__tiling_take_residents(pb_tiling* t);
// Opens the loop of axis `level`, of so many iterations: of a row of `all`, `before` of which come before it, or 0, 0.
pb_tree* pb__tiling_open_loop(pb_tiling* t, int level, int64_t iterations, int64_t before, int64_t all);
// Hangs it into the loop around it: what was added there stands before it.
void pb__tiling_hang(pb_tiling* t, int level, pb_tree* loop);
// What was added at a level behind `before` (NULL: everything) goes to its front: what later steps need soon, or is
// small, does not queue up behind all of the weights.
void pb__tiling_to_front(pb_tiling* t, int level, pb_tree* before);
// Adds a copy of the nest at a level.
void pb__tiling_add(pb_tiling* t, int level, const pb_nest* nest);
// The same in two steps, for one iteration of the loop that is `loop` loops inside the root: the node, and nests in it.
pb_tree* pb__tiling_open_iteration(pb_tiling* t, int level, int loop, int64_t iteration);
void pb__tiling_put(pb_tiling* t, pb_tree* parent, int level, const pb_nest* nest);
// Whether any index of the access can leave its shape in the nest at a level.
bool pb__tiling_leaves(const pb_tiling* t, const pb_nest* nest, const pb_access* access);
// The tile outside all of the stage's axes.
void pb__tile_whole(const pb_nest* main, pb_tile* tile);
// The tile inside the axis at `level`: one of its full iterations, if there are any.
void pb__tile_step(const pb_tiling* t, pb_tile* tile, int level);
// An index over so many dims begins where the tile does (sign 1), or is counted from there on (-1).
void pb__tile_begin(const pb_tile* tile, int dims, int sign, pb_index* index);
// Builds what is inside the axis at `level`: its loop, then its rest, each by `inside` one level further in.
typedef bool (*pb_tile_builder)(pb_tiling* t, const pb_tile* tile, int level, const void* stage);
bool pb__tiling_axis(pb_tiling* t, const pb_tile* tile, int level, pb_tile_builder inside, const void* stage);
// A nest over the main one's dims on a tile: accesses over the loops around (outer columns) and what is left inside
// (own columns).
void pb__tiling_expand(const pb_tiling* t, const pb_nest* main, const pb_nest* nest, const pb_tile* tile,
                       pb_nest* point);
// Where a buffer lies that stands for an access.
typedef struct pb_home_at {
  int level, memory, depth;
  const char* name;
  bool shares; // another stage, or this one in another iteration, may have filled one there with the same, which serves
  const pb_access* form; // by dims, as pb__tiling_indexed makes it; NULL: the box, and in registers pb__tiling_by_dims
  int* buffer; // the one of an earlier call, which serves; -1: there was none yet, and this call's becomes it. NULL: no
} pb_home_at;
// The stage's main nest goes on with a buffer in place of access `a`: one for all that the tile, and what the loops
// inside its level walk, touches of it. *load, as below; *box: what it holds, if that is not NULL. false: another
// buffer serves, and there is nothing to load.
bool pb__tiling_home(pb_tiling* t, pb_nest* main, int a, const pb_tile* tile, const pb_home_at* at, pb_nest* load,
                     pb_access* box);
// A buffer for an access, over the main nest's dims: with an index for each of these, in order, but one for the `last`
// ones together; of more dims than there are indices the first has the rest. One number has an index too: so its copies
// can take whole rows.
pb_access pb__tiling_indexed(const pb_access* access, const int* dims, int count, int last, const int64_t* extents);
// The same of the dims that walk the access in a tile of these extents. A buffer of registers serves all tiles: it has
// an index for each dim that any of them walks, the last one for the lanes.
pb_access pb__tiling_by_dims(const pb_tiling* t, const pb_nest* main, const pb_access* access, const int64_t* extents);
// The access is of that buffer, at its front.
void pb__tiling_lie_in(const pb_tiling* t, pb_access* access, int buffer);
// The box of what `access` touches inside `level`: *local indexes the box, *origin the tensor where the box begins.
void pb__tiling_box(pb_tiling* t, const pb_access* access, const int64_t* extents, int level, pb_access* local,
                    pb_access* origin);
// Gives `access` a buffer for everything inside `level`; adds the alloc there. The access then names the buffer.
// *load copies the slice of what it was into the buffer; the caller adds it, or not.
void pb__tiling_buffer(pb_tiling* t, pb_access* access, const int64_t* extents, int level, int memory, int depth,
                       const char* name, pb_nest* load);
// A nest that copies the box of `local` from the tensor, in which it begins at `origin`, to local's buffer.
void pb__tiling_copy_box(const pb_tiling* t, const pb_access* local, const pb_access* origin, pb_nest* copy);
// Leaves a row of the memory free behind all that `index` and those inside it walk, where one such part after the other
// would begin in few of its banks: what walks along the index in front would meet whoever else uses that bank in every
// cycle.
void pb__tiling_spread(const pb_chip* chip, int memory, pb_access* box, int index);
// Whether two boxes, as pb__tiling_box finds them, are the same part of a tensor.
bool pb__tiling_same_part(const pb_access* box, const pb_access* origin, const pb_access* other_box,
                          const pb_access* other_origin);
// The access of a tensor, or of a buffer, becomes one of a buffer of that shape that holds a box from `origin` on.
void pb__tiling_in_buffer(pb_access* access, int buffer, const int64_t* shape, const pb_access* origin);
// A load walks its dim in pieces of so many, which divide it, outermost: what begins with the first does not wait for
// the last. It has room for a dim.
void pb__tiling_in_pieces(pb_nest* load, int dim, int64_t some);
// The same in so many pieces at most, of runs that are long enough.
void pb__tiling_in_runs(const pb_chip* chip, pb_nest* load, int dim, int64_t pieces);
// A buffer of the access's shape that stands nowhere in the tree yet; the access then names it. NULL: t has failed.
pb_buffer* pb__tiling_new_buffer(pb_tiling* t, pb_access* local, int memory, int depth, const char* name);
// Allocates a buffer of the access's shape at a level; the access then names it.
void pb__tiling_own(pb_tiling* t, pb_access* local, int level, int memory, int depth, const char* name);
// Whether the box of what a nest stores has nothing in it but that: it is stored as a whole. false: t fails.
bool pb__tiling_leaves_no_holes(pb_tiling* t, const pb_access* access, const int64_t* extents, int level);
void pb__tiling_turn(pb_nest* copy, const char* part); // the mirror image: of a load a store, of a store a load
// Where movers bring elements of the type from the system's memory; `leaves`: and take them back. -1: nowhere.
int pb__tiling_landing(const pb_chip* chip, pb_type type, bool leaves);
// Asks the selection for the instruction of a nest whose results and constants may lie anywhere.
bool pb__tiling_select(pb_tiling* t, const pb_nest* nest, pb_match* match);
// The memory of the operand that stands for an access; PB_ANY_MEMORY: none does, or (match NULL) code of a core takes
// it.
int pb__tiling_memory(const pb_match* match, int access);
// The nest with its tensors, and what passes through a buffer, in no memory yet, for the selection to say where they
// should be.
void pb__tiling_undecided(const pb_tiling* t, const pb_nest* nest, pb_nest* open);
// The memories through which what an access is of comes to where its instruction takes it, or, `out`, what that leaves
// in the memory goes to where the access is of: the instruction's is not counted then, and the first. Returns how many.
int pb__tiling_homes_between(const pb_tiling* t, const pb_access* access, int memory, bool out, int* homes);
// A constant of a nest moves into a memory once, in front of the kernel.
void pb__tiling_params(pb_tiling* t, pb_nest* nest, int access, int memory, int stream);
// A pointwise nest on the tile at `level`. `carried`: the access that is a buffer already, -1: none. `last`: the result
// goes to its tensor. `valid`: of the one row that the nest computes, how many elements exist; 0: all.
// `parent`: what its nests stand in, NULL: the loop at `level`.
bool pb__tiling_point(pb_tiling* t, pb_nest* nest, int carried, int level, bool last, int64_t valid, pb_tree* parent);

#endif
