// Inside the host's program: tensors and where they lie, shared by programs of one function and those of segments.
#ifndef PB_DRIVER_HOST_PLACES_H
#define PB_DRIVER_HOST_PLACES_H

#include "core/base/table.h"
#include "core/driver/host.h"
#include "core/poly/nest.h"

typedef struct pb_host_place {
  pb_arg arg;
  int first, last; // steps, for tensors of the arena; -1: none uses it
  uint64_t bytes;
  pb_kept kept; // where on the chip it stays; bytes 0: it does not
} pb_host_place;

typedef struct pb_host {
  const pb_unit* unit;
  pb_engine* engine;
  pb_host_place* places;
  size_t place_count, place_capacity;
  int value_places; // the first so many are the program's values, the others lie inside of segments
  int step_room;    // of the engine's steps
  pb_table numbers; // of places by the values of IR that they are
  pb_table kernels; // by name
} pb_host;

// A loop's steps, the jump back among them.
typedef struct pb_host_span {
  int first, last;
} pb_host_span;

void pb__host_start(pb_host* h, const pb_unit* unit, pb_engine* engine);
int pb__host_add(pb_host* h, pb_host_place place);          // its number
void pb__host_name(pb_host* h, MlirValue value, int place); // the value is that place's
int pb__host_launches(MlirOperation main);
// Adds main's own tensors and its launches as steps, for which there is room.
pb_status pb__host_take(pb_host* h, MlirOperation main) PB_MUST_CHECK;
// The step uses the place as its argument: its number, until all have places.
void pb__host_use(pb_host* h, int step, int argument, int place);
// The step uses the place, in whatever way.
void pb__host_touch(pb_host* h, int step, int place);
// The loop whose steps are the last ones there, as two turns where that saves copies (two_places.c). Loops inside of it
// move with it.
pb_host_span pb__host_two_places(pb_host* h, pb_host_span loop, pb_host_span* inner, size_t inner_count);
uint64_t pb__host_bytes(MlirValue tensor); // as it lies in memory
// Places the arena and the constants, when all steps are there; frees what was collected.
pb_status pb__host_end(pb_host* h) PB_MUST_CHECK;
void pb__host_free(pb_host* h);

#endif
