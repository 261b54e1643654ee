// The machine among the runtime's devices.
#include "machine.h"
#include "pb/pb.h"

void pb_rt_add_machine(void) { pb_rt_add_device("machine", pb_machine_ops); }
