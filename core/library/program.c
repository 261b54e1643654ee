// A program that is a function of libpb.so, the one of this file's name: programs.c.
#include "core/library/programs.h"

int main(int argc, char** argv) { return pb_program_main(argc, argv); }
