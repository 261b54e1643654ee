// Stage S4 for control by queues: a placed kernel is followed through its loops at compile time, and every call becomes
// one command with all its fields known. Commands of configuration state are put between them, and tokens where one
// queue needs what another made. A kernel can be millions of commands: each goes through all of this by itself, and
// what stays of it is its words.
#ifndef PB_QUEUES_UNROLL_H
#define PB_QUEUES_UNROLL_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "targets/control/queues/decode.h"
#include "tdl/chip.h"

// What a command touches: rows of bytes in a memory, as an arithmetic progression in up to three dims.
typedef struct pb_region {
  int memory;
  int argument;                                               // system memory: which argument; -1
  int64_t base;                                               // bytes
  int64_t extent[PB_MAX_INSN_DIMS], stride[PB_MAX_INSN_DIMS]; // bytes
  int rank;
  int64_t element; // bytes
  bool written;
} pb_region;

typedef struct pb_unrolled {
  pb_command command;
  uint32_t set;     // fields that have their value
  uint32_t idle;    // fields whose values do not matter: strides along one element
  const char* nest; // node of the model
  int call;         // the op of the decoded kernel that it is; -1: it was put in between
  int region_count;
  const pb_region* regions;
} pb_unrolled;

// Who takes commands, in program order. What a command points at is there until `take` returns.
typedef struct pb_taker {
  pb_status (*take)(void* user, const pb_unrolled* command);
  void* user;
} pb_taker;

// Follows a decoded kernel as one core runs it. A value that no field can carry is PB_ERR_UNSUPPORTED with the
// instruction and the model's node.
pb_status pb_unroll_run(const pb_chip* chip, const pb_decoded* kernel, int core, pb_diag* diag,
                        pb_taker to) PB_MUST_CHECK;

// A command none of whose fields is set yet.
pb_command pb_unroll_blank(const pb_insn* insn);
// What a number of the model is in the field of immediate operand o, or in the field that a box is filled from.
int64_t pb_unroll_immediate(const pb_insn* insn, int o, const pb_unrolled_value* value);
int64_t pb_unroll_fill(const pb_insn* insn, int field, const pb_unrolled_value* value);

// Configuration state: as few commands as can be that write it, each before one that needs it. Every command is shown
// first, in order, then goes through. PB_ERR_UNSUPPORTED when a command needs two values in one place.
typedef struct pb_state_writer pb_state_writer;
bool pb_chip_has_state(const pb_chip* chip);
pb_state_writer* pb_state_start(const pb_chip* chip, pb_diag* diag);
pb_status pb_state_show(void* writer, const pb_unrolled* command) PB_MUST_CHECK;
void pb_state_begin(pb_state_writer* writer, pb_taker to);
pb_status pb_state_take(void* writer, const pb_unrolled* command) PB_MUST_CHECK;
void pb_state_free(pb_state_writer* writer); // NULL is fine

// Banks that are taken in turn: each command learns its bank, and each reader whether it takes the next.
// PB_ERR_UNSUPPORTED when the commands would take them in another order than they are filled.
typedef struct pb_bank_order pb_bank_order;
bool pb_chip_has_banks(const pb_chip* chip);
pb_bank_order* pb_banks_start(const pb_chip* chip, pb_diag* diag, pb_taker to);
pb_status pb_banks_take(void* order, const pb_unrolled* command) PB_MUST_CHECK;
pb_status pb_banks_end(pb_bank_order* order) PB_MUST_CHECK; // all that were filled were taken
void pb_banks_free(pb_bank_order* order);                   // NULL is fine

// Waits and signals. Those of a command are what they are once all commands have been added.
typedef struct pb_tokens pb_tokens;
// `relay` takes commands that do nothing but hand tokens on, each in its place before the command that is being added.
pb_tokens* pb_tokens_start(const pb_chip* chip, pb_diag* diag, pb_taker relay);
pb_status pb_tokens_add(pb_tokens* tokens, const pb_unrolled* command) PB_MUST_CHECK;
// The same behind the first need[q] commands of each queue q, whatever it touches.
pb_status pb_tokens_add_behind(pb_tokens* tokens, const pb_unrolled* command, const int32_t* need) PB_MUST_CHECK;
// Takes that semaphore where several would do: for tests. -1: the one that suits best.
void pb_tokens_prefer(pb_tokens* tokens, int semaphore);
size_t pb_tokens_count(const pb_tokens* tokens); // commands added
// What the command waits for and signals, as in pb_command.
typedef struct pb_order {
  int queue;
  uint32_t waits, signals;
  uint64_t counts;
  bool idle; // it was put in between, and does nothing
} pb_order;
pb_order pb_tokens_of(const pb_tokens* tokens, size_t command);
void pb_tokens_free(pb_tokens* tokens); // NULL is fine
// How many commands of each queue are done before it starts, and where command `position` of a queue stands.
const int32_t* pb_tokens_behind(const pb_tokens* tokens, size_t command);
size_t pb_tokens_at(const pb_tokens* tokens, int queue, int32_t position);

// One list with fences, for a chip that has no tokens: the order in which commands stand there. `costs`: cycles that
// each keeps its queue busy, and those until what it wrote is visible.
typedef struct pb_cost_of_command {
  int32_t cycles, latency;
} pb_cost_of_command;
typedef struct pb_listed {
  size_t command;  // where it was added to `tokens`
  uint32_t queues; // not 0: it is a fence that waits for these
} pb_listed;
// malloc'ed; *count: how many stand there.
pb_listed* pb_fences_put(const pb_chip* chip, const pb_tokens* tokens, const pb_cost_of_command* costs, size_t* count);

#endif
