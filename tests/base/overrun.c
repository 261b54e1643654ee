// Reads behind what an arena gave, inside the block that the arena has from malloc; ends with 0 unless somebody looks.
#include "core/base/arena.h"

int main(void) {
  pb_arena arena = {0};
  volatile int* numbers = PB_NEW_ARRAY(&arena, int, 3);
  volatile int* others = PB_NEW_ARRAY(&arena, int, 3);
  int sum = numbers[3] + others[0];
  pb_arena_free(&arena);
  return sum;
}
