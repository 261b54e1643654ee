// The toy with as much memory as a description can have.
#define VAST
include "toy.td"
