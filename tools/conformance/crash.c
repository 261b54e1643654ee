// A vendor's driver runs in the suite's own process: what crashes there would end the suite without a word of the case.
#include "suite.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

static sigjmp_buf around;
static volatile sig_atomic_t caught;

static void jump(int number) {
  caught = number;
  siglongjmp(around, 1);
}

const char* suite_guard(void (*run)(void* data), void* data) {
  static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  enum { COUNT = sizeof crashes / sizeof *crashes };
  struct sigaction guard = {.sa_handler = jump}, before[COUNT];
  sigemptyset(&guard.sa_mask);
  caught = 0;
  for (int k = 0; k < COUNT; ++k) sigaction(crashes[k], &guard, &before[k]);
  if (!sigsetjmp(around, 1)) run(data);
  for (int k = 0; k < COUNT; ++k) sigaction(crashes[k], &before[k], NULL);
  return caught ? strsignal(caught) : NULL;
}
