// Prints the RTL's parameter package: sv_package FILE.td [VARIANT].
#include "tdl/sv.h"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s FILE.td [VARIANT]\n", argv[0]);
    return 2;
  }
  pb_diag diag = {0};
  pb_chip* chip;
  if (pb_chip_read(argv[1], argc > 2 ? argv[2] : "", &diag, &chip) != PB_OK) return 1;
  pb_chip_print_sv(chip, stdout);
  pb_chip_free(chip);
  return fclose(stdout) ? 1 : 0;
}
