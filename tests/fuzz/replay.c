// replay FOLDER ROUNDS [SEED]: each file of a corpus as it is, and ROUNDS times with random changes that are the same
// every time, but for the seed.
#include "fuzz.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16, FRONT = 768 };

// SplitMix64 (Steele, Lea, Flood 2014).
static uint64_t next_random(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// Numbers at the edges of their ranges find more than random ones do.
static uint8_t interesting(uint64_t r) {
  static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x10, 0x40};
  return r & 8 ? values[r & 7] : (uint8_t)(r >> 8);
}

static size_t change(uint8_t* bytes, size_t count, uint64_t* random) {
  for (uint64_t n = 1 + next_random(random) % 4; n && count; --n) {
    uint64_t r = next_random(random);
    // what says how to read the rest stands in front: half of the changes go there
    size_t at = (size_t)(r >> 32) % (r & 1 && count > FRONT ? FRONT : count);
    switch (r >> 1 & 7) {
    case 0:
      count = at;
      break; // cut
    case 1:  // take out
      memmove(bytes + at, bytes + at + 1, count - at - 1);
      --count;
      break;
    case 2: // put in
      if (count == MOST) break;
      memmove(bytes + at + 1, bytes + at, count - at);
      bytes[at] = interesting(r >> 8);
      ++count;
      break;
    case 3:
      bytes[at] ^= (uint8_t)(1u << (r >> 8 & 7));
      break;
    default:
      bytes[at] = interesting(r >> 8);
      break;
    }
  }
  return count;
}

// A copy that ends where the bytes do, so that AddressSanitizer sees a read behind them.
static void run(const uint8_t* bytes, size_t count) {
  uint8_t* copy = malloc(count ? count : 1);
  if (!copy) abort();
  memcpy(copy, bytes, count);
  uint8_t* exact = count ? copy : copy + 1;
  LLVMFuzzerTestOneInput(exact, count);
  free(copy);
}

static int replay(const char* path, int rounds, uint64_t seed) {
  static uint8_t original[MOST], bytes[MOST];
  FILE* file = fopen(path, "rb");
  if (!file) return perror(path), 1;
  size_t count = fread(original, 1, MOST, file);
  fclose(file);
  run(original, count);
  uint64_t random = seed;
  for (int k = 0; k < rounds; ++k) {
    memcpy(bytes, original, count);
    run(bytes, change(bytes, count, &random));
  }
  return 0;
}

int main(int argc, char** argv) {
  // What a round gives back the next one takes: pages that go to the system and come again took half of the time.
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  if (argc != 3 && argc != 4) return fprintf(stderr, "usage: %s FOLDER ROUNDS [SEED]\n", argv[0]), 2;
  uint64_t seed = argc == 4 ? strtoull(argv[3], NULL, 10) : 1;
  DIR* folder = opendir(argv[1]);
  if (!folder) return perror(argv[1]), 1;
  int files = 0, failed = 0;
  for (struct dirent* entry; (entry = readdir(folder));) {
    char path[2048];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
    failed |= replay(path, atoi(argv[2]), seed);
    ++files;
  }
  closedir(folder);
  printf("%d files, %lld mutants\n", files, (long long)files * atoi(argv[2]));
  return failed || !files; // an empty corpus tests nothing
}
