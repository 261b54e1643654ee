// Where the files lie that programs read, the description language, targets, models of the conformance suite, and the
// programs that they start.
#ifndef PB_BASE_INSTALLATION_H
#define PB_BASE_INSTALLATION_H

#include <stddef.h>

// The folder that is `part` in the source tree, say "tdl": of the installation that this program, or libpb.so, belongs to
// (share/pb beside its bin), else of the tree that it was built from, else of the prefix it was configured for.
void pb_installed_folder(const char* part, char* path, size_t size);
// A program of ours that ours start: of the installation as above, else of the build.
void pb_installed_program(const char* name, char* path, size_t size);
// The same of one that may be another's: what has a slash is its path.
void pb_program_path(const char* name, char* path, size_t size);

#endif
