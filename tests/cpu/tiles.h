// The instructions of x86-64 processors on tiles (Intel SDM, volume 2: AMX), decoded and carried out in C: the
// reference for code on machines that have none. Knows what the code generator emits: tiles of i8 and i32, and of bf16
// and f32.
#ifndef PB_TESTS_CPU_TILES_H
#define PB_TESTS_CPU_TILES_H

#include <stdbool.h>
#include <stdint.h>

enum { PB_TILES = 8, PB_TILE_ROWS = 16, PB_TILE_ROW_BYTES = 64 };

typedef enum pb_tile_op {
  PB_TILE_CONFIG,
  PB_TILE_RELEASE,
  PB_TILE_ZERO,
  PB_TILE_LOAD,
  PB_TILE_STORE,
  PB_TILE_DOT,     // dest += a * b, of integers
  PB_TILE_DOT_BF16 // of bf16, in f32
} pb_tile_op;

enum { PB_TILE_NO_REGISTER = -1, PB_TILE_NEXT = -2 }; // PB_TILE_NEXT: the place of the next instruction

typedef struct pb_tile_code {
  pb_tile_op op;
  int length;                    // bytes
  int dest, a, b;                // tiles
  bool a_is_signed, b_is_signed; // PB_TILE_DOT
  int base, index, scale;        // of an address: numbers of registers in the order of encodings, a factor
  int64_t displacement;
} pb_tile_code;

// What a thread has: zeros before it configures its tiles.
typedef struct pb_tile_state {
  bool configured;
  int rows[PB_TILES], row_bytes[PB_TILES];
  uint8_t data[PB_TILES][PB_TILE_ROWS][PB_TILE_ROW_BYTES];
} pb_tile_state;

// false: the bytes begin no such instruction.
bool pb_tile_decode(const uint8_t* bytes, pb_tile_code* code);
// NULL: done; else why a processor would refuse. `next` is the address of the instruction behind it.
const char* pb_tile_execute(pb_tile_state* state, const pb_tile_code* code, const uint64_t registers[16],
                            uint64_t next);

#endif
