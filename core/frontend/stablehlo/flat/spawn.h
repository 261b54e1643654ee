// The start of a program that reads a text.
#ifndef PB_FRONTEND_FLAT_SPAWN_H
#define PB_FRONTEND_FLAT_SPAWN_H

#include <sys/types.h>

// Starts the program with `in` as its standard input and `out` as its standard output: 0, or an errno. A process that
// is pb-read-mlir itself may fork in its place (tests/e2e/server/read_mlir.c).
int pb__flat_spawn(const char* program, char* const argv[], int in, int out, pid_t* pid);

#endif
