#include "core/s3/tree/moves.h"

#include <string.h>

bool pb_is_move(const pb_nest* nest) { return !strcmp(nest->part, PB_MOVE); }

// The access by element number.
static void number(pb_access* access) {
  pb_access flat = *access;
  flat.rank = 1;
  flat.shape[0] = pb_access_elements(access);
  memset(&flat.index[0], 0, sizeof flat.index[0]);
  for (int c = 0; c < PB_NEST_COLS; ++c) flat.index[0].coef[c] = pb_access_stride(access, c);
  flat.index[0].cst = pb_access_offset(access);
  *access = flat;
}

void pb_move_begin(pb_nest* nest) {
  nest->part = PB_MOVE;
  if (!nest->dim_count) nest->extent[nest->dim_count++] = 1;
  for (int a = 0; a < 2; ++a) number(&nest->access[a]);
}

// Whether one loop and the one around it are one over both.
static bool are_one(const pb_move_loop* outer, const pb_move_loop* inner) {
  return outer->from == inner->from * inner->extent && outer->to == inner->to * inner->extent;
}

// Adds a loop inside those so far.
static void add(pb_move* move, pb_move_loop loop) {
  pb_move_loop* last = move->loop_count ? &move->loops[move->loop_count - 1] : NULL;
  if (loop.extent == 1) return;
  if (last && are_one(last, &loop))
    *last = (pb_move_loop){last->extent * loop.extent, loop.from, loop.to};
  else
    move->loops[move->loop_count++] = loop;
}

void pb_move_of(const pb_chip* chip, const pb_nest* nest, bool out, int memory, pb_move* move) {
  *move = (pb_move){.mover = pb_core_mover_of(chip, memory, out), .out = out, .run = 1};
  for (int d = 0; d < nest->dim_count; ++d)
    add(move,
        (pb_move_loop){nest->extent[d], pb_access_stride(&nest->access[0], d), pb_access_stride(&nest->access[1], d)});
  pb_move_loop* last = move->loop_count ? &move->loops[move->loop_count - 1] : NULL;
  if (last && last->from == 1 && last->to == 1) {
    move->run = last->extent;
    --move->loop_count;
  }
  int most = chip->core_movers[move->mover].loops;
  move->own = move->loop_count < most ? move->loop_count : most;
}

int64_t pb_move_starts(const pb_move* move) {
  int64_t starts = 1;
  for (int k = 0; k < move->loop_count - move->own; ++k) starts *= move->loops[k].extent;
  return starts;
}

int64_t pb_move_cycles(const pb_chip* chip, const pb_move* move, pb_type type) {
  int64_t runs = 1, bytes = pb_bytes_of(type, move->run);
  int64_t outside = chip->memories[chip->system_memory].bytes_per_cycle,
          near = chip->memories[chip->core_movers[move->mover].near].bytes_per_cycle;
  int64_t rate = near < outside ? near : outside;
  for (int k = 0; k < move->loop_count; ++k) runs *= move->loops[k].extent;
  return runs * ((bytes + rate - 1) / rate);
}
