// The machine of a grid among the runtime's devices.
#include "pb/pb.h"
#include "targets/control/grid/machine/machine.h"

void pb_rt_add_grid_machine(void) { pb_rt_add_device("grid", pb_grid_machine_ops); }
