#include "core/base/diag.h"

#include "core/base/shown.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The line of a text that an op's name ends with, or has in front of what a pass made of it (add:18_part); 0: none.
static int line_of(const char* name) {
  const char* colon = name ? strchr(name, ':') : NULL;
  return colon ? atoi(colon + 1) : 0;
}

static void print_place(char* out, size_t size, const pb_diag* diag, pb_place place) {
  out[0] = 0;
  int line = !place.file && diag && diag->text ? line_of(place.what) : 0;
  if (line > 0) place = (pb_place){.file = diag->text, .line = line};
  if (place.file && place.line > 0)
    snprintf(out, size, "%s:%d:%d: ", place.file, place.line, place.column > 0 ? place.column : 1);
  else if (place.file)
    snprintf(out, size, "%s: ", place.file);
}

void pb_diag_pass(pb_diag* diag, bool error, int code, const char* text) {
  if (diag && error) ++diag->errors;
  if (diag && !error) ++diag->warnings;
  if (diag && diag->sink)
    diag->sink(diag->user, error, code, text);
  else
    fprintf(stderr, "%s\n", text);
}

static void emit(pb_diag* diag, bool error, pb_place place, int code, const char* hint, const char* extra,
                 const char* format, va_list args) {
  // one diagnostic is one line (and one for its hint), whatever names it quotes and however long they are
  char raw[2048], where[512], name[1024], what[2048], tip[3072], text[8192];
  print_place(raw, sizeof raw, diag, place);
  pb_show(where, sizeof where, raw);
  pb_show(name, sizeof name, place.what ? place.what : "");
  vsnprintf(raw, sizeof raw, format, args);
  pb_show(what, sizeof what, raw);
  pb_show(tip, sizeof tip, hint ? hint : "");
  snprintf(text, sizeof text, "%s%s: %s%s%s%s%s [PB%04d]%s%s", where, error ? "error" : "warning", name,
           place.what ? ": " : "", what, extra ? ": " : "", extra ? extra : "", code, hint ? "\n  hint: " : "", tip);
  pb_diag_pass(diag, error, code, text);
}

pb_status pb_error(pb_diag* diag, pb_place place, int code, const char* hint, const char* format, ...) {
  va_list args;
  va_start(args, format);
  emit(diag, true, place, code, hint, NULL, format, args);
  va_end(args);
  return PB_ERR_INPUT;
}

pb_status pb_unsupported(pb_diag* diag, pb_place place, int code, const char* hint, const char* format, ...) {
  va_list args;
  va_start(args, format);
  emit(diag, true, place, code, hint, NULL, format, args);
  va_end(args);
  return PB_ERR_UNSUPPORTED;
}

pb_status pb_system_error(pb_diag* diag, pb_place place, int code, const char* format, ...) {
  int saved = errno;
  va_list args;
  va_start(args, format);
  emit(diag, true, place, code, NULL, saved ? strerror(saved) : NULL, format, args);
  va_end(args);
  return PB_ERR_SYSTEM;
}

void pb_warning(pb_diag* diag, pb_place place, int code, const char* format, ...) {
  va_list args;
  va_start(args, format);
  emit(diag, false, place, code, NULL, NULL, format, args);
  va_end(args);
}

int pb_printed(int code) {
  bool failed = ferror(stdout); // of earlier on, which left no reason
  errno = 0;
  if (!fflush(stdout) && !failed) return code;
  (void)pb_system_error(NULL, (pb_place){.file = "standard output"}, 1003, "cannot be written");
  return 1;
}

void pb_diag_drop(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code, (void)text;
}
