// The same with one PRELOAD that fills the registers not in use and says where the next sums go; of nothing, it says that.
#define PRELOAD_SAYS
include "gemmini.td"
