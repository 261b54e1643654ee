// The same with one PRELOAD that brings weights and says where the next sums go: it comes again where only that changes.
#define PRELOAD_SAYS
include "gemmini.td"
