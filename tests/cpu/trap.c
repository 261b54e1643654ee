// Lets a program run code on tiles on any processor, with tiles or without: in every object that it loads, each
// instruction on tiles becomes one that is undefined; the handler of its SIGILL carries out what stood there and goes
// on behind it. Nothing is left to what a processor does with the instructions themselves: one that has tiles, for
// which the system has not granted their state, traps on some (TILEZERO) and carries out others (LDTILECFG). Linked
// into a program with --wrap=dlopen it takes effect before main.
#define _GNU_SOURCE
#include "core/base/processor.h"
#include "tests/cpu/tiles.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

enum { MOST_BYTES = 15 };

typedef struct patch {
  const uint8_t* at;
  uint8_t bytes[MOST_BYTES + 1]; // what stood there
} patch;

static patch* patches; // by address; complete before the code runs
static size_t patch_count, patch_capacity;
static _Thread_local pb_tile_state tiles;
static _Atomic long carried_out;

static void say(const char* text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) abort();
}

static _Noreturn void give_up(const char* why) {
  say("tile trap: ");
  say(why);
  say("\n");
  exit(1);
}

// ---- taking the instructions out ----

static int by_address(const void* a, const void* b) {
  const patch *x = a, *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

static void take_out(uint8_t* at, int length) {
  static const uint8_t undefined[2] = {0x0F, 0x0B}; // UD2
  if (patch_count == patch_capacity) {
    patch_capacity = patch_capacity ? 2 * patch_capacity : 1024;
    patches = realloc(patches, patch_capacity * sizeof *patches);
    if (!patches) abort();
  }
  patch* new = &patches[patch_count++];
  *new = (patch){.at = at};
  memcpy(new->bytes, at, (size_t)length);
  memcpy(at, undefined, sizeof undefined);
}

// A section of code in memory, instruction by instruction.
static void patch_code(uint8_t* code, size_t size, LLVMDisasmContextRef disassembler) {
  for (size_t k = 0; k < size;) {
    char text[128];
    size_t length =
        LLVMDisasmInstruction(disassembler, code + k, size - k, (uint64_t)(uintptr_t)(code + k), text, sizeof text);
    if (length == 0 || length > MOST_BYTES) give_up("code that cannot be read");
    uint8_t bytes[MOST_BYTES + 1] = {0};
    memcpy(bytes, code + k, length);
    pb_tile_code tile;
    if (pb_tile_decode(bytes, &tile)) {
      if (tile.length != (int)length) give_up("an instruction on tiles of another length");
      take_out(code + k, tile.length);
    }
    k += length;
  }
}

static void patch_section(const Elf64_Shdr* s, uint8_t* base, LLVMDisasmContextRef disassembler) {
  if (s->sh_type != SHT_PROGBITS || !(s->sh_flags & SHF_EXECINSTR) || !s->sh_size) return;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)(base + s->sh_addr) / page * page,
            to = ((uintptr_t)(base + s->sh_addr + s->sh_size) + page - 1) / page * page;
  if (mprotect((void*)from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC)) give_up("code cannot be made writable");
  patch_code(base + s->sh_addr, s->sh_size, disassembler);
  if (mprotect((void*)from, to - from, PROT_READ | PROT_EXEC)) give_up("code cannot be made executable");
}

static void patch_object(const char* path, void* handle) {
  struct link_map* map;
  struct stat s;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fstat(file, &s) || dlinfo(handle, RTLD_DI_LINKMAP, &map)) give_up("an object that cannot be read");
  const uint8_t* bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (bytes == MAP_FAILED) give_up("an object that cannot be read");
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86Disassembler();
  LLVMDisasmContextRef disassembler = LLVMCreateDisasmCPU("x86_64-linux-gnu", "sapphirerapids", NULL, 0, NULL, NULL);
  if (!disassembler) give_up("no disassembler");
  const Elf64_Ehdr* header = (const Elf64_Ehdr*)(const void*)bytes;
  const Elf64_Shdr* sections = (const Elf64_Shdr*)(const void*)(bytes + header->e_shoff);
  for (int k = 0; k < header->e_shnum; ++k) patch_section(&sections[k], (uint8_t*)map->l_addr, disassembler);
  LLVMDisasmDispose(disassembler);
  munmap((void*)(uintptr_t)bytes, (size_t)s.st_size);
  if (patch_count) qsort(patches, patch_count, sizeof *patches, by_address);
}

void* __real_dlopen(const char* path, int flags);
void* __wrap_dlopen(const char* path, int flags);

void* __wrap_dlopen(const char* path, int flags) {
  void* handle = __real_dlopen(path, flags);
  if (handle && path) patch_object(path, handle);
  return handle;
}

// ---- carrying them out ----

// Only what may be called in a handler. An instruction that was not taken out, or one that a processor would refuse,
// ends the program as it would without a handler.
static void on_illegal(int signal_number, siginfo_t* info, void* user) {
  static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  (void)info;
  greg_t* saved = ((ucontext_t*)user)->uc_mcontext.gregs;
  uint64_t registers[16];
  for (int k = 0; k < 16; ++k) registers[k] = (uint64_t)saved[order[k]];
  patch wanted = {.at = (const uint8_t*)saved[REG_RIP]};
  const patch* found = !patch_count ? NULL : bsearch(&wanted, patches, patch_count, sizeof *patches, by_address);
  pb_tile_code code;
  const char* why = "an instruction that is none on tiles, or was not taken out";
  if (found && pb_tile_decode(found->bytes, &code))
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
static void report(void) { fprintf(stderr, "tile trap: %ld instructions\n", (long)carried_out); }

__attribute__((constructor)) static void set_trap(void) {
  struct sigaction action = {.sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO};
  sigaction(SIGILL, &action, NULL);
  atexit(report);
  pb_processor_pretend("avx512bf16,amx-tile,amx-int8,amx-bf16,state-18");
}
