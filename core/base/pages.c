#define _GNU_SOURCE
#include "core/base/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
  ALIGN = 64, // bytes: a line of a cache, and the longest vector
  HUGE_PAGE = 1 << 21,
  FEW_PAGES = 2 // that are to be filled
};

void* pb_pages_alloc(uint64_t bytes) {
  uint64_t align = bytes >= FEW_PAGES * HUGE_PAGE ? HUGE_PAGE : ALIGN;
  if (bytes > UINT64_MAX - align) return NULL;
  bytes = (bytes / align + 1) * align;
  void* data = aligned_alloc(align, bytes);
  if (data && align == HUGE_PAGE) (void)madvise(data, bytes, MADV_HUGEPAGE); // advice: without it all is as right
  return data;
}
