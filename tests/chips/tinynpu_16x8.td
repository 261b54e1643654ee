// The same with an array of 16 rows by 8 columns, and vectors of 8.
#define SIDES
defvar K = 16;
defvar N = 8;
defvar V = 8;
defvar U = 8;
include "tinynpu.td"
