// Engines that break a rule are not written.
#ifndef PB_TESTS_ARTEFACT_REFUSED_H
#define PB_TESTS_ARTEFACT_REFUSED_H

#include "core/artefact/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// these first
#include <cmocka.h>

// Fails unless the engine, which breaks rule number `rule`, is refused with one error.
static inline void assert_refused(pb_engine* engine, size_t rule) {
  pb_diag diag = {.sink = pb_diag_drop};
  void* bytes;
  uint64_t count;
  if (pb_engine_pack(engine, &diag, &bytes, &count) == PB_OK) fail_msg("rule %zu", rule);
  assert_int_equal(diag.errors, 1);
}

#endif
