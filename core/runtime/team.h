// The threads of one run. OpenMP makes them once for all steps of the run; between steps they wait for what its first
// thread hands out. Whoever is done with its own share of a kernel takes one that nobody has begun: the thread that
// should have may be waiting for a core that another process has.
#ifndef PB_RUNTIME_TEAM_H
#define PB_RUNTIME_TEAM_H

#include <stdatomic.h>
#include <stdint.h>

// Does share `thread` of `threads`.
typedef void (*pb__native_entry)(void** args, int64_t thread, int64_t threads);

enum { PB_TEAM_LINE = 64 }; // bytes of a cache line: threads that spin on one word leave the others' lines alone

// Begins as {0}; may be used again, for one run at a time.
typedef struct pb__team {
  int threads;            // that share the work of this run; 0: there is none
  int64_t spinning;       // ns before one sleeps
  pb__native_entry entry; // what was handed out last
  void** args;
  atomic_bool over;   // the run is
  atomic_uint* begun; // by share: the last job in which somebody began it
  char apart[PB_TEAM_LINE];
  atomic_uint jobs;     // handed out so far
  atomic_uint sleepers; // threads that sleep until there is one more
  char more_apart[PB_TEAM_LINE];
  atomic_uint left;         // shares of this job that are not done
  atomic_bool first_sleeps; // the first thread, until none is
} pb__team;

// Runs body(user) on this thread, with up to threads - 1 more that share what pb__team_do hands out.
void pb__team_run(pb__team* team, int threads, void (*body)(void* user), void* user);
// All shares of the entry. Returns when they are done.
void pb__team_do(pb__team* team, pb__native_entry entry, void** args);

#endif
