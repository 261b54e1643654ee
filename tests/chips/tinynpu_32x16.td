// The same with an array of 32 rows by 16 columns, and vectors of 16.
#define SIDES
defvar K = 32;
defvar N = 16;
defvar V = 16;
defvar U = 8;
include "tinynpu.td"
