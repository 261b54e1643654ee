// make_engines FOLDER OBJECT: writes copy.pbe, race.pbe and scale.pbe, for the tests of the tools.
#include "engines.h"

#include <stdio.h>
#include <stdlib.h>

static pb_status write_copies(const char* folder, const pb_chip* chip) {
  char path[1024];
  copy_engine copy;
  for (int good = 0; good < 2; ++good) {
    copy_engine_make(&copy, chip, good);
    snprintf(path, sizeof path, "%s/%s.pbe", folder, good ? "copy" : "race");
    PB_TRY(pb_engine_write(&copy.engine, path, NULL));
  }
  return PB_OK;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  char path[1024];
  static uint8_t object[1 << 20];
  pb_chip* chip;
  if (pb_chip_find("simnpu", NULL, NULL, &chip) != PB_OK || write_copies(argv[1], chip) != PB_OK) return 1;
  pb_chip_free(chip);
  FILE* file = fopen(argv[2], "rb");
  if (!file) return 1;
  size_t bytes = fread(object, 1, sizeof object, file);
  fclose(file);
  native_engine native;
  native_engine_make(&native, object, bytes);
  snprintf(path, sizeof path, "%s/scale.pbe", argv[1]);
  return pb_engine_write(&native.engine, path, NULL) == PB_OK ? 0 : 1;
}
