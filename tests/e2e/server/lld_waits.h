// What an ld.lld that waits for jobs (lld_waits.c) and who gives them (server_lld.c) agree on.
#ifndef PB_TEST_LLD_WAITS_H
#define PB_TEST_LLD_WAITS_H

enum { LLD_JOBS = 3, LLD_ARGUMENTS = 64, LLD_BYTES = 1 << 16 };

#endif
