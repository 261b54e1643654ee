// The machine: an executable model of any chip controlled by queues, made from its description alone. Queues run out of
// step as on silicon; the order that tokens leave open is checked, not assumed.
#ifndef PB_QUEUES_MACHINE_H
#define PB_QUEUES_MACHINE_H

#include "pb/device.h"
#include "tdl/chip.h"

// Operations of devices for `chip`, which must outlive them; NULL when devices of 16 other chips are open, or
// the chip is not controlled by queues. The same chip gives the same operations. Options of open():
//   seed=N        N > 0: memory answers late by random amounts (default 0: by none)
//   checks=0|1    faults for uninitialised reads, races and unused tokens (default 1); bounds are always checked
//   limit=CYCLES  a submission that runs longer is a fault (default 10^12)
const pb_device_ops* pb_machine_ops(const pb_chip* chip);

#endif
