// Lets a program run code on tiles where the processor has none: such an instruction raises SIGILL, the handler carries
// it out and goes on behind it. Linked into a program it takes effect before main.
#define _GNU_SOURCE
#include "core/base/processor.h"
#include "tests/cpu/tiles.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static _Thread_local pb_tile_state tiles;
static _Atomic long carried_out;

static void say(const char* text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) abort();
}

// Only what may be called in a handler. An instruction that is none of ours, or one that a processor would refuse, ends
// the program as it would without a handler.
static void on_illegal(int signal_number, siginfo_t* info, void* user) {
  static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  (void)info;
  greg_t* saved = ((ucontext_t*)user)->uc_mcontext.gregs;
  uint64_t registers[16];
  for (int k = 0; k < 16; ++k) registers[k] = (uint64_t)saved[order[k]];
  pb_tile_code code;
  const char* why = "an instruction that is none on tiles";
  if (pb_tile_decode((const uint8_t*)saved[REG_RIP], &code))
    why = pb_tile_execute(&tiles, &code, registers, (uint64_t)saved[REG_RIP] + (uint64_t)code.length);
  if (!why) {
    saved[REG_RIP] += code.length;
    ++carried_out;
    return;
  }
  say("tile trap: ");
  say(why);
  say("\n");
  signal(signal_number, SIG_DFL);
}

// So that a test can see that the code took this way at all.
static void report(void) {
  char digits[24], *at = digits + sizeof digits - 1;
  *at = 0;
  long count = carried_out;
  do *--at = (char)('0' + count % 10);
  while (count /= 10);
  say("tile trap: ");
  say(at);
  say(" instructions\n");
}

__attribute__((constructor)) static void set_trap(void) {
  struct sigaction action = {.sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO};
  sigaction(SIGILL, &action, NULL);
  atexit(report);
  pb_processor_pretend("amx-tile,amx-int8,state-18");
}
