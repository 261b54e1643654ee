// The layout of an engine file. All numbers are little-endian.
//
//   header    64 bytes: magic, version, section count, file size, checksum of header and section table (taken with this
//             field 0), then zeros
//   sections  32 bytes each: kind, zero, offset, bytes, checksum
//   data      each section in the order of its kind, at the next multiple of its alignment; the gaps are zeros
//
// An engine of several profiles is a file of such files:
//
//   header    64 bytes: another magic, version, number of profiles, file size, checksum of header and table (taken with
//             this field 0), then zeros
//   table     32 bytes each: number, zero, offset, bytes, zero
//   engines   each at the next page, the gaps zeros; all but the first without constants, which are the first one's
//
// Nothing stands outside of a checksum or a field that must be zero, so a changed byte anywhere is noticed.
#ifndef PB_ARTEFACT_FORMAT_H
#define PB_ARTEFACT_FORMAT_H

#include "core/artefact/engine.h"

#include <stddef.h>
#include <stdint.h>

#define PB_ENGINE_MAGIC "PBENGINE"
#define PB_PROFILES_MAGIC "PBPROFIL"
enum { PB_ENGINE_COMPLEX = 0x80 }; // beside the rank of a tensor
enum { PB_ENGINE_MAX_PROFILES = 16 };

enum { PB_HEADER_BYTES = 64, PB_SECTION_BYTES = 32, PB_PAGE = 4096 };

typedef enum pb_section {
  PB_SECTION_PROGRAM,     // target, tensors, kernels and steps, as program_put and program_get walk them
  PB_SECTION_DESCRIPTION, // text with its final 0
  PB_SECTION_STREAMS,     // the words of all kernels, queue after queue; or the modules of a grid, each at the next
                          // multiple of PB_ENGINE_ALIGN
  PB_SECTION_NATIVE,      // a shared object
  PB_SECTION_CONSTS,
  PB_SECTION_COUNT
} pb_section;

static inline uint64_t pb__section_align(int section) {
  return section == PB_SECTION_CONSTS || section == PB_SECTION_NATIVE ? PB_PAGE : PB_ENGINE_ALIGN;
}
static inline uint64_t pb__align_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

static inline uint64_t pb__get(const uint8_t* bytes, int count) {
  uint64_t value = 0;
  for (int k = 0; k < count; ++k) value |= (uint64_t)bytes[k] << 8 * k;
  return value;
}
static inline void pb__put(uint8_t* bytes, int count, uint64_t value) {
  for (int k = 0; k < count; ++k) bytes[k] = (uint8_t)(value >> 8 * k);
}

// CRC-64 with the polynomial of ECMA-182, reflected. Start with crc = 0; pieces can be added one after the other.
uint64_t pb__crc64(uint64_t crc, const void* data, size_t bytes);

// What a rule that does not hold is said with: the engine's file and the diagnostic's code.
typedef struct pb_engine_check {
  const char* path;
  int code;
  pb_diag* diag;
} pb_engine_check;
#define PB_ENGINE_FAIL(c, ...) pb_error((c)->diag, (pb_place){.file = (c)->path}, (c)->code, NULL, __VA_ARGS__)

// The rules that hold for every engine, checked before writing and after reading. `code` is for the diagnostic.
pb_status pb__engine_check(const pb_engine* engine, const char* path, int code, pb_diag* diag) PB_MUST_CHECK;
// Inside it: the part that open dims have.
pb_status pb__engine_check_open(const pb_engine_check* c, const pb_engine* engine) PB_MUST_CHECK;
// What must hold among profiles, each of which is checked for itself: that they are of one model.
pb_status pb__profiles_check(const pb_engine* first, const char* path, int code, pb_diag* diag) PB_MUST_CHECK;

#endif
