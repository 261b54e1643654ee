// Diagnostics for bad input: `file:line:col: error: text [PBnnnn]`, with a hint where a fix is known.
#ifndef PB_BASE_DIAG_H
#define PB_BASE_DIAG_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

// Where in the user's input. `what` is used when there are no lines: the name of an op or tensor in a model.
typedef struct pb_place {
  const char* file; // may be NULL
  int line, column; // 0: unknown
  const char* what; // may be NULL, e.g. "node 'conv1' (Conv)"
} pb_place;

// Called once for each diagnostic; `text` is the whole formatted line(s) without a final newline.
typedef void (*pb_diag_sink)(void* user, bool error, int code, const char* text);

typedef struct pb_diag {
  pb_diag_sink sink; // NULL: stderr
  void* user;
  int errors, warnings;
  const char* text; // of a model whose ops have no names and are called KIND:LINE (add:18): its file; may be NULL
} pb_diag;

// Emits and returns PB_ERR_INPUT, so that a reader can write `return pb_error(...)`.
// code: the stable number (2003 prints as PB2003); hint: NULL or what would be right.
pb_status pb_error(pb_diag* diag, pb_place place, int code, const char* hint, const char* format, ...)
    __attribute__((format(printf, 5, 6)));
// The same for what is well formed and not supported; returns PB_ERR_UNSUPPORTED.
pb_status pb_unsupported(pb_diag* diag, pb_place place, int code, const char* hint, const char* format, ...)
    __attribute__((format(printf, 5, 6)));
// The same for the operating system's refusals (appends strerror(errno)); returns PB_ERR_SYSTEM.
pb_status pb_system_error(pb_diag* diag, pb_place place, int code, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
void pb_warning(pb_diag* diag, pb_place place, int code, const char* format, ...) __attribute__((format(printf, 4, 5)));

// Of a program that ends: 1, with a diagnostic, where what it printed did not get through (a disk that is full, a pipe
// that is closed), else its exit code.
int pb_printed(int code);

// Passes on what another process has written as a diagnostic.
void pb_diag_pass(pb_diag* diag, bool error, int code, const char* text);

// A sink for what is tried and may fail: says nothing.
void pb_diag_drop(void* user, bool error, int code, const char* text);

// Code ranges: 1xxx command line and files, 2xxx models, 3xxx descriptions, 4xxx planning and selection,
// 5xxx engines and loading, 6xxx devices.

#endif
