// Inside libpb.so with LLVM in it: its programs.
#ifndef PB_LIBRARY_PROGRAMS_H
#define PB_LIBRARY_PROGRAMS_H

// Exported for program.c, whose file's name says which one it is.
int pb_program_main(int argc, char** argv);

#endif
