// The machine among the runtime's devices.
#include "pb/pb.h"
#include "targets/control/queues/machine/machine.h"

void pb_rt_add_machine(void) { pb_rt_add_device("machine", pb_machine_ops); }
