// What the machine reports: kernels by hand with one thing wrong in each, and the same kernel right.
#include "grid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 7.1\n.target sm_80\n.address_size 64\n"
#define ENTRY                                                                                                          \
  HEAD ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n .reg .pred %p<8>;\n .reg .b32 %r<16>;\n .reg .b64 "       \
       "%d<16>;\n"                                                                                                     \
       " .shared .align 16 .b8 s[1024];\n ld.param.u64 %d1, [p];\n ld.param.u64 %d2, [q];\n mov.u32 %r1, %tid.x;\n"    \
       " mov.u32 %r2, %ctaid.x;\n mul.wide.u32 %d3, %r1, 4;\n add.s64 %d4, %d1, %d3;\n add.s64 %d5, %d2, %d3;\n"

typedef struct kernel {
  const char* body;
  uint32_t blocks, threads;
  const char* what; // NULL: nothing is wrong
} kernel;

static void judge(const kernel* k, const char* options) {
  grid g;
  grid_open(&g, options);
  char text[8192];
  snprintf(text, sizeof text, "%s%s ret;\n}\n", ENTRY, k->body);
  grid_load(&g, text);
  uint32_t data[1024] = {0};
  grid_buffer(&g, data, sizeof data);
  grid_buffer(&g, NULL, sizeof data); // nobody has written it
  int code = grid_run(&g, "k", k->blocks, k->threads);
  const char* fault = g.ops->last_fault(g.device);
  if (!k->what && code) fail_msg("%s\n%s", k->body, fault);
  if (k->what && (!code || !strstr(fault, k->what))) fail_msg("%s\n'%s' is not in '%s'", k->body, k->what, fault);
  grid_close(&g);
}

#define STORE_SHARED " mov.u32 %r3, s;\n shl.b32 %r4, %r1, 2;\n add.u32 %r3, %r3, %r4;\n st.shared.u32 [%r3], %r1;\n"
#define LOAD_NEIGHBOUR                                                                                                 \
  " xor.b32 %r5, %r1, 33;\n shl.b32 %r5, %r5, 2;\n mov.u32 %r6, s;\n add.u32 %r5, %r5, %r6;\n ld.shared.u32 %r7, "     \
  "[%r5];\n"

// A word of each warp.
#define WARP_READS                                                                                                     \
  " shr.u32 %r3, %r1, 5;\n shl.b32 %r4, %r2, 3;\n add.u32 %r3, %r3, %r4;\n mul.wide.u32 %d6, %r3, 4;\n add.s64 %d6, "  \
  "%d6, %d1;\n ld.global.u32 %r7, [%d6];\n"
#define LANE_WRITES                                                                                                    \
  " shr.u32 %r3, %r1, 5;\n shl.b32 %r4, %r2, 3;\n add.u32 %r3, %r3, %r4;\n mul.wide.u32 %d6, %r3, 4;\n add.s64 %d6, "  \
  "%d6, %d1;\n and.b32 %r5, %r1, 31;\n setp.eq.u32 %p1, %r5, 0;\n @%p1 st.global.u32 [%d6], %r7;\n"

// Each block writes its word, takes a number, and the last one reads a word of another.
#define LAST(before, how, behind)                                                                                      \
  " mul.wide.u32 %d6, %r2, 4;\n add.s64 %d6, %d6, %d1;\n st.global.u32 [%d6+64], %r2;\n" before " atom" how            \
  ".global.add.u32 %r3, [%d1], 1;\n" behind                                                                            \
  " setp.eq.u32 %p1, %r3, 2;\n setp.eq.u32 %p2, %r2, 0;\n selp.b32 %r5, 68, 64, %p2;\n cvt.u64.u32 %d7, %r5;\n"        \
  " add.s64 %d7, %d7, %d1;\n @%p1 ld.global.u32 %r4, [%d7];\n"

static const kernel kernels[] = {
    // bounds
    {" st.global.u32 [%d4], %r1;\n", 1, 128, NULL},
    {" st.global.u32 [%d4+4096], %r1;\n", 1, 1, "4096 bytes into allocation 0 of 4096 bytes"},
    {" st.global.u32 [%d4-4], %r1;\n", 1, 32, "it writes 4 bytes at"},
    {" ld.global.u32 %r3, [%d4+3600];\n", 1, 128, "it reads 4 bytes"},
    {" ld.shared.u32 %r3, [s+1024];\n", 1, 1, "1024 of shared memory, of which the block has 1024"},
    {" mov.u64 %d6, 64;\n ld.u32 %r3, [%d6];\n", 1, 1, "no allocation is near"},
    // alignment
    {" ld.global.u32 %r3, [%d1+2];\n", 1, 1, "not a multiple of 4"},
    {" ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%d1+8];\n", 1, 1, "not a multiple of 16"},
    // what was never written
    {" ld.global.u32 %r3, [%d5];\n", 1, 32, "was never written"},
    {" st.global.u32 [%d5], %r1;\n ld.global.u32 %r3, [%d5];\n", 1, 32, NULL},
    {" ld.shared.u32 %r3, [s];\n", 1, 32, "was never written"},
    {" setp.eq.u32 %p1, %r1, 99;\n @%p1 ld.global.u32 %r3, [%d5];\n", 1, 32, NULL},
    // races in shared memory
    {STORE_SHARED " bar.sync 0;\n" LOAD_NEIGHBOUR, 2, 64, NULL},
    {STORE_SHARED LOAD_NEIGHBOUR, 1, 64, "was never written"}, // the other warp has not run yet
    {STORE_SHARED " bar.sync 0;\n" LOAD_NEIGHBOUR " st.shared.u32 [%r3], %r7;\n", 1, 64, "a race: it"},
    {STORE_SHARED " bar.sync 0;\n" LOAD_NEIGHBOUR " bar.sync 0;\n st.shared.u32 [%r3], %r7;\n", 3, 64, NULL},
    {" st.shared.u32 [s], 7;\n", 1, 1, NULL},
    {" st.shared.u32 [s], 7;\n", 1, 2, "lanes 0 and 1 of the warp store at 0 in one instruction"},
    {" setp.eq.u32 %p1, %r1, 0;\n @%p1 st.shared.u32 [s], 7;\n bar.sync 0;\n setp.eq.u32 %p1, %r1, 40;\n @%p1 "
     "st.shared.u32 [s], 8;\n",
     1, 64, NULL},
    {" setp.eq.u32 %p1, %r1, 0;\n @%p1 st.shared.u32 [s], 7;\n setp.eq.u32 %p1, %r1, 40;\n @%p1 st.shared.u32 [s], "
     "8;\n",
     1, 64, "which thread 0,0,0 of block 0 writes without a barrier between"},
    {STORE_SHARED " bar.warp.sync 0xffffffff;\n xor.b32 %r5, %r3, 4;\n ld.shared.u32 %r7, [%r5];\n", 1, 64, NULL},
    {STORE_SHARED " xor.b32 %r5, %r3, 4;\n ld.shared.u32 %r7, [%r5];\n", 1, 64, "a race: it reads shared memory"},
    // all lanes of each warp read what one of them then writes: those of other warps do not
    {WARP_READS " bar.warp.sync 0xffffffff;\n" LANE_WRITES, 2, 64, NULL},
    {WARP_READS LANE_WRITES, 1, 64, "which several threads, among them thread"},
    {" ld.global.u32 %r7, [%d1];\n bar.warp.sync 0xffffffff;\n" LANE_WRITES, 1, 64, "a race: it reads device memory"},
    {" ld.global.u32 %r7, [%d1];\n bar.warp.sync 0xffffffff;\n setp.eq.u32 %p1, %r1, 40;\n @%p1 st.global.u32 [%d1], "
     "7;\n",
     1, 64, "a race: it writes device memory"},
    {WARP_READS " bar.warp.sync 0xffffffff;\n" WARP_READS LANE_WRITES, 1, 64, "a race: it writes device memory"},
    // a named barrier orders those that take part, and nobody else
    {STORE_SHARED " setp.lt.u32 %p1, %r1, 64;\n @!%p1 bra L;\n bar.sync 1, 64;\n" LOAD_NEIGHBOUR "L:\n", 1, 96, NULL},
    {STORE_SHARED " bar.sync 1, 64;\n" LOAD_NEIGHBOUR, 1, 64, NULL},
    {STORE_SHARED
     " setp.lt.u32 %p1, %r1, 32;\n @%p1 bar.arrive 1, 64;\n @!%p1 bar.sync 1, 64;\n @%p1 bra L;\n" LOAD_NEIGHBOUR
     "L:\n",
     1, 64, NULL},
    {STORE_SHARED
     " setp.lt.u32 %p1, %r1, 32;\n @%p1 bar.arrive 1, 64;\n @!%p1 bar.sync 1, 64;\n @!%p1 bra L;\n" LOAD_NEIGHBOUR
     "L:\n",
     1, 64, "never written"},
    // in device memory, between blocks and within
    {" st.global.u32 [%d1], %r2;\n", 1, 1, NULL},
    {" st.global.u32 [%d1], %r2;\n", 2, 1, "a race: it writes device memory"},
    {" red.global.add.u32 [%d1], 1;\n", 4, 64, NULL},
    {" red.global.add.u32 [%d1], 1;\n ld.global.u32 %r3, [%d1];\n", 1, 64, "a race: it"},
    {" setp.eq.u32 %p1, %r2, 1;\n @%p1 st.global.u32 [%d4], %r1;\n @!%p1 ld.global.u32 %r3, [%d4];\n", 2, 32,
     "a race: it writes device memory"},
    {" st.global.u32 [%d4], %r1;\n bar.sync 0;\n xor.b32 %r3, %r1, 32;\n mul.wide.u32 %d6, %r3, 4;\n add.s64 %d6, %d6, "
     "%d1;\n ld.global.u32 %r3, [%d6];\n",
     1, 64, NULL},
    {" st.global.u32 [%d4], %r1;\n xor.b32 %r3, %r1, 32;\n mul.wide.u32 %d6, %r3, 4;\n add.s64 %d6, %d6, %d1;\n "
     "ld.global.u32 %r3, [%d6];\n",
     1, 64, "a race"},
    // what atomics hand on: the block that comes last reads what the others wrote, by fences or by acq_rel
    {" st.global.u32 [%d1+64], %r2;\n", 1, 1, NULL},
    {LAST(" fence.acq_rel.gpu;\n", "", " fence.acq_rel.gpu;\n"), 3, 1, NULL},
    {LAST("", ".acq_rel", ""), 3, 1, NULL},
    {LAST("", ".release", " fence.acq_rel.gpu;\n"), 3, 1, NULL},
    {LAST("", "", " fence.acq_rel.gpu;\n"), 3, 1, "a race: it reads device memory"},
    {LAST(" fence.acq_rel.gpu;\n", "", ""), 3, 1, "a race: it reads device memory"},
    {LAST("", ".acquire", ""), 3, 1, "a race: it reads device memory"},
    // barriers
    {" setp.lt.u32 %p1, %r1, 16;\n @%p1 bar.sync 0;\n", 1, 32, "all lanes of the warp must run together"},
    {" setp.lt.u32 %p1, %r1, 16;\n @%p1 bra L;\n bar.sync 0;\n bra M;\nL:\n bar.sync 0;\nM:\n", 1, 32,
     "wait here for others"},
    {" setp.lt.u32 %p1, %r1, 16;\n @%p1 bra L;\n add.u32 %r3, %r1, 1;\nL:\n bar.sync 0;\n", 1, 32, NULL},
    {" setp.lt.u32 %p1, %r1, 32;\n @%p1 bra L;\n bar.sync 0;\n bra M;\nL:\n bar.sync 1;\nM:\n", 1, 64,
     "has 32 of 64 threads"},
    {" setp.lt.u32 %p1, %r1, 32;\n @%p1 exit;\n bar.sync 0;\n", 1, 64, NULL}, // who left holds up nobody
    {" bar.sync 0, 64;\n", 1, 32, "the block 32"},
    {" setp.lt.u32 %p1, %r1, 32;\n @%p1 bar.sync 0, 64;\n", 1, 64, "has 32 of 64 threads"},
    {" bar.sync 0, 48;\n", 1, 64, "a barrier of 48 threads"},
    {" mov.u32 %r3, 16;\n bar.sync %r3;\n", 1, 64, "barrier 16 of 16"},
    // lanes
    {" shfl.sync.bfly.b32 %r3, %r1, 1, 31, 0xffffffff;\n", 1, 32, NULL},
    {" shfl.sync.bfly.b32 %r3, %r1, 1, 31, 0xfffffffe;\n", 1, 32, "without the lane itself"},
    {" setp.lt.u32 %p1, %r1, 16;\n @%p1 shfl.sync.bfly.b32 %r3, %r1, 16, 31, 0xffff;\n", 1, 32,
     "the value of lane 16, which does not take part"},
    {" setp.lt.u32 %p1, %r1, 16;\n @%p1 shfl.sync.bfly.b32 %r3, %r1, 8, 31, 0xffff;\n", 1, 32, NULL},
    // Halves of a warp by themselves; and one of them that names the other, too.
    {" and.b32 %r6, %r1, 16;\n mov.u32 %r7, 0xffff;\n shl.b32 %r7, %r7, %r6;\n"
     " shfl.sync.bfly.b32 %r3, %r1, 8, 31, %r7;\n bar.warp.sync %r7;\n",
     1, 32, NULL},
    {" setp.lt.u32 %p1, %r1, 16;\n selp.u32 %r7, 0xffff, 0xffffffff, %p1;\n shfl.sync.bfly.b32 %r3, %r1, 8, 31, %r7;\n",
     1, 32, "lanes name different masks"},
    {" and.b32 %r6, %r1, 16;\n mov.u32 %r7, 0xffff;\n shl.b32 %r7, %r7, %r6;\n"
     " shfl.sync.bfly.b32 %r3, %r1, 16, 31, %r7;\n",
     1, 32, "which does not take part"},
    {" mov.u32 %r3, %laneid;\n and.b32 %r3, %r3, 1;\n setp.eq.u32 %p1, %r3, 0;\n @%p1 bra L;\n mov.u32 %r4, 5;\nL:\n "
     "vote.sync.ballot.b32 %r5, %p1, 0xffffffff;\n",
     1, 32, NULL},
    // asynchronous copies
    {" cvta.to.global.u64 %d6, %d1;\n cp.async.ca.shared.global [s], [%d6], 16;\n cp.async.commit_group;\n "
     "cp.async.wait_group 0;\n ld.shared.u32 %r3, [s+12];\n",
     1, 1, NULL},
    {" cp.async.ca.shared.global [s], [%d1], 16;\n cp.async.commit_group;\n ld.shared.u32 %r3, [s+12];\n", 1, 1,
     "an asynchronous copy is pending"},
    {" cp.async.ca.shared.global [s], [%d1], 16;\n cp.async.commit_group;\n cp.async.ca.shared.global [s+16], [%d1], "
     "16;\n cp.async.commit_group;\n"
     " cp.async.wait_group 1;\n ld.shared.u32 %r3, [s+12];\n",
     1, 1, NULL},
    {" cp.async.ca.shared.global [s], [%d1], 16;\n cp.async.commit_group;\n cp.async.ca.shared.global [s+16], [%d1], "
     "16;\n cp.async.commit_group;\n"
     " cp.async.wait_group 1;\n ld.shared.u32 %r3, [s+28];\n",
     1, 1, "an asynchronous copy is pending"},
    {" cp.async.ca.shared.global [s], [%d2], 16;\n", 1, 1, "was never written"},
    // a wait is a thread's own: others need a barrier behind it
    {" setp.eq.u32 %p1, %r1, 0;\n @%p1 cp.async.ca.shared.global [s], [%d1], 16;\n cp.async.wait_all;\n bar.sync 0;\n "
     "ld.shared.u32 %r3, [s+12];\n",
     1, 64, NULL},
    {" setp.eq.u32 %p1, %r1, 0;\n @%p1 cp.async.ca.shared.global [s], [%d1], 16;\n cp.async.wait_all;\n ld.shared.u32 "
     "%r3, [s+12];\n",
     1, 64, "a race: it reads shared memory"},
    // the rest
    {" trap;\n", 1, 1, "trap"},
    {"L:\n bra L;\n", 1, 32, "taken for endless"},
};

static void each(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; ++k) judge(&kernels[k], "threads=1,limit=100000");
}

// What is right is right in any order; what races is found in any.
static void any_schedule(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; ++k) {
    kernel plain = kernels[k];
    bool by_order =
        plain.what && (strstr(plain.what, "race") || strstr(plain.what, "never") || strstr(plain.what, "which thread"));
    if (by_order) plain.what = ""; // which of two accesses is told of depends on the order
    judge(&plain, "schedule=late,threads=2,limit=100000");
    for (int seed = 1; seed <= 4; ++seed) {
      char options[80];
      snprintf(options, sizeof options, "schedule=random,seed=%d,threads=2,limit=100000", seed);
      judge(&plain, options);
    }
  }
}

// Without checks races are not looked for; bounds are.
static void unchecked(void** state) {
  (void)state;
  kernel race = {" st.global.u32 [%d1], %r2;\n", 2, 1, NULL}, bounds = kernels[1];
  judge(&race, "check=0");
  judge(&bounds, "check=0");
}

static void says_where(void** state) {
  (void)state;
  grid g;
  grid_open(&g, NULL);
  grid_load(&g, HEAD ".file 1 \"conv.c\"\n.visible .entry k(.param .u64 p)\n{\n .reg .b64 %d<3>;\n .reg .b32 %r<3>;\n "
                     "ld.param.u64 %d1, [p];\n"
                     " .loc 1 77 3\n st.global.u32 [%d1+64], %r1;\n ret;\n}\n");
  grid_buffer(&g, NULL, 64);
  grid_refused(&g, "k", 3, 1, "kernel k, line 11 (conv.c:77), block 0,0,0, thread 0,0,0: it writes 4 bytes at");
  grid_close(&g);
}

static void launches(void** state) {
  (void)state;
  grid g;
  grid_open(&g, NULL);
  grid_load(&g, HEAD ".visible .entry k(.param .u64 p) .reqntid 64, 1, 1\n{\n ret;\n}\n.visible .entry m() .maxntid "
                     "32, 1, 1\n{\n ret;\n}\n");
  grid_refused(&g, "nothing", 1, 64, "no entry 'nothing'");
  grid_refused(&g, "k", 1, 64, "0 arguments, it has parameters for 1");
  grid_number(&g, 0);
  grid_refused(&g, "k", 1, 32, "32 threads in dimension 0, it requires 64");
  grid_refused(&g, "m", 1, 33, "33 threads in a block; from 1 to 32");
  grid_refused(&g, "m", 0, 32, "0 blocks in dimension 0");
  grid_runs(&g, "m", 1, 32);
  g.launch.shared_bytes = 1 << 20;
  grid_refused(&g, "m", 1, 32, "1048576 bytes of shared memory");
  grid_close(&g);
}

static void bad_options(void** state) {
  (void)state;
  static const pb_chip chip = {.name = "other", .control = PB_CONTROL_GRID},
                       queues = {.name = "q", .control = PB_CONTROL_QUEUES};
  static const char* const options[] = {"schedule=soon", "seed=-1", "seed=",   "check=2", "limit=0",
                                        "speed=1",       "threads", "seed=1x", "=",       ",,"};
  pb_device* device;
  assert_null(pb_grid_machine_ops(&queues));
  const pb_device_ops* ops = pb_grid_machine_ops(&chip);
  for (size_t k = 0; k < sizeof options / sizeof *options; ++k) {
    assert_int_not_equal(ops->open(options[k], &device), 0);
    assert_null(device);
    assert_non_null(strstr(ops->last_fault(NULL), "are known"));
  }
  assert_ptr_equal(pb_grid_machine_ops(&chip), ops);
}

static const struct {
  const char *text, *what;
} refused[] = {
    {"", "does not begin with .version"},
    {HEAD "wobble", "'wobble' where a directive must stand"},
    {HEAD ".visible .entry k() {\n frob.u32 %r1, %r2;\n}\n",
     "line 5: frob.u32: an instruction that the machine does not know"},
    {HEAD ".visible .entry k() {\n .reg .b32 %r<2>;\n add.u32 %r1, %r2, %r3;\n}\n",
     "line 6: add.u32: %r2 is no register declared"},
    {HEAD ".visible .entry k() {\n .reg .b32 %r<4>;\n .reg .b64 %d<2>;\n add.u32 %r1, %r2, %d1;\n}\n",
     "%d1 has 64 bits, where 32 are taken"},
    {HEAD ".visible .entry k() {\n .reg .b32 %r<4>;\n add.u32 %r1, %r2;\n}\n", "2 operands; 3 it takes"},
    {HEAD ".visible .entry k() {\n bra nowhere;\n}\n", "no label nowhere"},
    {HEAD ".visible .entry k() {\n .reg .f32 %f<4>;\n add.rn.wide.f32 %f1, %f2, %f3;\n}\n",
     "an instruction that the machine does not know"},
    {HEAD ".visible .entry k() {\n call missing, ();\n}\n", "missing is nowhere defined"},
    {HEAD ".func f() {\n call f, ();\n ret;\n}\n.visible .entry k() {\n call f, ();\n}\n", "calls itself"},
    {HEAD ".visible .entry k() {\n ret;\n", "a function without an end"},
    {HEAD ".visible .entry k() {\n .reg .b32 %r<4>;\n wgmma.fence.sync.aligned;\n}\n",
     "wgmma.fence.sync.aligned: an instruction that the machine does not know"},
    {HEAD ".extern .global .u32 v;\n.visible .entry k() {\n .reg .b32 %r<4>;\n ld.global.u32 %r1, [v];\n}\n",
     "declared and nowhere defined"},
    {HEAD ".visible .entry k(.param .u64 p) {\n .reg .b64 %d<4>;\n ld.param.u64 %d1, [p+4];\n}\n",
     "bytes outside of parameter"},
    {HEAD "/* no end", "a comment without an end"},
    {".version 7.1\n.target sm_80\n.address_size 32\n", "addresses have 64 bits"},
};

static void bad_text(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof refused / sizeof *refused; ++k) {
    grid g;
    grid_open(&g, NULL);
    if (!g.ops->load(g.device, PB_DEVICE_PTX, refused[k].text, strlen(refused[k].text) + 1, &g.module))
      fail_msg("%s\nis taken, instead of '%s'", refused[k].text, refused[k].what);
    if (!strstr(g.ops->last_fault(g.device), refused[k].what))
      fail_msg("'%s' is not in '%s'", refused[k].what, g.ops->last_fault(g.device));
    grid_close(&g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each),      cmocka_unit_test(any_schedule),
                                     cmocka_unit_test(unchecked), cmocka_unit_test(says_where),
                                     cmocka_unit_test(launches),  cmocka_unit_test(bad_options),
                                     cmocka_unit_test(bad_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
