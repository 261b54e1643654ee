// Inside lanes.c and its neighbours: one function on its way from vectors to lanes.
#ifndef PB_GRID_WARP_H
#define PB_GRID_WARP_H

#include "core/base/arena.h"
#include "core/base/table.h"
#include "targets/control/grid/lanes/lanes.h"

#include <stdint.h>

typedef struct pb__lane_value {
  LLVMValueRef value; // a lane's part
  bool same;          // of a vector: all its elements are known to be equal
} pb__lane_value;

typedef struct pb__warp_block {
  LLVMBasicBlockRef first, last; // of those that it became
} pb__warp_block;

// A store since lanes last waited for each other: bytes from `base` on, as far as both are known.
typedef struct pb__warp_store {
  LLVMValueRef base;
  int64_t offset, bytes;
  bool shared; // in memory that the function reads too
} pb__warp_store;

typedef struct pb__warp {
  pb_lanes* lanes;
  int width, warps; // of the grid
  bool meets;       // what is stored another warp may store too
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef at;
  LLVMTypeRef bit, word, wide; // i1, i32, i64
  LLVMValueRef from, to;       // functions
  LLVMValueRef thread, number; // its number in the block, an i32, and in the grid, an i64
  LLVMValueRef warp;           // the warp's in the grid, an i64
  bool spread;                 // a number that is no vector is the thread's own
  LLVMValueRef lane, first;    // the lane's number; whether it is 0
  LLVMValueRef memory;         // the warp's own; NULL: it has none
  int64_t memory_used;
  pb_table numbers, blocks; // of values and blocks as they were
  pb__lane_value* values;
  pb__warp_block* made;
  size_t value_count, value_capacity;
  // Memory that the function both writes and reads: arguments and allocations; `unknown`: pointers that come from
  // somewhere else do either.
  pb_table shared;
  size_t shared_count;
  bool unknown;
  // Since the lanes last waited: whether they may have read such memory, and what they wrote there.
  bool has_read;
  pb__warp_store stores[64];
  int store_count; // more than there is room for: any
  pb_arena arena;
} pb__warp;

void pb__warp_refuse(pb__warp* w, const char* format, ...) __attribute__((format(printf, 2, 3)));

// warp_values.c. What a lane has of a type, and of a value.
bool pb__is_vector(LLVMValueRef value);
int64_t pb__vector_size(LLVMTypeRef vector);
int64_t pb__per_lane(const pb__warp* w, LLVMTypeRef vector);
LLVMTypeRef pb__lane_type(const pb__warp* w, LLVMTypeRef type); // NULL: it is no type of lanes
LLVMValueRef pb__lane(pb__warp* w, LLVMValueRef value);         // of the function as it was
bool pb__is_same(const pb__warp* w, LLVMValueRef value);
void pb__set_lane(pb__warp* w, LLVMValueRef value, LLVMValueRef lane, bool same);
LLVMValueRef pb__number(const pb__warp* w, int64_t value); // an i32
pb_isa_place pb__isa_place(const pb__warp* w);
// The i32 that stands in the list at the lane's number; below 0: any will do.
LLVMValueRef pb__lane_number(pb__warp* w, const int64_t* list);
// One of a lane's elements, or with one replaced.
LLVMValueRef pb__slot(const pb__warp* w, LLVMTypeRef vector, LLVMValueRef lane, int64_t slot);
LLVMValueRef pb__with_slot(const pb__warp* w, LLVMTypeRef vector, LLVMValueRef lane, int64_t slot,
                           LLVMValueRef element);

// warp_exchange.c. Of instructions on vectors, whose operands are those of the function as it was.
void pb__extract(pb__warp* w, LLVMValueRef extract);
void pb__insert(pb__warp* w, LLVMValueRef insert);
void pb__shuffle(pb__warp* w, LLVMValueRef shuffle);
// A vector's bits as one of other elements: lanes keep theirs where both are as many, or of all lanes the same number.
void pb__bitcast(pb__warp* w, LLVMValueRef cast);
// An element of a lane's that stands elsewhere: the one that the lane of that number has.
LLVMValueRef pb__from_lane(pb__warp* w, LLVMValueRef value, LLVMValueRef lane);
LLVMValueRef pb__element(pb__warp* w, LLVMValueRef vector, int64_t index); // for all lanes

// warp_memory.c.
void pb__find_shared(pb__warp* w);
void pb__load(pb__warp* w, LLVMValueRef load);
void pb__store(pb__warp* w, LLVMValueRef store);
// A load of as many elements as there are lanes, each by a pointer of its own.
void pb__gather(pb__warp* w, LLVMValueRef call);
enum { PB__MEMORY_ALIGN = 128 };
bool pb__is_allocation(LLVMValueRef i);
int64_t pb__allocated(const pb__warp* w, LLVMValueRef i); // bytes; 0: their number is not known
void pb__allocate(pb__warp* w, LLVMValueRef i);
void pb__forget_order(pb__warp* w); // where a block begins: whatever came before may be pending
LLVMBasicBlockRef pb__begin_if(pb__warp* w, LLVMValueRef condition); // code for some lanes; the block behind it
void pb__end_if(pb__warp* w, LLVMBasicBlockRef behind);

#endif
